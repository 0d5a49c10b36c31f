//! One segment of a path: the kind of value it looks like, and the fixed text around the value.
//!
//! Owns the look of single segments. Whether a segment is a parameter the counts decide, in `trie`.

use std::borrow::Cow;

use model::secret::{
    Neighbour, holds_secret, is_card_number, is_secret_query_name, is_secret_value,
};

use crate::pools::decode;
use crate::words;

/// Kinds of values, by their look alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    /// Decimal digits, perhaps with a sign.
    Int,
    /// A UUID.
    Uuid,
    /// Hexadecimal digits, letters and figures among them.
    Hex,
    /// Letters of both cases and digits as if drawn at random.
    Token,
    /// `2026-11-05`, perhaps with a time.
    Date,
    /// `2026-11`.
    Month,
    /// A number with a fraction.
    Float,
    /// `1.4.2`.
    Version,
    /// An e-mail address.
    Email,
    /// Letters in upper case with digits: `AB1234`, `SKU-9931`.
    Code,
    /// A language, perhaps with a country: `en`, `pt-BR`.
    Locale,
    /// Words.
    Word,
    /// A credential.
    Secret,
}

impl Class {
    /// Whether a single value of this look is enough to know that it is one of many.
    pub(crate) fn is_certain(self) -> bool {
        matches!(self, Self::Uuid | Self::Hex | Self::Token | Self::Email | Self::Secret)
    }

    /// Whether its values are words, among which fixed ones may be.
    pub(crate) fn is_words(self) -> bool {
        matches!(self, Self::Word | Self::Locale)
    }

    /// Whether values of one parameter may look like this and like others of its kind by chance.
    pub(crate) fn is_vague(self) -> bool {
        matches!(self, Self::Word | Self::Code | Self::Token | Self::Hex)
    }

    /// What a parameter of such values is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Int => "id",
            Self::Uuid => "uuid",
            Self::Hex => "hash",
            Self::Token => "token",
            Self::Date => "date",
            Self::Month => "month",
            Self::Float => "number",
            Self::Version => "version",
            Self::Email => "email",
            Self::Code => "code",
            Self::Locale => "locale",
            Self::Word => "name",
            Self::Secret => SECRET_KIND,
        }
    }
}

/// What a parameter is called whose values are credentials.
pub(crate) const SECRET_KIND: &str = "secret";

/// A segment taken apart: fixed text, a value, fixed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape<'a> {
    pub(crate) prefix: &'a [u8],
    pub(crate) class: Class,
    pub(crate) suffix: &'a [u8],
}

/// The shape of a segment that stands behind this neighbour.
pub(crate) fn shape(neighbour: Neighbour, segment: &[u8]) -> Shape<'_> {
    if let Some(secret) = secret(neighbour, segment) {
        return secret;
    }
    let class = class(segment);
    if class == Class::Token && neighbour.announces() && !segment.starts_with(b"0x") {
        return Shape { prefix: b"", class: Class::Secret, suffix: b"" };
    }
    if class != Class::Word {
        return Shape { prefix: b"", class, suffix: b"" };
    }
    let (inner, prefix, suffix) = affixes(segment);
    if inner.len() == segment.len() || inner.is_empty() {
        return Shape { prefix: b"", class, suffix: b"" };
    }
    Shape { prefix, class: self::class(inner), suffix }
}

/// What a segment says about the next one.
pub(crate) fn neighbour(before: Neighbour, segment: &[u8]) -> Neighbour {
    before.then(&String::from_utf8_lossy(segment))
}

/// The shape of a segment that is or holds a credential. All of it is the value, but for the text before a parameter
/// of a matrix whose name says so and behind it: `list;jsessionid=5f3a;page=2`.
fn secret(neighbour: Neighbour, segment: &[u8]) -> Option<Shape<'_>> {
    const SHORTEST_BARE: usize = 8;
    let whole = Shape { prefix: b"", class: Class::Secret, suffix: b"" };
    let is_parted =
        segment.iter().any(|byte| matches!(byte, b'=' | b':' | b'@' | b'+' | b'~' | b'%'));
    if !is_parted && segment.len() < SHORTEST_BARE {
        return None;
    }
    // The padding of base64 is no sign that parts a name from a value.
    let trimmed = trim_padding(segment);
    let text = match is_parted {
        true => decode(trimmed, false).map_or_else(|| String::from_utf8_lossy(trimmed), Cow::Owned),
        false => String::from_utf8_lossy(segment),
    };
    // Without hyphens it is a number, and other numbers at its place may be ids.
    let is_card = || text.contains('-') && is_card_number(&text);
    if is_secret_value(&text) || neighbour.makes_secret(&text) || is_card() {
        return Some(whole);
    }
    if !is_parted {
        return None;
    }
    matrix(segment).or_else(|| (holds_secret(&text) || has_password(&text)).then_some(whole))
}

/// `user:password@host`, as it stands behind the slashes of a URL within a path.
fn has_password(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(userinfo, host)| {
        !host.is_empty()
            && userinfo.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    })
}

/// From the first value of a matrix parameter that is a credential by its name to the end of the last.
fn matrix(segment: &[u8]) -> Option<Shape<'_>> {
    let mut found: Option<(usize, usize)> = None;
    let mut at = 0;
    for part in segment.split(|byte| *byte == b';') {
        if let Some(equals) = memchr::memchr(b'=', part) {
            let name = String::from_utf8_lossy(&part[..equals]);
            if is_secret_query_name(&name) && equals + 1 < part.len() {
                let (from, to) = (at + equals + 1, at + part.len());
                found = Some((found.map_or(from, |(first, _)| first), to));
            }
        }
        at += part.len() + 1;
    }
    let (from, to) = found?;
    let outside = |text: &[u8]| holds_secret(&String::from_utf8_lossy(text));
    let (prefix, suffix) = (&segment[..from], &segment[to..]);
    // What is left may hold one by its shape.
    (!outside(prefix) && !outside(suffix)).then_some(Shape { prefix, class: Class::Secret, suffix })
}

/// The value in a segment, and the fixed text before and behind it.
fn affixes(segment: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let whole = (segment, &segment[..0], &segment[..0]);
    let cut = |from: usize, to: usize| (&segment[from..to], &segment[..from], &segment[to..]);
    if let [b'@' | b'~', _, ..] = segment {
        return cut(1, segment.len());
    }
    // OData: Products('ALFKI'), Orders(10248)
    if let Some(open) = memchr::memchr(b'(', segment)
        && let Some(close) = memchr::memrchr(b')', segment)
        && open + 1 < close
        && open > 0
    {
        let quoted = segment[open + 1] == b'\'' && segment[close - 1] == b'\'';
        let quote = usize::from(quoted && open + 3 < close);
        return cut(open + 1 + quote, close - quote);
    }
    // Matrix parameters, and values behind a mark: list;jsessionid=5f3a, sha256:5f3a
    if let Some(at) = memchr::memrchr2(b'=', b':', segment)
        && (class(&segment[at + 1..]).is_certain() || segment[..at].contains(&b';'))
    {
        return cut(at + 1, segment.len());
    }
    if let Some(at) = namespace(segment) {
        return cut(at, segment.len());
    }
    // Custom verbs: projects/x:undelete
    if let Some(at) = memchr::memrchr(b':', segment).filter(|at| *at > 0)
        && segment.len() - at > 3
        && segment[at + 1..].iter().all(u8::is_ascii_alphabetic)
    {
        return cut(0, at);
    }
    if let Some(at) = words::extension(segment).filter(|at| *at > 0) {
        return cut(0, at);
    }
    numbered(segment).map_or(whole, |at| cut(at, segment.len()))
}

/// Where a title begins behind a namespace, which has a capital: `Talk:Amber`, `User_talk:alice`.
fn namespace(segment: &[u8]) -> Option<usize> {
    if !segment.first()?.is_ascii_uppercase() {
        return None;
    }
    let at = memchr::memchr(b':', segment)?;
    let is_word = segment[1..at].iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_');
    (at > 1 && is_word && at + 1 < segment.len()).then_some(at + 1)
}

/// Where the number begins of a word with a number behind it: `item-123`, `page_4`, `q3` has none.
fn numbered(segment: &[u8]) -> Option<usize> {
    let digits = segment.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let at = segment.len() - digits;
    let (last, word) = segment[..at].split_last()?;
    let separated = matches!(last, b'-' | b'_' | b'.' | b':' | b'=');
    let is_word = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
    (digits > 0 && separated && is_word).then_some(at)
}

/// The look of a whole value.
pub(crate) fn class(value: &[u8]) -> Class {
    let Some(first) = value.first() else { return Class::Word };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == value.len() || (*first == b'-' && digits > 0 && digits + 1 == value.len()) {
        return Class::Int;
    }
    if digits == 0 && value.len() < 11 && !value.contains(&b'@') && *first != b'%' {
        return if words::is_locale(value) { Class::Locale } else { Class::Word };
    }
    if is_uuid(value) {
        Class::Uuid
    } else if is_email(value) {
        Class::Email
    } else if let Some(class) = date(value) {
        class
    } else if let Some(class) = dotted(value) {
        class
    } else if is_hex(value, digits) {
        Class::Hex
    } else if is_code(value, digits) {
        Class::Code
    } else if is_token(value) {
        Class::Token
    } else if words::is_locale(value) {
        Class::Locale
    } else {
        Class::Word
    }
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_email(value: &[u8]) -> bool {
    let at = memchr::memchr(b'@', value).map(|at| (at, at + 1)).or_else(|| {
        let at = memchr::memmem::find(value, b"%40")?;
        Some((at, at + 3))
    });
    at.is_some_and(|(end, start)| {
        let host = &value[start..];
        let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let is_domain = last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic);
        end > 0 && host.len() > last.len() && is_domain && words::extension(host).is_none()
    })
}

fn date(value: &[u8]) -> Option<Class> {
    let digits = |range: std::ops::Range<usize>| {
        value.get(range)?.iter().try_fold(0_u32, |n, byte| {
            byte.is_ascii_digit().then(|| n * 10 + u32::from(byte - b'0'))
        })
    };
    let dash = |at: usize| value.get(at) == Some(&b'-');
    let year = digits(0..4).filter(|year| (1900..2200).contains(year) && dash(4));
    let month = digits(5..7).filter(|month| (1..=12).contains(month));
    year.and(month)?;
    if value.len() == 7 {
        return Some(Class::Month);
    }
    let day = digits(8..10).filter(|day| (1..=31).contains(day) && dash(7));
    let rest = value.get(10..)?;
    (day.is_some() && (rest.is_empty() || matches!(rest[0], b'T' | b't' | b'_')))
        .then_some(Class::Date)
}

/// Numbers with points between them.
fn dotted(value: &[u8]) -> Option<Class> {
    let body = value.strip_prefix(b"-").or_else(|| value.strip_prefix(b"v")).unwrap_or(value);
    let mut parts = 0;
    for part in body.split(|byte| *byte == b'.') {
        if part.is_empty() || !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        parts += 1;
    }
    match (parts, value[0]) {
        (2, b'v') => None,
        (2, _) => Some(Class::Float),
        (3.., _) => Some(Class::Version),
        _ => None,
    }
}

fn is_hex(value: &[u8], digits: usize) -> bool {
    let lower = value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let upper = value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    let letters = value.len() - digits;
    (lower || upper)
        && match value.len() {
            0..7 => false,
            7..12 => digits >= 2 && letters >= 2,
            _ => digits >= 1,
        }
}

fn is_code(value: &[u8], digits: usize) -> bool {
    let allowed = |byte: &u8| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    digits > 0
        && value.len() <= 40
        && value.iter().all(allowed)
        && value.iter().any(u8::is_ascii_uppercase)
}

/// Letters and digits that no word is made of: base64 or base62 of at least eleven characters.
fn is_token(value: &[u8]) -> bool {
    let value = trim_padding(value);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+');
    if value.len() < 11 || !value.iter().all(allowed) {
        return false;
    }
    let lower = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let upper = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let separators = value.len() - lower - upper - digits;
    if separators * 8 > value.len() || lower + upper == 0 || is_words(value) {
        return false;
    }
    let mixed = lower > 0 && upper > 0;
    let changes = changes(value);
    match (mixed, digits) {
        // Words in camel case change case once a word.
        (true, 0) => {
            changes * 3 >= value.len() && !is_camel(value) && !words::is_mostly_words(value)
        }
        (true, _) => changes * 4 >= value.len() && !is_camel(value),
        (false, 0) => false,
        // One case and digits between the letters, not behind them.
        (false, _) => separators == 0 && digits >= 3 && changes * 3 >= value.len(),
    }
}

/// Whether it is words with signs between them, each in one case, with a capital or in camel case, perhaps with short
/// numbers and versions: `ShipService_v2_3`.
fn is_words(value: &[u8]) -> bool {
    let is_number = |part: &[u8]| part.len() <= 4 && part.iter().all(u8::is_ascii_digit);
    let is_word = |part: &[u8]| {
        is_number(part.strip_prefix(b"v").unwrap_or(part))
            || part.iter().all(u8::is_ascii_alphabetic)
                && (part.iter().skip(1).all(u8::is_ascii_lowercase)
                    || part.iter().all(u8::is_ascii_uppercase)
                    || is_camel(part))
    };
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    value.iter().any(|byte| !byte.is_ascii_alphanumeric()) && parts.all(is_word)
}

/// The value without the padding of base64, escaped or not.
fn trim_padding(value: &[u8]) -> &[u8] {
    let mut value = value;
    loop {
        match value {
            [rest @ .., b'='] | [rest @ .., b'%', b'3', b'D' | b'd'] => value = rest,
            _ => return value,
        }
    }
}

/// How often the kind of character changes from one to the next.
fn changes(value: &[u8]) -> usize {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    value.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count()
}

/// Whether it is words in camel case, perhaps with a number behind: of two letters or more each, most with a vowel.
pub(crate) fn is_camel(value: &[u8]) -> bool {
    let length = value.iter().rev().skip_while(|byte| byte.is_ascii_digit()).count();
    let value = &value[..length];
    if !value.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    let (mut parts, mut with_vowel, mut short) = (0, 0, false);
    for word in words::parts(value) {
        parts += 1;
        short |= word.len() < 2 || word[1..].iter().any(u8::is_ascii_uppercase);
        let is_vowel = |byte: &u8| b"aeiouy".contains(&byte.to_ascii_lowercase());
        with_vowel += usize::from(word.iter().any(is_vowel));
    }
    !short && parts >= 2 && value.len() * 2 >= parts * 5 && with_vowel * 3 >= parts * 2
}

/// Whether it is letters and digits without any in lower case: a country, an airport, a code.
pub(crate) fn is_upper(value: &[u8]) -> bool {
    let allowed = |byte: &u8| {
        !byte.is_ascii_lowercase() && (byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    value.iter().all(allowed) && value.iter().any(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_by_their_look() {
        for (class, values) in [
            (Class::Int, &["1", "0042", "-7", "20261105"][..]),
            (Class::Uuid, &["123e4567-e89b-12d3-a456-426614174000"]),
            (Class::Hex, &["5f3a9c1", "507f1f77bcf86cd799439011", "DEADBEEF01"]),
            (Class::Token, &["dQw4w9WgXcQ", "Zk3JsP0aQ9xTb", "YWJjZGVmZ2hpag%3D%3D"]),
            (Class::Date, &["2026-11-05", "2026-11-05T10:00:00Z"]),
            (Class::Month, &["2026-11"]),
            (Class::Float, &["52.52", "-0.1", "2.0"]),
            (Class::Version, &["1.4.2", "v2.10.3"]),
            (Class::Email, &["a.b@example.org", "a%40example.org"]),
            (Class::Code, &["AB1234", "SKU-9931", "A1"]),
            (Class::Locale, &["en", "pt-BR", "zh_CN"]),
            (
                Class::Word,
                &[
                    "users",
                    "v1",
                    "oauth2",
                    "s3",
                    "getUserById",
                    "forgot-password",
                    "2fa",
                    "red-shoes-42",
                    "jdoe42",
                    "Main_Page",
                    "LHR",
                    "decade",
                    "ICBM",
                    "listAllOpenOrders",
                ],
            ),
        ] {
            for value in values {
                assert_eq!(self::class(value.as_bytes()), class, "{value}");
            }
        }
    }

    #[test]
    fn fixed_text_around_a_value_is_split_off() {
        for (segment, prefix, class, suffix) in [
            ("42.json", "", Class::Int, ".json"),
            ("item-123", "item-", Class::Int, ""),
            ("@alice", "@", Class::Word, ""),
            ("Products('AB12')", "Products('", Class::Code, "')"),
            ("Orders(10248)", "Orders(", Class::Int, ")"),
            ("list;jsessionid=5f3a9c1", "list;jsessionid=", Class::Secret, ""),
            ("4111-1111-1111-1111", "", Class::Secret, ""),
            ("sha256:507f1f77bcf86cd799439011", "sha256:", Class::Hex, ""),
            ("my-shop:undelete", "", Class::Word, ":undelete"),
            ("Talk:Amber", "Talk:", Class::Word, ""),
            ("User_talk:jdoe42", "User_talk:", Class::Word, ""),
            ("report.tar.gz", "", Class::Word, ".tar.gz"),
            ("users", "", Class::Word, ""),
        ] {
            let shape = shape(Neighbour::Plain, segment.as_bytes());
            let found = (shape.prefix, shape.class, shape.suffix);
            assert_eq!(found, (prefix.as_bytes(), class, suffix.as_bytes()), "{segment}");
        }
    }
}
