//! Checks whether the figures of a load line can have been measured. `saturated` does the same for the part about a target
//! that was kept busy.

use model::LoadLine;

use super::LineError;
use super::saturated::CONNECTIONS_MOST;

/// The most arrivals per second: one each nanosecond, the resolution of clocks.
const RATE_MOST: f64 = 1e9;
/// The slowest response time, in nanoseconds: a day.
const RESPONSE_MOST_NS: f64 = 86_400e9;
/// The highest cost of an endpoint: all of the time, for one of a million requests.
const COST_MOST: f64 = 1e6;
/// A figure computed from the rate may exceed it by rounding.
const ROUNDED: f64 = 1.001;

/// Checks a load line's figures.
///
/// # Errors
/// With the field that is wrong and what is possible.
pub(super) fn check(line: &LoadLine) -> Result<(), LineError> {
    let most_at_once = CONNECTIONS_MOST as f64;
    let low_most = line.rate_per_s * ROUNDED;
    let figures = [
        ("rate_per_s", Some(line.rate_per_s), RATE_MOST),
        ("rate_low_per_s", Some(line.rate_low_per_s), low_most),
        ("rate_high_per_s", line.rate_high_per_s, f64::MAX),
        ("requests_per_arrival", Some(line.requests_per_arrival), RATE_MOST),
        ("concurrency", Some(line.concurrency), most_at_once),
        ("success_ratio", line.success_ratio, 1.0),
        ("response_ns.p99", Some(line.response_ns.p99 as f64), RESPONSE_MOST_NS),
    ];
    let figures = figures.into_iter().map(|(field, value, most)| (field.to_owned(), value, most));
    let costs = line.endpoints.iter().enumerate().map(|(place, endpoint)| {
        (format!("endpoints[{place}].cost"), Some(endpoint.cost), COST_MOST)
    });
    for (field, value, most) in figures.chain(costs) {
        let Some(value) = value.filter(|value| !(0.0..=most).contains(value)) else { continue };
        let possible = match &*field {
            "rate_low_per_s" => format!("0 to rate_per_s, {}, is possible", line.rate_per_s),
            "rate_high_per_s" => "a number of 0 or more is possible".to_owned(),
            _ => format!("0 to {most} is possible"),
        };
        return Err(LineError::OutOfRange { field, value: shown(value), possible });
    }
    Ok(())
}

/// A number as it is usually written: with an exponent where it would have many zeros.
fn shown(value: f64) -> String {
    if (1e-6..1e9).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}
