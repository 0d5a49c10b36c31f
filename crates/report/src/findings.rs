//! What limits a run, as text.

use model::finding::{Confidence, Finding, Findings};
use model::units::show_duration;

use crate::figure::clean;
use crate::text::{Style, Tone, paragraph_in};

/// Longest a text from a server may be.
const LONGEST: usize = 600;
/// Rules that abstained, named in the text.
const MOST_ABSTAINED: usize = 40;

/// All of it: the findings with their evidence, what dips came with, and what could not be judged.
pub fn text(findings: &Findings, style: Style) -> String {
    let mut out = String::new();
    for finding in &findings.findings {
        out += &block(finding, style);
        out.push('\n');
    }
    for dip in &findings.dips {
        let at = format!(
            "Dip at {} for {}",
            show_duration(dip.start_ns),
            show_duration(dip.duration_ns)
        );
        let came = if dip.changed.is_empty() {
            vec!["nothing that was watched changed".into()]
        } else {
            dip.changed.clone()
        };
        out += &format!("{}\n", style.paint(Tone::Strong, &at));
        for change in came {
            out += &lines(&change, "  ", style);
        }
        out.push('\n');
    }
    out + &abstained(findings, style)
}

/// Where a finding's limit is; that nothing is at its limit has no place.
pub(crate) fn place(finding: &Finding) -> Option<String> {
    let nowhere = matches!(finding.code.as_str(), "none" | "unknown");
    (!nowhere).then(|| clean(&finding.place, 80))
}

fn block(finding: &Finding, style: Style) -> String {
    let head = format!("{}. {}", finding.rank, finding.code);
    let tone = match finding.confidence {
        Confidence::High => Tone::Bad,
        Confidence::Medium => Tone::Doubtful,
        Confidence::Low => Tone::Strong,
    };
    let tone = if finding.code == "none" { Tone::Good } else { tone };
    let place = place(finding).map_or_else(String::new, |place| format!(" at {place}"));
    let confidence = finding.confidence.name();
    let title = lines(&format!("{head}{place}, confidence {confidence}"), "", style);
    let mut out = title.replacen(&head, &style.paint(tone, &head), 1);
    out += &lines(&finding.sentence, "   ", style);
    for (mark, evidence) in [("   + ", &finding.evidence_for), ("   - ", &finding.evidence_against)]
    {
        for words in evidence {
            out += &lines(words, mark, style);
        }
    }
    out += &lines(&finding.fix, "   fix: ", style);
    match &finding.confirmed {
        Some(confirmation) => out + &lines(&confirmation.sentence, "   checked: ", style),
        None => out + &lines(&finding.experiment, "   to check: ", style),
    }
}

/// Rules that lack the same thing in one line.
fn abstained(findings: &Findings, style: Style) -> String {
    let mut lacking: Vec<(&str, Vec<&str>)> = Vec::new();
    for abstained in findings.abstained.iter().take(MOST_ABSTAINED) {
        match lacking.iter_mut().find(|(missing, _)| *missing == abstained.missing) {
            Some((_, codes)) => codes.push(&abstained.code),
            None => lacking.push((&abstained.missing, vec![&abstained.code])),
        }
    }
    if lacking.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", style.paint(Tone::Strong, "Not judged"));
    for (missing, codes) in lacking {
        out += &lines(&format!("{}: {missing}", codes.join(", ")), "  ", style);
    }
    out
}

/// A text in lines, the first after `mark`, the others below it.
fn lines(text: &str, mark: &str, style: Style) -> String {
    paragraph_in(&clean(text, LONGEST), mark, style.columns)
}

/// The first finding in a line: `server.cpu: The server uses all of its processors …`.
pub fn first(findings: &Findings) -> Option<String> {
    let finding = findings.findings.first()?;
    Some(format!("{}: {}", finding.code, clean(&finding.sentence, LONGEST)))
}

#[cfg(test)]
mod tests {
    use model::finding::{Abstained, DipChanges};

    use super::*;

    #[test]
    fn findings_as_text() {
        let findings = Findings {
            findings: vec![Finding {
                code: "server.cpu".into(),
                rank: 1,
                confidence: Confidence::High,
                place: "app\u{1b}[2J".into(),
                subject: None,
                sentence: "The server uses all of its processors: 1.98 of 2 cores.".into(),
                evidence_for: vec!["99 % of its machine's processors in use".into()],
                evidence_against: vec!["the generator runs there too".into()],
                fix: "Profile it.".into(),
                experiment: "Halve its cores.".into(),
                confirmed: None,
            }],
            dips: vec![DipChanges {
                start_ns: 5_000_000_000,
                duration_ns: 2_000_000_000,
                changed: vec!["app: listen queue 120 instead of 0".into()],
            }],
            abstained: ["a", "b"]
                .map(|code| Abstained { code: code.into(), missing: "nothing was watched".into() })
                .to_vec(),
            ..Findings::default()
        };
        let text = text(&findings, Style { colour: false, columns: 60 });
        assert!(!text.contains('\u{1b}'));
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        for words in [
            "1. server.cpu at app",
            "confidence high",
            "   + 99 % of its machine's processors in use",
            "   - the generator runs there too",
            "   fix: Profile it.",
            "Dip at 5.00s for 2.00s\n  app: listen queue 120 instead of 0",
            "Not judged\n  a, b: nothing was watched",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
