//! Which reports go to the server and when, and what its answers mean. Pure: instants and answers are passed in.
//!
//! No addition is reported twice. Of a quota each gateway reports its own total, any number of times. Of a rate it reports
//! what it let through since its last report, over a connection that has answered everything so far, and only once. If a connection
//! fails, requests that were being reported or came meanwhile are reported over the next one as this gateway's state ("no
//! request is due before"), which the server applies if its own is lower. By then, requests of the outage have
//! drained as the rate says. A rate that a reload changed has another name on the server; under it everything is reported as
//! a state too, and the server forgets the old name after a while.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::meter::LINE;
use crate::keys::Entry;
use crate::limits::Rate;
use crate::policy::{Policy, QuotaOf, Quotas};

/// How long a key that is far from its limit may wait to be reported.
const FAR_NS: u64 = 100_000_000;
/// How long one may that has used half of its burst.
pub const NEAR_NS: u64 = 5_000_000;
/// Keys and the like that are reported at once at most.
const MOST: usize = 1024;
/// Keys that are looked at in one exchange, where all are reported again.
const LOOKED_AT: u32 = 8192;
/// How long a ceiling may be that of a gateway alone once the server answers: what requests take up of it is as much more.
const CEILING_LAGS_NS: u64 = 150_000_000;

/// Clocks drift apart by less than one part of so many.
const DRIFTS_BY: u64 = 1000;
/// The server's clock is known where an answer reports it this well.
const SURE_NS: u64 = 50_000_000;
/// Stands for an instant before all others: what came since then is reported as a state.
const WHENEVER: u64 = 0;

/// What is reported of one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Of a rate: what requests let through take up.
    Add {
        /// The name that it has on the server.
        name: String,
        /// To be added, in microseconds of an even pace.
        micros: u64,
        /// When the first of them came at the earliest, on the server's clock in microseconds.
        first_us: u64,
    },
    /// Of a rate: what this gateway knows of it.
    AtLeast {
        /// The name that it has on the server.
        name: String,
        /// When the next request would be due at an even pace, on the server's clock in microseconds.
        due_us: u64,
    },
    /// Of a quota.
    Total {
        /// The name, with its period.
        name: String,
        /// Requests of the period that this gateway let through since it began.
        requests: u64,
    },
}

/// What the server answers to one [`Report`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// How far all gateways together are ahead of an even pace, in microseconds; below 0 where they are behind.
    Ahead(i64),
    /// Requests that all gateways together counted in the period.
    Used(u64),
}

/// What the server answers to all reports of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// To each [`Report`], in their order.
    pub answers: Vec<Answer>,
    /// The server's clock, in microseconds.
    pub server_us: u64,
    /// Whether the server did not know this gateway: it has begun, was silent for long, or the server lost what it knew.
    pub unknown: bool,
    /// Gateways that share limits.
    pub gateways: u32,
}

/// What a report is of.
#[derive(Debug, Clone, Copy)]
enum Of {
    Rate { slot: u32, increment_ns: u64 },
    Line,
    Day { of: QuotaOf, period: u32 },
    Month { of: QuotaOf, period: u32 },
}

/// An instant on both clocks, and how far it may be wrong: half of the time that the server's answer took, since nobody
/// knows when in between it looked at its clock.
#[derive(Debug, Clone, Copy)]
struct Clock {
    own_ns: u64,
    server_us: u64,
    error_ns: u64,
}

impl Clock {
    fn new(server_us: u64, sent_ns: u64, now_ns: u64) -> Self {
        let error_ns = now_ns.saturating_sub(sent_ns) / 2;
        Self { own_ns: sent_ns + error_ns, server_us, error_ns }
    }

    /// How far it may be wrong now: clocks drift apart.
    fn error_ns(self, now_ns: u64) -> u64 {
        self.error_ns + now_ns.saturating_sub(self.own_ns) / DRIFTS_BY
    }

    fn server_us(self, at_ns: u64) -> u64 {
        let later_us = (at_ns as i64 - self.own_ns as i64) / 1000;
        self.server_us.saturating_add_signed(later_us)
    }

    fn own_ns(self, server_us: u64) -> u64 {
        let later_us = server_us as i64 - self.server_us as i64;
        self.own_ns.saturating_add_signed(later_us.saturating_mul(1000))
    }
}

/// Days and months since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Period {
    day: u32,
    month: u32,
}

/// What this gateway let through of something with quotas.
#[derive(Debug, Default)]
struct Total {
    days: Counts,
    months: Counts,
}

impl Total {
    fn count(&mut self, requests: u64, period: Period) {
        self.days.count(requests, period.day);
        self.months.count(requests, period.month);
    }
}

/// Requests of the latest period, and of the one before it: a clock that is set forward for a while comes back to that, and
/// the server takes no total that is below the one that was reported before.
#[derive(Debug, Default)]
struct Counts {
    latest: (u32, u64),
    before: (u32, u64),
}

impl Counts {
    fn count(&mut self, requests: u64, period: u32) {
        if self.latest.0 != period {
            std::mem::swap(&mut self.latest, &mut self.before);
        }
        if self.latest.0 != period {
            self.latest = (period, 0);
        }
        self.latest.1 += requests;
    }

    /// Requests of the period that was counted last.
    fn requests(&self) -> u64 {
        self.latest.1
    }
}

/// What there is something to report of, and what is under way.
#[derive(Debug, Default)]
pub struct Syncer {
    /// Since when at the earliest, by place ([`QuotaOf::place`]; [`LINE`]).
    waiting: HashMap<u32, u64>,
    /// Of what has quotas. Keys that replace each other are reported as the first of them.
    totals: HashMap<QuotaOf, Total>,
    /// By slot, what is in a total and was not reported of the key's rate.
    of_rate: HashMap<u32, u64>,
    period: Option<Period>,
    /// What was reported and not answered.
    reported: Vec<Of>,
    /// The places of that, and since when they had waited.
    under_way: Vec<(u32, u64)>,
    /// As the answers of this connection say it most exactly; `None` until it has begun.
    clock: Option<Clock>,
    /// As the first answer said it, where that took too long to rely on: one more is waited for then.
    unsure: Option<Clock>,
    /// When that was.
    joined_ns: u64,
    /// By which rates reports are made, and since when they are other ones than before.
    rates: Option<Vec<Option<Rate>>>,
    changed_ns: u64,
    /// The next slot to be looked at, while all are reported again.
    again: Option<u32>,
}

impl Syncer {
    /// Something was let through of what has this place, since `since_ns` at the earliest.
    pub fn note(&mut self, place: u32, since_ns: u64) {
        self.waiting.entry(place).or_insert(since_ns);
    }

    /// Looks at everything for something to report.
    pub fn look_again(&mut self) {
        self.again = Some(0);
    }

    /// What is to be reported now. Nothing while an answer is awaited, and nothing before a connection's first answer: that is
    /// to a sign of life, which may be lost.
    pub fn due(&mut self, policy: &Policy, now_ns: u64) -> Vec<Report> {
        if !self.under_way.is_empty() {
            return Vec::new();
        }
        self.turn(policy);
        let Some(clock) = self.clock else { return Vec::new() };
        self.follow(policy, now_ns);
        let due = |(place, since): (&u32, &u64)| {
            let patience = if is_near(policy, *place, now_ns) { NEAR_NS } else { FAR_NS };
            (now_ns >= since.saturating_add(patience)).then_some((*place, *since))
        };
        let places: Vec<_> = self.waiting.iter().filter_map(due).take(MOST).collect();
        let mut reports = Vec::new();
        for (place, since) in places {
            self.waiting.remove(&place);
            match QuotaOf::at(place) {
                None => self.report_line(policy, since, (clock, now_ns), &mut reports),
                Some(QuotaOf::Key(slot)) => {
                    self.report_key(policy, slot, since, (clock, now_ns), &mut reports)
                }
                Some(of) => self.report_quotas_alone(policy, of, since, &mut reports),
            }
        }
        self.report_again(policy, (clock, now_ns), &mut reports);
        if reports.is_empty() {
            // Of what has no limits nothing is reported, and no answer comes.
            self.under_way.clear();
        }
        reports
    }

    /// Where rates are other ones than before, everything is reported again: each rate has a name of its own on the server.
    fn follow(&mut self, policy: &Policy, now_ns: u64) {
        let known = self.rates.as_ref();
        if known.is_some_and(|known| policy.shared_rates().eq(known.iter().copied())) {
            return;
        }
        if self.rates.replace(policy.shared_rates().collect()).is_some() {
            self.changed_ns = now_ns;
            self.look_again();
        }
    }

    /// What is reported as a state of how far ahead requests are: after a change of rates no more than the whole burst, since
    /// what is above that was let through by another rate.
    fn state_ns(&self, ahead_ns: u64, burst_ns: u64) -> u64 {
        if self.changed_ns > self.joined_ns { ahead_ns.min(burst_ns) } else { ahead_ns }
    }

    /// Reports all that has used something, as far as there is room.
    fn report_again(&mut self, policy: &Policy, now: (Clock, u64), reports: &mut Vec<Report>) {
        let Some(from) = self.again else { return };
        let state = policy.state();
        if from == 0 {
            self.waiting.remove(&LINE);
            self.report_line(policy, WHENEVER, now, reports);
            for of in policy.with_quotas() {
                let has_used = self.totals.contains_key(&of)
                    || state.unreported(of).load(Ordering::Relaxed) > 0;
                // What waits is reported in its turn.
                if has_used && !self.waiting.contains_key(&of.place()) {
                    self.report_quotas_alone(policy, of, WHENEVER, reports);
                }
            }
        }
        let keys = state.keys.len() as u32;
        let mut slot = from;
        while slot < keys.min(from.saturating_add(LOOKED_AT)) && self.under_way.len() < MOST {
            let entry = state.keys.entry(slot);
            let has_used = self.totals.contains_key(&QuotaOf::Key(slot))
                || entry.unreported.load(Ordering::Relaxed) > 0
                || entry.used.ahead_ns(now.1) > 0;
            if has_used && !self.waiting.contains_key(&slot) {
                self.report_key(policy, slot, WHENEVER, now, reports);
            }
            slot += 1;
        }
        self.again = (slot < keys).then_some(slot);
    }

    fn report_line(
        &mut self,
        policy: &Policy,
        since_ns: u64,
        (clock, now_ns): (Clock, u64),
        reports: &mut Vec<Report>,
    ) {
        let state = policy.state();
        let milli = state.shared.line_milli.swap(0, Ordering::Relaxed);
        self.under_way.push((LINE, since_ns));
        let lags = since_ns < self.joined_ns.saturating_add(CEILING_LAGS_NS);
        let Some(line) = policy.line().filter(|_| !lags || since_ns == WHENEVER) else { return };
        let name = format!("line:{}:{}", line.rate_per_s, line.at_once);
        reports.push(if since_ns == WHENEVER {
            let ceiling = &state.ceiling;
            let ahead_ns = self.state_ns(ceiling.ahead_ns(now_ns), ceiling.burst_ns());
            Report::AtLeast { name, due_us: clock.server_us(now_ns.saturating_add(ahead_ns)) }
        } else {
            let micros = state.ceiling.takes_ns(milli).div_ceil(1000);
            Report::Add { name, micros, first_us: clock.server_us(since_ns) }
        });
        self.reported.push(Of::Line);
    }

    fn report_key(
        &mut self,
        policy: &Policy,
        slot: u32,
        since_ns: u64,
        (clock, now_ns): (Clock, u64),
        reports: &mut Vec<Report>,
    ) {
        let entry = policy.state().keys.entry(slot);
        let (name, limits) = (entry.name(), policy.limits_of(entry));
        let mut count = u64::from(entry.unreported.swap(0, Ordering::Relaxed));
        self.under_way.push((slot, since_ns));
        self.report_quotas(policy, QuotaOf::Key(slot), count, reports);
        count += self.of_rate.remove(&slot).unwrap_or(0);
        if let Some(rate) = limits.rate {
            let (increment_ns, burst_ns) = (rate.increment_ns(1000), rate.ahead_ns());
            let name = format!("{name}:r{increment_ns}:{burst_ns}");
            reports.push(if since_ns < self.joined_ns.max(self.changed_ns) {
                let ahead_ns = self.state_ns(entry.used.ahead_ns(now_ns), burst_ns);
                Report::AtLeast { name, due_us: clock.server_us(now_ns.saturating_add(ahead_ns)) }
            } else {
                let micros = count.saturating_mul(increment_ns).div_ceil(1000);
                Report::Add { name, micros, first_us: clock.server_us(since_ns) }
            });
            self.reported.push(Of::Rate { slot, increment_ns });
        }
    }

    /// Reports a tier, a route, or all requests together, of which only the quotas are shared.
    fn report_quotas_alone(
        &mut self,
        policy: &Policy,
        of: QuotaOf,
        since_ns: u64,
        reports: &mut Vec<Report>,
    ) {
        let requests = u64::from(policy.state().unreported(of).swap(0, Ordering::Relaxed));
        self.under_way.push((of.place(), since_ns));
        self.report_quotas(policy, of, requests, reports);
    }

    /// Reports the quotas that something has; so many more requests were let through of it.
    fn report_quotas(
        &mut self,
        policy: &Policy,
        of: QuotaOf,
        requests: u64,
        reports: &mut Vec<Report>,
    ) {
        let quotas = policy.quotas(of);
        if quotas == Quotas::default() {
            return;
        }
        let name = match of {
            QuotaOf::Key(slot) => policy.state().keys.entry(slot).name(),
            QuotaOf::Tier(number) => format!("tier:{}", policy.tier_name(number)),
            QuotaOf::Route(number) => format!("route:{}", policy.route_name(number)),
            QuotaOf::All => "all".to_owned(),
        };
        let period = self.period.unwrap_or_default();
        let total = self.totals.entry(of).or_default();
        total.count(requests, period);
        let Period { day, month } = period;
        if quotas.day.is_some() {
            let name = format!("{name}:day{day}");
            reports.push(Report::Total { name, requests: total.days.requests() });
            self.reported.push(Of::Day { of, period: day });
        }
        if quotas.month.is_some() {
            let name = format!("{name}:month{month}");
            reports.push(Report::Total { name, requests: total.months.requests() });
            self.reported.push(Of::Month { of, period: month });
        }
    }

    /// Where a day has ended, counts what waits to that day, of what has quotas.
    fn turn(&mut self, policy: &Policy) {
        let state = policy.state();
        let now = Period { day: state.calendar.day(), month: state.calendar.month() };
        let Some(before) = self.period.replace(now).filter(|before| *before != now) else { return };
        for of in self.waiting.keys().filter_map(|place| QuotaOf::at(*place)) {
            if policy.quotas(of) == Quotas::default() {
                continue;
            }
            let unreported = u64::from(state.unreported(of).swap(0, Ordering::Relaxed));
            let total = self.totals.entry(of).or_default();
            total.count(unreported, before);
            if let QuotaOf::Key(slot) = of {
                *self.of_rate.entry(slot).or_default() += unreported;
            }
        }
    }

    /// Takes in the answer to what was reported at `sent_ns`.
    pub fn answered(&mut self, policy: &Policy, response: &Response, sent_ns: u64, now_ns: u64) {
        let state = policy.state();
        self.under_way.clear();
        let began = self.clock.is_none();
        let Some(clock) = self.learn(Clock::new(response.server_us, sent_ns, now_ns), now_ns)
        else {
            return;
        };
        let at_ns = clock.own_ns(response.server_us).clamp(sent_ns, now_ns);
        let unreported = |of: QuotaOf| u64::from(state.unreported(of).load(Ordering::Relaxed));
        // What came while the answer was under way came after it was asked for.
        let due_ns = |ahead_us: i64, more_ns: u64| {
            let due_ns = at_ns.saturating_add_signed(ahead_us.saturating_mul(1000));
            due_ns.max(sent_ns).saturating_add(more_ns)
        };
        for (of, answer) in self.reported.drain(..).zip(&response.answers) {
            match (of, *answer) {
                (Of::Rate { slot, increment_ns }, Answer::Ahead(micros)) => {
                    let more_ns = unreported(QuotaOf::Key(slot)) * increment_ns;
                    state.keys.entry(slot).used.raise(due_ns(micros, more_ns));
                }
                (Of::Line, Answer::Ahead(micros)) => {
                    let more = state.shared.line_milli.load(Ordering::Relaxed);
                    state.ceiling.raise(due_ns(micros, state.ceiling.takes_ns(more)));
                }
                (Of::Day { of, period }, Answer::Used(used)) if period == state.calendar.day() => {
                    state.quota_counts(of).0.raise(period, used + unreported(of));
                }
                (Of::Month { of, period }, Answer::Used(used))
                    if period == state.calendar.month() =>
                {
                    state.quota_counts(of).1.raise(period, used + unreported(of));
                }
                // Of a period that is over; and the server answers in kind.
                _ => {}
            }
        }
        if began || response.unknown {
            self.joined_ns = now_ns;
            self.look_again();
        }
    }

    /// Takes in what an answer says of the server's clock; what is known of it, or `None` where that is not enough.
    fn learn(&mut self, latest: Clock, now_ns: u64) -> Option<Clock> {
        let known = self.clock.or(self.unsure);
        let best = known.filter(|known| known.error_ns(now_ns) < latest.error_ns).unwrap_or(latest);
        if known.is_none() && best.error_ns > SURE_NS {
            self.unsure = Some(best);
            return None;
        }
        self.clock = Some(best);
        self.clock
    }

    /// No answer came, and none will: whether the server took in what was reported is not known.
    pub fn unanswered(&mut self) {
        (self.clock, self.unsure) = (None, None);
        self.reported.clear();
        for (place, since) in self.under_way.drain(..) {
            let waits = self.waiting.entry(place).or_insert(since);
            *waits = since.min(*waits);
        }
    }
}

/// Whether half of a burst is used, or the load line is what counts: others have to know soon.
fn is_near(policy: &Policy, place: u32, now_ns: u64) -> bool {
    let slot = match QuotaOf::at(place) {
        None => return true,
        Some(QuotaOf::Key(slot)) => slot,
        // Of the quotas of tiers, of routes and of all requests.
        Some(_) => return false,
    };
    let entry: &Entry = policy.state().keys.entry(slot);
    let limits = policy.limits_of(entry);
    limits.rate.is_some_and(|rate| entry.used.ahead_ns(now_ns) * 2 >= rate.ahead_ns())
}

#[cfg(test)]
mod tests;
