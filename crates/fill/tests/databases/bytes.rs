//! Keys and values of bytes, and small numbers that are taken for yes and no.

use super::engine::Engine;

const SQL: &str = "
CREATE TABLE users (id BINARY(16) PRIMARY KEY, level TINYINT(1) NOT NULL, token BLOB);
CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id BINARY(16) NOT NULL, FOREIGN KEY (user_id) REFERENCES users(id));
";

/// Rows refer to keys that are no text, and values come again as they were.
fn bytes_stay_bytes(engine: &Engine, id: &str) {
    for number in 0..40 {
        let token = if number % 2 == 0 { "x'00ff80'" } else { "NULL" };
        let id = id.replace('#', &number.to_string());
        engine.run(&format!("INSERT INTO users VALUES ({id}, {}, {token})", number % 3));
    }
    let sum = "SELECT sum(level) FROM users";
    let before = engine.number(sum);
    engine.fill(&[("posts", 300)]).expect("all refer to rows that were there");
    engine.clean().expect("it goes");
    engine.fill(&[("users", 400), ("posts", 900)]).expect("a fill");
    let twos = engine.number("SELECT count(*) FROM users WHERE level = 2");
    assert!((60..200).contains(&twos), "{twos}");
    let same = engine.number("SELECT count(*) FROM users WHERE token = x'00ff80'");
    assert!((100..300).contains(&same), "{same}");
    assert_eq!(engine.clean().expect("it goes"), 360 + 900);
    assert_eq!(engine.number(sum), before);
}

#[test]
fn mariadb_keeps_bytes() {
    if let Some(engine) = Engine::mariadb(SQL) {
        bytes_stay_bytes(&engine, "UNHEX(MD5('#'))");
    }
}

#[test]
fn sqlite_keeps_bytes() {
    let sql = SQL.replace("BINARY(16)", "BLOB").replace("TINYINT(1)", "INTEGER");
    bytes_stay_bytes(&Engine::sqlite(&sql), "randomblob(16)");
}
