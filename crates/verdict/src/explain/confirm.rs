//! The confirming experiment of a finding: what to change in the load, and what two runs, one as it was and one changed,
//! say; what the plans of a database's statements say ([`plans`]); what a profile of the server says ([`profiles`]).
//!
//! Only what changes nothing but the load is carried out. A finding is confirmed or refuted where the figures are far
//! apart; between the two nothing is said: an experiment that decides wrongly is worse than none.

pub mod plans;
pub mod profiles;

use model::finding::{Confirmation, Confirmed};
use model::units::show_duration;
use model::{ReasonCode, Run};

use super::facts::Facts;
use super::generator::sent_less;
use crate::figures::{grouped, percent, rate};
use crate::validity::SENT_AGAIN_NS;

/// The part of its successes that a server must keep under twice the load for what it was at to be its limit still.
const COLLAPSED: f64 = 0.5;

/// What is done to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// The run is made twice, once with a change.
    Change(Change),
    /// The database is asked for the plans of the run's statements.
    Plans,
    /// The server is profiled while the run is made again.
    Profile,
}

impl Experiment {
    /// The experiments that tell about a code, in the order in which they are made until one decides.
    ///
    /// # Errors
    /// In words, why none does that the generator could make.
    pub fn of(code: &str, run: &Run) -> Result<Vec<Self>, &'static str> {
        Ok(match code {
            "db.missing_index" | "db.slow_statement" => vec![Self::Plans],
            "server.gc" | "server.debug_options" => vec![Self::Profile],
            "server.lock" => vec![Self::Profile, Self::Change(Change::DoubleLoad)],
            "server.cpu" => vec![Self::Change(Change::DoubleLoad), Self::Profile],
            code => vec![Self::Change(Change::of(code, run)?)],
        })
    }
}

/// What is changed in the second run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Connections serve more than one request.
    KeepAlive,
    /// A second source address.
    SecondSource,
    /// Half the connections.
    HalfConnections,
    /// Half the load: the rate of an open loop, the connections of a closed one.
    HalfLoad,
    /// Twice the load.
    DoubleLoad,
    /// Twice the worker threads.
    TwiceWorkers,
    /// Connections resume earlier TLS sessions.
    ResumeTls,
    /// Another version of TLS.
    OtherTls,
}

impl Change {
    /// In words: `with half the connections`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::KeepAlive => "with keep-alive",
            Self::SecondSource => "from a second source address too",
            Self::HalfConnections => "with half the connections",
            Self::HalfLoad => "with half the load",
            Self::DoubleLoad => "with twice the load",
            Self::TwiceWorkers => "with twice the workers",
            Self::ResumeTls => "with TLS sessions resumed",
            Self::OtherTls => "with every version of TLS",
        }
    }

    /// The change that tells about a code, for the run it was found in, or why none does.
    fn of(code: &str, run: &Run) -> Result<Self, &'static str> {
        let loopback = run.plan.addresses.iter().all(|address| address.starts_with("127."));
        match code {
            "conn.keepalive_off" if run.plan.keepalive => Err(
                "the server or a proxy closes the connections: keep them open there, and run it again",
            ),
            "conn.keepalive_off" => Ok(Self::KeepAlive),
            "generator.ports" | "test.single_source" if loopback => Ok(Self::SecondSource),
            "generator.ports" | "test.single_source" => {
                Err("which other source addresses this machine has is yours to say: --source A,B")
            }
            "generator.files"
            | "generator.memory"
            | "server.files"
            | "server.accept_queue"
            | "proxy.worker_connections"
            | "db.connections" => Ok(Self::HalfConnections),
            "rate_limited" => Ok(Self::HalfLoad),
            "server.single_thread" | "server.throttled" | "db.cpu" | "network.latency" | "none" => {
                Ok(Self::DoubleLoad)
            }
            "generator.cpu" if run.plan.threads >= run.environment.cpus_allowed => {
                Err("the generator has no more processors to use: run it from another machine")
            }
            "generator.cpu" => Ok(Self::TwiceWorkers),
            "conn.tls_handshake" => Ok(Self::ResumeTls),
            "conn.tls_version" => Ok(Self::OtherTls),
            "unknown" => Err("there is nothing to confirm"),
            _ => Err("the experiment changes the server, which is yours to do"),
        }
    }
}

/// What two runs say of a finding: `before` as the run was made in which it was found, `after` with the change.
/// `still` says whether the rules find it again in `before`.
pub fn judge(code: &str, change: Change, before: &Run, after: &Run, still: bool) -> Confirmation {
    if !still {
        let sentence =
            "Made again, the run does not show it any more: nothing can be said of it now.";
        return Confirmation { outcome: Confirmed::Undecided, sentence: sentence.to_owned() };
    }
    let words = change.words();
    if let Some(gone) = gone(words, before, after) {
        return said((Confirmed::Undecided, gone));
    }
    let judged = match change {
        Change::HalfConnections | Change::SecondSource | Change::OtherTls => {
            less_trouble(code, before, after)
        }
        Change::HalfLoad => fewer_refusals(before, after),
        Change::DoubleLoad => twice(code, before, after),
        Change::KeepAlive | Change::TwiceWorkers => gain(before, after),
        Change::ResumeTls => fewer_handshakes(before, after),
    };
    let (outcome, figures) = judged;
    let figures = format!("{words} {figures}");
    if by_lack_of_gain(code, change, outcome)
        && let Some(doubt) = sent_less(&Facts::of(after)).first()
    {
        let figures =
            format!("{figures}, but there the generator or its machine was the limit: {doubt}");
        return said((Confirmed::Undecided, figures));
    }
    said((outcome, figures))
}

/// A server that was not there, in words: what it did not answer says nothing of what limits it.
fn gone(words: &str, before: &Run, after: &Run) -> Option<String> {
    let stopped = |run: &Run| Facts::of(run).doubts(ReasonCode::ServerGone).map(str::to_owned);
    if let Some(stopped) = stopped(before) {
        return Some(format!("made again as it was, {stopped}"));
    }
    let none = after.totals.requests == 0;
    let silent = none.then(|| "the server answered nothing".to_owned());
    stopped(after).or(silent).map(|why| format!("{words} {why}"))
}

/// Whether an outcome rests on the change having brought nothing, as it does where the generator is the limit.
fn by_lack_of_gain(code: &str, change: Change, outcome: Confirmed) -> bool {
    match change {
        Change::DoubleLoad if follows(code) => outcome == Confirmed::Refuted,
        Change::DoubleLoad => outcome == Confirmed::Confirmed,
        Change::KeepAlive | Change::TwiceWorkers | Change::ResumeTls => {
            outcome == Confirmed::Refuted
        }
        _ => false,
    }
}

/// Whether throughput follows the load where a code applies.
fn follows(code: &str) -> bool {
    ["none", "network.latency"].contains(&code)
}

/// What was judged, in a sentence.
fn said((outcome, figures): Judged) -> Confirmation {
    let word = match outcome {
        Confirmed::Confirmed => "Confirmed",
        Confirmed::Refuted => "Refuted",
        Confirmed::Undecided => "Not decided",
    };
    Confirmation { outcome, sentence: format!("{word}: {figures}.") }
}

type Judged = (Confirmed, String);

/// Successes per second.
fn successes(run: &Run) -> f64 {
    run.totals.succeeded as f64 * 1e9 / run.totals.duration_ns.max(1) as f64
}

/// The share of attempts that failed, and times that a local resource ran out.
fn trouble(run: &Run) -> f64 {
    let failed = run.totals.attempts.saturating_sub(run.totals.succeeded);
    failed as f64 / run.totals.attempts.max(1) as f64
}

/// What failed must fail no more: to a tenth, or to none; where half of it stays or more, the cause is another.
fn less_trouble(code: &str, before: &Run, after: &Run) -> Judged {
    let measure = |run: &Run| match code {
        "generator.ports" | "generator.files" | "generator.memory" => {
            run.totals.limits.values().sum::<u64>() as f64 / run.totals.attempts.max(1) as f64
        }
        "server.accept_queue" => {
            trouble(run).max(if run.connect_ns.max >= SENT_AGAIN_NS { 1.0 } else { 0.0 })
        }
        _ => trouble(run),
    };
    let (was, is) = (measure(before), measure(after));
    let what = match code {
        "generator.ports" | "generator.files" | "generator.memory" => {
            "the attempts refused by the kernel"
        }
        "server.accept_queue" => "the attempts in trouble (failed, or a second to open)",
        _ => "the attempts that failed",
    };
    let figures = format!("{what} went from {} to {}", percent(was), percent(is));
    let outcome = match () {
        () if was <= 0.0 => Confirmed::Undecided,
        () if is <= 0.1 * was => Confirmed::Confirmed,
        () if is >= 0.8 * was => Confirmed::Refuted,
        () => Confirmed::Undecided,
    };
    (outcome, figures)
}

/// Under a limit as much succeeds of half the load as of all of it, or nothing is refused any more; what fails by chance
/// fails as often as before.
fn fewer_refusals(before: &Run, after: &Run) -> Judged {
    let refused = |run: &Run| {
        let of = |status| run.totals.statuses.get(&status).copied().unwrap_or(0);
        (of(429) + of(503)) as f64 / run.totals.requests.max(1) as f64
    };
    let (was, is) = (refused(before), refused(after));
    let kept = successes(after) / successes(before).max(f64::MIN_POSITIVE);
    let figures = format!(
        "the refusals went from {} to {}, the successes from {} to {} a second",
        percent(was),
        percent(is),
        rate(successes(before)),
        rate(successes(after))
    );
    let outcome = match () {
        () if was <= 0.0 => Confirmed::Undecided,
        () if is <= 0.01 || is < was && kept >= 0.8 => Confirmed::Confirmed,
        () if is >= 0.9 * was && kept <= 0.65 => Confirmed::Refuted,
        () => Confirmed::Undecided,
    };
    (outcome, figures)
}

/// Where something is used up, twice the load brings nothing but longer times; where nothing is, or distance is the
/// limit, it brings more.
fn twice(code: &str, before: &Run, after: &Run) -> Judged {
    let gained = successes(after) / successes(before).max(f64::MIN_POSITIVE);
    let slower = after.response_ns.mean as f64 / before.response_ns.mean.max(1) as f64;
    let figures = format!(
        "{} succeed a second instead of {}, in {} instead of {} on average",
        rate(successes(after)),
        rate(successes(before)),
        show_duration(after.response_ns.mean),
        show_duration(before.response_ns.mean)
    );
    let outcome = match (follows(code), gained) {
        (true, gained) if gained >= 1.5 => Confirmed::Confirmed,
        (true, gained) if gained <= 1.1 && slower >= 1.5 => Confirmed::Refuted,
        (false, gained) if gained >= 1.4 => Confirmed::Refuted,
        // Where hardly any succeed, something broke that the load before did not show.
        (false, gained) if (COLLAPSED..=1.1).contains(&gained) => {
            match slower >= 1.5 || trouble(after) > trouble(before) {
                true => Confirmed::Confirmed,
                false => Confirmed::Undecided,
            }
        }
        _ => Confirmed::Undecided,
    };
    (outcome, figures)
}

/// What was in the way costs no more: more succeed, or at a fixed rate responses are quicker.
fn gain(before: &Run, after: &Run) -> Judged {
    let times = match before.plan.rate_per_s {
        Some(_) => before.response_ns.mean as f64 / after.response_ns.mean.max(1) as f64,
        None => successes(after) / successes(before).max(f64::MIN_POSITIVE),
    };
    let connects = |run: &Run| run.totals.connects as f64 / run.totals.requests.max(1) as f64;
    let figures = format!(
        "{} succeed a second instead of {}, in {} instead of {} on average, with {} connections for a response \
         instead of {}",
        rate(successes(after)),
        rate(successes(before)),
        show_duration(after.response_ns.mean),
        show_duration(before.response_ns.mean),
        grouped(connects(after), 2),
        grouped(connects(before), 2)
    );
    let outcome = match times {
        times if times >= 1.2 => Confirmed::Confirmed,
        times if times <= 1.05 => Confirmed::Refuted,
        _ => Confirmed::Undecided,
    };
    (outcome, figures)
}

/// Resumed sessions save the signature; where the server resumes none, nothing is learnt.
fn fewer_handshakes(before: &Run, after: &Run) -> Judged {
    let full = |run: &Run| {
        let full = run.tls_ns.count.saturating_sub(run.totals.tls_resumed.unwrap_or(0));
        full as f64 / run.totals.requests.max(1) as f64
    };
    if full(after) > 0.5 * full(before) {
        let figures = "the server resumes too few sessions to tell".to_owned();
        return (Confirmed::Undecided, figures);
    }
    gain(before, after)
}

#[cfg(test)]
mod tests {
    use model::units::MILLISECOND;
    use model::{Reason, Validity, Verdict};

    use super::*;

    /// The sound run with this many successes of its 10,000 attempts, and this mean.
    fn run(succeeded: u64, mean_ms: u64) -> Run {
        let mut run = fixture::sound::closed();
        run.totals.succeeded = succeeded;
        run.response_ns.mean = mean_ms * MILLISECOND;
        run
    }

    #[test]
    fn figures_that_are_far_apart_decide() {
        use Confirmed::{Confirmed as Yes, Refuted as No, Undecided as Open};
        let (as_much, half, twice) = (10_000, 5_000, 20_000);
        for (code, change, before, after, wanted) in [
            ("server.cpu", Change::DoubleLoad, run(as_much, 2), run(10_300, 4), Yes),
            ("server.cpu", Change::DoubleLoad, run(as_much, 2), run(19_000, 2), No),
            ("server.cpu", Change::DoubleLoad, run(as_much, 2), run(12_500, 3), Open),
            ("server.cpu", Change::DoubleLoad, run(as_much, 2), run(as_much, 2), Open),
            ("server.cpu", Change::DoubleLoad, run(as_much, 2), run(1_000, 40), Open),
            ("network.latency", Change::DoubleLoad, run(as_much, 2), run(twice, 2), Yes),
            ("none", Change::DoubleLoad, run(as_much, 2), run(as_much, 4), No),
            ("conn.keepalive_off", Change::KeepAlive, run(half, 4), run(as_much, 2), Yes),
            ("conn.keepalive_off", Change::KeepAlive, run(half, 4), run(half, 4), No),
            ("server.files", Change::HalfConnections, run(8_000, 2), run(as_much, 2), Yes),
            ("server.files", Change::HalfConnections, run(8_000, 2), run(8_100, 2), No),
            ("server.files", Change::HalfConnections, run(8_000, 2), run(9_000, 2), Open),
            ("server.files", Change::HalfConnections, run(as_much, 2), run(as_much, 2), Open),
        ] {
            let judged = judge(code, change, &before, &after, true);
            assert_eq!(judged.outcome, wanted, "{code}: {judged:?}");
            assert_eq!(judge(code, change, &before, &after, false).outcome, Open);
        }
    }

    fn doubtful(mut run: Run, code: ReasonCode, text: &str) -> Run {
        run.validity = Validity::of(vec![Reason {
            code,
            consequence: Verdict::Invalid,
            text: text.to_owned(),
        }]);
        run
    }

    #[test]
    fn a_server_that_is_gone_decides_nothing() {
        let mut dead = run(0, 0);
        (dead.totals.requests, dead.totals.attempts) = (0, 10_000);
        let half = doubtful(run(5_000, 4), ReasonCode::ServerGone, "the server went away. Look.");
        for (code, change, after) in [
            ("server.cpu", Change::DoubleLoad, &dead),
            ("none", Change::DoubleLoad, &dead),
            ("conn.keepalive_off", Change::KeepAlive, &dead),
            ("server.files", Change::HalfConnections, &dead),
            ("server.cpu", Change::DoubleLoad, &half),
        ] {
            let mut before = run(8_000, 2);
            before.totals.limits.insert("EMFILE".to_owned(), 9);
            let judged = judge(code, change, &before, after, true);
            assert_eq!(judged.outcome, Confirmed::Undecided, "{code}: {judged:?}");
        }
        let judged = judge("server.cpu", Change::DoubleLoad, &half, &run(5_000, 4), true);
        assert!(judged.sentence.contains("as it was, the server went away"), "{judged:?}");
    }

    #[test]
    fn what_a_generator_at_its_limit_did_not_gain_decides_nothing() {
        use Confirmed::{Confirmed as Yes, Refuted as No, Undecided as Open};
        let limited = |succeeded, mean_ms| {
            let text = "the workers were busy. Use more.";
            doubtful(run(succeeded, mean_ms), ReasonCode::WorkersSaturated, text)
        };
        for (code, change, after, wanted) in [
            ("server.cpu", Change::DoubleLoad, limited(10_300, 4), Open),
            ("server.cpu", Change::DoubleLoad, limited(19_000, 2), No),
            ("none", Change::DoubleLoad, limited(10_000, 4), Open),
            ("none", Change::DoubleLoad, limited(20_000, 2), Yes),
            ("conn.keepalive_off", Change::KeepAlive, limited(10_000, 2), Open),
            ("conn.keepalive_off", Change::KeepAlive, limited(20_000, 2), Yes),
        ] {
            let judged = judge(code, change, &run(10_000, 2), &after, true);
            assert_eq!(judged.outcome, wanted, "{code}: {judged:?}");
        }
    }

    #[test]
    fn refusals_of_a_limit_go_with_the_load_and_others_stay() {
        let refusing = |refused: u64, succeeded: u64| {
            let mut run = run(succeeded, 2);
            run.totals.statuses = [(200, succeeded), (429, refused)].into();
            run.totals.requests = refused + succeeded;
            run
        };
        let before = refusing(8_000, 2_000);
        for (after, wanted) in [
            (refusing(3_000, 2_000), Confirmed::Confirmed),
            (refusing(0, 1_500), Confirmed::Confirmed),
            (refusing(4_000, 1_000), Confirmed::Refuted),
        ] {
            let judged = judge("rate_limited", Change::HalfLoad, &before, &after, true);
            assert_eq!(judged.outcome, wanted, "{judged:?}");
        }
    }

    #[test]
    fn only_what_the_generator_can_change_is_changed() {
        let mut run = fixture::sound::closed();
        run.plan.keepalive = false;
        run.environment.cpus_allowed = 8;
        let one = |change| Ok(vec![Experiment::Change(change)]);
        assert_eq!(Experiment::of("conn.keepalive_off", &run), one(Change::KeepAlive));
        assert_eq!(Experiment::of("generator.cpu", &run), one(Change::TwiceWorkers));
        run.plan.keepalive = true;
        run.environment.cpus_allowed = 1;
        for code in ["conn.keepalive_off", "generator.cpu", "server.disk", "unknown"] {
            assert!(Experiment::of(code, &run).is_err(), "{code}");
        }
        assert_eq!(Experiment::of("db.missing_index", &run), Ok(vec![Experiment::Plans]));
    }
}
