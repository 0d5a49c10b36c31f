//! The rule about a server that goes away while it is measured.

use model::{ErrorClass, Run, Verdict};

use super::Finding;
use crate::gone::{MOMENT, count_not_made, gone, lost_in_words};

pub(super) fn server_gone(run: &Run) -> Option<Finding> {
    // Without any response there is a rule that says so.
    if run.totals.requests == 0 {
        return None;
    }
    // A server that answers every request of the window with an error is there: others say what is wrong.
    let errors = run.totals.errors;
    if run.totals.succeeded == 0 && errors.of(ErrorClass::Status) == run.totals.attempts {
        return None;
    }
    let gone = gone(run)?;
    let away = gone.away_ns as f64 / run.totals.duration_ns.max(1) as f64;
    let moment = gone.silence.is_some() && !gone.at_end && !gone.cut_off && away < MOMENT;
    let consequence = if moment { Verdict::Valid } else { Verdict::Invalid };
    let mut evidence = format!("{}; {}", gone.sentence(run), lost_in_words(run, &gone));
    if let Some(made) = count_not_made(run).filter(|_| gone.at_end) {
        evidence += &format!("; {made}");
    }
    Some((consequence, evidence))
}
