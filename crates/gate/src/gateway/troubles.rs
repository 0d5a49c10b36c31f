//! Problems outside of the data path while a gateway runs: each is reported once when it begins and once when it ends. One
//! that comes and goes is reported at most once a minute, with how often it did.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::units::SECOND;

use super::throttle::{OnAndOff, came_and_went};

/// Messages that wait to be printed, at most; the oldest are dropped.
const WAITING_MOST: usize = 100;

/// What goes wrong.
#[derive(Debug, Default)]
pub struct Troubles(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// By what is in trouble.
    troubles: BTreeMap<&'static str, Trouble>,
    to_say: Vec<String>,
}

/// One that lasts, or did.
#[derive(Debug, Default)]
struct Trouble {
    lasts: bool,
    /// The sentence about it, as it was last.
    why: String,
    said: OnAndOff,
}

impl Trouble {
    /// What to print of it now, if anything.
    fn message(&mut self, what: &str, now_s: u64) -> Option<String> {
        let times = self.said.look(self.lasts, now_s)?;
        let often = came_and_went("it was in trouble", times);
        Some(match (self.lasts, times) {
            (true, _) => format!("{}{often}", self.why),
            (false, 0) => format!("{what}: works again"),
            (false, _) => format!("{what}: works again{often}: {}", self.why),
        })
    }
}

impl Kept {
    fn say(&mut self, sentence: String) {
        if self.to_say.len() == WAITING_MOST {
            self.to_say.remove(0);
        }
        self.to_say.push(sentence);
    }
}

impl Troubles {
    /// Notes the state of something: a problem with its reason, or none.
    pub(super) fn set(&self, what: &'static str, why: Option<String>) {
        self.set_at(what, why, now_s());
    }

    fn set_at(&self, what: &'static str, why: Option<String>, now_s: u64) {
        let mut kept = self.kept();
        let trouble = kept.troubles.entry(what).or_default();
        trouble.lasts = why.is_some();
        if let Some(why) = why {
            trouble.why = why;
        }
        if let Some(message) = trouble.message(what, now_s) {
            kept.say(message);
        }
    }

    /// Prints a message that is not about a problem.
    pub(super) fn say(&self, sentence: String) {
        self.kept().say(sentence);
    }

    /// What is wrong now.
    pub fn standing(&self) -> Vec<String> {
        let kept = self.kept();
        let lasting = kept.troubles.values().filter(|trouble| trouble.lasts);
        lasting.map(|trouble| trouble.why.clone()).collect()
    }

    /// What began or ended since this was last called, and what was put off until now.
    pub fn take_to_say(&self) -> Vec<String> {
        self.take_to_say_at(now_s())
    }

    fn take_to_say_at(&self, now_s: u64) -> Vec<String> {
        let mut kept = self.kept();
        let put_off = |(what, trouble): (&&str, &mut Trouble)| trouble.message(what, now_s);
        let put_off: Vec<_> = kept.troubles.iter_mut().filter_map(put_off).collect();
        put_off.into_iter().for_each(|message| kept.say(message));
        std::mem::take(&mut kept.to_say)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds of a clock that nobody sets.
fn now_s() -> u64 {
    net::clock::now() / SECOND
}

/// The file that a path leads to: its file system and number; `None` where there is none.
pub(super) fn file_at(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

/// What is wrong with the place of the store, where another file is in it than the one that is open.
pub(super) fn of_store(path: &Path, opened: Option<(u64, u64)>) -> Option<String> {
    let now = file_at(path);
    let what = match now {
        _ if now == opened => return None,
        None => "was removed",
        Some(_) => "was replaced by another file",
    };
    Some(format!(
        "the key store {} {what} while the gateway runs: it goes on with the keys it knows, and changes of keys and usage \
         are lost with the old file; put it back, or restart the gateway",
        path.display()
    ))
}

/// The message if the server of shared limits does not answer: the reason, and the consequence. `own` is the part of the load
/// line that this gateway holds.
pub(super) fn of_shared(why: &str, own: f64) -> String {
    format!(
        "limits are not shared: {why}; keys of tiers with `unshared = \"closed\"` are refused, the others are held by \
         this gateway alone, and of a load line it holds {:.0} %",
        own * 100.0
    )
}

/// What follows where another gateway has the store too and limits are not shared. `place` is where that one waits for a later
/// gateway.
pub(super) fn of_neighbour(store: &Path, place: &Path) -> String {
    format!(
        "another gateway uses the store {} ({}), and limits are not shared: each holds limits and quotas alone, so that a \
         client gets them from each; let them share limits (`[shared] server`), or give each a store of its own",
        store.display(),
        place.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_is_said_when_it_begins_and_when_it_ends() {
        let troubles = Troubles::default();
        troubles.set("access log", None);
        assert!(troubles.take_to_say().is_empty());
        troubles.set("access log", Some("disk full".into()));
        troubles.set("access log", Some("disk still full".into()));
        assert_eq!(troubles.standing(), ["disk still full"]);
        assert_eq!(troubles.take_to_say(), ["disk full"]);
        troubles.set("access log", None);
        troubles.set("access log", None);
        assert_eq!(troubles.take_to_say(), ["access log: works again"]);
        assert!(troubles.standing().is_empty() && troubles.take_to_say().is_empty());
    }

    /// A server of shared limits that answered every other time filled the log.
    #[test]
    fn trouble_that_comes_and_goes_is_said_once_a_minute_with_how_often_it_did() {
        let troubles = Troubles::default();
        for second in 100..=160 {
            let why = (second % 2 == 0).then(|| format!("down at {second}"));
            troubles.set_at("shared limits", why, second);
        }
        let again = "shared limits: works again";
        let often = "down at 160 (it was in trouble 29 times since the last message about it)";
        assert_eq!(troubles.take_to_say_at(160), ["down at 100", again, often]);
        assert_eq!(troubles.standing(), ["down at 160"]);
    }

    /// The log had no word of it.
    #[test]
    fn trouble_that_began_and_ended_soon_after_another_is_said_afterwards() {
        let troubles = Troubles::default();
        for (second, why) in [(1, Some("slow")), (2, None), (3, Some("too slow")), (9, None)] {
            troubles.set_at("load line", why.map(str::to_owned), second);
        }
        assert_eq!(troubles.take_to_say_at(60), ["slow", "load line: works again"]);
        // It is not set again.
        let both = "load line: works again (it was in trouble 1 time since the last message about it): too slow";
        assert_eq!(troubles.take_to_say_at(61), [both]);
        assert!(troubles.take_to_say_at(62).is_empty() && troubles.standing().is_empty());
    }

    #[test]
    fn a_store_that_is_gone_or_another_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        fs::write(&path, "one").unwrap();
        let opened = file_at(&path);
        assert_eq!(of_store(&path, opened), None);
        let moved = folder.path().join("moved.db");
        fs::rename(&path, &moved).unwrap();
        assert!(of_store(&path, opened).unwrap().contains("was removed"));
        fs::write(&path, "two").unwrap();
        assert!(of_store(&path, opened).unwrap().contains("was replaced"));
        fs::rename(&moved, &path).unwrap();
        assert_eq!(of_store(&path, opened), None);
    }
}
