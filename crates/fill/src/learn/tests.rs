//! What is learnt of made-up rows.

use super::*;
use crate::schema::{Name, Unique};

fn table(kinds: &[Type]) -> Table {
    let column = |(at, kind): (usize, &Type)| Column {
        name: format!("c{at}"),
        kind: kind.clone(),
        type_name: String::new(),
        nullable: true,
        default: None,
        generated: None,
        counted: false,
        folds: false,
    };
    let name = Name { schema: None, table: "t".into() };
    let uniques = vec![Unique { rule: "key".into(), columns: vec![0] }];
    let table = Table::new(name, kinds.iter().enumerate().map(column).collect());
    Table { uniques, has_primary: true, ..table }
}

const INT: Type = Type::Int { min: 0, max: i64::MAX as i128 };
const MOMENT: Type = Type::Moment { micros: true };

fn learn(kinds: &[Type], rows: impl Iterator<Item = Vec<Option<String>>>) -> Vec<Learned> {
    let mut sample = Sample::new(kinds.len(), 1);
    for row in rows {
        let cells: Vec<Option<&str>> = row.iter().map(Option::as_deref).collect();
        sample.add(&cells);
    }
    sample.learn(&table(kinds))
}

#[test]
fn common_values_have_their_shares() {
    let kinds = [INT, Type::Text { most: None }];
    let status = |n: u64| match n % 10 {
        0 => None,
        1..=6 => Some("new".to_owned()),
        7 | 8 => Some("paid".to_owned()),
        _ => Some("lost".to_owned()),
    };
    let learned = learn(&kinds, (0..50_000).map(|n| vec![Some(n.to_string()), status(n)]));
    assert!((learned[1].nulls - 0.1).abs() < 0.01, "{:?}", learned[1].nulls);
    let shares: Vec<(&str, f64)> =
        learned[1].common.iter().map(|(value, share)| (value.as_str(), *share)).collect();
    for (at, wanted) in
        [("new", 6.0 / 9.0), ("paid", 2.0 / 9.0), ("lost", 1.0 / 9.0)].into_iter().enumerate()
    {
        assert_eq!(shares[at].0, wanted.0);
        assert!((shares[at].1 - wanted.1).abs() < 0.015, "{shares:?}");
    }
    assert_eq!(learned[1].rest, Rest::None);
}

#[test]
fn numbers_keep_their_step_and_texts_their_count() {
    let kinds = [INT, INT, Type::Text { most: None }];
    let row = |n: u64| {
        vec![Some(n.to_string()), Some((n % 997 * 50 + 7).to_string()), Some(format!("x{}", n / 2))]
    };
    let learned = learn(&kinds, (0..20_000).map(row));
    let Rest::Between { edges, step } = &learned[1].rest else { panic!("{:?}", learned[1]) };
    assert_eq!((*step, edges[0], *edges.last().unwrap()), (50.0, 7.0, 49_807.0));
    let Rest::Fresh { per_row, .. } = learned[2].rest else { panic!("{:?}", learned[2]) };
    assert!((per_row - 0.5).abs() < 0.06, "{per_row}");
}

#[test]
fn orders_are_noticed() {
    let kinds = [INT, MOMENT, MOMENT];
    let row = |n: i64| {
        let mut cells = vec![Some(n.to_string())];
        for micros in [n * 1_000_000, n * 1_000_000 + n % 7 * 60_000_000] {
            let mut text = String::new();
            times::write_moment(micros, &mut text);
            cells.push(Some(text));
        }
        cells
    };
    let learned = learn(&kinds, (0..5000).map(row));
    assert!(learned[1].rising);
    let (base, distances) = learned[2].after.as_ref().expect("an order");
    assert_eq!((*base, distances[0], *distances.last().unwrap()), (1, 0.0, 360_000_000.0));
    assert!(learned[1].after.is_none());
}

#[test]
fn the_order_of_rows_makes_no_difference() {
    let kinds = [INT, INT];
    let row = |n: u64| vec![Some(n.to_string()), Some((n * n % 1000).to_string())];
    let forward = learn(&kinds, (0..30_000).map(row));
    let back = learn(&kinds, (0..30_000).rev().map(row));
    assert_eq!(forward, back);
}

#[test]
fn what_is_always_the_same_follows_no_other_column() {
    let kinds = [INT, MOMENT, MOMENT];
    let row = |n: i64| {
        let mut made = String::new();
        times::write_moment(n * 1_000_000, &mut made);
        vec![Some(n.to_string()), Some(made), Some("2026-11-01 00:00:00".to_owned())]
    };
    let learned = learn(&kinds, (0..5000).map(row));
    assert!(learned[2].after.is_none() && learned[2].common.len() == 1, "{:?}", learned[2]);
}

#[test]
fn texts_that_are_times_are_learnt_as_times() {
    let kinds = [INT, Type::Text { most: None }, Type::Text { most: None }];
    let row = |n: i64| {
        let text = |micros: i64| {
            let mut text = String::new();
            times::write_moment(micros, &mut text);
            Some(text)
        };
        vec![Some(n.to_string()), text(n * 60_000_000), text(n * 60_000_000 + 5_000_000)]
    };
    let learned = learn(&kinds, (0..5000).map(row));
    let Rest::Between { edges, step } = &learned[1].rest else { panic!("{:?}", learned[1]) };
    assert_eq!((edges[0], *step), (0.0, 60_000_000.0));
    assert!(learned[1].rising);
    assert_eq!(learned[2].after.as_ref().map(|after| after.0), Some(1));
}
