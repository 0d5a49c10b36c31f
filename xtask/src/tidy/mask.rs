//! Rust source with comments and literals blanked out, so that what is left is code, at the same offsets and lines.
//!
//! A lexer for three questions only: where does a comment, a string, a character end? It trusts that the source
//! compiles.

/// `source` with every byte of a comment, string or character literal replaced by a space, newlines kept.
pub fn code_only(source: &str) -> String {
    let mut masked = Vec::with_capacity(source.len());
    while masked.len() < source.len() {
        let (before, rest) = source.split_at(masked.len());
        let length = opaque_length(before, rest);
        if length == 0 {
            let character = rest.chars().next().expect("not at the end");
            masked.extend_from_slice(&rest.as_bytes()[..character.len_utf8()]);
        } else {
            masked.extend(rest.bytes().take(length).map(blank));
        }
    }
    String::from_utf8(masked).expect("whole characters are kept or blanked")
}

fn blank(byte: u8) -> u8 {
    if byte == b'\n' { b'\n' } else { b' ' }
}

/// How many bytes at the start of `rest` are a comment or a literal; 0 if it starts with code.
fn opaque_length(before: &str, rest: &str) -> usize {
    match rest.as_bytes() {
        [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest.as_bytes()),
        [b'"', ..] => quoted(rest.as_bytes(), b'"'),
        [b'r', b'"' | b'#', ..] if !inside_word(before) => raw_string(rest),
        [b'\'', ..] => character(rest),
        _ => 0,
    }
}

/// Whether an `r` that follows is part of an identifier; a `b` or `c` before it marks a byte or C string instead.
fn inside_word(before: &str) -> bool {
    let mut last = before.chars().rev();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    match last.next() {
        Some('b' | 'c') => last.next().is_some_and(word),
        Some(c) => word(c),
        None => false,
    }
}

/// Block comments nest.
fn block_comment(bytes: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn raw_string(rest: &str) -> usize {
    let hashes = rest[1..].bytes().take_while(|&byte| byte == b'#').count();
    if rest.as_bytes().get(1 + hashes) != Some(&b'"') {
        return 0; // a raw identifier
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let body = 2 + hashes;
    rest[body..].find(&end).map_or(rest.len(), |found| body + found + end.len())
}

/// A quote opens a character if it closes after one; otherwise it is a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => quoted(rest.as_bytes(), b'\''),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_spaces() {
        let cases = [
            ("a // unsafe\nb", "a b"),
            ("a /* x /* y */ z */ b", "a b"),
            (r#"f("un\"safe") + 1"#, "f( ) + 1"),
            (r##"r#"a " b"# + x"##, "+ x"),
            ("br\"{\" }", "b }"),
            ("'{' '\\'' 'a: 'ü'", "'a:"),
            ("r#type + for\"x\"", "r#type + for"),
            ("\"two\nlines\" x", "x"),
        ];
        for (source, code) in cases {
            let found = code_only(source);
            assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), code, "{source}");
            assert_eq!(found.len(), source.len(), "offsets stay: {source}");
            assert_eq!(found.lines().count(), source.lines().count(), "lines stay: {source}");
        }
    }

    #[test]
    fn an_unclosed_literal_ends_with_the_file() {
        for source in ["\"abc", "\"abc\\", "/* abc", "r#\"abc", "'\\"] {
            assert_eq!(code_only(source), " ".repeat(source.len()), "{source}");
        }
    }
}
