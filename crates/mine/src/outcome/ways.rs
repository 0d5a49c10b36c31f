//! Ways through the site as flows.

use std::collections::HashSet;

use model::mined::MinedFlow;
use model::workload::{Flow, Rate, Step, Time};

use super::Making;
use super::load::rounded;
use crate::pools::free;
use crate::visits::{Sessions, Way};

impl Making<'_> {
    pub(super) fn flows(&mut self, sessions: &Sessions) {
        let covered: f64 = sessions.ways.iter().map(|way| way.share).sum();
        let per_s = sessions.begun_in_peak as f64 / self.seconds * self.scaled.factor;
        for (at, way) in sessions.ways.iter().enumerate() {
            let name = format!("way {}", at + 1);
            let rate = rounded((per_s * way.share / covered.max(f64::MIN_POSITIVE)).max(1e-6));
            let steps = self.steps(way);
            if steps.is_empty() {
                continue;
            }
            let names = steps.iter().filter_map(|step| step.name.clone()).collect();
            self.made.mined.flows.push(MinedFlow { steps: names, share: way.share });
            let flow = Flow { name, steps, rate: Some(Rate(rate)), ..Flow::default() };
            self.made.workload.flows.push(flow);
        }
        self.made.mined.notes.push(format!(
            "the ways cover {:.0} % of sessions, as far as a request depends on the one before it \
             alone; the rates of the others are added to theirs",
            covered * 100.0
        ));
    }

    fn steps(&self, way: &Way) -> Vec<Step> {
        let mut names = HashSet::new();
        let known = |(endpoint, pause): &(u32, u64)| Some((self.ways_in.get(endpoint)?, *pause));
        let named = |(step, pause): (&Step, u64)| Step {
            name: step.name.as_deref().map(|name| free(&mut names, name)),
            think: (pause > 0).then_some(Time(pause)),
            ..step.clone()
        };
        way.steps.iter().filter_map(known).map(named).collect()
    }
}
