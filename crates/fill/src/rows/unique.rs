//! How rules of uniqueness hold by construction.
//!
//! For each rule one of these: a column counts on from the highest value (`fresh`), alone or together with columns
//! that have few values (`combined`); a reference gives each parent one child; a number, day or one of a few values
//! tells a parent's children apart; of two references, the second gives each child of the first's parent another
//! parent. Where none fits, the schema is refused.

mod combined;
mod exclusion;
mod fresh;

use std::collections::BTreeSet;

use model::quote::grouped;
use model::random::Permutation;

use super::Maker;
use super::limits::{LONGEST_CODE, Limits};
use super::link::{Deal, Link};
use crate::draw::key_of;
use crate::error::{Result, unsatisfiable};
use crate::facts::TableFacts;
use crate::schema::{Table, Type, Unique};
use crate::spread::Spread;
use crate::times::DAY;
use crate::value::Value;

/// The block of private addresses that unique ones are taken from, 10.0.0.0/8 (RFC 1918): as numbers.
pub const FIRST_PRIVATE: u32 = 10 << 24;
pub const LAST_PRIVATE: u32 = (11 << 24) - 1;

/// The days that all databases know, as days since 1970: 1000-01-01 and 9999-12-31.
const FIRST_DAY: i64 = -354_285;
const LAST_DAY: i64 = 2_932_896;

/// A table whose columns are being decided on.
pub struct Board<'a> {
    pub table: &'a Table,
    pub facts: &'a TableFacts,
    pub limits: &'a [Limits],
    pub makers: &'a mut Vec<Option<Maker>>,
    pub links: &'a mut Vec<Link>,
    pub key: u64,
    pub until: i64,
    /// Pairs of columns that must not be equal.
    pub apart: Vec<(usize, usize)>,
}

/// Decides on columns until every rule holds.
pub fn solve(board: &mut Board<'_>) -> Result<()> {
    let table = board.table;
    // Rules of one column leave no choice.
    let mut uniques: Vec<&Unique> = table.uniques.iter().collect();
    uniques.sort_by_key(|unique| unique.columns.len());
    for unique in uniques {
        if !board.is_met(unique) {
            board.meet(unique).or_else(|error| board.leave_null(unique).ok_or(error))?;
        }
    }
    for unique in &table.partial {
        // More than the rule asks for may be more than there is room for: the database will say if rows break it.
        board.meet_if_possible(unique);
    }
    for exclusion in &table.exclusions {
        board.exclude(exclusion)?;
    }
    // A counter counts, whether or not it is a key.
    for column in 0..table.columns.len() {
        let integer = matches!(table.columns[column].kind, Type::Int { .. });
        if table.columns[column].counted && board.makers[column].is_none() && integer {
            let distinct = board.distinct(column, "its counter", 1)?;
            board.makers[column] = Some(Maker::Distinct(distinct));
        }
    }
    Ok(())
}

impl Board<'_> {
    fn is_met(&self, unique: &Unique) -> bool {
        let one = |column: &usize| match &self.makers[*column] {
            Some(Maker::Distinct(_)) => self.holds_turns(unique, *column),
            Some(Maker::Null) => true,
            Some(Maker::Part { link, .. }) => {
                matches!(self.links[*link].deal, Deal::One { .. } | Deal::Earlier { one: true, .. })
                    && self.holds(unique, *link)
            }
            Some(Maker::Ordinal { link, .. }) => self.holds(unique, *link),
            Some(Maker::Choice { link, .. }) => {
                self.holds(unique, *link) && self.chosen(unique, *link) >= self.links[*link].most()
            }
            _ => false,
        };
        let pair = self.links.iter().enumerate().any(|(at, link)| {
            link.second_to.is_some_and(|first| self.holds(unique, first) && self.holds(unique, at))
        });
        pair || unique.columns.iter().any(one)
    }

    /// Whether all columns of a link are among the rule's.
    fn holds(&self, unique: &Unique, link: usize) -> bool {
        self.makers.iter().enumerate().all(|(column, maker)| match maker {
            Some(Maker::Part { link: of, .. }) if *of == link => unique.columns.contains(&column),
            _ => true,
        })
    }

    fn meet(&mut self, unique: &Unique) -> Result<()> {
        let links: Vec<usize> =
            (0..self.links.len()).filter(|&link| self.is_whole(unique, link)).collect();
        let open: Vec<usize> = unique
            .columns
            .iter()
            .copied()
            .filter(|&column| self.makers[column].is_none())
            .collect();
        let dealt = links.iter().copied().find(|&link| {
            matches!(self.links[link].deal, Deal::Spread(_)) && !self.links[link].deferred
        });
        let ranked =
            |&column: &usize| self.rank(column, dealt.is_some()).map(|rank| (rank, column));
        let mut ranked: Vec<(u32, usize)> = open.iter().filter_map(ranked).collect();
        ranked.sort_unstable();
        if !ranked.is_empty() {
            return self.tell_apart(&ranked, &open, dealt, unique);
        }
        if let Some(&column) = open.iter().find(|&&column| self.may_be_null(column)) {
            self.makers[column] = Some(Maker::Null);
            return Ok(());
        }
        match (&links[..], &open[..], dealt) {
            ([], [_, ..], _) => self.combine(&open, unique),
            (_, [_, ..], Some(link)) => self.choose(&open, link, unique),
            ([link], [], _) if !matches!(self.links[*link].deal, Deal::Matching(_)) => {
                self.one_each(*link, unique)
            }
            ([first, second, ..], [], _) => self.pair(*first, *second, unique),
            _ => self.refuse(unique, "no way is known to make each of its values once"),
        }
    }

    /// Whether a column of which no values can be made up is left NULL: no NULL is the same as another one.
    fn may_be_null(&self, column: usize) -> bool {
        let kind = &self.table.columns[column].kind;
        matches!(kind, Type::Json | Type::Other) && !self.limits[column].filled
    }

    fn is_whole(&self, unique: &Unique, link: usize) -> bool {
        let has = self
            .makers
            .iter()
            .any(|maker| matches!(maker, Some(Maker::Part { link: of, .. }) if *of == link));
        has && self.holds(unique, link)
    }

    fn refuse<T>(&self, unique: &Unique, why: &str) -> Result<T> {
        let place = self.table.places(&unique.columns);
        unsatisfiable(format!("{place}: the rule {} cannot be met: {why}", unique.rule))
    }

    fn need(&self, there: u64, needed: u64, unique: &Unique) -> Result<()> {
        if there >= needed {
            return Ok(());
        }
        let (needed, there) = (grouped(needed), grouped(there));
        let why = format!("{needed} rows were to be added, and there is room for {there}");
        self.refuse(unique, &why)
    }

    fn column_key(&self, column: usize) -> u64 {
        key_of(&[self.key, 2 << 32 | column as u64])
    }

    /// How well a column tells rows apart; 0: it can tell a parent's children apart.
    fn rank(&self, column: usize, with_parent: bool) -> Option<u32> {
        let of = &self.table.columns[column];
        if self.limits[column].one_of.is_some() {
            return None;
        }
        let roomy = self.limits[column].longest.is_none_or(|most| most > LONGEST_CODE);
        let in_a_row = !of.counted && self.limits[column].remainder.is_none();
        match &of.kind {
            Type::Int { .. } if with_parent && in_a_row => Some(0),
            Type::Date if with_parent => Some(0),
            Type::Uuid => Some(1),
            Type::Text { .. } if roomy => Some(2),
            Type::Int { .. } => Some(3),
            Type::Moment { .. } => Some(4),
            Type::Decimal { .. } | Type::Float | Type::Bytes { .. } => Some(5),
            Type::Inet | Type::Inet6 | Type::Date => Some(6),
            Type::Time => Some(7),
            Type::Text { .. } => Some(8),
            Type::Bool | Type::Enum(_) | Type::Json | Type::Other => None,
        }
    }

    /// Numbers, or days, that tell the children of a parent apart.
    fn ordinal(&mut self, column: usize, link: usize, unique: &Unique) -> Result<Maker> {
        let (table, facts) = (self.table, self.facts);
        let of = &facts.columns[column];
        let (days, widest) = match table.columns[column].kind {
            Type::Int { min, max } => (false, (min, max)),
            _ => (true, (FIRST_DAY.into(), LAST_DAY.into())),
        };
        let (least, most) = self.bounds(column, 1.0, widest);
        let zero = of.learned.common.iter().any(|(value, _)| value == "0");
        let first = if days { least } else { least.max(i128::from(!zero)) };
        let after = of.highest.map(|highest| least.max(i128::from(highest) + 1));
        let room = |from: i128| u64::try_from(most - from + 1).unwrap_or(0);
        let rooms = |first: i128| (room(first), room(after.unwrap_or(first)));
        // Below the usual first number only where there is too little room above it.
        self.fit(link, rooms(first), unique).or_else(|_| self.fit(link, rooms(least), unique))?;
        let children = i128::from(self.links[link].most());
        let wish = if days { i128::from(self.until / DAY) - children } else { first };
        let fresh = wish.clamp(least, least.max(most - children + 1));
        let aged = after.unwrap_or(fresh);
        Ok(Maker::Ordinal { link, fresh: fresh as i64, aged: aged as i64, days })
    }

    /// The values of a column that has few; of those that are the same to the database, the first.
    fn values(&self, column: usize) -> Vec<Value> {
        let (kind, facts) = (&self.table.columns[column].kind, &self.facts.columns[column]);
        let texts = match (&self.limits[column].one_of, kind) {
            (Some(values), _) => values.clone(),
            (None, Type::Enum(values)) => values.clone(),
            (None, Type::Bool) => vec!["false".to_owned(), "true".to_owned()],
            _ => facts.learned.common.iter().map(|(v, _)| v.clone()).collect(),
        };
        let mut seen = BTreeSet::new();
        let first = texts.iter().filter(|&text| seen.insert(facts.same_as(text)));
        first.map(|text| Value::parse(kind, text)).collect()
    }

    fn free_values(&self, column: usize) -> Vec<Value> {
        let (kind, facts) = (&self.table.columns[column].kind, &self.facts.columns[column]);
        let taken: Vec<Value> =
            facts.taken.iter().map(|text| Value::parse(kind, facts.same_as(text))).collect();
        let is_free = |value: &Value| match value {
            Value::Text(text) => {
                let same = facts.same_as(text);
                taken.iter().all(|taken| !matches!(taken, Value::Text(taken) if taken == same))
            }
            value => !taken.contains(value),
        };
        self.values(column).into_iter().filter(is_free).collect()
    }

    /// Gives children to parents that have none before, and at most `most` to each.
    fn fresh_only(&mut self, link: usize, most: u64, unique: &Unique) -> Result<()> {
        let aged = if self.facts.rows > 0 { 0 } else { most };
        self.fit(link, (most, aged), unique)
    }

    /// Gives at most `fresh` children to each new parent, and `aged` to each old one: as evenly as it takes.
    fn fit(&mut self, link: usize, (fresh, aged): (u64, u64), unique: &Unique) -> Result<()> {
        let (add, of) = (self.facts.add, &self.links[link]);
        if !matches!(of.deal, Deal::Spread(_)) {
            return self.refuse(unique, "rows refer to rows of the same table");
        }
        let (of_new, of_old) = (of.new.saturating_mul(fresh), of.old.saturating_mul(aged));
        if of_new < add && aged == 0 && of.old > 0 {
            let (add, of_new) = (grouped(add), grouped(of_new));
            let why = format!(
                "{add} rows were to be added, and the parents that are added with them have room for {of_new}; which \
                 combinations the parents that are there have left is not looked up"
            );
            return self.refuse(unique, &why);
        }
        self.need(of_new.saturating_add(of_old), add, unique)?;
        let of = &mut self.links[link];
        of.nulls = 0.0;
        if let Deal::Spread(dealt) = &mut of.deal {
            let split = dealt.split.clamp(add.saturating_sub(of_old), of_new.min(add));
            if split != dealt.split || dealt.fresh.most() > fresh || dealt.aged.most() > aged {
                dealt.split = split;
                dealt.fresh = Spread::even(of.new, split);
                dealt.aged = Spread::even(of.old, add - split);
            }
        }
        Ok(())
    }

    fn pair(&mut self, first: usize, second: usize, unique: &Unique) -> Result<()> {
        let all = |link: &Link| link.old + link.new;
        // Pairs that are there already are avoided by new rows on one side.
        let turn = self.facts.rows > 0 && self.links[first].new == 0
            || !matches!(self.links[first].deal, Deal::Spread(_));
        let (first, second) = if turn { (second, first) } else { (first, second) };
        let apart = self.are_apart(first, second);
        let others = all(&self.links[second]).saturating_sub(u64::from(apart));
        self.fresh_only(first, others, unique)?;
        let of = &mut self.links[second];
        of.nulls = 0.0;
        of.second_to = Some(first);
        of.apart = apart;
        Ok(())
    }

    /// Whether a condition says that two links must not give the same parent.
    fn are_apart(&self, first: usize, second: usize) -> bool {
        let (one, other) = (&self.links[first], &self.links[second]);
        let part = |column: usize| match &self.makers[column] {
            Some(Maker::Part { link, part }) => Some((*link, *part)),
            _ => None,
        };
        let meant = |&(a, b): &(usize, usize)| {
            let (Some((of_a, part_a)), Some((of_b, part_b))) = (part(a), part(b)) else {
                return false;
            };
            part_a == part_b && [(first, second), (second, first)].contains(&(of_a, of_b))
        };
        one.table == other.table && one.targets == other.targets && self.apart.iter().any(meant)
    }

    fn one_each(&mut self, link: usize, unique: &Unique) -> Result<()> {
        let add = self.facts.add;
        let of = &mut self.links[link];
        if let Deal::Earlier { one, .. } = &mut of.deal {
            *one = true;
            return Ok(());
        }
        let number = self.table.references.iter().position(|reference| {
            reference.table == of.table
                && reference.targets == of.targets
                && reference.columns.iter().all(|column| unique.columns.contains(column))
        });
        let free = number.and_then(|number| self.facts.links.get(number));
        let mut old = free.map(|of| of.free.clone()).unwrap_or_default();
        if self.facts.rows == 0 {
            old = (0..of.old as u32).collect();
        }
        let room = of.new + old.len() as u64;
        of.deal = Deal::One { new: Permutation::new(of.new, key_of(&[of.key, 4])), old };
        // Rows beyond have none.
        let mut parts = self.makers.iter().zip(self.limits).filter(
            |(maker, _)| matches!(maker, Some(Maker::Part { link: of, .. }) if *of == link),
        );
        if parts.all(|(_, limits)| !limits.filled) { Ok(()) } else { self.need(room, add, unique) }
    }
}
