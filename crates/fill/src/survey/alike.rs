//! Which texts are the same to a column: a collation may ignore case, accents, or blanks at the end.

use std::collections::{BTreeMap, BTreeSet};

use crate::database::Database;
use crate::error::Result;
use crate::facts::TableFacts;
use crate::rows::few_texts_of;
use crate::schema::{Table, Type};

/// Looks at the texts that a fill may choose from, and at those that are taken or asked for, of columns with rules of
/// uniqueness.
pub fn find(database: &mut dyn Database, table: &Table, facts: &mut TableFacts) -> Result<()> {
    let columns: BTreeSet<usize> =
        table.rules().flat_map(|unique| unique.columns.iter().copied()).collect();
    let is_text = |column: &usize| matches!(table.columns[*column].kind, Type::Text { .. });
    for column in columns.into_iter().filter(is_text) {
        let partitions = facts.partitions.as_deref();
        let mut texts = few_texts_of(database.dialect(), table, column, partitions);
        let of = &facts.columns[column];
        if !texts.is_empty() {
            texts.extend(of.wanted.iter().cloned());
        }
        texts.extend(of.learned.common.iter().map(|(text, _)| text.clone()));
        texts.extend(of.taken.iter().cloned());
        let compared = database.compared_as(table, column, &texts)?;
        facts.columns[column].alike = same(&texts, &compared);
    }
    Ok(())
}

/// Texts that are the same as one before them: that one. `compared` is what is compared instead of each.
fn same(texts: &[String], compared: &[Option<String>]) -> BTreeMap<String, String> {
    let mut first = BTreeMap::<&str, &String>::new();
    let mut found = BTreeMap::new();
    for (text, compared) in texts.iter().zip(compared) {
        let Some(compared) = compared else { continue };
        let earlier = *first.entry(compared).or_insert(text);
        if earlier != text {
            found.insert(text.clone(), earlier.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_the_same_as_an_earlier_one_is_told() {
        let texts = ["tea", "caf\u{e9}", "Tea", "tea", "cafe", "\u{1f3a9}"].map(str::to_owned);
        let compared = ["tea", "cafe", "tea", "tea", "cafe"].map(|text| Some(text.to_owned()));
        let compared: Vec<Option<String>> = compared.into_iter().chain([None]).collect();
        let wanted = [("Tea", "tea"), ("cafe", "caf\u{e9}")];
        let wanted = wanted.map(|(text, earlier)| (text.to_owned(), earlier.to_owned()));
        assert_eq!(same(&texts, &compared), BTreeMap::from(wanted));
    }
}
