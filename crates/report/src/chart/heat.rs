//! A run's latencies over time: a column for each period, a row for each range of latency, and the
//! larger the share of the period's responses, the stronger the colour. A server that answers in two
//! ways shows two stripes, and a stall a cell far above them; lines of percentiles hide both.
//!
//! Owns how responses are sorted into cells and how equal neighbours become one. The colours are
//! `palette`'s. The size of the picture is bounded, whatever the figures.

use super::Chart;
use super::axis::{Axis, Measure};
use super::clock::moment;
use super::number::{duration, quantity, round_duration};
use super::palette::SHADES;
use super::parts::{Cell, Key, Mark, Panel, Sample};
use super::scale::Scale;
use super::table::{Table, cell};
use super::timeline::{Span, bands};

/// The latencies of one period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatColumn {
    /// Begin in seconds since the start of the run.
    pub from_s: f64,
    /// End in seconds since the start of the run.
    pub to_s: f64,
    /// (latency in seconds, requests), in any order. Those without a response count with the time
    /// that they waited.
    pub counts: Vec<(f64, u64)>,
}

/// The figures of a heat map.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    /// Heading.
    pub title: String,
    /// The periods in order.
    pub columns: Vec<HeatColumn>,
    /// Periods to shade behind the cells.
    pub spans: Vec<Span>,
    /// Median and 99th percentile in seconds over all columns, where known.
    pub p50_and_p99_s: Option<(f64, f64)>,
}

/// Columns drawn at most; of more, neighbours are joined.
const MOST_COLUMNS: usize = 120;
/// Ranges of latency, of equal ratio.
const ROWS: usize = 28;
/// The least share of a column's responses that each shade but the first stands for: steps of a
/// logarithm, so that the one response in a thousand that stalled is seen beside the others.
const SHARES: [f64; SHADES - 1] = [0.001, 0.01, 0.05, 0.2];

/// A column with its responses sorted into rows.
struct Sorted {
    from_s: f64,
    to_s: f64,
    responses: u64,
    rows: [u64; ROWS],
}

impl Sorted {
    fn of(column: &HeatColumn, scale: &Scale) -> Sorted {
        let mut rows = [0_u64; ROWS];
        for (latency, n) in drawn(column) {
            let place = scale.place(latency).unwrap_or(0.0) * ROWS as f64;
            let row = &mut rows[(place.max(0.0) as usize).min(ROWS - 1)];
            *row = row.saturating_add(n);
        }
        let responses = rows.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        Sorted { from_s: column.from_s, to_s: column.to_s, responses, rows }
    }

    /// The shade of a row; none where no response is.
    fn shade(&self, row: usize) -> Option<usize> {
        let share = self.rows[row] as f64 / self.responses.max(1) as f64;
        (self.rows[row] > 0).then(|| SHARES.partition_point(|least| *least <= share))
    }
}

impl Heat {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let columns = self.folded();
        let y = latency_axis(&columns);
        let edges = edges(&y.scale);
        let sorted: Vec<Sorted> = columns.iter().map(|c| Sorted::of(c, &y.scale)).collect();
        let from = sorted.first().map_or(0.0, |c| c.from_s);
        let (x, x_title) = Axis::seconds(from, sorted.last().map_or(1.0, |c| c.to_s));
        let heading = vec![Key::words("response time (log scale)")];
        let marks = vec![Mark::Cells(cells(&sorted, &edges))];
        let reading = self.reading(&columns);
        Chart {
            title: self.title.clone(),
            subtitle: reading.clone(),
            desc: format!(
                "How many requests took how long, in {} periods and {ROWS} ranges. {reading}",
                sorted.len()
            ),
            keys: keys(),
            x,
            x_title: x_title.into(),
            panels: vec![Panel::plain(ROW_HEIGHT * ROWS as f64, heading, y, marks)],
            bands: bands(&self.spans),
            notes: notes(&sorted),
            table: table(&sorted, &edges),
        }
    }

    /// What most requests took and the slowest, in a sentence.
    fn reading(&self, columns: &[HeatColumn]) -> String {
        let Some((slowest, at)) = slowest(columns) else {
            return "There were no responses.".into();
        };
        let usual = self.p50_and_p99_s.map_or_else(String::new, |(p50, p99)| {
            let (p50, p99) = (duration(p50), duration(p99));
            format!("Half of the requests took up to {p50}, 99 in 100 up to {p99}. ")
        });
        let slowest = duration(slowest);
        let end = columns.last().map_or(1.0, |column| column.to_s);
        format!("{usual}The slowest request took {slowest}, in the column at {}.", moment(at, end))
    }

    /// The columns that follow one another, joined until there are few enough.
    fn folded(&self) -> Vec<HeatColumn> {
        let mut end = f64::NEG_INFINITY;
        let follows = |column: &&HeatColumn| {
            let sound = quantity(column.from_s).is_some() && quantity(column.to_s).is_some();
            let follows = sound && column.from_s >= end && column.from_s < column.to_s;
            end = if follows { column.to_s } else { end };
            follows
        };
        let sound: Vec<&HeatColumn> = self.columns.iter().filter(follows).collect();
        let joined = sound.chunks(sound.len().div_ceil(MOST_COLUMNS).max(1));
        let join = |columns: &[&HeatColumn]| HeatColumn {
            from_s: columns[0].from_s,
            to_s: columns[columns.len() - 1].to_s,
            counts: columns.iter().flat_map(|column| column.counts.iter().copied()).collect(),
        };
        joined.map(join).collect()
    }
}

/// Height of a row in pixels.
const ROW_HEIGHT: f64 = 7.0;

/// The counts that have a place on a logarithmic axis.
fn drawn(column: &HeatColumn) -> impl Iterator<Item = (f64, u64)> {
    let counts = column.counts.iter().copied();
    counts.filter(|(latency, n)| *n > 0 && *latency > 0.0 && quantity(*latency).is_some())
}

fn latency_axis(columns: &[HeatColumn]) -> Axis {
    let all = || columns.iter().flat_map(drawn).map(|(latency, _)| latency);
    Axis::quantity_log(
        Measure::Time,
        all().fold(f64::INFINITY, f64::min),
        all().fold(0.0, f64::max),
    )
}

/// Where the rows begin and the last one ends.
fn edges(scale: &Scale) -> Vec<f64> {
    let (lo, hi) = match *scale {
        Scale::Log { lo, hi } | Scale::Linear { lo, hi } => (lo, hi),
        Scale::Nines { .. } => (1.0, 1.0),
    };
    (0..=ROWS).map(|row| lo * (hi / lo).powf(row as f64 / ROWS as f64)).collect()
}

/// The cells that are not empty, row by row; neighbours in time of one shade are one cell.
fn cells(columns: &[Sorted], edges: &[f64]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for row in 0..ROWS {
        let y = (edges[row], edges[row + 1]);
        for column in columns {
            let Some(shade) = column.shade(row) else { continue };
            match cells.last_mut() {
                Some(last) if (last.shade, last.y, last.x.1) == (shade, y, column.from_s) => {
                    last.x.1 = column.to_s;
                }
                _ => cells.push(Cell { x: (column.from_s, column.to_s), y, shade }),
            }
        }
    }
    cells
}

fn keys() -> Vec<Key> {
    let least = SHARES.map(|share| format!("{} %", share * 100.0));
    let words = std::iter::once("any".to_owned()).chain(least);
    let shade = |(shade, label)| Key { sample: Sample::Shade(shade), label, tone: None };
    let title = Key::words("share of a column's requests, at least:");
    std::iter::once(title).chain(words.enumerate().map(shade)).collect()
}

fn notes(columns: &[Sorted]) -> Vec<String> {
    let Some(first) = columns.first() else { return Vec::new() };
    let length = round_duration(first.to_s - first.from_s);
    vec![format!(
        "A column stands for {length}; the last holds also what came after the measured window."
    )]
}

/// The slowest response and its place.
fn slowest(columns: &[HeatColumn]) -> Option<(f64, f64)> {
    let longest = |column: &HeatColumn| {
        let latencies = drawn(column).map(|(latency, _)| latency);
        Some((latencies.max_by(f64::total_cmp)?, column.from_s))
    };
    columns.iter().filter_map(longest).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The requests of each column by range of latency, without the ranges that none is in.
fn table(columns: &[Sorted], edges: &[f64]) -> Table {
    let used: Vec<usize> =
        (0..ROWS).filter(|row| columns.iter().any(|c| c.rows[*row] > 0)).collect();
    let range = |row: &usize| format!("{} to {}", duration(edges[*row]), duration(edges[row + 1]));
    let fixed = ["second", "requests"].map(String::from);
    let mut table = Table::new(fixed.into_iter().chain(used.iter().map(range)));
    for column in columns {
        let count = |row: &usize| match column.rows[*row] {
            0 => String::new(),
            n => n.to_string(),
        };
        let fixed = [cell(column.from_s), column.responses.to_string()];
        table.push(fixed.into_iter().chain(used.iter().map(count)).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Theme;

    /// Seconds of two modes, 1 ms and 20 ms, with `stall` in the one of a stall.
    fn heat(seconds: u32, stall: Option<u32>) -> Heat {
        let column = |i: u32| HeatColumn {
            from_s: f64::from(i),
            to_s: f64::from(i + 1),
            counts: match stall {
                Some(at) if at == i => vec![(0.001, 9_000), (0.02, 1_000), (2.0, 1)],
                _ => vec![(0.001, 9_000), (0.02, 1_000)],
            },
        };
        Heat { columns: (0..seconds).map(column).collect(), ..Heat::default() }
    }

    fn drawn_cells(chart: &Chart) -> &[Cell] {
        match &chart.panels[0].marks[..] {
            [Mark::Cells(cells)] => cells,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn two_modes_are_two_stripes_and_a_stall_is_a_cell_of_its_own() {
        let chart = heat(60, Some(31)).chart();
        let cells = drawn_cells(&chart);
        let looks: Vec<_> = cells.iter().map(|c| (c.x, c.shade)).collect();
        assert_eq!(looks, [((0.0, 60.0), 4), ((0.0, 60.0), 3), ((31.0, 32.0), 0)]);
        assert!(cells[0].y.0 <= 0.001 && 0.001 <= cells[0].y.1);
        assert!(cells[2].y.0 <= 2.0 && 2.0 <= cells[2].y.1 * 1.000_001);
        let slowest = "The slowest request took 2.00s, in the column at 31s.";
        assert_eq!(chart.subtitle(), slowest);
        let known = Heat { p50_and_p99_s: Some((0.001, 0.02)), ..heat(60, Some(31)) };
        assert_eq!(
            known.chart().subtitle(),
            format!("Half of the requests took up to 1.00ms, 99 in 100 up to 20.0ms. {slowest}")
        );
    }

    #[test]
    fn a_second_without_responses_is_a_gap() {
        let mut input = heat(10, None);
        input.columns[4].counts.clear();
        let chart = input.chart();
        let looks: Vec<_> = drawn_cells(&chart).iter().map(|c| c.x).collect();
        assert_eq!(looks, [(0.0, 4.0), (5.0, 10.0), (0.0, 4.0), (5.0, 10.0)]);
        assert_eq!(chart.table().rows[4], ["4", "0", "", ""]);
    }

    #[test]
    fn the_table_has_every_response_and_no_empty_range() {
        let chart = heat(3, Some(1)).chart();
        let table = chart.table();
        assert_eq!(table.headers.len(), 5);
        assert_eq!(table.headers[..2], ["second", "requests"]);
        assert_eq!(table.rows[0], ["0", "10000", "9000", "1000", ""]);
        assert_eq!(table.rows[1], ["1", "10001", "9000", "1000", "1"]);
    }

    #[test]
    fn a_long_run_is_folded_and_loses_nothing() {
        let chart = heat(1_000, Some(999)).chart();
        assert_eq!(chart.table().rows.len(), 112);
        assert_eq!(chart.table().rows[111][1], "10001");
        assert_eq!(drawn_cells(&chart).last().unwrap().x, (999.0, 1000.0));
        assert!(chart.notes[0].contains("stands for 9"), "{}", chart.notes[0]);
    }

    /// No two neighbours alike, and no cell empty.
    #[test]
    fn the_picture_stays_small() {
        let column = |i: u32| HeatColumn {
            from_s: f64::from(i),
            to_s: f64::from(i + 1),
            counts: (0..900)
                .map(|k| {
                    (1e-4 * 1.012_f64.powi(k), if (k as u32 + i) % 64 < 32 { 1 } else { 9_000 })
                })
                .collect(),
        };
        let columns = (0..MOST_COLUMNS as u32).map(column).collect();
        let svg = Heat { columns, ..Heat::default() }.chart().to_svg(Theme::Inline);
        assert!(svg.len() < 160_000, "{} bytes", svg.len());
    }

    #[test]
    fn columns_out_of_order_are_left_out() {
        let mut input = heat(4, None);
        input.columns[2].from_s = f64::NAN;
        input.columns[3].to_s = 0.0;
        assert_eq!(input.chart().table().rows.len(), 2);
        assert_eq!(Heat::default().chart().table().rows.len(), 0);
    }
}
