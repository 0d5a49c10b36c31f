//! The servers that clients are measured against. They count what they served, so that a client's own
//! count is never relied on.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::process::{Background, pinned};
use crate::repo;

/// Pages of nginx by their length.
pub const PAGES: [(&str, usize); 3] =
    [("/bytes/10k", 10_000), ("/bytes/100k", 100_000), ("/bytes/1m", 1_000_000)];

/// A running server with its page of counts; ended, and its files removed, when dropped.
pub struct Server {
    process: Background,
    /// What clients are pointed at: responds `{"status":"ok"}`.
    pub url: String,
    status: SocketAddr,
    _folder: TempDir,
}

impl Server {
    /// nginx with one worker on core 1, plain. Beside [`Server::url`] it serves pages of [`PAGES`].
    pub fn nginx() -> Result<Server> {
        Server::start_nginx("http", "")
    }

    /// The same over TLS 1.3 with one cipher to choose from, so that every client uses that one.
    pub fn nginx_tls() -> Result<Server> {
        let tls = "ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3; \
                   ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;";
        Server::start_nginx("https", tls)
    }

    fn start_nginx(scheme: &str, tls: &str) -> Result<Server> {
        let folder = tempfile::tempdir()?;
        let (listen, status) = (free_address()?, free_address()?);
        if !tls.is_empty() {
            write_certificate(folder.path())?;
        }
        let ssl = if tls.is_empty() { "" } else { " ssl" };
        fs::create_dir(folder.path().join("bytes"))?;
        for (page, bytes) in PAGES {
            fs::write(folder.path().join(page.trim_start_matches('/')), vec![b'x'; bytes])?;
        }
        let here = folder.path().display();
        let configuration = format!(
            "daemon off; master_process off; worker_rlimit_nofile 19500; pid {here}/pid;
events {{ worker_connections 19000; multi_accept on; }}
http {{
  access_log off; client_max_body_size 1m; client_body_buffer_size 1m; keepalive_requests 1000000000; keepalive_timeout 600;
  client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
  server {{
    listen {listen}{ssl} backlog=4096; {tls}
    location / {{ default_type application/json; return 200 '{{\"status\":\"ok\"}}'; }}
    location /bytes/ {{ root {here}; sendfile on; }}
  }}
  server {{ listen {status}; location / {{ stub_status; }} }}
}}
"
        );
        fs::write(folder.path().join("nginx.conf"), configuration)?;
        let mut command = pinned("1", repo::require("nginx")?);
        command.arg("-p").arg(folder.path()).args(["-c", "nginx.conf", "-e", "error.log"]);
        Server::start(command, format!("{scheme}://{listen}/healthz"), status, folder)
    }

    /// The program's own server, on the given cores.
    pub fn target(plimsoll: &Path, cores: &str, threads: u32) -> Result<Server> {
        Server::start_target(pinned(cores, plimsoll), threads)
    }

    /// The program's own server on the client's core, for what latencies are measured of: it runs as soon as it has
    /// something to do (real-time priority), as a server with a core of its own does. Else the two would wait for each
    /// other's time slices, of a millisecond and more, and that would be counted as what stands between them.
    pub fn beside_client(plimsoll: &Path) -> Result<Server> {
        let mut command = pinned("0", "chrt");
        command.args(["--fifo", "1"]).arg(plimsoll);
        Server::start_target(command, 1)
    }

    fn start_target(mut command: std::process::Command, threads: u32) -> Result<Server> {
        let folder = tempfile::tempdir()?;
        let listen = free_address()?;
        command.args(["target", "--listen", &listen.to_string()]);
        command.args(["--threads", &threads.to_string()]);
        Server::start(command, format!("http://{listen}/healthz"), listen, folder)
    }

    fn start(
        command: std::process::Command,
        url: String,
        status: SocketAddr,
        folder: TempDir,
    ) -> Result<Server> {
        let log = folder.path().join("log");
        let process = Background::start(command, &log)?;
        let mut server = Server { process, url, status, _folder: folder };
        let patience = Instant::now() + Duration::from_secs(10);
        while let Err(error) = server.served() {
            server.process.check().with_context(|| fs::read_to_string(&log).unwrap_or_default())?;
            ensure!(Instant::now() < patience, "no response from the server: {error:#}");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The scheme of its URL.
    pub fn scheme(&self) -> &str {
        self.url.split(':').next().unwrap_or_default()
    }

    /// Its URL without a path.
    pub fn origin(&self) -> &str {
        self.url.trim_end_matches("/healthz")
    }

    /// Its process, which the commands before it became.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// How many requests it has served so far, this one included.
    pub fn served(&self) -> Result<u64> {
        let wait = Duration::from_secs(30);
        let mut stream = TcpStream::connect_timeout(&self.status, wait)?;
        stream.set_read_timeout(Some(wait))?;
        write!(
            stream,
            "GET /stub_status HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.status
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        requests(&response).with_context(|| format!("not a status page: {response}"))
    }
}

/// N servers, all alike.
pub fn each<const N: usize>(start: impl Fn() -> Result<Server>) -> Result<[Server; N]> {
    let servers: Vec<Server> = (0..N).map(|_| start()).collect::<Result<_>>()?;
    Ok(servers.try_into().ok().expect("as many as were started"))
}

/// The third number of the line after `server accepts handled requests`.
fn requests(page: &str) -> Option<u64> {
    let mut lines =
        page.lines().skip_while(|line| line.trim() != "server accepts handled requests");
    lines.nth(1)?.split_whitespace().nth(2)?.parse().ok()
}

/// An address on which nothing listens now. Another process may take it before the server does, which
/// then fails with the server's message.
pub fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn write_certificate(folder: &Path) -> Result<()> {
    let mut openssl = repo::command(repo::require("openssl")?);
    let arguments = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=localhost \
                     -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -days 2 -keyout key.pem -out cert.pem";
    openssl.current_dir(folder).args(arguments.split_whitespace());
    repo::output(&mut openssl).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_from_the_status_page() {
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 97\r\n\r\nActive connections: 2 \n\
                    server accepts handled requests\n 7 8 123456 \nReading: 0 Writing: 1 Waiting: 1 \n";
        assert_eq!(requests(page), Some(123_456));
        for broken in [
            "",
            "server accepts handled requests\n",
            "server accepts handled requests\n 1 2\n",
            "1 2 3",
        ] {
            assert_eq!(requests(broken), None, "{broken:?}");
        }
    }
}
