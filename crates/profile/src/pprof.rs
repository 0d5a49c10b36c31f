//! pprof's profiles: protocol buffers as `profile.proto` of github.com/google/pprof defines them.
//!
//! Read in two passes, because samples come before the tables that they point into: first strings, functions and
//! locations, then samples.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::data::{
    Function, Label, Line, Location, MOST_ENTRIES, MOST_IN_SAMPLES, MOST_NAMED, Mapping, Profile,
    Samples, ValueType,
};
use crate::error::Error;
use crate::names::Name;
use crate::protobuf::{FieldValue, Fields};

type Places = HashMap<u64, u32, FixedState>;

/// Reads an unpacked profile.
///
/// # Errors
/// When it is cut off, points outside of its tables, or holds more than is read.
pub fn read(bytes: &[u8]) -> Result<Profile, Error> {
    let mut reader = Reader::default();
    reader.tables(bytes)?;
    reader.resolve()?;
    reader.samples(bytes)?;
    Ok(reader.profile)
}

/// A line whose function is still an identifier.
#[derive(Debug, Clone, Copy)]
struct RawLine {
    function: u64,
    line: i64,
    column: i64,
}

#[derive(Debug, Default)]
struct Reader {
    profile: Profile,
    strings: Vec<Name>,
    value_types: Vec<[i64; 2]>,
    period_type: [i64; 2],
    /// Indexes of strings: drop frames, keep frames, default kind, documentation.
    texts: [i64; 4],
    comments: Vec<i64>,
    /// Identifier, file, build identifier.
    mappings: Vec<(u64, i64, i64)>,
    /// Identifier, name, system name, file, first line.
    functions: Vec<(u64, [i64; 3], i64)>,
    /// Identifier, mapping, address, and the end of its lines in `lines`.
    locations: Vec<(u64, u64, u64, usize)>,
    lines: Vec<RawLine>,
    location_places: Places,
    /// Bytes of names, counted wherever they are used.
    named: usize,
}

/// Refuses one entry more than is read.
fn room<T>(entries: &[T], what: &'static str) -> Result<(), Error> {
    within(entries, MOST_ENTRIES - 1, what)
}

fn within<T>(entries: &[T], most: usize, what: &'static str) -> Result<(), Error> {
    if entries.len() > most { Err(Error::TooLarge { what, most }) } else { Ok(()) }
}

impl Reader {
    fn tables(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut fields = Fields::of(bytes);
        while let Some((number, held)) = fields.next()? {
            match number {
                1 => {
                    room(&self.value_types, "kinds of values")?;
                    self.value_types.push(pair(held)?);
                }
                3 => self.mapping(held)?,
                4 => self.location(held)?,
                5 => self.function(held)?,
                6 => self.string(held)?,
                7 => self.texts[0] = held.signed()?,
                8 => self.texts[1] = held.signed()?,
                9 if self.profile.time_ns != 0 => {
                    return Err(fields.damaged("two profiles in one file"));
                }
                9 => self.profile.time_ns = held.signed()?,
                10 => self.profile.duration_ns = held.signed()?,
                11 => self.period_type = pair(held)?,
                12 => self.profile.period = held.signed()?,
                13 => Fields::numbers(held, |number| {
                    room(&self.comments, "comments")?;
                    self.comments.push(number as i64);
                    Ok(())
                })?,
                14 => self.texts[2] = held.signed()?,
                15 => self.texts[3] = held.signed()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn string(&mut self, held: FieldValue<'_>) -> Result<(), Error> {
        let bytes = held.message()?;
        room(&self.strings, "strings")?;
        if self.strings.is_empty() && !bytes.bytes().is_empty() {
            return Err(bytes.damaged("its first string is not empty"));
        }
        let text = String::from_utf8_lossy(bytes.bytes());
        self.strings.push(self.profile.names.keep(&text));
        Ok(())
    }

    fn mapping(&mut self, held: FieldValue<'_>) -> Result<(), Error> {
        room(&self.mappings, "mappings")?;
        let mut fields = held.message()?;
        let mut mapping = (0, 0, 0);
        while let Some((number, held)) = fields.next()? {
            match number {
                1 => mapping.0 = held.number()?,
                5 => mapping.1 = held.signed()?,
                6 => mapping.2 = held.signed()?,
                _ => {}
            }
        }
        self.mappings.push(mapping);
        Ok(())
    }

    fn function(&mut self, held: FieldValue<'_>) -> Result<(), Error> {
        room(&self.functions, "functions")?;
        let mut fields = held.message()?;
        let mut function = (0, [0; 3], 0);
        while let Some((number, held)) = fields.next()? {
            match number {
                1 => function.0 = held.number()?,
                2 => function.1[0] = held.signed()?,
                3 => function.1[1] = held.signed()?,
                4 => function.1[2] = held.signed()?,
                5 => function.2 = held.signed()?,
                _ => {}
            }
        }
        self.functions.push(function);
        Ok(())
    }

    fn location(&mut self, held: FieldValue<'_>) -> Result<(), Error> {
        room(&self.locations, "locations")?;
        let mut fields = held.message()?;
        let mut location = (0, 0, 0, 0);
        while let Some((number, held)) = fields.next()? {
            match number {
                1 => location.0 = held.number()?,
                2 => location.1 = held.number()?,
                3 => location.2 = held.number()?,
                4 => {
                    room(&self.lines, "lines")?;
                    self.lines.push(line(held)?);
                }
                _ => {}
            }
        }
        location.3 = self.lines.len();
        self.locations.push(location);
        Ok(())
    }

    fn name(&self, index: i64) -> Result<Name, Error> {
        let place = usize::try_from(index).ok();
        // A profile without any string has names all the same: empty ones.
        if index == 0 {
            return Ok(Name::default());
        }
        place.and_then(|place| self.strings.get(place)).copied().ok_or_else(|| Error::Damaged {
            what: format!("string {index} of {}", self.strings.len()),
            at: 0,
        })
    }

    /// Counts a use of these names.
    fn uses(&mut self, names: &[Name]) -> Result<(), Error> {
        self.named += names.iter().map(|name| self.profile.names.text(*name).len()).sum::<usize>();
        match self.named <= MOST_NAMED {
            true => Ok(()),
            false => Err(Error::TooLarge { what: "bytes of names", most: MOST_NAMED }),
        }
    }

    fn text(&mut self, index: i64) -> Result<String, Error> {
        let name = self.name(index)?;
        self.uses(&[name])?;
        Ok(self.profile.names.text(name).to_owned())
    }

    fn value_type(&mut self, [kind, unit]: [i64; 2]) -> Result<ValueType, Error> {
        Ok(ValueType { kind: self.text(kind)?, unit: self.text(unit)? })
    }

    /// From identifiers and indexes to places in the tables.
    fn resolve(&mut self) -> Result<(), Error> {
        for pair in std::mem::take(&mut self.value_types) {
            let value_type = self.value_type(pair)?;
            self.profile.value_types.push(value_type);
        }
        if self.profile.value_types.is_empty() {
            return Err(Error::Damaged { what: "it has no kinds of values".into(), at: 0 });
        }
        self.profile.period_type = self.value_type(self.period_type)?;
        self.profile.drop_frames = self.text(self.texts[0])?;
        self.profile.keep_frames = self.text(self.texts[1])?;
        self.profile.default_kind = self.text(self.texts[2])?;
        self.profile.documentation = self.text(self.texts[3])?;
        for index in std::mem::take(&mut self.comments) {
            let comment = self.text(index)?;
            self.profile.comments.push(comment);
        }
        let mut mappings = Places::default();
        for (place, (id, file, build_id)) in
            std::mem::take(&mut self.mappings).into_iter().enumerate()
        {
            unique(&mut mappings, id, place, "mapping")?;
            let mapping = Mapping { file: self.text(file)?, build_id: self.text(build_id)? };
            self.profile.mappings.push(mapping);
        }
        let mut functions = Places::default();
        for (place, (id, names, start_line)) in
            std::mem::take(&mut self.functions).into_iter().enumerate()
        {
            unique(&mut functions, id, place, "function")?;
            let [name, system_name, file] = names;
            let (name, system_name) = (self.name(name)?, self.name(system_name)?);
            let file = self.name(file)?;
            self.profile.functions.push(Function { name, system_name, file, start_line });
        }
        self.resolve_locations(&mappings, &functions)
    }

    fn resolve_locations(&mut self, mappings: &Places, functions: &Places) -> Result<(), Error> {
        let mut start = 0;
        let raw = std::mem::take(&mut self.lines);
        for (place, (id, mapping, address, end)) in
            std::mem::take(&mut self.locations).into_iter().enumerate()
        {
            unique(&mut self.location_places, id, place, "location")?;
            let mut lines = Vec::with_capacity(end - start);
            for RawLine { function, line, column } in &raw[start..end] {
                let Some(function) = functions.get(function) else {
                    return Err(missing(format!("location {id} is in function {function}")));
                };
                lines.push(Line { function: *function, line: *line, column: *column });
                let Function { name, system_name, file, .. } =
                    self.profile.functions[*function as usize];
                self.uses(&[name, system_name, file])?;
            }
            start = end;
            let mapping = mappings.get(&mapping).copied();
            self.profile.locations.push(Location { mapping, address, lines });
        }
        Ok(())
    }

    fn samples(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let kinds = self.profile.value_types.len();
        let mut samples = Samples::new(kinds);
        let (mut stack, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        let mut frames = 0;
        let mut fields = Fields::of(bytes);
        while let Some((number, held)) = fields.next()? {
            if number != 2 {
                continue;
            }
            stack.clear();
            values.clear();
            labels.clear();
            let mut sample = held.message()?;
            while let Some((number, held)) = sample.next()? {
                match number {
                    1 => Fields::numbers(held, |id| {
                        let place = self.location_places.get(&id);
                        let place = place
                            .ok_or_else(|| missing(format!("a sample is at location {id}")))?;
                        stack.push(*place);
                        frames += self.profile.locations[*place as usize].lines.len().max(1);
                        match frames <= MOST_IN_SAMPLES {
                            true => Ok(()),
                            false => Err(too_many_frames()),
                        }
                    })?,
                    2 => Fields::numbers(held, |number| {
                        values.push(number as i64);
                        within(&values, MOST_ENTRIES, "values in one sample")
                    })?,
                    3 => {
                        labels.extend(self.label(held)?);
                        within(&labels, MOST_ENTRIES, "labels of one sample")?;
                    }
                    _ => {}
                }
            }
            if values.len() != kinds {
                let what =
                    format!("a sample of {} values where there are {kinds} kinds", values.len());
                return Err(fields.damaged(what));
            }
            samples.push(&stack, &values, &labels)?;
        }
        self.profile.samples = samples;
        Ok(())
    }

    fn label(&self, held: FieldValue<'_>) -> Result<Option<Label>, Error> {
        let mut fields = held.message()?;
        let [mut key, mut text, mut number, mut unit] = [0; 4];
        while let Some((field, held)) = fields.next()? {
            match field {
                1 => key = held.signed()?,
                2 => text = held.signed()?,
                3 => number = held.signed()?,
                4 => unit = held.signed()?,
                _ => {}
            }
        }
        let held = text != 0 || number != 0 || unit != 0;
        let label =
            Label { key: self.name(key)?, text: self.name(text)?, number, unit: self.name(unit)? };
        Ok(held.then_some(label))
    }
}

/// Two numbers, as kinds of values are written.
fn pair(held: FieldValue<'_>) -> Result<[i64; 2], Error> {
    let mut fields = held.message()?;
    let mut pair = [0; 2];
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => pair[0] = held.signed()?,
            2 => pair[1] = held.signed()?,
            _ => {}
        }
    }
    Ok(pair)
}

fn line(held: FieldValue<'_>) -> Result<RawLine, Error> {
    let mut fields = held.message()?;
    let mut line = RawLine { function: 0, line: 0, column: 0 };
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => line.function = held.number()?,
            2 => line.line = held.signed()?,
            3 => line.column = held.signed()?,
            _ => {}
        }
    }
    Ok(line)
}

fn too_many_frames() -> Error {
    Error::TooLarge { what: "frames in its stacks", most: MOST_IN_SAMPLES }
}

fn missing(what: String) -> Error {
    Error::Damaged { what: format!("{what}, which is not in it"), at: 0 }
}

fn unique(places: &mut Places, id: u64, place: usize, what: &str) -> Result<(), Error> {
    if id == 0 {
        return Err(Error::Damaged { what: format!("a {what} has the identifier 0"), at: 0 });
    }
    match places.insert(id, place as u32) {
        None => Ok(()),
        Some(_) => Err(Error::Damaged {
            what: format!("two of its {what}s have the identifier {id}"),
            at: 0,
        }),
    }
}
