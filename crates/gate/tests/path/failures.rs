//! Upstreams that fail: not there, closing, silent, not HTTP, one of several.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use gate::health::CheckFailure;
use gate::path::Failure;
use gate::policy::{ActiveCheck, Balance, PassiveCheck, Upstream};
use socket2::SockRef;
use testkit::peer::{Peer, Step};
use testkit::ports::reserved;

use crate::harness::{Front, api, front, interfaces, upstream, wait_until};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn an_upstream_that_is_not_there_gives_502() {
    for io in interfaces() {
        let front = front(upstream(&[reserved()]), io);
        let answers = front.ask(&[GET, GET].concat());
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [502, 502]);
        let problem: serde_json::Value = serde_json::from_slice(&answers[0].body).expect("JSON");
        assert_eq!(problem["code"], "upstream");
        assert_eq!(problem["detail"], Failure::Refused.detail());
    }
}

/// How many requests each kind of failure was counted for.
fn failed_by(front: &Front) -> Vec<(Failure, u64)> {
    let view = front.health.view(net::clock::now());
    let counted = Failure::ALL.into_iter().zip(view[0].failed_by);
    counted.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn each_failure_is_reported_and_counted_by_its_kind() {
    let endless = [&b"HTTP/1.1 200 OK\r\n"[..], &b"A: b\r\n".repeat(200)].concat();
    let cases = [
        (&b"SSH-2.0-OpenSSH\r\n"[..], Failure::NotHttp),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", Failure::Framing),
        (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", Failure::Framing),
        (&endless, Failure::HeadTooLong),
        (b"", Failure::Closed),
    ];
    for io in interfaces() {
        for (answer, failure) in &cases {
            let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer.to_vec())];
            let peer = Peer::start(script);
            let mut upstream = upstream(&[peer.addr()]);
            upstream.retry.attempts = 0;
            let front = front(upstream, io);
            let answers = front.ask(GET);
            let problem: serde_json::Value = serde_json::from_slice(&answers[0].body).unwrap();
            assert_eq!(problem["detail"], failure.detail(), "{}", answer.escape_ascii());
            assert_eq!(failed_by(&front), [(*failure, 1)], "{}", answer.escape_ascii());
        }
    }
}

#[test]
fn a_malformed_request_is_told_the_rule() {
    let api = api();
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(500));
    let cases = [
        ("GET / HTTP/1.1\r\n\r\n", 400, "no Host"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "two Hosts"),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            400,
            "two Content-L",
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400, "Content-Length is no"),
        ("GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n", 400, "its colon"),
        ("GET /\r\n\r\n", 400, "first line"),
        (&many, 431, "too many header lines"),
    ];
    for io in interfaces() {
        let front = front(upstream(&[api.addr()]), io);
        for (request, status, words) in &cases {
            let answers = front.ask(request.as_bytes());
            let problem: serde_json::Value = serde_json::from_slice(&answers[0].body).unwrap();
            assert_eq!(answers[0].status, *status, "{words}");
            assert!(problem["detail"].as_str().unwrap().contains(words), "{words}: {problem}");
        }
    }
}

#[test]
fn what_is_not_http_gives_502() {
    for io in interfaces() {
        for answer in [
            &b"SSH-2.0-OpenSSH\r\n"[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            b"",
        ] {
            let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer.to_vec())];
            let peer = Peer::start(script);
            let front = front(upstream(&[peer.addr()]), io);
            let answers = front.ask(GET);
            assert_eq!(answers[0].status, 502, "{}", answer.escape_ascii());
        }
    }
}

#[test]
fn a_server_that_fails_is_left_for_another() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[reserved(), api.addr()]), io);
        for _ in 0..20 {
            assert_eq!(front.ask(GET)[0].status, 200);
        }
        let unwell =
            front.health.view(net::clock::now()).iter().filter(|server| !server.well).count();
        assert!(unwell <= 1);
        assert!(front.gate.counts().retries > 0);
    }
}

/// A request of before that ends lets no second one try a server which has not answered the first.
#[test]
fn one_request_tries_a_server_after_its_rest_whatever_else_ends() {
    for io in interfaces() {
        let asked = || Step::Expect(b"\r\n\r\n");
        let (silent, closing) = (vec![asked(), Step::Hang], vec![asked()]);
        let failing = Peer::start_each(vec![silent.clone(), closing, silent]);
        let api = api();
        let mut upstream = upstream(&[api.addr(), failing.addr()]);
        upstream.balance = Balance::RoundRobin;
        upstream.passive = PassiveCheck { failures: 1, rest_ns: 50_000_000 };
        let front = front(upstream, io);
        let begin = || {
            let mut client = TcpStream::connect(front.addr()).expect("it listens");
            client.write_all(GET).expect("it is sent");
            client
        };
        let reach = |connections: u64| {
            let clients: Vec<TcpStream> = (0..2).map(|_| begin()).collect();
            wait_until(|| failing.connections().min(failing.requests()) >= connections);
            clients
        };
        let before = reach(1);
        let _failed = reach(2);
        wait_until(|| {
            let view = front.health.view(net::clock::now());
            let server = view.iter().find(|server| server.socket == failing.addr());
            server.is_some_and(|server| server.failed_by.iter().sum::<u64>() > 0)
        });
        std::thread::sleep(Duration::from_millis(100));
        let _trial = reach(3);
        for client in before {
            SockRef::from(&client).set_linger(Some(Duration::ZERO)).expect("it ends by a RST");
        }
        std::thread::sleep(Duration::from_millis(100));
        let statuses: Vec<u16> = (0..4).map(|_| front.ask(GET)[0].status).collect();
        assert_eq!((statuses, failing.connections()), (vec![200; 4], 3));
    }
}

/// A WebSocket or a long response that tried a server kept all others from it, for as long as it lasted.
#[test]
fn a_server_is_back_once_it_begins_to_answer_the_request_that_tries_it() {
    let switched =
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    let begun = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab";
    let upgrade = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    for io in interfaces() {
        for lasting in [&switched[..], begun] {
            let asked = || Step::Expect(b"\r\n\r\n");
            let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec();
            let peer = Peer::start_each(vec![
                vec![asked()],
                vec![asked(), Step::Send(lasting.to_vec()), Step::Hang],
                vec![Step::Forever(vec![asked(), Step::Send(ok)])],
            ]);
            let api = api();
            let mut upstream = upstream(&[api.addr(), peer.addr()]);
            upstream.balance = Balance::RoundRobin;
            upstream.passive = PassiveCheck { failures: 1, rest_ns: 50_000_000 };
            let front = front(upstream, io);
            let get = || assert_eq!(front.ask(GET)[0].status, 200);
            while peer.connections() < 1 {
                get();
            }
            std::thread::sleep(Duration::from_millis(100));
            let mut trying = Vec::new();
            while peer.connections() < 2 {
                let mut client = front.client();
                client.send(upgrade);
                client.receive_until(b"\r\n\r\n");
                trying.push(client);
            }
            (0..4).for_each(|_| get());
            assert_eq!(peer.connections(), 3, "{}", lasting.escape_ascii());
        }
    }
}

#[test]
fn a_post_that_was_sent_is_not_sent_again() {
    for io in interfaces() {
        let peer = Peer::start(vec![Step::Expect(b"\r\n\r\nhello")]);
        let front = front(upstream(&[peer.addr()]), io);
        let answers = front.ask(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!(answers[0].status, 502);
        assert_eq!((peer.connections(), front.gate.counts().retries), (1, 0));
        let answers = front.ask(b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!(answers[0].status, 502);
        assert_eq!((peer.connections(), front.gate.counts().retries), (3, 1));
    }
}

#[test]
fn checks_find_who_is_well() {
    for io in interfaces() {
        let api = api();
        let check = ActiveCheck {
            path: "/healthz".into(),
            every_ns: 50_000_000,
            timeout_ns: 1_000_000_000,
            up_after: 1,
            down_after: 1,
        };
        let dead = reserved();
        let upstream = Upstream { active: Some(check), ..upstream(&[api.addr(), dead]) };
        let front = front(upstream, io);
        let view = || front.health.view(net::clock::now());
        wait_until(|| view().iter().all(|server| server.checks > 1));
        let found: Vec<_> =
            view().iter().map(|server| (server.well, server.check_failure)).collect();
        let refused = CheckFailure::Unanswered(Failure::Refused);
        assert_eq!(found, [(true, None), (false, Some(refused))]);
    }
}

/// One that gives no answer has one check at a time, however often it is to be checked.
#[test]
fn checks_of_a_silent_server_do_not_pile_up() {
    for io in interfaces() {
        let silent = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Hang]);
        let check = ActiveCheck {
            path: "/healthz".into(),
            every_ns: 50_000_000,
            timeout_ns: 500_000_000,
            up_after: 1,
            down_after: 1,
        };
        let upstream = Upstream { active: Some(check), ..upstream(&[silent.addr()]) };
        let front = front(upstream, io);
        wait_until(|| silent.connections() > 1);
        std::thread::sleep(Duration::from_millis(1500));
        // Counted in this order, no check that has ended meanwhile is missing.
        let begun = silent.connections();
        let ended = front.health.view(net::clock::now())[0].checks;
        assert!(begun <= ended + 1, "{begun} begun, {ended} ended");
    }
}
