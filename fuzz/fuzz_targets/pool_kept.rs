//! Saved ranges and indexes of pools from hostile files: refused, or read and written again unchanged.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use traffic::{IndexHead, KeptRanges, RowFile, RowIndex};

#[derive(Debug)]
struct Bytes(Vec<u8>);

impl RowFile for Bytes {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let from = self.0.get(offset as usize..).unwrap_or_default();
        let bytes = from.get(..into.len()).ok_or("ends")?;
        into.copy_from_slice(bytes);
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(ranges) = KeptRanges::read(data) {
        let again = KeptRanges::read(&ranges.records()).expect("what was written is read");
        assert_eq!((again.next, again.left), (ranges.next, ranges.left));
    }
    let Some((head, entries)) = data.split_first_chunk::<33>() else { return };
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let weight = (head[32] & 1 == 1).then(|| f64::from_bits(word(24)));
    let index = IndexHead { rows: word(0), block: word(8), weight, sum: word(16) };
    let _ = RowIndex::open(index, Arc::new(Bytes(entries.to_vec())));
});
