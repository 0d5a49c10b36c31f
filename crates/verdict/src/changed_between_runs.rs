//! Responses that changed between one run of a server and the next. Levels, steps and rounds are compared with one
//! another, so they must measure the same thing.
//!
//! `changes` compares responses within one run, where the instants are known; here only the lists in the results of runs
//! are compared.

use model::interval::begins;
use model::kinds::{Changed, ResponseChange, ResponseKind};
use model::{Reason, ReasonCode, Run, Validity, Verdict};

use crate::changes::{ENOUGH, MISSED, SUBSTANTIAL, is_substantial};
use crate::error_words::{plain, reads_as_error};
use crate::validity::{RULES, kind_in_words};

/// Kinds kept at most, over all runs.
const MOST: usize = 1024;

/// The kinds of responses of a server so far, over runs of the same load one after another.
#[derive(Debug, Clone, Default)]
pub struct KnownResponses {
    usual: Vec<ResponseKind>,
    /// Those that came with a change. However few of them come in a later run, they do not become usual.
    unusual: Vec<ResponseKind>,
}

impl KnownResponses {
    /// Takes in the next run. If its responses changed for good, within it or since those before it, what
    /// they were and became, in words; the run is `INVALID` then. What such a run's responses were is not usual in later
    /// ones.
    pub fn changed(&mut self, run: &mut Run) -> Option<String> {
        let words = |before: &ResponseKind, after: &ResponseKind| {
            let (before, after) = (kind_in_words(before), kind_in_words(after));
            format!("the responses changed: {before} became {after}")
        };
        let Some((before, after, share)) = self.replaced(&run.response_kinds) else {
            let mut changes = run.response_changes.iter();
            let within = changes.find(|one| one.how == Changed::ForGood && is_substantial(one));
            let Some(ResponseChange { before, after, .. }) = within else {
                if !run.response_changes.iter().any(is_substantial) {
                    self.learn(&run.response_kinds);
                }
                return None;
            };
            self.learn(std::slice::from_ref(before));
            self.distrust(std::iter::once(after));
            return Some(words(before, after));
        };
        self.distrust(run.response_kinds.iter());
        let words = words(&before, &after);
        let (how, endpoint) =
            (Changed::ForGood, run.plan.mix.endpoints.get(after.endpoint as usize));
        let endpoint = endpoint.map(|endpoint| endpoint.name.clone());
        // What is known from before is usual; within the run alone, either may have been.
        run.response_changes.retain(|change| change.endpoint != endpoint);
        run.response_changes.push(ResponseChange {
            how,
            endpoint,
            since_ns: 0,
            before,
            after,
            share,
        });
        let code = ReasonCode::ResponsesChanged;
        let advice = RULES.iter().find(|rule| rule.code == code).map_or("", |rule| rule.advice);
        let text = format!("since the run before, {words}. {advice}");
        let mut reasons = run.validity.reasons.clone();
        reasons.retain(|reason| reason.code != code);
        reasons.push(Reason { code, consequence: Verdict::Invalid, text });
        run.validity = Validity::of(reasons);
        Some(words)
    }

    fn learn(&mut self, kinds: &[ResponseKind]) {
        let Self { usual, unusual } = self;
        let room = MOST.saturating_sub(usual.len());
        let learnt = kinds.iter().filter(|kind| !unusual.iter().any(|known| alike(known, kind)));
        usual.extend(learnt.take(room).cloned());
    }

    fn distrust<'a>(&mut self, kinds: impl Iterator<Item = &'a ResponseKind>) {
        let Self { usual, unusual } = self;
        for kind in kinds {
            let known = usual.iter().chain(unusual.iter()).any(|known| alike(known, kind));
            if !known && unusual.len() < MOST {
                unusual.push(kind.clone());
            }
        }
    }

    /// Of an endpoint of whose responses a part looks like none before: what most were, the most of those, and their
    /// share. Of those that came with a change before, a few are enough, such as come while the server is idle.
    fn replaced(&self, kinds: &[ResponseKind]) -> Option<(ResponseKind, ResponseKind, f64)> {
        kinds.iter().map(|kind| kind.endpoint).find_map(|endpoint| {
            let of_endpoint = |kind: &&ResponseKind| kind.endpoint == endpoint;
            let before: Vec<&ResponseKind> = self.usual.iter().filter(of_endpoint).collect();
            let now = || kinds.iter().filter(of_endpoint);
            let new = || now().filter(|kind| !before.iter().any(|known| alike(known, kind)));
            let (known, share) = (sum(before.iter().copied()), sum(new()) / sum(now()).max(1.0));
            let again = new().any(|kind| self.unusual.iter().any(|known| alike(known, kind)));
            let certain = known >= ENOUGH as f64
                && (sum(new()) >= ENOUGH as f64 || again)
                && share >= SUBSTANTIAL
                && known * share >= MISSED;
            let most = before.iter().max_by_key(|kind| kind.responses).filter(|_| certain)?;
            Some(((*most).clone(), new().max_by_key(|kind| kind.responses)?.clone(), share))
        })
    }
}

/// Whether two kinds differ in their length alone, if at all, or in the first member of an object: a run
/// keeps only some of the members that come first where their order is random, and another run others. Of bodies that
/// are always of one length, one that reads as an error is not like one that does not.
fn alike(a: &ResponseKind, b: &ResponseKind) -> bool {
    let class = |text: &String| match begins(text.as_bytes()) {
        0x80.. => b'{'.into(),
        class => class,
    };
    let look = |kind: &ResponseKind| (kind.status, kind.beginning.as_ref().map(class));
    let is_fixed = |kind: &ResponseKind| kind.least_bytes == kind.most_bytes;
    let is_error = |kind: &ResponseKind| reads_as_error(&plain(kind.beginning.as_deref()));
    let same_words = !(is_fixed(a) && is_fixed(b)) || is_error(a) == is_error(b);
    look(a) == look(b) && a.media_type == b.media_type && same_words
}

fn sum<'a>(kinds: impl Iterator<Item = &'a ResponseKind>) -> f64 {
    kinds.map(|kind| kind.responses as f64).sum()
}

#[cfg(test)]
mod tests {
    use fixture::sound::closed;

    use super::*;

    fn kind(endpoint: u32, media_type: &str, beginning: &str, responses: u64) -> ResponseKind {
        ResponseKind {
            endpoint,
            status: 200,
            media_type: Some(media_type.into()),
            beginning: Some(beginning.into()),
            least_bytes: 9,
            most_bytes: 9,
            responses,
            ..ResponseKind::default()
        }
    }

    fn run(kinds: &[ResponseKind]) -> Run {
        Run { response_kinds: kinds.to_vec(), ..closed() }
    }

    #[test]
    fn a_page_of_errors_that_begins_between_two_runs_is_reported() {
        let well = kind(0, "application/json", "{\"ok\":1}", 1_000);
        let page = kind(0, "text/html", "Database connection failed", 5_000);
        let mut seen = KnownResponses::default();
        assert_eq!(seen.changed(&mut run(std::slice::from_ref(&well))), None);
        assert_eq!(seen.changed(&mut run(std::slice::from_ref(&well))), None);
        let mut changed = run(&[page]);
        let sentence = seen.changed(&mut changed).unwrap();
        assert_eq!(changed.validity.verdict, Verdict::Invalid);
        assert!(sentence.contains("became 200, text/html of 9 bytes `Database"), "{sentence}");
    }

    #[test]
    fn errors_with_the_first_member_of_what_came_before_are_reported() {
        let json = |beginning| kind(0, "application/json", beginning, 1_000);
        let mut seen = KnownResponses::default();
        assert_eq!(seen.changed(&mut run(&[json(r#"{"ok":true,"items":[]}"#)])), None);
        let error = json(r#"{"ok":false,"error":"database down"}"#);
        // Of bodies of many lengths one says nothing of the others.
        let varied = ResponseKind { most_bytes: 90, ..error.clone() };
        assert_eq!(seen.clone().changed(&mut run(&[varied])), None);
        assert!(seen.changed(&mut run(&[error])).is_some());
    }

    #[test]
    fn what_came_with_a_change_is_not_usual_afterwards() {
        let json = |responses| kind(0, "application/json", "{", responses);
        let page = |responses| kind(0, "text/html", "Database connection failed", responses);
        let mut seen = KnownResponses::default();
        assert_eq!(seen.changed(&mut run(&[json(1_000)])), None);
        for _ in 0..2 {
            let mut many = run(&[json(100), page(900)]);
            assert!(seen.changed(&mut many).is_some());
            assert!((many.response_changes[0].share - 0.9).abs() < 1e-9);
        }
        let mut mixed = run(&[json(900), page(100)]);
        mixed.response_changes =
            vec![ResponseChange { how: Changed::Mixed, share: 0.1, ..ResponseChange::default() }];
        assert_eq!(seen.changed(&mut mixed), None, "said of the run itself");
        // A look at the idle server.
        assert!(seen.changed(&mut run(&[page(5)])).is_some());
        assert!(seen.changed(&mut run(&[json(100), page(900)])).is_some());
    }

    #[test]
    fn what_came_before_a_run_says_which_of_its_responses_are_usual() {
        let json = |responses| kind(0, "application/json", "{", responses);
        let page = |responses| kind(0, "text/html", "Database connection failed", responses);
        let mut seen = KnownResponses::default();
        assert_eq!(seen.changed(&mut run(&[json(1_000)])), None);
        // Pages of errors from the start, and the usual responses once the load had gone.
        let mut overloaded = run(&[page(900), json(100)]);
        let (before, after) = (page(900), json(100));
        let within = ResponseChange { before, after, share: 1.0, ..ResponseChange::default() };
        overloaded.response_changes = vec![ResponseChange { how: Changed::ForGood, ..within }];
        let reason = Reason {
            code: ReasonCode::ResponsesChanged,
            consequence: Verdict::Invalid,
            text: String::new(),
        };
        overloaded.validity = Validity::of(vec![reason]);
        let sentence = seen.changed(&mut overloaded).unwrap();
        assert!(sentence.contains("became 200, text/html"), "{sentence}");
        assert_eq!(overloaded.validity.reasons.len(), 1, "{:?}", overloaded.validity);
        let [change] = &overloaded.response_changes[..] else {
            panic!("{:?}", overloaded.response_changes)
        };
        assert!((change.share - 0.9).abs() < 1e-9, "{change:?}");
    }

    #[test]
    fn what_is_usual_is_no_change() {
        let json = |beginning, responses| kind(0, "application/json", beginning, responses);
        let page = |endpoint, responses| kind(endpoint, "text/html", "busy", responses);
        for (before, now) in [
            // Bodies that differ, of one look.
            (json("{\"id\":1}", 100), vec![json("{\"name\"", 100)]),
            // A few of another look.
            (json("{", 1_000), vec![json("{", 900), page(0, 100)]),
            (json("{", 1_000), vec![page(0, 10)]),
            // Too few before.
            (json("{", 10), vec![page(0, 1_000)]),
            // Another endpoint.
            (json("{", 1_000), vec![page(1, 1_000)]),
        ] {
            let mut seen = KnownResponses::default();
            assert_eq!(seen.changed(&mut run(&[before])), None);
            assert_eq!(seen.changed(&mut run(&now)), None, "{now:?}");
        }
    }
}
