//! Rules of uniqueness that hold for some rows only, or for expressions.

use super::engine::Engine;

const SQL: &str = "
CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(40));
CREATE TABLE carts (user_id INTEGER NOT NULL REFERENCES users(id), bought_at TIMESTAMP);
CREATE UNIQUE INDEX one_open ON carts (user_id) WHERE bought_at IS NULL;
CREATE TABLE mails (box INTEGER NOT NULL, address VARCHAR(60) NOT NULL);
CREATE UNIQUE INDEX no_twins ON mails (lower(address));
INSERT INTO users VALUES (1, 'Ann');
INSERT INTO carts VALUES (1, '2024-01-01 00:00:00');
INSERT INTO carts VALUES (1, '2024-01-02 00:00:00');
INSERT INTO mails VALUES (1, 'Ann7@example.com');
";

/// Rows that are not told apart by such a rule are not taken for those that were written.
fn no_row_is_known_by_them(engine: &Engine) {
    engine.fill(&[("users", 50), ("carts", 40), ("mails", 200)]).expect("a fill");
    assert_eq!(engine.number("SELECT count(DISTINCT lower(address)) FROM mails"), 200);
    engine.clean().expect("it goes");
    let dates = engine.rows("SELECT bought_at FROM carts ORDER BY bought_at");
    assert_eq!(dates.len(), 2, "{dates:?}");
    assert_eq!(engine.number("SELECT count(*) FROM mails"), 1);
    // More than one for each parent is what the rule allows, if all are bought.
    engine.run("UPDATE carts SET user_id = 1");
    for number in 3..40 {
        engine.run(&format!(
            "INSERT INTO carts VALUES (1, '2024-01-{:02} 00:00:00')",
            number % 28 + 1
        ));
    }
    engine.fill(&[("users", 50), ("carts", 400)]).expect("a fill");
    engine.clean().expect("it goes");
}

#[test]
fn sqlite_knows_no_row_by_partial_rules() {
    no_row_is_known_by_them(&Engine::sqlite(SQL));
}

#[test]
fn postgres_rows_exclude_no_others() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE lots (id int PRIMARY KEY, shelf int NOT NULL, level int NOT NULL,
  EXCLUDE USING btree (shelf WITH =));
CREATE TABLE moves (id int PRIMARY KEY, bay varchar(12) NOT NULL, EXCLUDE USING hash (bay WITH =));
INSERT INTO lots VALUES (1, 5, 1);
INSERT INTO moves VALUES (1, 'north 1');",
    ) else {
        return;
    };
    engine.fill(&[("lots", 4000), ("moves", 4000)]).expect("a fill");
    assert_eq!(engine.number("SELECT count(DISTINCT shelf) FROM lots"), 4000);
    assert_eq!(engine.clean().expect("it goes"), 7998);
}

#[test]
fn postgres_exclusions_by_other_operators_are_met_or_named() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE calls (id int PRIMARY KEY, from_at timestamp NOT NULL, to_at timestamp NOT NULL,
  CONSTRAINT one_line EXCLUDE USING gist (tsrange(from_at, to_at) WITH &&));
CREATE TABLE shifts (id int PRIMARY KEY, during tsrange, EXCLUDE USING gist (during WITH &&));
INSERT INTO shifts SELECT n, tsrange(timestamp '2024-01-01' + n * interval '1 hour',
  timestamp '2024-01-01' + (n + 1) * interval '1 hour') FROM generate_series(1, 40) AS n;",
    ) else {
        return;
    };
    let why = engine.fill(&[("calls", 30)]).expect_err("they overlap").to_string();
    assert!(why.starts_with("calls: the rule one_line cannot be met"), "{why}");
    engine.fill(&[("shifts", 300)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 260);
}

#[test]
fn postgres_rows_share_no_null_where_it_is_a_value() {
    let Some(engine) = Engine::postgres("CREATE TABLE nodes (id int PRIMARY KEY, name text)")
    else {
        return;
    };
    // Servers before version 15 do not know it.
    if engine.number("SELECT current_setting('server_version_num')") < 150_000 {
        return;
    }
    engine.run("ALTER TABLE nodes ADD next int UNIQUE NULLS NOT DISTINCT REFERENCES nodes");
    engine.run("INSERT INTO nodes VALUES (1, 'first', NULL)");
    engine.fill(&[("nodes", 300)]).expect("a fill");
    assert_eq!(engine.number("SELECT count(*) FROM nodes WHERE next IS NULL"), 1);
    assert_eq!(engine.clean().expect("it goes"), 299);
}

#[test]
fn postgres_knows_no_row_by_partial_rules() {
    let with = "CREATE TABLE wide (a INTEGER NOT NULL, b INTEGER NOT NULL);\n\
                CREATE UNIQUE INDEX covering ON wide (a) INCLUDE (b);\n";
    let Some(engine) = Engine::postgres(&format!("{SQL}{with}")) else { return };
    no_row_is_known_by_them(&engine);
    engine.fill(&[("wide", 300)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 300);
}
