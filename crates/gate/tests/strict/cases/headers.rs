//! Header lines: RFC 9112 section 5, RFC 9110 section 5.

use crate::case::{Case, get, passed, refused};

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        passed(
            "9110 5.5",
            "white space around a value goes",
            get("A:  b c\t \r\n"),
            &["\r\nA: b c\r\n"],
            &[],
        ),
        passed("9110 5.5", "an empty value passes", get("A:\r\n"), &["\r\nA: \r\n"], &[]),
        passed(
            "9110 5.5",
            "bytes above 0x7f pass",
            get("A: \u{e9}\r\n"),
            &["\r\nA: \u{e9}\r\n"],
            &[],
        ),
        passed(
            "9110 5.3",
            "repeated headers keep their order",
            get("A: 1\r\nB: x\r\nA: 2\r\n"),
            &["\r\nA: 1\r\nB: x\r\nA: 2\r\n"],
            &[],
        ),
        passed(
            "9110 5.1",
            "names keep their case",
            get("x-cUSTOM: 1\r\n"),
            &["\r\nx-cUSTOM: 1\r\n"],
            &[],
        ),
        passed(
            "9110 5.5",
            "a tab inside a value passes",
            get("A: b\tc\r\n"),
            &["A: b\tc\r\n"],
            &[],
        ),
        refused("9112 5.2", "a folded line by space", get("A: b\r\n c\r\n"), 400),
        refused("9112 5.2", "a folded line by tab", get("A: b\r\n\tc\r\n"), 400),
        refused(
            "9112 2.2",
            "white space before the first header",
            b"GET /x HTTP/1.1\r\n Host: a\r\n\r\n",
            400,
        ),
        refused(
            "9112 2.2",
            "a header after white space alone",
            b"GET /x HTTP/1.1\r\n \r\nHost: a\r\n\r\n",
            400,
        ),
        refused("9112 5.1", "a space before the colon", get("A : b\r\n"), 400),
        refused("9112 5.1", "a tab before the colon", get("A\t: b\r\n"), 400),
        refused("9112 5", "a line without a colon", get("A b\r\n"), 400),
        refused("9112 5", "an empty name", get(": b\r\n"), 400),
        refused("9112 2.2", "a line that ends in LF", get("A: b\nB: c\r\n"), 400),
        refused("9112 2.2", "a line that ends in CR", get("A: b\rB: c\r\n"), 400),
        refused("9112 2.2", "the head ends in LF LF", b"GET /x HTTP/1.1\r\nHost: a\n\n", 400),
        refused("9112 2.2", "the empty line ends in LF", b"GET /x HTTP/1.1\r\nHost: a\r\n\n", 400),
        refused("9110 5.5", "a CR at the end of a value", get("A: b\r\r\n"), 400),
        passed(
            "9112 3",
            "a head of 31 KiB",
            get(&format!("A: {}\r\n", "x".repeat(31 * 1024))),
            &["\r\nA: xxx"],
            &[],
        ),
        refused(
            "9110 5.4",
            "a head of 33 KiB",
            get(&format!("A: {}\r\n", "x".repeat(33 * 1024))),
            431,
        ),
        refused(
            "9110 5.4",
            "a target of 33 KiB",
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(33 * 1024)),
            431,
        ),
        passed("9110 5.4", "127 headers", get(&"A: b\r\n".repeat(127)), &[], &[]),
        refused("9110 5.4", "129 headers", get(&"A: b\r\n".repeat(128)), 431),
        passed(
            "9110 10.1.1",
            "an expectation without a body ends here",
            get("Expect: 100-continue\r\n"),
            &[],
            &["expect:"],
        ),
        refused("9110 10.1.1", "another expectation", get("Expect: 200-ok\r\n"), 417),
        refused("9110 10.1.1", "a list of expectations", get("Expect: 100-continue, x\r\n"), 417),
    ];
    for byte in (0..0x20).chain([0x7f]).filter(|byte| !matches!(byte, b'\t' | b'\r' | b'\n')) {
        let mut sent = get("A: b\r\n");
        let at = sent.iter().position(|&byte| byte == b'b').expect("the value");
        let at = sent[at..].iter().position(|&byte| byte == b'A').map_or(at, |name| at + name + 4);
        sent.insert(at, byte);
        cases.push(refused("9110 5.5", format!("byte {byte:#04x} in a value"), sent, 400));
    }
    for byte in [
        b'(', b')', b',', b'/', b';', b'<', b'=', b'>', b'?', b'@', b'[', b'\\', b']', b'{', b'}',
        b'"', 0x00, 0x80, 0xff,
    ] {
        let mut sent = get("Axy: b\r\n");
        let at = sent.windows(3).position(|window| window == b"Axy").expect("the name");
        sent.insert(at + 2, byte);
        cases.push(refused("9110 5.1", format!("byte {byte:#04x} in a name"), sent, 400));
    }
    cases
}
