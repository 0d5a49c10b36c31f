//! Times that are made up: none lies behind the last one, none before its parent's, and texts that are times stay times.

use super::engines::Engine;

/// Users of one year, orders each some days after its user, and nobody's order before its user.
const SHOP: &str = "\
CREATE TABLE users (id INTEGER PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, \
 CHECK (created_at > '2015-01-01'));
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, created_at TIMESTAMP NOT NULL, \
 FOREIGN KEY (user_id) REFERENCES users(id));
CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, created_at DATE NOT NULL, \
 FOREIGN KEY (order_id) REFERENCES orders(id))";

fn with_rows() -> String {
    let day = |n: u32| format!("'2025-{:02}-{:02} 0{}:00:00'", 1 + n / 28, 1 + n % 28, n % 10);
    let users = (0..200).map(|n| format!("({}, {}, '2025-11-01 00:00:00')", n + 1, day(n)));
    let orders = (0..800).map(|n| {
        let user = n * 7 % 200;
        format!("({}, {}, {})", n + 1, user + 1, day(user + 1 + n % 60))
    });
    let list = |rows: Vec<String>| rows.join(", ");
    format!(
        "{SHOP};\nINSERT INTO users VALUES {};\nINSERT INTO orders VALUES {}",
        list(users.collect()),
        list(orders.collect())
    )
}

const EARLY: &str = "SELECT count(*) FROM orders o JOIN users u ON u.id = o.user_id WHERE o.created_at < u.created_at";

fn children_come_later(engine: &Engine) {
    assert_eq!(engine.number(EARLY), 0.0);
    engine.fill("--rows users=2000").ok();
    assert_eq!(engine.number("SELECT count(*) FROM orders"), 8000.0);
    assert_eq!(engine.number(EARLY), 0.0);
    engine.fill("--clean").ok();
    // To old parents too.
    engine.fill("--rows orders=4000").ok();
    assert_eq!(engine.number("SELECT count(*) FROM users"), 200.0);
    assert_eq!(engine.number(EARLY), 0.0);
    let late = "SELECT count(*) FROM orders WHERE created_at >= '2026-01-01'";
    assert_eq!(engine.number(late), 0.0);
}

fn children_come_later_without_rows(engine: &Engine) {
    engine.fill("--rows users=500 --rows orders=4000 --rows items=4000").ok();
    assert_eq!(engine.number(EARLY), 0.0);
    let items = "SELECT count(*) FROM items i JOIN orders o ON o.id = i.order_id \
                 WHERE i.created_at < CAST(o.created_at AS DATE)";
    assert_eq!(
        engine.number(&items.replace("CAST(o.created_at AS DATE)", "date(o.created_at)")),
        0.0
    );
    for table in ["users", "orders", "items"] {
        let late = format!("SELECT count(*) FROM {table} WHERE created_at >= '2026-01-01'");
        assert_eq!(engine.number(&late), 0.0, "{table}");
    }
    assert_eq!(engine.number("SELECT count(*) FROM users WHERE updated_at < created_at"), 0.0);
    assert_eq!(engine.number("SELECT count(*) FROM users WHERE updated_at >= '2026-01-01'"), 0.0);
    assert!(engine.number("SELECT count(DISTINCT created_at) FROM orders") > 3000.0);
}

#[test]
fn no_child_is_older_than_its_parent() {
    children_come_later(&Engine::sqlite(&with_rows()));
    if let Some(engine) = Engine::postgres(&with_rows()) {
        children_come_later(&engine);
    }
    if let Some(engine) = Engine::mariadb(&with_rows(), true) {
        children_come_later(&engine);
    }
}

#[test]
fn no_child_is_older_than_its_parent_in_an_empty_schema() {
    children_come_later_without_rows(&Engine::sqlite(SHOP));
    if let Some(engine) = Engine::postgres(SHOP) {
        children_come_later_without_rows(&engine);
    }
    if let Some(engine) = Engine::mariadb(SHOP, true) {
        children_come_later_without_rows(&engine);
    }
}

#[test]
fn orders_of_times_that_rows_do_not_keep_are_not_made_up() {
    let engine = Engine::sqlite(&with_rows());
    engine.run("UPDATE orders SET created_at = '2024-01-01 00:00:00' WHERE id <= 400");
    engine.fill("--rows users=2000").ok();
    assert!(engine.number(EARLY) > 2000.0, "{}", engine.number(EARLY));
}

/// A column that is always the same stays so, and nothing lies behind the last time.
fn constant(engine: &Engine) {
    engine.fill("--rows a=3000").ok();
    assert_eq!(engine.number("SELECT count(*) FROM a"), 3000.0);
    assert_eq!(engine.number("SELECT count(DISTINCT changed) FROM a"), 1.0);
    assert_eq!(engine.number("SELECT count(*) FROM a WHERE made >= '2026-01-01'"), 0.0);
    assert_eq!(engine.number("SELECT count(*) FROM a WHERE shipped >= '2026-01-01'"), 0.0);
    assert_eq!(engine.number("SELECT count(*) FROM a WHERE shipped < made"), 0.0);
}

#[test]
fn what_is_always_the_same_stays_the_same() {
    let rows: Vec<String> = (0..300)
        .map(|n| {
            let (month, day) = (1 + n / 28, 1 + n % 28);
            let shipped = format!("2025-{:02}-{day:02}", (month + 6).min(12));
            format!("({n}, '2025-{month:02}-{day:02} 00:00:00', '2026-11-01 10:00:00', '{shipped} 00:00:00')")
        })
        .collect();
    let sql = |more: &str| {
        format!(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, made TIMESTAMP NOT NULL DEFAULT '2000-01-01 00:00:00', \
             changed TIMESTAMP NOT NULL DEFAULT current_timestamp{more}, \
             shipped TIMESTAMP NOT NULL DEFAULT '2000-01-01 00:00:00');\nINSERT INTO a VALUES {}",
            rows.join(", ")
        )
    };
    constant(&Engine::sqlite(&sql("")));
    if let Some(engine) = Engine::postgres(&sql("")) {
        constant(&engine);
    }
    if let Some(engine) = Engine::mariadb(&sql(" ON UPDATE current_timestamp"), true) {
        constant(&engine);
    }
}

const TEXTS: &str = "\
CREATE TABLE a (id INTEGER PRIMARY KEY, created TEXT NOT NULL DEFAULT current_timestamp, day TEXT, stamp TEXT, \
 ref TEXT NOT NULL, contact_of TEXT, weight TEXT)";

fn texts(count: u32) -> Engine {
    let rows: Vec<String> = (1..=count)
        .map(|n| {
            let day = format!("2025-{:02}-{:02}", 1 + n % 12, 1 + n % 28);
            format!(
                "({n}, '{day} 00:00:{:02}', '{day}', '{day}T10:11:12.{:03}Z', '14bc7323-4814-bcff-95df-{n:012x}', \
                 'x{n}@shop.org', '{n}.50')",
                n % 60,
                n * 7 % 1000
            )
        })
        .collect();
    Engine::sqlite(&format!("{TEXTS};\nINSERT INTO a VALUES {}", rows.join(", ")))
}

#[test]
fn texts_that_are_times_and_numbers_stay_so() {
    let engine = texts(50);
    engine.fill("--rows a=800").ok();
    for (condition, why) in [
        ("created <> datetime(created)", "a day and a time"),
        ("day <> date(day)", "a day"),
        (
            "stamp NOT GLOB '????-??-??T??:??:??.???Z' OR stamp <> strftime('%Y-%m-%dT%H:%M:%fZ', stamp)",
            "ISO",
        ),
        ("ref NOT GLOB '????????-????-????-????-????????????'", "a UUID"),
        ("contact_of NOT LIKE '%_@_%._%' OR contact_of LIKE '% %'", "a mailbox"),
        ("weight <> printf('%.2f', CAST(weight AS REAL))", "a number"),
        ("created >= '2026' OR day >= '2026' OR stamp >= '2026'", "before --until"),
    ] {
        let wrong = engine.rows(&format!("SELECT * FROM a WHERE {condition}"));
        assert!(wrong.is_empty(), "{} are not {why}: {:?}", wrong.len(), wrong[0]);
    }
    assert_eq!(engine.number("SELECT count(DISTINCT ref) FROM a"), 800.0);
    assert!(engine.number("SELECT count(DISTINCT created) FROM a") > 100.0);
}

#[test]
fn a_default_shows_that_texts_are_times() {
    let engine = Engine::sqlite(TEXTS);
    engine.fill("--rows a=100").ok();
    let wrong = engine
        .rows("SELECT created FROM a WHERE created <> datetime(created) OR created >= '2026'");
    assert!(wrong.is_empty(), "{:?}", wrong[0]);
    assert!(engine.number("SELECT count(DISTINCT created) FROM a") > 90.0);
}
