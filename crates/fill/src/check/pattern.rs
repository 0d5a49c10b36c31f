//! Regular expressions of conditions: texts are judged by them, and made of those that are simple.
//!
//! Anchors, classes, repetitions and alternatives mean the same in all three databases and in `regex`. A pattern of
//! anything else is left to the database.

use model::random::Draws;
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Repetitions beyond the least, where a pattern allows any number of them.
const MORE: u32 = 8;
/// The same where a text has to be longer.
const MOST_MORE: usize = 256;

/// Characters that stand at one place of a text.
type Place = Vec<char>;

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    made: Node,
}

/// What texts are made of.
#[derive(Debug, Clone)]
enum Node {
    Text(String),
    One(Place),
    Repeat(Box<Node>, u32, u32),
    All(Vec<Node>),
    Either(Vec<Node>),
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

impl Pattern {
    /// Reads a pattern; `exact` where the case of letters matters. None where it may mean something else here.
    pub fn read(text: &str, exact: bool) -> Option<Self> {
        // Operations on classes, which others take for characters, and flags.
        let bare = text.replace("(?:", "(");
        if has_bracket_in_class(text)
            || ["&&", "--", "~~", "(?"].iter().any(|mark| bare.contains(mark))
        {
            return None;
        }
        let made = node(&regex_syntax::parse(text).ok()?)?;
        let mut builder = RegexBuilder::new(text);
        // A dot is a line's end too in PostgreSQL.
        let regex = builder.case_insensitive(!exact).dot_matches_new_line(true).build().ok()?;
        Some(Self { regex, made })
    }

    /// The pattern of SQLite's GLOB: `*`, `?` and classes.
    pub fn of_glob(glob: &str) -> Option<Self> {
        let mut text = "^".to_owned();
        let mut inside = false;
        for c in glob.chars() {
            match c {
                ']' if inside => inside = false,
                '[' if !inside => inside = true,
                '*' if !inside => {
                    text.push_str(".*");
                    continue;
                }
                '?' if !inside => {
                    text.push('.');
                    continue;
                }
                '-' | '^' if inside => {}
                c => {
                    text.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
                    continue;
                }
            }
            text.push(c);
        }
        Self::read(&(text + "$"), true)
    }

    /// Whether a text is of it.
    pub fn holds(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// A text of it, of a number of characters that is allowed where one is found: a repetition that may be long is seldom as
    /// long as it has to be, so that texts of one length are tried after some draws.
    pub fn text(&self, lengths: (usize, usize), draws: &mut Draws) -> String {
        let (mut text, more) = (String::new(), more(lengths.0));
        for _ in 0..20 {
            text.clear();
            self.made.write(draws, more, &mut text);
            if (lengths.0..=lengths.1).contains(&text.chars().count()) {
                return text;
            }
        }
        self.places(lengths).map_or(text, |places| places.drawn(draws))
    }

    /// The characters for each place of texts of it that all have the same length, which is allowed. Whatever stands at
    /// another place, each may stand; no two differ in the case of letters alone.
    pub fn places(&self, (least, most): (usize, usize)) -> Option<Places> {
        (0..=more(least)).rev().find_map(|more| {
            let mut places = Vec::new();
            let fits = self.made.place(more, most, &mut places) && places.len() >= least;
            fits.then_some(Places(places))
        })
    }
}

/// Repetitions beyond the least for texts of so many characters.
fn more(least: usize) -> u32 {
    MORE.max(least.min(MOST_MORE) as u32)
}

/// The same of what is within a repetition that comes `count` times: without sharing them, two repetitions would make a text as
/// long as the square of what is needed.
fn more_within(more: u32, count: u32) -> u32 {
    (more / count.max(1)).max(more.min(MORE))
}

/// Texts by number: of each place a digit.
#[derive(Debug, Clone, PartialEq)]
pub struct Places(Vec<Place>);

impl Places {
    /// How many texts there are, if there are not more than can be counted.
    pub fn count(&self) -> i64 {
        self.0.iter().fold(1, |count: i64, place| count.saturating_mul(place.len() as i64))
    }

    /// Any of the texts.
    fn drawn(&self, draws: &mut Draws) -> String {
        self.0.iter().map(|place| place[draws.below(place.len() as u64) as usize]).collect()
    }

    /// The text of a number below [`Places::count`].
    pub fn text(&self, mut number: u64) -> String {
        let mut text: Vec<char> = Vec::new();
        for place in self.0.iter().rev() {
            let digits = place.len() as u64;
            text.push(place[(number % digits) as usize]);
            number /= digits;
        }
        text.into_iter().rev().collect()
    }

    /// The number of a text, whatever the case of its letters; none of a text that is not among them.
    pub fn number(&self, text: &str) -> Option<i64> {
        if text.chars().count() != self.0.len() {
            return None;
        }
        let mut digits = text.chars().zip(&self.0);
        digits.try_fold(0_i64, |number, (c, place)| {
            let digit = place.iter().position(|other| other.eq_ignore_ascii_case(&c))?;
            number.checked_mul(place.len() as i64)?.checked_add(digit as i64)
        })
    }
}

impl Node {
    /// Appends a text with so many repetitions beyond the least at most.
    fn write(&self, draws: &mut Draws, more: u32, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::One(place) => out.push(place[draws.below(place.len() as u64) as usize]),
            Self::Repeat(node, least, most) => {
                let more_of_it = draws.below(u64::from((most - least).min(more)) + 1);
                let count = least + more_of_it as u32;
                let more = more_within(more, count);
                (0..count).for_each(|_| node.write(draws, more, out));
            }
            Self::All(nodes) => nodes.iter().for_each(|node| node.write(draws, more, out)),
            Self::Either(nodes) => {
                nodes[draws.below(nodes.len() as u64) as usize].write(draws, more, out);
            }
        }
    }

    /// Adds the places of texts with so many repetitions beyond the least; whether `most` have room for them.
    fn place(&self, more: u32, most: usize, places: &mut Vec<Place>) -> bool {
        match self {
            Self::Text(text) => places.extend(text.chars().map(|c| vec![c])),
            Self::One(place) => {
                let is_twice =
                    |c: &char| c.is_ascii_lowercase() && place.contains(&c.to_ascii_uppercase());
                places.push(place.iter().copied().filter(|c| !is_twice(c)).collect());
            }
            Self::Repeat(node, least, longest) => {
                let count = least.saturating_add(more).min(*longest);
                let more = more_within(more, count);
                return (0..count).all(|_| node.place(more, most, places));
            }
            Self::All(nodes) => return nodes.iter().all(|node| node.place(more, most, places)),
            Self::Either(nodes) => return nodes[0].place(more, most, places),
        }
        places.len() <= most
    }
}

/// Whether a class has a bracket in it: a class by name, which may have other letters elsewhere, or a character, which
/// begins another class here.
fn has_bracket_in_class(text: &str) -> bool {
    let (mut is_inside, mut is_escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' if is_inside => return true,
            '[' => is_inside = true,
            ']' => is_inside = false,
            _ => {}
        }
    }
    false
}

/// What a pattern's texts are made of; none where that is not known.
fn node(hir: &Hir) -> Option<Node> {
    let all = |parts: &[Hir]| parts.iter().map(node).collect::<Option<Vec<Node>>>();
    Some(match hir.kind() {
        // No text can be made for an anchor in the middle of one: `Pattern::holds` will say so.
        HirKind::Empty | HirKind::Look(Look::Start | Look::End) => Node::Text(String::new()),
        HirKind::Look(_) => return None,
        HirKind::Literal(literal) => Node::Text(str::from_utf8(&literal.0).ok()?.to_owned()),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges().iter().map(|range| (range.start(), range.end()));
            Node::One(usual(&ranges.collect::<Vec<_>>())?)
        }
        HirKind::Class(Class::Bytes(_)) => return None,
        HirKind::Repetition(of) => {
            Node::Repeat(Box::new(node(&of.sub)?), of.min, of.max.unwrap_or(u32::MAX))
        }
        HirKind::Capture(of) => node(&of.sub)?,
        HirKind::Concat(parts) => Node::All(all(parts)?),
        HirKind::Alternation(parts) => Node::Either(all(parts)?),
    })
}

/// Letters and digits of a class; where it has none, other characters.
fn usual(ranges: &[(char, char)]) -> Option<Place> {
    let is_in = |c: &char| ranges.iter().any(|(first, last)| (*first..=*last).contains(c));
    let plain: Place = ('0'..='9').chain('A'..='Z').chain('a'..='z').filter(is_in).collect();
    if !plain.is_empty() {
        return Some(plain);
    }
    let shown: Place = (' '..='~').filter(is_in).collect();
    if shown.is_empty() { ranges.first().map(|(first, _)| vec![*first]) } else { Some(shown) }
}
