//! Rows that are taken back, and rows of others that stay.

use super::engine::Engine;

const SQLITE: &str = "
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users(id) ON DELETE ACTION);
CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree(id) ON DELETE ACTION);
";
const OTHERS: &str = "
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE posts (id BIGINT PRIMARY KEY, user_id BIGINT, FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE ACTION);
CREATE TABLE tree (id BIGINT PRIMARY KEY, up BIGINT, FOREIGN KEY (up) REFERENCES tree(id) ON DELETE ACTION);
";

/// Rows of others refer to the fill's: they stop the clean, and stay as they are.
fn rows_of_others_stay(engine: &Engine, action: &str) {
    engine.fill(&[("users", 250), ("posts", 300), ("tree", 250)]).expect("a fill");
    for (insert, table, rest) in [
        ("INSERT INTO posts VALUES (9000, 70)", "posts", "DELETE FROM posts WHERE id = 9000"),
        ("INSERT INTO tree VALUES (9000, 70)", "tree", "DELETE FROM tree WHERE id = 9000"),
    ] {
        engine.run(insert);
        let why = engine.clean().expect_err("another's row refers to one of ours").to_string();
        assert!(why.contains(table) && why.contains(action), "{why}");
        let column = if table == "posts" { "user_id" } else { "up" };
        let sql = format!("SELECT {column} FROM {table} WHERE id = 9000");
        assert_eq!(engine.number(&sql), 70, "{action}");
        engine.run(rest);
    }
    engine.clean().expect("nothing refers to the rows any more");
    for table in ["users", "posts", "tree"] {
        assert_eq!(engine.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

#[test]
fn sqlite_says_itself_which_tables_have_row_numbers() {
    let engine = Engine::sqlite(
        "CREATE TABLE notes (body TEXT DEFAULT 'without rowid');
CREATE TABLE tags (name TEXT PRIMARY KEY) WITHOUT
  ROWID;
",
    );
    engine.fill(&[("notes", 200), ("tags", 200)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 400);
}

#[test]
fn rows_of_others_are_not_taken_along() {
    let engine = |sql: &str, action: &str| sql.replace("ACTION", action);
    for action in ["CASCADE", "SET NULL", "SET DEFAULT"] {
        rows_of_others_stay(&Engine::sqlite(&engine(SQLITE, action)), action);
    }
}

#[test]
fn rows_of_others_are_not_taken_along_on_servers() {
    for action in ["CASCADE", "SET NULL"] {
        let sql = OTHERS.replace("ACTION", action);
        for engine in [Engine::postgres(&sql), Engine::mariadb(&sql)].into_iter().flatten() {
            rows_of_others_stay(&engine, action);
        }
    }
}

#[test]
fn rows_of_others_that_hold_rows_of_the_fill_are_named_by_their_table() {
    let sql = "
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE posts (id BIGINT PRIMARY KEY, user_id BIGINT, FOREIGN KEY (user_id) REFERENCES users(id));
";
    let engines = [Some(Engine::sqlite(sql)), Engine::postgres(sql), Engine::mariadb(sql)];
    for engine in engines.into_iter().flatten() {
        engine.fill(&[("users", 250)]).expect("a fill");
        engine.run("INSERT INTO posts VALUES (9000, 70)");
        let why = engine.clean().expect_err("a row is referred to").to_string();
        for words in ["users: ", "in posts: remove these first"] {
            assert!(why.contains(words), "{words}: {why}");
        }
        engine.run("DELETE FROM posts");
        engine.clean().expect("nothing refers to the rows any more");
        assert_eq!(engine.number("SELECT count(*) FROM users"), 0);
    }
}

/// MySQL looks at references row by row: a row goes before those that it refers to, whatever their keys.
#[test]
fn trees_whose_keys_do_not_count_up_go_away() {
    let sql = "
CREATE TABLE tree (id CHAR(36) PRIMARY KEY, up CHAR(36), FOREIGN KEY (up) REFERENCES tree(id));
CREATE TABLE pairs (a CHAR(36), b CHAR(36), up_a CHAR(36), up_b CHAR(36), PRIMARY KEY (a, b),
  FOREIGN KEY (up_a, up_b) REFERENCES pairs(a, b));
";
    for engine in [Engine::mariadb(sql), Engine::postgres(sql)].into_iter().flatten() {
        engine.fill(&[("tree", 250), ("pairs", 250)]).expect("a fill");
        let roots = "SELECT count(*) FROM tree WHERE up IS NULL";
        assert!((1..100).contains(&engine.number(roots)));
        assert_eq!(engine.clean().expect("all of it goes"), 500);
    }
}

#[test]
fn a_trigger_that_changes_the_key_is_found_before_anything_stays() {
    let table = "CREATE TABLE things (id BIGINT PRIMARY KEY, name VARCHAR(40));\n";
    let maria = format!(
        "{table}CREATE TRIGGER t BEFORE INSERT ON things FOR EACH ROW SET NEW.id = NEW.id + 1000000;\n"
    );
    let postgres = format!(
        "{table}CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN NEW.id := NEW.id + 1000000; RETURN NEW; END';\n\
         CREATE TRIGGER t BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION f();\n"
    );
    let sqlite = format!(
        "{table}CREATE TRIGGER t AFTER INSERT ON things BEGIN \
         UPDATE things SET id = NEW.id + 1000000 WHERE id = NEW.id; END;\n"
    );
    let engines = [
        Engine::mariadb(&maria),
        Engine::postgres(&postgres),
        Some(Engine::sqlite(&sqlite.replace("; END", ";END"))),
    ];
    for engine in engines.into_iter().flatten() {
        let why = engine.fill(&[("things", 300)]).expect_err("it cannot be undone").to_string();
        assert!(why.contains("things (id)") && why.contains("trigger"), "{why}");
        assert_eq!(engine.number("SELECT count(*) FROM things"), 0);
    }
}

#[test]
fn a_trigger_that_keeps_rows_is_found_before_anything_stays() {
    // Who refers to a row without having a key stays in the trial.
    let tables = "CREATE TABLE things (id BIGINT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE notes (thing BIGINT NOT NULL REFERENCES things(id), what VARCHAR(9));
CREATE TABLE parts (id BIGINT PRIMARY KEY, thing BIGINT NOT NULL REFERENCES things(id));\n";
    let maria = format!(
        "{tables}DELIMITER //\nCREATE TRIGGER t BEFORE DELETE ON parts FOR EACH ROW SIGNAL SQLSTATE '45000' \
         SET MESSAGE_TEXT = 'kept'//"
    );
    let postgres = format!(
        "{tables}CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';\n\
         CREATE TRIGGER t BEFORE DELETE ON parts FOR EACH ROW EXECUTE FUNCTION f();\n"
    );
    let sqlite = format!(
        "{tables}CREATE TRIGGER t BEFORE DELETE ON parts BEGIN SELECT RAISE(ABORT, 'kept'); END;\n"
    );
    let engines =
        [Engine::mariadb(&maria), Engine::postgres(&postgres), Some(Engine::sqlite(&sqlite))];
    for engine in engines.into_iter().flatten() {
        let why = engine.fill(&[("parts", 300), ("things", 9)]).expect_err("it cannot be undone");
        let why = why.to_string();
        assert!(why.starts_with("parts") && why.contains("--clean could not take them"), "{why}");
        assert_eq!(engine.number("SELECT count(*) FROM things"), 0);
        engine.fill(&[("things", 50), ("notes", 300)]).expect("no trigger is there");
        assert_eq!(engine.clean().expect("it goes"), 350);
    }
}

#[test]
fn a_fill_whose_rows_are_not_found_is_not_forgotten_at_once() {
    let engine = Engine::sqlite("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT);\n");
    engine.fill(&[("things", 300)]).expect("a fill");
    engine.run("UPDATE things SET id = id + 1000000 WHERE id > 290");
    let why = engine.clean().expect_err("ten are not found").to_string();
    assert!(why.contains("things: 10 rows") && why.contains("10 more"), "{why}");
    assert_eq!(engine.number("SELECT count(*) FROM things"), 10);
    assert_eq!(engine.number("SELECT count(*) FROM plimsoll_fill"), 1);
    assert_eq!(engine.clean().expect("it is told by now"), 0);
    assert_eq!(engine.number("SELECT count(*) FROM sqlite_master WHERE name LIKE 'plimsoll%'"), 0);
    // Rows that are gone for good are none to look for.
    engine.fill(&[("things", 300)]).expect("a fill");
    engine.run("DELETE FROM things WHERE id BETWEEN 1000311 AND 1000320");
    assert_eq!(engine.clean().expect("the others are there"), 280);
}

#[test]
fn rows_without_a_key_go_by_what_was_written() {
    let sql = "
CREATE TABLE log (age INT, weight FLOAT, size DOUBLE, price DECIMAL(8,2), doc JSON, day DATE,
  CHECK (age < 40 OR age > 60));
INSERT INTO log VALUES (1, 0.1, 0.1, 1.5, '{\"a\": 1}', '2024-01-01'), (2, NULL, NULL, NULL, NULL, NULL);
";
    let engines = [Engine::mariadb(sql), Engine::postgres(&sql.replace("DOUBLE", "FLOAT"))];
    let sqlite = Engine::sqlite(&sql.replace("\\\"", "\""));
    for engine in engines.into_iter().flatten().chain([sqlite]) {
        let before = engine.rows("SELECT age, day FROM log");
        engine.fill(&[("log", 400)]).expect("a fill");
        assert_eq!(engine.clean().expect("it goes"), 398);
        assert_eq!(engine.rows("SELECT age, day FROM log"), before);
    }
}

#[test]
fn places_of_sqlite_that_hold_other_rows_by_now_are_left_alone() {
    let engine = Engine::sqlite("CREATE TABLE log (what TEXT, n INTEGER);\n");
    for number in 0..10 {
        engine.run(&format!("INSERT INTO log VALUES ('other {number}', {number})"));
    }
    engine.fill(&[("log", 300)]).expect("a fill");
    engine.run("DELETE FROM log WHERE what LIKE 'other%' AND n < 5");
    engine.run("VACUUM");
    for number in 10..15 {
        engine.run(&format!("INSERT INTO log VALUES ('other {number}', {number})"));
    }
    let why = engine.clean().expect_err("rows have moved").to_string();
    assert!(why.contains("log") && why.contains("VACUUM"), "{why}");
    assert_eq!(engine.number("SELECT count(*) FROM log WHERE what LIKE 'other%'"), 10);
}

#[test]
fn what_a_stopped_program_left_is_dropped() {
    let table = "CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(40));\n";
    let engines = [Some(Engine::sqlite(table)), Engine::postgres(table), Engine::mariadb(table)];
    for engine in engines.into_iter().flatten() {
        engine.fill(&[("things", 30)]).expect("a fill");
        let database = &mut *engine.connect();
        assert!(!fill::ledger::drop_empty(database).expect("a fill is there"));
        assert_eq!(engine.number("SELECT count(*) FROM plimsoll_fill"), 1);
        // Stopped after the last row was removed, and the rest between two statements.
        engine.run("DELETE FROM things");
        engine.run("DROP TABLE plimsoll_fill");
        assert!(fill::ledger::drop_empty(database).expect("they are dropped"));
        for name in ["plimsoll_fill", "plimsoll_fill_step", "plimsoll_fill_transaction"] {
            assert!(!database.has_table(name).expect("an answer"), "{name}");
        }
        assert!(!fill::ledger::drop_empty(database).expect("nothing is left"));
    }
}

#[test]
fn tables_that_have_come_since_are_no_obstacle() {
    let sql = "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE posts (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, FOREIGN KEY (user_id) REFERENCES users(id));\n";
    let since = "CREATE TABLE also (id BIGINT PRIMARY KEY, user_id BIGINT,
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE);
INSERT INTO also VALUES (1, 7);\n";
    let engines = [Some(Engine::sqlite(sql)), Engine::postgres(sql), Engine::mariadb(sql)];
    for engine in engines.into_iter().flatten() {
        engine.fill(&[("users", 50), ("posts", 200)]).expect("a fill");
        engine.run(since);
        let why = engine.clean().expect_err("another's row would go with ours").to_string();
        assert!(why.contains("also (user_id)"), "{why}");
        engine.run("DELETE FROM also");
        engine.clean().expect("nothing refers to the rows any more");
        assert_eq!(engine.number("SELECT count(*) FROM users"), 0);
        engine.fill(&[("users", 50)]).expect("a fill");
        engine.run("ALTER TABLE users ADD COLUMN more INT");
        let why = engine.clean().expect_err("it is another table").to_string();
        assert!(why.contains("the tables have changed since the fill"), "{why}");
        assert_eq!(engine.number("SELECT count(*) FROM users"), 50);
    }
}
