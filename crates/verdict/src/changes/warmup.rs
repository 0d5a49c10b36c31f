//! Compares the responses of the warm-up with those of the window. A kind of response that the warm-up did not have began
//! with the window or soon after; that is no change within the window, and may still be a page of errors. A kind that
//! only the warm-up had may be the one that was to be measured.

use model::interval::MOST_KINDS;
use model::kinds::{Changed, Kind, ResponseChange, ResponseKind};

use super::{ENOUGH, Looks, MISSED, SUBSTANTIAL, Series, plain, sum, typed};

/// The look of the window with the largest share that the warm-up did not have, though it would have been met there, had it
/// come as often; and that stays.
pub(super) fn came_after(warmup: &[Kind], window: &[&Kind]) -> Option<ResponseChange> {
    let [before, since] = looks(warmup, window);
    let met = responses(&before);
    let usual = commonest(&before)?;
    let came = since.all.iter().filter(|new| new.responses >= ENOUGH && !has(&before, new));
    let changes = came.filter_map(|new| {
        let in_cell = |cell| since.responses_in(cell..cell + 1);
        let share = new.stays_since(0, in_cell, responses(&since))?;
        let found = met >= ENOUGH && met as f64 * share >= MISSED && share >= SUBSTANTIAL;
        found.then(|| ResponseChange { since_ns: new.first_ns, ..change(usual, new, share) })
    });
    changes.max_by(|a, b| a.share.total_cmp(&b.share))
}

/// The look of the warm-up with the largest share that the window did not have, though it would have been met there.
pub(super) fn came_alone(warmup: &[Kind], window: &[&Kind]) -> Option<ResponseChange> {
    let [before, since] = looks(warmup, window);
    let (all, met) = (responses(&before).max(1), responses(&since));
    let usual = commonest(&since)?;
    let gone = before.all.iter().filter(|old| old.responses >= ENOUGH && !has(&since, old));
    let changes = gone.filter_map(|old| {
        let share = old.responses as f64 / all as f64;
        let found = met >= ENOUGH && met as f64 * share >= MISSED && share >= SUBSTANTIAL;
        found.then(|| ResponseChange { how: Changed::Warmup, ..change(old, usual, share) })
    });
    changes.max_by(|a, b| a.share.total_cmp(&b.share))
}

/// Those of the warm-up and those of the window. Once most places are taken, a look may have been counted with another of its
/// media type.
fn looks(warmup: &[Kind], window: &[&Kind]) -> [Looks; 2] {
    let warmup: Vec<&Kind> = warmup.iter().collect();
    let is_crowded = |kinds: &[&Kind]| kinds.len() + 2 >= MOST_KINDS;
    let look_of = if is_crowded(&warmup) || is_crowded(window) { typed } else { plain };
    [Looks::of(&warmup, look_of), Looks::of(window, look_of)]
}

fn responses(of: &Looks) -> u64 {
    sum(of.all.iter().map(|series| series.responses))
}

fn commonest(of: &Looks) -> Option<&Series> {
    of.all.iter().max_by_key(|series| series.responses)
}

fn has(of: &Looks, series: &Series) -> bool {
    of.all.iter().any(|other| other.look == series.look)
}

fn change(before: &Series, after: &Series, share: f64) -> ResponseChange {
    let (before, after) = (ResponseKind::of(&before.shown), ResponseKind::of(&after.shown));
    ResponseChange { before, after, share, ..ResponseChange::default() }
}
