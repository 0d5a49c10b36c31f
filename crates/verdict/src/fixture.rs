//! A sound run for tests to spoil: 10 s, 10 connections, 1,000 requests/s at 2 ms.

use std::collections::BTreeMap;

use model::plan::{Io, StatusRanges};
use model::run::{RunBuilder, RunHead, WorkerShare};
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Environment, Plan, Run, Summary, Validity};

fn head() -> RunHead {
    RunHead {
        version: "0".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        command: vec!["plimsoll".into()],
        environment: Environment { open_files: 1024, open_files_hard: 4096, ..Default::default() },
        plan: Plan {
            url: "http://127.0.0.1/".into(),
            method: "GET".into(),
            headers: Vec::new(),
            body_bytes: 0,
            connections: 10,
            threads: 2,
            rate_per_s: None,
            arrivals: None,
            lanes: 4096,
            seed: 1,
            duration_ns: Some(10 * SECOND),
            requests: None,
            warmup_ns: 0,
            ramp_ns: 0,
            timeout_ns: 30 * SECOND,
            pace_ns: None,
            think_ns: None,
            keepalive: true,
            pipeline: 1,
            max_inflight: 10,
            io: Io::Epoll,
            spin: false,
            granularity_ns: 0,
            addresses: Vec::new(),
            sources: Vec::new(),
            tls: None,
            success: StatusRanges::default(),
        },
    }
}

/// Latencies around a mean.
pub(crate) fn around(mean_ns: u64, count: u64) -> Summary {
    Summary {
        count,
        min: mean_ns / 2,
        mean: mean_ns,
        stdev: mean_ns / 2,
        p50: mean_ns,
        p75: mean_ns,
        p90: mean_ns * 2,
        p95: mean_ns * 2,
        p99: mean_ns * 3,
        p999: mean_ns * 4,
        p9999: mean_ns * 4,
        max: mean_ns * 4,
    }
}

/// The sound run in a closed loop.
pub(crate) fn closed() -> Run {
    let mut run = RunBuilder::new(head()).finish(false);
    run.totals.duration_ns = 10 * SECOND;
    run.totals.attempts = 10_000;
    run.totals.requests = 10_000;
    run.totals.succeeded = 10_000;
    run.totals.connects = 10;
    run.totals.statuses = BTreeMap::from([(200, 10_000)]);
    run.rates.requests_per_s = 1000.0;
    run.rates.offered_per_s = 1000.0;
    run.rates.achieved_per_s = 1000.0;
    run.rates.success_ratio = Some(1.0);
    run.concurrency.in_flight_max = 4;
    run.response_ns = around(2 * MILLISECOND, 10_000);
    run.service_ns = around(2 * MILLISECOND, 10_000);
    run.connect_ns = around(MILLISECOND / 5, 10);
    run.generator.workers = vec![WorkerShare { busy_ratio: 0.3, ..Default::default() }; 2];
    run.validity = Validity::of(Vec::new());
    run
}

/// The sound run in an open loop at 1,000/s.
pub(crate) fn open() -> Run {
    let mut run = closed();
    run.plan.rate_per_s = Some(1000.0);
    run.plan.arrivals = Some(Arrivals::Uniform);
    run.late_ns = around(MILLISECOND / 20, 10_000);
    run
}
