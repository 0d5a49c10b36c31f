//! A load that is ready to be carried out: its host resolved, its files read. Each level's plan, and what the engine needs
//! for it, are made from it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Advice, FirstResponses, Launch};
use model::names::meant_method;
use model::quote::{counted, grouped};
use model::units::show_duration;
use model::{Nanos, Plan};
use net::Peer;
use net::limits::{self, FileLimit};

use crate::args::{IoArg, LoadArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::address;
use crate::load::input::{LevelInput, LoadInput, Requests, pipeline_of_closes};
use crate::load::room::{self, Wanted};
use crate::load::script_run::{Begun, ScriptRun};
use crate::load::shape::{IdleWorkers, MOST_THREADS, Shape, threads};
use crate::load::tls::{self, Tls};
use measure::clock::now_unix_ns;

/// The most names in braces that are reported.
const MOST_UNFILLED: usize = 3;
/// From so many connections on, opening them is a matter of seconds, and announced.
const MANY: u64 = 100_000;

/// What becomes of a level for which files or ports would not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// It is refused before it starts, with a message that says what would do.
    Refused,
    /// It runs, and connections that cannot be opened count as connect errors.
    Counted,
}

/// A load looked up and read once: destination, addresses, request, TLS. Levels are made from it.
#[derive(Debug)]
pub struct Prepared {
    pub(super) args: LoadArgs,
    /// Where to, and what.
    pub input: LoadInput,
    pub(super) addresses: Vec<Peer>,
    /// The script that makes the requests instead.
    pub script: Option<ScriptRun>,
    /// Whether the load follows the profile that a workload file gives it: stages, or a trace.
    pub follows_profile: bool,
    pub(super) tls: Option<Tls>,
    /// The first responses, if others are compared with them: all runs of this load share them.
    first_responses: Arc<FirstResponses>,
    /// Open files allowed.
    pub files: FileLimit,
    pub(super) io: net::Io,
    /// What becomes of connections for which files or ports would not do.
    pub shortage: Shortage,
    /// What the user should know and that is no failure.
    pub notices: Vec<String>,
}

impl Prepared {
    /// Resolves the host of what is sent.
    ///
    /// # Errors
    /// On whatever is wrong with TLS files or the way to the server.
    pub fn of(input: LoadInput, args: &LoadArgs) -> Result<Self, Failure> {
        let destination = &input.destination;
        let tls = if destination.tls { Some(tls::read(&args.tls, &input)?) } else { None };
        let reached = destination.addresses(args)?;
        let script = match &input.requests {
            Requests::One { parts, .. } => {
                ScriptRun::of(&input.text, args, destination, parts.clone())?
            }
            Requests::Workload(..) => None,
        };
        let difference = match &input.requests {
            Requests::One { .. } => destination.difference(&input.text),
            Requests::Workload(..) => None,
        };
        let methods = mistyped_methods(&input);
        let unfilled = unfilled_paths(&input);
        let proxy = proxy_notice(destination.tls);
        let of_no_use = if tls.is_none() { tls::unused(&args.tls) } else { None };
        Ok(Self {
            args: args.clone(),
            addresses: reached.addresses,
            script,
            follows_profile: false,
            tls,
            first_responses: Arc::new(FirstResponses::of(input.endpoints().len())),
            files: limits::raise_file_limit(),
            io: choose_io(args.io)?,
            shortage: Shortage::Refused,
            notices: difference
                .into_iter()
                .chain(methods)
                .chain(unfilled)
                .chain(proxy)
                .chain(of_no_use)
                .chain(reached.notices)
                .collect(),
            input,
        })
    }

    /// Standard output is for people, or for a machine: then a script prints to standard error.
    pub fn print_for_people(&mut self, people: bool) {
        if let Some(script) = self.script.as_mut().filter(|_| !people) {
            script.print_to_stderr();
        }
    }

    /// The plan of one level, and what carries it out. `idle` says what becomes of workers without a connection.
    ///
    /// # Errors
    /// When the shape makes no sense, or files or ports would not do.
    pub fn level(
        &self,
        shape: Shape,
        idle: IdleWorkers,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Launch, Vec<String>), Failure> {
        self.level_of(0, shape, idle, stop)
    }

    /// As [`Self::level`], of the `nth` of several runs of this load that are samples of it, counted from 0: with random
    /// numbers of its own.
    ///
    /// # Errors
    /// As [`Self::level`].
    pub fn level_of(
        &self,
        nth: u64,
        shape: Shape,
        idle: IdleWorkers,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Launch, Vec<String>), Failure> {
        shape.check()?;
        if self.input.profile().is_some() && !self.follows_profile {
            return usage(format!(
                "{}: its stages or its trace set the load, and so does this command: use `plimsoll run`, or \
                 a file without them",
                self.input.text
            ));
        }
        self.input.settings.check_level(shape)?;
        self.launch(nth, shape, idle, stop)
    }

    /// One connection, or one for each endpoint that has users of its own, for this many requests one after another within a
    /// time, whatever the load is.
    ///
    /// # Errors
    /// When a workload cannot be divided so far, or a script does not begin.
    pub fn alone(&self, requests: u64, within_ns: Nanos) -> Result<Launch, Failure> {
        let (duration_ns, requests) = (Some(within_ns), Some(requests));
        let shape = Shape { connections: 1, rate_per_s: None, duration_ns, requests };
        let stop = Arc::new(AtomicBool::new(false));
        let (launch, _) = self.launch(0, shape, IdleWorkers::LeftOut, &stop)?;
        let mut plan = (*launch.plan).clone();
        (plan.pace_ns, plan.think_ns, plan.warmup_ns, plan.ramp_ns) = (None, None, 0, 0);
        Ok(Launch { plan: Arc::new(plan), ..launch })
    }

    fn launch(
        &self,
        nth: u64,
        shape: Shape,
        idle: IdleWorkers,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Launch, Vec<String>), Failure> {
        let mut notices = Vec::new();
        let seed = self.input.settings.seed_of(nth);
        let at_level = self.input.at_level(shape.connections, seed, now_unix_ns())?;
        let shape = Shape { connections: at_level.connections, ..shape };
        shape.check()?;
        let routes = address::routes(&self.addresses, &self.args.source, shape.connections)?;
        let wanted = Wanted {
            connections: shape.connections,
            routes: &routes,
            tls: self.tls.is_some(),
            at_once: shape.rate_per_s.is_none(),
        };
        self.check_room(wanted, &mut notices)?;
        let mut workers = threads(self.args.threads, shape.connections, idle)?;
        let asked = self.args.threads.filter(|_| idle == IdleWorkers::Refused);
        if let Some(asked) = asked.filter(|&asked| asked > workers) {
            notices.push(format!("{workers} workers instead of {asked}: that is the maximum"));
        }
        if let Some(cap) = self.args.max_inflight.filter(|&cap| cap < workers) {
            notices.push(format!(
                "{} instead of {workers}: each needs at least one request of --max-inflight {cap}",
                counted(cap, "worker")
            ));
            workers = cap;
        }
        let threads = self.enough_tables(workers, shape.connections, &mut notices);
        shape.check_arrivals(threads)?;
        let LevelInput { supply, mix, .. } = at_level;
        let begun = match &self.script {
            Some(script) => {
                let addresses: Vec<_> = self.addresses.iter().filter_map(Peer::tcp).collect();
                script.begin(threads as u32, &addresses, stop)?
            }
            None => Begun::without_script(supply),
        };
        if self.args.pipeline > 1 && begun.closes {
            return pipeline_of_closes(self.args.pipeline, "the script's requests");
        }
        let burst = u64::from(begun.burst);
        if let Some(cap) = self.args.max_inflight.filter(|&cap| cap < burst * threads) {
            return usage(format!(
                "--max-inflight {cap} is below the {burst} requests that the script sends at once{}",
                if threads > 1 { format!(" in each of {threads} workers") } else { String::new() }
            ));
        }
        let plan = Plan { seed, ..self.plan(shape, threads, &routes, mix, begun.burst) };
        let launch = Launch {
            own_files: shape.connections > self.files.connections_per_table(),
            plan: Arc::new(plan),
            sources: begun.sources,
            routes: routes.into(),
            destinations: begun.destinations,
            stuck: begun.stuck,
            tls: self.tls.as_ref().map(|tls| (tls.config.clone(), tls.name.clone())),
            advice: self.tls.as_ref().map_or(tls::advice as Advice, |tls| tls.advice),
            first_responses: self.first_responses.clone(),
            io: self.io,
            stop: stop.clone(),
        };
        Ok((launch, notices))
    }

    /// Whether the connections find room on this machine; how long opening many of them takes.
    fn check_room(&self, wanted: Wanted<'_>, notices: &mut Vec<String>) -> Result<(), Failure> {
        if let Some(short) = room::short(wanted, self.files) {
            match self.shortage {
                Shortage::Refused => return cannot_run(short),
                Shortage::Counted => notices.push(short),
            }
        }
        if wanted.at_once && wanted.connections >= MANY {
            notices.push(format!(
                "{} connections are opened before the window, which takes {} at most",
                grouped(wanted.connections),
                show_duration(engine::OPEN_WITHIN)
            ));
        }
        Ok(())
    }

    /// Workers enough that each one's file table holds its connections, as far as there may be so many.
    fn enough_tables(&self, threads: u64, connections: u64, notices: &mut Vec<String>) -> u64 {
        let a_table = self.files.connections_per_table().max(1);
        let needed = connections.div_ceil(a_table);
        if needed <= threads || needed > MOST_THREADS {
            return threads;
        }
        notices.push(format!(
            "{needed} workers instead of {threads}: a worker can open {} files, and {} need more",
            grouped(self.files.soft),
            counted(connections, "connection")
        ));
        needed
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

/// Methods that look like a slip: they are sent as they are, as a server may know them.
fn mistyped_methods(input: &LoadInput) -> Vec<String> {
    let methods: BTreeSet<&str> = match &input.requests {
        Requests::One { .. } => BTreeSet::from([input.method.as_str()]),
        Requests::Workload(file, _) => {
            let workload = file.workload();
            let steps = workload.flows.iter().flat_map(|flow| &flow.steps);
            let of_steps = steps.filter_map(|step| step.method.as_deref());
            let endpoints = workload.endpoints.iter();
            endpoints.filter_map(|endpoint| endpoint.method.as_deref()).chain(of_steps).collect()
        }
    };
    let notice = |method: &str| {
        let meant = meant_method(method)?;
        Some(format!(
            "the method {method} is not a common one, and is sent as it is: did you mean {meant}?"
        ))
    };
    methods.into_iter().filter_map(notice).collect()
}

/// Names in braces in the paths of a workload file, as other tools write what they fill in; the first few.
fn unfilled_paths(input: &LoadInput) -> Vec<String> {
    let Requests::Workload(file, _) = &input.requests else { return Vec::new() };
    let workload = file.workload();
    let steps = workload.flows.iter().flat_map(|flow| &flow.steps).map(|step| &step.path);
    let paths = workload.endpoints.iter().map(|endpoint| &endpoint.path).chain(steps);
    let names: BTreeSet<&str> = paths.filter_map(|path| name_in_braces(path)).collect();
    let notice = |name: &str| {
        format!("{{{name}}} in a path is sent as %7B{name}%7D: ${{{name}}} puts a value there")
    };
    names.into_iter().take(MOST_UNFILLED).map(notice).collect()
}

/// The first name in braces that have no dollar sign before them.
fn name_in_braces(path: &str) -> Option<&str> {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    path.match_indices('{').find_map(|(at, _)| {
        let (name, _) = path[at + 1..].split_once('}')?;
        let is_name = !name.is_empty() && name.bytes().all(of_name);
        (is_name && !path[..at].ends_with('$')).then_some(name)
    })
}

/// A proxy that the environment asks for would be what is measured; it is not used, and a notice says so.
fn proxy_notice(tls: bool) -> Vec<String> {
    let names: &[&str] = if tls {
        &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    } else {
        &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    };
    let set =
        names.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    set.map(|name| {
        format!(
            "{name} is set but ignored: requests go directly to the server, \
        without a proxy"
        )
    })
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn input(method: &str) -> Result<LoadInput, Failure> {
        let line = ["plimsoll", "run", "http://127.0.0.1/", "-X", method];
        match Cli::try_parse_from(line).expect("flags").command {
            Command::Run(args) => LoadInput::of("http://127.0.0.1/", &args.load),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_name_in_braces_that_is_not_a_placeholder_is_found() {
        for (path, name) in [
            ("/users/{id}/orders", Some("id")),
            ("/users/{{id}}", Some("id")),
            ("/users/${id}/{order-id}?a={b}", Some("order-id")),
            ("/users/${user.id}", None),
            ("/search?q={\"a\":1}", None),
            ("/a{}b{", None),
        ] {
            assert_eq!(name_in_braces(path), name, "{path}");
        }
    }

    #[test]
    fn a_method_that_looks_mistyped_is_asked_about() {
        let told = |method| mistyped_methods(&input(method).expect("a request"));
        assert!(told("GTE")[0].ends_with("did you mean GET?"), "{:?}", told("GTE"));
        assert!(told("GET").is_empty() && told("PURGE").is_empty());
        for (lower, meant) in [("get", "GET"), ("psot", "POST"), ("purge", "PURGE")] {
            let refused = input(lower).expect_err("lower case").to_string();
            assert!(refused.ends_with(&format!("did you mean -m {meant}?")), "{refused}");
        }
    }
}
