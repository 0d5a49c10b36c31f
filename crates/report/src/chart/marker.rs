//! How lines and points look: their classes, and the shapes of markers.

use model::validity::Verdict;

use super::palette::{COLOURS, Shape};
use super::parts::Style;
use super::svg::{Svg, coordinate};

/// Classes of a line.
pub(super) fn line_class(style: &Style) -> String {
    let thin = if style.thin { " thin" } else { "" };
    format!("l s{}{}{thin}", style.colour % COLOURS + 1, style.dash.class())
}

/// Half the size of a marker in pixels.
pub(super) const MARKER: f64 = 3.6;

/// A marker; hollow where the number is a lower bound, hollow and crossed out where it is invalid.
pub(super) fn marker(
    svg: &mut Svg,
    at: (f64, f64),
    shape: Shape,
    colour: usize,
    validity: Verdict,
) {
    let n = colour % COLOURS + 1;
    let class = if validity == Verdict::Valid { format!("m f{n}") } else { format!("h s{n}") };
    let corners = shape.corners();
    if corners.is_empty() {
        svg.circle(at, MARKER, &class);
    } else {
        let mut data = String::new();
        for (i, (x, y)) in corners.iter().enumerate() {
            data.push(if i == 0 { 'M' } else { 'L' });
            data.push_str(&coordinate(at.0 + x * MARKER));
            data.push(' ');
            data.push_str(&coordinate(at.1 + y * MARKER));
        }
        svg.path(&(data + "Z"), &class);
    }
    if validity == Verdict::Invalid {
        let r = MARKER * 1.6;
        let class = format!("x s{n}");
        svg.line((at.0 - r, at.1 - r), (at.0 + r, at.1 + r), &class);
        svg.line((at.0 - r, at.1 + r), (at.0 + r, at.1 - r), &class);
    }
}
