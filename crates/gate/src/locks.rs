//! Locks for those who must not wait.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// The lock, unless somebody holds it at this moment. One that a panic has poisoned is given, too.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
