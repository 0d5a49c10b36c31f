//! The answer of a search in sentences.

use model::capacity::{Judged, Margin, Outcome, Settings, Step, Unit};
use model::quote::grouped;
use model::units::{exact_duration, show_duration};
use model::{Arrivals, LevelKind, LoadLine, Reason, Ruling, Verdict};

use super::answer::bounds;
use super::{Answer, Ending, Search};
use crate::figures::{level, part, rate};

/// Times the precision asked for from which an interval is called wide.
const WIDE: f64 = 3.0;
/// How many times longer the steps are advised to be then.
const STEP_TIMES: u64 = 3;

/// What to read from a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What it came to.
    pub outcome: String,
    /// Why the capacity is not more; absent where none was found.
    pub why_not_more: Option<String>,
    /// What an overload does; absent where it was not tried.
    pub overload: Option<String>,
    /// What is to be borne in mind of the steps: which were INVALID or disturbed, and whether the level found is the
    /// server's; absent where there is nothing.
    pub validity: Option<String>,
}

/// What to read from a search, over (with its ending) or not.
pub fn read(search: &Search, ending: Option<Ending>) -> Reading {
    let answer = search.answer();
    let outcome = match (ending, &answer) {
        (Some(ending), _) => sentence(search, ending),
        (None, Some(answer)) => {
            let found = found(search.settings(), answer);
            let after = untried(search, answer) + &broke_too(search, answer);
            format!("{found}; the search was stopped before its end{after}")
        }
        (None, None) => "no level had held when the search was stopped".to_owned(),
    };
    Reading {
        outcome,
        why_not_more: answer.as_ref().map(|answer| why_not_more(search, answer)),
        overload: answer.as_ref().and_then(|answer| after_overload(search, answer)),
        validity: validity(search, answer.as_ref()),
    }
}

/// See [`Reading::validity`].
fn validity(search: &Search, answer: Option<&Answer>) -> Option<String> {
    let at = answer.and_then(|answer| bound(search, answer));
    let sentences: Vec<String> =
        [at, invalid(search), disturbed(search)].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// `the run at 380/s is LOWER_BOUND (late_sends): the server carries this, with latencies ...`, where it is, or that it
/// holds although it is INVALID.
fn bound(search: &Search, answer: &Answer) -> Option<String> {
    let bounds: Vec<&Reason> = bounds(search.fed.get(answer.step)?).collect();
    let verdict = bounds.iter().map(|reason| reason.consequence).max()?;
    let codes: Vec<&str> = bounds.iter().map(|reason| reason.code.name()).collect();
    let at = level_of(search.settings().kind, answer.level);
    let carries = "server carries this, with latencies no higher than these, and perhaps more";
    let so = match verdict {
        Verdict::Invalid => {
            format!(
                "its latencies are partly the generator's, and meet the objectives even so. The {carries}"
            )
        }
        Verdict::LowerBound | Verdict::Valid => format!("the {carries}"),
    };
    Some(format!("the run at {at} is {} ({}): {so}", verdict.name(), codes.join(", ")))
}

/// How many steps broke while other programs took the processors, and what became of them.
fn disturbed(search: &Search) -> Option<String> {
    let disturbed = search.levels().filter(|fed| fed.judged.disturbed).count();
    let doubtful = search.levels().filter(|fed| search.is_disturbed_once(fed)).count();
    let count = match disturbed - doubtful {
        0 => "none of them does".to_owned(),
        counted => format!("{counted} of them do"),
    };
    (disturbed > 0).then(|| {
        format!(
            "{} broke while other programs took the processors. Such a step counts where its level or \
             a lower one broke once more: {count}. Stop the other programs for a narrower answer",
            of_levels(disturbed, search.levels().count())
        )
    })
}

/// `6 of 8 search and hold steps`: probes, overloads and what follows them decide nothing, and are not counted.
fn of_levels(part: usize, all: usize) -> String {
    // The first step at a level is one of the search.
    let steps = if all == 1 { "search step" } else { "search and hold steps" };
    format!("{part} of {all} {steps}")
}

/// `6 of 8 search and hold steps were INVALID (throttled, late_sends)`, with all that was held against those steps, and
/// the last of the reasons in words.
fn invalid(search: &Search) -> Option<String> {
    let steps = || search.levels();
    let invalid = || steps().map(|fed| &fed.judged).filter(|judged| judged.invalid().is_some());
    let last = invalid().next_back()?.invalid()?;
    let mut codes: Vec<&str> =
        invalid().flat_map(|judged| &judged.reasons).map(|reason| reason.code.name()).collect();
    codes.sort_unstable();
    codes.dedup();
    let were = if invalid().count() == 1 { "was" } else { "were" };
    let held = match invalid().filter(|judged| judged.outcome == Outcome::Held).count() {
        0 => String::new(),
        all if all == invalid().count() => {
            ", but held, as the objectives are met all the same".to_owned()
        }
        some => format!(", and {some} of them held, as the objectives are met all the same"),
    };
    Some(format!(
        "{} {were} INVALID ({}){held}. At the last, {}",
        of_levels(invalid().count(), steps().count()),
        codes.join(", "),
        last.text.trim_end_matches('.')
    ))
}

/// What a step's outcome rests on: that its run is INVALID, or the objective that is furthest from held, with what makes
/// the run INVALID where it held all the same.
pub fn by(judged: &Judged) -> String {
    let furthest = judged.margins.first().map_or_else(String::new, measured);
    match (judged.invalid(), judged.outcome) {
        (Some(reason), Outcome::Unclear) => format!("INVALID: {}", reason.code.name()),
        (Some(reason), Outcome::Held) => {
            format!("{furthest}, although INVALID ({})", reason.code.name())
        }
        _ => furthest,
    }
}

/// A step with its outcome, as the table of the steps names it: `15,000/s (search, broke)`.
pub fn step_of(kind: LevelKind, step: &Step, outcome: Outcome) -> String {
    let level = level_of(step.purpose.counts(kind), step.level);
    format!("{level} ({}, {})", step.purpose.name(), outcome.name())
}

/// What a search came to, in one or more sentences without the final full stop.
pub fn sentence(search: &Search, ending: Ending) -> String {
    let answer = search.answer();
    let prefix = match ending {
        Ending::Found => None,
        Ending::NeverMet => return never_met(search),
        Ending::Died => Some("the target stopped answering and did not come back"),
        Ending::Stuck => Some("the next step could not be run on the generator's machine"),
        Ending::Changed => {
            Some("the server's responses changed, so later steps would measure another thing")
        }
        Ending::Unconfirmed => Some("no level held during its confirming hold"),
        Ending::OutOfBudget => {
            Some("what was left of the time budget (--budget) was too short for the next step")
        }
    };
    let known = match &answer {
        Some(answer) => found(search.settings(), answer) + &untried(search, answer),
        None => format!("no capacity was found: {}", best_seen(search)),
    };
    match (prefix, &answer) {
        (Some(why), Some(answer)) => {
            let after = broke_too(search, answer) + &wide(search, answer);
            format!("{known}. The search ended early: {why}{after}")
        }
        (Some(why), None) => format!("{known}; {why}"),
        (None, Some(answer)) => known + &broke_too(search, answer) + &wide(search, answer),
        (None, None) => known,
    }
}

/// `12,400 requests/s (12,100-12,700), limited by p99<500ms; confirmed over 60 s`, or `at least` so many.
pub fn found(settings: &Settings, answer: &Answer) -> String {
    let value = level(rounded(settings, answer.level));
    let unit = match settings.kind {
        LevelKind::Rate => settings.arriving.per_s(),
        LevelKind::Concurrency if answer.level == 1.0 => "connection",
        LevelKind::Concurrency => "connections",
    };
    let low = level(rounded(settings, answer.low));
    let least = if answer.at_least() { "at least " } else { "" };
    let interval = answer.high.map(|high| format!(" ({low}-{})", level(rounded(settings, high))));
    let mut text = format!("{least}{value} {unit}{}", interval.unwrap_or_default());
    text += spacing(settings);
    if let Some(limit) = &answer.limited_by {
        text += &format!(", limited by {}", limit.objective);
    }
    match answer.confirmed_for_ns {
        Some(ns) => text += &format!("; confirmed over {}", show_duration(ns)),
        None => text += "; not confirmed by a hold",
    }
    text
}

/// The objectives that the run at the level found says nothing of, as no request of their endpoints was due in it, as a
/// further sentence; empty where there is none.
fn untried(search: &Search, answer: &Answer) -> String {
    let margins = search.fed.get(answer.step).into_iter().flat_map(|fed| &fed.judged.margins);
    let untried: Vec<String> = margins.filter(|margin| margin.untried).map(measured).collect();
    if untried.is_empty() {
        return String::new();
    }
    format!(
        ". Not known there: {}. Let the hold last longer (--hold, --budget), or give such requests a larger part of the load",
        untried.join(", ")
    )
}

/// Names the levels that broke inside the interval, and below a level that was confirmed, as further sentences; empty
/// where none did.
fn broke_too(search: &Search, answer: &Answer) -> String {
    let kind = search.settings().kind;
    let inside = levels(kind, &answer.broke_inside).map_or_else(String::new, |named| {
        format!(
            ". The interval reaches above {named}, which broke: close to the capacity a step can \
             break by chance"
        )
    });
    let below = levels(kind, &answer.broke_below).filter(|_| answer.confirmed_for_ns.is_some());
    let below = below.map_or_else(String::new, |named| {
        format!(
            ". {named} broke, although more was carried: the server may have paused or slowed down \
             for a while"
        )
    });
    inside + &below
}

/// Levels in ascending order, by their number where there are several.
fn levels(kind: LevelKind, levels: &[f64]) -> Option<String> {
    match levels {
        [] => None,
        [one] => Some(level_of(kind, *one)),
        [first, .., last] => {
            let [first, last] = [first, last].map(|&at| level_of(kind, at));
            Some(format!("{} levels from {first} to {last}", levels.len()))
        }
    }
}

/// Why an interval is much wider than the precision asked for, and what makes it narrower, as a further sentence; empty
/// where it is not.
fn wide(search: &Search, answer: &Answer) -> String {
    let settings = search.settings();
    let Some(high) = answer.high.filter(|_| answer.level > 0.0) else { return String::new() };
    let width = (high - answer.low) / answer.level;
    // Between two neighbouring numbers of connections nothing can be found.
    let whole = settings.kind == LevelKind::Concurrency && high - answer.low <= 2.0;
    if width <= WIDE * settings.precision || whole {
        return String::new();
    }
    let unclear = search.speaking().filter(|fed| fed.judged.outcome != Outcome::Held);
    let unclear = unclear.filter(|fed| fed.judged.outcome != Outcome::Broke).count();
    let steps = search.speaking().count();
    let why = match (unclear, answer.broke_inside.is_empty()) {
        (0, true) => "the search ended before it was narrower".to_owned(),
        (0, false) => "levels close to each other held and broke by turns".to_owned(),
        (unclear, _) => format!("{unclear} of the {steps} steps that count stayed undecided"),
    };
    let step_ns = settings.step_ns.saturating_mul(STEP_TIMES);
    let budget_ns = settings.budget_ns.saturating_mul(STEP_TIMES);
    format!(
        ". The interval is wide ({:.0} % of the capacity), as {why}: measure with --step {} --budget {}{}",
        100.0 * width,
        exact_duration(step_ns),
        exact_duration(budget_ns),
        if unclear > 0 { ", on a machine that is not busy" } else { "" }
    )
}

/// The arrivals that a rate holds for.
fn spacing(settings: &Settings) -> &'static str {
    match settings.arrivals.filter(|_| settings.kind == LevelKind::Rate) {
        Some(Arrivals::Poisson) => " for random arrivals (poisson)",
        Some(Arrivals::Uniform) => " for evenly spaced arrivals (uniform)",
        None => "",
    }
}

/// A measured figure as a step's line shows it, with the reason where it is unclear:
/// `p99<100ms: 60.6ms (interval 48.0ms to 131ms)`.
pub fn measured(margin: &Margin) -> String {
    let value = match margin.untried {
        true => "untried".to_owned(),
        false => value(margin.unit, margin.value),
    };
    let figure = format!("{}: {value}", margin.objective);
    match &margin.why {
        Some(why) => format!("{figure} ({why})"),
        None => figure,
    }
}

/// What the capacity falls short of, or leaves open, of the throughput asked for: a sentence without
/// the final full stop; none where it has all of it.
pub fn throughput(rulings: &[(String, Ruling)], line: &LoadLine) -> Option<String> {
    let requests = |arrivals_per_s: f64| rate(arrivals_per_s * line.requests_per_arrival);
    let most = line.rate_high_per_s.unwrap_or(line.rate_per_s);
    let of = |(name, ruling): &(String, Ruling)| match ruling {
        Ruling::Pass => None,
        Ruling::Fail => Some(format!("{name} is missed: it carries {}/s at most", requests(most))),
        Ruling::Inconclusive if line.at_least => Some(format!(
            "{name} is undecided: no more than {}/s was seen",
            requests(line.rate_per_s)
        )),
        Ruling::Inconclusive => {
            Some(format!("{name} is undecided: the limit is inside the interval"))
        }
    };
    let sentences: Vec<String> = rulings.iter().filter_map(of).collect();
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// `holds 412,000 daily users (395,000 to 430,000)`, where the users of the load are known.
pub fn daily_users(line: &LoadLine) -> Option<String> {
    let users = line.daily_users?;
    let least = if line.at_least { "at least " } else { "" };
    let to = users.high.map_or_else(String::new, |high| {
        format!(" ({} to {})", thousands(users.low), thousands(high))
    });
    Some(format!("holds {least}{} daily users{to}", thousands(users.users)))
}

/// A number of users with the digits that a measurement gives it, three, grouped.
fn thousands(users: u64) -> String {
    let unit = 10_u64.pow(users.max(1).ilog10().saturating_sub(2));
    grouped((users + unit / 2) / unit * unit)
}

/// Why the capacity is not more: the limiting objective on either side, and how the search knows no
/// more than it does.
pub fn why_not_more(search: &Search, answer: &Answer) -> String {
    let kind = search.settings().kind;
    if let Some(limit) = answer.limited_by.as_ref().filter(|limit| limit.objective == "stable") {
        return format!(
            "there were no dips at {}, but dips at {}",
            level_of(kind, limit.below.level),
            level_of(kind, limit.above.level)
        );
    }
    if let Some(limit) = &answer.limited_by {
        let unit =
            search.fed.iter().find_map(|fed| Some(fed.judged.margin(&limit.objective)?.unit));
        let unit = unit.unwrap_or(Unit::Count);
        return format!(
            "{} was {} at {} and {} at {}",
            limit.objective,
            value(unit, limit.below.value),
            level_of(kind, limit.below.level),
            value(unit, limit.above.value),
            level_of(kind, limit.above.level)
        );
    }
    let limited = search
        .speaking()
        .rfind(|fed| fed.judged.outcome == Outcome::Generator && fed.step.level > answer.level);
    match limited.and_then(|fed| Some((fed.step.level, fed.judged.note.clone()?))) {
        Some((at, note)) => {
            format!(
                "at {} something other than the server was the limit: {note}",
                level_of(kind, at)
            )
        }
        None => match super::onward::reached(search).filter(|_| answer.at_least()) {
            Some(ceiling) => format!("nothing above {} was allowed", level_of(kind, ceiling)),
            None => nothing_known_above(search, answer),
        },
    }
}

/// That no level above the answer says anything, and why, where one was tried.
fn nothing_known_above(search: &Search, answer: &Answer) -> String {
    let tried = search.levels().filter(|fed| fed.step.level > answer.level);
    let lowest = tried.min_by(|a, b| a.step.level.total_cmp(&b.step.level));
    let Some(fed) = lowest else { return "nothing above it was tried".to_owned() };
    let at = level_of(search.settings().kind, fed.step.level);
    match fed.judged.outcome {
        Outcome::Held => format!("{at} held in a short step, and was not held for longer"),
        Outcome::Generator => {
            let note = fed.judged.note.as_deref().unwrap_or("it was late");
            format!(
                "at {at} something other than the server was the limit, perhaps for a moment: {note}"
            )
        }
        Outcome::Broke if fed.judged.disturbed => {
            format!("{at} broke while other programs took the processors, which may be why")
        }
        Outcome::Broke | Outcome::Unclear => {
            format!("{at} was tried, and tells nothing: {}", by(&fed.judged))
        }
    }
}

/// What an overload did, in a sentence without the final full stop; absent where it was not tried.
pub fn after_overload(search: &Search, answer: &Answer) -> Option<String> {
    let overload = answer.overload?;
    let kind = search.settings().kind;
    let (from, at) = (level_of(kind, overload.level), level_of(kind, answer.level));
    Some(match (overload.collapses, overload.recovers_at) {
        (false, _) => format!("After an overload of {from} it held {at} again: no collapse"),
        (true, Some(back)) => format!(
            "It collapses: after an overload of {from} it no longer held {at}, which it holds when \
             approached from idle; under load it recovered at {}",
            level_of(kind, back)
        ),
        (true, None) => format!(
            "It collapses: after an overload of {from} it no longer held {at}, which it holds when \
             approached from idle, and it recovered at none of the lower levels tried"
        ),
    })
}

fn never_met(search: &Search) -> String {
    if search.idle_mean_ns().is_none() {
        let note = search.fed.iter().rev().find_map(|fed| fed.judged.note.clone());
        let note = note.map(|note| format!(": {note}")).unwrap_or_default();
        return format!("nothing succeeded, not even one request at a time{note}");
    }
    if let Some(last) = search.fed.last().filter(|_| search.fails_at_rest())
        && let Some(margin) = last.judged.failing()
    {
        let note = last.judged.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
        return format!(
            "the objectives are never met: {} is {} even when single requests are sent, so the load is not the cause{note}. \
             Fix or leave out what fails, let its status count as success, or ask for less",
            margin.objective,
            value(margin.unit, margin.value)
        );
    }
    // Lower levels than the best seen may miss others, for want of anything to count.
    let broke = nearest(search)
        .and_then(|fed| fed.judged.margins.iter().find(|margin| margin.outcome == Outcome::Broke));
    let why = broke.map_or_else(String::new, |margin| format!(" ({})", margin.objective));
    format!("the objectives are never met{why}: {}", best_seen(search))
}

/// The level that came nearest to holding.
fn nearest(search: &Search) -> Option<&super::Fed> {
    search.speaking().min_by(|a, b| {
        let of = |fed: &super::Fed| {
            let broke = fed.judged.margins.iter().filter(|m| m.outcome == Outcome::Broke);
            broke.map(|m| (m.value.max(1e-9) / m.limit.max(1e-9)).ln().abs()).fold(0.0, f64::max)
        };
        of(a).total_cmp(&of(b))
    })
}

/// The level that came nearest, with the objective that kept it from holding.
fn best_seen(search: &Search) -> String {
    let Some(fed) = nearest(search) else { return "no level was tried".to_owned() };
    let at = level_of(search.settings().kind, fed.step.level);
    match fed.judged.margins.iter().find(|margin| !margin.untried) {
        Some(margin) => format!(
            "best level tried: {at}, where {} was {}",
            margin.objective,
            value(margin.unit, margin.value)
        ),
        None => format!("best level tried: {at}"),
    }
}

/// A value under an objective as sentences and tables print it.
pub fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds => show_duration(value.max(0.0) as u64),
        Unit::Ratio => part(value),
        Unit::Count => level((value * 100.0).round() / 100.0),
    }
}

/// A level with its unit, rates without insignificant digits: `12,400/s`.
pub fn level_of(kind: LevelKind, value: f64) -> String {
    crate::figures::level_of(kind, three_digits(kind, value))
}

fn rounded(settings: &Settings, value: f64) -> f64 {
    three_digits(settings.kind, value)
}

fn three_digits(kind: LevelKind, value: f64) -> f64 {
    if kind == LevelKind::Concurrency || value <= 0.0 || !value.is_finite() {
        return value.round();
    }
    // Through text, which rounds in decimal.
    format!("{value:.2e}").parse().unwrap_or(value)
}
