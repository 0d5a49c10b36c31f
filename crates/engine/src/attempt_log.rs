//! The outcome of each attempt, for the figures of endpoints and flows.
//!
//! A worker only appends to a log: a histogram for every endpoint would be a hundred
//! kilobytes each, and every response would miss the cache. Once a second the collector turns the logs
//! into tallies, on its own thread. A load of one request has no log.

use model::interval::{EndpointTally, FlowTally, MOST_ENDPOINTS, tallies_needed};
use model::{ErrorClass, Latencies, Mix, Nanos, Tally};

/// Entries that there is room for before the first has to be grown: a second of a busy worker.
const ROOM: usize = 64 * 1024;

/// The end of one attempt, or the beginning or end of one session. Indexes are those of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogEntry {
    /// A whole response to an attempt that counts; `done` if it came inside the interval's phase.
    Responded {
        endpoint: u16,
        status: u16,
        failure: Option<ErrorClass>,
        check: Option<u16>,
        response: Nanos,
        service: Nanos,
        done: bool,
    },
    /// A whole response to an attempt that was due before the window.
    Done { endpoint: u16 },
    /// An attempt that had no response in time.
    TimedOut { endpoint: u16, response: Nanos, service: Nanos },
    /// An attempt that failed without a response.
    Failed { endpoint: u16, class: ErrorClass },
    /// An arrival that was dropped, with the time it had waited if that was too long.
    Unsent { endpoint: u16, waited: Option<Nanos> },
    /// An attempt that was open when the run ended.
    Unfinished { endpoint: u16 },
    /// A session began.
    Began { flow: u16 },
    /// A session of `requests` requests was completed; `counts` if it was due in time, `done` as above.
    Completed { flow: u16, requests: u32, time: Nanos, counts: bool, done: bool },
    /// A step failed, and the session with it, after `requests` requests.
    Broke { flow: u16, step: u16, requests: u32 },
}

/// A worker's log of one interval.
#[derive(Debug, Default)]
pub struct AttemptLog {
    list: Vec<LogEntry>,
    /// First failures of endpoints, in words.
    samples: Vec<(u16, String)>,
}

impl AttemptLog {
    /// An empty log, with room.
    pub(crate) fn with_room() -> Self {
        Self { list: Vec::with_capacity(ROOM), samples: Vec::new() }
    }

    /// Appends an entry.
    #[inline]
    pub(crate) fn add(&mut self, entry: LogEntry) {
        self.list.push(entry);
    }

    /// The first response of an endpoint that failed.
    pub(crate) fn sample(&mut self, endpoint: u16, words: String) {
        self.samples.push((endpoint, words));
    }

    /// Empties it; its memory stays.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.samples.clear();
    }
}

/// The number of an endpoint in the log: endpoints beyond the limit share one.
#[inline]
pub(crate) fn endpoint_number(endpoint: u32) -> u16 {
    endpoint.min(MOST_ENDPOINTS as u32) as u16
}

/// The flow of each endpoint that is a step of one.
pub(crate) fn flow_of(mix: &Mix) -> Vec<Option<u32>> {
    let mut flow_of = vec![None; if mix.flows.is_empty() { 0 } else { mix.endpoints.len() }];
    for (flow, plan) in (0..).zip(&mix.flows) {
        for &step in &plan.steps {
            if let Some(of) = flow_of.get_mut(step as usize) {
                *of = Some(flow);
            }
        }
    }
    flow_of
}

/// Turns a log into tallies. Keeps its memory from one interval to the next.
#[derive(Debug)]
pub(crate) struct LogReader {
    endpoints: Vec<EndpointDraft>,
    flows: Vec<(FlowTally, Vec<Nanos>)>,
    ruler: Latencies,
}

/// A tally in the making.
#[derive(Debug, Default)]
struct EndpointDraft {
    tally: EndpointTally,
    responses: Vec<Nanos>,
    services: Vec<Nanos>,
    touched: bool,
}

impl LogReader {
    pub(crate) fn of(mix: &Mix) -> Self {
        let mut endpoints = Vec::new();
        endpoints.resize_with(tallies_needed(mix.endpoints.len()), EndpointDraft::default);
        let flows = vec![Default::default(); mix.flows.len()];
        Self { endpoints, flows, ruler: Latencies::new() }
    }

    /// Adds what a log says to an interval's tally.
    pub(crate) fn read(&mut self, log: &AttemptLog, into: &mut Tally) {
        log.list.iter().for_each(|entry| self.entry(entry));
        for (endpoint, words) in &log.samples {
            if let Some(draft) = self.endpoints.get_mut(usize::from(*endpoint)) {
                draft.touched = true;
                draft.tally.sample.get_or_insert_with(|| words.clone());
            }
        }
        for (index, draft) in self.endpoints.iter_mut().enumerate() {
            if let Some(tally) = draft.take(index as u32, &self.ruler) {
                into.add_endpoint(&tally);
            }
        }
        for (index, (tally, times)) in self.flows.iter_mut().enumerate() {
            tally.times.add(times, &self.ruler);
            times.clear();
            let mut tally = std::mem::take(tally);
            if tally != FlowTally::default() {
                tally.flow = index as u32;
                into.add_flow(&tally);
            }
        }
    }

    fn entry(&mut self, entry: &LogEntry) {
        match *entry {
            LogEntry::Responded { endpoint, status, failure, check, response, service, done } => {
                let Some(draft) = self.endpoint(endpoint) else { return };
                let tally = &mut draft.tally;
                match failure {
                    None => tally.succeeded += 1,
                    Some(class) => tally.errors.add(class, 1),
                }
                if let (Some(ErrorClass::Check), Some(check)) = (failure, check) {
                    *tally.failed_checks.entry(check).or_default() += 1;
                }
                *tally.statuses.entry(status).or_default() += 1;
                tally.responses_done += u64::from(done);
                draft.responses.push(response);
                draft.services.push(service);
            }
            LogEntry::Done { endpoint } => {
                let Some(draft) = self.endpoint(endpoint) else { return };
                draft.tally.responses_done += 1;
            }
            LogEntry::TimedOut { endpoint, response, service } => {
                let Some(draft) = self.endpoint(endpoint) else { return };
                draft.tally.errors.add(ErrorClass::Timeout, 1);
                draft.responses.push(response);
                draft.services.push(service);
            }
            LogEntry::Failed { endpoint, class } => {
                let Some(draft) = self.endpoint(endpoint) else { return };
                draft.tally.errors.add(class, 1);
            }
            LogEntry::Unsent { endpoint, waited } => {
                let Some(draft) = self.endpoint(endpoint) else { return };
                draft.tally.unsent += 1;
                draft.responses.extend(waited);
            }
            LogEntry::Unfinished { endpoint } => {
                let Some(draft) = self.endpoint(endpoint) else { return };
                draft.tally.unfinished += 1;
            }
            LogEntry::Began { flow }
            | LogEntry::Completed { flow, .. }
            | LogEntry::Broke { flow, .. } => {
                let Some(flow) = self.flows.get_mut(usize::from(flow)) else { return };
                session(entry, flow);
            }
        }
    }

    fn endpoint(&mut self, endpoint: u16) -> Option<&mut EndpointDraft> {
        let draft = self.endpoints.get_mut(usize::from(endpoint))?;
        draft.touched = true;
        Some(draft)
    }
}

fn session(entry: &LogEntry, (tally, times): &mut (FlowTally, Vec<Nanos>)) {
    match *entry {
        LogEntry::Began { .. } => tally.started += 1,
        LogEntry::Completed { requests, time, counts, done, .. } => {
            tally.completed_done += u64::from(done);
            if counts {
                tally.completed += 1;
                tally.requests += u64::from(requests);
                times.push(time);
            }
        }
        LogEntry::Broke { step, requests, .. } => {
            *tally.failed_at.entry(step).or_default() += 1;
            tally.requests += u64::from(requests);
        }
        _ => {}
    }
}

impl EndpointDraft {
    /// The tally, if anything was logged.
    fn take(&mut self, endpoint: u32, ruler: &Latencies) -> Option<EndpointTally> {
        if !std::mem::take(&mut self.touched) {
            return None;
        }
        let mut tally = std::mem::take(&mut self.tally);
        tally.endpoint = endpoint;
        let same = self.responses == self.services;
        tally.service.add(&mut self.services, ruler);
        if same {
            tally.response = tally.service.clone();
        } else {
            tally.response.add(&mut self.responses, ruler);
        }
        self.responses.clear();
        self.services.clear();
        Some(tally)
    }
}
