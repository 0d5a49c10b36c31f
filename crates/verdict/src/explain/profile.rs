//! Rules about what a profile of the server shows, where one was taken in the run's window.

use model::finding::Confidence::{High, Medium};
use model::profiled::{FunctionCost, Owner, Profiled};

use super::facts::Facts;
use super::{Cause, Outcome, held_up, written};
use crate::figures::percent;

/// Samples below which a share of some hundredths is chance.
const FEWEST: u64 = 200;
/// The share of the processor time from which on collecting garbage limits: Go aims at a quarter while it collects, and
/// servers that allocate little stay below a tenth.
pub(super) const COLLECTING: f64 = 0.2;
/// The share from which on writing whole requests and responses down is no chance: nobody does it on purpose under load.
pub(super) const DUMPING: f64 = 0.02;
/// The share from which on logging is more than a line a request by a quick logger.
pub(super) const LOGGING: f64 = 0.15;

/// Functions that write whole requests, responses or stacks down.
const DUMPS: &[&str] = &[
    "net/http/httputil.DumpRequest",
    "net/http/httputil.DumpRequestOut",
    "net/http/httputil.DumpResponse",
    "runtime/debug.Stack",
    "runtime/debug.PrintStack",
];
/// What loggers' functions begin with.
const LOGGERS: &[&str] = &[
    "log/slog.(*Logger).",
    "log.(*Logger).",
    "log.Print",
    "go.uber.org/zap.(*",
    "github.com/sirupsen/logrus.(*",
    "github.com/rs/zerolog.(*",
    "github.com/golang/glog.",
    "k8s.io/klog",
    "tracing_subscriber::",
    "env_logger::",
];
/// Files of other languages' loggers.
const LOGGER_FILES: &[&str] =
    &["/logging/__init__.py", "/node_modules/winston/", "/node_modules/pino/"];

const LACKING: &str = "no profile of the server's processor was taken, or one of few samples: give --profile URL of its \
                       /debug/pprof and a window of 10 s or longer";

pub(super) fn of_processor<'a>(facts: &Facts<'a>) -> Option<&'a Profiled> {
    let profiled = facts.profiled?;
    (profiled.value.kind == "cpu" && enough(profiled)).then_some(profiled)
}

/// Whether shares of a profile mean something.
pub(super) fn enough(profiled: &Profiled) -> bool {
    profiled.samples.is_some_and(|samples| samples >= FEWEST) && profiled.total > 0
}

/// The function with the largest share of those that are meant.
pub(super) fn largest(
    profiled: &Profiled,
    meant: impl Fn(&FunctionCost) -> bool,
) -> Option<&FunctionCost> {
    let meant = profiled.functions.iter().filter(|function| meant(function));
    meant.max_by(|one, other| one.share.total_cmp(&other.share))
}

/// The function that writes whole requests, responses or stacks down.
pub(super) fn writes_down(profiled: &Profiled) -> Option<&FunctionCost> {
    largest(profiled, |function| DUMPS.contains(&function.name.as_str()))
}

/// The logger's function that takes most.
pub(super) fn chatty(profiled: &Profiled) -> Option<&FunctionCost> {
    largest(profiled, |function| {
        LOGGERS.iter().any(|prefix| function.name.starts_with(prefix))
            || LOGGER_FILES.iter().any(|file| function.file.contains(file))
    })
}

pub(super) fn debug_options(facts: &Facts<'_>) -> Outcome {
    held_up::or_writing(facts, false, written::or_much(facts, by_profile(facts)))
}

fn by_profile(facts: &Facts<'_>) -> Outcome {
    let Some(profiled) = of_processor(facts) else { return Outcome::Lacking(LACKING.to_owned()) };
    let dump = writes_down(profiled).filter(|found| found.share >= DUMPING);
    let log = chatty(profiled).filter(|found| found.share >= LOGGING);
    let (confidence, sentence) = match (dump, log) {
        (None, None) => return Outcome::Absent,
        (Some(_), None) => (
            High,
            "The server writes whole requests or responses down: a debug option was left on.",
        ),
        (Some(_), Some(_)) => (
            High,
            "The server writes whole requests or responses into its log: a debug option was left on.",
        ),
        (None, Some(_)) => (Medium, "The server spends a large part of its time writing its log."),
    };
    let mut cause = Cause::new(confidence, "server", sentence.to_owned()).weighing(1.0);
    for function in dump.into_iter().chain(log) {
        cause = cause.with(cost(function));
    }
    match caller(profiled, dump.is_some()) {
        Some(own) => Outcome::one(Some(cause.with(format!("called below {}", own.name)))),
        None => Outcome::one(Some(cause)),
    }
}

/// The service's own function that most likely does it: by its name.
fn caller(profiled: &Profiled, dumps: bool) -> Option<&FunctionCost> {
    let words: &[&str] = if dumps { &["dump"] } else { &["log"] };
    largest(profiled, |function| {
        let name = function.name.rsplit('/').next().unwrap_or_default().to_lowercase();
        function.owner == Owner::Own && words.iter().any(|word| name.contains(word))
    })
}

pub(super) fn cost(function: &FunctionCost) -> String {
    let each = function
        .cum_us_per_request
        .map_or_else(String::new, |us| format!(", {us:.1} us of each request"));
    format!(
        "{} with what it calls: {} of the processor time{each}",
        function.name,
        percent(function.share)
    )
}

pub(super) fn collecting(facts: &Facts<'_>) -> Outcome {
    let Some(profiled) = of_processor(facts) else { return Outcome::Lacking(LACKING.to_owned()) };
    let share = profiled.collecting as f64 / profiled.total as f64;
    if share < COLLECTING {
        return Outcome::Absent;
    }
    let sentence =
        format!("The server spends {} of its processor time collecting garbage.", percent(share));
    let mut cause = Cause::new(High, "server", sentence).weighing(share);
    let bytes = |function: &FunctionCost| function.cum_bytes_per_request.unwrap_or(0.0);
    let own = profiled.functions.iter().filter(|function| function.owner == Owner::Own);
    if let Some(most) = own.max_by(|one, other| bytes(one).total_cmp(&bytes(other)))
        && bytes(most) > 0.0
    {
        cause = cause.with(format!(
            "{} and what it calls allocate {:.0} bytes for each request, the most of the service's own code",
            most.name,
            bytes(most)
        ));
    }
    Outcome::one(Some(cause))
}

#[cfg(test)]
mod tests {
    use model::{Finding, Run};

    use super::*;

    fn function(name: &str, owner: Owner, share: f64, bytes: f64) -> FunctionCost {
        FunctionCost {
            owner,
            cum_us_per_request: Some(share * 30.0),
            cum_bytes_per_request: Some(bytes),
            ..fixture::profiled::function(name, share)
        }
    }

    /// 10 s of one processor by 1,000 samples.
    fn profiled(collecting: f64, functions: Vec<FunctionCost>) -> Profiled {
        Profiled {
            requests: Some(300_000.0),
            collecting: (collecting * 1e9) as i64,
            collecting_by: "bytes".to_owned(),
            ..fixture::profiled::processor(functions)
        }
    }

    fn found(profiled: &Profiled) -> Vec<Finding> {
        let run: Run = fixture::sound::closed();
        crate::explain::explain_with(&run, Some(profiled)).findings
    }

    #[test]
    fn a_request_dump_left_on_is_found() {
        let dumps = "net/http/httputil.DumpRequest";
        let ill = profiled(
            0.05,
            vec![
                function("shop/middleware.dump.func1", Owner::Own, 0.5, 9000.0),
                function(dumps, Owner::StandardLibrary, 0.09, 4000.0),
            ],
        );
        let findings = found(&ill);
        assert_eq!(
            (findings[0].code.as_str(), findings[0].confidence),
            ("server.debug_options", High)
        );
        let evidence = findings[0].evidence_for.join("\n");
        assert!(evidence.contains("9.00 % of the processor time, 2.7 us"), "{evidence}");
        assert!(evidence.contains("shop/middleware.dump.func1"), "{evidence}");
        let healthy = profiled(0.05, vec![function(dumps, Owner::StandardLibrary, 0.01, 0.0)]);
        assert!(found(&healthy).iter().all(|finding| finding.code != "server.debug_options"));
    }

    #[test]
    fn a_chatty_log_is_found_and_a_line_a_request_is_not() {
        let log = |share| {
            profiled(
                0.0,
                vec![function("log/slog.(*Logger).logAttrs", Owner::StandardLibrary, share, 0.0)],
            )
        };
        assert_eq!(
            (found(&log(0.3))[0].code.as_str(), found(&log(0.3))[0].confidence),
            ("server.debug_options", Medium)
        );
        assert!(found(&log(0.11)).iter().all(|finding| finding.code != "server.debug_options"));
    }

    #[test]
    fn collecting_garbage_is_found_with_who_makes_it() {
        let own = vec![
            function("shop/api.list", Owner::Own, 0.4, 90_000.0),
            function("encoding/json.Marshal", Owner::StandardLibrary, 0.3, 95_000.0),
        ];
        let findings = found(&profiled(0.3, own.clone()));
        assert_eq!(findings[0].code, "server.gc");
        assert!(findings[0].evidence_for[0].contains("shop/api.list"), "{findings:?}");
        assert!(found(&profiled(0.1, own)).iter().all(|finding| finding.code != "server.gc"));
    }

    #[test]
    fn thin_profiles_and_those_of_something_else_tell_nothing() {
        let mut thin = profiled(0.9, Vec::new());
        thin.samples = Some(50);
        let mut heap = profiled(0.9, Vec::new());
        heap.value.kind = "alloc_space".to_owned();
        for none in [thin, heap] {
            let run: Run = fixture::sound::closed();
            let findings = crate::explain::explain_with(&run, Some(&none));
            let lacks = |code: &str| {
                findings.abstained.iter().any(|a| a.code == code && a.missing.contains("--profile"))
            };
            assert!(lacks("server.gc") && lacks("server.debug_options"));
        }
    }
}
