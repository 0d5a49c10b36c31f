//! How many requests may be sent again: a share of all requests, so that retries cannot become a storm.

use crate::policy::RetryRule;

/// Half of what was counted is forgotten after so long, so that about the last ten seconds count.
const HALF_NS: u64 = 7_000_000_000;
/// Retries that are free while there are few requests: more than it takes to find that a server is unwell.
const FREE: f64 = 10.0;

/// The count of one worker for one upstream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Budget {
    requests: f64,
    retries: f64,
    since_ns: u64,
}

impl Budget {
    /// A request was begun.
    pub(super) fn request(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.since_ns) >= HALF_NS {
            self.requests /= 2.0;
            self.retries /= 2.0;
            self.since_ns = now_ns;
        }
        self.requests += 1.0;
    }

    /// Takes one retry, if the rule leaves one.
    pub(super) fn take(&mut self, rule: &RetryRule) -> bool {
        let left = self.retries + 1.0 <= self.requests * rule.budget + FREE;
        if left {
            self.retries += 1.0;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_stay_a_share_of_requests() {
        let rule = RetryRule { attempts: 1, budget: 0.1 };
        let mut budget = Budget::default();
        let mut retries = 0;
        for at in 0..10_000u64 {
            budget.request(at * 1_000_000);
            retries += u32::from(budget.take(&rule));
        }
        assert!((900..=1_100).contains(&retries), "{retries}");
    }

    #[test]
    fn a_few_are_free_and_old_ones_forgotten() {
        let rule = RetryRule { attempts: 1, budget: 0.0 };
        let mut budget = Budget::default();
        budget.request(0);
        assert_eq!((0..20).filter(|_| budget.take(&rule)).count(), 10);
        budget.request(HALF_NS);
        assert_eq!((0..20).filter(|_| budget.take(&rule)).count(), 5);
    }
}
