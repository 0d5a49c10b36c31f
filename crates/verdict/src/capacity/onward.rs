//! What would find more, of a search whose highest level nothing limited.

use model::LevelKind;
use model::capacity::Outcome;
use model::units::exact_duration;

use super::words::level_of;
use super::{Ending, Search};

/// Share of the highest level allowed that is as good as all of it.
const NEARLY: f64 = 0.9;
/// How many times more time a search is advised to have.
const TIMES_BUDGET: u64 = 3;

/// The highest level that was allowed, if the search came so far that it is why no higher one was tried.
pub(super) fn reached(search: &Search) -> Option<f64> {
    let held = search.highest_held().unwrap_or(0.0);
    search.ceiling().filter(|ceiling| held >= NEARLY * ceiling)
}

/// What to do to find more: in a sentence. `resumed` is how a search of this command is gone on with, if it can be.
pub fn onward(search: &Search, ending: Option<Ending>, resumed: Option<&str>) -> String {
    let settings = search.settings();
    let limited = search.speaking().any(|fed| fed.judged.outcome == Outcome::Generator);
    if let Some(ceiling) = reached(search).filter(|_| !limited) {
        let all = f64::from(settings.connections);
        let flag = match settings.kind {
            LevelKind::Concurrency if ceiling >= all => "more connections (-c)",
            _ => "a higher level (--max)",
        };
        let at = level_of(settings.kind, ceiling);
        return format!("Allow the search {flag}: it went as far as {at}, and no further.");
    }
    match ending {
        None => match resumed {
            Some(resumed) => format!("Let the search go on: `{resumed}`."),
            None => "Let the search come to its end.".to_owned(),
        },
        Some(Ending::Died | Ending::Changed) => {
            "Find out what happened to the server; then search again.".to_owned()
        }
        Some(Ending::Stuck) => match resumed {
            Some(resumed) => format!("Make room for the next step: `{resumed}` goes on with it."),
            None => "Make room for the next step; then search again.".to_owned(),
        },
        Some(_) => {
            let longer = exact_duration(settings.budget_ns.saturating_mul(TIMES_BUDGET));
            match resumed {
                Some(resumed) => {
                    format!(
                        "Give the search more time: `{resumed} --budget {longer}` goes on with it."
                    )
                }
                None => format!("Give the search more time: --budget {longer}."),
            }
        }
    }
}
