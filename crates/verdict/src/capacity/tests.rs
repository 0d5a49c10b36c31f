//! The way of a search by scripted servers; [`simulated`] has servers with noise, by the hundred.

mod further;
mod queues;
mod saturated;
mod simulated;

use model::capacity::{Judged, Margin, Outcome, Purpose, SearchStep, Settings, Step, Unit};
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Arriving, LevelKind};

use super::{Ending, Next, Search, onward, words};

/// The settings of `--budget 5m`.
fn settings(kind: LevelKind) -> Settings {
    Settings {
        kind,
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
    }
}

/// A run with one objective, a mean of at most 100 ms.
fn judged(outcome: Outcome, per_s: f64, mean_ns: f64) -> Judged {
    Judged {
        outcome,
        margins: vec![Margin {
            objective: "mean<=100ms".to_owned(),
            value: mean_ns,
            limit: 1e8,
            unit: Unit::Nanoseconds,
            outcome,
            why: None,
            untried: false,
        }],
        requests_per_s: per_s,
        succeeded_per_s: per_s,
        mean_ns,
        p99_ns: (2.0 * mean_ns) as u64,
        note: None,
        reasons: Vec::new(),
        disturbed: false,
        too_few: false,
    }
}

/// Time a step takes when nothing is slow.
fn took(step: &Step) -> u64 {
    step.rest_ns + step.warmup_ns + step.window_ns
}

/// Runs a search against what a server does at each step.
fn search(settings: Settings, mut serve: impl FnMut(&Step) -> Judged) -> (Search, Ending) {
    let mut search = Search::new(settings);
    for _ in 0..100 {
        match search.next() {
            Next::Run(step) => {
                let judged = serve(&step);
                search.feed(step, judged, took(&step));
            }
            Next::Done(ending) => return (search, ending),
        }
    }
    panic!("the search does not end: {:?}", search.fed);
}

/// A server that holds up to a rate, exactly.
fn exact(capacity: f64) -> impl FnMut(&Step) -> Judged {
    move |step| match step.purpose {
        Purpose::Idle => judged(Outcome::Held, 20.0, 1e6),
        Purpose::Probe => judged(Outcome::Broke, 1.1 * capacity, 2e7),
        _ if step.level <= capacity => judged(Outcome::Held, step.level, 5e7),
        _ => judged(Outcome::Broke, capacity, 5e8),
    }
}

fn purposes(search: &Search) -> Vec<Purpose> {
    search.fed.iter().map(|fed| fed.step.purpose).collect()
}

#[test]
fn an_exact_server_is_found_confirmed_and_explained() {
    let (search, ending) = search(settings(LevelKind::Rate), exact(12_400.0));
    assert_eq!(ending, Ending::Found);
    let answer = search.answer().unwrap();
    let high = answer.high.unwrap();
    assert!(answer.low <= 12_400.0 && high >= 12_400.0, "{answer:?}");
    assert!((high - answer.low) / 12_400.0 < 0.09, "{answer:?}");
    assert!(answer.level <= 12_400.0 && answer.level > 11_500.0, "{answer:?}");
    assert_eq!(answer.confirmed_for_ns, Some(60 * SECOND));
    let limit = answer.limited_by.clone().unwrap();
    assert_eq!(limit.objective, "mean<=100ms");
    assert_eq!((limit.below.value, limit.above.value), (5e7, 5e8));
    assert!(!answer.overload.unwrap().collapses);
    assert!(search.spent_ns() <= 300 * SECOND);
    let purposes = purposes(&search);
    assert_eq!(purposes[..2], [Purpose::Idle, Purpose::Probe]);
    assert_eq!(purposes.iter().filter(|p| **p == Purpose::Hold).count(), 1);
    let text = words::sentence(&search, ending);
    assert!(text.contains("limited by mean<=100ms; confirmed over 60.0s"), "{text}");
    assert!(words::why_not_more(&search, &answer).contains("50.0ms at"));
    assert!(words::after_overload(&search, &answer).unwrap().ends_with("no collapse"));
}

#[test]
fn the_same_steps_fed_again_lead_to_the_same_step() {
    let (whole, _) = search(settings(LevelKind::Rate), exact(777.0));
    let mut again = Search::new(settings(LevelKind::Rate));
    for fed in &whole.fed {
        assert_eq!(again.next(), Next::Run(fed.step));
        again.feed(fed.step, fed.judged.clone(), fed.took_ns);
    }
    assert_eq!(again, whole);
    assert_eq!(again.next(), Next::Done(Ending::Found));
}

#[test]
fn objectives_that_are_never_met_say_so_with_the_best_seen() {
    let (search, ending) = search(settings(LevelKind::Rate), |step| match step.purpose {
        Purpose::Idle => judged(Outcome::Broke, 2.0, 4e8),
        _ => judged(Outcome::Broke, step.level.min(50.0), 4e8 + step.level * 1e6),
    });
    assert_eq!(ending, Ending::NeverMet);
    assert_eq!(search.answer(), None);
    let text = words::sentence(&search, ending);
    assert!(text.contains("never met (mean<=100ms)") && text.contains("best level"), "{text}");
    assert!(search.steps() <= 10, "{}", search.steps());
}

#[test]
fn a_target_without_responses_is_left_alone() {
    let (search, ending) = search(settings(LevelKind::Rate), |_| Judged {
        note: Some("connection refused".to_owned()),
        ..judged(Outcome::Broke, 0.0, 0.0)
    });
    assert_eq!((ending, search.steps()), (Ending::NeverMet, 0));
    let text = words::sentence(&search, ending);
    assert!(text.contains("not even one") && text.contains("connection refused"), "{text}");
}

#[test]
fn the_generators_limit_gives_at_least() {
    let (search, ending) = search(settings(LevelKind::Rate), |step| match step.purpose {
        Purpose::Idle => judged(Outcome::Held, 20.0, 1e6),
        Purpose::Probe => judged(Outcome::Held, 40_000.0, 1e6),
        _ if step.level <= 30_000.0 => judged(Outcome::Held, step.level, 1e6),
        _ => Judged {
            note: Some("workers were busy".to_owned()),
            ..judged(Outcome::Generator, 30_000.0, 1e8)
        },
    });
    assert_eq!(ending, Ending::Found);
    let answer = search.answer().unwrap();
    assert!(answer.at_least() && answer.level > 27_000.0 && answer.level <= 30_000.0, "{answer:?}");
    let text = words::sentence(&search, ending);
    assert!(text.starts_with("at least"), "{text}");
    assert!(words::why_not_more(&search, &answer).contains("workers were busy"));
}

#[test]
fn a_line_drawn_by_the_user_gives_at_least() {
    let drawn = Settings { most: Some(500.0), ..settings(LevelKind::Rate) };
    let (search, ending) = search(drawn, exact(12_400.0));
    assert_eq!(ending, Ending::Found);
    let answer = search.answer().unwrap();
    assert!(answer.at_least() && answer.level > 450.0 && answer.level <= 500.0, "{answer:?}");
    assert!(search.fed.iter().all(|fed| fed.step.level <= 500.0));
    assert!(words::why_not_more(&search, &answer).contains("500/s was allowed"));
    let advice = onward(&search, Some(ending), Some("go on"));
    assert!(advice.contains("a higher level (--max)") && advice.contains("500/s"), "{advice}");
}

#[test]
fn a_search_that_ended_early_says_how_it_goes_on() {
    let short = Settings { budget_ns: 20 * SECOND, most: Some(1e6), ..settings(LevelKind::Rate) };
    let (search, ending) = search(short, exact(12_400.0));
    assert_ne!(ending, Ending::Found);
    let advice = onward(&search, Some(Ending::OutOfBudget), Some("go on"));
    assert_eq!(advice, "Give the search more time: `go on --budget 1m` goes on with it.");
    assert_eq!(onward(&search, Some(ending), None), "Give the search more time: --budget 1m.");
    assert_eq!(onward(&search, None, Some("go on")), "Let the search go on: `go on`.");
    if let Some(answer) = search.answer() {
        assert!(
            !words::why_not_more(&search, &answer).contains("was allowed"),
            "it came not so far"
        );
    }
}

#[test]
fn a_peak_far_below_the_capacity_does_not_hide_it() {
    let mut server = exact(9_000.0);
    let (search, _) = search(settings(LevelKind::Rate), |step| match step.purpose {
        Purpose::Probe => judged(Outcome::Held, 2_000.0, 1e6),
        _ => server(step),
    });
    let answer = search.answer().unwrap();
    assert!(answer.low <= 9_000.0 && answer.high.unwrap() >= 9_000.0, "{answer:?}");
}

#[test]
fn a_target_that_dies_keeps_what_was_learnt() {
    let mut server = exact(12_400.0);
    let mut steps = 0;
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        steps += 1;
        if steps > 8 { judged(Outcome::Broke, 0.0, 0.0) } else { server(step) }
    });
    assert_eq!(ending, Ending::Died);
    let answer = search.answer().unwrap();
    assert!(answer.confirmed_for_ns.is_none() && answer.level <= 12_400.0, "{answer:?}");
    let text = words::sentence(&search, ending);
    assert!(text.contains("not confirmed") && text.contains("did not come back"), "{text}");
    // Once it is back, the search is what it was before the looks at a dead one.
    let held = |fed: &super::Fed| SearchStep {
        step: fed.step,
        judged: fed.judged.clone(),
        took_ns: fed.took_ns,
        file: String::new(),
    };
    let mut steps: Vec<SearchStep> = search.fed.iter().map(held).collect();
    Search::look_again(&mut steps);
    let last = steps.last().unwrap();
    assert!(steps.len() < search.fed.len() && last.step.purpose != Purpose::Idle, "{last:?}");
    let mut again = Search::new(search.settings);
    steps.into_iter().for_each(|held| again.feed(held.step, held.judged, held.took_ns));
    let Next::Run(look) = again.next() else { panic!("{:?}", again.next()) };
    assert_eq!(look.purpose, Purpose::Idle);
}

#[test]
fn a_collapse_is_reported_and_does_not_lower_the_capacity() {
    let mut down = false;
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        let level =
            if matches!(step.purpose, Purpose::Idle | Purpose::Probe) { 1.0 } else { step.level };
        // A second of rest, or less than 4,000/s, heals it.
        down &= step.rest_ns < SECOND && level > 4_000.0;
        down |= level > 10_400.0 || step.purpose == Purpose::Probe;
        match (step.purpose, down) {
            (Purpose::Idle, _) => judged(Outcome::Held, 20.0, 1e6),
            (Purpose::Probe, _) => judged(Outcome::Broke, 9_000.0, 2e7),
            (_, false) if level <= 10_000.0 => judged(Outcome::Held, level, 5e7),
            _ => judged(Outcome::Broke, 3_000.0, 5e8),
        }
    });
    assert_eq!(ending, Ending::Found);
    let answer = search.answer().unwrap();
    assert!(answer.low <= 10_000.0 && answer.high.unwrap() >= 10_000.0, "{answer:?}");
    let overload = answer.overload.unwrap();
    assert!(overload.collapses);
    assert!(overload.recovers_at.unwrap() < 4_000.0, "{overload:?}");
    let sentence = words::after_overload(&search, &answer).unwrap();
    assert!(sentence.contains("collapses") && sentence.contains("recovered at 2,"), "{sentence}");
}

#[test]
fn one_break_from_above_is_no_collapse() {
    let mut server = exact(12_400.0);
    let mut returns = 0;
    let (search, _) = search(settings(LevelKind::Rate), |step| {
        returns += usize::from(step.purpose == Purpose::Return);
        match (step.purpose, returns) {
            (Purpose::Return, 1) => judged(Outcome::Broke, 9_000.0, 5e8),
            _ => server(step),
        }
    });
    assert!(!search.answer().unwrap().overload.unwrap().collapses);
    assert_eq!(search.of(Purpose::Overload).count(), 2);
}

#[test]
fn a_return_that_stays_unclear_says_nothing_of_a_collapse() {
    let mut server = exact(12_400.0);
    let (search, _) = search(settings(LevelKind::Rate), |step| match step.purpose {
        Purpose::Return => judged(Outcome::Unclear, step.level, 9e7),
        _ => server(step),
    });
    assert_eq!(search.of(Purpose::Overload).count(), 2);
    let answer = search.answer().unwrap();
    assert_eq!((answer.overload, words::after_overload(&search, &answer)), (None, None));
}

#[test]
fn holds_that_all_break_leave_it_unconfirmed() {
    for outcome in [Outcome::Broke, Outcome::Unclear] {
        let mut server = exact(12_400.0);
        let patient = Settings { budget_ns: 3600 * SECOND, ..settings(LevelKind::Rate) };
        let (search, ending) = search(patient, |step| match step.purpose {
            Purpose::Hold => judged(outcome, 10_000.0, 5e8),
            _ => server(step),
        });
        assert_eq!(ending, Ending::Unconfirmed, "{outcome:?}");
        let holds: Vec<f64> = search.of(Purpose::Hold).map(|fed| fed.step.level).collect();
        assert!(holds.len() == 5 && holds.is_sorted_by(|a, b| a > b), "{holds:?}");
        assert!(holds[4] < 0.5 * holds[0], "{holds:?}");
        let answer = search.answer().unwrap();
        assert!(answer.confirmed_for_ns.is_none() && answer.level <= 12_400.0, "{answer:?}");
        let text = words::sentence(&search, ending);
        let wanted = "not confirmed by a hold. The search ended early: no level held during its";
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn a_server_still_down_is_waited_for() {
    let mut resting = 0;
    let mut server = exact(12_400.0);
    let (search, _) = search(settings(LevelKind::Rate), |step| match step.purpose {
        Purpose::Idle => {
            resting += step.rest_ns;
            let rested = resting == 0 || resting >= 4 * SECOND;
            judged(Outcome::Held, 20.0, if rested { 1e6 } else { 1e8 })
        }
        _ => {
            resting = 1;
            server(step)
        }
    });
    let looks = search.of(Purpose::Idle).map(|fed| fed.step.rest_ns / MILLISECOND);
    assert_eq!(looks.take(4).collect::<Vec<_>>(), [0, 1_000, 2_000, 4_000]);
}

#[test]
fn the_budget_bounds_the_search_and_shortens_the_hold() {
    for seconds in [10, 20, 60, 120, 3600] {
        let budget_ns = seconds * SECOND;
        let bounded = Settings {
            budget_ns,
            step_ns: (budget_ns / 30).max(SECOND),
            hold_ns: budget_ns / 5,
            warmup_ns: budget_ns / 300,
            rest_ns: budget_ns / 300,
            ..settings(LevelKind::Rate)
        };
        let (search, ending) = search(bounded, exact(12_400.0));
        assert!(search.spent_ns() <= budget_ns, "{seconds} s: {}", search.spent_ns());
        let confirmed = search.answer().and_then(|answer| answer.confirmed_for_ns);
        if seconds < 60 {
            assert!(search.answer().is_some(), "{seconds} s");
        } else {
            assert_eq!((ending, confirmed), (Ending::Found, Some(budget_ns / 5)), "{seconds} s");
        }
    }
    let cut = Settings { budget_ns: 120 * SECOND, ..settings(LevelKind::Rate) };
    let (search, _) = search(cut, exact(12_400.0));
    let confirmed = search.answer().unwrap().confirmed_for_ns.unwrap();
    assert!((10 * SECOND..=60 * SECOND).contains(&confirmed), "{confirmed}");
}

#[test]
fn a_step_at_a_low_rate_lasts_until_some_arrivals_are_due() {
    let slow = Settings {
        step_ns: SECOND,
        budget_ns: 3600 * SECOND,
        most: Some(0.5),
        ..settings(LevelKind::Rate)
    };
    let (found, ending) = search(slow, exact(0.4));
    assert_eq!(ending, Ending::Found);
    for fed in found.speaking() {
        let Step { level, window_ns, .. } = fed.step;
        assert!(window_ns as f64 >= 1.99 * SECOND as f64 / level, "{level}/s for {window_ns} ns");
    }
}

#[test]
fn concurrency_is_searched_in_whole_connections() {
    for capacity in [1.0, 7.0, 60.0, 700.0] {
        let (search, ending) = search(settings(LevelKind::Concurrency), exact(capacity));
        assert_eq!(ending, Ending::Found, "{capacity}");
        let answer = search.answer().unwrap();
        assert!(answer.low <= capacity && answer.high.unwrap() >= capacity, "{answer:?}");
        assert!(answer.level <= capacity && answer.level.fract() == 0.0, "{answer:?}");
        assert_eq!(search.of(Purpose::Probe).count(), 0);
    }
    let (search, ending) = search(settings(LevelKind::Concurrency), exact(0.0));
    assert_eq!(ending, Ending::NeverMet, "{:?}", search.fed);
}

#[test]
fn the_endpoint_that_limits_is_named() {
    let name = "GET /users/{id}: p95<40ms";
    let mut server = exact(777.0);
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        let mut judged = server(step);
        judged.margins[0].objective = name.to_owned();
        judged
    });
    let text = words::sentence(&search, ending);
    assert!(text.contains(&format!("limited by {name}; confirmed over 60.0s")), "{text}");
    let why = words::why_not_more(&search, &search.answer().unwrap());
    assert!(why.starts_with(&format!("{name} was 50.0ms at ")), "{why}");
}

#[test]
fn an_interval_that_reaches_above_a_level_that_broke_says_why() {
    // One of the steps breaks by chance, below what holds.
    let mut server = exact(12_400.0);
    let mut searches = 0;
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        searches += usize::from(step.purpose == Purpose::Search);
        match (step.purpose, searches) {
            (Purpose::Search, 2) => judged(Outcome::Broke, step.level, 5e8),
            _ => server(step),
        }
    });
    let answer = search.answer().unwrap();
    let text = words::sentence(&search, ending);
    let above =
        |fed: &&super::Fed| fed.judged.outcome == Outcome::Broke && fed.step.level > answer.level;
    let high = answer.high.unwrap();
    let inside = search.speaking().filter(above).any(|fed| fed.step.level < high);
    assert_eq!(inside, !answer.broke_inside.is_empty(), "{answer:?}");
    assert_eq!(inside, text.contains("The interval reaches above "), "{text}");
    assert!(inside, "{text}");
}

#[test]
fn a_level_that_broke_below_a_confirmed_one_is_named() {
    let (mut found, ending) = search(settings(LevelKind::Rate), exact(12_400.0));
    let broke = |text: &str| text.contains("broke, although more was carried");
    let text = words::sentence(&found, ending);
    assert!(!broke(&text), "{text}");
    let last = found.fed.last().expect("a step").step;
    let level = found.answer().expect("an answer").level;
    let same = Step { purpose: Purpose::Search, level, ..last };
    found.feed(same, judged(Outcome::Broke, level, 5e8), took(&same));
    let text = words::sentence(&found, ending);
    assert!(!broke(&text), "no more was carried: {text}");
    for (level, words) in
        [(5_000.0, ". 5,000/s broke,"), (4_000.0, ". 2 levels from 4,000/s to 5,000/s broke,")]
    {
        let last = found.fed.last().expect("a step").step;
        let low = Step { purpose: Purpose::Search, level, ..last };
        found.feed(low, judged(Outcome::Broke, level, 5e8), took(&low));
        let text = words::sentence(&found, ending);
        assert!(broke(&text) && text.contains(words), "{text}");
    }
}

#[test]
fn a_wide_interval_says_why_and_what_narrows_it() {
    // On a busy machine levels far apart hold and break by turns.
    let mut server = exact(12_400.0);
    let mut searches = 0;
    let precise = Settings { precision: 0.04, ..settings(LevelKind::Rate) };
    let (busy, ending) = search(precise, |step| {
        searches += usize::from(step.purpose == Purpose::Search);
        match (step.purpose, searches % 2) {
            (Purpose::Search, 0) if step.level < 20_000.0 => {
                judged(Outcome::Broke, step.level, 5e8)
            }
            (Purpose::Search, 1) if step.level < 20_000.0 => judged(Outcome::Held, step.level, 5e7),
            _ => server(step),
        }
    });
    let answer = busy.answer().unwrap();
    let text = words::sentence(&busy, ending);
    let wide = (answer.high.unwrap() - answer.low) / answer.level > 3.0 * 0.04;
    assert!(wide, "{text}");
    assert!(text.contains("The interval is wide (") && text.contains("by turns: "), "{text}");
    assert!(text.contains("measure with --step 30s --budget 15m"), "{text}");
    let (calm, ending) = search(settings(LevelKind::Rate), exact(12_400.0));
    let text = words::sentence(&calm, ending);
    assert!(!text.contains("The interval is wide"), "{text}");
}

#[test]
fn random_arrivals_are_named_and_tried_for_longer() {
    let random = Settings { arrivals: Some(Arrivals::Poisson), ..settings(LevelKind::Rate) };
    let (found, ending) = search(random, exact(12_400.0));
    let text = words::sentence(&found, ending);
    assert!(text.contains(" for random arrivals (poisson), limited by "), "{text}");
    let (even, ending) = search(settings(LevelKind::Rate), exact(12_400.0));
    let text = words::sentence(&even, ending);
    assert!(text.contains(" for evenly spaced arrivals (uniform), limited by "), "{text}");
    let width = |search: &Search| {
        let answer = search.answer().unwrap();
        answer.high.unwrap() / answer.low
    };
    assert!(width(&found) > width(&even));
}

#[test]
fn sessions_are_no_requests() {
    for (arriving, unit) in [(Arriving::Sessions, "sessions/s"), (Arriving::Both, "arrivals/s")] {
        let settings = Settings { arriving, ..settings(LevelKind::Rate) };
        let (search, ending) = search(settings, exact(12_400.0));
        let text = words::sentence(&search, ending);
        assert!(text.contains(unit) && !text.contains("requests/s"), "{text}");
    }
}

/// A server that holds up to a rate, with other programs beside it during some steps: of a number, from 0.
fn beside(capacity: f64, busy: impl Fn(usize) -> bool) -> impl FnMut(&Step) -> Judged {
    let (mut serve, mut nth) = (exact(capacity), 0);
    move |step| {
        let judged = serve(step);
        let level = matches!(step.purpose, Purpose::Search | Purpose::Hold);
        nth += usize::from(level);
        match level && busy(nth - 1) {
            true => Judged { disturbed: true, ..self::judged(Outcome::Broke, step.level, 5e8) },
            false => judged,
        }
    }
}

#[test]
fn a_level_that_broke_beside_other_programs_is_tried_again() {
    let (quiet, _) = search(settings(LevelKind::Rate), exact(12_400.0));
    let (once, ending) = search(settings(LevelKind::Rate), beside(12_400.0, |nth| nth == 1));
    assert_eq!(ending, Ending::Found);
    let levels: Vec<f64> = once.levels().map(|fed| fed.step.level).collect();
    assert_eq!(levels[1], levels[2], "{levels:?}");
    let (quiet, once) = (quiet.answer().unwrap(), once.answer().unwrap());
    assert!((once.level / quiet.level - 1.0).abs() < 0.06, "{} {}", once.level, quiet.level);
    assert!(once.low <= 12_400.0 && once.high.unwrap() >= 12_400.0, "{once:?}");
}

#[test]
fn a_level_that_counts_for_nothing_is_not_called_untried() {
    let found = |budget_ns: u64, busy: &dyn Fn(f64) -> bool| {
        let (mut serve, mut settings) = (exact(1e9), settings(LevelKind::Rate));
        settings.budget_ns = budget_ns;
        search(settings, |step| match busy(step.level) {
            true => Judged { disturbed: true, ..judged(Outcome::Broke, step.level, 5e8) },
            false => serve(step),
        })
        .0
    };
    let why = |search: &Search| words::why_not_more(search, &search.answer().unwrap());
    let budget_ns = settings(LevelKind::Rate).budget_ns;
    let quiet = found(budget_ns, &|_| false);
    let first = quiet.levels().next().unwrap().step.level;
    // It ends before a level above the first is tried again.
    let short = (1..60).map(|n| found(n * budget_ns / 60, &|level| level > first));
    let doubtful = short.filter(|search| search.answer().is_some()).find(|search| {
        search.levels().any(|fed| fed.judged.disturbed) && search.answer().unwrap().at_least()
    });
    let why = why(&doubtful.expect("a search that ended in doubt"));
    assert!(why.contains("broke while other programs"), "{why}");
}

#[test]
fn a_hold_that_broke_beside_other_programs_is_repeated_at_its_level() {
    let (quiet, _) = search(settings(LevelKind::Rate), exact(12_400.0));
    let hold = quiet.levels().position(|fed| fed.step.purpose == Purpose::Hold).unwrap();
    let (search, ending) = search(settings(LevelKind::Rate), beside(12_400.0, |nth| nth == hold));
    let holds: Vec<f64> = search.of(Purpose::Hold).map(|fed| fed.step.level).collect();
    assert_eq!((ending, holds.len(), holds[0]), (Ending::Found, 2, holds[1]), "{holds:?}");
}

#[test]
fn a_level_that_breaks_beside_other_programs_again_and_again_broke() {
    let always = beside(12_400.0, |_| true);
    let (search, ending) = search(settings(LevelKind::Rate), always);
    assert_ne!(ending, Ending::Found);
    assert_eq!(search.answer(), None);
    assert!(search.speaking().count() > 0, "{:?}", search.fed);
}

#[test]
fn a_hold_with_too_few_attempts_is_repeated_for_twice_its_time() {
    let (mut serve, mut first) = (exact(12_400.0), true);
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        let served = serve(step);
        if step.purpose == Purpose::Hold && std::mem::take(&mut first) {
            return Judged { outcome: Outcome::Unclear, too_few: true, ..served };
        }
        served
    });
    assert_eq!(ending, Ending::Found);
    let holds: Vec<Step> = search.of(Purpose::Hold).map(|fed| fed.step).collect();
    assert_eq!((holds.len(), holds[0].level), (2, holds[1].level));
    assert_eq!(2 * holds[0].window_ns, holds[1].window_ns);
}

#[test]
fn a_hold_is_long_enough_for_the_percentiles_asked_for() {
    let asked = Settings { hold_attempts: 550, ..settings(LevelKind::Rate) };
    for (capacity, seconds) in [(6.0, 80..110), (12_400.0, 60..61)] {
        let (search, _) = search(asked, exact(capacity));
        let hold = search.of(Purpose::Hold).next().expect("something was held").step;
        assert!(seconds.contains(&(hold.window_ns / SECOND)), "{hold:?}");
    }
}

/// An endpoint with an objective of its own that is so rare that no step asks it.
#[test]
fn an_objective_that_no_step_tried_is_named_and_confirmed_by_no_hold() {
    let mut serve = exact(12_400.0);
    let (search, ending) = search(settings(LevelKind::Rate), |step| {
        let mut judged = serve(step);
        judged.margins.push(Margin {
            objective: "GET /rare: p95<80ms".to_owned(),
            value: 0.0,
            limit: 8e7,
            unit: Unit::Nanoseconds,
            outcome: Outcome::Unclear,
            why: Some("none of its requests was due".to_owned()),
            untried: true,
        });
        if step.purpose == Purpose::Hold && judged.outcome == Outcome::Held {
            (judged.outcome, judged.too_few) = (Outcome::Unclear, true);
        }
        judged
    });
    let answer = search.answer().expect("levels held");
    assert_eq!(answer.confirmed_for_ns, None);
    let limit = answer.limited_by.expect("levels broke");
    assert_eq!(limit.objective, "mean<=100ms");
    let sentence = words::sentence(&search, ending);
    let said = "Not known there: GET /rare: p95<80ms: untried (none of its requests was due). Let the hold last longer";
    assert!(sentence.contains(said), "{sentence}");
}

#[test]
fn what_fails_at_rest_is_no_matter_of_load() {
    let failing = |outcome| {
        let margin = Margin {
            objective: "success>=99%".to_owned(),
            value: 0.93,
            limit: 0.99,
            unit: Unit::Ratio,
            outcome,
            why: None,
            untried: false,
        };
        Judged { margins: vec![margin], ..judged(outcome, 20.0, 1e6) }
    };
    let (found, ending) = search(settings(LevelKind::Rate), |_| failing(Outcome::Broke));
    assert_eq!((ending, found.fed.len()), (Ending::NeverMet, 2));
    let sentence = words::sentence(&found, ending);
    assert!(sentence.contains("success>=99% is 93.00 % even when single requests"), "{sentence}");
    // What fails only until the server is warm is waited for.
    let (mut serve, mut nth) = (exact(12_400.0), 0);
    let (_, ending) = search(settings(LevelKind::Rate), |step| {
        nth += 1;
        if nth == 1 { failing(Outcome::Broke) } else { serve(step) }
    });
    assert_eq!(ending, Ending::Found);
}
