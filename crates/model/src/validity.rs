//! Whether a number may be believed: the words. The rules that choose them are `verdict`'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a result can be trusted.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The figures describe the server.
    #[default]
    Valid,
    /// The generator or something on its side was the limit: the server carries at least this QPS, and
    /// what it was sent took it at most these latencies.
    LowerBound,
    /// The figures must not be used.
    Invalid,
}

impl Verdict {
    /// As printed everywhere: `VALID`, `LOWER_BOUND`, `INVALID`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::LowerBound => "LOWER_BOUND",
            Self::Invalid => "INVALID",
        }
    }
}

/// What a reason is about; the rule table in `verdict` says when each applies.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// The result was not judged.
    NotJudged,
    /// There were no responses.
    #[serde(rename = "no_answers")]
    NoResponses,
    /// The server went away while it was measured.
    ServerGone,
    /// The generator sent less than the schedule asked for.
    AchievedBelowOffered,
    /// The generator's workers were busy all the time.
    WorkersSaturated,
    /// Requests left so late that the percentiles are affected.
    LateSends,
    /// Responses waited for the generator, for a share of the latencies quoted that matters.
    ObservedLate,
    /// The cap on connections or on requests in flight held arrivals back.
    ConnectionsExhausted,
    /// No file descriptors or local ports were left.
    LimitsHit,
    /// QPS x mean service time exceeds the connections: impossible.
    LittleLaw,
    /// Every response failed quickly: errors that look like capacity.
    FastErrors,
    /// The server closed connections although keep-alive was asked.
    KeepaliveRefused,
    /// Client and server shared the same cores.
    SharedCores,
    /// The run was ended early.
    Interrupted,
    /// The window was too short for the percentile quoted.
    WindowTooShort,
    /// Warm-up inside the window, or a level that never settled.
    NotSteady,
    /// The server departed from its trend for a while.
    Dips,
    /// The wall clock was set, or the machine slept, while measuring.
    ClockJumped,
    /// Other processes, or other guests of the host, took processor time from the generator.
    BusyNeighbour,
    /// A quota on processor time kept the generator from running.
    Throttled,
    /// The generator neither ran nor waited for events for a while.
    GeneratorPaused,
    /// The generator's machine ran short of memory.
    MemoryShort,
    /// All requests came from one address, and that affected the figures.
    SingleSource,
    /// All requests carried the same credential.
    SingleKey,
    /// Some users had no response, or far fewer than others.
    StarvedConnections,
    /// The responses changed during the run, or are of two different kinds.
    #[serde(rename = "answers_changed")]
    ResponsesChanged,
    /// Responses came that nothing had been asked for.
    SurplusResponses,
    /// Users could not send as often as their pace says.
    PaceNotHeld,
    /// Users thought for so long that nothing was asked of the server in much of the window.
    NothingAsked,
    /// Responses failed checks that the generator could not make, or nothing shows whether they are whole.
    UncheckedResponses,
    /// Nearly every response was a redirect.
    Redirected,
    /// QPS came near what this generator can do.
    NearCeiling,
}

impl ReasonCode {
    /// As in JSON: `achieved_below_offered`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotJudged => "not_judged",
            Self::NoResponses => "no_answers",
            Self::ServerGone => "server_gone",
            Self::AchievedBelowOffered => "achieved_below_offered",
            Self::WorkersSaturated => "workers_saturated",
            Self::LateSends => "late_sends",
            Self::ObservedLate => "observed_late",
            Self::ConnectionsExhausted => "connections_exhausted",
            Self::LimitsHit => "limits_hit",
            Self::LittleLaw => "little_law",
            Self::FastErrors => "fast_errors",
            Self::KeepaliveRefused => "keepalive_refused",
            Self::SharedCores => "shared_cores",
            Self::Interrupted => "interrupted",
            Self::WindowTooShort => "window_too_short",
            Self::NotSteady => "not_steady",
            Self::Dips => "dips",
            Self::ClockJumped => "clock_jumped",
            Self::BusyNeighbour => "busy_neighbour",
            Self::Throttled => "throttled",
            Self::GeneratorPaused => "generator_paused",
            Self::MemoryShort => "memory_short",
            Self::SingleSource => "single_source",
            Self::SingleKey => "single_key",
            Self::StarvedConnections => "starved_connections",
            Self::ResponsesChanged => "answers_changed",
            Self::SurplusResponses => "surplus_responses",
            Self::PaceNotHeld => "pace_not_held",
            Self::NothingAsked => "nothing_asked",
            Self::UncheckedResponses => "unchecked_responses",
            Self::Redirected => "redirected",
            Self::NearCeiling => "near_ceiling",
        }
    }
}

/// One reason with its evidence in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What it is about.
    pub code: ReasonCode,
    /// What it makes of the result; `VALID` marks a note.
    pub consequence: Verdict,
    /// The evidence, and what to do.
    pub text: String,
}

/// A verdict on a result with its reasons. The verdict is the worst consequence among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validity {
    /// The worst of the reasons' consequences.
    pub verdict: Verdict,
    /// Every rule that applied, worst first.
    pub reasons: Vec<Reason>,
}

impl Validity {
    /// The verdict that reasons add up to; none make it `VALID`.
    pub fn of(mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.consequence));
        let verdict = reasons.first().map_or(Verdict::Valid, |reason| reason.consequence);
        Self { verdict, reasons }
    }

    /// What a result is before anyone judged it: not to be believed.
    pub fn not_judged() -> Self {
        Self::of(vec![Reason {
            code: ReasonCode::NotJudged,
            consequence: Verdict::Invalid,
            text: "this result was not judged yet".to_owned(),
        }])
    }
}
