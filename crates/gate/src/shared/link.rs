//! The thread that talks to the server.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::command::{complaint, read_response, write_reports};
use super::resp::{Reply, read_reply, write_command};
use super::sync::{NEAR_NS, Report, Response, Syncer};
use crate::connect::connect;
use crate::escapes;
use crate::policy::{Current, State};

/// Time-out of an exchange. A server that answers within it never counts as silent (`Meter::is_fresh`).
pub(super) const PATIENCE: Duration = Duration::from_millis(750);
/// Time between two attempts to connect, and between two heartbeats while there is nothing to report.
pub(super) const AGAIN_NS: u64 = 250_000_000;

/// Where the server is.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// Host and port.
    address: String,
    user: String,
    password: String,
    database: u32,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "redis://{}/{}", self.address, self.database)
    }
}

impl Place {
    /// Reads `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`. User and password may have escapes, as in any URL.
    ///
    /// # Errors
    /// What is wrong, in words that do not contain the password.
    pub fn parse(url: &str) -> Result<Self, String> {
        let wrong = || "write the server as redis://HOST:6379/0, with :PASSWORD@ before the host if it asks for one";
        let rest = url.strip_prefix("redis://").ok_or_else(wrong)?;
        let (login, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = if database.is_empty() { Ok(0) } else { database.parse() };
        if host.is_empty() || host.contains(['?', '#', ' ']) {
            return Err(wrong().into());
        }
        let with_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(Self {
            address: if with_port { host.to_owned() } else { format!("{host}:6379") },
            user: decoded(user),
            password: decoded(password),
            database: database.map_err(|_| wrong().to_owned())?,
        })
    }
}

/// A part of a URL with its escapes decoded.
fn decoded(part: &str) -> String {
    let bytes: Vec<u8> = escapes::lenient(part.as_bytes()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The state of the link, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkView {
    /// Where the server is, without its password.
    pub server: String,
    /// Exchanges that succeeded.
    pub answered: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// Why the latest exchange failed; none if it succeeded.
    pub error: Option<String>,
}

/// A gateway's link to the server of shared limits.
#[derive(Debug)]
pub struct Link {
    place: Place,
    answered: AtomicU64,
    failed: AtomicU64,
    error: Mutex<Option<String>>,
}

impl Link {
    /// A link that is not connected yet.
    pub fn new(place: Place) -> Self {
        let (answered, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { place, answered, failed, error: Mutex::default() }
    }

    /// Its state.
    pub fn view(&self) -> LinkView {
        LinkView {
            server: format!("{:?}", self.place),
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            error: self.error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Exchanges reports and answers with the server until `stop` is set.
    pub fn run(&self, current: &Current, state: &Arc<State>, stop: &AtomicBool) {
        let Some(queue) = state.shared.switch_on() else { return };
        let mut syncer = Syncer::default();
        let mut connection = Connection::default();
        let mut next_ns = 0;
        let mut noted_ns = net::clock::now();
        while !stop.load(Ordering::SeqCst) {
            let first = match queue.recv_timeout(Duration::from_nanos(NEAR_NS / 5)) {
                Ok(slot) => Some(slot),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let now_ns = net::clock::now();
            // Requests behind these places came after the previous look, which may have been before an exchange.
            first.into_iter().chain(queue.try_iter()).for_each(|slot| syncer.note(slot, noted_ns));
            noted_ns = now_ns;
            if state.shared.missed.swap(false, Ordering::Relaxed) {
                syncer.look_again();
            }
            // After a failure, wait before the next attempt.
            if connection.stream.is_none() && now_ns < next_ns {
                continue;
            }
            let (policy, _) = current.get();
            let reports = syncer.due(&policy, now_ns);
            if reports.is_empty() && now_ns < next_ns {
                continue;
            }
            next_ns = now_ns.saturating_add(AGAIN_NS);
            let answer = self.exchange(&mut connection, &reports, &state.via);
            let trusted = connection.trusts(answer.is_ok());
            match &answer {
                Ok((response, sent_ns)) => {
                    let now_ns = net::clock::now();
                    syncer.answered(&policy, response, *sent_ns, now_ns);
                    if trusted {
                        state.shared.answered(response.gateways, now_ns);
                    }
                }
                Err(_) => syncer.unanswered(),
            }
            self.note(answer.err(), trusted);
        }
    }

    /// Reports, over the connection there is or a new one; the answer, and when it was asked for.
    fn exchange(
        &self,
        connection: &mut Connection,
        reports: &[Report],
        name: &str,
    ) -> Result<(Response, u64), String> {
        let stream = match &mut connection.stream {
            Some(stream) => stream,
            place => {
                connection.number += 1;
                place.insert(self.connect()?)
            }
        };
        let mut command = Vec::new();
        write_reports(&mut command, reports, name, connection.number);
        let sent_ns = net::clock::now();
        let response = read_response(&call(stream, &command)?, reports)?;
        Ok((response, sent_ns))
    }

    fn connect(&self) -> Result<TcpStream, String> {
        let Place { address, user, password, database } = &self.place;
        let mut stream = connect(address.as_str(), PATIENCE).map_err(words)?;
        stream.set_nodelay(true).map_err(words)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(words)?;
        let database = database.to_string();
        let mut first: Vec<Vec<&[u8]>> = Vec::new();
        match (user.as_str(), password.as_str()) {
            (_, "") => {}
            ("", password) => first.push(vec![b"AUTH", password.as_bytes()]),
            (user, password) => first.push(vec![b"AUTH", user.as_bytes(), password.as_bytes()]),
        }
        if database != "0" {
            first.push(vec![b"SELECT", database.as_bytes()]);
        }
        for line in first {
            let mut command = Vec::new();
            write_command(&mut command, &line);
            if let Reply::Error(why) = call(&mut stream, &command)? {
                return Err(complaint(&why));
            }
        }
        Ok(stream)
    }

    /// Counts an exchange, and keeps the reason of a failure until `well`.
    fn note(&self, why: Option<String>, well: bool) {
        let counter = if why.is_none() { &self.answered } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        if why.is_some() || well {
            let why = why.map(|why| format!("{:?}: {why}", self.place));
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = why;
        }
    }
}

/// A connection to the server, with a number that is higher than those of earlier connections.
#[derive(Debug, Default)]
struct Connection {
    stream: Option<TcpStream>,
    number: u64,
    /// Exchanges over it that succeeded.
    exchanges: u64,
    /// Whether the latest failure was of a later exchange than a connection's first: a server may accept heartbeats but refuse
    /// reports.
    refused: bool,
}

impl Connection {
    /// Notes whether an exchange succeeded. Returns whether the server can be relied on.
    fn trusts(&mut self, succeeded: bool) -> bool {
        let first = self.exchanges == 0;
        if !succeeded {
            self.refused |= !first;
            *self = Self { number: self.number, refused: self.refused, ..Self::default() };
            return false;
        }
        self.exchanges += 1;
        self.refused &= first;
        !self.refused
    }
}

/// Sends a command and reads its reply.
fn call(stream: &mut TcpStream, command: &[u8]) -> Result<Reply, String> {
    let until = Instant::now() + PATIENCE;
    stream.write_all(command).map_err(words)?;
    let (mut came, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        // The time-out is for the whole reply, however steadily the bytes arrive.
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(words(ErrorKind::TimedOut.into()));
        }
        stream.set_read_timeout(Some(left)).map_err(words)?;
        let count = stream.read(&mut buffer).map_err(words)?;
        if count == 0 {
            return Err("it closed the connection".into());
        }
        came.extend_from_slice(&buffer[..count]);
        if let Some(reply) = read_reply(&mut came.as_slice()).map_err(|error| error.to_string())? {
            return Ok(reply);
        }
    }
}

/// What went wrong on the way.
fn words(error: std::io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("no answer within {} ms", PATIENCE.as_millis())
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers one command with these bytes, or not at all.
    fn scripted(reply: &'static [u8]) -> (Place, std::thread::JoinHandle<()>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::parse(&format!("redis://{}", listener.local_addr().unwrap())).unwrap();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 1 << 16];
            assert!(stream.read(&mut asked).unwrap() > 0);
            stream.write_all(reply).unwrap();
            // Until the other side has had enough.
            while stream.read(&mut asked).is_ok_and(|count| count > 0) {}
        });
        (place, serving)
    }

    #[test]
    fn why_there_is_no_answer_is_said() {
        const LATE: &str = "no answer within 750 ms";
        let exchange = |reply: &'static [u8]| {
            let (place, serving) = scripted(reply);
            let mut connection = Connection::default();
            let response = Link::new(place).exchange(&mut connection, &[], "x");
            connection.trusts(false);
            serving.join().unwrap();
            response
        };
        for reply in [&b""[..], b"*3\r\n:1\r\n"] {
            let why = exchange(reply).unwrap_err();
            assert!(why.contains(LATE), "{why}");
        }
        // On a busy machine an answer may come too late.
        let in_time = |reply: &'static [u8]| {
            let mut tries = (0..20).map(|_| exchange(reply));
            let is_late = |why: &String| why.contains(LATE);
            tries.find(|response| !response.as_ref().is_err_and(is_late)).expect("one in time")
        };
        for (reply, said) in [
            (
                &b"-NOAUTH Authentication required.\r\n"[..],
                "asks for a password: write redis://:PASSWORD",
            ),
            (b"-ERR Protocol error: unauthenticated multibulk length\r\n", "asks for a password"),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak Redis's protocol"),
        ] {
            let why = in_time(reply).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
        let (response, _) = in_time(b"*3\r\n:5000\r\n:1\r\n:2\r\n").unwrap();
        assert_eq!((response.server_us, response.unknown, response.gateways), (5_000, true, 2));
    }

    #[test]
    fn a_reply_that_never_ends_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        let sending = std::thread::spawn(move || {
            // A text of a megabyte, two bytes at a time.
            let mut sent = other.write_all(b"$1000000\r\n");
            while sent.is_ok() {
                sent = other.write_all(b"xx");
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        assert_eq!(call(&mut stream, b"PING").unwrap_err(), "no answer within 750 ms");
        drop(stream);
        sending.join().unwrap();
    }

    #[test]
    fn a_server_that_takes_signs_of_life_alone_is_not_relied_on() {
        let mut connection = Connection::default();
        let steps = [true, true, false, true, false, true, true, false, false, true, true];
        let trusted = steps.map(|succeeded| connection.trusts(succeeded));
        let expected = [true, true, false, false, false, false, true, false, false, false, true];
        assert_eq!(trusted, expected);
        let mut begun = Connection::default();
        assert_eq!([false, false, true].map(|ok| begun.trusts(ok)), [false, false, true]);
    }

    #[test]
    fn places_are_read_and_passwords_are_not_shown() {
        let cases = [
            ("redis://h", "redis://h:6379/0"),
            ("redis://h:1/2", "redis://h:1/2"),
            ("redis://:pass@h/", "redis://h:6379/0"),
            ("redis://me:p@ss@h:7", "redis://h:7/0"),
        ];
        for (url, shown) in cases {
            assert_eq!(format!("{:?}", Place::parse(url).unwrap()), shown);
        }
        let place = Place::parse("redis://m%65:p%40%2f%zé@h").unwrap();
        assert_eq!((place.user.as_str(), place.password.as_str()), ("me", "p@/%zé"));
        for wrong in ["h", "rediss://h", "redis://", "redis://:secret@h/x"] {
            assert!(!Place::parse(wrong).unwrap_err().contains("secret"), "{wrong}");
        }
    }
}
