//! Records of connections by slot. A slot that is used again has a new generation, so that a late event of
//! its former connection is recognised and dropped.

use crate::ConnId;

/// A slab of connections.
#[derive(Debug)]
pub(crate) struct Conns<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    conn: Option<T>,
}

impl<T> Conns<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), free: Vec::new() }
    }

    /// The slot that the next insertion will take.
    pub(crate) fn next_slot(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.slots.len() as u32)
    }

    pub(crate) fn insert(&mut self, conn: T) -> ConnId {
        let slot = self.next_slot();
        if self.free.pop().is_none() {
            self.slots.push(Slot { generation: 0, conn: None });
        }
        let record = &mut self.slots[slot as usize];
        record.conn = Some(conn);
        ConnId { slot, generation: record.generation }
    }

    #[inline]
    pub(crate) fn get(&self, id: ConnId) -> Option<&T> {
        let slot = self.slots.get(id.slot as usize)?;
        if slot.generation == id.generation { slot.conn.as_ref() } else { None }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ConnId) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation == id.generation { slot.conn.as_mut() } else { None }
    }

    /// All that are there.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| slot.conn.as_mut())
    }

    /// Takes a connection out and frees its slot.
    pub(crate) fn remove(&mut self, id: ConnId) -> Option<T> {
        let conn = self.take(id)?;
        self.free(id.slot);
        Some(conn)
    }

    /// Takes a connection out; its slot is not used again before [`Self::free`].
    pub(crate) fn take(&mut self, id: ConnId) -> Option<T> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        let conn = slot.conn.take()?;
        slot.generation = (slot.generation + 1) & GENERATIONS;
        Some(conn)
    }

    /// Lets the slot of a connection that was taken out be used again.
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

/// Generations wrap at 24 bits, which leaves room for an operation's kind in a 64-bit token.
pub(crate) const GENERATIONS: u32 = 0x00ff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_id_finds_no_connection() {
        let mut conns = Conns::with_capacity(2);
        let first = conns.insert('a');
        assert_eq!(conns.remove(first), Some('a'));
        let second = conns.insert('b');
        assert_eq!(second.slot, first.slot);
        assert_eq!(conns.get(first), None);
        assert_eq!(conns.remove(first), None);
        assert_eq!(conns.get_mut(second), Some(&mut 'b'));
    }

    #[test]
    fn a_slot_held_back_is_not_given_out() {
        let mut conns = Conns::with_capacity(2);
        let first = conns.insert('a');
        assert_eq!(conns.take(first), Some('a'));
        assert_eq!((conns.take(first), conns.next_slot()), (None, 1));
        conns.free(first.slot);
        assert_eq!(conns.insert('b').slot, first.slot);
    }
}
