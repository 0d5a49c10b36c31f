//! What follows for single columns where one of several conditions holds: what follows from each of them.

use std::cmp::Ordering;

use super::{Bound, Expr, collect};

/// Bounds of one of the conditions, by column.
type Bounds = Vec<(usize, Bound)>;

/// Adds the bounds that follow, and whether the conditions say nothing else.
pub fn either(parts: &[Expr], found: &mut Bounds) -> bool {
    let is_null = |part: &&Expr| matches!(part, Expr::IsNull(_));
    let (nulls, others): (Vec<&Expr>, Vec<&Expr>) = parts.iter().partition(is_null);
    let mut whole = true;
    let mut each = Vec::new();
    for part in others {
        let mut bounds = Vec::new();
        whole &= collect(part, &mut bounds);
        // A column that may be NULL besides: NULL satisfies any condition anyway. Of other columns nothing follows.
        let all = bounds.len();
        bounds.retain(|(column, _)| {
            nulls.iter().all(|null| **null == Expr::IsNull(Box::new(Expr::Column(*column))))
        });
        whole &= bounds.len() == all;
        each.push(bounds);
    }
    if each.len() == 1 {
        found.extend(each.remove(0));
        return whole;
    }
    let Some(first) = each.first() else { return false };
    let mut columns: Vec<usize> = first.iter().map(|(column, _)| *column).collect();
    columns.sort_unstable();
    columns.dedup();
    let before = found.len();
    for column in columns {
        found.extend(of_column(column, &each).into_iter().map(|bound| (column, bound)));
    }
    let lists = matches!(found[before..], [(_, Bound::OneOf(_))]);
    whole && lists && each.iter().all(|bounds| bounds.len() == 1)
}

/// What each of the conditions says of a column: a list of values, or a range that holds all of theirs.
fn of_column(column: usize, each: &[Bounds]) -> Vec<Bound> {
    let of = |bounds: &Bounds, wanted: &dyn Fn(&Bound) -> Option<Bound>| {
        bounds.iter().filter(|(at, _)| *at == column).find_map(|(_, bound)| wanted(bound))
    };
    let all = |wanted: &dyn Fn(&Bound) -> Option<Bound>| {
        each.iter().map(|bounds| of(bounds, wanted)).collect::<Option<Vec<Bound>>>()
    };
    let mut found = Vec::new();
    found.extend(
        all(&|bound| (*bound == Bound::Filled).then_some(Bound::Filled)).map(|_| Bound::Filled),
    );
    if let Some(lists) = all(&|bound| matches!(bound, Bound::OneOf(_)).then(|| bound.clone())) {
        let mut values: Vec<String> = Vec::new();
        for list in lists {
            let Bound::OneOf(list) = list else { continue };
            let new = list.into_iter().filter(|value| !values.contains(value));
            let new: Vec<String> = new.collect();
            values.extend(new);
        }
        found.push(Bound::OneOf(values));
        return found;
    }
    found.extend(all(&lower).and_then(|ends| ends.into_iter().min_by(in_order)));
    found.extend(all(&upper).and_then(|ends| ends.into_iter().max_by(in_order)));
    found
}

fn lower(bound: &Bound) -> Option<Bound> {
    match bound {
        Bound::Min(..) | Bound::From(..) => Some(bound.clone()),
        Bound::OneOf(values) => {
            values.iter().map(|value| Bound::From(value.clone(), false)).min_by(in_order)
        }
        _ => None,
    }
}

fn upper(bound: &Bound) -> Option<Bound> {
    match bound {
        Bound::Max(..) | Bound::To(..) => Some(bound.clone()),
        Bound::OneOf(values) => {
            values.iter().map(|value| Bound::To(value.clone(), false)).max_by(in_order)
        }
        _ => None,
    }
}

/// Numbers by their size, also where they are written as texts; else texts. Of the same, the end that is inside of its
/// range is the outer one.
fn in_order(one: &Bound, other: &Bound) -> Ordering {
    let end = |bound: &Bound| match bound {
        Bound::Min(number, outside) => (Some(*number), String::new(), i8::from(*outside)),
        Bound::Max(number, outside) => (Some(*number), String::new(), -i8::from(*outside)),
        Bound::From(text, outside) => (text.parse().ok(), text.clone(), i8::from(*outside)),
        Bound::To(text, outside) => (text.parse().ok(), text.clone(), -i8::from(*outside)),
        _ => (None, String::new(), 0),
    };
    let ((one, one_text, one_step), (other, other_text, other_step)) = (end(one), end(other));
    let order = match (one, other) {
        (Some(one), Some(other)) => f64::total_cmp(&one, &other),
        _ => one_text.cmp(&other_text),
    };
    order.then(one_step.cmp(&other_step))
}
