//! Ctrl-C is heard in the midst of a long statement and between many short ones, and what is left can be taken up.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::engines::Engine;
use crate::harness::{Ended, PLIMSOLL};

/// From Ctrl-C to the end: what stands between is a second of work, and half a second of waiting for a statement. A machine
/// that is busy with something else takes longer; the statement would take a minute.
const HEARD: Duration = Duration::from_secs(30);
const USERS: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(40))";

/// Rows that the ledger says are written.
fn written(engine: &Engine) -> Option<f64> {
    let mut database = engine.connect();
    let rows = fill::all(&mut *database, "SELECT sum(done) FROM plimsoll_fill_step").ok()?;
    rows[0][0].as_deref()?.parse().ok()
}

/// Runs a fill, presses Ctrl-C when `written` says so, and sees that it is heard.
fn interrupted(engine: &Engine, more: &str, when: impl Fn(f64) -> bool) -> Ended {
    let mut command = engine.folder.command(Path::new(PLIMSOLL), &engine.line(more));
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !written(engine).is_some_and(&when) {
        assert!(Instant::now() < deadline, "it does not come so far");
        assert!(child.try_wait().expect("its state").is_none(), "it ended by itself");
        thread::sleep(Duration::from_millis(20));
    }
    // The next statement has begun by then.
    thread::sleep(Duration::from_millis(300));
    let pressed = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().expect("a pipe");
    pipe.read_to_string(&mut stderr).expect("text");
    let code = child.wait().expect("it ends").code().unwrap_or(-1);
    let took = pressed.elapsed();
    assert!(took < HEARD, "Ctrl-C was heard after {took:?}: {stderr}");
    assert_eq!(code, 130, "{stderr}");
    Ended { code, stdout: String::new(), stderr }
}

/// Row 2500, which is not among those that are tried, takes a minute, to be written (`INSERT`, `NEW`) and to be removed.
fn one_row_takes_long(engine: &Engine, slow: impl Fn(&str, &str) -> String, drop: &str) {
    engine.run(&slow("INSERT", "NEW"));
    let ended = interrupted(engine, "--rows users=3000", |written| written >= 1.0);
    assert!(ended.stderr.contains("interrupted; --resume continues"), "{ended:#?}");
    engine.run(drop);
    engine.fill("--resume").ok();
    assert_eq!(engine.number("SELECT count(*) FROM users"), 3000.0);
    engine.run(&slow("DELETE", "OLD"));
    let ended = interrupted(engine, "--clean", |written| written < 3000.0);
    assert!(ended.stderr.contains("interrupted; --clean again removes the rest"), "{ended:#?}");
    let left = engine.number("SELECT count(*) FROM users");
    assert!((2500.0..3000.0).contains(&left), "{left}");
    engine.run(drop);
    engine.fill("--clean").ok();
    assert_eq!(engine.number("SELECT count(*) FROM users"), 0.0);
}

#[test]
fn a_long_statement_of_sqlite_is_ended() {
    let slow = |event: &str, row: &str| {
        // More combinations than any processor gets through.
        format!(
            "CREATE TRIGGER slow AFTER {event} ON users WHEN {row}.id = 2500 BEGIN SELECT count(*) FROM digits a, \
             digits b, digits c, digits d, digits e WHERE a.n + b.n + c.n + d.n + e.n < 0; END"
        )
    };
    let numbers: Vec<String> = (0..100).map(|number| format!("({number})")).collect();
    let numbers = numbers.join(", ");
    let engine = Engine::sqlite(&format!(
        "{USERS};\nCREATE TABLE digits (n INTEGER);\nINSERT INTO digits VALUES {numbers}"
    ));
    one_row_takes_long(&engine, slow, "DROP TRIGGER slow");
}

#[test]
fn a_long_statement_of_postgres_is_ended() {
    let Some(engine) = Engine::postgres(USERS) else { return };
    let slow = |event: &str, row: &str| {
        format!(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN IF {row}.id = 2500 THEN PERFORM pg_sleep(60); END IF; RETURN {row}; END'; \
             CREATE TRIGGER slow BEFORE {event} ON users FOR EACH ROW EXECUTE FUNCTION slow()"
        )
    };
    one_row_takes_long(&engine, slow, "DROP FUNCTION slow CASCADE");
}

#[test]
fn a_long_statement_of_mariadb_is_ended() {
    let slow = |event: &str, row: &str| {
        format!(
            "CREATE TRIGGER slow BEFORE {event} ON users FOR EACH ROW \
             SET @slow = IF({row}.id = 2500, SLEEP(60), 0)"
        )
    };
    // By LOAD DATA, and by INSERT.
    for local_files in [true, false] {
        let Some(engine) = Engine::mariadb(USERS, local_files) else { return };
        one_row_takes_long(&engine, slow, "DROP TRIGGER slow");
    }
}

/// Each row that goes is looked for in the whole table: that is said with what helps, takes many short transactions,
/// and is quick with the index.
fn without_an_index(engine: &Engine) {
    const WARNING: &str = "users (manager_id): this foreign key has no index, so that --clean looks through the table \
        (30,000 rows) for each of the 30,000 rows of users";
    const INDEX: &str = "CREATE INDEX \"users_manager_id_index\" ON \"users\" (\"manager_id\")";
    let plan = engine.fill("--rows users=30000 --dry-run").ok();
    assert!(plan.stdout.contains(WARNING) && plan.stdout.contains(INDEX), "{plan:#?}");
    let small = engine.fill("--rows users=3000 --dry-run").ok();
    assert!(!small.stdout.contains("index"), "{small:#?}");
    engine.fill("--rows users=30000").ok();
    let ended = interrupted(engine, "--clean", |written| written < 29_900.0);
    assert!(ended.stderr.contains(WARNING) && ended.stderr.contains(INDEX), "{ended:#?}");
    let left = engine.number("SELECT count(*) FROM users");
    assert!((1000.0..30_000.0).contains(&left), "{left}");
    engine.run(INDEX);
    let ended = engine.fill("--clean").ok();
    assert!(!ended.stderr.contains("has no index"), "{ended:#?}");
    assert_eq!(engine.number("SELECT count(*) FROM users"), 0.0);
    let plan = engine.fill("--rows users=30000 --dry-run").ok();
    assert!(!plan.stdout.contains("has no index"), "{plan:#?}");
}

const TREE: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(40), \
                    manager_id INTEGER REFERENCES users(id))";

#[test]
fn rows_of_sqlite_whose_reference_has_no_index_go_in_short_transactions() {
    without_an_index(&Engine::sqlite(TREE));
}

#[test]
fn rows_of_postgres_whose_reference_has_no_index_go_in_short_transactions() {
    if let Some(engine) = Engine::postgres(TREE) {
        without_an_index(&engine);
    }
}
