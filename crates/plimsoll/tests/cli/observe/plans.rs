//! `explain --confirm` asks the database of a finding for the plans of the run's statements.

use model::observed::{Figure, Observed, ObservedSource};
use model::{Role, Run};
use testkit::databases::{Mariadb, Postgres};

use super::json;
use crate::harness::Folder;

/// Rows of the table.
const ROWS: u32 = 20_000;

/// A run whose requests read a whole table each, by what a database named db told.
fn run_that_reads_whole_tables(table: &str, shape: &str, url: &str) -> Run {
    let mut run: Run = fixture::sound::open();
    let per_s = run.rates.requests_per_s;
    let counter =
        |per_s: f64| Figure { mean: per_s, min: per_s, max: per_s, growth: Some(per_s * 10.0) };
    let gauge = |value: f64| Figure { growth: None, ..counter(value) };
    let figures = [
        ("db.active".to_owned(), gauge(2.0)),
        ("db.connections".to_owned(), gauge(2.0)),
        ("db.statements".to_owned(), counter(per_s)),
        (format!("db.seq_rows{{{table}}}"), counter(per_s * f64::from(ROWS))),
        (format!("db.table_rows{{{table}}}"), gauge(f64::from(ROWS))),
        (format!("db.exec_ns{{{shape}}}"), counter(1.9e9)),
        (format!("db.calls{{{shape}}}"), counter(per_s)),
        (format!("db.rows{{{shape}}}"), counter(per_s * 3.0)),
        ("db.exec_ns{COMMIT}".to_owned(), counter(1e6)),
    ];
    let db = ObservedSource {
        name: "db".into(),
        role: Role::Db,
        read_from: url.into(),
        samples: 10,
        figures: figures.into(),
        ..ObservedSource::default()
    };
    run.observed = Some(Observed { sources: vec![db] });
    run
}

/// A folder with this run.
fn folder_of(run: &Run) -> Folder {
    let folder = Folder::new();
    folder.put("run.json", serde_json::to_string(run).expect("JSON"));
    folder
}

/// What was said of the first finding.
fn said(folder: &Folder, source: &str) -> (String, String) {
    let line = format!("explain . --confirm --format json --observe {source}");
    let findings = json(&folder.plimsoll(&line).ok().stdout);
    folder.follows_schema("findings", &findings);
    let first = &findings["findings"][0];
    assert_eq!(first["code"], "db.missing_index", "{findings}");
    let word = |name: &str| first["confirmed"][name].as_str().expect("words").to_owned();
    (word("outcome"), word("sentence"))
}

#[test]
fn postgres_plans_a_statement_whose_values_are_not_known() {
    if !Postgres::is_there() {
        return;
    }
    let server = Postgres::start_with(&["shared_preload_libraries=pg_stat_statements"]);
    let server = server.expect("PostgreSQL starts");
    server.run("postgres", "CREATE DATABASE shop").expect("good SQL");
    let fill =
        format!("INSERT INTO orders SELECT n, n % 1000, 'x' FROM generate_series(1, {ROWS}) n");
    let table = "CREATE TABLE orders (id int PRIMARY KEY, user_id int, secret text)";
    let find = "SELECT id, secret FROM orders WHERE user_id = 7 AND secret <> 'hunter2'";
    for sql in ["CREATE EXTENSION pg_stat_statements", table, &fill, "ANALYZE", find] {
        server.run("shop", sql).expect("good SQL");
    }
    let url = server.url("shop");
    let shape = "SELECT id, secret FROM orders WHERE user_id = $1 AND secret <> $2";
    let folder = folder_of(&run_that_reads_whole_tables("public.orders", shape, &url));
    let given = format!("db={url}");
    let (outcome, sentence) = said(&folder, &given);
    assert_eq!(outcome, "confirmed", "{sentence}");
    assert!(sentence.contains("reads all 20,000 rows of public.orders"), "{sentence}");
    assert!(sentence.contains("compares each by user_id"), "{sentence}");

    server.run("shop", "CREATE INDEX orders_user ON orders (user_id, secret)").expect("good SQL");
    let exact = "SELECT id, secret FROM orders WHERE user_id = 7";
    server.run("shop", exact).expect("good SQL");
    let shape = "SELECT id, secret FROM orders WHERE user_id = $1";
    let folder = folder_of(&run_that_reads_whole_tables("public.orders", shape, &url));
    // The run cannot be made again here: what an index finds now may have been read whole then.
    let (outcome, sentence) = said(&folder, &given);
    assert_eq!(outcome, "undecided", "{sentence}");
    assert!(sentence.contains("by orders_user now"), "{sentence}");

    let shape = "SELECT * FROM orders WHERE gone = $1";
    let folder = folder_of(&run_that_reads_whole_tables("public.orders", shape, &url));
    let (outcome, sentence) = said(&folder, &given);
    assert_eq!(outcome, "undecided", "{sentence}");
    assert!(sentence.contains("its text is not there"), "{sentence}");
    let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plimsoll explain'";
    assert_eq!(server.run("shop", left).expect("good SQL").trim(), "0");
}

#[test]
fn mariadb_plans_an_example_of_a_statement() {
    if !Mariadb::is_there() {
        return;
    }
    let server = Mariadb::start_with(&[
        "--performance-schema=ON",
        "--performance-schema-consumer-events-statements-current=ON",
        "--performance-schema-consumer-events-statements-history-long=ON",
    ]);
    let server = server.expect("MariaDB starts");
    let table = "CREATE TABLE orders (id int PRIMARY KEY, user_id int, secret text)";
    let fill = format!("INSERT INTO orders SELECT seq, seq % 1000, 'x' FROM seq_1_to_{ROWS}");
    let find = "SELECT o.id, o.secret FROM orders o WHERE o.user_id = 7";
    server.run("", "CREATE DATABASE shop").expect("good SQL");
    for sql in [table, &fill, find] {
        server.run("shop", sql).expect("good SQL");
    }
    let url = server.url("shop");
    let digest = "SELECT DIGEST_TEXT FROM performance_schema.events_statements_history_long \
                  WHERE SQL_TEXT LIKE 'SELECT o.id%'";
    let shape = server.run("", digest).expect("good SQL").trim().replace(" . ", ".");
    let shape = shape.replace(" , ", ", ");
    let folder = folder_of(&run_that_reads_whole_tables("shop.orders", &shape, &url));
    let given = format!("db={url}");
    let (outcome, sentence) = said(&folder, &given);
    assert_eq!(outcome, "confirmed", "{shape}: {sentence}");
    assert!(sentence.contains("compares each by user_id"), "{sentence}");

    // Without an example with its values nothing is known.
    server.run("", "TRUNCATE performance_schema.events_statements_history_long").expect("good SQL");
    let (outcome, sentence) = said(&folder, &given);
    assert_eq!(outcome, "undecided", "{sentence}");
    assert!(sentence.contains("no example of it with its values"), "{sentence}");
}

#[test]
fn only_a_database_that_the_user_named_is_asked() {
    let shape = "SELECT * FROM orders WHERE user_id = $1";
    let url = "postgres://app:***@127.0.0.1:1/shop";
    let folder = folder_of(&run_that_reads_whole_tables("public.orders", shape, url));
    // The folder was made by nobody known: what it names is not connected to.
    let ended = folder.plimsoll("explain . --confirm");
    assert!(ended.code == 2 && ended.stderr.contains("without your consent"), "{ended:?}");
    let (outcome, sentence) = said(&folder, "db=postgres://app:hunter2@127.0.0.1:1/shop");
    assert_eq!(outcome, "undecided");
    for words in ["Not carried out: ", "127.0.0.1:1", "--observe db=postgres://", "PGPASSWORD"] {
        assert!(sentence.contains(words), "{words}: {sentence}");
    }
    assert!(!sentence.contains("hunter2"), "{sentence}");
    let (_, sentence) = said(&folder, "db=local");
    assert!(sentence.contains("local explains no statements"), "{sentence}");
    for (line, words) in [
        ("explain . --observe db=local", "--confirm"),
        ("explain . --confirm --observe nix", "is not a source"),
    ] {
        let ended = folder.plimsoll(line);
        assert!(ended.code == 2 && ended.stderr.contains(words), "{line}: {ended:?}");
    }
}
