//! Unique rules on generated columns, as rules on the columns that these are computed from.

use crate::check::kept_apart;
use crate::schema::{Table, Unique};

/// Puts the columns that generated ones are computed of in their place in rules of uniqueness. Where different values may
/// be computed to the same, the rule is one of `partial` from now on: no row is known by it, and made-up rows may break
/// it; as they may an exclusion constraint on such columns.
pub fn resolve(table: &mut Table) {
    let (uniques, partial) =
        (std::mem::take(&mut table.uniques), std::mem::take(&mut table.partial));
    for (at, unique) in uniques.into_iter().enumerate() {
        let (columns, apart) = through(table, &unique.columns);
        table.has_primary &= at > 0 || apart;
        let kept = if apart { &mut table.uniques } else { &mut table.partial };
        kept.push(Unique { rule: unique.rule, columns });
    }
    for unique in partial {
        let (columns, _) = through(table, &unique.columns);
        table.partial.push(Unique { rule: unique.rule, columns });
    }
    table.partial.retain(|unique| !unique.columns.is_empty());
    for at in 0..table.exclusions.len() {
        let (columns, _) = through(table, &table.exclusions[at].equal.columns);
        table.exclusions[at].equal.columns = columns;
    }
}

/// The columns that these are computed of, and whether different values of those give different values of these.
fn through(table: &Table, columns: &[usize]) -> (Vec<usize>, bool) {
    let (mut found, mut seen, mut apart) = (Vec::new(), Vec::new(), true);
    let mut waiting: Vec<usize> = columns.iter().rev().copied().collect();
    while let Some(column) = waiting.pop() {
        if seen.contains(&column) {
            continue;
        }
        seen.push(column);
        match &table.columns[column].generated {
            None => found.push(column),
            Some(text) => match kept_apart(text, &|name: &str| table.column_meant(name)) {
                Some(base) => waiting.push(base),
                None => {
                    apart = false;
                    waiting.extend(table.named_in(text));
                }
            },
        }
    }
    (found, apart)
}
