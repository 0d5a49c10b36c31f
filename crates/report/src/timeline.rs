//! `timeline.csv`: a run second by second, for spreadsheets and scripts.
//!
//! Every number in full: seconds since the run's start, nanoseconds for latencies, rates per second. Latencies of a
//! period without a response are empty.

use model::outcome::ErrorClass;
use model::percentile::PointPercentiles;
use model::run::Run;
use model::timeline::Point;
use model::units::Nanos;

use crate::csv::{cell, csv};

/// The run's timeline, one row a point, with a header.
pub fn timeline_csv(run: &Run) -> String {
    csv(std::iter::once(header()).chain(run.timeline.iter().map(row)))
}

fn header() -> Vec<String> {
    let first = ["start_s", "duration_s", "phase", "offered_per_s", "achieved_per_s"];
    let mut header: Vec<String> = first.map(String::from).into();
    header.extend(["requests_per_s", "failed"].map(String::from));
    header.extend(PointPercentiles::default().each().map(|(named, _)| named.key.to_owned()));
    let last = ["max_ns", "late_p99_ns", "open_mean", "in_flight_mean", "busy_ratio"];
    header.extend(last.map(String::from));
    header.extend(ErrorClass::ALL.map(|class| format!("errors_{}", class.name())));
    header
}

fn row(point: &Point) -> Vec<String> {
    let seconds = |nanos: Nanos| (nanos as f64 / 1e9).to_string();
    let mut row = vec![
        seconds(point.start_ns),
        seconds(point.duration_ns),
        phase(&point.phase).to_owned(),
        point.offered_per_s.to_string(),
        point.achieved_per_s.to_string(),
        point.requests_per_s.to_string(),
        point.failed.to_string(),
    ];
    // No request takes 0 ns.
    let latency = |nanos: Nanos| cell(Some(nanos).filter(|nanos| *nanos > 0));
    row.extend(point.percentiles.each().map(|(_, nanos)| latency(nanos)));
    row.extend([latency(point.max_ns), point.late_p99_ns.to_string()]);
    let means = [point.open_mean, point.in_flight_mean, point.busy_ratio];
    row.extend(means.map(|mean| mean.to_string()));
    row.extend(ErrorClass::ALL.map(|class| point.errors.of(class).to_string()));
    row
}

/// The phase's name; a file from elsewhere may hold anything there, and no comma may pass.
fn phase(name: &str) -> &str {
    match name {
        "warmup" | "window" | "drain" => name,
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_row_has_the_headers_columns() {
        let mut run = sample::open_loop();
        run.timeline[0].phase = "a,b".into();
        let csv = timeline_csv(&run);
        let columns = |line: &str| line.split(',').count();
        let lines: Vec<_> = csv.split("\r\n").filter(|l| !l.is_empty()).collect();
        assert_eq!(lines.len(), run.timeline.len() + 1);
        assert!(lines.iter().all(|line| columns(line) == 15 + ErrorClass::ALL.len()));
        assert!(lines[1].starts_with("0,1,unknown,"), "{}", lines[1]);
        assert!(lines[3].starts_with("2,1,window,20000,"), "{}", lines[3]);
    }

    #[test]
    fn a_second_without_a_response_has_no_latency() {
        let mut run = sample::open_loop();
        let point = &mut run.timeline[1];
        (point.percentiles, point.max_ns) = (PointPercentiles::default(), 0);
        let csv = timeline_csv(&run);
        let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let max = rows[0].iter().position(|name| *name == "max_ns").unwrap();
        let first = max - PointPercentiles::default().each().count();
        assert!(rows[2][first..=max].iter().all(|cell| cell.is_empty()), "{:?}", rows[2]);
        assert!(rows[3][first..=max].iter().all(|cell| !cell.is_empty()), "{:?}", rows[3]);
    }
}
