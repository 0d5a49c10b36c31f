//! `profile whatif --verify URL`: the changed server, measured as the run was measured that the prediction came from.

use std::path::Path;

use model::Run;
use model::profiled::{Verified, WhatIf};
use model::units::exact_duration;

use crate::failure::{Failure, usage};
use crate::profiles::repeat;
use crate::profiles::stored::Stored;
use crate::secrets::mask_url;

/// Measures `url` and puts the rate beside the predicted one.
///
/// # Errors
/// When the run cannot be repeated from what is known of it, or not be carried out.
pub fn verify(dir: &Path, url: &str, what: &WhatIf) -> Result<Verified, Failure> {
    let flags = flags(&Stored::run(dir)?)?;
    let run = repeat::make(&repeat::arguments(url, &flags)?, None)?;
    let qps = run.rates.requests_per_s;
    let within = |low: Option<f64>, high: Option<f64>| Some(low? <= qps && qps <= high?);
    Ok(Verified {
        url: mask_url(url),
        qps,
        inside: within(what.qps_low, what.qps_high).unwrap_or(false),
        error: what.qps_predicted.unwrap_or(0.0) / qps.max(f64::MIN_POSITIVE) - 1.0,
        verdict: run.validity.verdict,
    })
}

/// The flags of a run like this one. What a result does not keep (secrets, scripts, files) cannot be repeated.
fn flags(run: &Run) -> Result<Vec<String>, Failure> {
    let plan = &run.plan;
    let plain = plan.method == "GET" && run.endpoints.is_empty() && plan.headers.is_empty();
    let (Some(duration), true) = (plan.duration_ns, plain) else {
        return usage(
            "--verify repeats plain GET requests only: measure the changed server with the flags of the run, and compare \
             its QPS with the prediction",
        );
    };
    let (connections, threads) = (plan.connections.to_string(), plan.threads.to_string());
    let (duration, warmup) = (exact_duration(duration), exact_duration(plan.warmup_ns));
    let mut flags = vec!["-c", &connections, "-t", &threads, "-d", &duration];
    if plan.warmup_ns > 0 {
        flags.extend(["--warmup", &warmup]);
    }
    Ok(flags.into_iter().map(str::to_owned).collect())
}
