//! Recordings of browsers and proxies: HTTP Archive 1.2.
//!
//! [`record`] is the file's form, [`sieve`] decides which entries are load and which header fields
//! are the browser's own, [`super::correlate`] finds values that travel from a response into a later
//! request; here pages become flows, with the time the user took between requests.

mod record;
mod sieve;

use std::collections::BTreeMap;

use model::units::{MILLISECOND, Nanos, SECOND};
use model::workload::Time;

use super::assembly::Assembly;
use super::body::{essence, put_text};
use super::correlate::{Exchange, Response, correlate};
use super::draft::Draft;
use super::note::Kind;
use super::template::literal;
use super::{BadFile, MOST_REQUESTS, json, text};
use model::quote::{counted, quote};
use model::secret::mask_text;

use record::{Entry, Har, PostData};
use sieve::Sieve;

/// Shorter pauses are the browser's own.
const SHORTEST_THINK: Nanos = 100 * MILLISECOND;
/// Longer pauses are no part of using a site.
const LONGEST_THINK: Nanos = 300 * SECOND;

/// Reads a recording as flows.
pub(super) fn read(bytes: &[u8], assembly: &mut Assembly) -> Result<(), BadFile> {
    let har: Har = json::parse_values(text(bytes)?)?;
    let mut entries = har.log.entries;
    if entries.is_empty() {
        return Err(BadFile::whole("is a recording without entries"));
    }
    for (number, entry) in (1..).zip(&mut entries) {
        entry.number = number;
    }
    entries.sort_by_key(|entry| entry.start());
    let mut sieve = Sieve::default();
    let mut kept: Vec<(Entry, Draft)> = Vec::new();
    for entry in entries {
        let method = entry.request.method.to_ascii_uppercase();
        let mut draft = Draft::new(format!("entry {}", entry.number), &method);
        match sieve.keeps(&entry).then(|| draft.put_url(&literal(&entry.request.url))) {
            None => {}
            Some(Ok(())) => kept.push((entry, draft)),
            Some(Err(what)) => assembly.note(Kind::NotCarriedOver, draft.place, what),
        }
    }
    keep_one_server(&mut kept, assembly)?;
    if kept.len() > MOST_REQUESTS {
        let what = format!(
            "{} at the end: a flow has at most {MOST_REQUESTS}",
            counted((kept.len() - MOST_REQUESTS) as u64, "request")
        );
        assembly.note(Kind::NotCarriedOver, "", what);
        kept.truncate(MOST_REQUESTS);
    }
    let mut exchanges: Vec<Exchange> =
        kept.into_iter().map(|(entry, draft)| exchange(entry, draft, &mut sieve)).collect();
    let groups = correlate(&mut exchanges, assembly);
    sieve.add_notes(assembly);
    let titles: BTreeMap<&str, &str> =
        har.log.pages.iter().map(|page| (page.id.as_str(), page.title.as_str())).collect();
    add_flows(exchanges, &groups, &titles, assembly);
    Ok(())
}

fn keep_one_server(kept: &mut Vec<(Entry, Draft)>, assembly: &mut Assembly) -> Result<(), BadFile> {
    if kept.is_empty() {
        return Ok(());
    }
    let origins: Vec<String> = kept.iter().map(|(_, draft)| draft.origin.clone()).collect();
    assembly.settle_target(origins.iter().map(String::as_str))?;
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    kept.retain(|(_, draft)| {
        let keeps = assembly.keeps(&draft.origin);
        if !keeps {
            others.entry(draft.origin.clone()).or_default().push(draft.title());
        }
        keeps
    });
    for (origin, requests) in others {
        assembly.left_to(&origin, &requests);
    }
    Ok(())
}

fn exchange(entry: Entry, mut draft: Draft, sieve: &mut Sieve) -> Exchange {
    let (start, end) = (entry.start(), entry.end());
    for field in &entry.request.headers {
        if sieve.keeps_field(&draft.method, &field.name) {
            draft.put_header(&field.name, &literal(&field.value));
        }
    }
    if let Some(body) = &entry.request.post_data {
        put_body(&mut draft, body);
    }
    let status = entry.response.status;
    if status >= 400 {
        draft.success = format!("200-399,{status}").parse().ok();
        draft.note(
            Kind::Assumed,
            format!("status {status} was recorded and counts as success here too"),
        );
    }
    let content = entry.response.content;
    let is_json = content.mime_type.to_ascii_lowercase().contains("json");
    let response = Response {
        headers: entry
            .response
            .headers
            .into_iter()
            .map(|field| (field.name, field.value))
            .collect(),
        json: is_json.then(|| content.plain().unwrap_or_default()),
    };
    Exchange { draft, response, page: entry.pageref.unwrap_or_default(), start, end }
}

fn put_body(draft: &mut Draft, body: &PostData) {
    if draft.header("content-type").is_none() && !body.mime_type.is_empty() {
        draft.put_header("Content-Type", &literal(&body.mime_type));
    }
    if essence(&body.mime_type) == "multipart/form-data" && body.text.is_empty() {
        return put_parts(draft, body);
    }
    if body.text.is_empty() {
        let pairs = body.params.iter().map(|param| {
            let escape = super::draft::encode_value;
            format!("{}={}", escape(&param.name), escape(&param.value))
        });
        let form = pairs.collect::<Vec<_>>().join("&");
        if !form.is_empty() {
            put_text(draft, &form);
        }
        return;
    }
    match body.plain() {
        Some(text) => put_text(draft, &literal(&text)),
        None => draft.note(Kind::NotCarriedOver, "the body: its bytes are not text"),
    }
}

/// Parts of a form; a recording names files and does not hold them.
fn put_parts(draft: &mut Draft, body: &PostData) {
    let mut parts = Vec::new();
    for param in &body.params {
        let of = format!("the part {}", quote(&param.name));
        if param.file_name.as_ref().is_some_and(|name| !draft.may_read(&of, name)) {
            continue;
        }
        let file = param.file_name.as_ref().map(|name| literal(name));
        if let Some(name) = &file {
            let what =
                format!("the file {name} is not in the recording: put it beside the workload");
            draft.note(Kind::NotCarriedOver, what);
        }
        parts.push(model::workload::Part {
            name: literal(&param.name),
            text: file.is_none().then(|| literal(&param.value)),
            file,
            content_type: param.content_type.as_deref().map(literal),
            filename: None,
        });
    }
    draft.remove_header("content-type");
    draft.body = Some(model::workload::Body::Multipart(parts));
}

/// One flow a group, its steps in their order and as far apart as they were.
fn add_flows(
    exchanges: Vec<Exchange>,
    groups: &[usize],
    titles: &BTreeMap<&str, &str>,
    assembly: &mut Assembly,
) {
    let mut flows: BTreeMap<usize, Vec<Exchange>> = BTreeMap::new();
    for (exchange, group) in exchanges.into_iter().zip(groups) {
        flows.entry(*group).or_default().push(exchange);
    }
    let mut overlapping: u64 = 0;
    for (_, mut steps) in flows {
        overlapping += put_think_times(&mut steps);
        let title = steps.first().and_then(|step| titles.get(step.page.as_str()));
        let name = flow_name(title.copied().unwrap_or_default());
        assembly.add_flow(name, steps.into_iter().map(|step| step.draft).collect());
    }
    if overlapping > 0 {
        let what = format!(
            "the overlap of {} with those before: a flow sends one after another",
            counted(overlapping, "request")
        );
        assembly.note(Kind::NotCarriedOver, "", what);
    }
}

/// Sets the pauses before each next step; how many steps began before one before them had ended.
fn put_think_times(steps: &mut [Exchange]) -> u64 {
    let mut overlapping = 0;
    let mut end = steps.first().map_or(0, |step| step.end);
    for at in 1..steps.len() {
        let gap = Nanos::try_from(steps[at].start - end).ok();
        overlapping += u64::from(gap.is_none());
        if let Some(gap) = gap.filter(|gap| *gap >= SHORTEST_THINK) {
            let before = &mut steps[at - 1].draft;
            if gap > LONGEST_THINK {
                let what =
                    format!("a pause of {} s became {} s", gap / SECOND, LONGEST_THINK / SECOND);
                before.note(Kind::Assumed, what);
            }
            let whole = gap.min(LONGEST_THINK) / MILLISECOND * MILLISECOND;
            before.think = Some(Time(whole));
        }
        end = end.max(steps[at].end);
    }
    overlapping
}

/// A page's title as a name: of a URL its path, without credentials; `session` where nothing is left.
fn flow_name(title: &str) -> String {
    let title = mask_text(title);
    let path = title.split_once("://").map_or(title.as_str(), |(_, rest)| {
        rest.split_once('/').map_or("", |(_, path)| path.split(['?', '#']).next().unwrap_or(""))
    });
    let fit = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { ' ' };
    let words: String = path.chars().take(60).map(fit).collect();
    let name = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() { "session".to_owned() } else { name }
}
