//! Ways around a rule that are closed: other spellings of a path or a header, trailers, interim answers.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use gate::admission::{Line, Part};
use gate::keys::Settings;
use gate::policy::{HeaderRules, PathPattern, PolicySettings, Route};
use testkit::peer::{Peer, Step};
use wire::ResponseTo;

use crate::harness::{
    Front, PATIENCE, answers, api, front_with, interfaces, some, upstream, with_keys,
};

/// A server that answers one request with these bytes once its last chunk has come; what it was sent.
fn recorder(answer: &'static [u8]) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let (mut came, mut block) = (Vec::new(), [0; 4096]);
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        while !came.ends_with(b"\r\n\r\n") || !came.windows(3).any(|part| part == b"\n0\r") {
            match stream.read(&mut block).expect("bytes") {
                0 => break,
                bytes => came.extend_from_slice(&block[..bytes]),
            }
        }
        stream.write_all(answer).expect("the answer is sent");
        String::from_utf8_lossy(&came).into_owned()
    });
    (address, thread)
}

/// A gateway with one route to a server, which knows the key `k`.
fn keyed(route: Route, server: SocketAddr, io: net::Io) -> Front {
    let (digester, settings) = with_keys(upstream(&[server]));
    let front = front_with(PolicySettings { routes: vec![route], ..settings }, io);
    let keys = Arc::clone(&front.current.get().0.state().keys);
    keys.put(&digester.digest(b"k"), &Settings::default());
    front
}

#[test]
fn a_slash_at_the_end_leads_around_no_template() {
    for io in interfaces() {
        let api = api();
        let route = |name: &str, path: &str| Route {
            name: name.into(),
            path: PathPattern::parse(path).expect("a path"),
            ..Route::to(0)
        };
        let routes = vec![
            route("user", "/bytes/{n}"),
            route("folder", "/nothing/{n}/{m}/"),
            route("all", "/"),
        ];
        let settings = PolicySettings::open(upstream(&[api.addr()]));
        let front = front_with(PolicySettings { routes, ..settings }, io);
        for (path, status) in [
            ("/bytes/2", 200),
            ("/bytes/2/", 400),
            ("/bytes/2//", 400),
            ("/bytes/2;x/", 400),
            ("/healthz", 200),
            ("/nothing/x/", 404),
            ("/nothing/1/2/", 404),
        ] {
            let text = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
            let answer = &front.ask(text.as_bytes())[0];
            assert_eq!(answer.status, status, "{path}");
            // It is the gateway that refuses, not the API.
            let body = String::from_utf8_lossy(&answer.body);
            assert_eq!(body.contains("\"code\":\"path\""), status == 400, "{path}: {body}");
        }
    }
}

#[test]
fn rules_hold_for_underscores_and_trailers() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX_Secret: 7\r\n\r\n2\r\nok\r\n0\r\nX-Secret: 8\r\nX-Sum: 9\r\n\r\n";
        let (address, sent) = recorder(answer);
        let rules = |set: &[(&str, &str)], remove: &[&str]| HeaderRules {
            set: set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            remove: remove.iter().map(|name| (*name).into()).collect(),
        };
        let route = Route {
            request_headers: rules(&[("x-role", "guest")], &["x-internal"]),
            response_headers: rules(&[], &["x-secret"]),
            ..Route::to(0)
        };
        let front = keyed(route, address, io);
        let mut client = front.client();
        client.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nX-API-Key: k\r\nX_Role: 1\r\nX_Internal: 2\r\nX-API_Key: 3\r\nX-Other: 4\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Role: 5\r\nx-internal: 6\r\nX-API-Key: 10\r\nX-Check: 11\r\n\r\n",
        );
        let came = some(&mut client);
        let sent = sent.join().expect("the server");
        let values: Vec<&str> = sent
            .lines()
            .filter_map(|line| line.split_once(": "))
            .filter(|(name, _)| name.to_ascii_lowercase().starts_with("x-") || name.contains('_'))
            .filter(|(name, _)| !name.starts_with("X-Forwarded-"))
            .map(|(_, value)| value)
            .collect();
        assert_eq!(values, ["4", "guest", "11"], "{sent}");
        assert!(came.contains("X-Sum: 9\r\n") && !came.to_lowercase().contains("secret"), "{came}");
        assert_eq!(answers(came.as_bytes(), ResponseTo::Other)[0].body, b"ok");
    }
}

/// A token on a route that asks for no key is the upstream's, unless it is a key by its form.
#[test]
fn tokens_of_the_upstream_pass_where_no_key_is_asked_for() {
    let io = net::Io::Epoll;
    for (public, token, passes) in [
        (true, "eyJhbGciOiJIUzI1NiJ9", true),
        (true, "plk_00000000000000000000000000000000", false),
        (false, "k", false),
    ] {
        let (address, sent) = recorder(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let front = keyed(Route { public, ..Route::to(0) }, address, io);
        let mut client = front.client();
        let text = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        );
        client.send(text.as_bytes());
        assert!(some(&mut client).starts_with("HTTP/1.1 200 "), "{token}");
        let sent = sent.join().expect("the server");
        assert_eq!(sent.contains("Authorization: Bearer"), passes, "{sent}");
    }
}

/// A client may show its key in two places. Beside one, another token is the upstream's; the key itself never is.
#[test]
fn a_key_in_two_places_ends_in_both() {
    let io = net::Io::Epoll;
    for (token, passes) in [("k", false), ("other", true)] {
        let (address, sent) = recorder(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let front = keyed(Route::to(0), address, io);
        let mut client = front.client();
        let text = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nX-API-Key: k\r\nAuthorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        );
        client.send(text.as_bytes());
        assert!(some(&mut client).starts_with("HTTP/1.1 200 "), "{token}");
        let sent = sent.join().expect("the server");
        assert_eq!(sent.contains("Authorization: Bearer"), passes, "{sent}");
    }
}

/// What the governor is told of an upstream's speed is how long the final answer took.
#[test]
fn interim_answers_hide_no_latency() {
    for io in interfaces() {
        let hinted = vec![
            Step::Expect(b"\r\n\r\n"),
            Step::Send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".to_vec()),
            Step::Pause(Duration::from_millis(200)),
            Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()),
        ];
        let peer = Peer::start(hinted);
        let mut line = Line::default();
        (line.rate_per_s, line.at_once, line.arrivals_per_s) = (1000.0, 10.0, 1000.0);
        let settings = PolicySettings::open(upstream(&[peer.addr()]));
        let line = Arc::new(line);
        let front = front_with(PolicySettings { line: Some(Arc::clone(&line)), ..settings }, io);
        let policy = front.current.get().0;
        policy.state().ceiling.set(&line, 1.0, Part::of(1, false));
        let mut client = front.client();
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client.receive_until(b"\r\n\r\nok");
        thread::sleep(Duration::from_millis(50));
        let seen = policy.state().ceiling.look(net::clock::now());
        assert_eq!(seen.latency.count(), 1);
        let at = seen.latency.at_quantile(0.5);
        assert!((150_000_000..2_000_000_000).contains(&at), "{at} ns");
    }
}
