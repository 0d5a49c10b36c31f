//! Addresses of databases, and where their passwords come from: the URL, the environment, the usual files.
//!
//! Owns the forms of URLs, what they leave out, and that a password is shown nowhere. Does not own connections nor what
//! is done with them (`fill`, `observe`).

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use model::secret::{escaped_address, mask_address};
use mysql::{Opts, OptsBuilder};
use postgres::Config;
use postgres::config::{Host, SslMode};

/// What is wrong with a URL as the user wrote it: in words, with the URL where it helps, never with its password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongUrl(pub String);

impl fmt::Display for WrongUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUrl {}

/// An address, or what is wrong with its URL.
pub type Result<T> = std::result::Result<T, WrongUrl>;

/// Bytes of a file with passwords at most.
const LARGEST: u64 = 1 << 20;

/// Where a database is, with all that is needed to connect.
#[derive(Clone)]
pub enum Address {
    /// PostgreSQL.
    Postgres(Box<Config>),
    /// MySQL or MariaDB.
    Mysql(Box<Opts>),
    /// A file.
    Sqlite(PathBuf),
}

/// Never with the password.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.marks().join(" "))
    }
}

/// The user's environment.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Its variables.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The home folder.
    pub home: Option<&'a Path>,
}

impl Environment<'_> {
    /// One in which nothing is set: what the URL says is all there is.
    pub const EMPTY: Environment<'static> = Environment { variable: &|_| None, home: None };
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("home", &self.home).finish_non_exhaustive()
    }
}

/// The URL with `***` for its password.
pub fn masked(url: &str) -> String {
    mask_address(url)
}

impl Address {
    /// Reads a URL, and looks for what it leaves out.
    ///
    /// # Errors
    /// When it is no URL of a database, or asks for what is not supported.
    pub fn parse(url: &str, environment: Environment<'_>) -> Result<Self> {
        let wrong = |why: &str| Err(WrongUrl(format!("{}: {why}", masked(url))));
        if let Some(file) = url.strip_prefix("sqlite:") {
            let file = file.strip_prefix("//").unwrap_or(file);
            return match Path::new(file) {
                path if path.is_file() => Ok(Self::Sqlite(path.to_owned())),
                _ => wrong("there is no such file"),
            };
        }
        let url = match escaped_address(url) {
            Ok(url) => url,
            Err(why) => return wrong(why),
        };
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let (plain, mut modes) = without_options(&url, &["sslmode"]);
            if modes.is_empty() {
                modes.extend((environment.variable)("PGSSLMODE"));
            }
            let certificate = plain.contains("sslrootcert=") || plain.contains("sslcert=");
            if certificate || modes.iter().any(|mode| needs_tls(mode)) {
                return wrong(NO_TLS);
            }
            return match Config::from_str(&plain) {
                Ok(config) => Ok(complete_postgres(config, environment)),
                Err(_) => {
                    wrong("not a connection URL of PostgreSQL (its password may need %-escapes)")
                }
            };
        }
        if url.starts_with("mysql://") || url.starts_with("mariadb://") {
            let plain = url.replacen("mariadb://", "mysql://", 1);
            let (plain, modes) = without_options(&plain, &["ssl-mode", "ssl_mode", "sslmode"]);
            if plain.contains("require_ssl=true") || modes.iter().any(|mode| needs_tls(mode)) {
                return wrong(NO_TLS);
            }
            return match Opts::from_url(&plain) {
                Ok(opts) => Ok(complete_mysql(&opts, environment)),
                Err(_) => wrong(
                    "not a connection URL of MySQL: mysql://USER@HOST:PORT/DATABASE (its password may need %-escapes)",
                ),
            };
        }
        wrong("use postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or sqlite:FILE")
    }

    /// As [`Address::parse`], with the environment of this process.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn of_user(url: &str) -> Result<Self> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let variable = |name: &str| std::env::var(name).ok();
        Self::parse(url, Environment { variable: &variable, home: home.as_deref() })
    }

    /// The database's name; of a file, the file's. Empty where a URL of MySQL names none.
    pub fn database(&self) -> String {
        match self {
            Self::Postgres(config) => config.get_dbname().unwrap_or_default().to_owned(),
            Self::Mysql(opts) => opts.get_db_name().unwrap_or_default().to_owned(),
            Self::Sqlite(path) => path.file_name().unwrap_or_default().to_string_lossy().into(),
        }
    }

    /// Says who connects, where the database lists its sessions.
    pub fn as_application(&mut self, name: &str) {
        if let Self::Postgres(config) = self {
            config.application_name(name);
        }
    }

    /// Names by which people mark databases: its own and its hosts'; of a file, its path.
    pub fn marks(&self) -> Vec<String> {
        let mut marks = vec![self.database()];
        match self {
            Self::Postgres(config) => {
                marks.extend(config.get_hosts().iter().map(|host| match host {
                    Host::Tcp(name) => name.clone(),
                    Host::Unix(path) => path.display().to_string(),
                }))
            }
            Self::Mysql(opts) => marks.push(opts.get_ip_or_hostname().into_owned()),
            Self::Sqlite(path) => marks.push(path.display().to_string()),
        }
        marks
    }
}

const NO_TLS: &str = "TLS to a database is not supported: use an SSH tunnel (ssh -L) or a connection inside of a \
                      trusted network, and leave out the TLS option (sslmode, ssl-mode, PGSSLMODE)";

/// A URL without some options of its query, and their values.
fn without_options(url: &str, names: &[&str]) -> (String, Vec<String>) {
    let Some((path, query)) = url.split_once('?') else { return (url.to_owned(), Vec::new()) };
    let mut values = Vec::new();
    let mut kept = Vec::new();
    for option in query.split('&') {
        match option.split_once('=') {
            Some((name, value)) if names.contains(&name) => values.push(value.to_owned()),
            _ => kept.push(option),
        }
    }
    let mark = if kept.is_empty() { "" } else { "?" };
    (format!("{path}{mark}{}", kept.join("&")), values)
}

/// Whether a mode forbids a connection without TLS; what is unknown does.
fn needs_tls(mode: &str) -> bool {
    let mode = mode.to_ascii_lowercase();
    !matches!(mode.as_str(), "" | "disable" | "disabled" | "allow" | "prefer" | "preferred")
}

fn complete_postgres(mut config: Config, environment: Environment<'_>) -> Address {
    let set = |name: &str| (environment.variable)(name).filter(|value| !value.is_empty());
    config.ssl_mode(SslMode::Disable);
    if config.get_hosts().is_empty() {
        config.host(set("PGHOST").as_deref().unwrap_or("localhost"));
    }
    if config.get_ports().is_empty() {
        let port = set("PGPORT").and_then(|port| port.parse().ok());
        config.port(port.unwrap_or(5432));
    }
    if config.get_user().is_none() {
        let user = set("PGUSER").or_else(|| set("USER"));
        config.user(user.as_deref().unwrap_or("postgres"));
    }
    let user = config.get_user().unwrap_or_default().to_owned();
    if config.get_dbname().is_none() {
        config.dbname(set("PGDATABASE").as_deref().unwrap_or(&user));
    }
    if config.get_password().is_none() {
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            _ => "localhost".to_owned(),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
        let facts = [&host, &port, config.get_dbname().unwrap_or_default(), &user];
        let file = set("PGPASSFILE").map(PathBuf::from);
        let file = file.or_else(|| Some(environment.home?.join(".pgpass")));
        let stored = || pgpass(&private(&file?)?, facts.map(|fact: &str| fact));
        if let Some(password) = set("PGPASSWORD").or_else(stored) {
            config.password(password);
        }
    }
    Address::Postgres(Box::new(config))
}

fn complete_mysql(opts: &Opts, environment: Environment<'_>) -> Address {
    let set = |name: &str| (environment.variable)(name).filter(|value| !value.is_empty());
    let file = environment.home.map(|home| home.join(".my.cnf"));
    let stored = file.and_then(|file| private(&file)).unwrap_or_default();
    let user = opts.get_user().map(str::to_owned).or_else(|| option(&stored, "user"));
    let password = opts.get_pass().map(str::to_owned);
    let password = password.or_else(|| set("MYSQL_PWD")).or_else(|| option(&stored, "password"));
    let builder = OptsBuilder::from_opts(opts.clone())
        .user(user.or_else(|| set("USER")))
        .pass(password)
        .prefer_socket(false);
    Address::Mysql(Box::new(builder.into()))
}

/// The text of a file that only its owner may read; others are passed over, as the databases' own programs do.
fn private(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST || about.mode() & 0o077 != 0 {
        return None;
    }
    fs::read_to_string(path).ok()
}

/// The password in a `.pgpass` (PostgreSQL's documentation, "The Password File"): host, port, database, user.
fn pgpass(text: &str, facts: [&str; 4]) -> Option<String> {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = vec![String::new()];
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => fields.last_mut()?.extend(chars.next()),
                ':' if fields.len() < 5 => fields.push(String::new()),
                c => fields.last_mut()?.push(c),
            }
        }
        let fits = fields.len() == 5
            && fields.iter().zip(facts).all(|(field, fact)| field == "*" || field == fact);
        if fits {
            return fields.pop();
        }
    }
    None
}

/// An option of the section `[client]` in a `.my.cnf`.
fn option(text: &str, name: &str) -> Option<String> {
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[client]";
        } else if let (true, Some((key, value))) = (inside, line.split_once('='))
            && key.trim() == name
        {
            let value = value.trim();
            let quoted = value.len() > 1
                && (value.starts_with('"') && value.ends_with('"')
                    || value.starts_with('\'') && value.ends_with('\''));
            let bare = if quoted { &value[1..value.len() - 1] } else { value };
            return Some(bare.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests;
