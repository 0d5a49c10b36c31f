//! Our own result files, hostile ones among them: read or refused, and judged, whatever their figures.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Claims;

fuzz_target!(|data: &[u8]| {
    let _ = import::detect(data);
    if let Ok(run) = import::load_run(data) {
        let _ = (verdict::judge(&run), verdict::exit_code(&run), Claims::of_run(&run));
    }
    if let Ok(sweep) = import::load_sweep(data) {
        let _ = Claims::of_sweep(&sweep);
    }
});
