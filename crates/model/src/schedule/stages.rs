//! The profile of a load over time, by stages: its height, their integral, and its inverse.
//!
//! A height is arrivals per second in an open loop and users in a closed one.

use std::f64::consts::TAU;

use crate::units::{Nanos, SECOND};
use crate::workload::Stage;

/// Stages at most, and stairs of one.
const MOST: usize = 1_000;

/// A load's height over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Stages {
    /// One behind another.
    segments: Vec<Segment>,
    end_ns: Nanos,
    /// Arrivals expected in all.
    mass: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Segment {
    start_ns: Nanos,
    length_s: f64,
    /// Arrivals expected before it.
    mass: f64,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Line { from: f64, to: f64 },
    Sine { mean: f64, amplitude: f64, period_s: f64 },
}

impl Shape {
    fn height(&self, at_s: f64, length_s: f64) -> f64 {
        match self {
            Self::Line { from, to } => from + (to - from) * at_s / length_s,
            Self::Sine { mean, amplitude, period_s } => {
                mean + amplitude * (TAU * at_s / period_s).sin()
            }
        }
    }

    /// Arrivals expected in its first seconds.
    fn integral(&self, at_s: f64, length_s: f64) -> f64 {
        match self {
            Self::Line { from, to } => from * at_s + (to - from) * at_s * at_s / (2.0 * length_s),
            Self::Sine { mean, amplitude, period_s } => {
                let waves = 1.0 - (TAU * at_s / period_s).cos();
                mean * at_s + amplitude * period_s / TAU * waves
            }
        }
    }

    /// The second by which `mass` arrivals are expected.
    fn inverse(&self, mass: f64, length_s: f64) -> f64 {
        match self {
            // The root that does not cancel (Numerical Recipes, section 5.6).
            Self::Line { from, to } => {
                let slope = (to - from) / length_s;
                let root = (from * from + 2.0 * slope * mass).max(0.0).sqrt();
                if from + root > 0.0 { 2.0 * mass / (from + root) } else { 0.0 }
            }
            // The integral never falls, and 60 halvings leave less than a nanosecond of a century.
            Self::Sine { .. } => {
                let (mut low, mut high) = (0.0, length_s);
                for _ in 0..60 {
                    let middle = (low + high) / 2.0;
                    if self.integral(middle, length_s) < mass {
                        low = middle
                    } else {
                        high = middle
                    }
                }
                high
            }
        }
    }

    /// The first second from `at_s` on at which it is above a height.
    fn above(&self, height: f64, at_s: f64, length_s: f64) -> Option<f64> {
        if self.height(at_s, length_s) > height {
            return Some(at_s);
        }
        let crossing = match self {
            Self::Line { from, to } if to > from => (height - from) / (to - from) * length_s,
            Self::Line { .. } => return None,
            Self::Sine { mean, amplitude, period_s } => {
                if height >= mean + amplitude {
                    return None;
                }
                let phase = ((height - mean) / amplitude).max(-1.0).asin() / TAU * period_s;
                phase + ((at_s - phase) / period_s).ceil() * period_s
            }
        };
        // A nanosecond behind the crossing it is above.
        let crossing = crossing.max(at_s) + 1e-9;
        (crossing < length_s).then_some(crossing)
    }
}

impl Stages {
    /// The profile that stages describe.
    ///
    /// # Errors
    /// The first stage that is wrong, with what is, in words.
    pub fn new(stages: &[Stage]) -> Result<Self, (usize, String)> {
        let mut profile = Self { segments: Vec::new(), end_ns: 0, mass: 0.0 };
        let mut ended = 0.0;
        for (index, stage) in stages.iter().enumerate() {
            if index >= MOST {
                return Err((index, format!("more than {MOST} stages")));
            }
            ended = profile.add(stage, ended).map_err(|what| (index, what.to_owned()))?;
        }
        let last = stages.len().saturating_sub(1);
        if profile.mass <= 0.0 || !profile.mass.is_finite() {
            return Err((last, "the stages ask for no load".to_owned()));
        }
        Ok(profile)
    }

    /// Adds a stage to what ended at a height; gives the height it ends at.
    fn add(&mut self, stage: &Stage, ended: f64) -> Result<f64, &'static str> {
        match *stage {
            Stage::Ramp { to, over } => {
                self.segment(over.0, Shape::Line { from: ended, to: to.0 })?;
                Ok(to.0)
            }
            Stage::Hold { at, r#for } => {
                self.segment(r#for.0, Shape::Line { from: at.0, to: at.0 })?;
                Ok(at.0)
            }
            Stage::Spike { to, r#for } => {
                self.segment(r#for.0, Shape::Line { from: to.0, to: to.0 })?;
                Ok(ended)
            }
            Stage::Step { from, to, steps, each } => {
                if !(2..=MOST as u32).contains(&steps) {
                    return Err("`steps` must be from 2 to 1000");
                }
                for stair in 0..steps {
                    let part = f64::from(stair) / f64::from(steps - 1);
                    let height = from.0 + (to.0 - from.0) * part;
                    self.segment(each.0, Shape::Line { from: height, to: height })?;
                }
                Ok(to.0)
            }
            Stage::Sine { mean, amplitude, period, r#for } => {
                if amplitude.0 > mean.0 {
                    return Err("`amplitude` is above `mean`: the load would fall below 0");
                }
                if period.0 == 0 {
                    return Err("`period` must be above 0");
                }
                let period_s = period.0 as f64 / SECOND as f64;
                let shape = Shape::Sine { mean: mean.0, amplitude: amplitude.0, period_s };
                let length_s = r#for.0 as f64 / SECOND as f64;
                let ends = shape.height(length_s, length_s).max(0.0);
                self.segment(r#for.0, shape)?;
                Ok(ends)
            }
        }
    }

    fn segment(&mut self, length_ns: Nanos, shape: Shape) -> Result<(), &'static str> {
        if length_ns == 0 {
            return Err("a stage must last longer than 0");
        }
        let length_s = length_ns as f64 / SECOND as f64;
        let (start_ns, mass) = (self.end_ns, self.mass);
        self.end_ns = start_ns.checked_add(length_ns).ok_or("the stages last too long")?;
        self.mass += shape.integral(length_s, length_s);
        self.segments.push(Segment { start_ns, length_s, mass, shape });
        Ok(())
    }

    /// When it ends, nanoseconds since the run's start.
    pub const fn end_ns(&self) -> Nanos {
        self.end_ns
    }

    /// Its mean height.
    pub fn mean(&self) -> f64 {
        self.mass * SECOND as f64 / self.end_ns as f64
    }

    /// Its greatest height.
    pub fn peak(&self) -> f64 {
        let peak = |segment: &Segment| match segment.shape {
            Shape::Line { from, to } => from.max(to),
            Shape::Sine { mean, amplitude, .. } => mean + amplitude,
        };
        self.segments.iter().map(peak).fold(0.0, f64::max)
    }

    /// Arrivals expected before an instant.
    pub fn integral(&self, at_ns: Nanos) -> f64 {
        if at_ns >= self.end_ns {
            return self.mass;
        }
        let index = self.segments.partition_point(|segment| segment.start_ns <= at_ns) - 1;
        let segment = &self.segments[index];
        let at_s = (at_ns - segment.start_ns) as f64 / SECOND as f64;
        segment.mass + segment.shape.integral(at_s, segment.length_s)
    }

    /// The instant by which `mass` arrivals are expected: the integral's inverse. Beyond the last one
    /// that is [`Nanos::MAX`].
    pub fn due_at(&self, mass: f64) -> Nanos {
        if mass >= self.mass {
            return Nanos::MAX;
        }
        let after = self.segments.partition_point(|segment| segment.mass <= mass);
        let Some(segment) = after.checked_sub(1).map(|index| &self.segments[index]) else {
            return 0;
        };
        let at_s = segment.shape.inverse(mass - segment.mass, segment.length_s);
        segment.start_ns + (at_s.min(segment.length_s) * SECOND as f64).round() as Nanos
    }

    /// The first instant from `from_ns` on at which it is above a height, if there is one.
    pub fn above(&self, height: f64, from_ns: Nanos) -> Option<Nanos> {
        let first = self.segments.partition_point(|segment| segment.start_ns <= from_ns);
        for segment in self.segments.iter().skip(first.saturating_sub(1)) {
            let at_s = from_ns.saturating_sub(segment.start_ns) as f64 / SECOND as f64;
            if at_s >= segment.length_s {
                continue;
            }
            if let Some(at_s) = segment.shape.above(height, at_s, segment.length_s) {
                let at_ns = segment.start_ns + (at_s * SECOND as f64).ceil() as Nanos;
                return Some(at_ns.max(from_ns));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workload::{Rate, Time};

    fn seconds(seconds: f64) -> Time {
        Time((seconds * SECOND as f64) as Nanos)
    }

    fn stages() -> Vec<Stage> {
        vec![
            Stage::Ramp { to: Rate(100.0), over: seconds(10.0) },
            Stage::Hold { at: Rate(100.0), r#for: seconds(5.0) },
            Stage::Spike { to: Rate(500.0), r#for: seconds(1.0) },
            Stage::Ramp { to: Rate(0.0), over: seconds(2.0) },
            Stage::Step { from: Rate(10.0), to: Rate(30.0), steps: 3, each: seconds(2.0) },
            Stage::Sine {
                mean: Rate(50.0),
                amplitude: Rate(50.0),
                period: seconds(4.0),
                r#for: seconds(8.0),
            },
        ]
    }

    #[test]
    fn areas_are_those_of_the_figures() {
        let profile = Stages::new(&stages()).unwrap();
        let at = |s: f64| profile.integral((s * SECOND as f64) as Nanos);
        // Triangle, rectangle, rectangle, triangle (from 100, where the hold ended), stairs, waves.
        for (second, mass) in [
            (5.0, 125.0),
            (10.0, 500.0),
            (15.0, 1000.0),
            (16.0, 1500.0),
            (18.0, 1600.0),
            (20.0, 1620.0),
            (22.0, 1660.0),
            (24.0, 1720.0),
            (28.0, 1920.0),
            (32.0, 2120.0),
        ] {
            assert!((at(second) - mass).abs() < 1e-6, "{second}: {} {mass}", at(second));
        }
        assert_eq!(profile.end_ns(), 32 * SECOND);
        assert!((profile.mean() - 2120.0 / 32.0).abs() < 1e-9 && profile.peak() == 500.0);
        assert_eq!(profile.due_at(2120.0), Nanos::MAX);
    }

    #[test]
    fn users_come_and_go_with_the_profile() {
        let profile = Stages::new(&stages()).unwrap();
        let above = |height, s: f64| {
            let at = profile.above(height, (s * SECOND as f64) as Nanos);
            at.map(|at| (at as f64 / SECOND as f64 * 1000.0).round() / 1000.0)
        };
        assert_eq!(above(0.0, 0.0), Some(0.0));
        assert_eq!(above(50.0, 0.0), Some(5.0));
        assert_eq!(above(200.0, 0.0), Some(15.0));
        assert_eq!(above(500.0, 0.0), None);
        assert_eq!(above(50.0, 17.5), Some(24.0));
        assert_eq!(above(25.0, 18.0), Some(22.0));
        assert_eq!(above(75.0, 25.9), Some(28.333));
        assert_eq!(above(1.0, 32.0), None);
    }

    #[test]
    fn stages_that_make_no_sense_are_refused() {
        let hold = |at: f64, s: f64| Stage::Hold { at: Rate(at), r#for: seconds(s) };
        let sine = Stage::Sine {
            mean: Rate(1.0),
            amplitude: Rate(2.0),
            period: seconds(1.0),
            r#for: seconds(1.0),
        };
        let step = Stage::Step { from: Rate(1.0), to: Rate(2.0), steps: 1, each: seconds(1.0) };
        for (stages, index, needle) in [
            (vec![hold(5.0, 1.0), hold(5.0, 0.0)], 1, "last longer"),
            (vec![sine], 0, "amplitude"),
            (vec![step], 0, "steps"),
            (vec![hold(0.0, 1.0)], 0, "no load"),
            (vec![], 0, "no load"),
        ] {
            let (at, what) = Stages::new(&stages).unwrap_err();
            assert!(at == index && what.contains(needle), "{what}");
        }
    }

    proptest! {
        #[test]
        fn the_inverse_leads_back(part in 0.0..0.9999f64) {
            let profile = Stages::new(&stages()).unwrap();
            let mass = 2120.0 * part;
            let due = profile.due_at(mass);
            // A nanosecond is at most 5e-7 arrivals.
            prop_assert!((profile.integral(due) - mass).abs() < 1e-5, "{} {}", mass, profile.integral(due));
        }
    }
}
