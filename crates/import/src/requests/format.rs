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

impl Format {
    /// The name it is asked for by.
    pub fn name(self) -> &'static str {
        let named = FORMATS.iter().find(|(format, ..)| *format == self);
        named.map_or("", |(_, name, _)| name)
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
