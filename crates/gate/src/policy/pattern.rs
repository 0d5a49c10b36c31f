//! Which requests a route takes: hosts, methods, and paths by prefix or template.

use std::fmt;

use crate::escapes;

/// A host that a route is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// All hosts.
    Any,
    /// This one, in lower case.
    Exact(String),
    /// All hosts below this domain, in lower case and with its leading dot, such as `.example.com`.
    Below(String),
}

impl Host {
    /// The more it is, the narrower.
    pub fn narrowness(&self) -> usize {
        match self {
            Self::Any => 0,
            Self::Below(domain) => domain.len(),
            Self::Exact(_) => usize::MAX,
        }
    }

    /// Whether it matches `host`, in any case.
    pub fn takes(&self, host: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => host.eq_ignore_ascii_case(name.as_bytes()),
            Self::Below(domain) => {
                let cut = host.len().saturating_sub(domain.len());
                cut > 0 && host[cut..].eq_ignore_ascii_case(domain.as_bytes())
            }
        }
    }
}

/// Methods that a route takes; none written means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Methods(pub Vec<String>);

impl Methods {
    /// Whether `method` is one of them. `HEAD` is, where `GET` is.
    pub fn take(&self, method: &[u8]) -> bool {
        let named = |name: &[u8]| self.0.iter().any(|method| method.as_bytes() == name);
        self.0.is_empty() || named(method) || (method == b"HEAD" && named(b"GET"))
    }
}

/// Segments of a pattern at most.
const SEGMENTS_MOST: usize = 64;

/// Paths that a route takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPattern {
    /// This path, decoded, and all below it: `/api` takes `/api` and `/api/x`, not `/apix`. `/` takes all.
    Prefix(String),
    /// Decoded segments; `None` matches any one that is not empty: `/users/{id}`.
    Template(Vec<Option<String>>),
}

impl PathPattern {
    /// Reads a prefix, or a template where there is a `{name}` in it. Escapes stand for what they decode to.
    ///
    /// # Errors
    /// In words, if it is neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err("a path begins with /".into());
        }
        if text.contains(['?', '#', ' ']) {
            return Err("a path has no query, fragment or space".into());
        }
        if text.split('/').count() > SEGMENTS_MOST {
            return Err(format!("a path has at most {SEGMENTS_MOST} segments"));
        }
        if !text.contains(['{', '}']) {
            let trimmed = text.trim_end_matches('/');
            let segments: Vec<String> =
                trimmed.split('/').map(decoded).collect::<Result<_, _>>()?;
            let prefix = if trimmed.is_empty() { "/".into() } else { segments.join("/") };
            return Ok(Self::Prefix(prefix));
        }
        let segment = |segment: &str| match segment.strip_prefix('{') {
            Some(rest) if rest.len() > 1 && rest.find('}') == Some(rest.len() - 1) => Ok(None),
            None if !segment.contains('}') => decoded(segment).map(Some),
            _ => Err(format!("`{segment}`: a parameter is a whole segment, such as {{id}}")),
        };
        text[1..].split('/').map(segment).collect::<Result<_, _>>().map(Self::Template)
    }

    /// Reads one path, with parameters or without: nothing below it.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn exact(text: &str) -> Result<Self, String> {
        Ok(match Self::parse(text)? {
            Self::Prefix(_) => {
                let segments = text[1..].split('/').map(|segment| decoded(segment).map(Some));
                Self::Template(segments.collect::<Result<_, _>>()?)
            }
            template => template,
        })
    }

    /// Whether it takes `path`, which is decoded and begins with `/`.
    pub fn takes(&self, path: &[u8]) -> bool {
        match self {
            Self::Prefix(prefix) if prefix == "/" => path.first() == Some(&b'/'),
            Self::Prefix(prefix) => match path.strip_prefix(prefix.as_bytes()) {
                Some(rest) => rest.is_empty() || rest[0] == b'/',
                None => false,
            },
            Self::Template(segments) => {
                let Some(rest) = path.strip_prefix(b"/") else { return false };
                let mut found = rest.split(|&byte| byte == b'/');
                let fits = segments.iter().all(|wanted| match (found.next(), wanted) {
                    (Some(found), Some(wanted)) => found == wanted.as_bytes(),
                    (Some(found), None) => !found.is_empty(),
                    (None, _) => false,
                });
                fits && found.next().is_none()
            }
        }
    }

    /// Whether it takes only paths that end with an empty segment: `/users/{id}/`.
    pub(crate) fn ends_empty(&self) -> bool {
        match self {
            Self::Prefix(_) => false,
            Self::Template(segments) => {
                segments.last().is_some_and(|last| last.as_deref() == Some(""))
            }
        }
    }

    /// Whether it has capitals.
    pub(crate) fn has_capitals(&self) -> bool {
        self.to_string().bytes().any(|byte| byte.is_ascii_uppercase())
    }

    /// Whether it differs from another pattern only in case.
    pub(super) fn is_but_for_case(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Prefix(own), Self::Prefix(other)) => own.eq_ignore_ascii_case(other),
            (Self::Template(own), Self::Template(other)) => {
                let same = |(own, other): (&Option<String>, &Option<String>)| match (own, other) {
                    (Some(own), Some(other)) => own.eq_ignore_ascii_case(other),
                    (own, other) => own.is_none() && other.is_none(),
                };
                own.len() == other.len() && own.iter().zip(other).all(same)
            }
            _ => false,
        }
    }

    /// Whether a path that it takes may begin with these whole segments, decoded.
    pub fn may_begin_with(&self, begin: &str) -> bool {
        let begin = begin.split('/').filter(|segment| !segment.is_empty());
        match self {
            Self::Prefix(prefix) => {
                let own = prefix.split('/').filter(|segment| !segment.is_empty());
                own.zip(begin).all(|(own, other)| own == other)
            }
            Self::Template(segments) => {
                let mut own = segments.iter();
                let fits =
                    |own: &Option<String>, other| own.as_deref().is_none_or(|own| own == other);
                begin.into_iter().all(|other| own.next().is_some_and(|own| fits(own, other)))
            }
        }
    }

    /// The more it is, the narrower: routes are tried from the narrowest on. A template of n segments is narrower
    /// than a prefix of n; a literal segment is narrower than a parameter.
    pub fn narrowness(&self) -> (usize, bool, usize) {
        match self {
            Self::Prefix(prefix) => {
                let segments = prefix.split('/').filter(|segment| !segment.is_empty()).count();
                (segments, false, segments)
            }
            Self::Template(segments) => {
                let literal = segments.iter().filter(|segment| segment.is_some()).count();
                (segments.len(), true, literal)
            }
        }
    }
}

/// A path without its empty last segment, where it has one.
pub(crate) fn without_slash(path: &[u8]) -> Option<&[u8]> {
    path.strip_suffix(b"/").filter(|bare| !bare.is_empty())
}

/// A segment without escapes.
///
/// # Errors
/// In words, where no request that is let through has such a segment.
fn decoded(segment: &str) -> Result<String, String> {
    let units = escapes::units(segment.as_bytes()).collect::<Result<Vec<_>, _>>();
    let units = units.map_err(|error| format!("`{segment}`: {error}"))?;
    let bytes: Vec<u8> = units.iter().map(|unit| unit.byte).collect();
    let meant = |byte: &u8| matches!(byte, b'/' | b'\\' | b'%' | 0..0x20 | 0x7f);
    let dot = units.iter().any(|unit| unit.escaped && unit.byte == b'.');
    if dot || matches!(&*bytes, b"." | b"..") || bytes.iter().any(meant) {
        return Err(format!(
            "`{segment}`: requests with such a path are refused, so it takes none"
        ));
    }
    String::from_utf8(bytes).map_err(|_| format!("`{segment}` does not decode to UTF-8"))
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(prefix) => f.write_str(prefix),
            Self::Template(segments) => segments.iter().try_for_each(|segment| match segment {
                Some(literal) => write!(f, "/{literal}"),
                None => f.write_str("/{}"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_by_whole_segments() {
        let cases = [
            ("/", "/", true),
            ("/", "/a/b", true),
            ("/api", "/api", true),
            ("/api", "/api/", true),
            ("/api/", "/api/x/y", true),
            ("/api", "/apix", false),
            ("/api", "/ap", false),
            ("/users/{id}", "/users/7", true),
            ("/users/{id}", "/users/", false),
            ("/users/{id}", "/users", false),
            ("/users/{id}", "/users/7/x", false),
            ("/users/{id}/posts", "/users/7/posts", true),
            ("/{a}/{b}", "/users/7", true),
            ("/a%20b", "/a b/c", true),
            ("/%5F%5fcount", "/__count", true),
            ("/caf%C3%A9/{id}", "/café/7", true),
            ("/%7Bid%7D", "/{id}", true),
            ("/%7Bid%7D", "/7", false),
        ];
        for (pattern, path, taken) in cases {
            let parsed = PathPattern::parse(pattern).unwrap();
            assert_eq!(parsed.takes(path.as_bytes()), taken, "{pattern} {path}");
        }
        for wrong in [
            "api", "", "/a?b", "/a{b}", "/{}", "/{a", "/a}", "/a%2", "/a%2fb", "/a/..", "/a%2eb",
            "/%ff", "/./{id}", "/a\\b", "/%25",
        ] {
            assert!(PathPattern::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_that_are_taken_begin_in_some_ways() {
        for (pattern, begin, may) in [
            ("/a", "/b", false),
            ("/a", "/a/b", true),
            ("/a/b", "/a", true),
            ("/", "/b", true),
            ("/users/{id}", "/users", true),
            ("/users/{id}", "/users/x", true),
            ("/users/{id}", "/users/x/y", false),
            ("/users/{id}", "/user", false),
            ("/users/{id}", "", true),
        ] {
            let parsed = PathPattern::parse(pattern).unwrap();
            assert_eq!(parsed.may_begin_with(begin), may, "{pattern} {begin}");
        }
    }

    #[test]
    fn patterns_may_differ_by_case_alone() {
        let of = |text: &str| PathPattern::parse(text).unwrap();
        for (one, other, same) in [
            ("/Ab", "/aB", true),
            ("/Ab/{x}", "/aB/{y}", true),
            ("/Ab/{x}", "/ab/x", false),
            ("/ab", "/ab/c", false),
        ] {
            assert_eq!(of(one).is_but_for_case(&of(other)), same, "{one} {other}");
            assert!(of(one).has_capitals() != (one == "/ab"), "{one}");
        }
        assert!(!of("/{Id}").has_capitals());
    }

    #[test]
    fn hosts_are_taken_whole_or_below_a_domain() {
        let below = Host::Below(".example.com".into());
        assert!(below.takes(b"API.example.com"));
        assert!(!below.takes(b"example.com"));
        assert!(!below.takes(b".example.com"));
        assert!(!below.takes(b"badexample.com"));
        assert!(Host::Exact("a.b".into()).takes(b"A.b"));
        assert!(!Host::Exact("a.b".into()).takes(b"xa.b"));
    }

    #[test]
    fn head_is_taken_where_get_is() {
        let methods = Methods(vec!["GET".into()]);
        assert!(methods.take(b"HEAD") && methods.take(b"GET") && !methods.take(b"get"));
        assert!(!methods.take(b"POST") && Methods::default().take(b"PURGE"));
    }

    #[test]
    fn narrower_patterns_come_first() {
        let of = |text: &str| PathPattern::parse(text).unwrap().narrowness();
        assert!(of("/users/{id}") > of("/users/x"));
        assert!(of("/users/x") > of("/users"));
        assert!(of("/users/{id}") > of("/{a}/{b}"));
        assert!(of("/users/{id}/posts") > of("/users/{id}"));
        assert!(of("/users") > of("/"));
    }
}
