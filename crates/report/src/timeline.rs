//! `timeline.csv`: a run second by second, for spreadsheets and scripts.
//!
//! Every number in full: seconds since the run's start, nanoseconds for latencies, rates per second.

use model::outcome::ErrorClass;
use model::percentile::PointPercentiles;
use model::run::Run;
use model::timeline::Point;

/// The run's timeline, one row a point, with a header. Lines end as RFC 4180 wants them.
pub fn timeline_csv(run: &Run) -> String {
    let mut out =
        String::from("start_s,duration_s,phase,offered_per_s,achieved_per_s,requests_per_s,failed");
    for (named, _) in PointPercentiles::default().each() {
        out.push_str(&format!(",{}", named.key));
    }
    out.push_str(",max_ns,late_p99_ns,open_mean,in_flight_mean,busy_ratio");
    for class in ErrorClass::ALL {
        out.push_str(&format!(",errors_{}", class.name()));
    }
    out.push_str("\r\n");
    for point in &run.timeline {
        out.push_str(&row(point));
    }
    out
}

fn row(point: &Point) -> String {
    let Point { offered_per_s, achieved_per_s, requests_per_s, failed, .. } = point;
    let mut row = format!(
        "{},{},{},{offered_per_s},{achieved_per_s},{requests_per_s},{failed}",
        point.start_ns as f64 / 1e9,
        point.duration_ns as f64 / 1e9,
        phase(&point.phase),
    );
    for (_, nanos) in point.percentiles.each() {
        row.push_str(&format!(",{nanos}"));
    }
    row.push_str(&format!(
        ",{},{},{},{},{}",
        point.max_ns, point.late_p99_ns, point.open_mean, point.in_flight_mean, point.busy_ratio,
    ));
    for class in ErrorClass::ALL {
        row.push_str(&format!(",{}", point.errors.of(class)));
    }
    row + "\r\n"
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
}
