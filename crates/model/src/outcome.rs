//! What became of an attempt. A failed request is a counted sample, never an `Err`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an attempt failed. Exactly one class an attempt.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The host's name could not be resolved.
    Dns,
    /// No connection: refused, unreachable, no local port or file left, or not within the time-out.
    Connect,
    /// The TLS handshake or its certificate check failed.
    Tls,
    /// The connection ended before the response was whole.
    Read,
    /// The request could not be handed to the kernel.
    Write,
    /// No whole response within the time-out.
    Timeout,
    /// The bytes that came are not an HTTP/1.1 response.
    Protocol,
    /// A whole response whose status does not count as success.
    Status,
    /// A whole response that failed a check of the workload.
    Check,
}

impl ErrorClass {
    /// Every class, in the order reports list them.
    pub const ALL: [Self; 9] = [
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Read,
        Self::Write,
        Self::Timeout,
        Self::Protocol,
        Self::Status,
        Self::Check,
    ];

    /// The name used in JSON, reports and objectives.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Read => "read",
            Self::Write => "write",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Status => "status",
            Self::Check => "check",
        }
    }
}

/// Failed attempts by class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorCounts {
    /// Failed attempts of class `dns`.
    pub dns: u64,
    /// Failed attempts of class `connect`.
    pub connect: u64,
    /// Failed attempts of class `tls`.
    pub tls: u64,
    /// Failed attempts of class `read`.
    pub read: u64,
    /// Failed attempts of class `write`.
    pub write: u64,
    /// Failed attempts of class `timeout`.
    pub timeout: u64,
    /// Failed attempts of class `protocol`.
    pub protocol: u64,
    /// Failed attempts of class `status`.
    pub status: u64,
    /// Failed attempts of class `check`.
    pub check: u64,
}

impl ErrorCounts {
    /// The count of one class.
    pub const fn of(&self, class: ErrorClass) -> u64 {
        match class {
            ErrorClass::Dns => self.dns,
            ErrorClass::Connect => self.connect,
            ErrorClass::Tls => self.tls,
            ErrorClass::Read => self.read,
            ErrorClass::Write => self.write,
            ErrorClass::Timeout => self.timeout,
            ErrorClass::Protocol => self.protocol,
            ErrorClass::Status => self.status,
            ErrorClass::Check => self.check,
        }
    }

    /// Adds `n` failures of one class; a count stops at its highest.
    pub const fn add(&mut self, class: ErrorClass, n: u64) {
        let slot = match class {
            ErrorClass::Dns => &mut self.dns,
            ErrorClass::Connect => &mut self.connect,
            ErrorClass::Tls => &mut self.tls,
            ErrorClass::Read => &mut self.read,
            ErrorClass::Write => &mut self.write,
            ErrorClass::Timeout => &mut self.timeout,
            ErrorClass::Protocol => &mut self.protocol,
            ErrorClass::Status => &mut self.status,
            ErrorClass::Check => &mut self.check,
        };
        *slot = slot.saturating_add(n);
    }

    /// Adds another set of counts to this one.
    pub fn merge(&mut self, other: &Self) {
        for class in ErrorClass::ALL {
            self.add(class, other.of(class));
        }
    }

    /// Failures of all classes together, at most the highest count: a file may claim any number.
    pub fn total(&self) -> u64 {
        ErrorClass::ALL.iter().map(|&class| self.of(class)).fold(0, u64::saturating_add)
    }

    /// Classes that occurred, with their counts, in the order reports list them.
    pub fn occurred(&self) -> impl Iterator<Item = (ErrorClass, u64)> + '_ {
        ErrorClass::ALL.into_iter().map(|class| (class, self.of(class))).filter(|&(_, n)| n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_count_of_its_own() {
        let mut counts = ErrorCounts::default();
        for (i, class) in ErrorClass::ALL.into_iter().enumerate() {
            counts.add(class, i as u64 + 1);
        }
        for (i, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!(counts.of(class), i as u64 + 1, "{class:?}");
        }
        assert_eq!(counts.total(), 45);
        let mut doubled = counts;
        doubled.merge(&counts);
        assert_eq!(doubled.total(), 90);
        let mut most = ErrorCounts { dns: u64::MAX, check: 7, ..ErrorCounts::default() };
        assert_eq!(most.total(), u64::MAX);
        most.merge(&doubled);
        assert_eq!((most.dns, most.check), (u64::MAX, 25));
    }
}
