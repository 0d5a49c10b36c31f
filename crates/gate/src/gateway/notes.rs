//! Settings that are in force and probably not what was meant: reported at the start and after a reload, but not refused.
//!
//! Pure: the caller reads the store, the machine and the clock.

use std::collections::BTreeMap;

use model::Environment;
use model::names::meant_method;
use model::quote::{counted, plain};

use crate::admission::{Line, Short};
use crate::keys::NamedByKeys;
use crate::limits::date;
use crate::policy::{PolicySettings, Route, Tier, Upstream};

/// Characters of a name that are repeated.
const NAME: usize = 100;
/// Where the interval of a load line's rate is wider than this part of it, the rate is hardly known.
const WIDE: f64 = 0.5;
/// How far two clocks may be apart.
const CLOCKS_APART_S: i64 = 3600;

/// What is in force and may not be what was meant.
pub(super) fn all(
    settings: &PolicySettings,
    named: &NamedByKeys,
    machine: Option<&Environment>,
    now_s: i64,
) -> Vec<String> {
    let mut all = of_tiers(&named.tiers, &settings.tiers);
    all.extend(of_routes(&named.routes, &settings.routes));
    all.extend(of_methods(&settings.routes));
    if let Some(line) = &settings.line {
        all.extend(of_line(line));
        all.extend(of_time(&line.measured_at, now_s));
        all.extend(misfit(line, &settings.upstreams, machine));
    }
    all
}

/// Keys of tiers that are not configured. `keys` counts the keys in force by the tier they name.
fn of_tiers(keys: &BTreeMap<String, u64>, tiers: &[Tier]) -> Vec<String> {
    let first = tiers.first().map_or("default", |tier| tier.name.as_str());
    let missing = keys.iter().filter(|(name, _)| tiers.iter().all(|tier| tier.name != **name));
    let note = |(name, count): (&String, &u64)| {
        let (name, first) = (plain(name, NAME), plain(first, NAME));
        let keys = if *count == 1 { "1 key is".to_owned() } else { format!("{count} keys are") };
        format!(
            "{keys} of the tier `{name}`, which the configuration does not have: the first tier, `{first}`, holds instead"
        )
    };
    missing.map(note).collect()
}

/// Keys of routes that are not configured. `keys` counts the keys in force by the routes they name.
fn of_routes(keys: &BTreeMap<String, u64>, routes: &[Route]) -> Vec<String> {
    let missing = keys.iter().filter(|(name, _)| routes.iter().all(|route| route.name != **name));
    let note = |(name, count): (&String, &u64)| {
        let keys = if *count == 1 { "1 key is".to_owned() } else { format!("{count} keys are") };
        format!(
            "{keys} for the route `{}`, which the configuration does not have: it opens nothing",
            plain(name, NAME)
        )
    };
    missing.map(note).collect()
}

/// Methods of routes that look mistyped. They hold all the same.
fn of_methods(routes: &[Route]) -> Vec<String> {
    let methods = routes.iter().flat_map(|route| route.methods.0.iter().map(move |m| (route, m)));
    let note = |(route, method): (&Route, &String)| {
        let meant = meant_method(method)?;
        Some(format!(
            "the route `{}` takes the method `{}`, which is not a known one: did you mean `{meant}`?",
            plain(&route.name, NAME),
            plain(method, NAME)
        ))
    };
    methods.filter_map(note).collect()
}

/// What a load line leaves open. It holds all the same.
fn of_line(line: &Line) -> Vec<String> {
    let mut notes = Vec::new();
    if !line.confirmed {
        notes.push(
            "the load line was not confirmed: its rate was estimated and never held for long; `plimsoll capacity` with \
             more time (--budget) confirms one"
                .to_owned(),
        );
    }
    if line.at_least {
        notes.push(
            "the load line is a lower bound: the API may carry more, as something else was the limit when it was measured"
                .to_owned(),
        );
    }
    if let Some(spread) = line.spread.filter(|spread| *spread > WIDE) {
        notes.push(format!(
            "the load line is hardly known: the interval that its rate was measured within is {:.0} % of the rate wide, as where \
             the generator was held up; measure again on a quieter machine, or for longer (--budget)",
            spread * 100.0
        ));
    }
    notes
}

/// What is wrong with the time that a load line says it was measured at, if something is.
fn of_time(measured_at: &str, now_s: i64) -> Option<String> {
    let named = plain(measured_at, NAME);
    if !is_time(measured_at) {
        return Some(format!(
            "the load line does not say when it was measured: measured_at is `{named}`, and a time is such as {}",
            time(now_s)
        ));
    }
    // Times of one form are in the order of their texts.
    let (seconds, latest) = (&measured_at[..SECONDS], time(now_s.saturating_add(CLOCKS_APART_S)));
    (*seconds > latest[..SECONDS]).then(|| {
        format!(
            "the load line was measured at {named}, which is yet to come: see this machine's clock and the one that measured"
        )
    })
}

/// Characters of a time up to its seconds.
const SECONDS: usize = 19;

/// Seconds since the epoch as load lines say them: RFC 3339 in UTC.
pub(super) fn time(unix_s: i64) -> String {
    let (year, month, day) = date(unix_s);
    let seconds = unix_s.rem_euclid(86_400);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Whether a text has the form of a time in UTC (RFC 3339), with a part of a second or without.
fn is_time(text: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    let Some((seconds, rest)) = text.as_bytes().split_at_checked(SECONDS) else { return false };
    let part = match rest {
        [b'.', part @ .., b'Z'] => part,
        [b'Z'] => b"0".as_slice(),
        _ => return false,
    };
    seconds.iter().copied().zip(*b"0000-00-00T00:00:00").all(fits)
        && !part.is_empty()
        && part.iter().all(u8::is_ascii_digit)
}

/// Why a load line does not fit an API most of whose responses are errors; `mostly` is the status of one.
pub(super) fn mostly_errors(line: &Line, mostly: Option<u16>) -> Option<String> {
    let (measured, status) = (line.status.filter(|status| *status < 400)?, mostly?);
    Some(format!(
        "the load line no longer fits: most of the API's responses are errors, such as {status}, and {measured} was measured: \
         see whether it is the same API, then measure again"
    ))
}

/// Why a load line does not fit an API that carries less than the ceiling lets through.
pub(super) fn carries_less(short: &Short) -> String {
    let Short { forwarded_per_s, ceiling_per_s, at_once } = short;
    format!(
        "the load line no longer fits: {forwarded_per_s:.0} requests/s were forwarded of the {ceiling_per_s:.0} that it lets \
         through, and others refused, since as many were in flight as it allows ({at_once:.0}): the API carries less than \
         was measured; find out why it is slower, or measure again"
    )
}

/// Why a load line does not fit an API that is slower than it says, by what [`crate::admission::Verdict::fits`] means.
pub(super) fn slower(line: &Line) -> String {
    format!(
        "the load line no longer fits: for half a minute responses were not within {}, or were only below 80 % of the line: \
         find out why the API is slower, or measure again",
        line.envelope.from
    )
}

/// Why a load line is of something else than what requests are sent to, if it is. `machine` is the gateway's.
fn misfit(line: &Line, upstreams: &[Upstream], machine: Option<&Environment>) -> Option<String> {
    let measured: Vec<std::net::SocketAddr> =
        line.addresses.iter().filter_map(|address| address.parse().ok()).collect();
    let mut servers = upstreams.iter().flat_map(|upstream| &upstream.addresses);
    if !measured.is_empty() && !servers.any(|server| measured.contains(&server.socket)) {
        return Some(format!(
            "the load line no longer fits: it was measured of {}, and no upstream is at that address: measure again, \
             unless this is the same server",
            plain(&line.addresses.join(", "), NAME)
        ));
    }
    // Of a server on the generator's machine, the generator's machine is the server's.
    let here = !measured.is_empty() && measured.iter().all(|address| address.ip().is_loopback());
    let (then, now) = (&line.environment, machine?);
    let known = !then.cpu_model.is_empty() && !now.cpu_model.is_empty();
    let other = then.cpu_model != now.cpu_model || then.cpus != now.cpus;
    (here && known && other).then(|| {
        format!(
            "the load line no longer fits: it was measured on a machine of {} ({}), and this one has {} ({}): \
             measure again",
            counted(then.cpus.into(), "processor"),
            plain(&then.cpu_model, NAME),
            now.cpus,
            plain(&now.cpu_model, NAME)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Envelope;
    use crate::policy::Methods;

    #[test]
    fn keys_of_tiers_that_are_gone_are_reported() {
        let tiers = [Tier::unlimited("free"), Tier::unlimited("gold")];
        let keys = |names: &[(&str, u64)]| {
            names.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        assert!(of_tiers(&keys(&[("gold", 3)]), &tiers).is_empty());
        let notes = of_tiers(&keys(&[("gold", 3), ("silver", 2)]), &tiers);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("2 keys are of the tier `silver`"), "{notes:?}");
        assert!(notes[0].contains("`free`, holds"), "{notes:?}");
    }

    #[test]
    fn a_method_that_looks_mistyped_is_reported() {
        let notes = |method: &str| {
            let methods = Methods(vec![method.to_owned()]);
            of_methods(&[Route { methods, ..Route::to(0) }])
        };
        for (wrong, meant) in
            [("GTE", "GET"), ("PSOT", "POST"), ("DELTE", "DELETE"), ("OPTOINS", "OPTIONS")]
        {
            let said = notes(wrong);
            assert!(said[0].contains(&format!("`{wrong}`, which")), "{said:?}");
            assert!(said[0].contains(&format!("did you mean `{meant}`?")), "{said:?}");
        }
        for method in ["GET", "OPTIONS", "REPORT", "PURGE"] {
            assert!(notes(method).is_empty(), "{method}");
        }
    }

    #[test]
    fn a_line_says_what_it_leaves_open() {
        let line = |confirmed, at_least| Line { confirmed, at_least, ..Line::default() };
        assert!(of_line(&line(true, false)).is_empty());
        assert!(of_line(&line(false, false))[0].contains("not confirmed"));
        assert!(of_line(&line(true, true))[0].contains("lower bound"));
        let spread = |spread| Line { spread: Some(spread), ..line(true, false) };
        assert!(of_line(&spread(0.3)).is_empty());
        assert!(of_line(&spread(1.19))[0].contains("is 119 % of the rate wide"));
    }

    #[test]
    fn a_line_of_no_time_or_of_the_future_is_reported() {
        // 2026-11-23T12:00:00Z.
        let now_s = 1_795_435_200;
        assert_eq!(time(now_s), "2026-11-23T12:00:00Z");
        for past in ["2026-11-23T12:00:00Z", "2025-12-31T23:59:59.123Z", "2026-11-23T12:30:00Z"] {
            assert_eq!(of_time(past, now_s), None, "{past}");
        }
        for (wrong, words) in [
            ("gestern", "measured_at is `gestern`"),
            ("", "does not say when"),
            ("2026-11-23", "does not say when"),
            ("2026-11-23T12:00:00.Z", "does not say when"),
            ("2026-11-24T12:00:00Z", "is yet to come"),
            ("2027-01-01T00:00:00.5Z", "is yet to come"),
        ] {
            let note = of_time(wrong, now_s).unwrap();
            assert!(note.contains(words), "{note}");
        }
    }

    #[test]
    fn a_line_does_not_fit_errors_unless_they_were_measured() {
        let line = |status| Line { status, ..Line::default() };
        assert_eq!(mostly_errors(&line(Some(200)), None), None);
        assert_eq!(mostly_errors(&line(None), Some(404)), None);
        assert_eq!(mostly_errors(&line(Some(404)), Some(404)), None);
        let why = mostly_errors(&line(Some(200)), Some(404)).unwrap();
        assert!(why.contains("such as 404, and 200 was measured"), "{why}");
    }

    #[test]
    fn a_line_of_an_api_that_carries_less_says_how_much_less() {
        let short = Short { forwarded_per_s: 251.6, ceiling_per_s: 868.0, at_once: 4.0 };
        let why = carries_less(&short);
        assert!(why.contains("252 requests/s were forwarded of the 868"), "{why}");
        assert!(why.contains("as it allows (4): the API carries less"), "{why}");
    }

    #[test]
    fn a_line_of_a_slower_api_names_its_objective() {
        let envelope = Envelope { from: "p99<100ms".into(), ..Envelope::default() };
        let why = slower(&Line { envelope, ..Line::default() });
        assert!(why.contains("not within p99<100ms, or were only below 80 % of"), "{why}");
    }

    #[test]
    fn a_line_of_another_server_or_machine_does_not_fit() {
        let upstreams = [Upstream::of("api", "127.0.0.1:8080".parse().unwrap())];
        let machine = |cpus| Environment { cpu_model: "X".into(), cpus, ..Environment::default() };
        let line = |address: &str| Line {
            addresses: vec![address.into()],
            environment: machine(8),
            ..Line::default()
        };
        let here = machine(8);
        assert_eq!(misfit(&Line::default(), &upstreams, Some(&here)), None, "nothing is known");
        assert_eq!(misfit(&line("127.0.0.1:8080"), &upstreams, Some(&here)), None);
        let why = misfit(&line("127.0.0.1:8081"), &upstreams, Some(&here)).unwrap();
        assert!(why.contains("127.0.0.1:8081"), "{why}");
        let why = misfit(&line("127.0.0.1:8080"), &upstreams, Some(&machine(2))).unwrap();
        assert!(why.contains("8 processors") && why.contains("this one has 2"), "{why}");
        // A server elsewhere is on a machine that the load line does not know.
        let upstreams = [Upstream::of("api", "10.0.0.7:80".parse().unwrap())];
        assert_eq!(misfit(&line("10.0.0.7:80"), &upstreams, Some(&machine(2))), None);
    }
}
