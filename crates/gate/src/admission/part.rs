//! The part of a load line that one gateway holds where several are in front of the same API.
//!
//! Each holds the same part of the number in flight, because asking the others takes too long; and of the rate, unless
//! all take it from a shared limit. Whatever distributes the requests over the gateways has to distribute them evenly.

/// What one gateway holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    gateways: f64,
    rate_is_shared: bool,
}

impl Part {
    /// The part of the only gateway.
    pub const WHOLE: Self = Self { gateways: 1.0, rate_is_shared: false };

    /// The part of one of `gateways`, 1 or more; `rate_is_shared`: they take from one rate.
    pub fn of(gateways: u32, rate_is_shared: bool) -> Self {
        Self { gateways: f64::from(gateways.max(1)), rate_is_shared }
    }

    /// The part of the number in flight, and of the rate if all gateways get the same load: 0..=1.
    pub fn own(self) -> f64 {
        1.0 / self.gateways
    }

    /// The largest part of the rate that it lets through: all of a rate that is shared.
    pub(super) fn of_rate(self) -> f64 {
        if self.rate_is_shared { 1.0 } else { self.own() }
    }
}
