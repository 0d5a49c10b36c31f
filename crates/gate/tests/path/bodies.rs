//! Bodies both ways: lengths, chunks, sizes beyond all buffers, HEAD, 100-continue, early answers.

use std::time::Duration;

use testkit::peer::{Peer, RawClient, Step};

use crate::harness::{all, answers, api, front, interfaces, upstream};

#[test]
fn long_answers_pass_whole() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let answers = front.ask(b"GET /bytes/30000000 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answers[0].body.len(), 30_000_000);
    }
}

#[test]
fn a_client_that_does_not_read_holds_the_upstream_back() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let mut client = front.client();
        client.send(b"GET /bytes/200000000 HTTP/1.1\r\nHost: a\r\n\r\n");
        std::thread::sleep(Duration::from_millis(700));
        let held = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let kib = held.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its line");
        let kib: u64 = kib.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kib < 150_000, "{kib} KiB are in memory, of 200 MB that are on their way");
        let head = client.receive_until(b"\r\n\r\n");
        assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"));
        assert_eq!(client.receive(200_000_000).len(), 200_000_000);
    }
}

#[test]
fn long_requests_pass_whole_by_length_and_in_chunks() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let body = vec![b'x'; 1 << 20];
        let mut by_length =
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n".to_vec();
        by_length.extend_from_slice(&body);
        let mut chunked =
            b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for part in body.chunks(70_001) {
            wire::encode_chunk(&mut chunked, part);
        }
        wire::encode_last_chunk(&mut chunked);
        for bytes in [by_length, chunked] {
            let answers = front.ask(&bytes);
            assert_eq!((answers[0].status, answers[0].body.len()), (200, body.len()));
            assert!(answers[0].body == body);
        }
    }
}

#[test]
fn head_has_the_length_and_no_body() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let mut client = front.client();
        client.send(
            b"HEAD /bytes/1000 HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
        );
        let (text, _) = all(&mut client);
        let (head, rest) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains("\r\nContent-Length: 1000"), "{head}");
        assert!(rest.starts_with("HTTP/1.1 200 OK"), "{rest}");
    }
}

#[test]
fn the_upstream_says_whether_to_continue() {
    for io in interfaces() {
        let script = vec![
            Step::Expect(b"Expect: 100-continue\r\n\r\n"),
            Step::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            Step::Expect(b"hello"),
            Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()),
            Step::Hang,
        ];
        let peer = Peer::start(script);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
        );
        assert_eq!(client.receive_until(b"\r\n\r\n"), b"HTTP/1.1 100 Continue\r\n\r\n");
        client.send(b"hello");
        assert!(client.receive_until(b"\r\n\r\nok").starts_with(b"HTTP/1.1 200 OK\r\n"));
    }
}

#[test]
fn an_early_answer_reaches_the_client_and_ends_its_connection() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno".to_vec();
        let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer), Step::Hang]);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nabc");
        let (text, end) = all(&mut client);
        assert!(
            text.starts_with("HTTP/1.1 413 ") && text.contains("\r\nConnection: close\r\n"),
            "{text}"
        );
        assert_eq!(end, testkit::peer::End::Closed);
    }
}

#[test]
fn early_hints_pass() {
    for io in interfaces() {
        let script = vec![
            Step::Expect(b"\r\n\r\n"),
            Step::Send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\n\r\n".to_vec()),
            Step::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
            Step::Hang,
        ];
        let peer = Peer::start(script);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(
            client.receive_until(b"204 No Content\r\n\r\n"),
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
        );
    }
}

#[test]
fn an_answer_until_the_close_becomes_chunks() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 200 OK\r\n\r\nuntil the end".to_vec();
        let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer)]);
        let front = front(upstream(&[peer.addr()]), io);
        let answers = front.ask(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answers[0].body, b"until the end");
        assert!(answers[0].head.contains("Transfer-Encoding: chunked") && answers[0].keep_alive);
    }
}

#[test]
fn answers_cut_short_are_cut_short_for_the_client_too() {
    for io in interfaces() {
        for answer in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ] {
            let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer.to_vec())]);
            let front = front(upstream(&[peer.addr()]), io);
            let mut client: RawClient = front.client();
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            let (came, _) = client.receive_all(Duration::from_secs(5));
            assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"));
            assert!(answers(&came, wire::ResponseTo::Other).is_empty(), "{}", came.escape_ascii());
            assert_eq!(front.gate.counts().aborted, 1);
        }
    }
}

#[test]
fn trailers_of_an_answer_pass() {
    for io in interfaces() {
        let answer =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\n\r\n";
        let peer =
            Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer.to_vec()), Step::Hang]);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let head = client.receive_until(b"\r\n\r\n");
        assert!(String::from_utf8_lossy(&head).contains("Trailer: X-Sum"));
        assert_eq!(client.receive_until(b"7\r\n\r\n"), b"1\r\na\r\n0\r\nX-Sum: 7\r\n\r\n");
    }
}
