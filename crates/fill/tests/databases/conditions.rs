//! Conditions that are met by how rows are made.

use super::engine::Engine;

const SQL: &str = "
CREATE TABLE parts (id BIGINT PRIMARY KEY, x INT NOT NULL CHECK (x >= 0), y INT NOT NULL CHECK (y >= 0),
  price INT NOT NULL, amount SMALLINT NOT NULL, total BIGINT NOT NULL DEFAULT 0, even INT NOT NULL UNIQUE,
  step INT NOT NULL UNIQUE, CHECK (x + y = 100), CHECK (total = price * amount), CHECK (even % 2 = 0),
  CHECK (step % 1009 = 5), CHECK (step % 70 = 15));
";

#[test]
fn rows_meet_conditions_between_columns_and_on_remainders() {
    let engines = [Some(Engine::sqlite(SQL)), Engine::postgres(SQL), Engine::mariadb(SQL)];
    for engine in engines.into_iter().flatten() {
        // The second time to go on from what is there.
        for rows in [3000, 5000] {
            engine.fill(&[("parts", rows)]).expect("a fill");
            assert_eq!(engine.number("SELECT count(*) FROM parts"), rows as i64);
        }
        assert!(engine.number("SELECT count(DISTINCT x) FROM parts") > 50);
        assert!(engine.number("SELECT count(DISTINCT total) FROM parts") > 50);
        assert_eq!(engine.clean().expect("all of it goes"), 5000);
    }
}

#[test]
fn what_no_row_can_meet_is_named_and_nothing_is_written() {
    let sql = "CREATE TABLE parts (id BIGINT PRIMARY KEY, x INT NOT NULL, y INT NOT NULL,
  CONSTRAINT add_up CHECK (x + y = 100), CONSTRAINT difference CHECK (x - y = 7));\n";
    let engines = [Some(Engine::sqlite(sql)), Engine::postgres(sql), Engine::mariadb(sql)];
    for engine in engines.into_iter().flatten() {
        let why = engine.fill(&[("parts", 300)]).expect_err("no row meets both").to_string();
        assert!(why.contains("difference of parts (x, y)"), "{why}");
        assert_eq!(engine.number("SELECT count(*) FROM parts"), 0);
    }
}

/// More than are listed of other texts under conditions.
#[test]
fn codes_that_a_condition_keeps_short_are_all_known() {
    let engine = Engine::sqlite(
        "CREATE TABLE codes (code TEXT PRIMARY KEY CHECK (length(code) = 3), n INT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
INSERT INTO codes SELECT char(65 + i / 676, 65 + i / 26 % 26, 65 + i % 26), 1 FROM n;",
    );
    engine.fill(&[("codes", 4000)]).expect("a fill");
    assert_eq!(engine.number("SELECT count(*) FROM codes"), 4000);
}

#[test]
fn texts_are_of_the_pattern_of_glob() {
    let engine = Engine::sqlite(
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE CHECK (sku GLOB 'SKU-*'));\n",
    );
    engine.fill(&[("parts", 2000)]).expect("a fill");
    assert_eq!(engine.number("SELECT count(*) FROM parts WHERE sku GLOB 'SKU-*'"), 2000);
}

#[test]
fn texts_are_of_regular_expressions() {
    let sql = "CREATE TABLE parts (id INT PRIMARY KEY,
  sku VARCHAR(9) NOT NULL UNIQUE CHECK (sku ~ '^[A-Z]{2}[0-9]{4}$'),
  color VARCHAR(20) NOT NULL CHECK (color ~ '^#[0-9a-f]{6}$'),
  note VARCHAR(20) NOT NULL CHECK (note ~ '^(red|green|light blue)$'),
  code VARCHAR(40) NOT NULL UNIQUE CHECK (char_length(code) = 24 AND code ~ '^[A-F0-9]+$'),
  serial VARCHAR(40) NOT NULL CHECK (char_length(serial) = 24 AND serial ~ '^[A-F]+$'));\n";
    let engines = [Engine::postgres(sql), Engine::mariadb(&sql.replace('~', "REGEXP"))];
    for engine in engines.into_iter().flatten() {
        // The second time between those that are there.
        for rows in [200, 400] {
            engine.fill(&[("parts", rows)]).expect("a fill");
            assert_eq!(engine.number("SELECT count(*) FROM parts"), rows as i64);
        }
        assert!(engine.number("SELECT count(DISTINCT color) FROM parts") > 100);
        assert_eq!(engine.number("SELECT count(DISTINCT note) FROM parts"), 3);
        assert_eq!(engine.clean().expect("all of it goes"), 400);
    }
}

#[test]
fn texts_are_of_patterns_of_glob_with_classes() {
    let engine = Engine::sqlite(
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE CHECK (sku GLOB '[A-Z][A-Z][0-9][0-9]-?'));\n",
    );
    for rows in [200, 400] {
        engine.fill(&[("parts", rows)]).expect("a fill");
        assert_eq!(engine.number("SELECT count(*) FROM parts"), rows as i64);
    }
}

#[test]
fn comparisons_bind_as_in_sqlite() {
    let engine = Engine::sqlite(
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, low BOOLEAN NOT NULL, n INT NOT NULL, CHECK (low = n < 500));\n",
    );
    engine.fill(&[("parts", 300)]).expect("a fill");
    assert!(engine.number("SELECT count(*) FROM parts WHERE low") > 50);
    assert!(engine.number("SELECT count(*) FROM parts WHERE NOT low") > 50);
}

#[test]
fn rows_meet_conditions_that_ask_what_is_null() {
    let sql = "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE firms (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE owners (id INT PRIMARY KEY, person INT, firm INT, kind VARCHAR(9) NOT NULL, tax INT,
  FOREIGN KEY (person) REFERENCES people (id), FOREIGN KEY (firm) REFERENCES firms (id),
  CHECK ((person IS NULL) <> (firm IS NULL)), CHECK (kind IN ('free', 'taxed')),
  CHECK ((kind = 'taxed') = (tax IS NOT NULL)));
";
    let engines = [Some(Engine::sqlite(sql)), Engine::postgres(sql), Engine::mariadb(sql)];
    for engine in engines.into_iter().flatten() {
        // The second time to go on from what is there.
        for rows in [200, 400] {
            let sizes = [("people", rows), ("firms", rows), ("owners", rows)];
            engine.fill(&sizes).expect("a fill");
        }
        for column in ["person", "firm", "tax"] {
            let sql = format!("SELECT count({column}) FROM owners");
            assert!((40..=360).contains(&engine.number(&sql)), "{column}");
        }
        assert_eq!(engine.clean().expect("all of it goes"), 1200);
    }
}
