//! Functions by the names that people give them.

use crate::data::Profile;
use crate::functions::Functions;

/// Names that are suggested.
const SUGGESTED: usize = 4;

/// The functions that a name means. Where none has exactly this name, capital letters do not count.
pub fn named(profile: &Profile, functions: &Functions, name: &str) -> Vec<usize> {
    let text = |at: &usize| profile.names.text(functions.known[*at].name);
    let exact: Vec<usize> =
        (0..functions.known.len()).filter(|at| is_named(text(at), name)).collect();
    if !exact.is_empty() {
        return exact;
    }
    let lower = name.to_lowercase();
    (0..functions.known.len()).filter(|at| is_named(&text(at).to_lowercase(), &lower)).collect()
}

/// Whether a function is meant by a name: the whole of it, or what follows its last slash, or its end, closures in it
/// included.
fn is_named(function: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let matches = |text: &str| {
        text.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '-']))
    };
    let plain = function.split('[').next().unwrap_or(function);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    matches(function)
        || matches(&function[from..])
        || plain[from..]
            .match_indices(['.', ':'])
            .any(|(at, _)| matches(&function[from + at + 1..]))
}

/// Names like the one that was asked for: those that have its last part in them, then those with a part that is spelt
/// nearly as that.
pub fn near(profile: &Profile, functions: &Functions, name: &str) -> Vec<String> {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name).to_lowercase();
    let names = functions.known.iter().map(|known| profile.names.text(known.name));
    let mut near: Vec<(usize, &str)> =
        names.filter_map(|name| Some((distance(&last, name)?, name))).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.iter().take(SUGGESTED).map(|(_, name)| (*name).to_owned()).collect()
}

/// How many letters a part of a function's name is off; none where that is more than a third of them.
fn distance(last: &str, function: &str) -> Option<usize> {
    let function = function.to_lowercase();
    if function.contains(last) {
        return Some(0);
    }
    let parts = function.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let nearest = parts.map(|part| strsim::damerau_levenshtein(last, part)).min()?;
    (nearest * 3 <= last.chars().count()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_spelt_nearly_alike_are_near() {
        for (last, expected) in
            [("logger", Some(0)), ("loger", Some(1)), ("lagre", None), ("", Some(0))]
        {
            assert_eq!(distance(last, "api/middleware.Logger.func1"), expected, "{last}");
        }
    }

    #[test]
    fn names_mean_functions_and_their_closures() {
        let logger = "apiserver/internal/middleware.Logger.func1";
        for (function, name, expected) in [
            (logger, "middleware.Logger", true),
            (logger, "Logger", true),
            (logger, "apiserver/internal/middleware.Logger", true),
            (logger, "Log", false),
            (logger, "ware.Logger", false),
            ("main.(*T).Serve-fm", "(*T).Serve", true),
            ("shop::auth::check", "auth::check", true),
            (logger, "", false),
        ] {
            assert_eq!(is_named(function, name), expected, "{function} {name}");
        }
    }
}
