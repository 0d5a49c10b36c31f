//! Rules over runs whose figures are set by hand.

use model::finding::Confirmation;
use model::observed::{Figure, Gap, Observed, ObservedSource, Series, Unit};
use model::units::{MILLISECOND, SECOND};
use model::{Dip, Reason, ReasonCode, Role, Run, Silence, Validity, Verdict};

use super::*;

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
        ("server.time_wait", no_ports_left(200.0, 1.0), no_ports_left(1.0, 200.0)),
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

/// What the sound run (1,000 requests a second, 2 on their way) sees of a database, with `more`.
pub(super) fn with_database(url: &str, more: &[(&'static str, f64)]) -> Run {
    let mut run = watched(run(), machine(0.5));
    let mut figures = vec![
        ("db.connections", 8.0),
        ("db.connections_max", 100.0),
        ("db.connections_reserved", 3.0),
        ("db.active", 0.8),
        ("db.lock_waiters", 0.0),
    ];
    figures.extend_from_slice(more);
    let sources = &mut run.observed.as_mut().unwrap().sources;
    sources.push(source("db", Role::Db, url, figures));
    run
}

#[test]
fn causes_in_databases_are_found_and_their_healthy_twins_are_not() {
    let ms = MILLISECOND as f64;
    let core = SECOND as f64;
    let cases: Vec<Case> = vec![
        (
            "db.missing_index",
            vec![("db.seq_rows{public.orders}", 50e6), ("db.table_rows{public.orders}", 50_000.0)],
            // A table of ten pages is read as quickly as an index.
            vec![("db.seq_rows{public.orders}", 5e6), ("db.table_rows{public.orders}", 5_000.0)],
        ),
        ("db.locks", vec![("db.lock_waiters", 1.2)], vec![("db.lock_waiters", 0.1)]),
        (
            "db.locks",
            vec![("db.waits{Waiting for table metadata lock}", 1.2)],
            vec![("db.waits{Waiting for next activation}", 1.2)],
        ),
        (
            "db.slow_statement",
            // Of 100 requests a second in flight for 20 ms.
            vec![("db.exec_ns{a}", 1.5 * core), ("db.calls{a}", 50.0)],
            vec![("db.exec_ns{a}", 0.3 * core), ("db.calls{a}", 1000.0)],
        ),
        (
            "db.connections",
            vec![("db.connections", 95.0), ("db.connections_refused", 1.0)],
            vec![("db.connections", 80.0)],
        ),
        (
            "db.connections",
            vec![("db.connections", 1.0), ("db.active", 0.95)],
            vec![("db.connections", 2.0), ("db.active", 0.95)],
        ),
        (
            "dependency.slow",
            vec![("cache.ops", 100.0), ("cache.main_thread_ns", 0.95 * core)],
            vec![("cache.ops", 100.0), ("cache.main_thread_ns", 0.5 * core)],
        ),
        (
            "dependency.slow",
            vec![("nginx.log{upstream timed out}", 4.0)],
            vec![("nginx.log{upstream timed out}", 0.0), ("db.active", 1.0)],
        ),
    ];
    for (code, ill, healthy) in cases {
        let slower = |mut run: Run| {
            run.totals.statuses.insert(504, 4);
            // One statement can only be slow where there are few of them.
            if code == "db.slow_statement" {
                run.totals.requests = 1000;
                run.service_ns.mean = 20 * MILLISECOND;
            }
            run
        };
        let found = codes(&slower(with_database("postgres://h/d", &ill)));
        assert_eq!(found.first().map(String::as_str), Some(code), "{found:?}");
        let found = codes(&slower(with_database("postgres://h/d", &healthy)));
        assert!(found == ["none"] || found == ["unknown"], "{code}'s twin: {found:?}");
    }
    // The database's processors, where they were watched beside it.
    let mut run = with_database("postgres://h/d", &[("db.exec_ns{b}", ms)]);
    let host = source("db 2", Role::Db, "exec:ssh db plimsoll watch --stdio", machine(0.97));
    run.observed.as_mut().unwrap().sources.push(host);
    assert_eq!(codes(&run), ["db.cpu"]);
}

#[test]
fn a_missing_index_is_told_with_its_table_its_statement_and_what_to_type() {
    let figures = [
        ("db.seq_rows{public.orders}", 50e6),
        ("db.table_rows{public.orders}", 50_000.0),
        ("db.exec_ns{SELECT * FROM orders o WHERE o.user_id = $1}", 1e9),
        ("db.calls{SELECT * FROM orders o WHERE o.user_id = $1}", 1000.0),
        ("db.active", 1.2),
    ];
    let finding = &explain(&with_database("postgres://h/d", &figures)).findings[0];
    assert!(finding.sentence.contains("public.orders"), "{finding:?}");
    assert!(finding.evidence_for.iter().any(|line| line.starts_with("1.00ms each")), "{finding:?}");
    assert!(
        finding.fix.contains("CREATE INDEX CONCURRENTLY ON public.orders (user_id)"),
        "{finding:?}"
    );
    let finding = &explain(&with_database("mysql://h/d", &figures)).findings[0];
    assert!(
        finding.fix.contains("CREATE INDEX by_user_id ON public.orders (user_id)"),
        "{finding:?}"
    );
}

#[test]
fn scans_are_found_where_tables_are_not_told() {
    let reads = |rows: f64, scans: f64| {
        let seen = "db.seen{SELECT COUNT(id) FROM visits WHERE user = ?}";
        let figures =
            [("db.scanned_rows", rows), ("db.scans", scans), ("db.connections", 10.0), (seen, 1.0)];
        explain(&with_database("mysql://shop@db/shop", &figures)).findings
    };
    let found = reads(2e7, 100.0);
    assert_eq!(found[0].code, "db.missing_index");
    assert!(found[0].fix.contains("user"), "{found:?}");
    for (rows, scans) in [(2e7, 1e5), (1e5, 5.0)] {
        let found = reads(rows, scans);
        assert!(found.iter().all(|finding| finding.code != "db.missing_index"), "{found:?}");
    }
}

#[test]
fn who_holds_the_locks_is_named() {
    let figures = [
        ("db.lock_waiters", 1.5),
        ("db.blocks_others{session 77, idle in transaction: UPDATE t SET a = $1}", 5.0),
    ];
    let finding = &explain(&with_database("postgres://h/d", &figures)).findings[0];
    assert_eq!(finding.code, "db.locks");
    assert!(
        finding.evidence_for.iter().any(|line| line.contains("idle in transaction")),
        "{finding:?}"
    );
    assert!(finding.fix.contains("pg_terminate_backend(77)"), "{finding:?}");
}

#[test]
fn a_database_that_refuses_the_watching_session_has_no_connections_left() {
    let mut run = watched(run(), machine(0.5));
    let mut db = source("db", Role::Db, "postgres://h/d", []);
    let error = "PostgreSQL: sorry, too many clients already [53300]".to_owned();
    db.gaps = vec![Gap { error, ..Gap::default() }];
    run.observed.as_mut().unwrap().sources.push(db);
    assert_eq!(codes(&run), ["db.connections"]);
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
    let mut other = ill(6.0, 0.1);
    other.plan.addresses = vec!["10.0.0.7:8080".into()];
    assert_eq!(codes(&other), ["none"], "who waits elsewhere waits for somebody else");
}

#[test]
fn a_proxy_that_keeps_no_connections_is_told_by_those_it_opens() {
    let proxied = |opened: f64, connects: u64| {
        let mut run = watched(run(), machine(0.3));
        (run.totals.connects, run.totals.server_closes) = (connects, connects);
        let proxy = &mut run.observed.as_mut().unwrap().sources[1];
        proxy.role = Role::Proxy;
        let figure = Figure { mean: opened, max: opened, min: opened, growth: Some(opened * 10.0) };
        proxy.figures.insert("tcp.active_opens".into(), figure);
        run
    };
    // A thousand requests a second.
    assert_eq!(codes(&proxied(990.0, 10)), ["proxy.upstream_keepalive"]);
    assert_eq!(codes(&proxied(300.0, 10)), ["none"]);
    assert_eq!(codes(&proxied(990.0, 9_000))[0], "conn.keepalive_off", "clients first");
}

#[test]
fn what_a_proxy_without_room_closes_is_not_called_keep_alive_off() {
    let full = |said: f64| {
        let figures = [("nginx.log{worker_connections}", said), ("listen.queue{0.0.0.0:80}", 9.0)];
        let mut run = watched(run(), with(machine(0.1), &figures));
        run.plan.addresses = vec!["10.0.0.7:80".into()];
        run.totals.connects = 2 * run.totals.requests;
        run.totals.server_closes = run.totals.requests;
        run.totals.statuses.insert(502, 3);
        run
    };
    assert_eq!(codes(&full(300.0)), ["proxy.worker_connections"]);
    assert!(codes(&full(0.0)).contains(&"conn.keepalive_off".to_owned()));
    let mut told = full(300.0);
    told.plan.keepalive = false;
    assert_eq!(codes(&told), ["proxy.worker_connections", "conn.keepalive_off"]);
}

#[test]
fn an_access_log_is_a_limit_only_where_a_disk_or_a_worker_is() {
    let proxied = |bytes_each: f64, thread: f64, disk: f64| {
        // A thousand requests a second.
        let figures = [
            ("process.written_bytes", bytes_each * 1000.0),
            ("process.thread_share", thread),
            ("disk.busy_ns{sda}", disk * SECOND as f64),
        ];
        let mut run = watched(run(), with(machine(0.3), &figures));
        run.observed.as_mut().unwrap().sources[1].role = Role::Proxy;
        codes(&run).contains(&"proxy.access_log".to_owned())
    };
    assert!(proxied(120.0, 0.3, 0.95) && proxied(4000.0, 0.95, 0.1));
    // A usual line on an idle disk; much, by a proxy with time left; a busy disk that others write to.
    assert!(!proxied(120.0, 0.95, 0.1) && !proxied(4000.0, 0.5, 0.5) && !proxied(10.0, 0.3, 0.95));
}

#[test]
fn what_logs_say_is_heard() {
    for (code, said) in [
        ("proxy.worker_connections", "nginx.log{worker_connections}"),
        ("server.files", "nginx.log{open files}"),
        ("conn.dns", "nginx.log{name not resolved}"),
        ("server.conntrack", "kernel.log{conntrack table full}"),
    ] {
        let mut failed = run();
        failed.totals.statuses.insert(502, 3);
        let found = codes(&watched(failed, with(machine(0.1), &[(said, 3.0)])));
        assert_eq!(found.first().map(String::as_str), Some(code), "{found:?}");
        let found = codes(&watched(run(), with(machine(0.1), &[(said, 0.0)])));
        assert_eq!(found, ["none"], "{code}");
    }
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
fn what_others_do_to_a_database_or_a_proxy_is_not_laid_to_this_load() {
    let locked = |calls: f64| {
        with_database("postgres://h/d", &[("db.lock_waiters", 1.2), ("db.transactions", calls)])
    };
    // A thousand requests a second.
    let finding = &explain(&locked(1000.0)).findings[0];
    assert_eq!((finding.code.as_str(), finding.confidence), ("db.locks", Confidence::High));
    let finding = &explain(&locked(200.0)).findings[0];
    assert_eq!((finding.code.as_str(), finding.confidence), ("db.locks", Confidence::Medium));
    assert!(finding.evidence_against[0].contains("0.20 times"), "{finding:?}");
    assert_eq!(codes(&locked(4.0)), ["none"]);
    // No request failed, whatever a log says.
    for said in ["nginx.log{worker_connections}", "nginx.log{upstream timed out}"] {
        assert_eq!(codes(&watched(run(), with(machine(0.1), &[(said, 39.0)]))), ["none"], "{said}");
    }
}

#[test]
fn each_cause_is_found_and_its_healthy_twin_is_not() {
    for (code, ill, healthy) in of_processes().into_iter().chain(of_machines()) {
        let mut failed = run();
        if code.starts_with("proxy.") {
            failed.totals.statuses.insert(502, 3);
        }
        let found = codes(&watched(failed, ill.clone()));
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
fn a_database_with_all_connections_open_and_nobody_failing_limits_nothing() {
    let run = with_database("postgres://h/d", &[("db.connections", 96.0)]);
    assert_eq!(codes(&run), ["none", "db.connections"]);
    let mut failing = run;
    failing.totals.succeeded -= 500;
    assert_eq!(codes(&failing), ["db.connections"]);
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
fn a_server_that_is_watched_twice_is_accused_once() {
    let mut run = watched(run(), machine(0.95));
    assert_eq!(codes(&run), ["server.cpu"]);
    let sources = &mut run.observed.as_mut().unwrap().sources;
    let app = sources.iter().find(|source| source.role == Role::App).unwrap();
    let again = ObservedSource { name: "server".into(), ..app.clone() };
    sources.push(again);
    assert_eq!(codes(&run), ["server.cpu"]);
}

#[test]
fn what_an_experiment_refuted_comes_last() {
    let refuted = Confirmation { outcome: Confirmed::Refuted, sentence: "Refuted: so.".into() };
    let run = watched(run(), machine(0.3));
    let mut findings = explain(&run);
    findings.findings.push(Finding { code: "server.disk".into(), rank: 2, ..Finding::default() });
    findings.findings[0].confirmed = Some(refuted.clone());
    reconsider(&run, &mut findings);
    let order: Vec<_> = findings.findings.iter().map(|f| (f.rank, f.code.as_str())).collect();
    assert_eq!(order, [(1, "server.disk"), (2, "unknown")]);
    assert!(findings.findings[1].sentence.contains("Refuted: so."), "{findings:?}");
    let mut findings = explain(&watched(self::run(), machine(0.95)));
    findings.findings.push(Finding { code: "server.disk".into(), rank: 2, ..Finding::default() });
    findings.findings[0].confirmed = Some(refuted);
    reconsider(&run, &mut findings);
    let order: Vec<_> = findings.findings.iter().map(|f| (f.rank, f.code.as_str())).collect();
    assert_eq!(order, [(1, "server.disk"), (2, "server.cpu")]);
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
fn what_keeps_a_processor_busy_comes_before_the_processor_that_is_busy() {
    let core = SECOND as f64;
    let busy = [
        ("process.cpu_ns", core),
        ("process.cpus_allowed", 4.0),
        ("process.thread_share", 0.99),
        ("tcp.active_opens", 1000.0),
    ];
    let shaking = |handshakes: u64| {
        let mut run = watched(run(), with(machine(0.3), &busy));
        run.plan.tls = Some(model::plan::TlsPlan {
            sni: "shop".into(),
            insecure: true,
            min: "1.2".into(),
            max: "1.3".into(),
            resume: false,
        });
        run.tls_ns.count = handshakes;
        run.tls_ns.mean = 20 * MILLISECOND;
        codes(&run)
    };
    assert_eq!(shaking(2_500)[..2], ["conn.tls_handshake", "server.single_thread"]);
    assert_eq!(shaking(10), ["server.single_thread"]);
    // Connections of a proxy keep itself busy, and not what is behind it.
    let proxied = |name: &str| {
        let mut run = watched(run(), []);
        let figures = with(machine(0.3), &busy);
        let generator = source("generator", Role::Generator, "local", figures.clone());
        let busy = source(name, Role::App, "local:pid=7", figures);
        let page = "nginx:http://127.0.0.1/status";
        let proxy = source("proxy", Role::Proxy, page, [("nginx.requests", 1000.0)]);
        run.observed = Some(Observed { sources: vec![generator, busy, proxy] });
        codes(&run)
    };
    assert_eq!(proxied("server")[..2], ["proxy.upstream_keepalive", "server.single_thread"]);
    assert_eq!(proxied("app")[..2], ["server.single_thread", "proxy.upstream_keepalive"]);
}

#[test]
fn what_was_asked_for_comes_after_what_was_counted() {
    let overflows = [("tcp.listen_overflows", 30.0), ("tcp.listen_drops", 30.0)];
    let opening = |keepalive| {
        let mut run = watched(run(), with(machine(0.1), &overflows));
        (run.totals.connects, run.plan.keepalive) = (10_000, keepalive);
        run.totals.server_closes = 10_000;
        run.connect_ns.mean = 20 * MILLISECOND;
        codes(&run)
    };
    assert_eq!(opening(false)[..2], ["server.accept_queue", "conn.keepalive_off"]);
    assert_eq!(opening(true)[..2], ["conn.keepalive_off", "server.accept_queue"]);
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

#[test]
fn what_is_only_suspected_explains_nothing_else() {
    let mut run = watched(run(), with(machine(0.97), &[("process.written_bytes", 1e9)]));
    (run.totals.bytes_read, run.totals.bytes_written) = (0, 0);
    let codes = codes(&run);
    assert_eq!(codes[0], "server.cpu", "{codes:?}");
    assert!(codes.iter().any(|code| code == "server.debug_options"), "{codes:?}");
}
