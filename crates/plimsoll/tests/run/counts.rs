//! What we say was sent, against what others saw.

use testkit::casestudy::Built;
use testkit::needs;
use testkit::servers::{Nginx, NginxOptions};

use crate::harness::{interfaces, load, server, url};

#[test]
fn nginx_saw_as_many() {
    if !needs::has("nginx") {
        return;
    }
    let mut nginx = Nginx::start(&NginxOptions::default()).expect("nginx runs");
    let url = format!("http://{}/", nginx.addr());
    for io in interfaces() {
        for flags in ["-c 20 -t 2", "-c 3 --pipeline 8", "-c 10 --no-keepalive", "-c 50 -R 4000"] {
            let before = nginx.requests().expect("its counters");
            let run = load(&url, &format!("{flags} -n 2000 --io {io}")).run;
            let seen = nginx.requests().expect("its counters") - before;
            assert_eq!((run.totals.succeeded, seen), (2000, 2000), "{flags} on {io}");
        }
        let before = nginx.requests().expect("its counters");
        let run = load(&url, &format!("-c 20 -d 300ms --io {io}")).run;
        let seen = nginx.requests().expect("its counters") - before;
        assert_eq!((run.totals.attempts, run.totals.succeeded), (seen, seen), "by time on {io}");
    }
}

#[test]
fn the_built_in_server_saw_as_many() {
    for io in interfaces() {
        let server = server();
        let run = load(&url(&server, "/healthz"), &format!("-c 7 -t 3 -n 1001 --io {io}")).run;
        assert_eq!((run.totals.attempts, run.totals.succeeded), (1001, 1001), "{io}");
        assert_eq!(server.served().path("/healthz"), 1001, "{io}");
    }
}

#[test]
fn each_byte_of_long_bodies_is_counted() {
    const BODY: u64 = 700_000;
    for io in interfaces() {
        for flags in ["-c 5", "-c 2 --pipeline 4"] {
            let server = server();
            let page = url(&server, &format!("/bytes/{BODY}"));
            let run = load(&page, &format!("{flags} -n 300 --io {io}")).run;
            let totals = &run.totals;
            assert_eq!((totals.attempts, totals.succeeded), (300, 300), "{flags} on {io}");
            assert_eq!(run.commonest_response.map(|response| response.bytes), Some(BODY));
            // All heads are equally long.
            let heads = totals.bytes_read - 300 * BODY;
            let context = format!("{flags} on {io}: {heads} bytes of heads");
            assert!(heads.is_multiple_of(300) && (20..1000).contains(&(heads / 300)), "{context}");
        }
    }
}

#[test]
fn nginx_that_closes_after_some_requests_loses_none_in_lockstep() {
    if !needs::has("nginx") {
        return;
    }
    let options = NginxOptions { keepalive_requests: 10, ..NginxOptions::default() };
    let mut nginx = Nginx::start(&options).expect("nginx runs");
    for io in interfaces() {
        let before = nginx.requests().expect("its counters");
        let url = format!("http://{}/", nginx.addr());
        let run = load(&url, &format!("-c 5 -n 1000 --io {io}")).run;
        let seen = nginx.requests().expect("its counters") - before;
        assert_eq!((run.totals.succeeded, seen), (1000, 1000), "{io}");
        // A user's last connection may have some requests left.
        assert!((95..=100).contains(&run.totals.server_closes), "{io}: {:?}", run.totals);
    }
}

#[test]
fn a_go_server_responds_to_every_one() {
    if !needs::has("go") {
        return;
    }
    let baseline = Built::of("baseline").expect("it builds");
    let baseline = baseline.start(&std::env::temp_dir(), &[]).expect("it starts");
    let url = format!("http://{}/healthz", baseline.address);
    for io in interfaces() {
        for flags in ["-c 20 -t 2", "-c 5 --no-keepalive", "-c 2 --pipeline 4", "-c 20 -R 2000"] {
            let run = load(&url, &format!("{flags} -n 1000 --io {io}")).run;
            assert_eq!(
                (run.totals.attempts, run.totals.succeeded),
                (1000, 1000),
                "{flags} on {io}"
            );
            let response = run.commonest_response.expect("responses were sampled");
            assert_eq!((response.status, response.bytes), (200, 15), "{flags} on {io}");
            assert_eq!(
                response.body_sha256,
                "a29ee2b15c494311c52521766e44af56a3ad2248e7a8ab465e5206463c13d288"
            );
        }
    }
}
