//! A real PostgreSQL: what a user who may not look at others is told, and what the watching itself does to the figures.

use std::thread;
use std::time::Duration;

use model::Sample;
use observe::Source;
use observe::sources::Reader;
use testkit::databases::Postgres;

const PATIENCE: Duration = Duration::from_secs(60);

fn reader(url: &str) -> Reader {
    Reader::of(&Source::parse(url).expect("a source").kind, true).expect("it is read here")
}

fn taken(reader: &mut Reader) -> Sample {
    let sample = reader.sample(PATIENCE);
    assert_eq!(sample.error, None);
    sample
}

#[test]
fn sessions_that_are_hidden_are_connections_of_which_no_more_is_reported() {
    if !Postgres::is_there() {
        return;
    }
    let server = Postgres::start().expect("PostgreSQL starts");
    server.run("postgres", "CREATE ROLE watcher LOGIN").expect("good SQL");
    let own = server.url("postgres");
    let theirs = own.replace("postgres://postgres@", "postgres://watcher@");
    thread::scope(|scope| {
        let asleep = scope.spawn(|| server.run("postgres", "SELECT pg_sleep(200)"));
        // It may not be connected yet, and who created the role may not have hung up.
        let mut own = reader(&own);
        let told = (0..600).any(|_| {
            thread::sleep(Duration::from_millis(100));
            let all = taken(&mut own);
            (all.gauges["db.connections"], all.gauges["db.active"]) == (1.0, 1.0)
        });
        assert!(told, "one that is active");
        let hidden = taken(&mut reader(&theirs));
        // The reader before is connected too.
        assert!(hidden.gauges["db.connections"] >= 1.0, "{hidden:?}");
        for figure in ["db.active", "db.lock_waiters"] {
            assert!(!hidden.gauges.contains_key(figure), "{hidden:?}");
            assert!(hidden.missing[figure].contains("GRANT pg_monitor"), "{hidden:?}");
        }
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
        server.run("postgres", others).expect("good SQL");
        asleep.join().expect("a thread").expect_err("it slept until then");
    });
}

#[test]
fn statements_and_transactions_of_the_watching_are_not_reported() {
    if !Postgres::is_there() {
        return;
    }
    // A server that cleans up by itself makes transactions too.
    let server =
        Postgres::start_with(&["shared_preload_libraries=pg_stat_statements", "autovacuum=off"]);
    let server = server.expect("PostgreSQL starts");
    server.run("postgres", "CREATE EXTENSION pg_stat_statements").expect("good SQL");
    let mut reader = reader(&server.url("postgres"));
    let mut told = || {
        // Sessions tell the statistics at most once a second of what they did.
        thread::sleep(Duration::from_millis(1_100));
        let sample = taken(&mut reader);
        ["db.statements", "db.transactions"].map(|name| sample.counters[name])
    };
    told();
    let before = told();
    for _ in 0..3 {
        told();
    }
    let idle = told();
    assert_eq!(idle[0], before[0], "nobody but the watching called a statement");
    // Of two transactions a sample; the server may look into its databases by itself.
    assert!(idle[1] - before[1] <= 3, "{before:?} {idle:?}");
    for _ in 0..7 {
        server.run("postgres", "SELECT 1").expect("good SQL");
    }
    assert_eq!(told()[0] - idle[0], 7);
}
