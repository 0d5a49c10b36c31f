//! Listings: the functions that cost most, and who calls whom, as rows and as the text that `go tool pprof` prints
//! (`-top`, `-tree`, `-peek`).

use std::fmt::Write as _;

use crate::data::Profile;
use crate::error::Error;
use crate::filter::{Filter, pattern};
use crate::graph::{Edge, Granularity, Graph, Node, base};
use crate::units::{label, percentage, scale};

/// Nodes whose cumulative value is below this share of the total are left out.
const NODE_SHARE: f64 = 0.005;
/// Calls below this share of the total are left out.
const EDGE_SHARE: f64 = 0.001;
/// Nodes of a tree, where nothing else is asked for.
const TREE_NODES: usize = 80;
/// Characters of a filter that are shown.
const FILTER_SHOWN: usize = 80;

/// What to list.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The kind of values, by name or number; the profile's default where none is given.
    pub kind: Option<String>,
    /// Order by cumulative value.
    pub cum: bool,
    /// Nodes at most.
    pub nodes: Option<usize>,
    /// What is one node.
    pub granularity: Granularity,
    /// Which samples and frames.
    pub filter: Filter,
    /// The profile's time as people read it, which needs a time zone.
    pub time: Option<String>,
}

/// A profile's nodes, chosen and ordered.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The nodes; those to show are [`Graph::shown`].
    graph: Graph,
    /// All samples, before filters.
    total: i64,
    /// The patterns that matched nothing.
    pub missed: Vec<&'static str>,
    /// Nodes that were too small to show.
    dropped: usize,
    /// Nodes that were large enough, of which only the first may be shown.
    candidates: usize,
    head: Vec<Head>,
    unit: String,
    shown_in: String,
    node_share: f64,
}

/// A line above the rows.
#[derive(Debug, Clone)]
enum Head {
    Text(String),
    /// How long the profile took, and the share of it that its values are. The total is written in the unit of the rows.
    Duration {
        took: String,
        share: String,
    },
}

/// Which form a listing will have: they differ in what is too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One line for each node.
    Top,
    /// Each node with its callers and callees.
    Tree,
    /// As [`Form::Tree`], with nothing left out.
    Peek,
}

impl Listing {
    /// The listing of a profile.
    ///
    /// # Errors
    /// When the profile has no such kind of values.
    pub fn new(profile: Profile, wanted: &Wanted, form: Form) -> Result<Self, Error> {
        let kind = profile.kind(wanted.kind.as_deref())?;
        let total = profile.total(kind);
        let head = head(&profile, kind, wanted);
        let (profile, missed) = wanted.filter.apply(profile);
        let value_type = profile.value_types[kind].clone();
        let whole = form == Form::Peek;
        let mut graph = Graph::new(&profile, kind, wanted.granularity);
        let share = |share: f64| ((graph.flat_total() as f64 * share) as i64).wrapping_abs();
        let least = if whole { 0 } else { share(NODE_SHARE) };
        let least_edge = if whole { 0 } else { share(EDGE_SHARE) };
        let mut dropped = 0;
        if least > 0 {
            let kept = graph.at_least(least);
            if kept.len() != graph.shown.len() {
                dropped = graph.shown.len() - kept.len();
                graph.keep(&profile, kind, &kept);
            }
        }
        let candidates = graph.shown.len();
        graph.sort(wanted.cum);
        let limit = match form {
            Form::Top => wanted.nodes.unwrap_or(0),
            Form::Tree => wanted.nodes.unwrap_or(TREE_NODES),
            Form::Peek => 0,
        };
        if limit > 0 && limit < candidates {
            let kept = graph.shown[..limit].to_vec();
            graph.keep(&profile, kind, &kept);
            graph.sort(wanted.cum);
        }
        graph.drop_edges(least_edge);
        let mut listing = Self {
            graph,
            total,
            missed,
            dropped,
            candidates,
            head,
            shown_in: String::new(),
            unit: value_type.unit,
            node_share: if whole { 0.0 } else { NODE_SHARE },
        };
        listing.shown_in = listing.output_unit();
        Ok(listing)
    }

    /// One unit for all values: that of the smallest, or of a hundred times it where the largest has another.
    fn output_unit(&self) -> String {
        let least = self.graph.shown.iter().filter_map(|node| {
            let node = self.graph.node_at(*node);
            let value = if node.flat == 0 { node.cum } else { node.flat }.wrapping_abs();
            (value > 0).then_some(value)
        });
        if self.graph.shown.is_empty() {
            return "minimum".to_owned();
        }
        let least = least.min().unwrap_or(self.total);
        let unit = |value: i64| scale(value, &self.unit, "minimum").1;
        let (smallest, largest) = (unit(least), unit(self.total));
        let unit = match smallest != largest && least.wrapping_mul(100) < self.total {
            true => unit(least.wrapping_mul(100)),
            false => smallest,
        };
        if unit.is_empty() { self.unit.clone() } else { unit }
    }

    /// A value as the listing shows it.
    fn value(&self, value: i64) -> String {
        label(value, &self.unit, &self.shown_in)
    }

    /// How a node was inlined: in all of its calls, in some, or in none.
    fn inlined(&self, node: u32) -> &'static str {
        let callers = &self.graph.node_at(node).callers;
        match (callers.iter().any(|call| call.inline), callers.iter().any(|call| !call.inline)) {
            (true, true) => "(partial-inline)",
            (true, false) => "(inline)",
            _ => "",
        }
    }

    /// The lines above the rows.
    fn labels(&self) -> String {
        let line = |head: &Head| match head {
            Head::Text(text) => text.clone(),
            Head::Duration { took, share } => {
                format!("Duration: {took}, Total samples = {} {share}", self.value(self.total))
            }
        };
        let mut lines: Vec<String> = self.head.iter().map(line).collect();
        let shown = self.graph.flat_total();
        lines.push(format!(
            "Showing nodes accounting for {}, {} of {} total",
            self.value(shown),
            percentage(shown, self.total).trim(),
            self.value(self.total)
        ));
        if self.total != 0 {
            if self.dropped > 0 {
                let least = ((self.total as f64 * self.node_share) as i64).wrapping_abs();
                let nodes = if self.dropped > 1 { "nodes" } else { "node" };
                lines.push(format!(
                    "Dropped {} {nodes} (cum <= {})",
                    self.dropped,
                    self.value(least)
                ));
            }
            let shown = self.graph.shown.len();
            if shown > 0 && shown < self.candidates {
                lines.push(format!("Showing top {shown} nodes out of {}", self.candidates));
            }
        }
        lines.join("\n") + "\n"
    }

    /// What `go tool pprof -top` prints.
    pub fn top(&self) -> String {
        let mut text = self.labels();
        text += "      flat  flat%   sum%        cum   cum%\n";
        let mut sum = 0_i64;
        for node in &self.graph.shown {
            let inlined = self.inlined(*node);
            let node = self.graph.node_at(*node);
            sum = sum.wrapping_add(node.flat);
            let blank = if inlined.is_empty() { "" } else { " " };
            let _ = writeln!(text, "{}  {}{blank}{inlined}", self.figures(node, sum), node.name);
        }
        text
    }

    /// The five columns of a node; `sum` is what it and the nodes before it have by themselves.
    fn figures(&self, node: &Node, sum: i64) -> String {
        format!(
            "{:>10} {} {} {:>10} {}",
            self.value(node.flat),
            percentage(node.flat, self.total),
            percentage(sum, self.total),
            self.value(node.cum),
            percentage(node.cum, self.total),
        )
    }

    /// What `go tool pprof -tree` prints; with a pattern, what `-peek` prints.
    ///
    /// # Errors
    /// When the pattern is no regular expression or matches nothing.
    pub fn tree(&self, peek: Option<&str>) -> Result<String, Error> {
        const RULE: &str =
            "----------------------------------------------------------+-------------\n";
        let peek = peek.map(|text| Ok((pattern("peek", text)?, text))).transpose()?;
        let mut text = self.labels();
        text += RULE;
        text += "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n";
        let (mut sum, mut matched) = (0_i64, false);
        for node in &self.graph.shown {
            let node = self.graph.node_at(*node);
            if peek.as_ref().is_some_and(|(regex, _)| !regex.is_match(&node.name)) {
                continue;
            }
            matched = true;
            text += RULE;
            self.calls(&mut text, &node.callers, node.cum);
            sum = sum.wrapping_add(node.flat);
            let figures = self.figures(node, sum);
            let _ = writeln!(text, "{figures}                | {}", node.name);
            self.calls(&mut text, &node.callees, node.cum);
        }
        if !self.graph.shown.is_empty() {
            text += RULE;
        }
        match peek {
            Some((_, asked)) if !matched => {
                Err(Error::NoMatch { asked: asked.to_owned(), near: Vec::new() })
            }
            _ => Ok(text),
        }
    }

    fn calls(&self, text: &mut String, edges: &[Edge], of: i64) {
        for edge in self.graph.heaviest(edges) {
            let inline = if edge.inline { " (inline)" } else { "" };
            let _ = writeln!(
                text,
                "{:>50} {} |   {}{inline}",
                self.value(edge.weight),
                percentage(edge.weight, of),
                self.graph.node_at(edge.to).name,
            );
        }
    }
}

/// What is known of the profile.
fn head(profile: &Profile, kind: usize, wanted: &Wanted) -> Vec<Head> {
    let mut lines = Vec::new();
    if let Some(mapping) = profile.mappings.first() {
        if !mapping.file.is_empty() {
            lines.push(format!("File: {}", base(&mapping.file)));
        }
        if !mapping.build_id.is_empty() {
            lines.push(format!("Build ID: {}", mapping.build_id));
        }
    }
    lines.extend(profile.comments.iter().filter(|comment| !comment.starts_with('#')).cloned());
    let value_type = &profile.value_types[kind];
    if !value_type.kind.is_empty() {
        lines.push(format!("Type: {}", value_type.kind));
    }
    if !profile.documentation.is_empty() {
        lines.push(format!("Doc: {}", profile.documentation));
    }
    if let Some(time) = wanted.time.as_ref().filter(|_| profile.time_ns != 0) {
        lines.push(format!("Time: {time}"));
    }
    let mut head: Vec<Head> = lines.into_iter().map(Head::Text).collect();
    if profile.duration_ns != 0 {
        let total = profile.total(kind);
        let share = match scale(total, &value_type.unit, "nanoseconds") {
            (nanos, unit) if unit == "ns" && nanos != 0.0 => {
                format!("({})", percentage(nanos as i64, profile.duration_ns))
            }
            _ => String::new(),
        };
        head.push(Head::Duration {
            took: label(profile.duration_ns, "nanoseconds", "auto"),
            share,
        });
    }
    let active = wanted.filter.active();
    if !active.is_empty() {
        head.push(Head::Text("Active filters:".to_owned()));
        head.extend(active.iter().map(|filter| Head::Text(format!("   {}", shortened(filter)))));
    }
    head
}

fn shortened(filter: &str) -> String {
    if filter.len() <= FILTER_SHOWN {
        return filter.to_owned();
    }
    let mut end = FILTER_SHOWN;
    while !filter.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &filter[..end])
}
