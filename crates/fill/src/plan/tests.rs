//! Sizes and orders of small schemas.

use super::*;
use crate::schema::{Column, Dialect, Name, OnDelete, Reference, Schema, Table, Type, Unique};

/// Tables by name, each with references `(table, nullable)`.
fn schema(tables: &[(&str, &[(usize, bool)])]) -> Schema {
    let column = |name: String, nullable: bool| Column {
        name,
        kind: Type::Int { min: 0, max: i64::MAX.into() },
        type_name: String::new(),
        nullable,
        default: None,
        generated: None,
        counted: false,
        folds: false,
    };
    let table = |(name, references): &(&str, &[(usize, bool)])| {
        let mut columns = vec![column("id".into(), false)];
        let links = references.iter().enumerate().map(|(at, (table, nullable))| {
            columns.push(column(format!("r{at}"), *nullable));
            Reference {
                rule: format!("{name}_r{at}"),
                columns: vec![at + 1],
                table: *table,
                targets: vec![0],
                on_delete: OnDelete::Refuse,
            }
        });
        let references = links.collect();
        let name = Name { schema: None, table: (*name).to_owned() };
        let uniques = vec![Unique { rule: "key".into(), columns: vec![0] }];
        Table { uniques, has_primary: true, references, ..Table::new(name, columns) }
    };
    Schema { dialect: Dialect::Sqlite, tables: tables.iter().map(table).collect() }
}

fn adds(sizes: &[Size]) -> Vec<u64> {
    sizes.iter().map(|size| size.add).collect()
}

#[test]
fn what_refers_to_a_table_grows_with_it() {
    let shop = schema(&[
        ("users", &[]),
        ("orders", &[(0, false)]),
        ("items", &[(1, false), (3, false)]),
        ("products", &[]),
        ("notes", &[(0, true)]),
    ]);
    let counts = [100, 300, 900, 50, 0];
    let wish = Wish { rows: vec![("users".into(), 1000)], ..Wish::default() };
    let found = sizes(&shop, &counts, &[0; 5], &wish).unwrap();
    assert_eq!(adds(&found), [900, 2700, 8100, 0, 0]);
    assert!(found[4].why.contains("--rows notes=N"), "{}", found[4].why);
    let only = Wish { only: true, ..wish.clone() };
    assert_eq!(adds(&sizes(&shop, &counts, &[0; 5], &only).unwrap()), [900, 0, 0, 0, 0]);
    let growth = Wish { growth: Some(("users".into(), 18.75)), ..Wish::default() };
    assert_eq!(adds(&sizes(&shop, &counts, &[0; 5], &growth).unwrap())[..2], [1775, 5325]);
    let fewer = Wish { growth: Some(("users".into(), 0.5)), ..Wish::default() };
    let found = sizes(&shop, &counts, &[0; 5], &fewer).unwrap();
    assert_eq!((found[0].add, found[0].why.as_str()), (0, "has as many already"));
    let typo = Wish { rows: vec![("user".into(), 10)], ..Wish::default() };
    let why = sizes(&shop, &counts, &[0; 5], &typo).unwrap_err().to_string();
    assert!(why.contains("did you mean `users`"), "{why}");
    // A name that has nothing in common with it is none that was meant.
    let other = Wish { rows: vec![("v".into(), 10)], ..Wish::default() };
    let why = sizes(&schema(&[("bt", &[])]), &[0], &[0], &other).unwrap_err().to_string();
    assert!(!why.contains("did you mean"), "{why}");
}

#[test]
fn parents_come_first_and_cycles_are_opened() {
    let shop = schema(&[("items", &[(1, false)]), ("orders", &[(2, false)]), ("users", &[])]);
    let wish = Wish { rows: vec![("items".into(), 1000)], ..Wish::default() };
    let found = sizes(&shop, &[0; 3], &[0; 3], &wish).unwrap();
    assert_eq!(adds(&found), [1000, 100, 10]);
    assert_eq!(order(&shop, &found).unwrap(), (vec![2, 1, 0], vec![]));
    let none = Wish { rows: vec![("items".into(), 9), ("orders".into(), 0)], ..Wish::default() };
    let why = sizes(&shop, &[0; 3], &[0; 3], &none).unwrap_err().to_string();
    assert!(why.starts_with("items needs rows of orders, which has none"), "{why}");

    let cycle = schema(&[("users", &[(1, false)]), ("teams", &[(0, true), (1, false)])]);
    let wish = Wish { rows: vec![("users".into(), 10), ("teams".into(), 10)], ..Wish::default() };
    let found = sizes(&cycle, &[0; 2], &[0; 2], &wish).unwrap();
    assert_eq!(order(&cycle, &found).unwrap(), (vec![1, 0], vec![(1, 0)]));

    let closed = schema(&[("users", &[(1, false)]), ("teams", &[(0, false)]), ("x", &[(0, true)])]);
    let found = sizes(&closed, &[0; 3], &[0; 3], &wish).unwrap();
    let why = order(&closed, &found).unwrap_err().to_string();
    assert!(why.contains("users (r0) by users_r0; teams (r0) by teams_r0"), "{why}");
    assert!(!why.contains("x_r0"), "{why}");
}
