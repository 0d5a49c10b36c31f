//! Forms of access logs, and which of them a log has.
//!
//! Owns the built-in formats and their detection. Reading a line is in the modules below: `pattern` (text between
//! literals, as nginx and Apache describe it), `columns` (W3C and CloudFront, which name their columns), `json`.

mod columns;
mod escapes;
mod json;
mod nginx_conf;
mod pattern;

use columns::Columns;
use json::Members;
use pattern::Pattern;

use crate::hit::{Bad, Hit};
use crate::sample::masked;
use crate::{BYTE_ORDER_MARK, LONGEST_LINE, lines};

/// How the lines of a log are read.
#[derive(Debug, Clone)]
pub struct Format {
    name: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Pattern(Pattern),
    Columns(Columns),
    Json(Members),
}

/// Reads lines of one format.
#[derive(Debug)]
pub struct Reader {
    kind: ReaderKind,
}

#[derive(Debug)]
enum ReaderKind {
    Pattern(pattern::Reader),
    Columns(columns::Reader),
    Json(Box<json::Reader>),
}

/// Formats known by name: the name, and the pattern in nginx's variables.
const PATTERNS: [(&str, &str); 7] = [
    (
        "combined with the time taken",
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\" $seconds",
    ),
    (
        "combined",
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\"",
    ),
    (
        "combined with virtual host",
        "$host $remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\"",
    ),
    ("common", "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"),
    (
        "common with virtual host",
        "$host $remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent",
    ),
    (
        "ALB",
        "$type $time_iso8601 $elb $remote_addr $target $taken_part $taken_part $taken_part \
         $status $target_status $received $bytes_sent \"$request\" \"$http_user_agent\" $rest",
    ),
    (
        "ELB",
        "$time_iso8601 $elb $remote_addr $target $taken_part $taken_part $taken_part $status \
         $target_status $received $bytes_sent \"$request\" \"$http_user_agent\" $rest",
    ),
];

/// The place of "combined" in [`PATTERNS`].
const COMBINED: usize = 1;

/// What CloudFront's form of the extended format is called.
const CLOUDFRONT: &str = "CloudFront";

/// What is said of a number behind the agent.
const NUMBER_BEHIND_AGENT: &str = "a whole number stands behind the agent, which may be a time in any unit, or bytes: it \
    is left out; if it is the time taken, say its unit with --log-format: '%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \
    \"%{User-Agent}i\" %D' (%D: microseconds, %{ms}T, %T: seconds)";

/// What is said of an address there.
const ADDRESS_BEHIND_AGENT: &str = "an address stands behind the agent, as nginx writes the one that a proxy names \
    ($http_x_forwarded_for): it is taken for the client's";

/// Lines that are looked at to find the format.
const LOOKED_AT: usize = 300;

/// Of so many lines that another format reads, one that comes before it may miss one.
const ALMOST_ALL: usize = 100;

/// The least share of lines that a format must read.
const LEAST_READ: f64 = 0.5;

impl Format {
    /// The format of a `log_format` string of nginx, or of a `LogFormat` string of Apache. `user` is the field of it that
    /// tells users apart (`$cookie_sid`, `%{sid}C`), if it is another than the name of the user.
    ///
    /// # Errors
    /// What is missing in it, in words.
    pub fn from_pattern(pattern: &str, user: Option<&str>) -> Result<Self, String> {
        let name = "the format given".to_owned();
        Pattern::compile(pattern, user).map(|pattern| Self { name, kind: Kind::Pattern(pattern) })
    }

    /// The formats that an nginx configuration describes; those that have the field `user`, if one is named.
    ///
    /// # Errors
    /// When it describes none that can be read.
    pub fn from_nginx_conf(text: &str, user: Option<&str>) -> Result<Vec<Self>, String> {
        let mut formats = Vec::new();
        let mut why = None;
        for (name, pattern) in nginx_conf::log_formats(text)? {
            match Pattern::compile(&pattern, user) {
                Ok(pattern) => formats.push(Self {
                    name: format!("log_format {name}"),
                    kind: Kind::Pattern(pattern),
                }),
                Err(error) => why = Some(format!("log_format {name}: {error}")),
            }
        }
        match (formats.is_empty(), why) {
            (false, _) => Ok(formats),
            (true, Some(why)) => Err(why),
            (true, None) => Err("contains no log_format directive".to_owned()),
        }
    }

    /// JSON lines whose members are named: `at=ts`, `path=request.uri`. Members that are not named are looked for
    /// under the names that servers use.
    ///
    /// # Errors
    /// When a role is unknown, with the known ones.
    pub fn json(members: &[String]) -> Result<Self, String> {
        let members = Members::named(members)?;
        Ok(Self { name: "JSON lines".to_owned(), kind: Kind::Json(members) })
    }

    /// The format of this name: `combined`, `common`, `vhost`, `alb`, `elb`, `w3c`, `cloudfront`, `json`.
    pub fn named(name: &str) -> Option<Self> {
        let at = match name.to_ascii_lowercase().as_str() {
            "combined" => COMBINED,
            "vhost" | "vcombined" | "combined-vhost" => 2,
            "common" | "clf" => 3,
            "vcommon" | "common-vhost" => 4,
            "alb" => 5,
            "elb" => 6,
            "w3c" | "iis" => return Some(Self::columns()),
            "cloudfront" => {
                return Some(Self { name: CLOUDFRONT.to_owned(), ..Self::columns() });
            }
            "json" | "caddy" | "traefik" => return Self::json(&[]).ok(),
            _ => return None,
        };
        Self::built_in(at)
    }

    /// W3C's format or CloudFront's with another column that tells users apart, such as `cs(Cookie)`; nothing for other
    /// formats, which name no columns.
    #[must_use]
    pub fn with_user_column(self, user: &str) -> Option<Self> {
        let columns = Kind::Columns(Columns::with_user(Some(user)));
        matches!(self.kind, Kind::Columns(_)).then_some(Self { kind: columns, ..self })
    }

    /// What it is called, in words.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is to be said of a log that begins so: times taken that are left out, since their unit is not known.
    pub fn note(&self, start: &[u8]) -> Option<String> {
        let mut reader = self.reader();
        let mut lines =
            lines::each(start).take(LOOKED_AT).filter(|line| line.len() <= LONGEST_LINE);
        match &self.kind {
            Kind::Json(_) => {
                for line in lines {
                    let _ = reader.read(line);
                }
                let ReaderKind::Json(reader) = &reader.kind else { return None };
                let member = reader.without_unit()?;
                Some(format!(
                    "the member {member} holds whole numbers, whose unit is not known: the time taken is left out; name \
                     it with --field taken={member}:ms (or s, us, ns)"
                ))
            }
            Kind::Pattern(_) => {
                let combined = self.name == PATTERNS[COMBINED].0;
                let mut hit = |line: &[u8]| matches!(reader.read(line), Ok(Some(_)));
                let number = |line: &[u8]| hit(line) && combined && whole_number_behind_quote(line);
                if lines.any(number) {
                    return Some(NUMBER_BEHIND_AGENT.to_owned());
                }
                let ReaderKind::Pattern(reader) = &reader.kind else { return None };
                reader.had_forwarded().then(|| ADDRESS_BEHIND_AGENT.to_owned())
            }
            Kind::Columns(columns) => {
                let user = columns.user()?;
                let mut names = lines.filter(|line| line.starts_with(b"#Fields:"));
                let found = |line: &[u8]| {
                    line.split(|b| *b == b' ')
                        .any(|name| name.eq_ignore_ascii_case(user.as_bytes()))
                };
                (!names.any(found)).then(|| {
                    format!("no column is called {user}: users are told apart by address and agent")
                })
            }
        }
    }

    /// Something that reads its lines.
    pub fn reader(&self) -> Reader {
        let kind = match &self.kind {
            Kind::Pattern(pattern) => ReaderKind::Pattern(pattern::Reader::new(pattern.clone())),
            Kind::Columns(columns) => ReaderKind::Columns(columns::Reader::new(columns.clone())),
            Kind::Json(members) => ReaderKind::Json(Box::new(json::Reader::new(members.clone()))),
        };
        Reader { kind }
    }

    /// The format of a log that begins so.
    ///
    /// # Errors
    /// What the log begins with, in words, when no known format reads at least half of its first lines.
    pub fn detect(start: &[u8]) -> Result<Self, String> {
        let mut candidates: Vec<Self> = (0..PATTERNS.len()).filter_map(Self::built_in).collect();
        candidates.push(Self::columns());
        candidates.extend(Self::json(&[]));
        let Some(mut best) = Self::choose(&candidates, start)? else {
            if let Some(names) = Self::mixed(&candidates, start) {
                return Err(format!(
                    "holds lines of several formats, {names}: split it into a file for each, and name all of them"
                ));
            }
            let first = first_line(start);
            let remedy = match first.starts_with('{') {
                true => {
                    "name the members that hold what is needed with --field: --field at=MEMBER \
                         --field path=MEMBER --field status=MEMBER ..."
                        .to_owned()
                }
                false => format!(
                    "describe it with --log-format: nginx's log_format string, a name ({NAMES}), or the \
                     nginx.conf that contains it"
                ),
            };
            let first = model::quote::quote(&first);
            return Err(format!("has no known format; its first line is {first}; {remedy}"));
        };
        let has_columns = matches!(best.kind, Kind::Columns(_));
        if has_columns && memchr::memmem::find(start, b" x-edge-location").is_some() {
            CLOUDFRONT.clone_into(&mut best.name);
        }
        Ok(best)
    }

    /// That of the candidates which reads the most of the first lines; the first of those that read almost the same.
    ///
    /// # Errors
    /// What the log begins with, in words, when none reads at least half of its first lines.
    pub fn best(candidates: &[Self], start: &[u8]) -> Result<Self, String> {
        Self::choose(candidates, start)?.ok_or_else(|| {
            let first = model::quote::quote(&first_line(start));
            format!("has none of the formats given by --log-format; its first line is {first}")
        })
    }

    /// That of the candidates which reads the most of the first lines, if any reads at least half of them; else of all
    /// lines of the beginning: a program's words, or a scanner's requests, may come first.
    fn choose(candidates: &[Self], start: &[u8]) -> Result<Option<Self>, String> {
        if !lines::each(start).any(may_be_request) {
            return Err("is empty".to_owned());
        }
        for lines in [LOOKED_AT, usize::MAX] {
            let mut best: Option<(usize, usize, &Self)> = None;
            for format in candidates {
                let (read, of) = format.trial(start, lines);
                // A richer format comes first: a few agents with quotes in them are no reason to take lines without agents.
                if best.is_none_or(|(most, ..)| read > most + most / ALMOST_ALL) && read > 0 {
                    best = Some((read, of, format));
                }
            }
            if let Some((read, of, format)) = best
                && read as f64 >= LEAST_READ * of as f64
            {
                return Ok(Some(format.clone()));
            }
        }
        Ok(None)
    }

    /// The names of the formats that read at least half of the lines together; none where a single one reads any.
    fn mixed(candidates: &[Self], start: &[u8]) -> Option<String> {
        let mut readers: Vec<(&str, Reader, usize)> =
            candidates.iter().map(|format| (format.name(), format.reader(), 0)).collect();
        let mut of = 0_u32;
        for line in lines::each(start).filter(|line| may_be_request(line)) {
            of += 1;
            for (_, reader, read) in &mut readers {
                if matches!(reader.read(line), Ok(Some(_))) {
                    *read += 1;
                    break;
                }
            }
        }
        let found = readers.iter().filter(|(.., read)| *read > 0);
        let names: Vec<&str> = found.map(|(name, ..)| *name).collect();
        let read: usize = readers.iter().map(|(.., read)| read).sum();
        (names.len() > 1 && read as f64 >= LEAST_READ * f64::from(of)).then(|| names.join(", "))
    }

    /// Of so many lines those that it reads, and those that it should read: what has its form and asks for nothing that
    /// is HTTP, such as a handshake of TLS on a plain port, says nothing against it.
    fn trial(&self, start: &[u8], lines: usize) -> (usize, usize) {
        let mut reader = self.reader();
        let (mut read, mut of) = (0, 0);
        for line in lines::each(start).take(lines) {
            let result = if line.len() > LONGEST_LINE { Ok(None) } else { reader.read(line) };
            if may_be_request(line) && result != Err(Bad::Request) {
                of += 1;
                read += usize::from(matches!(result, Ok(Some(_))));
            }
        }
        (read, of)
    }

    fn built_in(at: usize) -> Option<Self> {
        let (name, pattern) = PATTERNS[at];
        let mut pattern = Pattern::compile(pattern, None).ok()?;
        pattern.appended = true;
        Some(Self { name: name.to_owned(), kind: Kind::Pattern(pattern) })
    }

    fn columns() -> Self {
        Self { name: "W3C".to_owned(), kind: Kind::Columns(Columns::default()) }
    }
}

/// Whether a line is neither blank nor a comment nor too long.
fn may_be_request(line: &[u8]) -> bool {
    !(line.trim_ascii().is_empty() || line.starts_with(b"#") || line.len() > LONGEST_LINE)
}

/// Whether the first field behind the last quote is digits alone.
fn whole_number_behind_quote(line: &[u8]) -> bool {
    let rest = memchr::memrchr(b'"', line).map_or(&line[..0], |at| &line[at + 1..]);
    let first = rest.trim_ascii().split(|byte| *byte == b' ').next().unwrap_or_default();
    !first.is_empty() && first.iter().all(u8::is_ascii_digit)
}

/// Names for `--log-format`.
pub const NAMES: &str = "combined, common, vhost, alb, elb, w3c, cloudfront, json";

fn first_line(start: &[u8]) -> String {
    const SHOWN: usize = 100;
    let line = lines::each(start).find(|line| !line.trim_ascii().is_empty());
    masked(line.unwrap_or_default()).chars().take(SHOWN).collect()
}

impl Reader {
    /// Reads a line; nothing where it is empty or a comment.
    ///
    /// # Errors
    /// Why the line is no request.
    pub fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<Option<Hit<'a>>, Bad> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        match &mut self.kind {
            _ if line.trim_ascii().is_empty() => Ok(None),
            ReaderKind::Pattern(reader) => reader.read(line).map(Some),
            ReaderKind::Columns(reader) => reader.read(line),
            ReaderKind::Json(reader) => reader.read(line).map(Some),
        }
    }
}

#[cfg(test)]
mod tests;
