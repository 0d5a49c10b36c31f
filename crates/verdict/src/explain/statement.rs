//! What can be told of a statement by its shape alone: which tables it names, and by which column it looks rows up.
//! A look at words, not a parser: what is not plain is not told.

/// Whether a statement names a table, which may be written without its schema.
pub(super) fn mentions(shape: &str, table: &str) -> bool {
    let bare = bare(table);
    words(shape).any(|word| bare_of(word).eq_ignore_ascii_case(bare))
}

/// The column by whose value a statement looks for rows first: `user_id` of `WHERE o.user_id = $1`.
pub(super) fn column_asked(shape: &str) -> Option<&str> {
    let at = shape.to_ascii_lowercase().find(" where ")?;
    let asked = shape[at + " where ".len()..].trim_start_matches(['(', ' ']);
    let word = words(asked).next().filter(|word| asked.starts_with(word))?;
    let column = bare_of(word);
    let keyword = ["exists", "not", "in"].iter().any(|word| column.eq_ignore_ascii_case(word));
    let called = asked[word.len()..].trim_start().starts_with('(');
    let plain = column.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain && !keyword && !called && !column.starts_with(|c: char| c.is_ascii_digit()))
        .then_some(column)
}

/// Names with their schemas, and keywords.
fn words(shape: &str) -> impl Iterator<Item = &str> {
    let of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '`');
    shape.split(move |c| !of_word(c)).filter(|word| !word.is_empty())
}

fn bare_of(word: &str) -> &str {
    bare(word).trim_matches(['"', '`'])
}

fn bare(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_columns_of_shapes() {
        for (shape, table, named, column) in [
            ("SELECT * FROM orders WHERE user_id = $1", "public.orders", true, Some("user_id")),
            (
                "select o.x from public.orders o where o.user_id=?",
                "public.orders",
                true,
                Some("user_id"),
            ),
            (
                "SELECT * FROM `shop`.`orders` WHERE `user_id` = ?",
                "shop.orders",
                true,
                Some("user_id"),
            ),
            ("SELECT count(*) FROM reorders", "public.orders", false, None),
            ("SELECT 1 FROM orders WHERE lower(name) = $1", "public.orders", true, None),
            ("SELECT 1 FROM orders WHERE NOT done", "public.orders", true, None),
            ("SELECT 1 FROM orders WHERE", "public.orders", true, None),
        ] {
            assert_eq!((mentions(shape, table), column_asked(shape)), (named, column), "{shape}");
        }
    }
}
