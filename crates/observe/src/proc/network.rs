//! The network: `/proc/net/{snmp,netstat,sockstat,sockstat6,dev,softnet_stat}` and connection tracking.

use model::Sample;

/// Interfaces listed.
const MOST_INTERFACES: usize = 64;

/// Names of the kernel's counters, and ours.
const SNMP: &[(&str, &str)] = &[
    ("ActiveOpens", "tcp.active_opens"),
    ("PassiveOpens", "tcp.passive_opens"),
    ("AttemptFails", "tcp.attempt_fails"),
    ("EstabResets", "tcp.resets"),
    ("InSegs", "tcp.segments_in"),
    ("OutSegs", "tcp.segments_out"),
    ("RetransSegs", "tcp.retransmits"),
];
const TCP_EXT: &[(&str, &str)] = &[
    ("ListenOverflows", "tcp.listen_overflows"),
    ("ListenDrops", "tcp.listen_drops"),
    ("TCPTimeWaitOverflow", "tcp.time_wait_overflows"),
    ("TCPReqQFullDrop", "tcp.request_queue_drops"),
    ("TCPReqQFullDoCookies", "tcp.request_queue_cookies"),
    ("TCPAbortOnMemory", "tcp.aborts_on_memory"),
    ("TCPSynRetrans", "tcp.syn_retransmits"),
    ("TCPTimeouts", "tcp.timeouts"),
    ("TCPOrigDataSent", "tcp.data_segments_out"),
    ("TCPOFOQueue", "tcp.out_of_order"),
    ("PruneCalled", "tcp.prunes"),
    ("TW", "tcp.time_waits_begun"),
];

/// `/proc/sys/net/ipv4/ip_local_port_range`: how many ports a connection to one address and port may begin at.
pub fn local_ports(text: &str) -> Option<u32> {
    let mut ends = text.split_whitespace().map(str::parse::<u16>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some(u32::from(last.checked_sub(first)?) + 1)
}

/// `/proc/net/snmp`: TCP's counters and the connections that are established.
pub fn snmp(text: &str, sample: &mut Sample) {
    pairs(text, "Tcp:", |name, value| {
        if name == "CurrEstab" {
            sample.gauge("tcp.established", value as f64);
        }
        if let Some((_, ours)) = SNMP.iter().find(|(theirs, _)| *theirs == name) {
            sample.count(*ours, value);
        }
    });
}

/// `/proc/net/netstat`: what TCP dropped and gave up.
pub fn netstat(text: &str, sample: &mut Sample) {
    pairs(text, "TcpExt:", |name, value| {
        if let Some((_, ours)) = TCP_EXT.iter().find(|(theirs, _)| *theirs == name) {
            sample.count(*ours, value);
        }
    });
}

/// A line of names and a line of values, both beginning with `of`.
fn pairs(text: &str, of: &str, mut take: impl FnMut(&str, u64)) {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(of));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return };
    for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
        if let Ok(value) = value.parse() {
            take(name, value);
        }
    }
}

/// `/proc/net/sockstat`: sockets in use, in TIME_WAIT, without a process, and TCP's memory in pages.
pub fn sockstat(text: &str, page_bytes: u64, sample: &mut Sample) {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("TCP:")) else { return };
    let fields: Vec<&str> = line.split_whitespace().collect();
    for pair in fields.chunks_exact(2) {
        let Ok(value) = pair[1].parse::<u64>() else { continue };
        match pair[0] {
            "inuse" => sample.gauge("tcp.in_use", value as f64),
            "orphan" => sample.gauge("tcp.orphans", value as f64),
            "tw" => sample.gauge("tcp.time_wait", value as f64),
            "mem" => {
                sample.gauge("tcp.memory_bytes", value.saturating_mul(page_bytes) as f64);
            }
            _ => {}
        }
    }
}

/// `/proc/net/dev`: bytes and what was dropped, by interface; those without traffic are left out.
pub fn dev(text: &str, sample: &mut Sample) {
    let mut listed = 0_usize;
    for line in text.lines().skip(2) {
        let Some((name, rest)) = line.split_once(':') else { continue };
        let at: Vec<u64> = rest.split_whitespace().map_while(|field| field.parse().ok()).collect();
        let [received, _, _, received_drops, _, _, _, _, sent, _, _, sent_drops, ..] = at[..]
        else {
            continue;
        };
        if (received, sent) == (0, 0) || listed >= MOST_INTERFACES {
            continue;
        }
        listed += 1;
        let name = name.trim();
        sample.count(format!("net.received_bytes{{{name}}}"), received);
        sample.count(format!("net.sent_bytes{{{name}}}"), sent);
        sample.count(format!("net.received_drops{{{name}}}"), received_drops);
        sample.count(format!("net.sent_drops{{{name}}}"), sent_drops);
    }
}

/// `/proc/net/softnet_stat`: packets that the kernel had no room or no time for, over all processors.
pub fn softnet(text: &str, sample: &mut Sample) {
    let (mut drops, mut squeezed, mut seen) = (0_u64, 0_u64, false);
    for line in text.lines() {
        let mut fields = line.split_whitespace().map(|field| u64::from_str_radix(field, 16).ok());
        let (Some(_), Some(Some(dropped)), Some(Some(cut))) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        (drops, squeezed, seen) =
            (drops.saturating_add(dropped), squeezed.saturating_add(cut), true);
    }
    if seen {
        sample.count("softnet.drops", drops);
        sample.count("softnet.squeezed", squeezed);
    }
}

/// `/proc/net/stat/nf_conntrack`: packets dropped, and connections forgotten to make room, over all processors. The columns
/// are found by their names. An insertion that failed is none of these: two packets of one connection raced, or a clash of
/// names was resolved, whatever room there is.
pub fn conntrack(text: &str, sample: &mut Sample) {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let column = |name: &str| names.iter().position(|n| *n == name);
    let wanted: Vec<usize> = ["drop", "early_drop"].into_iter().filter_map(column).collect();
    if wanted.is_empty() {
        return;
    }
    let mut sum = 0_u64;
    for line in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let at = |&i: &usize| u64::from_str_radix(fields.get(i)?, 16).ok();
        sum = sum.saturating_add(wanted.iter().filter_map(at).fold(0, u64::saturating_add));
    }
    sample.count("conntrack.drops", sum);
}
