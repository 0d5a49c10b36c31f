//! PostgreSQL: reading and writing by COPY, sequences, signs of use.

use std::error::Error as _;
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::sync_channel;
use std::thread;

use model::quote::grouped;
use postgres::Client;

use super::{
    Canceller, Database, Each, Make, Target, all, column_list, one, produce, read_postgres,
};
use crate::error::{Error, Result};
use crate::facts::Series;
use crate::schema::{Dialect, Name, Schema, Table};

/// Chunks of rows that wait to be sent.
const WAITING: usize = 4;

/// Sessions of others that have written: in a transaction that goes on, or as far as their last statement tells. One
/// that ends a transaction, or runs code, may have written before.
const WRITERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND application_name NOT LIKE 'plimsoll%' \
    AND (backend_xid IS NOT NULL OR (state_change > now() - interval '5 minutes' AND (\
    query ~* '^\\s*(insert|update|delete|merge|copy|truncate|commit|end|prepare|execute|call|do)\\M' \
    OR query ~* '^\\s*(with|explain)\\M.*\\m(insert|update|delete|merge)\\M')))";

/// Rows that were ever changed. The counters are open to everybody, and none of the catalogs, where the planner's
/// statistics are written, is among them.
const CHANGES: &str = "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables \
    WHERE relname NOT LIKE 'plimsoll_fill%'";

/// Beginnings of the codes with which rows are refused (its documentation, appendix A): by their values, by rules, by a
/// view's condition, by RAISE.
const RULES: [&str; 4] = ["22", "23", "44", "P0001"];

/// A connection to PostgreSQL.
pub struct Postgres {
    client: Client,
    login: login::Postgres,
}

impl Postgres {
    /// Connects; times are UTC.
    pub fn connect(login: &login::Postgres) -> Result<Self> {
        let mut client = login.connect().map_err(|error| database_error(&error))?;
        let settings = "SET TIME ZONE 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'postgres'; \
                        SET bytea_output = 'hex'; SET standard_conforming_strings = on; \
                        SET extra_float_digits = 1; SET client_min_messages = error; \
                        SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";
        client.batch_execute(settings).map_err(|error| database_error(&error))?;
        Ok(Self { client, login: login.clone() })
    }
}

/// The server's own words, with the rule and the column that it names.
fn database_error(error: &postgres::Error) -> Error {
    let Some(said) = error.as_db_error() else {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        return Error::Database(format!("{error}{cause}"));
    };
    let mut text = said.message().to_owned();
    let table = said.table().unwrap_or_default();
    match (said.constraint(), said.column()) {
        (Some(rule), _) => text += &format!(" (rule {rule} of {table})"),
        (None, Some(column)) => text += &format!(" (column {table}.{column})"),
        (None, None) => {}
    }
    for more in [said.detail(), said.hint(), said.where_()].into_iter().flatten() {
        text += &format!("; {more}");
    }
    let code = said.code().code();
    let text = format!("{text} [{code}]");
    match RULES.iter().any(|rule| code.starts_with(rule)) {
        true => Error::Rule(text),
        false => Error::Database(text),
    }
}

fn io_error(error: &std::io::Error) -> Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>());
    inner.map_or_else(|| Error::Database(error.to_string()), database_error)
}

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn canceller(&self) -> Canceller {
        let (login, token) = (self.login.clone(), self.client.cancel_token());
        Box::new(move || {
            let _ = login.cancel(&token);
        })
    }

    fn schema(&mut self) -> Result<Schema> {
        read_postgres::schema(self)
    }

    fn execute(&mut self, sql: &str) -> Result<u64> {
        self.client.execute(sql, &[]).map_err(|error| database_error(&error))
    }

    fn query(&mut self, sql: &str, each: &mut Each<'_>) -> Result<()> {
        let copy = format!("COPY ({sql}) TO STDOUT");
        let reader = self.client.copy_out(&copy).map_err(|error| database_error(&error))?;
        let mut reader = BufReader::with_capacity(1 << 16, reader);
        let (mut line, mut cells) = (Vec::new(), Vec::<Option<String>>::new());
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(|error| io_error(&error))? == 0 {
                return Ok(());
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            cells.clear();
            cells.extend(line.split(|byte| *byte == b'\t').map(unescaped));
            let row: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            each(&row)?;
        }
    }

    fn write(&mut self, target: &Target<'_>, rows: &[u64], make: &Make<'_>) -> Result<()> {
        let list = column_list(Dialect::Postgres, target.table, target.columns);
        let name = target.table.name.sql(Dialect::Postgres);
        if target.columns.is_empty() {
            // COPY knows no rows without columns.
            for _ in rows {
                self.execute(&format!("INSERT INTO {name} DEFAULT VALUES"))?;
            }
            return Ok(());
        }
        let copy = format!("COPY {name} ({list}) FROM STDIN");
        let mut writer = self.client.copy_in(&copy).map_err(|error| database_error(&error))?;
        thread::scope(|scope| -> Result<()> {
            let (send, receive) = sync_channel(WAITING);
            scope.spawn(move || produce(rows, make, "\\\\x", &send));
            for chunk in receive {
                writer.write_all(chunk?.as_bytes()).map_err(|error| io_error(&error))?;
            }
            Ok(())
        })?;
        let written = writer.finish().map_err(|error| database_error(&error))?;
        if written == rows.len() as u64 {
            return Ok(());
        }
        Err(Error::Rule(format!(
            "{}: {} of {} rows arrived; a trigger or rule may drop them",
            target.table.name,
            grouped(written),
            grouped(rows.len() as u64)
        )))
    }

    fn counter(&mut self, table: &Table, column: usize) -> Result<Option<(i64, bool)>> {
        let Some(sequence) = sequence(self, table, column)? else { return Ok(None) };
        let mut found = None;
        self.query(&format!("SELECT last_value, is_called FROM {sequence}"), &mut |row| {
            let value = row.first().copied().flatten().and_then(|text| text.parse().ok());
            found = value.map(|value| (value, row.get(1) == Some(&Some("t"))));
            Ok(())
        })?;
        Ok(found)
    }

    fn series(&mut self, table: &Table, column: usize) -> Result<Option<Series>> {
        let Some(sequence) = sequence(self, table, column)? else { return Ok(None) };
        let sequence = Dialect::Postgres.literal(&sequence);
        let sql = format!(
            "SELECT seqincrement, seqmax FROM pg_sequence WHERE seqrelid = {sequence}::regclass"
        );
        let mut found = None;
        self.query(&sql, &mut |row| {
            let cell = |at: usize| row.get(at).copied().flatten()?.parse::<i64>().ok();
            found = cell(0).zip(cell(1)).map(|(step, highest)| Series { step, highest });
            Ok(())
        })?;
        Ok(found)
    }

    fn partitions(&mut self, table: &Table) -> Result<Option<String>> {
        let name = Dialect::Postgres.literal(&table.name.sql(Dialect::Postgres));
        let sql = format!(
            "SELECT pg_get_partition_constraintdef(t.relid), t.isleaf FROM pg_class c, pg_partition_tree(c.oid) t \
             WHERE c.oid = {name}::regclass AND c.relkind = 'p' ORDER BY t.relid"
        );
        let rows = all(self, &sql)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let leaves = rows.into_iter().filter(|row| row[1].as_deref() == Some("t"));
        // A leaf without a condition takes all rows.
        let conditions: Option<Vec<String>> = leaves.map(|mut row| row.swap_remove(0)).collect();
        Ok(conditions.map(|conditions| match conditions.is_empty() {
            true => "false".to_owned(),
            false => conditions.join(" OR "),
        }))
    }

    fn set_counter(&mut self, table: &Table, column: usize, value: (i64, bool)) -> Result<()> {
        let Some(sequence) = sequence(self, table, column)? else { return Ok(()) };
        let sequence = Dialect::Postgres.literal(&sequence);
        let sql = format!("SELECT setval({sequence}::regclass, {}, {})", value.0, value.1);
        self.execute(&sql).map(|_| ())
    }

    /// Texts of `character(n)` are shown with blanks at the end, which make no difference there.
    fn compared_as(
        &mut self,
        table: &Table,
        column: usize,
        texts: &[String],
    ) -> Result<Vec<Option<String>>> {
        let of = &table.columns[column];
        if of.folds {
            return first_of_the_same(self, table, column, texts);
        }
        let compared = |text: &String| match of.is_padded() {
            true => text.trim_end_matches(' ').to_owned(),
            false => text.clone(),
        };
        Ok(texts.iter().map(|text| Some(compared(text))).collect())
    }

    fn has_table(&mut self, name: &str) -> Result<bool> {
        let name = Dialect::Postgres.literal(&Dialect::Postgres.quoted(name));
        Ok(one(self, &format!("SELECT to_regclass({name}) IS NOT NULL"))?.as_deref() == Some("t"))
    }

    fn signs_of_use(&mut self) -> Result<Vec<String>> {
        let mut signs = Vec::new();
        for (sql, sign) in [
            ("SELECT count(*) FROM pg_stat_replication", "replicas are attached to it"),
            (
                "SELECT count(*) FROM pg_replication_slots WHERE active",
                "replication slots of it are in use",
            ),
            (WRITERS, "another client wrote to it, or committed, in the last 5 minutes"),
        ] {
            // Not everybody may look.
            if super::number(self, sql).is_ok_and(|count| count > 0) {
                signs.push(sign.to_owned());
            }
        }
        if one(self, "SELECT pg_is_in_recovery()")?.as_deref() == Some("t") {
            signs.push("it is a replica itself, and cannot be written to".to_owned());
        }
        Ok(signs)
    }

    fn changes(&mut self) -> Result<Option<String>> {
        one(self, CHANGES)
    }

    fn analyze(&mut self, table: &Name) -> Result<bool> {
        self.execute(&format!("ANALYZE {}", table.sql(Dialect::Postgres)))?;
        Ok(true)
    }

    fn forget_statistics(&mut self) -> Result<()> {
        Ok(())
    }
}

/// For each text the first of those that are the same to a column, by `citext` or a collation that is not deterministic:
/// which those are, only the server knows.
fn first_of_the_same(
    database: &mut Postgres,
    table: &Table,
    column: usize,
    texts: &[String],
) -> Result<Vec<Option<String>>> {
    let of = &table.columns[column];
    let quoted = |text: &str| Dialect::Postgres.literal(text);
    let sql = format!(
        "SELECT quote_ident(n.nspname) || '.' || quote_ident(l.collname) FROM pg_attribute a \
         JOIN pg_collation l ON l.oid = a.attcollation JOIN pg_namespace n ON n.oid = l.collnamespace \
         WHERE a.attrelid = {}::regclass AND a.attname = {}",
        quoted(&table.name.sql(Dialect::Postgres)),
        quoted(&of.name)
    );
    let collation = one(database, &sql)?.unwrap_or_else(|| "\"default\"".to_owned());
    // Without the length of `character varying(n)`, to which a cast would cut.
    let kind = match of.type_name.as_str() {
        "citext" => "citext",
        _ if of.is_padded() => "bpchar",
        _ => "text",
    };
    let element =
        |text: &String| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let list: Vec<String> = texts.iter().map(element).collect();
    let sql = format!(
        "SELECT first_value(v) OVER (PARTITION BY v::{kind} COLLATE {collation} ORDER BY n) \
         FROM unnest({}::text[]) WITH ORDINALITY AS texts(v, n) ORDER BY n",
        quoted(&format!("{{{}}}", list.join(",")))
    );
    Ok(all(database, &sql)?.into_iter().map(|mut row| row.swap_remove(0)).collect())
}

/// The sequence of a column, as SQL: its own one, or the one that its default names.
fn sequence(database: &mut Postgres, table: &Table, column: usize) -> Result<Option<String>> {
    let of = &table.columns[column];
    let name = Dialect::Postgres.literal(&table.name.sql(Dialect::Postgres));
    let column = Dialect::Postgres.literal(&of.name);
    let own = one(database, &format!("SELECT pg_get_serial_sequence({name}, {column})"))?;
    if own.is_some() {
        return Ok(own);
    }
    let named = of.default.as_deref().and_then(|default| default.split_once("nextval('"));
    let named = named.and_then(|(_, rest)| rest.split_once("'::regclass"));
    Ok(named.map(|(name, _)| name.replace("''", "'")))
}

/// A field of COPY's text form.
fn unescaped(field: &[u8]) -> Option<String> {
    if field == b"\\N" {
        return None;
    }
    if !field.contains(&b'\\') {
        return Some(String::from_utf8_lossy(field).into_owned());
    }
    let mut plain = Vec::with_capacity(field.len());
    let mut bytes = field.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        plain.push(match bytes.next() {
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(&other) => other,
            None => b'\\',
        });
    }
    Some(String::from_utf8_lossy(&plain).into_owned())
}
