//! Proxies, by their pages, processes and logs.

use super::*;

#[test]
fn a_proxy_that_keeps_no_connections_is_told_by_those_it_opens() {
    let proxied = |opened: f64, connects: u64| {
        let mut run = watched(run(), machine(0.3));
        (run.totals.connects, run.totals.server_closes) = (connects, connects);
        let proxy = &mut run.observed.as_mut().unwrap().sources[1];
        proxy.role = Role::Proxy;
        let figure = Figure { mean: opened, max: opened, min: opened, growth: Some(opened * 10.0) };
        proxy.figures.insert("tcp.active_opens".into(), figure);
        run
    };
    // A thousand requests a second.
    assert_eq!(codes(&proxied(990.0, 10)), ["proxy.upstream_keepalive"]);
    assert_eq!(codes(&proxied(300.0, 10)), ["none"]);
    assert_eq!(codes(&proxied(990.0, 9_000))[0], "conn.keepalive_off", "clients first");
}

#[test]
fn what_a_proxy_without_room_closes_is_not_called_keep_alive_off() {
    let full = |said: f64| {
        let figures = [("nginx.log{worker_connections}", said), ("listen.queue{0.0.0.0:80}", 9.0)];
        let mut run = watched(run(), with(machine(0.1), &figures));
        run.plan.addresses = vec!["10.0.0.7:80".into()];
        run.totals.connects = 2 * run.totals.requests;
        run.totals.server_closes = run.totals.requests;
        run.totals.statuses.insert(502, 3);
        run
    };
    assert_eq!(codes(&full(300.0)), ["proxy.worker_connections"]);
    assert!(codes(&full(0.0)).contains(&"conn.keepalive_off".to_owned()));
    let mut told = full(300.0);
    told.plan.keepalive = false;
    assert_eq!(codes(&told), ["proxy.worker_connections", "conn.keepalive_off"]);
}

#[test]
fn an_access_log_is_a_limit_only_where_a_disk_or_a_worker_is() {
    let proxied = |bytes_each: f64, thread: f64, disk: f64| {
        // A thousand requests a second.
        let figures = [
            ("process.written_bytes", bytes_each * 1000.0),
            ("process.thread_share", thread),
            ("disk.busy_ns{sda}", disk * SECOND as f64),
        ];
        let mut run = watched(run(), with(machine(0.3), &figures));
        run.observed.as_mut().unwrap().sources[1].role = Role::Proxy;
        codes(&run).contains(&"proxy.access_log".to_owned())
    };
    assert!(proxied(120.0, 0.3, 0.95) && proxied(4000.0, 0.95, 0.1));
    // A usual line on an idle disk; much, by a proxy with time left; a busy disk that others write to.
    assert!(!proxied(120.0, 0.95, 0.1) && !proxied(4000.0, 0.5, 0.5) && !proxied(10.0, 0.3, 0.95));
}

#[test]
fn what_logs_say_is_heard() {
    for (code, said) in [
        ("proxy.worker_connections", "nginx.log{worker_connections}"),
        ("server.files", "nginx.log{open files}"),
        ("conn.dns", "nginx.log{name not resolved}"),
        ("server.conntrack", "kernel.log{conntrack table full}"),
    ] {
        let mut failed = run();
        failed.totals.statuses.insert(502, 3);
        let found = codes(&watched(failed, with(machine(0.1), &[(said, 3.0)])));
        assert_eq!(found.first().map(String::as_str), Some(code), "{found:?}");
        let found = codes(&watched(run(), with(machine(0.1), &[(said, 0.0)])));
        assert_eq!(found, ["none"], "{code}");
    }
}

#[test]
fn who_waits_for_a_proxy_does_not_wait_for_what_is_idle_behind_it() {
    let core = SECOND as f64;
    let found = |proxy_cores: f64| {
        let mut run = run();
        run.plan.addresses = vec!["127.0.0.1:80".into()];
        let busy = |cores: f64| [("process.cpus_allowed", 4.0), ("process.cpu_ns", cores * core)];
        let machine = with(machine(0.6), &[("listen.queue{0.0.0.0:80}", 6.0)]);
        let sources = vec![
            source("generator", Role::Generator, "local", machine),
            source("server", Role::App, "local:pid=7", busy(proxy_cores)),
            source("app", Role::App, "local:pid=8", busy(0.2)),
        ];
        run.observed = Some(Observed { sources });
        codes(&run)
    };
    assert_eq!(found(3.8), ["server.cpu"]);
    assert_eq!(found(0.3), ["server.too_few_workers"], "by itself, once");
}

#[test]
fn what_the_generator_opens_is_in_no_figure_of_a_proxy_with_a_network_of_its_own() {
    let proxied = |apart: &[(&'static str, f64)]| {
        let mut run = run();
        run.totals.connects = 9_000;
        let figures = with(machine(0.3), &[("tcp.active_opens", 990.0)]);
        let sources = vec![
            source("generator", Role::Generator, "local", machine(0.3)),
            source("proxy", Role::Proxy, "local:name=nginx", with(figures, apart)),
        ];
        run.observed = Some(Observed { sources });
        codes(&run).contains(&"proxy.upstream_keepalive".to_owned())
    };
    assert!(!proxied(&[]), "nine of ten are the generator's");
    assert!(proxied(&[("net.apart", 1.0)]), "as in a container");
}
