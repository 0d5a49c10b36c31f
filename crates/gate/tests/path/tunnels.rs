//! Changes of protocol.

use std::sync::Arc;

use gate::keys::Settings;
use gate::policy::{PolicySettings, Route};
use testkit::peer::{Peer, Step};

use crate::harness::{PATIENCE, all, front, front_with, interfaces, upstream, with_keys};

#[test]
fn after_101_bytes_pass_both_ways() {
    for io in interfaces() {
        let script = vec![
            Step::Expect(b"Upgrade: websocket\r\n\r\n"),
            Step::Send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi".to_vec()),
            Step::Expect(b"ping"),
            Step::Send(b"pong".to_vec()),
        ];
        let peer = Peer::start(script);
        let front = front(upstream(&[peer.addr()]), io);
        let mut client = front.client();
        client.send(
            b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        client.receive_until(b"\r\n\r\nhi");
        client.send(b"ping");
        let (text, end) = all(&mut client);
        assert_eq!((text.as_str(), end), ("pong", testkit::peer::End::Closed));
        assert_eq!(front.gate.counts().tunnels, 1);
    }
}

/// A key that is revoked ends its tunnel, and no other's.
#[test]
fn a_tunnel_ends_with_its_key() {
    let script = vec![
        Step::Expect(b"\r\n\r\n"),
        Step::Send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi".to_vec()),
        Step::Expect(b"ping"),
        Step::Send(b"pong".to_vec()),
    ];
    for io in interfaces() {
        let peer = Peer::start(script.clone());
        let (digester, settings) = with_keys(upstream(&[peer.addr()]));
        let front = front_with(settings, io);
        let keys = Arc::clone(&front.current.get().0.state().keys);
        let [mut kept, mut ended] = ["one", "two"].map(|key| {
            keys.put(&digester.digest(key.as_bytes()), &Settings::default());
            let mut client = front.client();
            let lines = format!("X-API-Key: {key}\r\nConnection: Upgrade\r\nUpgrade: websocket");
            client.send(format!("GET /ws HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n").as_bytes());
            client.receive_until(b"\r\n\r\nhi");
            client
        });
        assert!(keys.revoke(&digester.digest(b"two")));
        let (came, end) = ended.receive_all(PATIENCE);
        assert_eq!((came.as_slice(), end), (&b""[..], testkit::peer::End::Closed));
        kept.send(b"ping");
        kept.receive_until(b"pong");
    }
}

/// A protocol that the route names.
#[test]
fn a_route_says_what_may_be_changed_to() {
    let script = vec![
        Step::Expect(b"Upgrade: SPDY/3.1\r\n\r\n"),
        Step::Send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\nhi".to_vec()),
    ];
    for io in interfaces() {
        let peer = Peer::start(script.clone());
        let settings = PolicySettings::open(upstream(&[peer.addr()]));
        let route = Route { upgrade: vec!["spdy/3.1".into()], ..Route::to(0) };
        let front = front_with(PolicySettings { routes: vec![route], ..settings }, io);
        let mut client = front.client();
        client.send(
            b"POST /exec HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n",
        );
        client.receive_until(b"\r\n\r\nhi");
        assert_eq!(front.gate.counts().tunnels, 1);
    }
}

#[test]
fn other_protocols_are_not_offered_upstream() {
    for io in interfaces() {
        for lines in [
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n",
            "Upgrade: websocket\r\n",
            "Connection: upgrade\r\nUpgrade: websocket, h2c\r\n",
        ] {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
            let peer = Peer::start(vec![
                Step::Expect(b"Host: a\r\nVia: 1.1 plimsoll-"),
                Step::Send(answer),
            ]);
            let front = front(upstream(&[peer.addr()]), io);
            let text = format!("GET /ws HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
            let answers = front.ask(text.as_bytes());
            assert_eq!(answers[0].status, 200, "{lines}");
        }
    }
}

/// As one does that another was put in the place of, once its grace is over: at its end where something passes, and in a quiet
/// tunnel too where the clock or the end is changed.
#[test]
fn a_tunnel_ends_when_its_key_expires() {
    let switched =
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(switched.to_vec()), Step::Hang];
    let key = |expires_s| Settings { expires_s, ..Settings::default() };
    for io in interfaces() {
        for (what, at_first_s, ends_s, now_s) in
            [("passes", 104, 104, 105), ("clock", 999, 999, 1000), ("end", 0, 99, 100)]
        {
            let peer = Peer::start(script.clone());
            let (digester, settings) = with_keys(upstream(&[peer.addr()]));
            let front = front_with(settings, io);
            let state = Arc::clone(front.current.get().0.state());
            state.calendar.set(100);
            state.keys.put(&digester.digest(b"one"), &key(at_first_s));
            let mut client = front.client();
            client.send(
                b"GET /ws HTTP/1.1\r\nHost: a\r\nX-API-Key: one\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            );
            client.receive_until(b"\r\n\r\n");
            state.calendar.set(now_s);
            state.keys.put(&digester.digest(b"one"), &key(ends_s));
            if what == "passes" {
                client.send(b"ping");
            }
            let (_, end) = client.receive_all(PATIENCE);
            assert_ne!(end, testkit::peer::End::Open, "{what}");
        }
    }
}
