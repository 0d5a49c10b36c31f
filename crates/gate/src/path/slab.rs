//! Values by number, taken out while they are worked on.

/// A table whose numbers are used again.
#[derive(Debug)]
pub(super) struct Slab<T> {
    entries: Vec<Option<Box<T>>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// The number that [`Self::insert`] will use next.
    pub(super) fn next(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.entries.len() as u32)
    }

    /// Adds a value under [`Self::next`].
    pub(super) fn insert(&mut self, value: Box<T>) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = Some(value);
                number
            }
            None => {
                self.entries.push(Some(value));
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Takes a value out; its number stays its own until [`Self::put`] or [`Self::release`].
    #[inline]
    pub(super) fn take(&mut self, number: u32) -> Option<Box<T>> {
        self.entries.get_mut(number as usize)?.take()
    }

    /// Puts a value back that was taken out.
    #[inline]
    pub(super) fn put(&mut self, number: u32, value: Box<T>) {
        self.entries[number as usize] = Some(value);
    }

    /// Gives the number of a value back that was taken out.
    pub(super) fn release(&mut self, number: u32) {
        debug_assert!(self.entries[number as usize].is_none());
        self.free.push(number);
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.entries.get(number as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.entries.get_mut(number as usize)?.as_deref_mut()
    }

    /// Values there are, those taken out included.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Numbers in use or free, from 0 on.
    pub(super) fn numbers(&self) -> u32 {
        self.entries.len() as u32
    }
}
