//! What a search knows: the capacity with its interval, why it is not more, and the load line that
//! is written of it.

use model::capacity::{CapacitySearch, Outcome, Purpose, SearchStep};
use model::loadline::{
    DailyUsers, EndpointShare, LimitedBy, Overload, SCHEMA, Saturated, TargetPrint, ValueAt,
};
use model::plan::Today;
use model::{
    Arriving, EndpointRun, LevelKind, LoadLine, Nanos, Reason, ReasonCode, Ruling, Run, Verdict,
};

use super::judge::{only_adds, usual_responses};
use super::{Fed, Search, SearchObjectives, reverse, saturated, step};

/// What a search knows by now.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The highest level that held, confirmed where any was.
    pub level: f64,
    /// The capacity is hardly below this.
    pub low: f64,
    /// The capacity is hardly above this; absent where nothing above was measured.
    pub high: Option<f64>,
    /// Levels inside the interval, above `level`, that broke: ascending.
    pub broke_inside: Vec<f64>,
    /// Levels below `level` that broke: ascending.
    pub broke_below: Vec<f64>,
    /// Window of the hold that confirmed it.
    pub confirmed_for_ns: Option<Nanos>,
    /// Why not more; absent where nothing above broke.
    pub limited_by: Option<LimitedBy>,
    /// What an overload did; absent where it was not tried.
    pub overload: Option<Overload>,
    /// What it carries while a bounded number of requests keeps it busy; absent where that was not tried, or broke.
    pub saturated: Option<Saturated>,
    /// Index, among the steps fed, of the run at the level.
    pub step: usize,
    /// Whether that run is a `LOWER_BOUND`, or its latencies are partly the generator's: the server was made to look no
    /// faster than it is, there and above.
    pub bounded: bool,
}

impl Answer {
    /// Whether more may be carried.
    pub fn at_least(&self) -> bool {
        self.high.is_none() || self.bounded
    }
}

/// See [`Search::answer`].
pub(super) fn of(search: &Search) -> Option<Answer> {
    let estimate = search.estimate();
    let (low, high) = estimate.interval();
    let step = best(search, estimate.quantile(0.5))?;
    let fed = &search.fed[step];
    let level = fed.step.level;
    let broke_above = lowest_broke(search, level);
    // Whole numbers: the belief between two of them counts for the lower one.
    let (low, high) = match search.settings().kind {
        LevelKind::Rate => (step::rounded_out(low, f64::floor), step::rounded_out(high, f64::ceil)),
        LevelKind::Concurrency => ((low + 0.1).floor().max(1.0), high.floor()),
    };
    let high = broke_above.map(|_| high.max(level));
    Some(Answer {
        level,
        low: low.min(level),
        high,
        broke_inside: broke(search, |at| at > level && high.is_some_and(|high| at < high)),
        broke_below: broke(search, |at| at < level),
        confirmed_for_ns: (fed.step.purpose == Purpose::Hold).then_some(fed.step.window_ns),
        limited_by: broke_above.and_then(|above| limited_by(fed, above)),
        overload: reverse::overload(search),
        saturated: saturated::found(search),
        step,
        bounded: bounds(fed).next().is_some(),
    })
}

/// What made the server look no faster than it is in a step that held: that its run is a `LOWER_BOUND`, or `INVALID` by
/// a delay of the generator's alone.
pub(super) fn bounds(fed: &Fed) -> impl Iterator<Item = &Reason> {
    let bounds = |reason: &&Reason| match reason.consequence {
        Verdict::Valid => false,
        Verdict::LowerBound => true,
        Verdict::Invalid => only_adds(reason),
    };
    fed.judged.reasons.iter().filter(bounds)
}

/// See [`Search::limiting_step`].
pub(super) fn limiting_step(search: &Search) -> Option<usize> {
    let level = best(search, search.estimate().quantile(0.5)).map(|at| search.fed[at].step.level);
    let loads = || {
        search.fed.iter().enumerate().filter(|(_, fed)| {
            matches!(fed.step.purpose, Purpose::Search | Purpose::Hold | Purpose::Overload)
        })
    };
    let broke = || loads().filter(|(_, fed)| fed.judged.outcome == Outcome::Broke);
    let above = || broke().filter(|(_, fed)| level.is_none_or(|level| fed.step.level > level));
    let lowest = |a: &(usize, &Fed), b: &(usize, &Fed)| a.1.step.level.total_cmp(&b.1.step.level);
    let counts = above().filter(|(_, fed)| !search.is_doubtful(fed)).min_by(lowest);
    let found = counts.or_else(|| above().min_by(lowest)).or_else(|| broke().min_by(lowest));
    found.or_else(|| loads().max_by(lowest)).map(|(at, _)| at)
}

/// The step that speaks for the capacity: the last hold that held; without one the highest level
/// that held and is believed to.
fn best(search: &Search, middle: f64) -> Option<usize> {
    let held = |(_, fed): &(usize, &Fed)| fed.judged.outcome == Outcome::Held;
    let steps = || search.fed.iter().enumerate().filter(held);
    let holds = || steps().filter(|(_, fed)| fed.step.purpose == Purpose::Hold);
    // Of several at the last one's level the longest says the most.
    let hold = holds().next_back().and_then(|(_, last)| {
        let same = holds().filter(|(_, fed)| fed.step.level == last.step.level);
        same.max_by_key(|(_, fed)| fed.step.window_ns)
    });
    let mut levels: Vec<(usize, f64)> = steps()
        .filter(|(_, fed)| matches!(fed.step.purpose, Purpose::Search | Purpose::Hold))
        .map(|(at, fed)| (at, fed.step.level))
        .collect();
    levels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let believed = levels.iter().rfind(|(_, level)| *level <= middle).or(levels.first());
    hold.map(|(at, _)| at).or(believed.map(|&(at, _)| at))
}

fn lowest_broke(search: &Search, above: f64) -> Option<&Fed> {
    let broke = search.speaking().filter(|fed| fed.judged.outcome == Outcome::Broke);
    broke.filter(|fed| fed.step.level > above).min_by(|a, b| a.step.level.total_cmp(&b.step.level))
}

/// Levels of a range that broke, each once.
fn broke(search: &Search, inside: impl Fn(f64) -> bool) -> Vec<f64> {
    let broke = search.speaking().filter(|fed| fed.judged.outcome == Outcome::Broke);
    let mut levels: Vec<f64> = broke.map(|fed| fed.step.level).filter(|&at| inside(at)).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// The objective that broke first above the capacity, with its value on either side.
fn limited_by(below: &Fed, above: &Fed) -> Option<LimitedBy> {
    let broke = above.judged.margins.iter().find(|margin| margin.outcome == Outcome::Broke)?;
    let held = match below.judged.margin(&broke.objective) {
        Some(margin) if margin.untried => return None,
        Some(margin) => margin.value,
        // That all responses are of the usual kind is listed only where it is not so.
        None if broke.objective == usual_responses() => 1.0,
        None => return None,
    };
    Some(LimitedBy {
        objective: broke.objective.clone(),
        below: ValueAt { level: below.step.level, value: held },
        above: ValueAt { level: above.step.level, value: broke.value },
    })
}

/// The load line that a search's answer comes to; `run` is the run of [`Answer::step`].
pub fn load_line(
    search: &CapacitySearch,
    asked: &SearchObjectives,
    answer: &Answer,
    run: &Run,
) -> LoadLine {
    let line = line_of_levels(search, answer, run);
    let unmet = asked.throughput(&line).into_iter().filter(|(_, ruling)| *ruling != Ruling::Pass);
    let margins = search.steps.get(answer.step).into_iter().flat_map(|held| &held.judged.margins);
    let untried = margins.filter(|margin| margin.untried).map(|margin| &margin.objective);
    let untried = untried.filter(|name| line.objectives.contains(*name)).cloned();
    let missed: Vec<String> = unmet.map(|(name, _)| name).chain(untried).collect();
    let objectives =
        line.objectives.iter().filter(|name| !missed.contains(name)).cloned().collect();
    LoadLine { objectives, missed, ..line }
}

/// The line before throughput is asked of it.
fn line_of_levels(search: &CapacitySearch, answer: &Answer, run: &Run) -> LoadLine {
    let (rate_low_per_s, rate_per_s, rate_high_per_s) = rates(search, answer, run);
    let arriving = match search.settings.kind {
        LevelKind::Rate => search.settings.arriving,
        LevelKind::Concurrency => Arriving::Requests,
    };
    LoadLine {
        schema: SCHEMA.to_owned(),
        plimsoll: search.plimsoll.clone(),
        measured_at: search.started_at.clone(),
        kind: search.settings.kind,
        arriving,
        arrivals: run.plan.arrivals,
        requests_per_arrival: match arriving {
            Arriving::Requests => 1.0,
            Arriving::Sessions | Arriving::Both => requests_per_arrival(run),
        },
        rate_per_s,
        rate_low_per_s,
        rate_high_per_s,
        daily_users: search.users_of_load.map(|base| DailyUsers {
            users: base.at(rate_per_s),
            low: base.at(rate_low_per_s),
            high: rate_high_per_s.map(|high| base.at(high)),
        }),
        at_least: answer.at_least(),
        confirmed_for_ns: answer.confirmed_for_ns,
        concurrency: match search.settings.kind {
            LevelKind::Rate => run.concurrency.in_flight_mean,
            LevelKind::Concurrency => answer.level,
        },
        response_ns: run.response_ns,
        service_ns: run.service_ns,
        success_ratio: run.rates.success_ratio,
        notes: of_responses(run),
        objectives: search.objectives.clone(),
        missed: Vec::new(),
        limited_by: answer.limited_by.clone(),
        overload: answer.overload,
        saturated: answer.saturated,
        endpoints: endpoints(run, search.wanted_per_s),
        environment: run.environment.clone(),
        target: TargetPrint {
            url: run.plan.url.clone(),
            method: run.plan.method.clone(),
            addresses: run.plan.addresses.clone(),
            tls: run.plan.tls.is_some(),
            commonest_response: run.commonest_response.clone(),
        },
    }
}

/// What a run's reasons say of the responses that count as successes.
fn of_responses(run: &Run) -> Vec<Reason> {
    let of_responses = |reason: &&Reason| {
        matches!(reason.code, ReasonCode::ResponsesChanged | ReasonCode::Redirected)
    };
    run.validity.reasons.iter().filter(of_responses).cloned().collect()
}

/// Requests that an arrival of the run made, mean: one, or those of a session that came to its end. Which cuts off
/// none of them, unlike counting what was sent in the window, where sessions stand over at either end.
fn requests_per_arrival(run: &Run) -> f64 {
    // Lateness is counted for arrivals alone: later steps are due when they are sent.
    let arrivals = run.late_ns.count.max(1) as f64;
    let of_flows = run.flows.iter().filter(|flow| flow.started > 0);
    let further: Option<f64> =
        of_flows.map(|flow| Some(flow.started as f64 * (flow.requests_per_session? - 1.0))).sum();
    further.map_or(run.totals.attempts as f64 / arrivals, |further| 1.0 + further / arrivals)
}

/// Low, capacity and high as rates. Where a concurrency was searched for, the ends are the least and
/// the most successes a second that were seen at concurrencies inside the interval.
fn rates(search: &CapacitySearch, answer: &Answer, run: &Run) -> (f64, f64, Option<f64>) {
    if search.settings.kind == LevelKind::Rate {
        return (answer.low, answer.level, answer.high);
    }
    let rate = run.rates.requests_per_s;
    let high = answer.high.unwrap_or(answer.level);
    let inside = search.steps.iter().filter(|held| {
        matches!(held.step.purpose, Purpose::Search | Purpose::Hold)
            && (answer.low..=high).contains(&held.step.level)
    });
    // What succeeded after the window's end was carried after it.
    let carried = |held: &SearchStep| held.judged.succeeded_per_s.min(held.judged.requests_per_s);
    let seen = || inside.clone().map(carried);
    (seen().fold(rate, f64::min), rate, answer.high.map(|_| seen().fold(rate, f64::max)))
}

/// What each endpoint had of the load, and what it cost; the one request's where a run has no more.
fn endpoints(run: &Run, wanted_per_s: Option<f64>) -> Vec<EndpointShare> {
    if !run.endpoints.is_empty() {
        let mean_ns = (run.service_ns.mean as f64).max(1.0);
        let share = |held: &EndpointRun| EndpointShare {
            endpoint: held.name.clone(),
            share: held.share.unwrap_or(0.0),
            service_mean_ns: held.service_ns.mean,
            cost: held.service_ns.mean as f64 / mean_ns,
            requests_per_s: held.requests_per_s,
            wanted_per_s: wanted_per_s.zip(held.share_asked).map(|(rate, share)| rate * share),
            response_ns: Some(held.response_ns),
            today: today(run, &held.name),
        };
        return run.endpoints.iter().map(share).collect();
    }
    let path = run.plan.url.split_once("://").map_or("", |(_, rest)| rest);
    let path = path.find('/').map_or("/", |at| &path[at..]);
    let path = path.split(['?', '#']).next().unwrap_or("/");
    vec![EndpointShare {
        endpoint: format!("{} {path}", run.plan.method),
        share: 1.0,
        service_mean_ns: run.service_ns.mean,
        cost: 1.0,
        requests_per_s: run.rates.requests_per_s,
        wanted_per_s,
        response_ns: Some(run.response_ns),
        today: None,
    }]
}

fn today(run: &Run, endpoint: &str) -> Option<Today> {
    run.plan.mix.endpoints.iter().find(|planned| planned.name == endpoint)?.today
}

#[cfg(test)]
mod tests {
    use model::FlowRun;

    use super::*;
    use fixture::sound::open;

    #[test]
    fn notes_are_those_of_responses() {
        let mut run = open();
        let reason = |code| Reason { code, consequence: Verdict::Valid, text: "half".into() };
        let codes = [ReasonCode::SharedCores, ReasonCode::ResponsesChanged, ReasonCode::Redirected];
        run.validity = model::Validity::of(codes.map(reason).into());
        let codes: Vec<_> = of_responses(&run).iter().map(|reason| reason.code).collect();
        assert_eq!(codes, [ReasonCode::ResponsesChanged, ReasonCode::Redirected]);
    }

    #[test]
    fn requests_per_arrival_are_those_of_sessions_that_ended() {
        let flow = |started, requests_per_session| FlowRun {
            started,
            requests_per_session,
            ..FlowRun::default()
        };
        // 10,000 arrivals, of whose sessions the window's end cut off what 25 attempts are less.
        let made = |flows, attempts| {
            let mut run = open();
            (run.flows, run.totals.attempts) = (flows, attempts);
            requests_per_arrival(&run)
        };
        assert_eq!(made(vec![flow(10_000, Some(2.0))], 19_975), 2.0);
        assert_eq!(made(vec![flow(1_000, Some(10.0)), flow(4_000, Some(1.5))], 20_975), 2.1);
        assert_eq!(made(vec![flow(10_000, Some(2.0)), flow(0, None)], 19_975), 2.0);
        // Of before it was counted.
        assert_eq!(made(vec![flow(10_000, None)], 19_975), 1.9975);
    }
}
