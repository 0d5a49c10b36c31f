//! Node's and Chromium's own profiles (`node --cpu-prof`, `.cpuprofile`): JSON with a tree of calls, the node that was
//! seen in each sample, and the microseconds between samples. Time in which nothing ran is left out.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde::Deserialize;

use crate::data::{Profile, ValueType};
use crate::error::Error;
use crate::text::{DEEPEST, Gathered};

/// The function that stands for the time in which nothing ran.
const IDLE: &str = "(idle)";
const DAMAGED: &str = "looks like Node's .cpuprofile, but is damaged or cut off: take it again";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    nodes: Vec<Node>,
    start_time: i64,
    end_time: i64,
    samples: Vec<u64>,
    time_deltas: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: u64,
    call_frame: Frame,
    #[serde(default)]
    children: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    function_name: String,
    #[serde(default)]
    url: String,
}

/// Whether JSON begins like one.
pub fn is(text: &str) -> bool {
    let head: String = text.chars().take(400).collect();
    head.contains("\"nodes\"") && head.contains("\"callFrame\"")
}

/// Reads one.
///
/// # Errors
/// When it is damaged, or has more functions than are read.
pub fn read(text: &str) -> Result<Profile, Error> {
    let file: File = serde_json::from_str(text).map_err(|_| Error::NotAProfile(DAMAGED))?;
    if file.samples.len() != file.time_deltas.len() {
        return Err(Error::NotAProfile(DAMAGED));
    }
    let mut places: HashMap<u64, usize, FixedState> = HashMap::default();
    for (at, node) in file.nodes.iter().enumerate() {
        places.insert(node.id, at);
    }
    let place = |id: &u64| places.get(id).copied().ok_or(Error::NotAProfile(DAMAGED));
    let mut callers = vec![None; file.nodes.len()];
    for (at, node) in file.nodes.iter().enumerate() {
        for child in &node.children {
            callers[place(child)?] = Some(at);
        }
    }
    let mut seen = vec![[0_i64; 2]; file.nodes.len()];
    for (id, delta) in file.samples.iter().zip(&file.time_deltas) {
        let [count, time_ns] = &mut seen[place(id)?];
        *count += 1;
        // The clocks of processors differ, so a delta may be negative.
        *time_ns = time_ns.saturating_add(delta.saturating_mul(1000)).max(0);
    }
    let kinds = [("samples", "count"), ("cpu", "nanoseconds")];
    let mut gathered = Gathered::new(
        kinds.map(|(kind, unit)| ValueType { kind: kind.into(), unit: unit.into() }).to_vec(),
    );
    let mut stack = Vec::new();
    for (at, values) in seen.iter().enumerate().filter(|(_, values)| values[0] > 0) {
        if file.nodes[at].call_frame.function_name == IDLE {
            continue;
        }
        stack.clear();
        let mut next = Some(at);
        // Callers of a damaged file may go in a circle.
        while let Some(at) = next.filter(|_| stack.len() < DEEPEST) {
            if let Some(function) = function(&mut gathered, &file.nodes[at].call_frame)? {
                stack.push(gathered.location(&[(function, 0)], "", 0)?);
            }
            next = callers[at];
        }
        gathered.sample(&stack, values)?;
    }
    let mut profile = gathered.finish();
    profile.duration_ns = file.end_time.saturating_sub(file.start_time).saturating_mul(1000);
    Ok(profile)
}

/// The function of a frame; none for the root of all calls.
fn function(gathered: &mut Gathered, frame: &Frame) -> Result<Option<u32>, Error> {
    let file = frame.url.strip_prefix("file://").unwrap_or(&frame.url);
    match frame.function_name.as_str() {
        "(root)" => Ok(None),
        "" => gathered.function("(anonymous)", file).map(Some),
        name => gathered.function(name, file).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: &str = r#"{"nodes":[
        {"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2,4]},
        {"id":2,"callFrame":{"functionName":"","scriptId":"9","url":"file:///srv/app.js","lineNumber":0,"columnNumber":0},"hitCount":0,"children":[3]},
        {"id":3,"callFrame":{"functionName":"work","scriptId":"9","url":"file:///srv/app.js","lineNumber":4,"columnNumber":1},"hitCount":2},
        {"id":4,"callFrame":{"functionName":"(idle)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":1}],
        "startTime":1000,"endTime":9000,"samples":[3,4,3],"timeDeltas":[1000,4000,2500]}"#;

    #[test]
    fn calls_are_read_with_their_time() {
        let profile = crate::read(TAKEN.as_bytes()).unwrap();
        assert_eq!((profile.looks(1), profile.duration_ns), (Some(2), 8_000_000));
        let sample = profile.samples.sample(0);
        assert_eq!(sample.values, [2, 3_500_000]);
        let name = |place: &u32| {
            profile.function_name(profile.locations[*place as usize].lines[0]).to_owned()
        };
        let stack: Vec<String> = sample.stack.iter().map(name).collect();
        assert_eq!(stack, ["work", "(anonymous)"]);
        assert_eq!(profile.samples.len(), 1, "nothing ran while idle");
        assert_eq!(profile.names.text(profile.functions[0].file), "/srv/app.js");
    }

    #[test]
    fn damage_is_reported() {
        for (from, to) in [
            ("\"samples\":[3,4,3]", "\"samples\":[3,77,3]"),
            ("\"children\":[3]", "\"children\":[5]"),
            ("\"samples\":[3,4,3]", "\"samples\":[3,4]"),
            ("\"timeDeltas\":[1000,4000,2500]}", "\"timeDel"),
        ] {
            let text = TAKEN.replace(from, to);
            assert_ne!(text, TAKEN);
            assert_eq!(crate::read(text.as_bytes()).unwrap_err(), Error::NotAProfile(DAMAGED));
        }
        // A circle of callers ends.
        let text = TAKEN.replace("\"hitCount\":2}", "\"hitCount\":2,\"children\":[2]}");
        assert!(crate::read(text.as_bytes()).is_ok());
    }
}
