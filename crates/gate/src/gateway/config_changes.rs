//! Changes of the configuration that were attempted, by whomever, until they are printed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use model::quote::plain;

use super::{GatewayError, Reloaded};

/// Changes that wait to be printed, at most; the oldest are dropped.
const WAITING_MOST: usize = 100;
/// Characters of a refusal in the audit log.
const REFUSAL: usize = 500;

/// What came of a change that was attempted.
pub(super) type Outcome = Result<Reloaded, GatewayError>;

/// A change of the configuration that was attempted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChange {
    /// By whom: `admin API`, `SIGHUP`.
    pub by: String,
    /// What was to happen with the configuration: `read again`, `replaced`.
    pub what: &'static str,
    /// When its files began to be read; `None` where the configuration came as text.
    pub read_at: Option<SystemTime>,
    /// What came of it; in words why nothing was changed.
    pub outcome: Result<Reloaded, String>,
}

/// Those that were not printed yet.
#[derive(Debug, Default)]
pub(super) struct ConfigChanges(Mutex<VecDeque<ConfigChange>>);

impl ConfigChanges {
    pub(super) fn note(&self, by: &str, read_at: Option<SystemTime>, outcome: &Outcome) {
        let what = if read_at.is_some() { "read again" } else { "replaced" };
        let outcome = match outcome {
            Ok(reloaded) => Ok(reloaded.clone()),
            Err(error) => Err(error.to_string()),
        };
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == WAITING_MOST {
            waiting.pop_front();
        }
        waiting.push_back(ConfigChange { by: by.to_owned(), what, read_at, outcome });
    }

    pub(super) fn take(&self) -> VecDeque<ConfigChange> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the audit log says of a change that was refused, cut short where it is long. Values that the parser of TOML quotes are
/// left out: they may be secrets.
pub(super) fn refusal(error: &GatewayError) -> String {
    let text = error.to_string();
    let text = match (text.find('"'), text.rfind('"')) {
        (Some(from), Some(to)) if from < to => {
            format!("{}\"...\"{}", &text[..from], &text[to + 1..])
        }
        _ => text,
    };
    format!("configuration refused: {}", plain(&text, REFUSAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_log_has_no_values_of_a_refused_configuration() {
        let said = |text: &str| refusal(&GatewayError::File(text.to_owned()));
        assert_eq!(said("no file"), "configuration refused: no file");
        let quoted = r#"line 1: string "a\"b", expected u32"#;
        assert_eq!(said(quoted), "configuration refused: line 1: string \"...\", expected u32");
        // The name of a setting may be as long as a configuration.
        assert!(said(&"a".repeat(1 << 20)).len() < 2 * REFUSAL);
    }

    #[test]
    fn each_is_taken_once_and_the_oldest_are_left_out() {
        let config_changes = ConfigChanges::default();
        for n in 0..=WAITING_MOST {
            config_changes.note("test", None, &Err(GatewayError::File(n.to_string())));
        }
        let taken = config_changes.take();
        assert_eq!((taken.len(), taken[0].outcome.clone()), (WAITING_MOST, Err("1".to_owned())));
        assert!(config_changes.take().is_empty());
    }
}
