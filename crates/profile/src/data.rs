//! What a profile is, whatever format it came in: samples, each a stack of locations with their inlined calls and
//! one value of each kind. Readers make it, filters make another of it, listings read it.

use crate::error::Error;
use crate::names::{Name, Names};

/// Locations, functions, mappings or strings of a profile at most, each.
pub const MOST_ENTRIES: usize = 1 << 21;
/// Samples of a profile at most.
pub const MOST_SAMPLES: usize = 1 << 22;
/// Frames in all stacks together (of a location its inlined calls too), and values of all samples together, at most.
pub const MOST_IN_SAMPLES: usize = 1 << 25;
/// Bytes at most of the names that lines, mapped files, comments and kinds of values have, each counted wherever it is
/// used: listings write them out.
pub const MOST_NAMED: usize = 1 << 30;

/// A kind of value, such as `cpu` in `nanoseconds`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueType {
    /// What is counted.
    pub kind: String,
    /// In what unit.
    pub unit: String,
}

/// A file that was mapped into the process, mostly the program itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Its path.
    pub file: String,
    /// Its build identifier, if it has one.
    pub build_id: String,
}

/// A function of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Function {
    /// As people write it.
    pub name: Name,
    /// As the linker writes it.
    pub system_name: Name,
    /// Its source file.
    pub file: Name,
    /// The line at which it begins; 0 where unknown.
    pub start_line: i64,
}

/// A line of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Line {
    /// An index into [`Profile::functions`].
    pub function: u32,
    /// The line; 0 where unknown.
    pub line: i64,
    /// The column; 0 where unknown.
    pub column: i64,
}

/// A place in the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// An index into [`Profile::mappings`].
    pub mapping: Option<u32>,
    /// The instruction's address; 0 where unknown.
    pub address: u64,
    /// The inlined calls, innermost first, and the function that they were inlined into. None where the place has
    /// no symbol.
    pub lines: Vec<Line>,
}

/// A label of a sample: a key with a text or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// Its key.
    pub key: Name,
    /// Its text; empty where it is a number.
    pub text: Name,
    /// Its number.
    pub number: i64,
    /// The unit of the number.
    pub unit: Name,
}

/// The samples, in few large vectors: profiles hold hundreds of thousands of them.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    kinds: usize,
    stacks: Vec<u32>,
    stack_ends: Vec<u32>,
    values: Vec<i64>,
    labels: Vec<Label>,
    label_ends: Vec<u32>,
}

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// Indexes into [`Profile::locations`], the innermost first.
    pub stack: &'a [u32],
    /// One value of each kind.
    pub values: &'a [i64],
    /// Its labels.
    pub labels: &'a [Label],
}

impl Samples {
    /// No samples yet, of this many kinds of values.
    pub fn new(kinds: usize) -> Self {
        Self { kinds, ..Self::default() }
    }

    /// Adds a sample.
    ///
    /// # Errors
    /// When there are too many.
    ///
    /// # Panics
    /// When it has not one value of each kind.
    pub fn push(&mut self, stack: &[u32], values: &[i64], labels: &[Label]) -> Result<(), Error> {
        assert_eq!(values.len(), self.kinds, "a value of each kind");
        let too_large = |what, most| Err(Error::TooLarge { what, most });
        if self.len() >= MOST_SAMPLES {
            return too_large("samples", MOST_SAMPLES);
        }
        if self.stacks.len() + stack.len() > MOST_IN_SAMPLES {
            return too_large("locations in its stacks", MOST_IN_SAMPLES);
        }
        if self.values.len() + values.len() > MOST_IN_SAMPLES {
            return too_large("values", MOST_IN_SAMPLES);
        }
        if self.labels.len() + labels.len() > MOST_SAMPLES {
            return too_large("labels", MOST_SAMPLES);
        }
        self.stacks.extend_from_slice(stack);
        self.values.extend_from_slice(values);
        self.labels.extend_from_slice(labels);
        self.stack_ends.push(self.stacks.len() as u32);
        self.label_ends.push(self.labels.len() as u32);
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.stack_ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stack_ends.is_empty()
    }

    /// One of them.
    ///
    /// # Panics
    /// When there is none of that index.
    pub fn sample(&self, index: usize) -> Sample<'_> {
        let start = |ends: &[u32]| index.checked_sub(1).map_or(0, |before| ends[before] as usize);
        Sample {
            stack: &self.stacks[start(&self.stack_ends)..self.stack_ends[index] as usize],
            values: &self.values[index * self.kinds..(index + 1) * self.kinds],
            labels: &self.labels[start(&self.label_ends)..self.label_ends[index] as usize],
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Sample<'_>> {
        (0..self.len()).map(|index| self.sample(index))
    }
}

/// A profile.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The kinds of values that every sample has.
    pub value_types: Vec<ValueType>,
    /// The kind to show where none is asked for; empty for the last.
    pub default_kind: String,
    /// What the period counts.
    pub period_type: ValueType,
    /// Events between two samples.
    pub period: i64,
    /// When it was taken, in nanoseconds since 1970; 0 where unknown.
    pub time_ns: i64,
    /// How long it took; 0 where unknown.
    pub duration_ns: i64,
    /// Lines to show with it.
    pub comments: Vec<String>,
    /// What of its file is not in it.
    pub notes: Vec<String>,
    /// Where its documentation is.
    pub documentation: String,
    /// Frames not worth showing, as a regular expression over whole names; their callees go with them.
    pub drop_frames: String,
    /// Frames to keep although they match [`Self::drop_frames`].
    pub keep_frames: String,
    /// Mapped files.
    pub mappings: Vec<Mapping>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Places.
    pub locations: Vec<Location>,
    /// Samples.
    pub samples: Samples,
    /// All strings.
    pub names: Names,
}

impl Profile {
    /// The index of the kind of values that is asked for: by its name or number, or the profile's default.
    ///
    /// # Errors
    /// When there is none.
    pub fn kind(&self, asked: Option<&str>) -> Result<usize, Error> {
        let known = || self.value_types.iter().map(|value| value.kind.clone()).collect::<Vec<_>>();
        let missing = |asked: &str| Error::NoSuchValue { asked: asked.to_owned(), known: known() };
        let place = |name: &str| self.value_types.iter().position(|value| value.kind == name);
        let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
            let default = Some(&self.default_kind).filter(|name| !name.is_empty());
            let last = self.value_types.len().checked_sub(1);
            return default.and_then(|name| place(name)).or(last).ok_or_else(|| missing("samples"));
        };
        if let Ok(number) = asked.parse::<usize>() {
            return if number < self.value_types.len() { Ok(number) } else { Err(missing(asked)) };
        }
        // Heap profiles of old call `inuse_space` just `space`.
        let short = asked.strip_prefix("inuse_").unwrap_or(asked);
        place(asked).or_else(|| place(short)).ok_or_else(|| missing(asked))
    }

    /// How often the profiler looked at values of a kind, where the profile says: its first kind, if that counts samples. Of
    /// several events each sample is of one.
    pub fn looks(&self, kind: usize) -> Option<u64> {
        let first = self.value_types.first()?;
        let counts = first.kind == "samples" && first.unit == "count";
        let of_kind = self.samples.iter().filter(|sample| sample.values[kind] != 0);
        let looks = of_kind.map(|sample| sample.values[0].wrapping_abs());
        counts.then(|| u64::try_from(looks.fold(0, i64::wrapping_add)).unwrap_or(0))
    }

    /// The sum of the samples' absolute values of one kind.
    pub fn total(&self, kind: usize) -> i64 {
        let values = self.samples.iter().map(|sample| sample.values[kind].wrapping_abs());
        values.fold(0, i64::wrapping_add)
    }

    /// The name of a line's function.
    pub fn function_name(&self, line: Line) -> &str {
        self.names.text(self.functions[line.function as usize].name)
    }
}
