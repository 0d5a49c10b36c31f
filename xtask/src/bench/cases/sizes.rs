//! CPU time per request where responses or requests are long, and over TLS, beside wrk and shb.

use std::fs;

use anyhow::Result;

use super::closed::ratio;
use crate::bench::Bench;
use crate::bench::client::{Client, Outcome};
use crate::bench::rounds::Series;
use crate::bench::row::{Reach, Row};
use crate::bench::server::{self, PAGES, Server};
use crate::bench::statistics::Spread;

/// Connections of each client.
const CONNECTIONS: u32 = 50;

/// Long responses of nginx, over both nets.
pub fn responses(bench: &Bench) -> Result<Vec<Row>> {
    let servers: [Server; 4] = server::each(Server::nginx)?;
    let mut rows = Vec::new();
    for (page, _) in PAGES {
        let ours = |io, at| bench.client(&format!("-t1 -c{CONNECTIONS} --io {io}"), &servers[at]);
        let clients = [
            Client::wrk(CONNECTIONS, &servers[0]).page(page),
            bench.shb(CONNECTIONS, &servers[1])?.page(page),
            ours("uring", 2)?.page(page),
            ours("epoll", 3)?.page(page),
        ];
        let [wrk, shb, uring, epoll] = bench.take_turns(clients)?;
        let median = |series: &Series| Spread::of(&series.map(Outcome::cpu_us)).median;
        let cheaper = median(&wrk) < median(&shb);
        let peer = if cheaper { ("wrk", &wrk) } else { ("shb", &shb) };
        let size = page.trim_start_matches("/bytes/");
        for (io, series) in [("io_uring", &uring), ("epoll", &epoll)] {
            let what = format!("responses of {size}, {io}, c=50: CPU over the cheapest peer's");
            rows.push(ratio(what, series, peer, Reach::AtMost(0.97)));
        }
    }
    Ok(rows)
}

/// Requests of 100 kB, always the same.
pub fn requests(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second, third] = server::each(Server::nginx)?;
    let folder = tempfile::tempdir()?;
    let (body, script) = (folder.path().join("body"), folder.path().join("post.lua"));
    fs::write(&body, vec![b'x'; 100_000])?;
    fs::write(&script, "wrk.method = 'POST'\nwrk.body = string.rep('x', 100000)\n")?;
    let ours = |io, server| {
        let options = format!("-t1 -c{CONNECTIONS} --io {io} --body-file {}", body.display());
        bench.client(&options, server)
    };
    let clients = [
        Client::wrk_with(&script, CONNECTIONS, &first),
        ours("uring", &second)?,
        ours("epoll", &third)?,
    ];
    let [wrk, uring, epoll] = bench.take_turns(clients)?;
    let what = |io| format!("requests of 100 kB, {io}, c=50: CPU over wrk's");
    Ok(vec![
        ratio(what("io_uring"), &uring, ("wrk", &wrk), Reach::AtMost(0.9)),
        ratio(what("epoll"), &epoll, ("wrk", &wrk), Reach::Nothing),
    ])
}

/// TLS 1.3 with one cipher, short and long responses.
pub fn tls(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = server::each(Server::nginx_tls)?;
    let mut rows = Vec::new();
    for (name, page) in [("short", "/healthz"), ("100 kB", PAGES[1].0)] {
        let ours = bench.client(&format!("-t1 -c{CONNECTIONS} --insecure"), &second)?.page(page);
        let shb = bench.shb(CONNECTIONS, &first)?.page(page);
        let [shb, ours] = bench.take_turns([shb, ours])?;
        let what = format!("TLS 1.3, {name} responses, c=50: CPU over shb's");
        rows.push(ratio(what, &ours, ("shb", &shb), Reach::AtMost(0.97)));
    }
    Ok(rows)
}

/// This build beside an earlier one, in the loads of the other rows here.
pub fn before(bench: &Bench) -> Result<Vec<Row>> {
    let Some(before) = &bench.before else {
        println!("  nothing to compare with: give an earlier build by --before");
        return Ok(Vec::new());
    };
    let (own, plain) = (bench.targets::<2>()?, server::each::<2>(Server::nginx)?);
    let tls = server::each::<2>(Server::nginx_tls)?;
    let [ten, hundred, million] = PAGES.map(|(page, _)| page);
    let mut rows = Vec::new();
    for (options, servers, page) in [
        ("-c100 --io uring", &own, "/healthz"),
        ("-c500 --io uring", &own, "/healthz"),
        ("-c100 --io epoll", &own, "/healthz"),
        ("-c50 --io uring", &plain, ten),
        ("-c50 --io uring", &plain, hundred),
        ("-c50 --io epoll", &plain, hundred),
        ("-c50 --io uring", &plain, million),
        ("-c50 --io epoll", &plain, million),
        ("-c50 --insecure", &tls, "/healthz"),
        ("-c50 --insecure", &tls, hundred),
    ] {
        let [first, second] = servers;
        let options = format!("-t1 {options}");
        let old = Client::plimsoll(before, &options, first).page(page);
        let new = bench.client(&options, second)?.page(page);
        let [old, new] = bench.take_turns([old, new])?;
        let what = format!("{}{page} {options}: CPU over before's", first.scheme());
        rows.push(ratio(what, &new, ("before", &old), Reach::Nothing));
    }
    Ok(rows)
}

/// Short responses of the program's own server; and the bare loop, below which the program cannot be.
pub fn short(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second, third] = bench.targets::<3>()?;
    let mut rows = Vec::new();
    for (connections, reach) in [(100, 0.97), (500, 0.96)] {
        let ours = bench.client(&format!("-t1 -c{connections} --io uring"), &second)?;
        let bare = bench.bare_loop("uring", connections, None, &third)?;
        let what = |figure| format!("keep-alive, io_uring, c={connections}: {figure}");
        let [shb, ours] = bench.pair(bench.shb(connections, &first)?, ours)?;
        rows.push(ratio(what("CPU over shb's"), &ours, ("shb", &shb), Reach::AtMost(reach)));
        let [shb, bare] = bench.pair(bench.shb(connections, &first)?, bare)?;
        rows.push(ratio(what("the bare loop's"), &bare, ("shb", &shb), Reach::Nothing));
    }
    Ok(rows)
}
