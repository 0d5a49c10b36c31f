//! The page of a sweep.

use maud::{Markup, html};
use model::curve::{Curve, CurveRow};
use model::outcome::ErrorClass;
use model::sweep::{Level, LevelKind, Sweep};
use model::units::{exact_duration, show_duration};
use model::validity::{Validity, Verdict};
use verdict::Reading;
use verdict::figures::level_of;

use super::{Section, Title, objectives, page, parts, run};
use crate::charts;
use crate::figure::{clean, count, counted, date, level, measured, rate, share};
use crate::table;
use crate::text::bounds_latency;

/// The page of `sweep`; `curve` holds its figures and `reading` what `verdict` makes of them.
pub fn sweep(sweep: &Sweep, curve: &Curve, reading: &Reading) -> String {
    let name = name(sweep);
    let gist = parts::outside(&reading.sentence);
    let title = Title { name: &name, lines: vec![subtitle(sweep)], gist };
    let holding = verdict::objective::levels::holding(sweep);
    let objectives = holding.map(|holding| Section {
        id: "objectives",
        heading: "Objectives",
        body: objectives::sweep(sweep, &holding),
    });
    let rest = [
        Section { id: "summary", heading: "Summary", body: summary(sweep, curve, reading) },
        Section { id: "curve", heading: "Curve", body: curves(sweep, curve, reading) },
        Section { id: "latency", heading: "Latency", body: latency(sweep, reading) },
        Section { id: "errors", heading: "Errors", body: errors(sweep) },
        Section { id: "environment", heading: "Environment", body: environment(sweep) },
        Section { id: "reproduce", heading: "Reproduce", body: parts::command(&sweep.command) },
    ];
    let sections: Vec<Section> = objectives.into_iter().chain(rest).collect();
    page(&title, banner(sweep, reading), &sections, ("plimsoll-sweep", sweep))
}

/// The name and the URL, unless the name is only the URL in the letters of a file's name.
fn name(sweep: &Sweep) -> String {
    let url = clean(&sweep.url, 200);
    let letters = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let spelled: String = sweep.url.chars().map(letters).collect();
    match spelled.contains(&sweep.name) {
        true => url,
        false => format!("{}: {url}", clean(&sweep.name, 80)),
    }
}

fn subtitle(sweep: &Sweep) -> String {
    let ended = sweep.ended.as_deref().map(|why| format!("ended: {}", clean(why, 200)));
    let longest = sweep.levels.iter().map(|held| held.run.totals.duration_ns).max();
    format!(
        "{} · {} of {}, {} each · Plimsoll {} · {}",
        date(&sweep.started_at),
        counted(sweep.levels.len() as u64, "level"),
        sweep.kind.name(),
        show_duration(longest.unwrap_or_default()),
        clean(&sweep.plimsoll.version, 40),
        ended.unwrap_or_else(|| "not ended yet".to_owned())
    )
}

/// The verdict on the best level, which is what a sweep is read for, and a word on the others.
fn banner(sweep: &Sweep, reading: &Reading) -> Markup {
    let best = reading.best.and_then(|at| sweep.levels.get(at));
    // Without a usable level there is nothing to quote; why, each level says.
    let none = || Validity { verdict: Verdict::Invalid, reasons: Vec::new() };
    let validity = best.map_or_else(none, |level| level.run.validity.clone());
    let in_doubt = |held: &&Level| held.run.validity.verdict != Verdict::Valid;
    let doubtful = sweep.levels.iter().filter(in_doubt).count();
    let early = best.and_then(|held| parts::early(&held.run));
    let bounded = best.is_some_and(|held| bounds_latency(&held.run));
    html! {
        p.reading { (parts::outside(&reading.sentence)) }
        (parts::verdict(&validity, bounded, early))
        @if let Some(best) = best {
            p.soft {
                "The verdict is that of the level with the highest QPS, " (level_of(sweep.kind, best.level)) "."
            }
        }
        @if doubtful > 0 {
            p { "Levels in doubt: " (doubtful) " of " (sweep.levels.len()) "; the table below says which." }
        }
    }
}

fn summary(sweep: &Sweep, curve: &Curve, reading: &Reading) -> Markup {
    let row = |at: Option<usize>| at.and_then(|at| curve.rows.get(at));
    let mut tiles = Vec::new();
    let held = format!("QPS with a mean ≤ {}", exact_duration(sweep.objective_mean_ns));
    for (name, found) in
        [("Highest QPS", row(reading.best)), (held.as_str(), row(reading.best_within))]
    {
        tiles.push((
            name,
            found.map_or_else(|| "-".to_owned(), qps),
            found.map_or_else(|| "no level".to_owned(), |row| place_and_mean(curve.kind, row)),
        ));
    }
    let least = curve.rows.iter().filter_map(|r| Some((r.success?, r.level)));
    if let Some((ratio, at)) = least.min_by(|a, b| a.0.total_cmp(&b.0)) {
        let note = match ratio {
            1.0.. => "at every level".to_owned(),
            _ => format!("at {}", level_of(curve.kind, at)),
        };
        tiles.push(("Lowest success", share(ratio), note));
    }
    html! {
        (parts::tiles(&tiles))
        @for note in &reading.notes { p { (parts::prose(note)) } }
        @if let Some(words) = verdict::measured_again(sweep) { p { (words) } }
        (levels(curve, reading))
    }
}

fn is_bound(row: &CurveRow) -> bool {
    row.verdict == Some(Verdict::LowerBound)
}

/// A level's QPS where room is short: `≥37,260` of a lower bound.
pub(super) fn qps(row: &CurveRow) -> String {
    format!("{}{}", if is_bound(row) { "≥" } else { "" }, rate(row.qps))
}

/// Which level it is, and its mean, which of a lower bound is an upper one.
pub(super) fn place_and_mean(kind: LevelKind, row: &CurveRow) -> String {
    let most = if is_bound(row) && kind == LevelKind::Concurrency { "at most " } else { "" };
    format!("at {}, mean {most}{}", level_of(kind, row.level), show_duration(row.mean_ns))
}

fn levels(curve: &Curve, reading: &Reading) -> Markup {
    let mut headers = table::headers(curve.kind);
    let figures = headers.len() - 1;
    headers.push("note");
    let row = |(i, row): (usize, &CurveRow)| {
        let mut cells: Vec<Markup> =
            table::cells(row).into_iter().take(figures).map(|c| html! { (c) }).collect();
        let cut = if row.cut_short { ", cut short" } else { "" };
        cells.push(html! { (parts::cell(row.verdict)) (cut) });
        cells.push(html! { span.words { (table::named(i, reading).trim_start_matches("◀ ")) } });
        cells
    };
    parts::rows(&headers, curve.rows.iter().enumerate().map(row))
}

fn curves(sweep: &Sweep, curve: &Curve, reading: &Reading) -> Markup {
    let name = name(sweep);
    let mut drawn = charts::curve(curve, reading, sweep.objective_mean_ns);
    drawn.title.clone_from(&name);
    let title = format!("Success rate of {name}");
    html! {
        (parts::chart(&drawn.chart()))
        @for text in reading.scaling_words(curve.kind) { p { (parts::outside(&text)) } }
        (parts::chart(&charts::success(&title, std::slice::from_ref(curve)).chart()))
    }
}

/// Up to this many levels, one chart has the spectra of all.
const MOST_TOGETHER: usize = 7;
/// Levels that have charts of their own at most.
const MOST_ALONE: usize = 50;

/// The spectra of all levels, or, of many, of those that matter: the two named and the last. Each level
/// has its own charts below.
fn latency(sweep: &Sweep, reading: &Reading) -> Markup {
    let levels = sweep.levels.len();
    let mut chosen: Vec<usize> = if levels <= MOST_TOGETHER {
        (0..levels).collect()
    } else {
        let named = [reading.best_within, reading.best, levels.checked_sub(1)];
        named.into_iter().flatten().filter(|&at| at < levels).collect()
    };
    chosen.sort_unstable();
    chosen.dedup();
    let spectrum = charts::spectra(sweep, &chosen);
    if spectrum.series.is_empty() {
        return html! { p { "There were no responses." } };
    }
    html! {
        (parts::chart(&spectrum.chart()))
        @if chosen.len() < levels {
            p.soft { "Drawn are the levels that the summary names, and the last. Every level is below." }
        }
        h3 { "Each level over time" }
        @for held in sweep.levels.iter().take(MOST_ALONE) { (alone(sweep.kind, held)) }
        @if levels > MOST_ALONE {
            p.soft { "The figures of the other " (levels - MOST_ALONE) " levels are in the sweep's JSON." }
        }
    }
}

/// The charts of one level, to be opened.
fn alone(kind: LevelKind, held: &Level) -> Markup {
    let run = &held.run;
    let place = level_of(kind, held.level);
    html! {
        details.level {
            summary {
                strong { (place) } ": " (rate(run.rates.requests_per_s)) " QPS, p99 "
                (measured(run.response_ns.p99)) " " (parts::cell(Some(run.validity.verdict)))
            }
            (run::over_time(run, &format!(" at {place}")))
            (parts::chart(&charts::spectrum_at(run, &place).chart()))
        }
    }
}

/// A count of a level.
type OfLevel = fn(&Level) -> u64;

fn errors(sweep: &Sweep) -> Markup {
    let occurred: Vec<ErrorClass> = ErrorClass::ALL
        .into_iter()
        .filter(|&class| sweep.levels.iter().any(|held| held.run.totals.errors.of(class) > 0))
        .collect();
    let lost: [(&str, OfLevel); 2] = [
        ("unsent", |held| held.run.totals.unsent),
        ("unfinished", |held| held.run.totals.unfinished),
    ];
    let some = |of: OfLevel| sweep.levels.iter().any(|held| of(held) > 0);
    let lost: Vec<_> = lost.into_iter().filter(|(_, of)| some(*of)).collect();
    if occurred.is_empty() && lost.is_empty() {
        return html! { p { "No attempt failed at any level." } };
    }
    let mut headers = vec![sweep.kind.name(), "attempts"];
    headers.extend(lost.iter().map(|(name, _)| *name));
    headers.extend(occurred.iter().map(|class| class.name()));
    let row = |held: &Level| {
        let totals = &held.run.totals;
        let lost = lost.iter().map(|(_, of)| of(held));
        let classes = occurred.iter().map(|&class| totals.errors.of(class));
        let counts = std::iter::once(totals.attempts).chain(lost).chain(classes);
        let cells = counts.map(|n| html! { (count(n)) });
        std::iter::once(html! { (level(held.level)) }).chain(cells).collect()
    };
    html! {
        (parts::rows(&headers, sweep.levels.iter().map(row)))
        @for (class, sample) in samples(sweep) {
            p.soft { (class) ": " span.words { (parts::outside(sample)) } }
        }
    }
}

/// A sample of each class, of the first level that has one.
fn samples(sweep: &Sweep) -> Vec<(&'static str, &str)> {
    let of = |class: ErrorClass| {
        let mut levels = sweep.levels.iter();
        let found = levels.find_map(|held| held.run.totals.error_samples.get(class.name()))?;
        Some((class.name(), found.as_str()))
    };
    ErrorClass::ALL.into_iter().filter_map(of).collect()
}

fn environment(sweep: &Sweep) -> Markup {
    let Some(first) = sweep.levels.first() else {
        return html! { p { "No level was run." } };
    };
    run::environment(&first.run, "Plan of the first level")
}
