//! Rules about the machine that the generator runs on.

use super::*;

#[test]
fn rules_about_neighbours() {
    check(vec![
        (
            "neighbours, and a worker that waits",
            closed(),
            |run| {
                run.generator.workers[0].queued_ratio = 0.4;
                on(run, |machine| machine.neighbours_ratio = 0.5);
            },
            Verdict::LowerBound,
            ReasonCode::BusyNeighbour,
            "other processes took 50.00 % of the generator's processors, and a worker waited 40.00 %",
        ),
        (
            "neighbours in an open loop",
            open(),
            |run| {
                run.generator.workers[0].queued_ratio = 0.4;
                on(run, |machine| machine.neighbours_ratio = 0.5);
            },
            Verdict::Valid,
            ReasonCode::BusyNeighbour,
            "other processes",
        ),
        (
            "the host's other guests",
            closed(),
            |run| on(run, |machine| machine.steal_ratio = 0.06),
            Verdict::LowerBound,
            ReasonCode::BusyNeighbour,
            "the host gave 6.00 % of the generator's processors to other guests",
        ),
        (
            "more workers than processors",
            closed(),
            |run| {
                run.generator.workers[0].busy_ratio = 0.5;
                run.generator.workers[0].queued_ratio = 0.49;
            },
            Verdict::LowerBound,
            ReasonCode::WorkersSaturated,
            "busy 50.00 % of the window, 49.00 % more waiting for a processor",
        ),
    ]);
}

#[test]
fn neighbours_that_leave_a_server_beside_the_generator_no_time_are_reported() {
    for (neighbours, shares_cores, reported) in
        [(0.9, true, true), (0.8, true, false), (0.9, false, false), (0.09, true, false)]
    {
        let mut run = closed();
        run.generator.workers[0].queued_ratio = 0.07;
        run.environment.cpus_allowed = 2;
        run.generator.cpu_ns = run.totals.duration_ns / 25;
        let server = if neighbours < 0.5 { 0.9 } else { 0.04 };
        on(&mut run, |machine| {
            machine.neighbours_ratio = neighbours;
            machine.server_ratio = Some(server);
            machine.shares_cores = shares_cores;
        });
        let reasons = judge(&run).reasons;
        let found = reasons.iter().find(|held| held.code == ReasonCode::BusyNeighbour);
        assert_eq!(found.is_some(), reported, "{neighbours} {shares_cores}: {reasons:?}");
        if let Some(found) = found {
            assert!(found.text.contains("the server, on the same ones, waited too"), "{found:?}");
        }
    }
}

#[test]
fn ticks_of_a_moment_accuse_no_neighbour() {
    for (window_ns, accused) in [(4 * MILLISECOND, false), (SECOND, true)] {
        let mut run = closed();
        run.totals.duration_ns = window_ns;
        run.generator.workers[0].queued_ratio = 0.4;
        on(&mut run, |machine| machine.neighbours_ratio = 0.31);
        let codes: Vec<ReasonCode> = judge(&run).reasons.iter().map(|held| held.code).collect();
        assert_eq!(codes.contains(&ReasonCode::BusyNeighbour), accused, "{codes:?}");
    }
}

#[test]
fn a_server_on_the_same_processors_is_reported_and_not_blamed() {
    check(vec![
        (
            "the server on the same processors",
            closed(),
            |run| {
                run.environment.cpus_allowed = 2;
                run.generator.workers[0].queued_ratio = 0.49;
                run.generator.workers[0].busy_ratio = 0.5;
                on(run, |machine| (machine.shares_cores, machine.server_ratio) = (true, Some(0.4)));
            },
            Verdict::Valid,
            ReasonCode::SharedCores,
            "may use the generator's 2 processors; it took 40.00 % of them, and a worker waited 49.00 %",
        ),
        (
            "a server that was not found is not blamed on neighbours",
            closed(),
            |run| {
                run.generator.workers[0].queued_ratio = 0.4;
                on(run, |machine| {
                    (machine.shares_cores, machine.neighbours_ratio) = (true, 0.5);
                });
            },
            Verdict::Valid,
            ReasonCode::SharedCores,
            "a worker waited 40.00 %",
        ),
    ]);
}

#[test]
fn rules_about_the_machine() {
    check(vec![
        (
            "memory",
            closed(),
            |run| {
                run.environment.memory_bytes = 1000 << 20;
                on(run, |machine| machine.memory_available_bytes = Some(10 << 20));
            },
            Verdict::LowerBound,
            ReasonCode::MemoryShort,
            "at worst 10 MiB of 1,000 MiB",
        ),
        (
            "sleep",
            closed(),
            |run| on(run, |machine| machine.slept_ns = SECOND),
            Verdict::Invalid,
            ReasonCode::ClockJumped,
            "slept for 1.00s",
        ),
        (
            "clock set",
            open(),
            |run| on(run, |machine| machine.stepped_ns = -3 * SECOND as i64),
            Verdict::Valid,
            ReasonCode::ClockJumped,
            "set back by 3.00s",
        ),
        (
            "ceiling",
            closed(),
            |run| {
                run.generator.ceiling = Some(model::Ceiling {
                    requests_per_s: 1100.0,
                    used_ratio: 0.909,
                    measured_at: String::new(),
                    late_p99_ns: None,
                });
            },
            Verdict::Valid,
            ReasonCode::NearCeiling,
            "90.90 % of this generator's ceiling with 2 workers, 1,100/s",
        ),
    ]);
}

#[test]
fn neighbours_that_cost_nothing_are_not_reported() {
    let (verdict, codes, _) = judged(closed(), |run| {
        run.generator.workers[0].queued_ratio = 0.02;
        on(run, |machine| (machine.neighbours_ratio, machine.steal_ratio) = (0.4, 0.01));
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
}
