//! The tree of a profile's stacks, from the roots on, as flame graphs draw it.

use model::profiled::{Flame, FlameFrame};

use crate::costs::Functions;
use crate::data::Profile;

/// Frames below this share of the total are left out.
const LEAST_SHARE: f64 = 0.001;
/// Frames of a picture at most.
const MOST_FRAMES: usize = 4000;
/// Depth of a picture at most.
const DEEPEST: usize = 120;

/// The tree of a profile.
pub fn flame(profile: &Profile, kind: usize, own: &[String]) -> Flame {
    let functions = Functions::of(profile, own);
    // Each stack from its root on, with its value, in the order of names, so that equal beginnings are neighbours.
    let mut stacks: Vec<(Vec<u32>, i64)> = Vec::new();
    let mut stack = Vec::new();
    for sample in profile.samples.iter() {
        let value = sample.values[kind];
        functions.stack(profile, sample, &mut stack);
        if value > 0 && !stack.is_empty() {
            stacks.push((stack.iter().rev().take(DEEPEST).copied().collect(), value));
        }
    }
    let name = |at: &u32| profile.names.text(functions.known[*at as usize].name);
    stacks.sort_by(|a, b| a.0.iter().map(name).cmp(b.0.iter().map(name)));
    let total = stacks.iter().fold(0_i64, |sum, (_, value)| sum.saturating_add(*value));
    let mut frames: Vec<(FlameFrame, u32)> = Vec::new();
    // The frames that are open at each depth, by their place in `frames`.
    let mut open: Vec<usize> = Vec::new();
    let mut start = 0_i64;
    for (stack, value) in &stacks {
        let shared = open
            .iter()
            .zip(stack)
            .take_while(|(at, function)| frames[**at].1 == **function)
            .count();
        open.truncate(shared);
        for function in &stack[shared..] {
            let known = &functions.known[*function as usize];
            let depth = open.len() as u32;
            let frame =
                FlameFrame { name: String::new(), owner: known.owner, depth, start, value: 0 };
            open.push(frames.len());
            frames.push((frame, *function));
        }
        for at in &open {
            frames[*at].0.value = frames[*at].0.value.saturating_add(*value);
        }
        start = start.saturating_add(*value);
    }
    let mut least = ((total as f64 * LEAST_SHARE) as i64).max(1);
    while frames.iter().filter(|(frame, _)| frame.value >= least).count() > MOST_FRAMES {
        least = least.saturating_mul(2);
    }
    frames.retain(|(frame, _)| frame.value >= least);
    let frames = frames
        .into_iter()
        .map(|(frame, function)| FlameFrame { name: name(&function).to_owned(), ..frame });
    Flame { total, frames: frames.collect() }
}
