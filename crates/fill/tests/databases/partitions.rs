//! Partitioned tables that are empty: rows have to be such that a partition takes them.

use super::engine::Engine;

const SQL: &str = "
CREATE TABLE visits (id bigserial, region text NOT NULL, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE visits_eu PARTITION OF visits FOR VALUES IN ('eu', 'uk');
CREATE TABLE visits_us PARTITION OF visits FOR VALUES IN ('us');
CREATE TABLE events (id bigint GENERATED ALWAYS AS IDENTITY, created_at timestamptz NOT NULL)
  PARTITION BY RANGE (created_at);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2010-01-01') TO ('2010-02-01');
CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM ('2010-02-01') TO ('2010-03-01');
CREATE TABLE orders (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (5000) TO (9000);
CREATE TABLE pairs (a int NOT NULL, b int NOT NULL) PARTITION BY RANGE (a, b);
CREATE TABLE pairs_1 PARTITION OF pairs FOR VALUES FROM (1, 5) TO (10, 3);
CREATE TABLE days (kind text NOT NULL, day date NOT NULL) PARTITION BY LIST (kind);
CREATE TABLE days_a PARTITION OF days FOR VALUES IN ('a') PARTITION BY RANGE (day);
CREATE TABLE days_a_1 PARTITION OF days_a FOR VALUES FROM ('2030-01-01') TO ('2030-07-01');
CREATE TABLE days_b PARTITION OF days FOR VALUES IN ('b') PARTITION BY RANGE (day);
CREATE TABLE days_b_1 PARTITION OF days_b FOR VALUES FROM ('2030-07-01') TO ('2031-01-01');
CREATE TABLE hashed (id int NOT NULL) PARTITION BY HASH (id);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE others (day date NOT NULL) PARTITION BY RANGE (day);
CREATE TABLE others_1 PARTITION OF others FOR VALUES FROM ('2030-01-01') TO ('2030-07-01');
CREATE TABLE others_0 PARTITION OF others DEFAULT;
";

#[test]
fn rows_are_such_that_a_partition_takes_them() {
    let Some(engine) = Engine::postgres(SQL) else { return };
    let tables = ["visits", "events", "orders", "pairs", "days", "hashed", "others"];
    engine.fill(&tables.map(|table| (table, 600))).expect("a fill");
    for part in ["visits_eu", "visits_us", "events_1", "events_2", "days_a_1", "days_b_1"] {
        let rows = engine.number(&format!("SELECT count(*) FROM {part}"));
        assert!((60..=540).contains(&rows), "{part}: {rows}");
    }
    assert!(engine.number("SELECT count(DISTINCT created_at::date) FROM events") > 40);
    assert!(engine.number("SELECT count(*) FROM others_0") > 500);
    // What the fill made does not depend on partitions that come later.
    engine.run("CREATE TABLE visits_jp PARTITION OF visits FOR VALUES IN ('jp');\n");
    engine.clean().expect("it goes");
    assert_eq!(engine.number("SELECT count(*) FROM visits"), 0);
    assert_eq!(engine.number("SELECT count(*) FROM orders"), 0);
}

/// A `real` is equal to no number that is written with a point.
#[test]
fn rows_of_partitions_are_found_by_keys_of_several_types() {
    let Some(engine) = Engine::postgres(
        "CREATE TYPE state AS ENUM ('new', 'it''s old');
CREATE DOMAIN amount AS int CHECK (value > 0);
CREATE TABLE parts (id bigserial, day date NOT NULL, code uuid NOT NULL, ratio real NOT NULL, state state NOT NULL,
  name char(4) NOT NULL, bytes bytea NOT NULL, price numeric(8,2) NOT NULL, amount amount NOT NULL,
  at timestamptz NOT NULL, PRIMARY KEY (id, day, code, ratio, state, name, bytes, price, amount, at))
  PARTITION BY RANGE (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2000-01-01') TO ('2015-01-01');
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2015-01-01') TO ('2040-01-01');",
    ) else {
        return;
    };
    engine.fill(&[("parts", 1200)]).expect("each is found by its key");
    assert_eq!(engine.clean().expect("it goes"), 1200);
    assert_eq!(engine.number("SELECT count(*) FROM parts"), 0);
}

#[test]
fn rows_are_such_that_a_partition_of_mariadb_takes_them() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE years (id INT AUTO_INCREMENT, day DATE NOT NULL, PRIMARY KEY (id, day))
  PARTITION BY RANGE (YEAR(day)) (PARTITION p0 VALUES LESS THAN (2010), PARTITION p1 VALUES LESS THAN (2012));
CREATE TABLE days (id INT AUTO_INCREMENT, at DATETIME NOT NULL, PRIMARY KEY (id, at))
  PARTITION BY RANGE COLUMNS (at) (PARTITION p0 VALUES LESS THAN ('2012-01-01'));
CREATE TABLE kinds (id INT AUTO_INCREMENT, kind INT NOT NULL, PRIMARY KEY (id, kind))
  PARTITION BY LIST (kind) (PARTITION p0 VALUES IN (1, 2), PARTITION p1 VALUES IN (7));
CREATE TABLE names (id INT AUTO_INCREMENT, name VARCHAR(9) NOT NULL, PRIMARY KEY (id, name))
  PARTITION BY LIST COLUMNS (name) (PARTITION p0 VALUES IN ('a', 'b'), PARTITION p1 VALUES IN ('c,d'));
CREATE TABLE pairs (a INT NOT NULL, b INT NOT NULL)
  PARTITION BY RANGE COLUMNS (a, b) (PARTITION p0 VALUES LESS THAN (20, MAXVALUE));",
    ) else {
        return;
    };
    let tables = ["years", "days", "kinds", "names", "pairs"];
    engine.fill(&tables.map(|table| (table, 300))).expect("a fill");
    assert_eq!(engine.number("SELECT count(DISTINCT kind) FROM kinds"), 3);
    assert_eq!(engine.number("SELECT count(DISTINCT name) FROM names"), 3);
    assert!(engine.number("SELECT count(DISTINCT day) FROM years") > 100);
}

#[test]
fn tables_whose_partitions_take_no_row_are_refused_by_name() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE bare (id int) PARTITION BY LIST (id);
CREATE TABLE small (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE small_1 PARTITION OF small FOR VALUES FROM (1) TO (100);",
    ) else {
        return;
    };
    let why = engine.fill(&[("bare", 10)]).expect_err("no partition").to_string();
    assert!(why.starts_with("bare: its condition to fit a partition allows no row"), "{why}");
    let why = engine.fill(&[("small", 200)]).expect_err("99 numbers").to_string();
    assert!(why.contains("has room for 99"), "{why}");
    engine.fill(&[("small", 99)]).expect("a fill");
}
