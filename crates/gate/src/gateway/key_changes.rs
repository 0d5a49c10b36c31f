//! Changes of keys: made here, and by other processes on the same store.

use super::GatewayError;
use super::control::{Changing, Control, unix_s};
use super::loading::follow;
use crate::keys::{NewKey, Stamp, Store, StoreError};
use crate::locks::try_lock;
use crate::policy::State;

/// Changes that are read at once.
const CHANGES_AT_ONCE: u32 = 1000;
/// Keys that are read at once.
const KEYS_AT_ONCE: u32 = 1000;

impl Control {
    /// Makes a key, in force at once; it and its number.
    ///
    /// # Errors
    /// When the store refuses it.
    pub fn add_key(&self, new: &NewKey, by: &str) -> Result<(String, u64), GatewayError> {
        self.change(|store| store.add(new, &Stamp { at_s: unix_s(), by }))
    }

    /// Ends a key at once.
    ///
    /// # Errors
    /// When there is none in force with this number.
    pub fn revoke_key(&self, id: u64, by: &str) -> Result<(), GatewayError> {
        self.change(|store| store.revoke(id, &Stamp { at_s: unix_s(), by }))
    }

    /// Puts a new key in the place of one, which ends after `grace_s`.
    ///
    /// # Errors
    /// When there is none in force with this number.
    pub fn rotate_key(
        &self,
        id: u64,
        grace_s: u32,
        by: &str,
    ) -> Result<(String, u64), GatewayError> {
        self.change(|store| store.rotate(id, grace_s, &Stamp { at_s: unix_s(), by }))
    }

    fn change<T>(
        &self,
        make: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, GatewayError> {
        let mut changing = self.changing();
        let made = make(&mut changing.store).map_err(GatewayError::Store)?;
        self.take_in(&mut changing)?;
        Ok(made)
    }

    /// Takes in what other processes changed in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn follow_store(&self) -> Result<(), GatewayError> {
        self.take_in(&mut self.changing())
    }

    /// As [`Self::follow_store`], and has policies that nobody goes by any longer forgotten; where somebody makes or lists
    /// changes meanwhile, the next look does.
    pub(super) fn look(&self) -> Result<(), GatewayError> {
        let Some(mut changing) = try_lock(&self.changing) else { return Ok(()) };
        self.forget_former(&mut changing);
        self.take_in(&mut changing)
    }

    fn take_in(&self, changing: &mut Changing) -> Result<(), GatewayError> {
        let last = changing.store.last_change().map_err(GatewayError::Store)?;
        while changing.seen < last {
            let changes = changing
                .store
                .changes_after(changing.seen, CHANGES_AT_ONCE)
                .map_err(GatewayError::Store)?;
            let Some((oldest, newest)) = changes.first().zip(changes.last()) else { break };
            let newest = newest.number;
            if oldest.number > changing.seen + 1 {
                // Changes that were not seen are no longer kept: this process was stopped meanwhile.
                changing.has_keys |= follow_all(&changing.store, self.state())?;
            }
            for id in changes.iter().filter_map(|change| change.key) {
                changing.has_keys = true;
                if let Some(key) = changing.store.key(id).map_err(GatewayError::Store)? {
                    follow(&changing.store, self.state(), &key)?;
                }
            }
            // Where one of them cannot be read, all are read again: a revocation is not passed over.
            changing.seen = newest;
        }
        let asks = self.current.get().0.asks_for_keys();
        if !asks && changing.asking.asks(changing.has_keys) {
            self.publish(changing)?;
            self.troubles().say("the store has a key now: requests are asked for one".to_owned());
        }
        Ok(())
    }
}

/// Takes in all keys as they are; whether there is one.
fn follow_all(store: &Store, state: &State) -> Result<bool, GatewayError> {
    let mut last = 0;
    loop {
        let keys = store.keys_after(last, KEYS_AT_ONCE).map_err(GatewayError::Store)?;
        let Some(newest) = keys.last() else { return Ok(last > 0) };
        last = newest.id;
        keys.iter().try_for_each(|key| follow(store, state, key))?;
    }
}
