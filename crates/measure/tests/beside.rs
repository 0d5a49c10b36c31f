//! What is opened beside a run, in a process of its own: workers of another run would hold it too.

mod loopback;

use std::io::{PipeReader, PipeWriter, Read};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use measure::{Observer, run};
use model::units::SECOND;
use model::{Abort, Interval, Io, Plan};

use crate::loopback::{launch, server};

/// Holds both ends of a pipe, and closes one while the run goes on.
#[derive(Default)]
struct Pipe {
    ends: Option<(PipeReader, PipeWriter)>,
    ended: bool,
}

impl Observer for Pipe {
    fn starting(&mut self, _: &[u32]) {
        self.ends = Some(std::io::pipe().expect("a pipe"));
    }

    fn interval(&mut self, _: &mut Interval) {
        let Some((mut reader, writer)) = self.ends.take() else { return };
        drop(writer);
        let (tell, told) = channel();
        thread::spawn(move || tell.send(reader.read_to_end(&mut Vec::new()).is_ok()));
        self.ended = told.recv_timeout(Duration::from_secs(60)).unwrap_or(false);
    }

    fn ends(&mut self, interval: &Interval) -> Option<Abort> {
        let rule = "after the first interval".to_owned();
        Some(Abort { rule, rate_not_reached: false, at_ns: interval.end_ns, text: String::new() })
    }
}

/// A command that is watched beside a run was not seen to end, as a worker held its pipe.
#[test]
fn no_worker_holds_what_is_opened_beside_it() {
    let server = server();
    let plan = Plan {
        connections: 2,
        max_inflight: 2,
        threads: 1,
        requests: None,
        // Longer than the end of the pipe is waited for.
        duration_ns: Some(120 * SECOND),
        warmup_ns: 0,
        rate_per_s: None,
        arrivals: None,
        io: Io::Epoll,
        ..fixture::plan()
    };
    let mut pipe = Pipe::default();
    run(&launch(&server, plan.clone()), fixture::head(plan), &mut pipe).expect("it runs");
    assert!(pipe.ended, "the pipe has no end");
}
