//! What a load sends: one request that a URL and flags describe, or what a workload file holds.
//!
//! Owns telling the two apart, and what a plan says of them. When something is sent is
//! [`crate::load::resolve`]'s; how workloads are read, [`crate::load::workload_file`]'s.

use std::path::Path;
use std::sync::Arc;

use model::plan::EXPECT_FIRST;
use model::workload::Stage;
use model::{Arriving, Mix, Nanos};
use traffic::{Always, BodyLike, Expect, Supply};
use wire::RequestParts;

use crate::args::LoadArgs;
use crate::failure::{Failure, usage};
use crate::load::address::Destination;
use crate::load::resolve::refuse_contradictions;
use crate::load::script_run::SiteParts;
use crate::load::settings::{Origin, Settings};
use crate::load::workload_file::{self, Ready, WorkloadFile};
use crate::results::input;
use crate::secrets;

/// See the module.
#[derive(Debug)]
pub struct Sent {
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
    pub what: What,
}

/// One request or many.
#[derive(Debug)]
pub enum What {
    /// The same request again and again.
    One {
        /// Its bytes.
        request: Vec<u8>,
        /// Makes what workers send.
        supply: Arc<dyn Supply>,
        /// What it was made of.
        parts: SiteParts,
    },
    /// What a workload file holds.
    Workload(Box<WorkloadFile>, Box<Ready>),
}

/// What a load follows instead of a steady height. One of the two is there.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// One after another.
    pub stages: Vec<Stage>,
    /// When arrivals are due, nanoseconds since the run's start.
    pub recorded: Option<Arc<[Nanos]>>,
}

/// What is sent at one level.
#[derive(Debug)]
pub struct Portion {
    /// Makes what workers send.
    pub supply: Arc<dyn Supply>,
    /// The endpoints and flows.
    pub mix: Mix,
    /// Connections: users whom endpoints have of their own may not divide evenly.
    pub connections: u64,
}

impl Sent {
    /// What a URL or a workload file's name, with flags, comes to.
    ///
    /// # Errors
    /// On what is wrong with either, and on flags that do not go with it.
    pub fn of(text: &str, args: &LoadArgs) -> Result<Self, Failure> {
        refuse_contradictions(args)?;
        if workload_file::is_meant(text) {
            return Self::of_file(Path::new(text), args);
        }
        if args.scale.is_some() || args.reads_only || !args.allow_files.is_empty() {
            return usage(
                "--scale, --reads-only and --allow-files belong to workload files, not to a URL",
            );
        }
        let destination = Destination::parse(text)?;
        let (method, body) = method_and_body(args)?;
        let headers = args.headers.iter().map(|h| header(h)).collect::<Result<Vec<_>, _>>()?;
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
            what: What::One { request, supply, parts: SiteParts { method, headers, body } },
        })
    }

    fn of_file(path: &Path, args: &LoadArgs) -> Result<Self, Failure> {
        if let Some(like) = args.expect_body_like.as_deref().filter(|like| *like != EXPECT_FIRST) {
            return usage(format!(
                "--expect-body-like {like}: a workload file says in its checks what bodies hold; only FIRST \
                 goes with one"
            ));
        }
        for (flag, given) in [
            ("-m", args.method.is_some()),
            ("-b", args.body.is_some()),
            ("--body-file", args.body_file.is_some()),
            ("--pipeline", args.pipeline > 1),
            ("-s", args.script.is_some()),
            ("what follows --", !args.script_args.is_empty()),
        ] {
            if given {
                return usage(format!(
                    "{flag} belongs to a URL: the requests are in the workload file"
                ));
            }
        }
        let file = WorkloadFile::read(path, args)?;
        let ready = file.compile(1.0)?;
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
            what: What::Workload(Box::new(file), Box::new(ready)),
        })
    }

    /// The workload file, if it is one.
    pub fn workload(&self) -> Option<(&WorkloadFile, &Ready)> {
        match &self.what {
            What::One { .. } => None,
            What::Workload(file, ready) => Some((file, ready)),
        }
    }

    /// The course that a workload file gives the load, instead of a steady height: stages, or when
    /// recorded arrivals are due.
    pub fn course(&self) -> Option<Course> {
        let (_, ready) = self.workload()?;
        let stages = ready.compiled.load().stages.clone();
        let course = Course { stages, recorded: ready.compiled.recorded() };
        (!course.stages.is_empty() || course.recorded.is_some()).then_some(course)
    }

    /// The objectives that a workload file holds, as `--slo` takes them: those of an endpoint or a flow
    /// behind its name.
    pub fn objectives(&self) -> Vec<String> {
        let Some((file, ready)) = self.workload() else { return Vec::new() };
        let mix = ready.compiled.mix();
        let endpoints = mix.endpoints.iter().map(|endpoint| (&endpoint.name, &endpoint.objectives));
        let flows = mix.flows.iter().map(|flow| (&flow.name, &flow.objectives));
        let of_parts = endpoints
            .chain(flows)
            .flat_map(|(name, all)| all.iter().map(move |text| format!("{name}: {text}")));
        file.workload().objectives.iter().cloned().chain(of_parts).collect()
    }

    /// What a rate of this load counts.
    pub fn arriving(&self) -> Arriving {
        match &self.what {
            What::One { .. } => Arriving::Requests,
            What::Workload(_, ready) => ready.compiled.mix().arriving(),
        }
    }

    /// What is sent with so many connections. Users that endpoints have of their own become more or
    /// fewer in the same proportions.
    ///
    /// # Errors
    /// When a workload cannot be divided so.
    pub fn portion(&self, connections: u64, unix_ns: i64) -> Result<Portion, Failure> {
        let (file, ready) = match &self.what {
            What::One { supply, .. } => {
                return Ok(Portion { supply: supply.clone(), mix: Mix::default(), connections });
            }
            What::Workload(file, ready) => (file, ready),
        };
        let own = own_connections(ready.compiled.mix());
        let again = match own {
            Some(own) if own != connections => {
                Some(file.compile(connections as f64 / own as f64)?.compiled)
            }
            _ => None,
        };
        let compiled = again.as_ref().unwrap_or(&ready.compiled);
        Ok(Portion {
            supply: compiled.supply(unix_ns),
            mix: compiled.mix().clone(),
            connections: own_connections(compiled.mix()).unwrap_or(connections),
        })
    }
}

/// The users that endpoints and flows have of their own, all together.
fn own_connections(mix: &Mix) -> Option<u64> {
    let of_endpoints = mix.endpoints.iter().map(|endpoint| endpoint.connections);
    let own = of_endpoints.chain(mix.flows.iter().map(|flow| flow.connections));
    own.flatten().map(u64::from).reduce(|sum, more| sum + more)
}

/// What sends the request, and checks the answers where it was asked for.
fn supply(request: &[u8], method: &str, args: &LoadArgs) -> Result<Arc<dyn Supply>, Failure> {
    let always = Always::new(request, method == "HEAD");
    let Some(like) = args.expect_body_like.as_deref().filter(|like| *like != EXPECT_FIRST) else {
        return Ok(Arc::new(always));
    };
    if args.script.is_some() {
        return usage("--expect-body-like with a script: only FIRST goes with one");
    }
    match BodyLike::parse(like) {
        Ok(like) => Ok(Arc::new(Expect { always, like })),
        Err(why) => usage(format!("--expect-body-like {like}: {why}")),
    }
}

fn method_and_body(args: &LoadArgs) -> Result<(String, Option<Vec<u8>>), Failure> {
    let body = match (&args.body, &args.body_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(path)) => Some(body_of(path)?),
        (None, None) => None,
    };
    let default = if body.is_some() { "POST" } else { "GET" };
    let method = args.method.clone().unwrap_or_else(|| default.to_owned());
    if method == "CONNECT" {
        return usage("-m CONNECT: tunnels are not an API's load");
    }
    Ok((method, body))
}

/// The bytes of a body's file.
fn body_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = input::read_at_most(path, traffic::LONGEST_REQUEST as u64);
    read.map_err(|why| Failure::Usage(format!("--body-file {}: {why}", path.display())))
}

fn header(text: &str) -> Result<(String, String), Failure> {
    match text.split_once(':') {
        Some((name, value)) => {
            Ok((name.trim().to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        }
        None => usage(format!("-H '{text}' has no colon: write it as 'Name: value'")),
    }
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
