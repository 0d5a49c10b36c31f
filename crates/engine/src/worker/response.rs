//! A response while it is read: its head and body are passed to everything that needs them.

use model::interval::{Look, NO_BODY};
use model::{ErrorClass, Plan};
use traffic::{CodedBodies, Source, Wants};
use wire::{LastHead, ResponseHead, ResponseParser};

use super::{Job, Worker};
use crate::body_hash::BodyHasher;
use crate::conn::Conn;
use crate::failure_samples::FailureSamples;
use crate::recorder::Recorder;
use crate::response_kinds::IN_PIECES;

/// The first status that says that the server failed.
pub(super) const SERVER_ERROR: u16 = 500;
/// The buffers with which one worker reads responses.
#[derive(Debug)]
pub(super) struct Incoming {
    /// The last response's head.
    seen: LastHead,
    pub(super) body_hasher: BodyHasher,
    pub(super) failure_samples: FailureSamples,
    /// Where responses are compared with the first of their endpoint: the bodies that are decoded for that.
    pub(super) coded: Option<CodedBodies>,
    /// Bytes decrypted at once, mostly of one record; empty otherwise.
    pub(super) plain: Vec<u8>,
}

impl Incoming {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            seen: LastHead::new(),
            body_hasher: BodyHasher::default(),
            failure_samples: FailureSamples::of(&plan.mix),
            coded: plan.expects_first().then(CodedBodies::default),
            plain: Vec::new(),
        }
    }

    /// Whether the body of the response on connection `j` is hashed or kept.
    pub(super) fn looks_at(&self, j: u32) -> bool {
        let is_coded = || self.coded.as_ref().is_some_and(|coded| coded.looks_at(j));
        self.body_hasher.looks_at(j) || self.failure_samples.looks_at(j) || is_coded()
    }

    /// The response on connection `j` will never be whole.
    pub(super) fn abandon(&mut self, j: u32) {
        self.body_hasher.abandon(j);
        self.failure_samples.abandon(j);
        if let Some(coded) = &mut self.coded {
            coded.abandon(j);
        }
    }
}

/// The response that a connection reads, with everything that looks at it except the connection's
/// parser, from which heads and bodies may be lent.
pub(super) struct Response<'w> {
    j: u32,
    endpoint: u32,
    wants: Wants,
    look: &'w mut Look,
    body_bytes: &'w mut u64,
    plan: &'w Plan,
    source: &'w mut dyn Source,
    recorder: &'w mut Recorder,
    body_hasher: &'w mut BodyHasher,
    failure_samples: &'w mut FailureSamples,
    coded: Option<&'w mut CodedBodies>,
}

/// What is needed to read a response.
pub(super) struct Reading<'w> {
    pub(super) parser: &'w mut ResponseParser,
    pub(super) seen: &'w mut LastHead,
    pub(super) response: Response<'w>,
}

impl Worker {
    /// The response on connection `j`.
    #[inline]
    pub(super) fn reading(&mut self, j: u32) -> Reading<'_> {
        let Self { conns, recorder, job, incoming, .. } = self;
        let Incoming { seen, body_hasher, failure_samples, coded, .. } = incoming;
        let Job { plan, source, .. } = job;
        let Conn { parser, look, body_bytes, wants, endpoint, .. } = &mut conns[j];
        let (wants, endpoint, source) = (*wants, *endpoint, source.as_mut());
        let response = Response {
            j,
            endpoint,
            wants,
            look,
            body_bytes,
            plan,
            source,
            recorder,
            body_hasher,
            failure_samples,
            coded: coded.as_mut(),
        };
        Reading { parser, seen, response }
    }
}

impl Response<'_> {
    #[inline(always)]
    pub(super) fn head(&mut self, head: &ResponseHead<'_>) {
        let j = self.j;
        self.recorder.watch.served |= head.status < SERVER_ERROR;
        let ResponseHead { status, media_type, .. } = *head;
        *self.look = Look { status, media_type, begins: 0, wording: NO_BODY };
        self.recorder.look_at(head);
        if self.wants >= Wants::Head {
            self.source.head(j, head);
        }
        self.body_hasher.begin(j);
        if let Some(coded) = &mut self.coded {
            coded.head(j, head);
        }
        // Kept as its endpoint's sample, if it is a failure and the first.
        if self.failure_samples.lacks(self.endpoint)
            && failure(self.plan, self.endpoint, head.status).is_some()
        {
            self.failure_samples.begin(j);
        }
    }

    /// All of its body, not empty.
    #[inline(always)]
    pub(super) fn whole_body(&mut self, bytes: &[u8]) {
        self.recorder.kinds.begins(self.j, self.endpoint, bytes, self.look);
        self.counted_body(bytes);
    }

    /// A part of its body, not empty.
    #[inline(always)]
    pub(super) fn body(&mut self, bytes: &[u8]) {
        if *self.body_bytes == 0 {
            self.recorder.kinds.begins_with(self.j, self.endpoint, bytes, self.look);
        } else if self.look.begins == IN_PIECES {
            self.recorder.kinds.goes_on(self.j, self.endpoint, bytes, self.look);
        }
        self.counted_body(bytes);
    }

    #[inline(always)]
    fn counted_body(&mut self, bytes: &[u8]) {
        let j = self.j;
        *self.body_bytes += bytes.len() as u64;
        self.recorder.watch.served |= self.look.status < SERVER_ERROR;
        if self.wants == Wants::Whole {
            self.source.body(j, bytes);
        }
        self.body_hasher.body(j, bytes);
        self.failure_samples.body(j, bytes);
        if let Some(coded) = &mut self.coded {
            coded.body(j, bytes);
        }
    }
}

/// Why a response for `endpoint` fails by its status, if it does.
#[inline]
pub(super) fn failure(plan: &Plan, endpoint: u32, status: u16) -> Option<ErrorClass> {
    let own = plan.mix.endpoints.get(endpoint as usize);
    let success = own.map_or(&plan.success, |endpoint| &endpoint.success);
    (!success.contains(status)).then_some(ErrorClass::Status)
}
