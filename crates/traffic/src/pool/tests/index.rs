//! Rows found by an index are the file's rows, and come as often as their weights say.

use super::windows::{Bytes, csv, go_on, numbered};
use super::*;

fn built(csv: &CsvFile, weight: Option<usize>) -> Result<(IndexHead, Vec<u8>), String> {
    let (mut entries, mut progress) = (Vec::new(), 0);
    let head = Indexing::of(csv, weight).build(
        &mut |more| {
            entries.extend_from_slice(more);
            Ok(())
        },
        &mut |bytes| {
            progress = bytes;
            Ok(())
        },
    )?;
    assert_eq!((progress, entries.len() as u64), (csv.file.size(), head.bytes()));
    Ok((head, entries))
}

fn pool(csv: CsvFile, order: Order, weight: Option<usize>) -> Pool {
    let (head, entries) = built(&csv, weight).unwrap();
    let index = RowIndex::open(head, Bytes::new(&entries)).unwrap();
    let indexed = Indexed::new(csv, index, weight);
    let numbers = Numbers::new(indexed.rows(), order, None, 5);
    Pool::of_indexed("p", indexed, numbers)
}

#[test]
fn every_row_comes_once_in_a_shuffled_pass() {
    let plain: String = (0..999).map(|n| format!("{n},x\r\n\n")).collect();
    for text in [numbered(999), format!("id,x\n{plain}").into_bytes()] {
        let pool = pool(csv(&text, None), Order::Shuffled, None);
        let mut takers: Vec<Taker> = (0..3).map(|_| pool.taker()).collect();
        let (given, out) = go_on(&pool, &mut takers, 999);
        assert_eq!(out, None);
        let numbers: Vec<u64> = given.iter().map(|row| row.parse().unwrap()).collect();
        assert!(!numbers.is_sorted());
        // Workers hold parts of ranges back at the end of the first pass, and go on into the second.
        let set: BTreeSet<u64> = numbers.into_iter().collect();
        assert!(set.len() > 999 - 3 * 20 && set.last() < Some(&999), "{}", set.len());
        let (given, _) = go_on(&pool, &mut [pool.taker()], 5_000);
        assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), 999);
    }
}

#[test]
fn random_rows_are_all_there() {
    let pool = pool(csv(&numbered(300), None), Order::Random, None);
    let (given, _) = go_on(&pool, &mut [pool.taker()], 10_000);
    assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), 300);
}

#[test]
fn rows_come_as_often_as_their_weights_say() {
    const ROWS: u64 = 40_000;
    // Two columns of numbers; weights 0, 1, 2, 3 in turn, over several parts of the index.
    let rows: String = (0..ROWS).map(|n| format!("{n},{}\n", n % 4)).collect();
    let file = csv(format!("id,w\n{rows}").as_bytes(), None);
    let pool = pool(file, Order::Weighted, Some(1));
    let (given, out) = go_on(&pool, &mut [pool.taker()], 60_000);
    assert_eq!(out, None);
    let (mut by_weight, mut low) = ([0u32; 4], 0u32);
    for row in given {
        let row: u64 = row.parse().unwrap();
        by_weight[row as usize % 4] += 1;
        low += u32::from(row < ROWS / 10);
    }
    assert_eq!(by_weight[0], 0);
    // 10,000, 20,000 and 30,000 are expected; more than five standard deviations off is not by chance.
    for (count, wanted) in by_weight.into_iter().zip([0.0, 10_000.0, 20_000.0, 30_000.0f64]) {
        assert!((f64::from(count) - wanted).abs() <= 5.0 * wanted.sqrt(), "{by_weight:?}");
    }
    assert!((f64::from(low) - 6_000.0).abs() <= 5.0 * 6_000f64.sqrt(), "{low}");
}

#[test]
fn what_is_wrong_is_reported_when_the_index_is_made() {
    for (text, weight, needle) in [
        (&b"a,b\n1,2\n\n\"3\n\",4\n5\n"[..], None, "f.csv:6: row 3 has 1 value, the columns are 2"),
        (b"a,b\n1,2\n3,x\n", Some(1), "f.csv:3: row 2: `x` is not a weight"),
        (b"a,b\n1,-1\n", Some(1), "f.csv:2: row 1: `-1` is not a weight"),
        (b"a,b\n1,0\n", Some(1), "f.csv: the weights sum to zero"),
        (b"a,b\n1,\xff\n", None, "f.csv:2: row 1 is not UTF-8"),
        (b"a,b\n\n", None, "f.csv has no rows"),
    ] {
        let what = built(&csv(text, None), weight).unwrap_err();
        assert!(what.contains(needle), "{what}");
    }
}

#[test]
fn a_damaged_index_is_noticed() {
    let csv = csv(&numbered(5000), None);
    let (head, entries) = built(&csv, None).unwrap();
    assert!(RowIndex::open(head.clone(), Bytes::new(&entries)).is_ok());
    let open = |head: &IndexHead, entries: &[u8]| {
        RowIndex::open(head.clone(), Bytes::new(entries)).is_err()
    };
    assert!(open(&head, &entries[8..]));
    let mut off = entries.clone();
    off[40] ^= 1;
    assert!(open(&head, &off));
    assert!(open(&IndexHead { rows: 0, ..head.clone() }, &entries));
    assert!(open(&IndexHead { block: 0, ..head.clone() }, &entries));
    assert!(open(&IndexHead { rows: u64::MAX, block: 1, ..head }, &entries));
}
