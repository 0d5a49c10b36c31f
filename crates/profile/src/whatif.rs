//! What removing functions would bring: the processor time that goes with them, and the rate that the rest allows.
//!
//! With the processor as the limit, requests per second are processor time per second divided by processor time per
//! request: without a share f of it they are QPS / (1 - f). f is the functions' share of the samples, with their share
//! of the garbage that is collected in the background and of the writing of headers, divided by the time that setting
//! them took. Handlers that a removed middleware calls stay.
//!
//! What remains gets cheaper too, which no profile shows: it finds more of its own in the processor's caches, a faster
//! server wakes its clients less often, shorter responses and log lines take less to write. Measured removals say that
//! the remainder shrinks by about `CHEAPER` of f, and by some microseconds of a request at most (`CHEAPER_MOST_US`):
//! these are costs of passing from one piece of work to another, not of the work.

mod interval;
mod named;
mod removal;

use model::profiled::{Profiled, WHATIF_SCHEMA, WhatIf};

use self::interval::{Parts, interval};
use self::removal::Removal;
use crate::costs::Taken;
use crate::error::Error;

/// Samples below which nothing is predicted: at 1,000 the share of a tenth is known to a fifth of itself.
const LEAST_SAMPLES: u64 = 300;
/// Samples that go, below which nothing is predicted.
const LEAST_REMOVED: u64 = 5;
/// The share of its processors that a server must keep busy for the processor to be its limit.
const LEAST_BUSY: f64 = 0.85;
/// The largest share for which the arithmetic means anything.
const MOST_REMOVED: f64 = 0.95;
/// By what part of the share that goes the remainder gets cheaper: where half of the time goes, the other half shrinks by
/// three tenths. Chosen on removals of the case study's middlewares alone, so a rule of thumb for servers of that kind; how
/// well it does is measured by `cargo xtask truth predictions` and by the case study.
const CHEAPER: f64 = 0.6;
/// How much cheaper the remainder gets at most, in microseconds of a request: about what it was in the largest of those
/// removals. Where a request takes hundreds of microseconds of computing, the remainder does not notice.
const CHEAPER_MOST_US: f64 = 4.0;

/// What a prediction starts from.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// The profile.
    pub taken: Taken<'a>,
    /// The profile, summed up.
    pub profiled: &'a Profiled,
    /// Functions that go, by their names.
    pub asked: &'a [String],
    /// Functions that stay with their callees although one that goes calls them.
    pub stay: &'a [String],
    /// The run's requests per second.
    pub qps: f64,
    /// Its standard error, as a share.
    pub qps_error: f64,
    /// Processors that the server may use.
    pub processors: Option<f64>,
    /// Why the run itself allows no prediction.
    pub refused: Option<String>,
    /// The highest rate that the generator is known to make.
    pub ceiling: Option<f64>,
}

/// Predicts.
///
/// # Errors
/// When no function has an asked name, or the profile has no samples.
pub fn whatif(start: &Start<'_>) -> Result<WhatIf, Error> {
    let taken = &start.taken;
    let samples = start.profiled.samples.unwrap_or(0);
    let nanoseconds = start.profiled.value.nanoseconds().unwrap_or(1.0);
    let total = start.profiled.total as f64 * nanoseconds;
    let busy = start.profiled.duration_ns.map_or(0.0, |duration| total / duration as f64);
    let unfit = start.refused.clone().or_else(|| unfit(start, samples, busy));
    // A thin profile may lack the function: that need be no wrong name.
    let (unfit, removal) = match unfit {
        Some(why) if samples < LEAST_SAMPLES => {
            let unknown = Removal::of(taken.profile, taken.own, start.asked, start.stay).err();
            let unknown = unknown.map_or_else(String::new, |unknown| format!("; {unknown}"));
            let removal = Removal::lenient(taken.profile, taken.own, start.asked, start.stay);
            (Some(why + &unknown), removal)
        }
        unfit => (unfit, Removal::of(taken.profile, taken.own, start.asked, start.stay)?),
    };
    let time = removal.sums(taken.profile, taken.kind, false);
    let bytes = match taken.allocations {
        Some(profile) => {
            let kind = profile.kind(Some("alloc_space"))?;
            let mut of_bytes = Removal::lenient(profile, taken.own, start.asked, start.stay);
            of_bytes.functions.respond_as(profile, &removal.functions, taken.profile);
            // A server may record no allocations.
            Some(of_bytes.sums(profile, kind, true)).filter(|bytes| bytes.total > 0.0)
        }
        None => None,
    };
    let share_of_samples = samples as f64 / time.total.max(1.0);
    let parts = Parts::of(&time, bytes.as_ref());
    let share = parts.share();
    let removed = (time.removed * share_of_samples).round() as u64;
    let requests = taken.requests.filter(|requests| *requests > 0.0);
    let cpu_us_now = requests.map_or(0.0, |requests| time.total * nanoseconds / 1000.0 / requests);
    let refused = unfit.or_else(|| too_little(samples, removed, share));
    let mut what = WhatIf {
        schema: WHATIF_SCHEMA.to_owned(),
        source: taken.source.to_owned(),
        asked: start.asked.to_vec(),
        removed: removal.names(taken.profile),
        callees_stay: time.stayed > 0.0,
        refused,
        qps_now: start.qps,
        qps_predicted: None,
        qps_low: None,
        qps_high: None,
        share,
        share_collecting: parts.share_collecting(),
        share_headers: parts.share_headers(),
        cpu_us_now,
        rest_cheaper: cheaper(share, cpu_us_now, CHEAPER),
        cpu_us_predicted: cpu_us_now * left(share, cpu_us_now, CHEAPER),
        samples,
        samples_removed: removed,
        busy,
        processors: start.processors,
        next: None,
        verified: None,
    };
    if what.refused.is_none() {
        let predicted = start.qps / left(share, cpu_us_now, CHEAPER);
        let (low, high) = interval(start, &time, bytes.as_ref(), (share_of_samples, cpu_us_now));
        (what.qps_predicted, what.qps_low, what.qps_high) =
            (Some(predicted), Some(low), Some(high));
        what.next = Some(next(predicted, start.ceiling));
    }
    Ok(what)
}

/// What is left of the processor time per request without a share of it.
fn left(share: f64, cpu_us: f64, part: f64) -> f64 {
    (1.0 - share) * (1.0 - cheaper(share, cpu_us, part))
}

/// By what share of itself the remainder gets cheaper.
fn cheaper(share: f64, cpu_us: f64, part: f64) -> f64 {
    let most_us = CHEAPER_MOST_US * part / CHEAPER;
    let most = if cpu_us > 0.0 { most_us / (cpu_us * (1.0 - share)) } else { 0.0 };
    (part * share).min(most)
}

/// Why nothing can be predicted of a run and its profile, whatever goes.
fn unfit(start: &Start<'_>, samples: u64, busy: f64) -> Option<String> {
    if start.taken.requests.is_none_or(|requests| requests <= 0.0) {
        return Some(
            "it is not known how many requests were completed while the profile was taken"
                .to_owned(),
        );
    }
    let Some(processors) = start.processors.filter(|processors| *processors > 0.0) else {
        return Some(
            "it is not known how many processors the server may use: give --processors N"
                .to_owned(),
        );
    };
    if busy < LEAST_BUSY * processors {
        return Some(format!(
            "its processors were not the server's limit: it kept {busy:.2} of {processors} busy, less than {:.0} %; it waited \
             for something else (a database, a lock, the network, others on its machine), or the load is too small",
            LEAST_BUSY * 100.0
        ));
    }
    if samples < LEAST_SAMPLES {
        return Some(format!(
            "the profile is too thin: {samples} samples, at least {LEAST_SAMPLES} are needed; profile for longer"
        ));
    }
    None
}

/// Why nothing can be predicted of what goes.
fn too_little(samples: u64, removed: u64, share: f64) -> Option<String> {
    if removed < LEAST_REMOVED {
        return Some(format!(
            "these functions are in {removed} of {samples} samples: too few to predict from"
        ));
    }
    if share > MOST_REMOVED {
        return Some(format!(
            "{:.0} % of the processor time would go: nothing is left to predict from",
            share * 100.0
        ));
    }
    None
}

fn next(predicted: f64, ceiling: Option<f64>) -> String {
    match ceiling.filter(|ceiling| predicted > *ceiling) {
        Some(ceiling) => {
            format!("the load generator: its highest known rate here is {ceiling:.0}/s")
        }
        None => "the processor again".to_owned(),
    }
}
