//! Requests and responses of one connection: input to requests, requests to responses, responses out.
//!
//! Responses made in one go are gathered and handed to the net together, so that pipelined requests
//! cost one send. A response that takes time becomes a job of `slow_responses`; input that arrives in
//! the meantime is held.

use model::Nanos;
use net::{Close, Net};
use wire::{Eof, Framing, RequestEvent, RequestHead};

use crate::conn::{Conn, Exchange, Job, Task};
use crate::context::{ConnStatus, Context};
use crate::counters::{Doing, Kind, PATHS, stub_status};
use crate::fault::{self, Fault};
use crate::query::Wrong;
use crate::response::{self, Keep, ResponseMode};
use crate::route::{MAX_ECHO, Route};

/// Bytes of responses gathered before they are handed to the net.
const GATHERED_BYTES: usize = 64 * 1024;
/// Bytes that may wait for the kernel to take them before a client has to read some.
pub(crate) const BACKLOG_BYTES: usize = 256 * 1024;
/// A request's head has to arrive in this time, give or take as much again.
pub(crate) const HEAD_PATIENCE_NS: Nanos = 30 * model::units::SECOND;

const TEXT: &str = "text/plain";
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
const LAST: ResponseMode = ResponseMode { keep: Keep::Close, head_only: false };

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The response is made; the next request may follow.
    Done,
    /// The input is used up.
    Hungry,
    /// The response takes time.
    Busy,
    /// The connection is closed.
    Gone,
}

impl Context {
    #[inline]
    pub(crate) fn received<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        came: &[u8],
    ) -> ConnStatus {
        match conn.tls {
            None => self.input(net, conn, came),
            Some(_) => self.received_records(net, conn, came),
        }
    }

    #[inline]
    fn input<N: Net>(&mut self, net: &mut N, conn: &mut Conn, input: &[u8]) -> ConnStatus {
        if conn.busy() || !conn.held.is_empty() {
            conn.hold(net, input);
            return ConnStatus::Open;
        }
        self.read(net, conn, input)
    }

    fn received_records<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        came: &[u8],
    ) -> ConnStatus {
        let Some(tls) = conn.tls.as_mut() else { return ConnStatus::Open };
        let mut plain = std::mem::take(&mut self.plain);
        let understood = tls.decrypt(came, &mut plain);
        self.send_records(net, conn);
        let status = match understood {
            Ok(()) if plain.is_empty() => ConnStatus::Open,
            Ok(()) => self.input(net, conn, &plain),
            Err(_) => {
                self.counts().request(Kind::Malformed);
                net.close(conn.id, Close::Flush);
                ConnStatus::Gone
            }
        };
        plain.clear();
        self.plain = plain;
        status
    }

    /// Reads input until it is used up, a response takes time, or the connection ends.
    #[inline]
    fn read<N: Net>(&mut self, net: &mut N, conn: &mut Conn, input: &[u8]) -> ConnStatus {
        let mut rest = input;
        let flow = self.requests(net, conn, &mut rest);
        if flow == Flow::Gone {
            return ConnStatus::Gone;
        }
        self.flush(net, conn);
        if flow == Flow::Busy {
            conn.hold(net, rest);
        }
        ConnStatus::Open
    }

    #[inline]
    fn requests<N: Net>(&mut self, net: &mut N, conn: &mut Conn, input: &mut &[u8]) -> Flow {
        loop {
            let event = match conn.parser.next(input) {
                Ok(Some(event)) => event,
                Ok(None) => return Flow::Hungry,
                Err(error) => {
                    self.counts().request(Kind::Malformed);
                    return self.refuse(net, conn, 400, &error.to_string());
                }
            };
            let flow = match event {
                RequestEvent::Head(head) => {
                    let exchange = self.begin(conn.responses, &head);
                    conn.responses += 1;
                    if exchange.route.responds_early() {
                        self.respond(net, conn, exchange)
                    } else {
                        conn.exchange = Some(exchange);
                        continue;
                    }
                }
                RequestEvent::Body(bytes) => {
                    if keep_body(&mut conn.exchange, bytes) {
                        continue;
                    }
                    self.too_large(net, conn)
                }
                RequestEvent::End => match conn.exchange.take() {
                    Some(exchange) => self.respond(net, conn, exchange),
                    None => Flow::Done,
                },
            };
            if flow != Flow::Done {
                return flow;
            }
            if self.out.len() >= GATHERED_BYTES {
                self.flush(net, conn);
                if conn.choked {
                    return Flow::Busy;
                }
            }
        }
    }

    #[inline]
    fn begin(&mut self, responses: u64, head: &RequestHead<'_>) -> Exchange {
        let (kind, route) = Route::of(head, self.shared.seed);
        self.counts().request(kind);
        let last = responses + 1 >= self.shared.responses_per_connection;
        let keep = match (head.keep_alive && !last && !route.responds_early(), head.version_minor) {
            (false, _) => Keep::Close,
            (true, 0) => Keep::Explicit,
            (true, _) => Keep::Implicit,
        };
        if head.expect_continue && head.framing != Framing::None && !route.responds_early() {
            self.out.extend_from_slice(CONTINUE);
        }
        Exchange { route, mode: ResponseMode { keep, head_only: head.method == "HEAD" } }
    }

    fn too_large<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> Flow {
        conn.exchange = None;
        self.respond(net, conn, Exchange { route: Route::TooLarge, mode: LAST })
    }

    #[inline]
    fn respond<N: Net>(&mut self, net: &mut N, conn: &mut Conn, exchange: Exchange) -> Flow {
        let Exchange { route, mode } = exchange;
        match route {
            Route::Health => self.out.extend_from_slice(self.shared.usual.bytes(mode)),
            other => return self.respond_other(net, conn, other, mode),
        }
        self.ended(net, conn, mode)
    }

    fn respond_other<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        route: Route,
        mode: ResponseMode,
    ) -> Flow {
        let out = &mut self.out;
        match route {
            Route::Health | Route::Delay(0) => {
                out.extend_from_slice(self.shared.usual.bytes(mode));
            }
            Route::StubStatus => {
                let page = stub_status(&self.shared.counts);
                response::whole(out, 200, TEXT, page.as_bytes(), mode);
            }
            Route::Status(code) => response::status(out, code, mode),
            Route::Echo(echo) => response::whole(out, 200, &echo.content_type, &echo.body, mode),
            Route::Shop(visit) => visit.respond(out, self.shared.seed, mode),
            Route::Delay(ns) => return self.later(conn, net.now() + ns, Task::Respond, mode),
            Route::Queue(key) => match self.shared.queues.arrive(key, || net.now()) {
                Some(departs) => return self.later(conn, departs, Task::Respond, mode),
                None => response::error(out, 503, "64 queues exist already: use one of them", mode),
            },
            Route::Cpu(ns) => {
                self.flush(net, conn);
                self.burn(ns);
                // The others on this thread have their turn before what follows in the pipeline.
                return self.later(conn, net.now(), Task::Respond, mode);
            }
            Route::Bytes(bytes) => return self.stream(net, conn, bytes, mode),
            Route::Fault(fault) => return self.misbehave(net, conn, fault, mode),
            Route::Unknown => response::unknown(out, "path", PATHS, mode),
            Route::UnknownFault => {
                response::unknown(out, "fault", &Fault::names(), mode);
            }
            Route::Wrong(wrong) => {
                let Wrong(what) = *wrong;
                response::error(out, 400, &what, mode);
            }
            Route::TooLarge => {
                response::error(out, 413, &format!("/echo takes up to {MAX_ECHO} bytes"), mode);
            }
        }
        self.ended(net, conn, mode)
    }

    /// The response is made; if it was the connection's last, that is closed.
    #[inline]
    pub(crate) fn ended<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        mode: ResponseMode,
    ) -> Flow {
        if mode.keep != Keep::Close {
            return Flow::Done;
        }
        self.close(net, conn, Close::Flush)
    }

    /// Sends what is gathered and ends the connection.
    pub(crate) fn close<N: Net>(&mut self, net: &mut N, conn: &mut Conn, how: Close) -> Flow {
        self.flush(net, conn);
        if how == Close::Flush
            && let Some(tls) = conn.tls.as_mut()
        {
            tls.close_notify();
            self.send_records(net, conn);
        }
        // Bytes still on their way from the client have to be received and dropped, or the kernel sends
        // a RST that overtakes the response.
        conn.receive_again(net);
        net.close(conn.id, how);
        Flow::Gone
    }

    /// Responds with the error and ends the connection: where the next request begins is not known.
    pub(crate) fn refuse<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        status: u16,
        message: &str,
    ) -> Flow {
        response::error(&mut self.out, status, message, LAST);
        self.close(net, conn, Close::Flush)
    }

    fn misbehave<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        fault: Fault,
        mode: ResponseMode,
    ) -> Flow {
        let words = match fault {
            Fault::Reset => return self.close(net, conn, Close::Reset),
            Fault::Close => return self.close(net, conn, Close::Now),
            Fault::Hang => return self.go(conn, Task::Hang, mode),
            Fault::Drip => return self.later(conn, net.now(), Task::Drip { next: 0 }, mode),
            Fault::EndlessHeader => {
                self.out.extend_from_slice(fault::ENDLESS_START);
                let task = Task::Endless { left: fault::ENDLESS_BYTES };
                return self.later(conn, net.now(), task, mode);
            }
            Fault::Chunked => {
                response::chunked(&mut self.out, mode);
                return self.ended(net, conn, mode);
            }
            Fault::Gzip => {
                response::gzip(&mut self.out, mode);
                return self.ended(net, conn, mode);
            }
            Fault::Interim => {
                self.out.extend_from_slice(fault::EARLY_HINTS);
                self.out.extend_from_slice(self.shared.usual.bytes(mode));
                return self.ended(net, conn, mode);
            }
            Fault::Early => {
                self.out.extend_from_slice(self.shared.usual.bytes(mode));
                return self.ended(net, conn, mode);
            }
            Fault::Truncate => fault::TRUNCATED,
            Fault::BadLength => fault::BAD_LENGTH,
            Fault::Garbage => fault::GARBAGE,
            Fault::ChunkedBad => fault::CHUNKED_BAD,
            Fault::NoLength => fault::NO_LENGTH,
        };
        self.out.extend_from_slice(words);
        self.close(net, conn, Close::Flush)
    }

    /// Makes the connection busy until an instant at least.
    fn later(&mut self, conn: &mut Conn, at: Nanos, task: Task, mode: ResponseMode) -> Flow {
        conn.set_due(&mut self.timers, at);
        self.go(conn, task, mode)
    }

    pub(crate) fn go(&mut self, conn: &mut Conn, task: Task, mode: ResponseMode) -> Flow {
        conn.job = Some(Job { task, mode });
        Flow::Busy
    }

    /// Hands what is gathered to the net. If too much waits there already, the connection is busy
    /// until it is gone.
    #[inline]
    pub(crate) fn flush<N: Net>(&mut self, net: &mut N, conn: &mut Conn) {
        if self.out.is_empty() {
            return;
        }
        conn.moved();
        if let Some(tls) = conn.tls.as_mut() {
            tls.encrypt(&self.out);
            self.send_records(net, conn);
        } else {
            net.send(conn.id, &self.out);
        }
        self.out.clear();
        self.out.shrink_to(4 * GATHERED_BYTES);
        if net.backlog(conn.id) > BACKLOG_BYTES && !conn.choked {
            conn.pause(net);
            conn.choked = true;
            net.want_drained(conn.id);
        }
    }

    pub(crate) fn send_records<N: Net>(&mut self, net: &mut N, conn: &mut Conn) {
        let Some(tls) = conn.tls.as_mut() else { return };
        tls.outgoing(&mut self.records);
        if !self.records.is_empty() {
            net.send(conn.id, &self.records);
            self.records.clear();
            self.records.shrink_to(4 * GATHERED_BYTES);
        }
    }

    /// Goes on with input that was held, now that the connection may be free for it.
    pub(crate) fn resume<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> ConnStatus {
        while !conn.busy() && !conn.held.is_empty() {
            let held = std::mem::take(&mut conn.held);
            if self.read(net, conn, &held) == ConnStatus::Gone {
                return ConnStatus::Gone;
            }
        }
        if conn.busy() {
            return ConnStatus::Open;
        }
        if conn.eof {
            self.close(net, conn, Close::Flush);
            return ConnStatus::Gone;
        }
        conn.receive_again(net);
        ConnStatus::Open
    }

    /// The client will send no more: what it has requested is still served.
    pub(crate) fn eof<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> ConnStatus {
        conn.eof = true;
        let endless = conn.job.is_some_and(|job| job.task.is_endless());
        if endless {
            self.close(net, conn, Close::Now);
            return ConnStatus::Gone;
        }
        self.resume(net, conn)
    }

    /// Records what a connection is doing after an event, and sets a deadline for a head that has
    /// begun.
    #[inline]
    pub(crate) fn note<N: Net>(&mut self, net: &N, conn: &mut Conn) {
        let doing = if conn.busy() {
            Doing::Writing
        } else if conn.exchange.is_some() || conn.parser.eof() != Eof::Idle {
            Doing::Reading
        } else {
            Doing::Waiting
        };
        if doing != conn.doing {
            self.turn(net, conn, doing);
        }
    }

    fn turn<N: Net>(&mut self, net: &N, conn: &mut Conn, doing: Doing) {
        self.counts().turned(conn.doing, doing);
        if doing == Doing::Reading {
            conn.set_due(&mut self.timers, net.now() + HEAD_PATIENCE_NS);
            conn.overdue_after = conn.responses;
        } else if conn.doing == Doing::Reading && conn.job.is_none() {
            conn.clear_due(&mut self.timers);
        }
        conn.doing = doing;
    }
}

/// Keeps a body that is to be echoed or read; false if it has become too long. Other bodies are
/// dropped.
fn keep_body(exchange: &mut Option<Exchange>, bytes: &[u8]) -> bool {
    match exchange.as_mut().map(|exchange| &mut exchange.route) {
        Some(Route::Echo(echo)) if echo.body.len() + bytes.len() > MAX_ECHO => return false,
        Some(Route::Echo(echo)) => echo.body.extend_from_slice(bytes),
        Some(Route::Shop(visit)) => visit.body(bytes),
        _ => {}
    }
    true
}
