//! Several clients in turn, again and again: A B C, C B A, A B C ...
//!
//! A shared machine drifts. What is compared is measured side by side, and each order as often as its reverse.

use anyhow::Result;

use super::client::{Client, Outcome};
use super::server::Server;

/// What a client's rounds gave, in the order of the rounds.
pub struct Series(pub Vec<Outcome>);

impl Series {
    pub fn map(&self, figure: fn(&Outcome) -> f64) -> Vec<f64> {
        self.0.iter().map(figure).collect()
    }

    /// A number from each round's report.
    pub fn reported(&self, pointer: &str) -> Result<Vec<f64>> {
        self.0.iter().map(|outcome| outcome.reported(pointer)).collect()
    }
}

/// Runs every client once a round; an earlier round warms up and is not counted.
pub fn interleave<const N: usize>(
    clients: [Client; N],
    server: &Server,
    rounds: u32,
) -> Result<[Series; N]> {
    let mut series = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for index in order(round, N) {
            let outcome = clients[index].run(server)?;
            tell(round, &clients[index].name, &outcome);
            if round > 0 {
                series[index].push(outcome);
            }
        }
    }
    Ok(series.map(Series))
}

fn order(round: u32, count: usize) -> Vec<usize> {
    if round % 2 == 1 { (0..count).collect() } else { (0..count).rev().collect() }
}

fn tell(round: u32, name: &str, outcome: &Outcome) {
    let round = if round == 0 { "warm-up".into() } else { format!("round {round}") };
    println!(
        "  {round:8}  {name:57} {:7.2} us CPU a request, {:6.2} in user space, {:8.0} requests/s{}",
        outcome.cpu_us(),
        outcome.user_us(),
        outcome.requests_per_s(),
        if outcome.believed { "" } else { ", INVALID" }
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_reversed_every_other_round() {
        assert_eq!(order(1, 3), [0, 1, 2]);
        assert_eq!(order(2, 3), [2, 1, 0]);
        assert_eq!(order(3, 3), [0, 1, 2]);
    }
}
