//! Workload files, hostile ones among them: refused with lines that have a place, or read into a
//! workload that is read again from its JSON as itself, and in which every place can be found.

#![no_main]

use import::workload::Document;
use libfuzzer_sys::fuzz_target;
use model::Workload;

fuzz_target!(|data: &[u8]| match Document::read(data) {
    Err(faults) => {
        assert!(!faults.is_empty());
        for fault in faults {
            assert!(fault.place.line >= 1 && fault.place.column >= 1);
            assert!(!fault.to_string().contains('\n'), "{fault}");
        }
    }
    Ok(document) => {
        let json = serde_json::to_string(document.workload()).expect("plain data");
        let again: Workload = serde_json::from_str(&json).expect("what was written is read");
        assert_eq!(&again, document.workload());
        for (index, endpoint) in document.workload().endpoints.iter().enumerate() {
            let part = endpoint.path.len() / 2..endpoint.path.len();
            let part = endpoint.path.is_char_boundary(part.start).then_some(part);
            let place = document.locate(&format!("endpoints/{index}/path"), part);
            assert!(place.line >= 1 && place.column >= 1);
        }
    }
});
