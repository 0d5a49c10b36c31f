//! How long a request is kept by the gateway, beside nginx doing the same, while usage is reported, and beside slow
//! clients.
//!
//! The gateway or nginx has core 1 to itself: it comes before all other processes there, of which the smallest else takes
//! slices of some milliseconds. Client and server are one thread on core 0 ([`Transit`]): what is counted is the time from a
//! write of either to the arrival at the other, so that neither waits for the other's time slices.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::bench::Bench;
use crate::bench::process::kept_awake;
use crate::bench::proxy::Proxy;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::statistics::Spread;
use crate::bench::transit::{Load, Passage, Transit};

/// In so many connections, all open loops.
const CONNECTIONS: u32 = 64;
/// How long requests are sent before they count.
const WARM_UP_S: f64 = 0.5;
/// For how long the gateway is stopped to see that the measurement tells it, and how often: a twentieth of the time, so that
/// more than one request in a hundred waits for the longer half of it.
const STOPPED: Duration = Duration::from_millis(2);
const BETWEEN_STOPS: Duration = Duration::from_millis(38);

/// What is added to latency at a rate, and what nginx adds.
pub fn latency(bench: &Bench, rate_per_s: u32) -> Result<Vec<Row>> {
    let transit = Transit::build()?;
    let upstream = transit.upstream();
    let gate = Proxy::gate(bench.plimsoll()?, &upstream, "")?.before_others()?;
    let proxies = [gate, Proxy::nginx(&upstream)?.before_others()?];
    let load = Load { connections: CONNECTIONS, rate_per_s, seconds: bench.seconds };
    let (mut passages, mut busy) = ([vec![], vec![]], [vec![], vec![]]);
    for round in 0..=bench.rounds {
        for which in in_turn(round) {
            let before = proxies[which].cpu_us()?;
            let passage = run(&transit, &proxies[which], load, round, ["gate", "nginx"][which])?;
            let spent_us = proxies[which].cpu_us()? - before;
            let runs = f64::from(passage.repeated + 1);
            // The first round opens connections upstream and warms up.
            if round > 0 {
                busy[which].push(spent_us / 1e4 / (f64::from(bench.seconds) + WARM_UP_S) / runs);
                passages[which].push(passage);
            }
        }
    }
    let [ours, theirs] = busy.map(|percent: Vec<f64>| Spread::of(&percent).median);
    println!("  of core 1 the gateway had {ours:.0} %, nginx {theirs:.0} %");
    let slowed = stopped(bench, &transit, &proxies[0], load)?;
    let mut rows = added(rate_per_s, &passages)?;
    rows.push(slowed);
    Ok(rows)
}

/// Both, the first of them first every other time.
fn in_turn(round: u32) -> [usize; 2] {
    let first = round as usize % 2;
    [first, 1 - first]
}

fn run(transit: &Transit, proxy: &Proxy, load: Load, round: u32, name: &str) -> Result<Passage> {
    let passage = transit.run(proxy, load)?;
    let round = if round == 0 { "warm-up".into() } else { format!("round {round}") };
    println!("  {round:8}  {name:9} {}", passage.line()?);
    Ok(passage)
}

/// A figure of each run.
fn each(passages: &[Passage], figure: impl Fn(&Passage) -> Result<f64>) -> Result<Vec<f64>> {
    passages.iter().map(figure).collect()
}

/// How much of the time was left out, and how many runs were repeated for it, in words.
fn left_out(passages: &[Passage]) -> Result<String> {
    let share = each(passages, Passage::left_out)?;
    let repeated: u32 = passages.iter().map(|passage| passage.repeated).sum();
    let mean = share.iter().sum::<f64>() / share.len() as f64;
    Ok(format!("{:.1} % of the time left out, {repeated} runs repeated", mean * 100.0))
}

fn added(rate_per_s: u32, passages: &[Vec<Passage>; 2]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (quantile, most_us) in [("p50", 60.0), ("p99", 300.0)] {
        let of = |which: usize| each(&passages[which], |passage| passage.between_us(quantile));
        let all = each(&passages[0], |passage| passage.with_left_out_us(quantile))?;
        let (ours, theirs) = (of(0)?, of(1)?);
        rows.push(Row {
            what: format!("gate: latency added at {rate_per_s}/s, {quantile}"),
            unit: Unit::Microseconds,
            spread: Spread::of(&ours),
            reach: Reach::AtMost(most_us),
            detail: format!(
                "nginx adds {:.1} us; {}: {:.1} us with it",
                Spread::of(&theirs).median,
                left_out(&passages[0])?,
                Spread::of(&all).median
            ),
        });
        if quantile == "p99" {
            rows.push(Row {
                what: format!("gate: p99 added at {rate_per_s}/s over nginx's"),
                unit: Unit::Ratio,
                spread: Spread::of_ratios(&ours, &theirs),
                reach: Reach::AtMost(1.0),
                detail: format!("of nginx's runs {}", left_out(&passages[1])?),
            });
        }
    }
    Ok(rows)
}

/// A rate far below what a gateway carries: its core sleeps between most pairs of events.
const SELDOM_PER_S: u32 = 8_000;
/// Longer than most pauses between two events at that rate.
const BUSY_POLL: &str = "busy_poll = \"300us\"\n";

/// What `busy_poll` saves of the added latency, far below full load.
pub fn busy_poll(bench: &Bench) -> Result<Vec<Row>> {
    let transit = Transit::build()?;
    let gate = |settings: &str| -> Result<Proxy> {
        Proxy::gate(bench.plimsoll()?, &transit.upstream(), settings)?.favoured()
    };
    let proxies = [gate(BUSY_POLL)?, gate("")?];
    let load = Load { connections: CONNECTIONS, rate_per_s: SELDOM_PER_S, seconds: bench.seconds };
    let mut passages = [vec![], vec![]];
    for round in 0..=bench.rounds {
        for which in in_turn(round) {
            let passage = run(&transit, &proxies[which], load, round, ["busy", "gate"][which])?;
            if round > 0 {
                passages[which].push(passage);
            }
        }
    }
    let row = |quantile: &str, reach| -> Result<Row> {
        let of = |which: usize| each(&passages[which], |passage| passage.between_us(quantile));
        let (busy, without) = (of(0)?, of(1)?);
        Ok(Row {
            what: format!("gate: {quantile} added at {SELDOM_PER_S}/s with busy_poll over without"),
            unit: Unit::Ratio,
            spread: Spread::of_ratios(&busy, &without),
            reach,
            detail: format!(
                "{:.1} us; {:.1} us without",
                Spread::of(&busy).median,
                Spread::of(&without).median
            ),
        })
    };
    Ok(vec![row("p50", Reach::AtMost(0.9))?, row("p99", Reach::AtMost(1.0))?])
}

/// The same of a gateway that is stopped every now and then: a measurement that does not tell is none.
fn stopped(bench: &Bench, transit: &Transit, gate: &Proxy, load: Load) -> Result<Row> {
    let mut passages = Vec::new();
    for round in 1..=bench.rounds {
        let over = AtomicBool::new(false);
        passages.push(thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    gate.pause(STOPPED);
                    thread::sleep(BETWEEN_STOPS);
                }
            });
            let passage = run(transit, gate, load, round, "stopped");
            over.store(true, Ordering::Relaxed);
            passage
        })?);
    }
    let p99 = each(&passages, |passage| passage.between_us("p99"))?;
    Ok(Row {
        what: "gate: p99 read of it if it is stopped for 2 ms of 40".into(),
        unit: Unit::Microseconds,
        spread: Spread::of(&p99),
        reach: Reach::AtLeast(STOPPED.as_micros() as f64 / 2.0),
        detail: left_out(&passages)?,
    })
}

/// How long each of the runs lasts that reports are looked for in: as many report periods as seconds.
const REPORTS_S: u32 = 60;
/// At what rate.
const REPORTED_PER_S: u32 = 10_000;
/// Its place behind the two gateways.
const NGINX: usize = 2;

/// p99.9 with usage reported every second against hardly ever, and the worst second, of nginx too: what the machine does by
/// itself is in all of them.
pub fn reports(bench: &Bench) -> Result<Vec<Row>> {
    let transit = Transit::build()?;
    let gate = |every: &str| {
        let settings = format!("[usage]\nevery = \"{every}\"\n");
        let upstream = transit.upstream();
        Proxy::gate_with(bench.plimsoll()?, &upstream, &["one"], &[], &settings)?.before_others()
    };
    let nginx = Proxy::nginx(&transit.upstream())?.before_others()?;
    let proxies = [gate("1h")?, gate("1s")?, nginx];
    let long = Load { connections: CONNECTIONS, rate_per_s: REPORTED_PER_S, seconds: REPORTS_S };
    let mut passages = [vec![], vec![], vec![]];
    for round in 0..=bench.rounds {
        let [first, second] = in_turn(round);
        for which in [first, second, NGINX] {
            let load = if round == 0 { Load { seconds: bench.seconds, ..long } } else { long };
            let name = ["never", "reported", "nginx"][which];
            let passage = run(&transit, &proxies[which], load, round, name)?;
            if round > 0 {
                passages[which].push(passage);
            }
        }
    }
    let p999 = |which: usize| each(&passages[which], |passage| passage.between_us("p999"));
    let (never, reported) = (p999(0)?, p999(1)?);
    let (worst_never, _) = worst_seconds(&passages[0])?;
    let (worst, without) = worst_seconds(&passages[1])?;
    let (worst_nginx, _) = worst_seconds(&passages[NGINX])?;
    let core_late = Spread::of(&each(&passages[1], core_late_in_worst)?).median;
    let median_never = Spread::of(&worst_never).median;
    let median_nginx = Spread::of(&worst_nginx).median;
    let seconds = bench.rounds * REPORTS_S;
    Ok(vec![
        Row {
            what: "gate: p99.9 with usage reported each second over never".into(),
            unit: Unit::Ratio,
            spread: Spread::of_ratios(&reported, &never),
            reach: Reach::AtMost(1.05),
            detail: format!(
                "{:.0} and {:.0} us, {seconds} s each; {}",
                Spread::of(&reported).median,
                Spread::of(&never).median,
                left_out(&passages[1])?
            ),
        },
        Row {
            what: "gate: p99 of the worst second over the median second, reporting".into(),
            unit: Unit::Ratio,
            spread: Spread::of(&worst),
            reach: Reach::AtMost(2.0),
            detail: format!(
                "{median_never:.2} without reporting, nginx's {median_nginx:.2}; in that second the core itself was \
                 {core_late:.2} times as late; {without} of {seconds} seconds left out"
            ),
        },
        Row {
            what: "gate: the same over that without reporting".into(),
            unit: Unit::Ratio,
            spread: Spread::of_ratios(&worst, &worst_never),
            reach: Reach::AtMost(1.05),
            detail: "what the machine itself does is in both".into(),
        },
    ])
}

/// Of each run the largest of the seconds over their median; and how many seconds of all do not count.
fn worst_seconds(passages: &[Passage]) -> Result<(Vec<f64>, f64)> {
    let (mut worst, mut without) = (Vec::new(), 0.0);
    for passage in passages {
        let (seconds, left_out) = passage.seconds()?;
        let spread = Spread::of(&seconds);
        worst.push(spread.max / spread.median);
        without += left_out;
    }
    Ok((worst, without))
}

/// How late the core was in the worst second of a run, by a thread that comes before the proxy, over that in the median
/// second: about 1 where the proxy alone is slow, and more where the machine was.
fn core_late_in_worst(passage: &Passage) -> Result<f64> {
    let (seconds, _) = passage.seconds()?;
    let late = passage.core_late()?;
    let worst = seconds.iter().zip(&late).max_by(|one, other| one.0.total_cmp(other.0));
    let (_, late_in_worst) = worst.context("no second was measured")?;
    Ok(late_in_worst / Spread::of(&late).median)
}

/// Clients that send a request byte by byte.
const DRIPPING: usize = 1000;
/// What a quick client sends meanwhile, and for how long.
const BESIDE: Load = Load { connections: 32, rate_per_s: 2000, seconds: 4 };

/// p99 of a quick client beside many that drip, over that while they drip elsewhere: what they cost the measuring core is in
/// both. So few requests let the gateway's core halt between them, less often beside those that drip, so it is kept awake.
pub fn slow_clients(bench: &Bench) -> Result<Row> {
    let transit = Transit::build()?;
    let gate = Proxy::gate(bench.plimsoll()?, &transit.upstream(), "")?.before_others()?;
    let folder = tempfile::tempdir()?;
    let _awake = kept_awake("1", &folder.path().join("awake"))?;
    // Nobody reads here: what one run drips fits into the sockets.
    let elsewhere = TcpListener::bind("127.0.0.1:0")?;
    let (mut without, mut beside) = (Vec::new(), Vec::new());
    for round in 0..=bench.rounds {
        for which in in_turn(round) {
            let accepting = (which == 0).then_some(&elsewhere);
            let address = accepting.map_or(Ok(gate.address), TcpListener::local_addr)?;
            let over = AtomicBool::new(false);
            let passage = thread::scope(|scope| {
                let dripping = scope.spawn(|| drip(address, accepting, &over));
                let name = ["elsewhere", "dripping"][which];
                let passage = run(&transit, &gate, BESIDE, round, name);
                over.store(true, Ordering::Relaxed);
                dripping.join().expect("it does not panic")?;
                passage
            })?;
            if round > 0 {
                [&mut without, &mut beside][which].push(passage);
            }
        }
    }
    let p99 = |passages: &[Passage]| each(passages, |passage| passage.between_us("p99"));
    let (without_us, beside_us) = (p99(&without)?, p99(&beside)?);
    Ok(Row {
        what: format!("gate: p99 beside {DRIPPING} dripping clients over that without"),
        unit: Unit::Ratio,
        spread: Spread::of_ratios(&beside_us, &without_us),
        reach: Reach::AtMost(1.1),
        detail: format!(
            "{:.0} us without them; {}",
            Spread::of(&without_us).median,
            left_out(&beside)?
        ),
    })
}

/// Opens connections from core 0, accepted here where nobody else does, that send a byte each every tenth of a second, until
/// it is over.
fn drip(address: SocketAddr, accepting: Option<&TcpListener>, over: &AtomicBool) -> Result<()> {
    let mut first = CpuSet::new();
    first.set(0);
    sched_setaffinity(None, &first)?;
    let (mut clients, mut accepted) = (Vec::new(), Vec::new());
    for _ in 0..DRIPPING {
        clients.push(TcpStream::connect(address)?);
        accepted.extend(accepting.map(TcpListener::accept).transpose()?);
    }
    let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ";
    for byte in request.iter().copied().chain(std::iter::repeat(b'a')) {
        for client in &mut clients {
            if over.load(Ordering::Relaxed) {
                return Ok(());
            }
            // The gateway may close those that take too long: they are no longer slow clients then.
            client.write_all(&[byte]).ok();
            thread::sleep(Duration::from_micros(100));
        }
    }
    Ok(())
}
