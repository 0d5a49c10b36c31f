//! What is merged and handed on, and that nothing of it is lost unsaid.

use std::thread;

use super::super::Local;
use super::*;
use crate::policy::Problem;

struct Kept(Vec<Batch>);

impl Sink for Kept {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        self.0.push(batch.clone());
        Ok(())
    }
}

fn holds(account: &Account) -> bool {
    account.served == account.reported + account.pending + account.dropped
}

#[test]
fn what_was_served_is_reported_once() {
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(Arc::clone(&hub));
    let mut kept = Kept(Vec::new());
    for second in 1..=5 {
        for _ in 0..100 {
            local.refuse(3, 0, Problem::RateLimited, 0);
        }
        local.tick(second * 1_000_000_000);
        collector.collect(second as i64, u64::from, |number| number.to_string());
        collector.reader().read(|snapshot| {
            assert_eq!(snapshot.account.served, second * 100);
            assert!(holds(&snapshot.account), "{:?}", snapshot.account);
        });
        let batch = reporter.batches.recv().unwrap().into_batch();
        kept.write(&batch).unwrap();
        collector.shared.reported.fetch_add(batch.requests(), Ordering::Relaxed);
    }
    assert_eq!(kept.0.iter().map(Batch::requests).sum::<u64>(), 500);
    assert_eq!(kept.0[0].rows[0].0, 3);
}

/// A worker counts and a sink writes all the while.
#[test]
fn the_account_that_is_shown_holds_while_everything_moves() {
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(hub);
    let stop = AtomicBool::new(false);
    let broken = thread::scope(|scope| {
        scope.spawn(|| {
            let mut now_ns = 0;
            while !stop.load(Ordering::Relaxed) {
                local.refuse(3, 0, Problem::RateLimited, 0);
                now_ns += 1_000_000;
                local.tick(now_ns);
            }
        });
        scope.spawn(move || reporter.run(&mut Kept(Vec::new()), thread::yield_now));
        let mut broken = Vec::new();
        for second in 0..2_000 {
            collector.collect(second, u64::from, |number| number.to_string());
            let account = collector.reader().read(|snapshot| snapshot.account);
            broken.extend((!holds(&account)).then_some(account));
        }
        stop.store(true, Ordering::Relaxed);
        drop(collector);
        broken
    });
    assert!(broken.is_empty(), "{} of 2,000, such as {:?}", broken.len(), broken[0]);
}

/// A sink that never returns: nothing waits for it, and every request is accounted for.
#[test]
fn a_frozen_sink_is_waited_for_by_nobody() {
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(Arc::clone(&hub));
    let keys = 30_000;
    for second in 1..=4u32 {
        for key in 0..keys {
            local.refuse(key, 0, Problem::RateLimited, 0);
            if key % 500 == 0 {
                local.hand_over();
                collector.collect(i64::from(second), u64::from, |number| number.to_string());
            }
        }
        local.hand_over();
        collector.collect(i64::from(second), u64::from, |number| number.to_string());
        collector.reader().read(|snapshot| {
            assert_eq!(snapshot.account.served, u64::from(second * keys));
            assert_eq!(snapshot.account.reported, 0);
            assert!(holds(&snapshot.account), "{:?}", snapshot.account);
            assert!(snapshot.since_start.len() <= ROWS_MOST + 1);
        });
        assert!(collector.pending.len() <= ROWS_MOST);
    }
    assert!(collector.dropped > 0);
    drop(reporter);
}

#[test]
fn a_worker_whose_tables_wait_drops_and_says_so() {
    let hub = Arc::new(Hub::default());
    let (mut collector, _reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(Arc::clone(&hub));
    for key in 0..10_000 {
        local.refuse(key, 0, Problem::RateLimited, 0);
    }
    collector.collect(1, u64::from, |number| number.to_string());
    let account = collector.reader().read(|snapshot| snapshot.account);
    assert_eq!(account.served, 10_000);
    assert!(holds(&account), "{account:?}");
    drop(local);
    collector.collect(2, u64::from, |number| number.to_string());
    let account = collector.reader().read(|snapshot| snapshot.account);
    assert!(holds(&account) && account.dropped > 0, "{account:?}");
}

#[test]
fn a_sink_that_fails_is_tried_again() {
    struct Fails(u32, u64);
    impl Sink for Fails {
        fn write(&mut self, batch: &Batch) -> Result<(), String> {
            self.0 += 1;
            if self.0 < 3 {
                return Err("disk full".into());
            }
            self.1 += batch.requests();
            Ok(())
        }
    }
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(hub);
    local.refuse(1, 1, Problem::KeyUnknown, 0);
    local.hand_over();
    let reading = collector.reader();
    collector.collect(1, u64::from, |number| number.to_string());
    let writer = thread::spawn(move || {
        let mut sink = Fails(0, 0);
        reporter.run(&mut sink, || ());
        sink.1
    });
    assert_eq!(writer_ends(collector, writer), 1);
    let account = reading.account();
    assert_eq!((account.served, account.reported, account.pending), (1, 1, 0));
}

/// The reporter's result, once it has written all or given up.
fn writer_ends(collector: Collector, writer: thread::JoinHandle<u64>) -> u64 {
    while collector.reader().account().reported == 0 {
        thread::yield_now();
    }
    drop(collector);
    writer.join().unwrap()
}

/// A batch is with a slow sink and another waits when the end comes: what is flushed then waits for its turn.
#[test]
fn nothing_is_lost_at_the_end_to_a_slow_sink() {
    struct Slow(u64);
    impl Sink for Slow {
        fn write(&mut self, batch: &Batch) -> Result<(), String> {
            thread::sleep(std::time::Duration::from_millis(50));
            self.0 += batch.requests();
            Ok(())
        }
    }
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(hub);
    for second in 1..=3 {
        local.refuse(1, 1, Problem::KeyUnknown, 0);
        local.hand_over();
        collector.collect(second, u64::from, |number| number.to_string());
    }
    let writer = thread::spawn(move || {
        let mut sink = Slow(0);
        reporter.run(&mut sink, || ());
        sink.0
    });
    collector.flush(4, |number| number.to_string());
    drop(collector);
    assert_eq!(writer.join().unwrap(), 3);
}

#[test]
fn a_sink_that_always_fails_keeps_nobody_from_ending() {
    struct Broken;
    impl Sink for Broken {
        fn write(&mut self, _batch: &Batch) -> Result<(), String> {
            Err("no".into())
        }
    }
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(hub);
    local.refuse(1, 1, Problem::KeyUnknown, 0);
    local.hand_over();
    let reading = collector.reader();
    collector.collect(1, u64::from, |number| number.to_string());
    let writer = thread::spawn(move || reporter.run(&mut Broken, thread::yield_now));
    drop(collector);
    writer.join().unwrap();
    assert_eq!(reading.sink_error().as_deref(), Some("no"));
    assert_eq!((reading.account().reported, reading.account().pending), (0, 1));
}

/// Where all threads share one processor, requests would wait while rows are copied: with many keys for long enough to be a
/// spike at each report.
#[test]
fn handing_on_copies_no_rows() {
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 1);
    let mut local = Local::new(hub);
    let name = |number: u32| format!("route {number}");
    collector.collect(1, u64::from, name);
    for key in (0..1000).rev() {
        local.refuse(key, key % 2, Problem::RateLimited, 0);
    }
    local.hand_over();
    collector.collect(1, u64::from, name);
    let asked = allocation_counter::measure(|| collector.collect(2, u64::from, name));
    assert!(asked.count_total < 50, "{asked:?}");
    let batch = reporter.batches.recv().unwrap().into_batch();
    assert_eq!((batch.requests(), batch.rows.len()), (1000, 1000));
    assert!(batch.rows.is_sorted_by_key(|(key, _, _)| *key));
    assert_eq!((batch.rows[4].1.as_str(), batch.rows[5].1.as_str()), ("route 0", "route 1"));
    assert!(holds(&collector.reader().account()));
}

/// By an hour, as when a wrong clock is set right.
#[test]
fn a_clock_that_is_put_back_stops_no_report() {
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 5);
    let mut local = Local::new(hub);
    let mut reported_at = |unix_s: i64| {
        local.refuse(1, 0, Problem::RateLimited, 0);
        local.hand_over();
        collector.collect(unix_s, u64::from, |number| number.to_string());
        reporter.batches.try_recv().is_ok()
    };
    let seconds = [5_000, 5_004, 5_005, 1_400, 1_404, 1_405];
    assert_eq!(seconds.map(&mut reported_at), [true, false, true, true, false, true]);
}

/// A batch that is an hour long, and a day that ends within it.
#[test]
fn what_came_before_midnight_is_reported_of_that_day() {
    let hub = Arc::new(Hub::default());
    let (mut collector, reporter) = Collector::new(Arc::clone(&hub), 3600);
    let mut local = Local::new(hub);
    let name = |number: u32| number.to_string();
    collector.collect(DAY_S - 10, u64::from, name);
    let mut reported = |requests: u32, unix_s: i64| {
        (0..requests).for_each(|_| local.refuse(1, 0, Problem::RateLimited, 0));
        local.hand_over();
        collector.collect(unix_s, u64::from, name);
        let batches = reporter.batches.try_iter().map(Merged::into_batch);
        batches.map(|batch| (batch.at_s, batch.requests())).collect::<Vec<_>>()
    };
    assert_eq!(reported(3, DAY_S - 1), []);
    assert_eq!(reported(2, DAY_S), [(DAY_S - 1, 3)]);
    assert_eq!(reported(1, DAY_S + 1), []);
    assert_eq!(reported(0, DAY_S + 3600), [(DAY_S + 3600, 3)]);
}
