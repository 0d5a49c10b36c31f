//! What rules look at: the run, and for each server that was watched its own figures beside those of its machine.

use model::objective::Ruling;
use model::observed::{Observed, ObservedSource};
use model::profiled::Profiled;
use model::units::SECOND;
use model::{ReasonCode, Role, Run, Verdict};

/// A run, and what was watched beside it.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The run.
    pub run: &'a Run,
    /// The servers: every source that is not the generator.
    pub servers: Vec<Server<'a>>,
    /// What a profile of the server showed.
    pub profiled: Option<&'a Profiled>,
    /// Objectives that the run missed, each in words.
    pub missed: Vec<String>,
    /// What would find the limit where nothing was at it, if the run is a step of something larger.
    pub onward: Option<&'a str>,
    observed: Option<&'a Observed>,
}

/// A source that is not the generator.
#[derive(Debug, Clone, Copy)]
pub struct Server<'a> {
    /// What was read of it.
    pub source: &'a ObservedSource,
    /// What was read of its machine: the same source, or the generator's where it runs there; none where only a page
    /// was read.
    pub host: Option<&'a ObservedSource>,
    /// Whether it runs on the generator's machine.
    pub here: bool,
    /// Processors of its machine that the generator used, mean.
    generator_cores: f64,
}

/// The part of the arrivals that must be answered for the server to have kept up.
const KEPT_UP: f64 = 0.97;
/// The share of attempts that must time out for waiting to be what users suffer from.
const IN_VAIN: f64 = 0.01;
/// Requests below which shares of them mean nothing.
const FEWEST: u64 = 50;

/// Requests per connection up to which it is hardly used again.
const ONCE: u64 = 2;

impl<'a> Facts<'a> {
    /// The facts of a run.
    pub fn of(run: &'a Run) -> Self {
        let observed = run.observed.as_ref();
        let generator = observed.and_then(Observed::generator);
        let others = observed.into_iter().flat_map(|observed| &observed.sources);
        let servers = others
            .filter(|source| source.role != Role::Generator)
            .map(|source| {
                let here = source.read_from.starts_with("local");
                let own = source.figure("cpu.cores").is_some().then_some(source);
                let generator_cores = if here { own_cores(run) } else { 0.0 };
                Server { source, host: own.or(generator.filter(|_| here)), here, generator_cores }
            })
            .collect();
        let missed = run.objectives.iter().filter(|judged| judged.ruling == Ruling::Fail);
        let missed = missed.map(|judged| {
            format!("{}: {}", judged.objective, judged.reason.trim_end_matches('.').to_lowercase())
        });
        Self { run, servers, profiled: None, missed: missed.collect(), onward: None, observed }
    }

    /// These facts, of a step of a search that missed these objectives too, with what would find more.
    pub fn of_step(mut self, missed: &[String], onward: &'a str) -> Self {
        self.missed.extend_from_slice(missed);
        self.onward = Some(onward);
        self
    }

    /// These facts, with what a profile of the server showed.
    pub fn with_profile(mut self, profiled: Option<&'a Profiled>) -> Self {
        self.profiled = profiled;
        self
    }

    /// The generator's machine.
    pub fn generator(&self) -> Option<&'a ObservedSource> {
        self.observed.and_then(Observed::generator)
    }

    /// The machines of the servers, each once, by the name of the source that reads it.
    pub fn hosts(&self) -> Vec<(&'a str, &'a ObservedSource)> {
        let mut hosts: Vec<(&str, &ObservedSource)> = Vec::new();
        for server in &self.servers {
            if let Some(host) = server.host
                && !hosts.iter().any(|(_, known)| std::ptr::eq(*known, host))
            {
                hosts.push((&server.source.name, host));
            }
        }
        hosts
    }

    /// What databases tell of themselves.
    pub fn databases(&self) -> impl Iterator<Item = &'a ObservedSource> {
        let is_database = |source: &&ObservedSource| {
            source.figure("db.connections").is_some()
                || ["postgres", "mysql:", "mariadb:"]
                    .iter()
                    .any(|s| source.read_from.starts_with(s))
        };
        self.servers.iter().map(|server| server.source).filter(is_database)
    }

    /// Responses per second; none where there were none.
    pub fn requests_per_s(&self) -> Option<f64> {
        let (requests, seconds) = (self.run.totals.requests as f64, self.window_s());
        (requests > 0.0 && seconds > 0.0).then(|| requests / seconds)
    }

    /// Requests on their way at a time, mean (Little 1961: rate times time); those that timed out were on theirs for the
    /// whole time-out.
    pub fn in_flight(&self) -> Option<f64> {
        let totals = &self.run.totals;
        let answered_ns = totals.requests as f64 * self.run.service_ns.mean as f64;
        let waited_ns = totals.errors.timeout as f64 * self.run.plan.timeout_ns as f64;
        let in_flight = (answered_ns + waited_ns) / totals.duration_ns.max(1) as f64;
        Some(in_flight).filter(|in_flight| *in_flight > 0.0)
    }

    /// The consequence of a rule of validity, where it takes something from the result.
    pub fn doubts(&self, code: ReasonCode) -> Option<&'a str> {
        let reasons = &self.run.validity.reasons;
        let found = reasons.iter().find(|r| r.code == code && r.consequence != Verdict::Valid)?;
        // The advice behind is the rule's; the evidence is the first sentence.
        Some(found.text.split_once(". ").map_or(found.text.as_str(), |(evidence, _)| evidence))
    }

    /// Says so where the generator did not run for a while: what waited at the server meanwhile, or was sent all at once
    /// afterwards, says nothing of the server.
    pub fn generator_stood_still(&self) -> Option<String> {
        let codes = [ReasonCode::GeneratorPaused, ReasonCode::Throttled];
        let stood = codes.into_iter().any(|code| self.doubts(code).is_some());
        stood.then(|| "the generator itself stood still at times".to_owned())
    }

    /// Times that a local resource ran out, by errno.
    pub fn limit_hits(&self, errnos: &[&str]) -> u64 {
        let hits = errnos.iter().filter_map(|errno| self.run.totals.limits.get(*errno));
        hits.fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Whether an attempt failed or a server said that it had failed: what a log says of failures may else be of others'
    /// requests.
    pub fn some_failed(&self) -> bool {
        let totals = &self.run.totals;
        totals.attempts > totals.succeeded || totals.statuses.keys().any(|status| *status >= 500)
    }

    /// Transactions, or statements, of a database for each request that was not answered by an error; none where they were
    /// not counted, or hardly a request was answered. Both by the second: not all of the window need have been watched.
    pub fn calls_per_request(&self, source: &ObservedSource) -> Option<f64> {
        let counted = ["db.transactions", "db.statements"].map(|name| source.mean(name));
        let calls_per_s = counted.into_iter().flatten().reduce(f64::max)?;
        let totals = &self.run.totals;
        let failed: u64 = totals.statuses.range(500..).map(|(_, n)| *n).sum();
        let requests = totals.requests.saturating_sub(failed);
        let window_s = self.window_s();
        (requests >= FEWEST && window_s > 0.0).then(|| calls_per_s * window_s / requests as f64)
    }

    /// Whether slow responses keep the run from more: users of a closed loop who send again as soon as they are answered,
    /// arrivals that the server did not keep up with, or not well enough; or some that waited in vain.
    pub fn is_bound_by_responses(&self) -> bool {
        let Run { plan, rates, totals, .. } = self.run;
        let in_vain = totals.errors.timeout as f64 >= IN_VAIN * totals.attempts as f64;
        let bound = match plan.rate_per_s {
            Some(_) => {
                rates.achieved_per_s < KEPT_UP * rates.offered_per_s || !self.missed.is_empty()
            }
            None => plan.pace_ns.is_none() && plan.think_ns.is_none(),
        };
        bound || in_vain && totals.errors.timeout > 0
    }

    /// Whether there were hardly more requests than connections: each is opened and used once or twice, most of them at
    /// the same time, which tells how a burst is taken and hardly anything else.
    pub fn used_once(&self) -> bool {
        let plan = &self.run.plan;
        plan.rate_per_s.is_none() && self.run.totals.attempts <= ONCE * u64::from(plan.connections)
    }

    /// Responses of a status as a share of all.
    pub fn status_share(&self, status: u16) -> f64 {
        let n = self.run.totals.statuses.get(&status).copied().unwrap_or(0);
        n as f64 / self.run.totals.requests.max(1) as f64
    }

    /// The length of the window in seconds.
    pub fn window_s(&self) -> f64 {
        self.run.totals.duration_ns as f64 / SECOND as f64
    }

    /// What to add to a command so that servers are watched.
    pub const fn how_to_watch() -> &'static str {
        "nothing was watched on the server: add --observe app=local:pid=PID on this machine, or --observe \
         app=exec:'ssh HOST plimsoll watch --stdio'"
    }
}

impl Server<'_> {
    /// Processors that its processes used, mean.
    pub fn cores(&self) -> Option<f64> {
        self.source.mean("process.cpu_ns").map(|ns_per_s| ns_per_s / SECOND as f64)
    }

    /// Processors that its processes may use: those allowed, or less by a quota.
    pub fn cores_allowed(&self) -> Option<f64> {
        let allowed = self.source.mean("process.cpus_allowed").or_else(|| self.host_cores());
        let quota = self.source.mean("cgroup.quota_cores");
        allowed.map(|allowed| quota.map_or(allowed, |quota| quota.min(allowed)))
    }

    /// Processors of its machine.
    pub fn host_cores(&self) -> Option<f64> {
        self.host.and_then(|host| host.mean("cpu.cores"))
    }

    /// The share of its machine's processors in use.
    pub fn host_busy(&self) -> Option<f64> {
        self.host.and_then(busy)
    }

    /// The share of what it may use that it uses: of its processes where they are watched, else of what the generator leaves
    /// of its machine.
    pub fn used(&self) -> Option<f64> {
        let own = self.cores().zip(self.cores_allowed()).filter(|(_, allowed)| *allowed > 0.0);
        own.map(|(used, allowed)| used / allowed).or_else(|| {
            let generator =
                self.host_cores().map_or(0.0, |all| self.generator_cores / all.max(1.0));
            let (rest, left) = (self.host_busy()? - generator, 1.0 - generator);
            // A generator that takes all leaves no room.
            Some(if left > 0.0 { (rest / left).clamp(0.0, 1.0) } else { 1.0 })
        })
    }
}

/// How often the kernel of a machine said something while it was watched; 0 where its log was not read.
pub(super) fn kernel_said(host: &ObservedSource, what: &str) -> f64 {
    host.growth(&format!("kernel.log{{{what}}}")).unwrap_or(0.0)
}

/// How many lines of a kind came into nginx's error log; none where it was not read.
pub(super) fn nginx_said(source: &ObservedSource, what: &str) -> Option<f64> {
    source.growth(&format!("nginx.log{{{what}}}"))
}

/// The share of a machine's processors in use, where generator and server share it and these two use most of what is
/// used: what neighbours use up is nobody's limit here.
pub(super) fn shared(facts: &Facts<'_>, server: &Server<'_>) -> Option<f64> {
    let (theirs, cores) = (server.cores().filter(|_| server.here)?, server.host_cores()?);
    let full = server.host_busy()?;
    let both = own_cores(facts.run) + theirs;
    (both >= MOSTLY * full * cores).then_some(full)
}

/// Processors of a server's machine that neither it nor the generator uses but somebody else, mean.
pub(super) fn of_others(server: &Server<'_>) -> Option<f64> {
    let used = server.host_busy()? * server.host_cores()?;
    Some((used - server.cores()? - server.generator_cores).max(0.0))
}

/// Processors that neighbours use of a machine that generator and server share and that is used up: those, and all of
/// them. None where the machine has room, or too little was watched.
pub fn neighbours(run: &Run) -> Option<(f64, f64)> {
    let facts = Facts::of(run);
    let here = facts.servers.iter().find(|server| server.here && server.cores().is_some())?;
    let full = here.host_busy().is_some_and(|busy| busy >= USED_UP);
    Some((of_others(here)?, here.host_cores()?)).filter(|_| full)
}

/// The share of a machine in use from which on it is used up: the rest is lost to switching.
const USED_UP: f64 = 0.95;

/// The part of what is used that generator and server must use for it to be theirs.
const MOSTLY: f64 = 0.7;

/// Processors that the generator's workers used, mean.
pub(super) fn own_cores(run: &Run) -> f64 {
    run.generator.cpu_ns as f64 / run.totals.duration_ns.max(1) as f64
}

/// The share of a machine's processors in use, mean: everything but idle, waiting for disks and steal.
pub fn busy(host: &ObservedSource) -> Option<f64> {
    let sum = |names: [&str; 3]| names.iter().map(|name| host.mean(name)).sum::<Option<f64>>();
    let used = sum(["cpu.user_ns", "cpu.system_ns", "cpu.softirq_ns"])?;
    let rest = sum(["cpu.idle_ns", "cpu.iowait_ns", "cpu.steal_ns"])?;
    (used + rest > 0.0).then(|| used / (used + rest))
}
