//! From a prepared load to the plan of one level, in which nothing is left to default.

use model::plan::{DEFAULT_LANES, Recorded, TlsPlan};
use model::units::{MICROSECOND, SECOND};
use model::workload::Stage;
use model::{Arrivals, Io, Mix, Nanos, Plan, Stages};

use crate::load::input::LoadProfile;
use crate::load::prepared::Prepared;
use crate::load::shape::Shape;
use crate::secrets;

/// What an arrival waits at most for others to be taken up with it, unless workers spin: a timer for
/// each would cost more than the request.
const GRANULARITY: Nanos = 110 * MICROSECOND;
/// Independent arrivals a worker may have a second before enough of them fall that close together.
const OWN_TIMER_BELOW_PER_S: f64 = 2000.0;

impl Prepared {
    /// The plan of one level; `burst` is how many requests a script lets leave together.
    pub(super) fn plan(
        &self,
        shape: Shape,
        threads: u64,
        routes: &[net::Route],
        mix: Mix,
        burst: u16,
    ) -> Plan {
        let (args, settings) = (&self.args, &self.input.settings);
        let pipeline = args.pipeline.max(burst.into());
        let is_open = shape.rate_per_s.is_some();
        let profile = self.input.profile().filter(|_| self.follows_profile);
        let LoadProfile { stages, recorded } = profile.unwrap_or_default();
        let recorded = recorded.filter(|_| is_open);
        let mut sources: Vec<String> =
            routes.iter().filter_map(|route| Some(route.from?.to_string())).collect();
        sources.dedup();
        let granularity_ns = match (args.spin, &recorded) {
            (true, _) => 0,
            // Their spacing is their own: as likely to fall together as independent ones.
            (_, Some(_)) => granularity(Arrivals::Poisson, densest(shape, &stages, threads)),
            _ => granularity(settings.arrivals.value, densest(shape, &stages, threads)),
        };
        Plan {
            url: secrets::mask_url(self.input.destination.url.as_str()),
            method: self.input.method.clone(),
            headers: self.input.headers.clone(),
            body_bytes: self.input.body_bytes,
            connections: shape.connections as u32,
            threads: threads as u32,
            rate_per_s: shape.rate_per_s,
            arrivals: shape.rate_per_s.map(|_| settings.arrivals.value),
            lanes: DEFAULT_LANES,
            seed: settings.seed.value,
            duration_ns: shape.duration_ns,
            requests: shape.requests,
            warmup_ns: settings.warmup_ns.value,
            ramp_ns: settings.ramp_ns.value,
            timeout_ns: settings.timeout_ns.value,
            pace_ns: settings.pace_ns.value,
            think_ns: settings.think_ns.value,
            keepalive: !args.no_keepalive && !asks_to_close(&self.input.headers),
            cookies: args.cookies,
            pipeline: pipeline as u32,
            max_inflight: args
                .max_inflight
                .unwrap_or(shape.connections * pipeline)
                .min(u64::from(u32::MAX)) as u32,
            io: match self.io {
                net::Io::Uring => Io::Uring,
                net::Io::Epoll => Io::Epoll,
            },
            spin: args.spin,
            granularity_ns,
            addresses: self.addresses.iter().map(ToString::to_string).collect(),
            sources,
            tls: self.tls.as_ref().map(|tls| TlsPlan {
                sni: tls.sni.clone(),
                insecure: tls.insecure,
                min: args.tls.tls_min.name().to_owned(),
                max: args.tls.tls_max.name().to_owned(),
                resume: tls.resume,
            }),
            success: settings.success.value.clone(),
            expect_body: args.expect_body_like.clone(),
            mix,
            stages,
            recorded: recorded.map(Recorded::from),
        }
    }
}

/// Whether header fields ask for each connection to be closed after its request, as `--no-keepalive` does.
pub(super) fn asks_to_close(headers: &[(String, String)]) -> bool {
    let mut named = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    named.any(|(_, value)| traffic::asks_to_close(value.as_bytes()))
}

/// Arrivals a second that fall to a worker where they are densest.
fn densest(shape: Shape, stages: &[Stage], threads: u64) -> f64 {
    let Some(rate_per_s) = shape.rate_per_s else { return 0.0 };
    let peak = Stages::new(stages).map(|profile| profile.peak()).ok();
    peak.unwrap_or(rate_per_s) / threads as f64
}

/// How long an arrival may wait for others, when a worker has `a_worker_per_s`. Evenly spaced ones that come
/// further apart than that never meet, and would wait for nothing.
fn granularity(arrivals: Arrivals, a_worker_per_s: f64) -> Nanos {
    let meet_above_per_s = match arrivals {
        Arrivals::Uniform => SECOND as f64 / GRANULARITY as f64,
        Arrivals::Poisson => OWN_TIMER_BELOW_PER_S,
    };
    if a_worker_per_s > meet_above_per_s { GRANULARITY } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_wait_for_others_only_where_others_come() {
        use Arrivals::{Poisson, Uniform};
        for (arrivals, per_s, wait) in [
            (Uniform, 9_000.0, 0),
            (Uniform, 10_000.0, GRANULARITY),
            (Poisson, 2_000.0, 0),
            (Poisson, 2_001.0, GRANULARITY),
            (Uniform, 0.0, 0),
        ] {
            assert_eq!(granularity(arrivals, per_s), wait, "{arrivals:?} {per_s}");
        }
    }

    #[test]
    fn a_worker_has_most_arrivals_at_the_peak_of_a_profile() {
        let shape = Shape {
            connections: 1,
            rate_per_s: Some(6_250.0),
            duration_ns: Some(2 * SECOND),
            requests: None,
        };
        let stages = r#"[{"hold":{"at":500,"for":"1s"}},{"hold":{"at":12000,"for":"1s"}}]"#;
        let stages: Vec<Stage> = serde_json::from_str(stages).unwrap();
        assert_eq!(densest(shape, &stages, 1), 12_000.0);
        assert_eq!(densest(shape, &[], 2), 3_125.0);
        assert_eq!(densest(Shape { rate_per_s: None, ..shape }, &[], 1), 0.0);
    }
}
