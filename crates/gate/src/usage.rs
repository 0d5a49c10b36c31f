//! What was served, by key and route: counted by each worker, merged once a second off the path of requests.

use crate::policy::Outcome;

/// The counts of one worker since it last handed them over.
#[derive(Debug, Default)]
pub struct Local {
    requests: u64,
}

impl Local {
    /// Counts a request that was forwarded.
    pub fn count(&mut self, _outcome: &Outcome) {
        self.requests += 1;
    }

    /// Requests counted.
    pub fn requests(&self) -> u64 {
        self.requests
    }
}
