//! Reports are in nobody's way: clients are answered while a sink stands still and while figures are read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use gate::keys::Settings;
use gate::policy::{NONE, Problem};
use gate::usage::{Account, Batch, Collector, Sink};
use testkit::peer::RawClient;

use crate::harness::{api, front_with, interfaces, upstream, with_keys};

const KEY: &str = "plk_one";
const PERIODS: u64 = 6;
const REQUESTS: u64 = 200;

/// Writes a batch only when it is told to.
struct Stuck {
    go_on: Receiver<()>,
    written: Arc<AtomicU64>,
}

impl Sink for Stuck {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        self.go_on.recv().map_err(|_| "the test is over".to_owned())?;
        self.written.fetch_add(batch.requests(), Ordering::SeqCst);
        Ok(())
    }
}

/// Sends requests with the key, one after another; each has to be answered before the next is sent.
fn ask(client: &mut RawClient, requests: u64) {
    let request = format!("GET /healthz HTTP/1.1\r\nHost: a\r\nX-API-Key: {KEY}\r\n\r\n");
    for _ in 0..requests {
        client.send(request.as_bytes());
        let answer = client.receive_until(b"}");
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", answer.escape_ascii());
    }
}

/// One key over six report periods: the sink never comes to an end, and the lock on the figures is held by a reader
/// while the workers hand over. Whatever the data path waited for there, it would never be answered.
#[test]
fn the_data_path_never_waits_for_a_report() {
    for io in interfaces() {
        let api = api();
        let (digester, settings) = with_keys(upstream(&[api.addr()]));
        let front = front_with(settings, io);
        let state = Arc::clone(front.current.get().0.state());
        state.keys.put(&digester.digest(KEY.as_bytes()), &Settings::default());
        let (mut collector, reporter) = Collector::new(Arc::clone(&state.usage), 1);
        let (release, go_on) = channel();
        let written = Arc::new(AtomicU64::new(0));
        let mut sink = Stuck { go_on, written: Arc::clone(&written) };
        let reporting = thread::spawn(move || reporter.run(&mut sink, || ()));
        let reader = collector.reader();
        let mut client = front.client();
        for period in 1..=PERIODS {
            // Until the workers have handed over once more, which they do once a second.
            reader.read(|_| ask(&mut client, REQUESTS));
            collector.collect(period as i64, u64::from, |route| route.to_string());
            let Account { reported, dropped, .. } = reader.account();
            assert_eq!((reported, dropped), (0, 0), "period {period}");
            thread::sleep(std::time::Duration::from_millis(350));
        }
        assert_eq!(reader.account().served, PERIODS * REQUESTS);
        // Once the sink goes on, everything arrives.
        drop(client);
        assert!(front.gate.drain().is_empty());
        (0..10).for_each(|_| release.send(()).expect("it waits"));
        for period in 1.. {
            collector.collect(1000 + period, u64::from, |route| route.to_string());
            if reader.account().reported == PERIODS * REQUESTS {
                break;
            }
            assert!(period < 6000, "{:?}", reader.account());
            thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(written.load(Ordering::SeqCst), PERIODS * REQUESTS);
        drop((collector, release));
        reporting.join().expect("the reporter ends");
    }
}

/// What the gateway answers before it looks for a key or a route is in usage, and each request is answered and counted once.
#[test]
fn requests_that_are_invalid_are_counted() {
    let cases: [(&[u8], u16); 5] = [
        (b"GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        // It is refused for want of a key, and its body is malformed.
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 401),
    ];
    for io in interfaces() {
        let api = api();
        let (_, settings) = with_keys(upstream(&[api.addr()]));
        let front = front_with(settings, io);
        let state = Arc::clone(front.current.get().0.state());
        let (mut collector, _reporter) = Collector::new(Arc::clone(&state.usage), 1);
        for (request, status) in cases {
            let answers = front.ask(request);
            let came: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            assert_eq!(came, [status], "{}", request.escape_ascii());
        }
        assert_eq!(front.gate.drain(), Vec::<String>::new());
        collector.collect(1, u64::from, |route| route.to_string());
        let reader = collector.reader();
        let (invalid, statuses) = reader.read(|snapshot| {
            let sum = &snapshot.since_start[&(u64::from(NONE), NONE)];
            (sum.refused[Problem::Invalid as usize], sum.statuses.clone())
        });
        assert_eq!((invalid, statuses), (4, BTreeMap::from([(400, 2), (405, 1), (505, 1)])));
        let Account { served, reported, pending, dropped } = reader.account();
        assert_eq!((served, reported + pending + dropped), (5, 5));
    }
}
