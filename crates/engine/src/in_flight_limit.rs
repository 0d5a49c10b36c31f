//! A worker's share of the cap on requests in flight, and the users that it holds back.

use std::collections::VecDeque;

/// The cap, and the users that wait because of it, longest first.
#[derive(Debug)]
pub(crate) struct InFlightLimit {
    most: u32,
    /// The most requests that a source sends at once.
    burst: u32,
    held_back: VecDeque<u32>,
    /// Whether a user is in `held_back`.
    is_held: Vec<bool>,
}

impl InFlightLimit {
    /// Caps the requests in flight at `most`, for `users` users whose source sends `burst` at once.
    pub(crate) fn new(most: u32, burst: u16, users: usize) -> Self {
        let burst = u32::from(burst);
        Self { most, burst, held_back: VecDeque::new(), is_held: vec![false; users] }
    }

    /// Whether `in_flight` requests leave no room for a burst. With none in flight there always is
    /// room.
    #[inline]
    pub(crate) fn is_reached(&self, in_flight: u32) -> bool {
        in_flight > 0 && in_flight.saturating_add(self.burst) > self.most
    }

    /// Holds a user back until there is room.
    pub(crate) fn hold_back(&mut self, user: u32) {
        if !std::mem::replace(&mut self.is_held[user as usize], true) {
            self.held_back.push_back(user);
        }
    }

    /// Whether any user is held back.
    #[inline]
    pub(crate) fn holds_back(&self) -> bool {
        !self.held_back.is_empty()
    }

    /// Releases the user that was held back longest.
    pub(crate) fn release(&mut self) -> Option<u32> {
        let user = self.held_back.pop_front()?;
        self.is_held[user as usize] = false;
        Some(user)
    }
}
