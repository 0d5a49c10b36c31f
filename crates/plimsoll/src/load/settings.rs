//! The settings of a load, and where each comes from: a flag, the environment, the workload file, or a default.
//!
//! Owns their precedence, and which settings are impossible. [`plan`](super::plan) makes plans of settings.

use model::random::{GOLDEN, mixed};
use model::units::{SECOND, exact_duration};
use model::workload::{LoadSpec, Workload};
use model::{Arrivals, Nanos, StatusRanges};

use crate::args::{LoadArgs, ShapeArgs};
use crate::failure::{Failure, usage};
use crate::load::shape::Shape;

/// The window when nothing says how long it is.
pub const DEFAULT_DURATION: Nanos = 10 * SECOND;
/// After this time an attempt has failed, by default.
const DEFAULT_TIMEOUT: Nanos = 30 * SECOND;
/// Seed of every draw, by default.
const DEFAULT_SEED: u64 = 1;
/// Connections of a closed loop, by default.
const DEFAULT_CONNECTIONS: u64 = 10;
/// Connections at most of an open loop, by default; they are opened when arrivals need them.
const DEFAULT_CAP: u64 = 1_000;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// An environment variable that the workload file names.
    Environment,
    /// The workload file.
    File,
    /// Nothing sets it.
    Default,
}

/// A value with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting<T> {
    /// What holds.
    pub value: T,
    /// What set it.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// The flag wins over the file, the file over the default.
    pub fn of(flag: Option<T>, file: Option<T>, default: T) -> Self {
        match (flag, file) {
            (Some(value), _) => Self { value, origin: Origin::Flag },
            (None, Some(value)) => Self { value, origin: Origin::File },
            (None, None) => Self { value: default, origin: Origin::Default },
        }
    }
}

impl<T> Setting<Option<T>> {
    /// The same, of a value that may be left out.
    fn maybe(flag: Option<T>, file: Option<T>) -> Self {
        Self::of(flag.map(Some), file.map(Some), None)
    }
}

/// What all levels of a load have in common.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Time-out of an attempt.
    pub timeout_ns: Setting<Nanos>,
    /// Statuses that count as success, where an endpoint has none of its own.
    pub success: Setting<StatusRanges>,
    /// Time before the measured window.
    pub warmup_ns: Setting<Nanos>,
    /// Over this time load grows from nothing.
    pub ramp_ns: Setting<Nanos>,
    /// How arrivals of an open loop are spaced.
    pub arrivals: Setting<Arrivals>,
    /// Fixed interval between the sends of one closed-loop user.
    pub pace_ns: Setting<Option<Nanos>>,
    /// Wait of a closed-loop user after a response.
    pub think_ns: Setting<Option<Nanos>>,
    /// Seed of every draw.
    pub seed: Setting<u64>,
}

impl Settings {
    /// What flags and file come to.
    pub fn of(args: &LoadArgs, file: Option<&Workload>) -> Self {
        let load = file.map(|workload| &workload.load);
        let time = |of: fn(&LoadSpec) -> Option<model::workload::Time>| {
            load.and_then(of).map(|time| time.0)
        };
        let timeout = file.and_then(|workload| workload.timeout).map(|time| time.0);
        let success = file.and_then(|workload| workload.success.clone());
        let arrivals = load.and_then(|load| load.arrivals);
        Self {
            timeout_ns: Setting::of(args.timeout, timeout, DEFAULT_TIMEOUT),
            success: Setting::of(args.success.clone(), success, StatusRanges::default()),
            warmup_ns: Setting::of(args.warmup, time(|load| load.warmup), 0),
            ramp_ns: Setting::of(args.ramp, time(|load| load.ramp), 0),
            arrivals: Setting::of(args.arrivals, arrivals, Arrivals::Uniform),
            pace_ns: Setting::maybe(args.pace, time(|load| load.pace)),
            think_ns: Setting::maybe(args.think, time(|load| load.think)),
            seed: Setting::of(args.seed, load.and_then(|load| load.seed), DEFAULT_SEED),
        }
    }

    /// The seed of the `nth` of several runs of one load, counted from 0, that are samples of it: each has random numbers of
    /// its own, the first those of the seed itself. It has 53 bits, which readers of JSON keep.
    pub fn seed_of(&self, nth: u64) -> u64 {
        match nth {
            0 => self.seed.value,
            _ => mixed(self.seed.value.wrapping_add(nth.wrapping_mul(GOLDEN))) >> 11,
        }
    }

    /// What a kind of loop has no use for.
    ///
    /// # Errors
    /// When it was asked for all the same.
    pub fn check(&self, shape: Shape) -> Result<(), Failure> {
        if shape.rate_per_s.is_none() && self.arrivals.origin != Origin::Default {
            return usage("--arrivals belongs to an open loop: give its rate with -R");
        }
        self.check_level(shape)
    }

    /// What a level has no use for, one of several whose loops may differ.
    ///
    /// # Errors
    /// When it was asked for all the same.
    pub fn check_level(&self, shape: Shape) -> Result<(), Failure> {
        self.check_pauses(shape.rate_per_s.is_some())?;
        self.check_ramp(shape)
    }

    /// Pauses between the requests of one user, of which an open loop knows nothing.
    ///
    /// # Errors
    /// When there are some in an open loop.
    pub fn check_pauses(&self, open: bool) -> Result<(), Failure> {
        let set = |pause: &Setting<Option<Nanos>>| pause.value.map(|_| pause.origin);
        match set(&self.pace_ns).or(set(&self.think_ns)).filter(|_| open) {
            None => Ok(()),
            Some(Origin::File) => usage(
                "the workload file's `pace` and `think` belong to a closed loop, and its `load` would be an open \
                 one here: leave out either them or the rate",
            ),
            Some(_) => {
                usage("--pace and --think belong to a closed loop: leave out either them or -R")
            }
        }
    }

    /// A load that never reaches its level would be reported as one of that level.
    ///
    /// # Errors
    /// When the ramp does not end inside of the window.
    fn check_ramp(&self, shape: Shape) -> Result<(), Failure> {
        let (ramp_ns, warmup_ns) = (self.ramp_ns.value, self.warmup_ns.value);
        match shape.duration_ns.map(|window_ns| warmup_ns + window_ns) {
            Some(lasts_ns) if ramp_ns > lasts_ns => usage(format!(
                "--ramp {} is longer than warm-up and window, {} together: the load would never reach its \
                 level",
                exact_duration(ramp_ns),
                exact_duration(lasts_ns)
            )),
            _ => Ok(()),
        }
    }
}

/// How much load for how long, of a single run.
#[derive(Debug, Clone)]
pub struct ShapeSettings {
    /// Users in a closed loop, the cap in an open loop.
    pub connections: Setting<u64>,
    /// Arrivals per second; none in a closed loop.
    pub rate_per_s: Setting<Option<f64>>,
    /// The measured window; none where a count of requests ends the run.
    pub duration_ns: Setting<Option<Nanos>>,
    /// Requests at most.
    pub requests: Setting<Option<u64>>,
}

impl ShapeSettings {
    /// What flags and the file's load come to. A rate opens the loop; the flag `-c` caps its
    /// connections then.
    pub fn of(flags: &ShapeArgs, load: Option<&LoadSpec>) -> Self {
        let count = |of: fn(&LoadSpec) -> Option<model::workload::Count>| {
            load.and_then(of).map(|count| count.0)
        };
        let rate = load.and_then(|load| load.rate).map(|rate| rate.0);
        let rate_per_s = Setting::maybe(flags.rate, rate);
        let requests = Setting::maybe(flags.requests, count(|load| load.requests));
        let (own, default) = match (rate_per_s.value, load) {
            (None, None) => (None, flags.requests.map_or(DEFAULT_CONNECTIONS, for_requests)),
            (None, Some(_)) => (count(|load| load.concurrency), DEFAULT_CONNECTIONS),
            (Some(_), _) => (count(|load| load.connections), DEFAULT_CAP),
        };
        let duration = load.and_then(|load| load.duration).map(|time| time.0);
        let mut duration_ns = Setting::maybe(flags.duration, duration);
        if duration_ns.origin != Origin::Flag && requests.origin == Origin::Flag {
            duration_ns = Setting { value: None, origin: Origin::Flag };
        } else if duration_ns.value.is_none() && requests.value.is_none() {
            duration_ns.value = Some(DEFAULT_DURATION);
        }
        let connections = Setting::of(flags.connections, own, default);
        Self { connections, rate_per_s, duration_ns, requests }
    }

    /// What `load` of a workload file asks for and the loop has no use for.
    ///
    /// # Errors
    /// When it bounds the connections of an open loop, and nothing says how many users the loop, which is closed, has.
    pub fn check(&self, load: Option<&LoadSpec>) -> Result<(), Failure> {
        let closed = self.rate_per_s.value.is_none();
        match load.and_then(|load| load.connections) {
            Some(most) if closed && self.connections.origin == Origin::Default => usage(format!(
                "the workload file's `connections` bounds an open loop, and no rate is given: the users of a closed loop are \
                 `concurrency: {}`",
                most.0
            )),
            _ => Ok(()),
        }
    }

    /// Of a load whose profile ends at `ends_ns` after the run's start: warm-up is its first part, and the window ends with
    /// it, unless another length was asked for. Else it would end with a time without load.
    ///
    /// # Errors
    /// When nothing is left to measure.
    pub fn end_with_profile(&mut self, ends_ns: Nanos, warmup_ns: Nanos) -> Result<(), Failure> {
        if self.duration_ns.value != Some(ends_ns) || warmup_ns == 0 {
            return Ok(());
        }
        if warmup_ns >= ends_ns {
            return usage(format!(
                "a warm-up of {} leaves nothing to measure of stages or a trace of {}",
                exact_duration(warmup_ns),
                exact_duration(ends_ns)
            ));
        }
        self.duration_ns.value = Some(ends_ns - warmup_ns);
        Ok(())
    }

    /// The shape alone.
    pub fn shape(&self) -> Shape {
        Shape {
            connections: self.connections.value,
            rate_per_s: self.rate_per_s.value,
            duration_ns: self.duration_ns.value,
            requests: self.requests.value,
        }
    }
}

/// The connections of a closed loop by default, where it makes this many requests.
fn for_requests(requests: u64) -> u64 {
    requests.clamp(1, DEFAULT_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use model::workload::{Count, Rate, Time};

    use super::*;

    fn shape(flags: ShapeArgs, load: &LoadSpec) -> Shape {
        ShapeSettings::of(&flags, Some(load)).shape()
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let args = LoadArgs { timeout: Some(5), ..LoadArgs::without_flags() };
        let mut file = Workload { timeout: Some(Time(7)), ..Workload::default() };
        file.load.seed = Some(9);
        let settings = Settings::of(&args, Some(&file));
        assert_eq!(settings.timeout_ns, Setting { value: 5, origin: Origin::Flag });
        assert_eq!(settings.seed, Setting { value: 9, origin: Origin::File });
        assert_eq!(settings.warmup_ns, Setting { value: 0, origin: Origin::Default });
        assert_eq!(settings.think_ns, Setting { value: None, origin: Origin::Default });
    }

    #[test]
    fn runs_of_one_load_have_seeds_of_their_own_that_come_again() {
        let seeds = |seed: u64| {
            let args = LoadArgs { seed: Some(seed), ..LoadArgs::without_flags() };
            let settings = Settings::of(&args, None);
            (0..50).map(|nth| settings.seed_of(nth)).collect::<Vec<u64>>()
        };
        assert_eq!((seeds(1)[0], seeds(1)), (1, seeds(1)));
        let mut all: Vec<u64> = (1..20).flat_map(seeds).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 19 * 50);
        assert!(all.iter().all(|&seed| seed < 1 << 53));
    }

    #[test]
    fn connections_of_a_file_are_not_left_out_of_a_closed_loop_in_silence() {
        let most = LoadSpec { connections: Some(Count(5)), ..LoadSpec::default() };
        let check = |flags: &ShapeArgs, load: &LoadSpec| {
            ShapeSettings::of(flags, Some(load)).check(Some(load))
        };
        let plain = ShapeArgs::default();
        let refused = check(&plain, &most).unwrap_err().to_string();
        assert!(refused.contains("`concurrency: 5`"), "{refused}");
        let users = LoadSpec { concurrency: Some(Count(7)), ..most.clone() };
        let open = LoadSpec { rate: Some(Rate(9.0)), ..most.clone() };
        let by_flag = ShapeArgs { connections: Some(3), ..ShapeArgs::default() };
        let opened = ShapeArgs { rate: Some(9.0), ..ShapeArgs::default() };
        for (flags, load) in
            [(&plain, &users), (&plain, &open), (&by_flag, &most), (&opened, &most)]
        {
            assert!(check(flags, load).is_ok(), "{flags:?} {load:?}");
        }
        assert!(check(&plain, &LoadSpec::default()).is_ok());
    }

    #[test]
    fn a_window_ends_with_the_profile_of_the_load() {
        let file = LoadSpec { duration: Some(Time(10)), ..LoadSpec::default() };
        let ended = |ends_ns, warmup_ns| {
            let mut shape = ShapeSettings::of(&ShapeArgs::default(), Some(&file));
            shape.end_with_profile(ends_ns, warmup_ns).map(|()| shape.shape().duration_ns).ok()
        };
        assert_eq!(
            (ended(10, 0), ended(10, 4), ended(10, 10)),
            (Some(Some(10)), Some(Some(6)), None)
        );
        assert_eq!(
            ended(7, 4),
            Some(Some(10)),
            "a trace that is shorter than the window asked for"
        );
    }

    #[test]
    fn a_rate_opens_the_loop_and_users_close_it() {
        let closed = LoadSpec { concurrency: Some(Count(7)), ..LoadSpec::default() };
        let open = LoadSpec { rate: Some(Rate(45.0)), ..LoadSpec::default() };
        let of = |flags, load| {
            let shape = shape(flags, load);
            (shape.connections, shape.rate_per_s)
        };
        assert_eq!(of(ShapeArgs::default(), &closed), (7, None));
        assert_eq!(of(ShapeArgs::default(), &open), (1_000, Some(45.0)));
        let rate = ShapeArgs { rate: Some(9.0), ..ShapeArgs::default() };
        let of_url = ShapeSettings::of(&rate, None).shape();
        assert_eq!((of_url.connections, of_url.rate_per_s), (1_000, Some(9.0)));
        assert_eq!(of(rate, &closed), (1_000, Some(9.0)));
        let cap = ShapeArgs { connections: Some(3), ..ShapeArgs::default() };
        assert_eq!(of(cap, &open), (3, Some(45.0)));
        let plain = ShapeSettings::of(&ShapeArgs::default(), None).shape();
        assert_eq!((plain.connections, plain.duration_ns), (10, Some(DEFAULT_DURATION)));
        for (requests, connections) in [(0, 1), (1, 1), (5, 5), (1_000, 10)] {
            let few = ShapeArgs { requests: Some(requests), ..ShapeArgs::default() };
            assert_eq!(ShapeSettings::of(&few, None).shape().connections, connections);
        }
    }

    #[test]
    fn a_count_ends_a_run_unless_a_duration_is_named_too() {
        let load = LoadSpec { duration: Some(Time(60)), ..LoadSpec::default() };
        let of = |flags, load: &LoadSpec| {
            let shape = shape(flags, load);
            (shape.duration_ns, shape.requests)
        };
        let count = ShapeArgs { requests: Some(5), ..ShapeArgs::default() };
        assert_eq!(of(count, &load), (None, Some(5)));
        let both = ShapeArgs { requests: Some(5), duration: Some(9), ..ShapeArgs::default() };
        assert_eq!(of(both, &load), (Some(9), Some(5)));
        let counted = LoadSpec { requests: Some(Count(4)), ..LoadSpec::default() };
        assert_eq!(of(ShapeArgs::default(), &counted), (None, Some(4)));
    }
}
