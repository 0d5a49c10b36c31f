//! What curl makes of a URL's path.

use super::super::draft::encode_value;
use super::super::template::{Piece, map_text, pieces};

/// A path without its segments `.` and `..` (RFC 3986 section 5.2.4), which curl takes out.
pub(super) fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            other => {
                kept.push(other);
                continue;
            }
        }
        if segments.peek().is_none() {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// A path that ends with a slash, with the name of the uploaded file behind it.
pub(super) fn with_file_name(path: &str, file: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let name = file.rsplit('/').next().unwrap_or_default();
    let name = map_text(name, |name| Some(encode_value(name))).unwrap_or_default();
    let is_named = path.ends_with('/') && !matches!(file, "-" | ".");
    if is_named { format!("{path}{name}{query}") } else { format!("{path}{query}") }
}

/// Whether curl would make several URLs of this one: `[1-9]` or `{a,b}`.
pub(super) fn has_pattern(url: &str) -> bool {
    let between =
        |text: &str, open, close| text.find(open).is_some_and(|at| text[at..].contains(close));
    pieces(url).iter().any(|piece| match piece {
        Piece::Text(text) => {
            between(text, '{', '}') || (between(text, '[', ']') && !text.contains("://["))
        }
        Piece::Hole(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As curl 7.88 sends them.
    #[test]
    fn paths_are_sent_as_curl_sends_them() {
        for (path, sent) in [
            ("/a/../b?c=/../d", "/b?c=/../d"),
            ("/../a/./b/.", "/a/b/"),
            ("/a/b/..", "/a/"),
            ("/a..b/...//", "/a..b/...//"),
            ("/", "/"),
            ("/${env.X}/..?", "/?"),
        ] {
            assert_eq!(without_dots(path), sent, "{path}");
        }
        for (path, file, sent) in [
            ("/up/", "a/b c.txt", "/up/b%20c.txt"),
            ("/up/?x=1", "f", "/up/f?x=1"),
            ("/up", "f", "/up"),
            ("/up/", "-", "/up/"),
        ] {
            assert_eq!(with_file_name(path, file), sent, "{path}");
        }
    }
}
