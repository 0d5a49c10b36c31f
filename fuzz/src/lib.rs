//! What several fuzz targets share.
//!
//! A finding becomes a test of the crate it was found in; nothing is kept here but the targets.

use wire::Limits;

#[cfg(feature = "play")]
pub mod play;

/// The driver of `wire`'s own tests: the laws that the fuzzer looks for breaches of.
#[path = "../../crates/wire/tests/it/replay.rs"]
pub mod replay;

/// Input for a parser: how it is cut on its way, under which limits, and the message itself.
pub struct Case<'a> {
    /// Lengths of the first pieces; single bytes follow.
    pub cuts: Vec<usize>,
    /// Usual or tight limits.
    pub limits: Limits,
    /// Bits to choose by.
    pub choice: u8,
    /// The message.
    pub bytes: &'a [u8],
}

/// Takes the last four bytes of `data` for the cuts and choices, so that the message begins where
/// the data does and corpora of plain messages can be used.
pub fn case(data: &[u8]) -> Option<Case<'_>> {
    let (bytes, &[first, second, third, choice]) = data.split_last_chunk()?;
    let cuts = [first, second, third].map(usize::from).to_vec();
    let limits = match choice & 3 {
        0 => Limits { head_bytes: usize::from(first) * 2, headers: usize::from(second % 8) },
        _ => Limits::default(),
    };
    Some(Case { cuts, limits, choice: choice >> 2, bytes })
}
