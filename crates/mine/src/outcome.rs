//! What two readings of a log come to: its figures, a workload, and the files that the workload needs.

mod figures;
mod prepared;

use std::collections::{BTreeMap, HashSet};

use model::Workload;
use model::mined::{Mined, MinedFlow};
use model::schedule::Arrivals;
use model::units::Nanos;
use model::workload::{
    Count, Fields, FileFormat, Flow, LoadSpec, Order, Pool, Rate, Step, Time, Today,
};

use crate::each::{Each, map};
use crate::pools::{Content, Table, free, plain};
use crate::rows::Rows;
use crate::scale::{Observed, Scale, Scaled};
use crate::survey::Surveyed;
use crate::tally::{Endpoint, Tally, Variant};
use crate::template::{Piece, Template, printable};
use crate::time::SECOND;
use crate::visits::{Sessions, Way};
use prepared::{Prepared, summary};

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
    /// How many times as fast the arrivals of the log are to be repeated, if they are.
    pub trace: Option<f64>,
    /// Parameters whose values are written whatever they look like.
    pub keep_secrets: Vec<String>,
    /// The folder of pools beside the workload.
    pub pools: String,
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
    let visits = std::mem::take(&mut tally.visits);
    let sessions = visits.sessions(wanted.session_gap_ns as i64, surveyed.peak_ns(), each);
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
        rows,
        names: HashSet::new(),
        pool_names: HashSet::new(),
        made: Outcome::default(),
        ways_in: BTreeMap::new(),
    };
    making.endpoints(each);
    making.load(&sessions);
    making.figures(&observed, &sessions);
    Ok(making.made)
}

struct Making<'a> {
    surveyed: &'a Surveyed,
    tally: &'a Tally<'a>,
    wanted: &'a Wanted,
    scaled: &'a Scaled,
    /// Length of the peak.
    seconds: f64,
    /// The values of each endpoint's variants, by its number in the tally.
    rows: Vec<Vec<Rows>>,
    names: HashSet<String>,
    pool_names: HashSet<String>,
    made: Outcome,
    /// The commonest request of each endpoint, for ways through the site, by its number in the tally.
    ways_in: BTreeMap<u32, Step>,
}

impl Making<'_> {
    fn template(&self, endpoint: &Endpoint) -> &Template {
        &self.surveyed.templates.all()[endpoint.template]
    }

    /// Endpoints, those with the most requests in the peak first: the figures of all, requests of the first.
    fn endpoints(&mut self, each: Each) {
        let mut order: Vec<usize> = (0..self.tally.endpoints.len()).collect();
        let key = |at: &usize| {
            let endpoint = &self.tally.endpoints[*at];
            let text = self.template(endpoint).text();
            (std::cmp::Reverse((endpoint.peak, endpoint.count)), endpoint.method.clone(), text)
        };
        order.sort_by_cached_key(key);
        let mut rows = std::mem::take(&mut self.rows);
        let with_rows = |(rank, at): (usize, &usize)| (rank, *at, std::mem::take(&mut rows[*at]));
        let ranked: Vec<(usize, usize, Vec<Rows>)> =
            order.iter().enumerate().map(with_rows).collect();
        // Rows are many: who reads them clears them away.
        let prepared = map(each, ranked, |(rank, at, rows)| self.prepared(rank, at, &rows));
        let peak = self.surveyed.peak.requests.max(1) as f64;
        let mut covered = 0;
        for (at, prepared) in order.into_iter().zip(prepared) {
            let Prepared { mut mined, tables, files, path } = prepared;
            if let Some(files) = files {
                covered += mined.peak;
                mined.workload_name = Some(self.requests(at, &path, &tables, files));
            }
            self.made.mined.endpoints.push(mined);
        }
        self.made.mined.covered = covered as f64 / peak;
        self.made.mined.beyond_top = self.surveyed.peak.requests.saturating_sub(covered);
        self.note_left_out();
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
    }

    /// The template after `--map`.
    fn mapped(&self, method: &str, template: &Template) -> Template {
        let mut template = template.clone();
        for (old, new) in &self.wanted.map {
            let (old, new) = (of_method(old, method), of_method(new, method));
            let (Some(old), Some(new)) = (old, new) else { continue };
            let text = template.text();
            if text == old || text.starts_with(&format!("{}/", old.trim_end_matches('/'))) {
                template.replace(old, new);
            }
        }
        template
    }

    /// The requests of an endpoint in the workload, one for each set of names in its query; the name of the first.
    fn requests(
        &mut self,
        at: usize,
        template: &Template,
        tables: &[Table],
        files: Vec<Option<String>>,
    ) -> String {
        let endpoint = &self.tally.endpoints[at];
        let variants: Vec<(&Variant, &Table)> = endpoint.variants.iter().zip(tables).collect();
        let in_variants: u64 = variants.iter().map(|(variant, _)| variant.peak).sum();
        let mut first = None;
        for ((variant, table), file) in variants.into_iter().zip(files) {
            if variant.peak == 0 && first.is_some() {
                continue;
            }
            // The rare ones are sent as the others are.
            let share = variant.peak as f64 / in_variants.max(1) as f64;
            let requests = endpoint.peak as f64 * share;
            let name = self.name(&endpoint.method, template, variant);
            let pool = self.pool(&name, table, file);
            let mut made = self.request(&endpoint.method, template, table, pool.as_deref());
            made.name = Some(name.clone());
            if first.is_none() {
                self.ways_in.insert(at as u32, made.clone());
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
        let mut of_path = Vec::new();
        let mut query = Fields::default();
        for column in &table.columns {
            let text = match &column.content {
                Content::Fixed(text) => text.replace("${", "$${"),
                Content::Column(name) => format!("${{{}.{name}}}", pool.unwrap_or_default()),
                Content::Secret => self.secret(&column.full_name),
            };
            match column.in_path {
                true => of_path.push(text),
                false => query.push(column.name.replace("${", "$${"), text),
            }
        }
        let piece = |piece: &Piece| match piece {
            Piece::Fixed(text) => text.replace("${", "$${"),
            Piece::Parameter(at) => of_path.get(*at).cloned().unwrap_or_default(),
        };
        let path: String = template.pieces.iter().map(piece).collect();
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

    /// A request with its share of the load.
    fn loaded(&self, of: Step, requests: f64) -> model::workload::Endpoint {
        let rate = rounded(requests / self.seconds * self.scaled.factor);
        let mut endpoint = model::workload::Endpoint {
            name: of.name,
            method: of.method,
            path: of.path,
            query: of.query,
            ..Default::default()
        };
        match () {
            () if self.wanted.trace.is_some() => endpoint.weight = Some(rounded(requests)),
            () if self.wanted.closed => {
                let users = (rate * self.scaled.pace_ns as f64 / SECOND as f64).round().max(1.0);
                endpoint.concurrency = Some(Count(users as u64));
                endpoint.pace = Some(Time((users / rate * SECOND as f64).round() as Nanos));
            }
            () => endpoint.rate = Some(Rate(rate)),
        }
        endpoint
    }

    /// Target, load, ways through the site.
    fn load(&mut self, sessions: &Sessions) {
        let workload = &mut self.made.workload;
        workload.target.clone_from(&self.wanted.target);
        workload.load = LoadSpec {
            arrivals: (!self.wanted.closed && self.wanted.trace.is_none())
                .then_some(Arrivals::Poisson),
            duration: self.wanted.trace.is_none().then_some(Time(60 * SECOND as Nanos)),
            ..LoadSpec::default()
        };
        workload.daily_users = self.scaled.users.map(Count);
        if let Some(speed) = self.wanted.trace {
            self.trace(speed);
        }
        if self.wanted.sessions {
            self.flows(sessions);
        }
        let bodies =
            self.made.workload.endpoints.iter().filter(|endpoint| writes(&endpoint.method));
        let bodies = bodies.count();
        if bodies > 0 {
            self.made.mined.notes.push(format!(
                "{bodies} of the workload's requests would change something, and the log has no bodies: add \
                 `body:`, or leave them out with --reads-only"
            ));
        }
    }

    fn flows(&mut self, sessions: &Sessions) {
        let covered: f64 = sessions.ways.iter().map(|way| way.share).sum();
        let per_s = sessions.begun_in_peak as f64 / self.seconds * self.scaled.factor;
        for (at, way) in sessions.ways.iter().enumerate() {
            let name = format!("way {}", at + 1);
            let rate = rounded((per_s * way.share / covered.max(f64::MIN_POSITIVE)).max(1e-6));
            let steps = self.steps(way);
            if steps.is_empty() {
                continue;
            }
            let names = steps.iter().filter_map(|step| step.name.clone()).collect();
            self.made.mined.flows.push(MinedFlow { steps: names, share: way.share });
            let flow = Flow { name, steps, rate: Some(Rate(rate)), ..Flow::default() };
            self.made.workload.flows.push(flow);
        }
        self.made.mined.notes.push(format!(
            "the ways cover {:.0} % of sessions, as far as a request depends on the one before it \
             alone; the rates of the others are added to theirs",
            covered * 100.0
        ));
    }

    fn steps(&self, way: &Way) -> Vec<Step> {
        let mut names = HashSet::new();
        let known = |(endpoint, pause): &(u32, u64)| Some((self.ways_in.get(endpoint)?, *pause));
        let named = |(step, pause): (&Step, u64)| Step {
            name: step.name.as_deref().map(|name| free(&mut names, name)),
            think: (pause > 0).then_some(Time(pause)),
            ..step.clone()
        };
        way.steps.iter().filter_map(known).map(named).collect()
    }

    /// The arrivals of the peak, from 0 on.
    fn trace(&mut self, speed: f64) {
        const FILE: &str = "arrivals.txt";
        let mut arrivals = self.tally.arrivals.clone().unwrap_or_default();
        arrivals.sort_unstable();
        let arrivals = spread(&arrivals);
        let first = arrivals.first().copied().unwrap_or(0.0);
        let mut text = String::with_capacity(arrivals.len() * 12);
        for at in arrivals {
            text += &format!("{:.6}\n", (at - first) / speed);
        }
        self.made.files.insert(FILE.to_owned(), text);
        self.made.workload.load.trace = Some(FILE.to_owned());
    }
}

fn writes(method: &Option<String>) -> bool {
    !matches!(method.as_deref(), None | Some("GET" | "HEAD" | "OPTIONS" | "TRACE"))
}

/// A mapping without its method, if it is for this one.
fn of_method<'a>(path: &'a str, method: &str) -> Option<&'a str> {
    match path.split_once(' ') {
        Some((of, path)) => (of == method).then_some(path),
        None => Some(path),
    }
}

/// What a capacity is compared with, where the log has the times taken.
fn today(endpoint: &Endpoint) -> Option<Today> {
    let summary = Some(summary(endpoint)).filter(|summary| summary.max > 0)?;
    let step = endpoint.step_ns;
    // What the log writes as 0 took less than its smallest step, and nothing is known finer than that.
    let time = |taken: Nanos| Some(Time(((taken + step / 2) / step).max(1) * step));
    Some(Today { p50: time(summary.p50), p99: time(summary.p99) })
}

/// Six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Instants of a log that counts whole seconds, spread over the seconds that they fell into; others as they are. In
/// seconds.
fn spread(arrivals: &[i64]) -> Vec<f64> {
    let seconds = |ns: i64| ns as f64 / SECOND as f64;
    if arrivals.iter().any(|at| at % SECOND != 0) {
        return arrivals.iter().map(|at| seconds(*at)).collect();
    }
    let mut spread = Vec::with_capacity(arrivals.len());
    for same in arrivals.chunk_by(|a, b| a == b) {
        let count = same.len() as f64;
        spread.extend((0..same.len()).map(|at| seconds(same[0]) + (at as f64 + 0.5) / count));
    }
    spread
}
