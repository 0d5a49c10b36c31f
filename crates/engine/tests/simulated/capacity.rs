//! Searches for capacity by the real workers in virtual time: each step has a new world, so each is
//! approached from idle.

use model::capacity::{Outcome, Purpose, Settings, Step};
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Arriving, LevelKind};
use target::Options;
use verdict::capacity::judge::judge;
use verdict::capacity::{Answer, Ending, Next, Search, SearchObjectives};

use crate::harness::{Load, closed, drive, open};
use crate::server::built_in;

/// Two seconds a step, six to hold.
fn settings(kind: LevelKind) -> Settings {
    Settings {
        kind,
        arriving: Arriving::Requests,
        arrivals: Some(Arrivals::Uniform),
        connections: 400,
        most: None,
        precision: 0.05,
        step_ns: 2 * SECOND,
        hold_ns: 6 * SECOND,
        hold_attempts: 0,
        warmup_ns: SECOND,
        rest_ns: SECOND,
        budget_ns: 120 * SECOND,
    }
}

fn load(step: &Step, settings: &Settings, path: &str, seed: u64) -> Load {
    let load = if step.purpose.is_closed_loop() || settings.kind == LevelKind::Concurrency {
        closed(step.level as u32)
    } else {
        open(step.level, settings.connections)
    };
    let mut load = load.with(|plan| {
        (plan.warmup_ns, plan.duration_ns) = (step.warmup_ns, Some(step.window_ns));
        (plan.timeout_ns, plan.seed) = (5 * SECOND, seed);
        if step.purpose == Purpose::Idle {
            plan.pace_ns = Some(50 * MILLISECOND);
        }
    });
    load.request = format!("GET {path} HTTP/1.1\r\nHost: sim\r\n\r\n").into_bytes();
    load.seed = seed;
    load
}

/// Searches a path of the built-in server.
fn search(settings: Settings, path: &str) -> (Search, Answer) {
    let mut search = Search::new(settings);
    for seed in 0.. {
        let step = match search.next() {
            Next::Run(step) => step,
            Next::Done(ending) => {
                assert_eq!(ending, Ending::Found, "{path}");
                break;
            }
        };
        let load = load(&step, &settings, path, seed);
        let mut run = drive(&load, |world| built_in(world, &Options::default())).run;
        run.validity = verdict::judge(&run);
        let margins = SearchObjectives::default().margins(&run, &[], step.purpose);
        let judged = judge(&run, margins, search.idle_mean_ns());
        assert_ne!(judged.outcome, Outcome::Generator, "{path}: {step:?} {judged:?}");
        search.feed(step, judged, step.rest_ns + step.warmup_ns + step.window_ns);
    }
    let answer = search.answer().expect("a level that held");
    (search, answer)
}

#[test]
fn the_capacity_of_a_queue_is_found_by_the_real_workers() {
    for (path, truth) in [
        ("/queue?servers=1&mean=5ms&dist=det&seed=1", 200.0),
        ("/queue?servers=4&mean=5ms&dist=det&seed=2", 800.0),
        ("/queue?servers=4&mean=5ms&dist=exp&seed=3", 800.0),
    ] {
        let (search, answer) = search(settings(LevelKind::Rate), path);
        let high = answer.high.expect("something above broke");
        assert!(answer.low <= truth && truth <= high, "{path}: {answer:?}");
        assert!(answer.confirmed_for_ns.is_some() && search.steps() <= 17, "{path}: {answer:?}");
        let overload = answer.overload.expect("an overload was tried");
        assert!(!overload.collapses, "{path}: {answer:?}");
        let saturated = answer.saturated.expect("it was kept busy");
        let carried = saturated.requests_per_s / truth;
        assert!((0.97..1.03).contains(&carried), "{path}: {saturated:?}");
    }
}

#[test]
fn the_concurrency_that_keeps_a_mean_is_found() {
    // c users of one server of 5 ms wait c times 5 ms, and a way there and back: a mean of 500 ms
    // holds up to 99 of them.
    let (_, answer) =
        search(settings(LevelKind::Concurrency), "/queue?servers=1&mean=5ms&dist=det");
    let high = answer.high.expect("something above broke");
    assert!(answer.low <= 99.0 && high >= 99.0, "{answer:?}");
}
