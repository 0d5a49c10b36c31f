//! Responses that read as errors beside others that do not: a tenth of `{"ok":false,"error":"overloaded"}`, with
//! status 200, the media type of the rest and about their length.

use model::kinds::{Changed, ResponseChange};

use super::{Looks, NEW, Series, sum};
use crate::error_words::{plain, reads_as_error};

/// Responses that must read so: no more than to be no single one, since their words say what they are.
const FEWEST: u64 = 5;

impl Looks {
    /// The commonest that reads as an error, with the part that all of those have. Only where bodies are of few
    /// wordings, each known by one body: of bodies that vary, one says nothing of the others.
    pub(super) fn some_read_as_errors(&self) -> Option<ResponseChange> {
        if self.all.iter().any(|series| series.look.wording == 0) {
            return None;
        }
        let is_error = |series: &&Series| reads_as_error(&plain(series.shown.beginning.as_deref()));
        let (errors, others): (Vec<&Series>, Vec<&Series>) = self.all.iter().partition(is_error);
        let (error, usual) = (most(&errors)?, most(&others)?);
        let count = |of: &[&Series]| sum(of.iter().map(|series| series.responses));
        let came = count(&errors);
        let share = came as f64 / came.saturating_add(count(&others)) as f64;
        let found = came >= FEWEST && share >= NEW;
        found.then(|| error.beside(usual, Changed::Errors, share))
    }
}

fn most<'s>(of: &[&'s Series]) -> Option<&'s Series> {
    of.iter().copied().max_by_key(|series| series.responses)
}
