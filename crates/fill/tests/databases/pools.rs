//! Values that requests ask for.

use fill::{PoolColumn, Request, Wish};

use super::engine::Engine;

#[test]
fn values_that_a_column_cannot_hold_are_counted() {
    let engine = Engine::sqlite(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(3), token UUID);\n",
    );
    let database = &mut *engine.connect();
    let schema = database.schema().expect("a schema");
    let pool = |column: &str, values: &[&str]| {
        let values = values.iter().map(|value| ((*value).to_owned(), 1.0)).collect();
        PoolColumn { pool: "items".into(), column: column.into(), values }
    };
    let request = Request {
        wish: Wish { rows: vec![("items".to_owned(), 20)], growth: None, only: true },
        seed: 1,
        locale: "en".to_owned(),
        until: 1_700_006_400_000_000,
        batch: 100,
        pools: vec![
            (pool("id", &["7", "9223372036854775808", "x"]), (0, 0)),
            (pool("name", &["abc"]), (0, 1)),
            (pool("token", &["6F9619FF-8B86-D011-B42D-00C04FC964FF", &"z".repeat(36)]), (0, 2)),
        ],
    };
    let survey = fill::survey(database, &schema, &request).expect("a survey");
    assert_eq!(survey.unfit, [((0, 0), 2), ((0, 2), 1)]);
}

const SQL: &str = "CREATE TABLE categories (slug VARCHAR(40) PRIMARY KEY, name VARCHAR(40));
INSERT INTO categories VALUES ('hats', 'Hats');";

/// Slugs as a log has them.
fn filled(engine: &Engine) -> i64 {
    let values = [("Shoes", 5.0), ("shoes", 3.0), ("HATS", 2.0)];
    let values = values.map(|(value, weight)| (value.to_owned(), weight)).to_vec();
    let pool = PoolColumn { pool: "categories".into(), column: "slug".into(), values };
    let change = |request: &mut Request| request.pools.push((pool, (0, 0)));
    engine.fill_with(&[("categories", 20)], change).expect("a fill");
    assert_eq!(engine.number("SELECT count(*) FROM categories"), 20);
    let found =
        engine.number("SELECT count(*) FROM categories WHERE lower(slug) IN ('shoes', 'hats')");
    assert_eq!(engine.clean().expect("it goes"), 19);
    found
}

#[test]
fn the_case_of_letters_counts_where_the_database_counts_it() {
    if let Some(engine) = Engine::mariadb(SQL) {
        assert_eq!(filled(&engine), 2);
    }
    let binary = SQL.replace("(40) PRIMARY", "(40) COLLATE utf8mb4_bin PRIMARY");
    if let Some(engine) = Engine::mariadb(&binary) {
        assert_eq!(filled(&engine), 4);
    }
    let nocase = SQL.replace("(40) PRIMARY", "(40) COLLATE NOCASE PRIMARY");
    assert_eq!(filled(&Engine::sqlite(&nocase)), 2);
    assert_eq!(filled(&Engine::sqlite(SQL)), 4);
    if let Some(engine) = Engine::postgres(SQL) {
        assert_eq!(filled(&engine), 4);
    }
    let folding = format!(
        "CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n{}",
        SQL.replace("(40) PRIMARY", "(40) COLLATE folding PRIMARY")
    );
    if let Some(engine) = Engine::postgres(&folding) {
        assert_eq!(filled(&engine), 2);
    }
}

#[test]
fn texts_are_the_same_as_the_collation_of_mariadb_says() {
    let sql = "CREATE TABLE cafes (slug VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci PRIMARY KEY);
INSERT INTO cafes VALUES (x'72656ee9');";
    let Some(engine) = Engine::mariadb(sql) else { return };
    let values = ["RENE", "caf\u{e9}", "cafe", "caf\u{e9} ", "\u{65e5}\u{672c}", "a\0b"];
    let values: Vec<(String, f64)> = values.map(|value| (value.to_owned(), 1.0)).to_vec();
    let pool = PoolColumn { pool: "cafes".into(), column: "slug".into(), values };
    let mut unfit = 0;
    let change = |request: &mut Request| {
        let database = &mut *engine.connect();
        request.pools.push((pool, (0, 0)));
        let schema = database.schema().expect("a schema");
        unfit = fill::survey(database, &schema, request).expect("a survey").unfit[0].1;
    };
    engine.fill_with(&[("cafes", 20)], change).expect("a fill");
    assert_eq!(unfit, 2, "one has letters that latin1 has not, one a zero byte");
    assert_eq!(engine.number("SELECT count(*) FROM cafes WHERE slug = 'cafe'"), 1);
    assert_eq!(engine.clean().expect("it goes"), 19);
}

#[test]
fn blanks_at_the_end_make_a_difference_where_the_database_says_so() {
    let sql = "CREATE TABLE codes (code VARCHAR(9) PRIMARY KEY, name VARCHAR(40));";
    let nopad = "(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PRIMARY";
    let engines = [
        Some(Engine::sqlite(sql)),
        Engine::postgres(sql),
        Engine::mariadb(&sql.replace("(9) PRIMARY", nopad)),
    ];
    for engine in engines.into_iter().flatten() {
        asked_for(&engine, &["ab", "ab ", "ab  "], 20);
        let found = "SELECT count(*) FROM codes WHERE code IN ('ab', 'ab ', 'ab  ')";
        assert_eq!(engine.number(found), 3);
        assert_eq!(engine.clean().expect("each is known again"), 20);
    }
}

#[test]
fn texts_of_a_regular_expression_that_are_asked_for_are_not_made_again() {
    let sql = "CREATE TABLE codes (code VARCHAR(9) PRIMARY KEY CHECK (code ~ '^[A-Z]-[0-9]{2}$'), n INT);";
    let Some(engine) = Engine::postgres(sql) else { return };
    asked_for(&engine, &["A-03", "B-05"], 20);
    assert_eq!(engine.number("SELECT count(*) FROM codes WHERE code IN ('A-03', 'B-05')"), 2);
    assert_eq!(engine.clean().expect("it goes"), 20);
}

#[test]
fn texts_that_are_asked_for_are_not_made_up_once_more() {
    let codes = "CREATE TABLE codes (code CHAR(1) PRIMARY KEY, n INT);";
    let numbers = "CREATE TABLE codes (code VARCHAR(9) PRIMARY KEY, n INT);
INSERT INTO codes SELECT g, g FROM generate_series(1, 20) g;";
    let tables = [(codes, ["A", "K", "T"]), (numbers, ["21", "23", "300"])];
    for (sql, values) in tables {
        let Some(engine) = Engine::postgres(sql) else { return };
        asked_for(&engine, &values, 26);
        assert_eq!(engine.number("SELECT count(*) FROM codes"), 26);
    }
}

#[test]
fn blanks_at_the_end_make_no_difference_to_characters_of_postgres() {
    let sql = "CREATE TABLE codes (code CHAR(6) PRIMARY KEY, n INT);
INSERT INTO codes VALUES ('ab', 1);";
    let Some(engine) = Engine::postgres(sql) else { return };
    asked_for(&engine, &["ab", "cd"], 20);
    assert_eq!(engine.number("SELECT count(*) FROM codes WHERE code IN ('ab', 'cd')"), 2);
    assert_eq!(engine.clean().expect("it goes"), 19);
}

#[test]
fn nocase_of_sqlite_folds_the_letters_of_ascii_alone() {
    let sql = "CREATE TABLE codes (code VARCHAR(9) COLLATE NOCASE PRIMARY KEY, n INT);
INSERT INTO codes VALUES ('\u{e9}t\u{e9}', 1);";
    let engine = Engine::sqlite(sql);
    asked_for(&engine, &["\u{c9}t\u{e9}", "\u{dc}ber", "\u{fc}ber", "Abc", "abc"], 20);
    let found = "SELECT count(*) FROM codes WHERE code IN ('\u{c9}t\u{e9}', '\u{dc}ber', '\u{fc}ber', 'ABC')";
    assert_eq!(engine.number(found), 4);
    assert_eq!(engine.clean().expect("it goes"), 19);
}

/// Fills a table to so many rows, among which are those that requests ask for.
fn asked_for(engine: &Engine, values: &[&str], rows: u64) {
    let values = values.iter().map(|value| ((*value).to_owned(), 1.0)).collect();
    let pool = PoolColumn { pool: "codes".into(), column: "code".into(), values };
    let change = |request: &mut Request| request.pools.push((pool, (0, 0)));
    engine.fill_with(&[("codes", rows)], change).expect("a fill");
}
