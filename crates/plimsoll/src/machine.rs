//! This machine: the calibrations of its generator, and its fonts.

pub mod calibrations;
pub mod fonts;
