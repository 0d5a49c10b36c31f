//! What a run comes to, on one screen: the verdict with its three figures first, then what made them.
//!
//! Owns what is worth a line and what is left to [`super::details`]: what is zero, as planned or said already is left
//! out. Lines are at most as wide as the terminal. Does not own the figures nor the verdict.

use std::collections::BTreeMap;

use model::percentile::Summary;
use model::units::show_duration;
use model::validity::{Reason, Verdict};
use model::{ErrorClass, ReasonCode, Run};
use unicode_width::UnicodeWidthStr;
use verdict::exit;
use verdict::validity::{brief_advice, empty_in_words, shows_no_rate, stalls_in_words};

use super::detail::{self, named};
use super::validity::{bounds_latency, ended_early};
use super::{Style, Tone, hanging, mix, objectives, paragraph_in};
use crate::figure::{clean, count, counted, rate, share, wrap};
use crate::grid::{Grid, Lean};
use crate::latencies::{handshakes, response_is_service, untimed};

/// Longest a reason may be.
const LONGEST: usize = 1000;
/// Classes of errors, and endpoints, that have a line of their own.
const MOST: usize = 4;
/// Connections opened for each attempt from which on connecting has a line.
const OFTEN: f64 = 0.1;
/// Percentiles shown, by name.
const SHOWN: [&str; 4] = ["p50", "p90", "p99", "p99.9"];

/// The run in some ten lines.
pub fn summary(run: &Run, style: Style) -> String {
    let parts = [
        Some(verdict(run, style)),
        Some(load(run, style) + &limit(run, style).unwrap_or_default()),
        mix::most_used(run, style, MOST),
        errors(run, style),
        objectives::brief(run, style),
        unwatched(run, style),
        notes(run, style),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Sources that failed, and why, or that told nothing.
fn unwatched(run: &Run, style: Style) -> Option<String> {
    let lines = super::unwatched::failures(run);
    let lines: Vec<String> =
        lines.iter().take(MOST).map(|text| line(style, "Not watched", text)).collect();
    (!lines.is_empty()).then(|| lines.concat())
}

/// What limits it, where something was watched. That nothing tells is left to the details.
fn limit(run: &Run, style: Style) -> Option<String> {
    run.observed.as_ref()?;
    let findings = verdict::explain(run);
    let first = findings.findings.first()?;
    // Of an INVALID run its evidence is the reason that stands below the verdict; of a few requests a note says what to do.
    let is_told = run.validity.verdict == Verdict::Invalid || shows_no_rate(run);
    if first.code == "unknown" && (is_told || first.evidence_for.is_empty()) {
        return None;
    }
    let first = crate::findings::first(&findings)?;
    Some(line(style, "Limit", &first))
}

/// The verdict with QPS, success and mean, and below it why it is not `VALID`.
fn verdict(run: &Run, style: Style) -> String {
    let verdict = run.validity.verdict;
    let name = verdict.name();
    let line = |words: Words| format!("{name}: {}", figures(run, words));
    let long = line(Words::LONG);
    let fits = long.width() <= style.columns;
    let headline = if fits { long } else { line(Words::SHORT) };
    let headline = paragraph_in(&headline, "", style.columns);
    let tone = match verdict {
        Verdict::Valid => Tone::Good,
        Verdict::LowerBound => Tone::Doubtful,
        Verdict::Invalid => Tone::Bad,
    };
    let mut out = headline.replacen(name, &style.paint(tone, name), 1);
    out += &ended_early(run, style);
    let bounds_nothing =
        |reason: &Reason| run.totals.requests == 0 && reason.consequence == Verdict::LowerBound;
    let is_shown = |reason: &&Reason| !is_note(reason) && !bounds_nothing(reason);
    for reason in run.validity.reasons.iter().filter(is_shown) {
        let words = format!("{}: {}", reason.code.name(), clean(&reason.text, LONGEST));
        out += &paragraph_in(&words, "  ", style.columns);
    }
    if let Some(words) = exit::of_lower_bound(run).or_else(|| exit::of_borne_absence(run)) {
        out += &paragraph_in(&words, "  ", style.columns);
    }
    out
}

/// From which difference to the attempts' share on it is said that success is a share of the users' time.
const MUCH: f64 = 0.05;

/// What stands before bounds, behind what is not to be quoted, and behind a success that is a share of time.
struct Words {
    least: &'static str,
    most: &'static str,
    quote: &'static str,
    of_time: &'static str,
}

impl Words {
    const LONG: Self = Self {
        least: "at least ",
        most: "at most ",
        quote: " (do not quote)",
        of_time: " of users' time",
    };
    /// For narrow terminals: so that the three figures stay in one line.
    const SHORT: Self = Self { least: "≥", most: "≤", quote: "", of_time: " of time" };
}

/// QPS, success and mean: bounds of a lower bound, and nothing to quote of an invalid run.
fn figures(run: &Run, words: Words) -> String {
    let rates = &run.rates;
    let (least, quote) = match run.validity.verdict {
        Verdict::Valid => ("", ""),
        Verdict::LowerBound => (words.least, ""),
        Verdict::Invalid => ("", words.quote),
    };
    let most = if bounds_latency(run) { words.most } else { "" };
    let of_attempts = rates.attempts_success_ratio.or(rates.success_ratio).unwrap_or(0.0);
    let by_time = |ratio: &f64| (of_attempts - ratio).abs() >= MUCH;
    let of_time =
        if rates.success_ratio.as_ref().is_some_and(by_time) { words.of_time } else { "" };
    let success = rates.success_ratio.map_or_else(|| "-".to_owned(), share);
    let mean = match run.response_ns.count {
        0 => "no response".to_owned(),
        _ => format!("mean {most}{}", show_duration(run.response_ns.mean)),
    };
    let of = match run.response_ns.count {
        _ if !shows_no_rate(run) => String::new(),
        n => format!(" ({})", counted(n, "request")),
    };
    let qps = rate(rates.requests_per_s);
    format!("QPS {least}{qps}{of}, success {success}{of_time}, {mean}{quote}")
}

fn is_note(reason: &Reason) -> bool {
    reason.consequence == Verdict::Valid
}

/// What was sent and how long it took.
fn load(run: &Run, style: Style) -> String {
    let plan = &run.plan;
    let are = if plan.rate_per_s.is_some() { " up to " } else { "=" };
    let connections = count(plan.connections.into());
    let mut out = line(style, "Load", &format!("{}, c{are}{connections}", detail::load_of(run)));
    let (offered, achieved) = (rate(run.rates.offered_per_s), rate(run.rates.achieved_per_s));
    let as_planned = |planned| offered == rate(planned) && achieved == offered;
    let over = match detail::qps_over(run) {
        over if over.is_empty() => over,
        over => format!(", QPS {}{over}", rate(run.rates.requests_per_s)),
    };
    if plan.rate_per_s.is_some_and(|planned| !as_planned(planned) || !over.is_empty()) {
        out += &line(style, "Rates", &format!("offered {offered}/s, achieved {achieved}/s{over}"));
    }
    out += &latencies(run, style);
    if run.totals.requests > 0 {
        out += &line(style, "Responses", &responses(run));
    }
    for (name, words) in [
        ("Empty bodies", empty_in_words(run)),
        ("Handshakes", handshakes(run).map(|words| words.replacen("TLS handshakes: ", "", 1))),
        ("Users", detail::users(run)),
        ("Stalls", stalls_in_words(run)),
        ("Dips", dips(run)),
    ] {
        out += &words.map_or_else(String::new, |words| line(style, name, &words));
    }
    out
}

/// Response time, and service time where it is another.
fn latencies(run: &Run, style: Style) -> String {
    let mut rows: Vec<(&str, &Summary)> = match response_is_service(run) {
        true => vec![("Service time", &run.service_ns)],
        false => vec![("Response time", &run.response_ns), ("Service time", &run.service_ns)],
    };
    // Users of a closed loop, and those in a session, wait for it before the time that is kept of their requests begins.
    if run.opened_each() >= OFTEN {
        rows.push(("Connecting", &run.connect_ns));
        rows.push(("Handshake", &run.tls_ns));
    }
    let mut rows = rows.iter().filter(|(_, summary)| summary.count > 0).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let shown = || model::PERCENTILES.iter().filter(|percentile| SHOWN.contains(&percentile.name));
    // Of the columns behind the name, p99.9 and p90.
    let mut grid = Grid::named(SHOWN.len() + 1).spare(&[4, 2]);
    grid.row([""].into_iter().chain(shown().map(|percentile| percentile.name)).chain(["max"]));
    for (name, summary) in rows {
        let figures = shown().map(|percentile| (percentile.of)(summary)).chain([summary.max]);
        grid.row([(*name).to_owned()].into_iter().chain(figures.map(show_duration)));
    }
    let lacking = untimed(run).map_or_else(Vec::new, |note| wrap(&note, style.columns));
    let lacking = lacking.iter().map(|note| style.paint(Tone::Soft, note) + "\n");
    grid.print_headed(style) + &lacking.collect::<String>()
}

/// How many responses there were, by status; of many statuses those that most had.
fn responses(run: &Run) -> String {
    let mut statuses: Vec<(u16, u64)> =
        run.totals.statuses.iter().map(|(&status, &n)| (status, n)).collect();
    statuses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let more = statuses.len().saturating_sub(MOST);
    let each = statuses.iter().map(|(status, n)| format!("{} of status {status}", count(*n)));
    let mut words = each.take(MOST).collect::<Vec<_>>().join(", ");
    words += &match more {
        0 => String::new(),
        1 => ", and 1 more status".to_owned(),
        more => format!(", and {more} more statuses"),
    };
    words
}

/// The longest of the periods in which the server departed from its trend.
fn dips(run: &Run) -> Option<String> {
    let longest = run.dips.iter().max_by_key(|dip| dip.duration_ns)?;
    let [at, length, depth, end] = detail::dip_cells(longest);
    let longest = format!("at {at} for {length}: {depth}, {end}");
    Some(match run.dips.len() {
        1 => longest,
        several => format!("{several}, the longest {longest}"),
    })
}

/// The classes of failures, with a sample each.
fn errors(run: &Run, style: Style) -> Option<String> {
    let mut classes: Vec<_> = run.totals.errors.occurred().collect();
    classes.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    if let [(class, _)] = classes.as_slice()
        && is_the_reason(run, *class)
    {
        return None;
    }
    let mut grid = Grid::new([Lean::Left, Lean::Right, Lean::Left]);
    for (class, n) in classes.iter().take(MOST) {
        let checks = Some(failed_checks(run)).filter(|_| *class == ErrorClass::Check);
        let checks = checks.filter(|checks| !checks.is_empty());
        let sample = || run.totals.error_samples.get(class.name()).cloned().unwrap_or_default();
        grid.row([class.name().to_owned(), count(*n), checks.unwrap_or_else(sample)]);
    }
    let mut lines: Vec<String> =
        grid.print().lines().map(|line| clean(line, style.columns - detail::NAME)).collect();
    if let Some(more) = classes.len().checked_sub(MOST).filter(|&more| more > 0) {
        lines.push(format!("and {more} more classes of errors"));
    }
    (!lines.is_empty()).then(|| named(style, "Errors", &lines))
}

/// Whether the reason below the verdict says how all attempts failed: that no response came.
fn is_the_reason(run: &Run, class: ErrorClass) -> bool {
    let sample = run.totals.error_samples.get(class.name());
    let mut reasons = run.validity.reasons.iter();
    reasons.any(|reason| {
        let of_all = reason.code == ReasonCode::NoResponses;
        of_all && sample.is_some_and(|sample| reason.text.contains(sample.as_str()))
    })
}

/// The checks that responses failed, those first that most did, with how often where there are several.
fn failed_checks(run: &Run) -> String {
    let mut failed: BTreeMap<&str, u64> = BTreeMap::new();
    for (check, &n) in run.endpoints.iter().flat_map(|endpoint| &endpoint.failed_checks) {
        let sum = failed.entry(check).or_default();
        *sum = sum.saturating_add(n);
    }
    let mut failed: Vec<_> = failed.into_iter().collect();
    failed.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    match failed.as_slice() {
        [(only, _)] => format!("not so: {only}"),
        several => {
            let each: Vec<String> =
                several.iter().map(|(check, n)| format!("{check} ({})", count(*n))).collect();
            each.join("; ")
        }
    }
}

/// What is worth knowing though the figures may be believed, a line each.
fn notes(run: &Run, style: Style) -> Option<String> {
    let notes = run.validity.reasons.iter().filter(|reason| is_note(reason));
    let line = |reason: &Reason| {
        let line = |text: &str| format!("note, {}: {text}", reason.code.name());
        // What to do must not be cut off; where there is no room for it and the rule's name, it goes alone.
        let brief = brief_advice(reason.code, run);
        let shorter = brief.into_iter().flat_map(|brief| [line(brief), format!("note: {brief}")]);
        // --follow goes to no other server, nor with a workload file: where it leads is of use to all.
        let led = run.redirected_to.as_ref().filter(|_| reason.code == ReasonCode::Redirected);
        let led =
            led.map(|to| line(&format!("a redirect was measured: load {}", clean(to, LONGEST))));
        let forms: Vec<String> = std::iter::once(line(&clean(&reason.text, LONGEST)))
            .chain(led)
            .chain(shorter)
            .collect();
        let fits = forms.iter().find(|words| words.width() <= style.columns);
        // A bound says that something held the generator up: what became of the server meanwhile is not to be lost beside it.
        let of_server = matches!(
            reason.code,
            ReasonCode::NotSteady | ReasonCode::Dips | ReasonCode::ServerGone
        );
        let whole = of_server && run.validity.verdict == Verdict::LowerBound;
        let fits = if whole { forms.first() } else { fits };
        // Where no form fits in a line, the shortest is whole in several.
        let shown = fits.or_else(|| forms.iter().min_by_key(|words| words.width()));
        let lines = hanging(shown.map_or("", String::as_str), style.columns);
        lines.iter().map(|line| style.paint(Tone::Soft, line) + "\n").collect::<String>()
    };
    let lines: String = notes.map(line).collect();
    (!lines.is_empty()).then_some(lines)
}

/// A name and a text that fits, in as many lines as it takes.
fn line(style: Style, name: &str, text: &str) -> String {
    named(style, name, &wrap(text, style.columns - detail::NAME))
}

#[cfg(test)]
mod tests {
    use model::observed::{Observed, ObservedSource};

    use super::*;
    use crate::sample;

    fn at(columns: usize) -> Style {
        Style { columns, ..Style::default() }
    }

    #[test]
    fn success_says_that_it_is_of_time_where_attempts_tell_another_story() {
        let mut run = fixture::sound::closed();
        for (of_attempts, told) in [(Some(0.99), true), (Some(0.76), false), (None, false)] {
            (run.rates.success_ratio, run.rates.attempts_success_ratio) = (Some(0.74), of_attempts);
            let text = summary(&run, at(100));
            let headline = text.lines().next().unwrap();
            assert_eq!(headline.contains("success 74.00 % of users' time, mean"), told, "{text}");
            assert_eq!(headline.contains("success 74.00 %, mean"), !told, "{text}");
        }
    }

    #[test]
    fn what_became_of_the_server_stands_beside_a_bound_in_whole() {
        let told = "QPS became worse 3.00s into the window and stayed so to its end: 230/s before, 25.0/s since. Measure on.";
        let reason = |code, consequence| Reason { code, consequence, text: told.to_owned() };
        let steady = reason(ReasonCode::NotSteady, Verdict::Valid);
        for (consequence, whole) in [(Verdict::LowerBound, true), (Verdict::Valid, false)] {
            let neighbour = reason(ReasonCode::BusyNeighbour, consequence);
            let validity = model::Validity::of(vec![neighbour, steady.clone()]);
            let run = Run { validity, ..fixture::sound::closed() };
            let notes = notes(&run, at(80)).unwrap();
            assert_eq!(unwrapped(&notes).contains("25.0/s since"), whole, "{notes}");
        }
    }

    #[test]
    fn a_clean_run_takes_few_lines() {
        let mut run = sample::closed_loop();
        run.totals.errors = model::ErrorCounts::default();
        let text = summary(&run, at(80));
        insta::assert_snapshot!(text);
        for columns in [60, 80] {
            let text = summary(&run, at(columns));
            assert!(text.lines().count() <= 12, "{text}");
            assert!(
                text.starts_with("VALID: QPS 48,204, success 99.99 %, mean 2.04ms\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_narrow_terminal_has_fewer_percentiles_and_whole_names() {
        let text = summary(&sample::open_loop(), at(40));
        for name in ["Response time ", "Service time "] {
            assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
        }
        let head = text.lines().find(|line| line.contains(" max")).expect("a head");
        assert!(head.contains("p50") && head.contains("p99") && !head.contains("p90"), "{head}");
    }

    #[test]
    fn the_three_figures_stay_in_the_first_line() {
        for (verdict, wide, narrow) in [
            (
                Verdict::LowerBound,
                "QPS at least 48,204, ",
                "QPS ≥48,204, success 99.99 %, mean ≤2.04ms",
            ),
            (Verdict::Invalid, "(do not quote)", "QPS 48,204, success 99.99 %, mean 2.04ms"),
        ] {
            let mut run = sample::closed_loop();
            run.validity.verdict = verdict;
            let first =
                |columns: usize| summary(&run, at(columns)).lines().next().map(str::to_owned);
            assert!(first(80).unwrap().contains(wide), "{:?}", first(80));
            assert_eq!(first(56).unwrap(), format!("{}: {narrow}", verdict.name()));
        }
    }

    #[test]
    fn a_handful_of_requests_is_no_rate() {
        let mut run = fixture::sound::closed();
        let shown =
            |run: &Run, columns| summary(run, at(columns)).lines().next().map(str::to_owned);
        assert!(shown(&run, 80).is_some_and(|line| line.starts_with("VALID: QPS 1,000, ")));
        run.response_ns.count = 3;
        run.validity = verdict::judge(&run);
        for columns in [60, 80] {
            let first = shown(&run, columns);
            assert!(first.is_some_and(|line| line.starts_with("VALID: QPS 1,000 (3 requests), ")));
            let text = summary(&run, at(columns));
            let note = text.lines().find(|line| line.starts_with("note")).expect("a note");
            assert!(note.ends_with("so few requests show no rate: send more (-n or -d)"), "{note}");
            assert!(note.width() <= columns, "{note}");
        }
    }

    #[test]
    fn a_run_too_short_to_be_watched_is_as_short_on_the_screen() {
        let source = |name: &str| ObservedSource { name: name.into(), ..ObservedSource::default() };
        let sources = ["generator", "server"].map(source).to_vec();
        let mut run = Run { observed: Some(Observed { sources }), ..fixture::sound::closed() };
        run.totals.duration_ns = 500_000_000;
        let text = summary(&run, at(80));
        assert!(!text.contains("Not watched") && !text.contains("Limit "), "{text}");
        assert!(crate::text::details(&run, false, at(80)).contains("no sample came"));
    }

    #[test]
    fn why_a_run_is_invalid_is_said_once() {
        let observed = Some(Observed { sources: Vec::new() });
        let mut run = Run { observed, ..fixture::sound::closed() };
        run.totals.succeeded = 0;
        let unknown = |run: &Run| {
            let first = verdict::explain(run).findings.into_iter().next().expect("a finding");
            first.code == "unknown" && !first.evidence_for.is_empty()
        };
        for (verdict, lines) in [(Verdict::Invalid, 0), (Verdict::Valid, 1)] {
            run.validity.verdict = verdict;
            assert!(unknown(&run), "{:?}", verdict::explain(&run));
            let text = summary(&run, at(80));
            assert_eq!(text.matches("Limit  ").count(), lines, "{text}");
        }
        run.response_ns.count = 3;
        assert!(unknown(&run) && !summary(&run, at(80)).contains("Limit  "));
    }

    #[test]
    fn arrivals_that_are_in_no_percentile_are_reported_below_the_table() {
        let mut run = fixture::sound::open();
        let totals = &mut run.totals;
        (totals.attempts, totals.requests, totals.succeeded) = (10_000, 5_500, 5_500);
        run.response_ns.count = 5_500;
        for (unsent, told) in [(0, false), (5, false), (4_500, true)] {
            run.totals.unsent = unsent;
            let words = "45.00 % of the arrivals were not sent and are in no percentile.";
            let texts = [summary(&run, at(80)), crate::text::details(&run, false, at(80))];
            for text in &texts {
                assert_eq!(text.contains(words), told, "{unsent}: {text}");
            }
        }
    }

    #[test]
    fn rates_are_named_where_they_are_not_as_planned() {
        let mut run = fixture::sound::open();
        let planned = run.plan.rate_per_s.expect("an open loop");
        (run.rates.offered_per_s, run.rates.achieved_per_s) = (planned, planned);
        assert!(!summary(&run, at(80)).contains("Rates"), "{}", summary(&run, at(80)));
        run.rates.achieved_per_s = planned * 0.9;
        assert!(summary(&run, at(80)).contains("Rates"), "{}", summary(&run, at(80)));
    }

    #[test]
    fn the_qps_of_a_run_by_count_says_that_it_reaches_to_the_last_response() {
        let mut run = fixture::sound::open();
        let planned = run.plan.rate_per_s.expect("an open loop");
        (run.rates.offered_per_s, run.rates.achieved_per_s) = (planned, planned);
        run.rates.requests_per_s = planned / 2.0;
        run.totals.duration_ns = 199_000_000;
        let words = "over 199ms until the last response";
        let said = |run: &Run| {
            let text = summary(run, at(80)) + &crate::text::details(run, false, at(80));
            let page = crate::html::run(run);
            (unwrapped(&text).matches(words).count(), page.contains(words))
        };
        assert_eq!(said(&run), (0, false), "of the planned window");
        (run.plan.duration_ns, run.plan.requests) = (None, Some(100));
        assert_eq!(said(&run), (2, true));
    }

    #[test]
    fn a_qps_below_a_rate_that_was_kept_up_with_says_why() {
        let mut run = fixture::sound::open();
        let planned = run.plan.rate_per_s.expect("an open loop");
        (run.rates.offered_per_s, run.rates.achieved_per_s) = (planned, planned);
        run.rates.requests_per_s = 0.85 * planned;
        let said = |run: &Run| unwrapped(&summary(run, at(80))).contains("came after the window");
        assert!(!said(&run), "{}", summary(&run, at(80)));
        // Each takes 1.5 s, and the window 10 s.
        let response_mean_ns = 1_500_000_000;
        run.blocks = vec![model::Block { response_mean_ns, ..model::Block::default() }];
        assert!(said(&run), "{}", summary(&run, at(80)));
    }

    #[test]
    fn connecting_has_a_line_where_no_latency_of_a_closed_loop_holds_it() {
        let mut run = fixture::sound::closed();
        run.connect_ns = Summary { count: 9, p50: 1_010_000_000, ..run.service_ns };
        let line = |run: &Run| {
            let text = summary(run, at(80));
            text.lines().find(|line| line.starts_with("Connecting")).map(str::to_owned)
        };
        assert_eq!(line(&run), None, "each connection served many");
        run.totals.connects = run.totals.attempts;
        assert!(line(&run).is_some_and(|line| line.contains(" 1.01s ")), "{:?}", line(&run));
        run.plan.rate_per_s = Some(10.0);
        assert_eq!(line(&run), None, "it is part of response time");
    }

    fn unwrapped(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_note_says_what_to_do_in_one_line() {
        for rule in verdict::validity::RULES.iter().filter(|rule| !rule.brief.is_empty()) {
            let text = format!("{}. {}", "evidence ".repeat(20), rule.advice);
            let reason = Reason { code: rule.code, consequence: Verdict::Valid, text };
            let validity = model::Validity::of(vec![reason]);
            let run = Run { validity, ..fixture::sound::closed() };
            let brief = brief_advice(rule.code, &run).expect("advice");
            let text = summary(&run, at(80));
            let note = text.lines().find(|line| line.starts_with("note, ")).expect("a note");
            assert!(note.ends_with(brief), "{note}");
            let narrow = summary(&run, at(60));
            let note = narrow.lines().find(|line| line.starts_with("note")).expect("a note");
            assert!(note.ends_with(brief) && note.width() <= 60, "{note}");
        }
    }

    #[test]
    fn a_note_without_room_goes_on_in_indented_lines() {
        let text = "evidence ".repeat(20);
        let reason = Reason { code: ReasonCode::SharedCores, consequence: Verdict::Valid, text };
        let validity = model::Validity::of(vec![reason]);
        let run = Run { validity, ..fixture::sound::closed() };
        let notes = notes(&run, at(40)).expect("a note");
        let (first, others) = notes.split_once('\n').expect("a line");
        assert!(first.starts_with("note: "), "{notes}");
        assert!(!others.is_empty() && others.lines().all(|line| line.starts_with("  ")), "{notes}");
        assert!(notes.lines().all(|line| line.width() <= 40), "{notes}");
    }

    #[test]
    fn a_redirect_is_reported_with_where_it_leads() {
        let text = format!("{}. Advice", "evidence ".repeat(20));
        let reason = Reason { code: ReasonCode::Redirected, consequence: Verdict::Valid, text };
        let validity = model::Validity::of(vec![reason]);
        let mut run = Run { validity, ..fixture::sound::closed() };
        let note = |run: &Run| {
            let text = summary(run, at(80));
            text.lines().find(|line| line.starts_with("note")).map(str::to_owned)
        };
        assert!(note(&run).is_some_and(|note| note.ends_with(": use --follow 3")));
        run.redirected_to = Some("https://shop.example/".to_owned());
        let led = "note, redirected: a redirect was measured: load https://shop.example/";
        assert_eq!(note(&run).as_deref(), Some(led));
        run.redirected_to = Some(format!("/{}", "a".repeat(80)));
        assert!(note(&run).is_some_and(|note| note.ends_with(": use --follow 3")));
    }

    #[test]
    fn an_interrupted_run_says_how_much_was_measured() {
        let mut run = fixture::sound::closed();
        (run.plan.duration_ns, run.totals.duration_ns) = (Some(10_000_000_000), 2_300_000_000);
        run.interrupted = true;
        let text = summary(&run, at(80)) + &crate::text::details(&run, false, at(80));
        assert_eq!(text.matches("closed loop, 2.30s of 10s, interrupted").count(), 2, "{text}");
        assert!(crate::wrk::block(&run, false).starts_with("Running 2s test @ "));
        run.interrupted = false;
        assert!(summary(&run, at(80)).contains("closed loop, 10s,"));
        run.plan.requests = Some(run.totals.attempts);
        let of_count = summary(&run, at(80));
        assert!(of_count.contains(" requests, 2.30s of 10s"), "{of_count}");
        run.plan.requests = None;
        assert!(crate::wrk::block(&run, false).starts_with("Running 10s test @ "));
    }

    #[test]
    fn users_with_as_many_responses_have_no_range() {
        let mut run = fixture::sound::closed();
        let users = |median, most| model::users::Users {
            served: 3,
            left: 1,
            least: 20,
            median,
            most,
            ..Default::default()
        };
        run.users = Some(users(20, 20));
        let alike = detail::users(&run).expect("one left");
        assert!(alike.ends_with("; responses each: 20"), "{alike}");
        run.users = Some(users(21, 30));
        let apart = detail::users(&run).expect("one left");
        assert!(apart.ends_with("; responses each: 20 to 30, median 21"), "{apart}");
    }

    #[test]
    fn that_all_responses_failed_alike_takes_two_lines() {
        for status in [401, 404, 415] {
            let mut run = fixture::sound::closed();
            run.totals.errors.status = run.totals.requests;
            run.totals.statuses = [(status, run.totals.requests)].into();
            run.totals.succeeded = 0;
            run.validity = verdict::judge(&run);
            let text = summary(&run, at(80));
            let reason = text.lines().skip(1).take_while(|line| !line.is_empty());
            let reason = reason.collect::<Vec<_>>();
            assert!(
                reason.len() == 2 && reason[0].contains(&format!("had status {status}")),
                "{text}"
            );
        }
    }

    #[test]
    fn stalls_of_all_users_are_reported_wherever_dips_are() {
        let mut run = fixture::sound::closed();
        // A page says what happened over time where there is something to draw.
        run.timeline = fixture::drawn::closed_loop().timeline;
        let stall = model::Silence { to_ns: 450_000_000, ended: true, ..Default::default() };
        let (user_ns, silences) = (100_000_000_000, vec![stall; 3]);
        run.presence = Some(model::Presence { user_ns, silences, ..Default::default() });
        let words = "all users waited at once for 1.35s";
        for text in [
            summary(&run, at(80)),
            crate::text::details(&run, false, at(80)),
            crate::html::run(&run),
        ] {
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn without_a_response_no_figure_is_called_a_bound() {
        let reason = |code, consequence| Reason { code, consequence, text: "why".to_owned() };
        let reasons = vec![
            reason(ReasonCode::NoResponses, Verdict::Invalid),
            reason(ReasonCode::BusyNeighbour, Verdict::LowerBound),
        ];
        let mut run = fixture::sound::closed();
        run.validity = model::Validity::of(reasons);
        for (responses, told) in [(1, true), (0, false)] {
            run.totals.requests = responses;
            let text = summary(&run, at(80));
            assert!(
                text.contains(&format!("  {}: why\n", ReasonCode::NoResponses.name())),
                "{text}"
            );
            assert_eq!(text.contains("busy_neighbour"), told, "{text}");
            assert!(crate::text::details(&run, false, at(80)).contains("busy_neighbour"));
        }
    }

    #[test]
    fn how_all_attempts_failed_is_said_once() {
        let mut run = fixture::sound::closed();
        let refused = "127.0.0.1:1: connection refused";
        run.totals.errors.connect = 9;
        run.totals.error_samples = [("connect".to_owned(), refused.to_owned())].into();
        let reason = |code| Reason {
            code,
            consequence: Verdict::Invalid,
            text: format!(
                "no response arrived in 1.00s, of 9 attempts; 9 failed by connect ({refused})"
            ),
        };
        for (code, times) in [(ReasonCode::NoResponses, 1), (ReasonCode::FastErrors, 2)] {
            run.validity = model::Validity::of(vec![reason(code)]);
            let text = unwrapped(&summary(&run, at(80)));
            assert_eq!(text.matches(refused).count(), times, "{text}");
        }
    }

    #[test]
    fn handshakes_are_named_once() {
        let mut run = fixture::sound::closed();
        run.tls_ns = Summary { count: 3, ..run.service_ns };
        run.totals.tls_resumed = Some(0);
        let text = summary(&run, at(80));
        assert!(text.contains("\nHandshakes   3, all full.\n"), "{text}");
    }

    #[test]
    fn checks_that_fail_are_named() {
        let mut run = fixture::sound::closed();
        run.totals.errors.check = 12;
        let endpoint = |checks: &[(&str, u64)]| model::EndpointRun {
            failed_checks: checks.iter().map(|&(name, n)| (name.to_owned(), n)).collect(),
            ..model::EndpointRun::default()
        };
        run.endpoints = vec![endpoint(&[("token is found at /tok", 7)])];
        let text = summary(&run, at(80));
        assert!(
            text.contains("Errors       check  12  not so: token is found at /tok\n"),
            "{text}"
        );
        run.endpoints.push(endpoint(&[("body contains ok", 3), ("token is found at /tok", 2)]));
        let text = summary(&run, at(120));
        assert!(text.contains("12  token is found at /tok (9); body contains ok (3)\n"), "{text}");
    }

    #[test]
    fn doubt_has_its_reasons_below_the_verdict() {
        insta::assert_snapshot!(summary(&sample::open_loop(), at(80)));
        insta::assert_snapshot!(summary(&sample::hostile(), at(80)));
        insta::assert_snapshot!(summary(&sample::mixed(), at(80)));
        insta::assert_snapshot!(summary(&sample::judged_run(), at(80)));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut runs = vec![sample::closed_loop(), sample::open_loop(), sample::hostile()];
        runs.extend([sample::mixed(), sample::judged_run(), sample::aborted()]);
        for (run, columns) in
            runs.iter().flat_map(|run| [60, 80, 200].map(|columns| (run, columns)))
        {
            let text = summary(run, at(columns));
            for line in text.lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
                assert!(!line.contains('\u{1b}'), "{line}");
            }
        }
    }
}
