//! The page plan: how high each part of a chart is and where each plot stands.
//!
//! Reads the parts and the font's widths, produces rectangles. `draw` fills them.

use super::axis::Axis;
use super::parts::{Band, Key, Panel, Sample};
use super::place::{LaneLabel, lanes};
use super::svg::Rect;
use super::text::{Face, clean, width, wrap};
use super::{Chart, Theme};

/// Width of every chart in pixels at scale 1.
pub(super) const WIDTH: f64 = 760.0;
pub(super) const PAD: f64 = 18.0;
pub(super) const TITLE_SIZE: f64 = 17.0;
pub(super) const SUBTITLE_SIZE: f64 = 13.0;
pub(super) const LABEL_SIZE: f64 = 12.0;
pub(super) const TICK_SIZE: f64 = 11.5;
pub(super) const NOTE_SIZE: f64 = 11.0;
pub(super) const LANE_HEIGHT: f64 = 15.0;
/// Width of the picture beside a key's words.
pub(super) const SAMPLE_WIDTH: f64 = 26.0;

/// Width of a patch of colour beside a key's words.
pub(super) const SHADE_WIDTH: f64 = 14.0;

const TITLE_HEIGHT: f64 = 24.0;
const SUBTITLE_HEIGHT: f64 = 18.0;
const KEY_HEIGHT: f64 = 20.0;
const HEADING_HEIGHT: f64 = 24.0;
const PANEL_GAP: f64 = 14.0;
const NOTE_HEIGHT: f64 = 16.0;
const KEY_GAP: f64 = 18.0;
/// Widest a line's name at its right end may be.
const NAME_ROOM: f64 = 150.0;
/// Widest a key's words may be.
const KEY_ROOM: f64 = 320.0;

/// A key with the place of its left end and base line, and the room for its words.
#[derive(Clone, Debug)]
pub(super) struct PlacedKey<'a> {
    pub key: &'a Key,
    pub x: f64,
    pub y: f64,
    pub room: f64,
}

/// Where everything goes.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub height: f64,
    /// Base line of the title, if the chart itself has it.
    pub title_y: Option<f64>,
    /// Lines of the subtitle with their base lines.
    pub subtitle: Vec<(f64, String)>,
    pub keys: Vec<PlacedKey<'a>>,
    /// The plot of each panel.
    pub plots: Vec<Rect>,
    /// For each band its words' place above the first plot, if there is room.
    pub lanes: Vec<Option<LaneLabel>>,
    /// Base line of the x axis's name.
    pub x_title_y: f64,
    /// Lines of the notes with their base lines.
    pub notes: Vec<(f64, String)>,
}

impl<'a> Frame<'a> {
    /// The plan of `chart`; in a page, title, subtitle and notes are the page's.
    pub(super) fn of(chart: &'a Chart, theme: Theme) -> Frame<'a> {
        let (left, right) = gutters(chart);
        let (left, right) = (PAD + left, WIDTH - PAD - right);
        let alone = theme == Theme::Standalone;
        let mut y = if alone { PAD } else { 0.0 };
        let title_y = alone.then_some(y + TITLE_SIZE * 0.8);
        let mut subtitle = Vec::new();
        if alone {
            y += TITLE_HEIGHT;
            subtitle = lines(&chart.subtitle, SUBTITLE_SIZE, SUBTITLE_HEIGHT, 3, &mut y);
        }
        if !chart.keys.is_empty() {
            y += 4.0;
        }
        let keys = flow(&chart.keys, PAD, WIDTH - PAD, &mut y);
        y += 8.0;
        let labels: Vec<(f64, f64)> = chart
            .bands
            .iter()
            .map(|s| match extent(&chart.x, left, right, s) {
                Some((from, _)) => (from, width(&clean(&s.label), NOTE_SIZE, Face::Regular) + 4.0),
                None => (left, f64::INFINITY),
            })
            .collect();
        let lanes = lanes(&labels, left, right);
        let rows = lanes.iter().flatten().map(|l| l.row + 1).max().unwrap_or(0);
        let mut plots = Vec::new();
        for (i, panel) in chart.panels.iter().enumerate() {
            y += if i == 0 { LANE_HEIGHT * rows as f64 } else { PANEL_GAP };
            if !panel.heading.is_empty() || !panel.right_heading.is_empty() {
                y += HEADING_HEIGHT;
            }
            plots.push(Rect { left, top: y, right, bottom: y + panel.height });
            y += panel.height;
        }
        y += 38.0;
        let x_title_y = y - 2.0;
        y += 6.0;
        let mut notes = Vec::new();
        for note in chart.notes.iter().filter(|_| alone) {
            notes.extend(lines(note, NOTE_SIZE, NOTE_HEIGHT, 2, &mut y));
        }
        Frame {
            height: (y + PAD * 0.7).ceil(),
            title_y,
            subtitle,
            keys,
            plots,
            lanes,
            x_title_y,
            notes,
        }
    }

    /// Base line of the heading above plot `i`; lanes stand between it and the plot.
    pub(super) fn heading_y(&self, i: usize) -> f64 {
        let rows = self.lanes.iter().flatten().map(|l| l.row + 1).max().unwrap_or(0);
        let lanes = if i == 0 { LANE_HEIGHT * rows as f64 } else { 0.0 };
        self.plots[i].top - lanes - 9.0
    }
}

/// The part of a band between `left` and `right` in pixels; `None` if it lies elsewhere or
/// nowhere.
pub(super) fn extent(axis: &Axis, left: f64, right: f64, band: &Band) -> Option<(f64, f64)> {
    let (from, to) = (project(axis, left, right, band.from), project(axis, left, right, band.to));
    if band.from == band.to {
        return from.filter(|x| (left..=right).contains(x)).map(|x| (x, x));
    }
    let (from, to) = (from.unwrap_or(left), to.unwrap_or(right));
    let apart = to < left || from > right || to < from;
    (band.from < band.to && !apart).then(|| (from.max(left), to.min(right)))
}

fn lines(words: &str, size: f64, height: f64, most: usize, y: &mut f64) -> Vec<(f64, String)> {
    let place = |line| {
        let base = *y + size * 0.8;
        *y += height;
        (base, line)
    };
    wrap(&clean(words), WIDTH - 2.0 * PAD, size, most).into_iter().map(place).collect()
}

/// Room left and right of the plots for tick labels and line names.
fn gutters(chart: &Chart) -> (f64, f64) {
    let ticks = |axis: &Axis| {
        axis.ticks.iter().map(|t| width(&t.label, TICK_SIZE, Face::Regular)).fold(0.0, f64::max)
            + 8.0
    };
    let names = |panel: &Panel| {
        let room = |name: &str| width(name, LABEL_SIZE, Face::SemiBold).min(NAME_ROOM) + 12.0;
        if !panel.names_lines {
            return 0.0;
        }
        panel.lines().filter(|l| !l.name.is_empty()).map(|l| room(&l.name)).fold(0.0, f64::max)
    };
    let left = chart.panels.iter().map(|p| ticks(&p.left)).fold(12.0, f64::max);
    let right = chart
        .panels
        .iter()
        .map(|p| p.right.as_ref().map_or(0.0, ticks).max(names(p)))
        .fold(8.0, f64::max);
    (left.min(130.0), right.min(NAME_ROOM + 12.0))
}

/// Pixels of `v` along the x axis between `left` and `right`.
pub(super) fn project(axis: &Axis, left: f64, right: f64, v: f64) -> Option<f64> {
    let (start, end) = (left + axis.inset.0, right - axis.inset.1);
    axis.scale.place(v).map(|u| start + u * (end - start))
}

/// Width of a key with its picture.
pub(super) fn key_width(key: &Key) -> f64 {
    let words = width(&clean(&key.label), LABEL_SIZE, Face::SemiBold).min(KEY_ROOM);
    words + sample_width(key)
}

/// Width of the picture beside the words, its gap included.
pub(super) fn sample_width(key: &Key) -> f64 {
    match key.sample {
        Sample::None => 0.0,
        Sample::Line(_) => SAMPLE_WIDTH + 6.0,
        Sample::Doubtful(_) => 16.0,
        Sample::Shade(_) => SHADE_WIDTH + 5.0,
    }
}

/// Keys in rows from `left` to `right`, beginning below `y`.
fn flow<'a>(keys: &'a [Key], left: f64, right: f64, y: &mut f64) -> Vec<PlacedKey<'a>> {
    let mut x = left;
    let mut placed = Vec::new();
    if !keys.is_empty() {
        *y += KEY_HEIGHT;
    }
    for key in keys {
        let w = key_width(key);
        if x > left && x + w > right {
            x = left;
            *y += KEY_HEIGHT;
        }
        placed.push(PlacedKey { key, x, y: *y - 6.0, room: KEY_ROOM });
        x += w + KEY_GAP;
    }
    placed
}

/// One row of keys from `edge` rightwards (or ending there). Where `room` is short the widest give
/// way first.
pub(super) fn row<'a>(
    keys: &'a [Key],
    edge: f64,
    from_right: bool,
    room: f64,
    y: f64,
) -> Vec<PlacedKey<'a>> {
    let wanted: Vec<f64> = keys.iter().map(key_width).collect();
    let gaps = KEY_GAP * keys.len().saturating_sub(1) as f64;
    let most = level_off(&wanted, room - gaps);
    let widths = || wanted.iter().map(|w| w.min(most));
    let mut x = if from_right { edge - widths().sum::<f64>() - gaps } else { edge };
    let mut placed = Vec::new();
    for (key, w) in keys.iter().zip(widths()) {
        placed.push(PlacedKey { key, x, y, room: (w - sample_width(key)).max(0.0) + 0.5 });
        x += w + KEY_GAP;
    }
    placed
}

/// The width to which the widest must shrink for all to fit in `room`.
fn level_off(wanted: &[f64], room: f64) -> f64 {
    let mut sorted = wanted.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut left = room;
    for (i, w) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - i) as f64;
        if *w > share {
            return share;
        }
        left -= w;
    }
    f64::INFINITY
}
