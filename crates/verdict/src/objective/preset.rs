//! Named sets of objectives.

use super::{Bound, Goal, Limit, Metric, Objective, Relation, Statistic, Subject};
use crate::blocks::Time;

/// A named set of objectives, in its order of priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// The requirement table of the API server: response time first, then success rate, then QPS on
    /// a server that stays stable.
    Baseline,
    /// The rule of thumb for sizing a backend: the ten busiest endpoints respond in 100 ms on average
    /// with at most 0.1 % errors.
    Top10,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 2] = [Self::Baseline, Self::Top10];

    /// As `--slo` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Top10 => "top10",
        }
    }

    /// Its objectives, the most important first.
    pub fn objectives(self) -> Vec<Objective> {
        let mean = |nanos| {
            let metric = Metric::Latency(Time::Response, Statistic::Mean);
            bound(metric, Relation::AtMost, Limit::Time(nanos))
        };
        let at_least = |metric, limit| bound(metric, Relation::AtLeast, limit);
        let errors = bound(Metric::Errors(None), Relation::AtMost, Limit::Percent(0.1));
        let (subject, goals) = match self {
            Self::Baseline => (
                Subject::Load,
                vec![
                    (1, mean(500_000_000)),
                    (2, at_least(Metric::Success, Limit::Percent(99.0))),
                    (3, at_least(Metric::Qps, Limit::PerS(1000.0))),
                    (3, Goal::Stable),
                ],
            ),
            Self::Top10 => (Subject::Busiest(10), vec![(1, mean(100_000_000)), (2, errors)]),
        };
        let of = |(priority, goal)| Objective {
            subject: subject.clone(),
            goal,
            preset: Some((self, priority)),
        };
        goals.into_iter().map(of).collect()
    }
}

fn bound(metric: Metric, relation: Relation, limit: Limit) -> Goal {
    Goal::Bound(Bound { metric, relation, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_in_their_order_of_priority() {
        for (preset, wanted) in [
            (
                Preset::Baseline,
                vec![(1, "mean<=500ms"), (2, "success>=99%"), (3, "qps>=1000"), (3, "stable")],
            ),
            (Preset::Top10, vec![(1, "top10: mean<=100ms"), (2, "top10: errors<=0.1%")]),
        ] {
            let objectives = preset.objectives();
            let held = objectives.iter().map(|o| (o.preset.unwrap().1, o.to_string()));
            let wanted = wanted.into_iter().map(|(priority, text)| (priority, text.to_owned()));
            assert_eq!(held.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
        }
    }
}
