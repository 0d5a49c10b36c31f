//! Batches sent to a server: the JSON lines of a batch as the body of a POST.
//!
//! Each batch has a number of its own in `Idempotency-Key`, the same whenever it is sent again: a server that keeps
//! the last one counts nothing twice.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

use super::collector::{Batch, Sink};
use super::json_lines::objects;
use crate::connect::connect;

/// For each step: to connect, to take some of the request, to answer with something.
const PATIENCE: Duration = Duration::from_secs(5);
/// For a batch in all: who takes it and answers byte by byte holds up nobody for longer.
const IN_ALL: Duration = Duration::from_secs(20);

/// A server that takes usage.
#[derive(Debug)]
pub struct HttpSink {
    /// Host and port to connect to.
    address: String,
    /// What the request line and `Host` say.
    path: String,
    host: String,
    /// Of this process, so that numbers of others are not its own.
    source: String,
    batch: u64,
    /// The batch that was sent last, by its time, to know it when it comes again.
    last: Option<(i64, u64)>,
    stream: Option<TcpStream>,
}

impl HttpSink {
    /// Of a URL such as `http://127.0.0.1:9200/usage`. `source` tells this process from others.
    ///
    /// # Errors
    /// In words, which do not repeat the URL, for another kind of URL.
    pub fn new(url: &str, source: &str) -> Result<Self, String> {
        let wrong = || {
            "usage is sent to a URL such as http://127.0.0.1:9200/usage, without a user and a password"
                .to_owned()
        };
        let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
        let (host, path) = match rest.find('/') {
            Some(cut) => rest.split_at(cut),
            None => (rest, "/"),
        };
        let plain = |text: &str| text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        if host.is_empty() || host.contains(['@', '?', '#']) || !plain(rest) || path.contains('#') {
            return Err(wrong());
        }
        let with_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(Self {
            address: if with_port { host.to_owned() } else { format!("{host}:80") },
            path: path.to_owned(),
            host: host.to_owned(),
            source: source.to_owned(),
            batch: 0,
            last: None,
            stream: None,
        })
    }

    fn send(&mut self, head: &str, body: &[u8]) -> Result<u16, String> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        let until = Instant::now() + IN_ALL;
        write_all(&mut stream, head.as_bytes(), until)?;
        write_all(&mut stream, body, until)?;
        let (status, keep_alive) = answer(&mut stream, until)?;
        self.stream = keep_alive.then_some(stream);
        Ok(status)
    }

    fn connect(&self) -> Result<TcpStream, String> {
        let words = |error: io::Error| error.to_string();
        let stream = connect(&self.address, PATIENCE).map_err(words)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(words)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(words)?;
        Ok(stream)
    }
}

/// An error once an instant has passed.
fn in_time(until: Instant) -> Result<(), String> {
    match Instant::now() < until {
        true => Ok(()),
        false => Err(format!("it took more than {} s", IN_ALL.as_secs())),
    }
}

/// Why a connection failed: what the system says of a time-out (`Resource temporarily unavailable`) tells people nothing.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no answer within {} s", PATIENCE.as_secs())
        }
        _ => error.to_string(),
    }
}

fn write_all(stream: &mut TcpStream, mut bytes: &[u8], until: Instant) -> Result<(), String> {
    while !bytes.is_empty() {
        in_time(until)?;
        match stream.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(why(&error)),
        }
    }
    Ok(())
}

/// The status of an answer that is read whole, and whether another request may follow.
fn answer(stream: &mut TcpStream, until: Instant) -> Result<(u16, bool), String> {
    let mut parser = ResponseParser::new(Limits::default());
    parser.begin(ResponseTo::Other);
    let (mut status, mut buffer) = (0, [0; 4096]);
    loop {
        in_time(until)?;
        let count = stream.read(&mut buffer).map_err(|error| why(&error))?;
        let mut input = &buffer[..count];
        loop {
            match parser.next(&mut input).map_err(|error| error.to_string())? {
                Some(ResponseEvent::Head(head)) => status = head.status,
                Some(ResponseEvent::Body(_)) => {}
                Some(ResponseEvent::End { keep_alive }) => return Ok((status, keep_alive)),
                None => break,
            }
        }
        if count == 0 {
            // A body until the close has no other end; a head has one.
            return if status > 0 { Ok((status, false)) } else { Err("no answer came".into()) };
        }
    }
}

impl Sink for HttpSink {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        let body = objects(batch)?;
        let same = (batch.at_s, batch.requests());
        if self.last != Some(same) {
            self.batch += 1;
            self.last = Some(same);
        }
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-ndjson\r\nIdempotency-Key: \
             \"{}-{}\"\r\nContent-Length: {}\r\n\r\n",
            self.path,
            self.host,
            self.source,
            self.batch,
            body.len()
        );
        let had_stream = self.stream.is_some();
        // A connection that was kept may have been closed meanwhile.
        let sent = self.send(&head, &body).or_else(|why| match had_stream {
            true => self.send(&head, &body),
            false => Err(why),
        });
        match sent {
            Ok(200..=299) => {
                self.last = None;
                Ok(())
            }
            Ok(status) => Err(format!("usage was answered with {status} by {}", self.host)),
            Err(why) => Err(format!("usage cannot be sent to {}: {why}", self.host)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;
    use crate::usage::Sum;

    #[test]
    fn a_server_that_does_not_answer_is_said_to_be_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let said = answer(&mut stream, Instant::now() + IN_ALL).unwrap_err();
        assert_eq!(said, "no answer within 5 s");
    }

    fn batch(at_s: i64) -> Batch {
        Batch { at_s, rows: vec![(1, "a".into(), Sum { forwarded: 3, ..Sum::default() })] }
    }

    /// A server that answers with these, a connection for each; what it was sent.
    fn server(answers: Vec<&'static str>) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/usage?from=gate", listener.local_addr().unwrap());
        let serve = move |answer: &str| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = String::new();
            while !text.ends_with("}\n") {
                let mut buffer = [0; 4096];
                let count = stream.read(&mut buffer).unwrap();
                text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
            }
            stream.write_all(answer.as_bytes()).unwrap();
            text
        };
        (url, thread::spawn(move || answers.into_iter().map(serve).collect()))
    }

    #[test]
    fn a_batch_that_was_refused_is_sent_again_under_its_number() {
        let (url, served) = server(vec![
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
            "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        ]);
        let mut sink = HttpSink::new(&url, "one").unwrap();
        assert!(sink.write(&batch(5)).unwrap_err().contains("503"));
        sink.write(&batch(5)).unwrap();
        sink.write(&batch(5)).unwrap();
        let sent = served.join().unwrap();
        let number = |text: &String| {
            text.split("Idempotency-Key: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned()
        };
        let numbers: Vec<_> = sent.iter().map(number).collect();
        assert_eq!(numbers, ["\"one-1\"", "\"one-1\"", "\"one-2\""]);
        assert!(
            sent[0].starts_with("POST /usage?from=gate HTTP/1.1\r\nHost: 127.0.0.1:"),
            "{}",
            sent[0]
        );
        assert!(sent[0].contains("\r\n\r\n{\"at_s\":5,\"key\":1,\"route\":\"a\",\"forwarded\":3,"));
    }

    /// However steadily it sends.
    #[test]
    fn an_answer_ends_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        other.write_all(b"HTTP/1.1 200 OK\r\nX: ").unwrap();
        let why = answer(&mut stream, Instant::now()).unwrap_err();
        assert_eq!(why, "it took more than 20 s");
    }

    #[test]
    fn a_server_that_is_gone_is_an_error_in_words() {
        let gone = testkit::ports::reserved();
        let mut sink = HttpSink::new(&format!("http://{gone}"), "one").unwrap();
        assert!(
            sink.write(&batch(1)).unwrap_err().starts_with("usage cannot be sent to 127.0.0.1:")
        );
        for wrong in ["https://x/", "x", "http://", "http://a b/", "http://u@h/", "http://h/#x"] {
            assert!(HttpSink::new(wrong, "one").is_err(), "{wrong}");
        }
    }
}
