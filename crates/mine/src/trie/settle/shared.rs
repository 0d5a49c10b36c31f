//! The prefix or suffix that all sibling segments share: it distinguishes none of them.

use super::Candidate;

/// Leaves what all of a group share out of their texts: `:chat.example.org` behind each user of a server, `camera.`
/// before each of its cameras. Words in it would make all of them look like words.
pub(super) fn without_shared(mut group: Vec<Candidate>) -> Vec<Candidate> {
    const FEWEST: usize = 8;
    if group.len() < FEWEST {
        return group;
    }
    let first = group[0].text.clone();
    let in_front = group.iter().map(|candidate| same(first.iter(), candidate.text.iter())).min();
    let behind =
        group.iter().map(|candidate| same(first.iter().rev(), candidate.text.iter().rev())).min();
    let front = &first[..in_front.unwrap_or(0)];
    let front = front.iter().rposition(is_sign).map_or(0, |at| at + 1);
    let back = &first[first.len() - behind.unwrap_or(0)..];
    let back = back.iter().position(is_sign).map_or(0, |at| back.len() - at);
    for candidate in &mut group {
        let length = candidate.text.len();
        if front + back < length {
            candidate.text.truncate(length - back);
            candidate.text.drain(..front);
        }
    }
    group
}

/// How many bytes are the same before the first that differs.
fn same<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

fn is_sign(byte: &u8) -> bool {
    matches!(byte, b':' | b'.' | b'@')
}
