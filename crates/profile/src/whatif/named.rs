//! Functions by the names that people give them.

use regex::Regex;

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

/// Names like the one that was asked for.
pub fn near(profile: &Profile, functions: &Functions, name: &str) -> Vec<String> {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let Ok(like) = Regex::new(&format!("(?i){}", regex::escape(last))) else { return Vec::new() };
    let names = functions.known.iter().map(|known| profile.names.text(known.name));
    names.filter(|name| like.is_match(name)).take(SUGGESTED).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
