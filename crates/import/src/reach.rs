//! Whether the figures of a stored result are such as a run can have.
//!
//! A file may claim any number. Those that rules and charts add up, subtract and multiply are kept
//! below a bound at the door, so that no sum of a few of them leaves 64 bits.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use model::quote::quote;

/// A bound on counts, bytes and nanoseconds: 417 days in nanoseconds.
const MOST: u64 = 1 << 55;
/// Parts of a result whose numbers are no measurements: a seed is any number, and limits of a machine
/// may be none.
const UNBOUNDED: [&str; 3] = ["environment", "seed", "memory_available_bytes"];

/// Whether every figure in a JSON text is one that a run can have. The text is gone through, never held
/// as a tree, which would take a dozen times its size.
///
/// # Errors
/// A sentence that names the first that is not, or what keeps the text from being JSON.
pub fn within_reach(json: &[u8]) -> Result<(), String> {
    let mut beyond = None;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let gone_through = Walk { name: "", beyond: &mut beyond }.deserialize(&mut deserializer);
    match (beyond, gone_through.and_then(|()| deserializer.end())) {
        (Some((name, number)), _) => {
            let name = quote(&name);
            Err(format!("{name} is {number}, which no run can bring: the file is damaged"))
        }
        (None, Err(error)) => Err(error.to_string()),
        (None, Ok(())) => Ok(()),
    }
}

/// Goes through a value and keeps the first number that is beyond reach, with the name of its field.
struct Walk<'a> {
    /// Of the field that the value is in; none in a list.
    name: &'a str,
    beyond: &'a mut Option<(String, String)>,
}

impl Walk<'_> {
    fn judge<E: Error>(self, far: bool, number: impl fmt::Display) -> Result<(), E> {
        if far {
            *self.beyond = Some((self.name.to_owned(), number.to_string()));
            return Err(E::custom("beyond reach"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.judge(number > MOST, number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.judge(number.unsigned_abs() > MOST, number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.judge(number.abs() > MOST as f64, format_args!("{number:e}"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Walk { name: "", beyond: self.beyond })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if UNBOUNDED.contains(&name.as_str()) {
                fields.next_value::<IgnoredAny>()?;
            } else {
                fields.next_value_seed(Walk { name: &name, beyond: self.beyond })?;
            }
        }
        Ok(())
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
            (r#"{"rate":1e300}"#, "`rate` is 1e300"),
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
