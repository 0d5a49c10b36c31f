//! Judges results. Pure: values of `model` in, judgements and sentences out.
//!
//! - [`validity`]: can a run's figures be trusted? A table of rules.
//! - [`mod@audit`]: can results of other tools be trusted? A table of rules.
//! - [`mod@explain`]: what limits a run, with evidence? A table of rules.
//! - [`changes`]: responses that change for good during a run.
//! - [`dips`]: periods in which the server departed from its trend.
//! - [`exit`]: the exit code for a result.
//! - [`ladder`]: which level a sweep runs next, and why it ends.
//! - [`capacity`]: the next step of a search for capacity, and what it found.
//! - [`curve`]: the best levels of a curve, and what they mean.
//! - [`comparison`]: is one server faster than the other, or is that undecided?
//! - [`mod@refused`]: a sweep of an API that responds only with failures.
//! - [`usl`]: the Universal Scalability Law fitted to a curve.
//! - [`diff`]: several curves side by side.
//! - [`blocks`]: confidence intervals of a run's figures, computed by `statistics`.
//!
//! Does not own how judgements are shown: the command line and `report` do that.

pub mod audit;
pub mod blocks;
pub mod capacity;
mod chance;
mod changed_between_runs;
pub mod changes;
pub mod comparison;
pub mod curve;
pub mod diff;
pub mod dips;
mod error_words;
pub mod exit;
pub mod explain;
pub mod figures;
pub mod gone;
pub mod ladder;
pub mod objective;
mod offered;
pub mod refused;
mod server_change;
pub mod usl;
pub mod validity;

pub use audit::{Audit, audit};
pub use changed_between_runs::KnownResponses;
pub use comparison::Comparison;
pub use curve::Reading;
pub use diff::Diff;
pub use error_words::seems_unwanted;
pub use exit::{exit_code, exit_code_of_audit, exit_code_of_sweep, search_believable};
pub use explain::{explain, explain_step, explain_with};
pub use gone::{Gone, gone_for_good};
pub use ladder::{Ladder, Outcome, Step};
pub use offered::{kept_up, untimed_share};
pub use refused::refused;
pub use server_change::{mark_changed, mark_turned, measured_again, same_server, to_measure_again};
pub use validity::{Stability, judge, stability};

/// The run that intervals make, with its dips found and its figures judged.
pub fn conclude(intervals: model::RunBuilder, interrupted: bool) -> model::Run {
    let dips = dips::find(intervals.seconds(), intervals.plan());
    let kinds = intervals.kinds().clone();
    let mut run = intervals.finish(interrupted);
    run.dips = dips;
    run.response_changes = changes::find(&kinds, &run.plan, sends_one_request(&run));
    run.validity = judge(&run);
    run
}

/// Whether the same request was sent again and again: no workload file, and no script to make others.
fn sends_one_request(run: &model::Run) -> bool {
    let script = |arg: &String| {
        arg.starts_with("--script") || (arg.starts_with("-s") && !arg.starts_with("--"))
    };
    run.plan.mix.is_empty() && !run.command.iter().any(script)
}
