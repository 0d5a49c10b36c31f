//! The thresholds that the texts of rules name, taken from the constants that the rules compare with, so that text and
//! code cannot disagree.
//!
//! A text contains `{BUSY}` where [`named`] has a pair of that name for the rule's code.

use model::ReasonCode;
use model::units::{MICROSECOND, MILLISECOND, Nanos, SECOND};

use super::{
    endpoints, failing, generator, idle, machine, observed, pauses, responses, steady, users, way,
    window,
};
use crate::figures::grouped;
use crate::{changes, gone, offered};

/// A threshold's name in its rule's texts, and what it reads as there.
type Named = (&'static str, String);

/// The thresholds of a rule.
pub(super) fn named(code: ReasonCode) -> Vec<Named> {
    let of_run = of_run(code);
    if of_run.is_empty() { of_server_or_machine(code) } else { of_run }
}

/// Those of rules about what was sent, and when.
fn of_run(code: ReasonCode) -> Vec<Named> {
    match code {
        ReasonCode::Interrupted => vec![("SHORTEST_PART", time(window::SHORTEST_PART_NS))],
        ReasonCode::LittleLaw => vec![("TOLERANCE", share(window::TOLERANCE - 1.0))],
        ReasonCode::FastErrors => vec![
            ("FAILING", share(failing::FAILING)),
            ("HALF_FAILING", share(failing::HALF_FAILING)),
            ("ONLY_FAILING", share(failing::ONLY_FAILING)),
            ("ENOUGH", endpoints::ENOUGH.to_string()),
        ],
        ReasonCode::WorkersSaturated => {
            vec![("BUSY", share(generator::BUSY)), ("CROWDED", share(generator::CROWDED))]
        }
        ReasonCode::AchievedBelowOffered => vec![
            ("SHORTFALL", share(offered::SHORTFALL)),
            ("TURNED_AWAY", share(generator::TURNED_AWAY)),
            ("SENT_AGAIN", time(generator::SENT_AGAIN_NS)),
        ],
        ReasonCode::ConnectionsExhausted => vec![
            ("SHORTFALL", share(offered::SHORTFALL)),
            ("SHEDDING", share(generator::SHEDDING)),
            ("TIMING_OUT", share(generator::TIMING_OUT)),
            ("HELD_FOR", share(generator::HELD_FOR)),
            ("QUEUED", grouped(generator::QUEUED.0, 0)),
        ],
        ReasonCode::LateSends => vec![
            ("ON_TIME", time(generator::ON_TIME_NS)),
            ("LATE", share(generator::LATE)),
            ("MOSTLY_LATE", share(generator::MOSTLY_LATE)),
        ],
        ReasonCode::ServerGone => vec![
            ("SHORTEST", time(gone::SHORTEST)),
            ("STALL", share(gone::STALL.0)),
            ("STALL_TIMES", gone::STALL_TIMES.to_string()),
            ("CUT_OFF", share(gone::CUT_OFF)),
            ("MOMENT", share(gone::MOMENT)),
            ("AT_ONCE", share(gone::AT_ONCE.1)),
        ],
        ReasonCode::Dips => vec![
            ("STALLS", steady::stalls::FEWEST.to_string()),
            ("LONGER", grouped(steady::stalls::LONGER, 0)),
            ("STALL", share(gone::STALL.0)),
            ("STALL_TIMES", gone::STALL_TIMES.to_string()),
            ("UNSERVED", time(steady::stalls::UNSERVED_NS)),
        ],
        ReasonCode::ObservedLate => vec![
            ("UNSEEN", time(observed::UNSEEN_NS)),
            ("LATE", share(observed::OBSERVED_LATE)),
            ("CONNECTING", share(observed::CONNECTING)),
            ("MOSTLY_LATE", share(observed::MOSTLY_OBSERVED_LATE)),
        ],
        _ => Vec::new(),
    }
}

/// Those of rules about the server's responses, and about the machine.
fn of_server_or_machine(code: ReasonCode) -> Vec<Named> {
    match code {
        ReasonCode::StarvedConnections => vec![
            ("LONG", time(users::LONG_NS)),
            ("TIMES_MEDIAN", users::TIMES_MEDIAN.to_string()),
            ("TIMES_P90", users::TIMES_P90.to_string()),
            ("HELD", share(users::HELD.1)),
            ("HELD_TIMES", users::HELD_TIMES.to_string()),
            ("UNEVEN", users::UNEVEN.to_string()),
            ("UNEVEN_FROM", users::UNEVEN_FROM.to_string()),
            ("SLOWER", time(users::SLOWER_NS)),
            ("MANY", share(users::MANY)),
            ("MUTE", share(users::MUTE.1)),
        ],
        ReasonCode::ResponsesChanged => vec![
            ("SUBSTANTIAL", share(changes::SUBSTANTIAL)),
            ("NEW", share(changes::NEW)),
            ("FASTER_SHARE", share(changes::FASTER_SHARE)),
            ("FASTER", grouped(changes::FASTER, 0)),
            ("FEWER_TURNS", grouped(changes::FEWER_TURNS, 0)),
            ("RARE", share(changes::RARE)),
        ],
        ReasonCode::SurplusResponses => vec![("STRAY", share(responses::STRAY))],
        ReasonCode::PaceNotHeld => vec![("BEHIND", share(users::BEHIND))],
        ReasonCode::NothingAsked => {
            vec![("UNASKED_FOR", time(idle::UNASKED.0)), ("UNASKED", share(idle::UNASKED.1))]
        }
        ReasonCode::UncheckedResponses => vec![("UNCHECKED", share(responses::UNCHECKED))],
        ReasonCode::Redirected => vec![("REDIRECTED", share(responses::REDIRECTED))],
        ReasonCode::KeepaliveRefused => vec![("REFUSING", share(responses::REFUSING))],
        ReasonCode::BusyNeighbour => vec![
            ("TAKEN", share(machine::TAKEN)),
            ("WAITED", share(machine::WAITED)),
            ("FILLED", share(machine::FILLED)),
            ("COUNTED", time(machine::COUNTED_NS)),
        ],
        ReasonCode::Throttled => held_up(),
        ReasonCode::GeneratorPaused => {
            let mut values = held_up();
            values.push(("PAGED", grouped(pauses::PAGED, 0)));
            values
        }
        ReasonCode::MemoryShort => vec![("MEMORY", share(machine::MEMORY))],
        ReasonCode::ClockJumped => vec![("STEPPED", time(machine::STEPPED_NS))],
        ReasonCode::NotSteady => vec![
            ("MOVED", share(steady::MOVED - 1.0)),
            ("STALL", share(gone::STALL.0)),
            ("FEWEST", steady::FEWEST.to_string()),
            ("SHORTEST", time(steady::SHORTEST_NS)),
            ("APART", grouped(steady::apart::APART, 0)),
            ("EACH_SIDE", steady::apart::EACH_SIDE.to_string()),
            ("TIMES_FEWER", grouped(steady::fewer::TIMES_FEWER, 0)),
            ("UNDERSTATED", share(steady::UNDERSTATED)),
            ("MISSING", share(steady::MISSING)),
            ("MOST_CAME", share(steady::MOST_CAME)),
            ("WAITED", share(steady::WAITED)),
            ("TURNED", steady::turn::TURNED.to_string()),
            ("CHANGED", steady::turn::CHANGED.to_string()),
        ],
        ReasonCode::SingleSource => {
            vec![("LIMITED", share(way::LIMITED)), ("PORTS", share(way::PORTS))]
        }
        ReasonCode::NearCeiling => vec![("NEAR", share(machine::NEAR))],
        ReasonCode::WindowTooShort => vec![
            ("TOO_FEW", too_few()),
            ("FEWEST", window::FEWEST.to_string()),
            ("EACH", window::FEWEST_EACH.to_string()),
        ],
        _ => Vec::new(),
    }
}

/// Those of both rules about a generator that was not running.
fn held_up() -> Vec<(&'static str, String)> {
    vec![
        ("SHARE", share(pauses::SHARE)),
        ("SEEN", time(pauses::SEEN_NS)),
        ("SUBSTANTIAL", share(pauses::SUBSTANTIAL)),
        ("CODE", crate::exit::NOT_BELIEVABLE.to_string()),
    ]
}

/// What is too few for each percentile that is quoted of few samples: `100,000 attempts were timed, so that
/// fewer than ten are above p99.99; or fewer than 10,000 and p99.9`.
fn too_few() -> String {
    let mut words = String::new();
    for (nth, percentile) in window::tail().rev().enumerate() {
        let (enough, name) = (grouped(percentile.enough() as f64, 0), percentile.name);
        words += &match nth {
            0 => format!("{enough} attempts were timed, so that fewer than ten are above {name}"),
            1 => format!("; or fewer than {enough} and {name}"),
            _ => format!(", or fewer than {enough} and {name}"),
        };
    }
    words
}

/// A text with its rule's thresholds in place.
pub(super) fn filled(text: &str, code: ReasonCode) -> String {
    let put = |text: String, (name, value): Named| text.replace(&format!("{{{name}}}"), &value);
    named(code).into_iter().fold(text.to_owned(), put)
}

/// A share as in a sentence: `5 %`, `0.1 %`.
fn share(ratio: f64) -> String {
    format!("{} %", (ratio * 1e6).round() / 1e4)
}

/// A time as in a sentence: `1 ms`, `0.1 s`.
fn time(nanos: Nanos) -> String {
    if nanos >= SECOND / 10 {
        format!("{} s", nanos as f64 / SECOND as f64)
    } else if nanos >= MILLISECOND {
        format!("{} ms", nanos as f64 / MILLISECOND as f64)
    } else {
        format!("{} us", nanos as f64 / MICROSECOND as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::RULES;
    use super::*;

    #[test]
    fn thresholds_read_as_people_write_them() {
        for (ratio, text) in [(0.05, "5 %"), (0.001, "0.1 %"), (1.05 - 1.0, "5 %"), (0.95, "95 %")]
        {
            assert_eq!(share(ratio), text);
        }
        for (nanos, text) in [(MILLISECOND, "1 ms"), (SECOND / 10, "0.1 s"), (SECOND, "1 s")] {
            assert_eq!(time(nanos), text);
        }
    }

    /// A number that is written into a text by hand is one that nobody changes with the rule.
    #[test]
    fn every_threshold_in_a_text_is_a_constant() {
        let not_thresholds = [
            "p99.99", "p99.9", "p99", "p95", "p90", "p50", "p10", "304", "408", "429", "503",
            "1961",
        ];
        for rule in RULES {
            let by_hand = format!("{} {}", rule.condition, rule.consequence);
            let text = format!(
                "{} {}",
                filled(rule.condition, rule.code),
                filled(rule.consequence, rule.code)
            );
            assert!(!text.contains(['{', '}']), "{}: {text}", rule.code.name());
            for (name, _) in named(rule.code) {
                assert!(by_hand.contains(&format!("{{{name}}}")), "{}: {name}", rule.code.name());
            }
            let mut left = by_hand;
            for (name, _) in named(rule.code) {
                left = left.replace(&format!("{{{name}}}"), "");
            }
            not_thresholds.iter().for_each(|known| left = left.replace(known, ""));
            assert!(!left.contains(|c: char| c.is_ascii_digit()), "{}: {left}", rule.code.name());
        }
    }
}
