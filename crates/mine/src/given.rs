//! Templates that the user gives: paths that match one follow it, whatever is learnt.

use model::secret::{Neighbour, is_secret_query_name};

use crate::segment::SECRET_KIND;
use crate::template::{Piece, Template};
use crate::trie::segments;

/// The kind of a parameter whose name the user chose: what its values are, they say themselves.
pub(crate) const GIVEN_KIND: &str = "given";

/// A template that the user gives, such as `/categories/{slug}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    template: Template,
    parts: Vec<Part>,
}

/// A segment: fixed text, or the text around a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    before: String,
    parameter: bool,
    behind: String,
}

impl Given {
    /// Reads `/categories/{slug}`: segments of a path, of which each may have one parameter.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            |why: &str| Err(format!("`{text}`: {why}; write a path such as /categories/{{slug}}"));
        let Some(path) = text.strip_prefix('/') else {
            return wrong("does not begin with a slash");
        };
        let mut template = Template { pieces: vec![], parameters: vec![], kinds: vec![] };
        let mut parts = Vec::new();
        let mut fixed = String::new();
        let mut neighbour = Neighbour::Plain;
        for segment in path.split('/') {
            fixed.push('/');
            let Some((before, rest)) = segment.split_once('{') else {
                fixed += segment;
                let before = segment.to_owned();
                parts.push(Part { before, parameter: false, behind: String::new() });
                neighbour = neighbour.then(segment);
                continue;
            };
            let Some((name, behind)) = rest.split_once('}') else { return wrong("has no `}`") };
            if name.is_empty()
                || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                return wrong("a parameter is named by letters, digits and underscores");
            }
            if template.parameters.iter().any(|other| other == name) {
                return wrong("has two parameters of one name");
            }
            if behind.contains(['{', '}']) {
                return wrong("a segment has one parameter");
            }
            fixed += before;
            template.pieces.push(Piece::Fixed(std::mem::replace(&mut fixed, behind.to_owned())));
            template.pieces.push(Piece::Parameter(template.parameters.len()));
            let secret = is_secret_query_name(name) || neighbour.announces();
            template.kinds.push(if secret { SECRET_KIND } else { GIVEN_KIND });
            template.parameters.push(name.to_owned());
            parts.push(Part {
                before: before.to_owned(),
                parameter: true,
                behind: behind.to_owned(),
            });
            neighbour = neighbour.then("");
        }
        if template.parameters.is_empty() {
            return wrong("has no parameter");
        }
        if !fixed.is_empty() {
            template.pieces.push(Piece::Fixed(fixed));
        }
        Ok(Self { template, parts })
    }

    /// As it was written.
    pub(crate) fn template(&self) -> &Template {
        &self.template
    }

    /// Whether a path follows it; the values of its parameters are added then.
    pub(crate) fn find<'a>(&self, path: &'a [u8], values: &mut Vec<&'a [u8]>) -> bool {
        let had = values.len();
        let mut parts = self.parts.iter();
        let all = segments(path).all(|segment| {
            let Some(part) = parts.next() else { return false };
            if !part.parameter {
                return segment == part.before.as_bytes();
            }
            let value = segment
                .strip_prefix(part.before.as_bytes())
                .and_then(|rest| rest.strip_suffix(part.behind.as_bytes()));
            value.filter(|value| !value.is_empty()).map(|value| values.push(value)).is_some()
        });
        let found = all && parts.next().is_none();
        if !found {
            values.truncate(had);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_what_is_given() {
        let given = Given::parse("/c/{slug}/pages/{page}.html").unwrap();
        assert_eq!(given.template().text(), "/c/{slug}/pages/{page}.html");
        for (path, expected) in [
            ("/c/red-shoes/pages/2.html", Some(["red-shoes", "2"])),
            ("/c/red-shoes/pages/.html", None),
            ("/c/red-shoes/pages/2", None),
            ("/c/red-shoes/pages/2.html/x", None),
            ("/c/red-shoes", None),
            ("/d/red-shoes/pages/2.html", None),
        ] {
            let mut values = Vec::new();
            let found = given.find(path.as_bytes(), &mut values);
            assert_eq!(found, expected.is_some(), "{path}");
            let expected: Vec<&[u8]> =
                expected.iter().flatten().map(|value| value.as_bytes()).collect();
            assert_eq!(values, expected, "{path}");
        }
        for wrong in ["c/{x}", "/c", "/{a}{b}", "/{}", "/{a", "/{a}/{a}", "/{a b}"] {
            assert!(Given::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Given::parse("/invite/{code}").unwrap().template().is_secret(0));
        assert!(!given.template().is_secret(0));
    }
}
