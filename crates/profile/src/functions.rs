//! The functions of a profile, each name once, with what they are; and where the handlers of a stack stand.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use model::profiled::Owner;

use crate::data::{Profile, Sample};
use crate::names::Name;
use crate::owner::owner;
use crate::roles::{
    allocates, calls_functions, chains, collects, dispatches, enclosing, responds, serves,
    sets_header, writes_headers,
};

/// Functions of a profile by name, with what they are.
#[derive(Debug)]
pub struct Functions {
    /// Of each function of the profile, its place here.
    place: Vec<u32>,
    /// Each name once.
    pub known: Vec<Known>,
}

/// A function.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name in the profile's names.
    pub name: Name,
    /// Its source file.
    pub file: Name,
    /// Whose it is.
    pub owner: Owner,
    collects: bool,
    allocates: bool,
    sets_header: bool,
    writes_headers: bool,
    /// Whether it calls handlers.
    pub dispatches: bool,
    /// Whether the handlers that it calls are closures that call each other.
    chains: bool,
    /// Whether the handlers that it calls may be functions that call each other.
    calls_functions: bool,
    /// Whether a response is made in it or in what it calls, in some stack of the profile.
    responds: bool,
    /// Whether it is a handler, independent of its caller.
    serves: bool,
    /// The function that a closure was written in, as a number; 0 for what is no closure.
    enclosing: u32,
    /// Whether it is a handler where a dispatcher calls it. Of a framework's functions, closures alone are: the others
    /// are its own work.
    handles: bool,
}

impl Functions {
    /// The functions of a profile.
    pub fn of(profile: &Profile, own: &[String]) -> Self {
        let mut places: HashMap<Name, u32, FixedState> = HashMap::default();
        let mut enclosings: HashMap<&str, u32, FixedState> = HashMap::default();
        let mut functions = Self { place: Vec::new(), known: Vec::new() };
        for function in &profile.functions {
            let next = functions.known.len() as u32;
            let place = *places.entry(function.name).or_insert(next);
            if place == next {
                let (name, file) =
                    (profile.names.text(function.name), profile.names.text(function.file));
                let whose = owner(name, file, own);
                let another = enclosings.len() as u32 + 1;
                let enclosing =
                    enclosing(name).map_or(0, |outer| *enclosings.entry(outer).or_insert(another));
                functions.known.push(Known {
                    name: function.name,
                    file: function.file,
                    owner: whose,
                    collects: collects(name),
                    allocates: allocates(name),
                    sets_header: sets_header(name),
                    writes_headers: writes_headers(name),
                    dispatches: dispatches(name),
                    chains: chains(name),
                    calls_functions: calls_functions(name),
                    responds: responds(name),
                    serves: serves(name, whose),
                    enclosing,
                    handles: whose != Owner::Runtime
                        && (whose != Owner::Framework || name.contains(".func")),
                });
            }
            functions.place.push(place);
        }
        functions.find_who_responds(profile);
        functions
    }

    /// Marks the callers of what makes responses.
    fn find_who_responds(&mut self, profile: &Profile) {
        if !self.known.iter().any(|function| function.responds) {
            return;
        }
        let (mut stack, itself): (_, Vec<bool>) =
            (Vec::new(), self.known.iter().map(|function| function.responds).collect());
        for sample in profile.samples.iter() {
            self.stack(profile, sample, &mut stack);
            let innermost = stack.iter().position(|function| itself[*function as usize]);
            for function in &stack[innermost.unwrap_or(stack.len())..] {
                self.known[*function as usize].responds = true;
            }
        }
    }

    /// Takes over which functions make responses from another profile of the same server: a profile of allocations does not
    /// show it where a response allocates nothing, and the handlers of both must be the same.
    pub fn respond_as(&mut self, profile: &Profile, others: &Self, other: &Profile) {
        let names: HashSet<&str, FixedState> = (others.known.iter())
            .filter(|function| function.responds)
            .map(|function| other.names.text(function.name))
            .collect();
        for function in &mut self.known {
            function.responds |= names.contains(profile.names.text(function.name));
        }
    }

    /// The functions of a stack, innermost first, into `stack`. Places without a symbol are left out.
    pub fn stack(&self, profile: &Profile, sample: Sample<'_>, stack: &mut Vec<u32>) {
        stack.clear();
        for place in sample.stack {
            let lines = &profile.locations[*place as usize].lines;
            stack.extend(lines.iter().map(|line| self.place[line.function as usize]));
        }
    }

    /// Whether a stack is the collection of garbage in the background.
    pub fn collecting(&self, stack: &[u32]) -> bool {
        stack.iter().any(|function| self.known[*function as usize].collects)
    }

    /// Whether a stack allocates.
    pub fn allocating(&self, stack: &[u32]) -> bool {
        stack.iter().any(|function| self.known[*function as usize].allocates)
    }

    /// Whether a stack sets a header of the response.
    pub fn setting_header(&self, stack: &[u32]) -> bool {
        stack.iter().any(|function| self.known[*function as usize].sets_header)
    }

    /// Whether a stack does the server's work for headers that handlers set.
    pub fn writing_headers(&self, stack: &[u32]) -> bool {
        stack.iter().any(|function| self.known[*function as usize].writes_headers)
    }

    /// Where the handlers of a stack stand in it, the outermost first, into `begun`: what a dispatcher called, what is a
    /// handler by its name, and functions that handlers of a chain called. Whatever else a handler calls is its own, a
    /// dispatcher included.
    pub fn handlers(&self, stack: &[u32], begun: &mut Vec<usize>) {
        begun.clear();
        let mut chain = Chain::None;
        for at in (0..stack.len()).rev() {
            let function = &self.known[stack[at] as usize];
            if function.chains {
                chain = Chain::Closures;
            } else if function.calls_functions && chain == Chain::None {
                chain = Chain::Functions;
            }
            let caller = stack.get(at + 1).map(|caller| &self.known[*caller as usize]);
            let dispatched = caller.is_some_and(|caller| caller.dispatches);
            let next_of_chain = begun.last() == Some(&(at + 1))
                && caller.is_some_and(|caller| chain.goes_on(caller, function));
            let called = self.is_handler(stack[at]) && (dispatched || next_of_chain);
            if called || function.serves {
                begun.push(at);
            }
        }
    }

    fn is_handler(&self, function: u32) -> bool {
        let function = &self.known[function as usize];
        !function.dispatches && function.handles
    }
}

/// How handlers call each other without a dispatcher in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chain {
    None,
    /// Closures around closures, as echo's.
    Closures,
    /// Closures around functions: `func(next http.HandlerFunc) http.HandlerFunc`. What a closure calls for its own work is
    /// told apart by that it makes no response.
    Functions,
}

impl Chain {
    /// Whether a handler's callee is the next one of the chain.
    fn goes_on(self, caller: &Known, callee: &Known) -> bool {
        let elsewhere = caller.enclosing != 0 && caller.enclosing != callee.enclosing;
        match self {
            Self::None => false,
            Self::Closures => callee.enclosing != 0 && elsewhere,
            Self::Functions => {
                let functions = callee.enclosing != 0 || callee.owner == Owner::Own;
                functions && elsewhere && callee.responds
            }
        }
    }
}
