//! What kind of failure a refusal is.

use fill::Error;

use super::engine::Engine;

#[test]
fn rows_that_a_rule_refuses_are_told_from_what_fails_otherwise() {
    let sql = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 5));\n\
               INSERT INTO a VALUES (1, 1);\n";
    let engines = [Some(Engine::sqlite(sql)), Engine::postgres(sql), Engine::mariadb(sql)];
    for engine in engines.into_iter().flatten() {
        let mut database = engine.connect();
        let mut refused = |sql: &str| database.execute(sql).expect_err("it is refused");
        for row in ["1, 1", "2, NULL", "2, 7"] {
            let error = refused(&format!("INSERT INTO a VALUES ({row})"));
            assert!(matches!(error, Error::Rule(_)), "{row}: {error:?}");
        }
        let error = refused("INSERT INTO no_table VALUES (1)");
        assert!(matches!(error, Error::Database(_)), "{error:?}");
    }
}

/// The server waits for the rest of the rows meanwhile.
#[test]
fn a_row_that_cannot_be_made_is_told_by_its_condition() {
    let sql = "CREATE TABLE a (id INT PRIMARY KEY, p INT NOT NULL, q INT NOT NULL, CONSTRAINT c CHECK (p * q = 123456789));";
    let Some(engine) = Engine::mariadb(sql) else { return };
    let why = engine.fill(&[("a", 50)]).expect_err("no row meets it").to_string();
    assert!(why.contains("no row that meets the condition"), "{why}");
    assert_eq!(engine.number("SELECT count(*) FROM a"), 0);
}

/// Such as a connection that ends: the rows are not to blame.
#[test]
fn what_fails_while_rows_are_tried_is_no_refusal_of_them() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE a (id int PRIMARY KEY); \
         CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN RAISE EXCEPTION ''going down'' USING ERRCODE = ''57P01''; END'; \
         CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()",
    ) else {
        return;
    };
    let error = engine.fill(&[("a", 5)]).expect_err("it fails");
    assert!(matches!(error, Error::Database(_)), "{error:?}");
    assert!(error.to_string().starts_with("nothing was written: going down"), "{error}");
}
