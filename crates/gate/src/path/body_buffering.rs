//! Requests under a load line whose body has not come yet: room below the ceiling is taken, and the upstream asked, only
//! once the whole body is here, or as much of it as is buffered anyway.
//!
//! So a slow sender does not occupy room below the ceiling for long. A body that is longer than the buffer has to come at
//! [`LINE_BYTES_PER_S`] from then on. The gateway itself answers `Expect: 100-continue`: if it asked the upstream, a
//! client could hold room and a connection while it sends nothing at all.

use net::Net;

use super::client::{Client, Exchange, REPLAY_BYTES};
use super::logging::Ending;
use super::refusal::{self, Manner};
use super::timeouts::{GRACE_NS, NEVER, earned_ns};
use super::to_upstream::Attempt;
use super::worker::Worker;
use crate::policy::Refusal;

/// The slowest body of a request that has room of the load line, in bytes per second.
pub(super) const LINE_BYTES_PER_S: u64 = 16 * 1024;

impl Exchange {
    /// The body has to keep the pace of the load line from now on.
    pub(super) fn keep_pace(&mut self, now_ns: u64) {
        (self.pace_ns, self.pace_bytes) = (now_ns, self.body_bytes);
    }

    /// When the body would be too slow for the load line, if no more of it came.
    pub(super) fn off_pace_ns(&self) -> u64 {
        match self.pace_ns {
            0 => NEVER,
            from => {
                let came = self.body_bytes - self.pace_bytes;
                from.saturating_add(earned_ns(came, LINE_BYTES_PER_S)).saturating_add(GRACE_NS)
            }
        }
    }
}

/// The response to a client that waits for it.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

impl Worker {
    /// Asks a client whose request is let through so far to send its body.
    pub(super) fn tell_to_continue<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        self.send_client(net, client, CONTINUE);
        if let Some(exchange) = &mut client.exchange {
            exchange.bytes_out += CONTINUE.len() as u64;
            exchange.head_out += CONTINUE.len() as u64;
        }
    }

    /// More of the body of a request has come: it is sent on once there is enough of it.
    #[inline]
    pub(super) fn end_waiting<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        let Some(exchange) = &mut client.exchange else { return };
        if !exchange.waits || !(exchange.read_whole || client.request.len() >= REPLAY_BYTES) {
            return;
        }
        let now = net.taken_in().at;
        exchange.waits = false;
        exchange.keep_pace(now);
        match self.policy.take_line(&mut exchange.ticket, now, &mut self.usage) {
            Ok(()) => {
                self.pools.pools[exchange.pool as usize].budget.request(now);
                self.dispatch(net, client, Attempt::First);
            }
            Err(refusal) => self.refuse_waiting(net, client, &refusal),
        }
    }

    /// Answers a request whose ticket has been given back. The connection goes on where all of it was read.
    fn refuse_waiting<N: Net>(&mut self, net: &mut N, client: &mut Client, refusal: &Refusal) {
        let Some(exchange) = client.exchange.take() else { return };
        let keep_alive = exchange.keep_alive && exchange.read_whole && !self.draining();
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let manner = Manner { keep_alive, head_only: exchange.head_only };
        refusal::write_refusal(&mut out, refusal, &[], self.date.line(), manner);
        self.send_client(net, client, &out);
        let bytes_out = out.len();
        self.out = out;
        let ending = Ending::refused(refusal, exchange.bytes_in as usize, bytes_out);
        self.log(client, ending, net.taken_in().at);
        if keep_alive {
            self.after_answer(net, client);
        } else {
            client.forget_request();
            self.close_client(net, client);
        }
    }
}
