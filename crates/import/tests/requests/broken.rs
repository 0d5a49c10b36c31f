//! Files that are broken, hostile or another format's: one line, soon, and never a panic.

use import::requests::{Format, Options, import, yaml};
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
        (Format::Postman, "{\"item\":3}", "not a Postman collection"),
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

#[test]
fn files_outside_of_the_workloads_folder_are_refused_and_listed() {
    use import::requests::{Format, Options, import, yaml};
    let postman = |src: &str| {
        format!(
            r#"{{"info":{{"schema":"v2.1.0"}},"item":[{{"name":"a","request":{{"method":"POST","url":"http://h/",
            "body":{{"mode":"file","file":{{"src":{src:?}}}}}}}}},{{"name":"b","request":{{"method":"POST","url":"http://h/b",
            "body":{{"mode":"formdata","formdata":[{{"key":"k","type":"file","src":[{src:?}]}}]}}}}}}]}}"#
        )
    };
    let har = |name: &str| {
        format!(
            r#"{{"log":{{"entries":[{{"request":{{"method":"POST","url":"http://h/","postData":{{"mimeType":
            "multipart/form-data","params":[{{"name":"k","fileName":{name:?}}}]}}}},"response":{{"status":200}}}}]}}}}"#
        )
    };
    for name in ["/etc/passwd", "../x", "a/../../x", "~/x", "C:\\x", "..\\x", "a\\..\\x"] {
        for (format, text) in [
            (Format::Postman, postman(name)),
            (Format::Har, har(name)),
            (Format::Vegeta, format!("POST http://h/\n@{name}\n")),
            (
                Format::Curl,
                format!("curl http://h/ -d '@{name}'; curl -F 'k=@{name}' http://h/b\n"),
            ),
            (Format::Curl, format!("curl http://h/up -T '{name}' --cert '{name}'\n")),
        ] {
            let imported = import(format, text.as_bytes(), &Options::default())
                .unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
            let written = serde_json::to_string(&imported.workload).unwrap();
            assert!(
                !written.contains("passwd") && !written.contains("x\""),
                "{format:?}: {written}"
            );
            let listed =
                imported.notes.iter().any(|note| note.what.contains("outside the workload's"));
            assert!(listed, "{format:?} {name}: {:?}", imported.notes);
            assert!(yaml(&imported).contains("outside the workload's"), "{format:?}");
        }
    }
    let kept = import(Format::Vegeta, b"POST http://h/\n@bodies/a..b.json\n", &Options::default());
    assert!(serde_json::to_string(&kept.unwrap().workload).unwrap().contains("bodies/a..b.json"));
}

#[test]
fn references_to_large_examples_are_bounded() {
    use import::requests::{Format, Options, import};
    let large = "x".repeat(900_000);
    let mut text = format!(
        r#"{{"openapi":"3.0.0","servers":[{{"url":"http://h"}}],"components":{{"examples":{{"e":{{"value":"{large}"}}}},
        "schemas":{{"s":{{"type":"object","example":{{"a":"{large}"}}}}}}}},"paths":{{"#
    );
    let paths = (0..1_000).map(|at| {
        format!(
            r##""/a{at}":{{"post":{{"parameters":[{{"name":"q","in":"query","required":true,"schema":{{"$ref":"#/components/schemas/s"}}}}],
            "requestBody":{{"content":{{"application/json":{{"examples":{{"e":{{"$ref":"#/components/examples/e"}}}}}}}}}}}}}}"##
        )
    });
    text += &paths.collect::<Vec<_>>().join(",");
    text += "}}";
    let imported = import(Format::OpenApi, text.as_bytes(), &Options::default()).unwrap();
    let written = serde_json::to_string(&imported.workload).unwrap();
    assert!(written.len() < 32 << 20, "{}", written.len());
    let noted = imported.notes.iter().any(|note| note.what.contains("too large"))
        || imported.notes.iter().any(|note| note.what.contains("further request"));
    assert!(noted, "{:?}", imported.notes.first());
}

/// Names with numbers behind them, and circles, took time squared and more.
#[test]
fn thousands_of_equal_names_take_no_time_squared() {
    use import::requests::{Format, Options, import};
    let variables: Vec<String> = (0..12_000)
        .map(|at| {
            format!(
                r#"{{"key":"a{}{at}","value":"{{{{a{}{}}}}}"}}"#,
                "!".repeat(40),
                "!".repeat(40),
                at + 1
            )
        })
        .collect();
    let text = format!(
        r#"{{"info":{{"schema":"v2.1.0"}},"variable":[{}],"item":[{{"name":"a","request":"http://h/{{{{a{}0}}}}"}}]}}"#,
        variables.join(","),
        "!".repeat(40)
    );
    let imported = import(Format::Postman, text.as_bytes(), &Options::default()).unwrap();
    assert!(imported.workload.variables.len() <= 10_000);
    let secrets: String =
        (0..2_000).map(|at| format!("GET http://h/\nAuthorization: Bearer t{at}\n\n")).collect();
    let imported = import(Format::Vegeta, secrets.as_bytes(), &Options::default()).unwrap();
    assert_eq!(imported.workload.endpoints.len(), 1_000);
}
