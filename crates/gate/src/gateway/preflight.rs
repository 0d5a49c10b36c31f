//! What a start would meet, found out without a start: every file is looked at, and none is made or changed.
//!
//! Owns the checks of files. Names and values are `config`'s; addresses are not bound, so a port may be taken all the
//! same.

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::control::{admin_token, built, notes_of, read};
use super::{GatewayError, STORE, Setup, listeners};
use crate::config::{Built, Config};
use crate::keys::Store;
use crate::policy::{Policy, State};
use crate::usage::HttpSink;

/// Checks all that a start needs, but for its ports; what may not be meant.
pub(super) fn check(setup: &Setup) -> Result<Vec<String>, GatewayError> {
    let (config, text) = read(setup)?;
    let built = built(&config, &text, setup.file.as_deref())?;
    listeners(&built.listeners)?;
    admin_token(&config)?;
    let path = config.keys.store.clone().unwrap_or_else(|| STORE.into());
    written_files(&config, &built, &path)?;
    let keys = match path.exists() {
        true => {
            let store = Store::inspect(&path).map_err(GatewayError::Store)?;
            store.tiers_of_keys().map_err(GatewayError::Store)?
        }
        false => Default::default(),
    };
    let notes = notes_of(&built.policy, &keys, setup.machine.as_ref());
    Policy::new(&State::new(Default::default(), 0).into(), built.policy, None)
        .map_err(GatewayError::Names)?;
    Ok(notes)
}

/// Checks the files that a gateway writes to.
fn written_files(config: &Config, built: &Built, store: &Path) -> Result<(), GatewayError> {
    can_write(store)?;
    if let Some(log) = &built.access_log {
        can_write(&log.path)?;
    }
    match (&config.usage.http, &config.usage.json_lines) {
        (Some(url), _) => {
            HttpSink::new(url.get_ref(), "").map_err(GatewayError::File)?;
        }
        (None, Some(path)) => can_write(path)?,
        (None, None) => {}
    }
    Ok(())
}

/// Whether a file could be written to, or made where there is none.
fn can_write(path: &Path) -> Result<(), GatewayError> {
    let wrong = |why: String| Err(GatewayError::File(format!("{}: {why}", path.display())));
    if path.exists() {
        return match OpenOptions::new().append(true).open(path) {
            Ok(_) => Ok(()),
            Err(error) => wrong(error.to_string()),
        };
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match fs::metadata(folder.unwrap_or(Path::new("."))) {
        Ok(about) if !about.is_dir() => wrong("its folder is a file".into()),
        Ok(about) if about.permissions().readonly() => wrong("its folder is read-only".into()),
        Ok(_) => Ok(()),
        Err(error) => wrong(format!("its folder: {error}")),
    }
}
