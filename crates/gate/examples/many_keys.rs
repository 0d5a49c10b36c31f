//! What many keys cost: the start with a store of them, memory, and looking one up. For `cargo xtask bench gate-keys`.
//!
//! `cargo run --release -p gate --example many_keys -- KEYS`, which prints JSON.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use gate::config::{Config, Flags};
use gate::gateway::{Gateway, Setup};
use gate::keys::{Digest, Digester, Store};
use rusqlite::{Connection, params};

/// Look-ups that are timed.
const LOOKUPS: u64 = 2_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let keys: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("gate.db");
    let digester = fill(&path, keys)?;
    // A key of a store is asked for, so the upstream is never connected to.
    let flags = Flags {
        listen: vec!["127.0.0.1:0".into()],
        upstream: vec!["http://127.0.0.1:1".into()],
        store: Some(path),
        workers: Some(1),
        ..Flags::default()
    };
    let before = resident_bytes();
    let began = Instant::now();
    let setup = Setup { flags: Config::from(flags), ..Setup::default() };
    let gateway = Gateway::start(setup)?;
    let start = began.elapsed();
    let grown = resident_bytes().saturating_sub(before);
    let table = &gateway.control().state().keys;
    assert_eq!(table.len() as u64, keys);
    let find = timed(|n| table.find(&digest(&digester, n, keys)).is_some());
    let digests = timed(|n| digest(&digester, n, keys).0[0] < 255);
    let per_key = |bytes: u64| bytes as f64 / keys as f64;
    println!(
        "{{\"keys\": {keys}, \"start_s\": {:.3}, \"table_bytes_per_key\": {:.1}, \"resident_bytes_per_key\": {:.1}, \
         \"find_ns\": {:.1}, \"digest_ns\": {:.1}}}",
        start.as_secs_f64(),
        per_key(table.bytes() as u64),
        per_key(grown),
        find - digests,
        digests,
    );
    gateway.drain();
    Ok(())
}

/// The digest of a key, in an order that no cache foresees.
fn digest(digester: &Digester, nth: u64, keys: u64) -> Digest {
    let mixed = (nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % keys;
    digester.digest(&mixed.to_be_bytes())
}

/// Nanoseconds of one call.
fn timed(mut call: impl FnMut(u64) -> bool) -> f64 {
    let began = Instant::now();
    let found = (0..LOOKUPS).filter(|n| black_box(call(*n))).count();
    assert!(found > 0);
    let spent: Duration = began.elapsed();
    spent.as_nanos() as f64 / LOOKUPS as f64
}

/// A store of this many keys, each the eight bytes of its number.
fn fill(path: &Path, keys: u64) -> Result<Digester, Box<dyn Error>> {
    let digester = Store::open(path)?.digester().clone();
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare(
            "INSERT INTO keys (digest, owner, tier, routes, created_s, expires_s) VALUES (?1, ?2, 'gold', '', 1, 0)",
        )?;
        for key in 0..keys {
            let digest = digester.digest(&key.to_be_bytes());
            insert.execute(params![digest.0, format!("owner {key}")])?;
        }
    }
    transaction.commit()?;
    Ok(digester)
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kib.unwrap_or(0u64) * 1024
}
