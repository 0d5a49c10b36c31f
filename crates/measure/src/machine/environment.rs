//! Reads the facts about this machine that change a result.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::Environment;
use net::limits;
use observe::proc::memory::meminfo_field;

/// Kernel settings that bound connections.
const SYSCTLS: [&str; 10] = [
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_max",
    "fs.file-max",
];

/// This machine, as far as it bears on a result.
pub fn read(files: limits::FileLimit) -> Environment {
    let cpuinfo = read_text("/proc/cpuinfo");
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    Environment {
        kernel: format!(
            "Linux {} {}",
            read_text("/proc/sys/kernel/osrelease").trim(),
            std::env::consts::ARCH
        ),
        cpu_model: field("model name").unwrap_or_default(),
        cpus: cpuinfo.lines().filter(|line| line.starts_with("processor")).count().max(1) as u32,
        cpus_allowed: limits::allowed_cpus().len() as u32,
        memory_bytes: meminfo("MemTotal").unwrap_or(0),
        open_files: files.soft,
        open_files_hard: files.hard,
        sysctls: sysctls(),
    }
}

/// Memory that further processes may have without others being swapped out, in bytes.
pub fn memory_available() -> Option<u64> {
    meminfo("MemAvailable")
}

/// A field of `/proc/meminfo`, in bytes.
pub(super) fn meminfo(field: &str) -> Option<u64> {
    meminfo_field(&fs::read_to_string("/proc/meminfo").ok()?, field)
}

fn sysctls() -> BTreeMap<String, String> {
    let read = |name: &str| {
        let path = Path::new("/proc/sys").join(name.replace('.', "/"));
        let text = fs::read_to_string(path).ok()?;
        Some((name.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    SYSCTLS.iter().filter_map(|name| read(name)).collect()
}

fn read_text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
