//! Rules over runs whose figures are set by hand.

use model::observed::{Figure, Gap, Observed, ObservedSource, Series, Unit};
use model::units::{MILLISECOND, SECOND};
use model::{Dip, Reason, ReasonCode, Role, Run, Silence, Validity, Verdict};

use super::*;

/// A closed loop of 10 s with 10 connections, in order.
fn run() -> Run {
    fixture::sound::closed()
}

fn source<'a>(
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
fn machine(busy: f64) -> Vec<(&'static str, f64)> {
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

fn watched(mut run: Run, app: impl IntoIterator<Item = (&'static str, f64)>) -> Run {
    let generator = source("generator", Role::Generator, "local", machine(0.3));
    let app = source("app", Role::App, "exec:ssh app1 plimsoll watch --stdio", app);
    run.observed = Some(Observed { sources: vec![generator, app] });
    run
}

fn with(
    mut figures: Vec<(&'static str, f64)>,
    more: &[(&'static str, f64)],
) -> Vec<(&'static str, f64)> {
    figures.extend_from_slice(more);
    figures
}

fn codes(run: &Run) -> Vec<String> {
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
fn each_cause_is_found_and_its_healthy_twin_is_not() {
    for (code, ill, healthy) in of_processes().into_iter().chain(of_machines()) {
        let found = codes(&watched(run(), ill.clone()));
        assert_eq!(found.first().map(String::as_str), Some(code), "{found:?}");
        let found = codes(&watched(run(), healthy.clone()));
        assert!(found == ["none"] || found == ["unknown"], "{code}'s twin: {found:?}");
    }
}

#[test]
fn the_generators_own_limits_are_told_without_any_watching() {
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
fn nothing_behind_a_generator_at_its_limit_is_accused() {
    let mut run = watched(run(), machine(1.0));
    run.totals.limits.insert("EADDRNOTAVAIL".into(), 1);
    let findings = explain(&run);
    assert!(findings.findings.iter().all(|finding| !accuses(&finding.code)), "{findings:?}");
    let silent = findings.abstained.iter().find(|abstained| abstained.code == "server.cpu");
    assert_eq!(silent.map(|abstained| abstained.missing.as_str()), Some(GENERATOR_FIRST));
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
