//! What a server writes to disk for each request, where that is more than it receives and sends: a dump of requests, or a
//! debug log.

use model::Role;
use model::finding::Confidence::Low;

use super::facts::{Facts, Server};
use super::{Cause, Outcome};
use crate::figures::grouped;

/// Bytes for each request, beside a line of an access log, and a second, from which on it is more than a log is for.
const MUCH: (f64, f64) = (2_048.0, 1e6);
/// How many times what requests and responses hold: files that are uploaded, and responses that are kept, are written once.
const MORE_THAN_DATA: f64 = 1.5;
/// Requests from which on a mean means something.
const FEWEST: u64 = 100;

/// The server that writes much, of those that are no databases, caches or proxies.
pub(super) fn much(facts: &Facts<'_>) -> Option<Cause> {
    facts.servers.iter().find_map(|server| judged(facts, server))
}

/// An outcome, or else what is written to disk.
pub(super) fn or_much(facts: &Facts<'_>, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Found(_) => outcome,
        _ => match much(facts) {
            Some(cause) => Outcome::one(Some(cause)),
            None => outcome,
        },
    }
}

fn judged(facts: &Facts<'_>, server: &Server<'_>) -> Option<Cause> {
    if matches!(server.source.role, Role::Db | Role::Cache | Role::Proxy) {
        return None;
    }
    let totals = &facts.run.totals;
    let written_per_s = server.source.mean("process.written_bytes")?;
    let each = written_per_s / facts.requests_per_s()?;
    let data = (totals.bytes_read + totals.bytes_written) as f64 / totals.requests.max(1) as f64;
    let found = totals.requests >= FEWEST
        && each >= MUCH.0
        && written_per_s >= MUCH.1
        && each >= MORE_THAN_DATA * data;
    found.then(|| {
        let sentence = format!(
            "The server writes {} bytes to disk for each request, more than requests and responses hold: its log is \
             one for developers, or it writes requests down.",
            grouped(each, 0)
        );
        Cause::new(Low, &server.source.name, sentence)
            .weighing(0.3)
            .with(format!(
                "{} MB a second written by its processes; a request and its response hold {} bytes",
                grouped(written_per_s * 1e-6, 1),
                grouped(data, 0)
            ))
            .against(Some("it may be data that it stores for each request".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use model::observed::Observed;

    use super::*;
    use crate::explain::tests::{run, source};

    #[test]
    fn who_writes_more_than_it_answers_logs_for_developers() {
        let found = |role: Role, each: f64, response: u64| {
            let mut run = run();
            run.totals.bytes_read = run.totals.requests * response;
            run.totals.bytes_written = run.totals.requests * 100;
            let per_s = run.totals.requests as f64 / (run.totals.duration_ns as f64 * 1e-9);
            let figures = [("process.written_bytes", each * per_s)];
            run.observed =
                Some(Observed { sources: vec![source("s", role, "local:pid=7", figures)] });
            much(&Facts::of(&run)).is_some()
        };
        assert!(found(Role::App, 50_000.0, 20_000));
        assert!(!found(Role::App, 25_000.0, 20_000), "a response that is kept");
        assert!(!found(Role::App, 150.0, 50), "a line of an access log");
        assert!(!found(Role::Db, 50_000.0, 20_000), "what databases are for");
    }
}
