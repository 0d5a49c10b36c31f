//! Credentials in text of any form (JSON, forms, header fields, XML, prose), masked in place. The text may be cut
//! short anywhere, and may be no text of any form at all.

use std::ops::Range;

use super::place::may_be_of_login;
use super::{
    MASK, Neighbour, is_card_number, is_of_token, is_secret_field, is_secret_name,
    is_secret_parameter, is_secret_query_name, is_secret_value,
};

/// The text with the values of credentials masked: those of members, parameters and fields whose name says so,
/// and values that have the shape of one.
pub fn mask_text(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets_in(text) {
        masked.push_str(&text[at..secret.start]);
        masked.push_str(MASK);
        at = secret.end;
    }
    masked + &text[at..]
}

/// Where the text holds credentials, in bytes: in order, and none inside of another.
pub fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let mut keys = private_keys(text).into_iter().peekable();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = next(text, at, is_of_word) {
        if let Some(key) = keys.next_if(|key| key.start < word.end) {
            at = key.end;
            found.push(key);
            continue;
        }
        let mut secret = userinfo(text, &word)
            .or_else(|| value_of(text, &word))
            .or_else(|| with_scheme(text, &word))
            .or_else(|| token(text, &word))
            .or_else(|| card(text, &word))
            .or_else(|| in_path(text, &word));
        if let Some(secret) = &mut secret {
            // A value without quotes ends at a blank, which a key that it begins with has.
            while let Some(key) = keys.next_if(|key| key.start < secret.end) {
                secret.end = secret.end.max(key.end);
            }
        }
        at = secret.as_ref().map_or(word.end, |secret| secret.end);
        found.extend(secret);
    }
    found
}

/// A word that is a credential by its shape alone.
fn token(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    if !super::has_mark(&text[word.start..]) {
        return None;
    }
    let token = next(text, word.start, is_of_token)?;
    let segment = word.start..word.start + text[token.clone()].find('/').unwrap_or(token.len());
    let is_secret = |range: &Range<usize>| {
        is_secret_value(text[range.clone()].trim_end_matches(['.', '/', '=']))
    };
    [token, segment].into_iter().find(is_secret)
}

/// A word that is the number of a card, perhaps with the point behind it that ends a sentence.
fn card(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let number = text[word.clone()].trim_end_matches('.');
    is_card_number(number).then(|| word.start..word.start + number.len())
}

/// Name and password before the host of a URL (RFC 3986 section 3.2.1). A name alone is left.
fn userinfo(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    if !text[..word.start].ends_with("//") {
        return None;
    }
    let ends = |c: char| c.is_whitespace() || "/?#\"'<>\\".contains(c);
    let authority = &text[word.start..until(text, word.start, ends)];
    let (userinfo, _) = authority.rsplit_once('@')?;
    userinfo.contains(':').then(|| word.start..word.start + userinfo.len())
}

/// A segment of a path that is a credential by what stands before it.
fn in_path(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let before = text[..word.start].strip_suffix('/')?;
    // What is further away says nothing.
    const NEAR: usize = 3;
    let near: Vec<&str> = before.rsplit(['/', ' ', '"']).take(NEAR).collect();
    let neighbour = near.iter().rev().fold(Neighbour::Plain, |before, next| before.then(next));
    let ends = |c: char| c.is_whitespace() || "/?#;&,\"'<>\\".contains(c);
    let segment = word.start..until(text, word.start, ends);
    neighbour.makes_secret(&text[segment.clone()]).then_some(segment)
}

/// Whether a parameter is part of a login, by the others of its query and by the path.
fn is_of_login(text: &str, name: &Range<usize>) -> bool {
    if !may_be_of_login(&text[name.clone()]) {
        return false;
    }
    let parts = |c: char| c.is_whitespace() || "\"'<>".contains(c);
    // As long as servers take them, so that a long text costs no square of its length.
    const LONGEST: usize = 4 << 10;
    let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at));
    let first = boundary(name.start.saturating_sub(LONGEST)).unwrap_or(name.start);
    let last = boundary(name.end.saturating_add(LONGEST)).unwrap_or(text.len());
    let before = &text[first..name.start];
    let before = before.rsplit(parts).next().unwrap_or_default();
    let target = &text[name.start - before.len()..until(&text[..last], name.end, parts)];
    let (path, query) = target.split_once('?').unwrap_or(("", target));
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    is_secret_parameter(&text[name.clone()], &names.collect::<Vec<_>>(), path)
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

/// The next run of bytes of a class, all of them ASCII.
fn next(text: &str, from: usize, of: fn(u8) -> bool) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = from + bytes[from..].iter().position(|byte| of(*byte))?;
    let length = bytes[start..].iter().take_while(|byte| of(**byte)).count();
    Some(start..start + length)
}

/// Where the value is that belongs to `name`, if the name says that it is a credential.
fn value_of(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let named = &text[name.clone()];
    let after = &text[name.end..];
    if after.starts_with('>') && text[..name.start].ends_with('<') {
        let value = name.end + 1..until(text, name.end + 1, |c| c == '<');
        return (is_secret_name(named) && !value.is_empty()).then_some(value);
    }
    let unquoted = after.strip_prefix('\\').unwrap_or(after);
    let unquoted =
        unquoted.strip_prefix(['"', '\'']).unwrap_or(unquoted).trim_start_matches([' ', '\t']);
    let value = unquoted.strip_prefix([':', '='])?;
    // A `key` may be any key in JSON and in prose; a field of that name begins a line.
    let query = unquoted.starts_with('=') || !named.to_ascii_lowercase().ends_with("key");
    let begins_a_line = text[..name.start].chars().next_back().is_none_or(|before| before == '\n');
    let by_name = if query { is_secret_query_name(named) } else { is_secret_name(named) };
    let secret = by_name
        || begins_a_line && is_secret_field(named)
        || unquoted.starts_with('=') && is_of_login(text, name);
    if !secret {
        return None;
    }
    let value = value.trim_start_matches([' ', '\t']);
    let value = extent(text, text.len() - value.len(), named);
    let trivial = matches!(&text[value.clone()], "" | "true" | "false" | "null" | MASK);
    let hole = text[value.start..].starts_with("${");
    (!trivial && !hole).then_some(value)
}

/// Where the value ends that begins at `start`, without its quotes. What is never closed goes to the end: the
/// text may be cut short.
fn extent(text: &str, start: usize, name: &str) -> Range<usize> {
    let value = &text[start..];
    for quote in ["\\\"", "\"", "'"] {
        if value.starts_with(quote) {
            let from = start + quote.len();
            return from..closing(text, from, quote);
        }
    }
    if value.starts_with('[') {
        return start..(until(text, start, |c| c == ']') + 1).min(text.len());
    }
    if value.starts_with('{') {
        // Its members have names of their own.
        return start..start;
    }
    let name = name.to_ascii_lowercase();
    let whole_line = name.ends_with("authorization") || name.ends_with("cookie");
    let ends = |c: char| match whole_line {
        true => matches!(c, '\r' | '\n' | '"' | '\\'),
        false => c.is_whitespace() || "&;,\"'<>{}[]()\\".contains(c),
    };
    start..until(text, start, ends)
}

fn until(text: &str, from: usize, ends: impl Fn(char) -> bool) -> usize {
    text[from..].find(ends).map_or(text.len(), |at| from + at)
}

/// Where the quote closes; one behind a backslash does not, unless it is of JSON within JSON.
fn closing(text: &str, from: usize, quote: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text[from..].char_indices() {
        let rest = &text[from + at..];
        if !escaped && rest.starts_with(quote) {
            return from + at;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The token behind `Bearer` or `Basic`.
fn with_scheme(text: &str, scheme: &Range<usize>) -> Option<Range<usize>> {
    let token = text[scheme.end..]
        .strip_prefix(' ')
        .and_then(|_| next(text, scheme.end + 1, is_of_token))?;
    let adjacent = token.start == scheme.end + 1;
    (adjacent && is_secret_value(&text[scheme.start..token.end])).then_some(token)
}

/// Where private keys in PEM form are (RFC 7468). One that is cut short goes to the end.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let mut keys = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(BEGIN).map(|found| at + found) {
        let label = begin + BEGIN.len();
        let label_end = text[label..].find("-----").map(|found| label + found);
        at = label;
        if label_end.is_some_and(|end| text[label..end].ends_with("PRIVATE KEY")) {
            at = text[label..].find(END).map_or(text.len(), |found| label + found + END.len());
            keys.push(begin..at);
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked_in_every_form() {
        for (text, masked) in [
            (
                r#"{"user":"ann","password":"pw \"1\"","n":1}"#,
                r#"{"user":"ann","password":"***","n":1}"#,
            ),
            (r#"{"access_token" : "cut sho"#, r#"{"access_token" : "***"#),
            (r#"{"pin":1,"client_secret":12345}"#, r#"{"pin":1,"client_secret":***}"#),
            (r#""{\"password\":\"pw\",\"a\":1}""#, r#""{\"password\":\"***\",\"a\":1}""#),
            (r#"{"password":null,"secret":{"a":"b"}}"#, r#"{"password":null,"secret":{"a":"b"}}"#),
            (r#"{"refresh_token":["a","b"],"c":1}"#, r#"{"refresh_token":***,"c":1}"#),
            ("user=ann&password=p%20w&key=k1;b=2", "user=ann&password=***&key=***;b=2"),
            ("Cookie: sid=1; theme=2\r\nAccept: a", "Cookie: ***\r\nAccept: a"),
            ("<login><password>pw</password></login>", "<login><password>***</password></login>"),
            ("invalid key in Bearer abcdef123, sorry", "invalid key in Bearer ***, sorry"),
            ("bad ghp_0123456789abcdef0123.", "bad ***"),
            ("token eyJhbGciOi.abcdefghijkl.xyz expired", "token *** expired"),
            ("a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA", "a ***RSA"),
            (
                "private_key=-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----&n=1",
                "private_key=***PRIVATE KEY-----&n=1",
            ),
            (
                r#"{"private_key":"-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n","n":1}"#,
                r#"{"private_key":"***","n":1}"#,
            ),
            ("password=${env.PASSWORD}", "password=${env.PASSWORD}"),
            ("Unexpected token < in JSON at é 5", "Unexpected token < in JSON at é 5"),
            ("status 500: a = b", "status 500: a = b"),
            ("duplicate key: users_pkey", "duplicate key: users_pkey"),
            (r#"{"key":"colour","session":"abc"}"#, r#"{"key":"colour","session":"***"}"#),
            ("X-Session: abc\nKey: d", "X-Session: ***\nKey: ***"),
            ("GET http://ann:p:w@h/a HTTP/1.1", "GET http://***@h/a HTTP/1.1"),
            ("git clone ssh://git@h/a", "git clone ssh://git@h/a"),
            ("GET /list;jsessionid=5A;v=1", "GET /list;jsessionid=***;v=1"),
            ("/reset/5d41402abc4b2a76b9719d911017c592/a", "/reset/***/a"),
            ("/api/eyJhbGciOi.abcdefghijkl.xyz/a", "/api/***/a"),
            (
                "/commits/5d41402abc4b2a76b9719d911017c592",
                "/commits/5d41402abc4b2a76b9719d911017c592",
            ),
            ("\"GET /cb?code=a1&state=b2 HTTP\"", "\"GET /cb?code=***&state=*** HTTP\""),
            ("/vouchers?code=SPRING&n=1", "/vouchers?code=SPRING&n=1"),
            ("GET /unlock?pin=1234&spin=1 HTTP", "GET /unlock?pin=***&spin=1 HTTP"),
            ("GET /unlock?PIN=1234&Spin=1 HTTP", "GET /unlock?PIN=***&Spin=1 HTTP"),
            ("card 4111111111111111, 5555-5555-5555-4444.", "card ***, ***."),
            (
                "id 1111111111111117 in 0.4111111111111111 s",
                "id 1111111111111117 in 0.4111111111111111 s",
            ),
        ] {
            assert_eq!(mask_text(text), masked);
        }
    }

    #[test]
    fn what_is_masked_stays_masked() {
        for text in
            ["{\"password\":\"a\",\"b\":\"Bearer abcdefgh\"}", "Set-Cookie: a=b", "é=ü&sig=x"]
        {
            assert_eq!(mask_text(&mask_text(text)), mask_text(text));
        }
    }
}
