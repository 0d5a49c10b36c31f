//! A service whose client may wait for ever, read on its own thread: the caller waits for a limited time. A thread that
//! hangs stays behind, at most one for each source, and ends with the client or the process.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use model::Sample;
use net::clock;

use super::wall;

/// How long a service that refused is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// Something that is connected to, and then read again and again.
pub trait Service: Send + 'static {
    /// What is kept between two readings.
    type Connection;

    /// Connects.
    ///
    /// # Errors
    /// In words, without the password.
    fn connect(&mut self) -> Result<Self::Connection, String>;

    /// Puts its figures into `sample`.
    ///
    /// # Errors
    /// In words. The connection is given up then.
    fn read(
        &mut self,
        connection: &mut Self::Connection,
        sample: &mut Sample,
    ) -> Result<(), String>;
}

/// Reads a service, within a time.
#[derive(Debug)]
pub struct Patient {
    ask: SyncSender<()>,
    answers: Receiver<Sample>,
    waiting: bool,
}

impl Patient {
    /// Begins; nothing is connected to before the first sample.
    pub fn start(mut service: impl Service) -> Self {
        let (ask, asked) = sync_channel(1);
        let (answer, answers) = sync_channel(1);
        let body = move || {
            let mut kept = Kept::default();
            while let Ok(()) = asked.recv() {
                if answer.send(kept.sample(&mut service)).is_err() {
                    return;
                }
            }
        };
        // Without a thread the channels are closed, which is reported as an error.
        let _ = thread::Builder::new().name("observe-service".to_owned()).spawn(body);
        Self { ask, answers, waiting: false }
    }

    /// One sample, or a failed one after `timeout`.
    pub fn sample(&mut self, timeout: Duration) -> Sample {
        let (at, deadline) = (wall(), Instant::now() + timeout);
        loop {
            let late = self.waiting;
            if !late && self.ask.try_send(()).is_err() {
                return Sample::failed(at, "no thread to read it with");
            }
            self.waiting = true;
            match self.answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(_) if late => self.waiting = false,
                Ok(sample) => {
                    self.waiting = false;
                    return sample;
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Sample::failed(at, format!("no answer in {} ms", timeout.as_millis()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Sample::failed(at, "no thread to read it with");
                }
            }
        }
    }
}

/// A connection, or why there is none.
struct Kept<C> {
    connection: Option<C>,
    refused: Option<(Instant, String)>,
}

impl<C> Default for Kept<C> {
    fn default() -> Self {
        Self { connection: None, refused: None }
    }
}

impl<C> Kept<C> {
    fn sample(&mut self, service: &mut impl Service<Connection = C>) -> Sample {
        let (before_ns, at) = (clock::thread_cpu(), wall());
        let mut sample = Sample::new(at);
        if let Err(error) = self.read(service, &mut sample) {
            sample = Sample::failed(at, error);
        }
        sample.cost_ns = clock::thread_cpu().saturating_sub(before_ns);
        sample
    }

    fn read(
        &mut self,
        service: &mut impl Service<Connection = C>,
        sample: &mut Sample,
    ) -> Result<(), String> {
        let mut connection = match (self.connection.take(), &self.refused) {
            (Some(connection), _) => connection,
            (None, Some((when, error))) if when.elapsed() < PAUSE => return Err(error.clone()),
            (None, _) => match service.connect() {
                Ok(connection) => connection,
                Err(error) => {
                    self.refused = Some((Instant::now(), error.clone()));
                    return Err(error);
                }
            },
        };
        self.refused = None;
        service.read(&mut connection, sample)?;
        self.connection = Some(connection);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hangs at its second reading until it is told to go on, and fails at its fourth.
    struct Moody(u32, Receiver<()>);

    impl Service for Moody {
        type Connection = u32;

        fn connect(&mut self) -> Result<u32, String> {
            Ok(self.0)
        }

        fn read(&mut self, connection: &mut u32, sample: &mut Sample) -> Result<(), String> {
            self.0 += 1;
            if self.0 == 2 {
                self.1.recv().map_err(|_| "the test is over".to_owned())?;
            }
            sample.count("connection", u64::from(*connection));
            sample.count("reading", u64::from(self.0));
            if self.0 == 4 { Err("it ended".to_owned()) } else { Ok(()) }
        }
    }

    #[test]
    fn who_hangs_is_not_waited_for_and_late_answers_are_passed_over() {
        let (go_on, told) = sync_channel(1);
        let mut patient = Patient::start(Moody(0, told));
        let long = Duration::from_secs(60);
        assert_eq!(patient.sample(long).counters["reading"], 1);
        let hanging = patient.sample(Duration::from_millis(20));
        assert_eq!(hanging.error.as_deref(), Some("no answer in 20 ms"));
        go_on.send(()).expect("it waits");
        let after = patient.sample(long);
        assert_eq!((after.counters["reading"], after.counters["connection"]), (3, 0));
        assert_eq!(patient.sample(long).error.as_deref(), Some("it ended"));
        let again = patient.sample(long);
        assert_eq!((again.counters["reading"], again.counters["connection"]), (5, 4));
    }
}
