//! Which level of a sweep holds its objectives.

use model::sweep::Level;
use model::{Judgement, Ruling, Sweep};

use super::words;
use crate::figures::{level_of, rate};

/// What a sweep's levels make of its objectives.
#[derive(Debug, Clone, PartialEq)]
pub struct Holding {
    /// Index of the highest level whose objectives were all met.
    pub highest: Option<usize>,
    /// One sentence or more for people.
    pub sentence: String,
}

/// Reads the levels' judgements; none when the sweep was judged by no objectives.
pub fn holding(sweep: &Sweep) -> Option<Holding> {
    let objectives = names(sweep)?;
    let highest = sweep.levels.iter().rposition(holds);
    let level = |held: &Level| level_of(sweep.kind, held.level);
    let mut sentence = match highest {
        Some(at) => {
            let held = &sweep.levels[at];
            let qps = rate(held.run.rates.requests_per_s);
            format!("The highest level that meets {objectives} is {}, at {qps}/s", level(held))
        }
        None => format!("No level meets {objectives}"),
    };
    let next = match highest {
        Some(at) => sweep.levels.get(at + 1),
        // A level that may hold them is more informative than one that does not.
        None => sweep.levels.iter().find(|held| missed(held).is_none()).or(sweep.levels.first()),
    };
    sentence += &match (next, highest) {
        (Some(next), _) => format!("; at {} {}", level(next), stopped_by(next)),
        (None, Some(_)) => {
            "; it is the highest level that was run: sweep to higher levels".to_owned()
        }
        (None, None) => String::new(),
    };
    let below = &sweep.levels[..highest.unwrap_or(0)];
    if let Some(gap) = below.iter().rfind(|held| !holds(held)) {
        sentence += &format!(
            ". It meets them although {} below it does not ({}): repeat before relying on it",
            level(gap),
            stopped_by(gap)
        );
    }
    Some(Holding { highest, sentence: sentence + "." })
}

/// Whether all of a level's objectives were met.
pub fn holds(level: &Level) -> bool {
    let objectives = &level.run.objectives;
    !objectives.is_empty() && objectives.iter().all(|held| held.ruling == Ruling::Pass)
}

/// The objectives by name, as they were given.
fn names(sweep: &Sweep) -> Option<String> {
    let judged =
        sweep.levels.iter().map(|held| &held.run.objectives).find(|held| !held.is_empty())?;
    let names: Vec<&str> = judged.iter().map(|held| held.objective.as_str()).collect();
    Some(names.join(", "))
}

fn missed(level: &Level) -> Option<&Judgement> {
    level.run.objectives.iter().find(|held| held.ruling == Ruling::Fail)
}

/// What a level did not hold: what it missed before what it left open.
fn stopped_by(level: &Level) -> String {
    let open = level.run.objectives.iter().find(|held| held.ruling == Ruling::Inconclusive);
    let value = |held: &Judgement| {
        let (Some(unit), Some(value)) = (held.unit, held.value) else { return String::new() };
        format!(" with {}", words::figure(unit, value))
    };
    match (missed(level), open) {
        (Some(missed), _) => format!("{} is missed{}", missed.objective, value(missed)),
        (None, Some(open)) => {
            let why = open.reason.trim_end_matches('.');
            format!("{} is undecided{} ({why})", open.objective, value(open))
        }
        (None, None) => "nothing was judged".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::sound::closed;

    fn judgement(objective: &str, ruling: Ruling, value_ms: f64) -> Judgement {
        serde_json::from_value(serde_json::json!({
            "objective": objective, "ruling": ruling.name(), "unit": "ns", "limit": 5e8,
            "value": value_ms * 1e6, "margin": null, "low": null, "high": null,
            "confidence": null, "times_over": null, "longer_ns": null, "reason": "",
        }))
        .unwrap()
    }

    fn sweep(rulings: &[Option<Ruling>]) -> Sweep {
        let level = |(at, ruling): (usize, &Option<Ruling>)| {
            let mut run = closed();
            let met = judgement("mean<500ms", Ruling::Pass, 10.0);
            let p99 = |ruling| judgement("p99<500ms", ruling, 600.0);
            run.objectives = ruling.map(|ruling| vec![met, p99(ruling)]).unwrap_or_default();
            Level { level: f64::from(1 << at), run }
        };
        fixture::sound::sweep(rulings.iter().enumerate().map(level).collect())
    }

    #[test]
    fn the_highest_level_that_holds_them() {
        use Ruling::{Fail, Inconclusive, Pass};
        for (rulings, highest, needle) in [
            (
                &[Some(Pass), Some(Pass), Some(Fail)][..],
                Some(1),
                "meets mean<500ms, p99<500ms is 2 connections, at 1,000/s; at 4 connections \
                 p99<500ms is missed with 600ms.",
            ),
            (&[Some(Pass), Some(Pass)], Some(1), "sweep to higher levels"),
            (&[Some(Fail), Some(Fail)], None, "No level meets"),
            (&[Some(Inconclusive)], None, "at 1 connection p99<500ms is undecided"),
            (&[Some(Pass), Some(Fail), Some(Pass)], Some(2), "although 2 connections below it"),
        ] {
            let found = holding(&sweep(rulings)).unwrap();
            assert_eq!(found.highest, highest, "{found:?}");
            assert!(found.sentence.contains(needle), "no `{needle}`: {found:?}");
        }
        assert_eq!(holding(&sweep(&[None, None])), None);
    }
}
