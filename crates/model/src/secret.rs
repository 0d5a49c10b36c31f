//! Names that say that what they name is a credential, so that it is neither printed nor stored.

/// Whether a field, parameter or member of this name holds a credential. `key` and the like are one
/// in a query only.
pub fn is_secret_name(name: &str, query: bool) -> bool {
    const ANYWHERE: [&str; 10] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "privatekey",
        "credential",
        "sessionid",
        "authorization",
    ];
    const AT_THE_END: [&str; 9] =
        ["token", "jwt", "csrf", "xsrf", "pwd", "otp", "signature", "assertion", "authkey"];
    const NONE: [&str; 4] = ["pagetoken", "continuationtoken", "synctoken", "nexttoken"];
    const IN_QUERY: [&str; 6] = ["key", "userkey", "sig", "auth", "sid", "session"];
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    !NONE.iter().any(|none| name.ends_with(none))
        && (ANYWHERE.iter().any(|part| name.contains(part))
            || AT_THE_END.iter().any(|end| name.ends_with(end))
            || (query && IN_QUERY.contains(&name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_credentials() {
        for name in ["password", "X-Api-Key", "access_token", "clientSecret", "X-CSRF-Token", "JWT"]
        {
            assert!(is_secret_name(name, false), "{name}");
        }
        for name in ["max_tokens", "page_token", "key", "author", "keyword", "token_type", ""] {
            assert!(!is_secret_name(name, false), "{name}");
        }
        assert!(is_secret_name("key", true));
    }
}
