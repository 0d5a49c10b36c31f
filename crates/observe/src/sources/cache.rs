//! Redis and memcached, by their own text protocols: one small question a sample, within bounds of time and size.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use model::Sample;
use url::Url;

use super::patient::Service;
use crate::dial;

/// Bytes of an answer at most.
const MOST_BYTES: usize = 1 << 20;
/// How long a server may take for an answer.
const WAIT: Duration = Duration::from_secs(5);
/// Commands of Redis that are reported at most, those that took the most time.
const MOST_COMMANDS: usize = 20;

/// Reads a Redis.
pub struct Redis {
    url: String,
}

/// Reads a memcached.
pub struct Memcached {
    url: String,
}

impl Redis {
    /// The one of a URL: `redis://[USER][:PASSWORD@]HOST[:PORT]`.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }
}

impl Memcached {
    /// The one of a URL: `memcached://HOST[:PORT]`.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }
}

impl Service for Redis {
    type Connection = TcpStream;

    fn connect(&mut self) -> Result<TcpStream, String> {
        let url = Url::parse(&self.url).map_err(|_| "not a URL".to_owned())?;
        let mut stream = connect(&url, 6379)?;
        let decoded = |text: &str| {
            let pair = format!("p={}", text.replace('+', "%2B"));
            url::form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
        };
        let in_url = url.password().and_then(decoded);
        // As redis-cli reads it.
        let password = in_url.or_else(|| std::env::var("REDISCLI_AUTH").ok());
        if let Some(password) = password.filter(|password| !password.is_empty()) {
            let user = Some(url.username()).filter(|user| !user.is_empty()).and_then(decoded);
            let words: Vec<&str> =
                ["AUTH"].into_iter().chain(user.as_deref()).chain([password.as_str()]).collect();
            let said = ask(&mut stream, &command(&words), is_whole)?;
            simple(&said).map_err(|error| format!("Redis: {error}"))?;
        }
        Ok(stream)
    }

    fn read(&mut self, stream: &mut TcpStream, sample: &mut Sample) -> Result<(), String> {
        for section in ["default", "commandstats"] {
            let said = ask(stream, &command(&["INFO", section]), is_whole)?;
            let text = bulk(&said).map_err(|error| format!("Redis: {error}"))?;
            info(&text, sample);
        }
        match sample.counters.contains_key("cache.ops") {
            true => Ok(()),
            false => Err("Redis: INFO tells of no commands".to_owned()),
        }
    }
}

impl Service for Memcached {
    type Connection = TcpStream;

    fn connect(&mut self) -> Result<TcpStream, String> {
        let url = Url::parse(&self.url).map_err(|_| "not a URL".to_owned())?;
        connect(&url, 11_211)
    }

    fn read(&mut self, stream: &mut TcpStream, sample: &mut Sample) -> Result<(), String> {
        let said = ask(stream, b"stats\r\n", |bytes| {
            bytes.ends_with(b"END\r\n") || bytes.ends_with(b"ERROR\r\n")
        })?;
        stats(&String::from_utf8_lossy(&said), sample)
    }
}

/// A connection to the host of a URL.
pub(super) fn connect(url: &Url, usual_port: u16) -> Result<TcpStream, String> {
    let stream = dial::connect(url, usual_port, WAIT)?;
    stream.set_write_timeout(Some(WAIT)).map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Sends a question and reads until the answer is whole.
pub(super) fn ask(
    stream: &mut TcpStream,
    question: &[u8],
    whole: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>, String> {
    stream.write_all(question).map_err(|error| error.to_string())?;
    let (deadline, mut bytes, mut buffer) = (Instant::now() + WAIT, Vec::new(), [0; 16 * 1024]);
    while !whole(&bytes) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no whole answer in time".to_owned());
        }
        stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match stream.read(&mut buffer) {
            Ok(0) => return Err("the server closed the connection".to_owned()),
            Ok(n) if bytes.len() + n > MOST_BYTES => {
                return Err("the answer exceeds 1 MiB".to_owned());
            }
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                return Err("no whole answer in time".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(bytes)
}

/// A command of Redis's protocol (RESP): an array of strings.
fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    bytes
}

/// Whether an answer of Redis has all come: a line, or a line with a length and this many bytes.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((line, rest)) = first_line(bytes) else { return false };
    let length = line.strip_prefix('$').and_then(|length| length.parse::<usize>().ok());
    length.is_none_or(|length| rest.len() >= length.saturating_add(2))
}

fn first_line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 2..]))
}

/// The reply of Redis to a command that succeeds, or why it does not.
fn simple(bytes: &[u8]) -> Result<&str, String> {
    let (line, _) = first_line(bytes).ok_or("the answer is not of its protocol")?;
    match line.strip_prefix('-') {
        Some(error) => Err(error.chars().take(200).collect()),
        None => Ok(line),
    }
}

fn bulk(bytes: &[u8]) -> Result<String, String> {
    simple(bytes)?;
    let (line, rest) = first_line(bytes).ok_or("the answer is not of its protocol")?;
    let length = line.strip_prefix('$').and_then(|length| length.parse::<usize>().ok());
    let text = length.and_then(|length| rest.get(..length)).ok_or("INFO is answered otherwise")?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Puts the figures of INFO into `sample`.
pub fn info(text: &str, sample: &mut Sample) {
    let mut commands: Vec<(u64, u64, &str)> = Vec::new();
    for line in text.lines() {
        let Some((name, value)) = line.trim().split_once(':') else { continue };
        if let Some(name) = name.strip_prefix("cmdstat_") {
            let part = |of: &str| {
                value.split(',').find_map(|part| part.strip_prefix(of)?.parse::<u64>().ok())
            };
            if let Some((calls, us)) = part("calls=").zip(part("usec=")) {
                commands.push((us, calls, name));
            }
            continue;
        }
        if let Some((_, ours)) = REDIS_COUNTERS.iter().find(|(theirs, _)| *theirs == name) {
            if let Ok(value) = value.parse::<u64>() {
                sample.count(*ours, value);
            }
        } else if let Some((_, ours)) = REDIS_GAUGES.iter().find(|(theirs, _)| *theirs == name) {
            if let Ok(value) = value.parse::<f64>() {
                sample.gauge(*ours, value);
            }
        } else if let Some((_, ours)) = REDIS_SECONDS.iter().find(|(theirs, _)| *theirs == name)
            && let Ok(seconds) = value.parse::<f64>()
        {
            let known = sample.counters.get(*ours).copied().unwrap_or(0);
            sample.count(*ours, known.saturating_add((seconds.max(0.0) * 1e9) as u64));
        }
    }
    commands.sort_unstable_by(|a, b| b.cmp(a));
    for (us, calls, name) in commands.into_iter().take(MOST_COMMANDS) {
        sample.count(format!("cache.calls{{{name}}}"), calls);
        sample.count(format!("cache.exec_ns{{{name}}}"), us.saturating_mul(1000));
    }
}

const REDIS_COUNTERS: [(&str, &str); 8] = [
    ("total_commands_processed", "cache.ops"),
    ("keyspace_hits", "cache.hits"),
    ("keyspace_misses", "cache.misses"),
    ("evicted_keys", "cache.evictions"),
    ("expired_keys", "cache.expired"),
    ("rejected_connections", "cache.connections_refused"),
    ("total_net_input_bytes", "cache.received_bytes"),
    ("total_net_output_bytes", "cache.sent_bytes"),
];
const REDIS_GAUGES: [(&str, &str); 5] = [
    ("connected_clients", "cache.connections"),
    ("maxclients", "cache.connections_max"),
    ("blocked_clients", "cache.blocked"),
    ("used_memory", "cache.memory_bytes"),
    ("maxmemory", "cache.memory_max_bytes"),
];
/// Seconds of processor time, of user and system added up.
const REDIS_SECONDS: [(&str, &str); 4] = [
    ("used_cpu_sys", "cache.cpu_ns"),
    ("used_cpu_user", "cache.cpu_ns"),
    ("used_cpu_sys_main_thread", "cache.main_thread_ns"),
    ("used_cpu_user_main_thread", "cache.main_thread_ns"),
];

/// Puts the figures of memcached's `stats` into `sample`.
///
/// # Errors
/// When it is something else.
pub fn stats(text: &str, sample: &mut Sample) -> Result<(), String> {
    let mut ops = 0_u64;
    let mut has_stats = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some("STAT"), Some(name), Some(value)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        has_stats = true;
        let seconds = |value: &str| value.parse::<f64>().ok().map(|s| (s.max(0.0) * 1e9) as u64);
        match name {
            "rusage_user" | "rusage_system" => {
                let known = sample.counters.get("cache.cpu_ns").copied().unwrap_or(0);
                sample.count("cache.cpu_ns", known.saturating_add(seconds(value).unwrap_or(0)));
            }
            "cmd_get" | "cmd_set" | "cmd_touch" | "cmd_flush" => {
                let Ok(n) = value.parse::<u64>() else { continue };
                ops = ops.saturating_add(n);
                sample.count(format!("cache.calls{{{}}}", &name[4..]), n);
            }
            _ => {
                if let Some((_, ours)) =
                    MEMCACHED_COUNTERS.iter().find(|(theirs, _)| *theirs == name)
                {
                    if let Ok(n) = value.parse() {
                        sample.count(*ours, n);
                    }
                } else if let Some((_, ours)) =
                    MEMCACHED_GAUGES.iter().find(|(theirs, _)| *theirs == name)
                    && let Ok(n) = value.parse()
                {
                    sample.gauge(*ours, n);
                }
            }
        }
    }
    sample.count("cache.ops", ops);
    if has_stats { Ok(()) } else { Err("no answer of memcached to `stats`".to_owned()) }
}

const MEMCACHED_COUNTERS: [(&str, &str); 7] = [
    ("get_hits", "cache.hits"),
    ("get_misses", "cache.misses"),
    ("evictions", "cache.evictions"),
    ("rejected_connections", "cache.connections_refused"),
    ("listen_disabled_num", "cache.listen_disabled"),
    ("bytes_read", "cache.received_bytes"),
    ("bytes_written", "cache.sent_bytes"),
];
const MEMCACHED_GAUGES: [(&str, &str); 5] = [
    ("curr_connections", "cache.connections"),
    ("max_connections", "cache.connections_max"),
    ("bytes", "cache.memory_bytes"),
    ("limit_maxbytes", "cache.memory_max_bytes"),
    ("threads", "cache.threads"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_of_redis() {
        let text = "# Server\r\nredis_version:7.0.15\r\nconnected_clients:3\r\nmaxclients:10000\r\n\
            used_memory:1048576\r\nmaxmemory:0\r\ntotal_commands_processed:77\r\nevicted_keys:5\r\n\
            used_cpu_sys:0.5\r\nused_cpu_user:1.25\r\n# Commandstats\r\n\
            cmdstat_get:calls=21,usec=175,usec_per_call=8.33,rejected_calls=0,failed_calls=0\r\nbroken\r\n";
        let mut sample = Sample::new(0);
        info(text, &mut sample);
        assert_eq!((sample.counters["cache.ops"], sample.counters["cache.evictions"]), (77, 5));
        assert_eq!(sample.counters["cache.cpu_ns"], 1_750_000_000);
        assert_eq!(sample.counters["cache.exec_ns{get}"], 175_000);
        assert_eq!(sample.gauges["cache.connections"], 3.0);
    }

    #[test]
    fn stats_of_memcached() {
        let text = "STAT pid 1\r\nSTAT curr_connections 2\r\nSTAT cmd_get 10\r\nSTAT cmd_set 5\r\n\
            STAT get_hits 7\r\nSTAT rusage_user 0.5\r\nSTAT rusage_system 0.25\r\nSTAT limit_maxbytes 67108864\r\nEND\r\n";
        let mut sample = Sample::new(0);
        stats(text, &mut sample).unwrap();
        assert_eq!((sample.counters["cache.ops"], sample.counters["cache.hits"]), (15, 7));
        assert_eq!(sample.counters["cache.cpu_ns"], 750_000_000);
        assert_eq!(sample.gauges["cache.memory_max_bytes"], 67_108_864.0);
        assert!(stats("ERROR\r\n", &mut sample).is_err());
    }

    #[test]
    fn answers_of_redis_are_whole_or_not() {
        for (bytes, whole) in [
            (&b"+OK\r\n"[..], true),
            (b"+O", false),
            (b"$5\r\nab", false),
            (b"$2\r\nab\r\n", true),
            (b"$99999999999999999999\r\n", true),
            (b"-NOAUTH Authentication required.\r\n", true),
        ] {
            assert_eq!(is_whole(bytes), whole, "{bytes:?}");
        }
        assert_eq!(bulk(b"$2\r\nab\r\n").as_deref(), Ok("ab"));
        assert_eq!(bulk(b"-NOAUTH x\r\n"), Err("NOAUTH x".to_owned()));
        assert!(bulk(b"$99999999999999999999\r\n").is_err());
        assert_eq!(command(&["AUTH", "a b"]), b"*2\r\n$4\r\nAUTH\r\n$3\r\na b\r\n");
    }
}
