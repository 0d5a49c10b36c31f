//! A request allocates nothing once its worker is warm: counted for a workload that uses every feature.

use std::sync::Arc;

use allocation_counter::measure;
use model::{Draw, Workload};
use serde_json::{Value, json};
use traffic::{
    Always, Inputs, KeepsCookies, Next, Requests, Source, Supply, Turn, Wants, WorkerPlace, compile,
};
use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

const USERS: u32 = 50;
/// Rounds of all users before and while allocations are counted.
const WARM: u64 = 400;
const COUNTED: u64 = 400;

/// A workload's requests, each followed by its response.
struct Played {
    source: Box<dyn Source>,
    parser: ResponseParser,
    out: Requests,
    response: Vec<u8>,
    /// Requests sent, responses shown.
    sent: u64,
    shown: u64,
}

impl Played {
    fn new(workload: Value) -> Self {
        let workload: Workload = serde_json::from_value(workload).unwrap();
        let inputs = Inputs {
            env: &|_| Some("secret".into()),
            file: &|_| Err("no files here".into()),
            rows: &|_| Err("no files here".into()),
            pools: None,
            index: &|_, _| Err("no files here".into()),
            seed: 7,
            lanes: 64,
            keepalive: true,
            scale: 1.0,
            reads_only: false,
        };
        let compiled = compile(&workload, &inputs).unwrap_or_else(|error| panic!("{error}"));
        Self::of(&*compiled.supply(1_700_000_000_000_000_000))
    }

    fn of(supply: &dyn Supply) -> Self {
        Self {
            source: supply.source(WorkerPlace { worker: 0, workers: 1 }),
            parser: ResponseParser::new(Limits::default()),
            out: Requests::new(),
            response: Vec::new(),
            sent: 0,
            shown: 0,
        }
    }

    /// A turn of each user: by arrivals or, in the middle of a session, without.
    fn round(&mut self, k: u64, open: bool, response: &[u8]) {
        for user in 0..USERS {
            let draw = open.then_some(Draw { lane: user, k });
            let now = k * 1_000_000_000;
            let mut turn = Turn { user, draw, now };
            loop {
                self.out.clear();
                match self.source.next(turn, &mut self.out) {
                    Next::Send => {}
                    Next::Free | Next::At(_) => break,
                    other => panic!("{other:?}"),
                }
                self.sent += 1;
                let part = self.out.parts()[0];
                if part.wants > Wants::Nothing {
                    self.response.clear();
                    self.response.extend_from_slice(response);
                    self.pass_response(user, now);
                }
                if !part.goes_on {
                    break;
                }
                turn = Turn { draw: None, ..turn };
            }
        }
    }

    fn pass_response(&mut self, user: u32, now: u64) {
        self.parser.begin(ResponseTo::Other);
        let mut bytes = &self.response[..];
        while let Some(event) = self.parser.next(&mut bytes).expect("good HTTP") {
            match event {
                ResponseEvent::Head(head) => self.source.head(user, &head),
                ResponseEvent::Body(body) => self.source.body(user, body),
                ResponseEvent::End { .. } => break,
            }
        }
        let result = self.source.completed(user, true, now);
        assert_eq!((result.failed_check, result.halt), (None, None));
        self.shown += 1;
    }
}

/// Plays a workload warm, and then counts what further rounds of it allocate.
#[track_caller]
fn allocates_nothing(workload: Value, open: bool, response: &str) -> (u64, u64) {
    stays_warm(Played::new(workload), open, response)
}

#[track_caller]
fn stays_warm(mut played: Played, open: bool, response: &str) -> (u64, u64) {
    (0..WARM).for_each(|k| played.round(k, open, response.as_bytes()));
    let before = (played.sent, played.shown);
    let counted = measure(|| {
        (WARM..WARM + COUNTED).for_each(|k| played.round(k, open, response.as_bytes()));
    });
    let (sent, shown) = (played.sent - before.0, played.shown - before.1);
    assert_eq!(counted.count_total, 0, "{counted:?} for {sent} requests, {shown} responses");
    (sent, shown)
}

#[test]
fn counting_counts() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1u8]))).count_total, 1);
}

#[test]
fn endpoints_with_pools_and_functions() {
    let rows: Vec<Value> =
        (0..100).map(|n| json!({"id": n, "name": format!("us\"er-{n}"), "w": n + 1})).collect();
    let pool = |order| json!({"values": rows, "order": order});
    let mut weighted = pool("weighted");
    weighted["weight"] = json!("w");
    let claims = r#"{"sub":"${s.name}","iat":${unix()},"exp":${unix(3600)}}"#;
    let workload = json!({
        "target": "http://h",
        "pools": {
            "s": pool("sequential"), "f": pool("shuffled"), "r": pool("random"), "w": weighted,
        },
        "variables": {"claims": claims, "both": "${r.id}-${int(1, 9)}"},
        "endpoints": [
            {"path": "/fixed", "weight": 1},
            {"path": "/a/${s.name}/${w.id}", "query": {"q": "${f.name}", "n": "${zipf(1000, 1.1)}"}, "weight": 5},
            {"path": "/token", "headers": {
                "Authorization": "Bearer ${jwt_hs256(claims, env.KEY)}",
                "X-Sign": "${hmac_sha256(env.KEY, both)}", "X-Id": "${uuid()}",
            }, "weight": 5},
            {"path": "/body", "method": "POST", "body": {"json": {
                "name": "${s.name}", "both": "${both}", "at": "${rfc3339()}", "ms": "${unix_ms()}",
                "text": "${base64(both)} ${sha256(both)} ${hex(both)} ${string(12)}",
            }}, "weight": 5},
            {"path": "/form", "method": "POST",
             "body": {"form": {"a": "${urlencode(r.name)}", "b": "${time('%F')}"}}, "weight": 5},
            {"path": "/checked/${r.id}", "weight": 5, "checks": [
                {"status": "200"}, {"header": {"name": "X-A", "equals": "yes"}},
                {"json": {"pointer": "/ok", "equals": true}}, {"contains": "items"},
                {"regex": "\"to(k)en\""},
            ]},
        ],
    });
    for open in [true, false] {
        let (sent, shown) = allocates_nothing(workload.clone(), open, RESPONSE);
        assert!(sent == COUNTED * u64::from(USERS) && shown > sent / 10, "{sent} {shown}");
    }
}

const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 64\r\nX-A: yes\r\n\
    Set-Cookie: sid=s1; Path=/; Expires=Thu, 01-Jan-2099 00:00:00 GMT\r\n\
    Set-Cookie: old=; Max-Age=0\r\n\r\n\
    {\"ok\": true, \"token\": \"t\\/\", \"items\": [{\"id\": 14}, {\"id\": 15}] }";

#[test]
fn sessions_with_extraction_checks_and_cookies() {
    let workload = json!({
        "target": "http://h",
        "pools": {"user": {"values": ["ann", "bob"], "order": "shuffled"}},
        "flows": [{"name": "visit", "steps": [
            {"name": "login", "method": "POST", "path": "/login",
             "body": {"json": {"user": "${user}", "password": "${env.PASSWORD}"}},
             "checks": [{"json": {"pointer": "/ok"}}],
             "extract": {"token": {"json": "/token"}, "sid": {"cookie": "sid"}}},
            {"name": "list", "path": "/items", "query": {"page": "${int(1, 9)}"},
             "headers": {"Authorization": "Bearer ${token}"},
             "extract": {"id": {"json": "/items/1/id"}, "a": {"header": "X-A"},
                         "word": {"regex": "\"to(k)en\""}}},
            {"name": "more", "path": "/items/${id}/${a}/${word}", "when": {"equal": ["${a}", "yes"]}},
            {"name": "maybe", "path": "/maybe", "when": {"chance": 0.5}},
            {"name": "never", "path": "/never", "when": {"equal": ["${user}", "${sid}"]}},
            {"name": "last", "path": "/last"},
        ]}],
    });
    for open in [true, false] {
        let (sent, shown) = allocates_nothing(workload.clone(), open, RESPONSE);
        assert!(sent > 4 * COUNTED * u64::from(USERS) && shown > sent / 2, "{sent} {shown}");
    }
}

#[test]
fn one_request_with_the_cookies_that_were_set() {
    let response = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Max-Age=9\r\n\
                    Content-Length: 0\r\n\r\n";
    let supply = Arc::new(Always::new(*b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", false));
    let supply = KeepsCookies { supply, unix_ns: 1_700_000_000_000_000_000 };
    let played = || Played::of(&supply);
    for open in [true, false] {
        let (sent, shown) = stays_warm(played(), open, response);
        assert_eq!((sent, shown), (COUNTED * u64::from(USERS), sent));
    }
}
