//! May a run's figures be believed? One table of rules, [`RULES`]: what each looks at, what it
//! makes of the result, and what to do. The table is also the documentation of validity ([`rules_as_markdown`]).
//!
//! They read what a run holds. An overloaded server is a result, not invalidity; a rule speaks only where the generator, its machine or its settings
//! shaped the figures, or where the figures do not mean what they seem to.

use std::fmt::Write as _;

use model::{Reason, ReasonCode, Run, Validity, Verdict};

mod advice;
mod endpoints;
mod failing;
mod generator;
mod idle;
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

pub use advice::brief_advice;
pub(crate) use failing::FAILING;
pub(crate) use generator::{SENT_AGAIN_NS, connections_for, waits_for_connections};
pub use responses::{empty_in_words, kind as kind_in_words};
pub(crate) use steady::SHORTEST_NS;
pub use steady::stalls::{Stalls, stalls, stalls_in_words};
pub(crate) use steady::turn::{CHANGED, CHANGED_NS, between, is_constant, turned};
pub use steady::{Stability, stability};
pub use users::{UNEVEN, UNEVEN_FROM};
pub(crate) use way::local_ports;
pub use window::{ended_by_count, not_waited_for, shows_no_rate};

/// What a rule found: its consequence, and the evidence in one or more sentences without the final full stop.
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
    /// What to do about it; ends every reason's text, unless what happened asks for something else.
    pub advice: &'static str,
    /// A note and its advice where there is one line for it; empty where it is never a note, or its
    /// advice is as short.
    pub brief: &'static str,
    check: fn(&Run) -> Option<Finding>,
}

impl Rule {
    /// The reason this rule gives on a run, if it applies.
    pub fn apply(&self, run: &Run) -> Option<Reason> {
        let (consequence, evidence) = (self.check)(run)?;
        let text = format!("{evidence}. {}", self.advice_on(run).0);
        Some(Reason { code: self.code, consequence, text })
    }
}

/// Every rule, in the order the documentation lists them.
pub const RULES: &[Rule] = &[
    Rule {
        code: ReasonCode::NoResponses,
        condition: "no complete response arrived in the window",
        consequence: "INVALID: nothing was measured",
        advice: "Check that the URL answers a single request, and look at the errors by class where there are any.",
        brief: "",
        check: responses::none,
    },
    Rule {
        code: ReasonCode::ServerGone,
        condition: "the server was away: for {SHORTEST} or more (a closed loop by count (-n) may end sooner), \
                    and for longer than its responses take, it served nobody although users waited. Any of these \
                    shows it: attempt after attempt failed or got a server error (more in a row than \
                    the run's share of failures explains); in a closed loop, all of its users failed three times in a \
                    row at the end (likewise); no response arrived any more, to the end of the run; all users waited at once \
                    for {STALL} of the window and {STALL_TIMES} times the p99 (with a pace or think time, the p90; in an open loop, the \
                    p50; in both, unless all of the few that asked meanwhile may have been slow by themselves); the server refused or \
                    cut off {CUT_OFF} of the users' time (in an open loop, of the attempts), unless nearly all of these were idle connections; \
                    within two neighbouring blocks of the window, and almost never outside them, it did so to {AT_ONCE} of the \
                    connections. A server that responded to nothing at first, neither in a warm-up nor in an earlier run of the \
                    same command, and failed nothing, was still starting (`not_steady`)",
        consequence: "INVALID: the figures are of a server that was away for part of the window. \
                      A note if it was away for less than {MOMENT} of the window, came back, and cut off less than {CUT_OFF}. \
                      If an objective on `available` is decided, the exit code follows that \
                      objective",
        advice: "Find out why the server went away and measure again; to test its absence on \
                 purpose, state how much of it is acceptable (--slo 'available>=99%').",
        brief: "the server was away for a moment: --details tells when",
        check: presence::server_gone,
    },
    Rule {
        code: ReasonCode::LittleLaw,
        condition: "QPS x mean service time exceeds the requests that can be in flight \
                    (connections x pipeline) by over {TOLERANCE}, and by more than the ends of \
                    the window can explain",
        consequence: "INVALID: this is impossible unless the clock or the counting is broken \
                      (Little 1961)",
        advice: "Do not use this result; please report it with its run.json.",
        brief: "",
        check: window::little,
    },
    Rule {
        code: ReasonCode::LimitsHit,
        condition: "the generator's machine ran out of files, ports or memory for sockets",
        consequence: "INVALID when most attempts may have failed because of it, else \
                      LOWER_BOUND: the server did not cause these failures",
        advice: "Raise the limit named or lower -c, and measure again.",
        brief: "",
        check: generator::limits,
    },
    Rule {
        code: ReasonCode::FastErrors,
        condition: "more than {FAILING} of the responses failed by status or check; or the server was not gone, and such \
                    responses took more than {FAILING} of the time of a closed loop's users, or more than {FAILING} of the \
                    attempts had no response for another reason than the time-out, or {HALF_FAILING} for any reason, or these took \
                    {HALF_FAILING} of that time; or an endpoint of several failed {ENOUGH} times or more and never succeeded, while the others mostly did",
        consequence: "INVALID above {ONLY_FAILING} of the responses, or of the attempts: QPS and latency are those of the error path. \
                      INVALID also when, in the middle of the run and under a steady load, failures rose by {FAILING} of \
                      the attempts, or of that time, beyond chance, and stayed, and responses did not slow down first: something \
                      broke; and when an endpoint never succeeded: the mix was not measured. Else a note: a server that sheds load is a valid result, but its QPS \
                      is not the load it carries",
        advice: "Look at the errors and status codes. Read the responses that succeeded as the load \
                 carried. If you want others to count as successes, name them with --success.",
        brief: "many attempts failed: look at errors and status codes",
        check: failing::failing,
    },
    Rule {
        code: ReasonCode::WorkersSaturated,
        condition: "a worker was busy for {BUSY} of the window or more. Time spent waiting for a \
                    processor counts, unless the server shares the processor and took more of it \
                    than other processes did; or there were more workers than processors, and one \
                    waited like that for {CROWDED} of the window. The rule does not apply with --spin, where every \
                    worker is always busy",
        consequence: "LOWER_BOUND in a closed loop: the server carries at least this. A note in \
                      an open loop, where late sends and the achieved rate show the problem",
        advice: "Give the generator more cores, and as many workers (-t), or use another machine; the \
                 latencies include time in the generator's own queue.",
        brief: "",
        check: generator::saturated,
    },
    Rule {
        code: ReasonCode::AchievedBelowOffered,
        condition: "over {SHORTFALL} of an open loop's arrivals were not sent in the window (of \
                    one that ends by count (-n): by when the last was due), \
                    although connections were free and the server was not gone",
        consequence: "LOWER_BOUND: the server saw less than the rate asked for. A note when the \
                      generator had time left and the server did not let {TURNED_AWAY} of the \
                      attempts or more connect, or one connection in a hundred took {SENT_AGAIN} \
                      or more to open",
        advice: "Lower the rate, or give the generator more workers (-t) and cores.",
        brief: "less was sent than offered: lower the rate",
        check: generator::below_offered,
    },
    Rule {
        code: ReasonCode::ConnectionsExhausted,
        condition: "over {SHORTFALL} of an open loop's arrivals were not sent in the window \
                    while every connection was in use; or waiting for one took {HELD_FOR} of the response time \
                    or more (p90); or --max-inflight held back users of a closed loop",
        consequence: "LOWER_BOUND: more connections might have carried more. A note when all were sent: \
                      response times are of so many connections. A note also when the \
                      server was evidently saturated: {SHEDDING} of the responses were 429 or 503, \
                      {TIMING_OUT} of the attempts timed out, or service times, of the window or of \
                      its last part, show a queue (mean {QUEUED} times the least, with little spread), or there were \
                      more connections than a constant rate needs at the mean service time, by three times the \
                      square root of that number. Nothing where such a server was gone, which has a rule of its own",
        advice: "Raise -c (and --max-inflight); if QPS does not follow, the server is the limit.",
        brief: "-c held arrivals back: raise it",
        check: generator::exhausted,
    },
    Rule {
        code: ReasonCode::LateSends,
        condition: "late p50 or p99 (of few arrivals, the highest percentile that they show) is above {ON_TIME} and above \
                    {LATE} of the same percentile of response time",
        consequence: "INVALID above {MOSTLY_LATE} of it: the percentiles are the generator's. Else LOWER_BOUND: \
                      response times include delays of the generator",
        advice: "Use fewer arrivals per worker (-t), leave cores idle for the generator, or try \
                 --spin. Service time does not include this delay.",
        brief: "",
        check: generator::late,
    },
    Rule {
        code: ReasonCode::ObservedLate,
        condition: "p50, mean or, of enough attempts to quote it, p99 of the time that responses may \
                    have waited for the generator (observed late) is above {UNSEEN} and at least {LATE} of the same \
                    figure of service time; or, in an open loop with free connections and at \
                    most {CONNECTING} of the attempts connecting, the same holds for p50 or p95 \
                    of wait and of response time",
        consequence: "LOWER_BOUND: true latencies are no higher than shown, and in a closed loop \
                      true QPS is no lower. INVALID above {MOSTLY_LATE} in an open loop: the \
                      latencies are the generator's",
        advice: "Do less per request (script, extraction, signing), or give the generator more \
                 workers (-t) and cores.",
        brief: "",
        check: observed::late,
    },
    Rule {
        code: ReasonCode::StarvedConnections,
        condition: "any of these: users (connections) had no response in the window or the \
                    drain, although they waited for {LONG} and {TIMES_MEDIAN} times the median \
                    service time or more, and there are more of them than failing attempts \
                    explain; users were left without a response at the end, for {LONG} and \
                    {TIMES_P90} times the p90 of the service time; some, but not all, of \
                    a closed loop's users waited from the same instant to the end of the window, \
                    for {LONG}, {HELD} of the window and {HELD_TIMES} times the p99 of the other \
                    responses, whatever came after it; {MUTE} of the opened \
                    connections never had a response, beyond what failing attempts explain, and \
                    the time-out is {TIMES_P90} times that p90; in a closed loop whose users all \
                    send at the same pace, {UNEVEN_FROM} or more, one tenth of them (of few, one) had \
                    {UNEVEN} times as many responses as another tenth; or, without flows, of many responses \
                    none within {UNEVEN} times the median service time and {SLOWER} of it",
        consequence: "INVALID when {MANY} of the users or more had nothing, or waited to the end \
                      from the same instant, or when connections never had a response: success and percentiles count attempts, and a user \
                      who waits makes few. Else, and where service is only uneven, a note",
        advice: "Look at how the server shares connections among its threads, processes and instances \
                 (backlog, accept, SO_REUSEPORT, one thread per connection). `--slo \
                 'served>=100%'` tests for it.",
        brief: "users were served unevenly: look at accept",
        check: users::starved,
    },
    Rule {
        code: ReasonCode::ResponsesChanged,
        condition: "from some instant to the end, or all along after the warm-up, {SUBSTANTIAL} or more of an \
                    endpoint's successful responses had a status, media type or beginning that did not \
                    occur before, or read as errors where those before do not; or, where one \
                    request is sent again and again, all had another length; or {FASTER_SHARE} or more had the same status, another type or \
                    beginning, and were {FASTER} times faster than the rest; or {SUBSTANTIAL} or \
                    more were of another kind and came in turns, with {FEWER_TURNS} times fewer \
                    changes than in a mix; or {RARE} or more did so again and again; or, where one \
                    request is sent again and again, {NEW} or more had the same status as the rest \
                    and another media type, or no body. Or, from some instant to the end, {NEW} or more were of a kind that would have been met \
                    before had it come as often then; or, of one request whose bodies are of few \
                    different words, {NEW} or more read as errors or ask to log in; or {NEW} or more of an endpoint's responses were redirects \
                    (304 is not one) and the others were not; or {SUBSTANTIAL} or more of the warm-up's were of a kind \
                    that did not come in the window. Bodies of the same length are told apart \
                    by their first words while there are few different ones",
        consequence: "INVALID: the figures mix two different things, one of which may be an \
                      error page with a good status. A note where only one of the last four holds, something \
                      that began to happen, words, redirects or a warm-up; and where different requests to one endpoint had two media types",
        advice: "Look at both responses. State what you expect with --expect-body-like, or with \
                 a check in a workload file, so that other responses count as failures.",
        brief: "unexpected responses may have come: see --details",
        check: responses::changed,
    },
    Rule {
        code: ReasonCode::SurplusResponses,
        condition: "a response came that no request was waiting for, in the run or shortly after its \
                    last response; or other bytes did, on {STRAY} of the connections or more. \
                    Empty lines do not count, nor does a 408 on an idle connection",
        consequence: "INVALID: a response says not to which request it is, so that each may have \
                      been taken for that to a later one; QPS may then be higher than what the \
                      server carries, and latencies lower",
        advice: "Send one request by hand and look at all that comes back (a second response, more \
                 body than Content-Length says); mend that and measure again.",
        brief: "",
        check: responses::surplus,
    },
    Rule {
        code: ReasonCode::PaceNotHeld,
        condition: "users with a pace sent {BEHIND} less than they would have at that pace, and responses took longer than it",
        consequence: "a note: a user sends nothing before its last response has come, so that less was asked of the server than \
                      was meant",
        advice: "Use -R for a rate that does not wait for the server, or more users with a longer --pace.",
        brief: "responses took longer than --pace: -R holds a rate",
        check: users::behind_pace,
    },
    Rule {
        code: ReasonCode::NothingAsked,
        condition: "users of a closed loop thought for as long as the window lasted, or longer, so that none sent \
                    twice in it; or the server had closed all connections, none of which was ever opened again, while \
                    their users thought or kept their pace, and nothing was asked of it to the end of the window, for \
                    {UNASKED_FOR} and {UNASKED} of it or more",
        consequence: "a note: QPS is of how long the window was, and no lower bound either, whatever held the generator \
                      up. INVALID where the server closed all connections: nobody knows whether it was there to the end",
        advice: "Measure for several times as long as users think (-d), so that each of them sends often.",
        brief: "users think longer than it lasted: measure longer (-d)",
        check: idle::nothing_asked,
    },
    Rule {
        code: ReasonCode::UncheckedResponses,
        condition: "responses failed a check because this generator could not look into their bodies: longer than it keeps, \
                    or with a content coding other than gzip and deflate; or nearly all responses end with their connection as they have \
                    no length, and those to one request differ in length",
        consequence: "INVALID from {UNCHECKED} of the responses on, a note below: they count as failures, and nothing is known \
                      of them. A note where lengths differ: one that is cut short counts as a whole one",
        advice: "Ask for less or for another coding (-H 'Accept-Encoding: gzip'), check the status or a header instead, or use \
                 fewer connections where many long bodies come at once.",
        brief: "bodies were not checked: --details says why",
        check: responses::unchecked,
    },
    Rule {
        code: ReasonCode::Redirected,
        condition: "{REDIRECTED} of the responses or more were redirects (304 is not one)",
        consequence: "a note: the redirect was measured, not the page it leads to",
        advice: "Use the address that the redirect leads to, or let --follow find it before the \
                 run.",
        brief: "a redirect was measured: use --follow 3",
        check: responses::redirected,
    },
    Rule {
        code: ReasonCode::KeepaliveRefused,
        condition: "the client asked for keep-alive, and the server closed a connection on more \
                    than {REFUSING} of the responses",
        consequence: "a note: QPS includes connecting, and latencies of a closed loop, or of the later steps of \
                      sessions, do not",
        advice: "Raise the server's limit on requests per connection, or measure with \
                 --no-keepalive on purpose.",
        brief: "the server closed connections: raise its limit",
        check: responses::keepalive_refused,
    },
    Rule {
        code: ReasonCode::BusyNeighbour,
        condition: "in a window of {COUNTED} or more, the host gave {TAKEN} or more of the \
                    generator's processors to other guests; or other processes took {TAKEN} or \
                    more of them while a worker waited for a processor for {WAITED} of the \
                    window or had no time left; or other processes took {FILLED} or more of them \
                    where the server runs on the same processors and they were full",
        consequence: "LOWER_BOUND in a closed loop: the generator was held up. A note in an open \
                      loop, where late sends show it",
        advice: "Stop the other programs, or give the generator its own processors (taskset, \
                 cgroups), and measure again.",
        brief: "other programs took processor time: stop them",
        check: machine::neighbours,
    },
    Rule {
        code: ReasonCode::SharedCores,
        condition: "the server listens on this machine and may run on the generator's processors",
        consequence: "a note that states the cost: server and generator compete for processors, \
                      so each could do more alone",
        advice: "Separate them (give each its own processors with taskset), or measure from \
                 another machine. Compare only with runs made the same way.",
        brief: "the server shares processors: separate them by taskset",
        check: machine::shared_cores,
    },
    Rule {
        code: ReasonCode::Throttled,
        condition: "a quota on processor time (cgroup) kept the generator from running for {SHARE} of the window or more, \
                    unless each time, with that of catching up behind it, was below {SUBSTANTIAL} of the median response time; \
                    or for {SEEN} at a time on average, and that is {SUBSTANTIAL} or more of the longest response",
        consequence: "INVALID from {SUBSTANTIAL} on, or where it reaches p99: latencies are the \
                      generator's. Else LOWER_BOUND: the server carries at least this, and true \
                      latencies are no higher. In either case the server is not at fault: the \
                      exit code is {CODE}",
        advice: "Raise or lift the quota (cpu.max, cpu.cfs_quota_us, a container's CPU limit) and \
                 measure again.",
        brief: "",
        check: pauses::throttled,
    },
    Rule {
        code: ReasonCode::GeneratorPaused,
        condition: "a worker neither ran nor waited for events or a processor, or the whole process did not run though it \
                    had a processor, for {SHARE} of the window or more, unless each time, with that of catching up behind \
                    it, was below {SUBSTANTIAL} of the median response time; or for {SEEN} at a time, also behind the window while its \
                    last responses are awaited, and that is {SUBSTANTIAL} or more of the longest response; or it waited {PAGED} times a second or more for \
                    memory that was read from disk. Either the worker was stopped, its machine was paused, or its memory \
                    did not stay in place",
        consequence: "INVALID from {SUBSTANTIAL} on, or where it reaches p99: latencies are the \
                      generator's. Else LOWER_BOUND: the server carries at least this, and true \
                      latencies are no higher. In either case the server is not at fault: the \
                      exit code is {CODE}",
        advice: "Measure again with enough free memory and without stopping the generator or its \
                 machine.",
        brief: "",
        check: pauses::paused,
    },
    Rule {
        code: ReasonCode::MemoryShort,
        condition: "less than {MEMORY} of the generator machine's memory was available without \
                    swapping",
        consequence: "LOWER_BOUND: a machine that reclaims memory stalls every program on it",
        advice: "Free memory, or lower -c, and measure again.",
        brief: "",
        check: machine::memory,
    },
    Rule {
        code: ReasonCode::ClockJumped,
        condition: "the machine slept inside the window, or someone set its wall clock by \
                    {STEPPED} or more",
        consequence: "INVALID when it slept: the server went on without the generator. A note \
                      when the clock was set: intervals are measured with a clock that cannot be \
                      set, so only dates are wrong",
        advice: "Keep the machine awake; set clocks before measuring, not during it.",
        brief: "",
        check: machine::clock,
    },
    Rule {
        code: ReasonCode::NotSteady,
        condition: "the beginning of the window was worse than its second half by more than the \
                    run's own noise, and than a quarter of it (warm-up inside the window); or nothing came in its first {STALL} or \
                    more, nor before it, and nothing failed (the server was still starting); or QPS or median response time moved by {MOVED} or more \
                    throughout the window (the level never settled); or one of them became worse at some instant and stayed so; or, \
                    in a window of up to some seconds, the p10 of the responses since an instant was {APART} times the p90 of those \
                    before it, or the other way round, of {EACH_SIDE} or more each, or a closed loop's QPS before it {TIMES_FEWER} times that since; or {MISSING} of the load or \
                    more was not there on average because it grew in the window (--ramp); or a \
                    window that ends by count (-n) waited for {WAITED} of its time or more for \
                    the last responses, when {MOST_CAME} had come. Looked at are at least \
                    {FEWEST} seconds or, in a window of {SHORTEST} or more, parts of seconds with \
                    enough responses each",
        consequence: "LOWER_BOUND when the warm-up of a closed loop lowered QPS by {UNDERSTATED} \
                      or more, or nothing came at first: once warm, the server does better. INVALID at a level of a sweep, when \
                      latency became {TURNED} times as long or as short within it for good, or more, or {CHANGED} times \
                      when the first usable level was measured again at the end: levels before and after are of two \
                      servers. Else a note: the figures depend on how long you measured; of a server that became \
                      slower, the advice is to find out why",
        advice: "Exclude warm-up and ramp (--warmup), and measure longer (-d) until the figures settle.",
        brief: "it was not steady: use --warmup, measure longer (-d)",
        check: steady::not_settled,
    },
    Rule {
        code: ReasonCode::Dips,
        condition: "throughput fell or latency rose for a while by far more than the run's own noise; or, under a steady load, \
                    the longest responses of {STALLS} seconds or more were {LONGER} times as long as usual, alike, at even distances; or all users \
                    of a closed loop waited at once for {STALL} of the window in all, each time for {UNSERVED} or more and {STALL_TIMES} times the p99",
        consequence: "a note: a dip is caused by the server, and is a result",
        advice: "Look at the dips or stalls listed, and at what the server did at those times. Means hide them.",
        brief: "the server paused or slowed down: --details says more",
        check: steady::dips,
    },
    Rule {
        code: ReasonCode::SingleSource,
        condition: "every connection came from one local address, and {LIMITED} of the responses \
                    were 429, or the run took {PORTS} of that address's local ports",
        consequence: "a note that states the cost: limits per address see a single client, and \
                      connecting slows down once {PORTS} of the ports are in use",
        advice: "Connect from several addresses (--source), or lift the limit for this address.",
        brief: "it all came from one address: use several (--source)",
        check: way::single_source,
    },
    Rule {
        code: ReasonCode::SingleKey,
        condition: "every request carried the same credential",
        consequence: "a note that states the cost: limits, caches and locks per user see a \
                      single user",
        advice: "Use as many keys as real traffic has, or remember that this is what one user \
                 can do.",
        brief: "one credential: use as many as real traffic has",
        check: way::single_key,
    },
    Rule {
        code: ReasonCode::NearCeiling,
        condition: "QPS reached {NEAR} of the ceiling that `plimsoll calibrate` measured for \
                    this number of workers",
        consequence: "a note: the generator could not have shown much more",
        advice: "Give the generator more workers (-t) and cores, or another machine.",
        brief: "the generator could do little more: more cores (-t)",
        check: machine::near_ceiling,
    },
    Rule {
        code: ReasonCode::WindowTooShort,
        condition: "fewer than {TOO_FEW}. In a closed loop, fewer than {FEWEST} attempts were timed, or no more \
                    than {EACH} for each connection",
        consequence: "a note: the percentile named, and those above it, rest on too few samples. In the last \
                      two cases QPS does, too: it is that of the first and the last requests",
        advice: "Measure longer (-d) before you quote them.",
        brief: "measure longer (-d) before quoting high percentiles",
        check: window::too_short,
    },
    Rule {
        code: ReasonCode::Interrupted,
        condition: "the window ended early",
        consequence: "INVALID when less than {SHORTEST_PART} is there because of an error (a script's, a pool that was used \
                      up, a full disk). Else a note: the figures are those of the part that ran",
        advice: "Let it run to the end before you compare it with others.",
        brief: "let it run to the end before you compare it",
        check: window::interrupted,
    },
];

/// Judges a run by every rule. The verdict is the worst consequence; none makes it `VALID`. Where no user can send twice,
/// QPS is no lower bound: what would make it one is a note.
pub fn judge(run: &Run) -> Validity {
    let mut reasons: Vec<Reason> = RULES.iter().filter_map(|rule| rule.apply(run)).collect();
    let bounds = reasons.iter_mut().filter(|reason| reason.consequence == Verdict::LowerBound);
    if idle::is_one_burst(run) {
        bounds.for_each(|reason| reason.consequence = Verdict::Valid);
    }
    Validity::of(reasons)
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
