//! Which servers of an upstream are well, as all workers see it.
//!
//! Owns the counts of failures and checks of each server, in atomics. `path` reports what came of requests and of
//! active checks, and asks which servers may be taken.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::path::Failure;
use crate::policy::{ActiveCheck, PassiveCheck};

/// A request that tries a server keeps others from it for no longer: that it has no verdict may be its client's doing, who sends
/// a body slowly.
const TRIAL_NS: u64 = 30_000_000_000;

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
    /// When a request began to try it, after its rest; 0: none does.
    tried_ns: AtomicU64,
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
    OnTrial(Trial),
}

/// A request that tries a server after its rest, by when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial(u64);

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

    /// Whether nothing is known against it: it is not out, and does not have to be tried first.
    pub fn is_proven(&self) -> bool {
        !self.down.load(Relaxed) && self.rests_until_ns.load(Relaxed) == 0
    }

    /// Whether requests may be sent to it.
    pub fn is_well(&self, now_ns: u64) -> bool {
        !self.down.load(Relaxed)
            && match self.rests_until_ns.load(Relaxed) {
                0 => true,
                until => until <= now_ns && may_be_tried(self.tried_ns.load(Relaxed), now_ns),
            }
    }

    /// Takes it for a request; where its rest is just over, only one request gets it until that has ended.
    pub fn take(&self, now_ns: u64) -> Taken {
        if self.down.load(Relaxed) {
            return Taken::No;
        }
        match self.rests_until_ns.load(Relaxed) {
            0 => Taken::Yes,
            until if until > now_ns => Taken::No,
            _ => self.begin_trial(now_ns).map_or(Taken::No, Taken::OnTrial),
        }
    }

    /// Has a request try it, where no other one does.
    fn begin_trial(&self, now_ns: u64) -> Option<Trial> {
        let (tried_ns, trial_ns) = (self.tried_ns.load(Relaxed), now_ns.max(1));
        let begun = || self.tried_ns.compare_exchange(tried_ns, trial_ns, Relaxed, Relaxed);
        (may_be_tried(tried_ns, now_ns) && begun().is_ok()).then_some(Trial(trial_ns))
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

    /// A request that tried it has ended, with a verdict or without one (the client left). Where that took so long that another
    /// one tries it meanwhile, that goes on.
    pub fn end_trial(&self, trial: Trial) {
        // Otherwise it is another one's.
        let _ = self.tried_ns.compare_exchange(trial.0, 0, Relaxed, Relaxed);
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

/// Whether a request may try a server that another began to try at this time.
fn may_be_tried(tried_ns: u64, now_ns: u64) -> bool {
    tried_ns == 0 || now_ns >= tried_ns.saturating_add(TRIAL_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: PassiveCheck = PassiveCheck { failures: 3, rest_ns: 100 };

    fn on_trial(server: &ServerHealth, now_ns: u64) -> Option<Trial> {
        match server.take(now_ns) {
            Taken::OnTrial(trial) => Some(trial),
            _ => None,
        }
    }

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
        let trial = on_trial(&server, 110).expect("its rest is over");
        assert!(server.take(110) == Taken::No && !server.is_well(110), "one request tries it");
        server.did_not_answer(&RULE, 120);
        server.end_trial(trial);
        assert_eq!(server.take(219), Taken::No, "it failed again: another rest, after one failure");
        assert!(on_trial(&server, 220).is_some() && !server.is_proven());
        server.succeeded();
        assert!(server.is_well(220) && server.is_proven());
        assert_eq!([0; 2].map(|_| server.take(220)), [Taken::Yes; 2]);
    }

    #[test]
    fn a_try_without_a_verdict_is_made_again() {
        let server = ServerHealth::default();
        for _ in 0..3 {
            server.did_not_answer(&RULE, 0);
        }
        let trial = on_trial(&server, 100).unwrap();
        server.end_trial(trial);
        assert!(on_trial(&server, 100).is_some());
    }

    #[test]
    fn a_try_without_a_verdict_lets_another_begin_after_a_while() {
        let server = ServerHealth::default();
        for _ in 0..3 {
            server.did_not_answer(&RULE, 0);
        }
        let first = on_trial(&server, 100).unwrap();
        let until = 100 + TRIAL_NS;
        assert!(server.take(until - 1) == Taken::No && !server.is_well(until - 1));
        assert!(server.is_well(until));
        let second = on_trial(&server, until).unwrap();
        assert_eq!(server.take(until), Taken::No);
        // The first one ends at last, while the second tries it.
        server.end_trial(first);
        assert_eq!(server.take(until), Taken::No);
        server.end_trial(second);
        assert!(on_trial(&server, until).is_some());
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
