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
