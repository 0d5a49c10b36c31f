//! The inside of one panel: grid, ticks, bands, bars, cells, lines, markers, and the words among them.

use model::validity::Verdict;

use super::axis::{Axis, Tick, kept};
use super::frame::{LABEL_SIZE, PAD, TICK_SIZE, WIDTH, extent, project};
use super::marker::{line_class, marker};
use super::palette::{COLOURS, Dash, SHADES, shade_class};
use super::parts::{Band, Bar, Cell, Line, Mark, Panel, Point, Side, Style};
use super::path::{Polyline, data, ink, inside, polylines};
use super::place::{Ground, along, around, spread};
use super::svg::{Anchor, Rect, Run, Svg, plain};
use super::text::{CAP_HEIGHT, Face, clean, fit, width};

/// A plot's rectangle with the axes that turn values into pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub rect: Rect,
    pub x: &'a Axis,
    pub left: &'a Axis,
    pub right: Option<&'a Axis>,
}

impl View<'_> {
    fn x(&self, v: f64) -> Option<f64> {
        project(self.x, self.rect.left, self.rect.right, v)
    }

    fn y(&self, side: Side, v: f64) -> Option<f64> {
        let axis = match side {
            Side::Left => self.left,
            Side::Right => self.right.unwrap_or(self.left),
        };
        let (bottom, top) = (self.rect.bottom - axis.inset.0, self.rect.top + axis.inset.1);
        axis.scale.place(v).map(|u| bottom - u * (bottom - top))
    }

    fn point(&self, side: Side, point: &Point) -> Option<(f64, f64)> {
        Some((self.x(point.x)?, self.y(side, point.y)?))
    }
}

/// Draws `panel`; x labels only under the last one.
pub(super) fn draw(svg: &mut Svg, view: &View, panel: &Panel, bands: &[Band], last: bool) {
    shade(svg, view, bands);
    y_ticks(svg, view, panel, Side::Left);
    y_ticks(svg, view, panel, Side::Right);
    x_ticks(svg, view, last);
    let mut ground = Ground { frame: view.rect, taken: Vec::new(), ink: uprights(view, bands) };
    for mark in &panel.marks {
        match mark {
            Mark::Bars { bars: of, colour } => bars(svg, view, of, *colour),
            Mark::Cells(of) => cells(svg, view, of),
            _ => {}
        }
    }
    for line in panel.lines() {
        let lines = polylines(line.points.iter().map(|p| view.point(line.side, p)), &view.rect);
        draw_line(svg, line, &lines);
        ground.ink.extend(ink(&lines, 3.0));
    }
    for line in panel.lines() {
        markers(svg, view, line);
    }
    words(svg, view, panel, &mut ground);
    if panel.names_lines {
        names(svg, view, panel);
    }
}

/// Shades the bands and draws the vertical lines; their words stand above the first panel.
fn shade(svg: &mut Svg, view: &View, bands: &[Band]) {
    let r = view.rect;
    for band in bands {
        let Some((from, to)) = extent(view.x, r.left, r.right, band) else { continue };
        svg.open(&band.label);
        if band.from == band.to {
            svg.line((from, r.top), (from, r.bottom), "rule");
        } else {
            let area = Rect { left: from, right: to.max(from + 1.0).min(r.right), ..r };
            svg.rect(&area, if band.alarming { "dip" } else { "span" });
        }
        svg.close();
    }
}

/// Points along the vertical lines, for words to keep away from.
fn uprights(view: &View, bands: &[Band]) -> Vec<(f64, f64)> {
    let r = view.rect;
    let lines = bands.iter().filter(|s| s.from == s.to);
    let lines = lines.filter_map(|s| Some(extent(view.x, r.left, r.right, s)?.0));
    let lines: Vec<Polyline> = lines.map(|x| vec![(x, r.top), (x, r.bottom)]).collect();
    ink(&lines, 3.0)
}

fn y_ticks(svg: &mut Svg, view: &View, panel: &Panel, side: Side) {
    let axis = match (side, view.right) {
        (Side::Left, _) => view.left,
        (Side::Right, Some(axis)) => axis,
        (Side::Right, None) => return,
    };
    let r = view.rect;
    let ticks: Vec<(f64, &Tick)> = axis
        .ticks
        .iter()
        .filter_map(|t| Some((view.y(side, t.at)?, t)))
        .filter(|(y, _)| *y >= r.top - 0.01 && *y <= r.bottom + 0.01)
        .collect();
    let half = TICK_SIZE * 0.55;
    let bands: Vec<_> = ticks.iter().map(|(y, t)| (y - half, y + half, t.rank)).collect();
    let class = tone_class(panel.tone(side));
    for ((y, tick), keep) in ticks.iter().zip(kept(&bands, 3.0)) {
        if !keep {
            continue;
        }
        if side == Side::Left {
            svg.line((r.left, *y), (r.right, *y), "grid");
        }
        let (x, anchor, room) = match side {
            Side::Left => (r.left - 8.0, Anchor::End, r.left - 8.0 - 4.0),
            Side::Right => (r.right + 8.0, Anchor::Start, WIDTH - r.right - 12.0),
        };
        let base = y + TICK_SIZE * CAP_HEIGHT / 2.0;
        svg.text(&Run { anchor, ..plain(x, base, TICK_SIZE, &class, &tick.label, room) });
    }
}

/// The class of words in a palette colour, or in muted ink.
fn tone_class(tone: Option<usize>) -> String {
    tone.map_or_else(|| "muted".to_string(), |t| format!("t{}", t % COLOURS + 1))
}

/// Least room between a tick label and the edge of the page.
const EDGE: f64 = 3.0;

fn x_ticks(svg: &mut Svg, view: &View, labelled: bool) {
    let r = view.rect;
    svg.line((r.left, r.bottom), (r.right, r.bottom), "axis");
    let ticks: Vec<(f64, &Tick)> = view
        .x
        .ticks
        .iter()
        .filter_map(|t| Some((view.x(t.at)?, t)))
        .filter(|(x, _)| (r.left - 0.01..=r.right + 0.01).contains(x))
        .collect();
    let bands: Vec<_> = ticks
        .iter()
        .map(|(x, t)| {
            let wide = width(&t.label, TICK_SIZE, Face::Regular);
            let left = (x - wide / 2.0).min(WIDTH - EDGE - wide).max(EDGE);
            (left, left + wide, t.rank)
        })
        .collect();
    let mut marked = f64::NEG_INFINITY;
    for (((x, tick), band), keep) in ticks.iter().zip(&bands).zip(kept(&bands, 9.0)) {
        if keep || x - marked >= 3.0 {
            let length = if keep { 5.0 } else { 3.0 };
            svg.line((*x, r.bottom), (*x, r.bottom + length), "axis");
            marked = *x;
        }
        if keep && labelled {
            let middle = (band.0 + band.1) / 2.0;
            let text = plain(middle, r.bottom + 17.0, TICK_SIZE, "muted", &tick.label, WIDTH);
            svg.text(&Run { anchor: Anchor::Middle, ..text });
        }
    }
}

fn bars(svg: &mut Svg, view: &View, bars: &[Bar], colour: usize) {
    let r = view.rect;
    let Some(zero) = view.y(Side::Left, 0.0) else { return };
    let mut columns: Vec<(f64, f64, f64)> = Vec::new();
    for bar in bars.iter().filter(|bar| bar.y > 0.0) {
        let (Some(from), Some(to), Some(y)) =
            (view.x(bar.x.0), view.x(bar.x.1), view.y(Side::Left, bar.y))
        else {
            continue;
        };
        let from = from.clamp(r.left, r.right);
        let to = (to - if to - from > 3.0 { 1.0 } else { 0.0 }).max(from + 1.0).min(r.right);
        let y = y.clamp(r.top, r.bottom);
        match columns.last_mut() {
            Some(last) if from.floor() == last.0.floor() => last.2 = last.2.min(y),
            _ => columns.push((from, to, y)),
        }
    }
    let class = format!("f{}", colour % COLOURS + 1);
    for (left, right, top) in columns {
        svg.rect(&Rect { left, top, right, bottom: zero }, &class);
    }
}

/// All cells of a shade as one path: a chart of thousands stays small.
fn cells(svg: &mut Svg, view: &View, cells: &[Cell]) {
    let r = view.rect;
    let corners = |cell: &Cell| {
        let x = |v| Some(view.x(v)?.clamp(r.left, r.right));
        let y = |v| Some(view.y(Side::Left, v)?.clamp(r.top, r.bottom));
        let (left, right, bottom, top) = (x(cell.x.0)?, x(cell.x.1)?, y(cell.y.0)?, y(cell.y.1)?);
        Some(vec![(left, top), (right, top), (right, bottom), (left, bottom)])
    };
    for shade in 0..SHADES {
        let of_it = cells.iter().filter(|cell| cell.shade == shade);
        let outlines: Vec<Polyline> = of_it.filter_map(corners).collect();
        svg.path(&data(&outlines), &shade_class(shade));
    }
}

/// Vertices above which a line is a band of noise: drawn finer, and whole, since dashes would be
/// lost in it.
const DENSE: usize = 1_000;

fn draw_line(svg: &mut Svg, line: &Line, lines: &[Polyline]) {
    let dense = lines.iter().map(Vec::len).sum::<usize>() > DENSE;
    let style = if dense { Style { dash: Dash::Solid, ..line.style } } else { line.style };
    let fine = if dense { " fine" } else { "" };
    svg.path(&data(lines), &format!("{}{fine}", line_class(&style)));
    if line.style.shape.is_none() {
        let class = format!("f{}", line.style.colour % COLOURS + 1);
        for alone in lines.iter().filter(|l| l.len() == 1) {
            svg.circle(alone[0], 2.0, &class);
        }
    }
}

/// Markers on a line's points: on all while they stand apart, else only on those that are in doubt.
fn markers(svg: &mut Svg, view: &View, line: &Line) {
    let Some(shape) = line.style.shape else { return };
    let crowded = line.points.len() as f64 > view.rect.width() / 5.0;
    let mut last = f64::NEG_INFINITY;
    for point in &line.points {
        let Some(at) = view.point(line.side, point).filter(|at| inside(*at, &view.rect)) else {
            continue;
        };
        let doubtful = point.validity != Verdict::Valid;
        if crowded && !(doubtful && at.0 - last >= 4.0) {
            continue;
        }
        last = at.0;
        svg.open(&point.tip);
        marker(svg, at, shape, line.style.colour, point.validity);
        svg.close();
    }
}

/// Callouts first (they matter most), then the words of horizontal rules.
fn words(svg: &mut Svg, view: &View, panel: &Panel, ground: &mut Ground) {
    let ringed: Vec<_> = panel
        .marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Callout { side, x, y, label } => {
                let at = view.point(*side, &Point::bare(*x, Some(*y)))?;
                inside(at, &view.rect).then_some((at, label))
            }
            _ => None,
        })
        .collect();
    for (at, _) in &ringed {
        svg.circle(*at, 7.5, "ring");
        let r = 8.0;
        ground.taken.push(Rect {
            left: at.0 - r,
            top: at.1 - r,
            right: at.0 + r,
            bottom: at.1 + r,
        });
    }
    for (at, label) in ringed {
        callout(svg, ground, at, label);
    }
    for mark in &panel.marks {
        if let Mark::Rule { side, y, label } = mark {
            rule(svg, view, ground, (*side, *y), (label, panel.tone(*side)));
        }
    }
}

const CALLOUT_ROOM: f64 = 300.0;

fn callout(svg: &mut Svg, ground: &mut Ground, at: (f64, f64), label: &str) {
    let shown = fit(&clean(label), CALLOUT_ROOM, LABEL_SIZE, Face::SemiBold);
    let size = (width(&shown, LABEL_SIZE, Face::SemiBold), LABEL_SIZE);
    let Some(spot) = ground.claim(around(at, size)) else { return };
    let nearest =
        (at.0.clamp(spot.left, spot.right), at.1.clamp(spot.top - 2.0, spot.bottom + 2.0));
    let away = (nearest.0 - at.0).hypot(nearest.1 - at.1);
    if away > 18.0 {
        let ring = 8.0 / away;
        let start = (at.0 + (nearest.0 - at.0) * ring, at.1 + (nearest.1 - at.1) * ring);
        svg.line(start, nearest, "lead");
    }
    let base = spot.top + LABEL_SIZE * (CAP_HEIGHT + 0.06);
    svg.text(&Run {
        face: Face::SemiBold,
        ..plain(spot.left, base, LABEL_SIZE, "halo", label, size.0 + 0.5)
    });
}

fn rule(
    svg: &mut Svg,
    view: &View,
    ground: &mut Ground,
    at: (Side, f64),
    words: (&str, Option<usize>),
) {
    let Some(y) = view.y(at.0, at.1) else { return };
    let (label, tone) = words;
    let r = view.rect;
    if y < r.top || y > r.bottom {
        return;
    }
    svg.line((r.left, y), (r.right, y), "rule");
    let shown = fit(&clean(label), r.width() / 2.0, TICK_SIZE, Face::Regular);
    let size = (width(&shown, TICK_SIZE, Face::Regular), TICK_SIZE);
    if let Some(spot) = ground.claim(along(y, &r, size).into_iter()) {
        let base = spot.top + TICK_SIZE * (CAP_HEIGHT + 0.06);
        let class = format!("halo {}", tone_class(tone));
        svg.text(&plain(spot.left, base, TICK_SIZE, &class, label, size.0 + 0.5));
    }
}

/// The lines' names at their right ends, moved apart where they would collide.
fn names(svg: &mut Svg, view: &View, panel: &Panel) {
    let r = view.rect;
    let ends: Vec<(&Line, (f64, f64))> = panel
        .lines()
        .filter(|line| !line.name.is_empty())
        .filter_map(|line| {
            let drawn = line.points.iter().rev().filter_map(|p| view.point(line.side, p));
            let end = drawn.map(|p| (p.0, p.1.clamp(r.top, r.bottom))).find(|p| inside(*p, &r))?;
            Some((line, end))
        })
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, end)| end.1).collect();
    let heights = spread(&wanted, LABEL_SIZE + 3.0, r.top, r.bottom);
    for ((line, end), y) in ends.iter().zip(heights) {
        if (y - end.1).abs() > LABEL_SIZE || r.right - end.0 > 64.0 {
            let knee = (end.0 + 5.0).max(r.right - 6.0);
            svg.path(
                &data(&[vec![(end.0 + 5.0, end.1), (knee, end.1), (r.right + 5.0, y)]]),
                "lead",
            );
        }
        let class = format!("t{}", line.style.colour % COLOURS + 1);
        svg.text(&Run {
            face: Face::SemiBold,
            ..plain(
                r.right + 8.0,
                y + LABEL_SIZE * CAP_HEIGHT / 2.0,
                LABEL_SIZE,
                &class,
                &line.name,
                WIDTH - PAD / 2.0 - r.right - 8.0,
            )
        });
    }
}
