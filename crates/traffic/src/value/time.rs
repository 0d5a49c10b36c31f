//! The time, as text.

use std::fmt;

use jiff::Timestamp;

use super::decimal;

/// The time in a form, moved by seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clock {
    pub(crate) unit: Unit,
    pub(crate) offset_s: i64,
}

/// A form that the time is written in. All are of UTC.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unit {
    /// Whole seconds since 1970.
    Seconds,
    /// Whole milliseconds since 1970.
    Milliseconds,
    /// RFC 3339 with milliseconds, such as `2026-01-31T23:59:59.123Z`.
    Rfc3339,
    /// By a pattern of `strftime`.
    Pattern(String),
}

impl Clock {
    /// Puts it on the stack. Returns whether it is a number.
    pub(crate) fn push(&self, unix_ns: i64, stack: &mut Vec<u8>) -> bool {
        let unix_ns = unix_ns.saturating_add(self.offset_s.saturating_mul(1_000_000_000));
        match &self.unit {
            Unit::Seconds => decimal(unix_ns.div_euclid(1_000_000_000), stack),
            Unit::Milliseconds => decimal(unix_ns.div_euclid(1_000_000), stack),
            Unit::Rfc3339 => {
                written(unix_ns, "%Y-%m-%dT%H:%M:%S", stack);
                let milliseconds = unix_ns.div_euclid(1_000_000).rem_euclid(1000);
                stack.push(b'.');
                for digit in [milliseconds / 100, milliseconds / 10 % 10, milliseconds % 10] {
                    stack.push(b'0' + digit as u8);
                }
                stack.push(b'Z');
            }
            Unit::Pattern(pattern) => written(unix_ns, pattern, stack),
        }
        matches!(self.unit, Unit::Seconds | Unit::Milliseconds)
    }
}

impl Unit {
    /// A pattern of `strftime`.
    ///
    /// # Errors
    /// A message, if it is not a pattern.
    pub(crate) fn pattern(pattern: &str) -> Result<Self, String> {
        let zoned = Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
        match jiff::fmt::strtime::format(pattern, &zoned) {
            Ok(_) => Ok(Self::Pattern(pattern.to_owned())),
            Err(why) => Err(why.to_string()),
        }
    }
}

fn written(unix_ns: i64, pattern: &str, stack: &mut Vec<u8>) {
    struct Bytes<'a>(&'a mut Vec<u8>);
    impl fmt::Write for Bytes<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
    let at = Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    let zoned = at.to_zoned(jiff::tz::TimeZone::UTC);
    let done =
        fmt::Write::write_fmt(&mut Bytes(stack), format_args!("{}", zoned.strftime(pattern)));
    debug_assert!(done.is_ok(), "patterns are tried before");
}
