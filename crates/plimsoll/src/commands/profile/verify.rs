//! `profile whatif --verify URL`: the changed server, measured as the run was measured that the prediction came from.

use std::path::Path;

use model::Run;
use model::plan::TlsPlan;
use model::profiled::{Verified, WhatIf};
use model::units::exact_duration;

use crate::failure::{Failure, usage};
use crate::profiles::stored::Stored;
use crate::runs::repeat;
use crate::secrets::mask_url;
use crate::terminal::live::Live;

/// Measures `url` and puts the rate beside the predicted one.
///
/// # Errors
/// When the run cannot be repeated from what is known of it, or not be carried out.
pub fn verify(dir: &Path, url: &str, what: &WhatIf) -> Result<Verified, Failure> {
    let before = Stored::run(dir)?;
    let flags = flags(&before)?;
    let whole = before.plan.duration_ns.unwrap_or_default().saturating_add(before.plan.warmup_ns);
    Live::new(false).announce("1 run", whole);
    let run = repeat::make(&repeat::arguments(url, &flags)?, None, Some(&before.plan))?;
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
    let plain = plan.method == "GET"
        && run.endpoints.is_empty()
        && plan.headers.is_empty()
        && plan.expect_body.is_none();
    let (Some(duration), true) = (plan.duration_ns, plain) else {
        return usage(
            "--verify repeats plain GET requests only: measure the changed server with the flags of the run, and compare \
             its QPS with the prediction",
        );
    };
    let mut flags: Vec<String> = Vec::new();
    let mut give = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
    give("-c", plan.connections.to_string());
    give("-t", plan.threads.to_string());
    give("-d", exact_duration(duration));
    give("--timeout", exact_duration(plan.timeout_ns));
    give("--success", plan.success.to_string());
    give("--pipeline", plan.pipeline.to_string());
    if plan.max_inflight < plan.connections.saturating_mul(plan.pipeline) {
        give("--max-inflight", plan.max_inflight.to_string());
    }
    for (flag, time) in [("--warmup", plan.warmup_ns), ("--ramp", plan.ramp_ns)] {
        if time > 0 {
            give(flag, exact_duration(time));
        }
    }
    for (flag, time) in [("--pace", plan.pace_ns), ("--think", plan.think_ns)] {
        if let Some(time) = time {
            give(flag, exact_duration(time));
        }
    }
    if let Some(tls) = &plan.tls {
        give("--tls-min", tls.min.clone());
        give("--tls-max", tls.max.clone());
    }
    let tls = |wanted: fn(&TlsPlan) -> bool| plan.tls.as_ref().is_some_and(wanted);
    let switches = [
        ("--no-keepalive", !plan.keepalive),
        ("--spin", plan.spin),
        ("--cookies", plan.cookies),
        ("--insecure", tls(|tls| tls.insecure)),
        ("--tls-resume", tls(|tls| tls.resume)),
    ];
    let given = switches.into_iter().filter(|(_, given)| *given);
    flags.extend(given.map(|(flag, _)| flag.to_owned()));
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shapes_the_load_is_repeated() {
        let mut run = fixture::sound::closed();
        run.plan.url = "http://127.0.0.1/".to_owned();
        run.plan.keepalive = false;
        run.plan.spin = true;
        run.plan.think_ns = Some(1_000_000);
        let flags = flags(&run).unwrap().join(" ");
        for flag in ["-c 10 ", "-d 10s ", "--no-keepalive", "--spin", "--think 1ms"] {
            assert!(flags.contains(flag), "{flag}: {flags}");
        }
        assert!(!flags.contains("--cookies") && !flags.contains("--tls"), "{flags}");
        let flags: Vec<String> = flags.split(' ').map(str::to_owned).collect();
        let args = repeat::arguments("http://127.0.0.1:1/", &flags).unwrap();
        assert!(args.load.no_keepalive && args.load.spin);
    }

    #[test]
    fn other_requests_than_plain_ones_are_refused() {
        let mut run = fixture::sound::closed();
        run.plan.expect_body = Some("FIRST".to_owned());
        assert!(flags(&run).is_err());
    }
}
