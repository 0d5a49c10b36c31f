//! Which servers of an upstream are well, as all workers see it.
//!
//! Owns the counts of failures and checks of each server, in atomics. `path` reports what came of requests and of
//! active checks, and asks which servers may be taken.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::path::Failure;
use crate::policy::{ActiveCheck, PassiveCheck};

/// The servers of all upstreams. Servers keep their state when a policy is replaced.
#[derive(Debug, Default)]
pub struct Health {
    servers: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    upstream: String,
    socket: SocketAddr,
    state: Arc<ServerHealth>,
}

/// What is known of one server. Times are on the data path's clock, in nanoseconds.
#[derive(Debug, Default)]
pub struct ServerHealth {
    in_flight: AtomicU32,
    /// Failures in a row.
    failures: AtomicU32,
    /// Taken out by failed requests until then; 0: not.
    rests_until_ns: AtomicU64,
    /// A request tries it, after its rest.
    tried: AtomicBool,
    /// Taken out by active checks.
    down: AtomicBool,
    /// Checks in a row that went the other way than its state.
    against: AtomicU32,
    failed: AtomicU64,
    checks: AtomicU64,
    checks_failed: AtomicU64,
    /// Why the last of these failed.
    check_failure: Mutex<Option<CheckFailure>>,
    /// Requests that it failed, by how.
    failed_by: [AtomicU64; Failure::COUNT],
    /// How TLS failed last, and what is known of why.
    tls: Mutex<Option<(Failure, String)>>,
}

/// Why an active check failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFailure {
    /// The response had this status.
    Status(u16),
    /// There was no usable response.
    Unanswered(Failure),
}

/// Whether a server may be taken for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It may not.
    No,
    /// It is well.
    Yes,
    /// Its rest is over, and this request alone tries it: [`ServerHealth::end_trial`] is to be called once it has ended.
    OnTrial,
}

/// A server's state, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerView {
    /// The upstream's name.
    pub upstream: String,
    /// Its address.
    pub socket: SocketAddr,
    /// Requests may be sent to it.
    pub well: bool,
    /// Its active checks took it out.
    pub down: bool,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that it did not answer, so far.
    pub failed: u64,
    /// Active checks so far.
    pub checks: u64,
    /// Those of them that failed.
    pub checks_failed: u64,
    /// Why the last of these failed.
    pub check_failure: Option<CheckFailure>,
    /// Requests that it failed so far, by how, in the order of [`Failure::ALL`]. A request that was sent again counts twice.
    pub failed_by: [u64; Failure::COUNT],
    /// How TLS failed last, and what is known of why.
    pub tls: Option<(Failure, String)>,
}

impl Health {
    /// The state of a server.
    pub fn of(&self, upstream: &str, socket: SocketAddr) -> Arc<ServerHealth> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            servers.iter().find(|known| known.socket == socket && known.upstream == upstream);
        if let Some(known) = known {
            return Arc::clone(&known.state);
        }
        // Servers that no policy names any more are forgotten here, so that reloads do not pile them up.
        servers.retain(|known| Arc::strong_count(&known.state) > 1);
        let state = Arc::new(ServerHealth::default());
        servers.push(Known { upstream: upstream.to_owned(), socket, state: Arc::clone(&state) });
        state
    }

    /// All servers at an instant of the data path's clock, but for those that nobody asks about any more.
    pub fn view(&self, now_ns: u64) -> Vec<ServerView> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|known| Arc::strong_count(&known.state) > 1);
        let view = |known: &Known| ServerView {
            upstream: known.upstream.clone(),
            socket: known.socket,
            well: known.state.is_well(now_ns),
            down: known.state.down.load(Relaxed),
            in_flight: known.state.in_flight(),
            failed: known.state.failed.load(Relaxed),
            checks: known.state.checks.load(Relaxed),
            checks_failed: known.state.checks_failed.load(Relaxed),
            check_failure: *known
                .state
                .check_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            failed_by: std::array::from_fn(|kind| known.state.failed_by[kind].load(Relaxed)),
            tls: known.state.tls.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        };
        servers.iter().map(view).collect()
    }
}

impl ServerHealth {
    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Relaxed)
    }

    /// A request is on its way to it.
    pub fn begin(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    /// A request that began has ended.
    pub fn end(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// Whether requests may be sent to it.
    pub fn is_well(&self, now_ns: u64) -> bool {
        !self.down.load(Relaxed)
            && match self.rests_until_ns.load(Relaxed) {
                0 => true,
                until => until <= now_ns && !self.tried.load(Relaxed),
            }
    }

    /// Takes it for a request; where its rest is just over, only one request gets it until that has ended.
    pub fn take(&self, now_ns: u64) -> Taken {
        if self.down.load(Relaxed) {
            return Taken::No;
        }
        match self.rests_until_ns.load(Relaxed) {
            0 => Taken::Yes,
            until if until > now_ns || self.tried.swap(true, Relaxed) => Taken::No,
            _ => Taken::OnTrial,
        }
    }

    /// A request was answered by it.
    pub fn succeeded(&self) {
        // Mostly read: the line is shared by all workers.
        if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
        }
        if self.rests_until_ns.load(Relaxed) != 0 {
            self.rests_until_ns.store(0, Relaxed);
        }
    }

    /// A request failed in this way.
    pub fn failed_by(&self, failure: Failure) {
        self.failed_by[failure as usize].fetch_add(1, Relaxed);
    }

    /// TLS failed in this way; with what is known of why.
    pub fn tls_failed(&self, failure: Failure, about: Option<String>) {
        let about = about.map(|about| (failure, about));
        *self.tls.lock().unwrap_or_else(PoisonError::into_inner) = about;
    }

    /// A request was not answered: no connection, or none that lasted.
    pub fn did_not_answer(&self, rule: &PassiveCheck, now_ns: u64) {
        self.failed.fetch_add(1, Relaxed);
        let failures = self.failures.fetch_add(1, Relaxed).saturating_add(1);
        let resting = self.rests_until_ns.load(Relaxed) != 0;
        if rule.failures > 0 && (resting || failures >= rule.failures) {
            self.rests_until_ns.store(now_ns.saturating_add(rule.rest_ns).max(1), Relaxed);
        }
    }

    /// The request that tried it has ended, with a verdict or without one (the client left).
    pub fn end_trial(&self) {
        self.tried.store(false, Relaxed);
    }

    /// No active check looks at it any more: what they found is forgotten, since none would find anything else.
    pub fn not_checked(&self) {
        self.down.store(false, Relaxed);
        self.against.store(0, Relaxed);
    }

    /// An active check is about to count as failed, for this reason.
    pub fn check_failed(&self, failure: CheckFailure) {
        *self.check_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    /// An active check has ended.
    pub fn checked(&self, well: bool, rule: &ActiveCheck) {
        self.checks.fetch_add(1, Relaxed);
        if !well {
            self.checks_failed.fetch_add(1, Relaxed);
        }
        let down = self.down.load(Relaxed);
        if well != down {
            self.against.store(0, Relaxed);
            return;
        }
        let against = self.against.fetch_add(1, Relaxed) + 1;
        if against >= if down { rule.up_after } else { rule.down_after } {
            self.down.store(!down, Relaxed);
            self.against.store(0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: PassiveCheck = PassiveCheck { failures: 3, rest_ns: 100 };

    #[test]
    fn failures_in_a_row_take_a_server_out_and_one_request_tries_it() {
        let server = ServerHealth::default();
        for _ in 0..2 {
            server.did_not_answer(&RULE, 10);
        }
        server.succeeded();
        for _ in 0..2 {
            server.did_not_answer(&RULE, 10);
            assert_eq!(server.take(10), Taken::Yes);
        }
        server.did_not_answer(&RULE, 10);
        assert!(server.take(109) == Taken::No && !server.is_well(109));
        assert_eq!(server.take(110), Taken::OnTrial, "its rest is over");
        assert!(server.take(110) == Taken::No && !server.is_well(110), "one request tries it");
        server.did_not_answer(&RULE, 120);
        server.end_trial();
        assert_eq!(server.take(219), Taken::No, "it failed again: another rest, after one failure");
        assert_eq!(server.take(220), Taken::OnTrial);
        server.succeeded();
        assert!(server.is_well(220));
        assert_eq!([0; 2].map(|_| server.take(220)), [Taken::Yes; 2]);
    }

    #[test]
    fn a_try_without_a_verdict_is_made_again() {
        let server = ServerHealth::default();
        for _ in 0..3 {
            server.did_not_answer(&RULE, 0);
        }
        assert_eq!(server.take(100), Taken::OnTrial);
        server.end_trial();
        assert_eq!(server.take(100), Taken::OnTrial);
    }

    #[test]
    fn checks_need_several_in_a_row() {
        let rule = ActiveCheck {
            path: "/".into(),
            every_ns: 1,
            timeout_ns: 1,
            up_after: 2,
            down_after: 3,
        };
        let server = ServerHealth::default();
        for well in [false, false, true, false, false] {
            server.checked(well, &rule);
            assert!(server.is_well(0));
        }
        server.checked(false, &rule);
        assert!(!server.is_well(0) && server.take(0) == Taken::No);
        for well in [true, false, true] {
            server.checked(well, &rule);
            assert!(!server.is_well(0));
        }
        server.checked(true, &rule);
        assert!(server.is_well(0));
        assert_eq!(server.checks.load(Relaxed), 10);
        assert_eq!(server.checks_failed.load(Relaxed), 6);
    }

    #[test]
    fn servers_keep_their_state() {
        let health = Health::default();
        let socket = "127.0.0.1:1".parse().unwrap();
        let first = health.of("a", socket);
        first.begin();
        assert_eq!(health.of("a", socket).in_flight(), 1);
        let other = health.of("b", socket);
        assert_eq!((other.in_flight(), health.view(0).len()), (0, 2));
        drop(other);
        assert_eq!(health.view(0).len(), 1);
    }
}
