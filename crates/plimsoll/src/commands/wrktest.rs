//! `plimsoll wrktest`: wrktest.sh's command line, levels and files, carried out as a sweep; also
//! through a link named `wrktest.sh`.
//!
//! The fourth column of its `.dat` is Plimsoll's success rate: responses with an error status are failures,
//! whereas the script counted them as successes. `diff` says so when it compares the two.

use model::LevelKind;
use model::units::{exact_duration, parse_duration};
use net::limits;
use verdict::exit::{COULD_NOT_RUN, DONE};
use verdict::objective::AbortWatch;

use crate::args::DEFAULT_MARGIN;
use crate::args::{LoadArgs, TakeArgs, WrktestArgs, WrktestCommand};
use crate::commands::diff::Compared;
use crate::commands::sweep::runner::SweepRunner;
use crate::commands::sweep::{conclude, empty, levels};
use crate::failure::{Failure, usage};
use crate::load::objectives::Objectives;
use crate::results::output;
use crate::results::sweep_files::SweepFiles;
use crate::runs::prepare_url;
use crate::secrets;
use crate::terminal::signals::stop_on_signal;

/// The script's levels.
const LEVELS: [u64; 10] = [200, 500, 1000, 3000, 5000, 10_000, 15_000, 20_000, 25_000, 50_000];
/// The script's threads for each processor.
const THREADS_A_CPU: u64 = 3;
/// The script's advice on latency, for the second of the two levels named.
const OBJECTIVE_NS: u64 = 500 * model::units::MILLISECOND;

/// Runs the command; the exit code.
///
/// # Errors
/// When no level could be run, or the files of `diff` cannot be compared.
pub fn wrktest(args: &WrktestArgs) -> Result<u8, Failure> {
    match (&args.command, &args.url) {
        (Some(WrktestCommand::Diff { a, b }), _) => diff(&[b.clone(), a.clone()]),
        (None, Some(url)) => measure(url, args),
        (None, None) => usage("wrktest takes a URL, or `diff A B`"),
    }
}

fn measure(url: &str, args: &WrktestArgs) -> Result<u8, Failure> {
    let levels = if args.levels.is_empty() { LEVELS.to_vec() } else { args.levels.clone() };
    if levels.contains(&0) {
        return usage("--levels: 0 is not a level: at least one connection is needed");
    }
    let ladder = levels::listed(levels.into_iter().map(|level| level as f64).collect())?;
    let threads = THREADS_A_CPU * limits::allowed_cpus().len() as u64;
    let load = LoadArgs {
        threads: Some(threads),
        timeout: Some(args.timeout),
        ..LoadArgs::without_flags()
    };
    let runner = SweepRunner {
        prepared: prepare_url(url, &load, false)?,
        kind: LevelKind::Concurrency,
        connections: 0,
        duration_ns: args.duration,
        rest_ns: 0,
        stop: stop_on_signal()?,
        quiet: false,
        objectives: Objectives::default(),
        abort_on: AbortWatch::default(),
        take: TakeArgs::default(),
        sources: Vec::new(),
    };
    runner.prepared.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
    if let Some(dir) = args.dir.to_str().filter(|dir| parse_duration(dir).is_ok()) {
        eprintln!("plimsoll: -d {dir} names the folder; a level's length is --duration {dir}");
    }
    let files = SweepFiles::of_job(&args.dir, &args.name)?;
    eprintln!(
        "Running like wrk -t{threads} -d{} -T{} --latency -c LEVEL {}",
        exact_duration(args.duration),
        exact_duration(args.timeout),
        secrets::mask_url(url)
    );
    let mut sweep = empty(&args.name, url, LevelKind::Concurrency, OBJECTIVE_NS);
    let end = runner.run(ladder, &mut sweep, &files)?;
    let mut printed = conclude(&sweep);
    // Without a level nothing was written.
    if !sweep.levels.is_empty() {
        printed &= close(&files, end.is_written() && files.report().exists());
    }
    let code = end.exit_code(&sweep);
    Ok(if printed || code != DONE { code } else { COULD_NOT_RUN })
}

/// The script's closing lines, and ours where the files were `written`; whether they could be printed.
fn close(files: &SweepFiles, written: bool) -> bool {
    if !written {
        return true;
    }
    let [data, qps, success] =
        [".dat", "_qps_ttlb.png", "_successrate.png"].map(|rest| files.named(rest));
    output::print(&format!(
        "\nNow plot according to {}\nQPS graphic file is: {}\nSuccess rate graphic file is: {}\nreport: {}\n",
        data.display(),
        qps.display(),
        success.display(),
        files.report().display()
    ))
}

/// The file that the other is compared with comes first.
fn diff(files: &[std::path::PathBuf]) -> Result<u8, Failure> {
    let compared = Compared::read(files, DEFAULT_MARGIN, false)?.called_as_by_wrktest();
    let mut printed = output::print(&compared.text());
    let dir = compared.folder();
    let written = compared.write(dir);
    let png = |of: &str| dir.join(format!("{}.png", compared.chart(of)));
    printed &= output::print(&format!(
        "\nQPS graphic file is: {}\nSuccess rate graphic file is: {}\nreport: {}\n",
        png("qps.ttlb").display(),
        png("successrate").display(),
        dir.join(compared.report(dir)).display()
    ));
    Ok(u8::from(!(written && printed)))
}
