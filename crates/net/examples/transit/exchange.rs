//! The loop: requests on schedule, their responses, and the server between.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::event::{Timespec, epoll};

use crate::disturbed::{GAP_NS, Gap};
use crate::socket::{self, Arrival};

/// What is asked for.
pub struct Plan {
    pub serve: SocketAddr,
    pub through: SocketAddr,
    pub connections: usize,
    pub rate_per_s: f64,
    pub seconds: u64,
    pub header: Option<String>,
}

/// A request that was answered. Instants are on the wall clock, all in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it was due.
    pub due: u64,
    /// Since when what stands between has had it: the client's write, or when it was due if no connection was free.
    pub sent: u64,
    /// At the server: arrived, written.
    pub arrived: u64,
    pub answered: u64,
    /// At the client.
    pub ended: u64,
}

impl Sample {
    /// How long it was kept by what stands between.
    pub fn between_ns(&self) -> u64 {
        self.arrived.saturating_sub(self.sent) + self.ended.saturating_sub(self.answered)
    }
}

/// What came of it.
#[derive(Default)]
pub struct Ended {
    pub samples: Vec<Sample>,
    /// When samples begin to count.
    pub began: u64,
    pub seconds: u64,
    pub gaps: Vec<Gap>,
    /// Responses other than the expected, and connections that ended.
    pub failed: u64,
    /// Requests for which no connection was free.
    pub starved: u64,
}

/// What the server answers.
const BODY: &[u8] = b"{\"status\":\"ok\"}";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}";
/// Stands before the number of the client's connection.
const MARK: &[u8] = b"transit-";
/// Its length.
const DIGITS: usize = 4;
/// Requests before this time has passed do not count: connections are opened, caches filled.
const WARM_UP_NS: u64 = 500_000_000;
/// How long this thread may take to wake, and how long it sleeps at least and at most.
const WAKES_NS: u64 = 80_000;
const NAP_LEAST_NS: u64 = 30_000;
const NAP_MOST_NS: u64 = 1_000_000;
const STAMPS_BEGIN: Duration = Duration::from_millis(50);
/// How long responses are waited for after the last request.
const PATIENCE_NS: u64 = 2_000_000_000;
const LISTENER: u64 = u64::MAX;
/// Added to the index of a connection at the server.
const SERVED: u64 = 1 << 32;

/// A connection, at either end.
struct Conn {
    stream: TcpStream,
    /// What has come of a message that is not whole.
    got: Vec<u8>,
    /// At the client: what it sends.
    request: Vec<u8>,
}

impl Conn {
    fn new(stream: TcpStream, request: Vec<u8>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        socket::stamp_arrivals(&stream)?;
        Ok(Self { stream, got: Vec::with_capacity(4096), request })
    }

    /// Reads once. When it arrived, if anything did; an error if the peer has closed.
    fn read(&mut self) -> io::Result<Option<u64>> {
        let mut buffer = [0; 4096];
        match socket::receive(self.stream.as_raw_fd(), &mut buffer)? {
            None => Ok(None),
            Some(Arrival { bytes: 0, .. }) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(Arrival { bytes, at }) => {
                self.got.extend_from_slice(&buffer[..bytes]);
                Ok(Some(at))
            }
        }
    }
}

/// A load that runs.
pub struct Load {
    epoll: OwnedFd,
    listener: TcpListener,
    clients: Vec<Conn>,
    served: Vec<Option<Conn>>,
    flights: Vec<Sample>,
    /// Those without a request, the longest free first: one that nobody uses would be closed at the other end.
    free: VecDeque<usize>,
    schedule: Schedule,
    ended: Ended,
    last_look: u64,
    /// When no connection was free last.
    full_at: u64,
    /// Until when what piled up in a gap may be worked off.
    recovering: Option<u64>,
}

/// Random arrivals: independent of each other, at a mean rate.
struct Schedule {
    state: u64,
    mean_ns: f64,
    next: f64,
    until: f64,
}

impl Schedule {
    /// A number drawn evenly between 0 and 1, never 0 (Marsaglia's xorshift, multiplied).
    fn draw(&mut self) -> f64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let mixed = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((mixed >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn advance(&mut self) {
        self.next -= self.draw().ln() * self.mean_ns;
    }
}

impl Load {
    /// Opens the connections.
    pub fn begin(plan: &Plan) -> Result<Self, Box<dyn Error>> {
        let listener = TcpListener::bind(plan.serve)?;
        listener.set_nonblocking(true)?;
        // The kernel begins to stamp a moment after it is asked for the first time.
        socket::stamp_arrivals(&listener)?;
        thread::sleep(STAMPS_BEGIN);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let readable = epoll::EventFlags::IN;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), readable)?;
        let header = plan.header.as_ref().map(|line| format!("{line}\r\n")).unwrap_or_default();
        let mut clients = Vec::new();
        for number in 0..plan.connections {
            let request = format!(
                "GET /healthz HTTP/1.1\r\nHost: {}\r\n{header}X-Request: transit-{number:0DIGITS$}\r\n\r\n",
                plan.through
            );
            let conn = Conn::new(TcpStream::connect(plan.through)?, request.into_bytes())?;
            epoll::add(&epoll, &conn.stream, epoll::EventData::new_u64(number as u64), readable)?;
            clients.push(conn);
        }
        let now = socket::now();
        let began = now + WARM_UP_NS;
        let length = WARM_UP_NS + plan.seconds * 1_000_000_000;
        let schedule = Schedule {
            state: now | 1,
            mean_ns: 1e9 / plan.rate_per_s,
            next: 0.0,
            until: length as f64,
        };
        let room = (plan.rate_per_s * (plan.seconds + 1) as f64 * 1.1) as usize;
        let ended = Ended {
            samples: Vec::with_capacity(room),
            gaps: Vec::with_capacity(65_536),
            began,
            seconds: plan.seconds,
            ..Ended::default()
        };
        let none = Sample { due: 0, sent: 0, arrived: 0, answered: 0, ended: 0 };
        Ok(Self {
            epoll,
            listener,
            flights: vec![none; clients.len()],
            free: (0..clients.len()).collect(),
            clients,
            served: Vec::new(),
            schedule,
            ended,
            last_look: now,
            full_at: 0,
            recovering: None,
        })
    }

    /// Sends and serves until all is sent and answered.
    pub fn run(mut self) -> Result<Ended, Box<dyn Error>> {
        let began = self.ended.began - WARM_UP_NS;
        let patience = began + self.schedule.until as u64 + PATIENCE_NS;
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); 16];
        loop {
            self.send_due(began)?;
            let nap = Timespec { tv_sec: 0, tv_nsec: self.nap_ns(began) as i64 };
            let (ready, _) = epoll::wait(&self.epoll, &mut events, Some(&nap))?;
            for event in ready {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    index if index >= SERVED => self.serve((index - SERVED) as usize),
                    index => self.receive(index as usize)?,
                }
                self.send_due(began)?;
            }
            let over = self.schedule.next >= self.schedule.until;
            if over && (self.is_idle() || self.last_look > patience) {
                self.ended.failed += (self.clients.len() - self.free.len()) as u64;
                return Ok(self.ended);
            }
        }
    }

    /// Whether nothing is under way.
    fn is_idle(&self) -> bool {
        self.free.len() == self.clients.len()
    }

    /// How long this thread may wait. It spins, but where nothing is under way and nothing due for a while: others get that
    /// time, so that the kernel does not take a long one for them, and nobody has to wake this thread.
    fn nap_ns(&mut self, began: u64) -> u64 {
        let due = (began + self.schedule.next as u64).saturating_sub(WAKES_NS);
        let nap = due.saturating_sub(self.last_look).min(NAP_MOST_NS);
        if !self.is_idle() || self.recovering.is_some() || nap < NAP_LEAST_NS {
            return 0;
        }
        self.last_look += nap;
        nap
    }

    /// Notes if this thread has not run for a while. What piled up meanwhile belongs to it: until nothing is under way, but
    /// no longer than twice what was missed, since it may be what stands between that takes long.
    fn look(&mut self, now: u64) {
        if now.saturating_sub(self.last_look) > GAP_NS {
            let gap = Gap { from: self.last_look, to: now };
            self.ended.gaps.push(gap);
            self.recovering = Some(now + 2 * gap.ns());
        }
        self.last_look = self.last_look.max(now);
        if let Some(until) = self.recovering {
            if let Some(gap) = self.ended.gaps.last_mut() {
                gap.to = now.min(until);
            }
            if self.is_idle() || now >= until {
                self.recovering = None;
            }
        }
    }

    /// Sends the next request if it is due: one, so that what has arrived does not wait for many.
    fn send_due(&mut self, began: u64) -> io::Result<()> {
        let now = socket::now();
        self.look(now);
        let due = began + self.schedule.next as u64;
        if due > now || self.schedule.next >= self.schedule.until {
            return Ok(());
        }
        let Some(number) = self.free.pop_front() else {
            self.full_at = now;
            return Ok(());
        };
        let client = &mut self.clients[number];
        let starved = due <= self.full_at;
        self.ended.starved += u64::from(starved);
        let sent = if starved { due } else { socket::now() };
        self.flights[number] = Sample { due, sent, arrived: 0, answered: 0, ended: 0 };
        client.stream.write_all(&client.request)?;
        self.schedule.advance();
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        let (stream, _) = self.listener.accept()?;
        let index = SERVED + self.served.len() as u64;
        let conn = Conn::new(stream, Vec::new())?;
        let data = epoll::EventData::new_u64(index);
        epoll::add(&self.epoll, &conn.stream, data, epoll::EventFlags::IN)?;
        self.served.push(Some(conn));
        Ok(())
    }

    /// Reads at the server, and answers what is whole.
    fn serve(&mut self, index: usize) {
        let Some(conn) = &mut self.served[index] else { return };
        let arrived = match conn.read() {
            Ok(None) => return,
            Ok(Some(at)) => at,
            // What stands between may close connections that it keeps.
            Err(_) => {
                self.served[index] = None;
                return;
            }
        };
        if !conn.got.ends_with(b"\r\n\r\n") {
            return;
        }
        let number = marked(&conn.got);
        conn.got.clear();
        let answered = socket::now();
        if let Some(flight) = number.and_then(|number| self.flights.get_mut(number)) {
            flight.arrived = arrived;
            flight.answered = answered;
        }
        if conn.stream.write_all(RESPONSE).is_err() {
            self.served[index] = None;
        }
    }

    /// Reads at the client, and ends what is whole.
    fn receive(&mut self, number: usize) -> io::Result<()> {
        let client = &mut self.clients[number];
        let Some(at) = client.read()? else { return Ok(()) };
        if !client.got.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(());
        }
        let flight = &mut self.flights[number];
        let expected = client.got.starts_with(b"HTTP/1.1 200") && flight.arrived > 0;
        if expected && !client.got.ends_with(BODY) {
            return Ok(());
        }
        client.got.clear();
        flight.ended = at;
        if !expected {
            self.ended.failed += 1;
        } else if flight.due >= self.ended.began {
            self.ended.samples.push(*flight);
        }
        self.free.push_back(number);
        Ok(())
    }
}

/// The number of the connection that a request was sent on.
fn marked(request: &[u8]) -> Option<usize> {
    let at = request.windows(MARK.len()).position(|part| part == MARK)? + MARK.len();
    std::str::from_utf8(request.get(at..at + DIGITS)?).ok()?.parse().ok()
}
