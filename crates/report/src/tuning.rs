//! The story of a tuning, as a terminal shows it.

use model::tuning::{Left, Prediction, Station, Tuning, TuningStep};

use crate::figure::{clean, counted, rate, share, wrap};
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
    grid.row(["successes/s", "brought, times", "predicted, times", "change"]);
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
    for line in discarded(tuning).iter().flat_map(|why| wrap(why, style.columns.max(40))) {
        out += &(style.paint(Tone::Soft, &line) + "\n");
    }
    if let Some(left) = &tuning.left {
        out.push('\n');
        for words in left_of(left) {
            for line in wrap(&words, style.columns.max(40)) {
                out += &(line + "\n");
            }
        }
    }
    if let Some(words) = pending(tuning) {
        out.push('\n');
        for line in wrap(&words, style.columns.max(40)) {
            out += &(style.paint(Tone::Soft, &line) + "\n");
        }
    }
    out
}

/// What is predicted of the change that comes next, if anything is.
pub(crate) fn pending(tuning: &Tuning) -> Option<String> {
    let pending = tuning.pending.as_ref()?;
    let words = match &pending.refused {
        Some(why) => format!("nothing is predicted without {}: {why}", names(pending)),
        None => format!("predicted without {}: {} times", names(pending), foretold(Some(pending))),
    };
    Some(clean(&words, 600))
}

/// Why changes were discarded, a sentence each.
pub(crate) fn discarded(tuning: &Tuning) -> Vec<String> {
    let why = |step: &TuningStep| {
        let why = step.why_discarded.as_ref()?;
        Some(clean(&format!("`{}` was discarded: {why}.", name(&step.station)), 600))
    };
    tuning.steps.iter().filter_map(why).collect()
}

/// A narrow table has room for figures only.
const NARROW: usize = 72;

fn without_interval(words: String) -> String {
    words.split_once(" (").map(|(figure, _)| figure.to_owned()).unwrap_or(words)
}

/// The story in a sentence.
pub(crate) fn gist(tuning: &Tuning) -> String {
    let mut words = format!("{} successes/s", rate(tuning.start.qps));
    let kept = tuning.steps.iter().filter(|step| step.kept).count();
    if kept > 0 {
        let gain = tuning.gain();
        words += &format!(
            " before, {} after {kept} of {}, which brought {:.2} times ({:.2} to {:.2}), each against the server before",
            rate(tuning.current().qps),
            counted(tuning.steps.len() as u64, "change"),
            gain.ratio,
            gain.low,
            gain.high
        );
    }
    words += &reached(tuning).map_or_else(String::new, |reached| format!("; {reached}"));
    let (judged, held) = tuning.predictions();
    if judged > 0 {
        words += &format!("; {held} of {judged} predictions held");
    }
    words + "."
}

/// How much of the baseline is reached: as measured in turns with it, else about.
fn reached(tuning: &Tuning) -> Option<String> {
    if let Some(over) = tuning.over_baseline() {
        let [ratio, low, high] = [over.ratio, over.low, over.high].map(|times| times * 100.0);
        return Some(format!(
            "{ratio:.0} % of the baseline ({low:.0} to {high:.0}), measured in turns with it"
        ));
    }
    let (share, baseline) = (tuning.share_of_baseline()?, tuning.baseline.as_ref()?);
    Some(format!("so about {:.0} % of the baseline's {}", share * 100.0, rate(baseline.qps)))
}

/// What a request still costs, and where that goes: a sentence each.
pub(crate) fn left_of(left: &Left) -> Vec<String> {
    let owners: Vec<String> = (left.owners.iter())
        .filter(|part| part.share >= 0.001)
        .map(|part| format!("{} {}", clean(&part.name, 40), share(part.share)))
        .collect();
    let functions: Vec<String> = (left.functions.iter())
        .map(|part| format!("{} ({:.2} us)", clean(&part.name, 120), part.us_per_request))
        .collect();
    let mut words = vec![format!(
        "What is left: {:.1} us of the processor for each request, of which {}.",
        left.us_per_request,
        owners.join(", ")
    )];
    if !functions.is_empty() {
        words.push(format!("Own code that costs most: {}.", functions.join(", ")));
    }
    words
}

/// What a change brought, with its interval.
pub(crate) fn brought(step: &TuningStep) -> String {
    times(step.ratio, step.low, step.high)
}

/// What was predicted.
pub(crate) fn foretold(prediction: Option<&Prediction>) -> String {
    let Some(prediction) = prediction else { return String::new() };
    match (prediction.ratio, prediction.low, prediction.high) {
        (Some(ratio), Some(low), Some(high)) => times(ratio, low, high),
        _ => "refused".to_owned(),
    }
}

/// `1.48 (1.29 to 1.69)`.
pub(crate) fn times(ratio: f64, low: f64, high: f64) -> String {
    format!("{ratio:.2} ({low:.2} to {high:.2})")
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
