//! Instants of responses, in virtual time.

use model::units::{MILLISECOND, SECOND};
use target::{Distribution, Options, Queue, QueueKey, Stall};
use testkit::sim::{Conditions, Cut, Delay, seeds};

use crate::harness::{OK, OK_LAST, last, request};
use crate::simulated::{Call, simulate};

const WAY_NS: u64 = 200_000;

fn conditions() -> Conditions {
    Conditions { delay: Delay::Fixed(WAY_NS), ..Conditions::default() }
}

#[test]
fn a_delay_is_exact() {
    let calls = [
        Call::at(SECOND, request("GET", "/delay/50ms")),
        Call::at(SECOND, request("GET", "/delay/0ms")),
        Call::at(SECOND, request("GET", "/healthz")),
        Call::at(2 * SECOND, last("/delay/1h")),
    ];
    let replies = simulate(1, conditions(), &Options::default(), 1, &calls);
    let took: Vec<u64> =
        calls.iter().zip(&replies).map(|(call, reply)| reply.last_ns - call.at_ns).collect();
    let ways = 2 * WAY_NS;
    assert_eq!(took, [50 * MILLISECOND + ways, ways, ways, 3600 * SECOND + ways]);
    assert_eq!(replies[3].text(), OK_LAST);
}

#[test]
fn connections_on_which_nothing_happens_are_closed() {
    const MINUTE: u64 = 60 * SECOND;
    let half = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc";
    // The last keeps virtual time going: a thread checks whenever it is awake.
    let mut calls = vec![
        Call::at(SECOND, request("GET", "/healthz")),
        Call::at(SECOND, half),
        Call::at(SECOND, request("GET", "/fault/hang")),
        Call::at(SECOND, request("GET", "/delay/20m")),
    ];
    calls.extend((1..900).map(|second| Call::at(second * SECOND, request("GET", "/healthz"))));
    let replies = simulate(1, conditions(), &Options::default(), 1, &calls);
    let closed: Vec<bool> = replies[..4].iter().map(|reply| reply.closed).collect();
    assert_eq!(closed, [true, true, true, false]);
    assert_eq!(replies[0].text(), OK);
    assert_eq!((replies[3].text(), replies[3].last_ns / MINUTE), (OK.to_owned(), 20));
}

#[test]
fn responses_to_pipelined_delays_are_in_order() {
    let bytes = [request("GET", "/delay/30ms"), request("GET", "/healthz"), last("/delay/20ms")];
    let replies =
        simulate(1, conditions(), &Options::default(), 1, &[Call::at(SECOND, bytes.concat())]);
    assert_eq!(replies[0].text(), [OK, OK, OK_LAST].concat());
    assert_eq!(replies[0].last_ns, SECOND + 50 * MILLISECOND + 2 * WAY_NS);
    assert!(replies[0].closed);
}

/// Departures by the plainest recursion there is: each request takes the server that is free first.
fn departures(arrivals: &[u64], servers: usize, mut service: impl FnMut() -> u64) -> Vec<u64> {
    let mut free = vec![0; servers];
    arrivals
        .iter()
        .map(|&arrival| {
            let first = free.iter_mut().min().expect("a server");
            *first = (*first).max(arrival) + service();
            *first
        })
        .collect()
}

#[test]
fn a_queue_is_one_line_over_all_threads() {
    for seed in seeds(0..4) {
        for (servers, dist, threads) in [(1, "exp", 1), (4, "exp", 3), (1, "det", 2), (3, "det", 1)]
        {
            let path = format!("/queue?servers={servers}&mean=2ms&dist={dist}&seed={seed}");
            let gap = 2_000_000 / servers as u64;
            let calls: Vec<Call> = (0..1000_u64)
                .map(|i| (i * gap) + (i * i * 7919 + seed) % (gap / 2))
                .map(|at| Call::at(SECOND + at, request("GET", &path)))
                .collect();
            let replies = simulate(seed, conditions(), &Options::default(), threads, &calls);
            let distribution = match dist {
                "exp" => Distribution::Exponential,
                _ => Distribution::Deterministic,
            };
            let key = QueueKey { servers: servers as u32, mean_ns: 2_000_000, distribution, seed };
            let mut draws = Queue::new(key);
            let arrivals: Vec<u64> = calls.iter().map(|call| call.at_ns + WAY_NS).collect();
            let expected = departures(&arrivals, servers, || draws.service());
            for (reply, departs) in replies.iter().zip(expected) {
                assert_eq!(reply.text(), OK);
                assert_eq!(reply.last_ns, departs + WAY_NS);
            }
        }
    }
}

#[test]
fn a_client_that_leaves_a_queue_is_served_all_the_same() {
    let path = "/queue?dist=det&mean=10ms";
    let mut calls: Vec<Call> = (0..3).map(|i| Call::at(SECOND + i, request("GET", path))).collect();
    calls[1].leaves_ns = Some(SECOND + 5 * MILLISECOND);
    let replies = simulate(1, conditions(), &Options::default(), 1, &calls);
    assert_eq!(replies[1].text(), "");
    assert_eq!(replies[2].last_ns, SECOND + 30 * MILLISECOND + 2 * WAY_NS);
}

#[test]
fn a_stalled_server_responds_when_the_pause_ends() {
    let stall = Stall { every_ns: 10 * SECOND, for_ns: SECOND };
    let options = Options { stall: Some(stall), ..Options::default() };
    let at = [9_900, 9_999, 10_000, 10_500, 10_998, 11_000, 15_000, 20_300];
    let calls: Vec<Call> = at
        .iter()
        .map(|&ms| Call::at(ms * MILLISECOND, request("GET", "/healthz")))
        .chain([Call::at(9_950 * MILLISECOND, request("GET", "/delay/100ms"))])
        .chain([Call::at(10_100 * MILLISECOND, request("GET", "/queue?dist=det&mean=5ms"))])
        .collect();
    for threads in [1, 2] {
        let replies = simulate(1, conditions(), &options, threads, &calls);
        let served: Vec<u64> = replies.iter().map(|r| r.last_ns - WAY_NS).collect();
        let ms = |ms: u64| ms * MILLISECOND;
        let on_time = |ms: u64| ms * MILLISECOND + WAY_NS;
        let expected = [
            on_time(9_900),
            on_time(9_999),
            ms(11_000),
            ms(11_000),
            ms(11_000),
            on_time(11_000),
            on_time(15_000),
            ms(21_000),
            // A timer that fires during the pause is looked at after it.
            ms(11_000),
            // A request that came during the pause arrives in the queue after it.
            ms(11_005),
        ];
        assert_eq!(served, expected);
        assert!(replies.iter().all(|reply| reply.text() == OK));
    }
}

#[test]
fn what_is_pipelined_into_a_pause_keeps_its_order() {
    let stall = Stall { every_ns: 10 * SECOND, for_ns: SECOND };
    let options = Options { stall: Some(stall), ..Options::default() };
    let one = [request("GET", "/bytes/3"), request("GET", "/healthz")].concat();
    let calls = [Call::at(10_100 * MILLISECOND, [one.repeat(2000), last("/")].concat())];
    let conditions = Conditions { cut: Cut::Anywhere, buffer_bytes: 20_000, ..conditions() };
    let replies = simulate(3, conditions, &options, 1, &calls);
    let bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\
        Content-Length: 3\r\n\r\nxxx";
    assert!(replies[0].text() == [[bytes, OK].concat().repeat(2000), OK_LAST.into()].concat());
    assert!(replies[0].closed);
}

#[test]
fn a_drip_takes_a_tenth_of_a_second_a_byte() {
    let calls = [Call::at(SECOND, last("/fault/drip"))];
    let replies = simulate(1, conditions(), &Options::default(), 1, &calls);
    assert_eq!(replies[0].text(), OK_LAST);
    let steps = OK_LAST.len() as u64 - 1;
    assert_eq!(replies[0].last_ns - SECOND, steps * 100 * MILLISECOND + 2 * WAY_NS);
}

#[test]
fn an_endless_header_ends_at_64_mib() {
    let calls = [Call::at(SECOND, request("GET", "/fault/endless-header"))];
    let replies = simulate(1, conditions(), &Options::default(), 1, &calls);
    assert_eq!(replies[0].bytes.len(), "HTTP/1.1 200 OK\r\n".len() + (64 << 20));
    assert!(replies[0].closed);
    assert!(!replies[0].text().contains("\r\n\r\n"));
}

#[test]
fn a_trickled_head_is_given_up() {
    let mut calls = vec![Call::at(SECOND, "GET / HTTP/1.1\r\nX: ")];
    calls.push(Call::at(SECOND, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nslow"));
    calls[1].leaves_ns = Some(200 * SECOND);
    let replies = simulate(1, conditions(), &Options::default(), 1, &calls);
    assert!(replies[0].text().starts_with("HTTP/1.1 408 "), "{}", replies[0].text());
    assert_eq!(replies[0].last_ns, 31 * SECOND + 2 * WAY_NS);
    // A body may take its time.
    assert_eq!(replies[1].text(), "");
}

#[test]
fn a_world_of_resets_and_cuts_is_survived() {
    for seed in seeds(0..10) {
        let conditions = Conditions {
            cut: Cut::Anywhere,
            delay: Delay::Between(1000, 3_000_000),
            resets_per_million: 20_000,
            buffer_bytes: 5000,
            ..Conditions::default()
        };
        let paths = ["/healthz", "/bytes/100000", "/delay/7ms", "/queue", "/echo", "/stub_status"];
        let calls: Vec<Call> = (0..300_u64)
            .map(|i| {
                let path = |k: u64| paths[((i + k) % 6) as usize];
                let bytes = [request("GET", path(0)), request("HEAD", path(1)), last(path(2))];
                Call::at(SECOND + i * 10_000, bytes.concat())
            })
            .collect();
        let replies = simulate(seed, conditions, &Options::default(), 2, &calls);
        assert!(replies.iter().all(|reply| reply.closed));
        let whole = replies.iter().filter(|r| r.text().contains("Connection: close")).count();
        assert!(whole > 100, "{whole}");
    }
}
