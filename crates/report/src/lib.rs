//! What people and other programs read of a result: strings and bytes out, nothing else.
//!
//! Pure: no module here opens a file, a socket or a clock. The caller writes what it is handed.

pub mod chart;
pub mod charts;
mod figure;
mod grid;
pub mod hgrm;
pub mod html;
pub mod live;
#[cfg(test)]
mod sample;
pub mod table;
pub mod text;
pub mod timeline;
pub mod wrk;
