use model::run::RunBuilder;
use model::sweep::Level;
use proptest::prelude::*;

use super::*;

fn a_run() -> Run {
    let mut run = RunBuilder::new(fixture::head(fixture::plan())).finish(false);
    run.histograms.insert("response".into(), "AAAA".into());
    run
}

fn a_sweep(levels: &[f64]) -> Sweep {
    let level = |&level: &f64| Level { level, run: a_run() };
    fixture::sound::sweep(levels.iter().map(level).collect())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn what_was_written_is_read() {
    assert_eq!(load_run(json(&a_run()).as_bytes()), Ok(a_run()));
    let sweep = a_sweep(&[1.0, 2.0]);
    assert_eq!(load_sweep(json(&sweep).as_bytes()), Ok(sweep));
}

#[test]
fn unknown_fields_are_passed_over_and_a_byte_order_mark_too() {
    let text = json(&a_run()).replacen('{', "\u{feff}{\"since\": {\"x\": [1]},", 1);
    assert_eq!(load_run(text.as_bytes()), Ok(a_run()));
}

#[test]
fn every_cut_is_reported_as_a_cut() {
    let text = json(&a_run());
    for end in 1..text.len() - 1 {
        let error = load_run(&text.as_bytes()[..end]).unwrap_err();
        assert!(matches!(error, ResultError::CutShort { .. }), "cut at {end}: {error}");
    }
    let error = load_run(&text.as_bytes()[..text.len() / 2]).unwrap_err().to_string();
    assert!(error.ends_with("the file was cut short"), "{error}");
    assert!(error.starts_with("ends in the middle at line "), "{error}");
}

#[test]
fn refusals_say_what_the_file_is() {
    let run = json(&a_run());
    let newer = run.replacen("plimsoll.run/1", "plimsoll.run/2", 1);
    for (text, needle) in [
        (
            newer.as_str(),
            "made by a newer plimsoll (plimsoll.run/2); this one reads plimsoll.run/1",
        ),
        ("{}", "JSON without a `schema`"),
        ("[]", "not a JSON object"),
        (r#"{"schema":7}"#, "JSON without a `schema`"),
        (r#"{"schema":[{"a":[]}]}"#, "JSON without a `schema`"),
        // Read no further than to what is no text.
        (r#"{"schema":[0,"#, "JSON without a `schema`"),
        (r#"{"schema":"k6/1"}"#, "its schema is `k6/1`, not plimsoll.run/1"),
        (r#"{"schema":"plimsoll.run/0"}"#, "its schema is `plimsoll.run/0`"),
        (r#"{"schema":"plimsoll.run/1"}"#, "missing field"),
        ("200 1 2 3", "line 1, column 1: not a JSON object"),
        ("{\"schema\":\n\"plimsoll.run/1\",]}", "line 2, column 18"),
    ] {
        let error = load_run(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(needle), "{text:.60}: {error}");
    }
}

#[test]
fn levels_of_a_sweep_are_sorted_and_checked() {
    let sweep = load_sweep(json(&a_sweep(&[2.0, 1.0])).as_bytes()).unwrap();
    assert_eq!(sweep.levels[0].level, 1.0);
    let doubled = load_sweep(json(&a_sweep(&[2.0, 2.0])).as_bytes()).unwrap_err();
    assert!(doubled.to_string().contains("level 2 comes twice"));
    let none = load_sweep(json(&a_sweep(&[-1.0])).as_bytes()).unwrap_err();
    assert!(none.to_string().contains("not above zero"));
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{{\"x\":{}", "[".repeat(100_000));
    assert!(load_run(deep.as_bytes()).is_err());
}

proptest! {
    #[test]
    fn damaged_results_never_panic(at in any::<prop::sample::Index>(), damage in prop::collection::vec(any::<u8>(), 0..4)) {
        let mut bytes = json(&a_run()).into_bytes();
        let at = at.index(bytes.len());
        bytes.splice(at..(at + 2).min(bytes.len()), damage);
        let _ = (load_run(&bytes), load_sweep(&bytes), detect(&bytes));
    }

    #[test]
    fn any_bytes_are_detected_and_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = detect(&bytes);
        prop_assert!(load_run(&bytes).is_err());
    }
}
