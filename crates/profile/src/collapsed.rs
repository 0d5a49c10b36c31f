//! Collapsed stacks, as flame-graph scripts write them: a line for each stack, its frames from the root on with
//! semicolons between them, then a blank and a count.
//!
//! Frames of py-spy are `function (file.py:12)`: file and line are taken apart, so that a function is one whatever its
//! line, and its file tells whose it is. The marks that scripts and async-profiler put behind names (`read_[k]`) say how
//! code was compiled and are left out.

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
/// When too many lines are not stacks, or there are more names than are read.
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
            let (name, file, line) = placed(without_mark(frame.trim()));
            let function = gathered.function(name, file)?;
            stack.push(gathered.location(&[(function, line)], "", 0)?);
        }
        gathered.sample(&stack, &[count])?;
    }
    if bad * 10 > lines {
        return Err(Error::NotAProfile(
            "is text, but over a tenth of its lines are not stacks: collapsed stacks are lines such as `main;work;read 12`",
        ));
    }
    if bad > 0 {
        gathered.note(format!("{bad} of the {lines} lines are not stacks: they are left out"));
    }
    Ok(gathered.finish())
}

/// A frame without the mark of its kind.
fn without_mark(frame: &str) -> &str {
    const MARKS: [&str; 5] = ["_[k]", "_[i]", "_[j]", "_[0]", "_[1]"];
    MARKS.iter().find_map(|mark| frame.strip_suffix(mark)).unwrap_or(frame)
}

/// A frame's function, source file and line; of a frame that names no file, the whole of it.
fn placed(frame: &str) -> (&str, &str, i64) {
    let parts = || {
        let (name, place) = frame.strip_suffix(')')?.rsplit_once(" (")?;
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (file, line.parse::<i64>().ok().filter(|line| *line >= 0)?),
            None if place.ends_with(".py") => (place, 0),
            None => return None,
        };
        let base = file.rsplit('/').next().unwrap_or(file);
        let is_file = base.contains('.') || base.ends_with('>');
        (is_file && !name.is_empty()).then_some((name, file, line))
    };
    parts().unwrap_or((frame, "", 0))
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

    #[test]
    fn lines_that_are_left_out_are_reported() {
        let ten = "main;a 1\n".repeat(10);
        assert!(read(&ten).unwrap().notes.is_empty());
        let notes = read(&(ten + "and more\n")).unwrap().notes;
        assert_eq!(notes, ["1 of the 11 lines are not stacks: they are left out"]);
        let why = read("main;a 1\nmain;b 1\nand more\n").unwrap_err().to_string();
        assert!(why.contains("over a tenth"), "{why}");
    }

    #[test]
    fn frames_with_files_and_marks_are_one_function() {
        let text = "<module> (app.py:90);get (shop/app.py:12) 3\n\
                    <module> (app.py:90);get (shop/app.py:14) 4\n\
                    run_[j];read_[k] 5\n\
                    run_[i];f (x:1) 1\n";
        let profile = read(text).unwrap();
        let text = |name| profile.names.text(name);
        let functions: Vec<_> =
            profile.functions.iter().map(|f| (text(f.name), text(f.file))).collect();
        let expected = [
            ("get", "shop/app.py"),
            ("<module>", "app.py"),
            ("read", ""),
            ("run", ""),
            ("f (x:1)", ""),
        ];
        assert_eq!(functions, expected);
        let lines: Vec<i64> = profile.locations.iter().map(|place| place.lines[0].line).collect();
        assert_eq!(lines, [12, 90, 14, 0, 0, 0]);
    }
}
