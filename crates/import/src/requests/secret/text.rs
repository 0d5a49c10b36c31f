//! Credentials in the text of bodies: JSON that is or is not whole, forms, and text of any other form.
//!
//! All text here is template text. JSON is gone through token by token, since a placeholder outside of its quotes
//! makes it no JSON, and since a number or a member that stands twice must stay as written. What looks like it may be
//! GraphQL, whose names stand without quotes.

use model::secret::{is_secret_name, secrets_in};
use model::workload::Literal;

use super::super::body::decode;
use super::super::json::string_length;
use super::super::template::{Piece, literal, pieces, push};
use super::{Vault, is_secret, name_or};

/// Characters of a number that counts as a credential by its name, at least: shorter ones are counts and flags.
const SHORTEST_NUMBER: usize = 4;
/// Bytes of a member's name that may be a credential's.
const LONGEST_NAME: usize = 200;

impl Vault {
    /// The text of a body; `is_form` says that its media type is that of forms.
    pub(super) fn body_text(&mut self, text: &str, is_form: bool, purpose: &str) -> String {
        match text.trim_start().chars().next() {
            Some('{' | '[') => self.json_text(text, purpose),
            _ if is_form => self.pairs(text, purpose),
            _ => self.prose(text, purpose),
        }
    }

    /// JSON, as far as it is JSON.
    pub(super) fn json_text(&mut self, text: &str, purpose: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut open: Vec<&str> = Vec::new();
        let mut name = "";
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_number = first == '-' || first.is_ascii_digit();
            let is_word = first == '_' || first.is_ascii_alphabetic();
            let length = match first {
                '"' => string_length(rest),
                '$' => placeholder_length(rest),
                _ if is_number => rest.find(|c| !of_number(c)).unwrap_or(rest.len()),
                _ if is_word => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
                other => other.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            rest = after;
            match first {
                _ if (first == '"' || is_word) && after.trim_start().starts_with(':') => {
                    name = if token.len() <= LONGEST_NAME { token.trim_matches('"') } else { "" };
                }
                '"' => {
                    out += &self.json_string(token, name, purpose);
                    continue;
                }
                _ if is_number && is_secret_number(name, token) => {
                    let purpose = format!("{name}, {purpose}");
                    out += &self.hide(token, name, &purpose);
                    continue;
                }
                '{' | '[' => open.push(name),
                '}' | ']' => name = open.pop().unwrap_or_default(),
                _ => {}
            }
            out += token;
        }
        out
    }

    /// A string with its quotes; the text may be cut off before the second.
    fn json_string(&mut self, string: &str, name: &str, purpose: &str) -> String {
        let inside = string.strip_prefix('"').unwrap_or(string);
        let closed = inside.strip_suffix('"');
        let read: Option<String> = serde_json::from_str(string).ok();
        let mut value = read.unwrap_or_else(|| closed.unwrap_or(inside).to_owned());
        let written = value.clone();
        self.value(&mut value, name, false, purpose);
        match closed {
            _ if value == written => string.to_owned(),
            Some(_) => Literal::Text(value).to_string(),
            None => format!("\"{value}"),
        }
    }

    /// Pairs of a form. A value is escaped again when it is sent.
    fn pairs(&mut self, text: &str, purpose: &str) -> String {
        let mut pairs = Vec::new();
        for pair in text.split('&') {
            let Some((name, written)) = pair.split_once('=') else {
                pairs.push(pair.to_owned());
                continue;
            };
            let plain = |text: &str| decode(text).unwrap_or_else(|| text.to_owned());
            let (called, value) = (plain(name), plain(written));
            if is_secret(&called, &value, false) {
                let purpose = format!("{called}, {purpose}");
                let hidden = self.hide(&value, name_or(&called, "TOKEN"), &purpose);
                let inside = hidden.trim_start_matches("${").trim_end_matches('}');
                pairs.push(format!("{name}=${{urlencode({inside})}}"));
            } else {
                pairs.push(format!("{name}={}", self.prose(written, purpose)));
            }
        }
        pairs.join("&")
    }

    /// Text of any form: what stands in it behind a name, in a URL or by its shape.
    pub(super) fn prose(&mut self, text: &str, purpose: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for piece in pieces(text) {
            let text = match piece {
                Piece::Hole(hole) => {
                    push(&mut out, hole);
                    continue;
                }
                Piece::Text(text) => text,
            };
            let mut at = 0;
            for secret in secrets_in(&text) {
                push(&mut out, &literal(&text[at..secret.start]));
                let name = name_before(&text[..secret.start]);
                let hidden = self.hide(&literal(&text[secret.clone()]), name, purpose);
                push(&mut out, &hidden);
                at = secret.end;
            }
            push(&mut out, &literal(&text[at..]));
        }
        out
    }
}

/// Whether a structure has numbers that are credentials, which only text can have a placeholder for.
pub(super) fn has_secret_number(value: &Literal, name: &str) -> bool {
    match value {
        Literal::Int(_) | Literal::Float(_) => is_secret_number(name, &value.to_string()),
        Literal::List(items) => items.iter().any(|item| has_secret_number(item, name)),
        Literal::Object(members) => {
            members.iter().any(|(name, value)| has_secret_number(value, name))
        }
        _ => false,
    }
}

fn is_secret_number(name: &str, number: &str) -> bool {
    number.len() >= SHORTEST_NUMBER && is_secret_name(name)
}

fn of_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

fn of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
}

/// Bytes of the placeholder, or what stands for the plain text of one, that the text begins with; those of all its
/// `$` otherwise.
fn placeholder_length(text: &str) -> usize {
    let behind = text.trim_start_matches('$');
    match behind.starts_with('{') {
        true => text.find('}').map_or(text.len(), |end| end + 1),
        false => text.len() - behind.len(),
    }
}

/// The name that stands before a value: the last word.
fn name_before(text: &str) -> &str {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let text = text.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let begin = text.rfind(|c| !of_name(c)).map_or(0, |at| at + 1);
    match &text[begin..] {
        "" => "TOKEN",
        name if name.len() > LONGEST_NAME => "TOKEN",
        name if ["bearer", "basic"].contains(&name.to_ascii_lowercase().as_str()) => "API_TOKEN",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str, is_form: bool) -> String {
        Vault::new(false).body_text(text, is_form, "body")
    }

    #[test]
    fn json_is_masked_in_place_whether_it_is_whole_or_not() {
        for (text, wanted) in [
            (
                r#"{"amount": 1.0, "password": "a\"b"}"#,
                r#"{"amount": 1.0, "password": "${env.PASSWORD}"}"#,
            ),
            (
                r#"{"n": 1.0, "password": "\u0061b"}"#,
                r#"{"n": 1.0, "password": "${env.PASSWORD}"}"#,
            ),
            (
                r#"{"n": ${count}, "password": "S"}"#,
                r#"{"n": ${count}, "password": "${env.PASSWORD}"}"#,
            ),
            (r#"{"password":"password"}"#, r#"{"password":"${env.PASSWORD}"}"#),
            (
                r#"[{"user":"admin","password":"admin","n":[1.0]},"admin"]"#,
                r#"[{"user":"admin","password":"${env.PASSWORD}","n":[1.0]},"admin"]"#,
            ),
            (
                r#"{"otp":123456,"tokens":{"otp":0},"n":123456}"#,
                r#"{"otp":${env.OTP},"tokens":{"otp":0},"n":123456}"#,
            ),
            (
                r#"{"api_token":["a","b"],"x":"c"}"#,
                r#"{"api_token":["${env.API_TOKEN}","${env.API_TOKEN_2}"],"x":"c"}"#,
            ),
            (
                r#"{"query":"mutation{login(user:\"a\",password:\"S\"){id}}"}"#,
                r#"{"query":"mutation{login(user:\"a\",password:\"${env.PASSWORD}\"){id}}"}"#,
            ),
            (r#"{"password":"${x}","$${a}":"b$"}"#, r#"{"password":"${x}","$${a}":"b$"}"#),
            (r#"{"password": "open"#, r#"{"password": "${env.PASSWORD}"#),
            (
                r#"{login(password: "S", otp: 1234, n: 10000) {id(as: "x")}}"#,
                r#"{login(password: "${env.PASSWORD}", otp: ${env.OTP}, n: 10000) {id(as: "x")}}"#,
            ),
        ] {
            assert_eq!(masked(text, false), wanted);
        }
    }

    #[test]
    fn a_run_of_dollars_is_one_token() {
        for (text, length) in [("$$$x", 3), ("$", 1), ("$${a}b", 5), ("${a", 3)] {
            assert_eq!(placeholder_length(text), length, "{text}");
        }
    }

    #[test]
    fn forms_that_stay_text_and_other_text_are_masked() {
        for (text, is_form, wanted) in [
            (
                "user=ann&password=my%20S&remember",
                true,
                "user=ann&password=${urlencode(env.PASSWORD)}&remember",
            ),
            (
                "to=http://h/?token=S&remember&n=$${x}",
                true,
                "to=http://h/?token=${env.TOKEN}&remember&n=$${x}",
            ),
            ("pass=a b c&x=${y}", true, "pass=${urlencode(env.PASS)}&x=${y}"),
            (
                "<l><password>S</password></l>$${x}",
                false,
                "<l><password>${env.PASSWORD}</password></l>$${x}",
            ),
            ("a Bearer abcdef123 b", false, "a Bearer ${env.API_TOKEN} b"),
            ("token=${x} $${y}", false, "token=${x} $${y}"),
            ("plain text", false, "plain text"),
        ] {
            assert_eq!(masked(text, is_form), wanted);
        }
    }
}
