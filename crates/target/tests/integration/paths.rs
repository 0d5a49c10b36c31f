//! Every path over real sockets.

use std::time::{Duration, Instant};

use target::{Options, Server, StartError};
use testkit::needs;
use testkit::peer::RawClient;
use testkit::servers::{Nginx, NginxOptions};

use crate::harness::*;

/// One server on each kernel interface that works here.
fn each(test: impl Fn(&Server)) {
    for io in interfaces() {
        let server = start(Options { io: Some(io), ..options() });
        assert_eq!(server.io(), io);
        test(&server);
        let served = server.stop();
        assert_eq!(served.failures, Vec::<String>::new());
    }
}

#[test]
fn health_is_minimal_and_repeats_on_one_connection() {
    each(|server| {
        let mut client = connect(server);
        for path in ["/healthz", "/", "/healthz?seed=1", "http://elsewhere/healthz"] {
            client.send(request("GET", path).as_bytes());
            assert_eq!(client.receive(OK.len()), OK.as_bytes(), "{path}");
        }
        client.send(last("/healthz").as_bytes());
        assert_eq!(client.receive_all(Duration::from_secs(10)).0, OK_LAST.as_bytes());
        let served = server.served();
        assert_eq!((served.path("/healthz"), served.path("/")), (4, 1));
        assert_eq!((served.requests, served.connections), (5, 1));
    });
}

#[test]
fn any_method_will_do_and_head_has_no_body() {
    each(|server| {
        for method in ["GET", "DELETE", "OPTIONS", "BREW"] {
            let mut client = connect(server);
            client.send(request(method, "/healthz").as_bytes());
            assert_eq!(client.receive(OK.len()), OK.as_bytes(), "{method}");
        }
        let head = OK.split_once('{').expect("a body").0;
        for path in ["/healthz", "/delay/1ms", "/queue", "/fault/1xx"] {
            let mut client = connect(server);
            let both = [request("HEAD", path), request("GET", "/healthz")].concat();
            client.send(both.as_bytes());
            let response = client.receive_until(b"{\"status\":\"ok\"}");
            let text = String::from_utf8_lossy(&response).into_owned();
            assert!(text.ends_with(&[head, OK].concat()), "{path}: {text}");
        }
        for path in ["/bytes/1000", "/fault/chunked", "/fault/gzip", "/status/404", "/nowhere"] {
            let bytes = [request("HEAD", path), last("/healthz")].concat();
            let response = fetch(server, bytes);
            let (head, rest) = response.split_once("\r\n\r\n").expect("a head");
            assert!(head.contains("Content-Length") || head.contains("chunked"), "{path}: {head}");
            assert_eq!(rest, OK_LAST, "{path}");
        }
    });
}

#[test]
fn http_1_0_responses_state_that_the_connection_is_kept() {
    each(|server| {
        let old = "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
        let response = fetch(server, [old, "GET / HTTP/1.0\r\n\r\n"].concat());
        let kept = OK.replace("Content-Length", "Connection: keep-alive\r\nContent-Length");
        assert_eq!(response, [&kept, OK_LAST].concat());
    });
}

#[test]
fn bytes_come_in_the_requested_number() {
    each(|server| {
        for count in [0, 1, 65_535, 65_536, 65_537, 5_000_000] {
            let response = fetch(server, last(&format!("/bytes/{count}")));
            assert!(response.contains(&format!("Content-Length: {count}\r\n")));
            assert_eq!(body(&response).len(), count);
            assert!(body(&response).bytes().all(|byte| byte == b'x'));
        }
    });
}

#[test]
fn statuses_are_those_requested() {
    each(|server| {
        for (code, line) in [
            (200, "HTTP/1.1 200 OK\r\n"),
            (404, "HTTP/1.1 404 Not Found\r\n"),
            (503, "HTTP/1.1 503 Service Unavailable\r\n"),
        ] {
            let response = fetch(server, last(&format!("/status/{code}")));
            assert!(response.starts_with(line), "{response}");
            assert_eq!(body(&response), format!("{{\"status\":{code}}}"));
        }
        for code in [204, 304] {
            let response = fetch(server, last(&format!("/status/{code}")));
            assert!(response.ends_with("\r\n\r\n") && !response.contains("Content-"), "{response}");
        }
    });
}

#[test]
fn an_echo_has_the_body_and_its_type() {
    each(|server| {
        let fixed = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: text/x\r\n\
            Content-Length: 5\r\n\r\nhello";
        let response = fetch(server, [fixed, &last("/")].concat());
        let (first, rest) = response.split_at(response.find("hello").expect("the body") + 5);
        assert!(first.contains("Content-Type: text/x\r\nContent-Length: 5\r\n\r\n"), "{first}");
        assert_eq!(rest, OK_LAST);
        let chunked = "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
            Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        let response = fetch(server, chunked);
        assert!(response.contains("application/octet-stream") && body(&response) == "abcde");
    });
}

#[test]
fn a_client_that_expects_100_continue_gets_it() {
    each(|server| {
        let mut client = connect(server);
        client.send(
            b"PUT /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        );
        let going = "HTTP/1.1 100 Continue\r\n\r\n";
        assert_eq!(client.receive(going.len()), going.as_bytes());
        client.send(b"ok");
        assert!(client.receive_until(b"\r\n\r\nok").starts_with(b"HTTP/1.1 200 OK\r\n"));
    });
}

#[test]
fn delays_and_processor_time_pass() {
    each(|server| {
        for path in ["/delay/30ms", "/cpu/30ms"] {
            let start = Instant::now();
            assert_eq!(fetch(server, last(path)), OK_LAST);
            assert!(start.elapsed() >= Duration::from_millis(30), "{path}");
        }
        assert_eq!(fetch(server, last("/queue?servers=2&mean=1us")), OK_LAST);
    });
}

#[test]
fn responses_to_wrong_requests_say_what_would_be_right() {
    each(|server| {
        for (path, status, needle) in [
            ("/nowhere", 404, "/bytes/{n}, /status/{code}"),
            ("/fault/none", 404, "reset, close, truncate"),
            ("/bytes/many", 400, "n is a whole number from 0 to 10737418240, not `many`"),
            ("/queue?servers=0", 400, "servers is a whole number from 1 to 100000, not `0`"),
            ("/delay/3h", 400, "duration is a duration up to 1h"),
        ] {
            let response = fetch(server, [request("GET", path), last("/")].concat());
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
            assert!(response.contains("{\"error\":\"") && response.contains(needle), "{response}");
            assert!(response.ends_with(OK_LAST), "the connection goes on: {response}");
        }
    });
}

/// The number that nginx's page has third, as `\n\s*\d+\s+\d+\s+(\d+)` finds it.
fn requests_on_page(page: &str) -> u64 {
    let line = page.lines().nth(2).expect("a third line");
    let fields: Vec<u64> = line.split_whitespace().map_while(|f| f.parse().ok()).collect();
    assert_eq!(fields.len(), 3, "{page}");
    fields[2]
}

#[test]
fn the_page_of_counters_is_exact_over_all_threads() {
    let server = start(Options { threads: Some(2), ..options() });
    let status = || fetch(&server, last("/stub_status"));
    let before = requests_on_page(body(&status()));
    assert_eq!(before, 1);
    let many = request("GET", "/healthz").repeat(100);
    for _ in 0..20 {
        let mut client = connect(&server);
        client.send(many.as_bytes());
        assert_eq!(client.receive(100 * OK.len()), OK.repeat(100).as_bytes());
    }
    let mut idle = connect(&server);
    idle.send(request("GET", "/").as_bytes());
    idle.receive(OK.len());
    let mut begun = connect(&server);
    begun.send(b"GET ");
    let mut hanging = connect(&server);
    hanging.send(request("GET", "/fault/hang").as_bytes());
    // The clients gone may not have been noticed yet, and the two kept may not have been read.
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut page_requests = 1;
    loop {
        let response = status();
        let page = body(&response);
        page_requests += 1;
        if page.starts_with("Active connections: 4 \n") && page.contains("Reading: 1 Writing: 2") {
            assert!(page.ends_with("Reading: 1 Writing: 2 Waiting: 1 \n"), "{page}");
            assert!(page.contains("\nserver accepts handled requests\n "), "{page}");
            assert_eq!(requests_on_page(page), 2000 + 1 + 1 + page_requests);
            break;
        }
        assert!(Instant::now() < deadline, "{page}");
    }
    let served = server.stop();
    assert_eq!((served.path("/healthz"), served.path("/fault")), (2000, 1));
}

#[test]
fn the_page_of_counters_is_formed_as_nginx_forms_it() {
    if !needs::has("nginx") {
        return;
    }
    let nginx = Nginx::start(&NginxOptions::default()).expect("nginx runs");
    let form = |page: &str| page.replace(|c: char| c.is_ascii_digit(), "#").replace("##", "#");
    let (theirs, _) = RawClient::exchange(nginx.status_addr(), last("/").as_bytes());
    let theirs = String::from_utf8(theirs).expect("ASCII");
    let ours = fetch(&server(), last("/stub_status"));
    assert_eq!(form(body(&ours)), form(body(&theirs)));
    assert!(
        theirs.contains("Content-Type: text/plain") && ours.contains("Content-Type: text/plain")
    );
}

#[test]
fn connections_end_after_so_many_responses() {
    let limited = Options { requests_per_connection: Some(3), ..options() };
    let closing = Options { close: true, ..options() };
    for (options, responses) in [(limited, 3), (closing, 1)] {
        let server = start(options);
        let response = fetch(&server, request("GET", "/").repeat(5));
        assert_eq!(response, [&OK.repeat(responses - 1), OK_LAST].concat());
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let running = server();
    let listen = running.addr();
    let refused = Server::start(Options { listen, ..options() });
    let Err(error @ StartError::Listen { .. }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains(&listen.to_string()), "{error}");
    for wrong in [
        Options { threads: Some(0), ..options() },
        Options { requests_per_connection: Some(0), ..options() },
        Options { stall: Some(target::Stall { every_ns: 5, for_ns: 5 }), ..options() },
    ] {
        assert!(matches!(Server::start(wrong), Err(StartError::Option(_))));
    }
}
