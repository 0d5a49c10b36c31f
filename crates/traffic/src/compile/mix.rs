//! The mix as plans and results have it.

use std::collections::HashMap;

use model::Workload;
use model::plan::{EndpointPlan, FlowPlan, Mix, Today};

use crate::program::{Form, Request, Split};

use super::load::{Unit, Wanted, step_writes, writes};
use super::request::{method, name};
use super::{checks, flow};

/// `requests` are those of the endpoints, compiled.
pub(super) fn mix(workload: &Workload, wanted: &Wanted, requests: &[Request]) -> Mix {
    let mut mix = Mix::default();
    let sessions = wanted.units.iter().any(|unit| matches!(unit, Unit::Flow(_)));
    for (at, unit) in wanted.units.iter().enumerate() {
        let part = wanted.parts[at];
        let rate_per_s = matches!(wanted.split, Split::Rates(_)).then_some(part);
        let connections = matches!(wanted.split, Split::Users(_)).then_some(part as u32);
        match *unit {
            Unit::Endpoint(index) => mix.endpoints.push(EndpointPlan {
                // What steps send depends on their responses.
                share: wanted.share(at).filter(|_| !sessions),
                rate_per_s,
                connections,
                ..endpoint(workload, index)
            }),
            Unit::Flow(index) => {
                let flow = &workload.flows[index];
                let first = mix.endpoints.len() as u32;
                mix.endpoints
                    .extend((0..flow.steps.len()).map(|step| self::step(workload, index, step)));
                mix.flows.push(FlowPlan {
                    name: flow.name.clone(),
                    steps: (first..mix.endpoints.len() as u32).collect(),
                    share: wanted.share(at),
                    rate_per_s,
                    connections,
                });
            }
        }
    }
    for (endpoint, request) in mix.endpoints.iter_mut().zip(requests) {
        endpoint.unchanging = matches!(request.form, Form::Fixed(_));
    }
    number_equal_names(&mut mix);
    mix
}

fn endpoint(workload: &Workload, index: usize) -> EndpointPlan {
    let endpoint = &workload.endpoints[index];
    let method = method(endpoint.method.as_deref(), endpoint.body.as_ref());
    EndpointPlan {
        name: name(endpoint.name.as_deref(), method, &endpoint.path),
        method: method.to_owned(),
        path: endpoint.path.clone(),
        success: endpoint.success.clone().or_else(|| workload.success.clone()).unwrap_or_default(),
        checks: endpoint.checks.iter().map(checks::in_words).collect(),
        writes: writes(endpoint),
        objectives: endpoint.objectives.clone(),
        today: endpoint.today.map(|today| Today {
            p50_ns: today.p50.map(|time| time.0),
            p99_ns: today.p99.map(|time| time.0),
        }),
        ..EndpointPlan::default()
    }
}

/// A step. Its extractions are numbered after its checks.
fn step(workload: &Workload, index: usize, number: usize) -> EndpointPlan {
    let flow = &workload.flows[index];
    let step = &flow.steps[number];
    let method = method(step.method.as_deref(), step.body.as_ref());
    let found = step.extract.iter().map(|(name, extractor)| flow::in_words(name, extractor));
    EndpointPlan {
        name: format!("{}/{}", flow.name, name(step.name.as_deref(), method, &step.path)),
        method: method.to_owned(),
        path: step.path.clone(),
        success: step.success.clone().or_else(|| workload.success.clone()).unwrap_or_default(),
        checks: step.checks.iter().map(checks::in_words).chain(found).collect(),
        writes: step_writes(step),
        objectives: step.objectives.clone(),
        ..EndpointPlan::default()
    }
}

/// Numbers equal names: two paths may differ only in their queries, which names leave out.
fn number_equal_names(mix: &mut Mix) {
    let mut times = HashMap::new();
    for endpoint in &mut mix.endpoints {
        let times = times.entry(endpoint.name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            endpoint.name = format!("{} ({times})", endpoint.name);
        }
    }
}
