//! Values of a column that no row has: numbers, days and times in a row, above those that are there where there is
//! room, and texts that end in a number.

use std::collections::BTreeSet;

use model::quote::grouped;
use model::random::Permutation;

use super::{Board, FIRST_DAY, FIRST_PRIVATE, LAST_DAY, LAST_PRIVATE};
use crate::draw::key_of;
use crate::error::{Result, unsatisfiable};
use crate::kind::{Kind, kind_of, kind_of_new};
use crate::learn;
use crate::rows::distinct::{Distinct, Form, TextForm, number_in};
use crate::rows::limits::{LONGEST_CODE, Letters, codes, fixed};
use crate::rows::series::{highest, numbers};
use crate::schema::Type;
use crate::times::{DAY, SECOND};
use crate::value::Value;
use crate::words::Words;

/// The highest number, and the highest number of parts, that fractions are counted to.
pub(super) const MOST_COUNTED: i128 = 1_000_000_000_000_000;

/// Digits behind the point of floating-point numbers, where whole ones are too few.
const FLOAT_DIGITS: u32 = 6;

/// What is asked of a column.
#[derive(Clone, Copy)]
struct Ask<'a> {
    column: usize,
    rule: &'a str,
    /// Values that are needed.
    left: u64,
    /// Rows that have the same one, told apart by other columns of the rule.
    each: u64,
}

impl Board<'_> {
    /// Values that count on from the highest; `each` rows have the same one.
    pub(super) fn distinct(&self, column: usize, rule: &str, each: u64) -> Result<Distinct> {
        let (of, facts) = (&self.table.columns[column], &self.facts.columns[column]);
        let wanted: Vec<Value> =
            facts.wanted.iter().map(|text| Value::parse(&of.kind, text)).collect();
        let left = self.facts.add.div_ceil(each).saturating_sub(wanted.len() as u64);
        let ask = Ask { column, rule, left, each };
        let room = |count: f64, what: &str| -> Result<()> {
            if count >= left as f64 { Ok(()) } else { self.too_few(ask, what, count) }
        };
        let (form, start) = match &of.kind {
            Type::Int { min, max } => self.whole_numbers(ask, &wanted, (*min, *max))?,
            Type::Decimal { scale, .. } => self.fractions(ask, &wanted, *scale)?,
            Type::Float => self.fractions(ask, &wanted, FLOAT_DIGITS)?,
            Type::Date | Type::Moment { .. } | Type::Time => self.times(ask)?,
            Type::Uuid => (Form::Uuid, self.namespace(column, 60)),
            Type::Bytes { most } => {
                let length = most.map_or(8, |most| most.clamp(1, 8)) as usize;
                room(256_f64.powi(length as i32), &of.type_name)?;
                let start = if length < 8 { 0 } else { self.namespace(column, 62) };
                // MySQL fills BINARY up, and finds it by all of its bytes alone.
                let fixed = of.type_name.to_ascii_lowercase().starts_with("binary");
                let width = most.filter(|_| fixed).map_or(0, |most| most as usize);
                (Form::Bytes { length, width }, start)
            }
            Type::Inet => {
                let above = facts.highest.map_or(0, |highest| i128::from(highest) + 1);
                let start = above.max(i128::from(FIRST_PRIVATE));
                room((i128::from(LAST_PRIVATE) - start + 1) as f64, "10.0.0.0/8")?;
                (Form::Inet, start)
            }
            Type::Inet6 => (Form::Inet6, self.namespace(column, 60)),
            _ => self.text(ask, &room)?,
        };
        // Between the numbers of others, rows are found one by one.
        let above = facts.highest.is_none_or(|highest| start > i128::from(highest));
        let counts = matches!(form, Form::Int { .. }) && (above || of.counted);
        let order = (!counts).then(|| Permutation::new(left, self.column_key(column)));
        Ok(Distinct { wanted, start, order, form, each })
    }

    fn too_few<T>(&self, ask: Ask<'_>, what: &str, room: f64) -> Result<T> {
        let Ask { column, rule, left, each } = ask;
        let shared = match each {
            0 | 1 => String::new(),
            each => format!(", each for {} rows", grouped(each)),
        };
        let taken = self.facts.columns[column].highest.is_some();
        let more = if taken { " more in a row" } else { "" };
        let (left, room) = (grouped(left), grouped(room as u64));
        unsatisfiable(format!(
            "{}: {rule} needs {left} values that are not there yet{shared}, and {what} has room for {room}{more}",
            self.table.place(column)
        ))
    }

    /// The lowest and the highest number that conditions and `widest` allow, in `parts` of the column's unit.
    pub(super) fn bounds(&self, column: usize, parts: f64, widest: (i128, i128)) -> (i128, i128) {
        let (low, high) = self.limits[column].range;
        // Decimal fractions are not exact.
        let low = low.map_or(widest.0, |low| (low * parts - 1e-9).ceil() as i128);
        let high = high.map_or(widest.1, |high| (high * parts + 1e-9).floor() as i128);
        (low.max(widest.0), high.min(widest.1))
    }

    /// Numbers that the column's counter gives; where those above all others are too few, numbers below them.
    fn whole_numbers(
        &self,
        ask: Ask<'_>,
        wanted: &[Value],
        widest: (i128, i128),
    ) -> Result<(Form, i128)> {
        let (of, facts) = (&self.table.columns[ask.column], &self.facts.columns[ask.column]);
        let (least, most) = self.bounds(ask.column, 1.0, widest);
        let least = if of.counted { least.max(1) } else { least };
        let asked = highest(wanted);
        let taken = facts.highest.map(i128::from).max(asked);
        let first = least.max(taken.unwrap_or(0).max(0) + 1);
        if self.limits[ask.column].remainder.is_some() && !of.counted {
            return self.spaced(ask, [first, behind(least, taken)], most);
        }
        let counted = numbers(&self.table.place(ask.column), facts, asked, (first, most))?;
        if counted.count >= i128::from(ask.left) {
            return Ok((Form::Int { step: counted.step }, counted.start));
        }
        let mut room = counted.count;
        if counted.step == 1 && counted.end.is_none() {
            let above = (behind(least, taken), most);
            let gap = match self.facts.rows {
                0 => Some((behind(least, asked), most)),
                _ => facts.gap.map(|(low, high)| {
                    (behind(least.max(low.into()), asked), most.min(high.into()))
                }),
            };
            for span in [Some(above), gap].into_iter().flatten() {
                match begin(1, span, ask.left) {
                    Ok(start) => return Ok((Form::Int { step: 1 }, start)),
                    Err(count) => room = room.max(count),
                }
            }
        }
        self.too_few(ask, counted.end.as_ref().unwrap_or(&of.type_name), room as f64)
    }

    /// Numbers that leave the remainder that conditions ask for, from the first of `starts` that leaves room for all.
    fn spaced(&self, ask: Ask<'_>, starts: [i128; 2], most: i128) -> Result<(Form, i128)> {
        let limits = &self.limits[ask.column];
        let (step, _) = limits.remainder.unwrap_or((1, 0));
        let mut room = 0;
        for start in starts.map(|start| limits.first_from(start)) {
            let count = (most - start).div_euclid(step) + 1;
            if count >= i128::from(ask.left) {
                return Ok((Form::Int { step }, start));
            }
            room = room.max(count);
        }
        self.too_few(ask, &self.table.columns[ask.column].type_name, room as f64)
    }

    /// Whole numbers, or numbers of so many digits behind the point where whole ones are too few.
    fn fractions(&self, ask: Ask<'_>, wanted: &[Value], scale: u32) -> Result<(Form, i128)> {
        let of = &self.table.columns[ask.column];
        let numbers = wanted.iter().filter_map(Value::number);
        let asked = numbers.map(|number| number.ceil() as i128).max();
        let taken = self.facts.columns[ask.column].highest.map(i128::from).max(asked);
        let unit = 10_i128.pow(scale);
        // Below 0 only where there is too little room above it.
        let mut room = 0;
        for (parts, first) in [(1, 1), (unit, 1), (unit, -MOST_COUNTED)] {
            let (least, most) = self.bounds(ask.column, parts as f64, (first, MOST_COUNTED));
            let taken = taken.map(|taken| taken.saturating_mul(parts).min(MOST_COUNTED));
            match begin(1, (behind(least, taken), most), ask.left) {
                Ok(start) => {
                    let form = match of.kind {
                        Type::Float => Form::Float(parts as f64),
                        _ => Form::Decimal { scale, times: unit / parts },
                    };
                    return Ok((form, start));
                }
                Err(count) => room = room.max(count),
            }
        }
        self.too_few(ask, &of.type_name, room as f64)
    }

    /// Days, seconds, or microseconds of a day.
    fn times(&self, ask: Ask<'_>) -> Result<(Form, i128)> {
        let of = &self.table.columns[ask.column];
        let seconds = DAY / SECOND;
        let (form, unit, widest, now) = match &of.kind {
            Type::Date => (Form::Date, 1, (FIRST_DAY, LAST_DAY), self.until / DAY),
            Type::Time => (Form::Time, 1, (0, DAY - 1), 0),
            _ => {
                let widest = (FIRST_DAY * seconds, (LAST_DAY + 1) * seconds - 1);
                (Form::Seconds, SECOND, widest, self.until / SECOND)
            }
        };
        let parts = 1.0 / unit as f64;
        let (least, most) = self.bounds(ask.column, parts, (widest.0.into(), widest.1.into()));
        let highest = self.facts.columns[ask.column].highest;
        let taken = highest.map(|last| i128::from(last.div_euclid(unit)));
        let wish = taken.map_or(i128::from(now) - i128::from(ask.left), |taken| taken + 1);
        match begin(wish, (behind(least, taken), most), ask.left) {
            Ok(start) => Ok((form, start)),
            Err(room) => self.too_few(ask, &of.type_name, room as f64),
        }
    }

    /// A random place from which numbers of so many bits count: another one for each fill, since what is there is
    /// counted in.
    fn namespace(&self, column: usize, bits: u32) -> i128 {
        let key = key_of(&[self.column_key(column), self.facts.rows]);
        i128::from(key & ((1 << (bits - 1)) - 1))
    }

    fn text(&self, ask: Ask<'_>, room: &dyn Fn(f64, &str) -> Result<()>) -> Result<(Form, i128)> {
        let column = ask.column;
        let (of, facts) = (&self.table.columns[column], &self.facts.columns[column]);
        let limits = &self.limits[column];
        let most = limits.longest.unwrap_or(usize::MAX);
        let form = facts.learned.form.as_ref();
        let by_name = match facts.learned.is_known() {
            true => kind_of(&self.table.name.table, &of.name),
            false => kind_of_new(self.table, of),
        };
        let kind = form.and_then(learn::Form::about).unwrap_or(by_name);
        if let Some(places) = limits.places() {
            let (first, last) = facts.gap.unwrap_or((0, places.count() - 1));
            room((last - first + 1) as f64, "the regular expression of its condition")?;
            return Ok((Form::Places(places), first.into()));
        }
        if let Some(pattern) = &limits.like {
            return self.of_pattern(ask, pattern, (kind, most), room);
        }
        if form == Some(&learn::Form::Number(0)) && limits.shortest <= 1 {
            let start = self.unasked(ask, None, i128::from(facts.trailing) + 1);
            let digits = most.min(18) as u32;
            room(10_f64.powi(digits as i32) - start as f64, &of.type_name)?;
            return Ok((Form::Digits, start));
        }
        let exact = limits.shortest == most && most >= 16;
        if exact || (matches!(kind, Kind::Hash | Kind::Token) && most >= 32) {
            let digits = if exact {
                most
            } else if kind == Kind::Hash {
                64
            } else {
                32
            };
            return Ok((Form::Hex(digits.min(most)), self.namespace(column, 62)));
        }
        if kind == Kind::Uuid && most >= 36 {
            return Ok((Form::Uuid, self.namespace(column, 60)));
        }
        if most <= LONGEST_CODE {
            let codes = self.free_codes(column, most);
            room(codes.len() as f64, &format!("{} in letters", of.type_name))?;
            return Ok((Form::OneOf(codes), 0));
        }
        self.numbered(ask, (kind, most), None, room)
    }

    /// Texts of a pattern of LIKE.
    fn of_pattern(
        &self,
        ask: Ask<'_>,
        pattern: &str,
        (kind, most): (Kind, usize),
        room: &dyn Fn(f64, &str) -> Result<()>,
    ) -> Result<(Form, i128)> {
        if pattern.contains('%') {
            let most = most.saturating_sub(fixed(pattern));
            return self.numbered(ask, (kind, most), Some(pattern), room);
        }
        let digits = pattern.matches('_').count().min(18) as u32;
        let trailing = i128::from(self.facts.columns[ask.column].trailing);
        let start = if self.facts.rows > 0 { trailing + 1 } else { 0 };
        let start = self.unasked(ask, Some(pattern), start);
        room(10_f64.powi(digits as i32) - start as f64, &format!("the pattern {pattern}"))?;
        Ok((Form::Pattern(pattern.to_owned()), start))
    }

    /// Texts that end in a number.
    fn numbered(
        &self,
        ask: Ask<'_>,
        (kind, most): (Kind, usize),
        like: Option<&str>,
        room: &dyn Fn(f64, &str) -> Result<()>,
    ) -> Result<(Form, i128)> {
        let (of, facts) = (&self.table.columns[ask.column], &self.facts.columns[ask.column]);
        let limits = &self.limits[ask.column];
        let least = limits.shortest.saturating_sub(like.map_or(0, fixed));
        let form = TextForm {
            kind,
            most,
            least,
            capital: limits.letters == Some(Letters::Capital),
            small: limits.letters == Some(Letters::Small),
            like: like.map(str::to_owned),
        };
        let lowest = match kind {
            Kind::Phone if most >= 14 => Words::of("en").map_or(0, |words| words.phones().1),
            _ => 0,
        };
        let start = i128::from(facts.trailing.max(lowest)) + 1;
        // Of the same length throughout, where that is prescribed.
        let start = if least > form.overhead() && least < 16 {
            start.max(10_i128.pow((least - form.overhead()).saturating_sub(1) as u32))
        } else {
            start
        };
        let start = self.unasked(ask, like, start);
        // Of exactly so many characters they are digits alone.
        let bare = least == most && !matches!(kind, Kind::Email | Kind::Phone);
        let spare = usize::from(!bare);
        let digits = most.saturating_sub(form.overhead() + spare).min(18) as u32;
        room(10_f64.powi(digits as i32) - start as f64, &of.type_name)?;
        Ok((Form::Text(form), start))
    }

    /// The first number from `start` on that begins as many numbers in a row as are needed, none of which is in a text that
    /// requests ask for.
    fn unasked(&self, ask: Ask<'_>, pattern: Option<&str>, start: i128) -> i128 {
        let wanted = self.facts.columns[ask.column].wanted.iter();
        let mut asked: Vec<i128> = wanted.map(|text| number_in(text, pattern).into()).collect();
        asked.sort_unstable();
        asked.into_iter().fold(start, |start, number| {
            let used = start..start + i128::from(ask.left);
            if used.contains(&number) { number + 1 } else { start }
        })
    }

    /// Codes of so many letters that are free.
    pub(super) fn free_codes(&self, column: usize, most: usize) -> Vec<Value> {
        let facts = &self.facts.columns[column];
        // Databases may compare without regard to case.
        let compared = |text: &String| facts.same_as(text).trim_end().to_uppercase();
        let mut used: BTreeSet<String> =
            facts.taken.iter().chain(&facts.wanted).map(compared).collect();
        // Letters may be the same too, as I and Y in Lithuanian.
        let all = codes(most, self.limits[column].letters);
        all.filter(|code| used.insert(compared(code))).map(Value::Text).collect()
    }
}

/// The lowest number that is allowed and above those that are taken.
fn behind(least: i128, taken: Option<i128>) -> i128 {
    taken.map_or(least, |taken| least.max(taken + 1))
}

/// Where so many numbers in a row begin: as near to `wish` as the lowest and the highest allow, or else how many these
/// have room for.
fn begin(wish: i128, (least, most): (i128, i128), left: u64) -> std::result::Result<i128, i128> {
    let last = most - i128::from(left) + 1;
    if last < least { Err((most - least + 1).max(0)) } else { Ok(wish.clamp(least, last)) }
}
