//! The ledger: what a fill has done so far, stored in the database itself.
//!
//! Two tables hold the facts of each fill and the progress of each step. A step's progress is written in the transaction
//! of its batch, so after a kill the two agree: no row is missing and none is written twice. `clean` drops the tables.

use crate::database::{Database, all, number};
use crate::error::{Error, Result, unsatisfiable};
use crate::facts::{Facts, TableFacts, VERSION};
use crate::schema::{Dialect, Name, Schema, Table};
use crate::survey::digest;

/// The facts, in pieces.
const FACTS: &str = "plimsoll_fill";
/// How far each step came.
const STEPS: &str = "plimsoll_fill_step";
/// Transactions that wrote to tables without a key; PostgreSQL only.
const SIGNED: &str = "plimsoll_fill_transaction";
/// Characters in a piece.
const PIECE: usize = 100_000;

/// A fill in the database.
#[derive(Debug)]
pub struct Fill {
    /// Its number, from 1.
    pub number: u64,
    /// What its rows depend on.
    pub facts: Facts,
    /// Rows done, by step: first tables in order, then deferred references.
    pub done: Vec<u64>,
    /// The rows before this one, by step, are those among which `clean` left some of others: it looks at them again.
    pub again: Vec<u64>,
}

impl Fill {
    /// Whether all of it is done.
    pub fn is_complete(&self) -> bool {
        self.done.iter().zip(self.facts.steps()).all(|(done, step)| *done >= step.rows)
    }

    /// Whether `clean` left rows of others under its keys.
    pub fn has_rows_of_others(&self) -> bool {
        self.again.iter().any(|rows| *rows > 0)
    }
}

impl Fill {
    /// The schema as this fill numbers it: its tables in its order, and behind them those that have come since, of which
    /// its facts know nothing.
    ///
    /// # Errors
    /// When one of its tables has changed or is gone.
    pub fn numbered(&mut self, now: &Schema) -> Result<Schema> {
        let named = self.facts.tables.iter().map_while(|of| of.name.as_ref());
        let place = |name: &Name| now.tables.iter().position(|table| table.name == *name);
        let known: Vec<Option<usize>> = named.map(place).collect();
        let mut order: Vec<usize> = known.iter().flatten().copied().collect();
        let is_new = |at: &usize| !known.contains(&Some(*at));
        order.extend((0..now.tables.len()).filter(is_new));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| places[from] = to);
        let moved = |&from: &usize| {
            let mut table = now.tables[from].clone();
            table.references.iter_mut().for_each(|of| of.table = places[of.table]);
            table
        };
        let tables: Vec<Table> = order.iter().map(moved).collect();
        if known.contains(&None) || digest(&tables[..known.len()]) != self.facts.schema {
            return unsatisfiable(
                "the tables have changed since the fill, so that its rows cannot be told apart any more; put the schema \
                 back as it was, or remove the rows by hand and drop the tables plimsoll_fill*",
            );
        }
        self.facts.tables.resize(tables.len(), TableFacts::default());
        Ok(Schema { dialect: now.dialect, tables })
    }

    /// Rows that it has added, of each table of the schema.
    pub fn rows_of_tables(&self) -> Vec<u64> {
        let mut rows = vec![0; self.facts.tables.len()];
        for (&table, &done) in self.facts.order.iter().zip(&self.done) {
            rows[table] = done;
        }
        rows
    }
}

/// A step of a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The table.
    pub table: usize,
    /// The reference that is filled; none where rows are written.
    pub reference: Option<usize>,
    /// Rows.
    pub rows: u64,
}

impl Facts {
    /// The steps, in order.
    pub fn steps(&self) -> Vec<Step> {
        let add = |table: usize| self.tables[table].add;
        let tables =
            self.order.iter().map(|&table| Step { table, reference: None, rows: add(table) });
        let links = self.deferred.iter().map(|&(table, reference)| Step {
            table,
            reference: Some(reference),
            rows: add(table),
        });
        tables.chain(links).collect()
    }
}

/// The fills that are in the database, the first one first.
///
/// # Errors
/// When the database refuses, or they were written by another version.
pub fn load(database: &mut dyn Database) -> Result<Vec<Fill>> {
    if !database.has_table(FACTS)? {
        return Ok(Vec::new());
    }
    let mut texts = std::collections::BTreeMap::<u64, String>::new();
    for row in
        all(database, &format!("SELECT fill, piece, facts FROM {FACTS} ORDER BY fill, piece"))?
    {
        let number = row[0].as_deref().and_then(|text| text.parse().ok()).unwrap_or(0);
        texts.entry(number).or_default().push_str(row[2].as_deref().unwrap_or_default());
    }
    let mut fills = Vec::new();
    for (number, text) in texts {
        let facts: Facts = serde_json::from_str(&text).map_err(|error| {
            Error::Database(format!("the table {FACTS} holds no fill of this version: {error}"))
        })?;
        if facts.version != VERSION {
            let version = facts.version;
            return Err(Error::Database(format!(
                "the table {FACTS} holds a fill of version {version}, and this program knows {VERSION}: --clean it by the \
                 program that made it"
            )));
        }
        let steps = facts.steps().len();
        // Behind the steps come those that are looked at again.
        let mut done = vec![0; 2 * steps];
        let sql = format!("SELECT step, done FROM {STEPS} WHERE fill = {number}");
        for row in all(database, &sql)? {
            let cell = |at: usize| row[at].as_deref().and_then(|text| text.parse::<u64>().ok());
            if let (Some(step), Some(rows)) = (cell(0), cell(1))
                && let Some(done) = done.get_mut(step as usize)
            {
                *done = rows;
            }
        }
        let again = done.split_off(steps);
        fills.push(Fill { number, facts, done, again });
    }
    Ok(fills)
}

/// Writes down what is going to be done.
///
/// # Errors
/// When the database refuses.
pub fn begin(database: &mut dyn Database, facts: &Facts) -> Result<Fill> {
    let dialect = database.dialect();
    let text = if dialect == Dialect::Mysql { "LONGTEXT" } else { "TEXT" };
    let engine =
        if dialect == Dialect::Mysql { " ENGINE = InnoDB CHARACTER SET utf8mb4" } else { "" };
    for sql in [
        format!(
            "CREATE TABLE IF NOT EXISTS {FACTS} (fill BIGINT NOT NULL, piece BIGINT NOT NULL, facts {text} NOT NULL, \
             PRIMARY KEY (fill, piece)){engine}"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {STEPS} (fill BIGINT NOT NULL, step BIGINT NOT NULL, done BIGINT NOT NULL, \
             PRIMARY KEY (fill, step)){engine}"
        ),
    ] {
        database.execute(&sql)?;
    }
    if dialect == Dialect::Postgres {
        database.execute(&format!(
            "CREATE TABLE IF NOT EXISTS {SIGNED} (fill BIGINT NOT NULL, step BIGINT NOT NULL, transaction BIGINT NOT NULL)"
        ))?;
    }
    let last = number(database, &format!("SELECT coalesce(max(fill), 0) FROM {FACTS}"))?;
    let fill = last + 1;
    let json = serde_json::to_string(facts).map_err(|error| Error::Database(error.to_string()))?;
    database.execute("BEGIN")?;
    let mut rest = json.as_str();
    let mut piece = 0;
    while !rest.is_empty() {
        let mut end = rest.len().min(PIECE);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let literal = dialect.literal(&rest[..end]);
        database.execute(&format!("INSERT INTO {FACTS} VALUES ({fill}, {piece}, {literal})"))?;
        rest = &rest[end..];
        piece += 1;
    }
    let done = vec![0; facts.steps().len()];
    for step in 0..done.len() {
        database.execute(&format!("INSERT INTO {STEPS} VALUES ({fill}, {step}, 0)"))?;
    }
    database.execute("COMMIT")?;
    let again = vec![0; done.len()];
    Ok(Fill { number: fill, facts: facts.clone(), done, again })
}

/// Writes down how far a step came, inside of a transaction.
///
/// # Errors
/// When the database refuses, or another program cleaned up meanwhile.
pub fn set(database: &mut dyn Database, fill: u64, step: usize, done: u64) -> Result<()> {
    let sql = format!("UPDATE {STEPS} SET done = {done} WHERE fill = {fill} AND step = {step}");
    if database.execute(&sql)? == 1 {
        return Ok(());
    }
    Err(Error::Database(format!("the table {STEPS} was changed by another program")))
}

/// Writes down, inside of a transaction, that rows of others were left among those of a step before row `end`.
///
/// # Errors
/// When the database refuses.
pub fn look_again(database: &mut dyn Database, fill: &Fill, step: usize, end: u64) -> Result<()> {
    let (number, place) = (fill.number, fill.done.len() + step);
    database.execute(&format!("DELETE FROM {STEPS} WHERE fill = {number} AND step = {place}"))?;
    database.execute(&format!("INSERT INTO {STEPS} VALUES ({number}, {place}, {end})")).map(|_| ())
}

/// Drops the tables of a ledger that holds no fill: a program that was stopped left them. Whether there were any.
///
/// # Errors
/// When the database refuses.
pub fn drop_empty(database: &mut dyn Database) -> Result<bool> {
    let mut found = false;
    if database.has_table(FACTS)? && number(database, &format!("SELECT count(*) FROM {FACTS}"))? > 0
    {
        return Ok(false);
    }
    for table in [SIGNED, STEPS, FACTS] {
        if database.has_table(table)? {
            database.execute(&format!("DROP TABLE {table}"))?;
            found = true;
        }
    }
    database.forget_statistics()?;
    Ok(found)
}

/// Forgets a fill that was undone, and drops the tables after the last one.
///
/// # Errors
/// When the database refuses.
pub fn forget(database: &mut dyn Database, fill: u64) -> Result<()> {
    for table in [STEPS, FACTS] {
        database.execute(&format!("DELETE FROM {table} WHERE fill = {fill}"))?;
    }
    if number(database, &format!("SELECT count(*) FROM {FACTS}"))? == 0 {
        database.execute(&format!("DROP TABLE IF EXISTS {SIGNED}"))?;
        database.execute(&format!("DROP TABLE {STEPS}"))?;
        database.execute(&format!("DROP TABLE {FACTS}"))?;
    }
    Ok(())
}

/// Writes down which transaction this is: by it the rows of a table without a key are found again.
///
/// # Errors
/// When the database refuses.
pub fn sign(database: &mut dyn Database, fill: u64, step: usize) -> Result<()> {
    if database.dialect() != Dialect::Postgres {
        return Ok(());
    }
    database.execute(&format!(
        "INSERT INTO {SIGNED} VALUES ({fill}, {step}, txid_current() % 4294967296)"
    ))?;
    Ok(())
}

/// The condition by which the rows are found that the transactions of a step wrote.
pub fn signed(fill: u64, step: usize) -> String {
    format!(
        "xmin::text::bigint IN (SELECT transaction FROM {SIGNED} WHERE fill = {fill} AND step = {step})"
    )
}

#[cfg(test)]
mod tests {
    /// A number that comes back a little different makes other rows, which `clean` would look for in vain.
    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in (1..20_000).map(|number| f64::from(number) / 7e3) {
            let text = serde_json::to_string(&number).expect("a number");
            assert_eq!(serde_json::from_str::<f64>(&text).expect("a number"), number, "{text}");
        }
    }
}
