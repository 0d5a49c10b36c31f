//! Which statuses count as success.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Statuses that count as success, such as `200-399` or `200,204,301-304`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusRanges(Vec<(u16, u16)>);

impl StatusRanges {
    /// Whether a status is among them.
    #[inline]
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|&(low, high)| (low..=high).contains(&status))
    }
}

impl Default for StatusRanges {
    /// 200 to 399: an error status is a failure, and so is a change of protocols (101) that nobody asked for.
    fn default() -> Self {
        Self(vec![(200, 399)])
    }
}

impl FromStr for StatusRanges {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let status = |part: &str| match part.trim().parse::<u16>() {
            Ok(status @ 100..=999) => Ok(status),
            _ => Err(format!(
                "`{}` is not a status from 100 to 999: write them as in 200-299,304",
                part.trim()
            )),
        };
        let range = |part: &str| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            match (status(low)?, status(high)?) {
                (low, high) if low <= high => Ok((low, high)),
                (low, high) => Err(format!("the range `{low}-{high}` runs backwards")),
            }
        };
        text.split(',').map(range).collect::<Result<Vec<_>, _>>().map(Self)
    }
}

impl fmt::Display for StatusRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (low, high)) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            if low == high {
                write!(f, "{comma}{low}")?;
            } else {
                write!(f, "{comma}{low}-{high}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for StatusRanges {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StatusRanges {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for StatusRanges {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StatusRanges".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Statuses that count as success, such as 200-399 or 200,204.",
            "pattern": "^[0-9]{3}(-[0-9]{3})?(,[0-9]{3}(-[0-9]{3})?)*$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_ranges_read_and_print_the_same() {
        let ranges: StatusRanges = "200-299,304, 404".parse().unwrap();
        assert!(ranges.contains(204) && ranges.contains(304) && ranges.contains(404));
        assert!(!ranges.contains(300) && !ranges.contains(500));
        assert_eq!(ranges.to_string(), "200-299,304,404");
        assert!(StatusRanges::default().contains(302) && !StatusRanges::default().contains(400));
    }

    #[test]
    fn wrong_status_ranges_name_the_part() {
        for (text, needle) in [
            ("2xx", "`2xx` is not a status from 100 to 999: write them as in 200-299"),
            ("399-200", "backwards"),
            ("20", "`20`"),
            ("", "``"),
        ] {
            let message = text.parse::<StatusRanges>().unwrap_err();
            assert!(message.contains(needle), "{text}: {message}");
        }
    }
}
