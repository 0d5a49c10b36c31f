use proptest::prelude::*;

use super::*;

fn one(text: &str) -> Objective {
    let mut parsed = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(parsed.len(), 1, "{text}");
    parsed.remove(0)
}

#[test]
fn objectives_as_written() {
    for (written, means) in [
        ("p99<500ms", "p99<500ms"),
        (" p99 < 500 ms ", "p99<500ms"),
        ("p99.9<=1.5s", "p99.9<=1500ms"),
        ("p50.50<1s", "p50.5<1s"),
        ("p0.1<1s", "p0.1<1s"),
        ("p9.0<1s", "p9.0<1s"),
        ("response.mean<=500ms", "mean<=500ms"),
        ("service.p95<80ms", "service.p95<80ms"),
        ("service.max<2m", "service.max<2m"),
        ("success>=99%", "success>=99%"),
        ("success ≥ 99.9 %", "success>=99.9%"),
        ("errors<=0.1%", "errors<=0.1%"),
        ("errors.timeout<=0", "errors.timeout<=0"),
        ("errors.status<5%", "errors.status<5%"),
        ("qps>=1000", "qps>=1000"),
        ("qps>20k", "qps>20000"),
        ("qps>=2.5/s", "qps>=2.5"),
        ("stable", "stable"),
        ("GET /users/{id}: p95<80ms", "GET /users/{id}: p95<80ms"),
        ("POST /v1/users:search :success>=99%", "POST /v1/users:search: success>=99%"),
        ("GET /users/{id} (2): p95<80ms", "GET /users/{id} (2): p95<80ms"),
        ("Sign in: p95<80ms", "Sign in: p95<80ms"),
        ("visit/GET /items: p95<80ms", "visit/GET /items: p95<80ms"),
        ("top3: mean<1s", "top3: mean<1s"),
    ] {
        assert_eq!(one(written).to_string(), means, "{written}");
    }
}

#[test]
fn presets_stand_for_their_objectives() {
    assert_eq!(parse(" baseline ").unwrap(), Preset::Baseline.objectives());
    assert_eq!(parse("top10").unwrap(), Preset::Top10.objectives());
}

/// What is wrong, the column from 1 and width it is shown at, and a word of the message.
#[test]
fn errors_point_at_the_place() {
    for (written, column, width, needle) in [
        ("", 1, 1, "the objective is empty"),
        ("   ", 4, 1, "the objective is empty"),
        ("p99", 4, 1, "in quotes: a shell"),
        ("p99<", 5, 1, "500ms"),
        ("p99<500", 8, 1, "500ms or 500s"),
        ("p99<500mz", 8, 2, "unknown unit"),
        ("p99<fast", 5, 4, "such as 500ms"),
        ("p99<1.2.3s", 5, 5, "not a number"),
        ("p99<0ms", 5, 3, "above zero"),
        ("p99<999999999h", 5, 10, "ten years"),
        ("p99>500ms", 4, 1, "less is better"),
        ("p99==500ms", 4, 2, "use <"),
        ("p99=<500ms", 4, 2, "write <="),
        ("p999<500ms", 2, 3, "write p99.9"),
        ("p9<100ms", 2, 1, "did you mean p90 or p99?"),
        ("p5<100ms", 2, 1, "did you mean p50, p90 or p99?"),
        ("p100<500ms", 2, 3, "below 100"),
        ("p0<500ms", 2, 1, "above 0"),
        ("p99.<500ms", 2, 3, "not a percentile"),
        ("p99.99999<1s", 2, 8, "four decimals"),
        ("p9x<1s", 2, 2, "not a percentile"),
        ("sucess>=99%", 1, 6, "did you mean `success`"),
        ("latency<5ms", 1, 7, "use one of mean"),
        ("baselne", 1, 7, "did you mean `baseline`"),
        ("success>=99", 12, 1, "expected: 99%"),
        ("success>=0.999", 15, 1, "expected: 99.9% or 0.999%"),
        ("success>=1", 11, 1, "expected: 100% or 1%"),
        ("success>=0", 11, 1, "expected: 0%"),
        ("errors<0.01", 8, 4, "write 1% or 0.01%, or a whole number"),
        ("errors<1.5", 8, 3, "write 1.5%, or a whole number"),
        ("median<1s", 1, 6, "did you mean `p50`"),
        ("AVG<1s", 1, 3, "did you mean `mean`"),
        ("error_rate<1%", 1, 10, "did you mean `errors`"),
        ("success>=101%", 10, 4, "from 0% to 100%"),
        ("success>=99ms", 12, 2, "percentage"),
        ("success<99%", 8, 1, "more is better"),
        ("service.success>=99%", 1, 15, "not a latency"),
        ("service.<5ms", 9, 1, "which latency"),
        ("service.p9z<5ms", 10, 2, "not a percentile"),
        ("errors.timout<=1%", 8, 6, "did you mean `timeout`"),
        ("errors.everything<=1%", 8, 10, "dns, connect"),
        ("errors<=0.5", 9, 3, "0.5%"),
        ("errors<=5x", 10, 1, "unknown suffix"),
        ("qps>=0", 6, 1, "above zero"),
        ("qps>=1z", 7, 1, "unknown suffix"),
        ("p99<500ms, qps>=1", 10, 1, "one objective at a time"),
        ("qps>=1,000", 7, 1, "write 1000"),
        ("p99<1,000ms", 6, 1, "write 1000ms"),
        ("achieved>=95%", 1, 8, "--abort-on"),
        ("GET /x: stable", 9, 6, "whole run"),
        ("top0: p99<1s", 1, 4, "top1"),
        (": p99<1s", 1, 1, "name of an endpoint"),
        ("GET /é: p9y<1s", 10, 2, "not a percentile"),
    ] {
        let error = parse(written).unwrap_err();
        assert!(error.message.contains(needle), "{written}: {error}");
        assert_eq!((error.column + 1, error.width), (column, width), "{error}");
    }
}

#[test]
fn a_caret_stands_below_the_place() {
    let error = parse("p99<500mz").unwrap_err().to_string();
    let wanted = "column 8: unknown unit: use ns, us, ms, s, m, h or d\n  p99<500mz\n         ^^";
    assert_eq!(error, wanted);
    let tabs = parse("p99\t<\u{1b}[31m").unwrap_err().to_string();
    assert!(!tabs.contains(['\t', '\u{1b}']), "{tabs}");
}

#[test]
fn abort_rules_as_written() {
    for (written, means) in [
        ("p99>2s for 10s", "p99>2s for 10s"),
        ("achieved < 95 % for 5s", "achieved<95% for 5s"),
        ("errors>5% for 1m", "errors>5% for 1m"),
        ("qps<100 for 2.5s", "qps<100 for 2500ms"),
        ("service.max >= 1s  for  3s", "service.max>=1s for 3s"),
    ] {
        assert_eq!(parse_abort(written).unwrap().to_string(), means, "{written}");
    }
    for (written, column, needle) in [
        ("p99>2s", 7, "how long"),
        ("p99>2s for ever", 12, "such as 500ms"),
        ("p99>2s for 10", 14, "unit is missing"),
        ("p99<2s for 10s", 4, "meets the limit"),
        ("achieved>95% for 10s", 9, "meets the limit"),
        ("stable for 10s", 1, "after a run"),
        ("GET /x: p99>2s for 10s", 1, "whole load"),
        ("p99>2 for 10s", 6, "unit is missing"),
    ] {
        let error = parse_abort(written).unwrap_err();
        assert!(error.message.contains(needle), "{written}: {error}");
        assert_eq!(error.column + 1, column, "{error}");
    }
}

/// Times are read through a float, to the nanosecond up to 104 days.
const TIMES: std::ops::Range<u64> = 1..1 << 53;

fn statistics() -> impl Strategy<Value = Statistic> {
    let percentiles =
        (1u32..1_000_000).prop_map(|n| Statistic::Percentile(Percentile::new(n).unwrap()));
    prop_oneof![Just(Statistic::Mean), Just(Statistic::Max), percentiles]
}

fn percents() -> impl Strategy<Value = Limit> {
    (0.0..=100.0f64).prop_map(Limit::Percent)
}

/// Every bound that is an objective.
fn bounds() -> impl Strategy<Value = Bound> {
    let times = prop_oneof![Just(Time::Response), Just(Time::Service)];
    let upper = prop_oneof![Just(Relation::Below), Just(Relation::AtMost)];
    let lower = prop_oneof![Just(Relation::Above), Just(Relation::AtLeast)];
    let classes = prop::option::of(prop::sample::select(ErrorClass::ALL.to_vec()));
    let latency = (times, statistics(), upper.clone(), TIMES).prop_map(
        |(time, statistic, relation, nanos)| Bound {
            metric: Metric::Latency(time, statistic),
            relation,
            limit: Limit::Time(nanos),
        },
    );
    let counts = (0..1_000_000_000u64).prop_map(Limit::Count);
    let errors =
        (classes, upper, prop_oneof![percents(), counts]).prop_map(|(class, relation, limit)| {
            Bound { metric: Metric::Errors(class), relation, limit }
        });
    let success = (lower.clone(), percents()).prop_map(|(relation, limit)| Bound {
        metric: Metric::Success,
        relation,
        limit,
    });
    let qps = (lower, 0.001..1e9f64).prop_map(|(relation, per_s)| Bound {
        metric: Metric::Qps,
        relation,
        limit: Limit::PerS(per_s),
    });
    prop_oneof![latency, errors, success, qps]
}

fn objectives() -> impl Strategy<Value = Objective> {
    let endpoints = "(GET|POST|PATCH) /[a-z0-9/{}:._%-]{0,20}".prop_map(Subject::Endpoint);
    let subjects =
        prop_oneof![Just(Subject::Load), endpoints, (1u32..2000).prop_map(Subject::Busiest)];
    let bounded = (subjects, bounds()).prop_map(|(subject, bound)| Objective {
        subject,
        goal: Goal::Bound(bound),
        preset: None,
    });
    let of_the_run = |goal| Objective { subject: Subject::Load, goal, preset: None };
    let words = [Goal::Stable, Goal::Valid].map(of_the_run);
    prop_oneof![1 => prop::sample::select(words.to_vec()), 20 => bounded]
}

proptest! {
    #[test]
    fn printed_then_parsed_is_the_same(objective in objectives()) {
        prop_assert_eq!(parse(&objective.to_string()).unwrap(), vec![objective]);
    }

    #[test]
    fn blanks_around_a_sign_change_nothing(bound in bounds(), lead in " {0,3}", around in " {0,3}") {
        let sign = bound.relation.sign();
        let wide = format!("{lead}{}{around}{sign}{around}{}{lead}", bound.metric, bound.limit);
        prop_assert_eq!(one(&wide).goal, Goal::Bound(bound));
    }

    #[test]
    fn an_objective_turned_round_is_an_abort_rule(bound in bounds(), held_ns in TIMES) {
        let relation = match bound.relation {
            Relation::Below => Relation::AtLeast,
            Relation::AtMost => Relation::Above,
            Relation::Above => Relation::AtMost,
            Relation::AtLeast => Relation::Below,
        };
        let rule = AbortRule { breach: Bound { relation, ..bound }, held_ns };
        prop_assert_eq!(parse_abort(&rule.to_string()).unwrap(), rule);
        let as_wanted = format!("{bound} for 10s");
        prop_assert!(parse_abort(&as_wanted).is_err());
    }

    #[test]
    fn whatever_is_written_the_caret_stays_in_sight(text in "\\PC{0,40}") {
        for error in [parse(&text).err(), parse_abort(&text).err()].into_iter().flatten() {
            let length = text.chars().count();
            prop_assert!(error.column <= length, "{error}");
            prop_assert!(error.width >= 1 && error.column + error.width <= length.max(error.column + 1));
        }
    }

    #[test]
    fn near_misses_never_panic(objective in objectives(), at in 0..60usize, with in "\\PC") {
        let mut chars: Vec<char> = objective.to_string().chars().collect();
        let at = at % chars.len();
        chars.splice(at..=at, with.chars());
        let text: String = chars.into_iter().collect();
        if let Err(error) = parse(&text) {
            prop_assert!(error.column <= text.chars().count(), "{error}");
        }
    }
}
