//! A description as a whole: following its references.

use model::workload::Literal;

use model::quote::quote;

/// References followed one after another at most; a chain that is longer goes in a circle.
const LONGEST_CHAIN: usize = 16;

/// A description.
pub(super) struct Document<'a> {
    pub(super) root: &'a Literal,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Literal) -> Self {
        Self { root }
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
                Literal::Object(_) => value.member(&token)?,
                Literal::List(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }
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
