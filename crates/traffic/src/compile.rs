//! Compiles a workload to a [`Program`]: names are resolved, templates parsed, and parts that never
//! change are written out.
//!
//! Owns what a workload means. Files and the environment come in through [`Inputs`]; all errors are
//! collected with their paths into the workload, so that a user can correct them in one go.

mod body;
mod checks;
mod flow;
mod function;
mod load;
mod mix;
mod path;
mod pools;
mod request;
mod resolver;
mod server;
mod variables;
mod varying_load;

pub(crate) use checks::regex;

use std::fmt;
use std::sync::Arc;

use model::plan::Mix;
use model::workload::LoadSpec;
use model::{Draw, Nanos, Workload};

use crate::finding::{CompileError, Findings};
use crate::play::{Player, Players};
use crate::pool::{Indexing, Pool, PoolFile, RowIndex};
use crate::program::{Program, Split, What};
use crate::source::{Supply, WorkerPlace};

use load::{Unit, Wanted};
pub use pools::Pools;
use resolver::Resolver;

/// What a workload needs from outside.
pub struct Inputs<'a> {
    /// An environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// A file's bytes, by the name written in the workload, or a message that says why it cannot be
    /// read.
    pub file: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// A pool's file, in the same way.
    pub rows: &'a dyn Fn(&str) -> Result<PoolFile, String>,
    /// The index of a large pool file, either an existing one or a new one.
    pub index: &'a dyn Fn(&str, &Indexing<'_>) -> Result<RowIndex, String>,
    /// The pools of an earlier compilation of the same workload, to continue with.
    pub pools: Option<&'a Pools>,
    /// Seed of every draw.
    pub seed: u64,
    /// Lanes of the schedule.
    pub lanes: u32,
    /// Whether connections serve more than one request.
    pub keepalive: bool,
    /// Rates and users are multiplied with this; above 0.
    pub scale: f64,
    /// Leave out requests that change anything on the server.
    pub reads_only: bool,
}

impl fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, lanes, keepalive, scale, reads_only, .. } = self;
        write!(f, "Inputs {{ {seed}, {lanes}, {keepalive}, {scale}, {reads_only} }}")
    }
}

/// A workload ready to be sent.
#[derive(Debug, Clone)]
pub struct Compiled {
    program: Arc<Program>,
    /// The same with `***` in the place of secrets.
    masked: Arc<Program>,
    pools: Pools,
    target: String,
    mix: Mix,
    load: LoadSpec,
    write_share: f64,
    left_out: Vec<String>,
    recorded: Option<Arc<[Nanos]>>,
}

/// A request as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Its endpoint: an index into the mix.
    pub endpoint: u32,
    /// Its bytes. May hold secrets.
    pub bytes: Vec<u8>,
    /// Its bytes with `***` in the place of secrets: values from the environment, credentials by the
    /// names of their fields, signatures.
    pub masked: Vec<u8>,
}

/// Compiles a workload.
///
/// # Errors
/// All that is wrong with what the workload says; its form is checked before, when it is read.
pub fn compile(workload: &Workload, inputs: &Inputs<'_>) -> Result<Compiled, CompileError> {
    let findings = Findings::default();
    let wanted = Wanted::of(workload, inputs, &findings);
    let pools = match inputs.pools {
        Some(pools) => pools.clone(),
        None => pools::read(workload, inputs, &findings),
    };
    let mut programs = Vec::new();
    let mut server = None;
    for masking in [false, true] {
        let mut resolver =
            Resolver::new(workload, inputs, &pools.names, &pools.all, masking, &findings);
        resolver.define_variables();
        // Where requests go is shown anyway, so that a variable of the environment may say it: it is no secret.
        if !masking {
            server = resolver.server();
        }
        let place = server.clone().unwrap_or_default();
        let mut fixed = Vec::new();
        let mut requests = Vec::new();
        let mut flows = Vec::new();
        for unit in &wanted.units {
            match *unit {
                Unit::Endpoint(index) => {
                    requests.push(resolver.request(index, &place, &mut fixed));
                }
                Unit::Flow(index) => {
                    let (requests, fixed) = (&mut requests, &mut fixed);
                    flows.push(resolver.flow(index, &place, requests, fixed));
                }
            }
        }
        programs.push(Program {
            seed: inputs.seed,
            lanes: inputs.lanes.max(1),
            pools: Arc::clone(&pools.all),
            variables: resolver.variable_values(),
            requests,
            flows,
            fixed,
            items: wanted.items.clone(),
            split: wanted.split.clone(),
            users: wanted.varying.users.clone(),
        });
    }
    let (Some(server), true) = (server, findings.is_empty()) else {
        return Err(findings.into_error());
    };
    let masked = programs.pop().map(Arc::new);
    let (Some(masked), Some(program)) = (masked, programs.pop()) else {
        return Err(findings.into_error());
    };
    let compiled = Compiled {
        mix: mix::mix(workload, &wanted, &program.requests),
        program: Arc::new(program),
        masked,
        pools,
        target: server.url,
        write_share: wanted.write_share(workload),
        recorded: wanted.varying.recorded,
        load: wanted.load,
        left_out: wanted.left_out,
    };
    compiled.try_out(&wanted.units)?;
    Ok(compiled)
}

impl Compiled {
    /// The server's URL, without the prefix of all paths.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Endpoints and flows, resolved.
    pub const fn mix(&self) -> &Mix {
        &self.mix
    }

    /// The load: as written, with the rate or the users of all endpoints together, multiplied by the
    /// scale. For stages and traces: their length, and their mean rate or highest number of users. An
    /// open loop's stages go into its plan; in a closed loop the sources follow them.
    pub const fn load(&self) -> &LoadSpec {
        &self.load
    }

    /// When the arrivals of a recorded trace are due, nanoseconds since the run's start.
    pub fn recorded(&self) -> Option<Arc<[Nanos]>> {
        self.recorded.clone()
    }

    /// The part of requests that change something on the server, 0 to 1.
    pub const fn write_share(&self) -> f64 {
        self.write_share
    }

    /// The pools, with their cursors.
    pub const fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Names of endpoints and flows left out because they change something on the server.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What the workers send. `unix_ns` are nanoseconds since 1970 at the run's start, for placeholders
    /// of time. Sources of one `Compiled` share the cursors of ordered pools, and continue where those
    /// of earlier runs stopped.
    pub fn supply(&self, unix_ns: i64) -> Arc<dyn Supply> {
        self.supply_of(self.program.seed, unix_ns)
    }

    /// As [`Self::supply`], with the draws of this seed instead. A shuffled pool keeps its order, as it goes on where the
    /// run before stopped.
    pub fn supply_of(&self, seed: u64, unix_ns: i64) -> Arc<dyn Supply> {
        let mut program = Arc::clone(&self.program);
        if program.seed != seed {
            Arc::make_mut(&mut program).seed = seed;
        }
        Arc::new(Players { program, unix_ns })
    }

    /// The first requests as they would be sent, `count` at most. Uses up no rows. Of a flow all steps
    /// are shown, with `<name>` for what they take from responses.
    pub fn sample(&self, count: u32, unix_ns: i64) -> Vec<Sample> {
        let mut real = rehearsal(&self.program, unix_ns);
        let mut masked = rehearsal(&self.masked, unix_ns);
        let found = |name: &str| (format!("<{name}>"), false);
        let mut samples = Vec::new();
        for at in 0..count {
            let lane = match &self.program.split {
                // One user of each item, since the first users all send the same.
                Split::Users(ends) => {
                    let all = ends.last().copied().unwrap_or(1);
                    (u64::from(at) * all / u64::from(count)) as u32
                }
                _ => at,
            };
            let place = Draw { lane, k: 0 };
            let item = *self.program.item(place);
            let Ok(bytes) = real.rehearse(place, item, &found) else { break };
            let Ok(hidden) = masked.rehearse(place, item, &found) else { break };
            let names = match item.what {
                What::Flow(flow) => &self.program.flows[flow as usize].extracted[..],
                What::Request(_) => &[],
            };
            for ((endpoint, bytes), (_, masked)) in bytes.into_iter().zip(hidden) {
                let [bytes, masked] = [bytes, masked].map(|text| readable(text, names));
                samples.push(Sample { endpoint, bytes, masked });
            }
            if samples.len() >= count as usize {
                break;
            }
        }
        samples.truncate(count as usize);
        samples
    }

    /// Writes one request of each endpoint, to find errors that show only in the bytes: a request that
    /// is not HTTP, a body that is not JSON.
    fn try_out(&self, units: &[Unit]) -> Result<(), CompileError> {
        let findings = Findings::default();
        let mut player = rehearsal(&self.program, 1_700_000_000_000_000_000);
        for (item, unit) in self.program.items.iter().zip(units) {
            let path = match unit {
                Unit::Endpoint(index) => format!("endpoints/{index}"),
                Unit::Flow(index) => format!("flows/{index}"),
            };
            // A number, which is valid JSON in any place.
            let found = |_: &str| ("0".to_owned(), true);
            let requests = match player.rehearse(Draw::default(), *item, &found) {
                Ok(requests) => requests,
                Err(halt) => {
                    findings.add(&path, halt.0.into_string());
                    continue;
                }
            };
            for (step, (endpoint, bytes)) in requests.iter().enumerate() {
                let place = match unit {
                    Unit::Endpoint(_) => path.clone(),
                    Unit::Flow(_) => format!("{path}/steps/{step}"),
                };
                let kind = &self.program.requests[*endpoint as usize];
                request::judge(bytes, kind, &place, &findings);
            }
        }
        if findings.is_empty() { Ok(()) } else { Err(findings.into_error()) }
    }
}

/// A sample in which an escaped `<name>` is restored: it stands for a value whose own bytes may need no
/// escape.
fn readable(sample: Vec<u8>, names: &[String]) -> Vec<u8> {
    names.iter().fold(sample, |sample, name| {
        let escaped = format!("%3C{name}%3E");
        let mut ends =
            memchr::memmem::find_iter(&sample, &escaped).map(|at| at..at + escaped.len());
        let mut shown = Vec::with_capacity(sample.len());
        let mut from = 0;
        for found in &mut ends {
            shown.extend_from_slice(&sample[from..found.start]);
            shown.extend_from_slice(format!("<{name}>").as_bytes());
            from = found.end;
        }
        shown.extend_from_slice(&sample[from..]);
        shown
    })
}

/// A player that uses up no rows of the program's pools.
fn rehearsal(program: &Program, unix_ns: i64) -> Player {
    Player::new(Arc::new(program.rewound()), WorkerPlace { worker: 0, workers: 1 }, unix_ns)
}

impl Program {
    /// The same, with its pools at their beginning and none of them shared.
    fn rewound(&self) -> Self {
        Self { pools: self.pools.iter().map(Pool::rewound).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
