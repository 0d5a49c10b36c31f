//! Columns that a condition makes equal to an expression of others: `x + y = 100`, `total = price * amount`.

use super::conditions::columns_of;
use super::limits::Limits;
use crate::check::{Bound, Expr, Logic, Relation};
use crate::schema::{Table, Type};

/// Values that are made for one of an equation at most: each is made anew for every column that is made of it, so that
/// they multiply where equations build on each other.
const MOST_VALUES: u64 = 1000;

/// What a column has to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Equation {
    /// What it is equal to.
    pub expr: Expr,
    /// The columns of that.
    pub columns: Vec<usize>,
}

/// One for each column that nothing else decides and that a condition makes equal to others. `after` are the columns
/// below which columns may not lie. Of equations that build on each other, those whose values would take too long are left
/// out.
pub fn find<'a>(
    table: &Table,
    conditions: impl Iterator<Item = &'a Expr>,
    after: &[Option<(usize, bool)>],
) -> Vec<Option<Equation>> {
    let mut found = vec![None; table.columns.len()];
    for condition in conditions {
        add(table, condition, after, &mut found);
    }
    let mut values = vec![None; found.len()];
    for column in 0..found.len() {
        limit(column, after, &mut found, &mut values);
    }
    found
}

/// Leaves out equations of a column, and of those that it is made of, that take too many values; how many the column takes.
fn limit(
    column: usize,
    after: &[Option<(usize, bool)>],
    found: &mut [Option<Equation>],
    values: &mut [Option<u64>],
) -> u64 {
    if let Some(known) = values[column] {
        return known;
    }
    let mut all = 1;
    if let Some((base, _)) = after[column] {
        all += limit(base, after, found, values);
    }
    let others = found[column].iter().flat_map(|equation| equation.columns.clone());
    let others: Vec<usize> = others.collect();
    let mut of_others = 0;
    for other in others {
        of_others += limit(other, after, found, values);
    }
    if all + of_others > MOST_VALUES {
        found[column] = None;
    } else {
        all += of_others;
    }
    values[column] = Some(all);
    all
}

fn add(
    table: &Table,
    condition: &Expr,
    after: &[Option<(usize, bool)>],
    found: &mut [Option<Equation>],
) {
    match condition {
        Expr::Logic(Logic::And, parts) => {
            parts.iter().for_each(|part| add(table, part, after, found));
        }
        Expr::Compare(Relation::Equal, left, right) => {
            let columns = all_columns(condition);
            if columns.len() < 2 || !columns.iter().all(|&column| is_number(table, column)) {
                return;
            }
            // The last one that can be: a sum stands behind its parts.
            for &column in columns.iter().rev() {
                let others = columns.iter().copied().filter(|&other| other != column);
                let others: Vec<usize> = others.collect();
                if !is_open(table, column)
                    || found[column].is_some()
                    || depend(&others, column, after, found)
                {
                    continue;
                }
                let expr = solved(left, right, column).or_else(|| solved(right, left, column));
                if let Some(expr) = expr {
                    found[column] = Some(Equation { expr, columns: others });
                    return;
                }
            }
        }
        _ => {}
    }
}

fn all_columns(expr: &Expr) -> Vec<usize> {
    let mut columns = Vec::new();
    columns_of(expr, &mut columns);
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Whether a column holds a number that is made up here: no parent's key, nothing that the database computes.
fn is_number(table: &Table, column: usize) -> bool {
    let of = &table.columns[column];
    let is_number = matches!(of.kind, Type::Int { .. } | Type::Decimal { .. } | Type::Float);
    let mut references = table.references.iter();
    is_number
        && of.generated.is_none()
        && !references.any(|reference| reference.columns.contains(&column))
}

/// Whether no counter and no rule of uniqueness decides on a column.
fn is_open(table: &Table, column: usize) -> bool {
    !table.columns[column].counted && !table.rules().any(|rule| rule.columns.contains(&column))
}

/// Whether one of these columns is made of `column`.
fn depend(
    columns: &[usize],
    column: usize,
    after: &[Option<(usize, bool)>],
    found: &[Option<Equation>],
) -> bool {
    let (mut waiting, mut seen) = (columns.to_vec(), Vec::new());
    while let Some(at) = waiting.pop() {
        if at == column {
            return true;
        }
        if !seen.contains(&at) {
            seen.push(at);
            waiting.extend(after[at].map(|(base, _)| base));
            waiting.extend(found[at].iter().flat_map(|equation| &equation.columns));
        }
    }
    false
}

/// What a column is that stands once on the left of an equation; none where it is multiplied or on both sides.
fn solved(left: &Expr, right: &Expr, column: usize) -> Option<Expr> {
    let names = |expr: &Expr| all_columns(expr).contains(&column);
    if names(right) {
        return None;
    }
    let joined = |sign: char, one: &Expr, other: &Expr| {
        Expr::Arithmetic(sign, Box::new(one.clone()), Box::new(other.clone()))
    };
    match left {
        Expr::Column(at) if *at == column => Some(right.clone()),
        Expr::Arithmetic(sign, one, other) => match (sign, names(one), names(other)) {
            ('+', true, false) => solved(one, &joined('-', right, other), column),
            ('+', false, true) => solved(other, &joined('-', right, one), column),
            ('-', true, false) => solved(one, &joined('+', right, other), column),
            ('-', false, true) => solved(other, &joined('-', one, right), column),
            _ => None,
        },
        _ => None,
    }
}

/// Leaves a column the values alone for which one that is equal to it, but for a number, has one too: of `x + y = 100`,
/// `x` is at most 100 where `y` is at least 0.
pub fn narrow(table: &Table, equations: &[Option<Equation>], limits: &mut [Limits]) {
    for (column, equation) in equations.iter().enumerate() {
        let Some((other, number, is_subtracted)) = equation.as_ref().and_then(shifted) else {
            continue;
        };
        let (low, high) = limits[column].range;
        let (low, high) = match is_subtracted {
            true => (high.map(|high| number - high), low.map(|low| number - low)),
            false => (low.map(|low| low - number), high.map(|high| high - number)),
        };
        let kind = &table.columns[other].kind;
        let bounds =
            [low.map(|low| Bound::Min(low, false)), high.map(|high| Bound::Max(high, false))];
        bounds.iter().flatten().for_each(|bound| limits[other].add(kind, bound));
    }
}

/// The column and the number of which an expression is the sum; whether the column is subtracted.
fn shifted(equation: &Equation) -> Option<(usize, f64, bool)> {
    match &equation.expr {
        Expr::Column(column) => Some((*column, 0.0, false)),
        Expr::Arithmetic(sign, one, other) => match (sign, &**one, &**other) {
            ('+', Expr::Column(column), Expr::Number(number))
            | ('+', Expr::Number(number), Expr::Column(column)) => Some((*column, *number, false)),
            ('-', Expr::Column(column), Expr::Number(number)) => Some((*column, -number, false)),
            ('-', Expr::Number(number), Expr::Column(column)) => Some((*column, *number, true)),
            _ => None,
        },
        _ => None,
    }
}
