//! Several files of the same target and concurrency side by side: which disagree, by how much, and
//! who likely delivered too little. Tools have limits; a second tool shows them.
//!
//! A generator cannot get more responses out of a server than it carries, but it can fail to ask: so
//! the highest QPS that mostly succeeded is nearest to the truth, and a lower one is explained from
//! the tool's own figures. Loads of an open loop are not compared: their rate was chosen.

use std::collections::{BTreeMap, BTreeSet};

use model::units::show_duration;
use model::{Claim, LoopKind};

use super::Audited;
use crate::curve::MIN_SUCCESS;
use crate::figures::{grouped, percent, rate, share};

/// Share of the highest QPS below which a row disagrees: single runs of the same load commonly lie
/// that far apart.
const AGREES: f64 = 0.90;
/// Share of the connections in flight below which a tool was busy with itself.
const BUSY_ELSEWHERE: f64 = 0.80;
/// The rule that a QPS breaks which is not requests over time.
const CONTRADICTED: &str = "rate_contradicts_count";
/// Why such a row is not held against the others.
const CONTRADICTORY: &str =
    "a QPS that is not its own requests over its time: it is held against none";
/// Why no row is held against another.
const NO_YARDSTICK: &str = "no file to be held against: of each, most requests failed, or QPS contradicts the count of requests";
/// Factor of the mean from which requests took longer, and not by chance.
const SLOWER: f64 = 1.10;

/// Rows of two files or more at the same target and concurrency.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What was loaded; absent when the caller only asserted that it was the same.
    pub target: Option<String>,
    /// Connections, users or threads.
    pub connections: f64,
    /// The rows, by QPS from the highest.
    pub standings: Vec<Standing>,
    /// Whether files that name neither target nor connections are taken to be of this load.
    pub assumed: bool,
    /// Which of the standings the others are held against.
    pub reference: usize,
}

/// One row among those of its group.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Which file.
    pub file: usize,
    /// Which of its rows.
    pub row: usize,
    /// Its QPS over the reference's.
    pub qps_ratio: f64,
    /// Its mean over the reference's.
    pub mean_ratio: Option<f64>,
    /// Why it disagrees, in a sentence without the full stop; absent when it agrees.
    pub why: Option<String>,
}

/// A row: its file, and its place there.
type At = (usize, usize);

/// The groups that files form. A file that names neither its target nor its connections, and was given these, is
/// taken to be of the one target that the others name.
pub(super) fn groups(files: &[Audited], same_target: bool) -> Vec<Group> {
    let rows = files.iter().flat_map(|file| &file.claims.rows);
    let named: BTreeSet<String> =
        rows.filter_map(|row| row.target.as_deref()).map(canonical).collect();
    let only = named.first().filter(|_| named.len() == 1);
    let mut by_load: BTreeMap<(Option<String>, u64), Vec<At>> = BTreeMap::new();
    for (file, audited) in files.iter().enumerate() {
        for (row, claim) in audited.claims.rows.iter().enumerate() {
            let named_by_none = claim.target.is_none() && claim.connections_given;
            let target = match &claim.target {
                _ if same_target => None,
                Some(target) => Some(canonical(target)),
                None => only.filter(|_| named_by_none).cloned(),
            };
            let comparable = claim.loop_kind != LoopKind::Open && claim.qps > 0.0;
            let alone = named_by_none && named.is_empty();
            let known = same_target || target.is_some() || alone;
            if let Some(connections) = claim.connections.filter(|_| comparable && known) {
                // Connections are above zero, and positive floats sort as their bits do.
                by_load.entry((target, connections.to_bits())).or_default().push((file, row));
            }
        }
    }
    let several = by_load.into_iter().filter(|(_, rows)| rows.iter().any(|at| at.0 != rows[0].0));
    several
        .map(|((target, bits), rows)| {
            let assumed = !same_target
                && rows.iter().any(|&(file, row)| files[file].claims.rows[row].target.is_none());
            Group { assumed, ..group(files, target, f64::from_bits(bits), rows) }
        })
        .collect()
}

fn group(files: &[Audited], target: Option<String>, connections: f64, mut rows: Vec<At>) -> Group {
    let claim = |&(file, row): &At| &files[file].claims.rows[row];
    rows.sort_by(|a, b| claim(b).qps.total_cmp(&claim(a).qps));
    // A QPS that its own count contradicts is no yardstick.
    let counted = |&(file, row): &At| {
        let found = files[file].findings.get(row);
        found.is_none_or(|found| found.iter().all(|finding| finding.code != CONTRADICTED))
    };
    let sound =
        |at: &At| counted(at) && claim(at).success.is_none_or(|success| success >= MIN_SUCCESS);
    let sound_row = rows.iter().position(sound);
    let reference = sound_row.unwrap_or(0);
    let most = claim(&rows[reference]);
    let name = &files[rows[reference].0].name;
    let standings = rows.iter().map(|at| {
        let own = claim(at);
        let (&(file, row), qps_ratio) = (at, own.qps / most.qps);
        let mean_ratio = own.mean_ns.zip(most.mean_ns).filter(|&(own, most)| own > 0 && most > 0);
        let mean_ratio = mean_ratio.map(|(own, most)| own as f64 / most as f64);
        let why = match sound_row {
            None => Some(NO_YARDSTICK.to_owned()),
            Some(_) if !counted(at) => Some(CONTRADICTORY.to_owned()),
            Some(_) => why(own, most, name, mean_ratio),
        };
        Standing { file, row, qps_ratio, mean_ratio, why }
    });
    Group { target, connections, standings: standings.collect(), assumed: false, reference }
}

/// Why a row disagrees with the reference.
fn why(own: &Claim, most: &Claim, name: &str, mean_ratio: Option<f64>) -> Option<String> {
    let ratio = own.qps / most.qps;
    if ratio > 1.0 {
        let success = own.success.filter(|&success| success < MIN_SUCCESS)?;
        return Some(format!(
            "a higher QPS than {name}, but only {} succeeded: fast errors, not capacity",
            share(success)
        ));
    }
    if ratio >= AGREES {
        return None;
    }
    let amount =
        format!("{} of {name}: probably {}/s too low", percent(ratio), rate(most.qps - own.qps));
    Some(format!("{amount}, because {}", reason(own, mean_ratio)))
}

fn reason(own: &Claim, mean_ratio: Option<f64>) -> String {
    let error = own.error_ns as f64 * own.qps / 1e9;
    let in_flight = own.in_flight().map(|n| n + error).zip(own.in_flight_cap());
    if own.keepalive == Some(false) {
        return "it opened a connection for each request".to_owned();
    }
    if own.success.is_some_and(|success| success < MIN_SUCCESS) {
        let success = share(own.success.unwrap_or(0.0));
        return format!("only {success} of its requests succeeded, and the failures took time");
    }
    match in_flight {
        Some((n, cap)) if n < BUSY_ELSEWHERE * cap => format!(
            "by its own figures {} of {} requests were in flight: the rest of the time the tool \
             itself was busy or paused",
            grouped(n, if cap < 10.0 { 2 } else { 0 }),
            grouped(cap, 0)
        ),
        _ => match mean_ratio {
            Some(ratio) if ratio >= SLOWER => format!(
                "its requests took {ratio:.2} times as long on average ({}): the server was slower for \
                 this tool, or the figure includes waiting in the tool's own queue",
                own.mean_ns.map_or_else(String::new, show_duration)
            ),
            _ => "it sent fewer requests, and its latencies do not show why".to_owned(),
        },
    }
}

/// A URL as compared: scheme and host in lower case, default port and empty path filled in, no
/// fragment. Text that is no URL stays as it is.
pub fn canonical(target: &str) -> String {
    let Some((scheme, rest)) = target.trim().split_once("://") else { return target.to_owned() };
    let scheme = scheme.to_ascii_lowercase();
    let rest = rest.split('#').next().unwrap_or(rest);
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let authority = authority.to_ascii_lowercase();
    let default = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.strip_suffix(default).unwrap_or(&authority);
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{authority}{slash}{path}")
}
