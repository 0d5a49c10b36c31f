//! Rules over runs whose figures are set by hand.

use model::observed::{Figure, Gap, Observed, ObservedSource, Series, Unit};
use model::units::{MILLISECOND, SECOND};
use model::{Dip, Reason, ReasonCode, Role, Run, Silence, Validity, Verdict};

use super::*;

mod databases;
mod order;
mod proxies;
mod waiting;

/// A closed loop of 10 s with 10 connections, in order.
pub(super) fn run() -> Run {
    fixture::sound::closed()
}

pub(super) fn source<'a>(
    name: &str,
    role: Role,
    read_from: &str,
    figures: impl IntoIterator<Item = (&'a str, f64)>,
) -> ObservedSource {
    // A counter's growth is over 10 s.
    let figure = |mean: f64| Figure { mean, min: mean, max: mean, growth: Some(mean * 10.0) };
    ObservedSource {
        name: name.into(),
        role,
        read_from: read_from.into(),
        samples: 10,
        figures: figures.into_iter().map(|(name, mean)| (name.to_owned(), figure(mean))).collect(),
        ..ObservedSource::default()
    }
}

/// A machine of four processors, of which a share is in use.
pub(super) fn machine(busy: f64) -> Vec<(&'static str, f64)> {
    let all = 4.0 * SECOND as f64;
    vec![
        ("cpu.cores", 4.0),
        ("cpu.user_ns", busy * all),
        ("cpu.system_ns", 0.0),
        ("cpu.softirq_ns", 0.0),
        ("cpu.idle_ns", (1.0 - busy) * all),
        ("cpu.iowait_ns", 0.0),
        ("cpu.steal_ns", 0.0),
    ]
}

pub(super) fn watched(mut run: Run, app: impl IntoIterator<Item = (&'static str, f64)>) -> Run {
    let generator = source("generator", Role::Generator, "local", machine(0.3));
    let app = source("app", Role::App, "exec:ssh app1 plimsoll watch --stdio", app);
    run.observed = Some(Observed { sources: vec![generator, app] });
    run
}

pub(super) fn with(
    mut figures: Vec<(&'static str, f64)>,
    more: &[(&'static str, f64)],
) -> Vec<(&'static str, f64)> {
    figures.extend_from_slice(more);
    figures
}

pub(super) fn codes(run: &Run) -> Vec<String> {
    explain(run).findings.into_iter().map(|finding| finding.code).collect()
}

type Figures = Vec<(&'static str, f64)>;
/// A code, the figures of a source that has it, and those of its healthy twin.
type Case = (&'static str, Figures, Figures);

fn of_processes() -> Vec<Case> {
    let core = SECOND as f64;
    let of_process = [("process.cpus_allowed", 4.0)];
    vec![
        ("server.cpu", machine(0.95), machine(0.7)),
        (
            "server.cpu",
            with(machine(0.5), &[("process.cpu_ns", 3.8 * core), of_process[0]]),
            with(machine(0.5), &[("process.cpu_ns", 2.8 * core), of_process[0]]),
        ),
        (
            "server.single_thread",
            with(
                machine(0.3),
                &[("process.cpu_ns", core), of_process[0], ("process.thread_share", 0.97)],
            ),
            with(
                machine(0.3),
                &[("process.cpu_ns", 0.6 * core), of_process[0], ("process.thread_share", 0.6)],
            ),
        ),
        (
            "server.throttled",
            with(
                machine(0.1),
                &[
                    ("cgroup.periods", 10.0),
                    ("cgroup.throttled_periods", 9.0),
                    ("cgroup.throttled_ns", core),
                    ("cgroup.quota_cores", 0.5),
                    ("process.cpus_allowed", 4.0),
                    ("process.cpu_ns", 0.5 * core),
                ],
            ),
            with(
                machine(0.1),
                &[
                    ("cgroup.periods", 10.0),
                    ("cgroup.throttled_periods", 0.2),
                    ("cgroup.throttled_ns", 1.0),
                ],
            ),
        ),
        (
            "server.files",
            with(machine(0.1), &[("process.files", 1020.0), ("process.files_max", 1024.0)]),
            with(machine(0.1), &[("process.files", 800.0), ("process.files_max", 1024.0)]),
        ),
    ]
}

/// A machine whose connections in TIME_WAIT are as many as its local ports, by how many it opened and others opened.
fn no_ports_left(opened: f64, by_others: f64) -> Figures {
    let table = [("tcp.time_wait", 600.0), ("tcp.time_wait_max", 131_072.0)];
    let opens = [("tcp.active_opens", opened), ("tcp.passive_opens", by_others)];
    with(machine(0.1), &[&table[..], &opens, &[("tcp.local_ports", 600.0)]].concat())
}

#[test]
fn ports_are_used_up_where_requests_fail_for_it_and_not_by_connections_of_several_servers() {
    let found = |figures: Figures, status: u16, waiting: f64| {
        let mut run = watched(run(), figures);
        run.totals.statuses.insert(status, 100);
        let app = &mut run.observed.as_mut().unwrap().sources[1];
        app.figures.get_mut("tcp.time_wait").unwrap().max = waiting;
        codes(&run).contains(&"server.time_wait".to_owned())
    };
    assert!(found(no_ports_left(200.0, 1.0), 502, 600.0));
    assert!(!found(no_ports_left(1.0, 200.0), 502, 600.0), "others opened them");
    assert!(!found(no_ports_left(200.0, 1.0), 200, 600.0), "no request failed");
    assert!(!found(no_ports_left(200.0, 1.0), 502, 1200.0), "of several servers");
}

fn of_machines() -> Vec<Case> {
    let core = SECOND as f64;
    vec![
        (
            "server.accept_queue",
            with(machine(0.1), &[("tcp.listen_overflows", 30.0), ("tcp.listen_drops", 30.0)]),
            with(machine(0.1), &[("tcp.listen_overflows", 0.3), ("tcp.listen_drops", 0.3)]),
        ),
        (
            "server.conntrack",
            with(machine(0.1), &[("conntrack.count", 65_500.0), ("conntrack.max", 65_536.0)]),
            with(machine(0.1), &[("conntrack.count", 60_000.0), ("conntrack.max", 65_536.0)]),
        ),
        (
            "server.time_wait",
            with(machine(0.1), &[("tcp.time_wait", 8_192.0), ("tcp.time_wait_max", 8_192.0)]),
            with(machine(0.1), &[("tcp.time_wait", 7_000.0), ("tcp.time_wait_max", 8_192.0)]),
        ),
        (
            "server.memory",
            with(machine(0.1), &[("swap.in_pages", 90.0), ("swap.out_pages", 20.0)]),
            with(machine(0.1), &[("swap.in_pages", 40.0), ("swap.out_pages", 20.0)]),
        ),
        (
            "server.disk",
            with(
                machine(0.1),
                &[("disk.busy_ns{sda}", 0.97 * core), ("pressure.io_some_ns", 0.5 * core)],
            ),
            with(
                machine(0.1),
                &[("disk.busy_ns{sda}", 0.97 * core), ("pressure.io_some_ns", 0.05 * core)],
            ),
        ),
        (
            "network.bandwidth",
            with(
                machine(0.1),
                &[("net.speed_bytes_per_s{eth0}", 125e6), ("net.sent_bytes{eth0}", 118e6)],
            ),
            with(
                machine(0.1),
                &[("net.speed_bytes_per_s{eth0}", 125e6), ("net.sent_bytes{eth0}", 90e6)],
            ),
        ),
        (
            "proxy.worker_connections",
            vec![("nginx.dropped", 3.0), ("nginx.active", 512.0)],
            vec![("nginx.dropped", 0.0)],
        ),
    ]
}

#[test]
fn workers_that_are_all_taken_are_told_by_who_waits_at_the_listener() {
    let ill = |queue: f64, busy: f64| {
        let mut run = watched(run(), with(machine(busy), &[("listen.queue{0.0.0.0:80}", queue)]));
        run.plan.addresses = vec!["10.0.0.7:80".into()];
        run
    };
    assert_eq!(codes(&ill(6.0, 0.1)), ["server.too_few_workers"]);
    // Nobody waits; or the processors are used.
    assert_eq!(codes(&ill(0.2, 0.1)), ["none"]);
    assert_eq!(codes(&ill(6.0, 0.7)), ["none"]);
    let mut two = ill(6.0, 0.1);
    let app = &mut two.observed.as_mut().unwrap().sources[1];
    app.figures.insert("listen.queue{0.0.0.0:8}".into(), Figure::default());
    app.figures.insert("listen.queue{127.0.0.1:80}".into(), Figure::default());
    app.figures.insert("listen.queue{[::]:80}".into(), app.figures["listen.queue{0.0.0.0:80}"]);
    app.figures.insert("listen.queue{0.0.0.0:80}".into(), Figure::default());
    assert_eq!(codes(&two), ["server.too_few_workers"], "the listener with the longest queue");
    let mut other = ill(6.0, 0.1);
    other.plan.addresses = vec!["10.0.0.7:8080".into()];
    assert_eq!(codes(&other), ["none"], "who waits elsewhere waits for somebody else");
}

#[test]
fn a_server_that_stood_still_is_not_short_of_workers() {
    let mut run = watched(run(), with(machine(0.1), &[("listen.queue{0.0.0.0:80}", 6.0)]));
    run.plan.addresses = vec!["10.0.0.7:80".into()];
    run.presence.get_or_insert_default().silences =
        vec![Silence { from_ns: 2 * SECOND, to_ns: 3 * SECOND, ended: true, ..Silence::default() }];
    assert!(!codes(&run).contains(&"server.too_few_workers".to_owned()), "{:?}", codes(&run));
    // For less than what counts as a silence: one sample of three shows those who waited meanwhile.
    run.presence.get_or_insert_default().silences.clear();
    let figures = &mut run.observed.as_mut().unwrap().sources[1].figures;
    let queue = figures.get_mut("listen.queue{0.0.0.0:80}").unwrap();
    (queue.min, queue.max) = (0.0, 18.0);
    assert_eq!(codes(&run), ["none"]);
}

#[test]
fn where_nothing_was_answered_no_limit_of_a_rate_is_named() {
    let mut run = watched(run(), machine(0.99));
    run.validity = Validity::of(vec![Reason {
        code: ReasonCode::WorkersSaturated,
        consequence: Verdict::LowerBound,
        text: "workers were busy. Use more.".into(),
    }]);
    assert_eq!(codes(&run)[0], "generator.cpu");
    run.totals.requests = 0;
    assert!(!codes(&run).contains(&"generator.cpu".to_owned()), "{:?}", codes(&run));
}

#[test]
fn a_server_that_was_gone_is_not_called_one_with_room() {
    let mut run = watched(run(), machine(0.1));
    assert_eq!(codes(&run), ["none"]);
    run.validity = Validity::of(vec![Reason {
        code: ReasonCode::ServerGone,
        consequence: Verdict::Invalid,
        text: "the server stopped answering 2s into the window. Find out why".into(),
    }]);
    let finding = &explain(&run).findings[0];
    assert_eq!(finding.code, "unknown");
    assert!(finding.sentence.contains("stopped answering 2s into the window"), "{finding:?}");
    // What is watched already is not asked for.
    assert!(
        finding.fix.contains("proxy=nginx") && finding.fix.contains("db=postgres"),
        "{finding:?}"
    );
    let sources = &mut run.observed.as_mut().unwrap().sources;
    sources.push(source("front", Role::Proxy, "local:name=nginx", machine(0.1)));
    let fix = &explain(&run).findings[0].fix;
    assert!(!fix.contains("proxy=nginx") && fix.contains("db=postgres"), "{fix}");
}

#[test]
fn requests_that_are_at_fault_are_mended_before_anything_is_watched() {
    let mut run = watched(run(), machine(0.1));
    run.validity = Validity::of(vec![Reason {
        code: ReasonCode::FastErrors,
        consequence: Verdict::Invalid,
        text: "most responses were failures. Look at them".into(),
    }]);
    run.totals.succeeded = run.totals.attempts * 2 / 5;
    run.totals.errors.status = run.totals.attempts - run.totals.succeeded;
    for (status, at_fault) in [(401, true), (500, false)] {
        run.totals.statuses =
            [(200, run.totals.succeeded), (status, run.totals.errors.status)].into();
        let finding = &explain(&run).findings[0];
        assert_eq!(finding.code, "unknown");
        assert_eq!(finding.fix.contains("for status 401, give credentials"), at_fault);
        assert_eq!(finding.fix.contains("db=postgres"), !at_fault, "{finding:?}");
    }
}

#[test]
fn pages_of_errors_with_a_good_status_are_no_load_that_was_carried() {
    let mut run = watched(run(), machine(0.1));
    run.validity = Validity::of(vec![Reason {
        code: ReasonCode::ResponsesChanged,
        consequence: Verdict::Invalid,
        text: "64 % of the responses had another media type. Look at both".into(),
    }]);
    assert_eq!(codes(&run), ["unknown"]);
}

#[test]
fn limits_of_zero_are_none_and_drops_alone_make_no_table_full() {
    for figures in [
        [("conntrack.count", 0.0), ("conntrack.max", 0.0)],
        [("tcp.time_wait", 0.0), ("tcp.time_wait_max", 0.0)],
    ] {
        assert_eq!(codes(&watched(run(), with(machine(0.1), &figures))), ["none"], "{figures:?}");
    }
    // Over 10 s.
    let drops = |count: f64| {
        let figures =
            [("conntrack.count", count), ("conntrack.max", 65_536.0), ("conntrack.drops", 5.0)];
        explain(&watched(run(), with(machine(0.1), &figures))).findings.remove(0)
    };
    let (half, full) = (drops(30_000.0), drops(65_500.0));
    assert_eq!((&*half.code, half.confidence), ("server.conntrack", Confidence::Medium));
    assert!(half.sentence.contains("not full"), "{half:?}");
    assert!(half.evidence_for.contains(&"30,000 of 65,536 entries".to_owned()), "{half:?}");
    assert_eq!(full.confidence, Confidence::High);
}

#[test]
fn the_generators_own_time_is_not_the_servers() {
    for (role, code) in [(Role::App, "server.cpu"), (Role::Db, "db.cpu")] {
        let found = |generator_cores: f64| {
            let mut run = run();
            // Only the machine is watched, which the generator runs on: 3.8 of its 4 cores are in use.
            run.generator.cpu_ns = (generator_cores * run.totals.duration_ns as f64) as u64;
            let sources = [("generator", Role::Generator), ("it", role)];
            let sources = sources.map(|(name, role)| source(name, role, "local", machine(0.95)));
            run.observed = Some(Observed { sources: sources.to_vec() });
            codes(&run).contains(&code.to_owned())
        };
        assert!(!found(3.6), "{code}: nearly all of it is the generator's");
        assert!(found(0.1), "{code}");
        assert!(found(1.5), "{code}: of 2.5 cores that are left it has 2.3");
    }
}

#[test]
fn a_machine_that_the_generator_fills_is_the_generators_limit() {
    let found = |generator_cores: f64| {
        let mut run = run();
        run.generator.cpu_ns = (generator_cores * run.totals.duration_ns as f64) as u64;
        let sources = [("generator", Role::Generator), ("app", Role::App)];
        let sources = sources.map(|(name, role)| source(name, role, "local", machine(0.98)));
        run.observed = Some(Observed { sources: sources.to_vec() });
        explain(&run).findings.remove(0)
    };
    let finding = found(3.0);
    assert_eq!(finding.code, "generator.cpu", "{finding:?}");
    assert!(finding.sentence.contains("(3.00 cores) than all others (0.92 cores)"), "{finding:?}");
    assert_eq!(found(1.5).code, "server.cpu");
}

#[test]
fn what_is_left_of_a_shared_machine_is_told_as_that() {
    let mut run = run();
    run.generator.cpu_ns = run.totals.duration_ns;
    let sources = [("generator", Role::Generator), ("app", Role::App)];
    let sources = sources.map(|(name, role)| source(name, role, "local", machine(0.5)));
    run.observed = Some(Observed { sources: sources.to_vec() });
    let finding = &explain(&run).findings[0];
    assert_eq!(finding.code, "none", "{finding:?}");
    let said = "app used 33.33 % of what the generator leaves of its machine's processors";
    assert!(finding.evidence_for.contains(&said.to_owned()), "{finding:?}");
}

#[test]
fn a_load_that_missed_its_objective_was_not_carried() {
    let run = watched(run(), machine(0.1));
    assert_eq!(codes(&run), ["none"]);
    assert_eq!(explain_step(&run, &[], "Search on.").findings[0].fix, "Search on.");
    let missed = explain_step(&run, &["p99<100ms: 168ms".to_owned()], "Search on.");
    assert_eq!(missed.findings[0].code, "unknown");
    assert!(missed.findings[0].sentence.contains("p99<100ms: 168ms"), "{missed:?}");
    let judged = |objective: &str| {
        let mut run = run.clone();
        run.objectives =
            crate::objective::judge(&run, &[], &crate::objective::parse(objective).unwrap());
        codes(&run)
    };
    assert_eq!(judged("max<1ns"), ["unknown"]);
    assert_eq!(judged("max<1h"), ["none"]);
}

#[test]
fn each_cause_is_found_and_its_healthy_twin_is_not() {
    for (code, ill, healthy) in of_processes().into_iter().chain(of_machines()) {
        let mut failed = run();
        if code.starts_with("proxy.") {
            failed.totals.statuses.insert(502, 3);
        }
        if code == "server.accept_queue" {
            // The counters are of all servers of the machine.
            let found = codes(&watched(run(), ill.clone()));
            assert!(!found.contains(&code.to_owned()), "{found:?}");
            failed.connect_ns.max = SECOND;
        }
        let found = codes(&watched(failed, ill.clone()));
        assert_eq!(found.first().map(String::as_str), Some(code), "{found:?}");
        let found = codes(&watched(run(), healthy.clone()));
        assert!(found == ["none"] || found == ["unknown"], "{code}'s twin: {found:?}");
    }
}

#[test]
fn the_generators_own_limits_are_reported_without_any_watching() {
    type Change = fn(&mut Run);
    let cases: &[(&str, Change)] = &[
        ("generator.ports", |run| {
            let _ = run.totals.limits.insert("EADDRNOTAVAIL".into(), 9);
        }),
        ("generator.files", |run| {
            let _ = run.totals.limits.insert("EMFILE".into(), 9);
        }),
        ("generator.memory", |run| {
            let _ = run.totals.limits.insert("ENOBUFS".into(), 9);
        }),
        ("generator.cpu", |run| {
            run.validity = Validity::of(vec![Reason {
                code: ReasonCode::WorkersSaturated,
                consequence: Verdict::LowerBound,
                text: "workers were busy. Use more.".into(),
            }]);
        }),
        ("conn.keepalive_off", |run| {
            run.totals.connects = run.totals.requests;
            run.plan.keepalive = false;
        }),
        ("rate_limited", |run| {
            let _ = run.totals.statuses.insert(429, run.totals.requests / 10);
        }),
    ];
    for (code, change) in cases {
        let mut run = run();
        change(&mut run);
        assert_eq!(codes(&run)[0], *code);
    }
}

#[test]
fn where_nothing_is_at_its_limit_nothing_is_found() {
    let healthy = watched(run(), machine(0.5));
    let findings = explain(&healthy);
    assert_eq!(codes(&healthy), ["none"]);
    assert!(findings.findings[0].evidence_for[0].contains("app used 50.00 %"), "{findings:?}");
    // Nothing is known of the server.
    let blind = explain(&run());
    assert_eq!(blind.findings[0].code, "unknown");
    assert!(blind.findings[0].fix.contains("--observe app="), "{blind:?}");
    let lacking: Vec<_> = blind.abstained.iter().map(|abstained| abstained.code.as_str()).collect();
    for code in ["server.cpu", "server.accept_queue", "proxy.worker_connections", "network.loss"] {
        assert!(lacking.contains(&code), "{code}: {lacking:?}");
    }
    // The load was carried.
    assert_eq!(codes(&fixture::sound::open()), ["none"]);
    // It was in the end, but not as fast as it came.
    let mut behind = fixture::sound::open();
    behind.rates.requests_per_s = 500.0;
    let finding = &explain(&behind).findings[0];
    assert_eq!(finding.code, "unknown");
    let said = "500 of 1,000 arrivals a second were answered within the window";
    assert!(finding.sentence.starts_with(said), "{finding:?}");
}

#[test]
fn standstills_are_found_with_their_period() {
    let silence = |n: u64, ended| Silence {
        from_ns: n * 2 * SECOND,
        to_ns: n * 2 * SECOND + 200 * MILLISECOND,
        ended,
        ..Silence::default()
    };
    let mut ill = run();
    let presence = model::Presence {
        silences: (0..5).map(|n| silence(n, true)).collect(),
        ..model::Presence::default()
    };
    ill.presence = Some(presence);
    let findings = explain(&ill);
    assert_eq!(findings.findings[0].code, "server.stall");
    assert!(
        findings.findings[0].evidence_for.contains(&"it comes every 2.00s".to_owned()),
        "{findings:?}"
    );
    let mut short = run();
    short.presence =
        Some(model::Presence { silences: vec![silence(0, true)], ..Default::default() });
    assert_eq!(codes(&short), ["unknown"], "once is chance");
}

fn of_reason(code: ReasonCode, consequence: Verdict) -> Validity {
    Validity::of(vec![Reason { code, consequence, text: "so it was. Do this.".into() }])
}

#[test]
fn a_load_with_too_few_connections_was_its_own_limit() {
    let mut run = watched(fixture::sound::open(), machine(0.3));
    (run.rates.offered_per_s, run.rates.achieved_per_s) = (1000.0, 500.0);
    assert_eq!(codes(&run), ["unknown"]);
    run.validity = of_reason(ReasonCode::ConnectionsExhausted, Verdict::LowerBound);
    let finding = &explain(&run).findings[0];
    assert_eq!((&*finding.code, &*finding.evidence_for[0]), ("none", "so it was"));
    assert!(finding.fix.contains("-c"), "{finding:?}");
    // What ran out on the generator's side is named first.
    run.totals.limits.insert("EMFILE".into(), 9);
    assert_eq!(codes(&run), ["generator.files"]);
    // A server without processors left is not innocent.
    let mut full = watched(run, machine(0.95));
    full.totals.limits.clear();
    assert_eq!(codes(&full), ["server.cpu"]);
}

#[test]
fn neighbours_hold_servers_up_and_are_not_idle_processors() {
    let thread = |busy: f64| {
        let more = [
            ("process.cpu_ns", SECOND as f64),
            ("process.cpus_allowed", 4.0),
            ("process.thread_share", 0.97),
        ];
        watched(run(), with(machine(busy), &more))
    };
    assert_eq!(codes(&thread(0.3))[0], "server.single_thread");
    // 0.85 of 4 cores are used, 1 by the server.
    assert!(!codes(&thread(0.85)).contains(&"server.single_thread".to_owned()));
    let mut stalled = watched(run(), machine(0.3));
    let silence = |at: u64| Silence {
        from_ns: at * SECOND,
        to_ns: at * SECOND + SECOND / 2,
        ended: true,
        ..Silence::default()
    };
    stalled.presence.get_or_insert_default().silences = vec![silence(1), silence(3)];
    assert_eq!(codes(&stalled), ["server.stall"]);
    stalled.validity = of_reason(ReasonCode::BusyNeighbour, Verdict::Valid);
    assert!(!codes(&stalled).contains(&"server.stall".to_owned()));
}

#[test]
fn a_dip_is_set_beside_what_else_changed() {
    let mut run = watched(run(), machine(0.5));
    run.dips = vec![Dip { start_ns: 4 * SECOND, duration_ns: SECOND, ..Dip::default() }];
    let series = |name: &str, unit, inside: f64| Series {
        name: name.into(),
        unit,
        at_ns: (1..=10).map(|second| second * SECOND).collect(),
        values: (1..=10)
            .map(|second| if (4..=6).contains(&second) { inside } else { 1.0 })
            .collect(),
    };
    let app = &mut run.observed.as_mut().unwrap().sources[1];
    app.series = vec![
        series("listen queue", Unit::Count, 120.0),
        series("CPU", Unit::Ratio, 0.9),
        series("disk busy", Unit::Ratio, 0.2),
    ];
    app.gaps = vec![Gap::default()];
    let findings = explain(&run);
    let changed = &findings.dips[0].changed;
    assert_eq!(changed[0], "app: listen queue 120 instead of 1");
    assert_eq!(changed[1], "app: disk busy 20.00 % instead of 100.00 %");
    assert_eq!(changed.len(), 2, "{changed:?}");
}

#[test]
fn every_rule_is_documented() {
    let page = as_markdown();
    for rule in RULES {
        assert!(page.contains(&format!("\n## {}\n", rule.code)));
        let texts = [rule.symptom, rule.mechanism, rule.evidence, rule.fix, rule.experiment];
        assert!(texts.iter().all(|text| text.len() > 20), "{}", rule.code);
    }
}
