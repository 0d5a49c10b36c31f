//! Rows that others have put under keys of a fill.

use fill::Replaced;

use super::engine::Engine;

const SQL: &str = "
CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, email VARCHAR(80) NOT NULL, points INT NOT NULL,
  created_at DATETIME NOT NULL);
CREATE TABLE sessions (id CHAR(36) PRIMARY KEY, agent VARCHAR(200) NOT NULL, started_at DATETIME NOT NULL);
";

fn engines(sql: &str) -> impl Iterator<Item = Engine> {
    let postgres = sql.replace("DATETIME", "TIMESTAMP");
    [Some(Engine::sqlite(sql)), Engine::postgres(&postgres), Engine::mariadb(sql)]
        .into_iter()
        .flatten()
}

/// Fills; a load changes rows of the fill, and others put three users and a session under keys of it.
fn filled_and_used(engine: &Engine) {
    engine.fill(&[("users", 250), ("sessions", 700)]).expect("a fill");
    engine.run("UPDATE users SET points = points + 1, name = 'Changed'");
    engine.run(
        "UPDATE users SET email = 'new@example.org', points = -7 WHERE id BETWEEN 120 AND 160",
    );
    engine.run("UPDATE sessions SET agent = 'another'");
    engine.run("DELETE FROM users WHERE id IN (9, 150, 151)");
    for id in [9, 150, 151] {
        engine.run(&format!(
            "INSERT INTO users VALUES ({id}, 'Eve', 'eve{id}@example.org', -{id}, '2030-01-02 03:04:05')"
        ));
    }
    let id = engine.rows("SELECT min(id) FROM sessions")[0][0].clone().expect("a session");
    engine.run(&format!("DELETE FROM sessions WHERE id = '{id}'"));
    engine.run(&format!("INSERT INTO sessions VALUES ('{id}', 'Eve', '2030-01-02 03:04:05')"));
}

#[test]
fn rows_of_others_under_keys_of_the_fill_are_left_and_rows_that_changed_go() {
    for engine in engines(SQL) {
        filled_and_used(&engine);
        // The second time they are found again.
        for _ in 0..2 {
            let why = engine.clean().expect_err("rows of others are left").to_string();
            for words in ["users: left 3 rows", "(id 9)", "(id 150)", "(id 151)", "--replaced keep"]
            {
                assert!(why.contains(words), "{words}: {why}");
            }
            assert!(why.contains("sessions: left 1 row under keys"), "{why}");
            let users = engine.rows("SELECT id, email FROM users ORDER BY id");
            assert_eq!(users.len(), 3, "{users:?}");
            assert_eq!(users[2][1].as_deref(), Some("eve151@example.org"));
            assert_eq!(engine.number("SELECT count(*) FROM sessions"), 1);
            assert_eq!(engine.number("SELECT count(*) FROM plimsoll_fill"), 1);
        }
        // Others go on meanwhile.
        engine.run(
            "INSERT INTO users VALUES (9000, 'Bo', 'bo@example.org', 1, '2030-01-02 03:04:05')",
        );
        assert_eq!(engine.clean_with(Replaced::Keep).expect("it is forgotten"), 0);
        assert_eq!(engine.number("SELECT count(*) FROM users"), 4);
        assert_eq!(engine.number("SELECT count(*) FROM sessions"), 1);
        assert!(!engine.connect().has_table("plimsoll_fill").expect("an answer"));
    }
}

#[test]
fn rows_of_others_go_where_that_is_wished() {
    for engine in engines(SQL) {
        filled_and_used(&engine);
        engine.clean().expect_err("rows of others are left");
        assert_eq!(engine.clean_with(Replaced::Remove).expect("they go"), 4);
        filled_and_used(&engine);
        assert_eq!(engine.clean_with(Replaced::Remove).expect("all goes at once"), 950);
        for table in ["users", "sessions"] {
            assert_eq!(engine.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
        }
    }
}

#[test]
fn a_fill_whose_rows_of_others_are_gone_by_now_is_forgotten() {
    for engine in engines(SQL) {
        filled_and_used(&engine);
        engine.clean().expect_err("rows of others are left");
        engine.run("DELETE FROM users");
        engine.run("DELETE FROM sessions");
        engine.run(
            "INSERT INTO users VALUES (9000, 'Bo', 'bo@example.org', 1, '2030-01-02 03:04:05')",
        );
        assert_eq!(engine.clean().expect("nothing is left"), 0);
        assert!(!engine.connect().has_table("plimsoll_fill").expect("an answer"));
    }
}

#[test]
fn all_rows_of_others_are_left_where_keys_began_anew() {
    for engine in
        engines("CREATE TABLE users (id BIGINT PRIMARY KEY, email VARCHAR(80) NOT NULL);\n")
    {
        engine.fill(&[("users", 250)]).expect("a fill");
        engine.run("DELETE FROM users");
        for id in 1..=30 {
            engine.run(&format!("INSERT INTO users VALUES ({id}, 'eve{id}@example.org')"));
        }
        let why = engine.clean().expect_err("rows of others are left").to_string();
        assert!(why.contains("users: left 30 rows") && why.contains("), ..."), "{why}");
        assert_eq!(engine.number("SELECT count(*) FROM users"), 30);
    }
}

/// The database takes `SKU-7` for `sku-7`.
#[test]
fn rows_of_others_are_known_under_keys_in_other_letters() {
    let sql = "CREATE TABLE parts (sku VARCHAR(40) PRIMARY KEY, email VARCHAR(80) NOT NULL);\n";
    let sqlite = sql.replace("PRIMARY", "COLLATE NOCASE PRIMARY");
    for engine in [Some(Engine::sqlite(&sqlite)), Engine::mariadb(sql)].into_iter().flatten() {
        engine.fill(&[("parts", 200)]).expect("a fill");
        let written = engine.rows("SELECT max(sku) FROM parts")[0][0].clone().expect("a key");
        let [small, capital] = [written.to_lowercase(), written.to_uppercase()];
        let other = if written == small { capital } else { small };
        assert_ne!(written, other);
        engine.run(&format!("DELETE FROM parts WHERE sku = '{written}'"));
        engine.run(&format!("INSERT INTO parts VALUES ('{other}', 'eve@example.org')"));
        let why = engine.clean().expect_err("a row of others is left").to_string();
        assert!(why.contains("parts: left 1 row"), "{why}");
        assert_eq!(engine.number("SELECT count(*) FROM parts"), 1);
    }
}

#[test]
fn rows_go_of_which_a_load_changed_all_but_a_reference() {
    for engine in engines(
        "CREATE TABLE products (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL);
CREATE TABLE items (id BIGINT PRIMARY KEY, product_id BIGINT NOT NULL, amount INT NOT NULL,
  FOREIGN KEY (product_id) REFERENCES products(id));
",
    ) {
        engine.fill(&[("products", 100), ("items", 300)]).expect("a fill");
        engine.run("UPDATE items SET amount = amount + 1");
        assert_eq!(engine.clean().expect("all of it goes"), 400);
    }
}

#[test]
fn references_of_rows_of_others_stay() {
    let engine = Engine::sqlite(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR(80) NOT NULL, best INTEGER REFERENCES orders(id));
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id));
",
    );
    engine.fill(&[("users", 200), ("orders", 300)]).expect("a fill");
    engine.run(
        "UPDATE users SET best = NULL WHERE best IN (SELECT id FROM orders WHERE user_id = 50);
DELETE FROM orders WHERE user_id = 50;
DELETE FROM users WHERE id = 50;
INSERT INTO users VALUES (50, 'eve@example.org', NULL);
INSERT INTO orders VALUES (9000, 50);
UPDATE users SET best = 9000 WHERE id = 50;
",
    );
    let why = engine.clean().expect_err("a row of others is left").to_string();
    assert!(why.contains("users: left 1 row") && why.contains("(id 50)"), "{why}");
    for _ in 0..2 {
        assert_eq!(engine.number("SELECT best FROM users"), 9000);
        assert_eq!(engine.number("SELECT id FROM orders"), 9000);
        engine.clean_with(Replaced::Keep).expect("it is forgotten");
    }
}

#[test]
fn rows_that_are_left_and_refer_to_those_of_the_fill_are_reported_with_what_helps() {
    for engine in engines(
        "CREATE TABLE users (id BIGINT PRIMARY KEY, email VARCHAR(80) NOT NULL);
CREATE TABLE notes (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, label VARCHAR(80) NOT NULL UNIQUE,
  FOREIGN KEY (user_id) REFERENCES users(id));
",
    ) {
        engine.fill(&[("users", 30), ("notes", 200)]).expect("a fill");
        let another = "SELECT max(id) FROM users WHERE id NOT IN (SELECT user_id FROM notes WHERE id = 7)";
        let user = engine.number(another);
        engine.run("DELETE FROM notes WHERE id = 7");
        engine.run(&format!("INSERT INTO notes VALUES (7, {user}, 'of somebody else')"));
        let why = engine.clean().expect_err("a parent cannot go").to_string();
        assert!(why.contains("notes: left 1 row") && why.contains("(id 7)"), "{why}");
        assert!(why.contains("--clean --replaced remove removes them too"), "{why}");
        assert_eq!(engine.clean_with(Replaced::Remove).expect("all goes"), 31);
        assert_eq!(engine.number("SELECT count(*) FROM users"), 0);
    }
}

/// The number would come again, and be refused.
#[test]
fn postgres_does_not_give_the_number_of_a_row_that_is_left() {
    let sql = "CREATE TABLE users (id BIGSERIAL PRIMARY KEY, email VARCHAR(80) NOT NULL);";
    let Some(engine) = Engine::postgres(sql) else { return };
    engine.fill(&[("users", 300)]).expect("a fill");
    engine.run("DELETE FROM users WHERE id = 3");
    engine.run("INSERT INTO users VALUES (3, 'eve@example.org')");
    assert_eq!(engine.clean_with(Replaced::Keep).expect("one is left"), 299);
    for number in 0..5 {
        engine.run(&format!("INSERT INTO users (email) VALUES ('{number}@example.org')"));
    }
    assert_eq!(engine.number("SELECT count(*) FROM users"), 6);
}
