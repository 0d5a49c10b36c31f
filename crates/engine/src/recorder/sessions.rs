//! Sessions (one run of a user through a flow), as they begin and end.

use model::Nanos;
use traffic::Session;

use super::Recorder;
use crate::attempt_log::LogEntry;

impl Recorder {
    /// A request to `endpoint`, due at `due`, opens a session.
    #[inline]
    pub(crate) fn session_opened(&mut self, endpoint: u32, due: Nanos) {
        if let Some(&Some(flow)) = self.flow_of.get(endpoint as usize) {
            self.began(flow, due);
        }
    }

    /// A session that was due at `due` began.
    #[inline]
    pub(crate) fn began(&mut self, flow: u32, due: Nanos) {
        if self.counts(due) {
            self.log(LogEntry::Began { flow: flow as u16 });
        }
    }

    /// A session that was due at `due` ended, for which `requests` were sent.
    pub(crate) fn session(&mut self, session: Session, due: Nanos, requests: u32, now: Nanos) {
        let (flow, counts) = (session.flow as u16, self.counts(due));
        match session.failed_at {
            None => {
                let (time, done) = (now.saturating_sub(due), self.in_phase(now));
                self.log(LogEntry::Completed { flow, requests, time, counts, done });
            }
            Some(step) if counts => self.log(LogEntry::Broke { flow, step, requests }),
            Some(_) => {}
        }
    }
}
