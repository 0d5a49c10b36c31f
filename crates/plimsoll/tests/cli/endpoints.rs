//! `plimsoll capacity` of workloads with several endpoints: their objectives, shares and costs.

use serde_json::{Value, json};

use crate::harness::{Folder, Target};

/// A search short enough for a test. What it finds in so little time is not asserted closely.
const SHORT: &str = "--budget 30s --step 400ms --hold 1s --rest 30ms --precision 20% --out out";
const USERS: &str = "GET /users/{id}: p95<40ms";

/// A quarter of the requests are of `GET /users/{id}`, whose one server takes 5 ms for each, now more, now
/// less: its queue is too long before it is overloaded.
fn users(folder: &Folder, target: &Target) {
    folder.put(
        "users.yaml",
        format!(
            "target: {}\n\
             endpoints:\n\
             \x20 - name: GET /users/{{id}}\n\
             \x20   path: /queue?servers=1&mean=5ms&dist=exp\n\
             \x20   weight: 1\n\
             \x20   objectives: [p95<40ms]\n\
             \x20 - {{path: /delay/1ms, weight: 1}}\n\
             \x20 - {{path: /healthz, weight: 2}}\n",
            target.url("")
        ),
    );
}

/// Ten endpoints of weight 10 that respond at once, and one of weight `weight` that takes 130 ms.
fn eleven(folder: &Folder, target: &Target, weight: u32) {
    let mut text = format!("target: {}\nendpoints:\n", target.url(""));
    for nth in 0..10 {
        text += &format!("  - {{path: /bytes/{nth}, weight: 10}}\n");
    }
    text += &format!("  - {{name: GET /slow, path: /delay/130ms, weight: {weight}}}\n");
    folder.put("eleven.yaml", text);
}

fn found(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(name)).unwrap()
}

#[test]
fn each_endpoint_has_its_share_and_cost() {
    let (folder, target) = (Folder::new(), Target::start());
    users(&folder, &target);
    let ended = folder.plimsoll_for(&format!("capacity users.yaml {SHORT}"), USERS);
    assert!([0, 98].contains(&ended.code), "{ended:#?}");
    let line = found(&folder, "out/capacity.json");
    assert_eq!(line["schema"], "plimsoll.loadline/1");
    assert_eq!(line["objectives"], json!([USERS]));
    let of = |at: usize, what: &str| line["endpoints"][at][what].as_f64().unwrap();
    let names = [0, 1, 2].map(|at| line["endpoints"][at]["endpoint"].as_str().unwrap());
    assert_eq!(names, ["GET /users/{id}", "GET /delay/1ms", "GET /healthz"]);
    let shares: f64 = (0..3).map(|at| of(at, "share")).sum();
    assert!((shares - 1.0).abs() < 0.001, "{line:#}");
    assert!(of(1, "service_mean_ns") >= 1e6, "{line:#}");
    // A cost is in requests of the mix: weighted by share, the costs sum to one.
    let mean: f64 = (0..3).map(|at| of(at, "share") * of(at, "cost")).sum();
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn objectives_of_endpoints_in_the_file_are_asked_of_every_level() {
    let (folder, target) = (Folder::new(), Target::start());
    users(&folder, &target);
    let line = format!("capacity users.yaml --max 100 {SHORT}");
    folder.plimsoll(&line).prints(&format!("Objectives    {USERS}"));
    let search = found(&folder, "out/search.json");
    assert_eq!(search["objectives"], json!([USERS]));
    let levels = search["steps"].as_array().unwrap().iter();
    let levels = levels.filter(|step| step["step"]["purpose"] == "search");
    let asked = |step: &Value| step["judged"]["margins"].to_string().contains(USERS);
    assert!(levels.clone().count() > 0 && levels.clone().any(asked), "{search:#}");
}

#[test]
fn an_endpoint_that_nobody_asks_for_is_refused() {
    let (folder, target) = (Folder::new(), Target::start());
    users(&folder, &target);
    let line = format!("capacity users.yaml -q {SHORT}");
    let ended = folder.plimsoll_for(&line, "GET /nobody: p95<40ms").ends(2);
    assert!(ended.stderr.contains("'GET /nobody: p95<40ms': "), "{ended:#?}");
}

#[test]
fn the_ten_busiest_count_and_the_eleventh_does_not() {
    let (folder, target) = (Folder::new(), Target::start());
    eleven(&folder, &target, 2);
    let ended = folder.plimsoll(&format!("capacity eleven.yaml --max 200 --slo top10 {SHORT}"));
    assert!([0, 98].contains(&ended.code), "{ended:#?}");
    let line = found(&folder, "out/capacity.json");
    assert_eq!(line["objectives"], json!(["top10: mean<=100ms", "top10: errors<=0.1%"]));
    let endpoints = line["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), 11);

    eleven(&folder, &target, 100);
    let line = format!("capacity eleven.yaml --max 1000 --slo top10 {SHORT}-busy");
    let ended = folder.plimsoll(&line);
    // Where other programs take the processors, the budget may end before that is certain.
    if ended.code != 98 {
        ended.ends(99);
        let outcome = found(&folder, "out-busy/search.json")["outcome"].to_string();
        let wanted = [
            "the objectives are never met (GET /slow: mean<=100ms): best level tried: ",
            ", where GET /slow: mean<=100ms was ",
        ];
        assert!(wanted.iter().all(|wanted| outcome.contains(wanted)), "{outcome}");
        assert!(!folder.path().join("out-busy/capacity.json").exists());
    }
}
