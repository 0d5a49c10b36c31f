//! Rules about the network, by the counters of the generator's machine and of the servers'.

use model::finding::Confidence::{High, Medium};
use model::units::{MILLISECOND, show_duration};

use super::facts::Facts;
use super::{Cause, Outcome};
use crate::figures::{grouped, percent};

/// The share of an interface's speed from which on it is full: headers and gaps take the rest.
const FULL: f64 = 0.9;
/// The share of segments sent again from which on loss bounds what TCP carries (Mathis 1997).
const LOST: f64 = 0.01;
/// Segments sent again that are not chance.
const FEWEST_LOST: f64 = 50.0;
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
    match known {
        true => Outcome::of(causes),
        false => Outcome::Lacking("no interface that was watched tells its speed".to_owned()),
    }
}

pub(super) fn loss(facts: &Facts<'_>) -> Outcome {
    let addresses = &facts.run.plan.addresses;
    let inside =
        |address: &String| ["127.", "[::1]", "unix:"].iter().any(|at| address.starts_with(at));
    if !addresses.is_empty() && addresses.iter().all(inside) {
        // What is sent again there waited for a processor: nothing is lost on the way.
        return Outcome::Absent;
    }
    let Some(host) = facts.generator() else {
        return Outcome::Lacking("the generator's machine was not watched".to_owned());
    };
    let (Some(again), Some(sent)) =
        (host.growth("tcp.retransmits"), host.growth("tcp.segments_out"))
    else {
        return Outcome::Lacking("/proc/net/snmp could not be read".to_owned());
    };
    // Those who wait to get in repeat their first segment, whatever the network does.
    let again = again - host.growth("tcp.syn_retransmits").unwrap_or(0.0);
    let share = again / sent.max(1.0);
    let cause = (again >= FEWEST_LOST && share >= LOST).then(|| {
        let sentence = format!(
            "The network loses packets: {} of the segments were sent again.",
            percent(share)
        );
        Cause::new(Medium, "network", sentence).weighing(0.5 + share).with(format!(
            "{} of {} segments sent again by the generator's machine",
            grouped(again, 0),
            grouped(sent, 0)
        ))
    });
    Outcome::one(cause)
}

pub(super) fn latency(facts: &Facts<'_>) -> Outcome {
    let run = facts.run;
    if run.connect_ns.count == 0 {
        return Outcome::Lacking("no connection was opened in the run".to_owned());
    }
    // The quickest: at the start all connect at once and wait for one another, and for who has which address. What was
    // answered in less time than that did not take longer on its way.
    let way = run.connect_ns.min.min(run.service_ns.min);
    let service = run.service_ns.p50;
    let share = way as f64 / service.max(1) as f64;
    let plan = &run.plan;
    let waits = plan.rate_per_s.is_some() || plan.pace_ns.is_some() || plan.think_ns.is_some();
    let far = way >= MILLISECOND && share >= FAR && !waits;
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
            let findings = crate::explain::explain(&run).findings;
            findings.iter().any(|finding| finding.code == "network.loss")
        };
        assert!(loses("10.0.0.7:80") && loses("[2001:db8::1]:80"));
        assert!(!loses("127.0.0.1:80") && !loses("[::1]:80"));
    }

    #[test]
    fn what_is_answered_quicker_than_connecting_takes_is_not_far() {
        let far = |connect_ms: u64, quickest_ms: u64, p50_ms: u64| {
            let mut run = fixture::sound::closed();
            run.connect_ns.min = connect_ms * MILLISECOND;
            run.connect_ns.count = 10;
            run.service_ns.min = quickest_ms * MILLISECOND;
            run.service_ns.p50 = p50_ms * MILLISECOND;
            let findings = crate::explain::explain(&run).findings;
            findings.iter().any(|finding| finding.code == "network.latency")
        };
        assert!(far(20, 20, 21));
        // The first connections waited for something else than the way.
        assert!(!far(20, 0, 1));
        assert!(!far(20, 20, 100), "the server takes the time");
    }
}
