//! Bodies that read as errors, whatever their status: `{"ok":false}`, `Database connection failed`.
//!
//! By words alone, in how a body begins. One endpoint's data may hold such words too, so that nothing but a note is
//! said of what reads so from the start, and of a body that all others are to be like it is only asked. In JSON they count in the
//! names of members, and in values only of members that say what became of a request: a product's description may be of errors.

use model::ResponseKind;

/// Words that bodies of errors have in common.
const ERRORS: [&str; 17] = [
    "exception",
    "traceback",
    "fail",
    "failed",
    "failure",
    "fault",
    "fatal",
    "denied",
    "refused",
    "forbidden",
    "unauthorized",
    "unavailable",
    "overloaded",
    "exhausted",
    "timeout",
    "invalid",
    "cannot",
];
/// Values of a member called `error` that say that there is none.
const NOTHING: [&str; 7] = ["null", "false", "0", "\"\"", "[]", "{}", "none"];
/// Members of an object that say so by their value.
const REFUSALS: [&str; 2] = ["\"ok\":false", "\"success\":false"];
/// How JSON begins that has names of members, without white space: `[ERROR]` is none.
const JSON: [&str; 4] = ["{\"", "[{\"", "[[", "[\""];
/// Names of members whose values say what became of a request.
const SAYING: [&str; 11] = [
    "status", "state", "result", "outcome", "message", "msg", "code", "type", "reason", "detail",
    "details",
];
/// What pages say that a server sends in the place of others, without white space.
const PHRASES: [&str; 9] = [
    "somethingwentwrong",
    "tryagainlater",
    "berightback",
    "formaintenance",
    "undermaintenance",
    "toomanyrequests",
    "<title>notfound",
    "<title>pagenotfound",
    "<h1>notfound",
];
/// What pages have that ask to log in, without white space.
const LOGINS: [&str; 6] = [
    "<title>login",
    "<title>signin",
    "<h1>login",
    "<h1>signin",
    "type=password",
    "type=\"password\"",
];

/// What a response seems to be, as the end of a sentence about it, where it seems to be none that was asked for.
pub fn seems_unwanted(kind: &ResponseKind) -> Option<&'static str> {
    let beginning = plain(kind.beginning.as_deref());
    match kind.status {
        304 => None,
        300..400 => Some("is a redirect"),
        _ if reads_as_error(&beginning) => Some("reads as an error"),
        _ if asks_to_log_in(&beginning) => Some("reads as a login page"),
        _ => None,
    }
}

/// How a body begins, line feeds and the like as blanks.
pub fn plain(beginning: Option<&str>) -> String {
    let escaped = beginning.unwrap_or_default().to_owned();
    ["\\n", "\\r", "\\t"].iter().fold(escaped, |text, sign| text.replace(sign, " "))
}

/// Whether a body that begins so tells of an error.
pub fn reads_as_error(beginning: &str) -> bool {
    let dense = dense(beginning);
    if REFUSALS.iter().any(|refusal| dense.contains(refusal)) {
        return true;
    }
    if JSON.iter().any(|start| dense.starts_with(start)) {
        return json_reads_as_error(beginning);
    }
    is_titled_by_status(&dense) || text_reads_as_error(beginning)
}

fn text_reads_as_error(text: &str) -> bool {
    let dense = dense(text);
    PHRASES.iter().any(|phrase| dense.contains(phrase)) || has_word_of_errors(text, "")
}

/// Whether a word is one of errors and, where `then` and what follows it make it the name of a member, that is not empty.
fn has_word_of_errors(text: &str, then: &str) -> bool {
    let in_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(in_word) {
        let from = &rest[start..];
        let (word, behind) = from.split_at(from.find(|c| !in_word(c)).unwrap_or(from.len()));
        let following = if behind.is_empty() { then } else { behind };
        if is_of_errors(word) && !says_nothing(following) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether JSON, which may be cut off, tells of an error: by the name of a member, or by the value of one that says so of the
/// request, and not of something in a list.
fn json_reads_as_error(json: &str) -> bool {
    let (mut lists, mut name, mut rest) = (0_usize, "", json);
    while let Some(at) = rest.find(['[', ']', '"']) {
        let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = after;
        match sign {
            b'[' => lists += 1,
            b']' => lists = lists.saturating_sub(1),
            _ => {
                let (string, then) = after.split_at(end_of_string(after));
                rest = then.strip_prefix('"').unwrap_or_default();
                if rest.trim_start().starts_with(':') {
                    if has_word_of_errors(string, then) {
                        return true;
                    }
                    name = string;
                } else if lists == 0 && is_saying(name) && text_reads_as_error(string) {
                    return true;
                }
            }
        }
    }
    false
}

fn is_saying(name: &str) -> bool {
    SAYING.iter().any(|saying| name.eq_ignore_ascii_case(saying))
}

/// Where a string of JSON ends whose first quotation mark is before this text.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let ends = text.find(|c: char| {
        let is_end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    });
    ends.unwrap_or(text.len())
}

/// Whether a body that begins so asks to log in.
pub fn asks_to_log_in(beginning: &str) -> bool {
    let dense = dense(beginning);
    LOGINS.iter().any(|login| dense.contains(login))
}

/// Small letters without white space.
fn dense(beginning: &str) -> String {
    let dense: String = beginning.chars().filter(|c| !c.is_whitespace()).collect();
    dense.to_ascii_lowercase()
}

/// `<title>502 Bad Gateway`: a page whose title begins with a status of failure.
fn is_titled_by_status(dense: &str) -> bool {
    let titles = ["<title>", "<h1>"].into_iter().flat_map(|tag| dense.split(tag).skip(1));
    titles.map(str::as_bytes).any(|title| {
        let digits = title.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits == 3 && matches!(title[0], b'4' | b'5')
    })
}

/// `error_code`, `errorMessage`, `TypeError`, `Denied`.
fn is_of_errors(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower.starts_with("error")
        || lower.split('_').any(|part| ERRORS.contains(&part))
        || ["Error", "Exception"].iter().any(|end| word.ends_with(end))
}

/// Whether what follows a word makes it a member that is empty: `"error": null`.
fn says_nothing(then: &str) -> bool {
    let value = then.trim_start_matches(['"', ' ']).strip_prefix(':').map(str::trim_start);
    value.is_some_and(|value| NOTHING.iter().any(|nothing| value.starts_with(nothing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_should_not_be_like_is_recognised() {
        for (status, beginning, expected) in [
            (200, r#"{"items":[]}"#, None),
            (200, r#"{"ok":false}"#, Some("reads as an error")),
            (200, "<!doctype html>\\n<title>Log in</title>", Some("reads as a login page")),
            (200, "<html><h1>Sign in to Example</h1>", Some("reads as a login page")),
            (200, "<title>Design Inc</title>", None),
            (200, "login", None),
            (302, "", Some("is a redirect")),
            (304, "", None),
        ] {
            let beginning = Some(beginning.to_owned());
            let kind = ResponseKind { status, beginning, ..ResponseKind::default() };
            assert_eq!(seems_unwanted(&kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn errors_are_recognised_by_their_words() {
        for (text, expected) in [
            (r#"{"error":"x"}"#, true),
            (r#"{"errorMessage": "x"}"#, true),
            (r#"{"status":"error"}"#, true),
            (r#"{"success" : false}"#, true),
            ("<title>Internal Server Error</title>", true),
            ("<html><head><title>502 Bad Gateway</title></head>", true),
            ("<html>\n<head><title>504 Gateway Time-out</title>", true),
            ("<title>200 OK</title>", false),
            ("<html><body><h1>Something went wrong</h1>", true),
            ("<title>Page not found - Example</title>", true),
            ("<p>We will be right back.</p>", true),
            (r#"{"title":"right back at you"}"#, false),
            ("<title>5000 miles</title>", false),
            ("database connection pool exhausted", true),
            ("java.lang.NullPointerException", true),
            (r#"{"errors":[],"data":{}}"#, false),
            (r#"{"error":null}"#, false),
            (r#"{"ok":true}"#, false),
            ("terror and mirrors", false),
            ("", false),
            (r#"{"message":"Internal Server Error"}"#, true),
            (r#"{"message":"The site is under maintenance"}"#, true),
            (r#"{"id":7,"result":{"code":"TIMEOUT"}}"#, true),
            (r#"[{"error_code":3}]"#, true),
            (r#"{"data":null,"errors":[{"path":["a"]}]}"#, true),
            ("[ERROR] database connection lost", true),
            ("{'error': 'no database'}", true),
            // A product, a book, orders, and what is cut off.
            (
                r#"{"id":3,"name":"Pump","description":"error free, under maintenance contract"}"#,
                false,
            ),
            (r#"{"title":"Trial and Error"}"#, false),
            (r#"{"text":"the \"error\": too many requests, try again later"}"#, false),
            (r#"{"orders":[{"id":1,"status":"failed"},{"id":2,"status":"paid"}]}"#, false),
            (r#"{"description":"how to handle an err"#, false),
            (r#"{"error"#, false),
        ] {
            assert_eq!(reads_as_error(text), expected, "{text}");
        }
    }

    #[test]
    fn pages_to_log_in_are_recognised_by_their_title_or_field() {
        for (text, expected) in [
            ("<html><head><title>Sign in</title>", true),
            ("<title>Log in to Acme</title>", true),
            ("<form action=/login><input type=\"password\">", true),
            ("<title>Acme</title>", false),
            (r#"{"login":"ada"}"#, false),
        ] {
            assert_eq!(asks_to_log_in(text), expected, "{text}");
        }
    }

    #[test]
    fn escapes_are_no_letters() {
        assert!(reads_as_error(&plain(Some("{\\n\\t\"error\": 1}"))));
        assert_eq!(plain(None), "");
    }
}
