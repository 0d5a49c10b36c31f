//! Values that requests ask for.

use fill::PoolColumn;

use super::engine::Engine;

const SQL: &str = "CREATE TABLE categories (slug VARCHAR(40) PRIMARY KEY, name VARCHAR(40));
INSERT INTO categories VALUES ('hats', 'Hats');";

/// Slugs as a log has them.
fn filled(engine: &Engine) -> i64 {
    let values = [("Shoes", 5.0), ("shoes", 3.0), ("HATS", 2.0)];
    let values = values.map(|(value, weight)| (value.to_owned(), weight)).to_vec();
    let pool = PoolColumn { pool: "categories".into(), column: "slug".into(), values };
    let change = |request: &mut fill::Request| request.pools.push((pool, (0, 0)));
    engine.fill_with(&[("categories", 20)], change).expect("a fill");
    assert_eq!(engine.number("SELECT count(*) FROM categories"), 20);
    let found =
        engine.number("SELECT count(*) FROM categories WHERE lower(slug) IN ('shoes', 'hats')");
    assert_eq!(engine.clean().expect("it goes"), 19);
    found
}

#[test]
fn the_case_of_letters_counts_where_the_database_counts_it() {
    if let Some(engine) = Engine::mariadb(SQL) {
        assert_eq!(filled(&engine), 2);
    }
    if let Some(engine) = Engine::postgres(SQL) {
        assert_eq!(filled(&engine), 4);
    }
}
