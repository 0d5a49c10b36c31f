//! One machine: its figures in `/proc` and `/sys`, read into a sample. What cannot be read is named in the sample with
//! the reason, and the rest is read.

use std::io;
use std::os::unix::fs::MetadataExt as _;

use model::Sample;
use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};

use crate::cgroup::{Cgroups, QuotaCost};
use crate::kernel_log::KernelLog;
use crate::proc::sockets;
use crate::proc::{memory, network, processors};
use crate::text::{KeptOpen, number, read};

/// `AF_NETLINK` and `NETLINK_SOCK_DIAG` of `linux/netlink.h`.
const NETLINK: i32 = 16;
const SOCK_DIAG: i32 = 4;
/// Datagrams of an answer about listeners: as many as a thousand of them take.
const MOST_ANSWERS: usize = 16;
/// Listeners reported at most, those with the longest queues.
const REPORTED_LISTENERS: usize = 16;
/// What a file is about, its path or its name, and its parser.
type ParsedFile = (&'static str, &'static str, fn(&str, &mut Sample));

/// Files of the network, below `/proc/net` or `/proc/PID/net`: the same for all processes of a network namespace.
const NETWORK: [ParsedFile; 6] = [
    ("tcp", "snmp", network::snmp),
    ("tcp", "netstat", network::netstat),
    ("tcp", "sockstat", |text, sample| {
        network::sockstat(text, rustix::param::page_size() as u64, sample);
    }),
    ("net", "dev", network::dev),
    ("softnet", "softnet_stat", network::softnet),
    ("conntrack", "stat/nf_conntrack", network::conntrack),
];

/// Why some figures of the network are missing for processes in a network namespace of their own.
pub(crate) const ELSEWHERE: &str = "the processes have a network of their own, as in a container: watch from inside of it \
    (exec:'docker exec NAME plimsoll watch --stdio', nsenter -t PID -n)";

/// Reads the machine that this process runs on.
#[derive(Debug)]
pub struct Host {
    /// Of this process, where they are those of what is watched.
    held: Option<QuotaCost>,
    log: KernelLog,
    files: KeptOpen,
    /// Of IPv4 and of IPv6; none where the kernel does not answer.
    listeners: [Option<Socket>; 2],
}

impl Host {
    /// This machine; `own_groups` says whether the quotas of this process are those of what is watched.
    pub fn new(own_groups: bool) -> Self {
        let held = own_groups.then(|| {
            let mut held = QuotaCost::default();
            held.follow(Cgroups::of_this_process());
            held
        });
        let listeners = [diagnostics(), diagnostics()];
        Self { held, log: KernelLog::default(), files: KeptOpen::default(), listeners }
    }

    /// Puts everything there is into `sample`. The network is that of the process `elsewhere`, where what is watched has
    /// one that is not this process's.
    pub fn read(&mut self, elsewhere: Option<u32>, sample: &mut Sample) {
        let files: [ParsedFile; 5] = [
            ("cpu", "/proc/stat", processors::stat),
            ("load", "/proc/loadavg", processors::loadavg),
            ("memory", "/proc/meminfo", memory::meminfo),
            ("swap", "/proc/vmstat", memory::vmstat),
            ("disk", "/proc/diskstats", memory::diskstats),
        ];
        let of = elsewhere.map_or_else(|| "/proc/net".to_owned(), |pid| format!("/proc/{pid}/net"));
        let files = files.map(|(what, path, parse)| (what, path.to_owned(), parse)).into_iter();
        let network = NETWORK.map(|(what, file, parse)| (what, format!("{of}/{file}"), parse));
        // A file of another network that stayed open would keep that network.
        let read = |kept: &mut KeptOpen, path: &str| match elsewhere {
            Some(_) => read(path),
            None => kept.read(path),
        };
        for (what, path, parse) in files.chain(network) {
            match read(&mut self.files, &path) {
                Ok(text) => parse(&text, sample),
                Err(error) => sample.miss(what, why(&path, &error)),
            }
        }
        for resource in ["cpu", "io", "memory"] {
            let path = format!("/proc/pressure/{resource}");
            match read(&mut self.files, &path) {
                Ok(text) => processors::pressure(resource, &text, sample),
                Err(error) => sample.miss("pressure", why(&path, &error)),
            }
        }
        self.log.read(sample);
        if let Some(held) = &mut self.held {
            quota(held, sample);
        }
        if elsewhere.is_some() {
            sample.gauge("net.apart", 1.0);
            // What the kernel answers about these is of this process's network.
            return sample.miss("listen", ELSEWHERE);
        }
        limits(sample);
        self.read_listeners(sample);
    }

    fn read_listeners(&mut self, sample: &mut Sample) {
        let mut found = Vec::new();
        for (socket, ipv6) in self.listeners.iter_mut().zip([false, true]) {
            let take = |message: &[u8]| {
                if found.len() < sockets::MOST_LISTENERS {
                    found.extend(sockets::listener(message));
                }
            };
            let asked = match socket {
                Some(socket) => ask(socket, &sockets::listeners(ipv6), MOST_ANSWERS, take),
                None => Err(io::ErrorKind::Unsupported.into()),
            };
            if let Err(error) = asked {
                sample.miss("listen", why("sock_diag", &error));
                // What is left of this answer would be taken for the next one's.
                *socket = diagnostics();
            }
        }
        found.sort_by_key(|listener| std::cmp::Reverse(listener.queue));
        for listener in found.iter().take(REPORTED_LISTENERS) {
            sample.gauge(format!("listen.queue{{{}}}", listener.address), listener.queue.into());
            sample
                .gauge(format!("listen.backlog{{{}}}", listener.address), listener.backlog.into());
        }
    }
}

/// Limits of the kernel that connections meet, and speeds of interfaces.
fn limits(sample: &mut Sample) {
    for (name, path) in [
        ("conntrack.count", "/proc/sys/net/netfilter/nf_conntrack_count"),
        ("conntrack.max", "/proc/sys/net/netfilter/nf_conntrack_max"),
        ("tcp.time_wait_max", "/proc/sys/net/ipv4/tcp_max_tw_buckets"),
    ] {
        if let Some(value) = number::<u64>(path) {
            sample.gauge(name, value as f64);
        }
    }
    let range = read("/proc/sys/net/ipv4/ip_local_port_range").ok();
    if let Some(ports) = range.as_deref().and_then(network::local_ports) {
        sample.gauge("tcp.local_ports", ports.into());
    }
    let interfaces: Vec<String> = sample
        .counters
        .keys()
        .filter_map(|name| {
            Some(name.strip_prefix("net.sent_bytes{")?.strip_suffix('}')?.to_owned())
        })
        .collect();
    for name in interfaces {
        // In Mbit/s; -1 or an error where the interface has no speed.
        let speed = number::<i64>(format!("/sys/class/net/{name}/speed"));
        if let Some(megabits) = speed.filter(|&speed| speed > 0) {
            sample.gauge(format!("net.speed_bytes_per_s{{{name}}}"), megabits as f64 * 125_000.0);
        }
    }
}

/// What the quota of some cgroups costs.
pub(crate) fn quota(held: &mut QuotaCost, sample: &mut Sample) {
    if held.groups().is_empty() {
        return sample.miss("cgroup", "no cpu.stat of a cgroup tells of a quota");
    }
    let throttled = held.throttled();
    sample.count("cgroup.throttled_ns", throttled.time_ns);
    sample.count("cgroup.throttled_periods", throttled.periods);
    sample.count("cgroup.periods", throttled.all_periods);
    if let Some(cores) = held.groups().quota() {
        sample.gauge("cgroup.quota_cores", cores);
    }
}

/// Why something could not be read, and what would help where a permission is missing.
pub(crate) fn why(what: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "{what}: no permission; run the watching `plimsoll` as the same user, as root, or with the \
             capability CAP_SYS_PTRACE"
        ),
        io::ErrorKind::NotFound => format!("{what}: does not exist here"),
        _ => format!("{what}: {error}"),
    }
}

/// Of these processes the first that has a network of its own, which is not this process's. A network is known by the
/// number of a file that the kernel makes for each: `/proc/PID/ns/net` may not be read of other users' processes.
pub(crate) fn elsewhere(pids: impl Iterator<Item = u32>) -> Option<u32> {
    let network = |of: &str| {
        let file = std::fs::metadata(format!("/proc/{of}/net/snmp")).ok()?;
        Some((file.dev(), file.ino()))
    };
    let own = network("self")?;
    let mut pids = pids;
    pids.find(|pid| network(&pid.to_string()).is_some_and(|network| network != own))
}

/// A socket to ask the kernel about sockets.
pub(crate) fn diagnostics() -> Option<Socket> {
    let socket =
        Socket::new(Domain::from(NETLINK), Type::RAW, Some(Protocol::from(SOCK_DIAG))).ok()?;
    socket.set_read_timeout(Some(std::time::Duration::from_millis(200))).ok()?;
    Some(socket)
}

/// As [`why`], of a file whose own permissions decide.
pub(crate) fn why_no_file(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "{path}: no permission to read it; run plimsoll as its owner or as a member of its group (often adm or \
             www-data), give yourself the right (setfacl -m u:USER:r {path}), or add the capability CAP_DAC_READ_SEARCH"
        ),
        _ => why(path, error),
    }
}

/// Asks the kernel for sockets, and gives each of its answer to `take`; an answer of more than `most` datagrams is not
/// read to its end, and the socket cannot be asked again.
pub(crate) fn ask(
    socket: &Socket,
    request: &[u8],
    most: usize,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    use std::io::Read;
    let mut socket = socket;
    socket.send(request)?;
    let mut buffer = vec![0; 32 * 1024];
    for _ in 0..most {
        let length = socket.read(&mut buffer)?;
        match sockets::answer(&buffer[..length], &mut take) {
            sockets::Answer::More => {}
            sockets::Answer::Done => return Ok(()),
            sockets::Answer::Refused(code) => {
                return Err(io::Error::from(Errno::from_raw_os_error(code)));
            }
        }
    }
    Err(io::ErrorKind::FileTooLarge.into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_network_of_its_own_is_told_apart() {
        assert_eq!(elsewhere([std::process::id()].into_iter()), None);
        let child = std::process::Command::new("unshare").args(["-n", "sleep", "600"]).spawn();
        let Ok(mut child) = child else { return };
        let mut there = None;
        for _ in 0..3_000 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            there = elsewhere([std::process::id(), child.id()].into_iter());
            if there.is_some() || child.try_wait().expect("a child").is_some() {
                break;
            }
        }
        let mut sample = Sample::new(0);
        Host::new(false).read(there, &mut sample);
        let ended = child.try_wait().expect("a child").is_some();
        let _ = child.kill();
        let _ = child.wait();
        if ended {
            // It may not have one here.
            return;
        }
        assert_eq!(there, Some(child.id()));
        assert_eq!(sample.gauges["net.apart"], 1.0);
        assert!(sample.missing["listen"].contains("network of their own"), "{sample:?}");
        assert_eq!(sample.gauges["tcp.established"], 0.0, "nobody is there");
        assert!(!sample.gauges.contains_key("tcp.local_ports"), "{sample:?}");
    }

    #[test]
    fn the_network_of_another_users_process_is_told_apart() {
        let child = std::process::Command::new("unshare").args(["-n", "sleep", "600"]).spawn();
        let Ok(mut child) = child else { return };
        let (own, other) = (std::process::id(), child.id());
        let apart = |pid: u32| elsewhere(std::iter::once(pid));
        let mut there = false;
        for _ in 0..3_000 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            there = apart(other).is_some();
            if there || child.try_wait().expect("a child").is_some() {
                break;
            }
        }
        // This thread alone becomes another user's; nobody else may read what is root's.
        let seen = std::thread::spawn(move || {
            let nobody = rustix::process::Uid::from_raw(65_534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).ok()?;
            let refused = std::fs::read_link(format!("/proc/{other}/ns/net")).is_err();
            refused.then(|| (apart(own), apart(other)))
        });
        let seen = seen.join().expect("a thread");
        let ended = child.try_wait().expect("a child").is_some();
        let _ = child.kill();
        let _ = child.wait();
        // Neither may be allowed here.
        if let Some(seen) = seen.filter(|_| !ended) {
            assert!(there);
            assert_eq!(seen, (None, Some(other)));
        }
    }

    #[test]
    fn this_machine_is_read() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut sample = Sample::new(0);
        Host::new(true).read(None, &mut sample);
        for name in ["cpu.user_ns", "tcp.active_opens", "tcp.listen_drops"] {
            assert!(sample.counters.contains_key(name), "{name}: {:?}", sample.missing);
        }
        for name in ["cpu.cores", "memory.available_bytes", "tcp.time_wait", "tcp.time_wait_max"] {
            assert!(sample.gauges.contains_key(name), "{name}: {:?}", sample.missing);
        }
        if !sample.missing.contains_key("listen") {
            let own = format!("listen.backlog{{{}}}", listener.local_addr().expect("an address"));
            let told = sample.gauges.keys().filter(|name| name.starts_with("listen.backlog"));
            assert!(
                told.count() >= REPORTED_LISTENERS || sample.gauges.contains_key(&own),
                "{sample:?}"
            );
        }
    }
}
