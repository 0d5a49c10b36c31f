//! Renders results for people and for other programs: values in, strings and bytes out.
//!
//! Pure: no module here opens a file, a socket or a clock. The caller writes the output; the same result
//! always gives the same bytes. Does not own any judgement (`verdict`).
//!
//! - [`audit`]: other tools' results judged, as text, CSV and JSON.
//! - [`wrk`], [`text`], [`live`], [`table`], [`capacity`]: what a terminal shows.
//! - [`timeline`], [`hgrm`], [`junit`], [`annotations`], and the CSV of [`table`]: what other programs
//!   read.
//! - [`comparison`]: one server judged against another, as text and CSV.
//! - [`chart`]: SVG and PNG from plain figures; [`charts`]: the figures of results for them.
//! - [`findings`]: what limits a run. [`watch`]: the live table of watched sources.
//! - [`mined`]: what `mine` found in an access log.
//! - [`profiled`]: a profile, a prediction, a comparison of two profiles.
//! - [`preview`]: what a workload would send. [`grid`]: tables of other commands.
//! - [`html`]: one self-contained page.

pub mod annotations;
pub mod audit;
pub mod capacity;
mod cases;
pub mod chart;
pub mod charts;
pub mod comparison;
mod csv;
mod figure;
pub mod findings;
mod flame;
pub mod grid;
pub mod hgrm;
pub mod html;
pub mod junit;
mod latencies;
pub mod live;
pub mod mined;
pub mod preview;
pub mod profiled;
#[cfg(test)]
mod sample;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;
pub mod timeline;
pub mod tuning;
pub mod watch;
pub mod watched;
pub mod wrk;

pub use figure::{shell, wrap};
