//! A table that is read is sorted and bounded, and prints as one that reads the same.

#![no_main]

use import::dat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(curve) = dat::parse("x", data) else { return };
    assert!(curve.rows.windows(2).all(|pair| pair[0].level < pair[1].level));
    assert!(curve.rows.iter().all(|row| row.qps.is_finite() && row.level > 0.0));
    let text = dat::print(&curve);
    // Levels are printed in full and the other figures rounded: printing again changes nothing.
    let again = dat::parse("x", text.as_bytes()).expect("what was printed reads");
    assert_eq!(dat::print(&again), text);
});
