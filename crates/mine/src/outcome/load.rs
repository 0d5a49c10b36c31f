//! The load of the workload: what each request's share of it is, and how it is spread over time.

use model::mined::ArithmeticStep;
use model::schedule::Arrivals;
use model::units::Nanos;
use model::workload::{Count, LoadSpec, Rate, Step, Time, Today};

use super::Making;
use super::prepared::summary;
use crate::scale::figure;
use crate::tally::Endpoint;
use crate::time::SECOND;
use crate::visits::Sessions;

impl Making<'_> {
    /// Raises the rates of the endpoints that are kept, so that they send what all together had.
    pub(super) fn raise(&mut self, covered: u64) {
        let peak = self.surveyed.peak.requests;
        if covered == 0 || covered >= peak {
            return;
        }
        self.raised = peak as f64 / covered as f64;
        let share = figure(covered as f64 / peak as f64 * 100.0);
        if self.wanted.scale.speed.is_some() {
            self.made.mined.notes.push(format!(
                "the endpoints kept have {share} % of the peak; every arrival of the peak is repeated, so that \
                 requests of others are sent as theirs"
            ));
            return;
        }
        self.made.mined.arithmetic.push(ArithmeticStep {
            step: format!("rates of the endpoints kept, raised: 100 % / {share} %"),
            value: self.raised,
            assumption: format!(
                "the endpoints kept have {share} % of the peak; their rates are raised so that the whole load is \
                 sent, as if a request of another cost as much as theirs do (--top adds endpoints)"
            ),
        });
    }

    /// A request with its share of the load.
    pub(super) fn loaded(&self, of: Step, requests: f64) -> model::workload::Endpoint {
        let rate = rounded(requests * self.raised / self.seconds * self.scaled.factor);
        let mut endpoint = model::workload::Endpoint {
            name: of.name,
            method: of.method,
            path: of.path,
            query: of.query,
            success: of.success,
            ..Default::default()
        };
        match () {
            () if self.wanted.scale.speed.is_some() => endpoint.weight = Some(rounded(requests)),
            () if self.wanted.closed => {
                let users = (rate * self.scaled.pace_ns as f64 / SECOND as f64).round().max(1.0);
                endpoint.concurrency = Some(Count(users as u64));
                endpoint.pace = Some(Time((users / rate * SECOND as f64).round() as Nanos));
            }
            () => endpoint.rate = Some(Rate(rate)),
        }
        endpoint
    }

    /// Target, load, ways through the site.
    pub(super) fn load(&mut self, sessions: &Sessions) {
        let workload = &mut self.made.workload;
        workload.target.clone_from(&self.wanted.target);
        workload.load = LoadSpec {
            arrivals: (!self.wanted.closed && self.wanted.scale.speed.is_none())
                .then_some(Arrivals::Poisson),
            duration: self.wanted.scale.speed.is_none().then_some(Time(60 * SECOND as Nanos)),
            ..LoadSpec::default()
        };
        workload.daily_users = self.scaled.users.map(Count);
        if let Some(speed) = self.wanted.scale.speed {
            self.trace(speed);
        }
        if self.wanted.sessions {
            self.flows(sessions);
        }
        let single = self.made.workload.endpoints.iter().map(|endpoint| &endpoint.method);
        let of_ways = self.ways_in.values().map(|turns| &turns.steps[0].method);
        let bodies = match self.wanted.sessions {
            true => of_ways.filter(|method| writes(method)).count(),
            false => single.filter(|method| writes(method)).count(),
        };
        if bodies > 0 {
            self.made.mined.notes.push(format!(
                "{bodies} of the workload's requests would change something, and the log has no bodies: add \
                 `body:`, or leave them out with --reads-only"
            ));
        }
    }

    /// The arrivals of the peak, from 0 on.
    fn trace(&mut self, speed: f64) {
        const FILE: &str = "arrivals.txt";
        let mut arrivals = self.tally.arrivals.clone().unwrap_or_default();
        arrivals.sort_unstable();
        let more = self.surveyed.peak.requests.saturating_sub(arrivals.len() as u64);
        if more > 0 {
            self.made.mined.notes.push(format!(
                "{more} arrivals of the peak are left out: no more than {} are repeated. That is the load of no known \
                 number of users",
                arrivals.len()
            ));
            self.made.workload.daily_users = None;
        }
        let arrivals = spread(&arrivals);
        let first = arrivals.first().copied().unwrap_or(0.0);
        let mut text = String::with_capacity(arrivals.len() * 12);
        for at in arrivals {
            text += &format!("{:.6}\n", (at - first) / speed);
        }
        self.made.files.insert(FILE.to_owned(), text);
        self.made.workload.load.trace = Some(FILE.to_owned());
    }
}

fn writes(method: &Option<String>) -> bool {
    !matches!(method.as_deref(), None | Some("GET" | "HEAD" | "OPTIONS" | "TRACE"))
}

/// What a capacity is compared with, where the log has the times taken.
pub(super) fn today(endpoint: &Endpoint) -> Option<Today> {
    let summary = Some(summary(endpoint)).filter(|summary| summary.max > 0)?;
    let step = endpoint.step_ns;
    // What the log writes as 0 took less than its smallest step, and nothing is known finer than that.
    let time = |taken: Nanos| Some(Time(((taken + step / 2) / step).max(1) * step));
    Some(Today { p50: time(summary.p50), p99: time(summary.p99) })
}

/// Six significant digits.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Instants of a log that counts whole seconds, spread over the seconds that they fell into; others as they are. In
/// seconds.
fn spread(arrivals: &[i64]) -> Vec<f64> {
    let seconds = |ns: i64| ns as f64 / SECOND as f64;
    if arrivals.iter().any(|at| at % SECOND != 0) {
        return arrivals.iter().map(|at| seconds(*at)).collect();
    }
    let mut spread = Vec::with_capacity(arrivals.len());
    for same in arrivals.chunk_by(|a, b| a == b) {
        let count = same.len() as f64;
        spread.extend((0..same.len()).map(|at| seconds(same[0]) + (at as f64 + 0.5) / count));
    }
    spread
}
