//! Files that are broken, hostile or another format's: one line, soon, and never a panic.

use import::foreign::{Format, Options, import, yaml};
use model::workload::Workload;
use proptest::prelude::*;

use crate::SAMPLES;

fn refused(format: Format, bytes: &[u8]) -> String {
    let error = import(format, bytes, &Options::default()).unwrap_err().to_string();
    assert!(!error.contains('\n') && error.chars().count() < 600, "{error}");
    error
}

const ALL: [Format; 5] =
    [Format::Curl, Format::Vegeta, Format::Har, Format::OpenApi, Format::Postman];

#[test]
fn one_line_says_what_is_wrong() {
    for format in ALL {
        for bytes in
            [&b""[..], b"\xff\xfe\x00\x01", b"{", b"[]", b"null", b"{}", b"\x1b[2J", b"- a: ]"]
        {
            refused(format, bytes);
        }
    }
    for (format, text, needle) in [
        (Format::Curl, "curl 'http://h", "line 1"),
        (Format::Curl, "curl http://h ^\n -H \"A: b\"", "cURL (bash)"),
        (Format::Curl, "ls", "the command `ls`"),
        (Format::Vegeta, "hello", "line 1: `hello`"),
        (Format::Vegeta, "GET http://h/\nnonsense", "line 2"),
        (Format::Vegeta, "{\"method\":\"GET\",\"url\":\"http://h\"}\n{\"method\":", "line 2"),
        (Format::Har, "{\"log\":{\"entries\":[]}}", "without entries"),
        (Format::OpenApi, "swagger: '2.0'", "Swagger 2"),
        (Format::OpenApi, "openapi: 3.0.0\npaths:\n  /a: {get: {}}\n", "--target"),
        (Format::OpenApi, "openapi: 3.0.0\npaths: {a: [}\n", "line 2"),
        (Format::Postman, "{\"item\":3}", "no Postman collection"),
    ] {
        let error = refused(format, text.as_bytes());
        assert!(error.contains(needle), "{text}: {error}");
    }
}

#[test]
fn deep_and_fanning_files_end_soon() {
    let deep = "[".repeat(1_000_000);
    for format in ALL {
        refused(format, deep.as_bytes());
        refused(format, format!("{{\"a\":{deep}").as_bytes());
    }
    let mut aliases = String::from("openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for at in 1..30 {
        let name = format!("*a{}", at - 1);
        aliases += &format!("a{at}: &a{at} [{}]\n", [name.as_str(); 10].join(", "));
    }
    refused(Format::OpenApi, aliases.as_bytes());
}

/// A file with some of its bytes changed, cut out or repeated.
fn mutated() -> impl Strategy<Value = (Format, Vec<u8>, Option<&'static str>)> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0_u8..5);
    (0..SAMPLES.len(), prop::collection::vec(change, 1..12)).prop_map(|(at, changes)| {
        let (format, _, bytes, target) = SAMPLES[at];
        let mut bytes = bytes.to_vec();
        for (index, byte, kind) in changes {
            let at = index.index(bytes.len().max(1));
            let end = (at + usize::from(byte)).min(bytes.len());
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => drop(bytes.drain(at..end)),
                2 => bytes.insert(at, b"{}[]\"'\\$%:,\n@"[usize::from(byte) % 13]),
                3 => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                _ => bytes.truncate(bytes.len() - usize::from(byte).min(bytes.len()) / 8),
            }
        }
        (format, bytes, target)
    })
}

/// A changed file once asked for a field before and after another; YAML has one place for a name.
#[test]
fn fields_of_one_name_are_kept_together() {
    let bytes = b"curl -H 'A: 1' -H 'B: 2' -H 'A: 3' -d x=1 -d y=2 -d x=3 'http://a.example/?q=1'";
    let imported = import(Format::Curl, bytes, &Options::default()).unwrap();
    let again: Workload = serde_saphyr::from_str(&yaml(&imported)).unwrap();
    assert_eq!(again, imported.workload);
    let headers = again.endpoints[0].headers.iter().filter(|(name, _)| ["A", "B"].contains(name));
    assert!(headers.eq([("A", "1"), ("A", "3"), ("B", "2")]), "{again:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever is accepted prints as YAML that is read again as the same workload.
    #[test]
    fn changed_files_are_refused_or_carried_over((format, bytes, target) in mutated()) {
        let options = Options { target: target.map(str::to_owned), ..Options::default() };
        match import(format, &bytes, &options) {
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
            Ok(imported) => {
                let text = yaml(&imported);
                let again: Result<Workload, _> = serde_saphyr::from_str(&text);
                prop_assert!(again.is_ok(), "{}\n{text}", again.unwrap_err());
                prop_assert_eq!(again.unwrap(), imported.workload);
                prop_assert!(imported.notes.iter().all(|note| !note.to_string().contains('\n')));
            }
        }
    }
}
