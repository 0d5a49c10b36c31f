//! The text that `perf script` prints: for each sample a line with the command, the time and the event, then its
//! frames, innermost first, then an empty line.

use crate::data::{Profile, ValueType};
use crate::error::Error;
use crate::text::{DEEPEST, Gathered};

/// Whether a line begins a sample.
pub fn is(line: &str) -> bool {
    event(line).is_some()
}

/// The event of a sample's first line, and its period if that is printed.
fn event(line: &str) -> Option<(&str, i64)> {
    if line.starts_with([' ', '\t', '#']) {
        // Commands are aligned to the right: up to 15 blanks before a short one.
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if line.starts_with('#')
            || indent > 15
            || bare.starts_with(|c: char| c.is_ascii_hexdigit()) && frame(line).is_some()
        {
            return None;
        }
    }
    let line = line.trim();
    let (rest, name) = line.strip_suffix(':')?.rsplit_once(' ')?;
    let mut words = rest.split_whitespace().rev();
    let last = words.next()?;
    let (period, time) = match last.strip_suffix(':') {
        Some(time) => (1, time),
        None => (last.parse().ok()?, words.next()?.strip_suffix(':')?),
    };
    time.parse::<f64>().ok()?;
    (words.next().is_some() && !name.is_empty()).then_some((name, period))
}

/// A frame: address, symbol without its offset, mapped file.
fn frame(line: &str) -> Option<(u64, &str, &str)> {
    if !line.starts_with([' ', '\t']) {
        return None;
    }
    let (address, rest) = line.trim().split_once(' ')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let (symbol, file) = match rest.rfind(" (") {
        Some(at) => (&rest[..at], rest[at + 2..].strip_suffix(')')?),
        None => (rest, ""),
    };
    let symbol = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    Some((address, symbol.trim(), file))
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
    let kinds = vec![
        ValueType { kind: "samples".into(), unit: "count".into() },
        ValueType { kind: "events".into(), unit: "count".into() },
    ];
    let mut reader = Reader {
        gathered: Gathered::new(kinds),
        period: None,
        stack: Vec::new(),
        inlined: Vec::new(),
    };
    let (mut first_event, mut several) = (None, false);
    for line in text.lines() {
        if let Some((name, period)) = event(line) {
            reader.end()?;
            reader.period = Some(period);
            let name = without_modifiers(name).to_owned();
            several |= first_event.get_or_insert_with(|| name.clone()) != &name;
        } else if reader.period.is_some() {
            match frame(line) {
                Some((address, symbol, file)) => reader.frame(address, symbol, file)?,
                None => reader.end()?,
            }
        }
    }
    reader.end()?;
    let mut profile = reader.gathered.finish();
    if profile.samples.is_empty() {
        return Err(Error::NotAProfile(
            "is text like that of `perf script`, but holds no sample: record with `perf record -g`, then `perf script`",
        ));
    }
    let event = first_event.unwrap_or_default();
    if !several && matches!(event.as_str(), "cpu-clock" | "task-clock") {
        // The period of a clock is time.
        profile.value_types[1] = ValueType { kind: "cpu".into(), unit: "nanoseconds".into() };
    } else if !several {
        profile.value_types[1].kind = event;
    }
    Ok(profile)
}

struct Reader {
    gathered: Gathered,
    /// Of the sample that is being read.
    period: Option<i64>,
    stack: Vec<u32>,
    /// Functions inlined into the frame that comes next, innermost first.
    inlined: Vec<u32>,
}

impl Reader {
    fn frame(&mut self, address: u64, symbol: &str, file: &str) -> Result<(), Error> {
        if self.stack.len() >= DEEPEST || self.inlined.len() >= DEEPEST {
            return Ok(());
        }
        if file == "inlined" {
            self.inlined.push(self.gathered.function(symbol, "")?);
            return Ok(());
        }
        let file = if file == "[unknown]" { "" } else { file };
        let mut functions = std::mem::take(&mut self.inlined);
        if symbol != "[unknown]" && !symbol.is_empty() {
            functions.push(self.gathered.function(symbol, "")?);
        }
        self.stack.push(self.gathered.location(&functions, file, address)?);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some(period) = self.period.take() {
            self.gathered.sample(&self.stack, &[1, period])?;
        }
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
            ("swapper     0 [000] 12.5:     1 cycles:u: ", Some(("cycles:u", 1))),
            ("go 12/14 12.5: cycles: ", Some(("cycles", 1))),
            ("      sh  9  1.25:     250000 task-clock: ", Some(("task-clock", 250_000))),
            ("\t  55d0c0 main+0x1 (/bin/x)", None),
            ("", None),
            ("main;a;b 12", None),
        ] {
            assert_eq!(event(line), expected, "{line}");
        }
    }
}
