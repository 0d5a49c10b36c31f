//! How bodies begin, worked out once for those that begin alike: a body that never changes costs a
//! comparison of its first bytes.

use model::interval::{BEGINNING, begins, wording};

/// Beginnings that are remembered.
const KNOWN: usize = 4;
/// Beginnings worked out until the words of bodies are looked at no more: they vary then, and what it
/// costs is bounded.
const WORKED_OUT: u32 = 4096;

/// The last beginnings that were different.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    known: [Known; KNOWN],
    /// Which of them is forgotten next.
    oldest: usize,
    /// How many more are worked out; none are looked up where there is none left.
    left: u32,
}

/// A beginning and what was made of it.
#[derive(Debug, Clone, Copy)]
struct Known {
    bytes: [u8; BEGINNING],
    /// 0 where there is none.
    length: usize,
    begins: u32,
    wording: u32,
}

impl Default for Known {
    fn default() -> Self {
        Self { bytes: [0; BEGINNING], length: 0, begins: 0, wording: 0 }
    }
}

impl Beginnings {
    /// None known yet. (The default looks at no words.)
    pub(super) fn fresh() -> Self {
        Self { left: WORKED_OUT, ..Self::default() }
    }

    /// Looks at no more words.
    pub(super) fn stop(&mut self) {
        self.left = 0;
    }

    /// The class of a body's beginning, and its wording; 0 where words are not looked at.
    #[inline]
    pub(super) fn classify(&mut self, body: &[u8]) -> (u32, u32) {
        if self.left == 0 {
            return (begins(body), 0);
        }
        let beginning = &body[..body.len().min(BEGINNING)];
        let known = self.known.iter().find(|known| known.bytes[..known.length] == *beginning);
        match known {
            Some(known) => (known.begins, known.wording),
            None => self.work_out(beginning),
        }
    }

    #[cold]
    fn work_out(&mut self, beginning: &[u8]) -> (u32, u32) {
        self.left -= 1;
        let known = &mut self.known[self.oldest];
        self.oldest = (self.oldest + 1) % KNOWN;
        known.bytes[..beginning.len()].copy_from_slice(beginning);
        known.length = beginning.len();
        (known.begins, known.wording) = (begins(beginning), wording(beginning));
        (known.begins, known.wording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_would_be_worked_out() {
        let mut beginnings = Beginnings::fresh();
        for n in 0..40 {
            let body = format!("{{\"state\":\"{}\"}}", "on ".repeat(n % 7 * (n % 3)));
            let body = body.as_bytes();
            assert_eq!(beginnings.classify(body), (begins(body), wording(body)));
        }
        assert!(beginnings.left < WORKED_OUT && beginnings.left > WORKED_OUT - 41);
    }

    #[test]
    fn bodies_that_are_always_different_are_worked_out_for_a_while() {
        let mut beginnings = Beginnings::fresh();
        for n in 0..=WORKED_OUT {
            let body = format!("{n}");
            assert_eq!(beginnings.classify(body.as_bytes()).1 > 0, n < WORKED_OUT);
        }
        assert_eq!(Beginnings::default().classify(b"ok"), (b'a'.into(), 0));
    }
}
