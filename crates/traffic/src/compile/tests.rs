use std::collections::BTreeMap;

use model::Stages;
use model::workload::{Count, Rate};

use super::*;
use crate::{Next, Requests, Turn};

/// Files and environment of a test.
#[derive(Default)]
struct World {
    env: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<&'static str, &'static [u8]>,
    reads_only: bool,
    scale: Option<f64>,
}

impl World {
    fn compile(&self, workload: serde_json::Value) -> Result<Compiled, CompileError> {
        let workload: Workload = serde_json::from_value(workload).unwrap();
        compile(
            &workload,
            &Inputs {
                env: &|name| self.env.get(name).map(|value| (*value).to_owned()),
                file: &|name| {
                    let bytes = self.files.get(name).map(|bytes| bytes.to_vec());
                    bytes.ok_or_else(|| "no such file".into())
                },
                rows: &|name| {
                    let bytes = self.files.get(name).map(|bytes| bytes.to_vec());
                    bytes.map(PoolFile::Small).ok_or_else(|| "no such file".into())
                },
                index: &|_, _| Err("no index here".into()),
                pools: None,
                seed: 7,
                lanes: 4096,
                keepalive: true,
                scale: self.scale.unwrap_or(1.0),
                reads_only: self.reads_only,
            },
        )
    }
}

fn compiled(workload: serde_json::Value) -> Compiled {
    World::default().compile(workload).unwrap_or_else(|error| panic!("{error}"))
}

/// The first request, as text.
fn first(compiled: &Compiled) -> String {
    String::from_utf8(compiled.sample(1, 1_700_000_000_000_000_000)[0].bytes.clone()).unwrap()
}

fn one(endpoint: serde_json::Value) -> serde_json::Value {
    serde_json::json!({"target": "http://h:8080/api", "endpoints": [endpoint]})
}

#[test]
fn what_never_changes_is_one_fixed_request() {
    let compiled = compiled(serde_json::json!({
        "target": "http://h:8080/api/",
        "headers": {"Accept": "a/b", "X-A": "1"},
        "variables": {"v": "${x}", "x": "x y"},
        "endpoints": [{"path": "/p?q=${v}", "query": {"r": "a&b"}, "headers": {"x-a": " 2 "},
            "body": {"json": {"a": [1, "q\"", null], "b": "${x}"}}}]
    }));
    let body = r#"{"a":[1,"q\"",null],"b":"x y"}"#;
    let expected = format!(
        "POST /api/p?q=x%20y&r=a%26b HTTP/1.1\r\nHost: h:8080\r\nAccept: a/b\r\nx-a: 2\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(first(&compiled), expected);
    let source = compiled.supply(0).source(WorkerPlace { worker: 0, workers: 1 });
    assert_eq!(source.fixed().len(), 1);
}

/// Compares with the head that `wire` would write: the same order and framing.
#[test]
fn requests_are_written_as_wire_writes_them() {
    for (method, body) in [("GET", None), ("POST", None), ("PUT", Some("b")), ("DELETE", None)] {
        let mut endpoint =
            serde_json::json!({"method": method, "path": "/p", "headers": {"A": "1"}});
        let mut headers = vec![("A", "1")];
        if let Some(body) = body {
            endpoint["body"] = serde_json::json!({"text": body});
            headers.push(("Content-Type", "text/plain"));
        }
        let mut out = Vec::new();
        let parts = wire::RequestParts {
            method,
            target: "/api/p",
            host: "h:8080",
            headers: &headers,
            body: body.map(str::as_bytes),
            keep_alive: true,
        };
        wire::encode_request(&mut out, &parts).unwrap();
        assert_eq!(first(&compiled(one(endpoint))), String::from_utf8(out).unwrap());
    }
}

#[test]
fn placeholders_stay_in_their_places() {
    let nasty = "a/b?c&d=\"e\"\\\u{1}é";
    let compiled = compiled(serde_json::json!({
        "target": "http://h",
        "pools": {"p": {"values": [nasty]}, "n": {"values": [{"i": 7, "t": "7", "l": [1]}]}},
        "endpoints": [{"path": "/x/${p}/y", "query": {"q": "${p}"},
            "body": {"json": {"s": "<${p}>", "i": "${n.i}", "t": "${n.t}", "l": "${n.l}"}}}]
    }));
    let request = first(&compiled);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let target = head.split(' ').nth(1).unwrap();
    let url = url::Url::parse(&format!("http://h{target}")).unwrap();
    assert_eq!(url.path_segments().unwrap().count(), 3);
    assert!(url.query_pairs().eq([("q".into(), nasty.into())]));
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let wanted = serde_json::json!({"s": format!("<{nasty}>"), "i": 7, "t": "7", "l": [1]});
    assert_eq!(body, wanted);
}

#[test]
fn one_row_and_one_value_of_a_variable_stand_in_all_of_a_request() {
    let compiled = compiled(serde_json::json!({
        "target": "http://h",
        "pools": {"u": {"values": [{"id": "1", "n": "a"}, {"id": "2", "n": "b"}]}},
        "variables": {"v": "${uuid()}"},
        "endpoints": [{"path": "/${u.id}/${u.n}/${v}/${v}/${uuid()}"}]
    }));
    let mut rows = std::collections::BTreeSet::new();
    for sample in compiled.sample(64, 0) {
        let text = String::from_utf8(sample.bytes).unwrap();
        let parts: Vec<&str> = text.split([' ', '/']).collect();
        assert!(matches!((parts[2], parts[3]), ("1", "a") | ("2", "b")), "{text}");
        assert_eq!(parts[4], parts[5]);
        assert_ne!(parts[5], parts[6]);
        rows.insert(parts[2].to_owned());
    }
    assert_eq!(rows.len(), 2);
}

#[test]
fn bodies_are_of_every_kind() {
    let world = World { files: [("f.bin", &b"\x00${x}"[..])].into(), ..World::default() };
    let body = |body: serde_json::Value| {
        let compiled = world.compile(one(serde_json::json!({"path": "/", "body": body}))).unwrap();
        let text = String::from_utf8(compiled.sample(1, 0).remove(0).bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let media = head.split("Content-Type: ").nth(1).map(|rest| rest.lines().next().unwrap());
        (media.unwrap_or_default().to_owned(), body.to_owned())
    };
    let (media, text) = body(serde_json::json!({"form": {"a b": "x y", "a": ["1", "ü&"]}}));
    assert_eq!(media, "application/x-www-form-urlencoded");
    assert_eq!(text, "a=1&a=%C3%BC%26&a+b=x+y");
    assert_eq!(body(serde_json::json!({"file": "f.bin"})), (String::new(), "\0${x}".into()));
    let (media, text) =
        body(serde_json::json!({"json": "{\"n\": ${int(5, 5)}, \"s\": \"${'a\"'}\"}"}));
    assert_eq!((&*media, &*text), ("application/json", r#"{"n": 5, "s": "a\""}"#));
    let (media, text) = body(serde_json::json!({"multipart": [
        {"name": "a\"b", "text": "${int(1, 1)}"}, {"name": "f", "file": "f.bin"}]}));
    let boundary = media.strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\n1\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n\0${{x}}\r\n--{boundary}--\r\n"
    );
    assert_eq!(text, expected);
}

/// The findings about a workload, as `path part what`.
fn findings(workload: serde_json::Value) -> Vec<String> {
    let error = World::default().compile(workload).unwrap_err();
    let part = |finding: &crate::Finding| finding.part.clone().map(|part| format!("[{part:?}]"));
    let line = |finding: &crate::Finding| {
        format!("{}{}: {}", finding.path, part(finding).unwrap_or_default(), finding.what)
    };
    error.findings.iter().map(line).collect()
}

#[test]
fn all_that_is_wrong_is_reported_at_once() {
    let found = findings(serde_json::json!({
        "target": "h",
        "headers": {"X Y": "1"},
        "pools": {
            "empty": {"values": []}, "none": {}, "gone": {"file": "x.csv"}, "what": {"file": "x.dat"},
            "w": {"values": [{"n": 0}], "order": "weighted", "weight": "n"},
            "two": {"values": [{"id": 1, "name": 2}]}
        },
        "variables": {"a": "${b}", "b": "x${c}", "c": "${a}", "two": "2", "use": "${a}"},
        "endpoints": [
            {"path": "x", "method": "G T"},
            {"path": "/${usr}/${two.nam}/${env.NOPE}/${int(5, 1)}/${shaa256('x')}/${sha256()}/${x"},
            {"path": "/a#b", "headers": {"A": "x\r\nB: y", "Content-Length": "5"}, "checks": [{"regex": "("}]},
            {"path": "/", "body": {"file": "y.bin"}, "weight": -1, "name": "n"},
            {"path": "/", "rate": "5/s", "name": "n", "checks": [{"json": {"pointer": "a"}}]}
        ]
    }));
    for needle in [
        "target: no scheme is named: write http://h",
        "headers/X Y: `X Y` is not the name",
        "pools/empty/values: the pool is empty",
        "pools/none: has neither",
        "pools/gone/file: `x.csv`: no such file",
        "pools/what/file: `x.dat`: no such file",
        "pools/w/weight: the weights sum to zero",
        "variables/two: `two` is also the name of a pool",
        "variables/a: this variable refers to itself: a -> b -> c -> a",
        "endpoints/0/path: a path begins with `/`",
        "endpoints/0/method: `G T` is not a method",
        "endpoints/1/path[3..6]: `usr` is not defined; did you mean `use`?",
        "endpoints/1/path[10..17]: the pool `two` has no column `nam`; did you mean `name`?",
        "endpoints/1/path[21..29]: the environment variable `NOPE` is not set",
        "endpoints/1/path[33..36]: `int`: 5 is above 1",
        "endpoints/1/path[46..53]: there is no function `shaa256`; did you mean `sha256`?",
        "endpoints/1/path[62..68]: `sha256(text)` was given 0 arguments",
        "endpoints/1/path[72..75]: this placeholder is not closed",
        "endpoints/2/path[2..3]: the part after `#`",
        "endpoints/2/headers/A[0..7]: holds byte 0x0d",
        "endpoints/2/headers/Content-Length: is derived from the body",
        "endpoints/2/checks/0/regex: is not a regular expression",
        "endpoints/3/body/file: `y.bin`: no such file",
        "endpoints/4/rate: others have a `weight`",
        "endpoints/4/name: endpoints/3 has the same name",
        "endpoints/4/checks/0/json/pointer: `a` is not a JSON pointer: write `/a`",
    ] {
        assert!(
            found.iter().any(|line| line.starts_with(needle)),
            "{needle}\n{}",
            found.join("\n")
        );
    }
    assert!(found.iter().all(|line| !line.contains("\n")), "{found:?}");
}

#[test]
fn a_body_that_is_not_json_is_reported_before_anything_is_sent() {
    let found = findings(serde_json::json!({
        "target": "http://h",
        "pools": {"u": {"values": ["ann"]}},
        "endpoints": [{"path": "/", "body": {"json": "{\"name\": ${u}}"}}]
    }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("endpoints/0/body: is not JSON once"), "{found:?}");
}

#[test]
fn a_line_end_from_a_pool_stops_the_run_and_never_reaches_the_wire() {
    let workload = serde_json::json!({
        "target": "http://h",
        "pools": {"p": {"values": ["ok", "a\r\nX: 1"], "order": "sequential"}},
        "endpoints": [{"path": "/", "headers": {"A": "${p}"}}]
    });
    let mut source = compiled(workload).supply(0).source(WorkerPlace { worker: 0, workers: 1 });
    let mut out = Requests::new();
    let turn = Turn { user: 0, draw: None, now: 0 };
    assert_eq!(source.next(turn, &mut out), Next::Send);
    out.clear();
    let Next::Halt(halt) = source.next(turn, &mut out) else { panic!("it was sent") };
    assert!(halt.0.contains("`GET /` would hold byte 0x0d"), "{halt}");
    assert!(out.parts().is_empty());
}

#[test]
fn the_environment_may_name_the_target() {
    let world =
        World { env: [("BASE", "http://h:8080/api"), ("HOST", "h")].into(), ..World::default() };
    for (target, server, path) in
        [("${env.BASE}", "http://h:8080", "/api/a"), ("http://${env.HOST}/b", "http://h", "/b/a")]
    {
        let workload = serde_json::json!({"target": target, "endpoints": [{"path": "/a"}]});
        let compiled = world.compile(workload).unwrap();
        assert_eq!(compiled.target(), server);
        let sample = compiled.sample(1, 0).remove(0);
        assert!(sample.bytes.starts_with(format!("GET {path} HTTP/1.1\r\nHost: h").as_bytes()));
        assert_eq!(sample.masked, sample.bytes);
    }
}

#[test]
fn secrets_are_masked_and_the_rest_is_not() {
    let world = World { env: [("KEY", "CLEAR-1"), ("ID", "CLEAR-2")].into(), ..World::default() };
    let compiled = world.compile(serde_json::json!({
        "target": "http://h",
        "headers": {"Authorization": "Bearer CLEAR-3", "X-Plain": "shown", "X-Api-Key": "CLEAR-4"},
        "variables": {"v": "${env.ID}", "jwt": "${jwt_hs256('{\"sub\":\"CLEAR\"}', 'CLEAR')}"},
        "pools": {"u": {"values": [{"name": "ann", "password": "CLEAR-5"}]}},
        "endpoints": [{"path": "/p?key=CLEAR-6&page=2&token=${u.name}", "query": {"a": "${v}", "password": "CLEAR-7"},
            "headers": {"X-Sig": "${hmac_sha256(env.KEY, 'x')}", "X-T": "${jwt}"},
            "body": {"json": {"user": "${u.name}", "pw": "${u.password}", "password": "CLEAR-8",
                              "n": [{"secret": "CLEAR-9"}], "k": "${base64(env.KEY)}"}}}]
    }));
    let sample = compiled.unwrap().sample(1, 0).remove(0);
    let text = String::from_utf8(sample.masked).unwrap();
    assert!(!text.contains("CLEAR") && !text.contains("Q0xFQVI"), "{text}");
    assert!(text.contains("X-Plain: shown") && text.contains("page=2"), "{text}");
    assert!(text.contains("\"user\":\"ann\"") && text.contains("token=***"), "{text}");
    let real = String::from_utf8(sample.bytes).unwrap();
    assert!((1..=9).all(|n| real.contains(&format!("CLEAR-{n}")) || n == 1), "{real}");
}

#[test]
fn the_load_is_resolved_scaled_and_stripped_of_writes() {
    let endpoints = serde_json::json!([
        {"path": "/a", "rate": "9/s"}, {"path": "/b", "rate": "27/s"},
        {"path": "/c", "method": "DELETE", "rate": "9/s"}
    ]);
    let workload = serde_json::json!({"target": "http://h", "endpoints": endpoints});
    let whole = World { scale: Some(2.0), ..World::default() }.compile(workload.clone()).unwrap();
    assert_eq!(whole.load().rate, Some(Rate(90.0)));
    assert!((whole.write_share() - 0.2).abs() < 1e-12);
    assert_eq!(whole.mix().endpoints[1].rate_per_s, Some(54.0));
    assert_eq!(whole.mix().endpoints[1].share, Some(0.6));
    let reads = World { reads_only: true, ..World::default() }.compile(workload).unwrap();
    assert_eq!((reads.load().rate, reads.write_share()), (Some(Rate(36.0)), 0.0));
    assert_eq!(reads.left_out(), ["DELETE /c"]);
    let users = compiled(serde_json::json!({"target": "http://h", "endpoints": [
        {"path": "/a", "concurrency": 5, "pace": "111ms"}, {"path": "/b", "concurrency": 20}]}));
    assert_eq!(users.load().concurrency, Some(Count(25)));
    let connections: Vec<_> = users.mix().endpoints.iter().map(|e| e.connections).collect();
    assert_eq!(connections, [Some(5), Some(20)]);
}

#[test]
fn requests_that_never_change_are_told_from_those_that_do() {
    let compiled = compiled(serde_json::json!({
        "target": "http://h",
        "pools": {"p": {"values": [1, 2]}},
        "endpoints": [{"path": "/list"}, {"path": "/item/${p}"}],
        "flows": [{"name": "f", "steps": [{"path": "/basket"}]}]
    }));
    let unchanging: Vec<bool> = compiled.mix().endpoints.iter().map(|e| e.unchanging).collect();
    assert_eq!(unchanging, [true, false, false]);
}

#[test]
fn what_is_wrong_with_a_flow_is_reported() {
    let found = findings(serde_json::json!({
        "target": "http://h",
        "pools": {"p": {"values": [1]}},
        "flows": [{"name": "f", "steps": [
            {"path": "/${later}", "when": {"chance": 0.5}, "extract": {"p": {"json": "/a"}, "later": {"json": "a"}}},
            {"path": "/${token}", "when": {"has": "tokn"}, "extract": {"token": {"regex": "("}}},
            {"path": "/", "when": {"chance": 2}, "body": {"json": "{\"a\": <${ok}>}"}, "extract": {"ok": {"header": "X"}}}
        ]}, {"name": "empty", "steps": []}]
    }));
    for needle in [
        "flows/0/steps/0/path[3..8]: `later` is not defined",
        "flows/0/steps/0/when: the first step is always taken",
        "flows/0/steps/0/extract/p: `p` is also the name of a pool",
        "flows/0/steps/0/extract/later/json: `a` is not a JSON pointer",
        "flows/0/steps/1/when/has: no step before extracts `tokn`",
        "flows/0/steps/1/extract/token/regex: is not a regular expression",
        "flows/0/steps/2/when/chance: 2 is not from 0 to 1",
        "flows/0/steps/2/body/json[9..11]: `ok` is not defined",
        "flows/1/steps: the flow has no step",
    ] {
        assert!(
            found.iter().any(|line| line.starts_with(needle)),
            "{needle}\n{}",
            found.join("\n")
        );
    }
}

#[test]
fn a_load_of_nothing_or_of_two_kinds_is_refused() {
    let of = |load: serde_json::Value| {
        findings(
            serde_json::json!({"target": "http://h", "endpoints": [{"path": "/"}], "load": load}),
        )
    };
    assert_eq!(of(serde_json::json!({"concurrency": 0})), ["load/concurrency: must be above zero"]);
    assert_eq!(of(serde_json::json!({"rate": 0})), ["load/rate: must be above zero"]);
    assert_eq!(
        of(serde_json::json!({"rate": 5, "concurrency": 7})),
        ["load/concurrency: `rate` beside it opens the loop, which `connections` bounds"]
    );
}

#[test]
fn a_varying_load_replaces_a_steady_one() {
    let with = |load: serde_json::Value| serde_json::json!({"target": "http://h", "endpoints": [{"path": "/"}], "load": load});
    let stages =
        serde_json::json!([{"hold": {"at": 90, "for": "2s"}}, {"hold": {"at": 30, "for": "4s"}}]);
    let scaled = World { scale: Some(2.0), ..World::default() };
    let open =
        scaled.compile(with(serde_json::json!({"arrivals": "poisson", "stages": stages}))).unwrap();
    assert_eq!((open.load().rate, open.load().concurrency), (Some(Rate(100.0)), None));
    assert!(Stages::new(&open.load().stages).unwrap().peak() == 180.0);
    let found =
        findings(with(serde_json::json!({"rate": "5/s", "duration": "1s", "stages": stages})));
    assert_eq!(found, ["load/rate: `stages` replaces it", "load/duration: `stages` replaces it"]);
    let found = findings(with(serde_json::json!({"stages": [{"hold": {"at": 1, "for": 0}}]})));
    assert_eq!(found, ["load/stages/0: a stage must last longer than 0"]);
    let found = findings(with(serde_json::json!({"trace": "t.txt"})));
    assert_eq!(found, ["load/trace: `t.txt`: no such file"]);
    let found = findings(with(serde_json::json!({"trace": "t.txt", "requests": 3})));
    assert_eq!(found[0], "load/requests: `trace` replaces it");
    let world = World { files: [("t.txt", &b"10\n10.5\n11\n12\n"[..])].into(), ..World::default() };
    let traced =
        world.compile(with(serde_json::json!({"trace": "t.txt", "duration": "2s"}))).unwrap();
    assert_eq!(traced.recorded().unwrap().len(), 4);
    assert_eq!(traced.load().rate, Some(Rate(1.5)));
}

#[test]
fn uses_of_what_there_is_too_much_of_are_not_reported_too() {
    for (key, value, most) in [
        ("variables", serde_json::json!("x"), 10_000),
        ("pools", serde_json::json!({"values": [1]}), 1_000),
    ] {
        let many: serde_json::Map<String, serde_json::Value> =
            (0..=most).map(|n| (format!("v{n}"), value.clone())).collect();
        let found = findings(serde_json::json!({
            "target": "http://h",
            (key): many,
            "endpoints": [{"path": "/${v0}/${v999}"}]
        }));
        assert_eq!(found, [format!("{key}: more than {most} {key}")]);
    }
    let steps: Vec<_> = (0..110)
        .map(|n| {
            let extract = (format!("t{n}"), serde_json::json!({"json": "/a"}));
            serde_json::json!({"path": "/", "extract": serde_json::Map::from_iter([extract])})
        })
        .collect();
    let found = findings(serde_json::json!({
        "target": "http://h",
        "flows": [{"name": "f", "steps": steps}]
    }));
    assert_eq!(found, ["flows/0/steps/100: the flow extracts more than 100 values"]);
}
