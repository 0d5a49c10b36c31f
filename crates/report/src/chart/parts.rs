//! What a chart is made of before it has a place on the page: panels, marks, keys.
//!
//! The chart kinds (`curve`, `success`, `diff`, `timeline`, `heat`, `spectrum`) say what to show in these
//! terms; `draw` puts it on the page. Values are in the units of their axes, never pixels.

use model::validity::Verdict;

use super::axis::Axis;
use super::palette::{Dash, Shape};

/// Which vertical axis a mark belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// Index into the palette; wraps around.
    pub colour: usize,
    pub dash: Dash,
    /// The marker of its points, if they are marked.
    pub shape: Option<Shape>,
    pub thin: bool,
}

/// A point of a line. `y` is NaN where nothing was measured: the line breaks there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
    pub validity: Verdict,
    /// Said when the pointer rests on the marker.
    pub tip: String,
}

impl Point {
    /// A point without words, breaking the line where `y` is missing.
    pub(super) fn bare(x: f64, y: Option<f64>) -> Point {
        Point { x, y: y.unwrap_or(f64::NAN), validity: Verdict::Valid, tip: String::new() }
    }
}

/// A series drawn as a line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub side: Side,
    pub style: Style,
    /// The words at its right end, where the panel labels its lines there.
    pub name: String,
    pub points: Vec<Point>,
}

/// A filled rectangle between two values of x and two of the left axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub x: (f64, f64),
    pub y: (f64, f64),
    /// How strong its colour is, from 0 to [`super::palette::SHADES`] - 1.
    pub shade: usize,
}

/// A bar from zero to a value of the left axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    pub x: (f64, f64),
    pub y: f64,
}

/// Anything drawn inside a panel.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    Line(Line),
    /// Bars from zero on the left axis.
    Bars {
        bars: Vec<Bar>,
        colour: usize,
    },
    /// Filled rectangles on the left axis.
    Cells(Vec<Cell>),
    /// A horizontal line with words.
    Rule {
        side: Side,
        y: f64,
        label: String,
    },
    /// A ringed point with words.
    Callout {
        side: Side,
        x: f64,
        y: f64,
        label: String,
    },
}

/// A band of x shaded in every panel, or a vertical line where `from == to`, with words above
/// the first panel.
#[derive(Clone, Debug)]
pub(super) struct Band {
    pub from: f64,
    pub to: f64,
    pub label: String,
    /// Shaded to be noticed rather than to be passed over.
    pub alarming: bool,
}

/// The little picture beside the words of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    None,
    Line(Style),
    /// The marker of a point that is not valid.
    Doubtful(Verdict),
    /// The colour of a cell.
    Shade(usize),
}

/// Words that explain a look.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub sample: Sample,
    pub label: String,
    /// The palette colour of the words; plain ink without.
    pub tone: Option<usize>,
}

impl Key {
    pub(super) fn words(label: impl Into<String>) -> Key {
        Key { sample: Sample::None, label: label.into(), tone: None }
    }

    pub(super) fn line(style: Style, label: impl Into<String>) -> Key {
        Key { sample: Sample::Line(style), label: label.into(), tone: Some(style.colour) }
    }
}

/// One plot with its own vertical axes. All panels of a chart share x.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// Height of the plot in pixels, without its heading.
    pub height: f64,
    /// What stands above the left axis: its name and unit, as the key of what is drawn against it.
    pub heading: Vec<Key>,
    /// The same for the right axis.
    pub right_heading: Vec<Key>,
    pub left: Axis,
    pub right: Option<Axis>,
    /// Palette colours of the two axes' tick labels; plain ink without.
    pub tones: (Option<usize>, Option<usize>),
    pub marks: Vec<Mark>,
    /// Whether lines carry their names at their right ends.
    pub names_lines: bool,
}

impl Panel {
    /// A panel with a left axis only and lines named at their ends.
    pub(super) fn plain(height: f64, heading: Vec<Key>, left: Axis, marks: Vec<Mark>) -> Panel {
        Panel {
            height,
            heading,
            right_heading: Vec::new(),
            left,
            right: None,
            tones: (None, None),
            marks,
            names_lines: true,
        }
    }

    /// The palette colour of an axis's words.
    pub(super) fn tone(&self, side: Side) -> Option<usize> {
        match side {
            Side::Left => self.tones.0,
            Side::Right => self.tones.1,
        }
    }

    /// The lines among the marks.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.marks.iter().filter_map(|mark| match mark {
            Mark::Line(line) => Some(line),
            _ => None,
        })
    }
}

/// The keys for the doubtful points among `validities`, if there are any.
pub(super) fn doubt_keys(validities: impl Iterator<Item = Verdict> + Clone) -> Vec<Key> {
    let words = [
        (Verdict::LowerBound, "LOWER_BOUND: QPS is at least this"),
        (Verdict::Invalid, "INVALID: do not quote"),
    ];
    words
        .into_iter()
        .filter(|(doubt, _)| validities.clone().any(|v| v == *doubt))
        .map(|(doubt, label)| Key {
            sample: Sample::Doubtful(doubt),
            label: label.into(),
            tone: None,
        })
        .collect()
}
