//! The strings of a profile, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

/// A string of a profile: its place in [`Names`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

/// The strings of a profile. The first is always empty.
#[derive(Debug, Clone)]
pub struct Names {
    texts: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32, FixedState>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self { texts: Vec::new(), places: HashMap::default() };
        names.keep("");
        names
    }
}

impl Names {
    /// The name for this text.
    pub fn keep(&mut self, text: &str) -> Name {
        if let Some(place) = self.places.get(text) {
            return Name(*place);
        }
        let place = u32::try_from(self.texts.len()).expect("readers bound the number of strings");
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.places.insert(text, place);
        Name(place)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

impl Name {
    /// Its place among the names.
    pub fn index(self) -> u32 {
        self.0
    }

    /// Whether its text is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}
