//! Rules about the network, by the counters of the generator's machine and of the servers'.

use model::finding::Confidence::{High, Medium};
use model::observed::{Figure, ObservedSource};
use model::units::{MILLISECOND, show_duration};
use model::{Plan, Run};

use super::facts::Facts;
use super::{Cause, Outcome};
use crate::figures::{grouped, percent};

/// The share of an interface's speed from which on it is full: headers and gaps take the rest.
const FULL: f64 = 0.9;
/// How little the bytes that come may differ from second to second, over their mean, where a line is full: what computes
/// or waits for disks is not as even.
const EVEN: f64 = 0.03;
/// Seconds and bytes a second from which on that is no chance, and responses that must be on their way.
const EVEN_FOR: (u64, f64, f64) = (4, 100_000.0, 3.0);
/// The share of a response's time that must pass between its first byte and its last.
const BODY: f64 = 0.6;
/// The share of the requests on their way that must wait in this machine's memory to be sent, or to be acknowledged.
const UNSENT: f64 = 0.5;
/// The share of a server's processors, and of one of its threads, from which on it may be the one that sends no faster.
const BUSY: f64 = 0.85;
/// The share of segments with data sent again, or come out of order, from which on loss bounds what TCP carries
/// (Mathis 1997).
const LOST: f64 = 0.01;
/// Segments sent again, or come out of order, that are not chance.
const FEWEST_LOST: f64 = 20.0;
/// The share of the service time that the way there and back must take.
const FAR: f64 = 0.5;

pub(super) fn bandwidth(facts: &Facts<'_>) -> Outcome {
    let mut hosts = facts.hosts();
    hosts.extend(facts.generator().map(|host| ("generator", host)));
    let (mut causes, mut known) = (Vec::new(), false);
    for (name, host) in hosts {
        for (interface, speed) in host.labelled("net.speed_bytes_per_s") {
            known = true;
            for (way, stem) in [("received", "net.received_bytes"), ("sent", "net.sent_bytes")] {
                let per_s = host.mean(&format!("{stem}{{{interface}}}")).unwrap_or(0.0);
                let used = per_s / speed.mean.max(1.0);
                if used >= FULL {
                    let sentence = format!(
                        "The interface {interface} is full: {} Mbit/s {way} of {} Mbit/s.",
                        grouped(per_s * 8e-6, 0),
                        grouped(speed.mean * 8e-6, 0)
                    );
                    let share = format!("{} of its speed over the window", percent(used));
                    causes.push(Cause::new(High, name, sentence).weighing(used).with(share));
                }
            }
        }
    }
    if causes.is_empty() {
        causes.extend(even(facts));
    }
    match known || !causes.is_empty() {
        true => Outcome::of(causes),
        false => Outcome::Lacking("no interface that was watched tells its speed".to_owned()),
    }
}

/// A line between the two ends that is full: as many bytes cross it each second, and wait for one another before it.
fn even(facts: &Facts<'_>) -> Option<Cause> {
    let (run, generator) = (facts.run, facts.generator()?);
    if is_here(run) || waits(&run.plan) || facts.some_failed() {
        return None;
    }
    let (samples, _, in_flight) = EVEN_FOR;
    let busy = facts.servers.iter().any(|server| {
        let thread = server.source.mean("process.thread_share").unwrap_or(0.0);
        server.used().unwrap_or(0.0).max(thread) >= BUSY
    });
    if busy || generator.samples <= samples || facts.in_flight()? < in_flight {
        return None;
    }
    let unknown = facts.servers.iter().all(|server| server.used().is_none());
    let cause =
        responses_in_line(facts, generator).or_else(|| requests_in_line(facts, generator))?;
    Some(cause.against(unknown.then(|| "what the server's processors did is not known".to_owned())))
}

/// The interface over which most bytes cross one way, where they are as many each second.
fn evenly<'a>(generator: &'a ObservedSource, stem: &'a str) -> Option<(&'a str, &'a Figure)> {
    let by_mean = |a: &(&str, &Figure), b: &(&str, &Figure)| a.1.mean.total_cmp(&b.1.mean);
    let crossed = generator.labelled(stem).filter(|(name, _)| *name != "lo").max_by(by_mean)?;
    let (_, bytes) = crossed;
    let spread = (bytes.max - bytes.min) / bytes.mean.max(1.0);
    (bytes.mean >= EVEN_FOR.1 && spread <= EVEN).then_some(crossed)
}

/// Responses that take their time to come in.
fn responses_in_line(facts: &Facts<'_>, generator: &ObservedSource) -> Option<Cause> {
    let run = facts.run;
    let (interface, received) = evenly(generator, "net.received_bytes")?;
    let (whole, first) = (run.service_ns.mean as f64, run.first_byte_ns.mean as f64);
    let body = 1.0 - first / whole.max(1.0);
    (body >= BODY).then(|| {
        let sentence = format!(
            "A line on the way is full: {} Mbit/s come in, each second as many, and responses wait for one another.",
            grouped(received.mean * 8e-6, 1)
        );
        Cause::new(Medium, "network", sentence)
            .weighing(body)
            .with(format!(
                "{} to {} Mbit/s received by {interface} in any second",
                grouped(received.min * 8e-6, 2),
                grouped(received.max * 8e-6, 2)
            ))
            .with(format!(
                "{} of a response's time pass between its first byte and its last ({} of {})",
                percent(body),
                show_duration((whole - first) as u64),
                show_duration(whole as u64)
            ))
            .against(Some("a server or proxy that sends at a fixed pace looks the same (limit_rate)".to_owned()))
    })
}

/// Requests that wait in this machine's memory to get out: those that a server was slow to answer would have left it.
fn requests_in_line(facts: &Facts<'_>, generator: &ObservedSource) -> Option<Cause> {
    let (interface, sent) = evenly(generator, "net.sent_bytes")?;
    let totals = &facts.run.totals;
    let on_their_way =
        totals.bytes_written as f64 / totals.requests.max(1) as f64 * facts.in_flight()?;
    let held = generator.mean("tcp.memory_bytes")?;
    let waiting = held / on_their_way.max(1.0);
    (waiting >= UNSENT && sent.mean > generator.mean(&format!("net.received_bytes{{{interface}}}"))?).then(|| {
        let sentence = format!(
            "A line on the way is full: {} Mbit/s go out, each second as many, and requests wait for one another.",
            grouped(sent.mean * 8e-6, 1)
        );
        Cause::new(Medium, "network", sentence)
            .weighing(waiting.min(0.9))
            .with(format!(
                "{} to {} Mbit/s sent by {interface} in any second",
                grouped(sent.min * 8e-6, 2),
                grouped(sent.max * 8e-6, 2)
            ))
            .with(format!(
                "connections of this machine hold {} kB, and the requests on their way are {} kB",
                grouped(held * 1e-3, 0),
                grouped(on_their_way * 1e-3, 0)
            ))
            .against(Some("a server that reads at a fixed pace looks the same".to_owned()))
    })
}

/// Whether the target is this machine.
fn is_here(run: &Run) -> bool {
    let addresses = &run.plan.addresses;
    let inside =
        |address: &String| ["127.", "[::1]", "unix:"].iter().any(|at| address.starts_with(at));
    !addresses.is_empty() && addresses.iter().all(inside)
}

/// Whether users of a plan wait for something else than responses.
const fn waits(plan: &Plan) -> bool {
    plan.rate_per_s.is_some() || plan.pace_ns.is_some() || plan.think_ns.is_some()
}

pub(super) fn loss(facts: &Facts<'_>) -> Outcome {
    if is_here(facts.run) {
        // What is sent again there waited for a processor: nothing is lost on the way.
        return Outcome::Absent;
    }
    let Some(host) = facts.generator() else {
        return Outcome::Lacking("the generator's machine was not watched".to_owned());
    };
    let (there, back) = (lost_there(host), lost_back(host));
    if there.is_none() && back.is_none() {
        return Outcome::Lacking(
            "/proc/net/snmp and /proc/net/netstat could not be read".to_owned(),
        );
    }
    let (there, back) = (there.unwrap_or_default(), back.unwrap_or_default());
    let share = there.share().max(back.share());
    Outcome::one((share > 0.0).then(|| {
        let (what, which) = match there.share() >= back.share() {
            true => (there, "of what was sent was sent again"),
            false => (back, "of what came in came out of order, behind what was lost"),
        };
        let sentence = format!("The network loses packets: {} {which}.", percent(what.share()));
        Cause::new(Medium, "network", sentence)
            .weighing(0.5 + share)
            .with(format!(
                "{} of {} segments with data sent again by the generator's machine",
                grouped(there.lost, 0),
                grouped(there.of, 0)
            ))
            .with(format!(
                "{} of {} segments came to it out of order",
                grouped(back.lost, 0),
                grouped(back.of, 0)
            ))
    }))
}

/// Segments that were lost, or tell of it, of all.
#[derive(Debug, Clone, Copy, Default)]
struct Lost {
    lost: f64,
    of: f64,
}

impl Lost {
    /// Their share, where it is no chance.
    fn share(self) -> f64 {
        let share = self.lost / self.of.max(1.0);
        if self.lost >= FEWEST_LOST && share >= LOST { share } else { 0.0 }
    }
}

/// On the way to the server: what this machine sent again, of all that had data in it (acknowledgements are not sent
/// again). Those who wait to get in repeat their first segment, whatever the network does.
fn lost_there(host: &ObservedSource) -> Option<Lost> {
    let again = host.growth("tcp.retransmits")?;
    let sent = host.growth("tcp.data_segments_out").or_else(|| host.growth("tcp.segments_out"))?;
    Some(Lost { lost: again - host.growth("tcp.syn_retransmits").unwrap_or(0.0), of: sent })
}

/// On the way back: what comes behind a segment that is lost waits for it, out of order.
fn lost_back(host: &ObservedSource) -> Option<Lost> {
    Some(Lost { lost: host.growth("tcp.out_of_order")?, of: host.growth("tcp.segments_in")? })
}

pub(super) fn latency(facts: &Facts<'_>) -> Outcome {
    let run = facts.run;
    if run.connect_ns.count == 0 {
        return Outcome::Lacking("no connection was opened in the run".to_owned());
    }
    if is_here(run) || facts.used_once() {
        return Outcome::Absent;
    }
    // The quickest: at the start all connect at once and wait for one another, and for who has which address. What was
    // answered in less time than that did not take longer on its way.
    let way = run.connect_ns.min.min(run.service_ns.min);
    let service = run.service_ns.p50;
    let share = way as f64 / service.max(1) as f64;
    let far = way >= MILLISECOND && share >= FAR && !waits(&run.plan);
    let cause = far.then(|| {
        let sentence = format!(
            "Distance is the limit: the way to the server and back takes {} of the {} that a response takes.",
            show_duration(way),
            show_duration(service)
        );
        let share = share.min(1.0);
        Cause::new(Medium, "network", sentence)
            .weighing(share)
            .with(format!("connecting, which is one way there and back, takes {} at least", show_duration(way)))
    });
    Outcome::one(cause)
}

#[cfg(test)]
mod tests {
    use model::Role;
    use model::observed::{Figure, Observed, ObservedSource};

    use super::*;
    use crate::explain::explain;
    use crate::explain::tests::{codes, source};

    #[test]
    fn a_machine_loses_nothing_on_the_way_to_itself() {
        let loses = |address: &str| {
            let mut run = fixture::sound::closed();
            run.plan.addresses = vec![address.to_owned()];
            let figure = |mean: f64| Figure { mean, min: mean, max: mean, growth: Some(mean) };
            let figures = [("tcp.retransmits", 500.0), ("tcp.segments_out", 10_000.0)];
            let host = ObservedSource {
                role: Role::Generator,
                figures: figures.map(|(name, n)| (name.to_owned(), figure(n))).into(),
                ..ObservedSource::default()
            };
            run.observed = Some(Observed { sources: vec![host] });
            let findings = explain(&run).findings;
            findings.iter().any(|finding| finding.code == "network.loss")
        };
        assert!(loses("10.0.0.7:80") && loses("[2001:db8::1]:80"));
        assert!(!loses("127.0.0.1:80") && !loses("[::1]:80"));
    }

    #[test]
    fn what_is_lost_on_either_way_is_counted_among_segments_with_data() {
        let loses = |more: &[(&'static str, f64)]| {
            let mut run = fixture::sound::closed();
            run.plan.addresses = vec!["10.0.0.7:80".to_owned()];
            let figures = more.iter().map(|(name, all)| (*name, all / 10.0));
            let host = source("generator", Role::Generator, "local", figures);
            run.observed = Some(Observed { sources: vec![host] });
            codes(&run)[0] == "network.loss"
        };
        let way = |again, data, all, behind| {
            loses(&[
                ("tcp.retransmits", again),
                ("tcp.data_segments_out", data),
                ("tcp.segments_out", all),
                ("tcp.out_of_order", behind),
                ("tcp.segments_in", 10_000.0),
            ])
        };
        // Acknowledgements, which are not sent again, are most of what a client sends.
        assert!(way(50.0, 1_400.0, 6_500.0, 0.0));
        assert!(!way(50.0, 6_500.0, 6_500.0, 0.0));
        assert!(!way(5.0, 100.0, 200.0, 0.0), "chance");
        assert!(way(0.0, 1_400.0, 6_500.0, 300.0), "on the way back");
        assert!(!way(0.0, 1_400.0, 6_500.0, 50.0));
    }

    /// A response takes 100 ms, of which so many pass before its first byte; so many bytes come in a second at least and
    /// at most.
    fn from_afar(first_ms: u64, least: f64, most: f64) -> Run {
        let mut run = fixture::sound::closed();
        run.plan.addresses = vec!["10.0.0.7:80".to_owned()];
        run.service_ns.mean = 100 * MILLISECOND;
        run.first_byte_ns.mean = first_ms * MILLISECOND;
        let mut host = source("generator", Role::Generator, "local", []);
        let mean = (least + most) / 2.0;
        let figure = Figure { mean, min: least, max: most, growth: Some(mean * 10.0) };
        host.figures.insert("net.received_bytes{eth0}".to_owned(), figure);
        run.observed = Some(Observed { sources: vec![host] });
        run
    }

    #[test]
    fn a_line_that_is_full_brings_as_much_each_second() {
        let found = |run: &Run| codes(run)[0] == "network.bandwidth";
        let full = from_afar(15, 4.79e6, 4.83e6);
        assert!(found(&full), "{:?}", explain(&full));
        assert!(!found(&from_afar(15, 4.4e6, 5.0e6)), "what computes is uneven");
        assert!(!found(&from_afar(80, 4.79e6, 4.83e6)), "the server takes the time");
        let mut waits = full.clone();
        waits.plan.think_ns = Some(MILLISECOND);
        assert!(!found(&waits), "users bound it");
        let mut here = full.clone();
        here.plan.addresses = vec!["127.0.0.1:80".to_owned()];
        assert!(!found(&here));
        let mut busy = full.clone();
        let thread = [("process.thread_share", 0.95)];
        let app = source("app", Role::App, "exec:ssh app1 plimsoll watch --stdio", thread);
        busy.observed.as_mut().expect("watched").sources.push(app);
        assert!(!found(&busy), "the server may be what sends no faster");
    }

    #[test]
    fn requests_that_wait_to_be_sent_fill_a_line() {
        // Ten requests of 60 kB are on their way.
        let found = |least: f64, held: f64| {
            let mut run = from_afar(95, 5e4, 6e4);
            run.totals.bytes_written = run.totals.requests * 60_000;
            let per_s = run.totals.requests as f64 / (run.totals.duration_ns as f64 * 1e-9);
            run.service_ns.mean = (10.0 / per_s * 1e9) as u64;
            let host = &mut run.observed.as_mut().expect("watched").sources[0];
            let figure =
                |min: f64, max: f64| Figure { mean: (min + max) / 2.0, min, max, growth: None };
            host.figures.insert("net.sent_bytes{eth0}".to_owned(), figure(least, 2.49e6));
            host.figures.insert("tcp.memory_bytes".to_owned(), figure(held, held));
            codes(&run)[0] == "network.bandwidth"
        };
        assert!(found(2.47e6, 9e5));
        assert!(!found(2.2e6, 9e5), "what computes is uneven");
        assert!(!found(2.47e6, 8e3), "the server has them");
    }

    #[test]
    fn what_is_answered_quicker_than_connecting_takes_is_not_far() {
        let far = |connect_ms: u64, quickest_ms: u64, p50_ms: u64| {
            let mut run = fixture::sound::closed();
            run.connect_ns.min = connect_ms * MILLISECOND;
            run.connect_ns.count = 10;
            run.service_ns.min = quickest_ms * MILLISECOND;
            run.service_ns.p50 = p50_ms * MILLISECOND;
            let findings = explain(&run).findings;
            findings.iter().any(|finding| finding.code == "network.latency")
        };
        assert!(far(20, 20, 21));
        // The first connections waited for something else than the way.
        assert!(!far(20, 0, 1));
        assert!(!far(20, 20, 100), "the server takes the time");
    }
}
