//! What the conditions of a table say: of each column alone, and of several together.

use super::equations::{self, Equation};
use super::limits::{LONGEST_CODE, Limits, codes};
use crate::check::{self, Bound, Expr, Logic, Places, Relation};
use crate::error::{Result, unsatisfiable};
use crate::schema::{Check, Dialect, Table, Type};

/// The name of the condition that the partitions of a table set together.
const OF_PARTITIONS: &str = "to fit a partition";

/// The pattern of LIKE that conditions prescribe for a column.
pub fn pattern_of(dialect: Dialect, table: &Table, column: usize) -> Option<String> {
    let conditions = Conditions::of(dialect, table, None).ok()?;
    conditions.limits.into_iter().nth(column)?.like
}

/// The texts of the regular expression that conditions prescribe for a column, by number.
pub fn places_of(dialect: Dialect, table: &Table, column: usize) -> Option<Places> {
    let conditions = Conditions::of(dialect, table, None).ok()?;
    conditions.limits.get(column)?.places()
}

/// The texts that those of a column are chosen from, where they are few: those that conditions list, or all codes of letters
/// of a column that is as short as codes. None where texts are made up in other ways.
pub fn few_texts_of(
    dialect: Dialect,
    table: &Table,
    column: usize,
    partitions: Option<&str>,
) -> Vec<String> {
    let conditions = Conditions::of(dialect, table, partitions).ok();
    let limits = conditions.and_then(|conditions| conditions.limits.into_iter().nth(column));
    let Some(limits) = limits else { return Vec::new() };
    match (&limits.one_of, limits.longest) {
        (Some(texts), _) => texts.clone(),
        (None, Some(most)) if most <= LONGEST_CODE => codes(most, limits.letters).collect(),
        (None, _) => Vec::new(),
    }
}

/// What a table's conditions say.
pub struct Conditions {
    /// What they say of each column alone.
    pub limits: Vec<Limits>,
    /// Columns that may not lie below another, and whether they may be equal to it.
    pub after: Vec<Option<(usize, bool)>>,
    /// What columns have to be that are equal to others.
    equations: Vec<Option<Equation>>,
    /// Those that say more than that.
    checks: Vec<(String, Expr)>,
}

impl Conditions {
    /// Reads them; `partitions` is the one that a table's partitions set.
    ///
    /// # Errors
    /// Where they allow no row, or a column no value.
    pub fn of(dialect: Dialect, table: &Table, partitions: Option<&str>) -> Result<Self> {
        let of_partitions = partitions.map(|text| Check {
            rule: OF_PARTITIONS.to_owned(),
            text: text.to_owned(),
            value: None,
        });
        let rules: Vec<&Check> = table.checks.iter().chain(&of_partitions).collect();
        let mut limits: Vec<Limits> = table.columns.iter().map(Limits::of).collect();
        let mut after = vec![None; table.columns.len()];
        let mut checks = Vec::new();
        for &rule in &rules {
            let column = |name: &str| match rule.value {
                Some(column) if name.eq_ignore_ascii_case("value") => Some(column),
                _ => table.column_meant(name),
            };
            let condition = check::read(&rule.text, dialect, &column);
            let named = table.columns_of(rule);
            if named.is_empty() && check::holds(&condition, &[]) == Some(false) {
                let why = format!("{}: its condition {} allows no row", table.name, rule.rule);
                return unsatisfiable(why);
            }
            let (bounds, _) = check::bounds(&condition);
            for (column, bound) in bounds {
                limits[column].add(&table.columns[column].kind, &bound);
                if let Bound::Before(later, strictly) = bound {
                    // Not in a circle.
                    if after[column].is_none_or(|(base, _)| base != later) {
                        after[later] = Some((column, strictly));
                    }
                }
            }
            checks.push((format!("{} of {}", rule.rule, table.places(&named)), condition));
        }
        break_circles(&mut after);
        let equations = equations::find(table, checks.iter().map(|(_, check)| check), &after);
        equations::narrow(table, &equations, &mut limits);
        allow_values(table, &rules, &limits)?;
        mark_asked(&checks, &mut limits);
        Ok(Self { limits, after, equations, checks })
    }

    /// What a column has to be, if it is equal to others.
    pub fn equation(&self, column: usize) -> Option<&Equation> {
        self.equations[column].as_ref()
    }

    /// Whether a column is equal to others, or others to it.
    pub fn is_equal_to_others(&self, column: usize) -> bool {
        let mut all = self.equations.iter().flatten();
        self.equation(column).is_some() || all.any(|of| of.columns.contains(&column))
    }

    /// Pairs of columns that must not be equal.
    pub fn apart(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (_, check) in &self.checks {
            different(check, &mut found);
        }
        found
    }

    /// The conditions that can be judged of rows with these columns: all of them, since bounds say less than a
    /// condition may mean for what was learnt.
    pub fn left(self, written: &[usize]) -> Vec<(String, Expr)> {
        let judged = |(_, check): &(String, Expr)| {
            let mut columns = Vec::new();
            columns_of(check, &mut columns);
            columns.iter().all(|column| written.contains(column))
        };
        self.checks.into_iter().filter(judged).collect()
    }
}

/// Whether what conditions and types say of each column alone allows values.
fn allow_values(table: &Table, rules: &[&Check], limits: &[Limits]) -> Result<()> {
    for (column, of) in table.columns.iter().enumerate() {
        let none = match &of.kind {
            // What lies between two numbers, and what a type without digits holds, is not known here.
            Type::Float => false,
            Type::Decimal { .. } if !of.type_name.contains('(') => false,
            Type::Enum(values) if values.is_empty() => true,
            _ => limits[column].is_empty(),
        };
        if none && of.generated.is_none() {
            let (place, name) = (table.place(column), &of.type_name);
            let rules = rules.iter().filter(|rule| table.columns_of(rule).contains(&column));
            let rules: Vec<&str> = rules.map(|rule| rule.rule.as_str()).collect();
            let rules = rules.join(", ");
            let why = format!("{place}: its conditions allow no value of the type {name}: {rules}");
            return unsatisfiable(why.trim_end_matches(": "));
        }
    }
    Ok(())
}

/// A column depends on one other at most; where that leads back to it, it depends on none.
fn break_circles(after: &mut [Option<(usize, bool)>]) {
    for start in 0..after.len() {
        let mut at = start;
        for _ in 0..after.len() {
            match after[at] {
                Some((next, _)) if next == start => {
                    after[at] = None;
                    break;
                }
                Some((next, _)) => at = next,
                None => break,
            }
        }
    }
}

fn different(expr: &Expr, found: &mut Vec<(usize, usize)>) {
    let columns = |left: &Expr, right: &Expr| match (left, right) {
        (Expr::Column(left), Expr::Column(right)) => Some((*left, *right)),
        _ => None,
    };
    match expr {
        Expr::Logic(Logic::And, parts) => parts.iter().for_each(|part| different(part, found)),
        Expr::Compare(Relation::Different, left, right) => found.extend(columns(left, right)),
        Expr::Not(inner) => {
            if let Expr::Compare(Relation::Equal, left, right) = &**inner {
                found.extend(columns(left, right));
            }
        }
        _ => {}
    }
}

/// Marks columns of which a condition on several asks whether they are NULL.
fn mark_asked(checks: &[(String, Expr)], limits: &mut [Limits]) {
    for (_, check) in checks {
        let (mut named, mut asked) = (Vec::new(), Vec::new());
        columns_of(check, &mut named);
        asked_for_null(check, &mut asked);
        if named.iter().any(|column| *column != named[0]) {
            asked.into_iter().for_each(|column| limits[column].asked = true);
        }
    }
}

fn asked_for_null(expr: &Expr, found: &mut Vec<usize>) {
    match expr {
        Expr::IsNull(inner) => columns_of(inner, found),
        Expr::Not(inner) => asked_for_null(inner, found),
        Expr::Logic(_, parts) => parts.iter().for_each(|part| asked_for_null(part, found)),
        Expr::Compare(_, left, right) => {
            asked_for_null(left, found);
            asked_for_null(right, found);
        }
        _ => {}
    }
}

/// Adds the columns that an expression names.
pub fn columns_of(expr: &Expr, found: &mut Vec<usize>) {
    match expr {
        Expr::Column(column) => found.push(*column),
        Expr::Logic(_, parts) => parts.iter().for_each(|part| columns_of(part, found)),
        Expr::Not(inner)
        | Expr::IsNull(inner)
        | Expr::Like(inner, ..)
        | Expr::Matches(inner, _)
        | Expr::Call(_, inner) => columns_of(inner, found),
        Expr::Compare(_, left, right) | Expr::Arithmetic(_, left, right) => {
            columns_of(left, found);
            columns_of(right, found);
        }
        Expr::In(value, list) => {
            columns_of(value, found);
            list.iter().for_each(|part| columns_of(part, found));
        }
        Expr::Text(_) | Expr::Number(_) | Expr::Bool(_) | Expr::Null | Expr::Unknown => {}
    }
}
