//! A level within which the server became another one: levels before and after it are of two servers.
//!
//! When it did is [`crate::validity`]'s to see; here is what that makes of a level among others.

use model::{CurveRow, Reason, ReasonCode, Run, Validity, Verdict};

use crate::validity::turned;

/// What to do about it.
const ADVICE: &str = "Find out what changed in the server then, and measure all levels again.";

/// Makes the run of a level `INVALID` within which the server became far slower or faster for good; whether it did. At the
/// `first` level one that became faster warmed up.
pub fn mark_turned(run: &mut Run, first: bool) -> bool {
    let Some(turn) = turned(run).filter(|turn| !first || turn.since_ns > turn.before_ns) else {
        return false;
    };
    let code = ReasonCode::NotSteady;
    let text = format!("the server changed within this level: {}. {ADVICE}", turn.words());
    let mut reasons = run.validity.reasons.clone();
    reasons.retain(|reason| reason.code != code);
    reasons.push(Reason { code, consequence: Verdict::Invalid, text });
    run.validity = Validity::of(reasons);
    true
}

/// Whether a row is of a level that [`mark_turned`] has marked: no run is `INVALID` for this reason by itself.
pub(crate) fn is_marked(row: &CurveRow) -> bool {
    row.verdict == Some(Verdict::Invalid) && row.reason == Some(ReasonCode::NotSteady)
}

#[cfg(test)]
mod tests {
    use fixture::sound::{closed, open};
    use model::percentile::PointPercentiles;
    use model::slices::Slice;
    use model::units::SECOND;

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
