//! Quotas of tiers as a whole, of routes, of all requests together, and limits of keys that replace each other: they are of all
//! gateways together too.

use std::ops::Range;

use super::*;
use crate::policy::{Route, Tier};

impl Gateway {
    /// Goes by other settings from now on.
    fn go_by(&mut self, change: impl FnOnce(&mut PolicySettings)) {
        let open = PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()));
        let mut settings = PolicySettings {
            digester: Some(Digester::new(b"secret")),
            key_source: KeySource::usual(),
            ..open
        };
        change(&mut settings);
        self.policy = Policy::new(&self.state, settings, Some(&self.policy)).unwrap();
    }
}

/// What gateways let through together in five seconds, each of which is asked 100 times a second, with one key after the
/// other. The server is gone meanwhile, and comes back empty.
fn passed(gateways: &mut [Gateway], keys: &[&[u8]], gone_ms: Range<u64>) -> u32 {
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut passed = 0;
    for ms in 0..5_000 {
        let now_ns = 10 * SECOND + ms * MS;
        if ms == gone_ms.start {
            server.turn(How::Gone, &mut draws, now_ns);
        }
        if ms == gone_ms.end {
            server.turn(How::Serves, &mut draws, now_ns);
        }
        for gateway in gateways.iter_mut() {
            let key = keys[(ms / 10) as usize % keys.len()];
            passed += u32::from(ms % 10 == 0 && gateway.ask_with(key, now_ns));
            gateway.step(&mut server, 2 * MS, &mut draws, now_ns);
        }
    }
    passed
}

const QUOTA: u32 = 300;
/// Two gateways may be behind by what comes in the time that a quota takes to be reported.
const MOST: u32 = QUOTA + 2 * 12;
const NEVER: Range<u64> = 9_999..9_999;

#[test]
fn quotas_of_tiers_of_routes_and_of_all_are_of_all_gateways_together() {
    let quota = u64::from(QUOTA);
    for quotas in [
        Quotas { day: Some(quota), month: None },
        Quotas { day: None, month: Some(quota) },
        Quotas { day: Some(quota), month: Some(quota) },
    ] {
        for of in [QuotaOf::Tier(0), QuotaOf::Route(0), QuotaOf::All] {
            // Gone early, when a part is used.
            for gone_ms in [NEVER, 400..500] {
                let mut all = gateways(3, &Settings::default());
                for gateway in &mut all {
                    let tier = Tier { together_quotas: quotas, ..Tier::unlimited("some") };
                    gateway.go_by(|settings| match of {
                        QuotaOf::Tier(_) => settings.tiers = vec![tier],
                        QuotaOf::Route(_) => {
                            settings.routes = vec![Route { quotas, ..Route::to(0) }]
                        }
                        _ => settings.all_quotas = quotas,
                    });
                }
                let passed = passed(&mut all, &[b"k"], gone_ms);
                assert!((QUOTA..=MOST).contains(&passed), "{quotas:?} {of:?}: {passed}");
            }
        }
    }
}

#[test]
fn keys_that_replace_each_other_share_one_quota_over_all_gateways() {
    let settings = Settings { day_quota: Some(u64::from(QUOTA)), ..Settings::default() };
    for gone_ms in [NEVER, 400..500] {
        let mut all = gateways(3, &settings);
        replace_twice(&all, &settings);
        let passed = passed(&mut all, &[b"k", b"k2", b"k3"], gone_ms);
        assert!((QUOTA..=MOST).contains(&passed), "{passed}");
    }
}

/// Keys `k2` and `k3` in the place of `k`.
fn replace_twice(gateways: &[Gateway], settings: &Settings) {
    for gateway in gateways {
        let (keys, digester) = (&gateway.state.keys, Digester::new(b"secret"));
        let first = keys.find(&digester.digest(b"k")).unwrap();
        for key in [&b"k2"[..], b"k3"] {
            let slot = keys.put(&digester.digest(key), settings).unwrap();
            keys.entry(slot).count_in(first);
        }
    }
}

/// Asked 300 times a second together for five seconds: each key had the whole rate.
#[test]
fn keys_that_replace_each_other_share_one_rate_over_all_gateways() {
    let settings = Settings { rate: Some(Rate::per_second(60.0)), ..Settings::default() };
    let alone = passed(&mut gateways(3, &settings), &[b"k"], NEVER);
    let mut all = gateways(3, &settings);
    replace_twice(&all, &settings);
    let rotated = passed(&mut all, &[b"k", b"k2", b"k3"], NEVER);
    assert!(rotated <= alone + 12, "{rotated} of {alone}");
}

/// A gateway whose clock comes back to a day began to count it anew, and the server keeps the higher of two totals.
#[test]
fn a_clock_that_is_ahead_for_a_while_takes_no_request_from_the_quota_of_the_day() {
    let settings = Settings { day_quota: Some(u64::from(QUOTA)), ..Settings::default() };
    let mut all = gateways(2, &settings);
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut ms = 0;
    let mut ask = |all: &mut [Gateway], asked: usize, times: u64, day: i64| {
        all[asked].state.calendar.set(day * 86_400);
        let mut passed = 0;
        for at in 0..10 * times {
            let now_ns = 10 * SECOND + ms * MS;
            ms += 1;
            passed += u32::from(at % 10 == 0 && all[asked].ask(now_ns));
            for gateway in all.iter_mut() {
                gateway.step(&mut server, 2 * MS, &mut draws, now_ns);
            }
        }
        passed
    };
    assert_eq!(ask(&mut all, 0, 100, 100), 100);
    assert_eq!(ask(&mut all, 0, 1, 101), 1);
    // The store knows of them.
    all[0].state.keys.entry(0).day.raise(100, 100);
    assert_eq!(ask(&mut all, 0, 100, 100), 100);
    let others = ask(&mut all, 1, 150, 100);
    assert!((100..=112).contains(&others), "{others}");
}

/// An answer that was under way at midnight put the count of the day before in the place of the new day's.
#[test]
fn a_late_answer_does_not_take_the_new_day_back() {
    let settings = Settings { day_quota: Some(u64::from(QUOTA)), ..Settings::default() };
    let mut all = gateways(1, &settings);
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut counted = 0;
    for ms in 0..100 {
        let now_ns = 10 * SECOND + ms * MS;
        all[0].state.calendar.set(if ms < 50 { 100 } else { 101 } * 86_400);
        assert!(all[0].ask(now_ns));
        all[0].step(&mut server, 4 * MS, &mut draws, now_ns);
        let used = all[0].state.keys.entry(0).day.used(101);
        assert!(used >= counted, "{used} after {counted} at {ms} ms");
        counted = used;
    }
    assert_eq!(counted, 50);
}
