//! Which percentiles are kept and shown: one list, and everything that is made of it.
//!
//! The list is at the end of this file. A line there is a field of [`Summary`] in every result and
//! schema, a column of the latency tables, a claim that the audit reads, and, where the line says so,
//! a figure that runs are compared by, a column of tables of levels and a column of timelines. What
//! singles out one percentile (a tile of the page, wrk's block, a rule's threshold) names it itself.
//!
//! Files that were written before a line was added lack its fields: a line added later has `#[serde(default)]`
//! before its name, and before its name in a timeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// A percentile of the list.
#[derive(Debug, Clone, Copy)]
pub struct Percentile {
    /// As JSON names it: `p999`.
    pub key: &'static str,
    /// As people write it: `p99.9`.
    pub name: &'static str,
    /// What it is, in a schema's words.
    pub description: &'static str,
    /// Share of the samples that take no longer, 0..1.
    pub share: f64,
    /// Whether runs are compared by it.
    pub compared: bool,
    /// Its figure in a summary.
    pub of: fn(&Summary) -> Nanos,
}

impl PartialEq for Percentile {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Percentile {}

impl Percentile {
    /// How many samples it takes for ten of them to lie above.
    pub fn enough(&self) -> u64 {
        (10.0 / (1.0 - self.share)).round() as u64
    }
}

/// Makes the types and tables from lines of: field, share, name, description, whether runs are
/// compared by it; then, where it has one, its field in a level and its field in a timeline.
macro_rules! percentiles {
    ($($(#[$meta:meta])* $field:ident $share:literal $name:literal $description:literal
        compared $compared:literal $(level $level:ident $of_level:literal)?
        $(second $(#[$older:meta])* $second:ident $of_second:literal)?;)*) => {
        /// What a distribution comes to. All but `count` in nanoseconds; all 0 when `count` is 0.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Summary {
            /// Samples.
            pub count: u64,
            /// Exact smallest.
            pub min: Nanos,
            /// Exact mean.
            pub mean: Nanos,
            /// Standard deviation.
            pub stdev: Nanos,
            $(#[doc = $description] $(#[$meta])* pub $field: Nanos,)*
            /// Exact largest.
            pub max: Nanos,
        }

        impl Summary {
            /// With the percentiles that `read` finds at their shares, and nothing else.
            pub fn of_percentiles(read: impl Fn(f64) -> Nanos) -> Self {
                Self { $($field: read($share),)* ..Self::default() }
            }
        }

        /// Every percentile, ascending.
        pub const PERCENTILES: &[Percentile] = &[$(Percentile {
            key: stringify!($field),
            name: $name,
            description: $description,
            share: $share,
            compared: $compared,
            of: |summary| summary.$field,
        },)*];

        /// The percentiles of response time that a level shows, in nanoseconds, where known.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct LevelPercentiles {
            $($(#[doc = $of_level] pub $level: Option<Nanos>,)?)*
        }

        impl LevelPercentiles {
            /// Those of a run's response times.
            pub const fn of(response: &Summary) -> Self {
                Self { $($($level: Some(response.$field),)?)* }
            }

            /// Names and figures, ascending.
            pub fn each(&self) -> impl Iterator<Item = (Named, Option<Nanos>)> + use<> {
                [$($((Named { name: $name, key: stringify!($level) }, self.$level),)?)*].into_iter()
            }
        }

        /// The percentiles of response time that a point of a timeline has, in nanoseconds.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct PointPercentiles {
            $($(#[doc = $of_second] $(#[$older])* pub $second: Nanos,)?)*
        }

        impl PointPercentiles {
            /// Those that `read` finds at their shares.
            pub fn of(read: impl Fn(f64) -> Nanos) -> Self {
                Self { $($($second: read($share),)?)* }
            }

            /// Names and figures, ascending.
            pub fn each(&self) -> impl Iterator<Item = (Named, Nanos)> + use<> {
                [$($((Named { name: $name, key: stringify!($second) }, self.$second),)?)*].into_iter()
            }
        }
    };
}

/// What a percentile is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// By people: `p99.9`.
    pub name: &'static str,
    /// In JSON and CSV, with its unit: `p999_ns`.
    pub key: &'static str,
}

percentiles! {
    p50 0.5 "p50" "Median." compared true level p50_ns "Median response time, where known." second p50_ns "Response time of the attempts that ended here: median.";
    p75 0.75 "p75" "75th percentile." compared false;
    p90 0.9 "p90" "90th percentile." compared true second p90_ns "90th percentile.";
    p95 0.95 "p95" "95th percentile." compared true;
    p99 0.99 "p99" "99th percentile." compared true level p99_ns "99th percentile of response time, where known." second p99_ns "99th percentile.";
    p999 0.999 "p99.9" "99.9th percentile." compared true;
    p9999 0.9999 "p99.99" "99.99th percentile." compared false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_ascends_and_every_line_reads_its_own_figure() {
        let summary = Summary::of_percentiles(|share| (share * 1e6) as Nanos);
        let json = serde_json::to_value(summary).unwrap();
        assert!(PERCENTILES.is_sorted_by(|a, b| a.share < b.share));
        for percentile in PERCENTILES {
            let nanos = (percentile.share * 1e6) as Nanos;
            assert_eq!((percentile.of)(&summary), nanos, "{}", percentile.name);
            assert_eq!(json[percentile.key], nanos, "{}", percentile.name);
            assert_eq!(percentile.name.replace('.', ""), percentile.key);
        }
    }

    #[test]
    fn ten_samples_lie_above() {
        let enough = PERCENTILES.iter().map(Percentile::enough);
        assert!(enough.eq([20, 40, 100, 200, 1_000, 10_000, 100_000]));
    }
}
