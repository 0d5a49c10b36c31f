//! The body that flags give: a text or a file's bytes, and what the user should know where something else may have been meant.
//! Which media type goes with it is [`super::input`]'s.

use std::path::Path;

use crate::args::LoadArgs;
use crate::failure::{Failure, usage};
use crate::load::input::names_field;
use crate::results::input;

/// The body, if flags give one.
///
/// # Errors
/// When its file cannot be read, or is standard input.
pub fn of(args: &LoadArgs) -> Result<Option<Vec<u8>>, Failure> {
    let text = given(args);
    for notice in notices(args) {
        eprintln!("plimsoll: {notice}");
    }
    match (text, file(args).or(args.body_file.as_deref())) {
        (_, Some(path)) => read(path).map(Some),
        (Some(text), None) => Ok(Some(text.clone().into_bytes())),
        (None, None) => Ok(None),
    }
}

/// The file that `-b @FILE`, `--data @FILE` or `--json @FILE` names.
pub fn file(args: &LoadArgs) -> Option<&Path> {
    given(args)?.strip_prefix('@').map(Path::new)
}

/// What the flag for a body is given.
fn given(args: &LoadArgs) -> Option<&String> {
    args.body.as_ref().or(args.data.as_ref()).or(args.json.as_ref())
}

/// Where something else may have been meant.
fn notices(args: &LoadArgs) -> Vec<String> {
    let has_type = names_field(args, "Content-Type");
    let is_json = |text: &String| text.trim_start().starts_with(['{', '[']);
    let is_cookie = args.body.as_deref().is_some_and(may_be_cookie) && args.method.is_none();
    let named = given(args).filter(|text| text.len() <= 255 && Path::new(text).is_file());
    let named = named
        .map(|text| format!("the body is the text `{text}`; @{text} sends the file of that name"));
    let json = (args.data.as_ref().is_some_and(is_json) && !has_type).then(|| {
        "the body looks like JSON and is sent as a form, as curl does; --json sends it as JSON"
            .to_owned()
    });
    // As curl has its cookies.
    let cookie = (is_cookie && !has_type).then(|| {
        "-b is a body, sent by POST without a type: --data sends a form, -H 'Cookie: NAME=VALUE' a cookie"
            .to_owned()
    });
    [named, json, cookie].into_iter().flatten().collect()
}

/// Whether a text is what curl's `-b` takes: `NAME=VALUE; NAME=VALUE`.
fn may_be_cookie(text: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"_-.".contains(&sign);
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_sign);
    let is_pair = |pair: &str| pair.trim().split_once('=').is_some_and(|(name, _)| is_name(name));
    !text.contains(['&', '\n']) && text.split(';').all(is_pair)
}

/// The bytes of a body's file. Standard input is none: a load that is repeated or resumed reads its body again.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") && !path.exists() {
        return usage(
            "a body is not read from standard input, as it is read again where a load is repeated: write it into a file, and \
             name that instead of `-`",
        );
    }
    let read = input::read_at_most(path, traffic::LONGEST_REQUEST as u64);
    read.map_err(|why| Failure::CannotRun(format!("the body's file {}: {why}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_cookie_is_not_taken_for_a_body_in_silence() {
        for text in ["session=abc", "a=1; b=2", "theme=dark mode"] {
            assert!(may_be_cookie(text), "{text}");
        }
        for text in ["", "hello", "{\"a\": \"b=c\"}", "a=1&b=2", "@file", "=x", "a=1;\nb=2"] {
            assert!(!may_be_cookie(text), "{text}");
        }
        let of = |body: &str| LoadArgs { body: Some(body.into()), ..LoadArgs::without_flags() };
        assert!(notices(&of("session=abc"))[0].contains("-H 'Cookie: NAME=VALUE'"));
        let typed = LoadArgs { headers: vec!["content-type: text/x".into()], ..of("session=abc") };
        let by_method = LoadArgs { method: Some("PUT".into()), ..of("session=abc") };
        assert_eq!(notices(&typed), notices(&by_method));
        assert!(notices(&typed).is_empty());
    }
}
