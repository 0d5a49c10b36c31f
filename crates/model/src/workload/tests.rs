use serde_json::json;

use super::*;
use crate::units::{MILLISECOND, SECOND};

/// A workload with every kind of thing in it.
fn full() -> serde_json::Value {
    json!({
        "name": "shop",
        "target": "https://shop.example",
        "headers": {"Accept": "application/json", "X-Tag": ["a", "b"]},
        "timeout": "500ms",
        "success": "200-299",
        "load": {"rate": "45/s", "duration": 30, "stages": [{"hold": {"at": "90/m", "for": "1m"}}]},
        "pools": {
            "user": {"file": "users.csv", "order": "unique"},
            "size": {"values": [{"size": "S", "n": 9}, {"size": "L", "n": 1}], "order": "weighted", "weight": "n"}
        },
        "variables": {"id": "${int(1, 9)}"},
        "endpoints": [
            {"path": "/items/${id}", "query": {"page": 2}, "weight": 9.5,
             "checks": [{"status": "200"}, {"json": {"pointer": "/ok", "equals": true}}]},
            {"name": "order", "path": "/orders", "body": {"json": {"z": 1, "a": ["${user.id}", null, 0.5]}}}
        ],
        "flows": [{"name": "visit", "steps": [
            {"path": "/login", "extract": {"token": {"json": "/token"}}, "think": "1s"},
            {"path": "/me", "when": {"has": "token"}, "headers": {"Authorization": "Bearer ${token}"}}
        ]}],
        "objectives": ["p99<500ms"],
        "observe": ["db=postgres://app@db1/shop"]
    })
}

#[test]
fn reads_what_people_write() {
    let workload: Workload = serde_json::from_value(full()).unwrap();
    assert_eq!(workload.timeout, Some(Time(500 * MILLISECOND)));
    assert_eq!(workload.load.duration, Some(Time(30 * SECOND)));
    assert_eq!(workload.load.rate, Some(Rate(45.0)));
    assert_eq!(workload.load.stages, [Stage::Hold { at: Rate(1.5), r#for: Time(60 * SECOND) }]);
    let tags = [("Accept", "application/json"), ("X-Tag", "a"), ("X-Tag", "b")];
    assert!(workload.headers.iter().eq(tags));
    assert!(workload.endpoints[0].query.iter().eq([("page", "2")]));
    let Some(Body::Json(body)) = &workload.endpoints[1].body else { panic!("no JSON body") };
    assert_eq!(body.member("z"), Some(&Literal::Int(1)));
    assert_eq!(workload.flows[0].steps[1].when, Some(Condition::Has("token".into())));
}

#[test]
fn written_and_read_again_it_is_the_same() {
    let workload: Workload = serde_json::from_value(full()).unwrap();
    let again: Workload = serde_json::from_str(&serde_json::to_string(&workload).unwrap()).unwrap();
    assert_eq!(again, workload);
}

#[test]
fn the_schema_accepts_a_full_workload_and_refuses_a_misspelt_key() {
    let schema = serde_json::to_value(schemars::schema_for!(Workload)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&full()).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let mut misspelt = full();
    misspelt["endpoints"][0]["wieght"] = json!(1);
    assert!(!validator.is_valid(&misspelt));
    assert!(serde_json::from_value::<Workload>(misspelt).is_err());
}

#[test]
fn wrong_units_are_reported() {
    for (text, needle) in [("5/x", "`x`"), ("fast", "`fast`"), ("-1/s", "negative")] {
        let error = text.parse::<Rate>().unwrap_err();
        assert!(error.contains(needle), "{text}: {error}");
    }
    assert_eq!("30/m".parse(), Ok(Rate(0.5)));
    assert_eq!("20k".parse(), Ok(Rate(20_000.0)));
    assert_eq!(Rate(0.5).to_string(), "0.5/s");
}

#[test]
fn literals_print_as_json() {
    let text = r#"{"a":"q\"\\\n\u0001é","b":[true,null,-3,1.5],"c":{}}"#;
    let literal: Literal = serde_json::from_str(text).unwrap();
    assert_eq!(literal.to_string(), text);
    let by_serde: serde_json::Value = serde_json::from_str(&literal.to_string()).unwrap();
    assert_eq!(by_serde, serde_json::from_str::<serde_json::Value>(text).unwrap());
}
