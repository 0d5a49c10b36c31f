//! Finding room for words: beside points, above bands, at line ends. Nothing here draws.

use super::svg::Rect;

/// What is already on a plot: where words must not go, and where they had better not.
#[derive(Debug)]
pub(super) struct Ground {
    /// Words stay inside.
    pub frame: Rect,
    /// Words never overlap these.
    pub taken: Vec<Rect>,
    /// Points along the drawn lines; words cover as few as possible.
    pub ink: Vec<(f64, f64)>,
}

impl Ground {
    /// The best of `candidates` (most wanted first), marked as taken; `None` where none is free.
    pub(super) fn claim(&mut self, candidates: impl Iterator<Item = Rect>) -> Option<Rect> {
        const GAP: f64 = 3.0;
        let cost = |order: usize, r: &Rect| {
            let grown = Rect {
                left: r.left - GAP,
                top: r.top - GAP,
                right: r.right + GAP,
                bottom: r.bottom + GAP,
            };
            let covered = self.ink.iter().filter(|p| super::path::inside(**p, &grown)).count();
            covered as f64 * 2.0 + order as f64
        };
        let best = candidates
            .enumerate()
            .filter(|(_, r)| self.frame.holds(r) && self.taken.iter().all(|t| !t.touches(r, GAP)))
            .map(|(order, r)| (cost(order, &r), r))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        self.taken.push(best.1);
        Some(best.1)
    }
}

/// Places for words of the given size around a point, the most natural first, moving outward.
pub(super) fn around(at: (f64, f64), size: (f64, f64)) -> impl Iterator<Item = Rect> {
    let (w, h) = size;
    let (x, y) = at;
    [11.0, 24.0, 42.0, 64.0].into_iter().flat_map(move |gap| {
        let above = y - gap - h;
        let below = y + gap;
        let middle = y - h / 2.0;
        let near = gap * 0.5;
        [
            (x - w / 2.0, above),
            (x - w - near, above),
            (x + near, above),
            (x - w - gap, middle),
            (x + gap, middle),
            (x - w / 2.0, below),
            (x - w - near, below),
            (x + near, below),
        ]
        .map(|(left, top)| Rect { left, top, right: left + w, bottom: top + h })
    })
}

/// Places along a horizontal line at `y`: above it, then below, from the right end to the left.
pub(super) fn along(y: f64, frame: &Rect, size: (f64, f64)) -> Vec<Rect> {
    let (w, h) = size;
    let slack = (frame.width() - w - 8.0).max(0.0);
    let at = |share: f64, top: f64| {
        let left = frame.left + 4.0 + slack * share;
        Rect { left, top, right: left + w, bottom: top + h }
    };
    [1.0, 0.0, 0.75, 0.25, 0.5]
        .into_iter()
        .flat_map(|share| [at(share, y - h - 3.0), at(share, y + 4.0)])
        .collect()
}

/// A label that stands in a row above the plot, and the x of the line or edge it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LaneLabel {
    pub left: f64,
    pub right: f64,
    pub line: f64,
    /// 0 is the row next to the plot.
    pub row: usize,
}

/// Rows above a plot at most.
pub(super) const LANES: usize = 3;

/// Rows for labels (x of the line, width of the words) so that neither words nor lines cross other
/// words; `None` for those that find no room. Right-hand labels go first, so that lines come down
/// to the left of what stands below.
pub(super) fn lanes(labels: &[(f64, f64)], left: f64, right: f64) -> Vec<Option<LaneLabel>> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| labels[*b].0.total_cmp(&labels[*a].0));
    let mut placed: Vec<LaneLabel> = Vec::new();
    let mut out = vec![None; labels.len()];
    for i in order {
        let (line, width) = labels[i];
        if width > right - left {
            continue;
        }
        let start = line.min(right - width).max(left);
        let found = (0..LANES)
            .map(|row| LaneLabel { left: start, right: start + width, line, row })
            .find(|label| placed.iter().all(|other| !cross(label, other)));
        out[i] = found;
        placed.extend(found);
    }
    out
}

fn cross(a: &LaneLabel, b: &LaneLabel) -> bool {
    const GAP: f64 = 6.0;
    let words = |a: &LaneLabel, b: &LaneLabel| a.left < b.right + GAP && b.left < a.right + GAP;
    let line = |low: &LaneLabel, high: &LaneLabel| {
        high.line > low.left - GAP && high.line < low.right + GAP
    };
    match a.row.cmp(&b.row) {
        std::cmp::Ordering::Equal => words(a, b),
        std::cmp::Ordering::Less => line(a, b),
        std::cmp::Ordering::Greater => line(b, a),
    }
}

/// Moves heights apart until neighbours are at least `gap` away from each other, within
/// `top..bottom`, keeping their order and straying as little as a simple sweep can. Heights that
/// cannot all fit are spread evenly.
pub(super) fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let n = wanted.len();
    if n == 0 {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let gap = if n > 1 { gap.min((bottom - top).max(0.0) / (n - 1) as f64) } else { gap };
    let mut heights: Vec<f64> =
        order.iter().map(|i| wanted[*i].clamp(top, bottom.max(top))).collect();
    settle(&mut heights, gap);
    let over = heights[n - 1] - bottom;
    if over > 0.0 {
        heights[n - 1] = bottom;
        for i in (0..n - 1).rev() {
            heights[i] = heights[i].min(heights[i + 1] - gap);
        }
    }
    heights[0] = heights[0].max(top);
    for i in 1..n {
        heights[i] = heights[i].max(heights[i - 1] + gap);
    }
    let mut out = vec![0.0; n];
    for (height, i) in heights.iter().zip(order) {
        out[i] = *height;
    }
    out
}

/// Pushes each overlapping cluster apart around its own middle.
fn settle(heights: &mut [f64], gap: f64) {
    let mut clusters: Vec<(f64, usize)> = Vec::new();
    for &h in heights.iter() {
        clusters.push((h, 1));
        while let [.., (a, m), (b, n)] = clusters[..] {
            if b - a >= gap * (m + n) as f64 / 2.0 {
                break;
            }
            clusters.truncate(clusters.len() - 2);
            clusters.push(((a * m as f64 + b * n as f64) / (m + n) as f64, m + n));
        }
    }
    let mut i = 0;
    for (middle, n) in clusters {
        for k in 0..n {
            heights[i] = middle + (k as f64 - (n - 1) as f64 / 2.0) * gap;
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_avoid_words_and_lines() {
        let frame = Rect { left: 0.0, top: 0.0, right: 200.0, bottom: 100.0 };
        let ink = (0..200).map(|x| (f64::from(x), 30.0)).collect();
        let mut ground = Ground { frame, taken: Vec::new(), ink };
        let first = ground.claim(around((100.0, 50.0), (40.0, 12.0))).unwrap();
        assert!(first.top > 30.0 || first.bottom < 30.0);
        let second = ground.claim(around((100.0, 50.0), (40.0, 12.0))).unwrap();
        assert!(!first.touches(&second, 0.0));
        let mut full = Ground { frame, taken: vec![frame], ink: Vec::new() };
        assert!(full.claim(around((100.0, 50.0), (40.0, 12.0))).is_none());
    }

    #[test]
    fn heights_are_spread_without_leaving() {
        for wanted in
            [vec![10.0, 11.0, 12.0], vec![95.0, 96.0, 97.0, 98.0], vec![0.0; 8], vec![50.0]]
        {
            let out = spread(&wanted, 12.0, 0.0, 100.0);
            let mut sorted = out.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|p| p[1] - p[0] >= 12.0 - 1e-9), "{out:?}");
            assert!(sorted[0] >= -1e-9 && sorted[sorted.len() - 1] <= 100.0 + 1e-9, "{out:?}");
        }
        assert_eq!(spread(&[20.0, 60.0], 12.0, 0.0, 100.0), [20.0, 60.0]);
    }

    #[test]
    fn lane_labels_never_cross() {
        let labels: Vec<(f64, f64)> = (0..12).map(|i| (f64::from(i) * 23.0, 60.0)).collect();
        let placed: Vec<LaneLabel> = lanes(&labels, 0.0, 300.0).into_iter().flatten().collect();
        assert!(placed.len() >= 4);
        for (i, a) in placed.iter().enumerate() {
            assert!(a.left >= 0.0 && a.right <= 300.0);
            assert!(placed[i + 1..].iter().all(|b| !cross(a, b)), "{placed:?}");
        }
    }
}
