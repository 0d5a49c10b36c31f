//! wrktest.sh's `.dat`: a line a level with concurrency, QPS, mean latency in milliseconds and
//! success rate in per cent, separated by blanks. Read into a [`Curve`] and printed from one.
//!
//! Besides the script's own form, `#` comments, blank lines, CRLF and a byte order mark are
//! accepted. A success rate below zero, which the script prints where errors outnumber requests, is
//! none. Levels rise from line to line, as in a table that was not put together by hand. A table of an
//! open-loop sweep has rates in its first column; those that Plimsoll writes open with [`RATE_HEADING`],
//! a comment to gnuplot.

use std::fmt::Write as _;

use model::percentile::LevelPercentiles;
use model::units::{LONGEST, MILLISECOND, Nanos};
use model::{Curve, CurveRow, LevelKind, SuccessMeaning};

use crate::BadFile;
use model::quote::quote;

/// First line of a table whose levels are rates.
pub const RATE_HEADING: &str = "# rate_per_s qps mean_ms success_percent";

/// Levels read at most.
const MOST_LEVELS: usize = 100_000;
/// The highest level or QPS accepted: more than a machine can be asked for.
const HIGHEST: f64 = 1e12;

/// The place of the success rate among the columns.
const SUCCESS: usize = 3;
const COLUMNS: [&str; 4] = ["concurrency", "QPS", "mean latency in ms", "success in %"];

/// Reads a table as the curve `name`.
///
/// # Errors
/// On text that is not UTF-8, a line without exactly four numbers, a number out of its column's
/// range, a level that comes twice or after a higher one, and a file without levels.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Curve, BadFile> {
    let text = std::str::from_utf8(bytes).map_err(|e| not_text(bytes, e.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut kind = LevelKind::Concurrency;
    let mut rows: Vec<CurveRow> = Vec::new();
    let mut before = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line == RATE_HEADING {
            kind = LevelKind::Rate;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let row = parse_line(number, line, kind)?;
        if let Some(last) = rows.last().filter(|last| last.level >= row.level) {
            return Err(BadFile::at(number, no_rise(row.level, last.level, before)));
        }
        rows.push(row);
        before = number;
        if rows.len() > MOST_LEVELS {
            return Err(BadFile::at(number, format!("more than {MOST_LEVELS} levels")));
        }
    }
    if rows.is_empty() {
        let what = format!("holds no levels; expected lines of {}", COLUMNS.join(", "));
        return Err(BadFile::whole(what));
    }
    Ok(Curve {
        name: name.to_owned(),
        kind,
        rows,
        origin: None,
        success_means: SuccessMeaning::Unstated,
        environment: None,
        commonest_response: None,
        change: None,
    })
}

/// That a level is not above the one before it, on line `before`.
fn no_rise(level: f64, last: f64, before: usize) -> String {
    if level == last {
        return format!("level {level} was on line {before} already: remove one");
    }
    format!(
        "level {level} comes after {last} on line {before}: levels must rise; if the lines belong \
         together, put them in order with `sort -n`"
    )
}

fn not_text(bytes: &[u8], valid: usize) -> BadFile {
    let line = 1 + bytes[..valid].iter().filter(|&&byte| byte == b'\n').count();
    BadFile::at(line, "not text: a .dat is four columns of numbers in UTF-8 or ASCII")
}

fn parse_line(number: usize, line: &str, kind: LevelKind) -> Result<CurveRow, BadFile> {
    let words: Vec<&str> = line.split_whitespace().take(COLUMNS.len() + 1).collect();
    let values = words.iter().zip(0..COLUMNS.len());
    let values: Vec<f64> = values
        .map(|(word, column)| match word.strip_prefix('-') {
            Some(n) if column == SUCCESS && parse_number(number, column, n).is_ok() => Ok(0.0),
            _ => parse_number(number, column, word),
        })
        .collect::<Result<_, _>>()?;
    let &[level, qps, mean_ms, success] = values.as_slice() else {
        let what = format!(
            "{} of four columns; {} is missing (expected {})",
            values.len(),
            COLUMNS[values.len()],
            COLUMNS.join(", ")
        );
        return Err(BadFile::at(number, what));
    };
    if let Some(fifth) = words.get(COLUMNS.len()) {
        let what = format!("a fifth column, {}; expected {}", quote(fifth), COLUMNS.join(", "));
        return Err(BadFile::at(number, what));
    }
    let whole = kind == LevelKind::Rate || level.fract() == 0.0;
    let limits = [
        (0, level > 0.0, "is not above zero"),
        (0, whole, "is not a whole number of connections"),
        (0, level <= HIGHEST, "is too large"),
        (1, qps <= HIGHEST, "is too large"),
        (2, mean_ms * MILLISECOND as f64 <= LONGEST as f64, "is longer than ten years"),
        (SUCCESS, success <= 100.0, "is over 100"),
    ];
    if let Some((column, _, what)) = limits.into_iter().find(|&(_, kept, _)| !kept) {
        return Err(out_of_range(number, column, words[column], what));
    }
    let mean_ns = (mean_ms * MILLISECOND as f64).round() as Nanos;
    let success = Some(success / 100.0);
    Ok(CurveRow {
        level,
        offered_per_s: None,
        sessions: None,
        responded_ratio: None,
        qps,
        mean_ns,
        percentiles: LevelPercentiles::default(),
        success,
        verdict: None,
        reason: None,
        cut_short: false,
    })
}

/// A finite number, not negative. `inf`, `nan` and the like are words here, not numbers.
fn parse_number(number: usize, column: usize, word: &str) -> Result<f64, BadFile> {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let value = word.chars().all(numeric).then(|| word.parse::<f64>().ok()).flatten();
    match value {
        Some(value) if !value.is_finite() => {
            Err(out_of_range(number, column, word, "is too large"))
        }
        Some(value) if value.is_sign_negative() => {
            Err(out_of_range(number, column, word, "is negative"))
        }
        Some(value) => Ok(value),
        None => Err(out_of_range(number, column, word, "is not a number")),
    }
}

fn out_of_range(number: usize, column: usize, word: &str, what: &str) -> BadFile {
    let place = format!("{} in column {} ({})", quote(word), column + 1, COLUMNS[column]);
    BadFile::at(number, format!("{place} {what}"))
}

/// Prints a curve in the script's form: two decimals, and five below 1 (a mean below 1 ms then
/// reads as wrk prints microseconds). A success rate is never rounded up to 100; an unknown one
/// prints as 0. Reading the result and printing that again gives the same text.
pub fn print(curve: &Curve) -> String {
    let mut text = String::new();
    if curve.kind == LevelKind::Rate {
        text.push_str(RATE_HEADING);
        text.push('\n');
    }
    for row in &curve.rows {
        let qps = decimal(row.qps);
        let mean_ms = decimal(row.mean_ns as f64 / MILLISECOND as f64);
        let success = success_percent(row.success.unwrap_or(0.0));
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "{} {qps} {mean_ms} {success}", row.level);
    }
    text
}

/// Below one with more decimals, unless they round to nothing or to one: what is read again is printed
/// the same.
fn decimal(value: f64) -> String {
    let small = Some(value).filter(|value| *value > 0.0 && *value < 1.0);
    let fine = small.map(|value| format!("{value:.5}"));
    let fine = fine.filter(|fine| !["0.00000", "1.00000"].contains(&fine.as_str()));
    fine.unwrap_or_else(|| format!("{value:.2}"))
}

fn success_percent(ratio: f64) -> String {
    let rounded = (ratio * 10_000.0).round();
    let hundredths = if ratio < 1.0 { rounded.min(9_999.0) } else { 10_000.0 };
    format!("{:.2}", hundredths / 100.0)
}

#[cfg(test)]
mod tests;
