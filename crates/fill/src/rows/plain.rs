//! Values that may occur more than once: drawn from what was learnt, or else made to look right for the column's name
//! and type.

use model::random::{Draws, mixed};

use super::histogram::{share_of, within};
use super::limits::{Letters, Limits, shaped};
use crate::draw::key_of;
use crate::kind::Kind;
use crate::learn::{Form, Learned, Rest, number_of};
use crate::schema::{Column, Type};
use crate::times::{DAY, SECOND};
use crate::value::Value;
use crate::words::{Words, hexadecimal, uuid};

/// How long rows go back where no times are known.
const YEARS: i64 = 2;

/// What a column's values depend on: the column above which they are, and whether never the same; the links, and the
/// columns of parents, before whose times they are not.
pub type Bases = (Option<(usize, bool)>, Vec<(usize, usize)>);

/// How values of a column are made.
#[derive(Debug)]
pub struct Plain {
    kind: Kind,
    of: Type,
    learned: Learned,
    /// Sums of the common values' shares.
    sums: Vec<f64>,
    common: Vec<Value>,
    others: Vec<Value>,
    limits: Limits,
    /// How texts are written that stand for something else.
    form: Option<Form>,
    /// Above this other column; whether never the same.
    after: Option<(usize, bool)>,
    /// Not before these times of parents: the link, and the parent's column.
    floors: Vec<(usize, usize)>,
    until: i64,
    /// The last time that is made, in the column's own unit.
    last: f64,
    seed: u64,
    /// Share of TRUE.
    yes: f64,
}

impl Plain {
    /// For a column; `limits` are its conditions', `after` the column below which it may not lie, `floors` the links
    /// and columns of parents before which it may not.
    pub fn new(
        column: &Column,
        kind: Kind,
        learned: Learned,
        limits: Limits,
        (after, floors): Bases,
        (until, seed): (i64, u64),
    ) -> Self {
        let form = learned.form.clone().filter(|_| limits.one_of.is_none());
        let of = form.as_ref().map_or_else(|| column.kind.clone(), |_| learned.kind_of(column));
        let kind = form.as_ref().and_then(Form::about).unwrap_or(kind);
        let last = last_of(&of, &learned, until);
        let mut sum = 0.0;
        let sums = learned.common.iter().map(|(_, share)| {
            sum += share;
            sum
        });
        let sums = sums.collect();
        let value = |text: &String| Value::parse(&column.kind, text);
        let common = learned.common.iter().map(|(text, _)| value(text)).collect();
        let others = match &learned.rest {
            Rest::OneOf(texts) => texts.iter().map(value).collect(),
            _ => Vec::new(),
        };
        let no = column.default.as_deref().is_some_and(|default| {
            ["false", "0", "b'0'", "'f'"].iter().any(|no| default.to_ascii_lowercase().contains(no))
        });
        let yes = if no { 0.1 } else { 0.5 };
        let after = after.or(learned.after.as_ref().map(|(base, _)| (*base, false)));
        Self {
            kind,
            of,
            form,
            learned,
            sums,
            common,
            others,
            limits,
            after,
            floors,
            until,
            last,
            seed,
            yes,
        }
    }

    /// The column on which values depend.
    pub fn base(&self) -> Option<usize> {
        self.after.map(|(base, _)| base)
    }

    /// The links, and the parents' columns, whose times a value does not lie before.
    pub fn floors(&self) -> &[(usize, usize)] {
        &self.floors
    }

    /// Whether a row that is drawn anew has NULL, since a condition asks for that and no rows say how often.
    pub fn is_null_when_redrawn(&self, key: u64) -> bool {
        let may_be = self.limits.asked && !self.limits.filled && !self.learned.is_known();
        may_be && Draws::of(mixed(key)).unit() < 0.5
    }

    /// The value of a row of `rows` that are added; not before `floor`, in microseconds since 1970.
    pub fn value(
        &self,
        (row, rows): (u64, u64),
        key: u64,
        base: Option<&Value>,
        floor: Option<i64>,
        words: &Words,
    ) -> Value {
        let mut draws = Draws::of(key);
        let value = self.unraised((row, rows), &mut draws, base, words);
        match floor {
            Some(floor) => self.raised(value, floor, &mut draws),
            None => value,
        }
    }

    fn unraised(
        &self,
        (row, rows): (u64, u64),
        draws: &mut Draws,
        base: Option<&Value>,
        words: &Words,
    ) -> Value {
        let nulls = match (self.learned.is_known(), self.kind) {
            (true, _) => self.learned.nulls,
            (false, Kind::Later) => 0.3,
            // All that was seen was NULL.
            _ => self.learned.nulls,
        };
        if !self.limits.filled && draws.unit() < nulls {
            return Value::Null;
        }
        if let Some(value) = base.and_then(|base| self.above(base, draws)) {
            return value;
        }
        if self.learned.is_known() {
            return self.like_others(row, rows, draws, words);
        }
        self.by_name(row, rows, draws, words)
    }

    /// The value, or another one behind `floor` if it lies before it: of the rest of what was learnt, or up to the
    /// last time.
    fn raised(&self, value: Value, floor: i64, draws: &mut Draws) -> Value {
        let (floor, unit) = match self.of {
            Type::Date => (floor.div_euclid(DAY), 1),
            Type::Moment { micros: true } if floor % SECOND != 0 => (floor, 1),
            _ => (SECOND * -((-floor).div_euclid(SECOND)), SECOND),
        };
        let (floor, unit) = (floor as f64, unit as f64);
        let place = |value: &Value| match value {
            Value::Date(days) => Some(*days as f64),
            Value::Moment(micros) => Some(*micros as f64),
            Value::Text(text) => number_of(&self.of, text),
            _ => None,
        };
        if place(&value).is_none_or(|number| number >= floor) {
            return value;
        }
        let behind = |value: &&Value| place(value).is_some_and(|number| number >= floor);
        let common: Vec<&Value> = self.common.iter().filter(behind).collect();
        let share = draws.unit();
        let number = match &self.learned.rest {
            Rest::Between { edges, step } if floor < edges[edges.len() - 1] => {
                let passed = share_of(edges, floor);
                let number = within(edges, passed + share * (1.0 - passed));
                let stepped = match *step > 0.0 {
                    true => edges[0] + ((number - edges[0]) / step).ceil() * step,
                    false => number,
                };
                stepped.min(edges[edges.len() - 1])
            }
            Rest::None if !common.is_empty() => {
                return common[draws.below(common.len() as u64) as usize].clone();
            }
            _ => ((floor + share * (self.last - floor).max(0.0)) / unit).floor() * unit,
        };
        self.number(self.limits.clamp(number.max(floor)))
    }

    /// A value above another one.
    fn above(&self, base: &Value, draws: &mut Draws) -> Option<Value> {
        let (_, strictly) = self.after?;
        let base = match base {
            Value::Date(days) => *days as f64,
            Value::Moment(micros) | Value::Time(micros) => *micros as f64,
            Value::Text(text) => number_of(&self.of, text)?,
            other => other.number()?,
        };
        let unit = if matches!(self.of, Type::Moment { .. }) { SECOND as f64 } else { 1.0 };
        let distance = match &self.learned.after {
            Some((_, edges)) => within(edges, draws.unit()),
            None => {
                let share = draws.unit();
                let longest = match self.of {
                    Type::Moment { .. } => 30.0 * DAY as f64,
                    Type::Time => 3600.0 * SECOND as f64,
                    Type::Date => 30.0,
                    _ => (base.abs() * 0.5).max(10.0),
                };
                share * share * longest
            }
        };
        let least = if strictly { unit } else { 0.0 };
        // What would lie behind the last time lies anywhere before it.
        let distance = match base + distance > self.last {
            true => draws.unit() * (self.last - base).max(0.0),
            false => distance,
        };
        Some(self.number(self.limits.clamp(base + distance.max(least))))
    }

    fn like_others(&self, row: u64, rows: u64, draws: &mut Draws, words: &Words) -> Value {
        let share = draws.unit();
        let all = self.learned.rest == Rest::None;
        let total = self.sums.last().copied().unwrap_or(0.0);
        if all || share < total {
            let share = if all { share * total } else { share };
            let at = self.sums.partition_point(|sum| *sum <= share);
            return self.common[at.min(self.common.len() - 1)].clone();
        }
        match &self.learned.rest {
            Rest::Between { edges, step } => {
                let share = if self.learned.rising {
                    (row as f64 + draws.unit()) / rows as f64
                } else {
                    draws.unit()
                };
                let number = within(edges, share.min(1.0));
                let last = edges[edges.len() - 1];
                let stepped = match *step > 0.0 {
                    true => (edges[0] + ((number - edges[0]) / step).round() * step).min(last),
                    false => number,
                };
                self.number(self.limits.clamp(stepped))
            }
            Rest::OneOf(_) => self.others[draws.below(self.others.len() as u64) as usize].clone(),
            Rest::Fresh { .. } if self.limits.one_of.is_some() => {
                self.by_name(row, rows, draws, words)
            }
            Rest::Fresh { per_row, length } => {
                let distinct = ((per_row * rows as f64) as u64).max(1);
                let which = if *per_row > 0.95 { row } else { draws.below(distinct) };
                self.fresh(which, *length, words)
            }
            Rest::None => Value::Null,
        }
    }

    /// One of the column's new values.
    fn fresh(&self, which: u64, length: f64, words: &Words) -> Value {
        let mut draws = Draws::of(key_of(&[self.seed, which]));
        if let Some(text) = self.matching(&mut draws) {
            return text;
        }
        let mut text = String::new();
        match (&self.of, self.kind) {
            (Type::Json, _) => text.push_str("{}"),
            (Type::Other, _) => return Value::Null,
            (Type::Uuid, _) => uuid(draws.bits(), draws.bits(), &mut text),
            (Type::Inet, _) => words.write(Kind::Ip, &mut draws, &mut text),
            (Type::Inet6, _) => words.write(Kind::Ip6, &mut draws, &mut text),
            (Type::Bytes { .. }, _) => {
                let mut bytes = Vec::new();
                while (bytes.len() as f64) < length.clamp(1.0, 4096.0) {
                    bytes.extend(draws.bits().to_be_bytes());
                }
                return self.cut_bytes(bytes);
            }
            (_, Kind::Unknown | Kind::Paragraph | Kind::Title) => {
                while (text.chars().count() as f64) < length * 0.75 {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    words.write(Kind::Title, &mut draws, &mut text);
                }
                if (text.chars().count() as f64) > length * 1.25 && length > 12.0 {
                    text = text.chars().take(length as usize).collect();
                    text.truncate(text.trim_end().len());
                }
                if text.chars().count() < 12 {
                    let digits = (length as usize).clamp(4, 16);
                    text.clear();
                    hexadecimal(&mut draws, digits, &mut text);
                }
            }
            (_, kind) => words.write(kind, &mut draws, &mut text),
        }
        Value::Text(self.fitted(text, &mut draws, words))
    }

    fn cut_bytes(&self, mut bytes: Vec<u8>) -> Value {
        bytes.truncate(self.limits.longest.unwrap_or(64));
        Value::Bytes(bytes)
    }

    /// A text of a length and in letters that are allowed.
    fn fitted(&self, mut text: String, draws: &mut Draws, words: &Words) -> String {
        while text.chars().count() < self.limits.shortest {
            match self.limits.longest {
                // An exact length: of a code, most likely.
                Some(most) if most < 20 => text.push(char::from(b'a' + draws.below(26) as u8)),
                _ => words.write(Kind::Title, draws, &mut text),
            }
        }
        if let Some(most) = self.limits.longest
            && text.chars().count() > most
        {
            text = text.chars().take(most).collect();
            let bare = text.trim_end();
            if bare.chars().count() >= self.limits.shortest {
                text.truncate(bare.len());
            }
        }
        let text = match self.limits.letters {
            Some(Letters::Capital) => text.to_uppercase(),
            Some(Letters::Small) => text.to_lowercase(),
            None => text,
        };
        shaped(text, self.limits.like.as_deref(), self.limits.longest, draws)
    }

    fn by_name(&self, row: u64, rows: u64, draws: &mut Draws, words: &Words) -> Value {
        if let Some(values) = &self.limits.one_of {
            return Value::parse(&self.of, common_first(values, draws));
        }
        match &self.of {
            Type::Bool => Value::Bool(draws.unit() < self.yes),
            Type::Enum(values) => Value::parse(&self.of, common_first(values, draws)),
            Type::Int { .. } | Type::Decimal { .. } | Type::Float => self.quantity(draws),
            Type::Date | Type::Moment { .. } => self.time(row, rows, draws),
            Type::Time => Value::Time(draws.below(86_400) as i64 * SECOND),
            Type::Uuid => self.text(Kind::Uuid, draws, words),
            Type::Inet => self.text(Kind::Ip, draws, words),
            Type::Inet6 => self.text(Kind::Ip6, draws, words),
            Type::Json => Value::Text("{}".to_owned()),
            Type::Bytes { .. } => self.cut_bytes(draws.bits().to_be_bytes().to_vec()),
            Type::Text { .. } => self.text(self.kind, draws, words),
            Type::Other => Value::Null,
        }
    }

    /// A text of the regular expression that a condition prescribes.
    fn matching(&self, draws: &mut Draws) -> Option<Value> {
        let pattern = self.limits.matches.as_ref()?;
        let most = self.limits.longest.unwrap_or(usize::MAX);
        let text = matches!(self.of, Type::Text { .. });
        text.then(|| Value::Text(pattern.text((self.limits.shortest, most), draws)))
    }

    fn text(&self, kind: Kind, draws: &mut Draws, words: &Words) -> Value {
        if let Some(text) = self.matching(draws) {
            return text;
        }
        if kind == Kind::Email {
            let mut text = String::new();
            words.email(draws, None, self.limits.longest.unwrap_or(usize::MAX), &mut text);
            return Value::Text(text);
        }
        let mut text = String::new();
        words.write(kind, draws, &mut text);
        Value::Text(self.fitted(text, draws, words))
    }

    fn quantity(&self, draws: &mut Draws) -> Value {
        let whole = matches!(self.of, Type::Int { .. });
        let share = draws.unit();
        let number = match self.kind {
            Kind::Price => {
                let price = (100.0_f64.ln() * share).exp() * 5.0;
                if whole { (price * 100.0).round() } else { (price * 100.0).round() / 100.0 }
            }
            Kind::Quantity => 1.0 + (-(1.0 - share).ln() * 2.0).floor(),
            Kind::Age => 18.0 + (share * 72.0).floor(),
            Kind::Rating => 1.0 + ((1.0 - share * share) * 5.0).floor().min(4.0),
            Kind::Percent => (share * 10_000.0).round() / 100.0,
            Kind::Latitude => share * 140.0 - 60.0,
            Kind::Longitude => share * 360.0 - 180.0,
            Kind::Year => (1970 + self.until / DAY / 366) as f64 - (share * 30.0).floor(),
            _ => (share * 1000.0).floor(),
        };
        let (low, high) = self.limits.range;
        // Conditions leave another range than the name suggests: anything in it.
        let fits = low.is_none_or(|low| number >= low) && high.is_none_or(|high| number <= high);
        if fits {
            return self.number(number);
        }
        let low = low.unwrap_or(high.unwrap_or(0.0) - 1000.0).max(-1e15);
        let high = high.unwrap_or(low + 1000.0).min(low + 1e6);
        self.number(self.limits.clamp(low + share * (high - low)))
    }

    fn time(&self, row: u64, rows: u64, draws: &mut Draws) -> Value {
        let (from, to) = self.window();
        let span = to.saturating_sub(from) as f64;
        let share = draws.unit();
        let micros = match self.kind {
            Kind::Birth => self.until - (18.0 * 365.25 + share * 60.0 * 365.25) as i64 * DAY,
            // Rows with higher numbers were made later.
            Kind::Created => {
                let passed = (row as f64 + share) / rows.max(1) as f64;
                from + (span * passed) as i64
            }
            _ => to - (span * share) as i64,
        };
        let number = match self.of {
            Type::Date => micros.div_euclid(DAY) as f64,
            _ => (micros.div_euclid(SECOND) * SECOND) as f64,
        };
        self.number(self.limits.clamp(number))
    }

    /// The times that rows lie between, in microseconds since 1970: the last years as far as conditions allow them, or
    /// else what these allow.
    fn window(&self) -> (i64, i64) {
        let span = YEARS * 365 * DAY;
        let unit = if self.of == Type::Date { DAY } else { 1 };
        let micros = |edge: f64| (edge as i64).saturating_mul(unit);
        let (low, high) = self.limits.range;
        let (low, high) = (low.map(micros), high.map(|last| micros(last).saturating_add(unit)));
        let from = low.map_or(self.until - span, |low| low.max(self.until - span));
        let to = high.map_or(self.until, |high| high.min(self.until));
        match (low, high) {
            _ if from < to => (from, to),
            (Some(low), high) => (low, high.unwrap_or(low.saturating_add(span))),
            (None, high) => (high.unwrap_or(self.until).saturating_sub(span), to),
        }
    }

    /// The number as a value, or the nearest that is allowed.
    pub fn nearest(&self, number: f64) -> Value {
        self.number(self.limits.clamp(number))
    }

    /// A number in the column's own unit as its value.
    fn number(&self, number: f64) -> Value {
        let value = self.unwritten(number);
        match &self.form {
            Some(form) => Value::Text(form.text(&value)),
            None => value,
        }
    }

    fn unwritten(&self, number: f64) -> Value {
        match &self.of {
            Type::Int { min, max } => {
                let number = (number.round() as i128).clamp(*min, *max);
                Value::Int(self.limits.stepped(number))
            }
            Type::Decimal { scale, .. } => {
                let unit = 10_f64.powi(i32::try_from(*scale).unwrap_or(0));
                Value::Decimal { units: (number * unit).round() as i128, scale: *scale }
            }
            Type::Date => Value::Date(number.round() as i64),
            Type::Time => Value::Time((number.round() as i64).clamp(0, DAY - 1)),
            Type::Moment { micros } => {
                let number = number.round() as i64;
                let whole = if *micros { number } else { number.div_euclid(SECOND) * SECOND };
                Value::Moment(whole)
            }
            _ => Value::Float(number),
        }
    }
}

/// The last time that is made of a column: the second or day before `until`, or the last one that it has, if that is
/// later. A column of another type has none.
fn last_of(of: &Type, learned: &Learned, until: i64) -> f64 {
    let before = match of {
        Type::Date => (until / DAY - 1) as f64,
        Type::Moment { .. } => (until - SECOND) as f64,
        _ => return f64::INFINITY,
    };
    let common = learned.common.iter().filter_map(|(text, _)| number_of(of, text));
    let rest = match &learned.rest {
        Rest::Between { edges, .. } => edges.last().copied(),
        _ => None,
    };
    common.chain(rest).fold(before, f64::max)
}

/// One of a list, the first ones more often.
fn common_first<'a>(list: &'a [String], draws: &mut Draws) -> &'a str {
    let share = draws.unit();
    &list[((share * share * list.len() as f64) as usize).min(list.len() - 1)]
}
