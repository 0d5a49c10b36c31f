//! Many requests on few connections: order, reuse, pipelines.

use testkit::peer::{Peer, Step};

use crate::harness::{all, api, front, interfaces, upstream};

#[test]
fn a_request_is_forwarded_and_answered() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let answers = front.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(
            (answers[0].status, answers[0].body.as_slice()),
            (200, &br#"{"status":"ok"}"#[..])
        );
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let mut bytes = Vec::new();
        for n in 0..200 {
            bytes.extend_from_slice(
                format!("GET /bytes/{n} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes(),
            );
        }
        let answers = front.ask(&bytes);
        let lengths: Vec<usize> = answers.iter().map(|answer| answer.body.len()).collect();
        assert_eq!(lengths, (0..200).collect::<Vec<_>>());
        assert_eq!(front.gate.counts().connects, 1, "one connection upstream serves them all");
        assert_eq!(front.gate.counts().requests, 200);
    }
}

#[test]
fn a_request_in_pieces_is_the_same_request() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let mut client = front.client();
        client
            .send_in_pieces(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 1);
        client.half_close();
        let (text, _) = all(&mut client);
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\nhello"),
            "{text}"
        );
    }
}

#[test]
fn connections_that_the_upstream_closed_are_not_used() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
        let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer)]);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        for _ in 0..5 {
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            client.receive_until(b"ok");
        }
        assert_eq!(peer.connections(), 5);
    }
}

#[test]
fn clients_of_http_1_0_get_what_they_understand() {
    for io in interfaces() {
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".to_vec();
        let script = vec![Step::Forever(vec![Step::Expect(b"\r\n\r\n"), Step::Send(chunked)])];
        let peer = Peer::start(script);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(b"GET / HTTP/1.0\r\n\r\n");
        let (text, end) = all(&mut client);
        assert!(text.ends_with("\r\n\r\nok") && !text.contains("chunked"), "{text}");
        assert_eq!(end, testkit::peer::End::Closed);
    }
}

/// RFC 9110 section 7.6.2. The connection goes on behind it, also where it has a body.
#[test]
fn options_that_may_be_forwarded_no_further_are_answered_here() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let answers = front.ask(
            b"OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n\
              OPTIONS /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 00\r\nContent-Length: 2\r\n\r\nab\
              GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
        );
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!((statuses, api.served().requests), (vec![200; 3], 1));
        assert!(answers[..2].iter().all(|answer| answer.body.is_empty() && answer.keep_alive));
        assert!(answers[1].head.contains("\r\nAllow: GET, "), "{}", answers[1].head);
        assert_eq!(front.current.get().0.state().usage.served(), 3);
    }
}
