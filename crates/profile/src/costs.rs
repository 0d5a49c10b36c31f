//! What every function costs: itself, with its callees, with what the runtime does for it, and with the garbage that is
//! collected because of it; whose code the cost is; and what each layer of handlers adds.
//!
//! Garbage is collected in the background, in stacks that do not say whose it is. It is charged to those who allocate:
//! by their bytes where a profile of allocations is at hand, else by the time that their allocations took.

mod shares;
mod sums;
#[cfg(test)]
mod tests;

use model::profiled::{FunctionCost, Profiled, SCHEMA, ValueKind};

use self::shares::Shares;
use self::sums::Summed;
use crate::data::Profile;
use crate::error::Error;
use crate::functions::Functions;

/// Functions below this share of the total are not listed.
const LEAST_SHARE: f64 = 0.0005;
/// Functions that are listed at most.
const MOST_LISTED: usize = 500;
/// Layers that are listed at most.
const MOST_LAYERS: usize = 40;
/// The kind of values that says how many bytes were allocated.
const ALLOCATED: &str = "alloc_space";

/// A profile to sum up, and what is known beside it.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The kind of values.
    pub kind: usize,
    /// What was allocated at the same time.
    pub allocations: Option<&'a Profile>,
    /// Requests completed in it.
    pub requests: Option<f64>,
    /// Prefixes of the service's own functions.
    pub own: &'a [String],
    /// Where it is from.
    pub source: &'a str,
}

/// Sums a profile up. Of its functions those are listed that cost most.
///
/// # Errors
/// When the profile of allocations has no bytes.
pub fn costs(taken: &Taken<'_>) -> Result<Profiled, Error> {
    let mut profiled = costs_of_all(taken)?;
    let all = profiled.functions.len();
    profiled.functions.retain(|function| function.share.abs() >= LEAST_SHARE);
    profiled.functions.truncate(MOST_LISTED);
    profiled.dropped = (all - profiled.functions.len()) as u64;
    Ok(profiled)
}

/// As [`costs`], with every function.
///
/// # Errors
/// As [`costs`].
pub(crate) fn costs_of_all(taken: &Taken<'_>) -> Result<Profiled, Error> {
    let profile = taken.profile;
    let summed = Summed::of(profile, taken.kind, Functions::of(profile, taken.own), false);
    let allocations = match taken.allocations {
        None => None,
        Some(profile) => {
            let kind = profile.kind(Some(ALLOCATED))?;
            let mut functions = Functions::of(profile, taken.own);
            functions.respond_as(profile, &summed.functions, taken.profile);
            Some((profile, Summed::of(profile, kind, functions, true)))
        }
    };
    let value = &profile.value_types[taken.kind];
    let shares = Shares::of(&summed, allocations.as_ref());
    let value = ValueKind { kind: value.kind.clone(), unit: value.unit.clone() };
    let requests = taken.requests.filter(|requests| *requests > 0.0);
    let per_request = value.nanoseconds().zip(requests);
    let micros = |value: f64| {
        per_request.map(|(nanoseconds, requests)| value * nanoseconds / 1e3 / requests)
    };
    // A profile of what was allocated has its bytes itself.
    let of_bytes = value.kind == ALLOCATED;
    let functions = functions(taken, &summed, &shares, &micros);
    Ok(Profiled {
        schema: SCHEMA.to_owned(),
        source: taken.source.to_owned(),
        value,
        values: (profile.value_types.iter())
            .map(|value| ValueKind { kind: value.kind.clone(), unit: value.unit.clone() })
            .collect(),
        stacks: profile.samples.len() as u64,
        samples: profile.looks(taken.kind),
        total: summed.total,
        duration_ns: u64::try_from(profile.duration_ns).ok().filter(|duration| *duration > 0),
        requests: taken.requests,
        bytes: match of_bytes {
            true => Some(summed.total),
            false => allocations.as_ref().map(|(_, allocated)| allocated.total),
        },
        collecting: summed.collecting,
        collecting_by: shares.by.to_owned(),
        owners: shares.owners(&summed),
        layers: shares.layers(taken, &summed, &micros),
        dropped: 0,
        functions,
        notes: profile.notes.clone(),
    })
}

/// The functions, those that cost most first.
fn functions(
    taken: &Taken<'_>,
    summed: &Summed,
    shares: &Shares<'_>,
    micros: &dyn Fn(f64) -> Option<f64>,
) -> Vec<FunctionCost> {
    let profile = taken.profile;
    let requests = taken.requests.filter(|requests| *requests > 0.0);
    let of_bytes = profile.value_types[taken.kind].kind == ALLOCATED;
    let mut functions: Vec<FunctionCost> = (summed.functions.known.iter().zip(&summed.sums))
        .filter(|(_, sums)| sums.cum != 0)
        .map(|(known, sums)| {
            let name = profile.names.text(known.name);
            let (bytes, cum_bytes) = match of_bytes {
                true => (Some(sums.caused), Some(sums.cum)),
                false => shares.bytes(name),
            };
            let collecting = shares.collecting(name, sums.allocated);
            let per = |bytes: Option<i64>| Some(bytes? as f64 / requests?);
            FunctionCost {
                name: name.to_owned(),
                file: profile.names.text(known.file).to_owned(),
                owner: known.owner,
                flat: sums.flat,
                cum: sums.cum,
                caused: sums.caused,
                collecting,
                share: ratio(sums.cum.saturating_add(collecting), summed.total),
                flat_us_per_request: micros(sums.flat as f64),
                cum_us_per_request: micros((sums.cum.saturating_add(collecting)) as f64),
                bytes_per_request: per(bytes),
                cum_bytes_per_request: per(cum_bytes),
            }
        })
        .collect();
    functions.sort_by(|a, b| {
        let key = |f: &FunctionCost| f.cum.saturating_add(f.collecting).saturating_abs();
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
    functions
}

fn ratio(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
