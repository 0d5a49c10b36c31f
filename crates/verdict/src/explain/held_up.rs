//! What blocks threads of a server in the kernel: writing to a pipe that nobody reads.

use model::Role;
use model::finding::Confidence::High;
use model::sample::MOST_ASKED_THREADS;

use super::facts::{Facts, Server};
use super::{Cause, Outcome, THE_TARGETS};
use crate::figures::percent;

/// Threads that must be held up on average, of a server that has one for all requests or more.
const HELD_UP: f64 = 0.5;

/// Threads of a server that were held up by this, mean over the samples.
pub(super) fn by(server: &Server<'_>, what: &str) -> Option<f64> {
    server.source.mean(&format!("process.held_up{{{what}}}"))
}

/// A server that waits for whoever reads what it writes: of a proxy, its access log; of another, its log. `proxies` says
/// which of the two is asked for.
pub(super) fn writing(facts: &Facts<'_>, proxies: bool) -> Option<Cause> {
    let held_up =
        |server: &&Server<'_>| by(server, "writing to a pipe").is_some_and(|n| n >= HELD_UP);
    let server = asked(facts, proxies).find(held_up)?;
    let n = by(server, "writing to a pipe")?;
    let (who, what) = match proxies {
        true => ("proxy", "its access log"),
        false => ("server", "its output"),
    };
    let sentence = format!(
        "The {who} stands still to write {what} into a pipe: whoever reads the other end is slower than the requests."
    );
    let threads = server.source.mean("process.threads");
    let asked = threads.unwrap_or(n).clamp(1.0, MOST_ASKED_THREADS as f64);
    let share = percent((n / asked).min(1.0));
    let of = match threads {
        Some(threads) if threads > asked => format!("of the {MOST_ASKED_THREADS} that were asked"),
        _ => "of all".to_owned(),
    };
    let cause = Cause::new(High, &server.source.name, sentence).weighing(0.9);
    Some(
        cause
            .with(format!("{n:.1} of its threads waited in the kernel to write to a pipe, on average ({share} {of})"))
            .fixed_by(
                "Write to a file that is rotated, and let the shipper read that; or log less (buffer=64k flush=1s, \
                 access_log off, a higher level). Risk: what is buffered is lost when the process is killed."
                    .to_owned(),
            ),
    )
}

/// The proxies, or the others: where a proxy is watched, it is what listens at the target's address.
fn asked<'a, 'f>(facts: &'f Facts<'a>, proxies: bool) -> impl Iterator<Item = &'f Server<'a>> {
    let proxied = facts.servers.iter().any(|server| server.source.role == Role::Proxy);
    let is_proxy = move |server: &Server<'_>| {
        server.source.role == Role::Proxy || proxied && server.source.name == THE_TARGETS
    };
    facts.servers.iter().filter(move |server| is_proxy(server) == proxies)
}

/// Why it is not known what holds the threads of a server up, where it could not be looked at.
fn not_seen(facts: &Facts<'_>, proxies: bool) -> Option<String> {
    asked(facts, proxies).find_map(|server| server.source.missing.get("process.held_up")).cloned()
}

/// An outcome with what is written into a pipe in front.
pub(super) fn or_writing(facts: &Facts<'_>, proxies: bool, outcome: Outcome) -> Outcome {
    match (writing(facts, proxies), outcome) {
        (None, Outcome::Absent) => {
            not_seen(facts, proxies).map_or(Outcome::Absent, Outcome::Lacking)
        }
        (None, outcome) => outcome,
        (Some(cause), Outcome::Found(mut causes)) => {
            causes.insert(0, cause);
            Outcome::Found(causes)
        }
        (Some(cause), _) => Outcome::one(Some(cause)),
    }
}

#[cfg(test)]
mod tests {
    use model::Role;
    use model::observed::Observed;

    use super::*;
    use crate::explain::explain;
    use crate::explain::tests::{codes, run, source};

    #[test]
    fn who_writes_to_a_full_pipe_is_held_up_by_its_reader() {
        let writing = |threads: f64, proxied: bool| {
            let mut run = run();
            let held_up = [("process.held_up{writing to a pipe}", threads)];
            let mut sources = vec![
                source("generator", Role::Generator, "local", []),
                source("server", Role::App, "local:pid=7", held_up),
            ];
            let page = "nginx:http://127.0.0.1/status";
            sources.extend(proxied.then(|| source("proxy", Role::Proxy, page, [])));
            run.observed = Some(Observed { sources });
            codes(&run)
        };
        assert_eq!(writing(0.9, true)[0], "proxy.access_log");
        assert_eq!(writing(0.9, false)[0], "server.debug_options");
        for proxied in [true, false] {
            let codes = writing(0.1, proxied);
            assert!(
                !codes.iter().any(|code| code.ends_with("_log") || code.ends_with("_options")),
                "{codes:?}"
            );
        }
    }

    #[test]
    fn a_share_of_the_threads_is_of_those_that_were_asked() {
        for (threads, words) in
            [(400.0, "(50.00 % of the 64 that were asked)"), (40.0, "(80.00 % of all)")]
        {
            let mut run = run();
            let figures =
                [("process.held_up{writing to a pipe}", 32.0), ("process.threads", threads)];
            let sources = vec![
                source("generator", Role::Generator, "local", []),
                source("server", Role::App, "local:pid=7", figures),
            ];
            run.observed = Some(Observed { sources });
            let evidence = explain(&run).findings.remove(0).evidence_for.join("\n");
            assert!(evidence.contains(words), "{evidence}");
        }
    }

    #[test]
    fn an_application_behind_a_proxy_writes_no_access_log() {
        let mut run = run();
        let held_up = [("process.held_up{writing to a pipe}", 0.9)];
        let sources = vec![
            source("generator", Role::Generator, "local", []),
            source(
                "server",
                Role::App,
                "local:pid=7",
                [("process.held_up{writing to a pipe}", 0.0)],
            ),
            source("proxy", Role::Proxy, "nginx:http://127.0.0.1/status", []),
            source("app", Role::App, "local:pid=8", held_up),
        ];
        run.observed = Some(Observed { sources });
        let finding = &explain(&run).findings[0];
        assert_eq!((&*finding.code, &*finding.place), ("server.debug_options", "app"));
        assert!(finding.sentence.starts_with("The server stands still"), "{finding:?}");
    }

    #[test]
    fn who_may_not_look_at_a_proxy_abstains() {
        let mut run = run();
        let mut proxy = source("proxy", Role::Proxy, "local:name=nginx", []);
        proxy.missing.insert("process.held_up".to_owned(), "no permission".to_owned());
        run.observed = Some(Observed { sources: vec![proxy] });
        let facts = Facts::of(&run);
        let told = or_writing(&facts, true, Outcome::Absent);
        assert!(matches!(told, Outcome::Lacking(why) if why == "no permission"));
        assert!(matches!(or_writing(&facts, false, Outcome::Absent), Outcome::Absent));
    }
}
