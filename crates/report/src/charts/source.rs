//! Where figures come from, in a line: URL, date and duration. It stands under pictures, which travel
//! without the page or the folder that they were made in.

use model::capacity::CapacitySearch;
use model::curve::{Curve, Origin};
use model::sweep::Sweep;
use model::units::{Nanos, show_duration};
use verdict::comparison::Comparison;

use crate::capacity::spent;
use crate::figure::{clean, date};

/// Longest a URL is shown.
const LONGEST: usize = 120;

/// Of a sweep.
pub fn of_sweep(sweep: &Sweep) -> String {
    let longest = sweep.levels.iter().map(|held| held.run.totals.duration_ns).max();
    line(&sweep.url, &sweep.started_at, &each(sweep.levels.len(), longest.unwrap_or_default()))
}

/// Of a search for capacity.
pub fn of_search(record: &CapacitySearch) -> String {
    line(&record.url, &record.started_at, &spent(record))
}

/// Of curves, each under its name; nothing of those whose files do not say.
pub fn of_curves(curves: &[Curve]) -> Vec<String> {
    let of = |curve: &Curve| {
        let Origin { url, started_at, longest_ns } = curve.origin.as_ref()?;
        let length = each(curve.rows.len(), *longest_ns);
        Some(format!("{}: {}", clean(&curve.name, 60), line(url, started_at, &length)))
    };
    curves.iter().filter_map(of).collect()
}

/// Of a comparison that began at `started_at` with runs of `each_ns`.
pub fn of_comparison(comparison: &Comparison, started_at: &str, each_ns: Nanos) -> Vec<String> {
    let [a, b] = comparison.names.each_ref().map(|name| clean(name, LONGEST));
    let when =
        format!("{} · {} · {} a run", date(started_at), comparison.by, show_duration(each_ns));
    vec![format!("{b} against {a}"), when]
}

fn each(levels: usize, longest_ns: Nanos) -> String {
    match levels {
        1 => show_duration(longest_ns),
        n => format!("{n} levels of {}", show_duration(longest_ns)),
    }
}

fn line(url: &str, started_at: &str, length: &str) -> String {
    format!("{} · {} · {length}", clean(url, LONGEST), date(started_at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_source_names_url_date_and_duration() {
        let sweep = sample::sweep("api", 50_000.0, &[100, 30_000]);
        let line = of_sweep(&sweep);
        let date = "2026-11-21 08:30 UTC";
        assert!(line.starts_with(&format!("{} · {date} · 2 levels of ", sweep.url)), "{line}");
        let curve = Curve::from_sweep(&sweep).unwrap();
        let unknown = Curve { origin: None, ..curve.clone() };
        assert_eq!(of_curves(&[unknown, curve]), [format!("api: {}", of_sweep(&sweep))]);
    }
}
