//! One server judged against another: the table and the judgement for a terminal, CSV for other
//! programs, the picture of its effects.
//!
//! Owns words and layout. What was found out is `verdict`'s and comes in as a [`Comparison`].

use model::LevelKind;
use model::units::show_duration;
use verdict::comparison::levels::AtLevel;
use verdict::comparison::{Comparison, Effect, Measure, Word, change, size};
use verdict::figures::levels_of;

use crate::chart::{EffectRow, Effects};
use crate::csv::cell;
use crate::figure::{clean, distinct_names, rate};
use crate::grid::{Grid, Lean};
use crate::text::{self, Style, Tone};

const LONGEST: usize = 2000;
/// The columns of the table that a narrow one leaves out: `detectable`, and then the interval.
const SPARE: &[usize] = &[5, 4];
/// A line of fewer columns has no room for the interval.
const NARROW: usize = 56;
/// What the columns of the table take beside those that are headed by names.
const OTHERS: usize = 66;

/// The table, the judgement, and what goes with it.
pub fn text(comparison: &Comparison, style: Style) -> String {
    let mut out = table(comparison, style);
    if !comparison.effects.is_empty() {
        out += &paragraph(&format!("Judged by {}.", comparison.by), "", style);
        out.push('\n');
    }
    out += &style.paint(Tone::Strong, paragraph(&comparison.sentence(), "", style).trim_end());
    out.push('\n');
    out + &comparison.notes.iter().map(|note| paragraph(note, "- ", style)).collect::<String>()
}

/// A line an effect; nothing without effects.
fn table(comparison: &Comparison, style: Style) -> String {
    if comparison.effects.is_empty() {
        return String::new();
    }
    let figures = std::iter::repeat_n(Lean::Right, 5);
    let leans = [Lean::Left].into_iter().chain(figures).chain([Lean::Left]);
    let spare = if style.columns < NARROW { SPARE } else { &SPARE[..1] };
    let mut grid = Grid::new(leans).spare(spare);
    let most = (style.columns.saturating_sub(OTHERS) / 2).clamp(10, 24);
    let [a, b] = distinct_names(comparison.names.each_ref().map(String::as_str), most);
    grid.row(["", &a, &b, "change", "interval (95 %)", "detectable", "verdict"]);
    comparison.effects.iter().for_each(|effect| grid.row(cells(comparison, effect)));
    grid.print_headed(style) + "\n"
}

/// Judgements level by level: for one level everything, for several a line each.
pub fn levels(judged: &[AtLevel], kind: LevelKind, style: Style) -> String {
    match judged {
        [] => String::new(),
        [one] => format!("\n{}", text(&one.comparison, style)),
        several => {
            let lines = level_sentences(several, kind);
            let lines: String = lines.iter().map(|line| paragraph(line, "- ", style)).collect();
            format!("\n{}\n{lines}", style.paint(Tone::Strong, "Judged level by level:"))
        }
    }
}

/// Each level's sentence, and what goes with the judgements; levels without a judgement for the same reasons together, and
/// those of a note that is not all levels'.
pub(crate) fn level_sentences(judged: &[AtLevel], kind: LevelKind) -> Vec<String> {
    let mut lines: Vec<(Vec<f64>, String)> = Vec::new();
    for at in judged {
        let sentence = at.comparison.sentence();
        match lines.last_mut() {
            Some((places, known)) if *known == sentence => places.push(at.level),
            _ => lines.push((vec![at.level], sentence)),
        }
    }
    let lines =
        lines.into_iter().map(|(places, known)| format!("{}: {known}", levels_of(kind, &places)));
    lines.chain(level_notes(judged, kind)).collect()
}

/// The notes of all levels, each once.
fn level_notes(judged: &[AtLevel], kind: LevelKind) -> impl Iterator<Item = String> {
    let mut notes: Vec<(&str, Vec<f64>)> = Vec::new();
    for at in judged {
        for note in &at.comparison.notes {
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, places)) => places.push(at.level),
                None => notes.push((note.as_str(), vec![at.level])),
            }
        }
    }
    notes.into_iter().map(move |(note, places)| match places.len() == judged.len() {
        true => note.to_owned(),
        false => format!("{}: {note}", levels_of(kind, &places)),
    })
}

/// An effect's figures as text, in the order of the table's columns.
pub(crate) fn cells(comparison: &Comparison, effect: &Effect) -> [String; 7] {
    [
        effect.measure.name().to_owned(),
        figure(effect.measure, effect.a),
        figure(effect.measure, effect.b),
        change(effect.ratio),
        format!("{} .. {}", change(effect.low), change(effect.high)),
        size(effect.smallest_seen),
        word(comparison, effect).to_owned(),
    ]
}

/// What is said of an effect: nothing that the judgement takes back.
fn word(comparison: &Comparison, effect: &Effect) -> &'static str {
    if comparison.judgement().is_some() { effect.word.name() } else { "not judged" }
}

fn figure(measure: Measure, value: f64) -> String {
    if measure == Measure::Qps { rate(value) } else { show_duration(value.round() as u64) }
}

fn paragraph(text: &str, mark: &str, style: Style) -> String {
    text::paragraph(&clean(text, LONGEST), mark, style)
}

/// The effects as CSV: responses per second and nanoseconds, ratios as plain numbers.
pub fn csv(comparison: &Comparison) -> String {
    let header = "figure,old,new,ratio,low,high,smallest_seen,rounds_needed,word";
    let row = |effect: &Effect| {
        let Effect { a, b, ratio, low, high, smallest_seen, .. } = *effect;
        let mut cells = vec![effect.measure.name().to_owned()];
        cells.extend([a, b, ratio, low, high, smallest_seen].map(|number| number.to_string()));
        cells.extend([cell(effect.rounds_needed), word(comparison, effect).to_owned()]);
        cells
    };
    let header = header.split(',').map(String::from).collect();
    crate::csv::csv(
        std::iter::once::<Vec<String>>(header).chain(comparison.effects.iter().map(row)),
    )
}

/// The picture of effects and intervals.
pub fn chart(comparison: &Comparison) -> Effects {
    let [a, b] = distinct_names(comparison.names.each_ref().map(String::as_str), 40);
    let row = |effect: &Effect| EffectRow {
        name: effect.measure.name().to_owned(),
        ratio: effect.ratio,
        low: effect.low,
        high: effect.high,
        word: word(comparison, effect).to_owned(),
    };
    Effects {
        title: format!("{b} against {a}"),
        subtitle: clean(&comparison.sentence(), LONGEST),
        margin: comparison.margin,
        rows: comparison.effects.iter().map(row).collect(),
    }
}

/// The class of a word on a page, and its sign.
pub(crate) const fn class_and_sign(word: Option<Word>) -> (&'static str, &'static str) {
    match word {
        Some(Word::Same | Word::Faster) => ("valid", "✓"),
        Some(Word::Slower) => ("invalid", "✕"),
        Some(Word::CannotTell) | None => ("bound", "?"),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::chart::Theme;

    fn comparison() -> Comparison {
        let effect = |measure, a: f64, b: f64, low, high, word| Effect {
            measure,
            a,
            b,
            ratio: b / a,
            low,
            high,
            word,
            smallest_seen: 0.031,
            rounds_needed: Some(9),
        };
        Comparison {
            names: ["old".into(), "new <b>".into()],
            margin: 0.02,
            by: "6 interleaved rounds".into(),
            effects: vec![
                effect(Measure::Qps, 12_000.0, 10_800.0, 0.88, 0.92, Word::Slower),
                effect(
                    Measure::Percentile(&model::PERCENTILES[4]),
                    8e6,
                    8.1e6,
                    0.97,
                    1.05,
                    Word::CannotTell,
                ),
            ],
            word: Word::Slower,
            withheld: Vec::new(),
            invalid: false,
            notes: vec!["the machine was busy".into()],
        }
    }

    #[test]
    fn the_text_says_effect_interval_and_word() {
        let text = text(&comparison(), Style::default());
        for needle in [
            "QPS",
            "-10.0 %",
            "-12.0 % .. -8.0 %",
            "SLOWER: new <b> against old: QPS -10.0 %",
            "- the machine was busy",
        ] {
            assert!(text.contains(needle), "{needle} is not in\n{text}");
        }
    }

    #[test]
    fn what_is_not_judged_is_called_neither_faster_nor_slower() {
        let mut comparison = comparison();
        comparison.withheld = vec!["a run of old is LOWER_BOUND".into()];
        let shown = text(&comparison, Style::default()) + &csv(&comparison);
        assert!(!shown.contains("SLOWER") && shown.contains("not judged"), "{shown}");
        comparison.judge_anyway();
        let shown = text(&comparison, Style::default());
        assert!(
            shown.contains("SLOWER: new") && shown.contains("- judged although a run"),
            "{shown}"
        );
    }

    #[test]
    fn a_narrow_terminal_has_whole_words_and_fewer_columns() {
        for columns in [40, 50, 60, 80] {
            let shown = table(&comparison(), Style { columns, ..Style::default() });
            assert!(shown.lines().all(|line| line.width() <= columns), "{shown}");
            assert!(shown.contains("SLOWER") && shown.contains("CANNOT_TELL"), "{shown}");
            assert_eq!(shown.contains("-12.0 % .. -8.0 %"), columns >= 56, "{shown}");
            assert!(!shown.contains('…'), "{shown}");
        }
    }

    #[test]
    fn what_goes_with_one_level_is_reported_beside_what_goes_with_all() {
        let at = |level, note: Option<&str>| {
            let mut comparison = comparison();
            comparison.notes.extend(note.map(str::to_owned));
            AtLevel { level, comparison }
        };
        let judged =
            [at(4.0, None), at(8.0, Some("judged although it is INVALID")), at(16.0, None)];
        let text = levels(&judged, LevelKind::Concurrency, Style::default());
        assert!(text.contains("- 8 connections: judged although it is INVALID"), "{text}");
        assert!(text.contains("- 4, 8 and 16 connections: SLOWER"), "{text}");
        assert!(text.contains("- the machine was busy"), "{text}");
    }

    #[test]
    fn nothing_is_judged_by_no_rounds() {
        let mut comparison = comparison();
        assert!(text(&comparison, Style::default()).contains("Judged by 6 interleaved rounds."));
        comparison.effects.clear();
        comparison.by = "0 interleaved rounds".into();
        let text = text(&comparison, Style::default());
        assert!(!text.contains("Judged by"), "{text}");
    }

    #[test]
    fn csv_and_picture_have_a_row_an_effect() {
        let csv = csv(&comparison());
        assert_eq!(csv.lines().count(), 3);
        assert!(csv.starts_with("figure,old,new,ratio,"), "{csv}");
        assert!(csv.contains("QPS,12000,10800,0.9,0.88,0.92,0.031,9,SLOWER"), "{csv}");
        let chart = chart(&comparison()).chart();
        assert_eq!(chart.table().rows.len(), 2);
        let svg = chart.to_svg(Theme::Standalone);
        assert!(svg.contains("margin 2 %") && svg.contains("p99") && svg.contains("-10"), "{svg}");
    }

    #[test]
    fn the_page_escapes_names_and_withholds_aloud() {
        let mut comparison = comparison();
        comparison.withheld = vec!["they answered differently".into()];
        let page = crate::html::comparison(&crate::html::Compared {
            comparison: &comparison,
            command: &["plimsoll".into()],
            source: &["2026-11-23 12:01 UTC".into()],
            rounds: &[],
        });
        assert!(page.contains("not judged, because they answered differently"), "{page}");
        // The head of the page has it, and no chart again.
        assert!(page.contains("aria-label=\"Change of each figure\""), "{page}");
        assert!(!page.contains("<b>"), "{page}");
    }
}
