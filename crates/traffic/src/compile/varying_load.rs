//! A load that varies: stages, or a recorded trace of arrivals.

use std::sync::Arc;

use jiff::Timestamp;
use model::units::SECOND;
use model::workload::{Count, LoadSpec, Rate, Stage, Time};
use model::{Nanos, Stages};

use crate::finding::Findings;
use model::quote::quote;

use super::Inputs;

/// Arrivals of a trace at most.
const MOST_ARRIVALS: usize = 50_000_000;

/// How a load varies over time.
#[derive(Debug, Clone, Default)]
pub(super) struct VaryingLoad {
    /// The number of users over time, in a closed loop.
    pub(super) users: Option<Arc<Stages>>,
    /// When arrivals are due, in an open loop.
    pub(super) recorded: Option<Arc<[Nanos]>>,
}

impl VaryingLoad {
    /// Reads it, and sets the fields of the load that follow from it. `own` says that endpoints set
    /// rates or users.
    pub(super) fn of(
        load: &mut LoadSpec,
        own: bool,
        inputs: &Inputs<'_>,
        findings: &Findings,
    ) -> Self {
        let mut varying = Self::default();
        let by_stages = !load.stages.is_empty();
        let Some(key) = load.trace.as_ref().map(|_| "trace").or(by_stages.then_some("stages"))
        else {
            return varying;
        };
        let given = [
            ("rate", load.rate.is_some()),
            ("concurrency", load.concurrency.is_some()),
            ("ramp", load.ramp.is_some()),
            ("duration", by_stages && load.duration.is_some()),
            ("requests", load.trace.is_some() && load.requests.is_some()),
            ("stages", by_stages && load.trace.is_some()),
        ];
        for (other, _) in given.into_iter().filter(|(_, given)| *given && !own) {
            findings.add(&format!("load/{other}"), format!("`{key}` replaces it"));
        }
        if own {
            let what = "endpoints have rates or users of their own: give them weights instead";
            findings.add(&format!("load/{key}"), what);
        }
        if by_stages {
            varying.stages(load, inputs.scale, findings);
        } else {
            varying.trace(load, inputs, findings);
        }
        varying
    }

    fn stages(&mut self, load: &mut LoadSpec, scale: f64, findings: &Findings) {
        load.stages.iter_mut().for_each(|stage| scaled(stage, scale));
        let stages = match Stages::new(&load.stages) {
            Ok(stages) => stages,
            Err((index, what)) => return findings.add(&format!("load/stages/{index}"), what),
        };
        load.duration = Some(Time(stages.end_ns()));
        if load.arrivals.is_some() || load.connections.is_some() {
            load.rate = Some(Rate(stages.mean()));
        } else {
            load.concurrency = Some(Count(stages.peak().ceil() as u64));
            self.users = Some(Arc::new(stages));
        }
    }

    fn trace(&mut self, load: &mut LoadSpec, inputs: &Inputs<'_>, findings: &Findings) {
        let name = load.trace.clone().unwrap_or_default();
        let read = (inputs.file)(&name).map_err(|what| format!("{}: {what}", quote(&name)));
        let dues = read.and_then(|bytes| {
            dues(&bytes, inputs.scale).map_err(|(line, what)| format!("{name}:{line}: {what}"))
        });
        match dues {
            Ok(dues) => {
                let end = dues.last().map_or(0, |last| last + 1);
                let length = *load.duration.get_or_insert(Time(end));
                let within = dues.partition_point(|due| *due < length.0).max(1);
                let seconds = length.0.max(1) as f64 / SECOND as f64;
                load.rate = Some(Rate(within as f64 / seconds));
                self.recorded = Some(dues.into());
            }
            Err(what) => findings.add("load/trace", what),
        }
    }
}

fn scaled(stage: &mut Stage, scale: f64) {
    let levels: [Option<&mut Rate>; 2] = match stage {
        Stage::Ramp { to, .. } | Stage::Spike { to, .. } => [Some(to), None],
        Stage::Hold { at, .. } => [Some(at), None],
        Stage::Step { from, to, .. } => [Some(from), Some(to)],
        Stage::Sine { mean, amplitude, .. } => [Some(mean), Some(amplitude)],
    };
    levels.into_iter().flatten().for_each(|level| level.0 *= scale);
}

/// Due times of a trace's arrivals, from the first one on, `scale` times as fast.
fn dues(bytes: &[u8], scale: f64) -> Result<Vec<Nanos>, (usize, String)> {
    let mut dues = Vec::new();
    let mut first = None;
    let lines = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).split(|byte| *byte == b'\n');
    for (line, text) in (1..).zip(lines) {
        let text = str::from_utf8(text).map_err(|_| (line, "is not UTF-8".to_owned()))?.trim();
        if text.is_empty() {
            continue;
        }
        let at = instant(text).ok_or_else(|| {
            (line, format!("{} is neither seconds nor a time of RFC 3339", quote(text)))
        })?;
        let since = at - *first.get_or_insert(at);
        let due = (since as f64 / scale).round() as Nanos;
        if since < 0 || dues.last().is_some_and(|last| due < *last) {
            return Err((line, format!("{} is earlier than the line before it", quote(text))));
        }
        if dues.len() >= MOST_ARRIVALS {
            return Err((line, format!("more than {MOST_ARRIVALS} arrivals")));
        }
        dues.push(due);
    }
    if dues.is_empty() {
        return Err((1, "the trace is empty".to_owned()));
    }
    Ok(dues)
}

/// Nanoseconds. Seconds are read digit by digit, since seconds since 1970 have more digits than a float
/// holds.
fn instant(text: &str) -> Option<i128> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_nanosecond());
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 15 || !digits(whole) || !digits(part) {
        return None;
    }
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    Some(whole.parse::<i128>().ok()? * i128::from(SECOND) + part.parse::<i128>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_read_in_seconds_and_in_dates() {
        let seconds = b"1700000000.000000001\r\n1700000000.5\n\n1700000002\n";
        assert_eq!(dues(seconds, 1.0).unwrap(), [0, 499_999_999, 1_999_999_999]);
        let dates = b"\xef\xbb\xbf2026-01-31T12:00:00Z\n2026-01-31T13:00:00.25+01:00\n";
        assert_eq!(dues(dates, 2.0).unwrap(), [0, 125_000_000]);
        for (text, line, needle) in [
            (&b"1\nx\n"[..], 2, "neither"),
            (b"5\n\n4\n", 3, "earlier"),
            (b"\n", 1, "empty"),
            (b"1\n\xff\n", 2, "UTF-8"),
            (b"-1\n", 1, "neither"),
        ] {
            let (at, what) = dues(text, 1.0).unwrap_err();
            assert!(at == line && what.contains(needle), "{at}: {what}");
        }
    }
}
