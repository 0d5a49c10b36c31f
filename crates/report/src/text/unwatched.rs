//! Sources that failed while a run was watched, reported nothing, or reported more than is read; a line for each.

use model::Run;
use model::observed::ObservedSource;
use model::units::{Nanos, SECOND, show_duration};

use crate::figure::{clean, count};

/// Longest an error may be.
const LONGEST: usize = 300;
/// The window from which on a source had time for a sample: most have a pace of a second.
const TIME_FOR_A_SAMPLE: Nanos = 2 * SECOND;

/// What is missing, by source: for how long, and why it failed first.
pub(super) fn lines(run: &Run) -> Vec<String> {
    sources(run)
        .flat_map(|source| line(source).into_iter().chain(dropped_samples(source)))
        .collect()
}

/// The same without those that had no time for a sample.
pub(super) fn failures(run: &Run) -> Vec<String> {
    let had_time = run.totals.duration_ns >= TIME_FOR_A_SAMPLE;
    let failed = |source: &ObservedSource| had_time || !source.gaps.is_empty();
    let failure = |source: &ObservedSource| {
        line(source).filter(|_| failed(source)).into_iter().chain(dropped_samples(source))
    };
    sources(run).flat_map(failure).collect()
}

/// That samples came faster than they could be taken, if so.
pub(crate) fn dropped_samples(source: &ObservedSource) -> Option<String> {
    (source.dropped > 0).then(|| {
        let (name, dropped) = (clean(&source.name, LONGEST), count(source.dropped));
        format!(
            "{name}: {dropped} samples came faster than they could be taken, and are in no figure"
        )
    })
}

fn sources(run: &Run) -> impl Iterator<Item = &ObservedSource> {
    run.observed.iter().flat_map(|observed| &observed.sources)
}

fn line(source: &ObservedSource) -> Option<String> {
    let name = clean(&source.name, LONGEST);
    let Some(first) = source.gaps.first() else {
        return match source.samples {
            0 => Some(format!("{name}: no sample came inside the window")),
            // Of a counter the first sample tells nothing.
            samples @ 2.. if source.figures.is_empty() => Some(format!(
                "{name}: {} samples, and no figure in them that could be used (a counter that falls counts as reset)",
                count(samples)
            )),
            _ => None,
        };
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
    use std::collections::BTreeMap;

    use model::observed::{Figure, Gap, Observed};

    use super::*;

    fn watched(source: ObservedSource) -> Run {
        let observed = Some(Observed { sources: vec![source] });
        Run { observed, ..fixture::sound::closed() }
    }

    #[test]
    fn a_source_that_told_nothing_is_named_where_it_had_time() {
        let figures = BTreeMap::from([("cpu.cores".to_owned(), Figure::default())]);
        let nothing = ObservedSource { name: "app".into(), ..ObservedSource::default() };
        let unusable = ObservedSource { samples: 9, ..nothing.clone() };
        let good = ObservedSource { figures, ..unusable.clone() };
        for (source, window_ns, told) in [
            (&nothing, SECOND, None),
            (&nothing, 3 * SECOND, Some("app: no sample came inside the window")),
            (&unusable, 3 * SECOND, Some("app: 9 samples, and no figure in them")),
            (&good, 3 * SECOND, None),
        ] {
            let mut run = watched(source.clone());
            run.totals.duration_ns = window_ns;
            let failures = failures(&run);
            assert_eq!(failures.len(), usize::from(told.is_some()), "{failures:?}");
            assert!(failures.iter().all(|line| line.starts_with(told.unwrap())), "{failures:?}");
        }
    }

    #[test]
    fn samples_that_were_dropped_are_reported() {
        let figures = BTreeMap::from([("cpu.cores".to_owned(), Figure::default())]);
        let name = "app".to_owned();
        let source = ObservedSource { name, samples: 9, figures, ..ObservedSource::default() };
        assert_eq!(lines(&watched(source.clone())), Vec::<String>::new());
        let run = watched(ObservedSource { dropped: 1200, ..source });
        let told = "app: 1,200 samples came faster than they could be taken, and are in no figure";
        assert_eq!((lines(&run), failures(&run)), (vec![told.to_owned()], vec![told.to_owned()]));
    }

    #[test]
    fn a_source_that_failed_is_named_with_its_error() {
        let gap =
            |from, to| Gap { from_ns: from * SECOND, to_ns: to * SECOND, error: "gone".into() };
        let source = |samples, gaps: &[Gap]| ObservedSource {
            name: "db".into(),
            samples,
            figures: BTreeMap::from([("db.waits".to_owned(), Figure::default())]),
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
            assert_eq!(lines(&watched(source)).first().map(String::as_str), wanted);
        }
    }
}
