//! From points to polylines in pixels: broken at gaps, thinned to what a screen can show, cut at
//! the frame.

use super::svg::{Rect, coordinate};

/// A polyline in pixels.
pub(super) type Polyline = Vec<(f64, f64)>;

/// Points per pixel column above which a run is thinned.
const DENSE: f64 = 2.0;

/// The visible polylines of `points` (`None` breaks the line), thinned and cut to `frame`. A run of
/// one point is a polyline of one.
pub(super) fn polylines(
    points: impl Iterator<Item = Option<(f64, f64)>>,
    frame: &Rect,
) -> Vec<Polyline> {
    let mut visible = Vec::new();
    let mut run: Polyline = Vec::new();
    for point in points.chain(std::iter::once(None)) {
        match point {
            Some(p) => run.push(p),
            None if run.is_empty() => {}
            None => {
                cut(&thin(&std::mem::take(&mut run), frame.width()), frame, &mut visible);
            }
        }
    }
    visible
}

/// Keeps the first, last, lowest and highest point of every pixel column, in their order, so that
/// no peak vanishes.
pub(super) fn thin(run: &[(f64, f64)], width_px: f64) -> Polyline {
    if (run.len() as f64) < width_px.max(1.0) * DENSE {
        return run.to_vec();
    }
    let mut out = Polyline::new();
    for column in run.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let by_y = |a: &(usize, &(f64, f64)), b: &(usize, &(f64, f64))| a.1.1.total_cmp(&b.1.1);
        let low = column.iter().enumerate().min_by(by_y).map_or(0, |(i, _)| i);
        let high = column.iter().enumerate().max_by(by_y).map_or(0, |(i, _)| i);
        let mut keep = [0, low, high, column.len() - 1];
        keep.sort_unstable();
        for (at, i) in keep.iter().enumerate() {
            if at == 0 || keep[at - 1] != *i {
                out.push(column[*i]);
            }
        }
    }
    out
}

/// Adds the parts of `run` inside `frame`.
fn cut(run: &[(f64, f64)], frame: &Rect, visible: &mut Vec<Polyline>) {
    if let [only] = run {
        if inside(*only, frame) {
            visible.push(vec![*only]);
        }
        return;
    }
    let mut piece = Polyline::new();
    for pair in run.windows(2) {
        let Some((a, b)) = clip(pair[0], pair[1], frame) else {
            flush(&mut piece, visible);
            continue;
        };
        if piece.last() != Some(&a) {
            flush(&mut piece, visible);
            piece.push(a);
        }
        piece.push(b);
    }
    flush(&mut piece, visible);
}

fn flush(piece: &mut Polyline, visible: &mut Vec<Polyline>) {
    if !piece.is_empty() {
        visible.push(std::mem::take(piece));
    }
}

/// Whether a point lies in the frame, a hair's breadth allowed for rounding.
pub(super) fn inside(p: (f64, f64), frame: &Rect) -> bool {
    const HAIR: f64 = 0.01;
    p.0 >= frame.left - HAIR
        && p.0 <= frame.right + HAIR
        && p.1 >= frame.top - HAIR
        && p.1 <= frame.bottom + HAIR
}

/// The part of the segment inside `frame` (Liang and Barsky, "A new concept and method for line
/// clipping", 1984).
fn clip(a: (f64, f64), b: (f64, f64), frame: &Rect) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (delta, room) in [
        (-dx, a.0 - frame.left),
        (dx, frame.right - a.0),
        (-dy, a.1 - frame.top),
        (dy, frame.bottom - a.1),
    ] {
        if delta == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if delta < 0.0 {
            enter = enter.max(room / delta);
        } else {
            leave = leave.min(room / delta);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |t: f64| {
        let (x, y) = (a.0 + t * dx, a.1 + t * dy);
        (x.clamp(frame.left, frame.right), y.clamp(frame.top, frame.bottom))
    };
    let start = if enter == 0.0 { a } else { at(enter) };
    let end = if leave == 1.0 { b } else { at(leave) };
    Some((start, end))
}

/// Path data for the polylines of more than one point.
pub(super) fn data(lines: &[Polyline]) -> String {
    let mut out = String::new();
    for line in lines.iter().filter(|line| line.len() > 1) {
        for (i, (x, y)) in line.iter().enumerate() {
            out.push(if i == 0 { 'M' } else { 'L' });
            out.push_str(&coordinate(*x));
            out.push(' ');
            out.push_str(&coordinate(*y));
        }
    }
    out
}

/// Points about every `step` pixels along the polylines, for judging what a label would cover.
pub(super) fn ink(lines: &[Polyline], step: f64) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for line in lines {
        out.extend(line.first());
        for pair in line.windows(2) {
            let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
            let pieces = ((bx - ax).hypot(by - ay) / step).ceil().clamp(1.0, 400.0) as usize;
            out.extend((1..=pieces).map(|i| {
                let t = i as f64 / pieces as f64;
                (ax + t * (bx - ax), ay + t * (by - ay))
            }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 50.0 };

    #[test]
    fn gaps_break_lines() {
        let points = [Some((0.0, 1.0)), Some((1.0, 2.0)), None, Some((5.0, 5.0)), None];
        let lines = polylines(points.into_iter(), &FRAME);
        assert_eq!(lines, [vec![(0.0, 1.0), (1.0, 2.0)], vec![(5.0, 5.0)]]);
    }

    #[test]
    fn thinning_keeps_every_peak() {
        let points: Vec<_> = (0..10_000)
            .map(|i| (f64::from(i) / 100.0, if i == 4_321 { 49.0 } else { f64::from(i % 7) }))
            .collect();
        let kept = thin(&points, 100.0);
        assert!(kept.len() <= 404, "{}", kept.len());
        assert!(kept.contains(&(43.21, 49.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[9_999]));
    }

    #[test]
    fn lines_end_at_the_frame() {
        let points =
            [Some((10.0, 25.0)), Some((20.0, -1e20)), Some((30.0, 25.0)), Some((200.0, 25.0))];
        let lines = polylines(points.into_iter(), &FRAME);
        assert!(lines.iter().flatten().all(|p| inside(*p, &FRAME)), "{lines:?}");
        assert_eq!(lines.last().unwrap().last(), Some(&(100.0, 25.0)));
        assert!(polylines([Some((500.0, 1.0))].into_iter(), &FRAME).is_empty());
    }
}
