//! How a source is written: `[ROLE[/NAME]=]KIND`, as `--observe` takes it.
//!
//! Owns the syntax and what is wrong with it. Reading a source is [`crate::sources`]'s.

use std::fmt;

use model::quote::quote;
use model::sample::Role;
use model::secret::mask_text;
use url::Url;

use crate::process::Which;

/// Forms of a source, for messages.
pub const FORMS: &str =
    "local, local:pid=PID, local:name=NAME, exec:COMMAND, nginx:URL or prometheus:URL";
/// Sources of one command at most.
pub const MOST_SOURCES: usize = 32;

/// Something to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What it is to the load.
    pub role: Role,
    /// Its name in results.
    pub name: String,
    /// How it is read.
    pub kind: Kind,
}

/// How a source is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// This machine.
    Local,
    /// This machine and some of its processes.
    LocalProcesses(Which),
    /// Processes of this machine alone: what is known of the machine is read by another source.
    Processes(Which),
    /// A command that prints samples, such as `ssh app1 plimsoll watch --stdio`.
    Exec(String),
    /// nginx's page of `stub_status`.
    Nginx(Url),
    /// A page of metrics in Prometheus's text form.
    Prometheus(Url),
}

/// What is wrong with a source as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceError {
    /// The role is none of ours.
    Role(String),
    /// The kind is none of ours.
    Kind(String),
    /// What follows the kind is wrong.
    Form(String),
    /// There are too many.
    TooMany,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = || Role::ALL[1..].iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
        match self {
            Self::Role(name) => write!(f, "{} is no role: use one of {}", quote(name), roles()),
            Self::Kind(kind) => write!(f, "{} is no source: use {FORMS}", quote(kind)),
            Self::Form(what) => f.write_str(what),
            Self::TooMany => write!(f, "more than {MOST_SOURCES} sources"),
        }
    }
}

impl std::error::Error for SourceError {}

impl Source {
    /// Reads a source as written.
    ///
    /// # Errors
    /// When role, kind or what belongs to it is wrong.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let (label, kind) = match text.split_once('=') {
            Some((label, kind)) if !label.contains(':') && label != "local" => (Some(label), kind),
            _ => (None, text),
        };
        let (role, name) = match label {
            None => (Role::App, None),
            Some(label) => {
                let (role, name) =
                    label.split_once('/').map_or((label, None), |(r, n)| (r, Some(n)));
                let known = Role::named(role).filter(|role| *role != Role::Generator);
                (known.ok_or_else(|| SourceError::Role(role.to_owned()))?, name)
            }
        };
        let kind = Kind::parse(kind)?;
        let name = name.unwrap_or(role.name()).chars().take(60).collect();
        Ok(Self { role, name, kind })
    }

    /// Reads several; those of one name are numbered.
    ///
    /// # Errors
    /// As [`Source::parse`], and when there are too many.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, SourceError> {
        let mut sources: Vec<Self> = Vec::new();
        for text in texts {
            let mut source = Self::parse(text)?;
            let same = sources.iter().filter(|other| {
                other.name == source.name || other.name.starts_with(&format!("{} ", source.name))
            });
            let same = same.count();
            if same > 0 {
                source.name = format!("{} {}", source.name, same + 1);
            }
            sources.push(source);
        }
        if sources.len() > MOST_SOURCES { Err(SourceError::TooMany) } else { Ok(sources) }
    }

    /// How it is read, as written, secrets masked.
    pub fn read_from(&self) -> String {
        let which = |which: &Which| match which {
            Which::Pids(pids) => {
                let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                format!("local:pid={}", pids.join(","))
            }
            Which::Name(name) => format!("local:name={name}"),
        };
        let shown = match &self.kind {
            Kind::Local => "local".to_owned(),
            Kind::LocalProcesses(of) | Kind::Processes(of) => which(of),
            Kind::Exec(command) => format!("exec:{}", mask_text(command)),
            Kind::Nginx(url) => format!("nginx:{}", masked(url)),
            Kind::Prometheus(url) => format!("prometheus:{}", masked(url)),
        };
        shown.chars().take(300).collect()
    }
}

/// A URL without its password and the values of its query.
fn masked(url: &Url) -> String {
    let mut url = url.clone();
    if url.password().is_some() {
        let _ = url.set_password(Some("***"));
    }
    mask_text(url.as_str())
}

impl Kind {
    fn parse(text: &str) -> Result<Self, SourceError> {
        let form = |what: String| Err(SourceError::Form(what));
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        match (kind, rest) {
            ("local", "") => Ok(Self::Local),
            ("local", rest) => which(rest).map(Self::LocalProcesses),
            ("exec", "") => {
                form("exec: needs a command, such as exec:'ssh app1 plimsoll watch --stdio'".into())
            }
            ("exec", command) => Ok(Self::Exec(command.to_owned())),
            ("nginx", url) => page("nginx", url).map(Self::Nginx),
            ("prometheus", url) => page("prometheus", url).map(Self::Prometheus),
            _ => Err(SourceError::Kind(kind.to_owned())),
        }
    }
}

fn which(text: &str) -> Result<Which, SourceError> {
    let wrong = || {
        SourceError::Form(format!(
            "local:{}: write local:pid=123 (several: 123,124) or local:name=nginx",
            quote(text)
        ))
    };
    match text.split_once('=') {
        Some(("pid", list)) => {
            let pids: Option<Vec<u32>> =
                list.split(',').map(|pid| pid.trim().parse().ok()).collect();
            pids.filter(|pids| !pids.is_empty()).map(Which::Pids).ok_or_else(wrong)
        }
        Some(("name", name)) if !name.is_empty() => Ok(Which::Name(name.to_owned())),
        _ => Err(wrong()),
    }
}

fn page(kind: &str, text: &str) -> Result<Url, SourceError> {
    let form = |what: &str| Err(SourceError::Form(format!("{kind}:{what}")));
    match Url::parse(text) {
        Ok(url) if url.scheme() == "https" => {
            form(" reads pages in the clear only; for https use exec: with a command on that host")
        }
        Ok(url) if url.scheme() == "http" && url.host_str().is_some() => {
            if url.password().is_some() || !url.username().is_empty() {
                return form(" takes no user and password in the URL");
            }
            Ok(url)
        }
        _ => form(" needs a URL that begins with http://"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_as_written() {
        let pids = |pids: &[u32]| Which::Pids(pids.to_vec());
        let url = |text: &str| Url::parse(text).unwrap();
        for (text, role, name, kind) in [
            ("local", Role::App, "app", Kind::Local),
            ("app=local", Role::App, "app", Kind::Local),
            ("local:pid=12", Role::App, "app", Kind::LocalProcesses(pids(&[12]))),
            ("db=local:pid=12,13", Role::Db, "db", Kind::LocalProcesses(pids(&[12, 13]))),
            (
                "proxy/edge=local:name=nginx",
                Role::Proxy,
                "edge",
                Kind::LocalProcesses(Which::Name("nginx".into())),
            ),
            (
                "app=exec:ssh app1 plimsoll watch --stdio --every=1s",
                Role::App,
                "app",
                Kind::Exec("ssh app1 plimsoll watch --stdio --every=1s".into()),
            ),
            ("exec:a=b", Role::App, "app", Kind::Exec("a=b".into())),
            (
                "proxy=nginx:http://h/status?a=b",
                Role::Proxy,
                "proxy",
                Kind::Nginx(url("http://h/status?a=b")),
            ),
            (
                "any=prometheus:http://h:9/metrics",
                Role::Any,
                "any",
                Kind::Prometheus(url("http://h:9/metrics")),
            ),
        ] {
            let source = Source::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(source, Source { role, name: name.into(), kind }, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("web=local", "`web` is no role: use one of app, proxy"),
            ("generator=local", "is no role"),
            ("app=ssh:x", "`ssh` is no source: use local,"),
            ("app=local:x", "write local:pid=123"),
            ("local:pid=", "write local:pid=123"),
            ("exec:", "needs a command"),
            ("nginx:h/status", "begins with http://"),
            ("prometheus:https://h/", "in the clear only"),
            ("prometheus:http://u:secret@h/", "no user and password"),
        ] {
            let error = Source::parse(text).expect_err(text).to_string();
            assert!(error.contains(words) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_numbered_and_secrets_masked() {
        let texts = ["app=local", "app=local:pid=1", "db=local"].map(str::to_owned);
        let sources = Source::parse_all(&texts).unwrap();
        let names: Vec<_> = sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["app", "app 2", "db"]);
        let many = vec!["local".to_owned(); 33];
        assert_eq!(Source::parse_all(&many), Err(SourceError::TooMany));
        let source = Source::parse("prometheus:http://h/m?token=abcdef0123456789").unwrap();
        assert!(!source.read_from().contains("abcdef"), "{}", source.read_from());
    }
}
