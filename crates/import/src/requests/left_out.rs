//! What a workload's reader or compiler refuses, taken out of an import again.

use std::collections::BTreeMap;

use super::assembly::nothing;
use super::note::{Anchor, Kind, Note};
use super::{BadFile, Imported};

impl Imported {
    /// Takes endpoints and steps out of the workload, each with a note that says why. Notes about what
    /// stays stay with it.
    ///
    /// # Errors
    /// When nothing stays.
    pub fn leave_out(&mut self, reasons: &BTreeMap<Anchor, String>) -> Result<(), BadFile> {
        let mut places = BTreeMap::new();
        let mut left = Vec::new();
        let mut stays = |from: Anchor, to: Anchor, name: &Option<String>| {
            let Some(why) = reasons.get(&from) else {
                places.insert(from, to);
                return true;
            };
            let name = name.clone().unwrap_or_default();
            left.push(Note::new(Kind::NotCarriedOver, name, why));
            false
        };
        let mut endpoints = Vec::new();
        for (at, endpoint) in std::mem::take(&mut self.workload.endpoints).into_iter().enumerate() {
            let to = Anchor::Endpoint(endpoints.len());
            if stays(Anchor::Endpoint(at), to, &endpoint.name) {
                endpoints.push(endpoint);
            }
        }
        let mut flows = Vec::new();
        for (at, mut flow) in std::mem::take(&mut self.workload.flows).into_iter().enumerate() {
            let mut steps = Vec::new();
            for (number, step) in std::mem::take(&mut flow.steps).into_iter().enumerate() {
                let to = Anchor::Step(flows.len(), steps.len());
                if stays(Anchor::Step(at, number), to, &step.name) {
                    steps.push(step);
                }
            }
            if !steps.is_empty() {
                flow.steps = steps;
                flows.push(flow);
            }
        }
        (self.workload.endpoints, self.workload.flows) = (endpoints, flows);
        self.notes.retain_mut(|note| match places.get(&note.anchor) {
            Some(to) => {
                note.anchor = *to;
                true
            }
            None => note.anchor == Anchor::Workload,
        });
        let first = left.first().cloned();
        self.notes.extend(left);
        let empty = self.workload.endpoints.is_empty() && self.workload.flows.is_empty();
        if empty { Err(nothing(first.as_ref())) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Options, import};
    use super::*;

    #[test]
    fn notes_stay_with_what_they_are_about() {
        let bytes = b"curl http://h/a -b jar\ncurl http://h/b -b jar\ncurl http://h/c -b jar\n";
        let mut imported = import(Format::Curl, bytes, &Options::default()).unwrap();
        let reasons = BTreeMap::from([(Anchor::Endpoint(1), "no JSON".to_owned())]);
        imported.leave_out(&reasons).unwrap();
        let paths: Vec<&str> =
            imported.workload.endpoints.iter().map(|endpoint| endpoint.path.as_str()).collect();
        assert_eq!(paths, ["/a", "/c"]);
        let notes: Vec<_> =
            imported.notes.iter().map(|note| (note.anchor, note.place.as_str())).collect();
        let expected = [
            (Anchor::Endpoint(0), "line 1"),
            (Anchor::Endpoint(1), "line 3"),
            (Anchor::Workload, "GET /b"),
        ];
        assert_eq!(notes, expected);
        let reasons = [0, 1].map(|at| (Anchor::Endpoint(at), "a reason".to_owned())).into();
        let error = imported.leave_out(&reasons).unwrap_err().to_string();
        assert!(error.contains("no request") && error.contains("a reason"), "{error}");
    }
}
