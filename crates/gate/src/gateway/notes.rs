//! What is in force and may not be what was meant: said at the start and after a reload, and not refused.
//!
//! Pure: the caller reads the store and the machine.

use std::collections::BTreeMap;

use model::Environment;
use model::quote::{counted, plain};

use crate::admission::Line;
use crate::keys::NamedByKeys;
use crate::policy::{PolicySettings, Route, Tier, Upstream};

/// Characters of a name that are repeated.
const NAME: usize = 100;

/// What is in force and may not be what was meant.
pub(super) fn all(
    settings: &PolicySettings,
    named: &NamedByKeys,
    machine: Option<&Environment>,
) -> Vec<String> {
    let mut all = of_tiers(&named.tiers, &settings.tiers);
    all.extend(of_routes(&named.routes, &settings.routes));
    if let Some(line) = &settings.line {
        all.extend(of_line(line));
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
            "the load line is a lower bound: nothing above it was measured, so the API may carry more".to_owned(),
        );
    }
    notes
}

/// Why a load line does not fit an API most of whose answers are errors; `mostly` is the status of one.
pub(super) fn mostly_errors(line: &Line, mostly: Option<u16>) -> Option<String> {
    let (measured, status) = (line.status.filter(|status| *status < 400)?, mostly?);
    Some(format!(
        "the load line no longer fits: most of the API's answers are errors, such as {status}, and {measured} was measured: \
         see whether it is the same API, then measure again"
    ))
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

    #[test]
    fn keys_of_tiers_that_are_gone_are_told() {
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
    fn a_line_says_what_it_leaves_open() {
        let line = |confirmed, at_least| Line { confirmed, at_least, ..Line::default() };
        assert!(of_line(&line(true, false)).is_empty());
        assert!(of_line(&line(false, false))[0].contains("not confirmed"));
        assert!(of_line(&line(true, true))[0].contains("lower bound"));
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
