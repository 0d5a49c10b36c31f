//! How fast access logs are read, beside GoAccess on the same file, and in how much memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::bench::Bench;
use crate::bench::process::{Finished, Running, pinned};
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::statistics::Spread;
use crate::repo;

const LINES: u64 = 1_000_000;
/// What GoAccess takes for that many lines, about.
const EXPECTED: Duration = Duration::from_secs(120);
/// A log that is large: with its compression some 2 GB.
const MANY_LINES: u64 = 50_000_000;
const MANY_USERS: u64 = 10_000_000;
const EXPECTED_OF_MANY: Duration = Duration::from_secs(900);

/// Draws numbers (Steele, Lea and Flood 2014, SplitMix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Writes a day of a shop's combined log: users with addresses and agents of their own, endpoints with ids, slugs and
/// queries, some static files, bots and errors.
pub fn write_log(to: impl Write, lines: u64, users: u64, seed: u64) -> Result<()> {
    const AGENTS: [&str; 4] = [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    ];
    let mut out = BufWriter::with_capacity(1 << 20, to);
    let mut draw = Draw(seed);
    for line in 0..lines {
        let user = draw.below(users);
        let second = line * 86_400 / lines;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        let id = draw.below(users.max(10) * 10);
        let target = match draw.below(20) {
            0..=4 => format!("GET /api/v1/products/{id}"),
            5..=7 => format!("GET /api/v1/products?page={}&sort=price", draw.below(50)),
            8..=9 => format!("GET /api/v1/users/{user}/orders"),
            10 => format!("GET /api/v1/users/{user}/orders/{:08x}-0000-4000-8000-{id:012x}", user),
            11 => "POST /api/v1/login".to_owned(),
            12 => format!("POST /api/v1/carts/{user}/items"),
            13 => format!("GET /blog/a-post-about-{}-and-{}", draw.below(3_000), id % 7),
            14..=15 => format!("GET /static/app.{:x}.js", id % 10),
            16 => format!("GET /images/{id}.png"),
            17 => "GET /healthz".to_owned(),
            18 => format!("GET /search?q=word{}", draw.below(users)),
            _ => "GET /".to_owned(),
        };
        let status = if draw.below(50) == 0 { 404 } else { 200 };
        writeln!(
            out,
            "{}.{}.{}.{} - - [23/Nov/2026:{hour:02}:{minute:02}:{second:02} +0100] \"{target} HTTP/1.1\" {status} {} \
             \"https://shop.example/\" \"{}\"",
            10 + (user >> 24),
            user >> 16 & 255,
            user >> 8 & 255,
            user & 255,
            200 + draw.below(5_000),
            AGENTS[(user % 4) as usize]
        )?;
    }
    out.flush()?;
    Ok(())
}

/// Lines a second over GoAccess's, two processors over one, and the memory taken.
pub fn mine(bench: &Bench) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("access.log");
    write_log(File::create(&log)?, LINES, 20_000, 1)?;
    let goaccess = || {
        let mut command = pinned("0", "goaccess");
        command.arg(&log).args(["--log-format=COMBINED", "--no-progress", "-o"]);
        command.arg(folder.path().join("goaccess.json"));
        run(command, EXPECTED)
    };
    let mine = |cores: &str| {
        let out = tempfile::tempdir_in(folder.path())?;
        let mut command = pinned(cores, bench.plimsoll()?);
        command.arg("mine").arg(&log).arg("--out").arg(out.path());
        run(command, EXPECTED)
    };
    let (mut theirs, mut one, mut two, mut peak) = (vec![], vec![], vec![], vec![]);
    for _ in 0..bench.rounds {
        theirs.push(per_s(&goaccess()?));
        let finished = mine("0")?;
        one.push(per_s(&finished));
        peak.push(finished.peak_bytes as f64 / f64::from(1 << 20));
        two.push(per_s(&mine("0,1")?));
    }
    let rate = |rates: &[f64]| format!("{:.0} lines/s", Spread::of(rates).median);
    Ok(vec![
        Row {
            what: "mine: lines a second over GoAccess's, one core".into(),
            unit: Unit::Ratio,
            spread: Spread::of_ratios(&one, &theirs),
            reach: Reach::AtLeast(15.0),
            detail: format!("{}; GoAccess {}", rate(&one), rate(&theirs)),
        },
        Row {
            what: "mine: two cores over one".into(),
            unit: Unit::Ratio,
            spread: Spread::of_ratios(&two, &one),
            reach: Reach::AtLeast(1.8),
            detail: rate(&two),
        },
        Row {
            what: "mine: memory at its highest, a million lines".into(),
            unit: Unit::MiB,
            spread: Spread::of(&peak),
            reach: Reach::AtMost(256.0),
            detail: String::new(),
        },
    ])
}

/// Memory at its highest for a log that is far larger, with as many addresses and more paths than fit.
pub fn memory(bench: &Bench) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("access.log.gz");
    let mut gzip = repo::command(repo::require("gzip")?);
    gzip.arg("-1").stdin(Stdio::piped()).stdout(File::create(&log)?);
    let mut gzip = gzip.spawn()?;
    let written =
        write_log(gzip.stdin.take().context("it has an input")?, MANY_LINES, MANY_USERS, 2);
    ensure!(gzip.wait()?.success(), "gzip failed");
    written?;
    let mut command = pinned("0,1", bench.plimsoll()?);
    command.arg("mine").arg(&log).arg("--out").arg(folder.path().join("mined"));
    let finished = run(command, EXPECTED_OF_MANY)?;
    Ok(vec![Row {
        what: format!("mine: memory at its highest, {} million lines", MANY_LINES / 1_000_000),
        unit: Unit::MiB,
        spread: Spread::of(&[finished.peak_bytes as f64 / f64::from(1 << 20)]),
        reach: Reach::AtMost(256.0),
        detail: format!(
            "{} million addresses, ten times as many ids in paths; {:.0} s",
            MANY_USERS / 1_000_000,
            finished.awake.as_secs_f64()
        ),
    }])
}

fn run(command: Command, expected: Duration) -> Result<Finished> {
    let finished = Running::start(command)?.wait_for_end(expected)?;
    ensure!(finished.status.success(), "it failed: {}", finished.stderr);
    Ok(finished)
}

fn per_s(finished: &Finished) -> f64 {
    LINES as f64 / finished.awake.as_secs_f64()
}
