//! Results of any tool are read or refused, never panicked over; what is read keeps its bounds, and
//! can be judged.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(claims) = import::claims(data) else { return };
    assert!(!claims.rows.is_empty());
    for row in &claims.rows {
        assert!(row.qps.is_finite() && row.qps >= 0.0);
        assert!(row.success.is_none_or(|success| (0.0..=1.0).contains(&success)));
        assert!(row.connections.is_none_or(|connections| connections > 0.0));
    }
    let twice = ["a", "b"].map(|name| (name.to_owned(), claims.clone()));
    let audit = verdict::audit(twice.to_vec(), true);
    assert_eq!(audit.files[0].findings.len(), claims.rows.len());
});
