//! The text that `perf script` prints: for each sample a line with the command, the time and the event, then its
//! frames, innermost first, then an empty line. Without call graphs the one frame stands in the sample's line.

use crate::data::{Profile, ValueType};
use crate::error::Error;
use crate::text::{DEEPEST, Gathered};

/// Events that are told apart, the first ones. Samples of others count as samples only.
const MOST_EVENTS: usize = 8;

/// Whether a line begins a sample.
pub fn is(line: &str) -> bool {
    sample(line).is_some()
}

/// A sample's first line: its event, its period if that is printed, and its frame if that stands there too.
fn sample(line: &str) -> Option<(&str, Option<i64>, Option<Frame<'_>>)> {
    if let Some((name, period)) = event(line) {
        return Some((name, period, None));
    }
    // An event's name may hold colons of its own, as `cycles:u`.
    line.match_indices(": ").find_map(|(at, _)| {
        let (name, period) = event(&line[..=at])?;
        Some((name, period, Some(Frame::of(line[at + 1..].trim())?)))
    })
}

/// The event of a sample's first line, and its period if that is printed.
fn event(line: &str) -> Option<(&str, Option<i64>)> {
    // Frames begin with a tabulator. Commands are aligned to the right, with blanks.
    if line.starts_with(['\t', '#']) {
        return None;
    }
    let (rest, name) = line.trim().strip_suffix(':')?.rsplit_once(' ')?;
    let mut words = rest.split_whitespace().rev();
    let last = words.next()?;
    let (period, time) = match last.strip_suffix(':') {
        Some(time) => (None, time),
        None => (Some(last.parse().ok()?), words.next()?.strip_suffix(':')?),
    };
    time.parse::<f64>().ok()?;
    (words.next().is_some() && !name.is_empty()).then_some((name, period))
}

/// A frame: address, symbol without its offset, mapped file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame<'a> {
    address: u64,
    symbol: &'a str,
    file: &'a str,
}

impl<'a> Frame<'a> {
    /// Of a line of its own.
    fn of_line(line: &'a str) -> Option<Self> {
        line.starts_with([' ', '\t']).then(|| Self::of(line.trim()))?
    }

    fn of(text: &'a str) -> Option<Self> {
        let (address, rest) = text.split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let (symbol, file) = file_of(rest);
        let symbol = match symbol.rsplit_once("+0x") {
            Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
            _ => symbol,
        };
        Some(Self { address, symbol: symbol.trim(), file })
    }
}

/// A symbol, and the mapped file in brackets behind it. `(deleted)` says that a newer file has its name.
fn file_of(text: &str) -> (&str, &str) {
    let inside = text.strip_suffix(')').map(|text| text.strip_suffix(" (deleted)").unwrap_or(text));
    inside.and_then(|text| text.rsplit_once(" (")).unwrap_or((text, ""))
}

/// An event's name without the letters that say where it is counted: `cycles` of `cycles:uppp`.
fn without_modifiers(name: &str) -> &str {
    match name.trim_end_matches(':').rsplit_once(':') {
        Some((event, letters)) if letters.chars().all(|c| "ukhGHpPSDWebIR".contains(c)) => event,
        _ => name.trim_end_matches(':'),
    }
}

/// Reads the text.
///
/// # Errors
/// When it holds no sample, or more names than are read.
pub fn read(text: &str) -> Result<Profile, Error> {
    let events = Events::of(text);
    let mut kinds = vec![ValueType { kind: "samples".into(), unit: "count".into() }];
    kinds.extend(events.kinds());
    let mut reader = Reader {
        values: vec![0; kinds.len()],
        gathered: Gathered::new(kinds),
        began: false,
        stack: Vec::new(),
        inlined: Vec::new(),
    };
    for line in text.lines() {
        if line.trim().is_empty() {
            reader.end()?;
        } else if let Some((name, period, frame)) = sample(line) {
            reader.end()?;
            reader.began = true;
            reader.values[0] = 1;
            if let (Some(at), Some(period)) = (events.place(name), period) {
                reader.values[1 + at] = period;
            }
            frame.map_or(Ok(()), |frame| reader.frame(frame))?;
        } else if let Some(frame) = Frame::of_line(line).filter(|_| reader.began) {
            reader.frame(frame)?;
        }
    }
    reader.end()?;
    let mut profile = reader.gathered.finish();
    if profile.samples.is_empty() {
        return Err(Error::NotAProfile(
            "is text like that of `perf script`, but holds no sample: record with `perf record -g`, then `perf script`",
        ));
    }
    profile.default_kind =
        profile.value_types.get(1).map_or_else(String::new, |first| first.kind.clone());
    Ok(profile)
}

/// The events of all samples.
#[derive(Debug, Default)]
struct Events<'a> {
    /// Their names, the first ones, in the order in which they come.
    names: Vec<&'a str>,
    /// Whether every sample has its period. Periods that are not printed are no ones.
    with_periods: bool,
}

impl<'a> Events<'a> {
    fn of(text: &'a str) -> Self {
        let mut events = Self { names: Vec::new(), with_periods: true };
        for (name, period, _) in text.lines().filter_map(sample) {
            let name = without_modifiers(name);
            events.with_periods &= period.is_some();
            if events.names.len() < MOST_EVENTS && !events.names.contains(&name) {
                events.names.push(name);
            }
        }
        events
    }

    /// What their periods count: of a clock nanoseconds. Those of different events do not add up.
    fn kinds(&self) -> Vec<ValueType> {
        let is_clock = |name: &str| matches!(name, "cpu-clock" | "task-clock");
        let alone = self.names.len() == 1;
        let names = self.names.iter().filter(|_| self.with_periods);
        let kind = names.map(|name| ValueType {
            kind: if alone && is_clock(name) { "cpu" } else { name }.to_owned(),
            unit: if is_clock(name) { "nanoseconds" } else { "count" }.to_owned(),
        });
        kind.collect()
    }

    /// Which of the kinds the period of a sample of this event is.
    fn place(&self, name: &str) -> Option<usize> {
        let name = without_modifiers(name);
        self.names.iter().position(|known| *known == name).filter(|_| self.with_periods)
    }
}

struct Reader {
    gathered: Gathered,
    /// Whether a sample is being read, and its values.
    began: bool,
    values: Vec<i64>,
    stack: Vec<u32>,
    /// Functions inlined into the frame that comes next, innermost first.
    inlined: Vec<(u32, i64)>,
}

impl Reader {
    fn frame(&mut self, Frame { address, symbol, file }: Frame<'_>) -> Result<(), Error> {
        if self.stack.len() >= DEEPEST || self.inlined.len() >= DEEPEST {
            return Ok(());
        }
        if file == "inlined" {
            self.inlined.push((self.gathered.function(symbol, "")?, 0));
            return Ok(());
        }
        let file = if file == "[unknown]" { "" } else { file };
        let mut functions = std::mem::take(&mut self.inlined);
        if symbol != "[unknown]" && !symbol.is_empty() {
            functions.push((self.gathered.function(symbol, "")?, 0));
        }
        self.stack.push(self.gathered.location(&functions, file, address)?);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.began) {
            self.gathered.sample(&self.stack, &self.values)?;
        }
        self.values.fill(0);
        self.stack.clear();
        self.inlined.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
python3 812 [001] 93.127:     250000 cpu-clock:pppH: 
\t    55d0c0 inner (inlined)
\t    55d0c0 outer+0x1a (/usr/bin/python3.11)
\tffff800081 do_syscall_64+0x5f ([kernel.kallsyms])

worker one 812/813 93.128:     250000 cpu-clock:pppH: 
\t        7f [unknown] (/usr/lib/libc.so.6)

";

    #[test]
    fn samples_have_inlined_frames_and_places_without_symbols() {
        let profile = read(TEXT).unwrap();
        assert_eq!(profile.samples.len(), 2);
        assert_eq!(
            profile.value_types[1],
            ValueType { kind: "cpu".into(), unit: "nanoseconds".into() }
        );
        let first = profile.samples.sample(0);
        assert_eq!(first.values, [1, 250_000]);
        let names: Vec<Vec<&str>> = (first.stack.iter())
            .map(|place| &profile.locations[*place as usize].lines)
            .map(|lines| lines.iter().map(|line| profile.function_name(*line)).collect())
            .collect();
        assert_eq!(names, [vec!["inner", "outer"], vec!["do_syscall_64"]]);
        let second = &profile.locations[profile.samples.sample(1).stack[0] as usize];
        assert!(second.lines.is_empty() && second.address == 0x7f);
    }

    #[test]
    fn first_lines_are_told_from_frames() {
        for (line, expected) in [
            ("swapper     0 [000] 12.5:     1 cycles:u: ", Some(("cycles:u", Some(1)))),
            ("go 12/14 12.5: cycles: ", Some(("cycles", None))),
            ("      sh  9  1.25:     250000 task-clock: ", Some(("task-clock", Some(250_000)))),
            // A command of hexadecimal digits is no address.
            (
                "              ab  9  1.25:     250000 task-clock: ",
                Some(("task-clock", Some(250_000))),
            ),
            ("\t  55d0c0 main+0x1 (/bin/x)", None),
            ("", None),
            ("main;a;b 12", None),
        ] {
            assert_eq!(event(line), expected, "{line}");
        }
    }

    fn first_stack(profile: &Profile) -> Vec<&str> {
        let lines = |place: &u32| &profile.locations[*place as usize].lines;
        let stack = profile.samples.sample(0).stack.iter().flat_map(lines);
        stack.map(|line| profile.function_name(*line)).collect()
    }

    fn kinds(profile: &Profile) -> Vec<(&str, &str)> {
        profile.value_types.iter().map(|value| (&*value.kind, &*value.unit)).collect()
    }

    #[test]
    fn samples_without_periods_are_no_nanoseconds() {
        let profile = read("go 12/14 12.5: cpu-clock: \n\t 1 main+0x1 (/bin/x)\n\n").unwrap();
        assert_eq!(kinds(&profile), [("samples", "count")]);
        assert_eq!(profile.samples.sample(0).values, [1]);
    }

    #[test]
    fn periods_of_different_events_are_not_added() {
        let text = "go 1 1.5: 100 cycles:u: \n\t 1 main+0x1 (/bin/x)\n\n\
                    go 1 1.6: 7 cache-misses:u: \n\t 1 main+0x1 (/bin/x)\n\n";
        let profile = read(text).unwrap();
        assert_eq!(
            kinds(&profile),
            [("samples", "count"), ("cycles", "count"), ("cache-misses", "count")]
        );
        assert_eq!([0, 1, 2].map(|kind| profile.total(kind)), [2, 100, 7]);
        assert_eq!([0, 1, 2].map(|kind| profile.looks(kind)), [Some(2), Some(1), Some(1)]);
        assert_eq!(profile.kind(None), Ok(1));
    }

    #[test]
    fn a_program_that_was_built_anew_keeps_its_names() {
        for (text, symbol, file) in [
            ("7f main+0x1 (/srv/api (deleted))", "main", "/srv/api"),
            ("7f [unknown] (/srv/api (deleted))", "[unknown]", "/srv/api"),
            ("7f main.(*T).f+0x1f (/srv/a b)", "main.(*T).f", "/srv/a b"),
            ("7f operator new(unsigned long)", "operator new(unsigned long)", ""),
            ("7f outer (inlined)", "outer", "inlined"),
        ] {
            assert_eq!(Frame::of(text), Some(Frame { address: 0x7f, symbol, file }), "{text}");
        }
    }

    #[test]
    fn lines_between_frames_end_no_stack() {
        let text = "api 1 1.5: 100 cycles: \n\t 1 inner+0x1 (/bin/x)\n  main.c:12\n\t 2 main+0x1 (/bin/x)\n";
        assert_eq!(first_stack(&read(text).unwrap()), ["inner", "main"]);
    }

    #[test]
    fn samples_without_call_graphs_have_one_frame() {
        let text = "api 1 1.5: 100 cycles:u:      55d0 main+0x1 (/bin/x)\n\
                    api 1 1.6: 50 cycles:u:      55d0 work+0x1 (/bin/x)\n            \
                    cafe 1 1.7: 5 cycles:u:      55d0 brew+0x1 (/bin/y)\n";
        let profile = crate::read(text.as_bytes()).unwrap();
        assert_eq!((first_stack(&profile), profile.total(1)), (vec!["main"], 155));
    }
}
