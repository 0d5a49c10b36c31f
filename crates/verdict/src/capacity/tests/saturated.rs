//! The closed loops at a search's end.

use super::*;

/// A closed loop of so many that random arrivals are let wait, and of fewer where these are too many.
#[test]
fn a_bounded_number_in_flight_keeps_the_server_busy_at_the_end() {
    let carries_with = |most: f64| {
        let mut server = exact(40_000.0);
        let connections = Settings { connections: 5000, ..settings(LevelKind::Rate) };
        let (search, ending) = search(connections, |step| match step.purpose {
            // Who was in flight at the window's end succeeded as well.
            Purpose::Saturated if step.level <= most => {
                Judged { succeeded_per_s: 45_000.0, ..judged(Outcome::Held, 41_000.0, 1.5e6) }
            }
            Purpose::Saturated => judged(Outcome::Broke, 41_000.0, 2e8),
            _ => server(step),
        });
        assert_eq!(ending, Ending::Found);
        let levels = search.of(Purpose::Saturated).map(|fed| fed.step.level).collect::<Vec<_>>();
        (levels, search.answer().unwrap().saturated)
    };
    // Nearly 40,000/s with a p99 of 100 ms.
    let (levels, found) = carries_with(5000.0);
    assert!(levels.len() == 1 && (3_700.0..4_000.0).contains(&levels[0]), "{levels:?}");
    let found = found.unwrap();
    assert_eq!((f64::from(found.concurrency), found.requests_per_s), (levels[0], 41_000.0));
    // 1 ms at rest: some 40 at a time.
    let (levels, found) = carries_with(1200.0);
    assert_eq!(levels.len(), 3, "{levels:?}");
    assert!((900..1200).contains(&found.unwrap().concurrency), "{levels:?}");
    let (levels, found) = carries_with(10.0);
    assert_eq!((levels.len(), found), (5, None));
}

/// A server that ends while it is kept busy, within the budget and at its very end: the capacity stays confirmed, and the
/// search says that the server is gone.
#[test]
fn a_server_that_ends_while_it_is_kept_busy_keeps_its_capacity() {
    for late in [false, true] {
        let mut server = exact(12_400.0);
        let mut search = Search::new(settings(LevelKind::Rate));
        let mut gone = false;
        let ending = loop {
            let step = match search.next() {
                Next::Run(step) => step,
                Next::Done(ending) => break ending,
            };
            let ends = step.purpose == Purpose::Saturated;
            gone |= ends;
            let fed = if gone { judged(Outcome::Broke, 0.0, 0.0) } else { server(&step) };
            // All connections wait for a time-out.
            let more = if late && ends { 300 * SECOND } else { 0 };
            search.feed(step, fed, took(&step) + more);
        };
        assert!(gone, "it was kept busy");
        assert_eq!(ending, Ending::Died, "late: {late}");
        let answer = search.answer().unwrap();
        assert_eq!(answer.confirmed_for_ns, Some(60 * SECOND));
        assert_eq!(answer.saturated, None);
        let text = words::sentence(&search, ending);
        assert!(
            text.contains("confirmed over 60.0s. The search ended early: the target"),
            "{text}"
        );
        assert!(search.of(Purpose::Idle).count() > 1 || late);
    }
}

/// A line that the user drew is not crossed, and a server that collapses is not pushed.
#[test]
fn nothing_is_kept_busy_that_should_not_be() {
    let drawn = Settings { most: Some(14_000.0), ..settings(LevelKind::Rate) };
    let (search, _) = search(drawn, exact(12_400.0));
    assert_eq!(search.of(Purpose::Saturated).count(), 0);
}
