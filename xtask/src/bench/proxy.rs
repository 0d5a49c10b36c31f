//! What stands in front of a server, on core 1: the gateway, or nginx doing the same.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::process::{Background, pinned};
use super::server::free_address;
use crate::repo;

/// A key as nginx knows it. The gateway makes its own.
const KEY: &str = "0123456789abcdef0123456789abcdef";
/// Far above what one core carries, so that the limit is looked at and never met.
const RATE_PER_S: u32 = 1_000_000;

/// Something in front of the server, on core 1; ended, and its files removed, when dropped.
pub struct Proxy {
    process: Background,
    pub address: SocketAddr,
    /// Keys of clients, in the order of their owners.
    pub keys: Vec<String>,
    _folder: TempDir,
}

impl Proxy {
    /// The gateway with one worker, a limit on each key's rate that is never met, and other settings in TOML.
    pub fn gate(plimsoll: &Path, upstream: &str, settings: &str) -> Result<Self> {
        let rate = format!("{RATE_PER_S}/s");
        Self::gate_with(plimsoll, upstream, &["ours"], &["--rate", &rate], settings)
    }

    /// The gateway with one worker, a key for each of `owners` made with the flags `limits`, and other settings in TOML.
    pub fn gate_with(
        plimsoll: &Path,
        upstream: &str,
        owners: &[&str],
        limits: &[&str],
        settings: &str,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = folder.path().join("gate.db");
        let config = folder.path().join("gate.toml");
        fs::write(&config, settings)?;
        let address = free_address()?;
        let keys = owners.iter().map(|owner| {
            let mut add = repo::command(plimsoll);
            add.args(["gate", "keys", "add", "--owner", owner]).args(limits);
            Ok(repo::output(add.arg("--store").arg(&store))?.trim().to_owned())
        });
        let keys = keys.collect::<Result<Vec<String>>>()?;
        let mut command = pinned("1", plimsoll);
        command.arg("gate").arg(&config).args(["--workers", "1", "--upstream", upstream]);
        command.args(["--listen", &address.to_string(), "--store"]).arg(&store);
        Self::start(command, address, keys, folder)
    }

    /// nginx with one worker, a map of keys and `limit_req`.
    pub fn nginx(upstream: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let (here, upstream) = (folder.path().display(), upstream.trim_start_matches("http://"));
        let configuration = format!(
            "daemon off; master_process off; worker_rlimit_nofile 19500; pid {here}/pid;
events {{ worker_connections 19000; multi_accept on; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600;
  client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
  map $http_x_api_key $owner {{ default \"\"; \"{KEY}\" \"one\"; }}
  limit_req_zone $owner zone=keys:10m rate={RATE_PER_S}r/s;
  upstream api {{ server {upstream}; keepalive 1024; keepalive_requests 1000000000; }}
  server {{
    listen {address} backlog=4096;
    location / {{
      if ($owner = \"\") {{ return 401; }}
      limit_req zone=keys burst=100000 nodelay;
      proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection \"\";
    }}
  }}
}}
"
        );
        fs::write(folder.path().join("nginx.conf"), configuration)?;
        let mut command = pinned("1", repo::require("nginx")?);
        command.arg("-p").arg(folder.path()).args(["-c", "nginx.conf", "-e", "error.log"]);
        Self::start(command, address, vec![KEY.to_owned()], folder)
    }

    fn start(
        command: Command,
        address: SocketAddr,
        keys: Vec<String>,
        folder: TempDir,
    ) -> Result<Self> {
        let log = folder.path().join("log");
        let mut process = Background::start(command, &log)?;
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(address).is_err() {
            process.check().with_context(|| fs::read_to_string(&log).unwrap_or_default())?;
            ensure!(Instant::now() < patience, "nothing listens on {address}");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { process, address, keys, _folder: folder })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Has it come before all other processes on its core, by a real-time priority: it is to have that to itself. Threads that
    /// give way to its others by themselves go on doing so.
    pub fn before_others(self) -> Result<Self> {
        self.schedule(&["chrt", "--fifo", "--pid", "1"])
    }

    /// As [`Self::before_others`], as far as a share of the processor does that: a thread that never sleeps and comes before all
    /// others by a real-time priority is stopped by the kernel for a twentieth of each second.
    pub fn favoured(self) -> Result<Self> {
        self.schedule(&["renice", "--priority", "-20", "--pid"])
    }

    /// Runs a command with the number of each thread that does not give way to others.
    fn schedule(self, command: &[&str]) -> Result<Self> {
        for task in fs::read_dir(format!("/proc/{}/task", self.id()))? {
            let task = task?;
            if nice(&fs::read_to_string(task.path().join("stat"))?)? <= 0 {
                let mut command_of_thread = repo::command(command[0]);
                command_of_thread.args(&command[1..]).arg(task.file_name());
                repo::output(&mut command_of_thread)?;
            }
        }
        Ok(self)
    }

    /// Stops it, and lets it go on.
    pub fn pause(&self, length: Duration) {
        self.process.pause(length);
    }

    /// Processor time of all its threads, in microseconds.
    pub fn cpu_us(&self) -> Result<f64> {
        let mut ns = 0.0;
        for task in fs::read_dir(format!("/proc/{}/task", self.id()))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            let first = text.split(' ').next().unwrap_or_default();
            ns += first.parse::<f64>().context("schedstat begins with a number")?;
        }
        Ok(ns / 1e3)
    }
}

/// How nice a thread is, by its `stat` file: the 19th field, the 17th after its name in parentheses.
fn nice(stat: &str) -> Result<i32> {
    let fields = stat.rsplit_once(')').context("a name in parentheses")?.1;
    let nice = fields.split_whitespace().nth(16).context("too few fields")?;
    nice.parse().context("niceness is a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn niceness_is_found_behind_any_name() {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 10 1 0";
        assert_eq!(nice(&format!("42 (a ) b) {fields}")).unwrap(), 10);
    }
}
