//! Rules about users: who was served at all, and how evenly.

use model::units::{MILLISECOND, SECOND, show_duration};
use model::{Nanos, Run, Users, Verdict};

use super::Finding;
use crate::figures::{counted, grouped, percent, share};
use crate::gone::gone;

/// Shorter waits are ignored.
pub(super) const LONG_NS: Nanos = SECOND;
/// How many times the median service time of the others a user must have waited.
pub(super) const TIMES_MEDIAN: u64 = 10;
/// How many times what nine of ten responses took, for a user that was served before.
pub(super) const TIMES_P90: u64 = 10;
/// Users held up at once until the window's end: for at least so long, for this part of the window, and for this many
/// times what 99 of 100 responses took.
pub(super) const HELD: (Nanos, f64) = (SECOND, 0.1);
pub(super) const HELD_TIMES: u64 = 10;
/// Responses of the user in the middle from which on it is known what responses usually take.
const SERVED_OFTEN: u64 = 10;
/// The logarithm of the chance below which it is no coincidence that users began to wait together.
const IMPROBABLE: f64 = -12.0;
/// Attempts that fail one after the other before a user counts as left.
const FAILED_IN_A_ROW: i32 = 3;
/// Share of users from which on the figures are not those of the load.
pub(super) const MANY: f64 = 0.001;
/// Connections that never had a response: at least this number, and this share of those that were opened.
pub(super) const MUTE: (u64, f64) = (2, 0.05);
/// The chance below which it is no accident that so many had none.
const BY_ACCIDENT: f64 = 0.001;
/// Connections per attempt up to which they can be distinguished from attempts that fail.
const FEW_CONNECTIONS: f64 = 0.1;
/// How many times the responses of a user that a tenth are below those of one that a tenth are above
/// must be, for service to be uneven.
pub const UNEVEN: u64 = 3;
/// Users, and responses of the one in the middle, from which on unevenness is judged: of fewer of either one slow response
/// may make the difference.
pub const UNEVEN_FROM: u64 = 4;
const ENOUGH_EACH: u64 = 50;
/// Users from which on there is a tenth of them.
const TENTHS: u64 = 10;
/// How much longer than half of all responses the fastest one of a user takes, at least, that is served slowly.
pub(super) const SLOWER_NS: Nanos = MILLISECOND;

/// Share of what a pace asks for that may be missing.
pub(super) const BEHIND: f64 = 0.1;

/// Users of a closed loop whose responses take longer than their pace.
pub(super) fn behind_pace(run: &Run) -> Option<Finding> {
    let plan = &run.plan;
    let pace_ns = plan.pace_ns.filter(|&pace| pace > 0 && plan.rate_per_s.is_none())?;
    let users = f64::from(plan.connections);
    let meant = users * run.totals.duration_ns as f64 / pace_ns as f64;
    let missing = meant - run.totals.attempts as f64;
    let starts = plan.ramp_ns > plan.warmup_ns;
    if starts || missing < (BEHIND * meant).max(users) || run.service_ns.max < pace_ns {
        return None;
    }
    let evidence = format!(
        "{} with a request every {} would have sent {}, and sent {}: responses took up to {}",
        counted(users, "user"),
        show_duration(pace_ns),
        grouped(meant, 0),
        grouped(run.totals.attempts as f64, 0),
        show_duration(run.service_ns.max)
    );
    Some((Verdict::Valid, evidence))
}

pub(super) fn starved(run: &Run) -> Option<Finding> {
    let users = run.users.as_ref()?;
    let (unserved, left) = (unserved(run, users), left(run, users));
    if unserved == 0 && left == 0 {
        return held(run, users)
            .or_else(|| mute(run, users))
            .or_else(|| uneven(run, users))
            .or_else(|| slower(run, users));
    }
    let of = counted(users.wanting() as f64, "user");
    let mut parts = Vec::new();
    if unserved > 0 {
        let waited = shortest(&users.unserved_waits, unserved);
        parts.push(format!(
            "{} of {of} (connections) had no response at all in {} or more of waiting",
            grouped(unserved as f64, 0),
            show_duration(waited)
        ));
    }
    if left > 0 {
        let waited = shortest(&users.left_waits, left);
        parts.push(format!(
            "{} of {of} had responses at first, and none for the last {} or more",
            grouped(left as f64, 0),
            show_duration(waited)
        ));
    }
    let of_attempts = run.rates.attempts_success_ratio.or(run.rates.success_ratio);
    parts.push(format!(
        "the others had {} responses each (median); {} of the attempts succeeded, because a \
         waiting user makes few",
        grouped(users.median as f64, 0),
        of_attempts.map_or_else(|| "none".to_owned(), share)
    ));
    let part = (unserved.saturating_add(left)) as f64 / users.wanting().max(1) as f64;
    let consequence = if part >= MANY { Verdict::Invalid } else { Verdict::Valid };
    Some((consequence, parts.join("; ")))
}

/// Users that were served, and then all waited from about the same instant to the end of the window, far longer than
/// responses take: something held them up at once, whatever came after the window. Users whose requests are
/// slow one by one began to wait at different times.
fn held(run: &Run, users: &Users) -> Option<Finding> {
    let plan = &run.plan;
    let window_ns = run.totals.duration_ns;
    let alike = plan.rate_per_s.is_none() && plan.mix.endpoints.len() <= 1;
    if !alike || users.median < SERVED_OFTEN || users.end_waits.is_empty() || gone(run).is_some() {
        return None;
    }
    let service = run.histogram("service").ok().filter(|service| service.count() > 0)?;
    let waiting = users.end_waits.values().fold(0, |sum: u64, &n| sum.saturating_add(n));
    let others = service.count().saturating_sub(waiting);
    let usual_ns = at_rank(service.recorded(), (0.99 * others as f64).ceil() as u64);
    let long_ns = HELD.0.max((HELD.1 * window_ns as f64) as Nanos);
    let long_ns = long_ns.max(HELD_TIMES.saturating_mul(usual_ns));
    let waits: Vec<(Nanos, u64)> =
        users.end_waits.range(long_ns..).map(|(&w, &n)| (w, n)).collect();
    let all = waits.iter().map(|(_, n)| n).fold(0, |sum: u64, &n| sum.saturating_add(n));
    // A user of a think time or a pace may have been about to send.
    let paused = plan.think_ns.unwrap_or(0).max(plan.pace_ns.unwrap_or(0));
    let span_ns = usual_ns.saturating_mul(2).saturating_add(paused);
    let within = |from: Nanos| span_ns.saturating_add(from / 50);
    let together = |&(from, _): &(Nanos, u64)| {
        let near = users.end_waits.range(from..=from.saturating_add(within(from)));
        (near.map(|(_, &n)| n).fold(0, u64::saturating_add), from)
    };
    let (count, waited) = waits.iter().map(together).max()?;
    let part = within(waited) as f64 / window_ns.saturating_sub(long_ns).max(1) as f64;
    let usually = service.recorded().filter(|&(value, _)| value >= long_ns);
    let usually = usually.map(|(_, n)| n).fold(0, u64::saturating_add).saturating_sub(all);
    let found = count < users.wanting()
        && usually < count
        && count as f64 >= MANY * users.wanting() as f64
        && coincidence(count, all, part) < IMPROBABLE;
    let at = show_duration(window_ns.saturating_sub(waited));
    found.then(|| {
        let evidence = format!(
            "{} of {} users (connections) were served until {at} into the window and then had no response for {} \
             or more, to its end; 99 % of the other responses took {} or less; what a waiting user does not send is in no figure",
            grouped(count as f64, 0),
            grouped(users.wanting() as f64, 0),
            show_duration(waited),
            show_duration(usual_ns)
        );
        (Verdict::Invalid, evidence)
    })
}

/// The natural logarithm of an upper bound for the chance that `count` of `all` instants lie within the same `part` of
/// the time, if each is anywhere.
fn coincidence(count: u64, all: u64, part: f64) -> f64 {
    if count == 0 || part >= 1.0 {
        return 0.0;
    }
    // The first of them is any; of the others so many are chosen.
    let (others, chosen) = (all.saturating_sub(1), count - 1);
    let ways: f64 = (0..chosen.min(others.saturating_sub(chosen)))
        .map(|i| ((others - i) as f64 / (i + 1) as f64).ln())
        .sum();
    (all as f64).ln() + ways + chosen as f64 * part.ln()
}

/// The value at a rank, from 1 on, of counted values in order.
fn at_rank(values: impl Iterator<Item = (Nanos, u64)>, rank: u64) -> Nanos {
    let mut seen: u64 = 0;
    let mut reached = values.skip_while(|&(_, n)| {
        seen = seen.saturating_add(n);
        seen < rank
    });
    reached.next().map_or(0, |(value, _)| value)
}

/// Users without any response, where that is more than failing attempts explain.
fn unserved(run: &Run, users: &Users) -> u64 {
    let long_ns = LONG_NS.max(TIMES_MEDIAN.saturating_mul(run.service_ns.p50));
    let long = users.unserved_waits.range(long_ns..).map(|(_, &n)| n).fold(0, u64::saturating_add);
    let chance = by_chance(run, users);
    if users.served > 0 && long as f64 > chance + 10.0 * chance.sqrt() { long } else { 0 }
}

/// How many users would have had no response if all attempts failed as often as those of the others.
fn by_chance(run: &Run, users: &Users) -> f64 {
    let totals = &run.totals;
    let unanswered = totals.attempts.saturating_sub(totals.requests);
    let failed = unanswered.saturating_sub(users.unserved_tries) as f64;
    let attempts = totals.attempts.saturating_sub(users.unserved_tries).max(1) as f64;
    let tries = users.unserved_tries as f64 / users.unserved.max(1) as f64;
    users.wanting() as f64 * (failed / attempts).min(1.0).powf(tries.max(1.0))
}

/// Connections that were accepted and never had a response, whose users were served on others. Not where
/// connections are many for the attempts: then each failure is one; nor where there is no server.
fn mute(run: &Run, users: &Users) -> Option<Finding> {
    let (totals, mute) = (&run.totals, users.mute);
    let (attempts, opened) = (totals.attempts as f64, totals.connects as f64);
    // Those whose requests were sent in the warm-up are among no attempts.
    let failed = (attempts - totals.requests as f64 - mute as f64).max(0.0);
    let expected = opened * (failed / (attempts - mute as f64).max(1.0)).clamp(0.0, 1.0);
    let found = mute >= MUTE.0
        && mute as f64 >= MUTE.1 * opened
        && opened <= FEW_CONNECTIONS * attempts
        && run.plan.timeout_ns >= TIMES_P90.saturating_mul(run.service_ns.p90)
        && at_least(mute, expected) < BY_ACCIDENT.ln();
    if !found || gone(run).is_some() {
        return None;
    }
    let evidence = format!(
        "{} of {} connections were opened and sent requests, but never had a response; their users were served \
         on other connections; {} of the attempts succeeded, because a waiting user makes few",
        grouped(mute as f64, 0),
        grouped(opened, 0),
        share(totals.succeeded as f64 / attempts.max(1.0))
    );
    Some((Verdict::Invalid, evidence))
}

/// The natural logarithm of the chance of so many events or more, of which so many are expected (Poisson), nearly.
fn at_least(events: u64, expected: f64) -> f64 {
    let events = events as f64;
    if events <= expected {
        return 0.0;
    }
    if expected <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // That of just so many, by Stirling's formula: more are far less probable.
    let bound = events - expected + events * (expected / events).ln();
    (bound - 0.5 * (std::f64::consts::TAU * events).ln()).min(0.0)
}

/// Users that were left without a response at the end; not where all were and the server is gone, or this machine had nothing left
/// for them. A server that sends bytes is there, and may send them one by one.
fn left(run: &Run, users: &Users) -> u64 {
    let long_ns = LONG_NS.max(TIMES_P90.saturating_mul(run.service_ns.p90));
    let long = users.left_waits.range(long_ns..).map(|(_, &n)| n).fold(0, u64::saturating_add);
    let chance = users.wanting() as f64 * unanswered_share(run).powi(FAILED_IN_A_ROW);
    let beyond_chance = long as f64 > chance + 10.0 * chance.sqrt();
    // A server that served nobody to the end left all of them, whatever each had waited for when it last tried.
    let served_none = gone(run).is_some_and(|gone| gone.at_end);
    let all = long >= users.served;
    let is_reported = served_none || all && (gone(run).is_some() || !run.totals.limits.is_empty());
    if beyond_chance && !is_reported { long } else { 0 }
}

/// Whether all users that had been served were left at the end, and at no time only some of them had nothing.
pub(super) fn all_left(run: &Run) -> bool {
    let Some(users) = &run.users else { return false };
    users.served > 0 && unserved(run, users) == 0 && left(run, users) >= users.served
}

fn unanswered_share(run: &Run) -> f64 {
    let totals = &run.totals;
    let unanswered = totals.attempts.saturating_sub(totals.requests) as f64;
    unanswered / totals.attempts.max(1) as f64
}

/// The shortest wait among the longest `n`.
fn shortest(waits: &std::collections::BTreeMap<Nanos, u64>, n: u64) -> Nanos {
    let mut seen: u64 = 0;
    let reached = waits.iter().rev().find(|&(_, &users)| {
        seen = seen.saturating_add(users);
        seen >= n
    });
    reached.map_or(0, |(&waited, _)| waited)
}

/// A closed loop in which everybody asks for the same in the same way, and some get far more.
fn uneven(run: &Run, users: &Users) -> Option<Finding> {
    let plan = &run.plan;
    let alike = plan.rate_per_s.is_none()
        && plan.ramp_ns == 0
        && plan.mix.endpoints.len() <= 1
        && plan.stages.is_empty()
        && plan.requests.is_none();
    let enough = users.served >= UNEVEN_FROM && users.median >= ENOUGH_EACH;
    if !alike || !enough || users.p90 < UNEVEN.saturating_mul(users.p10) {
        return None;
    }
    if users.served < TENTHS {
        let evidence = format!(
            "users (connections) were served unevenly: one had {} responses, another one {}, and the one in the middle {}",
            grouped(users.least as f64, 0),
            grouped(users.most as f64, 0),
            grouped(users.median as f64, 0)
        );
        return Some((Verdict::Valid, evidence));
    }
    let evidence = format!(
        "users (connections) were served unevenly: a tenth had {} responses or fewer, another tenth {} \
         or more, which is {} of all responses",
        grouped(users.p10 as f64, 0),
        grouped(users.p90 as f64, 0),
        percent(users.best_tenth_share.unwrap_or(0.0))
    );
    Some((Verdict::Valid, evidence))
}

/// Users of a closed loop of whom each asks for the same mix, and some never had a response that was nearly as fast as half
/// of all: of fifteen or more, by chance none of ten thousand. A flow may have many slow steps in a row.
fn slower(run: &Run, users: &Users) -> Option<Finding> {
    let plan = &run.plan;
    let alike = plan.rate_per_s.is_none()
        && plan.ramp_ns == 0
        && plan.stages.is_empty()
        && plan.mix.flows.is_empty()
        && plan.mix.endpoints.iter().all(|endpoint| endpoint.connections.is_none());
    let usual_ns = run.service_ns.p50;
    let slow_ns = usual_ns.saturating_mul(UNEVEN).max(usual_ns.saturating_add(SLOWER_NS));
    let all = users.fastest.values().copied().fold(0, u64::saturating_add);
    let slow = users.fastest.range(slow_ns..).map(|(_, &n)| n).fold(0, u64::saturating_add);
    if !alike || all < UNEVEN_FROM || slow == 0 || slow.saturating_mul(TENTHS) < all {
        return None;
    }
    let evidence = format!(
        "users (connections) were served unevenly: {} of {} never had a response in less than {}, and half of all \
         responses took {} or less, as where one of the instances behind an address is slow",
        grouped(slow as f64, 0),
        grouped(all as f64, 0),
        show_duration(shortest(&users.fastest, slow)),
        show_duration(usual_ns)
    );
    Some((Verdict::Valid, evidence))
}
