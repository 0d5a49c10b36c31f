//! A gateway in front of servers, for tests of three lines.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gate::health::Health;
use gate::keys::{Digester, Keys};
use gate::path::{Gate, Listener, Options};
use gate::policy::{Current, KeySource, Policy, PolicySettings, State, Upstream, UpstreamAddress};
use target::Server;
use testkit::peer::{End, RawClient};
use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

/// How long something may take that has to come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Both kernel interfaces, the second where it works.
pub fn interfaces() -> Vec<net::Io> {
    if net::uring_works() { vec![net::Io::Epoll, net::Io::Uring] } else { vec![net::Io::Epoll] }
}

/// The built-in API.
pub fn api() -> Server {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = target::Options { listen, threads: Some(1), ..target::Options::default() };
    Server::start(options).expect("the API starts")
}

/// An upstream of these servers.
pub fn upstream(servers: &[SocketAddr]) -> Upstream {
    let address = |socket: &SocketAddr| UpstreamAddress {
        text: socket.to_string(),
        socket: *socket,
        tls: None,
    };
    Upstream { addresses: servers.iter().map(address).collect(), ..Upstream::of("api", servers[0]) }
}

/// A gateway, and what it was started with.
pub struct Front {
    pub gate: Gate,
    pub current: Arc<Current>,
    pub health: Arc<Health>,
}

impl Front {
    pub fn addr(&self) -> SocketAddr {
        self.gate.addresses()[0]
    }

    pub fn client(&self) -> RawClient {
        RawClient::connect(self.addr())
    }

    /// Sends bytes on a connection of their own. The answers to them, as far as they are whole.
    pub fn ask(&self, bytes: &[u8]) -> Vec<Answer> {
        let mut client = self.client();
        client.send(bytes);
        client.half_close();
        let (came, _) = client.receive_all(PATIENCE);
        answers(&came, ResponseTo::Other)
    }
}

/// A gateway in front of an upstream, open to all.
pub fn front(upstream: Upstream, io: net::Io) -> Front {
    front_of(
        Policy::open(upstream),
        io,
        Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
    )
}

/// Settings that ask for keys as usual, and what makes their digests.
pub fn with_keys(upstream: Upstream) -> (Digester, PolicySettings) {
    let digester = Digester::new(b"secret");
    let settings = PolicySettings {
        digester: Some(digester.clone()),
        key_source: KeySource::usual(),
        ..PolicySettings::open(upstream)
    };
    (digester, settings)
}

/// A gateway of these settings.
pub fn front_with(settings: PolicySettings, io: net::Io) -> Front {
    front_at(settings, io, Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))))
}

/// A gateway of these settings on this listener.
pub fn front_at(settings: PolicySettings, io: net::Io, listener: Listener) -> Front {
    let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
    front_of(Policy::new(&state, settings, None).expect("few names"), io, listener)
}

pub fn front_of(policy: Policy, io: net::Io, listener: Listener) -> Front {
    let (current, health) = (Arc::new(Current::new(Arc::new(policy))), Arc::new(Health::default()));
    let options = Options {
        listeners: vec![listener],
        workers: Some(1),
        io: Some(io),
        busy_poll_ns: 0,
        log: None,
    };
    let gate = Gate::start(options, Arc::clone(&current), Arc::clone(&health))
        .expect("the gateway starts");
    Front { gate, current, health }
}

/// An answer that was read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    pub keep_alive: bool,
}

/// The answers that bytes hold, the last of which may be cut short, which leaves it out.
pub fn answers(bytes: &[u8], to: ResponseTo) -> Vec<Answer> {
    let mut parser = ResponseParser::new(Limits::default());
    let (mut input, mut found) = (bytes, Vec::new());
    while !input.is_empty() {
        parser.begin(to);
        let mut answer =
            Answer { status: 0, head: String::new(), body: Vec::new(), keep_alive: false };
        loop {
            let before = input;
            match parser.next(&mut input) {
                Ok(Some(ResponseEvent::Head(head))) => {
                    answer.status = head.status;
                    answer.head = String::from_utf8_lossy(&before[..head.bytes.min(before.len())])
                        .into_owned();
                }
                Ok(Some(ResponseEvent::Body(part))) => answer.body.extend_from_slice(part),
                Ok(Some(ResponseEvent::End { keep_alive })) => {
                    answer.keep_alive = keep_alive;
                    break;
                }
                Ok(None) => match parser.eof() {
                    wire::Eof::Complete => break,
                    _ => return found,
                },
                Err(error) => panic!("{error}: {}", bytes.escape_ascii()),
            }
        }
        found.push(answer);
    }
    found
}

/// Bytes that one connection was sent until it ended.
pub fn all(client: &mut RawClient) -> (String, End) {
    let (came, end) = client.receive_all(PATIENCE);
    (String::from_utf8_lossy(&came).into_owned(), end)
}

/// Bytes that one connection was sent until it ended, or until no more came for half a second behind the first ones.
pub fn some(client: &mut RawClient) -> String {
    let begun = Instant::now();
    let (mut all, mut end) = (Vec::new(), End::Open);
    while end == End::Open && begun.elapsed() < PATIENCE {
        let (came, now) = client.receive_all(Duration::from_millis(500));
        if came.is_empty() && !all.is_empty() {
            break;
        }
        all.extend_from_slice(&came);
        end = now;
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Waits until something is so.
///
/// # Panics
/// When it is not within a minute.
pub fn wait_until(mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "it has to come within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
