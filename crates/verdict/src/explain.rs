//! What limits a run? One table of rules, [`RULES`]: each looks at the run and at what was watched beside it, and finds
//! its cause, finds it absent, or says what it lacks. The table is also the documentation ([`as_markdown`]).
//!
//! While the generator was the limit no rule accuses anything behind it. Where nothing was found, `none` says that
//! nothing was at its limit, or `unknown` what to watch to know more.

pub mod confirm;
mod connections;
mod contention;
mod database;
mod dependency;
mod dips;
mod facts;
mod generator;
mod held_up;
mod network;
mod nothing;
mod profile;
mod proxy;
mod rules;
mod server;
mod statement;
mod workers;
mod written;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::finding::{Abstained, Confidence, Confirmed, SCHEMA};
use model::profiled::Profiled;
use model::{Finding, Findings, Run};

pub use facts::{Facts, busy, neighbours};
pub use rules::RULES;

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The code of what it finds: `server.cpu`.
    pub code: &'static str,
    /// What one sees of it from outside.
    pub symptom: &'static str,
    /// Why it limits.
    pub mechanism: &'static str,
    /// When it is found, with the thresholds and why they are such.
    pub evidence: &'static str,
    /// What to type, and what that risks.
    pub fix: &'static str,
    /// What would confirm or refute it.
    pub experiment: &'static str,
    check: fn(&Facts<'_>) -> Outcome,
}

/// What a rule says of a run.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    /// It is there, perhaps at several places.
    Found(Vec<Cause>),
    /// It is not there.
    Absent,
    /// The figures do not tell; what is missing, and how to give it.
    Lacking(String),
}

/// A cause that a rule found.
#[derive(Debug, Clone, PartialEq)]
struct Cause {
    confidence: Confidence,
    /// How much of the load it concerns, 0..=1; orders causes of one confidence.
    weight: f64,
    place: String,
    /// A table or a statement, where it is about one.
    subject: Option<String>,
    sentence: String,
    evidence_for: Vec<String>,
    evidence_against: Vec<String>,
    /// What to do here, where more is known than the rule says.
    fix: Option<String>,
}

/// Causes that were counted at their place, of which the weights are no part.
impl Cause {
    fn new(confidence: Confidence, place: &str, sentence: String) -> Self {
        Self {
            confidence,
            weight: 0.5,
            place: place.to_owned(),
            subject: None,
            sentence,
            evidence_for: Vec::new(),
            evidence_against: Vec::new(),
            fix: None,
        }
    }

    fn weighing(mut self, weight: f64) -> Self {
        self.weight = weight.clamp(0.0, 1.0);
        self
    }

    fn about(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    fn with(mut self, evidence: impl Into<String>) -> Self {
        self.evidence_for.push(evidence.into());
        self
    }

    fn fixed_by(mut self, fix: String) -> Self {
        self.fix = Some(fix);
        self
    }

    fn against(mut self, evidence: Option<String>) -> Self {
        self.evidence_against.extend(evidence);
        self
    }
}

impl Outcome {
    fn one(cause: Option<Cause>) -> Self {
        Self::of(cause.into_iter().collect())
    }

    fn of(causes: Vec<Cause>) -> Self {
        if causes.is_empty() { Self::Absent } else { Self::Found(causes) }
    }
}

/// Why rules about what is behind the generator are silent while it was the limit.
const GENERATOR_FIRST: &str = "the generator or its machine was the limit of this run, so that nothing can be said of what is behind it";

/// The name of the source that reads who listens at the target's address.
const THE_TARGETS: &str = "server";

/// Rules about what kept a rate from being higher: they suppose that there is one.
const OF_A_RATE: [&str; 3] = ["generator.cpu", "network.latency", "server.too_few_workers"];

/// Explains a run by the rules.
pub fn explain(run: &Run) -> Findings {
    explain_with(run, None)
}

/// As [`explain`], with what a profile of the server showed that was taken in the run's window.
pub fn explain_with(run: &Run, profiled: Option<&Profiled>) -> Findings {
    by_rules(&Facts::of(run).with_profile(profiled))
}

/// As [`explain`], of a step of a search for capacity: that missed these objectives, each given in words, beside those that
/// it was judged by. `onward` says what to do where nothing was at its limit.
pub fn explain_step(run: &Run, missed: &[String], onward: &str) -> Findings {
    by_rules(&Facts::of(run).of_step(missed, onward))
}

fn by_rules(facts: &Facts<'_>) -> Findings {
    let run = facts.run;
    let mut found: Vec<(usize, Cause)> = Vec::new();
    let mut abstained = Vec::new();
    let mut abstain = |rule: &Rule, missing: String| {
        abstained.push(Abstained { code: rule.code.to_owned(), missing });
    };
    let mut generator_is_the_limit = false;
    for (nth, rule) in RULES.iter().enumerate() {
        let own = rule.code.starts_with("generator.");
        if generator_is_the_limit && !own && accuses(rule.code) {
            abstain(rule, GENERATOR_FIRST.to_owned());
            continue;
        }
        if run.totals.requests == 0 && OF_A_RATE.contains(&rule.code) {
            abstain(rule, "no response arrived".to_owned());
            continue;
        }
        match (rule.check)(facts) {
            Outcome::Found(causes) => {
                generator_is_the_limit |= own;
                found.extend(causes.into_iter().map(|cause| (nth, cause)));
            }
            Outcome::Absent => {}
            Outcome::Lacking(missing) => abstain(rule, missing),
        }
    }
    found.retain_mut(|(nth, cause)| is_of_this_load(facts, RULES[*nth].code, cause));
    drop_what_others_explain(facts, &mut found);
    // What was counted comes before what was inferred; of the same kind, what concerns more of the load.
    found.sort_by(|(a, one), (b, other)| {
        let by_weight = other.weight.total_cmp(&one.weight);
        other.confidence.cmp(&one.confidence).then(by_weight).then(a.cmp(b))
    });
    reasons_first(facts, &mut found);
    // A server that is watched twice, by itself and by a name, is one.
    let mut seen = BTreeSet::new();
    found.retain(|(nth, cause)| {
        seen.insert((*nth, cause.sentence.clone(), cause.evidence_for.clone()))
    });
    let mut findings: Vec<Finding> =
        found.into_iter().map(|(nth, cause)| finding(&RULES[nth], cause)).collect();
    if findings.iter().all(limits_nothing) {
        findings.insert(0, nothing::finding(facts));
    }
    rank(&mut findings);
    Findings {
        schema: SCHEMA.to_owned(),
        plimsoll: run.plimsoll.clone(),
        started_at: run.started_at.clone(),
        findings,
        dips: dips::changes(run),
        abstained,
    }
}

/// Whether a finding is worth knowing, and does not say what limits the run.
fn limits_nothing(finding: &Finding) -> bool {
    let full = finding.code == "db.connections" && finding.confidence == Confidence::Low;
    finding.code == "test.single_source" || full
}

fn rank(findings: &mut [Finding]) {
    for (rank, finding) in (1..).zip(findings) {
        finding.rank = rank;
    }
}

/// Puts findings last that an experiment refuted; that nothing is at its limit becomes `unknown` then.
pub fn reconsider(run: &Run, findings: &mut Findings) {
    let refuted = |finding: &Finding| {
        finding.confirmed.as_ref().is_some_and(|said| said.outcome == Confirmed::Refuted)
    };
    for finding in &mut findings.findings {
        if finding.code == "none" && refuted(finding) {
            *finding = nothing::refuted(&Facts::of(run), finding);
        }
    }
    findings.findings.sort_by_key(refuted);
    rank(&mut findings.findings);
}

/// Whether a code names something behind the generator as the limit.
fn accuses(code: &str) -> bool {
    let kinds = ["server.", "proxy.", "network.", "db.", "dependency."];
    kinds.iter().any(|kind| code.starts_with(kind)) || code == "rate_limited"
}

/// Calls of a database for each request below which the load does not use it, and below which that is not sure.
const CALLS: (f64, f64) = (0.05, 0.5);

/// Whether what was found in a database may be of this load: others may use it. In doubt it is less sure, and says why.
fn is_of_this_load(facts: &Facts<'_>, code: &str, cause: &mut Cause) -> bool {
    let mut databases = facts.databases().filter(|source| source.name == cause.place);
    let about = code.starts_with("db.") || code == "dependency.slow";
    let calls = databases.next().filter(|_| about).and_then(|db| facts.calls_per_request(db));
    let Some(calls) = calls.filter(|calls| *calls < CALLS.1) else { return true };
    cause.confidence = cause.confidence.min(Confidence::Medium);
    cause.evidence_against.push(format!(
        "the database was called {calls:.2} times for each request: others may be at work there"
    ));
    calls >= CALLS.0
}

/// The run of `facts` asked for connections that are kept: a proxy without room closes those of others to make some.
fn closed_for_room(facts: &Facts<'_>, codes: &[&str]) -> bool {
    facts.run.plan.keepalive && codes.contains(&"proxy.worker_connections")
}

/// A quota explains that the processor is used up, and that the server stands still; a full queue explains the
/// retransmits of those who wait to get in; a table that is read from end to end explains that its database is busy.
fn drop_what_others_explain(facts: &Facts<'_>, found: &mut Vec<(usize, Cause)>) {
    const WAITS: &str = "server.too_few_workers";
    const IN_DATABASE: &[&str] = &[
        "db.cpu",
        "db.slow_statement",
        "db.connections",
        "dependency.slow",
        "server.disk",
        WAITS,
        LOCK,
    ];
    const LOCK: &str = "server.lock";
    const MANY: &str = "server.too_many_workers";
    const EXPLAINS: [(&str, &[&str]); 16] = [
        ("proxy.access_log", &["server.stall", WAITS, LOCK]),
        ("server.debug_options", &["server.stall", WAITS]),
        ("proxy.worker_connections", &[WAITS, LOCK]),
        ("network.loss", &["server.stall"]),
        (
            "server.throttled",
            &["server.cpu", "server.single_thread", "server.stall", WAITS, LOCK, MANY],
        ),
        ("server.single_thread", &["server.cpu", WAITS, LOCK]),
        ("server.accept_queue", &["network.loss", WAITS, LOCK]),
        (WAITS, &[LOCK]),
        ("server.files", &[WAITS, LOCK]),
        ("dependency.slow", &[WAITS, LOCK]),
        ("server.memory", &["server.stall", "server.disk"]),
        ("db.missing_index", IN_DATABASE),
        ("db.locks", &["db.slow_statement", "db.connections", "dependency.slow", WAITS, LOCK]),
        ("db.slow_statement", &["db.connections", "dependency.slow", WAITS, LOCK]),
        ("db.cpu", &["dependency.slow", WAITS, LOCK]),
        ("db.connections", &["dependency.slow", WAITS, LOCK]),
    ];
    let codes: Vec<&str> = found.iter().map(|(nth, _)| RULES[*nth].code).collect();
    let no_room = closed_for_room(facts, &codes).then_some("conn.keepalive_off");
    let places: Vec<(&str, String)> =
        found.iter().map(|(nth, cause)| (RULES[*nth].code, cause.place.clone())).collect();
    let is_explained = |effect: &str, place: &str| {
        let explains = |(cause, at): &(&str, String)| {
            let effects =
                EXPLAINS.iter().find(|(code, _)| code == cause).map(|(_, effects)| *effects);
            effects.is_some_and(|effects| effects.contains(&effect))
                // Losses are of the way there, whoever drops what comes.
                && (!OF_ONE.contains(cause) || effect == "network.loss" || is_one_server(at, place))
        };
        no_room == Some(effect) || places.iter().any(explains)
    };
    // Connections that were refused are counted, and not a consequence alone.
    let counted = |code: &str, cause: &Cause| {
        let refused = code == "db.connections" && cause.confidence == Confidence::High;
        refused && !codes.contains(&"db.locks")
    };
    found.retain(|(nth, cause)| {
        let code = RULES[*nth].code;
        counted(code, cause) || !is_explained(code, &cause.place)
    });
}

/// Codes that are about one server's processes, its listener or its machine's memory, and explain nothing of another's.
const OF_ONE: [&str; 7] = [
    "server.throttled",
    "server.single_thread",
    "server.memory",
    "server.files",
    "server.accept_queue",
    "proxy.access_log",
    "proxy.worker_connections",
];

/// Whether two places may be one server: what listens at the target's address may be watched by another name too.
fn is_one_server(one: &str, other: &str) -> bool {
    one == other || [one, other].contains(&THE_TARGETS)
}

/// Codes whose cause is the reason for others, which are true all the same: what keeps a processor or workers busy, and is
/// cheaper to mend, comes before those that are busy.
const REASONS: [(&str, &[&str]); 6] = [
    ("conn.tls_handshake", PROCESSOR),
    ("proxy.upstream_keepalive", PROCESSOR),
    ("proxy.access_log", PROCESSOR),
    ("server.debug_options", PROCESSOR),
    ("server.gc", PROCESSOR),
    ("server.too_many_workers", PROCESSOR),
];
const PROCESSOR: &[&str] = &["server.cpu", "server.single_thread", "server.too_few_workers"];

/// Puts reasons before what they are the reason for.
fn reasons_first(facts: &Facts<'_>, found: &mut Vec<(usize, Cause)>) {
    for (reason, effects) in REASONS {
        // What is only suspected explains nothing else.
        let is_reason = |(nth, cause): &(usize, Cause)| {
            RULES[*nth].code == reason && cause.confidence > Confidence::Low
        };
        let Some(at) = found.iter().position(is_reason) else { continue };
        let of_proxy = reason == "proxy.upstream_keepalive";
        // A proxy's handshakes keep itself busy: whoever listens at the target's address.
        let own = |cause: &Cause| !of_proxy || cause.place == THE_TARGETS;
        let place = found[at].1.place.clone();
        // And it waits for them, before its upstream has heard of a request.
        let waits = |code: &str, cause: &Cause| {
            of_proxy
                && code == "dependency.slow"
                && is_one_server(&cause.place, &place)
                && proxy::waits_to_open(facts)
        };
        let effect = |(nth, cause): &(usize, Cause)| {
            let code = RULES[*nth].code;
            effects.contains(&code) && own(cause) || waits(code, cause)
        };
        if let Some(first) = found.iter().position(effect).filter(|first| *first < at) {
            let reason = found.remove(at);
            found.insert(first, reason);
        }
    }
}

fn finding(rule: &Rule, cause: Cause) -> Finding {
    let Cause { confidence, place, subject, sentence, evidence_for, evidence_against, .. } = cause;
    Finding {
        code: rule.code.to_owned(),
        rank: 0,
        confidence,
        place,
        subject,
        sentence,
        evidence_for,
        evidence_against,
        fix: cause.fix.unwrap_or_else(|| rule.fix.to_owned()),
        experiment: rule.experiment.to_owned(),
        confirmed: None,
    }
}

/// The table as a page.
pub fn as_markdown() -> String {
    let mut page = String::from(
        "# What limits a run\n\nMade by `cargo xtask docs` from the table of rules; do not edit.\n\n\
         `plimsoll explain` names causes by these codes. A rule whose figures are missing says so and finds \
         nothing. While a `generator.` code is found, rules about what is behind the generator stay silent.\n",
    );
    let _ = writeln!(page, "\n## none\n\n{}", nothing::NONE);
    let _ = writeln!(page, "\n## unknown\n\n{}", nothing::UNKNOWN);
    for rule in RULES {
        let Rule { code, symptom, mechanism, evidence, fix, experiment, .. } = rule;
        let _ = writeln!(
            page,
            "\n## {code}\n\n- Symptom: {symptom}.\n- Mechanism: {mechanism}.\n- Found when: {evidence}.\n\
             - Fix: {fix}\n- Experiment: {experiment}"
        );
    }
    page
}

#[cfg(test)]
mod tests;
