//! Whether a queue of known capacity keeps up with sessions: as many must pile up as the fluid limit
//! predicts, and none where sessions are only long.

use model::run::SessionPace;
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, FlowPlan, Nanos};
use traffic::Wants;

use crate::harness::{drive, open};
use crate::paths::{Script, by_path};
use crate::server::{Reply, scripted};

/// Requests that the queue carries, per second.
const CAPACITY: f64 = 200.0;
const STEPS: [&str; 10] = ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "/10"];

/// Sessions that arrive at a single server with one queue.
struct Case {
    steps: usize,
    /// Of what the queue carries.
    load: f64,
    /// Between steps.
    think: Nanos,
    /// What a response takes beside the queue.
    latency: Nanos,
    warmup: Nanos,
    arrivals: Arrivals,
}

impl Case {
    fn of(steps: usize, load: f64) -> Self {
        let (think, latency, warmup, arrivals) = (0, 0, SECOND, Arrivals::Uniform);
        Self { steps, load, think, latency, warmup, arrivals }
    }

    /// How the queue kept up over 20 s, and responses over requests due.
    fn pace(&self) -> (SessionPace, f64) {
        let script =
            Script { wants: Wants::Outcome, think: self.think, ..Script::of(&STEPS[..self.steps]) };
        let mut mix = script.mix();
        let steps = (0..self.steps as u32).collect();
        mix.flows = vec![FlowPlan { name: "visit".into(), steps, ..FlowPlan::default() }];
        let load = open(self.load * CAPACITY / self.steps as f64, 4000).sending(script);
        let load = load.with(|plan| {
            (plan.warmup_ns, plan.duration_ns) = (self.warmup, Some(20 * SECOND));
            (plan.arrivals, plan.mix) = (Some(self.arrivals), mix);
        });
        let (mut free, latency) = (0, self.latency);
        let run = drive(&load, |world| {
            let delay = move |at: Nanos| {
                free = at.max(free) + (SECOND as f64 / CAPACITY) as Nanos;
                free - at + latency
            };
            let mut delay = delay;
            by_path(world, move |request| Some(Reply::ok_after(delay(request.at)))).0
        })
        .run;
        let pace = run.session_pace().expect("sessions arrive");
        (pace, run.rates.requests_per_s / run.rates.offered_per_s)
    }
}

/// Sessions ended over sessions due in the fluid limit: the wait grows by `w` seconds a second, each step's
/// requests leave at 1 / (1 + w) of the rate at which they came, and all that leave are what is carried.
fn fluid(steps: usize, load: f64) -> f64 {
    let carried = |leaves: f64| (1..=steps as i32).map(|step| leaves.powi(step)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle: f64 = (low + high) / 2.0;
        if carried(middle) * load < steps as f64 { low = middle } else { high = middle }
    }
    low.powi(steps as i32)
}

#[test]
fn as_many_sessions_pile_up_as_the_fluid_limit_says() {
    for steps in [1, 2, 10] {
        for load in [0.95, 1.0, 1.03, 1.05, 1.1] {
            let (pace, of_due) = Case::of(steps, load).pace();
            let truth = fluid(steps, load);
            let got = pace.ended_ratio;
            assert!((got - truth).abs() < 0.01, "{steps} at {load}: {got} against {truth}");
            assert_eq!(pace.reaches(0.99), load <= 1.0, "{steps} at {load}: {pace:?}");
            if steps == 1 {
                assert!((got - of_due).abs() < 0.005, "{load}: {got} against {of_due}");
            }
        }
    }
    // What made it necessary.
    let (_, of_due) = Case::of(10, 1.05).pace();
    assert!(of_due > 0.99, "{of_due}");
}

#[test]
fn long_sessions_do_not_pile_up() {
    for steps in [2, 10] {
        // Half of the window, most of it in thought or in responses that take long but no longer.
        let part = 10 * SECOND / steps as Nanos;
        for (think, latency) in [(part, 0), (0, part), (part / 2, part / 2)] {
            for warmup in [0, SECOND, 12 * SECOND] {
                for (load, kept) in [(0.3, true), (0.95, true), (1.1, false)] {
                    let case = Case { think, latency, warmup, ..Case::of(steps, load) };
                    let (pace, _) = case.pace();
                    let of = (steps, think / MILLISECOND, latency / MILLISECOND, warmup, load);
                    assert_eq!(pace.reaches(0.99), kept, "{of:?}: {pace:?}");
                }
            }
        }
    }
}

/// Single requests of 2 s beside a queue: those at the window's end are still to come.
#[test]
fn a_slow_server_keeps_up_with_single_requests() {
    for warmup in [0, SECOND] {
        for (capacity, kept) in [(200.0, true), (40.0, false)] {
            let load = open(50.0, 800).with(|plan| {
                (plan.warmup_ns, plan.duration_ns) = (warmup, Some(10 * SECOND));
            });
            let mut free = 0;
            let delay = move |at: Nanos| {
                free = at.max(free) + (SECOND as f64 / capacity) as Nanos;
                free - at + 2 * SECOND
            };
            let run = drive(&load, |world| {
                let mut delay = delay;
                scripted(world, &load.request, move |request| {
                    Some(Reply::ok_after(delay(request.at)))
                })
                .0
            })
            .run;
            let ratio = |at_rest_ns| run.responded_ratio(at_rest_ns).expect("requests arrive");
            assert!(ratio(0.0) < 0.92, "{warmup}: {}", ratio(0.0));
            assert_eq!(ratio(2e9) >= 0.99, kept, "{capacity} after {warmup}: {}", ratio(2e9));
        }
    }
}

#[test]
fn randomly_arriving_sessions_are_not_reported_as_piling_up() {
    for (load, kept) in [(0.9, true), (1.2, false)] {
        let (pace, _) = Case { arrivals: Arrivals::Poisson, ..Case::of(10, load) }.pace();
        assert_eq!(pace.reaches(0.99), kept, "{load}: {pace:?}");
    }
}
