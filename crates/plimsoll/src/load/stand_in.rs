//! Substitutes for the environment where a workload is checked and not sent, and whether a workload's text would be
//! accepted before its variables and files exist.
//!
//! Owns the substituted values. Reading and compiling are those of every command that takes a workload file.

use std::cell::RefCell;
use std::collections::BTreeSet;

use import::workload::{Document, Fault};
use model::Workload;
use model::plan::DEFAULT_LANES;
use model::workload::template::{Piece, pieces};
use traffic::{Finding, Inputs};

use crate::load::address::Destination;

/// Why a workload would be refused.
#[derive(Debug)]
pub enum Refused {
    /// Its form: what is wrong, in the file's order.
    Form(Vec<Fault>),
    /// What it says: what is wrong, each with its path.
    Meaning(Vec<Finding>),
}

/// Stands in for environment variables: with a 1, which may be a host, a port, a part of a path and JSON, and with
/// a URL for the one that the target begins with.
#[derive(Debug)]
pub struct StandIn {
    /// The variables that the target takes values from.
    pub target: BTreeSet<String>,
    /// The one that it begins with.
    leading: Option<String>,
}

impl StandIn {
    /// What stands in in this workload.
    pub fn of(workload: &Workload) -> Self {
        let (mut target, mut leading) = (BTreeSet::new(), None);
        let mut seen = BTreeSet::new();
        let mut texts = vec![(workload.target.as_str(), true)];
        while let Some((text, begins)) = texts.pop() {
            for (at, piece) in pieces(text) {
                let Piece::Hole(hole) = piece else { continue };
                let begins = begins && at == 0;
                for word in hole.split(|c: char| !c.is_ascii_alphanumeric() && !"_.".contains(c)) {
                    if let Some(name) = word.strip_prefix("env.") {
                        target.insert(name.to_owned());
                        leading = leading.or_else(|| begins.then(|| name.to_owned()));
                    } else if let Some(text) = workload.variables.get(word)
                        && seen.insert(word)
                    {
                        texts.push((text, begins));
                    }
                }
            }
        }
        Self { target, leading }
    }

    /// What stands in for a variable.
    pub fn value(&self, name: &str) -> String {
        if self.leading.as_deref() == Some(name) { "http://1" } else { "1" }.to_owned()
    }
}

/// Reads and compiles a workload, with values that stand in for all environment variables; the names of the files
/// that it needs, each of which is empty here. Pools of files are refused.
///
/// # Errors
/// On all that a command would refuse.
pub fn try_out(yaml: &str) -> Result<BTreeSet<String>, Refused> {
    let document = Document::read(yaml.as_bytes()).map_err(Refused::Form)?;
    let workload = document.workload();
    let stand_in = StandIn::of(workload);
    let files = RefCell::new(BTreeSet::new());
    let compiled = traffic::compile(
        workload,
        &Inputs {
            env: &|name| Some(stand_in.value(name)),
            file: &|name| {
                files.borrow_mut().insert(name.to_owned());
                Ok(Vec::new())
            },
            rows: &|_| Err("is not there yet".to_owned()),
            index: &|_, _| Err("is not there yet".to_owned()),
            pools: None,
            seed: 1,
            lanes: DEFAULT_LANES,
            keepalive: true,
            scale: 1.0,
            reads_only: false,
        },
    );
    let compiled = compiled.map_err(|error| Refused::Meaning(error.findings))?;
    Destination::parse(compiled.target()).map(|_| files.into_inner()).map_err(|failure| {
        let what = failure.to_string();
        Refused::Meaning(vec![Finding { path: "target".to_owned(), part: None, what }])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_target_begins_with_is_a_url() {
        for (target, base, leading) in [
            ("${env.A}/x/${env.B}", "", Some("A")),
            ("http://${env.A}", "", None),
            ("${base}/${env.B}", "${env.A}", Some("A")),
            ("${base}", "http://${env.A}${base}", None),
            ("$${env.A}", "", None),
        ] {
            let variables = [("base".to_owned(), base.to_owned())].into();
            let workload = Workload { target: target.to_owned(), variables, ..Workload::default() };
            let stand_in = StandIn::of(&workload);
            assert_eq!(stand_in.leading.as_deref(), leading, "{target}");
            assert_eq!(stand_in.value("A"), if leading.is_some() { "http://1" } else { "1" });
            assert_eq!(stand_in.target.contains("A"), target != "$${env.A}", "{target}");
            assert_eq!(stand_in.value("B"), "1");
        }
    }
}
