//! Envoy's gradient controller, as its documentation describes it (envoyproxy.io, "Adaptive Concurrency"): every 60 s and
//! up to 15 % more it measures a latency to aim at, of 50 requests; every 0.1 s the limit becomes limit x gradient + its
//! square root, where gradient = aim x 1.25 / (latency since), from 0.5 to 2. By default it lets 3 requests at a time through
//! while it measures, and measures too when the limit was the least five times in a row. Where its
//! `min_concurrency_limit` is set it measures what comes and holds nothing back; both are here.

use model::random::Draws;

use super::queue::{Limiter, SECOND};

/// What is configured of the gradient controller.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// The percentile that stands for a window, 0..1.
    percentile: f64,
    /// Requests at a time while it measures; `None` where it measures what comes.
    pinned: Option<u32>,
    /// The lowest limit.
    least: u32,
}

/// The defaults of its API.
pub(super) const PINNED: Settings = Settings { percentile: 0.5, pinned: Some(3), least: 3 };
/// The example of its documentation.
pub(super) const UNPINNED: Settings = Settings { percentile: 0.9, pinned: None, least: 25 };

pub(super) struct Gradient {
    settings: Settings,
    limit: u32,
    in_flight: u32,
    latencies: Vec<u64>,
    aim_ns: f64,
    /// While the latency to aim at is measured: since when, and the limit before.
    measuring: Option<(u64, u32)>,
    measures_at_ns: u64,
    least_for: u32,
    draws: Draws,
}

impl Gradient {
    const MOST: u32 = 1000;
    const MEASURED: usize = 50;
    const EVERY_NS: u64 = 60 * SECOND;
    const JITTER: f64 = 0.15;
    const BUFFER: f64 = 1.25;

    pub(super) fn new(settings: Settings) -> Self {
        let limit = settings.least;
        Self {
            settings,
            limit,
            in_flight: 0,
            latencies: Vec::new(),
            aim_ns: 0.0,
            measuring: Some((0, limit)),
            measures_at_ns: 0,
            least_for: 0,
            draws: Draws::of(7),
        }
    }

    fn summed_up(&mut self) -> Option<f64> {
        self.latencies.sort_unstable();
        let place = (self.latencies.len() as f64 * self.settings.percentile) as usize;
        let summed = self.latencies.get(place).map(|ns| *ns as f64);
        self.latencies.clear();
        summed
    }

    fn follow(&mut self, latency_ns: f64) {
        let gradient = (self.aim_ns * Self::BUFFER / latency_ns).clamp(0.5, 2.0);
        let limit = f64::from(self.limit) * gradient;
        let (least, before) = (self.settings.least, self.limit);
        self.limit = ((limit + limit.sqrt()) as u32).clamp(least, Self::MOST);
        let at_least = self.limit == least && before == least;
        self.least_for = if at_least { self.least_for + 1 } else { 0 };
    }
}

impl Limiter for Gradient {
    fn admits(&mut self, _now_ns: u64) -> bool {
        let admits = self.in_flight < self.limit;
        self.in_flight += u32::from(admits);
        admits
    }

    fn answered(&mut self, now_ns: u64, latency_ns: u64) {
        self.in_flight -= 1;
        // What was sent before the measuring began says nothing about it.
        if self.measuring.is_some_and(|(since_ns, _)| now_ns - latency_ns < since_ns) {
            return;
        }
        self.latencies.push(latency_ns);
        if self.latencies.len() >= Self::MEASURED
            && let Some((_, before)) = self.measuring.take()
        {
            self.aim_ns = self.summed_up().expect("some were answered");
            self.limit = before;
            let jitter = 1.0 + self.draws.unit() * Self::JITTER;
            self.measures_at_ns = now_ns + (Self::EVERY_NS as f64 * jitter) as u64;
        }
    }

    fn look(&mut self, now_ns: u64) {
        if self.measuring.is_some() {
            return;
        }
        if now_ns >= self.measures_at_ns || self.least_for >= 5 {
            self.measuring = Some((now_ns, self.limit));
            self.limit = self.settings.pinned.unwrap_or(self.limit);
            self.least_for = 0;
            self.latencies.clear();
        } else if let Some(latency_ns) = self.summed_up() {
            self.follow(latency_ns);
        }
    }
}
