//! Endpoints in the making, and the requests of each by the names in their queries.

use model::Latencies;
use model::histogram::SparseLatencies;
use model::secret::is_secret_parameter;

use super::statuses::Statuses;
use crate::pools::decode;
use crate::rows::Rows;
use crate::template::Template;

/// Sets of query names of an endpoint, and those that are told apart until all are known.
const MOST_VARIANTS: usize = 12;
const MOST_KEPT: usize = 4 * MOST_VARIANTS;

/// An endpoint in the making.
#[derive(Debug, Default)]
pub(crate) struct Endpoint {
    pub(crate) template: usize,
    /// Which parameters of the path hold credentials that are not to be kept.
    pub(super) secrets: Vec<bool>,
    pub(crate) method: String,
    pub(crate) count: u64,
    pub(crate) peak: u64,
    pub(crate) bytes: u64,
    pub(crate) statuses: Statuses,
    /// Those of the peak that failed, by status.
    pub(crate) failed: Statuses,
    pub(crate) took: SparseLatencies,
    pub(super) waiting: Vec<u64>,
    /// The finest step in which the log writes its times taken.
    pub(crate) step_ns: u64,
    pub(crate) variants: Vec<Variant>,
    /// Requests with names in their queries that are beyond the bound.
    pub(crate) rare: Variant,
}

/// Requests of an endpoint with the same names in their queries.
#[derive(Debug, Default)]
pub(crate) struct Variant {
    /// The names, sorted, each as often as it comes; with whether its values are credentials.
    pub(crate) names: Vec<(Vec<u8>, bool)>,
    pub(crate) count: u64,
    pub(crate) peak: u64,
    /// Values of the path's parameters and of the query's, joined.
    pub(crate) rows: Rows,
}

impl Endpoint {
    /// The place of the variant with these names, sorted; beyond all where there are too many.
    pub(super) fn variant(
        &mut self,
        pairs: &[(&[u8], &[u8])],
        template: &Template,
        keep_secrets: &[String],
    ) -> usize {
        let same = |variant: &Variant| {
            variant.names.len() == pairs.len()
                && variant.names.iter().zip(pairs).all(|((name, _), (other, _))| name == other)
        };
        if let Some(at) = self.variants.iter().position(same) {
            return at;
        }
        if self.variants.len() < MOST_KEPT {
            self.variants.push(Variant::named(pairs, template, keep_secrets));
            return self.variants.len() - 1;
        }
        MOST_KEPT
    }

    /// Leaves the variants that most requests of the peak have, in an order that does not depend on which came first.
    pub(super) fn close(&mut self, ruler: &Latencies) {
        self.add_waiting(ruler);
        self.variants.sort_by(|a, b| {
            (b.peak, b.count).cmp(&(a.peak, a.count)).then_with(|| a.names.cmp(&b.names))
        });
        for rare in self.variants.drain(MOST_VARIANTS.min(self.variants.len())..) {
            self.rare.add_counts(&rare);
        }
    }

    /// Puts the times that wait with the others.
    pub(super) fn add_waiting(&mut self, ruler: &Latencies) {
        self.took.add(&mut self.waiting, ruler);
        self.waiting.clear();
    }

    /// Adds what another part of the log held.
    pub(super) fn absorb(&mut self, mut other: Self, ruler: &Latencies) {
        self.count += other.count;
        self.peak += other.peak;
        self.bytes += other.bytes;
        other.add_waiting(ruler);
        self.statuses.absorb(other.statuses);
        self.failed.absorb(other.failed);
        self.took.append(&other.took);
        self.step_ns = self.step_ns.min(other.step_ns);
        for variant in other.variants {
            match self.variants.iter().position(|own| own.names == variant.names) {
                Some(at) => {
                    let own = &mut self.variants[at];
                    own.count += variant.count;
                    own.peak += variant.peak;
                    own.rows.absorb(variant.rows);
                }
                None if self.variants.len() < MOST_KEPT => self.variants.push(variant),
                None => self.rare.add_counts(&variant),
            }
        }
        self.rare.add_counts(&other.rare);
    }
}

impl Variant {
    /// A variant of these names, of which none has come yet.
    fn named(pairs: &[(&[u8], &[u8])], template: &Template, keep_secrets: &[String]) -> Self {
        // `pass%77ord` is a password too.
        let text = |name: &[u8]| {
            decode(name, true).unwrap_or_else(|| String::from_utf8_lossy(name).into_owned())
        };
        let texts: Vec<String> = pairs.iter().map(|(name, _)| text(name)).collect();
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let path = template.text();
        let secret =
            |name: &String| is_secret_parameter(name, &all, &path) && !keep_secrets.contains(name);
        let named = |((name, _), text): (&(&[u8], &[u8]), &String)| (name.to_vec(), secret(text));
        let names = pairs.iter().zip(&texts).map(named).collect();
        Self { names, ..Self::default() }
    }

    fn add_counts(&mut self, other: &Self) {
        self.count += other.count;
        self.peak += other.peak;
    }
}
