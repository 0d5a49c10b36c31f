//! Segments among credentials that are credentials too, although they do not look like one.

use model::secret::Neighbour;

use super::super::looks::is_plain;
use super::{Label, Trie};
use crate::segment::Class;
use crate::words;

impl Trie {
    /// The child of a node that stands for credentials.
    pub(super) fn secrets_below(&self, node: u32) -> Option<u32> {
        let children = &self.nodes[node as usize].children;
        let is_secret = |child: &&u32| {
            matches!(
                &self.nodes[**child as usize].label,
                Label::Values { prefix, class: Class::Secret, suffix, .. }
                    if prefix.is_empty() && suffix.is_empty()
            )
        };
        children.iter().find(is_secret).copied()
    }

    /// Takes for a credential what stands beside credentials behind a word such as `reset`, unless it is a word that
    /// one knows or another kind of id: some of those drawn at random look like nothing of the kind.
    pub(super) fn settle_secrets(&mut self, node: u32) {
        const SHORTEST: usize = 6;
        // A credential comes once or twice.
        const OFTEN: u64 = 3;
        let neighbour = self.nodes[node as usize].neighbour;
        let Some(secrets) = self.secrets_below(node) else { return };
        let fits = |class: Class| match neighbour {
            Neighbour::Plain | Neighbour::Service | Neighbour::Team => false,
            Neighbour::Distant | Neighbour::Hook => class.is_vague() && class != Class::Word,
            Neighbour::Firm | Neighbour::Loose => class.is_vague(),
        };
        for child in self.nodes[node as usize].children.clone() {
            let alike = match &self.nodes[child as usize].label {
                Label::Fixed(text) => {
                    let word = words::is_reserved(text)
                        || words::is_common(text)
                        || is_plain(text) && self.below(child) >= OFTEN;
                    let class = self.shape(node, text).class;
                    let drawn = class == Class::Word && !is_plain(text);
                    let fits = fits(class) || neighbour == Neighbour::Distant && drawn;
                    fits && !word && text.len() >= SHORTEST
                }
                Label::Values { class, prefix, suffix, .. } => {
                    fits(*class) && prefix.is_empty() && suffix.is_empty()
                }
            };
            if alike {
                self.take_all(secrets);
                self.move_into(node, child, secrets);
            }
        }
    }
}
