//! How often to take each of several paths through the site, so that every endpoint gets its requests: non-negative least
//! squares with few paths.

use std::collections::BTreeMap;

use crate::chain::{Chain, Way};

/// Ways at most that are taken as often as the chain says.
const LIKELIEST: usize = 10;
/// Ways at most.
const MOST_WAYS: usize = 40;
/// What may be off: the share of the length of what is wanted.
const ENOUGH: f64 = 0.002;
/// Rounds over the ways that are taken, after each that is added.
const ROUNDS: usize = 2_000;

/// Ways, and how often each is taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fitted {
    /// The commonest first.
    pub(crate) ways: Vec<(Way, f64)>,
    /// Sessions wanted, of as many steps as the log's have on average.
    pub(crate) sessions: f64,
}

impl Fitted {
    /// Chooses ways of a chain that together send these requests, by endpoint.
    pub(crate) fn of(chain: &Chain, wanted: &BTreeMap<u32, f64>) -> Self {
        let total: f64 = wanted.values().sum();
        let sessions = total / chain.steps().max(1.0);
        let mut ways = likeliest(chain, wanted, sessions);
        let mut problem = Problem::of(wanted, sessions);
        ways.iter().for_each(|(way, weight)| problem.take(way, *weight));
        let known = |way: &Way| way.iter().all(|endpoint| wanted.contains_key(endpoint));
        let drawn: Vec<Way> = chain.drawn().into_iter().filter(known).collect();
        for (at, weight) in problem.solve(&drawn, MOST_WAYS - ways.len()) {
            match ways.iter_mut().find(|(way, _)| *way == drawn[at]) {
                Some((_, own)) => *own += weight,
                None => ways.push((drawn[at].clone(), weight)),
            }
        }
        // What is sent in all is right, whatever is left over of single endpoints.
        let sent: f64 = ways.iter().map(|(way, weight)| way.len() as f64 * weight).sum();
        ways.iter_mut().for_each(|(_, weight)| *weight *= total / sent.max(f64::MIN_POSITIVE));
        ways.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        Self { ways, sessions }
    }

    /// Requests sent, by endpoint.
    pub(crate) fn sent(&self) -> BTreeMap<u32, f64> {
        let mut sent = BTreeMap::new();
        for (way, weight) in &self.ways {
            way.iter().for_each(|endpoint| *sent.entry(*endpoint).or_insert(0.0) += weight);
        }
        sent
    }

    /// Sessions of the ways.
    pub(crate) fn begun(&self) -> f64 {
        self.ways.iter().map(|(_, weight)| weight).sum()
    }
}

/// The likeliest ways, as often as the chain says, but none oftener than its endpoints are wanted.
fn likeliest(chain: &Chain, wanted: &BTreeMap<u32, f64>, sessions: f64) -> Vec<(Way, f64)> {
    let mut ways = chain.likeliest(LIKELIEST);
    ways.iter_mut().for_each(|(_, share)| *share *= sessions);
    let asked = Fitted { ways, sessions };
    let sent = asked.sent();
    let scaled = |(way, weight): (Way, f64)| {
        let room = |endpoint: &u32| wanted.get(endpoint).map_or(0.0, |most| most / sent[endpoint]);
        let room = way.iter().map(room).fold(1.0, f64::min);
        (way, weight * room)
    };
    asked.ways.into_iter().map(scaled).filter(|(_, weight)| *weight > 0.0).collect()
}

/// What is still wanted, in rows: requests of each endpoint, and sessions. Each is divided by the root of what was wanted
/// of it at first, so that rare endpoints count as much as chance lets them.
struct Problem {
    rows: BTreeMap<u32, usize>,
    scale: Vec<f64>,
    left: Vec<f64>,
}

impl Problem {
    fn of(wanted: &BTreeMap<u32, f64>, sessions: f64) -> Self {
        let rows = wanted.keys().zip(0..).map(|(endpoint, row)| (*endpoint, row)).collect();
        let all = || wanted.values().copied().chain([sessions]);
        let scale = all().map(|wanted| wanted.max(f64::MIN_POSITIVE).sqrt().recip()).collect();
        Self { rows, scale, left: all().map(f64::sqrt).collect() }
    }

    /// A way as a column.
    fn column(&self, way: &[u32]) -> Vec<f64> {
        let mut column = vec![0.0; self.left.len()];
        for row in way.iter().filter_map(|endpoint| self.rows.get(endpoint)) {
            column[*row] += self.scale[*row];
        }
        let last = column.len() - 1;
        column[last] = self.scale[last];
        column
    }

    /// Takes what a way sends from what is wanted.
    fn take(&mut self, way: &[u32], weight: f64) {
        let column = self.column(way);
        add(&mut self.left, &column, -weight);
    }

    /// The ways to take, `most` at most, with their weights.
    fn solve(&mut self, ways: &[Way], most: usize) -> Vec<(usize, f64)> {
        let columns: Vec<Vec<f64>> = ways.iter().map(|way| self.column(way)).collect();
        let lengths: Vec<f64> = columns.iter().map(|column| dot(column, column)).collect();
        let whole: f64 = self.scale.iter().map(|scale| scale.powi(-2)).sum();
        let mut taken: Vec<(usize, f64)> = Vec::new();
        while taken.len() < most && dot(&self.left, &self.left) > whole * ENOUGH * ENOUGH {
            let gain = |at: &usize| dot(&columns[*at], &self.left) / lengths[*at].sqrt();
            let free = (0..ways.len()).filter(|at| taken.iter().all(|(other, _)| other != at));
            let Some(best) = free.max_by(|a, b| gain(a).total_cmp(&gain(b))) else { break };
            if gain(&best) <= 1e-9 * whole.sqrt() {
                break;
            }
            taken.push((best, 0.0));
            self.settle(&columns, &lengths, &mut taken);
        }
        taken.retain(|(_, weight)| *weight > 0.0);
        taken
    }

    /// Weights of the ways that are taken, one after the other until hardly any changes.
    fn settle(&mut self, columns: &[Vec<f64>], lengths: &[f64], taken: &mut [(usize, f64)]) {
        for _ in 0..ROUNDS {
            let mut most = 0.0_f64;
            for (at, weight) in taken.iter_mut() {
                let better = dot(&columns[*at], &self.left) / lengths[*at];
                let new = (*weight + better).max(0.0);
                add(&mut self.left, &columns[*at], *weight - new);
                most = most.max((new - *weight).abs() * lengths[*at].sqrt());
                *weight = new;
            }
            if most <= 1e-6 * dot(&self.left, &self.left).sqrt() {
                return;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], column: &[f64], times: f64) {
    to.iter_mut().zip(column).for_each(|(to, value)| *to += value * times);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_send_what_is_wanted() {
        let mut chain = Chain::default();
        let mut draw = model::random::Draws::of(9);
        let mut wanted = BTreeMap::new();
        // Sessions of every length: a half goes on after each step, to one of six endpoints.
        for _ in 0..5_000 {
            let mut session = vec![(0, 0)];
            while draw.below(4) > 0 {
                session.push((session.len() as i64, draw.below(6) as u32));
            }
            for (_, endpoint) in &session {
                *wanted.entry(*endpoint).or_insert(0.0) += 1.0;
            }
            chain.add(session.into_iter());
        }
        let fitted = Fitted::of(&chain, &wanted);
        let sent = fitted.sent();
        for (endpoint, wanted) in &wanted {
            assert!((sent[endpoint] / wanted - 1.0).abs() < 0.02, "{sent:?} {wanted:?}");
        }
        assert!((fitted.begun() / 5_000.0 - 1.0).abs() < 0.02, "{}", fitted.begun());
        assert!(fitted.ways.len() <= MOST_WAYS, "{}", fitted.ways.len());
    }
}
