//! Sends cases to a server, and says what came of them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use gate::health::Health;
use gate::path::{Gate, Listener, Options};
use gate::policy::{Current, Policy, Upstream};
use testkit::peer::{End, RawClient};

use crate::case::{Case, Want};
use crate::mirror::Mirror;

/// How long nothing may come of what may have no answer.
const QUIET: Duration = Duration::from_millis(1500);
/// How long an answer may take that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Until when the answers to a case are read. In each case also what comes soon after that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The connection ends.
    End,
    /// So many answers of the mirror have come, or the connection ends.
    Mirrored(usize),
    /// Something has come, or nothing for a while, or the connection ends.
    Quiet,
}

/// A gateway in front of a mirror.
pub fn gateway(mirror: &Mirror, io: net::Io) -> Gate {
    let policy = Policy::open(Upstream::of("mirror", mirror.addr()));
    let options = Options {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        workers: Some(1),
        io: Some(io),
        busy_poll_ns: 0,
        log: None,
    };
    let current = Arc::new(Current::new(Arc::new(policy)));
    Gate::start(options, current, Arc::new(Health::default())).expect("it starts")
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// The statuses of the answers, and of the last one whether it was made by the mirror.
    pub statuses: Vec<u16>,
    /// Answers of the mirror.
    pub mirrored: usize,
    /// The bytes that the mirror says it received.
    pub received: String,
    pub end: End,
    /// Requests that the mirror counted.
    pub reached: u64,
}

/// Sends cases to servers that `start` puts in front of a mirror each, several cases at once, as a case mostly waits for
/// what may still come: each case with what came of it.
pub fn send_all<'a, S>(
    cases: &[&'a Case],
    until: impl Fn(&Case) -> Until + Sync,
    start: impl Fn(&Mirror) -> (S, SocketAddr) + Sync,
) -> Vec<(&'a Case, Came)> {
    const AT_ONCE: usize = 6;
    let (until, start) = (&until, &start);
    thread::scope(|scope| {
        let lanes = cases.chunks(cases.len().div_ceil(AT_ONCE)).map(|lane| {
            scope.spawn(move || {
                let mirror = Mirror::start();
                let (_server, to) = start(&mirror);
                let came = |case: &Case| send(to, &mirror, &case.bytes, until(case));
                lane.iter().map(|case| (*case, came(case))).collect::<Vec<_>>()
            })
        });
        let lanes: Vec<_> = lanes.collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("its cases are sent")).collect()
    })
}

/// Sends a case in one piece.
pub fn send(to: SocketAddr, mirror: &Mirror, bytes: &[u8], until: Until) -> Came {
    let before = mirror.requests();
    let mut client = RawClient::connect(to);
    client.try_send(bytes);
    let (came, end) = receive(&mut client, until);
    let (statuses, mirrored, received) = read(&came);
    Came { statuses, mirrored, received, end, reached: mirror.requests() - before }
}

fn receive(client: &mut RawClient, until: Until) -> (Vec<u8>, End) {
    let patience = if until == Until::Quiet { QUIET } else { PATIENCE };
    let mut all = Vec::new();
    let mut quiet = 0;
    loop {
        let (came, end) = client.receive_all(Duration::from_millis(60));
        quiet = if came.is_empty() { quiet + 1 } else { 0 };
        all.extend_from_slice(&came);
        let there = match until {
            Until::End => false,
            Until::Mirrored(wanted) => read(&all).1 >= wanted,
            Until::Quiet => !all.is_empty(),
        };
        let answered = there && quiet >= 2;
        if end != End::Open || answered || Duration::from_millis(60) * quiet > patience {
            return (all, end);
        }
    }
}

/// Takes answers apart, by their `Content-Length` alone.
fn read(bytes: &[u8]) -> (Vec<u16>, usize, String) {
    let (mut statuses, mut mirrored, mut received) = (Vec::new(), 0, String::new());
    let mut rest = bytes;
    while let Some(end) = rest.windows(4).position(|window| window == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&rest[..end + 4]).into_owned();
        let Some(status) = head.split(' ').nth(1).and_then(|status| status.parse().ok()) else {
            break;
        };
        let lower = head.to_ascii_lowercase();
        let length = lower.split("\r\n").find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        statuses.push(status);
        let body = &rest[end + 4..(end + 4 + length).min(rest.len())];
        if lower.contains("x-mirror: 1") {
            mirrored += 1;
            received.push_str(&String::from_utf8_lossy(body));
        }
        rest = &rest[end + 4 + body.len()..];
    }
    (statuses, mirrored, received)
}

/// Why what came is not what was wanted.
pub fn judge(case: &Case, came: &Came) -> Result<(), String> {
    let fail = |why: String| Err(format!("{} [{}]: {why}\n  {came:?}", case.name, case.rule));
    match &case.want {
        Want::Refused { forwarded, status } => {
            // A status of 0 leaves open which refusal it is.
            let fits = |last: &u16| last == status || (*status == 0 && (400..600).contains(last));
            if !came.statuses.last().is_some_and(fits) || came.statuses.len() != forwarded + 1 {
                return fail(format!("wanted {forwarded} answers and then {status}"));
            }
            if came.reached != *forwarded as u64 {
                return fail(format!("{} requests reached the upstream", came.reached));
            }
            if came.end == End::Open {
                return fail("the connection was left open".into());
            }
        }
        Want::Passed { requests, has, lacks } => {
            if came.mirrored != *requests || came.reached != *requests as u64 {
                return fail(format!("wanted {requests} requests to pass"));
            }
            let received = came.received.to_ascii_lowercase();
            if let Some(text) =
                has.iter().find(|text| !received.contains(&text.to_ascii_lowercase()))
            {
                return fail(format!("the upstream did not get {text:?}"));
            }
            if let Some(text) =
                lacks.iter().find(|text| received.contains(&text.to_ascii_lowercase()))
            {
                return fail(format!("the upstream got {text:?}"));
            }
        }
        Want::Unanswered => {
            if came.reached > 0 || came.statuses.iter().any(|status| *status < 400) {
                return fail("it was answered".into());
            }
        }
    }
    Ok(())
}
