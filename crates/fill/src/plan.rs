//! How many rows each table gets, and in which order: parents before children.

use model::names::nearest;

use crate::error::{Error, Result, unsatisfiable};
use crate::schema::Schema;

/// What the user asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wish {
    /// Tables, and how many rows there shall be in all.
    pub rows: Vec<(String, u64)>,
    /// The table that grows, and how many times.
    pub growth: Option<(String, f64)>,
    /// Leave alone what only follows from the growth of other tables.
    pub only: bool,
}

/// How many rows a table gets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Size {
    /// Rows to add.
    pub add: u64,
    /// Asked for by the user, so that fewer will not do.
    pub asked: bool,
    /// Why, for people; empty where nothing is added and nothing is to be said.
    pub why: String,
}

/// The sizes of all tables. `counts` are today's rows, `wanted` the rows that requests ask for and that are not
/// there.
///
/// # Errors
/// For tables that do not exist, for the growth of a table without rows, and for no rows where others need some.
pub fn sizes(schema: &Schema, counts: &[u64], wanted: &[u64], wish: &Wish) -> Result<Vec<Size>> {
    let mut sizes = vec![Size::default(); counts.len()];
    let mut factors: Vec<f64> = vec![1.0; counts.len()];
    for (name, total) in &wish.rows {
        let at = find(schema, name)?;
        sizes[at] = Size {
            add: total.saturating_sub(counts[at]),
            asked: true,
            why: if *total > counts[at] { "as asked" } else { "has as many already" }.to_owned(),
        };
        if counts[at] > 0 {
            factors[at] = *total as f64 / counts[at] as f64;
        }
    }
    if let Some((name, factor)) = &wish.growth {
        let at = find(schema, name)?;
        if counts[at] == 0 {
            return Err(Error::Usage(format!(
                "{name} has no rows today, so there is nothing to multiply: use --rows {name}=N"
            )));
        }
        if !sizes[at].asked {
            factors[at] = *factor;
            let total = (counts[at] as f64 * factor).round() as u64;
            let why = match total > counts[at] {
                true => format!("grows {} times", times(*factor)),
                false => "has as many already".to_owned(),
            };
            sizes[at] = Size { add: total.saturating_sub(counts[at]), asked: true, why };
        }
    }
    if !wish.only {
        follow(schema, counts, &factors, &mut sizes);
    }
    for (at, &wanted) in wanted.iter().enumerate() {
        if sizes[at].add < wanted {
            sizes[at].add = wanted;
            sizes[at].why = "rows that the pools ask for".to_owned();
        }
    }
    add_parents(schema, counts, &mut sizes)?;
    Ok(sizes)
}

/// The table of this name.
///
/// # Errors
/// With the nearest name, where there is none.
pub fn find(schema: &Schema, name: &str) -> Result<usize> {
    if let Some(at) = schema.find(name) {
        return Ok(at);
    }
    let names: Vec<String> = schema.tables.iter().map(|table| table.name.to_string()).collect();
    let near = nearest(name, names.iter().map(String::as_str))
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(Error::Usage(format!("there is no table `{name}`{near}")))
}

/// Four digits behind the point, without zeros at the end.
fn times(factor: f64) -> String {
    let text = format!("{factor:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What refers to a table that grows grows with it, where there are rows today from which its size follows.
fn follow(schema: &Schema, counts: &[u64], factors: &[f64], sizes: &mut [Size]) {
    let mut factors = factors.to_vec();
    let mut causes: Vec<Option<usize>> = vec![None; counts.len()];
    // As many rounds as there are tables: a cycle ends there.
    for _ in 0..counts.len() {
        let mut changed = false;
        for (at, table) in schema.tables.iter().enumerate().filter(|(at, _)| !sizes[*at].asked) {
            for parent in table.references.iter().map(|reference| reference.table) {
                if parent != at && factors[parent] > factors[at] {
                    factors[at] = factors[parent];
                    causes[at] = Some(parent);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (at, cause) in causes.iter().enumerate() {
        let Some(cause) = cause else { continue };
        let cause = &schema.tables[*cause].name;
        sizes[at] = if counts[at] == 0 {
            let name = &schema.tables[at].name;
            let why = format!("refers to {cause}, has no rows today: set --rows {name}=N");
            Size { add: 0, asked: false, why }
        } else {
            let total = (counts[at] as f64 * factors[at]).round() as u64;
            let why = format!("refers to {cause}, grows {} times", times(factors[at]));
            Size { add: total.saturating_sub(counts[at]), asked: false, why }
        };
    }
}

/// A row that must have a parent gets one.
fn add_parents(schema: &Schema, counts: &[u64], sizes: &mut [Size]) -> Result<()> {
    for _ in 0..counts.len() {
        let mut changed = false;
        for (at, table) in schema.tables.iter().enumerate() {
            if sizes[at].add == 0 {
                continue;
            }
            for reference in &table.references {
                let parent = reference.table;
                let needed =
                    reference.columns.iter().any(|&column| !table.columns[column].nullable);
                if !needed || parent == at || counts[parent] + sizes[parent].add > 0 {
                    continue;
                }
                if sizes[parent].asked {
                    let (child, parent) = (&table.name, &schema.tables[parent].name);
                    return Err(Error::Usage(format!(
                        "{child} needs rows of {parent}, which has none and is to have none (--rows {parent}=0): ask for \
                         some, or leave {child} out too (--rows {child}=0)"
                    )));
                }
                let unique = table.uniques.iter().any(|unique| {
                    unique.columns.iter().all(|column| reference.columns.contains(column))
                });
                let add = if unique { sizes[at].add } else { sizes[at].add.div_ceil(10) };
                let why = format!("{} needs its rows; set --rows for another number", table.name);
                sizes[parent] = Size { add, asked: false, why };
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

/// Tables in order, and references (table, its reference) that close cycles.
pub type Order = (Vec<usize>, Vec<(usize, usize)>);

/// The order in which tables are filled that get rows, and the references that have to be filled afterwards, since
/// they close a cycle.
///
/// # Errors
/// For a cycle in which no reference may be NULL.
pub fn order(schema: &Schema, sizes: &[Size]) -> Result<Order> {
    let mut left: Vec<usize> = (0..sizes.len()).filter(|&at| sizes[at].add > 0).collect();
    let (mut order, mut deferred) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let ready = left.iter().position(|&at| waits_for(schema, at, &left, &deferred).is_empty());
        match ready {
            Some(place) => order.push(left.remove(place)),
            None => deferred.push(weakest(schema, &left, &deferred)?),
        }
    }
    Ok((order, deferred))
}

/// The references of a table whose parents have to come first.
fn waits_for(
    schema: &Schema,
    at: usize,
    left: &[usize],
    deferred: &[(usize, usize)],
) -> Vec<usize> {
    let references = schema.tables[at].references.iter().enumerate();
    references
        .filter(|(number, reference)| {
            reference.table != at
                && left.contains(&reference.table)
                && !deferred.contains(&(at, *number))
        })
        .map(|(number, _)| number)
        .collect()
}

/// A reference on a cycle that may be NULL at first.
fn weakest(schema: &Schema, left: &[usize], deferred: &[(usize, usize)]) -> Result<(usize, usize)> {
    let mut on_cycle = Vec::new();
    for &at in left {
        for number in waits_for(schema, at, left, deferred) {
            if reaches(schema, schema.tables[at].references[number].table, at, left, deferred) {
                on_cycle.push((at, number));
            }
        }
    }
    let nullable = on_cycle.iter().find(|&&(at, number)| {
        let table = &schema.tables[at];
        let reference = &table.references[number];
        table.key().is_some_and(|key| {
            reference
                .columns
                .iter()
                .any(|&column| table.columns[column].nullable && !key.columns.contains(&column))
        })
    });
    if let Some(&found) = nullable {
        return Ok(found);
    }
    let rules = on_cycle.iter().map(|&(at, number)| {
        let table = &schema.tables[at];
        let reference = &table.references[number];
        format!("{} by {}", table.places(&reference.columns), reference.rule)
    });
    let rules = rules.collect::<Vec<_>>().join("; ");
    unsatisfiable(format!(
        "these foreign keys refer to each other in a circle and none of their columns may be NULL. A fill writes one \
         table after the other, in transactions of their own, so that a row's parent has to be there before it, even \
         where a rule is checked at the end of a transaction (DEFERRABLE). Let one of these columns be NULL for the \
         time of the fill: {rules}"
    ))
}

fn reaches(
    schema: &Schema,
    from: usize,
    to: usize,
    left: &[usize],
    deferred: &[(usize, usize)],
) -> bool {
    let (mut seen, mut next) = (vec![from], vec![from]);
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        for number in waits_for(schema, at, left, deferred) {
            let parent = schema.tables[at].references[number].table;
            if !seen.contains(&parent) {
                seen.push(parent);
                next.push(parent);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests;
