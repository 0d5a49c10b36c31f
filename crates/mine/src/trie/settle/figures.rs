//! Which numbers, codes and identifiers are values: all but the few that stand for themselves, as versions do.

use model::secret::is_card_number;

use super::{Candidate, Label, Trie, agreement};
use crate::segment::{Class, Shape};
use crate::words;

impl Trie {
    /// Numbers, codes and identifiers.
    pub(super) fn settle_figures(&mut self, node: u32) {
        let free = match &self.nodes[node as usize].label {
            Label::Values { .. } => true,
            Label::Fixed(text) => !words::is_plural(text),
        };
        for ((prefix, class, suffix), group) in self.groups(node) {
            if class.is_words() || is_fixed_figure(class, &prefix, &group, free) {
                continue;
            }
            let shape = Shape { prefix: &prefix, class, suffix: &suffix };
            self.generalise(node, &shape, |_, _| true);
        }
    }
}

/// Whether a few figures are fixed: versions and the like, which come often and alone. `free` says that no plural
/// stands before them, of which they could be the numbers.
fn is_fixed_figure(class: Class, prefix: &[u8], group: &[Candidate], free: bool) -> bool {
    const OFTEN: u64 = 20;
    let often = group.iter().all(|candidate| candidate.hits >= OFTEN);
    let few = group.len() <= 3;
    match class {
        Class::Uuid | Class::Email => false,
        Class::Int if group.iter().any(|candidate| is_card(&candidate.text)) => false,
        // Versions of an API may be dates.
        Class::Date | Class::Month => often && group.len() <= 2,
        Class::Hex | Class::Token => group.len() == 1 && group[0].hits >= 5 * OFTEN,
        // `covid-19`: a word with a number, unless there are several of it.
        _ if prefix.ends_with(b"-") || prefix.ends_with(b"_") => few,
        Class::Int if group.iter().all(|candidate| is_error_status(&candidate.text)) => few,
        // `2.0`: a version of an API, not a coordinate.
        Class::Float => few && group.iter().all(|candidate| candidate.text.len() <= 4),
        Class::Version | Class::Code => few && come_again(group),
        // One small number that goes on coming, or of which nothing says that it counts anything.
        _ if group.len() == 1 => {
            let text = &group[0].text;
            let short = text.len() <= 2 || is_year(text);
            // The first of its kind is named in programs, wherever it stands.
            often || text == b"1" || short && (free || come_again(group))
        }
        _ => often && few && (free || agreement(group) < 0.5),
    }
}

/// Whether it is the number of a card, which is in no template.
fn is_card(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(is_card_number)
}

/// Whether the same few came again and again: values of a parameter go on coming.
fn come_again(group: &[Candidate]) -> bool {
    const TIMES: u64 = 4;
    let hits: u64 = group.iter().map(|candidate| candidate.hits).sum();
    hits >= 2 * TIMES && hits >= TIMES * group.len() as u64
}

/// `1984`, `2026`.
fn is_year(text: &[u8]) -> bool {
    matches!(text, [b'1', b'9', b'0'..=b'9', b'0'..=b'9'] | [b'2', b'0', b'0'..=b'9', b'0'..=b'9'])
}

fn is_error_status(text: &[u8]) -> bool {
    matches!(text, [b'4' | b'5', b'0'..=b'5', b'0'..=b'9'])
}
