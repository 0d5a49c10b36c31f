//! Credentials that neither their name nor their shape tells apart from ids, recognised by where they stand: what
//! follows `reset` or `invite` in a path, and the `code` that a login hands back.

use super::is_secret_query_name;

/// What the segments before a value in a path, or the name before a value in a query, say about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Neighbour {
    /// Nothing: the value is what its shape says.
    #[default]
    Plain,
    /// A word that credentials follow, with one more segment between: `/reset/{user}/{token}`.
    Distant,
    /// A word that both credentials and ids follow: `sessions`, `tokens`, `login`.
    Loose,
    /// A word that credentials follow: `reset`, `verify`, `invite`.
    Firm,
    /// `services`, behind which the hooks of a chat name a team.
    Service,
    /// Such a team, `T024BE7LD`, behind which a channel comes.
    Team,
    /// Such a channel, `B024BE7LE`, behind which the credential comes: `/services/{team}/{channel}/{token}`.
    Hook,
}

/// Words that credentials follow, UUIDs too.
const FIRM: &[&str] = &[
    "reset",
    "verify",
    "verification",
    "unsubscribe",
    "magic",
    "magiclink",
    "confirm",
    "confirmation",
    "activate",
    "activation",
    "password",
    "recover",
    "recovery",
    "unlock",
    "token",
    "invite",
    "invitation",
    "jwt",
    "otp",
    "secret",
    "passwordless",
    "optin",
    "optout",
];

/// Words that ids follow too: a UUID behind them is taken for one.
const LOOSE: &[&str] = &[
    "tokens",
    "invites",
    "invitations",
    "session",
    "sessions",
    "jsessionid",
    "auth",
    "login",
    "signin",
    "sso",
    "join",
    "secrets",
    "webhook",
    "webhooks",
    "hook",
    "hooks",
    "share",
    "shared",
    "sharing",
];

/// What is done with an invitation: `/invitations/accept/{token}`.
const ACTS: &[&str] = &["accept", "decline", "reject", "redeem", "claim", "confirm"];

impl Neighbour {
    /// What a word says about the value right behind it. The word may be one of several: `password-reset`,
    /// `confirmEmail`.
    pub fn of(segment: &str) -> Self {
        let is_any = |words: &[&str]| parts(segment).any(|part| words.contains(&part.as_str()));
        match () {
            // Longer segments are no names of routes.
            () if segment.len() > 40 => Self::Plain,
            () if is_any(FIRM) => Self::Firm,
            () if is_any(LOOSE) => Self::Loose,
            () if segment == "services" => Self::Service,
            () => Self::Plain,
        }
    }

    /// What the segments up to and with this one say about the next.
    #[must_use]
    pub fn then(self, segment: &str) -> Self {
        let plain_word =
            segment.len() >= 4 && segment.bytes().all(|byte| byte.is_ascii_lowercase());
        match (Self::of(segment), self) {
            (Self::Plain, Self::Service) if is_code(segment, 'T') => Self::Team,
            (Self::Plain, Self::Team) if is_code(segment, 'B') => Self::Hook,
            (Self::Plain, Self::Firm | Self::Loose) if ACTS.contains(&segment) => Self::Firm,
            // `/session/{id}/commits/{hash}`: the word between says what follows it.
            (Self::Plain, Self::Loose) if plain_word => Self::Plain,
            (Self::Plain, Self::Firm | Self::Loose) => Self::Distant,
            (of, _) => of,
        }
    }

    /// Whether credentials follow the word, as far as it alone says.
    pub fn announces(self) -> bool {
        matches!(self, Self::Distant | Self::Loose | Self::Firm)
    }

    /// Whether a value that stands so is a credential.
    pub fn makes_secret(self, value: &str) -> bool {
        // An address of a chain is public (EIP-55).
        if matches!(self, Self::Plain | Self::Service | Self::Team) || value.starts_with("0x") {
            return false;
        }
        match (self, is_uuid(value)) {
            (Self::Hook, _) => value.len() >= 20 && is_mixed(value) && is_drawn(value, 20),
            (_, true) => self == Self::Firm,
            (Self::Distant, _) => is_drawn(value, 11),
            _ => is_drawn(value, 8),
        }
    }
}

/// Whether a parameter of a query holds a credential: by its name, or as part of a login by OAuth 2.0, OpenID Connect
/// (RFC 6749 section 4.1.2) or CAS, which `names`, all names of the query, and the path tell. A `pin` is one in a query
/// alone: in JSON and in prose it may be anything.
pub fn is_secret_parameter(name: &str, names: &[&str], path: &str) -> bool {
    const LOGIN: [&str; 11] = [
        "callback",
        "oauth",
        "oauth2",
        "oidc",
        "sso",
        "authorize",
        "connect",
        "auth",
        "cas",
        "signin",
        "saml",
    ];
    if is_secret_query_name(name) {
        return true;
    }
    let with = |others: &[&str]| names.iter().any(|other| others.contains(other));
    let is_login = || parts(path).any(|part| LOGIN.contains(&part.as_str()));
    let is_firm = || {
        path.split('/').fold(Neighbour::Plain, |before, segment| before.then(segment))
            == Neighbour::Firm
    };
    match name {
        "code" => {
            with(&["state", "session_state", "redirect_uri", "grant_type"])
                || is_login()
                || is_firm()
        }
        "state" => with(&["code", "client_id", "response_type", "redirect_uri"]) || is_login(),
        "ticket" => is_login() || path.ends_with("login"),
        // A nonce is accepted once: a value of the log serves nobody.
        _ => ["nonce", "pin"].iter().any(|part| name.eq_ignore_ascii_case(part)),
    }
}

/// Those of a query's names that hold credentials as parts of a login, as [`is_secret_parameter`] says.
pub fn parts_of_login<'a>(names: &[&'a str], path: &str) -> Vec<&'a str> {
    let is_part = |name: &&str| may_be_of_login(name) && is_secret_parameter(name, names, path);
    names.iter().copied().filter(is_part).collect()
}

/// Whether the others of a query, or the path, may make a parameter of this name part of a login.
pub(super) fn may_be_of_login(name: &str) -> bool {
    const PARTS: [&str; 5] = ["code", "state", "nonce", "pin", "ticket"];
    PARTS.iter().any(|part| name.eq_ignore_ascii_case(part))
}

/// The words of a text in lower case, parted by signs and by capitals in camel case.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower_before = false;
    for c in text.chars() {
        let new = !c.is_ascii_alphanumeric() || (lower_before && c.is_ascii_uppercase());
        if new {
            words.push(String::new());
        }
        lower_before = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.into_iter()
}

/// What stands between `services` and the credential: letters and digits behind a mark, or a parameter.
fn is_code(segment: &str, mark: char) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    segment.is_empty()
        || segment.len() >= 8 && segment.starts_with(mark) && segment.bytes().all(is_plain)
}

/// Small letters, capitals and digits, and nothing else.
fn is_mixed(value: &str) -> bool {
    let has = |of: fn(&u8) -> bool| value.as_bytes().iter().any(of);
    value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}

fn is_uuid(value: &str) -> bool {
    let groups: Vec<&str> = value.split('-').collect();
    let hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(hex)
}

/// Whether letters and digits of at least this many look drawn at random: the kind of character changes often, and
/// not only where words or numbers begin.
fn is_drawn(value: &str, shortest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+=%".contains(&byte);
    if value.len() < shortest || !value.bytes().all(allowed) {
        return false;
    }
    let changes = value.as_bytes().windows(2).filter(|pair| changes(pair[0], pair[1])).count();
    match value.len() {
        // `login2fa`, `sha256sum`: a few letters with a number are a word still.
        ..16 => changes * 3 >= value.len(),
        _ => changes * 6 >= value.len() || changes * 8 >= value.len() && is_no_word(value),
    }
}

/// Whether letters and digits are no words, though their kind changes seldom: digits at two places or more, or hardly a
/// vowel, and no sign that would part words.
fn is_no_word(value: &str) -> bool {
    let numbers = value.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let vowels = value.bytes().filter(|byte| b"aeiouAEIOU".contains(byte)).count();
    value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && (numbers.count() >= 2 || vowels * 10 < letters * 3)
}

/// Whether two neighbours are of different kinds. A capital before a small letter begins a word, and a sign parts
/// two.
fn changes(a: u8, b: u8) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    match (kind(a), kind(b)) {
        (0, _) | (_, 0) | (2, 1) => false,
        (a, b) => a != b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_secret_in_path(path: &str) -> bool {
        let mut before = Neighbour::Plain;
        path.split('/').any(|segment| {
            let secret = before.makes_secret(segment);
            before = before.then(segment);
            secret
        })
    }

    #[test]
    fn what_follows_a_word_of_credentials_is_one() {
        for path in [
            "/reset/5d41402abc4b2a76b9719d911017c592",
            "/password-reset/dQw4w9WgXcQ",
            "/accounts/confirmEmail/123e4567-e89b-12d3-a456-426614174000",
            "/invite/Xy7Kp2Qz",
            "/reset/MQ/bxyz12-5d41402abc4b2a76b9719d911017c592",
            "/reset/alice/5d41402abc4b2a76b9719d911017c592",
            "/auth/magic/Zk3JsP0aQ9xTbR7u",
            // Drawn at random too, though the kind of character changes four times only.
            "/reset/Z942YNChbxPMLQyerSJfrkgbr",
            "/sessions/507f1f77bcf86cd799439011",
            "/api/webhooks/123456789012345678/h3Kd8sJ2mQ0pLr7XzB1v",
            "/invitations/accept/Xy7Kp2Qz9Lm3",
            "/invitation/decline/123e4567-e89b-12d3-a456-426614174000",
            "/services/T024BE7LD/B024BE7LE/h3Kd8sJ2mQ0pLr7XzB1vAb2C",
            "/share/h3Kd8sJ2mQ0pLr7X",
        ] {
            assert!(is_secret_in_path(path), "{path}");
        }
    }

    #[test]
    fn ids_are_none() {
        for path in [
            "/commits/5d41402abc4b2a76b9719d911017c592ffffffff",
            "/users/123e4567-e89b-12d3-a456-426614174000",
            "/sessions/123e4567-e89b-12d3-a456-426614174000",
            "/session/123/commits/5d41402abc4b2a76b9719d911017c592",
            "/reset/12345",
            "/verify/email-address",
            "/auth/login2fa",
            "/auth/oauth2callback",
            "/verify/emailAddressV2Confirmation",
            "/unsubscribe/weekly-newsletter-2024-issue-17",
            "/token/0xdac17f958d2ee523a2206206994597c13d831ec7",
            "/join/room-12",
            "/invitations/accept/all",
            "/services/12/deployments/5d41402abc4b2a76b9719d911017c592",
            "/services/T024BE7LD/B024BE7LE/status",
            "/share/123e4567-e89b-12d3-a456-426614174000",
            "/share/summer-sale",
            "/jobs/accept/5d41402abc4b2a76b9719d911017c592",
        ] {
            assert!(!is_secret_in_path(path), "{path}");
        }
    }

    #[test]
    fn parts_of_a_login_are_credentials() {
        for (name, names, path) in [
            ("code", &["code", "state"][..], "/"),
            ("state", &["code", "state"], "/"),
            ("code", &["code"], "/login/oauth2/callback"),
            ("code", &["code"], "/verify"),
            ("state", &["state", "client_id"], "/"),
            ("ticket", &["ticket"], "/cas/login"),
            ("access_token", &[], "/"),
            ("nonce", &["nonce", "page"], "/"),
            ("pin", &["pin"], "/unlock"),
            ("PIN", &["PIN"], "/unlock"),
        ] {
            assert!(is_secret_parameter(name, names, path), "{name} {names:?} {path}");
        }
        for (name, names, path) in [
            ("code", &["code", "country"][..], "/vouchers"),
            ("state", &["state", "city"], "/addresses"),
            ("ticket", &["ticket"], "/support"),
        ] {
            assert!(!is_secret_parameter(name, names, path), "{name} {names:?} {path}");
        }
    }
}
