//! The server's processes, where it listens on this machine: found by the listening socket's inode in
//! `/proc/net/tcp` or `/proc/net/unix`, then by who holds it. Processes of other users may not show what they hold; then
//! the server is known to be here, and what it spends is not.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use model::Nanos;

use crate::proc::processes;
use crate::text::number;

/// A socket that listens, in `/proc/net/tcp`.
const LISTEN: &str = "0A";
/// A socket that accepts connections, in `/proc/net/unix`.
const LISTEN_UNIX: &str = "00010000";
/// Open files that are looked at most to find who listens, of all processes and of one: once through processes,
/// and if nobody is found, once through threads, most of which have the table of their process, which does not
/// show without looking. A look was measured at 9 to 15 us, so that a process takes 60 ms at most and either
/// time half a second. Tables are read from the lowest number on, and who listens does so before
/// it has thousands of connections.
const MOST_LOOKS: usize = 32_768;
const MOST_LOOKS_A_PROCESS: usize = 4_096;

/// The processes that listen at the target's addresses, as far as they are on this machine.
#[derive(Debug, Default)]
pub struct Server {
    /// Whether it listens on this machine.
    here: bool,
    /// Its processes that may run on the generator's processors.
    beside: Vec<u32>,
    /// Its processes that may not.
    apart: Vec<u32>,
    /// What those beside the generator had spent when they were looked at last.
    spent: BTreeMap<u32, Nanos>,
}

impl Server {
    /// Looks for who listens at these addresses (`127.0.0.1:8080`, `unix:/run/api.sock`).
    pub fn find(addresses: &[String], cpus: &[usize]) -> Self {
        let local: Vec<SocketAddr> = addresses
            .iter()
            .filter_map(|text| text.parse().ok())
            .filter(|address: &SocketAddr| is_ours(address.ip()))
            .map(|address| SocketAddr::new(reached(address.ip()), address.port()))
            .collect();
        // Sockets of the other family take these connections only where none of the addresses' own does. Reading a
        // table to its end takes the kernel some 4 ms, however few sockets there are.
        let mut tables = ["/proc/net/tcp", "/proc/net/tcp6"];
        if local.iter().all(SocketAddr::is_ipv6) {
            tables.reverse();
        }
        let mut inodes = tables
            .iter()
            .filter_map(|path| File::open(path).ok())
            .map(|table| listening(BufReader::new(table), &local))
            .find(|inodes| !inodes.is_empty())
            .unwrap_or_default();
        let sockets: Vec<&str> =
            addresses.iter().filter_map(|text| text.strip_prefix("unix:")).collect();
        if let Some(table) =
            (!sockets.is_empty()).then(|| File::open("/proc/net/unix").ok()).flatten()
        {
            inodes.extend(listening_unix(BufReader::new(table), &sockets));
        }
        let (beside, apart): (Vec<u32>, Vec<u32>) =
            holders(&inodes).into_iter().partition(|&pid| may_run_on(pid, cpus));
        Self { here: !inodes.is_empty(), beside, apart, spent: BTreeMap::new() }
    }

    /// Whether it may run on the generator's processors: known, or not known to be elsewhere.
    pub fn shares_cores(&self) -> bool {
        self.here && (!self.beside.is_empty() || self.apart.is_empty())
    }

    /// All its processes that were found.
    pub fn pids(&self) -> Vec<u32> {
        self.beside.iter().chain(&self.apart).copied().collect()
    }

    /// Processor time of its processes beside the generator, where they were found. It only grows: what one spent that
    /// ended since stays in it.
    pub fn cpu_ns(&mut self) -> Option<Nanos> {
        if !self.here || self.beside.is_empty() {
            return None;
        }
        for &pid in &self.beside {
            let spent = self.spent.entry(pid).or_default();
            *spent = cpu_ns(pid).map_or(*spent, |now_ns| now_ns.max(*spent));
        }
        Some(self.spent.values().sum())
    }

    /// Processor time of all its processes, where some were found.
    pub fn all_cpu_ns(&self) -> Option<Nanos> {
        let times: Vec<Nanos> = self.pids().into_iter().filter_map(cpu_ns).collect();
        (!times.is_empty()).then(|| times.iter().sum())
    }
}

/// Only an address of this machine can be bound to, unless the kernel lets any be (`ip_nonlocal_bind`, for addresses that
/// move between machines): then it must be one that this machine sends from to itself.
fn is_ours(address: IpAddr) -> bool {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    let any = number::<u8>(format!("/proc/sys/net/{family}/ip_nonlocal_bind")) == Some(1);
    address.is_loopback()
        || UdpSocket::bind((address, 0)).is_ok() && (!any || is_sent_from_here(address))
}

/// Where connections to an address go: those to none, as servers print it, go to this machine.
fn reached(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}

/// Whether what goes to an address is sent from it; nothing is sent to find out.
fn is_sent_from_here(address: IpAddr) -> bool {
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == address)
}

/// Inodes of the sockets that take connections to `wanted`: those that listen at the address, else at its port of all
/// addresses. Linux lists those that listen before all others, which may be tens of thousands, at two microseconds each:
/// the first of these ends the reading, if anything was found.
fn listening(table: impl BufRead, wanted: &[SocketAddr]) -> Vec<String> {
    let (mut at_address, mut at_all) = (Vec::new(), Vec::new());
    if wanted.is_empty() {
        return Vec::new();
    }
    for line in table.lines().map_while(Result::ok).skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, inode, ..] = fields[..] else { continue };
        if state != LISTEN {
            if at_address.is_empty() && at_all.is_empty() {
                continue;
            }
            break;
        }
        let Some(local) = address(local) else { continue };
        for wanted in wanted.iter().filter(|wanted| wanted.port() == local.port()) {
            if local.ip().to_canonical() == wanted.ip().to_canonical() {
                at_address.push((*wanted, inode.to_owned()));
            } else if local.ip().is_unspecified() && (local.is_ipv6() || wanted.is_ipv4()) {
                at_all.push((*wanted, inode.to_owned()));
            }
        }
    }
    // Of both the kernel takes the nearer one.
    at_all.retain(|(wanted, _)| !at_address.iter().any(|(nearer, _)| nearer == wanted));
    let mut inodes: Vec<String> =
        at_address.into_iter().chain(at_all).map(|(_, inode)| inode).collect();
    inodes.dedup();
    inodes
}

/// An address of `/proc/net/tcp` or `tcp6`: words of 32 bits in the machine's own order, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let word = u32::from_str_radix(ip.get(8 * at..8 * (at + 1))?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Inodes of the Unix sockets that listen at a path of `wanted`, as it was written when they were bound.
fn listening_unix(table: impl BufRead, wanted: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for line in table.lines().map_while(Result::ok).skip(1) {
        let mut fields = line.split_whitespace();
        // Address, references, protocol; then flags, type, state, inode and path.
        let (flags, inode) = (fields.nth(3), fields.nth(2));
        let path = inode.and_then(|inode| line.split_once(&format!(" {inode} ")));
        if flags == Some(LISTEN_UNIX)
            && path.is_some_and(|(_, path)| wanted.iter().any(|wanted| is_same(wanted, path)))
        {
            found.extend(inode.map(str::to_owned));
        }
    }
    found
}

/// Whether two paths name one file, where both can be followed from here: one that a server bound as a path from its own
/// folder cannot.
fn is_same(wanted: &str, bound: &str) -> bool {
    let file = |path: &str| Path::new(path).canonicalize().ok();
    wanted == bound || file(wanted).is_some_and(|path| file(bound) == Some(path))
}

/// Processes that hold one of the sockets.
fn holders(inodes: &[String]) -> Vec<u32> {
    if inodes.is_empty() {
        return Vec::new();
    }
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut pids: Vec<u32> = pids.filter(|&pid| pid != std::process::id()).collect();
    // What is being measured was mostly started after what runs on the machine anyway.
    pids.sort_unstable_by_key(|&pid| Reverse(pid));
    let found = among(&pids, |pid, looks| process_holds(pid, inodes, looks));
    // Only now: all threads of all processes are many.
    if found.is_empty() {
        among(&pids, |pid, looks| thread_holds(pid, inodes, looks))
    } else {
        found
    }
}

/// The processes of which `holds` is true, which is lent the looks that it may take and takes off those it took.
fn among(pids: &[u32], holds: impl Fn(u32, &mut usize) -> bool) -> Vec<u32> {
    let mut left = MOST_LOOKS;
    let within = |&pid: &u32| {
        let most = left.min(MOST_LOOKS_A_PROCESS);
        let mut unspent = most;
        let found = holds(pid, &mut unspent);
        left -= most - unspent;
        found
    };
    pids.iter().copied().filter(within).collect()
}

fn process_holds(pid: u32, inodes: &[String], looks: &mut usize) -> bool {
    table_holds(Path::new(&format!("/proc/{pid}")), inodes, looks)
}

/// Threads may have separate file tables, as the built-in API's have, which the process's table
/// does not show.
fn thread_holds(pid: u32, inodes: &[String], looks: &mut usize) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| *looks > 0 && table_holds(&thread.path(), inodes, looks))
}

/// Whether one of a table's files, of as many as `looks` are left, is one of the sockets.
fn table_holds(of: &Path, inodes: &[String], looks: &mut usize) -> bool {
    let Ok(files) = fs::read_dir(of.join("fd")) else { return false };
    for file in files.flatten() {
        let Some(left) = looks.checked_sub(1) else { return false };
        *looks = left;
        let link = fs::read_link(file.path()).unwrap_or_default();
        let socket = link.to_str().and_then(|link| link.strip_prefix("socket:["));
        let inode = socket.and_then(|inode| inode.strip_suffix(']'));
        if inode.is_some_and(|inode| inodes.iter().any(|wanted| wanted == inode)) {
            return true;
        }
    }
    false
}

/// Whether one of its threads may run on one of `cpus`; where that cannot be read, it may.
fn may_run_on(pid: u32, cpus: &[usize]) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().any(|thread| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.is_none_or(|list| cpus.iter().any(|&cpu| in_list(list, cpu)))
    })
}

/// Whether a list such as `0-3,8` holds a processor.
fn in_list(list: &str, cpu: usize) -> bool {
    list.trim().split(',').any(|part| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        matches!((low.parse::<usize>(), high.parse()), (Ok(low), Ok(high)) if (low..=high).contains(&cpu))
    })
}

/// Processor time of a process, its threads included, by `/proc/PID/stat`.
fn cpu_ns(pid: u32) -> Option<Nanos> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let stat = processes::stat(&stat)?;
    Some(stat.user_ns.saturating_add(stat.system_ns))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use testkit::process::Program;

    use super::*;

    #[test]
    fn listeners_are_found_by_port() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1 0\n\
            1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000 0 0 4712 1 0\n\
            2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4713 1 0\n";
        let wanted = ["127.0.0.1:8080".parse().expect("an address")];
        let mut unread = table.as_bytes();
        assert_eq!(listening(&mut unread, &wanted), ["4711"]);
        assert!(unread.ends_with(b" 4713 1 0\n"), "what follows those that listen is left alone");
        let other = ["127.0.0.1:22".parse().expect("an address")];
        assert_eq!(listening(table.as_bytes(), &other), ["4713"]);
        assert_eq!(listening(&b""[..], &wanted), Vec::<String>::new());
    }

    #[test]
    fn who_listens_at_another_address_of_the_port_is_another_server() {
        let line = |local: &str, inode: u32| {
            format!(
                "0: {local} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 {inode} 1 0\n"
            )
        };
        let head = "  sl  local_address\n".to_owned();
        let table = [
            head.clone(),
            line("0100007F:1F90", 1),
            line("0200007F:1F90", 2),
            line("00000000:1F90", 3),
            line("0200007F:1F90", 4),
        ];
        let of = |wanted: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(|at| at.parse().expect("an address")).collect();
            listening(table.concat().as_bytes(), &wanted)
        };
        assert_eq!(of(&["127.0.0.1:8080"]), ["1"]);
        assert_eq!(of(&["127.0.0.2:8080"]), ["2", "4"], "a port that is shared");
        assert_eq!(of(&["10.0.0.7:8080"]), ["3"]);
        assert_eq!(of(&["127.0.0.1:8080", "10.0.0.7:8080"]), ["1", "3"]);
        assert_eq!(of(&["127.0.0.1:8081"]), Vec::<String>::new());
        let sixth = [
            head,
            line("00000000000000000000000000000000:1F90", 5),
            line("00000000000000000000000001000000:1F90", 6),
            line("0000000000000000FFFF00000100007F:1F90", 7),
        ];
        let of = |wanted: &str| {
            listening(sixth.concat().as_bytes(), &[wanted.parse().expect("an address")])
        };
        assert_eq!((of("[::1]:8080"), of("127.0.0.1:8080")), (vec!["6".into()], vec!["7".into()]));
        assert_eq!(of("10.0.0.7:8080"), ["5"], "of both families");
    }

    #[test]
    fn unix_sockets_are_found_by_path() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            00000000: 00000002 00000000 00010000 0001 01  4711 /run/a b.sock\n\
            00000000: 00000003 00000000 00000000 0001 03 4712 /run/a b.sock\n\
            00000000: 00000003 00000000 00000000 0001 03 4713\n\
            00000000: 00000002 00000000 00010000 0001 01 4714 /run/c.sock\n";
        assert_eq!(listening_unix(table.as_bytes(), &["/run/a b.sock"]), ["4711"]);
        assert_eq!(listening_unix(table.as_bytes(), &["/run/c"]), Vec::<String>::new());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let server =
            Server::find(&[format!("unix:{}", path.display())], &net::limits::allowed_cpus());
        assert!(server.here);
    }

    #[test]
    fn a_socket_in_a_threads_own_file_table_is_found() {
        // In a process of its own: files and threads of other tests would be looked through too.
        let script = "import ctypes, socket, sys, threading\n\
                      def listen():\n\
                      \x20 assert ctypes.CDLL(None).unshare(0x400) == 0\n\
                      \x20 listener = socket.create_server(('127.0.0.1', 0))\n\
                      \x20 print('127.0.0.1:%d' % listener.getsockname()[1], flush=True)\n\
                      \x20 sys.stdin.readline()\n\
                      threading.Thread(target=listen).start()";
        let mut program = Program::python(script);
        let address = program.read_line().parse().expect("it listens");
        let table = fs::read_to_string("/proc/net/tcp").expect("Linux");
        let inodes = listening(table.as_bytes(), &[address]);
        let pid = program.pid();
        let mut looks = MOST_LOOKS_A_PROCESS;
        let by_process = process_holds(pid, &inodes, &mut looks);
        let by_threads = thread_holds(pid, &inodes, &mut looks);
        // The first that any table shows is standard input.
        looks = 1;
        let by_one_look = thread_holds(pid, &inodes, &mut looks);
        // Somebody else may listen on that port of another address.
        assert!(!inodes.is_empty());
        assert_eq!((by_process, by_threads, by_one_look, looks), (false, true, false, 0));
    }

    #[test]
    fn who_holds_very_many_files_is_not_looked_through() {
        // Each would look at 10,000 files, and the last holds what is looked for as its first.
        let taken = std::cell::RefCell::new(Vec::new());
        let pids: Vec<u32> = (0..12).collect();
        let found = among(&pids, |pid, looks| {
            let took = if pid == 11 { 1 } else { 10_000 }.min(*looks);
            *looks -= took;
            taken.borrow_mut().push(took);
            pid == 11 && took > 0
        });
        let taken = taken.into_inner();
        assert_eq!((taken[0], taken.iter().sum::<usize>()), (MOST_LOOKS_A_PROCESS, MOST_LOOKS));
        assert_eq!((taken[8], found), (0, Vec::new()), "nothing is left for whoever comes last");
        let few = among(&pids[5..], |pid, looks| {
            *looks -= if pid == 11 { 1 } else { *looks };
            pid == 11
        });
        assert_eq!(few, [11]);
    }

    #[test]
    fn a_listener_among_many_files_of_a_process_is_found_by_as_many_looks_as_there_are() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let table = fs::read_to_string("/proc/net/tcp").expect("Linux");
        let inodes = listening(table.as_bytes(), &[address]);
        let pid = std::process::id();
        let mut looks = MOST_LOOKS_A_PROCESS;
        assert!(process_holds(pid, &inodes, &mut looks) && looks < MOST_LOOKS_A_PROCESS);
        // The first that any table shows is standard input.
        looks = 1;
        assert!(!process_holds(pid, &inodes, &mut looks) && looks == 0);
    }

    #[test]
    fn what_a_process_spent_stays_when_it_ends() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read -r line"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("sh");
        let mut server = Server { here: true, beside: vec![child.id()], ..Server::default() };
        let spent = (0..2_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            server.cpu_ns().filter(|&spent_ns| spent_ns > 0)
        });
        let _ = child.kill();
        let _ = child.wait();
        assert!(cpu_ns(child.id()).is_none() && spent.is_some());
        assert!(server.cpu_ns() >= spent, "{spent:?}");
    }

    #[test]
    fn lists_of_processors() {
        for (list, cpu, held) in
            [("\t0-3,8", 2, true), ("0-3,8", 8, true), ("0-3,8", 5, false), ("", 0, false)]
        {
            assert_eq!(in_list(list, cpu), held, "{list} {cpu}");
        }
    }

    #[test]
    fn a_port_of_this_machine_is_here_and_a_foreign_address_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let mut here = Server::find(&[address], &[0]);
        // This very process holds it, and that is not counted as the server's.
        assert!(here.here && here.beside.is_empty() && here.cpu_ns().is_none());
        assert!(!Server::find(&["192.0.2.1:80".to_owned()], &[0]).here);
        let port = listener.local_addr().expect("an address").port();
        assert!(Server::find(&[format!("0.0.0.0:{port}")], &[0]).here, "it goes to this machine");
        let sent_from_here =
            |address: &str| is_sent_from_here(address.parse().expect("an address"));
        assert!(sent_from_here("127.0.0.1") && !sent_from_here("192.0.2.1"));
        assert!(cpu_ns(std::process::id()).is_some());
    }
}
