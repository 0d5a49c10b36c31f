//! Answers that say where things are, through a route that rewrites paths.

use gate::policy::{PathPattern, PathRewrite, PolicySettings, Route};
use testkit::peer::{Peer, Step};

use crate::harness::{front_with, interfaces, upstream};

const ANSWER: &str = "HTTP/1.1 302 Found\r\nLocation: http://inner.test/v2/people/7\r\nContent-Location: \
                      http://a.test/v2/people/8\r\nSet-Cookie: s=1; Path=/v2/people; Secure\r\nX-Location: /v2/people\r\n\
                      Refresh: 5; url=/v2/people/9\r\nContent-Length: 0\r\n\r\n";

#[test]
fn where_answers_lead_the_client_finds_it() {
    for io in interfaces() {
        for rewrite_responses in [true, false] {
            let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(ANSWER.into())];
            let peer = Peer::start(vec![Step::Forever(script)]);
            let route = Route {
                path: PathPattern::parse("/users").expect("a path"),
                rewrite: Some(PathRewrite { from: "/users".into(), to: "/v2/people".into() }),
                rewrite_responses,
                upstream_host: Some("inner.test".into()),
                ..Route::to(0)
            };
            let settings = PolicySettings::open(upstream(&[peer.addr()]));
            let front = front_with(PolicySettings { routes: vec![route], ..settings }, io);
            // Twice on one connection: nothing is kept of the first.
            let get = "GET /users/1 HTTP/1.1\r\nHost: HOST\r\n\r\n";
            let answers = front.ask(
                ["a.test", "b.test"].map(|host| get.replace("HOST", host)).concat().as_bytes(),
            );
            assert_eq!(answers.len(), 2);
            let line = |head: &str, name: &str| {
                let line = head.split("\r\n").find_map(|line| line.strip_prefix(name));
                line.map(str::to_owned).unwrap_or_default()
            };
            let of = |number: usize| {
                let head = &answers[number].head;
                ["Location: ", "Content-Location: ", "Set-Cookie: ", "X-Location: ", "Refresh: "]
                    .map(|name| line(head, name))
            };
            let as_sent = [
                "http://inner.test/v2/people/7",
                "http://a.test/v2/people/8",
                "s=1; Path=/v2/people; Secure",
                "/v2/people",
                "5; url=/v2/people/9",
            ];
            let rewritten = [
                "/users/7",
                "http://a.test/users/8",
                "s=1; Path=/users; Secure",
                "/v2/people",
                "5; url=/users/9",
            ];
            let elsewhere = [rewritten[0], as_sent[1], rewritten[2], rewritten[3], rewritten[4]];
            let expected =
                if rewrite_responses { [rewritten, elsewhere] } else { [as_sent, as_sent] };
            assert_eq!([of(0), of(1)], expected, "{rewrite_responses}");
        }
    }
}
