//! How long the quota on processor time of this process's cgroups kept it from running: `cpu.stat` of
//! its own group and of those above it, of both versions of cgroups.
//!
//! A group's `cpu.stat` covers only that group's quota, and a container's quota may be set on any of
//! them; so all are read and added up.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use model::Nanos;

/// Groups that are looked at, from the process's own upwards.
const MOST_GROUPS: usize = 32;
/// Bytes of a file that are looked at.
const MOST_BYTES: u64 = 256 * 1024;

/// What a quota has cost, since the group was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Throttled {
    /// Time, summed over processors.
    pub(super) time_ns: Nanos,
    /// Periods of the quota in which processes of the group were held back.
    pub(super) periods: u64,
}

/// The files to read.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    stats: Vec<PathBuf>,
}

impl Cgroups {
    /// The groups that this process is in and that may have a quota.
    pub(super) fn find() -> Self {
        let groups = read(Path::new("/proc/self/cgroup"));
        let mounts = read(Path::new("/proc/self/mountinfo"));
        let mut stats = stat_files(&groups, &mounts);
        stats.retain(|stat| parse(&read(stat)).is_some());
        Self { stats }
    }

    /// What their quotas have cost so far.
    pub(super) fn throttled(&self) -> Throttled {
        self.stats.iter().filter_map(|stat| parse(&read(stat))).fold(
            Throttled::default(),
            |sum, one| Throttled {
                time_ns: sum.time_ns.saturating_add(one.time_ns),
                periods: sum.periods.saturating_add(one.periods),
            },
        )
    }
}

/// What a file holds, as far as it is looked at; nothing where it cannot be read.
fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    if read.is_err() { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() }
}

/// `cpu.stat`: `nr_throttled` with `throttled_time` in nanoseconds (version 1) or `throttled_usec`
/// (version 2). A group without the controller has neither.
fn parse(stat: &str) -> Option<Throttled> {
    let field = |name: &str| {
        let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    let in_us = || field("throttled_usec").map(|us| us.saturating_mul(1000));
    let time_ns = field("throttled_time").or_else(in_us)?;
    Some(Throttled { time_ns, periods: field("nr_throttled")? })
}

/// Where `cpu.stat` of each group may lie, by `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn stat_files(groups: &str, mounts: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for mount in mounts.lines().filter_map(Mount::parse) {
        let Some(group) = groups.lines().find_map(|line| mount.group(line)) else { continue };
        for dir in mount.dirs(group) {
            let file = dir.join("cpu.stat");
            if files.len() < MOST_GROUPS && !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

/// A hierarchy of cgroups with the processor controller.
struct Mount<'a> {
    /// The group that is seen at the mount point: not the topmost one inside a container.
    root: &'a str,
    at: &'a str,
    version: u8,
}

impl<'a> Mount<'a> {
    /// A line of `mountinfo`: id, parent, device, root, mount point, options, tags, `-`, type, source,
    /// options of the file system (proc(5)).
    fn parse(line: &'a str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, at) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let version = match (kind.next()?, kind.nth(1)?) {
            ("cgroup2", _) => 2,
            ("cgroup", options) if options.split(',').any(|option| option == "cpu") => 1,
            _ => return None,
        };
        Some(Self { root, at, version })
    }

    /// The process's group in this hierarchy, from a line of `/proc/self/cgroup`:
    /// `number:controllers:path`.
    fn group<'b>(&self, line: &'b str) -> Option<&'b str> {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let matches = match self.version {
            1 => controllers.split(',').any(|controller| controller == "cpu"),
            _ => number == "0" && controllers.is_empty(),
        };
        matches.then_some(path)
    }

    /// The folders of the group and those above it, up to the mount point. A group that lies outside
    /// of what is mounted is taken for the mount point's: a container sees its own group there.
    fn dirs(&self, group: &str) -> Vec<PathBuf> {
        let below = Path::new(group).strip_prefix(self.root).unwrap_or(Path::new(""));
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        let below = if plain { below } else { Path::new("") };
        let own = Path::new(self.at).join(below);
        let up = own.ancestors().take_while(|dir| dir.starts_with(self.at));
        up.take(MOST_GROUPS).map(Path::to_path_buf).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        for (stat, found) in [
            ("nr_periods 9\nnr_throttled 4\nthrottled_time 2500\n", Some((2500, 4))),
            (
                "usage_usec 7\nuser_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 21\n\
                 nr_bursts 0\nburst_usec 0\n",
                Some((21_000, 3)),
            ),
            ("usage_usec 7\nuser_usec 5\nsystem_usec 2\n", None),
            ("nr_throttled x\nthrottled_time -1\n", None),
            ("nr_throttled 1\nthrottled_usec 18446744073709551615\n", Some((u64::MAX, 1))),
            ("", None),
        ] {
            let found = found.map(|(time_ns, periods)| Throttled { time_ns, periods });
            assert_eq!(parse(stat), found, "{stat}");
        }
    }

    #[test]
    fn a_quota_may_be_set_on_any_group_above() {
        let version_2 = "31 24 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
        let version_1 = "25 24 0:22 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
                         26 24 0:23 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset";
        let container = "25 24 0:22 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu";
        for (groups, mounts, dirs) in [
            ("0::/", version_2, &["/sys/fs/cgroup"][..]),
            (
                "0::/ci.slice/job",
                version_2,
                &["/sys/fs/cgroup/ci.slice/job", "/sys/fs/cgroup/ci.slice", "/sys/fs/cgroup"],
            ),
            (
                "4:memory:/m\n3:cpuset:/\n2:cpu,cpuacct:/held\n0::/",
                version_1,
                &["/sys/fs/cgroup/cpu,cpuacct/held", "/sys/fs/cgroup/cpu,cpuacct"],
            ),
            ("1:cpu:/docker/ab", container, &["/sys/fs/cgroup/cpu"]),
            (
                "1:cpu:/docker/ab/inner",
                container,
                &["/sys/fs/cgroup/cpu/inner", "/sys/fs/cgroup/cpu"],
            ),
            ("1:cpu:/elsewhere", container, &["/sys/fs/cgroup/cpu"]),
            ("0::/../outside", version_2, &["/sys/fs/cgroup"]),
            ("0::/", version_1, &[]),
            ("", version_2, &[]),
            ("not a line", "not a line - either", &[]),
        ] {
            let files: Vec<_> = dirs.iter().map(|dir| Path::new(dir).join("cpu.stat")).collect();
            assert_eq!(stat_files(groups, mounts), files, "{groups} in {mounts}");
        }
    }

    #[test]
    fn a_path_of_any_depth_is_looked_at_so_far() {
        let group = format!("0::{}", "/a".repeat(10_000));
        let mounts = "31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        assert_eq!(stat_files(&group, mounts).len(), MOST_GROUPS);
    }
}
