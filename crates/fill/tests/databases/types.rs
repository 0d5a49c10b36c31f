//! Columns of types that only some databases have.

use super::engine::Engine;

/// Fills twice, so that unique values of the second fill have those of the first beside them.
#[track_caller]
fn fill_twice(engine: &Engine, small: &[(&str, u64)], large: &[(&str, u64)]) {
    engine.fill(small).expect("a fill");
    engine.fill(large).expect("another one upon it");
}

#[test]
fn mariadb_gets_addresses_and_uuids_of_its_types() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE hosts (id UUID PRIMARY KEY, six INET6 NOT NULL UNIQUE, four INET4 NOT NULL UNIQUE,
  seen INET6, seen_4 INET4, tag UUID);
CREATE TABLE visits (id BIGINT PRIMARY KEY, host UUID NOT NULL, via INET6 NOT NULL,
  FOREIGN KEY (host) REFERENCES hosts(id), FOREIGN KEY (via) REFERENCES hosts(six));",
    ) else {
        return;
    };
    fill_twice(&engine, &[("hosts", 300), ("visits", 900)], &[("hosts", 600), ("visits", 2000)]);
    let of = |column: &str, pattern: &str| {
        let sql = format!("SELECT count(*) FROM hosts WHERE CAST({column} AS CHAR) LIKE '{pattern}'");
        engine.number(&sql)
    };
    for (column, pattern) in [
        ("six", "fd%:%"),
        ("four", "10.%"),
        ("seen", "2001:db8:%"),
        ("seen_4", "198.1_.%"),
        ("tag", "________-____-4___-____-____________"),
    ] {
        assert_eq!(of(column, pattern), 600, "{column}");
    }
    assert_eq!(engine.clean().expect("it goes"), 2600);
}

#[test]
fn unique_addresses_of_postgres_go_on_where_those_that_are_there_end() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE hosts (id int PRIMARY KEY, ip inet NOT NULL UNIQUE);
INSERT INTO hosts VALUES (1, '10.0.0.9'), (2, '192.168.0.1'), (3, '::1'), (4, '10.0.1.0/24');",
    ) else {
        return;
    };
    fill_twice(&engine, &[("hosts", 300)], &[("hosts", 900)]);
    assert_eq!(engine.number("SELECT count(*) FROM hosts WHERE ip > '10.0.1.0'"), 898);
    assert_eq!(engine.clean().expect("it goes"), 896);
}
