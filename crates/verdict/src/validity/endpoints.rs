//! Endpoints of a mix that serve nobody while the others do: of a small part of the load, totals do not show them.

use model::{EndpointRun, ErrorClass, ErrorCounts, Run};

use crate::figures::{counted, grouped};

/// Attempts that must have failed: of servers that fail half of all, one endpoint in a thousand fails so often by chance.
pub(super) const ENOUGH: u64 = 10;

/// The endpoint that never succeeded, with its commonest failure; where several did not, that of most attempts. Not where
/// most attempts of the others failed too: then the server is the matter, not an endpoint.
pub(super) fn dead(run: &Run) -> Option<String> {
    let (dead, others): (Vec<_>, Vec<_>) =
        run.endpoints.iter().partition(|endpoint| is_dead(run, endpoint));
    let all = |of: fn(&EndpointRun) -> u64| {
        others.iter().map(|endpoint| of(endpoint)).fold(0, u64::saturating_add)
    };
    let [attempts, succeeded] = [all(|one| one.attempts), all(|one| one.succeeded)];
    let most = dead.iter().max_by_key(|endpoint| endpoint.attempts)?;
    if succeeded == 0 || succeeded < attempts / 2 {
        return None;
    }
    let more = match dead.len() - 1 {
        0 => String::new(),
        n => format!("; the same holds for {}", counted(n as f64, "more endpoint")),
    };
    Some(format!(
        "{} never succeeded: of its {} {} failed, mostly by {}{more}",
        most.name,
        counted(most.attempts as f64, "attempt"),
        grouped(most.errors.total() as f64, 0),
        commonest(most)
    ))
}

fn is_dead(run: &Run, endpoint: &EndpointRun) -> bool {
    endpoint.succeeded == 0 && by_server(run, &endpoint.errors) >= ENOUGH
}

/// Failures that are the server's: not those of what ran out on this side, or of bodies that could not be checked here.
fn by_server(run: &Run, errors: &ErrorCounts) -> u64 {
    let counts = |class: &ErrorClass| match class {
        ErrorClass::Status => true,
        ErrorClass::Check => run.totals.unchecked.is_none(),
        _ => run.totals.limits.is_empty(),
    };
    let failures = errors.occurred().filter(|(class, _)| counts(class));
    failures.map(|(_, n)| n).fold(0, u64::saturating_add)
}

/// `status 500`, `timeout`.
fn commonest(endpoint: &EndpointRun) -> String {
    let class = endpoint.errors.occurred().max_by_key(|&(_, n)| n).map(|(class, _)| class);
    let status = endpoint.statuses.iter().max_by_key(|(_, n)| **n).map(|(status, _)| status);
    match (class, status) {
        (Some(ErrorClass::Status), Some(status)) => format!("status {status}"),
        (class, _) => class.map_or_else(String::new, |class| class.name().to_owned()),
    }
}
