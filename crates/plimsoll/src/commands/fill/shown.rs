//! The plan of a fill, and its first rows, as text.

use fill::{Facts, Rows, Schema, SlowRemoval, Survey};
use model::quote::{counted, grouped};
use unicode_width::UnicodeWidthStr;

/// Rows shown of each table.
const SHOWN: u64 = 10;
/// Characters of a cell that are shown.
const WIDEST: usize = 24;

/// How many rows each table gets, in order, and what is to be known of them.
pub fn plan(schema: &Schema, survey: &Survey, rows: &Rows) -> String {
    let mut lines = vec![["table".to_owned(), "today".into(), "added".into(), "why".into()]];
    for &at in &survey.facts.order {
        let size = &survey.sizes[at];
        lines.push([
            schema.tables[at].name.to_string(),
            grouped(survey.counts[at]),
            grouped(size.add),
            size.why.clone(),
        ]);
    }
    let mut text = table(&lines);
    for (at, size) in survey.sizes.iter().enumerate() {
        if size.add == 0 && !size.why.is_empty() {
            text += &format!("{}: nothing is added: {}\n", schema.tables[at].name, size.why);
        }
    }
    for &((at, column), unfit) in &survey.unfit {
        text += &format!(
            "{}: {} that the pools ask for cannot be in this column ({}), and get no rows\n",
            schema.tables[at].place(column),
            counted(unfit as u64, "value"),
            schema.tables[at].columns[column].type_name
        );
    }
    for &at in &survey.facts.order {
        for (column, left, why) in rows.left_null(at) {
            text += &format!(
                "{}: NULL in {} of {} for want of values: {why}\n",
                schema.tables[at].place(column),
                grouped(left),
                counted(survey.sizes[at].add, "added row")
            );
        }
    }
    for &at in survey.facts.order.iter().filter(|at| !survey.triggers[**at].is_empty()) {
        let names = &survey.triggers[at];
        let names: Vec<String> = names.iter().map(|name| model::quote::plain(name, 64)).collect();
        text += &format!(
            "{}: triggers run for each of its rows, when it is written and when --clean removes it: {}. What they change \
             in other rows stays\n",
            schema.tables[at].name,
            names.join(", ")
        );
    }
    text
}

/// What will make `--clean` slow, and what helps; `added` are the rows of each table that it removes.
pub fn slow(schema: &Schema, facts: &Facts, added: &[u64], removals: &[SlowRemoval]) -> String {
    let before = facts.tables.iter().map(|table| table.rows);
    let counts: Vec<(u64, u64)> = before.zip(added.iter().copied()).collect();
    let keyless = fill::looked_through(schema, &counts).into_iter().map(|at| {
        format!(
            "{}: it has no key, so that --clean looks through the table for each of the {} rows that it removes. It is \
             quick where the table has a primary key before the fill\n",
            schema.tables[at].name,
            grouped(added[at])
        )
    });
    let line = |of: &SlowRemoval| {
        let child = &schema.tables[of.table];
        let reference = &child.references[of.reference];
        let parent = &schema.tables[reference.table];
        format!(
            "{}: this foreign key has no index, so that --clean looks through the table ({} rows) for each of the {} \
             rows of {} that it removes. It is quick after: {}\n",
            child.places(&reference.columns),
            grouped(of.looked_at),
            grouped(of.removed),
            parent.name,
            of.index
        )
    };
    removals.iter().map(line).chain(keyless).collect()
}

/// The first rows of each table.
///
/// # Errors
/// Where one cannot be made.
pub fn rows(schema: &Schema, facts: &Facts, rows: &Rows) -> fill::Result<String> {
    let mut text = String::new();
    for &at in facts.filled() {
        let table_of = &schema.tables[at];
        let names = rows.written(at).iter().map(|&column| table_of.columns[column].name.clone());
        let mut lines: Vec<Vec<String>> = vec![names.collect()];
        let mut row = Vec::new();
        for number in 0..SHOWN.min(facts.added_to(at)) {
            rows.row(at, number, &mut row)?;
            let cell = |value: &fill::Value| match value {
                fill::Value::Null => "NULL".to_owned(),
                value => value.text(),
            };
            // With the references that are filled in the end.
            let row = rows.values(at, rows.written(at), number);
            lines.push(row.iter().map(cell).collect());
        }
        text += &format!("\n{}\n{}", table_of.name, table(&lines));
    }
    Ok(text)
}

/// Aligned columns.
fn table<L: AsRef<[String]>>(lines: &[L]) -> String {
    let short = |cell: &String| {
        let plain = model::quote::plain(cell, WIDEST + 40);
        match plain.chars().count() > WIDEST + 40 - 1 {
            true => plain.chars().take(WIDEST + 38).chain(['…']).collect(),
            false => plain,
        }
    };
    let cells: Vec<Vec<String>> =
        lines.iter().map(|line| line.as_ref().iter().map(short).collect()).collect();
    let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at: usize| cells.iter().filter_map(|line| Some(line.get(at)?.width())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in &cells {
        let padded =
            |(cell, &width): (&String, &usize)| cell.to_owned() + &" ".repeat(width - cell.width());
        let padded: Vec<String> = line.iter().zip(&widths).map(padded).collect();
        text += &format!("{}\n", padded.join("  ").trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_behind_wide_characters() {
        let lines = [["name", "city"], ["姜昌毅", "Ulm"], ["Ann", "Bonn"]];
        let lines: Vec<Vec<String>> =
            lines.iter().map(|line| line.map(str::to_owned).to_vec()).collect();
        assert_eq!(table(&lines), "name    city\n姜昌毅  Ulm\nAnn     Bonn\n");
    }
}
