//! Replies of a Redis server: read whole or not at all, and the same however they are cut.
#![no_main]

use gate::shared::read_reply;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = bytes;
    let Ok(Some(reply)) = read_reply(&mut input) else { return };
    let whole = &bytes[..bytes.len() - input.len()];
    assert_eq!(read_reply(&mut &*whole), Ok(Some(reply)));
    for cut in 0..whole.len().min(200) {
        let mut part = &whole[..cut];
        assert_eq!(read_reply(&mut part), Ok(None));
        assert_eq!(part.len(), cut);
    }
});
