//! Pools from hostile files, in each form: refused with the place of the error, or drawn from.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::play;
use traffic::Requests;

fuzz_target!(|data: &[u8]| {
    let Some((choice, rows)) = data.split_first() else { return };
    let name = ["p.csv", "p.tsv", "p.jsonl"][usize::from(choice & 3) % 3];
    let order = ["sequential", "random", "unique", "shuffled"][usize::from(choice >> 2 & 3)];
    let columns = if choice & 16 == 0 { "" } else { r#", "columns": ["value"]"# };
    let workload = format!(
        r#"{{"target": "http://h", "pools": {{"p": {{"file": "{name}", "order": "{order}"{columns}}}}},
        "endpoints": [{{"path": "/${{p.value}}"}}]}}"#
    );
    let Some(compiled) = play::compiled(&workload, rows) else { return };
    let mut source = play::source(&compiled);
    let mut out = Requests::new();
    for k in 0..20 {
        if !play::arrive(&mut *source, k, &mut out) {
            return;
        }
        assert!(out.bytes.starts_with(b"GET /"));
    }
});
