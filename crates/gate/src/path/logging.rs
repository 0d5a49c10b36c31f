//! What of requests goes into the access log.
//!
//! Owns what is kept of a head until its request has ended. Lines are made by `access`, on a thread of its own.

use wire::RequestHead;

use super::client::Client;
use super::key;
use super::worker::Worker;
use crate::access::Entry;
use crate::policy::{NONE, Refusal};

/// Bytes of a target that are kept.
const TARGET_BYTES: usize = 8 * 1024;
/// Bytes of each other text.
const TEXT_BYTES: usize = 1024;

/// What is kept of a head. Used again for the next request of its connection.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// Method, target, host, referer, agent.
    texts: [Vec<u8>; 5],
    version_minor: u8,
    /// When the head had been read; 0: there is none.
    at_ns: u64,
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    /// Of its key; [`NONE`] for none.
    pub(super) key: u32,
    pub(super) route: u32,
    pub(super) status: u16,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// Of these, bytes of heads; nothing where the response is the one written last, which is still at hand.
    pub(super) head_out: Option<u64>,
}

impl Ending {
    /// Of a request that was answered before it had a route.
    pub(super) fn early(status: u16, bytes_in: usize, bytes_out: usize) -> Self {
        let (bytes_in, bytes_out) = (bytes_in as u64, bytes_out as u64);
        Self { key: NONE, route: NONE, status, bytes_in, bytes_out, head_out: None }
    }

    /// Of a request that the policy refused.
    pub(super) fn refused(refusal: &Refusal, bytes_in: usize, bytes_out: usize) -> Self {
        let early = Self::early(refusal.status(), bytes_in, bytes_out);
        Self { key: refusal.key, route: refusal.route, ..early }
    }
}

/// Bytes of a response's head.
pub(super) fn head_of(answer: &[u8]) -> u64 {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    end.map_or(0, |end| end as u64 + 4)
}

impl Worker {
    /// Keeps what is logged of a head, where its client's requests are logged.
    pub(super) fn note(&self, client: &mut Client, head: &RequestHead<'_>, now_ns: u64) {
        if !self.page_writer.as_ref().is_some_and(|writer| writer.takes(client.address.ip)) {
            return;
        }
        let noted = client.noted.get_or_insert_default();
        let texts = [
            head.method.as_bytes(),
            head.path.as_bytes(),
            head.headers.get("host").unwrap_or_default(),
            head.headers.get("referer").unwrap_or_default(),
            head.headers.get("user-agent").unwrap_or_default(),
        ];
        for (kept, text) in noted.texts.iter_mut().zip(texts) {
            kept.clear();
            kept.extend_from_slice(&text[..text.len().min(TEXT_BYTES)]);
        }
        // The path is cut later than the other texts, and the key goes nowhere.
        let [_, target, ..] = &mut noted.texts;
        target.clear();
        target.extend_from_slice(&head.path.as_bytes()[..head.path.len().min(TARGET_BYTES)]);
        key::write_query(target, head.query, self.policy.key_source().query.as_deref());
        target.truncate(TARGET_BYTES);
        (noted.version_minor, noted.at_ns) = (head.version_minor, now_ns);
    }

    /// Logs a request that has ended, if it was noted.
    pub(super) fn log(&mut self, client: &mut Client, ending: Ending, now_ns: u64) {
        let Some(page_writer) = &mut self.page_writer else { return };
        let Some(noted) = client.noted.as_mut().filter(|noted| noted.at_ns != 0) else { return };
        let Ending { key, route, status, bytes_in, bytes_out, head_out } = ending;
        let [method, target, host, referer, agent] = &noted.texts;
        let entry = Entry {
            at_ns: noted.at_ns,
            took_ns: now_ns.saturating_sub(noted.at_ns),
            bytes_in,
            bytes_out,
            head_out: head_out.unwrap_or_else(|| head_of(&self.out)),
            key: if key == NONE { 0 } else { self.policy.state().keys.entry(key).id() },
            address: client.address.ip,
            status,
            version_minor: noted.version_minor,
            route,
            texts: [method, target, host, referer, agent],
        };
        page_writer.write(&entry);
        noted.at_ns = 0;
    }

    /// Logs what could not be read as a request.
    pub(super) fn log_unread(
        &mut self,
        client: &mut Client,
        status: u16,
        bytes_out: usize,
        now_ns: u64,
    ) {
        if !self.page_writer.as_ref().is_some_and(|writer| writer.takes(client.address.ip)) {
            return;
        }
        let noted = client.noted.get_or_insert_default();
        noted.texts.iter_mut().for_each(Vec::clear);
        noted.at_ns = now_ns.max(1);
        self.log(client, Ending::early(status, 0, bytes_out), now_ns);
    }
}
