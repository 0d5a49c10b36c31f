//! Decisions: who is let through, and that a refusal gives back what was taken before it.

mod honest;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use super::*;
use crate::admission::{Asking, Envelope, Part};
use crate::keys::{Digester, Settings};
use crate::limits::Rate;
use crate::usage::{Collector, Local};

const SECOND: u64 = 1_000_000_000;

/// A policy with a digester, its state, and a worker's counts.
struct Desk {
    state: Arc<State>,
    settings: PolicySettings,
    usage: Local,
}

impl Desk {
    fn new() -> Self {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        let upstream = Upstream::of("api", "127.0.0.1:1".parse().unwrap());
        let settings = PolicySettings {
            tiers: vec![Tier::unlimited("first")],
            key_source: KeySource::usual(),
            digester: Some(Digester::new(b"secret")),
            ..PolicySettings::open(upstream)
        };
        let usage = Local::new(Arc::clone(&state.usage));
        Self { state, settings, usage }
    }

    fn key(&self, key: &str, settings: Settings) {
        self.state.keys.put(&Digester::new(b"secret").digest(key.as_bytes()), &settings);
    }

    /// A key that replaces another, with the same settings.
    fn rotated(&self, old: &str, key: &str, settings: Settings) {
        let digest = |key: &str| Digester::new(b"secret").digest(key.as_bytes());
        self.key(key, settings);
        let keys = &self.state.keys;
        let slot = |key| keys.find(&digest(key)).unwrap();
        keys.entry(slot(key)).count_in(keys.counting_slot(slot(old)));
    }

    fn policy(&self) -> Policy {
        Policy::new(&self.state, self.settings.clone(), None).unwrap()
    }

    fn ask(&mut self, policy: &Policy, key: Option<&str>, path: &str, now_ns: u64) -> Decision {
        let facts = Facts {
            method: b"GET",
            host: b"x",
            path: path.as_bytes(),
            cut: None,
            key: key.map(str::as_bytes),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            body_bytes: Some(0),
        };
        policy.decide(&facts, now_ns, &mut self.usage)
    }

    /// The problem, or none where it is forwarded.
    fn problem(&mut self, policy: &Policy, key: Option<&str>, path: &str) -> Option<Problem> {
        match self.ask(policy, key, path, SECOND) {
            Decision::Forward(_) => None,
            Decision::Refuse(refusal) => Some(refusal.problem),
        }
    }

    fn finish(&mut self, policy: &Policy, ticket: &Ticket) {
        let outcome = Outcome {
            status: 200,
            bytes_in: 1,
            bytes_out: 1,
            latency_ns: 1,
            upstream_ns: 1,
            waited_ns: 0,
            upstream_failed: false,
        };
        policy.finish(ticket, &outcome, SECOND, &mut self.usage);
    }
}

fn ticket(decision: Decision) -> Ticket {
    match decision {
        Decision::Forward(ticket) => ticket,
        Decision::Refuse(refusal) => panic!("{refusal:?}"),
    }
}

/// A request of the key `k` whose body is yet to come.
fn upload() -> Facts<'static> {
    Facts {
        method: b"POST",
        host: b"x",
        path: b"/",
        cut: None,
        key: Some(b"k"),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        body_bytes: None,
    }
}

#[test]
fn keys_are_asked_for_before_anything_is_said_of_routes() {
    let mut desk = Desk::new();
    desk.settings.routes[0].path = PathPattern::parse("/api").unwrap();
    let public = Route {
        name: "health".into(),
        path: PathPattern::parse("/health").unwrap(),
        public: true,
        ..Route::to(0)
    };
    desk.settings.routes.push(public);
    desk.key("good", Settings::default());
    desk.key("old", Settings { expires_s: 50, ..Settings::default() });
    let set = desk.state.route_set(&["health".to_owned()]).unwrap();
    desk.key("narrow", Settings { routes: set, ..Settings::default() });
    desk.state.calendar.set(60);
    let policy = desk.policy();
    let cases = [
        (None, "/api", Some(Problem::KeyMissing)),
        (Some(""), "/api", Some(Problem::KeyMissing)),
        (None, "/nowhere", Some(Problem::KeyMissing)),
        (Some("bad"), "/nowhere", Some(Problem::KeyUnknown)),
        (Some("old"), "/api", Some(Problem::KeyUnknown)),
        (Some("good"), "/nowhere", Some(Problem::NoRoute)),
        (Some("good"), "/api/x", None),
        (Some("narrow"), "/api/x", Some(Problem::KeyNotForRoute)),
        (None, "/health", None),
    ];
    for (key, path, problem) in cases {
        assert_eq!(desk.problem(&policy, key, path), problem, "{key:?} {path}");
    }
}

#[test]
fn the_narrowest_route_takes_a_request_and_methods_are_told_apart() {
    let mut desk = Desk::new();
    desk.settings.digester = None;
    let route = |name: &str, path: &str, methods: &[&str]| Route {
        name: name.into(),
        path: PathPattern::parse(path).unwrap(),
        methods: Methods(methods.iter().map(|method| (*method).to_owned()).collect()),
        ..Route::to(0)
    };
    desk.settings.routes = vec![
        route("users", "/users", &[]),
        route("user", "/users/{id}", &["GET"]),
        route("post", "/form", &["POST"]),
    ];
    let policy = desk.policy();
    let name = |decision| policy.route(ticket(decision).route).name.clone();
    assert_eq!(name(desk.ask(&policy, None, "/users/7", SECOND)), "user");
    assert_eq!(name(desk.ask(&policy, None, "/users/7/x", SECOND)), "users");
    assert_eq!(desk.problem(&policy, None, "/form"), Some(Problem::MethodNotAllowed));
    let methods = |path: &'static str| {
        let (method, host, path) = (&b"PUT"[..], &b"x"[..], path.as_bytes());
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let facts = Facts { method, host, path, cut: None, key: None, address, body_bytes: None };
        policy.methods_at(&facts)
    };
    assert_eq!((methods("/form"), methods("/users/7")), (vec!["POST"], vec!["GET", "HEAD"]));
}

#[test]
fn a_rate_is_reported_in_headers_and_a_refusal_takes_nothing() {
    let mut desk = Desk::new();
    let rate = Some(Rate { per_s: 2.0, burst: 2.0 });
    desk.key("slow", Settings { rate, day_quota: Some(3), ..Settings::default() });
    let policy = desk.policy();
    for _ in 0..2 {
        let ticket = ticket(desk.ask(&policy, Some("slow"), "/", SECOND));
        desk.finish(&policy, &ticket);
    }
    for _ in 0..10 {
        let Decision::Refuse(refusal) = desk.ask(&policy, Some("slow"), "/", SECOND) else {
            panic!("a third request in one instant")
        };
        assert_eq!((refusal.problem, refusal.retry_after_s), (Problem::RateLimited, Some(1)));
        let limit = refusal.limit.unwrap();
        let told = (limit.name, limit.quota, limit.window_s, limit.remaining);
        assert_eq!(told, ("key", 2, Some(1), 0));
    }
    // The third of the day passes after the pause that was told, and the fourth is over the quota.
    assert!(matches!(desk.ask(&policy, Some("slow"), "/", 2 * SECOND), Decision::Forward(_)));
    let Decision::Refuse(refusal) = desk.ask(&policy, Some("slow"), "/", 2 * SECOND) else {
        panic!("a fourth request of the day")
    };
    assert_eq!((refusal.problem, refusal.retry_after_s), (Problem::QuotaUsedUp, Some(86_400)));
    // It took nothing of the rate: the request is refused for the quota again, not for the rate.
    let again = desk.ask(&policy, Some("slow"), "/", 2 * SECOND);
    assert!(matches!(again, Decision::Refuse(refusal) if refusal.problem == Problem::QuotaUsedUp));
}

#[test]
fn a_rate_is_told_as_no_more_than_it_lets_through() {
    for (per_s, told) in [
        (2.0, (2, 1)),
        (1.5, (90, 60)),
        (100.0 / 60.0, (100, 60)),
        (2.345671, (2, 1)),
        (0.5, (1, 2)),
        (1000.0 / 3600.0, (1000, 3600)),
        (1.0 / 3600.0, (1, 3600)),
        (1e-12, (1, u32::MAX)),
    ] {
        assert_eq!(decide::window(per_s), told, "{per_s}");
    }
}

/// What is in flight is given back all the same: the third would be one too many at once.
#[test]
fn requests_that_are_refused_for_their_key_count_in_the_rate_of_their_address() {
    let mut desk = Desk::new();
    let rate = Some(Rate { per_s: 1.0, burst: 3.0 });
    desk.settings.address = Limits { rate, at_once: Some(1) };
    let set = desk.state.route_set(&["other".to_owned()]).unwrap();
    desk.key("narrow", Settings { routes: set, ..Settings::default() });
    desk.key("good", Settings::default());
    let policy = desk.policy();
    for (key, problem) in [
        (None, Problem::KeyMissing),
        (Some("guess"), Problem::KeyUnknown),
        (Some("narrow"), Problem::KeyNotForRoute),
        (Some("guess"), Problem::RateLimited),
        (Some("good"), Problem::RateLimited),
    ] {
        assert_eq!(desk.problem(&policy, key, "/"), Some(problem), "{key:?}");
    }
}

#[test]
fn a_key_of_no_tier_or_an_unknown_one_is_of_the_first() {
    let mut desk = Desk::new();
    let together = |at_once| Limits { rate: None, at_once: Some(at_once) };
    // Numbered before any policy has it, as keys of the store are.
    let lost = desk.state.tier_number("lost").unwrap();
    let first = desk.state.tier_number("first").unwrap();
    desk.settings.tiers[0].together = together(2);
    desk.settings.tiers.push(Tier::unlimited("second"));
    desk.key("none", Settings::default());
    desk.key("lost", Settings { tier: lost, ..Settings::default() });
    desk.key("first", Settings { tier: first, ..Settings::default() });
    let policy = desk.policy();
    assert_eq!(desk.problem(&policy, Some("none"), "/"), None);
    assert_eq!(desk.problem(&policy, Some("lost"), "/"), None);
    for key in ["none", "lost", "first"] {
        assert_eq!(desk.problem(&policy, Some(key), "/"), Some(Problem::TooManyAtOnce), "{key}");
    }
}

#[test]
fn a_quota_is_said_to_begin_anew_when_it_does_though_the_clock_was_put_back_over_midnight() {
    let mut desk = Desk::new();
    desk.key("k", Settings { day_quota: Some(1), ..Settings::default() });
    let policy = desk.policy();
    desk.state.calendar.set(2 * 86_400);
    desk.state.calendar.set(2 * 86_400 - 600);
    assert_eq!(desk.problem(&policy, Some("k"), "/"), None);
    let Decision::Refuse(refusal) = desk.ask(&policy, Some("k"), "/", SECOND) else {
        panic!("a second request of the day")
    };
    assert_eq!(refusal.retry_after_s, Some(86_400));
}

#[test]
fn the_shortest_of_the_longest_bodies_holds() {
    // A key's own stands in the place of its tier's.
    for (all, tier, key, route, holds) in [
        (3, Some(4), None, 5, 3),
        (4, Some(3), None, 5, 3),
        (5, Some(4), None, 3, 3),
        (9, None, None, 9, 9),
        (9, None, Some(2), 9, 2),
        (9, Some(4), Some(6), 9, 6),
        (9, Some(4), Some(6), 5, 5),
        (9, Some(4), Some(0), 9, 0),
    ] {
        let mut desk = Desk::new();
        desk.settings.body_max_bytes = all;
        desk.settings.tiers[0].body_max_bytes = tier;
        desk.settings.routes[0].body_max_bytes = route;
        desk.key("k", Settings { body_max_bytes: key, ..Settings::default() });
        let policy = desk.policy();
        let held = ticket(desk.ask(&policy, Some("k"), "/", SECOND));
        assert_eq!(held.body_max_bytes, holds);
    }
}

#[test]
fn tiers_as_a_whole_and_addresses_have_quotas_of_days_and_months() {
    let of_day = Quotas { day: Some(2), month: None };
    for (quotas, left_s) in [(of_day, 86_400), (Quotas { day: None, month: Some(2) }, 31 * 86_400)]
    {
        for of_address in [false, true] {
            let mut desk = Desk::new();
            match of_address {
                true => desk.settings.address_quotas = quotas,
                false => desk.settings.tiers[0].together_quotas = quotas,
            }
            desk.settings.routes[0].path = PathPattern::parse("/api").unwrap();
            desk.key("a", Settings::default());
            desk.key("b", Settings::default());
            let policy = desk.policy();
            for key in ["a", "b"] {
                // What is refused for something else counts in neither.
                assert_eq!(desk.problem(&policy, Some("bad"), "/api"), Some(Problem::KeyUnknown));
                assert_eq!(desk.problem(&policy, Some("a"), "/no"), Some(Problem::NoRoute));
                assert_eq!(desk.problem(&policy, Some(key), "/api"), None);
            }
            let Decision::Refuse(refusal) = desk.ask(&policy, Some("a"), "/api", SECOND) else {
                panic!("a third request: {quotas:?}, {of_address}")
            };
            assert_eq!(
                (refusal.problem, refusal.retry_after_s, refusal.limit.map(|limit| limit.quota)),
                (Problem::QuotaUsedUp, Some(left_s), Some(2))
            );
            // The next month, and so the next day.
            desk.state.calendar.set(31 * 86_400);
            assert_eq!(desk.problem(&policy, Some("b"), "/api"), None);
        }
    }
}

#[test]
fn a_quota_of_a_month_is_reported_with_the_length_of_that_month() {
    for (days, month_days) in [(0, 31), (31, 28), (90, 30), (31 + 365 * 2, 29)] {
        let mut desk = Desk::new();
        desk.key("k", Settings { month_quota: Some(1), ..Settings::default() });
        desk.state.calendar.set(days * 86_400);
        let policy = desk.policy();
        assert_eq!(desk.problem(&policy, Some("k"), "/"), None);
        let Decision::Refuse(refusal) = desk.ask(&policy, Some("k"), "/", SECOND) else {
            panic!("a second request of the month")
        };
        let window_s = refusal.limit.and_then(|limit| limit.window_s);
        assert_eq!(window_s, Some(month_days * 86_400), "day {days}");
    }
}

#[test]
fn what_the_load_line_has_no_room_for_counts_in_no_quota() {
    let mut desk = Desk::new();
    let line = Line { rate_per_s: 1000.0, at_once: 1.0, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    let quotas = Quotas { day: Some(2), month: Some(2) };
    desk.settings.tiers[0].together_quotas = quotas;
    desk.settings.address_quotas = quotas;
    desk.key("k", Settings::default());
    let policy = desk.policy();
    let first = ticket(desk.ask(&policy, Some("k"), "/", SECOND));
    let facts = upload();
    for _ in 0..3 {
        let mut held = ticket(policy.decide_before_body(&facts, SECOND, &mut desk.usage));
        let refusal = policy.take_line(&mut held, SECOND, &mut desk.usage).unwrap_err();
        assert_eq!(refusal.problem, Problem::AtLoadLine);
    }
    desk.finish(&policy, &first);
    let second = ticket(desk.ask(&policy, Some("k"), "/", 2 * SECOND));
    desk.finish(&policy, &second);
    assert_eq!(desk.problem(&policy, Some("k"), "/"), Some(Problem::QuotaUsedUp));
}

#[test]
fn what_the_load_line_has_no_room_for_is_told_what_is_full() {
    let told = |refusal: &Refusal| {
        let limit = refusal.limit.unwrap();
        (refusal.retry_after_s, limit.name, limit.quota, limit.window_s)
    };
    let held_to = |line: Line| {
        let mut desk = Desk::new();
        desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
        desk.settings.line = Some(Arc::new(line));
        desk.key("k", Settings::default());
        let policy = desk.policy();
        (desk, policy)
    };
    let refused = |desk: &mut Desk, policy: &Policy| match desk.ask(policy, Some("k"), "/", SECOND)
    {
        Decision::Refuse(refusal) => told(&refusal),
        Decision::Forward(ticket) => panic!("{ticket:?}"),
    };
    let (mut desk, policy) = held_to(Line { rate_per_s: 10.0, at_once: 1.0, ..Line::default() });
    let first = ticket(desk.ask(&policy, Some("k"), "/", SECOND));
    assert_eq!(refused(&mut desk, &policy), (Some(1), "load line", 1, None));
    desk.finish(&policy, &first);
    assert_eq!(refused(&mut desk, &policy), (Some(1), "load line", 10, Some(1)));
    let (mut desk, policy) = held_to(Line { rate_per_s: 0.1, at_once: 2.0, ..Line::default() });
    for _ in 0..2 {
        ticket(desk.ask(&policy, Some("k"), "/", SECOND));
    }
    assert_eq!(refused(&mut desk, &policy), (Some(10), "load line", 2, None));
    let (rate_per_s, at_once, ahead_ns) = (1000.0, 50.0, SECOND);
    let (mut desk, policy) = held_to(Line { rate_per_s, at_once, ahead_ns, ..Line::default() });
    let slot = desk.state.keys.find(&Digester::new(b"secret").digest(b"k")).unwrap();
    let mut asking = Asking::default();
    asking.note([(slot, 500_000)].into_iter(), 0.1);
    policy.share_out(&asking, f64::INFINITY);
    // So much of a second of the line is left to who asks for more than its share.
    for _ in 0..400 {
        let held = ticket(desk.ask(&policy, Some("k"), "/", SECOND));
        desk.finish(&policy, &held);
    }
    assert_eq!(refused(&mut desk, &policy), (Some(1), "share", 970, Some(1)));
}

/// Else requests whose bodies come over midnight would each add one to the next day's quota.
#[test]
fn a_request_of_yesterday_is_not_given_back_to_the_quota_of_today() {
    let mut desk = Desk::new();
    let line = Line { rate_per_s: 1000.0, at_once: 1.0, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    desk.key("k", Settings { day_quota: Some(2), ..Settings::default() });
    let policy = desk.policy();
    let facts = upload();
    let mut held = ticket(policy.decide_before_body(&facts, SECOND, &mut desk.usage));
    desk.state.calendar.set(86_400);
    let first = ticket(desk.ask(&policy, Some("k"), "/", SECOND));
    policy.take_line(&mut held, SECOND, &mut desk.usage).unwrap_err();
    desk.finish(&policy, &first);
    let second = ticket(desk.ask(&policy, Some("k"), "/", 2 * SECOND));
    desk.finish(&policy, &second);
    assert_eq!(desk.problem(&policy, Some("k"), "/"), Some(Problem::QuotaUsedUp));
}

#[test]
fn requests_at_once_are_given_back_at_every_place() {
    let mut desk = Desk::new();
    let most = |at_once| Limits { rate: None, at_once: Some(at_once) };
    desk.settings.all = most(3);
    desk.settings.address = most(3);
    desk.settings.routes[0].limits = most(3);
    desk.settings.tiers[0].together = most(2);
    desk.settings.tiers[0].each = most(3);
    desk.key("k", Settings::default());
    let policy = desk.policy();
    for _ in 0..5 {
        let held: Vec<Ticket> =
            (0..2).map(|_| ticket(desk.ask(&policy, Some("k"), "/", SECOND))).collect();
        let Decision::Refuse(refusal) = desk.ask(&policy, Some("k"), "/", SECOND) else {
            panic!("a third at once")
        };
        let limit = refusal.limit.map(|limit| (limit.name, limit.quota, limit.window_s));
        assert_eq!((refusal.retry_after_s, limit), (Some(1), Some(("tier", 2, None))));
        // The tier's two are held; key and address took a third, and gave it back.
        for _ in 0..5 {
            assert_eq!(desk.problem(&policy, Some("k"), "/"), Some(Problem::TooManyAtOnce));
        }
        held.iter().for_each(|ticket| desk.finish(&policy, ticket));
    }
    assert_eq!(desk.state.ceiling.in_flight(), 0.0);
}

/// Each of them had a rate and requests at once of its own: who rotated often was let through many times as much.
#[test]
fn keys_that_replace_each_other_have_one_rate_and_one_number_at_once() {
    let mut desk = Desk::new();
    let rate = Some(Rate { per_s: 1.0, burst: 3.0 });
    let limited = Settings { rate, ..Settings::default() };
    let narrow = Settings { at_once: Some(2), ..Settings::default() };
    for (old, key, settings) in [("a", "b", limited), ("b", "c", limited), ("x", "y", narrow)] {
        if old != "b" {
            desk.key(old, settings);
        }
        desk.rotated(old, key, settings);
    }
    let policy = desk.policy();
    let asked = ["a", "b", "c", "a", "b", "c"].map(|key| desk.problem(&policy, Some(key), "/"));
    let limited = Some(Problem::RateLimited);
    assert_eq!(asked, [None, None, None, limited, limited, limited]);
    let held = ["x", "y"].map(|key| ticket(desk.ask(&policy, Some(key), "/", SECOND)));
    let full = Some(Problem::TooManyAtOnce);
    assert_eq!(["x", "y"].map(|key| desk.problem(&policy, Some(key), "/")), [full, full]);
    desk.finish(&policy, &held[1]);
    assert_eq!(["x", "y"].map(|key| desk.problem(&policy, Some(key), "/")), [None, full]);
}

#[test]
fn a_ticket_is_finished_under_a_later_policy() {
    let mut desk = Desk::new();
    desk.settings.digester = None;
    desk.settings.routes[0].limits.at_once = Some(1);
    let before = desk.policy();
    let held = ticket(desk.ask(&before, None, "/", SECOND));
    desk.settings.routes = vec![Route { name: "other".into(), ..Route::to(0) }];
    let after = Policy::new(&desk.state, desk.settings.clone(), Some(&before)).unwrap();
    assert_eq!(after.route(held.route).name, "all");
    desk.finish(&after, &held);
    let next = ticket(desk.ask(&after, None, "/", SECOND));
    assert_eq!(after.route(next.route).name, "other");
    let upstream = before.upstreams()[before.route(held.route).upstream as usize].as_ref();
    assert_eq!(upstream.unwrap().name, "api");
}

#[test]
fn who_waits_for_a_low_rate_does_not_once_it_is_raised() {
    let mut desk = Desk::new();
    let limits = |per_s| Limits { rate: Some(Rate { per_s, burst: 1.0 }), at_once: None };
    let all_of = |settings: &mut PolicySettings, per_s| {
        settings.tiers[0].each = limits(per_s);
        settings.tiers[0].together = limits(per_s);
        settings.routes[0].limits = limits(per_s);
        (settings.all, settings.address) = (limits(per_s), limits(per_s));
    };
    all_of(&mut desk.settings, 0.001);
    desk.key("k", Settings::default());
    let before = desk.policy();
    assert_eq!(desk.problem(&before, Some("k"), "/"), None);
    all_of(&mut desk.settings, 10.0);
    let after = Policy::new(&desk.state, desk.settings.clone(), Some(&before)).unwrap();
    after.forget_waits(&before, SECOND);
    let at = |desk: &mut Desk, now| {
        matches!(desk.ask(&after, Some("k"), "/", now), Decision::Forward(_))
    };
    assert!(!at(&mut desk, SECOND + SECOND / 20));
    assert!(at(&mut desk, SECOND + SECOND / 10));
}

/// What ended without a response is not completed, and no quick response: all that is known is that one would have taken longer.
#[test]
fn a_request_that_was_given_up_is_no_answer() {
    const MS: u64 = 1_000_000;
    let mut desk = Desk::new();
    let envelope = Envelope { share: 0.99, limit_ns: 100 * MS, from: "p99<100ms".into() };
    let line = Line { rate_per_s: 1000.0, at_once: 50.0, envelope, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    desk.settings.digester = None;
    let policy = desk.policy();
    let mut end = |waited_ns: u64, status: u16, upstream_failed: bool| {
        let held = ticket(desk.ask(&policy, None, "/", SECOND));
        let latency_ns = waited_ns + 500 * MS;
        let (bytes_in, bytes_out, upstream_ns) = (1, 0, 0);
        let outcome = Outcome {
            status,
            bytes_in,
            bytes_out,
            latency_ns,
            upstream_ns,
            waited_ns,
            upstream_failed,
        };
        policy.finish(&held, &outcome, SECOND, &mut desk.usage);
    };
    // The client left soon; nothing took the connection; the client left late; none came in time.
    (0..10).for_each(|_| end(MS, 0, false));
    (0..10).for_each(|_| end(0, 502, true));
    (0..10).for_each(|_| end(300 * MS, 0, false));
    (0..10).for_each(|_| end(400 * MS, 504, true));
    let ceiling = &policy.state().ceiling;
    assert_eq!(ceiling.in_flight(), 0.0);
    let seen = ceiling.look(SECOND);
    assert_eq!((seen.completed_milli, seen.stalls), (0, 0));
    assert_eq!((seen.latency.count(), seen.latency.share_above(200 * MS)), (20, 1.0));
    // 10 x (1 + 300 + 400) ms within a second.
    assert!((seen.in_flight(1.0) - 7.01).abs() < 1e-9, "{}", seen.in_flight(1.0));
}

/// At twice the load line from two tiers, the more important one keeps all that it asks for.
#[test]
fn under_pressure_the_lowest_tier_is_refused_first() {
    let mut desk = Desk::new();
    let line = Line { rate_per_s: 1000.0, at_once: 50.0, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    desk.settings.tiers =
        vec![Tier::unlimited("free"), Tier { priority: 1, ..Tier::unlimited("gold") }];
    let gold = desk.state.tier_number("gold").unwrap();
    let free = desk.state.tier_number("free").unwrap();
    desk.key("g", Settings { tier: gold, ..Settings::default() });
    desk.key("f", Settings { tier: free, ..Settings::default() });
    let policy = desk.policy();
    let (mut golden, mut freed) = (0, 0);
    for tick in 0..5000u64 {
        let now = SECOND + tick * SECOND / 1000;
        // 700/s of gold, 1300/s of free.
        let golds = u64::from(tick % 10 < 7);
        let frees = 1 + u64::from(tick % 10 < 3);
        for (key, count, passed) in [("f", frees, &mut freed), ("g", golds, &mut golden)] {
            for _ in 0..count {
                if let Decision::Forward(ticket) = desk.ask(&policy, Some(key), "/", now) {
                    *passed += 1;
                    desk.finish(&policy, &ticket);
                }
            }
        }
    }
    assert_eq!(golden, 3500);
    assert!((4950..=5050).contains(&(golden + freed)), "{golden} + {freed}");
}

/// What came of a key's requests.
#[derive(Default)]
struct Luck {
    asked: u32,
    passed: u32,
}

/// Virtual time in which keys ask at their rates per second, evenly; what came of each but in the first half second.
fn crowd(desk: &mut Desk, rates: &[(&str, u64)], seconds: std::ops::Range<u64>) -> Vec<Luck> {
    let policy = desk.policy();
    let (mut collector, _reporter) = Collector::new(Arc::clone(&desk.state.usage), 1);
    let mut luck: Vec<Luck> = rates.iter().map(|_| Luck::default()).collect();
    let (mut asking, begin) = (Asking::default(), seconds.start * SECOND);
    for second in seconds {
        for step in 0..10_000u64 {
            let now = second * SECOND + step * SECOND / 10_000;
            for ((key, rate), luck) in rates.iter().zip(&mut luck) {
                let due = |at: u64| at * rate / 10_000;
                for _ in due(step)..due(step + 1) {
                    let decision = desk.ask(&policy, Some(key), "/", now);
                    let counts = u32::from(now >= begin + SECOND / 2);
                    luck.asked += counts;
                    if let Decision::Forward(ticket) = decision {
                        luck.passed += counts;
                        desk.finish(&policy, &ticket);
                    }
                }
            }
            if step % 1000 == 999 {
                desk.usage.hand_over();
                collector.collect(second as i64, u64::from, |number| number.to_string());
                desk.state.note_asked(&mut asking, collector.asked_milli(), 0.1);
                policy.share_out(&asking, f64::INFINITY);
            }
        }
    }
    luck
}

/// The second key has a rate of its own, which lets a hundred through at once: they are no thousand a second that would be kept
/// from the first.
#[test]
fn what_one_key_does_not_use_goes_to_the_other_at_once() {
    let mut desk = Desk::new();
    let line = Line { rate_per_s: 1000.0, at_once: 50.0, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    desk.key("ada", Settings::default());
    desk.key("bo", Settings { rate: Some(Rate::per_second(100.0)), ..Settings::default() });
    let luck = crowd(&mut desk, &[("ada", 2500), ("bo", 2500)], 10..13);
    // Of two and a half seconds.
    let passed = luck[0].passed + luck[1].passed;
    assert!((2375..=2550).contains(&passed), "{passed}");
}

/// A key and the one that replaces it had twice the share of another.
#[test]
fn keys_that_replace_each_other_have_one_share() {
    let mut desk = Desk::new();
    let line = Line { rate_per_s: 1000.0, at_once: 50.0, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    for key in ["other", "old"] {
        desk.key(key, Settings::default());
    }
    desk.rotated("old", "new", Settings::default());
    let luck = crowd(&mut desk, &[("other", 1500), ("old", 1500), ("new", 1500)], 10..16);
    let (other, rotated) = (luck[0].passed, luck[1].passed + luck[2].passed);
    // Of five and a half seconds: about half each.
    assert!(f64::from(rotated) <= 1.3 * f64::from(other), "{other} and {rotated}");
}

/// One key asks for five times what the API carries: the others keep what they ask for, and the API is not idle.
#[test]
fn a_greedy_key_takes_nothing_from_honest_ones() {
    let mut desk = Desk::new();
    let line = Line { rate_per_s: 1000.0, at_once: 50.0, ..Line::default() };
    desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
    desk.settings.line = Some(Arc::new(line));
    let rates = [("a", 150), ("b", 150), ("c", 20), ("greedy", 5000)];
    for (key, _) in rates {
        desk.key(key, Settings::default());
    }
    let luck = crowd(&mut desk, &rates, 10..23);
    for (luck, (key, _)) in luck[..3].iter().zip(rates) {
        assert!(f64::from(luck.passed) >= 0.95 * f64::from(luck.asked), "{key}: {}", luck.passed);
    }
    let passed: u32 = luck.iter().map(|luck| luck.passed).sum();
    assert!((11_900..=12_600).contains(&passed), "{passed}");
    // Once it asks for no more than there is, it is held to nothing.
    let calm = crowd(&mut desk, &[("a", 150), ("greedy", 700)], 23..30);
    assert!(calm.iter().all(|luck| luck.passed == luck.asked), "{}", calm[1].passed);
}
