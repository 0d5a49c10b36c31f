//! Rules over several columns, where none of them has as many values as there are rows: a column that counts on has each
//! of its values once with each of the others'.

use model::random::Permutation;

use super::Board;
use super::fresh::MOST_COUNTED;
use crate::error::Result;
use crate::rows::Maker;
use crate::rows::distinct::{Distinct, Form};
use crate::rows::limits::LONGEST_CODE;
use crate::schema::{Type, Unique};
use crate::value::Value;

/// Numbers that a column may have, if it is one of few values: those of 16 bits.
const FEW_NUMBERS: i128 = 1 << 16;

/// Columns and their values.
type Columns = Vec<(usize, Vec<Value>)>;

/// The combinations of the columns' values.
fn combinations(columns: &[(usize, Vec<Value>)]) -> u64 {
    columns.iter().fold(1, |product: u64, (_, values)| product.saturating_mul(values.len() as u64))
}

impl Board<'_> {
    /// One column tells rows apart, the best first; where none has room for all of them, one together with those that
    /// have few values, or all that have few tell the children of a parent apart.
    pub(super) fn tell_apart(
        &mut self,
        ranked: &[(u32, usize)],
        open: &[usize],
        dealt: Option<usize>,
        unique: &Unique,
    ) -> Result<()> {
        let mut refusal = None;
        for &(rank, column) in ranked {
            let made = match dealt.filter(|_| rank == 0) {
                Some(link) => self.ordinal(column, link, unique),
                None => self.distinct(column, &unique.rule, 1).map(Maker::Distinct),
            };
            match made {
                Ok(maker) => {
                    self.makers[column] = Some(maker);
                    return Ok(());
                }
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        for &(_, column) in ranked {
            let others = self.others(open, column);
            let each = combinations(&others);
            if each < 2 || self.table.columns[column].counted {
                continue;
            }
            match self.distinct(column, &unique.rule, each) {
                Ok(distinct) => {
                    self.makers[column] = Some(Maker::Distinct(distinct));
                    self.take_turns(column, others);
                    return Ok(());
                }
                Err(error) => refusal = Some(error),
            }
        }
        if let Some(link) = dealt {
            let few = open.iter().map(|&column| (column, self.few(column)));
            let few: Columns = few.filter(|(_, values)| !values.is_empty()).collect();
            if !few.is_empty() && self.share_out(few, link, unique).is_ok() {
                return Ok(());
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    /// Leaves a column NULL of which there are not enough values, where it may be: no NULL is the same as another one. If
    /// it has few values, the first rows have them.
    pub(super) fn leave_null(&mut self, unique: &Unique) -> Option<()> {
        let (table, facts) = (self.table, self.facts);
        let may_be = |column: &&usize| {
            let asked =
                table.columns[**column].counted || !facts.columns[**column].wanted.is_empty();
            self.makers[**column].is_none() && !self.limits[**column].filled && !asked
        };
        let column = *unique.columns.iter().find(may_be)?;
        let opaque = matches!(table.columns[column].kind, Type::Json | Type::Other);
        let mut values = match self.rank(column, false) {
            _ if opaque => Vec::new(),
            None => self.free_values(column),
            // Which numbers the rows have that are there is not listed.
            Some(_) if facts.rows == 0 => self.few(column),
            Some(_) => Vec::new(),
        };
        values.sort_by_key(|value| matches!(value, Value::Int(number) if *number < 1));
        let form = Form::OneOf(values);
        let distinct = Distinct { wanted: Vec::new(), start: 0, order: None, form, each: 1 };
        self.makers[column] = Some(Maker::Distinct(distinct));
        Some(())
    }

    /// Columns of few values: each combination once.
    pub(super) fn combine(&mut self, open: &[usize], unique: &Unique) -> Result<()> {
        let (table, facts) = (self.table, self.facts);
        // Values that one column has not had yet make every combination a new one.
        let free = open.iter().map(|&column| (column, self.free_values(column)));
        let Some((column, free)) = free.max_by_key(|(_, values)| values.len()) else {
            return self.refuse(unique, "it has no column");
        };
        let of = &table.columns[column];
        if free.is_empty() && matches!(of.kind, Type::Json | Type::Other) {
            let why = format!("values of the type {} cannot be made up", of.type_name);
            return self.refuse(unique, &why);
        }
        let others = self.others(open, column);
        let (count, each) = (free.len() as u64, combinations(&others));
        if each > 1 && facts.rows > 0 && count.saturating_mul(each) < facts.add {
            let why = "its columns have few values each, and which combinations the rows that are there have left is \
                       not looked up; it can be met in an empty table";
            return self.refuse(unique, why);
        }
        self.need(count.saturating_mul(each), facts.add, unique)?;
        let order = Some(Permutation::new(count, self.column_key(column)));
        let form = Form::OneOf(free);
        let distinct = Distinct { wanted: Vec::new(), start: 0, order, form, each };
        self.makers[column] = Some(Maker::Distinct(distinct));
        self.take_turns(column, others);
        Ok(())
    }

    /// Each child of a parent has another combination of the values of columns that have few.
    pub(super) fn choose(&mut self, open: &[usize], link: usize, unique: &Unique) -> Result<()> {
        let values = open.iter().map(|&column| (column, self.values(column)));
        let few: Columns = values.filter(|(_, values)| !values.is_empty()).collect();
        self.share_out(few, link, unique)
    }

    fn share_out(&mut self, few: Columns, link: usize, unique: &Unique) -> Result<()> {
        self.fresh_only(link, combinations(&few), unique)?;
        let mut each = 1_u64;
        for (column, values) in few {
            let count = values.len() as u64;
            self.makers[column] = Some(Maker::Choice { link, each, values });
            each = each.saturating_mul(count);
        }
        Ok(())
    }

    /// How many children of a parent the columns of a rule tell apart that have few values.
    pub(super) fn chosen(&self, unique: &Unique, link: usize) -> u64 {
        let part = |&column: &usize| match &self.makers[column] {
            Some(Maker::Choice { link: of, each, values }) if *of == link => {
                Some((*each, values.len() as u64))
            }
            _ => None,
        };
        let mut parts: Vec<(u64, u64)> = unique.columns.iter().filter_map(part).collect();
        parts.sort_unstable();
        parts.into_iter().fold(1, |distinct, (each, count)| match each <= distinct {
            true => distinct.max(each.saturating_mul(count)),
            false => distinct,
        })
    }

    /// Whether all columns are among the rule's that tell rows apart together with this one.
    pub(super) fn holds_turns(&self, unique: &Unique, column: usize) -> bool {
        self.makers.iter().enumerate().all(|(at, maker)| match maker {
            Some(Maker::Turns { with, .. }) if *with == column => unique.columns.contains(&at),
            _ => true,
        })
    }

    fn take_turns(&mut self, with: usize, others: Columns) {
        let mut each = 1_u64;
        for (column, values) in others {
            let count = values.len() as u64;
            self.makers[column] = Some(Maker::Turns { with, each, values });
            each = each.saturating_mul(count);
        }
    }

    /// The other columns of those that have few values.
    fn others(&self, open: &[usize], column: usize) -> Columns {
        let others = open.iter().filter(|other| **other != column);
        let few = others.map(|&other| (other, self.few(other)));
        few.filter(|(_, values)| values.len() > 1).collect()
    }

    /// The values of a column that has few; nothing where it has many.
    fn few(&self, column: usize) -> Vec<Value> {
        let of = &self.table.columns[column];
        match of.kind {
            Type::Int { min, max } if self.limits[column].one_of.is_none() => {
                let (least, most) = self.bounds(column, 1.0, (min, max));
                let first = self.limits[column].first_from(least);
                let step = self.limits[column].remainder.map_or(1, |(step, _)| step as usize);
                match !of.counted && most - least < FEW_NUMBERS {
                    true => (first..=most).step_by(step).map(Value::Int).collect(),
                    false => Vec::new(),
                }
            }
            Type::Decimal { scale, .. } if self.limits[column].one_of.is_none() => {
                let unit = 10_f64.powi(i32::try_from(scale).unwrap_or(0));
                let (least, most) = self.bounds(column, unit, (-MOST_COUNTED, MOST_COUNTED));
                match most - least < FEW_NUMBERS {
                    true => (least..=most).map(|units| Value::Decimal { units, scale }).collect(),
                    false => Vec::new(),
                }
            }
            Type::Text { .. } if self.limits[column].one_of.is_none() => {
                let limits = &self.limits[column];
                let is_free = limits.like.is_none()
                    && limits.matches.is_none()
                    && self.facts.columns[column].wanted.is_empty();
                let most = limits.longest.filter(|most| is_free && *most <= LONGEST_CODE);
                most.map_or_else(Vec::new, |most| self.free_codes(column, most))
            }
            _ if self.rank(column, false).is_none() => self.values(column),
            _ => Vec::new(),
        }
    }
}
