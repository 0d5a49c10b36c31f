//! What changed, figure by figure: each change with its interval, beside the margin that counts as
//! none.

use model::validity::Verdict;
use verdict::comparison::change;

use super::Chart;
use super::axis::{Axis, Tick};
use super::number::significant;
use super::palette::{Dash, Shape};
use super::parts::{Band, Key, Line, Mark, Panel, Point, Side, Style};
use super::scale::{Scale, linear_ticks};
use super::table::{Table, cell};

/// Pixels that one figure takes.
const ROW: f64 = 34.0;
/// Changes beyond this many per cent are drawn at the edge; the table has them.
const FARTHEST: f64 = 1000.0;

/// One figure's change, as ratios of new over old.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectRow {
    /// What the figure is called.
    pub name: String,
    /// New over old.
    pub ratio: f64,
    /// Lowest ratio in keeping with the measurements.
    pub low: f64,
    /// Highest one.
    pub high: f64,
    /// The judgement in a word.
    pub word: String,
}

/// The figures of a chart of changes.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Heading.
    pub title: String,
    /// What to read from the chart.
    pub subtitle: String,
    /// Changes up to this share count as none.
    pub margin: f64,
    /// From top to bottom.
    pub rows: Vec<EffectRow>,
}

impl Effects {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let n = self.rows.len();
        let ticks = self.rows.iter().enumerate().map(|(i, row)| Tick {
            at: (n - 1 - i) as f64,
            label: row.name.clone(),
            rank: 0,
        });
        let left = Axis::of(Scale::linear(-0.6, n as f64 - 0.4), ticks.collect(), (0.0, 0.0));
        let height = ROW * n.max(1) as f64;
        let key = Style { colour: 0, dash: Dash::Solid, shape: Some(Shape::Square), thin: false };
        let mut panel = Panel::plain(height, Vec::new(), left, self.marks());
        panel.names_lines = false;
        Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            desc: format!("Changes with their intervals of {n} figures. {}", self.subtitle),
            keys: vec![Key::line(key, "change, with its interval at 95 % confidence")],
            x: self.axis(),
            x_title: "change in per cent".into(),
            panels: vec![panel],
            bands: self.bands(),
            notes: self.notes(),
            table: self.table(),
        }
    }

    /// That some changes are drawn at the edge.
    fn notes(&self) -> Vec<String> {
        let beyond = |ratio: f64| 100.0 * (ratio - 1.0) > FARTHEST;
        let named = |row: &EffectRow| match (beyond(row.ratio), beyond(row.high)) {
            (true, _) => Some(format!("{} {}", row.name, change(row.ratio))),
            (_, true) => Some(format!("the interval of {}, up to {}", row.name, change(row.high))),
            _ => None,
        };
        let named: Vec<String> = self.rows.iter().filter_map(named).collect();
        match named.is_empty() {
            true => Vec::new(),
            false => vec![format!("At the edge, since beyond it: {}.", named.join(", "))],
        }
    }

    fn axis(&self) -> Axis {
        let ends = self.rows.iter().flat_map(|row| [row.low, row.high]).map(percent);
        let ends = ends.filter(|end| end.is_finite());
        let own = 100.0 * self.margin;
        let (low, high) = ends.fold((-own, own), |(low, high), end| (low.min(end), high.max(end)));
        let ticks = linear_ticks(low.min(-1.0), high.max(1.0), 7);
        let scale = Scale::linear(ticks[0], ticks[ticks.len() - 1]);
        let tick = |&at: &f64| {
            let sign = if at > 0.0 { "+" } else { "" };
            Tick { at, label: format!("{sign}{}", significant(at, 3)), rank: 0 }
        };
        Axis::of(scale, ticks.iter().map(tick).collect(), (8.0, 8.0))
    }

    fn bands(&self) -> Vec<Band> {
        let own = 100.0 * self.margin;
        let zero = Band { from: 0.0, to: 0.0, label: String::new(), alarming: false };
        if own <= 0.0 {
            return vec![zero];
        }
        let label = format!("margin {} %", significant(own, 2));
        vec![Band { from: -own / (1.0 + self.margin), to: own, label, alarming: false }]
    }

    fn marks(&self) -> Vec<Mark> {
        let n = self.rows.len();
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(i, row)| {
            let y = (n - 1 - i) as f64;
            let bar = [row.low, row.high].map(|end| Point::bare(percent(end), Some(y)));
            let tip = format!("{}: {}, {}", row.name, change(row.ratio), row.word);
            let at = Point { x: percent(row.ratio), y, validity: Verdict::Valid, tip };
            [line(bar.to_vec(), None), line(vec![at], Some(Shape::Square))]
        })
        .collect()
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["figure", "ratio", "lowest ratio", "highest ratio", "word"]);
        for row in &self.rows {
            let figures = [row.ratio, row.low, row.high].map(cell);
            let mut cells = vec![row.name.clone()];
            cells.extend(figures);
            cells.push(row.word.clone());
            table.push(cells);
        }
        table
    }
}

/// A change in per cent as it is drawn. What is no number stays none, and has no place.
fn percent(ratio: f64) -> f64 {
    let change = 100.0 * (ratio - 1.0);
    if change > FARTHEST { FARTHEST } else { change }
}

fn line(points: Vec<Point>, shape: Option<Shape>) -> Mark {
    let style = Style { colour: 0, dash: Dash::Solid, shape, thin: false };
    Mark::Line(Line { side: Side::Left, style, name: String::new(), points })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_not_drawn_and_what_is_cut_is_named() {
        let row = |name: &str, ratio, high| EffectRow {
            name: name.into(),
            ratio,
            low: 0.9,
            high,
            word: "CANNOT_TELL".into(),
        };
        let rows =
            vec![row("QPS", f64::NAN, f64::NAN), row("p50", 1.1, 20.0), row("p99", 12.0, 30.0)];
        let effects = Effects { rows, margin: 0.02, ..Effects::default() };
        let drawn = effects.marks().into_iter().filter_map(|mark| match mark {
            Mark::Line(line) if line.style.shape.is_some() => Some(line.points[0].x),
            _ => None,
        });
        let drawn: Vec<f64> = drawn.collect();
        assert!(drawn[0].is_nan() && drawn[2] == FARTHEST, "{drawn:?}");
        let note = &effects.notes()[0];
        assert!(note.contains("the interval of p50, up to 20.0x, p99 12.0x"), "{note}");
    }
}
