//! The tables of endpoints and flows, in words: what a load of more than one request comes to.

use model::endpoint::{EndpointRun, FlowRun};
use model::run::Run;
use model::units::{Nanos, show_duration};

use super::{Style, paragraph_in};
use crate::figure::{clean, count, counted, rate, share, share_of, short_names};
use crate::grid::{Grid, Lean};

/// Endpoints and flows printed at most; the JSON and the page have all.
const MOST: usize = 25;
/// Widest name beside all figures.
const NAME: usize = 22;
/// What the figures of the short table take beside a name, gaps included.
const FIGURES: usize = 42;
/// Columns after it.
const COLUMNS: usize = 8;
/// The most endpoints whose failures are printed, and the most failures of each.
const SAMPLES: usize = 5;
const SAMPLE: usize = 200;

/// The columns of the table of endpoints, after the name; the last is for pages, which are wider.
pub(crate) const ENDPOINT: [&str; 9] =
    ["attempts", "share", "planned", "QPS", "in flight", "success", "p50", "p99", "max"];
/// The columns of the table of flows, likewise.
pub(crate) const FLOW: [&str; 9] =
    ["started", "completed", "failed", "unfinished", "planned", "TPS", "p50", "p99", "max"];

/// What a narrow terminal leaves out, in this order, rather than to cut figures: in flight, planned, share, attempts.
const SPARE_OF_ENDPOINT: [usize; 4] = [5, 3, 2, 1];
/// Likewise: planned, unfinished, started.
const SPARE_OF_FLOW: [usize; 3] = [5, 4, 1];

/// What stands in the columns of [`ENDPOINT`].
pub(crate) fn endpoint_cells(endpoint: &EndpointRun, interrupted: bool) -> [String; 9] {
    // How those would have ended that were not waited for is not known.
    let unawaited = if interrupted { endpoint.unfinished } else { 0 };
    let time = |nanos: Nanos| times(endpoint.response_ns.count, nanos);
    let asked = asked(endpoint.share_asked, endpoint.rate_asked_per_s, endpoint.connections);
    [
        count(endpoint.attempts),
        endpoint.share.map_or_else(none, share),
        asked,
        rate(endpoint.requests_per_s),
        rate(endpoint.in_flight_mean),
        share_of(endpoint.succeeded, endpoint.attempts.saturating_sub(unawaited)),
        time(endpoint.response_ns.p50),
        time(endpoint.response_ns.p99),
        time(endpoint.response_ns.max),
    ]
}

/// What stands in the columns of [`FLOW`].
pub(crate) fn flow_cells(flow: &FlowRun) -> [String; 9] {
    let time = |nanos: Nanos| times(flow.session_ns.count, nanos);
    [
        count(flow.started),
        count(flow.completed),
        count(flow.failed),
        count(flow.unfinished),
        asked(flow.share_asked, flow.rate_asked_per_s, flow.connections),
        rate(flow.transactions_per_s),
        time(flow.session_ns.p50),
        time(flow.session_ns.p99),
        time(flow.session_ns.max),
    ]
}

fn times(samples: u64, nanos: Nanos) -> String {
    if samples > 0 { show_duration(nanos) } else { none() }
}

fn none() -> String {
    "-".to_owned()
}

/// What was asked for: its own rate or connections, or a share of the whole.
fn asked(part: Option<f64>, rate_per_s: Option<f64>, connections: Option<u32>) -> String {
    match (rate_per_s, connections, part) {
        (Some(rate_per_s), _, _) => format!("{}/s", rate(rate_per_s)),
        (_, Some(connections), _) => format!("c={}", count(connections.into())),
        (_, _, Some(part)) => share(part),
        _ => none(),
    }
}

/// The part of the sessions from which on those that the window's end cut off would have moved the p99 of the others.
const CUT_OFF: f64 = 0.01;

/// That session times are of the sessions that were short enough to end, in words; none where hardly any was cut off.
pub(crate) fn cut_off(flow: &FlowRun) -> Option<String> {
    let many = flow.unfinished as f64 >= CUT_OFF * flow.started as f64;
    (flow.unfinished > 0 && flow.completed > 0 && many).then(|| {
        format!(
            "{} of {} sessions had not ended when the window did and are in no session time: those shown are of the \
             shorter ones (a longer window has fewer of them)",
            count(flow.unfinished),
            count(flow.started)
        )
    })
}

/// What went wrong with an endpoint, in words; none where nothing did.
pub(crate) fn failures(endpoint: &EndpointRun) -> Option<String> {
    let classes = endpoint.errors.occurred();
    let mut words: Vec<String> =
        classes.map(|(class, n)| format!("{} {}", count(n), class.name())).collect();
    for (check, &n) in &endpoint.failed_checks {
        words.push(format!("{} failed `{}`", count(n), clean(check, 60)));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// The tables, if the run has any.
pub(super) fn section(run: &Run, style: Style) -> Option<String> {
    if run.endpoints.is_empty() {
        return None;
    }
    let names = names(run.endpoints.iter().map(|one| one.name.as_str()), NAME);
    let cells = run.endpoints.iter().map(|one| endpoint_cells(one, run.interrupted));
    let rows = names.iter().cloned().zip(cells);
    let mut out = table("Endpoint", &ENDPOINT, &SPARE_OF_ENDPOINT, rows, style);
    let each = run.endpoints.iter().zip(&names);
    let failing = each.filter_map(|(one, name)| Some((one, name, failures(one)?)));
    for (endpoint, name, words) in failing.take(SAMPLES) {
        out += &named(name, &words, style);
        if let Some(sample) = &endpoint.sample {
            out += &paragraph_in(&clean(sample, SAMPLE), "  first: ", style.columns);
        }
    }
    if !run.flows.is_empty() {
        out += &flows(run, style);
    }
    Some(out)
}

/// The table of flows, and what became of their sessions.
fn flows(run: &Run, style: Style) -> String {
    let names = names(run.flows.iter().map(|one| one.name.as_str()), NAME);
    let rows = names.iter().cloned().zip(run.flows.iter().map(flow_cells));
    let mut out = "\n".to_owned() + &table("Flow", &FLOW, &SPARE_OF_FLOW, rows, style);
    for (flow, name) in run.flows.iter().zip(&names).take(MOST) {
        for (step, &n) in &flow.failed_at {
            out += &named(name, &format!("{} failed at {step}", count(n)), style);
        }
        out += &cut_off(flow).map_or_else(String::new, |words| named(name, &words, style));
    }
    out
}

/// Names that fit into a column and can be told apart in it.
fn names<'a>(whole: impl Iterator<Item = &'a str>, most: usize) -> Vec<String> {
    short_names(&whole.collect::<Vec<_>>(), most)
}

/// What is printed about an endpoint or a flow, after its name as the table has it.
fn named(name: &str, words: &str, style: Style) -> String {
    paragraph_in(&clean(words, SAMPLE), &format!("{name}: "), style.columns)
}

/// The endpoints that were sent most, `most` of them, with the figures that tell how each fared.
pub(super) fn most_used(run: &Run, style: Style, most: usize) -> Option<String> {
    if run.endpoints.is_empty() {
        return None;
    }
    let mut endpoints: Vec<&EndpointRun> = run.endpoints.iter().collect();
    endpoints.sort_by_key(|endpoint| std::cmp::Reverse(endpoint.attempts));
    let mut grid = Grid::named(4);
    grid.row(["Endpoint", "QPS", "success", "p50", "p99"]);
    let shown = &endpoints[..most.min(endpoints.len())];
    let widest = style.columns.saturating_sub(FIGURES).max(NAME);
    let names = names(shown.iter().map(|one| one.name.as_str()), widest);
    for (name, endpoint) in names.into_iter().zip(shown) {
        let [_, _, _, rate, _, success, p50, p99, _] = endpoint_cells(endpoint, run.interrupted);
        grid.row([name, rate, success, p50, p99]);
    }
    let mut out = grid.print_headed(style);
    if let Some(more) = endpoints.len().checked_sub(most).filter(|&more| more > 0) {
        out += &format!("and {}\n", counted(more as u64, "more endpoint"));
    }
    Some(out)
}

fn table<const N: usize>(
    first: &str,
    headers: &[&str; N],
    spare: &[usize],
    rows: impl ExactSizeIterator<Item = (String, [String; N])>,
    style: Style,
) -> String {
    let more = rows.len().saturating_sub(MOST);
    let mut grid = Grid::new([Lean::Left].into_iter().chain([Lean::Right; COLUMNS])).spare(spare);
    grid.row(
        [first.to_owned()].into_iter().chain(headers.map(str::to_owned).into_iter().take(COLUMNS)),
    );
    for (name, cells) in rows.take(MOST) {
        grid.row([name].into_iter().chain(cells.into_iter().take(COLUMNS)));
    }
    let mut out = grid.print_headed(style);
    if more > 0 {
        out += &format!("and {} more; all of them are in the JSON\n", count(more as u64));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::cut_off;
    use crate::{html, sample, text};

    #[test]
    fn session_times_are_said_to_be_of_those_that_ended() {
        let mut run = sample::mixed();
        let flow = &mut run.flows[0];
        (flow.started, flow.completed, flow.failed, flow.unfinished) = (1000, 990, 5, 5);
        assert_eq!(cut_off(flow), None);
        (flow.completed, flow.unfinished) = (700, 295);
        let printed = text::details(&run, false, text::Style::default());
        let words: Vec<&str> = printed.split_whitespace().collect();
        let words = words.join(" ");
        assert!(
            words.contains("295 of 1,000 sessions had not ended when the window did"),
            "{words}"
        );
        assert!(html::run(&run).contains("295 of 1,000 sessions had not ended"));
        let flow = &mut run.flows[0];
        (flow.completed, flow.unfinished) = (0, 995);
        assert_eq!(cut_off(flow), None, "no time is shown");
    }

    #[test]
    fn endpoints_whose_paths_begin_alike_have_rows_of_their_own() {
        let mut run = sample::mixed();
        for (at, endpoint) in run.endpoints.iter_mut().enumerate() {
            endpoint.name =
                format!("GET /api/v1/organizations/{{id}}/departments/{{id}}/of-kind-{at}");
        }
        let style = text::Style { columns: 80, ..text::Style::default() };
        for printed in
            [text::details(&run, false, style), super::most_used(&run, style, 9).unwrap()]
        {
            for at in 0..run.endpoints.len() {
                let rows = printed.lines().filter(|line| line.contains(&format!("of-kind-{at}  ")));
                assert_eq!(rows.count(), 1, "{printed}");
            }
        }
    }

    #[test]
    fn a_mix_is_a_table_in_text_and_on_the_page() {
        let run = sample::mixed();
        let printed = text::details(&run, false, text::Style::default());
        assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
        let row = |name: &str| printed.lines().find(|line| line.starts_with(name)).unwrap_or("");
        let cells = |name: &str| row(name).split("  ").filter(|c| !c.is_empty()).count();
        assert_eq!(
            (cells("Endpoint"), cells("GET /items/{id}"), cells("Flow")),
            (9, 9, 9),
            "{printed}"
        );
        assert!(row("GET /items/{id} ").contains("60.00 %"), "{printed}");
        assert!(
            printed.contains("first: the server answered 503: {\"error\":\"busy\"}"),
            "{printed}"
        );
        assert!(printed.contains("checkout: 7 failed at POST /orders"), "{printed}");
        let page = html::run(&run);
        for needle in ["id=\"endpoints\"", "GET /items/{id}", "What failed", "checkout", "7 status"]
        {
            assert!(page.contains(needle), "no {needle}");
        }
        assert!(!html::run(&sample::closed_loop()).contains("id=\"endpoints\""));
    }
}
