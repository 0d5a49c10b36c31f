//! The page of a profile, its sections in a run's page, and the page of two profiles compared.

use maud::{Markup, html};
use model::profiled::{Flame, FunctionChange, FunctionCost, Owner, ProfileDiff, Profiled};

use super::{Section, Title, page, parts};
use crate::figure::{clean, share};
use crate::flame;
use crate::profiled::{amount, summary_line, whole, without_samples};

/// Functions listed.
const SHOWN: usize = 60;

/// The page of a profile.
pub fn profiled(profiled: &Profiled, tree: &Flame) -> String {
    let name = format!("Profile {}", clean(&profiled.source, 120));
    let lines = summary_line(profiled);
    let own = profiled.owners.iter().find(|owner| owner.owner == Owner::Own);
    let own = own.map_or(0.0, |own| own.cum as f64 / profiled.total.max(1) as f64);
    let gist = match profiled.total {
        0 => without_samples(profiled),
        _ => format!("own code and what it calls: {} of the profile", share(own)),
    };
    let title = Title { name: &name, lines, gist };
    let banner = html! {
        p.reading {
            @if profiled.total == 0 { (without_samples(profiled)) "." }
            @else { "Own code and what it calls: " strong { (share(own)) } "." }
        }
        @for note in &profiled.notes { p.soft { (clean(note, 500)) } }
    };
    page(&title, banner, &sections(profiled, tree), ("plimsoll-profile", profiled))
}

/// The sections of a profile.
pub(super) fn sections(profiled: &Profiled, tree: &Flame) -> Vec<Section> {
    if profiled.total == 0 {
        let body = html! { p { (without_samples(profiled)) "." } };
        return vec![Section { id: "owners", heading: "Whose code it is", body }];
    }
    let unit = |value: i64| match profiled.us_per_request(value) {
        Some(us) => format!("{us:.2} us/request"),
        None => amount(profiled, value),
    };
    let mut sections =
        vec![Section { id: "owners", heading: "Whose code it is", body: owners(profiled, &unit) }];
    if !profiled.layers.is_empty() {
        sections.push(Section {
            id: "layers",
            heading: "What each layer adds",
            body: layers(profiled, &unit),
        });
    }
    sections.push(Section { id: "flame", heading: "Flame graph", body: flame::flame(tree, &unit) });
    sections.push(Section {
        id: "functions",
        heading: "Functions",
        body: functions(profiled, &unit),
    });
    sections
}

/// The page of two profiles compared.
pub fn profile_diff(diff: &ProfileDiff, tree: &Flame) -> String {
    let change = diff.total_after - diff.total_before;
    let gist = format!(
        "processor time per request {:.1} -> {:.1} us ({change:+.1} us)",
        diff.total_before, diff.total_after
    );
    let [before, after] = [&diff.before, &diff.after].map(|name| clean(name, 120));
    let lines = vec![format!("before: {before}"), format!("after: {after}")];
    let title = Title { name: "Two profiles", lines, gist: gist.clone() };
    let microseconds = |picoseconds: i64| format!("{:.2} us/request", picoseconds as f64 / 1e6);
    let sections = [
        Section { id: "flame", heading: "What changed", body: flame::flame(tree, &microseconds) },
        Section { id: "functions", heading: "Functions", body: changes(diff) },
    ];
    let banner = html! { p.reading { (gist) } };
    page(&title, banner, &sections, ("plimsoll-profilediff", diff))
}

/// The functions whose cost changed, the largest change first.
fn changes(diff: &ProfileDiff) -> Markup {
    let row = |function: &FunctionChange| {
        vec![
            text(clean(&function.name, 160)),
            text(function.owner.name()),
            text(format!("{:.2}", function.cum_before)),
            text(format!("{:.2}", function.cum_after)),
            text(format!("{:+.2}", function.change)),
            text(format!("{:+.2} to {:+.2}", function.low, function.high)),
        ]
    };
    html! {
        p.soft { "Microseconds of the processor per request, each function with its callees; intervals of 95 %." }
        (parts::rows(
            &["Function", "Whose", "Before", "After", "Change", "Interval"],
            diff.functions.iter().take(SHOWN).map(row),
        ))
    }
}

fn text(text: impl Into<String>) -> Markup {
    let text = text.into();
    html! { (text) }
}

fn owners(profiled: &Profiled, unit: &dyn Fn(i64) -> String) -> Markup {
    let total = profiled.total.max(1) as f64;
    let rows = profiled.owners.iter().map(|owner| {
        vec![
            text(owner.owner.name()),
            text(share(owner.cum as f64 / total)),
            text(share(owner.share)),
            text(share(owner.flat as f64 / total)),
            text(unit(owner.caused)),
        ]
    });
    parts::rows(&["Whose", "With what it calls", "Charged", "Itself", "Charged, amount"], rows)
}

/// The layers as a waterfall: each bar begins where the one before ends.
fn layers(profiled: &Profiled, unit: &dyn Fn(i64) -> String) -> Markup {
    let sum: f64 = profiled.layers.iter().map(|layer| layer.share.max(0.0)).sum();
    let height = profiled.layers.len() as f64 * 24.0;
    // Where each begins.
    let starts = profiled.layers.iter().scan(0.0, |end, layer| {
        let start = *end;
        *end += layer.share.max(0.0);
        Some(start)
    });
    let layers = profiled.layers.iter().zip(starts).enumerate();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Layers" {
            svg.waterfall viewBox=(format!("0 0 1200 {height:.0}")) role="img" aria-label="What each layer adds" {
                @for (row, (layer, from)) in layers {
                    @let (y, x) = (row as f64 * 24.0, from / sum.max(1e-9) * 600.0);
                    @let width = layer.share.max(0.0) / sum.max(1e-9) * 600.0;
                    @let value = layer.added.saturating_add(layer.collecting);
                    g class=(flame::class(layer.owner)) {
                        rect x=(format!("{x:.2}")) y=(format!("{:.0}", y + 3.0)) width=(format!("{:.2}", width.max(1.0))) height="18" {}
                        text.outside x=(format!("{:.2}", x + width.max(1.0) + 6.0)) y=(format!("{:.0}", y + 16.0)) {
                            (clean(&layer.name, 90)) " · " (share(layer.share)) " · " (unit(value))
                            @if let Some(bytes) = layer.bytes_per_request { " · " (whole(bytes)) " bytes/request" }
                        }
                    }
                }
            }
        }
        p.soft { "Outermost first. What a layer adds is its own: the handlers that it calls have bars of their own." }
    }
}

fn functions(profiled: &Profiled, unit: &dyn Fn(i64) -> String) -> Markup {
    let total = profiled.total.max(1) as f64;
    let row = |function: &FunctionCost| {
        vec![
            text(clean(&function.name, 160)),
            text(function.owner.name()),
            text(share(function.share)),
            text(share(function.flat as f64 / total)),
            text(unit(function.cum.saturating_add(function.collecting))),
            text(function.cum_bytes_per_request.map_or_else(String::new, whole)),
        ]
    };
    let headers =
        ["Function", "Whose", "With callees", "Itself", "Amount with callees", "Bytes per request"];
    parts::rows(&headers, profiled.functions.iter().take(SHOWN).map(row))
}
