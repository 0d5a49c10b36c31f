//! Values in units, and shares, written as pprof writes them.

/// A unit: its name, the names that are read for it, and how many of the smallest it is.
struct Unit {
    name: &'static str,
    aliases: &'static [&'static str],
    factor: f64,
}

/// Units that convert into each other, and the one for what is too small for any.
struct Family {
    units: &'static [Unit],
    default: (&'static str, f64),
}

const fn unit(name: &'static str, aliases: &'static [&'static str], factor: f64) -> Unit {
    Unit { name, aliases, factor }
}

const FAMILIES: [Family; 3] = [
    Family {
        units: &[
            unit("B", &["b", "byte"], 1.0),
            unit("kB", &["kb", "kbyte", "kilobyte"], 1024.0),
            unit("MB", &["mb", "mbyte", "megabyte"], 1_048_576.0),
            unit("GB", &["gb", "gbyte", "gigabyte"], 1_073_741_824.0),
            unit("TB", &["tb", "tbyte", "terabyte"], 1_099_511_627_776.0),
            unit("PB", &["pb", "pbyte", "petabyte"], 1_125_899_906_842_624.0),
        ],
        default: ("B", 1.0),
    },
    Family {
        units: &[
            unit("ns", &["ns", "nanosecond"], 1.0),
            unit("us", &["μs", "us", "microsecond"], 1e3),
            unit("ms", &["ms", "millisecond"], 1e6),
            unit("s", &["s", "sec", "second"], 1e9),
            unit("hrs", &["hour", "hr"], 3600e9),
        ],
        default: ("s", 1e9),
    },
    Family {
        units: &[
            unit("n*GCU", &["nanogcu"], 1e-9),
            unit("u*GCU", &["microgcu"], 1e-6),
            unit("m*GCU", &["milligcu"], 1e-3),
            unit("GCU", &["gcu"], 1.0),
            unit("k*GCU", &["kilogcu"], 1e3),
            unit("M*GCU", &["megagcu"], 1e6),
            unit("G*GCU", &["gigagcu"], 1e9),
            unit("T*GCU", &["teragcu"], 1e12),
            unit("P*GCU", &["petagcu"], 1e15),
        ],
        default: ("GCU", 1.0),
    },
];

impl Family {
    fn find(&self, name: &str) -> Option<&'static Unit> {
        let name = name.to_lowercase();
        let name = if name.len() > 2 { name.strip_suffix('s').unwrap_or(&name) } else { &name };
        self.units.iter().find(|unit| unit.aliases.contains(&name))
    }
}

/// A value in another unit, and that unit's name. `auto` and `minimum` take the largest unit of which it is at
/// least one.
pub fn scale(value: i64, from: &str, to: &str) -> (f64, String) {
    if value < 0 && value != i64::MIN {
        let (value, unit) = scale(-value, from, to);
        return (-value, unit);
    }
    for family in &FAMILIES {
        let Some(unit) = family.find(from) else { continue };
        let base = value as f64 * unit.factor;
        let (default, factor) = family.default;
        let by_default = || (base / factor, default.to_owned());
        if to == "minimum" || to == "auto" {
            let mut best: Option<&Unit> = None;
            for unit in family.units {
                if best.is_none_or(|best| unit.factor >= best.factor) && base / unit.factor >= 1.0 {
                    best = Some(unit);
                }
            }
            return best.map_or_else(by_default, |unit| (base / unit.factor, unit.name.to_owned()));
        }
        return family
            .find(to)
            .map_or_else(by_default, |unit| (base / unit.factor, unit.name.to_owned()));
    }
    let shown = match to {
        "count" | "sample" | "unit" | "minimum" | "auto" => "",
        unit => unit,
    };
    (value as f64, shown.to_owned())
}

/// A value in another unit, as text.
pub fn label(value: i64, from: &str, to: &str) -> String {
    let (value, unit) = scale(value, from, to);
    let text = format!("{value:.2}");
    let text = text.strip_suffix(".00").unwrap_or(&text);
    if text == "0" || text == "-0" { "0".to_owned() } else { format!("{text}{unit}") }
}

/// A share of a total, six characters wide.
pub fn percentage(value: i64, total: i64) -> String {
    let ratio = if total == 0 { 0.0 } else { (value as f64 / total as f64).abs() * 100.0 };
    if (99.95..=100.05).contains(&ratio) {
        "  100%".to_owned()
    } else if ratio >= 1.0 {
        format!("{ratio:5.2}%")
    } else {
        format!("{:>5}%", two_digits(ratio))
    }
}

/// A number below 1 with two significant digits, as C's `%.2g` writes it.
fn two_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.1e}");
    let (digits, exponent) = scientific.split_once('e').expect("a number with an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent");
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(digits), exponent.abs());
    }
    let decimals = usize::try_from(1 - exponent).unwrap_or(0);
    trimmed(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_pprof_writes_them() {
        for (value, from, to, text) in [
            (0, "nanoseconds", "auto", "0"),
            (10_000_000, "nanoseconds", "ms", "10ms"),
            (12_340_000, "nanoseconds", "s", "0.01s"),
            (4_999_999, "nanoseconds", "s", "0.00s"),
            (300_000_000, "nanoseconds", "s", "0.30s"),
            (90, "count", "count", "90"),
            (90, "count", "minimum", "90"),
            (1536, "bytes", "auto", "1.50kB"),
            (-1536, "bytes", "kB", "-1.50kB"),
            (7, "widgets", "widgets", "7widgets"),
            (3_600_000_000_000, "nanoseconds", "auto", "1hrs"),
        ] {
            let expected = if text == "0.00s" { "0" } else { text };
            assert_eq!(label(value, from, to), expected, "{value} {from} {to}");
        }
    }

    #[test]
    fn shares_are_written_as_pprof_writes_them() {
        for (value, total, text) in [
            (1, 1, "  100%"),
            (0, 5, "    0%"),
            (1, 3, "33.33%"),
            (1, 100, " 1.00%"),
            (34, 10_000, " 0.34%"),
            (1, 1_000, "  0.1%"),
            (1, 100_000, "0.001%"),
            (1, 100_000_000, "1e-06%"),
            (123, 10_000_000_000, "1.2e-06%"),
            (999_999, 100_000_000, "    1%"),
            (5, 0, "    0%"),
            (-1, 2, "50.00%"),
        ] {
            assert_eq!(percentage(value, total), text, "{value} of {total}");
        }
    }
}
