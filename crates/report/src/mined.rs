//! What an access log said, as a terminal shows it: how it was read, the peak, the users, the endpoints, the
//! arithmetic.

use model::mined::{ArithmeticStep, Mined, MinedEndpoint};
use model::units::show_duration;

use crate::figure::{clean, count, counted, level, rate, share, share_of, short_names, span, wrap};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone};

/// Endpoints shown.
const SHOWN: usize = 12;
/// Width of the names on the left.
const NAME: usize = 10;

/// The text.
pub fn text(mined: &Mined, style: Style) -> String {
    let mut out = String::new();
    for (name, words) in facts(mined) {
        let lines = wrap(&words, style.columns.max(40) - NAME);
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            out += &format!("{}{line}\n", style.paint(Tone::Strong, &format!("{name:NAME$}")));
        }
    }
    out.push('\n');
    out += &endpoints(mined, style);
    out.push('\n');
    out += &arithmetic(&mined.arithmetic, style);
    for note in &mined.notes {
        let lines = wrap(&clean(note, 500), style.columns.max(40) - 6);
        for (at, line) in lines.iter().enumerate() {
            out += &format!("{}{line}\n", if at == 0 { "note: " } else { "      " });
        }
    }
    out
}

/// The facts of a log, named.
pub(crate) fn facts(mined: &Mined) -> Vec<(&'static str, String)> {
    let peak = &mined.peak;
    let mut read = format!(
        "{} as {}, {}",
        counted(mined.lines, "line"),
        clean(&mined.format, 200),
        span(&mined.first_at, &mined.last_at)
    );
    if mined.bad_lines > 0 {
        let share = share_of(mined.bad_lines, mined.lines);
        read += &format!("; {} ({share})", counted(mined.bad_lines, "bad line"));
    }
    let mut left = Vec::new();
    if mined.without_agents {
        left.push("bots not told apart (no User-Agent)".to_owned());
    } else if mined.bots > 0 {
        left.push(counted(mined.bots, "request") + " of bots");
    }
    if mined.static_files > 0 {
        left.push(counted(mined.static_files, "static file"));
    }
    if mined.left_out > 0 {
        left.push(format!("{} left out by paths", count(mined.left_out)));
    }
    let left = if left.is_empty() {
        String::new()
    } else {
        format!("; apart from them {}", left.join(", "))
    };
    let mut users = format!(
        "{} in all, {} on the busiest day; {} of {:.1} requests",
        count(mined.users),
        count(mined.daily_users),
        counted(mined.sessions, "session"),
        mined.session.requests
    );
    if mined.session.think_ns.count > 0 {
        users += &format!(", pauses of {} (median)", show_duration(mined.session.think_ns.p50));
    }
    vec![
        ("Log", read),
        (
            "Requests",
            format!(
                "{} of the API ({} read, {} write){left}",
                count(mined.counted),
                share_of(mined.reads, mined.counted),
                share_of(mined.writes, mined.counted)
            ),
        ),
        (
            "Peak",
            format!(
                "{}/s from {} ({}); its busiest second had {:.1} times that",
                rate(peak.rate_per_s),
                span(&peak.from, &peak.to),
                counted(peak.requests, "request"),
                peak.burst_factor
            ),
        ),
        ("Users", users),
        ("Bad lines", bad(mined)),
    ]
    .into_iter()
    .filter(|(_, words)| !words.is_empty())
    .collect()
}

fn bad(mined: &Mined) -> String {
    let one = |bad: &model::mined::BadLines| {
        format!("{}: {}, such as `{}`", count(bad.count), bad.reason, clean(&bad.sample, 80))
    };
    mined.bad.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn endpoints(mined: &Mined, style: Style) -> String {
    let timed = mined.endpoints.iter().any(|endpoint| endpoint.latency_ns.is_some());
    let mut grid = Grid::new([Lean::Right, Lean::Right, Lean::Right, Lean::Left]);
    let p95 = if timed { "p95 today" } else { "" };
    grid.row(["requests/s", "share", p95, "endpoint"]);
    let width = style.columns.max(40).saturating_sub(if timed { 34 } else { 25 });
    let shown = || mined.endpoints.iter().take(SHOWN);
    let whole: Vec<String> =
        shown().map(|endpoint| format!("{} {}", endpoint.method, endpoint.path)).collect();
    let names = short_names(&whole.iter().map(String::as_str).collect::<Vec<_>>(), width);
    for (endpoint, name) in shown().zip(names) {
        grid.row([
            rate(endpoint.rate_per_s),
            share(endpoint.share),
            latency(endpoint, |summary| summary.p95),
            name,
        ]);
    }
    let mut out = grid.print_headed(style);
    if mined.endpoints.len() > SHOWN {
        let more = mined.endpoints.len() - SHOWN;
        let shown = format!(
            "... and {more} more; those in the workload cover {} of the peak\n",
            share(mined.covered)
        );
        out += &style.paint(Tone::Soft, &shown);
    }
    out
}

/// A latency of an endpoint, where the log says it.
pub(crate) fn latency(endpoint: &MinedEndpoint, of: fn(&model::Summary) -> u64) -> String {
    let Some(summary) = &endpoint.latency_ns else { return String::new() };
    match (of(summary), endpoint.latency_step_ns) {
        (0, Some(step)) => format!("<{}", show_duration(step)),
        (taken, _) => show_duration(taken),
    }
}

fn arithmetic(steps: &[ArithmeticStep], style: Style) -> String {
    let mut out = String::new();
    for step in steps {
        let line = format!("{} = {}", step.step, value(step));
        for line in wrap(&line, style.columns.max(40)) {
            out += &(line + "\n");
        }
        for line in wrap(&format!("({})", step.assumption), style.columns.max(40) - 2) {
            out += &format!("  {}\n", style.paint(Tone::Soft, &line));
        }
    }
    out
}

/// The figure of a step; users and connections are whole.
pub fn value(step: &ArithmeticStep) -> String {
    if step.value.fract() == 0.0 { level(step.value) } else { rate(step.value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_that_begin_alike_are_told_apart() {
        let of = |kind: &str| MinedEndpoint {
            method: "GET".into(),
            path: format!("/api/v1/organizations/{{id}}/departments/{{id}}/{kind}"),
            ..MinedEndpoint::default()
        };
        let mined = Mined { endpoints: vec![of("items"), of("notes")], ..Mined::default() };
        let printed = endpoints(&mined, Style { columns: 60, ..Style::default() });
        assert!(printed.contains("/items\n") && printed.contains("/notes\n"), "{printed}");
    }

    #[test]
    fn counts_have_no_decimals() {
        for (figure, shown) in [(2.0, "2"), (300_000.0, "300,000"), (18.75, "18.75"), (0.5, "0.50")]
        {
            let step = ArithmeticStep { value: figure, ..ArithmeticStep::default() };
            assert_eq!(value(&step), shown);
        }
    }
}
