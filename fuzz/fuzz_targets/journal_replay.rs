//! Journals and results whole: whatever a journal holds, what is read of it becomes a run that is judged, keeps
//! its bounds and is read again as a result.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{Interval, RunBuilder, RunHead};
use serde::de::DeserializeOwned;

fuzz_target!(|data: &[u8]| {
    let mut lines = data.split(|byte| *byte == b'\n');
    let Some(head) = lines.next().and_then(read::<RunHead>) else { return };
    let mut builder = RunBuilder::new(head);
    lines.map_while(read::<Interval>).for_each(|interval| builder.add(&interval));
    let run = verdict::conclude(builder, true);
    assert!(run.blocks.len() <= model::blocks::MOST_BLOCKS);
    assert!(run.timeline.len() <= model::timeline::MOST_POINTS + 1);
    let json = serde_json::to_vec(&run).expect("plain data");
    if let Ok(again) = import::load_run(&json) {
        assert_eq!(verdict::judge(&again).verdict, run.validity.verdict);
        let _ = verdict::exit_code(&again);
    }
});

/// A line, as the program reads it.
fn read<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    import::within_reach(line).ok()?;
    serde_json::from_slice(line).ok()
}
