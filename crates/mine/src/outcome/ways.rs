//! Paths through the site as flows, which together send each endpoint's share of the log.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::mined::{ArithmeticStep, MinedFlow};
use model::units::show_duration;
use model::workload::{Flow, Rate, Step, Time};

use super::Making;
use super::load::rounded;
use crate::chain::Chain;
use crate::fit::Fitted;
use crate::pools::free;
use crate::scale::figure;
use crate::visits::Sessions;

/// The share of the load that is sent once as many sessions are under way as go on being.
const UNDER_WAY: f64 = 0.99;
/// Requests of an endpoint in a session that have values of their own at most.
const MOST_TURNS: usize = 8;

/// The request of an endpoint for ways through the site, by its turns in a session. All steps of a session see one row of
/// a pool, so that another turn needs a pool of another name with the same file.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) steps: Vec<Step>,
    /// The pool of each of several turns.
    pools: Vec<String>,
}

impl Making<'_> {
    pub(super) fn flows(&mut self, sessions: &Sessions) {
        let wanted = |at: &u32| self.tally.endpoints[*at as usize].peak as f64 * self.raised;
        let wanted: BTreeMap<u32, f64> = self.ways_in.keys().map(|at| (*at, wanted(at))).collect();
        let fitted = Fitted::of(&sessions.chain, &wanted);
        let per_s = self.scaled.factor / self.seconds;
        for (at, (way, weight)) in fitted.ways.iter().enumerate() {
            let name = format!("way {}", at + 1);
            let steps = self.steps(way, &sessions.chain);
            let rate = rounded((weight * per_s).max(1e-9));
            self.made.mined.flows.push(MinedFlow {
                steps: steps.iter().filter_map(|step| step.name.clone()).collect(),
                share: weight / fitted.begun(),
                rate_per_s: rate,
            });
            let flow = Flow { name, steps, rate: Some(Rate(rate)), ..Flow::default() };
            self.made.workload.flows.push(flow);
        }
        self.say(&fitted, &wanted, sessions.chain.steps());
        self.warm_up(&fitted, &sessions.chain);
    }

    /// The request of an endpoint by its turns in a session: one alone, unless sessions ask for other values each time.
    /// `request` makes it with the pool of that name.
    pub(super) fn turns(
        &mut self,
        endpoint: usize,
        made: &Step,
        pool: Option<&str>,
        request: impl Fn(&mut Self, &str) -> Step,
    ) -> Turns {
        let mut turns = Turns { steps: vec![made.clone()], pools: Vec::new() };
        let others = self.wanted.sessions && self.other_values.contains(&(endpoint as u32));
        if let Some(pool) = pool.filter(|_| others) {
            turns.pools.push(pool.to_owned());
            for _ in 1..MOST_TURNS {
                let other = free(&mut self.pool_names, pool);
                let step = request(self, &other);
                let (name, success) = (made.name.clone(), made.success.clone());
                turns.steps.push(Step { name, success, ..step });
                turns.pools.push(other);
            }
        }
        turns
    }

    /// The steps of a way, each with the pause behind it.
    fn steps(&mut self, way: &[u32], chain: &Chain) -> Vec<Step> {
        let mut names = HashSet::new();
        let mut times: HashMap<u32, usize> = HashMap::new();
        let mut steps = Vec::new();
        let pauses = way.windows(2).map(|pair| chain.pause(pair[0], pair[1])).chain([0]);
        for (endpoint, pause) in way.iter().zip(pauses) {
            let Some(turns) = self.ways_in.get(endpoint) else { continue };
            let time = times.entry(*endpoint).or_insert(0);
            let turn = *time % turns.steps.len();
            *time += 1;
            if turn > 0 {
                let pools = &mut self.made.workload.pools;
                let rows = pools.get(&turns.pools[0]).cloned().unwrap_or_default();
                pools.entry(turns.pools[turn].clone()).or_insert(rows);
            }
            let step = turns.steps[turn].clone();
            steps.push(Step {
                name: step.name.as_deref().map(|name| free(&mut names, name)),
                think: (pause > 0).then_some(Time(pause)),
                ..step
            });
        }
        steps
    }

    /// Says how many sessions these are and what they send of each endpoint.
    fn say(&mut self, fitted: &Fitted, wanted: &BTreeMap<u32, f64>, steps: f64) {
        let per_s = self.scaled.factor / self.seconds;
        let sent = fitted.sent();
        let total: f64 = sent.values().sum();
        let own = total / fitted.begun().max(f64::MIN_POSITIVE);
        self.made.mined.arithmetic.push(ArithmeticStep {
            step: format!(
                "sessions/s: {} requests/s / {} requests a session",
                figure(total * per_s),
                figure(own)
            ),
            value: fitted.begun() * per_s,
            assumption: format!(
                "a request depends on the one before it alone: {} ways stand for all, taken so often that each \
                 endpoint gets its requests; the log's sessions have {} of these requests",
                fitted.ways.len(),
                figure(steps)
            ),
        });
        let off = |at: &u32, wanted: &f64| sent.get(at).copied().unwrap_or(0.0) - wanted;
        let moved: f64 = wanted.iter().map(|(at, wanted)| off(at, wanted).abs()).sum::<f64>() / 2.0;
        let worst =
            wanted.iter().max_by(|(a, x), (b, y)| off(a, x).abs().total_cmp(&off(b, y).abs()));
        let Some((at, most)) = worst else { return };
        let endpoint = &self.tally.endpoints[*at as usize];
        let name = format!("{} {}", endpoint.method, self.template(endpoint).text());
        let is = figure(sent.get(at).copied().unwrap_or(0.0) * per_s);
        self.made.mined.notes.push(format!(
            "the ways send the requests/s wanted; {} % of them are another endpoint's than in the log{} (sent_per_s in \
             mine.json has all)",
            figure(moved / total.max(f64::MIN_POSITIVE) * 100.0),
            at_most(&name, &is, &figure(most * per_s))
        ));
        let several = |at: &&u32| {
            let variants = &self.tally.endpoints[**at as usize].variants;
            variants.iter().filter(|variant| variant.peak > 0).count() > 1
        };
        let several = self.ways_in.keys().filter(several).count();
        if several > 0 {
            self.made.mined.notes.push(format!(
                "ways have the query parameters that come most often of each endpoint; endpoints asked for with others \
                 too: {several}"
            ));
        }
        for (rank, at) in self.order.iter().enumerate() {
            let Some(mined) = self.made.mined.endpoints.get_mut(rank) else { break };
            mined.sent_per_s = sent.get(&(*at as u32)).map(|sent| sent * per_s);
        }
    }

    /// Begins to measure when as many sessions are under way as go on being: until then less is sent than later.
    fn warm_up(&mut self, fitted: &Fitted, chain: &Chain) {
        let mut sent: Vec<(u64, f64)> = Vec::new();
        for (way, weight) in &fitted.ways {
            let mut at = 0;
            sent.push((at, *weight));
            for pair in way.windows(2) {
                at += chain.pause(pair[0], pair[1]);
                sent.push((at, *weight));
            }
        }
        sent.sort_unstable_by_key(|(at, _)| *at);
        let total: f64 = sent.iter().map(|(_, weight)| weight).sum();
        let mut so_far = 0.0;
        let reached = sent.iter().find(|(_, weight)| {
            so_far += weight;
            so_far >= total * UNDER_WAY
        });
        let Some((after, _)) = reached.filter(|(after, _)| *after > 0) else { return };
        let after = after.div_ceil(1_000_000_000) * 1_000_000_000;
        self.made.workload.load.warmup = Some(Time(after));
        let text = show_duration(after);
        self.made.mined.notes.push(format!(
            "sessions last: {UNDER_WAY_PERCENT} % of the requests/s are sent only {text} after the first began, which is \
             the workload's warm-up, also of each step of `capacity`. Shorter `think` times need less"
        ));
    }
}

/// Where most requests are another endpoint's, if that shows in figures as they are printed.
fn at_most(name: &str, is: &str, was: &str) -> String {
    if is == was {
        return String::new();
    }
    format!(", most at {name}: {is}/s instead of {was}/s")
}

/// [`UNDER_WAY`] in percent.
const UNDER_WAY_PERCENT: f64 = UNDER_WAY * 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_endpoint_is_named_for_a_difference_that_does_not_show() {
        assert_eq!(at_most("GET /", "103.1", "103.1"), "");
        assert_eq!(
            at_most("GET /", "103.2", "103.1"),
            ", most at GET /: 103.2/s instead of 103.1/s"
        );
    }
}
