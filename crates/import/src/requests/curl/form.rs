//! Parts of `-F`: the text or file of each, with the settings behind it.

use model::workload::Part;

use super::super::draft::Draft;
use super::super::fit::file_name;
use super::super::note::Kind;
use super::super::template::hole;
use model::quote::quote;

/// The part that `name=content` asks for; none, and a note, where its file may not be read.
pub(super) fn part_of(name: &str, content: &str, draft: &mut Draft) -> Option<Part> {
    let of = format!("-F {}", quote(name));
    let (sign, rest) = match content.chars().next() {
        Some(sign @ ('@' | '<')) => (Some(sign), &content[1..]),
        _ => (None, content),
    };
    let (content, mut rest) = word(rest);
    let mut part = Part { name: name.to_owned(), ..Part::default() };
    while let Some(setting) = rest.strip_prefix(';') {
        let setting = setting.trim_start();
        if let Some(media_type) = setting.strip_prefix("type=") {
            let end = media_end(media_type);
            part.content_type = Some(media_type[..end].trim().to_owned());
            rest = &media_type[end..];
        } else if let Some(file_name) = setting.strip_prefix("filename=") {
            let (file_name, after) = word(file_name);
            (part.filename, rest) = (Some(file_name), after);
        } else {
            rest = word(setting).1;
            draft.note(Kind::NotCarriedOver, format!("{of}: only type and filename are known"));
        }
    }
    match sign {
        Some('@') if !draft.may_read(&of, &content) => return None,
        Some('@') => part.file = Some(content),
        Some(_) => part.text = Some(hole(&content_of(&of, &content, draft)?)),
        None => part.text = Some(content),
    }
    Some(part)
}

/// The call that gives a file's content; none, and a note, where it may not be read.
pub(super) fn content_of(of: &str, file: &str, draft: &mut Draft) -> Option<String> {
    let name = file_name(of, file, draft).filter(|name| draft.may_read(of, name))?;
    Some(format!("file('{}')", name.replace('\\', "\\\\").replace('\'', "\\'")))
}

/// Bytes of a media type with its parameters: what follows a `;` belongs to it unless it is a setting.
fn media_end(text: &str) -> usize {
    let settings = ["type=", "filename=", "headers=", "encoder="];
    let is_setting = |at: &usize| {
        let next = text[at + 1..].trim_start();
        settings.iter().any(|setting| next.starts_with(setting))
    };
    let marks = text.match_indices(';').map(|(at, _)| at);
    marks.into_iter().find(is_setting).unwrap_or(text.len())
}

/// A word, in quotes if it begins with one, and what follows it from the next `;` on.
fn word(text: &str) -> (String, &str) {
    if let Some(quoted) = text.strip_prefix('"')
        && let Some((inside, after)) = unquoted(quoted)
    {
        return (inside, &after[after.find(';').unwrap_or(after.len())..]);
    }
    let (word, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
    (word.to_owned(), rest)
}

/// Text up to the quote that closes it, and what follows; none where nothing does.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut inside = String::new();
    let mut letters = text.char_indices();
    while let Some((at, c)) = letters.next() {
        match c {
            '"' => return Some((inside, &text[at + 1..])),
            '\\' if text[at + 1..].starts_with(['"', '\\']) => {
                inside.extend(letters.next().map(|(_, c)| c));
            }
            c => inside.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As curl 7.88 sends them.
    #[test]
    fn parts_are_read_as_curl_reads_them() {
        let read = |content: &str| {
            let mut draft = Draft::new("", "POST");
            let part = part_of("n", content, &mut draft).unwrap();
            (part.text.or(part.file), part.content_type, part.filename, draft.notes.len())
        };
        for (content, text, media_type, file_name, notes) in [
            ("a", "a", None, None, 0),
            (
                r#""x; \"y\"";type=text/plain;charset=utf-8"#,
                r#"x; "y""#,
                Some("text/plain;charset=utf-8"),
                None,
                0,
            ),
            ("p;q;type=text/x", "p", Some("text/x"), None, 1),
            ("@a.png;filename=\"b;c\";type=image/png", "a.png", Some("image/png"), Some("b;c"), 0),
            ("@\"a b\"", "a b", None, None, 0),
            ("<a'b", "${file('a\\'b')}", None, None, 0),
            (r#""open"#, r#""open"#, None, None, 0),
            (
                r#"{"a":"x"};type=application/json"#,
                r#"{"a":"x"}"#,
                Some("application/json"),
                None,
                0,
            ),
        ] {
            let part = (
                Some(text.to_owned()),
                media_type.map(str::to_owned),
                file_name.map(str::to_owned),
                notes,
            );
            assert_eq!(read(content), part, "{content}");
        }
        let mut draft = Draft::new("", "POST");
        assert!(part_of("n", "@../a", &mut draft).is_none() && draft.notes.len() == 1);
    }
}
