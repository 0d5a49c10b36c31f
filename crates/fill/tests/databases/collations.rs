//! Unique texts under collations that ignore case, accents or blanks at the end.

use super::engine::Engine;

/// `TEXT` stands for the type of texts, with its collation.
const SQL: &str = "CREATE TABLE houses (id INT PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE drinks (house INT NOT NULL REFERENCES houses (id), name TEXT NOT NULL
  CHECK (name IN ('cafe', 'caf\u{e9}', 'CAFE', 'tea', 'tea ')), PRIMARY KEY (house, name));
CREATE TABLE codes (code TEXT PRIMARY KEY CHECK (char_length(code) <= 2), n INT);
INSERT INTO codes VALUES ('\u{e9}', 1), ('A\u{c0}', 2), ('bb', 3), ('C', 4);
CREATE TABLE lands (code TEXT PRIMARY KEY);
INSERT INTO lands VALUES ('DE'), ('fr'), ('It'), ('\u{e9}s');
CREATE TABLE capitals (code TEXT PRIMARY KEY, n INT, FOREIGN KEY (code) REFERENCES lands (code));
INSERT INTO capitals VALUES ('de', 1), ('FR', 2);
";

/// Fills all there is room for, with texts of this type; `drinks` are those that a house may have.
#[track_caller]
fn is_filled(engine: &Engine, kind: &str, drinks: u64) {
    engine.run(&SQL.replace("TEXT", kind));
    engine.fill(&[("houses", 50), ("drinks", 50 * drinks)]).expect("a fill");
    engine.fill(&[("codes", 600)]).expect("a fill");
    engine.fill(&[("capitals", 4)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 50 + 50 * drinks + 596 + 2);
    engine.run("DROP TABLE drinks, houses, codes, capitals, lands");
}

#[test]
fn unique_texts_are_different_under_collations_of_mariadb() {
    let Some(engine) = Engine::mariadb("SELECT 1;") else { return };
    for (collation, drinks) in [
        ("utf8mb4_uca1400_ai_ci", 2),
        ("utf8mb4_uca1400_nopad_ai_ci", 3),
        ("utf8mb4_general_ci", 2),
        ("utf8mb4_uca1400_as_ci", 3),
    ] {
        let kind = format!("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE {collation}");
        is_filled(&engine, &kind, drinks);
    }
    // I and J are the same to it, and U and V.
    engine.run("CREATE TABLE codes (code CHAR(1) COLLATE utf8mb4_roman_ci PRIMARY KEY)");
    engine.fill(&[("codes", 24)]).expect("a fill");
    assert_eq!(engine.clean().expect("it goes"), 24);
    let why = engine.fill(&[("codes", 25)]).expect_err("there are 24").to_string();
    assert!(why.contains("has room for 24"), "{why}");
}

#[test]
fn unique_texts_are_different_under_collations_of_postgres() {
    let Some(engine) = Engine::postgres("SELECT 1;") else { return };
    for (level, drinks) in [(1, 3), (2, 4)] {
        engine.run(&format!(
            "CREATE COLLATION folding{level} (provider = icu, locale = 'und-u-ks-level{level}', deterministic = false)"
        ));
        is_filled(&engine, &format!("varchar(20) COLLATE folding{level}"), drinks);
    }
}
