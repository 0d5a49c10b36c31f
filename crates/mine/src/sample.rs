//! Lines of a log that are shown as they are, without credentials and addresses.

use std::net::IpAddr;

use model::secret::{MASK, mask_text};

/// A line with credentials and clients' addresses masked.
pub fn masked(line: &[u8]) -> String {
    let text = mask_text(&String::from_utf8_lossy(line));
    let of_address = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(from) = rest.find(of_address) {
        let (before, word) = rest.split_at(from);
        let (word, after) = word.split_at(word.find(|c| !of_address(c)).unwrap_or(word.len()));
        masked += before;
        masked += if is_address(word) { MASK } else { word };
        rest = after;
    }
    masked + rest
}

/// Whether it is an address, perhaps with a port behind it.
fn is_address(word: &str) -> bool {
    let parsed = |text: &str| text.parse::<IpAddr>().is_ok();
    let with_port = || word.rsplit_once(':').is_some_and(|(address, _)| parsed(address));
    // `::` alone is punctuation of some language.
    word.len() > 2 && (parsed(word) || with_port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_credentials_are_masked() {
        for (line, wanted) in [
            ("203.0.113.7 - - [x] \"GET /a\"", "*** - - [x] \"GET /a\""),
            ("2001:db8::7 junk 203.0.113.7:443,", "*** junk ***,"),
            ("version 1.2.3 at 10:15:00 :: beef", "version 1.2.3 at 10:15:00 :: beef"),
            ("junk ?token=abc 1", "junk ?token=*** 1"),
        ] {
            assert_eq!(masked(line.as_bytes()), wanted);
        }
    }
}
