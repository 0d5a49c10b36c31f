//! The thread that talks to the server.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::resp::{Reply, read_reply, write_command};
use super::sync::{Answer, NEAR_NS, Syncer, Tell};
use crate::policy::{Current, State};

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_millis(250);
/// Between two attempts to reach it, and between two signs of life where there is nothing to tell.
pub(super) const AGAIN_NS: u64 = 250_000_000;
/// A gateway counts for so long after its last sign of life.
pub(super) const COUNTS_US: u64 = 1_500_000;
/// What is under this name on the server belongs to gateways.
const PREFIX: &str = "plimsoll:gate:";

/// Adds to rates (`r`, microseconds) and quotas (`q`, requests), by the server's own clock. What it returns of a rate
/// is how far ahead it is; of a quota its count. A rate is forgotten once it is no longer ahead, a quota after 40 days.
/// The last key holds the gateways with their last signs of life; how many there are comes last.
const SCRIPT: &[u8] = b"
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local out = {}
local last = #KEYS
for i = 1, last - 1 do
  local add = tonumber(ARGV[2 * i])
  if ARGV[2 * i - 1] == 'r' then
    local due = tonumber(redis.call('GET', KEYS[i]) or '0')
    if due < now then due = now end
    due = due + add
    if add > 0 then
      redis.call('SET', KEYS[i], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1000)
    end
    out[i] = due - now
  else
    out[i] = redis.call('INCRBY', KEYS[i], add)
    redis.call('EXPIRE', KEYS[i], 3456000)
  end
end
redis.call('ZADD', KEYS[last], string.format('%.0f', now), ARGV[2 * last - 1])
redis.call('ZREMRANGEBYSCORE', KEYS[last], '-inf', string.format('(%.0f', now - tonumber(ARGV[2 * last])))
redis.call('PEXPIRE', KEYS[last], 60000)
out[last] = redis.call('ZCARD', KEYS[last])
return out
";

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
    /// Reads `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.
    ///
    /// # Errors
    /// In words, which do not repeat the password.
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
            user: user.to_owned(),
            password: password.to_owned(),
            database: database.map_err(|_| wrong().to_owned())?,
        })
    }
}

/// How the link stands, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkView {
    /// Where the server is, without its password.
    pub server: String,
    /// Exchanges that were answered.
    pub answered: u64,
    /// Those that were not.
    pub failed: u64,
    /// Why not, where the last was one of them.
    pub error: Option<String>,
}

/// The link of a gateway.
#[derive(Debug)]
pub struct Link {
    place: Place,
    answered: AtomicU64,
    failed: AtomicU64,
    error: Mutex<Option<String>>,
}

impl Link {
    /// To a server that is not looked for yet.
    pub fn new(place: Place) -> Self {
        let (answered, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { place, answered, failed, error: Mutex::default() }
    }

    /// How it stands.
    pub fn view(&self) -> LinkView {
        LinkView {
            server: format!("{:?}", self.place),
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            error: self.error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Tells and hears until it is told to stop.
    pub fn run(&self, current: &Current, state: &Arc<State>, stop: &AtomicBool) {
        let Some(heard) = state.shared.switch_on() else { return };
        let mut syncer = Syncer::default();
        let mut stream: Option<TcpStream> = None;
        let mut next_ns = 0;
        while !stop.load(Ordering::SeqCst) {
            match heard.recv_timeout(Duration::from_nanos(NEAR_NS / 5)) {
                Ok(slot) => syncer.note(slot, net::clock::now()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now_ns = net::clock::now();
            heard.try_iter().for_each(|slot| syncer.note(slot, now_ns));
            // After a failure nothing is told for a while.
            if stream.is_none() && now_ns < next_ns {
                continue;
            }
            let (policy, _) = current.get();
            let tells = syncer.due(&policy, now_ns);
            if tells.is_empty() && now_ns < next_ns {
                continue;
            }
            next_ns = now_ns.saturating_add(AGAIN_NS);
            let answers = self.exchange(&mut stream, &tells, &state.via);
            let now_ns = net::clock::now();
            match self.noted(answers) {
                Some((answers, gateways)) => {
                    syncer.answered(&policy, &answers, now_ns);
                    state.shared.answered(gateways, now_ns);
                }
                None => {
                    stream = None;
                    syncer.unanswered(now_ns);
                }
            }
        }
    }

    /// Tells, over the connection there is or a new one; the answers, and how many gateways there are.
    fn exchange(
        &self,
        stream: &mut Option<TcpStream>,
        tells: &[Tell],
        name: &str,
    ) -> Result<(Vec<Answer>, u32), String> {
        let stream = match stream {
            Some(stream) => stream,
            None => stream.insert(self.connect()?),
        };
        let mut command = Vec::new();
        write_tells(&mut command, tells, name);
        match call(stream, &command)? {
            Reply::List(list) if list.len() == tells.len() + 1 => {
                let answers = list.iter().zip(tells).map(answer_of).collect::<Result<_, _>>()?;
                let Some(Reply::Number(count)) = list.last() else { return Err(OTHERWISE.into()) };
                Ok((answers, u32::try_from(*count).unwrap_or(u32::MAX).max(1)))
            }
            Reply::Error(why) => Err(why),
            _ => Err(OTHERWISE.into()),
        }
    }

    fn connect(&self) -> Result<TcpStream, String> {
        let words = |error: std::io::Error| error.to_string();
        let Place { address, user, password, database } = &self.place;
        let mut found = address.to_socket_addrs().map_err(words)?;
        let to = found.next().ok_or("the name has no address")?;
        let mut stream = TcpStream::connect_timeout(&to, PATIENCE).map_err(words)?;
        stream.set_nodelay(true).map_err(words)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(words)?;
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
        for words in first {
            let mut command = Vec::new();
            write_command(&mut command, &words);
            if let Reply::Error(why) = call(&mut stream, &command)? {
                return Err(why);
            }
        }
        Ok(stream)
    }

    fn noted<T>(&self, result: Result<T, String>) -> Option<T> {
        let counter = if result.is_ok() { &self.answered } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        let why = result.as_ref().err().map(|why| format!("{:?}: {why}", self.place));
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = why;
        result.ok()
    }
}

/// What is wrong with a server that is none.
const OTHERWISE: &str = "it answers in another way than asked";

/// The command that tells, as the gateway of this name; a sign of life where there is nothing to tell.
fn write_tells(out: &mut Vec<u8>, tells: &[Tell], gateway: &str) {
    let mut words: Vec<Vec<u8>> = vec![b"EVAL".to_vec(), SCRIPT.to_vec()];
    words.push((tells.len() + 1).to_string().into_bytes());
    for tell in tells {
        let (Tell::Rate { name, .. } | Tell::Quota { name, .. }) = tell;
        words.push(format!("{PREFIX}{name}").into_bytes());
    }
    words.push(format!("{PREFIX}gateways").into_bytes());
    for tell in tells {
        let (kind, number) = match tell {
            Tell::Rate { micros, .. } => (b"r", micros),
            Tell::Quota { requests, .. } => (b"q", requests),
        };
        words.push(kind.to_vec());
        words.push(number.to_string().into_bytes());
    }
    words.push(gateway.as_bytes().to_vec());
    words.push(COUNTS_US.to_string().into_bytes());
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    write_command(out, &words);
}

fn answer_of((reply, tell): (&Reply, &Tell)) -> Result<Answer, String> {
    match (reply, tell) {
        (Reply::Number(n), Tell::Rate { .. }) => Ok(Answer::Ahead((*n).max(0) as u64)),
        (Reply::Number(n), Tell::Quota { .. }) => Ok(Answer::Used((*n).max(0) as u64)),
        (Reply::Error(why), _) => Err(why.clone()),
        _ => Err(OTHERWISE.into()),
    }
}

/// Sends a command and reads its reply.
fn call(stream: &mut TcpStream, command: &[u8]) -> Result<Reply, String> {
    let words = |error: std::io::Error| error.to_string();
    stream.write_all(command).map_err(words)?;
    let (mut came, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        for wrong in ["h", "rediss://h", "redis://", "redis://:secret@h/x"] {
            assert!(!Place::parse(wrong).unwrap_err().contains("secret"), "{wrong}");
        }
    }
}
