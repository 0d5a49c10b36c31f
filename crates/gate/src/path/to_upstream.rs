//! The way upstream: a connection is found or made, and a request handed to it as it comes.
//!
//! Owns connections to servers from connect to close, and the pressure back on clients that send faster than the
//! upstream takes.

use std::io;

use net::{Close, ConnId, Net, Peer, Route};
use rustix::io::Errno;
use tls::Tls;
use wire::ResponseTo;

use super::client::{Client, REPLAY_BYTES};
use super::failure::Failure;
use super::refusal::Fault;
use super::shadow::Shadowing;
use super::shared::count;
use super::timeouts::NEVER;
use super::upstream::{NONE, UpstreamConn};
use super::worker::{RESPONSE_LIMITS, UP, Worker};

/// Bytes that may wait to be taken, either way, before the sender is held back.
pub(super) const BACKLOG_BYTES: usize = 256 * 1024;

/// Which attempt at a request is made, and so where and over which connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The first: at any server, over an idle connection if there is one.
    First,
    /// After the server had closed an idle connection: at any server, over a new connection.
    Reconnected,
    /// After a failure: at another server than the one that `failed`, if there is one.
    Elsewhere { failed: u32 },
}

impl Worker {
    /// Finds a connection for the client's request, or makes one.
    pub(super) fn dispatch<N: Net>(&mut self, net: &mut N, client: &mut Client, attempt: Attempt) {
        let now = net.taken_in().at;
        let not = if let Attempt::Elsewhere { failed } = attempt { failed } else { NONE };
        let Some(exchange) = &mut client.exchange else { return };
        let (server, trial) = self.pools.choose(exchange.pool, not, now);
        if server == NONE {
            return self.answer_fault(net, client, Fault::Busy);
        }
        (exchange.server, exchange.trial) = (server, trial);
        let state = &mut self.pools.servers[server as usize];
        state.health.begin();
        if attempt != Attempt::Reconnected
            && let Some(token) = state.idle.pop()
        {
            return self.attach(net, client, token);
        }
        self.connect(net, client, server, now);
    }

    /// Gives an open connection the client's request to carry.
    fn attach<N: Net>(&mut self, net: &mut N, client: &mut Client, token: u32) {
        self.up_due[token as usize] = NEVER;
        let (Some(up), Some(exchange)) = (self.ups.get_mut(token), &mut client.exchange) else {
            return;
        };
        up.client = client.token;
        up.parser.begin(if exchange.head_only { ResponseTo::Head } else { ResponseTo::Other });
        exchange.up = token;
        self.hand_on(net, client);
    }

    fn connect<N: Net>(&mut self, net: &mut N, client: &mut Client, server: u32, now: u64) {
        let Some(exchange) = &mut client.exchange else { return };
        exchange.connect_ns = now;
        let due = now.saturating_add(exchange.timeouts.connect_ns);
        let client_token = client.token;
        let token = match self.open_up(net, server, client_token, due) {
            Ok(token) => token,
            // That is no fault of the server, and there is nothing left for a connection to another one either.
            Err(error) if lacks_resources(&error) => {
                self.pools.servers[server as usize].health.failed_by(Failure::Local);
                return self.answer_fault(net, client, Fault::Upstream(Failure::Local));
            }
            Err(_) => {
                let fault = Fault::Upstream(Failure::NoAddress);
                return self.fail(net, client, Close::Now, fault, false);
            }
        };
        exchange.up = token;
        let to = if exchange.head_only { ResponseTo::Head } else { ResponseTo::Other };
        if let Some(up) = self.ups.get_mut(token) {
            up.parser.begin(to);
        }
    }

    /// Opens a connection to a server.
    ///
    /// # Errors
    /// When nothing is left for it, see [`lacks_resources`], or this machine has no address of the server's family.
    pub(super) fn open_up<N: Net>(
        &mut self,
        net: &mut N,
        server: u32,
        client: u32,
        due: u64,
    ) -> io::Result<u32> {
        let token = self.ups.next();
        let state = &self.pools.servers[server as usize];
        let address = &self.pools.pools[state.pool as usize].upstream.addresses[state.place];
        let tls = match (&address.tls, self.policy.trust()) {
            (None, _) => None,
            (Some(name), Some(trust)) => {
                Some(Box::new(trust.connect(name).ok_or(io::ErrorKind::InvalidInput)?))
            }
            (Some(_), None) => return Err(io::ErrorKind::InvalidInput.into()),
        };
        let route = Route { to: Peer::Tcp(state.socket), from: None };
        let id = self.connect_by(net, token, &route, client)?;
        let mut up = UpstreamConn::new(id, token, server, client, RESPONSE_LIMITS);
        up.tls = tls;
        self.ups.insert(Box::new(up));
        if self.up_due.len() <= token as usize {
            self.up_due.resize(token as usize + 1, NEVER);
        }
        self.up_due[token as usize] = due;
        self.pools.servers[server as usize].open += 1;
        count(&self.counts().connects);
        Ok(token)
    }

    /// Asks for a connection: again where nothing was left for it, and an idle client made room. Checks and shadows cost no client
    /// its connection.
    fn connect_by<N: Net>(
        &mut self,
        net: &mut N,
        token: u32,
        route: &Route,
        client: u32,
    ) -> io::Result<ConnId> {
        let mut made = net.connect(UP | token, route);
        let now = net.now();
        while client != NONE
            && made.as_ref().is_err_and(lacks_resources)
            && self.close_idlest(net, now)
        {
            made = net.connect(UP | token, route);
        }
        made
    }

    /// A connection stands.
    pub(super) fn up_connected<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(up) = self.ups.get_mut(token) else { return };
        up.connected = true;
        match &mut up.tls {
            None => up.open = true,
            Some(tls) => {
                self.records.clear();
                tls.outgoing(&mut self.records);
                net.send(up.id, &self.records);
                return;
            }
        }
        self.up_opened(net, token);
    }

    /// A connection can carry requests.
    pub(super) fn up_opened<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(up) = self.ups.get(token) else { return };
        let client = up.client;
        if up.check != NONE {
            return self.send_check(net, token);
        }
        if up.mirror.is_some() {
            return self.send_mirror(net, token);
        }
        self.up_due[token as usize] = NEVER;
        if let Some(mut client) = self.clients.take(client) {
            self.hand_on(net, &mut client);
            client.resume(net);
            self.settle(net, client);
        }
    }

    /// Hands on what there is of the client's request.
    pub(super) fn hand_on<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        let Some(exchange) = &mut client.exchange else { return };
        let mirrors = exchange.read_whole && exchange.shadow != Shadowing::No;
        let left = client.request.len() - client.handed;
        let up = self.ups.get_mut(exchange.up).filter(|up| up.open);
        let Some(up) = up else {
            if left > REPLAY_BYTES {
                client.pause(net);
            }
            return;
        };
        if left == 0 {
            if mirrors {
                self.mirror(net, client);
            }
            return;
        }
        let bytes = &client.request[client.handed..];
        send_up(net, up.id, up.tls.as_deref_mut(), bytes, &mut self.records);
        if !exchange.any_sent || !exchange.read_whole {
            exchange.sent_ns = net.taken_in().at;
        }
        exchange.any_sent = true;
        let backlog = !exchange.read_whole && net.backlog(up.id) > BACKLOG_BYTES;
        if backlog && !up.draining {
            up.draining = true;
            net.want_drained(up.id);
        }
        client.handed = client.request.len();
        exchange.kept &= client.request.len() <= REPLAY_BYTES;
        if !exchange.kept {
            client.request.clear();
            client.handed = 0;
        }
        if backlog {
            client.pause(net);
        }
        if mirrors {
            self.mirror(net, client);
        }
    }

    /// The upstream has taken everything: the client may send on.
    pub(super) fn up_drained<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(up) = self.ups.get_mut(token) else { return };
        up.draining = false;
        let client = up.client;
        if let Some(mut client) = self.clients.take(client) {
            client.resume(net);
            self.settle(net, client);
        }
    }

    /// Closes a connection that carries nothing any more.
    pub(super) fn close_up<N: Net>(&mut self, net: &mut N, token: u32, how: Close) {
        let Some(up) = self.ups.take(token) else { return };
        self.drop_up(net, &up, how);
    }

    /// As [`Self::close_up`], of a connection that was taken out.
    pub(super) fn drop_up<N: Net>(&mut self, net: &mut N, up: &UpstreamConn, how: Close) {
        net.close(up.id, how);
        let server = &mut self.pools.servers[up.server as usize];
        server.open -= 1;
        server.checking &= up.check == NONE;
        self.pools.forget(up.server);
        self.up_due[up.token as usize] = NEVER;
        self.ups.release(up.token);
    }
}

/// Whether a connection could not be made for want of what others hold: files, or the kernel's memory.
pub(super) fn lacks_resources(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    let wants = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::NOSPC];
    errno.is_some_and(|errno| wants.contains(&errno))
}

/// Sends plaintext on a connection, in TLS where that is spoken.
pub(super) fn send_up<N: Net>(
    net: &mut N,
    id: ConnId,
    tls: Option<&mut Tls>,
    bytes: &[u8],
    records: &mut Vec<u8>,
) {
    match tls {
        None => net.send(id, bytes),
        Some(tls) => {
            tls.encrypt(bytes);
            records.clear();
            tls.outgoing(records);
            net.send(id, records);
        }
    }
}

#[cfg(test)]
mod tests {
    use net::{Event, Handler, Operation};

    use super::*;
    use crate::path::wires::{Wires, accepts, receives, worker_of};
    use crate::policy::{ActiveCheck, Balance, PassiveCheck, Policy, Upstream, UpstreamAddress};

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    /// It was said that the server takes no connections, and it was given a rest.
    #[test]
    fn a_want_of_ports_is_said_and_is_no_fault_of_the_server() {
        let passive = PassiveCheck { failures: 1, ..PassiveCheck::default() };
        let upstream = Upstream { passive, ..Upstream::of("api", "127.0.0.1:1".parse().unwrap()) };
        let (shared, mut worker) = worker_of(Policy::open(upstream), None);
        let mut wires = Wires::new();
        let client = accepts(&mut worker, &mut wires).expect("there is room");
        receives(&mut worker, &mut wires, client, GET);
        let errno = Errno::ADDRNOTAVAIL.raw_os_error();
        let gone = net::Failure { during: Operation::Connect, errno };
        let mut attempts = 0;
        while let Some((up, _)) = wires.connecting.pop() {
            Handler::<Wires>::event(&mut worker, &mut wires, up, Event::Failed(gone));
            attempts += 1;
        }
        let answer = String::from_utf8_lossy(&wires.sent[0]).into_owned();
        assert!(answer.contains(Failure::Local.detail()), "{answer}");
        let view = &shared.health.view(wires.now)[0];
        assert_eq!((view.failed_by[Failure::Local as usize], attempts), (2, 2));
        assert!(view.well && view.failed == 0, "{view:?}");
    }

    /// As on a machine without IPv6: an idle client was closed for each request, no other server was asked, and no check failed.
    #[test]
    fn a_server_of_a_family_that_is_missing_is_left_out() {
        let addresses = ["[::1]:1", "127.0.0.1:1"].map(|text| UpstreamAddress {
            text: text.to_owned(),
            socket: text.parse().unwrap(),
            tls: None,
        });
        let active = ActiveCheck {
            path: "/".to_owned(),
            every_ns: 1_000_000,
            timeout_ns: 1_000_000,
            up_after: 1,
            down_after: 1,
        };
        let first = addresses[0].socket;
        let upstream = Upstream {
            addresses: addresses.to_vec(),
            balance: Balance::RoundRobin,
            active: Some(active),
            ..Upstream::of("api", first)
        };
        let (shared, mut worker) = worker_of(Policy::open(upstream), None);
        let mut wires = Wires::new();
        let clients = [(); 3].map(|()| accepts(&mut worker, &mut wires).expect("there is room"));
        receives(&mut worker, &mut wires, clients[0], GET);
        let (up, _) = wires.connecting.pop().expect("a connection to the other server");
        Handler::<Wires>::event(&mut worker, &mut wires, up, Event::Connected);
        receives(&mut worker, &mut wires, up, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        // The first client is idle for long enough to be closed.
        wires.now += 2_000_000_000;
        receives(&mut worker, &mut wires, clients[1], GET);
        receives(&mut worker, &mut wires, clients[2], GET);
        assert!(wires.closed.is_empty(), "{:?}", wires.closed);
        let is_502 = |sent: &Vec<u8>| sent.starts_with(b"HTTP/1.1 502 ");
        assert!(!wires.sent.iter().any(is_502), "the other server was not asked");
        let now = wires.now;
        worker.begin_checks(&mut wires, now);
        let view = shared.health.view(now);
        assert!(view[0].failed > 0 && view[0].down && !view[1].down, "{view:?}");
    }
}
