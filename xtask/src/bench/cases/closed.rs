//! CPU time per request of a closed loop, over that of wrk or ab in the same rounds.

use std::fs;

use anyhow::Result;

use crate::bench::Bench;
use crate::bench::client::Outcome;
use crate::bench::rounds::Series;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::Server;
use crate::bench::statistics::Spread;

/// A client of another project, and what its rounds gave.
pub type Other<'s> = (&'static str, &'s Series);

/// CPU per request, ours over theirs, round by round.
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
    let server = Server::target(bench.plimsoll()?, "1", 1)?;
    let mut rows = Vec::new();
    for (connections, uring_reach, epoll_reach) in [(100, 0.78, 0.92), (500, 0.68, 0.75)] {
        let ours = |io| bench.client(&format!("-t1 -c{connections} --io {io}"), &server);
        let bare = |io| bench.bare_loop(io, connections, &server);
        let clients = [
            bench.wrk(connections, &server),
            ours("uring")?,
            ours("epoll")?,
            bare("uring")?,
            bare("epoll")?,
        ];
        let [wrk, uring, epoll, bare_uring, bare_epoll] = bench.interleave(clients, &server)?;
        let wrk = ("wrk", &wrk);
        let what = |io, figure| format!("keep-alive, {io}, c={connections}: {figure}");
        rows.extend([
            ratio(what("io_uring", "CPU over wrk's"), &uring, wrk, Reach::AtMost(uring_reach)),
            user_space(what("io_uring", "CPU in user space"), &uring, wrk, Reach::AtMost(0.5)),
            ratio(what("epoll", "CPU over wrk's"), &epoll, wrk, Reach::AtMost(epoll_reach)),
            user_space(what("epoll", "CPU in user space"), &epoll, wrk, Reach::Nothing),
            ratio(what("io_uring", "the bare loop's"), &bare_uring, wrk, Reach::Nothing),
            ratio(what("epoll", "the bare loop's"), &bare_epoll, wrk, Reach::Nothing),
        ]);
    }
    Ok(rows)
}

/// Against nginx, which is the limit: what the client saves, it sleeps.
pub fn nginx(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::nginx()?;
    let mut rows = Vec::new();
    for connections in [100, 500] {
        let ours = bench.client(&format!("-t1 -c{connections}"), &server)?;
        let bare = bench.bare_loop("uring", connections, &server)?;
        let clients = [bench.wrk(connections, &server), ours, bare];
        let [wrk, ours, bare] = bench.interleave(clients, &server)?;
        let what = |figure| format!("keep-alive, nginx, c={connections}: {figure}");
        rows.extend([
            ratio(what("CPU over wrk's"), &ours, ("wrk", &wrk), Reach::AtMost(0.88)),
            ratio(what("the bare loop's"), &bare, ("wrk", &wrk), Reach::Nothing),
        ]);
    }
    Ok(rows)
}

/// TLS 1.3 with the same cipher on both sides of the comparison.
pub fn tls(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::nginx_tls()?;
    let ours = bench.client("-t1 -c100 --insecure", &server)?;
    let [wrk, ours] = bench.interleave([bench.wrk(100, &server), ours], &server)?;
    let what = "TLS 1.3 keep-alive, nginx, c=100: CPU over wrk's".into();
    Ok(vec![ratio(what, &ours, ("wrk", &wrk), Reach::AtMost(1.0))])
}

/// A path of its own and a header for every request.
const REQUEST: &str = "local n = 0
function request()
  n = n + 1
  wrk.headers['X-Count'] = n
  return wrk.format('GET', '/healthz?n=' .. n)
end
";
/// What every answer is looked at for.
const RESPONSE: &str = "local ok = 0
function response(status, headers, body)
  if status == 200 and headers['Content-Type'] and #body > 0 then ok = ok + 1 end
end
";

/// The same script under both: making every request, and looking at every answer besides.
pub fn scripts(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::target(bench.plimsoll()?, "1", 1)?;
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (name, text) in
        [("request", REQUEST.to_owned()), ("request-response", REQUEST.to_owned() + RESPONSE)]
    {
        let file = folder.path().join(format!("{name}.lua"));
        fs::write(&file, text)?;
        let ours = bench.client(&format!("-t1 -c100 -s {}", file.display()), &server)?;
        let wrk = bench.wrk_with(&file, 100, &server);
        let [wrk, ours] = bench.interleave([wrk, ours], &server)?;
        let what = format!("script, {name}, c=100: CPU over wrk's");
        rows.push(ratio(what, &ours, ("wrk", &wrk), Reach::AtMost(1.0)));
    }
    Ok(rows)
}

/// A connection for every request.
pub fn no_keepalive(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::nginx()?;
    let ours = bench.client("-t1 -c100 --no-keepalive", &server)?;
    let [ab, ours] = bench.interleave([bench.ab(100, &server), ours], &server)?;
    let what = "no keep-alive, nginx, c=100: CPU over ab's".into();
    Ok(vec![ratio(what, &ours, ("ab", &ab), Reach::AtMost(0.9))])
}

/// wrk over wrk: how far from 1 the method itself strays here and now.
pub fn noise(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::nginx()?;
    let mut rows = Vec::new();
    for connections in [100, 500] {
        let clients = [bench.wrk(connections, &server), bench.wrk(connections, &server)];
        let [first, second] = bench.interleave(clients, &server)?;
        let what = format!("noise, nginx, c={connections}: wrk's CPU over wrk's");
        rows.push(ratio(what, &second, ("wrk", &first), Reach::Nothing));
    }
    Ok(rows)
}
