//! What the shape of a statement alone shows: which tables it names, and by which column it looks rows up. It looks at
//! words and is no parser; what is not plain is left out.

/// Whether a statement names a table, which may be written without its schema.
pub(super) fn mentions(shape: &str, table: &str) -> bool {
    let bare = bare(table);
    words(shape).any(|word| bare_of(word).eq_ignore_ascii_case(bare))
}

/// The column of a table by whose value a statement looks for rows first: `user_id` of `WHERE o.user_id = $1`. None where
/// it may be another table's: of an alias that is not this one's, or of no table where several are named.
pub(super) fn column_asked<'a>(shape: &'a str, table: &str) -> Option<&'a str> {
    let at = shape.to_ascii_lowercase().find(" where ")?;
    let (from, asked) =
        (&shape[..at], shape[at + " where ".len()..].trim_start_matches(['(', ' ']));
    let word = words(asked).next().filter(|word| asked.starts_with(word))?;
    let column = bare_of(word);
    let keyword = ["exists", "not", "in"].iter().any(|word| column.eq_ignore_ascii_case(word));
    let called = asked[word.len()..].trim_start().starts_with('(');
    let plain = column.chars().all(|c| c.is_alphanumeric() || c == '_');
    let of = word.rsplit_once('.').map(|(of, _)| bare_of(of));
    let own = is_alone(from) || of.is_some_and(|of| is_called(from, table, of));
    (own && plain && !keyword && !called && !column.starts_with(|c: char| c.is_ascii_digit()))
        .then_some(column)
}

/// Whether the part of a statement before its WHERE calls a table so: by its name, or by the word behind it.
fn is_called(from: &str, table: &str, name: &str) -> bool {
    let is_table = |word: &str| bare_of(word).eq_ignore_ascii_case(bare(table));
    if name.eq_ignore_ascii_case(bare(table)) {
        return true;
    }
    let mut rest = words(from).skip_while(|word| !is_table(word)).skip(1);
    let mut alias = rest.next();
    if alias.is_some_and(|word| word.eq_ignore_ascii_case("as")) {
        alias = rest.next();
    }
    alias.is_some_and(|alias| bare_of(alias).eq_ignore_ascii_case(name))
}

/// Whether the part of a statement before its WHERE names one table.
fn is_alone(before: &str) -> bool {
    let lower = before.to_ascii_lowercase();
    let mut parts = lower.split(" from ");
    let first = parts.next().unwrap_or_default();
    let tables = match first.strip_prefix("update ") {
        Some(update) => update.split(" set ").next(),
        None => parts.next(),
    };
    let one = |tables: &str| !tables.contains(',') && !words(tables).any(|word| word == "join");
    parts.next().is_none() && tables.is_some_and(one)
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
            (
                "select … from users u join orders o on o.user_id = u.id where u.email = $1",
                "public.orders",
                true,
                None,
            ),
            (
                "select … from users u join orders as o on o.user_id = u.id where o.status = $1",
                "public.orders",
                true,
                Some("status"),
            ),
            ("select … from users, orders where status = $1", "public.orders", true, None),
            (
                "UPDATE orders SET a = $1, b = $2 WHERE user_id = $3",
                "public.orders",
                true,
                Some("user_id"),
            ),
            ("UPDATE orders SET a = $1 WHERE orders.user_id = $2", "orders", true, Some("user_id")),
        ] {
            let asked = column_asked(shape, table);
            assert_eq!((mentions(shape, table), asked), (named, column), "{shape}");
        }
    }
}
