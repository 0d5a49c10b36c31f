//! Each kind of source, read: a [`Reader`] takes one sample. A command prints its own ([`exec`]).

pub mod cache;
pub mod exec;
mod mongo;
pub(crate) mod mysql;
pub mod nginx;
pub mod nginx_log;
mod others;
mod patient;
pub(crate) mod postgres;
pub mod prometheus;
pub mod statement;
mod tables;

use std::time::Duration;

use model::{Nanos, Sample};
use net::clock;

use crate::host::Host;
use crate::http;
use crate::process::Processes;
use crate::source::{self, Kind};

use cache::{Memcached, Redis};
use mongo::Mongo;
use mysql::Mysql;
use nginx_log::ErrorLog;
use patient::Patient;
use postgres::Postgres;

/// Takes samples of a source.
#[derive(Debug)]
pub enum Reader {
    /// This machine, and perhaps processes of it.
    Local(Option<Box<Host>>, Option<Box<Processes>>),
    /// nginx: its page, its error log.
    Nginx(Option<url::Url>, Option<ErrorLog>),
    /// A database or a cache.
    Service(Patient),
    /// Metrics.
    Prometheus(url::Url),
}

impl Reader {
    /// The reader of a source; none of a command, which prints samples by itself. `own_groups` says whether the quotas of
    /// this process are those of a machine that is watched whole, as in a container.
    pub fn of(kind: &Kind, own_groups: bool) -> Option<Self> {
        Some(match kind {
            Kind::Local => Self::Local(Some(Box::new(Host::new(own_groups))), None),
            // Their quotas are reported, not this process's.
            Kind::LocalProcesses(which) => Self::Local(
                Some(Box::new(Host::new(false))),
                Some(Box::new(Processes::new(which.clone()))),
            ),
            Kind::Processes(which) => {
                Self::Local(None, Some(Box::new(Processes::new(which.clone()))))
            }
            Kind::Nginx(source::Nginx { status, log }) => {
                Self::Nginx(status.clone(), log.as_deref().map(ErrorLog::new))
            }
            Kind::Postgres(url) => {
                Self::Service(Patient::start(Postgres::new(url.with_password())))
            }
            Kind::Mysql(url) => Self::Service(Patient::start(Mysql::new(url.with_password()))),
            Kind::Mongo(url) => Self::Service(Patient::start(Mongo::new(url.with_password()))),
            Kind::Redis(url) => Self::Service(Patient::start(Redis::new(url.with_password()))),
            Kind::Memcached(url) => {
                Self::Service(Patient::start(Memcached::new(url.with_password())))
            }
            Kind::Prometheus(url) => Self::Prometheus(url.clone()),
            Kind::Exec(_) => return None,
        })
    }

    /// One sample, within about `timeout`.
    pub fn sample(&mut self, timeout: Duration) -> Sample {
        if let Self::Service(service) = self {
            return service.sample(timeout);
        }
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
                if let Some(processes) = processes {
                    let now_ns: Nanos = clock::now();
                    processes.read(now_ns, sample)?;
                }
                if let Some(host) = host {
                    host.read(processes.as_deref().and_then(Processes::elsewhere), sample);
                }
                Ok(())
            }
            Self::Nginx(status, log) => {
                if let Some(log) = log {
                    match (log.read(sample), &status) {
                        (Err(error), None) => return Err(error),
                        (Err(error), Some(_)) => sample.miss("nginx.log", error),
                        (Ok(()), _) => {}
                    }
                }
                let Some(url) = status else { return Ok(()) };
                let page_read = http::get(url, timeout)
                    .and_then(|page| nginx::parse(&String::from_utf8_lossy(&page), sample));
                match (page_read, log) {
                    // A proxy that is full does not serve its page either, and its log says why.
                    (Err(error), Some(_)) if !sample.counters.is_empty() => {
                        sample.miss("nginx.active", error);
                        Ok(())
                    }
                    (page_read, _) => page_read,
                }
            }
            // Takes its own samples.
            Self::Service(_) => Ok(()),
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
