//! YAML 1.2 with places, from the events of `saphyr-parser`. Aliases are copied, and count as what they
//! stand for. Of tags only `!!str` means anything.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::{
    DEEPEST, Entry, Fault, KEY, MOST_COPIED, MOST_VALUES, Mark, Memory, Node, Tree, Value,
};

/// Reads the first document of a text.
pub(super) fn parse(text: &str) -> Result<Tree, Fault> {
    let offsets = Offsets::of(text);
    let mut builder = Builder::new(&offsets);
    let mut further = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = offsets.byte(error.marker().index());
            Fault::new(at, format!("is not YAML: {}", error.info()))
        })?;
        match event {
            Event::DocumentStart(_) if builder.root.is_some() => {
                further = Some(offsets.byte(span.start.index()));
                break;
            }
            event => builder.take(event, &span)?,
        }
    }
    let root = builder
        .root
        .ok_or_else(|| Fault::new(0, "is empty: `plimsoll init` writes a file to begin with"))?;
    Ok(Tree { root, further })
}

/// Bytes of a text by its characters, which the parser counts in.
struct Offsets<'a> {
    text: &'a str,
    /// The byte of every [`STEP`]th character; none in a text of ASCII alone.
    steps: Vec<usize>,
}

const STEP: usize = 256;

impl<'a> Offsets<'a> {
    fn of(text: &'a str) -> Self {
        let indices = || text.char_indices().map(|(at, _)| at);
        let steps = if text.is_ascii() { Vec::new() } else { indices().step_by(STEP).collect() };
        Self { text, steps }
    }

    fn byte(&self, character: usize) -> usize {
        if self.steps.is_empty() {
            return character.min(self.text.len());
        }
        let Some(&from) = self.steps.get(character / STEP) else { return self.text.len() };
        let mut further = self.text[from..].char_indices().skip(character % STEP);
        further.next().map_or(self.text.len(), |(at, _)| from + at)
    }
}

/// A list or map being read.
struct Open {
    mark: Mark,
    value: Value,
    anchor: usize,
    /// A map's key whose value comes next.
    key: Option<(Mark, String)>,
}

struct Builder<'a> {
    offsets: &'a Offsets<'a>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, Size)>,
    values: usize,
    /// Bytes that anchors and aliases have copied.
    copied: usize,
    memory: Memory,
    marks: u32,
    root: Option<Node>,
}

impl<'a> Builder<'a> {
    fn new(offsets: &'a Offsets<'a>) -> Self {
        let (open, anchors, memory) = (Vec::new(), HashMap::new(), Memory::default());
        Self { offsets, open, anchors, values: 0, copied: 0, memory, marks: 0, root: None }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let text_tag =
                    |tag: &Cow<'_, Tag>| tag.is_yaml_core_schema() && tag.suffix == "str";
                let plain = style == ScalarStyle::Plain && !tag.as_ref().is_some_and(text_tag);
                let value = Value::Scalar { text: text.into_owned(), plain };
                let mark = self.mark(span);
                self.finished(Node { mark, value }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.begin(Value::List(Vec::new()), anchor, span),
            Event::MappingStart(anchor, _) => self.begin(Value::Map(Vec::new()), anchor, span),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { mut mark, value, anchor, .. }) => {
                    mark.end = self.offsets.byte(span.end.index()) as u32;
                    self.finished(Node { mark, value: value.fitted() }, anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let at = self.offsets.byte(span.start.index());
                let Some(&(_, size)) = self.anchors.get(&anchor) else {
                    return Err(Fault::new(at, "this alias refers to a value that contains it"));
                };
                if self.open.len() + size.depth > DEEPEST {
                    return Err(too_deep(at));
                }
                self.copy(size, at)?;
                let node = self.anchors[&anchor].0.clone();
                self.finished(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn mark(&mut self, span: &Span) -> Mark {
        self.marks += 1;
        let byte = |index| self.offsets.byte(index) as u32;
        Mark { number: self.marks, start: byte(span.start.index()), end: byte(span.end.index()) }
    }

    fn begin(&mut self, value: Value, anchor: usize, span: &Span) -> Result<(), Fault> {
        let mark = self.mark(span);
        if self.open.len() >= DEEPEST {
            return Err(too_deep(mark.start as usize));
        }
        self.open.push(Open { mark, value, anchor, key: None });
        Ok(())
    }

    /// Counts a copy that is about to be made.
    fn copy(&mut self, size: Size, at: usize) -> Result<(), Fault> {
        self.values += size.values;
        self.copied += size.bytes;
        if self.values > MOST_VALUES {
            return Err(too_many(at));
        }
        if self.copied > MOST_COPIED {
            let most = MOST_COPIED >> 20;
            let what = format!("aliases expand to more than {most} MiB: write the values out");
            return Err(Fault::new(at, what));
        }
        Ok(())
    }

    /// A value is whole: it goes into the list or map that is open, or is the document.
    fn finished(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        self.values += 1;
        let at = node.mark.start as usize;
        self.memory.add(size_of::<Node>(), node.value.text(), at)?;
        if anchor > 0 {
            let size = Size::of(&node);
            self.copy(size, at)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        if self.values > MOST_VALUES {
            return Err(too_many(at));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.value, open.key.take()) {
            (Value::Map(entries), Some((mark, key))) => {
                entries.push(Entry { mark, key, value: node });
            }
            (Value::List(items), _) => items.push(node),
            _ => match node.value {
                Value::Scalar { text, .. } => {
                    self.memory.add(KEY, None, at)?;
                    open.key = Some((node.mark, text));
                }
                _ => return Err(Fault::new(at, "a key must be a word, not a list or map")),
            },
        }
        Ok(())
    }
}

fn too_deep(at: usize) -> Fault {
    Fault::new(at, format!("values are nested more than {DEEPEST} deep"))
}

fn too_many(at: usize) -> Fault {
    Fault::new(at, format!("more than {MOST_VALUES} values, aliases included"))
}

/// What a copy of a value takes.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    values: usize,
    /// Memory, texts and keys included.
    bytes: usize,
    /// Lists and maps inside one another.
    depth: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let mut size = Self::default();
        size.add(node, 0, 0);
        size
    }

    /// Adds a value that stands `above` levels deep, and `more` bytes around it.
    fn add(&mut self, node: &Node, above: usize, more: usize) {
        self.values += 1;
        self.bytes += size_of::<Node>() + more;
        let depth = above + usize::from(!matches!(node.value, Value::Scalar { .. }));
        self.depth = self.depth.max(depth);
        match &node.value {
            Value::List(items) => items.iter().for_each(|item| self.add(item, depth, 0)),
            Value::Map(entries) => entries
                .iter()
                .for_each(|entry| self.add(&entry.value, depth, KEY + entry.key.len())),
            Value::Scalar { text, .. } => self.bytes += text.len(),
        }
    }
}
