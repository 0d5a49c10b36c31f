//! What the flags mean: from what was written to a plan with nothing left to default, and to what the
//! engine needs to carry it out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Launch, TlsSettings};
use model::plan::{DEFAULT_LANES, TlsPlan};
use model::units::{MICROSECOND, SECOND};
use model::{Arrivals, Io, Mix, Nanos, Plan};
use net::limits::{self, FileLimit};
use rustls::pki_types::ServerName;
use traffic::{Always, Supply};
use wire::RequestParts;

use crate::address::{self, Destination};
use crate::args::{IoArg, LoadArgs, TlsVersion};
use crate::failure::{Failure, cannot_run, usage};
use crate::script_run::{Begun, ScriptRun, SiteParts};
use crate::secrets;

/// The most connections one run may hold: what two workers' worth of source addresses can carry.
const MOST_CONNECTIONS: u64 = 1_000_000;
/// Worker threads of one run at most.
const MOST_THREADS: u64 = 512;
/// Arrivals closer than this are taken up together unless workers spin: a timer of its own for each
/// would cost more than the request.
const GRANULARITY: Nanos = 110 * MICROSECOND;
/// Arrivals a worker may have a second before they are taken up together.
const OWN_TIMER_BELOW_PER_S: f64 = 2000.0;

/// What differs between the levels of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Connections: users, or the cap in an open loop.
    pub connections: u64,
    /// Arrivals per second; `None` closes the loop.
    pub rate_per_s: Option<f64>,
    /// The measured window.
    pub duration_ns: Option<Nanos>,
    /// Requests at most.
    pub requests: Option<u64>,
}

/// What becomes of a level for which files or ports would not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// It is refused before it starts, and what would do is said.
    Refused,
    /// It runs, and connections that cannot be opened count as connect errors.
    Counted,
}

/// A load looked up and read once: destination, addresses, request, TLS. Levels are made from it.
#[derive(Debug)]
pub struct Prepared {
    args: LoadArgs,
    /// Where to.
    pub destination: Destination,
    addresses: Vec<SocketAddr>,
    method: String,
    body_bytes: u64,
    sources: Arc<dyn Supply>,
    /// The script that makes the requests instead.
    pub script: Option<ScriptRun>,
    tls: Option<(Arc<rustls::ClientConfig>, ServerName<'static>)>,
    /// Open files allowed.
    pub files: FileLimit,
    io: net::Io,
    /// What becomes of connections for which files or ports would not do.
    pub shortage: Shortage,
    /// What the user should know and that is no failure.
    pub notices: Vec<String>,
}

impl Prepared {
    /// Reads what the flags name and resolves the host.
    ///
    /// # Errors
    /// On whatever is wrong with URL, flags, files or the way to the server.
    pub fn new(url: &str, args: &LoadArgs) -> Result<Self, Failure> {
        let destination = Destination::parse(url)?;
        refuse_contradictions(args)?;
        let (method, body) = method_and_body(args)?;
        let headers = args.headers.iter().map(|h| header(h)).collect::<Result<Vec<_>, _>>()?;
        let request = encode(&destination, &method, &headers, body.as_deref(), !args.no_keepalive)?;
        let tls = if destination.tls { Some(tls(args, &destination)?) } else { None };
        let addresses = destination.addresses(args.connect_to.as_deref())?;
        let body_bytes = body.as_ref().map_or(0, |body| body.len() as u64);
        let parts = SiteParts { method: method.clone(), headers, body };
        let script = ScriptRun::of(url, args, &destination, parts)?;
        Ok(Self {
            args: args.clone(),
            addresses,
            body_bytes,
            script,
            sources: Arc::new(Always::new(request, method == "HEAD")),
            method,
            tls,
            files: limits::raise_file_limit(),
            io: choose_io(args.io)?,
            shortage: Shortage::Refused,
            notices: proxy_notice(destination.tls),
            destination,
        })
    }

    /// The plan of one level, and what carries it out. Threads given are clamped to the connections
    /// when `clamp`, and refused above them otherwise.
    ///
    /// # Errors
    /// When the shape makes no sense, or files or ports would not do.
    pub fn level(
        &self,
        shape: Shape,
        clamp: bool,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Launch, Vec<String>), Failure> {
        let mut notices = Vec::new();
        check_shape(shape)?;
        let routes = address::routes(&self.addresses, &self.args.source, shape.connections)?;
        if let Some(short) = address::ports_short(&routes, shape.connections) {
            match self.shortage {
                Shortage::Refused => return cannot_run(short),
                Shortage::Counted => notices.push(short),
            }
        }
        let mut wanted = threads(self.args.threads, shape.connections, clamp)?;
        if let Some(cap) = self.args.max_inflight.filter(|&cap| cap < wanted) {
            notices
                .push(format!("{cap} workers instead of {wanted}: --max-inflight {cap} is shared"));
            wanted = cap;
        }
        let threads = self.enough_tables(wanted, shape.connections, &mut notices)?;
        let begun = match &self.script {
            Some(script) => script.begin(threads as u32, &self.addresses, stop)?,
            None => Begun::without_script(&self.sources),
        };
        let plan = self.plan(shape, threads, &routes, begun.burst);
        let launch = Launch {
            own_files: shape.connections > self.files.connections_per_table(),
            plan: Arc::new(plan),
            sources: begun.sources,
            routes: routes.into(),
            destinations: begun.destinations,
            stuck: begun.stuck,
            tls: self.tls.clone(),
            io: self.io,
            stop: stop.clone(),
        };
        Ok((launch, notices))
    }

    /// Workers enough that each one's file table holds its connections.
    fn enough_tables(
        &self,
        threads: u64,
        connections: u64,
        notices: &mut Vec<String>,
    ) -> Result<u64, Failure> {
        let a_table = self.files.connections_per_table().max(1);
        let needed = connections.div_ceil(a_table);
        if needed <= threads {
            return Ok(threads);
        }
        if needed > MOST_THREADS {
            let short = format!(
                "{connections} connections need more open files than the limit of {} a process allows: \
                 `ulimit -Hn {}` would do",
                self.files.hard,
                connections / 64 + 64
            );
            if self.shortage == Shortage::Refused {
                return cannot_run(short);
            }
            notices.push(short);
            return Ok(threads);
        }
        notices.push(format!(
            "{needed} workers instead of {threads}: one may open {} files, and {connections} \
             connections need more",
            self.files.soft
        ));
        Ok(needed)
    }

    fn plan(&self, shape: Shape, threads: u64, routes: &[net::Route], burst: u16) -> Plan {
        let args = &self.args;
        let pipeline = args.pipeline.max(burst.into());
        let mut sources: Vec<String> =
            routes.iter().filter_map(|route| Some(route.from?.to_string())).collect();
        sources.dedup();
        let a_worker = shape.rate_per_s.unwrap_or(0.0) / threads as f64;
        let together = a_worker > OWN_TIMER_BELOW_PER_S && !args.spin;
        Plan {
            url: secrets::mask_url(self.destination.url.as_str()),
            method: self.method.clone(),
            headers: args.headers.iter().map(|text| masked(text)).collect(),
            body_bytes: self.body_bytes,
            connections: shape.connections as u32,
            threads: threads as u32,
            rate_per_s: shape.rate_per_s,
            arrivals: shape.rate_per_s.map(|_| args.arrivals.unwrap_or(Arrivals::Uniform)),
            lanes: DEFAULT_LANES,
            seed: args.seed,
            duration_ns: shape.duration_ns,
            requests: shape.requests,
            warmup_ns: args.warmup,
            ramp_ns: args.ramp,
            timeout_ns: args.timeout,
            pace_ns: args.pace,
            think_ns: args.think,
            keepalive: !args.no_keepalive,
            pipeline: pipeline as u32,
            max_inflight: args
                .max_inflight
                .unwrap_or(shape.connections * pipeline)
                .min(u64::from(u32::MAX)) as u32,
            io: match self.io {
                net::Io::Uring => Io::Uring,
                net::Io::Epoll => Io::Epoll,
            },
            spin: args.spin,
            granularity_ns: if together { GRANULARITY } else { 0 },
            addresses: self.addresses.iter().map(ToString::to_string).collect(),
            sources,
            tls: self.tls.is_some().then(|| TlsPlan {
                sni: args.tls.sni.clone().unwrap_or_else(|| self.destination.host.clone()),
                insecure: args.tls.insecure,
                min: args.tls.tls_min.name().to_owned(),
                max: args.tls.tls_max.name().to_owned(),
            }),
            success: args.success.clone(),
            mix: Mix::default(),
            stages: Vec::new(),
            recorded: None,
        }
    }
}

fn refuse_contradictions(args: &LoadArgs) -> Result<(), Failure> {
    if args.timeout == 0 {
        return usage("-T 0: a time-out must be above zero");
    }
    if args.pipeline == 0 || args.pipeline > 1024 {
        return usage(format!("--pipeline {}: from 1 to 1024", args.pipeline));
    }
    if args.pipeline > 1 && args.no_keepalive {
        return usage("--pipeline needs connections that live: leave --no-keepalive out");
    }
    if args.pipeline > 1 && (args.pace.is_some() || args.think.is_some()) {
        return usage("--pace and --think send one request at a time: leave --pipeline out");
    }
    if args.max_inflight == Some(0) {
        return usage("--max-inflight 0 would send nothing");
    }
    if args.tls.tls_min > args.tls.tls_max {
        return usage("--tls-min is above --tls-max: no version is left");
    }
    if args.threads == Some(0) {
        return usage("-t 0: at least one worker is needed");
    }
    Ok(())
}

fn check_shape(shape: Shape) -> Result<(), Failure> {
    if shape.connections == 0 {
        return usage("-c 0: at least one connection is needed");
    }
    if shape.connections > MOST_CONNECTIONS {
        return usage(format!("-c {}: at most {MOST_CONNECTIONS} connections", shape.connections));
    }
    if shape.duration_ns == Some(0) {
        return usage("-d 0: the window must last some time");
    }
    if shape.requests == Some(0) {
        return usage("-n 0: at least one request is needed");
    }
    if shape.rate_per_s.is_some() && shape.requests.is_some_and(|n| n > 50_000_000) {
        return usage("-n with -R counts to 50 M at most: give a duration (-d) instead");
    }
    Ok(())
}

fn threads(asked: Option<u64>, connections: u64, clamp: bool) -> Result<u64, Failure> {
    let allowed = limits::allowed_cpus().len() as u64;
    match asked {
        None => Ok(allowed.min(connections).max(1)),
        Some(threads) if threads <= connections => Ok(threads.min(MOST_THREADS)),
        Some(_) if clamp => Ok(connections),
        Some(threads) => usage(format!(
            "-t {threads} is above -c {connections}: a worker without a connection has nothing to do"
        )),
    }
}

fn choose_io(asked: IoArg) -> Result<net::Io, Failure> {
    match asked {
        IoArg::Epoll => Ok(net::Io::Epoll),
        IoArg::Auto if !net::uring_works() => Ok(net::Io::Epoll),
        IoArg::Uring if !net::uring_works() => cannot_run(
            "--io uring: io_uring is not available here (Linux 6.1 or newer is needed, and containers \
             commonly forbid it); use --io epoll",
        ),
        IoArg::Auto | IoArg::Uring => Ok(net::Io::Uring),
    }
}

fn method_and_body(args: &LoadArgs) -> Result<(String, Option<Vec<u8>>), Failure> {
    let body =
        match (&args.body, &args.body_file) {
            (Some(text), _) => Some(text.clone().into_bytes()),
            (None, Some(path)) => Some(std::fs::read(path).map_err(|error| {
                Failure::Usage(format!("--body-file {}: {error}", path.display()))
            })?),
            (None, None) => None,
        };
    let default = if body.is_some() { "POST" } else { "GET" };
    let method = args.method.clone().unwrap_or_else(|| default.to_owned());
    if method == "CONNECT" {
        return usage("-m CONNECT: tunnels are not an API's load");
    }
    Ok((method, body))
}

fn header(text: &str) -> Result<(String, String), Failure> {
    match text.split_once(':') {
        Some((name, value)) => {
            Ok((name.trim().to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        }
        None => usage(format!("-H '{text}' has no colon: write it as 'Name: value'")),
    }
}

fn masked(text: &str) -> (String, String) {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    (name.trim().to_owned(), secrets::mask_header(name, value.trim()))
}

fn encode(
    destination: &Destination,
    method: &str,
    headers: &[(String, String)],
    body: Option<&[u8]>,
    keep_alive: bool,
) -> Result<Vec<u8>, Failure> {
    let parts = RequestParts {
        method,
        target: &destination.target,
        host: &destination.authority,
        headers,
        body,
        keep_alive,
    };
    let mut bytes = Vec::new();
    match wire::encode_request(&mut bytes, &parts) {
        Ok(()) => Ok(bytes),
        Err(error) => usage(format!("the request cannot be sent: {error}")),
    }
}

type TlsParts = (Arc<rustls::ClientConfig>, ServerName<'static>);

fn tls(args: &LoadArgs, destination: &Destination) -> Result<TlsParts, Failure> {
    let read = |path: &Option<std::path::PathBuf>, flag: &str| match path {
        None => Ok(None),
        Some(path) => std::fs::read(path)
            .map(Some)
            .map_err(|error| Failure::Usage(format!("{flag} {}: {error}", path.display()))),
    };
    let flags = &args.tls;
    let ca = read(&flags.cacert, "--cacert")?;
    let system_roots = if flags.insecure || ca.is_some() {
        Vec::new()
    } else {
        let found = rustls_native_certs::load_native_certs();
        found.certs.iter().map(|certificate| certificate.to_vec()).collect()
    };
    let settings = TlsSettings {
        insecure: flags.insecure,
        ca,
        system_roots,
        cert: read(&flags.cert, "--cert")?,
        key: read(&flags.key, "--key")?,
        tls12: flags.tls_min == TlsVersion::V1_2,
        tls13: flags.tls_max == TlsVersion::V1_3,
    };
    let config =
        engine::client_config(&settings).map_err(|error| Failure::Usage(error.to_string()))?;
    let name = flags.sni.clone().unwrap_or_else(|| destination.host.clone());
    let name = ServerName::try_from(name.clone())
        .map_err(|_| Failure::Usage(format!("`{name}` is not a name that TLS can ask for")))?;
    Ok((config, name))
}

/// A proxy that the environment asks for would be what is measured; it is left out, and said.
fn proxy_notice(tls: bool) -> Vec<String> {
    let names: &[&str] = if tls {
        &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    } else {
        &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    };
    let set =
        names.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    set.map(|name| format!("{name} is set and ignored: requests go straight to the server"))
        .into_iter()
        .collect()
}

/// The window when nothing says how long it is.
pub const DEFAULT_DURATION: Nanos = 10 * SECOND;
