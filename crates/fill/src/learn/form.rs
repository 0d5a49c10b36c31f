//! Texts that contain something else: days, times, numbers, UUIDs, e-mail addresses.
//!
//! Owns how such a text is recognised and written. A form applies only if writing reproduces every text that was read.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::learn::FEW;
use crate::schema::Type;
use crate::times::{self, SECOND};
use crate::value::Value;
use crate::words::is_uuid;

/// Texts from which on a form is believed that hardly anything else has; of numbers, [`FEW`].
const SOME: usize = 3;
/// Digits of a number that are read at most.
const MOST_DIGITS: usize = 15;

/// What all texts of a column are, and how they are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// `2025-01-02`
    Date,
    /// A day and a time of day.
    Moment {
        /// What joins them: a blank or `T`.
        joint: char,
        /// Digits of parts of a second.
        digits: usize,
        /// What follows: nothing, `Z`, `+00` or `+00:00`.
        zone: String,
    },
    /// A number with so many digits behind its point, no zeros before it.
    Number(u32),
    /// Small letters and hyphens.
    Uuid,
    /// `ann@example.com`
    Email,
}

impl Form {
    /// The form that all these texts have; none if there is none, or too few of them.
    pub fn of_all(texts: &[&str]) -> Option<Self> {
        let first = Self::of(texts.first()?)?;
        let least = if matches!(first, Self::Number(_)) { FEW } else { SOME };
        if texts.len() < least {
            return None;
        }
        texts.iter().try_fold(first, |form, text| form.and(Self::of(text)?))
    }

    /// What a default of SQLite's makes.
    pub fn of_default(default: &str) -> Option<Self> {
        let small = default.to_ascii_lowercase();
        let bare = small.trim_matches(|c: char| c.is_whitespace() || "()".contains(c));
        match bare {
            "current_timestamp" => Some(Self::moment()),
            "current_date" => Some(Self::Date),
            _ if bare.starts_with("datetime('now'") => Some(Self::moment()),
            _ if bare.starts_with("date('now'") => Some(Self::Date),
            _ => None,
        }
    }

    fn moment() -> Self {
        Self::Moment { joint: ' ', digits: 0, zone: String::new() }
    }

    fn of(text: &str) -> Option<Self> {
        let form = if text.len() == 10 && times::parse_date(text).is_some() {
            Self::Date
        } else if let Some(form) = moment_of(text) {
            form
        } else if is_uuid(text) {
            return Some(Self::Uuid);
        } else if is_email(text) {
            return Some(Self::Email);
        } else {
            number_of(text)?
        };
        let value = match &form {
            Self::Date => Value::Date(times::parse_date(text)?),
            Self::Moment { .. } => Value::Moment(times::parse_moment(text)?),
            _ => return Some(form),
        };
        (form.text(&value) == text).then_some(form)
    }

    /// The form of texts some of which have the one and some the other.
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (
                Self::Moment { joint, digits, zone },
                Self::Moment { joint: joint_2, digits: digits_2, zone: zone_2 },
            ) if joint == joint_2 && zone == zone_2 => {
                Some(Self::Moment { joint, digits: digits.max(digits_2), zone })
            }
            (one, other) => (one == other).then_some(one),
        }
    }

    /// The type of what the texts stand for; none where it is text.
    pub fn kind(&self) -> Option<Type> {
        match self {
            Self::Date => Some(Type::Date),
            Self::Moment { digits, .. } => Some(Type::Moment { micros: *digits > 0 }),
            Self::Number(0) => Some(Type::Int { min: i64::MIN.into(), max: i64::MAX.into() }),
            Self::Number(scale) => Some(Type::Decimal { precision: 30, scale: *scale }),
            Self::Uuid => Some(Type::Uuid),
            Self::Email => None,
        }
    }

    /// What the texts are about.
    pub fn about(&self) -> Option<Kind> {
        match self {
            Self::Email => Some(Kind::Email),
            Self::Uuid => Some(Kind::Uuid),
            _ => None,
        }
    }

    /// A value of [`Form::kind`] as text of this form.
    pub fn text(&self, value: &Value) -> String {
        let (Self::Moment { joint, digits, zone }, Value::Moment(micros)) = (self, value) else {
            return value.text();
        };
        let mut text = Value::Moment(micros.div_euclid(SECOND) * SECOND).text();
        if *joint != ' ' {
            text = text.replacen(' ', &joint.to_string(), 1);
        }
        if *digits > 0 {
            let part = format!("{:06}", micros.rem_euclid(SECOND));
            text.push('.');
            text.push_str(&part[..(*digits).min(part.len())]);
        }
        text + zone
    }
}

fn moment_of(text: &str) -> Option<Form> {
    times::parse_moment(text)?;
    let zone = ["Z", "+00:00", "+00"].into_iter().find(|zone| text.ends_with(zone)).unwrap_or("");
    let joint = text.chars().nth(10)?;
    let digits = text.strip_suffix(zone)?.split_once('.').map_or(0, |(_, part)| part.len());
    let known = [' ', 'T'].contains(&joint) && digits <= 6;
    known.then(|| Form::Moment { joint, digits, zone: zone.to_owned() })
}

fn is_email(text: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !"<>,;\"@".contains(c);
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && name.chars().all(plain)
            && host.chars().all(plain)
            && host.split_once('.').is_some_and(|(one, other)| !one.is_empty() && !other.is_empty())
    })
}

fn number_of(text: &str) -> Option<Form> {
    let bare = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = bare.split_once('.').unwrap_or((bare, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let good = !whole.is_empty()
        && digits(whole)
        && digits(part)
        && whole.len() + part.len() <= MOST_DIGITS
        && (whole == "0" || !whole.starts_with('0'))
        && bare.contains('.') != part.is_empty()
        && !(text.starts_with('-') && bare.bytes().all(|byte| b"0.".contains(&byte)));
    good.then_some(Form::Number(part.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_texts() {
        let moment =
            |joint, digits, zone: &str| Some(Form::Moment { joint, digits, zone: zone.to_owned() });
        for (texts, wanted) in [
            (&["2025-01-02", "2025-01-03", "1999-12-31"][..], Some(Form::Date)),
            (&["2025-01-02", "2025-01-03"], None),
            (
                &["2025-01-02 00:00:00", "2025-01-02 10:11:12", "2025-01-02 01:01:01"],
                moment(' ', 0, ""),
            ),
            (
                &[
                    "2025-01-02T00:00:00.000Z",
                    "2025-01-02T00:00:00.120Z",
                    "2025-01-02T00:00:00.007Z",
                ],
                moment('T', 3, "Z"),
            ),
            (
                &[
                    "2025-01-02T00:00:00+00:00",
                    "2025-01-02T00:00:00.000120+00:00",
                    "2025-01-02T01:00:00+00:00",
                ],
                moment('T', 6, "+00:00"),
            ),
            (&["2025-01-02T00:00:00+02:00"; 3], None),
            (&["2025-01-02 00:00:00", "2025-01-02T00:00:00", "2025-01-02 00:00:00"], None),
            (&["2025-13-02"; 3], None),
            (&["14bc7323-4814-bcff-95df-a868c327b101"; 3], Some(Form::Uuid)),
            (&["ann@example.com", "bob.b@shop.co.uk", "x+y@a.b"], Some(Form::Email)),
            (&["Ann <ann@example.com>"; 3], None),
            (&["12"; 3], None),
            (&["12"; 30], Some(Form::Number(0))),
            (&["-12.50"; 30], Some(Form::Number(2))),
            (&["01067"; 30], None),
            (&["12."; 30], None),
            (&["-0"; 30], None),
            (&["word"; 30], None),
            (&[], None),
        ] {
            assert_eq!(Form::of_all(texts), wanted, "{texts:?}");
        }
    }

    #[test]
    fn values_are_written_in_their_form() {
        let form = Form::of_all(&["2025-01-02T00:00:00.000Z"; 3]).expect("a form");
        assert_eq!(form.text(&Value::Moment(1_500_000)), "1970-01-01T00:00:01.500Z");
        assert_eq!(form.kind(), Some(Type::Moment { micros: true }));
        assert_eq!(Form::of_default("(datetime('now'))"), Form::of_default("CURRENT_TIMESTAMP"));
        assert_eq!(Form::of_default("'x'"), None);
    }
}
