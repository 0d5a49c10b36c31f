//! Connections that are refused before a request, or accepted late: reported once a minute at most, for each reason.

use model::quote::counted;

use super::throttle::Throttle;
use crate::path::PathCounts;

/// What was reported of them.
#[derive(Debug, Default)]
pub(super) struct RefusedConnections {
    headerless: Reported,
    capped: Reported,
    not_accepted: Reported,
}

/// What was reported of one kind.
#[derive(Debug, Default)]
struct Reported {
    reported: u64,
    said: Throttle,
}

impl Reported {
    /// How many new ones to report, where there were `in_all` by now, in seconds; `None` where there is nothing to report.
    fn look(&mut self, in_all: u64, now_s: u64) -> Option<u64> {
        let new = in_all.saturating_sub(self.reported);
        if new == 0 || !self.said.may_say(now_s) {
            return None;
        }
        self.reported = in_all;
        Some(new)
    }
}

impl RefusedConnections {
    /// The messages to print by now, in seconds.
    pub(super) fn look(&mut self, counts: &PathCounts, now_s: u64) -> Vec<String> {
        let headerless = self.headerless.look(counts.headerless, now_s).map(|new| {
            format!(
                "{} to a listener with `proxy_protocol = true` began without a PROXY header and got no response: the load \
                 balancer must send one (HAProxy: `send-proxy-v2`; nginx: `proxy_protocol on`)",
                counted(new, "connection")
            )
        });
        let capped = self.capped.look(counts.capped, now_s).map(|new| {
            format!(
                "{} got no response, since as many are open as are allowed: of an address (`[client] connections_per_address`), \
                 or of a thread (`connections`), where none is idle",
                counted(new, "connection")
            )
        });
        let not_accepted = self.not_accepted.look(counts.not_accepted, now_s).map(|new| {
            format!(
                "clients had to wait {} for want of files or memory before they were accepted: raise the hard limit on open \
                 files (ulimit -Hn), or lower `[client] connections`",
                counted(new, "time")
            )
        });
        [headerless, capped, not_accepted].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_said_once_a_minute() {
        let mut refused_connections = RefusedConnections::default();
        let mut at = |headerless, capped, now_s, expected: &[&str]| {
            let counts = PathCounts { headerless, capped, ..PathCounts::default() };
            let said = refused_connections.look(&counts, now_s);
            let begins = said.iter().zip(expected).all(|(said, begin)| said.starts_with(begin));
            assert!(said.len() == expected.len() && begins, "{now_s}: {said:?}");
        };
        at(0, 0, 1, &[]);
        at(1, 0, 2, &["1 connection to a listener"]);
        at(9, 3, 3, &["3 connections got no response"]);
        at(9, 3, 61, &[]);
        at(9, 3, 62, &["8 connections to a listener"]);
        at(9, 4, 200, &["1 connection got no response"]);
    }

    #[test]
    fn a_want_of_files_is_said() {
        let mut refused_connections = RefusedConnections::default();
        // Connections that were reported before are not reported again.
        for (not_accepted, now_s, times) in [(2, 0, "2 times"), (3, 60, "1 time")] {
            let counts = PathCounts { not_accepted, ..PathCounts::default() };
            let said = refused_connections.look(&counts, now_s);
            let words = format!("had to wait {times} for want of files or memory");
            assert!(said.len() == 1 && said[0].contains(&words), "{said:?}");
        }
    }
}
