//! Many clients at once: each is answered, and slow ones are in nobody's way.

use std::time::Duration;

use gate::policy::{ClientBounds, PolicySettings};
use testkit::peer::{End, RawClient};

use crate::harness::{PATIENCE, api, front, front_with, interfaces, upstream};

const GET: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

/// The gateway's own sockets are counted too: the limit on files has room for all of them.
const CLIENTS: usize = 1000;

#[test]
fn a_thousand_connections_are_answered_round_after_round() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let mut first = front.client();
        first.send(GET);
        let length = first.receive_until(b"}").len();
        let mut clients: Vec<RawClient> = (0..CLIENTS).map(|_| front.client()).collect();
        for _ in 0..3 {
            clients.iter_mut().for_each(|client| client.send(GET));
            for client in &mut clients {
                let answer = client.receive(length);
                assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", answer.escape_ascii());
            }
        }
        let counts = front.gate.counts();
        assert_eq!((counts.open, counts.requests), (1001, 3001));
        assert_eq!((counts.faults, counts.capped), (0, 0));
        assert!(counts.connects <= 1001, "{} connections upstream", counts.connects);
    }
}

/// Hundreds drip their heads, a byte at a time: others are answered meanwhile, and the slow ones are told to go.
#[test]
fn slow_clients_are_in_nobodys_way() {
    const SLOW: usize = 300;
    for io in interfaces() {
        let api = api();
        let settings = PolicySettings::open(upstream(&[api.addr()]));
        let client = ClientBounds { head_ns: 3_000_000_000, ..settings.client };
        let front = front_with(PolicySettings { client, ..settings }, io);
        let mut slow: Vec<RawClient> = (0..SLOW).map(|_| front.client()).collect();
        let mut honest = front.client();
        let mut answered = 0;
        // The head is longer than can be dripped in its time.
        for byte in std::iter::repeat_n(GET, 10).flatten() {
            let taken = slow
                .iter_mut()
                .filter_map(|client| client.try_send(&[*byte]).then_some(()))
                .count();
            if taken == 0 {
                break;
            }
            honest.send(GET);
            assert!(honest.receive_until(b"}").starts_with(b"HTTP/1.1 200 OK\r\n"));
            answered += 1;
            std::thread::sleep(Duration::from_millis(40));
            if *byte == b'\r' {
                break;
            }
        }
        assert!(answered > 0);
        for client in &mut slow {
            let (came, end) = client.receive_all(PATIENCE);
            assert_ne!(end, End::Open, "{}", came.escape_ascii());
            assert!(
                came.is_empty() || came.starts_with(b"HTTP/1.1 408 "),
                "{}",
                came.escape_ascii()
            );
        }
        assert_eq!(front.gate.counts().requests, answered, "none of the slow heads was whole");
        assert_eq!(front.gate.counts().faults, SLOW as u64);
    }
}
