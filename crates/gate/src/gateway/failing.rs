//! Servers that fail requests: reported once for each server and kind when it begins, now and then while it lasts, and
//! when it is over.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::throttle::Throttle;
use crate::health::ServerView;
use crate::path::Failure;

/// Seconds without a failure after which it is over.
const OVER_S: u64 = 10;

/// One server and kind.
type Which = (String, SocketAddr, Failure);

#[derive(Debug)]
struct Lasting {
    /// What was counted before it began, and last.
    before: u64,
    counted: u64,
    last_s: u64,
    said: Throttle,
}

/// What fails now.
#[derive(Debug, Default)]
pub(super) struct Failing {
    lasting: BTreeMap<Which, Lasting>,
    /// What was counted of everything, at the last look.
    counted: BTreeMap<Which, u64>,
}

impl Failing {
    /// Takes in what was counted of all servers by this second; returns what to report.
    pub(super) fn look(&mut self, servers: &[ServerView], now_s: u64) -> Vec<String> {
        let mut say = Vec::new();
        let known = |which: &Which| {
            servers.iter().any(|server| server.upstream == which.0 && server.socket == which.1)
        };
        self.lasting.retain(|which, _| known(which));
        self.counted.retain(|which, _| known(which));
        for server in servers {
            for (failure, counted) in Failure::ALL.into_iter().zip(server.failed_by) {
                let which = (server.upstream.clone(), server.socket, failure);
                let about = server.tls.as_ref().filter(|(of, _)| *of == failure);
                let about = about.map(|(_, about)| about.as_str());
                self.take(which, about, counted, now_s, &mut say);
            }
        }
        say
    }

    fn take(
        &mut self,
        which: Which,
        about: Option<&str>,
        counted: u64,
        now_s: u64,
        say: &mut Vec<String>,
    ) {
        let before = self.counted.get(&which).copied().unwrap_or(0);
        if counted != before {
            self.counted.insert(which.clone(), counted);
        }
        if counted < before {
            // It was left out of the configuration and put back within a second: it is counted from 0 again.
            self.lasting.remove(&which);
        }
        let (upstream, socket, failure) = &which;
        let name = format!("upstream `{upstream}`, server {socket}: {}", failure.does());
        if counted > before {
            let is_new = !self.lasting.contains_key(&which);
            let new = || Lasting { before, counted, last_s: now_s, said: Throttle::default() };
            let lasting = self.lasting.entry(which).or_insert_with(new);
            (lasting.counted, lasting.last_s) = (counted, now_s);
            if lasting.said.may_say(now_s) {
                let so_far = requests(counted - lasting.before);
                let about = about.map(|about| format!(": {about}")).unwrap_or_default();
                say.push(match is_new {
                    true => format!("{name}{about} ({so_far})"),
                    false => format!("{name}{about}, still ({so_far} so far)"),
                });
            }
        } else if let Some(lasting) = self.lasting.get(&which)
            && now_s - lasting.last_s >= OVER_S
        {
            let all = requests(lasting.counted - lasting.before);
            say.push(format!("{name}: not for {OVER_S} s ({all} in all)"));
            self.lasting.remove(&which);
        }
    }
}

fn requests(count: u64) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{count} requests") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(refused: u64, closed: u64) -> [ServerView; 1] {
        let mut failed_by = [0; Failure::COUNT];
        failed_by[Failure::Refused as usize] = refused;
        failed_by[Failure::Closed as usize] = closed;
        [ServerView {
            upstream: "api".into(),
            socket: "127.0.0.1:80".parse().unwrap(),
            well: true,
            down: false,
            in_flight: 0,
            failed: 0,
            checks: 0,
            checks_failed: 0,
            check_failure: None,
            failed_by,
            tls: None,
        }]
    }

    #[test]
    fn what_is_known_of_a_certificate_is_said() {
        let mut servers = server(0, 0);
        servers[0].failed_by[Failure::Expired as usize] = 1;
        servers[0].tls = Some((Failure::Expired, "it was valid until 2020-01-01".into()));
        let said = Failing::default().look(&servers, 1);
        let words =
            "shows a certificate that has expired: it was valid until 2020-01-01 (1 request)";
        assert!(said.len() == 1 && said[0].ends_with(words), "{said:?}");
        servers[0].tls = Some((Failure::OtherName, "of before".into()));
        let said = Failing::default().look(&servers, 1);
        assert!(said[0].ends_with("that has expired (1 request)"), "{said:?}");
    }

    #[test]
    fn a_server_that_was_put_back_is_counted_anew() {
        let mut failing = Failing::default();
        failing.look(&server(5, 0), 1);
        failing.look(&server(9, 0), 2);
        assert!(failing.look(&server(0, 0), 3).is_empty());
        let said = failing.look(&server(2, 0), 4);
        assert!(said.len() == 1 && said[0].ends_with("(2 requests)"), "{said:?}");
    }

    #[test]
    fn a_kind_is_said_once_while_it_lasts_and_when_it_is_over() {
        let mut failing = Failing::default();
        assert!(failing.look(&server(0, 0), 100).is_empty());
        let said = failing.look(&server(3, 0), 101);
        let begun = "upstream `api`, server 127.0.0.1:80: takes no connections (refused or unreachable) (3 requests)";
        assert_eq!(said, [begun]);
        for second in 102..161 {
            let said = failing.look(&server(second, 0), second);
            assert!(said.is_empty(), "{said:?}");
        }
        assert!(failing.look(&server(200, 0), 161)[0].contains("still (200 requests so far)"));
        let said = failing.look(&server(200, 1), 162);
        assert!(said[0].contains("closes connections before it answers (1 request)"), "{said:?}");
        assert!(failing.look(&server(200, 1), 170).is_empty());
        assert!(
            failing.look(&server(200, 1), 171)[0].contains("not for 10 s (200 requests in all)")
        );
        assert_eq!(failing.look(&server(200, 1), 172).len(), 1);
        assert!(failing.look(&server(200, 1), 300).is_empty());
        assert!(failing.look(&server(201, 1), 301)[0].contains("(1 request)"));
        assert!(failing.look(&[], 302).is_empty() && failing.lasting.is_empty());
    }
}
