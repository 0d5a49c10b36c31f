//! What happens, in its order, and the figures that come of it.

use std::path::Path;

use serde_json::{Value, json};
use testkit::casestudy::{Built, Server};
use testkit::databases::Postgres;

use crate::stage::{Stage, rate, url};

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
        warmup: "2s",
        rounds: 3,
        levels: "1,8,64,256,1000",
        level: "4s",
        short: "3s",
        changes: CHANGES.len(),
    };
    pub const SHORT: Self = Self {
        window: "4s",
        warmup: "0s",
        rounds: 3,
        levels: "1,8",
        level: "300ms",
        short: "200ms",
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
    /// Its charts.
    pub charts: Vec<String>,
    /// Best QPS of baseline, before, after.
    pub best: [f64; 3],
    /// Comparisons of the database server's ways: kind, way, comparison with statements.
    pub ways: Vec<(String, String, Value)>,
    /// With and without keep-alive: requests per second of each round.
    pub connections: Vec<(String, Vec<f64>)>,
    /// By number of workers: requests per second of each round.
    pub workers: Vec<(String, Vec<f64>)>,
    /// Where it was measured.
    pub environment: Value,
}

impl Story {
    /// What the page shows, for machines.
    pub fn data(&self) -> Value {
        json!({
            "tuning": self.tuning,
            "best_qps": { "baseline": self.best[0], "before": self.best[1], "after": self.best[2] },
            "ways": self.ways.iter().map(|(kind, way, found)| json!({ "request": kind, "way": way, "comparison": found["comparison"] })).collect::<Vec<_>>(),
            "keep_alive": self.connections.iter().map(|(name, runs)| json!({ "name": name, "runs_qps": runs })).collect::<Vec<_>>(),
            "workers": self.workers.iter().map(|(name, runs)| json!({ "name": name, "runs_qps": runs })).collect::<Vec<_>>(),
            "environment": self.environment,
        })
    }

    /// The numbers that the case study promises: claim, reach, found, whether met.
    pub fn claims(&self) -> Vec<(&'static str, &'static str, String, bool)> {
        let [baseline, before, after] = self.best;
        let (gain, share) = (after / before, after / baseline);
        let found = self.explained.contains("server.debug_options");
        vec![
            (
                "API server after tuning over before, best level",
                ">= 3x",
                format!("{gain:.2}x"),
                gain >= 3.0,
            ),
            (
                "API server after tuning over the baseline, best level",
                ">= 75 %",
                format!("{:.1} %", share * 100.0),
                share >= 0.75,
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
    let (diff, charts, best) = sweeps(&stage, pace, [&baseline, &before, &after]);
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
        "tune begin {} --baseline {} --profile {} -c 64 -t 1 --warmup {} -d {} --notebook notebook",
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

/// Baseline, before and after over levels of concurrency.
fn sweeps(stage: &Stage, pace: &Pace, servers: [&Server; 3]) -> (String, Vec<String>, [f64; 3]) {
    let names = ["baseline", "before", "after"];
    for (name, server) in names.iter().zip(servers) {
        stage.plimsoll(&format!(
            "sweep {} --levels {} -d {} -t 1 -q --name {name} --out sweep-{name}",
            url(server, "healthz"),
            pace.levels,
            pace.level
        ));
    }
    let folders = names.map(|name| format!("sweep-{name}")).join(" ");
    let text = stage.plimsoll(&format!("diff {folders} --out diff"));
    let mut charts: Vec<_> =
        std::fs::read_dir(stage.path("diff")).expect("its folder").flatten().collect();
    charts.sort_by_key(|chart| chart.file_name());
    let charts = charts
        .iter()
        .map(|chart| chart.path())
        .filter(|path| path.extension().is_some_and(|end| end == "svg"));
    let charts = charts.map(|path| std::fs::read_to_string(path).expect("a chart")).collect();
    let curves = stage.json(&format!("diff {folders} --out diff"));
    // The reference comes last there: curves are told apart by their names.
    let curves = curves["curves"].as_array().expect("curves");
    let best = names.map(|name| {
        let curve =
            curves.iter().find(|curve| curve["name"] == name).expect("a curve of this name");
        curve["best"]["qps"].as_f64().expect("a best level")
    });
    (text, charts, best)
}

/// Requests per second of runs that differ in one thing, in turns.
fn in_turns(
    stage: &Stage,
    pace: &Pace,
    what: &str,
    ways: &[(String, String)],
) -> Vec<(String, Vec<f64>)> {
    let mut found: Vec<_> = ways.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    for round in 0..pace.rounds {
        for (at, (_, line)) in ways.iter().enumerate() {
            let out = format!("{what}-{round}-{at}");
            let window = pace.short;
            stage.plimsoll(&format!("run {line} -t 1 -q -d {window} --out {out}"));
            found[at].1.push(rate(stage, Path::new(&out)));
        }
    }
    found
}

fn keep_alive(stage: &Stage, pace: &Pace, server: &Server) -> Vec<(String, Vec<f64>)> {
    let target = url(server, "healthz");
    let ways = [
        ("keep-alive".to_owned(), format!("{target} -c 64")),
        ("a connection a request".to_owned(), format!("{target} -c 64 --no-keepalive")),
    ];
    in_turns(stage, pace, "connections", &ways)
}

type Compared = Vec<(String, String, Value)>;

/// Rows of a database: by statements, query builder and ORM; with few and many workers.
fn rows(stage: &Stage, pace: &Pace) -> (Compared, Vec<(String, Vec<f64>)>) {
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
        for way in ["builder", "orm"] {
            let (raw, other) =
                (url(&server, &format!("raw/{kind}")), url(&server, &format!("{way}/{kind}")));
            let out = format!("ways-{kind}-{way}");
            let found = stage.json(&format!(
                "compare {raw} {other} -X {method} -c 16 -t 1 -d {} --rest 200ms --rounds {} -q --anyway --out {out}",
                pace.short,
                pace.rounds
            ));
            ways.push((kind.to_owned(), way.to_owned(), found));
        }
    }
    drop(server);
    let servers = ["1", "2", "4", "8"].map(|workers| (workers, start(workers)));
    let lines: Vec<_> = (servers.iter())
        .map(|(workers, server)| {
            (format!("{workers} workers"), format!("{} -c 16", url(server, "raw/row")))
        })
        .collect();
    let workers = in_turns(stage, pace, "workers", &lines);
    (ways, workers)
}
