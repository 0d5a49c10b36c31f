//! The values of placeholders.
//!
//! Owns the computation of values for one request: [`Value`] is a compiled placeholder, [`Scene`] its
//! inputs. Results go onto a stack of bytes that is kept from request to request, so that nothing is
//! allocated once it has grown. `play::write` writes the result.

mod function;
mod time;

use model::random::Draws;

use crate::draw::Zipf;
use crate::pool::{Drawn, Pool};

pub(crate) use function::{Function, HmacKey, Signer};
pub(crate) use time::{Clock, Unit};

/// What a placeholder was compiled to.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// The same for every request. Secret: it must not be shown.
    Const { bytes: Box<[u8]>, secret: bool },
    /// A column of the row drawn from a pool.
    Cell { pool: u16, column: u16 },
    /// A variable, worked out before.
    Variable(u16),
    /// A value that a step of the session extracted from its response.
    Extracted(u16),
    /// A whole number.
    Int { low: i64, count: u64 },
    /// A rank by Zipf's law.
    Zipf(Box<Zipf>),
    /// A random UUID (RFC 9562, version 4).
    Uuid,
    /// Letters and digits.
    Letters(u32),
    /// The time.
    Time(Box<Clock>),
    /// A function of other values.
    Call(Box<Function>, Vec<Value>),
    /// One behind another.
    Joined(Vec<Value>),
}

/// The inputs of values.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) pools: &'a [Pool],
    /// The row drawn from each pool, for those that the request needs.
    pub(crate) drawn: &'a Drawn,
    pub(crate) variables: &'a Texts,
    pub(crate) extracted: &'a Texts,
    pub(crate) draws: &'a mut Draws,
    /// Nanoseconds since 1970.
    pub(crate) unix_ns: i64,
}

/// Texts by number, in one buffer that is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// Where each is, and whether it is a JSON value other than text.
    places: Vec<(u32, u32, bool)>,
}

impl Texts {
    /// Empties it and makes room for this many.
    pub(crate) fn clear(&mut self, count: usize) {
        self.bytes.clear();
        self.places.clear();
        self.places.resize(count, (0, 0, false));
    }

    /// Sets one; what was there before stays in the buffer until it is emptied.
    pub(crate) fn set(&mut self, index: u16, text: &[u8], json: bool) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.places[usize::from(index)] = (start, self.bytes.len() as u32, json);
    }

    /// Text and whether it is a JSON value other than text; empty where none was set.
    pub(crate) fn of(&self, index: u16) -> (&[u8], bool) {
        let (start, end, json) = self.places.get(usize::from(index)).copied().unwrap_or_default();
        (&self.bytes[start as usize..end as usize], json)
    }

    /// Bytes kept.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory for texts.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Gives memory beyond that back.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        self.bytes.shrink_to(bytes);
    }
}

impl Value {
    /// A text that never changes.
    pub(crate) fn text(bytes: impl Into<Box<[u8]>>) -> Self {
        Self::Const { bytes: bytes.into(), secret: false }
    }

    /// Whether it is raw bytes (a digest), which stand as hexadecimal digits in text.
    pub(crate) fn is_digest(&self) -> bool {
        matches!(self, Self::Call(function, _) if function.is_digest())
    }

    /// Its bytes, if it never changes.
    pub(crate) fn constant(&self) -> Option<&[u8]> {
        match self {
            Self::Const { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// Whether it must not be shown: it holds a value from the environment or is a signature.
    pub(crate) fn is_secret(&self, variables: &[Self]) -> bool {
        match self {
            Self::Const { secret, .. } => *secret,
            Self::Variable(index) => variables[usize::from(*index)].is_secret(variables),
            Self::Call(function, of) => {
                function.is_signature() || of.iter().any(|value| value.is_secret(variables))
            }
            Self::Joined(of) => of.iter().any(|value| value.is_secret(variables)),
            _ => false,
        }
    }

    /// Calls `each` for this and every value inside it, except variables' values.
    pub(crate) fn walk(&self, each: &mut impl FnMut(&Self)) {
        each(self);
        if let Self::Call(_, of) | Self::Joined(of) = self {
            of.iter().for_each(|value| value.walk(each));
        }
    }

    /// Computes it and puts the result on the stack. Returns whether it is a JSON value other than
    /// text.
    pub(crate) fn push(&self, scene: &mut Scene<'_>, stack: &mut Vec<u8>) -> bool {
        match self {
            Self::Const { bytes, .. } => stack.extend_from_slice(bytes),
            Self::Cell { pool, column } => {
                let of = &scene.pools[usize::from(*pool)];
                let (bytes, json) = of.cell(scene.drawn, *pool, *column);
                stack.extend_from_slice(bytes);
                return json;
            }
            Self::Variable(index) => {
                let (bytes, json) = scene.variables.of(*index);
                stack.extend_from_slice(bytes);
                return json;
            }
            Self::Extracted(index) => {
                let (bytes, json) = scene.extracted.of(*index);
                stack.extend_from_slice(bytes);
                return json;
            }
            Self::Int { low, count } => {
                let further = match count {
                    0 => scene.draws.bits(),
                    count => scene.draws.below(*count),
                };
                decimal(low.wrapping_add_unsigned(further), stack);
                return true;
            }
            Self::Zipf(zipf) => {
                decimal(zipf.draw(scene.draws) as i64, stack);
                return true;
            }
            Self::Uuid => uuid(scene.draws, stack),
            Self::Letters(count) => letters(*count, scene.draws, stack),
            Self::Time(clock) => return clock.push(scene.unix_ns, stack),
            Self::Call(function, of) => call(function, of, scene, stack),
            Self::Joined(of) => {
                if let [alone] = &of[..] {
                    return alone.push(scene, stack);
                }
                for value in of {
                    value.push(scene, stack);
                }
            }
        }
        false
    }
}

/// Most arguments that a function takes.
pub(crate) const MOST_ARGUMENTS: usize = 2;

fn call(function: &Function, of: &[Value], scene: &mut Scene<'_>, stack: &mut Vec<u8>) {
    let base = stack.len();
    let mut ends = [base; MOST_ARGUMENTS + 1];
    for (value, end) in of.iter().zip(1..) {
        value.push(scene, stack);
        ends[end] = stack.len();
    }
    let result = stack.len();
    function.apply(base, ends[1], ends[of.len().max(1)], stack);
    let length = stack.len() - result;
    stack.copy_within(result.., base);
    stack.truncate(base + length);
}

/// Appends a whole number.
pub(crate) fn decimal(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    wire::push_decimal(out, number.unsigned_abs());
}

fn uuid(draws: &mut Draws, out: &mut Vec<u8>) {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&draws.bits().to_be_bytes());
    bytes[8..].copy_from_slice(&draws.bits().to_be_bytes());
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    for (at, byte) in bytes.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        function::hex(&[byte], out);
    }
}

fn letters(count: u32, draws: &mut Draws, out: &mut Vec<u8>) {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    out.extend((0..count).map(|_| LETTERS[draws.below(62) as usize]));
}

#[cfg(test)]
mod tests;
