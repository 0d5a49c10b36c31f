//! What a search is asked: the objectives of `--slo`. Every level must hold them; but throughput,
//! which a low level cannot have, is asked of the capacity that was found.
//!
//! A step is short, so its figures are judged as far as they go: an interval of confidence that contains
//! the limit decides nothing, and where there is no interval the figure itself counts. One step's result is a
//! vote in [`super::estimate`]; the hold that confirms is judged more strictly.

use std::slice;

use model::capacity::{Margin, Outcome, Purpose, Unit};
use model::units::{SECOND, show_duration};
use model::{Arrivals, EndpointPlan, Judgement, LoadLine, Nanos, Ruling, Run};

use statistics::proportion::clopper_pearson;

use super::margin::{MetricMargin, Of};
use crate::objective::figures::CONFIDENCE;
use crate::objective::{self, Bound, Endpoint, Goal, Limit, Metric, Objective, Subject};

/// A time up to this share of its limit is far inside of it: what is unclear about it is for want of attempts, and
/// not because the load is near what the server carries.
const FAR_INSIDE: f64 = 0.5;

/// A hold confirms a rate if at least this share of the arrivals that it stands for was due.
const LEAST_ARRIVALS: f64 = 0.9;

/// The default objectives: response time and success of `baseline`.
const DEFAULT: [&str; 2] = ["mean<=500ms", "success>=99%"];

/// The objectives that a level must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchObjectives(Vec<Objective>);

impl Default for SearchObjectives {
    fn default() -> Self {
        let read = |text: &&str| objective::parse(text).expect("the defaults are objectives");
        Self(DEFAULT.iter().flat_map(read).collect())
    }
}

impl SearchObjectives {
    /// These objectives; the default ones where there are none.
    pub fn of(objectives: Vec<Objective>) -> Self {
        if objectives.is_empty() { Self::default() } else { Self(objectives) }
    }

    /// As `--slo` takes them, presets spelt out.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    /// Attempts of a load of these endpoints that it takes to bound the percentiles asked for, and half as many again, as not
    /// all are independent; 0 where none is asked for.
    pub fn hold_attempts(&self, endpoints: &[EndpointPlan]) -> u64 {
        let needed = |asked: &Objective| match asked.goal {
            Goal::Bound(bound) => {
                let own = objective::attempts_for_percentile(bound.metric)?;
                Some(own / least_share(&asked.subject, endpoints))
            }
            Goal::Stable | Goal::Valid => None,
        };
        let most = self.0.iter().filter_map(needed).fold(0.0, f64::max);
        (1.5 * most) as u64
    }

    /// Whether the server's trend is asked for, which takes a hold of
    /// [`objective::LEAST_FOR_STABILITY`].
    pub fn asks_for_stability(&self) -> bool {
        self.0.iter().any(|asked| asked.goal == Goal::Stable)
    }

    /// Why runs like this one can never hold an objective: it is of an endpoint that they do not have.
    /// None where they can, or where no response came.
    pub fn unanswerable(&self, run: &Run, endpoints: &[Endpoint]) -> Option<String> {
        let missing = |asked: &&Objective| match &asked.subject {
            Subject::Load => false,
            Subject::Endpoint(name) => !endpoints.iter().any(|endpoint| endpoint.name == *name),
            Subject::Busiest(_) => endpoints.is_empty(),
        };
        let asked = self.0.iter().find(missing).filter(|_| run.totals.requests > 0)?;
        let judged = objective::judge(run, endpoints, slice::from_ref(asked)).into_iter().next()?;
        Some(format!("'{}': {}", judged.objective, judged.reason))
    }

    /// What a step's run makes of the objectives that each level must hold, and of its arrivals where a hold had
    /// too few of them.
    pub fn margins(
        &self,
        run: &Run,
        endpoints: &[Endpoint],
        purpose: Purpose,
    ) -> Vec<MetricMargin> {
        let of_levels = self.0.iter().filter(|asked| throughput(asked).is_none());
        let judged = of_levels.flat_map(|asked| {
            let judged = objective::judge(run, endpoints, slice::from_ref(asked)).into_iter();
            judged.filter_map(|judged| {
                let (margin, of) =
                    (margin(run, asked.goal, &judged, purpose)?, Of::objective(asked));
                if let Some(endpoint) = untried(&judged, endpoints) {
                    let why = Some(none_due(run, endpoint));
                    let margin = Margin { outcome: Outcome::Unclear, why, untried: true, ..margin };
                    let named = matches!(asked.subject, Subject::Endpoint(_));
                    let left_open = !named || purpose != Purpose::Hold;
                    return Some(MetricMargin { margin, of, too_few: true, left_open });
                }
                let too_few = margin.outcome == Outcome::Unclear
                    && judged.high.is_none()
                    && margin.value <= FAR_INSIDE * margin.limit;
                Some(MetricMargin { margin, of, too_few, left_open: false })
            })
        });
        judged.chain(few_arrivals(run, purpose)).collect()
    }

    /// What the capacity found makes of the throughput asked for: each of those objectives with its
    /// ruling. What was held is decided; what lies inside the interval above it is not.
    pub fn throughput(&self, line: &LoadLine) -> Vec<(String, Ruling)> {
        let most = line.rate_high_per_s.filter(|_| !line.at_least).unwrap_or(f64::INFINITY);
        let ruled = |bound: Bound| {
            let requests = |arrivals_per_s| arrivals_per_s * line.requests_per_arrival;
            let holds = |per_s| bound.relation.holds(requests(per_s), bound.limit.value());
            match () {
                () if holds(line.rate_per_s) => Ruling::Pass,
                () if holds(most) => Ruling::Inconclusive,
                () => Ruling::Fail,
            }
        };
        let asked = self.0.iter().filter_map(|asked| Some((asked.to_string(), throughput(asked)?)));
        asked.map(|(name, bound)| (name, ruled(bound))).collect()
    }
}

/// The throughput of the whole load that an objective asks for, if it does.
fn throughput(asked: &Objective) -> Option<Bound> {
    match (asked.goal, &asked.subject) {
        (Goal::Bound(bound), Subject::Load) if bound.metric == Metric::Qps => Some(bound),
        _ => None,
    }
}

/// The part of all requests that the rarest of the endpoints has which an objective is of; 1 where that is not known.
fn least_share(subject: &Subject, endpoints: &[EndpointPlan]) -> f64 {
    let share = |endpoint: &EndpointPlan| endpoint.share.filter(|share| *share > 0.0);
    let found = match subject {
        Subject::Load => None,
        Subject::Endpoint(name) => {
            endpoints.iter().find(|endpoint| endpoint.name == *name).and_then(share)
        }
        Subject::Busiest(count) => {
            let mut shares: Vec<f64> = endpoints.iter().filter_map(share).collect();
            shares.sort_by(|a, b| b.total_cmp(a));
            shares.into_iter().take(*count as usize).next_back()
        }
    };
    found.unwrap_or(1.0)
}

/// The endpoint that a judgement is of, if no request of it was due: a short step sends few requests, and a rare
/// endpoint's are not among them.
fn untried<'a>(judged: &Judgement, endpoints: &'a [Endpoint]) -> Option<&'a Endpoint> {
    let names = |endpoint: &Endpoint| {
        let rest = judged.objective.strip_prefix(endpoint.name.as_str());
        rest.is_some_and(|rest| rest.starts_with(": "))
    };
    let nothing = |endpoint: &&Endpoint| endpoint.figures.attempts == 0 && names(endpoint);
    endpoints.iter().find(nothing).filter(|_| judged.value.is_none())
}

/// That a run sent nothing to an endpoint, and how rarely a load like it does.
fn none_due(run: &Run, endpoint: &Endpoint) -> String {
    let planned = run.plan.mix.endpoints.iter().find(|planned| planned.name == endpoint.name);
    let share = planned.and_then(|planned| planned.share).unwrap_or(0.0);
    let each_ns = SECOND as f64 / (share * run.rates.requests_per_s);
    let rarely = each_ns
        .is_finite()
        .then(|| format!("; one is due about every {}", show_duration(each_ns as Nanos)));
    format!("none of its requests was due{}", rarely.unwrap_or_default())
}

/// A judgement as a margin; none where a step is too short for it, which is left to the hold.
fn margin(run: &Run, goal: Goal, judged: &Judgement, purpose: Purpose) -> Option<Margin> {
    let of = |value, limit, unit, outcome| {
        let why = (outcome == Outcome::Unclear).then(|| why(judged, unit));
        let objective = judged.objective.clone();
        Some(Margin { objective, value, limit, unit, outcome, why, untried: false })
    };
    match goal {
        Goal::Bound(bound) => {
            let unit = match judged.unit {
                Some(model::objective::Unit::Ns) => Unit::Nanoseconds,
                Some(model::objective::Unit::Ratio) => Unit::Ratio,
                _ => Unit::Count,
            };
            let value = judged.value.unwrap_or(0.0);
            of(value, bound.limit.value(), unit, outcome(run, bound, judged, purpose))
        }
        // The judge lets no INVALID level hold anyway.
        Goal::Valid => None,
        Goal::Stable => {
            let outcome = match judged.ruling {
                Ruling::Pass => Outcome::Held,
                Ruling::Fail => Outcome::Broke,
                Ruling::Inconclusive if purpose == Purpose::Hold => Outcome::Unclear,
                Ruling::Inconclusive => return None,
            };
            of(run.dips.len() as f64, 0.0, Unit::Count, outcome)
        }
    }
}

/// Why a figure does not show on which side of its limit it is.
fn why(judged: &Judgement, unit: Unit) -> String {
    let value = |value| super::words::value(unit, value);
    match (judged.low, judged.high) {
        (Some(low), Some(high)) => {
            format!("interval {} to {}", value(low), value(high))
        }
        (Some(low), None) => {
            format!("{} or more: too few independent attempts to bound it", value(low))
        }
        _ => judged.reason.trim_end_matches('.').to_lowercase(),
    }
}

/// Whether so few attempts failed that chance explains it: a server whose share of failures is the limit's shows as
/// many or more in one run of forty.
fn by_chance(run: &Run, bound: Bound, value: f64) -> bool {
    let limit = bound.limit.value();
    let succeeded = match bound.metric {
        Metric::Success => (value, limit),
        Metric::Errors(_) if matches!(bound.limit, Limit::Percent(_)) => (1.0 - value, 1.0 - limit),
        _ => return false,
    };
    few_failed(run, succeeded.0, succeeded.1)
}

/// Whether a run whose attempts succeeded to this share may be of a server with this other, larger share.
pub(super) fn few_failed(run: &Run, success: f64, larger: f64) -> bool {
    let attempts = run.totals.attempts as f64;
    let (_, high) = clopper_pearson(success * attempts, attempts, CONFIDENCE);
    larger < 1.0 && high >= larger
}

fn outcome(run: &Run, bound: Bound, judged: &Judgement, purpose: Purpose) -> Outcome {
    let limit = bound.limit.value();
    // Nothing of what the figure is made of came to an end.
    let Some(value) = judged.value else { return Outcome::Broke };
    let holds = |value| bound.relation.holds(value, limit);
    let by_value = if holds(value) { Outcome::Held } else { Outcome::Broke };
    match (judged.low, judged.high) {
        // Too few attempts lie beyond the percentile to bound it.
        (Some(low), None) if holds(low) && purpose == Purpose::Hold => Outcome::Unclear,
        // A few failures may come by chance: the hold will tell.
        (None, None) if purpose != Purpose::Hold && by_chance(run, bound, value) => Outcome::Held,
        // Not one attempt spoke against it, but they were too few to prove it.
        (Some(low), Some(high)) if purpose != Purpose::Hold && (low == value || value == high) => {
            by_value
        }
        (Some(low), Some(high)) if holds(low) != holds(high) => Outcome::Unclear,
        _ => by_value,
    }
}

/// The guard on a hold of random arrivals, of which a short window may by chance have far fewer than its rate
/// stands for: what holds under those is no evidence for that rate. Absent where there were enough.
fn few_arrivals(run: &Run, purpose: Purpose) -> Option<MetricMargin> {
    let random = run.plan.arrivals == Some(Arrivals::Poisson) && run.session_pace().is_none();
    let rate_per_s = run.plan.rate_per_s.filter(|_| random && purpose == Purpose::Hold)?;
    let value = run.rates.offered_per_s / rate_per_s;
    let margin = Margin {
        objective: format!("arrivals>={}%", LEAST_ARRIVALS * 100.0),
        value,
        limit: LEAST_ARRIVALS,
        unit: Unit::Ratio,
        outcome: Outcome::Unclear,
        why: Some("by chance, fewer arrivals were due than at this rate".to_owned()),
        untried: false,
    };
    let weighed = MetricMargin { margin, of: Of::Pace, too_few: true, left_open: false };
    (value < LEAST_ARRIVALS).then_some(weighed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::figures::Figures;
    use crate::objective::parse;
    use fixture::sound::{around, open};

    fn asked(texts: &[&str]) -> SearchObjectives {
        SearchObjectives::of(texts.iter().flat_map(|text| parse(text).unwrap()).collect())
    }

    fn outcomes(asked: &SearchObjectives, run: &Run, purpose: Purpose) -> Vec<(String, Outcome)> {
        let margins = asked.margins(run, &[], purpose).into_iter();
        margins.map(|weighed| (weighed.margin.objective, weighed.margin.outcome)).collect()
    }

    fn named(outcomes: &[(&str, Outcome)]) -> Vec<(String, Outcome)> {
        outcomes.iter().map(|&(name, outcome)| (name.to_owned(), outcome)).collect()
    }

    #[test]
    fn nothing_asked_is_the_default() {
        assert_eq!(SearchObjectives::of(Vec::new()).names(), DEFAULT);
        assert_eq!(asked(&["p99<80ms"]).names(), ["p99<80ms"]);
        let baseline = ["mean<=500ms", "success>=99%", "qps>=1000", "stable"];
        assert_eq!(asked(&["baseline"]).names(), baseline);
    }

    #[test]
    fn levels_are_judged_by_everything_but_throughput() {
        use Outcome::{Broke, Held};
        let mut run = open();
        let held = named(&[("mean<=500ms", Held), ("success>=99%", Held)]);
        assert_eq!(outcomes(&asked(&["baseline"]), &run, Purpose::Search), held);
        run.response_ns = around(600_000_000, 10_000);
        let broke = named(&[("mean<=500ms", Broke), ("success>=99%", Held)]);
        assert_eq!(outcomes(&asked(&["baseline"]), &run, Purpose::Search), broke);
        assert_eq!(outcomes(&asked(&["mean<1s"]), &run, Purpose::Search)[0].1, Held);
    }

    #[test]
    fn a_course_is_left_to_the_hold() {
        let stable = asked(&["stable"]);
        assert!(stable.asks_for_stability());
        assert_eq!(outcomes(&stable, &open(), Purpose::Search), []);
        let unclear = named(&[("stable", Outcome::Unclear)]);
        assert_eq!(outcomes(&stable, &open(), Purpose::Hold), unclear);
    }

    fn judged(value: f64, low: Option<f64>, high: Option<f64>) -> Judgement {
        serde_json::from_value(serde_json::json!({
            "objective": "p99<500ms", "ruling": "INCONCLUSIVE", "unit": "ns", "limit": 5e8,
            "value": value, "margin": 5e8 - value, "low": low, "high": high,
            "confidence": null, "times_over": null, "longer_ns": null, "reason": "",
        }))
        .unwrap()
    }

    #[test]
    fn a_few_failures_of_a_short_step_may_be_chance() {
        use Outcome::{Broke, Held};
        for (text, attempts, failed, search) in [
            ("success>=99%", 37, 1, Held),
            ("success>=99%", 37, 3, Broke),
            ("success>=99%", 10_000, 150, Broke),
            ("errors<=1%", 69, 1, Held),
            ("errors<=1%", 69, 9, Broke),
            ("success>=100%", 37, 1, Broke),
        ] {
            let Goal::Bound(bound) = parse(text).unwrap()[0].goal else { panic!("a bound") };
            let mut run = open();
            run.totals.attempts = attempts;
            let share = failed as f64 / attempts as f64;
            let value = if text.starts_with("success") { 1.0 - share } else { share };
            let judged = judged(value, None, None);
            let of = |purpose| outcome(&run, bound, &judged, purpose);
            assert_eq!(
                (of(Purpose::Search), of(Purpose::Hold)),
                (search, Broke),
                "{text} {failed}"
            );
        }
    }

    #[test]
    fn an_interval_that_holds_the_limit_decides_nothing() {
        use Outcome::{Broke, Held, Unclear};
        let Goal::Bound(bound) = parse("p99<500ms").unwrap()[0].goal else { panic!("a bound") };
        for (value, low, high, search, hold) in [
            (4e8, None, None, Held, Held),
            (5e8, None, None, Broke, Broke),
            (4e8, Some(3e8), Some(4.9e8), Held, Held),
            (4e8, Some(3e8), Some(6e8), Unclear, Unclear),
            (6e8, Some(4e8), Some(7e8), Unclear, Unclear),
            (6e8, Some(5.5e8), Some(7e8), Broke, Broke),
            (4e8, Some(3e8), None, Held, Unclear),
            (6e8, Some(5.5e8), None, Broke, Broke),
        ] {
            let judged = judged(value, low, high);
            assert_eq!(outcome(&open(), bound, &judged, Purpose::Search), search, "{judged:?}");
            assert_eq!(outcome(&open(), bound, &judged, Purpose::Hold), hold, "{judged:?}");
        }
    }

    /// A step of a slow API has too few attempts to prove 99 %, however long it is searched.
    #[test]
    fn few_attempts_of_which_none_failed_are_a_vote_and_no_proof() {
        use Outcome::{Broke, Held, Unclear};
        let unclear = judged(4e8, Some(3e8), Some(6e8));
        assert_eq!(why(&unclear, Unit::Nanoseconds), "interval 300ms to 600ms");
        let unbounded = judged(4e8, Some(3e8), None);
        assert_eq!(
            why(&unbounded, Unit::Nanoseconds),
            "300ms or more: too few independent attempts to bound it"
        );
        for (text, value, low, high, search, hold) in [
            ("success>=99%", 1.0, 0.97, 1.0, Held, Unclear),
            ("success>=99%", 0.995, 0.97, 0.999, Unclear, Unclear),
            ("success>=99%", 0.0, 0.0, 0.1, Broke, Broke),
            ("errors<=1%", 0.0, 0.0, 0.03, Held, Unclear),
        ] {
            let Goal::Bound(bound) = parse(text).unwrap()[0].goal else { panic!("a bound") };
            let judged = judged(value, Some(low), Some(high));
            assert_eq!(outcome(&open(), bound, &judged, Purpose::Search), search, "{text} {value}");
            assert_eq!(outcome(&open(), bound, &judged, Purpose::Hold), hold, "{text} {value}");
        }
    }

    #[test]
    fn endpoints_without_figures_can_never_be_held() {
        let of_endpoint = asked(&["GET /users/{id}: p95<80ms"]);
        let endpoints = |tried: bool| -> Vec<Endpoint> {
            let mut run = open();
            if !tried {
                run.totals.attempts = 0;
                run.totals.requests = 0;
                run.response_ns = around(0, 0);
            }
            let figures = Figures::of(&run).unwrap();
            vec![Endpoint { name: "GET /users/{id}".to_owned(), figures }]
        };
        // Of which a step sent nothing it knows nothing: it is judged without it, but does not confirm.
        for (texts, purpose, outcome) in [
            ("GET /users/{id}: p95<80ms", Purpose::Search, Outcome::Held),
            ("GET /users/{id}: p95<80ms", Purpose::Hold, Outcome::Unclear),
            ("top10", Purpose::Hold, Outcome::Held),
        ] {
            let asked = asked(&[texts]);
            assert_eq!(asked.unanswerable(&open(), &endpoints(false)), None);
            let margins = asked.margins(&open(), &endpoints(false), purpose);
            let untried = |weighed: &MetricMargin| (weighed.margin.outcome, weighed.margin.untried);
            assert!(!margins.is_empty());
            assert!(margins.iter().all(|weighed| untried(weighed) == (Outcome::Unclear, true)));
            let judged = crate::capacity::judge(&open(), margins, None);
            let too_few = outcome == Outcome::Unclear;
            assert_eq!((judged.outcome, judged.too_few), (outcome, too_few), "{texts} {purpose:?}");
        }
        let held = of_endpoint.margins(&open(), &endpoints(true), Purpose::Search);
        assert_eq!(held.len(), 1, "{held:?}");
        let why = of_endpoint.unanswerable(&open(), &[]).unwrap();
        assert!(why.contains("GET /users/{id}: p95<80ms") && why.contains("endpoint"), "{why}");
        assert_eq!(asked(&["p95<80ms"]).unanswerable(&open(), &[]), None);
        let mut silent = open();
        silent.totals.requests = 0;
        assert_eq!(of_endpoint.unanswerable(&silent, &[]), None);
    }

    #[test]
    fn a_hold_has_as_many_attempts_as_the_rarest_endpoint_asked_about_needs() {
        let of_share = |name: &str, share| EndpointPlan {
            name: name.to_owned(),
            share,
            ..EndpointPlan::default()
        };
        let mix = [
            of_share("GET /often", Some(0.9)),
            of_share("GET /rare", Some(0.1)),
            of_share("GET /at-times", None),
        ];
        let alone = asked(&["p95<80ms"]).hold_attempts(&mix);
        assert!(alone > 0);
        for (text, times) in [
            ("GET /rare: p95<80ms", 10.0),
            ("GET /often: p95<80ms", 1.0 / 0.9),
            ("GET /at-times: p95<80ms", 1.0),
            ("GET /rare: mean<80ms", 0.0),
        ] {
            let attempts = asked(&[text]).hold_attempts(&mix) as f64;
            assert!((attempts - times * alone as f64).abs() <= times + 1.0, "{text}: {attempts}");
        }
    }

    #[test]
    fn an_untried_objective_says_how_rarely_it_is_tried() {
        let mut run = open();
        run.rates.requests_per_s = 1000.0;
        run.plan.mix.endpoints = vec![EndpointPlan {
            name: "GET /rare".to_owned(),
            share: Some(0.0001),
            ..EndpointPlan::default()
        }];
        let mut nothing = open();
        (nothing.totals.attempts, nothing.totals.requests) = (0, 0);
        nothing.response_ns = around(0, 0);
        let figures = Figures::of(&nothing).unwrap();
        let endpoints = [Endpoint { name: "GET /rare".to_owned(), figures }];
        let of_rare = asked(&["GET /rare: p95<80ms"]);
        let margins = of_rare.margins(&run, &endpoints, Purpose::Search);
        let said = "GET /rare: p95<80ms: untried (none of its requests was due; one is due about every 10.0s)";
        assert_eq!(crate::capacity::words::measured(&margins[0].margin), said);
    }

    #[test]
    fn a_hold_confirms_no_rate_of_which_it_had_too_few_arrivals() {
        let mut run = open();
        run.plan.arrivals = Some(Arrivals::Poisson);
        let arrivals = |run: &Run, purpose| {
            let mut margins = asked(&["mean<=500ms"]).margins(run, &[], purpose).into_iter();
            let of_pace = margins.find(|weighed| weighed.of == Of::Pace);
            of_pace.map(|weighed| (weighed.margin.outcome, weighed.too_few))
        };
        run.rates.offered_per_s = 716.0;
        assert_eq!(arrivals(&run, Purpose::Hold), Some((Outcome::Unclear, true)));
        // A step of the search is one vote of many.
        assert_eq!(arrivals(&run, Purpose::Search), None);
        let judged = crate::capacity::judge(
            &run,
            asked(&["mean<=500ms"]).margins(&run, &[], Purpose::Hold),
            None,
        );
        assert_eq!((judged.outcome, judged.too_few), (Outcome::Unclear, true), "{judged:?}");
        run.rates.offered_per_s = 960.0;
        assert_eq!(arrivals(&run, Purpose::Hold), None);
    }
}
