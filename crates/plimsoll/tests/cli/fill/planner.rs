//! What PostgreSQL's planner expects after a fill, beside what it expected of the rows that were imitated.

use super::engines::Engine;

const SOURCE: &str = r#"
CREATE TABLE users (id serial PRIMARY KEY, country text NOT NULL, plan text, created_at timestamptz NOT NULL,
  score int NOT NULL, mail text NOT NULL);
CREATE TABLE orders (id serial PRIMARY KEY, user_id int NOT NULL REFERENCES users, status text NOT NULL,
  total numeric(10,2) NOT NULL, placed_at timestamptz NOT NULL, paid_at timestamptz);
CREATE INDEX ON orders (user_id);
INSERT INTO users (country, plan, created_at, score, mail)
  SELECT (ARRAY['CN','CN','CN','CN','US','US','DE','FR'])[1 + n % 8], CASE WHEN n % 3 = 0 THEN 'pro' END,
    timestamptz '2025-01-01' + n * interval '1 hour', (n * n) % 500, 'user' || n || '@example.com'
  FROM generate_series(1, 5000) n;
INSERT INTO orders (user_id, status, total, placed_at, paid_at)
  SELECT 1 + ((n::bigint * n % 5000) * (n % 70) / 70), (ARRAY['new','paid','paid','paid','paid','lost'])[1 + n % 6],
    (n % 977) * 1.5 + 1, timestamptz '2025-02-01' + n * interval '10 minutes',
    CASE WHEN n % 6 > 0 THEN timestamptz '2025-02-01' + n * interval '10 minutes' + (n % 50) * interval '1 hour' END
  FROM generate_series(1, 20000) n;
ANALYZE;
"#;

const QUERIES: [&str; 13] = [
    "users WHERE country = 'CN'",
    "users WHERE country = 'FR'",
    "users WHERE plan IS NULL",
    "users WHERE score < 100",
    "users WHERE score BETWEEN 200 AND 260",
    "users WHERE created_at > '2025-06-01'",
    "orders WHERE status = 'lost'",
    "orders WHERE total > 1200",
    "orders WHERE total BETWEEN 10 AND 60",
    "orders WHERE placed_at < '2025-03-01'",
    "orders WHERE paid_at IS NULL",
    "users JOIN orders ON orders.user_id = users.id",
    "users JOIN orders ON orders.user_id = users.id WHERE country = 'DE' AND status = 'paid'",
];

fn estimates(engine: &Engine) -> Vec<f64> {
    // EXPLAIN is no query that COPY takes: a function is.
    engine.run(
        "CREATE OR REPLACE FUNCTION estimate(q text) RETURNS float AS $$ DECLARE j json; BEGIN \
         EXECUTE 'EXPLAIN (FORMAT JSON) ' || q INTO j; RETURN (j->0->'Plan'->>'Plan Rows')::float; END $$ LANGUAGE plpgsql",
    );
    let estimate = |query: &&str| {
        engine.number(&format!("SELECT estimate('SELECT * FROM {}')", query.replace('\'', "''")))
    };
    QUERIES.iter().map(estimate).collect()
}

#[test]
fn the_planner_expects_ten_times_the_rows() {
    let Some(engine) = Engine::postgres(SOURCE) else { return };
    let before = estimates(&engine);
    engine.fill("--rows users=50000").ok();
    assert_eq!(engine.number("SELECT count(*) FROM orders"), 200_000.0);
    let after = estimates(&engine);
    for ((query, before), after) in QUERIES.iter().zip(&before).zip(&after) {
        let ratio = after / (10.0 * before);
        println!("{ratio:.2} of ten times {before}: {query}");
        assert!((0.5..=2.0).contains(&ratio), "{query}: {before} before, {after} after");
    }
    // Children of a parent: as many for one user now as before.
    let mean = "SELECT avg(n) FROM (SELECT count(*) n FROM orders GROUP BY user_id) g";
    assert!((2.0..12.0).contains(&engine.number(mean)), "{}", engine.number(mean));
    let late = "SELECT count(*) FROM orders WHERE paid_at < placed_at";
    assert_eq!(engine.number(late), 0.0);
}
