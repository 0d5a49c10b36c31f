//! Sums over a profile: of each function, each owner and each layer of handlers.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use model::profiled::Owner;

use crate::data::Profile;
use crate::functions::Functions;

/// Sums for one function.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    pub(super) flat: i64,
    pub(super) cum: i64,
    pub(super) caused: i64,
    /// What it and its callees allocated, in bytes or time.
    pub(super) allocated: i64,
    /// What it allocated itself.
    pub(super) allocated_itself: i64,
}

/// A layer in the making.
#[derive(Debug, Clone, Copy, Default)]
pub struct LayerSums {
    pub(super) added: i64,
    pub(super) allocated: i64,
    pub(super) calls_next: bool,
    pub(super) depth: f64,
    pub(super) stacks: f64,
}

/// Sums over a profile.
#[derive(Debug)]
pub struct Summed {
    pub(super) functions: Functions,
    pub(super) sums: Vec<Sums>,
    pub(super) layers: HashMap<u32, LayerSums, FixedState>,
    pub(super) flat: HashMap<Owner, i64>,
    pub(super) cum: HashMap<Owner, i64>,
    pub(super) caused: HashMap<Owner, i64>,
    /// What was allocated, by who is charged for it.
    pub(super) allocated: HashMap<Owner, i64>,
    pub(super) total: i64,
    pub(super) collecting: i64,
    pub(super) all_allocated: i64,
    /// The handlers of the stack at hand, kept for its memory.
    begun: Vec<usize>,
}

impl Summed {
    /// Sums a profile up. Where every sample is an allocation, so is its value.
    pub fn of(profile: &Profile, kind: usize, functions: Functions, of_allocations: bool) -> Self {
        let mut summed = Self {
            sums: vec![Sums::default(); functions.known.len()],
            functions,
            layers: HashMap::default(),
            flat: HashMap::new(),
            cum: HashMap::new(),
            caused: HashMap::new(),
            allocated: HashMap::new(),
            total: 0,
            collecting: 0,
            all_allocated: 0,
            begun: Vec::new(),
        };
        let mut seen = vec![0; summed.sums.len()];
        let mut stack = Vec::new();
        for (number, sample) in (1..).zip(profile.samples.iter()) {
            let value = sample.values[kind];
            if value != 0 {
                summed.functions.stack(profile, sample, &mut stack);
                let allocated = of_allocations || summed.functions.allocating(&stack);
                summed.add(&stack, value, if allocated { value } else { 0 }, number, &mut seen);
            }
        }
        summed
    }

    fn add(
        &mut self,
        stack: &[u32],
        value: i64,
        allocated: i64,
        number: usize,
        seen: &mut [usize],
    ) {
        plus(&mut self.total, value);
        let leaf =
            stack.first().map_or(Owner::Runtime, |leaf| self.functions.known[*leaf as usize].owner);
        plus(self.flat.entry(leaf).or_default(), value);
        for owner in Owner::ALL {
            if stack.iter().any(|at| self.functions.known[*at as usize].owner == owner) {
                plus(self.cum.entry(owner).or_default(), value);
            }
        }
        for function in stack {
            if seen[*function as usize] != number {
                seen[*function as usize] = number;
                let sums = &mut self.sums[*function as usize];
                plus(&mut sums.cum, value);
                plus(&mut sums.allocated, allocated);
            }
        }
        if let Some(leaf) = stack.first() {
            plus(&mut self.sums[*leaf as usize].flat, value);
        }
        if self.functions.collecting(stack) {
            plus(&mut self.collecting, value);
            return;
        }
        let causer =
            stack.iter().find(|at| self.functions.known[**at as usize].owner != Owner::Runtime);
        let by = causer.map_or(Owner::Runtime, |at| self.functions.known[*at as usize].owner);
        plus(self.caused.entry(by).or_default(), value);
        plus(self.allocated.entry(by).or_default(), allocated);
        plus(&mut self.all_allocated, allocated);
        if let Some(causer) = causer {
            let sums = &mut self.sums[*causer as usize];
            plus(&mut sums.caused, value);
            plus(&mut sums.allocated_itself, allocated);
        }
        self.add_layer(stack, value, allocated);
    }

    fn add_layer(&mut self, stack: &[u32], value: i64, allocated: i64) {
        let mut begun = std::mem::take(&mut self.begun);
        self.functions.handlers(stack, &mut begun);
        if let Some(at) = begun.last() {
            let layer = self.layers.entry(stack[*at]).or_default();
            plus(&mut layer.added, value);
            plus(&mut layer.allocated, allocated);
        }
        // Where each handler of the stack stands, and which of them call another.
        for (nth, at) in begun.iter().enumerate() {
            let layer = self.layers.entry(stack[*at]).or_default();
            layer.calls_next |= nth + 1 < begun.len();
            layer.depth += (stack.len() - at) as f64;
            layer.stacks += 1.0;
        }
        self.begun = begun;
    }
}

/// Adds; what no number holds stays at the largest, which only a damaged profile reaches.
pub fn plus(sum: &mut i64, value: i64) {
    *sum = sum.saturating_add(value);
}
