//! Names with values, in the order they were written: header fields, query parameters, form fields.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names with values, in order. A name may come more than once; it is written with a list of values
/// then, so that only [grouped](Fields::grouped) fields are the same when they are read again. (The
/// order of different header fields means nothing, RFC 9110 section 5.3.) Values are text; bare numbers
/// and `true` are read as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Adds one behind the others.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// The same, those of one name together where the first of them is: as a file has them.
    #[must_use]
    pub fn grouped(self) -> Self {
        let mut places = HashMap::new();
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for (name, value) in self.0 {
            let at = *places.entry(name.clone()).or_insert_with(|| {
                groups.push((name, Vec::new()));
                groups.len() - 1
            });
            groups[at].1.push(value);
        }
        let each = |(name, values): (String, Vec<String>)| {
            values.into_iter().map(move |value| (name.clone(), value))
        };
        Self(groups.into_iter().flat_map(each).collect())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (at, (name, value)) in self.0.iter().enumerate() {
            if self.0[..at].iter().any(|(earlier, _)| earlier == name) {
                continue;
            }
            let further = self.0[at + 1..].iter().filter(|(later, _)| later == name);
            let values: Vec<&str> = further.map(|(_, value)| value.as_str()).collect();
            if values.is_empty() {
                map.serialize_entry(name, value)?;
            } else {
                let all: Vec<&str> = std::iter::once(value.as_str()).chain(values).collect();
                map.serialize_entry(name, &all)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, Values(values))) = map.next_entry::<String, Values>()? {
                    fields.0.extend(values.into_iter().map(|value| (name.clone(), value)));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// One value, or several.
struct Values(Vec<String>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a number, true or false, or a list of them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Values, E> {
                Ok(Values(vec![text.to_owned()]))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Values, E> {
                Ok(Values(vec![value.to_string()]))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Values, E> {
                Ok(Values(vec![number.to_string()]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Values, E> {
                Ok(Values(vec![number.to_string()]))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Values, E> {
                Ok(Values(vec![number.to_string()]))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                inner: D,
            ) -> Result<Values, D::Error> {
                inner.deserialize_any(self)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(Values(one)) = list.next_element::<Values>()? {
                    values.extend(one);
                }
                Ok(Values(values))
            }
        }
        // A reader that knows this name hands words over as they are written, so that `1.10` stays so.
        deserializer.deserialize_newtype_struct("AsWritten", OneOrMore)
    }
}

impl JsonSchema for Fields {
    fn schema_name() -> Cow<'static, str> {
        "Fields".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let scalar = ["string", "number", "boolean"];
        json_schema!({
            "description": "Names with values; a list where a name comes more than once.",
            "type": "object",
            "additionalProperties": {
                "anyOf": [{ "type": scalar }, { "type": "array", "items": { "type": scalar } }]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_fields_are_read_again_as_they_were() {
        let written = [("A", "1"), ("B", "2"), ("a", "3"), ("A", "4"), ("B", "5")];
        let fields = written.into_iter().collect::<Fields>().grouped();
        assert!(fields.iter().eq([("A", "1"), ("A", "4"), ("B", "2"), ("B", "5"), ("a", "3")]));
        let json = serde_json::to_string(&fields).unwrap();
        assert_eq!(json, r#"{"A":["1","4"],"B":["2","5"],"a":"3"}"#);
        assert_eq!(serde_json::from_str::<Fields>(&json).unwrap(), fields);
    }
}
