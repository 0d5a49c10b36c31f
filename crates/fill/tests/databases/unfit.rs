//! Tables whose rows could not be taken back exactly.

use super::engine::Engine;

#[test]
fn mariadb_tables_with_a_history_are_refused_by_name() {
    let Some(engine) = Engine::mariadb(
        "CREATE TABLE prices (id BIGINT PRIMARY KEY, amount INT NOT NULL) WITH SYSTEM VERSIONING;
CREATE TABLE rates (id BIGINT PRIMARY KEY, from_at TIMESTAMP(6) GENERATED ALWAYS AS ROW START,
  to_at TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (from_at, to_at)) WITH SYSTEM VERSIONING;
CREATE TABLE orders (id BIGINT PRIMARY KEY, price BIGINT NOT NULL, FOREIGN KEY (price) REFERENCES prices(id));
INSERT INTO prices VALUES (1, 5), (2, 6);",
    ) else {
        return;
    };
    for table in ["prices", "rates"] {
        let why = engine.fill(&[(table, 10)]).expect_err("its history would stay").to_string();
        assert!(why.starts_with(&format!("{table}: it keeps the history of its rows")), "{why}");
        assert!(why.ends_with(&format!("--rows {table}=0)")), "{why}");
    }
    // Others may refer to its rows.
    engine.fill(&[("orders", 30)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 30);
    assert_eq!(engine.number("SELECT count(*) FROM prices FOR SYSTEM_TIME ALL"), 2);
}

#[test]
fn postgres_tables_that_show_other_rows_are_refused_by_name() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE animals (id int PRIMARY KEY);
CREATE TABLE cats (lives int) INHERITS (animals);
CREATE TABLE secrets (id int PRIMARY KEY);
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE ROLE shop;
GRANT ALL ON ALL TABLES IN SCHEMA public TO shop;",
    ) else {
        return;
    };
    let why = engine.fill(&[("animals", 10)]).expect_err("cats would go with them").to_string();
    assert!(why.starts_with("animals: other tables inherit from it"), "{why}");
    engine.fill(&[("cats", 30), ("secrets", 30)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 60);
    let database = &mut *engine.connect();
    database.execute("SET ROLE shop").expect("a role");
    let schema = database.schema().expect("a schema");
    let secrets = &schema.tables[schema.find("secrets").expect("it is there")];
    assert!(secrets.unfit.is_some_and(|why| why.contains("row level security")), "{secrets:?}");
}

#[test]
fn sqlite_tables_that_hide_the_numbers_of_rows_are_refused_by_name() {
    let engine = Engine::sqlite(
        "CREATE TABLE hidden (rowid TEXT, oid INT, _rowid_ INT);
CREATE TABLE keyed (rowid TEXT NOT NULL UNIQUE, oid INT, _rowid_ INT);
CREATE TABLE partly (rowid TEXT, oid INT);\n",
    );
    let why = engine.fill(&[("hidden", 10)]).expect_err("they are not told apart").to_string();
    assert!(why.starts_with("hidden: its rows have no key"), "{why}");
    engine.fill(&[("keyed", 10), ("partly", 10)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 20);
}

#[test]
fn rows_that_have_to_refer_to_themselves_are_refused_where_they_could_not_be_deleted() {
    let sql = "CREATE TABLE people (id INT PRIMARY KEY, boss INT NOT NULL, FOREIGN KEY (boss) REFERENCES people (id));
CREATE TABLE chain (id INT PRIMARY KEY, next INT NOT NULL UNIQUE, FOREIGN KEY (next) REFERENCES chain (id));";
    let Some(engine) = Engine::mariadb(sql) else { return };
    let first = ", or put a row into the table first, to which others can refer";
    for (table, column, more) in [("people", "boss", first), ("chain", "next", "")] {
        let why = engine.fill(&[(table, 30)]).expect_err("it would stay").to_string();
        let wanted = format!("let {table} ({column}) be NULL{more}");
        assert!(why.starts_with(table) && why.ends_with(&wanted), "{why}");
        assert_eq!(engine.number(&format!("SELECT count(*) FROM {table}")), 0);
    }
    engine.run("INSERT INTO people VALUES (1, 1)");
    engine.fill(&[("people", 30)]).expect("they refer to the first one");
    assert_eq!(engine.number("SELECT count(*) FROM people WHERE id = boss"), 1);
    assert_eq!(engine.clean().expect("it goes"), 29);
    if let Some(engine) = Engine::postgres(sql) {
        engine.fill(&[("people", 30), ("chain", 30)]).expect("a fill");
        assert_eq!(engine.clean().expect("it goes"), 60);
    }
}
