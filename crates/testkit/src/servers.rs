//! Third-party servers: they count their requests, and share no code with this project.
//!
//! Each runs in a temporary folder on free ports of the loopback interface and ends on drop.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{needs, ports};

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// How nginx is to be set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NginxOptions {
    /// Requests after which it closes a connection.
    pub keepalive_requests: u64,
    /// Certificate and key in PEM; it then uses TLS on a second port as well.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Further directives inside `server { ... }`.
    pub extra: String,
}

impl Default for NginxOptions {
    fn default() -> Self {
        Self { keepalive_requests: 1_000_000_000, tls: None, extra: String::new() }
    }
}

/// A running nginx with one worker: `{"status":"ok"}` on every path, and its counters.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    address: SocketAddr,
    tls_address: Option<SocketAddr>,
    status_address: SocketAddr,
    own_requests: u64,
    folder: TempDir,
}

impl Nginx {
    /// Starts it and waits until it responds.
    ///
    /// # Errors
    /// What is missing or went wrong, with the server's own message: it may not be installed.
    pub fn start(options: &NginxOptions) -> Result<Self, String> {
        let program = needs::path("nginx")
            .ok_or("nginx is not installed (Debian: apt-get install nginx-light)")?;
        let folder = TempDir::new().map_err(|error| format!("no temporary folder: {error}"))?;
        let (address, status_address) = (ports::reserved(), ports::reserved());
        let tls_address = options.tls.as_ref().map(|_| ports::reserved());
        let text = configuration(folder.path(), options, address, status_address, tls_address);
        let path = folder.path().join("nginx.conf");
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let log = folder.path().join("error.log");
        let child = Command::new(&program)
            .args(["-e", &log.to_string_lossy(), "-c", &path.to_string_lossy()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut server =
            Self { child, address, tls_address, status_address, own_requests: 0, folder };
        server.wait_until_up(&log)?;
        Ok(server)
    }

    /// Where it speaks HTTP.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Where it uses TLS.
    pub fn tls_addr(&self) -> Option<SocketAddr> {
        self.tls_address
    }

    /// Where its page of counters (`stub_status`) is, on every path.
    pub fn status_addr(&self) -> SocketAddr {
        self.status_address
    }

    /// Its error log.
    pub fn error_log(&self) -> PathBuf {
        self.folder.path().join("error.log")
    }

    /// Requests it has seen, without those of this function.
    ///
    /// # Errors
    /// When the page cannot be fetched or read.
    pub fn requests(&mut self) -> Result<u64, String> {
        self.own_requests += 1;
        let page = get(self.status_address).map_err(|error| format!("stub_status: {error}"))?;
        let requests = page.lines().find_map(|line| {
            let fields: Vec<u64> = line.split_whitespace().map_while(|f| f.parse().ok()).collect();
            (fields.len() == 3).then(|| fields[2])
        });
        match requests {
            Some(all) => Ok(all - self.own_requests),
            None => Err(format!("stub_status in an unknown form: {page:?}")),
        }
    }

    fn wait_until_up(&mut self, log: &Path) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        let words = || fs::read_to_string(log).unwrap_or_default();
        // Where a port is taken for a moment, it listens on the others and tries again. A connection would be counted.
        let asked = [Some(self.address), Some(self.status_address), self.tls_address];
        while !asked.into_iter().flatten().all(listens) {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("nginx ended with {status}: {}", words()));
            }
            if Instant::now() > deadline {
                return Err(format!("nginx does not listen: {}", words()));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Whether somebody listens at an address of IPv4.
fn listens(address: SocketAddr) -> bool {
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = format!(":{:04X}", address.port());
    sockets.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let local = fields.next().is_some_and(|local| local.ends_with(&port));
        // State 10 is LISTEN.
        local && fields.nth(1) == Some("0A")
    })
}

impl Drop for Nginx {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // It runs in the foreground and its worker ends with it.
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn configuration(
    folder: &Path,
    options: &NginxOptions,
    address: SocketAddr,
    status_address: SocketAddr,
    tls_address: Option<SocketAddr>,
) -> String {
    let mut listen = format!("listen {address} backlog=4096;");
    if let (Some(tls_address), Some((cert, key))) = (tls_address, &options.tls) {
        let (cert, key) = (cert.display(), key.display());
        // Writing to a String cannot fail.
        let _ = write!(
            listen,
            " listen {tls_address} ssl backlog=4096; ssl_certificate {cert}; \
             ssl_certificate_key {key};"
        );
    }
    format!(
        "daemon off; worker_processes 1; worker_rlimit_nofile 19000;
pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 18000; multi_accept on; }}
http {{
  access_log off; keepalive_requests {requests}; keepalive_timeout 600;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ {listen} {extra}
    location / {{ default_type application/json; return 200 '{{\"status\":\"ok\"}}'; }} }}
  server {{ listen {status_address}; location / {{ stub_status; }} }}
}}
",
        folder = folder.display(),
        requests = options.keepalive_requests,
        extra = options.extra,
    )
}

fn get(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nginx_responds_and_counts() {
        if !needs::has("nginx") {
            return;
        }
        let mut nginx = Nginx::start(&NginxOptions::default()).expect("nginx runs");
        assert_eq!(nginx.requests(), Ok(0));
        for _ in 0..3 {
            let response = get(nginx.addr()).expect("it responds");
            assert!(response.ends_with("{\"status\":\"ok\"}"), "{response}");
        }
        assert_eq!(nginx.requests(), Ok(3));
        assert_eq!(nginx.requests(), Ok(3));
    }

    #[test]
    fn bad_directives_are_reported_in_its_own_words() {
        if !needs::has("nginx") {
            return;
        }
        let options = NginxOptions { extra: "nonsense on;".to_owned(), ..NginxOptions::default() };
        let reason = Nginx::start(&options).err().unwrap_or_default();
        assert!(reason.contains("nonsense"), "{reason}");
    }
}
