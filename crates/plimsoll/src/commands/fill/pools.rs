//! Pools of a workload file, and pools made of tables.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;

use fill::pools::Form;
use fill::{Database, Error, PoolColumn, Schema};
use import::workload::{Document, MOST_BYTES};
use model::quote::{counted, grouped};
use model::random::{GOLDEN, mixed};
use model::workload::{FileFormat, Literal, Pool};

use crate::args::FillArgs;
use crate::load::allowed_files::AllowedFiles;
use crate::results::input;
use crate::results::output::{make_folder, write_file};

/// Rows of a pool that is written at most.
const MOST_ROWS: usize = 1_000_000;

/// A column of a pool, and the table's column that it is.
type Placed = (PoolColumn, (usize, usize));

/// The columns of the workload's pools that are keys of tables. Says which ones are not.
pub fn read(args: &FillArgs, schema: &Schema) -> fill::Result<Vec<Placed>> {
    let Some(path) = &args.workload else { return Ok(Vec::new()) };
    let unreadable = |why: String| Error::Unreadable(format!("{}: {why}", path.display()));
    let bytes = input::read_at_most(path, MOST_BYTES as u64).map_err(unreadable)?;
    let document = Document::read(&bytes).map_err(|faults| {
        let lines: Vec<String> =
            faults.iter().map(|fault| format!("{}:{fault}", path.display())).collect();
        Error::Usage(lines.join("\n"))
    })?;
    let allowed =
        AllowedFiles::of(path, &[]).map_err(|failure| Error::Usage(failure.to_string()))?;
    let (mut placed, mut named) = (Vec::new(), Vec::new());
    for (name, pool) in &document.workload().pools {
        let columns = match (&pool.file, &pool.values) {
            (Some(file), _) => {
                let whole = |why: String| Error::Usage(format!("the pool {name}: {file}: {why}"));
                let place = allowed.place(file);
                let bytes = place.and_then(|place| input::read(&place)).map_err(whole)?;
                of_file(name, pool, file, &bytes).map_err(whole)?
            }
            (None, Some(rows)) => {
                fill::pools::of_rows(name, rows.iter().map(cells), pool.weight.as_deref())
            }
            (None, None) => continue,
        };
        for column in columns {
            named.push(format!("{}.{}", column.pool, column.column));
            match fill::pools::place(schema, &column, &args.pool)? {
                Some(place) => placed.push((column, place)),
                None if args.quiet => {}
                None => eprintln!(
                    "the pool {}.{} is not a key of a table, and left out (--pool {}.{}=TABLE.COLUMN)",
                    column.pool, column.column, column.pool, column.column
                ),
            }
        }
    }
    // Its rows would be missed in the test.
    match args.pool.iter().find(|(pool, _)| !named.contains(pool)) {
        Some((pool, place)) => Err(Error::Usage(format!(
            "--pool {pool}={place}: {} has values of no such pool and column{}",
            path.display(),
            if named.is_empty() { String::new() } else { format!(", but of {}", named.join(", ")) }
        ))),
        None => Ok(placed),
    }
}

/// The columns of a pool's file, in the format that the pool or the file's name says.
fn of_file(name: &str, pool: &Pool, file: &str, bytes: &[u8]) -> Result<Vec<PoolColumn>, String> {
    let ending = file.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let format = pool.format.unwrap_or(match ending.as_str() {
        "tsv" => FileFormat::Tsv,
        "jsonl" | "ndjson" => FileFormat::Jsonl,
        _ => FileFormat::Csv,
    });
    let weight = pool.weight.as_deref();
    let usual = match format {
        FileFormat::Jsonl => {
            let lines = bytes.split(|byte| *byte == b'\n').zip(1_usize..);
            let lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
            let row = |(line, number): (&[u8], usize)| {
                serde_json::from_slice::<Literal>(line).map_err(|error| {
                    // The line that the error names is always the first.
                    let why = error.to_string();
                    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
                    format!("line {number}, column {}: {why}", error.column())
                })
            };
            let rows: Vec<Literal> = lines.map(row).collect::<Result<_, String>>()?;
            return Ok(fill::pools::of_rows(name, rows.iter().map(cells), weight));
        }
        FileFormat::Tsv => b'\t',
        FileFormat::Csv => b',',
    };
    let separator = match pool.separator.as_deref().map(str::as_bytes) {
        Some(&[byte]) => byte,
        Some(_) => return Err("its separator is not one ASCII character".to_owned()),
        None => usual,
    };
    fill::pools::read(name, bytes, Form { separator, columns: pool.columns.as_deref(), weight })
}

/// The columns of a row of JSON or of the workload file, as requests have them; none for NULL and lists.
fn cells(row: &Literal) -> Vec<(String, String)> {
    let text = |value: &Literal| match value {
        Literal::Null | Literal::List(_) | Literal::Object(_) => None,
        Literal::Text(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    match row {
        Literal::Object(members) => {
            members.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
        }
        single => text(single).map(|text| ("value".to_owned(), text)).into_iter().collect(),
    }
}

/// Writes a pool for each key that is asked for.
pub fn write(args: &FillArgs, database: &mut dyn Database, schema: &Schema) -> fill::Result<()> {
    make_folder(&args.out).map_err(|failure| Error::Database(failure.to_string()))?;
    for place in &args.pools {
        let (table, column) = fill::pools::column(schema, place)?;
        let (values, all) = weights(database, schema, (table, column), MOST_ROWS)?;
        if all > MOST_ROWS as u64 && !args.quiet {
            let place = schema.tables[table].place(column);
            let (all, most) = (counted(all, "value"), grouped(MOST_ROWS as u64));
            eprintln!("{place}: of {all}, {most} are taken, drawn at random");
        }
        let name = &schema.tables[table].columns[column].name;
        let file = file_of(&args.out, &schema.tables[table].name.table, name);
        write_file(&file, &fill::pools::write(name, &values))
            .map_err(|error| Error::Database(format!("{}: {error}", file.display())))?;
        if !args.quiet {
            let values = counted(values.len() as u64, "value");
            eprintln!("plimsoll: {values} in {}", file.display());
        }
    }
    Ok(())
}

/// `pools/users_id.csv`; of names that are no file names, what is.
fn file_of(folder: &Path, table: &str, column: &str) -> std::path::PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let stem: String = format!("{table}_{column}").chars().map(plain).take(100).collect();
    folder.join(format!("{stem}.csv"))
}

/// The values of a key, each with the number of rows that refer to it, and one more: requests ask for those that have
/// none too. The heaviest come first, at most `most`; and how many rows have a value. Rows are read as they come, and
/// nothing is kept but the values that are returned.
fn weights(
    database: &mut dyn Database,
    schema: &Schema,
    (table, column): (usize, usize),
    most: usize,
) -> fill::Result<(Vec<(String, u64)>, u64)> {
    let dialect = schema.dialect;
    let of = &schema.tables[table];
    let (name, key) = (of.name.sql(dialect), dialect.quoted(&of.columns[column].name));
    let shown = fill::selected(dialect, of, &[column]);
    let mut drawn = Drawn { most, seen: 0, kept: BinaryHeap::new() };
    let sql = format!("SELECT {shown} FROM {name} WHERE {key} IS NOT NULL ORDER BY {key}");
    database.query(&sql, &mut |row| {
        if let Some(Some(value)) = row.first() {
            drawn.add(value);
        }
        Ok(())
    })?;
    let all = drawn.seen;
    let mut weights = HashMap::<String, (u64, u64)>::new();
    for (_, at, value) in drawn.kept {
        let (first, weight) = weights.entry(value).or_insert((at, 0));
        (*first, *weight) = (at.min(*first), *weight + 1);
    }
    for other in &schema.tables {
        for reference in &other.references {
            if reference.table != table || reference.targets != [column] {
                continue;
            }
            let from = fill::column_list(dialect, other, &reference.columns);
            let shown = fill::selected(dialect, other, &reference.columns);
            let name = other.name.sql(dialect);
            let sql = format!(
                "SELECT {shown}, count(*) FROM {name} WHERE {from} IS NOT NULL GROUP BY {from}"
            );
            database.query(&sql, &mut |row| {
                if let [Some(value), Some(count)] = row
                    && let Some((_, weight)) = weights.get_mut(*value)
                {
                    *weight += count.parse().unwrap_or(0);
                }
                Ok(())
            })?;
        }
    }
    let mut values: Vec<(String, (u64, u64))> = weights.into_iter().collect();
    values.sort_unstable_by_key(|(_, (at, weight))| (Reverse(*weight), *at));
    Ok((values.into_iter().map(|(value, (_, weight))| (value, weight)).collect(), all))
}

/// Of all values that come as many as are wanted, each as likely as every other, and the same ones each time: those
/// with the lowest numbers out of a sequence that looks random.
struct Drawn {
    most: usize,
    seen: u64,
    /// Number drawn, place, value.
    kept: BinaryHeap<(u64, u64, String)>,
}

impl Drawn {
    fn add(&mut self, value: &str) {
        let number = mixed(self.seen.wrapping_add(1).wrapping_mul(GOLDEN));
        let full = self.kept.len() >= self.most;
        if !full || self.kept.peek().is_some_and(|(highest, ..)| number < *highest) {
            if full {
                self.kept.pop();
            }
            self.kept.push((number, self.seen, value.to_owned()));
        }
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use fill::{Address, Environment};

    use super::*;

    /// A database of SQLite in a folder that is there as long as the value beside it.
    fn made(statements: &[&str]) -> (tempfile::TempDir, Box<dyn Database>) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("shop.db");
        std::fs::write(&file, "").expect("a file");
        let environment = Environment { variable: &|_| None, home: None };
        let url = format!("sqlite:{}", file.display());
        let address = Address::parse(&url, environment).expect("a good URL");
        let mut database = fill::connect(&address).expect("a connection");
        for sql in statements {
            database.execute(sql).expect("good SQL");
        }
        (folder, database)
    }

    #[test]
    fn keys_of_bytes_are_written_in_hexadecimal_digits() {
        let (_folder, mut database) = made(&[
            "CREATE TABLE users (id BLOB PRIMARY KEY)",
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id BLOB REFERENCES users)",
            "INSERT INTO users VALUES (x'FF80'), (x'FE80')",
            "INSERT INTO orders VALUES (1, x'FE80')",
        ]);
        let database = &mut *database;
        let schema = database.schema().expect("a schema");
        let table = schema.find("users").expect("it is there");
        let (values, _) = weights(database, &schema, (table, 0), 100).expect("an answer");
        let wanted = [(r"\xFE80".to_owned(), 2), (r"\xFF80".to_owned(), 1)];
        assert_eq!(values, wanted);
    }

    #[test]
    fn of_many_keys_some_are_drawn_at_random_with_their_weights() {
        let numbers =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) ";
        let (_folder, mut database) = made(&[
            "CREATE TABLE users (id INTEGER PRIMARY KEY)",
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users)",
            &format!("{numbers} INSERT INTO users SELECT i FROM n"),
            // Each second user has three orders.
            &format!(
                "{numbers} INSERT INTO orders SELECT i, 2 + 2 * (i % 1000) FROM n WHERE i <= 3000"
            ),
        ]);
        let database = &mut *database;
        let schema = database.schema().expect("a schema");
        let table = schema.find("users").expect("it is there");
        let (values, all) = weights(database, &schema, (table, 0), 1_000).expect("an answer");
        assert_eq!((values.len(), all), (1_000, 4_000));
        let sum = |of: fn(&(u64, u64)) -> bool| {
            let pairs = values.iter().map(|(id, weight)| (id.parse().expect("a number"), *weight));
            pairs.filter(of).count()
        };
        assert_eq!(
            sum(|(id, weight)| *weight == if id % 2 == 0 && *id <= 2_000 { 4 } else { 1 }),
            1_000
        );
        // From all over the table, and not each so many: 250 are expected of each kind, with a deviation of 12.
        for found in
            [sum(|(id, _)| *id <= 1_000), sum(|(id, _)| id % 4 == 0), sum(|(id, _)| *id > 3_000)]
        {
            assert!((200..300).contains(&found), "{found}");
        }
        let (values, all) = weights(database, &schema, (table, 0), 4_000).expect("an answer");
        assert_eq!((values.len(), all), (4_000, 4_000));
        assert_eq!(values[0], ("2".to_owned(), 4));
        assert_eq!(values[3_999], ("4000".to_owned(), 1));
    }
}
