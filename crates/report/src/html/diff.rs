//! The page of a comparison.

use maud::{Markup, html};
use model::Verdict;
use model::curve::Curve;
use verdict::Diff;
use verdict::comparison::levels::AtLevel;
use verdict::diff::title;
use verdict::figures::{level_of, levels_of, times};

use super::{Section, Title, page, parts, sweep};
use crate::charts;
use crate::figure::{clean, level};
use crate::table::figures;
use crate::watched::{self, Beside};

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The curves; the others are measured against the first.
    pub curves: &'a [Curve],
    /// The same curves joined on the level.
    pub diff: &'a Diff,
    /// Each curve but the first judged against the first, level by level; empty where there are no
    /// runs to judge.
    pub judgements: &'a [Vec<AtLevel>],
    /// What was watched beside each curve that has runs; empty where nothing was.
    pub watched: &'a [Beside],
    /// The command line.
    pub command: &'a [String],
}

/// Longest a curve's name is shown.
const NAME: usize = 60;

/// The page of `comparison`.
pub fn diff(comparison: &Comparison) -> String {
    let (curves, diff) = (comparison.curves, comparison.diff);
    let names: Vec<String> = diff.names.iter().map(|name| clean(name, NAME)).collect();
    let name = title(&names);
    let mut lines = charts::of_curves(curves);
    lines.push(format!(
        "{} curves over {}; ratios are to {}",
        names.len(),
        diff.kind.name(),
        names.first().map_or("", String::as_str)
    ));
    let drawn = html! {
        (parts::chart(&charts::diff(&name, curves).chart()))
        (parts::chart(&charts::success(&format!("Success rate: {name}"), curves).chart()))
    };
    let mut sections = vec![
        Section { id: "summary", heading: "Summary", body: summary(diff) },
        Section { id: "curve", heading: "Curves", body: drawn },
        Section { id: "levels", heading: "Levels", body: levels(diff) },
        Section { id: "environment", heading: "Environment", body: environment(curves) },
        Section { id: "reproduce", heading: "Reproduce", body: parts::command(comparison.command) },
    ];
    if comparison.judgements.iter().any(|judged| !judged.is_empty()) {
        let body = judged(comparison);
        sections.insert(1, Section { id: "judgement", heading: "Judgement", body });
    }
    if let Some(body) = watched(comparison) {
        let at = sections.len() - 2;
        sections.insert(at, Section { id: "watched", heading: "Watched", body });
    }
    let sentences = (1..names.len()).filter_map(|of| diff.best_sentence(of));
    let gist = parts::outside(&sentences.collect::<Vec<_>>().join(" "));
    page(
        &Title { name: &name, lines, gist },
        banner(comparison),
        &sections,
        ("plimsoll-diff", &curves),
    )
}

fn judged(comparison: &Comparison) -> Markup {
    html! {
        @for judged in comparison.judgements {
            @if let [one] = judged.as_slice() { (effects(one)) }
            ul {
                @for line in crate::comparison::level_sentences(judged, comparison.diff.kind) {
                    li { (parts::prose(&line)) }
                }
            }
            @if judged.len() > 1 {
                @for at in judged.iter().filter(|at| !at.comparison.effects.is_empty()) {
                    details.level {
                        summary {
                            "Changes at " strong { (level_of(comparison.diff.kind, at.level)) }
                        }
                        (effects(at))
                    }
                }
            }
        }
    }
}

/// What was watched beside each, a table for each source; none where no source was watched beside two.
fn watched(comparison: &Comparison) -> Option<Markup> {
    let results = comparison.watched;
    let (tables, level) = (watched::tables(results), results.first()?.level);
    let names: Vec<String> = results.iter().map(|result| clean(&result.name, NAME)).collect();
    let headers: Vec<&str> =
        ["figure"].into_iter().chain(names.iter().map(String::as_str)).collect();
    (!tables.is_empty()).then(|| {
        html! {
            p.soft {
                "Means over the measured window, and the most that each was, at "
                (level_of(comparison.diff.kind, level)) "."
            }
            @for table in &tables {
                h3 { (parts::outside(table.source)) }
                (parts::rows(&headers, table.rows.iter().map(|row| {
                    let cells = row.cells(true).map(|cell| html! { (cell) });
                    [html! { (parts::outside(row.name)) }].into_iter().chain(cells).collect()
                })))
            }
        }
    })
}

/// The picture of what changed at a level.
fn effects(at: &AtLevel) -> Markup {
    let effects = crate::comparison::chart(&at.comparison);
    html! { @if !effects.rows.is_empty() { (parts::chart(&effects.chart().under("Change of each figure"))) } }
}

fn banner(comparison: &Comparison) -> Markup {
    let mut cautions: Vec<String> =
        comparison.diff.notes.iter().map(|note| parts::outside(note)).collect();
    cautions.extend(comparison.curves.iter().filter_map(doubts));
    let others = comparison.diff.names.iter().skip(1).zip(comparison.judgements);
    cautions.extend(others.filter_map(|(name, judged)| unjudged(name, judged, comparison.diff)));
    let sound = cautions.is_empty();
    let (class, sign) = if sound { ("verdict valid", "✓") } else { ("verdict bound", "!") };
    html! {
        div class=(class) role="note" aria-label="Comparability" {
            p.word {
                span.sign aria-hidden="true" { (sign) } " "
                @if sound {
                    strong { "COMPARABLE" } ": no difference is known that would distort the \
                        comparison."
                } @else {
                    strong { "COMPARE WITH CARE" } ": differences are known."
                }
            }
            @if !sound { ul { @for caution in cautions { li { (caution) } } } }
        }
    }
}

/// The levels at which a curve is not judged: what is different there may be said by the judgement alone.
fn unjudged(name: &str, judged: &[AtLevel], diff: &Diff) -> Option<String> {
    let withheld = judged.iter().filter(|at| at.comparison.judgement().is_none());
    let levels: Vec<f64> = withheld.map(|at| at.level).collect();
    let name = clean(name, NAME);
    (!levels.is_empty())
        .then(|| format!("{name} is not judged at {}.", levels_of(diff.kind, &levels)))
}

/// The levels of a curve that are not to be taken at their word.
fn doubts(curve: &Curve) -> Option<String> {
    let of = |verdict: Verdict| {
        let rows = curve.rows.iter().filter(|row| row.verdict == Some(verdict));
        let levels: Vec<f64> = rows.map(|row| row.level).collect();
        (!levels.is_empty())
            .then(|| format!("{} ({})", levels_of(curve.kind, &levels), verdict.name()))
    };
    let doubtful: Vec<String> =
        [Verdict::LowerBound, Verdict::Invalid].into_iter().filter_map(of).collect();
    let name = clean(&curve.name, NAME);
    (!doubtful.is_empty()).then(|| format!("Levels of {name} in doubt: {}.", doubtful.join(", ")))
}

fn summary(diff: &Diff) -> Markup {
    let names: Vec<String> = diff.names.iter().map(|name| clean(name, NAME)).collect();
    let tile = |(of, best): (usize, &Option<model::CurveRow>)| {
        let Some(row) = best else {
            return (names[of].as_str(), "-".to_owned(), "no usable level".to_owned());
        };
        let place = sweep::place_and_mean(diff.kind, row);
        let ratio = diff.best_ratio(of).filter(|_| of > 0).map(times);
        let bound = diff.best_bound(of);
        let ratio = ratio.map_or_else(String::new, |r| format!("{bound}{r} of {}, ", names[0]));
        (names[of].as_str(), sweep::qps(row), ratio + &place)
    };
    let tiles: Vec<_> = diff.best.iter().enumerate().map(tile).collect();
    html! {
        p.soft { "Highest QPS of each" }
        (parts::tiles(&tiles))
        @for of in 1..names.len() {
            @if let Some(sentence) = diff.best_sentence(of) { p.reading { (parts::outside(&sentence)) } }
        }
    }
}

/// All curves at every level, each under its name.
fn levels(diff: &Diff) -> Markup {
    let curves = 0..diff.names.len();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Levels" {
            table.grouped {
                thead {
                    tr {
                        td {}
                        @for of in curves.clone() {
                            th scope="colgroup" colspan=(if of == 0 { 3 } else { 4 }) { (clean(&diff.names[of], NAME)) }
                        }
                    }
                    tr {
                        th scope="col" { (diff.kind.name()) }
                        @for of in curves.clone() {
                            th.first scope="col" { "QPS" }
                            @if of > 0 { th scope="col" { "ratio" } }
                            th scope="col" { "mean" }
                            th scope="col" { "success" }
                        }
                    }
                }
                tbody {
                    @for row in &diff.rows {
                        tr {
                            th scope="row" { (level(row.level)) }
                            @for of in curves.clone() {
                                @let [qps, mean, success] = figures(row, of);
                                td.first { (qps) }
                                @if of > 0 {
                                    td { (row.qps_ratio(of).map_or_else(|| "-".to_owned(), times)) }
                                }
                                td { (mean) }
                                td { (success) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Each curve's machine; once where they are all the same.
fn environment(curves: &[Curve]) -> Markup {
    let same = curves.windows(2).all(|pair| pair[0].environment == pair[1].environment);
    let shown = if same { &curves[..curves.len().min(1)] } else { curves };
    html! {
        @for curve in shown {
            @if same { h3 { "Generator's machine, the same for all" } }
            @else { h3 { (clean(&curve.name, NAME)) } }
            @match &curve.environment {
                Some(environment) => (parts::environment(environment)),
                None => p { "Not known: the files do not say." },
            }
        }
    }
}
