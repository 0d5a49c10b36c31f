//! An expression's value for a row, in SQL's three-valued logic.

use std::cmp::Ordering;

use super::{Expr, Function, Logic, Relation};
use crate::value::Value;

/// What an expression comes to.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// A day and a time of day, as text in UTC.
    Moment(String),
}

/// Whether a row meets a condition, as NULL does too; none where that cannot be said here.
pub fn holds(condition: &Expr, row: &[Value]) -> Option<bool> {
    match evaluate(condition, row)? {
        Outcome::Null => Some(true),
        Outcome::Bool(holds) => Some(holds),
        Outcome::Number(number) => Some(number != 0.0),
        Outcome::Text(_) | Outcome::Moment(_) => None,
    }
}

/// The number that an expression comes to for a row; none where it is NULL or no number, or cannot be said here.
pub fn number(expr: &Expr, row: &[Value]) -> Option<f64> {
    match evaluate(expr, row)? {
        Outcome::Number(number) => Some(number),
        _ => None,
    }
}

fn evaluate(expr: &Expr, row: &[Value]) -> Option<Outcome> {
    Some(match expr {
        Expr::Column(column) => of_value(row.get(*column)?)?,
        Expr::Text(text) => Outcome::Text(text.clone()),
        Expr::Number(number) => Outcome::Number(*number),
        Expr::Bool(value) => Outcome::Bool(*value),
        Expr::Null => Outcome::Null,
        Expr::Logic(logic, parts) => return joined(*logic, parts, row),
        Expr::Not(inner) => match evaluate(inner, row)? {
            Outcome::Null => Outcome::Null,
            Outcome::Bool(value) => Outcome::Bool(!value),
            Outcome::Number(number) => Outcome::Bool(number == 0.0),
            Outcome::Text(_) | Outcome::Moment(_) => return None,
        },
        Expr::Compare(relation, left, right) => {
            compare(*relation, &evaluate(left, row)?, &evaluate(right, row)?)?
        }
        Expr::In(value, list) => {
            let value = evaluate(value, row)?;
            let mut found = Outcome::Bool(false);
            for other in list {
                match compare(Relation::Equal, &value, &evaluate(other, row)?)? {
                    Outcome::Bool(false) => {}
                    // Not found, it may still be what NULL stands for.
                    Outcome::Null if found == Outcome::Bool(false) => found = Outcome::Null,
                    Outcome::Null => {}
                    _ => found = Outcome::Bool(true),
                }
            }
            found
        }
        Expr::IsNull(inner) => Outcome::Bool(evaluate(inner, row)? == Outcome::Null),
        Expr::Like(value, pattern, exact) => match evaluate(value, row)? {
            Outcome::Null => Outcome::Null,
            Outcome::Text(text) => Outcome::Bool(like(&text, pattern, *exact)),
            _ => return None,
        },
        Expr::Matches(value, pattern) => match evaluate(value, row)? {
            Outcome::Null => Outcome::Null,
            Outcome::Text(text) => Outcome::Bool(pattern.holds(&text)),
            _ => return None,
        },
        Expr::Arithmetic(sign, left, right) => {
            match (evaluate(left, row)?, evaluate(right, row)?) {
                (Outcome::Null, _) | (_, Outcome::Null) => Outcome::Null,
                (Outcome::Number(left), Outcome::Number(right)) => {
                    Outcome::Number(calculate(*sign, left, right)?)
                }
                _ => return None,
            }
        }
        Expr::Call(function, inner) => call(*function, evaluate(inner, row)?)?,
        Expr::Unknown => return None,
    })
}

fn of_value(value: &Value) -> Option<Outcome> {
    Some(match value {
        Value::Null => Outcome::Null,
        Value::Bool(value) => Outcome::Bool(*value),
        Value::Int(_) | Value::Decimal { .. } | Value::Float(_) => Outcome::Number(value.number()?),
        Value::Bytes(_) => return None,
        Value::Moment(_) => Outcome::Moment(value.text()),
        _ => Outcome::Text(value.text()),
    })
}

/// A part without a value leaves the whole without one, unless another part decides it.
fn joined(logic: Logic, parts: &[Expr], row: &[Value]) -> Option<Outcome> {
    let decisive = logic == Logic::Or;
    let (mut unknown, mut null) = (false, false);
    for part in parts {
        match evaluate(part, row) {
            Some(Outcome::Bool(value)) if value == decisive => return Some(Outcome::Bool(value)),
            Some(Outcome::Bool(_)) => {}
            Some(Outcome::Null) => null = true,
            _ => unknown = true,
        }
    }
    match (unknown, null) {
        (true, _) => None,
        (false, true) => Some(Outcome::Null),
        (false, false) => Some(Outcome::Bool(!decisive)),
    }
}

fn compare(relation: Relation, left: &Outcome, right: &Outcome) -> Option<Outcome> {
    let order = match (left, right) {
        (Outcome::Null, _) | (_, Outcome::Null) => return Some(Outcome::Null),
        // Sums of decimals miss by a bit or two.
        (Outcome::Number(left), Outcome::Number(right))
            if (left - right).abs() <= 4.0 * f64::EPSILON * left.abs().max(right.abs()) =>
        {
            Ordering::Equal
        }
        (Outcome::Number(left), Outcome::Number(right)) => left.partial_cmp(right)?,
        (Outcome::Text(left), Outcome::Text(right)) => left.cmp(right),
        (Outcome::Moment(left), Outcome::Moment(right)) => left.cmp(right),
        (Outcome::Moment(left), Outcome::Text(right)) => left.as_str().cmp(in_utc(right)),
        (Outcome::Text(left), Outcome::Moment(right)) => in_utc(left).cmp(right),
        (Outcome::Bool(left), Outcome::Bool(right)) => left.cmp(right),
        (Outcome::Bool(left), Outcome::Number(right)) => {
            f64::from(u8::from(*left)).partial_cmp(right)?
        }
        (Outcome::Number(left), Outcome::Bool(right)) => {
            left.partial_cmp(&f64::from(u8::from(*right)))?
        }
        (Outcome::Text(text), Outcome::Number(number)) => {
            text.parse::<f64>().ok()?.partial_cmp(number)?
        }
        (Outcome::Number(number), Outcome::Text(text)) => {
            number.partial_cmp(&text.parse::<f64>().ok()?)?
        }
        _ => return None,
    };
    Some(Outcome::Bool(match relation {
        Relation::Equal => order == Ordering::Equal,
        Relation::Different => order != Ordering::Equal,
        Relation::Less => order == Ordering::Less,
        Relation::AtMost => order != Ordering::Greater,
        Relation::More => order == Ordering::Greater,
        Relation::AtLeast => order != Ordering::Less,
    }))
}

/// A literal without the zone that PostgreSQL prints behind it; the session's is UTC.
fn in_utc(moment: &str) -> &str {
    moment.strip_suffix("+00").unwrap_or(moment)
}

fn calculate(sign: char, left: f64, right: f64) -> Option<f64> {
    match sign {
        '+' => Some(left + right),
        '-' => Some(left - right),
        '*' => Some(left * right),
        '%' if right != 0.0 && left.fract() == 0.0 && right.fract() == 0.0 => Some(left % right),
        // Of whole numbers it may be whole-number division.
        _ => None,
    }
}

fn call(function: Function, value: Outcome) -> Option<Outcome> {
    Some(match (function, value) {
        (_, Outcome::Null) => Outcome::Null,
        (Function::Length, Outcome::Text(text)) => Outcome::Number(text.chars().count() as f64),
        (Function::Lower, Outcome::Text(text)) => Outcome::Text(text.to_lowercase()),
        (Function::Upper, Outcome::Text(text)) => Outcome::Text(text.to_uppercase()),
        (Function::Trim, Outcome::Text(text)) => Outcome::Text(text.trim_matches(' ').to_owned()),
        (Function::Abs, Outcome::Number(number)) => Outcome::Number(number.abs()),
        _ => return None,
    })
}

/// Whether a text is of a pattern: `%` stands for any text, `_` for a character; `exact` where case matters.
pub fn like(text: &str, pattern: &str, exact: bool) -> bool {
    let fold = |text: &str| if exact { text.to_owned() } else { text.to_lowercase() };
    let text: Vec<char> = fold(text).chars().collect();
    let pattern: Vec<char> = fold(pattern).chars().collect();
    let (mut at, mut of) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(of) {
            Some('%') => {
                back = Some((at, of));
                of += 1;
            }
            Some(c) if *c == '_' || *c == text[at] => (at, of) = (at + 1, of + 1),
            _ => match back {
                Some((start, star)) => {
                    back = Some((start + 1, star));
                    (at, of) = (start + 1, star + 1);
                }
                None => return false,
            },
        }
    }
    pattern[of..].iter().all(|c| *c == '%')
}
