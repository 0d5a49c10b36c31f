//! Why a change is not kept, in words.

use model::Verdict;
use model::tuning::Station;
use verdict::comparison::Effect;

use super::is_gain;

/// Why a change is discarded whose effect is this: what forbids to call it a gain, or that it is none for certain.
/// `of_before` is the worst verdict on the runs of the server before.
pub fn why_discarded(
    [before, changed]: [&Station; 2],
    of_before: Verdict,
    effect: &Effect,
) -> String {
    let Effect { low, high, .. } = effect;
    if *high < 1.0 {
        return format!("it is slower, {low:.2} to {high:.2} times");
    }
    if *low <= 1.0 {
        return format!(
            "its interval, {low:.2} to {high:.2} times, reaches down to 1, so that it may bring nothing: more --rounds make \
             it narrower, --keep keeps the change all the same"
        );
    }
    debug_assert!(!is_gain(changed.verdict, of_before));
    let [of_before, of_changed] = [of_before, changed.verdict].map(Verdict::name);
    format!(
        "the runs of `{}` are {of_before}, those of `{}` {of_changed}, so that there may be no gain; --keep keeps it",
        before.name, changed.name
    )
}

#[cfg(test)]
mod tests {
    use verdict::comparison::Measure;
    use verdict::comparison::rounds::paired;

    use super::super::station;
    use super::*;

    #[test]
    fn what_is_discarded_is_told_why() {
        let [before, mut changed] =
            ["start", "cache"].map(|name| station(name, "http://127.0.0.1:1/", None));
        let effect = |ratios: [f64; 3]| {
            let log = paired(&ratios.map(|ratio| [1.0, ratio])).unwrap();
            Effect::of(Measure::Qps, [1.0, 1.0], log, 0.0)
        };
        let why = |ratios, changed: &Station, of_before| {
            why_discarded([&before, changed], of_before, &effect(ratios))
        };
        let valid = Verdict::Valid;
        let wide = why([0.9, 2.0, 4.0], &changed, valid);
        assert!(wide.contains("reaches down to 1") && wide.contains("--rounds"), "{wide}");
        let slow = why([0.5, 0.51, 0.52], &changed, valid);
        assert!(slow.starts_with("it is slower, 0.4"), "{slow}");
        changed.verdict = Verdict::Invalid;
        let invalid = why([2.0, 2.01, 2.02], &changed, valid);
        assert!(invalid.contains("`start` are VALID, those of `cache` INVALID"), "{invalid}");
        changed.verdict = valid;
        let bound = why([2.0, 2.01, 2.02], &changed, Verdict::LowerBound);
        assert!(bound.contains("`start` are LOWER_BOUND"), "{bound}");
    }
}
