//! One worker: a thread's connections, its share of the load, and the results.
//!
//! `tick` does what has become due and says how long to wait; events carry responses in. `dispatch`
//! decides when requests leave, `requests` what they are; `receive` reads responses, `failures` handles
//! everything that goes wrong, `surplus` what nothing was asked for. Instants inside are nanoseconds since the run's start.

mod dispatch;
mod failures;
mod outgoing;
mod pace;
mod prepare;
mod presence;
mod receive;
mod requests;
mod response;
mod run_state;
mod surplus;
mod timestamps;
mod users;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use model::{Load, Nanos, Plan, Stages};
use net::{Close, ConnId, Event, Handler, Net, Next, Route};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use traffic::Source;

pub use self::prepare::OPEN_WITHIN;

use self::outgoing::Outgoing;
use self::pace::Pace;
use self::response::Incoming;
use self::run_state::RunState;
use self::surplus::Listening;
use self::timestamps::Timestamps;
use crate::connections::Connections;
use crate::first_responses::FirstResponses;
use crate::gaps::Gaps;
use crate::in_flight_limit::InFlightLimit;
use crate::problem::Advice;
use crate::recorder::{Attempt, IntervalBuffers, Recorder, WorkerInterval};
use crate::recorder_slot::RecorderSlot;
use crate::spent::Spent;
use crate::start_barrier::{NOTICE_STOP, StartBarrier};
use crate::timeouts::Timeouts;
use crate::user_timers::UserTimers;

/// The longest that attempts in flight are awaited after a stop.
const STOPPED_DRAIN: Nanos = 1_000_000_000;

/// The work of one worker.
#[derive(Debug)]
pub struct Job {
    /// The whole run.
    pub plan: Arc<Plan>,
    /// This worker's number.
    pub worker: u32,
    /// Workers in all.
    pub workers: u32,
    /// The source of its requests.
    pub source: Box<dyn Source>,
    /// Where to connect and from where, used in turn. At least one.
    pub routes: Arc<[Route]>,
    /// TLS to use, with the server's name.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// What to do about a failure.
    pub advice: Advice,
    /// The first responses, with which others are compared if the plan says so.
    pub first_responses: Arc<FirstResponses>,
    /// Where the workers agree on the run's start.
    pub barrier: Arc<StartBarrier>,
    /// Where the recorder is kept while a source is called that may never return.
    pub recorder_slot: Arc<RecorderSlot>,
    /// Raised to end the window early.
    pub stop: Arc<AtomicBool>,
    /// Reads the processor time of the calling thread; `None` in the simulation.
    pub spent: fn() -> Spent,
    /// Channel for intervals: (worker, interval), then (worker, `None`) at the end.
    pub intervals: Sender<(u32, Option<WorkerInterval>)>,
    /// Buffers that the collector has emptied.
    pub spares: Receiver<IntervalBuffers>,
}

/// A worker. Each is driven on its own net.
#[derive(Debug)]
pub struct Worker {
    job: Job,
    run: RunState,
    conns: Connections,
    /// The pace of requests, and the users that wait for an instant or for the cap.
    pace: Pace,
    user_timers: UserTimers,
    limit: InFlightLimit,
    timeouts: Timeouts,
    /// Where the recorder is kept while the source is called, if it may never return.
    recorder_slot: Option<Arc<RecorderSlot>>,
    outgoing: Outgoing,
    incoming: Incoming,
    /// When the kernel was handed requests and delivered responses.
    timestamps: Timestamps,
    recorder: Box<Recorder>,
    gaps: Gaps,
    /// After the last response.
    listening: Option<Listening>,
}

impl Worker {
    /// A worker that has opened nothing yet.
    pub fn new(job: Job) -> Self {
        let plan = &job.plan;
        let users = share_of(u64::from(plan.connections), job.worker, job.workers) as usize;
        let burst = job.source.burst().max(1);
        let slots = (plan.pipeline.clamp(1, u32::from(u16::MAX)) as u16).max(burst);
        let mut recorder = recorder(plan);
        let mut user_timers = UserTimers::with_capacity(users);
        let pace = match plan.load() {
            Load::Closed { pace_ns, think_ns } => {
                for user in 0..users as u32 {
                    user_timers.add(first_start(&job, user, pace_ns), user);
                }
                recorder.watch.of_users(users as u32, plan.ramp_ns);
                if let Ok(stages) = Stages::new(&plan.stages) {
                    let share = users as f64 / f64::from(plan.connections.max(1));
                    recorder.watch.of_stages(stages, share);
                }
                let left = plan.requests.map_or(u64::MAX, |n| requests_of(&job, n));
                Pace::Closed { pace_ns, think_ns, left }
            }
            Load::Open(schedule) => Pace::open(schedule.share(job.worker, job.workers), users),
        };
        // The connections of the workers before give the first route, so that all workers together
        // use the routes as evenly as one would.
        let before = |worker| share_of(u64::from(plan.connections), worker, job.workers);
        let routes = (job.routes.clone(), (0..job.worker).map(before).sum::<u64>() as usize);
        Self {
            run: RunState::default(),
            conns: Connections::new(users, slots, burst, routes.0, routes.1),
            pace,
            user_timers,
            limit: InFlightLimit::new(inflight_cap(&job, slots), burst, users),
            timeouts: Timeouts::new(plan.timeout_ns, 0),
            recorder_slot: recorder_slot(&job),
            outgoing: Outgoing::new(&*job.source),
            incoming: Incoming::new(plan),
            timestamps: Timestamps::default(),
            recorder: Box::new(recorder.counting_by_endpoint(&plan.mix)),
            gaps: Gaps::default(),
            listening: None,
            job,
        }
    }

    fn stop_requested(&self) -> bool {
        self.job.stop.load(Ordering::Relaxed)
    }

    /// Looks whether the window is to end early: before anything is counted of what has come.
    fn notice_stop<N: Net>(&mut self, net: &N) {
        if !self.run.stopped && self.stop_requested() {
            self.run.stopped = true;
            if !self.run.ended {
                self.recorder.end_window(self.job.barrier.noticed(self.run.now(net)));
            }
        }
    }

    /// Closes intervals and samples that are over.
    fn close_intervals(&mut self, now: Nanos) {
        self.recorder.step(now);
        let spent = self.job.spent;
        if let Some(gap) = self.gaps.check(now, spent) {
            self.recorder.paused(gap);
        }
        if now >= self.recorder.boundary() {
            self.count_down(self.recorder.boundary());
        }
        let open_loop = self.job.plan.rate_per_s.is_some();
        let fresh = |_| IntervalBuffers::with_room(open_loop);
        let spare = || self.job.spares.try_recv().unwrap_or_else(fresh);
        while let Some(part) = self.recorder.advance(now, spent, spare) {
            hand_over(&self.job, Some(part));
        }
    }

    /// After the window: nothing is sent, and arrivals still waiting never will be.
    fn end_window<N: Net>(&mut self, net: &mut N, now: Nanos) {
        self.note_waiting(self.recorder.window_end());
        // Requests that fell due between the last wake-up and the end leave now, if they can.
        let last = self.recorder.window_end().saturating_sub(1);
        self.take_up(last, now);
        while self.serve_next(net, now) {}
        self.run.ended = true;
        while let Pace::Open { arrivals, .. } = &mut self.pace
            && let Some(arrival) = arrivals.serve()
        {
            let attempt = self.skip_arrival(arrival, now);
            self.recorder.unsent(attempt, None);
        }
    }

    /// Whether a run limited by count has sent and received everything.
    fn count_reached(&self) -> bool {
        let all_sent = match &self.pace {
            Pace::Closed { left, .. } => *left == 0 || self.run.silent,
            Pace::Open { arrivals, .. } => arrivals.next_due().is_none() && arrivals.waiting() == 0,
        };
        all_sent && self.job.plan.requests.is_some() && self.recorder.under_way == 0
    }

    fn drained(&self, now: Nanos) -> bool {
        let patience = if self.run.stopped {
            self.job.plan.timeout_ns.min(STOPPED_DRAIN)
        } else {
            self.job.plan.timeout_ns
        };
        let given_up = now >= self.recorder.window_end().saturating_add(patience);
        self.run.ended && (self.recorder.under_way == 0 || given_up)
    }

    fn finish<N: Net>(&mut self, net: &mut N, now: Nanos) -> Next {
        let users = self.users(now);
        self.recorder.tally.users.merge(&users);
        for j in 0..self.conns.count() {
            while let Some(flight) = self.conns.pop(j) {
                if !self.run.stopped {
                    self.mark_down(j, flight.sent, false, now);
                }
                self.recorder.unfinished(flight);
                // A response that is still to come was asked for.
                self.close(net, j, now, Close::Now);
            }
            self.end_opening(j, now);
            self.mark_up(j, now);
            if let Some(due) = self.conns[j].take_arrival() {
                let endpoint = self.skip_turn(j, now);
                self.recorder.unsent(Attempt { due, endpoint }, None);
            }
        }
        let part = self.recorder.close(now, (self.job.spent)(), IntervalBuffers::default());
        self.listen(net, part, now)
    }

    fn next_wake(&self, now: Nanos) -> Nanos {
        let mut next = self.recorder.next().min(self.timeouts.next()).min(now + NOTICE_STOP);
        if self.run.ended {
            return next.min(self.recorder.window_end().saturating_add(self.job.plan.timeout_ns));
        }
        if let Some(start) = self.user_timers.next() {
            next = next.min(start);
        }
        if let Pace::Open { arrivals, .. } = &self.pace {
            if let Some(due) = arrivals.next_due() {
                next = next.min(due.saturating_add(self.job.plan.granularity_ns));
            }
            if let Some(due) = arrivals.oldest_due() {
                next = next.min(due.saturating_add(self.job.plan.timeout_ns));
            }
        }
        next.min(self.recorder.window_end())
    }
}

impl<N: Net> Handler<N> for Worker {
    fn accepted(&mut self, _: &mut N, _: ConnId) -> Option<u32> {
        None
    }

    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let now = self.begin_event(net);
        if self.run.measuring {
            if self.recorder.behind(now) {
                self.close_intervals(now);
            }
            self.gaps.awake(now);
        }
        match event {
            Event::Received(bytes) => self.received(net, token, bytes, now),
            Event::Skipped(bytes) => self.skipped(token, bytes),
            Event::Connected => self.connected(net, token, now),
            Event::Eof => self.peer_closed(net, token, now),
            Event::Failed(failure) => self.failed(net, token, failure, now),
            Event::Drained => {}
        }
    }

    fn tick(&mut self, net: &mut N) -> Next {
        if !self.run.measuring {
            return if self.run.started { self.go_on_listening(net) } else { self.prepare(net) };
        }
        let now = self.end_batch(net);
        self.notice_stop(net);
        if !self.run.ended && now >= self.recorder.window_end() {
            self.end_window(net, now);
        }
        self.close_intervals(now);
        if !self.run.ended {
            self.start_due(net, now);
        }
        if now >= self.timeouts.next() {
            self.scan_timeouts(net, now);
        }
        self.note_presence(now);
        if self.drained(now) || self.count_reached() {
            return self.finish(net, now);
        }
        let until = self.next_wake(now);
        self.gaps.wait(until);
        let until = self.run.on_net_clock(until);
        if self.job.plan.spin { Next::Spin(until) } else { Next::Wait(until) }
    }
}

fn hand_over(job: &Job, part: Option<WorkerInterval>) {
    // The collector outlives the workers; if it is gone, the run has been given up.
    let _ = job.intervals.send((job.worker, part));
}

/// Worker `worker`'s part of `total`, the first ones taking the remainder.
pub(crate) fn share_of(total: u64, worker: u32, workers: u32) -> u64 {
    let (worker, workers) = (u64::from(worker), u64::from(workers));
    total / workers + u64::from(worker < total % workers)
}

/// A worker's part of the `n` requests of a closed loop: as many for each user as for those of other workers, so that all
/// workers end together; what is left over goes to one user of each worker in turn. Where a cap leaves room for fewer than there
/// are users, those that it leaves room for count.
fn requests_of(job: &Job, n: u64) -> u64 {
    let at_once = u64::from(job.plan.connections.min(job.plan.max_inflight).max(1));
    let own = share_of(at_once, job.worker, job.workers);
    (n / at_once) * own + share_of(n % at_once, job.worker, job.workers)
}

/// Requests that worker may have under way: its part of the cap, where that is below what its
/// connections hold.
fn inflight_cap(job: &Job, slots: u16) -> u32 {
    let plan = &job.plan;
    if plan.max_inflight >= plan.connections.saturating_mul(u32::from(slots)) {
        return u32::MAX;
    }
    share_of(u64::from(plan.max_inflight), job.worker, job.workers).max(1) as u32
}

/// An empty recorder for a plan.
fn recorder(plan: &Plan) -> Recorder {
    let window_end =
        plan.duration_ns.map_or(Nanos::MAX, |duration| plan.warmup_ns.saturating_add(duration));
    Recorder::new(plan.rate_per_s.is_some(), plan.warmup_ns, window_end).all_due(plan.all_due_ns())
}

/// The slot of the recorder during calls of the source, if those may never return.
fn recorder_slot(job: &Job) -> Option<Arc<RecorderSlot>> {
    job.source.may_never_return().then(|| {
        job.recorder_slot.prepare(Box::new(recorder(&job.plan)));
        job.recorder_slot.clone()
    })
}

/// When a closed-loop user begins: spread over the ramp, or over one pace so that users do not send in
/// step.
fn first_start(job: &Job, user: u32, pace_ns: Option<Nanos>) -> Nanos {
    let spread = if job.plan.ramp_ns > 0 { job.plan.ramp_ns } else { pace_ns.unwrap_or(0) };
    let index = u64::from(user) * u64::from(job.workers) + u64::from(job.worker);
    let at = u128::from(spread) * u128::from(index) / u128::from(job.plan.connections.max(1));
    at as Nanos
}
