//! What of a recording is load: requests for data and pages, not the files around them, and header
//! fields that a program would send, not those that only a browser does. What is left out is
//! counted, and a note gives the counts.

use std::collections::BTreeMap;

use super::super::assembly::Assembly;
use super::super::body::essence;
use super::super::note::Kind;
use super::record::Entry;

/// Kinds of resource, as Chrome names them, that are files around a page.
const STATIC_TYPES: [&str; 8] =
    ["script", "stylesheet", "image", "font", "media", "manifest", "texttrack", "ping"];

/// Endings of paths that are files around a page, where the recording gives no type.
const STATIC_ENDINGS: [&str; 22] = [
    "js", "mjs", "css", "map", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp",
    "woff", "woff2", "ttf", "otf", "eot", "mp4", "webm", "mp3", "wasm",
];

/// Fields of one hop or one message (RFC 9110 section 7.6.1), made anew by whoever sends.
const HOP: [&str; 11] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "content-length",
    "expect",
];

/// Fields by which a browser describes itself, its cache or its user's click.
const BROWSER: [&str; 15] = [
    "user-agent",
    "accept-encoding",
    "accept-language",
    "dnt",
    "priority",
    "pragma",
    "cache-control",
    "if-none-match",
    "if-modified-since",
    "upgrade-insecure-requests",
    "purpose",
    "save-data",
    "x-client-data",
    "te",
    "alt-used",
];

/// What was sieved out, counted.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    entries: BTreeMap<[&'static str; 2], u64>,
    fields: BTreeMap<String, u64>,
    credentials: bool,
}

impl Sieve {
    /// Whether the entry is load.
    pub(super) fn keeps(&mut self, entry: &Entry) -> bool {
        let why = why_not(entry);
        if let Some(why) = why {
            *self.entries.entry(why).or_insert(0) += 1;
        }
        why.is_none()
    }

    /// Whether a request sends the field. Writes keep Origin and Referer: servers check them there.
    pub(super) fn keeps_field(&mut self, method: &str, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let reads = matches!(method, "GET" | "HEAD");
        let browsers = BROWSER.contains(&name.as_str())
            || name.starts_with("sec-")
            || (reads && matches!(name.as_str(), "origin" | "referer"));
        self.credentials |= matches!(name.as_str(), "cookie" | "authorization");
        let dropped = name.starts_with(':') || HOP.contains(&name.as_str()) || browsers;
        if dropped && !name.starts_with(':') {
            *self.fields.entry(name).or_insert(0) += 1;
        }
        !dropped
    }

    /// Adds notes on what was left out.
    pub(super) fn add_notes(&self, assembly: &mut Assembly) {
        for ([one, several], count) in &self.entries {
            let what = if *count == 1 { one } else { several };
            assembly.note(Kind::NotCarriedOver, "", format!("{count} {what}"));
        }
        if !self.fields.is_empty() {
            let each = self.fields.iter().map(|(name, count)| format!("{name} ({count})"));
            let fields = each.collect::<Vec<_>>();
            for some in fields.chunks(12) {
                let names = some.join(", ");
                let what = format!("header fields of one hop, or that only browsers send: {names}");
                assembly.note(Kind::NotCarriedOver, "", what);
            }
        }
        if !self.credentials {
            let what = "no cookies and no Authorization are in the recording; browsers leave them \
                        out unless asked for a HAR with sensitive data";
            assembly.note(Kind::Assumed, "", what);
        }
    }
}

/// What an entry is that is left out, for one and for several; `None` if it is kept.
fn why_not(entry: &Entry) -> Option<[&'static str; 2]> {
    let kind = entry.resource_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    let url = &entry.request.url;
    if kind == "websocket" || url.starts_with("ws") || entry.response.status == 101 {
        return Some(["WebSocket connection", "WebSocket connections"]);
    }
    if !url.starts_with("http") {
        return Some([
            "address that is not HTTP (data, blob, extensions)",
            "addresses that are not HTTP (data, blob, extensions)",
        ]);
    }
    if kind == "preflight" || entry.request.method.eq_ignore_ascii_case("OPTIONS") {
        return Some([
            "preflight request, which only browsers send",
            "preflight requests, which only browsers send",
        ]);
    }
    if entry.from_cache.as_ref().is_some_and(|cache| !cache.is_empty()) {
        return Some([
            "request that the browser's cache answered",
            "requests that the browser's cache answered",
        ]);
    }
    if is_static(&kind, entry) {
        return Some([
            "static file (scripts, styles, images, fonts, media)",
            "static files (scripts, styles, images, fonts, media)",
        ]);
    }
    if entry.response.status <= 0 {
        return Some([
            "request that was blocked or never answered",
            "requests that were blocked or never answered",
        ]);
    }
    None
}

fn is_static(kind: &str, entry: &Entry) -> bool {
    if matches!(kind, "xhr" | "fetch" | "document") {
        return false;
    }
    let media = essence(&entry.response.content.mime_type);
    if media.contains("json") || media == "text/html" {
        return false;
    }
    let by_media =
        ["image/", "font/", "audio/", "video/"].iter().any(|kind| media.starts_with(kind))
            || media.contains("javascript")
            || matches!(media.as_str(), "text/css" | "application/wasm" | "application/font-woff");
    let path = entry.request.url.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    by_media
        || STATIC_TYPES.contains(&kind)
        || ending.is_some_and(|ending| STATIC_ENDINGS.contains(&ending.as_str()))
}
