//! A level within or after which the server became a different one: levels before and after it measure two servers.
//!
//! [`crate::validity`] finds when that happened; here is what follows for the level among others, and which level is
//! measured again to make sure.

use model::sweep::Level;
use model::units::{Nanos, SECOND, show_duration};
use model::{CurveRow, Reason, ReasonCode, Run, Sweep, Validity, Verdict};

use crate::curve::sound;
use crate::figures::{level_of, share};
use crate::refused::is_limited;
use crate::validity::{FAILING, SHORTEST_NS, between, is_constant, turned};

/// What to do about it.
const ADVICE: &str = "Find out what changed in the server then, and measure all levels again.";
const ADVICE_SINCE: &str = "Find out what changed in the server since (a new version, a cache that filled, what the \
                            highest levels left behind), and measure all levels again.";
/// The part of its window that a level is measured again for, and the least.
const AGAIN: Nanos = 5;
const AGAIN_NS: Nanos = SECOND;
/// Attempts that must have failed in it, for the server to be another one by that; and how many deviations more than before
/// these must be: in so short a window a few more are chance.
const FEWEST_FAILED: f64 = 3.0;
const DEVIATIONS: f64 = 4.0;

/// Makes the run of a level `INVALID` within which the server became far slower or faster for good; whether it did. At the
/// `first` level one that became faster warmed up.
pub fn mark_turned(run: &mut Run, first: bool) -> bool {
    let Some(turn) = turned(run).filter(|turn| !first || turn.since_ns > turn.before_ns) else {
        return false;
    };
    spoil(run, format!("the server changed within this level: {}. {ADVICE}", turn.words()));
    true
}

fn spoil(run: &mut Run, text: String) {
    let code = ReasonCode::NotSteady;
    let mut reasons = run.validity.reasons.clone();
    reasons.retain(|reason| reason.code != code);
    reasons.push(Reason { code, consequence: Verdict::Invalid, text });
    run.validity = Validity::of(reasons);
}

/// The level of a finished sweep to measure again, the first usable one, and for how long: for a moment, and as long as it
/// was measured first where that moment tells too little or that the server is another one. None where there is nothing to
/// compare, or the levels are of two servers already.
pub fn to_measure_again(sweep: &Sweep) -> Option<(f64, [Nanos; 2])> {
    let row = |held: &Level| CurveRow::of(held.level, &held.run);
    if sweep.levels.len() < 2 || sweep.levels.iter().any(|held| is_marked(&row(held))) {
        return None;
    }
    let usable = sweep
        .levels
        .iter()
        .filter(|held| sound(&row(held)) && is_undisturbed(&held.run) && is_constant(&held.run));
    let first = usable.min_by(|a, b| a.run.started_at.cmp(&b.run.started_at))?;
    let window_ns = first.run.plan.duration_ns.filter(|&window_ns| window_ns >= SHORTEST_NS)?;
    Some((first.level, [(window_ns / AGAIN).max(AGAIN_NS), window_ns]))
}

/// Whether the level that was measured again shows the same server; none where it was not, or tells too little.
pub fn same_server(sweep: &Sweep) -> Option<bool> {
    if fails_since(sweep).is_some() {
        return Some(false);
    }
    compared(sweep).map(|(_, changed)| !changed)
}

/// What came of measuring a level again, in a sentence; none where that was not done, or tells too little.
pub fn measured_again(sweep: &Sweep) -> Option<String> {
    let (what, [before, since], _) = found_again(sweep)?;
    Some(format!(
        "At {} {what} was {before}, and {since} when it was measured again at the end.",
        level_of(sweep.kind, sweep.again.as_ref()?.level),
    ))
}

/// Makes the level that was measured again `INVALID` where the server is not the same any more; whether it did.
pub fn mark_changed(sweep: &mut Sweep) -> bool {
    let Some((what, [before, since], true)) = found_again(sweep) else { return false };
    let level = sweep.again.as_ref().map(|again| again.level);
    let text = format!(
        "the server changed after this level: its {} was {before}, and {since} when it was measured again at \
         the end. {ADVICE_SINCE}",
        what.trim_start_matches("the ")
    );
    let held = sweep.levels.iter_mut().find(|held| Some(held.level) == level);
    held.map(|held| spoil(&mut held.run, text)).is_some()
}

/// What was compared of the level that was measured again, as it was and is, and whether that is of two servers.
fn found_again(sweep: &Sweep) -> Option<(&'static str, [String; 2], bool)> {
    if let Some(success) = fails_since(sweep) {
        return Some(("success", success.map(share), true));
    }
    let (p50_ns, changed) = compared(sweep)?;
    Some(("the median response time", p50_ns.map(show_duration), changed))
}

/// The success of the level that was measured again, before and since, where far less succeeds than did: a generator that was
/// held up makes nothing fail. Not where a limit on the rate was reached, which the levels between may have used up.
fn fails_since(sweep: &Sweep) -> Option<[f64; 2]> {
    let again = sweep.again.as_ref()?;
    let held = sweep.levels.iter().find(|held| held.level == again.level)?;
    let (before, since) = (held.run.rates.success_ratio?, again.run.rates.success_ratio?);
    let attempts = |run: &Run| run.totals.attempts as f64;
    let failed = |run: &Run| run.totals.attempts.saturating_sub(run.totals.succeeded) as f64;
    // As many would have failed of the server as it was.
    let expected = failed(&held.run) / attempts(&held.run).max(1.0) * attempts(&again.run);
    let more = failed(&again.run) - expected > DEVIATIONS * expected.sqrt();
    let many = failed(&again.run) >= FEWEST_FAILED && more;
    let by_limits = !again.run.totals.limits.is_empty() || is_limited(&again.run);
    (many && !by_limits && before - since >= FAILING).then_some([before, since])
}

/// See [`between`], of the level that was measured again; none where the generator or its machine shaped either run.
fn compared(sweep: &Sweep) -> Option<([Nanos; 2], bool)> {
    let again = sweep.again.as_ref()?;
    let held = sweep.levels.iter().find(|held| held.level == again.level)?;
    let undisturbed = is_undisturbed(&held.run) && is_undisturbed(&again.run);
    if undisturbed { between(&held.run, &again.run) } else { None }
}

/// Whether no rule, not even by a note, says that something but the server shaped a run's latencies.
fn is_undisturbed(run: &Run) -> bool {
    use ReasonCode::{
        BusyNeighbour, ClockJumped, GeneratorPaused, LateSends, MemoryShort, ObservedLate,
        Throttled, WorkersSaturated,
    };

    !run.validity.reasons.iter().any(|reason| {
        matches!(
            reason.code,
            BusyNeighbour
                | ClockJumped
                | GeneratorPaused
                | LateSends
                | MemoryShort
                | ObservedLate
                | Throttled
                | WorkersSaturated
        )
    })
}

/// Whether a row is of a level that [`mark_turned`] or [`mark_changed`] has marked: no run is `INVALID` for this reason by
/// itself.
pub(crate) fn is_marked(row: &CurveRow) -> bool {
    row.verdict == Some(Verdict::Invalid) && row.reason == Some(ReasonCode::NotSteady)
}

#[cfg(test)]
mod tests {
    use fixture::sound::{closed, open};
    use model::percentile::PointPercentiles;
    use model::slices::Slice;

    use super::*;

    /// A level of 2 s in slices of 100 ms, of 4 connections, with this QPS and median (ms).
    fn level(mut run: Run, trend: impl Fn(u64) -> (f64, f64)) -> Run {
        let slice = |at: u64| {
            let (requests_per_s, p50_ms) = trend(at);
            Slice {
                start_ns: at * SECOND / 10,
                duration_ns: SECOND / 10,
                phase: "window".into(),
                requests_per_s,
                percentiles: PointPercentiles::of(|_| (p50_ms * 1e6) as u64),
                ..Default::default()
            }
        };
        run.slices = (0..20).map(slice).collect();
        run.timeline.clear();
        (run.totals.duration_ns, run.plan.connections) = (2 * SECOND, 4);
        run
    }

    /// A sweep of two levels, the first of which had these medians (ms) and has those when measured again.
    fn swept(before: impl Fn(u64) -> f64, since: impl Fn(u64) -> f64) -> Sweep {
        let first = level(closed(), |at| (180.0, before(at)));
        let again = level(closed(), |at| (180.0, since(at)));
        let mut sweep = fixture::drawn::sweep("api", 50_000.0, &[4, 8]);
        (sweep.levels[0].run, sweep.levels[1].run) = (first.clone(), first);
        sweep.levels[0].run.plan.duration_ns = Some(2 * SECOND);
        sweep.again = Some(Level { level: 4.0, run: again });
        sweep
    }

    #[test]
    fn a_server_that_changed_after_its_first_level_spoils_the_sweep() {
        for (before, since) in [(21.0, 60.0), (60.0, 21.0)] {
            let noise = |at: u64| 1.0 + 0.05 * (at % 3) as f64;
            let mut sweep = swept(|at| before * noise(at), |at| since * noise(at));
            assert_eq!(to_measure_again(&sweep), Some((4.0, [SECOND, 2 * SECOND])));
            assert_eq!(same_server(&sweep), Some(false));
            assert!(mark_changed(&mut sweep));
            let curve = model::Curve::from_sweep(&sweep).unwrap();
            assert!(is_marked(&curve.rows[0]));
            let reading = crate::curve::read(&curve, SECOND);
            assert_eq!(reading.knee, None);
            let told = "At 4 connections, the server changed after this level: its median response time was";
            assert!(reading.sentence.contains(told), "{}", reading.sentence);
            assert_eq!(crate::exit_code_of_sweep(&sweep), crate::exit::NOT_BELIEVABLE);
            assert_eq!(to_measure_again(&sweep), None, "it is known");
            assert!(measured_again(&sweep).is_some());
        }
    }

    /// A part of its instances may respond with errors, slow ones, while the median stays.
    #[test]
    fn a_server_that_fails_since_its_first_level_is_another_one() {
        let swept_with = |success: f64, failed: u64| {
            let mut sweep = swept(|_| 21.0, |_| 21.0);
            let again = &mut sweep.again.as_mut().expect("it was measured again").run;
            again.rates.success_ratio = Some(success);
            again.totals.succeeded = again.totals.attempts - failed;
            sweep
        };
        let mut sweep = swept_with(0.5, 4);
        assert_eq!(same_server(&sweep), Some(false));
        assert!(mark_changed(&mut sweep));
        let told = "the server changed after this level: its success was 100.00 %, and 50.00 % when it was measured again";
        let reasons = &sweep.levels[0].run.validity.reasons;
        assert!(reasons.iter().any(|reason| reason.text.contains(told)), "{reasons:?}");
        let told = "At 4 connections success was 100.00 %, and 50.00 % when it was measured again";
        assert!(measured_again(&sweep).is_some_and(|words| words.contains(told)));
        assert_eq!(crate::exit_code_of_sweep(&sweep), crate::exit::NOT_BELIEVABLE);
        for (success, failed) in [(0.95, 4), (0.5, 2)] {
            assert_eq!(same_server(&swept_with(success, failed)), Some(true));
        }
        // A limit on the rate, used up by the levels between.
        let mut limited = swept_with(0.5, 4);
        let totals = &mut limited.again.as_mut().expect("it was measured again").run.totals;
        totals.errors.status = 4;
        totals.statuses.insert(429, 4);
        assert_eq!(same_server(&limited), Some(true));
        // One in ten failed before, and by chance three of ten did since.
        let mut chance = swept_with(0.7, 3);
        let totals = &mut chance.again.as_mut().expect("it was measured again").run.totals;
        (totals.attempts, totals.succeeded) = (10, 7);
        let first = &mut chance.levels[0].run;
        (first.totals.attempts, first.totals.succeeded) = (1_000, 900);
        first.rates.success_ratio = Some(0.9);
        assert_eq!(same_server(&chance), Some(true));
    }

    #[test]
    fn a_server_that_only_wavered_or_warmed_up_is_the_same() {
        type Trend = fn(u64) -> f64;
        fn steady(at: u64) -> f64 {
            21.0 + (at % 3) as f64
        }
        fn noisy(at: u64) -> f64 {
            if at.is_multiple_of(2) { 20.0 } else { 60.0 }
        }
        let cases: [(&str, Trend, Trend); 5] = [
            ("the same", steady, steady),
            ("no more than waking a processor takes", |_| 0.05, |_| 0.12),
            ("a first level that warmed up", |at| if at < 9 { 200.0 } else { steady(at) }, steady),
            ("less than twice as long", steady, |at| 1.8 * steady(at)),
            ("no further apart than it wavers", noisy, |at| 2.2 * noisy(at)),
        ];
        for (name, before, since) in cases {
            let mut sweep = swept(before, since);
            assert_eq!(same_server(&sweep), Some(true), "{name}");
            assert!(!mark_changed(&mut sweep), "{name}");
        }
    }

    #[test]
    fn what_a_neighbour_shaped_tells_nothing_of_the_server() {
        let mut sweep = swept(|_| 20.0, |_| 200.0);
        let again = &mut sweep.again.as_mut().unwrap().run;
        let (code, consequence) = (ReasonCode::BusyNeighbour, Verdict::Valid);
        again.validity = Validity::of(vec![Reason { code, consequence, text: String::new() }]);
        assert_eq!(same_server(&sweep), None);
        assert!(!mark_changed(&mut sweep));
        sweep.levels[0].run.plan.duration_ns = Some(SECOND);
        assert_eq!(to_measure_again(&sweep), None, "levels too short to tell");
    }

    /// Of 400 ms and more, most slices have no response.
    fn slow(at: u64) -> (f64, f64) {
        if at % 4 == 3 { (80.0, 400.0) } else { (0.0, 0.0) }
    }

    #[test]
    fn a_server_that_became_another_one_within_a_level_spoils_it() {
        let fast = |at: u64| (180.0, 21.0 + (at % 3) as f64);
        let slower = |at| if at < 4 { fast(at) } else { slow(at) };
        let faster = |at| if at < 14 { slow(at) } else { fast(at) };
        let mut run = level(closed(), slower);
        assert!(mark_turned(&mut run, true));
        let reason = run.validity.reasons.last().unwrap();
        assert_eq!((run.validity.verdict, reason.code), (Verdict::Invalid, ReasonCode::NotSteady));
        let wanted = "turned from 21.5ms to 400ms 400ms into the window, and stayed so";
        assert!(reason.text.contains(wanted), "{}", reason.text);
        assert!(is_marked(&CurveRow::of(8.0, &run)));
        assert!(mark_turned(&mut level(closed(), faster), false));
        assert!(!mark_turned(&mut level(closed(), faster), true), "a warm-up");
    }

    #[test]
    fn levels_of_one_server_stand() {
        type Trend = fn(u64) -> (f64, f64);
        let trends: [(&str, Trend); 6] = [
            ("steady", |at| (180.0, 21.0 + (at % 3) as f64)),
            ("slow all along", slow),
            ("a queue that grows", |at| (180.0, 20.0 + 60.0 * at as f64)),
            ("a queue that fills", |at| (180.0, (20.0 + 150.0 * at as f64).min(1000.0))),
            ("a stall", |at| (180.0, if (8..12).contains(&at) { 400.0 } else { 21.0 })),
            ("two kinds by turns", |at| (180.0, if at % 2 == 0 { 400.0 } else { 21.0 })),
        ];
        for (name, trend) in trends {
            for run in [closed(), open()] {
                let mut run = level(run, trend);
                assert!(!mark_turned(&mut run, false), "{name}: {:?}", run.validity);
            }
        }
    }
}
