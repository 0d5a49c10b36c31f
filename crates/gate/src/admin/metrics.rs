//! `/metrics` in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::access::LogCounts;
use crate::gateway::Control;
use crate::health::ServerView;
use crate::path::{FAULT_STATUSES, PathCounts};
use crate::policy::{PROBLEMS, ShadowView};
use crate::usage::{ByKey, KeySum, Sum, longest_ns};

/// Upper ends of the latency buckets: one a doubling, so that a scrape stays small.
const EVERY: usize = 8;

/// Everything that is counted. Latencies are by route alone: by key they would be many.
pub(super) fn text(control: &Control) -> String {
    let mut out = String::new();
    let policy = control.policy();
    let (by_route, by_key, account) = control.usage().read(|snapshot| {
        let mut by_route: BTreeMap<u32, Sum> = BTreeMap::new();
        for (&(_, route), sum) in &snapshot.since_start {
            by_route.entry(route).or_default().merge(sum);
        }
        (by_route, snapshot.by_key.clone(), snapshot.account)
    });
    let by_route: Vec<(String, Sum)> =
        by_route.into_iter().map(|(route, sum)| (label(policy.route_name(route)), sum)).collect();
    counters(&mut out, &by_route);
    latencies(&mut out, &by_route);
    keys(&mut out, &by_key);
    head(&mut out, "plimsoll_gate_usage_requests", "counter", "Requests by where their usage is.");
    for (place, n) in
        [("served", account.served), ("reported", account.reported), ("dropped", account.dropped)]
    {
        line(&mut out, "plimsoll_gate_usage_requests", &format!("place=\"{place}\""), n as f64);
    }
    gauge(
        &mut out,
        "plimsoll_gate_usage_pending",
        "Requests whose usage is in memory.",
        account.pending as f64,
    );
    if let Some(log) = control.log() {
        log_lines(&mut out, log.queue().counts());
    }
    path(&mut out, &control.path());
    servers(&mut out, &control.health().view(net::clock::now()));
    let state = control.state();
    shadows(&mut out, &state.shadowed.view());
    gauge(&mut out, "plimsoll_gate_keys", "Keys that were ever in force.", state.keys.len() as f64);
    gauge(
        &mut out,
        "plimsoll_gate_in_flight",
        "Cost in flight, in mean requests.",
        state.ceiling.in_flight(),
    );
    if let Some(certified) = policy.line() {
        let name = "plimsoll_gate_line_per_second";
        gauge(&mut out, name, "The certified load line, in mean requests.", certified.rate_per_s);
        let name = "plimsoll_gate_ceiling_per_second";
        gauge(
            &mut out,
            name,
            "The ceiling in force, in mean requests.",
            state.ceiling.rate_per_s(),
        );
    }
    out
}

fn counters(out: &mut String, by_route: &[(String, Sum)]) {
    type Figure = fn(&Sum) -> u64;
    let plain: [(&str, &str, Figure); 4] = [
        ("forwarded_total", "Requests that were forwarded.", |sum| sum.forwarded),
        ("upstream_failed_total", "Forwarded requests that no upstream answered.", |sum| {
            sum.upstream_failed
        }),
        ("request_bytes_total", "Bytes of requests.", |sum| sum.bytes_in),
        ("response_bytes_total", "Bytes of responses.", |sum| sum.bytes_out),
    ];
    for (name, about, figure) in plain {
        let name = format!("plimsoll_gate_{name}");
        head(out, &name, "counter", about);
        for (route, sum) in by_route {
            line(out, &name, &format!("route=\"{route}\""), figure(sum) as f64);
        }
    }
    head(out, "plimsoll_gate_responses_total", "counter", "Responses by status, with refusals.");
    for (route, sum) in by_route {
        for (status, n) in &sum.statuses {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            line(out, "plimsoll_gate_responses_total", &labels, *n as f64);
        }
    }
    head(
        out,
        "plimsoll_gate_refused_total",
        "counter",
        "Requests that were refused, by why; invalid ones have no route.",
    );
    for (route, sum) in by_route {
        for (problem, n) in PROBLEMS.iter().zip(sum.refused).filter(|(_, n)| *n > 0) {
            let labels = format!("route=\"{route}\",why=\"{}\"", problem.code());
            line(out, "plimsoll_gate_refused_total", &labels, n as f64);
        }
    }
}

fn latencies(out: &mut String, by_route: &[(String, Sum)]) {
    let name = "plimsoll_gate_latency_seconds";
    head(out, name, "histogram", "Time from admission to the response's last byte.");
    for (route, sum) in by_route {
        let mut below = 0;
        for (bucket, n) in sum.latency.0.iter().enumerate() {
            below += n;
            if bucket % EVERY == 0 && bucket + 1 < sum.latency.0.len() {
                let le = (longest_ns(bucket) + 1) as f64 / 1e9;
                line(
                    out,
                    &format!("{name}_bucket"),
                    &format!("route=\"{route}\",le=\"{le}\""),
                    below as f64,
                );
            }
        }
        line(
            out,
            &format!("{name}_bucket"),
            &format!("route=\"{route}\",le=\"+Inf\""),
            below as f64,
        );
        line(
            out,
            &format!("{name}_sum"),
            &format!("route=\"{route}\""),
            sum.latency_sum_ns as f64 / 1e9,
        );
        line(out, &format!("{name}_count"), &format!("route=\"{route}\""), below as f64);
    }
}

/// Keys by their numbers, which the store knows them by.
fn keys(out: &mut String, by_key: &ByKey) {
    type Figure = fn(&KeySum) -> u64;
    let bytes: [(&str, &str, Figure); 2] = [
        ("request_bytes_total", "Bytes of requests, by key.", |sum| sum.bytes_in),
        ("response_bytes_total", "Bytes of responses, by key.", |sum| sum.bytes_out),
    ];
    for (name, about, figure) in bytes {
        let name = format!("plimsoll_gate_key_{name}");
        head(out, &name, "counter", about);
        for (key, sum) in by_key.each() {
            line(out, &name, &format!("key=\"{key}\""), figure(sum) as f64);
        }
    }
    let name = "plimsoll_gate_key_responses_total";
    head(out, name, "counter", "Responses by key and class of status, refusals included.");
    for (key, sum) in by_key.each() {
        for (class, n) in sum.classes() {
            line(out, name, &format!("key=\"{key}\",status=\"{class}\""), n as f64);
        }
    }
    let name = "plimsoll_gate_key_refused_total";
    head(out, name, "counter", "Requests that were refused, by key and why.");
    for (key, sum) in by_key.each() {
        for (problem, n) in PROBLEMS.iter().zip(sum.refused).filter(|(_, n)| *n > 0) {
            let labels = format!("key=\"{key}\",why=\"{}\"", problem.code());
            line(out, name, &labels, n as f64);
        }
    }
}

/// Connections, and responses that the gateway gave itself before or after the policy.
fn path(out: &mut String, counts: &PathCounts) {
    gauge(out, "plimsoll_gate_connections", "Connections of clients.", counts.open as f64);
    let name = "plimsoll_gate_connections_total";
    head(out, name, "counter", "Connections of clients by what came of them.");
    for (end, n) in [
        ("accepted", counts.let_in),
        ("capped", counts.capped),
        ("failed", counts.not_accepted + counts.headerless),
    ] {
        line(out, name, &format!("end=\"{end}\""), n as f64);
    }
    let name = "plimsoll_gate_faults_total";
    head(out, name, "counter", "Requests that are malformed or slow, or that an upstream failed.");
    for (status, n) in FAULT_STATUSES.iter().zip(counts.faults_by) {
        line(out, name, &format!("status=\"{status}\""), n as f64);
    }
    for (name, about, n) in [
        ("upstream_connections_total", "Connections opened to upstreams.", counts.connects),
        ("retries_total", "Requests sent to an upstream again.", counts.retries),
        ("aborted_total", "Responses cut off by the upstream or the client.", counts.aborted),
        ("tunnels_total", "Changes of protocol.", counts.tunnels),
    ] {
        let name = format!("plimsoll_gate_{name}");
        head(out, &name, "counter", about);
        let _ = writeln!(out, "{name} {n}");
    }
}

fn servers(out: &mut String, servers: &[ServerView]) {
    let of = |server: &ServerView| {
        format!("upstream=\"{}\",server=\"{}\"", label(&server.upstream), server.socket)
    };
    type Figure = fn(&ServerView) -> u64;
    let figures: [(&str, &str, &str, Figure); 5] = [
        ("up", "gauge", "Whether requests may be sent to the server.", |of| u64::from(of.well)),
        ("in_flight", "gauge", "Requests in flight to the server.", |of| of.in_flight.into()),
        ("failed_total", "counter", "Requests that the server did not answer.", |of| of.failed),
        ("checks_total", "counter", "Active checks of the server.", |of| of.checks),
        ("checks_failed_total", "counter", "Those of them that failed.", |of| of.checks_failed),
    ];
    for (name, kind, about, figure) in figures {
        let name = format!("plimsoll_gate_server_{name}");
        head(out, &name, kind, about);
        for server in servers {
            line(out, &name, &of(server), figure(server) as f64);
        }
    }
}

fn log_lines(out: &mut String, counts: LogCounts) {
    let name = "plimsoll_gate_log_lines_total";
    head(out, name, "counter", "Requests by what became of their line in the access log.");
    for (place, n) in
        [("written", counts.written), ("dropped", counts.dropped), ("failed", counts.failed)]
    {
        line(out, name, &format!("place=\"{place}\""), n as f64);
    }
}

fn shadows(out: &mut String, view: &ShadowView) {
    let name = "plimsoll_gate_shadow_requests_total";
    head(out, name, "counter", "Shadow requests by what came of them.");
    for (end, n) in [
        ("sent", view.sent),
        ("dropped", view.dropped),
        ("failed", view.failed),
        ("alike", view.alike),
        ("different", view.different),
    ] {
        line(out, name, &format!("end=\"{end}\""), n as f64);
    }
}

fn gauge(out: &mut String, name: &str, about: &str, value: f64) {
    head(out, name, "gauge", about);
    let _ = writeln!(out, "{name} {value}");
}

// Writing into a string cannot fail.
fn head(out: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: f64) {
    let _ = writeln!(out, "{name}{{{labels}}} {value}");
}

/// A name as the value of a label.
fn label(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
