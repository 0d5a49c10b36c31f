//! The grammar of objectives and abort rules:
//!
//! ```text
//! objective = "baseline" | "top10" | "stable" | "valid" | [ subject ":" ] bound
//! abort     = bound "for" time
//! subject   = name of an endpoint | "top" number
//! bound     = figure ( "<" | "<=" | ">" | ">=" ) limit
//! figure    = [ "service." | "response." ] ( "mean" | "max" | "p" number )
//!           | "success" | "served" | "errors" [ "." class ] | "qps" | "achieved"
//! limit     = time | number "%" | number [ "k" | "M" | "G" ]
//! ```
//!
//! Blanks may stand between any two parts. The unit of a limit follows from its figure and must be
//! written, so that no limit is taken for another.

use std::fmt;

use model::ErrorClass;
use model::names::nearest;
use model::units::{parse_count, parse_duration, parse_rate, ungrouped};

use super::abort::AbortRule;
use super::{
    Bound, Goal, Limit, Metric, Objective, Percentile, Preset, Relation, Statistic, Subject,
};
use crate::blocks::Time;

/// What is wrong with an objective, and where. `Display` shows it with a caret below the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectiveError {
    /// The text as it was written, its control characters made harmless.
    pub text: String,
    /// Where the trouble begins, in characters from 0; the text's length when something is missing
    /// at its end.
    pub column: usize,
    /// How many characters it concerns, from 1.
    pub width: usize,
    /// What is wrong and what would do.
    pub message: String,
}

impl fmt::Display for ObjectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "column {}: {}", self.column + 1, self.message)?;
        writeln!(f, "  {}", self.text)?;
        write!(f, "  {}{}", " ".repeat(self.column), "^".repeat(self.width))
    }
}

impl std::error::Error for ObjectiveError {}

/// Figures that objectives and abort rules name, as [`figure`] reads them.
const FIGURES: &str = "mean, p50 to p99.99, max, success, available, served, errors, \
                       errors.CLASS, qps";

/// Figures by the names that other tools give them, and by their names here.
const HABITS: &[(&str, &str)] = &[
    ("avg", "mean"),
    ("average", "mean"),
    ("median", "p50"),
    ("error_rate", "errors"),
    ("failed", "errors"),
    ("failures", "errors"),
    ("throughput", "qps"),
    ("availability", "available"),
];

/// Reads what one `--slo` says: an objective, or a preset's.
///
/// # Errors
/// When it is not an objective; the error points at the place.
pub fn parse(text: &str) -> Result<Vec<Objective>, ObjectiveError> {
    let whole = Part::of(text).trimmed();
    if let Some(preset) = Preset::ALL.into_iter().find(|preset| preset.name() == whole.text) {
        return Ok(preset.objectives());
    }
    let (subject, rest) = match whole.text.rfind(':') {
        Some(at) => (subject(whole.slice(0, at))?, whole.slice(at + 1, whole.text.len())),
        None => (Subject::Load, whole),
    };
    let rest = rest.trimmed();
    let goal = match rest.text {
        "stable" if subject == Subject::Load => Goal::Stable,
        "valid" if subject == Subject::Load => Goal::Valid,
        word @ ("stable" | "valid") => {
            let message = format!("`{word}` is about the whole run: leave the endpoint out");
            return Err(rest.error(message));
        }
        _ => Goal::Bound(good_side(bound(rest)?, rest)?),
    };
    Ok(vec![Objective { subject, goal, preset: None }])
}

/// Reads what `--abort-on` says.
///
/// # Errors
/// When it is no rule; the error points at the place.
pub fn parse_abort(text: &str) -> Result<AbortRule, ObjectiveError> {
    let whole = Part::of(text).trimmed();
    let Some(at) = whole.text.rfind(" for ") else {
        let message = "state how long the breach must last: `p99>2s for 10s`";
        return Err(whole.end().error(message));
    };
    let (breach, held) = (whole.slice(0, at).trimmed(), whole.slice(at + 5, whole.text.len()));
    if let Some(at) = breach.text.find(':') {
        let message = "an abort rule is about the whole load: leave the endpoint out";
        return Err(breach.slice(0, at + 1).error(message));
    }
    if breach.text == "stable" {
        return Err(breach.error("dips are found after a run: give a figure and a limit"));
    }
    if breach.text == "valid" {
        return Err(breach.error("a run is judged after its end: give a figure and a limit"));
    }
    let breach = bad_side(bound(breach)?, breach)?;
    if breach.metric == Metric::Served {
        let message = "users are counted after a run: give another figure and a limit";
        return Err(whole.slice(0, at).trimmed().error(message));
    }
    match time(held.trimmed())? {
        Limit::Time(held_ns) => Ok(AbortRule { breach, held_ns }),
        _ => Err(held.error("not a time")),
    }
}

/// A piece of what was written, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    whole: &'a str,
    /// In bytes.
    at: usize,
    text: &'a str,
}

impl<'a> Part<'a> {
    fn of(text: &'a str) -> Self {
        Self { whole: text, at: 0, text }
    }

    fn slice(self, from: usize, to: usize) -> Self {
        Self { at: self.at + from, text: &self.text[from..to], ..self }
    }

    fn trimmed(self) -> Self {
        let lead = self.text.len() - self.text.trim_start().len();
        Self { at: self.at + lead, text: self.text.trim(), ..self }
    }

    /// The place right behind it.
    fn end(self) -> Self {
        self.slice(self.text.len(), self.text.len())
    }

    /// Splits off what a rule takes from the start.
    fn take(self, rule: impl Fn(char) -> bool) -> (Self, Self) {
        let end = self.text.find(|c| !rule(c)).unwrap_or(self.text.len());
        (self.slice(0, end), self.slice(end, self.text.len()))
    }

    fn error(self, message: impl Into<String>) -> ObjectiveError {
        let harmless = |c: char| if c.is_control() { '·' } else { c };
        ObjectiveError {
            text: self.whole.chars().map(harmless).collect(),
            column: self.whole[..self.at].chars().count(),
            width: self.text.chars().count().max(1),
            message: message.into(),
        }
    }
}

/// `GET /users/{id}`, `login`, `visit/GET /items` or `top10`. Which endpoints there are is not known here.
fn subject(part: Part<'_>) -> Result<Subject, ObjectiveError> {
    let part = part.trimmed();
    if let Some(count) = part.text.strip_prefix("top").and_then(|n| n.parse().ok()) {
        if count == 0 {
            return Err(part.error("at least one endpoint: top1"));
        }
        return Ok(Subject::Busiest(count));
    }
    if part.text.is_empty() || part.text.contains(char::is_control) {
        return Err(part.error("the name of an endpoint is expected here: `GET /users/{id}`"));
    }
    Ok(Subject::Endpoint(part.text.to_owned()))
}

fn bound(part: Part<'_>) -> Result<Bound, ObjectiveError> {
    if part.text.is_empty() {
        return Err(part.error("the objective is empty: try `p99<500ms`"));
    }
    let (name, rest) = part.take(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let metric = figure(name)?;
    let (relation, rest) = relation(rest.trimmed())?;
    Ok(Bound { metric, relation, limit: limit(metric, rest.trimmed())? })
}

fn figure(name: Part<'_>) -> Result<Metric, ObjectiveError> {
    let (scope, rest) = match name.text.split_once('.') {
        Some(("service", _)) => (Some(Time::Service), name.slice(8, name.text.len())),
        Some(("response", _)) => (Some(Time::Response), name.slice(9, name.text.len())),
        Some(("errors", _)) => return class(name.slice(7, name.text.len())),
        _ => (None, name),
    };
    let time = scope.unwrap_or(Time::Response);
    match (rest.text, scope) {
        ("mean", _) => Ok(Metric::Latency(time, Statistic::Mean)),
        ("max", _) => Ok(Metric::Latency(time, Statistic::Max)),
        (text, _) if looks_like_percentile(text) => {
            Ok(Metric::Latency(time, Statistic::Percentile(percentile(rest)?)))
        }
        ("success", None) => Ok(Metric::Success),
        ("available", None) => Ok(Metric::Available),
        ("served", None) => Ok(Metric::Served),
        ("errors", None) => Ok(Metric::Errors(None)),
        ("qps", None) => Ok(Metric::Qps),
        ("achieved", None) => Ok(Metric::Achieved),
        ("", Some(_)) => Err(rest.error("which latency? `service.p99`, `service.mean`")),
        (text, Some(_)) if FIGURES.split(", ").any(|known| known == text) => {
            Err(name.error(format!("`{text}` is not a latency: leave out the first word")))
        }
        _ => Err(unknown_figure(rest)),
    }
}

fn looks_like_percentile(text: &str) -> bool {
    text.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn unknown_figure(name: Part<'_>) -> ObjectiveError {
    if name.text.is_empty() {
        return name.error(format!("a figure is missing: one of {FIGURES}"));
    }
    let known = [
        "mean",
        "max",
        "p99",
        "success",
        "available",
        "served",
        "errors",
        "qps",
        "stable",
        "valid",
        "baseline",
        "top10",
    ];
    let lower = name.text.to_lowercase();
    let habit = HABITS.iter().find(|(habit, _)| *habit == lower).map(|(_, figure)| *figure);
    let message = match habit.or_else(|| nearest(name.text, known)) {
        Some(near) => format!("unknown figure `{}`: did you mean `{near}`?", name.text),
        None => format!("unknown figure `{}`: use one of {FIGURES}", name.text),
    };
    name.error(message)
}

fn class(name: Part<'_>) -> Result<Metric, ObjectiveError> {
    let classes = || ErrorClass::ALL.into_iter().map(ErrorClass::name);
    match ErrorClass::ALL.into_iter().find(|class| class.name() == name.text) {
        Some(class) => Ok(Metric::Errors(Some(class))),
        None => Err(name.error(match nearest(name.text, classes()) {
            Some(near) => format!("unknown class of errors: did you mean `{near}`?"),
            None => format!(
                "unknown class of errors: use one of {}",
                classes().collect::<Vec<_>>().join(", ")
            ),
        })),
    }
}

/// `p99`, `p99.9`; `p999` could be meant as p99.9 and is refused.
fn percentile(part: Part<'_>) -> Result<Percentile, ObjectiveError> {
    let number = part.slice(1, part.text.len());
    let (whole, decimals) = number.text.split_once('.').unwrap_or((number.text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let empty_decimals = number.text.ends_with('.');
    if !digits(whole) || !digits(decimals) || empty_decimals || whole.is_empty() {
        return Err(number.error("not a percentile: p50, p99, p99.9"));
    }
    if decimals.len() > 4 {
        return Err(number.error("four decimals at most: p99.9999"));
    }
    if whole.len() == 1 && whole != "0" && decimals.is_empty() {
        let meant = if whole == "9" { "p90".to_owned() } else { format!("p{whole}0, p90") };
        let message = format!("did you mean {meant} or p99? ({whole} % is written p{whole}.0)");
        return Err(number.error(message));
    }
    if whole.len() > 2 {
        return Err(number.error(match whole.strip_prefix("99") {
            Some(more) if more.len() <= 4 => format!("write p99.{more}"),
            _ => "a percentile is above 0 and below 100; the longest is `max`".to_owned(),
        }));
    }
    let read = format!("{whole}{decimals:0<4}").parse().ok().and_then(Percentile::new);
    read.ok_or_else(|| number.error("a percentile is above 0 and below 100"))
}

fn relation(part: Part<'_>) -> Result<(Relation, Part<'_>), ObjectiveError> {
    let (sign, rest) = part.take(|c| matches!(c, '<' | '>' | '=' | '≤' | '≥' | '!' | '~'));
    let relation = match sign.text {
        "<" => Relation::Below,
        "<=" | "≤" => Relation::AtMost,
        ">" => Relation::Above,
        ">=" | "≥" => Relation::AtLeast,
        "=<" => return Err(sign.error("write <=")),
        "=>" => return Err(sign.error("write >=")),
        "" => {
            let what = "<, <=, > or >= is expected here (in quotes: a shell takes them for itself)";
            return Err(part.slice(0, 0).error(what));
        }
        _ => return Err(sign.error("use <, <=, > or >=")),
    };
    Ok((relation, rest))
}

fn limit(metric: Metric, part: Part<'_>) -> Result<Limit, ObjectiveError> {
    if let Some(at) = part.text.find(',') {
        let comma = part.slice(at, at + 1);
        let message = match ungrouped(part.text.trim()) {
            Some(plain) => format!("a limit has no commas: write {plain}"),
            None => "one objective at a time: give the flag again for the next".to_owned(),
        };
        return Err(comma.error(message));
    }
    match metric {
        Metric::Latency(..) => time(part),
        Metric::Success | Metric::Available | Metric::Served | Metric::Achieved => percent(part),
        Metric::Errors(_) if part.text.ends_with('%') => percent(part),
        Metric::Errors(_) => count(part),
        Metric::Qps => per_s(part),
    }
}

/// A number and what follows it.
fn number<'a>(part: Part<'a>, such_as: &str) -> Result<(Part<'a>, Part<'a>), ObjectiveError> {
    let (digits, unit) = part.take(|c| c.is_ascii_digit() || c == '.');
    if digits.text.is_empty() {
        return Err(part.error(format!("a limit is expected here, such as {such_as}")));
    }
    match digits.text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((digits, unit.trimmed())),
        _ => Err(digits.error(format!("not a number; expected a limit such as {such_as}"))),
    }
}

fn time(part: Part<'_>) -> Result<Limit, ObjectiveError> {
    let (digits, unit) = number(part, "500ms")?;
    if unit.text.is_empty() {
        let message = format!("a unit is missing: {0}ms or {0}s?", digits.text);
        return Err(part.end().error(message));
    }
    let units = ["ns", "us", "µs", "ms", "s", "m", "min", "h", "d"];
    if !units.contains(&unit.text) {
        return Err(unit.error("unknown unit: use ns, us, ms, s, m, h or d"));
    }
    match parse_duration(part.text) {
        Ok(0) => Err(part.error("a time must be above zero")),
        Ok(nanos) => Ok(Limit::Time(nanos)),
        Err(error) => Err(part.error(error.to_string())),
    }
}

fn percent(part: Part<'_>) -> Result<Limit, ObjectiveError> {
    let (digits, unit) = number(part, "99%")?;
    let value: f64 = digits.text.parse().unwrap_or(f64::NAN);
    match unit.text {
        "%" if (0.0..=100.0).contains(&value) => Ok(Limit::Percent(value)),
        "%" => Err(part.error("a share is from 0% to 100%")),
        "" => {
            let meant = percentages(digits.text);
            Err(part.end().error(format!("a percentage is expected: {meant}")))
        }
        _ => Err(unit.error("a percentage is expected, such as 99%")),
    }
}

/// What a share may mean that was written without its unit: `0.999` is 99.9% as a ratio, and else 0.999%.
fn percentages(number: &str) -> String {
    match number.parse::<f64>() {
        Ok(ratio) if ratio > 0.0 && ratio <= 1.0 => {
            let percent = format!("{:.6}", 100.0 * ratio);
            let percent = percent.trim_end_matches('0').trim_end_matches('.');
            format!("{percent}% or {number}%")
        }
        _ => format!("{number}%"),
    }
}

fn count(part: Part<'_>) -> Result<Limit, ObjectiveError> {
    let (_, unit) = number(part, "0.1% or 10")?;
    match parse_count(part.text) {
        Ok(count) => Ok(Limit::Count(count)),
        Err(_) if unit.text.is_empty() => {
            let meant = percentages(part.text);
            Err(part.error(format!("write {meant}, or a whole number of attempts")))
        }
        Err(error) => Err(unit.error(error.to_string())),
    }
}

fn per_s(part: Part<'_>) -> Result<Limit, ObjectiveError> {
    let bare = part.text.strip_suffix("/s").unwrap_or(part.text);
    let part = part.slice(0, bare.len()).trimmed();
    let (_, unit) = number(part, "1000 or 20k")?;
    match parse_rate(part.text) {
        Ok(per_s) => Ok(Limit::PerS(per_s)),
        Err(error) if unit.text.is_empty() => Err(part.error(error.to_string())),
        Err(error) => Err(unit.error(error.to_string())),
    }
}

/// An objective names what is wanted.
fn good_side(bound: Bound, part: Part<'_>) -> Result<Bound, ObjectiveError> {
    let metric = bound.metric;
    if metric == Metric::Achieved {
        let message = "`achieved` belongs to --abort-on; validity judges it in every run";
        return Err(part.take(char::is_alphanumeric).0.error(message));
    }
    if metric.lower_is_better() == bound.relation.is_upper() {
        return Ok(bound);
    }
    let (better, signs) =
        if metric.lower_is_better() { ("less", "< or <=") } else { ("more", "> or >=") };
    Err(sign_of(part).error(format!("of `{metric}`, {better} is better: use {signs}")))
}

/// An abort rule names the breach.
fn bad_side(bound: Bound, part: Part<'_>) -> Result<Bound, ObjectiveError> {
    let metric = bound.metric;
    if metric.lower_is_better() != bound.relation.is_upper() {
        return Ok(bound);
    }
    let signs = if metric.lower_is_better() { "> or >=" } else { "< or <=" };
    let message = format!(
        "this would end a run that meets the limit: write the breach with \
        {signs}"
    );
    Err(sign_of(part).error(message))
}

fn sign_of(part: Part<'_>) -> Part<'_> {
    let (_, rest) = part.take(|c| !matches!(c, '<' | '>' | '≤' | '≥'));
    rest.take(|c| matches!(c, '<' | '>' | '=' | '≤' | '≥')).0
}

#[cfg(test)]
mod tests;
