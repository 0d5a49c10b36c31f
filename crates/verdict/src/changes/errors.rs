//! Responses that read as errors, or ask to log in, whether others came beside them or not: a tenth of
//! `{"ok":false,"error":"overloaded"}`, with status 200, the media type of the rest and about their length. And
//! redirects beside others, which may lead to a page to log in.

use model::kinds::{Changed, ResponseChange, ResponseKind};

use super::{Looks, NEW, Series, sum};
use crate::error_words::{asks_to_log_in, plain, reads_as_error};

/// Responses that must read so: no more than to be no single one, since their words say what they are.
const FEWEST: u64 = 5;

impl Looks {
    /// Responses that read as errors came and stayed, with `least` of the responses since or more, after others that do
    /// not read so: told by one body of each kind, and only where it came for good, since words may be data.
    pub(super) fn turned_to_errors(&self, least: f64) -> Option<ResponseChange> {
        let is_error = |kind: &ResponseKind| is_error(kind.beginning.as_deref());
        self.changes_for_good(least)
            .filter(|change| is_error(&change.after) && !is_error(&change.before))
            .max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The commonest that reads as an error, with the part that all of those have; beside itself where all do. Only
    /// where bodies are of few wordings, each known by one body: of bodies that vary, one says nothing of the others.
    pub(super) fn some_read_as_errors(&self) -> Option<ResponseChange> {
        if self.all.iter().any(|series| series.look.wording == 0) {
            return None;
        }
        self.odd_ones(Changed::Errors, |series| is_error(series.shown.beginning.as_deref()))
    }

    /// Redirects beside responses that are none. Where all are redirects, a rule of its own says so.
    pub(super) fn some_redirect(&self) -> Option<ResponseChange> {
        let redirects =
            self.odd_ones(Changed::Redirects, |series| leads_elsewhere(series.look.status))?;
        (redirects.share < 1.0).then_some(redirects)
    }

    /// The commonest of the odd responses beside the commonest of the others, with the part that all odd ones have.
    fn odd_ones(&self, how: Changed, is_odd: impl Fn(&&Series) -> bool) -> Option<ResponseChange> {
        let (odd, others): (Vec<&Series>, Vec<&Series>) = self.all.iter().partition(is_odd);
        let shown = most(&odd)?;
        let usual = most(&others).unwrap_or(shown);
        let count = |of: &[&Series]| sum(of.iter().map(|series| series.responses));
        let came = count(&odd);
        let share = came as f64 / came.saturating_add(count(&others)) as f64;
        let found = came >= FEWEST && share >= NEW;
        found.then(|| shown.beside(usual, how, share))
    }
}

/// 304 leads nowhere.
fn leads_elsewhere(status: u16) -> bool {
    (300..400).contains(&status) && status != 304
}

fn is_error(beginning: Option<&str>) -> bool {
    let beginning = plain(beginning);
    reads_as_error(&beginning) || asks_to_log_in(&beginning)
}

fn most<'s>(of: &[&'s Series]) -> Option<&'s Series> {
    of.iter().copied().max_by_key(|series| series.responses)
}
