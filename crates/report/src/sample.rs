//! Results to show: those of `fixture::drawn`, a search, and runs that objectives judged.

use model::capacity::{
    self, CapacitySearch, Judged, Margin, Outcome, Purpose, SearchStep, Settings, Step, Unit,
};
use model::objective::{Abort, Judgement, Ruling};
use model::observed::{self, Figure, Series};
use model::sweep::LevelKind;
use model::units::SECOND;
use model::{Arrivals, Arriving, Observed, ObservedSource, Program, Role, Run};
use verdict::capacity::{Ending, Reading, Search, SearchObjectives, load_line, words};

pub use fixture::drawn::{closed_loop, hostile, mixed, open_loop, sweep};

/// A search that found 12,400/s, limited by p99, of a server that collapses; and what to read of it.
pub fn search() -> (CapacitySearch, Reading) {
    use Outcome::{Broke, Held, Unclear};
    let steps = [
        (Purpose::Probe, 64.0, Held, 9.0),
        (Purpose::Search, 11_200.0, Held, 210.0),
        (Purpose::Search, 14_000.0, Broke, 4_200.0),
        (Purpose::Search, 12_600.0, Unclear, 498.0),
        (Purpose::Hold, 12_400.0, Held, 460.0),
        (Purpose::Search, 12_800.0, Broke, 640.0),
        (Purpose::Overload, 19_000.0, Broke, 9_000.0),
        (Purpose::Return, 12_400.0, Broke, 7_000.0),
        (Purpose::Return, 9_920.0, Broke, 6_000.0),
        (Purpose::Return, 6_200.0, Held, 90.0),
    ];
    let mut record = empty_search();
    for (nth, (purpose, level, outcome, p99_ms)) in (1..).zip(steps) {
        let step = Step {
            purpose,
            level,
            rest_ns: SECOND,
            warmup_ns: SECOND,
            window_ns: if purpose == Purpose::Hold { 60 * SECOND } else { 10 * SECOND },
        };
        let judged = judged(level, outcome, p99_ms);
        let file = format!("steps/{nth:02}-{}-{level}.json", purpose.name());
        record.steps.push(SearchStep { step, judged, took_ns: 12 * SECOND, file });
    }
    let search = Search::of_record(&record);
    let reading = words::read(&search, Some(Ending::Found));
    record.outcome = Some(reading.outcome.clone());
    let answer = search.answer();
    record.load_line =
        answer.map(|at| load_line(&record, &SearchObjectives::default(), &at, &open_loop()));
    (record, reading)
}

/// A machine and a database, the name of the last hostile.
pub fn watched() -> Observed {
    let series = |name: &str, unit, most: f64| Series {
        name: name.into(),
        unit,
        at_ns: (1..=4).map(|second| second * SECOND).collect(),
        values: [0.25, 0.5, 1.0, 0.75].map(|part| part * most).into(),
    };
    let source = |name: &str, role, series: Vec<Series>| ObservedSource {
        name: name.into(),
        role,
        series,
        figures: [("load.1m".into(), Figure { mean: 1.5, max: 2.0, ..Figure::default() })].into(),
        ..ObservedSource::default()
    };
    let app = vec![
        series("CPU", observed::Unit::Ratio, 0.8),
        series("memory available", observed::Unit::Bytes, 3e9),
        series("disk busy", observed::Unit::Ratio, 0.2),
        series("retransmits", observed::Unit::PerS, 0.0),
    ];
    let db = vec![
        series("statements", observed::Unit::PerS, 12_000.0),
        series("sessions at work", observed::Unit::Count, 9.0),
    ];
    let sources =
        vec![source("app", Role::App, app), source("<img src=x onerror=alert(1)>", Role::Db, db)];
    Observed { sources }
}

fn empty_search() -> CapacitySearch {
    let url = "http://127.0.0.1:8080/healthz";
    CapacitySearch {
        users_of_load: None,
        wanted_per_s: None,
        schema: capacity::SCHEMA.into(),
        plimsoll: Program { version: "0.1.0".into() },
        url: url.into(),
        started_at: "2026-11-21T08:30:00Z".into(),
        command: ["plimsoll", "capacity", url].map(String::from).into(),
        settings: Settings {
            kind: LevelKind::Rate,
            arriving: Arriving::Requests,
            arrivals: Some(Arrivals::Uniform),
            connections: 1000,
            most: None,
            precision: 0.05,
            step_ns: 10 * SECOND,
            hold_ns: 60 * SECOND,
            hold_attempts: 0,
            warmup_ns: SECOND,
            rest_ns: SECOND,
            budget_ns: 300 * SECOND,
        },
        objectives: ["p99<500ms", "success>=99%"].map(String::from).into(),
        steps: Vec::new(),
        outcome: None,
        ended: None,
        load_line: None,
        limited_by: Vec::new(),
    }
}

fn judged(level: f64, outcome: Outcome, p99_ms: f64) -> Judged {
    let p99 = Margin {
        objective: "p99<500ms".into(),
        value: p99_ms * 1e6,
        limit: 500e6,
        unit: Unit::Nanoseconds,
        outcome,
        why: (outcome == Outcome::Unclear).then(|| "interval 471ms to 530ms".into()),
        untried: false,
    };
    let success = Margin {
        objective: "success>=99%".into(),
        value: 0.999,
        limit: 0.99,
        unit: Unit::Ratio,
        outcome: Outcome::Held,
        why: None,
        untried: false,
    };
    Judged {
        outcome,
        margins: vec![p99, success],
        requests_per_s: level.min(13_000.0),
        succeeded_per_s: level.min(13_000.0),
        mean_ns: p99_ms * 2.5e5,
        p99_ns: (p99_ms * 1e6) as u64,
        note: None,
        reasons: Vec::new(),
        disturbed: false,
        too_few: false,
    }
}

/// A judgement of p99, in milliseconds.
fn judgement(objective: &str, ruling: Ruling, ms: [f64; 3], limit_ms: f64, why: &str) -> Judgement {
    let [low, value, high] = ms.map(|ms| ms * 1e6);
    Judgement {
        ruling,
        unit: Some(model::objective::Unit::Ns),
        limit: Some(limit_ms * 1e6),
        value: Some(value),
        margin: Some(limit_ms * 1e6 - value),
        low: Some(low),
        high: Some(high),
        confidence: Some(0.95),
        ..Judgement::undecided(objective, why)
    }
}

/// A closed loop judged by objectives of every ruling.
pub fn judged_run() -> Run {
    let stable = Judgement::undecided("stable", "Nothing is known.");
    let objectives = vec![
        judgement(
            "p99<500ms",
            Ruling::Pass,
            [9.1, 9.4, 9.9],
            500.0,
            "Met 51 times over: tuning for this can stop.",
        ),
        judgement("mean<1ms", Ruling::Fail, [1.9, 2.0, 2.1], 1.0, "1.00ms beyond the limit."),
        judgement(
            "p99.9<20ms",
            Ruling::Inconclusive,
            [17.0, 19.0, 22.0],
            20.0,
            "The limit is inside the interval; about 240s more would decide it (-d 270s).",
        ),
        stable,
    ];
    Run { objectives, ..closed_loop() }
}

/// A run that its user's rule ended.
pub fn aborted() -> Run {
    let abort = Abort {
        rule: "p99>2s for 10s".into(),
        rate_not_reached: false,
        at_ns: 20 * SECOND,
        text: "p99>2s held for 10.0s; last value 3.10s".into(),
    };
    Run { interrupted: true, aborted: Some(abort), ..closed_loop() }
}
