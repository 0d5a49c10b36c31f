//! Several gateways, a server and a network in virtual time: what all let through together stays within the formula.

mod changed;
mod faults;
mod flight;
mod quotas;

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use rand::Draws;

use super::*;
use crate::admission::Line;
use crate::keys::{Digester, Keys, Settings};
use crate::limits::Rate;
use crate::policy::{Decision, Facts, KeySource, Outcome, Policy, PolicySettings, State, Upstream};
use crate::shared::link::{AGAIN_NS, PATIENCE};
use crate::usage::Local;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// Seeded draws, without a crate for them.
mod rand {
    pub struct Draws(pub u64);

    impl Draws {
        pub fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % most.max(1)
        }
    }
}

/// The server's clock is another one.
const SERVER_LATER_US: u64 = 25_000_000_000;

/// What one exchange brings to the server.
#[derive(Clone)]
struct Message {
    from: usize,
    connection: u64,
    reports: Vec<Report>,
}

/// How the server is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum How {
    #[default]
    Serves,
    /// Connections are open and bring what they bring; nothing is answered.
    Paused,
    /// Nobody is there.
    Gone,
}

/// What the script on the server does, in Rust, and what is on its way there.
#[derive(Default)]
struct Server {
    how: How,
    due_us: HashMap<String, u64>,
    totals: HashMap<String, HashMap<usize, u64>>,
    connections: HashMap<usize, u64>,
    known: HashSet<usize>,
    /// What came during a pause.
    unread: Vec<Message>,
    /// What was sent over a connection that broke, and when it arrives all the same.
    adrift: Vec<(u64, Message)>,
    /// Answers to what was unread, by gateway and connection.
    late: HashMap<(usize, u64), Response>,
}

impl Server {
    /// How it is from now on. Restarted, it knows nothing, and no old connection brings anything.
    fn turn(&mut self, how: How, draws: &mut Draws, now_ns: u64) {
        self.how = how;
        if how == How::Gone {
            *self = Self { how, ..Self::default() };
        }
        while how == How::Serves && !self.unread.is_empty() {
            let message = self.unread.swap_remove(draws.below(self.unread.len() as u64) as usize);
            self.read(message, now_ns);
        }
    }

    fn read(&mut self, message: Message, now_ns: u64) {
        let of = (message.from, message.connection);
        if let Some(response) = self.take_in(&message, now_ns) {
            self.late.insert(of, response);
        }
    }

    fn step(&mut self, now_ns: u64) {
        while let Some(at) = self.adrift.iter().position(|(at, _)| *at <= now_ns) {
            let (_, message) = self.adrift.swap_remove(at);
            match self.how {
                How::Serves => self.read(message, now_ns),
                How::Paused => self.unread.push(message),
                How::Gone => {}
            }
        }
    }

    fn take_in(&mut self, message: &Message, now_ns: u64) -> Option<Response> {
        let now_us = now_ns / 1000 + SERVER_LATER_US;
        let newest = self.connections.entry(message.from).or_insert(0);
        if *newest > message.connection {
            return None;
        }
        *newest = message.connection;
        let mut rate = |name: &String, due: &dyn Fn(u64) -> u64| {
            let kept = self.due_us.entry(name.clone()).or_insert(0);
            *kept = due(*kept);
            Answer::Ahead(*kept as i64 - now_us as i64)
        };
        let answer = |report: &Report| match report {
            Report::Add { name, micros, first_us } => {
                rate(name, &|due| due.max((*first_us).min(now_us)) + micros)
            }
            Report::AtLeast { name, due_us } => rate(name, &|due| due.max(*due_us)),
            Report::Total { name, requests } => {
                let totals = self.totals.entry(name.clone()).or_default();
                let own = totals.entry(message.from).or_insert(0);
                *own = (*own).max(*requests);
                Answer::Used(totals.values().sum())
            }
        };
        let answers = message.reports.iter().map(answer).collect();
        let unknown = self.known.insert(message.from);
        Some(Response { answers, server_us: now_us, unknown, gateways: 1 })
    }
}

/// What a gateway awaits an answer to.
struct Asked {
    sent_ns: u64,
    arrives_ns: Option<u64>,
    message: Message,
}

struct Gateway {
    number: usize,
    state: Arc<State>,
    policy: Policy,
    /// Policies by which an exchange may be on its way.
    former: Vec<Policy>,
    usage: Local,
    syncer: Syncer,
    queue: std::sync::mpsc::Receiver<u32>,
    noted_ns: u64,
    connection: u64,
    next_ns: u64,
    asked: Option<Asked>,
    coming: Option<(u64, Response)>,
}

/// Gateways, so many, with one key of these settings.
fn gateways(count: usize, settings: &Settings) -> Vec<Gateway> {
    (0..count).map(|number| Gateway::new(number, settings, None)).collect()
}

impl Gateway {
    fn new(number: usize, settings: &Settings, line: Option<Line>) -> Self {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        let digester = Digester::new(b"secret");
        state.keys.put(&digester.digest(b"k"), settings);
        let open = PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()));
        let policy = PolicySettings {
            digester: Some(digester),
            key_source: KeySource::usual(),
            line: line.map(Arc::new),
            ..open
        };
        let policy = Policy::new(&state, policy, None).unwrap();
        let usage = Local::new(Arc::clone(&state.usage));
        let queue = state.shared.switch_on().unwrap();
        Self {
            number,
            state,
            policy,
            former: Vec::new(),
            usage,
            syncer: Syncer::default(),
            queue,
            noted_ns: 0,
            connection: 1,
            next_ns: 0,
            asked: None,
            coming: None,
        }
    }

    fn ask(&mut self, now_ns: u64) -> bool {
        self.ask_with(b"k", now_ns)
    }

    fn ask_with(&mut self, key: &[u8], now_ns: u64) -> bool {
        let facts = Facts {
            method: b"GET",
            host: b"x",
            path: b"/",
            cut: None,
            key: Some(key),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            body_bytes: Some(0),
        };
        match self.policy.decide(&facts, now_ns, &mut self.usage) {
            Decision::Forward(ticket) => {
                let outcome = Outcome {
                    status: 200,
                    bytes_in: 1,
                    bytes_out: 1,
                    latency_ns: MS,
                    upstream_ns: MS,
                    waited_ns: 0,
                    upstream_failed: false,
                };
                self.policy.finish(&ticket, &outcome, now_ns, &mut self.usage);
                true
            }
            Decision::Refuse(_) => false,
        }
    }

    /// The connection breaks. What it still brings arrives within `adrift_ns`, or never where the server was gone.
    fn fail(&mut self, server: &mut Server, adrift_ns: u64, draws: &mut Draws, now_ns: u64) {
        let asked = self.asked.take();
        if let Some(Asked { arrives_ns: Some(_), message, .. }) = asked
            && server.how != How::Gone
        {
            server.adrift.push((now_ns + draws.below(adrift_ns), message));
        }
        self.coming = None;
        self.connection += 1;
        self.syncer.unanswered();
    }

    /// What its thread and the network do at an instant. Each way takes up to `way_ns`.
    fn step(&mut self, server: &mut Server, way_ns: u64, draws: &mut Draws, now_ns: u64) {
        if let Some((_, response)) = self.coming.take_if(|(at, _)| *at <= now_ns) {
            let sent_ns = self.asked.take().map_or(now_ns, |asked| asked.sent_ns);
            self.syncer.answered(&self.policy, &response, sent_ns, now_ns);
            self.state.shared.answered(response.gateways, now_ns);
        }
        if let Some(asked) = &mut self.asked
            && self.coming.is_none()
        {
            if asked.arrives_ns.take_if(|at| *at <= now_ns).is_some() {
                match server.how {
                    How::Serves => server.read(asked.message.clone(), now_ns),
                    How::Paused => server.unread.push(asked.message.clone()),
                    How::Gone => return self.fail(server, 1, draws, now_ns),
                }
            }
            if let Some(response) = server.late.remove(&(self.number, self.connection)) {
                self.coming = Some((now_ns + draws.below(way_ns), response));
            } else if now_ns > asked.sent_ns + PATIENCE.as_nanos() as u64 {
                self.fail(server, 5 * SECOND, draws, now_ns);
            }
        }
        // Its thread waits for the answer.
        if self.asked.is_some() {
            return;
        }
        for before in self.former.drain(..) {
            self.policy.forget_waits(&before, now_ns);
        }
        while let Ok(slot) = self.queue.try_recv() {
            self.syncer.note(slot, self.noted_ns);
        }
        self.noted_ns = now_ns;
        let reports = self.syncer.due(&self.policy, now_ns);
        if !reports.is_empty() || now_ns >= self.next_ns {
            self.next_ns = now_ns + AGAIN_NS;
            let message = Message { from: self.number, connection: self.connection, reports };
            let arrives_ns = Some(now_ns + draws.below(way_ns));
            self.asked = Some(Asked { sent_ns: now_ns, arrives_ns, message });
        }
    }
}

/// The most that was let through in any window above burst + rate x window.
fn excess(passed: &[u64], rate: &Rate) -> f64 {
    // The excess over all windows is the depth of a bucket that never refuses, less the burst.
    let (mut level, mut last, mut most) = (0.0f64, 0, 0.0f64);
    for &at in passed {
        level = (level - (at - last) as f64 / 1e9 * rate.per_s).max(0.0) + 1.0;
        most = most.max(level - rate.burst);
        last = at;
    }
    most
}

/// Crowds of clients at random times at random gateways. The instants that were let through.
fn crowd(seed: u64, gateways: &mut [Gateway], server: &mut Server, way_ns: u64) -> Vec<u64> {
    let mut draws = Draws(seed);
    let mut passed = Vec::new();
    let mut now_ns = 9 * SECOND;
    let mut left = 0;
    while now_ns < 25 * SECOND {
        // Quiet, steady, or a rush at all gateways at once.
        let kind = draws.below(3);
        left = if left == 0 { 1 + draws.below(2000) } else { left - 1 };
        let each = match kind {
            0 => 0,
            1 => draws.below(2),
            _ if left < 100 => draws.below(40),
            _ => 0,
        };
        // First they get to know the server.
        let each = if now_ns < 10 * SECOND { 0 } else { each };
        for gateway in gateways.iter_mut() {
            for _ in 0..each {
                if gateway.ask(now_ns) {
                    passed.push(now_ns);
                }
            }
            gateway.step(server, way_ns, &mut draws, now_ns);
        }
        now_ns += MS;
    }
    passed
}

#[test]
fn the_excess_stays_within_the_formula() {
    let mut worst: f64 = 0.0;
    for seed in 0..60 {
        let mut draws = Draws(seed ^ 0xabcd);
        let rate =
            Rate { per_s: 5.0 + draws.below(500) as f64, burst: 1.0 + draws.below(100) as f64 };
        let (count, way_ns) = (2 + draws.below(4) as usize, (1 + draws.below(30)) * MS);
        let settings = Settings { rate: Some(rate), ..Settings::default() };
        let mut gateways = gateways(count, &settings);
        let mut server = Server::default();
        let passed = crowd(seed, &mut gateways, &mut server, way_ns);
        // Steps are a millisecond apart, and an answer may be awaited when it becomes near.
        let reported_within_s = (NEAR_NS + 4 * way_ns + 4 * MS) as f64 / 1e9;
        let older_s = (100 * MS + 2 * way_ns + 2 * MS) as f64 / 1e9;
        let bound = (count - 1) as f64 * (rate.burst + rate.per_s * reported_within_s)
            + rate.per_s * older_s;
        let excess = excess(&passed, &rate);
        assert!(
            excess <= bound + 1e-6,
            "seed {seed}: {excess} of {bound}, {count} {rate:?} {way_ns}"
        );
        worst = worst.max(excess / bound);
    }
    assert!(worst > 0.2, "the crowds are too tame to say anything: {worst}");
}

/// Over a long time, gateways that share a rate let no more through than one, whatever its excess at first.
#[test]
fn the_excess_does_not_grow() {
    let rate = Rate { per_s: 100.0, burst: 10.0 };
    let settings = Settings { rate: Some(rate), ..Settings::default() };
    let mut gateways = gateways(3, &settings);
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut passed = 0;
    for ms in 0..60_000 {
        let now_ns = 10 * SECOND + ms * MS;
        for gateway in &mut gateways {
            passed += u32::from(gateway.ask(now_ns));
            gateway.step(&mut server, 2 * MS, &mut draws, now_ns);
        }
    }
    // 60 s x 100/s, the burst, and twice (10 + 100/s x 15 ms).
    assert!((5_900..=6_033).contains(&passed), "{passed}");
}

#[test]
fn quotas_are_of_all_gateways_together() {
    let settings = Settings { day_quota: Some(300), ..Settings::default() };
    let mut gateways = gateways(3, &settings);
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut passed = 0;
    for ms in 0..5_000 {
        let now_ns = 10 * SECOND + ms * MS;
        for gateway in &mut gateways {
            passed += u32::from(ms % 10 == 0 && gateway.ask(now_ns));
            gateway.step(&mut server, 2 * MS, &mut draws, now_ns);
        }
    }
    // Each may be behind by what comes in the time that a quota takes to be reported.
    assert!((300..=300 + 2 * 12).contains(&passed), "{passed}");
}

#[test]
fn keys_without_limits_keep_no_other_waiting() {
    let mut gateway = Gateway::new(0, &Settings::default(), None);
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let at = |ms: u64| 10 * SECOND + ms * MS;
    (0..100).for_each(|ms| gateway.step(&mut server, MS, &mut draws, at(ms)));
    assert!(gateway.asked.is_none() && gateway.ask(at(100)));
    gateway.syncer.note(0, at(100));
    assert_eq!(gateway.syncer.due(&gateway.policy, at(210)), []);
    let rate = Some(Rate { per_s: 1.0, burst: 2.0 });
    let settings = Settings { rate, ..Settings::default() };
    gateway.state.keys.put(&Digester::new(b"secret").digest(b"k"), &settings);
    gateway.syncer.note(0, at(220));
    assert_eq!(gateway.syncer.due(&gateway.policy, at(330)).len(), 1);
}

/// The server is gone for ten seconds: each gateway holds the limit by itself, and afterwards each reports all.
#[test]
fn without_the_server_each_holds_the_limit_by_itself() {
    let rate = Rate { per_s: 100.0, burst: 10.0 };
    let settings = Settings { rate: Some(rate), ..Settings::default() };
    let mut gateways = gateways(3, &settings);
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut by_phase = [0u32; 3];
    for ms in 0..30_000u64 {
        let now_ns = 10 * SECOND + ms * MS;
        let phase = (ms / 10_000) as usize;
        match ms {
            10_000 => server.turn(How::Gone, &mut draws, now_ns),
            // It comes back empty.
            20_000 => server.turn(How::Serves, &mut draws, now_ns),
            _ => {}
        }
        for gateway in &mut gateways {
            by_phase[phase] += u32::from(gateway.ask(now_ns));
            gateway.step(&mut server, 2 * MS, &mut draws, now_ns);
        }
    }
    let [with, without, again] = by_phase;
    assert!((950..=1_045).contains(&with), "{with}");
    assert!((2_900..=3_030).contains(&without), "{without}");
    assert!(again <= 1_045, "{again}");
}
