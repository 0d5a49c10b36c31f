//! Which endpoints and flows are sent, and in what shares.

use std::collections::HashMap;

use model::Workload;
use model::workload::{Body, Count, Endpoint, LoadSpec, Rate, Step, Time};

use crate::draw::Choice;
use crate::finding::{Findings, inside};
use crate::program::{Item, Split, What};

use super::Inputs;
use super::request::{method, name};
use super::varying_load::VaryingLoad;

/// Endpoints of a workload at most, steps among them: as many as results distinguish.
const MOST: usize = 1_000;
/// Users at most.
const MOST_USERS: u64 = 1 << 30;

/// What an arrival may begin: an index into the workload's endpoints or flows. Endpoints come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Endpoint(usize),
    Flow(usize),
}

/// The endpoints and flows that are sent.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) units: Vec<Unit>,
    pub(super) items: Vec<Item>,
    pub(super) split: Split,
    pub(super) load: LoadSpec,
    pub(super) left_out: Vec<String>,
    /// Each unit's weight, rate or users.
    pub(super) parts: Vec<f64>,
    pub(super) varying: VaryingLoad,
}

/// The unit in which shares of the mix are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Weight,
    Rate,
    Concurrency,
}

impl Kind {
    const fn key(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Rate => "rate",
            Self::Concurrency => "concurrency",
        }
    }
}

/// The share of the load that an endpoint or flow states.
struct LoadShare {
    place: String,
    weight: Option<f64>,
    rate: Option<Rate>,
    concurrency: Option<Count>,
    pace: Option<Time>,
}

impl Unit {
    fn share(self, workload: &Workload) -> LoadShare {
        match self {
            Self::Endpoint(index) => {
                let Endpoint { weight, rate, concurrency, pace, .. } = workload.endpoints[index];
                let place = format!("endpoints/{index}");
                LoadShare { place, weight, rate, concurrency, pace }
            }
            Self::Flow(index) => {
                let flow = &workload.flows[index];
                let (weight, rate, concurrency) = (flow.weight, flow.rate, flow.concurrency);
                let place = format!("flows/{index}");
                LoadShare { place, weight, rate, concurrency, pace: flow.pace }
            }
        }
    }

    /// Requests that it sends, and how many of them change something.
    fn requests(self, workload: &Workload) -> (usize, usize) {
        match self {
            Self::Endpoint(index) => (1, usize::from(writes(&workload.endpoints[index]))),
            Self::Flow(index) => {
                let steps = &workload.flows[index].steps;
                (steps.len(), steps.iter().filter(|step| step_writes(step)).count())
            }
        }
    }

    fn name(self, workload: &Workload) -> String {
        match self {
            Self::Endpoint(index) => {
                let Endpoint { name: own, method: given, body, path, .. } =
                    &workload.endpoints[index];
                name(own.as_deref(), method(given.as_deref(), body.as_ref()), path)
            }
            Self::Flow(index) => workload.flows[index].name.clone(),
        }
    }
}

/// Whether an endpoint changes anything on the server.
pub(super) fn writes(endpoint: &Endpoint) -> bool {
    changes(endpoint.writes, endpoint.method.as_deref(), endpoint.body.as_ref())
}

/// Whether a step changes anything on the server.
pub(super) fn step_writes(step: &Step) -> bool {
    changes(step.writes, step.method.as_deref(), step.body.as_ref())
}

fn changes(stated: Option<bool>, given: Option<&str>, body: Option<&Body>) -> bool {
    stated.unwrap_or(!matches!(method(given, body), "GET" | "HEAD" | "OPTIONS" | "TRACE"))
}

impl Wanted {
    pub(super) fn of(workload: &Workload, inputs: &Inputs<'_>, findings: &Findings) -> Self {
        let mut wanted = Self {
            units: Vec::new(),
            items: Vec::new(),
            split: Split::Users(vec![1]),
            load: workload.load.clone(),
            left_out: Vec::new(),
            parts: Vec::new(),
            varying: VaryingLoad::default(),
        };
        let endpoints = (0..workload.endpoints.len()).map(Unit::Endpoint);
        let flows = (0..workload.flows.len()).map(Unit::Flow);
        let all: Vec<Unit> = endpoints.chain(flows).collect();
        let requests: usize = all.iter().map(|unit| unit.requests(workload).0).sum();
        if requests.max(all.len()) > MOST {
            let what = format!("more than {MOST} endpoints, steps of flows among them");
            findings.add("endpoints", what);
            return wanted;
        }
        for unit in all {
            if inputs.reads_only && unit.requests(workload).1 > 0 {
                wanted.left_out.push(unit.name(workload));
            } else {
                wanted.units.push(unit);
            }
        }
        if wanted.units.is_empty() {
            let what = if wanted.left_out.is_empty() {
                "there is nothing to send: name an endpoint or a flow"
            } else {
                "nothing is left to send: every endpoint changes something on the server"
            };
            findings.add("endpoints", what);
            return wanted;
        }
        names(workload, findings);
        let kind = wanted.kind(workload, findings);
        wanted.share_out(workload, kind, inputs.scale, findings);
        let own = kind != Kind::Weight;
        wanted.varying = VaryingLoad::of(&mut wanted.load, own, inputs, findings);
        wanted
    }

    /// The unit in which shares are given: the same for all endpoints and flows.
    fn kind(&self, workload: &Workload, findings: &Findings) -> Kind {
        let mut kind: Option<Kind> = None;
        let shares: Vec<LoadShare> = self.units.iter().map(|unit| unit.share(workload)).collect();
        for unit in &shares {
            let given = [
                (Kind::Weight, unit.weight.is_some()),
                (Kind::Rate, unit.rate.is_some()),
                (Kind::Concurrency, unit.concurrency.is_some()),
            ];
            for (of, _) in given.into_iter().filter(|(_, given)| *given) {
                if let Some(kind) = kind.filter(|kind| *kind != of) {
                    let what = format!(
                        "others have a `{}`: give every endpoint a weight, or every one a rate, \
                         or every one users",
                        kind.key()
                    );
                    findings.add(&inside(&unit.place, of.key()), what);
                }
                kind.get_or_insert(of);
            }
        }
        let kind = kind.unwrap_or(Kind::Weight);
        for unit in &shares {
            if unit.pace.is_some() && kind != Kind::Concurrency {
                findings.add(&inside(&unit.place, "pace"), "needs a `concurrency` beside it");
            }
            let lacks = match kind {
                Kind::Weight => false,
                Kind::Rate => unit.rate.is_none(),
                Kind::Concurrency => unit.concurrency.is_none(),
            };
            if lacks {
                findings.add(&unit.place, format!("has no `{}`, others have one", kind.key()));
            }
        }
        kind
    }

    fn share_out(&mut self, workload: &Workload, kind: Kind, scale: f64, findings: &Findings) {
        let scaled_users = |users: u64| ((users as f64 * scale).round() as u64).max(1);
        for &unit in &self.units {
            let share = unit.share(workload);
            let part = match kind {
                Kind::Weight => share.weight.unwrap_or(1.0),
                Kind::Rate => share.rate.unwrap_or_default().0 * scale,
                Kind::Concurrency => match share.concurrency.unwrap_or(Count(1)).0 {
                    0 => 0.0,
                    users => scaled_users(users) as f64,
                },
            };
            if !part.is_finite() || part < 0.0 {
                let at = inside(&share.place, kind.key());
                findings.add(&at, format!("{part} is not a {}", kind.key()));
            }
            self.parts.push(part);
        }
        self.items = items(&self.units, workload);
        let total: f64 = self.parts.iter().sum();
        let Some(choice) = Choice::new(&self.parts) else {
            findings.add("endpoints", format!("the {}s sum to zero", kind.key()));
            return;
        };
        let load = &mut self.load;
        let twice = [("rate", load.rate.is_some()), ("concurrency", load.concurrency.is_some())];
        for (key, _) in twice.iter().filter(|(_, given)| *given && kind != Kind::Weight) {
            let what = format!("endpoints have a `{}` of their own: leave this out", kind.key());
            findings.add(&inside("load", key), what);
        }
        match kind {
            Kind::Weight => {
                let none = [
                    ("rate", load.rate == Some(Rate(0.0))),
                    ("concurrency", load.concurrency == Some(Count(0))),
                ];
                for (key, _) in none.iter().filter(|(_, is_none)| *is_none) {
                    findings.add(&inside("load", key), "must be above zero");
                }
                if load.rate.is_some() && load.concurrency.is_some() {
                    let what = "`rate` beside it opens the loop, which `connections` bounds";
                    findings.add(&inside("load", "concurrency"), what);
                }
                self.split = Split::Weights(choice);
                load.rate = load.rate.map(|rate| Rate(rate.0 * scale));
                load.concurrency = load.concurrency.map(|users| Count(scaled_users(users.0)));
            }
            Kind::Rate => {
                load.rate = Some(Rate(total));
                self.split = Split::Rates(choice);
            }
            Kind::Concurrency => {
                if total > MOST_USERS as f64 {
                    findings.add("endpoints", format!("more than {MOST_USERS} users"));
                }
                load.concurrency = Some(Count(total as u64));
                let mut end = 0;
                let ends = self.parts.iter().map(|part| {
                    end += *part as u64;
                    end
                });
                self.split = Split::Users(ends.collect());
            }
        }
    }

    /// The share of all arrivals that a unit has, 0 to 1; `None` where it depends on responses.
    pub(super) fn share(&self, unit: usize) -> Option<f64> {
        let total: f64 = self.parts.iter().sum();
        match self.split {
            Split::Users(_) => None,
            _ => Some(self.parts[unit] / total),
        }
    }

    /// The share of requests that change something. Where users send as fast as responses come, all are
    /// assumed to be equally fast; of flows, all steps are assumed to be taken.
    pub(super) fn write_share(&self, workload: &Workload) -> f64 {
        let (mut all, mut changing) = (0.0, 0.0);
        for (unit, part) in self.units.iter().zip(&self.parts) {
            let (requests, writes) = unit.requests(workload);
            all += part * requests as f64;
            changing += part * writes as f64;
        }
        if all > 0.0 { changing / all } else { 0.0 }
    }
}

fn items(units: &[Unit], workload: &Workload) -> Vec<Item> {
    let (mut requests, mut flows) = (0, 0);
    let item = |unit: &Unit| {
        let pace_ns = unit.share(workload).pace.map(|pace| pace.0);
        let (next, what): (&mut u32, fn(u32) -> What) = match unit {
            Unit::Endpoint(_) => (&mut requests, What::Request),
            Unit::Flow(_) => (&mut flows, What::Flow),
        };
        *next += 1;
        Item { what: what(*next - 1), pace_ns }
    };
    units.iter().map(item).collect()
}

/// Reports names that are given twice.
fn names(workload: &Workload, findings: &Findings) {
    let mut seen = HashMap::new();
    let endpoints = workload.endpoints.iter().enumerate();
    let endpoints = endpoints.filter_map(|(index, endpoint)| {
        Some((format!("endpoints/{index}"), endpoint.name.as_ref()?))
    });
    let flows = workload.flows.iter().enumerate();
    let flows = flows.map(|(index, flow)| (format!("flows/{index}"), &flow.name));
    for (place, name) in endpoints.chain(flows) {
        let at = inside(&place, "name");
        if name.trim().is_empty() {
            findings.add(&at, "the name is empty");
        } else if let Some(first) = seen.insert(name, place) {
            findings.add(&at, format!("{first} has the same name"));
        }
    }
}
