//! What profiles of the server say of a finding, taken while the run was made again.
//!
//! A profile of the processor shows what the server does, not what it waits for: it can confirm that threads take locks,
//! and never refute it. A profile of mutexes shows the waiting, where the server records it.

use model::Run;
use model::finding::{Confirmation, Confirmed};
use model::profiled::{Owner, Profiled};
use model::units::SECOND;

use super::{Judged, said};
use crate::explain::contention::taking_locks;
use crate::explain::profile::{
    COLLECTING, DUMPING, LOGGING, chatty, cost, enough, largest, writes_down,
};
use crate::figures::{grouped, percent};

/// The part of a threshold up to which a finding is refuted.
const HALF: f64 = 0.5;
/// Samples that a share must consist of to confirm, and that the threshold must come to for fewer to refute: of 20
/// expected, 10 or fewer come once in a hundred times (Poisson).
const SAMPLES: (f64, f64) = (10.0, 20.0);
/// The share of their time that requests must wait for mutexes for those to be the limit.
const WAITING: f64 = 0.5;
/// The share of its processors from which on a server has no room, as for `server.cpu`.
const BUSY: f64 = 0.9;

/// Profiles of one run.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Of the processor.
    pub processor: &'a Profiled,
    /// Of the time that was waited for mutexes, where the server gives it.
    pub mutexes: Option<&'a Profiled>,
    /// Processors that the server may use, where that is known.
    pub processors: Option<f64>,
    /// Why the profile may be another process's.
    pub doubt: Option<&'a str>,
}

/// What they say of a code; `run` is the one that they were taken in.
pub fn judge(code: &str, run: &Run, shown: Shown<'_>) -> Confirmation {
    if let Some(doubt) = shown.doubt {
        return said((Confirmed::Undecided, doubt.to_owned()));
    }
    if !enough(shown.processor) && code != "server.lock" {
        let few = "the profile of the processor has too few samples: the server was hardly at work";
        return said((Confirmed::Undecided, few.to_owned()));
    }
    said(match code {
        "server.gc" => collecting(shown.processor),
        "server.debug_options" => debug_options(shown.processor),
        "server.lock" => lock(run, shown),
        _ => busy(shown),
    })
}

fn by_threshold(profiled: &Profiled, share: f64, threshold: f64) -> Confirmed {
    let samples = profiled.samples.unwrap_or(0) as f64;
    match share / threshold {
        part if part >= 1.0 && share * samples >= SAMPLES.0 => Confirmed::Confirmed,
        part if part <= HALF && threshold * samples >= SAMPLES.1 => Confirmed::Refuted,
        _ => Confirmed::Undecided,
    }
}

fn collecting(profiled: &Profiled) -> Judged {
    let share = profiled.collecting as f64 / profiled.total.max(1) as f64;
    let figures = format!(
        "a second profile shows {} of the processor time in collecting garbage",
        percent(share)
    );
    (by_threshold(profiled, share, COLLECTING), figures)
}

fn debug_options(profiled: &Profiled) -> Judged {
    // Each with the share that it is found by.
    let both = [(writes_down(profiled), DUMPING), (chatty(profiled), LOGGING)];
    let judged = both.map(|(function, threshold)| {
        by_threshold(profiled, function.map_or(0.0, |function| function.share), threshold)
    });
    let shown: Vec<String> = both.iter().filter_map(|(f, _)| Some(cost((*f)?))).collect();
    let figures = match shown.is_empty() {
        true => "none of the functions that write requests down or log".to_owned(),
        false => shown.join(", and "),
    };
    let outcome = match judged {
        all if all.contains(&Confirmed::Confirmed) => Confirmed::Confirmed,
        [Confirmed::Refuted, Confirmed::Refuted] => Confirmed::Refuted,
        _ => Confirmed::Undecided,
    };
    (outcome, format!("a second profile shows {figures}"))
}

fn lock(run: &Run, shown: Shown<'_>) -> Judged {
    let taking = taking_locks(shown.processor).filter(|_| enough(shown.processor));
    if let Some(function) = taking {
        return (Confirmed::Confirmed, format!("the profile shows {}", cost(function)));
    }
    let Some(mutexes) = shown.mutexes.filter(|mutexes| mutexes.total > 0) else {
        let figures = "the profile of the processor shows no locks being taken, and the server records no waiting for \
                       mutexes (Go: runtime.SetMutexProfileFraction(5))";
        return (Confirmed::Undecided, figures.to_owned());
    };
    let nanoseconds = mutexes.value.nanoseconds().unwrap_or(0.0);
    let Some(requests) = mutexes.requests.filter(|requests| *requests >= 1.0) else {
        let figures =
            "the server's profile shows waiting for mutexes, and no response came that it was for";
        return (Confirmed::Undecided, figures.to_owned());
    };
    let waited_ns = mutexes.total as f64 * nanoseconds / requests;
    let share = waited_ns / (run.service_ns.mean.max(1) as f64);
    let held = largest(mutexes, |function| function.owner == Owner::Own);
    let held = held.map_or_else(String::new, |own| format!(", most of it for {}", own.name));
    let figures = format!(
        "requests wait for mutexes {} of their time, by the server's own profile{held}",
        percent(share.min(1.0))
    );
    // What is waited for may be something else than a mutex: little of it refutes nothing.
    (if share >= WAITING { Confirmed::Confirmed } else { Confirmed::Undecided }, figures)
}

fn busy(shown: Shown<'_>) -> Judged {
    let Profiled { total, duration_ns, value, .. } = shown.processor;
    let nanoseconds = *total as f64 * value.nanoseconds().unwrap_or(0.0);
    let cores = nanoseconds / duration_ns.unwrap_or(SECOND).max(1) as f64;
    let Some(allowed) = shown.processors.filter(|allowed| *allowed > 0.0 && duration_ns.is_some())
    else {
        let figures = format!(
            "the profile shows {} processors at work; how many it may use is not known",
            grouped(cores, 2)
        );
        return (Confirmed::Undecided, figures);
    };
    let figures = format!(
        "the profile shows {} of its {} processors at work",
        grouped(cores, 2),
        grouped(allowed, 1)
    );
    // Of several processes a profile shows one: little of it refutes nothing.
    (if cores >= BUSY * allowed { Confirmed::Confirmed } else { Confirmed::Undecided }, figures)
}

#[cfg(test)]
mod tests {
    use fixture::profiled::{function, processor};
    use model::profiled::{FunctionCost, ValueKind};

    use super::*;
    use Confirmed::{Confirmed as Yes, Refuted as No, Undecided as Open};

    /// So many seconds of values in 10 s, and 1,000 requests.
    fn profiled(kind: &str, seconds: f64, functions: Vec<FunctionCost>) -> Profiled {
        let value = ValueKind { kind: kind.to_owned(), unit: "nanoseconds".to_owned() };
        Profiled {
            value: value.clone(),
            values: vec![value],
            total: (seconds * 1e9) as i64,
            ..processor(functions)
        }
    }

    fn shown(processor: &Profiled) -> Shown<'_> {
        Shown { processor, mutexes: None, processors: Some(2.0), doubt: None }
    }

    fn outcome(code: &str, shown: Shown<'_>) -> Confirmed {
        let mut run = fixture::sound::closed();
        run.service_ns.mean = 40_000_000;
        judge(code, &run, shown).outcome
    }

    #[test]
    fn shares_far_from_the_threshold_decide() {
        for (share, wanted) in [(0.25, Yes), (0.15, Open), (0.05, No)] {
            let mut processor = profiled("cpu", 10.0, Vec::new());
            processor.collecting = (share * 10e9) as i64;
            assert_eq!(outcome("server.gc", shown(&processor)), wanted, "{share}");
        }
        let dumps = "net/http/httputil.DumpRequest";
        let log = "log/slog.(*Logger).logAttrs";
        for (functions, wanted) in [
            (vec![function(dumps, 0.05)], Yes),
            (vec![function(dumps, 0.015)], Open),
            (vec![function(log, 0.2), function(dumps, 0.001)], Yes),
            (vec![function(log, 0.06)], No),
            (Vec::new(), No),
        ] {
            let processor = profiled("cpu", 10.0, functions);
            assert_eq!(outcome("server.debug_options", shown(&processor)), wanted);
        }
    }

    #[test]
    fn waiting_for_mutexes_confirms_a_lock_and_its_absence_refutes_none() {
        let idle = profiled("cpu", 1.0, Vec::new());
        let waits = |seconds| profiled("delay", seconds, Vec::new());
        // Requests take 40 s together.
        for (seconds, wanted) in [(30.0, Yes), (4.0, Open), (0.0, Open)] {
            let mutexes = waits(seconds);
            let both = Shown { mutexes: Some(&mutexes), ..shown(&idle) };
            assert_eq!(outcome("server.lock", both), wanted, "{seconds}");
        }
        for requests in [None, Some(0.0)] {
            let mutexes = Profiled { requests, ..waits(30.0) };
            let both = Shown { mutexes: Some(&mutexes), ..shown(&idle) };
            assert_eq!(outcome("server.lock", both), Open, "{requests:?}");
        }
        let spinning = profiled("cpu", 10.0, vec![function("runtime.lock2", 0.3)]);
        assert_eq!(outcome("server.lock", shown(&spinning)), Yes);
        assert_eq!(outcome("server.lock", shown(&idle)), Open);
    }

    #[test]
    fn processors_at_work_confirm_and_doubtful_or_thin_profiles_say_nothing() {
        for (seconds, wanted) in [(19.0, Yes), (9.0, Open)] {
            let processor = profiled("cpu", seconds, Vec::new());
            assert_eq!(outcome("server.cpu", shown(&processor)), wanted, "{seconds}");
            let elsewhere = Shown { processors: None, ..shown(&processor) };
            assert_eq!(outcome("server.cpu", elsewhere), Open);
            let other = Shown { doubt: Some("it may be of another process"), ..shown(&processor) };
            assert_eq!(outcome("server.cpu", other), Open);
        }
        let mut thin = profiled("cpu", 19.0, Vec::new());
        thin.samples = Some(50);
        assert_eq!(outcome("server.gc", shown(&thin)), Open);
        // Of 300 samples 2 % are six, which may be none by chance.
        thin.samples = Some(300);
        assert_eq!(outcome("server.gc", shown(&thin)), No);
        assert_eq!(outcome("server.debug_options", shown(&thin)), Open);
    }
}
