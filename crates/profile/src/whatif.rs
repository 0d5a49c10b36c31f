//! What removing functions would bring: the processor time that goes with them, and the rate that the rest allows.
//!
//! With the processor as the limit, requests per second are processor time per second divided by processor time per
//! request: without a share f of it they are QPS / (1 - f). f is the functions' share of the samples, with their share
//! of the garbage that is collected in the background and of the writing of headers, divided by the time that setting
//! them took. Handlers that a removed middleware calls stay.
//!
//! What remains gets cheaper too, which no profile shows: it finds more of its own in the processor's caches, a faster
//! server wakes its clients less often, shorter responses and log lines take less to write. Measured removals say that
//! the remainder shrinks by about [`CHEAPER`] of f, and by some microseconds of a request at most ([`CHEAPER_MOST_US`]):
//! these are costs of passing from one piece of work to another, not of the work.

use model::profiled::{Profiled, WHATIF_SCHEMA, WhatIf};
use model::random::Draws;
use regex::Regex;

use crate::costs::Taken;
use crate::data::Profile;
use crate::error::Error;
use crate::functions::Functions;

/// Samples below which nothing is predicted: at 1,000 the share of a tenth is known to a fifth of itself.
const LEAST_SAMPLES: u64 = 300;
/// Samples that go, below which nothing is predicted.
const LEAST_REMOVED: u64 = 5;
/// The share of its processors that a server must keep busy for the processor to be its limit.
const LEAST_BUSY: f64 = 0.85;
/// The largest share for which the arithmetic means anything.
const MOST_REMOVED: f64 = 0.95;
/// Drawings of the interval.
const DRAWINGS: usize = 4000;
/// By what part of the share that goes the remainder gets cheaper: where half of the time goes, the other half shrinks by
/// three tenths. Chosen on removals of the case study's middlewares alone, so a rule of thumb for servers of that kind; how
/// well it does is measured by `cargo xtask truth predictions` and by the case study.
pub const CHEAPER: f64 = 0.6;
/// Its standard deviation.
const CHEAPER_ERROR: f64 = 0.3;
/// How much cheaper the remainder gets at most, in microseconds of a request: about what it was in the largest of those
/// removals. Where a request takes hundreds of microseconds of computing, the remainder does not notice.
pub const CHEAPER_MOST_US: f64 = 4.0;
/// Standard deviation between two runs of the same server, restarted, as a share: what no single run can tell of itself.
const RESTART_ERROR: f64 = 0.05;
/// Bytes between two samples of Go's profile of allocations.
const ALLOCATION_SAMPLE: f64 = 524_288.0;
/// Names that are suggested.
const SUGGESTED: usize = 4;

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
    let total = start.profiled.total as f64;
    let busy = start.profiled.duration_ns.map_or(0.0, |duration| total / duration as f64);
    let unfit = start.refused.clone().or_else(|| unfit(start, samples, busy));
    // A thin profile may lack the function: that is no wrong name.
    let removal = match unfit {
        Some(_) => Removal::lenient(taken.profile, taken.own, start.asked, start.stay),
        None => Removal::of(taken.profile, taken.own, start.asked, start.stay)?,
    };
    let time = removal.sums(taken.profile, taken.kind, false);
    let bytes = match taken.allocations {
        Some(profile) => {
            let kind = profile.kind(Some("alloc_space"))?;
            let mut of_bytes = Removal::lenient(profile, taken.own, start.asked, start.stay);
            of_bytes.functions.respond_as(profile, &removal.functions, taken.profile);
            Some(of_bytes.sums(profile, kind, true))
        }
        None => None,
    };
    let share_of_samples = samples as f64 / time.total.max(1.0);
    let parts = Parts::of(&time, bytes.as_ref().filter(|bytes| bytes.total > 0.0));
    let share = parts.share();
    let removed = (time.removed * share_of_samples).round() as u64;
    let requests = taken.requests.filter(|requests| *requests > 0.0);
    let cpu_us_now = requests.map_or(0.0, |requests| time.total / 1000.0 / requests);
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

/// Which functions go, and which hold others up.
struct Removal {
    functions: Functions,
    goes: Vec<bool>,
    stays: Vec<bool>,
}

/// Sums over a profile's samples.
#[derive(Debug, Clone, Copy, Default)]
struct Removed {
    total: f64,
    removed: f64,
    /// In handlers that a removed function calls, which stay.
    stayed: f64,
    collecting: f64,
    allocated: f64,
    allocated_removed: f64,
    /// Setting headers of the response.
    set: f64,
    set_removed: f64,
    /// Writing them, outside of what goes.
    written: f64,
}

impl Removal {
    fn of(
        profile: &Profile,
        own: &[String],
        asked: &[String],
        stay: &[String],
    ) -> Result<Self, Error> {
        let removal = Self::lenient(profile, own, asked, stay);
        for name in asked.iter().chain(stay) {
            if named(profile, &removal.functions, name).is_empty() {
                return Err(Error::NoMatch {
                    asked: name.clone(),
                    near: near(profile, &removal.functions, name),
                });
            }
        }
        Ok(removal)
    }

    fn lenient(profile: &Profile, own: &[String], asked: &[String], stay: &[String]) -> Self {
        let functions = Functions::of(profile, own);
        let any = |names: &[String]| {
            let mut found = vec![false; functions.known.len()];
            for name in names {
                for at in named(profile, &functions, name) {
                    found[at] = true;
                }
            }
            found
        };
        let goes = any(asked);
        let stays = any(stay)
            .iter()
            .zip(&functions.known)
            .map(|(stays, known)| *stays || known.dispatches)
            .collect();
        Self { functions, goes, stays }
    }

    fn names(&self, profile: &Profile) -> Vec<String> {
        let named = self.functions.known.iter().zip(&self.goes).filter(|(_, goes)| **goes);
        let mut names: Vec<String> =
            named.map(|(known, _)| profile.names.text(known.name).to_owned()).collect();
        names.sort();
        names
    }

    fn sums(&self, profile: &Profile, kind: usize, of_allocations: bool) -> Removed {
        let mut sums = Removed::default();
        let (mut stack, mut begun) = (Vec::new(), Vec::new());
        for sample in profile.samples.iter() {
            let value = sample.values[kind] as f64;
            self.functions.stack(profile, sample, &mut stack);
            sums.total += value;
            if self.functions.collecting(&stack) {
                sums.collecting += value;
                continue;
            }
            let allocating = of_allocations || self.functions.allocating(&stack);
            // What a dispatcher calls is not its caller's to take away, nor is the next handler.
            self.functions.handlers(&stack, &mut begun);
            let held = stack.iter().position(|at| self.stays[*at as usize]).unwrap_or(stack.len());
            let held = begun.last().map_or(held, |handler| held.min(handler + 1));
            let goes = |part: &[u32]| part.iter().any(|at| self.goes[*at as usize]);
            let removed = goes(&stack[..held]);
            if removed {
                sums.removed += value;
            } else if goes(&stack[held..]) {
                sums.stayed += value;
            }
            if self.functions.setting_header(&stack) {
                sums.set += value;
                sums.set_removed += if removed { value } else { 0.0 };
            }
            if !removed && self.functions.writing_headers(&stack) {
                sums.written += value;
            }
            if allocating {
                sums.allocated += value;
                sums.allocated_removed += if removed { value } else { 0.0 };
            }
        }
        sums
    }
}

/// The parts of a profile that a prediction is made of.
#[derive(Debug, Clone, Copy)]
struct Parts {
    removed: f64,
    collecting: f64,
    written: f64,
    rest: f64,
    set_removed: f64,
    set_rest: f64,
    allocated_removed: f64,
    allocated_written: f64,
    allocated_rest: f64,
}

impl Parts {
    fn of(time: &Removed, bytes: Option<&Removed>) -> Self {
        let allocated = bytes.unwrap_or(time);
        // Without a profile of allocations, what writing headers allocated is not told apart.
        let written = bytes.map_or(0.0, |bytes| bytes.written);
        Self {
            removed: time.removed,
            collecting: time.collecting,
            written: time.written,
            rest: time.total - time.removed - time.collecting - time.written,
            set_removed: time.set_removed,
            set_rest: time.set - time.set_removed,
            allocated_removed: allocated.allocated_removed,
            allocated_written: written,
            allocated_rest: allocated.allocated - allocated.allocated_removed - written,
        }
    }

    fn total(&self) -> f64 {
        self.removed + self.collecting + self.written + self.rest
    }

    /// The share of the headers that is no longer set.
    fn unset(&self) -> f64 {
        part(self.set_removed, self.set_removed + self.set_rest)
    }

    /// The share of the processor time that goes because headers are no longer set.
    fn share_headers(&self) -> f64 {
        part(self.written * self.unset(), self.total())
    }

    /// The share of the processor time that goes because garbage is no longer made.
    fn share_collecting(&self) -> f64 {
        let allocated = self.allocated_removed + self.allocated_written + self.allocated_rest;
        let removed = self.allocated_removed + self.allocated_written * self.unset();
        part(self.collecting * part(removed, allocated), self.total())
    }

    /// The share of the processor time that goes.
    fn share(&self) -> f64 {
        part(self.removed, self.total()) + self.share_headers() + self.share_collecting()
    }
}

/// A part of a whole; none of nothing.
fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 { of / whole } else { 0.0 }
}

/// The interval of 95 %: the samples drawn anew many times, with the run's own noise and the model's.
///
/// Samples fall into few parts only, so drawing all of them anew with replacement is drawing a Poisson number of each
/// part (the Poisson bootstrap).
fn interval(
    start: &Start<'_>,
    time: &Removed,
    bytes: Option<&Removed>,
    (per_value, cpu_us): (f64, f64),
) -> (f64, f64) {
    let parts = Parts::of(time, bytes.filter(|bytes| bytes.total > 0.0));
    let allocation = match bytes {
        Some(_) => 1.0 / ALLOCATION_SAMPLE,
        None => per_value,
    };
    let mut random = Draws::of(17);
    let noise = start.qps_error.hypot(RESTART_ERROR);
    let mut drawn: Vec<f64> = (0..DRAWINGS)
        .map(|_| {
            let mut anew = |value: f64, scale: f64| poisson(&mut random, value * scale) / scale;
            let parts = Parts {
                removed: anew(parts.removed, per_value),
                collecting: anew(parts.collecting, per_value),
                written: anew(parts.written, per_value),
                rest: anew(parts.rest, per_value),
                set_removed: anew(parts.set_removed, per_value),
                set_rest: anew(parts.set_rest, per_value),
                allocated_removed: anew(parts.allocated_removed, allocation),
                allocated_written: anew(parts.allocated_written, allocation),
                allocated_rest: anew(parts.allocated_rest, allocation),
            };
            let qps = start.qps * (1.0 + noise * normal(&mut random));
            let part = (CHEAPER + CHEAPER_ERROR * normal(&mut random)).clamp(0.0, 1.0);
            qps / left(parts.share().min(0.99), cpu_us, part)
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn[((DRAWINGS as f64 * share) as usize).min(DRAWINGS - 1)];
    (at(0.025), at(0.975))
}

/// A number above 0 and at most 1.
fn uniform(random: &mut Draws) -> f64 {
    1.0 - random.unit()
}

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut Draws) -> f64 {
    let (u, v) = (uniform(random), uniform(random));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A Poisson number; by its normal limit where the mean is large.
fn poisson(random: &mut Draws, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    if mean > 50.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0);
    }
    let (limit, mut product, mut count) = ((-mean).exp(), uniform(random), 0.0);
    while product > limit {
        product *= uniform(random);
        count += 1.0;
    }
    count
}

/// The functions that a name means. Where none has exactly this name, capital letters do not count.
fn named(profile: &Profile, functions: &Functions, name: &str) -> Vec<usize> {
    let text = |at: &usize| profile.names.text(functions.known[*at].name);
    let exact: Vec<usize> =
        (0..functions.known.len()).filter(|at| is_named(text(at), name)).collect();
    if !exact.is_empty() {
        return exact;
    }
    let lower = name.to_lowercase();
    (0..functions.known.len()).filter(|at| is_named(&text(at).to_lowercase(), &lower)).collect()
}

/// Whether a function is meant by a name: the whole of it, or what follows its last slash, or its end, closures in it
/// included.
pub fn is_named(function: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let matches = |text: &str| {
        text.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '-']))
    };
    let plain = function.split('[').next().unwrap_or(function);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    matches(function)
        || matches(&function[from..])
        || plain[from..]
            .match_indices(['.', ':'])
            .any(|(at, _)| matches(&function[from + at + 1..]))
}

/// Names like the one that was asked for.
fn near(profile: &Profile, functions: &Functions, name: &str) -> Vec<String> {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let Ok(like) = Regex::new(&format!("(?i){}", regex::escape(last))) else { return Vec::new() };
    let names = functions.known.iter().map(|known| profile.names.text(known.name));
    names.filter(|name| like.is_match(name)).take(SUGGESTED).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_functions_and_their_closures() {
        let logger = "apiserver/internal/middleware.Logger.func1";
        for (function, name, expected) in [
            (logger, "middleware.Logger", true),
            (logger, "Logger", true),
            (logger, "apiserver/internal/middleware.Logger", true),
            (logger, "Log", false),
            (logger, "ware.Logger", false),
            ("main.(*T).Serve-fm", "(*T).Serve", true),
            ("shop::auth::check", "auth::check", true),
            (logger, "", false),
        ] {
            assert_eq!(is_named(function, name), expected, "{function} {name}");
        }
    }

    #[test]
    fn the_share_holds_what_goes_elsewhere() {
        // 20 of 100 go, and a half of what is allocated, and with it a half of 10.
        let parts = Parts {
            removed: 20.0,
            collecting: 10.0,
            written: 0.0,
            rest: 70.0,
            set_removed: 0.0,
            set_rest: 0.0,
            allocated_removed: 4.0,
            allocated_written: 0.0,
            allocated_rest: 4.0,
        };
        assert!((parts.share() - 0.25).abs() < 1e-12);
        // Three of four headers are no longer set: so much of the 20 that write them goes.
        let parts = Parts { written: 20.0, rest: 50.0, set_removed: 3.0, set_rest: 1.0, ..parts };
        assert!((parts.share_headers() - 0.15).abs() < 1e-12);
        assert!((parts.share() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn handlers_behind_a_middleware_stay_without_a_dispatcher_between() {
        let text = "net/http.serverHandler.ServeHTTP;main.(*auth).ServeHTTP;main.check 10\n\
                    net/http.serverHandler.ServeHTTP;main.(*auth).ServeHTTP;main.(*api).ServeHTTP;main.query 50\n\
                    net/http.serverHandler.ServeHTTP;net/http.readRequest 40\n";
        let profile = crate::read(text.as_bytes()).unwrap();
        let asked = ["main.(*auth).ServeHTTP".to_owned()];
        let sums = Removal::of(&profile, &[], &asked, &[]).unwrap().sums(&profile, 0, false);
        assert_eq!((sums.total, sums.removed, sums.stayed), (100.0, 10.0, 50.0));
    }

    #[test]
    fn poisson_numbers_have_their_mean() {
        for mean in [0.5, 8.0, 400.0] {
            let mut random = Draws::of(3);
            let drawn: Vec<f64> = (0..20_000).map(|_| poisson(&mut random, mean)).collect();
            let found = drawn.iter().sum::<f64>() / 20_000.0;
            assert!((found / mean - 1.0).abs() < 0.03, "{mean}: {found}");
        }
    }
}
