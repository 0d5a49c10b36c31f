//! The rule about latencies that are partly the generator's: responses that waited until it read them, and arrivals that
//! waited until it made their requests.

use model::units::{MICROSECOND, show_duration};
use model::{Run, Summary, Verdict};

use super::Finding;
use super::window::tail;
use crate::offered::at_cap;

/// Waiting that never matters, in nanoseconds: about what an idle thread takes to wake up and look, which
/// cannot be distinguished from the server's time.
pub(super) const UNSEEN_NS: u64 = 20 * MICROSECOND;
/// Share of a latency that may be the generator's.
pub(super) const OBSERVED_LATE: f64 = 0.1;
/// Share from which on the latency is the generator's.
pub(super) const MOSTLY_OBSERVED_LATE: f64 = 0.5;
/// Share of attempts that may have waited for a connection to be opened, where that is not to show in p50 and
/// p95 of the waiting.
pub(super) const CONNECTING: f64 = 0.01;

/// A latency that is quoted, of a summary.
type Figure = (&'static str, fn(&Summary) -> u64);

/// Finds a latency of which too much may be the generator's. What it measured is the server's time and that, so
/// the server's is at most what is shown: a bound, in a closed loop however loose. In an open loop the
/// latencies are quoted for what users wait, and above half they are not the server's.
pub(super) fn late(run: &Run) -> Option<Finding> {
    looked_late(run).or_else(|| made_late(run))
}

/// Responses that may have waited for the generator to look.
fn looked_late(run: &Run) -> Option<Finding> {
    let figures: [Figure; 3] = [("p50", |s| s.p50), ("mean", |s| s.mean), ("p99", |s| s.p99)];
    // Of too few attempts p99 is one or two of them: it is not quoted, and one wake-up of the machine makes it.
    let quoted = tail().next().is_none_or(|p99| run.service_ns.count >= p99.enough());
    let figures = if quoted { &figures[..] } else { &figures[..2] };
    let (name, waited, service, share) = worst(&run.observed_late_ns, &run.service_ns, figures)?;
    let evidence = format!(
        "responses may have waited up to {} ({name}) for the generator to read them, of a service time of {}: \
         true latencies are no higher than shown",
        show_duration(waited),
        show_duration(service)
    );
    Some((consequence(run, share), evidence))
}

/// Arrivals that had a connection and waited all the same, as the request was still being made: by a script, a
/// signature, a pool.
fn made_late(run: &Run) -> Option<Finding> {
    let connecting = run.totals.connects as f64 > CONNECTING * run.totals.attempts as f64;
    if run.plan.rate_per_s.is_none() || at_cap(run) || connecting {
        return None;
    }
    let figures: [Figure; 2] = [("p50", |s| s.p50), ("p95", |s| s.p95)];
    let (name, waited, response, share) = worst(&run.wait_ns, &run.response_ns, &figures)?;
    let evidence = format!(
        "requests waited {} ({name}) for the generator to make them, of a response time of {}",
        show_duration(waited),
        show_duration(response)
    );
    Some((consequence(run, share), evidence))
}

/// The figure of which the largest share is `part`'s, if that is too much: its name, both values, the share.
fn worst(
    part: &Summary,
    whole: &Summary,
    figures: &[Figure],
) -> Option<(&'static str, u64, u64, f64)> {
    if part.count == 0 {
        return None;
    }
    let shares = figures.iter().map(|&(name, of)| {
        let (part, whole) = (of(part), of(whole));
        (name, part, whole, part as f64 / whole.max(1) as f64)
    });
    let matter = shares.filter(|&(_, part, _, share)| part > UNSEEN_NS && share >= OBSERVED_LATE);
    matter.max_by(|one, other| one.3.total_cmp(&other.3))
}

fn consequence(run: &Run, share: f64) -> Verdict {
    let mostly = run.plan.rate_per_s.is_some() && share > MOSTLY_OBSERVED_LATE;
    if mostly { Verdict::Invalid } else { Verdict::LowerBound }
}
