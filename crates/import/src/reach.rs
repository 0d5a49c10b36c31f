//! Whether the figures of a stored result are such as a run can have.
//!
//! A file may claim any number. Those that rules and charts add up, subtract and multiply are kept
//! below a bound at the door, so that no sum of a few of them leaves 64 bits.

use serde_json::Value;

use model::quote::quote;

/// A bound on counts, bytes and nanoseconds: 417 days in nanoseconds.
const MOST: u64 = 1 << 55;
/// Parts of a result whose numbers are no measurements: a seed is any number, and limits of a machine
/// may be none.
const UNBOUNDED: [&str; 3] = ["environment", "seed", "memory_available_bytes"];

/// Whether every figure in a JSON text is one that a run can have.
///
/// # Errors
/// A sentence that names the first that is not, or what keeps the text from being JSON.
pub fn within_reach(json: &[u8]) -> Result<(), String> {
    let value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    match beyond(&value) {
        Some((name, number)) => {
            let name = quote(&name);
            Err(format!("{name} is {number}, which no run can bring: the file is damaged"))
        }
        None => Ok(()),
    }
}

/// The first number that is beyond reach, with the name of its field.
fn beyond(value: &Value) -> Option<(String, String)> {
    let far = |number: &serde_json::Number| match (number.as_u64(), number.as_i64()) {
        (Some(n), _) => n > MOST,
        (None, Some(n)) => n.unsigned_abs() > MOST,
        (None, None) => number.as_f64().is_some_and(|n| n.abs() > MOST as f64),
    };
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, field)| match field {
            _ if UNBOUNDED.contains(&name.as_str()) => None,
            Value::Number(number) if far(number) => Some((name.clone(), number.to_string())),
            field => beyond(field),
        }),
        Value::Array(items) => items.iter().find_map(|item| match item {
            Value::Number(number) if far(number) => Some((String::new(), number.to_string())),
            item => beyond(item),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_no_run_can_bring_are_named() {
        for (text, needle) in [
            (
                r#"{"totals":{"attempts":18446744073709551615}}"#,
                "`attempts` is 18446744073709551615",
            ),
            (r#"{"timeline":[{"start_ns":36028797018963969}]}"#, "`start_ns` is 36028797018963969"),
            (r#"{"a":[1,-9223372036854775808]}"#, "-9223372036854775808"),
            (r#"{"rate":1e300}"#, "`rate` is 1e+300"),
            ("{", "EOF"),
        ] {
            let why = within_reach(text.as_bytes()).unwrap_err();
            assert!(why.contains(needle), "no `{needle}` in {why}");
        }
        for text in [
            r#"{"totals":{"attempts":36028797018963968},"rate":-12.5,"name":null}"#,
            r#"{"plan":{"seed":18446744073709551615},"environment":{"open_files":18446744073709551615}}"#,
        ] {
            assert_eq!(within_reach(text.as_bytes()), Ok(()));
        }
    }
}
