//! The current day and month in UTC, for quotas.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use model::date::civil;

const DAY_S: i64 = 86_400;
/// If the clock is set back by less than this, no other day begins until it has caught up.
const PUT_BACK_S: i64 = 3600;
/// If the clock is further ahead than this since the last look, which was a moment ago, it was set forward.
const PUT_FORWARD_S: i64 = 3600;

/// The months' names, as protocols and logs write them.
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The periods that contain an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periods {
    /// Days since 1970-01-01.
    pub day: u32,
    /// Months since January 1970.
    pub month: u32,
    /// Seconds until the day ends.
    pub day_left_s: u32,
    /// Seconds until the month ends.
    pub month_left_s: u32,
    /// Length of the month, in seconds.
    pub month_s: u32,
}

impl Periods {
    /// The periods of a time in seconds since the epoch; a time before the epoch counts as its first second.
    pub fn at(unix_s: i64) -> Self {
        let unix_s = unix_s.max(0);
        let days = unix_s / DAY_S;
        let (year, month, _) = civil(days);
        let next = if month == 12 { first_day(year + 1, 1) } else { first_day(year, month + 1) };
        let left = |end_s: i64| u32::try_from(end_s - unix_s).unwrap_or(u32::MAX);
        Self {
            day: u32::try_from(days).unwrap_or(u32::MAX),
            month: u32::try_from((year - 1970) * 12 + month - 1).unwrap_or(u32::MAX),
            day_left_s: left((days + 1) * DAY_S),
            month_left_s: left(next * DAY_S),
            month_s: ((next - first_day(year, month)) * DAY_S) as u32,
        }
    }
}

/// Year, month (1..=12) and day (1..=31) of seconds since the epoch, in UTC.
pub fn date(unix_s: i64) -> (i64, i64, i64) {
    civil(unix_s.div_euclid(DAY_S))
}

/// The first day of a month, in days since the epoch.
fn first_day(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
        - 719_468
}

/// The current periods: set about once a second by the thread that reads the clock, read by every decision.
#[derive(Debug, Default)]
pub struct Calendar {
    unix_s: AtomicI64,
    /// The time that day and month are of.
    latest_s: AtomicI64,
    day: AtomicU32,
    month: AtomicU32,
    /// The latest day that was set.
    last_day: AtomicU32,
}

impl Calendar {
    /// Sets the time, in seconds since the epoch. If the clock was set back a little, day and month stay until it has caught
    /// up: otherwise a day that has ended would begin again with full quotas, and so would the next.
    ///
    /// Returns whether a day begins whose quotas may already be used in part: a day that was set before, or may have been, since
    /// the clock was set back further; or a day that the clock was set forward to, as on a machine that starts with a wrong
    /// time. Its counts are gone if another day has been counted since, or if they were made before this process.
    pub fn set(&self, unix_s: i64) -> bool {
        self.unix_s.store(unix_s, Ordering::Relaxed);
        let latest_s = self.latest_s.load(Ordering::Relaxed);
        if (1..PUT_BACK_S).contains(&(latest_s - unix_s)) {
            return false;
        }
        // No time was set before.
        let put_forward = latest_s != 0 && unix_s - latest_s > PUT_FORWARD_S;
        let Periods { day, month, .. } = Periods::at(unix_s);
        self.latest_s.store(unix_s, Ordering::Relaxed);
        let before = self.day.swap(day, Ordering::Relaxed);
        self.month.store(month, Ordering::Relaxed);
        let last = self.last_day.fetch_max(day, Ordering::Relaxed);
        day != before && (day <= last || put_forward)
    }

    /// The time that day and month are of: the one that was set last, unless the clock was set back a little.
    pub fn latest_s(&self) -> i64 {
        self.latest_s.load(Ordering::Relaxed)
    }

    /// The time that was set last.
    pub fn unix_s(&self) -> i64 {
        self.unix_s.load(Ordering::Relaxed)
    }

    /// Days since the epoch.
    pub fn day(&self) -> u32 {
        self.day.load(Ordering::Relaxed)
    }

    /// Months since January 1970.
    pub fn month(&self) -> u32 {
        self.month.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By a second at midnight, as NTP may do; a clock that was wrong by years is set right.
    #[test]
    fn a_day_that_has_ended_does_not_begin_again() {
        let calendar = Calendar::default();
        let seconds =
            [2 * DAY_S - 1, 2 * DAY_S, 2 * DAY_S - 1, 900 * DAY_S, DAY_S, DAY_S + 1, 2 * DAY_S];
        let days = seconds.map(|unix_s| (calendar.set(unix_s), calendar.day()));
        let (new, again) = (false, true);
        let expected =
            [(new, 1), (new, 2), (new, 2), (again, 900), (again, 1), (new, 1), (again, 2)];
        assert_eq!(days, expected);
    }

    #[test]
    fn a_day_that_the_clock_is_put_forward_to_may_have_been_counted_before() {
        let calendar = Calendar::default();
        let now_s = 20_000 * DAY_S;
        // A machine that starts with a wrong time, and then a midnight.
        let seconds = [5, now_s + 7, now_s + DAY_S - 1, now_s + DAY_S];
        assert_eq!(seconds.map(|unix_s| calendar.set(unix_s)), [false, true, false, false]);
    }

    #[test]
    fn days_and_months_are_those_of_the_calendar() {
        // Seconds, year, month, days left of the month with today (`date -ud @S`).
        let cases = [
            (0, 1970, 1, 31),
            (951_782_400, 2000, 2, 1),
            (951_868_800, 2000, 3, 31),
            (1_709_164_800, 2024, 2, 1),
            (1_735_689_599, 2024, 12, 1),
            (1_735_689_600, 2025, 1, 31),
            (4_107_542_400, 2100, 3, 31),
        ];
        for (unix_s, year, month, days_left) in cases {
            let periods = Periods::at(unix_s);
            assert_eq!(i64::from(periods.day), unix_s / DAY_S);
            assert_eq!(i64::from(periods.month), (year - 1970) * 12 + month - 1, "{unix_s}");
            let left = i64::from(periods.month_left_s) + unix_s % DAY_S;
            assert_eq!(left, days_left * DAY_S, "{unix_s}");
        }
        assert_eq!(date(951_782_400), (2000, 2, 29));
        assert_eq!(date(951_868_799), (2000, 2, 29));
        assert_eq!(date(1_735_689_599), (2024, 12, 31));
        assert_eq!(Periods::at(DAY_S - 1).day_left_s, 1);
        assert_eq!(Periods::at(-5), Periods::at(0));
    }
}
