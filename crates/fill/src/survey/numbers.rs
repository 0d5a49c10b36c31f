//! The highest number or time of a column and, where there is too little room above it, the numbers below it that no
//! row has.

use super::{MOST_LISTED, is_checked};
use crate::database::{Database, all, one, selected};
use crate::error::Result;
use crate::facts::TableFacts;
use crate::learn::number_of;
use crate::schema::{Table, Type};

/// Looks at a column of numbers or times of a table with rows.
pub fn find(
    database: &mut dyn Database,
    table: &Table,
    column: usize,
    facts: &mut TableFacts,
) -> Result<()> {
    let (kind, dialect) = (&table.columns[column].kind, database.dialect());
    let (key, name) = (dialect.quoted(&table.columns[column].name), table.name.sql(dialect));
    let shown = selected(dialect, table, &[column]);
    let found = one(database, &format!("SELECT max({shown}) FROM {name}"))?;
    let highest = found.and_then(|text| match kind {
        // What is beyond 64 bits is beyond all that a fill counts to.
        Type::Int { .. } => whole(Some(text.as_str()))
            .map(|number| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
        _ => number_of(kind, &text).map(|number| number.ceil() as i64),
    });
    let (add, of) = (facts.add, &mut facts.columns[column]);
    of.highest = of.highest.max(highest);
    let Type::Int { max, .. } = kind else { return Ok(()) };
    // A condition may end them before the type does.
    let checked = is_checked(table, column, facts.partitions.as_deref());
    let ends = |highest: i64| checked || max - i128::from(highest) < i128::from(add);
    if of.highest.is_some_and(ends) {
        of.gap = gap(database, table, column, add)?;
    }
    if checked {
        let sql = format!(
            "SELECT DISTINCT {shown} FROM {name} WHERE {key} IS NOT NULL LIMIT {MOST_LISTED}"
        );
        of.taken = all(database, &sql)?.into_iter().flatten().flatten().collect();
    }
    Ok(())
}

/// The lowest and the highest of so many numbers in a row, or of as many as there are, between those of a column or else
/// below all of them; those of a counter are above 0.
fn gap(
    database: &mut dyn Database,
    table: &Table,
    column: usize,
    needed: u64,
) -> Result<Option<(i64, i64)>> {
    let (of, dialect) = (&table.columns[column], database.dialect());
    let Type::Int { min, .. } = of.kind else { return Ok(None) };
    let (key, name) = (dialect.quoted(&of.name), table.name.sql(dialect));
    let (mut lowest, mut last) = (None::<i128>, None::<i128>);
    let mut widest: Option<(i128, i128)> = None;
    // MySQL 5.7 has no window functions that would find it.
    let shown = selected(dialect, table, &[column]);
    let sql = format!("SELECT {shown} FROM {name} WHERE {key} IS NOT NULL ORDER BY {key}");
    database.query(&sql, &mut |row| {
        let number = whole(row[0]);
        let between = last.zip(number).map(|(last, number)| (last + 1, number - 1));
        widest = widest.into_iter().chain(between).rev().max_by_key(|(low, high)| high - low);
        lowest = lowest.or(number);
        last = number;
        Ok(())
    })?;
    let below = lowest.map(|lowest| (min, lowest - 1));
    let least = if of.counted { min.max(1) } else { min };
    let most = i128::from(i64::MAX);
    let runs = [widest, below].into_iter().flatten();
    let runs = runs.map(|(low, high)| (low.max(least), high.min(most)));
    let runs = runs.filter(|(low, high)| low <= high);
    let wide = |(low, high): &(i128, i128)| (high - low + 1).min(needed.into());
    // Of two that are wide enough the first.
    let widest = runs.rev().max_by_key(wide);
    Ok(widest.and_then(|(low, high)| Some((low.try_into().ok()?, high.try_into().ok()?))))
}

fn whole(text: Option<&str>) -> Option<i128> {
    text?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Address, connect};
    use crate::facts::ColumnFacts;

    #[test]
    fn numbers_that_no_row_has_are_found() {
        const MOST: i64 = i64::MAX;
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut database = connect(&Address::Sqlite(file.path().to_owned())).expect("a database");
        let tables = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INT UNIQUE)";
        database.execute(tables).expect("a table");
        for (id, n) in [(5, 5), (6, 6), (20, 20), (MOST, MOST)] {
            database.execute(&format!("INSERT INTO a VALUES ({id}, {n})")).expect("a row");
        }
        let table = database.schema().expect("a schema").tables.remove(0);
        let mut found =
            |column, needed| gap(&mut *database, &table, column, needed).expect("found");
        assert_eq!(found(0, 100), Some((21, MOST - 1)));
        assert_eq!(found(1, 100), Some((21, MOST - 1)));
        database.execute(&format!("DELETE FROM a WHERE id = {MOST}")).expect("gone");
        let mut found =
            |column, needed| gap(&mut *database, &table, column, needed).expect("found");
        assert_eq!(found(0, 100), Some((7, 19)));
        assert_eq!(found(1, 13), Some((7, 19)));
        assert_eq!(found(1, 14), Some((i64::MIN, 4)));
    }

    #[test]
    fn what_is_beyond_64_bits_is_the_highest() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut database = connect(&Address::Sqlite(file.path().to_owned())).expect("a database");
        // As MySQL shows a `bigint unsigned`.
        database.execute("CREATE TABLE a (n INT)").expect("a table");
        let mut table = database.schema().expect("a schema").tables.remove(0);
        let Type::Int { min, .. } = &mut table.columns[0].kind else { panic!("no number") };
        *min = 0;
        database.execute("DROP TABLE a").expect("gone");
        database.execute("CREATE TABLE a (n TEXT)").expect("a table");
        database.execute("INSERT INTO a VALUES ('18446744073709551615')").expect("a row");
        let columns = vec![ColumnFacts::default()];
        let mut facts = TableFacts { rows: 1, add: 5, columns, ..TableFacts::default() };
        find(&mut *database, &table, 0, &mut facts).expect("found");
        assert_eq!(facts.columns[0].highest, Some(i64::MAX));
        assert_eq!(facts.columns[0].gap, Some((0, i64::MAX)));
    }
}
