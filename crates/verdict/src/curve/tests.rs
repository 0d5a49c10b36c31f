use model::percentile::LevelPercentiles;
use model::run::SessionPace;
use model::units::MILLISECOND;
use model::{Curve, LevelKind, SuccessMeaning};

use super::*;
use fixture::published::published;

const OBJECTIVE: Nanos = 500 * MILLISECOND;

/// (level, QPS, mean ms, success), judged valid.
fn curve(kind: LevelKind, rows: &[(f64, f64, f64, f64)]) -> Curve {
    let row = |&(level, qps, mean_ms, success): &(f64, f64, f64, f64)| CurveRow {
        level,
        offered_per_s: None,
        sessions: None,
        responded_ratio: None,
        qps,
        mean_ns: (mean_ms * 1e6) as Nanos,
        percentiles: LevelPercentiles::default(),
        success: Some(success),
        verdict: Some(Verdict::Valid),
        reason: None,
        cut_short: false,
    };
    Curve {
        name: "a".into(),
        kind,
        rows: rows.iter().map(row).collect(),
        origin: None,
        success_means: SuccessMeaning::Unstated,
        environment: None,
        commonest_response: None,
        change: None,
    }
}

fn closed(rows: &[(f64, f64, f64, f64)]) -> Curve {
    curve(LevelKind::Concurrency, rows)
}

#[test]
fn what_to_read_from_a_closed_loop() {
    for (rows, best, within, sentence) in [
        (&[][..], None, None, "No level was run."),
        (
            &[(64.0, 12_345.0, 5.1, 1.0)],
            Some(0),
            Some(0),
            "One level does not make a curve: at 64 connections the server answered 12,345 requests/s in \
             5.10ms on average; sweep more levels to see where it bends.",
        ),
        (
            &[(1.0, 100.0, 10.0, 1.0), (2.0, 200.0, 10.0, 1.0)],
            Some(1),
            Some(1),
            "QPS was still growing at the highest level, 2 connections: the server carries at \
             least 200 requests/s, there in 10.0ms on average; sweep to higher levels.",
        ),
        (
            &[(8.0, 500.0, 16.0, 1.0), (16.0, 1000.0, 16.0, 1.0), (32.0, 1010.0, 31.7, 1.0)],
            Some(2),
            Some(2),
            "At 16 connections the server answers 1,000 requests/s in 16.0ms on average. More \
             connections gain little: its best, 1,010 requests/s at 32 connections, is 1.00 % more at 2.0 times \
             the mean.",
        ),
        (
            &[(8.0, 500.0, 16.0, 1.0), (16.0, 1000.0, 16.0, 1.0), (32.0, 700.0, 45.7, 1.0)],
            Some(1),
            Some(1),
            "The highest throughput is 1,000 requests/s at 16 connections, in 16.0ms on average; by 32 \
             connections QPS has fallen to 700.",
        ),
        (
            &[(8.0, 800.0, 10.0, 1.0), (16.0, 9000.0, 1.0, 0.2)],
            Some(0),
            Some(0),
            "The highest throughput is 800 requests/s at 8 connections, in 10.0ms on average; at 16 connections \
             only 20.00 % succeeded.",
        ),
        (
            &[(8.0, 9000.0, 1.0, 0.2)],
            None,
            None,
            "No level has a usable QPS: each is INVALID or had less than 90.00 % success.",
        ),
        (
            &[
                (100.0, 100.0, 400.0, 1.0),
                (1000.0, 120.0, 900.0, 1.0),
                (2000.0, 110.0, 1800.0, 1.0),
            ],
            Some(1),
            Some(0),
            "The highest throughput is 120 requests/s at 1,000 connections, in 900ms on average; within a mean \
             of 500ms the most is 100 requests/s at 100 connections.",
        ),
        (
            &[(10.0, 10.0, 900.0, 1.0), (20.0, 10.0, 1800.0, 1.0)],
            Some(0),
            None,
            "The highest throughput is 10.00 requests/s at 10 connections, in 900ms on average; no level kept \
             the mean within 500ms.",
        ),
    ] {
        let reading = read(&closed(rows), OBJECTIVE);
        assert_eq!((reading.best, reading.best_within), (best, within), "{rows:?}");
        assert_eq!(reading.sentence, sentence);
        assert!(reading.notes.is_empty(), "{:?}", reading.notes);
    }
}

#[test]
fn what_to_read_from_an_open_loop() {
    for (rows, sentence) in [
        (
            &[(1000.0, 1000.0, 2.0, 1.0), (2000.0, 1999.0, 3.0, 1.0), (3000.0, 2100.0, 400.0, 1.0)]
                [..],
            "The server kept up with rates up to 2,000/s, in 3.00ms on average; at 3,000/s it \
             answered 2,100 requests/s.",
        ),
        (
            &[(1000.0, 1000.0, 2.0, 1.0), (2000.0, 1999.0, 3.0, 1.0)],
            "The server kept up with every rate, the highest being 2,000/s in 3.00ms on average: \
             its limit is higher.",
        ),
        (
            &[(1000.0, 700.0, 300.0, 0.95), (2000.0, 1990.0, 1.0, 0.1)],
            "The server kept up with none of the rates: at 1,000/s it answered 700 requests/s (95.00 % of them \
             succeeded); the highest was 700 requests/s (95.00 % of them succeeded).",
        ),
    ] {
        assert_eq!(read(&curve(LevelKind::Rate, rows), OBJECTIVE).sentence, sentence);
    }
}

#[test]
fn doubts_are_reported() {
    let mut doubted =
        closed(&[(1.0, 100.0, 10.0, 1.0), (2.0, 190.0, 10.5, 1.0), (4.0, 180.0, 22.0, 1.0)]);
    doubted.rows[1].verdict = Some(Verdict::LowerBound);
    doubted.rows[2].verdict = Some(Verdict::Invalid);
    let reading = read(&doubted, OBJECTIVE);
    assert!(
        reading.sentence.starts_with(
            "QPS was still growing at the highest level that is not INVALID, 2 connections: the \
             server carries at least 190 requests/s"
        ),
        "{reading:?}"
    );
    assert_eq!(
        reading.notes,
        [
            "LOWER_BOUND at 2 connections: something other than the server was the limit there, so read \
             QPS as \"at least\" and latency as \"at most\"",
            "INVALID at 4 connections: leave them out",
        ]
    );
    doubted.kind = LevelKind::Rate;
    doubted.rows[1].reason = Some(ReasonCode::ConnectionsExhausted);
    let notes = read(&doubted, OBJECTIVE).notes;
    assert!(
        notes[0].contains("waited for a free connection") && !notes[0].contains("generator"),
        "{notes:?}"
    );
    assert!(notes[0].ends_with("so read QPS as \"at least\""), "{notes:?}");
    let mut starved =
        closed(&[(1.0, 50.0, 10.0, 1.0), (2.0, 99.0, 20.0, 1.0), (4.0, 60.0, 70.0, 1.0)]);
    let sentence = read(&starved, OBJECTIVE).sentence;
    assert!(sentence.contains("; by 4 connections QPS has fallen to 60"), "{sentence}");
    starved.rows[2].verdict = Some(Verdict::LowerBound);
    let sentence = read(&starved, OBJECTIVE).sentence;
    assert!(!sentence.contains("fallen"), "at least 60 is no fall: {sentence}");
    let mut dips =
        closed(&[(1.0, 100.0, 10.0, 1.0), (2.0, 50.0, 40.0, 1.0), (4.0, 110.0, 36.0, 1.0)]);
    let notes = read(&dips, OBJECTIVE).notes;
    assert!(notes[0].starts_with("QPS dips at 2 connections"), "{notes:?}");
    dips.rows[1].verdict = Some(Verdict::LowerBound);
    let notes = read(&dips, OBJECTIVE).notes;
    assert!(!notes.iter().any(|note| note.contains("dips")), "at least 50 is no dip: {notes:?}");
}

#[test]
fn a_level_that_was_cut_short_is_never_the_best() {
    let mut swept =
        closed(&[(1.0, 100.0, 10.0, 1.0), (2.0, 190.0, 10.5, 1.0), (4.0, 400.0, 10.0, 1.0)]);
    swept.rows[2].cut_short = true;
    let reading = read(&swept, OBJECTIVE);
    assert_eq!((reading.best, reading.best_within), (Some(1), Some(1)));
    let sentence = "QPS was still growing at the highest level that was not cut short, 2 connections: the \
                    server carries at least 190 requests/s";
    assert!(reading.sentence.starts_with(sentence), "{}", reading.sentence);
    // Neither does it show that QPS fell.
    (swept.rows[1].qps, swept.rows[2].qps) = (101.0, 20.0);
    let sentence = read(&swept, OBJECTIVE).sentence;
    assert!(!sentence.contains("fallen"), "{sentence}");
    swept.kind = LevelKind::Rate;
    (swept.rows[0].level, swept.rows[1].level, swept.rows[2].level) = (100.0, 101.0, 400.0);
    let sentence = read(&swept, OBJECTIVE).sentence;
    assert!(
        sentence.starts_with("The server kept up with every rate, the highest being 101/s"),
        "{sentence}"
    );
    let mut alone = closed(&[(8.0, 500.0, 1.0, 1.0)]);
    alone.rows[0].cut_short = true;
    let sentence = "No level has a usable QPS: each is INVALID, was cut short or had less than 90.00 % success.";
    assert_eq!(read(&alone, OBJECTIVE).sentence, sentence);
}

/// The server died: there is nothing above to sweep to, and what came before may be one level.
#[test]
fn levels_of_a_server_that_went_away_lead_to_no_advice_and_no_knee() {
    let mut died =
        closed(&[(2.0, 93.0, 21.3, 1.0), (4.0, 186.0, 21.3, 1.0), (8.0, 49.5, 21.9, 0.1364)]);
    died.rows[2].verdict = Some(Verdict::Invalid);
    died.rows[2].reason = Some(ReasonCode::ServerGone);
    let sentence = read(&died, OBJECTIVE).sentence;
    assert!(sentence.ends_with("; the server went away at 8 connections."), "{sentence}");
    died.rows.remove(0);
    let reading = read(&died, OBJECTIVE);
    assert_eq!(reading.knee, None);
    assert!(reading.sentence.starts_with("One level does not make a curve"), "{reading:?}");
    (died.rows[1].verdict, died.rows[1].reason) = (Some(Verdict::Valid), None);
    assert_eq!(read(&died, OBJECTIVE).knee, None);
}

#[test]
fn levels_of_two_servers_have_no_knee_and_no_fall() {
    let rows = [(2.0, 93.0, 21.0, 1.0), (4.0, 186.0, 21.0, 1.0), (8.0, 74.0, 103.0, 1.0)];
    let mut changed = closed(&[rows[0], rows[1], rows[2], (16.0, 32.0, 403.0, 1.0)]);
    assert_eq!(read(&changed, OBJECTIVE).knee.map(|knee| knee.level), Some(4.0));
    changed.rows[2].verdict = Some(Verdict::Invalid);
    changed.rows[2].reason = Some(ReasonCode::NotSteady);
    changed.change = Some("the server changed within this level: it did. Find out why.".into());
    let Reading { sentence, knee, usl, .. } = read(&changed, OBJECTIVE);
    assert_eq!(
        sentence,
        "The levels are of two different servers, and are not compared. At 8 connections, the server changed within \
         this level: it did. Find out why."
    );
    assert_eq!((knee, usl.is_err()), (None, true));
}

#[test]
fn published_tables() {
    let reading = read(&published("before"), OBJECTIVE);
    assert_eq!(
        reading.sentence,
        "At 200 connections the server answers 145,651 requests/s in 1.28ms on average. More \
         connections gain little: its best, 147,834 requests/s at 3,000 connections, is 1.50 % more at 24.1 times \
         the mean; by 100,000 connections QPS has fallen to 127,630."
    );
    let native = read(&published("native"), OBJECTIVE);
    assert_eq!((native.best, native.best_within), (Some(8), Some(8)));
    assert!(
        native.notes[0].contains("by up to 9.6 times at 15,000 connections"),
        "{:?}",
        native.notes
    );
}

#[test]
fn sessions_that_make_several_requests_are_held_against_what_was_due() {
    let mut sweep = curve(LevelKind::Rate, &[(100.0, 300.0, 2.0, 1.0), (200.0, 410.0, 90.0, 1.0)]);
    for row in &mut sweep.rows {
        row.offered_per_s = Some(3.0 * row.level);
    }
    let wanted = "The server kept up with rates up to 100/s, in 2.00ms on average; at 200/s it \
                answered 410 requests/s.";
    assert_eq!(read(&sweep, OBJECTIVE).sentence, wanted);
}

/// Of 150 ms, a window of 10 s without a warm-up has no responses to the last one and a half in a hundred.
#[test]
fn a_server_that_takes_long_keeps_up_all_the_same() {
    let mut sweep = curve(LevelKind::Rate, &[(10.0, 9.8, 150.0, 1.0), (20.0, 19.7, 150.0, 1.0)]);
    for row in &mut sweep.rows {
        row.responded_ratio = Some(0.999);
    }
    let sentence = read(&sweep, OBJECTIVE).sentence;
    let wanted = "The server kept up with every rate, the highest being 20/s";
    assert!(sentence.starts_with(wanted), "{sentence}");
}

#[test]
fn sessions_that_pile_up_are_not_kept_up_with_though_requests_due_had_responses() {
    let rows = [(19.0, 190.0, 9.0, 1.0), (20.0, 200.0, 30.0, 1.0), (21.0, 200.0, 90.0, 1.0)];
    let mut sweep = curve(LevelKind::Rate, &rows);
    for (row, ended_ratio) in sweep.rows.iter_mut().zip([1.0, 0.98, 0.9156]) {
        row.offered_per_s = Some(row.qps / 0.991);
        row.sessions = Some(SessionPace { ended_ratio, doubt: 0.015 });
    }
    let wanted = "The server kept up with rates up to 20/s, in 30.0ms on average; at 21/s it \
                answered 200 requests/s and ended 91.56 % of the sessions that were due.";
    assert_eq!(read(&sweep, OBJECTIVE).sentence, wanted);
}

#[test]
fn a_level_that_cannot_be_believed_is_no_sign_of_falling_behind() {
    let rows = [(1000.0, 1000.0, 2.0, 1.0), (2000.0, 1500.0, 3.0, 1.0), (3000.0, 2999.0, 4.0, 1.0)];
    let mut sweep = curve(LevelKind::Rate, &rows);
    sweep.rows[1].verdict = Some(Verdict::Invalid);
    let wanted = "The server kept up with every rate, the highest being 3,000/s in 4.00ms on \
                average: its limit is higher.";
    assert_eq!(read(&sweep, OBJECTIVE).sentence, wanted);
}

/// One response in twelve failed, at once, and made room for more.
#[test]
fn a_throughput_that_counts_failures_says_so() {
    let rows = [(8.0, 1000.0, 8.0, 1.0), (16.0, 1100.0, 15.0, 0.95), (32.0, 900.0, 30.0, 0.95)];
    let said = |kind, rows: &[(f64, f64, f64, f64)]| read(&curve(kind, rows), OBJECTIVE).sentence;
    let sentence = said(LevelKind::Concurrency, &rows);
    assert!(sentence.contains("1,100 requests/s (95.00 % of them succeeded)"), "{sentence}");
    let rates = [(100.0, 100.0, 5.0, 1.0), (200.0, 200.0, 5.0, 0.92)];
    let sentence = said(LevelKind::Rate, &rates);
    assert!(
        sentence.contains("the highest being 200/s (92.00 % of them succeeded) in"),
        "{sentence}"
    );
}

#[test]
fn failures_that_look_like_throughput_are_not_the_best() {
    let curve =
        closed(&[(8.0, 1000.0, 8.0, 1.0), (16.0, 1060.0, 15.0, 0.92), (32.0, 940.0, 34.0, 1.0)]);
    let reading = read(&curve, OBJECTIVE);
    assert_eq!((reading.best, best_row(&curve)), (Some(0), Some(0)), "{}", reading.sentence);
    assert_eq!(reading.knee.map(|knee| knee.level), Some(8.0));
}
