//! The end of a command that made or read one run: printed, written, and turned into an exit code.

use std::path::Path;

use model::{ErrorClass, Run};

use crate::args::{Format, PrintArgs};
use crate::failure::{Failure, cannot_run};
use crate::profiles::stored::{self, Stored};
use crate::results::folder::{LAST_RUN, PAGE};
use crate::results::output;

/// The failure of requests that a proxy in the clear passes on to a server of TLS.
const RELAYS_TO_TLS: &str = "every response is 400 and says that TLS is expected, but none is spoken on this port: a proxy there \
                             sends plain HTTP to a port of TLS behind it";

/// Prints a run, writes its files, and returns the exit code. `speaks_tls` finds out whether TLS is used at an
/// address.
///
/// # Errors
/// When no response came because server and settings do not fit together. Never because of
/// a file that cannot be written: the result is printed all the same.
pub fn deliver(
    run: &Run,
    print_as: &PrintArgs,
    out: Option<&Path>,
    speaks_tls: fn(&str) -> bool,
) -> Result<u8, Failure> {
    let mut printed = output::print_run(run, print_as);
    let written = out.is_none_or(|dir| {
        let drawn = Stored::is_in(dir).then(|| stored::drawn(dir).ok()).flatten();
        let profile = drawn.as_ref().map(|(profiled, tree)| (profiled, tree));
        output::write_profiled_run(dir, run, profile)
    });
    match out.filter(|_| printed && written) {
        Some(dir) if print_as.format == Format::Text => {
            printed = name_report(dir, print_as.details || print_as.latency);
        }
        // Standard output is for programs, as the block of wrk is.
        Some(dir) if print_as.format == Format::Wrk => {
            eprintln!("report: {}", dir.join(PAGE).display());
        }
        _ => {}
    }
    if let Some(why) = mismatch(run, speaks_tls) {
        return cannot_run(why);
    }
    if is_refused_in_the_clear(run) {
        eprintln!(
            "plimsoll: every response was 400: if the server speaks TLS on this port, use https://"
        );
    }
    if let Some(why) = &run.halted {
        eprintln!("plimsoll: {why}; the result covers the run so far");
    }
    let code = verdict::exit_code(run);
    Ok(if printed && written || code != 0 { code } else { 1 })
}

/// Names the page, and the command that prints what the summary leaves out.
fn name_report(dir: &Path, has_details: bool) -> bool {
    let page = dir.join(PAGE);
    let command = match dir == Path::new(LAST_RUN) {
        true => "plimsoll report".to_owned(),
        false => output::typed(&["plimsoll", "report"], dir),
    };
    let more = if has_details { "".into() } else { format!("all figures: {command} --details\n") };
    output::print(&format!("\nreport: {}\n{more}", page.display()))
}

/// What to do where server and settings do not fit together, so that nothing of the server was measured: another scheme or
/// protocol, a certificate that is not accepted. `speaks_tls` finds out whether TLS is used at an address.
pub fn mismatch(run: &Run, speaks_tls: fn(&str) -> bool) -> Option<String> {
    let expects_tls = || run.plan.addresses.first().is_some_and(|address| speaks_tls(address));
    let is_suspect = is_refused_in_the_clear(run) || is_cut_off_in_the_clear(run);
    let why = match mismatch_met(run) {
        Some(engine::ASKS_FOR_TLS) if expects_tls() => engine::SPEAKS_TLS,
        Some(engine::ASKS_FOR_TLS) => RELAYS_TO_TLS,
        None if is_suspect && expects_tls() => engine::SPEAKS_TLS,
        met => met?,
    };
    Some(format!("{}: {why}", run.plan.url))
}

/// What connections failed of that failed for a reason that trying again does not change, if no response came.
fn mismatch_met(run: &Run) -> Option<&str> {
    run.totals.mismatches.filter(|_| run.totals.requests == 0)?;
    let sample = |class: ErrorClass| run.totals.error_samples.get(class.name());
    sample(ErrorClass::Tls).or_else(|| sample(ErrorClass::Protocol)).map(String::as_str)
}

/// Whether all that came was 400, in the clear: so do many servers respond to a request in the clear on a port of TLS.
fn is_refused_in_the_clear(run: &Run) -> bool {
    run.plan.tls.is_none() && run.totals.statuses.keys().eq(&[400])
}

/// Whether connections were closed in the clear without a word, as other servers do on a port of TLS.
fn is_cut_off_in_the_clear(run: &Run) -> bool {
    let cut_off = |class| run.totals.errors.of(class) > 0;
    let is_cut_off = [ErrorClass::Read, ErrorClass::Write].into_iter().any(cut_off);
    run.plan.tls.is_none() && run.totals.bytes_read == 0 && is_cut_off
}
