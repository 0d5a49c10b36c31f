//! A workload to a [`Program`]: every name looked up, every template cut, what never changes written
//! out.
//!
//! Owns what a workload means. Files and the environment come in through [`Inputs`]; everything that
//! is wrong is collected with its path into the workload, so that a user mends it in one go.

mod body;
mod checks;
mod function;
mod load;
mod meaning;
mod mix;
mod path;
mod pools;
mod request;
mod server;
mod variables;

use std::fmt;
use std::sync::Arc;

use model::plan::Mix;
use model::workload::LoadSpec;
use model::{Draw, Workload};

use crate::finding::{CompileError, Findings};
use crate::play::{Player, Players};
use crate::pool::{Rows, Table};
use crate::program::{Form, Program, Split};
use crate::source::{Next, Payload, Requests, Seat, Source, Supply, Turn};

use load::Wanted;
use meaning::Meaning;

/// What a workload needs from outside.
pub struct Inputs<'a> {
    /// An environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// A file's bytes, by the name written in the workload, or in words why there are none.
    pub file: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Seed of every draw.
    pub seed: u64,
    /// Lanes of the schedule.
    pub lanes: u32,
    /// Whether connections serve more than one request.
    pub keepalive: bool,
    /// Rates and users are multiplied with this; above 0.
    pub scale: f64,
    /// Leave out what changes anything on the server.
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
    target: String,
    mix: Mix,
    load: LoadSpec,
    write_share: f64,
    left_out: Vec<String>,
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
/// All that is wrong with what the workload says; what is wrong with its form is found before, by
/// whoever reads it.
pub fn compile(workload: &Workload, inputs: &Inputs<'_>) -> Result<Compiled, CompileError> {
    let mut findings = Findings::default();
    let wanted = Wanted::of(workload, inputs, &mut findings);
    let (tables, rows, pools) = pools::read(workload, inputs, &mut findings);
    let mut programs = Vec::new();
    let mut server = None;
    let (tables, rows): (Arc<[Table]>, Arc<[Rows]>) = (tables.into(), rows.into());
    for masking in [false, true] {
        let mut meaning = Meaning::new(workload, inputs, &pools, &tables, masking);
        meaning.define_variables(&mut findings);
        server = meaning.server(&mut findings);
        let place = server.clone().unwrap_or_default();
        let mut fixed = Vec::new();
        let mut requests = Vec::new();
        for &index in &wanted.endpoints {
            requests.push(meaning.request(index, &place, &mut fixed, &mut findings));
        }
        programs.push(Program {
            seed: inputs.seed,
            lanes: inputs.lanes.max(1),
            tables: Arc::clone(&tables),
            rows: Arc::clone(&rows),
            variables: meaning.into_variables(),
            requests,
            fixed,
            items: wanted.items.clone(),
            split: wanted.split.clone(),
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
        program: Arc::new(program),
        masked,
        target: server.url,
        mix: mix::mix(workload, &wanted),
        write_share: wanted.write_share(workload),
        load: wanted.load,
        left_out: wanted.left_out,
    };
    compiled.try_out(&wanted.endpoints)?;
    Ok(compiled)
}

impl Compiled {
    /// The server's URL, without what goes before every path.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Endpoints and flows, resolved.
    pub const fn mix(&self) -> &Mix {
        &self.mix
    }

    /// The load: as written, with the rate or the users of all endpoints together, multiplied by the
    /// scale.
    pub const fn load(&self) -> &LoadSpec {
        &self.load
    }

    /// The part of requests that change something on the server, 0 to 1.
    pub const fn write_share(&self) -> f64 {
        self.write_share
    }

    /// Names of what was left out because it changes something on the server.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What the workers send. `unix_ns` are nanoseconds since 1970 at the run's start, for placeholders
    /// that tell the time. Sources of one `Compiled` share where they are in pools whose order counts,
    /// and go on where those of earlier runs stopped.
    pub fn supply(&self, unix_ns: i64) -> Arc<dyn Supply> {
        Arc::new(Players { program: Arc::clone(&self.program), unix_ns })
    }

    /// The first requests as they would be sent, `count` at most. Uses up no rows.
    pub fn sample(&self, count: u32, unix_ns: i64) -> Vec<Sample> {
        let seat = Seat { worker: 0, workers: 1 };
        let mut real = Player::new(Arc::new(self.program.rewound()), seat, unix_ns);
        let mut masked = Player::new(Arc::new(self.masked.rewound()), seat, unix_ns);
        let mut out = Requests::new();
        let mut samples = Vec::new();
        for at in 0..count {
            let lane = match &self.program.split {
                // One user of each part, rather than the first users, who all send the same.
                Split::Users(ends) => {
                    let all = ends.last().copied().unwrap_or(1);
                    (u64::from(at) * all / u64::from(count)) as u32
                }
                _ => at,
            };
            let turn = Turn { user: 0, draw: Some(Draw { lane, k: 0 }), now: 0 };
            let Some((endpoint, bytes)) = one(&mut real, turn, &mut out) else { break };
            let Some((_, masked)) = one(&mut masked, turn, &mut out) else { break };
            samples.push(Sample { endpoint, bytes, masked });
        }
        samples
    }

    /// Writes one request of each endpoint, to find what is only seen in the bytes: a request that is
    /// no HTTP, a body that is no JSON.
    fn try_out(&self, endpoints: &[usize]) -> Result<(), CompileError> {
        let mut findings = Findings::default();
        for (request, index) in (0..).zip(endpoints) {
            let program = Program {
                items: vec![crate::program::Item { request, pace_ns: None }],
                split: Split::Users(vec![1]),
                ..self.program.rewound()
            };
            let seat = Seat { worker: 0, workers: 1 };
            let mut player = Player::new(Arc::new(program), seat, 1_700_000_000_000_000_000);
            let path = format!("endpoints/{index}");
            let turn = Turn { user: 0, draw: Some(Draw::default()), now: 0 };
            let mut out = Requests::new();
            match player.next(turn, &mut out) {
                Next::Send => {
                    let bytes = bytes_of(&player, &out);
                    let kind = &self.program.requests[request as usize];
                    request::judge(&bytes, kind, &path, &mut findings);
                }
                Next::Halt(halt) => findings.add(&path, halt.0.into_string()),
                _ => {}
            }
        }
        if findings.is_empty() { Ok(()) } else { Err(findings.into_error()) }
    }
}

fn one(player: &mut Player, turn: Turn, out: &mut Requests) -> Option<(u32, Vec<u8>)> {
    out.clear();
    match player.next(turn, out) {
        Next::Send => Some((out.parts().first()?.endpoint, bytes_of(player, out))),
        _ => None,
    }
}

fn bytes_of(player: &Player, out: &Requests) -> Vec<u8> {
    match out.parts().first().map(|part| part.payload) {
        Some(Payload::Fixed(index)) => player.fixed()[index as usize].bytes.to_vec(),
        Some(Payload::Written { end }) => out.bytes[..end as usize].to_vec(),
        None => Vec::new(),
    }
}

impl Program {
    /// The same, with its pools at their beginning and none of them shared.
    fn rewound(&self) -> Self {
        Self { rows: self.rows.iter().map(Rows::rewound).collect(), ..self.clone() }
    }
}

impl crate::program::Request {
    /// Whether its bytes never change.
    pub(crate) const fn is_fixed(&self) -> bool {
        matches!(self.form, Form::Fixed(_))
    }
}

#[cfg(test)]
mod tests;
