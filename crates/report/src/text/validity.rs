//! The verdict in words: one line when the figures describe the server, hard to miss when they are not.

use model::run::Run;
use model::validity::Verdict;
use verdict::validity::not_waited_for;

use super::{Style, Tone, paragraph, paragraph_in};
use crate::figure::clean;

/// Longest a reason may be.
const LONGEST: usize = 1000;

/// Whether the latencies of a lower bound are upper ones. At a fixed rate they are not: arrivals that were not sent are in
/// none of them.
pub(crate) fn bounds_latency(run: &Run) -> bool {
    run.validity.verdict == Verdict::LowerBound && run.plan.rate_per_s.is_none()
}

/// What a verdict means, in a sentence; `bounded` says whether it bounds latencies.
pub(crate) const fn meaning(verdict: Verdict, bounded: bool) -> &'static str {
    match verdict {
        Verdict::Valid => "the figures describe the server",
        Verdict::LowerBound if bounded => {
            "true QPS is at least this, true latency at most this; something other than the server was the limit"
        }
        Verdict::LowerBound => {
            "true QPS is at least this; something other than the server was the limit"
        }
        Verdict::Invalid => "do not quote these figures",
    }
}

pub(super) fn banner(run: &Run, style: Style) -> String {
    ended_early(run, style) + &verdict(run, style)
}

/// Whether the run was interrupted and by what; nothing if it was not.
pub(super) fn ended_early(run: &Run, style: Style) -> String {
    let words = match &run.halted {
        _ if !run.interrupted => return String::new(),
        Some(why) => {
            format!("Ended early: {}. These are the figures up to then.", clean(why, LONGEST))
        }
        None => match not_waited_for(run) {
            Some(words) => format!("Interrupted: {words}."),
            None => "Ended early: these are the figures up to then.".to_owned(),
        },
    };
    paragraph_in(&words, "", style.columns)
}

pub(super) fn verdict(run: &Run, style: Style) -> String {
    let validity = &run.validity;
    let name = validity.verdict.name();
    let means = meaning(validity.verdict, bounds_latency(run));
    let mut out = match validity.verdict {
        Verdict::Valid => format!("{}: {means}\n", style.paint(Tone::Good, name)),
        doubtful => {
            let tone = if doubtful == Verdict::Invalid { Tone::Bad } else { Tone::Doubtful };
            let rule = "━".repeat(style.columns);
            let words = paragraph(&format!("{name}: {means}"), " ", style);
            let words = words.lines().map(|line| style.paint(tone, line) + "\n");
            format!("{rule}\n{}{rule}\n", words.collect::<String>())
        }
    };
    for reason in &validity.reasons {
        let mark =
            if reason.consequence == Verdict::Valid { "note" } else { reason.consequence.name() };
        let head = format!("{mark}, {}", reason.code.name());
        out += &format!("  {}\n", style.paint(Tone::Strong, &head));
        out += &paragraph(&clean(&reason.text, LONGEST), "    ", style);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::text::COLUMNS;

    #[test]
    fn doubt_is_hard_to_miss_and_its_absence_brief() {
        let plain = Style::default();
        let valid = verdict(&fixture::sound::closed(), plain);
        assert_eq!(valid, "VALID: the figures describe the server\n");
        let doubtful = verdict(&sample::open_loop(), plain);
        assert!(doubtful.starts_with(&"━".repeat(COLUMNS)), "{doubtful}");
        assert!(doubtful.contains("INVALID: do not quote"), "{doubtful}");
        assert!(doubtful.contains("achieved_below_offered") && doubtful.contains("late_sends"));
    }

    #[test]
    fn an_interrupted_run_says_so() {
        let mut run = sample::closed_loop();
        assert!(!banner(&run, Style::default()).contains("Ended early"));
        run.interrupted = true;
        run.totals.duration_ns /= 2;
        assert!(banner(&run, Style::default()).starts_with("Ended early"));
        (run.totals.duration_ns, run.totals.unfinished) =
            (run.plan.duration_ns.expect("a window"), 2);
        let wanted =
            "Interrupted: the window is whole, but 2 of its responses were not waited for.";
        assert!(banner(&run, Style::default()).starts_with(wanted));
    }
}
