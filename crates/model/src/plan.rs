//! A workload resolved: everything a run does, with nothing left to default. The bytes to send are
//! not here (they may hold secrets); their description is, with secrets masked.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schedule::{Arrivals, Schedule, Shape, Stages};
use crate::success::StatusRanges;
use crate::units::Nanos;
use crate::workload::Stage;

/// What `--expect-body-like` says for bodies like the first response's.
pub const EXPECT_FIRST: &str = "FIRST";
/// Lanes of a schedule, unless set otherwise.
pub const DEFAULT_LANES: u32 = 4096;

/// Arrivals, lanes and rates of schedules whose end is worked out for results: as many as a command takes, and more.
const MOST_DRAWN: (u64, u32) = (50_000_000, 1 << 16);
const RATES: std::ops::RangeInclusive<f64> = 1e-6..=1e9;

/// Everything about one run that shapes its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The URL asked for.
    pub url: String,
    /// The HTTP method.
    pub method: String,
    /// Header fields added by the user, secrets masked.
    pub headers: Vec<(String, String)>,
    /// Length of the request body in bytes.
    pub body_bytes: u64,
    /// Connections: users in a closed loop, the cap in an open loop.
    pub connections: u32,
    /// Worker threads.
    pub threads: u32,
    /// Arrivals wanted per second; absent in a closed loop.
    pub rate_per_s: Option<f64>,
    /// How arrivals are spaced; absent in a closed loop.
    pub arrivals: Option<Arrivals>,
    /// Independent parts the schedule is made of.
    pub lanes: u32,
    /// Seed of every draw.
    pub seed: u64,
    /// The measured window; absent when the run ends by `requests` alone.
    pub duration_ns: Option<Nanos>,
    /// Requests to send in the measured window at most.
    pub requests: Option<u64>,
    /// Time before the measured window, sent but not counted.
    pub warmup_ns: Nanos,
    /// Over this time the load grows linearly from 0.
    pub ramp_ns: Nanos,
    /// Time-out of an attempt.
    pub timeout_ns: Nanos,
    /// Fixed interval between the sends of one closed-loop user.
    pub pace_ns: Option<Nanos>,
    /// Wait of a closed-loop user after a response.
    pub think_ns: Option<Nanos>,
    /// Whether connections serve more than one request.
    pub keepalive: bool,
    /// Whether each user keeps the cookies that responses set. Users of flows always do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// Requests sent on one connection before a response is awaited.
    pub pipeline: u32,
    /// Unanswered requests at most, over all workers.
    pub max_inflight: u32,
    /// The kernel interface in use.
    pub io: Io,
    /// Workers use their cores fully instead of sleeping, to send exactly on time.
    pub spin: bool,
    /// What an arrival waits at most for others to be taken up with it; 0: each on its own.
    pub granularity_ns: Nanos,
    /// Addresses connected to, used in turn; a Unix socket is `unix:` and its path.
    pub addresses: Vec<String>,
    /// Local addresses connected from, used in turn; empty: the kernel's choice.
    pub sources: Vec<String>,
    /// TLS settings; absent for plain HTTP.
    pub tls: Option<TlsPlan>,
    /// Statuses that count as success.
    pub success: StatusRanges,
    /// What bodies must be like: `FIRST`, a text, or a regular expression between slashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_body: Option<String>,
    /// What is sent where that is more than one request; empty for a plain URL.
    #[serde(default, skip_serializing_if = "Mix::is_empty")]
    pub mix: Mix,
    /// The profile of the load; empty where it is steady. In an open loop `rate_per_s` is its mean; in a
    /// closed one `connections` is its peak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// The recorded trace that the arrivals follow; absent where they follow a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

/// A recorded trace of arrivals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// Arrivals in it.
    pub arrivals: u64,
    /// When they are due, nanoseconds since the run's start, ascending. Results do not hold it: there may be millions.
    #[serde(skip)]
    pub dues: Arc<[Nanos]>,
}

impl From<Arc<[Nanos]>> for Recorded {
    fn from(dues: Arc<[Nanos]>) -> Self {
        Self { arrivals: dues.len() as u64, dues }
    }
}

impl Plan {
    /// The kind of loop, with what is its own.
    pub fn load(&self) -> Load {
        match self.rate_per_s {
            Some(rate_per_s) => Load::Open(self.schedule(rate_per_s)),
            None => Load::Closed { pace_ns: self.pace_ns, think_ns: self.think_ns },
        }
    }

    fn schedule(&self, rate_per_s: f64) -> Schedule {
        let schedule = Schedule {
            rate_per_s,
            arrivals: self.arrivals.unwrap_or_default(),
            lanes: self.lanes,
            seed: self.seed,
            ramp_ns: self.ramp_ns,
            end_ns: Nanos::MAX,
            shape: self.shape(),
        };
        let by_time = self.duration_ns.map_or(Nanos::MAX, |d| self.warmup_ns.saturating_add(d));
        let by_count = self.requests.map_or(Nanos::MAX, |n| schedule.end_after(self.warmup_ns, n));
        Schedule { end_ns: by_time.min(by_count), ..schedule }
    }

    /// Of an open loop of single requests that ends by count: the instant before which all of them are due. Absent in other
    /// loads: their window ends with the last arrival, or later requests are due when they are sent. No count ends a trace.
    pub fn all_due_ns(&self) -> Option<Nanos> {
        let known = self.mix.flows.is_empty() && self.recorded.is_none();
        // A plan from elsewhere may claim anything, and each of its arrivals may have to be drawn.
        let drawn = self.requests.is_some_and(|requests| requests <= MOST_DRAWN.0)
            && self.lanes <= MOST_DRAWN.1;
        let rate_per_s = self.rate_per_s.filter(|rate| known && drawn && RATES.contains(rate))?;
        let end_ns = self.schedule(rate_per_s).end_ns;
        let by_time = self.duration_ns.map_or(Nanos::MAX, |d| self.warmup_ns.saturating_add(d));
        (end_ns < by_time).then_some(end_ns)
    }

    /// What the arrivals follow instead of a steady rate.
    fn shape(&self) -> Option<Shape> {
        if let Some(recorded) = &self.recorded {
            return Some(Shape::Recorded(Arc::clone(&recorded.dues)));
        }
        Stages::new(&self.stages).ok().map(|stages| Shape::Stages(Arc::new(stages)))
    }

    /// In what another plan differs beyond its level: what runs must have in common to be points of one curve.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let same = [
            ("method", self.method == other.method),
            ("header fields", self.headers == other.headers),
            ("body", self.body_bytes == other.body_bytes),
            ("arrivals", self.arrivals == other.arrivals),
            ("connections", self.rate_per_s.is_none() || self.connections == other.connections),
            ("duration", self.duration_ns == other.duration_ns),
            ("warm-up", self.warmup_ns == other.warmup_ns),
            ("ramp", self.ramp_ns == other.ramp_ns),
            ("time-out", self.timeout_ns == other.timeout_ns),
            ("pace", self.pace_ns == other.pace_ns),
            ("think time", self.think_ns == other.think_ns),
            ("keep-alive", self.keepalive == other.keepalive),
            ("choice of --cookies", self.cookies == other.cookies),
            ("pipeline", self.pipeline == other.pipeline),
            ("cap on requests in flight", self.may_share_cap(other)),
            ("TLS", self.tls == other.tls),
            ("statuses of success", self.success == other.success),
            ("body expected", self.expect_body == other.expect_body),
            ("mix of endpoints", self.shares() == other.shares()),
        ];
        same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
    }

    /// Whether the cap on requests in flight may be the same: where it is below what connections hold, it is seen.
    fn may_share_cap(&self, other: &Self) -> bool {
        let held = |plan: &Self| plan.connections.saturating_mul(plan.pipeline);
        let seen = |plan: &Self| (plan.max_inflight < held(plan)).then_some(plan.max_inflight);
        match (seen(self), seen(other)) {
            (None, None) => true,
            (Some(one), Some(two)) => one == two,
            (Some(cap), None) => held(other) <= cap,
            (None, Some(cap)) => held(self) <= cap,
        }
    }

    /// The endpoints' names and shares of all requests. Their numbers of users differ from level to level.
    fn shares(&self) -> Vec<(&str, Option<f64>)> {
        self.mix.endpoints.iter().map(|endpoint| (&*endpoint.name, endpoint.share)).collect()
    }

    /// Whether responses must be like the first one of their endpoint.
    pub fn expects_first(&self) -> bool {
        self.expect_body.as_deref() == Some(EXPECT_FIRST)
    }

    /// Requests that can be unanswered at once: the most that Little's law allows.
    pub fn inflight_cap(&self) -> u32 {
        self.connections.saturating_mul(self.pipeline).min(self.max_inflight)
    }
}

/// What sets the pace of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// Every user sends the next request after the last response.
    Closed {
        /// See [`Plan::pace_ns`].
        pace_ns: Option<Nanos>,
        /// See [`Plan::think_ns`].
        think_ns: Option<Nanos>,
    },
    /// Users arrive on a schedule whatever the server does.
    Open(Schedule),
}

/// The kernel interface that a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    /// io_uring.
    Uring,
    /// epoll.
    Epoll,
    /// The simulation of the tests.
    Simulation,
}

impl Io {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uring => "uring",
            Self::Epoll => "epoll",
            Self::Simulation => "simulation",
        }
    }
}

/// The endpoints and flows that a load is made of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mix {
    /// Every kind of request, the steps of flows among them.
    pub endpoints: Vec<EndpointPlan>,
    /// Sessions of several requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowPlan>,
}

impl Mix {
    /// Whether the load is one request that the plan itself describes.
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    /// What a rate of this load counts.
    pub fn arriving(&self) -> Arriving {
        let steps: usize = self.flows.iter().map(|flow| flow.steps.len()).sum();
        match (steps, self.endpoints.len()) {
            (0, _) => Arriving::Requests,
            (steps, endpoints) if steps == endpoints => Arriving::Sessions,
            _ => Arriving::Both,
        }
    }
}

/// What the arrivals of an open loop are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arriving {
    /// Single requests.
    #[default]
    Requests,
    /// Sessions of a flow, each of several requests.
    Sessions,
    /// Some are requests, some are sessions.
    Both,
}

impl Arriving {
    /// The unit of their rate, as sentences print it.
    pub const fn per_s(self) -> &'static str {
        match self {
            Self::Requests => "requests/s",
            Self::Sessions => "sessions/s",
            Self::Both => "arrivals/s",
        }
    }
}

/// One kind of request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointPlan {
    /// What it is called in results: `GET /users/{id}`.
    pub name: String,
    /// The HTTP method.
    pub method: String,
    /// The path, as a template.
    pub path: String,
    /// Statuses that count as success.
    pub success: StatusRanges,
    /// What its responses are checked for, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Whether it changes anything on the server.
    pub writes: bool,
    /// Whether the same bytes are sent again and again: nothing in them is drawn, computed or taken from a session.
    #[serde(default)]
    pub unchanging: bool,
    /// Its part of all requests asked for, 0..=1; absent where that is not known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Arrivals wanted per second, where it has a rate of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Connections that send nothing else, where it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// What it is judged by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<String>,
    /// How fast it answers in production, where the workload file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<Today>,
}

/// Response times of an endpoint in production.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Today {
    /// Half of the responses took no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<Nanos>,
    /// 99 of 100 responses took no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<Nanos>,
}

/// One kind of session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowPlan {
    /// What it is called in results.
    pub name: String,
    /// Its steps, as indexes into the endpoints; no endpoint is a step of two flows.
    pub steps: Vec<u32>,
    /// Its part of all arrivals or turns, 0..=1; absent where that is not known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Sessions wanted per second, where it has a rate of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Connections that do nothing else, where it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
}

/// How TLS is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TlsPlan {
    /// The server name asked for and checked.
    pub sni: String,
    /// Whether the certificate goes unchecked.
    pub insecure: bool,
    /// Lowest version offered: `1.2` or `1.3`.
    pub min: String,
    /// Highest version offered.
    pub max: String,
    /// Whether connections resume earlier TLS sessions where the server offers it. Runs without
    /// this
    /// field did.
    #[serde(default = "resumed_unasked")]
    pub resume: bool,
}

const fn resumed_unasked() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SECOND;

    #[test]
    fn a_result_says_that_its_arrivals_followed_a_trace() {
        let dues: Arc<[Nanos]> = [0, 5, SECOND].into();
        let text = serde_json::to_string(&Recorded::from(dues)).expect("JSON");
        assert_eq!(text, r#"{"arrivals":3}"#);
        let read: Recorded = serde_json::from_str(&text).expect("a trace");
        assert_eq!((read.arrivals, read.dues.len()), (3, 0));
    }

    #[test]
    fn a_count_says_when_all_is_due_and_a_hostile_one_takes_no_time() {
        let text = r#"{"url":"http://h/","method":"GET","headers":[],"body_bytes":0,"connections":1,"threads":1,
            "rate_per_s":100.0,"arrivals":"uniform","lanes":4096,"seed":1,"duration_ns":null,"requests":50,
            "warmup_ns":1000000000,"ramp_ns":0,"timeout_ns":1,"pace_ns":null,"think_ns":null,"keepalive":true,
            "pipeline":1,"max_inflight":1,"io":"epoll","spin":false,"granularity_ns":0,"addresses":[],"sources":[],
            "tls":null,"success":"200-399"}"#;
        let plan: Plan = serde_json::from_str(text).expect("a plan");
        assert_eq!(plan.all_due_ns(), Some(SECOND + SECOND / 2));
        let with = |change: fn(&mut Plan)| {
            let mut plan = plan.clone();
            change(&mut plan);
            plan.all_due_ns()
        };
        assert_eq!(
            with(|plan| plan.duration_ns = Some(SECOND / 4)),
            None,
            "its window ends before"
        );
        assert_eq!(with(|plan| plan.requests = None), None);
        assert_eq!(with(|plan| plan.requests = Some(1 << 55)), None);
        assert_eq!(with(|plan| plan.lanes = u32::MAX), None);
        assert_eq!(with(|plan| plan.rate_per_s = Some(3e16)), None);
    }
}
