//! Metrics in Prometheus's text form (version 0.0.4). Names keep their labels: `http_requests_total{code="200"}`.

use std::collections::BTreeMap;

use model::Sample;
use model::sample::MOST_NAME_BYTES;

/// Puts a page into `sample`: counters as such, everything else as gauges. Lines that are broken are counted as left
/// out, and so is what exceeds the bounds of a sample.
///
/// # Errors
/// When no line is a metric.
pub fn parse(page: &str, sample: &mut Sample) -> Result<(), String> {
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let mut read = 0_u64;
    for line in page.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            if let Some((name, kind)) = rest.split_once(' ')
                && kinds.len() < 10_000
            {
                kinds.insert(name, kind.trim());
            }
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = metric(line) else {
            sample.left_out = sample.left_out.saturating_add(1);
            continue;
        };
        read += 1;
        if counts(name, &kinds) && value >= 0.0 && value < u64::MAX as f64 {
            // Counters of seconds are read to the microsecond.
            let whole =
                stem(name).ends_with("_seconds_total") || stem(name).ends_with("_seconds_sum");
            let value = if whole { value * 1e6 } else { value };
            let name = if whole { format!("{name}:us") } else { name.to_owned() };
            sample.count(name, value as u64);
        } else {
            sample.gauge(name, value);
        }
    }
    if read == 0 { Err("is not a page of Prometheus metrics".to_owned()) } else { Ok(()) }
}

fn stem(name: &str) -> &str {
    name.split_once('{').map_or(name, |(stem, _)| stem)
}

/// Whether a metric is a counter, by its type or, without one, by its name.
fn counts(name: &str, kinds: &BTreeMap<&str, &str>) -> bool {
    let stem = stem(name);
    match kinds.get(stem) {
        Some(kind) => *kind == "counter",
        None => {
            let of_sums = ["_bucket", "_count", "_sum"].iter().any(|end| {
                stem.strip_suffix(end).is_some_and(|of| {
                    kinds.get(of).is_some_and(|kind| ["histogram", "summary"].contains(kind))
                })
            });
            of_sums || stem.ends_with("_total")
        }
    }
}

/// The name with its labels, and the value; a time stamp after it is passed over.
fn metric(line: &str) -> Option<(&str, f64)> {
    let end = match line.find('{') {
        Some(open) if !line[..open].contains(' ') => open + end_of_labels(&line[open..])?,
        _ => line.find(' ')?,
    };
    let (name, rest) = line.split_at(end);
    let value = rest.split_whitespace().next()?.parse::<f64>().ok()?;
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ':');
    (plain && name.len() <= MOST_NAME_BYTES && value.is_finite()).then_some((name, value))
}

/// Where the labels end: after the brace that is in no quoted value.
fn end_of_labels(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(i + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_page() {
        let page = "# HELP http_requests_total Requests.\n# TYPE http_requests_total counter\n\
            http_requests_total{code=\"200\",path=\"/a}b \\\" c\"} 1027 1395066363000\n\
            # TYPE go_goroutines gauge\ngo_goroutines 42\n# TYPE lat histogram\n\
            lat_bucket{le=\"+Inf\"} 5\nlat_sum 1.5\nlat_count 5\nprocess_cpu_seconds_total 1.25\n\
            broken\nnan NaN\n\n";
        let mut sample = Sample::new(0);
        parse(page, &mut sample).unwrap();
        assert_eq!(sample.counters["http_requests_total{code=\"200\",path=\"/a}b \\\" c\"}"], 1027);
        assert_eq!(sample.gauges["go_goroutines"], 42.0);
        assert_eq!(
            (sample.counters["lat_count"], sample.counters["lat_bucket{le=\"+Inf\"}"]),
            (5, 5)
        );
        assert_eq!(sample.counters["process_cpu_seconds_total:us"], 1_250_000);
        assert_eq!(sample.left_out, 2);
        assert!(parse("<html>\n", &mut Sample::new(0)).is_err());
    }

    #[test]
    fn a_hundred_thousand_series_are_bounded() {
        let page: String = (0..100_000).map(|n| format!("m{{n=\"{n}\"}} {n}\n")).collect();
        let mut sample = Sample::new(0);
        parse(&page, &mut sample).unwrap();
        assert_eq!(sample.gauges.len(), model::sample::MOST_VALUES);
        assert_eq!(sample.left_out, 100_000 - model::sample::MOST_VALUES as u64);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(page in "(\\PC{0,60}\n|[a-z_]{1,8}\\{?[a-z=\"\\\\}]{0,20} ?[0-9.e+-]{0,9}\n){0,20}") {
            let _ = parse(&page, &mut Sample::new(0));
        }
    }
}
