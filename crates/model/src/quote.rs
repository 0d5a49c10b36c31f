//! Text from a file, made fit for a message: short, and without control characters that a terminal
//! would obey.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_short_and_escaped() {
        assert_eq!(quote("abc"), "`abc`");
        assert_eq!(quote("\u{1b}[2J"), "`\\u{1b}[2J`");
        assert!(quote(&"x".repeat(10_000)).chars().count() <= SHOWN + 3);
        assert_eq!(plain("a\u{7}b\nc", 3), "a\u{fffd}b");
    }
}
