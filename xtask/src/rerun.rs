//! Tests, and those that failed once more with nothing beside them.
//!
//! Owns: running `cargo test`, reading from its output what failed, and the second try. Many tests measure time on
//! a machine that they share with each other and with strangers, so one may fail for want of a processor. What
//! fails alone too has failed. What passes alone has passed, and is named to the end, since it may be a rare fault
//! of the program as well.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::{interrupt, repo};

/// More failures than this are no want of time.
const AT_MOST: usize = 5;

/// Runs all tests with `cargo`, a command for `cargo test`; tells which passed at the second try only.
///
/// # Errors
/// When a test failed twice, when more than a few failed at once, or when a failure has no test to it.
pub fn test(cargo: impl Fn() -> Result<Command>) -> Result<Vec<String>> {
    let ended = run(cargo()?.args(["--workspace", "--no-fail-fast"]))?;
    if ended.success {
        return Ok(Vec::new());
    }
    let names = to_try_again(&ended)?;
    println!("\n-- once more, alone: {}", names.join(", "));
    let mut passed = 0;
    for target in &ended.targets {
        let mut again = cargo()?;
        again
            .args(["--workspace"])
            .args(target)
            .args(["--", "--exact", "--test-threads=1"])
            .args(&names);
        let ended = run(&mut again)?;
        ensure!(ended.success, "tests failed twice, the second time alone: {}", names.join(", "));
        passed += ended.passed;
    }
    ensure!(passed >= names.len(), "tests failed, and {passed} of {} ran again", names.len());
    Ok(names)
}

/// The tests that failed, where a second try can tell all that failed: a program of tests that crashed names none
/// of its own, and what others name would stand for it.
fn to_try_again(ended: &Ended) -> Result<Vec<String>> {
    let mut names: Vec<String> = ended.failed.iter().cloned().collect();
    let all_named = !names.is_empty() && ended.failed_sums == ended.targets.len();
    let chosen = ended.targets.iter().all(|target| !target.is_empty());
    if all_named && chosen && names.len() <= AT_MOST {
        return Ok(names);
    }
    if !all_named {
        names.push("some that are not named".to_owned());
    }
    bail!("tests failed: {}", names.join(", "))
}

/// What a run of `cargo test` told.
#[derive(Debug, Default)]
struct Ended {
    success: bool,
    failed: BTreeSet<String>,
    passed: usize,
    /// Test programs that ended by saying that something in them failed.
    failed_sums: usize,
    /// The arguments that choose each target with failures; none for one that cannot be chosen.
    targets: Vec<Vec<String>>,
}

fn run(cargo: &mut Command) -> Result<Ended> {
    let line = repo::shown(cargo);
    println!("$ {line}");
    let started = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.with_context(|| format!("`{line}` could not be started"))?;
    let stderr = child.stderr.take().context("its standard error")?;
    let told = thread::spawn(move || passed_on(stderr, |line| eprintln!("{line}")));
    let printed = passed_on(child.stdout.take().context("its output")?, |line| println!("{line}"));
    let told = told.join().expect("reading does not panic");
    let success = child.wait()?.success();
    interrupt::check()?;
    Ok(Ended {
        success,
        failed: failed(&printed),
        passed: passed(&printed),
        failed_sums: failed_sums(&printed),
        targets: told.iter().filter_map(|line| target(line)).collect(),
    })
}

/// Every line, shown as it comes.
fn passed_on(from: impl Read, show: impl Fn(&str)) -> Vec<String> {
    let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.inspect(|line| show(line)).collect()
}

/// The names below each `failures:` that lists names.
fn failed(printed: &[String]) -> BTreeSet<String> {
    let blocks = printed.iter().enumerate().filter(|(_, line)| *line == "failures:");
    let names = |(at, _): (usize, &String)| {
        printed[at + 1..].iter().map_while(|line| line.strip_prefix("    "))
    };
    blocks.flat_map(names).map(str::to_owned).collect()
}

/// How many passed, by the sums of all test programs.
fn passed(printed: &[String]) -> usize {
    let sums = printed.iter().filter_map(|line| line.strip_prefix("test result: "));
    let count = |sum: &str| sum.split_once(". ")?.1.split_once(" passed")?.0.parse::<usize>().ok();
    sums.filter_map(count).sum()
}

fn failed_sums(printed: &[String]) -> usize {
    printed.iter().filter(|line| line.starts_with("test result: FAILED.")).count()
}

/// The target that cargo says has failed, by what chooses it in the whole workspace: to choose it by its
/// package would build everything below it with other features.
fn target(told: &str) -> Option<Vec<String>> {
    let (_, words) = told.split_once("to rerun pass `")?;
    let mut words =
        words.trim_end_matches('`').split(' ').map(str::to_owned).skip_while(|word| word == "-p");
    words.next();
    let chosen: Vec<String> = words.collect();
    Some(if chosen.iter().any(|word| word == "--doc") { Vec::new() } else { chosen })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn failures_are_read_from_what_is_printed() {
        let printed = lines(
            "test a::b ... ok\ntest c::d ... FAILED\n\nfailures:\n\n---- c::d stdout ----\n    indented\n\n\
             failures:\n    c::d\n\ntest result: FAILED. 97 passed; 1 failed; 0 ignored\n\
             test result: ok. 3 passed; 0 failed; 0 ignored",
        );
        assert_eq!(failed(&printed), BTreeSet::from(["c::d".to_owned()]));
        assert_eq!(passed(&printed), 100);
        assert_eq!(failed_sums(&printed), 1);
    }

    #[test]
    fn a_program_that_crashed_is_not_made_up_for_by_tests_of_others() {
        let target = |name: &str| vec!["--test".to_owned(), name.to_owned()];
        let ended = |failed: &[&str], failed_sums, targets| Ended {
            failed: failed.iter().map(|name| (*name).to_owned()).collect(),
            failed_sums,
            targets,
            ..Ended::default()
        };
        let names = to_try_again(&ended(&["a::b"], 1, vec![target("cli")])).expect("it is named");
        assert_eq!(names, ["a::b"]);
        for (failed, failed_sums, targets) in [
            (&["a::b"][..], 1, vec![target("cli"), target("crashed")]),
            (&[], 0, vec![target("crashed")]),
            (&["a::b"], 1, vec![Vec::new()]),
            (&["a", "b", "c", "d", "e", "f"], 1, vec![target("cli")]),
        ] {
            assert!(to_try_again(&ended(failed, failed_sums, targets)).is_err(), "{failed:?}");
        }
    }

    #[test]
    fn a_target_is_chosen_without_its_package() {
        let target = |words: &str| target(&format!("error: test failed, to rerun pass `{words}`"));
        assert_eq!(target("-p plimsoll --test cli"), Some(vec!["--test".into(), "cli".into()]));
        assert_eq!(target("-p model --lib"), Some(vec!["--lib".into()]));
        assert_eq!(target("-p model --doc"), Some(Vec::new()));
        assert_eq!(super::target("error: 1 target failed:"), None);
    }
}
