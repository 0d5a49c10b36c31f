//! The threads of the data path: how many there are, and how they wait.

use super::super::file::Config;
use super::super::place::ConfigError;
use super::Builder;

/// Threads of each listener at most: more than processors are of no use.
const WORKERS_MOST: usize = 1024;
/// The longest time that a worker looks for events before it sleeps: many times what waking costs.
const BUSY_POLL_MOST_NS: u64 = 1_000_000;

impl Builder<'_> {
    /// Refuses none, and more than are of use.
    pub(super) fn check_workers(&self, config: &Config) -> Result<(), ConfigError> {
        self.count("`workers`", &config.workers)?;
        match &config.workers {
            Some(many) if *many.get_ref() > WORKERS_MOST => Err(self.wrong(
                many,
                format!("`workers` is at most {WORKERS_MOST}: one for each processor is enough"),
            )),
            _ => Ok(()),
        }
    }

    /// How long a worker looks for events before it sleeps.
    pub(super) fn busy_poll_ns(&self, config: &Config) -> Result<u64, ConfigError> {
        match &config.busy_poll {
            Some(long) if long.get_ref().0 > BUSY_POLL_MOST_NS => {
                Err(self.wrong(long, "`busy_poll` is at most 1ms: a sleep costs less than that"))
            }
            busy_poll => Ok(busy_poll.as_ref().map_or(0, |busy_poll| busy_poll.get_ref().0)),
        }
    }
}
