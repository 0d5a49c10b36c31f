//! Rules on columns that the database computes.

use super::engine::Engine;

const SQL: &str = "
CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR(60) NOT NULL,
  small VARCHAR(60) GENERATED ALWAYS AS (lower(email)) STORED, n INTEGER NOT NULL,
  more INTEGER GENERATED ALWAYS AS (n + 1000) STORED, UNIQUE (small), UNIQUE (more));
CREATE TABLE short (id INTEGER PRIMARY KEY, email VARCHAR(60) NOT NULL,
  start VARCHAR(3) GENERATED ALWAYS AS (substr(email, 1, 3)) STORED, CONSTRAINT by_start UNIQUE (start));
CREATE TABLE notes (id INTEGER PRIMARY KEY, what VARCHAR(60) NOT NULL, FOREIGN KEY (what) REFERENCES users(small));
INSERT INTO users (id, email, n) VALUES (1, 'Ann.Lee7@example.com', 70);
";

/// What is unique when it was computed is made so, or the rule is named before anything stays.
fn rules_on_computed_columns_hold(engine: &Engine) {
    engine.fill(&[("users", 3000)]).expect("a fill");
    engine.fill(&[("users", 5000)]).expect("another one upon it");
    assert_eq!(engine.number("SELECT count(DISTINCT small) FROM users"), 5000);
    assert_eq!(engine.number("SELECT count(DISTINCT more) FROM users"), 5000);
    assert_eq!(engine.clean().expect("it goes"), 4999);
    let why = engine.fill(&[("short", 5000)]).expect_err("there is no room").to_string();
    for words in ["nothing was written", "start", "short"] {
        assert!(why.contains(words), "{why}");
    }
    assert_eq!(engine.number("SELECT count(*) FROM short"), 0);
    // To rows that are there.
    engine.fill(&[("notes", 30)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 30);
    engine.run("DELETE FROM users");
    let why = engine.fill(&[("notes", 30)]).expect_err("no row is there").to_string();
    assert!(why.contains("notes (what)") && why.contains("users (small)"), "{why}");
}

#[test]
fn rules_on_computed_columns_hold_or_are_named() {
    let engines = [Some(Engine::sqlite(SQL)), Engine::postgres(SQL), Engine::mariadb(SQL)];
    for engine in engines.into_iter().flatten() {
        rules_on_computed_columns_hold(&engine);
    }
}
