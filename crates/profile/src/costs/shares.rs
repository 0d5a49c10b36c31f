//! How the collection of garbage is divided among those who allocate, by bytes or by time.

use std::collections::HashMap;

use model::profiled::{Layer, Owner, OwnerShare};

use super::sums::{Summed, plus};
use super::{ALLOCATED, LEAST_SHARE, MOST_LAYERS, Taken, ratio};
use crate::data::Profile;
use crate::functions::Known;

/// How the collection of garbage is divided.
pub struct Shares<'a> {
    pub(super) by: &'static str,
    collecting: i64,
    allocated: i64,
    summed: &'a Summed,
    /// Of the profile of allocations: sums and layers by name.
    bytes: Option<HashMap<&'a str, (i64, i64)>>,
    layer_bytes: HashMap<&'a str, i64>,
    owner_bytes: Option<&'a HashMap<Owner, i64>>,
}

impl<'a> Shares<'a> {
    pub(super) fn of(summed: &'a Summed, allocations: Option<&'a (&'a Profile, Summed)>) -> Self {
        let Some((profile, bytes)) = allocations.filter(|(_, bytes)| bytes.total > 0) else {
            return Self {
                by: if summed.all_allocated > 0 { "time" } else { "none" },
                collecting: summed.collecting,
                allocated: summed.all_allocated,
                summed,
                bytes: None,
                layer_bytes: HashMap::new(),
                owner_bytes: None,
            };
        };
        let name = |known: &Known| profile.names.text(known.name);
        let sums = bytes.functions.known.iter().zip(&bytes.sums);
        let layers = bytes.layers.iter();
        Self {
            by: "bytes",
            collecting: summed.collecting,
            allocated: bytes.total,
            summed,
            bytes: Some(
                sums.map(|(known, sums)| (name(known), (sums.allocated_itself, sums.cum)))
                    .collect(),
            ),
            layer_bytes: layers
                .map(|(at, layer)| (name(&bytes.functions.known[*at as usize]), layer.added))
                .collect(),
            owner_bytes: Some(&bytes.caused),
        }
    }

    pub(super) fn bytes(&self, name: &str) -> (Option<i64>, Option<i64>) {
        let Some(bytes) = &self.bytes else { return (None, None) };
        let (itself, cum) = bytes.get(name).copied().unwrap_or_default();
        (Some(itself), Some(cum))
    }

    fn part(&self, allocated: i64) -> i64 {
        (ratio(allocated, self.allocated) * self.collecting as f64).round() as i64
    }

    /// What is collected because of a function and its callees, which allocated `timed` by time.
    pub(super) fn collecting(&self, name: &str, timed: i64) -> i64 {
        match &self.bytes {
            Some(bytes) => self.part(bytes.get(name).map_or(0, |(_, cum)| *cum)),
            None => self.part(timed),
        }
    }

    pub(super) fn owners(&self, summed: &Summed) -> Vec<OwnerShare> {
        let allocated = self.owner_bytes.unwrap_or(&self.summed.allocated);
        let mut charged = 0;
        let mut owners: Vec<OwnerShare> = (Owner::ALL.into_iter())
            .map(|owner| {
                let of = |map: &HashMap<Owner, i64>| map.get(&owner).copied().unwrap_or(0);
                let collecting = self.part(of(allocated));
                plus(&mut charged, collecting);
                let (flat, caused) =
                    (of(&summed.flat), of(&summed.caused).saturating_add(collecting));
                OwnerShare { owner, flat, cum: of(&summed.cum), caused, share: 0.0 }
            })
            .collect();
        // What nobody is known to have allocated, and what rounding left, is the runtime's.
        plus(&mut owners[Owner::ALL.len() - 1].caused, summed.collecting.saturating_sub(charged));
        for share in &mut owners {
            share.share = ratio(share.caused, summed.total);
        }
        owners
    }

    pub(super) fn layers(
        &self,
        taken: &Taken<'_>,
        summed: &Summed,
        micros: &dyn Fn(f64) -> Option<f64>,
    ) -> Vec<Layer> {
        let of_bytes = taken.profile.value_types[taken.kind].kind == ALLOCATED;
        let requests = taken.requests.filter(|requests| *requests > 0.0);
        let mut layers: Vec<(f64, Layer)> = (summed.layers.iter())
            .map(|(at, sums)| {
                let known = &summed.functions.known[*at as usize];
                let name = taken.profile.names.text(known.name);
                let bytes = match (&self.bytes, of_bytes) {
                    (_, true) => Some(sums.added),
                    (Some(_), _) => Some(self.layer_bytes.get(name).copied().unwrap_or(0)),
                    (None, _) => None,
                };
                let collecting = self.part(bytes.unwrap_or(sums.allocated));
                let layer = Layer {
                    name: name.to_owned(),
                    owner: known.owner,
                    calls_next: sums.calls_next,
                    added: sums.added,
                    collecting,
                    share: ratio(sums.added.saturating_add(collecting), summed.total),
                    us_per_request: micros((sums.added.saturating_add(collecting)) as f64),
                    bytes_per_request: bytes.zip(requests).map(|(bytes, of)| bytes as f64 / of),
                };
                (sums.depth / sums.stacks.max(1.0), layer)
            })
            .filter(|(_, layer)| layer.share.abs() >= LEAST_SHARE)
            .collect();
        // A chain needs two that are called by a dispatcher; one alone is an accident of names.
        if layers.len() < 2 {
            return Vec::new();
        }
        layers.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.name.cmp(&b.1.name)));
        layers.into_iter().map(|(_, layer)| layer).take(MOST_LAYERS).collect()
    }
}
