//! The sections between wrk's block and the verdict.

use model::Dip;
use model::kinds::ResponseKind;
use model::plan::Plan;
use model::run::{Generator, Run};
use model::units::{Nanos, exact_duration, show_duration};
use unicode_width::UnicodeWidthStr;
use verdict::validity::{
    UNEVEN, UNEVEN_FROM, empty_in_words, ended_by_count, kind_in_words, stalls_in_words,
};

use super::{Style, Tone, mix, spectrum};
use crate::figure::{clean, count, counted, rate, share, share_of, wrap};
use crate::grid::{Grid, Lean};
use crate::latencies::{
    SAME, distributions, handshakes, latency_cells, latency_columns, response_is_service, untimed,
};

/// Width of the names on the left.
pub(super) const NAME: usize = 13;
/// Kinds of responses shown of an endpoint at most, and endpoints whose kinds are.
const KINDS: usize = 4;
const KINDS_OF: usize = 10;
/// The part of what was offered that is as good as all of it.
const WHOLE: f64 = 0.99;

/// Every section, each with an empty line before the next.
pub(super) fn sections(run: &Run, style: Style) -> String {
    let parts = [
        overview(run, style),
        latencies(run, style),
        mix::section(run, style),
        statuses(run, style),
        kinds(run, style),
        empty_in_words(run).map(|words| named(style, "Empty bodies", &[words])),
        errors(run, style),
        stalls_in_words(run).map(|words| named(style, "Stalls", &[words])),
        dips(run, style),
        spectrum::section(run, style),
        generator(run, style),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A line that starts with a name; further lines stand below its text, those without room are broken between words.
pub(super) fn named(style: Style, name: &str, lines: &[String]) -> String {
    let room = style.columns.saturating_sub(NAME);
    let fitted = |line: &String| match line.width() <= room {
        true => vec![line.clone()],
        false => wrap(line, room),
    };
    let mut out = String::new();
    for (i, line) in lines.iter().flat_map(fitted).enumerate() {
        let name = if i == 0 { name } else { "" };
        out += &style.paint(Tone::Strong, name);
        out += &" ".repeat(NAME - name.len());
        out += &line;
        out.push('\n');
    }
    out
}

fn overview(run: &Run, style: Style) -> Option<String> {
    let rates = &run.rates;
    let per_s = format!(
        "offered {}/s, achieved {}/s, QPS {}{}",
        rate(rates.offered_per_s),
        rate(rates.achieved_per_s),
        rate(rates.requests_per_s),
        qps_over(run)
    );
    let lines = [
        ("Load", load_of(run)),
        ("Attempts", attempts(run)),
        ("Success", success(run)),
        ("Rates", per_s),
        ("Concurrency", concurrency(run)),
    ];
    let users = users(run).map(|line| ("Users", line));
    let lines = lines.into_iter().chain(users);
    Some(lines.map(|(name, line)| named(style, name, &[line])).collect())
}

/// Connections and requests at once, in words.
pub(crate) fn concurrency(run: &Run) -> String {
    let at_once = &run.concurrency;
    format!(
        "planned {}, open {} (max {}), in flight {} (max {})",
        count(at_once.planned.into()),
        rate(at_once.open_mean),
        count(at_once.open_max.into()),
        rate(at_once.in_flight_mean),
        count(at_once.in_flight_max.into())
    )
}

/// How the users were served, where not all of them were, or some far better than others.
pub(crate) fn users(run: &Run) -> Option<String> {
    let users = run.users.as_ref()?;
    let uneven = users.served >= UNEVEN_FROM && users.p90 >= UNEVEN.saturating_mul(users.p10);
    // Connections that an open loop needs little are used unevenly by design.
    let shown = users.unserved > 0 || users.left > 0 || (uneven && run.plan.rate_per_s.is_none());
    shown.then(|| {
        let mut words = format!("{} of {} served", count(users.served), count(users.wanting()));
        if users.left > 0 {
            words += &format!(", {} of them not to the end", count(users.left));
        }
        if users.served > 0 {
            let least = count(users.least);
            words += &match users.least == users.most {
                true => format!("; responses each: {least}"),
                false => format!(
                    "; responses each: {least} to {}, median {}",
                    count(users.most),
                    count(users.median)
                ),
            };
        }
        let of_tenth = users.best_tenth_share.filter(|_| uneven && users.served >= 10);
        if let Some(share_of_best) = of_tenth {
            words += &format!("; the best-served tenth had {}", share(share_of_best));
        }
        words
    })
}

/// The success rate, and where time counted what it is of: `50.02 % of the users' time (99.95 % of the
/// attempts); server available for 50.02 %`.
pub(crate) fn success(run: &Run) -> String {
    let rates = &run.rates;
    let Some(ratio) = rates.success_ratio else { return "-".to_owned() };
    let mut words = share(ratio);
    if let Some(of_attempts) = rates.attempts_success_ratio {
        words += &format!(" of the users' time ({} of the attempts)", share(of_attempts));
    }
    if let Some(available) = available(run) {
        words += &format!("; server available for {available}");
    }
    words
}

/// The share for which the server was there, where it reads otherwise than the success rate.
pub(crate) fn available(run: &Run) -> Option<String> {
    let rates = &run.rates;
    let available = rates.available_ratio.filter(|&available| available < 1.0).map(share)?;
    (rates.success_ratio.map(share).as_ref() != Some(&available)).then_some(available)
}

/// What became of the attempts, in words: `1,000: 990 succeeded, 10 failed`.
pub(crate) fn attempts(run: &Run) -> String {
    let totals = &run.totals;
    let mut words = format!("{}: {} succeeded", count(totals.attempts), count(totals.succeeded));
    for (n, what) in [
        (totals.errors.total(), "failed"),
        (totals.unsent, "unsent"),
        (totals.unfinished, "unfinished"),
    ] {
        if n > 0 {
            words += &format!(", {} {what}", count(n));
        }
    }
    words
}

/// What set the pace, in words, and how much of it was measured where it was interrupted or its requests were sent sooner.
pub(crate) fn load_of(run: &Run) -> String {
    let words = load(&run.plan);
    let Some(planned) = run.plan.duration_ns.filter(|&planned| run.totals.duration_ns < planned)
    else {
        return words;
    };
    let ended = match run.interrupted {
        true => ", interrupted",
        false if ended_by_count(run) => "",
        false => return words,
    };
    let (planned, measured) = (exact_duration(planned), show_duration(run.totals.duration_ns));
    words.replacen(&format!(", {planned}"), &format!(", {measured} of {planned}{ended}"), 1)
}

/// Why the QPS of an open loop is below its rate although the server kept up. The window of a run that ends by count lasts until
/// the last response, longer than the time in which its requests were due; any other ends before the last responses.
pub(crate) fn qps_over(run: &Run) -> String {
    let (plan, rates) = (&run.plan, &run.rates);
    let below = plan.rate_per_s.is_some() && rates.requests_per_s < WHOLE * rates.offered_per_s;
    match plan.requests.is_some() {
        _ if !below || run.interrupted => String::new(),
        true => format!(" over {} until the last response", show_duration(run.totals.duration_ns)),
        false if verdict::kept_up(run) => {
            " (the last responses came after the window: give a --warmup that is longer than they take)".to_owned()
        }
        false => String::new(),
    }
}

/// What set the pace, in words.
pub(crate) fn load(plan: &Plan) -> String {
    let mut words = match plan.rate_per_s {
        None => "closed loop".to_owned(),
        Some(rate_per_s) => {
            let arrivals = plan.arrivals.unwrap_or_default();
            format!("open loop, {}/s {}", rate(rate_per_s), arrivals.name())
        }
    };
    for (name, span_ns) in [("paced", plan.pace_ns), ("thinking", plan.think_ns)] {
        if let Some(span_ns) = span_ns {
            words += &format!(", {name} {}", exact_duration(span_ns));
        }
    }
    if let Some(requests) = plan.requests {
        words += &format!(", {}", counted(requests, "request"));
    }
    if let Some(duration_ns) = plan.duration_ns {
        words += &format!(", {}", exact_duration(duration_ns));
    }
    if plan.warmup_ns > 0 {
        words += &format!(" after {} of warm-up", exact_duration(plan.warmup_ns));
    }
    if plan.ramp_ns > 0 {
        words += &format!(", growing for {}", exact_duration(plan.ramp_ns));
    }
    words
}

/// Percentiles that are left out where a line has no room for all, in this order.
const SPARE: [&str; 3] = ["p75", "p95", "p99.99"];

fn latencies(run: &Run, style: Style) -> Option<String> {
    let rows = distributions(run);
    if rows.is_empty() {
        return None;
    }
    let spare = |name: &str| latency_columns().position(|column| column == name);
    let spare: Vec<usize> = SPARE.into_iter().filter_map(spare).map(|at| at + 1).collect();
    let mut grid = Grid::named(latency_columns().count()).spare(&spare);
    grid.row([""].into_iter().chain(latency_columns()));
    for (name, summary) in rows {
        grid.row([name.to_owned()].into_iter().chain(latency_cells(summary)));
    }
    let same = response_is_service(run).then(|| SAME.to_owned());
    let notes = same.into_iter().chain(untimed(run)).chain(handshakes(run));
    let notes = notes.flat_map(|note| wrap(&note, style.columns));
    let notes: String = notes.map(|note| style.paint(Tone::Soft, &note) + "\n").collect();
    Some(grid.print_headed(style) + &notes)
}

fn statuses(run: &Run, style: Style) -> Option<String> {
    if run.totals.statuses.is_empty() {
        return None;
    }
    let mut grid = Grid::new([Lean::Left, Lean::Right, Lean::Right]);
    for (status, &n) in &run.totals.statuses {
        grid.row([status.to_string(), count(n), share_of(n, run.totals.requests)]);
    }
    Some(named(style, "Status", &lines(&grid)))
}

/// What succeeded, by what it looked like: the commonest kinds, of each endpoint where there are several.
fn kinds(run: &Run, style: Style) -> Option<String> {
    let mut kinds: Vec<&ResponseKind> = run.response_kinds.iter().collect();
    kinds.sort_by_key(|kind| (kind.endpoint, std::cmp::Reverse(kind.responses)));
    let endpoints = &run.plan.mix.endpoints;
    let indent = if endpoints.len() > 1 { "  " } else { "" };
    let room = style.columns.saturating_sub(NAME + indent.len());
    let line = |kind: &&ResponseKind| {
        let (count, share) = (count(kind.responses), share_of(kind.responses, run.totals.requests));
        let words = clean(&format!("{count} ({share}): {}", kind_in_words(kind)), room);
        format!("{indent}{words}")
    };
    let more = |n: usize, what: &str| {
        format!("{indent}{} in run.json (answer_kinds)", counted(n as u64, what))
    };
    let mut lines: Vec<String> = Vec::new();
    let of_endpoints: Vec<_> = kinds.chunk_by(|a, b| a.endpoint == b.endpoint).collect();
    for &kinds in of_endpoints.iter().take(KINDS_OF) {
        let endpoint = endpoints.get(kinds[0].endpoint as usize).filter(|_| endpoints.len() > 1);
        lines.extend(endpoint.map(|endpoint| clean(&endpoint.name, room)));
        lines.extend(kinds.iter().take(KINDS).map(line));
        lines.extend(kinds.len().checked_sub(KINDS + 1).map(|n| more(n + 1, "more kind")));
    }
    lines
        .extend(of_endpoints.len().checked_sub(KINDS_OF + 1).map(|n| more(n + 1, "more endpoint")));
    (!lines.is_empty()).then(|| named(style, "Responses", &lines))
}

fn errors(run: &Run, style: Style) -> Option<String> {
    let mut grid = Grid::new([Lean::Left, Lean::Right, Lean::Right, Lean::Left]);
    for (class, n) in run.totals.errors.occurred() {
        let sample = run.totals.error_samples.get(class.name()).map_or("", String::as_str);
        let sample = clean(sample, style.columns.saturating_sub(NAME + 36).max(10));
        let portion = share_of(n, run.totals.attempts);
        grid.row([class.name().to_owned(), count(n), portion, sample]);
    }
    for (name, &n) in &run.totals.limits {
        grid.row([clean(name, 16), count(n), String::new(), "limit reached here".to_owned()]);
    }
    let lines = lines(&grid);
    if lines.is_empty() {
        return Some(named(style, "Errors", &["none".to_owned()]));
    }
    Some(named(style, "Errors", &lines))
}

fn lines(grid: &Grid) -> Vec<String> {
    grid.print().lines().map(str::to_owned).collect()
}

/// Dips listed one by one up to this many.
const MOST_DIPS: usize = 10;

/// The periods in which the server departed from its trend.
fn dips(run: &Run, style: Style) -> Option<String> {
    if run.dips.is_empty() {
        return None;
    }
    let mut grid = Grid::new([Lean::Right, Lean::Right, Lean::Left, Lean::Left]);
    for dip in run.dips.iter().take(MOST_DIPS) {
        let [at, length, depth, end] = dip_cells(dip);
        grid.row([format!("at {at}"), format!("for {length}"), depth, end]);
    }
    let rows = lines(&grid).into_iter().zip(&run.dips);
    let mut lines: Vec<String> = rows
        .flat_map(|(row, dip)| [Some(row), endpoints_hit(dip, run.endpoints.len())])
        .flatten()
        .collect();
    if let Some(more) = run.dips.len().checked_sub(MOST_DIPS).filter(|&more| more > 0) {
        lines.push(format!("and {more} more; all of them are in the JSON"));
    }
    Some(named(style, "Dips", &lines))
}

/// The endpoints that a dip hit, of `of` in all.
fn endpoints_hit(dip: &Dip, of: usize) -> Option<String> {
    let names =
        |names: &[String]| names.iter().map(|name| clean(name, 26)).collect::<Vec<_>>().join(", ");
    Some(match dip.endpoints.as_slice() {
        [] => return None,
        all if all.len() == of => format!("  affected: all {of} endpoints"),
        few @ ([_] | [_, _]) => format!("  affected: {}", names(few)),
        [first, second, rest @ ..] => {
            let two = names(&[first.clone(), second.clone()]);
            format!("  affected: {two} and {} more of {of} endpoints", rest.len())
        }
    })
}

/// A dip's start, length, depth and recovery, in words.
pub(crate) fn dip_cells(dip: &Dip) -> [String; 4] {
    let mut depths = Vec::new();
    if let Some(throughput) = dip.throughput {
        let lost = percent(1.0 - throughput.ratio());
        let (typical, trend) = (rate(throughput.typical), rate(throughput.trend));
        depths.push(format!("QPS -{lost} ({typical} of {trend})"));
    }
    for (name, departure) in [("p50", dip.p50_ns), ("p99", dip.p99_ns)] {
        if let Some(departure) = departure {
            depths.push(format!("{name} x{:.1}", departure.ratio()));
        }
    }
    if dip.failed > 0 {
        depths.push(format!("{} failed", count(dip.failed)));
    }
    let recovery = match dip.recovery_ns {
        Some(nanos) => format!("back after {}", show_duration(nanos)),
        None => "not back by the end".to_owned(),
    };
    [show_duration(dip.start_ns), show_duration(dip.duration_ns), depths.join(", "), recovery]
}

/// A ratio as a whole per cent.
fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

/// Workers named one by one up to this many.
const MOST_WORKERS: usize = 8;

fn generator(run: &Run, style: Style) -> Option<String> {
    let generator = &run.generator;
    if generator.workers.is_empty() {
        return None;
    }
    let busy = workers(generator);
    let mut lines = vec![format!("{}; {busy}", processor_time(run))];
    lines.extend(ceiling(run));
    Some(named(style, "Generator", &lines))
}

/// What the generator spent in the window: for each response, or in all where none came in it to share it.
pub(crate) fn processor_time(run: &Run) -> String {
    let spent = &run.generator;
    if spent.cpu_ns_per_request == 0.0 {
        return format!("{} of processor time, without a response", show_duration(spent.cpu_ns));
    }
    let cost = show_duration(spent.cpu_ns_per_request.round() as Nanos);
    format!("{cost} of processor time per request")
}

/// What a run used of what its generator can do, in words, where that was measured.
pub(crate) fn ceiling(run: &Run) -> Option<String> {
    let ceiling = run.generator.ceiling.as_ref()?;
    let date = clean(ceiling.measured_at.get(..10).unwrap_or_default(), 10);
    let late = ceiling
        .late_p99_ns
        .map_or_else(String::new, |ns| format!("; late p99 at such a rate: {}", show_duration(ns)));
    Some(format!(
        "this run used {} of this generator's ceiling ({}/s with {}, calibrated {date}){late}",
        percent(ceiling.used_ratio),
        rate(ceiling.requests_per_s),
        counted(run.plan.threads.into(), "worker")
    ))
}

/// How busy the workers were, in words.
pub(crate) fn workers(generator: &Generator) -> String {
    let mut busy: Vec<f64> = generator.workers.iter().map(|w| w.busy_ratio * 100.0).collect();
    if busy.len() <= MOST_WORKERS {
        let each: Vec<String> = busy.iter().map(|b| format!("{b:.0} %")).collect();
        let noun = if busy.len() == 1 { "worker" } else { "workers" };
        return format!("{noun} busy {}", each.join(", "));
    }
    busy.sort_by(f64::total_cmp);
    format!(
        "{} workers busy {:.0} % to {:.0} %, median {:.0} %",
        busy.len(),
        busy[0],
        busy[busy.len() - 1],
        busy[busy.len() / 2]
    )
}
