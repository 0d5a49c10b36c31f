//! Connections that the handler has closed and that wait: for the peer to take what was sent, or to close too.

use std::collections::VecDeque;

use crate::ConnId;

/// How long a peer gets to close after we did ([`crate::Close::Flush`]).
const AFTER_US_NS: u64 = 2_000_000_000;
/// How long a peer gets to close before we do ([`crate::Close::Passive`]).
const BEFORE_US_NS: u64 = 100_000_000;
/// How long a peer may take little of what was sent before we closed ([`crate::Close::Flush`]), and what it is to take in that
/// time: by a byte at a time it would hold the connection for as long as it likes.
const LEAST_BYTES: u64 = 4096;
const UNREAD_NS: u64 = if cfg!(test) { 500_000_000 } else { 30_000_000_000 };

/// Deadlines of lingering connections. All of a kind wait equally long, so that queues keep them
/// sorted.
#[derive(Debug, Default)]
pub(crate) struct Lingering {
    after_us: VecDeque<(u64, ConnId)>,
    before_us: VecDeque<(u64, ConnId)>,
    unsent: VecDeque<(u64, Unsent)>,
}

/// A connection with output that the peer is to take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsent {
    pub(crate) conn: ConnId,
    /// Bytes that the peer had acknowledged; `None` where the kernel does not say.
    acknowledged: Option<u64>,
}

impl Lingering {
    /// We have closed; the peer is to follow.
    pub(crate) fn add_closed(&mut self, now: u64, conn: ConnId) {
        self.after_us.push_back((now + AFTER_US_NS, conn));
    }

    /// The peer is to close first.
    pub(crate) fn add_open(&mut self, now: u64, conn: ConnId) {
        self.before_us.push_back((now + BEFORE_US_NS, conn));
    }

    /// We have closed, and the peer is to take what was sent; it has acknowledged so much.
    pub(crate) fn add_unsent(&mut self, now: u64, conn: ConnId, acknowledged: Option<u64>) {
        self.unsent.push_back((now + UNREAD_NS, Unsent { conn, acknowledged }));
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> u64 {
        due(&self.after_us).min(due(&self.before_us)).min(due(&self.unsent))
    }

    /// A connection whose peer has had time to take something; it may have nothing left to send, or be gone.
    pub(crate) fn unsent(&mut self, now: u64) -> Option<Unsent> {
        if due(&self.unsent) > now {
            return None;
        }
        self.unsent.pop_front().map(|(_, unsent)| unsent)
    }

    /// Whether the peer, which has acknowledged so much by now, gets more time.
    pub(crate) fn goes_on(&mut self, now: u64, unsent: Unsent, acknowledged: Option<u64>) -> bool {
        let taken =
            acknowledged.zip(unsent.acknowledged).map(|(now, before)| now.saturating_sub(before));
        let stopped = taken.is_some_and(|bytes| bytes < LEAST_BYTES);
        if !stopped {
            self.add_unsent(now, unsent.conn, acknowledged);
        }
        !stopped
    }

    /// A connection whose time is over; it may be gone already.
    pub(crate) fn expired(&mut self, now: u64) -> Option<ConnId> {
        let queue =
            [&mut self.after_us, &mut self.before_us].into_iter().find(|q| due(q) <= now)?;
        queue.pop_front().map(|(_, conn)| conn)
    }
}

fn due<T>(queue: &VecDeque<(u64, T)>) -> u64 {
    queue.front().map_or(u64::MAX, |(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{Close, Event, Handler, Io, Net, Next, Options};

    #[test]
    fn a_peer_gets_more_time_while_it_takes_enough() {
        let conn = ConnId { slot: 7, generation: 1 };
        let mut lingering = Lingering::default();
        let mut now = 1_000;
        lingering.add_unsent(now, conn, Some(10));
        let most = 2 * LEAST_BYTES;
        for (acknowledged, goes_on) in [
            (Some(10 + LEAST_BYTES), true),
            (None, true),
            (Some(most), true),
            (Some(most + LEAST_BYTES - 1), false),
        ] {
            assert!(lingering.unsent(now + UNREAD_NS - 1).is_none());
            now = lingering.next();
            let unsent = lingering.unsent(now).expect("it is due");
            assert_eq!(lingering.goes_on(now, unsent, acknowledged), goes_on);
        }
        assert_eq!(lingering.next(), u64::MAX);
    }

    /// Responds with more than any buffer holds, and closes behind it.
    struct Responds {
        until: Instant,
        gone: thread::JoinHandle<()>,
    }

    impl<N: Net> Handler<N> for Responds {
        fn accepted(&mut self, net: &mut N, conn: ConnId) -> Option<u32> {
            net.send(conn, &vec![0; 64 << 20]);
            net.close(conn, Close::Flush);
            Some(0)
        }

        fn event(&mut self, _: &mut N, _: u32, event: Event<'_>) {
            panic!("{event:?} after the close");
        }

        fn tick(&mut self, net: &mut N) -> Next {
            assert!(Instant::now() < self.until, "the connection is held for ever");
            if self.gone.is_finished() {
                Next::Finished
            } else {
                Next::Wait(net.now() + 50_000_000)
            }
        }
    }

    #[test]
    fn a_peer_that_reads_nothing_is_cut_off() {
        for io in [Io::Epoll, Io::Uring] {
            if io == Io::Uring && !crate::uring_works() {
                continue;
            }
            let listener = crate::socket::listen(([127, 0, 0, 1], 0).into()).expect("a port");
            let to = listener.local_addr().expect("an address");
            let gone = thread::spawn(move || {
                let mut stream = TcpStream::connect(to).expect("it listens");
                // Goes on until the connection is reset.
                while stream.write_all(b"?").is_ok() {
                    thread::sleep(Duration::from_millis(20));
                }
            });
            let until = Instant::now() + Duration::from_secs(60);
            let options =
                Options { connections: 1, listener: Some(listener), ..Options::default() };
            crate::run(io, options, &mut Responds { until, gone }).expect("the net works");
        }
    }
}
