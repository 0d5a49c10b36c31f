//! Requests made to fit the places of a workload.
//!
//! In a [`Draft`] all text is template text; in a workload the names of fields, parts and files are plain.
//! What a tool's file says and that place cannot hold is written in another form that sends the
//! same, or left out with a note. What only the compiler sees, such as a body that is not the JSON
//! that its media type says, is left out by [`super::Imported::leave_out`].

use std::collections::BTreeMap;

use model::workload::{Body, Fields, Part};

use super::body::FORM;
use super::draft::{Draft, LONGEST_URL, encode_value, is_token};
use super::json::LONGEST_NAME;
use super::note::Kind;
use super::template::{Piece, hole, literal, map_text, pieces, plain, push};
use model::quote::quote;

/// Variables of a workload: their templates by name.
type Variables = BTreeMap<String, String>;

/// Variables inside one another that are looked into.
const DEEPEST: usize = 8;
/// Bytes of a host at most: of a name in the DNS, or an address, and its port.
const LONGEST_HOST: usize = 300;

/// Why a request cannot be sent at all, in words.
pub(super) fn unfit(draft: &Draft) -> Option<String> {
    if !is_token(&draft.method) || draft.method == "CONNECT" {
        return Some(format!("the method {}: it cannot be sent", quote(&draft.method)));
    }
    let bytes = draft.path.len();
    (bytes > LONGEST_URL).then(|| format!("a path of {bytes} bytes"))
}

/// Makes a request fit; `variables` are the workload's own.
pub(super) fn fit(draft: &mut Draft, variables: &Variables) {
    cut_fragment(draft);
    settle_host(draft, variables);
    leave_long_headers(draft);
    move_queries(draft);
    draft.body = match draft.body.take() {
        Some(Body::Form(fields)) if is_odd(&fields) => {
            if draft.header("content-type").is_none() {
                draft.put_header("Content-Type", FORM);
            }
            Some(Body::Text(form(&fields)))
        }
        Some(Body::Multipart(parts)) => {
            Some(Body::Multipart(parts.into_iter().filter_map(|p| part(p, draft)).collect()))
        }
        Some(Body::File(name)) => file_name("the body", &name, draft).map(Body::File),
        other => other,
    };
}

/// Whether fields cannot be written as such: a workload refuses a name that has a placeholder or what looks like
/// one, YAML a long one, and both keep those of one name together, which another order may mean something to.
fn is_odd(fields: &Fields) -> bool {
    let odd_name = |name: &str| name.contains("${") || name.len() > LONGEST_NAME;
    fields.iter().any(|(name, _)| odd_name(name)) || fields.clone().grouped() != *fields
}

/// Leaves the `Host` field out where it says what the URL does. Another one asks for another site of the same
/// server.
fn settle_host(draft: &mut Draft, variables: &Variables) {
    let is_host = |host: &str| {
        let mut known = String::new();
        fill_in(host, variables, DEEPEST, &mut known);
        let fits = !known.is_empty() && known.len() <= LONGEST_HOST;
        fits && !draft.origin.is_empty() && wire::is_authority(known.as_bytes())
    };
    let hosts: Vec<String> = draft
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, host)| host.to_owned())
        .collect();
    let own = draft.origin.split_once("://").map_or("", |(_, host)| host);
    match &hosts[..] {
        [] => {}
        [host] if is_host(host) && !host.eq_ignore_ascii_case(own) => {}
        _ => {
            let is_other = hosts.iter().any(|host| !host.eq_ignore_ascii_case(own));
            draft.remove_header("host");
            if is_other {
                draft.note(Kind::NotCarriedOver, "the header field Host: it is the target's");
            }
        }
    }
}

/// Writes what is known of a text: variables filled in, and for what is not known before a run a 1, which may be a name
/// and a port.
fn fill_in(template: &str, variables: &Variables, depth: usize, out: &mut String) {
    for piece in pieces(template) {
        if out.len() > LONGEST_HOST {
            return;
        }
        match piece {
            Piece::Text(text) => *out += &text,
            Piece::Hole(hole) => match variables.get(&hole[2..hole.len() - 1]) {
                Some(value) if depth > 0 => fill_in(value, variables, depth - 1, out),
                _ => out.push('1'),
            },
        }
    }
}

/// Leaves header fields out whose name is too long for a workload file.
fn leave_long_headers(draft: &mut Draft) {
    let before = draft.headers.0.len();
    draft.headers.0.retain(|(name, _)| name.len() <= LONGEST_NAME);
    if draft.headers.0.len() < before {
        let what = format!("header fields with names of more than {LONGEST_NAME} bytes");
        draft.note(Kind::NotCarriedOver, what);
    }
}

/// Takes the part after `#` away, which is never sent.
fn cut_fragment(draft: &mut Draft) {
    if !draft.path.contains('#') {
        return;
    }
    let mut path = String::new();
    for piece in pieces(&draft.path) {
        match piece {
            Piece::Hole(hole) => push(&mut path, hole),
            Piece::Text(text) => match text.split_once('#') {
                Some((before, _)) => {
                    path += &literal(before);
                    draft.path = path;
                    return draft.note(Kind::Assumed, "the part after # in the URL is never sent");
                }
                None => path += &literal(&text),
            },
        }
    }
}

/// Puts query parameters that cannot be written as fields into the path, which takes placeholders anywhere.
fn move_queries(draft: &mut Draft) {
    if !is_odd(&draft.query) {
        return;
    }
    let escaped = |text: &str| map_text(text, |text| Some(encode_value(text))).unwrap_or_default();
    for (name, value) in std::mem::take(&mut draft.query).0 {
        draft.path.push(if draft.path.contains('?') { '&' } else { '?' });
        draft.path += &format!("{}={}", escaped(&name), escaped(&value));
    }
}

/// The text of a form, as which names may have placeholders.
fn form(fields: &Fields) -> String {
    let escaped = |template: &str| {
        let mut out = String::new();
        for piece in pieces(template) {
            match piece {
                Piece::Text(text) => out += &encode_value(&text),
                Piece::Hole(of) => {
                    push(&mut out, &hole(&format!("urlencode({})", &of[2..of.len() - 1])));
                }
            }
        }
        out
    };
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A part with plain names; none if a placeholder is among them.
fn part(part: Part, draft: &mut Draft) -> Option<Part> {
    let Some(name) = plain(&part.name) else {
        let what = format!("the part {}: its name is not known before a run", quote(&part.name));
        draft.note(Kind::NotCarriedOver, what);
        return None;
    };
    let of = format!("the part {}", quote(&name));
    let mut settled = |what: &str, setting: Option<String>| {
        let text = plain(setting.as_deref()?).filter(|text| !text.contains(char::is_control));
        if text.is_none() {
            draft.note(Kind::NotCarriedOver, format!("{of}: its {what}"));
        }
        text
    };
    let filename = settled("file name", part.filename);
    let content_type = settled("media type", part.content_type);
    let file = match part.file {
        Some(name) => Some(file_name(&of, &name, draft)?),
        None => None,
    };
    Some(Part { name, text: part.text, file, filename, content_type })
}

/// The plain name of a file; none, and a note, where it has none.
pub(super) fn file_name(of: &str, name: &str, draft: &mut Draft) -> Option<String> {
    let file = plain(name).filter(|name| !name.trim().is_empty());
    if file.is_none() {
        let what = format!("{of}: the file {}: name it with `file:`", quote(name));
        draft.note(Kind::NotCarriedOver, what);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(draft: Draft) -> Draft {
        let mut draft = draft;
        let variables = [("site", "shop.example"), ("odd", "${space}b"), ("space", "a ")];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        fit(&mut draft, &variables.into_iter().map(owned).collect());
        draft
    }

    #[test]
    fn a_path_ends_before_its_fragment_and_takes_odd_parameters() {
        let draft = |path: &str, query: &[(&str, &str)]| {
            let query = query.iter().copied().collect();
            Draft { path: path.to_owned(), query, ..Draft::new("", "GET") }
        };
        for (path, query, fit) in [
            ("/a", &[("${env.X}", "${y} z")][..], "/a?${env.X}=${y}%20z"),
            ("/a?b=1", &[("$${c}", "&")], "/a?b=1&%24%7Bc%7D=%26"),
            ("/a", &[("b[]", "1"), ("c", "2;"), ("b[]", "3")], "/a?b%5B%5D=1&c=2%3B&b%5B%5D=3"),
            ("/a?", &[], "/a?"),
            ("/$${a}/${f('#')}/b#c${d}", &[], "/$${a}/${f('#')}/b"),
        ] {
            let done = fitted(draft(path, query));
            assert_eq!((done.path.as_str(), done.query.is_empty()), (fit, true), "{path}");
        }
        assert_eq!(fitted(draft("/", &[("", "1"), ("a", "2")])).query.iter().count(), 2);
    }

    #[test]
    fn a_form_with_odd_names_is_sent_as_text() {
        let fields = [("${env.X}", "$${1}&"), ("b", "${int(0, 9)} €")].into_iter().collect();
        let done = fitted(Draft { body: Some(Body::Form(fields)), ..Draft::new("", "POST") });
        let text = "${urlencode(env.X)}=%24%7B1%7D%26&b=${urlencode(int(0, 9))}%20%E2%82%AC";
        assert_eq!(done.body, Some(Body::Text(text.to_owned())));
        assert_eq!(done.header("content-type"), Some(FORM));
        let fields: Fields = [("", "${x}")].into_iter().collect();
        let body = Some(Body::Form(fields));
        assert_eq!(fitted(Draft { body: body.clone(), ..Draft::new("", "POST") }).body, body);
        // Rack begins a new item where a name comes again: in another order these are other items.
        let fields = [("i[][a]", "1"), ("i[][b]", "2"), ("i[][a]", "3")].into_iter().collect();
        let done = fitted(Draft { body: Some(Body::Form(fields)), ..Draft::new("", "POST") });
        let text = "i%5B%5D%5Ba%5D=1&i%5B%5D%5Bb%5D=2&i%5B%5D%5Ba%5D=3";
        assert_eq!(done.body, Some(Body::Text(text.to_owned())));
    }

    #[test]
    fn another_host_than_the_urls_is_kept_and_long_names_are_not() {
        for (url, host, kept) in [
            ("http://h:8080/", "H:8080", None),
            ("http://127.0.0.1:8080/", "shop.example", Some("shop.example")),
            ("http://127.0.0.1:8080/", "${env.SITE}", Some("${env.SITE}")),
            ("http://127.0.0.1:8080/", "${env.SITE}:${env.PORT}", Some("${env.SITE}:${env.PORT}")),
            ("http://127.0.0.1:8080/", "[::1]:80", Some("[::1]:80")),
            ("http://127.0.0.1:8080/", "${site}:80", Some("${site}:80")),
            ("http://127.0.0.1:8080/", "${odd}", None),
            ("http://127.0.0.1:8080/", "a b", None),
            ("http://127.0.0.1:8080/", ":id", None),
            ("http://127.0.0.1:8080/", "shop.example:${env.PORT}:80", None),
            ("http://127.0.0.1:8080/", "[::1", None),
        ] {
            let mut draft = Draft::new("", "GET");
            draft.put_url(url).unwrap();
            draft.put_header("Host", host);
            draft.put_header(&"X".repeat(600), "1");
            let done = fitted(draft);
            assert_eq!((done.header("host"), done.headers.0.len()), (kept, kept.iter().count()));
        }
    }

    #[test]
    fn parts_and_files_have_plain_names_or_are_left_out() {
        let part = |name: &str, file: Option<&str>| Part {
            name: name.to_owned(),
            text: file.is_none().then(|| "${x}".to_owned()),
            file: file.map(str::to_owned),
            content_type: Some("a/\u{7}".to_owned()),
            ..Part::default()
        };
        let parts = vec![
            part("$${a}", None),
            part("${a}", None),
            part("b", Some("$${c}")),
            part("d", Some("${env.F}")),
        ];
        let done = fitted(Draft { body: Some(Body::Multipart(parts)), ..Draft::new("", "POST") });
        let Some(Body::Multipart(parts)) = &done.body else { panic!("{done:?}") };
        let names: Vec<_> = parts.iter().map(|p| (p.name.as_str(), p.file.as_deref())).collect();
        assert_eq!(names, [("${a}", None), ("b", Some("${c}"))]);
        assert!(parts.iter().all(|part| part.content_type.is_none()));
        assert_eq!(done.notes.len(), 5, "{:?}", done.notes);
        for name in ["", "${env.F}"] {
            let body = Some(Body::File(name.to_owned()));
            let done = fitted(Draft { body, ..Draft::new("", "POST") });
            assert!(done.body.is_none() && done.notes.len() == 1, "{name}: {done:?}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_told_apart() {
        for (method, fits) in [("GET", true), ("m-search", true), ("CONNECT", false), ("", false)] {
            assert_eq!(unfit(&Draft::new("", method)).is_none(), fits, "{method}");
        }
        let path = format!("/{}", "a".repeat(LONGEST_URL));
        assert!(unfit(&Draft { path, ..Draft::new("", "GET") }).is_some());
    }
}
