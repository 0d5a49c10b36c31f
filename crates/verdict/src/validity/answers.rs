//! Rules about what was answered.

use model::units::show_duration;
use model::{ErrorClass, Run, Verdict};

use super::Finding;
use crate::figures::{grouped, rate, share};

/// Share of answers that fail above which QPS says too much of what is carried.
pub(super) const FAILING: f64 = 0.1;
/// Share of answers that fail above which the error path is all that was measured. Refusals by
/// an overloaded server seldom get there: it would have to shed nine of ten.
pub(super) const ONLY_FAILING: f64 = 0.9;
/// Connections closed per answer that count as refusing keep-alive.
pub(super) const REFUSING: f64 = 0.1;

pub(super) fn none(run: &Run) -> Option<Finding> {
    if run.totals.requests > 0 && run.rates.requests_per_s > 0.0 {
        return None;
    }
    let window = show_duration(run.totals.duration_ns);
    let attempts = grouped(run.totals.attempts as f64, 0);
    let mut evidence = format!("no answer came in {window}, of {attempts} attempts");
    let commonest = run.totals.errors.occurred().max_by_key(|&(_, count)| count);
    if let Some((class, count)) = commonest {
        evidence += &format!("; {} failed by {}", grouped(count as f64, 0), class.name());
        if let Some(sample) = run.totals.error_samples.get(class.name()) {
            evidence += &format!(" ({sample})");
        }
    }
    Some((Verdict::Invalid, evidence))
}

pub(super) fn failing(run: &Run) -> Option<Finding> {
    let errors = &run.totals.errors;
    let failed = errors.of(ErrorClass::Status) as f64 + errors.of(ErrorClass::Check) as f64;
    let answers = run.totals.requests as f64;
    if answers == 0.0 || failed <= FAILING * answers {
        return None;
    }
    let consequence =
        if failed > ONLY_FAILING * answers { Verdict::Invalid } else { Verdict::Valid };
    let failing = run.totals.statuses.iter().filter(|(status, _)| {
        // Of failing statuses the commonest is named; checks fail on good ones.
        !run.plan.success.contains(**status)
    });
    let named = failing
        .max_by_key(|(_, count)| **count)
        .map(|(status, count)| {
            format!(", {} of them with status {status}", grouped(*count as f64, 0))
        })
        .unwrap_or_default();
    let evidence = format!(
        "{} of {} answers ({}) were failures{named}: errors that look like capacity; {}/s were \
         carried",
        grouped(failed, 0),
        grouped(answers, 0),
        share(failed / answers),
        rate(run.rates.requests_per_s * (1.0 - failed / answers))
    );
    Some((consequence, evidence))
}

pub(super) fn keepalive_refused(run: &Run) -> Option<Finding> {
    let (closes, answers) = (run.totals.server_closes as f64, run.totals.requests as f64);
    if !run.plan.keepalive || answers == 0.0 || closes <= REFUSING * answers {
        return None;
    }
    let evidence = format!(
        "the server closed {} connections on {} answers, although keep-alive was asked; connecting \
         anew took {} on average",
        grouped(closes, 0),
        grouped(answers, 0),
        show_duration(run.connect_ns.mean.saturating_add(run.tls_ns.mean))
    );
    Some((Verdict::Valid, evidence))
}
