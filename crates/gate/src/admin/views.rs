//! What the admin API shows, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use model::quote::plain;
use serde::Serialize;
use serde_json::{Value, json};

use crate::gateway::{Control, Reloaded};
use crate::keys::{Change, KeyRecord};
use crate::policy::{PROBLEMS, Policy};
use crate::usage::{Second, Sum};

/// Rows of usage that are shown.
const ROWS: usize = 200;
/// Columns of an owner's name that are shown.
const OWNER: usize = 60;

/// The gateway as it stands.
#[derive(Debug, Serialize)]
pub(super) struct StateView {
    schema: &'static str,
    keys_asked: bool,
    keys: usize,
    keys_bytes: usize,
    line: Option<LineView>,
    in_flight: f64,
    account: Value,
    sink_error: Option<String>,
    configuration: Reloaded,
    troubles: Vec<String>,
    access_log: Option<Value>,
    shadow: Value,
    shared: Option<Value>,
    servers: Vec<Value>,
    seconds: Vec<Value>,
    usage: Vec<Value>,
}

/// The load line, and where the ceiling stands.
#[derive(Debug, Serialize)]
struct LineView {
    certified_per_s: f64,
    ceiling_per_s: f64,
    at_once: f64,
    envelope: String,
    limit_ns: u64,
    latency_ns: Option<u64>,
    measured: String,
    measured_at: String,
    confirmed: bool,
    lower_bound: bool,
    misfit: Option<String>,
}

pub(super) fn state(control: &Control) -> StateView {
    let policy = control.policy();
    let shared = control.state();
    let (account, sink_error, seconds, mut usage) = control.usage().read(|snapshot| {
        let account = &snapshot.account;
        (
            json!({"served": account.served, "reported": account.reported, "pending": account.pending,
                "dropped": account.dropped}),
            snapshot.sink_error.clone(),
            snapshot.seconds.iter().map(second).collect(),
            usage(&policy, &snapshot.since_start),
        )
    });
    name_owners(control, &mut usage);
    StateView {
        schema: "plimsoll.gatestate/1",
        keys_asked: policy.asks_for_keys(),
        keys: shared.keys.len(),
        keys_bytes: shared.keys.bytes(),
        line: line(control, &policy),
        in_flight: shared.ceiling.in_flight(),
        account,
        sink_error,
        configuration: control.outcome(),
        troubles: control.troubles().standing(),
        access_log: access_log(control),
        shadow: shadow(control),
        shared: sharing(control),
        servers: servers(control),
        seconds,
        usage,
    }
}

fn line(control: &Control, policy: &Policy) -> Option<LineView> {
    let line = policy.line()?;
    let standing = control.standing();
    let ceiling = &control.state().ceiling;
    Some(LineView {
        certified_per_s: line.rate_per_s,
        ceiling_per_s: ceiling.rate_per_s(),
        at_once: ceiling.at_once(),
        envelope: line.envelope.from.clone(),
        limit_ns: line.envelope.limit_ns,
        latency_ns: standing.latency_ns,
        measured: line.url.clone(),
        measured_at: line.measured_at.clone(),
        confirmed: line.confirmed,
        lower_bound: line.at_least,
        misfit: standing.misfit,
    })
}

fn access_log(control: &Control) -> Option<Value> {
    let log = control.log()?;
    let counts = log.queue().counts();
    Some(json!({"written": counts.written, "dropped": counts.dropped, "failed": counts.failed,
        "error": log.error()}))
}

fn shadow(control: &Control) -> Value {
    let view = control.state().shadowed.view();
    let pairs = view
        .pairs
        .iter()
        .map(|(first, second, n)| json!({"first": first, "shadow": second, "n": n}));
    json!({"sent": view.sent, "dropped": view.dropped, "failed": view.failed, "alike": view.alike,
        "different": view.different, "pairs": pairs.collect::<Vec<_>>()})
}

fn sharing(control: &Control) -> Option<Value> {
    let view = control.link()?.view();
    let fresh = control.state().shared.is_fresh(net::clock::now());
    Some(
        json!({"server": view.server, "answers": fresh, "answered": view.answered, "failed": view.failed,
        "error": view.error, "gateways": control.state().shared.gateways()}),
    )
}

fn servers(control: &Control) -> Vec<Value> {
    let now_ns = net::clock::now();
    let view = |server: crate::health::ServerView| {
        json!({"upstream": server.upstream, "address": server.socket.to_string(), "well": server.well,
            "in_flight": server.in_flight, "failed": server.failed, "checks": server.checks,
            "checks_failed": server.checks_failed})
    };
    control.health().view(now_ns).into_iter().map(view).collect()
}

fn second(second: &Second) -> Value {
    json!({"at_s": second.at_s, "forwarded": second.forwarded, "refused": second.refused.iter().sum::<u64>(),
        "failed": second.failed, "p50_ns": second.p50_ns, "p99_ns": second.p99_ns})
}

/// The busiest keys and routes.
fn usage(policy: &Policy, sums: &BTreeMap<(u64, u32), Sum>) -> Vec<Value> {
    let mut rows: Vec<_> = sums.iter().collect();
    rows.sort_by_key(|(by, sum)| (std::cmp::Reverse(sum.requests()), **by));
    let row = |(&(key, route), sum): (&(u64, u32), &Sum)| {
        json!({"key": key, "route": policy.route_name(route), "forwarded": sum.forwarded,
            "refused": refused(sum), "statuses": sum.statuses, "bytes_in": sum.bytes_in, "bytes_out": sum.bytes_out,
            "upstream_failed": sum.upstream_failed, "p50_ns": sum.latency.interpolated(0.5),
            "p99_ns": sum.latency.interpolated(0.99)})
    };
    rows.into_iter().take(ROWS).map(row).collect()
}

/// Says whose the keys of rows are. The store is asked, since the table of keys holds no names; a page that cannot be told
/// shows numbers.
fn name_owners(control: &Control, rows: &mut [Value]) {
    let mut owners: BTreeMap<u64, String> = BTreeMap::new();
    let keys = rows.iter().filter_map(|row| row["key"].as_u64()).filter(|key| *key > 0);
    let keys: BTreeSet<u64> = keys.collect();
    control.with_store(|store| {
        let owner = |key: u64| Some((key, plain(&store.owner(key).ok()??, OWNER)));
        owners.extend(keys.into_iter().filter_map(owner));
    });
    for row in rows {
        let owner = row["key"].as_u64().and_then(|key| owners.get(&key));
        row["owner"] = owner.map_or("", String::as_str).into();
    }
}

fn refused(sum: &Sum) -> BTreeMap<&'static str, u64> {
    let named = PROBLEMS.iter().zip(sum.refused).filter(|(_, n)| *n > 0);
    named.map(|(problem, n)| (problem.code(), n)).collect()
}

/// A key, without its digest.
pub(super) fn key(key: &KeyRecord) -> Value {
    let own = &key.key;
    json!({"id": key.id, "owner": own.owner, "tier": own.tier, "routes": own.routes,
        "rate_per_s": own.rate.map(|rate| rate.per_s), "burst": own.rate.map(|rate| rate.burst),
        "concurrency": own.at_once, "per_day": own.day_quota, "per_month": own.month_quota,
        "body_bytes": own.body_max_bytes,
        "created_s": key.created_s, "expires_s": own.expires_s, "revoked_s": key.revoked_s})
}

/// A change.
pub(super) fn change(change: &Change) -> Value {
    json!({"number": change.number, "at_s": change.at_s, "by": change.by, "key": change.key, "what": change.what})
}
