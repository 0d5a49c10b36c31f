//! The embedded font, how wide a text is in it, and cutting a text to the room there is.
//!
//! Owns the font bytes (the PNG renderer borrows them) and the cleaning of text from outside. Knows
//! nothing of SVG. For characters that the font lacks see `fallback`.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

use crate::figure::invisible;

/// The regular face, OpenType. See `assets/fonts` for its origin and licence.
pub(super) const REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.otf");
/// The semi-bold face (weight 600), OpenType.
pub(super) const SEMI_BOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.otf");

/// The faces text is set in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    /// Weight 400.
    Regular,
    /// Weight 600.
    SemiBold,
}

/// Height of a capital letter as a share of the font size, for centring on a line.
pub(super) const CAP_HEIGHT: f64 = 0.727;

/// Characters with their own entry in the width table: everything up to the end of Latin
/// Extended-A.
const TABLED: usize = 0x180;

/// Advance of a character the font lacks: a full em, which is what East Asian text needs.
const MISSING_EM: f32 = 1.0;

struct Widths {
    font: Option<FontRef<'static>>,
    table: [f32; TABLED],
}

impl Widths {
    fn of(bytes: &'static [u8]) -> Widths {
        let font = FontRef::new(bytes).ok();
        let mut widths = Widths { font, table: [MISSING_EM; TABLED] };
        for code in 0..TABLED {
            let c = char::from_u32(code as u32).unwrap_or(' ');
            widths.table[code] = widths.measure(c);
        }
        widths
    }

    fn measure(&self, c: char) -> f32 {
        let advance = self.font.as_ref().and_then(|font| {
            let glyph = font.charmap().map(c)?;
            font.glyph_metrics(Size::new(1.0), LocationRef::default()).advance_width(glyph)
        });
        advance.unwrap_or(MISSING_EM)
    }

    fn em(&self, c: char) -> f64 {
        f64::from(self.table.get(c as usize).copied().unwrap_or_else(|| self.measure(c)))
    }
}

static WIDTHS: LazyLock<[Widths; 2]> =
    LazyLock::new(|| [Widths::of(REGULAR), Widths::of(SEMI_BOLD)]);

fn widths(face: Face) -> &'static Widths {
    match face {
        Face::Regular => &WIDTHS[0],
        Face::SemiBold => &WIDTHS[1],
    }
}

/// Whether the embedded font has `c`, or needs nothing for it (variation selectors).
pub(super) fn has(c: char) -> bool {
    let font = || widths(Face::Regular).font.as_ref();
    matches!(c, '\u{fe00}'..='\u{fe0f}') || font().is_some_and(|f| f.charmap().map(c).is_some())
}

/// Width of `text` in pixels at `size`, before kerning (which only ever tightens by a little).
pub(super) fn width(text: &str, size: f64, face: Face) -> f64 {
    let widths = widths(face);
    text.chars().map(|c| widths.em(c)).sum::<f64>() * size
}

/// `text` if it fits `room` pixels, else its beginning with an ellipsis. Looks at no more than what
/// fits, so the length of a hostile name costs nothing.
pub(super) fn fit(text: &str, room: f64, size: f64, face: Face) -> String {
    let widths = widths(face);
    let ellipsis = widths.em('…') * size;
    let mut used = 0.0;
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        if used + ellipsis <= room {
            cut = at;
        }
        used += widths.em(c) * size;
        if used > room {
            return if ellipsis > room {
                String::new()
            } else {
                text[..cut].trim_end().to_string() + "…"
            };
        }
    }
    text.to_string()
}

/// `text` in at most `rows` lines of at most `room` pixels: two sentences on a line each where they
/// fit, else broken at spaces without leaving a lone word; the last line is cut where it must be.
pub(super) fn wrap(text: &str, room: f64, size: f64, rows: usize) -> Vec<String> {
    let widest = fill(text, room, size, rows);
    let cut = widest.iter().any(|line| line.ends_with('…'));
    if let ([_, _], Some((first, second))) = (&widest[..], text.trim().split_once(". ")) {
        let first = format!("{first}.");
        if width(&first, size, Face::Regular).max(width(second, size, Face::Regular)) <= room {
            return vec![first, second.to_string()];
        }
    }
    let narrower =
        (1..11).map(|step| fill(text, room * (1.0 - f64::from(step) * 0.03), size, rows));
    if widest.len() < 2 || cut {
        return widest;
    }
    narrower
        .take_while(|lines| lines.len() == widest.len() && !lines.iter().any(|l| l.ends_with('…')))
        .last()
        .unwrap_or(widest)
}

/// Lines as full as they can be.
fn fill(text: &str, room: f64, size: f64, rows: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && lines.len() < rows {
        if lines.len() + 1 == rows {
            lines.push(fit(rest, room, size, Face::Regular));
            break;
        }
        let end = line_end(rest, room, size);
        lines.push(fit(rest[..end].trim_end(), room, size, Face::Regular));
        rest = rest[end..].trim_start();
    }
    lines
}

/// The byte at which a line of `room` pixels ends: after the last word that fits, or after one
/// overlong word.
fn line_end(text: &str, room: f64, size: f64) -> usize {
    let widths = widths(Face::Regular);
    let mut used = 0.0;
    let mut word_end = None;
    for (at, c) in text.char_indices() {
        if c == ' ' {
            if used <= room {
                word_end = Some(at);
            } else {
                return word_end.unwrap_or(at);
            }
        }
        used += widths.em(c) * size;
        if used > room && word_end.is_some() {
            return word_end.unwrap_or(at);
        }
    }
    text.len()
}

/// Longest text kept of anything from outside, in characters; also what a tooltip shows.
const LONGEST: usize = 1_000;

/// Text from outside made safe to draw: at most 1,000 characters, white space as single spaces, no
/// control characters, and none of the invisible ones that reorder what stands beside them.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(LONGEST) {
        match c {
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c if invisible(c) => {}
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_faces_are_readable() {
        for face in [Face::Regular, Face::SemiBold] {
            assert!(widths(face).font.is_some());
            let digits = width("0123456789", 10.0, face);
            assert!((50.0..75.0).contains(&digits), "{digits}");
        }
        assert!(width("mean", 12.0, Face::SemiBold) > width("mean", 12.0, Face::Regular));
        let symbols = "≥≤×·µ…→–−";
        assert!(
            symbols.chars().all(|c| widths(Face::Regular)
                .font
                .as_ref()
                .unwrap()
                .charmap()
                .map(c)
                .is_some())
        );
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        let long = "a".repeat(5_000);
        let cut = fit(&long, 100.0, 12.0, Face::Regular);
        assert!(cut.ends_with('…') && width(&cut, 12.0, Face::Regular) <= 100.0);
        assert_eq!(fit("short", 100.0, 12.0, Face::Regular), "short");
        assert_eq!(fit("日本語日本語", 30.0, 12.0, Face::Regular), "日…");
        assert_eq!(fit("anything", 3.0, 12.0, Face::Regular), "");
    }

    #[test]
    fn lines_break_at_spaces() {
        let lines = wrap("one two three four five six seven", 80.0, 12.0, 3);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|l| width(l, 12.0, Face::Regular) <= 80.0), "{lines:?}");
        let word = "w".repeat(200);
        assert!(wrap(&word, 80.0, 12.0, 2)[0].ends_with('…'));
        assert!(wrap("", 80.0, 12.0, 2).is_empty());
    }

    #[test]
    fn text_from_outside_is_made_harmless() {
        assert_eq!(clean("a\0b\u{202e}c\n\t d"), "a\u{fffd}bc d");
        assert_eq!(clean(&"x".repeat(5_000)).len(), 1_000);
    }
}
