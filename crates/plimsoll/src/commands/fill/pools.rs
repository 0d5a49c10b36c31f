//! Pools of a workload file, and pools made of tables.

use std::fs;
use std::path::Path;

use fill::{Database, Error, PoolColumn, Schema};
use import::workload::{Document, MOST_BYTES};

use crate::args::FillArgs;
use crate::load::allowed_files::AllowedFiles;
use crate::results::input;
use crate::results::output::{make_folder, write_file};

/// Rows of a pool that is written at most.
const MOST_ROWS: u64 = 1_000_000;

/// A column of a pool, and the table's column that it is.
type Placed = (PoolColumn, (usize, usize));

/// The columns of the workload's pools that are keys of tables. Says which ones are not.
pub fn read(args: &FillArgs, schema: &Schema) -> fill::Result<Vec<Placed>> {
    let Some(path) = &args.workload else { return Ok(Vec::new()) };
    let wrong = |why: String| Error::Usage(format!("{}: {why}", path.display()));
    let bytes = input::read_at_most(path, MOST_BYTES as u64).map_err(wrong)?;
    let document = Document::read(&bytes).map_err(|faults| {
        let lines: Vec<String> =
            faults.iter().map(|fault| format!("{}:{fault}", path.display())).collect();
        Error::Usage(lines.join("\n"))
    })?;
    let allowed =
        AllowedFiles::of(path, &[]).map_err(|failure| Error::Usage(failure.to_string()))?;
    let mut placed = Vec::new();
    for (name, pool) in &document.workload().pools {
        let Some(file) = &pool.file else { continue };
        let whole = |why: String| Error::Usage(format!("the pool {name}: {file}: {why}"));
        let bytes = allowed.place(file).and_then(|place| input::read(&place)).map_err(whole)?;
        let columns = fill::pools::read(name, &bytes, pool.weight.as_deref()).map_err(whole)?;
        for column in columns {
            match fill::pools::place(schema, &column, &args.pool)? {
                Some(place) => placed.push((column, place)),
                None if args.quiet => {}
                None => eprintln!(
                    "the pool {}.{} is no key of a table, and left out (--pool {}.{}=TABLE.COLUMN)",
                    column.pool, column.column, column.pool, column.column
                ),
            }
        }
    }
    Ok(placed)
}

/// Writes a pool for each key that is asked for.
pub fn write(args: &FillArgs, database: &mut dyn Database, schema: &Schema) -> fill::Result<()> {
    make_folder(&args.out).map_err(|failure| Error::Database(failure.to_string()))?;
    for place in &args.pools {
        let (table, column) = fill::pools::column(schema, place)?;
        let values = weights(database, schema, (table, column), args.quiet)?;
        let name = &schema.tables[table].columns[column].name;
        let file = file_of(&args.out, &schema.tables[table].name.table, name);
        write_file(&file, &fill::pools::write(name, &values))
            .map_err(|error| Error::Database(format!("{}: {error}", file.display())))?;
        if !args.quiet {
            eprintln!("plimsoll: {} values in {}", values.len(), file.display());
        }
    }
    Ok(())
}

/// `pools/users_id.csv`; of names that are no file names, what is.
fn file_of(folder: &Path, table: &str, column: &str) -> std::path::PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let stem: String = format!("{table}_{column}").chars().map(plain).take(100).collect();
    let _ = fs::metadata(folder);
    folder.join(format!("{stem}.csv"))
}

/// The values of a key, each with the number of rows that refer to it, and one more: requests ask for those that have
/// none too.
fn weights(
    database: &mut dyn Database,
    schema: &Schema,
    (table, column): (usize, usize),
    quiet: bool,
) -> fill::Result<Vec<(String, u64)>> {
    let dialect = schema.dialect;
    let of = &schema.tables[table];
    let key = dialect.quoted(&of.columns[column].name);
    let mut counts = std::collections::HashMap::<String, u64>::new();
    for other in &schema.tables {
        for reference in &other.references {
            if reference.table != table || reference.targets != [column] {
                continue;
            }
            let from = fill::column_list(dialect, other, &reference.columns);
            let name = other.name.sql(dialect);
            let sql = format!(
                "SELECT {from}, count(*) FROM {name} WHERE {from} IS NOT NULL GROUP BY {from}"
            );
            database.query(&sql, &mut |row| {
                if let [Some(value), Some(count)] = row {
                    *counts.entry((*value).to_owned()).or_default() += count.parse().unwrap_or(0);
                }
                Ok(())
            })?;
        }
    }
    let name = of.name.sql(dialect);
    let all = format!("SELECT count(*) FROM {name} WHERE {key} IS NOT NULL");
    let all = fill::all(database, &all)?;
    let all = all.first().and_then(|row| row.first()?.as_deref()?.parse().ok()).unwrap_or(0_u64);
    let every = all.div_ceil(MOST_ROWS).max(1);
    if every > 1 && !quiet {
        eprintln!(
            "{}: of {all} values, one of {every} is taken, over all of the table",
            of.place(column)
        );
    }
    let sql = match every {
        1 => format!("SELECT {key} FROM {name} WHERE {key} IS NOT NULL ORDER BY {key}"),
        // Of all of the table, not of its oldest rows.
        _ => format!(
            "SELECT {key} FROM (SELECT {key}, row_number() OVER (ORDER BY {key}) AS plimsoll_number FROM {name} \
             WHERE {key} IS NOT NULL) AS k WHERE plimsoll_number % {every} = 0 ORDER BY {key}"
        ),
    };
    let mut values = Vec::new();
    database.query(&sql, &mut |row| {
        if let Some(Some(value)) = row.first() {
            values.push(((*value).to_owned(), 1 + counts.get(*value).copied().unwrap_or(0)));
        }
        Ok(())
    })?;
    values.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    Ok(values)
}
