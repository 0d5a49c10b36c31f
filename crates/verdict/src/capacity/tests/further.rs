//! A search uses the time that it has: beyond a level that was confirmed early, and again when it is given more.

use model::capacity::{CapacitySearch, Judged, Outcome, Purpose, SearchStep, Settings, Step};
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, LevelKind, Reason, ReasonCode, Verdict};

use super::simulated::Server;
use super::{exact, judged, search, settings, took};
use crate::capacity::{Ending, Next, Search, onward, words};

/// The settings of `--budget 25s`, of which some steps and three holds leave nothing.
fn brief() -> Settings {
    Settings {
        arrivals: Some(Arrivals::Poisson),
        step_ns: SECOND,
        hold_ns: 5 * SECOND,
        warmup_ns: 200 * MILLISECOND,
        rest_ns: 200 * MILLISECOND,
        budget_ns: 25 * SECOND,
        ..settings(LevelKind::Rate)
    }
}

/// A server that holds up to a rate, and fails most of what a closed loop sends: the probes see little of it.
fn underrated(capacity: f64) -> impl FnMut(&Step) -> Judged {
    let mut serve = exact(capacity);
    move |step| match step.purpose {
        Purpose::Probe => judged(Outcome::Broke, 0.4 * capacity, 1e7),
        _ => serve(step),
    }
}

/// A server whose limit nobody comes to.
fn unlimited(step: &Step) -> Judged {
    match step.purpose {
        Purpose::Probe => judged(Outcome::Held, 1000.0, 1e7),
        _ => exact(f64::INFINITY)(step),
    }
}

/// Whether the search would go on with this time in all.
fn goes_on(search: &Search, budget_ns: u64) -> bool {
    let mut longer = search.clone();
    longer.settings.budget_ns = budget_ns;
    matches!(longer.next(), Next::Run(_))
}

#[test]
fn a_level_confirmed_early_is_left_behind_while_there_is_time() {
    let (search, ending) = search(brief(), underrated(3000.0));
    let answer = search.answer().expect("a capacity");
    let spent = search.spent_ns() as f64 / search.settings.budget_ns as f64;
    assert!(answer.high.is_some() || spent > 0.7, "{spent:.2} spent: {answer:?}");
    assert!(answer.level > 0.75 * 3000.0 && answer.level <= 3000.0, "{ending:?} {answer:?}");
    assert!(answer.confirmed_for_ns.is_some(), "{answer:?}");
}

#[test]
fn more_time_brings_a_search_further_that_found_nothing_above() {
    let (first, ending) = search(brief(), unlimited);
    let answer = first.answer().expect("a capacity");
    assert!(answer.at_least() && ending == Ending::OutOfBudget, "{ending:?} {answer:?}");
    let sentence = words::sentence(&first, ending);
    assert!(sentence.contains("(--budget) was too short for the next step"), "{sentence}");
    assert!(goes_on(&first, 75 * SECOND), "{:?}", first.fed);
    let advice = onward(&first, Some(ending), Some("go on"));
    assert_eq!(advice, "Give the search more time: `go on --budget 75s` goes on with it.");
}

/// A server of 2/s would be busy with 64 requests for half a minute, longer than the whole search may last.
#[test]
fn a_slow_server_is_probed_with_few_requests() {
    for (idle_ms, connections) in [(1.0, 64.0), (30.0, 64.0), (500.0, 8.0)] {
        let mut search = Search::new(brief());
        let Next::Run(idle) = search.next() else { panic!("a look at the server at rest") };
        search.feed(idle, judged(Outcome::Held, 2.0, idle_ms * 1e6), SECOND);
        let Next::Run(probe) = search.next() else { panic!("a probe") };
        assert_eq!((probe.purpose, probe.level), (Purpose::Probe, connections), "{idle_ms} ms");
    }
}

/// Looks and probes end before its responses come, which each of 1,000 users has one of in 3 s.
#[test]
fn a_server_whose_responses_outlast_the_probes_is_searched_near_what_it_carries() {
    let mut search = Search::new(settings(LevelKind::Rate));
    let level = loop {
        let Next::Run(step) = search.next() else { panic!("it goes on: {:?}", search.fed) };
        if step.purpose == Purpose::Search {
            break step.level;
        }
        let succeeded_per_s = step.level * SECOND as f64 / step.window_ns as f64;
        let judged = judged(Outcome::Held, succeeded_per_s, 3e9);
        search.feed(step, Judged { requests_per_s: 0.0, ..judged }, took(&step));
    };
    assert!((200.0..400.0).contains(&level), "{level}");
}

/// Whatever became of a search, the command that is printed does something.
#[test]
fn what_is_advised_goes_on() {
    let mut advised = 0;
    for seed in 0..300 {
        let budget_ns = [12, 25, 60][seed as usize % 3] * SECOND;
        let settings = Settings {
            budget_ns,
            step_ns: (budget_ns / 30).max(SECOND),
            hold_ns: budget_ns / 5,
            ..brief()
        };
        let mut server = Server::drawn(seed);
        let (search, ending) = search(settings, |step| server.run(step));
        let advice = onward(&search, Some(ending), Some("go on"));
        let Some((_, longer)) = advice.split_once("go on --budget ") else { continue };
        let (longer, _) = longer.split_once('`').expect("a command");
        let longer_ns = model::units::parse_duration(longer).expect("a duration");
        assert!(goes_on(&search, longer_ns), "seed {seed}: {ending:?}, {advice}");
        advised += 1;
    }
    assert!(advised > 20, "{advised}");
}

/// A generator that is late once tells nothing of the server, nor of itself.
#[test]
fn a_level_at_which_the_generator_was_late_once_is_tried_again() {
    for purpose in [Purpose::Search, Purpose::Hold] {
        let (mut serve, mut late) = (exact(12_400.0), 1);
        let (search, ending) = search(settings(LevelKind::Rate), |step| {
            let served = serve(step);
            if step.purpose != purpose || late == 0 {
                return served;
            }
            late -= 1;
            let (code, consequence) = (ReasonCode::LateSends, Verdict::LowerBound);
            let reasons = vec![Reason { code, consequence, text: "late".into() }];
            Judged { outcome: Outcome::Generator, reasons, ..served }
        });
        assert_eq!((ending, late), (Ending::Found, 0));
        let levels: Vec<Step> = search.levels().map(|fed| fed.step).collect();
        let at = search.levels().position(|fed| fed.judged.outcome == Outcome::Generator);
        let at = at.expect("the late one");
        assert_eq!(levels[at], levels[at + 1], "{levels:?}");
        let answer = search.answer().expect("a capacity");
        assert!(answer.high.is_some() && answer.level > 11_500.0, "{answer:?}");
    }
}

/// A busy machine makes the generator late again and again: holds near the level that held, and none far below.
#[test]
fn holds_in_which_the_generator_was_late_stay_near_the_level() {
    let mut serve = exact(12_400.0);
    let patient = Settings { budget_ns: 3600 * SECOND, ..settings(LevelKind::Rate) };
    let (search, ending) = search(patient, |step| {
        let served = serve(step);
        if step.purpose != Purpose::Hold {
            return served;
        }
        let (code, consequence) = (ReasonCode::LateSends, Verdict::Invalid);
        let reasons = vec![Reason { code, consequence, text: "late".into() }];
        Judged { outcome: Outcome::Unclear, reasons, ..served }
    });
    assert_eq!(ending, Ending::Unconfirmed);
    let holds: Vec<f64> = search.of(Purpose::Hold).map(|fed| fed.step.level).collect();
    assert_eq!(holds[0], holds[1], "{holds:?}");
    assert!(holds.iter().all(|level| level > &(0.4 * holds[0])), "{holds:?}");
}

/// A level that held is a bound where its run is, or is INVALID by a delay of the generator's: text and load line say so,
/// although a level above broke.
#[test]
fn a_capacity_of_a_late_generator_is_at_least_that() {
    at_least_of_a_late_run(Verdict::LowerBound, "is LOWER_BOUND (late_sends): the server");
    let validity =
        at_least_of_a_late_run(Verdict::Invalid, "is INVALID (late_sends): its latencies");
    assert!(
        validity.contains("INVALID (late_sends), but held, as the objectives are met all the same"),
        "{validity}"
    );
}

fn at_least_of_a_late_run(consequence: Verdict, needle: &str) -> String {
    let mut serve = exact(12_400.0);
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        let served = serve(step);
        let code = ReasonCode::LateSends;
        let reasons = vec![Reason { code, consequence, text: "late".into() }];
        if served.outcome == Outcome::Held { Judged { reasons, ..served } } else { served }
    });
    let answer = search.answer().expect("a capacity");
    assert!(answer.high.is_some() && answer.at_least(), "{answer:?}");
    let text = words::sentence(&search, ending);
    assert!(text.starts_with("at least 1"), "{text}");
    let validity = words::read(&search, Some(ending)).validity.expect("why");
    assert!(validity.contains(needle), "{validity}");
    let held = &search.fed[answer.step].judged;
    let by = words::by(held);
    let invalid = consequence == Verdict::Invalid;
    assert_eq!(by.ends_with(", although INVALID (late_sends)"), invalid, "{by}");
    validity
}

/// A probe is one of the steps that are counted below the table, and decides nothing.
#[test]
fn a_count_of_invalid_steps_names_the_steps_that_it_counts() {
    let mut serve = exact(12_400.0);
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        let served = serve(step);
        if !matches!(step.purpose, Purpose::Search | Purpose::Hold) {
            return served;
        }
        let (code, consequence) = (ReasonCode::LateSends, Verdict::Invalid);
        let reasons = vec![Reason { code, consequence, text: "late".into() }];
        Judged { outcome: Outcome::Unclear, reasons, ..served }
    });
    let levels = search.levels().count();
    assert!(levels > 1 && search.of(Purpose::Probe).count() > 0, "{:?}", search.fed);
    let validity = words::read(&search, Some(ending)).validity.expect("why");
    let counted = format!("{levels} of {levels} search and hold steps were INVALID (late_sends)");
    assert!(validity.starts_with(&counted), "{validity}");
}

#[test]
fn what_limits_is_reported_for_a_level_above_the_capacity() {
    // Once by chance, at a level that holds.
    let (mut serve, mut broken) = (exact(12_400.0), None);
    let (search, _) = search(settings(LevelKind::Rate), |step| {
        let served = serve(step);
        if served.outcome == Outcome::Held && step.purpose == Purpose::Search && broken.is_none() {
            broken = Some(step.level);
            return judged(Outcome::Broke, step.level, 5e8);
        }
        served
    });
    let level = search.answer().expect("a capacity").level;
    assert!(broken.is_some_and(|broken| broken <= level), "{broken:?} {level}");
    let limiting = &search.fed[search.limiting_step().expect("a level")];
    assert!(limiting.step.level > level, "{limiting:?} {level}");
    let step = words::step_of(LevelKind::Rate, &limiting.step, limiting.judged.outcome);
    assert!(step.ends_with("/s (search, broke)") || step.ends_with("/s (hold, broke)"), "{step}");
}

#[test]
fn what_was_tried_above_a_confirmed_level_is_told_as_what_it_was() {
    let (mut found, _) = search(brief(), unlimited);
    let answer = found.answer().expect("a capacity");
    let mut step = from(&found, 2.0 * answer.level);
    found.feed(step, judged(Outcome::Unclear, step.level, 5e7), 0);
    let why = words::why_not_more(&found, &found.answer().expect("a capacity"));
    assert!(why.contains("was tried, and tells nothing"), "{why}");
    step.level = 1.01 * answer.level;
    found.feed(step, judged(Outcome::Held, step.level, 5e7), 0);
    let why = words::why_not_more(&found, &found.answer().expect("a capacity"));
    assert!(why.contains("held in a short step, and was not held for longer"), "{why}");
}

/// A generator that was held up leaves open whether a level holds; nothing is left open where one as high held.
#[test]
fn a_pause_that_left_nothing_open_does_not_spoil_a_search() {
    let (found, _) = search(brief(), unlimited);
    let believable = |paused: &dyn Fn(&Step) -> bool| {
        let step = |fed: &super::super::Fed| {
            let (code, consequence) = (ReasonCode::GeneratorPaused, Verdict::LowerBound);
            let reasons = vec![Reason { code, consequence, text: String::new() }];
            let judged = match paused(&fed.step) {
                true => Judged { outcome: Outcome::Unclear, reasons, ..fed.judged.clone() },
                false => fed.judged.clone(),
            };
            SearchStep { step: fed.step, judged, took_ns: fed.took_ns, file: String::new() }
        };
        crate::search_believable(&CapacitySearch {
            schema: String::new(),
            plimsoll: model::Program { version: String::new() },
            url: String::new(),
            started_at: String::new(),
            command: Vec::new(),
            settings: found.settings,
            objectives: Vec::new(),
            users_of_load: None,
            wanted_per_s: None,
            steps: found.fed.iter().map(step).collect(),
            outcome: None,
            ended: None,
            load_line: None,
            limited_by: Vec::new(),
        })
    };
    let highest = found.highest_held().expect("a level");
    let lowest = found.levels().map(|fed| fed.step.level).fold(f64::INFINITY, f64::min);
    assert!(lowest < highest, "{:?}", found.fed);
    assert!(believable(&|_| false));
    assert!(believable(&|step| step.purpose == Purpose::Idle));
    assert!(believable(&|step| step.level == lowest));
    assert!(!believable(&|step| step.level == highest));
}

/// A further step at a level.
fn from(search: &Search, level: f64) -> Step {
    let last = search.of(Purpose::Search).next_back().expect("a step");
    Step { level, ..last.step }
}
