//! One decision: the checks in their order. If one refuses, what the earlier ones took is given back.

use super::{
    Decision, Facts, KeyLimits, Limits, NONE, Outcome, Policy, Problem, Quotas, RateLimit, Refusal,
    Route, Ticket, TicketCounts, Tier, without_slash,
};
use crate::keys::Entry;
use crate::limits::{AtOnce, Gcra, Periods, Quota, Rate};
use crate::usage::Local;

pub(super) const MEAN_MILLI: u32 = 1000;
const SECOND_NS: u64 = 1_000_000_000;
/// `Retry-After` if too many requests are in flight: it is not known when one ends.
const SOON_S: u32 = 1;
/// A quotient this little above a whole number counts as that number.
const ROUNDING: f64 = 1e-6;
/// The most limits that one request may take from.
const TAKES: usize = 20;

impl Policy {
    /// Decides about a request. Counts a refusal in `usage`.
    pub fn decide(&self, facts: &Facts, now_ns: u64, usage: &mut Local) -> Decision {
        self.decide_and(facts, now_ns, usage, true)
    }

    /// As [`Self::decide`], but takes no room below the load line: for a request whose body has not arrived yet. Call
    /// [`Self::take_line`] before it is forwarded.
    pub fn decide_before_body(&self, facts: &Facts, now_ns: u64, usage: &mut Local) -> Decision {
        self.decide_and(facts, now_ns, usage, false)
    }

    fn decide_and(&self, facts: &Facts, now_ns: u64, usage: &mut Local, of_line: bool) -> Decision {
        let mut asked = Asked { key: NONE, route: NONE, cost_milli: 0 };
        match self.admit(facts, now_ns, &mut asked, of_line) {
            Ok(ticket) => Decision::Forward(ticket),
            Err(refusal) => {
                usage.refuse(asked.key, asked.route, refusal.problem, asked.cost_milli);
                Decision::Refuse(Refusal { key: asked.key, route: asked.route, ..refusal })
            }
        }
    }

    /// Gives back what a ticket holds, and counts the outcome of its request.
    pub fn finish(&self, ticket: &Ticket, outcome: &Outcome, now_ns: u64, usage: &mut Local) {
        self.give_back_held(ticket);
        let state = &*self.state;
        if ticket.held.line {
            match outcome.upstream_ns {
                0 => {
                    let limit_ns = self.line().map(|line| line.envelope.limit_ns);
                    let late = limit_ns.is_some_and(|limit_ns| outcome.waited_ns > limit_ns);
                    state.ceiling.give_up(ticket.cost_milli, outcome.waited_ns, late);
                }
                upstream_ns => {
                    state.ceiling.finish(ticket.cost_milli, upstream_ns);
                    state.ceiling.ran(now_ns, upstream_ns);
                }
            }
        }
        if !outcome.upstream_failed && matches!(outcome.status, 404 | 405 | 410 | 500..=599) {
            state.ceiling.note_error(outcome.status);
        }
        usage.count(ticket.key, ticket.route, ticket.cost_milli, outcome);
    }

    fn admit(
        &self,
        facts: &Facts,
        now_ns: u64,
        asked: &mut Asked,
        of_line: bool,
    ) -> Result<Ticket, Refusal> {
        let state = &*self.state;
        let route = self.find(facts);
        if let Ok(route) = route {
            asked.route = route.number;
        }
        let mut taken = Taken::default();
        let address_slot = self.check_address(facts, now_ns, &mut taken)?;
        let public = route.is_ok_and(|route| route.public);
        let key = if public { None } else { self.check_key(facts, asked, &mut taken)? };
        let route = route.map_err(|problem| taken.refuse(problem))?;
        if let Some(entry) = key
            && !state.set_has(entry.routes(), route.number)
        {
            return Err(taken.refuse_key(Problem::KeyNotForRoute));
        }
        let (tier, limits, _) = self.tier(key.map_or(0, Entry::tier));
        let of_key = key.and_then(Entry::body_most).or(limits.body_max_bytes).unwrap_or(u64::MAX);
        let body_max_bytes = of_key.min(route.body_max_bytes).min(self.settings.body_max_bytes);
        if facts.body_bytes.is_some_and(|bytes| bytes > body_max_bytes) {
            return Err(taken.refuse(Problem::BodyTooLarge));
        }
        let shared = state.shared.is_on();
        if shared && limits.closed && key.is_some() && !state.shared.is_fresh(now_ns) {
            let refusal = taken.refuse(Problem::LimitsUnknown);
            return Err(Refusal { retry_after_s: Some(SOON_S), ..refusal });
        }
        let mut held = TicketCounts {
            address: self.settings.address.at_once.is_some(),
            ..TicketCounts::default()
        };
        if let Some(entry) = key {
            held.key = self.take_key(entry, limits, now_ns, &mut taken)?;
        }
        let used = &state.tiers[tier as usize];
        held.tier = taken.limits("tier", &limits.together, &used.rate, &used.in_flight, now_ns)?;
        self.take_quotas(limits.together_quotas, &used.day, &used.month, &mut taken)?;
        let used = &state.routes[route.number as usize];
        held.route = taken.limits("route", &route.limits, &used.rate, &used.in_flight, now_ns)?;
        self.take_quotas(route.quotas, &used.day, &used.month, &mut taken)?;
        let used = &state.all;
        held.all = taken.limits("all", &self.settings.all, &used.rate, &used.in_flight, now_ns)?;
        self.take_quotas(self.settings.all_quotas, &used.day, &used.month, &mut taken)?;
        asked.cost_milli = self.cost_milli(facts);
        if of_line {
            let took = self.take_of_line(asked.key, tier, route.number, asked.cost_milli, now_ns);
            took.map_err(|full| self.at_line(taken.refuse(Problem::AtLoadLine), full))?;
            held.line = true;
        }
        Ok(Ticket {
            route: route.number,
            key: asked.key,
            tier,
            address_slot,
            cost_milli: asked.cost_milli,
            admitted_at_ns: now_ns,
            body_max_bytes,
            periods: (state.calendar.day(), state.calendar.month()),
            held,
        })
    }

    /// The first route that matches a request; if none does, whether one would with another method.
    pub(super) fn find(&self, facts: &Facts) -> Result<&Route, Problem> {
        let route = |place: u32| &self.routes[self.order[place as usize] as usize];
        self.finder.find(facts, route).map(route)
    }

    /// Whether a request has the same route when servers read its path in another way: as [`Facts::cut`], and each path
    /// without regard to case. A template that has an empty last segment matches only paths that have one.
    pub(crate) fn reads_alike(&self, facts: &Facts) -> bool {
        let has_case = self.capitals || facts.path.iter().any(u8::is_ascii_uppercase);
        if facts.cut.is_none() && !has_case {
            return true;
        }
        let own = self.find(facts);
        let in_any_case = |facts: &Facts| !has_case || self.is_of_any_case(own, facts);
        let number = |route: Result<&Route, Problem>| route.map(|route| route.number);
        let same = |path: &[u8]| {
            let facts = Facts { path, ..*facts };
            number(own) == number(self.find(&facts)) && in_any_case(&facts)
        };
        let Some(cut) = facts.cut else { return in_any_case(facts) };
        let meant = || own.is_ok_and(|route| route.path.ends_empty());
        same(cut) && without_slash(cut).is_none_or(|bare| meant() || same(bare))
    }

    /// Whether a server that ignores case finds the same route for a request. Routes whose paths differ only in case are
    /// intended to. A request without a route reaches no server.
    fn is_of_any_case(&self, own: Result<&Route, Problem>, facts: &Facts) -> bool {
        let Ok(own) = own else { return true };
        let route = |place: u32| &self.routes[self.order[place as usize] as usize];
        let other = self.any_case.find(facts, route).map(route);
        other.is_ok_and(|it| it.number == own.number || it.path.is_but_for_case(&own.path))
    }

    fn check_address<'a>(
        &'a self,
        facts: &Facts,
        now_ns: u64,
        taken: &mut Taken<'a>,
    ) -> Result<u32, Refusal> {
        let (state, limits, quotas) =
            (&*self.state, &self.settings.address, self.settings.address_quotas);
        if *limits == Limits::default() && quotas == Quotas::default() {
            return Ok(NONE);
        }
        let slot = state.addresses.slot(facts.address, now_ns, &state.calendar);
        let place = state.addresses.place(slot);
        taken.limits("address", limits, &place.used, &place.in_flight, now_ns)?;
        self.take_quotas(quotas, &place.day, &place.month, taken)?;
        Ok(slot)
    }

    /// The entry of the request's key; none if no key is asked for.
    fn check_key<'a>(
        &'a self,
        facts: &Facts,
        asked: &mut Asked,
        taken: &mut Taken<'a>,
    ) -> Result<Option<&'a Entry>, Refusal> {
        let Some(digester) = &self.settings.digester else { return Ok(None) };
        let Some(key) = facts.key.filter(|key| !key.is_empty()) else {
            return Err(taken.refuse_key(Problem::KeyMissing));
        };
        let slot = self.state.keys.find(&digester.digest(key));
        let Some(slot) = slot else { return Err(taken.refuse_key(Problem::KeyUnknown)) };
        let entry = self.state.keys.entry(slot);
        asked.key = slot;
        if entry.is_valid(self.state.calendar.unix_s()) {
            Ok(Some(entry))
        } else {
            Err(taken.refuse_key(Problem::KeyUnknown))
        }
    }

    /// Takes from the limits of a key. Returns whether the request counts as in flight for it.
    fn take_key<'a>(
        &'a self,
        entry: &'a Entry,
        tier: &Tier,
        now_ns: u64,
        taken: &mut Taken<'a>,
    ) -> Result<bool, Refusal> {
        let limits = KeyLimits::of(entry, tier);
        let own = Limits { rate: limits.rate, at_once: limits.at_once };
        let counting = self.state.keys.counting(entry);
        let held = taken.limits("key", &own, &counting.used, &counting.in_flight, now_ns)?;
        let quotas = Quotas { day: limits.day_quota, month: limits.month_quota };
        self.take_quotas(quotas, &counting.day, &counting.month, taken)?;
        Ok(held)
    }

    /// Takes one request from quotas.
    fn take_quotas<'a>(
        &'a self,
        quotas: Quotas,
        of_day: &'a Quota,
        of_month: &'a Quota,
        taken: &mut Taken<'a>,
    ) -> Result<(), Refusal> {
        let calendar = &self.state.calendar;
        if let Some(quota) = quotas.day {
            let lasts_and_left_s = |periods: Periods| (DAY_S, periods.day_left_s);
            let period = (calendar.day(), calendar.latest_s());
            taken.quota("day", of_day, quota, period, lasts_and_left_s)?;
        }
        if let Some(quota) = quotas.month {
            let lasts_and_left_s = |periods: Periods| (periods.month_s, periods.month_left_s);
            let period = (calendar.month(), calendar.latest_s());
            taken.quota("month", of_month, quota, period, lasts_and_left_s)?;
        }
        Ok(())
    }

    /// What a request costs the upstream, in thousandths of the mean request. If its path can be read in more than one way,
    /// the highest of these costs.
    fn cost_milli(&self, facts: &Facts) -> u32 {
        let Some(line) = self.line() else { return MEAN_MILLI };
        match facts.cut {
            None => line.cost_milli(facts.method, facts.path),
            Some(cut) => line.most_milli(facts.method, facts.path, cut),
        }
    }
}

const MINUTE_S: u32 = 60;
const HOUR_S: u32 = 3600;
const DAY_S: u32 = 86_400;

/// What is known of a request when it is refused.
struct Asked {
    key: u32,
    route: u32,
    /// What it costs the upstream; 0 while this is not computed yet.
    cost_milli: u32,
}

/// What was taken of limits, to be given back.
#[derive(Clone, Copy)]
enum Take<'a> {
    Rate(&'a Gcra, u64),
    AtOnce(&'a AtOnce),
    Quota(&'a Quota, u32),
}

impl Take<'_> {
    fn give_back(&self) {
        match self {
            Self::Rate(used, increment_ns) => used.give_back(*increment_ns, 0),
            Self::AtOnce(held) => held.give_back(1),
            Self::Quota(quota, period) => quota.give_back(*period),
        }
    }
}

/// What a request has taken so far.
#[derive(Default)]
struct Taken<'a> {
    takes: [Option<Take<'a>>; TAKES],
    count: usize,
}

impl<'a> Taken<'a> {
    /// Takes from a rate and from a limit on requests in flight. Returns whether the request counts in the latter.
    fn limits(
        &mut self,
        name: &'static str,
        limits: &Limits,
        used: &'a Gcra,
        in_flight: &'a AtOnce,
        now_ns: u64,
    ) -> Result<bool, Refusal> {
        if let Some(rate) = limits.rate {
            if let Err(wait_ns) = used.take(&rate, MEAN_MILLI, now_ns) {
                return Err(self.refuse_rate(name, &rate, wait_ns));
            }
            self.note(Take::Rate(used, rate.increment_ns(MEAN_MILLI)));
        }
        let Some(most) = limits.at_once else { return Ok(false) };
        if !in_flight.take(1, u64::from(most)) {
            let (quota, reset_s) = (u64::from(most), SOON_S);
            let limit = RateLimit { name, quota, window_s: None, remaining: 0, reset_s };
            let refusal = self.refuse(Problem::TooManyAtOnce);
            return Err(Refusal { retry_after_s: Some(reset_s), limit: Some(limit), ..refusal });
        }
        self.note(Take::AtOnce(in_flight));
        Ok(true)
    }

    fn quota(
        &mut self,
        name: &'static str,
        used: &'a Quota,
        quota: u64,
        (period, unix_s): (u32, i64),
        lasts_and_left_s: impl Fn(Periods) -> (u32, u32),
    ) -> Result<(), Refusal> {
        if used.take(quota, period).is_some() {
            self.note(Take::Quota(used, period));
            return Ok(());
        }
        let (lasts_s, left_s) = lasts_and_left_s(Periods::at(unix_s));
        let (window_s, reset_s) = (Some(lasts_s), left_s.max(1));
        let limit = RateLimit { name, quota, window_s, remaining: 0, reset_s };
        let refusal = self.refuse(Problem::QuotaUsedUp);
        Err(Refusal { retry_after_s: Some(reset_s), limit: Some(limit), ..refusal })
    }

    fn note(&mut self, take: Take<'a>) {
        self.takes[self.count] = Some(take);
        self.count += 1;
    }

    fn refuse_rate(&self, name: &'static str, rate: &Rate, wait_ns: u64) -> Refusal {
        let reset_s = seconds(wait_ns);
        let (quota, window_s) = window(rate.per_s);
        let window_s = Some(window_s);
        let limit = RateLimit { name, quota, window_s, remaining: 0, reset_s };
        let refusal = self.refuse(Problem::RateLimited);
        Refusal { retry_after_s: Some(reset_s), limit: Some(limit), ..refusal }
    }

    /// Gives everything back; a refused request costs nothing.
    fn refuse(&self, problem: Problem) -> Refusal {
        self.takes.iter().flatten().for_each(|take| take.give_back());
        Refusal::of(problem)
    }

    /// Refuses a request because of its key, or for lack of one. Only the limits of its address were checked before. It stays
    /// counted in the address's rate, so that guessing keys is limited by it.
    fn refuse_key(&self, problem: Problem) -> Refusal {
        let others = self.takes.iter().flatten().filter(|take| !matches!(take, Take::Rate(..)));
        others.for_each(|take| take.give_back());
        Refusal::of(problem)
    }
}

/// A rate as `RateLimit-Policy` says it, in requests and the seconds of a window: a second, or what holds one request; else the
/// minute or the hour in which it is a whole number. Never more than the rate lets through, but that it is at least one.
pub(super) fn window(per_s: f64) -> (u64, u32) {
    let own = if per_s >= 1.0 { 1 } else { (1.0 / per_s - ROUNDING).ceil() as u32 };
    let requests = |window_s: u32| per_s * f64::from(window_s);
    let is_whole = |window_s: &u32| {
        let requests = requests(*window_s);
        requests > 0.5 && (requests - requests.round()).abs() < ROUNDING
    };
    let window_s = [own, MINUTE_S, HOUR_S].into_iter().find(is_whole).unwrap_or(own);
    (((requests(window_s) + ROUNDING) as u64).max(1), window_s)
}

/// Whole seconds, at least one.
pub(super) fn seconds(nanos: u64) -> u32 {
    u32::try_from(nanos.div_ceil(SECOND_NS)).unwrap_or(u32::MAX).max(1)
}
