//! Which servers processes wait for, and which clients wait for the processes. A process waits on a connection that it
//! opened if it sent the last bytes and has no response yet. A client waits if it sent bytes that the process has not
//! read.
//!
//! Needs access to this end only: it uses the kernel's state of each connection. Unix sockets (`unix:`) have no such
//! state.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::SocketAddr;

use model::units::SECOND;
use model::{Nanos, Sample};
use net::clock;

use crate::host::{ask, diagnostics, why};
use crate::proc::sockets::{self, Connection};

/// The most open files, of all processes together, that are searched for sockets: some 2 us each.
const MOST_FILES: usize = 20_000;
/// With more open files than this they are searched only if a socket is not known yet: some 4 ms.
const MANY_FILES: usize = 2_000;
/// Searches take at most one part in this many of a processor, since the load may need it: they are that far apart, but at most
/// [`LONGEST_REST`].
const ONE_PART_IN: Nanos = 250;
const LONGEST_REST: Nanos = 4 * SECOND;
/// The most datagrams of an answer that are read, some 80 connections each.
const MOST_ANSWERS: usize = 256;
/// The most peers that are reported separately.
const MOST_ENDS: usize = 16;

/// Finds out which peers the processes of one source wait for.
#[derive(Debug, Default)]
pub struct Awaited {
    /// Peers that were seen: every later sample reports them.
    seen: BTreeSet<SocketAddr>,
    /// Which sockets belong to the processes.
    owners: Owners,
    /// No new search before this instant.
    rests_until: Nanos,
}

impl Awaited {
    /// Puts into `sample`:
    /// - `process.connections_to{END}` and `process.awaits{END}`: connections that these processes opened, and those of
    ///   them on which they wait; `process.awaits_first{END}`: of these, those on which nothing has come yet. If there are
    ///   too many peers, only those waited for most are reported.
    /// - `process.unread`: connections that clients opened to them, with bytes that they have not read;
    /// - `process.other_sockets`: all other sockets that do not listen, such as those of `unix:`.
    ///
    /// Some samples get none of these, so that the searches do not take too much of a processor.
    pub fn read(&mut self, pids: impl Iterator<Item = u32>, sample: &mut Sample) {
        if clock::now() < self.rests_until {
            return;
        }
        let before_ns = clock::thread_cpu();
        self.read_now(pids, sample);
        let spent_ns = clock::thread_cpu().saturating_sub(before_ns);
        let rest_ns = spent_ns.saturating_mul(ONE_PART_IN).min(LONGEST_REST);
        self.rests_until = clock::now().saturating_add(rest_ns);
    }

    /// As [`Self::read`], without a rest.
    fn read_now(&mut self, pids: impl Iterator<Item = u32>, sample: &mut Sample) {
        let pids: Vec<u32> = pids.collect();
        let found = connections().and_then(|(listeners, connections)| {
            let inodes = connections.iter().map(|connection| connection.inode);
            let sockets = inodes.chain(listeners.inodes.iter().copied()).collect();
            self.owners.sort(sockets, &pids, sockets_of)?;
            Ok((listeners, connections))
        });
        let (listeners, connections) = match found {
            Ok(found) => found,
            Err(error) => return sample.miss("process.awaits", why("connections", &error)),
        };
        let (mut ends, mut unread) = (BTreeMap::<SocketAddr, To>::new(), 0_u32);
        for connection in connections {
            // A connection at a port with a listener was opened by the peer.
            let was_opened = !listeners.ports.contains(&connection.port);
            match self.owners.own.contains(&connection.inode) {
                true if was_opened => ends.entry(connection.remote).or_default().add(&connection),
                true => unread += u32::from(connection.unread > 0),
                false => {}
            }
        }
        self.choose(&ends);
        for end in &self.seen {
            let to = ends.get(end).copied().unwrap_or_default();
            sample.gauge(format!("process.connections_to{{{end}}}"), to.open.into());
            sample.gauge(format!("process.awaits{{{end}}}"), to.waiting.into());
            sample.gauge(format!("process.awaits_first{{{end}}}"), to.first.into());
        }
        sample.gauge("process.unread", unread.into());
        sample.gauge("process.other_sockets", self.owners.elsewhere as f64);
    }

    /// Adds ends that were not seen before to those that are reported, the most waited for first.
    fn choose(&mut self, ends: &BTreeMap<SocketAddr, To>) {
        let mut new: Vec<_> = ends.iter().filter(|(end, _)| !self.seen.contains(end)).collect();
        new.sort_by_key(|(_, to)| Reverse((to.waiting, to.open)));
        let room = MOST_ENDS.saturating_sub(self.seen.len());
        self.seen.extend(new.into_iter().take(room).map(|(end, _)| *end));
    }
}

/// The state of the connections between processes and one peer.
#[derive(Debug, Clone, Copy, Default)]
struct To {
    open: u32,
    /// On which they wait.
    waiting: u32,
    /// Those of them on which the peer has not sent anything yet.
    first: u32,
}

impl To {
    fn add(&mut self, connection: &Connection) {
        self.open += 1;
        self.waiting += u32::from(connection.waits);
        self.first += u32::from(connection.waits && !connection.answered);
    }
}

/// Which of the connections and listeners of this machine are of the processes. The kernel tells them by the number of their
/// socket; whose it is only the files of each process tell. Where these are many they are looked through for sockets not
/// known yet only; how often that may be is for [`Awaited`] to say, by the time that it took.
#[derive(Debug, Default)]
struct Owners {
    own: BTreeSet<u32>,
    others: BTreeSet<u32>,
    /// Further sockets of the processes, when their files were last looked through.
    elsewhere: usize,
    /// Files that were looked through last.
    looked_at: usize,
    /// The processes.
    pids: Vec<u32>,
}

impl Owners {
    /// Sorts these sockets into those of the processes and those of others; `sockets_of` are all that processes hold, and how
    /// many files were looked through for it.
    fn sort(
        &mut self,
        sockets: BTreeSet<u32>,
        pids: &[u32],
        sockets_of: impl FnOnce(&[u32]) -> io::Result<(BTreeSet<u32>, usize)>,
    ) -> io::Result<()> {
        if self.pids != pids {
            // A socket that no process held may have been passed to a new one.
            self.others.clear();
            pids.clone_into(&mut self.pids);
        }
        self.own.retain(|socket| sockets.contains(socket));
        self.others.retain(|socket| sockets.contains(socket));
        let is_known = |socket: &u32| self.own.contains(socket) || self.others.contains(socket);
        if self.looked_at <= MANY_FILES || !sockets.iter().all(is_known) {
            let (held, looked_at) = sockets_of(pids)?;
            (self.own, self.others) = sockets.into_iter().partition(|socket| held.contains(socket));
            self.elsewhere = held.len() - self.own.len();
            self.looked_at = looked_at;
        }
        match self.looked_at > MOST_FILES {
            true => Err(io::Error::other("the processes have more than 20,000 open files")),
            false => Ok(()),
        }
    }
}

/// The numbers of the sockets that processes hold, and how many files were looked through; no more of these than one above
/// [`MOST_FILES`].
fn sockets_of(pids: &[u32]) -> io::Result<(BTreeSet<u32>, usize)> {
    let (mut found, mut looked_at) = (BTreeSet::new(), 0_usize);
    for pid in pids {
        let folder = match fs::read_dir(format!("/proc/{pid}/fd")) {
            // It ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            folder => folder?,
        };
        for file in folder.flatten() {
            looked_at += 1;
            if looked_at > MOST_FILES {
                return Ok((found, looked_at));
            }
            let Ok(target) = fs::read_link(file.path()) else { continue };
            let socket = target.to_str().and_then(|text| text.strip_prefix("socket:["));
            found.extend(socket.and_then(|text| text.strip_suffix(']')?.parse::<u32>().ok()));
        }
    }
    Ok((found, looked_at))
}

/// An address with a listener.
#[derive(Debug, Default)]
struct Listeners {
    ports: BTreeSet<u16>,
    inodes: BTreeSet<u32>,
}

/// Who listens, and connections, of the network that this process sees.
fn connections() -> io::Result<(Listeners, Vec<Connection>)> {
    let (mut listeners, mut found) = (Listeners::default(), Vec::new());
    let socket = diagnostics().ok_or(io::ErrorKind::Unsupported)?;
    let take = |message: &[u8]| {
        if let Some(listener) = sockets::listener(message) {
            listeners.ports.insert(listener.address.port());
            listeners.inodes.insert(listener.inode);
        }
        found.extend(sockets::connection(message));
    };
    ask(&socket, &sockets::all(), MOST_ANSWERS, take).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            io::Error::other("this machine has too many to look through each (some 20,000)")
        }
        _ => error,
    })?;
    Ok((listeners, found))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use testkit::process::Program;

    use super::*;

    #[test]
    fn what_a_client_sent_and_nobody_read_is_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let end = listener.local_addr().expect("an address");
        let mut client = TcpStream::connect(end).expect("it listens");
        let (_server, _) = listener.accept().expect("a connection");
        client.write_all(b"?").expect("it is open");
        let (mut awaited, mut sample) = (Awaited::default(), Sample::new(0));
        awaited.read(std::iter::once(std::process::id()), &mut sample);
        if let Some(why) = sample.missing.get("process.awaits") {
            println!("not read here: {why}");
            return;
        }
        // Other tests of this process may have more of them.
        assert!(sample.gauges["process.unread"] >= 1.0, "{sample:?}");
        let first = sample.gauges[&format!("process.awaits_first{{{end}}}")];
        assert!((first - 1.0).abs() < 0.1, "the client was never answered: {sample:?}");
    }

    #[test]
    fn connections_of_both_families_are_reported() {
        let ends: Vec<TcpListener> = ["127.0.0.1:0", "[::1]:0"]
            .into_iter()
            .filter_map(|address| TcpListener::bind(address).ok())
            .collect();
        let ends: Vec<_> =
            ends.iter().map(|end| (end, end.local_addr().expect("an address"))).collect();
        let _clients: Vec<_> =
            ends.iter().map(|(_, at)| TcpStream::connect(at).expect("it listens")).collect();
        let (_, found) = match connections() {
            Ok(found) => found,
            Err(error) => return println!("not read here: {error}"),
        };
        for (_, at) in ends {
            assert!(found.iter().any(|connection| connection.remote == at), "{at}: {found:?}");
        }
    }

    #[test]
    fn looks_that_take_long_are_far_apart() {
        let own = || std::iter::once(std::process::id());
        let (mut awaited, mut first, mut second) =
            (Awaited::default(), Sample::new(0), Sample::new(0));
        let before_ns = clock::now();
        awaited.read(own(), &mut first);
        assert!(awaited.rests_until > before_ns);
        // However long this thread waits for a processor in between.
        awaited.rests_until = Nanos::MAX;
        awaited.read(own(), &mut second);
        let told = |sample: &Sample| {
            sample.gauges.contains_key("process.unread")
                || sample.missing.contains_key("process.awaits")
        };
        assert!(told(&first) && !told(&second), "{first:?} {second:?}");
        awaited.rests_until = 0;
        awaited.read(own(), &mut second);
        assert!(told(&second), "{second:?}");
    }

    #[test]
    fn who_asked_and_was_not_answered_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let end = listener.local_addr().expect("an address");
        let told = |awaited: &mut Awaited| {
            let mut sample = Sample::new(0);
            awaited.read_now(std::iter::once(std::process::id()), &mut sample);
            if let Some(why) = sample.missing.get("process.awaits") {
                println!("not read here: {why}");
                return None;
            }
            let gauge = |stem: &str| sample.gauges.get(&format!("{stem}{{{end}}}")).copied();
            Some((gauge("process.connections_to"), gauge("process.awaits")))
        };
        let mut awaited = Awaited::default();
        let mut client = TcpStream::connect(end).expect("it listens");
        let (mut server, _) = listener.accept().expect("a connection");
        let Some(idle) = told(&mut awaited) else { return };
        assert_eq!(idle, (Some(1.0), Some(0.0)), "nothing was asked");
        client.write_all(b"?").expect("it is open");
        assert_eq!(told(&mut awaited), Some((Some(1.0), Some(1.0))));
        // Ticks of the kernel take up to 10 ms.
        std::thread::sleep(std::time::Duration::from_millis(60));
        server.write_all(b"!").expect("it is open");
        client.read_exact(&mut [0]).expect("an answer");
        assert_eq!(told(&mut awaited), Some((Some(1.0), Some(0.0))), "it was answered");
        std::thread::sleep(std::time::Duration::from_millis(60));
        client.write_all(b"?").expect("it is open");
        assert_eq!(told(&mut awaited), Some((Some(1.0), Some(1.0))), "asked again");
        drop((client, server));
        assert_eq!(told(&mut awaited), Some((Some(0.0), Some(0.0))), "it was closed");
    }

    #[test]
    fn many_files_are_looked_through_for_new_sockets_only() {
        let mut owners = Owners::default();
        let mut searches = 0;
        let mut sorted = |owners: &mut Owners, told: &[u32], pids: &[u32], files: usize| {
            let held = |_: &[u32]| {
                searches += 1;
                Ok((BTreeSet::from([1, 3, 5]), files))
            };
            owners.sort(told.iter().copied().collect(), pids, held).expect("they are told");
            (owners.own.iter().copied().collect::<Vec<_>>(), searches)
        };
        assert_eq!(sorted(&mut owners, &[1, 2], &[7], 10), (vec![1], 1));
        assert_eq!(sorted(&mut owners, &[1, 2], &[7], 10), (vec![1], 2), "few files");
        assert_eq!(sorted(&mut owners, &[1, 2, 3], &[7], 4_000), (vec![1, 3], 3));
        assert_eq!(sorted(&mut owners, &[1, 2, 3], &[7], 4_000), (vec![1, 3], 3), "all known");
        assert_eq!(sorted(&mut owners, &[1, 2, 3, 5], &[7], 4_000), (vec![1, 3, 5], 4));
        assert_eq!(
            sorted(&mut owners, &[1, 2, 3, 5], &[7, 8], 4_000),
            (vec![1, 3, 5], 5),
            "who is new"
        );
        assert_eq!(sorted(&mut owners, &[1, 2, 3, 5], &[7, 8], 9), (vec![1, 3, 5], 5), "all known");
        assert_eq!(sorted(&mut owners, &[1, 2, 3, 5, 6], &[7, 8], 9), (vec![1, 3, 5], 6));
        assert_eq!(
            sorted(&mut owners, &[1, 2, 3, 5, 6], &[7, 8], 9),
            (vec![1, 3, 5], 7),
            "few files"
        );
        let too_many = |_: &[u32]| Ok((BTreeSet::new(), MOST_FILES + 1));
        for _ in 0..3 {
            assert!(owners.sort([9].into(), &[7], too_many).is_err(), "also where all are known");
        }
    }

    #[test]
    fn the_ends_that_are_waited_for_most_are_reported() {
        let end = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let mut awaited = Awaited { seen: [end(1)].into(), ..Awaited::default() };
        let ends = (2..40)
            .map(|port| (end(port), To { open: 1, waiting: port.into(), first: 0 }))
            .collect();
        awaited.choose(&ends);
        let told: BTreeSet<_> = std::iter::once(1).chain(25..40).map(end).collect();
        assert_eq!(awaited.seen, told);
    }

    #[test]
    fn more_than_two_thousand_open_files_are_looked_through() {
        // Of a process of its own: other tests look through the files of this one.
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        if most.is_some_and(|most| most < 8_000) {
            return;
        }
        let script = "import resource, socket, sys\n\
                      _, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n\
                      resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n\
                      listener = socket.create_server(('127.0.0.1', 0))\n\
                      client = socket.create_connection(listener.getsockname())\n\
                      files = [open('/dev/null') for _ in range(2100)]\n\
                      print(flush=True)\n\
                      sys.stdin.readline()";
        let mut program = Program::python(script);
        program.read_line();
        let (sockets, looked_at) = sockets_of(&[program.pid()]).expect("a child can be read");
        assert!(looked_at > 2_100 && sockets.len() >= 2, "{looked_at}");
    }
}
