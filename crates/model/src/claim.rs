//! Claims: the figures of a result as a tool printed them, before they are judged.
//!
//! Files become [`Claims`] in `import`, `verdict::audit` judges them, `report` shows both. A
//! [`Claim`] keeps apart what files mix up: which loop drove the load, what the mean is the mean
//! of, and how far the printing may have rounded it. A figure that a file does not have is absent,
//! never guessed.

use crate::percentile::PERCENTILES;
use crate::run::{Run, Totals};
use crate::sweep::Sweep;
use crate::units::{Nanos, SECOND};
use crate::validity::Validity;

/// The tool that made a result, in the form that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// wrktest.sh, which asks wrk.
    Wrktest,
    /// wrk, and whatever prints its block.
    Wrk,
    /// wrk2.
    Wrk2,
    /// ApacheBench.
    Ab,
    /// hey.
    Hey,
    /// oha.
    Oha,
    /// k6.
    K6,
    /// vegeta.
    Vegeta,
    /// JMeter.
    Jmeter,
    /// Locust.
    Locust,
    /// A table of unknown origin.
    Csv,
    /// Plimsoll.
    Plimsoll,
}

impl Tool {
    /// Every tool, in the order documentation lists them.
    pub const ALL: [Self; 12] = [
        Self::Wrktest,
        Self::Wrk,
        Self::Wrk2,
        Self::Ab,
        Self::Hey,
        Self::Oha,
        Self::K6,
        Self::Vegeta,
        Self::Jmeter,
        Self::Locust,
        Self::Csv,
        Self::Plimsoll,
    ];

    /// As sentences name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrktest => "wrktest.sh",
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
            Self::Ab => "ab",
            Self::Hey => "hey",
            Self::Oha => "oha",
            Self::K6 => "k6",
            Self::Vegeta => "vegeta",
            Self::Jmeter => "JMeter",
            Self::Locust => "Locust",
            Self::Csv => "a table",
            Self::Plimsoll => "plimsoll",
        }
    }

    /// The part of it that is read.
    pub const fn form(self) -> &'static str {
        match self {
            Self::Wrktest => "the .dat of wrktest.sh",
            Self::Wrk => "text of wrk",
            Self::Wrk2 => "text of wrk2",
            Self::Ab => "text of ab",
            Self::Hey => "text or CSV of hey",
            Self::Oha => "text or JSON of oha",
            Self::K6 => "summary JSON of k6 (--summary-export or handleSummary)",
            Self::Vegeta => "JSON of vegeta (report -type=json)",
            Self::Jmeter => "JTL of JMeter (CSV with its header line, or XML)",
            Self::Locust => "CSV of Locust (NAME_stats.csv)",
            Self::Csv => {
                "CSV of a table whose header names qps, mean_ms (or _us, _s) and connections or rate"
            }
            Self::Plimsoll => "run.json and sweep.json of plimsoll",
        }
    }

    /// What it counts as success; the one of Plimsoll says which statuses in each result.
    pub const fn success(self) -> &'static str {
        match self {
            Self::Wrktest => {
                "requests less socket errors and time-outs, over requests: 5xx responses succeed"
            }
            Self::Wrk => {
                "responses in time with status 2xx or 3xx, over responses and socket errors (wrk's time-outs \
                 are responses that came late)"
            }
            Self::Wrk2 => {
                "responses with status 2xx or 3xx, over responses, socket errors and time-outs"
            }
            Self::Ab => {
                "responses with status 2xx but those that were cut short, over all; a response of \
                 another length, which ab counts as failed, succeeds here"
            }
            Self::Hey => "responses with a status below 400, over responses and errors",
            Self::Oha => {
                "responses with a status below 400, over responses and errors but those cut off by \
                 the end of the run (oha's own rate counts every response, 5xx too)"
            }
            Self::K6 => {
                "requests that http_req_failed does not count: status 200 to 399 by default"
            }
            Self::Vegeta => "responses with status 200 to 399, over requests",
            Self::Jmeter => {
                "samples that JMeter marks successful: status below 400 and assertions held"
            }
            Self::Locust => "requests that Locust does not count as failures, over requests",
            Self::Csv => "not read of a table",
            Self::Plimsoll => "complete responses in time with a status that counts as success",
        }
    }

    /// What its latencies are.
    pub const fn latency(self) -> &'static str {
        match self {
            Self::Wrktest | Self::Wrk => {
                "service times of a closed loop, to which wrk adds samples before it prints"
            }
            Self::Wrk2 => "response times of an open loop, from the instant each request was due",
            Self::Ab => "service times of a closed loop, printed in whole milliseconds",
            Self::Hey => "service times of a closed loop",
            Self::Oha => {
                "service times of a closed loop (with --latency-correction, response times)"
            }
            Self::K6 => "service times, without connecting, of users who may pause",
            Self::Vegeta => {
                "service times of an open loop, waiting for a worker left out, requests without a response \
                 included"
            }
            Self::Jmeter => "service times of threads that may pause",
            Self::Locust => "service times of users who pause between their tasks",
            Self::Csv => "whatever the table holds: service times of a closed loop are assumed",
            Self::Plimsoll => "service times: from the hand-over to the kernel to the last byte",
        }
    }
}

/// What drove a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoopKind {
    /// Each connection awaits its response: no more can be in flight than there are connections.
    #[default]
    Closed,
    /// Users who may send several requests at once, or pause: the number of users is a guide.
    Users,
    /// Requests come on a schedule; those not yet sent count in the response time too.
    Open,
}

impl LoopKind {
    /// As headings print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed loop",
            Self::Users => "users",
            Self::Open => "open loop",
        }
    }
}

/// What latencies are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Latency {
    /// Response times: what waited to be sent counts too. In a closed loop nothing does.
    Response,
    /// Service times: only what was in flight.
    #[default]
    Service,
    /// The file does not say which of the two.
    Either,
}

/// One load as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What was loaded, as the file writes it.
    pub target: Option<String>,
    /// What drove the load.
    pub loop_kind: LoopKind,
    /// Connections, users or threads at once, above zero; absent when the file does not say.
    pub connections: Option<f64>,
    /// Whether the file says nothing of its connections, and who named it did.
    pub connections_given: bool,
    /// The most requests that can be unanswered at once, where that is not one a connection.
    pub most_in_flight: Option<f64>,
    /// Arrivals wanted per second, in an open loop that says so.
    pub rate_per_s: Option<f64>,
    /// Responses per second.
    pub qps: f64,
    /// Successes per second, where they are not QPS x success because some attempts had no response.
    pub succeeded_per_s: Option<f64>,
    /// Mean latency; absent when nothing was timed.
    pub mean_ns: Option<Nanos>,
    /// What mean and percentiles are of.
    pub latency: Latency,
    /// How far latencies may lie from what was measured, by the digits they are printed with.
    pub error_ns: Nanos,
    /// The same of the percentiles, where they are printed with fewer digits than the mean.
    pub quantile_error_ns: Nanos,
    /// Least latency.
    pub min_ns: Option<Nanos>,
    /// Greatest latency.
    pub max_ns: Option<Nanos>,
    /// Percentiles: share of samples, 0..=1, and the latency it does not exceed; ascending by share.
    pub quantiles: Vec<(f64, Nanos)>,
    /// Whole responses.
    pub requests: Option<u64>,
    /// The time they took.
    pub duration_ns: Option<Nanos>,
    /// How far that may lie from what was measured, by the digits it is printed with.
    pub duration_error_ns: Nanos,
    /// Successes / attempts by the tool's count, 0..=1.
    pub success: Option<f64>,
    /// Connections that could not be opened.
    pub connect_errors: u64,
    /// Arrivals of a schedule that the generator left out.
    pub dropped: u64,
    /// Arrivals that it made, each of one or more requests; where absent, they are the requests.
    pub arrivals: Option<u64>,
    /// Whether connections were kept for further requests, where the file says so.
    pub keepalive: Option<bool>,
    /// Whether users paused between requests (pace, think time), or may have.
    pub pauses: bool,
    /// Factor, 1 or more, by which QPS x mean may honestly exceed the connections because requests
    /// straddle the window's ends. 1 where only what began and ended inside counts.
    pub edges: f64,
    /// The verdict of its tool; only Plimsoll's results have one.
    pub validity: Option<Validity>,
}

impl Claim {
    /// A row of a closed loop without any further figures.
    pub fn new(qps: f64, mean_ns: Option<Nanos>) -> Self {
        Self {
            target: None,
            loop_kind: LoopKind::Closed,
            connections: None,
            connections_given: false,
            most_in_flight: None,
            rate_per_s: None,
            qps,
            succeeded_per_s: None,
            mean_ns,
            latency: Latency::Service,
            error_ns: 0,
            quantile_error_ns: 0,
            min_ns: None,
            max_ns: None,
            quantiles: Vec::new(),
            requests: None,
            duration_ns: None,
            duration_error_ns: 0,
            success: None,
            connect_errors: 0,
            dropped: 0,
            arrivals: None,
            keepalive: None,
            pauses: false,
            edges: 1.0,
            validity: None,
        }
    }

    /// What a run of Plimsoll's claims, by its service times.
    pub fn of_run(run: &Run) -> Self {
        let (plan, service) = (&run.plan, &run.service_ns);
        let open = plan.rate_per_s.is_some();
        let timed = service.count > 0;
        let percentiles = PERCENTILES.iter().map(|each| (each.share, (each.of)(service)));
        Self {
            target: Some(plan.url.clone()),
            loop_kind: if open { LoopKind::Open } else { LoopKind::Closed },
            connections: Some(f64::from(plan.connections.max(1))),
            most_in_flight: Some(f64::from(plan.inflight_cap().max(1))),
            rate_per_s: plan.rate_per_s,
            min_ns: timed.then_some(service.min),
            max_ns: timed.then_some(service.max),
            quantiles: percentiles.filter(|_| timed).collect(),
            requests: Some(run.totals.requests),
            duration_ns: Some(run.totals.duration_ns),
            success: run.rates.success_ratio,
            succeeded_per_s: succeeded_per_s(run),
            keepalive: Some(plan.keepalive),
            pauses: plan.pace_ns.is_some() || plan.think_ns.is_some(),
            edges: window_edges(run),
            validity: Some(run.validity.clone()),
            ..Self::new(run.rates.requests_per_s, timed.then_some(service.mean))
        }
    }

    /// Successes per second, where the file says what succeeded.
    pub fn carried_per_s(&self) -> Option<f64> {
        self.succeeded_per_s.or_else(|| Some(self.qps * self.success?))
    }

    /// Requests in flight by Little's law: QPS x mean.
    pub fn in_flight(&self) -> Option<f64> {
        self.mean_ns.map(|mean_ns| self.qps * mean_ns as f64 / 1e9)
    }

    /// How far apart by their digits alone mean and percentiles may lie.
    pub fn widest_error_ns(&self) -> Nanos {
        self.error_ns.max(self.quantile_error_ns)
    }

    /// The most requests that can be in flight.
    pub fn in_flight_cap(&self) -> Option<f64> {
        self.most_in_flight.or(self.connections)
    }

    /// Requests in flight over the most there can be.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.in_flight()? / self.in_flight_cap()?)
    }
}

/// Attempts due in the window that succeeded, per second of it.
fn succeeded_per_s(run: &Run) -> Option<f64> {
    let Totals { succeeded, duration_ns, .. } = &run.totals;
    (*duration_ns > 0).then(|| *succeeded as f64 * SECOND as f64 / *duration_ns as f64)
}

/// By what factor QPS x mean service time of a run may exceed its connections honestly: up to
/// connections x pipeline requests end after the window, each at most the longest service late,
/// and as many began before it. 1 when nothing was timed.
pub fn window_edges(run: &Run) -> f64 {
    let (service, window_ns) = (&run.service_ns, run.totals.duration_ns as f64);
    if service.count == 0 || window_ns == 0.0 {
        return 1.0;
    }
    let begun_before = 1.0 + f64::from(run.plan.inflight_cap()) / service.count as f64;
    let ended_after = 1.0 + service.max as f64 / window_ns;
    begun_before * ended_after
}

/// All that one file claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    /// The tool that made it.
    pub tool: Tool,
    /// What its success rates count.
    pub success_means: String,
    /// At least one row, in the file's order.
    pub rows: Vec<Claim>,
}

impl Claims {
    /// Rows of a tool whose success means the same in each result.
    pub fn new(tool: Tool, rows: Vec<Claim>) -> Self {
        Self { tool, success_means: tool.success().to_owned(), rows }
    }

    /// The claims of a run that Plimsoll made.
    pub fn of_run(run: &Run) -> Self {
        Self::of_ours(std::iter::once(run))
    }

    /// The claims of a sweep that Plimsoll made, a row a level.
    pub fn of_sweep(sweep: &Sweep) -> Self {
        Self::of_ours(sweep.levels.iter().map(|held| &held.run))
    }

    fn of_ours<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Self {
        let statuses = runs.clone().next().map(|run| run.plan.success.to_string());
        let rows = runs.map(Claim::of_run).collect();
        let success_means = statuses.map_or_else(
            || Tool::Plimsoll.success().to_owned(),
            |statuses| format!("complete responses in time with a status in {statuses}"),
        );
        Self { tool: Tool::Plimsoll, success_means, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn littles_law_counts_pipelines() {
        let mut claim = Claim::new(2000.0, Some(5_000_000));
        assert_eq!((claim.in_flight(), claim.ratio()), (Some(10.0), None));
        claim.connections = Some(4.0);
        assert_eq!(claim.ratio(), Some(2.5));
        claim.most_in_flight = Some(20.0);
        assert_eq!((claim.in_flight_cap(), claim.ratio()), (Some(20.0), Some(0.5)));
        assert_eq!(Claim::new(2000.0, None).in_flight(), None);
    }

    #[test]
    fn every_maker_is_described_once() {
        for (at, tool) in Tool::ALL.into_iter().enumerate() {
            let first = Tool::ALL.iter().position(|other| other.name() == tool.name());
            assert_eq!(first, Some(at));
            assert!(tool.form().contains(tool.name()), "{}", tool.form());
            assert!(!tool.success().is_empty() && !tool.latency().is_empty());
        }
    }
}
