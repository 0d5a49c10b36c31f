//! The parent of each row.

use std::collections::HashMap;

use model::random::{Draws, Permutation};

use crate::draw::key_of;
use crate::spread::Spread;

/// A foreign key of a table that is filled. Parents are numbered: first those that were there before, as far as their
/// keys are kept, then those that are added.
#[derive(Debug, Clone)]
pub struct Link {
    /// The parents' table.
    pub table: usize,
    /// The columns that are referred to.
    pub targets: Vec<usize>,
    /// Which of the parents' lists of keys holds the old ones.
    pub keys: usize,
    /// Old parents.
    pub old: u64,
    /// New parents.
    pub new: u64,
    /// Share of rows without a parent.
    pub nulls: f64,
    /// Share of the rows without a parent among those that are drawn anew, where a condition asks for that.
    pub nulls_when_redrawn: Option<f64>,
    /// Filled in a second pass.
    pub deferred: bool,
    /// The link whose child number decides on this one, so that no pair occurs twice.
    pub second_to: Option<usize>,
    /// Whether it never gives the parent that `second_to` gives, both being of the same kind.
    pub apart: bool,
    /// By how many parents a row's moves with each row that is thrown away; 0 where rules of uniqueness depend on it.
    pub step: u64,
    /// Columns with times that do not lie before one of the parent: the column, and the parent's.
    pub times: Vec<(usize, usize)>,
    /// How parents are given out.
    pub deal: Deal,
    /// The order in which children come to places.
    pub order: Permutation,
    /// The seed of its draws.
    pub key: u64,
}

/// How parents are given out.
#[derive(Debug, Clone)]
pub enum Deal {
    /// There are none.
    Nobody,
    /// So many children for each.
    Spread(Box<Dealt>),
    /// One child for each: first the new, then these old ones, then nobody.
    One { new: Permutation, old: Vec<u32> },
    /// Another row of the same table that comes before; whether each has one child at most, and whether none may be
    /// without a parent: then the first is its own, and where each has one child, every row.
    Earlier { one: bool, own: bool },
    /// Any that agrees in columns which another link decides, such as a tenant's.
    Matching(Matching),
}

/// Parents by the values of columns that another link decides.
#[derive(Debug, Clone, Default)]
pub struct Matching {
    /// The columns, and the parts of the parent's key that they have to be equal to.
    pub shared: Vec<(usize, usize)>,
    /// The parents that have these values.
    pub parents: HashMap<Vec<String>, Vec<u32>>,
}

impl Matching {
    /// The parent of a child with these values: drawn by `key`, or another one for each `ordinal` of `first`.
    pub fn parent(&self, values: &[String], key: u64, first: Option<Parent>) -> Option<u64> {
        let list = self.parents.get(values)?;
        let count = list.len() as u64;
        let at = match first {
            None => Draws::of(key).below(count),
            Some(first) => {
                Permutation::new(count, key_of(&[key, first.number])).at(first.ordinal % count)
            }
        };
        Some(u64::from(list[at as usize]))
    }
}

/// Children dealt out to new and old parents.
#[derive(Debug, Clone)]
pub struct Dealt {
    /// Children of new parents.
    pub split: u64,
    /// Those.
    pub fresh: Spread,
    /// The others.
    pub aged: Spread,
    /// How the ranks of new parents that no pool ranks come to rows, and how many ranks pools take.
    pub new_ranks: (u64, Permutation),
    /// The same for old parents.
    pub old_ranks: (u64, Permutation),
}

/// A parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    /// Its number: old ones first.
    pub number: u64,
    /// The child's number among its children that are added, from 0.
    pub ordinal: u64,
}

impl Parent {
    /// Whether it is added too.
    pub fn is_new(&self, link: &Link) -> bool {
        self.number >= link.old
    }
}

impl Link {
    /// The parent of a row.
    pub fn parent(&self, row: u64) -> Option<Parent> {
        let mut draws = Draws::of(key_of(&[self.key, row]));
        if self.nulls > 0.0 && draws.unit() < self.nulls {
            return None;
        }
        self.dealt(row, &mut draws)
    }

    /// The parent of a row, of which `attempt` were thrown away.
    pub fn parent_of_attempt(&self, row: u64, attempt: u64) -> Option<Parent> {
        let Some(nulls) = self.nulls_when_redrawn.filter(|_| attempt > 0) else {
            return self.parent(row);
        };
        let mut draws = Draws::of(key_of(&[self.key, row, attempt]));
        if draws.unit() < nulls { None } else { self.dealt(row, &mut draws) }
    }

    fn dealt(&self, row: u64, draws: &mut Draws) -> Option<Parent> {
        match &self.deal {
            // Depends on the row's other columns: `Rows::parent`.
            Deal::Nobody | Deal::Matching(_) => None,
            Deal::Spread(dealt) => {
                let place = self.order.at(row);
                let (first, ranks, (rank, ordinal)) = match place.checked_sub(dealt.split) {
                    None => (self.old, &dealt.new_ranks, dealt.fresh.place(place)),
                    Some(place) => (0, &dealt.old_ranks, dealt.aged.place(place)),
                };
                let (ranked, others) = ranks;
                let number = match rank.checked_sub(*ranked) {
                    None => rank,
                    Some(other) => ranked + others.at(other),
                };
                Some(Parent { number: first + number, ordinal })
            }
            Deal::One { new, old } => {
                let place = self.order.at(row);
                let number = match place.checked_sub(self.new) {
                    None => self.old + new.at(place),
                    Some(place) => u64::from(*old.get(place as usize)?),
                };
                Some(Parent { number, ordinal: 0 })
            }
            Deal::Earlier { one, own } => {
                let before = self.old + row;
                let number = match (before, one) {
                    // A chain has no parent for its first row that is not its second's too.
                    (_, true) if *own => before,
                    (0, _) if *own => 0,
                    (0, _) => return None,
                    // The rows before the first one may have a child already.
                    (_, true) if row == 0 => return None,
                    (_, true) => before - 1,
                    (_, false) => {
                        let share = draws.unit();
                        ((share * share * before as f64) as u64).min(before - 1)
                    }
                };
                Some(Parent { number, ordinal: 0 })
            }
        }
    }

    /// The number of this link's parent for a row whose other parent is `first`: another one for each of its children.
    pub fn second(&self, first: Parent) -> u64 {
        let all = self.old + self.new;
        let apart = self.apart && all > 1;
        let others = all - u64::from(apart);
        let order = Permutation::new(others, key_of(&[self.key, first.number]));
        let number = order.at(first.ordinal % others.max(1));
        number + u64::from(apart && number >= first.number)
    }

    /// The number of a parent that was given to a row, of which `attempt` were thrown away.
    pub fn moved(&self, number: u64, row: u64, attempt: u64) -> u64 {
        let most = match self.deal {
            Deal::Spread(_) => self.old + self.new,
            Deal::Earlier { one: false, .. } => self.old + row,
            _ => 0,
        };
        let step = self.step.wrapping_mul(attempt);
        if step == 0 || most == 0 { number } else { (number + step) % most }
    }

    /// How many rows there are parents for, if each has one child at most.
    pub fn room(&self) -> Option<u64> {
        match &self.deal {
            Deal::One { old, .. } => Some(self.new + old.len() as u64),
            _ => None,
        }
    }

    /// The most children of one parent.
    pub fn most(&self) -> u64 {
        match &self.deal {
            Deal::Spread(dealt) => dealt.fresh.most().max(dealt.aged.most()),
            Deal::Nobody => 0,
            _ => 1,
        }
    }
}
