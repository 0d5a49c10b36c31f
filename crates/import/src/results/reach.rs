//! Checks that the figures of a stored result are possible for a run, and that its lists are no longer than a run writes.
//!
//! A file may claim any number. Figures that rules and charts add, subtract and multiply are bounded when they are read,
//! so that no sum of a few of them overflows 64 bits. Lists are bounded too, because the memory for a block or an
//! endpoint is much larger than its text. The text is read once and nothing of it is kept.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use model::quote::quote;

/// A bound on counts, bytes and nanoseconds: 417 days in nanoseconds.
const MOST: u64 = 1 << 55;
/// Parts of a result whose numbers are no measurements: a seed is any number, limits of a machine may be
/// none, and sets are bits.
const UNBOUNDED: [&str; 8] = [
    "environment",
    "seed",
    "memory_available_bytes",
    "served_set",
    "unseen_set",
    "waited_set",
    "failed_set",
    "long_waits_sets",
];
/// Items of a list at most, by its field's name: at least twice as many as this program writes.
const LISTS: [(&str, u64); 8] = [
    ("blocks", 128),
    ("slices", 128),
    ("response_counts", 700),
    ("timeline", 20_000),
    ("endpoints", 2_002),
    ("flows", 2_002),
    ("workers", 10_000),
    ("levels", 10_000),
];
/// Items of any other list or map at most.
const OTHERS: u64 = 100_000;

/// Whether every figure in a JSON text is one that a run can have, and no list is longer than a run's.
///
/// # Errors
/// A sentence that names the first that is not, or what keeps the text from being JSON.
pub fn within_reach(json: &[u8]) -> Result<(), String> {
    let mut beyond = None;
    let mut reader = serde_json::Deserializer::from_slice(json);
    let look = Look { field: "", beyond: &mut beyond };
    let read = look.deserialize(&mut reader).and_then(|()| reader.end());
    match (beyond, read) {
        (Some(what), _) => Err(format!("{what}: the file is damaged")),
        (None, read) => read.map_err(|error| error.to_string()),
    }
}

/// Goes through the value of a field.
struct Look<'a> {
    field: &'a str,
    /// What is wrong with the first that is beyond reach.
    beyond: &'a mut Option<String>,
}

impl Look<'_> {
    fn number<E: serde::de::Error>(
        self,
        far: bool,
        number: impl FnOnce() -> String,
    ) -> Result<(), E> {
        if !far {
            return Ok(());
        }
        let (name, number) = (quote(self.field), number());
        self.say(format!("{name} is {number}, which no run can produce"))
    }

    fn say<E: serde::de::Error>(self, what: String) -> Result<(), E> {
        *self.beyond = Some(what);
        Err(E::custom("beyond reach"))
    }
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<(), E> {
        self.number(number > MOST, || number.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<(), E> {
        self.number(number.unsigned_abs() > MOST, || number.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<(), E> {
        self.number(number.abs() > MOST as f64, || {
            serde_json::Number::from_f64(number).map_or("no number".into(), |n| n.to_string())
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { field, beyond } = self;
        let named = LISTS.iter().find(|(name, _)| *name == field);
        let most = named.map_or(OTHERS, |(_, most)| *most);
        let mut count = 0;
        while items.next_element_seed(Look { field, beyond })?.is_some() {
            count += 1;
            if count > most {
                let what = format!("{} has more than {most} items", quote(field));
                return Look { field, beyond }.say(what);
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(name) = fields.next_key::<String>()? {
            count += 1;
            if count > OTHERS {
                let what = format!("{} has more than {OTHERS} fields", quote(self.field));
                return self.say(what);
            }
            if UNBOUNDED.contains(&name.as_str()) {
                fields.next_value::<IgnoredAny>()?;
            } else {
                fields.next_value_seed(Look { field: &name, beyond: self.beyond })?;
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
            (r#"{"a":[1,-9223372036854775808]}"#, "`a` is -9223372036854775808"),
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

    #[test]
    fn sets_of_slots_have_any_bits() {
        let all = u64::MAX;
        // Every field, so that whoever adds a set is told by the compiler.
        let tally = model::PresenceTally {
            user_ns: 0,
            down_ns: 0,
            cut_ns: 0,
            failing_ns: 0,
            served: all,
            unseen: all,
            waited: all,
            failed: all,
            long_waits: [all; 2],
        };
        let text = serde_json::to_vec(&tally).unwrap();
        assert_eq!(within_reach(&text), Ok(()));
    }

    #[test]
    fn lists_longer_than_any_run_keeps_are_named() {
        for (name, most) in LISTS.into_iter().chain([("statuses", OTHERS)]) {
            let list = |items: u64| {
                format!("{{\"a\":{{\"{name}\":[{}1]}}}}", "1,".repeat(items as usize - 1))
            };
            assert_eq!(within_reach(list(most).as_bytes()), Ok(()));
            let why = within_reach(list(most + 1).as_bytes()).unwrap_err();
            assert!(why.contains(&format!("`{name}` has more than {most} items")), "{why}");
        }
        let map: String = (0..=OTHERS).map(|at| format!(",\"{at}\":0")).collect();
        let why = within_reach(format!("{{\"m\":{{\"a\":0{map}}}}}").as_bytes()).unwrap_err();
        assert!(why.contains("`m` has more than"), "{why}");
    }
}
