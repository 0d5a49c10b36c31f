//! Signs in a word that show whether a person or a program wrote it.

use std::collections::BTreeMap;

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

/// Words as people and programs write them: in small letters, each with a capital, several in camel case or such as one
/// knows, perhaps with short numbers behind them or between signs. Letters of both cases that are drawn at random hardly ever come out so.
pub(super) fn is_spelled(text: &[u8]) -> bool {
    const LONGEST_NUMBER: usize = 4;
    const LONG: usize = 4;
    let is_word = |part: &[u8]| {
        let digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let letters = &part[..part.len() - digits];
        digits <= LONGEST_NUMBER
            && letters.iter().all(u8::is_ascii_alphabetic)
            && letters.iter().skip(1).all(u8::is_ascii_lowercase)
    };
    let mut parts = text.split(|byte| !byte.is_ascii_alphanumeric());
    let is_long = || words::parts(text).all(|word| word.len() >= LONG);
    parts.all(is_word) || is_camel(text) && is_long() || words::is_mostly_words(text)
}

/// How words are written: in small letters, each with a capital or otherwise; and with which signs between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    case: u8,
    hyphens: bool,
    underscores: bool,
    other_signs: bool,
    /// Whether one of the words is a single letter, as in `anna_b`.
    initials: bool,
}

impl Look {
    fn of(text: &[u8]) -> Self {
        let has = |sign: u8| text.contains(&sign);
        let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte);
        let mut words = text.split(|byte| !byte.is_ascii_alphanumeric());
        let initials =
            words.clone().any(|word| matches!(word, [letter] if letter.is_ascii_alphabetic()));
        let case = match text.iter().any(u8::is_ascii_uppercase) {
            false => 0,
            true if words.all(|word| !word.iter().skip(1).any(u8::is_ascii_uppercase)) => 1,
            true => 2,
        };
        Self {
            case,
            hyphens: has(b'-'),
            underscores: has(b'_'),
            other_signs: text.iter().any(is_sign),
            initials,
        }
    }
}

/// How many texts have which look.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    all: BTreeMap<Look, usize>,
    without_figures: BTreeMap<Look, usize>,
    /// So many are hardly any.
    hardly_any: usize,
}

impl Looks {
    /// Of these texts.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        const HARDLY_ANY_ONE_IN: usize = 50;
        let (mut all, mut without_figures) = (BTreeMap::new(), BTreeMap::new());
        let mut count = 0;
        for text in texts {
            let look = Look::of(text);
            *all.entry(look).or_insert(0) += 1;
            *without_figures.entry(look).or_insert(0) += usize::from(!has_figures(text));
            count += 1;
        }
        Self { all, without_figures, hardly_any: count / HARDLY_ANY_ONE_IN + 1 }
    }

    /// Whether hardly any look so.
    pub(super) fn are_rare(&self, text: &[u8]) -> bool {
        let look = Look::of(text);
        let is_rare = |looks: &BTreeMap<Look, usize>| {
            looks.get(&look).is_none_or(|count| *count <= self.hardly_any)
        };
        is_rare(&self.all) || !has_figures(text) && is_rare(&self.without_figures)
    }
}

fn has_figures(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
}
