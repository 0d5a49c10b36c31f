//! Text from outside, made fit for a message: short, and without control characters that a terminal
//! would obey.

use std::borrow::Cow;

/// Characters shown at most.
const SHOWN: usize = 40;

/// The text in backquotes, escaped and cut to 40 characters.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("`");
    quoted.extend(text.chars().take(SHOWN).flat_map(char::escape_debug));
    if text.chars().nth(SHOWN).is_some() {
        quoted.push('…');
    }
    quoted.push('`');
    quoted
}

/// The text on one line, escaped but for its quotes, and cut to `most` characters.
pub fn plain(text: &str, most: usize) -> String {
    text.chars().take(most).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A count with its thousands apart: `1,234,567`.
pub fn grouped(n: u64) -> String {
    group_digits(&n.to_string())
}

/// A decimal number with its thousands apart: `-1,234,567.25`. Other text, such as `NaN`, stays as it is.
pub fn group_digits(number: &str) -> String {
    let (sign, unsigned) = number.split_at(usize::from(number.starts_with('-')));
    let whole = unsigned.find('.').unwrap_or(unsigned.len());
    let (whole, fraction) = unsigned.split_at(whole);
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut out = String::with_capacity(number.len() + whole.len() / 3);
    out.push_str(sign);
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// A count with what it counts: `1 request`, `2,000 requests`.
pub fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Whether a terminal obeys this character, or shows what follows it in another order: control characters
/// (C0, DEL, C1) but for line feed and tab, the separators of lines and paragraphs, and the marks,
/// embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9 section 2).
pub fn is_obeyed(c: char) -> bool {
    let bidirectional = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let separator = matches!(c, '\u{2028}' | '\u{2029}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || bidirectional || separator
}

/// The text with every character that [`is_obeyed`] spelled, as in `\u{1b}`; only the sequences in
/// `own` pass as they are.
pub fn visible<'a>(text: &'a str, own: &[&str]) -> Cow<'a, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = rest.find(is_obeyed) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        if let Some(own) = own.iter().find(|own| !own.is_empty() && from.starts_with(**own)) {
            shown.push_str(own);
            rest = &from[own.len()..];
        } else {
            let mut chars = from.chars();
            shown.extend(chars.next().into_iter().flat_map(char::escape_unicode));
            rest = chars.as_str();
        }
    }
    Cow::Owned(shown + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelled() {
        let hostile = "a\u{1b}]0;x\u{7}\tb\r\n\u{9b}2J\u{202e}c\u{2028}é日";
        let shown = visible(hostile, &[]);
        assert_eq!(shown, "a\\u{1b}]0;x\\u{7}\tb\\u{d}\n\\u{9b}2J\\u{202e}c\\u{2028}é日");
        assert_eq!(visible(&shown, &[]), shown);
        assert!(matches!(visible("plain\ttext\n", &[]), Cow::Borrowed(_)));
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 20_000].map(|n| counted(n, "row")), ["1 row", "20,000 rows"]);
        for (number, wanted) in [
            ("-1234567.125", "-1,234,567.125"),
            ("-100", "-100"),
            ("0.5000", "0.5000"),
            ("-inf", "-inf"),
            ("NaN", "NaN"),
        ] {
            assert_eq!(group_digits(number), wanted);
        }
    }

    #[test]
    fn sequences_of_our_own_pass() {
        let painted = "\u{1b}[1mbold\u{1b}[0m \u{1b}[8mhidden";
        let shown = visible(painted, &["\u{1b}[1m", "\u{1b}[0m", ""]);
        assert_eq!(shown, "\u{1b}[1mbold\u{1b}[0m \\u{1b}[8mhidden");
    }

    #[test]
    fn hostile_text_is_short_and_escaped() {
        assert_eq!(quote("abc"), "`abc`");
        assert_eq!(quote("\u{1b}[2J"), "`\\u{1b}[2J`");
        assert!(quote(&"x".repeat(10_000)).chars().count() <= SHOWN + 3);
        assert_eq!(plain("a\u{7}b\nc", 3), "a\u{fffd}b");
    }
}
