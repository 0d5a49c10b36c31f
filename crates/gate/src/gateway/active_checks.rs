//! Servers that fail their active check: reported once when one goes out and once when it comes back. While all servers
//! of an upstream are out, that is a trouble. A server that goes out and comes back all the time is reported once a
//! minute at most, with how often it did.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::throttle::{OnAndOff, came_and_went};
use crate::health::{CheckFailure, ServerView};

/// What was reported of servers that have been out, by their upstreams' names and their addresses.
#[derive(Debug, Default)]
pub(super) struct Checked(BTreeMap<(String, SocketAddr), OnAndOff>);

impl Checked {
    /// Takes in how all servers are at this second; returns what to report.
    pub(super) fn look(&mut self, servers: &[ServerView], now_s: u64) -> Vec<String> {
        let of = |server: &ServerView| (server.upstream.clone(), server.socket);
        self.0.retain(|known, _| servers.iter().any(|server| of(server) == *known));
        let mut say = Vec::new();
        for server in servers {
            let known = match server.down {
                true => Some(self.0.entry(of(server)).or_default()),
                false => self.0.get_mut(&of(server)),
            };
            if let Some(times) = known.and_then(|known| known.look(server.down, now_s)) {
                let is = match server.down {
                    true => format!(
                        "fails its check{}: no requests go to it while another is well",
                        since(server)
                    ),
                    false => "takes requests again".to_owned(),
                };
                let (name, often) = (&server.upstream, came_and_went("it was out", times));
                say.push(format!("upstream `{name}`, server {}: {is}{often}", server.socket));
            }
        }
        say
    }
}

/// Why a server failed its last check that it failed, where one did.
fn since(server: &ServerView) -> String {
    match server.check_failure {
        None => String::new(),
        Some(CheckFailure::Status(status)) => format!(", since it answers {status}"),
        Some(CheckFailure::Unanswered(failure)) => format!(", since it {}", failure.does()),
    }
}

/// Which upstreams have no server that passes its check, if any.
pub(super) fn all_out(servers: &[ServerView]) -> Option<String> {
    let names: BTreeSet<&str> = servers.iter().map(|server| &*server.upstream).collect();
    let out = |name: &&str| servers.iter().all(|server| server.upstream != *name || server.down);
    let out: Vec<String> = names.into_iter().filter(out).map(|name| format!("`{name}`")).collect();
    (!out.is_empty()).then(|| {
        format!(
            "all servers fail their check of {}: requests go to all of them, as if all were well",
            out.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Failure;

    fn server(upstream: &str, port: u16, down: bool) -> ServerView {
        ServerView {
            upstream: upstream.into(),
            socket: SocketAddr::from(([127, 0, 0, 1], port)),
            well: !down,
            down,
            in_flight: 0,
            failed: 0,
            checks: 0,
            checks_failed: 0,
            check_failure: None,
            failed_by: [0; Failure::COUNT],
            tls: None,
        }
    }

    #[test]
    fn a_server_is_said_once_when_it_goes_out_and_once_when_it_is_back() {
        let mut checked = Checked::default();
        let servers = |down| [server("api", 1, down), server("api", 2, false)];
        assert!(checked.look(&servers(false), 0).is_empty());
        let said = checked.look(&servers(true), 1);
        let out = "upstream `api`, server 127.0.0.1:1: fails its check: no requests go to it while another is well";
        assert_eq!(said, [out]);
        assert!(checked.look(&servers(true), 2).is_empty());
        let said = checked.look(&servers(false), 3);
        let back = "upstream `api`, server 127.0.0.1:1: takes requests again";
        assert_eq!(said, [back]);
        // One that goes out and comes back all the time does not fill the log.
        let said = (4..=60).flat_map(|second| checked.look(&servers(second % 2 == 0), second));
        assert_eq!(said.count(), 0);
        let often = " (it was out 28 times since the last message about it)";
        assert_eq!(checked.look(&servers(true), 61), [format!("{out}{often}")]);
        // One that is well by then says what it is about.
        let mut checked = Checked::default();
        [true, false, true, false].into_iter().zip(1..).for_each(|(down, second)| {
            checked.look(&servers(down), second);
        });
        let seldom = " (it was out 1 time since the last message about it)";
        assert_eq!(checked.look(&servers(false), 61), [format!("{back}{seldom}")]);
        assert!(
            checked.look(&[], 62).is_empty() && checked.0.is_empty(),
            "it is configured no more"
        );
    }

    #[test]
    fn why_a_server_fails_its_check_is_said() {
        for (failure, since) in [
            (CheckFailure::Status(503), ", since it answers 503: no"),
            (
                CheckFailure::Unanswered(Failure::Late),
                ", since it does not begin to answer in time: no",
            ),
        ] {
            let server = ServerView { check_failure: Some(failure), ..server("api", 1, true) };
            let said = Checked::default().look(&[server], 0);
            assert!(said[0].contains(since), "{said:?}");
        }
    }

    #[test]
    fn an_upstream_without_a_server_that_is_well_is_a_trouble() {
        let servers = |first, second| {
            [server("api", 1, first), server("api", 2, second), server("files", 3, false)]
        };
        assert_eq!(all_out(&[]), None);
        assert_eq!(all_out(&servers(true, false)), None);
        let why = all_out(&servers(true, true)).unwrap();
        assert!(why.contains("`api`") && !why.contains("`files`"), "{why}");
    }
}
