//! Which samples and frames are looked at: `--focus`, `--ignore`, `--hide` and `--show`, with the meanings that they
//! have in pprof.

use regex::Regex;

use crate::data::{Line, Location, Profile, Samples};
use crate::error::Error;

/// What to look at. Patterns are matched with names of functions, source files and mapped files.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    patterns: [Option<(Regex, String)>; 4],
}

const NAMES: [&str; 4] = ["focus", "ignore", "hide", "show"];

impl Filter {
    /// Samples with a frame that matches `focus` and none that matches `ignore`, without the frames that match `hide`,
    /// and with those only that match `show`.
    ///
    /// # Errors
    /// When one is no regular expression.
    pub fn new(
        focus: Option<&str>,
        ignore: Option<&str>,
        hide: Option<&str>,
        show: Option<&str>,
    ) -> Result<Self, Error> {
        let mut filter = Self::default();
        for (place, text) in [focus, ignore, hide, show].into_iter().enumerate() {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                filter.patterns[place] = Some((pattern(NAMES[place], text)?, text.to_owned()));
            }
        }
        Ok(filter)
    }

    /// Whether everything is looked at.
    pub fn is_empty(&self) -> bool {
        self.patterns.iter().all(Option::is_none)
    }

    /// What is in force, as `name=pattern`.
    pub fn active(&self) -> Vec<String> {
        let active = self.patterns.iter().zip(NAMES);
        active
            .filter_map(|(pattern, name)| Some(format!("{name}={}", pattern.as_ref()?.1)))
            .collect()
    }

    fn pattern(&self, place: usize) -> Option<&Regex> {
        self.patterns[place].as_ref().map(|(regex, _)| regex)
    }

    /// The profile with what is left, and the names of the patterns that matched nothing.
    pub fn apply(&self, mut profile: Profile) -> (Profile, Vec<&'static str>) {
        if self.is_empty() {
            return (profile, Vec::new());
        }
        let [focus, ignore, hide, show] = [0, 1, 2, 3].map(|place| self.pattern(place));
        let matches = Matches::of(&profile, self);
        let mut found = [focus.is_none(), ignore.is_none(), hide.is_none(), show.is_none()];
        // Of each location: whether it brings its samples in, or keeps them out.
        let mut decides = vec![None; profile.locations.len()];
        let mut hidden = vec![false; profile.locations.len()];
        for (place, location) in profile.locations.iter_mut().enumerate() {
            if ignore.is_some() && matches.location(1, location) {
                (found[1], decides[place]) = (true, Some(false));
            } else if focus.is_none() || matches.location(0, location) {
                (found[0], decides[place]) = (true, Some(true));
            }
            if hide.is_some() && matches.location(2, location) {
                found[2] = true;
                let whole = matches.mapping(2, location);
                location.lines.retain(|line| !whole && !matches.line(2, line));
                hidden[place] |= location.lines.is_empty();
            }
            if show.is_some() {
                let whole = matches.mapping(3, location);
                location.lines.retain(|line| whole || matches.line(3, line));
                hidden[place] |= location.lines.is_empty();
                found[3] |= !location.lines.is_empty();
            }
        }
        profile.samples = left(&profile.samples, profile.value_types.len(), &decides, &hidden);
        let missed = NAMES.into_iter().zip(found).filter(|(_, found)| !found);
        (profile, missed.map(|(name, _)| name).collect())
    }
}

fn left(samples: &Samples, kinds: usize, decides: &[Option<bool>], hidden: &[bool]) -> Samples {
    let mut left = Samples::new(kinds);
    let mut stack = Vec::new();
    let any_hidden = hidden.contains(&true);
    for sample in samples.iter() {
        let decided =
            |wanted| sample.stack.iter().any(|place| decides[*place as usize] == Some(wanted));
        if decided(false) || !decided(true) {
            continue;
        }
        stack.clear();
        stack.extend(sample.stack.iter().copied().filter(|place| !hidden[*place as usize]));
        if !any_hidden || !stack.is_empty() {
            left.push(&stack, sample.values, sample.labels).expect("no more than there were");
        }
    }
    left
}

/// Which functions and mapped files each pattern matches: names recur in many locations.
struct Matches {
    functions: [Vec<bool>; 4],
    mappings: [Vec<bool>; 4],
}

impl Matches {
    fn of(profile: &Profile, filter: &Filter) -> Self {
        let functions = [0, 1, 2, 3].map(|place| {
            let Some(regex) = filter.pattern(place) else { return Vec::new() };
            let names = profile.functions.iter().map(|function| {
                regex.is_match(profile.names.text(function.name))
                    || regex.is_match(profile.names.text(function.file))
            });
            names.collect()
        });
        let mappings = [0, 1, 2, 3].map(|place| {
            let Some(regex) = filter.pattern(place) else { return Vec::new() };
            profile.mappings.iter().map(|mapping| regex.is_match(&mapping.file)).collect()
        });
        Self { functions, mappings }
    }

    fn line(&self, pattern: usize, line: &Line) -> bool {
        self.functions[pattern][line.function as usize]
    }

    fn mapping(&self, pattern: usize, location: &Location) -> bool {
        location.mapping.is_some_and(|mapping| self.mappings[pattern][mapping as usize])
    }

    fn location(&self, pattern: usize, location: &Location) -> bool {
        location.lines.iter().any(|line| self.line(pattern, line))
            || self.mapping(pattern, location)
    }
}

/// A regular expression of the command line.
///
/// # Errors
/// When it is none.
pub fn pattern(of: &'static str, text: &str) -> Result<Regex, Error> {
    Regex::new(text).map_err(|error| Error::Pattern { of, why: error.to_string() })
}
