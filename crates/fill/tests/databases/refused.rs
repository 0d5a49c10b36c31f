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
