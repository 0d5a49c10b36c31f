//! Compiles schema and facts to the generators of columns.

use model::random::Permutation;

use super::conditions::Conditions;
use super::limits::Limits;
use super::link::{Deal, Dealt, Link, Matching};
use super::plain::Plain;
use super::unique::{self, Board};
use super::{Maker, OldKeys, Rows, TableRows};
use crate::draw::{key_of, key_of_text};
use crate::error::{Result, unsatisfiable};
use crate::facts::Facts;
use crate::kind::{Kind, kind_of, kind_of_new};
use crate::learn::{FEW, Learned};
use crate::schema::{Reference, Schema, Table, Type};
use crate::spread::{Spread, pool_weights, usual_weights, weights_of_counts};
use crate::value::Value;
use crate::words::Words;

/// Compiles a fill.
pub fn compile(schema: &Schema, facts: &Facts) -> Result<Rows> {
    let Some(words) = Words::of(&facts.locale) else {
        return unsatisfiable(format!("the locale {} is not known", facts.locale));
    };
    let mut tables = Vec::new();
    for at in 0..schema.tables.len() {
        tables.push(compile_table(schema, facts, at)?);
    }
    let mut rows = Rows { words, tables };
    rows.match_parents(&facts.order);
    Ok(rows)
}

fn compile_table(schema: &Schema, facts: &Facts, at: usize) -> Result<TableRows> {
    let (table, of) = (&schema.tables[at], &facts.tables[at]);
    let key = key_of(&[facts.seed, key_of_text(&table.name.to_string())]);
    let parents = of.parents.iter().map(|parents| {
        let kind = |part: usize| &table.columns[parents.columns[part]].kind;
        let values = |texts: &Vec<String>| {
            texts.iter().enumerate().map(|(part, text)| Value::parse(kind(part), text)).collect()
        };
        OldKeys { keys: parents.keys.iter().map(values).collect(), times: parents.times.clone() }
    });
    let mut made = TableRows {
        add: of.add,
        key,
        place: table.name.to_string(),
        columns: Vec::new(),
        links: Vec::new(),
        parents: parents.collect(),
        checks: Vec::new(),
        written: Vec::new(),
        first_rowid: of.first_rowid,
    };
    if of.add == 0 {
        return Ok(made);
    }
    let conditions = Conditions::of(schema.dialect, table, of.partitions.as_deref())?;
    let mut makers: Vec<Option<Maker>> = table.columns.iter().map(|_| None).collect();
    for (maker, column) in makers.iter_mut().zip(&table.columns) {
        if column.generated.is_some() {
            *maker = Some(Maker::Skipped);
        }
    }
    made.links = links(schema, facts, at, key, &mut makers)?;
    let mut board = Board {
        table,
        facts: of,
        limits: &conditions.limits,
        makers: &mut makers,
        links: &mut made.links,
        key,
        until: facts.until,
        apart: conditions.apart(),
    };
    unique::solve(&mut board)?;
    give_steps(&mut made.links, &makers, &conditions.limits, of.rows >= FEW as u64);
    for (column, maker) in makers.into_iter().enumerate() {
        let maker = match maker {
            Some(maker) => maker,
            None => {
                let floors = floors(&made.links, column);
                any(table, facts, (at, column), &conditions, floors)?
            }
        };
        made.columns.push(maker);
    }
    let written = |column: &usize| !matches!(made.columns[*column], Maker::Skipped);
    made.written = (0..table.columns.len()).filter(written).collect();
    made.checks = conditions.left(&made.written);
    Ok(made)
}

/// Says which links may give a row another parent, where its conditions are not met: those that no rule of uniqueness
/// depends on. Each moves by a step of its own. Those may be without a parent too of which a condition asks that; `known`
/// rows of today say how often.
fn give_steps(links: &mut [Link], makers: &[Option<Maker>], limits: &[Limits], known: bool) {
    let seconds: Vec<usize> = links.iter().filter_map(|link| link.second_to).collect();
    for (at, link) in links.iter_mut().enumerate() {
        let tells_apart = makers.iter().any(|maker| match maker {
            Some(Maker::Ordinal { link, .. } | Maker::Choice { link, .. }) => *link == at,
            _ => false,
        });
        let bound = tells_apart || link.second_to.is_some() || seconds.contains(&at);
        link.step = if bound { 0 } else { at as u64 + 1 };
        let parts = makers.iter().zip(limits);
        let parts = parts
            .filter(|(maker, _)| matches!(maker, Some(Maker::Part { link, .. }) if *link == at));
        let parts: Vec<&Limits> = parts.map(|(_, limits)| limits).collect();
        let may_be_null = parts.iter().all(|limits| !limits.filled);
        if !bound && may_be_null && parts.iter().any(|limits| limits.asked) {
            link.nulls_when_redrawn = Some(if known { link.nulls } else { 0.5 });
        }
    }
}

/// The foreign keys of a table, those of the most columns first. One whose columns another one holds already follows
/// from that.
fn links(
    schema: &Schema,
    facts: &Facts,
    at: usize,
    key: u64,
    makers: &mut [Option<Maker>],
) -> Result<Vec<Link>> {
    let table = &schema.tables[at];
    let mut order: Vec<usize> = (0..table.references.len()).collect();
    order.sort_by_key(|&number| std::cmp::Reverse(table.references[number].columns.len()));
    let mut links = Vec::new();
    for number in order {
        let reference = &table.references[number];
        let parts = reference.columns.iter().copied().enumerate();
        // A column that refers to itself agrees with its own row, and with others only by chance.
        let same = |(part, column): &(usize, usize)| {
            reference.table == at && reference.targets[*part] == *column
        };
        let free = |of: &(usize, usize)| makers[of.1].is_none() && !same(of);
        let open: Vec<usize> = parts.clone().filter(free).map(|(_, column)| column).collect();
        if open.is_empty() {
            continue;
        }
        let key = key_of(&[key, 1 << 32 | number as u64]);
        let mut link = link(schema, facts, (at, number), &open, key)?;
        if parts.clone().any(|of| same(&of)) {
            link.deal = match open.iter().all(|&column| table.columns[column].nullable) {
                true => Deal::Nobody,
                false => Deal::Earlier { one: true, own: true },
            };
        } else if open.len() < reference.columns.len() && !matches!(link.deal, Deal::Nobody) {
            let shared = parts.clone().filter(|(_, column)| !open.contains(column));
            let shared = shared.map(|(part, column)| (column, part)).collect();
            link.deal = Deal::Matching(Matching { shared, ..Matching::default() });
        }
        for (part, column) in parts.filter(|(_, column)| open.contains(column)) {
            makers[column] = Some(Maker::Part { link: links.len(), part });
        }
        links.push(link);
        if !open.iter().any(|&column| is_circle(at, &links, makers, column)) {
            continue;
        }
        if open.iter().any(|&column| !table.columns[column].nullable) {
            let place = table.places(&reference.columns);
            let why =
                "refers to columns that are made of its own, and no way is known to make these";
            return unsatisfiable(format!("{place}: the foreign key {} {why}", reference.rule));
        }
        let last = links.len() - 1;
        links[last].deal = Deal::Nobody;
    }
    Ok(links)
}

/// Whether a column is made of itself, by references of rows to others of the same table.
fn is_circle(table: usize, links: &[Link], makers: &[Option<Maker>], start: usize) -> bool {
    let next = |column: &usize| match &makers[*column] {
        Some(Maker::Part { link, part }) => {
            let link = &links[*link];
            let is_own = link.table == table && !matches!(link.deal, Deal::Nobody);
            is_own.then(|| link.targets[*part])
        }
        _ => None,
    };
    let mut way = std::iter::successors(next(&start), next).take(makers.len());
    way.any(|column| column == start)
}

/// A foreign key, of which these columns are open: no other one decides them.
fn link(
    schema: &Schema,
    facts: &Facts,
    (at, number): (usize, usize),
    open: &[usize],
    key: u64,
) -> Result<Link> {
    let table = &schema.tables[at];
    let reference = &table.references[number];
    let (of, parent) = (&facts.tables[at], &facts.tables[reference.table]);
    // Without a parent all of them are NULL.
    let nullable = open.iter().all(|&column| table.columns[column].nullable);
    let own = reference.table == at;
    // What the database computes of new rows is not known before they are written.
    let target = &schema.tables[reference.table];
    let computed = are_computed(target, &reference.targets);
    let keys = parent.parents.iter().position(|keys| keys.columns == reference.targets);
    let old = parent.keys_of(&reference.targets).len() as u64;
    let new = if own || computed { 0 } else { parent.add };
    let counts = of.links.get(number).cloned().unwrap_or_default();
    let known = of.rows >= FEW as u64;
    let deal = if own && !computed {
        Deal::Earlier { one: false, own: !nullable }
    } else if old + new == 0 {
        if !nullable {
            return without_parents(table, reference, target);
        }
        Deal::Nobody
    } else {
        let rows = (of.rows, of.add, parent.rows, new, old);
        let column = (reference.targets.len() == 1).then(|| reference.targets[0]);
        let weights = column.and_then(|column| parent.columns.get(column));
        let weights = weights.map(|of| of.weights.clone()).unwrap_or_default();
        Deal::Spread(Box::new(dealt(rows, &counts.counts, &weights, key)))
    };
    Ok(Link {
        table: reference.table,
        targets: reference.targets.clone(),
        keys: keys.unwrap_or(usize::MAX),
        old,
        new,
        nulls: match (nullable, known, own) {
            (true, true, _) => counts.nulls,
            (true, false, true) => 0.1,
            _ => 0.0,
        },
        nulls_when_redrawn: None,
        deferred: facts.deferred.contains(&(at, number)),
        second_to: None,
        apart: false,
        step: 0,
        times: if own { Vec::new() } else { counts.times },
        deal,
        order: Permutation::new(of.add, key_of(&[key, 1])),
        key,
    })
}

/// Whether the database computes one of these columns.
fn are_computed(table: &Table, columns: &[usize]) -> bool {
    columns.iter().any(|&column| table.columns[column].generated.is_some())
}

/// Refuses a foreign key that no row can satisfy: NULL is not allowed, and no row is known that it may refer to.
fn without_parents<T>(table: &Table, reference: &Reference, target: &Table) -> Result<T> {
    let (parents, why) = if are_computed(target, &reference.targets) {
        let why = "whose values the database computes: they are not known before they are written";
        (target.places(&reference.targets), why)
    } else {
        (target.places(&[]), "which has none and gets none")
    };
    let (place, rule) = (table.places(&reference.columns), &reference.rule);
    unsatisfiable(format!("{place}: the foreign key {rule} needs rows in {parents}, {why}"))
}

/// New children go to old parents only as far as those have fewer than their share of all children.
fn dealt(
    (rows, add, parents, new, old): (u64, u64, u64, u64, u64),
    counts: &[(u64, u64)],
    (of_old, of_new): &(Vec<f64>, Vec<f64>),
    key: u64,
) -> Dealt {
    let share = new as f64 / (parents + new).max(1) as f64;
    let split = match (old, new) {
        (0, _) => add,
        (_, 0) => 0,
        _ => (((rows + add) as f64 * share).round() as u64).min(add),
    };
    let known = counts.iter().any(|(children, _)| *children > 0);
    let weights = |pool: &[f64], parents: u64| match (known, pool.is_empty()) {
        (true, _) => weights_of_counts(counts),
        (false, false) => pool_weights(pool, parents),
        (false, true) => usual_weights(),
    };
    let ranks = |pool: usize, parents: u64, salt: u64| {
        let pool = (pool as u64).min(parents);
        (pool, Permutation::new(parents - pool, key_of(&[key, salt])))
    };
    Dealt {
        split,
        fresh: Spread::new(new, split, &weights(of_new, new)),
        aged: Spread::new(old, add - split, &weights(of_old, old)),
        new_ranks: ranks(of_new.len(), new, 2),
        old_ranks: ranks(of_old.len(), old, 3),
    }
}

/// The links, and the columns of parents, before whose times this column does not lie. A parent that comes in a second
/// pass may depend on this row itself.
fn floors(links: &[Link], column: usize) -> Vec<(usize, usize)> {
    let links = links.iter().enumerate().filter(|(_, link)| !link.deferred);
    let of = |(at, link): (usize, &Link)| {
        let times: Vec<_> = link.times.iter().filter(|(child, _)| *child == column).collect();
        times.into_iter().map(|&(_, parent)| (at, parent)).collect::<Vec<_>>()
    };
    links.flat_map(of).collect()
}

/// A column that no rule of uniqueness and no foreign key decides.
fn any(
    table: &Table,
    facts: &Facts,
    (at, number): (usize, usize),
    conditions: &Conditions,
    floors: Vec<(usize, usize)>,
) -> Result<Maker> {
    let column = &table.columns[number];
    let kind = kind_of(&table.name.table, &column.name);
    let limits = conditions.limits[number].clone();
    let learned: Learned =
        facts.tables[at].columns.get(number).map(|of| of.learned.clone()).unwrap_or_default();
    let known = learned.is_known();
    // What a default draws of a sequence is drawn for good, also where the row is taken back.
    let draws = |text: &str| !column.counted && text.contains("nextval(");
    let has_default = column.default.as_deref().is_some_and(|text| text != "NULL" && !draws(text));
    let default = column.default.as_deref().and_then(number_in);
    let barred = default.is_some_and(|number| limits.clamp(number) != number);
    let bounded = limits.one_of.is_some() || barred || conditions.is_equal_to_others(number);
    let kind_of_values = learned.kind_of(column);
    let left_to_default = matches!(
        (&kind_of_values, kind),
        (
            Type::Text { .. } | Type::Int { .. } | Type::Decimal { .. },
            Kind::Unknown | Kind::Role | Kind::Status
        ) | (Type::Other | Type::Json | Type::Enum(_), _)
    );
    if !known && has_default && (column.counted || (left_to_default && !bounded)) {
        return Ok(Maker::Skipped);
    }
    if column.kind == Type::Other && !known {
        if column.nullable {
            return Ok(Maker::Null);
        }
        return unsatisfiable(format!(
            "{}: values of the type {} cannot be made up; allow NULL, give it a default, or put rows into {} from \
             which to learn",
            table.place(number),
            column.type_name,
            table.name
        ));
    }
    let kind = if known { kind } else { kind_of_new(table, column) };
    let after = conditions.after[number];
    let after = after.or_else(|| later_than_made(table, number, kind, known));
    let seed = key_of(&[facts.seed, number as u64, at as u64]);
    let times = (facts.until, seed);
    let plain = Box::new(Plain::new(column, kind, learned, limits, (after, floors), times));
    Ok(match conditions.equation(number) {
        Some(equation) => Maker::Equal { equation: equation.clone(), otherwise: plain },
        None => Maker::Plain(plain),
    })
}

/// The number that a default is, as databases print it: `0`, `(-1)`, `'5'::smallint`.
fn number_in(default: &str) -> Option<f64> {
    let bare = default.split("::").next().unwrap_or_default();
    bare.trim_matches(['(', ')', '\'', ' ']).parse().ok()
}

/// Without anything to learn from, what happened later lies after the row was made.
fn later_than_made(table: &Table, number: usize, kind: Kind, known: bool) -> Option<(usize, bool)> {
    if known || kind != Kind::Later || !table.columns[number].kind.is_time() {
        return None;
    }
    let made = |(_, column): &(usize, &crate::schema::Column)| {
        kind_of(&table.name.table, &column.name) == Kind::Created
            && column.kind == table.columns[number].kind
            && column.generated.is_none()
    };
    table.columns.iter().enumerate().find(made).map(|(at, _)| (at, false))
}
