//! The tree of a profile's stacks, from the roots on, as flame graphs draw it; of two profiles, with what changed.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;
use model::profiled::{Flame, FlameFrame, FrameChange, Owner};

use crate::compare::Scale;
use crate::costs::Taken;
use crate::data::Profile;
use crate::functions::Functions;
use crate::names::Name;

/// Frames below this share of the total are left out.
const LEAST_SHARE: f64 = 0.001;
/// Frames of a picture at most.
const MOST_FRAMES: usize = 4000;
/// Depth of a picture at most.
const DEEPEST: usize = 120;
/// Picoseconds in a microsecond: values of two profiles are whole picoseconds per request.
const PICOSECONDS: f64 = 1e6;

/// The tree of a profile.
pub fn flame(profile: &Profile, kind: usize, own: &[String]) -> Flame {
    let functions = Functions::of(profile, own);
    let table = Table::of(&[(profile, &functions)]);
    let mut stacks = Vec::new();
    table.stacks(profile, &functions, &mut stacks, |values| [values[kind], 0]);
    tree(&table, stacks, &|_| None)
}

/// The tree of two profiles in picoseconds of the processor per request, from before and after a change. A stack is as wide
/// as the larger of both, so that what went is seen beside what came. Nothing where [`crate::compare::compare`] has nothing.
pub fn flame_of_change(before: &Taken<'_>, after: &Taken<'_>) -> Option<Flame> {
    let scales = [Scale::of(before)?, Scale::of(after)?];
    let functions = [before, after].map(|taken| Functions::of(taken.profile, taken.own));
    let table = Table::of(&[(before.profile, &functions[0]), (after.profile, &functions[1])]);
    let mut stacks = Vec::new();
    for (side, taken) in [before, after].into_iter().enumerate() {
        table.stacks(taken.profile, &functions[side], &mut stacks, |values| {
            let picoseconds = values[taken.kind] as f64 * scales[side].us * PICOSECONDS;
            let mut sides = [0; 2];
            sides[side] = picoseconds.round() as i64;
            sides
        });
    }
    let change = |[before, after]: [i64; 2]| {
        let half = scales[0]
            .half(before as f64 / PICOSECONDS / scales[0].us)
            .hypot(scales[1].half(after as f64 / PICOSECONDS / scales[1].us));
        let difference = (after - before) as f64 / PICOSECONDS;
        Some(FrameChange { before, after, sure: difference.abs() > half })
    };
    Some(tree(&table, stacks, &change))
}

/// The functions of one or two profiles, each once, in the order of their names.
struct Table<'a> {
    functions: Vec<(&'a str, Owner)>,
    places: HashMap<&'a str, u32, FixedState>,
}

/// A stack from its root on, with its value before and after; of a single profile, before.
type Stack = (Vec<u32>, [i64; 2]);

impl<'a> Table<'a> {
    fn of(profiles: &[(&'a Profile, &Functions)]) -> Self {
        let known = profiles.iter().flat_map(|(profile, functions)| {
            functions.known.iter().map(|known| (profile.names.text(known.name), known.owner))
        });
        let functions: Vec<_> = known.collect::<BTreeMap<_, _>>().into_iter().collect();
        let places = functions.iter().zip(0..).map(|((name, _), place)| (*name, place)).collect();
        Self { functions, places }
    }

    /// Adds a profile's stacks; `value` says what its values are worth.
    fn stacks(
        &self,
        profile: &Profile,
        functions: &Functions,
        stacks: &mut Vec<Stack>,
        value: impl Fn(&[i64]) -> [i64; 2],
    ) {
        let place = |name: Name| self.places[profile.names.text(name)];
        let places: Vec<u32> = functions.known.iter().map(|known| place(known.name)).collect();
        let mut stack = Vec::new();
        for sample in profile.samples.iter() {
            let value = value(sample.values);
            functions.stack(profile, sample, &mut stack);
            if value.iter().any(|side| *side > 0) && !stack.is_empty() {
                let outer = stack.iter().rev().take(DEEPEST);
                stacks.push((outer.map(|at| places[*at as usize]).collect(), value));
            }
        }
    }
}

/// Sums equal stacks up. They are left in order, so that equal beginnings are neighbours.
fn merge(mut stacks: Vec<Stack>) -> Vec<Stack> {
    stacks.sort_by(|a, b| a.0.cmp(&b.0));
    stacks.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            add(&mut kept.1, next.1);
        }
        same
    });
    stacks
}

fn add(sum: &mut [i64; 2], value: [i64; 2]) {
    for (sum, value) in sum.iter_mut().zip(value) {
        *sum = sum.saturating_add(value);
    }
}

/// A node in the making.
struct Node {
    function: u32,
    depth: u32,
    start: i64,
    value: i64,
    sides: [i64; 2],
}

fn tree(
    table: &Table<'_>,
    stacks: Vec<Stack>,
    change: &dyn Fn([i64; 2]) -> Option<FrameChange>,
) -> Flame {
    let mut nodes: Vec<Node> = Vec::new();
    // The nodes that are open at each depth, by their place in `nodes`.
    let mut open: Vec<usize> = Vec::new();
    let mut total = 0_i64;
    for (stack, sides) in merge(stacks) {
        let value = sides[0].max(sides[1]);
        let same = |(at, function): &(&usize, &u32)| nodes[**at].function == **function;
        let shared = open.iter().zip(&stack).take_while(same).count();
        open.truncate(shared);
        for function in &stack[shared..] {
            let depth = open.len() as u32;
            open.push(nodes.len());
            nodes.push(Node { function: *function, depth, start: total, value: 0, sides: [0; 2] });
        }
        for at in &open {
            nodes[*at].value = nodes[*at].value.saturating_add(value);
            add(&mut nodes[*at].sides, sides);
        }
        total = total.saturating_add(value);
    }
    let mut least = ((total as f64 * LEAST_SHARE) as i64).max(1);
    while nodes.iter().filter(|node| node.value >= least).count() > MOST_FRAMES {
        least = least.saturating_mul(2);
    }
    nodes.retain(|node| node.value >= least);
    let frame = |node: Node| {
        let (name, owner) = table.functions[node.function as usize];
        FlameFrame {
            name: name.to_owned(),
            owner,
            depth: node.depth,
            start: node.start,
            value: node.value,
            change: change(node.sides),
        }
    };
    Flame { total, frames: nodes.into_iter().map(frame).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(profile: &Profile) -> Taken<'_> {
        Taken {
            profile,
            kind: profile.kind(None).unwrap(),
            allocations: None,
            requests: Some(1000.0),
            own: &[],
            source: "test",
        }
    }

    /// A `perf script` of this many samples of each stack, written from the leaf on, a millisecond each.
    fn profile(stacks: &[(&str, usize)]) -> Profile {
        let mut text = String::new();
        for (stack, times) in stacks {
            for _ in 0..*times {
                text += "server 1 1.000000:    1000000 cpu-clock:\n";
                for function in stack.split(';') {
                    text += &format!("\t    1000 {function}+0x1 (/bin/server)\n");
                }
                text.push('\n');
            }
        }
        crate::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn equal_beginnings_are_one_frame() {
        let profile = profile(&[("work;main", 3), ("wait;main", 1), ("work;main", 2)]);
        let flame = flame(&profile, profile.kind(None).unwrap(), &[]);
        let frames: Vec<_> =
            flame.frames.iter().map(|f| (f.name.as_str(), f.depth, f.start, f.value)).collect();
        let one = flame.total / 6;
        assert_eq!(
            frames,
            [("main", 0, 0, 6 * one), ("wait", 1, 0, one), ("work", 1, one, 5 * one)]
        );
    }

    #[test]
    fn what_went_and_what_came_stand_beside_each_other() {
        let before = profile(&[("log;main", 400), ("work;main", 400), ("gone;main", 3)]);
        let after = profile(&[("log;main", 100), ("work;main", 404), ("cache;main", 200)]);
        let Some(flame) = flame_of_change(&taken(&before), &taken(&after)) else {
            panic!("no time: {:?}", before.value_types);
        };
        let found = |name: &str| {
            let frame = flame.frames.iter().find(|frame| frame.name == name).unwrap();
            let change = frame.change.unwrap();
            (frame.value / 1_000_000, change.before, change.after, change.sure)
        };
        assert_eq!(found("log"), (400, 400_000_000, 100_000_000, true));
        assert_eq!(found("work"), (404, 400_000_000, 404_000_000, false));
        assert_eq!(found("cache"), (200, 0, 200_000_000, true));
        assert_eq!(found("gone"), (3, 3_000_000, 0, false));
        assert_eq!(found("main"), (1007, 803_000_000, 704_000_000, true));
    }
}
