//! Whatever a log holds, it is read or refused: no input panics, and every line is counted once.

use mine::{Filter, Format, Scale, Survey, Tally, Wanted, in_turn, outcome};
use proptest::prelude::*;

/// Both readings and what comes of them.
fn mine(text: &[u8], sessions: bool) {
    let Ok(format) = Format::detect(text).or_else(|_| Format::named("combined").ok_or(())) else {
        return;
    };
    let filter = Filter::default();
    let mut survey = Survey::new(&filter);
    survey.read(text, 0, &mut format.reader());
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
        scale: Scale { speed: (!sessions).then_some(2.0), ..Scale::default() },
        pools: "pools".to_owned(),
        map: vec![("/a".to_owned(), "/b/{id}".to_owned())],
        ..Wanted::default()
    };
    let made = outcome(&surveyed, tally, &wanted, &in_turn).expect("no factor is wrong");
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

/// A line of each kind of format, with the comment that names its columns where it has one.
const FORMATS: [&str; 5] = [
    r#"10.0.0.1 - ann [23/Nov/2026:10:00:00 +0100] "GET /a/7?b=c%20d HTTP/1.1" 200 7 "-" "Firefox""#,
    r#"{"ts":1795428000.25,"request":{"method":"GET","uri":"/a/7?b=\u00e9","host":"h"},"status":200,"duration":0.01}"#,
    r#"{"time":"2026-11-23T10:00:00.5+01:00","method":"POST","path":"/\ud83d\ude00","status":"201"}"#,
    r#"http 2026-11-23T10:00:00.5Z app/x 10.0.0.1:1 10.0.0.2:80 0.0 0.001 -1 200 200 1 2 "GET http://h:80/a/7 HTTP/1.1" "x" - -"#,
    "#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status time-taken\n2026-11-23 10:00:00 10.0.0.1 GET /a/7 b=c 200 12",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..2_000)) {
        mine(&text, false);
    }

    #[test]
    fn fields_of_any_bytes_are_read_or_refused(
        fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..40),
        sessions: bool,
    ) {
        let mut text = Vec::new();
        for (n, field) in fields.iter().enumerate() {
            let start = format!("10.0.0.1 - - [23/Nov/2026:10:00:{:02} +0100] \"GET /", n % 60);
            text.extend_from_slice(start.as_bytes());
            text.extend(field);
            text.extend_from_slice(b" HTTP/1.1\" 200 7 \"-\" \"");
            text.extend(field.iter().rev());
            text.extend_from_slice(b"\"\n");
        }
        mine(&text, sessions);
    }

    #[test]
    fn lines_of_every_format_may_be_cut_and_damaged_anywhere(
        at in 0_usize..400, byte: u8, cut in 0_usize..400,
    ) {
        for line in FORMATS {
            let mut text = format!("{line}\n{line}\n").into_bytes();
            let length = text.len();
            text[at % length] = byte;
            text.truncate(length - cut % length);
            text.extend_from_slice(format!("\n{line}\n{line}\n{line}\n").as_bytes());
            mine(&text, false);
        }
    }

    #[test]
    fn lines_with_anything_in_them(lines in prop::collection::vec(line(), 1..150), sessions: bool) {
        mine(lines.concat().as_bytes(), sessions);
    }
}

#[test]
fn a_line_of_ten_megabytes_is_one_bad_line() {
    let good = "10.0.0.1 - - [23/Nov/2026:10:00:00 +0100] \"GET /a HTTP/1.1\" 200 7 \"-\" \"x\"\n";
    for byte in [b'x', b'/', b'"', b'\\', b'\0', b'%', b'&', b'{', 0xff] {
        let mut text = good.repeat(3).into_bytes();
        text.truncate(text.len() - 20);
        text.extend(std::iter::repeat_n(byte, 10 << 20));
        text.push(b'\n');
        text.extend_from_slice(good.as_bytes());
        mine(&text, true);
    }
    // Just below the bound, a line is read as any other.
    for part in ["/", "a=", "&a=1", ";b=", "%", "eyJ.", ":@", "//a:b@"] {
        let path = part.repeat(60_000 / part.len());
        let in_path = good.replace("/a", &format!("/{path}"));
        let in_query = good.replace("/a", &format!("/a?b={path}"));
        mine((in_path + &in_query).as_bytes(), false);
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
