//! Lines of a log that are shown as they are, without credentials, addresses and names of users.

use std::net::{IpAddr, Ipv4Addr};

use model::secret::{MASK, mask_text};

/// A line with credentials, clients' addresses and the names of users masked.
pub fn masked(line: &[u8]) -> String {
    let text = without_user(mask_text(&String::from_utf8_lossy(line)));
    let of_address = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(from) = rest.find(of_address) {
        let (before, word) = rest.split_at(from);
        let (word, after) = word.split_at(word.find(|c| !of_address(c)).unwrap_or(word.len()));
        masked += before;
        masked += &without_addresses(word);
        rest = after;
    }
    masked + rest
}

/// A line without the name that common and combined logs have between the address and the time.
fn without_user(text: String) -> String {
    let Some((before, _)) = text.split_once(" [") else { return text };
    let words: Vec<&str> = before.splitn(3, ' ').collect();
    let [first, second, user] = words[..] else { return text };
    let has_address = is_address(first) || is_address(second);
    if !has_address || user.split(' ').all(|word| word == "-") {
        return text;
    }
    let (start, end) = (before.len() - user.len(), before.len());
    format!("{}{MASK}{}", &text[..start], &text[end..])
}

/// A run of characters that addresses are made of, without addresses.
fn without_addresses(word: &str) -> String {
    let inner = word.trim_matches(['.', ':']);
    match () {
        () if is_address(word) => MASK.to_owned(),
        () if is_address(inner) => word.replacen(inner, MASK, 1),
        // `10:15:00:203.0.113.7`, or the end of `%2C203.0.113.7`.
        () => word.split(':').map(without_figures).collect::<Vec<_>>().join(":"),
    }
}

/// The same without an address in figures at its end.
fn without_figures(part: &str) -> String {
    let before = part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let figures = part[before..].trim_matches('.');
    match figures.parse::<Ipv4Addr>() {
        Ok(_) => part.replacen(figures, MASK, 1),
        Err(_) => part.to_owned(),
    }
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
    fn addresses_names_and_credentials_are_masked() {
        for (line, wanted) in [
            ("203.0.113.7 - - [x] \"GET /a\"", "*** - - [x] \"GET /a\""),
            ("2001:db8::7 junk 203.0.113.7:443,", "*** junk ***,"),
            ("version 1.2.3 at 10:15:00 :: beef", "version 1.2.3 at 10:15:00 :: beef"),
            ("junk ?token=abc 1", "junk ?token=*** 1"),
            ("addr:203.0.113.7 from 203.0.113.7.", "addr:*** from ***."),
            ("10:15:00:203.0.113.7 %2C203.0.113.7", "10:15:00:*** %2C***"),
            ("203.0.113.7 - ann.lee [x] \"GET\"", "*** - *** [x] \"GET\""),
            ("shop.example 203.0.113.7 - Ann Lee [x]", "shop.example *** *** [x]"),
            ("10:15:00 worker 7 [error] x", "10:15:00 worker 7 [error] x"),
        ] {
            assert_eq!(masked(line.as_bytes()), wanted);
        }
    }
}
