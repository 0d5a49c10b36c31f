//! Whatever a log holds, it is read or refused: no input panics, and every line is counted once.

use mine::{Filter, Format, Survey, Tally, Wanted, outcome};
use proptest::prelude::*;

/// Both readings and what comes of them.
fn mine(text: &[u8], sessions: bool) {
    let Ok(format) = Format::detect(text).or_else(|_| Format::named("combined").ok_or(())) else {
        return;
    };
    let filter = Filter::default();
    let mut survey = Survey::new(&filter);
    survey.read(text, &mut format.reader());
    let (lines, bad) = survey.lines();
    assert!(bad <= lines);
    let Ok(surveyed) = survey.finish(3_600) else { return };
    let mut tally = Tally::new(&surveyed, &filter, &[], true);
    tally.read(text, 0, &mut format.reader());
    let wanted = Wanted {
        target: "http://127.0.0.1".to_owned(),
        top: 30,
        session_gap_ns: 1_800_000_000_000,
        sessions,
        trace: (!sessions).then_some(2.0),
        pools: "pools".to_owned(),
        map: vec![("/a".to_owned(), "/b/{id}".to_owned())],
        ..Wanted::default()
    };
    let made = outcome(&surveyed, tally, &wanted).expect("no factor is wrong");
    let mined = made.mined;
    assert_eq!(mined.lines, lines);
    assert_eq!(mined.requests + mined.bad_lines, lines);
    let apart = mined.bots + mined.static_files + mined.left_out;
    assert_eq!(mined.counted + apart, mined.requests);
    let counted: u64 = mined.endpoints.iter().map(|endpoint| endpoint.count).sum();
    assert!(counted <= mined.counted);
}

/// Lines as logs have them, with whatever in their fields.
fn line() -> impl Strategy<Value = String> {
    let second =
        (0_u32..86_400).prop_map(|s| format!("{:02}:{:02}:{:02}", s / 3_600, s / 60 % 60, s % 60));
    let path = prop_oneof![
        "(/[a-z0-9{}$%();:@=._-]{0,12}){1,5}",
        "/users/[0-9]{1,6}(/orders)?",
        "/a/[^\"\\\\ ]{0,20}",
        "/[a-z]{1,6}\\?([a-z]{1,3}=[^\"\\\\ ]{0,6}&?){0,4}",
    ];
    let method = prop_oneof!["GET", "POST", "[A-Z]{1,8}", "\\PC{0,4}"];
    let agent = prop_oneof!["Mozilla", "[^\"\\\\]{0,20}", "Googlebot"];
    (second, path, method, agent, 0_u16..1_200, "[0-9.:a-f]{0,20}").prop_map(
        |(second, path, method, agent, status, client)| {
            format!(
                "{client} - - [23/Nov/2026:{second} +0100] \"{method} {path} HTTP/1.1\" {status} 7 \"-\" \"{agent}\"\n"
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..2_000)) {
        mine(&text, false);
    }

    #[test]
    fn lines_with_anything_in_them(lines in prop::collection::vec(line(), 1..150), sessions: bool) {
        mine(lines.concat().as_bytes(), sessions);
    }
}

#[test]
fn many_different_paths_take_little_memory_and_no_long_time() {
    let mut text = String::new();
    for n in 0..120_000_u64 {
        let word = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let letters: String =
            (0..8).map(|at| char::from(b'a' + (word >> (at * 5) & 15) as u8)).collect();
        text += &format!(
            "10.0.0.1 - - [23/Nov/2026:10:00:00 +0100] \"GET /{letters}/x{n}/{letters} HTTP/1.1\" 200 7 \"-\" \"a{n}\"\n"
        );
    }
    mine(text.as_bytes(), true);
}
