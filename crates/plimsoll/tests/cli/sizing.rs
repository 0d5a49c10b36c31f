//! The guide's "Sizing for ten times the users", carried out on the case study's shop with PostgreSQL: its own access
//! log, `mine`, `fill`, `capacity`.

use testkit::casestudy::Built;
use testkit::databases::Postgres;
use testkit::needs;

use crate::fill::engines::Engine;

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
    let run =
        folder.plimsoll("run mined/workload.yaml --scale 0.1 --reads-only -d 3s --format json");
    let run = run.measured();
    let run: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(run["totals"]["attempts"], run["totals"]["succeeded"], "{}", run["errors"]);

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
