//! Requests that wait inside of a server: unread, for a monitor, for their turn, for workers that wake in vain.

use super::*;

/// A source whose figures are the usual ones of a server of four processors that does little, and these.
fn idle(more: &[(&'static str, f64)]) -> Figures {
    let usual = [
        ("process.count", 1.0),
        ("process.cpus_allowed", 4.0),
        ("process.cpu_ns", 0.1 * SECOND as f64),
        ("process.thread_share", 0.05),
    ];
    with(machine(0.1), &[&usual[..], more].concat())
}

/// Sixteen users of a server that answers 100 a second, each after 160 ms.
fn slow() -> Run {
    let mut run = run();
    run.plan.connections = 16;
    let requests = run.totals.duration_ns / SECOND * 100;
    (run.totals.requests, run.totals.attempts, run.totals.succeeded) =
        (requests, requests, requests);
    run.totals.statuses = [(200, requests)].into();
    run.service_ns.mean = 160 * MILLISECOND;
    run.first_byte_ns.mean = 160 * MILLISECOND;
    let second = model::timeline::Point {
        duration_ns: SECOND,
        phase: "window".into(),
        requests_per_s: 100.0,
        ..model::timeline::Point::default()
    };
    run.timeline = vec![second; 10];
    run
}

#[test]
fn requests_that_nobody_reads_lack_workers() {
    let first = |unread: (f64, f64), more: &[(&'static str, f64)]| {
        let mut run = watched(slow(), idle(more));
        let (mean, max) = unread;
        let figure = Figure { mean, min: 0.0, max, growth: None };
        let sources = &mut run.observed.as_mut().unwrap().sources;
        sources[1].figures.insert("process.unread".into(), figure);
        codes(&run)[0].clone()
    };
    assert_eq!(first((12.0, 12.0), &[]), "server.too_few_workers");
    assert_eq!(first((10.0, 12.0), &[]), "server.too_few_workers", "the first sample came early");
    assert_eq!(first((0.3, 1.0), &[]), "none", "they were just coming in");
    assert_eq!(first((1.5, 3.0), &[]), "none", "hardly any of those on their way");
    assert_eq!(first((4.0, 16.0), &[]), "none", "it stood still once");
    let interpreter = [("process.cpu_ns", 0.97 * SECOND as f64)];
    assert_eq!(first((12.0, 12.0), &interpreter), "none", "they wait for its lock");
    let queued = [("process.queued_ns", 0.9 * SECOND as f64)];
    assert_eq!(first((12.0, 12.0), &queued), "none", "it waits for a processor");
    let one_thread = |queued: f64| {
        let figures =
            [("process.thread_share", 0.6), ("process.queued_ns", queued * SECOND as f64)];
        first((12.0, 12.0), &figures)
    };
    assert_eq!(one_thread(0.1), "server.too_few_workers");
    assert_eq!(one_thread(0.35), "none", "one thread has work all the time, and waits to do it");
    let taken = first((12.0, 12.0), &machine(0.9));
    assert_ne!(taken, "server.too_few_workers", "others take the processors");
    let hardly_queued = [("process.queued_ns", 0.16 * SECOND as f64)];
    let taken = first((12.0, 12.0), &[&machine(0.99)[..], &hardly_queued].concat());
    assert_ne!(
        taken, "server.too_few_workers",
        "others take the processors, and it waits for them a little"
    );
    let busy = [("process.thread_share", 0.97), interpreter[0]];
    assert_eq!(first((12.0, 12.0), &busy), "server.single_thread");
}

/// What a generator that was stopped asks for at once afterwards waits at the server.
#[test]
fn requests_of_a_generator_that_stood_still_lack_no_workers() {
    for code in [ReasonCode::GeneratorPaused, ReasonCode::Throttled] {
        let figures = idle(&[("process.unread", 12.0), ("listen.queue{0.0.0.0:80}", 5.0)]);
        let mut run = watched(slow(), figures);
        run.plan.addresses = vec!["10.0.0.7:80".into()];
        assert_eq!(codes(&run)[0], "server.too_few_workers");
        run.validity = of_reason(code, Verdict::Invalid);
        let found = codes(&run);
        assert!(!found.contains(&"server.too_few_workers".to_owned()), "{found:?}");
    }
}

#[test]
fn a_server_that_is_given_no_processor_lacks_no_workers() {
    let found = |busiest: f64, queued: f64| {
        let figures = [
            ("listen.queue{0.0.0.0:80}", 5.0),
            ("process.thread_share", busiest),
            ("process.queued_ns", queued * SECOND as f64),
        ];
        let mut run = watched(slow(), idle(&figures));
        run.plan.addresses = vec!["10.0.0.7:80".into()];
        codes(&run)[0].clone()
    };
    assert_eq!(found(0.05, 0.01), "server.too_few_workers");
    assert_eq!(found(0.05, 0.9), "none", "it accepts late for want of a processor");
    assert_eq!(found(0.6, 0.1), "server.too_few_workers");
    assert_eq!(found(0.6, 0.35), "none", "so does one thread that has work all the time");
}

#[test]
fn monitors_that_most_requests_find_taken_are_a_lock_if_one_is_served_at_a_time() {
    let first = |taken: f64, quickest_ms: u64, more: &[(&'static str, f64)]| {
        let counted = [&[("process.monitors_contended", taken)][..], more].concat();
        let mut run = watched(slow(), idle(&counted));
        run.service_ns.min = quickest_ms * MILLISECOND;
        codes(&run)[0].clone()
    };
    assert_eq!(first(95.0, 9, &[]), "server.lock");
    assert_eq!(first(30.0, 9, &[]), "none", "now and then");
    assert_eq!(first(95.0, 150, &[]), "none", "short locks, and most of the time goes elsewhere");
    let busy = [("process.cpu_ns", 3.9 * SECOND as f64)];
    assert_eq!(first(95.0, 9, &busy), "server.cpu", "short locks on busy processors");
}

#[test]
fn workers_that_wake_for_nothing_come_before_the_processors_that_they_use_up() {
    let found = |waking: f64, wakes_per_s: f64| {
        let second = SECOND as f64;
        let figures = [
            ("process.cpu_ns", 3.9 * second),
            ("process.queued_ns", 40.0 * second),
            ("process.waking_threads", waking),
            ("process.voluntary_switches", wakes_per_s),
        ];
        codes(&watched(slow(), idle(&figures)))
    };
    let both = ["server.too_many_workers", "server.cpu"];
    assert_eq!(found(50.0, 50_000.0), both);
    // For each request some threads wake, or as many threads as there are requests.
    for found in [found(50.0, 500.0), found(16.0, 50_000.0)] {
        assert_eq!(found, [both[1], both[0]]);
    }
}

/// nginx before a server, both on the generator's machine: its page, and its processes.
fn proxied(mut run: Run, page: &[(&'static str, f64)], of_nginx: &[(&'static str, f64)]) -> Run {
    let sources = vec![
        source("generator", Role::Generator, "local", machine(0.1)),
        source("server", Role::App, "local:pid=7", idle(of_nginx)),
        source("proxy", Role::Proxy, "nginx:http://127.0.0.1/status", page.iter().copied()),
    ];
    run.observed = Some(Observed { sources });
    run
}

#[test]
fn nginx_that_has_requests_and_does_nothing_for_them_lets_them_wait() {
    let page = |writing: f64| [("nginx.writing", writing), ("nginx.requests", 101.0)];
    let asks = |others: f64| {
        [("process.connections_to{10.0.0.9:80}", 1.0), ("process.other_sockets", others)]
    };
    let first = |run: &Run| codes(run)[0].clone();
    let held = proxied(slow(), &page(17.0), &asks(2.0));
    assert_eq!(first(&held), "rate_limited", "{:?}", explain(&held));
    assert_eq!(first(&proxied(slow(), &page(2.0), &asks(2.0))), "none", "it has hardly any");
    assert_eq!(first(&proxied(slow(), &page(17.0), &asks(16.0))), "none", "unix: is asked");
    let mut asked = asks(2.0);
    asked[0].1 = 16.0;
    assert_eq!(first(&proxied(slow(), &page(17.0), &asked)), "none", "another server is");
    let mut carried = held.clone();
    carried.plan.rate_per_s = Some(100.0);
    (carried.rates.offered_per_s, carried.rates.achieved_per_s) = (100.0, 100.0);
    assert_eq!(first(&carried), "none");
    let mut bodies = held.clone();
    bodies.first_byte_ns.mean = 10 * MILLISECOND;
    assert_eq!(first(&bodies), "none", "bodies are sent slowly");
    let mut uneven = held;
    for (n, point) in uneven.timeline.iter_mut().enumerate() {
        point.requests_per_s = if n % 2 == 0 { 120.0 } else { 80.0 };
    }
    assert_eq!(first(&uneven), "none");
}

#[test]
fn a_log_that_says_that_requests_wait_is_heard() {
    let said = |lines: f64| {
        let page = [("nginx.log{limit_req delays}", lines)];
        codes(&proxied(slow(), &page, &[]))[0].clone()
    };
    assert_eq!((said(90.0), said(1.0)), ("rate_limited".to_owned(), "none".to_owned()));
}

#[test]
fn a_proxy_that_waits_for_greetings_opens_too_many_connections() {
    // The machine opens a connection for each request, and 14 of them wait.
    let found = |first: f64, opened: f64| {
        let figures = [
            ("process.awaits{10.0.0.9:443}", 14.0),
            ("process.awaits_first{10.0.0.9:443}", first),
            ("tcp.active_opens", opened),
        ];
        let mut run = proxied(slow(), &[("nginx.requests", 101.0)], &figures);
        let opened = source("", Role::App, "", [("tcp.active_opens", opened)]).figures;
        run.observed.as_mut().unwrap().sources[0].figures.extend(opened);
        codes(&run)
    };
    let (opens, waits) = ("proxy.upstream_keepalive", "dependency.slow");
    assert_eq!(found(7.0, 100.0), [opens, waits], "half of the waiting is for greetings");
    assert_eq!(found(13.0, 101.0), [opens, waits], "nearly all of it");
    assert_eq!(found(1.0, 100.0), [waits, opens], "for answers");
    assert_eq!(found(14.0, 101.0), [waits, opens], "of one turn: what is awaited is the answer");
    assert_eq!(found(12.0, 90.0), [waits, opens], "later answers are of connections used again");
}
