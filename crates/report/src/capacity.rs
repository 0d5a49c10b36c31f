//! A search for capacity as a terminal shows it: what was found, why it is not more, the steps.
//!
//! What they come to in words is `verdict`'s and comes in as a [`Reading`].

pub(crate) mod endpoints;

use model::Finding;
use model::capacity::{CapacitySearch, Outcome, Purpose, SearchStep, Step};
use model::loadline::{LoadLine, Saturated};
use model::sweep::LevelKind;
use model::units::{SECOND, show_duration};
use verdict::capacity::{Reading, words};

use crate::figure::{clean, counted, measured, share};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone, paragraph_in};

/// Width of the names on the left.
const NAME: usize = 14;

/// What a search came to, with its steps.
pub fn text(record: &CapacitySearch, reading: &Reading, style: Style) -> String {
    let mut out = steps(record, style);
    if let Some(table) = record.load_line.as_ref().and_then(|line| endpoints::text(line, style)) {
        out += &(table + "\n");
    }
    for (name, words) in facts(record, reading) {
        out += &named(name, &words, style);
    }
    out
}

/// The facts of a search, named.
pub(crate) fn facts(record: &CapacitySearch, reading: &Reading) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Capacity", reading.outcome.clone())];
    facts.extend(record.ended.iter().map(|why| ("Ended", why.clone())));
    let more = [
        ("Limit", &reading.why_not_more),
        ("Overload", &reading.overload),
        ("Validity", &reading.validity),
    ];
    facts.extend(more.into_iter().filter_map(|(name, words)| Some((name, words.clone()?))));
    if let Some(line) = &record.load_line {
        let response = &line.response_ns;
        facts.push((
            "At capacity",
            format!(
                "{}: response p50 {}, p99 {}, mean {}; success {}; {} in flight",
                step_at_capacity(line),
                show_duration(response.p50),
                show_duration(response.p99),
                show_duration(response.mean),
                line.success_ratio.map_or_else(|| "-".to_owned(), share),
                words::value(model::capacity::Unit::Count, line.concurrency)
            ),
        ));
    }
    let notes = record.load_line.iter().flat_map(|line| &line.notes);
    facts.extend(notes.map(|note| ("Responses", note.text.clone())));
    if let Some(held) = record.load_line.as_ref().and_then(|line| line.saturated) {
        facts.push(("Saturated", saturated(held)));
    }
    facts.push(("Objectives", record.objectives.join(", ")));
    facts.push(("Search", effort(record)));
    facts.extend(record.limited_by.iter().map(|finding| ("Limited by", cause(finding))));
    facts
}

/// The step whose figures are those at the capacity: `15,000/s (hold, held)`.
fn step_at_capacity(line: &LoadLine) -> String {
    let level = match line.kind {
        LevelKind::Rate => line.rate_per_s,
        LevelKind::Concurrency => line.concurrency,
    };
    let purpose = if line.confirmed_for_ns.is_some() { Purpose::Hold } else { Purpose::Search };
    let step = Step { purpose, level, rest_ns: 0, warmup_ns: 0, window_ns: 0 };
    words::step_of(line.kind, &step, Outcome::Held)
}

/// What is carried where the number in flight is bounded.
fn saturated(held: Saturated) -> String {
    format!(
        "{} requests/s within the objectives while {} in flight keep it busy, mean {}, for {}: `plimsoll gate` lets as many \
         through at once",
        crate::figure::rate(held.requests_per_s),
        held.concurrency,
        show_duration(held.mean_ns),
        show_duration(held.held_for_ns)
    )
}

/// A finding in `explain`'s words, with what to do.
fn cause(finding: &Finding) -> String {
    let Finding { code, confidence, sentence, fix, .. } = finding;
    format!("{code} (confidence {}): {sentence} {fix}", confidence.name())
}

/// How many steps in how much of the time allowed.
fn effort(record: &CapacitySearch) -> String {
    format!("{} of {}", spent(record), show_duration(record.settings.budget_ns))
}

/// How many steps in how much time.
pub(crate) fn spent(record: &CapacitySearch) -> String {
    let steps = searched(record).count();
    let spent_ns = record.steps.iter().fold(0u64, |sum, held| sum.saturating_add(held.took_ns));
    let whole = spent_ns - spent_ns % SECOND;
    format!("{} in {}", counted(steps as u64, "step"), show_duration(whole.max(SECOND)))
}

fn named(name: &str, words: &str, style: Style) -> String {
    let text = paragraph_in(&clean(words, 2000), &format!("{name:NAME$}"), style.columns);
    text.replacen(name, &style.paint(Tone::Strong, name), 1)
}

/// The steps that loaded the server: without the looks at the idle one.
pub(crate) fn searched(record: &CapacitySearch) -> impl Iterator<Item = &SearchStep> {
    record.steps.iter().filter(|held| held.step.purpose != Purpose::Idle)
}

/// The steps with an empty line behind them; nothing where there are none.
fn steps(record: &CapacitySearch, style: Style) -> String {
    if searched(record).next().is_none() {
        return String::new();
    }
    let mut grid =
        Grid::new([Lean::Left, Lean::Right, Lean::Right, Lean::Right, Lean::Left, Lean::Left]);
    grid.row(["step", "level", "QPS", "mean", "outcome", "by"]);
    for held in searched(record) {
        grid.row(cells(record.settings.kind, held));
    }
    grid.print_headed(style) + "\n"
}

/// A step as text, in the order of the table's columns.
pub(crate) fn cells(kind: LevelKind, held: &SearchStep) -> [String; 6] {
    let probe = held.step.purpose == Purpose::Probe;
    let kind = held.step.purpose.counts(kind);
    let judged = &held.judged;
    [
        held.step.purpose.name().to_owned(),
        words::level_of(kind, held.step.level),
        crate::figure::rate(judged.requests_per_s),
        measured(judged.mean_ns.max(0.0) as u64),
        if probe { "-".to_owned() } else { judged.outcome.name().to_owned() },
        if probe { String::new() } else { clean(&words::by(judged), 160) },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_search_closes_with_its_steps_and_its_answer() {
        let (record, reading) = sample::search();
        insta::assert_snapshot!(text(&record, &reading, Style::default()));
    }

    #[test]
    fn a_search_that_tried_nothing_has_no_empty_table_or_picture() {
        let (mut record, reading) = sample::search();
        record.load_line = None;
        record.steps.retain(|held| held.step.purpose == Purpose::Probe);
        let page = crate::html::capacity(&record, &reading, None);
        assert!(page.contains("file in steps/") && !page.contains("Each step of the search"));
        record.steps.clear();
        let shown = text(&record, &reading, Style::default());
        assert!(shown.starts_with("Capacity"), "{shown}");
        let page = crate::html::capacity(&record, &reading, None);
        assert!(!page.contains("file in steps/") && !page.contains("Each step of the search"));
    }

    #[test]
    fn what_the_successes_are_is_reported() {
        let (mut record, reading) = sample::search();
        record.load_line.as_mut().unwrap().notes = vec![model::Reason {
            code: model::ReasonCode::ResponsesChanged,
            consequence: model::Verdict::Valid,
            text: "50 % read as errors".into(),
        }];
        let shown = text(&record, &reading, Style::default());
        assert!(shown.contains("Responses     50 % read as errors"), "{shown}");
        let page = crate::html::capacity(&record, &reading, None);
        assert!(page.contains("50 % read as errors"));
    }

    #[test]
    fn colour_only_where_asked_for() {
        let (record, reading) = sample::search();
        assert!(
            text(&record, &reading, Style { colour: true, ..Style::default() }).contains('\u{1b}')
        );
        assert!(!text(&record, &reading, Style::default()).contains('\u{1b}'));
    }
}
