//! Templates of paths, such as `/users/{id}/orders/{uuid}`, and which of them a path follows.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use model::secret::Neighbour;

use crate::given::Given;
use crate::segment::{Class, SECRET_KIND, Shape, neighbour, shape};
use crate::trie::{hash, hash_of_shape, segments};

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands in paths, percent-encoded where they are.
    Fixed(String),
    /// The parameter of this number.
    Parameter(usize),
}

/// A template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// From the first `/` on.
    pub pieces: Vec<Piece>,
    /// Names of its parameters, each once.
    pub parameters: Vec<String>,
    /// What kind each is: `id`, `uuid`, `date` ...
    pub kinds: Vec<&'static str>,
}

impl Template {
    /// Puts other text in the place of what its text begins with; parameters that this covers are lost, and those of
    /// the new text that are not its own stay as they are written.
    pub(crate) fn replace(&mut self, old: &str, new: &str) {
        let mut rest = old.trim_end_matches('/').len();
        let mut kept = Vec::new();
        for piece in std::mem::take(&mut self.pieces) {
            let text = match &piece {
                Piece::Fixed(text) => text.clone(),
                Piece::Parameter(at) => format!("{{{}}}", self.parameters[*at]),
            };
            match text.len() {
                length if rest >= length => rest -= length,
                _ if rest > 0 => {
                    kept.push(Piece::Fixed(text[rest..].to_owned()));
                    rest = 0;
                }
                _ => kept.push(piece),
            }
        }
        self.pieces = self.parse(new.trim_end_matches('/'));
        self.pieces.extend(kept);
    }

    /// Text with the names of this template's parameters in braces.
    fn parse(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut fixed = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            fixed += before;
            let named = after.split_once('}').and_then(|(name, after)| {
                Some((self.parameters.iter().position(|other| other == name)?, after))
            });
            match named {
                Some((at, after)) => {
                    pieces.push(Piece::Fixed(std::mem::take(&mut fixed)));
                    pieces.push(Piece::Parameter(at));
                    rest = after;
                }
                None => {
                    fixed += "%7B";
                    rest = after;
                }
            }
        }
        fixed += rest;
        if !fixed.is_empty() {
            pieces.push(Piece::Fixed(fixed));
        }
        pieces
    }

    /// Whether a parameter holds credentials, as far as its place and shape say.
    pub(crate) fn is_secret(&self, parameter: usize) -> bool {
        self.kinds.get(parameter) == Some(&SECRET_KIND)
    }

    /// As people write it: `/users/{id}`.
    pub fn text(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Fixed(text) => text.clone(),
            Piece::Parameter(at) => format!("{{{}}}", self.parameters[*at]),
        };
        self.pieces.iter().map(piece).collect()
    }
}

/// The templates of a log.
#[derive(Debug, Default)]
pub struct Templates {
    nodes: Vec<Node>,
    edges: HashMap<(u32, u64), u32, FixedState>,
    templates: Vec<Template>,
    /// Templates that the user gives, with their numbers.
    given: Vec<(Given, usize)>,
}

#[derive(Debug, Default, Clone)]
struct Node {
    parent: u32,
    fixed: Vec<u8>,
    /// Text around the value, if the segment is a parameter.
    parameter: Option<(usize, usize, Class)>,
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    /// The child that takes any word.
    any: Option<u32>,
    template: Option<u32>,
    /// What the path up to here says about the next segment.
    neighbour: Neighbour,
}

impl Templates {
    /// All of them.
    pub fn all(&self) -> &[Template] {
        &self.templates
    }

    /// Puts templates that the user gives beside those that were learnt: the first that a path follows is its own.
    pub(crate) fn give(&mut self, given: Vec<Given>) {
        for given in given {
            self.templates.push(given.template().clone());
            self.given.push((given, self.templates.len() - 1));
        }
    }

    /// The numbers of the templates that the user gives.
    pub(crate) fn given(&self) -> impl Iterator<Item = usize> {
        self.given.iter().map(|(_, number)| *number)
    }

    /// The number of the template that a path follows; the values of its parameters are put into `values`.
    pub fn find<'a>(&self, path: &'a [u8], values: &mut Vec<&'a [u8]>) -> Option<usize> {
        values.clear();
        if let Some((_, number)) = self.given.iter().find(|(given, _)| given.find(path, values)) {
            return Some(*number);
        }
        let mut node = 0;
        for segment in segments(path) {
            node = self.step(node, segment, values)?;
        }
        self.nodes.get(node as usize)?.template.map(|template| template as usize)
    }

    fn step<'a>(&self, node: u32, segment: &'a [u8], values: &mut Vec<&'a [u8]>) -> Option<u32> {
        if let Some(child) = self.edges.get(&(node, hash(segment))) {
            return Some(*child);
        }
        let from = self.nodes.get(node as usize)?;
        let key = hash_of_shape(&shape(from.neighbour, segment));
        let child = match self.edges.get(&(node, key)) {
            Some(child) => *child,
            None => from.any?,
        };
        let (prefix, suffix, _) = self.nodes[child as usize].parameter?;
        values.push(segment.get(prefix..segment.len().checked_sub(suffix)?)?);
        Some(child)
    }
}

/// Templates in the making.
#[derive(Debug)]
pub(crate) struct Builder {
    made: Templates,
}

impl Default for Builder {
    fn default() -> Self {
        let made = Templates { nodes: vec![Node::default()], ..Templates::default() };
        Self { made }
    }
}

impl Builder {
    pub(crate) fn root(&self) -> u32 {
        0
    }

    /// A fixed segment below a node.
    pub(crate) fn fixed(&mut self, parent: u32, key: u64, text: &[u8], ends: bool) -> u32 {
        let neighbour = neighbour(self.made.nodes[parent as usize].neighbour, text);
        let node = Node { parent, fixed: text.to_vec(), neighbour, ..Node::default() };
        self.add(parent, key, node, ends)
    }

    /// A parameter below a node; `any` says that values of all vague looks are some of its.
    pub(crate) fn parameter(
        &mut self,
        parent: u32,
        key: u64,
        shape: &Shape,
        any: bool,
        ends: bool,
    ) -> u32 {
        let node = Node {
            parent,
            parameter: Some((shape.prefix.len(), shape.suffix.len(), shape.class)),
            prefix: shape.prefix.to_vec(),
            suffix: shape.suffix.to_vec(),
            neighbour: self.made.nodes[parent as usize].neighbour.then(""),
            ..Node::default()
        };
        let child = self.add(parent, key, node, ends);
        if any || shape.class == Class::Word {
            let vague = [Class::Word, Class::Code, Class::Token, Class::Hex, Class::Locale];
            // Hashes come out as numbers too.
            let numbers = (shape.class == Class::Hex).then_some(Class::Int);
            for class in vague.into_iter().chain(numbers) {
                let alike = hash_of_shape(&Shape { class, ..*shape });
                self.made.edges.entry((parent, alike)).or_insert(child);
            }
            if shape.prefix.is_empty() && shape.suffix.is_empty() {
                self.made.nodes[parent as usize].any = Some(child);
            }
        }
        child
    }

    fn add(&mut self, parent: u32, key: u64, node: Node, ends: bool) -> u32 {
        let at = self.made.nodes.len() as u32;
        self.made.nodes.push(node);
        self.made.edges.insert((parent, key), at);
        if ends {
            let template = self.template(at);
            self.made.nodes[at as usize].template = Some(self.made.templates.len() as u32);
            self.made.templates.push(template);
        }
        at
    }

    pub(crate) fn finish(self) -> Templates {
        self.made
    }

    /// The template that ends at a node.
    fn template(&self, node: u32) -> Template {
        let mut way = Vec::new();
        let mut at = node;
        while at != 0 {
            let node = &self.made.nodes[at as usize];
            way.push(node);
            at = node.parent;
        }
        let mut template = Template { pieces: vec![], parameters: vec![], kinds: vec![] };
        let mut text = String::new();
        let mut before = String::new();
        for node in way.into_iter().rev() {
            text.push('/');
            let Some((_, _, class)) = node.parameter else {
                before = printable(&node.fixed);
                text += &before;
                continue;
            };
            text += &printable(&node.prefix);
            template.pieces.push(Piece::Fixed(std::mem::take(&mut text)));
            template.pieces.push(Piece::Parameter(template.parameters.len()));
            let name = free_name(&template.parameters, class.name(), &before);
            template.parameters.push(name);
            template.kinds.push(class.name());
            text += &printable(&node.suffix);
        }
        if !text.is_empty() {
            template.pieces.push(Piece::Fixed(text));
        }
        template
    }
}

/// A name that the template does not use yet: `id`, else `order_id` behind `orders`, else `id_2`.
fn free_name(taken: &[String], name: &str, before: &str) -> String {
    let is_free = |name: &str| !taken.iter().any(|other| other == name);
    if is_free(name) {
        return name.to_owned();
    }
    let letters: String =
        before.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let word = letters.strip_suffix('s').unwrap_or(&letters).to_ascii_lowercase();
    let word = word.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let longer = format!("{word}_{name}");
    if !word.is_empty() && is_free(&longer) {
        return longer;
    }
    let mut numbered = (2..).map(|n| format!("{name}_{n}"));
    numbered.find(|name| is_free(name)).unwrap_or_default()
}

/// Bytes of a path as text: what is not printable, or could be taken for something else, is percent-encoded.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'{' | b'}' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|' | 0..=0x20 | 0x7f.. => {
                text += &format!("%{byte:02X}");
            }
            byte => text.push(char::from(*byte)),
        }
    }
    text
}
