//! Compiled workloads as a worker plays them: through the trait alone.

mod flows;
mod mix;
mod responses;

use model::{Draw, Workload};
use traffic::{Compiled, Inputs, Next, Payload, Requests, Source, Turn, WorkerPlace, compile};

/// A workload, compiled for `lanes` lanes.
pub fn compiled(workload: serde_json::Value, lanes: u32) -> Compiled {
    let workload: Workload = serde_json::from_value(workload).unwrap();
    let inputs = Inputs {
        env: &|_| None,
        file: &|_| Err("no files here".into()),
        rows: &|_| Err("no files here".into()),
        index: &|_, _| Err("no files here".into()),
        pools: None,
        seed: 7,
        lanes,
        keepalive: true,
        scale: 1.0,
        reads_only: false,
    };
    compile(&workload, &inputs).unwrap_or_else(|error| panic!("{error}"))
}

/// The source of worker `worker` of `workers`.
pub fn source(compiled: &Compiled, worker: u32, workers: u32) -> Box<dyn Source> {
    compiled.supply(1_700_000_000_000_000_000).source(WorkerPlace { worker, workers })
}

/// A turn of a closed loop.
pub fn closed(user: u32, now: u64) -> Turn {
    Turn { user, draw: None, now }
}

/// An arrival.
pub fn arrival(lane: u32, k: u64) -> Turn {
    Turn { user: 0, draw: Some(Draw { lane, k }), now: 0 }
}

/// The request that a turn brings, with its endpoint.
pub fn sent(source: &mut dyn Source, turn: Turn) -> (u32, String) {
    let mut out = Requests::new();
    assert_eq!(source.next(turn, &mut out), Next::Send, "{turn:?}");
    let part = out.parts()[0];
    let bytes = match part.payload {
        Payload::Fixed(index) => source.fixed()[index as usize].bytes.to_vec(),
        Payload::Written { end } => out.bytes[..end as usize].to_vec(),
    };
    (part.endpoint, String::from_utf8(bytes).unwrap())
}
