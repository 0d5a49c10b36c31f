//! Rules about users: who was served at all, and how evenly.

use model::units::{SECOND, show_duration};
use model::{Nanos, Run, Users, Verdict};

use super::Finding;
use crate::figures::{grouped, percent, share};
use crate::gone::gone;

/// Shorter waits are ignored.
pub(super) const LONG_NS: Nanos = SECOND;
/// How many times the median service time of the others a user must have waited.
pub(super) const TIMES_MEDIAN: u64 = 10;
/// How many times what nine of ten responses took, for a user that was served before.
pub(super) const TIMES_P90: u64 = 10;
/// Attempts that fail one after the other before a user counts as left.
const FAILED_IN_A_ROW: i32 = 3;
/// Share of users from which on the figures are not those of the load.
pub(super) const MANY: f64 = 0.001;
/// Connections that never had a response: at least this number, and this share of those that were opened.
pub(super) const MUTE: (u64, f64) = (2, 0.05);
/// Connections per attempt up to which they can be distinguished from attempts that fail.
const FEW_CONNECTIONS: f64 = 0.1;
/// How many times the responses of a user that a tenth are below those of one that a tenth are above
/// must be, for service to be uneven.
pub const UNEVEN: u64 = 3;
/// Users, and responses of the one in the middle, from which on unevenness is judged.
const ENOUGH: (u64, u64) = (10, 50);

pub(super) fn starved(run: &Run) -> Option<Finding> {
    let users = run.users.as_ref()?;
    let (unserved, left) = (unserved(run, users), left(run, users));
    if unserved == 0 && left == 0 {
        return mute(run, users).or_else(|| uneven(run, users));
    }
    let of = grouped(users.wanting() as f64, 0);
    let mut parts = Vec::new();
    if unserved > 0 {
        let waited = shortest(&users.unserved_waits, unserved);
        parts.push(format!(
            "{} of {of} users (connections) had no response at all, though they waited for {} or more",
            grouped(unserved as f64, 0),
            show_duration(waited)
        ));
    }
    if left > 0 {
        let waited = shortest(&users.left_waits, left);
        parts.push(format!(
            "{} of {of} users were served at first and then had no response for the last {} or more",
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
    let failed = attempts - totals.requests as f64 - mute as f64;
    let chance = opened * (failed / (attempts - mute as f64).max(1.0)).clamp(0.0, 1.0);
    let found = mute >= MUTE.0
        && mute as f64 >= MUTE.1 * opened
        && opened <= FEW_CONNECTIONS * attempts
        && run.plan.timeout_ns >= TIMES_P90.saturating_mul(run.service_ns.p90)
        && mute as f64 > chance + 10.0 * chance.sqrt();
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

/// Users that were left without a response at the end; not where all were: then the server is gone.
fn left(run: &Run, users: &Users) -> u64 {
    let long_ns = LONG_NS.max(TIMES_P90.saturating_mul(run.service_ns.p90));
    let long = users.left_waits.range(long_ns..).map(|(_, &n)| n).fold(0, u64::saturating_add);
    let chance = users.wanting() as f64 * unanswered_share(run).powi(FAILED_IN_A_ROW);
    let beyond_chance = long as f64 > chance + 10.0 * chance.sqrt();
    if beyond_chance && long < users.served { long } else { 0 }
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
    let enough = users.served >= ENOUGH.0 && users.median >= ENOUGH.1;
    if !alike || !enough || users.p90 < UNEVEN.saturating_mul(users.p10) {
        return None;
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
