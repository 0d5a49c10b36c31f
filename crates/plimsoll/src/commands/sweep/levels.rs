//! Which levels the flags ask for.

use model::LevelKind;
use model::quote::{counted, grouped};
use model::units::parse_count;
use verdict::Ladder;

use crate::args::SweepArgs;
use crate::failure::{Failure, usage};
use crate::load::shape::MOST_CONNECTIONS;

/// Levels that one list may hold.
const MOST_LEVELS: usize = 1000;
/// Level up to which a climb goes, by default.
const MAX_LEVEL: u64 = 50_000;
/// Share of attempts that must succeed for a climb to go on, by default.
const STOP_BELOW: f64 = 0.9;

/// Whether levels are concurrencies or rates.
pub fn kind(args: &SweepArgs) -> LevelKind {
    if args.rates.is_empty() { LevelKind::Concurrency } else { LevelKind::Rate }
}

/// The ladder asked for.
///
/// # Errors
/// When a level is invalid, or levels make no ladder.
pub fn ladder(args: &SweepArgs) -> Result<Ladder, Failure> {
    let load = &args.load;
    if kind(args) == LevelKind::Rate {
        if load.pace.is_some() || load.think.is_some() {
            return usage(
                "--pace and --think belong to a closed loop: leave out either them or --rates",
            );
        }
        refuse_bounds(args, "--rates", &["--max-level", "--stop-below"])?;
        return listed(args.rates.clone());
    }
    if let Some(most) = args.connections {
        return usage(format!(
            "-c {most}: that is the most connections of an open loop (--rates); the levels of a closed one are \
             --levels {most}"
        ));
    }
    if load.arrivals.is_some() {
        return usage("--arrivals belongs to an open loop: give its rates with --rates");
    }
    let highest = highest(args.max_level.unwrap_or(MAX_LEVEL))?;
    match args.levels.trim() {
        "auto" => Ok(Ladder::auto(highest, args.stop_below.unwrap_or(STOP_BELOW))),
        "classic" if highest < 200 => {
            usage("--levels classic begins at 200 connections, above --max-level")
        }
        "classic" => {
            refuse_bounds(args, "--levels classic", &["--stop-below"])?;
            Ok(Ladder::classic(highest))
        }
        list => {
            let levels = concurrencies(list)?;
            refuse_bounds(args, &format!("--levels {list}"), &["--max-level", "--stop-below"])?;
            listed(levels)
        }
    }
}

/// Bounds of a climb have no place beside levels that were given, all of which are run.
fn refuse_bounds(args: &SweepArgs, beside: &str, flags: &[&str]) -> Result<(), Failure> {
    let given =
        [("--max-level", args.max_level.is_some()), ("--stop-below", args.stop_below.is_some())];
    match given.iter().find(|(flag, given)| *given && flags.contains(flag)) {
        Some((flag, _)) => usage(format!(
            "{flag} bounds the levels that auto chooses: leave out either it or {beside}"
        )),
        None => Ok(()),
    }
}

/// A ladder of levels given one by one.
///
/// # Errors
/// When there are too many.
pub fn listed(levels: Vec<f64>) -> Result<Ladder, Failure> {
    if levels.len() > MOST_LEVELS {
        return usage(format!("{} levels are too many: {MOST_LEVELS} at most", levels.len()));
    }
    Ok(Ladder::list(levels))
}

fn highest(max_level: u64) -> Result<u32, Failure> {
    match max_level {
        1..=MOST_CONNECTIONS => Ok(max_level as u32),
        _ => usage(format!("--max-level {}: {}", grouped(max_level), range())),
    }
}

/// How many connections a level may have, in words.
fn range() -> String {
    format!("from 1 to {}", counted(MOST_CONNECTIONS, "connection"))
}

fn concurrencies(list: &str) -> Result<Vec<f64>, Failure> {
    let list = list.strip_suffix(',').unwrap_or(list);
    if list.contains("..") {
        return usage(format!(
            "--levels {list}: ranges are not understood; auto finds the levels itself, or list them: 1,2,4,8"
        ));
    }
    // Of `1,000` nothing but `000` tells that one number was meant.
    let is_group = |level: &str| {
        level.len() == 3 && level.starts_with('0') && level.bytes().all(|b| b.is_ascii_digit())
    };
    if list.split(',').any(is_group) {
        return usage(format!(
            "--levels {list}: commas stand between levels; write a thousand as 1000"
        ));
    }
    list.split(',').map(concurrency).collect()
}

fn concurrency(text: &str) -> Result<f64, Failure> {
    match parse_count(text) {
        Ok(level @ 1..=MOST_CONNECTIONS) => Ok(level as f64),
        Ok(level) => usage(format!("--levels: {} is not {}", grouped(level), range())),
        Err(error) => {
            usage(format!("--levels: {error}; give auto, classic, or a list such as 200,500,1000"))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use verdict::Step;

    use super::*;
    use crate::args::{Cli, Command};

    fn args(flags: &[&str]) -> SweepArgs {
        let line = ["plimsoll", "sweep", "http://127.0.0.1/"].iter().chain(flags);
        match Cli::try_parse_from(line).unwrap().command {
            Command::Sweep(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn levels_as_written() {
        for (flags, first) in [
            (&[][..], 1.0),
            (&["--levels", "classic"], 200.0),
            (&["--levels", "1k, 500,2k"], 500.0),
            (&["--levels", "2,4,"], 2.0),
            (&["--rates", "2.5,1k"], 2.5),
        ] {
            assert_eq!(ladder(&args(flags)).unwrap().next(), Step::Run(first), "{flags:?}");
        }
    }

    #[test]
    fn wrong_levels_say_why() {
        for (flags, needle) in [
            (&["--levels", "200,,500"][..], "not a count"),
            (&["--levels", "many"], "auto, classic"),
            (&["--levels", "1..64"], "list them"),
            (&["--levels", "0"], "from 1 to"),
            (&["--levels", "1,000"], "write a thousand as 1000"),
            (&["--levels", "2,050"], "write a thousand as 1000"),
            (&["--levels", "0.5"], "not a whole number"),
            (&["--levels", "-5"], "negative"),
            (&["--levels", "2M"], "2,000,000 is not from 1 to 1,000,000 connections"),
            (&["--max-level", "0"], "--max-level 0: from 1 to 1,000,000 connections"),
            (&["--levels", "classic", "--max-level", "100"], "200"),
            (&["--levels", "1,8,64", "--max-level", "10"], "--max-level bounds"),
            (&["--levels", "1,8,64", "--stop-below", "50%"], "--stop-below bounds"),
            (&["--levels", "classic", "--stop-below", "50%"], "--stop-below bounds"),
            (&["--rates", "1,2", "--stop-below", "50%"], "or --rates"),
            (&["--rates", "10", "--pace", "1ms"], "closed loop"),
            (&["--arrivals", "poisson"], "open loop"),
        ] {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let joined: Vec<&str> = flags.iter().map(String::as_str).collect();
            let message = match joined.as_slice() {
                ["--levels", value] => ladder(&args(&[&format!("--levels={value}")])),
                other => ladder(&args(other)),
            };
            let message = message.unwrap_err().to_string();
            assert!(message.contains(needle), "{flags:?}: {message}");
        }
    }
}
