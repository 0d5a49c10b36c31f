//! Headers that end at a gateway: hop-by-hop, nominated, and those that say who asks. RFC 9110 section 7.6.

use crate::case::{Case, get, passed, post, refused};

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        passed(
            "9110 7.6.1",
            "nominated headers go",
            get("Connection: x-secret, close\r\nX-Secret: 1\r\nX-Other: 2\r\n"),
            &["X-Other: 2"],
            &["x-secret"],
        ),
        passed(
            "9110 7.6.1",
            "nominated over two lines",
            get("Connection: keep-alive\r\nConnection: X-Secret\r\nx-secret: 1\r\n"),
            &[],
            &["x-secret", "connection:"],
        ),
        passed(
            "9110 7.6.1",
            "a nominated Host is still sent",
            get("Connection: Host\r\n"),
            &["\r\nHost: a.example\r\n"],
            &["connection:"],
        ),
        passed(
            "9110 7.6.1",
            "a nominated length is still sent",
            post("Connection: Content-Length\r\nContent-Length: 2\r\n", "ab"),
            &["Content-Length: 2\r\n", "\r\n\r\nab"],
            &[],
        ),
        passed(
            "9110 7.6.1",
            "a nominated address is still sent",
            get("Connection: X-Forwarded-For\r\n"),
            &["X-Forwarded-For: 127.0.0.1\r\n"],
            &[],
        ),
        refused(
            "9110 7.6.1",
            "seventeen options",
            get(&format!("Connection: {}\r\n", ["a"; 17].join(","))),
            400,
        ),
        passed(
            "9110 7.6.3",
            "the gateway says that it is there",
            get(""),
            &["\r\nVia: 1.1 plimsoll-"],
            &[],
        ),
        passed(
            "9110 7.6.3",
            "others on the way stay",
            get("Via: 1.0 fred\r\n"),
            &["\r\nVia: 1.0 fred\r\n", "\r\nVia: 1.1 plimsoll-"],
            &[],
        ),
        passed(
            "9110 7.6.2",
            "OPTIONS may be forwarded once less",
            b"OPTIONS /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 10\r\n\r\n",
            &["\r\nMax-Forwards: 9\r\n"],
            &["forwards: 10"],
        ),
        passed(
            "9110 7.6.2",
            "other methods are not counted",
            get("Max-Forwards: 0\r\n"),
            &["\r\nMax-Forwards: 0\r\n"],
            &[],
        ),
        refused(
            "9110 7.6.2",
            "Max-Forwards that is no number",
            b"OPTIONS /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: -1\r\n\r\n",
            400,
        ),
        refused(
            "9110 7.6.2",
            "Max-Forwards twice",
            b"OPTIONS /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 1\r\nMax-Forwards: 1\r\n\r\n",
            400,
        ),
        passed(
            "identity",
            "who asks is said",
            get(""),
            &[
                "\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a.example\r\n",
            ],
            &[],
        ),
        passed(
            "9110 7.8",
            "no change of protocols but to WebSocket",
            get(
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
            ),
            &[],
            &["upgrade", "http2-settings"],
        ),
        passed(
            "9110 7.8",
            "a change of protocols with a body",
            post("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n", "ab"),
            &["\r\n\r\nab"],
            &["upgrade"],
        ),
        passed(
            "9110 7.8",
            "a change of protocols without Connection",
            get("Upgrade: websocket\r\n"),
            &[],
            &["upgrade"],
        ),
        passed(
            "9110 7.8",
            "a change of protocols in HTTP/1.0",
            b"GET /x HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
            &[],
            &["upgrade"],
        ),
        passed(
            "9110 7.8",
            "a change to WebSocket is offered",
            get(
                "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n",
            ),
            &["\r\nConnection: upgrade\r\nUpgrade: websocket\r\n", "Sec-WebSocket-Key: x"],
            &[],
        ),
        passed(
            "9110 10.1.4",
            "TE ends here",
            get("TE: trailers\r\nConnection: TE\r\n"),
            &[],
            &["\r\nte:", "connection:"],
        ),
    ];
    let own = [
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-Proto", "gopher"),
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Port", "31337"),
        ("X-Forwarded-Prefix", "/evil"),
        ("X-Forwarded-Server", "evil.example"),
        ("X-Forwarded-Ssl", "evil"),
        ("X_Forwarded_For", "203.0.113.9"),
        ("X-Forwarded_Host", "evil.example"),
        ("Forwarded", "for=203.0.113.9"),
        ("X-Real-IP", "203.0.113.9"),
        ("X_Real_IP", "203.0.113.9"),
        ("X-Client-IP", "203.0.113.9"),
        ("True-Client-IP", "203.0.113.9"),
        ("CF-Connecting-IP", "203.0.113.9"),
        ("X-Cluster-Client-IP", "203.0.113.9"),
        ("Client-IP", "203.0.113.9"),
        ("X-Remote-IP", "203.0.113.9"),
        ("X-Remote-Addr", "203.0.113.9"),
        ("X-Originating-IP", "203.0.113.9"),
        ("X-Original-Forwarded-For", "203.0.113.9"),
        ("X-Original-Host", "evil.example"),
        ("X-Host", "evil.example"),
        ("Fastly-Client-IP", "203.0.113.9"),
        ("Fly-Client-IP", "203.0.113.9"),
        ("X-Azure-ClientIP", "203.0.113.9"),
        ("X-Original-URL", "/evil"),
        ("X-Rewrite-URL", "/evil"),
        ("X-Plimsoll-Owner", "evil"),
        ("Keep-Alive", "timeout=31337"),
        ("Proxy-Connection", "evil"),
        ("Proxy-Authorization", "Basic evil"),
        ("Content_Length", "31337"),
        ("Transfer_Encoding", "evil"),
    ];
    for (name, value) in own {
        let sent = get(&format!("{name}: {value}\r\n"));
        cases.push(passed(
            "identity",
            format!("{name} of the client's own ends here"),
            sent,
            &[],
            &[value],
        ));
    }
    cases
}
