//! Files read by windows come to the same rows as files read whole.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::pool::drawn::Cells;
use crate::pool::split::Splitter;

/// A file that may change.
#[derive(Debug)]
pub(super) struct Bytes {
    now: Mutex<Vec<u8>>,
    was: u64,
}

impl Bytes {
    pub(super) fn new(bytes: &[u8]) -> Arc<Self> {
        Arc::new(Self { now: Mutex::new(bytes.to_vec()), was: bytes.len() as u64 })
    }

    fn shrink(&self, to: usize) {
        self.now.lock().unwrap().truncate(to);
    }
}

impl RowFile for Bytes {
    fn size(&self) -> u64 {
        self.was
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let now = self.now.lock().unwrap();
        let from = now.get(offset as usize..).and_then(|rest| rest.get(..into.len()));
        into.copy_from_slice(from.ok_or("has changed")?);
        Ok(())
    }
}

pub(super) fn csv(bytes: &[u8], columns: Option<&[String]>) -> CsvFile {
    CsvFile::open("f.csv", Bytes::new(bytes), b',', columns).unwrap()
}

type Row = Vec<Vec<u8>>;

/// All rows, read in consecutive windows of this many bytes.
fn by_windows(bytes: &[u8], window: usize) -> Result<Vec<Row>, String> {
    let csv = csv(bytes, Some(&["a".to_owned()]));
    let (mut splitter, mut piece, mut cells) = (Splitter::new(b','), Vec::new(), Cells::default());
    let (mut rows, mut at) = (Vec::new(), csv.start);
    loop {
        let next = csv.read(at, window, &mut splitter, &mut piece)?;
        if next.at == at.at {
            assert_eq!((at.at, at.row), (bytes.len() as u64, rows.len() as u64));
            return Ok(rows);
        }
        let plain = split::is_plain(&piece);
        let (mut used, mut count) = (0, 0);
        while let Some((bytes, _)) = splitter.row(&piece[used..], plain, &mut cells) {
            rows.push((0..cells.len()).map(|cell| cells.cell(cell).to_vec()).collect());
            cells.clear();
            used += bytes;
            count += 1;
            // Passing over rows comes to the same place.
            assert_eq!(splitter.skip(&piece, count), used, "{piece:?}");
        }
        assert_eq!(next.row - at.row, count);
        at = next;
    }
}

/// All rows, by the reader of whole files.
fn whole(bytes: &[u8]) -> Vec<Row> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).from_reader(bytes);
    let rows =
        reader.into_byte_records().map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect());
    rows.collect()
}

/// Whether a quote is open at the end: then another row's text belongs to the last cell.
fn is_open(bytes: &[u8]) -> bool {
    whole(&[bytes, b"\nX"].concat()).last() != Some(&vec![b"X".to_vec()])
}

/// Asserts that a text comes to the rows of the reader of whole files, unless a quote is open at its end.
fn agree(text: &[u8], bytes: &[u8], window: usize) {
    match by_windows(bytes, window) {
        Ok(rows) => assert_eq!((rows, false), (whole(text), is_open(text)), "by {window}"),
        Err(what) => assert!(is_open(text) && what.contains("is never closed"), "{what}"),
    }
}

const TRICKY: &str =
    "a,b\r\n\"x\"\"y\",\"1\n2\"\n\n\r\n\"\",\r3,4\"5\n\"q\"r,s\n\"open\nto the, end";

#[test]
fn windows_may_be_cut_anywhere() {
    for end in 0..=TRICKY.len() {
        let bytes = &TRICKY.as_bytes()[..end];
        (1..=end + 1).for_each(|window| agree(bytes, bytes, window));
    }
    let marked = format!("\u{feff}{TRICKY}");
    (1..=TRICKY.len()).for_each(|window| agree(TRICKY.as_bytes(), marked.as_bytes(), window));
}

proptest! {
    #[test]
    fn rows_by_windows_are_the_files_rows(
        text in "([ab,\"\r\né]|,\"|\"\n|\r\n|\"\"){0,60}",
        window in 1usize..50,
    ) {
        agree(text.as_bytes(), text.as_bytes(), window);
    }
}

fn stream(text: &[u8], unique: bool, window: usize) -> Pool {
    Pool::of_stream("p", Stream::new(csv(text, None), unique, window))
}

/// What `workers` workers are given in turn: the cells of one column, until `turns` are over or one
/// gets an error.
pub(super) fn given(pool: &Pool, workers: u32, turns: u64) -> (Vec<String>, Option<String>) {
    let mut takers: Vec<Taker> = (0..workers).map(|_| pool.taker()).collect();
    let given = go_on(pool, &mut takers, turns);
    for (worker, taker) in (0..).zip(&takers) {
        pool.give_back(WorkerPlace { worker, workers }, taker);
    }
    given
}

pub(super) fn go_on(
    pool: &Pool,
    takers: &mut [Taker],
    turns: u64,
) -> (Vec<String>, Option<String>) {
    let workers = takers.len() as u32;
    let (mut drawn, mut given) = (Drawn::default(), Vec::new());
    for turn in 0..turns {
        let worker = (turn % u64::from(workers)) as u32;
        let place = Draw { lane: 0, k: turn };
        let request =
            RowRequest { pool: 0, seed: 1, place, worker_place: WorkerPlace { worker, workers } };
        drawn.clear(1);
        match pool.draw(request, &mut takers[worker as usize], &mut drawn) {
            Ok(()) => given.push(String::from_utf8(pool.cell(&drawn, 0, 0).0.to_vec()).unwrap()),
            Err(halt) => return (given, Some(halt.0.into())),
        }
    }
    (given, None)
}

pub(super) fn numbered(rows: u64) -> Vec<u8> {
    let rows = (0..rows).map(|n| format!("{n},\"x\n{n}\"\n"));
    ["id,x\n".to_owned()].into_iter().chain(rows).collect::<String>().into_bytes()
}

#[test]
fn a_stream_gives_every_row_once_and_then_says_so_or_begins_anew() {
    let text = numbered(1000);
    for window in [1, 100, WINDOW] {
        for workers in [1, 3] {
            let (given, out) = given(&stream(&text, true, window), workers, 2000);
            let set: BTreeSet<&String> = given.iter().collect();
            assert_eq!(set.len(), given.len());
            assert!(out.unwrap().contains("all rows of f.csv"));
            // No worker holds back more than the shortest window, whose rows have eight bytes at least.
            let held_back = workers as usize * 4096 / 8;
            assert!(given.len() + held_back >= 1000, "{} of {workers} by {window}", given.len());
        }
        let (given, out) = given(&stream(&text, false, window), 1, 2500);
        let expected = (0..2500u64).map(|n| (n % 1000).to_string());
        assert!(given.into_iter().eq(expected) && out.is_none(), "{window}");
    }
}

#[test]
fn what_one_load_leaves_the_next_one_takes() {
    let pool = stream(&numbered(1000), true, 100);
    let mut all = Vec::new();
    for workers in [8, 3, 1, 5] {
        let (given, out) = given(&pool, workers, 150);
        assert!(out.is_none(), "{out:?}");
        all.extend(given);
    }
    let (rest, out) = given(&pool, 1, 1000);
    assert!(out.is_some());
    all.extend(rest);
    let set: BTreeSet<&String> = all.iter().collect();
    assert_eq!((set.len(), all.len()), (1000, 1000));
}

#[test]
fn errors_in_a_stream_are_reported_with_row_and_line() {
    for (text, rows, needle) in [
        (
            &b"a,b\n1,2\n\"3\n\",4\n\n5\n6,7\n"[..],
            2,
            "f.csv:6: row 3 has 1 value, the columns are 2",
        ),
        (b"a,b\n1,2\n1,2,3\n", 1, "f.csv:3: row 2 has 3 values"),
        (b"a,b\n1,2\n1,\xff\n", 0, "f.csv:3: row 2 is not UTF-8"),
        (b"a,b\n\n\r\n", 0, "f.csv has no rows"),
        (
            b"a,b\n1,2\n3,x\"\n5,\"6\n7,8\n",
            0,
            "f.csv:4: a quote opened in line 4, column 3 is never closed",
        ),
    ] {
        let (given, out) = given(&stream(text, false, WINDOW), 1, 9);
        let out = out.unwrap();
        assert!(given.len() == rows && out.contains(needle), "{given:?} {out}");
    }
    let mut long = b"a\n1\n\"".to_vec();
    long.resize(3 << 20, b'x');
    let given_of = |text: &[u8]| given(&stream(text, true, WINDOW), 1, 9);
    let (rows, out) = given_of(&long);
    let out = out.unwrap();
    assert!(
        rows == ["1"]
            && out
                .contains("f.csv:3: a quote opened in line 3, column 1 is not closed within 1 MiB"),
        "{out}"
    );
    long[4] = b'x';
    let (_, out) = given_of(&long);
    let out = out.unwrap();
    assert!(out.contains("f.csv:3: row 2 is longer than 1 MiB (from byte 4 on)"), "{out}");
}

#[test]
fn a_file_that_shrinks_is_an_error() {
    let file = Bytes::new(&numbered(1000));
    let csv = CsvFile::open("f.csv", file.clone(), b',', None).unwrap();
    let pool = Pool::of_stream("p", Stream::new(csv, true, 100));
    let mut takers = [pool.taker()];
    assert_eq!(go_on(&pool, &mut takers, 500).1, None);
    file.shrink(100);
    let (_, out) = go_on(&pool, &mut takers, 500);
    assert_eq!(out.unwrap(), "pool `p`: f.csv has changed");
    // What it holds then is given back as what was not used: nothing of a window that it never had.
    pool.give_back(WorkerPlace { worker: 0, workers: 1 }, &takers[0]);
    let again = go_on(&pool, &mut [pool.taker()], 1);
    assert_eq!((again.0.len(), again.1.as_deref()), (0, Some("pool `p`: f.csv has changed")));
}

#[test]
fn names_of_columns_come_from_the_first_row() {
    let file = csv("\u{feff}\r\n\"a\nb\",c\r\n1,2\r\n".as_bytes(), None);
    assert_eq!(file.columns, ["a\nb", "c"]);
    assert_eq!(file.start, Place { at: 14, row: 0, line: 3 });
    let open = |text: &[u8]| CsvFile::open("f.csv", Bytes::new(text), b',', None).unwrap_err().what;
    assert!(open(b"").contains("no header row"));
    assert!(open(b"a,a\n").contains("two columns"));
    assert!(open(&[b'x'; 2 << 20]).contains("longer than 1 MiB"));
    assert!(open(b"a,\"b\n1,2\n").contains("line 1, column 3 is never closed"));
}
