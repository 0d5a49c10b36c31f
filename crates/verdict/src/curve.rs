//! What to read from a curve: its two levels worth naming, and one sentence.
//!
//! The knee is stated free of any plot's scale: the lowest level that reaches 97 % of the best
//! QPS. What is fitted, and how far it may be extrapolated, is [`crate::usl`]'s.

use model::units::{Nanos, show_duration};
use model::{Curve, CurveRow, Knee, LevelKind, ReasonCode, Scaling, Usl, Verdict};

use crate::figures::{counted, level as show_level, level_of, levels_of, percent, rate, share};
use crate::server_change::is_marked;
use crate::usl;

/// A level with a lower success ratio is not eligible as the best: its errors look like capacity.
pub const MIN_SUCCESS: f64 = 0.90;
/// Share of the best QPS that a level must reach to be as good.
const AS_GOOD: f64 = 0.97;
/// Growth from the level before that counts as still growing.
const GROWING: f64 = 1.03;
/// Share of the best below which QPS has fallen.
const FALLEN: f64 = 0.90;
/// Share of an offered rate that counts as kept up with.
const KEPT_UP: f64 = 0.99;
/// Share of success that counts as all.
const ALL_SUCCEED: f64 = 0.99;
/// How far above the level QPS x mean may come out by rounding.
const TOLERANCE: f64 = 1.05;

/// What to read from a curve. Indices are into its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The highest QPS, counting what succeeded, of a level that can be believed, ran to its end and where 90 % succeeded;
    /// the lowest such level.
    pub best: Option<usize>,
    /// The same among levels whose mean is within the objective.
    pub best_within: Option<usize>,
    /// One sentence for people.
    pub sentence: String,
    /// What else must be known before believing it.
    pub notes: Vec<String>,
    /// Where more connections stop buying QPS.
    pub knee: Option<Knee>,
    /// The Universal Scalability Law fitted to the levels, or why it is not.
    pub usl: Result<Usl, String>,
}

impl Reading {
    /// Knee and law with the levels they were read from, as they are written beside a sweep.
    pub fn scaling(&self, curve: &Curve) -> Scaling {
        Scaling {
            schema: model::scaling::SCHEMA.to_owned(),
            name: curve.name.clone(),
            rows: curve.rows.clone(),
            knee: self.knee,
            usl: self.usl.as_ref().ok().cloned(),
            usl_refused: self.usl.as_ref().err().cloned(),
        }
    }

    /// What knee and law mean for adding load, in words; nothing for a sweep over rates.
    pub fn scaling_words(&self, kind: LevelKind) -> Vec<String> {
        if kind == LevelKind::Rate {
            return Vec::new();
        }
        let law = match &self.usl {
            Ok(usl) => usl::words(usl),
            Err(why) => format!("The Universal Scalability Law is not fitted: {why}."),
        };
        self.knee.iter().map(knee_words).chain([law]).collect()
    }
}

fn knee_words(knee: &Knee) -> String {
    let between = knee
        .above_level
        .map(|below| format!(", or somewhere above {}", show_level(below)))
        .unwrap_or_default();
    format!(
        "The knee is at {}{between}: the lowest level that reaches 97 % of the best QPS. More \
         connections add waiting time, not QPS.",
        level_of(LevelKind::Concurrency, knee.level)
    )
}

/// Reads a curve against a response-time objective on the mean.
pub fn read(curve: &Curve, objective_mean_ns: Nanos) -> Reading {
    let best = best(curve, |_| true);
    let best_within = best_within(curve, objective_mean_ns);
    let turned = curve.rows.iter().find(|row| is_marked(row));
    let mut sentence = match (best, turned) {
        (_, Some(row)) => two_servers(curve, row),
        (None, _) => nothing_sound(curve),
        (Some(at), _) if curve.rows.iter().filter(|row| known(row)).count() == 1 => {
            single(curve, &curve.rows[at])
        }
        (Some(at), _) if curve.kind == LevelKind::Rate => rates(curve, at),
        (Some(at), _) => concurrency(curve, at),
    };
    if best.is_some() && turned.is_none() {
        sentence += &objective(curve, best, best_within, objective_mean_ns);
    }
    sentence.push('.');
    let notes = notes(curve);
    let usl = match turned {
        Some(_) => Err("the server changed between the levels".to_owned()),
        None => usl::of(curve),
    };
    Reading { best, best_within, sentence, notes, knee: knee(curve), usl }
}

/// The lowest believable level that reaches 97 % of the best QPS; none while QPS still grows.
pub fn knee(curve: &Curve) -> Option<Knee> {
    let best = best_row(curve)?;
    // Of one usable level nothing is seen to bend, nor of levels of two servers.
    let usable = curve.rows.iter().filter(|row| sound(row)).count();
    let apart = usable < 2 || curve.rows.iter().any(is_marked);
    if curve.kind == LevelKind::Rate || apart || still_growing(&curve.rows, best) {
        return None;
    }
    let top = &curve.rows[best];
    let at =
        curve.rows.iter().position(|row| sound(row) && carried(row) >= AS_GOOD * carried(top))?;
    let row = &curve.rows[at];
    Some(Knee {
        level: row.level,
        above_level: at.checked_sub(1).map(|below| curve.rows[below].level),
        qps: row.qps,
        share_of_best: row.qps / top.qps,
    })
}

/// Index of the row with the highest QPS among those that can be believed and ran to their end, where
/// nine in ten succeeded; the lowest level of equals.
pub fn best_row(curve: &Curve) -> Option<usize> {
    best(curve, |_| true)
}

fn best_within(curve: &Curve, objective_mean_ns: Nanos) -> Option<usize> {
    best(curve, |row| row.mean_ns <= objective_mean_ns)
}

fn best(curve: &Curve, eligible: impl Fn(&CurveRow) -> bool) -> Option<usize> {
    let rows = curve.rows.iter().enumerate().filter(|(_, row)| sound(row) && eligible(row));
    rows.reduce(|a, b| if carried(a.1) >= carried(b.1) { a } else { b }).map(|(at, _)| at)
}

/// What succeeded of a level's QPS: one in ten that failed at once would else make it the best.
fn carried(row: &CurveRow) -> f64 {
    row.qps * row.success.unwrap_or(1.0)
}

/// Whether a level's QPS is that of a server that answers there, as far as one row tells.
pub(crate) fn sound(row: &CurveRow) -> bool {
    known(row) && row.success.is_none_or(|ratio| ratio >= MIN_SUCCESS) && row.qps > 0.0
}

/// Whether a row says anything of the server at its level: one that was cut short may be of a moment only.
pub(crate) fn known(row: &CurveRow) -> bool {
    row.verdict != Some(Verdict::Invalid) && !row.cut_short
}

/// Imported rows that break Little's law: QPS x mean above the connections. Our own were judged
/// with their pipelining known.
fn impossible_rows(curve: &Curve) -> impl Iterator<Item = &CurveRow> {
    let closed = curve.kind == LevelKind::Concurrency;
    let unjudged = curve.rows.iter().filter(move |row| closed && row.verdict.is_none());
    unjudged.filter(|row| row.in_flight() > TOLERANCE * row.level)
}

fn nothing_sound(curve: &Curve) -> String {
    if curve.rows.is_empty() {
        return "No level was run".to_owned();
    }
    let success = percent(MIN_SUCCESS);
    match curve.rows.iter().any(|row| row.cut_short) {
        true => format!(
            "No level has a usable QPS: each is INVALID, was cut short or had less than {success} success"
        ),
        false => {
            format!("No level has a usable QPS: each is INVALID or had less than {success} success")
        }
    }
}

fn two_servers(curve: &Curve, row: &CurveRow) -> String {
    let change = curve.change.as_deref().unwrap_or("the server changed");
    format!(
        "The levels are of two different servers, and are not compared. At {}, {}",
        level_of(curve.kind, row.level),
        change.trim_end_matches('.')
    )
}

fn single(curve: &Curve, row: &CurveRow) -> String {
    format!(
        "One level does not make a curve: at {} the server answered {} in {} on average; sweep more levels \
         to see where it bends",
        level_of(curve.kind, row.level),
        qps(row),
        show_duration(row.mean_ns)
    )
}

fn concurrency(curve: &Curve, best: usize) -> String {
    let top = &curve.rows[best];
    let at = |row: &CurveRow| level_of(curve.kind, row.level);
    if still_growing(&curve.rows, best) {
        let above = &curve.rows[best + 1..];
        let gone = above.iter().find(|row| row.reason == Some(ReasonCode::ServerGone));
        let next = match gone {
            Some(row) => format!("the server went away at {}", at(row)),
            None if above.is_empty() => "sweep to higher levels".to_owned(),
            None => "measure those above it again".to_owned(),
        };
        let believed = match above.iter().filter(|row| row.cut_short).count() {
            _ if above.is_empty() => "",
            0 => " that is not INVALID",
            cut if cut == above.len() => " that was not cut short",
            _ => " that is not INVALID and was not cut short",
        };
        return format!(
            "QPS was still growing at the highest level{believed}, {}: the server carries at least {} \
             requests/s{}, there in {} on average; {next}",
            at(top),
            rate(top.qps),
            failing_some(top),
            show_duration(top.mean_ns)
        );
    }
    let knee = knee(curve).and_then(|knee| curve.rows.iter().find(|row| row.level == knee.level));
    let knee = knee.unwrap_or(top);
    let (responses, mean) = (qps(knee), show_duration(knee.mean_ns));
    let sentence = if knee.level == top.level {
        format!("The highest throughput is {responses} at {}, in {mean} on average", at(top))
    } else {
        format!(
            "At {} the server answers {responses} in {mean} on average. More connections gain little: its best, \
             {} at {}, is {} more at {:.1} times the mean",
            at(knee),
            qps(top),
            at(top),
            percent(top.qps / knee.qps - 1.0),
            top.mean_ns as f64 / knee.mean_ns.max(1) as f64
        )
    };
    sentence + &beyond(curve, top)
}

/// Whether the best level is the last one run and well above all before.
fn still_growing(rows: &[CurveRow], best: usize) -> bool {
    let before = rows[..best].iter().filter(|row| sound(row)).map(carried);
    // Levels above that are INVALID say nothing of the server, or that it had gone away.
    let last = rows.iter().rposition(known);
    Some(best) == last
        && before.reduce(f64::max).is_some_and(|most| carried(&rows[best]) >= GROWING * most)
}

/// What happens past the best level: the first level that fails or falls, whichever comes first.
fn beyond(curve: &Curve, top: &CurveRow) -> String {
    let failing = |row: &CurveRow| row.success.filter(|&ratio| ratio < MIN_SUCCESS);
    // Where something else was the limit the server carries at least that: nothing fell.
    let valid = |row: &CurveRow| row.verdict.is_none_or(|verdict| verdict == Verdict::Valid);
    let fallen = |row: &CurveRow| valid(row) && row.qps < FALLEN * top.qps;
    let mut past = curve.rows.iter().filter(|row| known(row) && row.level > top.level);
    let Some(row) = past.find(|row| failing(row).is_some() || fallen(row)) else {
        return String::new();
    };
    let level = level_of(curve.kind, row.level);
    match failing(row) {
        Some(success) => format!("; at {level} only {} succeeded", share(success)),
        None => format!("; by {level} QPS has fallen to {}", rate(row.qps)),
    }
}

fn rates(curve: &Curve, best: usize) -> String {
    let kept = |row: &&CurveRow| {
        let pace = match row.sessions {
            Some(sessions) => sessions.reaches(KEPT_UP),
            None => {
                let of_due = || row.qps / row.offered_per_s.unwrap_or(row.level);
                row.responded_ratio.unwrap_or_else(of_due) >= KEPT_UP
            }
        };
        sound(row) && pace
    };
    // What cannot be believed says neither that the server kept up nor that it did not.
    let believable = || curve.rows.iter().filter(|row| known(row));
    let leading = believable().take_while(kept).last();
    let first_missed = believable().find(|row| !kept(row));
    let missed = first_missed.map(|row| {
        let success = row.success.filter(|&ratio| ratio < MIN_SUCCESS);
        let success =
            success.map_or_else(String::new, |r| format!(", of which {} succeeded", share(r)));
        let ended = row.sessions.filter(|sessions| !sessions.reaches(KEPT_UP));
        let ended = ended.map_or_else(String::new, |sessions| {
            format!(" and ended {} of the sessions that were due", share(sessions.ended_ratio))
        });
        format!("at {} it answered {}{success}{ended}", level_of(curve.kind, row.level), qps(row))
    });
    match (leading, missed) {
        (Some(row), Some(missed)) => format!(
            "The server kept up with rates up to {}{}, in {} on average; {missed}",
            level_of(curve.kind, row.level),
            failing_some(row),
            show_duration(row.mean_ns)
        ),
        (Some(row), None) => format!(
            "The server kept up with every rate, the highest being {}{} in {} on average: its limit is \
             higher",
            level_of(curve.kind, row.level),
            failing_some(row),
            show_duration(row.mean_ns)
        ),
        (None, missed) => format!(
            "The server kept up with none of the rates: {}; the highest was {}",
            missed.unwrap_or_default(),
            qps(&curve.rows[best])
        ),
    }
}

/// The clause about the objective; empty where the best level is within it.
fn objective(
    curve: &Curve,
    best: Option<usize>,
    within: Option<usize>,
    objective_mean_ns: Nanos,
) -> String {
    let limit = show_duration(objective_mean_ns);
    match within {
        None => format!("; no level kept the mean within {limit}"),
        Some(at) if Some(at) != best => {
            let row = &curve.rows[at];
            let level = level_of(curve.kind, row.level);
            format!("; within a mean of {limit} the most is {} at {level}", qps(row))
        }
        Some(_) => String::new(),
    }
}

/// How the figures of lower bounds read. At a fixed rate arrivals that were not sent are in no latency.
const fn bounds(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Concurrency => "read QPS as \"at least\" and latency as \"at most\"",
        LevelKind::Rate => "read QPS as \"at least\"",
    }
}

fn notes(curve: &Curve) -> Vec<String> {
    let mut notes = Vec::new();
    for verdict in [Verdict::LowerBound, Verdict::Invalid] {
        let rows = || curve.rows.iter().filter(|row| row.verdict == Some(verdict));
        let levels: Vec<f64> = rows().map(|row| row.level).collect();
        let mut codes: Vec<&str> =
            rows().filter_map(|row| row.reason).map(ReasonCode::name).collect();
        codes.sort_unstable();
        codes.dedup();
        let why = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
        if !levels.is_empty() {
            let bounds = bounds(curve.kind);
            let levels = levels_of(curve.kind, &levels);
            let means = match (verdict, codes.as_slice()) {
                (Verdict::Invalid, _) => "leave them out".to_owned(),
                (_, ["not_steady"]) => format!("the start was slower than the rest, so {bounds}"),
                (_, ["connections_exhausted"]) => format!(
                    "arrivals waited for a free connection there: the server was slow, or more connections (-c) carry more, \
                     so {bounds}"
                ),
                _ => format!("something other than the server was the limit there, so {bounds}"),
            };
            notes.push(format!("{} at {levels}{why}: {means}", verdict.name()));
        }
    }
    notes.extend(dip(curve));
    notes.extend(little_note(curve));
    notes
}

/// A level well below both a lower and a higher one: not a lower bound, where the server may carry more.
fn dip(curve: &Curve) -> Option<String> {
    let rows: Vec<&CurveRow> = curve.rows.iter().filter(|row| sound(row)).collect();
    let dips = rows.iter().enumerate().filter(|&(at, row)| {
        let highest = |part: &[&CurveRow]| part.iter().map(|r| r.qps).fold(0.0, f64::max);
        row.verdict != Some(Verdict::LowerBound)
            && row.qps < FALLEN * highest(&rows[..at]).min(highest(&rows[at + 1..]))
    });
    let levels: Vec<f64> = dips.map(|(_, row)| row.level).collect();
    (!levels.is_empty() && curve.kind == LevelKind::Concurrency).then(|| {
        format!(
            "QPS dips at {} although both fewer and more connections reach more: repeat the sweep \
             before you draw conclusions from it",
            levels_of(curve.kind, &levels)
        )
    })
}

/// The worst breach of Little's law among imported rows, and how many there are.
pub(crate) fn little_note(curve: &Curve) -> Option<String> {
    let excess = |row: &CurveRow| row.in_flight() / row.level;
    let rows: Vec<&CurveRow> = impossible_rows(curve).collect();
    let worst = rows.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)))?;
    Some(format!(
        "{}: QPS x mean exceeds the connections at {} of {}, by up to {:.1} times at {}; \
         Little's law forbids it, so QPS or mean there is wrong",
        curve.name,
        rows.len(),
        counted(curve.rows.len() as f64, "level"),
        excess(worst),
        level_of(curve.kind, worst.level)
    ))
}

fn qps(row: &CurveRow) -> String {
    let at_least = if row.verdict == Some(Verdict::LowerBound) { "at least " } else { "" };
    format!("{at_least}{} requests/s{}", rate(row.qps), failing_some(row))
}

/// That a level's QPS counts failures, where they are more than a few; of more than a tenth others tell.
pub(crate) fn failing_some(row: &CurveRow) -> String {
    let some = row.success.filter(|ratio| (MIN_SUCCESS..ALL_SUCCEED).contains(ratio));
    some.map_or_else(String::new, |ratio| format!(" ({} of them succeeded)", share(ratio)))
}

#[cfg(test)]
mod tests;
