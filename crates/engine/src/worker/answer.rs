//! An answer while it comes: everybody who looks at its head and at its body.

use model::Plan;
use model::interval::{Look, begins};
use traffic::{Source, Wants};
use wire::ResponseHead;

use super::receive::{SERVER_ERROR, failure};
use super::{Job, Worker};
use crate::conn::Conn;
use crate::keeper::Keeper;
use crate::ledger::Ledger;
use crate::sample::Sampler;

/// The answer that a connection reads, with all that looks at it. The connection's parser is not among
/// them: heads and bodies may be lent from it.
pub(super) struct Answer<'w> {
    j: u32,
    endpoint: u32,
    wants: Wants,
    look: &'w mut Look,
    body_bytes: &'w mut u64,
    plan: &'w Plan,
    source: &'w mut dyn Source,
    ledger: &'w mut Ledger,
    sampler: &'w mut Sampler,
    keeper: &'w mut Keeper,
}

/// What an answer is read with.
pub(super) struct Reading<'w> {
    pub(super) parser: &'w mut wire::ResponseParser,
    pub(super) seen: &'w mut wire::SeenHead,
    pub(super) answer: Answer<'w>,
}

impl Worker {
    /// The answer on connection `j`.
    #[inline]
    pub(super) fn reading(&mut self, j: u32) -> Reading<'_> {
        let Self { conns, ledger, job, sampler, keeper, seen, .. } = self;
        let Job { plan, source, .. } = job;
        let Conn { parser, look, body_bytes, wants, endpoint, .. } = &mut conns[j as usize];
        let (wants, endpoint, source) = (*wants, *endpoint, source.as_mut());
        let answer =
            Answer { j, endpoint, wants, look, body_bytes, plan, source, ledger, sampler, keeper };
        Reading { parser, seen, answer }
    }
}

impl Answer<'_> {
    #[inline(always)]
    pub(super) fn head(&mut self, head: &ResponseHead<'_>) {
        let j = self.j;
        self.ledger.watch.served |= head.status < SERVER_ERROR;
        *self.look = Look { status: head.status, media_type: head.media_type, begins: 0 };
        self.ledger.look_at(head);
        if self.wants >= Wants::Head {
            self.source.head(j, head);
        }
        self.sampler.begin(j);
        // Kept as its endpoint's sample, if it is a failure and the first.
        if self.keeper.lacks(self.endpoint)
            && failure(self.plan, self.endpoint, head.status).is_some()
        {
            self.keeper.begin(j);
        }
    }

    /// A part of its body, not empty.
    #[inline(always)]
    pub(super) fn body(&mut self, bytes: &[u8]) {
        let j = self.j;
        if *self.body_bytes == 0 {
            self.look.begins = begins(bytes);
            self.ledger.kinds.begins(j, bytes);
        }
        *self.body_bytes += bytes.len() as u64;
        self.ledger.watch.served |= self.look.status < SERVER_ERROR;
        if self.wants == Wants::Whole {
            self.source.body(j, bytes);
        }
        self.sampler.body(j, bytes);
        self.keeper.body(j, bytes);
    }
}
