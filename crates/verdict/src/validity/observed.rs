//! The rule about answers that waited for the generator: what of a service time need not be the server's.

use model::units::{MICROSECOND, show_duration};
use model::{Run, Summary, Verdict};

use super::Finding;

/// Waiting that never matters, in nanoseconds: about what an idle thread takes to wake up and look, which
/// nobody can tell from the server's time.
pub(super) const UNSEEN_NS: u64 = 20 * MICROSECOND;
/// Share of a latency that may be the generator's.
pub(super) const OBSERVED_LATE: f64 = 0.1;
/// Share from which on the latency is the generator's.
pub(super) const MOSTLY_OBSERVED_LATE: f64 = 0.5;

/// When the rule applies: the constants in words, which a test holds together.
pub(super) const CONDITION: &str = "p50, mean or p99 of the time that answers may have waited for the generator \
     (observed late) is above 20 us and 10 % or more of the service time's";
/// What it makes of the result.
pub(super) const CONSEQUENCE: &str = "LOWER_BOUND: latencies are at most what is shown, and in a closed loop QPS \
     is at least that. INVALID above 50 % in an open loop: the latencies are the generator's";

/// A latency that is quoted, of a summary.
type Figure = (&'static str, fn(&Summary) -> u64);

/// The figures that are judged.
const FIGURES: [Figure; 3] = [("p50", |s| s.p50), ("mean", |s| s.mean), ("p99", |s| s.p99)];

/// Finds a latency of which too much may be time that answers waited for the generator. What it measured is the
/// server's time and the waiting, so the server's is at most that: a bound, in a closed loop however loose. In
/// an open loop the response times are quoted for what users wait, and above half they are not the server's.
pub(super) fn late(run: &Run) -> Option<Finding> {
    let (waited, service) = (&run.observed_late_ns, &run.service_ns);
    if waited.count == 0 {
        return None;
    }
    let share = |(_, of): &Figure| of(waited) as f64 / of(service).max(1) as f64;
    let matters = |figure: &&Figure| figure.1(waited) > UNSEEN_NS && share(figure) >= OBSERVED_LATE;
    let found = FIGURES.iter().filter(matters);
    let worst = found.max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let mostly = run.plan.rate_per_s.is_some() && share(worst) > MOSTLY_OBSERVED_LATE;
    let consequence = if mostly { Verdict::Invalid } else { Verdict::LowerBound };
    let (name, of) = worst;
    let evidence = format!(
        "answers may have waited up to {} ({name}) for the generator to look, of a service time of {}: \
         latencies are at most what is shown",
        show_duration(of(waited)),
        show_duration(of(service))
    );
    Some((consequence, evidence))
}
