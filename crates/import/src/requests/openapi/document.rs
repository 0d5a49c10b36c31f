//! A description as a whole: following its references, within bounds on the work and on what is copied
//! out of it. A few bytes of references can name the same large value thousands of times.

use std::cell::Cell;

use model::workload::Literal;

use model::quote::quote;

/// References followed one after another at most; a chain that is longer goes in a circle.
const LONGEST_CHAIN: usize = 16;

/// Names compared at most while references are followed.
const MOST_COMPARED: usize = 500_000_000;
/// Memory of one value copied out of a description at most, as large as a body may be.
const MOST_OF_A_VALUE: usize = 1 << 20;
/// Memory of all values copied or made at most.
const MOST_MADE: usize = 64 << 20;

/// A description.
pub(super) struct Document<'a> {
    pub(super) root: &'a Literal,
    compared: Cell<usize>,
    made: Cell<usize>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Literal) -> Self {
        Self { root, compared: Cell::new(0), made: Cell::new(0) }
    }

    /// Counts bytes that are about to be made; whether they still may be.
    pub(super) fn may_make(&self, bytes: usize) -> bool {
        let made = self.made.get().saturating_add(bytes);
        let may = made <= MOST_MADE;
        if may {
            self.made.set(made);
        }
        may
    }

    /// A copy of a value of the description; `None` where it is too large, or too much was copied before.
    pub(super) fn copy(&self, value: &Literal) -> Option<Literal> {
        let bytes = bytes(value, MOST_OF_A_VALUE);
        (bytes <= MOST_OF_A_VALUE && self.may_make(bytes)).then(|| value.clone())
    }

    /// What a value is or refers to; `None` when the reference leads nowhere, in a circle or into
    /// another file.
    pub(super) fn resolve(&self, value: &'a Literal) -> Option<&'a Literal> {
        let mut value = value;
        for _ in 0..LONGEST_CHAIN {
            let Some(Literal::Text(reference)) = value.member("$ref") else { return Some(value) };
            value = self.at(reference)?;
        }
        None
    }

    /// The value's own reference, for a message.
    pub(super) fn reference(&self, value: &Literal) -> String {
        quote(&value.member("$ref").map(Literal::plain).unwrap_or_default())
    }

    /// The value at a reference into this file: `#` and a JSON pointer (RFC 6901).
    fn at(&self, reference: &str) -> Option<&'a Literal> {
        let pointer = reference.strip_prefix('#')?;
        let mut value = self.root;
        for token in pointer.split('/').skip(1) {
            let token = percent_encoding::percent_decode_str(token).decode_utf8().ok()?;
            let token = token.replace("~1", "/").replace("~0", "~");
            value = match value {
                Literal::Object(members) => {
                    let compared = self.compared.get() + members.len();
                    self.compared.set(compared);
                    if compared > MOST_COMPARED {
                        return None;
                    }
                    value.member(&token)?
                }
                Literal::List(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

/// Memory that a value takes, counted until it is more than `most`.
fn bytes(value: &Literal, most: usize) -> usize {
    let mut sum = size_of::<Literal>();
    let mut add = |name: &str, value: &Literal| {
        if sum <= most {
            sum += size_of::<String>() + name.len() + bytes(value, most - sum);
        }
    };
    match value {
        Literal::Text(text) => sum += text.len(),
        Literal::List(items) => items.iter().for_each(|item| add("", item)),
        Literal::Object(members) => members.iter().for_each(|(name, value)| add(name, value)),
        _ => {}
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_somewhere_or_nowhere() {
        let root: Literal = serde_json::from_str(
            r##"{"a": {"$ref": "#/b~1c/1"}, "b/c": [0, {"x": 1}], "loop": {"$ref": "#/loop"},
                "far": {"$ref": "other.yaml#/a"}}"##,
        )
        .unwrap();
        let document = Document::new(&root);
        let follow = |name: &str| document.resolve(root.member(name).unwrap());
        assert_eq!(follow("a").and_then(|value| value.member("x")), Some(&Literal::Int(1)));
        assert_eq!((follow("loop"), follow("far")), (None, None));
    }
}
