//! How a source is written: `[ROLE[/NAME]=]KIND`, as `--observe` takes it.
//!
//! Owns the syntax and what is wrong with it. Reading a source is [`crate::sources`]'s.

use std::fmt;
use std::path::PathBuf;

use login::Address;
use model::quote::quote;
use model::sample::Role;
use model::secret::{MASK, escaped_address, mask_shell, mask_text};
use url::Url;

use crate::process::Which;

/// Forms of a source, for messages.
pub const FORMS: &str = "local, local:pid=PID, local:name=NAME, exec:COMMAND, nginx:URL, nginx:URL,log=FILE, \
    prometheus:URL, postgres://…, mysql://…, mongodb://…, redis://… or memcached://…";
/// Sources of one command at most.
pub const MOST_SOURCES: usize = 32;
/// Names of what is watched beside every run.
const TAKEN: [&str; 2] = ["generator", "server"];

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
    /// nginx.
    Nginx(Nginx),
    /// A page of metrics in Prometheus's text form.
    Prometheus(Url),
    /// PostgreSQL.
    Postgres(ServiceUrl),
    /// MySQL or MariaDB.
    Mysql(ServiceUrl),
    /// MongoDB.
    Mongo(ServiceUrl),
    /// Redis, or a server with its protocol.
    Redis(ServiceUrl),
    /// memcached.
    Memcached(ServiceUrl),
}

/// What is read of an nginx, one of the two at least.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nginx {
    /// Its page of `stub_status`.
    pub status: Option<Url>,
    /// Its error log, on this machine.
    pub log: Option<PathBuf>,
}

/// The URL of a service, whose password is printed nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceUrl(String);

impl ServiceUrl {
    /// The one of this text, marks in its password escaped.
    fn of(text: &str) -> Result<Self, SourceError> {
        let wrong = |why| SourceError::Form(format!("{}: {why}", login::masked(text)));
        escaped_address(text).map(Self).map_err(wrong)
    }

    /// With the password.
    pub fn with_password(&self) -> &str {
        &self.0
    }
}

/// Never with the password.
impl fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Never with the password.
impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&login::masked(&self.0))
    }
}

/// What is wrong with a source as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceError {
    /// The role is unknown.
    Role(String),
    /// The kind is unknown.
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
            Self::Role(name) if ["pid", "name"].contains(&name.as_str()) => {
                write!(f, "a process is written as local:{name}=...")
            }
            Self::Role(name) => write!(f, "{} is not a role: use one of {}", quote(name), roles()),
            Self::Kind(kind) => write!(f, "{} is not a source: use {FORMS}", quote(kind)),
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
        let (label, kind) = labelled(text);
        let (role, name) = match label {
            None => (usual_role(kind), None),
            Some(label) => {
                let (role, name) =
                    label.split_once('/').map_or((label, None), |(r, n)| (r, Some(n)));
                let known = Role::named(role).filter(|role| *role != Role::Generator);
                (known.ok_or_else(|| SourceError::Role(role.to_owned()))?, name)
            }
        };
        let kind = Kind::parse(kind)?;
        let name = name.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(role.name());
        Ok(Self { role, name: name.chars().take(60).collect(), kind })
    }

    /// Reads several; those of one name, or of one that is taken, are numbered.
    ///
    /// # Errors
    /// As [`Source::parse`], and when there are too many.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, SourceError> {
        let mut sources: Vec<Self> = Vec::new();
        for text in texts {
            let mut source = Self::parse(text)?;
            let named = |name: &str| {
                TAKEN.contains(&name) || sources.iter().any(|other| other.name == name)
            };
            if named(&source.name) {
                let mut numbered = (2..).map(|nth| format!("{} {nth}", source.name));
                let free = numbered.find(|name| !named(name));
                source.name = free.unwrap_or_default();
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
            Kind::Exec(command) => format!("exec:{}", mask_shell(command)),
            Kind::Nginx(Nginx { status, log }) => {
                let status = status.as_ref().map(masked);
                let log = log.as_ref().map(|log| format!("log={}", log.display()));
                let parts: Vec<String> = [status, log].into_iter().flatten().collect();
                format!("nginx:{}", parts.join(","))
            }
            Kind::Postgres(url)
            | Kind::Mysql(url)
            | Kind::Mongo(url)
            | Kind::Redis(url)
            | Kind::Memcached(url) => url.to_string(),
            Kind::Prometheus(url) => format!("prometheus:{}", masked(url)),
        };
        shown.chars().take(300).collect()
    }
}

/// A source as written, also one that is written wrongly, with what may be a credential masked.
pub fn masked_as_written(text: &str) -> String {
    let (label, kind) = labelled(text);
    let scheme = kind.split_once(':').map_or("", |(scheme, _)| scheme);
    let shown = match scheme {
        "local" | "nginx" => mask_text(kind),
        "exec" => format!("exec:{}", mask_shell(&kind["exec:".len()..])),
        "prometheus" => match Source::parse(kind) {
            Ok(source) => source.read_from(),
            Err(_) => format!("prometheus:{MASK}"),
        },
        _ => login::masked(kind),
    };
    label.map_or_else(|| shown.clone(), |label| format!("{label}={shown}"))
}

/// `ROLE/NAME` and what follows it, if it is named.
fn labelled(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((label, kind)) if !label.contains(':') && label != "local" => (Some(label), kind),
        _ => (None, text),
    }
}

/// What a source is when the user does not say it.
fn usual_role(kind: &str) -> Role {
    match kind.split_once(':').map_or("", |(scheme, _)| scheme) {
        "postgres" | "postgresql" | "mysql" | "mariadb" | "mongodb" => Role::Db,
        "redis" | "memcached" => Role::Cache,
        _ => Role::App,
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
            ("nginx", rest) => nginx(rest).map(Self::Nginx),
            ("postgres" | "postgresql", _) => database(text).map(Self::Postgres),
            ("mysql" | "mariadb", _) => database(text).map(Self::Mysql),
            ("mongodb", _) => mongo(text).map(Self::Mongo),
            ("redis", _) => cache(text).map(Self::Redis),
            ("memcached", _) => cache(text).map(Self::Memcached),
            ("prometheus", url) => page("prometheus", url).map(Self::Prometheus),
            ("http" | "https", _) => form(format!(
                "what is read at a URL stands before it: prometheus:{kind}://... or nginx:{kind}://..."
            )),
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

/// `URL`, `URL,log=FILE` or `log=FILE`.
fn nginx(text: &str) -> Result<Nginx, SourceError> {
    let (status, log) = match (text.strip_prefix("log="), text.rsplit_once(",log=")) {
        (Some(file), _) => (None, Some(file)),
        (None, Some((url, file))) => (Some(url), Some(file)),
        (None, None) => (Some(text), None),
    };
    if log.is_some_and(|file| !file.starts_with('/')) {
        let form =
            "nginx: the error log needs its whole path: nginx:URL,log=/var/log/nginx/error.log";
        return Err(SourceError::Form(form.to_owned()));
    }
    let status = status.map(|url| page("nginx", url)).transpose()?;
    Ok(Nginx { status, log: log.map(PathBuf::from) })
}

/// The URL of a database; what it leaves out is looked up again when it is watched.
fn database(text: &str) -> Result<ServiceUrl, SourceError> {
    match Address::of_user(text) {
        Ok(_) => ServiceUrl::of(text),
        Err(wrong) => Err(SourceError::Form(wrong.to_string())),
    }
}

/// The URL of Redis or memcached.
fn cache(text: &str) -> Result<ServiceUrl, SourceError> {
    let url = ServiceUrl::of(text)?;
    let form = |what: &str| Err(SourceError::Form(format!("{url}: {what}")));
    match Url::parse(url.with_password()) {
        Ok(url) if url.host_str().is_none_or(str::is_empty) => {
            form("needs a host: redis://HOST:PORT or memcached://HOST:PORT")
        }
        Ok(url) if url.scheme() == "memcached" && url.password().is_some() => {
            form("memcached's text protocol takes no password")
        }
        Ok(_) => Ok(url),
        Err(_) => form("not a URL: redis://HOST:PORT or memcached://HOST:PORT"),
    }
}

/// The URL of MongoDB.
fn mongo(text: &str) -> Result<ServiceUrl, SourceError> {
    let url = ServiceUrl::of(text)?;
    let form = |what: &str| Err(SourceError::Form(format!("{url}: {what}")));
    let Ok(parsed) = Url::parse(url.with_password()) else {
        return form("not a URL of one server: mongodb://[USER:PASSWORD@]HOST[:PORT]");
    };
    let on = |name: &str| parsed.query_pairs().any(|(key, value)| key == name && value != "false");
    match parsed.host_str() {
        None | Some("") => form("needs a host: mongodb://HOST:PORT"),
        Some(host) if host.contains(',') => form("names several servers: watch each by itself"),
        Some(_) if on("tls") || on("ssl") => form(
            "TLS to MongoDB is not supported: use exec: with a command on its host, or an SSH tunnel",
        ),
        Some(_) => Ok(url),
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
        let service = |text: &str| ServiceUrl(text.to_owned());
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
                Kind::Nginx(Nginx { status: Some(url("http://h/status?a=b")), log: None }),
            ),
            (
                "proxy=nginx:http://h/a,b,log=/var/log/nginx/error.log",
                Role::Proxy,
                "proxy",
                Kind::Nginx(Nginx {
                    status: Some(url("http://h/a,b")),
                    log: Some("/var/log/nginx/error.log".into()),
                }),
            ),
            (
                "proxy=nginx:log=/e",
                Role::Proxy,
                "proxy",
                Kind::Nginx(Nginx { status: None, log: Some("/e".into()) }),
            ),
            (
                "postgres://u:p=w@h/d",
                Role::Db,
                "db",
                Kind::Postgres(service("postgres://u:p%3Dw@h/d")),
            ),
            ("db/b=mysql://h", Role::Db, "b", Kind::Mysql(service("mysql://h"))),
            ("mongodb://u:p@h:1/", Role::Db, "db", Kind::Mongo(service("mongodb://u:p@h:1/"))),
            ("cache=redis://:p@h:1", Role::Cache, "cache", Kind::Redis(service("redis://:p@h:1"))),
            ("memcached://h", Role::Cache, "cache", Kind::Memcached(service("memcached://h"))),
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
            ("web=local", "`web` is not a role: use one of app, proxy"),
            ("pid=12", "a process is written as local:pid=..."),
            ("http://h/metrics?a=b", "prometheus:http://... or nginx:http://..."),
            ("app=https://h/", "prometheus:https://"),
            ("generator=local", "is not a role"),
            ("app=ssh:x", "`ssh` is not a source: use local,"),
            ("app=local:x", "write local:pid=123"),
            ("local:pid=", "write local:pid=123"),
            ("exec:", "needs a command"),
            ("nginx:h/status", "begins with http://"),
            ("prometheus:https://h/", "in the clear only"),
            ("prometheus:http://u:secret@h/", "no user and password"),
            ("nginx:http://h/,log=error.log", "its whole path"),
            ("db=postgres://u:secret@h:x/d", "its port is not between 1 and 65535"),
            ("db=mysql://u:secret@h/d?ssl-mode=ON", "is not one of DISABLED"),
            ("mongodb://u:secret@a,b/", "several servers"),
            ("mongodb://u:secret@h/?tls=true", "TLS to MongoDB is not supported"),
            ("cache=redis://:secret@", "redis://HOST:PORT"),
            ("cache=memcached://u:secret@h", "takes no password"),
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
        let texts =
            ["app/x 2=local", "app/x=local", "app/x=local", "app/=local", "app/server=local"];
        let sources = Source::parse_all(&texts.map(str::to_owned)).unwrap();
        let names: Vec<_> = sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["x 2", "x", "x 3", "app", "server 2"]);
        let many = vec!["local".to_owned(); 33];
        assert_eq!(Source::parse_all(&many), Err(SourceError::TooMany));
        let source = Source::parse("prometheus:http://h/m?token=abcdef0123456789").unwrap();
        assert!(!source.read_from().contains("abcdef"), "{}", source.read_from());
        for url in [
            "postgres://u:hunter2@h/d",
            "redis://:hunter2@h:6379",
            "mysql://u:hunter2@h",
            "mongodb://u:hunter2@h:27017/?authSource=shop",
        ] {
            let source = Source::parse(url).unwrap();
            assert!(
                !format!("{source:?} {}", source.read_from()).contains("hunter2"),
                "{source:?}"
            );
        }
    }
}
