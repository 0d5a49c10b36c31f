//! Which levels' figures may be quoted as what a server carried.

/// A level with less success is not eligible as the best: errors that look like capacity.
pub const SOUND: f64 = 0.90;
