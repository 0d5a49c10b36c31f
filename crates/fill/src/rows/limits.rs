//! Bounds that conditions and types set on the values of a single column.

use model::random::Draws;

use crate::check::{Bound, Pattern, Places, like};
use crate::learn::number_of;
use crate::schema::{Column, Type};
use crate::times::SECOND;

/// What conditions and the type allow.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// The lowest and the highest number, day or microsecond.
    pub range: (Option<f64>, Option<f64>),
    /// Whole numbers that leave this remainder alone: the divisor, and what is left.
    pub remainder: Option<(i128, i128)>,
    /// The only values.
    pub one_of: Option<Vec<String>>,
    /// Characters at least.
    pub shortest: usize,
    /// Characters at most.
    pub longest: Option<usize>,
    /// Capitals, or small letters.
    pub letters: Option<Letters>,
    /// A pattern of LIKE, without escapes.
    pub like: Option<String>,
    /// A regular expression.
    pub matches: Option<Pattern>,
    /// May not be NULL.
    pub filled: bool,
    /// A condition on several columns asks whether it is NULL.
    pub asked: bool,
}

/// A condition on letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// ABC
    Capital,
    /// abc
    Small,
}

impl Limits {
    /// What a column's type says.
    pub fn of(column: &Column) -> Self {
        let range = match &column.kind {
            Type::Int { min, max } => (Some(*min as f64), Some(*max as f64)),
            Type::Decimal { precision, scale } => {
                let digits = |count: u32| i32::try_from(count).unwrap_or(0);
                // There may be more digits behind the point than digits: `numeric(2,4)` ends at 0.0099.
                let whole = digits(*precision) - digits(*scale);
                let most = 10_f64.powi(whole) - 10_f64.powi(-digits(*scale));
                (Some(-most), Some(most))
            }
            _ => (None, None),
        };
        let range = match column.type_name.to_ascii_lowercase().contains("unsigned") {
            true => (Some(range.0.map_or(0.0, |low| low.max(0.0))), range.1),
            false => range,
        };
        let longest = match &column.kind {
            Type::Text { most } | Type::Bytes { most } => most.map(|most| most as usize),
            _ => None,
        };
        Self { range, longest, filled: !column.nullable, ..Self::default() }
    }

    /// Adds what a condition says.
    pub fn add(&mut self, kind: &Type, bound: &Bound) {
        let unit = match kind {
            Type::Decimal { scale, .. } => 10_f64.powi(-i32::try_from(*scale).unwrap_or(0)),
            Type::Float => 1e-6,
            Type::Moment { micros: false } => SECOND as f64,
            _ => 1.0,
        };
        let whole = !matches!(kind, Type::Decimal { .. } | Type::Float);
        // The first whole number above 0.5 is 1, as it is above 0.
        let least = |number: f64, above: bool| match (above, whole) {
            (true, true) => (number / unit).floor() * unit + unit,
            (true, false) => number + unit,
            (false, _) => number,
        };
        let most = |number: f64, below: bool| -least(-number, below);
        match bound {
            Bound::Min(number, above) => self.at_least(least(*number, *above)),
            Bound::Max(number, below) => self.at_most(most(*number, *below)),
            Bound::From(text, above) => {
                if let Some(number) = number_of(kind, text) {
                    self.at_least(least(number, *above));
                }
            }
            Bound::To(text, below) => {
                if let Some(number) = number_of(kind, text) {
                    self.at_most(most(number, *below));
                }
            }
            Bound::OneOf(values) => self.one_of = Some(self.shared(kind, values)),
            Bound::Shortest(least) => self.shortest = self.shortest.max(*least as usize),
            Bound::Longest(most) => {
                self.longest = Some(self.longest.unwrap_or(usize::MAX).min(*most as usize));
            }
            Bound::Filled => self.filled = true,
            Bound::Small => self.letters = Some(Letters::Small),
            Bound::Capital => self.letters = Some(Letters::Capital),
            Bound::Like(pattern) if !pattern.contains('\\') => self.like = Some(pattern.clone()),
            Bound::Matches(pattern) => self.matches = Some(pattern.clone()),
            Bound::Remainder(divisor, rest) => self.leave(kind, *divisor, *rest),
            Bound::Before(..) | Bound::Like(_) => {}
        }
    }

    /// What is left of negative numbers is negative.
    fn leave(&mut self, kind: &Type, divisor: f64, rest: f64) {
        let whole = divisor.fract() == 0.0 && rest.fract() == 0.0;
        if matches!(kind, Type::Int { .. }) && whole && (0.0..divisor).contains(&rest) {
            let asked = (divisor as i128, rest as i128);
            let before = self.remainder;
            self.remainder = before.and_then(|before| both(before, asked)).or(Some(asked));
            if rest > 0.0 {
                self.at_least(0.0);
            }
        }
    }

    fn at_least(&mut self, least: f64) {
        self.range.0 = Some(self.range.0.map_or(least, |low| low.max(least)));
    }

    fn at_most(&mut self, most: f64) {
        self.range.1 = Some(self.range.1.map_or(most, |high| high.min(most)));
    }

    /// Those of the values that an earlier condition allows too. What is written otherwise may be the same: of numbers, and
    /// where case does not matter.
    fn shared(&self, kind: &Type, values: &[String]) -> Vec<String> {
        let Some(before) = &self.one_of else { return values.to_vec() };
        let allowed = |value: &&String| {
            let small = value.to_lowercase();
            before.iter().any(|other| other.to_lowercase() == small)
        };
        let shared: Vec<String> = values.iter().filter(allowed).cloned().collect();
        match shared.is_empty() && !matches!(kind, Type::Text { .. } | Type::Enum(_)) {
            true => values.to_vec(),
            false => shared,
        }
    }

    /// Whether they contradict each other.
    pub fn is_empty(&self) -> bool {
        let (low, high) = self.range;
        low.zip(high).is_some_and(|(low, high)| low > high)
            || self.one_of.as_ref().is_some_and(Vec::is_empty)
            || self.longest.is_some_and(|most| self.shortest > most)
    }

    /// Texts of the regular expression by number, where they can be counted.
    pub fn places(&self) -> Option<Places> {
        self.matches.as_ref()?.places((self.shortest, self.longest.unwrap_or(usize::MAX)))
    }

    /// The first whole number from this one on that leaves the remainder that conditions ask for.
    pub fn first_from(&self, number: i128) -> i128 {
        match self.remainder {
            Some((divisor, rest)) => number + (rest - number).rem_euclid(divisor),
            None => number,
        }
    }

    /// A whole number that leaves the remainder that conditions ask for: this one or, unless it is too low, one below it.
    pub fn stepped(&self, number: i128) -> i128 {
        let Some((divisor, _)) = self.remainder else { return number };
        let above = self.first_from(number);
        let below = above - divisor;
        let fits = self.range.0.is_none_or(|low| below as f64 >= low);
        if above > number && fits { below } else { above }
    }

    /// The nearest number that is allowed.
    pub fn clamp(&self, number: f64) -> f64 {
        let number = self.range.0.map_or(number, |low| number.max(low));
        self.range.1.map_or(number, |high| number.min(high))
    }
}

/// The divisor and the remainder of the numbers that leave both of two remainders; none where there are no such numbers,
/// or both divisors are large.
fn both(one: (i128, i128), other: (i128, i128)) -> Option<(i128, i128)> {
    const MOST: usize = 10_000;
    let ((large, first), (small, rest)) =
        if one.0 >= other.0 { (one, other) } else { (other, one) };
    if large > i128::from(i64::MAX) {
        return None;
    }
    let mut firsts = (0..small).map(|n| first + n * large).take(MOST);
    let found = firsts.find(|number| number % small == rest)?;
    let period = (1..=small).take(MOST).find(|n| n * large % small == 0)?;
    Some((period * large, found))
}

/// The text, if it is of the pattern, or else one that is: the text stands for the first `%`, as far as `most` characters
/// have room for it, and digits for each `_`.
pub fn shaped(
    text: String,
    pattern: Option<&str>,
    most: Option<usize>,
    draws: &mut Draws,
) -> String {
    match pattern {
        Some(pattern) if !like(&text, pattern, true) => {
            let room = most.unwrap_or(usize::MAX).saturating_sub(fixed(pattern));
            let text: String = text.chars().take(room).collect();
            filled(pattern, &text, || char::from(b'0' + draws.below(10) as u8))
        }
        _ => text,
    }
}

/// A pattern with a text for its first `%`, and these characters for each `_`.
pub fn filled(pattern: &str, text: &str, mut next: impl FnMut() -> char) -> String {
    let (mut text, mut filled) = (Some(text), String::new());
    for c in pattern.chars() {
        match c {
            '%' => filled.push_str(text.take().unwrap_or_default()),
            '_' => filled.push(next()),
            c => filled.push(c),
        }
    }
    filled
}

/// What [`filled`] put into a pattern to make a text: that in place of its first `%`, or the characters in place of each
/// `_` where it has no `%`.
pub fn put_in(pattern: &str, text: &str) -> String {
    match pattern.split_once('%') {
        Some((before, behind)) => {
            let length = text.chars().count().saturating_sub(fixed(behind));
            text.chars().take(length).skip(fixed(before)).collect()
        }
        None => {
            let places = text.chars().zip(pattern.chars());
            places.filter(|(_, mark)| *mark == '_').map(|(c, _)| c).collect()
        }
    }
}

/// Letters of the longest text of which all there are can be listed.
pub const LONGEST_CODE: usize = 3;

/// All texts of so many letters, [`LONGEST_CODE`] at most.
pub fn codes(length: usize, letters: Option<Letters>) -> impl Iterator<Item = String> {
    let first = if letters == Some(Letters::Small) { b'a' } else { b'A' };
    let letter = move |number: usize, place: usize| {
        char::from(first + (number / 26_usize.pow(place as u32) % 26) as u8)
    };
    let code = move |number: usize| -> String {
        (0..length).rev().map(|place| letter(number, place)).collect()
    };
    (0..26_usize.pow(length as u32)).map(code)
}

/// Characters that each text of a pattern has at least.
pub fn fixed(pattern: &str) -> usize {
    pattern.chars().filter(|c| *c != '%').count()
}
