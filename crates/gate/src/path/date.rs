//! The header `Date` (RFC 9110 section 6.6.1): of the gateway's own responses, and of those that came without one.

use std::io::Write;

use crate::limits::{MONTHS, date};

const DAY_S: i64 = 86_400;
/// From that of the first of January 1970 on.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// The line of a second.
#[derive(Debug, Default)]
pub(super) struct Date {
    unix_s: i64,
    line: Vec<u8>,
}

impl Date {
    /// Takes the time, in seconds since the epoch; 0 where nobody keeps it.
    pub(super) fn set(&mut self, unix_s: i64) {
        if unix_s == self.unix_s {
            return;
        }
        self.unix_s = unix_s;
        self.line.clear();
        let (days, second) = (unix_s.div_euclid(DAY_S), unix_s.rem_euclid(DAY_S));
        let (year, month, day) = date(unix_s);
        let weekday = WEEKDAYS[days.rem_euclid(7) as usize];
        let month = MONTHS[(month as usize - 1).min(11)];
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        // Writing into a vector cannot fail.
        let _ = write!(
            self.line,
            "Date: {weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT\r\n"
        );
    }

    /// The line with its CR LF; nothing where nobody keeps the time.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_mail_has_it() {
        let mut date = Date::default();
        date.set(0);
        assert_eq!(date.line(), b"");
        for (unix_s, line) in [
            // RFC 9110 section 5.6.7.
            (784_111_777, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
            (951_868_799, "Date: Tue, 29 Feb 2000 23:59:59 GMT\r\n"),
        ] {
            date.set(unix_s);
            assert_eq!(str::from_utf8(date.line()), Ok(line));
        }
    }
}
