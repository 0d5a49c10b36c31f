//! MySQL and MariaDB, by SHOW GLOBAL STATUS, the list of processes, and `performance_schema` if it is on. The watching
//! session itself is left out of the figures of sessions and statements, their number included, but not out of the server's
//! other counters.

use std::collections::BTreeMap;
use std::time::Duration;

use login::Address;
use model::Sample;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row, Value};

use super::others::OfOthers;
use super::patient::Service;
use super::postgres::longest;
use super::statement::{BESIDE_SESSION, Calls, Quotes, Seen, Total, cut, of_others, shape};
use super::tables::Tables;

/// Variables of SHOW GLOBAL STATUS that count, and what they are called here.
const COUNTERS: &[(&str, &str)] = &[
    ("Questions", "db.statements"),
    ("Com_select", "db.commands{select}"),
    ("Com_insert", "db.commands{insert}"),
    ("Com_update", "db.commands{update}"),
    ("Com_delete", "db.commands{delete}"),
    ("Com_replace", "db.commands{replace}"),
    ("Com_commit", "db.commands{commit}"),
    ("Com_rollback", "db.commands{rollback}"),
    ("Innodb_buffer_pool_reads", "db.blocks_read"),
    ("Innodb_row_lock_waits", "db.lock_waits"),
    ("Slow_queries", "db.slow_statements"),
    ("Select_scan", "db.scans"),
    ("Handler_read_rnd_next", "db.scanned_rows"),
    ("Created_tmp_disk_tables", "db.temp_tables_on_disk"),
    ("Aborted_connects", "db.aborted_connects"),
    ("Connection_errors_max_connections", "db.connections_refused"),
    ("Bytes_received", "db.received_bytes"),
    ("Bytes_sent", "db.sent_bytes"),
];
/// And those that rise and fall.
const GAUGES: &[(&str, &str)] = &[("Innodb_row_lock_current_waits", "db.lock_waiters")];
/// And those that are computed with.
const OTHERS: [&str; 4] = [
    "Innodb_buffer_pool_read_requests",
    "Innodb_row_lock_time",
    "Threads_running",
    "Threads_connected",
];

const LIMITS: &str = "SELECT @@global.max_connections";
const RUNNING: &str = "SELECT LEFT(INFO, 1000), TIME, STATE FROM information_schema.PROCESSLIST \
    WHERE COMMAND NOT IN ('Sleep', 'Daemon', 'Binlog Dump') AND ID <> CONNECTION_ID() AND INFO IS NOT NULL \
    ORDER BY TIME DESC LIMIT 100";
const DIGESTS: &str = "SELECT LEFT(DIGEST_TEXT, 1000), COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_SENT \
    FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT IS NOT NULL \
    ORDER BY SUM_TIMER_WAIT DESC LIMIT 500";
/// Rows that were read without an index.
const TABLES: &str = "SELECT CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME), COUNT_FETCH \
    FROM performance_schema.table_io_waits_summary_by_index_usage WHERE INDEX_NAME IS NULL AND COUNT_FETCH > 0 \
    AND OBJECT_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
    ORDER BY COUNT_FETCH DESC LIMIT 500";
const SIZES: &str = "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), TABLE_ROWS FROM information_schema.TABLES \
    WHERE TABLE_TYPE = 'BASE TABLE' \
    AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
    ORDER BY TABLE_ROWS DESC LIMIT 500";
/// The oldest transactions that hold locks: one of them is waited for.
const BLOCKERS: &str = "SELECT trx_mysql_thread_id, trx_query, trx_rows_locked FROM information_schema.INNODB_TRX \
    WHERE trx_state <> 'LOCK WAIT' AND trx_rows_locked > 0 ORDER BY trx_started LIMIT 3";
/// Rows of an answer at most, and bytes of their values: many times what is asked for.
const MOST_ROWS: usize = 20_000;
const MOST_BYTES: usize = 32 << 20;
/// Statements of ours when a connection was opened: its character set, two questions, and two that may fail.
const OWN_AT_FIRST: u64 = 5;
/// Samples between two readings of the tables' sizes, which the server may have to estimate anew.
const SIZES_EVERY: u64 = 10;

const NO_DIGESTS: &str = "performance_schema is off: performance_schema = ON in the server's configuration, and restart; \
    until then statements are known by those seen running, and tables are not told apart";
const NO_SELECT: &str = "this user may not read performance_schema: GRANT SELECT ON performance_schema.* TO this user; \
    until then statements are known by those seen running, and tables are not told apart";
const HIDDEN: &str = "other users' statements are hidden: GRANT PROCESS ON *.* TO this user";

/// Reads a MySQL or MariaDB.
pub struct Mysql {
    url: String,
    seen: Seen,
    calls: Calls,
    tables: Tables,
    sizes: BTreeMap<String, f64>,
    samples: u64,
    statements: OfOthers,
}

/// A session, and what it may see.
pub struct Session {
    connection: Conn,
    /// Why statements and tables are not reported separately; none where they are.
    no_digests: Option<&'static str>,
    hidden: bool,
}

impl Mysql {
    /// The one of a URL, whose password is looked up when it is connected to.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            seen: Seen::default(),
            calls: Calls::default(),
            tables: Tables::default(),
            sizes: BTreeMap::new(),
            samples: 0,
            statements: OfOthers::default(),
        }
    }

    fn running(&mut self, connection: &mut Conn, sample: &mut Sample) -> Result<(), String> {
        let mut waits: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows(connection, RUNNING)? {
            let Some(statement) = text(&row, 0) else { continue };
            let shape = shape(&statement, Quotes::Strings);
            self.seen.see(&shape);
            longest(sample, &shape, number(&row, 1));
            if let Some(state) = text(&row, 2).filter(|state| !state.is_empty()) {
                *waits.entry(state.chars().take(60).collect()).or_default() += 1;
            }
        }
        for (shape, times) in self.seen.counts() {
            sample.count(format!("db.seen{{{shape}}}"), times);
        }
        for (state, n) in waits {
            sample.gauge(format!("db.waits{{{state}}}"), n as f64);
        }
        Ok(())
    }

    fn digests(&mut self, connection: &mut Conn, sample: &mut Sample) -> Result<(), String> {
        let (mut all, mut spent_ns) = (BTreeMap::<String, Total>::new(), 0_u64);
        // With the tables.
        self.statements.spend(2);
        for row in rows(connection, DIGESTS)? {
            let Some(digest) = text(&row, 0) else { continue };
            let (calls, ns) = (number(&row, 1) as u64, (number(&row, 2) / 1e3) as u64);
            spent_ns = spent_ns.saturating_add(ns);
            let Some(shape) = of_others(&shape(&tight(&digest), Quotes::Strings)) else { continue };
            all.entry(shape).or_default().add(calls, ns, number(&row, 3) as u64);
        }
        sample.count("db.statements_ns", spent_ns);
        self.calls.tell(&all, sample);
        if self.sizes.is_empty() || self.samples.is_multiple_of(SIZES_EVERY) {
            self.statements.spend(1);
            self.sizes = rows(connection, SIZES)?
                .iter()
                .filter_map(|row| Some((text(row, 0)?, number(row, 1))))
                .collect();
        }
        let tables = rows(connection, TABLES)?
            .iter()
            .filter_map(|row| {
                let read = number(row, 1) as u64;
                Some((text(row, 0)?, read, read))
            })
            .collect();
        for (table, read) in self.tables.dearest(tables) {
            if let Some(size) = self.sizes.get(&table) {
                sample.gauge(format!("db.table_rows{{{table}}}"), *size);
            }
            sample.count(format!("db.seq_rows{{{table}}}"), read);
        }
        Ok(())
    }
}

impl Service for Mysql {
    type Connection = Session;

    fn connect(&mut self) -> Result<Session, String> {
        let mut connection = open(&self.url)?;
        let mut one = |sql: &str| -> Result<f64, String> {
            Ok(rows(&mut connection, sql)?.first().map_or(0.0, |row| number(row, 0)))
        };
        let may_see = "SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES \
                       WHERE PRIVILEGE_TYPE IN ('PROCESS', 'SUPER')";
        let hidden = one(may_see)? == 0.0;
        let no_digests = match one("SELECT @@performance_schema")? == 1.0 {
            true => {
                [DIGESTS, TABLES].iter().find_map(|sql| one(sql).err()).map(|error| lacking(&error))
            }
            false => Some(NO_DIGESTS),
        };
        self.statements.spend(OWN_AT_FIRST);
        Ok(Session { connection, no_digests, hidden })
    }

    fn read(&mut self, session: &mut Session, sample: &mut Sample) -> Result<(), String> {
        self.samples += 1;
        let connection = &mut session.connection;
        // A statement is counted before it is carried out. Then come the limits and what is running.
        self.statements.spend(1);
        let names = COUNTERS.iter().chain(GAUGES).map(|(name, _)| *name).chain(OTHERS);
        let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
        let asked = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", "));
        let values: BTreeMap<String, f64> = rows(connection, &asked)?
            .iter()
            .filter_map(|row| Some((text(row, 0)?, number(row, 1))))
            .collect();
        status(&values, sample);
        if let Some(statements) = sample.counters.get_mut("db.statements") {
            *statements = self.statements.of(*statements);
        }
        self.statements.spend(2);
        let most = rows(connection, LIMITS)?.first().map_or(0.0, |row| number(row, 0));
        sample.gauge("db.connections_max", most);
        if session.hidden {
            sample.miss("db.running_s", HIDDEN);
        }
        self.running(connection, sample)?;
        if sample.gauges.get("db.lock_waiters").is_some_and(|n| *n > 0.0) && !session.hidden {
            self.statements.spend(1);
            for row in rows(connection, BLOCKERS)? {
                let id = number(&row, 0) as u64;
                let statement =
                    text(&row, 1).map(|sql| cut(&shape(&sql, Quotes::Strings), BESIDE_SESSION));
                let does = statement.unwrap_or_else(|| "idle in transaction".to_owned());
                let name = format!("db.blocks_others{{session {id}, {does}}}");
                sample.gauge(name, number(&row, 2));
            }
        }
        match session.no_digests {
            None => self.digests(connection, sample),
            Some(why) => {
                sample.miss("db.calls", why);
                Ok(())
            }
        }
    }
}

/// Connects: a session that waits for nothing for long.
pub(crate) fn open(url: &str) -> Result<Conn, String> {
    let address = Address::of_user(url).map_err(|wrong| wrong.to_string())?;
    let passed_over = address.passed_over_of_user();
    let Address::Mysql(opts) = address else { return Err("not a URL of MySQL".to_owned()) };
    let wait = Some(Duration::from_secs(5));
    let builder = OptsBuilder::from_opts(*opts);
    let builder = builder.tcp_connect_timeout(wait).read_timeout(wait).write_timeout(wait);
    // Otherwise the server says how long a row may be.
    let opts = builder.max_allowed_packet(Some(MOST_BYTES));
    let mut connection = Conn::new(opts).map_err(|error| match passed_over {
        Some(line) => format!("{}; {line}", why(&error)),
        None => why(&error),
    })?;
    connection.query_drop("SET NAMES utf8mb4").map_err(|error| why(&error))?;
    Ok(connection)
}

/// The figures of SHOW GLOBAL STATUS.
fn status(values: &BTreeMap<String, f64>, sample: &mut Sample) {
    for (variable, name) in COUNTERS {
        if let Some(value) = values.get(*variable) {
            sample.count(*name, *value as u64);
        }
    }
    for (variable, name) in GAUGES {
        if let Some(value) = values.get(*variable) {
            sample.gauge(*name, *value);
        }
    }
    let [requests, lock_ms, running, connected] = OTHERS.map(|name| values.get(name).copied());
    if let Some((requests, read)) = requests.zip(values.get("Innodb_buffer_pool_reads")) {
        sample.count("db.blocks_hit", (requests - read).max(0.0) as u64);
    }
    if let Some(ms) = lock_ms {
        sample.count("db.lock_wait_ns", (ms * 1e6) as u64);
    }
    // One of them is ours.
    for (name, value) in [("db.active", running), ("db.connections", connected)] {
        if let Some(value) = value {
            sample.gauge(name, (value - 1.0).max(0.0));
        }
    }
}

/// Why statements cannot be reported separately, by the server's error to a query for them.
fn lacking(error: &str) -> &'static str {
    /// ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR.
    const DENIED: [&str; 3] = ["[1044]", "[1142]", "[1227]"];
    if DENIED.iter().any(|code| error.ends_with(code)) { NO_SELECT } else { NO_DIGESTS }
}

/// A digest as people write it: MySQL takes no blank between a function and its parenthesis.
pub(crate) fn tight(digest: &str) -> String {
    digest.replace(" . ", ".").replace(" ( ", "(").replace(" )", ")").replace(" , ", ", ")
}

/// Bytes of a row's values.
fn size(row: &Row) -> usize {
    let value = |at| match row.as_ref(at) {
        Some(Value::Bytes(bytes)) => bytes.len(),
        _ => size_of::<Value>(),
    };
    (0..row.len()).map(value).sum()
}

pub(crate) fn rows(connection: &mut Conn, sql: &str) -> Result<Vec<Row>, String> {
    let mut result = connection.query_iter(sql).map_err(|error| why(&error))?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for row in result.by_ref() {
        let row = row.map_err(|error| why(&error))?;
        bytes += size(&row);
        if rows.len() >= MOST_ROWS || bytes > MOST_BYTES {
            return Err("MySQL: it sent more than any answer to this has".to_owned());
        }
        rows.push(row);
    }
    Ok(rows)
}

pub(crate) fn text(row: &Row, column: usize) -> Option<String> {
    match row.as_ref(column)? {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(n) => Some(n.to_string()),
        Value::UInt(n) => Some(n.to_string()),
        _ => None,
    }
}

pub(crate) fn number(row: &Row, column: usize) -> f64 {
    text(row, column).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// The server's own words, which do not hold the password.
pub(crate) fn why(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(said) => format!("MySQL: {} [{}]", said.message, said.code),
        mysql::Error::DriverError(said) => format!("MySQL: {said}"),
        mysql::Error::IoError(said) => format!("MySQL: {said}"),
        other => format!("MySQL: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_grant_is_not_a_schema_that_is_off() {
        let denied = "MySQL: SELECT command denied to user 'w'@'%' for table 'x' [1142]";
        assert!(lacking(denied).contains("GRANT SELECT ON performance_schema.*"));
        assert!(
            lacking("MySQL: Table 'performance_schema.x' doesn't exist [1146]").contains("is off")
        );
    }

    #[test]
    fn variables_are_told_by_name() {
        let told = [
            ("Questions", 500.0),
            ("Threads_running", 4.0),
            ("Innodb_buffer_pool_read_requests", 1000.0),
            ("Innodb_buffer_pool_reads", 10.0),
            ("Innodb_row_lock_time", 7.0),
            ("Innodb_row_lock_current_waits", 2.0),
        ];
        let mut sample = Sample::new(0);
        status(&told.map(|(name, value)| (name.to_owned(), value)).into(), &mut sample);
        assert_eq!(
            (sample.counters["db.statements"], sample.counters["db.blocks_hit"]),
            (500, 990)
        );
        assert_eq!(sample.counters["db.lock_wait_ns"], 7_000_000);
        assert_eq!(
            tight("SELECT COUNT ( * ) FROM `a` . `b` WHERE `c` IN (...)"),
            "SELECT COUNT(*) FROM `a`.`b` WHERE `c` IN (...)"
        );
        assert_eq!((sample.gauges["db.active"], sample.gauges["db.lock_waiters"]), (3.0, 2.0));
    }
}
