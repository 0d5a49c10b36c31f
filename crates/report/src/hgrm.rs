//! HdrHistogram's percentile distribution as text (`.hgrm`), which its plotters read.
//!
//! Values in milliseconds. The steps are HdrHistogram's: five between each halving of the distance
//! to 100 per cent, down to the last sample.

use model::histogram::Latencies;

/// Steps between one halving of the remaining share and the next, as HdrHistogram's tools print.
const STEPS_PER_HALVING: f64 = 5.0;
/// Past this share a count of u64 samples has none left.
const MOST_ROWS: usize = 5 * 64 + 8;

/// The distribution of `latencies` with the closing comment lines.
pub fn hgrm(latencies: &Latencies<u64>) -> String {
    let mut out = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    for row in rows(latencies) {
        out += &row.print();
    }
    let ms = |nanos: u64| nanos as f64 / 1e6;
    out += &format!(
        "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]\n\
         #[Max     = {:>12.3}, Total count    = {:>12}]\n\
         #[Buckets = {:>12}, SubBuckets     = {:>12}]\n",
        ms(latencies.mean()),
        ms(latencies.stdev()),
        ms(latencies.max()),
        latencies.count(),
        BUCKETS,
        SUB_BUCKETS
    );
    out
}

/// Buckets and sub-buckets of a histogram of three digits from 100 ns (unit: 64 ns) to an hour.
const SUB_BUCKETS: u32 = 2048;
const BUCKETS: u32 = 26;

/// Steps add up to 0.75 and the like only nearly.
const ROUNDING: f64 = 1e-12;

/// One step of the distribution: a share of the samples lies at or below a latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// Latency in nanoseconds.
    pub nanos: u64,
    /// The share, 0..=1.
    pub share: f64,
    /// Samples at or below the latency.
    pub total: u64,
}

impl Row {
    fn print(&self) -> String {
        let ms = self.nanos as f64 / 1e6;
        let (share, total) = (self.share, self.total);
        if share < 1.0 {
            format!("{ms:12.3} {share:2.12} {total:10} {:14.2}\n", 1.0 / (1.0 - share))
        } else {
            format!("{ms:12.3} {share:2.12} {total:10}\n")
        }
    }
}

/// The steps from the minimum to the maximum; none when there are no samples. Each step's latency is
/// that of the first bucket which reaches its share.
pub(crate) fn rows(latencies: &Latencies<u64>) -> Vec<Row> {
    let count = latencies.count();
    let mut rows = Vec::new();
    let mut share = 0.0;
    let mut seen: u64 = 0;
    for (upper, n) in latencies.recorded() {
        seen = seen.saturating_add(n);
        let nanos = upper.clamp(latencies.min(), latencies.max());
        while share <= seen as f64 / count as f64 + ROUNDING && rows.len() < MOST_ROWS {
            rows.push(Row { nanos, share, total: seen });
            share += step(share);
            if seen >= count {
                break;
            }
        }
    }
    if count > 0 {
        rows.push(Row { nanos: latencies.max(), share: 1.0, total: count });
    }
    rows
}

/// The way to the next step: a fifth of the way to where the remaining share has halved again.
fn step(share: f64) -> f64 {
    let halvings = (1.0 / (1.0 - share)).log2().floor() + 1.0;
    1.0 / (STEPS_PER_HALVING * halvings.exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hundred() -> Latencies<u64> {
        let mut latencies = Latencies::new();
        (1..=100).for_each(|ms| latencies.record(ms * 1_000_000));
        latencies
    }

    #[test]
    fn steps_close_in_on_the_last_sample() {
        let rows = rows(&hundred());
        let at = |share: f64| rows.iter().find(|r| (r.share - share).abs() < 1e-9).unwrap();
        assert_eq!((rows[0].share, rows[0].total), (0.0, 1));
        assert_eq!((at(0.5).total, at(0.55).total, at(0.75).total), (50, 55, 75));
        assert_eq!((at(0.5).nanos as f64 / 1e6).round(), 50.0);
        let last = rows.last().unwrap();
        assert_eq!((last.share, last.total, last.nanos), (1.0, 100, 100_000_000));
        assert!(rows.is_sorted_by(|a, b| a.share < b.share && a.nanos <= b.nanos));
    }

    #[test]
    fn plotters_find_their_columns() {
        let text = hgrm(&hundred());
        let mut lines = text.lines();
        let header: Vec<_> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!(header, ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]);
        assert_eq!(lines.next(), Some(""));
        assert_eq!(lines.next(), Some("       1.000 0.000000000000          1           1.00"));
        assert!(
            text.contains("     100.000 1.000000000000        100\n#[Mean    =       50.500, Std")
        );
        assert!(text.ends_with("SubBuckets     =         2048]\n"));
    }

    #[test]
    fn no_samples_are_no_rows() {
        assert!(rows(&Latencies::new()).is_empty());
        assert!(hgrm(&Latencies::new()).contains("Total count    =            0]"));
    }
}
