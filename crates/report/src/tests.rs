//! What all outputs have in common.

mod agree;

use model::claim::{Claim, Claims, Tool};
use model::percentile::{LevelPercentiles, PointPercentiles};
use model::tuning::Tuning;
use model::{Curve, PERCENTILES};
use unicode_width::UnicodeWidthStr;

use crate::text::Style;
use crate::{audit, comparison, html, sample, table, text, timeline};

/// Whether a text has this word, apart from others such as `p99.9` beside `p99`.
fn says(text: &str, word: &str) -> bool {
    let apart = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_');
    text.split(apart).any(|found| found == word)
}

#[test]
fn every_percentile_of_a_run_is_in_its_text_json_page_and_audit() {
    let run = sample::open_loop();
    let json = serde_json::to_value(&run).unwrap();
    let claims = Claims::new(Tool::Plimsoll, vec![Claim::of_run(&run)]);
    let audit = verdict::audit(vec![("run.json".to_owned(), claims)], false);
    let audited = serde_json::to_value(audit::document(&audit)).unwrap();
    let audited = audited["files"][0]["rows"][0]["percentiles"].as_array().unwrap();
    for percentile in PERCENTILES {
        let name = percentile.name;
        let nanos = (percentile.of)(&run.response_ns);
        assert!(says(&text::details(&run, false, Style::default()), name), "{name} in the text");
        assert!(says(&html::run(&run), name), "{name} on the page");
        assert_eq!(json["response_ns"][percentile.key], nanos, "{name} in JSON");
        let found = audited.iter().any(|row| row["share"] == percentile.share);
        assert!(found, "{name} in the audit");
    }
}

#[test]
fn every_percentile_that_is_compared_is_in_text_csv_json_and_page() {
    let run = sample::closed_loop();
    let names = ["old", "new"].map(String::from);
    let made = verdict::comparison::blocks::judge(names, [&run, &run], 0.02);
    let (text, csv) = (comparison::text(&made, Style::default()), comparison::csv(&made));
    let json = serde_json::to_string(&made).unwrap();
    let page = html::comparison(&html::Compared {
        comparison: &made,
        command: &[],
        source: &[],
        rounds: &[],
    });
    for percentile in PERCENTILES.iter().filter(|percentile| percentile.compared) {
        let name = percentile.name;
        for output in [&text, &csv, &page] {
            assert!(says(output, name), "{name} in {output}");
        }
        assert!(says(&json, percentile.key), "{name} in {json}");
    }
}

#[test]
fn every_percentile_of_a_level_and_of_a_second_is_in_table_page_and_csv() {
    let sweep = sample::sweep("api", 50_000.0, &[1, 100]);
    let curve = Curve::from_sweep(&sweep).unwrap();
    let reading = verdict::curve::read(&curve, 1);
    let shown = table::sweep(&curve, &reading, 1, Style::default());
    let csv = table::diff_csv(&verdict::Diff::of(&[curve.clone(), curve.clone()]).unwrap());
    let page = html::sweep(&sweep, &curve, &reading);
    for (named, _) in LevelPercentiles::default().each() {
        assert!(says(&shown, named.name) && says(&page, named.name), "{}", named.name);
        assert!(says(&csv, named.key), "{}", named.key);
    }
    let csv = timeline::timeline_csv(&sweep.levels[0].run);
    let json = serde_json::to_value(&sweep).unwrap();
    for (named, nanos) in sweep.levels[0].run.timeline[0].percentiles.each() {
        assert!(says(&csv, named.key), "{}", named.key);
        assert_eq!(json["levels"][0]["run"]["timeline"][0][named.key], nanos, "{}", named.key);
    }
    assert_eq!(PointPercentiles::default().each().count(), 3);
}

/// Everything that a terminal shows of results, with names of wide characters, laid out for `columns`.
fn shown(columns: usize) -> Vec<String> {
    let style = Style { columns, ..Style::default() };
    let runs = [
        sample::closed_loop(),
        sample::open_loop(),
        sample::hostile(),
        sample::mixed(),
        sample::judged_run(),
        sample::aborted(),
    ];
    let mut texts: Vec<String> = runs.iter().map(|run| text::summary(run, style)).collect();
    texts.extend(runs.iter().map(|run| crate::findings::text(&verdict::explain(run), style)));
    let (search, reading) = sample::search();
    texts.push(crate::capacity::text(&search, &reading, style));
    let name = "http://例え.テスト/とても長いパス/".repeat(3);
    let mut swept = sample::sweep(&name, 1e6, &[1, 100, 100_000]);
    for held in &mut swept.levels {
        held.run.objectives = sample::judged_run().objectives;
    }
    let curve = Curve::from_sweep(&swept).unwrap();
    let read = verdict::curve::read(&curve, 500_000_000);
    texts.push(table::sweep(&curve, &read, 500_000_000, style));
    let holding = verdict::objective::levels::holding(&swept).unwrap();
    texts.push(text::objectives::sweep(&swept, &holding, style));
    let other = Curve::from_sweep(&sample::sweep("b", 2e6, &[1, 100, 100_000])).unwrap();
    texts.push(table::diff(&verdict::Diff::of(&[curve, other]).unwrap(), style));
    let run = sample::closed_loop();
    let names = [name.clone(), format!("{name}?b")];
    let compared = verdict::comparison::blocks::judge(names, [&run, &run], 0.02);
    texts.push(comparison::text(&compared, style));
    texts.push(crate::tuning::text(&sample_tuning(), style));
    texts.extend(profile_texts(style));
    texts
}

/// A profile with names of wide characters, a prediction from it, and two compared.
fn profile_texts(style: Style) -> [String; 3] {
    let name = format!("example.com/a/rather/long/package.(*{}).Method", "サーバー".repeat(9));
    let owner = serde_json::json!({
        "owner": "standard_library", "flat": 200, "cum": 400, "caused": 200, "share": 0.2
    });
    let layer = serde_json::json!({
        "name": name, "owner": "own", "calls_next": true, "added": 200, "collecting": 5, "share": 0.2,
        "us_per_request": 12_345.6, "bytes_per_request": 1_234_567.8
    });
    let function = |owner: &str| {
        serde_json::json!({
            "name": name, "file": "/src/a.go", "owner": owner, "flat": 100, "cum": 200, "caused": 200,
            "collecting": 5, "share": 0.2, "cum_us_per_request": 12_345.6, "cum_bytes_per_request": 1_234_567.8
        })
    };
    let functions: Vec<_> = (0..30).map(|at| function(["own", "framework"][at % 2])).collect();
    let profiled = serde_json::json!({
        "schema": "", "source": name, "value": { "kind": "cpu", "unit": "nanoseconds" }, "values": [], "stacks": 5,
        "samples": 1_000, "total": 1_000, "duration_ns": 30_000_000_000u64, "requests": 1_234_567.0, "bytes": 1_000_000,
        "collecting": 25, "collecting_by": "", "owners": [owner], "layers": [layer], "functions": functions,
        "dropped": 0, "notes": [name.repeat(2)]
    });
    let what = serde_json::json!({
        "schema": "", "source": name, "asked": [name], "removed": [name, name], "callees_stay": true, "refused": null,
        "qps_now": 123_456.0, "qps_predicted": 234_567.0, "qps_low": 223_456.0, "qps_high": 245_678.0, "share": 0.2,
        "share_collecting": 0.1, "share_headers": 0.1, "rest_cheaper": 0.1, "cpu_us_now": 18.5, "cpu_us_predicted": 15.1,
        "samples": 1_000, "samples_removed": 200, "busy": 1.0, "processors": 1.0, "next": name,
        "verified": { "url": name, "qps": 234_567.0, "inside": true, "error": 0.1, "verdict": "VALID" }
    });
    let change = serde_json::json!({
        "name": name, "owner": "own", "flat_before": 1_234.0, "flat_after": 2_345.0, "cum_before": 12_345.6,
        "cum_after": 23_456.7, "change": 11_111.1, "low": 11_000.1, "high": 11_222.1
    });
    let compared = serde_json::json!({
        "schema": "", "before": name, "after": name, "unit": "us/request", "total_before": 12_345.6,
        "total_after": 23_456.7, "functions": vec![change; 30]
    });
    [
        crate::profiled::text(&serde_json::from_value(profiled).unwrap(), style),
        crate::profiled::whatif(&serde_json::from_value(what).unwrap(), style),
        crate::profiled::diff(&serde_json::from_value(compared).unwrap(), style),
    ]
}

fn sample_tuning() -> Tuning {
    let station = |qps| {
        serde_json::json!({
            "name": "サーバー".repeat(9), "url": "", "dir": "", "qps": qps, "runs": [], "verdict": "VALID"
        })
    };
    let prediction = serde_json::json!({
        "functions": ["middleware.Logger"], "ratio": 1.25, "low": 1.1, "high": 1.4
    });
    serde_json::from_value(serde_json::json!({
        "schema": model::tuning::SCHEMA, "connections": 1, "duration_ns": 1, "warmup_ns": 1, "slo": [],
        "start": station(12_345.0),
        "steps": [{
            "station": station(123_456.0), "kept": true, "ratio": 10.1, "low": 9.9, "high": 10.3,
            "predicted": prediction, "against": "", "interleaved": true,
            "over_baseline": { "ratio": 0.9, "low": 0.85, "high": 0.95 }
        }],
        "baseline": station(137_173.0),
        "pending": prediction,
    }))
    .unwrap()
}

#[test]
fn a_tuning_says_what_was_measured_in_turns_with_the_baseline() {
    let mut tuning = sample_tuning();
    let words = crate::tuning::gist(&tuning);
    assert!(words.contains("brought 10.10 times (9.90 to 10.30)"), "{words}");
    assert!(
        words.contains("; 90 % of the baseline (85 to 95), measured in turns with it"),
        "{words}"
    );
    // Against a record of minutes before it is a rough figure, and says so.
    tuning.steps[0].over_baseline = None;
    let words = crate::tuning::gist(&tuning);
    assert!(words.contains("; so about 91 % of the baseline's 137,173"), "{words}");
}

#[test]
fn the_answers_of_a_sweep_and_a_search_fit_the_narrowest_terminal() {
    let style = Style { columns: 40, ..Style::default() };
    let (search, reading) = sample::search();
    let swept = sample::sweep("api", 1e6, &[1, 100, 100_000]);
    let curve = Curve::from_sweep(&swept).unwrap();
    let read = verdict::curve::read(&curve, 500_000_000);
    for text in [
        crate::capacity::text(&search, &reading, style),
        table::sweep(&curve, &read, 500_000_000, style),
    ] {
        for line in text.lines() {
            assert!(line.width() <= style.columns, "{}: {line}\n{text}", line.width());
        }
    }
}

#[test]
fn what_a_terminal_shows_fits_it() {
    for columns in [60, 80] {
        for text in shown(columns) {
            for line in text.lines() {
                assert!(line.width() <= columns, "{columns}, {}: {line}\n{text}", line.width());
            }
        }
    }
}
