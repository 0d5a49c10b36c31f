//! MySQL and MariaDB: LOAD DATA LOCAL where the server allows it, INSERT with many rows elsewhere.

use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use model::quote::grouped;
use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler, Opts};

use super::{
    Canceller, Database, Each, Make, Target, all, column_list, geometry, literal_of, number, one,
    produce, read_mysql,
};
use crate::error::{Error, Result};
use crate::schema::{Dialect, Name, Schema, Table, Type};

/// Chunks of rows that wait to be sent.
const WAITING: usize = 4;
/// Texts of one query about what is compared instead of them.
const COMPARED: usize = 500;
/// Bytes of one INSERT at most, if the server's limit is not lower.
const LARGEST_INSERT: u64 = 1 << 20;

/// Beginnings of the SQL states with which rows are refused: by their values, by rules, by SIGNAL.
const RULES: [&str; 3] = ["22", "23", "45"];
/// Refusals of rows whose state is a general one: values that do not fit, none for a column without default, no
/// partition, a condition of MySQL's.
const UNCLASSED_RULES: [u16; 5] = [1265, 1366, 1364, 1526, 3819];

/// What tells a server from others.
const WHO: &str = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@server_id)";

/// Where LOAD DATA gets its chunks from.
type Chunks = Arc<Mutex<Option<Receiver<Result<String>>>>>;

/// A connection to MySQL or MariaDB.
pub struct Mysql {
    connection: Conn,
    opts: Opts,
    /// What [`WHO`] says of the server.
    server: Option<String>,
    /// Whether LOAD DATA LOCAL works; not known before it was tried.
    local: Option<bool>,
    chunks: Chunks,
    failed: Arc<Mutex<Option<Error>>>,
}

impl Mysql {
    /// Connects; times are UTC, and what does not fit is refused.
    pub fn connect(opts: &Opts) -> Result<Self> {
        let mut connection = Conn::new(opts.clone()).map_err(|error| wrong(&error))?;
        for sql in [
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'",
            "SET SESSION time_zone = '+00:00'",
            "SET SESSION foreign_key_checks = 1, unique_checks = 1",
            "SET NAMES utf8mb4",
        ] {
            connection.query_drop(sql).map_err(|error| wrong(&error))?;
        }
        let server = connection.query_first(WHO).map_err(|error| wrong(&error))?;
        let (chunks, failed) = (Chunks::default(), Arc::<Mutex<Option<Error>>>::default());
        let (source, fault) = (chunks.clone(), failed.clone());
        connection.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, writer| {
            let receiver = source.lock().ok().and_then(|mut chunks| chunks.take());
            for chunk in receiver.into_iter().flatten() {
                match chunk {
                    Ok(chunk) => io::Write::write_all(writer, chunk.as_bytes())?,
                    Err(error) => {
                        if let Ok(mut fault) = fault.lock() {
                            *fault = Some(error);
                        }
                        // The file ends in the regular way, since the server waits for its end before it reads
                        // another statement; what arrived is rolled back.
                        return Ok(());
                    }
                }
            }
            Ok(())
        })));
        Ok(Self { connection, opts: opts.clone(), server, local: None, chunks, failed })
    }

    /// Whether all rows arrived as they were sent: LOAD DATA LOCAL turns errors into warnings, and leaves out or
    /// changes rows.
    fn load(&mut self, target: &Target<'_>, rows: &[u64], make: &Make<'_>) -> Result<bool> {
        let sql = load_statement(target);
        let sent = thread::scope(|scope| {
            let (send, receive) = sync_channel(WAITING);
            if let Ok(mut chunks) = self.chunks.lock() {
                *chunks = Some(receive);
            }
            scope.spawn(move || produce(rows, make, "", &send));
            let sent = self.connection.query_drop(&sql);
            // Nobody takes the chunks of a statement that was refused.
            if let Ok(mut chunks) = self.chunks.lock() {
                *chunks = None;
            }
            sent
        });
        if let Some(error) = self.failed.lock().ok().and_then(|mut failed| failed.take()) {
            return Err(error);
        }
        match sent {
            Ok(()) => Ok(self.connection.affected_rows() == rows.len() as u64
                && self.connection.warnings() == 0),
            // Not allowed by the server, or by this connection's capabilities.
            Err(mysql::Error::MySqlError(said)) if [1148, 3948, 4166].contains(&said.code) => {
                self.local = Some(false);
                Ok(false)
            }
            Err(error) => Err(wrong(&error)),
        }
    }

    fn insert(&mut self, target: &Target<'_>, rows: &[u64], make: &Make<'_>) -> Result<()> {
        let most = number(self, "SELECT @@max_allowed_packet")?;
        let most = (most / 2).clamp(1024, LARGEST_INSERT) as usize;
        let name = target.table.name.sql(Dialect::Mysql);
        let list = column_list(Dialect::Mysql, target.table, target.columns);
        let head = format!("INSERT INTO {name} ({list}) VALUES ");
        let (mut sql, mut row, mut waiting) = (head.clone(), Vec::new(), 0);
        for &at in rows {
            make(at, &mut row)?;
            if waiting > 0 {
                sql.push(',');
            }
            let cells = target.columns.iter().zip(&row);
            let cells = cells.map(|(&column, value)| {
                literal_of(Dialect::Mysql, &target.table.columns[column], value)
            });
            let values: Vec<String> = cells.collect();
            sql += &format!("({})", values.join(","));
            waiting += 1;
            if sql.len() >= most {
                self.inserted(&sql, waiting, target)?;
                sql.truncate(head.len());
                waiting = 0;
            }
        }
        if waiting > 0 { self.inserted(&sql, waiting, target) } else { Ok(()) }
    }

    fn inserted(&mut self, sql: &str, rows: u64, target: &Target<'_>) -> Result<()> {
        let written = self.execute(sql)?;
        if written == rows {
            return Ok(());
        }
        let name = &target.table.name;
        let (written, rows) = (grouped(written), grouped(rows));
        Err(Error::Rule(format!("{name}: {written} of {rows} rows arrived")))
    }
}

fn load_statement(target: &Target<'_>) -> String {
    let (mut list, mut sets) = (Vec::new(), Vec::new());
    for (at, &column) in target.columns.iter().enumerate() {
        let of = &target.table.columns[column];
        let name = Dialect::Mysql.quoted(&of.name);
        match of.kind {
            Type::Bytes { .. } => {
                list.push(format!("@b{at}"));
                sets.push(format!("{name} = UNHEX(@b{at})"));
            }
            Type::Bool => {
                list.push(format!("@b{at}"));
                // TINYINT(1) holds other numbers too, and to BIT(1) a text is its bytes.
                sets.push(format!(
                    "{name} = CASE @b{at} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE @b{at} + 0 END"
                ));
            }
            Type::Int { .. } if of.is_bits() => {
                list.push(format!("@b{at}"));
                sets.push(format!("{name} = CAST(@b{at} AS UNSIGNED)"));
            }
            Type::Other if of.is_geometry() => {
                list.push(format!("@b{at}"));
                sets.push(format!("{name} = {}", geometry(&format!("@b{at}"))));
            }
            _ => list.push(name),
        }
    }
    let sets = if sets.is_empty() { String::new() } else { format!(" SET {}", sets.join(", ")) };
    format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY \
         '\\\\' LINES TERMINATED BY '\\n' ({}){sets}",
        target.table.name.sql(Dialect::Mysql),
        list.join(", ")
    )
}

fn wrong(error: &mysql::Error) -> Error {
    let mysql::Error::MySqlError(said) = error else {
        return Error::Database(bare(&error.to_string()).to_owned());
    };
    let text = format!("{} [{}]", said.message, said.code);
    let by_rule = RULES.iter().any(|rule| said.state.starts_with(rule));
    match by_rule || UNCLASSED_RULES.contains(&said.code) {
        true => Error::Rule(text),
        false => Error::Database(text),
    }
}

/// The client's words without the names of its types around them: `IoError { CodecError { broken pipe } }`.
fn bare(text: &str) -> &str {
    let inner = text.split_once(" { ").filter(|(name, _)| name.ends_with("Error"));
    match inner.and_then(|(_, rest)| rest.strip_suffix(" }")) {
        Some(inner) => bare(inner),
        None => text,
    }
}

impl Database for Mysql {
    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    /// By a connection of its own, with the rights of the same user. One address may lead to several servers, each of
    /// which has such a number: of another one nothing is ended.
    fn canceller(&self) -> Canceller {
        let (opts, id) = (self.opts.clone(), self.connection.connection_id());
        let server = self.server.clone();
        Box::new(move || {
            if let Ok(mut other) = Conn::new(opts.clone())
                && other.query_first(WHO).is_ok_and(|who: Option<String>| who == server)
            {
                let _ = other.query_drop(format!("KILL QUERY {id}"));
            }
        })
    }

    fn schema(&mut self) -> Result<Schema> {
        read_mysql::schema(self)
    }

    fn execute(&mut self, sql: &str) -> Result<u64> {
        self.connection.query_drop(sql).map_err(|error| wrong(&error))?;
        Ok(self.connection.affected_rows())
    }

    fn query(&mut self, sql: &str, each: &mut Each<'_>) -> Result<()> {
        let result = self.connection.query_iter(sql).map_err(|error| wrong(&error))?;
        for row in result {
            let row = row.map_err(|error| wrong(&error))?;
            let cells: Vec<Option<String>> = row.unwrap().into_iter().map(text_of).collect();
            let cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            each(&cells)?;
        }
        Ok(())
    }

    fn write(&mut self, target: &Target<'_>, rows: &[u64], make: &Make<'_>) -> Result<()> {
        if target.columns.is_empty() || self.local == Some(false) {
            return self.insert(target, rows, make);
        }
        self.execute("SAVEPOINT plimsoll_rows")?;
        if self.load(target, rows, make)? {
            self.local = Some(true);
            return Ok(());
        }
        // Once more, so that the server says what is wrong.
        self.execute("ROLLBACK TO SAVEPOINT plimsoll_rows")?;
        self.insert(target, rows, make)
    }

    fn partitions(&mut self, table: &Table) -> Result<Option<String>> {
        read_mysql::partitions(self, table)
    }

    fn counter(&mut self, table: &Table, _: usize) -> Result<Option<(i64, bool)>> {
        let name = Dialect::Mysql.literal(&table.name.table);
        // MySQL 8 keeps figures of a day ago.
        let _ = self.execute("SET SESSION information_schema_stats_expiry = 0");
        let sql = format!(
            "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {name}"
        );
        let next: Option<i64> = one(self, &sql)?.and_then(|text| text.parse().ok());
        Ok(next.map(|next| (next, false)))
    }

    fn set_counter(&mut self, table: &Table, _: usize, value: (i64, bool)) -> Result<()> {
        let next = value.0.saturating_add(value.1.into());
        let name = table.name.sql(Dialect::Mysql);
        self.execute(&format!("ALTER TABLE {name} AUTO_INCREMENT = {next}")).map(|_| ())
    }

    fn has_table(&mut self, name: &str) -> Result<bool> {
        let name = Dialect::Mysql.literal(name);
        let sql = format!(
            "SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {name}"
        );
        Ok(number(self, &sql)? > 0)
    }

    /// The weights of its collation, in which case and accents may make no difference, nor in most blanks at the end.
    fn compared_as(
        &mut self,
        table: &Table,
        column: usize,
        texts: &[String],
    ) -> Result<Vec<Option<String>>> {
        let quoted = |text: &str| Dialect::Mysql.literal(text);
        let sql = format!(
            "SELECT CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {} AND COLUMN_NAME = {}",
            quoted(&table.name.table),
            quoted(&table.columns[column].name)
        );
        let found = all(self, &sql)?;
        let Some([Some(letters), Some(order)]) = found.first().map(Vec::as_slice) else {
            return Ok(texts.iter().cloned().map(Some).collect());
        };
        let mut compared = Vec::with_capacity(texts.len());
        for chunk in texts.chunks(COMPARED) {
            let rows = chunk.iter().zip(0..);
            let rows: Vec<String> =
                rows.map(|(text, n)| format!("SELECT {n} AS n, {} AS v", quoted(text))).collect();
            let own = |text: &str| format!("CONVERT({text} USING {letters})");
            let pads = format!("{} COLLATE {order} = {} COLLATE {order}", own("'a '"), own("'a'"));
            let sql = format!(
                "SELECT IF(BINARY CONVERT({own} USING utf8mb4) = BINARY v, \
                 HEX(WEIGHT_STRING(IF({pads}, RTRIM({own}), {own}) COLLATE {order})), NULL) FROM ({}) AS texts ORDER BY n",
                rows.join(" UNION ALL "),
                own = own("v")
            );
            compared
                .extend(all(self, &sql)?.into_iter().map(|row| row.into_iter().flatten().next()));
        }
        Ok(compared)
    }

    fn signs_of_use(&mut self) -> Result<Vec<String>> {
        let mut signs = Vec::new();
        let replicas = number(
            self,
            "SELECT count(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'",
        );
        if replicas.is_ok_and(|count| count > 0) {
            signs.push("replicas are attached to it".to_owned());
        }
        let others = number(
            self,
            "SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()",
        );
        let written = number(
            self,
            "SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
             AND TABLE_NAME NOT LIKE 'plimsoll%' AND UPDATE_TIME > UTC_TIMESTAMP() - INTERVAL 5 MINUTE",
        );
        if others.is_ok_and(|count| count > 0) && written.is_ok_and(|count| count > 0) {
            signs.push(
                "it was written to in the last 5 minutes, and other clients use it".to_owned(),
            );
        }
        Ok(signs)
    }

    /// When a table was last written to, to the second; InnoDB knows it since the server started.
    fn changes(&mut self) -> Result<Option<String>> {
        // MySQL 8 keeps figures of a day ago.
        let _ = self.execute("SET SESSION information_schema_stats_expiry = 0");
        let sql = "SELECT coalesce(max(UPDATE_TIME), '') FROM information_schema.TABLES \
                   WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE 'plimsoll%'";
        Ok(one(self, sql).unwrap_or(None))
    }

    fn analyze(&mut self, table: &Name) -> Result<bool> {
        let sql = format!("ANALYZE TABLE {}", table.sql(Dialect::Mysql));
        self.query(&sql, &mut |_| Ok(()))?;
        Ok(true)
    }

    fn forget_statistics(&mut self) -> Result<()> {
        Ok(())
    }
}

fn text_of(value: mysql::Value) -> Option<String> {
    match value {
        mysql::Value::NULL => None,
        mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        mysql::Value::Int(number) => Some(number.to_string()),
        mysql::Value::UInt(number) => Some(number.to_string()),
        mysql::Value::Float(number) => Some(number.to_string()),
        mysql::Value::Double(number) => Some(number.to_string()),
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_reported_without_the_names_of_types() {
        let broken = || io::Error::from_raw_os_error(32);
        let plain = "Broken pipe (os error 32)";
        let within = mysql::Error::from(io::Error::other(mysql::Error::from(broken())));
        let no_url = mysql::Error::UrlError(mysql::UrlError::BadUrl);
        for (error, wanted) in [
            (mysql::Error::from(broken()), plain),
            (within, plain),
            (no_url, "Invalid or incomplete connection URL"),
        ] {
            assert_eq!(wrong(&error).to_string(), wanted);
        }
        assert_eq!(bare("UrlError { URL ParseError { empty host } }"), "empty host");
        assert_eq!(bare("no { type }"), "no { type }");
    }
}
