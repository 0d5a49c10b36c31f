//! What the charts of a sweep share: its levels, how they lie along x, their table, and the words
//! for them.

use std::collections::HashMap;

use model::sweep::LevelKind;
use model::validity::Verdict;
use verdict::curve::MIN_SUCCESS;

use super::number::{duration, grouped, level, quantity};
use super::table::{Table, cell, cell_or_empty};

/// One level of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurveLevel {
    /// Connections or requests/s, as the chart's `kind` says.
    pub level: f64,
    /// Requests completed per second.
    pub requests_per_s: f64,
    /// Mean latency in seconds; not finite where no response was measured.
    pub mean_s: f64,
    /// 99th percentile of latency in seconds, where known.
    pub p99_s: Option<f64>,
    /// Successes / attempts, where measured. Anything but 0 to 1 counts as not measured.
    pub success_ratio: Option<f64>,
    /// Whether the figures can be trusted.
    pub validity: Verdict,
    /// Whether its run was interrupted: the figures are of a part of it.
    pub cut_short: bool,
}

impl CurveLevel {
    /// Whether it says anything of the server, by the rule of `verdict::curve`.
    pub(super) fn is_known(&self) -> bool {
        self.validity != Verdict::Invalid && !self.cut_short
    }

    /// Its QPS where it may be quoted as what the server carried, by the rule of `verdict::curve`: not INVALID, not cut
    /// short, and nine in ten succeeded.
    pub(super) fn usable(&self) -> Option<f64> {
        let sound = self.is_known()
            && self.success_ratio.is_none_or(|ratio| ratio >= MIN_SUCCESS)
            && self.level.is_finite();
        quantity(self.requests_per_s).filter(|qps| sound && *qps > 0.0)
    }

    /// `at least ` before the QPS of a lower bound.
    pub(super) fn at_least(&self) -> &'static str {
        if self.validity == Verdict::LowerBound { "at least " } else { "" }
    }

    /// Its mean in words.
    pub(super) fn mean_words(&self) -> String {
        quantity(self.mean_s).map_or_else(|| "not known".into(), duration)
    }
}

/// The level with the highest QPS that may be quoted; the first of equals.
pub(super) fn best(levels: &[CurveLevel]) -> Option<&CurveLevel> {
    let usable = levels.iter().filter_map(|level| Some((level.usable()?, level)));
    usable.reduce(|a, b| if a.0 >= b.0 { a } else { b }).map(|(_, level)| level)
}

/// The levels of one sweep among several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveSeries {
    /// Its name; may be empty where it is the only one.
    pub name: String,
    /// Its levels, in any order; levels may be missing that others have.
    pub levels: Vec<CurveLevel>,
}

/// The name of the x axis.
pub(super) fn level_title(kind: LevelKind, log: bool) -> String {
    let name = match kind {
        LevelKind::Concurrency => "concurrency (connections)",
        LevelKind::Rate => "offered rate (arrivals/s)",
    };
    format!("{name}{}", if log { ", log scale" } else { "" })
}

/// The header of the level column.
pub(super) fn level_column(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Concurrency => "concurrency",
        LevelKind::Rate => "rate (1/s)",
    }
}

/// A level in a sentence: `25,000 connections`.
pub(super) fn level_words(kind: LevelKind, v: f64) -> String {
    let amount = if v.abs() < 1e7 { grouped(v) } else { level(v) };
    match kind {
        LevelKind::Concurrency if v == 1.0 => "1 connection".into(),
        LevelKind::Concurrency => format!("{amount} connections"),
        LevelKind::Rate => format!("{amount} arrivals/s offered"),
    }
}

/// The order of `levels` from low to high; what is not a number goes last.
pub(super) fn ascending(levels: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|a, b| levels[*a].total_cmp(&levels[*b]));
    order
}

/// Every level that any series has, once, from low to high.
pub(super) fn union(levels: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = levels.filter(|v| v.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// A column's name and its figure.
type Column = (&'static str, fn(&CurveLevel) -> Option<f64>);

/// A row a level with these columns of every series, and validity where any of it is in doubt.
pub(super) fn series_table(
    kind: LevelKind,
    series: &[CurveSeries],
    levels: &[f64],
    columns: &[Column],
) -> Table {
    let doubts = series.iter().flat_map(|s| &s.levels).any(|l| l.validity != Verdict::Valid);
    let headers = series.iter().flat_map(|s| {
        let names = columns.iter().map(|(name, _)| *name).chain(doubts.then_some("validity"));
        names.map(|name| format!("{} {name}", s.name)).collect::<Vec<_>>()
    });
    let mut table = Table::new(std::iter::once(level_column(kind).to_string()).chain(headers));
    let by_level: Vec<_> = series.iter().map(|s| Lookup::new(&s.levels, |l| l.level)).collect();
    for level in levels {
        let mut row = vec![cell(*level)];
        for series in &by_level {
            let found = series.at(*level);
            row.extend(columns.iter().map(|(_, figure)| cell_or_empty(found.and_then(figure))));
            row.extend(doubts.then(|| found.map_or("", |l| l.validity.name()).to_string()));
        }
        table.push(row);
    }
    table
}

/// Entries found by their level; the first where a level is repeated.
#[derive(Debug)]
pub(super) struct Lookup<'a, T>(HashMap<u64, &'a T>);

impl<'a, T> Lookup<'a, T> {
    pub(super) fn new(items: &'a [T], level: impl Fn(&T) -> f64) -> Lookup<'a, T> {
        let mut found = HashMap::new();
        for item in items {
            found.entry(key(level(item))).or_insert(item);
        }
        Lookup(found)
    }

    pub(super) fn at(&self, level: f64) -> Option<&'a T> {
        self.0.get(&key(level)).copied()
    }
}

/// The bits of a level, with one zero only.
fn key(level: f64) -> u64 {
    (level + 0.0).to_bits()
}

/// A name short enough for a sentence.
pub(super) fn short(name: &str) -> String {
    const LONGEST: usize = 32;
    let name = super::text::clean(name);
    match name.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", name[..cut].trim_end()),
        None => name,
    }
}
