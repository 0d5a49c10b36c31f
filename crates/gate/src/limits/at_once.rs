//! A limit on what is in flight at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is in flight, in requests or in thousandths of the mean request's cost.
#[derive(Debug, Default)]
pub struct AtOnce(AtomicU64);

impl AtOnce {
    /// Takes `amount` if at most `most` is held with it. A single request may always be held, whatever `most` is: otherwise
    /// a request that costs more than the ceiling would never pass.
    pub fn take(&self, amount: u64, most: u64) -> bool {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            (held == 0 || held + amount <= most).then_some(held + amount)
        });
        taken.is_ok()
    }

    /// Takes `amount` whatever is held.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Gives back what was taken.
    pub fn give_back(&self, amount: u64) {
        let before = self.0.fetch_sub(amount, Ordering::Relaxed);
        debug_assert!(before >= amount, "{amount} given back of {before}");
    }

    /// How much is held.
    pub fn held(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn never_more_than_most_at_once() {
        let held = Arc::new(AtOnce::default());
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let held = Arc::clone(&held);
                thread::spawn(move || {
                    for _ in 0..10_000 {
                        if held.take(1, 3) {
                            assert!(held.held() <= 3);
                            held.give_back(1);
                        }
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(held.held(), 0);
    }

    #[test]
    fn a_dear_request_passes_alone() {
        let held = AtOnce::default();
        assert!(held.take(5000, 2000));
        assert!(!held.take(1, 2000));
        held.give_back(5000);
        assert!(held.take(1, 2000));
    }
}
