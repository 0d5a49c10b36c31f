//! Everything at once, over many seeds. The laws: an attempt of a closed loop is a request that was
//! sent or a connection that could not be opened; attempts of an open loop are what the schedule
//! made due; a count is never exceeded; and every run ends.

use model::units::{MICROSECOND, MILLISECOND, SECOND};
use model::{Plan, Schedule};
use net::Close;
use testkit::sim::{Conditions, Cut, Delay, seeds};

use crate::harness::{Load, Outcome, closed, drive, open};
use crate::server::{NthRequest, OK, Reply, scripted};

/// A small random generator, so that a scenario is a function of the seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

fn liar(mut dice: Dice) -> impl FnMut(NthRequest) -> Option<Reply> {
    move |_| {
        let after = dice.below(20) * MILLISECOND;
        let reply = |bytes: &[u8]| Some(Reply { after, ..Reply::bytes(bytes) });
        match dice.below(24) {
            0 => None,
            1 => reply(b"").map(|r| r.ending(Close::Reset)),
            2 => reply(b"").map(|r| r.ending(Close::Flush)),
            3 => reply(&OK[..20]).map(|r| r.ending(Close::Flush)),
            4 => reply(b"HTTP/1.1 200 OK\r\n\r\nto the end").map(|r| r.ending(Close::Flush)),
            5 => reply(b"\x16\x03\x01 no HTTP"),
            6 => reply(b"HTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\n!"),
            7 => reply(&[OK, OK].concat()),
            8 => reply(b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 204 None\r\n\r\n"),
            9 => {
                reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
            }
            10 => reply(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
            11 => reply(OK).map(|r| r.ending(Close::Flush)),
            _ => reply(OK),
        }
    }
}

fn scenario(seed: u64) -> Load {
    let mut dice = Dice(seed ^ 0x5eed);
    let connections = 1 + dice.below(20) as u32;
    let mut load = if dice.below(2) == 0 {
        closed(connections)
    } else {
        open(10.0 + dice.below(2000) as f64, connections)
    };
    load.seed = seed;
    load.conditions = Conditions {
        delay: Delay::Between(1000, 1 + 1000 * (1 + dice.below(3000))),
        handshake: Delay::Between(1000, dice.one_of(&[2, 2, 2, 700]) * MILLISECOND),
        cut: dice.one_of(&[Cut::Whole, Cut::Anywhere, Cut::Bytes]),
        buffer_bytes: 1 + dice.below(5000) as usize,
        resets_per_million: dice.one_of(&[0, 0, 5000]),
    };
    load.limits.files = dice.one_of(&[3, 1000, 1000]);
    vary(&mut load.plan, &mut dice);
    if dice.below(5) == 0 {
        load.stop_at = Some(dice.below(2500) * MILLISECOND);
    }
    load
}

fn vary(plan: &mut Plan, dice: &mut Dice) {
    plan.seed = dice.below(1000);
    plan.threads = 1 + dice.below(u64::from(plan.connections).min(3)) as u32;
    plan.timeout_ns = dice.one_of(&[20 * MILLISECOND, 200 * MILLISECOND, SECOND]);
    plan.warmup_ns = dice.one_of(&[0, 0, 333 * MILLISECOND]);
    plan.ramp_ns = dice.one_of(&[0, 0, 500 * MILLISECOND]);
    plan.granularity_ns = dice.one_of(&[0, 60 * MICROSECOND]);
    plan.pipeline = dice.one_of(&[1, 1, 5]);
    plan.keepalive = plan.pipeline > 1 || dice.below(4) > 0;
    plan.max_inflight = dice.one_of(&[u32::MAX, 3]);
    plan.duration_ns = Some(1 + dice.below(2 * SECOND));
    if plan.rate_per_s.is_none() && plan.pipeline == 1 {
        plan.pace_ns = dice.one_of(&[None, None, Some(30 * MILLISECOND)]);
        plan.think_ns = dice.one_of(&[None, None, Some(5 * MILLISECOND)]);
    }
    if dice.below(3) == 0 {
        plan.requests = Some(1 + dice.below(500));
    }
}

fn due_in_window(plan: &Plan, outcome: &Outcome) -> u64 {
    let schedule = Schedule {
        rate_per_s: plan.rate_per_s.unwrap_or(0.0),
        arrivals: plan.arrivals.unwrap_or_default(),
        lanes: plan.lanes,
        seed: plan.seed,
        ramp_ns: plan.ramp_ns,
        end_ns: u64::MAX,
        shape: None,
    };
    let by_count = plan.requests.map_or(u64::MAX, |n| schedule.end_after(plan.warmup_ns, n));
    let end_ns = by_count.min(plan.warmup_ns + outcome.run.totals.duration_ns);
    Schedule { end_ns, ..schedule }.share(0, 1).filter(|&due| due >= plan.warmup_ns).count() as u64
}

#[test]
fn nothing_is_lost_or_counted_twice() {
    for seed in seeds(0..400) {
        let load = scenario(seed);
        let mut log = crate::server::Log::default();
        let outcome = drive(&load, |world| {
            let (served, seen) = scripted(world, &load.request, liar(Dice(seed)));
            log = seen;
            served
        });
        let (plan, totals) = (&load.plan, &outcome.run.totals);
        let context = format!("seed {seed}: {totals:?}\n{load:?}");

        let everything: u64 = outcome.intervals.iter().map(|i| i.tally.attempts()).sum();
        if plan.rate_per_s.is_none() {
            let unopened: u64 = outcome.intervals.iter().map(|i| i.tally.errors.connect).sum();
            // Requests due in the warm-up that ended in the window are counted nowhere.
            let warmed = everything < outcome.sent() + unopened && plan.warmup_ns > 0;
            assert!(warmed || everything == outcome.sent() + unopened, "{context}");
        } else if totals.duration_ns > 0 {
            assert_eq!(totals.attempts, due_in_window(plan, &outcome), "{context}");
        }
        assert!(log.borrow().len() as u64 <= outcome.sent(), "{context}");
        if let Some(requests) = plan.requests {
            assert!(totals.attempts <= requests, "{context}");
        }
        let responses: u64 = totals.statuses.values().sum();
        assert_eq!(responses, totals.requests, "{context}");
        let now = &outcome.run.concurrency;
        assert!(now.open_max <= plan.connections, "{context}");
        assert!(now.in_flight_max <= plan.inflight_cap().max(plan.threads), "{context}");
        assert!(now.open_mean <= f64::from(now.open_max) + 1e-6, "{context}: {now:?}");
        assert!(now.in_flight_mean <= f64::from(now.in_flight_max) + 1e-6, "{context}: {now:?}");
        assert!(
            outcome.intervals.iter().enumerate().all(|(k, i)| i.index == k as u32),
            "{context}"
        );
        let longest = plan.warmup_ns + plan.duration_ns.unwrap_or(0) + 2 * plan.timeout_ns;
        assert!(outcome.took <= longest + 4 * SECOND, "{context}: {}", outcome.took);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in seeds(0..20) {
        let run = || {
            let load = scenario(seed);
            let outcome = drive(&load, |world| scripted(world, &load.request, liar(Dice(seed))).0);
            (outcome.run, outcome.took)
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}
