//! What databases refuse, in words that help: the condition's columns and the row; and nothing stays of what was tried.

use super::engines::Engine;
use crate::harness::Folder;

const RULE: &str = "CREATE TABLE b (id INTEGER PRIMARY KEY);\n\
    CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER NOT NULL, price INTEGER NOT NULL, other INTEGER, \
    CONSTRAINT my_rule CHECK (CASE WHEN price > 7000000 THEN 1 ELSE 0 END = 1), FOREIGN KEY (b) REFERENCES b(id))";

fn names_columns_and_row(engine: &Engine) {
    let before = engine.dump();
    let refused = engine.fill("--rows a=9 --rows b=5").ends(1);
    for words in ["my_rule", "a (price)", "nothing was written"] {
        assert!(refused.stderr.contains(words), "no `{words}`: {refused:#?}");
    }
    // PostgreSQL's own words show it: `Failing row contains (1, 1, 571, ...)`.
    let row = ["the row is (id 1, b ", "Failing row contains (1, "];
    assert!(row.iter().any(|row| refused.stderr.contains(row)), "{refused:#?}");
    assert_eq!(engine.dump(), before);
}

#[test]
fn a_condition_is_named_with_its_columns_and_the_row() {
    names_columns_and_row(&Engine::sqlite(RULE));
    if let Some(engine) = Engine::postgres(RULE) {
        names_columns_and_row(&engine);
    }
    if let Some(engine) = Engine::mariadb(RULE, true) {
        names_columns_and_row(&engine);
    }
}

#[test]
fn a_database_that_is_not_there_is_named_in_plain_words() {
    for url in ["mysql://root@127.0.0.1:1/x", "postgres://root@127.0.0.1:1/x"] {
        let ended = Folder::new().plimsoll(&format!("fill {url} --rows a=1")).ends(1);
        assert!(ended.stderr.contains("onnection refused"), "{ended:#?}");
        assert!(!ended.stderr.contains(" { "), "{ended:#?}");
    }
}

/// A file is marked by its path, of which its name is a part.
#[test]
fn what_marks_a_database_is_reported_once() {
    let folder = Folder::new();
    folder.put("prod.db", "");
    let path = folder.path().join("prod.db");
    for url in ["sqlite:prod.db".to_owned(), format!("sqlite:{}", path.display())] {
        let ended = folder.plimsoll(&format!("fill {url} --rows a=1")).ends(1);
        assert_eq!(ended.stderr.matches("contains `prod`").count(), 1, "{ended:#?}");
    }
}

#[test]
fn a_refused_fill_leaves_counters_alone() {
    // Some rows pass, and are counted, before one does not.
    let sql = "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, p INT NOT NULL, \
               CONSTRAINT my_rule CHECK (CASE WHEN p > 800 THEN 0 ELSE 1 END = 1));\nINSERT INTO a VALUES (3, 5)";
    let Some(engine) = Engine::mariadb(sql, true) else { return };
    let before = engine.dump();
    assert!(before.contains("AUTO_INCREMENT=4"), "{before}");
    let refused = engine.fill("--rows a=40").ends(1);
    assert!(refused.stderr.contains("nothing was written"), "{refused:#?}");
    assert_eq!(engine.dump(), before);
}

#[test]
fn what_one_row_in_a_hundred_breaks_is_found_before_anything_stays() {
    const RARE: &str = "CREATE TABLE a (id INTEGER PRIMARY KEY, p INTEGER NOT NULL, \
        CONSTRAINT rare CHECK (CASE WHEN p > 985 THEN 0 ELSE 1 END = 1))";
    let engines = [Some(Engine::sqlite(RARE)), Engine::postgres(RARE), Engine::mariadb(RARE, true)];
    for engine in engines.into_iter().flatten() {
        let before = engine.dump();
        let refused = engine.fill("--rows a=5000").ends(1);
        for words in ["rare", "a (p)", "nothing was written"] {
            assert!(refused.stderr.contains(words), "no `{words}`: {refused:#?}");
        }
        assert_eq!(engine.dump(), before);
    }
}

#[test]
fn what_is_looked_at_when_a_transaction_ends_is_tried_too() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE a (id int PRIMARY KEY); \
         CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''never''; END'; \
         CREATE CONSTRAINT TRIGGER t AFTER INSERT ON a DEFERRABLE INITIALLY DEFERRED FOR EACH ROW \
         EXECUTE FUNCTION f()",
    ) else {
        return;
    };
    let refused = engine.fill("--rows a=5").ends(1);
    for words in ["never", "nothing was written"] {
        assert!(refused.stderr.contains(words), "no `{words}`: {refused:#?}");
    }
}

/// Row 2500 is refused, which is not among those that are tried.
fn midway(engine: &Engine) {
    let before = engine.dump();
    let refused = engine.fill("--rows a=3000").ends(1);
    for words in ["no more", "--clean undoes it", "--resume would write the same rows"] {
        assert!(refused.stderr.contains(words), "no `{words}`: {refused:#?}");
    }
    assert!(engine.number("SELECT count(*) FROM a") < 2500.0);
    engine.fill("--clean").ok();
    assert_eq!(engine.dump(), before);
}

#[test]
fn a_row_that_is_refused_midway_is_not_to_be_tried_again() {
    const TABLE: &str = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER)";
    midway(&Engine::sqlite(&format!(
        "{TABLE};\nCREATE TRIGGER t BEFORE INSERT ON a WHEN NEW.id = 2500 BEGIN SELECT RAISE(ABORT, 'no more'); END"
    )));
    if let Some(engine) = Engine::postgres(&format!(
        "{TABLE}; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN IF NEW.id = 2500 THEN RAISE EXCEPTION ''no more''; END IF; RETURN NEW; END'; \
         CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()"
    )) {
        midway(&engine);
    }
    if let Some(engine) = Engine::mariadb(
        &format!(
            "{TABLE};\nDELIMITER //\nCREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW IF NEW.id = 2500 THEN \
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more'; END IF//"
        ),
        true,
    ) {
        midway(&engine);
    }
}

#[test]
fn a_circle_is_refused_whenever_its_rules_are_checked() {
    let Some(engine) = Engine::postgres(
        "CREATE TABLE a (id int PRIMARY KEY, b int NOT NULL);\n\
         CREATE TABLE b (id int PRIMARY KEY, a int NOT NULL REFERENCES a DEFERRABLE INITIALLY DEFERRED);\n\
         ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b DEFERRABLE INITIALLY DEFERRED",
    ) else {
        return;
    };
    let refused = engine.fill("--rows a=5 --rows b=5").ends(1);
    for words in ["circle", "even where a rule is checked at the end of a transaction", "a (b)"] {
        assert!(refused.stderr.contains(words), "no `{words}`: {refused:#?}");
    }
}

#[test]
fn rows_of_others_under_keys_of_the_fill_are_left_and_named() {
    let engine =
        Engine::sqlite("CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR(80) NOT NULL)");
    let other = "INSERT INTO users VALUES (20, 'eve@example.org')";
    engine.fill("--rows users=300").ok();
    engine.run("DELETE FROM users WHERE id IN (20, 21)");
    engine.run(other);
    let told = engine.fill("--clean").ends(1);
    let words =
        "users: left 1 row under keys of the fill with values that it did not write: (id 20)";
    assert!(told.stderr.contains(words), "{told:#?}");
    let refused = engine.fill("--rows users=300").ends(2);
    let words = "--clean of an earlier fill left rows of others under its keys";
    assert!(refused.stderr.contains(words), "{refused:#?}");
    let kept = engine.fill("--clean --replaced keep").ok();
    assert!(kept.stderr.contains("1 row of others under keys of the fill left"), "{kept:#?}");
    assert_eq!(engine.number("SELECT count(*) FROM users"), 1.0);
    engine.run("DELETE FROM users");
    engine.fill("--rows users=300").ok();
    engine.run("DELETE FROM users WHERE id IN (20, 21)");
    engine.run(other);
    let gone = engine.fill("--clean --replaced remove").ok();
    assert!(gone.stderr.contains("users: 1 more row gone already"), "{gone:#?}");
    assert_eq!(engine.number("SELECT count(*) FROM users"), 0.0);
    engine.fill("--replaced keep").ends(2);
}
