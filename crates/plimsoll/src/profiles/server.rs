//! The server that a profile is of, where it runs on this machine: how many processors it may use, and what it uses.

use std::fs;
use std::time::Instant;

use model::Nanos;
use observe::cgroup::Cgroups;
use observe::proc::processors::cpus_in;
use observe::server::Server;

/// Of what a server used, the shares between which a profile of it lies: samples come some ten milliseconds apart, and
/// what the kernel does for a process is not in every profile.
const ALIKE: std::ops::Range<f64> = 0.5..1.6;
/// Processors below which two figures are too small to tell them apart.
const LITTLE: f64 = 0.1;

/// What a server on this machine uses while it is profiled.
#[derive(Debug)]
pub struct Use {
    server: Server,
    began: Instant,
    cpu_ns: Nanos,
}

impl Use {
    /// Begins to count; nothing where no process of this machine is found that listens at these addresses.
    pub fn begin(addresses: &[String]) -> Option<Self> {
        let server = Server::find(addresses, &[]);
        let cpu_ns = server.all_cpu_ns()?;
        Some(Self { server, began: Instant::now(), cpu_ns })
    }

    /// Processors that it used on average since then.
    pub fn end(self) -> Option<f64> {
        let used_ns = self.server.all_cpu_ns()?.checked_sub(self.cpu_ns)?;
        Some(used_ns as f64 / self.began.elapsed().as_nanos().max(1) as f64)
    }
}

/// What to say where a profile shows another processor time than the server used meanwhile, both in processors.
pub fn mismatch(profiled: f64, used: f64) -> Option<String> {
    let alike = ALIKE.contains(&(profiled / used.max(1e-9))) || profiled.max(used) < LITTLE;
    (!alike).then(|| {
        format!(
            "the profile shows {profiled:.2} processors busy, and the server's processes used {used:.2} meanwhile: it may be \
             of another process, or of one of several, and then what a request costs is wrong"
        )
    })
}

/// Processors that the process listening at these addresses may use, and how that is known. Nothing where no such
/// process is found on this machine, or it is another user's.
pub fn processors(addresses: &[String]) -> Option<(f64, String)> {
    let pid = *Server::find(addresses, &[]).pids().first()?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let allowed = f64::from(cpus_in(list)?);
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let most = environment
        .split(|byte| *byte == 0)
        .find_map(|pair| pair.strip_prefix(b"GOMAXPROCS="))
        .and_then(|text| std::str::from_utf8(text).ok()?.trim().parse::<u32>().ok())
        .filter(|most| *most > 0);
    let bounds = [
        Some((allowed, format!("processors that process {pid} may run on"))),
        most.map(|most| (f64::from(most), format!("GOMAXPROCS={most} of process {pid}"))),
        Cgroups::of(pid)
            .quota()
            .map(|quota| (quota, format!("the quota of process {pid}'s cgroup"))),
    ];
    bounds.into_iter().flatten().min_by(|(a, _), (b, _)| a.total_cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_not_looked_for_here() {
        assert!(processors(&["192.0.2.1:80".to_owned()]).is_none());
        assert!(Use::begin(&["192.0.2.1:80".to_owned()]).is_none());
    }

    #[test]
    fn a_profile_of_another_process_is_reported() {
        assert_eq!(
            [mismatch(0.9, 1.0), mismatch(0.02, 0.09), mismatch(1.5, 1.0)],
            [None, None, None]
        );
        let told = mismatch(0.07, 0.68).unwrap();
        assert!(told.starts_with("the profile shows 0.07 processors busy"), "{told}");
        assert!(mismatch(0.9, 0.01).is_some());
    }
}
