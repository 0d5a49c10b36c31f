//! What happened: one serialisable [`Run`], `plimsoll.run/1`, that every later command reads.
//! [`RunBuilder`] makes it from intervals, whether they come from the engine or from a journal.

mod builder;
mod figures;
mod pace;
mod steps;
mod sums;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::Block;
use crate::endpoint::{EndpointRun, FlowRun};
use crate::environment::{Environment, Program};
use crate::histogram::Latencies;
use crate::kinds::{ResponseChange, ResponseKind};
use crate::objective::{Abort, Judgement};
use crate::observed::Observed;
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::presence::Presence;
use crate::response::CommonestResponse;
use crate::seconds::Dip;
use crate::slices::Slice;
use crate::timeline::Point;
use crate::units::Nanos;
use crate::users::Users;
use crate::validity::Validity;

pub use builder::RunBuilder;
pub use figures::{Concurrency, Generator, Rates, Totals, WorkerShare};
pub use pace::SessionPace;
pub use steps::StepSummary;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.run/1";

/// One run and everything known about it. Times are integers in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// `plimsoll.run/1`.
    pub schema: String,
    /// The program that measured.
    pub plimsoll: Program,
    /// When the run started, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, secrets masked.
    pub command: Vec<String>,
    /// The generator's machine.
    pub environment: Environment,
    /// What was to be sent.
    pub plan: Plan,
    /// Whether the window was ended early.
    pub interrupted: bool,
    /// Counts over the measured window.
    pub totals: Totals,
    /// What the counts come to per second.
    pub rates: Rates,
    /// Connections and requests at once.
    pub concurrency: Concurrency,
    /// How the users, that is the connections, were served; absent where that was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Users>,
    /// done - due: what a user who arrived on time waited. Attempts that timed out, or were dropped unsent after waiting
    /// for longer than the time-out, count with the time they had waited; those dropped at the window's end do not count.
    pub response_ns: Summary,
    /// done - sent: what server and network took.
    pub service_ns: Summary,
    /// taken - due: what the generator itself added.
    pub late_ns: Summary,
    /// For how long each response may have waited in its socket until the generator looked, at most: a part of
    /// its service time that need not be the server's. Empty in runs measured before it was kept.
    #[serde(default)]
    pub observed_late_ns: Summary,
    /// sent - taken: no connection was free, or the generator was still making the request.
    pub wait_ns: Summary,
    /// first byte - sent.
    pub first_byte_ns: Summary,
    /// TCP connection set-up, from the start of the run on.
    pub connect_ns: Summary,
    /// TLS handshakes, from the start of the run on.
    pub tls_ns: Summary,
    /// The commonest response.
    #[serde(rename = "answer")]
    pub commonest_response: Option<CommonestResponse>,
    /// The kinds of responses that succeeded, at most 64: of each endpoint first what came first.
    #[serde(default, rename = "answer_kinds", skip_serializing_if = "Vec::is_empty")]
    pub response_kinds: Vec<ResponseKind>,
    /// Where responses changed permanently, or are of two different kinds.
    #[serde(default, rename = "answer_changes", skip_serializing_if = "Vec::is_empty")]
    pub response_changes: Vec<ResponseChange>,
    /// Where the first redirect led, when one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<String>,
    /// What generating the load cost.
    pub generator: Generator,
    /// What was watched beside the load; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// Periods in which the server departed from its trend, in order.
    #[serde(default)]
    pub dips: Vec<Dip>,
    /// Second by second.
    pub timeline: Vec<Point>,
    /// A short run in parts of a second; empty in others, and in runs measured before slices were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// The measured window in at most 64 periods of equal length, to tell how far the figures can
    /// be off; empty in runs measured before blocks were kept.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Whether the server was there over the window; absent in runs measured before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
    /// Each kind of request, in the plan's order; empty for a load of one request. Of more than 1,000
    /// the last is `(others)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointRun>,
    /// Each kind of session, in the plan's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowRun>,
    /// HdrHistogram V2 compressed, base64, by name: `response`, `service`, `late`,
    /// `observed_late`, `wait`, `first_byte`, `connect`, `tls`; those without samples are absent.
    pub histograms: BTreeMap<String, String>,
    /// Whether the figures can be trusted.
    pub validity: Validity,
    /// What became of the objectives that the run was judged by, in their order.
    #[serde(default)]
    pub objectives: Vec<Judgement>,
    /// The rule that ended the run early, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Abort>,
    /// Why the run came to an end before its time: a script's error, a pool that ran out, connections that all fail for
    /// a reason that trying again does not change; or why only the beginning of it was stored. The figures are those of
    /// the run so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<String>,
}

impl Run {
    /// Responses done inside the window that count as success, per second: of [`Rates::requests_per_s`], the share of the
    /// responses that succeeded.
    pub fn successes_per_s(&self) -> f64 {
        let share = self.totals.succeeded as f64 / self.totals.requests.max(1) as f64;
        self.rates.requests_per_s * share.min(1.0)
    }

    /// The time that [`Rates::requests_per_s`] is over: the window, or, of an open loop that ends by count, the time in which
    /// all requests were due, where that is longer.
    pub fn rate_over_ns(&self) -> Nanos {
        let window_ns = self.totals.duration_ns;
        let due_ns = self.plan.all_due_ns().filter(|_| !self.interrupted);
        let due_ns = due_ns.map_or(0, |end_ns| end_ns.saturating_sub(self.plan.warmup_ns));
        window_ns.max(due_ns)
    }

    /// Connections opened for each attempt in whose latencies opening them is not, as a request is due there when it is
    /// sent: in a closed loop, beside those that stand from the start; in an open loop by the later steps of sessions.
    /// 0 for single requests of an open loop.
    pub fn opened_each(&self) -> f64 {
        let totals = &self.totals;
        let counted = match self.plan.rate_per_s {
            None => 0,
            Some(_) if self.flows.is_empty() => return 0.0,
            // Lateness is that of arrivals, each of which may have opened one.
            Some(_) => self.late_ns.count,
        };
        let opened = totals.connects.saturating_sub(self.plan.connections.into());
        let of = totals.attempts.saturating_sub(counted);
        opened.saturating_sub(counted).min(of) as f64 / totals.attempts.max(1) as f64
    }

    /// Whether the window was measured to its planned end; false where it ends by count. A run may be interrupted all the
    /// same, while its last responses are waited for.
    pub fn is_window_whole(&self) -> bool {
        self.plan.duration_ns.is_some_and(|planned| self.totals.duration_ns >= planned)
    }

    /// A histogram of the run by name.
    ///
    /// # Errors
    /// A sentence, when the stored text is damaged.
    pub fn histogram(&self, name: &str) -> Result<Latencies<u64>, String> {
        match self.histograms.get(name) {
            Some(text) => {
                Latencies::from_base64(text).map_err(|e| format!("histogram {name}: {e}"))
            }
            None => Ok(Latencies::new()),
        }
    }
}

/// What is known of a run before its first interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The program's version.
    pub version: String,
    /// See [`Run::started_at`].
    pub started_at: String,
    /// See [`Run::command`].
    pub command: Vec<String>,
    /// See [`Run::environment`].
    pub environment: Environment,
    /// See [`Run::plan`].
    pub plan: Plan,
    /// Whether an earlier run of the same command was served by the server: it is not one that has yet to start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub served_before: bool,
}
