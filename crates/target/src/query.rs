//! Parameters of a query, each at most once.

use std::fmt;

/// A parameter that is not what its path takes. The response is 400.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong(pub(crate) String);

impl Wrong {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }
}

/// The `name=value` pairs of a query, in order.
pub(crate) fn pairs(query: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    let parts = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}

/// A whole number between two bounds, both included.
pub(crate) fn whole(name: &str, text: &str, low: u64, high: u64) -> Result<u64, Wrong> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(value) if digits && (low..=high).contains(&value) => Ok(value),
        _ => Err(Wrong::new(format_args!(
            "{name} is a whole number from {low} to {high}, not {}",
            shown(text)
        ))),
    }
}

/// A length of time up to an hour.
pub(crate) fn duration(name: &str, text: &str) -> Result<u64, Wrong> {
    duration_up_to(3600 * model::units::SECOND, name, text)
}

/// A length of time up to a longest one.
pub(crate) fn duration_up_to(longest: u64, name: &str, text: &str) -> Result<u64, Wrong> {
    match model::units::parse_duration(text) {
        Ok(ns) if ns <= longest => Ok(ns),
        _ => Err(Wrong::new(format_args!(
            "{name} is a duration up to {} such as 250us, 10ms or 0.5s, not {}",
            model::units::exact_duration(longest),
            shown(text)
        ))),
    }
}

/// What was given instead, cut short.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    // A request target is ASCII, so every byte is a boundary.
    if text.len() > LONGEST { format!("`{}...`", &text[..LONGEST]) } else { format!("`{text}`") }
}
