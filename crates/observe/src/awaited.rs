//! Whom processes wait for, and who waits for them: connections that they opened to others, and on how many of them they
//! asked last and have not been answered; connections of clients that sent something which nobody has read.
//!
//! Works without the other end: by what the kernel keeps of each connection. Local sockets (`unix:`) tell no such thing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::SocketAddr;

use model::Sample;

use crate::host::{ask, diagnostics, why};
use crate::proc::sockets::{self, Asked, Connection};

/// Open files of all processes together that are looked through for sockets: some 2 us each.
const MOST_FILES: usize = 2_000;
/// Datagrams of an answer that are read, some 80 connections each.
const MOST_ANSWERS: usize = 64;
/// Other ends that are told apart.
const MOST_ENDS: usize = 16;

/// What the connections of processes to one other end are doing.
#[derive(Debug, Clone, Copy, Default)]
struct To {
    open: u32,
    /// On which they wait.
    waiting: u32,
    /// Of these, on which the other end has not sent anything yet.
    first: u32,
}

/// Reads whom the processes of one source wait for.
#[derive(Debug, Default)]
pub struct Awaited {
    /// Ends that were seen: from then on each sample tells of them.
    seen: BTreeSet<SocketAddr>,
}

impl Awaited {
    /// Puts into `sample`:
    /// - `process.connections_to{END}` and `process.awaits{END}`: connections that these processes opened, and those of
    ///   them on which they wait; `process.awaits_first{END}`: of these, those on which nothing has come yet;
    /// - `process.unread`: connections that others opened to them, with something in it that they have not read;
    /// - `process.other_sockets`: sockets that are none of these and listen nowhere, as those of `unix:`.
    pub fn read(&mut self, pids: impl Iterator<Item = u32>, sample: &mut Sample) {
        let found = sockets_of(pids).and_then(|own| Ok((own, connections()?)));
        let (own, (listeners, connections)) = match found {
            Ok(found) => found,
            Err(error) => return sample.miss("process.awaits", why("connections", &error)),
        };
        let mut ends: BTreeMap<SocketAddr, To> =
            self.seen.iter().map(|end| (*end, To::default())).collect();
        let (mut unread, mut of_tcp) = (0_u32, 0_usize);
        for connection in connections.iter().filter(|connection| own.contains(&connection.inode)) {
            of_tcp += 1;
            // A connection at a port where somebody listens was opened by the other end.
            if listeners.ports.contains(&connection.port) {
                unread += u32::from(connection.unread > 0);
            } else if ends.len() < MOST_ENDS || ends.contains_key(&connection.remote) {
                let to = ends.entry(connection.remote).or_default();
                to.open += 1;
                to.waiting += u32::from(connection.waits);
                to.first += u32::from(connection.waits && !connection.answered);
            }
        }
        for (end, to) in &ends {
            sample.gauge(format!("process.connections_to{{{end}}}"), to.open.into());
            sample.gauge(format!("process.awaits{{{end}}}"), to.waiting.into());
            sample.gauge(format!("process.awaits_first{{{end}}}"), to.first.into());
        }
        self.seen.extend(ends.into_keys());
        let listening = listeners.inodes.iter().filter(|inode| own.contains(inode)).count();
        sample.gauge("process.unread", unread.into());
        sample.gauge("process.other_sockets", own.len().saturating_sub(of_tcp + listening) as f64);
    }
}

/// The numbers of the sockets that processes hold.
fn sockets_of(pids: impl Iterator<Item = u32>) -> io::Result<BTreeSet<u32>> {
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
                return Err(io::Error::other("the processes have more than 2,000 open files"));
            }
            let Ok(target) = fs::read_link(file.path()) else { continue };
            let socket = target.to_str().and_then(|text| text.strip_prefix("socket:["));
            found.extend(socket.and_then(|text| text.strip_suffix(']')?.parse::<u32>().ok()));
        }
    }
    Ok(found)
}

/// Where somebody listens.
#[derive(Debug, Default)]
struct Listeners {
    ports: BTreeSet<u16>,
    inodes: BTreeSet<u32>,
}

/// Who listens, and connections, of the network that this process sees.
fn connections() -> io::Result<(Listeners, Vec<Connection>)> {
    let (mut listeners, mut found) = (Listeners::default(), Vec::new());
    for ipv6 in [false, true] {
        let socket = diagnostics().ok_or(io::ErrorKind::Unsupported)?;
        let take = |message: &[u8]| {
            if let Some(listener) = sockets::listener(message) {
                listeners.ports.insert(listener.address.port());
                listeners.inodes.insert(listener.inode);
            }
            found.extend(sockets::connection(message));
        };
        ask(&socket, &sockets::request(ipv6, Asked::All), MOST_ANSWERS, take).map_err(|error| {
            match error.kind() {
                io::ErrorKind::FileTooLarge => {
                    io::Error::other("this machine has too many to look through each (some 5,000)")
                }
                _ => error,
            }
        })?;
    }
    Ok((listeners, found))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_a_client_sent_and_nobody_read_is_told() {
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
    fn who_asked_and_was_not_answered_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let end = listener.local_addr().expect("an address");
        let told = |awaited: &mut Awaited| {
            let mut sample = Sample::new(0);
            awaited.read(std::iter::once(std::process::id()), &mut sample);
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
}
