//! The result of the two readings of a log: its figures, a workload, and the files that the workload needs.

mod failing;
mod figures;
mod load;
mod prepared;
mod ways;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use model::Workload;
use model::mined::Mined;
use model::units::Nanos;
use model::workload::{Fields, FileFormat, Order, Pool, Step};

use crate::parallel::{Each, map};
use crate::pools::{Content, Table, escaped, free, is_parameter, plain};
use crate::rows::Rows;
use crate::scale::{Observed, Scale, Scaled, figure};
use crate::survey::Surveyed;
use crate::tally::{Endpoint, Tally, Variant};
use crate::template::{Piece, Template, printable};
use load::today;
use prepared::Prepared;
use ways::Turns;

/// What is wanted of a log.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Names of the files, as they are told.
    pub files: Vec<String>,
    /// The format's name.
    pub format: String,
    /// The server that the workload is for.
    pub target: String,
    /// Endpoints in the workload at most.
    pub top: usize,
    /// How much more load there is to be.
    pub scale: Scale,
    /// Paths to replace: the old, the new.
    pub map: Vec<(String, String)>,
    /// The pause that ends a session.
    pub session_gap_ns: Nanos,
    /// Whether the workload is to have ways through the site instead of single requests.
    pub sessions: bool,
    /// Whether users of a closed loop are to send at a pace, instead of arrivals at a rate.
    pub closed: bool,
    /// Parameters whose values are written whatever they look like.
    pub keep_secrets: Vec<String>,
    /// The folder of pools beside the workload.
    pub pools: String,
    /// What is to be said of the files.
    pub notes: Vec<String>,
}

/// The result.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The figures.
    pub mined: Mined,
    /// The workload.
    pub workload: Workload,
    /// Files that belong to the workload, by their names in its folder.
    pub files: BTreeMap<String, String>,
    /// Environment variables that the workload reads, with what each holds.
    pub environment: BTreeMap<String, String>,
}

/// Makes the result of both readings; `each` carries its parts out.
///
/// # Errors
/// In words, when the load cannot be computed.
pub fn outcome(
    surveyed: &Surveyed,
    mut tally: Tally,
    wanted: &Wanted,
    each: Each,
) -> Result<Outcome, String> {
    tally.close();
    let order = ranked(surveyed, &tally);
    let mut kept = vec![false; order.len()];
    for at in order.iter().take(wanted.top).filter(|at| tally.endpoints[**at].peak > 0) {
        kept[*at] = true;
    }
    let visits = std::mem::take(&mut tally.visits);
    let gap_ns = wanted.session_gap_ns as i64;
    let sessions = visits.sessions(gap_ns, surveyed.peak_ns(), &kept, each);
    let peak = &surveyed.peak;
    let seconds = peak.to - peak.from;
    let mean = peak.requests as f64 / seconds.max(1) as f64;
    let observed = Observed {
        requests: peak.requests,
        seconds,
        burst_factor: f64::from(peak.most_in_a_second) / mean,
        daily_users: tally.daily_users(),
    };
    let scaled = wanted.scale.apply(&observed)?;
    let rows_of = |endpoint: &mut Endpoint| -> Vec<Rows> {
        endpoint.variants.iter_mut().map(|variant| std::mem::take(&mut variant.rows)).collect()
    };
    let rows = tally.endpoints.iter_mut().map(rows_of).collect();
    let mut making = Making {
        surveyed,
        tally: &tally,
        wanted,
        scaled: &scaled,
        seconds: seconds as f64,
        raised: 1.0,
        order,
        kept,
        rows,
        names: HashSet::new(),
        pool_names: HashSet::new(),
        made: Outcome::default(),
        ways_in: BTreeMap::new(),
        other_values: sessions.with_other_values(),
        refused: Vec::new(),
        cut: Vec::new(),
    };
    making.endpoints(each);
    making.load(&sessions);
    making.figures(&observed, &sessions);
    Ok(making.made)
}

/// The numbers of endpoints, those with the most requests in the peak first.
fn ranked(surveyed: &Surveyed, tally: &Tally) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tally.endpoints.len()).collect();
    let key = |at: &usize| {
        let endpoint = &tally.endpoints[*at];
        let text = surveyed.templates.all()[endpoint.template].text();
        (std::cmp::Reverse((endpoint.peak, endpoint.count)), endpoint.method.clone(), text)
    };
    order.sort_by_cached_key(key);
    order
}

struct Making<'a> {
    surveyed: &'a Surveyed,
    tally: &'a Tally<'a>,
    wanted: &'a Wanted,
    scaled: &'a Scaled,
    /// Length of the peak.
    seconds: f64,
    /// What the rates of the endpoints that are kept are multiplied by, so that they send the whole load.
    raised: f64,
    /// The numbers of endpoints in the tally, in the order of their figures.
    order: Vec<usize>,
    /// Whether each of them, by its number, is in the workload.
    kept: Vec<bool>,
    /// The values of each endpoint's variants, by its number in the tally.
    rows: Vec<Vec<Rows>>,
    names: HashSet<String>,
    pool_names: HashSet<String>,
    made: Outcome,
    /// The commonest request of each endpoint, for ways through the site, by its number in the tally.
    ways_in: BTreeMap<u32, Turns>,
    /// The numbers of endpoints that sessions ask for with other values each time.
    other_values: BTreeSet<u32>,
    /// Endpoints most of whose requests are refused in the log.
    refused: Vec<String>,
    /// Pools that have not all values of the log, each with how many it has.
    cut: Vec<String>,
}

impl Making<'_> {
    fn template(&self, endpoint: &Endpoint) -> &Template {
        &self.surveyed.templates.all()[endpoint.template]
    }

    /// Endpoints, those with the most requests in the peak first: the figures of all, requests of the first.
    fn endpoints(&mut self, each: Each) {
        let order = self.order.clone();
        let mut rows = std::mem::take(&mut self.rows);
        let with_rows = |at: &usize| (*at, std::mem::take(&mut rows[*at]));
        let ranked: Vec<(usize, Vec<Rows>)> = order.iter().map(with_rows).collect();
        // Rows are many: who reads them clears them away.
        let prepared = map(each, ranked, |(at, rows)| self.prepared(at, &rows));
        let peak = self.surveyed.peak.requests.max(1) as f64;
        let kept = prepared.iter().filter(|one| one.files.is_some()).map(|one| one.mined.peak);
        let covered = kept.sum();
        self.raise(covered);
        let errors = prepared.iter().flat_map(|one| &one.tables).map(|table| table.error);
        let error = errors.fold(0.0, f64::max);
        for (at, prepared) in order.into_iter().zip(prepared) {
            let Prepared { mut mined, tables, files, path } = prepared;
            if let Some(files) = files {
                mined.workload_name =
                    Some(self.requests(at, (&mined.method, &path), &tables, files));
                let sent = mined.peak as f64 * self.raised / self.seconds * self.scaled.factor;
                mined.sent_per_s = Some(sent);
            }
            self.made.mined.endpoints.push(mined);
        }
        if error > 0.0 {
            self.made.mined.notes.push(format!(
                "how many values a parameter has is an estimate where they are too many to keep, with a standard error \
                 of up to {:.1} %",
                error * 100.0
            ));
        }
        self.made.mined.covered = covered as f64 / peak;
        self.made.mined.beyond_top = self.surveyed.peak.requests.saturating_sub(covered);
        self.note_cut();
        self.note_rare();
        self.note_left_out();
        self.note_unused();
    }

    /// Says which share of the peak has query names that no request of the workload has.
    fn note_rare(&mut self) {
        let kept = self.order.iter().filter(|at| self.kept[**at]);
        let rare = kept.map(|at| &self.tally.endpoints[*at]).filter(|one| one.rare.peak > 0);
        let all: u64 = rare.clone().map(|one| one.rare.peak).sum();
        let Some(most) = rare.max_by_key(|one| one.rare.peak) else { return };
        let note = format!(
            "{} % of the peak's requests have rare sets of query names, and are sent with the names that come most often \
             of their endpoint, most at {} {}: {} % of its requests",
            figure(all as f64 / self.surveyed.peak.requests.max(1) as f64 * 100.0),
            most.method,
            self.template(most).text(),
            figure(most.rare.peak as f64 / most.peak.max(1) as f64 * 100.0)
        );
        self.made.mined.notes.push(note);
    }

    /// Says which pools are a sample of the log's values.
    fn note_cut(&mut self) {
        const MOST: usize = 5;
        if self.cut.is_empty() {
            return;
        }
        let more = self.cut.len().saturating_sub(MOST);
        let and = if more > 0 { format!("; and {more} more pools") } else { String::new() };
        self.cut.truncate(MOST);
        self.made.mined.notes.push(format!(
            "some pools have fewer values than the log, and each value comes more often: caches are hit more often than \
             with the log's. {}{and}",
            self.cut.join("; ")
        ));
    }

    fn note_left_out(&mut self) {
        const MOST: usize = 200;
        let mined = &mut self.made.mined;
        if mined.endpoints.len() > MOST {
            let more = mined.endpoints.len() - MOST;
            mined.endpoints.truncate(MOST);
            mined.notes.push(format!("{more} further endpoints are not listed"));
        }
        if self.tally.others.0 > 0 {
            mined.notes.push(format!(
                "{} requests of further endpoints were counted together: at most 2,000 are told apart",
                self.tally.others.0
            ));
        }
        if self.surveyed.seconds.beyond() > 0 {
            mined.notes.push(format!(
                "{} requests lie beyond two years of log and are not in the peak and the curve",
                self.surveyed.seconds.beyond()
            ));
        }
        if self.surveyed.curve.2 > 0 {
            mined.notes.push(format!(
                "{} requests lie more than a month before or after all others, and are not in the curve: is a clock wrong?",
                self.surveyed.curve.2
            ));
        }
    }

    /// Method and template after `--map`.
    fn mapped(&self, method: &str, template: &Template) -> (String, Template) {
        let mut of = (method.to_owned(), template.clone());
        for map in &self.wanted.map {
            replace(map, &mut of);
        }
        of
    }

    /// Says which of `--template` no path follows, which of `--map` replace nothing, and which of `--keep-secrets` name
    /// no parameter.
    fn note_unused(&mut self) {
        for number in self.surveyed.templates.given() {
            if self.tally.endpoints.iter().all(|endpoint| endpoint.template != number) {
                let text = self.surveyed.templates.all()[number].text();
                self.made.mined.notes.push(format!("--template {text}: no path of the log is so"));
            }
        }
        let named = |name: &&String| {
            let mut endpoints = self.tally.endpoints.iter();
            endpoints.any(|endpoint| is_parameter(name, self.template(endpoint), endpoint))
        };
        let unknown = self.wanted.keep_secrets.iter().filter(|name| !named(name));
        let unknown: Vec<String> = unknown
            .map(|name| format!("--keep-secrets {name}: no endpoint has a parameter of this name"))
            .collect();
        self.made.mined.notes.extend(unknown);
        let of = |endpoint: &Endpoint| (endpoint.method.clone(), self.template(endpoint).clone());
        let mut endpoints: Vec<(String, Template)> = self.tally.endpoints.iter().map(of).collect();
        for map in &self.wanted.map {
            let replaced = endpoints.iter_mut().filter_map(|of| replace(map, of).then_some(()));
            if replaced.count() == 0 {
                let (old, new) = map;
                let note = format!("--map {old}={new} replaces nothing: no endpoint begins so");
                self.made.mined.notes.push(note);
            }
        }
    }

    /// The requests of an endpoint in the workload, one for each set of names in its query; the name of the first.
    fn requests(
        &mut self,
        at: usize,
        (method, template): (&str, &Template),
        tables: &[Table],
        files: Vec<Option<String>>,
    ) -> String {
        let endpoint = &self.tally.endpoints[at];
        let variants: Vec<(&Variant, &Table)> = endpoint.variants.iter().zip(tables).collect();
        let in_variants: u64 = variants.iter().map(|(variant, _)| variant.peak).sum();
        let success = failing::accepted(endpoint);
        if let Some(success) = &success {
            self.refused.push(format!("{method} {} ({success})", template.text()));
        }
        let mut first = None;
        for ((variant, table), file) in variants.into_iter().zip(files) {
            if variant.peak == 0 && first.is_some() {
                continue;
            }
            // The rare ones are sent as the others are.
            let share = match in_variants {
                0 => 1.0,
                all => variant.peak as f64 / all as f64,
            };
            let requests = endpoint.peak as f64 * share;
            let name = self.name(method, template, variant);
            let pool = self.pool(&name, table, file);
            let mut made = self.request(method, template, table, pool.as_deref());
            made.name = Some(name.clone());
            made.success.clone_from(&success);
            if first.is_none() {
                let request = |making: &mut Self, pool: &str| {
                    making.request(method, template, table, Some(pool))
                };
                let turns = self.turns(at, &made, pool.as_deref(), request);
                self.ways_in.insert(at as u32, turns);
                first = Some(name);
            }
            if !self.wanted.sessions {
                let mut loaded = self.loaded(made, requests);
                loaded.today = today(endpoint);
                self.made.workload.endpoints.push(loaded);
            }
        }
        first.unwrap_or_default()
    }

    /// A name such as `GET /users/{id}?page&sort`.
    fn name(&mut self, method: &str, template: &Template, variant: &Variant) -> String {
        let names: Vec<String> = variant.names.iter().map(|(name, _)| printable(name)).collect();
        let mut name = format!("{method} {}", template.text());
        if !names.is_empty() {
            name += &format!("?{}", names.join("&"));
        }
        let name: String = name.replace("${", "$ {").chars().take(150).collect();
        free(&mut self.names, &name)
    }

    /// Takes the pool of a table with its text, if it has one; its name.
    fn pool(&mut self, of: &str, table: &Table, text: Option<String>) -> Option<String> {
        let text = text?;
        let short: String = plain(of).chars().take(60).collect();
        let name = free(&mut self.pool_names, &short);
        let file = format!("{}/{name}.csv", self.wanted.pools);
        self.made.files.insert(file.clone(), text);
        let pool = Pool {
            file: Some(file),
            format: Some(FileFormat::Csv),
            order: Order::Weighted,
            weight: Some("weight".to_owned()),
            ..Pool::default()
        };
        self.made.workload.pools.insert(name.clone(), pool);
        if table.logged > table.held as u64 {
            let (held, logged) = (figure(table.held as f64), figure(table.logged as f64));
            self.cut.push(format!("{name} has {held} of about {logged} sets of values"));
        }
        if table.left_out > 0 {
            self.made.mined.notes.push(format!(
                "{of}: {} sets of values were left out of its pool: credentials, or no text",
                table.left_out
            ));
        }
        Some(name)
    }

    /// The request itself.
    fn request(
        &mut self,
        method: &str,
        template: &Template,
        table: &Table,
        pool: Option<&str>,
    ) -> Step {
        let (mut of_path, mut beside) = (Vec::new(), Vec::new());
        let mut query = Fields::default();
        for column in &table.columns {
            let text = match &column.content {
                Content::Fixed(text) => text.replace("${", "$${"),
                Content::Column(name) => format!("${{{}.{name}}}", pool.unwrap_or_default()),
                Content::Secret => self.secret(&column.full_name),
            };
            match column.in_path {
                true => of_path.push(text),
                // A name in `query` must not look like a placeholder; in a path it may be escaped.
                false if column.name.contains("${") => beside.push(match &column.content {
                    Content::Fixed(text) => format!("{}={}", escaped(&column.name), escaped(text)),
                    _ => format!("{}={text}", escaped(&column.name)),
                }),
                false => query.push(column.name.clone(), text),
            }
        }
        let piece = |piece: &Piece| match piece {
            Piece::Fixed(text) => text.replace("${", "$${"),
            Piece::Parameter(at) => of_path.get(*at).cloned().unwrap_or_default(),
        };
        let mut path: String = template.pieces.iter().map(piece).collect();
        if !beside.is_empty() {
            path += &format!("?{}", beside.join("&"));
        }
        let query = query.grouped();
        Step { method: Some(method.to_owned()), path, query, ..Step::default() }
    }

    /// The placeholder for a credential.
    fn secret(&mut self, name: &str) -> String {
        // With a prefix, since `pwd` is a common parameter and PWD is every shell's.
        let variable = format!("LOG_{}", plain(name).to_uppercase());
        let purpose = format!("the values of {name}, which the log holds and no pool");
        self.made.environment.insert(variable.clone(), purpose);
        format!("${{env.{variable}}}")
    }
}

/// Puts the new beginning of a mapping in the place of the old, and its method if it has one; whether this endpoint is
/// one that it is for.
fn replace((old, new): &(String, String), (method, template): &mut (String, Template)) -> bool {
    let (of, old) = parted(old);
    let text = template.text();
    let begins = text == old || text.starts_with(&format!("{}/", old.trim_end_matches('/')));
    if !begins || of.is_some_and(|of| of != method) {
        return false;
    }
    let (of, new) = parted(new);
    template.replace(old, new);
    if let Some(of) = of {
        of.clone_into(method);
    }
    true
}

/// One side of a mapping: its method, if it has one, and its path.
fn parted(side: &str) -> (Option<&str>, &str) {
    side.split_once(' ').map_or((None, side), |(method, path)| (Some(method), path))
}
