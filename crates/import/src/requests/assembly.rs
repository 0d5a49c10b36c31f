//! Requests of a file made one workload: one server, credentials masked, what all have in common
//! written once, names unique.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::quote::counted;
use model::secret::mask_text;
use model::units::{SECOND, exact_duration};
use model::workload::{
    Body, Count, Fields, Flow, Literal, LoadSpec, Pool, Time, TlsSpec, Workload,
};

use super::draft::{Draft, Target};
use super::fit::{fit, unfit};
use super::json::text_of;
use super::note::{Anchor, Kind, MOST_NOTES, Note};
use super::secret::Vault;
use super::template::Numbered;
use super::{BadFile, Imported, MOST_REQUESTS};

/// Users and seconds of the load that is written down; whoever runs it sets others.
const USERS: u64 = 10;
const SECONDS: u64 = 10;

/// Bytes of all requests at most: a workload file that is larger is not read.
const MOST_WRITTEN: usize = crate::workload::MOST_BYTES;

/// Parts of all bodies written as structures at most: a workload file holds 100,000 values.
const MOST_PARTS: usize = 40_000;

/// A workload in the making.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// Where all requests go, once it is settled.
    target: Option<Target>,
    asked: Option<Target>,
    pub(super) name: Option<String>,
    pub(super) tls: TlsSpec,
    pub(super) timeout: Option<Time>,
    /// Requests that named a time-out.
    pub(super) timed: usize,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) pools: BTreeMap<String, Pool>,
    pub(super) pool_names: Numbered,
    pub(super) vault: Vault,
    notes: Vec<Note>,
    further_notes: usize,
    endpoints: Vec<Draft>,
    /// Places of endpoints by what they send, so that equal ones become one.
    known: HashMap<String, usize>,
    left_out: u64,
    /// Bytes of the endpoints so far, and parts of their bodies' structures.
    written: usize,
    parts: usize,
    flows: Vec<(String, Vec<Draft>)>,
}

impl Assembly {
    pub(super) fn new(asked: Option<Target>, keep_secrets: bool) -> Self {
        Self { asked, vault: Vault::new(keep_secrets), ..Self::default() }
    }

    /// Says something about the whole file or about what is missing.
    pub(super) fn note(&mut self, kind: Kind, place: impl Into<String>, what: impl AsRef<str>) {
        self.push(Note::new(kind, place, what));
    }

    /// As [`Self::note`], unless the same note is there already.
    pub(super) fn note_once(&mut self, kind: Kind, place: &str, what: impl AsRef<str>) {
        let note = Note::new(kind, place, what);
        if !self.notes.contains(&note) {
            self.push(note);
        }
    }

    fn push(&mut self, note: Note) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(note);
        } else {
            self.further_notes += 1;
        }
    }

    /// Whether every further request is left out; it is counted.
    pub(super) fn is_full(&mut self) -> bool {
        let full = self.endpoints.len() >= MOST_REQUESTS || self.written >= MOST_WRITTEN;
        self.left_out += u64::from(full);
        full
    }

    /// Adds a request of its own. One that was there already weighs more instead.
    pub(super) fn add(&mut self, mut draft: Draft) {
        self.parts = flatten(&mut draft, self.parts, &self.vault.numbers);
        let same = format!(
            "{:?}",
            (
                &draft.name,
                &draft.method,
                &draft.origin,
                &draft.path,
                &draft.query,
                &draft.headers,
                &draft.body
            )
        );
        if let Some(&at) = self.known.get(&same) {
            self.endpoints[at].times += draft.times;
            self.further_notes += draft.further_notes;
            for note in draft.notes {
                if !self.endpoints[at].notes.iter().any(|other| other.what == note.what) {
                    self.push(note);
                }
            }
            return;
        }
        let written = self.written.saturating_add(same.len());
        if self.endpoints.len() >= MOST_REQUESTS || written > MOST_WRITTEN {
            self.left_out += 1;
            return;
        }
        self.written = written;
        self.known.insert(same, self.endpoints.len());
        self.endpoints.push(draft);
    }

    /// Adds a session.
    pub(super) fn add_flow(&mut self, name: String, steps: Vec<Draft>) {
        if !steps.is_empty() {
            self.flows.push((name, steps));
        }
    }

    /// Settles the server: the one asked for if a request goes to it, else the one that most go to,
    /// for which the one asked for stands in. Requests without a server go to whichever it is.
    ///
    /// # Errors
    /// When neither the requests nor the caller name one.
    pub(super) fn settle_target<'a>(
        &mut self,
        origins: impl Iterator<Item = &'a str>,
    ) -> Result<(), BadFile> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        let mut places = HashMap::new();
        for origin in origins.filter(|origin| !origin.is_empty()) {
            let at = *places.entry(origin).or_insert_with(|| {
                counts.push((origin, 0));
                counts.len() - 1
            });
            counts[at].1 += 1;
        }
        let most = counts.iter().rev().max_by_key(|(_, count)| count).map(|(origin, _)| *origin);
        self.target = Some(match (self.asked.clone(), most) {
            (Some(asked), Some(most)) if !places.contains_key(asked.origin.as_str()) => {
                let what = format!("requests to {most} are written for {}", asked.url);
                self.note(Kind::Assumed, "--target", what);
                Target { origin: most.to_owned(), url: asked.url }
            }
            (Some(asked), _) => asked,
            (None, Some(most)) => Target { origin: most.to_owned(), url: most.to_owned() },
            (None, None) => {
                let what = "names no server to send requests to: add --target URL";
                return Err(BadFile::whole(what));
            }
        });
        Ok(())
    }

    /// Whether requests to this server are carried over.
    pub(super) fn keeps(&self, origin: &str) -> bool {
        origin.is_empty() || self.target.as_ref().is_some_and(|target| target.origin == origin)
    }

    /// Says that requests to another server were left out.
    pub(super) fn left_to(&mut self, origin: &str, requests: &[String]) {
        let mut named =
            requests.iter().take(5).map(|name| mask_text(name)).collect::<Vec<_>>().join(", ");
        if requests.len() > 5 {
            named += ", ...";
        }
        let count = requests.len();
        let what = format!("{count} to another server than the target, {origin}: {named}");
        self.note(Kind::NotCarriedOver, "", what);
    }

    /// The workload.
    ///
    /// # Errors
    /// When there is no request to carry over, or no server.
    pub(super) fn finish(mut self) -> Result<Imported, BadFile> {
        self.leave_unfit_out();
        if self.endpoints.is_empty() && self.flows.is_empty() {
            return Err(nothing(self.notes.first()));
        }
        if self.target.is_none() {
            let origins: Vec<String> = self.drafts().map(|draft| draft.origin.clone()).collect();
            self.settle_target(origins.iter().map(String::as_str))?;
        }
        if self.left_out > 0 {
            let what = format!(
                "{}: at most {MOST_REQUESTS} different ones and {} MiB become endpoints; put what \
                 differs between them into a pool",
                counted(self.left_out, "further request"),
                MOST_WRITTEN >> 20
            );
            self.note(Kind::NotCarriedOver, "", what);
        }
        self.leave_others_out();
        self.settle_base();
        let (all, timed) = (self.drafts().count(), self.timed);
        if let Some(Time(longest)) = self.timeout.filter(|_| timed < all) {
            let what = format!(
                "the time-out of {} becomes that of the whole workload, {}: a request has none of its own",
                counted(timed as u64, "request"),
                exact_duration(longest)
            );
            self.note(Kind::Assumed, "", what);
        }
        let mut vault = std::mem::take(&mut self.vault);
        self.drafts_mut().for_each(|draft| vault.mask(draft));
        let variables = std::mem::take(&mut self.variables);
        self.drafts_mut().for_each(|draft| fit(draft, &variables));
        self.variables = variables;
        // JSON bodies become text once the structures before them have filled a workload file.
        self.drafts_mut().fold(0, |parts, draft| flatten(draft, parts, &vault.numbers));
        let headers = self.hoist();
        Ok(self.into_imported(vault, headers))
    }

    fn drafts(&self) -> impl Iterator<Item = &Draft> {
        self.endpoints.iter().chain(self.flows.iter().flat_map(|(_, steps)| steps))
    }

    fn drafts_mut(&mut self) -> impl Iterator<Item = &mut Draft> {
        let steps = self.flows.iter_mut().flat_map(|(_, steps)| steps);
        self.endpoints.iter_mut().chain(steps)
    }

    /// Takes the target's path away where every request's path has it already: who names a server as a description
    /// does means the path that is there.
    fn settle_base(&mut self) {
        let Some(target) = &self.target else { return };
        let from = target.url.find("://").map_or(0, |at| at + 3);
        let Some(slash) = target.url[from..].find('/').map(|at| from + at) else { return };
        let (server, base) = target.url.split_at(slash);
        let has_base = |draft: &Draft| {
            let rest = draft.path.strip_prefix(base);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
        };
        if !self.drafts().all(has_base) {
            return;
        }
        let (origin, url) = (target.origin.clone(), server.to_owned());
        let what = format!("its path {base} is a part of every request's path already");
        self.target = Some(Target { origin, url });
        self.note(Kind::Assumed, "--target", what);
    }

    fn leave_others_out(&mut self) {
        let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut endpoints = std::mem::take(&mut self.endpoints);
        endpoints.retain(|draft| {
            let keeps = self.keeps(&draft.origin);
            if !keeps {
                let title = format!("{} {}", draft.place, draft.title());
                others.entry(draft.origin.clone()).or_default().push(title.trim().to_owned());
            }
            keeps
        });
        self.endpoints = endpoints;
        for (origin, requests) in others {
            self.left_to(&origin, &requests);
        }
    }

    fn leave_unfit_out(&mut self) {
        let mut left_out = Vec::new();
        let mut fits = |draft: &Draft| match unfit(draft) {
            None => true,
            Some(why) => {
                left_out.push(Note::new(Kind::NotCarriedOver, draft.place.clone(), why));
                false
            }
        };
        self.endpoints.retain(&mut fits);
        self.flows.iter_mut().for_each(|(_, steps)| steps.retain(&mut fits));
        self.flows.retain(|(_, steps)| !steps.is_empty());
        left_out.into_iter().for_each(|note| self.push(note));
    }

    /// Takes header fields that every request has out of the requests.
    fn hoist(&mut self) -> Fields {
        let count = self.drafts().count();
        if count < 2 {
            return Fields::default();
        }
        let mut counts: HashMap<(String, &str), usize> = HashMap::new();
        for draft in self.drafts() {
            let own: HashSet<_> = draft
                .headers
                .iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), value))
                .collect();
            // A field that comes twice in a request stays there.
            let mut names = HashMap::new();
            draft.headers.iter().for_each(|(name, _)| {
                *names.entry(name.to_ascii_lowercase()).or_insert(0) += 1;
            });
            for field in own.into_iter().filter(|(name, _)| names[name] == 1) {
                *counts.entry(field).or_insert(0) += 1;
            }
        }
        let in_all = |name: &str, value: &str| {
            counts.get(&(name.to_ascii_lowercase(), value)).is_some_and(|n| *n == count)
        };
        let Some(first) = self.drafts().next() else { return Fields::default() };
        let common: Fields =
            first.headers.iter().filter(|(name, value)| in_all(name, value)).collect();
        for draft in self.drafts_mut() {
            let shared =
                |name: &str| common.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
            draft.headers.0.retain(|(name, _)| !shared(name));
        }
        common
    }

    /// Names of the environment variables that what is left reads.
    fn environment(&self, headers: &Fields) -> HashSet<String> {
        let mut names = HashSet::new();
        let mut look = |text: String| {
            let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            for rest in text.split("env.").skip(1) {
                let end = rest.find(|c| !of_name(c)).unwrap_or(rest.len());
                names.insert(rest[..end].to_owned());
            }
        };
        self.drafts().for_each(|draft| look(format!("{draft:?}")));
        look(format!("{:?} {:?} {headers:?}", self.target, self.variables));
        names
    }

    fn into_imported(mut self, vault: Vault, headers: Fields) -> Imported {
        let mut purposes = vault.purposes;
        let read = self.environment(&headers);
        purposes.retain(|name, _| read.contains(name));
        for (name, purpose) in &purposes {
            let what = format!("set the environment variable {name} before a run: {purpose}");
            self.push(Note::new(Kind::Secret, "", what));
        }
        let mut workload = Workload {
            name: self.name.take().filter(|name| !name.trim().is_empty()),
            target: self.target.take().map(|target| target.url).unwrap_or_default(),
            headers,
            tls: (self.tls != TlsSpec::default()).then(|| std::mem::take(&mut self.tls)),
            timeout: self.timeout,
            load: LoadSpec {
                concurrency: Some(Count(USERS)),
                duration: Some(Time(SECONDS * SECOND)),
                ..LoadSpec::default()
            },
            pools: std::mem::take(&mut self.pools),
            variables: std::mem::take(&mut self.variables),
            ..Workload::default()
        };
        let mut names = Names::default();
        for (at, mut draft) in std::mem::take(&mut self.endpoints).into_iter().enumerate() {
            self.take_notes(&mut draft, Anchor::Endpoint(at));
            let name = names.free(draft.title());
            workload.endpoints.push(draft.endpoint(name));
        }
        for (at, (name, drafts)) in std::mem::take(&mut self.flows).into_iter().enumerate() {
            let mut flow = Flow { name: names.free(name), ..Flow::default() };
            let mut names = Names::default();
            for (step, mut draft) in drafts.into_iter().enumerate() {
                self.take_notes(&mut draft, Anchor::Step(at, step));
                let name = names.free(draft.title());
                flow.steps.push(draft.step(name));
            }
            workload.flows.push(flow);
        }
        let (notes, further_notes) = (self.notes, self.further_notes);
        Imported { workload, notes, further_notes, environment: purposes }
    }

    fn take_notes(&mut self, draft: &mut Draft, anchor: Anchor) {
        self.further_notes += draft.further_notes;
        for note in std::mem::take(&mut draft.notes) {
            self.push(Note { anchor, ..note });
        }
    }
}

/// What is said of a file without a request, with the first reason if there is one.
pub(super) fn nothing(first: Option<&Note>) -> BadFile {
    let why = first.map(|note| format!(" ({note})")).unwrap_or_default();
    BadFile::whole(format!("contains no request that can be converted{why}"))
}

/// Writes a JSON body as text where it has too many parts behind the `parts` of those before it; gives the
/// parts of all.
fn flatten(draft: &mut Draft, parts: usize, numbers: &HashSet<String>) -> usize {
    let Some(Body::Json(literal)) = &mut draft.body else { return parts };
    let text = text_of(literal, numbers);
    let parts = parts.saturating_add(text.matches([',', '{', '[']).count());
    if parts > MOST_PARTS && !matches!(literal, Literal::Text(_)) {
        *literal = Literal::Text(text);
    }
    parts
}

/// Names given so far.
#[derive(Debug, Default)]
struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// The name, with a number behind it if it was given before.
    fn free(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name} ({next})");
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}
