//! How many connections this machine has room for: local ports, open files, memory. Checked before the load begins, so that
//! a number that is too high is refused at once, with one that fits.

use model::quote::grouped;
use net::Route;
use net::limits::{self, FileLimit};

use crate::load::shape::MOST_THREADS;

/// Memory of a connection, measured with 10,000 of them: 3.4 KiB of this process and 4 KiB of the kernel; rounded up.
const PLAIN_BYTES: u64 = 8 << 10;
/// The same where it uses TLS, whose buffers hold a record each way.
const TLS_BYTES: u64 = 48 << 10;

/// What connections need.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// How many there are to be.
    pub connections: u64,
    /// Between which addresses.
    pub routes: &'a [Route],
    /// Whether they use TLS.
    pub tls: bool,
    /// Whether all are opened at the beginning, and held.
    pub at_once: bool,
}

/// Too little of something, in words: what there is, how many connections fit, and what would make room for all.
///
/// Absent where there is room.
pub fn short(wanted: Wanted<'_>, files: FileLimit) -> Option<String> {
    let Wanted { connections, routes, tls, at_once } = wanted;
    let held = || {
        let memory = measure::machine::memory_available();
        let memory = memory.and_then(|bytes| memory_short(connections, bytes, tls));
        let handles = limits::open_files_left();
        memory.or_else(|| handles.and_then(|left| handles_short(connections, left, routes)))
    };
    let all = ports_short(connections, routes).or_else(|| files_short(connections, files));
    all.or_else(|| if at_once { held() } else { None })
}

/// How many connections there is room for, in words.
fn fits(have: u64) -> String {
    match have {
        0 => "not one fits".to_owned(),
        have => format!("-c {have} fits"),
    }
}

fn ports_short(connections: u64, routes: &[Route]) -> Option<String> {
    if routes.iter().any(|route| route.to.tcp().is_none()) {
        return None;
    }
    let (first, last) = limits::local_ports();
    let per_route = u64::from(last.saturating_sub(first)) + 1;
    let have = per_route * routes.len() as u64;
    (have < connections).then(|| {
        format!(
            "{} connections need more local ports than the {} available ({first}-{last} for each pair of addresses, of \
             which there are {}): -c {have} fits, and {} source addresses (--source) would be enough",
            grouped(connections),
            grouped(have),
            routes.len(),
            connections.div_ceil(per_route)
        )
    })
}

/// Each worker has a table of files of its own, as large as the limit.
fn files_short(connections: u64, files: FileLimit) -> Option<String> {
    let have = files.connections_per_table().saturating_mul(MOST_THREADS);
    (have < connections).then(|| {
        format!(
            "{} connections need more open files than the limit of {} a process allows: {}, and `ulimit -Hn {}` would \
             be enough",
            grouped(connections),
            grouped(files.hard),
            fits(have),
            connections / MOST_THREADS + 65
        )
    })
}

/// `left` is what the whole system may open yet. A server on this machine opens as many.
fn handles_short(connections: u64, left: u64, routes: &[Route]) -> Option<String> {
    let local = |route: &Route| route.to.tcp().is_none_or(|to| to.ip().is_loopback());
    let each = if routes.iter().all(local) { 2 } else { 1 };
    let have = left / each;
    (have < connections).then(|| {
        format!(
            "{} connections need more open files than the {} that this system allows further ones: {}, and `sysctl \
             fs.file-max` raised by {} would be enough",
            grouped(connections),
            grouped(left),
            fits(have),
            connections * each - left
        )
    })
}

fn memory_short(connections: u64, available: u64, tls: bool) -> Option<String> {
    let each = if tls { TLS_BYTES } else { PLAIN_BYTES };
    let have = available / each;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    (have < connections).then(|| {
        format!(
            "{} connections need about {:.1} GiB of memory, and {:.1} are available: {}",
            grouped(connections),
            gib(connections.saturating_mul(each)),
            gib(available),
            fits(have)
        )
    })
}

#[cfg(test)]
mod tests {
    use net::Peer;

    use super::*;
    use crate::load::address::routes;

    fn to(address: &str) -> Vec<Route> {
        routes(&[Peer::parse(address).unwrap()], &[], 50_000).unwrap()
    }

    #[test]
    fn what_is_short_is_reported_with_what_fits() {
        let files = |hard| FileLimit { soft: hard, hard };
        let near = to("127.0.0.1:80");
        let said = |short: Option<String>| short.unwrap_or_default();
        assert_eq!(ports_short(50_000, &near), None);
        let ports = said(ports_short(9_000_000, &to("192.0.2.1:80")));
        assert!(ports.contains("(--source)") && ports.contains(": -c "), "{ports}");
        assert!(ports.starts_with("9,000,000 connections need more local ports"), "{ports}");
        assert_eq!(files_short(1_000_000, files(20_000)), None);
        let said_of_files = said(files_short(1_000_000, files(600)));
        assert!(
            said_of_files.contains("-c 274432 fits") && said_of_files.contains("ulimit -Hn 2018")
        );
        assert_eq!(files_short(1_000_000, files(2018)), None);
        let none = said(files_short(200, files(40)));
        assert!(none.contains("not one fits, and `ulimit -Hn 65`"), "{none}");
        assert_eq!(handles_short(1_000, 2_000, &near), None);
        assert!(said(handles_short(1_000, 1_999, &near)).contains("-c 999 fits"));
        assert!(said(handles_short(1_000, 1_999, &near)).contains("raised by 1 "));
        assert_eq!(handles_short(1_000, 1_000, &to("192.0.2.1:80")), None);
        assert_eq!(memory_short(1_000_000, 8 << 30, false), None);
        let memory = said(memory_short(1_000_000, 4 << 30, false));
        assert!(memory.contains("about 7.6 GiB") && memory.contains("-c 524288 fits"), "{memory}");
        assert!(memory_short(1_000_000, 8 << 30, true).is_some());
    }
}
