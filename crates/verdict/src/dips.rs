//! Periods in which the server departed from its trend: throughput that fell, latency that rose, and
//! when they came back. A dip is a result, not invalidity.
//!
//! Looked for in the window second by second ([`model::Seconds`]), not in the timeline, whose points a
//! long run folds. A figure's *trend* is what it would have been: a robust line through the run and
//! a running median around it (`statistics::trend`). How far a second lies off its trend is measured
//! against how far seconds of this very run usually lie off (the median absolute deviation), so that
//! a noisy server is not accused of its noise; and it must also matter, in per cent. Looked for are
//! periods at several lengths: a deep one may last a second, a shallow one must last longer.
//!
//! Where the load itself varies, by stages or a trace, throughput is held against what was due, if anything, and latencies
//! are not looked at while more was asked for than usual: that they rise then is no departure of the server's.
//!
//! Not here: a run that has not settled at its beginning, or drifts all along; that is the rule
//! `not_steady` of [`crate::validity`].

mod endpoints;
mod span;
mod varying;

use model::quote::counted;
use model::seconds::Second;
use model::units::{Nanos, SECOND, show_duration};
use model::{Departure, Dip, Plan, Seconds};
use statistics::order::median;
use statistics::trend;

use crate::figures::rate;
use endpoints::Usual;
use span::Span;
use varying::Varying;

/// Seconds that a window must have before anything can be distinguished from its trend.
pub const FEWEST_SECONDS: usize = 10;
/// Dips listed at most; a server that leaves its trend more often has none.
pub const MOST_DIPS: usize = 200;

/// Whether a window is long enough to find dips in it.
pub fn can_tell(duration_ns: Nanos) -> bool {
    // A second is whole from its half on: see `whole_seconds`.
    duration_ns >= FEWEST_SECONDS as u64 * SECOND - SECOND / 2
}

/// Every dip of a window under the load of a plan, in order.
pub fn find(window: &Seconds, plan: &Plan) -> Vec<Dip> {
    let seconds = whole_seconds(window.seconds());
    if seconds.len() < FEWEST_SECONDS {
        return Vec::new();
    }
    let signals = Signals::of(seconds, Varying::of(seconds, plan).as_ref());
    let mut spans: Vec<Span> = [&signals.throughput, &signals.p50, &signals.p99]
        .into_iter()
        .flat_map(|signal| span::find(&signal.off, &signal.noise))
        .collect();
    span::unite(&mut spans);
    // What begins with the window has no trend before it: that is a warm-up, if anything.
    spans.retain(|span| span.from > 0);
    spans.truncate(MOST_DIPS);
    let usual = Usual::of(window.endpoints());
    let dips = spans
        .iter()
        .map(|&span| Dip { endpoints: usual.hit(span), ..dip(seconds, &signals, span) });
    // A period whose typical second is off in nothing is no dip.
    dips.filter(|dip| dip.throughput.or(dip.p50_ns).or(dip.p99_ns).is_some()).collect()
}

/// A dip in words: `at 62s for 5.00s, QPS 4,100 instead of 9,900, p50 21.0ms instead of 5.00ms`.
pub fn words(dip: &Dip) -> String {
    let at = show_duration(dip.start_ns);
    let mut words = format!("at {at} for {}", show_duration(dip.duration_ns));
    if let Some(throughput) = dip.throughput {
        let (was, trend) = (rate(throughput.typical), rate(throughput.trend));
        words += &format!(", QPS {was} instead of {trend}");
    }
    for (name, departure) in [("p50", dip.p50_ns), ("p99", dip.p99_ns)] {
        if let Some(departure) = departure {
            let time = |ns: f64| show_duration(ns.clamp(0.0, 1e19) as u64);
            let (was, trend) = (time(departure.typical), time(departure.trend));
            words += &format!(", {name} {was} instead of {trend}");
        }
    }
    match dip.endpoints.as_slice() {
        [] => {}
        [one] => words += &format!(", at {one}"),
        [first, rest @ ..] => {
            words += &format!(", at {first} and {}", counted(rest.len() as u64, "more endpoint"));
        }
    }
    words
}

/// The seconds without a stub at the end, whose rate is that of the run's last breath.
fn whole_seconds(seconds: &[Second]) -> &[Second] {
    match seconds {
        [before @ .., last] if last.duration_ns < SECOND / 2 => before,
        all => all,
    }
}

/// A count of a second, per second.
fn per_s(second: &Second, count: u32) -> f64 {
    f64::from(count) * SECOND as f64 / second.duration_ns.max(1) as f64
}

/// A figure second by second, beside its trend.
#[derive(Debug)]
struct Signal {
    value: Vec<f64>,
    trend: Vec<f64>,
    /// How far to the worse: 0.3 for 30 % less throughput, the natural logarithm for latencies.
    off: Vec<f64>,
    noise: span::Noise,
}

#[derive(Debug)]
struct Signals {
    throughput: Signal,
    p50: Signal,
    p99: Signal,
}

impl Signals {
    fn of(seconds: &[Second], varying: Option<&Varying>) -> Self {
        let mut signals = Self {
            throughput: Signal::throughput(seconds, varying),
            p50: Signal::latency(seconds, |second| second.p50_ns, 1),
            // A 99th percentile of few responses is their maximum: it must stay high to count.
            p99: Signal::latency(seconds, |second| second.p99_ns, 3),
        };
        if let Some(varying) = varying {
            varying.excuse(&mut signals.p50.off);
            varying.excuse(&mut signals.p99.off);
        }
        signals
    }
}

impl Signal {
    fn throughput(seconds: &[Second], varying: Option<&Varying>) -> Self {
        let value: Vec<f64> = seconds.iter().map(|s| per_s(s, s.responses)).collect();
        // What it is held against: nothing where not enough was asked for.
        let asked = varying.map_or_else(|| vec![Some(1.0); value.len()], |of| of.asked.clone());
        let mut last = 1.0;
        let parts = value.iter().zip(&asked).map(|(value, asked)| {
            last = asked.map_or(last, |asked| value / asked);
            last
        });
        let parts: Vec<f64> = parts.collect();
        let usual = trend::of(&parts);
        let off = parts.iter().zip(&usual).zip(&asked).map(|((part, usual), asked)| {
            if *usual > 0.0 && asked.is_some() { 1.0 - part / usual } else { 0.0 }
        });
        let off: Vec<f64> = off.collect();
        let course = value.iter().zip(&usual).zip(&asked);
        let trend = course.map(|((value, usual), asked)| asked.map_or(*value, |a| usual * a));
        let trend: Vec<f64> = trend.collect();
        // Counts vary by their square root even where nothing else does.
        let typical = median(seconds.iter().map(|s| f64::from(s.responses)).collect());
        let floor = 1.0 / typical.max(1.0).sqrt();
        let certain = span::RARE * floor < span::OUTAGE;
        let noise = span::Noise {
            floor,
            least: span::LEAST_LOSS,
            always: if certain { span::OUTAGE } else { f64::INFINITY },
            shortest: 1,
        };
        Self { value, trend, off, noise }
    }

    fn latency(seconds: &[Second], of: fn(&Second) -> Nanos, shortest: usize) -> Self {
        let mut last = seconds.iter().map(of).find(|&ns| ns > 0).unwrap_or(1);
        // A second without responses has no latency; it shows in the throughput.
        let logs: Vec<f64> = seconds
            .iter()
            .map(|second| {
                last = Some(of(second)).filter(|&ns| ns > 0).unwrap_or(last);
                (last as f64).ln()
            })
            .collect();
        let trend = trend::of(&logs);
        let off = logs.iter().zip(&trend).map(|(v, c)| v - c).collect();
        let (floor, least, always) = (0.02, span::LEAST_RISE, f64::INFINITY);
        let noise = span::Noise { floor, least, always, shortest };
        let exp = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect();
        Self { value: exp(&logs), trend: exp(&trend), off, noise }
    }

    /// How far the figure went, if it left its trend in this span.
    fn departure(&self, span: Span) -> Option<Departure> {
        let inside = span.from..span.to;
        let off = median(self.off[inside.clone()].to_vec());
        let least = self.noise.least[self.noise.least.len() - 1];
        let usual = span::spread(&self.off).max(self.noise.floor);
        let left = off >= least.max(span::RARE * usual / 2.0).min(self.noise.always);
        left.then(|| self.extent(span)).flatten()
    }

    /// How far the figure went, if one second of it was off by what a long dip must be.
    fn outburst(&self, span: Span) -> Option<Departure> {
        let least = self.noise.least[self.noise.least.len() - 1];
        (self.off[self.deepest(span)] >= least).then(|| self.extent(span)).flatten()
    }

    fn extent(&self, span: Span) -> Option<Departure> {
        let inside = span.from..span.to;
        let worst = inside.clone().max_by(|&a, &b| self.off[a].total_cmp(&self.off[b]))?;
        Some(Departure {
            trend: median(self.trend[inside.clone()].to_vec()),
            typical: median(self.value[inside].to_vec()),
            worst: self.value[worst],
        })
    }

    fn deepest(&self, span: Span) -> usize {
        let inside = span.from..span.to;
        inside.max_by(|&a, &b| self.off[a].total_cmp(&self.off[b])).unwrap_or(span.from)
    }
}

fn dip(seconds: &[Second], signals: &Signals, span: Span) -> Dip {
    let Signals { throughput, p50, p99 } = signals;
    let inside = &seconds[span.from..span.to];
    let end = |second: &Second| second.start_ns.saturating_add(second.duration_ns);
    let start_ns = inside.first().map_or(0, |second| second.start_ns);
    let end_ns = inside.last().map_or(start_ns, end);
    let mut departures = [throughput, p50, p99].map(|signal| signal.departure(span));
    if departures.iter().all(Option::is_none) {
        // Most of the period was on trend: a second of it made it one.
        departures = [throughput, p50, p99].map(|signal| signal.outburst(span));
    }
    let deepest = match departures {
        [Some(_), ..] => throughput.deepest(span),
        [None, Some(_), _] => p50.deepest(span),
        _ => p99.deepest(span),
    };
    let recovered = span.to < seconds.len();
    let [throughput, p50_ns, p99_ns] = departures;
    Dip {
        start_ns,
        duration_ns: end_ns.saturating_sub(start_ns),
        throughput,
        p50_ns,
        p99_ns,
        failed: inside.iter().map(|second| u64::from(second.failed)).sum(),
        recovery_ns: recovered.then(|| end_ns.saturating_sub(seconds[deepest].start_ns)),
        endpoints: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
