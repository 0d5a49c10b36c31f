//! Responses read the same however they are cut and whatever was seen before, and never without bound.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{case, replay};
use wire::{LastHead, ResponseTo};

fuzz_target!(|data: &[u8]| {
    let Some(case) = case(data) else { return };
    let to = |bit: u8| if case.choice & bit == 0 { ResponseTo::Other } else { ResponseTo::Head };
    let responses_to = [to(1), to(2), to(4)];
    let whole = replay::responses([case.bytes], &responses_to, case.limits);
    let cut = replay::pieces(case.bytes, &case.cuts);
    assert_eq!(replay::responses(cut, &responses_to, case.limits), whole);
    let mut seen = LastHead::new();
    for _ in 0..2 {
        let again =
            replay::responses_after(Some(&mut seen), [case.bytes], &responses_to, case.limits);
        assert_eq!(again, whole);
    }
    let dripped = case.bytes.chunks(1);
    assert_eq!(replay::responses(dripped, &responses_to, case.limits), whole);
});
