//! What is done to every profile before it is looked at, as pprof does it: frames that the profiler itself calls not
//! worth showing are dropped, names are simplified, and mapped files that are URLs are forgotten.

use regex::Regex;

use crate::data::{Profile, Samples};

/// The profile as it is to be shown.
pub fn uninteresting(mut profile: Profile) -> Profile {
    for function in &mut profile.functions {
        let name = profile.names.text(function.name);
        let system = profile.names.text(function.system_name);
        if !name.is_empty() && name != system {
            continue;
        }
        let simple = simple_name(system);
        function.name = profile.names.keep(&simple);
    }
    let whole = |pattern: &str| Regex::new(&format!("^({pattern})$")).ok();
    if !profile.drop_frames.is_empty()
        && let Some(drop) = whole(&profile.drop_frames)
    {
        let keep = Some(&profile.keep_frames).filter(|keep| !keep.is_empty());
        match keep.map(|keep| whole(keep)) {
            Some(None) => {}
            keep => profile = pruned(profile, &drop, keep.flatten().as_ref()),
        }
    }
    for mapping in &mut profile.mappings {
        let scheme = mapping.file.split_once("://").is_some_and(|(scheme, _)| {
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if mapping.build_id.is_empty() && scheme {
            mapping.file.clear();
        }
    }
    profile
}

/// C++ names without parameters and template arguments, where a name looks like one. What begins with `<` is Rust's way
/// to name a method of a trait, which would lose its type.
fn simple_name(name: &str) -> String {
    let looks = !name.contains(".<")
        && !name.starts_with('<')
        && !name.contains("]).")
        && (name.contains(['<', '>', '[', ']']) || name.contains("::"));
    match looks {
        true => without(&without(name, '(', ')'), '<', '>'),
        false => name.to_owned(),
    }
}

/// The text without what stands between `open` and `close`; from the first that does not match on, as it is.
fn without(text: &str, open: char, close: char) -> String {
    let (mut depth, mut start, mut kept) = (0_u32, 0, String::new());
    for (at, c) in text.char_indices() {
        if c == open {
            if depth == 0 {
                start = kept.len();
            }
            depth += 1;
        } else if c == close {
            if depth == 0 {
                return kept + &text[at..];
            }
            depth -= 1;
            if depth == 0 {
                kept.truncate(start);
                continue;
            }
        }
        kept.push(c);
    }
    kept
}

/// The name without its parameters.
fn without_parameters(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or(name);
    let mut from = 0;
    while let Some(at) = name[from..].find('(').map(|at| from + at) {
        if name[at..].starts_with("(anonymous namespace)") {
            from = at + "(anonymous namespace)".len();
        } else if name[..at].ends_with("operator")
            && name[at..].starts_with("()")
            && at >= from + "operator".len()
        {
            from = at + "()".len();
        } else {
            return &name[..at];
        }
    }
    name
}

/// Cuts stacks beneath what is to be dropped, but never before the first frame that is not.
fn pruned(mut profile: Profile, drop: &Regex, keep: Option<&Regex>) -> Profile {
    let dropped: Vec<bool> = (profile.functions.iter())
        .map(|function| {
            let full = profile.names.text(function.name);
            let name = without_parameters(full);
            !full.is_empty() && drop.is_match(name) && !keep.is_some_and(|keep| keep.is_match(name))
        })
        .collect();
    // Of each location: whether it is cut, and whether nothing of it stays.
    let mut cut = vec![None; profile.locations.len()];
    for (place, location) in profile.locations.iter_mut().enumerate() {
        let found = location.lines.iter().rposition(|line| dropped[line.function as usize]);
        if let Some(found) = found {
            let whole = found + 1 == location.lines.len();
            cut[place] = Some(whole);
            if !whole {
                location.lines.drain(..=found);
            }
        }
    }
    let mut samples = Samples::new(profile.value_types.len());
    for sample in profile.samples.iter() {
        let mut found_user = false;
        let mut stack = sample.stack;
        for (depth, place) in sample.stack.iter().enumerate().rev() {
            match cut[*place as usize] {
                None => found_user = true,
                Some(_) if !found_user => {}
                Some(whole) => {
                    stack = &sample.stack[depth + usize::from(whole)..];
                    break;
                }
            }
        }
        samples.push(stack, sample.values, sample.labels).expect("no more than there were");
    }
    profile.samples = samples;
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_simplified_as_pprof_simplifies_them() {
        for (name, simple) in [
            ("main.(*T).M", "main.(*T).M"),
            ("slices.SortFunc[go.shape.int]", "slices.SortFunc[go.shape.int]"),
            ("foo.(*Bar[...]).Method", "foo.(*Bar[...]).Method"),
            ("std::vector<int>::push(int const&)", "std::vector::push"),
            ("a::b(c", "a::b(c"),
            (
                "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
                "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
            ),
        ] {
            assert_eq!(simple_name(name), simple);
        }
        assert_eq!(
            without_parameters("a::(anonymous namespace)::f(int)"),
            "a::(anonymous namespace)::f"
        );
        assert_eq!(without_parameters("X::operator()(int)"), "X::operator()");
    }
}
