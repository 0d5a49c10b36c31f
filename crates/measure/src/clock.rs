//! The wall clock, in UTC.

/// The time in nanoseconds since 1970, in UTC.
pub fn now_unix_ns() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// The time, to the second, in UTC.
pub fn now_rfc3339() -> String {
    jiff::Timestamp::now()
        .round(jiff::Unit::Second)
        .map_or_else(|_| String::new(), |t| t.to_string())
}
