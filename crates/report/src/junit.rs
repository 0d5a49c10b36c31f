//! JUnit's XML, which CI systems show as tests: one test for validity, one for each objective. What
//! was missed is a failure; what is undecided or not to be believed is an error.

use model::{Ruling, Run, Sweep};
use verdict::objective::levels::Holding;

use crate::cases::{self, Case, Cases};

/// A run's cases.
pub fn run(run: &Run) -> String {
    suite(&cases::of_run(run))
}

/// A sweep's case: that some level holds its objectives.
pub fn sweep(sweep: &Sweep, holding: &Holding) -> String {
    suite(&cases::of_sweep(sweep, holding))
}

fn suite(of: &Cases) -> String {
    let count = |ruling| of.cases.iter().filter(|case| case.ruling == ruling).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\"",
        of.cases.len(),
        count(Ruling::Fail),
        count(Ruling::Inconclusive),
        of.seconds
    );
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll\" {counts}>\n  \
         <testsuite name=\"{}\" timestamp=\"{}\" {counts}>\n",
        escaped(&of.url),
        escaped(of.started_at.trim_end_matches('Z'))
    );
    of.cases.iter().for_each(|case| xml += &test(case));
    xml + "  </testsuite>\n</testsuites>\n"
}

fn test(case: &Case) -> String {
    let (name, text) = (escaped(&case.name), escaped(&case.text));
    let open = format!("    <testcase classname=\"plimsoll\" name=\"{name}\" time=\"0\">\n");
    let body = match case.ruling {
        Ruling::Pass => format!("      <system-out>{text}</system-out>\n"),
        Ruling::Fail => format!("      <failure type=\"FAIL\" message=\"{text}\"/>\n"),
        Ruling::Inconclusive => {
            format!("      <error type=\"INCONCLUSIVE\" message=\"{text}\"/>\n")
        }
    };
    open + &body + "    </testcase>\n"
}

/// Text as XML 1.0 takes it, in an element or between double quotes: characters that it forbids
/// become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn cases_as_ci_systems_read_them() {
        let xml = run(&sample::judged_run());
        let document = roxmltree::Document::parse(&xml).expect("well-formed XML");
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
        let counts = ["tests", "failures", "errors"].map(|name| suite.attribute(name).unwrap());
        assert_eq!(counts, ["5", "1", "2"]);
        let cases: Vec<_> = suite
            .children()
            .filter(|node| node.has_tag_name("testcase"))
            .map(|case| {
                let outcome = case.children().find(roxmltree::Node::is_element).unwrap();
                (case.attribute("name").unwrap(), outcome.tag_name().name())
            })
            .collect();
        assert_eq!(
            cases,
            [
                ("validity", "system-out"),
                ("p99<500ms", "system-out"),
                ("mean<1ms", "failure"),
                ("p99.9<20ms", "error"),
                ("stable", "error"),
            ]
        );
        assert!(xml.contains("9.40ms (9.10ms to 9.90ms). Met 51 times over"), "{xml}");
    }

    #[test]
    fn what_cannot_be_believed_is_an_error_and_an_abort_a_failure() {
        let invalid = run(&sample::open_loop());
        assert!(invalid.contains("errors=\"1\"") && invalid.contains("INVALID"), "{invalid}");
        // The exit code is 98, too.
        let mut throttled = sample::judged_run();
        let (code, consequence) = (model::ReasonCode::Throttled, model::Verdict::LowerBound);
        let reason = model::Reason { code, consequence, text: String::new() };
        throttled.validity = model::Validity::of(vec![reason]);
        assert!(run(&throttled).contains("errors=\"3\""), "{}", run(&throttled));
        let aborted = run(&sample::aborted());
        assert!(aborted.contains("name=\"not p99&gt;2s for 10s\""), "{aborted}");
        assert!(aborted.contains("failures=\"1\" errors=\"0\""), "{aborted}");
    }

    #[test]
    fn hostile_text_stays_text() {
        let mut hostile = sample::judged_run();
        hostile.plan.url = "http://h/\"><x>&\u{1}\u{1b}[31m\n".into();
        hostile.objectives[0].objective = "</testcase>]]>".into();
        let xml = run(&hostile);
        let document = roxmltree::Document::parse(&xml).expect("well-formed XML");
        let names: Vec<_> = document.descendants().filter_map(|n| n.attribute("name")).collect();
        assert!(names.contains(&"</testcase>]]>"), "{names:?}");
        assert!(!xml.contains('\u{1b}'));
    }
}
