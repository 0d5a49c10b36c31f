use super::*;

fn sample(second: u64, retransmits: u64, time_wait: f64) -> Sample {
    let mut sample = Sample { at_ns: Some(second * SECOND), ..Sample::new(0) };
    sample.cost_ns = SECOND / 1000;
    sample.count("tcp.retransmits", retransmits);
    sample.count("cpu.user_ns", second * SECOND);
    for zero in ["cpu.system_ns", "cpu.softirq_ns", "cpu.iowait_ns", "cpu.steal_ns"] {
        sample.count(zero, 0);
    }
    sample.count("cpu.idle_ns", second * 3 * SECOND);
    sample.gauge("tcp.time_wait", time_wait);
    sample
}

fn observed(samples: &[Sample]) -> ObservedSource {
    let mut builder = ObservedBuilder::default();
    let source = builder.source("app", Role::App, "local");
    samples.iter().for_each(|sample| builder.add(source, sample, true));
    builder.finish().sources.remove(0)
}

#[test]
fn counters_become_rates_and_a_reset_is_left_out() {
    let source = observed(&[
        sample(1, 100, 5.0),
        sample(2, 130, 15.0),
        sample(4, 230, 10.0),
        sample(5, 7, 10.0),
        sample(6, 17, 10.0),
    ]);
    let retransmits = source.figure("tcp.retransmits").unwrap();
    // 30 in a second, 100 in two, nothing known, 10 in one.
    assert_eq!(retransmits.growth, Some(140.0));
    assert_eq!((retransmits.mean, retransmits.min, retransmits.max), (35.0, 10.0, 50.0));
    let time_wait = source.figure("tcp.time_wait").unwrap();
    assert_eq!((time_wait.mean, time_wait.max, time_wait.growth), (10.0, 15.0, None));
    assert_eq!((source.samples, source.cost_ns), (5, SECOND / 200));
    assert!((source.cost_ratio - 0.001).abs() < 1e-12);
    let cpu = &source.series[0];
    assert_eq!((cpu.name.as_str(), cpu.values.as_slice()), ("CPU", &[0.25; 4][..]));
}

#[test]
fn who_waits_for_nothing_is_not_reported_and_counts() {
    let with = |second: u64, gauges: &[(&str, f64)], missing: Option<&str>| {
        let mut sample = sample(second, 1, 0.0);
        gauges.iter().for_each(|(name, value)| sample.gauge(*name, *value));
        missing.iter().for_each(|what| sample.miss(what, "no permission"));
        sample
    };
    let lock = "db.waits{Waiting for table metadata lock}";
    let looked = ("process.other_sockets", 0.0);
    let source = observed(&[
        with(1, &[looked], None),
        with(2, &[(lock, 10.0), ("listen.queue{0.0.0.0:80}", 60.0)], None),
        with(3, &[("db.state{idle}", 6.0), ("process.awaits{10.0.0.9:80}", 3.0), looked], None),
        with(4, &[], Some("process.awaits")),
        with(5, &[looked], None),
    ]);
    let of = |name: &str| source.figure(name).map(|figure| (figure.mean, figure.min, figure.max));
    assert_eq!(of(lock), Some((2.0, 0.0, 10.0)));
    assert_eq!(of("listen.queue{0.0.0.0:80}"), Some((12.0, 0.0, 60.0)));
    let waited = of("process.awaits{10.0.0.9:80}");
    assert_eq!(waited, Some((1.0, 0.0, 3.0)), "once it was not known, and once not looked at");
    assert_eq!(
        of("db.state{idle}"),
        Some((6.0, 6.0, 6.0)),
        "what is always told where it is known"
    );
}

#[test]
fn a_source_that_fails_is_a_gap_with_its_error() {
    let failed = |second| Sample { at_ns: Some(second * SECOND), ..Sample::failed(0, "refused") };
    let source = observed(&[
        sample(1, 1, 0.0),
        failed(2),
        failed(3),
        sample(4, 901, 0.0),
        sample(5, 902, 0.0),
        failed(6),
    ]);
    let gap =
        |from, to| Gap { from_ns: from * SECOND, to_ns: to * SECOND, error: "refused".into() };
    assert_eq!(source.gaps, [gap(1, 4), gap(5, 6)]);
    assert_eq!(source.growth("tcp.retransmits"), Some(1.0), "not what it grew by in the gap");
}

#[test]
fn a_gap_lasts_from_the_last_sample_to_the_next_one() {
    let failed =
        |second, error| Sample { at_ns: Some(second * SECOND), ..Sample::failed(0, error) };
    let mut builder = ObservedBuilder::default();
    builder.source("app", Role::App, "exec:x");
    for taken in [
        failed(1, "starts"),
        sample(2, 1, 0.0),
        failed(7, "silent"),
        failed(8, "ended"),
        sample(9, 1, 0.0),
        failed(10, "ended"),
    ] {
        builder.add(0, &taken, true);
    }
    builder.end(20 * SECOND);
    let gaps = &builder.finish().sources[0].gaps;
    let told: Vec<_> =
        gaps.iter().map(|gap| (gap.from_ns / SECOND, gap.to_ns / SECOND, &*gap.error)).collect();
    assert_eq!(told, [(0, 2, "starts"), (2, 8, "silent"), (8, 9, "ended"), (9, 20, "ended")]);
}

#[test]
fn labels_are_found_by_their_stem() {
    let mut source = ObservedSource::default();
    for name in ["disk.reads", "disk.reads{a}", "disk.reads{b}", "disk.reads_ns{a}", "e{a}"] {
        source.figures.insert(name.into(), Figure::default());
    }
    let labels: Vec<_> = source.labelled("disk.reads").map(|(label, _)| label).collect();
    assert_eq!(labels, ["a", "b"]);
}

#[test]
fn a_long_run_is_folded() {
    let samples: Vec<_> = (1..2_000).map(|second| sample(second, second, 1.0)).collect();
    let source = observed(&samples);
    for series in &source.series {
        assert!(series.values.len() <= 481 && series.values.len() >= 200, "{}", series.name);
        assert_eq!(series.values.len(), series.at_ns.len());
    }
    let retransmits = source.series.iter().find(|series| series.name == "retransmits").unwrap();
    assert!(retransmits.values.iter().all(|&value| value == 1.0));
}

#[test]
fn a_period_is_set_against_the_rest() {
    let series = Series {
        at_ns: (1..=10).map(|s| s * SECOND).collect(),
        values: vec![1.0, 1.0, 1.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        ..Series::default()
    };
    assert_eq!(series.inside_and_outside(4 * SECOND, 4 * SECOND), Some((9.0, 1.0)));
    assert_eq!(series.inside_and_outside(40 * SECOND, 41 * SECOND), None);
}
