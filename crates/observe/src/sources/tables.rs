//! Which tables of a database are reported: those of which most rows were read since the watching began. A server's own
//! counts go back to its start, and what was read last year says nothing about a run.

use std::collections::BTreeMap;

/// Tables reported in one sample.
const MOST_TABLES: usize = 20;

/// Rows read of tables when they were looked at first.
#[derive(Debug, Default)]
pub struct Tables {
    first: Option<BTreeMap<String, u64>>,
}

impl Tables {
    /// Of tables with the rows that were ever read of them, those to report.
    pub fn dearest<T>(&mut self, mut all: Vec<(String, u64, T)>) -> Vec<(String, T)> {
        let first = self.first.get_or_insert_with(|| {
            all.iter().map(|(table, read, _)| (table.clone(), *read)).collect()
        });
        let grown =
            |table: &str, read: u64| read.saturating_sub(first.get(table).copied().unwrap_or(0));
        all.sort_by_key(|(table, read, _)| std::cmp::Reverse((grown(table, *read), *read)));
        all.truncate(MOST_TABLES);
        all.into_iter().map(|(table, _, more)| (table, more)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_now_comes_before_what_was_read_once() {
        let all = |orders: u64| -> Vec<(String, u64, ())> {
            let old = |n: u64| (format!("old{n}"), 1_000_000 + n, ());
            (0..30).map(old).chain([("orders".to_owned(), orders, ())]).collect()
        };
        let mut tables = Tables::default();
        let names = |told: Vec<(String, ())>| told.into_iter().map(|(name, ())| name);
        let first: Vec<_> = names(tables.dearest(all(5))).collect();
        assert!(first.len() == MOST_TABLES && first[0] == "old29", "{first:?}");
        assert_eq!(names(tables.dearest(all(900))).next().as_deref(), Some("orders"));
    }
}
