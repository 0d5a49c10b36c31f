//! `log_format` directives out of an nginx configuration.

/// The formats of a configuration: name and pattern, in their order.
///
/// # Errors
/// When a directive is not ended.
pub(super) fn log_formats(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut formats = Vec::new();
    let mut words = Words { rest: text };
    while let Some(word) = words.next() {
        if word != Word::Text("log_format".to_owned()) {
            continue;
        }
        let Some(Word::Text(name)) = words.next() else {
            return Err("a log_format directive has no name".to_owned());
        };
        let mut pattern = String::new();
        loop {
            match words.next() {
                Some(Word::End) => break,
                Some(Word::Text(text)) if text.starts_with("escape=") && pattern.is_empty() => {}
                Some(Word::Text(text)) => pattern += &text,
                None => return Err(format!("log_format {name} does not end in `;`")),
            }
        }
        formats.push((name, pattern));
    }
    Ok(formats)
}

#[derive(Debug, PartialEq, Eq)]
enum Word {
    Text(String),
    /// `;`, `{` or `}`.
    End,
}

/// Words of a configuration, without comments.
struct Words<'a> {
    rest: &'a str,
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.chars().next()? {
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                ';' | '{' | '}' => {
                    self.rest = &self.rest[1..];
                    return Some(Word::End);
                }
                quote @ ('"' | '\'') => return Some(Word::Text(self.quoted(quote))),
                _ => {
                    let end = self.rest.find(|c: char| c.is_whitespace() || ";".contains(c));
                    let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                    self.rest = rest;
                    return Some(Word::Text(word.to_owned()));
                }
            }
        }
    }
}

impl Words<'_> {
    fn quoted(&mut self, quote: char) -> String {
        let mut text = String::new();
        let mut chars = self.rest[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, next)| match next {
                    't' => '\t',
                    'n' => '\n',
                    'r' => '\r',
                    other => other,
                })),
                c if c == quote => {
                    self.rest = &self.rest[at + 2..];
                    return text;
                }
                c => text.push(c),
            }
        }
        self.rest = "";
        text
    }
}
