//! The state of the ceiling that decisions read and update: atomics shared by all workers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Line, Part};
use crate::limits::{AtOnce, Gcra};
use crate::usage::{BUCKETS, Buckets, bucket_of};

/// The rate that separates random arrivals from more than that: this part of the way from the rate of random arrivals to the
/// rate of a target that is kept busy.
const ABOVE_ARRIVALS: f64 = 0.5;
/// While a cluster of random arrivals drains, at most this many times the number in flight that keeps the target busy is
/// allowed. With more, the last request of the cluster would miss the objective if some requests take much longer than most.
const CLUSTER_MOST: f64 = 2.0;
/// A stall is a time without a response while requests are in flight, in which at the line's rate this many mean requests would
/// have had one.
const STALL_REQUESTS: f64 = 20.0;
const STALL_LEAST_NS: f64 = 50e6;
/// With more stalls per second than this an upstream counts as slow, not as stalling. At least this part of the time counts as
/// running.
const STALLS_PER_S: f64 = 5.0;
const RUNNING_LEAST: f64 = 0.02;
/// An overload counts as at most this many clusters ahead of the pace.
const REMEMBERED: u64 = 4;

/// How much of the room below the ceiling a request may use, in thousandths. The rest is kept for other requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Of the burst: how far ahead of an even pace the most important requests may be.
    pub ahead_milli: u32,
    /// Of the limit on the number in flight.
    pub at_once_milli: u32,
}

impl Room {
    /// All of it.
    pub const ALL: Self = Self { ahead_milli: 1000, at_once_milli: 1000 };
}

/// Why there is no room below the ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// The limit on the number in flight is reached.
    AtOnce {
        /// Nanoseconds that a request of this cost takes at the rate: it is not known when one ends.
        wait_ns: u64,
    },
    /// The rate is used up.
    Rate {
        /// Nanoseconds until there is room.
        wait_ns: u64,
    },
}

/// What was seen of the upstreams since the last look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Latencies of responses as the gateway saw them, and waits for late responses that were given up.
    pub latency: Buckets,
    /// Cost of the requests that had a response, in thousandths of a mean request.
    pub completed_milli: u64,
    /// Sum over the requests that were given up before a response: cost x wait, in thousandths of a mean request x
    /// microseconds.
    pub given_up: u64,
    /// Requests that the ceiling refused.
    pub refused: u64,
    /// Those of them refused by the limit on the number in flight.
    pub crowded: u64,
    /// Total time of stalls, in nanoseconds: times without a response while requests were in flight.
    pub stalled_ns: u64,
    /// Number of stalls.
    pub stalls: u64,
    /// Responses whose status is an error.
    pub errors: u64,
    /// The status of one of them.
    pub an_error: u16,
}

impl Seen {
    /// The mean number in flight over this many seconds, in mean requests: by Little's law, requests ended per second x their
    /// duration.
    pub fn in_flight(&self, seconds: f64) -> f64 {
        let answered = self.completed_milli as f64 / 1e3 * self.latency.mean_ns() / 1e9;
        (answered + self.given_up as f64 / 1e9) / seconds.max(1e-3)
    }

    /// An estimate of what all gateways saw: this one holds the part `own`, 0..=1, and the others see as much per part.
    pub fn of_all(mut self, own: f64) -> Self {
        let all = |milli: u64| (milli as f64 / own) as u64;
        (self.completed_milli, self.given_up) = (all(self.completed_milli), all(self.given_up));
        self
    }

    /// For how much of this many seconds the upstreams were running. If there are many short stalls they count as running:
    /// the upstream is just that slow.
    pub fn running_s(&self, seconds: f64) -> f64 {
        let stalled_s = self.stalled_ns as f64 / 1e9;
        let regular = self.stalls as f64 > STALLS_PER_S * seconds;
        if regular { seconds } else { (seconds - stalled_s).max(RUNNING_LEAST * seconds) }.max(1e-3)
    }
}

/// The ceiling and what is used of it.
#[derive(Debug)]
pub struct Ceiling {
    used: Gcra,
    in_flight: AtOnce,
    /// Arrivals, against a rate between that of random arrivals and the line's.
    arrivals: Gcra,
    /// Nanoseconds of that pace per thousandth of a mean request, as bits of an `f64`.
    arrivals_ns_per_milli: AtomicU64,
    /// How far ahead of that pace random arrivals may be.
    arrivals_ahead_ns: AtomicU64,
    arrivals_at_once_milli: AtomicU64,
    /// Nanoseconds of the ceiling's pace per thousandth of a mean request, as bits of an `f64`.
    ns_per_milli: AtomicU64,
    /// How far ahead of an even pace the most important requests may be.
    ahead_ns: AtomicU64,
    at_once_milli: AtomicU64,
    /// This gateway's part of the rate if all gateways get the same load, as bits of an `f64`.
    own_per_s: AtomicU64,
    latency: Box<[AtomicU32]>,
    completed_milli: AtomicU64,
    given_up: AtomicU64,
    refused: AtomicU64,
    crowded: AtomicU64,
    /// The shortest stall, the time of the last response, and the stalls since the last look.
    stall_from_ns: AtomicU64,
    answered_at_ns: AtomicU64,
    stalled_ns: AtomicU64,
    stalls: AtomicU64,
    errors: AtomicU64,
    an_error: AtomicU32,
}

impl Default for Ceiling {
    fn default() -> Self {
        Self {
            used: Gcra::default(),
            in_flight: AtOnce::default(),
            arrivals: Gcra::default(),
            arrivals_ns_per_milli: AtomicU64::new(0),
            arrivals_ahead_ns: AtomicU64::new(0),
            arrivals_at_once_milli: AtomicU64::new(0),
            ns_per_milli: AtomicU64::new(0),
            ahead_ns: AtomicU64::new(u64::MAX / 4),
            at_once_milli: AtomicU64::new(u64::MAX / 4),
            own_per_s: AtomicU64::new(f64::INFINITY.to_bits()),
            latency: (0..BUCKETS).map(|_| AtomicU32::new(0)).collect(),
            completed_milli: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            crowded: AtomicU64::new(0),
            stall_from_ns: AtomicU64::new(STALL_LEAST_NS as u64),
            answered_at_ns: AtomicU64::new(0),
            stalled_ns: AtomicU64::new(0),
            stalls: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            an_error: AtomicU32::new(0),
        }
    }
}

/// This many thousandths of a whole.
fn part(whole: u64, milli: u32) -> u64 {
    whole / 1000 * u64::from(milli)
}

impl Ceiling {
    /// Sets the ceiling to a share of a line, 0..=1, of which this gateway holds a part.
    pub fn set(&self, line: &Line, factor: f64, part: Part) {
        let (rate, at_once) = (line.rate_per_s * factor, (line.at_once * factor).max(1.0));
        self.ns_per_milli.store((1e6 / (rate * part.of_rate())).to_bits(), Ordering::Relaxed);
        self.own_per_s.store((rate * part.own()).to_bits(), Ordering::Relaxed);
        // After a pause, as many requests may come at once as may be in flight.
        let ahead_ns = ((at_once / rate * 1e9) as u64).max(line.ahead_ns);
        self.ahead_ns.store(ahead_ns, Ordering::Relaxed);
        let own = (at_once * part.own()).max(1.0);
        self.at_once_milli.store((own * 1000.0) as u64, Ordering::Relaxed);
        let stall_ns = (STALL_REQUESTS * 1e9 / (line.rate_per_s * part.own())).max(STALL_LEAST_NS);
        self.stall_from_ns.store(stall_ns as u64, Ordering::Relaxed);
        self.set_arrivals(line, factor, part.own());
    }

    /// Sets the rate that separates random arrivals at the line from an overload a little above that of random arrivals: they
    /// seldom get far ahead of it, and an overload always does.
    fn set_arrivals(&self, line: &Line, factor: f64, own: f64) {
        let above = ABOVE_ARRIVALS * (line.rate_per_s - line.arrivals_per_s);
        let per_s = (line.arrivals_per_s + above) * factor * own;
        let at_once = line.arrivals_at_once.min(CLUSTER_MOST * line.at_once) * factor * own;
        self.arrivals_ns_per_milli.store((1e6 / per_s).to_bits(), Ordering::Relaxed);
        self.arrivals_ahead_ns.store((at_once / per_s * 1e9) as u64, Ordering::Relaxed);
        self.arrivals_at_once_milli.store((at_once * 1000.0) as u64, Ordering::Relaxed);
    }

    /// The limit on the number in flight, in thousandths of mean requests: as many as keep the target busy; while arrivals are
    /// not more than random ones at the line, the number that these seldom exceed.
    fn most_milli(&self, now_ns: u64) -> u64 {
        let busy = self.at_once_milli.load(Ordering::Relaxed);
        let ahead_ns = self.arrivals.ahead_ns(now_ns);
        if ahead_ns > self.arrivals_ahead_ns.load(Ordering::Relaxed) {
            return busy;
        }
        busy.max(self.arrivals_at_once_milli.load(Ordering::Relaxed))
    }

    /// Counts an arrival, whether there is room or not. An overload is remembered for a moment, so that a pause in it is not
    /// taken for its end.
    fn count_arrival(&self, cost_milli: u32, now_ns: u64) {
        let ns_per_milli = f64::from_bits(self.arrivals_ns_per_milli.load(Ordering::Relaxed));
        let increment_ns = (f64::from(cost_milli) * ns_per_milli) as u64;
        let most_ns = REMEMBERED * self.arrivals_ahead_ns.load(Ordering::Relaxed);
        self.arrivals.count(increment_ns, most_ns, now_ns);
    }

    /// Takes room for a request of this cost, which may use the part `room`.
    ///
    /// # Errors
    /// If there is no room; then nothing is taken.
    pub fn take(&self, cost_milli: u32, room: Room, now_ns: u64) -> Result<(), NoRoom> {
        let most = part(self.most_milli(now_ns), room.at_once_milli);
        self.count_arrival(cost_milli, now_ns);
        if !self.in_flight.take(u64::from(cost_milli), most) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            self.crowded.fetch_add(1, Ordering::Relaxed);
            return Err(NoRoom::AtOnce { wait_ns: self.increment_ns(cost_milli) });
        }
        let ahead = part(self.ahead_ns.load(Ordering::Relaxed), room.ahead_milli);
        let taken = self.used.take_within(self.increment_ns(cost_milli), ahead, now_ns);
        taken.map_err(|wait_ns| {
            self.in_flight.give_back(u64::from(cost_milli));
            self.refused.fetch_add(1, Ordering::Relaxed);
            NoRoom::Rate { wait_ns }
        })
    }

    /// Takes room for a request that would otherwise be refused, if the part outside of `room` stays free. Returns whether it
    /// was taken. A refusal does not count as one by the ceiling.
    pub fn take_spare(&self, cost_milli: u32, room: Room, now_ns: u64) -> bool {
        let most = part(self.at_once_milli.load(Ordering::Relaxed), room.at_once_milli);
        if !self.in_flight.take(u64::from(cost_milli), most) {
            return false;
        }
        let ahead = part(self.ahead_ns.load(Ordering::Relaxed), room.ahead_milli);
        let taken = self.used.take_within(self.increment_ns(cost_milli), ahead, now_ns).is_ok();
        if taken {
            self.count_arrival(cost_milli, now_ns);
        } else {
            self.in_flight.give_back(u64::from(cost_milli));
        }
        taken
    }

    /// Counts a request in flight without a load line.
    pub fn add(&self, cost_milli: u32) {
        self.in_flight.add(u64::from(cost_milli));
    }

    /// Gives back the room of a request, and notes the latency of its response.
    pub fn finish(&self, cost_milli: u32, upstream_ns: u64) {
        self.in_flight.give_back(u64::from(cost_milli));
        self.completed_milli.fetch_add(u64::from(cost_milli), Ordering::Relaxed);
        self.latency[bucket_of(upstream_ns)].fetch_add(1, Ordering::Relaxed);
    }

    /// Gives back the room of a request without a response: its client or the gateway gave up after this wait, or the upstream
    /// failed. So the response would have taken longer than the wait. If the wait is already `late`, it counts as a latency; a shorter
    /// one does not show what the latency would have been.
    pub fn give_up(&self, cost_milli: u32, waited_ns: u64, late: bool) {
        self.in_flight.give_back(u64::from(cost_milli));
        let held = u64::from(cost_milli).saturating_mul(waited_ns / 1000);
        self.given_up.fetch_add(held, Ordering::Relaxed);
        if late {
            self.latency[bucket_of(waited_ns)].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes a response at this instant, with its latency.
    pub fn ran(&self, now_ns: u64, upstream_ns: u64) {
        let last_ns = self.answered_at_ns.swap(now_ns, Ordering::Relaxed);
        // Before this request, perhaps nothing was in flight.
        self.note_stall(now_ns.saturating_sub(last_ns).min(upstream_ns));
    }

    fn note_stall(&self, for_ns: u64) {
        if for_ns >= self.stall_from_ns.load(Ordering::Relaxed) {
            self.stalled_ns.fetch_add(for_ns, Ordering::Relaxed);
            self.stalls.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes a response whose status is an error.
    pub fn note_error(&self, status: u16) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        self.an_error.store(u32::from(status), Ordering::Relaxed);
    }

    /// What was seen since the last call.
    pub fn look(&self, now_ns: u64) -> Seen {
        // A stall that still lasts is counted up to now.
        let last_ns = self.answered_at_ns.load(Ordering::Relaxed);
        let quiet_ns = now_ns.saturating_sub(last_ns);
        if last_ns > 0
            && self.in_flight.held() > 0
            && quiet_ns >= self.stall_from_ns.load(Ordering::Relaxed)
        {
            self.note_stall(quiet_ns);
            self.answered_at_ns.store(now_ns, Ordering::Relaxed);
        }
        let latency = self.latency.iter().map(|n| u64::from(n.swap(0, Ordering::Relaxed)));
        Seen {
            latency: Buckets(latency.collect()),
            completed_milli: self.completed_milli.swap(0, Ordering::Relaxed),
            given_up: self.given_up.swap(0, Ordering::Relaxed),
            refused: self.refused.swap(0, Ordering::Relaxed),
            crowded: self.crowded.swap(0, Ordering::Relaxed),
            stalled_ns: self.stalled_ns.swap(0, Ordering::Relaxed),
            stalls: self.stalls.swap(0, Ordering::Relaxed),
            errors: self.errors.swap(0, Ordering::Relaxed),
            an_error: self.an_error.load(Ordering::Relaxed) as u16,
        }
    }

    /// The highest rate that is let through, in mean requests per second.
    pub fn rate_per_s(&self) -> f64 {
        1e6 / f64::from_bits(self.ns_per_milli.load(Ordering::Relaxed))
    }

    /// This gateway's part of the rate if all gateways get the same load, in mean requests per second.
    pub fn own_per_s(&self) -> f64 {
        f64::from_bits(self.own_per_s.load(Ordering::Relaxed))
    }

    /// Cost in flight, in mean requests.
    pub fn in_flight(&self) -> f64 {
        self.in_flight.held() as f64 / 1000.0
    }

    /// The limit on the number in flight, in mean requests.
    pub fn at_once(&self) -> f64 {
        self.at_once_milli.load(Ordering::Relaxed) as f64 / 1000.0
    }

    /// The time of this cost at an even pace, in nanoseconds.
    pub fn takes_ns(&self, milli: u64) -> u64 {
        (milli as f64 * f64::from_bits(self.ns_per_milli.load(Ordering::Relaxed))).ceil() as u64
    }

    /// How far ahead of an even pace requests are, in nanoseconds.
    pub fn ahead_ns(&self, now_ns: u64) -> u64 {
        self.used.ahead_ns(now_ns)
    }

    /// How far ahead of an even pace the most important requests may be, in nanoseconds.
    pub fn burst_ns(&self) -> u64 {
        self.ahead_ns.load(Ordering::Relaxed)
    }

    /// Another line has come into force: drops what is further ahead of the pace than this line allows.
    pub fn change(&self, now_ns: u64) {
        self.used.change_to(self.ahead_ns.load(Ordering::Relaxed), now_ns);
    }

    /// Takes account of requests at other gateways: `due_ns` is when the next request is due after all of them.
    pub fn raise(&self, due_ns: u64) {
        self.used.raise(due_ns);
    }

    fn increment_ns(&self, cost_milli: u32) -> u64 {
        let ns_per_milli = f64::from_bits(self.ns_per_milli.load(Ordering::Relaxed));
        (f64::from(cost_milli) * ns_per_milli).ceil() as u64
    }
}
