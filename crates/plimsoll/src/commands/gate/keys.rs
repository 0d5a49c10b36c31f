//! `plimsoll gate keys`: creates, lists, revokes and rotates keys.

use std::path::Path;

use gate::config::RateText;
use gate::keys::{KeyRecord, NewKey, Stamp, Store, StoreError};
use jiff::Timestamp;
use model::gated::{GateKey, GateKeys, KEYS_SCHEMA};
use model::quote::plain;
use model::units::SECOND;
use report::grid::{Grid, Lean};

use crate::args::{AddKeyArgs, GateFormat, KeysCommand, ListKeysArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::results::output;

const BY: &str = "command line";
/// When a change holds: gateways look for some ten times a second.
const FOLLOWED: &str = "a running gateway follows within a second";
/// The column that a narrow table leaves out.
const MADE: usize = 4;
/// Characters of an owner that a table shows.
const OWNER: usize = 16;
/// Characters of the names of routes that a table shows.
const ROUTES: usize = 24;

/// Runs the command; the exit code.
///
/// # Errors
/// When the store cannot be used, or refuses.
pub fn keys(command: &KeysCommand) -> Result<u8, Failure> {
    let stamp = Stamp { at_s: Timestamp::now().as_second(), by: BY };
    match command {
        KeysCommand::Add(args) => add(args, &stamp),
        KeysCommand::List(args) => list(args),
        KeysCommand::Revoke(args) => {
            existing(&args.store.store)?
                .revoke(args.id, &stamp)
                .map_err(|error| failure(&args.store.store, &error))?;
            eprintln!("plimsoll: key {} is revoked; {FOLLOWED}", args.id);
            Ok(0)
        }
        KeysCommand::Rotate(args) => {
            let grace_s = u32::try_from(args.grace.div_ceil(SECOND)).unwrap_or(u32::MAX);
            let path = &args.key.store.store;
            let made = existing(path)?
                .rotate(args.key.id, grace_s, &stamp)
                .map_err(|error| failure(path, &error))?;
            Ok(show(&made, FOLLOWED))
        }
    }
}

fn add(args: &AddKeyArgs, stamp: &Stamp) -> Result<u8, Failure> {
    let concurrency = match args.concurrency.map(u32::try_from) {
        Some(Err(_)) => return usage("--concurrency: at most 4294967295"),
        count => count.transpose().unwrap_or_default(),
    };
    let burst = args.burst.map(|burst| u32::try_from(burst).unwrap_or(u32::MAX));
    let rate = match RateText::limit(args.rate, burst) {
        Ok(rate) => rate,
        Err(why) => return usage(format!("--burst: {why}")),
    };
    let lasts_s =
        args.expires_in.map(|lasts| i64::try_from(lasts.div_ceil(SECOND)).unwrap_or(i64::MAX));
    let new = NewKey {
        owner: args.owner.clone(),
        tier: args.tier.clone(),
        routes: args.routes.clone(),
        rate,
        at_once: concurrency,
        day_quota: args.per_day,
        month_quota: args.per_month,
        body_max_bytes: args.body.map(|body| body.0),
        expires_s: lasts_s.map_or(0, |lasts_s| stamp.at_s.saturating_add(lasts_s)),
    };
    let path = &args.store.store;
    let is_new = !path.exists();
    // What no key may be leaves no new store behind.
    new.check(stamp.at_s).map_err(|error| failure(path, &error))?;
    let mut store = Store::open(path).map_err(|error| failure(path, &error))?;
    let made = store.add(&new, stamp).map_err(|error| failure(path, &error))?;
    let tiers = store.tiers().map_err(|error| failure(path, &error))?;
    if (!new.tier.is_empty() || !new.routes.is_empty()) && tiers.is_none() {
        eprintln!(
            "plimsoll: no gateway has run with this store, so whether it has the tier and routes is not known: it says so at \
             its start"
        );
    }
    let holds = match is_new {
        true => format!("{} is a new store: a gateway must be started with it", path.display()),
        false => FOLLOWED.to_owned(),
    };
    let code = show(&made, &holds);
    if code != 0 {
        // Nobody knows it, and it would make the gateway ask for keys.
        store.revoke(made.1, stamp).map_err(|error| failure(path, &error))?;
        eprintln!("plimsoll: the key could not be printed and is revoked");
    }
    Ok(code)
}

/// Prints a key alone on standard output; its number beside it, and from when on gateways know it.
fn show((key, id): &(String, u64), holds: &str) -> u8 {
    let printed = output::print(&format!("{key}\n"));
    eprintln!("plimsoll: this is key {id}; it is shown once and kept nowhere; {holds}");
    if printed { 0 } else { 1 }
}

fn list(args: &ListKeysArgs) -> Result<u8, Failure> {
    let path = &args.store.store;
    exists(path)?;
    let read = |store: Store| {
        let mut keys = Vec::new();
        store.each_key(|key| keys.push(key)).map(|()| keys)
    };
    // Read-only first: a process that writes to it is not waited for. A file that is empty, or of an earlier version, is opened as
    // for a change.
    let keys = Store::inspect(path).and_then(read).or_else(|_| Store::open(path).and_then(read));
    let keys = keys.map_err(|error| failure(path, &error))?;
    let text = match args.format {
        GateFormat::Json => {
            let keys = keys.iter().map(public).collect();
            output::json(&GateKeys { schema: KEYS_SCHEMA.into(), keys }) + "\n"
        }
        GateFormat::Text => shown(&keys, Timestamp::now().as_second()),
    };
    Ok(if output::print(&text) { 0 } else { 1 })
}

fn public(record: &KeyRecord) -> GateKey {
    let key = record.key.clone();
    GateKey {
        key: record.id,
        owner: key.owner,
        tier: key.tier,
        routes: key.routes,
        rate_per_s: key.rate.map(|rate| rate.per_s),
        burst: key.rate.map(|rate| rate.burst),
        concurrency: key.at_once,
        per_day: key.day_quota,
        per_month: key.month_quota,
        body_bytes: key.body_max_bytes,
        created_s: record.created_s,
        expires_s: key.expires_s,
        revoked_s: record.revoked_s,
    }
}

fn shown(keys: &[KeyRecord], now_s: i64) -> String {
    let mut grid = Grid::new([Lean::Right].into_iter().chain([Lean::Left; 5])).spare(&[MADE]);
    grid.row(["key", "owner", "tier", "limits", "made", "state"]);
    for record in keys {
        let key = &record.key;
        let state = match record.revoked_s {
            Some(_) => "revoked".to_owned(),
            None if key.expires_s != 0 && key.expires_s <= now_s => "expired".to_owned(),
            None if key.expires_s != 0 => format!("until {}", minute(key.expires_s)),
            None => "valid".to_owned(),
        };
        let mut limits = Vec::new();
        limits.extend(key.rate.map(|limit| rate(limit.per_s)));
        limits.extend(key.at_once.map(|most| format!("{most} at once")));
        limits.extend(key.day_quota.map(|quota| format!("{quota}/day")));
        limits.extend(key.month_quota.map(|quota| format!("{quota}/month")));
        limits.extend(key.body_max_bytes.map(|bytes| format!("body {}", size(bytes))));
        if !key.routes.is_empty() {
            if limits.is_empty() {
                limits.push("the tier's".to_owned());
            }
            limits.push(format!("only {}", plain(&key.routes.join(" "), ROUTES)));
        }
        let or = |text: String, none: &str| if text.is_empty() { none.to_owned() } else { text };
        grid.row([
            record.id.to_string(),
            or(plain(&key.owner, OWNER), "-"),
            or(plain(&key.tier, OWNER), "first"),
            or(limits.join(", "), "the tier's"),
            day(record.created_s),
            state,
        ]);
    }
    match keys.is_empty() {
        true => "the store has no key: plimsoll gate keys add makes one\n".to_owned(),
        false => grid.print_headed(output::style()),
    }
}

/// A rate by the second, the minute or the hour: by the first of them of which it is 1 or more.
fn rate(per_s: f64) -> String {
    // What was written as 1/h is some 1e-16 less of an hour, or more.
    let whole = |&(seconds, _): &(f64, &str)| per_s * seconds > 1.0 - 1e-9;
    let units = [(1.0, "s"), (60.0, "m"), (3600.0, "h")];
    let (seconds, unit) = units.into_iter().find(whole).unwrap_or((3600.0, "h"));
    let count = per_s * seconds;
    let count = match count > 0.1 {
        true => (count * 1000.0).round() / 1000.0,
        // Three digits, wherever they begin.
        false => format!("{count:.2e}").parse().unwrap_or(count),
    };
    format!("{count}/{unit}")
}

/// A size as it may be written: in the largest unit in which it is a whole number.
fn size(bytes: u64) -> String {
    let units: [(&str, u64); 5] =
        [("GiB", 1 << 30), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1000)];
    let unit = units.into_iter().find(|&(_, unit)| bytes > 0 && bytes.is_multiple_of(unit));
    unit.map_or_else(|| format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// The day of an instant, in UTC.
pub(super) fn day(unix_s: i64) -> String {
    match Timestamp::from_second(unix_s) {
        Ok(at) => at.to_string().chars().take(10).collect(),
        Err(_) => "-".to_owned(),
    }
}

/// The day and the minute of an instant, in UTC.
fn minute(unix_s: i64) -> String {
    match Timestamp::from_second(unix_s) {
        Ok(at) => at.to_string().chars().take(16).collect::<String>().replace('T', " "),
        Err(_) => "-".to_owned(),
    }
}

/// Opens a store that is there: looking at keys makes no file.
fn existing(path: &Path) -> Result<Store, Failure> {
    exists(path)?;
    Store::open(path).map_err(|error| failure(path, &error))
}

fn exists(path: &Path) -> Result<(), Failure> {
    match path.exists() {
        true => Ok(()),
        false => cannot_run(format!(
            "{}: there is no such file; `plimsoll gate keys add` makes it, --store names another",
            path.display()
        )),
    }
}

fn failure(path: &Path, error: &StoreError) -> Failure {
    match error {
        StoreError::Wrong(_) => Failure::Usage(error.to_string()),
        StoreError::Failed(_) => Failure::CannotRun(format!("{}: {error}", path.display())),
        _ => Failure::CannotRun(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_fails_is_named() {
        let full = StoreError::Failed("database or disk is full".to_owned());
        let Failure::CannotRun(said) = failure(Path::new("keys.db"), &full) else { panic!() };
        assert_eq!(said, "keys.db: the key store: database or disk is full");
    }

    /// In a grace of an hour the day alone says nothing.
    #[test]
    fn the_end_of_a_key_is_shown_to_the_minute() {
        assert_eq!(minute(1_700_000_000), "2023-11-14 22:13");
    }

    #[test]
    fn sizes_are_shown_as_they_are_written() {
        for text in ["0B", "512B", "64KiB", "1MiB", "3MB", "1500kB", "2GiB"] {
            assert_eq!(size(gate::config::Bytes::parse(text).unwrap().0), text);
        }
    }

    #[test]
    fn rates_are_never_shown_as_none() {
        for (text, shown) in [
            ("100/s", "100/s"),
            ("12.5/s", "12.5/s"),
            ("30/m", "30/m"),
            ("90/m", "1.5/s"),
            ("100/h", "1.667/m"),
            ("3/h", "3/h"),
            ("1/h", "1/h"),
            ("0.001/h", "0.001/h"),
        ] {
            assert_eq!(rate(RateText::parse(text).unwrap().0), shown, "{text}");
        }
    }
}
