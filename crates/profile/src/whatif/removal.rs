//! Which functions of a profile go, and the sums over its samples that a prediction is made of.

use crate::data::Profile;
use crate::error::Error;
use crate::functions::Functions;

use super::named::{named, near};

/// Which functions go, and which hold others up.
pub struct Removal {
    /// The profile's functions.
    pub functions: Functions,
    goes: Vec<bool>,
    stays: Vec<bool>,
}

/// Sums over a profile's samples.
#[derive(Debug, Clone, Copy, Default)]
pub struct Removed {
    /// All samples.
    pub total: f64,
    /// Those that go.
    pub removed: f64,
    /// In handlers that a removed function calls, which stay.
    pub stayed: f64,
    /// Collecting garbage in the background.
    pub collecting: f64,
    /// In which memory was allocated, collecting left out.
    pub allocated: f64,
    /// Of these, those that go.
    pub allocated_removed: f64,
    /// Setting headers of the response.
    pub set: f64,
    /// Of these, those that go.
    pub set_removed: f64,
    /// Writing them, outside of what goes.
    pub written: f64,
}

impl Removal {
    /// What goes by these names.
    ///
    /// # Errors
    /// When no function has one of them.
    pub fn of(
        profile: &Profile,
        own: &[String],
        asked: &[String],
        stay: &[String],
    ) -> Result<Self, Error> {
        let removal = Self::lenient(profile, own, asked, stay);
        for name in asked.iter().chain(stay) {
            if named(profile, &removal.functions, name).is_empty() {
                return Err(Error::NoMatch {
                    asked: name.clone(),
                    near: near(profile, &removal.functions, name),
                });
            }
        }
        Ok(removal)
    }

    /// The same; names that no function has are passed over.
    pub fn lenient(profile: &Profile, own: &[String], asked: &[String], stay: &[String]) -> Self {
        let functions = Functions::of(profile, own);
        let any = |names: &[String]| {
            let mut found = vec![false; functions.known.len()];
            for name in names {
                for at in named(profile, &functions, name) {
                    found[at] = true;
                }
            }
            found
        };
        let goes = any(asked);
        let stays = any(stay)
            .iter()
            .zip(&functions.known)
            .map(|(stays, known)| *stays || known.dispatches)
            .collect();
        Self { functions, goes, stays }
    }

    /// The names of the functions that go, in order.
    pub fn names(&self, profile: &Profile) -> Vec<String> {
        let named = self.functions.known.iter().zip(&self.goes).filter(|(_, goes)| **goes);
        let mut names: Vec<String> =
            named.map(|(known, _)| profile.names.text(known.name).to_owned()).collect();
        names.sort();
        names
    }

    /// The sums over a profile's samples of one kind of values.
    pub fn sums(&self, profile: &Profile, kind: usize, of_allocations: bool) -> Removed {
        let mut sums = Removed::default();
        let (mut stack, mut begun) = (Vec::new(), Vec::new());
        for sample in profile.samples.iter() {
            let value = sample.values[kind] as f64;
            self.functions.stack(profile, sample, &mut stack);
            sums.total += value;
            if self.functions.collecting(&stack) {
                sums.collecting += value;
                continue;
            }
            let allocating = of_allocations || self.functions.allocating(&stack);
            // What a dispatcher calls is not its caller's to take away, nor is the next handler.
            self.functions.handlers(&stack, &mut begun);
            let held = stack.iter().position(|at| self.stays[*at as usize]).unwrap_or(stack.len());
            let held = begun.last().map_or(held, |handler| held.min(handler + 1));
            let goes = |part: &[u32]| part.iter().any(|at| self.goes[*at as usize]);
            let removed = goes(&stack[..held]);
            if removed {
                sums.removed += value;
            } else if goes(&stack[held..]) {
                sums.stayed += value;
            }
            if self.functions.setting_header(&stack) {
                sums.set += value;
                sums.set_removed += if removed { value } else { 0.0 };
            }
            if !removed && self.functions.writing_headers(&stack) {
                sums.written += value;
            }
            if allocating {
                sums.allocated += value;
                sums.allocated_removed += if removed { value } else { 0.0 };
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_behind_a_middleware_stay_without_a_dispatcher_between() {
        let text = "net/http.serverHandler.ServeHTTP;main.(*auth).ServeHTTP;main.check 10\n\
                    net/http.serverHandler.ServeHTTP;main.(*auth).ServeHTTP;main.(*api).ServeHTTP;main.query 50\n\
                    net/http.serverHandler.ServeHTTP;net/http.readRequest 40\n";
        let profile = crate::read(text.as_bytes()).unwrap();
        let asked = ["main.(*auth).ServeHTTP".to_owned()];
        let sums = Removal::of(&profile, &[], &asked, &[]).unwrap().sums(&profile, 0, false);
        assert_eq!((sums.total, sums.removed, sums.stayed), (100.0, 10.0, 50.0));
    }
}
