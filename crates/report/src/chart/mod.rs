//! Charts: typed figures in, SVG text or PNG bytes out, and the same figures as a table.
//!
//! Owns how results look: ten kinds of chart ([`Curve`], [`SuccessRate`], [`Diff`], [`Effects`], [`Timeline`],
//! [`Heat`], [`Spectrum`], [`Search`], [`Demand`], [`Watched`]), each a plain struct of numbers with a `chart()` method,
//! their axes, colours, words and layout. Does not own what the numbers mean: best levels, validity
//! and dips are judged elsewhere and handed in. The SVG goes into the HTML report
//! ([`Theme::Inline`]) or a file ([`Theme::Standalone`]); a picture ([`Chart::to_png`]) goes beside
//! the file, and the [`Table`] always.
//!
//! Any float may be handed in. What is not finite, negative or above 10^18 counts as not measured:
//! lines break there and the table keeps the cell empty if it is not finite. The same input gives
//! the same bytes.
//!
//! Inside, values flow one way: a chart kind builds `parts` on `axis`es, `frame` plans the
//! page, `draw` and `plot` write it through `svg`. For a picture `fallback` settles first which font
//! draws what, and `png` draws.
//!
//! ```
//! use report::chart::{Curve, CurveLevel, Theme};
//!
//! let level = |level, requests_per_s, mean_s| {
//!     CurveLevel { level, requests_per_s, mean_s, ..Default::default() }
//! };
//! let chart = Curve {
//!     title: "apiserver".into(),
//!     levels: vec![level(100.0, 9_800.0, 0.0102), level(200.0, 12_400.0, 0.0161)],
//!     best: Some(1),
//!     ..Default::default()
//! }
//! .chart();
//! assert!(chart.to_svg(Theme::Standalone).starts_with("<svg"));
//! assert!(chart.to_png(2.0, &|_| Vec::new()).unwrap().starts_with(b"\x89PNG"));
//! assert_eq!(chart.table().rows.len(), 2);
//! ```

mod axis;
mod clock;
mod curve;
mod demand;
mod diff;
mod draw;
mod effects;
mod fallback;
mod frame;
mod heat;
mod levels;
mod marker;
mod number;
mod palette;
mod parts;
mod path;
mod place;
mod plot;
mod png;
mod scale;
mod search;
mod spectrum;
mod success;
mod svg;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod watched;

pub use curve::{Curve, LevelMark, Overlay};
pub use demand::{Demand, by_hour};
pub use diff::Diff;
pub use effects::{EffectRow, Effects};
pub use fallback::OtherFont;
pub use heat::{Heat, HeatColumn};
pub use levels::{CurveLevel, CurveSeries};
pub use png::{ChartError, MOST_PIXELS};
pub use search::{Search, SearchLevel, Tried};
pub use spectrum::{Spectrum, SpectrumSeries};
pub use success::SuccessRate;
pub use table::Table;
pub use timeline::{Limit, Second, Span, SpanKind, Timeline};
pub use watched::{Watched, WatchedFigure};

use std::collections::BTreeSet;

/// The style sheet that every chart in a page carries.
pub(crate) fn inline_style_sheet() -> String {
    palette::style_sheet(Theme::Inline)
}

/// Where an SVG takes its colours from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// For an SVG inside an HTML page, which writes title, subtitle and notes as text of its own, so that they are as large
    /// as its other text on every screen. Ink is the page's `currentColor`, series follow
    /// `prefers-color-scheme`, and the page may set `--chart-ink`, `--chart-paper`,
    /// `--chart-line-1` to `-7`, `--chart-text-1` to `-7` and `--chart-shade-1` to `-5`. Rules are
    /// confined to the class `plimsoll-chart`.
    Inline,
    /// For a separate file: dark on white.
    Standalone,
}

/// Series drawn at most in one chart; the table holds them all.
pub const MOST_SERIES: usize = 24;

/// A chart ready to be drawn, with its data.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    subtitle: String,
    desc: String,
    keys: Vec<parts::Key>,
    x: axis::Axis,
    x_title: String,
    panels: Vec<parts::Panel>,
    bands: Vec<parts::Band>,
    notes: Vec<String>,
    table: Table,
}

impl Chart {
    /// The heading.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The sentence that says what to read from the chart.
    pub fn subtitle(&self) -> &str {
        &self.subtitle
    }

    /// What else is to be known of the chart, a sentence each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The chart under another heading alone, for a page that begins with what its own heading says.
    #[must_use]
    pub(crate) fn under(mut self, heading: &str) -> Self {
        self.title = heading.to_owned();
        self.subtitle.clear();
        self
    }

    /// The chart with `lines` at its foot that say where its figures come from.
    #[must_use]
    pub fn signed(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(lines);
        self
    }

    /// The chart as an SVG element. It carries no XML declaration, so it is a document and a
    /// fragment of HTML alike.
    ///
    /// Where x is linear the element says in `data-left`, `data-right` (units of its `viewBox`) and
    /// `data-from`, `data-to` (values of x) where a pointer is, for pages that show figures under
    /// it.
    pub fn to_svg(&self, theme: Theme) -> String {
        draw::document(self, theme, svg::Svg::default()).0
    }

    /// The chart on white as PNG, `scale` pixels a unit: 1 gives what an SVG is on plain screens, 2
    /// suits dense screens and documents.
    ///
    /// The embedded font has Latin, Greek and Cyrillic; a picture with no other characters has the
    /// same bytes everywhere. For any others `search` is asked, once, with all of them. What its
    /// fonts do not draw is spelled by its code point (`U+65E5`).
    ///
    /// # Errors
    /// [`ChartError`] where the image would be empty or larger than [`MOST_PIXELS`].
    pub fn to_png(
        &self,
        scale: f32,
        search: &dyn Fn(&BTreeSet<char>) -> Vec<OtherFont>,
    ) -> Result<Vec<u8>, ChartError> {
        let (svg, fonts) = self.for_png(search);
        png::to_png(&svg, scale, &fonts)
    }

    /// The SVG that a picture is drawn from, and the fonts it names.
    fn for_png(
        &self,
        search: &dyn Fn(&BTreeSet<char>) -> Vec<OtherFont>,
    ) -> (String, Vec<OtherFont>) {
        let mut chart = self.clone();
        let fallback = fallback::Fallback::resolve(&mut chart, search);
        let svg = svg::Svg::in_fonts(fallback);
        let (text, fallback) = draw::document(&chart, Theme::Standalone, svg);
        (text, fallback.fonts)
    }

    /// The figures the chart was drawn from.
    pub fn table(&self) -> &Table {
        &self.table
    }
}
