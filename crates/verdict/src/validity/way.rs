//! Rules about the path to the server: how many clients it sees.

use model::{Run, Verdict};

use super::Finding;
use crate::figures::{grouped, percent};

/// Share of responses that were 429 from which on a limit was met.
pub(super) const LIMITED: f64 = 0.01;
/// Share of an address's local ports past which connecting slows down: the kernel has to search.
pub(super) const PORTS: f64 = 0.5;
/// Local ports where the kernel's range is not known.
const USUAL_PORTS: f64 = 28_232.0;

pub(super) fn single_source(run: &Run) -> Option<Finding> {
    if run.plan.sources.len() > 1 {
        return None;
    }
    let ports = local_ports(run) * run.plan.addresses.len().max(1) as f64;
    // A Unix socket needs none.
    let needs_ports = !run.plan.addresses.iter().any(|address| address.starts_with("unix:"));
    let used =
        if run.plan.keepalive { run.concurrency.open_max.into() } else { run.totals.connects };
    let evidence = match (limited(run), needs_ports && used as f64 > PORTS * ports) {
        (Some(limited), _) => format!("{} of the responses were 429", percent(limited)),
        (None, true) => format!(
            "{} connections took more than half of the {} local ports there are per server address",
            grouped(used as f64, 0),
            grouped(ports, 0)
        ),
        (None, false) => return None,
    };
    Some((Verdict::Valid, format!("every connection came from one address, and {evidence}")))
}

pub(super) fn single_key(run: &Run) -> Option<Finding> {
    let masked = |text: &str| text.contains("***");
    let header = run.plan.headers.iter().find(|(_, value)| masked(value));
    let carried = match header {
        Some((name, _)) => format!("the same {name}"),
        None if masked(&run.plan.url) => "the same credential in its URL".to_owned(),
        None => return None,
    };
    let cost = limited(run)
        .map(|limited| format!("; {} of the responses were 429", percent(limited)))
        .unwrap_or_default();
    Some((Verdict::Valid, format!("every request carried {carried}{cost}")))
}

/// Share of responses that were 429, where a limit was met.
fn limited(run: &Run) -> Option<f64> {
    let refused = *run.totals.statuses.get(&429)? as f64;
    let share = refused / run.totals.requests.max(1) as f64;
    (share >= LIMITED).then_some(share.min(1.0))
}

/// Local ports per pair of addresses, from `ip_local_port_range`.
pub(crate) fn local_ports(run: &Run) -> f64 {
    let range = run.environment.sysctls.get("net.ipv4.ip_local_port_range");
    let mut ends = range.into_iter().flat_map(|text| text.split_whitespace());
    let mut end = || ends.next()?.parse::<f64>().ok();
    match (end(), end()) {
        (Some(low), Some(high)) if high > low => high - low + 1.0,
        _ => USUAL_PORTS,
    }
}
