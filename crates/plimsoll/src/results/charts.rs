//! Charts as files.

use report::chart::{Chart, Theme};

use super::fonts;

/// Pixels a unit of a chart takes in PNG.
pub const PNG_SCALE: f32 = 2.0;

/// A chart as SVG and PNG under the name `stem`.
pub fn drawn(stem: &str, chart: &Chart) -> Vec<(String, Vec<u8>)> {
    let svg = chart.to_svg(Theme::Standalone);
    let png = chart.to_png(PNG_SCALE, &fonts::having);
    let mut files = vec![(format!("{stem}.svg"), svg.into_bytes())];
    match png {
        Ok(png) => files.push((format!("{stem}.png"), png)),
        Err(error) => eprintln!("plimsoll: cannot draw {stem}.png: {error}"),
    }
    files
}
