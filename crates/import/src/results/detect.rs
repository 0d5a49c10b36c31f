//! Which kind of result some bytes are, judged by their beginning, so that a damaged file still
//! gets the error messages of its kind.

use crate::results::{schema_of, without_bom};

/// A kind of file that comparison takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The four-column table of wrktest.sh.
    Dat,
    /// `plimsoll.run/N`, whatever N.
    Run,
    /// `plimsoll.sweep/N`, whatever N.
    Sweep,
    /// JSON, but not one of Plimsoll's results.
    OtherJson,
}

/// The kind of these bytes. Anything that is not JSON is taken for a `.dat`, whose parser names
/// the line and column at fault.
pub fn detect(bytes: &[u8]) -> Kind {
    let bytes = without_bom(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if !matches!(first, Some(b'{' | b'[')) {
        return Kind::Dat;
    }
    match schema_of(bytes) {
        Ok(schema) => of_name(&schema),
        Err(_) => first_named(bytes),
    }
}

fn of_name(schema: &str) -> Kind {
    match schema.split_once('/') {
        Some(("plimsoll.run", _)) => Kind::Run,
        Some(("plimsoll.sweep", _)) => Kind::Sweep,
        _ => Kind::OtherJson,
    }
}

/// For JSON that does not parse: the first schema named in it. `schema` is the first field we
/// write, so a file that was cut short still has it; a sweep names its own before its runs'.
fn first_named(bytes: &[u8]) -> Kind {
    const NAMES: [(&[u8], Kind); 2] =
        [(b"\"plimsoll.run/", Kind::Run), (b"\"plimsoll.sweep/", Kind::Sweep)];
    let quotes = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'"').map(|(at, _)| at);
    let mut named =
        quotes.filter_map(|at| NAMES.iter().find(|(name, _)| bytes[at..].starts_with(name)));
    named.next().map_or(Kind::OtherJson, |&(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognized_by_the_beginning() {
        for (text, kind) in [
            ("200 540539.65 0.44213 100.00\n", Kind::Dat),
            ("", Kind::Dat),
            ("# a comment", Kind::Dat),
            ("hello", Kind::Dat),
            (r#"{"schema":"plimsoll.run/1""#, Kind::Run),
            ("\u{feff} { \"schema\": \"plimsoll.run/7\", \"x\": 1}", Kind::Run),
            (
                r#"{"schema":"plimsoll.sweep/1","levels":[{"run":{"schema":"plimsoll.run/1"}}]}"#,
                Kind::Sweep,
            ),
            (r#"{"schema":"other/1"}"#, Kind::OtherJson),
            ("[1, 2]", Kind::OtherJson),
        ] {
            assert_eq!(detect(text.as_bytes()), kind, "{text}");
        }
    }

    #[test]
    fn fields_in_another_order_are_no_obstacle() {
        let run = format!("{{\"a\":\"{}\",\"schema\":\"plimsoll.run/1\"}}", "x".repeat(5000));
        assert_eq!(detect(run.as_bytes()), Kind::Run);
        let sweep = r#"{"levels":[{"schema":"plimsoll.run/1"}],"schema":"plimsoll.sweep/1"}"#;
        assert_eq!(detect(sweep.as_bytes()), Kind::Sweep);
    }
}
