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
        let sql =
            format!("SELECT count(*) FROM hosts WHERE CAST({column} AS CHAR) LIKE '{pattern}'");
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

#[test]
fn domains_of_domains_are_what_all_of_them_say() {
    let Some(engine) = Engine::postgres(
        "CREATE DOMAIN code AS varchar(6) NOT NULL CHECK (length(VALUE) >= 4);
CREATE DOMAIN loud_code AS code CHECK (VALUE = upper(VALUE));
CREATE DOMAIN portion AS numeric(4,2) CHECK (VALUE >= 0);
CREATE DOMAIN reduction AS portion CHECK (VALUE <= 10);
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN some_mood AS mood;
CREATE DOMAIN any_mood AS some_mood;
CREATE TABLE coupons (id int PRIMARY KEY, code loud_code, cut reduction NOT NULL, mood any_mood NOT NULL);",
    ) else {
        return;
    };
    fill_twice(&engine, &[("coupons", 300)], &[("coupons", 900)]);
    let of = "code = upper(code) AND length(code) BETWEEN 4 AND 6 AND cut BETWEEN 0 AND 10";
    assert_eq!(engine.number(&format!("SELECT count(*) FROM coupons WHERE {of}")), 900);
    assert_eq!(engine.number("SELECT count(DISTINCT mood) FROM coupons"), 2);
    assert_eq!(engine.clean().expect("it goes"), 900);
}

#[test]
fn single_bits_are_yes_or_no() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE users (id INT PRIMARY KEY, active BIT(1) NOT NULL, old BIT(1) NOT NULL DEFAULT b'0', seen BIT(1));",
    ) else {
        return;
    };
    engine.fill(&[("users", 400)]).expect("a fill");
    let share = |column: &str| engine.number(&format!("SELECT sum({column} + 0) FROM users"));
    assert!((100..300).contains(&share("active")) && share("old") < 100, "{}", share("old"));
    engine.clean().expect("it goes");
    for number in 0..40 {
        engine.run(&format!("INSERT INTO users VALUES ({number}, b'1', b'0', NULL)"));
    }
    engine.fill(&[("users", 400)]).expect("a fill");
    assert_eq!((share("active"), share("old")), (400, 0));
    assert_eq!(engine.clean().expect("it goes"), 360);
}

#[test]
fn several_bits_are_a_number() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE flags (id INT PRIMARY KEY, five BIT(5) NOT NULL, more BIT(64) NOT NULL, own BIT(20) UNIQUE);
CREATE TABLE known (five BIT(5) NOT NULL, more BIT(64) NOT NULL);
INSERT INTO known SELECT seq % 3 * 7, 18446744073709551610 + seq % 3 FROM seq_1_to_60;",
    ) else {
        return;
    };
    fill_twice(&engine, &[("flags", 300), ("known", 100)], &[("flags", 600), ("known", 150)]);
    assert!(engine.number("SELECT count(DISTINCT five + 0) FROM flags") > 20);
    assert_eq!(engine.number("SELECT count(DISTINCT own + 0) FROM flags"), 600);
    let values =
        "five IN (0, 7, 14) AND more BETWEEN 18446744073709551610 AND 18446744073709551612";
    assert_eq!(engine.number(&format!("SELECT count(*) FROM known WHERE {values}")), 150);
    assert_eq!(engine.clean().expect("it goes"), 690);
}

#[test]
fn geometries_are_those_that_are_there() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE places (id INT PRIMARY KEY, at POINT NOT NULL, area GEOMETRY);
CREATE TABLE ways (name VARCHAR(9), way LINESTRING NOT NULL);
INSERT INTO places SELECT seq, POINT(seq % 9, 0.1), IF(seq % 2, ST_GeomFromText('POINT(1 2)', 4326), NULL)
  FROM seq_1_to_60;
INSERT INTO ways SELECT 'a', ST_GeomFromText('LINESTRING(0 0,1 1)') FROM seq_1_to_60;
CREATE TABLE others (id INT PRIMARY KEY, at POINT NOT NULL);",
    ) else {
        return;
    };
    engine.fill(&[("places", 300), ("ways", 80)]).expect("a fill");
    let own =
        "ST_X(at) BETWEEN 0 AND 8 AND ST_Y(at) = 0.1 AND (area IS NULL OR ST_SRID(area) = 4326)";
    assert_eq!(engine.number(&format!("SELECT count(*) FROM places WHERE {own}")), 300);
    assert_eq!(engine.clean().expect("it goes"), 260);
    let why = engine.fill(&[("others", 9)]).expect_err("none is there").to_string();
    assert!(why.starts_with("others.at: values of the type point cannot be made up"), "{why}");
}

#[test]
fn texts_whose_beginnings_have_to_differ_do() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE pages (id INT PRIMARY KEY, url TEXT NOT NULL, title VARCHAR(80) NOT NULL,
  UNIQUE by_url (url(16)), UNIQUE by_title (title(8)));",
    ) else {
        return;
    };
    engine.fill(&[("pages", 3000)]).expect("a fill");
    assert_eq!(engine.number("SELECT count(DISTINCT left(title, 8)) FROM pages"), 3000);
    assert_eq!(engine.clean().expect("it goes"), 3000);
}

#[test]
fn a_second_fill_goes_on_with_the_numbers_of_texts_of_a_pattern() {
    let engine = Engine::sqlite(
        "CREATE TABLE shelves (id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE CHECK (place LIKE '__-AB'));
CREATE TABLE goods (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE CHECK (code LIKE '%-EU'),
  number TEXT NOT NULL UNIQUE CHECK (number LIKE '___-___'));
",
    );
    fill_twice(
        &engine,
        &[("shelves", 40), ("goods", 3_000)],
        &[("shelves", 100), ("goods", 6_000)],
    );
    assert_eq!(engine.number("SELECT count(DISTINCT place) FROM shelves"), 100);
    assert_eq!(engine.clean().expect("it goes"), 6_100);
}
