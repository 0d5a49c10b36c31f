//! The mix as plans and results have it.

use std::collections::HashMap;

use model::Workload;
use model::plan::{EndpointPlan, Mix};

use crate::program::Split;

use super::checks::in_words;
use super::load::{Wanted, writes};
use super::request::{method, name, success};

pub(super) fn mix(workload: &Workload, wanted: &Wanted) -> Mix {
    let mut names = HashMap::new();
    let mut endpoints = Vec::new();
    for (item, &index) in wanted.endpoints.iter().enumerate() {
        let endpoint = &workload.endpoints[index];
        let plain = name(endpoint.name.as_deref(), method(endpoint), &endpoint.path);
        // Two paths may differ in what names leave out: their queries.
        let times = names.entry(plain.clone()).or_insert(0);
        *times += 1;
        let part = wanted.parts[item];
        endpoints.push(EndpointPlan {
            name: if *times > 1 { format!("{plain} ({times})") } else { plain },
            method: method(endpoint).to_owned(),
            path: endpoint.path.clone(),
            success: success(endpoint, workload),
            checks: endpoint.checks.iter().map(in_words).collect(),
            writes: writes(endpoint),
            share: wanted.share(item),
            rate_per_s: matches!(wanted.split, Split::Rates(_)).then_some(part),
            connections: matches!(wanted.split, Split::Users(_)).then_some(part as u32),
            objectives: endpoint.objectives.clone(),
        });
    }
    Mix { endpoints, flows: Vec::new() }
}
