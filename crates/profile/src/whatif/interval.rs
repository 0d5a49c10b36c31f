//! The parts of a profile that a prediction is made of, and how sure it is.

use model::random::Draws;

use super::removal::Removed;
use super::{CHEAPER, Start, left};

/// Drawings of the interval.
const DRAWINGS: usize = 4000;
/// The standard deviation of [`CHEAPER`].
const CHEAPER_ERROR: f64 = 0.3;
/// Standard deviation between two runs of the same server, restarted, as a share: what no single run can tell of itself.
const RESTART_ERROR: f64 = 0.05;
/// Bytes between two samples of Go's profile of allocations.
const ALLOCATION_SAMPLE: f64 = 524_288.0;

/// The parts of a profile that a prediction is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    removed: f64,
    collecting: f64,
    written: f64,
    rest: f64,
    set_removed: f64,
    set_rest: f64,
    allocated_removed: f64,
    allocated_written: f64,
    allocated_rest: f64,
}

impl Parts {
    /// The parts, memory by the profile of allocations where there is one.
    pub fn of(time: &Removed, bytes: Option<&Removed>) -> Self {
        let allocated = bytes.unwrap_or(time);
        // Without a profile of allocations, what writing headers allocated is not told apart.
        let written = bytes.map_or(0.0, |bytes| bytes.written);
        Self {
            removed: time.removed,
            collecting: time.collecting,
            written: time.written,
            rest: time.total - time.removed - time.collecting - time.written,
            set_removed: time.set_removed,
            set_rest: time.set - time.set_removed,
            allocated_removed: allocated.allocated_removed,
            allocated_written: written,
            allocated_rest: allocated.allocated - allocated.allocated_removed - written,
        }
    }

    fn total(&self) -> f64 {
        self.removed + self.collecting + self.written + self.rest
    }

    /// The share of the headers that is no longer set.
    fn unset(&self) -> f64 {
        part(self.set_removed, self.set_removed + self.set_rest)
    }

    /// The share of the processor time that goes because headers are no longer set.
    pub fn share_headers(&self) -> f64 {
        part(self.written * self.unset(), self.total())
    }

    /// The share of the processor time that goes because garbage is no longer made.
    pub fn share_collecting(&self) -> f64 {
        let allocated = self.allocated_removed + self.allocated_written + self.allocated_rest;
        let removed = self.allocated_removed + self.allocated_written * self.unset();
        part(self.collecting * part(removed, allocated), self.total())
    }

    /// The share of the processor time that goes.
    pub fn share(&self) -> f64 {
        part(self.removed, self.total()) + self.share_headers() + self.share_collecting()
    }
}

/// A part of a whole; none of nothing.
fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 { of / whole } else { 0.0 }
}

/// The interval of 95 %: the samples drawn anew many times, with the run's own noise and the model's.
///
/// Samples fall into few parts only, so drawing all of them anew with replacement is drawing a Poisson number of each
/// part (the Poisson bootstrap).
pub fn interval(
    start: &Start<'_>,
    time: &Removed,
    bytes: Option<&Removed>,
    (per_value, cpu_us): (f64, f64),
) -> (f64, f64) {
    let parts = Parts::of(time, bytes);
    let allocation = match bytes {
        Some(_) => 1.0 / ALLOCATION_SAMPLE,
        None => per_value,
    };
    let mut random = Draws::of(17);
    let noise = start.qps_error.hypot(RESTART_ERROR);
    let mut drawn: Vec<f64> = (0..DRAWINGS)
        .map(|_| {
            let mut anew = |value: f64, scale: f64| poisson(&mut random, value * scale) / scale;
            let parts = Parts {
                removed: anew(parts.removed, per_value),
                collecting: anew(parts.collecting, per_value),
                written: anew(parts.written, per_value),
                rest: anew(parts.rest, per_value),
                set_removed: anew(parts.set_removed, per_value),
                set_rest: anew(parts.set_rest, per_value),
                allocated_removed: anew(parts.allocated_removed, allocation),
                allocated_written: anew(parts.allocated_written, allocation),
                allocated_rest: anew(parts.allocated_rest, allocation),
            };
            let qps = start.qps * (1.0 + noise * normal(&mut random)).max(0.0);
            let part = (CHEAPER + CHEAPER_ERROR * normal(&mut random)).clamp(0.0, 1.0);
            qps / left(parts.share().min(0.99), cpu_us, part)
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn[((DRAWINGS as f64 * share) as usize).min(DRAWINGS - 1)];
    (at(0.025), at(0.975))
}

/// A number above 0 and at most 1.
fn uniform(random: &mut Draws) -> f64 {
    1.0 - random.unit()
}

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut Draws) -> f64 {
    let (u, v) = (uniform(random), uniform(random));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A Poisson number; by its normal limit where the mean is large.
fn poisson(random: &mut Draws, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    if mean > 50.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0);
    }
    let (limit, mut product, mut count) = ((-mean).exp(), uniform(random), 0.0);
    while product > limit {
        product *= uniform(random);
        count += 1.0;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_holds_what_goes_elsewhere() {
        // 20 of 100 go, and a half of what is allocated, and with it a half of 10.
        let parts = Parts {
            removed: 20.0,
            collecting: 10.0,
            written: 0.0,
            rest: 70.0,
            set_removed: 0.0,
            set_rest: 0.0,
            allocated_removed: 4.0,
            allocated_written: 0.0,
            allocated_rest: 4.0,
        };
        assert!((parts.share() - 0.25).abs() < 1e-12);
        // Three of four headers are no longer set: so much of the 20 that write them goes.
        let parts = Parts { written: 20.0, rest: 50.0, set_removed: 3.0, set_rest: 1.0, ..parts };
        assert!((parts.share_headers() - 0.15).abs() < 1e-12);
        assert!((parts.share() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn poisson_numbers_have_their_mean() {
        for mean in [0.5, 8.0, 400.0] {
            let mut random = Draws::of(3);
            let drawn: Vec<f64> = (0..20_000).map(|_| poisson(&mut random, mean)).collect();
            let found = drawn.iter().sum::<f64>() / 20_000.0;
            assert!((found / mean - 1.0).abs() < 0.03, "{mean}: {found}");
        }
    }
}
