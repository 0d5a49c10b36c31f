//! A load line (`capacity.json`), converted to what decisions need.

mod possible;
mod saturated;

use std::fmt;

use model::loadline::seldom_exceeded;
use model::units::parse_duration;
use model::{LevelKind, LoadLine};

use crate::config::in_words;
use crate::policy::{PathPattern, PathTree, without_slash};

/// How far ahead of an even pace requests may be if the number in flight was measured.
pub(super) const AHEAD_NS: u64 = 1_000_000_000;
/// Without an objective on latency, the envelope is this factor above the measured p99.
const ENVELOPE_OVER_MEASURED: f64 = 1.5;
/// Cost of a mean request.
const MEAN_MILLI: u32 = 1000;

/// Why a load line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineError {
    /// It is not a load line.
    Unreadable(String),
    /// It was measured in another version's terms.
    Schema(String),
    /// It found no capacity.
    NoCapacity,
    /// What it says about a target that was kept busy cannot have been measured.
    Impossible {
        /// The field of `saturated`.
        field: &'static str,
        /// What it says.
        value: String,
        /// What it may say, in words.
        possible: String,
    },
    /// A figure cannot have been measured.
    OutOfRange {
        /// Its field.
        field: String,
        /// What it says.
        value: String,
        /// What it may say, in words.
        possible: String,
    },
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => {
                write!(
                    f,
                    "is not a load line, which `plimsoll capacity` writes as capacity.json: {why}"
                )
            }
            Self::Schema(schema) => {
                write!(
                    f,
                    "has the schema {schema}, and this version reads {}",
                    model::loadline::SCHEMA
                )
            }
            Self::NoCapacity => {
                f.write_str("says no rate above 0: there is nothing to hold traffic to")
            }
            Self::Impossible { field, value, possible } => {
                write!(
                    f,
                    "cannot have been measured: saturated.{field} is {value}, but {possible}; take the file as \
                     `plimsoll capacity` wrote it, or remove `saturated` from it"
                )
            }
            Self::OutOfRange { field, value, possible } => {
                write!(
                    f,
                    "cannot have been measured: {field} is {value}, but {possible}; take the file as `plimsoll capacity` wrote it"
                )
            }
        }
    }
}

impl std::error::Error for LineError {}

/// The latency that the line was certified with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Envelope {
    /// The percentile, 0..1.
    pub share: f64,
    /// The limit that the percentile does not exceed, in nanoseconds.
    pub limit_ns: u64,
    /// The objective that this comes from, in words.
    pub from: String,
}

/// What one endpoint costs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cost {
    method: String,
    path: PathPattern,
    milli: u32,
}

/// What a load line says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// Requests of mean cost per second. If it was measured, the rate of a target that [`Self::at_once`] requests keep busy:
    /// with the gateway's limit on the number in flight the upstream carries more than it does of random arrivals.
    pub rate_per_s: f64,
    /// The limit on the number in flight, in requests of mean cost: as measured with a target that was kept busy. If that was
    /// not measured, more than the measured mean: as many as arrive within the p99 of response times, and at least six
    /// standard deviations of a Poisson number above the mean.
    pub at_once: f64,
    /// How far ahead of an even pace requests may be, in nanoseconds, if that is more than the number in flight allows. A
    /// measured number in flight protects the target by itself, and a target that was slow for a moment can catch up.
    pub ahead_ns: u64,
    /// The rate of random arrivals that the target carries, in requests of mean cost per second, and the number in flight
    /// that they seldom exceed. This number is the limit while arrivals are not more than that, if it is larger than
    /// [`Self::at_once`].
    pub arrivals_per_s: f64,
    /// See [`Self::arrivals_per_s`].
    pub arrivals_at_once: f64,
    /// The mean time of a request, in nanoseconds: of random arrivals or of a target that was kept busy, whichever is longer.
    pub mean_ns: u64,
    /// The latency it was certified with.
    pub envelope: Envelope,
    /// The URL that was measured.
    pub url: String,
    /// When it was measured.
    pub measured_at: String,
    /// Whether its rate was held for long.
    pub confirmed: bool,
    /// Whether the API may carry more, because something else was the limit during the measurement.
    pub at_least: bool,
    /// The width of the rate's interval as a part of the rate; `None` if nothing above the rate was measured.
    pub spread: Option<f64>,
    /// The addresses that were measured.
    pub addresses: Vec<String>,
    /// The commonest status that was measured.
    pub status: Option<u16>,
    /// The machine that it was measured from.
    pub environment: model::Environment,
    /// Names of endpoints that are not a method and a path: their requests cost the mean.
    pub unknown: Vec<String>,
    /// The narrowest paths first.
    pub(crate) costs: Vec<Cost>,
    /// Finds places in [`Self::costs`].
    pub(crate) tree: PathTree,
    /// The same without regard to case, as some servers compare paths.
    pub(crate) any_case: PathTree,
    /// Whether a path of an endpoint has capitals.
    pub(crate) capitals: bool,
}

impl Line {
    /// Reads `capacity.json`.
    ///
    /// # Errors
    /// When the text is not a load line, one that found nothing, or one that cannot have been measured.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let unreadable = |error: serde_json::Error| LineError::Unreadable(error.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(unreadable)?;
        match value.get("schema").and_then(serde_json::Value::as_str) {
            Some(model::loadline::SCHEMA) => {}
            Some(other) => return Err(LineError::Schema(other.chars().take(60).collect())),
            None => return Err(LineError::Unreadable("it names no schema".into())),
        }
        saturated::check(&value)?;
        let read = read(text)?;
        let line = Self::of(&read)?;
        possible::check(&read)?;
        Ok(line)
    }

    /// Converts a load line.
    ///
    /// # Errors
    /// When its rate is not above 0.
    pub fn of(line: &LoadLine) -> Result<Self, LineError> {
        // A search for a concurrency gives its rates in requests already.
        let per_arrival = match line.kind {
            LevelKind::Concurrency => 1.0,
            _ => line.requests_per_arrival.max(1.0),
        };
        let arrivals_per_s = line.rate_per_s * per_arrival;
        if !(arrivals_per_s > 0.0 && arrivals_per_s.is_finite()) {
            return Err(LineError::NoCapacity);
        }
        let mean = if line.concurrency.is_finite() { line.concurrency.max(0.0) } else { 0.0 };
        let arrivals_at_once = seldom_exceeded(arrivals_per_s, mean, line.response_ns.p99);
        let saturated = line.saturated.filter(|held| held.requests_per_s > arrivals_per_s);
        let mean_ns = saturated.map_or(0, |held| held.mean_ns).max(line.service_ns.mean);
        let (rate_per_s, at_once, ahead_ns) = saturated
            .map_or((arrivals_per_s, arrivals_at_once, 0), |held| {
                (held.requests_per_s, f64::from(held.concurrency.max(1)), AHEAD_NS)
            });
        let (costs, unknown) = costs(line);
        Ok(Self {
            rate_per_s,
            at_once,
            ahead_ns,
            arrivals_per_s,
            arrivals_at_once,
            mean_ns,
            envelope: envelope(line),
            url: line.target.url.clone(),
            measured_at: line.measured_at.clone(),
            confirmed: line.confirmed_for_ns.is_some(),
            at_least: line.at_least,
            spread: line.rate_high_per_s.map(|high| (high - line.rate_low_per_s) / line.rate_per_s),
            addresses: line.target.addresses.clone(),
            status: line.target.commonest_response.as_ref().map(|response| response.status),
            environment: line.environment.clone(),
            unknown,
            tree: tree(&costs, PathTree::default()),
            any_case: tree(&costs, PathTree::of_any_case()),
            capitals: costs.iter().any(|cost| cost.path.has_capitals()),
            costs,
        })
    }

    /// The cost of a request in thousandths of the mean request's; 1000 if it was not measured. If its path was measured in another
    /// case, at least that cost.
    pub fn cost_milli(&self, method: &[u8], path: &[u8]) -> u32 {
        let own = self.known_milli(&self.tree, method, path).unwrap_or(MEAN_MILLI);
        own.max(self.milli_in_any_case(method, path).unwrap_or(0))
    }

    /// The same for a request whose path some servers read as `cut`, with or without an empty last segment: the highest cost of
    /// these paths and its own.
    pub fn most_milli(&self, method: &[u8], path: &[u8], cut: &[u8]) -> u32 {
        let others = [Some(cut), without_slash(cut)].into_iter().flatten();
        let known = others.filter_map(|path| {
            let own = self.known_milli(&self.tree, method, path);
            own.max(self.milli_in_any_case(method, path))
        });
        self.cost_milli(method, path).max(known.max().unwrap_or(0))
    }

    fn milli_in_any_case(&self, method: &[u8], path: &[u8]) -> Option<u32> {
        let has_case = self.capitals || path.iter().any(u8::is_ascii_uppercase);
        if has_case { self.known_milli(&self.any_case, method, path) } else { None }
    }

    /// A `HEAD` costs what a `GET` does: upstreams work out the same response for it.
    fn known_milli(&self, tree: &PathTree, method: &[u8], path: &[u8]) -> Option<u32> {
        let of = |place: u32| &self.costs[place as usize];
        let find =
            |method: &[u8]| tree.least(path, &mut |place| of(place).method.as_bytes() == method);
        let found = find(method).or_else(|| if method == b"HEAD" { find(b"GET") } else { None });
        found.map(|place| of(place).milli)
    }

    /// Method, path and cost of every endpoint that was measured, the narrowest paths first.
    pub fn endpoints(&self) -> impl Iterator<Item = (&str, &PathPattern, u32)> {
        self.costs.iter().map(|cost| (cost.method.as_str(), &cost.path, cost.milli))
    }
}

/// Reads the fields. An error names the field that is wrong or missing.
fn read(text: &str) -> Result<LoadLine, LineError> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let why = in_words(&error.inner().to_string(), "an object");
        LineError::Unreadable(match error.path().iter().len() {
            0 => why,
            _ => format!("{}: {why}", error.path()),
        })
    })
}

/// The costs by endpoint, the narrowest first, and the names that are not a method and a path.
fn costs(line: &LoadLine) -> (Vec<Cost>, Vec<String>) {
    let mut costs = Vec::new();
    let mut unknown = Vec::new();
    for endpoint in &line.endpoints {
        let named = endpoint.endpoint.split_once(' ');
        let path = named.and_then(|(_, path)| PathPattern::exact(path.split('?').next()?).ok());
        match (named, path) {
            (Some((method, _)), Some(path)) if endpoint.cost.is_finite() => costs.push(Cost {
                method: method.to_owned(),
                path,
                // Nothing is free: a cost of 0 would let any number through.
                milli: ((endpoint.cost * f64::from(MEAN_MILLI)).round() as u32).max(1),
            }),
            _ => unknown.push(endpoint.endpoint.clone()),
        }
    }
    costs.sort_by_key(|cost| std::cmp::Reverse(cost.path.narrowness()));
    (costs, unknown)
}

/// An index over the paths, from an empty one.
fn tree(costs: &[Cost], mut tree: PathTree) -> PathTree {
    for (place, cost) in costs.iter().enumerate() {
        tree.insert(&cost.path, place as u32);
    }
    tree
}

/// The tightest objective on a percentile; without one, a limit above the measured p99.
fn envelope(line: &LoadLine) -> Envelope {
    let objectives = line.objectives.iter().filter_map(|written| objective(written));
    objectives.min_by_key(|envelope| envelope.limit_ns).unwrap_or_else(|| Envelope {
        share: 0.99,
        limit_ns: (line.response_ns.p99 as f64 * ENVELOPE_OVER_MEASURED) as u64,
        from: format!("{ENVELOPE_OVER_MEASURED} times the p99 that was measured"),
    })
}

/// Reads `p99<100ms`, `p99.9 <= 1s` and `service.p99<20ms`; other objectives are not on a percentile of latency. What the gateway
/// sees is service time, which response time is no less than.
fn objective(written: &str) -> Option<Envelope> {
    let (figure, limit) = written.split_once('<')?;
    let figure = figure.trim();
    let figure = figure.strip_prefix("service.").unwrap_or(figure);
    let percent: f64 = figure.strip_prefix('p')?.parse().ok()?;
    let limit_ns = parse_duration(limit.trim_start_matches('=').trim()).ok()?;
    (percent > 0.0 && percent < 100.0 && limit_ns > 0).then(|| Envelope {
        share: percent / 100.0,
        limit_ns,
        from: written.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(rate: f64, kind: &str, objectives: &[&str]) -> String {
        let summary = model::Summary {
            count: 10,
            mean: 5_000_000,
            p99: 20_000_000,
            ..model::Summary::default()
        };
        let mut line = json!({
            "schema": "plimsoll.loadline/1", "plimsoll": {"version": "0"}, "measured_at": "now",
            "kind": kind, "requests_per_arrival": 3.0, "rate_per_s": rate, "rate_low_per_s": 1.0,
            "rate_high_per_s": null, "at_least": false, "confirmed_for_ns": null, "concurrency": 4.0,
            "response_ns": summary, "service_ns": summary, "success_ratio": 1.0, "objectives": objectives,
            "limited_by": null, "overload": null,
            "endpoints": [
                {"endpoint": "GET /users/{id}", "share": 0.5, "service_mean_ns": 1, "cost": 0.4},
                {"endpoint": "GET /users/me?x=1", "share": 0.4, "service_mean_ns": 1, "cost": 0.0},
                {"endpoint": "GET /lists/{id}/", "share": 0.1, "service_mean_ns": 1, "cost": 0.1},
                {"endpoint": "GET /checkOut", "share": 0.1, "service_mean_ns": 1, "cost": 7.0},
                {"endpoint": "checkout", "share": 0.1, "service_mean_ns": 1, "cost": 7.0},
            ],
            "target": {"url": "http://x/", "method": "GET", "addresses": [], "tls": false, "answer": null},
        });
        line["environment"] = serde_json::to_value(model::Environment::default()).unwrap();
        line.to_string()
    }

    #[test]
    fn rates_count_requests_and_endpoints_their_costs() {
        let line =
            Line::parse(&text(100.0, "rate", &["p99<100ms", "p99.9 <= 1s", "errors<1%"])).unwrap();
        assert_eq!(line.rate_per_s, 300.0);
        // 4 + 6 x 2, against 300/s x 20 ms = 6.
        assert_eq!(line.at_once, 16.0);
        assert_eq!((line.envelope.share, line.envelope.limit_ns), (0.99, 100_000_000));
        assert_eq!(line.cost_milli(b"GET", b"/users/7"), 400);
        assert_eq!(line.cost_milli(b"GET", b"/users/me"), 1);
        // No less than its own path costs, nor than a server finds that makes no difference between cases.
        assert_eq!(line.cost_milli(b"GET", b"/users/ME"), 400);
        assert_eq!(line.cost_milli(b"GET", b"/USERS/7"), 1000);
        assert_eq!(line.cost_milli(b"GET", b"/CheckOut"), 7000);
        assert_eq!(line.cost_milli(b"POST", b"/users/7"), 1000);
        assert_eq!(line.cost_milli(b"HEAD", b"/users/7"), 400);
        for (path, cut, most) in [
            ("/users/7/", "/users/7/", 1000),
            ("/users/me", "/users/me", 1),
            ("/users/me", "/users/7", 400),
            // What is measured with its slash costs what was measured.
            ("/lists/7/", "/lists/7/", 100),
        ] {
            assert_eq!(line.most_milli(b"GET", path.as_bytes(), cut.as_bytes()), most, "{path}");
        }
        assert_eq!(line.unknown, ["checkout"]);
    }

    #[test]
    fn without_an_objective_the_measured_latency_counts() {
        let line = Line::parse(&text(5000.0, "concurrency", &[])).unwrap();
        assert_eq!((line.rate_per_s, line.at_once), (5000.0, 100.0));
        assert_eq!(line.envelope.limit_ns, 30_000_000);
    }

    #[test]
    fn an_objective_on_service_time_is_one() {
        let of = |objectives: &[&str]| Line::parse(&text(100.0, "rate", objectives)).unwrap();
        let line = of(&["p99<100ms", "service.p95<20ms", "top3: p50<1ms", "service.mean<1ms"]);
        let Envelope { share, limit_ns, from } = line.envelope;
        assert_eq!((share, limit_ns, &*from), (0.95, 20_000_000, "service.p95<20ms"));
    }

    #[test]
    fn what_kept_the_target_busy_counts_where_it_is_more() {
        let with = |saturated: serde_json::Value| {
            let mut line: serde_json::Value =
                serde_json::from_str(&text(100.0, "rate", &[])).unwrap();
            line["saturated"] = saturated;
            let line = Line::parse(&line.to_string()).unwrap();
            (line.rate_per_s, line.at_once, line.mean_ns)
        };
        let saturated = |requests_per_s: f64| json!({"concurrency": 12, "requests_per_s": requests_per_s, "mean_ns": 38_000_000, "held_for_ns": 1});
        assert_eq!(with(saturated(310.0)), (310.0, 12.0, 38_000_000));
        assert_eq!(with(saturated(290.0)), (300.0, 16.0, 5_000_000));
        assert_eq!(with(serde_json::Value::Null), (300.0, 16.0, 5_000_000));
    }

    #[test]
    fn figures_that_cannot_have_been_measured_are_refused_by_name() {
        let with = |field: &str, value: f64| {
            let mut line: serde_json::Value =
                serde_json::from_str(&text(100.0, "rate", &[])).unwrap();
            line[field] = json!(value);
            Line::parse(&line.to_string())
        };
        for (field, value) in [
            ("rate_per_s", 1e12),
            ("rate_low_per_s", 101.0),
            ("rate_low_per_s", -1.0),
            ("rate_high_per_s", -1.0),
            ("requests_per_arrival", -1.0),
            ("concurrency", -1.0),
            ("concurrency", 1e12),
            ("success_ratio", -3.0),
            ("success_ratio", 1.5),
        ] {
            let wrong = with(field, value).unwrap_err();
            assert!(wrong.to_string().contains(&format!("{field} is ")), "{field}: {wrong}");
        }
        let low = with("rate_low_per_s", 950.5).unwrap_err().to_string();
        assert!(low.contains("rate_low_per_s is 950.5, "), "{low}");
        for (field, value) in
            [("rate_low_per_s", 100.0), ("success_ratio", 0.0), ("concurrency", 0.0)]
        {
            assert!(with(field, value).is_ok(), "{field}");
        }
        assert_eq!(with("rate_high_per_s", 120.0).unwrap().spread, Some(1.19));
    }

    /// A cost below 0 would make an endpoint nearly free, and a response time of centuries any number at once possible.
    #[test]
    fn costs_and_times_that_cannot_have_been_measured_are_refused_too() {
        let said = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut line: serde_json::Value =
                serde_json::from_str(&text(100.0, "rate", &[])).unwrap();
            change(&mut line);
            Line::parse(&line.to_string()).map_err(|error| error.to_string())
        };
        for cost in [-0.5, 2e6] {
            let wrong = said(&|line| line["endpoints"][3]["cost"] = json!(cost)).unwrap_err();
            let named = format!("endpoints[3].cost is {cost}, but 0 to 1000000 is possible");
            assert!(wrong.contains(&named), "{wrong}");
        }
        let wrong = said(&|line| line["response_ns"]["p99"] = json!(u64::MAX)).unwrap_err();
        assert!(wrong.contains("response_ns.p99 is 1.8"), "{wrong}");
        assert!(said(&|line| line["endpoints"][3]["cost"] = json!(0)).is_ok());
    }

    #[test]
    fn what_a_field_lacks_or_has_wrong_is_reported_with_the_field() {
        let with = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut line: serde_json::Value =
                serde_json::from_str(&text(100.0, "rate", &[])).unwrap();
            change(&mut line);
            Line::parse(&line.to_string()).unwrap_err().to_string()
        };
        let remove = |object: &mut serde_json::Value, field: &str| {
            object.as_object_mut().unwrap().remove(field).unwrap();
        };
        for (said, words) in [
            (with(&|line| remove(line, "kind")), "capacity.json: missing field `kind` at line 1 "),
            (
                with(&|line| remove(&mut line["response_ns"], "p99")),
                "capacity.json: response_ns: missing field `p99` at line 1 ",
            ),
            (
                with(&|line| remove(&mut line["endpoints"][2], "cost")),
                "capacity.json: endpoints[2]: missing field `cost` at line 1 ",
            ),
            (
                with(&|line| line["target"]["tls"] = json!("no")),
                "capacity.json: target.tls: invalid type: string \"no\", expected a boolean at",
            ),
            (
                with(&|line| line["concurrency"] = json!("4")),
                "concurrency: invalid type: string \"4\", expected a number at line 1 ",
            ),
        ] {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_is_no_line_is_refused() {
        assert_eq!(Line::parse(&text(0.0, "rate", &[])), Err(LineError::NoCapacity));
        let other = text(1.0, "rate", &[]).replace("loadline/1", "loadline/2");
        assert_eq!(Line::parse(&other), Err(LineError::Schema("plimsoll.loadline/2".into())));
        assert!(matches!(Line::parse("{}"), Err(LineError::Unreadable(_))));
        assert!(matches!(Line::parse("x"), Err(LineError::Unreadable(_))));
    }
}
