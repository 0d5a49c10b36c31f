//! The case study's servers with PostgreSQL, and what its pages tell the reader to do with them.

use testkit::casestudy::Built;
use testkit::databases::Postgres;
use testkit::needs;

use crate::fill::engines::Engine;

/// The guide's "Sizing for ten times the users": the shop's access log, `mine`, `fill`, `capacity`.
#[test]
fn a_shop_is_sized_from_its_own_log() {
    if !needs::has("go") || !Postgres::is_there() {
        return;
    }
    let shop = Built::of("shop").expect("it builds");
    let database = Engine::postgres("").expect("PostgreSQL");
    let folder = &database.folder;
    let open = |url: &str| format!("{url}?sslmode=disable");
    shop.run(&["init", "-database", &open(&database.url)]).expect("its tables");
    let server = shop.start(folder.path(), &["-database", &open(&database.url)]);
    let server = server.expect("the shop starts");
    let target = format!("http://{}", server.address);

    let today = include_str!("../../../../casestudy/shop.yaml");
    folder.put("today.yaml", today.replace("http://127.0.0.1:8080", &target));
    folder.plimsoll("run today.yaml -R 100 -d 4s --quiet").measured();
    // The log is written out within a second.
    server.stop();
    let server = shop.start(folder.path(), &["-database", &open(&database.url)]);
    let server = server.expect("the shop starts again");
    let target = format!("http://{}", server.address);

    let mined = folder.plimsoll(&format!(
        "mine access.log --window 4s --dau-now 1600 --dau-target 16000 --target {target} --out mined"
    ));
    let mined = mined.ok();
    assert!(mined.stdout.contains("GET /api/v1/users/{id}/orders"), "{}", mined.stdout);
    let filled = folder.plimsoll(&format!(
        "fill {} --for mined/workload.yaml --dau-now 1600 --dau-target 16000",
        database.url
    ));
    filled.ok();
    assert_eq!(database.number("SELECT count(*) FROM users"), 16_000.0);

    // Every id in the pools has a row.
    let run = folder
        .plimsoll("run mined/workload.yaml --scale 0.1 --reads-only -d 3s -T 60s --format json");
    let run = run.measured();
    let run: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(run["totals"]["attempts"], run["totals"]["succeeded"], "{}", run["totals"]);

    let line =
        "capacity mined/workload.yaml --reads-only --slo p99<5s --max 100 --budget 12s --hold 2s";
    let found = folder.plimsoll(&format!("{line} --out found"));
    assert!(found.stdout.contains("daily users"), "{}{}", found.stdout, found.stderr);
    let row = found.stdout.lines().find(|line| line.starts_with("GET /api/v1/products/{id}"));
    assert!(row.is_some_and(|row| row.matches("/s").count() == 2), "{}", found.stdout);
    let page = folder.text("found/report.html");
    assert!(page.contains("p99 today"));
    server.stop();
}

#[test]
fn visitors_of_the_api_server_register_log_in_and_keep_secrets() {
    if !needs::has("go") || !Postgres::is_there() {
        return;
    }
    let server = Built::of("apiserver").expect("it builds");
    let database = Engine::postgres("").expect("PostgreSQL");
    let folder = &database.folder;
    let url = format!("{}?sslmode=disable", database.url);
    let settings = include_str!("../../../../casestudy/config.accounts.yaml");
    folder.put("config.yaml", settings.replace("postgres://localhost/accounts", &url));
    let server = server.start(folder.path(), &[]).expect("it starts");
    let visits = include_str!("../../../../casestudy/accounts.yaml");
    let visits = visits.replace("127.0.0.1:8080", &server.address);
    folder.put("visits.yaml", visits);
    let run = folder.plimsoll("run visits.yaml -d 2s -T 60s --quiet --format json").measured();
    let run: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(run["totals"]["attempts"], run["totals"]["succeeded"], "{}", run["totals"]);
    assert_eq!(run["flows"][0]["started"], run["flows"][0]["completed"]);
    let (kept, users) = ("SELECT count(*) FROM secrets", "SELECT count(*) FROM users");
    assert_eq!(database.number(kept), 0.0);
    // Each visit is a user of its own and five requests.
    assert_eq!(run["totals"]["attempts"], 5.0 * database.number(users));
    server.stop();
    let log = folder.text("access.log");
    assert_eq!(run["totals"]["attempts"], log.lines().count() as u64, "a line a response:\n{log}");
}

#[test]
fn rows_are_the_same_by_every_way() {
    if !needs::has("go") || !Postgres::is_there() {
        return;
    }
    let server = Built::of("dbserver").expect("it builds");
    let database = Engine::postgres("").expect("PostgreSQL");
    let url = format!("{}?sslmode=disable", database.url);
    server.run(&["init", "-database", &url]).expect("its table");
    let folder = &database.folder;
    let server = server.start(folder.path(), &["-database", &url]).expect("it starts");
    for (path, method, checked) in
        [("row", "GET", "/id"), ("rows", "GET", "/19/id"), ("update", "POST", "/id")]
    {
        for way in ["raw", "builder", "orm"] {
            let workload = format!(
                "target: http://{}\nload: {{ concurrency: 2, requests: 20 }}\nendpoints:\n  \
                 - {{ method: {method}, path: /{way}/{path}, checks: [ {{ json: {{ pointer: {checked} }} }} ] }}\n",
                server.address
            );
            folder.put("way.yaml", workload);
            let run = folder.plimsoll("run way.yaml --quiet --format json").measured();
            let run: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
            assert_eq!(run["totals"]["succeeded"], 20, "{way}/{path}: {}", run["errors"]);
        }
    }
    assert_eq!(database.number("SELECT count(*) FROM world"), 100_000.0);
}
