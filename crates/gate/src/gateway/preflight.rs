//! `gate --check`: the problems that a start would meet. Every file is read and none is changed; in each folder that will
//! be written to, a file is made and removed again.
//!
//! Owns the checks of files. Names and values are `config`'s. No address is bound, so a port may still be in use.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{Access, access};

use super::config_files::{Written, admin_token};
use super::control::{built, read, unix_s};
use super::listener_certificates::ListenerCertificates;
use super::{GatewayError, Setup, notes, store_of};
use crate::config::Config;
use crate::keys::Store;
use crate::lines;
use crate::policy::{Policy, State};
use crate::usage::HttpSink;

/// Checks all that a start needs, but for its ports; what may not be meant.
pub(super) fn check(setup: &Setup) -> Result<Vec<String>, GatewayError> {
    let (config, text) = read(setup)?;
    let built = built(&config, &text, setup.file.as_deref())?;
    let written = Written { text: &text, file: setup.file.as_deref() };
    let expired = ListenerCertificates::read(&config, &built, written)?.expired(unix_s());
    admin_token(&config, written)?;
    let path = store_of(&config);
    // A start makes its tables where there is nothing yet.
    let is_there = |about: fs::Metadata| about.len() > 0 || !about.is_file();
    let named = match fs::metadata(&path).is_ok_and(is_there) {
        true => {
            let store = Store::inspect(&path).map_err(GatewayError::Store);
            let store = store.map_err(written.named("keys.store", config.keys.store.as_ref()))?;
            store.named_by_keys().map_err(GatewayError::Store)?
        }
        false => Default::default(),
    };
    written_files(&config, &path, written)?;
    let mut notes = notes::all(&built.policy, &named, setup.machine.as_ref(), unix_s());
    notes.extend(expired);
    Policy::new(&State::new(Default::default(), 0).into(), built.policy, None)
        .map_err(GatewayError::Names)?;
    Ok(notes)
}

/// Checks the files of a configuration whose settings wait for a restart, which would fail without them.
pub(super) fn of_restart(
    config: &Config,
    waiting: &[&str],
    written: Written<'_>,
) -> Result<(), GatewayError> {
    if waiting.contains(&"admin.token_file") {
        admin_token(config, written)?;
    }
    let files = ["keys.store", "access_log", "usage.json_lines"];
    if waiting.iter().any(|name| files.contains(name)) {
        written_files(config, &store_of(config), written)?;
    }
    Ok(())
}

/// Checks the files that a gateway writes to.
fn written_files(config: &Config, store: &Path, written: Written<'_>) -> Result<(), GatewayError> {
    // SQLite makes files beside it.
    let keys = can_write(store).and_then(|()| can_make_beside(store));
    keys.map_err(written.named("keys.store", config.keys.store.as_ref()))?;
    if let Some(log) = &config.access_log.path {
        let can = can_write(log.get_ref()).map_err(|error| of_log(&error));
        can.map_err(written.named("access_log.path", Some(log)))?;
    }
    match (&config.usage.http, &config.usage.json_lines) {
        (Some(url), _) => {
            HttpSink::new(url.get_ref(), "").map_err(GatewayError::File)?;
        }
        (None, Some(path)) => {
            can_write(path.get_ref()).map_err(written.named("usage.json_lines", Some(path)))?;
        }
        (None, None) => {}
    }
    Ok(())
}

/// Whether a file could be written to, or made where there is none. A pipe is not opened: its reader would take the end of the
/// check for the end of the log. Whether it has a reader is not known then.
fn can_write(path: &Path) -> Result<(), GatewayError> {
    let tried = match lines::is_pipe(path) {
        true => access(path, Access::WRITE_OK).map_err(io::Error::from),
        false => OpenOptions::new().append(true).open(path).map(drop),
    };
    let Err(error) = tried else { return Ok(()) };
    match error.kind() {
        io::ErrorKind::NotFound => can_make_beside(path),
        _ => Err(wrong(path, &error.to_string())),
    }
}

/// Whether a file could be made in the folder of another: one of one byte is, and removed at once. The folder's mode does
/// not say: root may write whatever it says, and nobody to a file system that is read-only or full.
fn can_make_beside(path: &Path) -> Result<(), GatewayError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let probe = folder
        .unwrap_or(Path::new("."))
        .join(format!(".plimsoll-gate-check-{}", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&probe);
    let removed = made.and_then(|mut file| {
        let written = file.write_all(&[0]);
        fs::remove_file(&probe).and(written)
    });
    removed.map_err(|error| wrong(path, &format!("its folder takes no file: {error}")))
}

/// A flag that names the log has no place that would say what the file is.
fn of_log(error: &GatewayError) -> GatewayError {
    GatewayError::File(format!("the access log {error}"))
}

fn wrong(path: &Path, why: &str) -> GatewayError {
    GatewayError::File(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_can_be_written_is_tried_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        assert!(can_write(&path).is_ok());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::write(&path, "kept").unwrap();
        assert!(can_write(&path).is_ok());
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        let below = path.join("gate.db");
        assert!(can_write(&below).is_err(), "a file is no folder");
    }

    /// Opening it would end a reader that waits for the gateway. One may come until the start.
    #[test]
    fn a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        testkit::pipes::make(&path);
        assert!(can_write(&path).is_ok());
    }

    /// Root may write where the mode says that nobody may.
    #[test]
    fn the_mode_of_a_folder_is_not_what_decides() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let path = folder.path().join("gate.db");
        let said = can_write(&path).is_ok();
        let can = fs::write(&path, "").is_ok();
        assert_eq!(said, can);
    }

    /// A folder that was removed while it is open: its mode says that it can be written to.
    #[test]
    fn a_folder_that_takes_no_files_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let open = fs::File::open(folder.path()).unwrap();
        folder.close().unwrap();
        let path = format!("/proc/self/fd/{}/gate.db", open.as_raw_fd());
        let said = can_write(Path::new(&path)).unwrap_err().to_string();
        assert!(said.contains("its folder takes no file"), "{said}");
    }
}
