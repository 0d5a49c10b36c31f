//! Histograms out of files, in HdrHistogram's V2 compressed form.
//!
//! The header of that form says how many buckets there are and how long their counts are, up to
//! gigabytes of both. It is held against the bounds of this program's own histograms before the
//! library sizes anything by it, and no more is unpacked than a histogram of that size can take.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::{HIGHEST, LOWEST, SIGNIFICANT_DIGITS};

/// First bytes of the compressed form, and of the plain one inside of it.
const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
/// Bytes of the plain form before its counts: cookie, length of the counts, offset, digits, lowest,
/// highest, ratio.
const HEADER: usize = 40;
/// Bytes of the plain form at most: 27,000 counts of nine bytes take less.
const MOST_PLAIN: usize = 256 << 10;
/// Characters of base64 at most: deflate makes what it cannot compress hardly longer.
const MOST_TEXT: usize = MOST_PLAIN / 3 * 4 + 4096;

/// Reads base64 of a histogram with this program's bounds.
pub(super) fn read(text: &str) -> Result<Histogram<u64>, String> {
    if text.len() > MOST_TEXT {
        return Err(format!("a histogram of {} characters; {MOST_TEXT} are allowed", text.len()));
    }
    let bytes = STANDARD.decode(text).map_err(|e| format!("histogram is not base64: {e}"))?;
    let no_histogram = |why: &str| format!("not an HdrHistogram in V2 compressed form: {why}");
    let plain = unpacked(&bytes).map_err(|why| no_histogram(&why))?;
    check(&plain).map_err(no_histogram)?;
    Deserializer::new().deserialize(&mut plain.as_slice()).map_err(|e| no_histogram(&e.to_string()))
}

/// The plain form out of the compressed one.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let Some((cookie, _, packed)) = two_words(bytes) else {
        return Err("it ends in its header".to_owned());
    };
    if cookie != COMPRESSED {
        return Err("it begins with other bytes".to_owned());
    }
    let mut plain = Vec::new();
    let mut reader = ZlibDecoder::new(packed).take(MOST_PLAIN as u64 + 1);
    reader.read_to_end(&mut plain).map_err(|e| format!("its counts cannot be unpacked: {e}"))?;
    if plain.len() > MOST_PLAIN {
        return Err(format!("it unpacks to more than {MOST_PLAIN} bytes"));
    }
    Ok(plain)
}

/// Two numbers of 32 bits and what follows them.
fn two_words(bytes: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (first, rest) = bytes.split_first_chunk()?;
    let (second, rest) = rest.split_first_chunk()?;
    Some((u32::from_be_bytes(*first), u32::from_be_bytes(*second), rest))
}

/// Whether the header is that of a histogram of this program, and its counts are there.
fn check(plain: &[u8]) -> Result<(), &'static str> {
    let Some((cookie, length, _)) = two_words(plain) else { return Err("it ends in its header") };
    if cookie != PLAIN {
        return Err("it contains another form");
    }
    if plain.len() < HEADER || plain.len() - HEADER < length as usize {
        return Err("its counts are shorter than its header says");
    }
    let mut expected = [0; HEADER - 8];
    expected[4..8].copy_from_slice(&u32::from(SIGNIFICANT_DIGITS).to_be_bytes());
    expected[8..16].copy_from_slice(&LOWEST.to_be_bytes());
    expected[16..24].copy_from_slice(&HIGHEST.to_be_bytes());
    expected[24..].copy_from_slice(&1f64.to_be_bytes());
    if plain[8..HEADER] != expected {
        return Err(
            "its bounds are not those of this program's histograms (100 ns, 1 h, 3 digits)",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    use super::*;
    use crate::histogram::Latencies;

    /// The compressed form of any bytes, in base64.
    fn packed(plain: &[u8]) -> String {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(plain).unwrap();
        let zlib = zlib.finish().unwrap();
        let mut bytes = COMPRESSED.to_be_bytes().to_vec();
        bytes.extend((zlib.len() as u32).to_be_bytes());
        bytes.extend(zlib);
        STANDARD.encode(bytes)
    }

    fn plain(length: u32, digits: u32, lowest: u64, highest: u64, counts: &[u8]) -> Vec<u8> {
        let words = [PLAIN, length, 0, digits].map(u32::to_be_bytes).concat();
        let bounds = [lowest, highest].map(u64::to_be_bytes).concat();
        [&words[..], &bounds, &1f64.to_be_bytes(), counts].concat()
    }

    fn refused(text: &str) -> String {
        Latencies::<u64>::from_base64(text).unwrap_err()
    }

    #[test]
    fn a_header_that_asks_for_gigabytes_is_refused_before_anything_is_sized() {
        // Five digits up to the highest number: 50 MB of counts, for each histogram that says so.
        let wide = plain(1, 5, 1, u64::MAX / 2, &[2]);
        assert!(refused(&packed(&wide)).contains("bounds"));
        let long = plain(u32::MAX, 3, LOWEST, HIGHEST, &[2]);
        assert!(refused(&packed(&long)).contains("shorter"));
        let many = plain(1 << 30, 3, LOWEST, HIGHEST, &vec![0; 8 << 20]);
        assert!(refused(&packed(&many)).contains("unpacks to more"));
        assert!(refused(&"A".repeat(MOST_TEXT + 4)).contains("characters"));
    }

    #[test]
    fn another_form_or_a_cut_one_is_refused() {
        let healthy = plain(1, 3, LOWEST, HIGHEST, &[2]);
        assert_eq!(Latencies::<u64>::from_base64(&packed(&healthy)).unwrap().count(), 1);
        for cut in 0..healthy.len() {
            assert!(!refused(&packed(&healthy[..cut])).is_empty());
        }
        assert!(refused(&STANDARD.encode(&healthy)).contains("other bytes"));
        let mut other = Vec::new();
        let histogram = Histogram::<u64>::new_with_bounds(1, 1000, 2).unwrap();
        V2DeflateSerializer::new().serialize(&histogram, &mut other).unwrap();
        assert!(refused(&STANDARD.encode(other)).contains("bounds"));
    }

    #[test]
    fn the_largest_histogram_that_is_written_is_read_back() {
        let mut latencies = Latencies::<u64>::new();
        let (mut at, mut count) = (LOWEST, 1u64);
        while at < HIGHEST {
            // Counts of many bytes that no compression shortens.
            count = count.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            latencies.record_many(at, (count >> 28) | 1);
            at += at / 2048 + 1;
        }
        let text = latencies.to_base64();
        assert!(text.len() > 100_000, "{}", text.len());
        assert_eq!(Latencies::<u64>::from_base64(&text).unwrap().count(), latencies.count());
    }
}
