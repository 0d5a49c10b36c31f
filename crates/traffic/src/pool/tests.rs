mod index;
mod kept;
mod windows;

use std::collections::BTreeSet;

use model::Draw;
use model::workload::Order;

use super::*;
use crate::source::WorkerPlace;

fn cells(table: &Table) -> Vec<Vec<String>> {
    let columns = table.columns().len() as u16;
    let cell = |row, column| String::from_utf8(table.cell(row, column).0.to_vec()).unwrap();
    (0..table.rows()).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

#[test]
fn csv_of_every_kind_is_read() {
    for text in [
        "id,name\n1,ann\n2,\"b, \"\"c\"\"\nd\"\n",
        "\u{feff}id,name\r\n1,ann\r\n2,\"b, \"\"c\"\"\nd\"",
        "id,name\n\n1,ann\n\n2,\"b, \"\"c\"\"\nd\"\n\n",
    ] {
        let table = read_csv(text.as_bytes(), b',', None).unwrap();
        assert_eq!(table.columns(), ["id", "name"]);
        assert_eq!(cells(&table), [["1", "ann"], ["2", "b, \"c\"\nd"]], "{text:?}");
    }
    let columns = ["a".to_owned(), "b".to_owned()];
    let table = read_csv(b"1\t2\n3\t\n", b'\t', Some(&columns)).unwrap();
    assert_eq!(cells(&table), [["1", "2"], ["3", ""]]);
}

#[test]
fn bad_rows_are_reported_with_their_line() {
    for (text, line, needle) in [
        (&b"a,b\n1,2\n3\n"[..], Some(3), "has 1 value"),
        (b"a,b\n1,\"x\ny\"\n3,4,5\n", Some(4), "has 3 values"),
        (b"a,b\n1,\xff\n", Some(2), "row 1: `b` is not UTF-8"),
        (b"a,b\n1,\"x\n2,y\n", Some(2), "a quote opened in line 2, column 3 is never closed"),
        ("a,b\né,\"x\"\n\"é\n\",\"\"\"\n".as_bytes(), Some(4), "line 4, column 3 is never closed"),
        (b"a,\n", Some(1), "column 2 has no name"),
        (b"a,a\n", Some(1), "two columns"),
        (b"", None, "no header row"),
    ] {
        let bad = read_csv(text, b',', None).unwrap_err();
        assert!(bad.what.contains(needle), "{bad:?}");
        assert_eq!(bad.line, line, "{bad:?}");
    }
    let bad = read_json_lines(b"{\"a\":1}\n\n{\"a\":\n").unwrap_err();
    assert_eq!(bad.line, Some(3), "{bad:?}");
    assert!(read_json_lines(b"{\"a\":1}\n7\n").unwrap_err().what.contains(
        "row 2 is not an \
        object"
    ));
}

#[test]
fn json_lines_keep_types_and_report_what_a_row_lacks() {
    let table = read_json_lines(b"{\"a\":7,\"b\":\"7\"}\r\n{\"a\":[1]}\n").unwrap();
    assert_eq!(table.cell(0, 0), (&b"7"[..], true));
    assert_eq!(table.cell(0, 1), (&b"7"[..], false));
    assert_eq!(table.cell(1, 0), (&b"[1]"[..], true));
    assert_eq!((table.lacks(0), table.lacks(1)), (None, Some(2)));
    let single = read_json_lines(b"\"x\"\n5\n").unwrap();
    assert_eq!((single.columns(), single.rows()), (&["value".to_owned()][..], 2));
}

/// Rows that `workers` workers get in turn until one finds nothing more; whether one did.
fn used(order: Order, rows: u64, workers: u32, turns: u64) -> (Vec<u64>, bool) {
    let pool = Numbers::new(rows, order, None, 9);
    let mut takers: Vec<_> = (0..workers).map(|_| numbers::Taker::default()).collect();
    let mut used = Vec::new();
    for turn in 0..turns {
        let worker = (turn % u64::from(workers)) as u32;
        let place = Draw { lane: 0, k: turn };
        let request =
            RowRequest { pool: 0, seed: 1, place, worker_place: WorkerPlace { worker, workers } };
        match pool.next(request, &mut takers[worker as usize]).unwrap() {
            Some(row) => used.push(row),
            None => return (used, true),
        }
    }
    (used, false)
}

#[test]
fn unique_rows_never_come_twice_and_running_out_is_reported() {
    for workers in [1, 3, 8] {
        let (rows, out) = used(Order::Unique, 10_000, workers, 20_000);
        let set: BTreeSet<u64> = rows.iter().copied().collect();
        assert_eq!(set.len(), rows.len());
        // What other workers hold back is at most a range each.
        assert!(rows.len() as u64 > 10_000 - 64 * u64::from(workers), "{}", rows.len());
        assert!(out);
    }
    let (rows, out) = used(Order::Unique, 100, 8, 100);
    assert_eq!((rows.len(), out), (100, false));
}

#[test]
fn orders_that_count_give_every_row_as_often() {
    for order in [Order::Sequential, Order::Shuffled] {
        for workers in [1, 4] {
            let (rows, _) = used(order, 128, workers, 128 * 3);
            let mut counts = [0; 128];
            rows.iter().for_each(|row| counts[*row as usize] += 1);
            assert_eq!(counts, [3; 128], "{order:?} {workers}");
        }
    }
    assert!(used(Order::Sequential, 50, 1, 50).0.is_sorted());
    assert!(!used(Order::Shuffled, 50, 1, 50).0.is_sorted());
}
