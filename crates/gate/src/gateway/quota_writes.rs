//! Which counts of quotas to write now, so that a gateway that is killed lets only a few requests through twice.
//!
//! Owns the rule, and the channel to the thread that writes. No request waits for it: counts are compared with what was
//! written as often as usage is collected.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{SINK_PAUSE, Troubles};
use crate::policy::{Policy, QuotaOf};
use crate::usage::{Reached, ReachedTable, Whose};

/// A count is written once what is not written is this part of what is left of the quota.
const PART: u64 = 100;
/// The most quotas whose written counts are remembered, and keys that wait to be written.
const REMEMBERED: usize = 1 << 16;

/// A day and a month, each with the requests of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    day: (u32, u64),
    month: (u32, u64),
}

/// The counts of quotas that were written.
#[derive(Debug)]
pub(super) struct QuotaWrites {
    written: HashMap<QuotaOf, Counts>,
    /// Keys whose counts could not be passed to the writer.
    waiting: HashSet<u32>,
    to_writer: SyncSender<Vec<Reached>>,
}

impl QuotaWrites {
    /// With what comes out for the writer.
    pub(super) fn new() -> (Self, Receiver<Vec<Reached>>) {
        // While one is written, counts go on.
        let (to_writer, receiver) = sync_channel(1);
        (Self { written: HashMap::new(), waiting: HashSet::new(), to_writer }, receiver)
    }

    /// Hands on what is to be written. `asked` are the slots of keys that requests came with since the last time; `beside`
    /// says that an earlier gateway still serves.
    pub(super) fn look(&mut self, policy: &Policy, asked: impl Iterator<Item = u32>, beside: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let due = self.due(policy, waiting.into_iter().chain(asked));
        if due.is_empty() {
            return;
        }
        let reached =
            due.iter().map(|(of, counts)| reached(policy, *of, *counts, beside)).collect();
        if self.to_writer.try_send(reached).is_ok() {
            if self.written.len() + due.len() > REMEMBERED {
                // They are written once more then.
                self.written.clear();
            }
            self.written.extend(due);
        } else {
            let keys = due.iter().filter_map(|(of, _)| match of {
                QuotaOf::Key(slot) => Some(*slot),
                _ => None,
            });
            self.waiting.extend(keys.take(REMEMBERED));
        }
    }

    /// What is to be written of these keys, of tiers, of routes, and of all requests together.
    fn due(&self, policy: &Policy, keys: impl Iterator<Item = u32>) -> Vec<(QuotaOf, Counts)> {
        let state = policy.state();
        let (day, month) = (state.calendar.day(), state.calendar.month());
        let due = |of: QuotaOf| {
            let quotas = policy.quotas(of);
            let (of_day, of_month) = state.quota_counts(of);
            let now = Counts { day: (day, of_day.used(day)), month: (month, of_month.used(month)) };
            let counted_as = state.counted_as(of);
            let written = self.written.get(&counted_as).copied().unwrap_or_default();
            let is_due = is_due(quotas.day, now.day, written.day)
                || is_due(quotas.month, now.month, written.month);
            is_due.then_some((counted_as, now))
        };
        keys.map(QuotaOf::Key).chain(policy.with_quotas()).filter_map(due).collect()
    }
}

/// Whether a count is to be written, of which another was.
fn is_due(quota: Option<u64>, now: (u32, u64), written: (u32, u64)) -> bool {
    let Some(quota) = quota else { return false };
    let before = if written.0 == now.0 { written.1 } else { 0 };
    let more = now.1.saturating_sub(before);
    more > 0 && more >= quota.saturating_sub(now.1) / PART
}

fn reached(policy: &Policy, of: QuotaOf, counts: Counts, beside: bool) -> Reached {
    let whose = match of {
        QuotaOf::Key(slot) => Whose::Key(policy.state().keys.entry(slot).id()),
        QuotaOf::Tier(number) => Whose::Tier(policy.tier_name(number).to_owned()),
        QuotaOf::Route(number) => Whose::Route(policy.route_name(number).to_owned()),
        QuotaOf::All => Whose::All,
    };
    Reached { whose, day: counts.day, month: counts.month, beside }
}

/// Writes what it receives until the channel is closed. What cannot be written is tried again until `stop`.
pub(super) fn write(
    mut table: ReachedTable,
    receiver: &Receiver<Vec<Reached>>,
    troubles: &Troubles,
    stop: &AtomicBool,
) {
    // Where there is one processor for all, requests would wait while counts are written.
    net::limits::give_way();
    while let Ok(reached) = receiver.recv() {
        while let Err(why) = table.raise(&reached) {
            troubles.set("quotas", Some(format!(
                "what is used of quotas cannot be written: {why}; a gateway that is killed now gives it again"
            )));
            if stop.load(Ordering::SeqCst) {
                return;
            }
            thread::sleep(SINK_PAUSE);
        }
        troubles.set("quotas", None);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::keys::{Digester, Keys, Settings};
    use crate::policy::{PolicySettings, Quotas, Route, State, Upstream};

    #[test]
    fn a_count_is_written_the_sooner_the_less_is_left() {
        for (quota, used, written, due) in [
            (10_000, 0, 0, false),
            (10_000, 99, 0, true),
            (10_000, 98, 0, false),
            (10_000, 5_050, 5_000, true),
            (10_000, 5_040, 5_000, false),
            (10_000, 9_901, 9_900, true),
            (30, 1, 0, true),
            (30, 30, 29, true),
            (30, 30, 30, false),
            // Given back since.
            (30, 29, 30, false),
        ] {
            let is = is_due(Some(quota), (7, used), (7, written));
            assert_eq!(is, due, "{used} of {quota}, {written} written");
        }
        assert!(!is_due(None, (7, 30), (7, 0)));
        assert!(is_due(Some(30), (8, 1), (7, 30)), "another day");
    }

    fn policy() -> Policy {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        let digester = Digester::new(b"secret");
        let settings = Settings { day_quota: Some(1000), ..Settings::default() };
        let slots = [b"a", b"b", b"c"].map(|key| {
            let id = u64::from(key[0]);
            state.keys.put(&digester.digest(key), &Settings { id, ..settings }).unwrap()
        });
        // The second replaces the first.
        state.keys.entry(slots[1]).count_in(slots[0]);
        let quotas = Quotas { day: None, month: Some(1000) };
        let open = PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()));
        let settings = PolicySettings {
            routes: vec![Route { quotas, ..Route::to(0) }],
            all_quotas: quotas,
            digester: Some(digester),
            ..open
        };
        Policy::new(&state, settings, None).unwrap()
    }

    #[test]
    fn what_is_due_is_handed_on_once() {
        let policy = policy();
        let (mut quota_writes, receiver) = QuotaWrites::new();
        let add = |of: QuotaOf, requests| {
            let (day, month) = policy.state().quota_counts(of);
            day.add(0, requests);
            month.add(0, requests);
        };
        let handed = |quota_writes: &mut QuotaWrites, asked: &[u32]| {
            quota_writes.look(&policy, asked.iter().copied(), false);
            let whose = |reached: Reached| (reached.whose, reached.day.1, reached.month.1);
            receiver.try_iter().flatten().map(whose).collect::<Vec<_>>()
        };
        assert_eq!(handed(&mut quota_writes, &[0, 1, 2]), []);
        add(QuotaOf::Key(1), 20);
        add(QuotaOf::Key(2), 2);
        add(QuotaOf::Route(0), 20);
        let key = Whose::Key(u64::from(b'a'));
        let route = Whose::Route("all".to_owned());
        assert_eq!(
            handed(&mut quota_writes, &[1, 2]),
            [(key.clone(), 20, 20), (route, 20, 20)],
            "the first key's, and not what is little of what is left"
        );
        assert_eq!(handed(&mut quota_writes, &[0, 1, 2]), []);
        // While the writer is busy, what is due waits, also where nobody asks with the key again.
        add(QuotaOf::All, 20);
        quota_writes.look(&policy, std::iter::empty(), false);
        add(QuotaOf::Key(0), 20);
        quota_writes.look(&policy, std::iter::once(0), false);
        assert_eq!(handed(&mut quota_writes, &[]), [(Whose::All, 20, 20)]);
        assert_eq!(handed(&mut quota_writes, &[]), [(key, 40, 40)]);
    }
}
