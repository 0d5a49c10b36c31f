//! How rules of uniqueness hold by construction.
//!
//! For each rule one of these: a column counts on from the highest value; a reference gives each parent one child;
//! a number, day or one of a few values tells a parent's children apart; of two references, the second gives each
//! child of the first's parent another parent. Where none fits, the schema is refused.

mod exclusion;

use model::random::Permutation;

use super::Maker;
use super::distinct::{Distinct, Form, TextForm};
use super::limits::{Letters, Limits};
use super::link::{Deal, Link};
use super::plain::value_of;
use super::series::{highest, numbers};
use crate::draw::key_of;
use crate::error::{Result, unsatisfiable};
use crate::facts::{ColumnFacts, TableFacts};
use crate::kind::{Kind, kind_of};
use crate::learn;
use crate::schema::{Table, Type, Unique};
use crate::spread::Spread;
use crate::times::{DAY, SECOND};
use crate::value::Value;
use crate::words::Words;

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
            board.meet(unique)?;
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
            let distinct = board.distinct(column, "its counter")?;
            board.makers[column] = Some(Maker::Distinct(distinct));
        }
    }
    Ok(())
}

impl Board<'_> {
    fn is_met(&self, unique: &Unique) -> bool {
        let one = |column: &usize| match &self.makers[*column] {
            Some(Maker::Distinct(_) | Maker::Null) => true,
            Some(Maker::Part { link, .. }) => {
                matches!(self.links[*link].deal, Deal::One { .. } | Deal::Earlier { one: true, .. })
                    && self.holds(unique, *link)
            }
            Some(Maker::Ordinal { link, .. } | Maker::Choice { link, .. }) => {
                self.holds(unique, *link)
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
        if let Some((rank, column)) = open.iter().filter_map(ranked).min() {
            let counts = rank == 0 && dealt.is_some();
            let maker = match dealt.filter(|_| counts) {
                Some(link) => self.ordinal(column, link, unique)?,
                None => Maker::Distinct(self.distinct(column, &unique.rule)?),
            };
            self.makers[column] = Some(maker);
            return Ok(());
        }
        if let Some(&column) = open.iter().find(|&&column| self.may_be_null(column)) {
            self.makers[column] = Some(Maker::Null);
            return Ok(());
        }
        match (&links[..], &open[..], dealt) {
            ([], [column], _) if unique.columns.len() == 1 => {
                let free = self.free_values(*column);
                let of = &self.table.columns[*column];
                if free.is_empty() && matches!(of.kind, Type::Json | Type::Other) {
                    let why = format!("values of the type {} cannot be made up", of.type_name);
                    return self.refuse(unique, &why);
                }
                self.need(free.len() as u64, self.facts.add, unique)?;
                let order = Permutation::new(free.len() as u64, self.column_key(*column));
                let form = Form::OneOf(free);
                let distinct = Distinct { wanted: Vec::new(), start: 0, order: Some(order), form };
                self.makers[*column] = Some(Maker::Distinct(distinct));
                Ok(())
            }
            (_, [column], Some(link)) => {
                let values = self.values(*column);
                self.fresh_only(link, values.len() as u64, unique)?;
                self.makers[*column] = Some(Maker::Choice { link, values });
                Ok(())
            }
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
        let roomy = self.limits[column].longest.is_none_or(|most| most > 3);
        match &of.kind {
            Type::Int { .. } if with_parent && !of.counted => Some(0),
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

    fn ordinal(&mut self, column: usize, link: usize, unique: &Unique) -> Result<Maker> {
        let of = &self.facts.columns[column];
        let most = self.links[link].most();
        let days = self.table.columns[column].kind == Type::Date;
        let (fresh, aged) = if days {
            let first = self.until / DAY - most as i64;
            (first, of.highest.unwrap_or(first - 1) + 1)
        } else {
            let zero = of.learned.common.iter().any(|(value, _)| value == "0");
            (i64::from(!zero), of.highest.unwrap_or(0) + 1)
        };
        let fresh = match self.limits[column].range.0 {
            Some(low) if !days => fresh.max(low as i64),
            _ => fresh,
        };
        self.links[link].nulls = 0.0;
        if let (Some(high), false) = (self.limits[column].range.1, days) {
            let first = if self.links[link].old > 0 { fresh.max(aged) } else { fresh };
            self.need((high - first as f64 + 1.0).max(0.0) as u64, most, unique)?;
        }
        Ok(Maker::Ordinal { link, fresh, aged, days })
    }

    /// The values of a column that has few.
    fn values(&self, column: usize) -> Vec<Value> {
        let kind = &self.table.columns[column].kind;
        let texts = match (&self.limits[column].one_of, kind) {
            (Some(values), _) => values.clone(),
            (None, Type::Enum(values)) => values.clone(),
            (None, Type::Bool) => vec!["false".to_owned(), "true".to_owned()],
            _ => self.facts.columns[column].learned.common.iter().map(|(v, _)| v.clone()).collect(),
        };
        texts.iter().map(|text| value_of(kind, text)).collect()
    }

    fn free_values(&self, column: usize) -> Vec<Value> {
        let kind = &self.table.columns[column].kind;
        let taken: Vec<Value> =
            self.facts.columns[column].taken.iter().map(|text| value_of(kind, text)).collect();
        self.values(column).into_iter().filter(|value| !taken.contains(value)).collect()
    }

    /// Gives children to parents that have none before, and at most `most` to each.
    fn fresh_only(&mut self, link: usize, most: u64, unique: &Unique) -> Result<()> {
        let add = self.facts.add;
        let with_rows = self.facts.rows > 0;
        let of = &mut self.links[link];
        of.nulls = 0.0;
        let Deal::Spread(dealt) = &mut of.deal else {
            return self.refuse(unique, "rows refer to rows of the same table");
        };
        if with_rows {
            dealt.split = add;
            dealt.fresh = Spread::even(of.new, add);
        }
        if dealt.fresh.most().max(dealt.aged.most()) > most {
            dealt.fresh = Spread::even(of.new, dealt.split);
            dealt.aged = Spread::even(of.old, add - dealt.split);
        }
        if dealt.fresh.most().max(dealt.aged.most()) > most && !with_rows {
            dealt.split = (of.new * most).min(add);
            dealt.fresh = Spread::even(of.new, dealt.split);
            dealt.aged = Spread::even(of.old, add - dealt.split);
        }
        let parents = if with_rows { of.new } else { of.old + of.new };
        self.need(parents.saturating_mul(most), add, unique)
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
        self.need(room, add, unique)
    }

    /// Values that count on from the highest.
    fn distinct(&self, column: usize, rule: &str) -> Result<Distinct> {
        let (of, facts) = (&self.table.columns[column], &self.facts.columns[column]);
        let (limits, add) = (&self.limits[column], self.facts.add);
        let wanted: Vec<Value> = facts.wanted.iter().map(|text| value_of(&of.kind, text)).collect();
        let left = add.saturating_sub(wanted.len() as u64);
        let asked = highest(&wanted);
        let above = facts.highest.map_or(0, i128::from).max(asked.unwrap_or(0)) + 1;
        let room = |count: f64, what: &str| -> Result<()> {
            if count >= left as f64 {
                return Ok(());
            }
            unsatisfiable(format!(
                "{}: {rule} needs {left} values that are not there yet, and {what} has room for {count:.0}",
                self.table.place(column)
            ))
        };
        let mut order = Some(Permutation::new(left, self.column_key(column)));
        let (form, start) = match &of.kind {
            Type::Int { .. } => {
                order = None;
                let least = above.max(limits.range.0.map_or(0, |low| low as i128));
                let most = limits.range.1.map_or(i64::MAX.into(), |high| high as i128);
                let of_counter = numbers(&self.table.place(column), facts, asked, (least, most))?;
                room(of_counter.count as f64, of_counter.end.as_ref().unwrap_or(&of.type_name))?;
                (Form::Int { step: of_counter.step }, of_counter.start)
            }
            Type::Decimal { scale, .. } => {
                room(limits.range.1.unwrap_or(1e15) - above as f64, &of.type_name)?;
                (Form::Decimal(*scale), above)
            }
            Type::Float => (Form::Float, above),
            Type::Date => {
                let last = self.until / DAY;
                let (start, days) = match facts.highest {
                    Some(day) => (day + 1, LAST_DAY - day),
                    None => (last.saturating_sub_unsigned(left), last - FIRST_DAY),
                };
                room(days as f64, &of.type_name)?;
                (Form::Date, start.into())
            }
            Type::Moment { .. } => {
                let start = facts
                    .highest
                    .map_or(self.until / SECOND - left as i64, |last| last.div_euclid(SECOND) + 1);
                (Form::Seconds, start.into())
            }
            Type::Time => {
                let start = facts.highest.map_or(0, |last| last + 1);
                room((DAY - start) as f64, &of.type_name)?;
                (Form::Time, start.into())
            }
            Type::Uuid => (Form::Uuid, self.namespace(column, 60)),
            Type::Bytes { most } => {
                let length = most.map_or(8, |most| most.clamp(1, 8)) as usize;
                room(256_f64.powi(length as i32), &of.type_name)?;
                let start = if length < 8 { 0 } else { self.namespace(column, 62) };
                // MySQL fills BINARY up, and finds it by all of its bytes alone.
                let fixed = of.type_name.to_ascii_lowercase().starts_with("binary");
                let width = most.filter(|_| fixed).map_or(0, |most| most as usize);
                (Form::Bytes { length, width }, start)
            }
            Type::Inet => {
                let start = above.max(i128::from(FIRST_PRIVATE));
                room((i128::from(LAST_PRIVATE) - start + 1) as f64, "10.0.0.0/8")?;
                (Form::Inet, start)
            }
            Type::Inet6 => (Form::Inet6, self.namespace(column, 60)),
            _ => self.text(column, facts, &room)?,
        };
        Ok(Distinct { wanted, start, order, form })
    }

    /// A random place from which numbers of so many bits count: another one for each fill, since what is there is
    /// counted in.
    fn namespace(&self, column: usize, bits: u32) -> i128 {
        let key = key_of(&[self.column_key(column), self.facts.rows]);
        i128::from(key & ((1 << (bits - 1)) - 1))
    }

    fn text(
        &self,
        column: usize,
        facts: &ColumnFacts,
        room: &dyn Fn(f64, &str) -> Result<()>,
    ) -> Result<(Form, i128)> {
        let (of, limits) = (&self.table.columns[column], &self.limits[column]);
        let most = limits.longest.unwrap_or(usize::MAX);
        let form = facts.learned.form.as_ref();
        let kind = form
            .and_then(learn::Form::about)
            .unwrap_or_else(|| kind_of(&self.table.name.table, &of.name));
        if form == Some(&learn::Form::Number(0)) && limits.shortest <= 1 {
            let start = i128::from(facts.trailing) + 1;
            let digits = most.min(18) as u32;
            room(10_f64.powi(digits as i32) - start as f64, &of.type_name)?;
            return Ok((Form::Digits, start));
        }
        let exact = limits.shortest == most && most >= 16;
        if exact || (matches!(kind, Kind::Hash | Kind::Token) && most >= 32) {
            let digits = if exact {
                most
            } else if kind == Kind::Hash {
                64
            } else {
                32
            };
            return Ok((Form::Hex(digits.min(most)), self.namespace(column, 62)));
        }
        if kind == Kind::Uuid && most >= 36 {
            return Ok((Form::Uuid, self.namespace(column, 60)));
        }
        if most <= 3 {
            let codes = codes(most, &facts.taken, limits.letters == Some(Letters::Small));
            room(codes.len() as f64, &format!("{} in letters", of.type_name))?;
            return Ok((Form::OneOf(codes), 0));
        }
        let form = TextForm {
            kind,
            most,
            least: limits.shortest,
            capital: limits.letters == Some(Letters::Capital),
            small: limits.letters == Some(Letters::Small),
        };
        let lowest = match kind {
            Kind::Phone if most >= 14 => Words::of("en").map_or(0, |words| words.phones().1),
            _ => 0,
        };
        let start = i128::from(facts.trailing.max(lowest)) + 1;
        // Of the same length throughout, where that is prescribed.
        let start = if limits.shortest > form.overhead() && limits.shortest < 16 {
            start.max(10_i128.pow((limits.shortest - form.overhead()).saturating_sub(1) as u32))
        } else {
            start
        };
        let digits = most.saturating_sub(form.overhead() + 1).min(18) as u32;
        room(10_f64.powi(digits as i32) - start as f64, &of.type_name)?;
        Ok((Form::Text(form), start))
    }
}

/// Codes of so many letters that are free.
fn codes(length: usize, taken: &[String], small: bool) -> Vec<Value> {
    let first = if small { b'a' } else { b'A' };
    let count = 26_usize.pow(length as u32);
    let code = |number: usize| -> String {
        (0..length)
            .rev()
            .map(|place| char::from(first + (number / 26_usize.pow(place as u32) % 26) as u8))
            .collect()
    };
    // Databases may compare without regard to case.
    let taken: std::collections::BTreeSet<String> =
        taken.iter().map(|code| code.trim_end().to_uppercase()).collect();
    (0..count)
        .map(code)
        .filter(|code| !taken.contains(&code.to_uppercase()))
        .map(Value::Text)
        .collect()
}
