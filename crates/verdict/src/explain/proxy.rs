//! Rules about proxies, by what nginx's page and its error log tell.

use model::finding::Confidence::High;

use super::facts::{Facts, nginx_said};
use super::{Cause, Outcome};
use crate::figures::grouped;

pub(super) fn worker_connections(facts: &Facts<'_>) -> Outcome {
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter_map(|server| {
            let dropped = server.source.growth("nginx.dropped");
            let said = nginx_said(server.source, "worker_connections");
            let (dropped, said) = match (dropped, said) {
                (None, None) => return None,
                (dropped, said) => (dropped.unwrap_or(0.0), said.unwrap_or(0.0)),
            };
            Some((dropped.max(said) >= 1.0).then(|| {
                let sentence = format!(
                    "nginx had no room for {} connections: its worker_connections are used up.",
                    grouped(dropped.max(said), 0)
                );
                let mut cause = Cause::new(High, &server.source.name, sentence).weighing(0.9);
                if said >= 1.0 {
                    cause = cause.with(format!(
                        "{} lines `worker_connections are not enough` in its error log",
                        grouped(said, 0)
                    ));
                }
                if dropped >= 1.0 {
                    cause = cause.with(format!(
                        "{} connections were accepted and closed at once",
                        grouped(dropped, 0)
                    ));
                }
                match server.source.figure("nginx.active") {
                    Some(active) => cause
                        .with(format!("up to {} connections were open", grouped(active.max, 0))),
                    None => cause,
                }
            }))
        })
        .collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "no nginx was watched: add --observe proxy=nginx:http://HOST/stub_status,log=/var/log/nginx/error.log"
                .to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}
