//! The story of a tuning, as a terminal shows it.

use model::tuning::{Prediction, Station, Tuning, TuningStep};

use crate::figure::{clean, rate, wrap};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone};

/// The text.
pub fn text(tuning: &Tuning, style: Style) -> String {
    let mut out = String::new();
    for line in wrap(&gist(tuning), style.columns.max(40)) {
        out += &format!("{line}\n");
    }
    out.push('\n');
    let mut grid = Grid::new([Lean::Right, Lean::Left, Lean::Left, Lean::Left]);
    let shown =
        |words: String| if style.columns < NARROW { without_interval(words) } else { words };
    grid.row(["QPS", "brought", "predicted", "change"]);
    grid.row([rate(tuning.start.qps), String::new(), String::new(), "start".to_owned()]);
    for step in &tuning.steps {
        grid.row([
            rate(step.station.qps),
            shown(brought(step)),
            shown(foretold(step.predicted.as_ref())),
            change(step),
        ]);
    }
    if let Some(baseline) = &tuning.baseline {
        grid.row([rate(baseline.qps), String::new(), String::new(), "baseline".to_owned()]);
    }
    out += &grid.print_headed(style);
    if let Some(pending) = &tuning.pending {
        let words = match &pending.refused {
            Some(why) => format!("nothing is predicted without {}: {why}", names(pending)),
            None => format!("predicted without {}: {}", names(pending), foretold(Some(pending))),
        };
        out.push('\n');
        for line in wrap(&clean(&words, 600), style.columns.max(40)) {
            out += &(style.paint(Tone::Soft, &line) + "\n");
        }
    }
    out
}

/// A narrow table has room for figures only.
const NARROW: usize = 72;

fn without_interval(words: String) -> String {
    words.split_once(" (").map(|(figure, _)| figure.to_owned()).unwrap_or(words)
}

/// The story in a sentence.
pub(crate) fn gist(tuning: &Tuning) -> String {
    let current = tuning.current();
    let mut words = format!("{} requests/s", rate(tuning.start.qps));
    let kept = tuning.steps.iter().filter(|step| step.kept).count();
    if kept > 0 {
        words += &format!(
            " before, {} after {kept} of {} changes, which brought {:.2} times, each against the server before",
            rate(current.qps),
            tuning.steps.len(),
            // Runs minutes apart differ by what the machine does: the changes were measured side by side.
            tuning.steps.iter().filter(|step| step.kept).map(|step| step.ratio).product::<f64>()
        );
    }
    if let Some(baseline) = &tuning.baseline {
        words += &format!(
            "; {:.1} % of the baseline's {}",
            current.qps / baseline.qps * 100.0,
            rate(baseline.qps)
        );
    }
    let (judged, held) = tuning.predictions();
    if judged > 0 {
        words += &format!("; {held} of {judged} predictions held");
    }
    words + "."
}

/// What a change brought, with its interval.
pub(crate) fn brought(step: &TuningStep) -> String {
    format!("{} ({} to {})", percent(step.ratio), percent(step.low), percent(step.high))
}

/// What was predicted.
pub(crate) fn foretold(prediction: Option<&Prediction>) -> String {
    let Some(prediction) = prediction else { return String::new() };
    match (prediction.ratio, prediction.low, prediction.high) {
        (Some(ratio), Some(low), Some(high)) => {
            format!("{} ({} to {})", percent(ratio), percent(low), percent(high))
        }
        _ => "refused".to_owned(),
    }
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn names(prediction: &Prediction) -> String {
    prediction.functions.join(", ")
}

/// A change's name and what became of it.
pub(crate) fn change(step: &TuningStep) -> String {
    let word = if step.kept { "" } else { ", discarded" };
    format!("{}{word}", name(&step.station))
}

pub(crate) fn name(station: &Station) -> String {
    clean(&station.name, 40)
}
