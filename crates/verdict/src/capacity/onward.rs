//! What to change to find more, where nothing limited a search's highest level.

use model::LevelKind;
use model::capacity::Outcome;
use model::units::exact_duration;

use super::words::level_of;
use super::{Ending, Next, Search};

/// Share of the highest level allowed that is as good as all of it.
const NEARLY: f64 = 0.9;
/// How many times more time a search is advised to have: the first with which it goes on.
const TIMES_BUDGET: [u64; 3] = [3, 9, 27];

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
        Some(_) => match (longer(search), resumed) {
            (None, _) => no_further(limited, ending).to_owned(),
            (Some(longer), Some(resumed)) => {
                format!("Give the search more time: `{resumed} --budget {longer}` goes on with it.")
            }
            (Some(longer), None) => format!("Give the search more time: --budget {longer}."),
        },
    }
}

/// What is given beside `--resume DIR` so that a search goes on that did not come to its end: nothing, or more time. Absent
/// where it did, and where nothing would follow.
pub fn going_on(search: &Search, ending: Option<Ending>) -> Option<String> {
    match ending {
        None | Some(Ending::Died | Ending::Stuck) => Some(String::new()),
        Some(Ending::OutOfBudget) => Some(format!(" --budget {}", longer(search)?)),
        Some(_) => None,
    }
}

/// The time with which the search would go on; absent where it has come to its end, however much time there is.
fn longer(search: &Search) -> Option<String> {
    let mut longer = search.clone();
    let goes_on = |times: &u64| {
        longer.settings.budget_ns = search.settings.budget_ns.saturating_mul(*times);
        matches!(longer.next(), Next::Run(_))
    };
    let times = TIMES_BUDGET.into_iter().find(goes_on)?;
    Some(exact_duration(search.settings.budget_ns.saturating_mul(times)))
}

/// What to do after a search that more time would not bring further.
const fn no_further(limited: bool, ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::Unconfirmed) => {
            "Search again with longer holds (--hold), on a machine that is not busy."
        }
        _ if limited => {
            "Give the generator more workers (-t), connections (-c) and cores, or another machine; then search again."
        }
        _ => "Search again on a machine that is not busy.",
    }
}
