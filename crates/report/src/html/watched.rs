//! The parts of a run's page about what was watched beside it, and what limits it.

use maud::{Markup, html};
use model::finding::{Finding, Findings};
use model::observed::{Observed, ObservedSource};
use model::run::Run;
use model::units::show_duration;

use super::parts;
use crate::charts;
use crate::figure::{bytes, count, counted, share};
use crate::text::dropped_samples;

/// Sources with their charts and main figures.
pub(super) fn watched(run: &Run, observed: &Observed) -> Markup {
    html! {
        (parts::rows(&COLUMNS, observed.sources.iter().map(row)))
        @for source in &observed.sources {
            @for gap in &source.gaps {
                p { (parts::outside(&source.name)) ": no samples from " (show_duration(gap.from_ns)) " to "
                    (show_duration(gap.to_ns)) ": " (parts::outside(&gap.error)) "." }
            }
            @if let Some(dropped) = dropped_samples(source) { p { (dropped) "." } }
        }
        @for chart in charts::watched(run) { (parts::samples(&chart.chart())) }
    }
}

const COLUMNS: [&str; 9] =
    ["source", "CPU", "cores used", "load", "memory", "disk", "connections", "samples", "cost"];

/// A server in a row, as a test report lists it.
fn row(source: &ObservedSource) -> Vec<Markup> {
    let mean = |name: &str| source.mean(name);
    let or_dash = |text: Option<String>| html! { (text.unwrap_or_else(|| "-".into())) };
    let disk = source.labelled("disk.busy_ns").map(|(_, busy)| busy.mean / 1e9).reduce(f64::max);
    vec![
        html! { (parts::outside(&source.name)) },
        or_dash(verdict::explain::busy(source).map(share)),
        or_dash(mean("process.cpu_ns").map(|ns| format!("{:.2}", ns / 1e9))),
        or_dash(mean("load.1m").map(|load| format!("{load:.2}"))),
        or_dash(memory(source)),
        or_dash(disk.map(|busy| share(busy.min(1.0)))),
        or_dash(mean("nginx.active").or(mean("tcp.established")).map(|n| count(n.round() as u64))),
        html! { (count(source.samples)) },
        html! { (share(source.cost_ratio)) " of a core" },
    ]
}

/// What the process holds, or else what its machine has left: the two are no one figure.
fn memory(source: &ObservedSource) -> Option<String> {
    let resident = source.mean("process.resident_bytes").map(bytes);
    let available = || source.mean("memory.available_bytes");
    resident.or_else(|| available().map(|free| format!("{} available", bytes(free))))
}

/// What limits the run.
pub(super) fn findings(findings: &Findings) -> Markup {
    html! {
        @for finding in &findings.findings { (one(finding)) }
        @for dip in &findings.dips {
            p { "Dip at " (show_duration(dip.start_ns)) " for " (show_duration(dip.duration_ns)) ": "
                @if dip.changed.is_empty() { "nothing that was watched changed." }
                @else { (parts::outside(&dip.changed.join("; "))) "." } }
        }
        @if !findings.abstained.is_empty() {
            details {
                summary { "Not judged: " (counted(findings.abstained.len() as u64, "cause")) }
                (parts::rows(&["cause", "missing"], findings.abstained.iter().map(|abstained| {
                    vec![html! { (abstained.code) }, html! { (parts::outside(&abstained.missing)) }]
                })))
            }
        }
    }
}

fn one(finding: &Finding) -> Markup {
    let place = crate::findings::place(finding);
    html! {
        h3 {
            (finding.rank) ". " code { (finding.code) }
            @if let Some(place) = place { " at " (place) }
        }
        p { (parts::prose(&finding.sentence)) " " span.soft { "Confidence: " (finding.confidence.name()) "." } }
        ul {
            @for evidence in &finding.evidence_for { li { "for: " (parts::prose(evidence)) } }
            @for evidence in &finding.evidence_against { li { "against: " (parts::prose(evidence)) } }
        }
        p { strong { "Fix: " } (parts::prose(&finding.fix)) }
        p { strong { "To check: " } (parts::prose(&finding.experiment)) }
    }
}

#[cfg(test)]
mod tests {
    use model::observed::Figure;

    use super::*;

    fn finding(code: &str) -> Finding {
        Finding { code: code.into(), place: "app".into(), ..Finding::default() }
    }

    #[test]
    fn that_nothing_is_at_its_limit_has_no_place() {
        assert!(one(&finding("server.cpu")).into_string().contains(" at app"));
        assert!(!one(&finding("none")).into_string().contains(" at app"));
    }

    #[test]
    fn one_cause_is_no_causes() {
        let abstained = |n: usize| vec![model::finding::Abstained::default(); n];
        for (n, words) in [(1, "Not judged: 1 cause<"), (2, "Not judged: 2 causes<")] {
            let found = Findings { abstained: abstained(n), ..Findings::default() };
            assert!(findings(&found).into_string().contains(words), "{words}");
        }
    }

    #[test]
    fn memory_that_is_left_is_not_called_used() {
        let of = |name: &str| {
            let figure = Figure { mean: 3.5 * 1_073_741_824.0, ..Figure::default() };
            let figures = [(name.to_owned(), figure)].into();
            memory(&ObservedSource { figures, ..ObservedSource::default() })
        };
        assert_eq!(of("process.resident_bytes").as_deref(), Some("3.5 GiB"));
        assert_eq!(of("memory.available_bytes").as_deref(), Some("3.5 GiB available"));
        assert_eq!(of("load.1m"), None);
    }
}
