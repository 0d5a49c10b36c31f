//! The page of a search for capacity.

use maud::{Markup, html};
use model::Run;
use model::capacity::{CapacitySearch, SearchStep};
use model::loadline::{EndpointShare, LoadLine};
use model::sweep::LevelKind;
use model::units::show_duration;
use verdict::capacity::{Reading, words};

use super::{Section, Title, page, parts, run};
use crate::figure::{clean, date, share};
use crate::text::bounds_latency;
use crate::{capacity, charts};

/// The page of a search; `run` is the run at the capacity found.
pub fn capacity(record: &CapacitySearch, reading: &Reading, run: Option<&Run>) -> String {
    let name = format!("Capacity of {}", clean(&record.url, 200));
    let line = format!(
        "{} · {} · Plimsoll {}",
        date(&record.started_at),
        capacity::spent(record),
        clean(&record.plimsoll.version, 40)
    );
    let gist = parts::outside(&reading.outcome);
    let title = Title { name: &name, lines: vec![line], gist };
    let body = summary(record, reading);
    let mut sections = vec![Section { id: "summary", heading: "Summary", body }];
    let drawn = steps_drawn(record);
    sections.extend(drawn.map(|body| Section { id: "search", heading: "Search", body }));
    if capacity::searched(record).next().is_some() {
        sections.push(Section { id: "steps", heading: "Steps", body: steps(record) });
    }
    if let Some(line) = &record.load_line
        && line.endpoints.len() > 1
    {
        let body = endpoints(line);
        sections.push(Section { id: "endpoints", heading: "Endpoints at capacity", body });
    }
    if let Some(at) = run {
        sections.push(Section { id: "latency", heading: "At capacity", body: latency(at) });
    }
    let command = parts::command(&record.command);
    sections.push(Section { id: "reproduce", heading: "Reproduce", body: command });
    page(&title, banner(record, reading, run), &sections, ("plimsoll-capacity", record))
}

fn banner(record: &CapacitySearch, reading: &Reading, run: Option<&Run>) -> Markup {
    let collapses = record.load_line.as_ref().and_then(|line| line.overload);
    html! {
        p.reading { strong { (sentence(&reading.outcome)) "." } }
        @if let Some(words) = &reading.overload {
            @if collapses.is_some_and(|overload| overload.collapses) {
                p.reading { strong { (parts::outside(words)) "." } }
            }
        }
        @if let Some(run) = run {
            p.soft { "The run at the capacity, by itself:" }
            (parts::verdict(&run.validity, bounds_latency(run), parts::early(run)))
        }
    }
}

/// Words that stand behind a name elsewhere, as a sentence.
fn sentence(words: &str) -> String {
    let words = parts::outside(words);
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return words };
    first.to_uppercase().chain(letters).collect()
}

fn summary(record: &CapacitySearch, reading: &Reading) -> Markup {
    // The capacity in words heads the page.
    let facts =
        capacity::facts(record, reading).into_iter().filter(|(name, _)| *name != "Capacity");
    let facts: Vec<_> = facts.map(|(name, words)| (name.into(), parts::outside(&words))).collect();
    html! { (parts::tiles(&tiles(record))) (parts::facts(&facts)) }
}

fn tiles(record: &CapacitySearch) -> Vec<(&'static str, String, String)> {
    let Some(line) = &record.load_line else { return Vec::new() };
    let kind = record.settings.kind;
    let level = match kind {
        LevelKind::Rate => line.rate_per_s,
        LevelKind::Concurrency => line.concurrency,
    };
    let interval = match line.rate_high_per_s {
        Some(high) => format!(
            "{} to {}",
            words::level_of(LevelKind::Rate, line.rate_low_per_s),
            words::level_of(LevelKind::Rate, high)
        ),
        None => format!("{} or more", words::level_of(LevelKind::Rate, line.rate_low_per_s)),
    };
    let confirmed = line.confirmed_for_ns.map_or_else(
        || "not confirmed by a hold".to_owned(),
        |ns| format!("held for {}", show_duration(ns)),
    );
    let success = line.success_ratio.map_or_else(|| "-".to_owned(), share);
    let least = if line.at_least { "≥" } else { "" };
    // The rates that came of a number of connections are no interval of that number.
    let of_rate = match kind {
        LevelKind::Rate => "Interval",
        LevelKind::Concurrency => "QPS there, interval",
    };
    vec![
        ("Capacity", format!("{least}{}", words::level_of(kind, level)), confirmed),
        (of_rate, interval, String::new()),
        ("Response p99 at capacity", show_duration(line.response_ns.p99), String::new()),
        ("Success at capacity", success, String::new()),
    ]
}

/// The picture of the search; none where it has nothing to show.
fn steps_drawn(record: &CapacitySearch) -> Option<Markup> {
    let chart = charts::search(record);
    let shows = !chart.table().rows.is_empty();
    shows.then(|| parts::chart(&chart.under("Each step of the search")))
}

fn steps(record: &CapacitySearch) -> Markup {
    let headers = ["step", "level", "QPS", "mean", "outcome", "by", "file in steps/"];
    let row = |held: &SearchStep| {
        let [figures @ .., by] = capacity::cells(record.settings.kind, held);
        let name = held.file.strip_prefix("steps/").unwrap_or(&held.file);
        let words = [by.as_str(), name].map(|text| html! { span.words { (parts::outside(text)) } });
        figures.into_iter().map(|cell| html! { (cell) }).chain(words).collect()
    };
    html! {
        (parts::rows(&headers, capacity::searched(record).map(row)))
        p.soft { "Between the steps the search measured the server at rest, and waited until it \
            had recovered." }
    }
}

fn endpoints(line: &LoadLine) -> Markup {
    let row = |one: &EndpointShare| {
        let name = html! { span.words { (parts::outside(&one.endpoint)) } };
        let cells = capacity::endpoints::cells(one).into_iter().map(|cell| html! { (cell) });
        std::iter::once(name).chain(cells).collect()
    };
    html! {
        (parts::rows(&capacity::endpoints::COLUMNS, line.endpoints.iter().map(row)))
        p.soft {
            "Cost is service time, where the mean request costs 1. "
            @if capacity::endpoints::has_target(line) {
                "Wanted and today are what the workload file says."
            }
        }
    }
}

fn latency(at: &Run) -> Markup {
    html! {
        (run::over_time(at, " at capacity"))
        (parts::latencies(at))
        (parts::chart(&charts::spectrum(at).chart()))
        (run::environment(at, "Plan"))
    }
}

#[cfg(test)]
mod tests {
    use model::capacity::CapacitySearch;

    use crate::sample;

    #[test]
    fn the_page_names_what_was_found_and_keeps_the_data() {
        let (record, reading) = sample::search();
        let page = super::capacity(&record, &reading, Some(&sample::open_loop()));
        for needle in [
            "limited by p99&lt;500ms",
            "It collapses",
            "Data of this chart",
            "plimsoll-capacity",
            "steps/05-hold-12400.json",
            "At capacity",
            "The run at the capacity, by itself:",
        ] {
            assert!(page.contains(needle), "{needle}");
        }
        let by = "<span class=\"words\">p99&lt;500ms: ";
        assert!(page.contains(by), "what judged a step has no lines of its own");
        assert_eq!(super::sentence("at least 5/s"), "At least 5/s");
        let summary = super::summary(&record, &reading).into_string();
        assert_eq!(summary.matches("<dt>Capacity</dt>").count(), 1, "the tile alone: {summary}");
    }

    #[test]
    fn a_bound_is_one_in_the_tile_as_in_the_words() {
        let (mut record, reading) = sample::search();
        let tile = |record: &CapacitySearch| {
            super::summary(record, &reading).into_string().contains("≥12,400/s")
        };
        assert!(!tile(&record));
        record.load_line.as_mut().unwrap().at_least = true;
        assert!(tile(&record));
    }

    #[test]
    fn nothing_found_is_a_page_too() {
        let (mut record, reading) = sample::search();
        record.steps.clear();
        record.load_line = None;
        assert!(super::capacity(&record, &reading, None).contains("</html>"));
    }
}
