//! What was watched of one source over time: a row of small plots on the seconds of the run, one a figure.

use super::Chart;
use super::axis::{Axis, Measure};
use super::number::quantity;
use super::palette::Dash;
use super::parts::{Key, Line, Mark, Panel, Point, Side, Style};
use super::table::{Table, cell, cell_or_empty};
use super::timeline::{Span, bands};

/// One figure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchedFigure {
    /// Its name and unit: `CPU (%)`.
    pub heading: String,
    /// When, in seconds since the run's start, and how much.
    pub points: Vec<(f64, f64)>,
}

/// The figures of a source.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Heading: the source.
    pub title: String,
    /// What it is and how it was read.
    pub subtitle: String,
    /// The ends of the run in seconds, so that charts line up.
    pub from_to_s: (f64, f64),
    /// What is drawn, one below the other.
    pub figures: Vec<WatchedFigure>,
    /// Periods to shade.
    pub spans: Vec<Span>,
}

impl Watched {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let (x, x_title) = Axis::seconds(self.from_to_s.0, self.from_to_s.1);
        Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            desc: format!("{} figures of {} over the run.", self.figures.len(), self.title),
            keys: Vec::new(),
            x,
            x_title: x_title.into(),
            panels: (0..).zip(&self.figures).map(|(nth, figure)| panel(nth, figure)).collect(),
            bands: bands(&self.spans),
            notes: Vec::new(),
            table: self.table(),
        }
    }

    fn table(&self) -> Table {
        let headings = self.figures.iter().map(|figure| figure.heading.as_str());
        let headings: Vec<&str> = std::iter::once("second").chain(headings).collect();
        let mut table = Table::new(headings);
        let longest = self.figures.iter().max_by_key(|figure| figure.points.len());
        for &(at_s, _) in longest.map_or(&[][..], |figure| &figure.points) {
            let value = |figure: &WatchedFigure| {
                let found = figure.points.iter().find(|point| point.0 == at_s);
                cell_or_empty(found.map(|point| point.1))
            };
            table.push(std::iter::once(cell(at_s)).chain(self.figures.iter().map(value)).collect());
        }
        table
    }
}

fn panel(nth: usize, figure: &WatchedFigure) -> Panel {
    let most = figure.points.iter().filter_map(|point| quantity(point.1)).fold(0.0, f64::max);
    let style = Style { colour: nth, dash: Dash::Solid, shape: None, thin: true };
    let points = figure.points.iter().map(|point| Point::bare(point.0, quantity(point.1)));
    let line =
        Mark::Line(Line { side: Side::Left, style, name: String::new(), points: points.collect() });
    let axis = Axis::quantity(Measure::Count, most, 2);
    Panel::plain(44.0, vec![Key::words(figure.heading.clone())], axis, vec![line])
}
