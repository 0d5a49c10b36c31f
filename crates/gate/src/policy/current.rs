//! The policy in force, and how workers learn of a new one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Policy;

/// The policy in force.
#[derive(Debug)]
pub struct Current {
    generation: AtomicU64,
    policy: Mutex<Arc<Policy>>,
}

impl Current {
    /// Begins with this policy, as generation 1.
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { generation: AtomicU64::new(1), policy: Mutex::new(policy) }
    }

    /// Changes with every [`Self::replace`]. Workers check it once per batch of events, and call [`Self::get`] if it has
    /// changed.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The policy in force and its generation.
    pub fn get(&self) -> (Arc<Policy>, u64) {
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&policy), self.generation())
    }

    /// Puts a policy in force.
    pub fn replace(&self, policy: Arc<Policy>) {
        let mut held = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        *held = policy;
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}
