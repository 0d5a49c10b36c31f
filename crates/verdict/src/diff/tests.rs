use model::{CommonestResponse, Environment};

use super::*;
use fixture::published::published;
use fixture::sound::{closed, open};

type Spoil = fn(&mut Curve);

fn three() -> [Curve; 3] {
    [published("native"), published("before"), published("after")]
}

fn ours(name: &str) -> Curve {
    let mut curve = Curve::from_run(name, &closed());
    curve.commonest_response = Some(CommonestResponse {
        status: 200,
        bytes: 15,
        body_sha256: "aa".into(),
        seen: 100,
        sampled: 100,
    });
    curve
}

#[test]
fn the_published_comparison() {
    let diff = Diff::of(&three()).unwrap();
    assert_eq!(
        diff.best_sentence(1).unwrap(),
        "before is 22.80 % of native, best against best: 147,834 at 3,000 connections against \
         648,381 at 25,000"
    );
    assert!(diff.best_sentence(2).unwrap().contains("after is 85.34 % of native"));
    assert_eq!(times(diff.best_ratio(0).unwrap()), "100.00 %");
    assert_eq!(diff.rows.len(), 14);
    assert_eq!(times(diff.rows[0].qps_ratio(1).unwrap()), "134.89 %");
    assert_eq!(times(diff.rows[0].mean_ratio(1).unwrap()), "58.72 %");
    assert_eq!(diff.partial_levels().count(), 0);
    let notes = diff.notes.join("\n");
    assert!(notes.contains("the environment of native, before, after is not known"), "{notes}");
    assert!(notes.contains("native: QPS x mean exceeds the connections"), "{notes}");
}

#[test]
fn levels_of_one_side_are_kept() {
    let [native, mut before, _] = three();
    before.rows.truncate(2);
    before.rows[1].level = 300.0;
    let diff = Diff::of(&[native, before]).unwrap();
    assert_eq!(diff.rows.len(), 15);
    assert_eq!(diff.rows[1].level, 300.0);
    assert_eq!((diff.rows[1].qps_ratio(1), diff.rows[1].mean_ratio(1)), (None, None));
    assert_eq!(diff.partial_levels().next(), Some((300.0, vec!["before"])));
    assert_eq!(diff.partial_levels().nth(1), Some((500.0, vec!["native"])));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let [_, before, _] = three();
    assert_eq!(Diff::of(&[]), Err(DiffError::TooFew));
    assert_eq!(Diff::of(std::slice::from_ref(&before)), Err(DiffError::TooFew));
    let rates = Curve::from_run("rates", &open());
    for pair in [[rates.clone(), before.clone()], [before.clone(), rates]] {
        let message = Diff::of(&pair).unwrap_err().to_string();
        assert!(message.starts_with("rates is over rates and before over"), "{message}");
    }
    let empty = Curve { name: "empty".into(), rows: Vec::new(), ..before.clone() };
    assert_eq!(Diff::of(&[empty, before]), Err(DiffError::Empty { name: "empty".into() }));
}

#[test]
fn like_with_like_needs_no_notes() {
    assert_eq!(Diff::of(&[ours("a"), ours("b")]).unwrap().notes, Vec::<String>::new());
}

#[test]
fn differences_are_reported() {
    let cases: [(Spoil, &str); 7] = [
        (
            |a| a.environment = Some(Environment { cpus: 7, ..a.environment.clone().unwrap() }),
            "a and b ran in different environments: processors: 7 against 0",
        ),
        (|a| a.environment = None, "the environment of a is not known"),
        (|a| a.commonest_response = None, "the response of a is not known"),
        (
            |a| a.success_means = SuccessMeaning::Unstated,
            "success counts whatever its tool counted (wrktest.sh: every response, 5xx included) in \
             a and statuses 200-399 in b",
        ),
        (
            |a| a.commonest_response.as_mut().unwrap().status = 301,
            "status 301 against 200; not like for like",
        ),
        (|a| a.commonest_response.as_mut().unwrap().bytes = 4490, "4,490 bytes against 15"),
        (|a| a.rows[0].verdict = Some(Verdict::Invalid), "a is INVALID at 10: leave it out"),
    ];
    for (spoil, needle) in cases {
        let mut a = ours("a");
        spoil(&mut a);
        let notes = Diff::of(&[a, ours("b")]).unwrap().notes;
        assert_eq!(notes.len(), 1, "{needle}: {notes:?}");
        assert!(notes[0].contains(needle), "{needle}: {notes:?}");
    }
}

/// Where the curves share a level they are judged there, with what is known of all responses.
#[test]
fn other_contents_are_reported_where_nothing_is_judged() {
    let mut a = ours("a");
    let commonest = a.commonest_response.as_mut().unwrap();
    (commonest.bytes, commonest.body_sha256) = (17, "bb".into());
    assert_eq!(Diff::of(&[a.clone(), ours("b")]).unwrap().notes, Vec::<String>::new());
    a.rows[0].level += 1.0;
    let notes = Diff::of(&[a.clone(), ours("b")]).unwrap().notes;
    assert!(notes[0].contains("17 bytes against 15"), "{notes:?}");
    a.commonest_response.as_mut().unwrap().bytes = 15;
    let notes = Diff::of(&[a, ours("b")]).unwrap().notes;
    assert!(notes[0].contains("15 bytes each, but of different"), "{notes:?}");
}

#[test]
fn ratios_of_bounds_are_bounds() {
    for (ours_bound, theirs_bound, words) in
        [(false, true, "b is at least 100.00 %"), (true, false, "b is at most 100.00 %")]
    {
        let (mut a, mut b) = (ours("a"), ours("b"));
        for (curve, bounded) in [(&mut a, ours_bound), (&mut b, theirs_bound)] {
            if bounded {
                curve.rows[0].verdict = Some(Verdict::LowerBound);
            }
        }
        let sentence = Diff::of(&[a, b]).unwrap().best_sentence(1).unwrap();
        assert!(sentence.starts_with(words), "{sentence}");
    }
    let mut dead = ours("a");
    dead.rows[0].qps = 0.0;
    let diff = Diff::of(&[dead, ours("b")]).unwrap();
    assert_eq!((diff.best_ratio(1), diff.best_sentence(1)), (None, None));
    assert_eq!(diff.rows[0].qps_ratio(1), None);
}

#[test]
fn a_result_without_a_level_to_go_by_is_reported_whatever_levels_the_other_has() {
    let [mut spoilt, mut other] = [ours("a"), ours("b")];
    other.rows[0].level = 20.0;
    let lacks =
        |spoilt: &Curve| Diff::of(&[spoilt.clone(), other.clone()]).unwrap().lacks_figures();
    assert!(!lacks(&spoilt));
    spoilt.rows[0].verdict = Some(Verdict::Invalid);
    assert!(lacks(&spoilt));
    (spoilt.rows[0].verdict, spoilt.rows[0].cut_short) = (Some(Verdict::Valid), true);
    assert!(lacks(&spoilt));
    let notes = Diff::of(&[spoilt, other]).unwrap().notes.join("\n");
    assert!(notes.contains("a was cut short at 10: its figures are of a part"), "{notes}");
}
