//! Memory, swap and disks: `/proc/meminfo`, `/proc/vmstat`, `/proc/diskstats`.

use model::Sample;

/// Disks listed.
const MOST_DISKS: usize = 64;
/// A sector in `/proc/diskstats`, whatever the disk's own are.
const SECTOR_BYTES: u64 = 512;

/// A field of `/proc/meminfo`, in bytes.
pub fn meminfo_field(text: &str, field: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(rest.split_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024))
}

/// `/proc/meminfo`.
pub fn meminfo(text: &str, sample: &mut Sample) {
    let field = |name: &str| meminfo_field(text, name).map(|bytes| bytes as f64);
    for (name, of) in
        [("memory.total_bytes", "MemTotal"), ("memory.available_bytes", "MemAvailable")]
    {
        if let Some(bytes) = field(of) {
            sample.gauge(name, bytes);
        }
    }
    if let Some((total, free)) = field("SwapTotal").zip(field("SwapFree")) {
        sample.gauge("swap.used_bytes", (total - free).max(0.0));
    }
}

/// `/proc/vmstat`: pages swapped, faults that read a disk, processes killed for lack of memory.
pub fn vmstat(text: &str, sample: &mut Sample) {
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        let named = match name {
            "pswpin" => "swap.in_pages",
            "pswpout" => "swap.out_pages",
            "pgmajfault" => "memory.major_faults",
            "oom_kill" => "memory.oom_kills",
            _ => continue,
        };
        if let Ok(value) = value.trim().parse() {
            sample.count(named, value);
        }
    }
}

/// `/proc/diskstats`: whole disks that did anything (kernel's admin-guide/iostats).
pub fn diskstats(text: &str, sample: &mut Sample) {
    let mut disks = 0_usize;
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, _, name, ref numbers @ ..] = fields[..] else { continue };
        let at = |i: usize| numbers.get(i).and_then(|field| field.parse::<u64>().ok());
        let (Some(reads), Some(writes), Some(busy_ms)) = (at(0), at(4), at(9)) else { continue };
        if (reads, writes) == (0, 0) || is_part(name) || disks >= MOST_DISKS {
            continue;
        }
        disks += 1;
        sample.count(format!("disk.reads{{{name}}}"), reads);
        sample.count(format!("disk.writes{{{name}}}"), writes);
        sample.count(format!("disk.busy_ns{{{name}}}"), busy_ms.saturating_mul(1_000_000));
        if let Some((read, written)) = at(2).zip(at(6)) {
            sample.count(format!("disk.read_bytes{{{name}}}"), read.saturating_mul(SECTOR_BYTES));
            let bytes = written.saturating_mul(SECTOR_BYTES);
            sample.count(format!("disk.written_bytes{{{name}}}"), bytes);
        }
    }
}

/// Whether this is a part of a disk (`sda1`, `nvme0n1p2`), a loop device or memory.
fn is_part(name: &str) -> bool {
    let number = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends_in_digits = number.len() < name.len();
    if name.starts_with("loop") || name.starts_with("ram") {
        return true;
    }
    if name.starts_with("nvme") || name.starts_with("mmcblk") {
        return ends_in_digits && number.ends_with('p');
    }
    let letters = ["sd", "vd", "hd", "xvd"].iter().any(|kind| name.starts_with(kind));
    letters && ends_in_digits
}
