//! Objectives in a terminal: a line each, what it rests on below it, and what they come to.

use model::run::Run;
use model::sweep::Level;
use model::{Abort, Judgement, Ruling, Sweep};
use verdict::figures::level_of;
use verdict::objective::levels::{Holding, holds};
use verdict::objective::words::{conclusion, figure, interval};

use super::{Style, Tone, paragraph, paragraph_in};
use crate::figure::{clean, level};
use crate::grid::{Grid, Lean};

/// Longest a sentence may be.
const LONGEST: usize = 1000;

/// The objectives of a run and the rule that ended it; nothing when it has neither.
pub fn section(run: &Run, style: Style) -> Option<String> {
    let aborted = run.aborted.as_ref().map(|abort| aborted(abort, style));
    if run.objectives.is_empty() {
        return aborted;
    }
    let mut out = aborted.map_or_else(String::new, |text| text + "\n");
    out += &style.paint(Tone::Strong, "Objectives");
    if let Some(preset) = preset(&run.objectives) {
        out += &format!(" ({}, in order of priority)", clean(preset, 40));
    }
    out.push('\n');
    let mut grid = Grid::new([Lean::Left, Lean::Left, Lean::Left, Lean::Right, Lean::Left]);
    run.objectives.iter().for_each(|held| grid.row(cells(held)));
    for (lines, held) in grid.rows(style.columns).iter().zip(&run.objectives) {
        let name = held.ruling.name();
        out += &lines.replacen(name, &style.paint(tone(held.ruling), name), 1);
        out.push('\n');
        out += &paragraph(&clean(&held.reason, LONGEST), "      ", style);
    }
    out +=
        &conclusion(&run.objectives).map_or_else(String::new, |words| paragraph(&words, "", style));
    Some(out)
}

/// A line an objective, with the reason of one that is not met; nothing without any.
pub(super) fn brief(run: &Run, style: Style) -> Option<String> {
    let aborted = run.aborted.as_ref().map(|abort| aborted(abort, style));
    let line = |held: &Judgement| {
        let name = held.ruling.name();
        let value = value(held).map_or_else(String::new, |value| format!(": {value}"));
        let reason = match held.ruling {
            Ruling::Pass => String::new(),
            _ => format!(" ({})", held.reason),
        };
        let words = format!("{name} {}{value}{reason}", held.objective);
        let lines = paragraph_in(&clean(&words, LONGEST), "", style.columns);
        lines.replacen(name, &style.paint(tone(held.ruling), name), 1)
    };
    let lines: String = aborted.into_iter().chain(run.objectives.iter().map(line)).collect();
    (!lines.is_empty()).then_some(lines)
}

/// The objectives of a sweep: a line a level, and the highest level that holds them.
pub fn sweep(sweep: &Sweep, holding: &Holding, style: Style) -> String {
    let names = names(sweep);
    let leans = [Lean::Right].into_iter().chain(vec![Lean::Left; names.len() + 1]);
    let mut grid = Grid::new(leans);
    let heads = names.iter().map(|name| clean(name, 40));
    grid.row([sweep.kind.name().to_owned()].into_iter().chain(heads).chain([String::new()]));
    for (at, held) in sweep.levels.iter().enumerate() {
        let cells = names.iter().map(|name| ruling(held, name));
        let mark = match holding.highest {
            Some(highest) if highest == at => "◀ highest level that meets them",
            _ if holds(held) => "meets them",
            _ => "",
        };
        grid.row([level(held.level)].into_iter().chain(cells).chain([mark.to_owned()]));
    }
    let table = match grid.fits_before_the_last(style.columns) {
        true => grid.print_headed(style),
        false => levels(sweep, &names, style),
    };
    table + "\n" + &paragraph(&clean(&holding.sentence, LONGEST), "", style)
}

/// A block a level, where a table would have to cut figures.
fn levels(sweep: &Sweep, names: &[&str], style: Style) -> String {
    let mut out = String::new();
    for held in &sweep.levels {
        let all = if holds(held) { ": meets them" } else { "" };
        let head = format!("{}{all}", level_of(sweep.kind, held.level));
        out += &(style.paint(Tone::Strong, &head) + "\n");
        for name in names {
            let words = format!("{name}: {}", ruling(held, name));
            out += &paragraph_in(&clean(&words, LONGEST), "  ", style.columns);
        }
    }
    out
}

/// An objective's ruling at a level, with its figure.
fn ruling(held: &Level, name: &str) -> String {
    let Some(held) = judged(held, name) else { return "-".to_owned() };
    match value(held) {
        Some(value) => format!("{} {value}", held.ruling.name()),
        None => held.ruling.name().to_owned(),
    }
}

/// The objectives that any level was judged by, in the order in which they come.
pub(crate) fn names(sweep: &Sweep) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for held in sweep.levels.iter().flat_map(|held| &held.run.objectives) {
        if !names.contains(&held.objective.as_str()) {
            names.push(&held.objective);
        }
    }
    names
}

/// What became of an objective at a level, if it was judged there.
pub(crate) fn judged<'a>(level: &'a Level, name: &str) -> Option<&'a Judgement> {
    level.run.objectives.iter().find(|held| held.objective == name)
}

fn aborted(abort: &Abort, style: Style) -> String {
    let words = format!("by --abort-on '{}': {}.", abort.rule, abort.text);
    let text = paragraph_in(&clean(&words, LONGEST), "ABORTED ", style.columns);
    text.replacen("ABORTED", &style.paint(Tone::Bad, "ABORTED"), 1)
}

/// The preset that all objectives come from, if one does.
pub(crate) fn preset(judgements: &[Judgement]) -> Option<&str> {
    let first = judgements.first()?.preset.as_deref()?;
    judgements.iter().all(|held| held.preset.as_deref() == Some(first)).then_some(first)
}

fn cells(held: &Judgement) -> [String; 5] {
    let priority = held.priority.map_or_else(String::new, |priority| format!("{priority}."));
    [
        format!(" {priority}"),
        held.ruling.name().to_owned(),
        clean(&held.objective, 50),
        value(held).unwrap_or_default(),
        interval(held).map_or_else(String::new, |words| format!("({words})")),
    ]
}

fn value(held: &Judgement) -> Option<String> {
    Some(figure(held.unit?, held.value?))
}

const fn tone(ruling: Ruling) -> Tone {
    match ruling {
        Ruling::Pass => Tone::Good,
        Ruling::Fail => Tone::Bad,
        Ruling::Inconclusive => Tone::Doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::text::COLUMNS;

    #[test]
    fn objectives_in_a_terminal() {
        insta::assert_snapshot!(section(&sample::judged_run(), Style::default()).unwrap());
        assert_eq!(section(&sample::closed_loop(), Style::default()), None);
    }

    #[test]
    fn a_preset_is_shown_in_its_order() {
        let mut run = sample::judged_run();
        for (held, priority) in run.objectives.iter_mut().zip([1, 2, 3, 3]) {
            (held.preset, held.priority) = (Some("baseline".into()), Some(priority));
        }
        let text = section(&run, Style::default()).unwrap();
        assert!(text.contains("Objectives (baseline, in order of priority)"), "{text}");
        assert!(text.contains("\n 1.  PASS") && text.contains("\n 3.  INCONCLUSIVE"), "{text}");
    }

    #[test]
    fn an_abort_is_reported() {
        let run = sample::aborted();
        let text = section(&run, Style::default()).unwrap();
        assert_eq!(
            text,
            "ABORTED by --abort-on 'p99>2s for 10s': p99>2s held for 10.0s; last value 3.10s.\n"
        );
    }

    #[test]
    fn a_sweep_names_the_level() {
        let mut swept = sample::sweep("api", 50_000.0, &[1, 100, 1_000]);
        for (held, rulings) in swept.levels.iter_mut().zip([0, 0, 1]) {
            held.run.objectives = sample::judged_run().objectives[rulings..=rulings].to_vec();
            held.run.objectives[0].objective = "p99<500ms".into();
        }
        let holding = verdict::objective::levels::holding(&swept).unwrap();
        insta::assert_snapshot!(sweep(&swept, &holding, Style::default()));
    }

    #[test]
    fn a_narrow_terminal_cuts_no_figure() {
        let mut swept = sample::sweep("api", 50_000.0, &[1, 30_000]);
        for held in &mut swept.levels {
            held.run.objectives = sample::judged_run().objectives;
        }
        let holding = verdict::objective::levels::holding(&swept).unwrap();
        for columns in [60, 80] {
            let text = sweep(&swept, &holding, Style { columns, ..Style::default() });
            assert_eq!(text.matches("INCONCLUSIVE 19.0ms").count(), 2, "{text}");
            assert!(!text.contains('…'), "{text}");
        }
    }

    #[test]
    fn an_objective_stands_in_its_column_where_a_level_lacks_another() {
        let mut swept = sample::sweep("api", 50_000.0, &[1, 100]);
        let of = |at: usize| sample::judged_run().objectives[at].clone();
        swept.levels[0].run.objectives = vec![of(0), of(1)];
        swept.levels[1].run.objectives = vec![of(1)];
        let holding = verdict::objective::levels::holding(&swept).unwrap();
        let text = sweep(&swept, &holding, Style::default());
        let at = text.lines().next().unwrap().find("mean<1ms").unwrap();
        let row = text.lines().nth(2).unwrap();
        assert_eq!(row[at..].trim_end(), "FAIL 2.00ms", "{text}");
        let page = crate::html::sweep(
            &swept,
            &model::Curve::from_sweep(&swept).unwrap(),
            &verdict::curve::read(&model::Curve::from_sweep(&swept).unwrap(), 1),
        );
        let row = page.split("<tr>").find(|row| row.contains(">100<") && row.contains("not met"));
        assert_eq!(row.unwrap().matches("<td>").count(), 3, "{row:?}");
    }

    #[test]
    fn colours_and_lines_keep_to_the_rules() {
        let mut run = sample::judged_run();
        run.objectives[0].objective = "GET /\u{1b}[31m: p99<1ms".into();
        run.objectives[0].reason = "long ".repeat(300);
        let text = section(&run, Style::default()).unwrap();
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(
            section(&run, Style { colour: true, ..Style::default() }).unwrap().contains('\u{1b}')
        );
    }
}
