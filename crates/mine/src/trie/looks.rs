//! Looks of words that say whether people or programs wrote them.

use crate::segment::is_camel;
use crate::words;

/// Three words or more with signs between them, or escaped characters.
pub(super) fn is_slug(text: &[u8]) -> bool {
    let signs = text.iter().filter(|byte| matches!(byte, b'-' | b'_' | b'+')).count();
    // Lower-case letters with underscores are names out of programs.
    let snake = text.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_');
    signs >= 2 && !snake
        || text.contains(&b'%')
        || (signs >= 1 && text.last().is_some_and(u8::is_ascii_digit))
}

/// Lower-case words, perhaps with signs between them, or words in camel case.
pub(super) fn is_plain(text: &[u8]) -> bool {
    let sign = |byte: &u8| matches!(byte, b'-' | b'_');
    is_camel(text) || text.iter().all(|byte| byte.is_ascii_lowercase() || sign(byte))
}

/// Words with capitals and signs between them, as headings have them: `Main_Page`.
pub(super) fn is_title(text: &[u8]) -> bool {
    let mut words = text.split(|byte| !byte.is_ascii_alphanumeric());
    text.contains(&b'_') && words.all(|word| word.first().is_some_and(u8::is_ascii_uppercase))
}

/// A name with a number behind it, as users choose them.
pub(super) fn is_handle(text: &[u8]) -> bool {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits >= 2 && text.len() >= digits + 2
}

/// A name out of a program: camel case that begins with a verb or snake case of common words.
pub(super) fn is_identifier(text: &[u8]) -> bool {
    const VERBS: [&[u8]; 24] = [
        b"get", b"set", b"list", b"create", b"update", b"delete", b"add", b"remove", b"find",
        b"search", b"send", b"cancel", b"check", b"is", b"has", b"do", b"make", b"start", b"stop",
        b"fetch", b"load", b"save", b"put", b"assign",
    ];
    let first = words::parts(text).next().unwrap_or_default().to_ascii_lowercase();
    let parts = words::parts(text).count();
    parts >= 2
        && (is_camel(text) && text[0].is_ascii_lowercase() || VERBS.contains(&first.as_slice()))
}

/// Words as people and programs write them: in small letters, each with a capital or such as one knows, perhaps with
/// short numbers behind them or between signs. Letters of both cases that are drawn at random hardly ever come out so.
pub(super) fn is_spelled(text: &[u8]) -> bool {
    const LONGEST_NUMBER: usize = 4;
    let is_word = |part: &[u8]| {
        let digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let letters = &part[..part.len() - digits];
        digits <= LONGEST_NUMBER
            && letters.iter().all(u8::is_ascii_alphabetic)
            && letters.iter().skip(1).all(u8::is_ascii_lowercase)
    };
    let mut parts = text.split(|byte| !byte.is_ascii_alphanumeric());
    parts.all(is_word) || words::is_mostly_words(text)
}
