//! Flags of `plimsoll gate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use gate::config::{Bytes, RateText};
use model::Nanos;
use model::units::{parse_count, parse_duration};

use super::IoArg;

/// `plimsoll gate`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Keys are asked for as soon as the store has one; before that, and with --open, everybody is let through, which is \
said at the start. A key is sent as `Authorization: Bearer KEY`, `X-API-Key: KEY` or `?user_key=KEY`.
Refusals are JSON problems: 401 (no key), 403 (a key that is not valid), 404 (no route), 405 (method), 413 (body too \
long), 429 with Retry-After (limits, load line), 503 with Retry-After (shared limits unknown); 400, 408, 417, 431 and \
505 (a request that is malformed, slow, or more than is read), 508 (a loop); 502, 503 and 504 (the upstream failed, is \
busy, is late).
SIGHUP reads the configuration again, whole or not at all, and opens the access log anew; SIGUSR1 does the \
latter alone. SIGTERM and Ctrl-C let requests in flight end.
Examples:
  plimsoll gate --listen 127.0.0.1:9090 --upstream http://127.0.0.1:8080 \\
    --loadline capacity.json --admin 127.0.0.1:9091
  plimsoll gate keys add --owner ada --rate 100/s
  plimsoll gate usage
  plimsoll gate export nginx --loadline capacity.json --upstream http://127.0.0.1:8080
Exit codes: 0 ended as asked; 1 a port is taken or a file cannot be used; 2 the configuration or a flag is wrong."
)]
pub struct GateArgs {
    /// What to do instead of serving
    #[command(subcommand)]
    pub command: Option<GateCommand>,
    /// Configuration (TOML); flags override it
    #[arg(value_name = "CONFIG")]
    pub config: Option<PathBuf>,
    /// Address and port for clients, such as 127.0.0.1:9090; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Vec<String>,
    /// URL of a server to forward to; may be repeated for servers that give the same responses
    #[arg(long, value_name = "URL")]
    pub upstream: Vec<String>,
    /// Load line to hold all requests to: capacity.json of `plimsoll capacity`
    #[arg(long, value_name = "FILE")]
    pub loadline: Option<PathBuf>,
    /// Address and port of the admin API and the usage page, such as 127.0.0.1:9091 [default: neither is served]
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<String>,
    /// File with the token of the admin API [default: a new token at each start, which is printed]
    #[arg(long, value_name = "FILE")]
    pub admin_token: Option<PathBuf>,
    /// File of keys and usage [default: plimsoll-gate.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Ask for no key, whatever the store has
    #[arg(long)]
    pub open: bool,
    /// Append usage to this file as JSON lines, instead of counting it in the store
    #[arg(long, value_name = "FILE")]
    pub usage_lines: Option<PathBuf>,
    /// Append a line for each request to this file, in the combined format with the time taken
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// Threads, each with a listener of its own [default: one per processor]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub workers: Option<u64>,
    /// Kernel interface
    #[arg(long, value_enum, default_value = "auto")]
    pub io: IoArg,
    /// Read the configuration again when it changes, or a load line, certificate, key or authority that it names
    #[arg(long)]
    pub watch: bool,
    /// Take the listeners of the gateway that runs on the same first port and store, so that no client is refused; that one
    /// ends once this one serves and its own requests are answered. Other listeners may be added or left out
    #[arg(long)]
    pub take_over: bool,
    /// Check the configuration and every file that a start needs, and start nothing: no port is bound
    #[arg(long)]
    pub check: bool,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Keys of clients
    #[command(alias = "key")]
    Keys(KeysArgs),
    /// What was served, by key and route
    Usage(UsageArgs),
    /// Write the measured limits as configuration of another proxy
    Export(ExportArgs),
}

/// `plimsoll gate keys`.
#[derive(Debug, Args)]
pub struct KeysArgs {
    /// What to do
    #[command(subcommand)]
    pub command: KeysCommand,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key: it alone is printed on standard output, once and never again
    Add(AddKeyArgs),
    /// List the keys, without the keys themselves
    List(ListKeysArgs),
    /// End a key; a running gateway follows within a second
    Revoke(KeyArgs),
    /// Put a new key in the place of one, with the same limits and quota; it alone is printed on standard output
    Rotate(RotateArgs),
}

/// The file of keys.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// File of keys and usage
    #[arg(long, value_name = "FILE", default_value = gate::config::STORE)]
    pub store: PathBuf,
}

/// `plimsoll gate keys add`.
#[derive(Debug, Args)]
pub struct AddKeyArgs {
    /// The file of keys
    #[command(flatten)]
    pub store: StoreArgs,
    /// Whom the key is for, as `list`, `usage`, the usage page and the header X-Plimsoll-Owner of requests name them
    /// [default: nobody]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub owner: String,
    /// Tier of the configuration that the key belongs to [default: the first tier]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub tier: String,
    /// Route it is for; may be repeated [default: all]
    #[arg(long = "route", value_name = "NAME")]
    pub routes: Vec<String>,
    /// Requests per time, such as 100/s, 30/m or 1000/h [default: the tier's]
    #[arg(long, value_name = "RATE", value_parser = RateText::parse, allow_hyphen_values = true)]
    pub rate: Option<RateText>,
    /// Requests that may come at once after a pause [default: as many as the rate lets through in a second]
    #[arg(long, value_name = "N", requires = "rate", value_parser = parse_count, allow_hyphen_values = true)]
    pub burst: Option<u64>,
    /// Requests that may be in flight at once [default: the tier's]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub concurrency: Option<u64>,
    /// Requests in a day of UTC [default: the tier's]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub per_day: Option<u64>,
    /// Requests in a month of UTC [default: the tier's]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub per_month: Option<u64>,
    /// Longest body of its requests, such as 512, 64KiB or 1MB; 0 for none [default: the tier's]
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse, allow_hyphen_values = true)]
    pub body: Option<Bytes>,
    /// Time until it expires, such as 720h [default: never]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub expires_in: Option<Nanos>,
}

/// `plimsoll gate keys list`.
#[derive(Debug, Args)]
pub struct ListKeysArgs {
    /// The file of keys
    #[command(flatten)]
    pub store: StoreArgs,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: GateFormat,
}

/// A key by its number.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// The file of keys
    #[command(flatten)]
    pub store: StoreArgs,
    /// Its number, as `list` shows it
    #[arg(value_name = "NUMBER", value_parser = key_number)]
    pub id: u64,
}

fn key_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "a key is named by its number, as `plimsoll gate keys list` shows it".to_owned()
    })
}

/// `plimsoll gate keys rotate`.
#[derive(Debug, Args)]
pub struct RotateArgs {
    /// The key
    #[command(flatten)]
    pub key: KeyArgs,
    /// Time for which the old key is valid beside the new one, also if that is rotated meanwhile; all of them have the limits and
    /// the quota of one
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub grace: Nanos,
}

/// `plimsoll gate usage`.
#[derive(Debug, Args)]
pub struct UsageArgs {
    /// The file of usage
    #[command(flatten)]
    pub store: StoreArgs,
    /// How far to look back
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_duration, allow_hyphen_values = true)]
    pub since: Nanos,
    /// What to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: GateFormat,
}

/// `plimsoll gate export`.
#[derive(Debug, Args)]
#[command(override_usage = "plimsoll gate export [OPTIONS] --upstream URL PROXY")]
pub struct ExportArgs {
    /// The proxy
    #[arg(value_enum, value_name = "PROXY")]
    pub proxy: ExportProxy,
    /// The load line
    #[arg(long, value_name = "FILE", default_value = "capacity.json")]
    pub loadline: PathBuf,
    /// URL of a server to forward to; may be repeated
    #[arg(long, value_name = "URL", required = true)]
    pub upstream: Vec<String>,
    /// Address for clients
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090")]
    pub listen: String,
}

/// A proxy that limits can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportProxy {
    /// nginx, with its modules limit_req and limit_conn
    Nginx,
    /// HAProxy 2.4 or later
    Haproxy,
}

/// What to print on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// A table
    Text,
    /// JSON
    Json,
}
