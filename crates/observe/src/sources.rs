//! Each kind of source, read: a [`Reader`] takes one sample. A command prints its own ([`exec`]).

pub mod exec;
pub mod nginx;
pub mod prometheus;

use std::time::Duration;

use model::{Nanos, Sample};
use net::clock;

use crate::host::Host;
use crate::http;
use crate::process::Processes;
use crate::source::Kind;

/// Takes samples of a source.
#[derive(Debug)]
pub enum Reader {
    /// This machine, and perhaps processes of it.
    Local(Option<Host>, Option<Processes>),
    /// nginx.
    Nginx(url::Url),
    /// Metrics.
    Prometheus(url::Url),
}

impl Reader {
    /// The reader of a source; none of a command, which prints samples by itself.
    pub fn of(kind: &Kind) -> Option<Self> {
        Some(match kind {
            Kind::Local => Self::Local(Some(Host::default()), None),
            Kind::LocalProcesses(which) => {
                Self::Local(Some(Host::default()), Some(Processes::new(which.clone())))
            }
            Kind::Processes(which) => Self::Local(None, Some(Processes::new(which.clone()))),
            Kind::Nginx(url) => Self::Nginx(url.clone()),
            Kind::Prometheus(url) => Self::Prometheus(url.clone()),
            Kind::Exec(_) => return None,
        })
    }

    /// One sample, within about `timeout`.
    pub fn sample(&mut self, timeout: Duration) -> Sample {
        let (before_ns, at) = (clock::thread_cpu(), wall());
        let mut sample = Sample::new(at);
        if let Err(error) = self.read(&mut sample, timeout) {
            sample = Sample::failed(at, error);
        }
        sample.cost_ns = clock::thread_cpu().saturating_sub(before_ns);
        sample
    }

    fn read(&mut self, sample: &mut Sample, timeout: Duration) -> Result<(), String> {
        match self {
            Self::Local(host, processes) => {
                if let Some(host) = host {
                    host.read(sample);
                }
                let now_ns: Nanos = clock::now();
                processes.as_mut().map_or(Ok(()), |processes| processes.read(now_ns, sample))
            }
            Self::Nginx(url) => {
                let page = http::get(url, timeout)?;
                nginx::parse(&String::from_utf8_lossy(&page), sample)
            }
            Self::Prometheus(url) => {
                let page = http::get(url, timeout)?;
                prometheus::parse(&String::from_utf8_lossy(&page), sample)
            }
        }
    }
}

/// The wall clock in nanoseconds since 1970.
pub(crate) fn wall() -> i64 {
    i64::try_from(clock::wall()).unwrap_or(i64::MAX)
}
