//! Beginnings of bodies that the network brings in pieces, put together: only then can their words be looked at.
//!
//! Most such bodies are whole before the worker reads from another connection: one beginning is kept where it is
//! found at once, others in a map.

use std::collections::HashMap;

use model::interval::BEGINNING;

/// Beginnings under way at most, apart from the last: of further bodies none is kept.
const MOST: usize = 1024;

/// The beginnings that are under way.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    last: Option<(u32, Piece)>,
    others: HashMap<u32, Piece>,
}

/// What has come of a beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    bytes: [u8; BEGINNING],
    length: usize,
}

impl Pieces {
    /// The body on `conn` begins with `bytes`, and what was kept of an earlier one is forgotten; whether it is kept.
    pub(super) fn begin(&mut self, conn: u32, bytes: &[u8]) -> bool {
        self.take(conn);
        if let Some((other, piece)) = self.last.take() {
            self.others.insert(other, piece);
        }
        if self.others.len() >= MOST {
            return false;
        }
        self.last = Some((conn, Piece::of(bytes)));
        true
    }

    /// More of the body on `conn`; whether its beginning is whole with it.
    pub(super) fn add(&mut self, conn: u32, bytes: &[u8]) -> bool {
        let piece = match &mut self.last {
            Some((last, piece)) if *last == conn => Some(piece),
            _ => self.others.get_mut(&conn),
        };
        piece.is_some_and(|piece| piece.add(bytes))
    }

    /// What has come on `conn`, which is no longer under way.
    pub(super) fn take(&mut self, conn: u32) -> Option<Piece> {
        match self.last.take_if(|(last, _)| *last == conn) {
            Some((_, piece)) => Some(piece),
            None if self.others.is_empty() => None,
            None => self.others.remove(&conn),
        }
    }
}

impl Piece {
    fn of(bytes: &[u8]) -> Self {
        let mut piece = Self { bytes: [0; BEGINNING], length: 0 };
        piece.add(bytes);
        piece
    }

    fn add(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len().min(BEGINNING - self.length);
        self.bytes[self.length..self.length + fits].copy_from_slice(&bytes[..fits]);
        self.length += fits;
        self.length == BEGINNING
    }

    /// The bytes that have come.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_put_together_connection_by_connection() {
        let mut pieces = Pieces::default();
        for conn in 0..3 {
            assert!(pieces.begin(conn, &[b'a' + conn as u8; 30]));
        }
        for conn in [1, 0, 2] {
            assert!(!pieces.add(conn, &[b'-'; 20]));
            assert!(pieces.add(conn, &[b'+'; 40]), "30 of the 40 complete it");
        }
        let whole = |conn: u8| [&[b'a' + conn; 30][..], &[b'-'; 20], &[b'+'; 30]].concat();
        for conn in [2, 0, 1] {
            assert_eq!(pieces.take(conn).unwrap().bytes(), whole(conn as u8));
            assert!(pieces.take(conn).is_none());
        }
    }

    #[test]
    fn what_never_became_whole_is_forgotten_and_all_of_it_is_bounded() {
        let mut pieces = Pieces::default();
        pieces.begin(7, b"cut off");
        pieces.begin(7, b"the next");
        assert_eq!(pieces.take(7).unwrap().bytes(), b"the next");
        let kept = (0..9999).filter(|&conn| pieces.begin(conn, b"x")).count();
        assert_eq!((kept, pieces.others.len()), (MOST, MOST));
    }
}
