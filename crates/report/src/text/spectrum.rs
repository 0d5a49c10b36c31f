//! The latency spectrum from the median to the maximum in block characters.
//!
//! Across: the share of requests, each further nine given equal room, as in the chart. Up: latency,
//! on a logarithmic scale where the maximum is far from the median, and the heading says which.

use model::histogram::Latencies;
use model::run::Run;
use model::units::{Nanos, show_duration};

use super::{Style, Tone};
use crate::latencies::response_is_service;

const ROWS: usize = 8;
/// Columns between 50 and 90 per cent, and between each nine and the next.
const FIRST: usize = 14;
const EACH: usize = 14;
const MAX: usize = 6;
/// Columns of the scale on the left.
const LABEL: usize = 10;
/// Nines drawn at most: 99.9999 %.
const MOST_NINES: u32 = 6;
/// From this ratio of maximum to median on, a linear scale would show one spike.
const LOG_RATIO: f64 = 20.0;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The section, or nothing where there are too few samples to draw.
pub(super) fn section(run: &Run, style: Style) -> Option<String> {
    let latencies = run.histogram("response").ok().filter(|l| l.count() >= 2)?;
    let name = if response_is_service(run) { "Service time" } else { "Response time" };
    let heading = format!("{name}, p50 to max");
    // The stored histogram's greatest value is only as exact as its buckets.
    let summary = &run.response_ns;
    let max = if summary.count > 0 { summary.max } else { latencies.max() };
    Some(draw(&latencies, max, &heading, style))
}

fn draw(latencies: &Latencies<u64>, max: Nanos, heading: &str, style: Style) -> String {
    let room = style.columns.saturating_sub(LABEL + FIRST + MAX) / EACH + 1;
    let most = f64::from(MOST_NINES).min(room as f64);
    // The nines that the samples can show: at least one of them must lie beyond the last.
    let nines = (latencies.count() as f64).log10().floor().clamp(1.0, most) as u32;
    let width = FIRST + EACH * (nines as usize - 1);
    let quantile = |column: usize| latencies.at_quantile(share(column)).min(max);
    let mut values: Vec<Nanos> = (0..width).map(quantile).collect();
    values.extend([max; MAX]);
    let scale = Scale::of(values[0], max);
    let note = style.paint(Tone::Soft, if scale.log { " (log scale)" } else { "" });
    let mut out = format!("{}{note}\n", style.paint(Tone::Strong, heading));
    for row in (0..ROWS).rev() {
        let label = if row % 2 == 1 {
            show_duration(scale.at((row + 1) as f64 / ROWS as f64))
        } else {
            String::new()
        };
        let bar: String = values.iter().map(|&v| block(scale.height(v), row)).collect();
        out += format!("{label:>8} │{}", bar.trim_end()).trim_end();
        out.push('\n');
    }
    out + &axis(nines, width)
}

/// The share of requests at a column.
fn share(column: usize) -> f64 {
    if column < FIRST {
        return 1.0 - 0.5 * 0.2_f64.powf(column as f64 / FIRST as f64);
    }
    1.0 - 0.1 * 0.1_f64.powf((column - FIRST) as f64 / EACH as f64)
}

/// The line below, with the percentiles at which the nines stand.
fn axis(nines: u32, width: usize) -> String {
    let mut rule: Vec<char> = "─".repeat(width + MAX).chars().collect();
    let mut words = vec![' '; width + MAX];
    let names = ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999"];
    for (i, name) in names.iter().take(nines as usize + 1).enumerate() {
        let at = if i == 0 { 0 } else { FIRST + EACH * (i - 1) };
        rule[at.min(width)] = '┬';
        let room = words.len() - at;
        if i < nines as usize || name.len() + 4 <= room {
            let end = name.chars().count().min(room);
            words[at..at + end].iter_mut().zip(name.chars()).for_each(|(w, c)| *w = c);
        }
    }
    let end = words.len();
    words[end - 3..].copy_from_slice(&['m', 'a', 'x']);
    let join = |chars: Vec<char>| chars.into_iter().collect::<String>();
    format!("{:>8} └{}\n{:>10}{}\n", "", join(rule), "", join(words))
}

fn block(height: f64, row: usize) -> char {
    let filled = ((height * ROWS as f64 - row as f64) * 8.0).round().clamp(0.0, 8.0) as usize;
    EIGHTHS[if row == 0 { filled.max(1) } else { filled }]
}

/// Where a latency stands between the bottom (0) and the top (1).
struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    fn of(median: Nanos, max: Nanos) -> Self {
        let (median, max) = (median.max(1) as f64, max.max(2) as f64);
        let log = max / median > LOG_RATIO;
        Self { low: if log { median / 2.0 } else { 0.0 }, high: max, log }
    }

    fn height(&self, nanos: Nanos) -> f64 {
        let v = nanos as f64;
        if self.log {
            (v.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            v / self.high
        }
    }

    fn at(&self, height: f64) -> Nanos {
        let v = if self.log {
            self.low * (self.high / self.low).powf(height)
        } else {
            self.high * height
        };
        v.round() as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn it_fits_a_narrow_terminal() {
        for run in [sample::closed_loop(), sample::open_loop()] {
            let text = section(&run, Style { columns: 40, ..Style::default() }).expect("samples");
            assert!(text.contains(" (log scale)\n"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        }
    }

    #[test]
    fn columns_stand_for_shares() {
        for (column, wanted) in
            [(0, 0.5), (FIRST, 0.9), (FIRST + EACH, 0.99), (FIRST + 2 * EACH, 0.999)]
        {
            assert!((share(column) - wanted).abs() < 1e-9, "{column}");
        }
    }

    #[test]
    fn blocks_fill_from_below() {
        assert_eq!([block(1.0, 7), block(0.5, 3), block(0.5, 4)], ['█', '█', ' ']);
        assert_eq!([block(0.0625, 0), block(0.0, 0)], ['▄', '▁']);
    }

    #[test]
    fn scales_meet_their_ends() {
        for scale in [Scale::of(10, 20), Scale::of(10, 100_000)] {
            assert!((scale.height(scale.at(1.0)) - 1.0).abs() < 1e-9);
            assert!((scale.height(scale.at(0.5)) - 0.5).abs() < 1e-3);
        }
        assert_eq!([Scale::of(10, 20).log, Scale::of(10, 201).log], [false, true]);
    }

    #[test]
    fn every_depth_can_be_drawn() {
        for n in [2, 9, 10, 5_000, 4_000_000_000] {
            let mut latencies = Latencies::new();
            latencies.record_n(1_000_000, n - 1);
            latencies.record(900_000_000);
            let text = draw(&latencies, latencies.max(), "t", Style::default());
            assert!(
                text.lines().all(|line| line.chars().count() <= super::super::COLUMNS),
                "{text}"
            );
            assert_eq!(text.lines().count(), ROWS + 3);
        }
    }
}
