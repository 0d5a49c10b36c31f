//! A run from its intervals.

use model::interval::{GaugeSum, Interval, Phase, Tally, WorkerUse};
use model::machine::MachineUse;
use model::outcome::ErrorClass;
use model::run::{Run, RunBuilder, RunHead};
use model::units::SECOND;

fn head() -> RunHead {
    fixture::head(fixture::plan())
}

fn interval(index: u32, phase: Phase, responses: u64) -> Interval {
    let mut tally = Tally {
        sent: responses,
        succeeded: responses,
        responses_done: responses,
        ..Tally::default()
    };
    tally.response.record_n(1_000_000, responses as u32);
    tally.open = GaugeSum { area_ns: 2 * u128::from(SECOND), max: 2 };
    let start_ns = u64::from(index) * SECOND;
    let workers = vec![WorkerUse {
        cpu_ns: SECOND / 2,
        queued_ns: SECOND / 4,
        paused_ns: SECOND / 10,
        paused_max_ns: SECOND / 20,
        pauses: 3,
        page_ins: 7,
        wall_ns: SECOND,
        responses,
        steps: vec![90, 110],
    }];
    Interval { tally, workers, ..Interval::new(index, phase, start_ns, start_ns + SECOND) }
}

#[test]
fn only_the_window_is_counted() {
    let mut builder = RunBuilder::new(head());
    builder.add(&interval(0, Phase::Warmup, 500));
    builder.add(&interval(1, Phase::Window, 100));
    builder.add(&interval(2, Phase::Window, 300));
    let mut drained = interval(3, Phase::Drain, 1);
    drained.tally.responses_done = 0;
    builder.add(&drained);
    let run = builder.finish(false);
    assert_eq!((run.totals.attempts, run.totals.requests), (401, 401));
    assert_eq!(run.rates.requests_per_s, 200.0);
    assert_eq!(run.totals.duration_ns, 2 * SECOND);
    assert_eq!(run.concurrency.open_mean, 2.0);
    assert_eq!(run.concurrency.open_max, 2);
    assert_eq!(run.generator.workers[0].busy_ratio, 0.5);
    assert_eq!(run.generator.workers[0].queued_ratio, 0.25);
    let held = &run.generator.workers[0];
    // Pauses of the drain hold up the last responses, and are no part of the window.
    assert_eq!((held.paused_ratio, held.paused_max_ns, held.pauses), (0.1, SECOND / 20, 9));
    assert_eq!(held.page_ins, 14);
    assert_eq!(run.generator.cpu_ns_per_request, 2_500_000.0);
    let steps = run.generator.workers[0].req_per_s;
    assert_eq!((steps.count, steps.mean, steps.stdev, steps.max), (4, 100.0, 10.0, 110.0));
    assert_eq!(run.timeline.len(), 4);
    assert_eq!(run.histogram("response").unwrap().count(), 401);
    let read: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    assert_eq!(read, run);
}

#[test]
fn what_an_interrupted_run_did_not_wait_for_is_no_failure() {
    for (interrupted, success) in [(true, 1.0), (false, 0.5)] {
        let mut builder = RunBuilder::new(head());
        builder.add(&interval(0, Phase::Window, 100));
        let mut drained = interval(1, Phase::Drain, 0);
        drained.tally.unfinished = 100;
        builder.add(&drained);
        let run = builder.finish(interrupted);
        assert_eq!((run.totals.attempts, run.rates.success_ratio), (200, Some(success)));
    }
}

#[test]
fn a_run_from_before_blocks_is_readable() {
    let mut builder = RunBuilder::new(head());
    builder.add(&interval(0, Phase::Window, 100));
    let mut value = serde_json::to_value(builder.finish(false)).unwrap();
    assert_eq!(value["blocks"].as_array().unwrap().len(), 1);
    value.as_object_mut().unwrap().remove("blocks");
    let read: Run = serde_json::from_value(value).unwrap();
    assert_eq!(read.blocks, []);
}

#[test]
fn blocks_whose_responses_had_another_name_are_readable() {
    let mut builder = RunBuilder::new(head());
    builder.add(&interval(0, Phase::Window, 100));
    let run = builder.finish(false);
    let mut value = serde_json::to_value(&run).unwrap();
    let block = value["blocks"][0].as_object_mut().unwrap();
    let done = block.remove("answers_done").unwrap();
    block.insert("requests".into(), done);
    let read: Run = serde_json::from_value(value).unwrap();
    assert_eq!((&read, read.blocks[0].responses_done), (&run, 100));
}

#[test]
fn sums_of_whatever_a_file_claims_stop_at_their_highest() {
    const MOST: u64 = u64::MAX;
    let mut tally = Tally {
        sent: MOST,
        succeeded: MOST,
        unsent: MOST,
        unfinished: MOST,
        responses_done: MOST,
        bytes_read: MOST,
        bytes_written: MOST,
        connects: MOST,
        server_closes: MOST,
        open: GaugeSum { area_ns: u128::MAX, max: u32::MAX },
        in_flight: GaugeSum { area_ns: u128::MAX, max: u32::MAX },
        ..Tally::default()
    };
    ErrorClass::ALL.into_iter().for_each(|class| tally.errors.add(class, MOST));
    tally.limits.insert("EMFILE".to_owned(), MOST);
    tally.response.record_many(MOST, MOST);
    tally.service.record_many(7, MOST);
    let hash = [0_u8; 32];
    let kind = serde_json::json!([200, 1, hash, MOST]);
    let responses = serde_json::json!({ "kinds": [kind], "others": MOST });
    tally.responses = serde_json::from_value(responses).unwrap();
    let used = WorkerUse {
        cpu_ns: MOST,
        queued_ns: MOST,
        paused_ns: MOST,
        paused_max_ns: MOST,
        pauses: u32::MAX,
        page_ins: MOST,
        wall_ns: MOST,
        responses: MOST,
        steps: vec![u32::MAX],
    };
    let machine = MachineUse {
        elapsed_ns: MOST,
        busy_ns: MOST,
        own_ns: MOST,
        server_ns: Some(MOST),
        steal_ns: MOST,
        slept_ns: MOST,
        throttled_ns: MOST,
        throttled: MOST,
        stepped_ns: i64::MIN,
        ..MachineUse::default()
    };
    let mut builder = RunBuilder::new(head());
    for (index, start_ns, end_ns) in [(0, 0, MOST), (1, MOST, 0), (2, 1, MOST)] {
        builder.add(&Interval {
            due: MOST,
            tally: tally.clone(),
            workers: vec![used.clone(), used.clone()],
            machine: Some(machine),
            ..Interval::new(index, Phase::Window, start_ns, end_ns)
        });
    }
    let run = builder.finish(false);
    assert_eq!((run.totals.attempts, run.totals.duration_ns), (MOST, MOST));
    assert_eq!((run.totals.errors.dns, run.totals.limits["EMFILE"]), (MOST, MOST));
    assert_eq!(run.generator.cpu_ns, MOST);
    assert_eq!(run.response_ns.max, MOST);
}
