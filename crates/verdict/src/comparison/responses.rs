//! Whether the responses of two runs are those of the same work.
//!
//! Of one request their contents may differ: a time stamp, an identifier, a text that was changed. Not their status,
//! media type and form (an object, a list, markup, a text), nor their length by far; and none may read as an error
//! where the others do not. Of a mix, of failures, and of runs of which the kinds of responses were not kept, the
//! commonest must be the same to the byte.

use model::interval::begins;
use model::kinds::ResponseKind;
use model::{CommonestResponse, Run};

use crate::chance::beyond_chance;
use crate::changes::LENGTHS_APART;
use crate::error_words::{plain, reads_as_error};
use crate::figures::{counted, share};
use crate::validity::kind_in_words;

/// How the sentence begins that says that responses are of other kinds.
pub const DIFFER: &str = "their responses differ";

/// Share of the responses up to which other kinds may come on one side alone.
const FEW: f64 = 0.05;
/// And from which on that is no chance, however few there are.
const HALF: f64 = 0.5;

/// Why the figures of the second run are not those of the same work as the first one's, by their responses.
pub(super) fn difference(a: &Run, b: &Run) -> Option<String> {
    let (Some(one), Some(other)) = (&a.commonest_response, &b.commonest_response) else {
        return Some("the responses are not known for both".to_owned());
    };
    if is_known_by_kinds(a, one) && is_known_by_kinds(b, other) {
        let sides = [Side::of(&a.response_kinds), Side::of(&b.response_kinds)];
        return of_kinds(&sides).map(|what| format!("{DIFFER} ({what})"));
    }
    let same = is_same(one, other);
    (!same).then(|| format!("{DIFFER} ({})", against(one, other)))
}

/// That responses which are alike have different contents.
pub(super) fn other_contents(a: &Run, b: &Run) -> Option<String> {
    let (one, other) = (a.commonest_response.as_ref()?, b.commonest_response.as_ref()?);
    let shown = match (one.status, one.bytes) == (other.status, other.bytes) {
        true => format!("{} each", in_words(one)),
        false => format!("{} against {}", in_words(one), in_words(other)),
    };
    (!is_same(one, other)).then(|| format!("their responses differ in content only ({shown})"))
}

/// Whether one request was sent again and again, and what most responses were is known by their kinds, which are those
/// of successes.
fn is_known_by_kinds(run: &Run, commonest: &CommonestResponse) -> bool {
    let one_request = run.plan.mix.endpoints.len() <= 1;
    one_request && !run.response_kinds.is_empty() && run.plan.success.contains(commonest.status)
}

fn is_same(a: &CommonestResponse, b: &CommonestResponse) -> bool {
    (a.status, a.bytes, &a.body_sha256) == (b.status, b.bytes, &b.body_sha256)
}

fn in_words(response: &CommonestResponse) -> String {
    format!("status {}, {}", response.status, counted(response.bytes as f64, "byte"))
}

fn against(a: &CommonestResponse, b: &CommonestResponse) -> String {
    let what =
        if (a.status, a.bytes) == (b.status, b.bytes) { ", but different content" } else { "" };
    format!("{} against {}{what}", in_words(a), in_words(b))
}

/// What must be the same of two responses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    status: u16,
    media_type: String,
    begins: u8,
    is_error: bool,
}

impl Form {
    fn of(kind: &ResponseKind) -> Self {
        let beginning = plain(kind.beginning.as_deref());
        let media_type = kind.media_type.as_deref().unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let begins = match u8::try_from(begins(beginning.as_bytes())) {
            // An object, whatever its first member is called.
            Err(_) => b'{',
            // A text may begin with a digit by chance.
            Ok(b'0' | b'"') => b'a',
            Ok(class) => class,
        };
        Self {
            status: kind.status,
            media_type: media_type.to_ascii_lowercase(),
            begins,
            is_error: reads_as_error(&beginning),
        }
    }
}

/// The kinds of responses of a run.
struct Side<'k> {
    kinds: Vec<(Form, &'k ResponseKind)>,
    responses: f64,
}

impl<'k> Side<'k> {
    fn of(kinds: &'k [ResponseKind]) -> Self {
        let responses = kinds.iter().map(|kind| kind.responses as f64).sum();
        Self { kinds: kinds.iter().map(|kind| (Form::of(kind), kind)).collect(), responses }
    }

    /// The part of the responses that are so, and the commonest kind of them.
    fn part(&self, is: impl Fn(&Form, &ResponseKind) -> bool) -> (f64, Option<&'k ResponseKind>) {
        let held = || self.kinds.iter().filter(|(form, kind)| is(form, kind));
        let sum: f64 = held().map(|(_, kind)| kind.responses as f64).sum();
        let most = held().max_by_key(|(_, kind)| kind.responses).map(|(_, kind)| *kind);
        (sum / self.responses.max(1.0), most)
    }

    /// Whether there are responses of this form and about this length.
    fn has(&self, form: &Form, kind: &ResponseKind) -> bool {
        self.kinds.iter().any(|(own, other)| own == form && !are_apart(kind, other))
    }
}

/// What of one side the other does not have, if that is much.
fn of_kinds(sides: &[Side; 2]) -> Option<String> {
    let [a, b] = sides;
    let most = |side: &Side| side.part(|_, _| true).1.map(kind_in_words);
    let much = |one: f64, other: f64| {
        let beyond = beyond_chance([one, other], [a.responses, b.responses], FEW);
        beyond || (one - other).abs() >= HALF
    };
    // Of other lengths.
    let (only_a, kind_a) = a.part(|form, kind| !b.has(form, kind));
    let (only_b, kind_b) = b.part(|form, kind| !a.has(form, kind));
    if much(only_a, 0.0) || much(0.0, only_b) {
        let of = |kind: Option<&ResponseKind>, part: f64, side: &Side| match kind {
            Some(kind) if part > FEW => Some(kind_with_share(kind, part)),
            _ => most(side),
        };
        return Some(format!("{} against {}", of(kind_a, only_a, a)?, of(kind_b, only_b, b)?));
    }
    // Of the same kinds, but in other parts.
    let parts = a.kinds.iter().map(|(form, kind)| {
        let of = |side: &Side| side.part(|own, _| own == form).0;
        (*kind, of(a), of(b))
    });
    let (kind, in_a, in_b) =
        parts.max_by(|x, y| (x.1 - x.2).abs().total_cmp(&(y.1 - y.2).abs()))?;
    much(in_a, in_b).then(|| {
        format!("{} are {} of them against {}", kind_in_words(kind), share(in_a), share(in_b))
    })
}

/// A kind with its part of the responses.
fn kind_with_share(kind: &ResponseKind, part: f64) -> String {
    let words = kind_in_words(kind);
    if part < 0.995 { format!("{words} in {} of them", share(part)) } else { words }
}

/// Whether the bodies of two kinds differ in length by far.
fn are_apart(a: &ResponseKind, b: &ResponseKind) -> bool {
    // Between ranges that overlap there is no distance.
    a.most_bytes < b.least_bytes && lengths_apart(a.most_bytes, b.least_bytes)
        || b.most_bytes < a.least_bytes && lengths_apart(b.most_bytes, a.least_bytes)
}

/// Whether bodies of these lengths differ by more than other data in the same response would make them.
pub(crate) fn lengths_apart(short: u64, long: u64) -> bool {
    let (ratio, bytes) = LENGTHS_APART;
    long.saturating_sub(short) >= bytes && (long as f64 + 1.0) / (short as f64 + 1.0) >= ratio
}

#[cfg(test)]
mod tests;
