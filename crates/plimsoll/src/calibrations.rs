//! Calibrations on disk: one file for each machine and kernel interface, under the user's state
//! folder. A run whose requests are small and plain is compared with its machine's calibration.

use std::fs;
use std::path::PathBuf;

use model::{Calibration, Ceiling, Environment, Io, Run};

use crate::failure::{Failure, cannot_run};
use crate::results::output;
use crate::user_folder;

/// Bodies and responses up to this many bytes count as small.
const SMALL_BYTES: f64 = 4096.0;

/// Keeps a calibration and says where.
///
/// # Errors
/// When the state folder is not known or cannot be written to.
pub fn save(calibration: &Calibration) -> Result<PathBuf, Failure> {
    let Some(path) = path(&calibration.environment, calibration.io) else {
        return cannot_run(
            "neither XDG_STATE_HOME nor HOME is set, so a calibration cannot be kept",
        );
    };
    if let Some(dir) = path.parent() {
        output::make_folder(dir)?;
    }
    match output::write_file(&path, (output::json(calibration) + "\n").as_bytes()) {
        Ok(()) => Ok(path),
        Err(error) => cannot_run(format!("cannot write {}: {error}", path.display())),
    }
}

/// Puts a run beside its machine's calibration, where there is one and it applies.
pub fn compare(run: &mut Run) {
    if !applies(run) {
        return;
    }
    let path = path(&run.environment, run.plan.io);
    // A file that is damaged or of another version is as good as none.
    let calibration = path
        .and_then(|path| fs::read(path).ok())
        .and_then(|bytes| serde_json::from_slice::<Calibration>(&bytes).ok())
        .filter(|calibration| calibration.schema == model::calibration::SCHEMA);
    let Some(calibration) = calibration else { return };
    let Some(requests_per_s) = calibration.ceiling_per_s(run.plan.threads).filter(|&c| c > 0.0)
    else {
        return;
    };
    let lateness = run.plan.rate_per_s.and_then(|rate| calibration.lateness(rate));
    run.generator.ceiling = Some(Ceiling {
        requests_per_s,
        used_ratio: run.rates.requests_per_s / requests_per_s,
        late_p99_ns: lateness.map(|open| open.late_p99_ns),
        measured_at: calibration.measured_at,
    });
}

/// Whether requests cost about what those of the calibration did: plain, kept alive, small.
fn applies(run: &Run) -> bool {
    let plan = &run.plan;
    let response_bytes = run.rates.bytes_read_per_s / run.rates.requests_per_s.max(1.0);
    let plain = plan.tls.is_none() && plan.keepalive && plan.pipeline == 1;
    plain && plan.body_bytes as f64 <= SMALL_BYTES && response_bytes <= SMALL_BYTES
}

fn path(environment: &Environment, io: Io) -> Option<PathBuf> {
    let state = user_folder::find("XDG_STATE_HOME", ".local/state")?;
    Some(state.join("calibration").join(format!("{}.json", fingerprint(environment, io))))
}

/// What distinguishes one machine from another: whatever changes how fast it is.
fn fingerprint(environment: &Environment, io: Io) -> String {
    let Environment { kernel, cpu_model, cpus, cpus_allowed, memory_bytes, .. } = environment;
    let version = env!("CARGO_PKG_VERSION");
    let facts = format!(
        "{version}\n{}\n{kernel}\n{cpu_model}\n{cpus}\n{cpus_allowed}\n{memory_bytes}",
        io.name()
    );
    user_folder::name_of(&facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_machines_and_the_interfaces() {
        let machine = Environment { cpus: 4, cpus_allowed: 4, ..Default::default() };
        let other = Environment { cpus_allowed: 2, ..machine.clone() };
        let prints = [
            fingerprint(&machine, Io::Epoll),
            fingerprint(&machine, Io::Uring),
            fingerprint(&other, Io::Epoll),
        ];
        assert!(prints.iter().all(|print| print.len() == 16), "{prints:?}");
        assert!(prints[0] != prints[1] && prints[0] != prints[2], "{prints:?}");
        let limits = Environment { open_files: 9, ..machine.clone() };
        assert_eq!(fingerprint(&limits, Io::Epoll), prints[0]);
    }
}
