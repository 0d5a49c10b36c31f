//! An API that responds with failures only: which status they had, in a run and in a sweep.

use std::collections::BTreeMap;

use model::{Run, Sweep};

use crate::figures::grouped;

/// Share of the responses of every level that must have failed by their status.
const NEARLY_ALL: f64 = 0.9;

/// What a sweep's responses were where nearly all of them failed by their status, at every level: a
/// sentence without its full stop.
pub fn refused(sweep: &Sweep) -> Option<String> {
    let runs = || sweep.levels.iter().map(|held| &held.run);
    if runs().next().is_none() || !runs().all(nearly_all_failed) {
        return None;
    }
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for (status, n) in runs().flat_map(failing) {
        let sum = statuses.entry(status).or_default();
        *sum = sum.saturating_add(n);
    }
    let (status, n) = statuses.into_iter().max_by_key(|&(_, n)| n)?;
    let responses = runs().map(|run| run.totals.requests).fold(0, u64::saturating_add);
    let what = remedy(status).unwrap_or("check the URL");
    Some(format!(
        "{} of {} responses had status {status}, at every level: {what}, or accept them with --success",
        grouped(n as f64, 0),
        grouped(responses as f64, 0)
    ))
}

/// That all responses of a run had one status and failed by it, with what to do: a sentence without its full stop.
pub(crate) fn failed_alike(run: &Run) -> Option<String> {
    let responses = run.totals.requests;
    let mut statuses = run.totals.statuses.keys();
    let status = statuses.next().filter(|_| statuses.next().is_none())?;
    if run.totals.errors.status != responses {
        return None;
    }
    let all = match responses {
        1 => "the response".to_owned(),
        _ => format!("all {} responses", grouped(responses as f64, 0)),
    };
    let advice = remedy(*status).map_or_else(String::new, |advice| format!(": {advice}"));
    Some(format!("{all} had status {status}{advice}"))
}

/// Whether most responses that failed by their status say that a limit on the rate was reached (429).
pub(crate) fn is_limited(run: &Run) -> bool {
    let limited = run.totals.statuses.get(&429).copied().unwrap_or(0);
    limited.saturating_mul(2) > run.totals.errors.status
}

/// What to do about the requests of a run where most responses that failed by their status had one that blames the
/// request (4xx, but for those that say "later"): a sentence.
pub(crate) fn request_at_fault(run: &Run) -> Option<String> {
    let (status, n) = failing(run).max_by_key(|&(_, n)| n)?;
    let blames = matches!(status, 400..=499) && !matches!(status, 408 | 425 | 429);
    if !blames || n.saturating_mul(2) <= run.totals.errors.status {
        return None;
    }
    let what = remedy(status).unwrap_or("check the request");
    Some(format!("Make the requests succeed first: for status {status}, {what}."))
}

/// What to do about responses of this status, where the status says it.
pub(crate) fn remedy(status: u16) -> Option<&'static str> {
    Some(match status {
        400 | 422 => "check the request: its path, fields and body",
        401 => "give credentials (-H 'Authorization: ...', or -u)",
        403 => "check what the credentials allow, and whom the server lets in",
        404 | 410 => "check the URL",
        405 => "give the method that the path takes (-m)",
        415 => "name the body's type (--json, or -H 'Content-Type: ...')",
        429 => "raise the server's limit on the rate, or lower the load",
        500..=599 => "look at the server's log",
        _ => return None,
    })
}

/// Statuses that do not count as success. Endpoints may set other ranges, which is why failures
/// are counted by class first.
fn failing(run: &Run) -> impl Iterator<Item = (u16, u64)> {
    let failing =
        run.totals.statuses.iter().filter(|(status, _)| !run.plan.success.contains(**status));
    failing.map(|(&status, &n)| (status, n))
}

fn nearly_all_failed(run: &Run) -> bool {
    let (failed, responses) = (run.totals.errors.status as f64, run.totals.requests as f64);
    responses > 0.0 && failed >= NEARLY_ALL * responses
}

#[cfg(test)]
mod tests {
    use model::ErrorClass;
    use model::sweep::Level;

    use super::*;
    use fixture::sound::closed;

    fn sweep(statuses: &[&[(u16, u64)]]) -> Sweep {
        let level = |(n, statuses): (u32, &&[(u16, u64)])| {
            let mut run = closed();
            run.totals.statuses = statuses.iter().copied().collect();
            run.totals.requests = statuses.iter().map(|(_, n)| n).sum();
            let failed = statuses.iter().filter(|(status, _)| *status >= 400);
            run.totals.errors.add(ErrorClass::Status, failed.map(|(_, n)| n).sum());
            Level { level: f64::from(n), run }
        };
        fixture::sound::sweep((1..).zip(statuses).map(level).collect())
    }

    #[test]
    fn the_status_is_named_where_every_level_failed_by_it() {
        let sentence = refused(&sweep(&[&[(404, 900), (503, 100)], &[(404, 2000)]])).unwrap();
        assert!(sentence.starts_with("2,900 of 3,000 responses had status 404"), "{sentence}");
        let sentence = refused(&sweep(&[&[(401, 900)]])).unwrap();
        assert!(
            sentence.contains("give credentials (-H 'Authorization: ...', or -u)"),
            "{sentence}"
        );
        let sentence = refused(&sweep(&[&[(405, 900)]])).unwrap();
        assert!(sentence.contains("the method that the path takes (-m), or accept"), "{sentence}");
        for served in [&[&[(200, 500), (404, 500)][..], &[(404, 2000)]][..], &[]] {
            assert_eq!(refused(&sweep(served)), None);
        }
    }
}
