//! Which finding comes first, and which are dropped or silenced.

use model::finding::Confirmation;

use super::*;

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
        (run.connect_ns.mean, run.connect_ns.max) = (20 * MILLISECOND, 1000 * MILLISECOND);
        codes(&run)
    };
    assert_eq!(opening(false)[..2], ["server.accept_queue", "conn.keepalive_off"]);
    assert_eq!(opening(true)[..2], ["conn.keepalive_off", "server.accept_queue"]);
}

#[test]
fn what_is_only_suspected_explains_nothing_else() {
    let mut run = watched(run(), with(machine(0.97), &[("process.written_bytes", 1e9)]));
    (run.totals.bytes_read, run.totals.bytes_written) = (0, 0);
    let codes = codes(&run);
    assert_eq!(codes[0], "server.cpu", "{codes:?}");
    assert!(codes.iter().any(|code| code == "server.debug_options"), "{codes:?}");
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
fn the_quota_of_one_server_explains_nothing_of_another() {
    let core = SECOND as f64;
    let held = [
        ("cgroup.periods", 10.0),
        ("cgroup.throttled_periods", 9.0),
        ("process.cpus_allowed", 4.0),
        ("process.cpu_ns", 3.9 * core),
    ];
    let two = |name: &str| {
        let mut run = watched(run(), held);
        let busy = [("process.cpus_allowed", 4.0), ("process.cpu_ns", 3.9 * core)];
        let other = source(name, Role::App, "exec:ssh app2 plimsoll watch --stdio", busy);
        run.observed.as_mut().unwrap().sources.push(other);
        codes(&run)
    };
    assert_eq!(two("app 2"), ["server.cpu", "server.throttled"]);
    assert_eq!(two("server"), ["server.throttled"], "the same by another name");
}

#[test]
fn a_machine_short_of_memory_does_not_explain_the_disk_of_another() {
    let core = SECOND as f64;
    let swaps = [("swap.in_pages", 90.0), ("swap.out_pages", 20.0)];
    let busy = [("disk.busy_ns{sda}", 0.97 * core), ("pressure.io_some_ns", 0.5 * core)];
    let mut run = watched(run(), with(machine(0.1), &swaps));
    let figures = with(machine(0.1), &busy);
    let other = source("db", Role::Db, "exec:ssh db plimsoll watch --stdio", figures);
    run.observed.as_mut().unwrap().sources.push(other);
    assert_eq!(codes(&run), ["server.memory", "server.disk"]);
    let one = watched(self::run(), with(machine(0.1), &[&swaps[..], &busy].concat()));
    assert_eq!(codes(&one), ["server.memory"], "what swaps keeps its disk busy");
}

#[test]
fn files_of_one_server_that_are_used_up_explain_nothing_of_another() {
    let core = SECOND as f64;
    let two = |name: &str| {
        let full = [("process.files", 1000.0), ("process.files_max", 1000.0)];
        let idle = [
            ("process.unread", 50.0),
            ("process.cpus_allowed", 4.0),
            ("process.cpu_ns", 0.2 * core),
        ];
        let mut run = watched(run(), full);
        let other = source(name, Role::App, "exec:ssh app2 plimsoll watch --stdio", idle);
        run.observed.as_mut().unwrap().sources.push(other);
        codes(&run)
    };
    assert_eq!(two("app 2"), ["server.files", "server.too_few_workers"]);
    assert_eq!(two("server"), ["server.files"], "the same by another name");
}
