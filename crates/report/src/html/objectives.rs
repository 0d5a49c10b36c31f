//! Objectives on the pages of a run and of a sweep.

use maud::{Markup, html};
use model::run::Run;
use model::{Judgement, Ruling, Sweep};
use verdict::objective::levels::{Holding, holds};
use verdict::objective::words::{conclusion, figure, interval};

use super::parts;
use crate::figure::{clean, level};
use crate::text::objectives::{judged, names, preset};

/// The objectives of a run, and the rule that ended it.
pub(super) fn run(run: &Run) -> Markup {
    let preset = preset(&run.objectives);
    html! {
        @if let Some(abort) = &run.aborted {
            p.reading {
                (badge(Ruling::Fail, "ABORTED")) " by "
                code { "--abort-on '" (parts::outside(&abort.rule)) "'" } ": "
                (parts::outside(&abort.text)) "."
            }
        }
        @if let Some(words) = conclusion(&run.objectives) { p.reading { (words) } }
        @if let Some(preset) = preset {
            p.soft { "Preset " (clean(preset, 40)) ", in order of priority." }
        }
        @if !run.objectives.is_empty() {
            (parts::rows(
                &["objective", "ruling", "measured", "95 % interval", "why"],
                run.objectives.iter().map(row),
            ))
        }
    }
}

/// The objectives of a sweep level by level.
pub(super) fn sweep(sweep: &Sweep, holding: &Holding) -> Markup {
    let names = names(sweep);
    let heads = names.iter().map(|name| clean(name, 60));
    let headers: Vec<String> =
        [sweep.kind.name().to_owned(), "all".to_owned()].into_iter().chain(heads).collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let row = |held: &model::sweep::Level| {
        let all = if holds(held) {
            html! { "met" }
        } else {
            html! { span.soft { "not met" } }
        };
        let cells = names.iter().map(|name| match judged(held, name) {
            Some(held) => html! { (ruling(held)) " " (value(held)) },
            None => html! { "-" },
        });
        [html! { (level(held.level)) }, all].into_iter().chain(cells).collect()
    };
    html! {
        p.reading { (parts::outside(&holding.sentence)) }
        (parts::rows(&headers, sweep.levels.iter().map(row)))
    }
}

fn row(held: &Judgement) -> Vec<Markup> {
    let priority = held.priority.map(|priority| format!("{priority}. ")).unwrap_or_default();
    vec![
        html! { (priority) (clean(&held.objective, 120)) },
        ruling(held),
        html! { (value(held)) },
        html! { (interval(held).unwrap_or_else(|| "-".to_owned())) },
        html! { span.words { (parts::prose(&held.reason)) } },
    ]
}

fn value(held: &Judgement) -> String {
    held.unit.zip(held.value).map_or_else(|| "-".to_owned(), |(unit, value)| figure(unit, value))
}

fn ruling(held: &Judgement) -> Markup {
    badge(held.ruling, held.ruling.name())
}

fn badge(ruling: Ruling, word: &str) -> Markup {
    let (class, sign) = match ruling {
        Ruling::Pass => ("valid", "✓"),
        Ruling::Fail => ("invalid", "✕"),
        Ruling::Inconclusive => ("bound", "?"),
    };
    html! { span class={ "badge " (class) } { (sign) " " (word) } }
}

#[cfg(test)]
mod tests {
    use crate::{html, sample};

    #[test]
    fn a_judged_run_shows_its_objectives_first() {
        let page = html::run(&sample::judged_run());
        let at = |needle: &str| page.find(needle).unwrap_or_else(|| panic!("no {needle}"));
        assert!(at("id=\"objectives\"") < at("id=\"summary\""));
        assert!(page.contains("p99&lt;500ms") && page.contains("Met 51 times over"));
        assert!(page.contains("9.10ms to 9.90ms") && page.contains("? INCONCLUSIVE"));
        assert!(!html::run(&sample::closed_loop()).contains("id=\"objectives\""));
        assert!(html::run(&sample::aborted()).contains("ABORTED"));
    }
}
