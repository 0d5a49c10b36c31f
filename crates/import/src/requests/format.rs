//! The table of formats. A new format is a line here and a module.

use super::{Assembly, BadFile, curl, har, openapi, postman, vegeta};

/// Another tool's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Pasted curl commands.
    Curl,
    /// Targets of vegeta, as HTTP text or as JSON lines.
    Vegeta,
    /// A browser's or proxy's recording, HTTP Archive 1.2.
    Har,
    /// OpenAPI 3.0 or 3.1, in YAML or JSON.
    OpenApi,
    /// A Postman collection, 2.1 (2.0 reads alike).
    Postman,
    /// A JMeter test plan: not read yet.
    Jmeter,
    /// A k6 script: not read yet.
    K6,
}

/// Reads requests out of bytes into the assembly.
pub(super) type Reader = fn(&[u8], &mut Assembly) -> Result<(), BadFile>;

/// A format, its name, and its reader if it has one.
const FORMATS: [(Format, &str, Option<Reader>); 7] = [
    (Format::Curl, "curl", Some(curl::read)),
    (Format::Vegeta, "vegeta", Some(vegeta::read)),
    (Format::Har, "har", Some(har::read)),
    (Format::OpenApi, "openapi", Some(openapi::read)),
    (Format::Postman, "postman", Some(postman::read)),
    (Format::Jmeter, "jmeter", None),
    (Format::K6, "k6", None),
];

/// Bytes of a file that are looked at to find its format.
const LOOKED_AT: usize = 64 << 10;

impl Format {
    /// The format of a file, by how it begins.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let has = |name: &str| text.contains(&format!("\"{name}\""));
        if text.starts_with('{') {
            return match () {
                () if has("openapi") || has("swagger") => Some(Self::OpenApi),
                () if has("log") && has("entries") => Some(Self::Har),
                () if has("info") && has("item") => Some(Self::Postman),
                () if has("method") && has("url") => Some(Self::Vegeta),
                () => None,
            };
        }
        let mut lines = text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let is_method = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase());
        let target = first
            .split_once(' ')
            .is_some_and(|(method, url)| is_method(method) && url.contains("://"));
        let description = |line: &str| line.starts_with("openapi:") || line.starts_with("swagger:");
        let is_curl = |line: &str| line.trim_start().trim_start_matches("$ ").starts_with("curl ");
        match () {
            () if is_curl(first) => Some(Self::Curl),
            () if target => Some(Self::Vegeta),
            () if text.lines().any(description) => Some(Self::OpenApi),
            () if text.contains("<jmeterTestPlan") => Some(Self::Jmeter),
            () if text.contains("from 'k6") || text.contains("from \"k6") => Some(Self::K6),
            // A shell script may set variables before.
            () if text.lines().any(is_curl) => Some(Self::Curl),
            () => None,
        }
    }

    /// The name it is asked for by.
    pub fn name(self) -> &'static str {
        let named = FORMATS.iter().find(|(format, ..)| *format == self);
        named.map_or("", |(_, name, _)| name)
    }

    /// What a file of it holds.
    pub const fn contents(self) -> &'static str {
        match self {
            Self::Curl => "curl commands",
            Self::Vegeta => "vegeta targets",
            Self::Har => "a recording (HAR)",
            Self::OpenApi => "an OpenAPI description",
            Self::Postman => "a Postman collection",
            Self::Jmeter => "a JMeter test plan",
            Self::K6 => "a k6 script",
        }
    }

    /// Whether its files are read.
    pub fn is_read(self) -> bool {
        self.reader().is_ok()
    }

    pub(super) fn reader(self) -> Result<Reader, BadFile> {
        let row = FORMATS.iter().find(|(format, ..)| *format == self);
        row.and_then(|(.., reader)| *reader).ok_or_else(|| {
            let readable: Vec<&str> = FORMATS
                .iter()
                .filter_map(|(_, name, reader)| reader.is_some().then_some(*name))
                .collect();
            let (name, readable) = (self.name(), readable.join(", "));
            BadFile::whole(format!(
                "{name} files are not supported yet; {readable} are. A recording (har) \
                 of the same traffic gives the same workload"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_how_it_begins() {
        for (text, format) in [
            ("curl http://h/", Some(Format::Curl)),
            ("# copied\n$ curl 'http://h/'", Some(Format::Curl)),
            ("#!/bin/sh\nset -e\nBASE=http://h\n  curl $BASE/a", Some(Format::Curl)),
            ("see curl http://h/", None),
            (
                "info:\n  description: |\n    curl http://h/\nopenapi: 3.0.0\n",
                Some(Format::OpenApi),
            ),
            ("GET http://h/x\n", Some(Format::Vegeta)),
            ("{\"method\": \"GET\", \"url\": \"http://h/\"}", Some(Format::Vegeta)),
            ("{\"log\": {\"entries\": []}}", Some(Format::Har)),
            ("\u{feff}openapi: 3.0.0\n", Some(Format::OpenApi)),
            ("{\"openapi\": \"3.1.0\"}", Some(Format::OpenApi)),
            ("{\"info\": {}, \"item\": []}", Some(Format::Postman)),
            ("import http from 'k6/http'", Some(Format::K6)),
            ("", None),
            ("\0\u{1}", None),
            ("{}", None),
        ] {
            assert_eq!(Format::of(text.as_bytes()), format, "{text}");
        }
    }
}
