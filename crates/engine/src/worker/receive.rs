//! Receives responses.

use model::interval::Look;
use model::{ErrorClass, Nanos};
use net::{Close, Net};
use traffic::Wants;
use wire::{Eof, ResponseEvent, WireError};

use super::Worker;
use super::response::{Reading, SERVER_ERROR, failure};
use crate::conn::{Conn, ConnState};
use crate::presence::LONG_WAIT;
use crate::problem::{Problem, describe};
use crate::recorder::WholeResponse;
use crate::response_kinds::{IN_PIECES, ResponseShape};
use crate::tls::Session;

/// Rests of bodies that are not shorter than this are skipped: of shorter ones that costs more than copying.
const WORTH_SKIPPING: u64 = 16 * 1024;

/// The result of one step of reading a response. (The event itself borrows the connection.)
enum Step {
    More,
    Again,
    Whole { keep_alive: bool },
    Broken(WireError),
}

impl Worker {
    pub(super) fn connected<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let early = self.run.before_start(j);
        let conn = &mut self.conns[j];
        self.recorder.tally.connects += 1;
        self.recorder.tally.connect.record(now.saturating_sub(conn.began).saturating_add(early));
        let Some((config, name)) = &self.job.tls else { return self.opened(net, j, now) };
        conn.state = ConnState::Handshaking;
        conn.began = now;
        match Session::new(config, name) {
            Ok(session) => {
                conn.tls = Some(Box::new(session));
                self.decrypt(net, j, &mut [], now);
                self.greeted(net, j);
            }
            Err(error) => self.tls_failed(net, j, &error.to_string(), now),
        }
    }

    fn opened<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let conn = &mut self.conns[j];
        conn.state = ConnState::Open;
        conn.failures = 0;
        conn.had_response = false;
        self.recorder.open.step(now, 1);
        self.conns.opening -= 1;
        if self.run.started {
            self.ready(net, j, now);
        }
    }

    #[inline]
    pub(super) fn received<N: Net>(&mut self, net: &mut N, j: u32, bytes: &mut [u8], now: Nanos) {
        self.recorder.tally.bytes_read += bytes.len() as u64;
        if self.conns[j].tls.is_some() {
            self.decrypt(net, j, bytes, now);
        } else {
            self.read_responses(net, j, bytes, now);
        }
    }

    fn decrypt<N: Net>(&mut self, net: &mut N, j: u32, mut bytes: &mut [u8], now: Nanos) {
        let mut plain = std::mem::take(&mut self.incoming.plain);
        loop {
            plain.clear();
            let Some(session) = &mut self.conns[j].tls else { break };
            let fed = session.feed(&mut bytes, &mut plain, &mut self.outgoing.cipher);
            let (handshaking, resumed) = (session.handshaking(), session.resumed());
            self.flush_tls(net, j);
            if let Err(error) = fed {
                let failure = describe(&error, self.job.advice);
                self.recorder.tally.mismatches += u64::from(failure.is_mismatch);
                self.tls_failed(net, j, &failure.text, now);
                break;
            }
            if self.conns[j].state == ConnState::Handshaking && !handshaking {
                let took = now.saturating_sub(self.conns[j].began);
                let took = took.saturating_add(self.run.before_start(j));
                self.recorder.tally.tls.record(took);
                self.recorder.tally.tls_resumed += u64::from(resumed);
                self.opened(net, j, now);
            }
            self.read_responses(net, j, &plain, now);
            let Some(session) = &self.conns[j].tls else { break };
            if session.ended() {
                self.peer_closed(net, j, now);
                break;
            }
            if bytes.is_empty() && (plain.is_empty() || session.is_idle()) {
                break;
            }
        }
        self.incoming.plain = plain;
    }

    fn flush_tls<N: Net>(&mut self, net: &mut N, j: u32) {
        self.recorder.tally.bytes_written += self.outgoing.flush_tls(net, &mut self.conns[j]);
    }

    /// Reads responses from decrypted bytes, until they are used up or the connection is gone.
    #[inline]
    fn read_responses<N: Net>(&mut self, net: &mut N, j: u32, mut bytes: &[u8], now: Nanos) {
        while !bytes.is_empty() {
            let Conn { in_flight, first, id, had_response, .. } = self.conns[j];
            if in_flight == 0 {
                return self.unsolicited(net, j, bytes, now);
            }
            if first == 0 && self.conns.oldest(j).left_after(now) {
                return self.unasked(net, j, bytes, now);
            }
            if first == 0
                && !had_response
                && let Some(other) = self.other_protocol(bytes)
            {
                return self.broken(net, j, ErrorClass::Protocol, other, now);
            }
            let came = bytes;
            self.conns[j].first = if first == 0 { now } else { first };
            loop {
                match self.step(j, &mut bytes, now) {
                    Step::Again => {}
                    Step::More => return self.skip_rest(net, j),
                    Step::Whole { .. } if self.too_late(j, now) => {
                        return self.timed_out(net, j, now);
                    }
                    Step::Whole { keep_alive } => {
                        self.whole(net, j, now, keep_alive, bytes);
                        break;
                    }
                    Step::Broken(error) => return self.malformed(net, j, &error, came, now),
                }
            }
            // The rest of the bytes came on a connection that may have been closed and opened anew.
            let conn = &self.conns[j];
            if conn.state != ConnState::Open || conn.id != id {
                return;
            }
        }
    }

    /// Lets the net discard the unneeded part of the body under way on `j`: all but its last byte, since
    /// bytes behind the response are noticed where they come with its end.
    fn skip_rest<N: Net>(&self, net: &mut N, j: u32) {
        let conn = &self.conns[j];
        let left = conn.parser.body_left();
        if left >= WORTH_SKIPPING && conn.tls.is_none() && !self.looks_at_body(j) {
            net.skip(conn.id, left - 1);
        }
    }

    /// Whether anything looks at what is still to come of the body under way on `j`.
    fn looks_at_body(&self, j: u32) -> bool {
        let Conn { wants, body_bytes, look, .. } = self.conns[j];
        let begins = body_bytes == 0 || look.begins == IN_PIECES;
        wants == Wants::Whole || begins || self.incoming.looks_at(j)
    }

    /// So many bytes of the body under way on `j` came and were discarded.
    pub(super) fn skipped(&mut self, j: u32, bytes: u64) {
        self.recorder.tally.bytes_read += bytes;
        let conn = &mut self.conns[j];
        conn.parser.skip(bytes);
        conn.body_bytes += bytes;
        self.recorder.watch.served |= conn.look.status < SERVER_ERROR;
    }

    #[inline]
    fn step(&mut self, j: u32, bytes: &mut &[u8], now: Nanos) -> Step {
        let Reading { parser, seen, mut response } = self.reading(j);
        if let Some((head, body)) = parser.whole(bytes, seen) {
            response.head(&head);
            if !body.is_empty() {
                response.whole_body(body);
            }
            return Step::Whole { keep_alive: head.keep_alive };
        }
        let interim = parser.interim();
        let step = match parser.next_seen(bytes, seen) {
            Ok(Some(ResponseEvent::Body(body))) => {
                response.body(body);
                return Step::Again;
            }
            Ok(Some(ResponseEvent::End { keep_alive })) => return Step::Whole { keep_alive },
            Ok(Some(ResponseEvent::Head(head))) => {
                response.head(&head);
                Step::Again
            }
            Ok(None) => Step::More,
            Err(error) => return Step::Broken(error),
        };
        let conn = &mut self.conns[j];
        if conn.parser.interim() != interim {
            // What came first was an interim response's.
            conn.first = if conn.parser.awaits_first_byte() { 0 } else { now };
        }
        step
    }

    /// A response is whole: counts it and lets the user go on. `rest` came behind it.
    #[inline]
    fn whole<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos, keep_alive: bool, rest: &[u8]) {
        if !rest.is_empty() && self.conns[j].in_flight == 1 {
            if keep_alive {
                return self.responded_twice(net, j, rest, now);
            }
            // No other request can be taken for it here, but the response is not what its length says.
            self.count_surplus(rest);
        }
        let keepalive_wanted = self.job.plan.keepalive && !self.conns.oldest(j).closes;
        self.count_response(j, now);
        if keep_alive && keepalive_wanted {
            self.conns.await_next(j);
        } else {
            self.recorder.tally.server_closes += u64::from(keepalive_wanted);
            self.lose_flights(j, now, ErrorClass::Read, || {
                "the server closed the connection after an earlier response on it".to_owned()
            });
            self.close(net, j, now, Close::Passive);
            self.reopenable(j);
        }
        self.go_on(net, j, now);
    }

    /// Whether the response that is whole now on `j` came after its time-out. Scans for time-outs are up to
    /// a millisecond apart, so the last one may not have seen it.
    #[inline]
    fn too_late(&self, j: u32, now: Nanos) -> bool {
        self.conns.waiting_since(j).is_some_and(|since| self.timeouts.overdue(since, now))
    }

    fn count_response(&mut self, j: u32, now: Nanos) {
        let Some(flight) = self.conns.pop(j) else { return };
        let answered = self.conns.answered(j, now);
        let measured = self.recorder.measures(flight.due);
        let conn = &mut self.conns[j];
        conn.served = conn.served.saturating_add(u32::from(measured));
        conn.had_response = true;
        if conn.look.begins == IN_PIECES {
            self.recorder.kinds.ends(j, flight.endpoint, &mut conn.look);
        }
        let Conn { first, body_bytes, troubled, .. } = *conn;
        if troubled {
            self.mark_up(j, flight.sent);
        }
        let (look, bytes) = self.look_decoded(j, flight.endpoint);
        let status = look.status;
        let mut failure = failure(&self.job.plan, flight.endpoint, status);
        let service_ns = now.saturating_sub(flight.sent);
        if measured {
            self.conns.took(j, service_ns);
        }
        if service_ns >= LONG_WAIT {
            self.recorder.watch.waited_long(now);
        }
        let seen = ResponseShape { endpoint: flight.endpoint, look, bytes, service_ns, now };
        if self.incoming.coded.is_some() && failure.is_none() && !self.is_like_first(seen) {
            failure = Some(ErrorClass::Check);
        }
        let mut check = None;
        if flight.wants != Wants::Nothing {
            let unchecked;
            (check, unchecked) = self.completed(j, failure.is_none(), now);
            self.recorder.tally.unchecked += u64::from(unchecked && measured);
            failure = failure.or(check.map(|_| ErrorClass::Check));
        }
        self.recorder.landed(flight, now);
        self.recorder.watch.served |= failure.is_none();
        self.recorder.completed(flight, WholeResponse { first, status, failure, check }, now);
        if failure.is_none() && self.recorder.counts(flight.due) {
            self.recorder.kinds.record(j, seen);
        }
        self.recorder.kinds.end_response(j);
        self.incoming.body_hasher.end(j, status, body_bytes, &mut self.recorder.tally.responses);
        if let Some(class) = failure {
            self.describe_failure(j, flight.endpoint, class, status);
            // Responses on a connection come one after another: those in flight together share the user's time.
            self.recorder.watch.failing(flight.sent.max(answered), now);
            if status >= SERVER_ERROR {
                self.recorder.watch.failed(now);
            }
        }
    }

    /// The look and the length of the response that is whole on `j`: those of its decoded body, where it is compared with
    /// others and came in a coding.
    fn look_decoded(&mut self, j: u32, endpoint: u32) -> (Look, u64) {
        let Conn { mut look, body_bytes, .. } = self.conns[j];
        let decoded = self.incoming.coded.as_mut().and_then(|coded| coded.end(j));
        let Some(decoded) = decoded else { return (look, body_bytes) };
        self.recorder.kinds.begins(j, endpoint, decoded, &mut look);
        (look, decoded.len() as u64)
    }

    /// Describes the first failed responses.
    fn describe_failure(&mut self, j: u32, endpoint: u32, class: ErrorClass, status: u16) {
        let source = &self.job.source;
        let conn = &self.conns[j];
        let words = || match class {
            ErrorClass::Check => match source.complaint(j) {
                words if words.is_empty() => {
                    let (problem, bytes) =
                        ((self.job.advice)(Problem::UnlikeFirst), conn.body_bytes);
                    format!("{problem}: status {}, {bytes} bytes", conn.status())
                }
                words => words,
            },
            _ => format!("the server answered {status}"),
        };
        self.recorder.keep_sample(class, words);
        if self.incoming.failure_samples.lacks(endpoint)
            && let Some(sample) = self.incoming.failure_samples.end(j, endpoint, class, &words())
        {
            self.recorder.sample(endpoint, sample);
        }
    }

    fn is_like_first(&self, seen: ResponseShape) -> bool {
        self.job.first_responses.is_like_first(seen)
    }

    /// The peer sends no more.
    pub(super) fn peer_closed<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let conn = &mut self.conns[j];
        if conn.state == ConnState::Handshaking {
            return self.tls_failed(
                net,
                j,
                "the server closed the connection in the handshake",
                now,
            );
        }
        // Without close_notify, anyone who cuts the connection could decide where a body ends (RFC 9112
        // 9.8).
        let cut = conn.tls.as_ref().is_some_and(|session| !session.ended());
        let eof = match conn.parser.eof() {
            Eof::Complete if cut => Eof::Truncated,
            eof => eof,
        };
        let in_flight = conn.in_flight;
        let asked = in_flight > 0 && self.conns.oldest(j).closes;
        self.recorder.tally.server_closes += u64::from(self.job.plan.keepalive && !asked);
        if eof == Eof::Complete && in_flight > 0 {
            if self.too_late(j, now) {
                return self.timed_out(net, j, now);
            }
            self.recorder.tally.until_close += 1;
            self.count_response(j, now);
        }
        let came = match eof {
            Eof::Truncated => "in the middle of a response",
            _ => "without a response",
        };
        self.lose_flights(j, now, ErrorClass::Read, || {
            format!("the server closed the connection {came}")
        });
        self.close(net, j, now, Close::Now);
        self.reopenable(j);
        if in_flight > 0 {
            self.go_on(net, j, now);
        } else {
            self.serve_arrivals(net, now);
        }
    }
}
