//! The paths of a log as a tree of segments, in bounded memory. Values that look like one of many are merged as they
//! come.
//!
//! Owns the tree. `settle` decides, once all paths are known, which words are parameters too; the result is a `template`.

mod following;
mod looks;
mod settle;
mod siblings;
mod stock;
mod thin;
mod wording;

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use model::secret::Neighbour;

use crate::segment::{Class, Shape, neighbour, shape};
use crate::words;
use looks::is_plain;
use stock::Stock;

/// Nodes at most. Further words are put together as values, whatever they are.
const MOST_NODES: usize = 200_000;
/// Children of a node at most before words among them are put together.
const MOST_CHILDREN: usize = 2_048;
/// Words of a node at most that stand beside values of their shape.
const MOST_WORDS: u32 = 512;
/// Segments of a path at most; what follows is part of the last.
const MOST_SEGMENTS: usize = 24;
/// Paths that are remembered with their node.
const REMEMBERED: usize = 1 << 15;
/// The node where paths begin.
const ROOT: u32 = 0;

/// What a request adds to the node that its path ends at: its method and the names in its query, as bits.
pub(crate) type Marks = u64;
/// Some path ends here.
const END: Marks = 1;
/// Kinds of requests that end at a node are told apart by so much of the hash of their marks.
const WAYS: usize = 8;

/// A segment, or a set of segments that are values of one parameter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Fixed(Box<[u8]>),
    Values {
        prefix: Box<[u8]>,
        class: Class,
        suffix: Box<[u8]>,
        /// Whether values of other vague looks are some too.
        any: bool,
    },
}

#[derive(Debug, Clone)]
struct Node {
    label: Label,
    /// Requests whose path ends here.
    hits: u64,
    marks: Marks,
    /// Those requests by method and names in the query, as [`way`] tells them apart.
    ways: [u32; WAYS],
    children: Vec<u32>,
    /// Lengths of the values that it stands for, each by [`length_bit`].
    value_lengths: u64,
    /// Children that may stay where others of their shape are put together ([`may_stay`]).
    words: u32,
    /// What the path up to here says about the next segment.
    neighbour: Neighbour,
}

/// Segments of all paths.
#[derive(Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    /// By parent and the hash of a fixed segment, or of a shape.
    edges: HashMap<(u32, u64), u32, FixedState>,
    /// Fixed children of one shape, by parent and the hash of the shape.
    alike: HashMap<(u32, u64), u32, FixedState>,
    free: Vec<u32>,
    /// Hashes of paths and the nodes that they end at, as of a state of the tree.
    remembered: Vec<(u64, u32, u32)>,
    /// Grows whenever nodes move.
    state: u32,
    /// Words that were found to be fixed beside values.
    found: BTreeSet<u32>,
    /// What values that were put together are made of, by the node that they are below.
    stocks: HashMap<u32, Stock, FixedState>,
}

/// The hash of bytes, the same in every run.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    FixedState::with_seed(0x706c_696d).hash_one(bytes)
}

pub(crate) fn hash_of_shape(shape: &Shape) -> u64 {
    FixedState::with_seed(0x736f_6c6c).hash_one(shape)
}

/// The segments of a path.
pub(crate) fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    path.splitn(MOST_SEGMENTS, |byte| *byte == b'/')
}

/// The marks of a request.
pub(crate) fn marks(method: &[u8], query: &[u8]) -> Marks {
    let method = match method {
        b"GET" | b"HEAD" => 1,
        b"POST" => 2,
        b"PUT" => 3,
        b"PATCH" => 4,
        b"DELETE" => 5,
        _ => 6,
    };
    let mut marks = END | 1 << method;
    if !query.is_empty() {
        for pair in query.split(|byte| *byte == b'&').take(16) {
            let name = memchr::memchr(b'=', pair).map_or(pair, |at| &pair[..at]);
            marks |= 1 << (8 + hash(name) % 56);
        }
    }
    marks
}

/// The bit that stands for a segment of this many bytes: the last for all that are longer.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Which of the [`WAYS`] requests with these marks are.
fn way(marks: Marks) -> usize {
    (hash(&marks.to_le_bytes()) % WAYS as u64) as usize
}

impl Node {
    /// Counts requests that end here.
    fn add_ends(&mut self, hits: u64, marks: Marks, ways: [u32; WAYS]) {
        self.hits += hits;
        self.marks |= marks;
        for (own, more) in self.ways.iter_mut().zip(ways) {
            *own = own.saturating_add(more);
        }
    }

    /// Lengths of the segments that it stands for.
    fn lengths(&self) -> u64 {
        match &self.label {
            Label::Fixed(text) => length_bit(text.len()),
            Label::Values { .. } => self.value_lengths,
        }
    }

    fn new(label: Label, neighbour: Neighbour) -> Self {
        Self {
            label,
            hits: 0,
            marks: 0,
            ways: [0; WAYS],
            children: Vec::new(),
            value_lengths: 0,
            words: 0,
            neighbour,
        }
    }
}

impl Default for Trie {
    fn default() -> Self {
        let root = Node::new(Label::Fixed(Box::default()), Neighbour::Plain);
        Self {
            nodes: vec![root],
            edges: HashMap::default(),
            alike: HashMap::default(),
            free: Vec::new(),
            remembered: vec![(0, ROOT, 0); REMEMBERED],
            state: 1,
            found: BTreeSet::new(),
            stocks: HashMap::default(),
        }
    }
}

impl Trie {
    /// Adds a request.
    pub(crate) fn add(&mut self, path: &[u8], marks: Marks) {
        let hash = hash(path);
        let slot = hash as usize % REMEMBERED;
        let (known, node, state) = self.remembered[slot];
        let node = if known == hash && state == self.state {
            node
        } else {
            let mut node = ROOT;
            for segment in segments(path) {
                node = self.child(node, segment);
            }
            self.remembered[slot] = (hash, node, self.state);
            node
        };
        let node = &mut self.nodes[node as usize];
        node.hits += 1;
        node.marks |= marks;
        let way = &mut node.ways[way(marks)];
        *way = way.saturating_add(1);
    }

    /// Adds everything of another tree.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.absorb_below(ROOT, other, ROOT);
    }

    fn absorb_below(&mut self, own: u32, other: &Self, from: u32) {
        let source = &other.nodes[from as usize];
        self.nodes[own as usize].add_ends(source.hits, source.marks, source.ways);
        self.nodes[own as usize].value_lengths |= source.value_lengths;
        if let Some(stock) = other.stocks.get(&from) {
            self.remember(own, stock.clone());
        }
        for child in &source.children {
            let into = match &other.nodes[*child as usize].label {
                Label::Fixed(text) if other.is_kept(from, text) => self.kept(own, text),
                Label::Fixed(text) => self.child(own, text),
                Label::Values { prefix, class, suffix, .. } => {
                    let shape = Shape { prefix, class: *class, suffix };
                    self.generalise(own, &shape, |trie, child| !trie.stays(own, child))
                }
            };
            let is_fixed = matches!(self.nodes[into as usize].label, Label::Fixed(_));
            if is_fixed && other.found.contains(child) {
                self.found.insert(into);
            }
            self.absorb_below(into, other, *child);
        }
    }

    /// The child of this segment, made if it is not there.
    fn child(&mut self, node: u32, segment: &[u8]) -> u32 {
        let key = hash(segment);
        if let Some(child) = self.edges.get(&(node, key)) {
            return *child;
        }
        let shape = self.shape(node, segment);
        let group = hash_of_shape(&shape);
        if let Some(child) = self.edges.get(&(node, group)).copied()
            && !(self.has_room(node) && may_stay(segment))
            && !self.takes_stranger(node, segment)
        {
            self.nodes[child as usize].value_lengths |= length_bit(segment.len());
            return child;
        }
        // A credential is in no label, not even for a moment.
        let secret = shape.class == Class::Secret;
        if secret || self.nodes.len() - self.free.len() >= MOST_NODES {
            return self.values_node(node, &shape);
        }
        let child = self.add_child(node, key, Label::Fixed(segment.into()));
        let alike = self.alike.entry((node, group)).or_insert(0);
        *alike += 1;
        if *alike > most_fixed(shape.class) {
            return self.generalise(node, &shape, |_, _| true);
        }
        if self.nodes[node as usize].children.len() > MOST_CHILDREN {
            self.thin_out(node);
            return self.child(node, segment);
        }
        child
    }

    /// Whether a word may stand beside values: there are only so many that may be fixed.
    fn has_room(&self, node: u32) -> bool {
        self.nodes[node as usize].words < MOST_WORDS
    }

    /// Whether a word was left where others of its shape were put together.
    fn is_kept(&self, node: u32, text: &[u8]) -> bool {
        let shape = self.shape(node, text);
        shape.class.is_words() && self.edges.contains_key(&(node, hash_of_shape(&shape)))
    }

    /// The child of a word that was left elsewhere where others of its shape were put together.
    fn kept(&mut self, node: u32, text: &[u8]) -> u32 {
        let key = hash(text);
        let full = self.nodes.len() - self.free.len() >= MOST_NODES;
        if full || !self.has_room(node) || self.edges.contains_key(&(node, key)) {
            return self.child(node, text);
        }
        self.add_child(node, key, Label::Fixed(text.into()))
    }

    /// Whether a child is a fixed word that stays where others of its shape are put together.
    fn is_word(&self, child: u32) -> bool {
        matches!(&self.nodes[child as usize].label, Label::Fixed(text) if may_stay(text))
    }

    /// The shape of a segment below a node.
    fn shape<'a>(&self, node: u32, segment: &'a [u8]) -> Shape<'a> {
        shape(self.nodes[node as usize].neighbour, segment)
    }

    fn add_child(&mut self, node: u32, key: u64, label: Label) -> u32 {
        let before = self.nodes[node as usize].neighbour;
        let neighbour = match &label {
            Label::Fixed(text) => neighbour(before, text),
            Label::Values { .. } => before.then(""),
        };
        let made = Node::new(label, neighbour);
        let child = match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = made;
                at
            }
            None => {
                self.nodes.push(made);
                self.nodes.len() as u32 - 1
            }
        };
        self.attach(node, key, child);
        child
    }

    /// Makes a node the child of another.
    fn attach(&mut self, node: u32, key: u64, child: u32) {
        let words = u32::from(self.is_word(child));
        let parent = &mut self.nodes[node as usize];
        parent.words += words;
        parent.children.push(child);
        self.edges.insert((node, key), child);
    }

    /// Takes a child from its node.
    fn detach(&mut self, node: u32, child: u32) {
        let words = u32::from(self.is_word(child));
        let parent = &mut self.nodes[node as usize];
        parent.words -= words;
        parent.children.retain(|other| *other != child);
        self.edges.remove(&(node, self.key(child)));
    }

    /// The child that stands for all values of a shape, made if it is not there.
    fn values_node(&mut self, node: u32, shape: &Shape) -> u32 {
        let key = hash_of_shape(shape);
        match self.edges.get(&(node, key)) {
            Some(child) => *child,
            None => self.add_child(
                node,
                key,
                Label::Values {
                    prefix: shape.prefix.into(),
                    class: shape.class,
                    suffix: shape.suffix.into(),
                    any: false,
                },
            ),
        }
    }

    /// Puts the fixed children of a shape together of which `which` says so; the child that stands for them.
    fn generalise(&mut self, node: u32, wanted: &Shape, which: impl Fn(&Self, u32) -> bool) -> u32 {
        let alike = |trie: &Self, child: &u32| match &trie.nodes[*child as usize].label {
            Label::Fixed(text) => trie.shape(node, text) == *wanted && which(trie, *child),
            Label::Values { .. } => false,
        };
        let children = self.nodes[node as usize].children.clone();
        let chosen: Vec<u32> = children.into_iter().filter(|child| alike(self, child)).collect();
        let into = self.values_node(node, wanted);
        for child in chosen {
            self.move_into(node, child, into);
        }
        into
    }

    /// Makes a child part of another.
    fn move_into(&mut self, parent: u32, child: u32, into: u32) {
        self.detach(parent, child);
        self.state += 1;
        self.merge(into, child);
    }

    /// Adds a node without a parent to another; its place is free afterwards.
    fn merge(&mut self, into: u32, from: u32) {
        let source = &mut self.nodes[from as usize];
        let (hits, marks, ways) = (source.hits, source.marks, source.ways);
        let lengths = source.lengths();
        let children = std::mem::take(&mut source.children);
        source.words = 0;
        self.nodes[into as usize].add_ends(hits, marks, ways);
        self.nodes[into as usize].value_lengths |= lengths;
        if let Some(stock) = self.stocks.remove(&from) {
            self.stocks.entry(into).or_insert(stock);
        }
        for child in children {
            let key = self.key(child);
            self.edges.remove(&(from, key));
            match self.place_for(into, child) {
                Some(other) => self.merge(other, child),
                None => self.attach(into, key, child),
            }
        }
        self.found.remove(&from);
        self.free.push(from);
        self.crowd(into);
    }

    /// The child of a node that this one would become part of.
    fn place_for(&self, node: u32, child: u32) -> Option<u32> {
        let label = &self.nodes[child as usize].label;
        let equal = self.edges.get(&(node, self.key(child)));
        let values = || match label {
            Label::Fixed(text) if self.has_room(node) && may_stay(text) => None,
            Label::Fixed(text) if self.is_strange(node, text) => None,
            Label::Fixed(text) => self.edges.get(&(node, hash_of_shape(&self.shape(node, text)))),
            Label::Values { .. } => None,
        };
        equal.or_else(values).copied()
    }

    /// Puts children together of which a merge brought too many of a kind.
    fn crowd(&mut self, node: u32) {
        let mut counts: HashMap<u64, u32> = HashMap::new();
        let mut crowded = Vec::new();
        for child in self.nodes[node as usize].children.clone() {
            let Label::Fixed(text) = &self.nodes[child as usize].label else { continue };
            let shape = self.shape(node, text);
            let group = hash_of_shape(&shape);
            let count = counts.entry(group).or_insert(0);
            *count += 1;
            let values = self.edges.contains_key(&(node, group));
            let most = if values { 0 } else { most_fixed(shape.class) };
            if *count == most.saturating_add(1) && !(values && shape.class.is_words()) {
                crowded.push(text.clone());
            }
        }
        for (group, count) in counts {
            self.alike.insert((node, group), count);
        }
        for text in crowded {
            let shape = shape(self.nodes[node as usize].neighbour, &text);
            self.generalise(node, &shape, |_, _| true);
        }
        if self.nodes[node as usize].children.len() > MOST_CHILDREN {
            self.thin_out(node);
        }
    }

    /// Puts children in an order that does not depend on which came first.
    fn arrange(&mut self) {
        for at in 0..self.nodes.len() {
            let mut children = std::mem::take(&mut self.nodes[at].children);
            let label = |child: &u32| &self.nodes[*child as usize].label;
            children.sort_unstable_by(|a, b| label(a).cmp(label(b)));
            self.nodes[at].children = children;
        }
    }

    /// Requests that end at a node or below it.
    fn below(&self, node: u32) -> u64 {
        let node = &self.nodes[node as usize];
        node.hits + node.children.iter().map(|child| self.below(*child)).sum::<u64>()
    }

    /// What a child is found by.
    fn key(&self, child: u32) -> u64 {
        match &self.nodes[child as usize].label {
            Label::Fixed(text) => hash(text),
            Label::Values { prefix, class, suffix, .. } => {
                hash_of_shape(&Shape { prefix, class: *class, suffix })
            }
        }
    }
}

/// Whether a segment is made of words that paths are made of, or set apart by a sign. Where values stand beside it, what
/// follows both decides.
fn may_be_fixed(segment: &[u8]) -> bool {
    words::is_one_common(segment)
        || words::is_reserved(segment)
        || is_plain(segment) && words::is_wholly_common(segment)
}

/// Whether a segment is kept apart where it comes after values were put together, as long as there is room: what follows
/// all of its requests decides.
fn may_stay(segment: &[u8]) -> bool {
    may_be_fixed(segment) || words::is_one_general(segment)
}

/// Fixed segments of a shape that may stand side by side before they are taken for values. Of words there may be any
/// number: [`Trie::thin_out`] leaves those that may be fixed.
fn most_fixed(class: Class) -> u32 {
    match class {
        class if class.is_certain() => 1,
        class if class.is_words() => u32::MAX,
        _ => 8,
    }
}
