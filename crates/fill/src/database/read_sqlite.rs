//! SQLite's pragmas and its CREATE statements to a schema.

use std::collections::BTreeMap;

use super::read_postgres::named;
use super::{Database, all, one, types};
use crate::computed;
use crate::error::Result;
use crate::schema::{Check, Column, Dialect, Name, OnDelete, Reference, Schema, Table, Unique};

const TABLES: &str = "SELECT name, sql FROM sqlite_master WHERE type = 'table' \
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'plimsoll\\_fill%' ESCAPE '\\' \
    AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name";

/// The columns of which a unique index compares texts whatever the case of their letters.
const FOLDED: &str = "SELECT DISTINCT parts.name FROM pragma_index_list(?) AS indexes, \
    pragma_index_xinfo(indexes.name) AS parts WHERE indexes.\"unique\" = 1 AND parts.\"key\" = 1 \
    AND upper(parts.coll) = 'NOCASE' AND parts.name IS NOT NULL";

/// Why no row can be written to a table.
const NO_PARENT: &str = "SQLite writes no row to it, since one of its foreign keys refers to a table that does not exist: create that table";

/// Why rows of a table could not be told apart.
const NO_NUMBER: &str = "its rows have no key, and columns named rowid, oid and _rowid_ hide their numbers, so that \
                         --clean could not tell them from others: give it a primary key";

/// Reads the schema.
pub fn schema(database: &mut dyn Database) -> Result<Schema> {
    let mut tables = Vec::new();
    for row in all(database, TABLES)? {
        let (name, sql) = (row[0].clone().unwrap_or_default(), row[1].clone().unwrap_or_default());
        tables.push(table(database, &name, &sql)?);
    }
    for at in 0..tables.len() {
        let references = references(database, &tables, at)?;
        tables[at].references = references;
        tables[at].unfit = misses_a_parent(database, &tables, at)?.then_some(NO_PARENT);
    }
    tables.iter_mut().for_each(computed::resolve);
    for table in &mut tables {
        let is_known = table.rowid.is_some() || table.key().is_some();
        table.unfit = table.unfit.or((!is_known).then_some(NO_NUMBER));
    }
    Ok(Schema { dialect: Dialect::Sqlite, tables })
}

fn table(database: &mut dyn Database, name: &str, sql: &str) -> Result<Table> {
    let quoted = Dialect::Sqlite.literal(name);
    let info = all(
        database,
        &format!(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo({quoted}) ORDER BY cid"
        ),
    )?;
    let Bracketed { checks, generated } = bracketed(sql);
    let mut generated = generated.into_iter();
    let (mut columns, mut primary) = (Vec::new(), Vec::new());
    for row in &info {
        let cell = |at: usize| row[at].clone().unwrap_or_default();
        let place: u32 = cell(4).parse().unwrap_or(0);
        if place > 0 {
            primary.push((place, columns.len()));
        }
        columns.push(Column {
            name: cell(0),
            kind: types::sqlite(&cell(1)),
            type_name: cell(1),
            nullable: cell(2) == "0",
            default: row[3].clone(),
            generated: matches!(cell(5).as_str(), "2" | "3")
                .then(|| generated.next().unwrap_or_default()),
            counted: false,
            folds: false,
        });
    }
    primary.sort_unstable();
    let primary: Vec<usize> = primary.into_iter().map(|(_, column)| column).collect();
    let listed =
        format!("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = {quoted}");
    let without_rowid = one(database, &listed)?.as_deref() == Some("1");
    if let [only] = primary[..] {
        // The alias of the row's number; any other primary key may hold NULL.
        let alias = columns[only].type_name.eq_ignore_ascii_case("integer") && !without_rowid;
        if alias {
            columns[only].kind = types::integer(8, true);
            columns[only].counted = true;
        }
    }
    primary.iter().for_each(|&column| columns[column].nullable = false);
    tell_json(&checks, &mut columns);
    let mut uniques = Vec::new();
    if !primary.is_empty() {
        uniques.push(Unique { rule: "PRIMARY KEY".to_owned(), columns: primary });
    }
    let has_primary = !uniques.is_empty();
    let (plain, partial) = indexes(database, &quoted, &columns)?;
    uniques.extend(plain);
    fold(database, &quoted, &mut columns)?;
    let names = ["rowid", "_rowid_", "oid"];
    let free = names
        .into_iter()
        .find(|name| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)));
    let rowid = free.filter(|_| !without_rowid);
    let table = Table::new(Name { schema: None, table: name.to_owned() }, columns);
    Ok(Table { uniques, partial, has_primary, checks, rowid, ..table })
}

/// Says which texts have to be JSON: `CHECK (json_valid(doc))`.
fn tell_json(checks: &[Check], columns: &mut [Column]) {
    for check in checks {
        let small = check.text.to_ascii_lowercase();
        let inner = small.trim_matches(['(', ')', ' ']).strip_prefix("json_valid(");
        let Some(inner) = inner else { continue };
        let name = inner.trim_matches(['"', '`', '[', ']', ' ']);
        let mut named = columns.iter_mut();
        if let Some(column) = named.find(|column| column.name.eq_ignore_ascii_case(name)) {
            column.kind = types::sqlite("json");
        }
    }
}

/// Says of which columns texts are the same that differ in the case of letters alone.
fn fold(database: &mut dyn Database, quoted: &str, columns: &mut [Column]) -> Result<()> {
    for row in all(database, &FOLDED.replace('?', quoted))? {
        let mut named = columns.iter_mut();
        if let Some(column) = named.find(|of| row[0].as_deref() == Some(of.name.as_str())) {
            column.folds = true;
        }
    }
    Ok(())
}

/// Unique indexes: those of all rows and of columns, and the others.
fn indexes(
    database: &mut dyn Database,
    quoted: &str,
    columns: &[Column],
) -> Result<(Vec<Unique>, Vec<Unique>)> {
    let (mut uniques, mut partial) = (Vec::new(), Vec::new());
    let place = |name: &str| columns.iter().position(|column: &Column| column.name == name);
    let indexes = all(
        database,
        &format!(
            "SELECT name, partial FROM pragma_index_list({quoted}) WHERE \"unique\" = 1 AND origin <> 'pk' ORDER BY name"
        ),
    )?;
    for row in indexes {
        let rule = row[0].clone().unwrap_or_default();
        let of = Dialect::Sqlite.literal(&rule);
        let parts =
            all(database, &format!("SELECT name FROM pragma_index_info({of}) ORDER BY seqno"))?;
        let computed = parts.iter().any(|part| part[0].is_none());
        let named = match computed {
            false => parts.iter().filter_map(|part| place(part[0].as_deref()?)).collect(),
            true => {
                let sql =
                    format!("SELECT sql FROM sqlite_master WHERE type = 'index' AND name = {of}");
                named(columns, &one(database, &sql)?.unwrap_or_default())
            }
        };
        let is_partial = computed || row[1].as_deref() == Some("1");
        let unique = Unique { rule, columns: named };
        match (unique.columns.is_empty(), is_partial) {
            (true, _) => {}
            (false, true) => partial.push(unique),
            (false, false) => uniques.push(unique),
        }
    }
    Ok((uniques, partial))
}

fn references(database: &mut dyn Database, tables: &[Table], at: usize) -> Result<Vec<Reference>> {
    let name = Dialect::Sqlite.literal(&tables[at].name.table);
    let sql = format!(
        "SELECT id, \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list({name}) ORDER BY id, seq"
    );
    let mut found = BTreeMap::<String, Reference>::new();
    for row in all(database, &sql)? {
        let cell = |at: usize| row[at].clone().unwrap_or_default();
        let same = |table: &Table| table.name.table.eq_ignore_ascii_case(&cell(1));
        let Some(table) = tables.iter().position(same) else { continue };
        let place = |table: &Table, name: &str| {
            table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
        };
        let Some(column) = place(&tables[at], &cell(2)) else { continue };
        let id = cell(0);
        let rule = format!("FOREIGN KEY to {}", cell(1));
        let reference = found.entry(id).or_insert_with(|| Reference {
            rule,
            columns: Vec::new(),
            table,
            targets: Vec::new(),
            on_delete: OnDelete::of(&cell(4).to_ascii_uppercase()),
        });
        // Without names: the primary key's columns, in order.
        let target = match &row[3] {
            Some(name) => place(&tables[table], name),
            None => tables[table]
                .uniques
                .first()
                .and_then(|key| key.columns.get(reference.columns.len()).copied()),
        };
        reference.columns.push(column);
        reference.targets.extend(target);
    }
    let whole = |reference: &Reference| reference.columns.len() == reference.targets.len();
    Ok(found.into_values().filter(whole).collect())
}

/// Whether a foreign key refers to a table that is not there.
fn misses_a_parent(database: &mut dyn Database, tables: &[Table], at: usize) -> Result<bool> {
    let name = Dialect::Sqlite.literal(&tables[at].name.table);
    let sql = format!("SELECT DISTINCT \"table\" FROM pragma_foreign_key_list({name})");
    let named = all(database, &sql)?;
    let mut parents = named.iter().filter_map(|row| row[0].as_deref());
    let is_there =
        |name: &str| tables.iter().any(|table| table.name.table.eq_ignore_ascii_case(name));
    Ok(!parents.all(is_there))
}

/// What stands in brackets behind a keyword.
#[derive(Debug, Default)]
struct Bracketed {
    /// Behind CHECK.
    checks: Vec<Check>,
    /// Behind AS: the expressions of generated columns, in order.
    generated: Vec<String>,
}

/// What a CREATE statement has in brackets outside of quotes and comments.
fn bracketed(sql: &str) -> Bracketed {
    let mut found = Bracketed::default();
    let bytes = sql.as_bytes();
    let (mut at, mut last_name) = (0, None);
    while at < bytes.len() {
        let next = skip(bytes, at);
        if next > at + 1 || !(bytes[at].is_ascii_alphabetic() || bytes[at] == b'_') {
            at = next;
            continue;
        }
        let word_end = (at..bytes.len())
            .find(|&end| !(bytes[end].is_ascii_alphanumeric() || bytes[end] == b'_'))
            .unwrap_or(bytes.len());
        let word = &sql[at..word_end];
        at = word_end;
        if word.eq_ignore_ascii_case("constraint") {
            let rest = sql[at..].trim_start();
            let name: String = rest
                .trim_start_matches(['"', '`', '['])
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            last_name = Some(name);
        } else if word.eq_ignore_ascii_case("check") {
            let Some(open) = sql[at..].find('(').map(|open| at + open) else { break };
            let end = closing(bytes, open);
            let text = sql[open..end].to_owned();
            let rule = last_name.take().unwrap_or_else(|| format!("CHECK {text}"));
            found.checks.push(Check { rule, text, value: None });
            at = end;
        } else if word.eq_ignore_ascii_case("as") && sql[at..].trim_start().starts_with('(') {
            let open = sql.len() - sql[at..].trim_start().len();
            let end = closing(bytes, open);
            found.generated.push(sql[open..end].to_owned());
            at = end;
        }
    }
    found
}

/// The place behind a quoted text or comment that begins here, or else behind this byte.
fn skip(bytes: &[u8], at: usize) -> usize {
    let until = |end: u8| {
        (at + 1..bytes.len()).find(|&place| bytes[place] == end).map_or(bytes.len(), |end| end + 1)
    };
    match bytes[at] {
        quote @ (b'\'' | b'"' | b'`') => until(quote),
        b'[' => until(b']'),
        b'-' if bytes.get(at + 1) == Some(&b'-') => until(b'\n'),
        b'/' if bytes.get(at + 1) == Some(&b'*') => {
            let end = bytes[at + 2..].windows(2).position(|pair| pair == b"*/");
            end.map_or(bytes.len(), |end| at + end + 4)
        }
        _ => at + 1,
    }
}

/// The place behind the bracket that closes the one here.
fn closing(bytes: &[u8], open: usize) -> usize {
    let (mut at, mut depth) = (open, 0_u32);
    while at < bytes.len() {
        match bytes[at] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        at = skip(bytes, at);
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_found_in_create_statements() {
        let sql = "CREATE TABLE \"check (\" (a INT CHECK (a > 0), -- check (no)\n \
                   b TEXT DEFAULT 'check (no)' CONSTRAINT short CHECK(length(b) < 5 AND b <> ')'), \
                   check_it INT /* check (no) */, c TEXT GENERATED ALWAYS AS (upper(b)) STORED, \
                   d AS(cast(a AS TEXT) || ')'), CHECK ((a) IN (1, 2)))";
        let Bracketed { checks, generated } = bracketed(sql);
        assert_eq!(generated, ["(upper(b))", "(cast(a AS TEXT) || ')')"]);
        let found: Vec<(String, String)> =
            checks.into_iter().map(|check| (check.rule, check.text)).collect();
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["(a > 0)", "(length(b) < 5 AND b <> ')')", "((a) IN (1, 2))"]);
        assert_eq!(found[1].0, "short");
        for odd in [
            "CREATE TABLE t (a CHECK (",
            "a as (",
            "as",
            "check",
            "check(((",
            "'",
            "/*",
            "é check(é)",
        ] {
            bracketed(odd);
        }
    }

    #[test]
    fn a_text_that_has_to_be_json_is() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let address = crate::database::Address::Sqlite(file.path().to_owned());
        let mut database = crate::database::connect(&address).expect("a database");
        let sql = "CREATE TABLE a (b TEXT, \"C\" TEXT, CHECK (JSON_VALID(\"C\")))";
        database.execute(sql).expect("a table");
        let columns = database.schema().expect("a schema").tables.remove(0).columns;
        assert_eq!(columns[0].kind, types::sqlite("text"));
        assert_eq!(columns[1].kind, types::sqlite("json"));
    }

    #[test]
    fn a_table_whose_parent_is_missing_is_unfit() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let address = crate::database::Address::Sqlite(file.path().to_owned());
        let mut database = crate::database::connect(&address).expect("a database");
        for sql in ["CREATE TABLE a (b INT REFERENCES B)", "CREATE TABLE b (c INT REFERENCES none)"]
        {
            database.execute(sql).expect("a table");
        }
        let tables = database.schema().expect("a schema").tables;
        assert_eq!((tables[0].unfit, tables[1].unfit), (None, Some(NO_PARENT)));
    }

    #[test]
    fn any_kind_of_column_is_reported() {
        assert_eq!(types::sqlite(""), crate::schema::Type::Text { most: None });
    }
}
