//! What the flags mean: from what was written to a plan with nothing left to default, and to what the
//! engine needs to carry it out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::Launch;
use model::plan::{DEFAULT_LANES, TlsPlan};
use model::units::{MICROSECOND, SECOND, exact_duration};
use model::workload::Stage;
use model::{Arrivals, Io, Mix, Nanos, Plan, Stages};
use net::limits::{self, FileLimit};

use crate::args::{IoArg, LoadArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::address;
use crate::load::follow;
use crate::load::script_run::{Begun, ScriptRun};
use crate::load::sent::{Course, Portion, Sent, What};
use crate::load::settings::Settings;
use crate::load::tls::{self, Tls};
use crate::measure::execute::now_unix_ns;
use crate::secrets;

/// The most connections one run may hold: what two workers' worth of source addresses can carry.
const MOST_CONNECTIONS: u64 = 1_000_000;
/// Worker threads of one run at most.
const MOST_THREADS: u64 = 512;
/// What an arrival waits at most for others to be taken up with it, unless workers spin: a timer of its own for
/// each would cost more than the request.
const GRANULARITY: Nanos = 110 * MICROSECOND;
/// Independent arrivals a worker may have a second before enough of them fall that close together.
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
    /// Where to, and what.
    pub sent: Sent,
    addresses: Vec<SocketAddr>,
    /// The script that makes the requests instead.
    pub script: Option<ScriptRun>,
    /// Whether the load follows the course that a workload file gives it: stages, or a trace.
    pub on_course: bool,
    tls: Option<Tls>,
    /// Open files allowed.
    pub files: FileLimit,
    io: net::Io,
    /// What becomes of connections for which files or ports would not do.
    pub shortage: Shortage,
    /// What the user should know and that is no failure.
    pub notices: Vec<String>,
}

impl Prepared {
    /// Reads what a URL or a workload file's name and the flags say, and resolves the host.
    ///
    /// # Errors
    /// On whatever is wrong with URL, flags, files or the way to the server.
    pub fn new(text: &str, args: &LoadArgs) -> Result<Self, Failure> {
        Self::of(Sent::of(text, args)?, args)
    }

    /// Resolves the host of what is sent.
    ///
    /// # Errors
    /// On whatever is wrong with TLS files or the way to the server.
    pub fn of(sent: Sent, args: &LoadArgs) -> Result<Self, Failure> {
        let (sent, followed) = match args.follow {
            Some(hops) => follow::follow(sent, args, hops)?,
            None => (sent, Vec::new()),
        };
        let destination = &sent.destination;
        let tls = if destination.tls { Some(tls::read(&args.tls, &sent)?) } else { None };
        let reached = destination.addresses(args.connect_to.as_deref(), &args.source)?;
        let script = match &sent.what {
            What::One { parts, .. } => ScriptRun::of(&sent.text, args, destination, parts.clone())?,
            What::Workload(..) => None,
        };
        Ok(Self {
            args: args.clone(),
            addresses: reached.addresses,
            script,
            on_course: false,
            tls,
            files: limits::raise_file_limit(),
            io: choose_io(args.io)?,
            shortage: Shortage::Refused,
            notices: proxy_notice(destination.tls)
                .into_iter()
                .chain(followed)
                .chain(reached.notices)
                .collect(),
            sent,
        })
    }

    /// Standard output is for people, or for a machine: then a script prints to standard error.
    pub fn print_for_people(&mut self, people: bool) {
        if let Some(script) = self.script.as_mut().filter(|_| !people) {
            script.print_to_stderr();
        }
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
        if self.sent.course().is_some() && !self.on_course {
            return usage(format!(
                "{}: its stages or its trace say how much load there is, and so does this command: run \
                 it, or take a file without them",
                self.sent.text
            ));
        }
        check_ramp(&self.sent.settings, shape)?;
        let portion = self.sent.portion(shape.connections, now_unix_ns())?;
        let shape = Shape { connections: portion.connections, ..shape };
        check_shape(shape)?;
        let routes = address::routes(&self.addresses, &self.args.source, shape.connections)?;
        if let Some(short) = address::ports_short(&routes, shape.connections) {
            match self.shortage {
                Shortage::Refused => return cannot_run(short),
                Shortage::Counted => notices.push(short),
            }
        }
        let mut wanted = threads(self.args.threads, shape.connections, clamp)?;
        if let Some(asked) = self.args.threads.filter(|&asked| asked > wanted && !clamp) {
            notices
                .push(format!("{wanted} workers instead of {asked}: there are that many at most"));
        }
        if let Some(cap) = self.args.max_inflight.filter(|&cap| cap < wanted) {
            notices
                .push(format!("{cap} workers instead of {wanted}: --max-inflight {cap} is shared"));
            wanted = cap;
        }
        let threads = self.enough_tables(wanted, shape.connections, &mut notices)?;
        let Portion { supply, mix, .. } = portion;
        let begun = match &self.script {
            Some(script) => script.begin(threads as u32, &self.addresses, stop)?,
            None => Begun::without_script(supply),
        };
        let plan = self.plan(shape, threads, &routes, mix, begun.burst);
        let launch = Launch {
            own_files: shape.connections > self.files.connections_per_table(),
            plan: Arc::new(plan),
            sources: begun.sources,
            routes: routes.into(),
            destinations: begun.destinations,
            stuck: begun.stuck,
            tls: self.tls.as_ref().map(|tls| (tls.config.clone(), tls.name.clone())),
            advice: tls::advice,
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

    fn plan(
        &self,
        shape: Shape,
        threads: u64,
        routes: &[net::Route],
        mix: Mix,
        burst: u16,
    ) -> Plan {
        let (args, settings) = (&self.args, &self.sent.settings);
        let pipeline = args.pipeline.max(burst.into());
        let course = self.sent.course().filter(|_| self.on_course && shape.rate_per_s.is_some());
        let Course { stages, recorded } = course.unwrap_or_default();
        let mut sources: Vec<String> =
            routes.iter().filter_map(|route| Some(route.from?.to_string())).collect();
        sources.dedup();
        let granularity_ns = match (args.spin, &recorded) {
            (true, _) => 0,
            // Their spacing is their own: as likely to fall together as independent ones.
            (_, Some(_)) => granularity(Arrivals::Poisson, densest(shape, &stages, threads)),
            _ => granularity(settings.arrivals.value, densest(shape, &stages, threads)),
        };
        Plan {
            url: secrets::mask_url(self.sent.destination.url.as_str()),
            method: self.sent.method.clone(),
            headers: self.sent.headers.clone(),
            body_bytes: self.sent.body_bytes,
            connections: shape.connections as u32,
            threads: threads as u32,
            rate_per_s: shape.rate_per_s,
            arrivals: shape.rate_per_s.map(|_| settings.arrivals.value),
            lanes: DEFAULT_LANES,
            seed: settings.seed.value,
            duration_ns: shape.duration_ns,
            requests: shape.requests,
            warmup_ns: settings.warmup_ns.value,
            ramp_ns: settings.ramp_ns.value,
            timeout_ns: settings.timeout_ns.value,
            pace_ns: settings.pace_ns.value,
            think_ns: settings.think_ns.value,
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
            granularity_ns,
            addresses: self.addresses.iter().map(ToString::to_string).collect(),
            sources,
            tls: self.tls.as_ref().map(|tls| TlsPlan {
                sni: tls.sni.clone(),
                insecure: tls.insecure,
                min: args.tls.tls_min.name().to_owned(),
                max: args.tls.tls_max.name().to_owned(),
                resume: tls.resume,
            }),
            success: settings.success.value.clone(),
            expect_body: args.expect_body_like.clone(),
            mix,
            stages,
            recorded,
        }
    }
}

/// What flags contradict each other.
///
/// # Errors
/// On the first contradiction.
pub fn refuse_contradictions(args: &LoadArgs) -> Result<(), Failure> {
    if args.timeout == Some(0) {
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

/// What makes no load.
///
/// # Errors
/// On the first thing that makes none.
pub fn check_shape(shape: Shape) -> Result<(), Failure> {
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

/// A load that never reaches its level would be reported as one of that level.
///
/// # Errors
/// When the ramp does not end inside of the window.
pub fn check_ramp(settings: &Settings, shape: Shape) -> Result<(), Failure> {
    let (ramp_ns, warmup_ns) = (settings.ramp_ns.value, settings.warmup_ns.value);
    match shape.duration_ns.map(|window_ns| warmup_ns + window_ns) {
        Some(lasts_ns) if ramp_ns > lasts_ns => usage(format!(
            "--ramp {} is longer than warm-up and window, {} together: the load would never reach its \
             level",
            exact_duration(ramp_ns),
            exact_duration(lasts_ns)
        )),
        _ => Ok(()),
    }
}

/// Workers for so many connections: those asked for, or one for each allowed processor.
///
/// # Errors
/// When more were asked for than have something to do, unless `clamp`.
pub fn threads(asked: Option<u64>, connections: u64, clamp: bool) -> Result<u64, Failure> {
    let allowed = limits::allowed_cpus().len() as u64;
    match asked {
        None => Ok(allowed.min(connections).max(1)),
        Some(threads) if threads <= connections => Ok(threads.min(MOST_THREADS)),
        Some(_) if clamp => Ok(connections.min(MOST_THREADS)),
        Some(threads) => usage(format!(
            "-t {threads} is above -c {connections}: a worker without a connection has nothing to do"
        )),
    }
}

/// Arrivals a second that fall to a worker where they are densest.
fn densest(shape: Shape, stages: &[Stage], threads: u64) -> f64 {
    let peak = Stages::new(stages).map(|course| course.peak()).ok();
    peak.or(shape.rate_per_s).unwrap_or(0.0) / threads as f64
}

/// How long an arrival may wait for others, when a worker has so many a second. Evenly spaced ones that come
/// further apart than that never meet, and would wait for nothing.
fn granularity(arrivals: Arrivals, a_worker_per_s: f64) -> Nanos {
    let meet_above_per_s = match arrivals {
        Arrivals::Uniform => SECOND as f64 / GRANULARITY as f64,
        Arrivals::Poisson => OWN_TIMER_BELOW_PER_S,
    };
    if a_worker_per_s > meet_above_per_s { GRANULARITY } else { 0 }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_wait_for_others_only_where_others_come() {
        use Arrivals::{Poisson, Uniform};
        for (arrivals, per_s, wait) in [
            (Uniform, 9_000.0, 0),
            (Uniform, 10_000.0, GRANULARITY),
            (Poisson, 2_000.0, 0),
            (Poisson, 2_001.0, GRANULARITY),
            (Uniform, 0.0, 0),
        ] {
            assert_eq!(granularity(arrivals, per_s), wait, "{arrivals:?} {per_s}");
        }
    }

    #[test]
    fn there_are_no_more_workers_than_connections_nor_than_most() {
        for (asked, connections, clamp, workers) in [
            (Some(2), 10, false, Some(2)),
            (Some(600), 1000, false, Some(MOST_THREADS)),
            (Some(1000), 600, true, Some(MOST_THREADS)),
            (Some(20), 10, true, Some(10)),
            (Some(20), 10, false, None),
            (None, 1, false, Some(1)),
        ] {
            let made = threads(asked, connections, clamp).ok();
            assert_eq!(made, workers, "{asked:?} of {connections}, {clamp}");
        }
    }

    #[test]
    fn a_worker_has_most_arrivals_at_the_peak_of_a_course() {
        let shape = Shape {
            connections: 1,
            rate_per_s: Some(6_250.0),
            duration_ns: Some(2 * SECOND),
            requests: None,
        };
        let stages = r#"[{"hold":{"at":500,"for":"1s"}},{"hold":{"at":12000,"for":"1s"}}]"#;
        let stages: Vec<Stage> = serde_json::from_str(stages).unwrap();
        assert_eq!(densest(shape, &stages, 1), 12_000.0);
        assert_eq!(densest(shape, &[], 2), 3_125.0);
        assert_eq!(densest(Shape { rate_per_s: None, ..shape }, &[], 1), 0.0);
    }
}
