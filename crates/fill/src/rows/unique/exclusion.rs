//! Rules that are satisfied by a stricter one than they ask for: partial unique rules, and exclusion constraints.

use super::Board;
use crate::error::{Result, unsatisfiable};
use crate::rows::Maker;
use crate::schema::{Exclusion, Unique};

impl Board<'_> {
    /// Meets a rule where there is a way to; whether there is.
    pub(super) fn meet_if_possible(&mut self, unique: &Unique) -> bool {
        if self.is_met(unique) {
            return true;
        }
        let before = self.links.clone();
        let met = self.meet(unique).is_ok();
        if !met {
            *self.links = before;
        }
        met
    }

    /// Decides on columns so that no row excludes another: one that is compared otherwise than by `=` is NULL where that
    /// costs nothing, else those that are compared by `=` differ.
    pub(super) fn exclude(&mut self, exclusion: &Exclusion) -> Result<()> {
        let is_null = |column: &usize| matches!(self.makers[*column], Some(Maker::Null));
        if exclusion.others.iter().any(is_null) {
            return Ok(());
        }
        let may_be_null =
            |column: &&usize| self.makers[**column].is_none() && self.may_be_null(**column);
        let column = exclusion.others.iter().find(may_be_null).copied();
        let unknown = column.filter(|column| !self.facts.columns[*column].learned.is_known());
        if let Some(column) = unknown {
            self.makers[column] = Some(Maker::Null);
            return Ok(());
        }
        if self.meet_if_possible(&exclusion.equal) {
            return Ok(());
        }
        match column {
            Some(column) => self.makers[column] = Some(Maker::Null),
            // The database will say if rows break it.
            None if exclusion.partial => {}
            None => return self.cannot_exclude(exclusion),
        }
        Ok(())
    }

    fn cannot_exclude(&self, exclusion: &Exclusion) -> Result<()> {
        let columns = [exclusion.equal.columns.as_slice(), exclusion.others.as_slice()].concat();
        let (name, place) = (&self.table.name, self.table.places(&columns));
        unsatisfiable(format!(
            "{place}: the rule {} cannot be met: no way is known to make so many rows of which none excludes another; \
             leave the table out (--rows {name}=0)",
            exclusion.equal.rule
        ))
    }
}
