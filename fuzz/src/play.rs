//! Workloads compiled and played, for the targets that feed what they read.

use model::{Draw, Workload};
use traffic::{Compiled, Inputs, PoolFile, Requests, Source, Turn, WorkerPlace, compile};

/// A workload in JSON, with the same bytes as every file that it names; `None` when it is refused.
pub fn compiled(workload: &str, rows: &[u8]) -> Option<Compiled> {
    let workload: Workload = serde_json::from_str(workload).expect("a workload");
    let inputs = Inputs {
        env: &|_| None,
        file: &|_| Ok(rows.to_vec()),
        rows: &|_| Ok(PoolFile::Small(rows.to_vec())),
        index: &|_, _| Err("no index here".into()),
        pools: None,
        seed: 7,
        lanes: 64,
        keepalive: true,
        scale: 1.0,
        reads_only: false,
    };
    compile(&workload, &inputs).ok()
}

/// The source of a single worker.
pub fn source(compiled: &Compiled) -> Box<dyn Source> {
    compiled.supply(1_700_000_000_000_000_000).source(WorkerPlace { worker: 0, workers: 1 })
}

/// Plays one arrival: its requests, and whether they are to be sent.
pub fn arrive(source: &mut dyn Source, k: u64, out: &mut Requests) -> bool {
    out.clear();
    let turn = Turn { user: 0, draw: Some(Draw { lane: 0, k }), now: 0 };
    source.next(turn, out) == traffic::Next::Send
}
