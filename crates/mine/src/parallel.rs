//! Work that can be split and run in parallel; the caller of this crate provides the threads.

use std::sync::{Mutex, PoisonError};

/// Carries a task out for every number below a count, each once, on as many threads as one likes, and returns when all
/// are done. What comes out does not depend on the threads.
pub type Each<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// One task after another, on this thread.
pub fn in_turn(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(task);
}

/// What comes of each item, in their order.
pub(crate) fn map<T: Send, R: Send>(
    each: Each,
    items: Vec<T>,
    of: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let slots: Vec<Mutex<(Option<T>, Option<R>)>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    each(slots.len(), &|at| {
        let mut slot = slots[at].lock().unwrap_or_else(PoisonError::into_inner);
        slot.1 = slot.0.take().map(&of);
    });
    let done = |slot: Mutex<(Option<T>, Option<R>)>| {
        slot.into_inner().unwrap_or_else(PoisonError::into_inner).1
    };
    slots.into_iter().filter_map(done).collect()
}
