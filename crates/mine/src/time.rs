//! Timestamps as logs write them.
//!
//! Owns reading the common log format's time, ISO 8601 and times since the epoch. Does not own a clock.

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// An instant, with the zone in which the log writes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since the epoch, in UTC.
    pub ns: i64,
    /// Seconds by which the log's zone is ahead of UTC.
    pub offset_s: i32,
}

impl Stamp {
    /// Whole seconds since the epoch.
    pub(crate) fn seconds(self) -> i64 {
        self.ns.div_euclid(SECOND)
    }

    /// Of whole seconds in a zone; nothing outside of the years 1970 to 2199.
    fn local(seconds: i64, nanos: i64, offset_s: i32) -> Option<Self> {
        const LAST: i64 = 7_258_118_400;
        let utc = seconds.checked_sub(i64::from(offset_s))?;
        (0..LAST).contains(&utc).then(|| Self { ns: utc * SECOND + nanos, offset_s })
    }

    /// From a number of seconds, milliseconds, microseconds or nanoseconds since the epoch; which of them it is, its
    /// size says.
    pub fn since_epoch(number: f64) -> Option<Self> {
        let seconds = match number {
            n if n < 0.0 || !n.is_finite() => return None,
            n if n < 1e11 => n,
            n if n < 1e14 => n / 1e3,
            n if n < 1e17 => n / 1e6,
            n => n / 1e9,
        };
        let whole = seconds.floor();
        // A double holds a time of this century to about a quarter of a microsecond.
        let micros = ((seconds - whole) * 1e6).round() as i64;
        Self::local(whole as i64, micros * 1_000, 0)
    }

    /// `10/Oct/2000:13:55:36 -0700`.
    pub fn common(text: &[u8]) -> Option<Self> {
        let [d0, d1, b'/', m0, m1, m2, b'/', year @ ..] = text else { return None };
        let month = month([*m0, *m1, *m2])?;
        let day = two(*d0, *d1)?;
        let [y0, y1, y2, y3, b':', rest @ ..] = year else { return None };
        let year = two(*y0, *y1)? * 100 + two(*y2, *y3)?;
        let (time, zone) = rest.split_at_checked(8)?;
        let zone = match zone {
            [] => 0,
            [b' ', zone @ ..] => offset(zone)?,
            _ => return None,
        };
        Self::local(days(year, month, day)? * DAY + clock(time)?, 0, zone)
    }

    /// `2026-11-23T15:04:05.678+01:00`; the zone may be missing (UTC) and `T` may be a blank.
    pub fn iso(text: &[u8]) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let day = date_of(date)?;
        let [b'T' | b't' | b' ' | b'_', rest @ ..] = rest else { return None };
        let (time, rest) = rest.split_at_checked(8)?;
        let seconds = day * DAY + clock(time)?;
        let (nanos, zone) = match rest {
            [b'.' | b',', rest @ ..] => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (fraction(&rest[..digits])?, &rest[digits..])
            }
            _ => (0, rest),
        };
        Self::local(seconds, nanos, offset(zone.trim_ascii())?)
    }

    /// A date `2026-11-23` and a time `15:04:05`, in UTC (W3C).
    pub(crate) fn date_and_time(date: &[u8], time: &[u8]) -> Option<Self> {
        let (clock_part, rest) = time.split_at_checked(8)?;
        let nanos = match rest {
            [] => 0,
            [b'.', digits @ ..] => fraction(digits)?,
            _ => return None,
        };
        Self::local(date_of(date)? * DAY + clock(clock_part)?, nanos, 0)
    }
}

/// Reads one kind of time; a time equal to the one before is not read again.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    text: Vec<u8>,
    stamp: Stamp,
}

impl Memo {
    /// The length of the last time's text, if a text begins with it.
    pub(crate) fn length_in(&self, text: &[u8]) -> Option<usize> {
        (!self.text.is_empty() && text.starts_with(&self.text)).then_some(self.text.len())
    }

    pub(crate) fn read(&mut self, text: &[u8], read: fn(&[u8]) -> Option<Stamp>) -> Option<Stamp> {
        if self.text == text && !text.is_empty() {
            return Some(self.stamp);
        }
        let stamp = read(text)?;
        self.text.clear();
        self.text.extend_from_slice(text);
        self.stamp = stamp;
        Some(stamp)
    }
}

/// Days from the epoch to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1970..2200).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let past = year - 1;
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let leap_days = leaps(past) - leaps(1969) + i64::from(month > 2 && leap(year));
    Some((year - 1970) * 365 + leap_days + BEFORE[month as usize - 1] + day - 1)
}

fn month(name: [u8; 3]) -> Option<i64> {
    const NAMES: [&[u8; 3]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let name = name.map(|byte| byte.to_ascii_lowercase());
    NAMES.iter().position(|other| **other == name).map(|at| at as i64 + 1)
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    let both = tens.is_ascii_digit() && ones.is_ascii_digit();
    both.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

/// `2026-11-23` as days since the epoch.
fn date_of(text: &[u8]) -> Option<i64> {
    let [y0, y1, y2, y3, b'-' | b'/', m0, m1, b'-' | b'/', d0, d1] = text else { return None };
    days(two(*y0, *y1)? * 100 + two(*y2, *y3)?, two(*m0, *m1)?, two(*d0, *d1)?)
}

/// `15:04:05` as seconds; 60 is a leap second, the same as 59.
fn clock(text: &[u8]) -> Option<i64> {
    let [h0, h1, b':', m0, m1, b':', s0, s1] = text else { return None };
    let (hour, minute, second) = (two(*h0, *h1)?, two(*m0, *m1)?, two(*s0, *s1)?);
    let valid = hour < 24 && minute < 60 && second <= 60;
    valid.then(|| hour * 3_600 + minute * 60 + second.min(59))
}

/// Digits behind the point, as nanoseconds.
fn fraction(digits: &[u8]) -> Option<i64> {
    let mut nanos = 0;
    for at in 0..9 {
        let digit = digits.get(at).copied().unwrap_or(b'0');
        nanos = nanos * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
    }
    Some(nanos)
}

/// `+0100`, `-07:00`, `Z` or nothing.
fn offset(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [] | b"Z" | b"z" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [h0, h1, m0, m1] | [h0, h1, b':', m0, m1] => (two(*h0, *h1)?, two(*m0, *m1)?),
        [h0, h1] => (two(*h0, *h1)?, 0),
        _ => return None,
    };
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_the_same_instant() {
        let wanted = 971_211_336;
        let stamp = Stamp::common(b"10/Oct/2000:13:55:36 -0700").unwrap();
        assert_eq!((stamp.seconds(), stamp.offset_s), (wanted, -25_200));
        for text in
            ["2000-10-10T20:55:36Z", "2000-10-10 13:55:36-07:00", "2000-10-10T22:55:36.25+02"]
        {
            assert_eq!(Stamp::iso(text.as_bytes()).unwrap().seconds(), wanted, "{text}");
        }
        for number in [971_211_336.25, 971_211_336_250.0, 971_211_336_250_000.0] {
            let stamp = Stamp::since_epoch(number).unwrap();
            assert_eq!(stamp.ns, wanted * SECOND + 250_000_000, "{number}");
        }
        let stamp = Stamp::date_and_time(b"2000-10-10", b"20:55:36").unwrap();
        assert_eq!(stamp.seconds(), wanted);
    }

    #[test]
    fn days_agree_with_a_calendar() {
        for text in ["1970-01-01", "1999-12-31", "2000-02-29", "2024-03-01", "2100-03-01"] {
            let date: jiff::civil::Date = text.parse().unwrap();
            let zoned = date.to_zoned(jiff::tz::TimeZone::UTC).unwrap();
            let days = zoned.timestamp().as_second() / DAY;
            assert_eq!(date_of(text.as_bytes()), Some(days), "{text}");
        }
        for text in ["2023-02-29", "2023-13-01", "2023-00-10", "1969-12-31", "2023-1-01"] {
            assert_eq!(date_of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "-", "10/Oct/2000:25:00:00 +0000", "10/Okt/2000:13:55:36 +0000", "1/2/3"] {
            assert_eq!(Stamp::common(text.as_bytes()), None, "{text}");
            assert_eq!(Stamp::iso(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Stamp::since_epoch(-1.0), None);
        for absurd in [1e300, 99_999_999_999_999.0, 9.3e15, 9.3e18, i64::MAX as f64, f64::INFINITY]
        {
            assert_eq!(Stamp::since_epoch(absurd), None, "{absurd}");
        }
        assert_eq!(Stamp::since_epoch(f64::NAN), None);
    }
}
