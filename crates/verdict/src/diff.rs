//! Several curves side by side, joined on the level. The first is what the others are compared with: ratios are each
//! curve over the first.

use std::fmt;

use model::{Curve, CurveRow, LevelKind, SuccessMeaning, Verdict};

use crate::comparison::lengths_apart;
use crate::curve::{best_row, failing_some, known, little_note};
use crate::figures::{grouped, level, level_of, rate, times};

/// Curves joined on the level.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// What the levels are.
    pub kind: LevelKind,
    /// The curves' names, in the order given; the first is what the others are compared with.
    pub names: Vec<String>,
    /// A row a level, ascending; levels that only some curves have included.
    pub rows: Vec<DiffRow>,
    /// Each curve's best level, in the order of the names.
    pub best: Vec<Option<CurveRow>>,
    /// What makes the curves less comparable than they look.
    pub notes: Vec<String>,
}

/// One level of all curves.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffRow {
    /// Connections, or arrivals per second.
    pub level: f64,
    /// Each curve's figures, in the order of the names; absent where it has no such level.
    pub cells: Vec<Option<CurveRow>>,
}

/// Why curves cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffError {
    /// Fewer than two were given.
    TooFew,
    /// One has no rows.
    Empty {
        /// Its name.
        name: String,
    },
    /// Rates cannot be joined with concurrencies.
    MixedKinds {
        /// A curve over rates.
        rates: String,
        /// A curve over concurrencies.
        concurrencies: String,
    },
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew => f.write_str("a comparison needs two or more results"),
            Self::Empty { name } => write!(f, "{name} holds no levels to compare"),
            Self::MixedKinds { rates, concurrencies } => write!(
                f,
                "{rates} is over rates and {concurrencies} over concurrencies: their levels do not \
                 mean the same; measure both at rates (-R, --rates), or both by connections alone (-c, --levels)"
            ),
        }
    }
}

impl std::error::Error for DiffError {}

impl DiffRow {
    /// A curve's QPS over the first curve's.
    pub fn qps_ratio(&self, of: usize) -> Option<f64> {
        ratio(self.cells.get(of)?.as_ref()?.qps, self.cells.first()?.as_ref()?.qps)
    }

    /// A curve's mean over the first curve's.
    pub fn mean_ratio(&self, of: usize) -> Option<f64> {
        let mean_ns = |cell: &Option<CurveRow>| cell.as_ref().map(|row| row.mean_ns as f64);
        ratio(mean_ns(self.cells.get(of)?)?, mean_ns(self.cells.first()?)?)
    }

    /// Whether some curve lacks this level.
    pub fn is_partial(&self) -> bool {
        self.cells.iter().any(Option::is_none)
    }
}

impl Diff {
    /// Joins two curves or more.
    ///
    /// # Errors
    /// See [`DiffError`].
    pub fn of(curves: &[Curve]) -> Result<Self, DiffError> {
        let [first, .., _] = curves else { return Err(DiffError::TooFew) };
        if let Some(empty) = curves.iter().find(|curve| curve.rows.is_empty()) {
            return Err(DiffError::Empty { name: empty.name.clone() });
        }
        if let Some(other) = curves.iter().find(|curve| curve.kind != first.kind) {
            let (rates, concurrencies) =
                if first.kind == LevelKind::Rate { (first, other) } else { (other, first) };
            return Err(DiffError::MixedKinds {
                rates: rates.name.clone(),
                concurrencies: concurrencies.name.clone(),
            });
        }
        Ok(Self {
            kind: first.kind,
            names: curves.iter().map(|curve| curve.name.clone()).collect(),
            rows: joined(curves),
            best: curves.iter().map(|curve| best_row(curve).map(|at| curve.rows[at])).collect(),
            notes: notes(curves),
        })
    }

    /// A curve's best QPS over the first curve's best.
    pub fn best_ratio(&self, of: usize) -> Option<f64> {
        ratio(self.best.get(of)?.as_ref()?.qps, self.best.first()?.as_ref()?.qps)
    }

    /// What stands before [`Self::best_ratio`], see [`bound`].
    pub fn best_bound(&self, of: usize) -> &'static str {
        let judged = |row: Option<&Option<CurveRow>>| {
            row.and_then(|row| row.as_ref()?.verdict).unwrap_or_default()
        };
        bound(judged(self.best.get(of)), judged(self.best.first()))
    }

    /// A curve's best against the first one's in words: `before is 22.80 % of native, best against best: 147,834 at 3,000
    /// connections against 648,381 at 25,000`.
    pub fn best_sentence(&self, of: usize) -> Option<String> {
        let (one, first) = (self.best.get(of)?.as_ref()?, self.best.first()?.as_ref()?);
        let share = times(self.best_ratio(of)?);
        let unit = if self.kind == LevelKind::Concurrency { " connections" } else { "/s" };
        Some(format!(
            "{} is {}{share} of {}, best against best: {} at {}{unit} against {} at {}",
            self.names.get(of)?,
            self.best_bound(of),
            self.names.first()?,
            rate(one.qps),
            level(one.level),
            rate(first.qps),
            level(first.level)
        ))
    }

    /// Whether one of the results has no level to go by: all that it has are INVALID or were cut short.
    pub fn lacks_figures(&self) -> bool {
        (0..self.names.len()).any(|of| {
            let mut rows = self.rows.iter().filter_map(|row| row.cells.get(of)?.as_ref());
            // One without rows is refused before.
            !rows.any(known)
        })
    }

    /// Levels that only some curves have, with those curves' names.
    pub fn partial_levels(&self) -> impl Iterator<Item = (f64, Vec<&str>)> {
        self.rows.iter().filter(|row| row.is_partial()).map(|row| {
            let having = row.cells.iter().zip(&self.names).filter(|(cell, _)| cell.is_some());
            (row.level, having.map(|(_, name)| name.as_str()).collect())
        })
    }
}

/// What a comparison of results of these names is called: `after against before`.
pub fn title(names: &[String]) -> String {
    let Some((first, others)) = names.split_first() else { return String::new() };
    format!("{} against {first}", others.join(", "))
}

/// What stands before a ratio of two figures: that of a lower bound is one itself; over a lower bound it is an upper
/// bound.
pub fn bound(one: Verdict, first: Verdict) -> &'static str {
    match (one == Verdict::LowerBound, first == Verdict::LowerBound) {
        (false, false) => "",
        (true, false) => "at least ",
        (false, true) => "at most ",
        (true, true) => "about (both are lower bounds) ",
    }
}

fn ratio(one: f64, first: f64) -> Option<f64> {
    (first > 0.0).then(|| one / first)
}

fn joined(curves: &[Curve]) -> Vec<DiffRow> {
    let mut levels: Vec<f64> =
        curves.iter().flat_map(|curve| &curve.rows).map(|row| row.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let cell = |curve: &Curve, level: f64| curve.rows.iter().find(|r| r.level == level).copied();
    levels
        .into_iter()
        .map(|level| DiffRow {
            level,
            cells: curves.iter().map(|curve| cell(curve, level)).collect(),
        })
        .collect()
}

fn notes(curves: &[Curve]) -> Vec<String> {
    let Some((first, others)) = curves.split_first() else { return Vec::new() };
    let mut notes = Vec::new();
    for other in others {
        notes.extend(environments(first, other));
        notes.extend(successes(first, other));
        notes.extend(responses(first, other));
    }
    notes.extend(unknown(curves));
    notes.extend(unbelievable(curves));
    notes.extend(curves.iter().filter_map(counting_failures));
    notes.extend(curves.iter().filter_map(little_note));
    notes
}

fn environments(first: &Curve, other: &Curve) -> Option<String> {
    let found = first.environment.as_ref()?.differences(other.environment.as_ref()?);
    (!found.is_empty()).then(|| {
        let found = found.join("; ");
        format!("{} and {} ran in different environments: {found}", first.name, other.name)
    })
}

fn successes(first: &Curve, other: &Curve) -> Option<String> {
    let words = |meaning: &SuccessMeaning| match meaning {
        SuccessMeaning::Statuses(ranges) => format!("statuses {ranges}"),
        SuccessMeaning::Unstated => "whatever its tool counted (wrktest.sh: every response, 5xx \
             included)"
            .to_owned(),
    };
    (first.success_means != other.success_means).then(|| {
        format!(
            "success counts {} in {} and {} in {}",
            words(&first.success_means),
            first.name,
            words(&other.success_means),
            other.name
        )
    })
}

fn responses(first: &Curve, other: &Curve) -> Option<String> {
    let (a, b) = (first.commonest_response.as_ref()?, other.commonest_response.as_ref()?);
    let mut found = Vec::new();
    if a.status != b.status {
        found.push(format!("status {} against {}", a.status, b.status));
    }
    let shares_level =
        || first.rows.iter().any(|row| other.rows.iter().any(|r| r.level == row.level));
    if a.bytes != b.bytes
        && (lengths_apart(a.bytes.min(b.bytes), a.bytes.max(b.bytes)) || !shares_level())
    {
        let (a, b) = (grouped(a.bytes as f64, 0), grouped(b.bytes as f64, 0));
        found.push(format!("{a} bytes against {b}"));
    } else if a.body_sha256 != b.body_sha256 && !shares_level() {
        // Where they are judged at a level, that says so.
        found.push(format!("{} bytes each, but of different content", grouped(a.bytes as f64, 0)));
    }
    (!found.is_empty()).then(|| {
        let found = found.join(", ");
        format!(
            "{} and {} responded differently: {found}; not like for like",
            first.name, other.name
        )
    })
}

fn unknown(curves: &[Curve]) -> Vec<String> {
    let lacking = |what: &str, known: fn(&Curve) -> bool| {
        let names: Vec<&str> =
            curves.iter().filter(|curve| !known(curve)).map(|curve| curve.name.as_str()).collect();
        (!names.is_empty())
            .then(|| format!("{what} of {} is not known, and not compared", names.join(", ")))
    };
    [
        lacking("the environment", |curve| curve.environment.is_some()),
        lacking("the response", |curve| curve.commonest_response.is_some()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// That a ratio of the best levels is one of failures as well.
fn counting_failures(curve: &Curve) -> Option<String> {
    let row = &curve.rows[best_row(curve)?];
    let some = failing_some(row);
    let at = level_of(curve.kind, row.level);
    (!some.is_empty())
        .then(|| format!("the best of {}, at {at}, is {}/s{some}", curve.name, rate(row.qps)))
}

fn unbelievable(curves: &[Curve]) -> Vec<String> {
    let at = |curve: &Curve, which: fn(&CurveRow) -> bool| {
        let rows = curve.rows.iter().filter(|row| which(row));
        let levels: Vec<String> = rows.map(|row| level(row.level)).collect();
        (!levels.is_empty()).then(|| levels.join(", "))
    };
    let invalid = |row: &CurveRow| row.verdict == Some(Verdict::Invalid);
    let cut = |row: &CurveRow| row.cut_short;
    let notes = curves.iter().flat_map(|curve| {
        let name = &curve.name;
        let invalid = at(curve, invalid);
        let cut = at(curve, cut);
        [
            invalid.map(|levels| format!("{name} is INVALID at {levels}: leave it out")),
            cut.map(|levels| {
                format!("{name} was cut short at {levels}: its figures are of a part")
            }),
        ]
    });
    notes.flatten().collect()
}

#[cfg(test)]
mod tests;
