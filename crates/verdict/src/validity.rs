//! May a run's figures be believed? One table of rules, [`RULES`]: what each looks at, what it
//! makes of the result, and what to do. The table is also the documentation of validity
//! ([`rules_as_markdown`]).
//!
//! They read what a run holds. An overloaded server is a result, not invalidity; a rule speaks only where the generator, its machine or its settings
//! shaped the figures, or where the figures do not mean what they seem to.

use std::fmt::Write as _;

use model::{Reason, ReasonCode, Run, Validity, Verdict};

mod generator;
mod machine;
mod observed;
mod pauses;
mod presence;
mod responses;
mod steady;
mod thresholds;
mod users;
mod way;
mod window;

pub(crate) use generator::{at_cap, connections_for, shortfall};
pub use steady::{Stability, stability};
pub use users::UNEVEN;

/// What a rule found: its consequence, and the evidence in one or more sentences without the final
/// full stop.
type Finding = (Verdict, String);

/// One rule of validity.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// What it is about.
    pub code: ReasonCode,
    /// When it applies. `{NAME}` stands for a threshold, from the table in `thresholds`.
    pub condition: &'static str,
    /// What it makes of the result, and why; thresholds likewise.
    pub consequence: &'static str,
    /// What to do about it; ends every reason's text.
    pub advice: &'static str,
    check: fn(&Run) -> Option<Finding>,
}

impl Rule {
    /// The reason this rule gives on a run, if it applies.
    pub fn apply(&self, run: &Run) -> Option<Reason> {
        let (consequence, evidence) = (self.check)(run)?;
        let text = format!("{evidence}. {}", self.advice);
        Some(Reason { code: self.code, consequence, text })
    }
}

/// Every rule, in the order the documentation lists them.
pub const RULES: &[Rule] = &[
    Rule {
        code: ReasonCode::NoResponses,
        condition: "no whole response came in the window",
        consequence: "INVALID: nothing was measured",
        advice: "Check that the URL answers one request at all, then look at the errors by class.",
        check: responses::none,
    },
    Rule {
        code: ReasonCode::ServerGone,
        condition: "for {SHORTEST} or more, and longer than responses take here, nobody was served \
                    though somebody waited: attempt after attempt failed or met a server error (more \
                    in a row than the run's share of failures explains), or nothing came any more up \
                    to the end, or all users waited at once for {STALL} of the window and {STALL_TIMES} \
                    times the p99, in an open loop the p50; or the server refused or cut off {CUT_OFF} of \
                    the users' time, in an open loop of the attempts; or, within two neighbouring blocks of \
                    the window and next to never else, {AT_ONCE} of the connections",
        consequence: "INVALID: the figures are of a server that was not there for a part of the \
                      window. A note where it was away for less than {MOMENT} of it and came back. An \
                      objective on `available` that is decided stands for the exit code",
        advice: "Find out why it went away and measure again; where absence is what is tested, say \
                 how much is borne (--slo 'available>=99%').",
        check: presence::server_gone,
    },
    Rule {
        code: ReasonCode::LittleLaw,
        condition: "QPS x mean service time exceeds, by over {TOLERANCE} and what the window's ends can \
                    explain, the requests that can be in flight (connections x pipeline)",
        consequence: "INVALID: it cannot happen unless the clock or the counting is broken \
                      (Little 1961)",
        advice: "Do not use this result; please report it with its run.json.",
        check: window::little,
    },
    Rule {
        code: ReasonCode::LimitsHit,
        condition: "files, ports or memory for sockets ran out on the generator's machine",
        consequence: "INVALID when most attempts may have failed by it, else LOWER_BOUND: the \
                      failures are not the server's",
        advice: "Raise the limit named or lower -c, and measure again.",
        check: generator::limits,
    },
    Rule {
        code: ReasonCode::FastErrors,
        condition: "more than {FAILING} of the responses were failures by status or check",
        consequence: "INVALID above {ONLY_FAILING}: QPS and latency are those of the error path; and where \
                      they began in the middle, {FAILING} of the attempts more than before, and stayed, \
                      without slower responses first: something broke. \
                      Else a note: a server that sheds load is a result, but its QPS is not what \
                      it carries",
        advice: "Look at the status codes; read QPS x success rate as what was carried; where these \
                 responses are wanted, say so with --success.",
        check: responses::failing,
    },
    Rule {
        code: ReasonCode::WorkersSaturated,
        condition: "a worker was busy for {BUSY} of the window or more, waiting for a processor \
                    included unless the server shares it and took more of it than others did (not \
                    with --spin, where every worker always is busy)",
        consequence: "LOWER_BOUND in a closed loop: the server carries at least this. A note in an \
                      open loop, where late sends and the achieved rate tell",
        advice: "Give the generator more workers (-t) and cores, or another machine; latencies \
                 include time in its own queue.",
        check: generator::saturated,
    },
    Rule {
        code: ReasonCode::AchievedBelowOffered,
        condition: "over {SHORTFALL} of an open loop's arrivals were not sent in the window, and not for \
                    want of a free connection",
        consequence: "LOWER_BOUND: the server saw less than the rate asked for. A note where \
                      the generator had time left and the server let {TURNED_AWAY} of the \
                      attempts or more not connect",
        advice: "Lower the rate, or give the generator more workers (-t) and cores.",
        check: generator::below_offered,
    },
    Rule {
        code: ReasonCode::ConnectionsExhausted,
        condition: "over {SHORTFALL} of an open loop's arrivals were not sent in the window, with every \
                    connection in use; or --max-inflight held users of a closed loop back",
        consequence: "LOWER_BOUND: more connections might have carried more. A note when the \
                      server was evidently saturated: {SHEDDING} of the responses were 429 or 503, \
                      {TIMING_OUT} of the attempts timed out, or service times show a queue (mean \
                      {QUEUED} times the least, with little spread)",
        advice: "Raise -c (and --max-inflight); if QPS does not follow, the server is the limit.",
        check: generator::exhausted,
    },
    Rule {
        code: ReasonCode::LateSends,
        condition: "late p99 is above {ON_TIME} and above {LATE} of response p99",
        consequence: "INVALID above {MOSTLY_LATE} of response p99: the percentiles are the generator's. \
                      Else LOWER_BOUND: response times include what the generator added",
        advice: "Use fewer arrivals per worker (-t), leave cores idle for it, or try --spin; service \
                 time does not include lateness.",
        check: generator::late,
    },
    Rule {
        code: ReasonCode::ObservedLate,
        condition: "p50, mean or p99 of the time that responses may have waited for the generator \
                    (observed late) is above {UNSEEN} and {LATE} or more of the service time's; or, in \
                    an open loop with connections free and at most {CONNECTING} of the attempts \
                    connecting, p50 or p95 of wait is so of the response time's",
        consequence: "LOWER_BOUND: latencies are at most what is shown, and in a closed loop QPS is at \
                      least that. INVALID above {MOSTLY_LATE} in an open loop: the latencies are the \
                      generator's",
        advice: "Make less work of a request (script, extraction, signing), or give the generator more \
                 workers (-t) and cores.",
        check: observed::late,
    },
    Rule {
        code: ReasonCode::StarvedConnections,
        condition: "users (connections) had no response in the window or the drain although they waited \
                    for {LONG} and {TIMES_MEDIAN} times the median service time or more, and more of them than failing \
                    attempts explain; or were left without one at the end, for {LONG} and {TIMES_P90} times the \
                    p90 of the service time; or {MUTE} of the connections opened never had a response, beyond \
                    what failing attempts explain, and the time-out is {TIMES_P90} times that p90; or in a closed loop whose users ask alike one tenth of \
                    them had {UNEVEN} times as many responses as another tenth",
        consequence: "INVALID when it is {MANY} of the users or more that got nothing, or for such connections: success and \
                      percentiles count attempts, and a user who waits makes few. Else, and where \
                      service is only uneven, a note",
        advice: "Look at how the server shares connections among its threads and processes (backlog, \
                 accept, SO_REUSEPORT, one thread per connection); ask for `--slo 'served>=100%'`.",
        check: users::starved,
    },
    Rule {
        code: ReasonCode::ResponsesChanged,
        condition: "from some instant on {SUBSTANTIAL} or more of an endpoint's successful responses, to the end, \
                    were of a status, media type or beginning that did not come before; or, where one \
                    request is sent again and again, all were of another length, or {FASTER_SHARE} or \
                    more were of the same status, of another type or beginning, and {FASTER} times \
                    faster than the rest",
        consequence: "INVALID: figures of two different things, one of which may be a page of errors \
                      with a good status",
        advice: "Look at both responses; say what is expected with --expect-body-like, or by a check in a \
                 workload file, so that others count as failures.",
        check: responses::changed,
    },
    Rule {
        code: ReasonCode::Redirected,
        condition: "{REDIRECTED} of the responses or more were redirects, of which 304 is none",
        consequence: "a note: the redirect was measured, not what it leads to",
        advice: "Name the address that it leads to, or let --follow find it before the run.",
        check: responses::redirected,
    },
    Rule {
        code: ReasonCode::KeepaliveRefused,
        condition: "keep-alive was asked and the server closed a connection on more than \
                    {REFUSING} of the responses",
        consequence: "a note: connecting is part of what was measured",
        advice: "Raise the server's requests per connection, or measure with --no-keepalive \
                 knowingly.",
        check: responses::keepalive_refused,
    },
    Rule {
        code: ReasonCode::BusyNeighbour,
        condition: "the host gave {TAKEN} or more of the generator's processors to other guests; or \
                    other processes took {TAKEN} or more of them while a worker waited for one for \
                    {WAITED} of the window, or had no time left, or {FILLED} or more where the server is on the \
                    same processors and they were full; in a window of {COUNTED} or more",
        consequence: "LOWER_BOUND in a closed loop: the generator was held up. A note in an open \
                      loop, where late sends tell",
        advice: "Stop what else runs there, or give the generator processors of its own (taskset, \
                 cgroups), and measure again.",
        check: machine::neighbours,
    },
    Rule {
        code: ReasonCode::SharedCores,
        condition: "the server listens on this machine and may run on the generator's processors",
        consequence: "a note, with what it cost: server and generator take processors from each \
                      other, so that either alone does more",
        advice: "Keep them apart (taskset gives each processors of its own), or measure from another \
                 machine; compare only with runs made the same way.",
        check: machine::shared_cores,
    },
    Rule {
        code: ReasonCode::Throttled,
        condition: "a quota on processor time (cgroup) kept the generator from running for {SHARE} of the \
                    window or more; or for {SEEN} at a time on average, and that is {SUBSTANTIAL} or \
                    more of the longest response",
        consequence: "INVALID from {SUBSTANTIAL} on, or where it reaches p99: latencies are the generator's. \
                      Else LOWER_BOUND: the server carries at least this, and latencies are at most \
                      these. In either case not what the server does: the exit code is {CODE}",
        advice: "Raise or lift the quota (cpu.max, cpu.cfs_quota_us, a container's CPU limit) and \
                 measure again.",
        check: pauses::throttled,
    },
    Rule {
        code: ReasonCode::GeneratorPaused,
        condition: "a worker neither ran nor waited for events or a processor for {SHARE} of the window \
                    or more; or for {SEEN} at a stretch, and that is {SUBSTANTIAL} or more of the \
                    longest response: it was stopped, its machine was paused, or its memory was read back \
                    from a disk",
        consequence: "INVALID from {SUBSTANTIAL} on, or where it reaches p99: latencies are the generator's. \
                      Else LOWER_BOUND: the server carries at least this, and latencies are at most \
                      these. In either case not what the server does: the exit code is {CODE}",
        advice: "Measure again without stopping the generator or its machine, and with memory to \
                 spare.",
        check: pauses::paused,
    },
    Rule {
        code: ReasonCode::MemoryShort,
        condition: "less than {MEMORY} of the generator's memory could be had without swapping",
        consequence: "LOWER_BOUND: a machine that reclaims memory stalls whatever runs on it",
        advice: "Free memory, or lower -c, and measure again.",
        check: machine::memory,
    },
    Rule {
        code: ReasonCode::ClockJumped,
        condition: "the machine slept inside the window, or its wall clock was set by {STEPPED} or more",
        consequence: "INVALID when it slept: the server went on without the generator. A note when \
                      the clock was set: figures are measured by a clock that cannot be, only dates \
                      are wrong",
        advice: "Keep the machine awake; set clocks before measuring, not meanwhile.",
        check: machine::clock,
    },
    Rule {
        code: ReasonCode::NotSteady,
        condition: "the window's beginning was worse than its second half, beyond the run's own \
                    noise (warm-up inside the window); or QPS or median response time moved by \
                    {MOVED} or more throughout (a level that never settled). From {FEWEST} points of \
                    timeline on",
        consequence: "LOWER_BOUND when a closed loop's warm-up lowered QPS by {UNDERSTATED} or more: warm, the \
                      server carries more. Else a note: the figures depend on how long was measured",
        advice: "Leave the warm-up out (--warmup), and measure longer until the figures stay.",
        check: steady::not_steady,
    },
    Rule {
        code: ReasonCode::Dips,
        condition: "throughput fell or latency rose for a while, far beyond the run's own noise",
        consequence: "a note: a dip is the server's doing, and a result",
        advice: "Look at the dips listed, and at what the server did then; means hide them.",
        check: steady::dips,
    },
    Rule {
        code: ReasonCode::SingleSource,
        condition: "every connection came from one local address, and {LIMITED} of the responses \
                    were 429, or the run took {PORTS} of that address's local ports",
        consequence: "a note, with what it cost: limits per address see a single client, and past \
                      {PORTS} of the ports connecting slows down",
        advice: "Connect from several addresses (--source), or lift the limit for this one.",
        check: way::single_source,
    },
    Rule {
        code: ReasonCode::SingleKey,
        condition: "every request carried the same credential",
        consequence: "a note, with what it cost: limits, caches and locks per user see a single user",
        advice: "Use as many keys as real traffic has, or keep in mind what one user may do.",
        check: way::single_key,
    },
    Rule {
        code: ReasonCode::NearCeiling,
        condition: "QPS reached {NEAR} of the ceiling that `plimsoll calibrate` measured for so many \
                    workers",
        consequence: "a note: not much more could have been seen",
        advice: "Give the generator more workers (-t) and cores, or another machine.",
        check: machine::near_ceiling,
    },
    Rule {
        code: ReasonCode::WindowTooShort,
        condition: "fewer than {TOO_FEW}",
        consequence: "a note: the percentile named and those above it say little",
        advice: "Measure longer (-d) before quoting them.",
        check: window::too_short,
    },
    Rule {
        code: ReasonCode::Interrupted,
        condition: "the window was ended early",
        consequence: "a note: the figures are those of the part that ran",
        advice: "Let it run to its end before comparing it with others.",
        check: window::interrupted,
    },
];

/// Judges a run by every rule. The verdict is the worst consequence; none makes it `VALID`.
pub fn judge(run: &Run) -> Validity {
    Validity::of(RULES.iter().filter_map(|rule| rule.apply(run)).collect())
}

/// The table of rules as documentation.
pub fn rules_as_markdown() -> String {
    let mut text = "| code | when | consequence | what to do |\n|---|---|---|---|\n".to_owned();
    for Rule { code, condition, consequence, advice, .. } in RULES {
        let [condition, consequence] =
            [condition, consequence].map(|text| thresholds::filled(text, *code));
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "| `{}` | {condition} | {consequence} | {advice} |", code.name());
    }
    text
}

#[cfg(test)]
mod tests;
