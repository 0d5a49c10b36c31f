//! What distinguishes one series from another (colour, dash, marker), and the style sheet that carries the
//! colours.
//!
//! The hues are those of Okabe and Ito, "Color Universal Design" (2008), which people with any of
//! the common colour vision deficiencies can distinguish. Each is darkened (on white) or lightened
//! (on black) until a line in it has a contrast of at least 3:1 and a text at least 4.5:1 (WCAG
//! 2.2, 1.4.11 and 1.4.3); a test computes them. Since dash and marker change along with it, no
//! chart depends on colour.

use super::Theme;

/// How a line is broken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dash {
    Solid,
    Dashed,
    Dotted,
    Mixed,
    Long,
}

impl Dash {
    /// The dash of the `index`-th series where series are distinguished by it.
    pub(super) fn of_series(index: usize) -> Dash {
        [Dash::Solid, Dash::Dashed, Dash::Mixed, Dash::Dotted, Dash::Long][index % 5]
    }

    /// The class that draws it.
    pub(super) fn class(self) -> &'static str {
        match self {
            Dash::Solid => "",
            Dash::Dashed => " d1",
            Dash::Dotted => " d2",
            Dash::Mixed => " d3",
            Dash::Long => " d4",
        }
    }
}

/// The shape of a marked point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Diamond,
    Square,
    Up,
    Down,
    Pentagon,
    Star,
    Cross,
}

const SHAPES: [Shape; 8] = [
    Shape::Circle,
    Shape::Diamond,
    Shape::Square,
    Shape::Up,
    Shape::Down,
    Shape::Pentagon,
    Shape::Star,
    Shape::Cross,
];

impl Shape {
    /// The marker of the `index`-th series: with seven colours, 56 series pass before a pair
    /// repeats.
    pub(super) fn of_series(index: usize) -> Shape {
        SHAPES[index % SHAPES.len()]
    }

    /// Its corners around the origin, for a marker about as wide as 2; empty for the circle.
    pub(super) fn corners(self) -> Vec<(f64, f64)> {
        match self {
            Shape::Circle => Vec::new(),
            Shape::Diamond => ring(4, 0.0, 1.25, 1.25),
            Shape::Square => ring(4, 45.0, 1.25, 1.25),
            Shape::Up => ring(3, 0.0, 1.3, 1.3),
            Shape::Down => ring(3, 180.0, 1.3, 1.3),
            Shape::Pentagon => ring(5, 0.0, 1.2, 1.2),
            Shape::Star => ring(10, 0.0, 1.5, 0.65),
            Shape::Cross => plus(1.25, 0.45),
        }
    }
}

/// `n` points on two radii in turn, the first at `from` degrees clockwise of up.
fn ring(n: usize, from: f64, outer: f64, inner: f64) -> Vec<(f64, f64)> {
    let corner = |i: usize| {
        let angle = (from + 360.0 * i as f64 / n as f64).to_radians();
        let radius = if i.is_multiple_of(2) { outer } else { inner };
        (radius * angle.sin(), -radius * angle.cos())
    };
    (0..n).map(corner).collect()
}

fn plus(long: f64, half: f64) -> Vec<(f64, f64)> {
    let arm = [(-half, -half), (-half, -long), (half, -long)];
    let turn = |(x, y): (f64, f64), quarter: usize| match quarter {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    };
    (0..4).flat_map(|q| arm.map(|corner| turn(corner, q))).collect()
}

/// Number of colours before they repeat.
pub(super) const COLOURS: usize = 7;

/// Shades of the cells of a heat map, from weak to strong.
pub(super) const SHADES: usize = 5;

/// The class of a cell.
pub(super) fn shade_class(shade: usize) -> String {
    format!("q{}", shade.min(SHADES - 1) + 1)
}

struct Colours {
    line: [&'static str; COLOURS],
    text: [&'static str; COLOURS],
    /// The weakest stands out from the paper as a line does: a cell of one response matters.
    shade: [&'static str; SHADES],
}

const ON_LIGHT: Colours = Colours {
    line: ["#0072b2", "#d55e00", "#009270", "#b8578f", "#b07800", "#3a93c9", "#4d4d4d"],
    text: ["#0069a5", "#b34e00", "#00775a", "#a3487c", "#8a5d00", "#2474a5", "#4d4d4d"],
    shade: ["#559bcd", "#277cb9", "#155e91", "#09436c", "#03253d"],
};

const ON_DARK: Colours = Colours {
    line: ["#56b4e9", "#ff9349", "#2cc49a", "#e497c4", "#eebb3f", "#a9dbf7", "#c8c8c8"],
    text: ["#6cbfee", "#ffa264", "#43cfa8", "#e9a8ce", "#f0c357", "#b8e2f9", "#d0d0d0"],
    shade: ["#3a7099", "#418bc0", "#65a8d9", "#94c8ec", "#d1e9fa"],
};

/// What is the same in every theme; `%` stands for the root class.
const SHAPE_RULES: &str = "\
% text{font-family:Inter,'Helvetica Neue',Arial,'Liberation Sans',sans-serif;fill:$ink}\
% .b{font-weight:600}\
% .muted{fill-opacity:.7}\
% .halo{paint-order:stroke;stroke:$paper;stroke-width:4;stroke-linejoin:round}\
% .paper{fill:$paper}\
% .grid{stroke:$ink;stroke-opacity:.13;fill:none}\
% .axis{stroke:$ink;stroke-opacity:.6;fill:none}\
% .rule{stroke:$ink;stroke-opacity:.75;stroke-dasharray:2 3;fill:none}\
% .lead{stroke:$ink;stroke-opacity:.45;fill:none}\
% .ring{stroke:$ink;stroke-width:1.5;fill:none}\
% .span{fill:$ink;fill-opacity:.08}\
% .dip{fill:$c2;fill-opacity:.16}\
% .l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
% .thin{stroke-width:1.25}\
% .fine{stroke-width:.7}\
% .d1{stroke-dasharray:6 4;stroke-linecap:butt}\
% .d2{stroke-dasharray:.1 4}\
% .d3{stroke-dasharray:8 3 2 3;stroke-linecap:butt}\
% .d4{stroke-dasharray:14 4;stroke-linecap:butt}\
% .m{stroke-width:1;stroke:$paper}\
% .h{fill:$paper;stroke-width:1.75}\
% .x{stroke-width:1.5;fill:none}";

/// The root class, which keeps the rules of one chart from touching the page around it.
pub(super) const ROOT: &str = "plimsoll-chart";

/// No wider than what is around it.
pub(super) const FITTING: &str = "max-width:100%;height:auto";

/// The `<style>` content of a chart.
pub(crate) fn style_sheet(theme: Theme) -> String {
    let root = format!(".{ROOT}");
    let mut css = String::new();
    if theme == Theme::Inline {
        css.push_str(&custom_properties(&root));
    }
    let value = |name: &str, plain: &str| match theme {
        Theme::Inline => format!("var(--p-{name})"),
        Theme::Standalone => plain.to_string(),
    };
    let ink = value("ink", "#1b1e23");
    let paper = value("paper", "#ffffff");
    css.push_str(
        &SHAPE_RULES
            .replace('%', &root)
            .replace("$ink", &ink)
            .replace("$paper", &paper)
            .replace("$c2", &value("line2", ON_LIGHT.line[1])),
    );
    for i in 0..COLOURS {
        let n = i + 1;
        let line = value(&format!("line{n}"), ON_LIGHT.line[i]);
        let text = value(&format!("text{n}"), ON_LIGHT.text[i]);
        css.push_str(&format!(
            "{root} .s{n}{{stroke:{line}}}{root} .f{n}{{fill:{line}}}\
             {root} text.t{n}{{fill:{text}}}"
        ));
    }
    for (i, plain) in ON_LIGHT.shade.into_iter().enumerate() {
        let shade = value(&format!("shade{}", i + 1), plain);
        let class = shade_class(i);
        css.push_str(&format!("{root} .{class}{{fill:{shade};shape-rendering:crispEdges}}"));
    }
    css
}

/// The colours as private properties, each overridable by the page (`--chart-ink`, `--chart-paper`,
/// `--chart-line-1`, `--chart-text-1`, `--chart-shade-1` ...), else following the reader's preference; paper prints as
/// light.
fn custom_properties(root: &str) -> String {
    let set = |colours: &Colours| {
        let named = [
            ("line", &colours.line[..]),
            ("text", &colours.text[..]),
            ("shade", &colours.shade[..]),
        ];
        let each = named.into_iter().flat_map(|(name, all)| (1..).zip(all).map(move |c| (name, c)));
        each.fold(String::new(), |css, (name, (n, colour))| {
            css + &format!("--p-{name}{n}:var(--chart-{name}-{n},{colour});")
        })
    };
    format!(
        "{root}{{{FITTING};--p-ink:var(--chart-ink,currentColor);--p-paper:var(--chart-paper,Canvas);{}}}\
         @media screen and (prefers-color-scheme:dark){{{root}{{{}}}}}",
        set(&ON_LIGHT),
        set(&ON_DARK)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let c = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn colours_stand_out_from_the_paper() {
        for (colours, paper) in [(ON_LIGHT, "#ffffff"), (ON_DARK, "#1f2227")] {
            for i in 0..COLOURS {
                let (line, text) =
                    (contrast(colours.line[i], paper), contrast(colours.text[i], paper));
                assert!(line >= 3.0, "line {i} on {paper}: {line:.2}");
                assert!(text >= 4.5, "text {i} on {paper}: {text:.2}");
            }
        }
    }

    #[test]
    fn cells_stand_out_from_the_paper_and_shades_from_one_another() {
        for (colours, paper) in [(ON_LIGHT, "#ffffff"), (ON_DARK, "#1f2227")] {
            let from_paper = colours.shade.map(|shade| contrast(shade, paper));
            assert!(from_paper[0] >= 3.0, "{from_paper:.2?}");
            for pair in from_paper.windows(2) {
                assert!(pair[1] >= pair[0] * 1.4, "{from_paper:.2?}");
            }
        }
    }

    #[test]
    fn no_two_of_many_series_look_alike() {
        let looks: std::collections::HashSet<_> =
            (0..56).map(|i| (i % COLOURS, format!("{:?}", Shape::of_series(i)))).collect();
        assert_eq!(looks.len(), 56);
    }

    #[test]
    fn a_file_of_its_own_needs_no_page_around_it() {
        let css = style_sheet(Theme::Standalone);
        assert!(!css.contains("var(") && !css.contains('$') && !css.contains('%'));
        assert!(style_sheet(Theme::Inline).contains("var(--chart-ink,currentColor)"));
    }
}
