//! Saved ranges: a killed run is resumed, and no row comes twice.

use std::sync::Mutex;

use super::windows::{csv, given, go_on, numbered};
use super::*;

/// Records as a file would hold them.
#[derive(Debug, Default)]
struct Records(Mutex<Vec<u8>>);

impl Records {
    fn of(ranges: &KeptRanges) -> Arc<Self> {
        Arc::new(Self(Mutex::new(ranges.records())))
    }

    fn ranges(&self) -> KeptRanges {
        KeptRanges::read(&self.0.lock().unwrap()).unwrap()
    }
}

impl RangeStore for Records {
    fn put(&self, slot: u32, record: &[u8; RECORD_BYTES]) -> Result<(), String> {
        let mut records = self.0.lock().unwrap();
        let at = slot as usize * RECORD_BYTES;
        let length = records.len().max(at + RECORD_BYTES);
        records.resize(length, 0);
        records[at..at + RECORD_BYTES].copy_from_slice(record);
        Ok(())
    }
}

/// A file by windows, and the same rows in memory.
fn pools(rows: u64) -> [Pool; 2] {
    let text = numbered(rows);
    let table = read_csv(&text, b',', None).unwrap();
    let numbers = Numbers::new(rows, Order::Unique, None, 1);
    [
        Pool::of_stream("p", Stream::new(csv(&text, None), true, 200)),
        Pool::of_table("p", table, numbers),
    ]
}

fn rows_of(ranges: &[RowRange]) -> BTreeSet<u64> {
    ranges.iter().flat_map(|range| range.from.row..range.to.row).collect()
}

fn set(rows: &[String]) -> BTreeSet<u64> {
    rows.iter().map(|row| row.parse().unwrap()).collect()
}

#[test]
fn after_a_kill_no_row_comes_twice_and_what_is_doubtful_is_known() {
    const ROWS: u64 = 3000;
    for (pool, again) in pools(ROWS).into_iter().zip(pools(ROWS)) {
        let records = Records::of(&KeptRanges::default());
        pool.unique().unwrap().0.keep(records.clone(), &KeptRanges::default());
        let mut takers: Vec<Taker> = (0..8).map(|_| pool.taker()).collect();
        let (first, _) = go_on(&pool, &mut takers, 1001);
        // Killed here: nothing is given back.
        let ranges = records.ranges();
        let doubtful = rows_of(&ranges.doubtful);
        assert!(!doubtful.is_empty() && ranges.left.is_empty(), "{ranges:?}");

        let records = Records::of(&ranges);
        again.unique().unwrap().0.keep(records.clone(), &ranges);
        let mut takers: Vec<Taker> = (0..3).map(|_| again.taker()).collect();
        let (second, out) = go_on(&again, &mut takers, ROWS);
        assert!(out.is_some());
        for (worker, taker) in (0..).zip(&takers) {
            again.give_back(WorkerPlace { worker, workers: 3 }, taker);
        }
        let (first, second) = (set(&first), set(&second));
        assert!(first.is_disjoint(&second));
        assert!(doubtful.is_disjoint(&second));
        // Every row was used, is doubtful, or is known to be left.
        let ranges = records.ranges();
        assert!(ranges.doubtful.is_empty(), "{ranges:?}");
        let left = rows_of(&ranges.left);
        assert!(left.is_disjoint(&second) && left.is_disjoint(&first));
        let all: BTreeSet<u64> =
            [&first, &second, &doubtful, &left].into_iter().flatten().copied().collect();
        assert_eq!(all.len() as u64, ROWS);
    }
}

#[test]
fn a_run_that_ended_is_gone_on_with_where_it_was() {
    for (pool, again) in pools(1000).into_iter().zip(pools(1000)) {
        let records = Records::of(&KeptRanges::default());
        pool.unique().unwrap().0.keep(records.clone(), &KeptRanges::default());
        let (first, _) = given(&pool, 4, 306);
        let ranges = records.ranges();
        assert!(ranges.doubtful.is_empty() && !ranges.left.is_empty(), "{ranges:?}");
        let records = Records::of(&ranges);
        assert_eq!(records.ranges(), ranges);
        again.unique().unwrap().0.keep(records.clone(), &ranges);
        let (second, out) = given(&again, 1, 1000);
        assert!(out.is_some());
        assert_eq!((second.len(), set(&first).union(&set(&second)).count()), (694, 1000));
        assert_eq!(rows_of(&records.ranges().left), BTreeSet::new());
    }
}

#[test]
fn what_is_not_a_record_is_reported() {
    let ranges = KeptRanges {
        next: Some(Place { at: 90, row: 9, line: 10 }),
        left: vec![RowRange {
            from: Place { at: 10, row: 1, line: 2 },
            to: Place { at: 30, row: 3, line: 4 },
        }],
        doubtful: Vec::new(),
    };
    let mut records = ranges.records();
    assert_eq!(KeptRanges::read(&records), Ok(ranges.clone()));
    records.extend([0; RECORD_BYTES]);
    assert_eq!(KeptRanges::read(&records), Ok(ranges));
    let mut more = records.clone();
    more.push(7);
    assert_eq!(KeptRanges::read(&more), Err(Damaged));
    // One bit off.
    records[20] ^= 1;
    assert_eq!(KeptRanges::read(&records), Err(Damaged));
}

#[test]
fn records_from_elsewhere_lead_to_no_place_outside_of_the_pool_and_into_no_line() {
    const ROWS: u64 = 1000;
    for pool in pools(ROWS) {
        let records = Records::of(&KeptRanges::default());
        pool.unique().unwrap().0.keep(records.clone(), &KeptRanges::default());
        given(&pool, 4, 306);
        let own = records.ranges();
        assert!(pool.fits(&own) && pool.fits(&KeptRanges::default()), "{own:?}");
        let bent = |bend: &dyn Fn(&mut KeptRanges)| {
            let mut ranges = own.clone();
            bend(&mut ranges);
            assert!(!pool.fits(&ranges), "{ranges:?}");
        };
        let far = Place { at: 1 << 60, row: 1 << 60, line: 1 << 60 };
        bent(&|ranges| ranges.next = Some(far));
        bent(&|ranges| ranges.left[0].to = far);
        bent(&|ranges| ranges.left[0].from = far);
        bent(&|ranges| ranges.doubtful.push(RowRange { from: Place::default(), to: far }));
        bent(&|ranges| ranges.left.push(ranges.left[0]));
        bent(&|ranges| {
            ranges.doubtful.push(RowRange { to: ranges.left[0].to, from: ranges.left[0].from })
        });
    }
    let [stream, _] = pools(ROWS);
    let inside =
        |at| KeptRanges { next: Some(Place { at, row: 5, line: 5 }), ..KeptRanges::default() };
    let end = numbered(ROWS).len() as u64;
    assert!(stream.fits(&inside(end)) && !stream.fits(&inside(end + 1)));
    let fit = (0..end).filter(|at| stream.fits(&inside(*at))).count() as u64;
    // Each row has a line end in quotes too, at which its second half would be refused.
    assert_eq!(fit, 2 * ROWS, "where lines begin, and nowhere else");
}
