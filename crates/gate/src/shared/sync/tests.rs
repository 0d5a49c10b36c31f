//! Several gateways, a server and a network in virtual time: what all let through together stays within the formula.

mod flight;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use rand::Draws;

use super::*;
use crate::keys::{Digester, Keys, Settings};
use crate::limits::Rate;
use crate::policy::{Decision, Facts, KeySource, Policy, PolicySettings, State, Upstream};
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

/// What the script on the server does, in Rust.
#[derive(Default)]
struct Server {
    due_us: HashMap<String, u64>,
    used: HashMap<String, u64>,
}

impl Server {
    fn take_in(&mut self, tells: &[Tell], now_ns: u64) -> Vec<Answer> {
        let now_us = now_ns / 1000;
        let answer = |tell: &Tell| match tell {
            Tell::Rate { name, micros } => {
                let due = self.due_us.entry(name.clone()).or_insert(0);
                *due = (*due).max(now_us) + micros;
                Answer::Ahead(*due - now_us)
            }
            Tell::Quota { name, requests } => {
                let used = self.used.entry(name.clone()).or_insert(0);
                *used += requests;
                Answer::Used(*used)
            }
        };
        tells.iter().map(answer).collect()
    }
}

struct Gateway {
    state: Arc<State>,
    policy: Policy,
    usage: Local,
    syncer: Syncer,
    heard: std::sync::mpsc::Receiver<u32>,
    /// When what was told reaches the server, and its answer this gateway.
    on_the_way: Option<(u64, Vec<Tell>)>,
    coming: Option<(u64, Vec<Answer>)>,
}

impl Gateway {
    fn new(settings: &Settings) -> Self {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        let digester = Digester::new(b"secret");
        state.keys.put(&digester.digest(b"k"), settings);
        let open = PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()));
        let policy =
            PolicySettings { digester: Some(digester), key_source: KeySource::usual(), ..open };
        let policy = Policy::new(&state, policy, None).unwrap();
        let usage = Local::new(Arc::clone(&state.usage));
        let heard = state.shared.switch_on().unwrap();
        state.shared.answered(1, SECOND);
        Self {
            state,
            policy,
            usage,
            syncer: Syncer::default(),
            heard,
            on_the_way: None,
            coming: None,
        }
    }

    fn ask(&mut self, now_ns: u64) -> bool {
        let facts = Facts {
            method: b"GET",
            host: b"x",
            path: b"/",
            key: Some(b"k"),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            body_bytes: Some(0),
        };
        matches!(self.policy.decide(&facts, now_ns, &mut self.usage), Decision::Forward(_))
    }

    /// What its thread and the network do at an instant. Each way takes up to `way_ns`.
    fn step(&mut self, server: Option<&mut Server>, way_ns: u64, draws: &mut Draws, now_ns: u64) {
        while let Ok(slot) = self.heard.try_recv() {
            self.syncer.note(slot, now_ns);
        }
        if self.coming.as_ref().is_some_and(|(at, _)| *at <= now_ns)
            && let Some((_, answers)) = self.coming.take()
        {
            self.syncer.answered(&self.policy, &answers, now_ns);
            self.state.shared.answered(1, now_ns);
        }
        if self.on_the_way.as_ref().is_some_and(|(at, _)| *at <= now_ns)
            && let Some((_, tells)) = self.on_the_way.take()
        {
            match server {
                Some(server) => {
                    let answers = server.take_in(&tells, now_ns);
                    self.coming = Some((now_ns + draws.below(way_ns), answers));
                }
                None => self.syncer.unanswered(now_ns),
            }
        }
        if self.on_the_way.is_none() && self.coming.is_none() {
            let tells = self.syncer.due(&self.policy, now_ns);
            if !tells.is_empty() {
                self.on_the_way = Some((now_ns + draws.below(way_ns), tells));
            }
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
    let mut now_ns = 10 * SECOND;
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
        for gateway in gateways.iter_mut() {
            for _ in 0..each {
                if gateway.ask(now_ns) {
                    passed.push(now_ns);
                }
            }
            gateway.step(Some(server), way_ns, &mut draws, now_ns);
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
        let mut gateways: Vec<_> = (0..count).map(|_| Gateway::new(&settings)).collect();
        let mut server = Server::default();
        let passed = crowd(seed, &mut gateways, &mut server, way_ns);
        // Steps are a millisecond apart, and an answer may be awaited when it becomes near.
        let told_within_s = (NEAR_NS + 4 * way_ns + 4 * MS) as f64 / 1e9;
        let bound = (count - 1) as f64 * (rate.burst + rate.per_s * told_within_s);
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
    let mut gateways: Vec<_> = (0..3).map(|_| Gateway::new(&settings)).collect();
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut passed = 0;
    for ms in 0..60_000 {
        let now_ns = 10 * SECOND + ms * MS;
        for gateway in &mut gateways {
            passed += u32::from(gateway.ask(now_ns));
            gateway.step(Some(&mut server), 2 * MS, &mut draws, now_ns);
        }
    }
    // 60 s x 100/s, the burst, and twice (10 + 100/s x 15 ms).
    assert!((5_900..=6_033).contains(&passed), "{passed}");
}

#[test]
fn quotas_are_of_all_gateways_together() {
    let settings = Settings { day_quota: Some(300), ..Settings::default() };
    let mut gateways: Vec<_> = (0..3).map(|_| Gateway::new(&settings)).collect();
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut passed = 0;
    for ms in 0..5_000 {
        let now_ns = 10 * SECOND + ms * MS;
        for gateway in &mut gateways {
            passed += u32::from(ms % 10 == 0 && gateway.ask(now_ns));
            gateway.step(Some(&mut server), 2 * MS, &mut draws, now_ns);
        }
    }
    // Each may be behind by what comes in the time that a quota takes to be told.
    assert!((300..=300 + 2 * 12).contains(&passed), "{passed}");
}

/// The server is gone for ten seconds: each gateway holds the limit by itself, and afterwards all are told.
#[test]
fn without_the_server_each_holds_the_limit_by_itself() {
    let rate = Rate { per_s: 100.0, burst: 10.0 };
    let settings = Settings { rate: Some(rate), ..Settings::default() };
    let mut gateways: Vec<_> = (0..3).map(|_| Gateway::new(&settings)).collect();
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut by_phase = [0u32; 3];
    for ms in 0..30_000u64 {
        let now_ns = 10 * SECOND + ms * MS;
        let phase = (ms / 10_000) as usize;
        if ms == 20_000 {
            // It comes back empty.
            server = Server::default();
        }
        for gateway in &mut gateways {
            by_phase[phase] += u32::from(gateway.ask(now_ns));
            let there = (phase != 1).then_some(&mut server);
            gateway.step(there, 2 * MS, &mut draws, now_ns);
        }
    }
    let [with, without, again] = by_phase;
    assert!((950..=1_045).contains(&with), "{with}");
    assert!((2_900..=3_030).contains(&without), "{without}");
    assert!(again <= 1_045, "{again}");
}
