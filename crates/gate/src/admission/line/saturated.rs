//! Checks whether what a load line says about a target that was kept busy can have been measured: a file written by hand may
//! say anything, and the gateway would let that much through.

use model::units::show_duration;
use serde_json::Value;

use super::LineError;

/// The most connections of a closed loop: more than one machine opens.
pub(super) const CONNECTIONS_MOST: u64 = 1_000_000;
/// The quickest mean response, in nanoseconds, and the slowest: a microsecond and a day.
const MEAN_NS: std::ops::RangeInclusive<u64> = 1_000..=86_400_000_000_000;
/// By Little's law the rate times the mean response time is the number in flight. The product may be higher because of requests at
/// the ends of a window,
const ABOVE: f64 = 1.2;
/// and lower because of a generator that pauses between two requests, or of failures.
const BELOW: f64 = 0.1;
/// Characters of a value that an error repeats.
const SHOWN: usize = 40;

/// Checks a load line's `saturated`, if it has one.
///
/// # Errors
/// With the field that is wrong and what is possible.
pub(super) fn check(line: &Value) -> Result<(), LineError> {
    let Some(held) = line.get("saturated").filter(|held| !held.is_null()) else { return Ok(()) };
    let wrong = |field: &'static str, possible: String| {
        let value = held.get(field).map_or("absent".to_owned(), Value::to_string);
        let value = value.chars().take(SHOWN).collect();
        Err(LineError::Impossible { field, value, possible })
    };
    let whole = |field: &str| held.get(field).and_then(Value::as_u64);
    let Some(concurrency) = whole("concurrency").filter(|n| (1..=CONNECTIONS_MOST).contains(n))
    else {
        return wrong(
            "concurrency",
            format!("a whole number from 1 to {CONNECTIONS_MOST} is possible"),
        );
    };
    let Some(mean_ns) = whole("mean_ns").filter(|ns| MEAN_NS.contains(ns)) else {
        let (least, most) = (MEAN_NS.start(), MEAN_NS.end());
        return wrong("mean_ns", format!("a whole number from {least} to {most} is possible"));
    };
    let rate = held.get("requests_per_s").and_then(Value::as_f64);
    let Some(rate_per_s) = rate.filter(|rate| *rate > 0.0 && rate.is_finite()) else {
        return wrong("requests_per_s", "a number above 0 is possible".to_owned());
    };
    let in_flight = rate_per_s * mean_ns as f64 / 1e9;
    let mean = show_duration(mean_ns);
    if in_flight > ABOVE * concurrency as f64 {
        let most = concurrency as f64 * 1e9 / mean_ns as f64;
        return wrong(
            "requests_per_s",
            format!(
                "{concurrency} in flight, of which each takes {mean}, come to {most:.1} at most (Little's law)"
            ),
        );
    }
    if in_flight < BELOW * concurrency as f64 {
        return wrong(
            "concurrency",
            format!(
                "{rate_per_s:.1} a second, of which each takes {mean}, keep {in_flight:.1} in flight (Little's law)"
            ),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(field: &str, value: Value) -> Result<(), LineError> {
        let mut held = json!({"concurrency": 38, "requests_per_s": 1000.5, "mean_ns": 37_900_000, "held_for_ns": 1});
        held[field] = value;
        check(&json!({ "saturated": held }))
    }

    #[test]
    fn what_can_have_been_measured_passes() {
        assert_eq!(check(&json!({})), Ok(()));
        assert_eq!(check(&json!({"saturated": null})), Ok(()));
        assert_eq!(with("held_for_ns", json!(2)), Ok(()));
        // Half of the time the generator was busy with itself.
        assert_eq!(with("requests_per_s", json!(500)), Ok(()));
    }

    #[test]
    fn what_cannot_is_reported_with_its_field_and_what_is_possible() {
        let cases = [
            ("requests_per_s", json!(1e12), "come to 1002.6 at most (Little's law)"),
            ("requests_per_s", json!(-5), "a number above 0"),
            ("requests_per_s", json!("NaN"), "a number above 0"),
            ("requests_per_s", json!(null), "a number above 0"),
            ("concurrency", json!(0), "a whole number from 1"),
            ("concurrency", json!(1_000_000_000), "from 1 to 1000000"),
            ("concurrency", json!(100_000), "keep 37.9 in flight (Little's law)"),
            ("concurrency", json!(1.5), "a whole number"),
            ("mean_ns", json!(0), "from 1000 to"),
            ("mean_ns", json!(u64::MAX), "from 1000 to"),
        ];
        for (field, value, words) in cases {
            let wrong = with(field, value.clone()).unwrap_err().to_string();
            let named = wrong.contains(&format!("saturated.{field} is {value}"));
            assert!(named && wrong.contains(words), "{field} {value}: {wrong}");
        }
    }
}
