//! The check from above: an overload, then at once the level that held from idle. A server that
//! breaks there, twice, collapses: it stays down under a load that it carries when it comes from
//! idle (hysteresis; Bronson et al. 2021 call it a metastable failure). Then it is followed down
//! until it comes back.

use model::LevelKind;
use model::capacity::{Outcome, Purpose, Step};
use model::loadline::Overload;

use super::{Fed, Search, step};

/// The overload, as a multiple of the interval's upper end.
const OVERLOAD: f64 = 1.5;
/// The levels it is followed down to, as shares of the level that held.
const DOWN: [f64; 4] = [1.0, 0.8, 0.5, 0.25];
/// Times that a level must break from above.
const TWICE: usize = 2;

/// An overload and the levels that followed it.
struct Round<'a> {
    overload: &'a Fed,
    returns: Vec<&'a Fed>,
}

fn rounds(search: &Search) -> Vec<Round<'_>> {
    let hold = search.fed.iter().rposition(|fed| fed.step.purpose == Purpose::Hold).unwrap_or(0);
    let mut rounds: Vec<Round<'_>> = Vec::new();
    for fed in &search.fed[hold..] {
        match fed.step.purpose {
            Purpose::Overload => rounds.push(Round { overload: fed, returns: Vec::new() }),
            Purpose::Return => {
                if let Some(round) = rounds.last_mut() {
                    round.returns.push(fed);
                }
            }
            _ => {}
        }
    }
    rounds
}

/// The step that must follow the last one at once, because the server is as an overload left it.
pub(super) fn descent(search: &Search) -> Option<Step> {
    let last = search.fed.last()?;
    if !matches!(last.step.purpose, Purpose::Overload | Purpose::Return) {
        return None;
    }
    let held = search.of(Purpose::Hold).rfind(|fed| fed.judged.outcome == Outcome::Held)?;
    let rounds = rounds(search);
    let returns = &rounds.last()?.returns;
    let all_broke = returns.iter().all(|fed| fed.judged.outcome == Outcome::Broke);
    // The second round only asks whether the first was right.
    let most = if rounds.len() < TWICE { DOWN.len() } else { 1 };
    let share = DOWN[..most].get(returns.len()).filter(|_| all_broke)?;
    let level = step::level(search, held.step.level * share);
    let settings = search.settings();
    Some(Step {
        purpose: Purpose::Return,
        level,
        rest_ns: 0,
        warmup_ns: settings.warmup_ns,
        window_ns: settings.step_ns,
    })
}

/// The overload that is to be made next, if one is.
pub(super) fn next(search: &Search, held: &Fed) -> Option<Step> {
    let rounds = rounds(search);
    let wanted = match rounds.as_slice() {
        [] => true,
        // Once broken may be chance, broken and back a step below it too; what is unclear is tried
        // again.
        [only] => {
            let outcomes: Vec<Outcome> =
                only.returns.iter().map(|fed| fed.judged.outcome).collect();
            match outcomes.as_slice() {
                [Outcome::Broke, second, ..] => *second != Outcome::Broke,
                [first] => *first == Outcome::Unclear,
                _ => false,
            }
        }
        _ => false,
    };
    let level = overload_level(search, held).filter(|_| wanted)?;
    let settings = search.settings();
    Some(Step {
        purpose: Purpose::Overload,
        level,
        rest_ns: settings.rest_ns,
        warmup_ns: 0,
        window_ns: settings.step_ns / 2,
    })
}

/// A level far above the interval; absent where nothing broke, or none so high is allowed.
fn overload_level(search: &Search, held: &Fed) -> Option<f64> {
    let (_, high) = search.estimate().interval();
    let most = match search.settings.kind {
        LevelKind::Rate => search.settings.most,
        LevelKind::Concurrency => search.ceiling(),
    };
    let level = step::level(search, OVERLOAD * high).min(most.unwrap_or(f64::INFINITY));
    let breaks = search.speaking().any(|fed| fed.judged.outcome == Outcome::Broke);
    let room = match search.settings.kind {
        LevelKind::Rate => 1.1 * held.step.level,
        LevelKind::Concurrency => held.step.level + 1.0,
    };
    (breaks && level >= room).then_some(level)
}

/// What an overload did; absent where that was not tried, or stayed open.
pub(super) fn overload(search: &Search) -> Option<Overload> {
    let rounds = rounds(search);
    let broke = |fed: &&&Fed| fed.judged.outcome == Outcome::Broke;
    let first = rounds.first().filter(|round| {
        round.returns.first().is_some_and(|fed| fed.judged.outcome != Outcome::Generator)
    })?;
    let below = first.returns.iter().skip(1).filter(broke).count();
    let at_level = || rounds.iter().filter_map(|round| round.returns.first());
    let broken = at_level().filter(broke).count();
    let collapses = broken > 0 && broken + below >= TWICE;
    if !collapses && !at_level().any(|fed| fed.judged.outcome == Outcome::Held) {
        // Broken once, and no time was left to look again; or unclear each time.
        return None;
    }
    let back = first.returns.iter().find(|fed| fed.judged.outcome == Outcome::Held);
    Some(Overload {
        level: first.overload.step.level,
        collapses,
        recovers_at: back.map(|fed| fed.step.level).filter(|_| collapses),
    })
}
