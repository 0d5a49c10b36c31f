//! MongoDB, by its wire protocol: `serverStatus` over OP_MSG, and a login by SCRAM-SHA-256 before it.
//!
//! [`bson`] reads and writes the documents, [`scram`] answers the login. Neither trusts what the server sends.

mod bson;
mod scram;

use std::net::TcpStream;

use model::Sample;
use url::Url;

use super::cache::{ask, connect};
use super::others::OfOthers;
use super::patient::Service;

use bson::{Document, Value};
use scram::Login;

/// The operation code of OP_MSG, the only one that servers since 5.1 take.
const OP_MSG: i32 = 2013;
/// Bytes of an answer at most.
const MOST_BYTES: usize = 1 << 20;
/// The error code of a command that the user may not give.
const UNAUTHORIZED: i64 = 13;
/// Sections of `serverStatus` that are large and that nothing here reads.
const LEFT_OUT: [&str; 6] = ["metrics", "repl", "tcmalloc", "transactions", "locks", "sharding"];

/// Reads a MongoDB.
pub struct Mongo {
    url: String,
    commands: OfOthers,
}

impl Mongo {
    /// The one of a URL: `mongodb://[USER:PASSWORD@]HOST[:PORT][/][?authSource=DATABASE]`.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), commands: OfOthers::default() }
    }
}

impl Service for Mongo {
    type Connection = TcpStream;

    fn connect(&mut self) -> Result<TcpStream, String> {
        let url = Url::parse(&self.url).map_err(|_| "not a URL".to_owned())?;
        let mut stream = connect(&url, 27_017)?;
        if !url.username().is_empty() {
            log_in(&mut stream, &url)?;
        }
        Ok(stream)
    }

    fn read(&mut self, stream: &mut TcpStream, sample: &mut Sample) -> Result<(), String> {
        let mut command = Document::default().int("serverStatus", 1);
        for section in LEFT_OUT {
            command = command.int(section, 0);
        }
        // A command is counted before it is carried out.
        self.commands.spend(1);
        status(&run_command(stream, command.text("$db", "admin"))?, sample)?;
        if let Some(statements) = sample.counters.get_mut("db.statements") {
            *statements = self.commands.of(*statements);
        }
        Ok(())
    }
}

fn log_in(stream: &mut TcpStream, url: &Url) -> Result<(), String> {
    let decoded = |text: &str| {
        let pair = format!("p={}", text.replace('+', "%2B"));
        let value = url::form_urlencoded::parse(pair.as_bytes()).next();
        value.map_or_else(String::new, |(_, value)| value.into_owned())
    };
    let asked = url.query_pairs().find(|(name, _)| name == "authSource");
    let named = url.path().trim_matches('/').to_owned();
    let database = asked.map_or(named, |(_, database)| database.into_owned());
    let database = if database.is_empty() { "admin".to_owned() } else { database };
    let password = decoded(url.password().unwrap_or_default());
    let login = Login::new(&decoded(url.username()), &password, &scram::nonce()?);
    let start = Document::default()
        .int("saslStart", 1)
        .text("mechanism", "SCRAM-SHA-256")
        .binary("payload", login.first().as_bytes())
        .text("$db", &database);
    let said = run_command(stream, start)?;
    let (proof, signature) = login.proof(&payload(&said)?)?;
    let go_on = |payload: &[u8]| {
        Document::default()
            .int("saslContinue", 1)
            .value("conversationId", said.get("conversationId").cloned().unwrap_or(Value::Int(1)))
            .binary("payload", payload)
            .text("$db", &database)
    };
    let ended = run_command(stream, go_on(proof.as_bytes()))?;
    if payload(&ended)? != format!("v={signature}") {
        return Err("MongoDB: the server does not know the password either".to_owned());
    }
    match ended.get("done") {
        Some(Value::Bool(false)) => run_command(stream, go_on(b"")).map(drop),
        _ => Ok(()),
    }
}

fn payload(said: &Document) -> Result<String, String> {
    match said.get("payload") {
        Some(Value::Binary(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Err("MongoDB: the login is answered otherwise".to_owned()),
    }
}

/// What the server answers to a command.
///
/// # Errors
/// Where it refuses the command, in its words; where it answers in another protocol.
fn run_command(stream: &mut TcpStream, command: Document) -> Result<Document, String> {
    let said = ask(stream, &message(&command), is_whole)?;
    let document = document(&said)?;
    if document.number("ok") == Some(1.0) {
        return Ok(document);
    }
    let words = match document.get("errmsg") {
        Some(Value::Text(words)) => words.chars().take(200).collect(),
        _ => "it refused the command".to_owned(),
    };
    let hint = match document.number("code") {
        Some(code) if code as i64 == UNAUTHORIZED => {
            "; the user needs clusterMonitor: db.grantRolesToUser(USER, [{role: 'clusterMonitor', db: 'admin'}])"
        }
        _ => "",
    };
    Err(format!("MongoDB: {words}{hint}"))
}

/// A command as a message: its length, two numbers of its own, the code, flags, and one document.
fn message(command: &Document) -> Vec<u8> {
    let body = command.bytes();
    let length = i32::try_from(body.len() + 21).unwrap_or(i32::MAX);
    let mut bytes = Vec::with_capacity(body.len() + 21);
    for number in [length, 1, 0, OP_MSG, 0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.push(0);
    bytes.extend_from_slice(&body);
    bytes
}

/// Whether a message has all come; one that claims a length that none has is as whole as it will be.
fn is_whole(bytes: &[u8]) -> bool {
    let length = bytes.first_chunk().map(|four| i32::from_le_bytes(*four));
    length.is_some_and(|length| match usize::try_from(length) {
        Ok(length) if (21..=MOST_BYTES).contains(&length) => bytes.len() >= length,
        _ => true,
    })
}

/// The document of a message.
fn document(message: &[u8]) -> Result<Document, String> {
    let other = || "what answers does not speak MongoDB's protocol".to_owned();
    let code = message.get(12..16).and_then(|bytes| bytes.first_chunk());
    if code.map(|bytes| i32::from_le_bytes(*bytes)) != Some(OP_MSG) || message.get(20) != Some(&0) {
        return Err(other());
    }
    Document::read(&message[21..]).ok_or_else(other)
}

/// Counters by their place in `serverStatus`, and what they are here.
const COUNTERS: &[(&[&str], &str)] = &[
    (&["network", "numRequests"], "db.requests"),
    (&["network", "bytesIn"], "db.received_bytes"),
    (&["network", "bytesOut"], "db.sent_bytes"),
    (&["connections", "totalCreated"], "db.connections_opened"),
    (&["wiredTiger", "cache", "pages read into cache"], "db.blocks_read"),
    (&["asserts", "user"], "db.failed_commands"),
];
/// Operations, by kind.
const OPERATIONS: [&str; 6] = ["insert", "query", "update", "delete", "getmore", "command"];

/// Puts the figures of `serverStatus` into `sample`.
fn status(reply: &Document, sample: &mut Sample) -> Result<(), String> {
    let number = |path: &[&str]| reply.at(path).filter(|value| *value >= 0.0);
    let mut all = 0;
    for kind in OPERATIONS {
        let Some(count) = number(&["opcounters", kind]) else { continue };
        sample.count(format!("db.commands{{{kind}}}"), count as u64);
        all += count as u64;
    }
    if all == 0 && number(&["opcounters", "command"]).is_none() {
        return Err("MongoDB: serverStatus tells of no operations".to_owned());
    }
    sample.count("db.statements", all);
    for (path, name) in COUNTERS {
        if let Some(count) = number(path) {
            sample.count(*name, count as u64);
        }
    }
    let cache = |what: &str| number(&["wiredTiger", "cache", what]);
    // Those that had to be read were requested too.
    if let Some((requested, read)) =
        cache("pages requested from the cache").zip(cache("pages read into cache"))
    {
        sample.count("db.blocks_hit", (requested - read).max(0.0) as u64);
    }
    if let Some((open, free)) =
        number(&["connections", "current"]).zip(number(&["connections", "available"]))
    {
        // One of them is ours.
        sample.gauge("db.connections", (open - 1.0).max(0.0));
        sample.gauge("db.connections_max", open + free);
    }
    let clients = |kind: &str| number(&["globalLock", "activeClients", kind]);
    if let Some((readers, writers)) = clients("readers").zip(clients("writers")) {
        sample.gauge("db.active", readers + writers);
    }
    if let Some(queued) = number(&["globalLock", "currentQueue", "total"]) {
        sample.gauge("db.queued", queued);
    }
    if let Some(mib) = number(&["mem", "resident"]) {
        sample.gauge("db.resident_bytes", mib * f64::from(1 << 20));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
