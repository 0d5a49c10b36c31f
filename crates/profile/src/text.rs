//! Profiles as text: stacks of names, gathered into a [`Profile`] by the readers of collapsed stacks and of
//! `perf script`.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::data::{Function, Line, Location, MOST_ENTRIES, Mapping, Profile, Samples, ValueType};
use crate::error::Error;

/// Frames of one stack that are kept; deeper ones are cut off at the root, as profilers themselves do.
pub const DEEPEST: usize = 4096;

/// What tells places apart: functions with their lines, the mapped file, the address.
type Place = (Vec<(u32, i64)>, u32, u64);

/// A profile in the making.
#[derive(Debug)]
pub struct Gathered {
    profile: Profile,
    functions: HashMap<(u32, u32), u32, FixedState>,
    mappings: HashMap<String, u32, FixedState>,
    locations: HashMap<Place, u32, FixedState>,
}

impl Gathered {
    /// Nothing yet.
    pub fn new(value_types: Vec<ValueType>) -> Self {
        let samples = Samples::new(value_types.len());
        Self {
            profile: Profile { value_types, samples, ..Profile::default() },
            functions: HashMap::default(),
            mappings: HashMap::default(),
            locations: HashMap::default(),
        }
    }

    /// The function of this name in this file.
    pub fn function(&mut self, name: &str, file: &str) -> Result<u32, Error> {
        let names = &mut self.profile.names;
        let (name, file) = (names.keep(name), names.keep(file));
        let next = self.profile.functions.len();
        let place = *self.functions.entry((name.index(), file.index())).or_insert(next as u32);
        if place as usize == next {
            within(next, "functions")?;
            self.profile.functions.push(Function { name, system_name: name, file, start_line: 0 });
        }
        Ok(place)
    }

    /// The place where these functions are, innermost first, each with its line (0 where unknown), in the mapped file;
    /// without any, at the address.
    pub fn location(
        &mut self,
        functions: &[(u32, i64)],
        file: &str,
        address: u64,
    ) -> Result<u32, Error> {
        let mapping = self.mapping(file)?;
        // An address tells places apart only where no name does.
        let address = if functions.is_empty() { address } else { 0 };
        let next = self.profile.locations.len();
        let key = (functions.to_vec(), mapping.map_or(0, |mapping| mapping + 1), address);
        let place = *self.locations.entry(key).or_insert(next as u32);
        if place as usize == next {
            within(next, "locations")?;
            let line = |(function, line): &(u32, i64)| Line {
                function: *function,
                line: *line,
                column: 0,
            };
            let lines = functions.iter().map(line).collect();
            self.profile.locations.push(Location { mapping, address, lines });
        }
        Ok(place)
    }

    fn mapping(&mut self, file: &str) -> Result<Option<u32>, Error> {
        if file.is_empty() {
            return Ok(None);
        }
        if let Some(place) = self.mappings.get(file) {
            return Ok(Some(*place));
        }
        let next = self.profile.mappings.len();
        within(next, "mapped files")?;
        self.mappings.insert(file.to_owned(), next as u32);
        self.profile.mappings.push(Mapping { file: file.to_owned(), build_id: String::new() });
        Ok(Some(next as u32))
    }

    /// Adds a sample; its stack innermost first.
    pub fn sample(&mut self, stack: &[u32], values: &[i64]) -> Result<(), Error> {
        self.profile.samples.push(&stack[..stack.len().min(DEEPEST)], values, &[])
    }

    /// Says what of the file is not in the profile.
    pub fn note(&mut self, note: String) {
        self.profile.notes.push(note);
    }

    /// The profile.
    pub fn finish(self) -> Profile {
        self.profile
    }
}

fn within(entries: usize, what: &'static str) -> Result<(), Error> {
    match entries < MOST_ENTRIES {
        true => Ok(()),
        false => Err(Error::TooLarge { what, most: MOST_ENTRIES }),
    }
}
