//! How connections are opened before the start.

use std::io;

use net::{BlobId, Close, ConnId, Handed, Handler as _, Net, Next, Route, Taken};

use crate::harness::{closed, lone_worker};

/// A net on which nothing ever comes, and that counts the connections that are asked for.
#[derive(Debug, Default)]
struct Silent {
    connects: u32,
}

impl Net for Silent {
    fn now(&self) -> u64 {
        1
    }

    fn taken_in(&self) -> Taken {
        Taken::default()
    }

    fn handed_over(&self) -> Handed {
        Handed::default()
    }

    fn hand_over(&mut self) {}

    fn connect(&mut self, token: u32, _: &Route) -> io::Result<ConnId> {
        self.connects += 1;
        Ok(ConnId { slot: token, generation: 0 })
    }

    fn blob(&mut self, _: &[u8]) -> BlobId {
        BlobId(0)
    }

    fn send_blob(&mut self, _: ConnId, _: BlobId) {}

    fn send(&mut self, _: ConnId, _: &[u8]) {}

    fn want_drained(&mut self, _: ConnId) {}

    fn backlog(&self, _: ConnId) -> usize {
        0
    }

    fn set_receiving(&mut self, _: ConnId, _: bool) {}

    fn close(&mut self, _: ConnId, _: Close) {}
}

/// Making 256 at once takes milliseconds, which would be in the time of the first of them.
#[test]
fn few_connections_are_opened_between_two_looks_at_the_kernel() {
    let mut worker = lone_worker(&closed(1000));
    let mut net = Silent::default();
    let mut before = 0;
    loop {
        let next = worker.tick(&mut net);
        let opened = net.connects - before;
        assert!(opened <= 8, "{opened} at once");
        before = net.connects;
        if next != Next::Wait(net.now()) {
            break;
        }
    }
    assert_eq!(net.connects, 256, "as many are under way at once");
}
