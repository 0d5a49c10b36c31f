//! Databases, by what they tell of themselves.

use super::*;

/// What the sound run (1,000 requests a second, 2 on their way) sees of a database, with `more`.
fn with_database(url: &str, more: &[(&'static str, f64)]) -> Run {
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
    let told = |run: &Run| explain(run).findings[0].evidence_for.join("\n").contains("dearest");
    assert!(told(&run));
    let other = source("db 3", Role::Db, "mysql://h/d", [("db.exec_ns{c}", ms)]);
    run.observed.as_mut().unwrap().sources.push(other);
    assert!(!told(&run), "which of the two it is is not known");
}

#[test]
fn a_missing_index_is_reported_with_its_table_its_statement_and_what_to_type() {
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
fn scans_are_found_where_tables_are_not_reported() {
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
fn a_database_with_all_connections_open_and_nobody_failing_limits_nothing() {
    let run = with_database("postgres://h/d", &[("db.connections", 96.0)]);
    assert_eq!(codes(&run), ["none", "db.connections"]);
    let mut failing = run;
    failing.totals.succeeded -= 500;
    assert_eq!(codes(&failing), ["db.connections"]);
}

#[test]
fn a_database_whose_limit_is_not_known_has_connections_left() {
    let none =
        [("db.connections", 5.0), ("db.connections_max", 0.0), ("db.connections_reserved", 0.0)];
    assert_eq!(codes(&with_database("mysql://h/d", &none)), ["none"]);
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
    // Watched for a tenth of the window.
    let mut briefly = locked(1000.0);
    let db = briefly.observed.as_mut().unwrap().sources.last_mut().unwrap();
    db.figures.get_mut("db.transactions").unwrap().growth = Some(1000.0);
    assert_eq!(explain(&briefly).findings[0].confidence, Confidence::High);
    // No request failed, whatever a log says.
    for said in ["nginx.log{worker_connections}", "nginx.log{upstream timed out}"] {
        assert_eq!(codes(&watched(run(), with(machine(0.1), &[(said, 39.0)]))), ["none"], "{said}");
    }
}
