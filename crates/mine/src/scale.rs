//! From the requests of a peak to those of a load, one step at a time, each with what it assumes.

use model::mined::ArithmeticStep;
use model::quote::{group_digits, grouped};
use model::units::{Nanos, SECOND, exact_duration, show_duration};

/// How much more load there is to be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scale {
    /// Daily users today; those of the log's busiest day unless given.
    pub users_now: Option<u64>,
    /// Daily users wanted.
    pub users_wanted: Option<u64>,
    /// The factor itself, instead of the quotient of the two.
    pub factor: Option<f64>,
    /// The interval between two requests of one user of a closed loop.
    pub pace_ns: Option<Nanos>,
    /// How many times as fast the log's own arrivals are repeated, if they are: that is the factor then.
    pub speed: Option<f64>,
}

/// The interval between requests of a user unless given: 5 users send 45 requests/s.
const PACE: Nanos = 110_000_000;

/// A computed load.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) factor: f64,
    /// The daily users that the load stands for.
    pub(crate) users: Option<u64>,
    pub(crate) pace_ns: Nanos,
    pub(crate) steps: Vec<ArithmeticStep>,
    /// What was asked for and cannot be had, in words.
    pub(crate) notes: Vec<String>,
}

/// Requests per second that a workload may have at most.
const HIGHEST_RATE: f64 = 1e9;

/// What is known of the peak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observed {
    pub(crate) requests: u64,
    pub(crate) seconds: i64,
    pub(crate) burst_factor: f64,
    /// Users of the busiest day.
    pub(crate) daily_users: u64,
}

impl Scale {
    /// Computes the load.
    ///
    /// # Errors
    /// In words, when a figure is out of range.
    pub(crate) fn apply(&self, observed: &Observed) -> Result<Scaled, String> {
        let mut scaled = Scaled { factor: 1.0, ..Scaled::default() };
        let rate = observed.requests as f64 / observed.seconds.max(1) as f64;
        let window = exact_duration(observed.seconds.max(0) as u64 * SECOND);
        scaled.note(
            format!("requests of the API in the busiest {window}"),
            observed.requests as f64,
            "the log is complete; static files and bots are not counted",
        );
        scaled.note(
            format!(
                "requests/s: {} / {} s",
                grouped(observed.requests),
                grouped(observed.seconds.max(0) as u64)
            ),
            rate,
            format!(
                "the mean of the window is the load; its busiest second had {:.1} times that",
                observed.burst_factor
            ),
        );
        self.factor(observed, &mut scaled)?;
        let wanted = rate * scaled.factor;
        if wanted > HIGHEST_RATE {
            return Err(format!(
                "{rate:.3} requests/s x {:e} are more than 1G, the highest rate that a workload may have",
                scaled.factor
            ));
        }
        if scaled.factor != 1.0 {
            scaled.note(
                format!(
                    "requests/s wanted: {} x {}",
                    grouped_figure(rate),
                    grouped_figure(scaled.factor)
                ),
                wanted,
                "load grows as users do: each goes on asking as often, and at the same hours",
            );
        }
        let pace = self.pace_ns.unwrap_or(PACE).max(1);
        let users = (wanted * pace as f64 / SECOND as f64).ceil().max(1.0);
        scaled.pace_ns = (users / wanted.max(f64::MIN_POSITIVE) * SECOND as f64).round() as Nanos;
        scaled.note(
            format!(
                "concurrency: {} requests/s / {} per user and second",
                grouped_figure(wanted),
                grouped_figure(wanted / users)
            ),
            users,
            format!(
                "each user of a closed loop sends a request every {}, and the server answers in less",
                show_duration(scaled.pace_ns)
            ),
        );
        Ok(scaled)
    }

    fn factor(&self, observed: &Observed, scaled: &mut Scaled) -> Result<(), String> {
        let now = self.users_now.unwrap_or(observed.daily_users);
        if self.users_now == Some(0) || self.users_wanted == Some(0) {
            return Err("the number of daily users must be above 0".to_owned());
        }
        let known = self.users_now.is_some();
        let named = known || self.users_wanted.is_some();
        if self.users_wanted.is_some() && now == 0 {
            return Err("the log names no users: give today's number with --dau-now".to_owned());
        }
        if named {
            let whose = match known {
                true => "as given",
                false => "the users of the log's busiest day, by address and user agent",
            };
            scaled.note("daily users now".to_owned(), now as f64, whose);
        }
        if let Some(speed) = self.speed {
            let step = "factor: the speed of the replay".to_owned();
            let as_logged =
                "the arrivals of the log are repeated, with the gaps between them divided by it";
            scaled.note(step, speed, as_logged);
            scaled.factor = speed;
        } else {
            self.quotient(now, scaled)?;
        }
        scaled.users = named.then(|| (now as f64 * scaled.factor).round().max(1.0) as u64);
        self.compare(now, scaled);
        Ok(())
    }

    /// The factor of a load that is no replay.
    fn quotient(&self, now: u64, scaled: &mut Scaled) -> Result<(), String> {
        if let Some(wanted) = self.users_wanted {
            scaled.note("daily users wanted".to_owned(), wanted as f64, "as given");
            scaled.factor = wanted as f64 / now as f64;
            let step = format!("factor: {} / {}", grouped(wanted), grouped(now));
            let linear = "the share of users that are there in the busiest hour stays the same";
            scaled.note(step, scaled.factor, linear);
        }
        if let Some(factor) = self.factor {
            if !(factor.is_finite() && factor > 0.0) {
                return Err("the factor must be above 0".to_owned());
            }
            scaled.note("factor used".to_owned(), factor, "as given, instead of the quotient");
            scaled.factor = factor;
        }
        Ok(())
    }

    /// Says whose load it is where that is not what was asked for.
    fn compare(&self, now: u64, scaled: &mut Scaled) {
        let Some(users) = scaled.users else { return };
        if self.factor.is_none() && self.speed.is_none() {
            return;
        }
        let step = format!(
            "daily users of the load: {} x {}",
            grouped(now),
            grouped_figure(scaled.factor)
        );
        let linear =
            "load grows as users do, and the share of them in the busiest hour stays the same";
        scaled.note(step, users as f64, linear);
        let Some(wanted) = self.users_wanted.filter(|wanted| *wanted != users) else { return };
        let trace = figure(wanted as f64 / now as f64);
        let (users, wanted) = (grouped(users), grouped(wanted));
        scaled.notes.push(match self.speed {
            Some(_) => format!(
                "a replay has the load of {users} daily users, not of the {wanted} of --dau-target: it repeats the \
                 arrivals of the log; --trace {trace} would stand for them"
            ),
            None => format!(
                "the load is that of {users} daily users, by --factor, not of the {wanted} of --dau-target"
            ),
        });
    }
}

impl Scaled {
    fn note(&mut self, step: String, value: f64, assumption: impl Into<String>) {
        self.steps.push(ArithmeticStep { step, value, assumption: assumption.into() });
    }
}

/// As [`figure`], for people: with its thousands apart.
fn grouped_figure(value: f64) -> String {
    group_digits(&figure(value))
}

/// A figure with as many digits as say something.
pub(crate) fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 1_000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_today_become_those_wanted() {
        // 2.4 requests/s in the peak of 16,000 users become 45 requests/s of 300,000.
        let observed =
            Observed { requests: 8_640, seconds: 3_600, burst_factor: 2.0, daily_users: 900 };
        let scale =
            Scale { users_now: Some(16_000), users_wanted: Some(300_000), ..Scale::default() };
        let scaled = scale.apply(&observed).unwrap();
        assert_eq!((scaled.factor, scaled.users), (18.75, Some(300_000)));
        assert_eq!(scaled.steps[1].step, "requests/s: 8,640 / 3,600 s");
        assert_eq!(
            [grouped_figure(12_345.6), grouped_figure(99.25), grouped_figure(0.5)],
            ["12,346", "99.25", "0.5"]
        );
        let last = scaled.steps.last().unwrap();
        assert_eq!((last.value, scaled.pace_ns), (5.0, 111_111_111));
        let rounded = Scale { factor: Some(20.0), ..scale }.apply(&observed).unwrap();
        // The load stands for 20 times today's users, whatever number was wanted.
        assert_eq!((rounded.factor, rounded.users), (20.0, Some(320_000)));
        assert!(rounded.notes[0].contains("320,000 daily users"), "{:?}", rounded.notes);
        let of_log = Scale { users_wanted: Some(9_000), ..Scale::default() };
        assert_eq!(of_log.apply(&observed).unwrap().factor, 10.0);
        for scale in [
            Scale { users_now: Some(0), ..Scale::default() },
            Scale { factor: Some(f64::NAN), ..Scale::default() },
            // More than any workload may have.
            Scale { factor: Some(1e300), ..Scale::default() },
            Scale { users_now: Some(1), users_wanted: Some(999_999_999_999), ..Scale::default() },
        ] {
            assert!(scale.apply(&observed).is_err());
        }
    }

    #[test]
    fn a_replay_stands_for_as_many_users_as_it_is_fast() {
        let observed =
            Observed { requests: 8_640, seconds: 3_600, burst_factor: 2.0, daily_users: 900 };
        let replay = Scale { users_wanted: Some(9_000), speed: Some(2.0), ..Scale::default() };
        let scaled = replay.apply(&observed).unwrap();
        assert_eq!((scaled.factor, scaled.users), (2.0, Some(1_800)));
        assert!(scaled.notes[0].contains("--trace 10 would"), "{:?}", scaled.notes);
        let enough = Scale { users_wanted: Some(1_800), ..replay }.apply(&observed).unwrap();
        assert!(enough.notes.is_empty(), "{:?}", enough.notes);
        let unknown = Scale { users_wanted: None, ..replay }.apply(&observed).unwrap();
        assert_eq!((unknown.factor, unknown.users), (2.0, None));
    }
}
