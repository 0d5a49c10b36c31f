//! The second reading of a log: the requests of every template, with the values of its parameters and the clients that
//! sent them.

mod endpoint;
mod statuses;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;
use model::Latencies;
use model::secret::{is_secret_value, looks_random};
use model::units::SECOND;

use crate::distinct::Distinct;
use crate::filter::{Filter, Kind, Sorter};
use crate::format::Reader;
use crate::hit::Hit;
use crate::parallel::{Each, map};
use crate::repeated::{of_path, of_request};
use crate::rows::Rows;
use crate::survey::Surveyed;
use crate::time::{DAY, Stamp};
use crate::trie::hash;
use crate::visits::Visits;
use crate::{LONGEST_LINE, lines};
pub(crate) use endpoint::{Endpoint, Variant};
use statuses::Statuses;

/// Parts of a row are separated by this: it cannot be in a path or a query.
pub(crate) const SEPARATOR: u8 = 0x1f;
/// Stands in a row for a credential.
pub(crate) const SECRET: &[u8] = &[0x1e];

/// Endpoints that are told apart; the requests of others are counted together.
const MOST_ENDPOINTS: usize = 2_000;
/// Names in a query that are looked at.
const MOST_NAMES: usize = 24;
/// Bytes of all rows of values.
const MOST_ROW_BYTES: usize = 40 << 20;
/// Lines between two looks at that.
const LOOK_EVERY: u64 = 1 << 16;
/// Days whose users are counted.
const MOST_DAYS: usize = 800;
/// Arrivals of the peak that are kept.
const MOST_ARRIVALS: usize = 5_000_000;
/// Latencies that are put together at a time.
const LATENCIES: usize = 512;

/// A log in its second reading.
#[derive(Debug)]
pub struct Tally<'s> {
    surveyed: &'s Surveyed,
    sorter: Sorter,
    keep_secrets: Vec<String>,
    lines: u64,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) statuses: Statuses,
    pub(crate) bots: u64,
    /// Whether any line says which program asked.
    pub(crate) agents: bool,
    pub(crate) static_files: u64,
    pub(crate) left_out: u64,
    pub(crate) counted: u64,
    pub(crate) reads: u64,
    pub(crate) users: Distinct,
    days: BTreeMap<i64, Distinct>,
    pub(crate) endpoints: Vec<Endpoint>,
    places: HashMap<(usize, u64), usize, FixedState>,
    /// Requests of endpoints beyond the bound, in the peak too.
    pub(crate) others: (u64, u64),
    pub(crate) visits: Visits,
    pub(crate) paths: Rows,
    /// Arrivals of the peak, if they are wanted, in nanoseconds.
    pub(crate) arrivals: Option<Vec<i64>>,
    ruler: Latencies,
    row: Vec<u8>,
    /// The memory of the values of the last request's path.
    values: Vec<&'static [u8]>,
}

impl<'s> Tally<'s> {
    /// Nothing read yet. `keep_secrets` names parameters whose values are kept whatever they look like; `trace` says
    /// whether arrivals are kept.
    pub fn new(
        surveyed: &'s Surveyed,
        filter: &Filter,
        keep_secrets: &[String],
        trace: bool,
    ) -> Self {
        Self {
            surveyed,
            sorter: Sorter::new(filter),
            keep_secrets: keep_secrets.to_vec(),
            lines: 0,
            requests: 0,
            bytes: 0,
            statuses: Statuses::default(),
            bots: 0,
            agents: false,
            static_files: 0,
            left_out: 0,
            counted: 0,
            reads: 0,
            users: Distinct::default(),
            days: BTreeMap::new(),
            endpoints: Vec::new(),
            places: HashMap::default(),
            others: (0, 0),
            visits: Visits::default(),
            paths: Rows::default(),
            arrivals: trace.then(Vec::new),
            ruler: Latencies::new(),
            row: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Reads whole lines; `order` is where in the log the first begins, in bytes, for requests of one instant.
    pub fn read(&mut self, text: &[u8], mut order: u64, reader: &mut Reader) {
        for line in lines::each(text) {
            if line.len() <= LONGEST_LINE
                && let Ok(Some(hit)) = reader.read(line)
            {
                self.add(&hit, order);
            }
            order += line.len() as u64 + 1;
        }
    }

    fn add(&mut self, hit: &Hit, order: u64) {
        self.lines += 1;
        if self.lines.is_multiple_of(LOOK_EVERY) {
            self.make_room();
        }
        self.requests += 1;
        self.bytes += hit.bytes;
        self.agents |= !hit.agent.is_empty();
        self.statuses.add(hit.status, 1);
        let path = of_path(hit);
        let often = self.surveyed.frequent.0.contains(&path);
        self.paths
            .add_hashed(path, often, || [hit.method, b" ".as_slice(), hit.path].concat().into());
        let agent = hash(hit.agent);
        match self.sorter.kind(hit, agent) {
            Kind::Bot => self.bots += 1,
            Kind::StaticFile => self.static_files += 1,
            Kind::LeftOut => self.left_out += 1,
            Kind::Counted => {
                let often = self.surveyed.frequent.1.contains(&of_request(path, hit));
                self.count(hit, order, user(hit, agent), often);
            }
        }
    }

    fn count(&mut self, hit: &Hit, order: u64, user: u64, often: bool) {
        self.counted += 1;
        self.reads += u64::from(matches!(hit.method, b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE"));
        self.users.add(user);
        self.count_day(hit.at, user);
        let (from, to) = self.surveyed.peak_ns();
        let in_peak = (from..to).contains(&hit.at.ns);
        if in_peak
            && let Some(arrivals) = &mut self.arrivals
            && arrivals.len() < MOST_ARRIVALS
        {
            arrivals.push(hit.at.ns);
        }
        let mut values = emptied(std::mem::take(&mut self.values));
        let found = self.surveyed.templates.find(hit.path, &mut values);
        let Some(at) = found.and_then(|template| self.place(template, hit.method)) else {
            self.others.0 += 1;
            self.others.1 += u64::from(in_peak);
            return;
        };
        let row = self.count_endpoint(at, hit, &values, (in_peak, often));
        self.visits.add(user, hit.at.ns, order, at as u32, row);
        self.values = emptied(values);
    }

    fn count_day(&mut self, at: Stamp, user: u64) {
        let day = (at.seconds() + i64::from(at.offset_s)).div_euclid(DAY);
        if let Some(users) = self.users_of(day) {
            users.add(user);
        }
    }

    /// The users of a day, if there is room for it.
    fn users_of(&mut self, day: i64) -> Option<&mut Distinct> {
        let has_room = self.days.len() < MOST_DAYS;
        match self.days.entry(day) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(new) => has_room.then(|| new.insert(Distinct::default())),
        }
    }

    /// The place of an endpoint, made if there is room.
    fn place(&mut self, template: usize, method: &[u8]) -> Option<usize> {
        let key = (template, hash(method));
        if let Some(at) = self.places.get(&key) {
            return Some(*at);
        }
        if self.endpoints.len() >= MOST_ENDPOINTS {
            return None;
        }
        let method = String::from_utf8_lossy(method).into_owned();
        let of = &self.surveyed.templates.all()[template];
        let secret =
            |(at, name): (usize, &String)| of.is_secret(at) && !self.keep_secrets.contains(name);
        let secrets = of.parameters.iter().enumerate().map(secret).collect();
        let step_ns = SECOND;
        self.endpoints.push(Endpoint { template, secrets, method, step_ns, ..Endpoint::default() });
        self.places.insert(key, self.endpoints.len() - 1);
        Some(self.endpoints.len() - 1)
    }

    /// Counts a request of an endpoint; it may be in the peak, and be one that comes again and again. What comes back is the
    /// hash of its values, 0 where it has none.
    fn count_endpoint(
        &mut self,
        at: usize,
        hit: &Hit,
        values: &[&[u8]],
        (in_peak, often): (bool, bool),
    ) -> u64 {
        let endpoint = &mut self.endpoints[at];
        endpoint.count += 1;
        endpoint.peak += u64::from(in_peak);
        endpoint.bytes += hit.bytes;
        endpoint.statuses.add(hit.status, 1);
        if in_peak && hit.status >= 400 {
            endpoint.failed.add(hit.status, 1);
        }
        if let Some(took) = hit.took {
            endpoint.step_ns = endpoint.step_ns.min(took.step_ns);
            endpoint.waiting.push(took.ns);
            if endpoint.waiting.len() >= LATENCIES {
                endpoint.add_waiting(&self.ruler);
            }
        }
        let mut pairs = pairs(hit.query);
        pairs.sort_by_key(|(name, _)| *name);
        let template = &self.surveyed.templates.all()[endpoint.template];
        let at = endpoint.variant(&pairs, template, &self.keep_secrets);
        let variant = endpoint.variants.get_mut(at).unwrap_or(&mut endpoint.rare);
        variant.count += 1;
        variant.peak += u64::from(in_peak);
        if (values.is_empty() && pairs.is_empty()) || variant.names.len() != pairs.len() {
            return 0;
        }
        self.row.clear();
        for (value, secret) in values.iter().zip(&endpoint.secrets) {
            self.row.extend_from_slice(if *secret { SECRET } else { value });
            self.row.push(SEPARATOR);
        }
        for ((_, secret), (_, value)) in variant.names.iter().zip(&pairs) {
            self.row.extend_from_slice(if *secret { SECRET } else { value });
            self.row.push(SEPARATOR);
        }
        variant.rows.add(&self.row, often)
    }

    /// Thins the largest tables of values out where all are too large together.
    fn make_room(&mut self) {
        loop {
            let variants = self.endpoints.iter_mut().flat_map(|endpoint| &mut endpoint.variants);
            let mut total = 0;
            let mut largest: Option<&mut Variant> = None;
            for variant in variants {
                total += variant.rows.bytes();
                if largest.as_ref().is_none_or(|other| other.rows.bytes() < variant.rows.bytes()) {
                    largest = Some(variant);
                }
            }
            match largest {
                Some(variant) if total > MOST_ROW_BYTES => variant.rows.halve(),
                _ => return,
            }
        }
    }

    /// Adds what other parts of the log held; `each` carries the parts of that out.
    pub fn absorb(&mut self, others: Vec<Self>, each: Each) {
        let mut endpoints: Vec<(Endpoint, Vec<Endpoint>)> =
            std::mem::take(&mut self.endpoints).into_iter().map(|own| (own, Vec::new())).collect();
        let mut paths = Vec::new();
        for other in others {
            paths.push(self.absorb_one(other, &mut endpoints));
        }
        let own = std::mem::take(&mut self.paths);
        let mut tasks = vec![Task::Paths(own, paths)];
        let task = |(own, others)| Task::Endpoint(Box::new(own), others);
        tasks.extend(endpoints.into_iter().map(task));
        self.endpoints.reserve(tasks.len());
        let ruler = &self.ruler;
        for done in map(each, tasks, |task| task.carried_out(ruler)) {
            match done {
                Task::Paths(rows, _) => self.paths = rows,
                Task::Endpoint(endpoint, _) => self.endpoints.push(*endpoint),
            }
        }
        self.make_room();
    }

    /// Adds what is quick to add of another part, and puts its endpoints beside these; its paths.
    fn absorb_one(&mut self, other: Self, endpoints: &mut Vec<(Endpoint, Vec<Endpoint>)>) -> Rows {
        self.lines += other.lines;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.statuses.absorb(other.statuses);
        self.bots += other.bots;
        self.agents |= other.agents;
        self.static_files += other.static_files;
        self.left_out += other.left_out;
        self.counted += other.counted;
        self.reads += other.reads;
        self.users.absorb(&other.users);
        for (day, users) in other.days {
            if let Some(own) = self.users_of(day) {
                own.absorb(&users);
            }
        }
        if let (Some(own), Some(theirs)) = (&mut self.arrivals, other.arrivals) {
            let room = MOST_ARRIVALS.saturating_sub(own.len());
            own.extend(theirs.into_iter().take(room));
        }
        let mut moved = Vec::new();
        for endpoint in other.endpoints {
            let key = (endpoint.template, hash(endpoint.method.as_bytes()));
            let at = match self.places.get(&key) {
                Some(at) => {
                    endpoints[*at].1.push(endpoint);
                    Some(*at as u32)
                }
                None if endpoints.len() < MOST_ENDPOINTS => {
                    self.places.insert(key, endpoints.len());
                    endpoints.push((endpoint, Vec::new()));
                    Some(endpoints.len() as u32 - 1)
                }
                None => {
                    self.others.0 += endpoint.count;
                    self.others.1 += endpoint.peak;
                    None
                }
            };
            moved.push(at);
        }
        self.others.0 += other.others.0;
        self.others.1 += other.others.1;
        self.visits.absorb(other.visits.renumbered(&moved));
        other.paths
    }

    /// Puts what is still waiting where it belongs, and endpoints and their variants in an order that does not depend on
    /// which came first.
    pub(crate) fn close(&mut self) {
        for endpoint in &mut self.endpoints {
            endpoint.close(&self.ruler);
        }
        let mut order: Vec<usize> = (0..self.endpoints.len()).collect();
        let key = |at: &usize| (self.endpoints[*at].template, &self.endpoints[*at].method);
        order.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        let mut moved = vec![None; order.len()];
        let mut endpoints = Vec::with_capacity(order.len());
        for (to, from) in order.into_iter().enumerate() {
            moved[from] = Some(to as u32);
            endpoints.push(std::mem::take(&mut self.endpoints[from]));
        }
        self.endpoints = endpoints;
        let visits = std::mem::take(&mut self.visits);
        self.visits = visits.renumbered(&moved);
        self.places.clear();
    }

    /// Lines read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The users of the day that had the most.
    pub(crate) fn daily_users(&self) -> u64 {
        self.days.values().map(|users| users.count().0).max().unwrap_or(0)
    }
}

/// What of several parts is put together by itself.
enum Task {
    Paths(Rows, Vec<Rows>),
    Endpoint(Box<Endpoint>, Vec<Endpoint>),
}

impl Task {
    /// With the others in the first.
    fn carried_out(self, ruler: &Latencies) -> Self {
        match self {
            Self::Paths(mut own, others) => {
                others.into_iter().for_each(|other| own.absorb(other));
                Self::Paths(own, Vec::new())
            }
            Self::Endpoint(mut own, others) => {
                others.into_iter().for_each(|other| own.absorb(other, ruler));
                Self::Endpoint(own, Vec::new())
            }
        }
    }
}

/// The memory of values without them, for others.
fn emptied<'a>(mut values: Vec<&[u8]>) -> Vec<&'a [u8]> {
    values.clear();
    values.into_iter().map(|_| b"".as_slice()).collect()
}

/// Names and values of a query, in its order. What has no name is left out.
fn pairs(query: &[u8]) -> Vec<(&[u8], &[u8])> {
    if query.is_empty() {
        return Vec::new();
    }
    let split = |pair: &'_ [u8]| memchr::memchr(b'=', pair);
    query
        .split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty() && pair.iter().all(|byte| *byte >= b' '))
        .map(|pair| {
            split(pair).map_or((pair, &pair[pair.len()..]), |at| (&pair[..at], &pair[at + 1..]))
        })
        .filter(|(name, _)| !name.is_empty() && !is_secret_itself(name))
        .take(MOST_NAMES)
        .collect()
}

/// Whether what stands for a name is a credential: `/verify?eyJhbGciOi...`.
fn is_secret_itself(name: &[u8]) -> bool {
    const LONGEST_NAME: usize = 64;
    if name.len() < 16 {
        return false;
    }
    let text = String::from_utf8_lossy(name);
    name.len() > LONGEST_NAME || is_secret_value(&text) || looks_random(&text)
}

/// Who asked: the log's user, else address and agent, of which the hash is known.
fn user(hit: &Hit, agent: u64) -> u64 {
    if !hit.user.is_empty() {
        return hash(hit.user);
    }
    hash(hit.client).rotate_left(17) ^ agent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::parallel::in_turn;
    use crate::survey::Survey;

    #[test]
    fn the_step_of_times_is_that_of_the_field_also_where_all_are_zero() {
        let line = b"203.0.113.7 - - [10/Oct/2025:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\" 0.000\n";
        let filter = Filter::default();
        let reader = || Format::detect(line).unwrap().reader();
        let mut survey = Survey::new(&filter);
        survey.read(line, 0, &mut reader());
        let surveyed = survey.finish(3_600).unwrap();
        let mut tally = Tally::new(&surveyed, &filter, &[], false);
        tally.read(line, 0, &mut reader());
        assert_eq!(tally.endpoints[0].step_ns, 1_000_000);
    }

    #[test]
    fn days_are_bounded_over_all_parts_of_a_log() {
        const DAYS: i64 = MOST_DAYS as i64;
        let line = b"203.0.113.7 - - [10/Oct/2025:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 5\n";
        let filter = Filter::default();
        let mut survey = Survey::new(&filter);
        survey.read(line, 0, &mut Format::detect(line).unwrap().reader());
        let surveyed = survey.finish(3_600).unwrap();
        let part = |first: i64| {
            let mut tally = Tally::new(&surveyed, &filter, &[], false);
            for day in first..first + DAYS {
                tally.count_day(Stamp { ns: day * DAY * SECOND as i64, offset_s: 0 }, 1);
            }
            tally
        };
        let mut all = part(0);
        all.absorb(vec![part(DAYS / 2)], &in_turn);
        assert_eq!(all.days.len(), MOST_DAYS);
    }
}
