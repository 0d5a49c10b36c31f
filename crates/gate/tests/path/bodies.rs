//! Bodies both ways: lengths, chunks, sizes beyond all buffers, HEAD, 100-continue, early answers.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gate::path::Failure;
use testkit::peer::{Peer, RawClient, Step};

use crate::harness::{PATIENCE, all, answers, api, front, interfaces, some, upstream};

#[test]
fn long_answers_pass_whole() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let answers = front.ask(b"GET /bytes/30000000 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answers[0].body.len(), 30_000_000);
    }
}

/// Bytes of an answer that is sent as fast as they are taken.
const POURED: usize = 200_000_000;

/// A server that answers one request so, and how much of the answer was taken.
fn pourer() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let sent = Arc::new(AtomicUsize::new(0));
    let taken = Arc::clone(&sent);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.read_exact(&mut [0; 1]).expect("a request");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {POURED}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it is taken");
        let part = [0; 50_000];
        for _ in 0..POURED / part.len() {
            stream.write_all(&part).expect("it is taken");
            taken.fetch_add(part.len(), Ordering::SeqCst);
        }
        let _ = stream.read_to_end(&mut Vec::new());
    });
    (address, sent)
}

/// The most that the kernel keeps of a connection on one side.
fn buffer(name: &str) -> usize {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).expect("Linux");
    text.split_whitespace().nth(2).and_then(|most| most.parse().ok()).expect("three numbers")
}

#[test]
fn a_client_that_does_not_read_holds_the_upstream_back() {
    for io in interfaces() {
        let (address, sent) = pourer();
        let front = front(upstream(&[address]), io);
        let mut client = front.client();
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        // Until it can send no more for a second.
        let mut before = 0;
        loop {
            std::thread::sleep(Duration::from_secs(1));
            match sent.load(Ordering::SeqCst) {
                now if now == before && now > 0 => break,
                now => before = now,
            }
        }
        // The kernel keeps so much of each of two connections at either end; what the gateway holds back for is added.
        let most = 2 * (buffer("tcp_wmem") + buffer("tcp_rmem")) + (2 << 20);
        assert!(before <= most && most < POURED, "{before} bytes were taken, {most} may be");
        let head = client.receive_until(b"\r\n\r\n");
        assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"));
        assert_eq!(client.receive(POURED).len(), POURED);
    }
}

#[test]
fn an_answer_that_comes_before_the_body_is_read_passes_or_its_loss_is_reported() {
    let refusal =
        b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let asked =
        b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n";
    // The last byte does not come, so that the request is still being sent whenever the connection ends.
    let asked = [&asked[..], &b"x".repeat(2_999_999)].concat();
    for io in interfaces() {
        let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(refusal.to_vec()), Step::Reset];
        let peer = Peer::start(script);
        let mut upstream = upstream(&[peer.addr()]);
        upstream.passive.failures = 1_000;
        let front = front(upstream, io);
        for _ in 0..5 {
            let mut client = front.client();
            client.try_send(&asked);
            let (came, _) = client.receive_all(PATIENCE);
            let Some(answer) = answers(&came, wire::ResponseTo::Other).pop() else { continue };
            let said = String::from_utf8_lossy(&answer.body);
            let told = said.contains(Failure::Unread.detail());
            assert!(answer.status == 413 || told, "{} {said}", answer.status);
        }
    }
}

#[test]
fn a_body_that_its_client_does_not_end_is_answered() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        for body in ["Content-Length: 5\r\n\r\nhel", "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"] {
            let asked = format!("POST /echo HTTP/1.1\r\nHost: a\r\n{body}");
            let answers = front.ask(asked.as_bytes());
            assert_eq!(answers.len(), 1, "{body}");
            let said = String::from_utf8_lossy(&answers[0].body);
            assert!(answers[0].status == 400 && said.contains("before the body did"), "{said}");
            assert!(!answers[0].keep_alive);
        }
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
        let text = some(&mut client);
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

/// What comes of the body when the answer has been passed on would be taken for the next client's.
#[test]
fn a_204_that_announces_a_body_ends_its_connection() {
    let own = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown".to_vec();
    for io in interfaces() {
        for (announced, connections) in
            [("Content-Length: 40", 2), ("Transfer-Encoding: chunked", 2), ("Content-Length: 0", 1)]
        {
            let first = format!("HTTP/1.1 204 No Content\r\n{announced}\r\n\r\n").into_bytes();
            let ask = || Step::Expect(b"\r\n\r\n");
            let script = vec![ask(), Step::Send(first), ask(), Step::Send(own.clone()), Step::Hang];
            let again = vec![ask(), Step::Send(own.clone()), Step::Hang];
            let peer = Peer::start_each(vec![script, again]);
            let front = front(upstream(&[peer.addr()]), io);
            let mut client = front.client();
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            client.receive_until(b"\r\n\r\n");
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            client.receive_until(b"own");
            assert_eq!(peer.connections(), connections, "{announced}");
        }
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
            let (came, _) = client.receive_all(PATIENCE);
            assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"));
            assert!(answers(&came, wire::ResponseTo::Other).is_empty(), "{}", came.escape_ascii());
            assert_eq!(front.gate.counts().aborted, 1);
        }
    }
}

#[test]
fn trailers_that_connection_names_end_at_the_gateway() {
    for io in interfaces() {
        let answer =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: x-sum\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\n\r\n";
        let peer =
            Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer.to_vec()), Step::Hang]);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client.receive_until(b"\r\n\r\n");
        assert_eq!(client.receive_until(b"\r\n\r\n"), b"1\r\na\r\n0\r\n\r\n");
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
