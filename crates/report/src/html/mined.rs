//! The page of an access log.

use maud::{Markup, html};
use model::Mined;
use model::mined::{MinedEndpoint, Parameter};

use super::{Section, Title, page, parts};
use crate::chart::{self, Demand};
use crate::figure::{clean, count, counted, rate, share, share_of, span};
use crate::mined::{facts, latency, value};

/// The page of a mined log.
pub fn mined(mined: &Mined) -> String {
    let name = match &mined.files[..] {
        [one] => format!("Log {}", clean(one, 120)),
        files => format!("{} logs", files.len()),
    };
    let line = span(&mined.first_at, &mined.last_at);
    let gist = format!(
        "{} requests/s in the busiest window, {}",
        rate(mined.peak.rate_per_s),
        counted(mined.endpoints.len() as u64, "endpoint")
    );
    let title = Title { name: &name, lines: vec![line], gist };
    let mut sections = vec![
        Section { id: "summary", heading: "Summary", body: summary(mined) },
        Section { id: "time", heading: "Over time", body: over_time(mined) },
        Section { id: "endpoints", heading: "Endpoints", body: endpoints(mined) },
        Section { id: "templates", heading: "Templates", body: templates(mined) },
        Section { id: "load", heading: "From the peak to the load", body: arithmetic(mined) },
    ];
    if !mined.flows.is_empty() {
        sections.push(Section { id: "ways", heading: "Ways through the site", body: ways(mined) });
    }
    sections.push(Section {
        id: "paths",
        heading: "Paths as they were asked for",
        body: paths(mined),
    });
    page(&title, banner(mined), &sections, ("plimsoll-mine", mined))
}

fn banner(mined: &Mined) -> Markup {
    html! {
        p.reading {
            strong { (rate(mined.peak.rate_per_s)) " requests/s" }
            " at the peak, from " (span(&mined.peak.from, &mined.peak.to)) "."
        }
        @for note in &mined.notes { p.soft { (parts::prose(note)) } }
    }
}

fn summary(mined: &Mined) -> Markup {
    let tiles = [
        (
            "Peak",
            format!("{}/s", rate(mined.peak.rate_per_s)),
            counted(mined.peak.requests, "request"),
        ),
        (
            "Users on the busiest day",
            count(mined.daily_users),
            format!("{} in all", count(mined.users)),
        ),
        (
            "Endpoints",
            count(mined.endpoints.len() as u64),
            format!("workload covers {}", share(mined.covered)),
        ),
        ("Writes", share_of(mined.writes, mined.counted), String::new()),
    ];
    let facts: Vec<_> =
        facts(mined).into_iter().map(|(name, words)| (name.to_owned(), words)).collect();
    html! { (parts::tiles(&tiles)) (parts::facts(&facts)) }
}

fn over_time(mined: &Mined) -> Markup {
    let first = mined.curve.first().map_or(0, |(at, _)| *at);
    let step = mined.curve_step_s.max(1) as f64;
    let from = (mined.peak.from_s - first) as f64;
    let demand = Demand {
        title: "Requests of the API over the log".to_owned(),
        subtitle: format!(
            "The busiest window has {} requests/s on average, {:.1} times that in its busiest second.",
            rate(mined.peak.rate_per_s),
            mined.peak.burst_factor
        ),
        parts: mined.curve.iter().map(|(at, n)| ((at - first) as f64, *n as f64 / step)).collect(),
        step_s: step,
        peak: (from, from + mined.peak.seconds as f64),
    };
    html! { (parts::chart(&demand.chart())) (parts::chart(&chart::by_hour(&mined.by_hour))) }
}

fn endpoints(mined: &Mined) -> Markup {
    let headers = [
        "endpoint",
        "requests/s",
        "share",
        "requests",
        "failed",
        "p50 today",
        "p95 today",
        "in the workload",
    ];
    let row = |endpoint: &MinedEndpoint| {
        let failed = endpoint.statuses.iter().filter(|(status, _)| **status >= 400);
        let failed = failed.fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        let cells = [
            clean(&format!("{} {}", endpoint.method, endpoint.path), 200),
            rate(endpoint.rate_per_s),
            share(endpoint.share),
            count(endpoint.count),
            share_of(failed, endpoint.count),
            latency(endpoint, |summary| summary.p50),
            latency(endpoint, |summary| summary.p95),
            endpoint.sent_per_s.map(|sent| format!("{}/s", rate(sent))).unwrap_or_default(),
        ];
        cells.into_iter().map(|cell| html! { (cell) }).collect()
    };
    parts::rows(&headers, mined.endpoints.iter().map(row))
}

fn templates(mined: &Mined) -> Markup {
    let headers =
        ["endpoint", "parameter", "place", "kind", "values", "commonest tenth", "examples"];
    let row = |endpoint: &MinedEndpoint, parameter: &Parameter| {
        let words = |text: &str| html! { span.words { (clean(text, 200)) } };
        let name = format!("{} {}", endpoint.method, endpoint.path);
        vec![
            html! { (clean(&name, 200)) },
            html! { (clean(&parameter.name, 60)) },
            html! { (clean(&parameter.place, 20)) },
            html! { (clean(&parameter.kind, 20)) },
            html! { (count(parameter.distinct)) },
            html! { (share(parameter.skew)) },
            words(&parameter.examples.join(", ")),
        ]
    };
    let all = mined.endpoints.iter();
    let rows =
        all.flat_map(|endpoint| endpoint.parameters.iter().map(move |one| row(endpoint, one)));
    parts::rows(&headers, rows)
}

fn arithmetic(mined: &Mined) -> Markup {
    let row = |step: &model::mined::ArithmeticStep| {
        let words = |text: &str| html! { span.words { (clean(text, 300)) } };
        vec![words(&step.step), html! { (value(step)) }, words(&step.assumption)]
    };
    parts::rows(&["step", "value", "assumes"], mined.arithmetic.iter().map(row))
}

fn ways(mined: &Mined) -> Markup {
    let row = |(at, way): (usize, &model::mined::MinedFlow)| {
        vec![
            html! { (at + 1) },
            html! { (share(way.share)) },
            html! { (rate(way.rate_per_s)) },
            html! { span.words { (clean(&way.steps.join(" → "), 600)) } },
        ]
    };
    parts::rows(
        &["way", "share of sessions", "sessions/s", "steps"],
        mined.flows.iter().enumerate().map(row),
    )
}

fn paths(mined: &Mined) -> Markup {
    let row = |path: &model::mined::PathCount| {
        vec![html! { span.words { (clean(&path.request, 300)) } }, html! { (count(path.count)) }]
    };
    html! {
        p.soft { "Queries left away; bots and static files are among them." }
        (parts::rows(&["request", "requests"], mined.top_paths.iter().map(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words make their column wide, under a header that stands at the other end.
    #[test]
    fn a_parameter_s_name_takes_no_more_room_than_it_needs() {
        let parameter = Parameter { name: "id".to_owned(), ..Parameter::default() };
        let endpoint = MinedEndpoint { parameters: vec![parameter], ..MinedEndpoint::default() };
        let mined = Mined { endpoints: vec![endpoint], ..Mined::default() };
        let page = templates(&mined).into_string();
        assert!(page.contains("<td>id</td>"), "{page}");
    }
}
