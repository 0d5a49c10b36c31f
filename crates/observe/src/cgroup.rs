//! For how long the CPU quotas of a process's cgroups kept it from running: `cpu.stat` of its own group and of those
//! above it, in cgroups v1 and v2. And the quota itself, in processors.
//!
//! A group's `cpu.stat` covers only that group's quota, and a container's quota may be set on any of them; so all are
//! read and added up.

use std::path::{Component, Path, PathBuf};

use crate::proc::processors::{Throttled, cpu_max, cpu_stat, quota_of};
use crate::text::{number, read, read_or_empty};

/// Groups that are looked at, from the process's own upwards.
const MOST_GROUPS: usize = 32;

/// The files to read.
#[derive(Debug, Default)]
pub struct Cgroups {
    stats: Vec<PathBuf>,
}

impl Cgroups {
    /// The groups that this process is in and that may have a quota.
    pub fn of_this_process() -> Self {
        Self::in_folder(Path::new("/proc/self"))
    }

    /// The groups that another process is in and that may have a quota.
    pub fn of(pid: u32) -> Self {
        Self::in_folder(&Path::new("/proc").join(pid.to_string()))
    }

    fn in_folder(process: &Path) -> Self {
        let groups = read_or_empty(process.join("cgroup"));
        // Where cgroups are seen is this process's matter, and that one may see them elsewhere.
        let mounts = read_or_empty("/proc/self/mountinfo");
        let mut stats = stat_files(&groups, &mounts);
        stats.retain(|stat| cpu_stat(&read_or_empty(stat)).is_some());
        Self { stats }
    }

    /// Whether there is a group whose quota shows.
    pub fn is_empty(&self) -> bool {
        self.stats.is_empty()
    }

    /// What their quotas have cost so far.
    pub fn throttled(&self) -> Throttled {
        let each = self.stats.iter().filter_map(|stat| cpu_stat(&read_or_empty(stat)));
        each.fold(Throttled::default(), Throttled::plus)
    }

    /// What the quota of each has cost so far; nothing of one that cannot be read now.
    fn each(&self) -> Vec<Option<Throttled>> {
        self.stats.iter().map(|stat| cpu_stat(&read_or_empty(stat))).collect()
    }

    /// The least of their quotas, in processors; none where there is no quota.
    pub fn quota(&self) -> Option<f64> {
        self.stats.iter().filter_map(|stat| quota_beside(stat)).reduce(f64::min)
    }
}

/// What quotas cost from when they were looked at first, of groups that may change: those of a process that ends and is
/// begun anew elsewhere.
#[derive(Debug, Default)]
pub struct QuotaCost {
    groups: Cgroups,
    before: Vec<Option<Throttled>>,
    sum: Throttled,
}

impl QuotaCost {
    /// Looks at these groups from now on; what was counted stays.
    pub fn follow(&mut self, groups: Cgroups) {
        (self.groups, self.before) = (groups, Vec::new());
    }

    /// The groups that are looked at.
    pub const fn groups(&self) -> &Cgroups {
        &self.groups
    }

    /// What their quotas have cost since. Time of all groups is added up; periods are those of the group that was held
    /// back most, since groups above it count the same periods.
    pub fn throttled(&mut self) -> Throttled {
        let now = self.groups.each();
        self.sum = self.sum.plus(grown(&self.before, &now));
        self.before = now;
        self.sum
    }
}

/// By how much groups were held back between two looks.
fn grown(before: &[Option<Throttled>], now: &[Option<Throttled>]) -> Throttled {
    let since = |(before, now): (Throttled, Throttled)| Throttled {
        time_ns: now.time_ns.saturating_sub(before.time_ns),
        periods: now.periods.saturating_sub(before.periods),
        all_periods: now.all_periods.saturating_sub(before.all_periods),
    };
    let each = before.iter().zip(now).filter_map(|(before, now)| before.zip(*now).map(since));
    each.fold(Throttled::default(), |sum, group| {
        let time_ns = sum.time_ns.saturating_add(group.time_ns);
        let most = if (group.periods, group.all_periods) > (sum.periods, sum.all_periods) {
            group
        } else {
            sum
        };
        Throttled { time_ns, ..most }
    })
}

/// The quota of the group whose `cpu.stat` this is.
fn quota_beside(stat: &Path) -> Option<f64> {
    let of_version_2 = read(stat.with_file_name("cpu.max")).ok().and_then(|text| cpu_max(&text));
    of_version_2.or_else(|| {
        let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
            .map(|name| number::<i64>(stat.with_file_name(name)));
        quota_of(quota?, period?)
    })
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
    fn of_nested_quotas_the_one_that_holds_back_counts() {
        let at = |time_ns, periods, all_periods| Some(Throttled { time_ns, periods, all_periods });
        // A container within a pod that both have a quota, and a group that has none.
        let before = [at(100, 50, 1_000), at(7, 90, 5_000), at(0, 0, 0), None];
        let now = [at(130, 65, 1_100), at(7, 90, 5_100), at(0, 0, 0), at(9, 9, 9)];
        let held = grown(&before, &now);
        assert_eq!(held, Throttled { time_ns: 30, periods: 15, all_periods: 100 });
        let gone = [None, at(7, 92, 5_110)];
        assert_eq!(grown(&now, &gone), Throttled { time_ns: 0, periods: 2, all_periods: 10 });
        assert_eq!(grown(&[], &now), Throttled::default(), "the first look counts nothing");
    }

    #[test]
    fn a_path_of_any_depth_is_looked_at_so_far() {
        let group = format!("0::{}", "/a".repeat(10_000));
        let mounts = "31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        assert_eq!(stat_files(&group, mounts).len(), MOST_GROUPS);
    }
}
