//! How many processors a server on this machine may use: those that its process may run on, or its `GOMAXPROCS` where
//! that is less.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

/// Processors that the process listening on a port of this machine may use, and how that is known. Nothing where no such
/// process is found, or it is another user's.
pub fn processors(address: &str) -> Option<(f64, String)> {
    let address: std::net::SocketAddr = address.parse().ok()?;
    if !is_here(address.ip()) {
        return None;
    }
    let inodes = listening(address.port());
    let pid = owner(&inodes)?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let allowed = count(list.trim())?;
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let most = environment
        .split(|byte| *byte == 0)
        .find_map(|pair| pair.strip_prefix(b"GOMAXPROCS="))
        .and_then(|text| std::str::from_utf8(text).ok()?.trim().parse::<u32>().ok())
        .filter(|most| *most > 0 && *most < allowed);
    Some(match most {
        Some(most) => (f64::from(most), format!("GOMAXPROCS={most} of process {pid}")),
        None => (f64::from(allowed), format!("processors that process {pid} may run on")),
    })
}

fn is_here(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Inodes of the sockets that listen on a port.
fn listening(port: u16) -> Vec<String> {
    let mut inodes = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = fs::read_to_string(table).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, state, _, _, _, _, _, inode, ..] = words[..] else { continue };
            let local_port =
                local.rsplit_once(':').and_then(|(_, hex)| u16::from_str_radix(hex, 16).ok());
            // 0A is LISTEN.
            if state == "0A" && local_port == Some(port) {
                inodes.push(format!("socket:[{inode}]"));
            }
        }
    }
    inodes
}

/// The process that has one of these sockets open.
fn owner(inodes: &[String]) -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.into_iter().find(|pid| {
        let Ok(files) = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")) else {
            return false;
        };
        files.flatten().any(|file| {
            let link = fs::read_link(file.path());
            link.is_ok_and(|link| {
                link.to_str().is_some_and(|link| inodes.iter().any(|inode| inode == link))
            })
        })
    })
}

/// How many processors a list such as `0-3,8` names.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + last.checked_sub(first)? + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!([count("0"), count("0-3,8"), count("x")], [Some(1), Some(5), None]);
    }

    #[test]
    fn a_server_of_this_process_is_found() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (found, _) = processors(&server.local_addr().unwrap().to_string()).unwrap();
        assert!(found >= 1.0);
        assert!(processors("192.0.2.1:80").is_none());
    }
}
