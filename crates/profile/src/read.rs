//! Which format a profile is in, and unpacking it.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::data::Profile;
use crate::error::Error;
use crate::{collapsed, cpuprofile, perf_script, pprof, prune};

/// Bytes of an unpacked profile at most. A profile of 30 s on 64 processors takes less than 10 MiB.
pub const LARGEST: usize = 256 << 20;
/// Bytes that the format is recognised by.
const HEAD: usize = 4096;

const HTML: &str = "is an HTML page, not a profile: pprof of Go is at URL/debug/pprof/profile; is the path right, \
                    and does it need a login?";
const GO_TEXT: &str =
    "is Go's text form of a profile, without the stacks' values: fetch it without ?debug=";
const JSON: &str = "is JSON, not a profile: give pprof (gzip or not), Node's .cpuprofile, collapsed stacks, or \
                    the text of `perf script`";
const TEXT: &str = "is text of no known kind: give pprof (gzip or not), collapsed stacks (`main;work;read 12`), or the \
                    text of `perf script`";
const PERF_DATA: &str = "is perf's own file: give the text that `perf script` makes of it";
const ELF: &str = "is a program, not a profile of one";

/// Reads a profile of any known format.
///
/// # Errors
/// When it is of none, damaged, or too large.
pub fn read(bytes: &[u8]) -> Result<Profile, Error> {
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut from = MultiGzDecoder::new(bytes).take(LARGEST as u64 + 1);
        from.read_to_end(&mut unpacked).map_err(|error| Error::Gzip(error.to_string()))?;
        &unpacked
    } else {
        bytes
    };
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    if bytes.len() > LARGEST {
        return Err(Error::TooLarge { what: "bytes when unpacked", most: LARGEST });
    }
    let profile = match text(bytes) {
        Some(text) => read_text(text?)?,
        None if bytes.starts_with(b"PERFILE2") => return Err(Error::NotAProfile(PERF_DATA)),
        None if bytes.starts_with(b"\x7fELF") => return Err(Error::NotAProfile(ELF)),
        None => pprof::read(bytes)?,
    };
    Ok(prune::uninteresting(profile))
}

/// The text, if the bytes begin as text does. A pprof profile begins with the length of a short message, which is a
/// control character.
fn text(bytes: &[u8]) -> Option<Result<&str, Error>> {
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b);
    if bytes[..bytes.len().min(HEAD)].iter().any(control) {
        return None;
    }
    Some(std::str::from_utf8(bytes).map_err(|_| Error::NotAProfile(TEXT)))
}

fn read_text(text: &str) -> Result<Profile, Error> {
    let start = text.trim_start();
    if start.starts_with('<') {
        return Err(Error::NotAProfile(HTML));
    }
    if start.starts_with('{') && cpuprofile::is(start) {
        return cpuprofile::read(text);
    }
    if start.starts_with(['{', '[']) && !start.lines().take(5).any(collapsed::is) {
        return Err(Error::NotAProfile(JSON));
    }
    let first = start.lines().next().unwrap_or_default();
    if first.contains(" profile: ") || first.starts_with("--- ") {
        return Err(Error::NotAProfile(GO_TEXT));
    }
    if text.lines().take(200).any(perf_script::is) {
        return perf_script::read(text);
    }
    if text.lines().take(200).any(collapsed::is) {
        return collapsed::read(text);
    }
    Err(Error::NotAProfile(TEXT))
}
