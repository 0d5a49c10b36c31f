//! The kernel's log of this machine, followed from now on: how many records report a full table or a killed process. The
//! kernel itself prints each at most a few times in five seconds, so counts are lower bounds. There is one log for the
//! whole machine, with all its network namespaces.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use model::Sample;
use rustix::fs::{Mode, OFlags};

use crate::proc::kmsg;

const PATH: &str = "/dev/kmsg";
/// Records read for one sample.
const MOST_RECORDS: u32 = 2_000;

/// Follows the log.
#[derive(Debug)]
pub struct KernelLog {
    file: Result<File, String>,
    counts: BTreeMap<&'static str, u64>,
}

impl Default for KernelLog {
    fn default() -> Self {
        let counts = kmsg::ALL.into_iter().map(|kind| (kind, 0)).collect();
        Self { file: open().map_err(|error| why(&error)), counts }
    }
}

impl KernelLog {
    /// Puts the counts since the beginning into `sample`.
    pub fn read(&mut self, sample: &mut Sample) {
        match &mut self.file {
            Ok(file) => {
                if let Err(error) = count(file, &mut self.counts) {
                    self.file = Err(why(&error));
                }
            }
            Err(error) => return sample.miss("kernel.log", error.clone()),
        }
        for (kind, n) in &self.counts {
            sample.count(format!("kernel.log{{{kind}}}"), *n);
        }
    }
}

fn open() -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(PATH, flags, Mode::empty())?);
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Counts what has come; each read gives one record.
fn count(file: &mut File, counts: &mut BTreeMap<&'static str, u64>) -> io::Result<()> {
    let mut record = [0; 8 * 1024];
    for _ in 0..MOST_RECORDS {
        match file.read(&mut record) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                if let Some(kind) = kmsg::kind(&String::from_utf8_lossy(&record[..length])) {
                    *counts.entry(kind).or_default() += 1;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            // Overwritten before it was read: the next one is there.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "{PATH}: no permission; run the watching `plimsoll` as root, with the capability CAP_SYSLOG, or after \
             sysctl -w kernel.dmesg_restrict=0"
        ),
        io::ErrorKind::NotFound => format!("{PATH}: does not exist here, as in most containers"),
        _ => format!("{PATH}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_this_machine_is_followed_or_said_to_be_closed() {
        let (mut log, mut sample) = (KernelLog::default(), Sample::new(0));
        log.read(&mut sample);
        let told = sample.counters.contains_key("kernel.log{conntrack table full}");
        assert_ne!(told, sample.missing.contains_key("kernel.log"), "{sample:?}");
    }

    #[test]
    fn a_closed_log_says_what_would_help() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(why(&error).contains("CAP_SYSLOG"));
    }
}
