//! PostgreSQL, by its statistics views: what `pg_monitor` may read. One transaction a sample, and a second one where
//! `pg_stat_statements` is there. The watching session itself is left out of the figures of sessions, statements and
//! transactions, but not out of those of blocks, rows and time.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use login::{Address, Allowance};
use model::Sample;
use postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use super::others::OfOthers;
use super::patient::Service;
use super::statement::{BESIDE_SESSION, Calls, Quotes, Seen, Total, cut, of_others, shape};
use super::tables::Tables;

/// Time limits of the watching session, which only reads.
const SETTINGS: &str = "SET statement_timeout = '2s'; \
    SET lock_timeout = '500ms'; SET default_transaction_read_only = on; SET client_min_messages = error";

/// Each row begins with its subject. A size is the larger of the planner's and the collector's estimates. If the user may
/// not see a process, its kind is hidden too; one with a database is a session, or works for one.
const ALL: &str = "
SELECT 'database', xact_commit, xact_rollback, blks_hit, blks_read, tup_returned, tup_fetched, temp_bytes, deadlocks,
    current_setting('max_connections'), current_setting('superuser_reserved_connections')
  FROM pg_stat_database WHERE datname = current_database();
SELECT 'sessions', state, wait_event_type, wait_event, count(*), backend_type IS NULL FROM pg_stat_activity
  WHERE (backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL) AND pid <> pg_backend_pid()
  GROUP BY 2, 3, 4, 6 LIMIT 200;
SELECT 'running', left(query, 1000), extract(epoch FROM clock_timestamp() - query_start) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state = 'active' ORDER BY query_start LIMIT 100;
SELECT 'table', s.schemaname || '.' || s.relname, s.seq_scan, s.seq_tup_read, coalesce(s.idx_scan, 0),
    greatest(s.n_live_tup, c.reltuples), coalesce(s.idx_tup_fetch, 0)
  FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
  ORDER BY s.seq_tup_read + coalesce(s.idx_tup_fetch, 0) DESC LIMIT 500;
";

/// Which sessions hold the locks that others wait for. Asked only while a session waits, since it reads the lock table.
const BLOCKERS: &str = "
SELECT b.pid, b.state, left(b.query, 1000), count(*)
  FROM (SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' LIMIT 10) w,
    unnest(pg_blocking_pids(w.pid)) AS p (pid) JOIN pg_stat_activity b ON b.pid = p.pid
  WHERE b.wait_event_type IS DISTINCT FROM 'Lock' GROUP BY 1, 2, 3 LIMIT 10";

/// Statements without their texts, which are in a file; with the calls and the time of all. Statements of other users may be
/// hidden, and then have no name.
const STATEMENTS: &str = "
SELECT queryid, sum(calls), sum(total_exec_time), sum(rows), sum(sum(calls)) OVER (), sum(sum(total_exec_time)) OVER ()
  FROM pg_stat_statements(false) WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
  GROUP BY 1 ORDER BY queryid IS NULL, 3 DESC LIMIT 1000";
const TEXTS: &str = "
SELECT queryid, left(query, 1000) FROM pg_stat_statements
  WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND queryid IS NOT NULL LIMIT 5000";
/// Samples between two readings of the texts, while statements without a text are among those that take most time.
const TEXTS_EVERY: u64 = 3;

const NO_STATEMENTS: &str = "pg_stat_statements is not there: put it into shared_preload_libraries, restart, and CREATE \
    EXTENSION pg_stat_statements; until then statements are known by those seen running";
const HIDDEN: &str = "other users' sessions are hidden: GRANT pg_monitor TO this user";

/// Statements in [`SETTINGS`] and in [`ALL`].
const OWN: (u64, u64) = (4, 4);

/// Reads a PostgreSQL.
pub struct Postgres {
    url: String,
    seen: Seen,
    calls: Calls,
    tables: Tables,
    texts: BTreeMap<String, String>,
    samples: u64,
    transactions: OfOthers,
    statements: OfOthers,
}

/// Bytes that the server may send for one sample, or in all to who asks once: many times what these views hold.
const MOST_BYTES: u64 = 32 << 20;

/// A session, what may still come over it, and whether there is `pg_stat_statements`.
pub struct Session {
    client: Client,
    allowance: Arc<Allowance>,
    statements: bool,
}

impl Postgres {
    /// The one of a URL, whose password is looked up when it is connected to.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            seen: Seen::default(),
            calls: Calls::default(),
            tables: Tables::default(),
            texts: BTreeMap::new(),
            samples: 0,
            transactions: OfOthers::default(),
            statements: OfOthers::default(),
        }
    }

    /// Notes a transaction of the watching session, of this many statements.
    fn spend(&mut self, statements: u64) {
        self.transactions.spend(1);
        self.statements.spend(statements);
    }

    fn statements(&mut self, client: &mut Client, sample: &mut Sample) -> Result<(), String> {
        let rows = rows(client, STATEMENTS)?;
        let all_calls = rows.first().map_or(0, |row| integer(row, 4));
        sample.count("db.statements", self.statements.of(all_calls));
        let all_ms = rows.first().map_or(0.0, |row| number(row, 5));
        sample.count("db.statements_ns", (all_ms * 1e6) as u64);
        self.spend(1);
        let unknown = rows
            .iter()
            .take(50)
            .any(|row| row.get(0).is_some_and(|id| !self.texts.contains_key(id)));
        if unknown && (self.texts.is_empty() || self.samples.is_multiple_of(TEXTS_EVERY)) {
            self.texts = self::rows(client, TEXTS)?
                .iter()
                .filter_map(|row| Some((row.get(0)?.to_owned(), shape(row.get(1)?, Quotes::Names))))
                .collect();
            self.spend(1);
        }
        let mut all = BTreeMap::<String, Total>::new();
        for row in &rows {
            let Some(text) = row.get(0).and_then(|id| self.texts.get(id)) else { continue };
            let Some(text) = of_others(text) else { continue };
            let ns = (number(row, 2) * 1e6) as u64;
            all.entry(text).or_default().add(integer(row, 1), ns, integer(row, 3));
        }
        self.calls.tell(&all, sample);
        Ok(())
    }
}

impl Service for Postgres {
    type Connection = Session;

    fn connect(&mut self) -> Result<Session, String> {
        let (mut client, allowance) = bounded(&self.url, "plimsoll watch")?;
        let asked = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'";
        let installed = rows(&mut client, asked)?.first().is_some_and(|row| integer(row, 0) > 0);
        let statements = installed && client.simple_query(STATEMENTS).is_ok();
        self.spend(OWN.0);
        self.spend(1);
        if installed {
            self.spend(1);
        }
        Ok(Session { client, allowance, statements })
    }

    fn read(&mut self, session: &mut Session, sample: &mut Sample) -> Result<(), String> {
        self.samples += 1;
        session.allowance.grant(MOST_BYTES);
        let all = rows(&mut session.client, ALL)?;
        let (mut sessions, mut tables) = (Sessions::default(), Vec::new());
        for row in &all {
            match row.get(0) {
                Some("database") => database(row, &mut self.transactions, sample),
                Some("sessions") => sessions.add(row),
                Some("running") => running(row, &mut self.seen, sample),
                Some("table") => {
                    let name = row.get(1).unwrap_or_default().to_owned();
                    tables.push((name, integer(row, 3).saturating_add(integer(row, 6)), row));
                }
                _ => {}
            }
        }
        for (name, row) in self.tables.dearest(tables) {
            table(&name, row, sample);
        }
        self.spend(OWN.1);
        sessions.tell(sample);
        for (shape, times) in self.seen.counts() {
            sample.count(format!("db.seen{{{shape}}}"), times);
        }
        if sessions.lock_waiters > 0 {
            self.spend(1);
            for row in rows(&mut session.client, BLOCKERS)? {
                let (pid, state) = (row.get(0).unwrap_or("?"), row.get(1).unwrap_or("?"));
                let shape =
                    cut(&shape(row.get(2).unwrap_or_default(), Quotes::Names), BESIDE_SESSION);
                let of = format!("db.blocks_others{{session {pid}, {state}: {shape}}}");
                sample.gauge(of, integer(&row, 3) as f64);
            }
        }
        match session.statements {
            true => self.statements(&mut session.client, sample),
            false => {
                sample.miss("db.statements", NO_STATEMENTS);
                Ok(())
            }
        }
    }
}

/// Connects as this application: a session that waits for nothing for long, and only reads.
pub(crate) fn open(url: &str, application: &str) -> Result<Client, String> {
    bounded(url, application).map(|(client, _)| client)
}

/// The same, with what may come over it.
fn bounded(url: &str, application: &str) -> Result<(Client, Arc<Allowance>), String> {
    let address = Address::of_user(url).map_err(|wrong| wrong.to_string())?;
    let passed_over = address.passed_over_of_user();
    let Address::Postgres(mut login) = address else {
        return Err("not a URL of PostgreSQL".to_owned());
    };
    login.config.connect_timeout(Duration::from_secs(5)).application_name(application);
    let allowance = Arc::new(Allowance::default());
    allowance.grant(MOST_BYTES);
    let mut client = login.connect_bounded(&allowance).map_err(|error| match passed_over {
        Some(line) => format!("{}; {line}", why(&error)),
        None => why(&error),
    })?;
    client.batch_execute(SETTINGS).map_err(|error| why(&error))?;
    Ok((client, allowance))
}

/// Sessions by state and by what they wait for.
#[derive(Debug, Default)]
struct Sessions {
    all: u64,
    states: BTreeMap<String, u64>,
    waits: BTreeMap<String, u64>,
    lock_waiters: u64,
    hidden: bool,
}

impl Sessions {
    fn add(&mut self, row: &SimpleQueryRow) {
        let hidden = row.get(5) == Some("t");
        self.count(hidden, row.get(1), row.get(2).zip(row.get(3)), integer(row, 4));
    }

    /// Counts `n` sessions in a state, which one that begins has none of, and that wait for an event of a kind.
    fn count(&mut self, hidden: bool, state: Option<&str>, waits: Option<(&str, &str)>, n: u64) {
        self.all += n;
        self.hidden |= hidden;
        let Some(state) = state else { return };
        *self.states.entry(state.to_owned()).or_default() += n;
        // An idle session waits for its client, which is no wait of the database.
        if let (Some((kind, event)), "active") = (waits, state) {
            *self.waits.entry(format!("{kind}: {event}")).or_default() += n;
            self.lock_waiters += if kind == "Lock" { n } else { 0 };
        }
    }

    fn tell(&self, sample: &mut Sample) {
        sample.gauge("db.connections", self.all as f64);
        if self.hidden {
            // What the others do is not known, and none of them at work is not what was seen.
            for figure in ["db.active", "db.lock_waiters", "db.state", "db.waits"] {
                sample.miss(figure, HIDDEN);
            }
            return;
        }
        // Those that are not there now count too in the mean.
        for state in ["active", "idle", "idle in transaction"] {
            let n = self.states.get(state).copied().unwrap_or(0);
            sample.gauge(format!("db.state{{{state}}}"), n as f64);
        }
        let active = self.states.get("active").copied().unwrap_or(0);
        sample.gauge("db.active", active as f64);
        sample.gauge("db.lock_waiters", self.lock_waiters as f64);
        for (event, n) in &self.waits {
            sample.gauge(format!("db.waits{{{event}}}"), *n as f64);
        }
    }
}

fn database(row: &SimpleQueryRow, transactions: &mut OfOthers, sample: &mut Sample) {
    let all = integer(row, 1).saturating_add(integer(row, 2));
    sample.count("db.transactions", transactions.of(all));
    for (name, column) in [
        ("db.rollbacks", 2),
        ("db.blocks_hit", 3),
        ("db.blocks_read", 4),
        ("db.rows_read", 5),
        ("db.rows_fetched", 6),
        ("db.temp_bytes", 7),
        ("db.deadlocks", 8),
    ] {
        sample.count(name, integer(row, column));
    }
    sample.gauge("db.connections_max", number(row, 9));
    sample.gauge("db.connections_reserved", number(row, 10));
}

/// A statement that is running: how often it was seen, and the longest that it has been running.
fn running(row: &SimpleQueryRow, seen: &mut Seen, sample: &mut Sample) {
    let Some(text) = row.get(1).filter(|text| !text.starts_with("<insufficient")) else { return };
    let (shape, age_s) = (shape(text, Quotes::Names), number(row, 2).max(0.0));
    seen.see(&shape);
    longest(sample, &shape, age_s);
}

/// Keeps the longest that statements of a shape have been running.
pub(super) fn longest(sample: &mut Sample, shape: &str, age_s: f64) {
    let name = format!("db.running_s{{{shape}}}");
    let known = sample.gauges.get(&name).copied().unwrap_or(0.0);
    sample.gauge(name, known.max(age_s));
    let known = sample.gauges.get("db.longest_s").copied().unwrap_or(0.0);
    sample.gauge("db.longest_s", known.max(age_s));
}

fn table(name: &str, row: &SimpleQueryRow, sample: &mut Sample) {
    for (stem, column) in
        [("db.seq_scans", 2), ("db.seq_rows", 3), ("db.index_scans", 4), ("db.index_rows", 6)]
    {
        sample.count(format!("{stem}{{{name}}}"), integer(row, column));
    }
    sample.gauge(format!("db.table_rows{{{name}}}"), number(row, 5).max(0.0));
}

pub(crate) fn rows(client: &mut Client, sql: &str) -> Result<Vec<SimpleQueryRow>, String> {
    let messages = client.simple_query(sql).map_err(|error| why(&error))?;
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    };
    Ok(messages.into_iter().filter_map(row).collect())
}

pub(crate) fn integer(row: &SimpleQueryRow, column: usize) -> u64 {
    row.get(column).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn number(row: &SimpleQueryRow, column: usize) -> f64 {
    row.get(column).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// The server's own words, which do not hold the password.
pub(crate) fn why(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("PostgreSQL: {} [{}]", said.message(), said.code().code()),
        None => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("PostgreSQL: {error}{cause}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    /// Accepts one session, and sends `endless` again and again until nobody reads any more. Returns its address
    /// and how much it got rid of.
    fn endless(greeting: &'static [u8], endless: &'static [u8]) -> (String, Arc<AtomicU64>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sent = Arc::new(AtomicU64::new(0));
        let counted = sent.clone();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(greeting).unwrap();
            if !greeting.is_empty() {
                let _ = stream.read(&mut request).unwrap();
            }
            let block = endless.repeat((1 << 16) / endless.len() + 1);
            // More than is allowed four times over, and then no more, so that a failing test ends.
            while counted.load(Ordering::Relaxed) < 4 * MOST_BYTES {
                // Counted before anybody can have read it.
                counted.fetch_add(block.len() as u64, Ordering::Relaxed);
                if stream.write_all(&block).is_err() {
                    return;
                }
            }
        });
        (format!("postgres://somebody:word@{address}/db"), sent)
    }

    #[test]
    fn what_is_hidden_is_no_session_at_rest() {
        let told = |hidden: bool| {
            let (mut sessions, mut sample) = (Sessions::default(), Sample::new(0));
            sessions.count(false, Some("active"), Some(("Lock", "transactionid")), 2);
            // One that begins has no state yet.
            sessions.count(hidden, None, None, 5);
            sessions.tell(&mut sample);
            sample
        };
        let (seen, hidden) = (told(false), told(true));
        assert_eq!((seen.gauges["db.connections"], hidden.gauges["db.connections"]), (7.0, 7.0));
        assert_eq!((seen.gauges["db.active"], seen.gauges["db.lock_waiters"]), (2.0, 2.0));
        assert!(seen.missing.is_empty(), "{seen:?}");
        assert_eq!(hidden.gauges.len(), 1, "{hidden:?}");
        assert!(hidden.missing["db.active"].contains("pg_monitor"));
    }

    #[test]
    fn an_answer_without_an_end_is_given_up() {
        // In the clear and without a password: AuthenticationOk, ReadyForQuery.
        const GREETING: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
        for (greeting, body) in [
            // One row of a GiB; rows without columns; a notice of 2 GiB before the login.
            (GREETING, &b"D\x40\0\0\0"[..]),
            (GREETING, b"D\0\0\0\x06\0\0"),
            (b"", b"N\x7f\xff\xff\xff"),
        ] {
            let (url, sent) = endless(greeting, body);
            let connected = Postgres::new(&url).connect();
            let error = connected.err().expect("no such server is usable");
            assert!(error.contains("more than any answer"), "{error}");
            // What the kernel holds on both sides comes on top.
            let sent = sent.load(Ordering::Relaxed);
            assert!((MOST_BYTES..2 * MOST_BYTES).contains(&sent), "{sent}");
        }
    }
}
