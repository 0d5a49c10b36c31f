//! Other tools' files, hostile ones among them: refused in one line, or carried over into a workload
//! whose YAML and JSON are read again as that workload. The first byte chooses the format.

#![no_main]

use import::requests::{Format, Options, import, yaml};
use libfuzzer_sys::fuzz_target;
use model::workload::Workload;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let format = match choice % 5 {
        0 => Format::Curl,
        1 => Format::Vegeta,
        2 => Format::Har,
        3 => Format::OpenApi,
        _ => Format::Postman,
    };
    let target = (choice & 0x80 != 0).then(|| "http://127.0.0.1:8080".to_owned());
    let options = Options { target, keep_secrets: choice & 0x40 != 0 };
    match import(format, bytes, &options) {
        Err(error) => assert!(!error.to_string().contains('\n')),
        Ok(imported) => {
            let text = yaml(&imported);
            let again: Workload = serde_saphyr::from_str(&text).expect("what was printed is read");
            assert_eq!(again, imported.workload);
            let json = serde_json::to_string(&imported.workload).expect("plain data");
            let again: Workload = serde_json::from_str(&json).expect("what was written is read");
            assert_eq!(again, imported.workload);
        }
    }
});
