//! Characters that the embedded font lacks, in pictures: which there are, which other fonts draw
//! them, and how those that none draws are spelled.
//!
//! Owns that choice. Reads no file: the caller passes the fonts. An SVG needs none
//! of this, because its reader has fonts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use skrifa::{FontRef, MetadataProvider};

use super::text::{clean, has};
use super::{Chart, parts};

/// Characters looked for at most in one chart; any beyond are spelled. Chinese writes a newspaper
/// with 3,500.
const MOST: usize = 4_096;

/// A font beside the embedded one.
#[derive(Clone)]
pub struct OtherFont {
    pub(super) bytes: Arc<Vec<u8>>,
    /// Which of a collection's faces.
    pub(super) face: u32,
}

impl OtherFont {
    /// Every face in the bytes of a font file; none where they are no font.
    pub fn faces(bytes: Vec<u8>) -> Vec<OtherFont> {
        let bytes = Arc::new(bytes);
        let whole = |face: &OtherFont| face.read().is_some();
        // Larger collections than this do not occur; the bound is for files that lie.
        (0..64)
            .map(|face| OtherFont { bytes: Arc::clone(&bytes), face })
            .take_while(whole)
            .collect()
    }

    /// Whether it has an outline for `c`. Fonts of coloured bitmaps have none, and would leave a
    /// gap.
    pub fn draws(&self, c: char) -> bool {
        let outline = |font: FontRef<'_>| {
            font.charmap().map(c).is_some_and(|glyph| font.outline_glyphs().get(glyph).is_some())
        };
        self.read().is_some_and(outline)
    }

    fn read(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(&self.bytes, self.face).ok()
    }
}

impl fmt::Debug for OtherFont {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OtherFont({} bytes, face {})", self.bytes.len(), self.face)
    }
}

/// The characters of one picture that the embedded font lacks, and by which of `fonts` they are
/// drawn.
#[derive(Debug, Default)]
pub(super) struct Fallback {
    pub fonts: Vec<OtherFont>,
    drawn: BTreeMap<char, usize>,
}

impl Fallback {
    /// Prepares `chart` for a picture: `search` is asked once for fonts that have what is lacking,
    /// unless nothing is. What it does not find is spelled in the chart's words.
    pub(super) fn resolve(
        chart: &mut Chart,
        search: &dyn Fn(&BTreeSet<char>) -> Vec<OtherFont>,
    ) -> Fallback {
        let mut lacking = BTreeSet::new();
        each_text(chart, &mut |text| {
            let room = MOST - lacking.len();
            lacking.extend(clean(text).chars().filter(|c| !has(*c)).take(room));
        });
        if lacking.is_empty() {
            return Fallback::default();
        }
        let fonts = search(&lacking);
        let by = |c: &char| Some((*c, fonts.iter().position(|font| font.draws(*c))?));
        let drawn: BTreeMap<char, usize> = lacking.iter().filter_map(by).collect();
        each_text(chart, &mut |text| {
            if text.chars().any(|c| !has(c)) {
                *text = spell(&clean(text), |c| has(c) || drawn.contains_key(&c));
            }
        });
        Fallback { fonts, drawn }
    }

    /// `text` cut where the font changes; `None` is the embedded one.
    pub(super) fn pieces<'a>(&self, text: &'a str) -> Vec<(Option<usize>, &'a str)> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let font = self.drawn.get(&first).copied();
            let other = |c: char| self.drawn.get(&c).copied() != font;
            let (band, after) = rest.split_at(rest.find(other).unwrap_or(rest.len()));
            out.push((font, band));
            rest = after;
        }
        out
    }

    /// The name by which an SVG's markup asks for a font of `fonts`.
    pub(super) fn family(font: usize) -> String {
        format!("other-{font}")
    }
}

/// `text` with every character that cannot be `drawn` as `U+65E5`, apart from its neighbours.
fn spell(text: &str, drawn: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    let mut after_spelling = false;
    for c in text.chars() {
        if drawn(c) {
            if after_spelling && c.is_alphanumeric() {
                out.push(' ');
            }
            out.push(c);
        } else {
            if out.ends_with(char::is_alphanumeric) {
                out.push(' ');
            }
            out.push_str(&format!("U+{:04X}", u32::from(c)));
        }
        after_spelling = !drawn(c);
    }
    out
}

/// Every text that the picture of a chart may show.
fn each_text(chart: &mut Chart, see: &mut dyn FnMut(&mut String)) {
    let Chart { title, subtitle, x_title, keys, panels, bands, notes, x, .. } = chart;
    [title, subtitle, x_title].into_iter().chain(notes).for_each(&mut *see);
    keys.iter_mut().for_each(|key| see(&mut key.label));
    bands.iter_mut().for_each(|band| see(&mut band.label));
    x.ticks.iter_mut().for_each(|tick| see(&mut tick.label));
    for panel in panels {
        let headings = panel.heading.iter_mut().chain(&mut panel.right_heading);
        headings.for_each(|key| see(&mut key.label));
        let axes = [Some(&mut panel.left), panel.right.as_mut()].into_iter().flatten();
        axes.flat_map(|axis| &mut axis.ticks).for_each(|tick| see(&mut tick.label));
        for mark in &mut panel.marks {
            match mark {
                parts::Mark::Line(line) => see(&mut line.name),
                parts::Mark::Rule { label, .. } | parts::Mark::Callout { label, .. } => see(label),
                parts::Mark::Bars { .. } | parts::Mark::Cells(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_drawn_is_spelled_apart() {
        for (text, spelled) in [
            ("日本", "U+65E5 U+672C"),
            ("a日b", "a U+65E5 b"),
            ("/日/本?", "/U+65E5/U+672C?"),
            ("x-😀", "x-U+1F600"),
            ("plain", "plain"),
        ] {
            assert_eq!(spell(text, |c| c.is_ascii()), spelled);
        }
    }

    #[test]
    fn text_is_cut_where_the_font_changes() {
        let drawn = [('日', 0), ('本', 0), ('ᚠ', 1)].into_iter().collect();
        let fallback = Fallback { fonts: Vec::new(), drawn };
        assert_eq!(
            fallback.pieces("a日本ᚠ b"),
            [(None, "a"), (Some(0), "日本"), (Some(1), "ᚠ"), (None, " b")]
        );
        assert!(fallback.pieces("").is_empty());
    }

    #[test]
    fn what_is_no_font_has_no_face() {
        assert!(OtherFont::faces(Vec::new()).is_empty());
        assert!(OtherFont::faces(vec![7; 5_000]).is_empty());
        let embedded = super::super::text::REGULAR.to_vec();
        let faces = OtherFont::faces(embedded);
        assert_eq!(faces.len(), 1);
        assert!(faces[0].draws('Ж') && !faces[0].draws('日'));
    }
}
