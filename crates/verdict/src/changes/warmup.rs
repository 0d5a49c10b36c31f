//! Responses of a look that none of the warm-up had: whatever began with the window or before its first response is no change
//! within it, and may be a page of errors all the same.

use model::interval::MOST_KINDS;
use model::kinds::{Changed, Kind, ResponseChange, ResponseKind};

use super::{ENOUGH, Looks, MISSED, SUBSTANTIAL, Series, plain, sum, typed};

/// The commonest look of the window that the warm-up did not have, though it would have been met there, had it come as
/// often; and that stays.
pub(super) fn came_after(warmup: &[Kind], window: &[&Kind]) -> Option<ResponseChange> {
    let warmup: Vec<&Kind> = warmup.iter().collect();
    // Once most places are taken a look may have been counted with another of its media type.
    let crowded = warmup.len().max(window.len()) + 2 >= MOST_KINDS;
    let look_of = if crowded { typed } else { plain };
    let (before, since) = (Looks::of(&warmup, look_of), Looks::of(window, look_of));
    let met = sum(before.all.iter().map(|series| series.responses));
    let usual = before.all.iter().max_by_key(|series| series.responses)?;
    let known = |new: &Series| before.all.iter().any(|old| old.look == new.look);
    let came = since.all.iter().filter(|new| new.responses >= ENOUGH && !known(new));
    let changes = came.filter_map(|new| {
        let in_cell = |cell| since.responses_in(cell..cell + 1);
        let share = new.stays_since(0, in_cell, since.responses_in(0..since.cells))?;
        let found = met >= ENOUGH && met as f64 * share >= MISSED && share >= SUBSTANTIAL;
        found.then(|| ResponseChange {
            how: Changed::ForGood,
            endpoint: None,
            since_ns: new.first_ns,
            before: ResponseKind::of(&usual.shown),
            after: ResponseKind::of(&new.shown),
            share,
        })
    });
    changes.max_by(|a, b| a.share.total_cmp(&b.share))
}
