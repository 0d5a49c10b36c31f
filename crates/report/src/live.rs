//! The run as it goes: a line on what the last interval brought, whose widths are fixed, so that it does not jump, and
//! which fits 100 columns; and for terminals [`Progress`].

mod block;

use model::interval::{Interval, Phase};
use model::units::{Nanos, SECOND, show_duration};
use unicode_width::UnicodeWidthStr;

pub use block::Progress;

use crate::figure;

/// The line for `interval`, `elapsed_ns` into the run. `open_loop` shows the offered rate, which a
/// closed loop has none of. Outside the window the phase stands in place of the requests in flight. Where `columns` has
/// no room for all, some figures are left out.
///
/// ```text
///  12s  offered 20,000  sent 19,998  QPS 19,997  p50  812us  p99 2.31ms  errors    0  in flight 17
/// ```
pub fn line(interval: &Interval, elapsed_ns: Nanos, open_loop: bool, columns: usize) -> String {
    let tally = &interval.tally;
    let span_ns = interval.end_ns.saturating_sub(interval.start_ns);
    if interval.phase == Phase::Drain {
        let waiting = waiting(tally.in_flight.mean(span_ns).ceil() as u64);
        return format!("{:>4}  {waiting}", elapsed(elapsed_ns));
    }
    let rate = |n: u64| match span_ns {
        0 => six(0.0),
        _ => six(n as f64 * SECOND as f64 / span_ns as f64),
    };
    let quantile = |q: f64| match tally.response.count() {
        0 => "-".to_owned(),
        _ => show_duration(tally.response.at_quantile(q)),
    };
    let state = match interval.phase {
        Phase::Warmup => "warm-up".to_owned(),
        _ => format!("in flight {}", six(tally.in_flight.mean(span_ns))),
    };
    // The greater the number, the earlier it is left out.
    let mut parts = vec![(0, format!("{:>4}", elapsed(elapsed_ns)))];
    parts.extend(open_loop.then(|| (2, format!("offered {:>6}", rate(interval.due)))));
    parts.extend([
        (4, format!("sent {:>6}", rate(tally.sent))),
        (0, format!("QPS {:>6}", rate(tally.responses_done))),
        (3, format!("p50 {:>6}", quantile(0.50))),
        (1, format!("p99 {:>6}", quantile(0.99))),
        (0, format!("errors {:>4}", four(tally.errors.total() + tally.unsent))),
        // Its figure is not padded: the line must not jump when it grows.
        (2, format!("{state:<16}")),
    ]);
    let is_wide = |parts: &[(u8, String)], apart: usize| {
        parts.iter().map(|(_, part)| part.width() + apart).sum::<usize>() > columns + apart
    };
    for least in (2..=4).rev() {
        if is_wide(&parts, 2) {
            parts.retain(|(rank, _)| *rank < least);
        }
    }
    let apart = if is_wide(&parts, 2) { 1 } else { 2 };
    if is_wide(&parts, apart) {
        parts.retain(|(rank, _)| *rank == 0);
    }
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    parts.join(&" ".repeat(apart)).trim_end().to_owned()
}

/// That so many responses are waited for, at the end of a run, each until its time-out.
fn waiting(responses: u64) -> String {
    match responses {
        0 => "waiting for the last responses (up to -T)".to_owned(),
        1 => "waiting for the last response (up to -T)".to_owned(),
        more => format!("waiting for the last {} responses (up to -T)", figure::count(more)),
    }
}

/// Whether an interval is worth a line: the last responses are where they are waited for, and the rest of a second
/// at the end of a run where anything came in it.
pub fn is_worth_a_line(interval: &Interval) -> bool {
    let tally = &interval.tally;
    let brief = interval.end_ns.saturating_sub(interval.start_ns) < SECOND / 4;
    let nothing_came = tally.responses_done == 0 && tally.errors.total() == 0;
    !brief || interval.phase != Phase::Drain && (interval.index == 0 || !nothing_came)
}

/// The line before a run starts, while its connections are being opened.
pub fn opening(open: u32, planned: u32) -> String {
    let (open, planned) = (figure::count(u64::from(open)), figure::count(u64::from(planned)));
    format!("opening connections: {open} of {planned}")
}

/// A time as people count it: `45s`, `3m20s`, `2h05m`.
pub fn rough(nanos: Nanos) -> String {
    match nanos.div_ceil(SECOND) {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A count in at most six characters: `19,998`, `123.4k`, `1.23M`.
fn six(n: f64) -> String {
    match n.round() {
        n if n < 1e5 => figure::count(n as u64),
        n if n < 999_950.0 => format!("{:.1}k", n / 1e3),
        n => format!("{:.2}M", n / 1e6),
    }
}

/// A count in at most four characters: `999`, `1.2k`, `123k`, `45M`.
fn four(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..9_950 => format!("{:.1}k", n as f64 / 1e3),
        9_950..999_500 => format!("{:.0}k", n as f64 / 1e3),
        _ => format!("{:.0}M", n as f64 / 1e6),
    }
}

/// Seconds up to 999, then minutes, in at most four characters for the first sixteen hours.
fn elapsed(nanos: Nanos) -> String {
    let seconds = nanos / SECOND;
    if seconds < 1000 { format!("{seconds}s") } else { format!("{}m", seconds / 60) }
}

#[cfg(test)]
mod tests {
    use model::interval::Tally;
    use model::outcome::ErrorClass;

    use super::*;

    fn interval(phase: Phase, n: u64) -> Interval {
        let mut tally = Tally { sent: n, responses_done: n.saturating_sub(1), ..Tally::default() };
        tally.response.record_n(812_000, 97);
        tally.response.record_n(2_310_000, 3);
        tally.errors.add(ErrorClass::Timeout, n / 10_000);
        tally.in_flight.area_ns = 17 * u128::from(SECOND);
        let (start_ns, end_ns) = (0, SECOND);
        Interval { due: n, tally, ..Interval::new(0, phase, start_ns, end_ns) }
    }

    #[test]
    fn the_line_says_what_the_last_second_brought() {
        assert_eq!(
            line(&interval(Phase::Window, 20_000), 12 * SECOND, true, 100),
            " 12s  offered 20,000  sent 20,000  QPS 19,999  p50  812us  p99 2.31ms  errors    2  \
             in flight 17"
        );
        assert_eq!(
            line(&interval(Phase::Warmup, 0), 0, false, 100),
            "  0s  sent      0  QPS      0  p50  812us  p99 2.31ms  errors    0  warm-up"
        );
    }

    #[test]
    fn a_second_without_responses_shows_no_latency() {
        let mut quiet = interval(Phase::Window, 5);
        quiet.tally.response.clear();
        let line = line(&quiet, 1200 * SECOND, false, 100);
        assert!(line.starts_with(" 20m  sent"), "{line}");
        assert!(line.contains("p50      -  p99      -"), "{line}");
    }

    #[test]
    fn the_end_of_a_run_does_not_read_like_an_outage() {
        let line = line(&interval(Phase::Drain, 0), 3 * SECOND, false, 100);
        assert_eq!(line, "  3s  waiting for the last 17 responses (up to -T)");
        assert_eq!(waiting(1), "waiting for the last response (up to -T)");
    }

    #[test]
    fn the_rest_of_a_second_in_which_nothing_came_is_no_outage() {
        let rest = |index, responses_done| {
            let tally = Tally { responses_done, ..Tally::default() };
            let (start_ns, end_ns) = (SECOND, SECOND + 10_000_000);
            Interval { tally, ..Interval::new(index, Phase::Window, start_ns, end_ns) }
        };
        assert!(!is_worth_a_line(&rest(1, 0)));
        assert!(is_worth_a_line(&rest(1, 3)) && is_worth_a_line(&rest(0, 0)));
        let drained = Interval { phase: Phase::Drain, ..rest(1, 3) };
        assert!(!is_worth_a_line(&drained));
    }

    #[test]
    fn the_line_neither_jumps_nor_overflows() {
        let at = |n| line(&interval(Phase::Window, n), 5999 * SECOND, true, 100);
        for n in [0, 1, 99_999, 123_456, 999_949, 999_950, 9_999_999] {
            assert_eq!(at(n).find("in flight"), at(1).find("in flight"), "{}", at(n));
            assert!(at(n).chars().count() <= 100, "{}", at(n));
            for (columns, open_loop) in
                [(40, true), (60, true), (60, false), (80, true), (80, false)]
            {
                let narrow = line(&interval(Phase::Window, n), 5999 * SECOND, open_loop, columns);
                assert!(narrow.chars().count() <= columns, "{narrow}");
                assert!(narrow.contains("QPS") && narrow.contains("p99"), "{narrow}");
            }
            // Behind the level of a sweep, and how long the others take.
            let behind = line(&interval(Phase::Window, n), 5999 * SECOND, true, 30);
            assert!(behind.width() <= 30 && behind.contains("QPS"), "{behind}");
        }
    }

    #[test]
    fn short_counts_stay_short() {
        let fours = [0, 999, 1_000, 9_949, 9_950, 999_499, 999_500].map(four);
        assert_eq!(fours, ["0", "999", "1.0k", "9.9k", "10k", "999k", "1M"]);
        assert_eq!(
            [99_999.0, 100_000.0, 999_949.0, 999_950.0].map(six),
            ["99,999", "100.0k", "999.9k", "1.00M"]
        );
    }
}
