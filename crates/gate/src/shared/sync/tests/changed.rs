//! Rates that a reload changes, and days that end: what is reported under the name of one does not count for another.

use super::*;
use crate::policy::{Limits, Tier};

impl Gateway {
    /// Its keys are of a tier of this rate from now on, under a load line where there is one.
    fn reload(&mut self, rate: Rate, line: Option<Line>, now_ns: u64) {
        let each = Limits { rate: Some(rate), at_once: None };
        let open = PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()));
        let settings = PolicySettings {
            digester: Some(Digester::new(b"secret")),
            key_source: KeySource::usual(),
            tiers: vec![Tier { each, ..Tier::unlimited("some") }],
            line: line.map(Arc::new),
            ..open
        };
        let policy = Policy::new(&self.state, settings, Some(&self.policy)).unwrap();
        if let Some(line) = policy.line() {
            self.state.ceiling.set(line, 1.0, policy.part(now_ns));
        }
        policy.forget_waits(&self.policy, now_ns);
        self.former.push(std::mem::replace(&mut self.policy, policy));
    }
}

/// What two gateways let through together that are asked all the time: in the first second by a low rate, then for ten by
/// a high one. Where `under_way`, an exchange by the low rate is on its way when the rate is raised.
fn raised(low: (Rate, Option<Line>), high: (Rate, Option<Line>), under_way: bool) -> [u32; 2] {
    let mut all = gateways(2, &Settings::default());
    let (mut server, mut draws) = (Server::default(), Draws(1));
    let mut passed = [0; 2];
    let (mut changed, mut ms) = (false, 0);
    while ms < 11_000 {
        let now_ns = 10 * SECOND + ms * MS;
        if ms == 0 {
            all.iter_mut().for_each(|gateway| gateway.reload(low.0, low.1.clone(), now_ns));
        }
        let on_its_way = all.iter().any(|gateway| gateway.asked.is_some());
        if !changed && ms >= 1_000 && on_its_way == under_way {
            changed = true;
            all.iter_mut().for_each(|gateway| gateway.reload(high.0, high.1.clone(), now_ns));
        }
        for gateway in &mut all {
            passed[usize::from(changed)] += u32::from(gateway.ask(now_ns));
            gateway.step(&mut server, 2 * MS, &mut draws, now_ns);
        }
        ms += 1;
    }
    assert!(changed);
    passed
}

const LOW: Rate = Rate { per_s: 0.001, burst: 1.0 };
const HIGH: Rate = Rate { per_s: 100.0, burst: 10.0 };

#[test]
fn a_raised_rate_keeps_nobody_waiting_for_the_lower_one() {
    for under_way in [false, true] {
        let [before, after] = raised((LOW, None), (HIGH, None), under_way);
        assert!((1..=2).contains(&before), "{before}");
        // 10 s x 100/s, the burst, and what the other does not know yet (10 + 100/s x 15 ms).
        assert!((950..=1_022).contains(&after), "{under_way}: {after}");
    }
}

#[test]
fn a_raised_load_line_keeps_nobody_waiting_for_the_lower_one() {
    let line = |rate_per_s: f64| Line { rate_per_s, at_once: 10.0, ..Line::default() };
    let wide = Rate { per_s: 1e5, burst: 1e5 };
    for under_way in [false, true] {
        let [before, after] = raised((wide, Some(line(0.1))), (wide, Some(line(100.0))), under_way);
        assert!((9..=21).contains(&before), "{before}");
        assert!((930..=1_050).contains(&after), "{under_way}: {after}");
    }
}

/// A rate that falls holds at once, of both together.
#[test]
fn a_lowered_rate_is_shared_too() {
    let low = Rate { per_s: 10.0, burst: 1.0 };
    let [before, after] = raised((HIGH, None), (low, None), true);
    assert!((100..=125).contains(&before), "{before}");
    assert!((95..=104).contains(&after), "{after}");
}

/// What a key without quotas has unreported when a day ends is reported as on any other day.
#[test]
fn requests_before_midnight_are_reported_of_a_key_without_quotas() {
    let rate = Rate { per_s: 1.0, burst: 100.0 };
    let settings = Settings { rate: Some(rate), ..Settings::default() };
    let mut all = gateways(1, &settings);
    let (mut server, mut draws) = (Server::default(), Draws(5));
    let at = |ms: u64| 10 * SECOND + ms * MS;
    for ms in 0..1_000 {
        if ms == 500 {
            assert!((0..5).all(|_| all[0].ask(at(ms))));
        }
        // Noted, and not yet reported.
        if ms == 520 {
            all[0].state.calendar.set(86_400);
        }
        all[0].step(&mut server, 2 * MS, &mut draws, at(ms));
    }
    let reported_us = server.due_us.values().copied().max().unwrap_or(0);
    let came_us = at(500) / 1000 + SERVER_LATER_US;
    assert!(reported_us >= came_us + 4_900_000, "{reported_us} {came_us}");
}
