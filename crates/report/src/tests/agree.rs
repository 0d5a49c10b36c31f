//! Text, page and chart say the same of a result, and none says what was not measured.

use model::curve::{Curve, CurveRow};
use model::interval::{Interval, Phase, Tally};
use model::outcome::ErrorClass;
use model::slices::Slice;
use model::units::SECOND;
use model::{Run, Sweep, Verdict};

use crate::text::Style;
use crate::{charts, html, live, sample, table, text};

const OBJECTIVE: u64 = 500_000_000;

/// A sweep whose levels are changed by `change`, with its curve.
fn swept(change: impl Fn(usize, &mut Run)) -> (Sweep, Curve) {
    let mut sweep = sample::sweep("api", 50_000.0, &[1, 100, 1_000, 30_000]);
    for (at, held) in sweep.levels.iter_mut().enumerate() {
        change(at, &mut held.run);
    }
    let curve = Curve::from_sweep(&sweep).unwrap();
    (sweep, curve)
}

/// What a terminal, the chart of the curve and the page say.
fn said(sweep: &Sweep, curve: &Curve) -> [String; 3] {
    let reading = verdict::curve::read(curve, OBJECTIVE);
    let chart = charts::curve(curve, &reading, OBJECTIVE).chart();
    [
        table::sweep(curve, &reading, OBJECTIVE, Style::default()),
        chart.subtitle().to_owned(),
        html::sweep(sweep, curve, &reading),
    ]
}

fn without_responses(run: &mut Run) {
    run.response_ns = model::Summary::default();
    run.rates.requests_per_s = 0.0;
    run.rates.success_ratio = Some(0.0);
    run.totals.requests = 0;
    run.totals.succeeded = 0;
}

#[test]
fn no_output_quotes_a_sweep_without_a_usable_level() {
    let (sweep, curve) = swept(|_, run| run.validity = model::Validity::not_judged());
    for said in said(&sweep, &curve) {
        assert!(said.contains("No level has a usable QPS"), "{said}");
        assert!(!said.contains("peaks at"), "{said}");
    }
    let (sweep, curve) = swept(|at, run| {
        run.validity = model::Validity { verdict: Verdict::Invalid, reasons: Vec::new() };
        run.rates.requests_per_s = at as f64;
    });
    let [_, chart, page] = said(&sweep, &curve);
    assert_eq!(chart, "No level has a usable QPS.");
    assert!(!page.contains("not judged yet"), "every level was");
    // Failures that come fast are no capacity.
    let (sweep, curve) = swept(|_, run| run.rates.success_ratio = Some(0.5));
    assert_eq!(said(&sweep, &curve)[1], "No level has a usable QPS.");
}

#[test]
fn what_the_generator_could_not_send_has_not_fallen() {
    let (sweep, curve) = swept(|_, _| ());
    assert_eq!(curve.rows[3].verdict, Some(Verdict::LowerBound));
    let [_, chart, _] = said(&sweep, &curve);
    assert!(chart.starts_with("QPS peaks at 45,615 with 1,000 connections"), "{chart}");
    assert!(!chart.contains("fallen"), "{chart}");
    let (sweep, curve) = swept(|at, run| {
        let verdict = if at == 3 { Verdict::Valid } else { run.validity.verdict };
        run.validity.verdict = verdict;
    });
    let [_, chart, _] = said(&sweep, &curve);
    assert!(chart.ends_with(" By 30,000 connections it has fallen to 81.68 % of that."), "{chart}");
}

#[test]
fn a_lower_bound_is_one_wherever_it_is_named() {
    let (sweep, curve) = swept(|at, run| {
        run.validity.verdict = if at == 3 { Verdict::LowerBound } else { Verdict::Valid };
        if at == 3 {
            run.rates.requests_per_s = 60_000.0;
        }
    });
    let [text, chart, page] = said(&sweep, &curve);
    let words = "at least 60,000/s at 30,000 connections, mean at most 799ms";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{text}");
    assert!(chart.contains("QPS is at least 60,000 with 30,000 connections"), "{chart}");
    assert!(chart.contains("the mean latency is at most 799ms."), "{chart}");
    assert!(page.contains("≥60,000") && page.contains("mean at most 799ms"), "{page}");
}

#[test]
fn curves_are_compared_by_the_levels_that_may_be_quoted() {
    let before = swept(|_, _| ()).1;
    // The highest of the other is INVALID, and one below it had half its requests refused.
    let mut after = before.clone();
    after.name = "after".into();
    let doubt = |row: &mut CurveRow, verdict, success| {
        (row.verdict, row.success, row.qps) = (Some(verdict), Some(success), 90_000.0);
    };
    doubt(&mut after.rows[3], Verdict::Invalid, 1.0);
    doubt(&mut after.rows[2], Verdict::Valid, 0.5);
    let curves = [after, before];
    let diff = verdict::Diff::of(&curves).unwrap();
    let best = diff.best[0].unwrap();
    assert_eq!(best.level, 100.0);
    let chart = charts::diff("t", &curves).chart();
    let words = "27,642 at 100 connections";
    assert!(chart.subtitle().contains(words), "{}", chart.subtitle());
    assert!(diff.best_sentence(1).unwrap().contains("against 27,642 at 100"));
}

#[test]
fn a_level_that_was_cut_short_is_quoted_nowhere_as_the_best() {
    let (sweep, curve) = swept(|at, run| {
        run.validity = model::Validity::of(Vec::new());
        if at == 3 {
            run.interrupted = true;
            run.rates.requests_per_s = 90_000.0;
        }
    });
    let [_, _, page] = said(&sweep, &curve);
    assert!(page.contains("</span>, cut short"), "the text's table says so too: {page}");
    for said in said(&sweep, &curve) {
        let (said, _) = said.split_once("<script type").unwrap_or((&said, ""));
        assert!(!said.contains("peaks at 90,000") && !said.contains("at least 90,000"), "{said}");
    }
    let chart = charts::diff("t", &[curve.clone(), curve]).chart();
    assert!(!chart.subtitle().contains("90,000"), "{}", chart.subtitle());
}

#[test]
fn a_ratio_of_bounds_is_one_in_chart_and_page() {
    let (before, mut after) = (swept(|_, _| ()).1, swept(|_, _| ()).1);
    after.name = "after".into();
    after.rows[3].qps = 91_230.0;
    let curves = [before, after];
    let chart = charts::diff("t", &curves).chart();
    assert!(chart.subtitle().contains("reaches at least 200.00 %"), "{}", chart.subtitle());
    assert!(chart.subtitle().contains("at least 91,230 at 30,000"), "{}", chart.subtitle());
    let diff = verdict::Diff::of(&curves).unwrap();
    let page = html::diff(&html::Comparison {
        curves: &curves,
        diff: &diff,
        judgements: &[],
        watched: &[],
        command: &[],
    });
    assert!(page.contains(">≥91,230<"), "{page}");
    assert!(page.contains("at least 200.00 % of api"), "{page}");
    assert!(page.contains("at 30,000 connections, mean at most 799ms"), "{page}");
}

#[test]
fn a_level_without_responses_has_no_latency_of_zero() {
    let (sweep, curve) = swept(|at, run| {
        if at == 1 {
            without_responses(run);
        }
    });
    let [text, _, page] = said(&sweep, &curve);
    let row = text.lines().find(|line| line.trim_start().starts_with("100 ")).unwrap();
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[..6], ["100", "0.00", "-", "-", "-", "0.00"], "{row}");
    let (head, _) = page.split_once("<script type").unwrap();
    assert!(!text.contains("0ns"), "{text}");
    assert!(!head.contains("0ns"), "the page");
    let reading = verdict::curve::read(&curve, OBJECTIVE);
    let chart = charts::curve(&curve, &reading, OBJECTIVE).chart();
    assert_eq!(chart.table().rows[1][..4], ["100", "0", "", ""]);
    let diff = verdict::Diff::of(&[curve.clone(), curve]).unwrap();
    assert!(!table::diff(&diff, Style::default()).contains("0ns"));
    let csv = table::diff_csv(&diff);
    assert!(csv.contains("\r\n100,0,,,,0,"), "{csv}");
}

fn interval(phase: Phase, index: u32, errors: u64) -> Interval {
    let start_ns = u64::from(index) * SECOND;
    let mut tally = Tally::default();
    tally.errors.add(ErrorClass::Connect, errors);
    Interval { tally, ..Interval::new(index, phase, start_ns, start_ns + SECOND) }
}

#[test]
fn a_server_that_is_gone_has_no_p99_while_it_is_watched() {
    let mut progress = live::Progress::new(String::new(), None);
    progress.add(&interval(Phase::Window, 0, 3));
    let lines = progress.lines(80);
    assert!(lines.contains("p99               -"), "{lines}");
}

#[test]
fn what_the_warm_up_brought_is_not_counted_in_the_window() {
    let mut progress = live::Progress::new(String::new(), None);
    let mut warm_up = interval(Phase::Warmup, 0, 7);
    warm_up.tally.response.record_n(3 * SECOND, 50);
    warm_up.tally.response.record_n(4 * SECOND, 50);
    progress.add(&warm_up);
    assert!(progress.lines(80).contains("warm-up, 7 errors"), "{}", progress.lines(80));
    let mut window = interval(Phase::Window, 1, 2);
    window.tally.response.record_n(1_000_000, 50);
    window.tally.response.record_n(2_000_000, 50);
    progress.add(&window);
    let lines = progress.lines(80);
    assert!(lines.contains(", 2 errors") && lines.contains("2.00ms  p50 1.00ms"), "{lines}");
}

#[test]
fn achieved_is_the_rate_that_was_sent_in_every_output() {
    let mut run = sample::open_loop();
    for point in &mut run.timeline {
        (point.achieved_per_s, point.requests_per_s) = (20_000.0, 5_000.0);
    }
    let chart = charts::timeline(&run).chart();
    let table = chart.table();
    assert!(!table.headers.iter().any(|head| head.contains("achieved")), "{:?}", table.headers);
    let at = table.headers.iter().position(|head| head == "QPS (1/s)").expect("a column");
    assert_eq!(table.rows[5][at], "5000");
    let svg = chart.to_svg(crate::chart::Theme::Inline);
    assert!(!svg.contains("achieved"), "neither is its line");
}

/// A run of 2 s in slices with a drain of 8 s.
fn long_drain() -> Run {
    let mut run = sample::closed_loop();
    let slice = |start_ns, duration_ns, phase: &str| Slice {
        start_ns,
        duration_ns,
        phase: phase.into(),
        requests_per_s: 100.0,
        max_ns: SECOND / 1000,
        ..Slice::default()
    };
    run.slices = (0..20).map(|i| slice(i * SECOND / 10, SECOND / 10, "window")).collect();
    run.slices.push(slice(2 * SECOND, 8 * SECOND, "drain"));
    run
}

#[test]
fn a_drain_is_drawn_as_long_as_it_took() {
    let svg = charts::timeline(&long_drain()).chart().to_svg(crate::chart::Theme::Inline);
    assert!(svg.contains("data-from=\"0\" data-to=\"10\""), "{}", &svg[..600]);
}

#[test]
fn without_a_response_nothing_was_answered() {
    let mut run = sample::open_loop();
    run.totals.succeeded = 0;
    run.totals.requests = 0;
    run.rates.requests_per_s = 0.0;
    let page = html::run(&run);
    assert!(page.contains("No response came."), "time-outs have response times too");
    assert!(!page.contains("The server answered"));
    let page = html::run(&sample::open_loop());
    assert!(page.contains("half of the requests took up to 636us"), "timed-out ones among them");
}

#[test]
fn what_was_not_finished_is_not_called_failed() {
    let mut run = sample::closed_loop();
    run.totals.errors = model::ErrorCounts::default();
    run.totals.unfinished = 2;
    run.totals.attempts = run.totals.succeeded + 2;
    let page = html::run(&run);
    let (page, _) = page.split_once("<script type").unwrap();
    assert!(!page.contains("2 failed") && page.contains("2 did not succeed"), "{page}");
    for point in &mut run.timeline {
        point.failed = 0;
    }
    let chart = charts::timeline(&run).chart();
    let notes = chart.notes();
    assert!(!notes.iter().any(|note| note.contains("No attempt failed")), "{notes:?}");
}

#[test]
fn a_spectrum_has_the_percentiles_of_the_table() {
    let run = sample::closed_loop();
    let chart = charts::spectrum(&run).chart();
    let shown = model::units::show_duration;
    for nanos in [run.service_ns.p50, run.service_ns.p99, run.service_ns.max] {
        assert!(chart.subtitle().contains(&shown(nanos)), "{}", chart.subtitle());
    }
    let mut run = run;
    (run.service_ns.max, run.response_ns.max) = (88_800_000, 88_800_000);
    let printed = text::details(&run, false, Style::default());
    let line = printed.lines().find(|line| line.contains('│')).unwrap();
    assert!(line.contains("88.8ms"), "the top is the exact maximum: {line}");
}

/// Nothing is late and nothing waits in a closed loop, which offers no rate.
#[test]
fn what_is_zero_throughout_has_no_row_and_no_column() {
    let mut run = sample::closed_loop();
    run.late_ns = model::Summary { count: 10_000, ..model::Summary::default() };
    let shown = |run: &Run| {
        let text = text::details(run, false, Style::default());
        [text.contains("\nLate "), html::run(run).contains(">Late</th>")]
    };
    assert_eq!(shown(&run), [false, false]);
    run.late_ns = fixture::sound::around(1_000, 10_000);
    assert_eq!(shown(&run), [true, true]);
    let offered = |run: &Run| html::run(run).contains("offered (1/s)</th>");
    assert!(!offered(&sample::closed_loop()) && offered(&sample::open_loop()));
    let lost = |unfinished: u64| {
        let (sweep, curve) = swept(|_, run| run.totals.unfinished = unfinished);
        let [_, _, page] = said(&sweep, &curve);
        ["unsent", "unfinished"].map(|name| page.contains(&format!(">{name}</th>")))
    };
    assert_eq!((lost(0), lost(2)), ([false, false], [false, true]));
}

#[test]
fn the_most_frequent_statuses_are_named() {
    let mut run = sample::closed_loop();
    run.totals.statuses = [(200, 9), (201, 1), (204, 1), (301, 1), (500, 7_000)].into();
    let text = text::summary(&run, Style { columns: 120, ..Style::default() });
    assert!(text.contains("7,000 of status 500") && text.contains("and 1 more status\n"), "{text}");
}

#[test]
fn details_fit_whatever_the_load() {
    let mut mixed = sample::mixed();
    let wide = "名前".repeat(40);
    mixed.endpoints[1].name = wide.clone();
    mixed.endpoints[1].sample = Some(format!("{wide} and {}", "more ".repeat(40)));
    mixed.endpoints[1].failed_checks = [(format!("body contains {wide}"), 9)].into();
    mixed.flows[0].failed_at = [(wide, 7)].into();
    let mut ended = sample::closed_loop();
    ended.interrupted = true;
    ended.halted = Some(format!("script.lua:3: {}\n\u{1b}[31mstack", "trace ".repeat(30)));
    for (run, columns) in [&mixed, &ended].into_iter().flat_map(|run| [(run, 60), (run, 80)]) {
        let text = text::details(run, false, Style { columns, ..Style::default() });
        let row = text.lines().find(|line| line.starts_with("GET /items/{id}"));
        let whole = ["100.00 %", "1.53ms", "7.87ms"];
        assert!(row.is_none_or(|row| whole.iter().all(|figure| row.contains(figure))), "{row:?}");
        let block = crate::wrk::block(run, false).lines().count();
        for line in text.lines().skip(block) {
            let wide = unicode_width::UnicodeWidthStr::width(line);
            assert!(wide <= columns, "{columns}: {line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
    }
}
