//! Annotations: lines that a CI system lifts out of a job's output and shows beside its result.
//!
//! GitHub's are workflow commands (`::error title=...::text`): an objective missed is an error, one
//! undecided a warning, one met a notice.

use model::{Ruling, Run, Sweep};
use verdict::objective::levels::Holding;

use crate::cases::{self, Case, Cases};
use crate::figure::clean;

/// A run's cases as GitHub's workflow commands, a line each.
pub fn github(run: &Run) -> String {
    lines(&cases::of_run(run))
}

/// A sweep's case likewise.
pub fn github_of_sweep(sweep: &Sweep, holding: &Holding) -> String {
    lines(&cases::of_sweep(sweep, holding))
}

fn lines(of: &Cases) -> String {
    of.cases.iter().map(|case| line(case, &of.url)).collect()
}

fn line(case: &Case, url: &str) -> String {
    let (level, word) = match (case.ruling, case.doubtful) {
        (Ruling::Fail, _) => ("error", "missed"),
        (Ruling::Inconclusive, true) => ("error", "not to be relied on"),
        (Ruling::Inconclusive, false) => ("warning", "undecided"),
        (Ruling::Pass, true) => ("warning", "in doubt"),
        (Ruling::Pass, false) => ("notice", "met"),
    };
    let word = if case.name == "validity" && word == "met" { "good" } else { word };
    // What ends a property is escaped besides.
    let title = data(&format!("{}: {word}", case.name)).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title={title}::{}\n", data(&format!("{url}: {}", case.text)))
}

/// Longest a text may be.
const LONGEST: usize = 4000;

/// The text of a command: on one line, and the sign that escapes others escaped.
fn data(text: &str) -> String {
    clean(text, LONGEST).replace('%', "%25")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_line_a_case() {
        let text = github(&sample::judged_run());
        let heads: Vec<&str> = text.lines().map(|line| line.split("::").nth(1).unwrap()).collect();
        assert_eq!(
            heads,
            [
                "notice title=validity%3A good",
                "notice title=p99<500ms%3A met",
                "error title=mean<1ms%3A missed",
                "warning title=p99.9<20ms%3A undecided",
                "warning title=stable%3A undecided",
            ]
        );
        assert!(text.contains("::http://127.0.0.1:8080/healthz: 2.00ms (1.90ms to 2.10ms). "));
    }

    #[test]
    fn no_text_can_begin_a_command_of_its_own() {
        let mut run = sample::judged_run();
        run.plan.url = "http://h/%\n::set-env::x\u{1b}[31m".into();
        run.objectives[0].objective = "GET /a,b: p99<1ms".into();
        let text = github(&run);
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.contains("http://h/%25·::set-env::x·[31m"), "{text}");
        assert!(text.contains("title=GET /a%2Cb%3A p99<1ms%3A met"), "{text}");
        assert!(
            github(&sample::open_loop())
                .starts_with("::error title=validity%3A not to be relied on")
        );
    }
}
