//! Rules about responses.

use model::kinds::{Changed, MOST_LISTED, ResponseChange, ResponseKind};
use model::timeline::Point;
use model::units::{SECOND, exact_duration, show_duration};
use model::{ErrorClass, Run, Verdict};

use super::{Finding, idle};
use crate::changes::is_substantial;
use crate::figures::{counted, grouped, share};
use crate::gone::count_not_made;

/// Connections closed per response that count as refusing keep-alive.
pub(super) const REFUSING: f64 = 0.1;

pub(super) fn none(run: &Run) -> Option<Finding> {
    if run.totals.requests > 0 && run.rates.requests_per_s > 0.0 {
        return None;
    }
    if ended_in_warmup(run) {
        let evidence = "the run was ended in its warm-up, before its window began".to_owned();
        return Some((Verdict::Invalid, evidence));
    }
    let window = show_duration(run.totals.duration_ns);
    if sent_nothing(run) {
        let why = match run.plan.rate_per_s {
            Some(_) => ": no arrival was due so soon",
            None => {
                ", though the server let connections open: the window was over before the first request, which the delay() of \
                 a script or a ramp may put off"
            }
        };
        let evidence = format!("nothing was sent in {window}{why}");
        return Some((Verdict::Invalid, evidence));
    }
    let attempts = grouped(run.totals.attempts as f64, 0);
    let s = if run.totals.attempts == 1 { "" } else { "s" };
    let mut evidence = format!("no response arrived in {window}, of {attempts} attempt{s}");
    if has_late_responses(run) {
        let longer_ns = run.response_ns.mean.saturating_mul(10).next_multiple_of(SECOND);
        evidence += &format!(
            "; those that came after it took {} on average: measure longer, -d {}",
            show_duration(run.response_ns.mean),
            exact_duration(longer_ns)
        );
    }
    let is_explained = run.totals.mismatches.is_some();
    let no_handshake = run.plan.tls.is_some() && run.tls_ns.count == 0 && !is_explained;
    if no_handshake && run.connect_ns.count > 0 {
        evidence += "; connections were made, and no TLS handshake ended: if the server speaks no TLS on this port, the URL \
                     begins with http://";
    }
    let commonest = run.totals.errors.occurred().max_by_key(|&(_, count)| count);
    if let Some((class, count)) = commonest {
        evidence += &format!("; {} failed by {}", grouped(count as f64, 0), class.name());
        if let Some(sample) = run.totals.error_samples.get(class.name()) {
            evidence += &format!(" ({sample})");
        }
    }
    if let Some(made) = count_not_made(run) {
        evidence += &format!("; {made}");
    }
    Some((Verdict::Invalid, evidence))
}

/// Whether responses came, though none within the window.
fn has_late_responses(run: &Run) -> bool {
    run.totals.succeeded > 0 && run.response_ns.count > 0
}

/// Whether nothing was wrong but that all responses came after the window.
pub(super) fn came_after_window(run: &Run) -> bool {
    has_late_responses(run) && run.totals.errors.total() == 0
}

/// Whether a run was ended in a warm-up that got responses: nothing is said against the URL then.
pub(super) fn ended_in_warmup(run: &Run) -> bool {
    let warm = |point: &Point| point.phase == "warmup" && point.requests_per_s > 0.0;
    run.interrupted && run.totals.attempts == 0 && run.timeline.iter().any(warm)
}

/// Whether a run asked for nothing in its window, though it could have: nothing is said against the URL then.
pub(super) fn sent_nothing(run: &Run) -> bool {
    let totals = &run.totals;
    // An open loop opens connections only for arrivals, and counts each of these as an attempt.
    let could = run.plan.rate_per_s.is_some() || totals.connects > 0;
    totals.attempts == 0 && could && totals.limits.is_empty() && totals.errors.total() == 0
}

pub(super) fn keepalive_refused(run: &Run) -> Option<Finding> {
    let (closes, responses) = (run.totals.server_closes as f64, run.totals.requests as f64);
    if !run.plan.keepalive || responses == 0.0 || closes <= REFUSING * responses {
        return None;
    }
    // As when its process ends.
    if idle::closed_meanwhile(run).is_some() {
        return None;
    }
    let evidence = format!(
        "the server closed {} on {}, although keep-alive was requested; reconnecting took {} on average",
        counted(closes, "connection"),
        counted(responses, "response"),
        show_duration(run.connect_ns.mean.saturating_add(run.tls_ns.mean))
    );
    Some((Verdict::Valid, evidence))
}

/// Share of the connections on which bytes came unasked from which on they are no accident.
pub(super) const STRAY: f64 = 0.001;

pub(super) fn surplus(run: &Run) -> Option<Finding> {
    let totals = &run.totals;
    let opened = totals.connects.max(u64::from(run.concurrency.open_max)) as f64;
    let of = counted(opened, "connection");
    let (surplus, stray) = (totals.surplus_responses.unwrap_or(0), totals.unsolicited.unwrap_or(0));
    let evidence = if surplus > 0 {
        format!(
            "on {} of {of} the server sent a response that no request was waiting for: responses before \
             it may have been taken for those to other requests, so that QPS and latencies may not be of what was sent",
            grouped(surplus as f64, 0)
        )
    } else if stray > 0 && stray as f64 >= STRAY * opened {
        format!(
            "on {} of {of} the server sent bytes that no request was waiting for, so that the responses \
             on them may not be what they seem",
            grouped(stray as f64, 0)
        )
    } else {
        return None;
    };
    Some((Verdict::Invalid, evidence))
}

/// Share of the responses that are redirects from which on nothing else was measured.
pub(super) const REDIRECTED: f64 = 0.99;
/// Characters of a body or an address that are shown.
const SHOWN: usize = 80;

pub(super) fn redirected(run: &Run) -> Option<Finding> {
    let responses = run.totals.requests as f64;
    let redirects = run.totals.statuses.range(300..400).filter(|(status, _)| **status != 304);
    let commonest =
        redirects.clone().max_by_key(|(_, count)| **count).map(|(status, _)| *status)?;
    let redirects = redirects.map(|(_, &count)| count as f64).sum::<f64>();
    if responses == 0.0 || redirects < REDIRECTED * responses {
        return None;
    }
    let to = match &run.redirected_to {
        Some(to) => format!(" to {}", shown(to)),
        None => " that names no address".to_owned(),
    };
    let evidence = format!(
        "{} of {} responses were redirects, mostly {commonest}, the first one{to}: they are not followed, \
         so that the redirect is what was measured",
        grouped(redirects, 0),
        grouped(responses, 0)
    );
    Some((Verdict::Valid, evidence))
}

pub(super) fn changed(run: &Run) -> Option<Finding> {
    let (changes, begun): (Vec<_>, Vec<_>) =
        run.response_changes.iter().partition(|change| is_substantial(change));
    let Some((first, others)) = changes.split_first() else { return new_kind(&begun, run) };
    let of = of_endpoint(first);
    let what = match first.how {
        Changed::ForGood if first.since_ns > 0 => {
            let (at, share) = (show_duration(first.since_ns), share(first.share));
            format!(
                "the responses{of} changed {at} after the start, and {share} are of the new kind since then"
            )
        }
        Changed::ForGood => format!("the responses{of} changed permanently in the window"),
        Changed::Faster => format!(
            "{} of the responses{of} are of another kind and came in {} on average, the others in {}",
            share(first.share),
            show_duration(first.after.service_mean_ns),
            show_duration(first.before.service_mean_ns)
        ),
        Changed::Turns => format!(
            "{} of the responses{of} are of another kind and came in turns with the others, each for \
             many responses",
            share(first.share)
        ),
        Changed::Mixed => mixed(first),
        Changed::Errors => errors(first),
        Changed::Redirects => redirects(first, run),
        Changed::Warmup => in_warmup(first),
    };
    let more = match others.len() {
        0 => String::new(),
        n => format!("; the same holds for {}", counted(n as f64, "more endpoint")),
    };
    let evidence = format!("{what}: {} became {}{more}", kind(&first.before), kind(&first.after));
    let evidence = match first.how {
        Changed::ForGood | Changed::Warmup => evidence,
        Changed::Faster
        | Changed::Turns
        | Changed::Mixed
        | Changed::Errors
        | Changed::Redirects => evidence.replace(" became ", " and "),
    };
    Some((Verdict::Invalid, evidence))
}

/// A kind that is a small part of what came since the first of it, but came after so many others that chance is no
/// explanation.
fn new_kind(begun: &[&ResponseChange], run: &Run) -> Option<Finding> {
    let (first, others) = begun.split_first()?;
    let of = of_endpoint(first);
    let more = match others.len() {
        0 => String::new(),
        n => format!("; the same holds for {}", counted(n as f64, "more endpoint")),
    };
    let what = match first.how {
        Changed::Mixed => mixed(first),
        Changed::Errors => errors(first),
        Changed::Redirects => redirects(first, run),
        Changed::Warmup => {
            let (before, after) = (kind(&first.before), kind(&first.after));
            let what = in_warmup(first);
            return Some((Verdict::Valid, format!("{what}: {before} became {after}{more}")));
        }
        _ => format!(
            "from {} after the start to the end {} of the responses{of} were of a kind that had not occurred before",
            show_duration(first.since_ns),
            share(first.share)
        ),
    };
    let beside = match first.before == first.after {
        true => String::new(),
        false => format!(" beside {}", kind(&first.before)),
    };
    Some((Verdict::Valid, format!("{what}: {}{beside}{more}", kind(&first.after))))
}

/// That responses had two media types, in words.
fn mixed(change: &ResponseChange) -> String {
    let (share, of) = (share(change.share), of_endpoint(change));
    let other = match change.after.most_bytes {
        0 => "no body",
        _ => "another media type",
    };
    format!("{share} of the responses{of} had the same status as the others and {other}")
}

/// That responses read as errors or ask to log in, in words.
fn errors(change: &ResponseChange) -> String {
    let (share, of) = (share(change.share), of_endpoint(change));
    format!("{share} of the responses{of} read as errors or ask to log in, and count as successes")
}

/// That a part of the responses were redirects, in words.
fn redirects(change: &ResponseChange, run: &Run) -> String {
    let (share, of) = (share(change.share), of_endpoint(change));
    let to = run.redirected_to.as_ref();
    let to =
        to.map_or_else(String::new, |to| format!(", the first one of the run to {}", shown(to)));
    format!("{share} of the responses{of} were redirects{to}, and count as successes")
}

/// That the window had no more of a part of the warm-up's responses, in words.
fn in_warmup(change: &ResponseChange) -> String {
    let (share, of) = (share(change.share), of_endpoint(change));
    format!("{share} of the warm-up's responses{of} were of a kind that did not come in the window")
}

fn of_endpoint(change: &ResponseChange) -> String {
    change.endpoint.as_ref().map(|name| format!(" of {}", shown(name))).unwrap_or_default()
}

/// Statuses whose responses have no body, whatever type they name.
const WITHOUT_BODY: [u16; 2] = [204, 205];

/// In words, that all successful responses, of an endpoint where there are several, named JSON as their type and had an
/// empty body, which is no JSON. Absent where it is not so. No rule says it: it may be what was asked for.
pub fn empty_in_words(run: &Run) -> Option<String> {
    let of_endpoints = run.response_kinds.chunk_by(|a, b| a.endpoint == b.endpoint);
    // Of the last endpoint of a full list, other kinds may have come that are not listed.
    let last = run.response_kinds.last().filter(|_| run.response_kinds.len() >= MOST_LISTED);
    let whole =
        of_endpoints.filter(|kinds| last.is_none_or(|kind| kind.endpoint != kinds[0].endpoint));
    let empty = whole.filter(|kinds| kinds.iter().all(|kind| is_empty_json(run, kind)));
    let empty: Vec<&ResponseKind> = empty.map(|kinds| &kinds[0]).collect();
    let (first, others) = empty.split_first()?;
    let endpoint = run.plan.mix.endpoints.get(first.endpoint as usize);
    let of = endpoint.map_or_else(String::new, |endpoint| format!(" of {}", shown(&endpoint.name)));
    let more = match others.len() {
        0 => String::new(),
        n => format!("; the same holds for {}", counted(n as f64, "more endpoint")),
    };
    let media_type = shown(first.media_type.as_deref().unwrap_or_default());
    Some(format!(
        "every successful response{of} had an empty body, although its type is {media_type}{more}"
    ))
}

fn is_empty_json(run: &Run, kind: &ResponseKind) -> bool {
    let endpoint = run.plan.mix.endpoints.get(kind.endpoint as usize);
    let method = endpoint.map_or(&run.plan.method, |endpoint| &endpoint.method);
    let has_body = (200..300).contains(&kind.status) && !WITHOUT_BODY.contains(&kind.status);
    let named = kind.media_type.as_deref().unwrap_or_default();
    let media_type = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = media_type == "application/json" || media_type.ends_with("+json");
    is_json && has_body && method != "HEAD" && kind.most_bytes == 0 && kind.responses > 0
}

/// A kind of response in words.
pub fn kind(kind: &ResponseKind) -> String {
    let bytes = match (kind.least_bytes, kind.most_bytes) {
        (least, most) if least == most => counted(most as f64, "byte"),
        (least, most) => {
            format!("{} to {} bytes", grouped(least as f64, 0), grouped(most as f64, 0))
        }
    };
    let media_type = kind.media_type.as_ref().map(|name| format!(", {}", shown(name)));
    let body = kind.beginning.as_ref().map(|text| format!(" `{}`", shown(text)));
    format!(
        "{}{} of {bytes}{}",
        kind.status,
        media_type.unwrap_or_default(),
        body.unwrap_or_default()
    )
}

/// A text of the server's, harmless and short.
pub(super) fn shown(text: &str) -> String {
    let harmless = |c: char| if c.is_control() { '·' } else { c };
    let mut shown: String = text.chars().take(SHOWN).map(harmless).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Share of the responses that could not be checked from which on success is not the server's.
pub(super) const UNCHECKED: f64 = 0.01;

/// Share of the responses that end with their connection from which on the lengths that differ are those of such ones.
const NEARLY_ALL: f64 = 0.9;

pub(super) fn unchecked(run: &Run) -> Option<Finding> {
    unchecked_bodies(run).or_else(|| may_be_cut(run))
}

/// Bodies of one request that nothing shows to be whole.
fn may_be_cut(run: &Run) -> Option<Finding> {
    let ended = run.totals.until_close? as f64;
    let kinds = || run.response_kinds.iter();
    let least = kinds().map(|kind| kind.least_bytes).min()?;
    let most = kinds().map(|kind| kind.most_bytes).max()?;
    let nearly_all = ended >= NEARLY_ALL * run.totals.requests as f64;
    (nearly_all && least < most && crate::sends_one_request(run)).then(|| {
        let evidence = format!(
            "the responses say nothing of their length and end with their connection, and those to one request have {} to {} \
             bytes: one that was cut short counts as a whole one",
            grouped(least as f64, 0),
            grouped(most as f64, 0)
        );
        (Verdict::Valid, evidence)
    })
}

fn unchecked_bodies(run: &Run) -> Option<Finding> {
    let unchecked = run.totals.unchecked? as f64;
    let share = unchecked / run.totals.requests.max(1) as f64;
    let sample = run.totals.error_samples.get(ErrorClass::Check.name());
    let sample = sample.map_or_else(String::new, |sample| format!(" ({sample})"));
    let evidence = format!(
        "{} of {} responses could not be checked here and count as failures{sample}",
        grouped(unchecked, 0),
        grouped(run.totals.requests as f64, 0)
    );
    Some((if share >= UNCHECKED { Verdict::Invalid } else { Verdict::Valid }, evidence))
}
