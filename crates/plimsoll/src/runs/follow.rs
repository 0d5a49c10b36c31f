//! `--follow N`: where a URL leads that responds with redirects, found out before the load.
//!
//! Redirects are never followed under load: that would measure two requests as one. And no request goes to an
//! address that the user did not name: a redirect to another host, port or scheme is refused, with its target.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::secret::mask_text;
use model::units::exact_duration;
use url::Url;

use crate::args::LoadArgs;
use crate::failure::{Failure, cannot_run, usage};
use crate::load::input::{LoadInput, Requests};
use crate::load::prepared::Prepared;
use crate::load::shape::{IdleWorkers, Shape};
use crate::runs::execute::execute;
use crate::secrets;
use crate::terminal::live::{Live, waiting};
use measure::machine;

/// Redirects followed at most.
const MOST_HOPS: u64 = 20;

/// Where `sent` leads after at most `hops` redirects, and what the user should know of the way.
///
/// # Errors
/// When it leads to another server, in circles, further than asked, or nowhere.
pub fn follow(
    input: LoadInput,
    args: &LoadArgs,
    hops: u64,
    quiet: bool,
) -> Result<(LoadInput, Vec<String>), Failure> {
    refuse(&input, args, hops)?;
    let (mut input, mut notices) = (input, Vec::new());
    for hop in 0..=hops {
        let Some((status, to)) = asked_once(&input, args, quiet)? else {
            return Ok((input, notices));
        };
        let from = input.destination.url.clone();
        let next = next_url(&from, status, to.as_deref())?;
        if hop == hops {
            return cannot_run(format!(
                "--follow {hops}: {} still redirects ({status}) to {}; give a higher number, or \
                 the final URL",
                shown(&from),
                shown(&next)
            ));
        }
        notices.push(format!(
            "{} redirects ({status}) to {}: that URL is loaded instead",
            shown(&from),
            shown(&next)
        ));
        // A command may have settings of its own by now, such as the random arrivals of a search.
        let settings = input.settings;
        input = LoadInput { settings, ..LoadInput::of(next.as_str(), args)? };
    }
    Ok((input, notices))
}

fn refuse(input: &LoadInput, args: &LoadArgs, hops: u64) -> Result<(), Failure> {
    if hops > MOST_HOPS {
        return usage(format!("--follow {hops}: at most {MOST_HOPS} redirects are followed"));
    }
    if args.script.is_some() || matches!(input.requests, Requests::Workload(..)) {
        return usage(
            "--follow works with one URL: write the final addresses into the script or workload \
             file",
        );
    }
    if !matches!(input.method.as_str(), "GET" | "HEAD") {
        return usage(format!(
            "--follow sends one request before the load, which is not safe with {}: give the \
             final URL",
            input.method
        ));
    }
    Ok(())
}

/// Asks once: the status of a redirect, and where it leads; none of any other response.
fn asked_once(
    input: &LoadInput,
    args: &LoadArgs,
    quiet: bool,
) -> Result<Option<(u16, Option<String>)>, Failure> {
    let alone = LoadArgs {
        follow: None,
        expect_body_like: None,
        threads: Some(1),
        pace: None,
        think: None,
        warmup: None,
        ramp: None,
        max_inflight: None,
        ..args.clone()
    };
    let prepared = Prepared::of(LoadInput::of(input.destination.url.as_str(), &alone)?, &alone)?;
    let shape = Shape { connections: 1, rate_per_s: None, duration_ns: None, requests: Some(1) };
    let stop = Arc::new(AtomicBool::new(false));
    let (launch, _) = prepared.level(shape, IdleWorkers::LeftOut, &stop)?;
    let environment = machine::environment(prepared.files);
    let what = format!(
        "--follow: waiting for the response from {}, up to {} (-T)",
        shown(&input.destination.url),
        exact_duration(launch.plan.timeout_ns)
    );
    let run = waiting(quiet, &what, || execute(&launch, environment, &mut Live::quiet()))?;
    let status = run.totals.statuses.keys().next().copied();
    let Some(status) = status else {
        let why = run.totals.error_samples.values().next().cloned().unwrap_or_default();
        return cannot_run(format!(
            "--follow: no response from {}: {}",
            shown(&input.destination.url),
            mask_text(&why)
        ));
    };
    let leads = matches!(status, 301 | 302 | 303 | 307 | 308);
    Ok(leads.then_some((status, run.redirected_to)))
}

/// The address that a redirect leads to, on the same server.
fn next_url(from: &Url, status: u16, to: Option<&str>) -> Result<Url, Failure> {
    let Some(to) = to else {
        return cannot_run(format!("{} responded {status} without a Location", shown(from)));
    };
    let Ok(mut next) = from.join(to) else {
        return cannot_run(format!("{} responded {status} with an invalid Location", shown(from)));
    };
    next.set_fragment(None);
    let server = |url: &Url| {
        let host = url.host_str().unwrap_or_default().to_owned();
        (url.scheme().to_owned(), host, url.port_or_known_default())
    };
    if server(from) != server(&next) {
        return cannot_run(format!(
            "{} redirects ({status}) to {}, another server: Plimsoll contacts only addresses that \
             you name, so give that URL if you mean it",
            shown(from),
            shown(&next)
        ));
    }
    if next == *from {
        return cannot_run(format!("{} redirects ({status}) to itself", shown(from)));
    }
    Ok(next)
}

fn shown(url: &Url) -> String {
    secrets::mask_url(url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_their_server() {
        let from = Url::parse("http://127.0.0.1:8080/a/b?c=d").unwrap();
        for (to, next) in [
            ("/login", "http://127.0.0.1:8080/login"),
            ("c#top", "http://127.0.0.1:8080/a/c"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
            ("//127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ] {
            assert_eq!(next_url(&from, 302, Some(to)).unwrap().as_str(), next, "{to}");
        }
        for (to, needle) in [
            (Some("http://127.0.0.1:8081/"), "another server"),
            (Some("https://127.0.0.1:8080/"), "another server"),
            (Some("http://example.test/"), "another server"),
            (Some("http://[/"), "invalid Location"),
            (Some(""), "itself"),
            (None, "without a Location"),
        ] {
            let error = next_url(&from, 301, to).unwrap_err().to_string();
            assert!(error.contains(needle), "{to:?}: {error}");
        }
    }
}
