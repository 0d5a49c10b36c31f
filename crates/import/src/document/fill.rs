//! Types filled from a tree through serde, so that an error names the place of the value it is about, and
//! the nearest valid name.

use std::collections::HashMap;
use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};

use super::{Entry, Mark, Node, Plain, Value};
use model::names::nearest;
use model::quote::{plain, quote};

/// Characters of a fault in words at most.
const LONGEST_FAULT: usize = 500;

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// What it is about, once known.
    pub(crate) mark: Option<Mark>,
    pub(crate) what: String,
    /// The first of two entries of one name.
    pub(crate) first: Option<Mark>,
}

impl Wrong {
    fn new(what: impl Into<String>) -> Self {
        Self { mark: None, what: what.into(), first: None }
    }

    fn at(mut self, mark: Mark) -> Self {
        self.mark.get_or_insert(mark);
        self
    }

    /// About a word: it is quoted if the sentence does not yet.
    fn about(mut self, node: &Node) -> Self {
        if self.mark.is_none()
            && let Value::Scalar { text, .. } = &node.value
            && !text.is_empty()
            && !self.what.contains(text.as_str())
        {
            self.what = format!("{}: {}", quote(text), self.what);
        }
        self.at(node.mark)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(what: T) -> Self {
        // It may hold the offending text as it came.
        Self::new(plain(&what.to_string(), LONGEST_FAULT))
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
            Unexpected::Map => "a mapping".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Str(text) => quote(text),
            Unexpected::Bool(value) => format!("`{value}`"),
            Unexpected::Unsigned(number) => format!("`{number}`"),
            Unexpected::Signed(number) => format!("`{number}`"),
            Unexpected::Float(number) => format!("`{number}`"),
            other => other.to_string(),
        };
        let wanted = match wanted.to_string() {
            a if a == "a string" => "text".to_owned(),
            a if a == "a boolean" => "true or false".to_owned(),
            a if a == "a sequence" => "a list".to_owned(),
            a if a == "f64" => "a number".to_owned(),
            a if a.starts_with("struct ") || a == "a map" => "a mapping".to_owned(),
            a => a,
        };
        Self::new(format!("{wanted} is expected here, not {found}"))
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::invalid_type(found, wanted)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("unknown key {}{}", quote(field), suggestion(field, expected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("{} is not known here{}", quote(variant), suggestion(variant, expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is missing here"))
    }
}

/// Keys as other tools and the command line name them, and as they are named here; a key of several meanings stands once
/// for each.
const HABITS: &[(&str, &str)] = &[
    ("slo", "objectives"),
    ("slos", "objectives"),
    ("thresholds", "objectives"),
    ("url", "target"),
    ("url", "path"),
    ("base_url", "target"),
    ("uri", "path"),
    ("vus", "concurrency"),
    ("users", "concurrency"),
    ("rps", "rate"),
    ("qps", "rate"),
    ("iterations", "requests"),
    ("assert", "checks"),
    ("expect", "checks"),
    ("status", "success"),
];

/// What a message about an unknown name ends with: the name that was likely meant, or all known names if none is near.
fn suggestion(written: &str, known: &[&str]) -> String {
    if written == "<<" {
        return ": YAML 1.2 has no merge keys; use `*name` for a whole value".to_owned();
    }
    let lower = written.to_lowercase();
    let habit = HABITS.iter().find(|(habit, name)| *habit == lower && known.contains(name));
    if let Some((_, name)) = habit {
        return format!("; did you mean `{name}`?");
    }
    match nearest(written, known.iter().copied()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; known are `{}`", known.join("`, `")),
    }
}

/// Words that are wanted as they are written, whatever else they might mean:
/// `model::workload::Fields` asks for its values under this name.
const AS_WRITTEN: &str = "AsWritten";

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let value = match &self.value {
            Value::Scalar { text, plain: false } => visitor.visit_borrowed_str(text),
            Value::Scalar { text, plain: true } => match Plain::of(text) {
                Plain::Nothing => visitor.visit_unit(),
                Plain::Bool(value) => visitor.visit_bool(value),
                Plain::Int(number) => visitor.visit_i64(number),
                Plain::Float(number) => visitor.visit_f64(number),
                Plain::Text(text) => visitor.visit_borrowed_str(text),
                Plain::Large(_) => match text.parse() {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => Err(Wrong::new("this number is too large to be kept exactly")),
                },
            },
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(entries) => {
                unique(entries)?;
                visitor.visit_map(Entries { entries: entries.iter(), value: None })
            }
        };
        value.map_err(|wrong| wrong.about(self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.value {
            Value::Scalar { text, plain: true } if Plain::of(text) == Plain::Nothing => {
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.value {
            Value::Scalar { text, plain } if !plain || Plain::of(text) != Plain::Nothing => {
                visitor.visit_borrowed_str(text).map_err(|wrong: Wrong| wrong.about(self))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_str(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match &self.value {
            // A list would be taken for the values in their order.
            Value::List(_) => {
                let wrong: Wrong = de::Error::invalid_type(Unexpected::Seq, &visitor);
                Err(wrong.about(self))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match &self.value {
            Value::Scalar { .. } if name == AS_WRITTEN => self.deserialize_str(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let value = match &self.value {
            Value::Scalar { text, .. } => visitor.visit_enum(text.as_str().into_deserializer()),
            Value::Map(entries) if entries.len() == 1 => visitor.visit_enum(Variant(&entries[0])),
            _ => Err(Wrong::new(format!("one of `{}` is expected here", variants.join("`, `")))),
        };
        value.map_err(|wrong: Wrong| wrong.about(self))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

fn unique(entries: &[Entry]) -> Result<(), Wrong> {
    let mut seen = HashMap::with_capacity(entries.len());
    for entry in entries {
        if let Some(first) = seen.insert(entry.key.as_str(), entry.mark) {
            let mut wrong = Wrong::new(format!("{} occurs twice here", quote(&entry.key)));
            wrong.first = Some(first);
            return Err(wrong.at(entry.mark));
        }
    }
    Ok(())
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        self.0.next().map(|node| seed.deserialize(node).map_err(|w| w.about(node))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    entries: std::slice::Iter<'de, Entry>,
    value: Option<&'de Entry>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Wrong;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        self.value = self.entries.next();
        let Some(entry) = self.value else { return Ok(None) };
        let key = BorrowedStrDeserializer::new(&entry.key);
        seed.deserialize(key).map(Some).map_err(|wrong: Wrong| wrong.at(entry.mark))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        let entry = self.value.take().expect("a value is asked for after its key");
        seed.deserialize(&entry.value).map_err(|wrong| wrong.about(&entry.value))
    }
}

/// A map of one entry as a variant with its content.
struct Variant<'de>(&'de Entry);

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Wrong;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Wrong> {
        let key: StrDeserializer<'_, Wrong> = self.0.key.as_str().into_deserializer();
        let name = seed.deserialize(key).map_err(|wrong| wrong.at(self.0.mark))?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        Err(Wrong::new(format!("{} takes no value", quote(&self.0.key))).at(self.0.mark))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Wrong> {
        seed.deserialize(&self.0.value).map_err(|wrong| wrong.about(&self.0.value))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.0.value.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.0.value.deserialize_any(visitor)
    }
}
