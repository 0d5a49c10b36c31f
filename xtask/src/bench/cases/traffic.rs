//! What real traffic costs: many endpoints with parameters, signed tokens, and k6 with one URL that changes.
//!
//! Every request goes to a path with the same response, so that nothing but the making of it differs.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::closed::ratio;
use crate::bench::Bench;
use crate::bench::client::Outcome;
use crate::bench::rounds::Series;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::Server;
use crate::bench::statistics::Spread;

const LOAD: &str = "-t1 -c100";

fn put(folder: &TempDir, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.path().join(name);
    fs::write(&path, text)?;
    Ok(path)
}

/// Where the server is, without the path.
fn host(server: &Server) -> &str {
    server.url.trim_end_matches("/healthz")
}

/// Twenty endpoints with weights of 1 to 20, each with two parameters from pools, against the one URL.
pub fn endpoints(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = bench.targets()?;
    let folder = tempfile::tempdir()?;
    let users: Vec<Value> =
        (0..10_000).map(|n| json!({"id": n, "name": format!("user-{n}")})).collect();
    let shops: Vec<Value> = (0..500).map(|n| json!(format!("shop-{n}"))).collect();
    let endpoint = |n: u32| {
        let query = json!({"e": n.to_string(), "user": "${users.id}", "shop": "${shops}"});
        json!({"name": format!("e{n}"), "path": "/healthz", "query": query, "weight": n})
    };
    let workload = json!({
        "target": host(&second),
        "pools": {"users": {"values": users}, "shops": {"values": shops}},
        "endpoints": (1..=20).map(endpoint).collect::<Vec<_>>(),
    });
    let file = put(&folder, "twenty.json", &workload.to_string())?;
    let clients = [bench.client(LOAD, &first)?, bench.workload(&file, LOAD, &second)?];
    let [one, twenty] = bench.take_turns(clients)?;
    let what = "20 weighted endpoints, 2 pool parameters each: CPU over one URL's".into();
    Ok(vec![ratio(what, &twenty, ("one URL", &one), Reach::AtMost(1.25))])
}

/// The same request with a token signed for it and with one that was signed before.
pub fn token(bench: &Bench) -> Result<Vec<Row>> {
    /// What the token of user 5000 is when made, but for the instants in it: as long as the others.
    const CLAIMS: &str = r#"{"sub":"${users.id}","iat":${unix()},"exp":${unix(3600)}}"#;
    const MADE: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI1MDAwIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDM2MDB9.\
                        dGhlIHNpZ25hdHVyZSBpcyAzMiBieXRlcyBsb25nISE";
    let [first, second] = bench.targets()?;
    let folder = tempfile::tempdir()?;
    let users: Vec<Value> = (1000..10_000).map(|n| json!({"id": n})).collect();
    let with = |token: &str, server| {
        json!({
            "target": host(server),
            "pools": {"users": {"values": users.clone()}},
            "variables": {"claims": CLAIMS},
            "endpoints": [{
                "path": "/healthz", "query": {"user": "${users.id}"},
                "headers": {"Authorization": format!("Bearer {token}")},
            }],
        })
        .to_string()
    };
    let signed = "${jwt_hs256(claims, 'a key of thirty-two bytes or more')}";
    let before = put(&folder, "token-made-before.json", &with(MADE, &first))?;
    let each = put(&folder, "token-for-each.json", &with(signed, &second))?;
    let clients = [bench.workload(&before, LOAD, &first)?, bench.workload(&each, LOAD, &second)?];
    let [before, each] = bench.take_turns(clients)?;
    let added = |figure: fn(&Outcome) -> f64| -> Vec<f64> {
        let (each, before) = (each.map(figure), before.map(figure));
        each.iter().zip(&before).map(|(each, before)| each - before).collect()
    };
    let row = |what: &str, figure: fn(&Outcome) -> f64, reach| {
        let of = |series: &Series| Spread::of(&series.map(figure)).median;
        Row {
            what: format!("JWT HS256 for every request: {what}"),
            unit: Unit::Microseconds,
            spread: Spread::of(&added(figure)),
            reach,
            detail: format!("{:.2} us; made before {:.2} us", of(&each), of(&before)),
        }
    };
    // Signing asks nothing of the kernel, whose share of a request varies by more than signing costs.
    Ok(vec![
        row("CPU added in user space", Outcome::user_us, Reach::AtMost(1.5)),
        row("CPU added", Outcome::cpu_us, Reach::Nothing),
    ])
}

/// What k6's own documentation advises for URLs that change: a name for all of them, and responses not kept.
const K6: &str = "import http from 'k6/http';
export const options = { discardResponseBodies: true };
export default function () {
  const id = Math.floor(Math.random() * 1000000);
  http.get(`${__ENV.URL}?id=${id}`, { tags: { name: 'item' } });
}
";

/// One URL with a random number in it.
pub fn k6(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = bench.targets()?;
    let folder = tempfile::tempdir()?;
    let workload = json!({
        "target": host(&second),
        "endpoints": [{"name": "item", "path": "/healthz", "query": {"id": "${int(0, 999999)}"}}],
    });
    let file = put(&folder, "random-id.json", &workload.to_string())?;
    let script = put(&folder, "random-id.js", K6)?;
    let clients = [bench.k6(&script, 100, &first)?, bench.workload(&file, LOAD, &second)?];
    let [k6, ours] = bench.take_turns(clients)?;
    let what = "one URL with a random number, c=100: CPU over k6's".into();
    Ok(vec![ratio(what, &ours, ("k6", &k6), Reach::AtMost(1.0 / 15.0))])
}
