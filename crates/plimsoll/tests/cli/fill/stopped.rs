//! Fills that are killed, and lose their connection.

use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::engines::Engine;
use crate::harness::PLIMSOLL;

const SCHEMA: &str = r#"
CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR(80) NOT NULL UNIQUE, name VARCHAR(60));
CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id), body TEXT)
"#;
const ROWS: &str = "--rows users=20000 --rows posts=60000 --batch 500";

fn done(engine: &Engine) -> Option<f64> {
    let mut database = engine.connect();
    let rows = fill::all(&mut *database, "SELECT sum(done) FROM plimsoll_fill_step").ok()?;
    rows[0][0].as_deref()?.parse().ok()
}

/// Starts a fill, and stops it by `stop` when some of it is done; then it goes on, and is what it would have been.
fn goes_on(engine: &Engine, stop: impl Fn(u32)) {
    engine.fill(ROWS).ok();
    let whole = engine.contents(&["users", "posts"]);
    engine.fill("--clean").ok();
    let line = engine.line(ROWS);
    let mut command = engine.folder.command(Path::new(PLIMSOLL), &line);
    let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while done(engine).is_none_or(|done| done < 3000.0) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    stop(child.id());
    let status = child.wait().expect("it ends");
    assert!(!status.success(), "it was stopped");
    let so_far = done(engine).expect("some of it is done");
    let rows = engine.number("SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM posts)");
    assert_eq!(so_far, rows, "the ledger and the tables agree");
    assert!((3000.0..80_000.0).contains(&rows), "{rows}");
    let refused = engine.fill(ROWS).ends(2);
    assert!(refused.stderr.contains("--resume"), "{refused:#?}");
    engine.fill("--resume").ok();
    assert_eq!(engine.contents(&["users", "posts"]), whole);
    engine.fill("--clean").ok();
    assert_eq!(engine.number("SELECT count(*) FROM posts"), 0.0);
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
}

#[test]
fn a_killed_fill_of_sqlite_goes_on() {
    goes_on(&Engine::sqlite(&SCHEMA.replace(");", ");\n")), kill);
}

#[test]
fn a_killed_fill_of_postgres_goes_on() {
    let Some(engine) = Engine::postgres(SCHEMA) else { return };
    goes_on(&engine, kill);
}

#[test]
fn a_fill_of_postgres_whose_connection_is_cut_goes_on() {
    let Some(engine) = Engine::postgres(SCHEMA) else { return };
    goes_on(&engine, |_| {
        engine.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plimsoll fill' \
             AND pid <> pg_backend_pid()",
        );
    });
}

#[test]
fn a_killed_fill_of_mariadb_goes_on() {
    let Some(engine) = Engine::mariadb(SCHEMA, true) else { return };
    goes_on(&engine, kill);
}

/// A second fill, or its `--clean`, beside a running one would leave rows that nobody removes.
fn only_one_at_a_time(engine: &Engine) {
    let mut running = engine.connect();
    fill::alone(&mut *running).expect("nobody fills it");
    for line in ["--rows users=10", "--clean", "--resume"] {
        let refused = engine.fill(line).ends(1);
        assert!(
            refused.stderr.contains("another fill of this database is running"),
            "{refused:#?}"
        );
    }
    drop(running);
    engine.fill("--rows users=10").ok();
}

#[test]
fn postgres_is_filled_by_one_at_a_time() {
    if let Some(engine) = Engine::postgres(SCHEMA) {
        only_one_at_a_time(&engine);
    }
}

#[test]
fn mariadb_is_filled_by_one_at_a_time() {
    if let Some(engine) = Engine::mariadb(SCHEMA, true) {
        only_one_at_a_time(&engine);
    }
}
