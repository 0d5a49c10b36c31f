//! Which requests of a log are the API's: not those of bots, not static files, and not what the user excludes.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::hit::Hit;
use crate::words;

/// What is left out and what is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Paths to keep, if any are named: a prefix, or a pattern with `*`.
    pub include: Vec<String>,
    /// Paths to leave out.
    pub exclude: Vec<String>,
    /// Keep the requests of bots.
    pub bots: bool,
    /// Keep static files.
    pub static_files: bool,
}

/// What a request is to the rest of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of the API's.
    Counted,
    StaticFile,
    Bot,
    LeftOut,
}

/// Agents that are remembered.
const MOST_AGENTS: usize = 1 << 15;

/// Sorts requests.
#[derive(Debug)]
pub(crate) struct Sorter {
    filter: Filter,
    /// Whether agents are bots, by their hash.
    agents: HashMap<u64, bool, FixedState>,
}

impl Sorter {
    pub(crate) fn new(filter: &Filter) -> Self {
        Self { filter: filter.clone(), agents: HashMap::default() }
    }

    /// What a request is; `agent` is the hash of its agent.
    pub(crate) fn kind(&mut self, hit: &Hit, agent: u64) -> Kind {
        let filter = &self.filter;
        let matches = |patterns: &[String]| {
            patterns.iter().any(|pattern| is_match(pattern.as_bytes(), hit.path))
        };
        let left_out = !filter.include.is_empty() && !matches(&filter.include)
            || !filter.exclude.is_empty() && matches(&filter.exclude);
        match () {
            () if !filter.bots && self.is_bot(hit.agent, agent) => Kind::Bot,
            () if !self.filter.static_files && is_static(hit) => Kind::StaticFile,
            () if left_out || hit.path == b"*" => Kind::LeftOut,
            () => Kind::Counted,
        }
    }

    fn is_bot(&mut self, agent: &[u8], hash: u64) -> bool {
        if agent.is_empty() {
            return false;
        }
        if let Some(known) = self.agents.get(&hash) {
            return *known;
        }
        let bot = words::is_bot(agent);
        if self.agents.len() < MOST_AGENTS {
            self.agents.insert(hash, bot);
        }
        bot
    }
}

fn is_static(hit: &Hit) -> bool {
    matches!(hit.method, b"GET" | b"HEAD") && words::is_static(hit.path)
}

/// Whether a path begins with a pattern, or is what a pattern with `*` describes.
pub(crate) fn is_match(pattern: &[u8], path: &[u8]) -> bool {
    if !pattern.contains(&b'*') {
        let Some(rest) = path.strip_prefix(pattern) else { return false };
        return rest.is_empty() || pattern.ends_with(b"/") || matches!(rest[0], b'/' | b'.');
    }
    // The last star is tried with more and more text: linear in practice, and bounded by the product of lengths.
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < path.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == path[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_prefixes_of_segments_or_have_stars() {
        for (pattern, path, matches) in [
            ("/api", "/api", true),
            ("/api", "/api/users", true),
            ("/api", "/apis", false),
            ("/api/", "/api/users", true),
            ("*/users/*", "/v1/users/7", true),
            ("*.php", "/a/b.php", true),
            ("*.php", "/a/b.php5", false),
            ("/a*c", "/abcbc", true),
            ("*", "/", true),
        ] {
            assert_eq!(is_match(pattern.as_bytes(), path.as_bytes()), matches, "{pattern} {path}");
        }
    }
}
