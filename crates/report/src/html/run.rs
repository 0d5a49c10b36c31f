//! The page of one run.

use maud::{Markup, html};
use model::kinds::ResponseKind;
use model::plan::{Arriving, Plan};
use model::profiled::{Flame, Profiled};
use model::run::Run;
use model::sweep::LevelKind;
use model::units::{Nanos, exact_duration, show_duration};
use model::validity::Verdict;

use verdict::dips::{FEWEST_SECONDS, can_tell};
use verdict::figures::level_of;
use verdict::validity::{empty_in_words, shows_no_rate, stalls_in_words};

use super::{Section, Title, mix, objectives, page, parts, profiled, watched};
use crate::charts;
use crate::figure::{bytes, clean, count, counted, date, rate, share, share_of};
use crate::text::{
    attempts, available, bounds_latency, ceiling, concurrency, dip_cells, load, load_of,
    processor_time, qps_over, success, users, workers,
};

/// The page of `run`.
pub fn run(run: &Run) -> String {
    profiled_run(run, None)
}

/// The page of `run`, with the profile that was taken in it.
pub fn profiled_run(run: &Run, profile: Option<(&Profiled, &Flame)>) -> String {
    let name = clean(&run.plan.url, 200);
    let gist = format!("{}: {}", run.validity.verdict.name(), reading(run));
    let title = Title { name: &name, lines: vec![subtitle(run)], gist };
    let judged = !run.objectives.is_empty() || run.aborted.is_some();
    let objectives = judged.then(|| Section {
        id: "objectives",
        heading: "Objectives",
        body: objectives::run(run),
    });
    let endpoints = (!run.endpoints.is_empty()).then(|| Section {
        id: "endpoints",
        heading: if run.flows.is_empty() { "Endpoints" } else { "Endpoints and flows" },
        body: mix::run(run),
    });
    let summary = Section { id: "summary", heading: "Summary", body: summary(run) };
    let explained = run.observed.as_ref().map(|observed| {
        let findings = verdict::explain(run);
        [
            Section { id: "watched", heading: "Watched", body: watched::watched(run, observed) },
            Section { id: "limit", heading: "What limits it", body: watched::findings(&findings) },
        ]
    });
    let rest = [
        Section { id: "timeline", heading: "Timeline", body: timeline(run) },
        Section { id: "latency", heading: "Latency", body: latency(run) },
        Section { id: "errors", heading: "Statuses and errors", body: errors(run) },
        Section { id: "environment", heading: "Environment", body: environment(run, "Plan") },
        Section { id: "reproduce", heading: "Reproduce", body: parts::command(&run.command) },
    ];
    let first = objectives.into_iter().chain([summary]).chain(endpoints);
    let profile = profile.map(|(profiled, tree)| profiled::sections(profiled, tree));
    let mut sections: Vec<Section> =
        first.chain(rest).chain(explained.into_iter().flatten()).collect();
    sections.extend(profile.into_iter().flatten());
    let verdict = parts::verdict(&run.validity, bounds_latency(run), parts::early(run));
    let banner = html! { p.reading { (title.gist) } (verdict) };
    page(&title, banner, &sections, ("plimsoll-run", run))
}

fn subtitle(run: &Run) -> String {
    let most = if run.plan.rate_per_s.is_some() { "up to " } else { "" };
    format!(
        "{} · {} · {}, {most}{} · Plimsoll {}",
        date(&run.started_at),
        show_duration(run.totals.duration_ns),
        load_of(run),
        level_of(LevelKind::Concurrency, run.plan.connections.into()),
        clean(&run.plimsoll.version, 40)
    )
}

/// What came out, in a sentence for those who do not know the words of load tests.
fn reading(run: &Run) -> String {
    let (totals, response) = (&run.totals, &run.response_ns);
    // Attempts that timed out have response times, too.
    if totals.requests == 0 || response.count == 0 {
        return "No response came.".to_owned();
    }
    let success = match without_success(run) {
        0 => "all attempts succeeded".to_owned(),
        n => format!("{} of the attempts did not succeed", share_of(n, totals.attempts)),
    };
    if shows_no_rate(run) {
        return format!(
            "The server answered {}, too few for a rate or a percentile: in {} on average, the slowest in {}; {success}.",
            counted(totals.requests, "request"),
            show_duration(response.mean),
            show_duration(response.max)
        );
    }
    format!(
        "The server answered {} requests/s for {}; half of the requests took up to {}, 99 in 100 up to {}; {success}.",
        rate(run.rates.requests_per_s),
        show_duration(totals.duration_ns),
        show_duration(response.p50),
        show_duration(response.p99)
    )
}

/// Attempts that failed, were not sent or had no end.
fn without_success(run: &Run) -> u64 {
    let unawaited = if run.interrupted { run.totals.unfinished } else { 0 };
    run.totals.attempts.saturating_sub(run.totals.succeeded).saturating_sub(unawaited)
}

fn summary(run: &Run) -> Markup {
    let rates = &run.rates;
    let offered = match run.plan.rate_per_s {
        Some(wanted) => match run.plan.mix.arriving() {
            Arriving::Requests => format!("of {}/s offered", rate(rates.offered_per_s)),
            arriving => format!("of {} {}", rate(wanted), arriving.per_s()),
        },
        None => "requests per second".to_owned(),
    };
    let succeeded = match without_success(run) {
        0 => "all attempts".to_owned(),
        n => format!("{} did not succeed", count(n)),
    };
    let response = &run.response_ns;
    let latency =
        |nanos: Nanos| if response.count > 0 { show_duration(nanos) } else { "-".to_owned() };
    let qps = if run.validity.verdict == Verdict::LowerBound { "QPS, at least" } else { "QPS" };
    let bounded = bounds_latency(run);
    let named = |name: &'static str, bound: &'static str| if bounded { bound } else { name };
    let tiles = parts::tiles(&[
        (qps, rate(rates.requests_per_s), offered),
        (
            "Success",
            rates.success_ratio.map_or_else(|| "-".to_owned(), share),
            match available(run) {
                Some(available) => format!("{succeeded}; server available for {available}"),
                None => succeeded,
            },
        ),
        (
            named("p50", "p50, at most"),
            latency(response.p50),
            format!("mean {}", latency(response.mean)),
        ),
        (named("p99", "p99, at most"), latency(response.p99), "response time".to_owned()),
        (
            named("p99.9", "p99.9, at most"),
            latency(response.p999),
            format!("max {}", latency(response.max)),
        ),
    ]);
    html! { (tiles) (parts::facts(&details(run))) }
}

fn details(run: &Run) -> Vec<(String, String)> {
    let (totals, rates) = (&run.totals, &run.rates);
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("Attempts", format!("{} in {}", attempts(run), show_duration(totals.duration_ns))),
        fact(
            "Rates",
            format!(
                "offered {}/s, achieved {}/s, answered {}/s{}",
                rate(rates.offered_per_s),
                rate(rates.achieved_per_s),
                rate(rates.requests_per_s),
                qps_over(run)
            ),
        ),
        fact("Concurrency", concurrency(run)),
        fact(
            "Bytes",
            format!(
                "{} read ({}/s), {} written",
                bytes(totals.bytes_read as f64),
                bytes(rates.bytes_read_per_s),
                bytes(totals.bytes_written as f64)
            ),
        ),
    ];
    if rates.attempts_success_ratio.is_some() {
        facts.insert(0, fact("Success by time", success(run)));
    }
    facts.extend(users(run).map(|line| fact("Users", line)));
    facts.extend(run.redirected_to.as_ref().map(|to| fact("Redirected to", parts::outside(to))));
    if !run.generator.workers.is_empty() {
        let line = format!("{}; {}", processor_time(run), workers(&run.generator));
        facts.push(fact("Generator", line));
        facts.extend(ceiling(run).map(|used| fact("Ceiling", used)));
    }
    if let Some(response) = &run.commonest_response {
        let response = format!(
            "status {}, {} bytes, sha256 {} ({} of {} sampled)",
            response.status,
            count(response.bytes),
            clean(&response.body_sha256, 16),
            count(response.seen),
            count(response.sampled)
        );
        facts.push(fact("Commonest response", response));
    }
    facts
}

fn timeline(run: &Run) -> Markup {
    if run.timeline.is_empty() {
        return html! { p { "The run has no timeline." } };
    }
    html! { (over_time(run, "")) (dips(run)) }
}

/// Fewer periods than this show nothing.
const FEWEST_DRAWN: usize = 3;

/// The charts of a run over time, or that there are none of so short a run; `place` stands behind their titles.
pub(super) fn over_time(run: &Run, place: &str) -> Markup {
    let mut timeline = charts::timeline(run);
    if timeline.seconds.len() < FEWEST_DRAWN {
        let length: Nanos = run.timeline.iter().map(|point| point.duration_ns).sum();
        return html! {
            p {
                "This run was too short to be drawn over time: " (show_duration(length)) ", where the shortest period \
                 that is kept apart is 100 ms long. Measure longer (-d, or more requests with -n) to see how it went."
            }
        };
    }
    timeline.title += place;
    let heat = charts::heat(run).map(|mut heat| {
        heat.title += place;
        heat
    });
    html! {
        (parts::timeline(&timeline.chart()))
        @if let Some(heat) = heat { (parts::timeline(&heat.chart())) }
    }
}

/// The periods in which the server departed from its trend.
fn dips(run: &Run) -> Markup {
    let row = |dip: &model::Dip| {
        let mut cells: Vec<Markup> = dip_cells(dip).map(|cell| html! { (cell) }).into();
        cells.push(html! { (parts::outside(&dip.endpoints.join(", "))) });
        cells
    };
    let stalls = stalls_in_words(run);
    html! {
        h3 { "Dips" }
        @if let Some(stalls) = &stalls { p { "Stalls: " (stalls) "." } }
        @if !can_tell(run.totals.duration_ns) {
            p { "The window is too short to find dips: that takes " (FEWEST_SECONDS) " s or more." }
        } @else if run.dips.is_empty() {
            @if stalls.is_none() { p { "No dips: throughput and latency stayed on trend." } }
        } @else {
            (parts::rows(
                &["at", "for", "depth", "recovery", "endpoints"],
                run.dips.iter().map(row),
            ))
        }
    }
}

fn latency(run: &Run) -> Markup {
    let spectrum = charts::spectrum(run);
    if spectrum.series.is_empty() {
        return html! { p { "There were no responses." } };
    }
    html! { (parts::latencies(run)) (parts::chart(&spectrum.chart())) }
}

fn errors(run: &Run) -> Markup {
    let totals = &run.totals;
    let statuses = totals.statuses.iter().map(|(status, &n)| {
        vec![html! { (status) }, html! { (count(n)) }, html! { (share_of(n, totals.requests)) }]
    });
    let classes = totals.errors.occurred().map(|(class, n)| {
        let sample = totals.error_samples.get(class.name()).map_or("", String::as_str);
        vec![
            html! { (class.name()) },
            html! { (count(n)) },
            html! { (share_of(n, totals.attempts)) },
            html! { span.words { (parts::outside(sample)) } },
        ]
    });
    let outcomes = [("Unsent", totals.unsent), ("Unfinished", totals.unfinished)];
    html! {
        @if totals.statuses.is_empty() { p { "There were no responses." } }
        @else { (parts::rows(&["status", "responses", "share"], statuses)) }
        (kinds(run))
        @if totals.errors.total() == 0 { p { "No attempt failed." } }
        @else { (parts::rows(&["error", "attempts", "share", "sample"], classes)) }
        @for (name, n) in outcomes { @if n > 0 { p { (name) ": " (count(n)) "." } } }
        @for (name, n) in &totals.limits {
            p { "Limit reached here: " (parts::outside(name)) ", " (counted(*n, "time")) "." }
        }
    }
}

/// What the successful responses looked like; nothing where that was not kept.
fn kinds(run: &Run) -> Markup {
    let endpoint = |of: u32| run.plan.mix.endpoints.get(of as usize).map(|of| of.name.as_str());
    let several = run.plan.mix.endpoints.len() > 1;
    let row = |kind: &ResponseKind| {
        let lengths = match kind.least_bytes == kind.most_bytes {
            true => count(kind.most_bytes),
            false => format!("{} to {}", count(kind.least_bytes), count(kind.most_bytes)),
        };
        let text = |text: &Option<String>| parts::outside(text.as_deref().unwrap_or("-"));
        let name = endpoint(kind.endpoint).map(parts::outside).filter(|_| several);
        let mut cells: Vec<Markup> = name.into_iter().map(|name| html! { (name) }).collect();
        cells.extend([
            html! { span.words { (text(&kind.beginning)) } },
            html! { (kind.status) },
            html! { (text(&kind.media_type)) },
            html! { (lengths) },
            html! { (count(kind.responses)) },
            html! { (share_of(kind.responses, run.totals.requests)) },
        ]);
        cells
    };
    let heads = ["endpoint", "beginning", "status", "media type", "bytes", "responses", "share"];
    html! {
        @if !run.response_kinds.is_empty() {
            h3 { "Kinds of successful responses" }
            (parts::rows(&heads[usize::from(!several)..], run.response_kinds.iter().map(row)))
        }
        @if let Some(words) = empty_in_words(run) { p { (parts::outside(&words)) "." } }
    }
}

/// Where a run came from, and its plan under a heading.
pub(super) fn environment(run: &Run, plan_heading: &str) -> Markup {
    html! {
        h3 { "Generator's machine" }
        (parts::environment(&run.environment))
        h3 { (plan_heading) }
        (parts::facts(&plan(&run.plan)))
    }
}

/// The plan's settings that a reader may ask for; the rest is in the JSON.
fn plan(plan: &Plan) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    let mut facts = vec![
        fact("Request", format!("{} {}", clean(&plan.method, 20), parts::outside(&plan.url))),
        fact("Load", load(plan)),
        fact("Connections", count(plan.connections.into())),
        fact("Workers", format!("{} ({})", plan.threads, plan.io.name())),
        fact("Time-out", exact_duration(plan.timeout_ns)),
        fact("Keep-alive", yes(plan.keepalive)),
        fact("Success", format!("status {}", plan.success)),
        fact("Seed", plan.seed.to_string()),
    ];
    if plan.pipeline > 1 {
        facts.push(fact("Pipeline", plan.pipeline.to_string()));
    }
    if plan.cookies {
        facts.push(fact("Cookies", "kept by each user".to_owned()));
    }
    for path in plan.addresses.iter().filter_map(|address| address.strip_prefix("unix:")) {
        facts.push(fact("Unix socket", clean(path, 200)));
    }
    if plan.body_bytes > 0 {
        facts.push(fact("Body", bytes(plan.body_bytes as f64)));
    }
    for (name, value) in &plan.headers {
        facts.push(fact("Header", format!("{}: {}", parts::outside(name), parts::outside(value))));
    }
    if let Some(tls) = &plan.tls {
        let check = if tls.insecure { "certificate unchecked" } else { "certificate checked" };
        facts.push(fact("TLS", format!("{} to {}, {check}", tls.min, tls.max)));
    }
    facts
}
