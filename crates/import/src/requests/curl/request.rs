//! The words of one curl command made requests.

use model::units::parse_duration;
use model::workload::{Body, Part, Time};

use super::super::BadFile;
use super::super::assembly::Assembly;
use super::super::body::{FORM, JSON, essence, put_text};
use super::super::draft::{Draft, encode_path, encode_value, is_below, put_basic};
use super::super::note::Kind;
use super::super::template::{self, map_text};
use super::flags::{self, Data, Does, Flag};
use super::form::{content_of, part_of};
use super::url::{has_pattern, with_file_name, without_dots};
use model::quote::quote;

/// Reads a command's flags and adds its requests.
pub(super) fn read(
    place: &str,
    words: &[String],
    stdin: Option<&str>,
    assembly: &mut Assembly,
) -> Result<(), BadFile> {
    let mut request = Request::new(place, stdin);
    let mut words = words.iter().map(String::as_str);
    let mut only_urls = false;
    while let Some(word) = words.next() {
        if only_urls || !word.starts_with('-') || word == "-" {
            request.urls.push(word.to_owned());
        } else if word == "--" {
            only_urls = true;
        } else if matches!(word, "--next" | "-:") {
            std::mem::replace(&mut request, Request::new(place, stdin)).add_to(assembly);
        } else if let Some(name) = word.strip_prefix("--") {
            match flags::long(name).or_else(|| flags::long(name.strip_prefix("no-")?)) {
                Some(flag) => request.take(flag, word, None, &mut words, assembly),
                None => request.unknown(word),
            }
        } else {
            request.letters(&word[1..], &mut words, assembly);
        }
    }
    request.add_to(assembly);
    Ok(())
}

/// A piece of a body.
enum Piece {
    Text(String),
    File { name: String, plain: bool },
}

/// A request while its flags are read.
struct Request<'s> {
    draft: Draft,
    /// What the shell hands to the command.
    stdin: Option<&'s str>,
    urls: Vec<String>,
    method: Option<String>,
    /// Header fields that other flags than `-H` set: the last flag of a kind counts, and `-H` more.
    implied: Vec<(&'static str, String)>,
    /// `user:password` of `-u`.
    user: Option<String>,
    pieces: Vec<Piece>,
    /// What `--url-query` adds to the URL.
    queries: Vec<String>,
    parts: Vec<Part>,
    json: bool,
    get: bool,
    head: bool,
    upload: Option<String>,
    /// Header fields that are taken away, in lower case.
    without: Vec<String>,
    glob_off: bool,
    path_as_is: bool,
    /// Flags about curl's own output.
    output: Vec<String>,
}

impl<'s> Request<'s> {
    fn new(place: &str, stdin: Option<&'s str>) -> Self {
        Self {
            draft: Draft::new(place, "GET"),
            stdin,
            urls: Vec::new(),
            method: None,
            implied: Vec::new(),
            user: None,
            pieces: Vec::new(),
            queries: Vec::new(),
            parts: Vec::new(),
            json: false,
            get: false,
            head: false,
            upload: None,
            without: Vec::new(),
            glob_off: false,
            path_as_is: false,
            output: Vec::new(),
        }
    }

    fn unknown(&mut self, word: &str) {
        // What is written behind an = may be a credential.
        let name = word.split('=').next().unwrap_or_default();
        self.draft.note(Kind::NotCarriedOver, format!("{}: curl has no such flag", quote(name)));
    }

    /// Letters behind one dash; the first that takes a value takes the rest of the word, or the next.
    fn letters<'w>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'w str>,
        assembly: &mut Assembly,
    ) {
        for (at, letter) in letters.char_indices() {
            let Some(flag) = flags::short(letter) else {
                self.unknown(&format!("-{letter}"));
                continue;
            };
            let rest = &letters[at + letter.len_utf8()..];
            let own = (!rest.is_empty()).then_some(rest);
            self.take(flag, &format!("-{letter}"), own, words, assembly);
            if flag.takes_value {
                return;
            }
        }
    }

    fn take<'w>(
        &mut self,
        flag: Flag,
        word: &str,
        own: Option<&str>,
        words: &mut impl Iterator<Item = &'w str>,
        assembly: &mut Assembly,
    ) {
        let value = if flag.takes_value { own.or_else(|| words.next()) } else { Some("") };
        match value {
            Some(value) => self.apply(flag.does, word, value, assembly),
            None => self.draft.note(Kind::NotCarriedOver, format!("{word}: its value is missing")),
        }
    }

    fn apply(&mut self, does: Does, word: &str, value: &str, assembly: &mut Assembly) {
        match does {
            Does::Url => self.urls.push(value.to_owned()),
            Does::Method => self.method = Some(value.to_owned()),
            Does::Header => self.header(value),
            Does::Data(data) => self.data(data, value),
            Does::Json => {
                self.json = true;
                self.data(Data::Binary, value);
            }
            Does::Form => self.form(value),
            Does::FormText => {
                let (name, text) = value.split_once('=').unwrap_or((value, ""));
                let (name, text) = (name.to_owned(), Some(text.to_owned()));
                self.parts.push(Part { name, text, ..Part::default() });
            }
            Does::Get => self.get = true,
            Does::Head => self.head = true,
            Does::User => self.user = Some(value.to_owned()),
            Does::Bearer => self.imply("Authorization", format!("Bearer {value}")),
            Does::Cookie if value.contains('=') => self.imply_cookies(value),
            Does::Cookie => self.lost(word, "cookies of a file are not read"),
            Does::Agent => self.imply("User-Agent", value.to_owned()),
            Does::Referer => self.imply("Referer", value.trim_end_matches(";auto").to_owned()),
            Does::Range => self.imply("Range", format!("bytes={value}")),
            Does::Upload => self.upload = Some(value.to_owned()),
            Does::Compressed => {
                self.imply("Accept-Encoding", "deflate, gzip, br, zstd".to_owned());
            }
            Does::UrlQuery => self.url_query(value),
            Does::PathAsIs => self.path_as_is = true,
            Does::GlobOff => self.glob_off = true,
            Does::Insecure | Does::CaCert | Does::Cert | Does::Key => tls(does, value, assembly),
            Does::MaxTime => self.max_time(value, assembly),
            Does::Output => self.output.push(word.to_owned()),
            Does::Lost(instead) => self.lost(word, instead),
            Does::Next => {}
        }
    }

    fn lost(&mut self, what: &str, instead: &str) {
        self.draft.note(Kind::NotCarriedOver, format!("{what}: {instead}"));
    }

    /// Sets a header field, unless `-H` does.
    fn imply(&mut self, name: &'static str, value: String) {
        self.implied.retain(|(other, _)| *other != name);
        self.implied.push((name, value));
    }

    fn imply_cookies(&mut self, cookies: &str) {
        let earlier = self.implied.iter().find(|(name, _)| *name == "Cookie");
        let all = earlier.map_or(cookies.to_owned(), |(_, before)| format!("{before}; {cookies}"));
        self.imply("Cookie", all);
    }

    fn put_implied(&mut self) {
        for (name, value) in std::mem::take(&mut self.implied) {
            self.put_unless_given(name, &value);
        }
        if let Some(user) = self.user.take()
            && self.draft.header("authorization").is_none()
            && !self.without.iter().any(|name| name == "authorization")
        {
            let colon = if user.contains(':') || template::has_hole(&user) { "" } else { ":" };
            put_basic(&mut self.draft, &(user + colon));
        }
    }

    /// Adds a header field, unless `-H` has it or takes it away.
    fn put_unless_given(&mut self, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        if self.draft.header(&lower).is_none() && !self.without.contains(&lower) {
            self.draft.put_header(name, value);
        }
    }

    fn header(&mut self, line: &str) {
        if let Some(file) = line.strip_prefix('@') {
            return self
                .lost(&format!("-H @{}", quote(file)), "header fields of a file are not read");
        }
        match line.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                self.draft.put_header(name.trim(), value);
            }
            Some((name, _)) => {
                self.without.push(name.trim().to_ascii_lowercase());
                self.draft.remove_header(name.trim());
            }
            None => match line.strip_suffix(';') {
                Some(name) => self.draft.put_header(name.trim(), ""),
                None => self.lost("-H", "a line without a colon"),
            },
        }
    }

    fn data(&mut self, data: Data, value: &str) {
        let of_stdin = self.stdin.filter(|_| value == "@-" && !matches!(data, Data::Raw));
        let piece = match (data, value.strip_prefix('@')) {
            (Data::Plain | Data::Binary, Some(_)) if of_stdin.is_some() => {
                let text = of_stdin.unwrap_or_default();
                let is_plain = data == Data::Plain;
                Piece::Text(if is_plain { text.replace(['\r', '\n'], "") } else { text.to_owned() })
            }
            (Data::Raw, _) => Piece::Text(value.to_owned()),
            (Data::Plain, Some(name)) => Piece::File { name: name.to_owned(), plain: true },
            (Data::Binary, Some(name)) => Piece::File { name: name.to_owned(), plain: false },
            (Data::Plain | Data::Binary, None) => Piece::Text(value.to_owned()),
            (Data::Encoded, _) => return self.encoded(value),
        };
        self.pieces.push(piece);
    }

    fn encoded(&mut self, value: &str) {
        if let Some(text) = self.escaped(value, "%20") {
            self.pieces.push(Piece::Text(text));
        }
    }

    /// `--url-query`: as `--data-urlencode`, or as it is behind a `+`.
    fn url_query(&mut self, value: &str) {
        let text = match value.strip_prefix('+') {
            Some(plain) => Some(plain.to_owned()),
            None => self.escaped(value, "+"),
        };
        self.queries.extend(text);
    }

    /// `text`, `=text`, `name=text`, `@file` or `name@file`, with what follows the name escaped.
    fn escaped(&mut self, value: &str, blank: &str) -> Option<String> {
        let escape = |text: &str| {
            map_text(text, |text| Some(encode_value(text).replace("%20", blank)))
                .unwrap_or_default()
        };
        let Some(at) = value.find(['=', '@']) else { return Some(escape(value)) };
        let (name, rest) = value.split_at(at);
        let text = match rest.strip_prefix('@') {
            None => escape(&rest[1..]),
            Some(file) => {
                let content = content_of("the data", file, &mut self.draft)?;
                template::hole(&format!("urlencode({content})"))
            }
        };
        Some(if name.is_empty() { text } else { format!("{name}={text}") })
    }

    /// `-F`: `name=text`, `name=@file` or `name=<file`, with `;type=` and `;filename=` behind it.
    fn form(&mut self, value: &str) {
        let Some((name, content)) = value.split_once('=') else {
            return self.lost("-F", "it has no =");
        };
        if let Some(part) = part_of(name, content, &mut self.draft) {
            self.parts.push(part);
        }
    }

    fn max_time(&mut self, value: &str, assembly: &mut Assembly) {
        let Ok(nanos) = parse_duration(&format!("{value}s")) else {
            return self.lost(&format!("-m {}", quote(value)), "that is not a time in seconds");
        };
        // To curl 0 is no limit.
        if nanos == 0 {
            return;
        }
        if assembly.timeout.is_some_and(|other| other.0 != nanos) {
            let what = "-m: the workload's time-out is the longest of all commands";
            self.draft.note(Kind::Assumed, what);
        }
        assembly.timed += 1;
        let longest = assembly.timeout.map_or(nanos, |other| other.0.max(nanos));
        assembly.timeout = Some(Time(longest));
    }

    fn add_to(mut self, assembly: &mut Assembly) {
        if !self.output.is_empty() {
            let what = format!("{}: concerns curl itself, not the request", self.output.join(" "));
            self.draft.note(Kind::NotCarriedOver, what);
        }
        if self.urls.is_empty() {
            self.draft.note(Kind::NotCarriedOver, "a curl command without a URL");
            return drop_notes(self.draft, assembly);
        }
        self.put_implied();
        self.put_body();
        self.draft.method = self.written_method();
        let (urls, query) = (std::mem::take(&mut self.urls), self.query());
        for url in urls {
            self.add_url(&url, &query, assembly);
        }
    }

    fn add_url(&self, url: &str, query: &str, assembly: &mut Assembly) {
        let mut draft = self.draft.clone();
        if !self.glob_off && has_pattern(url) {
            let what = "the pattern in the URL: it is not expanded; the URL is sent once";
            draft.note(Kind::NotCarriedOver, what);
        }
        if let Err(what) = draft.put_url(url) {
            draft.note(Kind::NotCarriedOver, what);
            return drop_notes(draft, assembly);
        }
        if !self.path_as_is {
            draft.path = without_dots(&draft.path);
        }
        if let Some(file) = &self.upload {
            draft.path = with_file_name(&draft.path, file);
        }
        if !query.is_empty() {
            let mark = if draft.path.contains('?') { '&' } else { '?' };
            draft.path = format!("{}{mark}{query}", draft.path);
        }
        assembly.add(draft);
    }

    fn written_method(&self) -> String {
        let sends = self.draft.body.is_some();
        match &self.method {
            Some(method) => method.clone(),
            None if self.head => "HEAD".to_owned(),
            None if self.upload.is_some() => "PUT".to_owned(),
            None if sends => "POST".to_owned(),
            None => "GET".to_owned(),
        }
    }

    /// What `--url-query` says, and with `-G` the data.
    fn query(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) if self.get => Some(text.clone()),
            _ => None,
        };
        let all = self.queries.iter().cloned().chain(self.pieces.iter().filter_map(text));
        let all = all.map(|text| template::unescaped(&encode_path(&text).replace('#', "%23")));
        all.collect::<Vec<_>>().join("&")
    }

    fn put_body(&mut self) {
        if let Some(file) = self.upload.take() {
            self.draft.body = self.file(&file, false);
            self.upload = Some(file);
            return;
        }
        if !self.parts.is_empty() {
            self.draft.body = Some(Body::Multipart(std::mem::take(&mut self.parts)));
            self.draft.remove_header("content-type");
            return;
        }
        if self.pieces.is_empty() || self.get {
            let files = self.pieces.iter().any(|piece| matches!(piece, Piece::File { .. }));
            if files {
                self.lost("-G with a file", "a query cannot contain a file");
            }
            return;
        }
        self.put_content_type();
        let joined = if self.json { "" } else { "&" };
        let mut texts: Vec<String> = Vec::new();
        for piece in std::mem::take(&mut self.pieces) {
            match piece {
                Piece::Text(text) => texts.push(text),
                Piece::File { name, plain } if texts.is_empty() && self.draft.body.is_none() => {
                    self.draft.body = self.file(&name, plain);
                }
                Piece::File { name, .. } => {
                    self.lost(
                        &format!("the file {}", quote(&name)),
                        "a body is a file or text, not both",
                    );
                }
            }
        }
        match (&self.draft.body, texts.is_empty()) {
            (_, true) => {}
            (None, false) => {
                let mut all = texts.remove(0);
                for text in texts {
                    template::push(&mut all, joined);
                    template::push(&mut all, &text);
                }
                put_text(&mut self.draft, &all);
            }
            (Some(_), false) => {
                self.lost("data beside a file", "a body is a file or text, not both")
            }
        }
    }

    fn put_content_type(&mut self) {
        let media = if self.json { JSON } else { FORM };
        self.put_unless_given("Content-Type", media);
        if self.json {
            self.put_unless_given("Accept", JSON);
        }
        // A form's text that is JSON is a slip often made: servers read it nonetheless.
        let form = self.draft.header("content-type").is_some_and(|media| essence(media) == FORM);
        let braced = |piece: &Piece| matches!(piece, Piece::Text(text) if text.trim_start().starts_with('{'));
        if form && !self.json && self.pieces.first().is_some_and(braced) {
            let what = "the body looks like JSON and is sent as a form, as curl does";
            self.draft.note(Kind::Assumed, what);
        }
    }

    fn file(&mut self, name: &str, plain: bool) -> Option<Body> {
        if matches!(name, "-" | ".") {
            self.lost("a body from standard input", "put it into a file and name it with `file:`");
            return None;
        }
        if !self.draft.may_read("the body", name) {
            return None;
        }
        let lines = if plain { "; curl removes its line ends" } else { "" };
        let what = format!(
            "the body is the file {}, sent as it is{lines}; its name is relative to the workload's folder",
            quote(name)
        );
        self.draft.note(Kind::Assumed, what);
        Some(Body::File(name.to_owned()))
    }
}

fn tls(does: Does, value: &str, assembly: &mut Assembly) {
    // A password may follow the name of a certificate's file.
    let value = match does {
        Does::Cert => value.split(':').next().unwrap_or_default(),
        _ => value,
    };
    if does != Does::Insecure && !is_below(value) {
        let what = format!(
            "the file {} is outside the workload's folder; put it there and name it under `tls:`",
            quote(value)
        );
        return assembly.note_once(Kind::NotCarriedOver, "", what);
    }
    let Some(value) = template::plain(value) else {
        let what = format!("the file {}: name it under `tls:`", quote(value));
        return assembly.note_once(Kind::NotCarriedOver, "", what);
    };
    let tls = &mut assembly.tls;
    match does {
        Does::Insecure => tls.insecure = true,
        Does::CaCert => tls.cacert = Some(value),
        Does::Key => tls.key = Some(value),
        _ => tls.cert = Some(value),
    }
}

/// Keeps the notes about a request that is left out.
fn drop_notes(draft: Draft, assembly: &mut Assembly) {
    for note in draft.notes {
        assembly.note(note.kind, note.place, note.what);
    }
}
