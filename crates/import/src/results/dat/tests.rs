use proptest::prelude::*;

use super::*;

/// The tables as they were published.
const NATIVE: &str = "\
200 107975.55 2.18 100.00
500 387894.92 2.52 100.00
1000 512223.67 5.89 100.00
3000 599781.96 27.75 100.00
5000 623458.30 52.72 100.00
10000 640701.55 134.92 100.00
15000 644269.17 222.44 100.00
20000 646675.63 257.28 100.00
25000 648380.78 344.17 100.00
50000 642420.16 305.24 99.99
100000 572197.78 118.41 99.84
200000 372247.81 154.68 99.31
500000 110261.20 181.90 96.90
1000000 20954.71 198.87 83.15
";
const BEFORE: &str = "\
200 145651.44 1.28 100.00
500 143562.75 4.30 100.00
1000 144860.93 8.79 100.00
3000 147833.70 30.91 100.00
5000 146953.40 52.75 100.00
10000 144015.46 108.19 100.00
15000 140960.03 164.76 100.00
20000 140586.00 218.57 100.00
25000 140783.38 272.12 100.00
50000 139312.92 462.26 99.93
100000 127629.61 419.98 99.28
200000 90035.14 483.31 97.14
500000 25118.75 743.60 86.08
1000000 12304.60 819.44 71.78
";
const AFTER: &str = "\
200 540539.65 0.44213 100.00
500 536362.78 1.89 100.00
1000 529081.92 5.61 100.00
3000 535506.99 30.00 100.00
5000 539251.92 55.10 100.00
10000 541375.64 131.69 100.00
15000 547164.96 127.14 100.00
20000 550434.18 282.16 100.00
25000 553335.38 222.91 100.00
50000 538144.69 174.27 99.98
100000 457695.17 130.28 99.80
200000 305915.69 193.37 99.16
500000 87672.39 241.65 96.14
1000000 20351.67 231.12 82.99
";

#[test]
fn the_published_tables_come_back_as_they_were() {
    for text in [NATIVE, BEFORE, AFTER] {
        let curve = parse("x", text.as_bytes()).unwrap();
        assert_eq!(curve.rows.len(), 14);
        assert_eq!(print(&curve), text);
    }
    let first = parse("after", AFTER.as_bytes()).unwrap().rows[0];
    assert_eq!((first.level, first.qps, first.mean_ns), (200.0, 540_539.65, 442_130));
    assert_eq!(first.success, Some(1.0));
}

#[test]
fn forms_that_editors_leave_behind_are_accepted() {
    let text = "\u{feff}# from the lab\r\n\r\n  200\t1e3  0.5 100.00\r\n500 2.5 1.25 99";
    let curve = parse("x", text.as_bytes()).unwrap();
    let figures: Vec<_> = curve.rows.iter().map(|r| (r.level, r.qps, r.mean_ns)).collect();
    assert_eq!(figures, [(200.0, 1000.0, 500_000), (500.0, 2.5, 1_250_000)]);
    assert_eq!(curve.rows[1].success, Some(0.99));
}

#[test]
fn more_errors_than_requests_are_no_success() {
    let curve = parse("x", b"200 1 2 -12.50\n500 1 2 -.5").unwrap();
    assert_eq!([curve.rows[0].success, curve.rows[1].success], [Some(0.0); 2]);
}

#[test]
fn refusals_name_line_column_and_word() {
    for (text, message) in [
        ("200 1 2 3\n500 1 2 3\n1000 abc 2 3", "line 3: `abc` in column 2 (QPS) is not a number"),
        ("200 1 2", "line 1: 3 of four columns; success in % is missing"),
        ("200", "line 1: 1 of four columns; QPS is missing"),
        ("200 1 2 3 4", "line 1: a fifth column, `4`"),
        ("# x\n200 1 2 3\n\n200 4 5 6", "line 4: level 200 was on line 2 already"),
        ("500 1 2 3\n200 4 5 6", "line 2: level 200 comes after 500 on line 1: levels must rise"),
        ("200 1 2 3\n500 1 2 3\n200 4 5 6", "line 3: level 200 comes after 500 on line 2"),
        ("200 -1 2 3", "line 1: `-1` in column 2 (QPS) is negative"),
        ("-0 1 2 3", "line 1: `-0` in column 1 (concurrency) is negative"),
        ("0 1 2 3", "line 1: `0` in column 1 (concurrency) is not above zero"),
        ("1.5 1 2 3", "`1.5` in column 1 (concurrency) is not a whole number"),
        ("200 nan 2 3", "`nan` in column 2 (QPS) is not a number"),
        ("200 1 inf 3", "`inf` in column 3 (mean latency in ms) is not a number"),
        ("200 1e999 2 3", "`1e999` in column 2 (QPS) is too large"),
        ("1e13 1 2 3", "column 1 (concurrency) is too large"),
        ("200 1e13 2 3", "column 2 (QPS) is too large"),
        ("200 1 1e300 3", "column 3 (mean latency in ms) is longer than ten years"),
        ("200 1 2 --1", "`--1` in column 4 (success in %) is not a number"),
        ("200 1 2 -x", "`-x` in column 4 (success in %) is not a number"),
        ("200 1 2 100.01", "`100.01` in column 4 (success in %) is over 100"),
        ("200 1 2 \u{1b}[31m", "`\\u{1b}[31m` in column 4 (success in %) is not a number"),
        ("", "holds no levels"),
        ("# only a comment\n", "holds no levels"),
    ] {
        let error = parse("x", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?}: {error}");
    }
    let binary = parse("x", b"200 1 2 3\n\xff\xfe").unwrap_err();
    assert_eq!(binary.line, Some(2));
}

#[test]
fn a_table_of_rates_says_so() {
    let text = format!("{RATE_HEADING}\n0.5 0.50000 12.00 100.00\n1000 999.98 2.00 100.00\n");
    let curve = parse("x", text.as_bytes()).unwrap();
    assert_eq!(curve.kind, LevelKind::Rate);
    assert_eq!(print(&curve), text);
}

#[test]
fn small_figures_keep_their_digits_and_success_is_not_flattered() {
    let mut curve = parse("x", b"1 0.1 0.00512 99.999").unwrap();
    assert_eq!(print(&curve), "1 0.10000 0.00512 99.99\n");
    curve.rows[0].success = None;
    assert_eq!(print(&curve), "1 0.10000 0.00512 0.00\n");
}

#[test]
fn figures_that_round_to_nothing_or_to_one_print_the_same_when_read_again() {
    for (row, printed) in [
        ("1 5.9e-29 0 0", "1 0.00 0.00 0.00\n"),
        ("1 .999999 .000004 0", "1 1.00 0.00 0.00\n"),
        ("1 .99999 .00001 0", "1 0.99999 0.00001 0.00\n"),
    ] {
        let text = print(&parse("x", row.as_bytes()).unwrap());
        assert_eq!(text, printed, "{row}");
        assert_eq!(print(&parse("x", text.as_bytes()).unwrap()), text);
    }
}

fn curves() -> impl Strategy<Value = Curve> {
    let row = (0..100_000_000u32, 0..100_000u32, 0..=10_000u16);
    prop::collection::btree_map(1..1_000_000u32, row, 1..30).prop_map(|rows| Curve {
        name: "x".into(),
        kind: LevelKind::Concurrency,
        rows: rows
            .into_iter()
            .map(|(level, (hundredths, mean, success))| CurveRow {
                level: f64::from(level),
                offered_per_s: None,
                sessions: None,
                responded_ratio: None,
                qps: f64::from(hundredths) / 100.0,
                // Multiples of 10 ns below 0.5 ms, of 10 us above it: what the form can hold.
                mean_ns: u64::from(mean) * if mean < 50_000 { 10 } else { 10_000 },
                percentiles: LevelPercentiles::default(),
                success: Some(f64::from(success) / 100.0 / 100.0),
                verdict: None,
                reason: None,
                cut_short: false,
            })
            .collect(),
        origin: None,
        success_means: SuccessMeaning::Unstated,
        environment: None,
        commonest_response: None,
        change: None,
    })
}

proptest! {
    #[test]
    fn printed_then_read_is_the_same(curve in curves()) {
        let read = parse("x", print(&curve).as_bytes()).unwrap();
        prop_assert_eq!(read, curve);
    }

    #[test]
    fn any_figures_print_stably(level in 1..u32::MAX, qps in 0.0..1e11f64, mean_ns in 0..LONGEST / 2, success in 0.0..=1.0f64) {
        let mut curve = parse("x", b"1 1 1 1").unwrap();
        curve.rows[0] = CurveRow {
            level: f64::from(level), qps, mean_ns, success: Some(success), ..curve.rows[0]
        };
        let text = print(&curve);
        let read = parse("x", text.as_bytes()).unwrap();
        prop_assert_eq!(print(&read), text);
    }

    #[test]
    fn any_bytes_are_a_response_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse("x", &bytes);
    }

    #[test]
    fn a_damaged_table_never_panics(
        at in 0..NATIVE.len(),
        damage in prop::collection::vec(prop::sample::select(b"0159.-+eE \t\r\n#x\0\xff".to_vec()), 0..6),
        cut in 0..4usize,
    ) {
        let mut bytes = NATIVE.as_bytes().to_vec();
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, damage);
        if let Ok(curve) = parse("x", &bytes) {
            prop_assert!(curve.rows.windows(2).all(|pair| pair[0].level < pair[1].level));
            prop_assert!(curve.rows.iter().all(|row| row.qps.is_finite()));
        }
    }
}
