//! What every function costs: itself, with its callees, with what the runtime does for it, and with the garbage that is
//! collected because of it; whose code the cost is; and what each layer of handlers adds.
//!
//! Garbage is collected in the background, in stacks that do not say whose it is. It is charged to those who allocate:
//! by their bytes where a profile of allocations is at hand, else by the time that their allocations took.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use model::profiled::{FunctionCost, Layer, Owner, OwnerShare, Profiled, SCHEMA, ValueKind};

use crate::data::Profile;
use crate::error::Error;
use crate::functions::{Functions, Known};

/// Functions below this share of the total are not listed.
const LEAST_SHARE: f64 = 0.0005;
/// Functions that are listed at most.
const MOST_LISTED: usize = 500;
/// Layers that are listed at most.
const MOST_LAYERS: usize = 40;
/// The kind of values that says how many bytes were allocated.
const ALLOCATED: &str = "alloc_space";

/// Sums for one function.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    flat: i64,
    cum: i64,
    caused: i64,
    /// What it and its callees allocated, in bytes or time.
    allocated: i64,
    /// What it allocated itself.
    allocated_itself: i64,
}

/// A layer in the making.
#[derive(Debug, Clone, Copy, Default)]
struct LayerSums {
    added: i64,
    allocated: i64,
    calls_next: bool,
    depth: f64,
    stacks: f64,
}

/// Sums over a profile.
#[derive(Debug)]
struct Summed {
    functions: Functions,
    sums: Vec<Sums>,
    layers: HashMap<u32, LayerSums, FixedState>,
    flat: HashMap<Owner, i64>,
    cum: HashMap<Owner, i64>,
    caused: HashMap<Owner, i64>,
    /// What was allocated, by who is charged for it.
    allocated: HashMap<Owner, i64>,
    total: i64,
    collecting: i64,
    all_allocated: i64,
    /// The handlers of the stack at hand, kept for its memory.
    begun: Vec<usize>,
}

impl Summed {
    /// Sums a profile up. Where every sample is an allocation, so is its value.
    fn of(profile: &Profile, kind: usize, functions: Functions, of_allocations: bool) -> Self {
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

/// A profile to sum up, and what is known beside it.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The kind of values.
    pub kind: usize,
    /// What was allocated at the same time.
    pub allocations: Option<&'a Profile>,
    /// Requests completed in it.
    pub requests: Option<f64>,
    /// Prefixes of the service's own functions.
    pub own: &'a [String],
    /// Where it is from.
    pub source: &'a str,
}

/// Sums a profile up.
///
/// # Errors
/// When the profile of allocations has no bytes.
pub fn costs(taken: &Taken<'_>) -> Result<Profiled, Error> {
    let profile = taken.profile;
    let summed = Summed::of(profile, taken.kind, Functions::of(profile, taken.own), false);
    let allocations = match taken.allocations {
        None => None,
        Some(profile) => {
            let kind = profile.kind(Some(ALLOCATED))?;
            let mut functions = Functions::of(profile, taken.own);
            functions.respond_as(profile, &summed.functions, taken.profile);
            Some((profile, Summed::of(profile, kind, functions, true)))
        }
    };
    let value = &profile.value_types[taken.kind];
    let shares = Shares::of(&summed, allocations.as_ref());
    let nanoseconds = crate::units::scale(1_000_000, &value.unit, "ns");
    let in_time = nanoseconds.1 == "ns";
    let requests = taken.requests.filter(|requests| *requests > 0.0);
    let per_request = requests.filter(|_| in_time);
    let micros = |value: f64| per_request.map(|requests| value * nanoseconds.0 / 1e9 / requests);
    // A profile of what was allocated has its bytes itself.
    let of_bytes = value.kind == ALLOCATED;
    let (functions, dropped) = functions(taken, &summed, &shares, &micros);
    Ok(Profiled {
        schema: SCHEMA.to_owned(),
        source: taken.source.to_owned(),
        value: ValueKind { kind: value.kind.clone(), unit: value.unit.clone() },
        values: (profile.value_types.iter())
            .map(|value| ValueKind { kind: value.kind.clone(), unit: value.unit.clone() })
            .collect(),
        stacks: profile.samples.len() as u64,
        samples: profile.looks(),
        total: summed.total,
        duration_ns: u64::try_from(profile.duration_ns).ok().filter(|duration| *duration > 0),
        requests: taken.requests,
        bytes: match of_bytes {
            true => Some(summed.total),
            false => allocations.as_ref().map(|(_, allocated)| allocated.total),
        },
        collecting: summed.collecting,
        collecting_by: shares.by.to_owned(),
        owners: shares.owners(&summed),
        layers: shares.layers(taken, &summed, &micros),
        dropped,
        functions,
        notes: Vec::new(),
    })
}

/// The functions that cost most, and how many are left out.
fn functions(
    taken: &Taken<'_>,
    summed: &Summed,
    shares: &Shares<'_>,
    micros: &dyn Fn(f64) -> Option<f64>,
) -> (Vec<FunctionCost>, u64) {
    let profile = taken.profile;
    let requests = taken.requests.filter(|requests| *requests > 0.0);
    let of_bytes = profile.value_types[taken.kind].kind == ALLOCATED;
    let mut functions: Vec<FunctionCost> = (summed.functions.known.iter().zip(&summed.sums))
        .filter(|(_, sums)| sums.cum != 0)
        .map(|(known, sums)| {
            let name = profile.names.text(known.name);
            let (bytes, cum_bytes) = match of_bytes {
                true => (Some(sums.caused), Some(sums.cum)),
                false => shares.bytes(name),
            };
            let collecting = shares.collecting(name, sums.allocated);
            let per = |bytes: Option<i64>| Some(bytes? as f64 / requests?);
            FunctionCost {
                name: name.to_owned(),
                file: profile.names.text(known.file).to_owned(),
                owner: known.owner,
                flat: sums.flat,
                cum: sums.cum,
                caused: sums.caused,
                collecting,
                share: ratio(sums.cum.saturating_add(collecting), summed.total),
                flat_us_per_request: micros(sums.flat as f64),
                cum_us_per_request: micros((sums.cum.saturating_add(collecting)) as f64),
                bytes_per_request: per(bytes),
                cum_bytes_per_request: per(cum_bytes),
            }
        })
        .collect();
    let listed = |function: &FunctionCost| function.share.abs() >= LEAST_SHARE;
    let all = functions.len();
    functions.retain(listed);
    functions.sort_by(|a, b| {
        let key = |f: &FunctionCost| f.cum.saturating_add(f.collecting).saturating_abs();
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
    functions.truncate(MOST_LISTED);
    let dropped = (all - functions.len()) as u64;
    (functions, dropped)
}

/// Adds; what no number holds stays at the largest, which only a damaged profile reaches.
fn plus(sum: &mut i64, value: i64) {
    *sum = sum.saturating_add(value);
}

fn ratio(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How the collection of garbage is divided.
struct Shares<'a> {
    by: &'static str,
    collecting: i64,
    allocated: i64,
    summed: &'a Summed,
    /// Of the profile of allocations: sums and layers by name.
    bytes: Option<HashMap<&'a str, (i64, i64)>>,
    layer_bytes: HashMap<&'a str, i64>,
    owner_bytes: Option<&'a HashMap<Owner, i64>>,
}

impl<'a> Shares<'a> {
    fn of(summed: &'a Summed, allocations: Option<&'a (&'a Profile, Summed)>) -> Self {
        let Some((profile, bytes)) = allocations.filter(|(_, bytes)| bytes.total > 0) else {
            return Self {
                by: if summed.all_allocated > 0 { "time" } else { "none" },
                collecting: summed.collecting,
                allocated: summed.all_allocated,
                summed,
                bytes: None,
                layer_bytes: HashMap::new(),
                owner_bytes: None,
            };
        };
        let name = |known: &Known| profile.names.text(known.name);
        let sums = bytes.functions.known.iter().zip(&bytes.sums);
        let layers = bytes.layers.iter();
        Self {
            by: "bytes",
            collecting: summed.collecting,
            allocated: bytes.total,
            summed,
            bytes: Some(
                sums.map(|(known, sums)| (name(known), (sums.allocated_itself, sums.cum)))
                    .collect(),
            ),
            layer_bytes: layers
                .map(|(at, layer)| (name(&bytes.functions.known[*at as usize]), layer.added))
                .collect(),
            owner_bytes: Some(&bytes.caused),
        }
    }

    fn bytes(&self, name: &str) -> (Option<i64>, Option<i64>) {
        let Some(bytes) = &self.bytes else { return (None, None) };
        let (itself, cum) = bytes.get(name).copied().unwrap_or_default();
        (Some(itself), Some(cum))
    }

    fn part(&self, allocated: i64) -> i64 {
        (ratio(allocated, self.allocated) * self.collecting as f64).round() as i64
    }

    /// What is collected because of a function and its callees, which allocated `timed` by time.
    fn collecting(&self, name: &str, timed: i64) -> i64 {
        match &self.bytes {
            Some(bytes) => self.part(bytes.get(name).map_or(0, |(_, cum)| *cum)),
            None => self.part(timed),
        }
    }

    fn owners(&self, summed: &Summed) -> Vec<OwnerShare> {
        let allocated = self.owner_bytes.unwrap_or(&self.summed.allocated);
        let mut charged = 0;
        let mut owners: Vec<OwnerShare> = (Owner::ALL.into_iter())
            .map(|owner| {
                let of = |map: &HashMap<Owner, i64>| map.get(&owner).copied().unwrap_or(0);
                let collecting = self.part(of(allocated));
                plus(&mut charged, collecting);
                let (flat, caused) =
                    (of(&summed.flat), of(&summed.caused).saturating_add(collecting));
                OwnerShare { owner, flat, cum: of(&summed.cum), caused, share: 0.0 }
            })
            .collect();
        // What nobody is known to have allocated, and what rounding left, is the runtime's.
        plus(&mut owners[Owner::ALL.len() - 1].caused, summed.collecting.saturating_sub(charged));
        for share in &mut owners {
            share.share = ratio(share.caused, summed.total);
        }
        owners
    }

    fn layers(
        &self,
        taken: &Taken<'_>,
        summed: &Summed,
        micros: &dyn Fn(f64) -> Option<f64>,
    ) -> Vec<Layer> {
        let of_bytes = taken.profile.value_types[taken.kind].kind == ALLOCATED;
        let requests = taken.requests.filter(|requests| *requests > 0.0);
        let mut layers: Vec<(f64, Layer)> = (summed.layers.iter())
            .map(|(at, sums)| {
                let known = &summed.functions.known[*at as usize];
                let name = taken.profile.names.text(known.name);
                let bytes = match (&self.bytes, of_bytes) {
                    (_, true) => Some(sums.added),
                    (Some(_), _) => Some(self.layer_bytes.get(name).copied().unwrap_or(0)),
                    (None, _) => None,
                };
                let collecting = self.part(bytes.unwrap_or(sums.allocated));
                let layer = Layer {
                    name: name.to_owned(),
                    owner: known.owner,
                    calls_next: sums.calls_next,
                    added: sums.added,
                    collecting,
                    share: ratio(sums.added.saturating_add(collecting), summed.total),
                    us_per_request: micros((sums.added.saturating_add(collecting)) as f64),
                    bytes_per_request: bytes.zip(requests).map(|(bytes, of)| bytes as f64 / of),
                };
                (sums.depth / sums.stacks.max(1.0), layer)
            })
            .filter(|(_, layer)| layer.share.abs() >= LEAST_SHARE)
            .collect();
        // A chain needs two that are called by a dispatcher; one alone is an accident of names.
        if layers.len() < 2 {
            return Vec::new();
        }
        layers.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.name.cmp(&b.1.name)));
        layers.into_iter().map(|(_, layer)| layer).take(MOST_LAYERS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(text: &str) -> Vec<(String, i64, bool)> {
        let profile = crate::read(text.as_bytes()).unwrap();
        let taken = Taken {
            profile: &profile,
            kind: 0,
            allocations: None,
            requests: None,
            own: &[],
            source: "test",
        };
        let layers = costs(&taken).unwrap().layers.into_iter();
        layers.map(|layer| (layer.name, layer.added, layer.calls_next)).collect()
    }

    #[test]
    fn handlers_with_a_method_of_their_own_are_layers() {
        let server = "net/http.(*conn).serve;net/http.serverHandler.ServeHTTP";
        let (logging, api) = ("main.(*logging).ServeHTTP", "main.(*api).ServeHTTP");
        let found = layers(&format!(
            "{server};{logging};log.Printf 30\n\
             {server};{logging};net/http.HandlerFunc.ServeHTTP;main.secure.func1 4\n\
             {server};{logging};net/http.HandlerFunc.ServeHTTP;main.secure.func1;net/http.(*ServeMux).ServeHTTP;{api};main.query 50\n\
             {server};net/http.readRequest 16\n"
        ));
        let expected = [(logging, 30, true), ("main.secure.func1", 4, true), (api, 50, false)];
        assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
    }

    #[test]
    fn functions_around_functions_are_layers() {
        let server = "net/http.serverHandler.ServeHTTP;net/http.HandlerFunc.ServeHTTP";
        let (logging, auth) = ("main.logging.func1", "main.auth.func1");
        let (ok, write) = ("main.hello", "net/http.(*response).Write");
        let found = layers(&format!(
            "{server};{logging};log.Printf 30\n\
             {server};{logging};main.line 5\n\
             {server};{logging};{auth};main.verify;crypto/hmac.New 10\n\
             {server};{logging};{auth};{ok};main.query 40\n\
             {server};{logging};{auth};{ok};{write} 7\n"
        ));
        // What a middleware calls for its own work makes no response.
        let expected = [(logging, 35, true), (auth, 10, true), (ok, 47, false)];
        assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
        // Setting a header is no response either.
        let header = "main.secure;net/http.(*response).Header";
        let found = layers(&format!(
            "{server};{logging};{header} 3\n{server};{logging};{auth};{write} 7\n"
        ));
        let expected = [(logging, 3, true), (auth, 7, false)];
        assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
    }

    #[test]
    fn bytes_are_charged_to_the_layers_of_the_processors_profile() {
        let server =
            "net/http.serverHandler.ServeHTTP;net/http.HandlerFunc.ServeHTTP;main.log.func1";
        let profile = crate::read(
            format!("{server};main.hello;net/http.(*response).Write 10\n{server};fmt.Println 5\n")
                .as_bytes(),
        );
        let profile = profile.unwrap();
        // Writing the response allocated nothing.
        let mut allocations = crate::read(format!("{server};main.hello;hash 64\n").as_bytes());
        let allocations = allocations.as_mut().unwrap();
        allocations.value_types[0].kind = ALLOCATED.to_owned();
        let taken = Taken {
            profile: &profile,
            kind: 0,
            allocations: Some(allocations),
            requests: Some(2.0),
            own: &[],
            source: "test",
        };
        let layers = costs(&taken).unwrap().layers.into_iter();
        let bytes: Vec<_> = layers.map(|layer| (layer.name, layer.bytes_per_request)).collect();
        let expected = [("main.log.func1", Some(0.0)), ("main.hello", Some(32.0))];
        assert_eq!(bytes, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
    }

    #[test]
    fn closures_that_call_each_other_are_layers_in_a_chain_alone() {
        let echo = "github.com/labstack/echo/v4.(*Echo)";
        let (logging, auth) = ("main.main.logging.func1.1", "main.main.auth.func2.1");
        let chain = format!("{echo}.ServeHTTP;{logging}");
        let found = layers(&format!(
            "{chain};main.main.logging.func1.1.1 20\n\
             {chain};{auth} 10\n\
             {chain};{auth};{echo}.add.func1;main.getUser;main.query 50\n"
        ));
        let expected = [(logging, 20, true), (auth, 10, true), ("main.getUser", 50, false)];
        assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
        // Elsewhere a closure that a handler calls is part of it.
        let next = "github.com/gin-gonic/gin.(*Context).Next";
        let found = layers(&format!(
            "{next};main.auth.func1;main.tokens.func1 10\n{next};main.auth.func1;{next};main.get.func1 50\n"
        ));
        let expected = [("main.auth.func1", 10, true), ("main.get.func1", 50, false)];
        assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
    }
}
