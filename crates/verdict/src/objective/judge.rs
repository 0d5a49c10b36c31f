//! Objectives against a run: PASS, FAIL or INCONCLUSIVE, each with its figures and its reason.
//!
//! A figure is on a side of its limit when its whole interval of confidence is, which
//! [`statistics`] makes from the run's blocks: requests that follow on one another are no
//! independent samples. What validity leaves undecided is [`super::doubt`]'s.

use model::units::{Nanos, SECOND};
use model::{Judgement, Mix, Ruling, Run};
use statistics::NoInterval;
use statistics::estimate::FEWEST_EFFECTIVE;

use super::doubt::{doubt, doubt_of_trend};
use super::figures::{Endpoint, Figures, Measured, Spread};
use super::words::{self, WIDE, run_longer, times};
use super::{Bound, Goal, Limit, Metric, Objective, Statistic, Subject};
use crate::{Stability, blocks};

/// A run shorter than this has too few blocks of a second.
const SHORTEST: Nanos = 5 * SECOND;
/// A window this long has a length in which dips can be found.
pub const LEAST_FOR_STABILITY: Nanos = 11 * SECOND;
/// Times the length of this run beyond which a longer one is not advised: the figure is as good as on
/// the limit.
const MOST_TIMES_LONGER: f64 = 100.0;

/// Judges a run by objectives, in their order. `endpoints` are those the run has figures of; an
/// objective for the busiest ones makes a judgement for each.
pub fn judge(run: &Run, endpoints: &[Endpoint], objectives: &[Objective]) -> Vec<Judgement> {
    let whole = Figures::of(run);
    let mut judgements = Vec::new();
    for objective in objectives {
        let empty = blank(objective);
        let (subjects, bound) = match (&whole, objective.goal) {
            (_, Goal::Valid) => {
                judgements.push(valid(run, empty));
                continue;
            }
            (Err(damage), _) => {
                judgements.push(undecided(empty, damage.clone()));
                continue;
            }
            (Ok(_), Goal::Stable) => {
                judgements.push(stable(run, empty));
                continue;
            }
            (Ok(whole), Goal::Bound(bound)) => {
                (subjects(&objective.subject, whole, endpoints, &run.plan.mix), bound)
            }
        };
        match subjects {
            Err(reason) => judgements.push(undecided(empty, reason)),
            Ok(subjects) => judgements.extend(subjects.into_iter().map(|(name, figures)| {
                let objective =
                    name.map_or_else(|| empty.objective.clone(), |name| format!("{name}: {bound}"));
                ruled(run, figures, bound, Judgement { objective, ..empty.clone() })
            })),
        }
    }
    judgements
}

/// A judgement before anything is known.
fn blank(objective: &Objective) -> Judgement {
    let bound = match objective.goal {
        Goal::Stable | Goal::Valid => None,
        Goal::Bound(bound) => Some(bound),
    };
    Judgement {
        preset: objective.preset.map(|(preset, _)| preset.name().to_owned()),
        priority: objective.preset.map(|(_, priority)| priority),
        unit: bound.map(|bound| bound.limit.unit()),
        limit: bound.map(|bound| bound.limit.value()),
        ..Judgement::undecided(objective.to_string(), "")
    }
}

fn undecided(judgement: Judgement, reason: impl Into<String>) -> Judgement {
    Judgement { ruling: Ruling::Inconclusive, reason: sentence(&reason.into()), ..judgement }
}

/// A sentence of its own.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str().trim_end_matches('.'))
}

type Named<'a> = (Option<&'a str>, &'a Figures);

/// The figures that a subject means, or why there are none.
fn subjects<'a>(
    subject: &Subject,
    whole: &'a Figures,
    endpoints: &'a [Endpoint],
    mix: &Mix,
) -> Result<Vec<Named<'a>>, String> {
    let named = |endpoint: &'a Endpoint| (Some(endpoint.name.as_str()), &endpoint.figures);
    match subject {
        Subject::Load => Ok(vec![(None, whole)]),
        _ if endpoints.is_empty() => Err("this run has no figures per endpoint".to_owned()),
        Subject::Endpoint(name) => {
            let found = endpoints.iter().find(|endpoint| endpoint.name == *name);
            let known = || endpoints.iter().take(10).map(|e| e.name.as_str()).collect::<Vec<_>>();
            found.map(|endpoint| vec![named(endpoint)]).ok_or_else(|| {
                format!("this run has no endpoint `{name}`; it has {}", known().join(", "))
            })
        }
        Subject::Busiest(count) => {
            Ok(busiest(endpoints, mix).into_iter().take(*count as usize).map(named).collect())
        }
    }
}

/// Endpoints by their part of the load, the largest first: the part that was planned, so that runs of one load agree
/// on the busiest however short they are; or, where parts were not known before, the part that was seen.
fn busiest<'a>(endpoints: &'a [Endpoint], mix: &Mix) -> Vec<&'a Endpoint> {
    let planned = |endpoint: &Endpoint| {
        mix.endpoints.iter().find(|planned| planned.name == endpoint.name)?.share
    };
    let planned: Option<Vec<f64>> = endpoints.iter().map(planned).collect();
    let seen = || endpoints.iter().map(|endpoint| endpoint.figures.attempts as f64).collect();
    let parts = planned.unwrap_or_else(seen);
    let mut by_part: Vec<(&Endpoint, f64)> = endpoints.iter().zip(parts).collect();
    by_part.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    by_part.into_iter().map(|(endpoint, _)| endpoint).collect()
}

fn ruled(run: &Run, figures: &Figures, bound: Bound, empty: Judgement) -> Judgement {
    let Some(measured) = figures.measure(bound.metric, bound.limit) else {
        return match doubt(run, figures, bound, false) {
            Some(doubt) => undecided(empty, doubt),
            None => undecided(empty, "the run holds no samples of this figure"),
        };
    };
    let judgement = with_figures(empty, bound, measured);
    let met = bound.relation.holds(measured.value, bound.limit.value());
    if let Some(doubt) = doubt(run, figures, bound, met) {
        return undecided(judgement, doubt);
    }
    match side(bound, measured) {
        Ruling::Pass => passed(judgement, bound, measured),
        Ruling::Fail => {
            let reason = sentence(&words::margin(&judgement).unwrap_or_default());
            Judgement { ruling: Ruling::Fail, reason, ..judgement }
        }
        Ruling::Inconclusive => open(judgement, figures, bound, measured),
    }
}

fn with_figures(empty: Judgement, bound: Bound, measured: Measured) -> Judgement {
    let limit = bound.limit.value();
    let within =
        if bound.relation.is_upper() { limit - measured.value } else { measured.value - limit };
    let estimate = match measured.spread {
        Spread::Interval(estimate) => Some(estimate),
        Spread::None | Spread::Unknown(_) => None,
    };
    Judgement {
        value: Some(measured.value),
        margin: Some(within),
        low: estimate.map(|estimate| estimate.low),
        high: estimate.map(|estimate| estimate.high).filter(|high| high.is_finite()),
        confidence: estimate.map(|estimate| estimate.confidence),
        ..empty
    }
}

/// Which side of the limit the figure is on, by the figure alone.
fn side(bound: Bound, measured: Measured) -> Ruling {
    let holds = |value| bound.relation.holds(value, bound.limit.value());
    let (low, high) = match measured.spread {
        Spread::None => (measured.value, measured.value),
        Spread::Interval(estimate) => (estimate.low, estimate.high),
        Spread::Unknown(_) => return Ruling::Inconclusive,
    };
    match (holds(low), holds(high)) {
        (true, true) => Ruling::Pass,
        (false, false) => Ruling::Fail,
        _ => Ruling::Inconclusive,
    }
}

fn passed(judgement: Judgement, bound: Bound, measured: Measured) -> Judgement {
    let times_over = times_over(bound, measured);
    let margin = words::margin(&judgement).unwrap_or_default();
    let reason = match times_over {
        Some(over) if over >= WIDE => {
            format!("met {} times over: tuning for this can stop", times(over))
        }
        _ if once(bound) => {
            format!("{margin} in this run; none is allowed, so no interval is given")
        }
        _ => margin,
    };
    Judgement { ruling: Ruling::Pass, times_over, reason: sentence(&reason), ..judgement }
}

/// Whether the objective is that something does not happen even once.
fn once(bound: Bound) -> bool {
    matches!(
        (bound.metric, bound.limit),
        (Metric::Success | Metric::Available, Limit::Percent(100.0))
            | (Metric::Errors(_), Limit::Percent(0.0) | Limit::Count(0))
    )
}

/// How many times over a met objective is met, by the less favourable end of its interval. Of success,
/// the failures count.
fn times_over(bound: Bound, measured: Measured) -> Option<f64> {
    let (low, high) = match measured.spread {
        Spread::Interval(estimate) => (estimate.low, estimate.high),
        _ => (measured.value, measured.value),
    };
    let limit = bound.limit.value();
    let over = match bound.metric {
        Metric::Success | Metric::Available => (1.0 - limit) / (1.0 - low),
        Metric::Qps | Metric::Achieved => low / limit,
        Metric::Served => return None,
        Metric::Latency(..) | Metric::Errors(_) => limit / high,
    };
    (over.is_finite() && over >= 1.0).then_some(over)
}

/// An interval that holds the limit, or none at all: how much longer would do?
fn open(judgement: Judgement, figures: &Figures, bound: Bound, measured: Measured) -> Judgement {
    let so_far_ns = figures.duration_ns;
    let (why, times_longer) = match measured.spread {
        Spread::None => return judgement,
        Spread::Unknown(none @ NoInterval::TooFew { effective_blocks }) => {
            let times = (FEWEST_EFFECTIVE + 1.0) / effective_blocks.max(0.1);
            (blocks::why(none), Some(times))
        }
        Spread::Unknown(none) => (blocks::why(none), None),
        Spread::Interval(estimate) if estimate.high.is_infinite() => {
            let beyond = "too few attempts lie beyond this percentile to bound it".to_owned();
            (beyond, Some(times_for_percentile(figures, bound.metric)))
        }
        Spread::Interval(estimate) => {
            let limit = bound.limit.value();
            let end = if limit >= measured.value { estimate.high } else { estimate.low };
            let times = ((end - measured.value) / (limit - measured.value)).powi(2);
            ("the limit is inside the interval".to_owned(), Some(times))
        }
    };
    let advised = times_longer.filter(|&times| times <= MOST_TIMES_LONGER);
    let longer_ns = advised.map(|times| longer(so_far_ns, times));
    let reason = match (longer_ns, times_longer) {
        (Some(longer_ns), _) => format!("{why}; {}", run_longer(longer_ns, so_far_ns)),
        (None, Some(_)) => {
            format!("{why}, and is so close to the figure that a longer run would not decide it")
        }
        (None, None) => why,
    };
    Judgement { longer_ns, ..undecided(judgement, reason) }
}

/// How many times the attempts it takes for a percentile to be bounded from above: with n independent
/// ones, quantile^n must fall to half of what the confidence leaves.
fn times_for_percentile(figures: &Figures, metric: Metric) -> f64 {
    let needed = attempts_for_percentile(metric).unwrap_or(0.0);
    (needed / figures.attempts.max(1) as f64).max(2.0)
}

/// The attempts that it takes for that, if all are independent; none where the figure is no percentile.
pub(crate) fn attempts_for_percentile(metric: Metric) -> Option<f64> {
    let Metric::Latency(_, Statistic::Percentile(percentile)) = metric else { return None };
    Some(((1.0 - super::figures::CONFIDENCE) / 2.0).ln() / percentile.share().ln())
}

/// In whole seconds, a fifth more than the estimate says: the next run's noise is its own.
fn longer(so_far_ns: Nanos, times: f64) -> Nanos {
    let wanted = (so_far_ns as f64 * times * 1.2).max(SHORTEST as f64);
    let longer_s = ((wanted - so_far_ns as f64) / SECOND as f64).ceil().max(1.0);
    (longer_s as Nanos).saturating_mul(SECOND)
}

/// A run that is less than `VALID` says too little of the server to miss anything.
fn valid(run: &Run, empty: Judgement) -> Judgement {
    match doubt_of_trend(run) {
        Some(doubt) => undecided(empty, doubt),
        None => {
            let reason = "The figures describe the server.".to_owned();
            Judgement { ruling: Ruling::Pass, reason, ..empty }
        }
    }
}

/// Dips and drift are [`crate::stability`]'s to find. Runs that keep no blocks are older than dips.
fn stable(run: &Run, empty: Judgement) -> Judgement {
    if let Some(doubt) = doubt_of_trend(run) {
        return undecided(empty, doubt);
    }
    if run.blocks.is_empty() {
        return undecided(
            empty,
            "this result was measured without looking for dips: measure again",
        );
    }
    match crate::stability(run) {
        Stability::Stable => {
            Judgement { ruling: Ruling::Pass, reason: "There were no dips.".to_owned(), ..empty }
        }
        Stability::Unstable(why) => {
            Judgement { ruling: Ruling::Fail, reason: sentence(&why), ..empty }
        }
        Stability::TooFew => undecided(
            empty,
            "too few responses came to tell a change from chance: send more, or measure longer (-d)",
        ),
        Stability::TooLong => undecided(
            empty,
            "dips are looked for in the first 36 hours of a window, and it was longer",
        ),
        Stability::TooShort => {
            let so_far_ns = run.totals.duration_ns;
            let longer_ns = LEAST_FOR_STABILITY.saturating_sub(so_far_ns).max(SECOND);
            let longer_ns = longer_ns.div_ceil(SECOND) * SECOND;
            let why = format!(
                "the window is too short to find dips; {}",
                run_longer(longer_ns, so_far_ns)
            );
            Judgement { longer_ns: Some(longer_ns), ..undecided(empty, why) }
        }
    }
}

#[cfg(test)]
mod tests;
