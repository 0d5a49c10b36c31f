//! Asks a database all that a fill needs to know, before the first row is written. No query is made for single rows
//! later.
//!
//! `alike` asks which texts are the same to a column, `numbers` for the highest values, `orders` for orders between the
//! times of two tables, `pools` for the values that requests use, `texts` for texts that are taken, `triggers` for side
//! effects of rows, `unindexed` for what makes removing rows slow.

mod alike;
mod numbers;
mod orders;
mod pools;
mod texts;
mod triggers;
mod unindexed;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use crate::database::{Database, all, column_list, number, one, selected};
use crate::draw::{key_of, key_of_text};
use crate::error::{Result, unsatisfiable};
use crate::facts::{ColumnFacts, Facts, LinkFacts, ParentKeys, TableFacts, VERSION};
use crate::learn::{FEW, Form, Learned, Sample};
use crate::plan::{self, Size, Wish};
use crate::pools::PoolColumn;
use crate::rows::{FIRST_PRIVATE, LAST_PRIVATE, Rows};
use crate::schema::{Dialect, Schema, Table, Type};
use crate::times::parse_moment;
use pools::{Sorted, sort_pools};

pub use unindexed::{SlowRemoval, looked_through, slow_removals};

/// Values that are listed of a unique column whose conditions may leave it few.
const MOST_LISTED: usize = 1000;
/// Rows up to which a whole table is read to learn from it; of more, about so many are.
const MOST_READ: u64 = 1_000_000;
/// Keys of rows that are there, kept for each table that others refer to.
const MOST_KEYS: u64 = 200_000;

/// What a fill is to do.
#[derive(Debug, Clone)]
pub struct Request {
    /// How many rows.
    pub wish: Wish,
    /// The seed.
    pub seed: u64,
    /// The language of texts.
    pub locale: String,
    /// The latest time that is made, in microseconds since 1970.
    pub until: i64,
    /// Rows in a batch.
    pub batch: u64,
    /// Columns of pools, with the table and column that each is.
    pub pools: Vec<(PoolColumn, (usize, usize))>,
}

/// What is known, and how the sizes came about.
#[derive(Debug)]
pub struct Survey {
    /// What rows depend on.
    pub facts: Facts,
    /// One for each table.
    pub sizes: Vec<Size>,
    /// Today's rows.
    pub counts: Vec<u64>,
    /// The names of each table's triggers.
    pub triggers: Vec<Vec<String>>,
    /// Table and column of pools with values that the column cannot hold, and how many those are.
    pub unfit: Vec<((usize, usize), usize)>,
}

/// Surveys a database.
///
/// # Errors
/// When the database refuses, or what is asked cannot be done: which rule, which column.
pub fn survey(database: &mut dyn Database, schema: &Schema, request: &Request) -> Result<Survey> {
    let dialect = schema.dialect;
    let mut counts = Vec::new();
    for table in &schema.tables {
        let sql = format!("SELECT count(*) FROM {}", table.name.sql(dialect));
        counts.push(number(database, &sql)?);
    }
    let pools = sort_pools(database, schema, request)?;
    let mut wanted = vec![0; counts.len()];
    for (&(table, _), pool) in &pools {
        wanted[table] = pool.missing.len().max(wanted[table] as usize) as u64;
    }
    let sizes = plan::sizes(schema, &counts, &wanted, &request.wish)?;
    let (order, deferred) = plan::order(schema, &sizes)?;
    for &at in &order {
        let table = &schema.tables[at];
        if let Some(why) = table.unfit {
            let name = &table.name;
            return unsatisfiable(format!("{name}: {why}; or leave it out (--rows {name}=0)"));
        }
    }
    let mut tables = Vec::new();
    for (at, table) in schema.tables.iter().enumerate() {
        let mut facts = TableFacts {
            name: Some(table.name.clone()),
            rows: counts[at],
            add: sizes[at].add,
            columns: vec![ColumnFacts::default(); table.columns.len()],
            ..TableFacts::default()
        };
        for (&(_, column), pool) in pools.iter().filter(|((of, _), _)| *of == at) {
            let of = &mut facts.columns[column];
            of.wanted = pool.missing.iter().map(|(value, _)| value.clone()).collect();
            let weights = |values: &[(String, f64)]| values.iter().map(|of| of.1).collect();
            of.weights = (weights(&pool.there), weights(&pool.missing));
        }
        if sizes[at].add > 0 {
            facts.partitions = database.partitions(table)?;
            learn(database, table, request.seed, &mut facts)?;
            uniques(database, table, &mut facts)?;
            alike::find(database, table, &mut facts)?;
            links(database, schema, at, &mut facts)?;
        }
        default_forms(dialect, table, &mut facts);
        tables.push(facts);
    }
    orders::find(database, schema, &order, &mut tables)?;
    parents(database, schema, &order, &pools, &mut tables)?;
    free_parents(database, schema, &order, &mut tables)?;
    let facts = Facts {
        version: VERSION,
        seed: request.seed,
        locale: request.locale.clone(),
        until: request.until,
        schema: digest(&schema.tables),
        batch: request.batch,
        tables,
        order,
        deferred,
    };
    Rows::compile(schema, &facts)?;
    let unfit = pools.iter().filter(|(_, pool)| pool.unfit > 0);
    let unfit = unfit.map(|(place, pool)| (*place, pool.unfit)).collect();
    Ok(Survey { facts, sizes, counts, triggers: triggers::find(database, schema)?, unfit })
}

/// What stands for the tables of a schema.
pub fn digest(tables: &[Table]) -> u64 {
    key_of_text(&format!("{tables:?}"))
}

fn learn(
    database: &mut dyn Database,
    table: &Table,
    seed: u64,
    facts: &mut TableFacts,
) -> Result<()> {
    if facts.rows == 0 || table.columns.is_empty() {
        return Ok(());
    }
    let dialect = database.dialect();
    let every: Vec<usize> = (0..table.columns.len()).collect();
    let columns = selected(dialect, table, &every);
    let name = table.name.sql(dialect);
    let some = match (facts.rows > MOST_READ, dialect) {
        (false, _) => String::new(),
        (true, Dialect::Postgres) => {
            let percent = MOST_READ as f64 / facts.rows as f64 * 100.0;
            format!(" TABLESAMPLE BERNOULLI ({percent:.6}) REPEATABLE ({})", seed % 1000)
        }
        (true, Dialect::Mysql) => {
            let share = MOST_READ as f64 / facts.rows as f64;
            format!(" WHERE rand({}) < {share:.8}", seed % 1000)
        }
        (true, Dialect::Sqlite) => match table.rowid {
            Some(rowid) => format!(" WHERE {rowid} % {} = 0", facts.rows.div_ceil(MOST_READ)),
            None => format!(" LIMIT {MOST_READ}"),
        },
    };
    let mut sample = Sample::new(table.columns.len(), key_of(&[seed, 9]));
    database.query(&format!("SELECT {columns} FROM {name}{some}"), &mut |row| {
        sample.add(row);
        Ok(())
    })?;
    let learned: Vec<Learned> = sample.learn(table);
    for (of, learned) in facts.columns.iter_mut().zip(learned) {
        of.learned = learned;
    }
    Ok(())
}

/// Times that SQLite keeps as text, where no rows show it.
fn default_forms(dialect: Dialect, table: &Table, facts: &mut TableFacts) {
    for (of, column) in facts.columns.iter_mut().zip(&table.columns) {
        let text = dialect == Dialect::Sqlite && matches!(column.kind, Type::Text { .. });
        // Other texts are there, of which the default says nothing.
        if text && of.learned.form.is_none() && !of.learned.is_known() {
            of.learned.form = column.default.as_deref().and_then(Form::of_default);
        }
    }
}

/// The highest values of columns that occur in rules of uniqueness or that count.
fn uniques(database: &mut dyn Database, table: &Table, facts: &mut TableFacts) -> Result<()> {
    let dialect = database.dialect();
    let name = table.name.sql(dialect);
    let mut columns: BTreeSet<usize> =
        table.rules().flat_map(|unique| unique.columns.iter().copied()).collect();
    columns.extend((0..table.columns.len()).filter(|&at| table.columns[at].counted));
    for column in columns {
        let (of, key) = (&table.columns[column], dialect.quoted(&table.columns[column].name));
        if of.counted {
            facts.columns[column].counter = database.counter(table, column)?;
            facts.columns[column].series = database.series(table, column)?;
            let last =
                facts.columns[column].counter.map(|(value, given)| value - i64::from(!given));
            facts.columns[column].highest = last.filter(|last| *last > 0);
        }
        let is_asked_for =
            matches!(of.kind, Type::Text { .. }) && !facts.columns[column].wanted.is_empty();
        if facts.rows == 0 && !is_asked_for {
            continue;
        }
        match &of.kind {
            kind if kind.is_continuous() => numbers::find(database, table, column, facts)?,
            Type::Text { .. } => texts::find(database, table, column, facts)?,
            Type::Inet => {
                let sql = format!("SELECT {key} FROM {name} WHERE {key} IS NOT NULL");
                let mut highest: Option<i64> = None;
                database.query(&sql, &mut |row| {
                    highest = highest.max(row[0].and_then(private_address));
                    Ok(())
                })?;
                facts.columns[column].highest = highest;
            }
            Type::Bool | Type::Enum(_) => {
                let shown = selected(dialect, table, &[column]);
                let sql = format!("SELECT DISTINCT {shown} FROM {name} WHERE {key} IS NOT NULL");
                let found = all(database, &sql)?;
                facts.columns[column].taken = found.into_iter().flatten().flatten().collect();
            }
            _ => {}
        }
    }
    if let (true, Some(rowid)) = (table.key().is_none(), table.rowid) {
        let last = one(database, &format!("SELECT max({rowid}) FROM {name}"))?;
        facts.first_rowid = last.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0) + 1;
    }
    Ok(())
}

/// The number of an address of the block that unique ones are taken from; a network's is that of its address.
fn private_address(text: &str) -> Option<i64> {
    let address: Ipv4Addr = text.split('/').next()?.parse().ok()?;
    let number = address.to_bits();
    (FIRST_PRIVATE..=LAST_PRIVATE).contains(&number).then_some(number.into())
}

/// How children are spread over parents.
fn links(
    database: &mut dyn Database,
    schema: &Schema,
    at: usize,
    facts: &mut TableFacts,
) -> Result<()> {
    let (table, dialect) = (&schema.tables[at], schema.dialect);
    for reference in &table.references {
        let mut link = LinkFacts::default();
        if facts.rows >= FEW as u64 {
            let name = table.name.sql(dialect);
            let list = column_list(dialect, table, &reference.columns);
            let filled = reference
                .columns
                .iter()
                .map(|&column| {
                    format!("{} IS NOT NULL", dialect.quoted(&table.columns[column].name))
                })
                .collect::<Vec<_>>()
                .join(" AND ");
            let sql = format!(
                "SELECT n, count(*) FROM (SELECT count(*) AS n FROM {name} WHERE {filled} GROUP BY {list}) AS g \
                 GROUP BY n ORDER BY n"
            );
            for row in all(database, &sql)? {
                let cell = |at: usize| row[at].as_deref().and_then(|text| text.parse().ok());
                link.counts.extend(cell(0).zip(cell(1)));
            }
            let children: u64 = link.counts.iter().map(|(n, parents)| n * parents).sum();
            link.nulls = 1.0 - children as f64 / facts.rows as f64;
            let parents: u64 = link.counts.iter().map(|(_, parents)| parents).sum();
            let name = schema.tables[reference.table].name.sql(dialect);
            let all = number(database, &format!("SELECT count(*) FROM {name}"))?;
            link.counts.push((0, all.saturating_sub(parents)));
        }
        facts.links.push(link);
    }
    Ok(())
}

/// The keys of rows that are there, for those who will refer to them.
fn parents(
    database: &mut dyn Database,
    schema: &Schema,
    order: &[usize],
    pools: &BTreeMap<(usize, usize), Sorted>,
    tables: &mut [TableFacts],
) -> Result<()> {
    let dialect = schema.dialect;
    for &at in order {
        for reference in &schema.tables[at].references {
            let (table, columns) = (&schema.tables[reference.table], &reference.targets);
            let timed = orders::wanted(schema, order, tables, (reference.table, columns));
            let facts = &mut tables[reference.table];
            if facts.parents.iter().any(|parents| parents.columns == *columns) {
                continue;
            }
            let mut keys = Vec::new();
            if facts.rows > 0 {
                let keys_list = column_list(dialect, table, columns);
                let every_column: Vec<usize> = columns.iter().chain(&timed).copied().collect();
                let list = selected(dialect, table, &every_column);
                let name = table.name.sql(dialect);
                let filled = columns
                    .iter()
                    .map(|&column| {
                        format!("{} IS NOT NULL", dialect.quoted(&table.columns[column].name))
                    })
                    .collect::<Vec<_>>()
                    .join(" AND ");
                let sql = format!("SELECT {list} FROM {name} WHERE {filled} ORDER BY {keys_list}");
                let (every, mut seen) = (facts.rows.div_ceil(MOST_KEYS), 0_u64);
                database.query(&sql, &mut |row| {
                    seen += 1;
                    if seen.is_multiple_of(every) {
                        let cells = row.iter().map(|cell| cell.unwrap_or_default().to_owned());
                        keys.push(cells.collect());
                    }
                    Ok(())
                })?;
            }
            if let [column] = columns[..]
                && let Some(pool) = pools.get(&(reference.table, column))
            {
                heaviest_first(&mut keys, &pool.there);
            }
            let time = |row: &Vec<String>, at: usize| parse_moment(row.get(columns.len() + at)?);
            let times = timed.iter().enumerate().map(|(at, &column)| {
                (column, keys.iter().map(|row| time(row, at)).collect::<Vec<Option<i64>>>())
            });
            let times = times.collect();
            keys.iter_mut().for_each(|row| row.truncate(columns.len()));
            facts.parents.push(ParentKeys { columns: columns.clone(), keys, times });
        }
    }
    Ok(())
}

/// Puts the keys that requests ask for first. Of one that is not among those that were kept, no times are known.
fn heaviest_first(keys: &mut Vec<Vec<String>>, pool: &[(String, f64)]) {
    let heavy: BTreeSet<&str> = pool.iter().map(|(value, _)| value.as_str()).collect();
    let (heavy, light): (Vec<_>, Vec<_>) =
        std::mem::take(keys).into_iter().partition(|key| heavy.contains(key[0].as_str()));
    let mut known: BTreeMap<String, Vec<String>> =
        heavy.into_iter().map(|key| (key[0].clone(), key)).collect();
    let first =
        pool.iter().map(|(value, _)| known.remove(value).unwrap_or_else(|| vec![value.clone()]));
    keys.extend(first);
    keys.extend(light);
}

/// Old parents without a child, for references that are unique.
fn free_parents(
    database: &mut dyn Database,
    schema: &Schema,
    order: &[usize],
    tables: &mut [TableFacts],
) -> Result<()> {
    let dialect = schema.dialect;
    for &at in order {
        let table = &schema.tables[at];
        for (number, reference) in table.references.iter().enumerate() {
            let unique = table.uniques.iter().any(|unique| {
                unique.columns.iter().all(|column| reference.columns.contains(column))
            });
            if !unique || reference.table == at {
                continue;
            }
            let list = selected(dialect, table, &reference.columns);
            let mut taken = Vec::new();
            let sql = format!("SELECT {list} FROM {}", table.name.sql(dialect));
            database.query(&sql, &mut |row| {
                let key: Option<Vec<String>> =
                    row.iter().map(|cell| cell.map(str::to_owned)).collect();
                taken.extend(key);
                Ok(())
            })?;
            let keys = tables[reference.table].keys_of(&reference.targets);
            let parent = &schema.tables[reference.table];
            let all: Vec<&Vec<String>> = keys.iter().chain(&taken).collect();
            let compared = compared(database, parent, &reference.targets, &all)?;
            let (keys, taken) = compared.split_at(keys.len());
            let taken: BTreeSet<&Vec<String>> = taken.iter().collect();
            let free = keys.iter().enumerate().filter(|(_, key)| !taken.contains(key));
            let free = free.map(|(place, _)| place as u32).collect();
            tables[at].links[number].free = free;
        }
    }
    Ok(())
}

/// What the database compares instead of keys of these columns.
fn compared(
    database: &mut dyn Database,
    table: &Table,
    columns: &[usize],
    keys: &[&Vec<String>],
) -> Result<Vec<Vec<String>>> {
    let mut compared: Vec<Vec<String>> = keys.iter().copied().cloned().collect();
    for (part, &column) in columns.iter().enumerate() {
        if !matches!(table.columns[column].kind, Type::Text { .. }) {
            continue;
        }
        let texts: Vec<String> = keys.iter().map(|key| key[part].clone()).collect();
        for (key, text) in compared.iter_mut().zip(database.compared_as(table, column, &texts)?) {
            key[part] = text.unwrap_or_default();
        }
    }
    Ok(compared)
}

/// Whether a condition names a column, or the one of the table's partitions does.
fn is_checked(table: &Table, column: usize, partitions: Option<&str>) -> bool {
    table.checks.iter().any(|check| table.columns_of(check).contains(&column))
        || partitions.is_some_and(|text| table.named_in(text).contains(&column))
}
