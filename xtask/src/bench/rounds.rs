//! Runs several clients interleaved, in rounds, so that changes on a shared machine affect all alike.
//!
//! Closed loops take turns of a few hundredths of a second, each with its own server: a shared machine is half as
//! fast for a second here and there. What keeps a schedule cannot be paused, and is run one after another: A B C, C B A.

use std::time::Duration;

use anyhow::Result;

use super::client::{Client, Outcome};
use super::process::by_turns;

/// How long a client runs before it is the next one's turn: many turns within a second, and long against the
/// millisecond in which a processor's caches are filled anew.
const TURN: Duration = Duration::from_millis(50);

/// The results of a client, in the order of the rounds.
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

/// Runs every client once a round, `seconds` each; an earlier round warms up and is not counted.
pub fn interleave<const N: usize>(
    clients: &[Client; N],
    seconds: u32,
    rounds: u32,
) -> Result<[Series; N]> {
    let mut series = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for index in order(round, N) {
            let outcome = clients[index].run(seconds)?;
            let believed = if outcome.believed { "" } else { ", INVALID" };
            print_round(round, &clients[index].name, &outcome, believed);
            if round > 0 {
                series[index].push(outcome);
            }
        }
    }
    Ok(series.map(Series))
}

/// As [`interleave`], of clients that take turns all through each round. No two may have the same
/// server, which responds to what it was sent before its client was paused. That plimsoll reports its
/// paused runs as invalid is right.
pub fn take_turns<const N: usize>(
    clients: &[Client; N],
    seconds: u32,
    rounds: u32,
) -> Result<[Series; N]> {
    let mut series = [const { Vec::new() }; N];
    let together = seconds * N as u32;
    for round in 0..=rounds {
        let before: Vec<u64> = clients.iter().map(Client::served).collect::<Result<_>>()?;
        let commands = clients.iter().map(|client| client.command(together)).collect();
        let finished = by_turns(commands, TURN, Duration::from_secs(together.into()))?;
        for (index, (finished, before)) in finished.into_iter().zip(before).enumerate() {
            let outcome = clients[index].outcome(before, finished)?;
            print_round(round, &clients[index].name, &outcome, "");
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

fn print_round(round: u32, name: &str, outcome: &Outcome, remark: &str) {
    let round = if round == 0 { "warm-up".into() } else { format!("round {round}") };
    println!(
        "  {round:8}  {name:57} {:7.2} us CPU a request, {:6.2} in user space, {:8.0} requests/s{remark}",
        outcome.cpu_us(),
        outcome.user_us(),
        outcome.requests_per_s()
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
