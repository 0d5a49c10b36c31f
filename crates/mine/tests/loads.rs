//! The load that comes out is the load that was in the log, scaled, and stands for as many users as it says.

use std::fmt::Write as _;

use mine::{Filter, Format, Outcome, Scale, Survey, Tally, Wanted, in_turn, outcome};
use model::Workload;

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
    let format = Format::named("combined").unwrap();
    let filter = Filter::default();
    let mut survey = Survey::new(&filter);
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
