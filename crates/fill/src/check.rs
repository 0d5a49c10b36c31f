//! Conditions on rows (`CHECK`): parsed, evaluated, and turned into bounds for single columns.
//!
//! Owns the meaning of the expressions that conditions usually consist of. Any other expression is [`Expr::Unknown`], and
//! a condition that depends on one has no value here: the database judges such rows when the first ones are tried.

mod evaluate;
mod injective;
mod pattern;
mod read;
mod token;
mod union;

pub use evaluate::{holds, like, number};
pub use injective::kept_apart;
pub use pattern::{Pattern, Places};
pub use read::read;

/// An expression over a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column of the table.
    Column(usize),
    /// A literal.
    Text(String),
    /// A literal.
    Number(f64),
    /// A literal.
    Bool(bool),
    /// A literal.
    Null,
    /// Both, or either.
    Logic(Logic, Vec<Expr>),
    /// The opposite.
    Not(Box<Expr>),
    /// `a < b` and the like.
    Compare(Relation, Box<Expr>, Box<Expr>),
    /// `a IN (...)`.
    In(Box<Expr>, Vec<Expr>),
    /// `a IS NULL`.
    IsNull(Box<Expr>),
    /// `a LIKE 'pattern'`; whether case matters.
    Like(Box<Expr>, String, bool),
    /// `a ~ 'pattern'`.
    Matches(Box<Expr>, Pattern),
    /// `a + b` and the like.
    Arithmetic(char, Box<Expr>, Box<Expr>),
    /// A function of one value.
    Call(Function, Box<Expr>),
    /// Anything else.
    Unknown,
}

/// How conditions are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    /// All hold.
    And,
    /// One holds.
    Or,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// =
    Equal,
    /// <>
    Different,
    /// <
    Less,
    /// <=
    AtMost,
    /// >
    More,
    /// >=
    AtLeast,
}

impl Relation {
    /// The same with its sides exchanged.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::More => Self::Less,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }
}

/// A known function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Characters of a text.
    Length,
    /// In small letters.
    Lower,
    /// In capitals.
    Upper,
    /// Without blanks at both ends.
    Trim,
    /// Without its sign.
    Abs,
}

/// What a condition says of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// At least, or above where the flag is set.
    Min(f64, bool),
    /// At most, or below where the flag is set.
    Max(f64, bool),
    /// At least this text (a date), or above where the flag is set.
    From(String, bool),
    /// At most this text (a date), or below where the flag is set.
    To(String, bool),
    /// One of these texts.
    OneOf(Vec<String>),
    /// Characters at least.
    Shortest(u32),
    /// Characters at most.
    Longest(u32),
    /// Not NULL.
    Filled,
    /// At most the other column, or below where the flag is set.
    Before(usize, bool),
    /// In small letters.
    Small,
    /// In capitals.
    Capital,
    /// Of this pattern.
    Like(String),
    /// Of this regular expression.
    Matches(Pattern),
    /// Divided by the first, it leaves the second.
    Remainder(f64, f64),
}

/// The bounds that follow from a condition, and whether it says nothing else.
pub fn bounds(condition: &Expr) -> (Vec<(usize, Bound)>, bool) {
    let mut found = Vec::new();
    let whole = collect(condition, &mut found);
    (found, whole)
}

fn collect(condition: &Expr, found: &mut Vec<(usize, Bound)>) -> bool {
    match condition {
        Expr::Logic(Logic::And, parts) => {
            let mut whole = true;
            for part in parts {
                whole &= collect(part, found);
            }
            whole
        }
        Expr::Logic(Logic::Or, parts) => union::either(parts, found),
        Expr::Compare(relation, left, right) => {
            compared(*relation, left, right, found)
                || compared(relation.turned(), right, left, found)
        }
        Expr::In(value, list) => {
            let Expr::Column(column) = **value else { return false };
            let texts: Option<Vec<String>> = list.iter().map(text_of).collect();
            texts.is_some_and(|texts| push(found, column, Bound::OneOf(texts)))
        }
        Expr::Not(inner) => match &**inner {
            Expr::IsNull(value) => match **value {
                Expr::Column(column) => push(found, column, Bound::Filled),
                _ => false,
            },
            _ => false,
        },
        Expr::Like(value, pattern, _) => match **value {
            Expr::Column(column) => push(found, column, Bound::Like(pattern.clone())),
            _ => false,
        },
        Expr::Matches(value, pattern) => match **value {
            Expr::Column(column) => push(found, column, Bound::Matches(pattern.clone())),
            _ => false,
        },
        _ => false,
    }
}

fn push(found: &mut Vec<(usize, Bound)>, column: usize, bound: Bound) -> bool {
    found.push((column, bound));
    true
}

fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Text(text) => Some(text.clone()),
        Expr::Number(number) => Some(number.to_string()),
        Expr::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn compared(
    relation: Relation,
    left: &Expr,
    right: &Expr,
    found: &mut Vec<(usize, Bound)>,
) -> bool {
    match (left, right) {
        (Expr::Column(column), Expr::Number(number)) => match relation {
            Relation::Less | Relation::AtMost => {
                push(found, *column, Bound::Max(*number, relation == Relation::Less))
            }
            Relation::More | Relation::AtLeast => {
                push(found, *column, Bound::Min(*number, relation == Relation::More))
            }
            Relation::Equal => push(found, *column, Bound::OneOf(vec![number.to_string()])),
            Relation::Different => false,
        },
        (Expr::Column(column), Expr::Text(text)) => match relation {
            Relation::Equal => push(found, *column, Bound::OneOf(vec![text.clone()])),
            Relation::More | Relation::AtLeast => {
                push(found, *column, Bound::From(text.clone(), relation == Relation::More))
            }
            Relation::Less | Relation::AtMost => {
                push(found, *column, Bound::To(text.clone(), relation == Relation::Less))
            }
            Relation::Different => text.is_empty() && push(found, *column, Bound::Shortest(1)),
        },
        (Expr::Column(column), Expr::Column(other)) => match relation {
            Relation::Less => push(found, *column, Bound::Before(*other, true)),
            Relation::AtMost => push(found, *column, Bound::Before(*other, false)),
            _ => false,
        },
        (Expr::Column(column), Expr::Call(function, inner)) if **inner == *left => {
            match (relation, function) {
                (Relation::Equal, Function::Lower) => push(found, *column, Bound::Small),
                (Relation::Equal, Function::Upper) => push(found, *column, Bound::Capital),
                _ => false,
            }
        }
        (Expr::Call(Function::Length, inner), Expr::Number(number)) => {
            length(relation, inner, *number, found)
        }
        (Expr::Arithmetic('%', value, divisor), Expr::Number(rest)) => {
            match (relation, &**value, &**divisor) {
                (Relation::Equal, Expr::Column(column), Expr::Number(divisor)) => {
                    push(found, *column, Bound::Remainder(*divisor, *rest))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn length(relation: Relation, of: &Expr, number: f64, found: &mut Vec<(usize, Bound)>) -> bool {
    let inner = match of {
        Expr::Call(Function::Trim, inner) => inner,
        other => other,
    };
    let Expr::Column(column) = *inner else { return false };
    let characters = number.clamp(0.0, f64::from(u32::MAX)) as u32;
    match relation {
        Relation::More => push(found, column, Bound::Shortest(characters.saturating_add(1))),
        Relation::AtLeast => push(found, column, Bound::Shortest(characters)),
        Relation::Less => push(found, column, Bound::Longest(characters.saturating_sub(1))),
        Relation::AtMost => push(found, column, Bound::Longest(characters)),
        Relation::Equal => {
            push(found, column, Bound::Shortest(characters));
            push(found, column, Bound::Longest(characters))
        }
        Relation::Different => false,
    }
}

#[cfg(test)]
mod tests;
