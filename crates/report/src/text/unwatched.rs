//! Sources that failed while a run was watched, a line for each.

use model::Run;
use model::observed::ObservedSource;
use model::units::show_duration;

use crate::figure::clean;

/// Longest an error may be.
const LONGEST: usize = 300;

/// What is missing, by source: for how long, and why it failed first.
pub(super) fn lines(run: &Run) -> Vec<String> {
    sources(run).filter_map(line).collect()
}

/// The sources that failed. One that had no time for a sample did not.
pub(super) fn failures(run: &Run) -> Vec<String> {
    sources(run).filter(|source| !source.gaps.is_empty()).filter_map(line).collect()
}

fn sources(run: &Run) -> impl Iterator<Item = &ObservedSource> {
    run.observed.iter().flat_map(|observed| &observed.sources)
}

fn line(source: &ObservedSource) -> Option<String> {
    let name = clean(&source.name, LONGEST);
    let Some(first) = source.gaps.first() else {
        return (source.samples == 0).then(|| format!("{name}: no sample came inside the window"));
    };
    let error = clean(&first.error, LONGEST);
    if source.samples == 0 {
        return Some(format!("{name}: no samples: {error}"));
    }
    let (from, to) = (show_duration(first.from_ns), show_duration(first.to_ns));
    let more = match source.gaps.len() - 1 {
        0 => String::new(),
        1 => " (and once more)".to_owned(),
        more => format!(" (and {more} more times)"),
    };
    Some(format!("{name}: no samples from {from} to {to}{more}: {error}"))
}

#[cfg(test)]
mod tests {
    use model::observed::{Gap, Observed};
    use model::units::SECOND;

    use super::*;

    #[test]
    fn a_source_that_failed_is_named_with_its_error() {
        let gap =
            |from, to| Gap { from_ns: from * SECOND, to_ns: to * SECOND, error: "gone".into() };
        let source = |samples, gaps: &[Gap]| ObservedSource {
            name: "db".into(),
            samples,
            gaps: gaps.to_vec(),
            ..ObservedSource::default()
        };
        for (source, wanted) in [
            (source(5, &[]), None),
            (source(0, &[]), Some("db: no sample came inside the window")),
            (source(0, &[gap(0, 9)]), Some("db: no samples: gone")),
            (source(5, &[gap(1, 2)]), Some("db: no samples from 1.00s to 2.00s: gone")),
            (
                source(5, &[gap(1, 2), gap(4, 5)]),
                Some("db: no samples from 1.00s to 2.00s (and once more): gone"),
            ),
        ] {
            let observed = Some(Observed { sources: vec![source] });
            let run = Run { observed, ..fixture::sound::closed() };
            assert_eq!(lines(&run).first().map(String::as_str), wanted);
        }
    }
}
