//! What happens, in its order, and the figures that come of it.

use std::path::Path;

use serde_json::{Value, json};
use testkit::casestudy::{Built, Server};
use testkit::databases::Postgres;
use verdict::comparison::rounds::paired;
use verdict::comparison::{Effect, Measure};

use super::stage::{Stage, cost, url};

/// How long everything is measured.
#[derive(Debug)]
pub struct Pace {
    window: &'static str,
    warmup: &'static str,
    rounds: usize,
    levels: &'static str,
    level: &'static str,
    short: &'static str,
    /// Changes that are made, of [`CHANGES`].
    pub changes: usize,
}

impl Pace {
    pub const WHOLE: Self = Self {
        window: "8s",
        warmup: "1s",
        rounds: 6,
        levels: "1,8,64,256,1000",
        level: "8s",
        short: "4s",
        changes: CHANGES.len(),
    };
    pub const SHORT: Self = Self {
        window: "4s",
        warmup: "0s",
        rounds: 3,
        levels: "1,8",
        level: "300ms",
        short: "500ms",
        changes: 1,
    };
}

const ALL: [&str; 8] =
    ["dump", "logger", "requestid", "context", "recovery", "nocache", "cors", "secure"];

/// A change: what it is called, the functions that go, how many middlewares of [`ALL`] go from its beginning, and the level
/// of the log from then on.
struct Change {
    name: &'static str,
    functions: &'static [&'static str],
    gone: usize,
    level: &'static str,
}

/// As long as something is logged, the debug log stays as it is, so that each change is one thing.
const CHANGES: [Change; 5] = [
    Change { name: "request dump off", functions: &["middleware.dump"], gone: 1, level: "debug" },
    Change { name: "logger off", functions: &["middleware.logger"], gone: 2, level: "debug" },
    Change {
        name: "log level info",
        functions: &["slog.(*Logger).LogAttrs"],
        gone: 2,
        level: "info",
    },
    Change {
        name: "request ids and their logger off",
        functions: &["middleware.requestID", "middleware.requestContext"],
        gone: 4,
        level: "info",
    },
    Change {
        name: "no middlewares",
        functions: &[
            "middleware.noCache",
            "middleware.cors",
            "middleware.secure",
            "gin.CustomRecoveryWithWriter",
        ],
        gone: 8,
        level: "info",
    },
];

/// What came of it.
#[derive(Debug)]
pub struct Story {
    /// What the profile of the first server says, in the program's words.
    pub profile: String,
    /// What `explain` says of the first server.
    pub explained: String,
    /// `plimsoll tune show`.
    pub told: String,
    /// `plimsoll.tune/1`.
    pub tuning: Value,
    /// The first server's profile as a flame graph, and what changed until the last.
    pub flames: [String; 2],
    /// `plimsoll diff` of the sweeps.
    pub diff: String,
    /// The charts of each sweep, and of all of them.
    pub charts: Vec<String>,
    /// Baseline, before and after, each at its best level, in turns.
    pub best: Vec<InTurns>,
    /// The database server's ways for each kind of request: statements, query builder, ORM.
    pub ways: Vec<(&'static str, Vec<InTurns>)>,
    /// With and without keep-alive.
    pub connections: Vec<InTurns>,
    /// By number of workers.
    pub workers: Vec<InTurns>,
    /// Where it was measured.
    pub environment: Value,
}

impl Story {
    /// What the page shows, for machines.
    pub fn data(&self) -> Value {
        let all = |found: &[InTurns]| found.iter().map(InTurns::data).collect::<Vec<_>>();
        json!({
            "tuning": self.tuning,
            "best": all(&self.best),
            "ways": self.ways.iter().map(|(kind, ways)| json!({ "request": kind, "ways": all(ways) })).collect::<Vec<_>>(),
            "keep_alive": all(&self.connections),
            "workers": all(&self.workers),
            "environment": self.environment,
        })
    }

    /// The last server's requests per second over the first's, and over the baseline's, each at its best level.
    pub fn reached(&self) -> [Option<Effect>; 2] {
        let [baseline, before, after] = &self.best[..] else { panic!("three servers") };
        [after.over(before), after.over(baseline)]
    }

    /// The numbers that the case study promises: claim, reach, found, whether met. A claim is met if its whole interval is.
    pub fn claims(&self) -> Vec<(&'static str, &'static str, String, bool)> {
        let [gain, share] = self.reached().map(|effect| effect.expect("requests in each round"));
        let found = self.explained.contains("server.debug_options");
        vec![
            (
                "API server after tuning over before, best level, in turns",
                ">= 3x",
                format!("{:.2}x ({:.2} to {:.2})", gain.ratio, gain.low, gain.high),
                gain.low >= 3.0,
            ),
            (
                "API server after tuning over the baseline, best level, in turns",
                ">= 75 %",
                format!(
                    "{:.1} % ({:.1} to {:.1})",
                    share.ratio * 100.0,
                    share.low * 100.0,
                    share.high * 100.0
                ),
                share.low >= 0.75,
            ),
            ("debug options left on are found by explain", "yes", format!("{found}"), found),
        ]
    }
}

/// Plays it.
pub fn play(pace: &Pace) -> Story {
    let stage = Stage::new();
    let api = Built::of("apiserver").expect("it builds").on_processor(1);
    let baseline = Built::of("baseline").expect("it builds").on_processor(1);
    let baseline = baseline.start(&stage.folder("baseline"), &[]).expect("it starts");
    let before = stage.api(&api, "debug", &ALL);
    let (profile, explained) = look(&stage, pace, &before);
    let after = tune(&stage, pace, &api, &baseline, &before);
    let servers = [("baseline", &baseline), ("before", &before), ("after", &after)];
    let (diff, charts, levels) = sweeps(&stage, pace, servers);
    let best = best(&stage, pace, servers, levels);
    let connections = keep_alive(&stage, pace, &after);
    let (ways, workers) = rows(&stage, pace);
    let run: Value = serde_json::from_str(&stage.text("look/run.json")).expect("JSON");
    let tuning = stage.json("tune show --notebook notebook");
    Story {
        flames: flames(&stage, &tuning),
        profile,
        explained,
        told: stage.plimsoll("tune show --notebook notebook"),
        tuning,
        diff,
        charts,
        best,
        ways,
        connections,
        workers,
        environment: json!({ "cpu_model": run["environment"]["cpu_model"] }),
    }
}

/// The first look: a run, watched and profiled.
fn look(stage: &Stage, pace: &Pace, server: &Server) -> (String, String) {
    let (target, source) = (url(server, "healthz"), url(server, ""));
    stage.plimsoll(&format!(
        "run {target} -c 64 -t 1 -q --warmup {} -d {} --profile {source} --out look",
        pace.warmup, pace.window
    ));
    (stage.plimsoll("profile look"), stage.plimsoll("explain look"))
}

/// Predicts and makes each change; the last server.
fn tune(stage: &Stage, pace: &Pace, api: &Built, baseline: &Server, before: &Server) -> Server {
    stage.plimsoll(&format!(
        "tune begin {} --baseline {} --profile {} -c 64 -t 1 --spin --warmup {} -d {} --notebook notebook",
        url(before, "healthz"),
        url(baseline, "healthz"),
        url(before, ""),
        pace.warmup,
        pace.window
    ));
    let mut servers: Vec<Server> = Vec::new();
    for change in CHANGES.iter().take(pace.changes) {
        let functions = change.functions.join(" ");
        stage.plimsoll(&format!("tune predict {functions} --notebook notebook"));
        let server = stage.api(api, change.level, &ALL[change.gone..]);
        let rest = format!(
            "tune try --keep --rounds {} --profile {} --notebook notebook",
            pace.rounds,
            url(&server, "")
        );
        stage.plimsoll_with(&rest, &[change.name, &url(&server, "healthz")]);
        servers.push(server);
    }
    servers.pop().expect("there are changes")
}

/// The flame graphs of the notebook's first server, and of what changed until its last.
fn flames(stage: &Stage, tuning: &Value) -> [String; 2] {
    let last = tuning["steps"].as_array().and_then(|steps| steps.last()).expect("a step");
    let last = last["station"]["dir"].as_str().expect("a folder");
    stage.plimsoll(&format!("profile diff notebook/start notebook/{last} --page change.html"));
    ["notebook/start/profile/report.html", "change.html"].map(|page| {
        let page = stage.text(page);
        let svg = page.find("<figure class=\"flame").expect("a flame graph");
        let end = svg + page[svg..].find("</figure>").expect("its end") + "</figure>".len();
        page[svg..end].to_owned()
    })
}

type Named<'a> = [(&'static str, &'a Server); 3];

/// Baseline, before and after over levels of concurrency; the best level of each.
fn sweeps(stage: &Stage, pace: &Pace, servers: Named<'_>) -> (String, Vec<String>, [u64; 3]) {
    let mut charts = Vec::new();
    for (name, server) in servers {
        stage.plimsoll(&format!(
            "sweep {} --levels {} -d {} -t 1 -q --name {name} --out sweep-{name}",
            url(server, "healthz"),
            pace.levels,
            pace.level
        ));
        charts.extend(stage.charts(&format!("sweep-{name}")));
    }
    let folders = servers.map(|(name, _)| format!("sweep-{name}")).join(" ");
    let text = stage.plimsoll(&format!("diff {folders} --out diff"));
    charts.extend(stage.charts("diff"));
    let curves = stage.json(&format!("diff {folders} --out diff"));
    let curves = curves["curves"].as_array().expect("curves");
    let levels = servers.map(|(name, _)| {
        let curve =
            curves.iter().find(|curve| curve["name"] == name).expect("a curve of this name");
        curve["best"]["level"].as_f64().expect("a best level") as u64
    });
    (text, charts, levels)
}

/// Each server at its best level, in turns: runs minutes apart say little of a ratio.
fn best(stage: &Stage, pace: &Pace, servers: Named<'_>, levels: [u64; 3]) -> Vec<InTurns> {
    let ways: Vec<_> = (servers.iter().zip(levels))
        .map(|((name, server), level)| {
            let connections = if level == 1 { "connection" } else { "connections" };
            (
                format!("{name}, {level} {connections}"),
                format!("{} -c {level}", url(server, "healthz")),
            )
        })
        .collect();
    in_turns(stage, pace, "best", &ways)
}

/// One of several ways that were measured in turns.
#[derive(Debug)]
pub struct InTurns {
    pub name: String,
    /// Requests per second, round by round.
    pub qps: Vec<f64>,
    /// The server's processor time per request in microseconds, round by round; 0 where the window was too short to see any.
    pub cpu_us: Vec<f64>,
}

impl InTurns {
    /// Requests per second over another's of the same rounds; nothing where a window was too short for any request.
    pub fn over(&self, other: &Self) -> Option<Effect> {
        ratio(&other.qps, &self.qps)
    }

    /// Processor time per request over another's of the same rounds; nothing where it is not known of each.
    pub fn cpu_over(&self, other: &Self) -> Option<Effect> {
        ratio(&other.cpu_us, &self.cpu_us)
    }

    fn data(&self) -> Value {
        json!({ "name": self.name, "runs_qps": self.qps, "runs_cpu_us_per_request": self.cpu_us })
    }
}

fn ratio(first: &[f64], second: &[f64]) -> Option<Effect> {
    let pairs: Vec<[f64; 2]> = first.iter().zip(second).map(|(a, b)| [*a, *b]).collect();
    let log = paired(&pairs)?;
    Some(Effect::of(Measure::Qps, [mean(first), mean(second)], log, 0.0))
}

/// The geometric mean.
pub fn mean(figures: &[f64]) -> f64 {
    (figures.iter().map(|figure| figure.ln()).sum::<f64>() / figures.len() as f64).exp()
}

/// Runs that differ in one thing, in turns, every other round the other way round: what drifts meets all alike.
fn in_turns(stage: &Stage, pace: &Pace, what: &str, ways: &[(String, String)]) -> Vec<InTurns> {
    let mut found: Vec<_> = (ways.iter())
        .map(|(name, _)| InTurns { name: name.clone(), qps: Vec::new(), cpu_us: Vec::new() })
        .collect();
    for round in 0..pace.rounds {
        let mut order: Vec<usize> = (0..ways.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let out = format!("{what}-{round}-{at}");
            let (line, window) = (&ways[at].1, pace.short);
            stage.plimsoll(&format!("run {line} -t 1 -q -d {window} --out {out}"));
            let (qps, cpu_us) = cost(stage, Path::new(&out));
            found[at].qps.push(qps);
            found[at].cpu_us.push(cpu_us);
        }
    }
    found
}

fn keep_alive(stage: &Stage, pace: &Pace, server: &Server) -> Vec<InTurns> {
    let target = url(server, "healthz");
    let ways = [
        ("keep-alive".to_owned(), format!("{target} -c 64")),
        ("a connection a request".to_owned(), format!("{target} -c 64 --no-keepalive")),
    ];
    in_turns(stage, pace, "connections", &ways)
}

/// By kind of request.
type Ways = Vec<(&'static str, Vec<InTurns>)>;

/// Rows of a database: by statements, query builder and ORM; with few and many workers.
fn rows(stage: &Stage, pace: &Pace) -> (Ways, Vec<InTurns>) {
    let database = Postgres::start().expect("PostgreSQL starts");
    database.run("postgres", "CREATE DATABASE world").expect("a database");
    let at = format!("{}?sslmode=disable", database.url("world"));
    let built = Built::of("dbserver").expect("it builds");
    built.run(&["init", "-database", &at]).expect("its table");
    let folder = stage.folder("dbserver");
    let start = |workers: &str| {
        let arguments = ["-database", &at, "-workers", workers, "-connections", "8"];
        built.start(&folder, &arguments).expect("the database server starts")
    };
    let server = start("1");
    let mut ways = Vec::new();
    for (kind, method) in [("row", "GET"), ("rows", "GET"), ("update", "POST")] {
        let lines = ["raw", "builder", "orm"].map(|way| {
            let path = format!("{way}/{kind}");
            (format!("/{path}"), format!("{} -X {method} -c 16", url(&server, &path)))
        });
        ways.push((kind, in_turns(stage, pace, kind, &lines)));
    }
    drop(server);
    let servers = ["1", "2", "4", "8"].map(|workers| (workers, start(workers)));
    let lines: Vec<_> = (servers.iter())
        .map(|(workers, server)| {
            let name = if *workers == "1" { "worker" } else { "workers" };
            (format!("{workers} {name}"), format!("{} -c 16", url(server, "raw/row")))
        })
        .collect();
    let workers = in_turns(stage, pace, "workers", &lines);
    (ways, workers)
}
