//! The load that comes out is the load that was in the log, scaled, and stands for as many users as it says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mine::{Filter, Format, Given, Outcome, Scale, Survey, Tally, Wanted, in_turn, outcome};
use model::Workload;
use model::mined::MinedEndpoint;
use model::random::Draws;
use model::workload::Endpoint;

/// An hour of a log: 100 requests each of products, of search and of 20 pages, by 50 users.
fn hour() -> String {
    let mut text = String::new();
    for n in 0..3_600_u32 {
        let request = match n % 12 {
            0..=2 => format!("GET /products/{}", n % 97),
            3..=5 => "GET /search".to_owned(),
            6 => "POST /login".to_owned(),
            _ => format!(
                "GET /pages/{}/about",
                ["news", "team", "jobs", "blog", "press"][n as usize % 5]
            ),
        };
        text += &line(n, n % 50, &request, 200);
    }
    text
}

fn line(second: u32, user: u32, request: &str, status: u16) -> String {
    let mut text = String::new();
    let (hour, minute, second) = (20 + second / 3_600, second / 60 % 60, second % 60);
    let _ = writeln!(
        text,
        "10.0.0.{user} - - [23/Nov/2026:{hour:02}:{minute:02}:{second:02} +0100] \"{request} HTTP/1.1\" {status} 7 \"-\" \"Firefox\""
    );
    text
}

fn mined(text: &str, wanted: Wanted) -> Outcome {
    mined_by(text, &[], wanted)
}

/// With templates that are given.
fn mined_by(text: &str, given: &[&str], wanted: Wanted) -> Outcome {
    let given: Vec<Given> = given.iter().map(|text| Given::parse(text).unwrap()).collect();
    let format = Format::named("combined").unwrap();
    let filter = Filter::default();
    let mut survey = Survey::new(&filter).with_templates(&given);
    survey.read(text.as_bytes(), 0, &mut format.reader());
    let surveyed = survey.finish(3_600).unwrap();
    let mut tally = Tally::new(&surveyed, &filter, &[], wanted.scale.speed.is_some());
    tally.read(text.as_bytes(), 0, &mut format.reader());
    let wanted = Wanted { session_gap_ns: 1_800_000_000_000, pools: "pools".to_owned(), ..wanted };
    outcome(&surveyed, tally, &wanted, &in_turn).unwrap()
}

/// Requests per second that a workload sends.
fn sent(workload: &Workload) -> f64 {
    let single =
        workload.endpoints.iter().map(|endpoint| match (endpoint.concurrency, endpoint.pace) {
            (Some(users), Some(pace)) => users.0 as f64 * 1e9 / pace.0 as f64,
            _ => endpoint.rate.expect("a rate").0,
        });
    let flows =
        workload.flows.iter().map(|flow| flow.rate.expect("a rate").0 * flow.steps.len() as f64);
    single.chain(flows).sum()
}

#[test]
fn endpoints_beyond_the_top_are_sent_as_those_that_are_kept() {
    let scale = Scale { users_now: Some(1_000), users_wanted: Some(10_000), ..Scale::default() };
    for closed in [false, true] {
        let made = mined(&hour(), Wanted { top: 2, scale, closed, ..Wanted::default() });
        let workload = &made.workload;
        assert_eq!(workload.endpoints.len(), 2);
        // One request a second, ten times the users.
        assert!((sent(workload) / 10.0 - 1.0).abs() < 1e-4, "{}", sent(workload));
        assert_eq!(workload.daily_users.map(|users| users.0), Some(10_000));
        let step = made.mined.arithmetic.last().expect("a step");
        assert!((step.value - 1.0 / made.mined.covered).abs() < 1e-9, "{step:?}");
        assert!(step.assumption.contains("the whole load is sent"), "{step:?}");
    }
    let all = mined(&hour(), Wanted { top: 30, scale, ..Wanted::default() });
    assert!((sent(&all.workload) / 10.0 - 1.0).abs() < 1e-4, "{}", sent(&all.workload));
    assert!(all.mined.arithmetic.iter().all(|step| !step.step.contains("raised")));
}

#[test]
fn a_replay_says_whose_load_it_is() {
    let scale = Scale { users_now: Some(50), users_wanted: Some(500), ..Scale::default() };
    for (speed, users) in [(1.0, 50), (2.0, 100)] {
        let scale = Scale { speed: Some(speed), ..scale };
        let made = mined(&hour(), Wanted { top: 1, scale, ..Wanted::default() });
        assert_eq!(made.workload.daily_users.map(|users| users.0), Some(users));
        let said = made.mined.notes.join("\n");
        for words in [&format!("load of {users} daily users"), "--trace 10 would", "every arrival"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
        let arrivals: Vec<f64> =
            made.files["arrivals.txt"].lines().map(|at| at.parse().unwrap()).collect();
        assert_eq!(arrivals.len(), 3_600);
        assert!((arrivals[3_599] - 3_599.0 / speed).abs() < 0.001, "{}", arrivals[3_599]);
    }
}

/// Sessions of a shop as a Markov chain: pages, how a session begins, and what follows what, in percent; what is left
/// of a hundred ends it.
const PAGES: [&str; 6] =
    ["GET /home", "GET /search", "GET /products/{}", "POST /cart", "POST /checkout", "GET /help"];
const FIRST: [u64; 6] = [60, 25, 10, 0, 0, 5];
const THEN: [[u64; 6]; 6] = [
    [5, 50, 25, 0, 0, 2],
    [5, 25, 60, 0, 0, 1],
    [2, 20, 45, 15, 0, 1],
    [0, 10, 20, 10, 40, 1],
    [10, 0, 5, 0, 0, 2],
    [20, 10, 0, 0, 0, 10],
];

#[test]
fn ways_send_what_the_sessions_of_a_markov_chain_sent() {
    let mut draw = Draws::of(5);
    let mut lines = Vec::new();
    let mut counts = [0_u32; 6];
    for user in 0..3_000_u32 {
        let mut at = draw.below(3_500) as u32;
        let mut odds = &FIRST;
        loop {
            let mut left = draw.below(100);
            let Some(page) = (0..6).find(|page| {
                let found = left < odds[*page];
                left = left.saturating_sub(odds[*page]);
                found
            }) else {
                break;
            };
            counts[page] += 1;
            let request = PAGES[page].replace("{}", &draw.below(500).to_string());
            lines.push((
                at,
                line(at, 0, &request, 200)
                    .replace("10.0.0.0", &format!("10.1.{}.{}", user / 250, user % 250)),
            ));
            at += 2 + draw.below(20) as u32;
            odds = &THEN[page];
        }
    }
    lines.sort();
    let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
    let scale = Scale { users_now: Some(3_000), users_wanted: Some(30_000), ..Scale::default() };
    let made = mined(&text, Wanted { top: 30, scale, sessions: true, ..Wanted::default() });
    let workload = &made.workload;
    let wanted = made.mined.peak.rate_per_s * 10.0;
    assert!((sent(workload) / wanted - 1.0).abs() < 0.01, "{} {wanted}", sent(workload));
    let all: u32 = counts.iter().sum();
    let mut sessions = 0.0;
    let mut by_page = [0.0; 6];
    for flow in &workload.flows {
        let rate = flow.rate.unwrap().0;
        sessions += rate;
        for step in &flow.steps {
            let name = step.name.as_deref().unwrap();
            let is_of = |page: &&str| name.starts_with(page.split("{}").next().unwrap());
            by_page[PAGES.iter().position(is_of).unwrap()] += rate;
        }
    }
    for (page, (sent, count)) in by_page.iter().zip(counts).enumerate() {
        let (sent, logged) = (sent / wanted, f64::from(count) / f64::from(all));
        assert!((sent - logged).abs() < 0.01, "{}: {sent} for {logged}", PAGES[page]);
    }
    // As many steps as the sessions of the log had.
    let steps = made.mined.session.requests;
    assert!((wanted / sessions / steps - 1.0).abs() < 0.05, "{} {steps}", wanted / sessions);
    assert_eq!(workload.daily_users.map(|users| users.0), Some(30_000));
    let said = made.mined.notes.join("\n");
    assert!(said.contains("the ways send the requests/s wanted"), "{said}");
    assert!(workload.load.warmup.is_some_and(|warmup| warmup.0 > 10_000_000_000), "{said}");
}

#[test]
fn a_session_asks_for_other_values_where_those_of_the_log_do() {
    let mut text = String::new();
    for user in 0..200 {
        let (product, job) = (1_000 + user, 5_000 + user);
        let paths = [
            format!("products/{product}"),
            format!("products/{}", product * 3),
            format!("jobs/{job}"),
            format!("jobs/{job}"),
        ];
        for (at, path) in (user * 10..).zip(paths) {
            text += &line(at, user, &format!("GET /{path}"), 200);
        }
    }
    let made = mined(&text, Wanted { top: 30, sessions: true, ..Wanted::default() });
    let (mut most_products, mut most_jobs) = (0, 0);
    for flow in &made.workload.flows {
        let paths = flow.steps.iter().map(|step| step.path.as_str());
        let (jobs, products): (Vec<&str>, Vec<&str>) =
            paths.partition(|path| path.starts_with("/jobs/"));
        (most_products, most_jobs) = (most_products.max(products.len()), most_jobs.max(jobs.len()));
        let different: BTreeSet<&str> = products.iter().copied().collect();
        assert_eq!(different.len(), products.len().min(8), "{products:?}");
        assert!(jobs.iter().all(|path| *path == jobs[0]), "{jobs:?}");
        // All of them draw from one file.
        for path in products {
            let pool = path.split(['{', '.']).nth(1).expect("a pool");
            let file = made.workload.pools[pool].file.as_deref().expect("a file");
            assert_eq!(file, "pools/get_products_id.csv");
        }
    }
    assert!(most_products >= 2 && most_jobs >= 2, "{:?}", made.workload.flows);
}

#[test]
fn ways_leave_out_endpoints_beyond_the_top_and_send_the_whole_load() {
    let made = mined(&hour(), Wanted { top: 2, sessions: true, ..Wanted::default() });
    assert!((sent(&made.workload) - 1.0).abs() < 1e-3, "{}", sent(&made.workload));
    let of = made.mined.endpoints.iter().filter_map(|endpoint| endpoint.sent_per_s).sum::<f64>();
    assert!((of - 1.0).abs() < 1e-3, "{of}");
    let all = mined(&hour(), Wanted { top: 30, sessions: true, ..Wanted::default() });
    let said = all.mined.notes.join("\n");
    assert!(said.contains("1 of the workload's requests would change something"), "{said}");
    assert!(!said.contains("with others too"), "{said}");
    let text = hour().replace("products/1 ", "products/1?page=2 ");
    let with = mined(&text, Wanted { top: 30, sessions: true, ..Wanted::default() });
    let said = with.mined.notes.join("\n");
    assert!(said.contains("asked for with others too: 1"), "{said}");
}

#[test]
fn requests_that_are_refused_today_are_reported_and_taken_for_right() {
    let mut text = String::new();
    for n in 0..1_000_u32 {
        let (request, status) = match n % 20 {
            0 => ("GET /me", 401),
            1 => ("GET /orders", if n % 200 == 1 { 500 } else { 200 }),
            2 => ("GET /slow", 429),
            _ => ("GET /home", 200),
        };
        text += &line(n, 1, request, status);
    }
    let made = mined(&text, Wanted { top: 30, ..Wanted::default() });
    let success = |name: &str| {
        let is_it = |one: &&Endpoint| one.name.as_deref() == Some(name);
        let endpoint = made.workload.endpoints.iter().find(is_it).expect("the endpoint");
        endpoint.success.as_ref().map(ToString::to_string)
    };
    assert_eq!(success("GET /me").as_deref(), Some("200-399,401"));
    // Neither a failure now and then nor too much load is the right answer.
    assert_eq!(
        (success("GET /orders"), success("GET /slow"), success("GET /home")),
        (None, None, None)
    );
    let said = made.mined.notes.join("\n");
    for words in [
        "10.50 % of the requests failed",
        "GET /me 401 (5.00 %)",
        "GET /orders 500 (0.50 %)",
        "GET /me (200-399,401)",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_mapping_may_change_the_method_and_says_when_it_replaces_nothing() {
    let map = [("POST /login", "PUT /session"), ("/nowhere", "/else"), ("GET /login", "GET /x")];
    let map = map.map(|(old, new)| (old.to_owned(), new.to_owned())).to_vec();
    let made = mined(&hour(), Wanted { top: 30, map, ..Wanted::default() });
    let sent = made.workload.endpoints.iter();
    let put = sent.clone().find(|one| one.path == "/session").expect("the new endpoint");
    assert_eq!((put.method.as_deref(), put.name.as_deref()), (Some("PUT"), Some("PUT /session")));
    assert!(sent.clone().all(|one| !one.path.starts_with("/login")));
    let said = made.mined.notes.join("\n");
    assert!(said.contains("--map /nowhere=/else replaces nothing"), "{said}");
    assert!(said.contains("--map GET /login=GET /x replaces nothing"), "{said}");
    assert!(!said.contains("PUT /session"), "{said}");
}

#[test]
fn a_secret_to_keep_that_no_endpoint_has_is_reported() {
    let log = hour() + &line(5, 1, "GET /login?pass%77ord=1", 200);
    let keep_secrets = ["password", "pasword"].map(str::to_owned).to_vec();
    let made = mined(&log, Wanted { top: 30, keep_secrets, ..Wanted::default() });
    let said = made.mined.notes.join("\n");
    assert!(said.contains("--keep-secrets pasword: no endpoint has a parameter"), "{said}");
    assert!(!said.contains("--keep-secrets password"), "{said}");
}

#[test]
fn a_template_that_is_given_wins_over_what_is_learnt() {
    let paths = |made: &Outcome| -> Vec<String> {
        made.mined.endpoints.iter().map(|endpoint| endpoint.path.clone()).collect()
    };
    let wanted = || Wanted { top: 30, ..Wanted::default() };
    let learnt = paths(&mined(&hour(), wanted()));
    assert!(learnt.contains(&"/pages/news/about".to_owned()), "{learnt:?}");
    let given = ["/pages/{topic}/about", "/nowhere/{id}"];
    let made = mined_by(&hour(), &given, wanted());
    let found = paths(&made);
    assert_eq!(found.iter().filter(|path| path.starts_with("/pages/")).count(), 1, "{found:?}");
    let of = |one: &&MinedEndpoint| one.path == "/pages/{topic}/about";
    let endpoint = made.mined.endpoints.iter().find(of).expect("the endpoint");
    assert_eq!((endpoint.count, endpoint.parameters[0].distinct), (1_500, 5));
    let pool = made.files.values().find(|pool| pool.starts_with("pages_topic,")).expect("a pool");
    assert!(pool.contains("news,"), "{pool}");
    // Other endpoints are as they were.
    assert!(found.contains(&"/products/{id}".to_owned()), "{found:?}");
    let said = made.mined.notes.join("\n");
    assert!(said.contains("--template /nowhere/{id}: no path"), "{said}");
}

#[test]
fn the_error_of_what_is_estimated_is_said() {
    let log = |ids: u32| {
        (0..30_000)
            .map(move |n| line(n % 10_000, n % 50, &format!("GET /products/{}", n % ids), 200))
    };
    for (ids, estimated) in [(5_000, false), (29_000, true)] {
        let made = mined(&log(ids).collect::<String>(), Wanted { top: 30, ..Wanted::default() });
        let distinct = made.mined.endpoints[0].parameters[0].distinct as f64;
        let note = made.mined.notes.iter().find(|note| note.contains("how many values"));
        assert_eq!(note.is_some(), estimated, "{:?}", made.mined.notes);
        let cut = made.mined.notes.iter().any(|note| note.contains("caches are hit more often"));
        assert_eq!(cut, estimated, "{:?}", made.mined.notes);
        // One of 4,096 to 8,192 values is left out or not by its hash.
        let error = note.map_or(0.0, |note| {
            let (_, text) = note.rsplit_once("up to ").expect("an error");
            text.trim_end_matches(" %").parse::<f64>().expect("a number") / 100.0
        });
        assert!((0.0..0.017).contains(&error), "{error}");
        assert!((distinct / f64::from(ids) - 1.0).abs() <= 4.0 * error, "{distinct} {error}");
    }
}

#[test]
fn query_names_that_are_not_kept_are_reported() {
    let log = |sets: u32| -> String {
        (0..3_000).map(|n| line(n, n % 50, &format!("GET /list?f{}=1", n % sets), 200)).collect()
    };
    for (sets, told) in [(10, None), (24, Some("50 % of the peak's requests have rare sets"))] {
        let made = mined(&log(sets), Wanted { top: 30, ..Wanted::default() });
        let note = made.mined.notes.iter().find(|note| note.contains("rare sets"));
        assert_eq!(note.is_some(), told.is_some(), "{:?}", made.mined.notes);
        assert!(note.is_none_or(|note| note.starts_with(told.unwrap_or_default())), "{note:?}");
    }
}
