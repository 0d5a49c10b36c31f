//! Flags that say what is sent and how, shared by everything that drives load.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use model::units::{parse_count, parse_duration, parse_rate};
use model::{Arrivals, Nanos, StatusRanges};

/// What is sent and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct LoadArgs {
    /// Worker threads [default: one per allowed processor, at most one per connection]
    #[arg(short, long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub threads: Option<u64>,
    /// Time-out: an attempt fails without a complete response after this time
    /// [default: 30s]
    #[arg(short = 'T', long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub timeout: Option<Nanos>,
    /// Header field to send, such as 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "FIELD", help_heading = "Request")]
    pub headers: Vec<String>,
    /// Method [default: GET, or POST with a body]
    #[arg(
        short,
        long,
        visible_short_alias = 'X',
        alias = "request",
        value_name = "METHOD",
        help_heading = "Request"
    )]
    pub method: Option<String>,
    /// Body to send; @FILE sends what the file holds
    #[arg(
        short,
        long,
        value_name = "TEXT|@FILE",
        help_heading = "Request",
        conflicts_with = "body_file"
    )]
    pub body: Option<String>,
    /// Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds
    #[arg(
        long,
        aliases = ["data-raw", "data-binary"],
        value_name = "TEXT|@FILE",
        help_heading = "Request",
        conflicts_with_all = ["body", "body_file"]
    )]
    pub data: Option<String>,
    /// Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds
    #[arg(
        long,
        value_name = "TEXT|@FILE",
        help_heading = "Request",
        conflicts_with_all = ["body", "data", "body_file"]
    )]
    pub json: Option<String>,
    /// User name and password to send in an Authorization field (Basic)
    #[arg(short, long, value_name = "USER:PASSWORD", help_heading = "Request")]
    pub user: Option<String>,
    /// File whose content is the body to send, 1 GiB at most
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub body_file: Option<PathBuf>,
    /// Statuses that count as success [default: 200-399]
    #[arg(long, value_name = "RANGES", help_heading = "Request")]
    pub success: Option<StatusRanges>,
    /// What every body must look like; other responses fail. FIRST: like the response to a request sent
    /// alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular
    /// expression between slashes: '/"status": *"ok"/'. gzip and deflate are decoded
    #[arg(long, value_name = "FIRST|TEXT|/REGEX/", help_heading = "Request")]
    pub expect_body_like: Option<String>,
    /// If the URL redirects, find its destination before the load, over at most N redirects and on
    /// the same server only. The load itself never follows redirects
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, help_heading = "Request")]
    pub follow: Option<u64>,
    /// wrk script that makes the requests; its arguments follow `--`
    #[arg(short, long, value_name = "FILE", help_heading = "Request")]
    pub script: Option<PathBuf>,
    /// How open-loop arrivals are spaced: uniform or poisson [default: uniform; `capacity`: poisson]
    #[arg(long, value_name = "KIND", value_parser = super::parse_arrivals, help_heading = "Load")]
    pub arrivals: Option<Arrivals>,
    /// Closed loop: fixed interval between the sends of one connection, such as 110ms
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, help_heading = "Load")]
    pub pace: Option<Nanos>,
    /// Closed loop: how long a connection waits after each response
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, help_heading = "Load")]
    pub think: Option<Nanos>,
    /// Send for this long before the measured window [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, help_heading = "Load")]
    pub warmup: Option<Nanos>,
    /// Let the load grow to its level over this time [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, help_heading = "Load")]
    pub ramp: Option<Nanos>,
    /// Open a new connection for each request
    #[arg(long, alias = "disable-keepalive", help_heading = "Load")]
    pub no_keepalive: bool,
    /// Requests to send on a connection before waiting for a response
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, default_value = "1", help_heading = "Load")]
    pub pipeline: u64,
    /// Maximum number of requests in flight [default: connections x pipeline]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, help_heading = "Load")]
    pub max_inflight: Option<u64>,
    /// Send exactly on time: the workers never sleep and use their cores fully
    #[arg(long, help_heading = "Load")]
    pub spin: bool,
    /// Seed of the random numbers; rounds and steps derive theirs from it [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_hyphen_values = true, help_heading = "Load")]
    pub seed: Option<u64>,
    /// Workload files: multiply all rates or users
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, allow_hyphen_values = true, help_heading = "Load")]
    pub scale: Option<f64>,
    /// Workload files: leave out requests that change anything on the server
    #[arg(long, help_heading = "Load")]
    pub reads_only: bool,
    /// Workload files: allow reading files below this folder, besides the workload's own; may be
    /// repeated
    #[arg(long, value_name = "DIR", help_heading = "Load")]
    pub allow_files: Vec<PathBuf>,
    /// Kernel interface: io_uring where allowed, else epoll
    #[arg(long, value_enum, default_value = "auto", help_heading = "Connections")]
    pub io: IoArg,
    /// Local addresses to connect from in turn, separated by commas [default: the kernel's choice]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Connections")]
    pub source: Vec<std::net::IpAddr>,
    /// Connect to this host:port instead of the URL's; Host and TLS name stay the URL's
    #[arg(long, value_name = "HOST:PORT", help_heading = "Connections")]
    pub connect_to: Option<String>,
    /// Connect to this Unix socket; Host, path and TLS name stay the URL's. `compare` takes one for each URL
    #[arg(
        long,
        alias = "unix-socket",
        value_name = "PATH",
        help_heading = "Connections",
        conflicts_with_all = ["connect_to", "source", "script"]
    )]
    pub unix: Vec<PathBuf>,
    /// Send the cookies that responses set; each connection has its own. Flows of workload files always do
    #[arg(long, help_heading = "Request", conflicts_with = "script")]
    pub cookies: bool,
    /// TLS settings
    #[command(flatten)]
    pub tls: TlsArgs,
    /// Arguments for the script
    // With the other operands: the heading of the TLS flags above would hold it otherwise.
    #[arg(last = true, value_name = "ARGS", help_heading = None::<&str>)]
    pub script_args: Vec<String>,
}

impl LoadArgs {
    /// What holds where no flag is given.
    pub fn without_flags() -> Self {
        #[derive(Parser)]
        struct NoFlags {
            #[command(flatten)]
            load: LoadArgs,
        }
        NoFlags::parse_from(["plimsoll"]).load
    }
}

/// How much load, for how long.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct ShapeArgs {
    /// Connections: users in a closed loop, the most at once in an open loop [default: 10, or fewer if -n is less, or what a
    /// workload file says; 1000 with a rate]
    #[arg(short, long, aliases = ["vus", "concurrency"], value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub connections: Option<u64>,
    /// Length of the measured window, such as 10s or 2m [default: 10s, or until -n is reached]
    #[arg(short, long, short_alias = 'z', value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Maximum number of requests to send in the measured window [default: no limit]. Without -d the window lasts until they
    /// are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)
    #[arg(short = 'n', long, alias = "iterations", value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub requests: Option<u64>,
    /// Open loop: this many arrivals per second whatever the server does, such as 1000 or 20k
    #[arg(short = 'R', long, value_name = "RATE", value_parser = parse_rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
}

/// Reads a seed.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 to {}", u64::MAX))
}

/// Reads a factor above zero, such as `2` or `18.75`.
fn parse_factor(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(factor) if factor > 0.0 && factor.is_finite() => Ok(factor),
        _ => Err(format!("`{text}` is not a factor above 0, such as 2 or 18.75")),
    }
}

/// TLS settings.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Do not check the server's certificate
    #[arg(short = 'k', long, alias = "insecure-skip-tls-verify")]
    pub insecure: bool,
    /// Certificates to trust instead of the system's, in PEM form
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Client certificate chain in PEM form
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Its key in PEM form
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Server name to send (SNI) and check instead of the URL's host
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Lowest TLS version
    #[arg(long, value_enum, value_name = "VERSION", default_value = "1.2")]
    pub tls_min: TlsVersion,
    /// Highest TLS version
    #[arg(long, value_enum, value_name = "VERSION", default_value = "1.3")]
    pub tls_max: TlsVersion,
    /// Let connections resume earlier TLS sessions where the server offers it, as returning users do.
    /// Without it every handshake is that of a new client
    #[arg(long)]
    pub tls_resume: bool,
}

/// A TLS version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum TlsVersion {
    /// TLS 1.2
    #[value(name = "1.2")]
    V1_2,
    /// TLS 1.3
    #[value(name = "1.3")]
    V1_3,
}

impl TlsVersion {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_2 => "1.2",
            Self::V1_3 => "1.3",
        }
    }
}

/// The kernel interface asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IoArg {
    /// io_uring where it works, else epoll
    Auto,
    /// io_uring
    Uring,
    /// epoll
    Epoll,
}
