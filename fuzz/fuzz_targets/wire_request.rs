//! Requests read the same however they are cut, and what is accepted can be written again and means
//! the same: no two readers of it can disagree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::case;
use plimsoll_fuzz::replay::{self, Step};
use wire::{Framing, Limits, RequestParts, encode_request};

fuzz_target!(|data: &[u8]| {
    let Some(case) = case(data) else { return };
    let whole = replay::requests([case.bytes], case.limits);
    let cut = replay::pieces(case.bytes, &case.cuts);
    assert_eq!(replay::requests(cut, case.limits), whole);
    assert_eq!(replay::requests(case.bytes.chunks(1), case.limits), whole);
    write_again(&whole);
});

/// Writes the first request again, if it came whole, and reads it back.
fn write_again(steps: &[Step]) {
    let [Step::Request { start: [method, target, _], common, .. }, rest @ ..] = steps else {
        return;
    };
    let body = match rest {
        [Step::Body(body), Step::End { .. }, ..] => &body[..],
        [Step::End { .. }, ..] => &[],
        _ => return,
    };
    let (headers, keep_alive) = (&common.headers, true);
    let given = (common.framing != Framing::None).then_some(body);
    let parts = RequestParts { method, target, host: "h", headers, body: given, keep_alive };
    let mut out = Vec::new();
    encode_request(&mut out, &parts).expect("what is accepted can be written");

    let again = replay::requests([&out[..]], Limits { head_bytes: 1 << 20, headers: 200 });
    let [Step::Request { start, common: read, .. }, rest @ ..] = &again[..] else {
        panic!("read back as {again:?}")
    };
    assert_eq!((&start[0], &start[1]), (method, target));
    assert!(read.headers.iter().filter(|field| headers.contains(field)).eq(headers));
    match rest {
        [Step::Body(read), Step::End { .. }, Step::Eof(_)] => assert_eq!(read, body),
        [Step::End { .. }, Step::Eof(_)] => assert!(body.is_empty()),
        _ => panic!("read back as {again:?}"),
    }
}
