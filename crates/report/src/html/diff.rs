//! The page of a comparison.

use maud::{Markup, html};
use model::curve::{Curve, CurveRow};
use model::units::show_duration;

use super::{Section, Title, page, parts};
use crate::charts;
use crate::figure::{clean, level, rate, share};
use crate::table::{Joined, Side, join};

/// What is compared, and what was found to say about it.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The curves; the others are measured against the last.
    pub curves: &'a [Curve],
    /// What to read from them, best against best: a sentence each.
    pub sentences: &'a [String],
    /// Why the curves may not be comparable: environment, meaning of success, answers.
    pub cautions: &'a [String],
    /// The command line.
    pub command: &'a [String],
}

/// The page of `comparison`.
pub fn diff(comparison: &Comparison) -> String {
    let curves = comparison.curves;
    let names: Vec<String> = curves.iter().map(|curve| clean(&curve.name, 60)).collect();
    let name = names.join(" against ");
    let kind = curves.first().map_or("level", |curve| curve.kind.name());
    let lines = vec![format!("{} curves over {kind}; ratios are to the last", curves.len())];
    let sections = [
        Section { id: "summary", heading: "Summary", body: summary(comparison) },
        Section { id: "curve", heading: "Curves", body: drawn(curves, &name) },
        Section { id: "levels", heading: "Levels", body: levels(curves, kind) },
        Section { id: "environment", heading: "Environment", body: environment(curves) },
        Section { id: "reproduce", heading: "Reproduce", body: parts::command(comparison.command) },
    ];
    let json = serde_json::to_string(curves).unwrap_or_else(|_| "null".to_owned());
    page(&Title { name: &name, lines }, banner(comparison), &sections, ("plimsoll-diff", &json))
}

fn banner(comparison: &Comparison) -> Markup {
    let rows = || comparison.curves.iter().flat_map(|c| c.rows.iter().map(move |r| (c, r)));
    let doubtful: Vec<String> = rows()
        .filter_map(|(curve, row)| {
            let verdict = row.verdict.filter(|&v| v != model::Verdict::Valid)?;
            Some(format!("{} at {}: {}", clean(&curve.name, 60), level(row.level), verdict.name()))
        })
        .collect();
    let sound = comparison.cautions.is_empty() && doubtful.is_empty();
    let class = if sound { "verdict valid" } else { "verdict bound" };
    html! {
        div class=(class) role="note" aria-label="Comparability" {
            @if sound {
                p.word { span.sign aria-hidden="true" { "✓" } " " strong { "COMPARABLE" } ": nothing known speaks against it." }
            } @else {
                p.word { span.sign aria-hidden="true" { "!" } " " strong { "COMPARE WITH CARE" } ": the curves differ in more than the server." }
                ul {
                    @for caution in comparison.cautions { li { (parts::outside(caution)) } }
                    @for doubt in &doubtful { li { (doubt) } }
                }
            }
        }
    }
}

fn best(curve: &Curve) -> Option<&CurveRow> {
    curve.rows.iter().max_by(|a, b| a.qps.total_cmp(&b.qps))
}

fn summary(comparison: &Comparison) -> Markup {
    let base = comparison.curves.last().and_then(best).map(|row| row.qps).filter(|&q| q > 0.0);
    let tile = |curve: &Curve| {
        let row = best(curve);
        let note = |row: &CurveRow| {
            let ratio = base.map_or_else(String::new, |base| format!("{:.2} % of the last; ", row.qps / base * 100.0));
            format!("{ratio}at {}, mean {}", level(row.level), show_duration(row.mean_ns))
        };
        let value = row.map_or_else(|| "-".to_owned(), |row| rate(row.qps));
        (clean(&curve.name, 40), value, row.map_or_else(String::new, note))
    };
    let tiles: Vec<_> = comparison.curves.iter().map(tile).collect();
    let shown: Vec<_> =
        tiles.iter().map(|(name, value, note)| (name.as_str(), value.clone(), note.clone())).collect();
    html! {
        p.soft { "Highest QPS of each curve" }
        (parts::tiles(&shown))
        @for sentence in comparison.sentences { p.reading { (parts::outside(sentence)) } }
    }
}

fn drawn(curves: &[Curve], name: &str) -> Markup {
    html! {
        (parts::chart(&charts::diff(name, curves).chart()))
        (parts::chart(&charts::success(&format!("Success rate: {name}"), curves).chart()))
    }
}

fn levels(curves: &[Curve], kind: &str) -> Markup {
    let mut headers = vec![kind.to_owned()];
    for curve in curves {
        let name = clean(&curve.name, 40);
        headers.extend(["QPS", "ratio", "mean", "success"].map(|figure| format!("{name} {figure}")));
    }
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let row = |joined: Joined| {
        let sides = joined.sides.iter().flat_map(|side| cells(side.as_ref()));
        std::iter::once(html! { (level(joined.level)) }).chain(sides).collect()
    };
    parts::rows(&headers, join(curves).into_iter().map(row))
}

fn cells(side: Option<&Side>) -> Vec<Markup> {
    let missing = || "-".to_owned();
    let ratio = |s: &Side| s.qps_ratio.map(|r| format!("{:.2} %", r * 100.0));
    [
        side.map_or_else(missing, |s| rate(s.row.qps)),
        side.and_then(ratio).unwrap_or_else(missing),
        side.map_or_else(missing, |s| show_duration(s.row.mean_ns)),
        side.and_then(|s| s.row.success).map_or_else(missing, share),
    ]
    .map(|cell| html! { (cell) })
    .into()
}

fn environment(curves: &[Curve]) -> Markup {
    html! {
        @for curve in curves {
            h3 { (clean(&curve.name, 60)) }
            @match &curve.environment {
                Some(environment) => (parts::environment(environment)),
                None => p { "Not known." },
            }
        }
    }
}
