//! A profile, a prediction, and two profiles compared, as a terminal shows them.

use model::profiled::{FunctionCost, Owner, ProfileDiff, Profiled, WhatIf};
use model::units::show_duration;

use crate::figure::{bytes, clean, count, counted, rate, share, wrap};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone};

/// Functions shown of each group.
const SHOWN: usize = 12;
/// Changes shown.
const CHANGES: usize = 20;

/// A number of bytes in a column of that name.
pub(crate) fn whole(bytes: f64) -> String {
    count(bytes.round() as u64)
}

/// The text of a profile: whose the cost is, what the layers add, the service's own functions, and what the others'
/// cost most.
pub fn text(profiled: &Profiled, style: Style) -> String {
    if profiled.total == 0 {
        let words = format!("{}: {}", clean(&profiled.source, 200), without_samples(profiled));
        return indented("", &words, style) + &notes(profiled, style);
    }
    let mut out = head(profiled, style);
    out.push('\n');
    out += &owners(profiled, style);
    if !profiled.layers.is_empty() {
        out.push('\n');
        out += &layers(profiled, style);
    }
    let own = |function: &&FunctionCost| function.owner == Owner::Own;
    let functions: Vec<_> = profiled.functions.iter().filter(own).collect();
    if !functions.is_empty() {
        out.push('\n');
        out += &table(profiled, &functions, "own code", style);
    }
    let mut others: Vec<_> = profiled.functions.iter().filter(|function| !own(function)).collect();
    others.sort_by_key(|function| std::cmp::Reverse(function.flat));
    others.retain(|function| function.flat > 0);
    if !others.is_empty() {
        out.push('\n');
        out += &table(profiled, &others, "others, by their own time", style);
    }
    out + &notes(profiled, style)
}

fn notes(profiled: &Profiled, style: Style) -> String {
    profiled.notes.iter().map(|note| indented("note: ", note, style)).collect()
}

/// That a profile is empty, and why it may be.
pub(crate) fn without_samples(profiled: &Profiled) -> String {
    format!("the profile holds no samples{}", why(profiled))
}

/// Why a profile may be empty.
fn why(profiled: &Profiled) -> &'static str {
    let has = |kind: &str| profiled.values.iter().any(|value| value.kind == kind);
    if has("contentions") {
        ": a Go server notes waiting for locks once it calls runtime.SetMutexProfileFraction(5), and waiting of other kinds \
         once it calls runtime.SetBlockProfileRate(10000)"
    } else if has("cpu") {
        ": what it is of did nothing while it was taken"
    } else {
        ""
    }
}

fn indented(before: &str, words: &str, style: Style) -> String {
    let mut out = String::new();
    let width = style.columns.max(40) - before.len();
    for (at, line) in wrap(&clean(words, 600), width).iter().enumerate() {
        let start = if at == 0 { before.to_owned() } else { " ".repeat(before.len()) };
        out += &format!("{start}{line}\n");
    }
    out
}

/// What was profiled, and what a request costs.
fn head(profiled: &Profiled, style: Style) -> String {
    summary_line(profiled).iter().map(|line| indented("", line, style)).collect()
}

/// The same, a sentence each.
pub(crate) fn summary_line(profiled: &Profiled) -> Vec<String> {
    let total = amount(profiled, profiled.total);
    let kind = clean(&profiled.value.kind, 40);
    let mut what = match profiled.samples {
        Some(_) if kind == "samples" => format!("{total} samples"),
        Some(samples) => format!("{total} of {kind} in {}", counted(samples, "sample")),
        None => format!("{total} of {kind}"),
    };
    if let Some(duration) = profiled.duration_ns {
        what += &format!(" over {}", show_duration(duration));
        if profiled.value.is_processor_time() {
            let busy = nanos(profiled, profiled.total) / duration as f64;
            what += &format!(": {busy:.2} processors busy");
        }
    }
    let mut lines = vec![what];
    if let Some(requests) = profiled.requests.filter(|requests| *requests > 0.0) {
        let mut each = counted(requests.round() as u64, "request");
        if is_time(profiled) {
            let us = nanos(profiled, profiled.total) / 1000.0 / requests;
            let of = match profiled.value.is_processor_time() {
                true => "processor time",
                false => kind.as_str(),
            };
            each += &format!(": {} of {of} each", micros(us));
        }
        if let Some(allocated) = profiled.bytes {
            each += &format!(", {} allocated", bytes(allocated as f64 / requests));
        }
        lines.push(each);
    }
    lines
}

fn is_time(profiled: &Profiled) -> bool {
    profiled.value.nanoseconds().is_some()
}

fn nanos(profiled: &Profiled, value: i64) -> f64 {
    value as f64 * profiled.value.nanoseconds().unwrap_or(0.0)
}

pub(crate) fn amount(profiled: &Profiled, value: i64) -> String {
    match profiled.value.unit.as_str() {
        "bytes" => bytes(value as f64),
        _ if is_time(profiled) => {
            let nanos = nanos(profiled, value);
            let sign = if nanos < 0.0 { "-" } else { "" };
            format!("{sign}{}", show_duration(nanos.abs() as u64))
        }
        _ => value.to_string(),
    }
}

fn micros(us: f64) -> String {
    format!("{us:.1} us")
}

fn owners(profiled: &Profiled, style: Style) -> String {
    let each = per_request(profiled);
    let mut grid = Grid::named(if each { 4 } else { 3 });
    let mut title =
        ["whose", "with what it calls", "charged", "itself"].map(str::to_owned).to_vec();
    if each {
        title.push("us/request".to_owned());
    }
    grid.row(title);
    for owner in &profiled.owners {
        if owner.caused == 0 && owner.flat == 0 {
            continue;
        }
        let mut row = vec![
            owner.owner.name().to_owned(),
            share(owner.cum as f64 / profiled.total as f64),
            share(owner.share),
            share(owner.flat as f64 / profiled.total as f64),
        ];
        row.extend(profiled.us_per_request(owner.caused).map(|us| format!("{us:.2}")));
        grid.row(row);
    }
    let mut out = grid.print_headed(style);
    if profiled.collecting != 0 {
        let by = match profiled.collecting_by.as_str() {
            "bytes" => "charged by bytes allocated",
            "time" => "charged by the time that allocating took",
            _ => "charged to the runtime: who allocates is not known",
        };
        let part = share(profiled.collecting as f64 / profiled.total as f64);
        let line = format!("collecting garbage in the background: {part}, {by}");
        for line in wrap(&line, style.columns.max(40)) {
            out += &(style.paint(Tone::Soft, &line) + "\n");
        }
    }
    out
}

pub(crate) fn per_request(profiled: &Profiled) -> bool {
    is_time(profiled) && profiled.requests.is_some_and(|requests| requests > 0.0)
}

/// What each handler adds, outermost first.
fn layers(profiled: &Profiled, style: Style) -> String {
    let each = per_request(profiled);
    let with_bytes = profiled.layers.iter().any(|layer| layer.bytes_per_request.is_some());
    let figures = 1 + usize::from(each) + usize::from(with_bytes);
    let mut grid = Grid::new(std::iter::repeat_n(Lean::Right, figures).chain([Lean::Left]));
    let mut title = vec!["adds"];
    title.extend(each.then_some("us/request"));
    title.extend(with_bytes.then_some("bytes"));
    title.push("layer of handlers, outermost first");
    grid.row(title);
    let before = 12 + 12 * usize::from(each) + 9 * usize::from(with_bytes);
    let width = style.columns.max(40).saturating_sub(before);
    for layer in &profiled.layers {
        let mut row = vec![share(layer.share)];
        row.extend(layer.us_per_request.filter(|_| each).map(|us| format!("{us:.2}")));
        if with_bytes {
            row.push(layer.bytes_per_request.map_or_else(String::new, whole));
        }
        row.push(name(&layer.name, width));
        grid.row(row);
    }
    grid.print_headed(style)
}

fn table(profiled: &Profiled, functions: &[&FunctionCost], title: &str, style: Style) -> String {
    let each = per_request(profiled);
    let with_bytes = functions.iter().any(|function| function.cum_bytes_per_request.is_some());
    let figures = 2 + usize::from(each) + usize::from(with_bytes);
    let mut grid = Grid::new(std::iter::repeat_n(Lean::Right, figures).chain([Lean::Left]));
    let mut head = vec!["with callees".to_owned(), "itself".to_owned()];
    if each {
        head.push("us/request".to_owned());
    }
    if with_bytes {
        head.push("bytes".to_owned());
    }
    head.push(title.to_owned());
    grid.row(head);
    let width = style
        .columns
        .max(40)
        .saturating_sub(26 + 12 * usize::from(each) + 9 * usize::from(with_bytes));
    for function in functions.iter().take(SHOWN) {
        let mut row =
            vec![share(function.share), share(function.flat as f64 / profiled.total as f64)];
        if each {
            row.push(function.cum_us_per_request.map_or_else(String::new, |us| format!("{us:.2}")));
        }
        if with_bytes {
            row.push(function.cum_bytes_per_request.map_or_else(String::new, whole));
        }
        row.push(name(&function.name, width));
        grid.row(row);
    }
    let mut out = grid.print_headed(style);
    if functions.len() > SHOWN {
        let more = format!(
            "... and {} more (--top, --format json)\n",
            count((functions.len() - SHOWN) as u64)
        );
        out += &style.paint(Tone::Soft, &more);
    }
    out
}

/// A function's name in at most so many characters: its end says most.
fn name(name: &str, width: usize) -> String {
    let cleaned = clean(name, 1000);
    let length = cleaned.chars().count();
    if length <= width {
        return cleaned;
    }
    // Type arguments hold paths of their own.
    let plain = cleaned.split('[').next().unwrap_or(&cleaned);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    let last = &cleaned[from..];
    let length = last.chars().count();
    if length <= width {
        return last.to_owned();
    }
    if last.contains('[') {
        let head: String = last.chars().take(width.max(2) - 1).collect();
        return format!("{head}…");
    }
    let tail: String = last.chars().skip(length + 1 - width.max(2)).collect();
    format!("…{tail}")
}

/// The text of a prediction.
pub fn whatif(what: &WhatIf, style: Style) -> String {
    let asked: Vec<String> = what.asked.iter().map(|name| clean(name, 200)).collect();
    let mut out = String::new();
    match (&what.refused, what.qps_predicted) {
        (Some(why), _) => {
            out += &indented(
                "",
                &format!("nothing is predicted for {}: {why}", asked.join(", ")),
                style,
            );
        }
        (None, Some(predicted)) => {
            let [low, high] =
                [what.qps_low, what.qps_high].map(|qps| rate(qps.unwrap_or(predicted)));
            let line = format!(
                "without {}: CPU per request {:.1} -> {:.1} us, so QPS {} -> {} ({low} to {high}) if CPU stays the limit; \
                 next limit: {}",
                asked.join(", "),
                what.cpu_us_now,
                what.cpu_us_predicted,
                rate(what.qps_now),
                rate(predicted),
                what.next.as_deref().unwrap_or("unknown"),
            );
            out += &indented("", &line, style);
        }
        (None, None) => {}
    }
    let stays = if what.callees_stay { "; handlers that they call stay" } else { "" };
    let mut facts = format!("{} of the processor time goes", share(what.share));
    let elsewhere = [
        (what.share_collecting, "garbage collected because of it"),
        (what.share_headers, "headers written because of it"),
    ];
    let elsewhere: Vec<String> = (elsewhere.into_iter())
        .filter(|(part, _)| *part > 0.0)
        .map(|(part, why)| format!("{} {why}", share(part)))
        .collect();
    if !elsewhere.is_empty() {
        facts += &format!(" ({})", elsewhere.join(", "));
    }
    facts +=
        &format!("; {} of {} samples{stays}", count(what.samples_removed), count(what.samples));
    out += &indented("", &facts, style);
    if what.qps_predicted.is_some() && what.rest_cheaper > 0.0 {
        let words = format!(
            "what remains is taken to get {} cheaper too (caches, wake-ups): a rule from measured removals, in no profile",
            share(what.rest_cheaper)
        );
        out += &indented("", &words, style);
    }
    for name in what.removed.iter().take(SHOWN) {
        out += &indented("  ", name, style);
    }
    if let Some(verified) = &what.verified {
        let line = format!(
            "measured at {}: {}/s, {} the interval; the prediction is off by {:+.1} %",
            clean(&verified.url, 200),
            rate(verified.qps),
            if verified.inside { "inside" } else { "outside" },
            verified.error * 100.0,
        );
        out += &indented("", &line, style);
    }
    out
}

/// The text of two profiles compared.
pub fn diff(diff: &ProfileDiff, style: Style) -> String {
    let change = diff.total_after - diff.total_before;
    let line = format!(
        "CPU per request {:.1} -> {:.1} us ({change:+.1} us)",
        diff.total_before, diff.total_after
    );
    let mut out = indented("", &line, style);
    out.push('\n');
    let mut grid = Grid::new([Lean::Right, Lean::Right, Lean::Right, Lean::Left, Lean::Left]);
    grid.row(["before", "after", "change us", "95 %", "function with its callees"]);
    let width = style.columns.max(60).saturating_sub(46);
    for function in diff.functions.iter().take(CHANGES) {
        grid.row([
            format!("{:.2}", function.cum_before),
            format!("{:.2}", function.cum_after),
            format!("{:+.2}", function.change),
            format!("{:+.2} to {:+.2}", function.low, function.high),
            name(&function.name, width),
        ]);
    }
    out += &grid.print_headed(style);
    if diff.functions.len() > CHANGES {
        let more = format!(
            "... and {} more (--format json)\n",
            count((diff.functions.len() - CHANGES) as u64)
        );
        out += &style.paint(Tone::Soft, &more);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(name("example.com/shop/api.(*Server).get", 17), "api.(*Server).get");
        assert_eq!(name("example.com/shop/api.(*Server).get", 10), "…rver).get");
        assert_eq!(name("main.main", 20), "main.main");
    }
}
