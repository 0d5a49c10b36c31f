//! Logs are read or refused in both readings, never panicked over, and every line is counted once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mine::{Filter, Format, Survey, Tally, Wanted, in_turn, outcome};

fuzz_target!(|data: &[u8]| {
    let format = Format::detect(data).ok().or_else(|| Format::named("combined"));
    let Some(format) = format else { return };
    let filter = Filter { static_files: true, bots: true, ..Filter::default() };
    let mut survey = Survey::new(&filter);
    survey.read(data, 0, &mut format.reader());
    let (lines, bad) = survey.lines();
    assert!(bad <= lines);
    let Ok(surveyed) = survey.finish(60) else { return };
    let mut tally = Tally::new(&surveyed, &filter, &[], true);
    tally.read(data, 0, &mut format.reader());
    let wanted = Wanted { top: 30, sessions: true, pools: "pools".into(), ..Wanted::default() };
    let made = outcome(&surveyed, tally, &wanted, &in_turn).expect("nothing is scaled");
    assert_eq!(made.mined.requests + made.mined.bad_lines, lines);
    assert_eq!(made.mined.counted + made.mined.left_out, made.mined.requests);
});
