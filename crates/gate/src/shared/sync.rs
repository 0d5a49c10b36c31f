//! What is told to the server and when, and what its answers mean. Pure: instants and answers are handed in.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::meter::LINE;
use crate::keys::Entry;
use crate::policy::Policy;

/// How long a key may wait to be told of that is far from its limit.
const FAR_NS: u64 = 100_000_000;
/// How long one may that has used half of its burst.
pub const NEAR_NS: u64 = 5_000_000;
/// Keys that are told of at once at most.
const MOST: usize = 256;

/// What is told of one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tell {
    /// Of a rate: what requests let through take up, in microseconds.
    Rate {
        /// The name that it has on the server.
        name: String,
        /// To be added.
        micros: u64,
    },
    /// Of a quota.
    Quota {
        /// The name, with its period.
        name: String,
        /// Requests to be added.
        requests: u64,
    },
}

/// What the server answers to one [`Tell`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// How far all gateways together are ahead of an even pace, in microseconds.
    Ahead(u64),
    /// Requests that all gateways together counted in the period.
    Used(u64),
}

/// What a tell is of.
#[derive(Debug, Clone, Copy)]
enum Of {
    Rate { slot: u32, increment_ns: u64 },
    Line,
    Day { slot: u32, period: u32 },
    Month { slot: u32, period: u32 },
}

/// Whom there is something to tell of, and what is under way.
#[derive(Debug, Default)]
pub struct Syncer {
    /// Since when, by slot.
    waiting: HashMap<u32, u64>,
    /// What was told and not answered: of what, and how many requests (of the line: thousandths).
    told: Vec<(Of, u64)>,
    counts: Vec<(u32, u64)>,
}

impl Syncer {
    /// Something was let through of this slot.
    pub fn note(&mut self, slot: u32, now_ns: u64) {
        self.waiting.entry(slot).or_insert(now_ns);
    }

    /// What is to be told now. Nothing while an answer is awaited.
    pub fn due(&mut self, policy: &Policy, now_ns: u64) -> Vec<Tell> {
        if !self.counts.is_empty() {
            return Vec::new();
        }
        let due = |(slot, since): (&u32, &u64)| {
            let patience = if is_near(policy, *slot, now_ns) { NEAR_NS } else { FAR_NS };
            (now_ns >= since.saturating_add(patience)).then_some(*slot)
        };
        let slots: Vec<u32> = self.waiting.iter().filter_map(due).take(MOST).collect();
        let mut tells = Vec::new();
        for slot in slots {
            self.waiting.remove(&slot);
            match slot {
                LINE => self.tell_line(policy, &mut tells),
                slot => self.tell_key(policy, slot, &mut tells),
            }
        }
        tells
    }

    fn tell_line(&mut self, policy: &Policy, tells: &mut Vec<Tell>) {
        let state = policy.state();
        let milli = state.shared.line_milli.load(Ordering::Relaxed);
        if policy.line().is_some() && milli > 0 {
            let micros = state.ceiling.takes_ns(milli).div_ceil(1000);
            tells.push(Tell::Rate { name: "line".into(), micros });
            self.told.push((Of::Line, milli));
        }
        self.counts.push((LINE, milli));
    }

    fn tell_key(&mut self, policy: &Policy, slot: u32, tells: &mut Vec<Tell>) {
        let state = policy.state();
        let entry = state.keys.entry(slot);
        let count = u64::from(entry.untold.load(Ordering::Relaxed));
        let name = entry.name();
        let limits = policy.limits_of(entry);
        if let Some(rate) = limits.rate {
            let increment_ns = rate.increment_ns(1000);
            let micros = (count * increment_ns).div_ceil(1000);
            tells.push(Tell::Rate { name: format!("{name}:r"), micros });
            self.told.push((Of::Rate { slot, increment_ns }, count));
        }
        if limits.day_quota.is_some() {
            let period = state.calendar.day();
            tells.push(Tell::Quota { name: format!("{name}:d{period}"), requests: count });
            self.told.push((Of::Day { slot, period }, count));
        }
        if limits.month_quota.is_some() {
            let period = state.calendar.month();
            tells.push(Tell::Quota { name: format!("{name}:m{period}"), requests: count });
            self.told.push((Of::Month { slot, period }, count));
        }
        self.counts.push((slot, count));
    }

    /// Takes in the answers to what was told, in its order.
    pub fn answered(&mut self, policy: &Policy, answers: &[Answer], now_ns: u64) {
        let state = policy.state();
        // First what was told is no longer to be told; what was let through meanwhile still is.
        for (slot, count) in self.counts.drain(..) {
            let left = match slot {
                LINE => state.shared.line_milli.fetch_sub(count, Ordering::Relaxed) - count,
                slot => {
                    let untold = &state.keys.entry(slot).untold;
                    u64::from(untold.fetch_sub(count as u32, Ordering::Relaxed)) - count
                }
            };
            if left > 0 {
                self.waiting.entry(slot).or_insert(now_ns);
            }
        }
        for ((of, _), answer) in self.told.drain(..).zip(answers) {
            let untold =
                |slot: u32| u64::from(state.keys.entry(slot).untold.load(Ordering::Relaxed));
            match (of, *answer) {
                (Of::Rate { slot, increment_ns }, Answer::Ahead(micros)) => {
                    let ahead_ns = micros * 1000 + untold(slot) * increment_ns;
                    state.keys.entry(slot).used.raise(now_ns.saturating_add(ahead_ns));
                }
                (Of::Line, Answer::Ahead(micros)) => {
                    let more = state.shared.line_milli.load(Ordering::Relaxed);
                    let ahead_ns = micros * 1000 + state.ceiling.takes_ns(more);
                    state.ceiling.raise(now_ns.saturating_add(ahead_ns));
                }
                (Of::Day { slot, period }, Answer::Used(used)) => {
                    state.keys.entry(slot).day.raise(period, used + untold(slot));
                }
                (Of::Month { slot, period }, Answer::Used(used)) => {
                    state.keys.entry(slot).month.raise(period, used + untold(slot));
                }
                // The server answers in kind.
                _ => {}
            }
        }
    }

    /// No answer came: what was told is told again. Where the server had taken it in, it counts twice, which lets
    /// less through, not more.
    pub fn unanswered(&mut self, now_ns: u64) {
        self.told.clear();
        for (slot, _) in self.counts.drain(..) {
            self.waiting.entry(slot).or_insert(now_ns);
        }
    }
}

/// Whether half of a burst is used, or the load line is what counts: others have to know soon.
fn is_near(policy: &Policy, slot: u32, now_ns: u64) -> bool {
    if slot == LINE {
        return true;
    }
    let entry: &Entry = policy.state().keys.entry(slot);
    let limits = policy.limits_of(entry);
    limits.rate.is_some_and(|rate| entry.used.ahead_ns(now_ns) * 2 >= rate.ahead_ns())
}

#[cfg(test)]
mod tests;
