//! What a load sends: one request that a URL and flags describe, or what a workload file holds.
//!
//! Owns telling the two apart, and what a plan says of them. How much is sent, and when, is the [`shape`](super::shape)'s
//! and the [`plan`](super::plan)'s; how workloads are read, [`workload_file`]'s.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::names::meant_method;
use model::plan::EXPECT_FIRST;
use model::workload::Stage;
use model::{Arriving, EndpointPlan, Mix, Nanos, Stages};
use traffic::{Always, BodyLike, Expect, KeepsCookies, Supply};
use wire::RequestParts;

use crate::args::{LoadArgs, ShapeArgs};
use crate::failure::{Failure, usage};
use crate::load::address::Destination;
use crate::load::plan::asks_to_close;
use crate::load::script_run::SiteParts;
use crate::load::settings::{Origin, Settings, ShapeSettings};
use crate::load::workload_file::{self, Ready, WorkloadFile};
use crate::load::{body, header_field};
use crate::secrets;

/// What a load sends, as the command line or a workload file has it.
#[derive(Debug)]
pub struct LoadInput {
    /// As it was named: a URL, or a file.
    pub text: String,
    /// Where to.
    pub destination: Destination,
    /// Where it is named.
    pub named_by: Origin,
    /// What holds for it.
    pub settings: Settings,
    /// The method; of several requests, none.
    pub method: String,
    /// Header fields that the user added, secrets masked.
    pub headers: Vec<(String, String)>,
    /// Length of the body of a single request.
    pub body_bytes: u64,
    /// What it is.
    pub requests: Requests,
}

/// One request or many.
#[derive(Debug)]
pub enum Requests {
    /// The same request again and again.
    One {
        /// Its bytes.
        request: Vec<u8>,
        /// Makes what workers send.
        supply: Arc<dyn Supply>,
        /// What it was made of.
        parts: SiteParts,
        /// Whether each user keeps the cookies that responses set.
        keeps_cookies: bool,
    },
    /// What a workload file holds.
    Workload(Box<WorkloadFile>, Box<Ready>),
}

/// Works out what a workload file means.
type Compile = fn(&WorkloadFile) -> Result<Ready, Failure>;

/// What a load follows instead of a steady height. One of the two is there.
#[derive(Debug, Clone, Default)]
pub struct LoadProfile {
    /// One after another.
    pub stages: Vec<Stage>,
    /// When arrivals are due, nanoseconds since the run's start.
    pub recorded: Option<Arc<[Nanos]>>,
}

impl LoadProfile {
    /// When it ends, since the run's start.
    fn ends_ns(&self) -> Option<Nanos> {
        match &self.recorded {
            Some(dues) => dues.last().map(|last| last.saturating_add(1)),
            None => Stages::new(&self.stages).ok().map(|stages| stages.end_ns()),
        }
    }
}

/// What is sent at one level.
#[derive(Debug)]
pub struct LevelInput {
    /// Makes what workers send.
    pub supply: Arc<dyn Supply>,
    /// The endpoints and flows.
    pub mix: Mix,
    /// Connections: those of endpoints that set their own number may not divide evenly.
    pub connections: u64,
}

impl LoadInput {
    /// What a URL or a workload file's name, with flags, comes to.
    ///
    /// # Errors
    /// On what is wrong with either, and on flags that do not go with it.
    pub fn of(text: &str, args: &LoadArgs) -> Result<Self, Failure> {
        Self::compiled_by(text, args, |file| file.compile(1.0))
    }

    /// The same to be looked at and not sent: it needs no environment variable to be set.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn to_show(text: &str, args: &LoadArgs) -> Result<Self, Failure> {
        Self::compiled_by(text, args, WorkloadFile::compile_to_show)
    }

    fn compiled_by(text: &str, args: &LoadArgs, compile: Compile) -> Result<Self, Failure> {
        refuse_contradictions(args)?;
        if workload_file::is_meant(text) {
            return Self::of_file(Path::new(text), args, compile);
        }
        if args.scale.is_some() || args.reads_only || !args.allow_files.is_empty() {
            return usage(
                "--scale, --reads-only and --allow-files belong to workload files, not to a URL",
            );
        }
        let destination = Destination::parse(text)?;
        let (method, body) = method_and_body(args)?;
        let headers = headers(args)?;
        if args.pipeline > 1 && asks_to_close(&headers) {
            return pipeline_of_closes(args.pipeline, "requests");
        }
        let request = encode(&destination, &method, &headers, body.as_deref(), !args.no_keepalive)?;
        let supply = supply(&request, &method, args)?;
        Ok(Self {
            text: text.to_owned(),
            destination,
            named_by: Origin::Flag,
            settings: Settings::of(args, None),
            method: method.clone(),
            headers: headers.iter().map(|(name, value)| masked(name, value)).collect(),
            body_bytes: body.as_ref().map_or(0, |body| body.len() as u64),
            requests: Requests::One {
                request,
                supply,
                parts: SiteParts { method, headers, body },
                keeps_cookies: args.cookies,
            },
        })
    }

    fn of_file(path: &Path, args: &LoadArgs, compile: Compile) -> Result<Self, Failure> {
        if let Some(like) = args.expect_body_like.as_deref().filter(|like| *like != EXPECT_FIRST) {
            return usage(format!(
                "--expect-body-like {like}: a workload file uses checks for that; only FIRST works with \
                 one"
            ));
        }
        for (flag, given) in [
            ("-m", args.method.is_some()),
            ("-b", args.body.is_some()),
            ("--data", args.data.is_some()),
            ("--json", args.json.is_some()),
            ("-u", args.user.is_some()),
            ("--body-file", args.body_file.is_some()),
            ("--pipeline", args.pipeline > 1),
            ("-s", args.script.is_some()),
            ("what follows --", !args.script_args.is_empty()),
            ("--cookies, which flows keep anyway,", args.cookies),
        ] {
            if given {
                return usage(format!(
                    "{flag} belongs to a URL: the requests are in the workload file"
                ));
            }
        }
        let file = WorkloadFile::read(path, args)?;
        let ready = compile(&file)?;
        let destination = Destination::parse(ready.compiled.target())?;
        let from_outside = file.workload().target.contains("${env.");
        Ok(Self {
            text: path.display().to_string(),
            destination,
            named_by: if from_outside { Origin::Environment } else { Origin::File },
            settings: file.settings().clone(),
            method: String::new(),
            headers: file.workload().headers.iter().map(|(n, value)| masked(n, value)).collect(),
            body_bytes: 0,
            requests: Requests::Workload(Box::new(file), Box::new(ready)),
        })
    }

    /// The workload file, if it is one.
    pub fn workload(&self) -> Option<(&WorkloadFile, &Ready)> {
        match &self.requests {
            Requests::One { .. } => None,
            Requests::Workload(file, ready) => Some((file, ready)),
        }
    }

    /// The profile that a workload file gives the load, instead of a steady height: stages, or when
    /// recorded arrivals are due.
    pub fn profile(&self) -> Option<LoadProfile> {
        let (_, ready) = self.workload()?;
        let stages = ready.compiled.load().stages.clone();
        let profile = LoadProfile { stages, recorded: ready.compiled.recorded() };
        (!profile.stages.is_empty() || profile.recorded.is_some()).then_some(profile)
    }

    /// How much load for how long, as flags and a workload file's load come to. Stages or a trace leave no room for
    /// flags that say how much.
    ///
    /// # Errors
    /// When there are flags that say how much all the same, or a file bounds a loop that it does not open.
    pub fn shape(&self, flags: &ShapeArgs) -> Result<ShapeSettings, Failure> {
        let load = self.workload().map(|(_, ready)| ready.compiled.load());
        let open = load.is_some_and(|load| load.rate.is_some());
        if let Some(profile) = self.profile() {
            let traced = profile.recorded.is_some();
            let shorter = if traced { "; a `duration` beside it sends its beginning" } else { "" };
            for (flag, given) in [
                ("-R", flags.rate.is_some()),
                ("-d", flags.duration.is_some()),
                ("-c", flags.connections.is_some() && !open),
                ("-n", flags.requests.is_some() && traced),
            ] {
                if given {
                    return usage(format!(
                        "{flag}: the stages or the trace in {} set the load; --scale multiplies \
                         it{shorter}",
                        self.text
                    ));
                }
            }
        }
        let mut shape = ShapeSettings::of(flags, load);
        shape.check(load)?;
        if let Some(ends_ns) = self.profile().and_then(|profile| profile.ends_ns()) {
            shape.end_with_profile(ends_ns, self.settings.warmup_ns.value)?;
        }
        Ok(shape)
    }

    /// The objectives that a workload file holds, as `--slo` takes them: those of an endpoint or a step
    /// behind its name.
    pub fn objectives(&self) -> Vec<String> {
        let Some((file, ready)) = self.workload() else { return Vec::new() };
        let of_endpoints = ready.compiled.mix().endpoints.iter().flat_map(|endpoint| {
            endpoint.objectives.iter().map(move |text| format!("{}: {text}", endpoint.name))
        });
        file.workload().objectives.iter().cloned().chain(of_endpoints).collect()
    }

    /// Whatever is read, run or sent, as it was named.
    pub fn files(&self, args: &LoadArgs) -> BTreeSet<PathBuf> {
        let tls = &args.tls;
        let named = [&args.script, &args.body_file, &tls.cacert, &tls.cert, &tls.key];
        let mut files: BTreeSet<PathBuf> = named.into_iter().flatten().cloned().collect();
        files.extend(body::file(args).map(Path::to_owned));
        if let Some((file, _)) = self.workload() {
            files.insert(file.path().to_owned());
            files.extend(file.named());
        }
        files
    }

    /// The arrivals per second that a workload file asks for.
    pub fn rate_of_file(&self) -> Option<f64> {
        let (_, ready) = self.workload()?;
        ready.compiled.load().rate.map(|rate| rate.0)
    }

    /// What a workload file wants watched beside its load, as `--observe` takes it.
    pub fn sources(&self) -> &[String] {
        self.workload().map_or(&[], |(file, _)| &file.workload().observe)
    }

    /// The daily users that a workload file says its load is of.
    pub fn daily_users(&self) -> Option<u64> {
        let (file, _) = self.workload()?;
        file.workload().daily_users.map(|users| users.0)
    }

    /// What a rate of this load counts.
    pub fn arriving(&self) -> Arriving {
        match &self.requests {
            Requests::One { .. } => Arriving::Requests,
            Requests::Workload(_, ready) => ready.compiled.mix().arriving(),
        }
    }

    /// Endpoints of its mix; none for one request.
    pub fn endpoints(&self) -> &[EndpointPlan] {
        self.workload().map_or(&[], |(_, ready)| &ready.compiled.mix().endpoints)
    }

    /// What is sent with this many connections, drawn by this seed. Where endpoints set numbers of users, these are scaled
    /// in proportion.
    ///
    /// # Errors
    /// When a workload cannot be divided so.
    pub fn at_level(
        &self,
        connections: u64,
        seed: u64,
        unix_ns: i64,
    ) -> Result<LevelInput, Failure> {
        let (file, ready) = match &self.requests {
            Requests::One { supply, keeps_cookies, .. } => {
                let supply = supply.clone();
                let supply = if *keeps_cookies {
                    Arc::new(KeepsCookies { supply, unix_ns })
                } else {
                    supply
                };
                return Ok(LevelInput { supply, mix: Mix::default(), connections });
            }
            Requests::Workload(file, ready) => (file, ready),
        };
        let own = own_connections(ready.compiled.mix());
        let again = match own {
            Some(own) if own != connections => {
                Some(file.compile(connections as f64 / own as f64)?.compiled)
            }
            _ => None,
        };
        let compiled = again.as_ref().unwrap_or(&ready.compiled);
        Ok(LevelInput {
            supply: compiled.supply_of(seed, unix_ns),
            mix: secrets::mask_mix(compiled.mix().clone()),
            connections: own_connections(compiled.mix()).unwrap_or(connections),
        })
    }
}

/// The sum of the users that endpoints and flows set; `None` where none does.
fn own_connections(mix: &Mix) -> Option<u64> {
    let of_endpoints = mix.endpoints.iter().map(|endpoint| endpoint.connections);
    let own = of_endpoints.chain(mix.flows.iter().map(|flow| flow.connections));
    own.flatten().map(u64::from).reduce(|sum, more| sum + more)
}

/// What flags contradict each other.
fn refuse_contradictions(args: &LoadArgs) -> Result<(), Failure> {
    if args.timeout == Some(0) {
        return usage("-T 0: a time-out must be above zero");
    }
    if args.pipeline == 0 || args.pipeline > 1024 {
        return usage(format!("--pipeline {}: from 1 to 1024", args.pipeline));
    }
    if args.pipeline > 1 && args.no_keepalive {
        return usage("--pipeline needs keep-alive: leave out --no-keepalive");
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
    if args.unix.len() > 1 {
        return usage("--unix: one path; only `compare` takes one for each URL");
    }
    if args.cookies && names_field(args, "Cookie") {
        return usage("--cookies sends what responses set: leave out either it or -H Cookie");
    }
    if args.threads == Some(0) {
        return usage("-t 0: at least one worker is needed");
    }
    match args.user.as_deref().filter(|user| !user.contains(':')) {
        // As k6 and locust have their users.
        Some(number) if number.parse::<u64>().is_ok() => usage(format!(
            "-u {number}: use -c {number} for as many connections; -u takes USER:PASSWORD"
        )),
        Some(_) => usage("-u takes USER:PASSWORD, and USER: where there is no password"),
        None => Ok(()),
    }
}

/// Refuses to send requests behind those that end their connection; `which` says which these are.
///
/// # Errors
/// Always.
pub(super) fn pipeline_of_closes<T>(pipeline: u64, which: &str) -> Result<T, Failure> {
    usage(format!(
        "--pipeline {pipeline}: {which} that ask for `Connection: close` are each the last of their connection, so that \
         none is sent behind them: leave out one of the two"
    ))
}

/// What sends the request, and checks the responses where it was asked for.
fn supply(request: &[u8], method: &str, args: &LoadArgs) -> Result<Arc<dyn Supply>, Failure> {
    let always = Always::new(request, method == "HEAD");
    let Some(like) = args.expect_body_like.as_deref().filter(|like| *like != EXPECT_FIRST) else {
        return Ok(Arc::new(always));
    };
    if args.script.is_some() {
        return usage("--expect-body-like with a script: only FIRST works with one");
    }
    match BodyLike::parse(like) {
        Ok(like) => Ok(Arc::new(Expect { always, like })),
        Err(why) => usage(format!("--expect-body-like {like}: {why}")),
    }
}

/// The fields that flags name. `--json`, `--data` and `-u` make fields that `-H` does not name.
fn headers(args: &LoadArgs) -> Result<Vec<(String, String)>, Failure> {
    let fields = args.headers.iter().map(|text| header_field("-H", text));
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut headers = fields.map(|field| field.map(owned)).collect::<Result<Vec<_>, _>>()?;
    let basic = args.user.as_ref().map(|user| format!("Basic {}", BASE64.encode(user)));
    let media = match (&args.json, &args.data) {
        (Some(_), _) => Some("application/json".to_owned()),
        (None, Some(_)) => Some("application/x-www-form-urlencoded".to_owned()),
        (None, None) => None,
    };
    // As curl has it.
    let accepted = args.json.as_ref().map(|_| "application/json".to_owned());
    for (name, value) in [("Authorization", basic), ("Content-Type", media), ("Accept", accepted)] {
        let named = headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        headers.extend(value.filter(|_| !named).map(|value| (name.to_owned(), value)));
    }
    Ok(headers)
}

/// Whether `-H` names this field.
pub(super) fn names_field(args: &LoadArgs, field: &str) -> bool {
    let mut names = args.headers.iter().filter_map(|text| Some(text.split_once(':')?.0.trim()));
    names.any(|name| name.eq_ignore_ascii_case(field))
}

fn method_and_body(args: &LoadArgs) -> Result<(String, Option<Vec<u8>>), Failure> {
    let body = body::of(args)?;
    let default = if body.is_some() { "POST" } else { "GET" };
    let method = args.method.clone().unwrap_or_else(|| default.to_owned());
    if method == "CONNECT" {
        return usage("-m CONNECT: tunnels are not supported");
    }
    if method.starts_with(|first: char| first.is_ascii_digit()) {
        return usage(format!(
            "-m {method}: a method such as GET or POST is expected; the time-out is -T TIME, the duration -d TIME"
        ));
    }
    let is_word = method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    if is_word && method.bytes().any(|byte| byte.is_ascii_lowercase()) {
        let upper = method.to_ascii_uppercase();
        let meant = meant_method(&method).unwrap_or(&upper);
        return usage(format!("-m {method}: methods are case-sensitive: did you mean -m {meant}?"));
    }
    Ok((method, body))
}

fn masked(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), secrets::mask_header(name, value))
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
