//! Request targets and hosts: RFC 9112 sections 3.2 and 3.3, and what servers normalise differently.

use crate::case::{Case, line, passed, refused};

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let with_host = |target: &str, host: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
    };
    let mut cases = vec![
        passed(
            "9112 3.2.1",
            "a query passes as it is",
            line("GET /x?a=b&c=%20 HTTP/1.1"),
            &["GET /x?a=b&c=%20 HTTP/1.1"],
            &[],
        ),
        passed(
            "9112 3.2.2",
            "the absolute form becomes a path",
            with_host("http://a.example/x?y", "a.example"),
            &["GET /x?y HTTP/1.1\r\nHost: a.example\r\n"],
            &["http://"],
        ),
        passed(
            "9112 3.2.2",
            "the absolute form without a path",
            with_host("http://a.example", "a.example"),
            &["GET / HTTP/1.1\r\nHost: a.example\r\n"],
            &[],
        ),
        passed(
            "9112 3.2.2",
            "the absolute form with a query alone",
            with_host("http://a.example?y", "a.example"),
            &["GET /?y HTTP/1.1\r\n"],
            &[],
        ),
        refused(
            "9112 3.2.2",
            "the absolute form names another host",
            with_host("http://b.example/x", "a.example"),
            400,
        ),
        refused(
            "9112 3.2.2",
            "the absolute form names another port",
            with_host("http://a.example:81/x", "a.example"),
            400,
        ),
        refused(
            "9110 4.2.4",
            "the absolute form has user information",
            with_host("http://u@a.example/x", "a.example"),
            400,
        ),
        refused(
            "9112 3.2.2",
            "the absolute form has no host",
            with_host("http:///x", "a.example"),
            400,
        ),
        refused("9112 3.2.2", "another scheme", with_host("ftp://a.example/x", "a.example"), 400),
        passed(
            "9112 3.2.4",
            "OPTIONS of the server",
            line("OPTIONS * HTTP/1.1"),
            &["OPTIONS * HTTP/1.1\r\n"],
            &[],
        ),
        passed(
            "9112 3.2.4",
            "OPTIONS of an absolute target without a path",
            b"OPTIONS http://a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
            &["OPTIONS * HTTP/1.1\r\n"],
            &[],
        ),
        refused("9112 3.2.4", "an asterisk with GET", line("GET * HTTP/1.1"), 400),
        refused("9112 3.2.3", "an authority with GET", line("GET a.example:80 HTTP/1.1"), 400),
        refused("9112 3.2", "a relative path", line("GET x HTTP/1.1"), 400),
        refused("9110 4.2.5", "a fragment", line("GET /x#y HTTP/1.1"), 400),
        refused("9112 3.2", "no Host", b"GET /x HTTP/1.1\r\n\r\n", 400),
        refused("9112 3.2", "two Hosts", b"GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        refused(
            "9112 3.2",
            "two Hosts that are the same",
            b"GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            400,
        ),
        refused("9112 3.2", "an empty Host", b"GET /x HTTP/1.1\r\nHost:\r\n\r\n", 400),
        passed(
            "9112 3.2",
            "HTTP/1.0 without Host",
            b"GET /x HTTP/1.0\r\n\r\n",
            &["GET /x HTTP/1.1\r\nHost: 127.0.0.1:"],
            &[],
        ),
        passed(
            "9110 7.2",
            "Host with a port",
            b"GET /x HTTP/1.1\r\nHost: a.example:8080\r\n\r\n",
            &["\r\nHost: a.example:8080\r\n"],
            &[],
        ),
        passed(
            "9110 7.2",
            "Host is an address of version 6",
            b"GET /x HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
            &["\r\nHost: [::1]:80\r\n"],
            &[],
        ),
        passed(
            "9112 5",
            "Host comes first upstream",
            b"GET /x HTTP/1.1\r\nA: b\r\nHost: a.example\r\n\r\n",
            &["GET /x HTTP/1.1\r\nHost: a.example\r\n"],
            &[],
        ),
        refused(
            "smuggling",
            "Host hidden behind white space",
            b"GET /x HTTP/1.1\r\nHost : a\r\nHost: b\r\n\r\n",
            400,
        ),
    ];
    for host in [
        "a b",
        "a/b",
        "a@b",
        "a?b",
        "a#b",
        "a:b",
        "a:80:80",
        "http://a",
        "[::1",
        "a\\b",
        "a,b",
        "<a>",
        "a:80x",
        "%61.example",
        ".",
    ] {
        let sent = format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let mut case = refused("9112 3.2", format!("Host is {host}"), sent, 400);
        if host == "a,b" {
            // A comma may stand in a registered name.
            case = passed("9110 7.2", "Host has a comma", case.bytes, &["Host: a,b\r\n"], &[]);
        }
        cases.push(case);
    }
    let ambiguous = [
        "/..",
        "/../x",
        "/a/../b",
        "/./a",
        "/a/.",
        "/a/./b",
        "/%2e%2e/x",
        "/%2E./x",
        "/a/%2e",
        "/a%2fb",
        "/a%2Fb",
        "/a%5cb",
        "/a%5C..%5Cb",
        "/a\\b",
        "/%00",
        "/a%0a",
        "/a%0d%0aX:y",
        "/a%",
        "/a%2",
        "/a%g0",
        "/a%25%32%65",
        "//a",
        "///",
        "/..;/a",
        "/a;/../b",
        "/..%3b/a",
        "/a%c0%af",
        "/a%e0%80%af",
        "/.;x/a",
        "/%7f",
        "/x?a=%",
        "/x?a=%zz",
        "/x?%00",
    ];
    for target in ambiguous {
        let name = format!("target {target} can be read in two ways");
        cases.push(refused("3986 6.2", name, line(&format!("GET {target} HTTP/1.1")), 400));
    }
    let plain = [
        "/a//b",
        "/.well-known/x",
        "/a.b",
        "/...",
        "/a..b",
        "/a%20b",
        "/a;b=c",
        "/~a",
        "/a:b@c!$&'()*+,=",
        "/x?/../y",
        "/x?a=..",
        "/x??",
        "/x?a=%2e%2e%2f",
    ];
    for (target, same) in [
        ("/%41", "/A"),
        ("/%5f%5Fcount", "/__count"),
        ("/%61dmin%7E%2d%30", "/admin~-0"),
        ("/a%3bb%2b%c3%a9", "/a%3Bb%2B%C3%A9"),
    ] {
        let wanted = format!("GET {same} HTTP/1.1\r\n");
        cases.push(passed(
            "3986 6.2.2",
            format!("target {target} is brought into one form"),
            line(&format!("GET {target} HTTP/1.1")),
            &[&wanted],
            &[],
        ));
    }
    for target in plain {
        let wanted = format!("GET {target} HTTP/1.1\r\n");
        cases.push(passed(
            "3986 3.3",
            format!("target {target} passes as it is"),
            line(&format!("GET {target} HTTP/1.1")),
            &[&wanted],
            &[],
        ));
    }
    cases
}
