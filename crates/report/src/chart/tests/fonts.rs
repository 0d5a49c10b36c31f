//! Pictures in other scripts: every character is drawn by some font or spelled, never a box.

use std::collections::BTreeSet;

use resvg::usvg;

use super::super::png::parse;
use super::super::{Chart, OtherFont, Theme};
use super::data::{NATIVE, curve, diff};
use super::each_text;

/// Inter's Я under the names of 日 and U+10FF00, which no machine has.
const TWO: &[u8] = include_bytes!("../../../assets/fonts/test-two-characters.otf");

fn two(lacking: &BTreeSet<char>) -> Vec<OtherFont> {
    assert!(lacking.contains(&'日'));
    OtherFont::faces(TWO.to_vec())
}

fn none(_: &BTreeSet<char>) -> Vec<OtherFont> {
    Vec::new()
}

fn named(title: &str) -> Chart {
    let mut input = curve(&NATIVE);
    input.title = title.into();
    input.chart()
}

/// The texts of a picture, and how many of their glyphs are the box that stands for a missing one.
fn picture(
    chart: &Chart,
    search: &dyn Fn(&BTreeSet<char>) -> Vec<OtherFont>,
) -> (Vec<String>, usize) {
    let (svg, fonts) = chart.for_png(search);
    let (mut texts, mut boxes) = (Vec::new(), 0);
    each_text(parse(&svg, &fonts).unwrap().root(), &mut |text: &usvg::Text| {
        texts.push(text.chunks().iter().map(usvg::TextChunk::text).collect());
        let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
        boxes += glyphs.filter(|glyph| glyph.id.0 == 0).count();
    });
    (texts, boxes)
}

#[test]
fn european_names_need_no_other_font() {
    let never = |lacking: &BTreeSet<char>| -> Vec<OtherFont> { panic!("{lacking:?}") };
    for name in
        ["Проверка сервиса", "Έλεγχος φόρτου", "Kiểm tra tải", "Měření București", "ґїє № €"]
    {
        let (texts, boxes) = picture(&named(name), &never);
        assert!(texts[0].contains(name) && boxes == 0, "{texts:?}: {boxes}");
    }
}

#[test]
fn what_no_font_has_is_spelled() {
    let (texts, boxes) = picture(&named("日本 apiserver 😀"), &none);
    assert!(texts[0].contains("U+65E5 U+672C apiserver U+1F600"), "{:?}", texts[0]);
    assert_eq!(boxes, 0);
    let both = diff(&[("測試前", &NATIVE), ("b", &NATIVE)]).chart();
    let (texts, boxes) = picture(&both, &none);
    assert!(texts.iter().any(|text| text.contains("U+6E2C U+8A66")), "{texts:?}");
    assert_eq!(boxes, 0);
}

#[test]
fn what_another_font_has_is_drawn_in_it() {
    let chart = named("Q 日本 日\u{10ff00}");
    let (texts, boxes) = picture(&chart, &two);
    assert!(texts[0].contains("Q 日 U+672C 日\u{10ff00}"), "{:?}", texts[0]);
    assert_eq!(boxes, 0);
    assert_ne!(chart.to_png(1.0, &two).unwrap(), chart.to_png(1.0, &none).unwrap());
}

#[test]
fn a_file_for_readers_with_fonts_keeps_its_words() {
    let svg = named("日本").to_svg(Theme::Standalone);
    assert!(svg.contains("日本") && !svg.contains("U+65E5") && !svg.contains("tspan"));
}

#[test]
fn hostile_names_are_drawn_within_bounds() {
    let many: String = (0x4e00..0x9fff).filter_map(char::from_u32).collect();
    for name in [many.as_str(), "\u{202e}\u{200b}", "e\u{301}\u{323}", "<tspan>日&", "\u{ffff}日"]
    {
        let (_, boxes) = picture(&named(name), &|_| OtherFont::faces(TWO.to_vec()));
        assert_eq!(boxes, 0, "{name:.20}");
    }
}
