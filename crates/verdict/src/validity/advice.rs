//! What to do about what a rule found, where that depends on what happened.

use model::{ReasonCode, Run};

use super::failing::{failed_by_checks, failures_are_slow};
use super::generator::had_enough_connections;
use super::responses::{came_after_window, ended_in_warmup, sent_nothing};
use super::steady::slowed_down;
use super::users::all_left;
use super::window::{ended_by_count, shows_no_rate};
use super::{RULES, Rule};
use crate::gone::{is_counted_by_available, was_not_ready};
use crate::refused::failed_alike;

/// What to do about it, in full and in one line.
type Advice = (&'static str, &'static str);

/// Of a server that became slower: to leave out more of the beginning would leave the slow part alone.
const SLOWED_DOWN: Advice = (
    "Find out what made the server slower (a change, data or memory that grows, a rate above what it carries), and measure \
     again.",
    "it became slower: find out why, and measure again",
);

/// Of a server that served nobody any more.
const ALL_LEFT: Advice = (
    "Find out what stopped the server then (its log, a pause of its process, a lock), and measure again.",
    "no user was served any more: find out what stopped the server",
);

/// Of a server that was not there at first, nor in the warm-up.
const NOT_READY: Advice = (
    "If it was still starting, measure when it is ready, or let a longer warm-up pass first (--warmup); else find out why it \
     served nobody then.",
    "the server was not ready at first: a longer --warmup",
);

/// Of a server that sent errors alone, which an objective on `available` does not count.
const SENT_ERRORS: Advice = (
    "Find out why the server sent nothing but errors (its log, what it depends on), and measure again.",
    "only errors came for a moment: --details tells when",
);

/// Of arrivals that a server held up which had enough connections.
const HELD_BY_SERVER: Advice = (
    "Find out what held the server up then (its log, a pause of its process, a lock): more connections would have waited there.",
    "the server held arrivals back: find out why",
);

/// Of responses whose statuses are well.
const NOT_AS_EXPECTED: Advice = (
    "Look at a response that failed a check: either it is wrong, or what is expected is (--expect-body-like, or the checks of the \
     workload file).",
    "many responses failed a check: look at one of them",
);

/// Of responses that all failed by one status, where the evidence says what to do about it.
const FAILED_ALIKE: Advice = (
    "If it is not a failure, use --success.",
    "all responses had one status, a failure: look at it",
);

/// Of failures that are few in number.
const FEW_AND_SLOW: Advice = (
    "Look at the errors and status codes, and at who meets them: few attempts fail, and those wait long.",
    "failures took much of users' time: look at them",
);

/// Of bodies that may be cut short.
const CUT_SHORT: Advice = (
    "Let the server send Content-Length or chunks, or check for what stands at the end of a whole body (in a workload file).",
    "bodies without a length differ: some may be cut",
);

/// Of a run that was ended before anything counted.
const WAIT_LONGER: &str = "Let it run for longer than its warm-up (--warmup).";

/// Of a run whose window was over before anything was sent.
const SENT_NOTHING: Advice = (
    "Measure for longer than users or arrivals wait before the first request (-d).",
    "nothing was sent: measure longer (-d)",
);

/// Of a run whose responses all came, but too late.
const CAME_LATER: Advice = (
    "The window must be many times as long as a response takes.",
    "responses came after the window: measure longer (-d)",
);

/// Of a run with few requests, because no more were asked for.
const SEND_MORE: Advice = (
    "Send more requests (-n) before you quote them.",
    "send more (-n) before quoting high percentiles",
);

/// What to do about so few requests that they show no rate, in one line.
const NO_RATE: &str = "so few requests show no rate: send more (-n or -d)";

impl Rule {
    /// What to do about what this rule found in a run, in full and in one line: what the table says, unless what happened
    /// asks for something else.
    pub(super) fn advice_on(&self, run: &Run) -> Advice {
        match self.code {
            ReasonCode::NoResponses if ended_in_warmup(run) => (WAIT_LONGER, WAIT_LONGER),
            ReasonCode::NoResponses if sent_nothing(run) => SENT_NOTHING,
            ReasonCode::NoResponses if came_after_window(run) => CAME_LATER,
            ReasonCode::ServerGone if was_not_ready(run) => NOT_READY,
            ReasonCode::ServerGone if !is_counted_by_available(run) => SENT_ERRORS,
            ReasonCode::FastErrors if failed_by_checks(run) => NOT_AS_EXPECTED,
            ReasonCode::FastErrors if failed_alike(run).is_some() => FAILED_ALIKE,
            ReasonCode::FastErrors if failures_are_slow(run) => FEW_AND_SLOW,
            ReasonCode::StarvedConnections if all_left(run) => ALL_LEFT,
            ReasonCode::ConnectionsExhausted if had_enough_connections(run) => HELD_BY_SERVER,
            ReasonCode::NotSteady if slowed_down(run) => SLOWED_DOWN,
            ReasonCode::UncheckedResponses if run.totals.unchecked.is_none() => CUT_SHORT,
            ReasonCode::WindowTooShort => self.more_samples(run),
            _ if self.brief.is_empty() => (self.advice, self.advice),
            _ => (self.advice, self.brief),
        }
    }

    /// Where more requests come from: a longer window, unless the number asked for ended it.
    fn more_samples(&self, run: &Run) -> Advice {
        let (full, brief) = if ended_by_count(run) { SEND_MORE } else { (self.advice, self.brief) };
        (full, if shows_no_rate(run) { NO_RATE } else { brief })
    }
}

/// What to do about a reason of this code in a run, in one line; none of a code that no rule gives.
pub fn brief_advice(code: ReasonCode, run: &Run) -> Option<&'static str> {
    let rule = RULES.iter().find(|rule| rule.code == code)?;
    Some(rule.advice_on(run).1)
}
