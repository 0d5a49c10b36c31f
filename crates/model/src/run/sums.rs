//! A run's sums over its intervals, and the figures that they come to.

use std::collections::BTreeMap;

use super::figures::{Concurrency, Generator, Rates, Totals};
use super::steps::WorkerSum;
use crate::histogram::Latencies;
use crate::interval::{GaugeSum, Interval, PresenceTally, Tally, add_count, add_counts};
use crate::machine::MachineSum;
use crate::response::ResponseTally;
use crate::units::{Nanos, SECOND};
use crate::users::UserTally;

#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) totals: Totals,
    window_bytes_read: u64,
    sent: u64,
    sent_after: u64,
    responses_done: u64,
    open: GaugeSum,
    in_flight: GaugeSum,
    pub(super) response: Latencies<u64>,
    pub(super) service: Latencies<u64>,
    pub(super) late: Latencies<u64>,
    pub(super) observed_late: Latencies<u64>,
    pub(super) wait: Latencies<u64>,
    pub(super) first_byte: Latencies<u64>,
    pub(super) connect: Latencies<u64>,
    pub(super) tls: Latencies<u64>,
    pub(super) responses: ResponseTally,
    pub(super) users: UserTally,
    pub(super) location: Option<String>,
    workers: Vec<WorkerSum>,
    machine: MachineSum,
}

impl Sums {
    pub(super) fn add_connections(&mut self, tally: &Tally) {
        self.totals.connects = self.totals.connects.saturating_add(tally.connects);
        self.totals.server_closes = self.totals.server_closes.saturating_add(tally.server_closes);
        self.users.merge(&tally.users);
        if self.location.is_none() {
            self.location.clone_from(&tally.location);
        }
        self.connect.merge(&tally.connect);
        self.tls.merge(&tally.tls);
        if tally.tls.count() > 0 {
            let sum = self.totals.tls_resumed.get_or_insert_default();
            *sum = sum.saturating_add(tally.tls_resumed);
        }
        let totals = &mut self.totals;
        for (sum, n) in [
            (&mut totals.mismatches, tally.mismatches),
            (&mut totals.surplus_responses, tally.surplus_responses),
            (&mut totals.unsolicited, tally.unsolicited),
            (&mut totals.unchecked, tally.unchecked),
            (&mut totals.idle_cuts, tally.idle_cuts),
        ] {
            if n > 0 {
                *sum = Some(sum.unwrap_or(0).saturating_add(n));
            }
        }
        add_counts(&mut self.totals.limits, &tally.limits);
        for (class, sample) in &tally.samples {
            self.totals.error_samples.entry(class.clone()).or_insert_with(|| sample.clone());
        }
    }

    pub(super) fn add_attempts(&mut self, tally: &Tally) {
        let totals = &mut self.totals;
        totals.attempts = totals.attempts.saturating_add(tally.attempts());
        totals.requests = totals.requests.saturating_add(tally.requests());
        totals.succeeded = totals.succeeded.saturating_add(tally.succeeded);
        totals.unsent = totals.unsent.saturating_add(tally.unsent);
        totals.unfinished = totals.unfinished.saturating_add(tally.unfinished);
        totals.errors.merge(&tally.errors);
        totals.bytes_read = totals.bytes_read.saturating_add(tally.bytes_read);
        totals.bytes_written = totals.bytes_written.saturating_add(tally.bytes_written);
        if tally.until_close > 0 {
            let sum = totals.until_close.get_or_insert_default();
            *sum = sum.saturating_add(tally.until_close);
        }
        for (status, n) in tally.statuses.seen() {
            add_count(&mut totals.statuses, status, n);
        }
        self.response.merge(&tally.response);
        self.service.merge(&tally.service);
        self.late.merge(&tally.late);
        self.observed_late.merge(&tally.observed_late);
        self.wait.merge(&tally.wait);
        self.first_byte.merge(&tally.first_byte);
        self.responses.merge(&tally.responses);
    }

    pub(super) fn add_window(&mut self, interval: &Interval) {
        let tally = &interval.tally;
        let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
        self.totals.duration_ns = self.totals.duration_ns.saturating_add(length_ns);
        self.window_bytes_read = self.window_bytes_read.saturating_add(tally.bytes_read);
        self.sent = self.sent.saturating_add(tally.sent);
        self.sent_after = self.sent_after.saturating_add(tally.sent_after);
        self.responses_done = self.responses_done.saturating_add(tally.responses_done);
        self.open.append(&tally.open);
        self.in_flight.append(&tally.in_flight);
        if let Some(machine) = &interval.machine {
            self.machine.add(machine);
        }
        if self.workers.len() < interval.workers.len() {
            self.workers.resize_with(interval.workers.len(), WorkerSum::default);
        }
        for (sum, used) in self.workers.iter_mut().zip(&interval.workers) {
            sum.add(used);
        }
    }

    /// Adds what kept the generator from taking in the window's last responses when they came, behind it.
    pub(super) fn add_drain(&mut self, interval: &Interval) {
        if let Some(machine) = &interval.machine {
            self.machine.add_drain(machine);
        }
        for (sum, used) in self.workers.iter_mut().zip(&interval.workers) {
            sum.add_drain(used);
        }
    }

    /// The rates of a run. What is offered by count alone is due within `due_ns`, and the window lasts until the last
    /// response, which may be much later or a little earlier. How attempts that an interrupted run did not wait for would
    /// have ended is not known: no share is of them.
    pub(super) fn rates(
        &self,
        open_loop: bool,
        due_ns: Option<Nanos>,
        presence: &PresenceTally,
        interrupted: bool,
    ) -> Rates {
        let (attempts, totals) = (self.totals.attempts, &self.totals);
        let awaited =
            if interrupted { attempts.saturating_sub(totals.unfinished) } else { attempts };
        let due_ns = due_ns.unwrap_or(totals.duration_ns);
        let in_time = self.sent.saturating_sub(self.sent_after);
        let of_attempts = |n: u64| (awaited > 0).then(|| n as f64 / awaited as f64);
        let by_attempts = of_attempts(totals.succeeded);
        let success_ratio = match (by_attempts, presence.succeeding()) {
            (Some(by_attempts), Some(by_time)) => Some(by_attempts.min(by_time)),
            (by_attempts, _) => by_attempts,
        };
        let answered = if open_loop { of_attempts(totals.requests) } else { None };
        Rates {
            requests_per_s: per_second(self.responses_done, due_ns.max(totals.duration_ns)),
            offered_per_s: per_second(attempts, due_ns),
            achieved_per_s: per_second(in_time, due_ns),
            success_ratio,
            attempts_success_ratio: by_attempts.filter(|_| success_ratio != by_attempts),
            available_ratio: answered.or_else(|| presence.available()),
            bytes_read_per_s: per_second(self.window_bytes_read, totals.duration_ns),
        }
    }

    pub(super) fn concurrency(&self, planned: u32) -> Concurrency {
        Concurrency {
            planned,
            open_mean: self.open.mean(self.totals.duration_ns),
            open_max: self.open.max,
            in_flight_mean: self.in_flight.mean(self.totals.duration_ns),
            in_flight_max: self.in_flight.max,
        }
    }

    pub(super) fn generator(&self, cpus: u32) -> Generator {
        let cpu_ns = self.workers.iter().map(WorkerSum::cpu_ns).fold(0, Nanos::saturating_add);
        let window_ns = self.totals.duration_ns;
        let workers = self.workers.iter().map(|sum| sum.share(window_ns)).collect();
        let cpu_ns_per_request =
            if self.responses_done > 0 { cpu_ns as f64 / self.responses_done as f64 } else { 0.0 };
        let machine = self.machine.finish(cpus);
        Generator { cpu_ns, cpu_ns_per_request, workers, machine, ceiling: None }
    }

    pub(super) fn histograms(&self) -> BTreeMap<String, String> {
        let named = [
            ("response", &self.response),
            ("service", &self.service),
            ("late", &self.late),
            ("observed_late", &self.observed_late),
            ("wait", &self.wait),
            ("first_byte", &self.first_byte),
            ("connect", &self.connect),
            ("tls", &self.tls),
        ];
        let held = named.into_iter().filter(|(_, latencies)| latencies.count() > 0);
        held.map(|(name, latencies)| (name.to_owned(), latencies.to_base64())).collect()
    }
}

fn per_second(count: u64, over_ns: Nanos) -> f64 {
    let seconds = over_ns as f64 / SECOND as f64;
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
