//! What a configuration changes, for the audit log: the names of settings, without values, which may be secrets.
//!
//! The store keeps a digest of each setting of the configuration that ran last. So a start is compared with the
//! configuration before it, and a reload with the one in force.

use std::collections::{BTreeMap, BTreeSet};

use model::quote::plain;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::GatewayError;
use super::control::{Changing, Control, unix_s};
use crate::admission::Line;
use crate::config::Config;
use crate::keys::{Digester, Stamp};
use crate::policy::Policy;

/// Names of settings that are listed as changed, added or removed, at most of each.
const TOLD_MOST: usize = 20;
/// Characters of such a name.
const NAME: usize = 80;

/// The settings of a configuration: by their names, each as a digest of its value.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Account(BTreeMap<String, String>);

impl Account {
    /// Of a configuration as it was written, of the flags beside it, and of the load line that was read.
    fn of(text: &str, flags: &Config, line: Option<&Line>, digester: &Digester) -> Self {
        // It was read before: what is no TOML never comes into force.
        let written: Table = toml::from_str(text).unwrap_or_default();
        let mut values = BTreeMap::new();
        for (name, value) in &written {
            add(&mut values, name.clone(), value);
        }
        for kind in ["tier", "upstream"] {
            // The first one has a meaning of its own.
            let first = written.get(kind).and_then(|all| all.get(0)?.get("name")?.as_str());
            values.extend(first.map(|name| (format!("first {kind}"), name.to_owned())));
        }
        values.extend(of_flags(flags));
        let measured = line.map(|line| {
            let Line { url, measured_at, rate_per_s, at_once, envelope, .. } = line;
            let costs: Vec<_> = line.endpoints().collect();
            format!("{url} {measured_at} {rate_per_s} {at_once} {envelope:?} {costs:?}")
        });
        values.extend(measured.map(|measured| ("content of the load line".to_owned(), measured)));
        let digest =
            |value: String| format!("{:016x}", digester.digest(value.as_bytes()).words()[0]);
        Self(values.into_iter().map(|(name, value)| (name, digest(value))).collect())
    }

    /// What a later configuration changes, in words; `None` where that is nothing.
    fn changes_to(&self, later: &Self) -> Option<String> {
        let both =
            later.0.iter().filter_map(|(name, value)| Some((name, self.0.get(name)?, value)));
        let changed = both.filter(|(_, own, other)| own != other);
        let changed: Vec<&str> = changed.map(|(name, _, _)| name.as_str()).collect();
        let parts = [
            ("changed", changed),
            ("added", later.without(self)),
            ("removed", self.without(later)),
        ];
        let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> =
            parts.map(|(what, names)| format!("{what} {}", listed(&names))).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The names that another one lacks. Of a whole route, tier or the like it is its name alone.
    fn without(&self, other: &Self) -> Vec<&str> {
        let names = self.0.keys().filter(|name| !other.0.contains_key(name.as_str()));
        let names: BTreeSet<&str> = names.map(String::as_str).collect();
        let is_part =
            |name: &str| name.match_indices('.').any(|(at, _)| names.contains(&name[..at]));
        names.iter().copied().filter(|name| !is_part(name)).collect()
    }

    fn json(&self) -> Vec<u8> {
        // A map of texts has no value that JSON lacks.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Adds a value, of a table those in it. Tables of a list go by their names, listeners by their addresses.
fn add(values: &mut BTreeMap<String, String>, name: String, value: &Value) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                add(values, format!("{name}.{key}"), value);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_table) => {
            for (place, item) in list.iter().enumerate() {
                let own = item.get("name").or_else(|| item.get("address")).and_then(Value::as_str);
                let own = own.map_or_else(|| (place + 1).to_string(), str::to_owned);
                let name = format!("{name}.{own}");
                values.insert(name.clone(), String::new());
                add(values, name, item);
            }
        }
        value => {
            values.insert(name, serde_json::to_string(value).unwrap_or_default());
        }
    }
}

/// What flags say, by their names.
fn of_flags(flags: &Config) -> Vec<(String, String)> {
    let listen: Vec<&str> =
        flags.listen.iter().map(|listen| listen.address.get_ref().as_str()).collect();
    let servers = flags.upstream.iter().flat_map(|upstream| upstream.servers.get_ref());
    let servers: Vec<&str> = servers.map(|server| server.get_ref().as_str()).collect();
    let list = |all: Vec<&str>| (!all.is_empty()).then(|| all.join(" "));
    let path = |path: &Option<toml::Spanned<std::path::PathBuf>>| {
        path.as_ref().map(|path| path.get_ref().display().to_string())
    };
    let all = [
        ("--listen", list(listen)),
        ("--upstream", list(servers)),
        ("--loadline", path(&flags.loadline)),
        ("--admin", flags.admin.address.as_ref().map(|address| address.get_ref().clone())),
        ("--admin-token", path(&flags.admin.token_file)),
        ("--store", path(&flags.keys.store)),
        ("--open", flags.keys.open.then(String::new)),
        ("--usage-lines", path(&flags.usage.json_lines)),
        ("--access-log", path(&flags.access_log.path)),
        ("--workers", flags.workers.as_ref().map(|workers| workers.get_ref().to_string())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(TOLD_MOST).map(|name| plain(name, NAME)).collect();
    match names.len().saturating_sub(TOLD_MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl Control {
    fn account(&self, changing: &Changing, text: &str, policy: &Policy) -> Account {
        let line = policy.line().map(|line| &**line);
        Account::of(text, &self.setup().flags, line, changing.store.digester())
    }

    /// Notes that a configuration replaces the one in force, and what it changes.
    pub(super) fn note_change(
        &self,
        changing: &Changing,
        text: &str,
        policy: &Policy,
        stamp: &Stamp<'_>,
    ) -> Result<(), GatewayError> {
        let before = self.account(changing, &changing.text, &self.policy());
        let later = self.account(changing, text, policy);
        let changes = before.changes_to(&later).unwrap_or_else(|| "no setting differs".to_owned());
        let what = format!("configuration replaced: {changes}");
        let noted = changing.store.record_settings(&later.json(), Some(&what), stamp);
        noted.map_err(GatewayError::Store)
    }

    /// Notes what the configuration of this start changes against the last one that ran with the store. To be called once the
    /// gateway serves, and is the only one of those that it takes over.
    pub(super) fn note_start(&self) {
        let changing = self.changing();
        let store = &changing.store;
        let by = if self.setup().take_over { "take-over" } else { "start" };
        let own = self.account(&changing, &changing.text, &self.policy());
        let noted = store.settings().and_then(|before| {
            let before = before.and_then(|json| serde_json::from_slice::<Account>(&json).ok());
            if before.as_ref() == Some(&own) {
                return Ok(());
            }
            let changes = before.and_then(|before| before.changes_to(&own));
            let what =
                changes.map(|changes| format!("started with another configuration: {changes}"));
            let stamp = Stamp { at_s: unix_s(), by };
            store.record_settings(&own.json(), what.as_deref(), &stamp)
        });
        if let Err(error) = noted {
            let why =
                "whether the configuration is another one than before is not in the audit log";
            self.troubles().say(format!("{error}: {why}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Envelope;
    use crate::config::Flags;

    fn account(text: &str, flags: Flags) -> Account {
        Account::of(text, &Config::from(flags), None, &Digester::new(b"secret"))
    }

    const TEXT: &str = "\
        [[upstream]]\nname = \"api\"\nservers = [\"http://user:hunter2@127.0.0.1:1\"]\n\
        [[tier]]\nname = \"free\"\nrate = \"10/s\"\ntogether = { rate = \"1000/s\" }\n";

    #[test]
    fn settings_are_named_and_values_are_not() {
        let gold = "[[tier]]\nname = \"gold\"\nrate = \"500/s\"\n";
        let cases = [
            (TEXT.replace("10/s", "11/s"), Some("changed tier.free.rate")),
            (TEXT.replace("1000/s", "1/s"), Some("changed tier.free.together.rate")),
            (TEXT.replace("hunter2", "hunter3"), Some("changed upstream.api.servers")),
            (format!("{TEXT}{gold}"), Some("added tier.gold")),
            (TEXT.replace("rate = \"10/s\"\n", ""), Some("removed tier.free.rate")),
            (
                TEXT.replace("\"free\"", "\"some\""),
                Some("changed first tier; added tier.some; removed tier.free"),
            ),
            (format!("# As before.\n{TEXT}"), None),
        ];
        let before = account(TEXT, Flags::default());
        for (text, told) in cases {
            assert_eq!(
                before.changes_to(&account(&text, Flags::default())).as_deref(),
                told,
                "{text}"
            );
        }
        let kept = String::from_utf8(before.json()).unwrap();
        assert!(!kept.contains("hunter2") && !kept.contains("10/s"), "{kept}");
        assert_eq!(serde_json::from_str::<Account>(&kept).unwrap(), before);
    }

    /// Of the same rate, but held to another latency.
    #[test]
    fn what_a_load_line_says_is_a_setting() {
        let of = |limit_ns: u64| {
            let envelope = Envelope { limit_ns, ..Envelope::default() };
            let line = Line { envelope, ..Line::default() };
            Account::of(TEXT, &Config::default(), Some(&line), &Digester::new(b"secret"))
        };
        assert_eq!(of(1).changes_to(&of(1)), None);
        assert_eq!(of(1).changes_to(&of(2)).as_deref(), Some("changed content of the load line"));
    }

    #[test]
    fn flags_are_settings_too() {
        let before = account("", Flags { workers: Some(1), ..Flags::default() });
        let later = Flags { workers: Some(2), open: true, ..Flags::default() };
        let told = before.changes_to(&account("", later)).unwrap();
        assert_eq!(told, "changed --workers; added --open");
    }

    #[test]
    fn many_names_are_counted() {
        let text: String = (10..40).map(|n| format!("[[tier]]\nname = \"t{n}\"\n")).collect();
        let told =
            account("", Flags::default()).changes_to(&account(&text, Flags::default())).unwrap();
        assert!(
            told.starts_with("added first tier, tier.t10, ") && told.ends_with(" 11 more"),
            "{told}"
        );
    }
}
