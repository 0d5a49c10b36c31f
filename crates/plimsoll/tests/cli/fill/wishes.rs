//! What can be asked for, and what is refused.

use std::sync::atomic::{AtomicBool, Ordering};

use super::engines::Engine;
use crate::harness::{Ended, Folder, PLIMSOLL, ended};

const SHOP: &str = r#"
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users);
INSERT INTO users VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Eve');
INSERT INTO orders VALUES (1, 1), (2, 1), (3, 1), (4, 2);
"#;

const WORKLOAD: &str = "target: http://127.0.0.1:1
pools:
  users: {file: pools/users.csv, order: weighted, weight: weight}
  other: {file: pools/other.csv}
endpoints:
  - path: /users/${users.id}
  - path: /x/${other.page}
";

fn put_workload(folder: &Folder) {
    std::fs::create_dir(folder.path().join("pools")).unwrap();
    folder.put("shop.yaml", WORKLOAD);
    folder.put("pools/users.csv", "id,weight\n777,50\n2,30\n888,20\n");
    folder.put("pools/other.csv", "page\nhome\n");
}

#[test]
fn ids_of_pools_exist_and_have_their_share() {
    let engine = Engine::sqlite(SHOP);
    put_workload(&engine.folder);
    let ended = engine.fill("--for shop.yaml --dau-now 3 --dau-target 300").ok();
    assert!(ended.stderr.contains("other.page is not a key of a table"), "{ended:#?}");
    assert_eq!(engine.number("SELECT count(*) FROM users"), 300.0);
    assert_eq!(engine.number("SELECT count(*) FROM orders"), 400.0);
    assert_eq!(engine.number("SELECT count(*) FROM users WHERE id IN (777, 2, 888)"), 3.0);
    let of = |id: u32| engine.number(&format!("SELECT count(*) FROM orders WHERE user_id = {id}"));
    assert!(of(777) >= of(888) && of(777) >= 1.0, "{} {}", of(777), of(888));
    engine.fill("--clean").ok();
    assert_eq!(engine.rows("SELECT group_concat(id) FROM users")[0][0].as_deref(), Some("1,2,3"));
    let none = engine.fill("--for shop.yaml --pool other.page=users.nothing").ends(2);
    assert!(none.stderr.contains("no column `nothing`"), "{none:#?}");
    let none = engine.fill("--for shop.yaml --pool user.id=users.id").ends(2);
    assert!(none.stderr.contains("no such pool and column, but of other.page, "), "{none:#?}");
}

#[test]
fn ids_that_a_workload_file_has_itself_exist_too() {
    let engine = Engine::sqlite(SHOP);
    let workload = "target: http://127.0.0.1:1
pools:
  users: {values: [{id: 777, n: 5}, {id: 888, n: 1}], order: weighted, weight: n}
  other: {values: [home]}
endpoints:
  - path: /users/${users.id}
  - path: /x/${other}
";
    engine.folder.put("shop.yaml", workload);
    let ended = engine.fill("--for shop.yaml --rows users=100").ok();
    assert!(ended.stderr.contains("other.value is not a key of a table"), "{ended:#?}");
    let there = || engine.number("SELECT count(*) FROM users WHERE id IN (777, 888)");
    assert_eq!(there(), 2.0);
    engine.fill("--clean").ok();
    // Nor is it a matter of the form in which a file has them.
    engine.folder.put("ids.jsonl", "{\"id\": 777}\n{\"id\": 888}\n");
    engine.folder.put("ids.tsv", "id\tname\n777\tAda\n888\tBo\n");
    engine.folder.put("ids.csv", "777;Ada\n888;Bo\n");
    for pool in
        ["file: ids.jsonl", "file: ids.tsv", "file: ids.csv, columns: [id, name], separator: ;"]
    {
        let workload = format!(
            "target: http://127.0.0.1:1\npools:\n  users: {{{pool}}}\nendpoints: [path: '/${{users.id}}']\n"
        );
        engine.folder.put("shop.yaml", workload);
        engine.fill("--for shop.yaml --rows users=100").ok();
        assert_eq!(there(), 2.0, "{pool}");
        engine.fill("--clean").ok();
    }
    engine.folder.put("ids.jsonl", "{\"id\": 777}\n\n{\"id\": 888\n");
    let workload = "target: http://127.0.0.1:1\npools:\n  users: {file: ids.jsonl}\nendpoints: [path: '/${users.id}']\n";
    engine.folder.put("shop.yaml", workload);
    let ended = engine.fill("--for shop.yaml --rows users=100").ends(2);
    assert!(ended.stderr.contains("ids.jsonl: line 3, column "), "{ended:#?}");
}

#[test]
fn a_plan_that_cannot_be_printed_is_a_failure() {
    let engine = Engine::sqlite(SHOP);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let line = engine.line("--rows users=10 --dry-run");
    let mut command = engine.folder.command(std::path::Path::new(PLIMSOLL), &line);
    let output = command.stdout(full).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot write to standard output"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn pools_are_written_from_tables() {
    let engine = Engine::sqlite(SHOP);
    engine.fill("--pools users.id --out here").ok();
    assert_eq!(engine.folder.text("here/users_id.csv"), "id,weight\n1,4\n2,2\n3,1\n");
}

#[test]
fn a_pool_of_uuids_is_the_key_that_holds_them() {
    let engine = Engine::sqlite("CREATE TABLE users (id UUID PRIMARY KEY, name TEXT NOT NULL)");
    put_workload(&engine.folder);
    let uuid = "14bc7323-4814-bcff-95df-a868c327b101";
    engine.folder.put("pools/users.csv", "id,weight\n");
    engine.folder.put("pools/other.csv", format!("users_uuid,page\n{uuid},home\n"));
    let ended = engine.fill("--for shop.yaml").ok();
    assert!(!ended.stderr.contains("users_uuid is not a key"), "{ended:#?}");
    assert!(ended.stderr.contains("other.page is not a key of a table"), "{ended:#?}");
    let found = format!("SELECT count(*) FROM users WHERE id = '{uuid}'");
    assert_eq!(engine.number(&found), 1.0);
}

#[test]
fn help_says_what_a_row_without_children_weighs() {
    let help = Folder::new().plimsoll("fill --help").ok().stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1 + the number of rows that refer to it"), "{words}");
}

#[test]
fn the_plan_names_triggers() {
    let table = "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40));\n\
                 CREATE TABLE seen (id BIGINT PRIMARY KEY);\n";
    let sqlite =
        format!("{table}CREATE TRIGGER note AFTER INSERT ON users BEGIN DELETE FROM seen;END;\n");
    // Those of another database's tables are not this one's.
    let maria = format!(
        "{table}CREATE TRIGGER note AFTER INSERT ON users FOR EACH ROW DELETE FROM seen;\n\
         CREATE DATABASE other;\n\
         CREATE TABLE other.seen (id BIGINT PRIMARY KEY);\n\
         CREATE TRIGGER other.far AFTER INSERT ON other.seen FOR EACH ROW SET @far = 1;\n"
    );
    let postgres = format!(
        "{table}CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM seen; RETURN NEW; END';\n\
         CREATE TRIGGER note AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();\n\
         CREATE TRIGGER off AFTER INSERT ON seen FOR EACH ROW EXECUTE FUNCTION f();\n\
         ALTER TABLE seen DISABLE TRIGGER off;\n"
    );
    let engines =
        [Some(Engine::sqlite(&sqlite)), Engine::postgres(&postgres), Engine::mariadb(&maria, true)];
    for engine in engines.into_iter().flatten() {
        let plan = engine.fill("--rows users=100 --rows seen=9 --dry-run").ok().stdout;
        assert!(plan.contains("users: triggers run for each of its rows"), "{plan}");
        assert!(plan.contains("removes it: note. What"), "{plan}");
        assert!(!plan.contains("seen: triggers"), "{plan}");
    }
}

#[test]
fn the_plan_names_columns_that_stay_null_for_want_of_values() {
    let engine = Engine::sqlite(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, rank TEXT UNIQUE CHECK (rank IN ('a', 'b')));\n\
         CREATE TABLE seats (id INTEGER PRIMARY KEY, user_id INTEGER UNIQUE REFERENCES users);",
    );
    let plan = engine.fill("--rows users=40 --rows seats=1100 --dry-run").ok().stdout;
    for line in [
        "users.rank: NULL in 38 of 40 added rows for want of values: no other row may have the same",
        "seats.user_id: NULL in 1,060 of 1,100 added rows for want of values: no other row may refer to the same one",
    ] {
        assert!(plan.contains(line), "{plan}");
    }
}

#[test]
fn a_dry_run_shows_rows_and_writes_none() {
    let engine = Engine::sqlite(SHOP);
    let before = engine.dump();
    let ended = engine.fill("--rows users=100 --dry-run").ok();
    assert_eq!(
        ended.stdout.lines().filter(|line| line.contains("  ")).count(),
        3 + 2 * 11,
        "{ended:#?}"
    );
    assert_eq!(engine.dump(), before);
}

#[test]
fn a_dry_run_shows_references_that_close_a_circle() {
    let engine = Engine::sqlite(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b);\n\
         CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a)",
    );
    let plan = engine.fill("--rows a=5 --rows b=5 --dry-run").ok().stdout;
    assert!(plan.contains("\nb\n") && !plan.contains("NULL"), "{plan}");
}

#[test]
fn what_looks_like_production_needs_its_name() {
    let engine = Engine::sqlite(SHOP);
    let prod = engine.folder.path().join("shop-prod.db");
    std::fs::copy(engine.folder.path().join("shop.db"), &prod).unwrap();
    let fill = |more: &str| {
        engine.folder.plimsoll(&format!("fill sqlite:{} --rows users=9 {more}", prod.display()))
    };
    let refused = fill("").ends(1);
    assert!(
        refused.stderr.contains("`prod`") && refused.stderr.contains("--yes-to shop-prod.db"),
        "{refused:#?}"
    );
    fill("--yes-to shop").ends(2);
    fill("--production-marks live").ok();
    fill("--yes-to shop-prod.db").ok();
}

#[test]
fn a_mark_needs_no_blanks_around_it() {
    let engine = Engine::sqlite(SHOP);
    for (name, refused) in [
        ("prod1", true),
        ("prodshop", true),
        ("Shop-PROD1", true),
        ("liveshop", true),
        ("products", false),
        ("product_test", false),
    ] {
        let path = engine.folder.path().join(name);
        std::fs::copy(engine.folder.path().join("shop.db"), &path).unwrap();
        let line = format!("fill sqlite:{} --rows users=9", path.display());
        assert_eq!(engine.folder.plimsoll(&line).code, i32::from(refused), "{name}");
    }
}

/// Fills it without saying that it may be.
fn unnamed(engine: &Engine, more: &str) -> Ended {
    engine.folder.plimsoll(&format!("fill {} --until 2026-01-01 {more}", engine.url))
}

/// Refuses to fill while somebody else's connection has written; nobody's are no sign.
fn another_writer_is_a_sign(engine: &Engine) {
    let mut other = engine.connect();
    if engine.url.starts_with("postgres") {
        other.execute("SET application_name = 'shop'").expect("a setting");
    }
    unnamed(engine, "--rows a=9").ok();
    engine.fill("--clean").ok();
    other.execute("INSERT INTO a VALUES (1, 'x')").expect("a row");
    let refused = unnamed(engine, "--rows a=9").ends(1);
    for words in ["in the last 5 minutes", "Nothing was written", "--yes-to shop"] {
        assert!(refused.stderr.contains(words), "{words}: {refused:#?}");
    }
    assert_eq!(engine.number("SELECT count(*) FROM a"), 1.0);
    engine.fill("--rows a=9").ok();
    assert_eq!(engine.number("SELECT count(*) FROM a"), 9.0);
}

const ONE_TABLE: &str = "CREATE TABLE a (id INTEGER PRIMARY KEY, b VARCHAR(20))";

#[test]
fn another_writer_of_postgres_is_a_sign_of_production() {
    if let Some(engine) = Engine::postgres(ONE_TABLE) {
        another_writer_is_a_sign(&engine);
    }
}

#[test]
fn one_that_committed_is_a_sign_of_production_too() {
    let Some(engine) = Engine::postgres(ONE_TABLE) else { return };
    let mut other = engine.connect();
    for sql in ["SET application_name = 'shop'", "BEGIN", "INSERT INTO a VALUES (1, 'x')", "COMMIT"]
    {
        other.execute(sql).expect("good SQL");
    }
    let refused = unnamed(&engine, "--rows a=9").ends(1);
    assert!(refused.stderr.contains("in the last 5 minutes"), "{refused:#?}");
}

#[test]
fn writers_that_nobody_sees_are_seen_by_what_they_change() {
    let Some(engine) = Engine::postgres(ONE_TABLE) else { return };
    engine.run(
        "CREATE FUNCTION buy() RETURNS bigint LANGUAGE sql AS \
         'INSERT INTO a SELECT count(*), ''x'' FROM a RETURNING id'",
    );
    // Sessions that come and go, with a statement that says nothing of a change.
    let running = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while running.load(Ordering::Relaxed) {
                engine.run("SELECT buy()");
            }
        });
        // More than they insert meanwhile.
        let refused = unnamed(&engine, "--rows a=100000");
        running.store(false, Ordering::Relaxed);
        let refused = refused.ends(1);
        assert!(refused.stderr.contains("changed by others"), "{refused:#?}");
    });
}

/// One short connection each 1.1 s: less often than the counters are settled, more often than the look lasts.
fn seldom_written_is_seen(engine: &Engine) {
    engine.run("INSERT INTO a VALUES (1, 'x')");
    let running = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while running.load(Ordering::Relaxed) {
                engine.run("UPDATE a SET b = concat(b, 'y') WHERE id = 1");
                std::thread::sleep(std::time::Duration::from_millis(1050));
            }
        });
        let refused = unnamed(engine, "--rows a=9");
        running.store(false, Ordering::Relaxed);
        // Or it is seen itself, if it is connected at that moment.
        let refused = refused.ends(1).stderr;
        assert!(
            refused.contains("changed by others") || refused.contains("in the last 5 minutes"),
            "{refused}"
        );
    });
    assert_eq!(engine.number("SELECT count(*) FROM a"), 1.0);
}

#[test]
fn what_is_seldom_written_by_short_connections_is_seen() {
    if let Some(engine) = Engine::postgres(ONE_TABLE) {
        seldom_written_is_seen(&engine);
    }
    if let Some(engine) = Engine::mariadb(ONE_TABLE, true) {
        seldom_written_is_seen(&engine);
    }
}

#[test]
fn a_replica_of_postgres_is_a_sign_of_production() {
    let Some(engine) = Engine::postgres(ONE_TABLE) else { return };
    // A physical slot that nobody reads is none.
    engine.run("SELECT pg_create_physical_replication_slot('idle')");
    unnamed(&engine, "--rows a=9").ok();
    let into = engine.folder.path().join("wal");
    std::fs::create_dir(&into).unwrap();
    let mut replica = std::process::Command::new("pg_receivewal");
    let url = engine.url.replace("/shop", "/postgres");
    let mut replica = replica.args(["-d", &url, "-D"]).arg(&into).spawn().expect("it is installed");
    let attached = "SELECT count(*) FROM pg_stat_replication";
    let seen = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        engine.number(attached) > 0.0
    });
    let refused = unnamed(&engine, "--rows a=19");
    replica.kill().and_then(|()| replica.wait()).expect("it ends");
    assert!(seen);
    assert!(refused.ends(1).stderr.contains("replicas are attached to it"));
    assert_eq!(engine.number("SELECT count(*) FROM a"), 9.0);
}

#[test]
fn what_cannot_be_satisfied_is_named_before_anything_is_written() {
    for (sql, rows, words) in [
        (
            "CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER NOT NULL REFERENCES b);\n\
             CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a)",
            "a=5",
            &["circle", "a (b)", "b (a)"][..],
        ),
        (
            "CREATE TABLE a (code CHAR(2) PRIMARY KEY)",
            "a=900",
            &["a.code", "PRIMARY KEY", "room for 676"],
        ),
        (
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x INT CHECK (x > 5 AND x < 3))",
            "a=5",
            &["a.x", "allow no value"],
        ),
        (
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT CHECK (hex(x) LIKE 'ZZ%'))",
            "a=5",
            &["CHECK", "hex(x) LIKE", "nothing was written"],
        ),
        (
            "CREATE TABLE a (id INTEGER PRIMARY KEY, CHECK (0))",
            "a=5",
            &["a: its condition CHECK (0) allows no row"],
        ),
        (SHOP, "user=5", &["no table `user`", "did you mean `users`"]),
    ] {
        let engine = Engine::sqlite(sql);
        let before = engine.dump();
        let refused = engine.fill(&format!("--rows {rows}"));
        assert!(refused.code == 1 || refused.code == 2, "{refused:#?}");
        for word in words {
            assert!(refused.stderr.contains(word), "no `{word}` in {refused:#?}");
        }
        assert_eq!(engine.dump(), before, "{sql}");
    }
}

#[test]
fn passwords_are_not_printed() {
    let folder = Folder::new();
    for url in [
        "postgres://ann:hunter2@127.0.0.1:1/shop",
        "mysql://ann:hunter2@127.0.0.1:1/shop",
        "mysql://ann:hunter2@127.0.0.1:port/shop",
    ] {
        let ended = folder.plimsoll(&format!("fill {url} --rows users=5"));
        assert!(ended.code == 1 || ended.code == 2, "{ended:#?}");
        assert!(!ended.stderr.contains("hunter2") && ended.stderr.contains("***"), "{ended:#?}");
    }
}

/// A name that would do harm where it is not quoted, or printed as it is.
const HOSTILE: &str = "x\"`'; DROP TABLE users; --\u{1b}[2J";

fn fill_hostile(engine: &Engine) {
    let before = engine.dump();
    let mut command = engine.folder.command(std::path::Path::new(PLIMSOLL), &engine.line(""));
    let ended = ended(command.arg("--rows").arg(format!("{HOSTILE}=50"))).ok();
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:#?}");
    assert_eq!(engine.number("SELECT count(*) FROM users"), 5.0);
    engine.fill("--clean").ok();
    assert_eq!(engine.dump(), before);
}

fn hostile(quote: &str) -> String {
    let name = HOSTILE.replace(quote, &quote.repeat(2));
    format!(
        "CREATE TABLE users (id INTEGER PRIMARY KEY);\n\
         CREATE TABLE {quote}{name}{quote} ({quote}{name}{quote} INTEGER PRIMARY KEY, {quote}select{quote} INTEGER NOT NULL, \
         {quote}a b{quote} VARCHAR(20), FOREIGN KEY ({quote}select{quote}) REFERENCES users(id))"
    )
}

#[test]
fn hostile_names_do_no_harm() {
    fill_hostile(&Engine::sqlite(&hostile("\"")));
    if let Some(engine) = Engine::postgres(&hostile("\"")) {
        fill_hostile(&engine);
    }
    if let Some(engine) = Engine::mariadb(&hostile("`"), true) {
        fill_hostile(&engine);
    }
}
