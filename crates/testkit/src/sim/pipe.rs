//! The way of bytes from one end of a connection to the other, and how a connection ends.
//!
//! Owns buffers, pressure back on the sender, cutting into deliveries, FIN and RST.

use net::{Close, ConnId};

use super::Cut;
use super::kernel::Kernel;
use super::state::{EndId, News, Stage, Upcall, What, upcall};

/// The most bytes of one delivery.
const DELIVERY_BYTES: usize = 64 * 1024;

/// How long a connection that was closed with [`Close::Flush`] waits for the peer to close too.
const LINGER_NS: u64 = 2_000_000_000;

/// How long one that was closed with [`Close::Passive`] does before it closes itself.
const PASSIVE_NS: u64 = 100_000_000;

impl Kernel {
    /// Takes bytes from a handler.
    pub(super) fn send(&mut self, id: EndId, bytes: &[u8]) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        if matches!(end.stage, Stage::Flushing | Stage::Passive) || end.fin_sent {
            return;
        }
        end.unsent.extend(bytes);
        self.push(id);
    }

    pub(super) fn want_drained(&mut self, id: EndId) {
        let now = self.now;
        let Some(end) = self.ends.get_mut(&id) else { return };
        end.drain_awaited = true;
        if end.unsent.is_empty() {
            self.schedule(now, What::Drained(id));
        }
    }

    /// Moves what fits from the handler's bytes into the kernel's buffer and onto the wire.
    fn push(&mut self, id: EndId) {
        let room = self.conditions.buffer_bytes;
        let Some(end) = self.ends.get_mut(&id) else { return };
        let Some(peer) = end.peer else { return };
        if end.stage == Stage::Connecting {
            return;
        }
        let count = end.unsent.len().min(room - end.in_flight);
        if count > 0 {
            end.in_flight += count;
            let bytes: Vec<u8> = end.unsent.drain(..count).collect();
            let at = self.arrival(id);
            self.schedule(at, What::Bytes { to: peer, from: id, bytes });
        }
        let end = &self.ends[&id];
        if end.stage == Stage::Flushing && end.unsent.is_empty() {
            self.linger(id);
        }
    }

    /// Everything is out: a FIN follows, and the end stays for the peer's, so that bytes which
    /// still come are discarded and not met by a RST.
    fn linger(&mut self, id: EndId) {
        let at = self.arrival(id);
        let over = self.now + LINGER_NS;
        let Some(end) = self.ends.get_mut(&id) else { return };
        let (peer, sent) = (end.peer, std::mem::replace(&mut end.fin_sent, true));
        if end.fin_came {
            self.remove(id);
        } else {
            self.schedule(over, What::LingerOver(id));
        }
        if let (Some(peer), false) = (peer, sent) {
            self.schedule(at, What::Fin(peer));
        }
    }

    /// When something sent now arrives: after everything sent before it.
    fn arrival(&mut self, id: EndId) -> u64 {
        let drawn = self.now + self.draw_delay(self.conditions.delay);
        match self.ends.get_mut(&id) {
            Some(end) => {
                end.last_arrival = end.last_arrival.max(drawn);
                end.last_arrival
            }
            None => drawn,
        }
    }

    /// A connection that was closed has waited for its peer long enough.
    pub(super) fn linger_over(&mut self, id: EndId) -> Option<Upcall> {
        match self.ends.get(&id)?.stage {
            Stage::Passive => self.finish(id),
            _ => drop(self.remove(id)),
        }
        None
    }

    pub(super) fn bytes_came(&mut self, to: EndId, from: EndId, bytes: Vec<u8>) -> Option<Upcall> {
        let odds = self.conditions.resets_per_million;
        let lost = odds > 0 && self.draw(1_000_000) < u64::from(odds);
        if lost || !self.ends.contains_key(&to) {
            let back = self.now + self.draw_delay(self.conditions.delay);
            self.schedule(back, What::Rst(from));
            if lost {
                self.schedule(self.now, What::Rst(to));
            }
            return None;
        }
        let end = self.ends.get_mut(&to).expect("looked up above");
        if matches!(end.stage, Stage::Flushing | Stage::Passive) {
            let credit = self.now + self.draw_delay(self.conditions.delay);
            self.schedule(credit, What::Taken(from, bytes.len()));
            return None;
        }
        end.inbox.extend(bytes);
        self.expect_readable(to);
        None
    }

    pub(super) fn fin_came(&mut self, id: EndId) -> Option<Upcall> {
        let end = self.ends.get_mut(&id)?;
        end.fin_came = true;
        if end.stage == Stage::Flushing && end.fin_sent {
            self.remove(id);
        } else if end.stage == Stage::Passive {
            self.finish(id);
        } else {
            self.expect_readable(id);
        }
        None
    }

    /// Schedules an end to read its inbox, once, at this instant.
    pub(super) fn expect_readable(&mut self, id: EndId) {
        let now = self.now;
        let Some(end) = self.ends.get_mut(&id) else { return };
        let something = !end.inbox.is_empty() || end.fin_came && !end.eof_seen;
        if something && end.stage == Stage::Open && end.receiving && !end.readable_ahead {
            end.readable_ahead = true;
            self.schedule(now, What::Readable(id));
        }
    }

    pub(super) fn readable(&mut self, id: EndId) -> Option<Upcall> {
        let waiting = {
            let end = self.ends.get_mut(&id)?;
            end.readable_ahead = false;
            if end.stage != Stage::Open || !end.receiving {
                return None;
            }
            end.inbox.len().min(DELIVERY_BYTES)
        };
        if waiting == 0 {
            let end = self.ends.get_mut(&id)?;
            if !end.fin_came || end.eof_seen {
                return None;
            }
            end.eof_seen = true;
            return upcall(end, News::Eof);
        }
        let count = match self.conditions.cut {
            Cut::Whole => waiting,
            Cut::Anywhere => 1 + self.draw(waiting as u64) as usize,
            Cut::Bytes => 1,
        };
        let credit = self.now + self.draw_delay(self.conditions.delay);
        let skipped = self.skipped_of(id, count);
        let end = self.ends.get_mut(&id)?;
        let count = if skipped > 0 { skipped } else { count };
        let bytes: Vec<u8> = end.inbox.drain(..count).collect();
        let (peer, more) = (end.peer, !end.inbox.is_empty() || end.fin_came);
        end.skip = end.skip.saturating_sub(count as u64);
        end.undelivered += count as u64;
        let came = if skipped > 0 { News::Skipped(count as u64) } else { News::Received(bytes) };
        let news = upcall(end, came);
        if let Some(peer) = peer {
            self.schedule(credit, What::Taken(peer, count));
        }
        if more {
            self.expect_readable(id);
        }
        news
    }

    /// How many of the next `count` bytes are skipped, if any: all that may be, but where bytes are cut anywhere,
    /// now and then they are received.
    fn skipped_of(&mut self, id: EndId, count: usize) -> usize {
        let Some(skip) = self.ends.get(&id).map(|end| end.skip).filter(|skip| *skip > 0) else {
            return 0;
        };
        let received = self.conditions.cut == Cut::Anywhere && self.draw(4) == 0;
        if received { 0 } else { usize::try_from(skip).unwrap_or(usize::MAX).min(count) }
    }

    /// Bytes are about to be handed to a handler.
    pub(super) fn delivers(&mut self, host: usize, conn: ConnId, news: &News) {
        let bytes = match news {
            News::Received(bytes) => bytes.len() as u64,
            News::Skipped(bytes) => *bytes,
            _ => return,
        };
        if let Some(end) = self.end_of(host, conn).and_then(|id| self.ends.get_mut(&id)) {
            end.undelivered -= bytes;
        }
    }

    /// The handler at an end lets the `bytes` bytes behind those that it has been handed be skipped.
    pub(super) fn skip(&mut self, id: EndId, bytes: u64) {
        if let Some(end) = self.ends.get_mut(&id) {
            end.skip = bytes.saturating_sub(end.undelivered);
        }
    }

    /// The other end has read: there is room again.
    pub(super) fn taken(&mut self, id: EndId, bytes: usize) -> Option<Upcall> {
        self.ends.get_mut(&id)?.in_flight -= bytes;
        self.push(id);
        self.drained(id)
    }

    pub(super) fn drained(&mut self, id: EndId) -> Option<Upcall> {
        let end = self.ends.get_mut(&id)?;
        if end.stage != Stage::Open || !end.drain_awaited || !end.unsent.is_empty() {
            return None;
        }
        end.drain_awaited = false;
        upcall(end, News::Drained)
    }

    pub(super) fn set_receiving(&mut self, id: EndId, receiving: bool) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        end.receiving = receiving;
        self.expect_readable(id);
    }

    /// Ends sending but not receiving.
    pub(super) fn half_close(&mut self, id: EndId) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        assert!(end.unsent.is_empty(), "half-closed with bytes unsent");
        end.fin_sent = true;
        let peer = end.peer;
        let at = self.arrival(id);
        if let Some(peer) = peer {
            self.schedule(at, What::Fin(peer));
        }
    }

    pub(super) fn close(&mut self, id: EndId, how: Close) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        let open = end.stage == Stage::Open;
        match how {
            Close::Flush if open => {
                end.stage = Stage::Flushing;
                self.discard_inbox(id);
                self.push(id);
            }
            Close::Passive if open && !end.fin_came => {
                end.stage = Stage::Passive;
                self.discard_inbox(id);
                self.schedule(self.now + PASSIVE_NS, What::LingerOver(id));
            }
            Close::Reset => self.abort(id),
            Close::Now | Close::Flush | Close::Passive => {
                end.unsent.clear();
                if end.inbox.is_empty() { self.finish(id) } else { self.abort(id) }
            }
        }
    }

    fn discard_inbox(&mut self, id: EndId) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        let (peer, discarded) = (end.peer, end.inbox.len());
        end.inbox.clear();
        if let (Some(peer), 1..) = (peer, discarded) {
            let credit = self.now + self.draw_delay(self.conditions.delay);
            self.schedule(credit, What::Taken(peer, discarded));
        }
    }

    /// Ends a connection in order: everything sent arrives before the FIN.
    fn finish(&mut self, id: EndId) {
        let at = self.arrival(id);
        let Some(end) = self.remove(id) else { return };
        if let Some(peer) = end.peer
            && !end.fin_sent
        {
            self.schedule(at, What::Fin(peer));
        }
    }

    fn abort(&mut self, id: EndId) {
        let at = self.arrival(id);
        if let Some(peer) = self.remove(id).and_then(|end| end.peer) {
            self.schedule(at, What::Rst(peer));
        }
    }
}
