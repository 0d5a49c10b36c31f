//! Writing SVG: escaping, coordinates, and the few elements charts are made of.
//!
//! The only place that produces markup. Every text from outside passes through [`Svg::text`],
//! [`Svg::open`] or [`escape`]; every coordinate through [`coordinate`], which cannot print NaN.

use super::fallback::Fallback;
use super::text::{Face, clean, fit};

/// An upright rectangle in pixels, y downward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// Whether the two share any area once `gap` pixels are kept between them.
    pub(super) fn touches(&self, other: &Rect, gap: f64) -> bool {
        self.left < other.right + gap
            && other.left < self.right + gap
            && self.top < other.bottom + gap
            && other.top < self.bottom + gap
    }

    /// Whether `inner` lies inside.
    pub(super) fn holds(&self, inner: &Rect) -> bool {
        inner.left >= self.left
            && inner.right <= self.right
            && inner.top >= self.top
            && inner.bottom <= self.bottom
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// Which point of a text its position names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text to set.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    /// Where the anchor stands; `y` is the base line.
    pub x: f64,
    pub y: f64,
    pub anchor: Anchor,
    pub size: f64,
    pub face: Face,
    /// Further classes, such as `muted` or `t2`.
    pub class: &'a str,
    pub text: &'a str,
    /// Pixels it may take; cut with an ellipsis beyond that.
    pub room: f64,
}

/// Words in the regular face that start at `x`.
pub(super) fn plain<'a>(
    x: f64,
    y: f64,
    size: f64,
    class: &'a str,
    text: &'a str,
    room: f64,
) -> Run<'a> {
    Run { x, y, anchor: Anchor::Start, size, face: Face::Regular, class, text, room }
}

/// An SVG document being written.
#[derive(Debug, Default)]
pub(super) struct Svg {
    out: String,
    fallback: Fallback,
}

impl Svg {
    /// One whose texts are set in several fonts, for a picture.
    pub(super) fn in_fonts(fallback: Fallback) -> Svg {
        Svg { out: String::new(), fallback }
    }

    /// Sets a text. One that had to be cut carries its full wording as a tooltip.
    pub(super) fn text(&mut self, run: &Run) {
        let full = clean(run.text);
        let shown = fit(&full, run.room, run.size, run.face);
        if shown.is_empty() {
            return;
        }
        let cut = shown != full;
        if cut {
            self.open(&full);
        }
        let anchor = match run.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if run.face == Face::SemiBold { " b" } else { "" };
        self.raw(&format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor} class=\"{}{bold}\">{}</text>",
            coordinate(run.x),
            coordinate(run.y),
            coordinate(run.size),
            run.class,
            self.spans(&shown)
        ));
        if cut {
            self.close();
        }
    }

    /// The content of a text element, each band in the font that has it.
    fn spans(&self, text: &str) -> String {
        let span = |(font, band): (Option<usize>, &str)| match font {
            None => escape(band),
            Some(font) => format!(
                "<tspan font-family=\"{}\">{}</tspan>",
                Fallback::family(font),
                escape(band)
            ),
        };
        self.fallback.pieces(text).into_iter().map(span).collect()
    }

    /// Begins a group with a tooltip (none if `tip` is empty).
    pub(super) fn open(&mut self, tip: &str) {
        self.out.push_str("<g>");
        if !tip.is_empty() {
            self.out.push_str(&format!("<title>{}</title>", escape(&clean(tip))));
        }
    }

    /// Ends the group.
    pub(super) fn close(&mut self) {
        self.out.push_str("</g>\n");
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.path(&format!("M{} {}L{} {}", c(from.0), c(from.1), c(to.0), c(to.1)), class);
    }

    /// A path with ready path data.
    pub(super) fn path(&mut self, data: &str, class: &str) {
        if !data.is_empty() {
            self.raw(&format!("<path d=\"{data}\" class=\"{class}\"/>"));
        }
    }

    /// A filled rectangle.
    pub(super) fn rect(&mut self, r: &Rect, class: &str) {
        self.raw(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{class}\"/>",
            c(r.left),
            c(r.top),
            c(r.width().max(0.0)),
            c(r.height().max(0.0))
        ));
    }

    /// A circle.
    pub(super) fn circle(&mut self, centre: (f64, f64), radius: f64, class: &str) {
        self.raw(&format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{class}\"/>",
            c(centre.0),
            c(centre.1),
            c(radius)
        ));
    }

    /// Markup that is already safe.
    pub(super) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
        self.out.push('\n');
    }

    /// The finished text, and the fonts it is set in beside the embedded one.
    pub(super) fn finish(self) -> (String, Fallback) {
        (self.out, self.fallback)
    }
}

fn c(v: f64) -> String {
    coordinate(v)
}

/// A coordinate to a hundredth of a pixel. What is not finite or absurdly far away is pinned, so
/// that a defect shows as a misplaced mark and not as a document nobody can open.
pub(super) fn coordinate(v: f64) -> String {
    let pinned = if v.is_finite() { v.clamp(-1e5, 1e5) } else { 0.0 };
    let hundredths = (pinned * 100.0).round() as i64;
    let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
    let sign = if hundredths < 0 { "-" } else { "" };
    match part {
        0 => format!("{sign}{whole}"),
        p if p % 10 == 0 => format!("{sign}{whole}.{}", p / 10),
        p => format!("{sign}{whole}.{p:02}"),
    }
}

/// `text` for element content and attribute values.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_never_nan() {
        for (v, text) in [
            (0.0, "0"),
            (-0.001, "0"),
            (1.5, "1.5"),
            (-2.346, "-2.35"),
            (3.05, "3.05"),
            (f64::NAN, "0"),
            (1e300, "100000"),
        ] {
            assert_eq!(coordinate(v), text, "{v}");
        }
    }

    #[test]
    fn markup_in_names_stays_text() {
        let mut svg = Svg::default();
        svg.text(&Run {
            x: 0.0,
            y: 10.0,
            anchor: Anchor::Start,
            size: 12.0,
            face: Face::Regular,
            class: "",
            text: "</text><script>alert('x')</script>",
            room: 1e4,
        });
        let (out, _) = svg.finish();
        assert!(!out.contains("<script") && out.contains("&lt;script&gt;"));
    }
}
