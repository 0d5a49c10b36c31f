//! What else changed in a dip: every series that was watched, inside the dip against the rest of the run.

use model::Run;
use model::finding::DipChanges;
use model::observed::{Series, Unit};

use crate::figures::{grouped, percent, rate};

/// Changes named of a dip.
const MOST: usize = 6;
/// How many times as much, or as little, a figure must be.
const CHANGED: f64 = 1.5;

/// Each dip of a run that something was watched beside.
pub(super) fn changes(run: &Run) -> Vec<DipChanges> {
    let Some(observed) = &run.observed else { return Vec::new() };
    let all: Vec<(&str, &Series)> = observed
        .sources
        .iter()
        .flat_map(|source| source.series.iter().map(|series| (source.name.as_str(), series)))
        .collect();
    run.dips
        .iter()
        .map(|dip| {
            let end_ns = dip.start_ns.saturating_add(dip.duration_ns);
            let mut changed: Vec<(f64, String)> = all
                .iter()
                .filter_map(|(name, series)| {
                    let (inside, outside) = series.inside_and_outside(dip.start_ns, end_ns)?;
                    let times = ratio(series.unit, inside, outside)?;
                    let (now, usual) = (shown(series.unit, inside), shown(series.unit, outside));
                    Some((times, format!("{name}: {} {now} instead of {usual}", series.name)))
                })
                .collect();
            changed.sort_by(|a, b| b.0.total_cmp(&a.0));
            changed.truncate(MOST);
            let changed = changed.into_iter().map(|(_, words)| words).collect();
            DipChanges { start_ns: dip.start_ns, duration_ns: dip.duration_ns, changed }
        })
        .collect()
}

/// How many times more or less, if that is a change; what is next to nothing in its unit changes nothing.
fn ratio(unit: Unit, inside: f64, outside: f64) -> Option<f64> {
    let floor = match unit {
        Unit::Ratio | Unit::Cores => 0.05,
        Unit::Bytes | Unit::BytesPerS => 1_000_000.0,
        Unit::PerS | Unit::Count => 5.0,
    };
    let (inside, outside) = (inside.max(0.0) + floor, outside.max(0.0) + floor);
    let times = (inside / outside).max(outside / inside);
    (times >= CHANGED).then_some(times)
}

fn shown(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio => percent(value),
        Unit::Cores => format!("{} cores", grouped(value, 2)),
        Unit::Bytes => format!("{} MB", grouped(value * 1e-6, 1)),
        Unit::BytesPerS => format!("{} MB/s", grouped(value * 1e-6, 1)),
        Unit::PerS => format!("{}/s", rate(value)),
        Unit::Count => grouped(value, 0),
    }
}
