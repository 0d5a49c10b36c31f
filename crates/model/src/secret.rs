//! What is a credential, by its name, its shape or its place, so that it is neither printed nor stored.
//!
//! Owns the detectors, and what uses them: [`mask_text`] on text of any form, in which [`secrets_in`] says where they
//! are, [`mask_address`] on addresses of databases, [`mask_shell`] on commands. No detector finds all: a password
//! under a name that does not say so, and that looks like a word, cannot be distinguished from any other value.

mod address;
mod card;
mod command;
mod place;
mod text;

pub use address::{NO_PORT, escaped_address, mask_address};
pub use card::is_card_number;
pub use command::{mask_said, mask_shell};
pub use place::{Neighbour, is_secret_parameter, parts_of_login};
pub use text::{mask_text, secrets_in};

/// What stands in for a credential.
pub const MASK: &str = "***";

/// Whether a field or member of this name holds a credential.
pub fn is_secret_name(name: &str) -> bool {
    are_secret_letters(&letters(name))
}

/// Whether a parameter of this name in a query holds a credential: what [`is_secret_name`] says, `key` and the like.
pub fn is_secret_query_name(name: &str) -> bool {
    // The last is WordPress's.
    const IN_QUERY: [&str; 9] =
        ["key", "userkey", "sig", "auth", "sid", "session", "sess", "cfid", "wpnonce"];
    let letters = letters(name);
    IN_QUERY.contains(&letters.as_str()) || are_secret_letters(&letters)
}

/// [`is_secret_name`], of the [`letters`] of a name.
fn are_secret_letters(letters: &str) -> bool {
    const ANYWHERE: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "privatekey",
        "subscriptionkey",
        "functionskey",
        "signingkey",
        "credential",
        "sessionid",
        "sessionkey",
        "authorization",
    ];
    // Sessions of PHP, Express, Laravel, CodeIgniter, Rack, Moodle and osCommerce; artefacts of SAML.
    const AT_THE_END: [&str; 23] = [
        "hmac",
        "sessid",
        "connectsid",
        "laravelsession",
        "cisession",
        "racksession",
        "sesskey",
        "oscsid",
        "samlart",
        "samlrequest",
        "token",
        "jwt",
        "csrf",
        "xsrf",
        "pwd",
        "otp",
        "signature",
        "assertion",
        "authkey",
        "passcode",
        "codeverifier",
        "samlresponse",
        "magiclink",
    ];
    const NONE: [&str; 4] = ["pagetoken", "continuationtoken", "synctoken", "nexttoken"];
    // As forms of content management systems and of payments have them.
    const WHOLE: [&str; 8] = ["pass", "userpass", "psw", "pswd", "cvv", "cvc", "cvv2", "cvc2"];
    !NONE.iter().any(|none| letters.ends_with(none))
        && (ANYWHERE.iter().any(|part| letters.contains(part))
            || AT_THE_END.iter().any(|end| letters.ends_with(end))
            || WHOLE.contains(&letters))
}

/// Whether a header field of this name holds a credential: what [`is_secret_name`] says, cookies, sessions, and
/// every key but those that are known for something else.
pub fn is_secret_field(name: &str) -> bool {
    const AT_THE_END: [&str; 6] = ["cookie", "session", "sid", "key", "auth", "ticket"];
    const NONE: [&str; 8] = [
        "idempotencykey",
        "surrogatekey",
        "cachekey",
        "partitionkey",
        "routingkey",
        "sortkey",
        "secwebsocketkey",
        "objectkey",
    ];
    let letters = letters(name);
    are_secret_letters(&letters)
        || AT_THE_END.iter().any(|end| letters.ends_with(end))
            && !NONE.iter().any(|none| letters.ends_with(none))
}

fn letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// What keys of well-known services begin with.
const MARKS: [&str; 20] = [
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "sk-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "hvs.",
    "npm_",
];

/// Whether a whole value has the shape of a credential, whatever it is called: a signed token, a key with the
/// mark of who gives it out, or an `Authorization` field's value.
pub fn is_secret_value(value: &str) -> bool {
    let marked = value.len() >= 16
        && value.bytes().all(is_of_token)
        && MARKS.iter().any(|mark| value.starts_with(mark));
    marked
        || is_signed_token(value)
        || is_with_scheme(value)
        || is_bot_token(value)
        || is_sendgrid_key(value)
        || is_ticket(value)
}

/// A ticket of CAS (protocol specification, section 3): what it is for, often a number, and characters drawn at random.
fn is_ticket(value: &str) -> bool {
    let drawn = ["ST-", "TGT-", "PT-", "PGT-", "PGTIOU-"]
        .iter()
        .find_map(|mark| value.strip_prefix(mark))
        .unwrap_or_default();
    let mixed = |of: fn(&u8) -> bool| drawn.as_bytes().iter().any(of);
    drawn.len() >= 16
        && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        && mixed(u8::is_ascii_digit)
        && mixed(u8::is_ascii_alphabetic)
}

/// Whether a text holds a credential anywhere: as [`is_secret_value`] and [`is_card_number`] say of the whole of it, or
/// behind a name, in a URL or in prose, as [`mask_text`] finds it.
pub fn holds_secret(text: &str) -> bool {
    // Without any of these it is one word.
    let parted =
        |byte: u8| matches!(byte, b'=' | b':' | b'/' | b'@' | b' ' | b'<' | b'+' | b'~' | b'%');
    is_secret_value(text)
        || is_card_number(text)
        || text.bytes().any(parted) && mask_text(text) != text
}

/// The key of a bot of Telegram, with or without the `bot` before it: a number, a colon and 35 characters.
fn is_bot_token(value: &str) -> bool {
    let key = value.strip_prefix("bot").unwrap_or(value);
    key.split_once(':').is_some_and(|(number, key)| {
        number.len() >= 8
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && key.len() == 35
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    })
}

/// A key of SendGrid: `SG.`, 22 characters of base64url, a point and 43 more.
fn is_sendgrid_key(value: &str) -> bool {
    let drawn =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    value
        .strip_prefix("SG.")
        .and_then(|key| key.split_once('.'))
        .is_some_and(|(name, key)| name.len() == 22 && key.len() == 43 && drawn(name) && drawn(key))
}

/// Whether a text begins as a key of a well-known service or a signed token does.
fn has_mark(text: &str) -> bool {
    text.starts_with("eyJ") || MARKS.iter().any(|mark| text.starts_with(mark))
}

/// Three parts in base64url, the first of which opens a JSON object (RFC 7519 section 3).
fn is_signed_token(value: &str) -> bool {
    let part = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    value.starts_with("eyJ")
        && value.len() > 20
        && value.split('.').count() == 3
        && value.split('.').all(part)
}

/// `Bearer` or `Basic` and a token (RFC 6750 section 2.1, RFC 7617 section 2).
fn is_with_scheme(value: &str) -> bool {
    value.split_once(' ').is_some_and(|(scheme, token)| {
        let scheme = scheme.to_ascii_lowercase();
        let token = token.trim();
        matches!(scheme.as_str(), "bearer" | "basic")
            && token.len() >= 6
            && token.bytes().all(is_of_token)
    })
}

/// Whether a value looks drawn at random: 20 characters or more of a token's alphabet, letters and digits among
/// them. A UUID is a name, and none.
pub fn looks_random(value: &str) -> bool {
    let has = |of: fn(&u8) -> bool| value.bytes().any(|byte| of(&byte));
    let groups: Vec<usize> = value.split('-').map(str::len).collect();
    value.len() >= 20
        && value.bytes().all(is_of_token)
        && !value.contains("://")
        && !value.starts_with('/')
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && groups != [8, 4, 4, 4, 12]
}

/// Letters, digits and marks of base64, base64url and `token68` (RFC 9110 section 11.2).
pub(crate) fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_recognized_by_name() {
        for name in [
            "password",
            "X-Api-Key",
            "access_token",
            "clientSecret",
            "X-CSRF-Token",
            "JWT",
            "PHPSESSID",
            "connect.sid",
            "laravel_session",
            "SAMLart",
            "SAMLRequest",
            "pass",
            "CVV",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in
            ["max_tokens", "page_token", "key", "author", "keyword", "token_type", "compass", ""]
        {
            assert!(!is_secret_name(name), "{name}");
        }
        for name in ["key", "sess", "hmac"] {
            assert!(is_secret_query_name(name), "{name}");
        }
        for name in
            ["Ocp-Apim-Subscription-Key", "X-Session", "Cookie", "X-Functions-Key", "X-Auth"]
        {
            assert!(is_secret_field(name), "{name}");
        }
        for name in ["Accept", "Idempotency-Key", "Content-Type", "X-Request-Id", "Host"] {
            assert!(!is_secret_field(name), "{name}");
        }
    }

    #[test]
    fn credentials_are_recognized_by_shape() {
        for value in [
            "eyJhbGciOi.abcdefghijkl.xyz",
            "ghp_0123456789abcdef0123",
            "Bearer abcdefgh",
            "basic dXNlcjpwdw==",
            "AKIAIOSFODNN7EXAMPLE",
            "bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw9",
            "ST-1856339-aA5Yuvrxzpv8Tau1cYQ7",
            "TGT-1-h3Kd8sJ2mQ0pLr7XzB1v-cas01.example.org",
            "SG.abcdefghij0123456789AB.abcdefghij0123456789abcdefghij0123456789ABC",
        ] {
            assert!(is_secret_value(value), "{value}");
        }
        for value in
            ["", "Bearer", "Basic law of nature", "sk-1", "text/html", "1.2.3", "ST-100", "SG.1.2"]
        {
            assert!(!is_secret_value(value), "{value}");
        }
        assert!(looks_random("b3f1c2d4e5a697881234"));
        for value in [
            "123e4567-e89b-12d3-a456-426614174000",
            "https://example.org/a/b/c1",
            "/a/long/path/to/item/12",
            "abcdefghijklmnopqrstuvwxyz",
        ] {
            assert!(!looks_random(value), "{value}");
        }
    }
}
