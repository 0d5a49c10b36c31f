//! Which of many path patterns take a path: a tree by segments, so that a look-up costs what the path's segments
//! cost, however many patterns there are.
//!
//! Owns no order among patterns: each has a number, and the least one that is wanted is found.

use std::collections::HashMap;

use super::PathPattern;

/// Path patterns, each with a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PathTree {
    /// The first is the root; empty where there is no pattern.
    nodes: Vec<Node>,
    /// ASCII letters of either case are the same.
    any_case: bool,
}

/// Bytes of a segment in which letters of either case are the same; no pattern has a longer one then.
const LONGEST_SEGMENT: usize = 255;

/// What patterns are alike up to some segment.
#[derive(Debug, Clone, Default, PartialEq)]
struct Node {
    /// The next nodes, by segment.
    literals: HashMap<Box<[u8]>, usize>,
    /// The next node for any segment that is not empty.
    parameter: Option<usize>,
    /// Numbers of prefixes that end here, ascending.
    prefixes: Vec<u32>,
    /// Numbers of templates that end here, ascending.
    templates: Vec<u32>,
}

impl PathTree {
    /// One to which letters of either case are the same, as they are to some servers.
    pub(crate) fn of_any_case() -> Self {
        Self { nodes: Vec::new(), any_case: true }
    }

    /// Adds a pattern.
    pub(crate) fn insert(&mut self, pattern: &PathPattern, number: u32) {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        match pattern {
            PathPattern::Prefix(prefix) => {
                let segments = prefix.strip_prefix('/').filter(|rest| !rest.is_empty());
                for segment in segments.into_iter().flat_map(|rest| rest.split('/')) {
                    at = self.next(at, Some(segment));
                }
            }
            PathPattern::Template(segments) => {
                for segment in segments {
                    at = self.next(at, segment.as_deref());
                }
            }
        }
        let node = &mut self.nodes[at];
        let numbers = match pattern {
            PathPattern::Prefix(_) => &mut node.prefixes,
            PathPattern::Template(_) => &mut node.templates,
        };
        let place = numbers.partition_point(|&other| other < number);
        numbers.insert(place, number);
    }

    /// The node after another, made where there is none.
    fn next(&mut self, at: usize, segment: Option<&str>) -> usize {
        let new = self.nodes.len();
        let node = &mut self.nodes[at];
        let next = match segment {
            Some(literal) if self.any_case => {
                let lower = literal.to_ascii_lowercase();
                *node.literals.entry(lower.as_bytes().into()).or_insert(new)
            }
            Some(literal) => *node.literals.entry(literal.as_bytes().into()).or_insert(new),
            None => *node.parameter.get_or_insert(new),
        };
        if next == new {
            self.nodes.push(Node::default());
        }
        next
    }

    /// The least number that is `wanted`, of the patterns that take `path`. Patterns that do are asked about from the
    /// least number on at each node of the tree, so not all in order.
    pub(crate) fn least(&self, path: &[u8], wanted: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        let rest = path.strip_prefix(b"/")?;
        let mut least = None;
        if !self.nodes.is_empty() {
            self.visit(0, Some(rest), &mut least, wanted);
        }
        least
    }

    /// Looks at a node that the segments before `rest` lead to. As deep as patterns have segments, which
    /// [`PathPattern::parse`] bounds.
    fn visit(
        &self,
        at: usize,
        rest: Option<&[u8]>,
        least: &mut Option<u32>,
        wanted: &mut impl FnMut(u32) -> bool,
    ) {
        let node = &self.nodes[at];
        let ending = if rest.is_none() { node.templates.as_slice() } else { &[] };
        for numbers in [node.prefixes.as_slice(), ending] {
            let found = numbers.iter().copied().find(|&number| wanted(number));
            *least = match (*least, found) {
                (Some(least), Some(found)) => Some(least.min(found)),
                (least, found) => least.or(found),
            };
        }
        let Some(rest) = rest else { return };
        let mut parts = rest.splitn(2, |&byte| byte == b'/');
        let segment = parts.next().unwrap_or_default();
        let after = parts.next();
        if let Some(next) = self.literal(node, segment) {
            self.visit(next, after, least, wanted);
        }
        if let Some(next) = node.parameter.filter(|_| !segment.is_empty()) {
            self.visit(next, after, least, wanted);
        }
    }

    /// The node after another by a segment.
    fn literal(&self, node: &Node, segment: &[u8]) -> Option<usize> {
        if !self.any_case {
            return node.literals.get(segment).copied();
        }
        let mut lower = [0; LONGEST_SEGMENT];
        let lower = lower.get_mut(..segment.len())?;
        lower.copy_from_slice(segment);
        lower.make_ascii_lowercase();
        node.literals.get(&*lower).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Patterns and paths of few segments, so that many meet.
    fn text(of: &'static [&'static str]) -> impl Strategy<Value = String> {
        let segments = prop::collection::vec(prop::sample::select(of), 0..4);
        segments.prop_map(|segments| format!("/{}", segments.join("/")))
    }

    #[test]
    fn letters_of_either_case_may_be_the_same() {
        let mut trees = [PathTree::default(), PathTree::of_any_case()];
        for tree in &mut trees {
            tree.insert(&PathPattern::parse("/Ab/{x}").unwrap(), 0);
            tree.insert(&PathPattern::parse("/").unwrap(), 1);
        }
        let long = format!("/{}", "A".repeat(LONGEST_SEGMENT + 1));
        for (path, own, any) in [
            ("/Ab/C", 0, 0),
            ("/aB/C", 1, 0),
            ("/AB/c", 1, 0),
            ("/AC/c", 1, 1),
            (long.as_str(), 1, 1),
        ] {
            let found = trees.each_ref().map(|tree| tree.least(path.as_bytes(), &mut |_| true));
            assert_eq!(found, [Some(own), Some(any)], "{path}");
        }
    }

    proptest! {
        #[test]
        fn what_it_finds_is_what_patterns_say(
            patterns in prop::collection::vec((text(&["a", "b", "{x}", ""]), any::<bool>()), 0..12),
            paths in prop::collection::vec(text(&["a", "b", "c", ""]), 1..12),
            unwanted in 0u32..12,
        ) {
            let read = |(text, exact): &(String, bool)| {
                if *exact { PathPattern::exact(text) } else { PathPattern::parse(text) }
            };
            let patterns: Vec<_> = patterns.iter().map(|pattern| read(pattern).unwrap()).collect();
            let mut tree = PathTree::default();
            for (number, pattern) in patterns.iter().enumerate().rev() {
                tree.insert(pattern, number as u32);
            }
            for path in &paths {
                let takes = |number: &u32| patterns[*number as usize].takes(path.as_bytes());
                let expected = (0..patterns.len() as u32).filter(|n| *n != unwanted).find(takes);
                let found = tree.least(path.as_bytes(), &mut |number| number != unwanted);
                prop_assert_eq!(found, expected, "{} in {:?}", path, patterns);
            }
        }
    }
}
