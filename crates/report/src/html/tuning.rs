//! The page of a tuning.

use maud::{Markup, html};
use model::profiled::{Flame, Profiled};
use model::tuning::{Station, Tuning};

use super::{Section, Title, page, parts, profiled};
use crate::figure::{clean, counted, rate};
use crate::tuning::{brought, change, discarded, foretold, gist, left_of, name, pending, times};

/// Height of a row of the waterfall.
const ROW: f64 = 30.0;
/// Width of the largest bar.
const BAR: f64 = 700.0;

/// The page of a tuning; `profile` is that of the last server that was kept.
pub fn tuning(tuning: &Tuning, profile: Option<(&Profiled, &Flame)>) -> String {
    let title = Title {
        name: &format!("Tuning {}", clean(&tuning.start.url, 120)),
        lines: vec![counted(tuning.connections, "connection")],
        gist: gist(tuning),
    };
    let banner = html! { p.reading { (gist(tuning)) } };
    let mut sections = vec![
        Section { id: "waterfall", heading: "From before to baseline", body: waterfall(tuning) },
        Section { id: "changes", heading: "What each change brought", body: changes(tuning) },
    ];
    if let Some(left) = &tuning.left {
        let body = html! { @for words in left_of(left) { p { (words) } } };
        sections.push(Section { id: "left", heading: "What is left, and where it goes", body });
        sections.extend(profile.into_iter().flat_map(|(of, tree)| profiled::sections(of, tree)));
    }
    page(&title, banner, &sections, ("plimsoll-tune", tuning))
}

/// A bar for each station that stays; what each change added stands out of the bar before.
fn waterfall(tuning: &Tuning) -> Markup {
    let kept = tuning.steps.iter().filter(|step| step.kept).map(|step| &step.station);
    let stations: Vec<&Station> =
        std::iter::once(&tuning.start).chain(kept).chain(&tuning.baseline).collect();
    let most = stations.iter().map(|station| station.qps).fold(1.0, f64::max);
    let height = stations.len() as f64 * ROW;
    let before =
        std::iter::once(tuning.start.qps).chain(stations.iter().map(|station| station.qps));
    let rows: Vec<_> = stations.iter().zip(before).enumerate().collect();
    // What the baseline has more was brought by no change.
    let changed = stations.len() - usize::from(tuning.baseline.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Waterfall" {
            svg.waterfall viewBox=(format!("0 0 1200 {height:.0}")) role="img" aria-label="Successful responses per second, change by change" {
                @for (row, (station, before)) in rows {
                    @let (y, width) = (row as f64 * ROW, station.qps / most * BAR);
                    @let from = if row < changed { (before / most * BAR).min(width) } else { width };
                    g class="standard" { rect x="0" y=(format!("{:.0}", y + 4.0)) width=(format!("{width:.1}")) height="20" {} }
                    g class="own" {
                        rect x=(format!("{from:.1}")) y=(format!("{:.0}", y + 4.0)) width=(format!("{:.1}", width - from)) height="20" {}
                    }
                    text x=(format!("{:.1}", width + 8.0)) y=(format!("{:.0}", y + 19.0)) { (rate(station.qps)) "/s · " (name(station)) }
                }
            }
        }
        p.soft { "What each change that was kept added is the darker part." }
    }
}

fn changes(tuning: &Tuning) -> Markup {
    html! {
        (table(tuning))
        @for words in discarded(tuning) { p.soft { (words) } }
        @if let Some(words) = pending(tuning) { p.soft { (words) } }
    }
}

fn table(tuning: &Tuning) -> Markup {
    let text = |text: String| html! { (text) };
    let rows = tuning.steps.iter().map(|step| {
        let held = match step.as_predicted {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        vec![
            text(change(step)),
            text(rate(step.station.qps)),
            text(brought(step)),
            text(
                step.over_baseline
                    .map_or_else(String::new, |over| times(over.ratio, over.low, over.high)),
            ),
            text(foretold(step.predicted.as_ref())),
            text(held.to_owned()),
            text(if step.interleaved { "in turns" } else { "against the record" }.to_owned()),
        ]
    });
    let head = [
        "Change",
        "Successes/s",
        "Brought, times",
        "Times the baseline",
        "Predicted, times",
        "Held",
        "Measured",
    ];
    parts::rows(&head, rows)
}
