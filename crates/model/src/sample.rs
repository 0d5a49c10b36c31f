//! One look at a machine, a process or a service: `plimsoll.sample/1`, a line of JSON.
//!
//! Owns the form and the stable names of what is read. A sample holds values as they were read: counters that only
//! grow, and gauges. Rates and shares are computed later ([`crate::observed`]), from two samples. Reading is the
//! crate `observe`'s.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.sample/1";

/// Values kept of one sample at most, counters and gauges together.
pub const MOST_VALUES: usize = 4096;
/// Bytes of a value's name at most.
pub const MOST_NAME_BYTES: usize = 200;
/// Threads of a source that are asked what holds them up (`process.held_up`) at most.
pub const MOST_ASKED_THREADS: usize = 64;

/// What a source is to the load.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The machine that sends the load.
    Generator,
    /// The application that is measured.
    App,
    /// A proxy before it.
    Proxy,
    /// Its database.
    Db,
    /// Its cache.
    Cache,
    /// Anything else.
    #[default]
    Any,
}

impl Role {
    /// Every role that a source can be given.
    pub const ALL: [Self; 6] =
        [Self::Generator, Self::App, Self::Proxy, Self::Db, Self::Cache, Self::Any];

    /// As on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::App => "app",
            Self::Proxy => "proxy",
            Self::Db => "db",
            Self::Cache => "cache",
            Self::Any => "any",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// Values read at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sample {
    /// `plimsoll.sample/1`.
    pub schema: String,
    /// When it was taken, in nanoseconds since 1970 by the clock of the machine that took it.
    pub at_unix_ns: i64,
    /// When it was taken, since the run's start by the generator's clock; absent outside of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<Nanos>,
    /// What the source is to the load.
    pub role: Role,
    /// The source's name.
    pub source: String,
    /// How the source is read, secrets masked; on its first line in a result folder only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_from: Option<String>,
    /// Processor time that taking it cost.
    pub cost_ns: Nanos,
    /// What only grows, by name: `cpu.user_ns`, `disk.reads{sda}`. One that fell has been reset.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// What rises and falls, by name: `tcp.time_wait`, `listen.queue{0.0.0.0:80}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, f64>,
    /// What could not be read, and why, by the first part of the names it would have had.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Why nothing could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Values that were left out because there were too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Sample {
    /// One of these values, taken at `at_unix_ns`.
    pub fn new(at_unix_ns: i64) -> Self {
        Self { schema: SCHEMA.to_owned(), at_unix_ns, ..Self::default() }
    }

    /// One that could not be taken.
    pub fn failed(at_unix_ns: i64, error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::new(at_unix_ns) }
    }

    /// Adds a counter.
    pub fn count(&mut self, name: impl Into<String>, value: u64) {
        let name = name.into();
        if self.has_room(&name) {
            self.counters.insert(name, value);
        }
    }

    /// Adds a gauge; what is not finite is left out.
    pub fn gauge(&mut self, name: impl Into<String>, value: f64) {
        let name = name.into();
        if value.is_finite() && self.has_room(&name) {
            self.gauges.insert(name, value);
        }
    }

    /// Says that values whose names begin like this could not be read.
    pub fn miss(&mut self, what: &str, why: impl Into<String>) {
        self.missing.entry(what.to_owned()).or_insert_with(|| why.into());
    }

    fn has_room(&mut self, name: &str) -> bool {
        let room =
            self.counters.len() + self.gauges.len() < MOST_VALUES && name.len() <= MOST_NAME_BYTES;
        self.left_out += u64::from(!room);
        room
    }

    /// Cuts what came from elsewhere to what is kept of a sample.
    pub fn bounded(mut self) -> Self {
        let before = self.counters.len() + self.gauges.len();
        self.counters.retain(|name, _| name.len() <= MOST_NAME_BYTES);
        self.gauges.retain(|name, value| name.len() <= MOST_NAME_BYTES && value.is_finite());
        while self.counters.len() + self.gauges.len() > MOST_VALUES {
            if self.counters.pop_last().is_none() {
                self.gauges.pop_last();
            }
        }
        let left_out = before - self.counters.len() - self.gauges.len();
        self.left_out = self.left_out.saturating_add(left_out as u64);
        self.read_from = None;
        let cut = |text: &String| text.chars().take(MOST_NAME_BYTES).collect::<String>();
        self.error = self.error.as_ref().map(cut);
        self.source = cut(&self.source);
        self.missing = self.missing.iter().take(32).map(|(n, why)| (cut(n), cut(why))).collect();
        self
    }
}

/// The label of a name: `sda` of `disk.reads{sda}`.
pub fn label(name: &str) -> Option<&str> {
    name.strip_suffix('}')?.split_once('{').map(|(_, label)| label)
}

/// A name without its label: `disk.reads` of `disk.reads{sda}`.
pub fn stem(name: &str) -> &str {
    name.split_once('{').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_stem_and_perhaps_a_label() {
        for (name, is_stem, is_label) in [
            ("disk.reads{sda}", "disk.reads", Some("sda")),
            ("cpu.user_ns", "cpu.user_ns", None),
            ("listen.queue{[::]:80}", "listen.queue", Some("[::]:80")),
            ("odd{", "odd", None),
        ] {
            assert_eq!((stem(name), label(name)), (is_stem, is_label), "{name}");
        }
    }

    #[test]
    fn a_sample_holds_so_many_values_and_counts_the_rest() {
        let mut sample = Sample::new(0);
        (0..MOST_VALUES + 5).for_each(|n| sample.count(format!("n{n}"), 1));
        sample.gauge("g", 1.0);
        assert_eq!((sample.counters.len(), sample.left_out), (MOST_VALUES, 6));
        let mut foreign = Sample::new(0);
        foreign.counters = (0..9_000).map(|n| (format!("n{n}"), 1)).collect();
        foreign.gauges.insert("x".repeat(300), 1.0);
        let foreign = foreign.bounded();
        assert_eq!((foreign.counters.len(), foreign.left_out), (MOST_VALUES, 4_905));
    }

    #[test]
    fn a_sample_is_read_as_it_was_written() {
        let mut sample = Sample::new(5);
        sample.count("tcp.retransmits", 7);
        sample.gauge("load.1m", 0.5);
        sample.gauge("nothing", f64::NAN);
        sample.miss("conntrack", "no such file");
        let text = serde_json::to_string(&sample).unwrap();
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
        assert!(!text.contains("nothing") && !text.contains("error"), "{text}");
    }
}
