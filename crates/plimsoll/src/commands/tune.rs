//! `plimsoll tune`: the record of a tuning, written while it happens.
//!
//! Owns the order of the runs and what is recorded. [`crate::runs::repeat`] makes the runs, predictions are those of
//! `profile whatif`, and `verdict` computes intervals.

mod notebook;
mod runs;
mod words;

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use model::profiled::{Flame, Owner, Profiled};
use model::secret::MASK;
use model::tuning::{Left, LeftPart, Prediction, SCHEMA, Station, Times, Tuning, TuningStep};
use model::units::{SECOND, exact_duration};
use model::{Nanos, Ruling, Run, Verdict};
use verdict::comparison::rounds::{against_one, paired};
use verdict::comparison::{Effect, Measure};

use crate::args::{TextOrJson, TuneArgs, TuneBeginArgs, TuneCommand, TuneTryArgs, WhatIfArgs};
use crate::commands::profile::predicted;
use crate::failure::{Failure, cannot_run, usage};
use crate::load::address::Destination;
use crate::profiles::stored::{self, Stored};
use crate::results::output;
use crate::secrets::mask_url;
use notebook::Notebook;
use runs::{Runs, must_answer};
use words::why_discarded;

/// The shortest window of a run: `sweep` and `capacity` take no profile of a shorter one either.
const SHORTEST: Nanos = 4 * SECOND;
/// Rounds at least: fewer give no interval.
const FEWEST_ROUNDS: u64 = 3;
/// Own functions that are named in what is left.
const FUNCTIONS_LEFT: usize = 5;
/// How long the server before is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs the command; the exit code.
///
/// # Errors
/// When something cannot be measured or kept, or the command line is wrong.
pub fn tune(args: &TuneArgs) -> Result<u8, Failure> {
    match &args.command {
        TuneCommand::Begin(begin) => {
            let book = Notebook::new(&args.notebook)?;
            let tuning = begin_story(&book, begin, args.quiet)?;
            tell(args, &book, tuning)
        }
        TuneCommand::Predict { functions, processors } => {
            let (book, mut tuning) = Notebook::open(&args.notebook)?;
            let prediction = predict(&book, &tuning, functions, *processors)?;
            let refused = prediction.refused.is_some();
            tuning.pending = Some(prediction);
            tell(args, &book, tuning).map(|code| if refused && code == 0 { 98 } else { code })
        }
        TuneCommand::Try(change) => {
            let (book, mut tuning) = Notebook::open(&args.notebook)?;
            let step =
                try_change(Runs { book: &book, tuning: &tuning, quiet: args.quiet }, change)?;
            tuning.pending = None;
            tuning.steps.push(step);
            tell(args, &book, tuning)
        }
        TuneCommand::Show => {
            let (book, tuning) = Notebook::open(&args.notebook)?;
            tell(args, &book, tuning)
        }
    }
}

/// Writes the story down and prints it.
fn tell(args: &TuneArgs, book: &Notebook, mut tuning: Tuning) -> Result<u8, Failure> {
    let profile = profile_of_current(book, &tuning)?;
    tuning.left = profile.as_ref().and_then(|(profiled, _)| left(&tuning, profiled));
    book.write(&tuning, profile.as_ref().map(|(profiled, tree)| (profiled, tree)))?;
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&tuning) + "\n")),
        TextOrJson::Text => {
            let text = report::tuning::text(&tuning, output::style());
            output::print(&format!("{text}\nreport: {}\n", book.page().display()))
        }
    };
    Ok(u8::from(!printed))
}

/// The profile of the last server that was kept; nothing where none was taken, or where it cannot be read, which is said.
fn profile_of_current(
    book: &Notebook,
    tuning: &Tuning,
) -> Result<Option<(Profiled, Flame)>, Failure> {
    let dir = book.place(&tuning.current().dir)?;
    if !Stored::is_in(&dir) {
        return Ok(None);
    }
    let drawn = stored::drawn(&dir);
    Ok(drawn.inspect_err(|failure| eprintln!("plimsoll: without the profile: {failure}")).ok())
}

/// What the last server that was kept still costs; nothing where its profile is of no processor time per request.
fn left(tuning: &Tuning, profiled: &Profiled) -> Option<Left> {
    let us = profiled.us_per_request(profiled.total)?;
    if !profiled.value.is_processor_time() {
        return None;
    }
    let part = |name: &str, share: f64| LeftPart {
        name: name.to_owned(),
        share,
        us_per_request: share * us,
    };
    let mut owners: Vec<LeftPart> =
        profiled.owners.iter().map(|owner| part(owner.owner.name(), owner.share)).collect();
    owners.sort_by(|a, b| b.share.total_cmp(&a.share));
    Some(Left {
        station: tuning.current().name.clone(),
        us_per_request: us,
        owners,
        functions: (profiled.functions.iter())
            .filter(|function| function.owner == Owner::Own)
            .map(|function| part(&function.name, function.share))
            .take(FUNCTIONS_LEFT)
            .collect(),
    })
}

fn begin_story(book: &Notebook, args: &TuneBeginArgs, quiet: bool) -> Result<Tuning, Failure> {
    if args.duration < SHORTEST {
        return usage(format!(
            "--duration {}: at least {}, in which a profile has samples enough to predict from",
            exact_duration(args.duration),
            exact_duration(SHORTEST)
        ));
    }
    let mut tuning = Tuning {
        schema: SCHEMA.to_owned(),
        connections: args.connections,
        threads: args.threads,
        spin: args.spin,
        duration_ns: args.duration,
        warmup_ns: args.warmup,
        slo: args.slo.clone(),
        start: station("start", &args.url, args.profile.as_deref()),
        baseline: None,
        pending: None,
        steps: Vec::new(),
        left: None,
    };
    let profiled = u64::from(args.profile.is_some());
    let urls = [Some(args.url.as_str()), args.baseline.as_deref()];
    must_answer(urls.into_iter().flatten(), quiet)?;
    let runs = Runs { book, tuning: &tuning, quiet };
    runs.announce(1 + profiled + u64::from(args.baseline.is_some()));
    let baseline = match &args.baseline {
        Some(url) => Some(runs.measured("baseline", url, None)?),
        None => None,
    };
    let start = runs.measured("start", &args.url, args.profile.as_deref())?;
    (tuning.baseline, tuning.start) = (baseline, start);
    Ok(tuning)
}

/// A station that was not measured yet.
fn station(name: &str, url: &str, profile: Option<&str>) -> Station {
    Station {
        name: name.to_owned(),
        url: mask_url(url),
        profile: profile.map(mask_url),
        dir: String::new(),
        qps: 0.0,
        runs: Vec::new(),
        verdict: Verdict::Valid,
        meets: None,
    }
}

/// Counts a run of a station; its successes per second, since a server that fails is fast and no gain.
fn count(station: &mut Station, run: &Run) -> f64 {
    let qps = run.successes_per_s();
    let met = meets(run);
    station.meets = match station.runs.is_empty() {
        true => met,
        false => station.meets.zip(met).map(|(before, now)| before && now),
    };
    station.runs.push(qps);
    let logs: f64 = station.runs.iter().map(|qps| qps.ln()).sum();
    station.qps = (logs / station.runs.len() as f64).exp();
    station.verdict = station.verdict.max(run.validity.verdict);
    qps
}

/// Whether every objective was met; nothing without objectives.
fn meets(run: &Run) -> Option<bool> {
    let judged = !run.objectives.is_empty();
    judged.then(|| run.objectives.iter().all(|judgement| judgement.ruling == Ruling::Pass))
}

/// What doing without these functions would bring to the server as it is.
fn predict(
    book: &Notebook,
    tuning: &Tuning,
    functions: &[String],
    processors: Option<f64>,
) -> Result<Prediction, Failure> {
    let current = tuning.current();
    if current.profile.is_none() {
        return usage(format!(
            "`{}` was measured without a profile: give --profile URL to `tune begin` or `tune try`",
            current.name
        ));
    }
    let what = predicted(&WhatIfArgs {
        dir: book.place(&current.dir)?,
        functions: functions.to_vec(),
        keep: Vec::new(),
        processors,
        own: Vec::new(),
        verify: None,
        format: TextOrJson::Json,
    })?;
    let ratio = |qps: Option<f64>| qps.map(|qps| qps / what.qps_now);
    Ok(Prediction {
        functions: functions.to_vec(),
        ratio: ratio(what.qps_predicted),
        low: ratio(what.qps_low),
        high: ratio(what.qps_high),
        refused: what.refused,
    })
}

/// Measures a change: in turns with the server before where that still runs at another address, else against its record;
/// and with the baseline where that still runs.
fn try_change(runs: Runs, args: &TuneTryArgs) -> Result<TuningStep, Failure> {
    if args.rounds < FEWEST_ROUNDS {
        return usage(format!(
            "--rounds {}: at least {FEWEST_ROUNDS} give an interval",
            args.rounds
        ));
    }
    let tuning = runs.tuning;
    let before = tuning.current();
    let [before_url, baseline_url] = measured_again(tuning, args)?;
    let others = || [&before_url, &baseline_url].into_iter().flatten();
    must_answer([&args.url].into_iter().chain(others()).map(String::as_str), runs.quiet)?;
    let once = u64::from(args.profile.is_some());
    runs.announce(args.rounds.saturating_mul(1 + others().count() as u64).saturating_add(once));
    let mut station = runs.profiled(&args.name, &args.url, args.profile.as_deref())?;
    let Rounds { pairs, over, worst, worst_of_baseline } =
        in_turns(runs, args, [before_url.as_deref(), baseline_url.as_deref()], &mut station)?;
    let interleaved = before_url.is_some();
    let effect = effect_of(before.qps, &station, &pairs, interleaved)?;
    let baseline = tuning.baseline.as_ref().filter(|_| baseline_url.is_some());
    let over = baseline.and_then(|baseline| {
        let worst = station.verdict.max(worst_of_baseline);
        times_over(&over, [baseline.qps, station.qps], worst)
    });
    let predicted = tuning.pending.clone();
    // A rate that is none, as that of a server that fails at once, judges no prediction.
    let is_rate = station.verdict.max(worst) != Verdict::Invalid;
    let kept = args.keep || !args.discard && is_gain(station.verdict, worst) && effect.low > 1.0;
    let why_discarded = (!kept).then(|| match args.discard {
        true => "--discard was given".to_owned(),
        false => why_discarded([before, &station], worst, &effect),
    });
    let overlaps = |prediction: &Prediction| {
        Some(prediction.low? <= effect.high && effect.low <= prediction.high?).filter(|_| is_rate)
    };
    Ok(TuningStep {
        as_predicted: predicted.as_ref().and_then(overlaps),
        predicted,
        against: before.name.clone(),
        interleaved,
        ratio: effect.ratio,
        low: effect.low,
        high: effect.high,
        over_baseline: over,
        kept,
        why_discarded,
        station,
    })
}

/// What the rounds of a change measured.
#[derive(Debug)]
struct Rounds {
    /// Successes per second of the server before, and of the changed one.
    pairs: Vec<[f64; 2]>,
    /// The same of the baseline, and of the changed one.
    over: Vec<[f64; 2]>,
    /// The worst verdict on the server before: on its runs now, where there are some.
    worst: Verdict,
    worst_of_baseline: Verdict,
}

fn in_turns(
    runs: Runs,
    args: &TuneTryArgs,
    [before, baseline]: [Option<&str>; 2],
    station: &mut Station,
) -> Result<Rounds, Failure> {
    let mut made = Rounds {
        pairs: Vec::new(),
        over: Vec::new(),
        worst: if before.is_some() { Verdict::Valid } else { runs.tuning.current().verdict },
        worst_of_baseline: Verdict::Valid,
    };
    for round in 0..args.rounds {
        // A B C C B A: what drifts meets all alike.
        let mut turns = vec![Turn::Changed];
        turns.splice(0..0, before.map(Turn::Before));
        turns.extend(baseline.map(Turn::Baseline));
        if round % 2 == 1 {
            turns.reverse();
        }
        let [mut of_before, mut of_changed, mut of_baseline] = [0.0; 3];
        for turn in turns {
            match turn {
                Turn::Changed => of_changed = runs.again(station, &args.url)?,
                Turn::Before(url) => {
                    let run = runs.beside(&format!("{}-before", args.name), url)?;
                    of_before = run.successes_per_s();
                    made.worst = made.worst.max(run.validity.verdict);
                }
                Turn::Baseline(url) => {
                    let run = runs.beside(&format!("{}-baseline", args.name), url)?;
                    of_baseline = run.successes_per_s();
                    made.worst_of_baseline = made.worst_of_baseline.max(run.validity.verdict);
                }
            }
        }
        made.pairs.push([of_before, of_changed]);
        made.over.push([of_baseline, of_changed]);
    }
    Ok(made)
}

/// What the change brought, by its rounds.
fn effect_of(
    before_qps: f64,
    changed: &Station,
    pairs: &[[f64; 2]],
    interleaved: bool,
) -> Result<Effect, Failure> {
    let log = match interleaved {
        true => paired(pairs),
        false => against_one(before_qps, &changed.runs),
    };
    match log {
        Some(log) => Ok(Effect::of(Measure::Qps, [before_qps, changed.qps], log, 0.0)),
        None => cannot_run("the rounds give no ratio: was a server down?"),
    }
}

/// Whether a higher rate is a gain: not where it is none, as that of a server that fails at once, nor where the server
/// before may carry more than was measured.
fn is_gain(changed: Verdict, before: Verdict) -> bool {
    changed != Verdict::Invalid && before == Verdict::Valid
}

/// Whose turn it is in a round.
#[derive(Debug, Clone, Copy)]
enum Turn<'u> {
    Before(&'u str),
    Changed,
    Baseline(&'u str),
}

/// How many times the baseline's rate the server's is, by rounds of both; nothing where a run of theirs is INVALID.
fn times_over(rounds: &[[f64; 2]], qps: [f64; 2], worst: Verdict) -> Option<Times> {
    let rounds = Some(rounds).filter(|_| worst != Verdict::Invalid)?;
    let over = Effect::of(Measure::Qps, qps, paired(rounds)?, 0.0);
    Some(Times { ratio: over.ratio, low: over.low, high: over.high })
}

/// Where the server before, if that is another one, and the baseline are to be measured again.
fn measured_again(tuning: &Tuning, args: &TuneTryArgs) -> Result<[Option<String>; 2], Failure> {
    let before = tuning.current();
    let before_url = match is_at(before, &args.url) {
        true => None,
        false => url_of(before, "--before", args.before.as_deref())?,
    };
    let baseline_url = match &tuning.baseline {
        Some(baseline) => url_of(baseline, "--baseline", args.baseline.as_deref())?,
        None => None,
    };
    Ok([before_url, baseline_url])
}

/// Whether a URL is where a station was measured, however it is written: the server there is the changed one now.
fn is_at(station: &Station, url: &str) -> bool {
    if mask_url(url) == station.url {
        return true;
    }
    let known = |url: &str| Destination::parse(url).ok();
    let (Some(one), Some(other)) = (known(&station.url), known(&mask_url(url))) else {
        return false;
    };
    let same = one.tls == other.tls && one.target == other.target && one.port == other.port;
    same && (one.host == other.host || {
        let others = addresses(&other);
        addresses(&one).iter().any(|address| others.contains(address))
    })
}

fn addresses(of: &Destination) -> Vec<SocketAddr> {
    (of.host.as_str(), of.port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
}

/// Where a station is to be measured again: as given now, else where it was measured if it still runs there. What the
/// notebook keeps of a URL with credentials is another URL, whose responses are others.
fn url_of(station: &Station, flag: &str, given: Option<&str>) -> Result<Option<String>, Failure> {
    match given {
        Some(url) if mask_url(url) != station.url => usage(format!(
            "{flag} {}: `{}` was measured at {}",
            mask_url(url),
            station.name,
            station.url
        )),
        Some(url) => Ok(Some(url.to_owned())),
        None if station.url.contains(MASK) => {
            eprintln!(
                "plimsoll: `{}` is not measured again: the notebook does not keep the credentials of {}; {flag} URL gives them",
                station.name, station.url
            );
            Ok(None)
        }
        None => Ok(answers(&station.url).then(|| station.url.clone())),
    }
}

/// Whether a server accepts connections there.
fn answers(url: &str) -> bool {
    let Ok(to) = Destination::parse(url) else { return false };
    addresses(&to).iter().any(|address| TcpStream::connect_timeout(address, PATIENCE).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_may_be_written_in_several_ways() {
        let before = station("start", "http://127.0.0.1:8080/healthz", None);
        for (url, same) in [
            ("http://127.0.0.1:8080/healthz", true),
            ("127.0.0.1:8080/healthz", true),
            ("http://localhost:8080/healthz", true),
            ("http://127.0.0.1:8081/healthz", false),
            ("http://127.0.0.1:8080/other", false),
            ("https://127.0.0.1:8080/healthz", false),
        ] {
            assert_eq!(is_at(&before, url), same, "{url}");
        }
    }

    #[test]
    fn a_baseline_that_failed_is_no_yardstick() {
        let rounds = [[100.0, 50.0], [102.0, 52.0], [98.0, 49.0]];
        let over = |worst| times_over(&rounds, [100.0, 50.3], worst).map(|over| over.low < 0.6);
        assert_eq!(over(Verdict::Valid), Some(true));
        assert_eq!(over(Verdict::LowerBound), Some(true));
        assert_eq!(over(Verdict::Invalid), None);
    }

    #[test]
    fn a_change_is_no_gain_over_what_was_measured_too_low() {
        use Verdict::{Invalid, LowerBound, Valid};
        for (changed, before, counted) in [
            (Valid, Valid, true),
            (LowerBound, Valid, true),
            (Valid, LowerBound, false),
            (LowerBound, LowerBound, false),
            (Invalid, Valid, false),
            (Valid, Invalid, false),
        ] {
            assert_eq!(is_gain(changed, before), counted, "{changed:?} after {before:?}");
        }
    }

    /// Of a server that fails fast the responses per second go up; what it brings does not.
    #[test]
    fn responses_that_failed_are_no_gain() {
        let mut run = fixture::sound::closed();
        let mut before = station("start", "http://127.0.0.1:8080/", None);
        assert_eq!((count(&mut before, &run), before.qps.round()), (1000.0, 1000.0));
        run.rates.requests_per_s = 1500.0;
        (run.totals.attempts, run.totals.requests, run.totals.succeeded) = (15_500, 15_000, 9_000);
        let mut after = station("fails", "http://127.0.0.1:8080/", None);
        assert_eq!((count(&mut after, &run), after.runs[0]), (900.0, 900.0));
    }

    /// What is kept of a URL with credentials is not what was measured.
    #[test]
    fn a_server_with_credentials_is_measured_again_only_where_they_are_given() {
        let url = "http://127.0.0.1:1/healthz?token=hunter2secret";
        let of = |given| url_of(&station("start", url, None), "--before", given);
        assert!(matches!(of(None), Ok(None)));
        assert!(matches!(of(Some(url)), Ok(Some(again)) if again == url));
        let other = of(Some("http://127.0.0.1:1/other?token=hunter2secret"));
        let Err(Failure::Usage(why)) = other else { panic!("{other:?}") };
        assert!(why.contains("was measured at") && !why.contains("hunter2"), "{why}");
    }
}
