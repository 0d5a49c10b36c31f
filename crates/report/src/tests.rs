//! What all outputs have in common.

use model::claim::{Claim, Claims, Tool};
use model::percentile::{LevelPercentiles, PointPercentiles};
use model::{Curve, PERCENTILES};

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
