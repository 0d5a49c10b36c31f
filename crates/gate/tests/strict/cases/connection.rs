//! Connections: order, persistence, pipelines. RFC 9112 section 9.

use crate::case::{Case, get, passed_all, refused_after};

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let first = get("N: 1\r\n");
    let second = get("N: 2\r\n");
    let after = |lines: &str| [get(lines), second.clone()].concat();
    vec![
        passed_all(
            "9112 9.3.2",
            "two in a pipeline",
            [first.clone(), second.clone()].concat(),
            2,
            &["N: 1", "N: 2"],
            &[],
        ),
        passed_all("9112 9.3.2", "ten in a pipeline", get("").repeat(10), 10, &[], &[]),
        passed_all(
            "9112 9.6",
            "nothing is read after close",
            after("Connection: close\r\n"),
            1,
            &[],
            &["N: 2"],
        ),
        passed_all(
            "9112 9.6",
            "close among other options",
            after("Connection: x, CLOSE\r\n"),
            1,
            &[],
            &["N: 2"],
        ),
        passed_all(
            "9112 9.3",
            "keep-alive says nothing new",
            after("Connection: keep-alive\r\n"),
            2,
            &["N: 2"],
            &[],
        ),
        passed_all(
            "9112 9.3",
            "HTTP/1.0 ends with its answer",
            [b"GET /x HTTP/1.0\r\nHost: a\r\n\r\n".to_vec(), second.clone()].concat(),
            1,
            &[],
            &["N: 2"],
        ),
        passed_all(
            "9112 2.2",
            "an empty line between two requests",
            [first.clone(), b"\r\n".to_vec(), second.clone()].concat(),
            2,
            &["N: 2"],
            &[],
        ),
        refused_after(
            "9112 2.2",
            "garbage behind a request",
            [first.clone(), b"\0\0\0\0".to_vec()].concat(),
            1,
            400,
        ),
        refused_after(
            "9112 9.3.2",
            "the second of two is malformed",
            [first.clone(), get("A : b\r\n")].concat(),
            1,
            400,
        ),
        refused_after(
            "9112 9.3.2",
            "nothing is read after a malformed one",
            [get("A : b\r\n"), first.clone()].concat(),
            0,
            400,
        ),
        refused_after(
            "9112 9.3.2",
            "nothing is read after a refused path",
            [b"GET /.. HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), first.clone()].concat(),
            0,
            400,
        ),
        passed_all(
            "9110 9.3.2",
            "HEAD does not shift what follows",
            [b"HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n".to_vec()].concat(),
            1,
            &[],
            &[],
        ),
    ]
}
