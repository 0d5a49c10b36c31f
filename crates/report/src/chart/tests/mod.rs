//! The charts as readers get them: their SVG is parsed again and looked at, their PNG decoded.
//!
//! `data` holds the figures, `page` reads an SVG back, `laws` throws arbitrary figures at every
//! kind.

mod data;
mod fonts;
mod laws;
mod page;

use resvg::tiny_skia::Pixmap;
use resvg::usvg;

use model::validity::Verdict;

use super::png::{parse, to_png};
use super::text::{Face, width};
use super::{ChartError, Curve, CurveLevel, LevelMark, Limit, Overlay, Theme, Timeline};
use data::{BEFORE, NATIVE, all, curve, diff, success, timeline};
use page::Page;

#[test]
fn every_chart_is_a_sound_page() {
    for (name, chart) in all() {
        for theme in [Theme::Standalone, Theme::Inline] {
            let svg = chart.to_svg(theme);
            Page::read(&svg)
                .unwrap_or_else(|e| panic!("{name}: {e}"))
                .check()
                .unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

#[test]
fn every_chart_speaks_to_screen_readers() {
    for (name, chart) in all() {
        let svg = chart.to_svg(Theme::Inline);
        let page = Page::read(&svg).unwrap();
        assert_eq!(page.attribute("role"), "img", "{name}");
        let [title, desc] = page.labels();
        assert!(!desc.is_empty(), "{name}");
        assert_eq!(title, super::text::clean(chart.title()), "{name}");
    }
}

#[test]
fn every_chart_has_its_data_beside_it() {
    for (name, chart) in all() {
        let table = chart.table();
        assert!(table.rows.iter().all(|row| row.len() == table.headers.len()), "{name}");
        assert_eq!(table.to_csv().matches("\r\n").count(), table.rows.len() + 1, "{name}");
    }
    let chart = curve(&NATIVE).chart();
    assert_eq!(
        chart.table().headers,
        ["concurrency", "QPS (1/s)", "mean latency (ms)", "validity"]
    );
    assert_eq!(chart.table().rows[8], ["25000", "648380.78", "344.17", "VALID"]);
    assert_eq!(chart.table().rows.len(), NATIVE.len());
    let both = diff(&[("a", &BEFORE), ("b", &NATIVE)]).chart();
    assert_eq!(both.table().rows.len(), NATIVE.len() + 1, "levels that only one has are rows too");
    assert_eq!(both.table().rows[1], ["500", "", "", "387894.92", "2.52"]);
    let mut doubtful = success(&[("", &NATIVE)]);
    doubtful.series[0].levels[0].validity = Verdict::LowerBound;
    assert_eq!(doubtful.chart().table().rows[0], ["200", "100", "LOWER_BOUND"]);
}

#[test]
fn the_same_figures_give_the_same_bytes() {
    for ((_, a), (_, b)) in all().into_iter().zip(all()) {
        let (a, b) = (a.to_svg(Theme::Standalone), b.to_svg(Theme::Standalone));
        assert_eq!(a, b);
    }
    let svg = curve(&NATIVE).chart().to_svg(Theme::Standalone);
    assert_eq!(to_png(&svg, 1.0, &[]).unwrap(), to_png(&svg, 1.0, &[]).unwrap());
}

/// The layout rests on the font's widths: what it measures must be what the renderer sets.
#[test]
fn text_is_as_wide_as_measured() {
    let svg = curve(&NATIVE).chart().to_svg(Theme::Standalone);
    let tree = parse(&svg, &[]).unwrap();
    let mut compared = 0;
    each_text(tree.root(), &mut |text| {
        let span = &text.chunks()[0].spans()[0];
        let face = if span.font().weight() == 600 { Face::SemiBold } else { Face::Regular };
        let measured = width(text.chunks()[0].text(), f64::from(span.font_size().get()), face);
        let set = f64::from(text.bounding_box().width());
        assert!(
            (set - measured).abs() < 3.0 + 0.03 * measured,
            "{:?}: {set} for {measured}",
            text.chunks()[0].text()
        );
        compared += 1;
    });
    assert!(compared > 20, "{compared}");
}

fn each_text(group: &usvg::Group, see: &mut impl FnMut(&usvg::Text)) {
    for node in group.children() {
        match node {
            usvg::Node::Group(inner) => each_text(inner, see),
            usvg::Node::Text(text) => see(text),
            _ => {}
        }
    }
}

#[test]
fn a_png_has_the_size_asked_for_and_shows_the_lines() {
    let chart = curve(&NATIVE).chart();
    let svg = chart.to_svg(Theme::Standalone);
    let height = Page::read(&svg).unwrap().height();
    let image = Pixmap::decode_png(&chart.to_png(2.0, &|_| Vec::new()).unwrap()).unwrap();
    assert_eq!((f64::from(image.width()), f64::from(image.height())), (1520.0, height * 2.0));
    let count = |r, g, b| {
        image
            .pixels()
            .iter()
            .filter(|p| (p.red(), p.green(), p.blue(), p.alpha()) == (r, g, b, 255))
            .count()
    };
    assert!(count(255, 255, 255) > image.pixels().len() / 2, "white paper");
    assert!(count(0x00, 0x72, 0xb2) > 3_000, "the QPS line");
    assert!(count(0xd5, 0x5e, 0x00) > 1_000, "the latency line");
    assert!(count(0x1b, 0x1e, 0x23) > 500, "words in the embedded font");
}

#[test]
fn images_out_of_all_proportion_are_refused() {
    let svg = curve(&NATIVE).chart().to_svg(Theme::Standalone);
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e9, 100.0] {
        assert!(matches!(to_png(&svg, scale, &[]), Err(ChartError::Size { .. })), "{scale}");
    }
    assert!(matches!(to_png("<svg", 1.0, &[]), Err(ChartError::NotSvg(_))));
}

#[test]
fn a_png_reads_no_file() {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4' \
               xmlns:xlink='http://www.w3.org/1999/xlink'>\
               <image xlink:href='Cargo.toml' width='4' height='4'/></svg>";
    let image = Pixmap::decode_png(&to_png(svg, 1.0, &[]).unwrap()).unwrap();
    assert!(image.pixels().iter().all(|p| p.alpha() == 0));
}

#[test]
fn published_figures_read_as_their_author_meant() {
    let native = curve(&NATIVE).chart();
    assert_eq!(
        native.subtitle(),
        "QPS peaks at 648,381 with 25,000 connections, where the mean latency is 344ms. \
         By 1,000,000 connections it has \
         fallen to 3.23 % of that."
    );
    let both = diff(&[("before", &BEFORE), ("native", &NATIVE)]).chart();
    assert!(both.subtitle().contains("22.80 %"), "{}", both.subtitle());
    let rate = success(&[("", &NATIVE)]).chart();
    assert_eq!(
        rate.subtitle(),
        "Requests begin to fail at 50,000 connections; success is lowest, 83.15 % at \
         1,000,000 connections."
    );
}

#[test]
fn two_servers_have_a_panel_for_each_figure() {
    for chart in [
        diff(&[("before", &BEFORE), ("native", &NATIVE)]).chart(),
        diff(&[("a", &BEFORE), ("b", &NATIVE), ("c", &BEFORE)]).chart(),
    ] {
        let headings = chart.panels.iter().map(|panel| panel.heading[0].label.as_str());
        assert_eq!(headings.collect::<Vec<_>>(), ["QPS (requests/s)", "mean latency (ms)"]);
        assert!(chart.panels.iter().all(|panel| panel.right.is_none()));
    }
}

#[test]
fn every_level_is_marked_and_the_best_named() {
    let svg =
        Curve { best: Some(8), best_within: Some(4), objective_s: Some(0.1), ..curve(&NATIVE) }
            .chart()
            .to_svg(Theme::Standalone);
    let page = Page::read(&svg).unwrap();
    for words in [
        "best 648,381 at 25,000",
        "best within 100ms: 623,458 at 5,000",
        "objective 100ms",
        "200",
        "1M",
    ] {
        assert!(page.says(words), "{words}");
    }
    assert_eq!(
        svg.matches("class=\"m f1\"").count(),
        NATIVE.len() + 1,
        "QPS markers and the one in the key"
    );
    assert_eq!(svg.matches("class=\"ring\"").count(), 2);
}

#[test]
fn doubtful_levels_are_hollow_and_explained() {
    let mut input = curve(&NATIVE);
    input.levels[2].validity = Verdict::LowerBound;
    input.levels[3].validity = Verdict::Invalid;
    let svg = input.chart().to_svg(Theme::Standalone);
    let page = Page::read(&svg).unwrap();
    assert_eq!(svg.matches("class=\"h s1\"").count(), 2);
    assert_eq!(svg.matches("class=\"x s1\"").count(), 2);
    assert!(page.says("LOWER_BOUND: QPS is at least this") && page.says("INVALID: do not quote"));
    let sound = curve(&NATIVE).chart().to_svg(Theme::Standalone);
    assert!(!sound.contains("class=\"h "));
}

#[test]
fn an_objective_far_above_is_named_and_not_drawn() {
    let far = Curve { objective_s: Some(30.0), ..curve(&NATIVE) }.chart().to_svg(Theme::Standalone);
    assert!(Page::read(&far).unwrap().says("The objective, 30s, lies far above this scale."));
    assert!(!far.contains("class=\"rule\""));
}

#[test]
fn overlays_stay_inside_the_plot() {
    let overlay = Overlay {
        name: "USL".into(),
        points: vec![(200.0, 0.0), (5_000.0, 1e15), (1e6, 2e5), (1e9, 1.0)],
    };
    let marks = vec![
        LevelMark { level: 300.0, label: "knee".into() },
        LevelMark { level: 1e12, label: "beyond".into() },
    ];
    let svg = Curve { overlays: vec![overlay], marks, ..curve(&NATIVE) }
        .chart()
        .to_svg(Theme::Standalone);
    Page::read(&svg).unwrap().check().unwrap();
    assert_eq!(
        svg.matches("class=\"rule\"").count(),
        1,
        "only the mark that lies on the axis is drawn"
    );
}

#[test]
fn a_peak_of_one_second_survives_two_hours() {
    let mut input = Timeline { seconds: (0..7_200).map(timeline).collect(), ..Default::default() };
    let before = input.chart().to_svg(Theme::Standalone);
    input.seconds[4_321].max_s = Some(29.0);
    let after = input.chart().to_svg(Theme::Standalone);
    assert_ne!(before, after);
    assert!(Page::read(&after).unwrap().says("10s"), "the latency axis reaches the peak");
    assert!(after.len() < 400_000, "{} bytes", after.len());
    assert_eq!(input.chart().table().rows.len(), 7_200);
}

#[test]
fn limits_lie_across_the_latencies_unless_they_would_flatten_them() {
    let limit = |label: &str, latency_s| Limit { label: label.into(), latency_s };
    let svg = Timeline {
        seconds: (0..60).map(timeline).collect(),
        limits: vec![limit("p99<1s", 1.0), limit("mean<10ms", 0.01), limit("max<1h", 3_600.0)],
        ..Default::default()
    }
    .chart()
    .to_svg(Theme::Standalone);
    let page = Page::read(&svg).unwrap();
    page.check().unwrap();
    assert_eq!(svg.matches("class=\"rule\"").count(), 2);
    assert!(page.says("p99<1s") && page.says("mean<10ms"));
    assert!(page.says("The limit of max<1h lies far outside the latencies."));
}

#[test]
fn ten_thousand_levels_stay_readable() {
    let level = |i: u32| CurveLevel {
        level: f64::from(i + 1),
        requests_per_s: 1e5 - f64::from(i % 97),
        mean_s: 0.01,
        ..Default::default()
    };
    let svg = Curve { levels: (0..10_000).map(level).collect(), ..Default::default() }
        .chart()
        .to_svg(Theme::Standalone);
    Page::read(&svg).unwrap().check().unwrap();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
}

#[test]
fn a_page_can_set_the_colours_and_a_file_needs_none() {
    let chart = curve(&NATIVE).chart();
    let inline = chart.to_svg(Theme::Inline);
    for needed in
        ["var(--chart-ink,currentColor)", "var(--chart-paper,Canvas)", "prefers-color-scheme:dark"]
    {
        assert!(inline.contains(needed), "{needed}");
    }
    let file = chart.to_svg(Theme::Standalone);
    assert!(!file.contains("var(") && file.contains("class=\"paper\""));
}
