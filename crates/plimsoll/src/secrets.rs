//! What must not be printed or stored: credentials on the command line and in header fields.

/// What stands in for a secret.
const MASK: &str = "***";

/// Header fields whose values are credentials.
const SECRET_FIELDS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-csrf-token",
];

/// Query parameters whose values are credentials.
const SECRET_PARAMETERS: [&str; 8] =
    ["user_key", "api_key", "apikey", "access_token", "token", "password", "secret", "key"];

/// A header's value, masked if it is a credential.
pub fn mask_header(name: &str, value: &str) -> String {
    if SECRET_FIELDS.contains(&name.trim().to_ascii_lowercase().as_str()) {
        MASK.to_owned()
    } else {
        value.to_owned()
    }
}

/// A URL with the values of credentials in its query masked.
pub fn mask_url(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let masked: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) if SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) => {
                format!("{name}={MASK}")
            }
            _ => pair.to_owned(),
        })
        .collect();
    format!("{path}?{}", masked.join("&"))
}

/// A request, as text, with its secrets masked.
pub fn mask_request(text: &str) -> String {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let field = |line: &str| match line.split_once(": ") {
        Some((name, value)) => format!("{name}: {}", mask_header(name, value)),
        None => mask_target(line),
    };
    let lines: Vec<String> = head.lines().map(field).collect();
    format!("{}\n\n{body}", lines.join("\n"))
}

/// A request line with the credentials in its target masked.
fn mask_target(line: &str) -> String {
    let words: Vec<String> = line.split(' ').map(mask_url).collect();
    words.join(" ")
}

/// A command line with its secrets masked.
pub fn mask_command(args: impl IntoIterator<Item = String>) -> Vec<String> {
    args.into_iter()
        .map(|arg| {
            let (flag, rest) =
                match arg.strip_prefix("-H").or_else(|| arg.strip_prefix("--header=")) {
                    Some(rest) if !rest.is_empty() => (&arg[..arg.len() - rest.len()], rest),
                    _ => ("", arg.as_str()),
                };
            match rest.split_once(':') {
                Some((name, value))
                    if SECRET_FIELDS.contains(&name.trim().to_ascii_lowercase().as_str()) =>
                {
                    format!("{flag}{name}: {}", mask_header(name, value))
                }
                _ => mask_url(&arg),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
                "-H",
                "Accept: text/html",
                "http://host/a?user_key=abc&page=2",
            ]
            .map(str::to_owned),
        );
        assert!(!masked.concat().contains("abc"), "{masked:?}");
        assert!(masked.concat().contains("text/html") && masked.concat().contains("page=2"));
        assert_eq!(masked[3], "-HX-Api-Key: ***");
    }
}
