//! Databases and caches of others, each in a temporary folder on a free port of the loopback interface, ended on drop.
//!
//! PostgreSQL refuses to run as root: there it runs as the user of its Debian package.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use crate::certificates::Signer;
use crate::certificates::{AUTHORITY, CERTIFICATE, KEY, certify};
use crate::{needs, ports};

/// How long a database may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running PostgreSQL, in which everybody may do anything.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
}

/// A running MariaDB, in which root may do anything without a password.
#[derive(Debug)]
pub struct Mariadb {
    server: Server,
}

#[derive(Debug)]
struct Server {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Postgres {
    /// Whether PostgreSQL is installed; if not, prints which test is left out.
    ///
    /// # Panics
    /// Where it is missing and no test may be left out.
    pub fn is_there() -> bool {
        needs::has("initdb") && needs::has("psql")
    }

    /// Starts one.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start() -> Result<Self, String> {
        Self::start_with(&[])
    }

    /// Starts one with settings of its own: `max_connections=10`.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start_with(settings: &[&str]) -> Result<Self, String> {
        Self::start_in(folder_for("postgres")?, settings)
    }

    /// Starts one that uses TLS with those who ask for it.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start_secure(signer: Signer) -> Result<Self, String> {
        let folder = folder_for("postgres")?;
        certify(folder.path(), user_of("postgres"), signer)?;
        let file = |name: &str| folder.path().join(name).display().to_string();
        let own = format!("ssl_cert_file={}", file(CERTIFICATE));
        let key = format!("ssl_key_file={}", file(KEY));
        Self::start_in(folder, &["ssl=on", &own, &key])
    }

    /// Who vouches for its certificate, which names `localhost`.
    pub fn authority(&self) -> PathBuf {
        self.server.folder.path().join(AUTHORITY)
    }

    fn start_in(folder: TempDir, settings: &[&str]) -> Result<Self, String> {
        let user = user_of("postgres");
        let data = folder.path().join("data");
        let made = as_user(user, &program("initdb")?)
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .output()
            .map_err(|error| format!("initdb: {error}"))?;
        if !made.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let port = ports::reserved().port();
        let mut command = as_user(user, &program("postgres")?);
        command.arg("-D").arg(&data).arg("-k").arg(folder.path());
        command.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-c", "fsync=off"]);
        command.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let started = Self { server: Server::start(command, port, folder)? };
        started.wait_until_ready()?;
        Ok(started)
    }

    /// It listens before it is ready.
    fn wait_until_ready(&self) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = self.run("postgres", "") {
            if Instant::now() > deadline {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The URL of a database in it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.server.port)
    }

    /// Runs SQL in a database.
    ///
    /// # Errors
    /// What the server says.
    pub fn run(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut command = Command::new(program("psql")?);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        output(command.arg(self.url(database)))
    }

    /// A dump of a database.
    ///
    /// # Errors
    /// What the program says.
    pub fn dump(&self, database: &str) -> Result<String, String> {
        let text = output(Command::new(program("pg_dump")?).arg(self.url(database)))?;
        // Newer versions put a random word there.
        let own =
            |line: &&str| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict");
        Ok(text.lines().filter(own).collect::<Vec<_>>().join("\n"))
    }
}

impl Mariadb {
    /// Whether MariaDB is installed; if not, prints which test is left out.
    ///
    /// # Panics
    /// Where it is missing and no test may be left out.
    pub fn is_there() -> bool {
        needs::has("mariadbd") && needs::has("mariadb-install-db")
    }

    /// Starts one; whether clients may send files.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start(local_files: bool) -> Result<Self, String> {
        Self::start_with(&[&format!("--local-infile={}", u8::from(local_files))])
    }

    /// Starts one with options of its own: `--performance-schema=ON`.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start_with(options: &[&str]) -> Result<Self, String> {
        Self::start_in(folder_for("mysql")?, options)
    }

    /// Starts one that uses TLS with those who ask for it.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start_secure(signer: Signer) -> Result<Self, String> {
        let folder = folder_for("mysql")?;
        certify(folder.path(), user_of("mysql"), signer)?;
        let file = |name: &str| folder.path().join(name).display().to_string();
        let own = format!("--ssl-cert={}", file(CERTIFICATE));
        let key = format!("--ssl-key={}", file(KEY));
        Self::start_in(folder, &["--local-infile=1", &own, &key])
    }

    /// Who vouches for its certificate, which names `localhost`.
    pub fn authority(&self) -> PathBuf {
        self.server.folder.path().join(AUTHORITY)
    }

    fn start_in(folder: TempDir, options: &[&str]) -> Result<Self, String> {
        let user = user_of("mysql");
        let data = folder.path().join("data");
        let made = as_user(user, &program("mariadb-install-db")?)
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--datadir={}", data.display()))
            // Another server that starts removes temporary tables that lie beside its own.
            .arg(format!("--tmpdir={}", folder.path().display()))
            .output()
            .map_err(|error| format!("mariadb-install-db: {error}"))?;
        if !made.status.success() {
            return Err(format!("mariadb-install-db: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let port = ports::reserved().port();
        let mut command = as_user(user, &program("mariadbd")?);
        let here = folder.path().display();
        command.args([
            "--no-defaults",
            "--bind-address=127.0.0.1",
            "--innodb-buffer-pool-size=64M",
        ]);
        command.arg(format!("--datadir={}", data.display()));
        command.arg(format!("--tmpdir={here}"));
        command.arg(format!("--socket={here}/socket")).arg(format!("--pid-file={here}/pid"));
        command.arg(format!("--port={port}"));
        command.args(options);
        command.arg("--innodb-flush-log-at-trx-commit=0");
        Ok(Self { server: Server::start(command, port, folder)? })
    }

    /// The URL of a database in it.
    pub fn url(&self, database: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{database}", self.server.port)
    }

    fn client(&self, name: &str) -> Result<Command, String> {
        let mut command = Command::new(program(name)?);
        let port = self.server.port.to_string();
        command.args(["--no-defaults", "-h", "127.0.0.1", "-u", "root", "-P", &port]);
        Ok(command)
    }

    /// Runs SQL in a database; in none where the name is empty.
    ///
    /// # Errors
    /// What the server says.
    pub fn run(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut command = self.client("mariadb")?;
        command.args(["-N", "-B", "-e", sql]);
        if !database.is_empty() {
            command.arg(database);
        }
        output(&mut command)
    }

    /// A dump of a database.
    ///
    /// # Errors
    /// What the program says.
    pub fn dump(&self, database: &str) -> Result<String, String> {
        output(self.client("mariadb-dump")?.args(["--skip-dump-date", database]))
    }
}

/// A running Redis with a password.
#[derive(Debug)]
pub struct Redis {
    server: Server,
}

/// A running memcached.
#[derive(Debug)]
pub struct Memcached {
    server: Server,
}

impl Redis {
    /// Whether Redis is installed; if not, prints which test is left out.
    ///
    /// # Panics
    /// Where it is missing and no test may be left out.
    pub fn is_there() -> bool {
        needs::has("redis-server") && needs::has("redis-cli")
    }

    /// Starts one that asks for this password.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start(password: &str) -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| format!("no temporary folder: {error}"))?;
        let port = ports::reserved().port();
        let mut command = Command::new(program("redis-server")?);
        command.args(["--bind", "127.0.0.1", "--save", "", "--requirepass", password]);
        command.args(["--port", &port.to_string(), "--dir"]).arg(folder.path());
        Ok(Self { server: Server::start(command, port, folder)? })
    }

    /// Its URL with this password.
    pub fn url(&self, password: &str) -> String {
        format!("redis://:{password}@127.0.0.1:{}", self.server.port)
    }

    /// What it answers to a command.
    ///
    /// # Errors
    /// What the client says.
    pub fn run(&self, password: &str, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(program("redis-cli")?);
        command.args(["-p", &self.server.port.to_string(), "--no-auth-warning", "-a", password]);
        output(command.args(words))
    }
}

impl Memcached {
    /// Whether memcached is installed; if not, prints which test is left out.
    ///
    /// # Panics
    /// Where it is missing and no test may be left out.
    pub fn is_there() -> bool {
        needs::has("memcached")
    }

    /// Starts one.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn start() -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| format!("no temporary folder: {error}"))?;
        let port = ports::reserved().port();
        let mut command = Command::new(program("memcached")?);
        command.args(["-l", "127.0.0.1", "-p", &port.to_string()]);
        if let Some(user) = user_of("nobody") {
            command.args(["-u", user]);
        }
        Ok(Self { server: Server::start(command, port, folder)? })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("memcached://127.0.0.1:{}", self.server.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.server.port
    }
}

impl Server {
    fn start(mut command: Command, port: u16, folder: TempDir) -> Result<Self, String> {
        let log = folder.path().join("log");
        let file = fs::File::create(&log).map_err(|error| error.to_string())?;
        let also = file.try_clone().map_err(|error| error.to_string())?;
        let child = command.stdin(Stdio::null()).stdout(file).stderr(also).spawn();
        let child = child.map_err(|error| format!("{command:?}: {error}"))?;
        let mut server = Self { child, port, folder };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let words = || fs::read_to_string(&log).unwrap_or_default();
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("the database ended with {status}: {}", words()));
            }
            if Instant::now() > deadline {
                return Err(format!("the database does not listen: {}", words()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The fast way to end for PostgreSQL, which has to remove its shared memory; MariaDB ignores it.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    needs::path(name).ok_or_else(|| format!("{name} is not installed"))
}

pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let ended = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    Err(String::from_utf8_lossy(&ended.stderr).into_owned())
}

/// The user to run as: another one than root.
fn user_of(name: &'static str) -> Option<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    root.then_some(name)
}

fn as_user(user: Option<&str>, program: &Path) -> Command {
    let Some(user) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]).arg(program);
    command
}

/// A folder that the database's user may write to.
fn folder_for(user: &'static str) -> Result<TempDir, String> {
    let folder = TempDir::new().map_err(|error| format!("no temporary folder: {error}"))?;
    if let Some(user) = user_of(user) {
        output(Command::new("chown").arg(user).arg(folder.path()))?;
    }
    Ok(folder)
}
