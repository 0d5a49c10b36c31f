//! Tables of texts as Linux writes them.

use model::Sample;
use proptest::prelude::*;

use super::processors::*;
use super::{TICK_NS, memory, network, processes, sockets};

fn read(parse: impl Fn(&mut Sample)) -> Sample {
    let mut sample = Sample::new(0);
    parse(&mut sample);
    sample
}

fn counter(sample: &Sample, name: &str) -> Option<u64> {
    sample.counters.get(name).copied()
}

fn gauge(sample: &Sample, name: &str) -> Option<f64> {
    sample.gauges.get(name).copied()
}

const STAT: &str = "cpu  100 20 30 400 50 6 7 8 0 0\n\
    cpu0 10 1 5 700 20 2 3 4 0 0\ncpu1 100 0 0 0 0 0 0 50 0 0\ncpu10 1000 0 0 0 0 0 0 0 0 0\n\
    intr 5 0 0\nctxt 77\nprocesses 9\nprocs_running 3\nprocs_blocked 1\n";

#[test]
fn processors() {
    let sample = read(|sample| stat(STAT, sample));
    for (name, ticks) in [
        ("cpu.user_ns", 120),
        ("cpu.system_ns", 30),
        ("cpu.idle_ns", 400),
        ("cpu.iowait_ns", 50),
        ("cpu.softirq_ns", 13),
        ("cpu.steal_ns", 8),
        ("cpu.busy_ns{0}", 21),
        ("cpu.busy_ns{10}", 1000),
    ] {
        assert_eq!(counter(&sample, name), Some(ticks * TICK_NS), "{name}");
    }
    assert_eq!(counter(&sample, "cpu.context_switches"), Some(77));
    assert_eq!(
        (gauge(&sample, "cpu.cores"), gauge(&sample, "cpu.running")),
        (Some(3.0), Some(3.0))
    );
}

#[test]
fn processors_that_may_not_be_used_do_not_count() {
    assert_eq!(busy_and_steal(STAT, &[0]), (21 * TICK_NS, 4 * TICK_NS));
    assert_eq!(busy_and_steal(STAT, &[0, 1]), (121 * TICK_NS, 54 * TICK_NS));
    assert_eq!(busy_and_steal("cpu0", &[0]), (0, 0));
}

#[test]
fn load_and_pressure() {
    let sample = read(|sample| loadavg("2.45 2.76 2.37 3/117 1042\n", sample));
    assert_eq!(
        (gauge(&sample, "load.1m"), gauge(&sample, "load.tasks")),
        (Some(2.45), Some(117.0))
    );
    let text = "some avg10=12.97 avg60=15.78 avg300=28.31 total=365054251\n\
                full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n";
    let sample = read(|sample| pressure("cpu", text, sample));
    assert_eq!(counter(&sample, "pressure.cpu_some_ns"), Some(365_054_251_000));
    assert_eq!(counter(&sample, "pressure.cpu_full_ns"), Some(12_000));
}

#[test]
fn quotas_of_both_versions() {
    for (text, found) in [
        ("nr_periods 9\nnr_throttled 4\nthrottled_time 2500\n", Some((2500, 4, 9))),
        (
            "usage_usec 7\nuser_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 21\n\
             nr_bursts 0\nburst_usec 0\n",
            Some((21_000, 3, 9)),
        ),
        ("usage_usec 7\nuser_usec 5\nsystem_usec 2\n", None),
        ("nr_throttled x\nthrottled_time -1\n", None),
        ("nr_throttled 1\nthrottled_usec 18446744073709551615\n", Some((u64::MAX, 1, 0))),
        ("", None),
    ] {
        let found = found.map(|(time_ns, periods, all_periods)| Throttled {
            time_ns,
            periods,
            all_periods,
        });
        assert_eq!(cpu_stat(text), found, "{text}");
    }
    for (text, quota) in
        [("50000 100000\n", Some(0.5)), ("max 100000\n", None), ("", None), ("0 0", None)]
    {
        assert_eq!(cpu_max(text), quota, "{text}");
    }
    assert_eq!((quota_of(-1, 100_000), quota_of(150_000, 100_000)), (None, Some(1.5)));
    for (list, count) in
        [("0-3,8\n", Some(5)), ("0", Some(1)), ("", None), ("3-1", None), ("0-4294967295", None)]
    {
        assert_eq!(cpus_in(list), count, "{list}");
    }
}

#[test]
fn memory_and_swap() {
    let text = "MemTotal:       24000 kB\nMemFree:  1 kB\nMemAvailable:   1000 kB\n\
                SwapTotal:  100 kB\nSwapFree:   40 kB\nSwapFreeX: 3 kB\n";
    let sample = read(|sample| memory::meminfo(text, sample));
    assert_eq!(gauge(&sample, "memory.available_bytes"), Some(1_024_000.0));
    assert_eq!(gauge(&sample, "swap.used_bytes"), Some(61_440.0));
    let text = "pswpin 1\npswpout 2\noom_kill 3\nnr_free_pages 9\npgmajfault x\n";
    let sample = read(|sample| memory::vmstat(text, sample));
    assert_eq!(sample.counters.len(), 3);
    assert_eq!(counter(&sample, "memory.oom_kills"), Some(3));
}

#[test]
fn disks_without_their_parts() {
    let text = "   7       0 loop0 5 0 0 0 0 0 0 0 0 0 0 0\n\
        254 0 vda 10 1 100 4 20 2 200 5 0 77 99 0 0 0 0 0 0\n 254 1 vda1 9 1 100 4 20 2 200 5 0 77 99\n\
        259 0 nvme0n1 1 0 8 0 0 0 0 0 0 3 3\n259 1 nvme0n1p1 1 0 8 0 0 0 0 0 0 3 3\n8 0 sdb 0 0 0 0 0 0 0 0 0 0 0\n\
        9 0 md0 1 0 8 0 0 0 0 0 0 3 3\nbroken\n";
    let sample = read(|sample| memory::diskstats(text, sample));
    let disks: Vec<&str> =
        sample.counters.keys().filter_map(|name| name.strip_prefix("disk.reads")).collect();
    assert_eq!(disks, ["{md0}", "{nvme0n1}", "{vda}"]);
    assert_eq!(counter(&sample, "disk.busy_ns{vda}"), Some(77_000_000));
    assert_eq!(counter(&sample, "disk.read_bytes{vda}"), Some(51_200));
    assert_eq!(counter(&sample, "disk.written_bytes{vda}"), Some(102_400));
}

#[test]
fn tcp() {
    let text = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm ActiveOpens CurrEstab RetransSegs\n\
                Tcp: 1 64212 12 250\n";
    let sample = read(|sample| network::snmp(text, sample));
    assert_eq!(counter(&sample, "tcp.active_opens"), Some(64_212));
    assert_eq!(gauge(&sample, "tcp.established"), Some(12.0));
    let text = "TcpExt: ListenOverflows ListenDrops TW TCPTimeWaitOverflow\nTcpExt: 1 2 62547 4\n\
                MPTcpExt: ListenDrops\nMPTcpExt: 9\n";
    let sample = read(|sample| network::netstat(text, sample));
    assert_eq!(counter(&sample, "tcp.listen_drops"), Some(2));
    assert_eq!(counter(&sample, "tcp.time_wait_overflows"), Some(4));
    let text = "sockets: used 16\nTCP: inuse 1 orphan 0 tw 28231 alloc 1 mem 103\nUDP: inuse 0\n";
    let sample = read(|sample| network::sockstat(text, 4096, sample));
    assert_eq!(gauge(&sample, "tcp.time_wait"), Some(28_231.0));
    assert_eq!(gauge(&sample, "tcp.memory_bytes"), Some(421_888.0));
}

#[test]
fn interfaces_and_packets() {
    let text = "Inter-|   Receive  |  Transmit\n face |bytes |bytes\n\
        lo: 1818 8307 0 216 0 0 0 0 1818 8307 0 5 0 0 0 0\n  ifb0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    let sample = read(|sample| network::dev(text, sample));
    assert_eq!(counter(&sample, "net.received_drops{lo}"), Some(216));
    assert_eq!(counter(&sample, "net.sent_drops{lo}"), Some(5));
    assert_eq!(sample.counters.len(), 4);
    let text = "003df545 000000d8 00000001 00000000\n0040fb1b 00000001 00000001 00000000\n";
    let sample = read(|sample| network::softnet(text, sample));
    assert_eq!(counter(&sample, "softnet.drops"), Some(0xd9));
    let text = "entries  clashres found new drop early_drop insert_failed\n\
                00000000  00000000 00000000 00000000 0000000a 00000001 00000000\n\
                00000000  00000000 00000000 00000000 00000001 00000000 00000002\n";
    let sample = read(|sample| network::conntrack(text, sample));
    assert_eq!(counter(&sample, "conntrack.drops"), Some(12), "a failed insertion is no drop");
}

#[test]
fn ports_from_the_first_to_the_last() {
    assert_eq!(network::local_ports("32768\t60999\n"), Some(28_232));
    assert_eq!(network::local_ports("20000 20000"), Some(1));
    for text in ["", "1024", "60999 32768", "1024 70000", "a b"] {
        assert_eq!(network::local_ports(text), None, "{text}");
    }
}

#[test]
fn a_process() {
    let text = "4711 (a) (b c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 12 0 99 1000 250 18446744073709551615";
    let found = processes::stat(text).unwrap();
    assert_eq!(
        (found.name.as_str(), found.user_ns, found.system_ns),
        ("a) (b c", 1_500_000_000, 500_000_000)
    );
    assert_eq!((found.threads, found.started, found.resident_pages), (12, 99, 250));
    assert_eq!(processes::stat("4711 (cut) S 1 2"), None);
    let text = "Name:\tx\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n";
    let status = processes::status(text);
    assert_eq!((status.voluntary, status.involuntary, status.cpus_allowed), (5, 7, Some(2)));
    let text = "rchar: 6988\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";
    assert_eq!(processes::io(text), Some((4096, 8192)));
    let limits =
        |files: &str| format!("Limit Soft Hard Units\nMax open files {files} 20000 files\n");
    assert_eq!(processes::files_limit(&limits("1024")), Some(1024));
    assert_eq!(processes::files_limit(&limits("unlimited")), None);
    assert_eq!(processes::schedstat("12 34 5\n"), Some([12, 34, 5]));
    assert_eq!(processes::schedstat("12 34\n"), None);
}

/// One message of an answer: a listener, whose queue and backlog are given.
fn message(port: u16, queue: u32, backlog: u32) -> Vec<u8> {
    let mut bytes = vec![2, 10, 0, 0];
    bytes.extend(port.to_be_bytes());
    bytes.extend([0, 0, 127, 0, 0, 1]);
    bytes.resize(56, 0);
    bytes.extend(queue.to_ne_bytes());
    bytes.extend(backlog.to_ne_bytes());
    bytes.resize(72, 0);
    let mut datagram = 88_u32.to_ne_bytes().to_vec();
    datagram.extend(20_u16.to_ne_bytes());
    datagram.resize(16, 0);
    datagram.extend(bytes);
    datagram
}

#[test]
fn listeners_with_their_queues() {
    let mut found = Vec::new();
    let both = [message(80, 3, 128), message(8080, 0, 511)].concat();
    assert_eq!(
        sockets::answer(&both, |message| found.extend(sockets::listener(message))),
        sockets::Answer::More
    );
    let queues: Vec<_> =
        found.iter().map(|l| (l.address.to_string(), l.queue, l.backlog)).collect();
    assert_eq!(queues, [("127.0.0.1:80".into(), 3, 128), ("127.0.0.1:8080".into(), 0, 511)]);
    let mut done = 20_u32.to_ne_bytes().to_vec();
    done.extend(3_u16.to_ne_bytes());
    done.resize(20, 0);
    assert_eq!(sockets::answer(&done, |_| {}), sockets::Answer::Done);
    let mut refused = 20_u32.to_ne_bytes().to_vec();
    refused.extend(2_u16.to_ne_bytes());
    refused.resize(16, 0);
    refused.extend((-1_i32).to_ne_bytes());
    assert_eq!(sockets::answer(&refused, |_| {}), sockets::Answer::Refused(1));
    for (question, length) in [(sockets::listeners(true), 72), (sockets::all(), 76)] {
        assert_eq!(
            (question.len(), u32::from_ne_bytes(*question.first_chunk().unwrap())),
            (length as usize, length)
        );
    }
}

/// A connection that is open, of which the kernel tells these numbers of `struct tcp_info`.
fn open(unread: u32, info: &[(usize, u32)]) -> Vec<u8> {
    let mut bytes = vec![2, 1, 0, 0];
    bytes.resize(56, 0);
    bytes.extend(unread.to_ne_bytes());
    bytes.resize(72, 0);
    bytes.extend(164_u16.to_ne_bytes());
    bytes.extend(2_u16.to_ne_bytes());
    let at = bytes.len();
    bytes.resize(at + 160, 0);
    for (field, value) in info {
        bytes[at + field..at + field + 4].copy_from_slice(&value.to_ne_bytes());
    }
    bytes
}

#[test]
fn who_asked_last_within_one_tick_is_told_by_what_went_out() {
    // Unacknowledged; last sent, received and acknowledged, milliseconds ago; segments in and out.
    let waits =
        |unacknowledged, [sent, received, acknowledged]: [u32; 3], [came, went]: [u32; 2]| {
            let times = [(44, sent), (52, received), (56, acknowledged)];
            let all = [&times[..], &[(24, unacknowledged), (152, came), (156, went)]].concat();
            sockets::connection(&open(0, &all)).expect("a connection").waits
        };
    assert!(waits(0, [10, 130, 10], [7, 9]), "sent later");
    assert!(!waits(0, [130, 10, 10], [7, 9]), "received later");
    // The last answer came and the next question went out at once.
    assert!(waits(0, [80, 80, 40], [7, 9]), "and was acknowledged later");
    assert!(waits(1, [80, 80, 80], [7, 9]), "and is not acknowledged");
    assert!(waits(0, [80, 80, 80], [7, 8]), "and was acknowledged at once");
    assert!(!waits(0, [80, 80, 80], [8, 8]), "it was answered at once");
    assert!(!waits(0, [80, 80, 80], [16, 8]), "an answer of two segments");
    assert!(!waits(0, [80, 80, 80], [4, 8]), "a question of two segments");
}

#[test]
fn what_nobody_read_and_first_answers_are_reported() {
    let told = |unread, came| sockets::connection(&open(unread, &[(152, came), (156, 1)])).unwrap();
    assert_eq!((told(120, 1).unread, told(0, 1).unread), (120, 0));
    assert_eq!((told(0, 0).answered, told(0, 1).answered), (false, true));
}

proptest! {
    #[test]
    fn nothing_that_is_read_makes_a_parser_panic(text in "\\PC{0,300}|([a-z]{1,6}[ :]{1,2}[0-9]{1,20}\n){0,20}", bytes: Vec<u8>) {
        read(|sample| {
            stat(&text, sample);
            loadavg(&text, sample);
            pressure("io", &text, sample);
            memory::meminfo(&text, sample);
            memory::vmstat(&text, sample);
            memory::diskstats(&text, sample);
            network::snmp(&text, sample);
            network::netstat(&text, sample);
            network::sockstat(&text, 4096, sample);
            network::dev(&text, sample);
            network::softnet(&text, sample);
            network::conntrack(&text, sample);
        });
        let _ = network::local_ports(&text);
        let _ = (cpu_stat(&text), cpu_max(&text), cpus_in(&text));
        let _ = (processes::stat(&text), processes::status(&text), processes::io(&text));
        let _ = (processes::files_limit(&text), processes::schedstat(&text));
        let _ = sockets::answer(&bytes, |_| {});
        let _ = (sockets::listener(&bytes), sockets::connection(&bytes));
    }
}
