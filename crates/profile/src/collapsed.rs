//! Collapsed stacks, as flame-graph scripts write them: a line for each stack, its frames from the root on with
//! semicolons between them, then a blank and a count.

use crate::data::{Profile, ValueType};
use crate::error::Error;
use crate::text::{DEEPEST, Gathered};

/// Whether a line is one.
pub fn is(line: &str) -> bool {
    parts(line).is_some()
}

fn parts(line: &str) -> Option<(&str, i64)> {
    let (stack, count) = line.trim_end().rsplit_once(' ')?;
    let count = count.parse::<i64>().ok().filter(|count| *count >= 0);
    // Some scripts write shares of samples.
    let count = count.or_else(|| {
        let count = line.trim_end().rsplit_once(' ')?.1.parse::<f64>().ok()?;
        (count.is_finite() && count >= 0.0).then_some(count.round() as i64)
    })?;
    (!stack.trim().is_empty()).then_some((stack, count))
}

/// Reads collapsed stacks. Lines that are none are left out, up to every tenth.
///
/// # Errors
/// When too many lines are no stacks, or there are more names than are read.
pub fn read(text: &str) -> Result<Profile, Error> {
    let mut gathered =
        Gathered::new(vec![ValueType { kind: "samples".into(), unit: "count".into() }]);
    let (mut bad, mut lines) = (0, 0);
    let mut stack = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        lines += 1;
        let Some((frames, count)) = parts(line) else {
            bad += 1;
            continue;
        };
        stack.clear();
        for frame in frames.rsplit(';').take(DEEPEST) {
            // perf's script marks kernel frames and inlined ones: `do_syscall_64_[k]`.
            let frame = frame.trim();
            let function = gathered.function(frame, "")?;
            stack.push(gathered.location(&[function], "", 0)?);
        }
        gathered.sample(&stack, &[count])?;
    }
    if bad * 10 > lines {
        return Err(Error::NotAProfile(
            "is text, but most of its lines are no stacks: collapsed stacks are lines such as `main;work;read 12`",
        ));
    }
    Ok(gathered.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_read_from_the_root_on() {
        let profile = read("# by a script\nmain;a b;c 3\nmain;a b 4\n\n").unwrap();
        let sums: Vec<i64> = profile.samples.iter().map(|sample| sample.values[0]).collect();
        assert_eq!(sums, [3, 4]);
        let name = |place: &u32| {
            profile.function_name(profile.locations[*place as usize].lines[0]).to_owned()
        };
        let first: Vec<String> = profile.samples.sample(0).stack.iter().map(name).collect();
        assert_eq!(first, ["c", "a b", "main"]);
        assert_eq!(profile.functions.len(), 3);
    }

    #[test]
    fn other_text_is_refused() {
        assert!(matches!(read("hello\nworld\n"), Err(Error::NotAProfile(_))));
    }
}
