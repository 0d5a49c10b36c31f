//! Logs that name their columns in a line `#Fields:`: W3C's extended format, as IIS and CloudFront write it.

use crate::address::forwarded;
use crate::hit::{Bad, Hit, Slots, duration, number, status};
use crate::time::Stamp;

/// The columns that a log named so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    columns: Vec<Column>,
    /// The column that tells users apart, if it is another than `cs-username`.
    user: Option<String>,
}

impl Columns {
    /// With another column that tells users apart.
    pub(super) fn with_user(user: Option<&str>) -> Self {
        Self { columns: Vec::new(), user: user.map(str::to_owned) }
    }

    /// That column.
    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    fn named(&self, name: &[u8]) -> Column {
        match (&self.user, Column::of(name)) {
            (Some(user), _) if name.eq_ignore_ascii_case(user.as_bytes()) => Column::User,
            (Some(_), Column::User) => Column::Other,
            (_, column) => column,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Date,
    Time,
    Client,
    Forwarded,
    User,
    Method,
    Path,
    Query,
    Status,
    Bytes,
    Agent,
    Host,
    Taken,
    Other,
}

impl Column {
    fn of(name: &[u8]) -> Self {
        match name.to_ascii_lowercase().as_slice() {
            b"date" => Self::Date,
            b"time" => Self::Time,
            b"c-ip" => Self::Client,
            b"x-forwarded-for" | b"cs(x-forwarded-for)" => Self::Forwarded,
            b"cs-username" => Self::User,
            b"cs-method" => Self::Method,
            b"cs-uri-stem" | b"cs-uri" => Self::Path,
            b"cs-uri-query" => Self::Query,
            b"sc-status" => Self::Status,
            b"sc-bytes" => Self::Bytes,
            b"cs(user-agent)" => Self::Agent,
            b"cs(host)" | b"cs-host" | b"x-host-header" => Self::Host,
            b"time-taken" => Self::Taken,
            _ => Self::Other,
        }
    }
}

/// Reads lines whose columns were named before.
#[derive(Debug)]
pub(super) struct Reader {
    columns: Columns,
}

impl Reader {
    pub(super) fn new(columns: Columns) -> Self {
        Self { columns }
    }

    pub(super) fn read<'a>(&mut self, line: &'a [u8]) -> Result<Option<Hit<'a>>, Bad> {
        if let Some(comment) = line.strip_prefix(b"#") {
            if let Some(names) = comment.strip_prefix(b"Fields:") {
                let names = names.split(|byte| matches!(byte, b' ' | b'\t'));
                let names = names.filter(|name| !name.is_empty()).take(200);
                self.columns.columns = names.map(|name| self.columns.named(name)).collect();
            }
            return Ok(None);
        }
        self.row(line).map(Some)
    }

    fn row<'a>(&self, line: &'a [u8]) -> Result<Hit<'a>, Bad> {
        let tabs = memchr::memchr(b'\t', line).is_some();
        let separator = if tabs { b'\t' } else { b' ' };
        let mut values = line.split(|byte| *byte == separator);
        let (mut date, mut time) = (None, None);
        let mut slots = Slots::default();
        for column in &self.columns.columns {
            let value = values.next().ok_or(Bad::Form)?;
            match column {
                Column::Date => date = Some(value),
                Column::Time => time = Some(value),
                Column::Client if slots.client.is_empty() => slots.client = value,
                Column::Forwarded => slots.forwarded = forwarded(value),
                Column::User => slots.user = value,
                Column::Method => slots.method = value,
                Column::Path => slots.uri = value,
                Column::Query => slots.query = value,
                Column::Status => slots.status = status(value),
                Column::Bytes => slots.bytes = number(value).unwrap_or(0),
                Column::Agent => slots.agent = value,
                Column::Host => slots.host = value,
                // CloudFront counts seconds, IIS milliseconds.
                Column::Taken if tabs || value.contains(&b'.') => {
                    slots.took = duration(value, 1e9);
                }
                Column::Taken => slots.took = duration(value, 1e6),
                Column::Client | Column::Other => {}
            }
        }
        let (Some(date), Some(time)) = (date, time) else { return Err(Bad::Form) };
        slots.at = Stamp::date_and_time(date, time);
        if slots.query == b"-" {
            slots.query = b"";
        }
        slots.hit()
    }
}
