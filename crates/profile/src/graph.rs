//! The call graph with costs: a node for each function, line or file, an edge for each call.
//!
//! The sums are those of pprof: a function that calls itself counts once per sample in its cumulative value, an edge
//! counts once per sample, and what was left out leaves its cost with nobody.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::data::{Line, Location, Profile};
use crate::names::{Name, Names};

/// What makes two places the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Granularity {
    /// The same function, of whatever file.
    #[default]
    Function,
    /// The same line of the same function.
    Line,
    /// The same source file.
    File,
}

/// What a node stands for. Names are those of [`Graph::names`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Info {
    /// The function.
    pub name: Name,
    /// The source file.
    pub file: Name,
    /// The line.
    pub line: i64,
    /// The mapped file, where there is no function.
    object: Name,
    /// The function's first line, where it has no name.
    start_line: i64,
}

/// A function, line or file.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// What it stands for.
    pub info: Info,
    /// Its printed name.
    pub name: String,
    /// Value of samples that were taken in it.
    pub flat: i64,
    /// Value of samples with it in their stacks.
    pub cum: i64,
    /// Edges to it, the heaviest first once the graph is finished.
    pub callers: Vec<Edge>,
    /// Edges from it.
    pub callees: Vec<Edge>,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The node at the other end.
    pub to: u32,
    /// Value of samples with this call in their stacks.
    pub weight: i64,
    /// Whether it was inlined wherever it was seen.
    pub inline: bool,
}

/// Nodes of a profile, by one kind of values.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// All nodes; those that nothing was counted for too.
    pub nodes: Vec<Node>,
    /// Nodes that are shown, in their order.
    pub shown: Vec<u32>,
    /// Names of the nodes.
    pub names: Names,
    /// The nodes of each location, innermost first.
    places: Vec<Vec<u32>>,
}

impl Graph {
    /// The graph of a profile.
    pub fn new(profile: &Profile, kind: usize, granularity: Granularity) -> Self {
        let mut graph = Self { names: profile.names.clone(), ..Self::default() };
        let mut known = HashMap::default();
        for location in &profile.locations {
            let nodes = if location.lines.is_empty() {
                vec![graph.node(profile, location, None, granularity, &mut known)]
            } else {
                let lines = location.lines.iter();
                lines
                    .map(|line| graph.node(profile, location, Some(*line), granularity, &mut known))
                    .collect()
            };
            graph.places.push(nodes);
        }
        graph.count(profile, kind, None);
        graph
    }

    /// Counts again with these nodes only.
    pub fn keep(&mut self, profile: &Profile, kind: usize, kept: &[u32]) {
        let mut keep = vec![false; self.nodes.len()];
        for node in kept {
            keep[*node as usize] = true;
        }
        self.count(profile, kind, Some(&keep));
    }

    fn node(
        &mut self,
        profile: &Profile,
        location: &Location,
        line: Option<Line>,
        granularity: Granularity,
        known: &mut HashMap<Info, u32, FixedState>,
    ) -> u32 {
        let function = line.map(|line| profile.functions[line.function as usize]);
        let mut info = Info::default();
        if let (Some(function), Some(line)) = (function, line) {
            if granularity != Granularity::File {
                info.name = function.name;
            }
            if granularity != Granularity::Function && !function.file.is_empty() {
                info.file = self.names.keep(&clean(profile.names.text(function.file)));
            }
            if granularity == Granularity::Line {
                info.line = line.line;
            }
            if info.name.is_empty() {
                info.start_line = function.start_line;
            }
        }
        if info.name.is_empty()
            && let Some(mapping) = location.mapping
        {
            info.object = self.names.keep(&profile.mappings[mapping as usize].file);
        }
        let next = self.nodes.len() as u32;
        let node = *known.entry(info).or_insert(next);
        if node == next {
            let name = self.printed(info);
            self.nodes.push(Node { info, name, ..Node::default() });
        }
        node
    }

    fn printed(&self, info: Info) -> String {
        let [name, file, object] =
            [info.name, info.file, info.object].map(|name| self.names.text(name));
        let place = if info.line != 0 {
            format!("{file}:{}", info.line)
        } else if !file.is_empty() {
            file.to_owned()
        } else if !name.is_empty() {
            return name.to_owned();
        } else if !object.is_empty() {
            format!("[{}]", base(object))
        } else {
            "<unknown>".to_owned()
        };
        if name.is_empty() { place } else { format!("{name} {place}") }
    }

    fn count(&mut self, profile: &Profile, kind: usize, keep: Option<&[bool]>) {
        for node in &mut self.nodes {
            (node.flat, node.cum) = (0, 0);
            node.callers.clear();
            node.callees.clear();
        }
        let mut edges: HashMap<(u32, u32), (i64, bool, usize), FixedState> = HashMap::default();
        // The last sample, counted from 1, that each node was seen in.
        let mut seen = vec![0; self.nodes.len()];
        for (number, sample) in
            profile.samples.iter().enumerate().map(|(at, sample)| (at + 1, sample))
        {
            let value = sample.values[kind];
            if value == 0 {
                continue;
            }
            let (mut parent, mut residual) = (None, false);
            for place in sample.stack.iter().rev() {
                let nodes = &self.places[*place as usize];
                for (depth, node) in nodes.iter().enumerate().rev() {
                    if keep.is_some_and(|keep| !keep[*node as usize]) {
                        residual = true;
                        continue;
                    }
                    if seen[*node as usize] != number {
                        seen[*node as usize] = number;
                        let cum = &mut self.nodes[*node as usize].cum;
                        *cum = cum.wrapping_add(value);
                    }
                    if let Some(parent) = parent.filter(|parent| parent != node) {
                        let inline = depth + 1 != nodes.len();
                        let edge = edges.entry((parent, *node)).or_insert((0, true, 0));
                        if edge.2 != number {
                            edge.0 = edge.0.wrapping_add(value);
                            edge.1 &= inline;
                            edge.2 = number;
                        }
                    }
                    (parent, residual) = (Some(*node), false);
                }
            }
            if let Some(leaf) = parent.filter(|_| !residual) {
                let flat = &mut self.nodes[leaf as usize].flat;
                *flat = flat.wrapping_add(value);
            }
        }
        self.connect(edges);
        let shown = (0..self.nodes.len() as u32).filter(|node| {
            let node = &self.nodes[*node as usize];
            node.cum != 0 || node.flat != 0
        });
        self.shown = shown.collect();
    }

    fn connect(&mut self, edges: HashMap<(u32, u32), (i64, bool, usize), FixedState>) {
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_unstable_by_key(|(ends, _)| *ends);
        for ((from, to), (weight, inline, _)) in edges {
            self.nodes[from as usize].callees.push(Edge { to, weight, inline });
            self.nodes[to as usize].callers.push(Edge { to: from, weight, inline });
        }
    }

    /// Nodes whose cumulative value reaches `least`.
    pub fn at_least(&self, least: i64) -> Vec<u32> {
        let reaches = |node: &u32| self.nodes[*node as usize].cum.wrapping_abs() >= least;
        self.shown.iter().copied().filter(reaches).collect()
    }

    /// Removes calls that weigh less than `least`.
    pub fn drop_edges(&mut self, least: i64) {
        for node in &mut self.nodes {
            node.callers.retain(|edge| edge.weight.wrapping_abs() >= least);
            node.callees.retain(|edge| edge.weight.wrapping_abs() >= least);
        }
    }

    /// Orders the nodes by their own value, or by the cumulative one; the same by name.
    pub fn sort(&mut self, by_cum: bool) {
        let nodes = &self.nodes;
        let key = |node: &u32| {
            let node = &nodes[*node as usize];
            let (first, second) =
                if by_cum { (node.cum, node.flat) } else { (node.flat, node.cum) };
            let down = |value: i64| std::cmp::Reverse(value.wrapping_abs());
            (down(first), node.name.as_str(), down(second), node.info.start_line)
        };
        self.shown.sort_by(|a, b| key(a).cmp(&key(b)));
    }

    /// The calls to a node, or from it, the heaviest first.
    pub fn heaviest(&self, edges: &[Edge]) -> Vec<Edge> {
        let mut edges = edges.to_vec();
        edges.sort_by(|a, b| {
            let name = |edge: &Edge| self.nodes[edge.to as usize].name.as_str();
            let weight = |edge: &Edge| std::cmp::Reverse(edge.weight.wrapping_abs());
            (weight(a), name(a)).cmp(&(weight(b), name(b)))
        });
        edges
    }

    /// The sum of the shown nodes' own values.
    pub fn flat_total(&self) -> i64 {
        let flat = self.shown.iter().map(|node| self.nodes[*node as usize].flat);
        flat.fold(0, i64::wrapping_add)
    }

    /// A node.
    pub fn node_at(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }
}

/// The last element of a path.
pub fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    if path.is_empty() { "/" } else { path.rsplit('/').next().unwrap_or(path) }
}

/// The shortest path that means the same, by its text alone.
fn clean(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (path, cleaned) in [
            ("/usr//lib/./go/../x.go", "/usr/lib/x.go"),
            ("../a/../../b", "../../b"),
            ("/../a", "/a"),
            ("a/..", "."),
            ("_cgo_gotypes.go", "_cgo_gotypes.go"),
        ] {
            assert_eq!(clean(path), cleaned);
        }
        assert_eq!([base("/a/b"), base("b"), base("/")], ["b", "b", "/"]);
    }
}
