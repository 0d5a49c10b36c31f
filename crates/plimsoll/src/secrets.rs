//! What must not be printed or stored: credentials on the command line, in header fields, URLs and bodies, and
//! where responses repeat them. [`model::secret`] detects them.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::Mix;
use model::interval::Tally;
use model::secret::{
    MASK, Neighbour, is_secret_field, is_secret_name, is_secret_query_name, is_secret_value,
    looks_random, mask_address, mask_text, parts_of_login,
};
use observe::source::masked_as_written;

/// Characters of a secret that is looked for in responses, at least: shorter ones are in too many words.
const SHORTEST: usize = 6;
/// Fields whose values are long and drawn at random, and no secrets.
const PUBLIC_FIELDS: [&str; 9] = [
    "accept",
    "content-",
    "if-",
    "user-agent",
    "host",
    "trace",
    "x-request-id",
    "x-correlation-id",
    "idempotency-key",
];

/// Schemes of databases and caches.
const SERVICES: [&str; 7] =
    ["postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "memcached"];

/// A header's value, masked if it is a credential by the field's name or by its shape.
pub fn mask_header(name: &str, value: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let public = PUBLIC_FIELDS.iter().any(|public| name.starts_with(public));
    let secret = is_secret_field(&name) || is_secret_value(value) || !public && looks_random(value);
    match (secret, value.contains("://")) {
        (true, _) => MASK.to_owned(),
        (false, true) => mask_url(value),
        (false, false) => value.to_owned(),
    }
}

/// A URL, or its path, with its credentials masked: those before the host, those in its query, and those in its path, by
/// their shape and by what stands before them.
pub fn mask_url(url: &str) -> String {
    mask_parts(url, url.starts_with('/') || is_address(url))
}

/// As [`mask_url`]; `by_place` says that it is a URL indeed, of which places mean something.
fn mask_parts(url: &str, by_place: bool) -> String {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    if SERVICES.contains(&scheme) {
        return mask_address(url);
    }
    let (before, query) =
        url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let path = mask_path(before, by_place);
    let Some(query) = query else { return path };
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    // What the host is called says nothing of a parameter.
    let behind_scheme = before.split_once("://").map_or(before, |(_, rest)| rest);
    let behind_host = behind_scheme.find('/').map_or("", |at| &behind_scheme[at..]);
    let of_login = parts_of_login(&names.collect::<Vec<_>>(), behind_host);
    let masked: Vec<String> = query.split('&').map(|pair| mask_pair(pair, &of_login)).collect();
    format!("{path}?{}", masked.join("&"))
}

/// Endpoints of a workload file with the credentials in their paths masked, as results store them. A name
/// that is made of the path holds what the path does.
pub fn mask_mix(mut mix: Mix) -> Mix {
    for endpoint in &mut mix.endpoints {
        let masked = mask_url(&endpoint.path);
        let without_query = |path: &str| path.split('?').next().unwrap_or_default().to_owned();
        let (before, after) = (without_query(&endpoint.path), without_query(&masked));
        if before != after {
            endpoint.name = endpoint.name.replace(&before, &after);
        }
        endpoint.path = masked;
    }
    mix
}

/// A pair of a query, of which some are credentials as parts `of_login`.
fn mask_pair(pair: &str, of_login: &[&str]) -> String {
    let is_secret = |name: &str, value: &str| {
        is_secret_query_name(name) || is_secret_value(value) || of_login.contains(&name)
    };
    match pair.split_once('=') {
        Some((name, value)) if is_secret(name, value) => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    }
}

/// Schemes whose `://` lacks a character.
const MISTYPED: [&str; 4] = ["http:/", "https:/", "http//", "https//"];

/// What stands before the host, or before its user, and the rest.
fn behind_scheme(path: &str) -> (&str, &str) {
    let mistyped = || MISTYPED.iter().find(|scheme| path.starts_with(**scheme));
    let end = match path.find("://") {
        Some(at) => at + "://".len(),
        None => mistyped().map_or(0, |scheme| scheme.len()),
    };
    path.split_at(end)
}

fn mask_path(path: &str, by_place: bool) -> String {
    let (scheme, rest) = behind_scheme(path);
    let first = rest.split('/').next().unwrap_or_default();
    // What is no port behind the host's `:` may be the beginning of a password with a `/` in it.
    let odd_port = || first.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_err());
    let users_end = match first.rfind('@') {
        Some(at) => Some(at),
        None if !scheme.is_empty() && !first.ends_with(']') && odd_port() => rest.rfind('@'),
        None => None,
    };
    // Without a scheme, a name alone before the `@` may be anything.
    let is_user = |at: &usize| !scheme.is_empty() || rest[..*at].contains(':');
    let (user, rest) = match users_end.filter(is_user) {
        Some(at) => (format!("{MASK}@"), &rest[at + 1..]),
        None => (String::new(), rest),
    };
    let mut before = Neighbour::Plain;
    let masked = rest.split('/').enumerate().map(|(at, segment)| {
        let is_secret = is_secret_value(segment) || by_place && before.makes_secret(segment);
        // The host, or nothing, is first.
        before = if at == 0 { Neighbour::Plain } else { before.then(segment) };
        match is_secret {
            true => MASK.to_owned(),
            false if by_place && at > 0 => mask_segment(segment),
            false => segment.to_owned(),
        }
    });
    let masked: Vec<String> = masked.collect();
    format!("{scheme}{user}{}", masked.join("/"))
}

/// A segment of a path with its parameters masked, such as `;jsessionid=`.
fn mask_segment(segment: &str) -> String {
    let parts: Vec<String> = segment.split(';').map(|part| mask_pair(part, &[])).collect();
    parts.join(";")
}

/// A request, as text, with its secrets masked.
pub fn mask_request(text: &str) -> String {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let field = |line: &str| match line.split_once(": ") {
        Some((name, value)) => format!("{name}: {}", mask_header(name, value)),
        None => mask_target(line),
    };
    let lines: Vec<String> = head.lines().map(field).collect();
    format!("{}\n\n{}", lines.join("\n"), mask_text(body))
}

/// A message to the person in front: arguments of the command line that it repeats are masked, and so is every URL of
/// HTTP in it, wherever that came from. Addresses of databases are masked by what reads them.
pub fn mask_message(text: &str) -> String {
    mask_urls(&mask_repeated(text, args()))
}

/// Text in which the arguments of a command line are masked.
fn mask_repeated(text: &str, args: impl IntoIterator<Item = String>) -> String {
    // The value alone is repeated of a flag's.
    let words = args.into_iter().flat_map(|arg| match arg.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => vec![flag.to_owned(), value.to_owned()],
        _ => vec![arg],
    });
    let words: Vec<String> = words.collect();
    let masked = mask_command(words.iter().cloned());
    let secret = words.iter().zip(&masked).filter(|(plain, masked)| plain != masked);
    secret
        .filter(|(plain, _)| plain.len() >= SHORTEST)
        .fold(text.to_owned(), |text, (plain, masked)| text.replace(plain.as_str(), masked))
}

/// Text in which the URLs of HTTP are masked.
fn mask_urls(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "`\"'<>".contains(c);
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) =
        ["http://", "https://"].into_iter().filter_map(|scheme| rest.find(scheme)).min()
    {
        let url = &rest[at..];
        let url = &url[..url.find(ends).unwrap_or(url.len())];
        // The sentence's own marks.
        let url = url.trim_end_matches([':', ';', ',', '.', '?', '!', ')']);
        masked.push_str(&rest[..at]);
        masked.push_str(&mask_url(url));
        rest = &rest[at + url.len()..];
    }
    masked + rest
}

/// A request line with the credentials in its target masked.
fn mask_target(line: &str) -> String {
    let words: Vec<String> = line.split(' ').map(mask_url).collect();
    words.join(" ")
}

/// The command line of this process with its secrets masked.
pub fn command() -> Vec<String> {
    mask_command(args())
}

/// What is no Unicode is replaced: the command is for people to read.
fn args() -> impl Iterator<Item = String> {
    env::args_os().map(|arg| arg.to_string_lossy().into_owned())
}

/// A command line with its secrets masked.
pub fn mask_command(args: impl IntoIterator<Item = String>) -> Vec<String> {
    let args: Vec<String> = args.into_iter().collect();
    let script = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let before = |at: usize| at.checked_sub(1).map_or("", |before| args[before].as_str());
    args.iter()
        .enumerate()
        .map(|(at, arg)| match at > script {
            true => mask_script_argument(before(at), arg),
            false => mask_argument(before(at), arg),
        })
        .collect()
}

/// Flags that a body follows.
const BODIES: [&str; 5] = ["--body", "--data", "--data-raw", "--data-binary", "--json"];

/// The flag that a source follows, which may be a command or the address of a database.
const OBSERVE: &str = "--observe";

/// The flags that a header field follows.
const HEADERS: [&str; 2] = ["--header", "--profile-header"];

/// The flag that a user and a password follow.
const USER: &str = "--user";

/// Flags of one letter that take no value, so that others may follow in the same word.
const SWITCHES: [char; 5] = ['k', 'q', 'L', 'v', 'V'];

/// A word that holds a flag of one letter and its value, taken apart: `-ku` and `me:secret`.
fn behind_letter(arg: &str, letter: char) -> Option<(&str, &str)> {
    let value = arg.strip_prefix('-')?.trim_start_matches(SWITCHES).strip_prefix(letter)?;
    let value = value.strip_prefix('=').unwrap_or(value);
    (!value.is_empty()).then(|| arg.split_at(arg.len() - value.len()))
}

/// A word that holds a long flag and its value, likewise: `--user=` and `me:secret`.
fn behind_word<'a>(arg: &'a str, flag: &str) -> Option<(&'a str, &'a str)> {
    let value = arg.strip_prefix(flag)?.strip_prefix('=')?;
    Some(arg.split_at(arg.len() - value.len()))
}

/// A user and a password with the flag before them in the same word.
fn user_behind(arg: &str) -> Option<(&str, &str)> {
    behind_letter(arg, 'u').or_else(|| behind_word(arg, USER))
}

/// `USER:***`.
fn mask_user(user: &str) -> String {
    user.split_once(':').map_or_else(|| MASK.to_owned(), |(name, _)| format!("{name}:{MASK}"))
}

/// An argument of the command line, masked. A body may stand in one with its flag (`-bTEXT`, `--body=TEXT`), or
/// behind it.
fn mask_argument(before: &str, arg: &str) -> String {
    let ends_with = |letter: char| {
        before.len() > 1
            && before.starts_with('-')
            && !before.starts_with("--")
            && before.ends_with(letter)
    };
    if before == OBSERVE {
        return masked_as_written(arg);
    }
    if let Some((flag, source)) = behind_word(arg, OBSERVE) {
        return format!("{flag}{}", masked_as_written(source));
    }
    if BODIES.contains(&before) || ends_with('b') {
        return mask_body(arg);
    }
    if before == USER || ends_with('u') {
        return mask_user(arg);
    }
    let body = BODIES.iter().find_map(|flag| behind_word(arg, flag));
    if let Some((flag, body)) = body.or_else(|| behind_letter(arg, 'b')) {
        return format!("{flag}{}", mask_body(body));
    }
    if let Some((flag, user)) = user_behind(arg) {
        return format!("{flag}{}", mask_user(user));
    }
    let header = HEADERS.iter().find_map(|flag| behind_word(arg, flag));
    let (flag, rest) = header.or_else(|| behind_letter(arg, 'H')).unwrap_or(("", arg));
    let field = !flag.is_empty() || HEADERS.contains(&before) || ends_with('H');
    match rest.split_once(':') {
        Some((name, value)) if field || is_secret_named_field(name) => {
            let (value, gap) = (value.trim_start(), if value.starts_with(' ') { " " } else { "" });
            let masked = mask_header(name, value);
            let gap = if masked == MASK { " " } else { gap };
            format!("{flag}{name}:{gap}{masked}")
        }
        _ if field => MASK.to_owned(),
        _ if arg.starts_with(['{', '[']) => mask_text(arg),
        _ if is_secret_value(arg) => MASK.to_owned(),
        _ => mask_parts(arg, is_address(arg) || is_bare_url(before, arg)),
    }
}

/// Long flags that take no value and may stand before a URL.
const LONG_SWITCHES: [&str; 13] = [
    "--anyway",
    "--cookies",
    "--details",
    "--disable-keepalive",
    "--force",
    "--insecure",
    "--insecure-skip-tls-verify",
    "--latency",
    "--no-keepalive",
    "--quiet",
    "--reads-only",
    "--spin",
    "--tls-resume",
];

/// Whether a word is a URL without scheme, port and dot, such as `h/reset/TOKEN`, by where it stands: it is no flag's
/// value, and names no file.
fn is_bare_url(before: &str, arg: &str) -> bool {
    let host = arg.split(['/', '?']).next().unwrap_or_default();
    let is_name = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_path = host.len() < arg.len() && !host.starts_with('-');
    let is_free = match before.strip_prefix('-') {
        None => !before.is_empty(),
        Some(long) if long.starts_with('-') => {
            long.contains('=') || LONG_SWITCHES.contains(&before)
        }
        // One letter that is left takes the next word; more have their value with them.
        Some(letters) => letters.trim_start_matches(SWITCHES).chars().count() != 1,
    };
    is_name && is_path && is_free && !Path::new(arg).exists()
}

/// Whether text is a URL and no file's name, judging by what is before the path.
fn is_address(text: &str) -> bool {
    let host = text.split(['/', '?']).next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let is_name = host == "localhost" || host.contains('.') && !host.starts_with(['.', '-']);
    text.contains("://") || has_port || is_name
}

/// An objective's endpoint, such as `GET /token`, is no field's name.
fn is_secret_named_field(name: &str) -> bool {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_name && is_secret_field(name)
}

fn mask_body(body: &str) -> String {
    if is_secret_value(body) || looks_random(body) { MASK.to_owned() } else { mask_text(body) }
}

/// An argument of a script's. Nothing is known of it but what it is named by, before it or in it; a word with
/// both letters and digits may be a password.
fn mask_script_argument(before: &str, arg: &str) -> String {
    let named =
        before.starts_with('-') && (is_secret_query_name(before) || is_secret_field(before));
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.!$%^*+~#".contains(c);
    let (digits, letters) = (
        arg.contains(|c: char| c.is_ascii_digit()),
        arg.contains(|c: char| c.is_ascii_alphabetic()),
    );
    let mixed = arg.len() >= SHORTEST
        && arg.chars().all(word)
        && !arg.starts_with('-')
        && digits
        && letters;
    match arg.split_once(['=', ':']) {
        _ if (named && !arg.starts_with('-'))
            || mixed
            || is_secret_value(arg)
            || looks_random(arg) =>
        {
            MASK.to_owned()
        }
        Some((name, _)) if is_secret_named_field(name) || is_secret_query_name(name) => {
            format!("{}{MASK}", &arg[..=name.len()])
        }
        _ if arg.contains("://") => mask_url(arg),
        _ => mask_text(arg),
    }
}

/// The secrets of this process, which responses and scripts may repeat.
#[derive(Debug, Default)]
pub struct Echoes(BTreeSet<String>);

impl Echoes {
    /// Those on the command line, and what environment variables hold whose names say so.
    pub fn of_this_process() -> Self {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let masked = command();
        let mut all: BTreeSet<String> =
            args().zip(&masked).flat_map(|(plain, masked)| hidden(&plain, masked)).collect();
        let variables = env::vars_os().map(|(name, value)| (lossy(name), lossy(value)));
        all.extend(variables.filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value));
        // A user and a password are sent encoded.
        let users =
            args().zip(&masked).filter(|(plain, masked)| plain.contains(':') && plain != *masked);
        all.extend(users.map(|(plain, _)| {
            BASE64.encode(user_behind(&plain).map_or(plain.as_str(), |(_, user)| user))
        }));
        all.retain(|secret| secret.len() >= SHORTEST);
        Self(all)
    }

    /// Text from outside with credentials masked, those of the command line wherever they stand.
    pub fn mask(&self, text: &str) -> String {
        let masked =
            self.0.iter().rev().fold(text.to_owned(), |text, secret| text.replace(secret, MASK));
        mask_text(&masked)
    }

    /// What an interval's tally keeps of responses, masked: samples of failures, beginnings of bodies, and where
    /// redirects lead.
    pub fn mask_responses(&self, tally: &mut Tally) {
        let Tally { endpoints, samples, kinds, location, .. } = tally;
        let endpoints = endpoints.iter_mut().filter_map(|of| of.sample.as_mut());
        let beginnings = kinds.iter_mut().filter_map(|kind| kind.beginning.as_mut());
        for text in samples.values_mut().chain(endpoints).chain(beginnings) {
            *text = self.mask(text);
        }
        if let Some(location) = location {
            *location = self.mask(&mask_url(location));
        }
    }
}

/// What the masks in `masked` stand for in `plain`, as far as the text between them shows.
fn hidden(plain: &str, masked: &str) -> Vec<String> {
    let kept: Vec<&str> = masked.split(MASK).collect();
    let mut found = Vec::new();
    let mut rest = plain.strip_prefix(kept[0]).unwrap_or_default();
    for (at, behind) in kept.iter().enumerate().skip(1) {
        let last = at + 1 == kept.len();
        let end = match behind.is_empty() || last {
            true => rest.len().saturating_sub(behind.len()),
            false => rest.find(behind).unwrap_or(rest.len()),
        };
        let secret = rest.get(..end).unwrap_or(rest).trim();
        found.push(secret.to_owned());
        // A scheme before it is not part of the secret.
        found.extend(secret.split_once(' ').map(|(_, token)| token.trim().to_owned()));
        rest = rest.get(end + behind.len()..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use model::EndpointPlan;
    use model::interval::KindTally;

    use super::*;

    #[test]
    fn paths_of_workload_files_are_stored_without_their_secrets() {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2lnbmF0dXJl";
        let endpoint = |name: &str, path: String| EndpointPlan {
            name: name.to_owned(),
            path,
            ..EndpointPlan::default()
        };
        let (named, of_path) = ("GET /b", format!("GET /in/{jwt}"));
        let mix = mask_mix(Mix {
            endpoints: vec![
                endpoint(named, "/b?page=2&access_token=s3cr3t".to_owned()),
                endpoint(&of_path, format!("/in/{jwt}")),
                endpoint("users", "/users/${ids.id}".to_owned()),
            ],
            ..Mix::default()
        });
        let kept: Vec<_> = mix.endpoints.iter().map(|kept| (&*kept.name, &*kept.path)).collect();
        assert_eq!(kept[0], (named, "/b?page=2&access_token=***"));
        assert_eq!(kept[1], ("GET /in/***", "/in/***"));
        assert_eq!(kept[2], ("users", "/users/${ids.id}"));
    }

    #[test]
    fn what_is_kept_of_responses_is_masked() {
        let mut tally = Tally::default();
        let beginning = Some("{\"token\": \"s3cr3t\"}".to_owned());
        tally.kinds.push(KindTally { beginning, ..KindTally::default() });
        tally.location = Some("https://h/in?token=s3cr3t&page=2".to_owned());
        Echoes::default().mask_responses(&mut tally);
        let Tally { kinds, location, .. } = tally;
        assert_eq!(kinds[0].beginning.as_deref(), Some("{\"token\": \"***\"}"));
        assert_eq!(location.as_deref(), Some("https://h/in?token=***&page=2"));
    }

    #[test]
    fn requests_are_shown_without_credentials() {
        let text = "GET /a?token=x&b=1 HTTP/1.1\nHost: h\nCookie: sid=x\n\nbody: x\n";
        let shown = "GET /a?token=***&b=1 HTTP/1.1\nHost: h\nCookie: ***\n\nbody: x\n";
        assert_eq!(mask_request(text), shown);
    }

    #[test]
    fn credentials_are_masked_wherever_they_stand() {
        let masked = mask_command(
            [
                "plimsoll",
                "-H",
                "Authorization: Bearer abc",
                "-HX-Api-Key: abc",
                "--header=Cookie: abc",
                "-HX-Client-Secret: abc",
                "--slo",
                "GET /token: p95<80ms",
                "-H",
                "Accept: text/html",
                "http://host/a?user_key=abc&page=2",
            ]
            .map(str::to_owned),
        );
        assert!(!masked.concat().contains("abc"), "{masked:?}");
        assert!(masked.concat().contains("text/html") && masked.concat().contains("page=2"));
        assert_eq!(masked[3], "-HX-Api-Key: ***");
        assert!(masked.concat().contains("GET /token: p95<80ms"), "{masked:?}");
    }

    fn masked(line: &[&str]) -> String {
        mask_command(line.iter().map(|arg| (*arg).to_owned())).join("|")
    }

    #[test]
    fn credentials_are_found_by_name_and_by_shape() {
        for (line, wanted) in [
            (&["-H", "Ocp-Apim-Subscription-Key: abc"][..], "-H|Ocp-Apim-Subscription-Key: ***"),
            (&["-HX-Session: abc"], "-HX-Session: ***"),
            (&["-H", "X-Any: Bearer abcdefgh"], "-H|X-Any: ***"),
            (&["-H", "no colon at all abc"], "-H|***"),
            (&["--profile-header=X-Key: abc"], "--profile-header=X-Key: ***"),
            (&["--profile-header", "X: 4f9aQ72kd0zL1mB83xVt"], "--profile-header|X: ***"),
            (&["-kuann:abc"], "-kuann:***"),
            (&["-u=ann:abc"], "-u=ann:***"),
            (&["-kqHAuthorization: abc"], "-kqHAuthorization: ***"),
            (&["-qbpassword=abc"], "-qbpassword=***"),
            (&["-b", r#"{"password":"abc"}"#], r#"-b|{"password":"***"}"#),
            (&["-qb", "user=a&password=abc"], "-qb|user=a&password=***"),
            (&["--body={\"pin\":1,\"secret\":\"abc\"}"], "--body={\"pin\":1,\"secret\":\"***\"}"),
            (&["-bgrant=x&client_secret=abc"], "-bgrant=x&client_secret=***"),
            (&["--", "--token", "abc", "10", "read"], "--|--token|***|10|read"),
            (&["--", "api_key=abc", "s3cr3t-word", "--user=ann"], "--|api_key=***|***|--user=ann"),
            (&["http://ann:abc@h/eyJhbGciOi.abcdefghijkl.xyz?sid=abc"], "http://***@h/***?sid=***"),
            (
                &["https://hooks.h/services/T024BE7LD/B024BE7LE/h3Kd8sJ2mQ0pLr7XzB1vAb2C"],
                "https://hooks.h/services/T024BE7LD/B024BE7LE/***",
            ),
            (
                &["h:1/reset/5d41402abc4b2a76b9719d911017c592?code=ab&state=cd&n=1"],
                "h:1/reset/***?code=***&state=***&n=1",
            ),
            (&["http://auth.h/Xy7Kp2Qz?code=NL"], "http://auth.h/Xy7Kp2Qz?code=NL"),
            (&["h:1/a;jsessionid=5A;v=1"], "h:1/a;jsessionid=***;v=1"),
            (&["example.com/reset/5d41402abc4b2a76b9719d911017c592"], "example.com/reset/***"),
            (&["run", "h/reset/5d41402abc4b2a76b9719d911017c592"], "run|h/reset/***"),
            (&["-kq", "h/reset/5d41402abc4b2a76b9719d911017c592"], "-kq|h/reset/***"),
            (&["-c1", "h/reset/5d41402abc4b2a76b9719d911017c592"], "-c1|h/reset/***"),
            (&["--spin", "h/reset/5d41402abc4b2a76b9719d911017c592"], "--spin|h/reset/***"),
            (
                &["-ks", "reset/5d41402abc4b2a76b9719d911017c592"],
                "-ks|reset/5d41402abc4b2a76b9719d911017c592",
            ),
            (&["-o", "./runs/share/h3Kd8sJ2mQ0pLr7X"], "-o|./runs/share/h3Kd8sJ2mQ0pLr7X"),
            (&["--out", "runs/share/h3Kd8sJ2mQ0pLr7X"], "--out|runs/share/h3Kd8sJ2mQ0pLr7X"),
            (&["--slo", "p99<50ms", "-c", "100"], "--slo|p99<50ms|-c|100"),
            (&["--observe", "app=exec:mysql -pabc"], "--observe|app=exec:mysql ***"),
            (&["--observe=exec:A=abc x"], "--observe=exec:x ***"),
            (
                &["--observe", "app=exec:ssh a plimsoll watch"],
                "--observe|app=exec:ssh a plimsoll watch",
            ),
            (&["--observe", "db=mysql://a:b@c/abc@h"], "--observe|db=mysql://a:***@h"),
            (&["--observe", "prometheus:http://a:abc@h"], "--observe|prometheus:***"),
            (&["postgres://a:b/abc@h/d"], "postgres://a:***@h/d"),
            (&["http://a:b/abc@h/d"], "http://***@h/d"),
            (&["http://h:1/@b/d"], "http://h:1/@b/d"),
            (&["http://ann:abc@[bad/"], "http://***@[bad/"),
            (&["ann:abc@[bad/d"], "***@[bad/d"),
            (&["http:/ann:abc@h/d"], "http:/***@h/d"),
            (&["https//ann:abc@h/d"], "https//***@h/d"),
            (&["git@h:a/b"], "git@h:a/b"),
        ] {
            assert_eq!(masked(line), wanted);
        }
    }

    #[test]
    fn messages_repeat_no_secret() {
        for (line, message, wanted) in [
            (&["run", "ann:hunter2@[bad"][..], "`ann:hunter2@[bad` is no", "`***@[bad` is no"),
            (&["plan", "--target=ann:hunter2@[b"], "`ann:hunter2@[b` is no", "`***@[b` is no"),
            (&["fill", "pg://ann:hunter2@h"], "`pg://ann:hunter2@h`", "`pg://***@h`"),
            (&["run", "-H", "x"], "no text", "no text"),
            (&[], "`http://ann:hunter2@[bad/` is not a URL", "`http://***@[bad/` is not a URL"),
            (&[], "http://h/a?user_key=abc: refused", "http://h/a?user_key=***: refused"),
            (&[], "did you mean https://ann:abc@h/?", "did you mean https://***@h/?"),
            (
                &[],
                "see http://h/?token=abc, or http://g/.",
                "see http://h/?token=***, or http://g/.",
            ),
            (&[], "as in http://[::1]:8080/", "as in http://[::1]:8080/"),
        ] {
            let repeated = mask_repeated(message, line.iter().map(|word| (*word).to_owned()));
            assert_eq!(mask_urls(&repeated), wanted, "{line:?}");
        }
    }

    #[test]
    fn responses_that_repeat_a_secret_are_masked() {
        for (plain, wanted) in [
            ("-HX-Api-Key: abcdef", "abcdef"),
            (r#"{"user":"a","password":"abcdef","n":1}"#, "abcdef"),
            ("Authorization: Bearer abcdefgh", "abcdefgh"),
        ] {
            let masked = mask_argument("", plain);
            assert!(hidden(plain, &masked).contains(&wanted.to_owned()), "{plain} {masked}");
        }
        let echoes = Echoes(["hunter2-abc".to_owned()].into());
        assert_eq!(
            echoes.mask("401: no user for hunter2-abc, {\"token\":\"x\"}"),
            "401: no user for ***, {\"token\":\"***\"}"
        );
    }
}
