//! A line of the result: what was measured, and whether it reaches what was promised. Printed as a table, kept as JSON.

use serde_json::{Value, json};

use super::statistics::Spread;
use crate::table::aligned;

/// What a figure is counted in; says how it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Ratio,
    Microseconds,
    Milliseconds,
    Seconds,
    Percent,
    MiB,
    Bytes,
    Count,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{value:.3}"),
            Unit::Microseconds => format!("{value:.2} us"),
            Unit::Milliseconds => format!("{value:.1} ms"),
            Unit::Seconds => format!("{value:.2} s"),
            Unit::Percent => format!("{value:.3} %"),
            Unit::MiB => format!("{value:.1} MiB"),
            Unit::Bytes => format!("{value:.0} B"),
            Unit::Count => format!("{value:.0}"),
        }
    }
}

/// What is promised of a figure's median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    AtMost(f64),
    AtLeast(f64),
    /// Shown for orientation; nothing is promised.
    Nothing,
}

pub struct Row {
    pub what: String,
    pub unit: Unit,
    pub spread: Spread,
    pub reach: Reach,
    /// What the figure was made of, in words.
    pub detail: String,
}

impl Row {
    /// `None` where nothing is promised.
    pub fn met(&self) -> Option<bool> {
        match self.reach {
            Reach::AtMost(limit) => Some(self.spread.median <= limit),
            Reach::AtLeast(limit) => Some(self.spread.median >= limit),
            Reach::Nothing => None,
        }
    }

    fn cells(&self) -> [String; 6] {
        let reach = match self.reach {
            Reach::AtMost(limit) => format!("<= {}", self.unit.show(limit)),
            Reach::AtLeast(limit) => format!(">= {}", self.unit.show(limit)),
            Reach::Nothing => "-".into(),
        };
        let met = self.met().map_or("-", |met| if met { "yes" } else { "NO" });
        let show = |value| self.unit.show(value);
        [
            self.what.clone(),
            show(self.spread.median),
            format!("{} .. {}", show(self.spread.min), show(self.spread.max)),
            reach,
            met.into(),
            self.detail.clone(),
        ]
    }

    pub fn json(&self) -> Value {
        let reach = match self.reach {
            Reach::AtMost(limit) => json!({"at_most": limit}),
            Reach::AtLeast(limit) => json!({"at_least": limit}),
            Reach::Nothing => Value::Null,
        };
        json!({
            "what": self.what,
            "unit": format!("{:?}", self.unit).to_lowercase(),
            "median": self.spread.median,
            "min": self.spread.min,
            "max": self.spread.max,
            "reach": reach,
            "met": self.met(),
            "detail": self.detail,
        })
    }
}

/// The rows as aligned text.
pub fn table(rows: &[Row]) -> String {
    let headings = ["what", "median", "min .. max", "reach", "met", "made of"];
    aligned(headings, rows.iter().map(Row::cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(median: f64, reach: Reach) -> Row {
        let spread = Spread { median, min: median, max: median };
        Row { what: "x".into(), unit: Unit::Ratio, spread, reach, detail: String::new() }
    }

    #[test]
    fn a_promise_is_met_at_its_limit() {
        let cases = [
            (0.78, Reach::AtMost(0.78), Some(true)),
            (0.781, Reach::AtMost(0.78), Some(false)),
            (50_000.0, Reach::AtLeast(50_000.0), Some(true)),
            (49_999.0, Reach::AtLeast(50_000.0), Some(false)),
            (1.0, Reach::Nothing, None),
        ];
        for (median, reach, met) in cases {
            assert_eq!(row(median, reach).met(), met, "{median} {reach:?}");
        }
    }

    #[test]
    fn the_table_is_aligned() {
        let text = table(&[row(0.5, Reach::AtMost(0.78)), row(0.9, Reach::AtMost(0.78))]);
        let columns: Vec<usize> =
            text.lines().skip(1).map(|line| line.find("<= 0.780").unwrap()).collect();
        assert_eq!(columns[0], columns[1]);
        assert!(text.lines().nth(1).unwrap().ends_with("yes"), "{text}");
        assert!(text.lines().nth(2).unwrap().ends_with("NO"), "{text}");
    }
}
