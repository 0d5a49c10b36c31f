//! Flags of `plimsoll mine`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use model::Nanos;
use model::units::{parse_count, parse_duration};

use super::parse_percent;

/// `plimsoll mine`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads combined and common logs (with or without virtual host), nginx and Apache logs by their format string, W3C, \
CloudFront, ALB, Caddy, Traefik and any JSON lines; plain, .gz and .zst. The files may come in any order. The format is \
found out from the first lines of each file.
The load is that of the busiest hour: requests of bots and of static files are counted and left out. Addresses are \
hashed as they are read and written nowhere; values of parameters that look like credentials are written only where \
--keep-secrets names them.
Examples:
  plimsoll mine access.log*
  plimsoll mine access.log --dau-now 16000 --dau-target 300000 --target http://staging:8080
  zcat old/*.gz | plimsoll mine -
Exit codes: 0 the workload was written; 1 a log could not be read, or too many of its lines are bad; 2 usage.")]
pub struct MineArgs {
    /// Access logs; `-` reads standard input
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,
    /// Folder for workload.yaml, its pools, mine.json and report.html [default: plimsoll-out/mine/DATE-TIME]
    #[arg(long, value_name = "DIR", value_parser = super::place::folder(), help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    pub format: MineFormat,
    /// How the lines are written: nginx's log_format string (or Apache's), a format's name (combined, common, vhost,
    /// alb, elb, w3c, cloudfront, json), or an nginx.conf that contains it
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub log_format: Option<String>,
    /// Member of a JSON line that holds this: at, client, user, agent, host, request, method, path, query, status,
    /// bytes, taken (taken=MEMBER:ms names the unit). With --log-format only what tells users apart, instead of the
    /// user's name: user=$cookie_sid, user=%{sid}C, user=cs(Cookie). May be repeated
    #[arg(long, value_name = "ROLE=MEMBER", help_heading = "Reading")]
    pub field: Vec<String>,
    /// Share of lines that may be unreadable
    #[arg(long, value_name = "PERCENT", default_value = "20%", value_parser = parse_percent, help_heading = "Reading")]
    pub max_bad: f64,
    /// Length of the peak that is looked for
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration, help_heading = "Reading")]
    pub window: Nanos,
    /// Keep only these paths: a prefix such as /api, or a pattern such as */users/*. May be repeated
    #[arg(long, value_name = "PATH", help_heading = "Reading")]
    pub include: Vec<String>,
    /// Leave these paths out. May be repeated
    #[arg(long, value_name = "PATH", help_heading = "Reading")]
    pub exclude: Vec<String>,
    /// Take all paths of this form for one endpoint, whatever is learnt: /categories/{slug}. Of several the first that
    /// matches. May be repeated
    #[arg(long, value_name = "PATH", value_parser = mine::Given::parse, help_heading = "Reading")]
    pub template: Vec<mine::Given>,
    /// Count the requests of bots too
    #[arg(long, help_heading = "Reading")]
    pub with_bots: bool,
    /// Count the requests of static files too
    #[arg(long, help_heading = "Reading")]
    pub with_static: bool,
    /// Endpoints in the workload at most; their rates are raised so that the whole load is sent
    #[arg(long, value_name = "N", default_value = "30", value_parser = parse_count, help_heading = "Workload")]
    pub top: u64,
    /// The server that the workload is for; nothing is sent to it now
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:8080",
        help_heading = "Workload"
    )]
    pub target: String,
    /// Replace the beginning of paths, for endpoints that are about to retire: /v1/users=/v2/users, or, with the method,
    /// POST /cart=PUT /basket. May be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_map, help_heading = "Workload")]
    pub map: Vec<(String, String)>,
    /// Write sessions (flows of several requests, with think times) instead of single requests: the commonest of the log,
    /// and as many others as are needed for each endpoint's share of the requests
    #[arg(long, help_heading = "Workload")]
    pub sessions: bool,
    /// The pause that ends a session
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = parse_duration, help_heading = "Workload")]
    pub session_gap: Nanos,
    /// Repeat the arrivals of the peak as they were logged, SPEED times as fast [default SPEED: 1]
    #[arg(long, value_name = "SPEED", num_args = 0..=1, default_missing_value = "1", value_parser = parse_factor, conflicts_with_all = ["sessions", "closed", "factor"], help_heading = "Workload")]
    pub trace: Option<f64>,
    /// Write users of a closed loop that send at a pace, instead of arrivals per second
    #[arg(long, conflicts_with = "sessions", help_heading = "Workload")]
    pub closed: bool,
    /// With --closed: time between the requests of one user [default: 110ms]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Workload")]
    pub pace: Option<Nanos>,
    /// Parameter whose values are written although they look like credentials, or its name says so. May be repeated
    #[arg(long, value_name = "NAME", help_heading = "Workload")]
    pub keep_secrets: Vec<String>,
    /// Daily users today [default: those of the log's busiest day]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Scale")]
    pub dau_now: Option<u64>,
    /// Daily users that the load is to stand for: it is multiplied by this over --dau-now [default: the same]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Scale")]
    pub dau_target: Option<u64>,
    /// Multiply the load by this, instead of by --dau-target over --dau-now
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, help_heading = "Scale")]
    pub factor: Option<f64>,
    /// Print nothing while reading
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// What to print on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MineFormat {
    /// The main figures
    Text,
    /// All figures as JSON (plimsoll.mine/1)
    Json,
}

/// Reads `OLD=NEW`, with a method before both or before neither.
fn parse_map(text: &str) -> Result<(String, String), String> {
    let wrong = || format!("`{text}`: write OLD=NEW, such as /v1/users=/v2/users");
    let (old, new) = text.split_once('=').ok_or_else(wrong)?;
    let path = |side: &str| side.split_once(' ').map_or(side, |(_, path)| path).starts_with('/');
    let alike = old.contains(' ') == new.contains(' ');
    if path(old) && path(new) && alike {
        Ok((old.to_owned(), new.to_owned()))
    } else {
        Err(wrong())
    }
}

/// Reads a number above 0, perhaps with an `x` behind it.
fn parse_factor(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('x').parse::<f64>() {
        Ok(factor) if factor > 0.0 && factor.is_finite() => Ok(factor),
        _ => Err(format!("`{text}` is not a number above 0")),
    }
}
