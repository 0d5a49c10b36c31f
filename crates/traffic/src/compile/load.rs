//! How much of what: which endpoints are sent, and what decides between them.

use model::Workload;
use model::workload::{Count, Endpoint, LoadSpec, Rate};

use crate::draw::Choice;
use crate::finding::{Findings, inside};
use crate::program::{Item, Split};

use super::Inputs;
use super::request::{method, name};

/// Endpoints of a workload at most: as many as results tell apart.
const MOST: usize = 1_000;
/// Users at most.
const MOST_USERS: u64 = 1 << 30;

/// What is sent.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Indexes into the workload's endpoints.
    pub(super) endpoints: Vec<usize>,
    pub(super) items: Vec<Item>,
    pub(super) split: Split,
    pub(super) load: LoadSpec,
    pub(super) left_out: Vec<String>,
    /// Each item's weight, rate or users.
    pub(super) parts: Vec<f64>,
}

/// What the parts of the mix are given in.
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

/// Whether an endpoint changes anything on the server.
pub(super) fn writes(endpoint: &Endpoint) -> bool {
    let reads = matches!(method(endpoint), "GET" | "HEAD" | "OPTIONS" | "TRACE");
    endpoint.writes.unwrap_or(!reads)
}

impl Wanted {
    pub(super) fn of(workload: &Workload, inputs: &Inputs<'_>, findings: &mut Findings) -> Self {
        let mut wanted = Self {
            endpoints: Vec::new(),
            items: Vec::new(),
            split: Split::Users(vec![1]),
            load: workload.load.clone(),
            left_out: Vec::new(),
            parts: Vec::new(),
        };
        if !workload.flows.is_empty() {
            findings.add("flows", "flows cannot be run yet");
        }
        if workload.endpoints.len() > MOST {
            findings.add("endpoints", format!("more than {MOST} endpoints"));
        }
        for (index, endpoint) in workload.endpoints.iter().enumerate().take(MOST) {
            if inputs.reads_only && writes(endpoint) {
                let own = endpoint.name.as_deref();
                wanted.left_out.push(name(own, method(endpoint), &endpoint.path));
            } else {
                wanted.endpoints.push(index);
            }
        }
        if wanted.endpoints.is_empty() && workload.flows.is_empty() {
            let what = if wanted.left_out.is_empty() {
                "there is nothing to send: name an endpoint"
            } else {
                "nothing is left to send: every endpoint changes something on the server"
            };
            findings.add("endpoints", what);
            return wanted;
        }
        names(workload, findings);
        let kind = wanted.kind(workload, findings);
        wanted.share_out(workload, kind, inputs.scale, findings);
        wanted
    }

    /// What the parts are given in: the same for all endpoints.
    fn kind(&self, workload: &Workload, findings: &mut Findings) -> Kind {
        let mut kind: Option<Kind> = None;
        for &index in &self.endpoints {
            let endpoint = &workload.endpoints[index];
            let given = [
                (Kind::Weight, endpoint.weight.is_some()),
                (Kind::Rate, endpoint.rate.is_some()),
                (Kind::Concurrency, endpoint.concurrency.is_some()),
            ];
            for (of, _) in given.into_iter().filter(|(_, given)| *given) {
                if let Some(kind) = kind.filter(|kind| *kind != of) {
                    let at = inside(&format!("endpoints/{index}"), of.key());
                    let what = format!(
                        "others have a `{}`: endpoints have weights, rates or users, all the same",
                        kind.key()
                    );
                    findings.add(&at, what);
                }
                kind.get_or_insert(of);
            }
        }
        let kind = kind.unwrap_or(Kind::Weight);
        for &index in &self.endpoints {
            let endpoint = &workload.endpoints[index];
            let at = format!("endpoints/{index}");
            if endpoint.pace.is_some() && kind != Kind::Concurrency {
                findings.add(&inside(&at, "pace"), "needs a `concurrency` beside it");
            }
            let lacks = match kind {
                Kind::Weight => false,
                Kind::Rate => endpoint.rate.is_none(),
                Kind::Concurrency => endpoint.concurrency.is_none(),
            };
            if lacks {
                findings.add(&at, format!("has no `{}`, others have one", kind.key()));
            }
        }
        kind
    }

    fn share_out(&mut self, workload: &Workload, kind: Kind, scale: f64, findings: &mut Findings) {
        let scaled_users = |users: u64| ((users as f64 * scale).round() as u64).max(1);
        for (request, &index) in (0..).zip(&self.endpoints) {
            let endpoint = &workload.endpoints[index];
            let part = match kind {
                Kind::Weight => endpoint.weight.unwrap_or(1.0),
                Kind::Rate => endpoint.rate.unwrap_or_default().0 * scale,
                Kind::Concurrency => {
                    let users = endpoint.concurrency.unwrap_or(Count(1)).0;
                    if users == 0 { 0.0 } else { scaled_users(users) as f64 }
                }
            };
            if !part.is_finite() || part < 0.0 {
                let at = inside(&format!("endpoints/{index}"), kind.key());
                findings.add(&at, format!("{part} is no {}", kind.key()));
            }
            self.parts.push(part);
            self.items.push(Item { request, pace_ns: endpoint.pace.map(|pace| pace.0) });
        }
        let total: f64 = self.parts.iter().sum();
        let Some(choice) = Choice::new(&self.parts) else {
            findings.add("endpoints", format!("the {}s sum to nothing", kind.key()));
            return;
        };
        let load = &mut self.load;
        let both = |findings: &mut Findings, key: &str| {
            let what = format!("endpoints have a `{key}` of their own: leave this one out");
            findings.add(&inside("load", key), what);
        };
        match kind {
            Kind::Weight => {
                self.split = Split::Weights(choice);
                load.rate = load.rate.map(|rate| Rate(rate.0 * scale));
                load.concurrency = load.concurrency.map(|users| Count(scaled_users(users.0)));
            }
            Kind::Rate => {
                if load.rate.is_some() || load.concurrency.is_some() {
                    both(findings, if load.rate.is_some() { "rate" } else { "concurrency" });
                }
                load.rate = Some(Rate(total));
                self.split = Split::Rates(choice);
            }
            Kind::Concurrency => {
                if load.rate.is_some() || load.concurrency.is_some() {
                    both(findings, if load.rate.is_some() { "rate" } else { "concurrency" });
                }
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

    /// The part of the mix that an item has, 0 to 1; nothing where it depends on answers.
    pub(super) fn share(&self, item: usize) -> Option<f64> {
        let total: f64 = self.parts.iter().sum();
        match self.split {
            Split::Users(_) => None,
            _ => Some(self.parts[item] / total),
        }
    }

    /// The part of requests that change something. Where users send as fast as they are answered, all
    /// are taken to be as fast.
    pub(super) fn write_share(&self, workload: &Workload) -> f64 {
        let total: f64 = self.parts.iter().sum();
        let each = self.endpoints.iter().zip(&self.parts);
        let of_writes = each.filter(|(index, _)| writes(&workload.endpoints[**index]));
        let sum: f64 = of_writes.map(|(_, part)| part).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }
}

/// Names that are given are all different.
fn names(workload: &Workload, findings: &mut Findings) {
    let mut seen = std::collections::HashMap::new();
    for (index, endpoint) in workload.endpoints.iter().enumerate() {
        let Some(name) = &endpoint.name else { continue };
        let at = inside(&format!("endpoints/{index}"), "name");
        if name.trim().is_empty() {
            findings.add(&at, "the name is empty");
        } else if let Some(first) = seen.insert(name, index) {
            let what = format!("endpoint {} is called so too", first + 1);
            findings.add(&at, what);
        }
    }
}
