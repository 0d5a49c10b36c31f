//! A result as cases that hold or do not: what test reports and annotations list.

use model::{Reason, Ruling, Run, Sweep, Verdict};
use verdict::exit::is_believable;
use verdict::objective::levels::Holding;
use verdict::objective::words::{figure, interval};

use crate::figure::seconds;

/// One thing that was judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// `validity`, or an objective.
    pub(crate) name: String,
    /// Of a case that is doubtful but stands, `PASS`.
    pub(crate) ruling: Ruling,
    /// Whether a case that stands is in doubt all the same: a lower bound.
    pub(crate) doubtful: bool,
    /// Figures and reason.
    pub(crate) text: String,
}

/// A result: its cases, and where they come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cases {
    /// What was measured.
    pub(crate) url: String,
    /// When, RFC 3339.
    pub(crate) started_at: String,
    /// How long the measured windows were.
    pub(crate) seconds: f64,
    pub(crate) cases: Vec<Case>,
}

/// Validity first, then what ended the run, then each objective.
pub(crate) fn of_run(run: &Run) -> Cases {
    let mut cases = vec![validity(run)];
    cases.extend(run.aborted.as_ref().map(|abort| Case {
        name: format!("not {}", abort.rule),
        ruling: if abort.rate_not_reached { Ruling::Inconclusive } else { Ruling::Fail },
        doubtful: false,
        text: abort.text.clone(),
    }));
    cases.extend(run.objectives.iter().map(|held| {
        let value = held.unit.zip(held.value).map(|(unit, value)| figure(unit, value));
        let interval = interval(held).map(|words| format!(" ({words})")).unwrap_or_default();
        let figures = value.map(|value| format!("{value}{interval}. ")).unwrap_or_default();
        Case {
            name: held.objective.clone(),
            ruling: held.ruling,
            doubtful: false,
            text: format!("{figures}{}", held.reason),
        }
    }));
    Cases {
        url: run.plan.url.clone(),
        started_at: run.started_at.clone(),
        seconds: seconds(run.totals.duration_ns),
        cases,
    }
}

/// One case: that some level holds the objectives.
pub(crate) fn of_sweep(sweep: &Sweep, holding: &Holding) -> Cases {
    let levels = || sweep.levels.iter().map(|held| &held.run);
    let objectives = levels().map(|run| &run.objectives).find(|held| !held.is_empty());
    let names: Vec<&str> =
        objectives.into_iter().flatten().map(|held| held.objective.as_str()).collect();
    let open =
        || levels().flat_map(|run| &run.objectives).any(|o| o.ruling == Ruling::Inconclusive);
    let ruling = match holding.highest {
        Some(_) => Ruling::Pass,
        None if open() => Ruling::Inconclusive,
        None => Ruling::Fail,
    };
    Cases {
        url: sweep.url.clone(),
        started_at: sweep.started_at.clone(),
        seconds: levels().map(|run| seconds(run.totals.duration_ns)).sum(),
        cases: vec![Case {
            name: format!("some level meets {}", names.join(", ")),
            ruling,
            doubtful: false,
            text: holding.sentence.clone(),
        }],
    }
}

fn validity(run: &Run) -> Case {
    let verdict = run.validity.verdict;
    // As the text has them: what is no part of the verdict is a note.
    let words = |reason: &Reason| {
        let mark = if reason.consequence == Verdict::Valid { "Note, " } else { "" };
        format!("{mark}{}: {}", reason.code.name(), reason.text.trim_end())
    };
    let reasons: Vec<String> = run.validity.reasons.iter().map(words).collect();
    Case {
        name: "validity".to_owned(),
        ruling: if is_believable(run) { Ruling::Pass } else { Ruling::Inconclusive },
        doubtful: verdict != Verdict::Valid,
        text: format!("{}. {}", verdict.name(), reasons.join(" ")).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::{ReasonCode, Validity};

    use super::*;
    use crate::sample;

    #[test]
    fn notes_are_told_from_what_makes_the_verdict() {
        let mut run = sample::judged_run();
        let reason =
            |code, consequence, text: &str| Reason { code, consequence, text: text.into() };
        run.validity = Validity::of(vec![
            reason(ReasonCode::SharedCores, Verdict::Valid, "the server runs here."),
            reason(ReasonCode::LateSends, Verdict::LowerBound, "requests left late."),
        ]);
        let text = "LOWER_BOUND. late_sends: requests left late. Note, shared_cores: the server runs here.";
        assert_eq!(validity(&run).text, text);
    }
}
