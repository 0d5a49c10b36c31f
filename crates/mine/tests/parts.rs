//! What comes out does not depend on how many read a log, nor on which of them read which part.

use std::fmt::Write as _;

use mine::{Filter, Format, Outcome, Scale, Survey, Tally, Wanted, in_turn, outcome};
use model::random::{Draws, GOLDEN};

/// Lines of a part that is handed over at a time.
const LINES_AT_A_TIME: usize = 997;

/// More requests, values, words and sets of names than are kept as they are, lines that cannot be read, two zones.
fn log(lines: u64) -> String {
    let mut draw = Draws::of(7);
    let mut text = String::new();
    for line in 0..lines {
        let user = draw.below(9_000);
        let skewed = draw.below(200) * draw.below(200) * draw.below(2);
        let target = match draw.below(13) {
            0..=2 => format!("GET /products/{}", draw.below(30_000)),
            3 => format!("GET /products/{skewed}"),
            4 => format!("GET /blog/about-{}-and-{}", draw.below(400), draw.below(90)),
            5 => format!("GET /{}", name(draw.below(4_000))),
            6 => format!("POST /{}/follow", name(draw.below(4_000))),
            7 => format!("GET /list?{}={}&page={skewed}", name(draw.below(20)), draw.below(9)),
            8 => "GET /marketplace".to_owned(),
            9 => format!("DELETE /carts/{user}/items/{}", draw.below(9)),
            10 => "POST /login".to_owned(),
            11 => format!("GET /img/{}.png", draw.below(50)),
            _ => format!("GET /search?q={}", name(draw.below(60_000))),
        };
        if draw.below(500) == 0 {
            let _ = writeln!(text, "no line of a log, {line}");
        }
        let (minute, second) = (line * 90 / lines % 60, line % 60);
        let hour = 1 + line * 90 / lines / 60;
        let zone = if draw.below(2) == 0 { "+0200" } else { "+0130" };
        let _ = writeln!(
            text,
            "10.0.{}.{} - - [25/Oct/2026:{hour:02}:{minute:02}:{second:02} {zone}] \"{target} HTTP/1.1\" {} {} \"-\" \"x\"",
            user / 200,
            user % 200,
            200 + draw.below(3) * 100,
            draw.below(900),
        );
    }
    text
}

/// A name of letters, another for each number.
fn name(n: u64) -> String {
    let drawn = (n + 1).wrapping_mul(GOLDEN);
    (0..9).map(|at| char::from(b'a' + (drawn >> (at * 5) & 15) as u8)).collect()
}

/// The log read by so many, each of whom takes the next lines at times that only a number decides.
fn read_by(text: &str, readers: usize, seed: u64) -> Outcome {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut draw = Draws::of(seed);
    let mut places: Vec<(usize, usize)> =
        (0..lines.len().div_ceil(LINES_AT_A_TIME)).map(|part| (part, 0)).collect();
    places.iter_mut().for_each(|place| place.1 = draw.below(readers as u64) as usize);
    let part = |at: usize| {
        let from = at * LINES_AT_A_TIME;
        let to = lines.len().min(from + LINES_AT_A_TIME);
        (lines[from..to].concat(), from as u64)
    };
    let format = Format::named("combined").unwrap();
    let filter = Filter::default();
    let mut surveys: Vec<_> =
        (0..readers).map(|_| (Survey::new(&filter), format.reader())).collect();
    for (at, reader) in &places {
        let (text, order) = part(*at);
        let (survey, lines) = &mut surveys[*reader];
        survey.read(text.as_bytes(), order, lines);
    }
    let mut surveys = surveys.into_iter().map(|(survey, _)| survey);
    let mut survey = surveys.next().unwrap();
    surveys.for_each(|other| survey.absorb(other));
    let surveyed = survey.finish(3_600).unwrap();
    let mut tallies: Vec<_> = (0..readers)
        .map(|_| (Tally::new(&surveyed, &filter, &[], true), format.reader()))
        .collect();
    for (at, reader) in &places {
        let (text, order) = part(*at);
        let (tally, lines) = &mut tallies[*reader];
        tally.read(text.as_bytes(), order, lines);
    }
    let mut tallies = tallies.into_iter().map(|(tally, _)| tally);
    let mut tally = tallies.next().unwrap();
    tally.absorb(tallies.collect(), &in_turn);
    let wanted = Wanted {
        top: 50,
        scale: Scale { users_now: Some(1_000), users_wanted: Some(10_000), ..Scale::default() },
        session_gap_ns: 60_000_000_000,
        sessions: true,
        pools: "pools".to_owned(),
        ..Wanted::default()
    };
    outcome(&surveyed, tally, &wanted, &in_turn).unwrap()
}

#[test]
fn many_readers_find_what_one_finds() {
    let text = log(150_000);
    let one = format!("{:#?}", read_by(&text, 1, 0));
    assert!(one.contains("/products/{id}") && one.contains("/marketplace"), "{one}");
    for (readers, seed) in [(2, 1), (3, 2), (7, 3)] {
        let several = format!("{:#?}", read_by(&text, readers, seed));
        let differs = one.lines().zip(several.lines()).find(|(a, b)| a != b);
        assert!(one == several, "{readers} readers: {differs:?}");
    }
}
