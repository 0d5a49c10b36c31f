//! Rules about databases, by what their own statistics tell.

use model::finding::Confidence::{High, Low, Medium};
use model::observed::ObservedSource;
use model::units::{MILLISECOND, SECOND, show_duration};
use model::{Role, Run};

use super::facts::{Facts, Server};
use super::statement::{column_asked, mentions};
use super::{Cause, Outcome};
use crate::figures::{counted, grouped, percent};

/// Rows from which on reading a whole table is dear.
pub(super) const BIG: f64 = 10_000.0;
/// The part of a table that a request must read on average for its scans to grow with the requests.
const SCANNED: f64 = 0.05;
/// The share of users' time that must go into a database for something in it to be the limit.
const MATTERS: f64 = 0.2;
/// The share that one statement, or waiting for locks, must take.
const MOSTLY: f64 = 0.5;
/// The share that locks must take.
const LOCKED: f64 = 0.2;
/// The time per request from which on a statement is slow.
const SLOW_NS: f64 = 10.0 * MILLISECOND as f64;
/// The share of its processors from which on a database is at its limit, as for servers.
const CPU: f64 = 0.9;
/// The share of a machine in use from which on it is used up, and the part of it that must be the database's.
const SHARED: (f64, f64) = (0.95, 0.5);
/// The share of the connections allowed from which on they count as used up between two samples.
const REACHED: f64 = 0.95;
/// The share of its connections that must be at work, and how many times as many requests must be on their way, for
/// a pool to be too small.
const POOL: (f64, f64) = (0.9, 2.0);
/// What databases say when they take no more connections.
const REFUSALS: [&str; 3] =
    ["too many clients", "remaining connection slots", "Too many connections"];

const NO_DATABASE: &str = "no database was watched: add --observe db=postgres://USER@HOST/DATABASE or db=mysql://USER@HOST";

/// Databases that tell what is asked, judged one by one.
fn each<'a>(
    facts: &Facts<'a>,
    lacking: &str,
    judge: impl Fn(&'a ObservedSource) -> Option<Vec<Cause>>,
) -> Outcome {
    let mut databases = facts.databases().peekable();
    if databases.peek().is_none() {
        return Outcome::Lacking(NO_DATABASE.to_owned());
    }
    let judged: Vec<Vec<Cause>> = databases.filter_map(judge).collect();
    match judged.is_empty() {
        true => Outcome::Lacking(lacking.to_owned()),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

/// A statement, and what it costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statement<'a> {
    shape: &'a str,
    /// Sessions that it kept busy, mean.
    sessions: f64,
    /// How long a call takes, where calls are counted.
    each_ns: Option<f64>,
    /// Rows that it gives a second, where they are counted.
    rows_per_s: f64,
}

impl Statement<'_> {
    fn words(&self) -> String {
        match self.each_ns {
            Some(ns) => format!("{} each: {}", show_duration(ns as u64), self.shape),
            None => format!(
                "running {} times at once on average: {}",
                grouped(self.sessions, 1),
                self.shape
            ),
        }
    }
}

/// What a run saw of a database's statements, for those who ask the database about them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// The shape.
    pub statement: String,
    /// How long a call took, in nanoseconds, where calls were counted.
    pub each_ns: Option<f64>,
}

/// The statements that the run saw at work in the database of this name, the dearest first.
pub(super) fn asked(run: &Run, place: &str) -> Vec<Asked> {
    let sources = run.observed.iter().flat_map(|observed| &observed.sources);
    let statements = sources.filter(|source| source.name == place).flat_map(statements);
    let at_work = statements.filter(|statement| statement.sessions > 0.0);
    at_work
        .map(|Statement { shape, each_ns, .. }| Asked { statement: shape.to_owned(), each_ns })
        .collect()
}

/// The statements of a database, the dearest first: by their counted time, else by how often they were seen.
fn statements(source: &ObservedSource) -> Vec<Statement<'_>> {
    let counted = source.labelled("db.exec_ns").map(|(shape, spent)| {
        let calls = source.growth(&format!("db.calls{{{shape}}}")).filter(|calls| *calls > 0.0);
        let each_ns = spent.growth.zip(calls).map(|(ns, calls)| ns / calls);
        let rows_per_s = source.mean(&format!("db.rows{{{shape}}}")).unwrap_or(0.0);
        Statement { shape, sessions: spent.mean / SECOND as f64, each_ns, rows_per_s }
    });
    let mut all: Vec<Statement<'_>> = counted.collect();
    if all.is_empty() {
        let samples = source.samples.saturating_sub(1).max(1) as f64;
        all.extend(source.labelled("db.seen").map(|(shape, seen)| Statement {
            shape,
            sessions: seen.growth.unwrap_or(0.0) / samples,
            each_ns: None,
            rows_per_s: 0.0,
        }));
    }
    all.sort_by(|a, b| b.sessions.total_cmp(&a.sessions));
    all
}

/// The share of users' time that requests spend in a database, by the sessions at work there (Little's law).
pub(super) fn share(facts: &Facts<'_>, source: &ObservedSource) -> Option<f64> {
    let in_flight = facts.in_flight()?;
    Some((source.mean("db.active")? / in_flight).min(1.0))
}

fn is_mysql(source: &ObservedSource) -> bool {
    ["mysql:", "mariadb:"].iter().any(|scheme| source.read_from.starts_with(scheme))
}

pub(super) fn missing_index(facts: &Facts<'_>) -> Outcome {
    let lacking = "no database tells which tables are read without an index";
    each(facts, lacking, |source| {
        let mut scans = source.labelled("db.seq_rows").peekable();
        let Some(_) = scans.peek() else { return scanned_somewhere(facts, source) };
        let matters = share(facts, source).is_none_or(|share| share >= MATTERS);
        let found = scans.filter(|_| matters);
        Some(found.filter_map(|(table, read)| scanned(facts, source, table, read.mean)).collect())
    })
}

/// What reading a row takes at the least, in nanoseconds: a sequential scan of rows that lie in memory.
pub(super) const ROW_NS: f64 = 50.0;

/// As [`scanned`], where the database counts rows and does not tell of which table.
fn scanned_somewhere(facts: &Facts<'_>, source: &ObservedSource) -> Option<Vec<Cause>> {
    let (rows, scans) = (source.mean("db.scanned_rows")?, source.mean("db.scans")?);
    let (in_flight, requests_per_s) = (facts.in_flight()?, facts.requests_per_s()?);
    let each = rows / scans.max(f64::MIN_POSITIVE);
    let reading = (rows * ROW_NS / SECOND as f64 / in_flight).min(1.0);
    let share = share(facts, source).unwrap_or(0.0).max(reading);
    if each < BIG || share < MATTERS || rows < SCANNED * BIG * requests_per_s {
        return Some(Vec::new());
    }
    let statements = statements(source);
    let statement = statements.first();
    let whole = statement.is_some_and(|s| !s.shape.to_ascii_lowercase().contains(" where "));
    let sentence = format!(
        "Statements read whole tables: {} rows each; an index is missing.",
        grouped(each, 0)
    );
    let cause = Cause::new(if whole { Low } else { Medium }, &source.name, sentence)
        .weighing(0.9)
        .with(format!(
            "{} scans a second of {} rows each, for {} requests",
            grouped(scans, 1),
            grouped(each, 0),
            grouped(requests_per_s, 0)
        ))
        .with(format!(
            "reading them takes {} of the requests' time at the least, and requests spend {} in {}",
            percent(reading),
            percent(share),
            source.name
        ))
        .against(Some("of which table it does not tell (performance_schema = ON would)".to_owned()))
        .against(whole.then(|| NO_WHERE.to_owned()));
    let cause = match statement {
        Some(statement) => cause.with(format!("seen at work: {}", statement.shape)),
        None => cause,
    };
    Some(vec![cause.fixed_by(index_fix(source, "TABLE", statement))])
}

/// What speaks against an index.
const NO_WHERE: &str =
    "the statement has no WHERE: it reads all rows by design, and no index helps";

/// Rows that were read of a table, from end to end or along an index that leads to too many, where far fewer were wanted.
fn scanned(
    facts: &Facts<'_>,
    source: &ObservedSource,
    table: &str,
    in_order: f64,
) -> Option<Cause> {
    let size = source.mean(&format!("db.table_rows{{{table}}}")).filter(|size| *size >= BIG)?;
    let requests_per_s = facts.requests_per_s()?;
    let by_index = source.mean(&format!("db.index_rows{{{table}}}")).unwrap_or(0.0);
    let per_s = in_order + by_index;
    let each = per_s / requests_per_s;
    if each < SCANNED * size || per_s * facts.window_s() < 10.0 * size {
        return None;
    }
    let statements = statements(source);
    let statement = statements.iter().find(|statement| mentions(statement.shape, table));
    // What gives as many rows as it reads needs all of them.
    if statement.is_some_and(|statement| statement.rows_per_s >= 0.5 * per_s) {
        return None;
    }
    let how = match in_order >= by_index {
        true => "from end to end",
        false => "along an index that does not fit",
    };
    let sentence = format!(
        "Requests read the table {table} {how}: {} rows for each, of {}; an index is missing.",
        grouped(each, 0),
        grouped(size, 0)
    );
    let whole = statement.is_some_and(|s| !s.shape.to_ascii_lowercase().contains(" where "));
    let confidence = if whole { Low } else { High };
    let mut cause = Cause::new(confidence, &source.name, sentence).weighing(0.9).about(table);
    let grown = |stem: &str| source.growth(&format!("{stem}{{{table}}}"));
    if let (Some(scans), Some(lookups)) = (grown("db.seq_scans"), grown("db.index_scans")) {
        cause = cause.with(format!(
            "{} of {table} and {} by an index, for {}",
            counted(scans, "sequential scan"),
            grouped(lookups, 0),
            counted(facts.run.totals.requests as f64, "request")
        ));
    }
    if let Some(share) = share(facts, source) {
        cause = cause.with(format!(
            "requests spend {} of their time in {}",
            percent(share),
            source.name
        ));
    }
    if let Some(statement) = statement {
        cause = cause.with(statement.words());
    }
    Some(
        cause
            .against(whole.then(|| NO_WHERE.to_owned()))
            .fixed_by(index_fix(source, table, statement)),
    )
}

/// What to type against a missing index, as far as the statement tells the column.
fn index_fix(source: &ObservedSource, table: &str, statement: Option<&Statement<'_>>) -> String {
    let shape = statement.map_or("the statement that reads it", |statement| statement.shape);
    let named = statement.and_then(|statement| column_asked(statement.shape, table));
    let column = named.unwrap_or("the columns of its WHERE");
    match is_mysql(source) {
        true => format!(
            "Type EXPLAIN {shape}: a line with type ALL reads the whole table. Then CREATE INDEX by_{} ON {table} \
             ({column}). Risk: each index makes writing dearer, and building it reads the table once.",
            named.unwrap_or("column")
        ),
        false => format!(
            "Type EXPLAIN {shape}: `Seq Scan`, or a `Filter` below an `Index Scan`, reads what is not wanted. Then CREATE \
             INDEX CONCURRENTLY ON {table} ({column}). Risk: each index makes writing dearer, and building it reads the table twice."
        ),
    }
}

pub(super) fn cpu(facts: &Facts<'_>) -> Outcome {
    let databases: Vec<&Server<'_>> =
        facts.servers.iter().filter(|server| server.source.role == Role::Db).collect();
    let judged: Vec<Option<Cause>> =
        databases.iter().filter_map(|server| cpu_of(facts, server)).collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "no database's processes or machine were watched: add --observe db=local:name=postgres on its machine, or \
             --observe db=exec:'ssh DB plimsoll watch --stdio'"
                .to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

fn cpu_of(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    let used = server.used()?;
    let cores = server.cores();
    let full = server.host_busy().zip(server.host_cores());
    let shared = server.here
        && full
            .zip(cores)
            .is_some_and(|((busy, all), own)| busy >= SHARED.0 && own >= SHARED.1 * busy * all);
    Some((used >= CPU || shared).then(|| {
        let sentence = match (cores, used >= CPU) {
            (Some(own), true) => {
                format!("The database uses all of its processors: {} cores.", grouped(own, 2))
            }
            (Some(own), false) => format!(
                "The processors of the machine that the database shares are used up, and most of them by it: {} cores.",
                grouped(own, 2)
            ),
            (None, _) => {
                let busy = percent(full.map_or(used, |(busy, _)| busy));
                format!("The processors of the database's machine are used up: {busy}.")
            }
        };
        let confidence = if used >= CPU { High } else { Medium };
        let mut cause = Cause::new(confidence, &server.source.name, sentence).weighing(used);
        if let Some((busy, _)) = full {
            cause = cause.with(format!("{} of its machine's processors in use", percent(busy)));
        }
        // Of several databases it is not known which one's processors these are.
        let mut databases = facts.databases();
        let only = databases.next().filter(|_| databases.next().is_none());
        match only.and_then(|source| statements(source).into_iter().next()) {
            Some(statement) => cause.with(format!("the dearest statement: {}", statement.words())),
            None => cause,
        }
    }))
}

pub(super) fn connections(facts: &Facts<'_>) -> Outcome {
    let lacking = "no database tells of its connections";
    each(facts, lacking, |source| {
        if let Some(refusal) = refusal(source) {
            let sentence = "The database takes no more connections.".to_owned();
            let cause = Cause::new(High, &source.name, sentence).weighing(1.0);
            return Some(vec![cause.with(format!("it refused ours, which watches: {refusal}"))]);
        }
        let (open, most) = (source.figure("db.connections")?, source.mean("db.connections_max")?);
        let reserved = source.mean("db.connections_reserved").unwrap_or(0.0);
        let free = most - reserved;
        let refused = source.growth("db.connections_refused").unwrap_or(0.0);
        // One of them is ours, which is not told.
        if refused >= 1.0 || free > 0.0 && open.max + 1.0 >= REACHED * free {
            return Some(vec![used_up(facts, source, (open.max, most, reserved), refused)]);
        }
        Some(pool(facts, source).into_iter().collect())
    })
}

fn refusal(source: &ObservedSource) -> Option<&str> {
    let mut errors = source.gaps.iter().map(|gap| gap.error.as_str());
    errors.find(|error| REFUSALS.iter().any(|words| error.contains(words)))
}

fn used_up(
    facts: &Facts<'_>,
    source: &ObservedSource,
    (open, most, reserved): (f64, f64, f64),
    refused: f64,
) -> Cause {
    let run = facts.run;
    let failed = run.totals.attempts.saturating_sub(run.totals.succeeded);
    let kept = match reserved > 0.0 {
        true => format!(", {} of which are reserved for superusers", grouped(reserved, 0)),
        false => String::new(),
    };
    let sentence = format!(
        "The database has no connections left: {} are open beside the one that watches, and it allows {}{kept}.",
        grouped(open, 0),
        grouped(most, 0)
    );
    let sure = refused >= 1.0 || failed > 0;
    // Without a consequence it is something to know, and limits nothing.
    let (confidence, weight) = if sure { (High, 0.95) } else { (Low, 0.1) };
    let cause = Cause::new(confidence, &source.name, sentence).weighing(weight);
    let cause = match refused >= 1.0 {
        true => cause.with(format!("it refused {}", counted(refused, "connection"))),
        false => cause.with(format!("{} failed", counted(failed as f64, "request"))),
    };
    let idle = (!sure).then(|| "no request failed: the server may need no more of them".to_owned());
    cause.against(idle)
}

/// All of a server's connections to its database are at work, and more requests wait than that.
fn pool(facts: &Facts<'_>, source: &ObservedSource) -> Option<Cause> {
    let (open, active) = (source.mean("db.connections")?, source.mean("db.active")?);
    let in_flight = facts.in_flight()?;
    if open < 1.0 || active < POOL.0 * open || in_flight < POOL.1 * open {
        return None;
    }
    let sentence = format!(
        "The server has {} to the database, always at work, and lets {} wait for one.",
        counted(open, "connection"),
        counted(in_flight - open, "request")
    );
    let cause = Cause::new(Medium, &source.name, sentence).weighing(0.6).with(format!(
        "{} of {} sessions at work on average, {} requests on their way",
        grouped(active, 1),
        grouped(open, 1),
        grouped(in_flight, 1)
    ));
    Some(cause.fixed_by(
        "Give the server's pool more connections (pool_size, SetMaxOpenConns, maximumPoolSize), or make its statements \
         quicker. Risk: past about twice the database's cores more connections make all of them slower."
            .to_owned(),
    ))
}

pub(super) fn locks(facts: &Facts<'_>) -> Outcome {
    each(facts, "no database tells who waits for locks", |source| {
        let waiting = source.mean("db.lock_waiters")?;
        let waited = source.mean("db.lock_wait_ns").map_or(0.0, |ns| ns / SECOND as f64);
        let waiting = waiting.max(waited).max(for_tables(source));
        let share = waiting / facts.in_flight()?;
        if waiting < 0.5 || share < LOCKED {
            return Some(Vec::new());
        }
        let sentence =
            format!("Statements wait for locks: {} of them at a time.", grouped(waiting, 1));
        let cause = Cause::new(High, &source.name, sentence).weighing(0.9 * share.min(1.0) + 0.1);
        let mut cause = cause.with(format!("{} of the requests' time", percent(share.min(1.0))));
        let mut holders: Vec<_> = source.labelled("db.blocks_others").collect();
        holders.sort_by(|a, b| b.1.max.total_cmp(&a.1.max));
        cause.evidence_for.extend(holders.iter().take(2).map(|(who, _)| format!("held by {who}")));
        let holder =
            holders.first().and_then(|(who, _)| who.strip_prefix("session ")?.split(',').next());
        Some(vec![cause.fixed_by(locks_fix(source, holder))])
    })
}

/// Statements of MySQL and MariaDB that wait for a whole table, which no count of row locks tells.
fn for_tables(source: &ObservedSource) -> f64 {
    let is_lock = |state: &str| {
        state.starts_with("Waiting for") && (state.ends_with(" lock") || state.ends_with(" locks"))
    };
    source.labelled("db.waits").filter(|(state, _)| is_lock(state)).map(|(_, n)| n.mean).sum()
}

fn locks_fix(source: &ObservedSource, holder: Option<&str>) -> String {
    let holder = holder.unwrap_or("ID");
    let (end, bound) = match is_mysql(source) {
        true => (format!("KILL {holder}"), "SET GLOBAL innodb_lock_wait_timeout = 5"),
        false => (
            format!("SELECT pg_terminate_backend({holder})"),
            "ALTER DATABASE … SET idle_in_transaction_session_timeout = '10s'",
        ),
    };
    format!(
        "End the transaction that holds them: {end}, which undoes its work. Then make transactions shorter: no calls to \
         others and no waiting inside of one, the contended rows last; {bound} bounds how long one may hold up others."
    )
}

pub(super) fn slow_statement(facts: &Facts<'_>) -> Outcome {
    let lacking = "no database tells of its statements";
    each(facts, lacking, |source| {
        let statements = statements(source);
        let dearest = *statements.first()?;
        let (in_flight, requests_per_s) = (facts.in_flight()?, facts.requests_per_s()?);
        let share = dearest.sessions / in_flight;
        let per_request_ns = dearest.sessions / requests_per_s * SECOND as f64;
        if share < MOSTLY || per_request_ns < SLOW_NS {
            return Some(Vec::new());
        }
        let sentence = format!(
            "One statement takes {} of the requests' time: {} for each request.",
            percent(share.min(1.0)),
            show_duration(per_request_ns as u64)
        );
        let confidence = if dearest.each_ns.is_some() { High } else { Medium };
        let cause = Cause::new(confidence, &source.name, sentence).weighing(share.min(1.0));
        Some(vec![cause.about(dearest.shape).with(dearest.words())])
    })
}
