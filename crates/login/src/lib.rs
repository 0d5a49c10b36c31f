//! Addresses of databases, and where their passwords come from: the URL, the environment, the usual files.
//!
//! Owns the forms of URLs, the defaults of what a URL leaves out, the TLS modes (`tls`), and the masking of passwords. Does
//! not own what connections are used for (`fill`, `observe`).

mod bounded;
mod tls;

use std::collections::BTreeSet;
use std::error::Error as _;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use model::secret::{NO_PORT, escaped_address, mask_address};
use mysql::{Opts, OptsBuilder};
use percent_encoding::percent_decode_str;
use postgres::config::{Host, SslMode};
use postgres::{CancelToken, Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

pub use bounded::Allowance;

use self::tls::Mode;

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

/// The modes with which PostgreSQL's own programs pass `.pgpass` over: its group or others may do anything with it.
const OPEN: u32 = 0o077;

/// The mode with which MySQL's own programs pass `.my.cnf` over: everyone may write to it.
const WRITABLE: u32 = 0o002;

/// Where a database is, with all that is needed to connect.
#[derive(Clone)]
pub enum Address {
    /// PostgreSQL.
    Postgres(Box<Postgres>),
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

/// How to connect to a PostgreSQL.
#[derive(Clone)]
pub struct Postgres {
    /// All but TLS.
    pub config: Config,
    tls: Option<MakeRustlsConnect>,
}

impl Postgres {
    /// Connects.
    ///
    /// # Errors
    /// When the server cannot be reached, shows another certificate than is asked for, or refuses.
    pub fn connect(&self) -> std::result::Result<Client, postgres::Error> {
        match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        }
    }

    /// Asks the server to end the statement that a connection carries out. Whether there was one is not known.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub fn cancel(&self, of: &CancelToken) -> std::result::Result<(), postgres::Error> {
        match &self.tls {
            Some(tls) => of.cancel_query(tls.clone()),
            None => of.cancel_query(NoTls),
        }
    }

    /// Connects; when more comes than is allowed, the connection ends with an error.
    ///
    /// # Errors
    /// As [`Postgres::connect`].
    pub fn connect_bounded(
        &self,
        allowance: &Arc<Allowance>,
    ) -> std::result::Result<Client, postgres::Error> {
        bounded::connect(&self.config, self.tls.as_ref(), allowance)
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
        let read = if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            postgres(&url, environment)
        } else if url.starts_with("mysql://") || url.starts_with("mariadb://") {
            mysql(&url.replacen("mariadb://", "mysql://", 1), environment)
        } else {
            Err("use postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or sqlite:FILE"
                .into())
        };
        read.or_else(|why| wrong(&why))
    }

    /// As [`Address::parse`], with the environment of this process.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn of_user(url: &str) -> Result<Self> {
        of_process(|environment| Self::parse(url, environment))
    }

    /// Says which file with passwords is passed over since others may read or change it, and what helps.
    pub fn passed_over(&self, environment: Environment<'_>) -> Option<String> {
        let (file, barred, why) = match self {
            Self::Postgres(login) if login.config.get_password().is_none() => {
                (pgpass_file(environment)?, OPEN, "others than its owner may read or change it")
            }
            Self::Mysql(_) => {
                (environment.home?.join(".my.cnf"), WRITABLE, "everyone may write to it")
            }
            _ => return None,
        };
        let about = fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
        let file = file.display();
        (about.mode() & barred != 0)
            .then(|| format!("the password file {file} is not used, since {why}: chmod 600 {file}"))
    }

    /// As [`Address::passed_over`], with the environment of this process.
    pub fn passed_over_of_user(&self) -> Option<String> {
        of_process(|environment| self.passed_over(environment))
    }

    /// The database's name; of a file, the file's. Empty where a URL of MySQL names none.
    pub fn database(&self) -> String {
        match self {
            Self::Postgres(login) => login.config.get_dbname().unwrap_or_default().to_owned(),
            Self::Mysql(opts) => opts.get_db_name().unwrap_or_default().to_owned(),
            Self::Sqlite(path) => path.file_name().unwrap_or_default().to_string_lossy().into(),
        }
    }

    /// Says who connects, where the database lists its sessions.
    pub fn as_application(&mut self, name: &str) {
        if let Self::Postgres(login) = self {
            login.config.application_name(name);
        }
    }

    /// Names by which people mark databases, each once: its own and its hosts'; of a file, its path.
    pub fn marks(&self) -> Vec<String> {
        let mut marks = vec![self.database()];
        match self {
            Self::Postgres(login) => {
                marks.extend(login.config.get_hosts().iter().map(|host| match host {
                    Host::Tcp(name) => name.clone(),
                    Host::Unix(path) => path.display().to_string(),
                }))
            }
            Self::Mysql(opts) => marks.push(opts.get_ip_or_hostname().into_owned()),
            Self::Sqlite(path) => marks = vec![path.display().to_string()],
        }
        let mut seen = BTreeSet::new();
        marks.retain(|mark| seen.insert(mark.clone()));
        marks
    }
}

/// Calls with the environment of this process.
fn of_process<T>(call: impl FnOnce(Environment<'_>) -> T) -> T {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let variable = |name: &str| std::env::var(name).ok();
    call(Environment { variable: &variable, home: home.as_deref() })
}

/// What a URL of PostgreSQL says, and what it leaves out.
fn postgres(url: &str, environment: Environment<'_>) -> std::result::Result<Address, String> {
    const WRONG: &str = "not a connection URL of PostgreSQL (its password may need %-escapes)";
    let set = |name: &str| (environment.variable)(name).filter(|value| !value.is_empty());
    let (url, [mode, root, own, key]) =
        without_options(url, [&["sslmode"], &["sslrootcert"], &["sslcert"], &["sslkey"]]);
    if own.is_some() || key.is_some() {
        return Err(
            "certificates of clients (sslcert, sslkey) are not supported: log in with a password"
                .into(),
        );
    }
    let mode = Mode::of_postgres(mode.or_else(|| set("PGSSLMODE")).as_deref())?;
    let usual = environment.home.map(|home| home.join(".postgresql/root.crt"));
    let root = root.or_else(|| set("PGSSLROOTCERT")).map(PathBuf::from);
    let root = root.or_else(|| usual.filter(|file| file.is_file()));
    let mut config = Config::from_str(&url).map_err(|error| match error.source() {
        Some(source) if source.to_string().contains("`port`") => NO_PORT.to_owned(),
        _ => WRONG.to_owned(),
    })?;
    // A socket in the file system has no use for TLS.
    let remote = |host: &Host| matches!(host, Host::Tcp(_));
    let local = !config.get_hosts().is_empty() && !config.get_hosts().iter().any(remote);
    let tls = if local { None } else { tls::postgres(mode, root.as_deref())? };
    config.ssl_mode(tls.as_ref().map_or(SslMode::Disable, |(mode, _)| *mode));
    let config = complete_postgres(config, environment)?;
    Ok(Address::Postgres(Box::new(Postgres { config, tls: tls.map(|(_, tls)| tls) })))
}

/// What a URL of MySQL says, and what it leaves out.
fn mysql(url: &str, environment: Environment<'_>) -> std::result::Result<Address, String> {
    const WRONG: &str = "not a connection URL of MySQL: mysql://USER@HOST:PORT/DATABASE (its password may need \
                         %-escapes)";
    const MODE: [&str; 3] = ["ssl-mode", "ssl_mode", "sslmode"];
    const ROOT: [&str; 3] = ["ssl-ca", "ssl_ca", "sslca"];
    let (url, [mode, root]) = without_options(url, [&MODE, &ROOT]);
    let file = environment.home.map(|home| home.join(".my.cnf"));
    let stored = file.and_then(|file| stored(&file, WRITABLE)).unwrap_or_default();
    let find = |names: [&str; 3]| names.iter().find_map(|name| option(&stored, name));
    let root = root.or_else(|| find(ROOT)).map(PathBuf::from);
    let mode = Mode::of_mysql(mode.or_else(|| find(MODE)).as_deref(), root.is_some())?;
    let tls = tls::mysql(mode, root)?;
    let opts = Opts::from_url(&url).map_err(|_| WRONG)?;
    let tls = tls.or_else(|| opts.get_ssl_opts().cloned());
    let builder = complete_mysql(&opts, &stored, environment).ssl_opts(tls);
    Ok(Address::Mysql(Box::new(builder.into())))
}

/// A URL without some options of its query, each of which may have several names, and the value of each.
fn without_options<const N: usize>(
    url: &str,
    options: [&[&str]; N],
) -> (String, [Option<String>; N]) {
    let mut values = [const { None }; N];
    let Some((path, query)) = url.split_once('?') else { return (url.to_owned(), values) };
    let mut kept = Vec::new();
    for option in query.split('&') {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match options.iter().position(|names| names.contains(&name)) {
            Some(at) => values[at] = Some(percent_decode_str(value).decode_utf8_lossy().into()),
            None => kept.push(option),
        }
    }
    let mark = if kept.is_empty() { "" } else { "?" };
    (format!("{path}{mark}{}", kept.join("&")), values)
}

fn complete_postgres(
    mut config: Config,
    environment: Environment<'_>,
) -> std::result::Result<Config, String> {
    let set = |name: &str| (environment.variable)(name).filter(|value| !value.is_empty());
    if config.get_hosts().is_empty() {
        config.host(set("PGHOST").as_deref().unwrap_or("localhost"));
    }
    if config.get_ports().is_empty() {
        let port = set("PGPORT").map(|port| port.parse::<u16>());
        let port = port.transpose().map_err(|_| format!("PGPORT: {NO_PORT}"))?;
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
        let found = || {
            let text = stored(&pgpass_file(environment)?, OPEN)?;
            pgpass(&text, facts.map(|fact: &str| fact))
        };
        if let Some(password) = set("PGPASSWORD").or_else(found) {
            config.password(password);
        }
    }
    Ok(config)
}

/// `stored` is the text of `.my.cnf`.
fn complete_mysql(opts: &Opts, stored: &str, environment: Environment<'_>) -> OptsBuilder {
    let set = |name: &str| (environment.variable)(name).filter(|value| !value.is_empty());
    let user = opts.get_user().map(str::to_owned).or_else(|| option(stored, "user"));
    let password = opts.get_pass().map(str::to_owned);
    let password = password.or_else(|| set("MYSQL_PWD")).or_else(|| option(stored, "password"));
    OptsBuilder::from_opts(opts.clone())
        .user(user.or_else(|| set("USER")))
        .pass(password)
        .prefer_socket(false)
}

/// Where the passwords of PostgreSQL's users are.
fn pgpass_file(environment: Environment<'_>) -> Option<PathBuf> {
    let named = (environment.variable)("PGPASSFILE").filter(|name| !name.is_empty());
    named.map(PathBuf::from).or_else(|| Some(environment.home?.join(".pgpass")))
}

/// The text of a file whose mode has none of the bits `barred`.
fn stored(path: &Path, barred: u32) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST || about.mode() & barred != 0 {
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

/// An option of the section `[client]` in a `.my.cnf` (MySQL's manual, "Using Option Files"); where it is given twice, the
/// last counts.
fn option(text: &str, name: &str) -> Option<String> {
    let (mut inside, mut found) = (false, None);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default();
            inside = section.trim().eq_ignore_ascii_case("client");
        } else if let (true, Some((key, value))) = (inside, without_comment(line).split_once('='))
            && key.trim() == name
        {
            found = Some(option_value(value.trim()));
        }
    }
    found
}

/// A line up to a `#` that is not between quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open && !escaped => quote = None,
            _ => {}
        }
        escaped = quote.is_some() && c == '\\' && !escaped;
    }
    line
}

/// A value without the quotes around it, its escape sequences replaced.
fn option_value(value: &str) -> String {
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
    let inner = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let (mut text, mut chars) = (String::new(), inner.unwrap_or(value).chars());
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('b') => text.push('\u{8}'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('s') => text.push(' '),
            Some(mark @ ('\\' | '"' | '\'')) => text.push(mark),
            // Of others the backslash is part of the value.
            other => text.extend(['\\'].into_iter().chain(other)),
        }
    }
    text
}

#[cfg(test)]
mod tests;
