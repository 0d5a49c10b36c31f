//! What clients that do not read cost in memory: in a process of its own, as other tests take memory too.

#[path = "integration/harness.rs"]
#[expect(dead_code, reason = "it is shared with the other tests of the server")]
mod harness;

use std::sync::Mutex;
use std::time::Duration;

use harness::*;

/// Held by the one test that runs.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes of memory that this process has touched.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

#[test]
fn a_client_that_pipelines_without_reading_has_to_wait() {
    let _alone = ALONE.lock();
    each(|server| {
        let mut client = connect(server);
        let before = resident();
        let some = request("GET", "/healthz").repeat(200);
        // More responses than all buffers between the two hold; sending stops once they are full.
        let sent = client.send_until_stuck(some.as_bytes(), 2000, Duration::from_millis(300));
        assert!(sent < 2000, "all requests were taken though nobody read a response");
        let grown = resident().saturating_sub(before);
        assert!(grown < 64 << 20, "{grown} bytes");
        let served = server.served().path("/healthz");
        assert!(served < 400_000, "{served} served unread");
        // The server still serves other clients.
        assert_eq!(fetch(server, last("/")), OK_LAST);
        let expected = OK.repeat(200);
        for _ in 0..sent {
            assert!(client.receive(expected.len()) == expected.as_bytes());
        }
    });
}

#[test]
fn a_large_body_is_made_as_it_is_read() {
    let _alone = ALONE.lock();
    each(|server| {
        let before = resident();
        let mut clients: Vec<_> = (0..20).map(|_| connect(server)).collect();
        for client in &mut clients {
            client.send(last("/bytes/10g").replace("10g", "10737418240").as_bytes());
        }
        for client in &mut clients {
            client.receive(1 << 20);
        }
        let grown = resident().saturating_sub(before);
        assert!(grown < 128 << 20, "{grown} bytes for 20 unread bodies of 10 GiB");
        assert_eq!(fetch(server, last("/")), OK_LAST);
        drop(clients);
        until(|| page(server).starts_with("Active connections: 1 \n"));
    });
}
