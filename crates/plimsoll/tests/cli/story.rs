//! The case study, from a slow API server to one near its baseline: measured, profiled, predicted, changed and measured
//! again by the program, as a user would do it. `cargo xtask casestudy` writes it down as docs/casestudy.html.
//!
//! Servers have one processor, the generator the other.

mod acts;
mod page;
mod stage;

use std::fs;
use std::path::PathBuf;

use testkit::databases::Postgres;
use testkit::needs;

use acts::Pace;

fn is_possible() -> bool {
    needs::has("go") && needs::has("taskset") && Postgres::is_there()
}

#[test]
#[ignore = "twenty minutes of measuring; `cargo xtask casestudy` runs it"]
fn the_whole_story() {
    assert!(is_possible(), "Go, taskset and PostgreSQL are needed");
    let out = PathBuf::from(std::env::var_os("PLIMSOLL_STORY_OUT").expect("where to write it"));
    let story = acts::play(&Pace::WHOLE);
    fs::write(out.join("casestudy.html"), page::html(&story)).expect("the page");
    let data = serde_json::to_string_pretty(&story.data()).expect("JSON");
    fs::write(out.join("casestudy.json"), data + "\n").expect("its data");
    let claims = story.claims();
    for (claim, reach, got, met) in &claims {
        println!("truth | {claim} | {reach} | {got} | {}", if *met { "yes" } else { "no" });
    }
    assert!(claims.iter().all(|claim| claim.3), "a claim is not met");
}

/// Every act once, too short for its figures to mean anything.
#[test]
fn the_story_can_be_played() {
    if !is_possible() {
        return;
    }
    let story = acts::play(&Pace::SHORT);
    assert_eq!(story.tuning["steps"].as_array().map(Vec::len), Some(Pace::SHORT.changes));
    assert!(story.tuning["steps"][0]["over_baseline"]["low"].is_f64(), "{}", story.tuning);
    let ways: Vec<usize> = story.ways.iter().map(|(_, ways)| ways.len()).collect();
    assert_eq!(ways, [3, 3, 3], "statements, query builder and ORM, three kinds of request");
    assert_eq!((story.best.len(), story.connections.len(), story.workers.len()), (3, 2, 4));
    assert_eq!(story.charts.len(), 8, "QPS and success of three sweeps and of all of them");
    let page = page::html(&story);
    for part in ["<svg", "middleware.dump", "/orm/row", "keep-alive", "8 workers"] {
        assert!(page.contains(part), "{part}");
    }
    // Functions have such names, and the script has these words.
    let page = page.replace(page::SCRIPT, "");
    let figures = story.flames.iter().fold(page, |page, flame| page.replace(flame, ""));
    assert!(!figures.contains("NaN") && !figures.contains("null"), "{figures}");
}
