//! The page of one server judged against another.

use maud::{Markup, html};
use model::Verdict;
use verdict::comparison::Comparison;

use super::{Section, Title, page, parts};
use crate::comparison::{cells, chart, class_and_sign};
use crate::figure::distinct_names;

/// What the page shows.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// What was found out.
    pub comparison: &'a Comparison,
    /// The command line.
    pub command: &'a [String],
    /// What was compared, and when; see [`crate::charts::of_comparison`].
    pub source: &'a [String],
    /// Each round's runs: its name, and where its own report lies.
    pub rounds: &'a [(String, String)],
}

/// Longest a name is shown.
const NAME: usize = 60;
/// The same at the head of a column.
const HEADING: usize = 24;

/// The page of a comparison.
pub fn comparison(compared: &Compared) -> String {
    let comparison = compared.comparison;
    let [a, b] = distinct_names(comparison.names.each_ref().map(String::as_str), NAME);
    let name = format!("{b} against {a}");
    let mut lines: Vec<String> =
        compared.source.iter().filter(|line| **line != name).cloned().collect();
    if lines.is_empty() {
        lines.push(format!("Judged by {}", comparison.by));
    }
    let mut sections = vec![
        Section { id: "effects", heading: "Effects", body: effects(comparison) },
        Section { id: "reproduce", heading: "Reproduce", body: parts::command(compared.command) },
    ];
    if !compared.rounds.is_empty() {
        let body = rounds(compared.rounds);
        sections.insert(1, Section { id: "rounds", heading: "Rounds", body });
    }
    let data = ("plimsoll-compare", comparison);
    let gist = parts::outside(&comparison.sentence());
    page(&Title { name: &name, lines, gist }, banner(comparison), &sections, data)
}

fn banner(comparison: &Comparison) -> Markup {
    let (class, sign) = class_and_sign(comparison.judgement());
    html! {
        div class={ "verdict " (class) } role="note" aria-label="Judgement" {
            p.word {
                span.sign aria-hidden="true" { (sign) } " "
                strong { (parts::outside(&comparison.sentence())) }
            }
            @if !comparison.notes.is_empty() {
                ul {
                    @for note in &comparison.notes {
                        li { (parts::badge(Verdict::Valid)) " " (parts::prose(note)) }
                    }
                }
            }
        }
    }
}

fn effects(comparison: &Comparison) -> Markup {
    if comparison.effects.is_empty() {
        return html! { p { "No figure is compared, for the reason above." } };
    }
    let [a, b] = distinct_names(comparison.names.each_ref().map(String::as_str), HEADING);
    let headers = ["", &a, &b, "change", "interval (95 %)", "detectable", "verdict"];
    let rows =
        comparison.effects.iter().map(|e| cells(comparison, e).map(|cell| html! { (cell) }).into());
    html! {
        (parts::chart(&chart(comparison).chart().under("Change of each figure")))
        (parts::rows(&headers, rows))
        p.soft {
            "Detectable: the smallest change that 80 % of such comparisons would have \
             detected. Verdict: that of this figure by itself; the overall judgement covers all \
             figures."
        }
    }
}

fn rounds(rounds: &[(String, String)]) -> Markup {
    html! {
        p.soft { "Each round has a page of its own in the folder of this one; a copy of this file alone does not hold them." }
        ul { @for (name, path) in rounds { li { a href=(path) { (name) } } } }
    }
}
