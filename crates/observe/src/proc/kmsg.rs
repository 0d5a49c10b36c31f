//! Records of the kernel's log (`/dev/kmsg`, Documentation/ABI/testing/dev-kmsg) that report a limit.

/// What a record may say, in lower case, and what it is counted as. The first that fits counts.
const KINDS: &[(&[&str], &str)] = &[
    (&["nf_conntrack: table full"], CONNTRACK_FULL),
    (&["time wait bucket table overflow"], TIME_WAIT_OVERFLOW),
    (&["possible syn flooding"], SYN_FLOOD),
    (&["out of memory", "killed process"], KILLED),
    (&["tcp: out of memory"], TCP_MEMORY),
    (&["too many orphaned sockets"], ORPHANS),
    (&["neighbor table overflow"], NEIGHBOURS),
    (&["neighbour: ", "table overflow"], NEIGHBOURS),
];

/// Connection tracking had no room.
pub const CONNTRACK_FULL: &str = "conntrack table full";
/// TIME_WAIT had no room.
pub const TIME_WAIT_OVERFLOW: &str = "TIME_WAIT overflow";
/// A listener's queue was full of half-open connections; said once for each listener.
pub const SYN_FLOOD: &str = "SYN flood";
/// A process was killed for lack of memory.
pub const KILLED: &str = "process killed for memory";
/// TCP's own bound of memory was reached.
pub const TCP_MEMORY: &str = "TCP out of memory";
/// Too many connections that no process owns any more.
pub const ORPHANS: &str = "too many orphaned sockets";
/// The table of neighbours was full.
pub const NEIGHBOURS: &str = "neighbour table full";

/// Every kind, each once.
pub const ALL: [&str; 7] =
    [CONNTRACK_FULL, TIME_WAIT_OVERFLOW, SYN_FLOOD, KILLED, TCP_MEMORY, ORPHANS, NEIGHBOURS];

/// What a record reports, if it is the kernel's own: programs may write there too, with a facility above 0.
pub fn kind(record: &str) -> Option<&'static str> {
    let (prefix, text) = record.split_once(';')?;
    let priority: u32 = prefix.split(',').next()?.parse().ok()?;
    if priority >= 8 {
        return None;
    }
    let text = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let fits = |words: &&[&str]| words.iter().all(|word| text.contains(word));
    KINDS.iter().find(|(words, _)| fits(words)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records() {
        for (record, wanted) in [
            (
                "4,1,2,-;nf_conntrack: nf_conntrack: table full, dropping packet\n",
                Some(CONNTRACK_FULL),
            ),
            ("6,1,2,-;TCP: time wait bucket table overflow\n", Some(TIME_WAIT_OVERFLOW)),
            (
                "6,9,2,-;TCP: request_sock_TCP: Possible SYN flooding on port 127.0.0.1:9000. Sending cookies.\n",
                Some(SYN_FLOOD),
            ),
            ("3,1,2,-;Out of memory: Killed process 7 (api)\n", Some(KILLED)),
            ("3,1,2,-;Memory cgroup out of memory: Killed process 7 (api)\n", Some(KILLED)),
            ("6,1,2,-;neighbour: arp_cache: neighbor table overflow!\n", Some(NEIGHBOURS)),
            ("12,1,2,-;nf_conntrack: table full, written by a program\n", None),
            ("6,1,2,-;hrtimer: interrupt took 11707 ns\n SUBSYSTEM=x\n", None),
            ("", None),
            ("x;y", None),
        ] {
            assert_eq!(kind(record), wanted, "{record}");
        }
    }
}
