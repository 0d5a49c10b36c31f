//! Predictions from profiles whose every sample is known.

use profile::costs::{Taken, costs};
use profile::data::Samples;
use profile::whatif::{Start, whatif};
use profile::{Error, Profile};

/// A sample of 10 ms, as `perf script` prints it; its stack from the root on.
fn samples(stack: &str, times: usize) -> String {
    let mut one = String::from("api 1 [000] 1.0:   10000000 cpu-clock: \n");
    for frame in stack.rsplit(';') {
        one += &format!("\t  1000 {frame}+0x1 (/srv/api)\n");
    }
    (one + "\n").repeat(times)
}

const NEXT: &str = "net/http.HandlerFunc.ServeHTTP";

/// 1,000 samples: 200 in a logger itself, of which 100 allocate; 400 in the handler that it calls, of which 100 allocate;
/// 100 of collecting; 300 of the server's own.
fn profile(factor: usize) -> Profile {
    let text = [
        samples(&format!("serve;{NEXT};main.Logger.func1;fmt.Fprintf"), 10 * factor),
        samples(
            &format!("serve;{NEXT};main.Logger.func1;fmt.Fprintf;runtime.mallocgc"),
            10 * factor,
        ),
        samples(&format!("serve;{NEXT};main.Logger.func1;{NEXT};main.get"), 30 * factor),
        samples(
            &format!("serve;{NEXT};main.Logger.func1;{NEXT};main.get;runtime.mallocgc"),
            10 * factor,
        ),
        samples("runtime.gcBgMarkWorker;runtime.gcDrain", 10 * factor),
        samples("serve;write", 30 * factor),
    ];
    let mut profile = profile::read(text.concat().as_bytes()).expect("a profile");
    // One processor, busy throughout.
    profile.duration_ns = 1_000_000_000 * factor as i64;
    profile
}

/// Predicts from 1,000 requests/s with these changes to where it starts.
fn predict(
    profile: &Profile,
    asked: &str,
    stay: &[String],
    change: impl FnOnce(&mut Start<'_>),
) -> Result<model::profiled::WhatIf, Error> {
    let kind = profile.kind(None)?;
    let requests = Some(profile.duration_ns as f64 / 1e6);
    let taken = Taken { profile, kind, allocations: None, requests, own: &[], source: "run" };
    let profiled = costs(&taken)?;
    let asked = [asked.to_owned()];
    let mut start = Start {
        taken,
        profiled: &profiled,
        asked: &asked,
        stay,
        qps: 1000.0,
        qps_error: 0.01,
        processors: Some(1.0),
        refused: None,
        ceiling: None,
    };
    change(&mut start);
    whatif(&start)
}

#[test]
fn a_middleware_goes_with_its_garbage_and_without_its_callees() {
    let what = predict(&profile(10), "main.Logger", &[], |_| {}).unwrap();
    // 200 of 1,000 itself, and half of the 100 of collecting: half of what allocates is the logger's.
    assert!((what.share - 0.25).abs() < 1e-9, "{what:?}");
    assert!((what.share_collecting - 0.05).abs() < 1e-9, "{what:?}");
    // What remains of the 1,000 us, 750, gets 4 us cheaper: six tenths of what goes would be more.
    let left = 0.75 - 0.004;
    assert!((what.qps_predicted.unwrap() - 1000.0 / left).abs() < 1e-6);
    assert!(
        (what.cpu_us_now - 1000.0).abs() < 1e-9
            && (what.cpu_us_predicted - 1000.0 * left).abs() < 1e-9
    );
    assert_eq!((what.samples, what.samples_removed, what.callees_stay), (1000, 200, true));
    let (low, high) = (what.qps_low.unwrap(), what.qps_high.unwrap());
    assert!(low < what.qps_predicted.unwrap() && what.qps_predicted.unwrap() < high);
    // Ten times the samples know it better.
    let more = predict(&profile(100), "main.Logger", &[], |_| {}).unwrap();
    assert!(more.qps_high.unwrap() - more.qps_low.unwrap() < high - low);
    assert_eq!(what.next.as_deref(), Some("the processor again"));
}

#[test]
fn a_handler_goes_with_its_callees() {
    let what = predict(&profile(10), "main.get", &[], |_| {}).unwrap();
    assert!((what.share - 0.45).abs() < 1e-9, "{what:?}");
    assert!(!what.callees_stay);
    let stays = ["main.get".to_owned()];
    let what = predict(&profile(10), "serve", &stays, |_| {}).unwrap();
    // The server's own samples: what it calls through a dispatcher, or keeps, is not.
    assert!((what.share - 0.3).abs() < 1e-9, "{what:?}");
}

#[test]
fn nothing_is_predicted_where_it_would_mean_nothing() {
    let (thick, thin) = (profile(10), profile(1));
    let refused = |profile: &Profile, asked: &str, change: &dyn Fn(&mut Start<'_>)| {
        let what = predict(profile, asked, &[], change).unwrap();
        assert_eq!((what.qps_predicted, what.qps_low, what.qps_high), (None, None, None));
        what.refused.unwrap()
    };
    assert!(refused(&thin, "Logger", &|_| {}).contains("too thin"));
    let unseen = refused(&thin, "not.seen", &|_| {});
    assert!(unseen.contains("too thin"), "it need be no wrong name: {unseen}");
    assert!(unseen.contains("no function of the profile matches `not.seen`"), "{unseen}");
    assert!(
        refused(&thick, "Logger", &|start| start.processors = Some(2.0))
            .contains("not the server's limit")
    );
    assert!(refused(&thick, "Logger", &|start| start.processors = None).contains("--processors"));
    assert!(refused(&thick, "Logger", &|start| start.taken.requests = None).contains("requests"));
    assert!(
        refused(&thick, "Logger", &|start| start.refused = Some("INVALID".into()))
            .contains("INVALID")
    );
    // A wrong name is one whatever else forbids a prediction.
    for refused in [None, Some("INVALID".to_owned())] {
        match predict(&thick, "Loger", &[], |start| start.refused = refused) {
            Err(Error::NoMatch { asked, near }) => {
                assert_eq!((asked.as_str(), near[0].as_str()), ("Loger", "main.Logger.func1"));
            }
            other => panic!("{other:?}"),
        }
    }
    let near = predict(&thick, "middleware.logger", &[], |_| {}).unwrap_err().to_string();
    assert!(near.contains("main.Logger.func1"), "{near}");
    let ceiling = predict(&thick, "Logger", &[], |start| start.ceiling = Some(1100.0)).unwrap();
    assert!(ceiling.next.unwrap().contains("generator"));
}

#[test]
fn a_server_that_records_no_allocations_changes_nothing() {
    let profile = profile(10);
    let mut empty = profile::read(b"main.get 0\n").expect("a profile");
    empty.value_types[0].kind = "alloc_space".to_owned();
    // It lives as long as any start.
    let empty: &'static Profile = Box::leak(Box::new(empty));
    let without = predict(&profile, "main.Logger", &[], |_| {}).unwrap();
    let with = predict(&profile, "main.Logger", &[], |start| start.taken.allocations = Some(empty));
    assert_eq!(with.unwrap(), without, "the interval is drawn from the same samples");
}

#[test]
fn microseconds_are_as_good_as_nanoseconds() {
    let in_nanoseconds = profile(10);
    let mut in_microseconds = in_nanoseconds.clone();
    let mut samples = Samples::new(2);
    for sample in in_nanoseconds.samples.iter() {
        let values = [sample.values[0], sample.values[1] / 1000];
        samples.push(sample.stack, &values, &[]).expect("as many as there were");
    }
    in_microseconds.samples = samples;
    in_microseconds.value_types[1].unit = "microseconds".to_owned();
    let [one, other] = [&in_nanoseconds, &in_microseconds]
        .map(|profile| predict(profile, "main.Logger", &[], |_| {}).unwrap());
    assert_eq!(other.refused, None);
    assert!((one.cpu_us_now - other.cpu_us_now).abs() < 1e-9, "{other:?}");
    let [one, other] = [one, other].map(|what| what.qps_predicted.unwrap());
    assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
}
