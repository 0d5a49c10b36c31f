//! What makes a worker's requests leave: its users, or the schedule.

use model::{Nanos, Share};

use crate::arrivals::Arrivals;

/// What makes requests leave.
#[derive(Debug)]
pub(super) enum Pace {
    Closed {
        pace_ns: Option<Nanos>,
        think_ns: Option<Nanos>,
        /// Requests this worker may still send.
        left: u64,
    },
    Open {
        arrivals: Box<Arrivals>,
        /// Connections with room for a request; the most recently used comes first. May hold closed
        /// ones.
        idle: Vec<u32>,
        /// Whether a connection is in `idle`.
        listed: Vec<bool>,
        /// Connections that can be opened.
        closed: Vec<u32>,
    },
}

impl Pace {
    pub(super) fn open(share: Share, users: usize) -> Self {
        Self::Open {
            arrivals: Box::new(Arrivals::new(share)),
            idle: Vec::with_capacity(users),
            listed: vec![false; users],
            closed: (0..users as u32).rev().collect(),
        }
    }
}
