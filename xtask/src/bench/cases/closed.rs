//! CPU time per request of a closed loop, over that of wrk or ab in the same rounds.

use std::fs;

use anyhow::Result;

use crate::bench::Bench;
use crate::bench::client::{Client, Outcome};
use crate::bench::rounds::Series;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::{self, Server};
use crate::bench::statistics::Spread;

/// A client of another project, and the results of its rounds.
pub type Other<'s> = (&'static str, &'s Series);

/// CPU per request, Plimsoll's over the other client's, round by round.
pub fn ratio(what: String, ours: &Series, (name, theirs): Other, reach: Reach) -> Row {
    let (our, their) = (ours.map(Outcome::cpu_us), theirs.map(Outcome::cpu_us));
    let median = |values| Spread::of(values).median;
    let detail = format!("{:.2} us; {name} {:.2} us", median(&our), median(&their));
    Row { what, unit: Unit::Ratio, spread: Spread::of_ratios(&our, &their), reach, detail }
}

fn user_space(what: String, ours: &Series, (name, theirs): Other, reach: Reach) -> Row {
    let user = |series: &Series| Spread::of(&series.map(Outcome::user_us));
    let detail = format!("{name} {:.2} us", user(theirs).median);
    Row { what, unit: Unit::Microseconds, spread: user(ours), reach, detail }
}

/// Against the program's own server, which is faster than any client: the client is the limit. The bare loop's rows
/// are the floor: what no client over the same kernel interface can be below, here and now.
pub fn keepalive(bench: &Bench) -> Result<Vec<Row>> {
    let servers = bench.targets::<5>()?;
    let mut rows = Vec::new();
    for (connections, uring_reach, epoll_reach) in [(100, 0.78, 0.92), (500, 0.68, 0.75)] {
        let ours = |io, at| bench.client(&format!("-t1 -c{connections} --io {io}"), &servers[at]);
        let bare = |io, at| bench.bare_loop(io, connections, None, &servers[at]);
        let beside_wrk = |client| bench.pair(Client::wrk(connections, &servers[0]), client);
        let what = |io, figure| format!("keep-alive, {io}, c={connections}: {figure}");
        let [wrk, uring] = beside_wrk(ours("uring", 1)?)?;
        let wrk = ("wrk", &wrk);
        rows.extend([
            ratio(what("io_uring", "CPU over wrk's"), &uring, wrk, Reach::AtMost(uring_reach)),
            user_space(what("io_uring", "CPU in user space"), &uring, wrk, Reach::AtMost(0.5)),
        ]);
        let [wrk, epoll] = beside_wrk(ours("epoll", 2)?)?;
        let wrk = ("wrk", &wrk);
        rows.extend([
            ratio(what("epoll", "CPU over wrk's"), &epoll, wrk, Reach::AtMost(epoll_reach)),
            user_space(what("epoll", "CPU in user space"), &epoll, wrk, Reach::Nothing),
        ]);
        for (io, name, at) in [("uring", "io_uring", 3), ("epoll", "epoll", 4)] {
            let [wrk, bare] = beside_wrk(bare(io, at)?)?;
            rows.push(ratio(what(name, "the bare loop's"), &bare, ("wrk", &wrk), Reach::Nothing));
        }
    }
    Ok(rows)
}

/// Against nginx, which is the limit: the client sleeps for the time that it saves.
pub fn nginx(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second, third] = server::each(Server::nginx)?;
    let mut rows = Vec::new();
    for connections in [100, 500] {
        let ours = bench.client(&format!("-t1 -c{connections}"), &second)?;
        let bare = bench.bare_loop("uring", connections, None, &third)?;
        let what = |figure| format!("keep-alive, nginx, c={connections}: {figure}");
        let [wrk, ours] = bench.pair(Client::wrk(connections, &first), ours)?;
        rows.push(ratio(what("CPU over wrk's"), &ours, ("wrk", &wrk), Reach::AtMost(0.88)));
        let [wrk, bare] = bench.pair(Client::wrk(connections, &first), bare)?;
        rows.push(ratio(what("the bare loop's"), &bare, ("wrk", &wrk), Reach::Nothing));
    }
    Ok(rows)
}

/// TLS 1.3 with the same cipher on both sides of the comparison.
pub fn tls(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = server::each(Server::nginx_tls)?;
    let ours = bench.client("-t1 -c100 --insecure", &second)?;
    let [wrk, ours] = bench.take_turns([Client::wrk(100, &first), ours])?;
    let what = "TLS 1.3 keep-alive, nginx, c=100: CPU over wrk's".into();
    Ok(vec![ratio(what, &ours, ("wrk", &wrk), Reach::AtMost(1.0))])
}

/// The same load with its server watched and without: the generator reads samples of both beside its work.
pub fn observe(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = bench.targets()?;
    let watching = format!("-t1 -c100 --observe app=local:pid={}", second.pid());
    let clients = [bench.client("-t1 -c100", &first)?, bench.client(&watching, &second)?];
    let [without, watching] = bench.take_turns(clients)?;
    let what = "keep-alive, c=100, --observe: CPU over that without".into();
    let without = ("without", &without);
    Ok(vec![ratio(what, &watching, without, Reach::AtMost(1.02))])
}

/// A different path and header for every request.
const REQUEST: &str = "local n = 0
function request()
  n = n + 1
  wrk.headers['X-Count'] = n
  return wrk.format('GET', '/healthz?n=' .. n)
end
";
/// What every response is checked for.
const RESPONSE: &str = "local ok = 0
function response(status, headers, body)
  if status == 200 and headers['Content-Type'] and #body > 0 then ok = ok + 1 end
end
";

/// The same script under both: making every request, and looking at every response besides.
pub fn scripts(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = bench.targets()?;
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (name, text) in
        [("request", REQUEST.to_owned()), ("request-response", REQUEST.to_owned() + RESPONSE)]
    {
        let file = folder.path().join(format!("{name}.lua"));
        fs::write(&file, text)?;
        let ours = bench.client(&format!("-t1 -c100 -s {}", file.display()), &second)?;
        let wrk = Client::wrk_with(&file, 100, &first);
        let [wrk, ours] = bench.take_turns([wrk, ours])?;
        let what = format!("script, {name}, c=100: CPU over wrk's");
        rows.push(ratio(what, &ours, ("wrk", &wrk), Reach::AtMost(1.0)));
    }
    Ok(rows)
}

/// A connection for every request.
pub fn no_keepalive(bench: &Bench) -> Result<Vec<Row>> {
    let [first, second] = server::each(Server::nginx)?;
    let ours = bench.client("-t1 -c100 --no-keepalive", &second)?;
    let [ab, ours] = bench.take_turns([Client::ab(100, &first), ours])?;
    let what = "no keep-alive, nginx, c=100: CPU over ab's".into();
    Ok(vec![ratio(what, &ours, ("ab", &ab), Reach::AtMost(0.9))])
}

/// wrk over wrk: how far from 1 the method itself strays here and now.
pub fn noise(bench: &Bench) -> Result<Vec<Row>> {
    let servers: [Server; 2] = server::each(Server::nginx)?;
    let mut rows = Vec::new();
    for connections in [100, 500] {
        let clients = servers.each_ref().map(|server| Client::wrk(connections, server));
        let [first, second] = bench.take_turns(clients)?;
        let what = format!("noise, nginx, c={connections}: wrk's CPU over wrk's");
        rows.push(ratio(what, &second, ("wrk", &first), Reach::Nothing));
    }
    Ok(rows)
}
