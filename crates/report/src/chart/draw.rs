//! From a chart to its SVG: the document around the plots. The inside of a plot is `plot`'s.

use model::validity::Verdict;

use super::fallback::Fallback;
use super::frame::{
    Frame, LABEL_SIZE, NOTE_SIZE, PAD, PlacedKey, SAMPLE_WIDTH, SHADE_WIDTH, SUBTITLE_SIZE,
    TITLE_SIZE, WIDTH, row, sample_width,
};
use super::marker::{line_class, marker};
use super::palette::{COLOURS, FITTING, ROOT, Shape, shade_class, style_sheet};
use super::parts::Sample;
use super::plot;
use super::scale::Scale;
use super::svg::{Anchor, Rect, Run, Svg, coordinate, escape, plain};
use super::text::{CAP_HEIGHT, Face, clean};
use super::{Chart, Theme, number};

/// The chart as an SVG document (or fragment: it has no XML declaration, so it is both), written
/// into an `svg` that nothing was written to.
pub(super) fn document(chart: &Chart, theme: Theme, mut svg: Svg) -> (String, Fallback) {
    let frame = Frame::of(chart, theme);
    open(&mut svg, chart, &frame, theme);
    header(&mut svg, chart, &frame);
    for (i, panel) in chart.panels.iter().enumerate() {
        let rect = frame.plots[i];
        let y = frame.heading_y(i);
        let both = !panel.right_heading.is_empty();
        let room =
            (WIDTH - 2.0 * PAD) * if both { 0.5 } else { 1.0 } - if both { 10.0 } else { 0.0 };
        for key in row(&panel.heading, PAD, false, room, y) {
            draw_key(&mut svg, &key);
        }
        for key in row(&panel.right_heading, WIDTH - PAD, true, room, y) {
            draw_key(&mut svg, &key);
        }
        let view = plot::View { rect, x: &chart.x, left: &panel.left, right: panel.right.as_ref() };
        let last = i + 1 == chart.panels.len();
        plot::draw(&mut svg, &view, panel, &chart.bands, last);
    }
    lane_labels(&mut svg, chart, &frame);
    footer(&mut svg, chart, &frame);
    svg.raw("</svg>");
    svg.finish()
}

fn open(svg: &mut Svg, chart: &Chart, frame: &Frame, theme: Theme) {
    let id = identity(chart);
    let height = coordinate(frame.height);
    let width = coordinate(WIDTH);
    let pointer = pointer_data(chart, frame);
    // A page's content policy allows no style attribute: there the style sheet says it.
    let fitting = match theme {
        Theme::Standalone => format!(" style=\"{FITTING}\""),
        Theme::Inline => String::new(),
    };
    svg.raw(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{ROOT}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\"{fitting}{pointer}>"
    ));
    svg.raw(&format!("<title id=\"{id}-title\">{}</title>", escape(&clean(&chart.title))));
    svg.raw(&format!("<desc id=\"{id}-desc\">{}</desc>", escape(&clean(&chart.desc))));
    svg.raw(&format!("<style>{}</style>", style_sheet(theme)));
    if theme == Theme::Standalone {
        svg.rect(&Rect { left: 0.0, top: 0.0, right: WIDTH, bottom: frame.height }, "paper");
    }
}

/// What a script needs to turn a pointer's place into a value of x: the ends of a linear x axis, in
/// pixels and values.
fn pointer_data(chart: &Chart, frame: &Frame) -> String {
    let (Scale::Linear { lo, hi }, Some(plot)) = (chart.x.scale, frame.plots.first()) else {
        return String::new();
    };
    let (start, end) = chart.x.inset;
    format!(
        " data-left=\"{}\" data-right=\"{}\" data-from=\"{}\" data-to=\"{}\"",
        coordinate(plot.left + start),
        coordinate(plot.right - end),
        number::plain(lo),
        number::plain(hi)
    )
}

/// A name for this chart's elements that other charts of the page do not use: FNV-1a of its words
/// and data.
fn identity(chart: &Chart) -> String {
    let words = [chart.title.as_str(), &chart.subtitle, &chart.desc, &chart.x_title];
    let cells = chart.table.headers.iter().chain(chart.table.rows.iter().flatten());
    let bytes = words.into_iter().chain(cells.map(String::as_str)).flat_map(str::bytes);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("chart-{hash:016x}")
}

fn header(svg: &mut Svg, chart: &Chart, frame: &Frame) {
    let room = WIDTH - 2.0 * PAD;
    if let Some(y) = frame.title_y {
        svg.text(&Run {
            x: PAD,
            y,
            anchor: Anchor::Start,
            size: TITLE_SIZE,
            face: Face::SemiBold,
            class: "title",
            text: &chart.title,
            room,
        });
    }
    for (y, line) in &frame.subtitle {
        svg.text(&plain(PAD, *y, SUBTITLE_SIZE, "muted", line, room));
    }
    for key in &frame.keys {
        draw_key(svg, key);
    }
}

fn footer(svg: &mut Svg, chart: &Chart, frame: &Frame) {
    let Some(plot) = frame.plots.last() else { return };
    svg.text(&Run {
        anchor: Anchor::Middle,
        ..plain(
            (plot.left + plot.right) / 2.0,
            frame.x_title_y,
            LABEL_SIZE,
            "muted",
            &chart.x_title,
            plot.width(),
        )
    });
    for (y, line) in &frame.notes {
        svg.text(&plain(PAD, *y, NOTE_SIZE, "muted", line, WIDTH - 2.0 * PAD));
    }
}

fn lane_labels(svg: &mut Svg, chart: &Chart, frame: &Frame) {
    let Some(plot) = frame.plots.first() else { return };
    for (band, lane) in chart.bands.iter().zip(&frame.lanes) {
        let Some(lane) = lane else { continue };
        let y = plot.top - super::frame::LANE_HEIGHT * lane.row as f64 - 4.0;
        if lane.row > 0 && band.from == band.to {
            svg.line((lane.line, plot.top), (lane.line, y + 3.0), "lead");
        }
        svg.text(&plain(lane.left, y, NOTE_SIZE, "muted", &band.label, lane.right - lane.left));
    }
}

fn draw_key(svg: &mut Svg, placed: &PlacedKey) {
    let key = placed.key;
    let middle = placed.y - LABEL_SIZE * CAP_HEIGHT / 2.0;
    match key.sample {
        Sample::None => {}
        Sample::Line(style) => {
            svg.line((placed.x, middle), (placed.x + SAMPLE_WIDTH, middle), &line_class(&style));
            if let Some(shape) = style.shape {
                marker(
                    svg,
                    (placed.x + SAMPLE_WIDTH / 2.0, middle),
                    shape,
                    style.colour,
                    Verdict::Valid,
                );
            }
        }
        Sample::Doubtful(validity) => {
            marker(svg, (placed.x + 5.0, middle), Shape::Circle, COLOURS - 1, validity);
        }
        Sample::Shade(shade) => {
            let (left, top) = (placed.x, middle - 5.0);
            let patch = Rect { left, top, right: left + SHADE_WIDTH, bottom: top + 10.0 };
            svg.rect(&patch, &shade_class(shade));
        }
    }
    let class = key.tone.map_or_else(String::new, |tone| format!("t{}", tone % COLOURS + 1));
    svg.text(&Run {
        face: if key.tone.is_some() { Face::SemiBold } else { Face::Regular },
        ..plain(placed.x + sample_width(key), placed.y, LABEL_SIZE, &class, &key.label, placed.room)
    });
}
