//! The rule about attempts that fail: responses with a bad status or that fail a check, and attempts without a response.

use model::slices::Slice;
use model::timeline::Point;
use model::units::{SECOND, show_duration};
use model::{Block, ErrorClass, Nanos, Presence, Run, Verdict};

use super::responses::shown;
use super::steady::inside;
use super::{Finding, endpoints};
use crate::chance::beyond_chance;
use crate::figures::{grouped, rate, share};
use crate::gone::gone;
use crate::refused::{failed_alike, is_limited, remedy};

/// Share of responses that fail above which QPS says too much of what is carried.
pub(crate) const FAILING: f64 = 0.1;
/// Share of responses that fail above which the error path is all that was measured. Refusals by
/// an overloaded server seldom get there: it would have to shed nine of ten.
pub(super) const ONLY_FAILING: f64 = 0.9;
/// Share of the attempts without a response, time-outs among them, from which on they are named.
pub(super) const HALF_FAILING: f64 = 0.5;
/// Attempts from which on a part of the window says how many fail.
const ENOUGH: u64 = 20;
/// Parts of the window before failures begin, the one included in which they do.
const FEWEST_UNTIL: usize = 3;
/// Failures without a response, for each with one, up to which slices say when responses failed.
const OTHERS: f64 = 0.1;
/// The deviation of successes from one part of the window to the next, over their mean, up to which they hold.
const HOLDS: f64 = 0.15;
/// Times the response time of the window's beginning from which on a server is overloaded.
const SLOWER: f64 = 1.5;

pub(super) fn failing(run: &Run) -> Option<Finding> {
    let dead = endpoints::dead(run).map(|dead| (Verdict::Invalid, dead));
    let found = [failing_responses(run), unanswered(run), dead];
    let (consequences, texts): (Vec<_>, Vec<_>) = found.into_iter().flatten().unzip();
    let worst = consequences.into_iter().max()?;
    // Neither kind of failure may be nearly all, and both together may be.
    let failed = run.totals.errors.total() as f64;
    let nearly_all =
        run.totals.limits.is_empty() && failed > ONLY_FAILING * run.totals.attempts as f64;
    let consequence = if nearly_all { Verdict::Invalid } else { worst };
    Some((consequence, texts.join("; ")))
}

/// Responses that failed by status or check.
fn failing_responses(run: &Run) -> Option<Finding> {
    let errors = &run.totals.errors;
    let failed = errors.of(ErrorClass::Status) as f64 + errors.of(ErrorClass::Check) as f64;
    let responses = run.totals.requests as f64;
    // Users who wait for failures make few attempts.
    let (few, of_time) = (failed <= FAILING * responses, time_failing(run));
    if responses == 0.0 || few && (of_time <= FAILING || gone(run).is_some()) {
        return None;
    }
    if let Some(evidence) = failed_alike(run) {
        return Some((Verdict::Invalid, evidence));
    }
    let began = failures_began(run, few);
    let consequence = match began.is_some() || failed > ONLY_FAILING * responses {
        true => Verdict::Invalid,
        false => Verdict::Valid,
    };
    let failing = run.totals.statuses.iter().filter(|(status, _)| {
        // Of failing statuses the commonest is named; checks fail on good ones.
        !run.plan.success.contains(**status)
    });
    let commonest =
        failing.max_by_key(|(_, count)| **count).map(|(&status, &count)| (status, count));
    let named = commonest.map_or_else(String::new, |(status, count)| match count as f64 {
        all if all == failed => format!(", all with status {status}"),
        some => format!(", {} of them with status {status}", grouped(some, 0)),
    });
    let advice =
        commonest.and_then(|(status, _)| Some(format!("; for {status}, {}", remedy(status)?)));
    let advice = advice.unwrap_or_default();
    let (took, of, like) = match few {
        true => (format!(", and took {} of the users' time", share(of_time)), "it", ""),
        false => (String::new(), "them", ": errors that look like capacity"),
    };
    let since = began.map_or_else(String::new, |began| {
        let at = show_duration(began.at_ns.saturating_sub(run.plan.warmup_ns));
        let [before, since] = [began.before, began.since].map(share);
        // Something broke, or it is what a limit on the rate does once its burst is used up.
        let held = began.held_per_s.filter(|_| commonest.is_some_and(|(status, _)| status == 503));
        let held = held.map_or_else(String::new, |per_s| {
            let per_s = rate(per_s);
            format!("; successes hold at {per_s}/s since, as under a limit on the rate, or where some of several instances fail")
        });
        format!(", {before} of {of} until {at} into the window and {since} since, to the end{held}")
    });
    let evidence = format!(
        "{} of {} responses ({}) were failures{named}{took}{since}{like}; {}/s were carried{advice}",
        grouped(failed, 0),
        grouped(responses, 0),
        share(failed / responses),
        rate(run.rates.requests_per_s * (1.0 - failed / responses))
    );
    Some((consequence, evidence))
}

/// A part of the users' time as a share of it; 0 in an open loop, where no such time is kept.
fn share_of_time(run: &Run, part: fn(&Presence) -> Nanos) -> f64 {
    let presence = run.presence.as_ref().filter(|presence| presence.user_ns > 0);
    presence.map_or(0.0, |presence| part(presence) as f64 / presence.user_ns as f64)
}

/// The share of the users' time that responses took which failed.
fn time_failing(run: &Run) -> f64 {
    share_of_time(run, |presence| presence.failing_ns)
}

/// The share of the users' time from the beginning of an attempt without a response to that of the next with one.
fn time_down(run: &Run) -> f64 {
    share_of_time(run, |presence| presence.down_ns)
}

/// Whether few attempts failed, and users waited long for these.
pub(super) fn failures_are_slow(run: &Run) -> bool {
    let few = run.totals.errors.total() as f64 <= FAILING * run.totals.attempts as f64;
    few && (time_failing(run) > FAILING || time_down(run) >= HALF_FAILING)
}

/// Whether it is by checks, and not by their statuses, that too many responses failed.
pub(super) fn failed_by_checks(run: &Run) -> bool {
    let failed = |class| run.totals.errors.of(class);
    let checks = failed(ErrorClass::Check) as f64;
    failed(ErrorClass::Status) == 0 && checks > FAILING * run.totals.requests as f64
}

/// Attempts that failed without a response, of a server that is there: each costs its user hardly any time, so that the
/// time without a server does not show them. Time-outs cost time, and are how an overloaded server fails; few of them may
/// take most of the users' time.
fn unanswered(run: &Run) -> Option<Finding> {
    let (totals, attempts) = (&run.totals, run.totals.attempts as f64);
    let answered = |class: ErrorClass| matches!(class, ErrorClass::Status | ErrorClass::Check);
    let classes: Vec<_> = totals.errors.occurred().filter(|(class, _)| !answered(*class)).collect();
    let failed = classes.iter().map(|(_, n)| *n as f64).sum::<f64>();
    let in_no_time = failed - totals.errors.of(ErrorClass::Timeout) as f64;
    let much = in_no_time > FAILING * attempts || failed >= HALF_FAILING * attempts;
    let long = !much && time_down(run) >= HALF_FAILING;
    // What ran out on this side says nothing about the server.
    if !(much || long) || totals.requests == 0 || !totals.limits.is_empty() || gone(run).is_some() {
        return None;
    }
    let (class, most) = classes.into_iter().max_by_key(|&(_, n)| n)?;
    let sample = totals.error_samples.get(class.name());
    let took = match long {
        true => format!(", and took {} of the users' time", share(time_down(run))),
        false => String::new(),
    };
    let evidence = format!(
        "{} of {} attempts ({}) failed without a response, {} of them by {}{}{took}; {}/s were answered",
        grouped(failed, 0),
        grouped(attempts, 0),
        share(failed / attempts.max(1.0)),
        grouped(most as f64, 0),
        class.name(),
        sample.map_or_else(String::new, |sample| format!(" ({})", shown(sample))),
        rate(run.rates.requests_per_s)
    );
    let consequence =
        if failed > ONLY_FAILING * attempts { Verdict::Invalid } else { Verdict::Valid };
    Some((consequence, evidence))
}

/// From when on responses failed far more often, for good.
struct Began {
    at_ns: Nanos,
    /// Shares of the attempts, or of the users' time, until then and since.
    before: f64,
    since: f64,
    /// How many succeeded a second since, where that was the same all the time.
    held_per_s: Option<f64>,
}

/// That responses began to fail in the middle, and went on: something broke. Not where they had become slower
/// before it, as of a server that is overloaded and sheds, nor where a limit on the rate was reached (429) or the load
/// itself changed. Of failures that are few and slow the share is that of the users' time.
fn failures_began(run: &Run, few: bool) -> Option<Began> {
    let varied = !run.plan.stages.is_empty() || run.plan.recorded.is_some();
    if varied || is_limited(run) {
        return None;
    }
    let failures = Failures::of(run, few);
    failures.began_in(&of_blocks(run)).or_else(|| failures.began_in(&of_slices(run)))
}

/// A part of the window.
struct Part {
    start_ns: Nanos,
    duration_ns: Nanos,
    attempts: u64,
    /// Responses that failed.
    failed: u64,
    response_ns: Nanos,
}

fn of_blocks(run: &Run) -> Vec<Part> {
    let part = |block: &Block| Part {
        start_ns: block.start_ns,
        duration_ns: block.duration_ns,
        attempts: block.attempts,
        failed: block.errors.status.saturating_add(block.errors.check),
        response_ns: block.response_mean_ns,
    };
    let blocks = run.blocks.iter().filter(|block| block.start_ns >= run.plan.ramp_ns);
    blocks.map(part).filter(|part| part.attempts >= ENOUGH).collect()
}

/// The slices of a short window, which has few blocks or none that is long enough. They count all failures together, so that nearly
/// all must be responses.
fn of_slices(run: &Run) -> Vec<Part> {
    let totals = &run.totals;
    let failed = totals.errors.status.saturating_add(totals.errors.check);
    let others = totals.attempts.saturating_sub(totals.succeeded).saturating_sub(failed);
    if others as f64 > OTHERS * failed as f64 {
        return Vec::new();
    }
    let part = |slice: &Slice| {
        let counts = slice.response_counts.iter();
        let attempts = counts.clone().map(|&(_, n)| n).fold(0, u64::saturating_add);
        // As of blocks the mean, which grows also where only some of the requests queue.
        let sum_ns: f64 = counts.map(|&(longest_ns, n)| longest_ns as f64 * n as f64).sum();
        Part {
            start_ns: slice.start_ns,
            duration_ns: slice.duration_ns,
            attempts,
            failed: slice.failed,
            response_ns: (sum_ns / attempts.max(1) as f64) as Nanos,
        }
    };
    inside(run).into_iter().map(part).filter(|part| part.attempts >= ENOUGH).collect()
}

/// What responses that fail are a share of, and how long they take.
struct Failures {
    /// As many as fill all of the users' time, in a nanosecond of the window: where they are few and slow. Each counts as if it took
    /// the mean of them all.
    filling: Option<f64>,
    /// The mean time of one; 0 in an open loop, where it is not kept.
    each_ns: f64,
    /// Some came after the window, to requests that were sent in it.
    in_drain: bool,
}

impl Failures {
    fn of(run: &Run, few: bool) -> Self {
        let errors = &run.totals.errors;
        let failed = errors.status.saturating_add(errors.check) as f64;
        let filled_ns = time_failing(run) * run.totals.duration_ns as f64;
        let failing_ns = run.presence.as_ref().map_or(0, |presence| presence.failing_ns);
        let in_drain = |point: &Point| point.phase == "drain" && point.failed > 0;
        Self {
            filling: few.then_some(failed / filled_ns.max(1.0)),
            each_ns: failing_ns as f64 / failed.max(1.0),
            in_drain: run.timeline.iter().any(in_drain),
        }
    }

    /// Of all of them, when they began and stayed, at the clearest instant.
    fn began_in(&self, parts: &[Part]) -> Option<Began> {
        let began = (FEWEST_UNTIL..parts.len()).filter_map(|at| self.began_at(parts, at));
        began.max_by(|a, b| (a.since - a.before).total_cmp(&(b.since - b.before)))
    }

    fn began_at(&self, parts: &[Part], at: usize) -> Option<Began> {
        let (until, since) = parts.split_at(at);
        // Where it began inside of a part, that part is of neither.
        let steady = &until[..at - 1];
        let (before, after) = (self.share_of(steady), self.share_of(since));
        let [first, last] = [steady[0].response_ns, steady[at - 2].response_ns];
        let slower = last as f64 > SLOWER * first as f64;
        let rare = steady.iter().all(|part| self.share_of_one(part) <= after / 2.0);
        let many = self.filling.is_none() || failed(since) >= ENOUGH as f64;
        // Where few attempts are made, the shares of parts differ by chance.
        let rises = after > before
            && beyond_chance([before, after], [self.all(steady), self.all(since)], FAILING);
        let begins = rises && self.stay(since, after) && rare && many && !slower;
        let inside = self.share_of_one(&until[at - 1]) > before + FAILING / 2.0;
        let first = if inside { &until[at - 1] } else { &since[0] };
        let held_per_s = held(since).filter(|_| self.filling.is_none());
        begins.then_some(Began { at_ns: first.start_ns, before, since: after, held_per_s })
    }

    /// Whether they came to the end. Users that begin together fail together, with nothing between for as long as that takes.
    fn stay(&self, since: &[Part], after: f64) -> bool {
        let length_ns = since.iter().map(|part| part.duration_ns).max().unwrap_or(0).max(1);
        let parts = self.each_ns / length_ns as f64;
        // Those under way at the window's end lower the mean.
        let most = if parts < 1.0 { 0 } else { parts.ceil() as usize };
        let comes = |part: &Part| self.share_of_one(part) >= after / 2.0;
        let ends_quiet = since.last().is_some_and(|last| !comes(last));
        since.split(comes).all(|quiet| quiet.len() <= most) && (self.in_drain || !ends_quiet)
    }

    fn share_of_one(&self, part: &Part) -> f64 {
        self.share_of(std::slice::from_ref(part))
    }

    fn share_of(&self, parts: &[Part]) -> f64 {
        // Some took longer than the mean, or began before these parts.
        (failed(parts) / self.all(parts).max(1.0)).min(1.0)
    }

    /// What the share is of: attempts, or the failures that fill the time.
    fn all(&self, parts: &[Part]) -> f64 {
        match self.filling {
            Some(filling) => filling * sum(parts, |part| part.duration_ns),
            None => sum(parts, |part| part.attempts),
        }
    }
}

/// How many attempts succeeded a second in each of several parts, if as many did in all of them.
fn held(parts: &[Part]) -> Option<f64> {
    let per_s = |part: &Part| {
        let succeeded = part.attempts.saturating_sub(part.failed) as f64;
        succeeded * SECOND as f64 / part.duration_ns.max(1) as f64
    };
    let mean = parts.iter().map(per_s).sum::<f64>() / parts.len() as f64;
    let squares: f64 = parts.iter().map(|part| (per_s(part) - mean).powi(2)).sum();
    let deviation = (squares / parts.len() as f64).sqrt();
    (parts.len() >= FEWEST_UNTIL && mean > 0.0 && deviation <= HOLDS * mean).then_some(mean)
}

fn failed(parts: &[Part]) -> f64 {
    sum(parts, |part| part.failed)
}

fn sum(parts: &[Part], of: fn(&Part) -> u64) -> f64 {
    parts.iter().map(of).fold(0, u64::saturating_add) as f64
}
