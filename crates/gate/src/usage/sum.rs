//! Counts of one key on one route over any time.

use std::collections::BTreeMap;

use super::buckets::Buckets;
use super::table::Row;
use crate::policy::PROBLEMS;

/// Stands for statuses beyond those that are kept apart.
pub const OTHER_STATUS: u16 = u16::MAX;

/// Counts, summed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// Requests that were forwarded.
    pub forwarded: u64,
    /// Those of them that the upstream did not answer.
    pub upstream_failed: u64,
    /// Bytes of requests, head and body.
    pub bytes_in: u64,
    /// Bytes of responses, head and body.
    pub bytes_out: u64,
    /// Sum of the latencies of forwarded requests.
    pub latency_sum_ns: u64,
    /// Responses by status, refusals included; 0 where the client left first, 65535 for further statuses.
    pub statuses: BTreeMap<u16, u64>,
    /// Refusals, in the order of [`PROBLEMS`].
    pub refused: [u64; PROBLEMS.len()],
    /// Latencies of forwarded requests.
    pub latency: Buckets,
}

impl Sum {
    pub(super) fn add(&mut self, row: &Row) {
        self.forwarded += u64::from(row.forwarded);
        self.upstream_failed += u64::from(row.upstream_failed);
        self.bytes_in += row.bytes_in;
        self.bytes_out += row.bytes_out;
        self.latency_sum_ns += row.latency_sum_ns;
        for &(status, n) in row.statuses.iter().filter(|(_, n)| *n > 0) {
            *self.statuses.entry(status).or_default() += u64::from(n);
        }
        if row.other_statuses > 0 {
            *self.statuses.entry(OTHER_STATUS).or_default() += u64::from(row.other_statuses);
        }
        self.refused.iter_mut().zip(row.refused).for_each(|(sum, n)| *sum += u64::from(n));
        self.latency.0.iter_mut().zip(row.latency).for_each(|(sum, n)| *sum += u64::from(n));
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        self.forwarded += other.forwarded;
        self.upstream_failed += other.upstream_failed;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.latency_sum_ns += other.latency_sum_ns;
        for (&status, n) in &other.statuses {
            *self.statuses.entry(status).or_default() += n;
        }
        self.refused.iter_mut().zip(other.refused).for_each(|(sum, n)| *sum += n);
        self.latency.merge(&other.latency);
    }

    /// Refusals of all kinds.
    pub fn refused_in_all(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// Requests, refused ones included.
    pub fn requests(&self) -> u64 {
        self.forwarded + self.refused_in_all()
    }
}
