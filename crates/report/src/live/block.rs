//! A run as it goes, in a few lines that are drawn again every second: time left, rate, latency, and the latencies so
//! far by how often they occurred.

use model::histogram::Latencies;
use model::interval::{Interval, Phase};
use model::units::{Nanos, SECOND, show_duration};
use unicode_width::UnicodeWidthStr;

use super::{rough, waiting};
use crate::figure::{clean, count, counted, measured, rate};

/// Seconds shown at most.
const MOST: usize = 120;
/// Columns of the drawing of latencies, and those that it has where there is no room.
const BARS: usize = 28;
const FEWEST_BARS: usize = 8;
/// Columns before the drawings of seconds.
const HEAD: usize = 20;
const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What a run brought so far.
#[derive(Debug, Default)]
pub struct Progress {
    /// Which run it is, where there are several.
    title: String,
    /// How long the window and what comes before it last; none where requests are counted.
    total_ns: Option<Nanos>,
    per_s: Vec<f64>,
    p99_ns: Vec<f64>,
    latencies: Latencies<u64>,
    errors: u64,
    /// The last interval's phase, and the interval in words.
    phase: Option<Phase>,
    state: String,
}

impl Progress {
    /// Before a run's first interval.
    pub fn new(title: String, total_ns: Option<Nanos>) -> Self {
        Self { title, total_ns, ..Self::default() }
    }

    /// Takes in an interval.
    pub fn add(&mut self, interval: &Interval) {
        let tally = &interval.tally;
        let span_ns = interval.end_ns.saturating_sub(interval.start_ns);
        let before = self.phase.replace(interval.phase);
        if interval.phase == Phase::Window && before == Some(Phase::Warmup) {
            // What the warm-up brought is not in the result.
            self.errors = 0;
            self.latencies.clear();
        }
        let errors = tally.errors.total().saturating_add(tally.unsent);
        self.errors = self.errors.saturating_add(errors);
        let in_flight = tally.in_flight.mean(span_ns).ceil() as u64;
        let elapsed = rough(interval.end_ns / SECOND * SECOND);
        let left = self.total_ns.map(|total_ns| total_ns.saturating_sub(interval.end_ns));
        let left = left.map_or_else(String::new, |left| format!(", {} left", rough(left)));
        self.state = match interval.phase {
            Phase::Warmup => format!("{elapsed} warm-up{left}"),
            Phase::Window => format!("{elapsed}{left}, {} in flight", count(in_flight)),
            Phase::Drain => format!("{elapsed}, {}", waiting(in_flight)),
        };
        if interval.phase == Phase::Drain || span_ns == 0 {
            return;
        }
        self.latencies.merge(&tally.response);
        let p99_ns = if tally.response.count() == 0 { 0 } else { tally.response.at_quantile(0.99) };
        for (values, value) in [
            (&mut self.per_s, tally.responses_done as f64 * SECOND as f64 / span_ns as f64),
            (&mut self.p99_ns, p99_ns as f64),
        ] {
            if values.len() == MOST {
                values.remove(0);
            }
            values.push(value);
        }
    }

    /// The lines, none wider than `columns`.
    pub fn lines(&self, columns: usize) -> String {
        let room = columns.saturating_sub(HEAD + 1);
        let last = |values: &[f64]| values.last().copied().unwrap_or_default();
        let p99 = measured(last(&self.p99_ns) as Nanos);
        let errors = if self.errors == 0 {
            String::new()
        } else {
            format!(", {}", counted(self.errors, "error"))
        };
        let mut lines = vec![
            format!("{}{}{errors}", self.title, self.state),
            format!("QPS     {:>11} {}", rate(last(&self.per_s)), bars(&self.per_s, room)),
            format!("p99     {p99:>11} {}", bars(&self.p99_ns, room)),
        ];
        lines.extend(self.drawn(columns));
        let fits = |line: String| if line.width() > columns { clean(&line, columns) } else { line };
        lines.into_iter().map(fits).collect::<Vec<_>>().join("\n")
    }

    /// How often latencies occurred, from the least to the greatest, by their logarithm.
    fn drawn(&self, columns: usize) -> Option<String> {
        let (least, most) = (self.latencies.at_quantile(0.0).max(1), self.latencies.max());
        if self.latencies.count() == 0 || most <= least {
            return None;
        }
        let (p50, p99) = (self.latencies.at_quantile(0.5), self.latencies.at_quantile(0.99));
        let [first, last, p50, p99] = [least, most, p50, p99].map(show_duration);
        let after = format!(" {last}  p50 {p50}  p99 {p99}");
        let room = columns.saturating_sub(HEAD + after.width()).clamp(FEWEST_BARS, BARS);
        let span = (most as f64 / least as f64).ln();
        let mut drawn = vec![0.0_f64; room];
        for (nanos, n) in self.latencies.recorded() {
            let at = (nanos.max(least) as f64 / least as f64).ln() / span * room as f64;
            drawn[(at as usize).min(room - 1)] += n as f64;
        }
        Some(format!("latency {first:>11} {}{after}", bars(&drawn, room)))
    }
}

/// The last `most` values as bars from zero to the highest; a value above zero is never drawn as none.
fn bars(values: &[f64], most: usize) -> String {
    let shown = &values[values.len().saturating_sub(most)..];
    let highest = shown.iter().copied().fold(0.0, f64::max);
    let bar = |&value: &f64| match value {
        value if value <= 0.0 || highest <= 0.0 => ' ',
        value => EIGHTHS[((value / highest * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    shown.iter().map(bar).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use model::interval::Tally;

    use super::*;

    fn interval(index: u32, phase: Phase, responses: u64) -> Interval {
        let start_ns = u64::from(index) * SECOND;
        let mut tally = Tally { responses_done: responses, ..Tally::default() };
        tally.response.record_n(1_000_000, 90);
        tally.response.record_n(20_000_000, 10);
        tally.in_flight.area_ns = 17 * u128::from(SECOND);
        Interval { tally, ..Interval::new(index, phase, start_ns, start_ns + SECOND) }
    }

    #[test]
    fn the_lines_say_what_came_and_what_is_to_come() {
        let mut progress = Progress::new("[c=17] ".into(), Some(10 * SECOND));
        for (index, responses) in [500, 1000, 2000].into_iter().enumerate() {
            progress.add(&interval(index as u32, Phase::Window, responses));
        }
        let expected = [
            "[c=17] 3s, 7s left, 17 in flight",
            "QPS           2,000 ▂▄█",
            "p99          20.0ms ███",
            "latency      1.00ms █                          ▁ 20.0ms  p50 1.00ms  p99 20.0ms",
        ];
        assert_eq!(progress.lines(80).lines().collect::<Vec<_>>(), expected);
        let narrow = progress.lines(60);
        assert!(narrow.ends_with("20.0ms  p50 1.00ms  p99 20.0ms"), "{narrow}");
        let mut long = Progress::new(String::new(), Some(7200 * SECOND));
        long.add(&interval(149, Phase::Window, 500));
        assert!(
            long.lines(80).starts_with("2m30s, 1h57m left, 17 in flight\n"),
            "{}",
            long.lines(80)
        );
        progress.add(&interval(3, Phase::Drain, 0));
        assert!(progress.lines(80).contains("waiting for the last 17 responses"));
    }

    #[test]
    fn lines_fit_whatever_came() {
        let mut progress = Progress::new(String::new(), None);
        assert_eq!(progress.lines(60).lines().count(), 3);
        for index in 0..500 {
            progress.add(&interval(index, Phase::Window, u64::MAX / (u64::from(index) + 1)));
        }
        for columns in [40, 60, 80] {
            for line in progress.lines(columns).lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
            }
        }
    }

    #[test]
    fn bars_begin_at_zero() {
        assert_eq!(bars(&[0.0, 0.001, 4.0, 8.0], 10), " ▁▄█");
        assert_eq!(bars(&[1.0, 2.0], 1), "█");
        assert_eq!(bars(&[], 5), "");
    }
}
