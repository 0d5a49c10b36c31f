//! What must not be printed or stored: credentials on the command line and in header fields.

use model::secret::is_secret_name;

/// What stands in for a secret.
const MASK: &str = "***";

/// Whether it is the name of a header field whose value is a credential. An objective's endpoint, such
/// as `GET /token`, is none.
fn is_secret_field(name: &str) -> bool {
    let name = name.trim();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_name && (name.eq_ignore_ascii_case("cookie") || is_secret_name(name, false))
}

/// A header's value, masked if it is a credential.
pub fn mask_header(name: &str, value: &str) -> String {
    if is_secret_field(name) { MASK.to_owned() } else { value.to_owned() }
}

/// A URL with the values of credentials in its query masked.
pub fn mask_url(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let masked: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) if is_secret_name(name, true) => {
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
                Some((name, value)) if is_secret_field(name) => {
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
}
