//! What the pages of a run, a sweep and a comparison share.

use maud::{Markup, PreEscaped, html};
use model::environment::Environment;
use model::run::Run;
use model::validity::{Validity, Verdict};

use crate::chart::{Chart, Theme};
use crate::figure::{bytes, clean, count, shell};
use crate::latencies::{
    SAME, distributions, handshakes, latency_cells, latency_columns, response_is_service, untimed,
};
use crate::text::meaning;

/// Longest a text from outside is shown.
const LONGEST: usize = 2000;
/// Longest a command is: what is cut off could not be run.
const LONGEST_COMMAND: usize = 100_000;

/// Text from outside, without what would hide or reorder it.
pub(super) fn outside(text: &str) -> String {
    clean(text, LONGEST)
}

/// A sentence from outside, of which flags and shares stay in one line.
pub(super) fn prose(text: &str) -> Markup {
    unbroken(&outside(text).replace(" %", "\u{a0}%"))
}

/// Words whose flags are not broken: browsers end lines behind a hyphen, and of --out nothing but two hyphens would stand
/// in the first.
fn unbroken(text: &str) -> Markup {
    html! {
        @for (i, word) in text.split(' ').enumerate() {
            @if i > 0 { " " }
            @if word.trim_start_matches(['(', '`', '\'']).starts_with('-') { span.flag { (word) } } @else { (word) }
        }
    }
}

/// That a run was ended early, and why, if it was.
pub(super) fn early(run: &Run) -> Option<String> {
    run.interrupted.then(|| match &run.halted {
        Some(why) => format!("The run ended early: {why}. These are the figures up to then."),
        None => match verdict::validity::not_waited_for(run) {
            Some(words) => format!("The run was interrupted: {words}."),
            None => "The run was ended early; these are the figures up to then.".to_owned(),
        },
    })
}

/// The verdict with its reasons; `bounded` says whether it bounds latencies.
pub(super) fn verdict(validity: &Validity, bounded: bool, early: Option<String>) -> Markup {
    let (class, sign) = class_and_sign(validity.verdict);
    html! {
        div class={ "verdict " (class) } role="note" aria-label="Validity" {
            p.word {
                span.sign aria-hidden="true" { (sign) } " "
                strong { (validity.verdict.name()) } ": " (meaning(validity.verdict, bounded)) "."
            }
            @if let Some(early) = early { p { (prose(&early)) } }
            @if !validity.reasons.is_empty() {
                ul {
                    @for reason in &validity.reasons {
                        li {
                            (badge(reason.consequence)) " " (prose(&reason.text)) " "
                            code.soft { (reason.code.name()) }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a verdict on a page, and its sign.
const fn class_and_sign(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Valid => ("valid", "✓"),
        Verdict::LowerBound => ("bound", "≥"),
        Verdict::Invalid => ("invalid", "✕"),
    }
}

/// What a reason does to a result, in a word. One that takes nothing from it is a note: a caution, and
/// so never in the colour of what is well.
pub(super) fn badge(verdict: Verdict) -> Markup {
    let (class, sign, word) = match verdict {
        Verdict::Valid => ("bound", "!", "note"),
        doubtful => {
            let (class, sign) = class_and_sign(doubtful);
            (class, sign, doubtful.name())
        }
    };
    html! { span class={ "badge " (class) } { (sign) " " (word) } }
}

/// A verdict in a table's cell.
pub(super) fn cell(verdict: Option<Verdict>) -> Markup {
    match verdict {
        None => html! { span.soft { "not judged" } },
        Some(verdict) => {
            let (class, sign) = class_and_sign(verdict);
            html! { span class={ "badge " (class) } { (sign) " " (verdict.name()) } }
        }
    }
}

/// The big figures: each a name, a value and what qualifies it.
pub(super) fn tiles(tiles: &[(&str, String, String)]) -> Markup {
    html! {
        dl.tiles {
            @for (name, value, note) in tiles {
                div {
                    dt { (name) }
                    dd.figure { (value) }
                    @if !note.is_empty() { dd.soft { (note) } }
                }
            }
        }
    }
}

/// A chart with its sentences and the figures behind it.
pub(super) fn chart(chart: &Chart) -> Markup {
    figure(chart, None)
}

/// A chart over time, which the script makes interactive: each row of its table is a period.
pub(super) fn timeline(chart: &Chart) -> Markup {
    figure(chart, Some("periods"))
}

/// The same of a chart whose table has a row for each moment.
pub(super) fn samples(chart: &Chart) -> Markup {
    figure(chart, Some("samples"))
}

fn figure(chart: &Chart, over_time: Option<&str>) -> Markup {
    let table = chart.table();
    let headers: Vec<&str> = table.headers.iter().map(String::as_str).collect();
    let title = &clean(chart.title(), 200);
    html! {
        figure.chart data-timeline=[over_time] {
            figcaption {
                p.title { (title) }
                @if !chart.subtitle().is_empty() { p.soft { (prose(chart.subtitle())) } }
            }
            div.plot tabindex="0" role="region" aria-label=(title) { (PreEscaped(chart.to_svg(Theme::Inline))) }
            @for note in chart.notes() { p.soft { (prose(note)) } }
            details {
                summary { "Data of this chart, " (rows_of(table.rows.len())) }
                (rows(&headers, table.rows.iter().map(|row| row.iter().map(|c| html! { (c) }).collect())))
            }
        }
    }
}

fn rows_of(n: usize) -> String {
    if n == 1 { "1 row".to_owned() } else { format!("{} rows", count(n as u64)) }
}

/// A table whose first column names the rows.
pub(super) fn rows(headers: &[&str], rows: impl Iterator<Item = Vec<Markup>>) -> Markup {
    let first = headers.first().copied().unwrap_or_default();
    let label = if first.is_empty() { "Table".to_owned() } else { format!("Table by {first}") };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr { @for header in headers { th scope="col" { (header) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (i, cell) in row.iter().enumerate() {
                                @if i == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Names and values.
pub(super) fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// The latency table of a run.
pub(super) fn latencies(run: &Run) -> Markup {
    let headers: Vec<&str> = std::iter::once("").chain(latency_columns()).collect();
    let row = |(name, summary): (&str, &model::Summary)| {
        std::iter::once(name.to_owned())
            .chain(latency_cells(summary))
            .map(|c| html! { (c) })
            .collect()
    };
    html! {
        (rows(&headers, distributions(run).into_iter().map(row)))
        @if response_is_service(run) { p.soft { (SAME) } }
        @if let Some(untimed) = untimed(run) { p.soft { (untimed) } }
        @if let Some(handshakes) = handshakes(run) { p.soft { (handshakes) } }
    }
}

/// The generator's machine.
pub(super) fn environment(environment: &Environment) -> Markup {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut known = vec![
        fact("Kernel", outside(&environment.kernel)),
        fact("Processor", outside(&environment.cpu_model)),
        fact("Processors", format!("{} of {} allowed", environment.cpus_allowed, environment.cpus)),
        fact("Memory", bytes(environment.memory_bytes as f64)),
        fact(
            "Open files",
            format!(
                "{} (at most {})",
                count(environment.open_files),
                count(environment.open_files_hard)
            ),
        ),
    ];
    for (name, value) in &environment.sysctls {
        known.push((outside(name), outside(value)));
    }
    facts(&known)
}

/// The exact command, to be pasted into a shell.
pub(super) fn command(words: &[String]) -> Markup {
    let command = clean(&shell(words), LONGEST_COMMAND);
    html! {
        div.command {
            pre tabindex="0" {
                code id="command" { (unbroken(&command)) }
            }
            button type="button" data-copies="command" hidden { "Copy" }
        }
    }
}
