//! Sockets that listen, with their queues, and connections, with who waits: what `sock_diag` answers (sock_diag(7),
//! `linux/inet_diag.h`, `linux/tcp.h`).
//!
//! Of listeners alone the kernel walks a table of their own, so that it costs the same with a million connections.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Listeners read of an answer at most.
pub const MOST_LISTENERS: usize = 256;

const HEADER: usize = 16;
const ADDRESS_FAMILY: [u8; 2] = [2, 10];
const TCP: u8 = 6;
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const LISTEN: u8 = 10;
/// `INET_DIAG_INFO`: `struct tcp_info`.
const INFO: u16 = 2;
/// Where attributes begin, behind `struct inet_diag_msg`.
const ATTRIBUTES: usize = 72;
/// Where `struct tcp_info` has the number of segments with data that came in; behind it those that went out.
const SEGMENTS_IN: usize = 152;
/// Milliseconds from which on the last data that came says nothing of an acknowledgement: it may be of a probe that
/// keeps the connection alive.
const LONG_AGO_MS: u32 = 10_000;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TCPDIAG_GETSOCK: u16 = 18;
const REQUEST_AND_DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// A socket that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Where.
    pub address: SocketAddr,
    /// Connections that wait to be accepted.
    pub queue: u32,
    /// Connections that may wait.
    pub backlog: u32,
    /// The number of its socket, as `/proc/PID/fd` shows it.
    pub inode: u32,
}

/// A connection that is open, or being opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The number of its socket, as `/proc/PID/fd` shows it.
    pub inode: u32,
    /// The port of this end.
    pub port: u16,
    /// The other end.
    pub remote: SocketAddr,
    /// Whether this end asked last, and waits for what the other says.
    pub waits: bool,
    /// Whether the other end has sent data yet: before, who waits waits for the first answer, as of a handshake.
    pub answered: bool,
    /// Bytes that came in and that this end's program has not read.
    pub unread: u32,
}

/// The question: TCP sockets of IPv6 or IPv4 that listen.
pub fn listeners(ipv6: bool) -> Vec<u8> {
    let family = ADDRESS_FAMILY[usize::from(ipv6)];
    let mut bytes = question(SOCK_DIAG_BY_FAMILY, [family, TCP, 0, 0]);
    bytes.extend((1_u32 << LISTEN).to_ne_bytes());
    bytes.extend([0; 48]);
    finish(bytes)
}

/// The question: TCP sockets of both families that listen, and connections with what the kernel knows of them. It walks
/// the table of all connections for it, empty places included, which takes milliseconds; in this, the older form of the
/// question, once for both.
pub fn all() -> Vec<u8> {
    let mut bytes = question(TCPDIAG_GETSOCK, [0, 0, 0, 1 << (INFO - 1)]);
    bytes.extend([0; 48]);
    bytes.extend((1_u32 << LISTEN | 1 << ESTABLISHED | 1 << SYN_SENT).to_ne_bytes());
    bytes.extend([0; 4]);
    finish(bytes)
}

/// The head of a question, without its length, and what it begins with.
fn question(kind: u16, begins: [u8; 4]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(begins);
    bytes
}

/// Puts the length where it belongs.
fn finish(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes
}

/// What a datagram of the answer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// More follows.
    More,
    /// This was the last.
    Done,
    /// The kernel refused, with this error number.
    Refused(i32),
}

/// Reads a datagram of the answer, and gives each socket to `take`.
pub fn answer(bytes: &[u8], mut take: impl FnMut(&[u8])) -> Answer {
    let mut rest = bytes;
    while let Some((header, _)) = rest.split_first_chunk::<HEADER>() {
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let Some(message) = rest.get(HEADER..length) else { return Answer::Done };
        match kind {
            DONE => return Answer::Done,
            ERROR => {
                let code = message.first_chunk::<4>().map_or(0, |code| i32::from_ne_bytes(*code));
                return Answer::Refused(code.wrapping_neg());
            }
            SOCK_DIAG_BY_FAMILY | TCPDIAG_GETSOCK => take(message),
            _ => {}
        }
        let Some(next) = rest.get(length.next_multiple_of(4)..) else { return Answer::More };
        rest = next;
    }
    Answer::More
}

/// A socket that listens, in `struct inet_diag_msg`: family, state, timer, retransmits; ports and addresses; expiry,
/// queues. None where it is another.
pub fn listener(message: &[u8]) -> Option<Listener> {
    let state = message.get(1)?;
    let queue = number(message, 56)?;
    let backlog = number(message, 60)?;
    let address = SocketAddr::new(ip(message, 8)?, port(message, 4)?);
    let inode = number(message, 68)?;
    (*state == LISTEN).then_some(Listener { address, queue, backlog, inode })
}

/// A connection, from the message and the attributes behind it. None if it is not one, or its state is missing.
pub fn connection(message: &[u8]) -> Option<Connection> {
    let state = *message.get(1)?;
    let (waits, answered) = match state {
        SYN_SENT => (true, false),
        ESTABLISHED => {
            let info = attribute(message.get(ATTRIBUTES..)?, INFO)?;
            (asked_last(info)?, number(info, SEGMENTS_IN)? > 0)
        }
        _ => return None,
    };
    Some(Connection {
        inode: number(message, 68)?,
        port: port(message, 4)?,
        remote: SocketAddr::new(ip(message, 24)?, port(message, 6)?),
        waits,
        answered,
        unread: number(message, 56)?,
    })
}

/// Whether this end sent data later than it received any, by `struct tcp_info`. The kernel's times are of its ticks, of 1
/// to 10 ms. Where both are of one tick, this end asked last if what it sent is not acknowledged yet, if an acknowledgement
/// came later than the last data, or if it sent one segment more than it received: the other end may acknowledge at once
/// and think for long, and questions and answers that fit into a segment each are as many.
fn asked_last(info: &[u8]) -> Option<bool> {
    let (sent, received, acknowledged) = (number(info, 44)?, number(info, 52)?, number(info, 56)?);
    let (segments_in, segments_out) = (number(info, SEGMENTS_IN)?, number(info, 156)?);
    let unacknowledged = number(info, 24)?;
    Some(match (segments_in, segments_out) {
        (_, 0) => false,
        (0, _) => true,
        _ if sent == received => {
            let later = acknowledged < received && received < LONG_AGO_MS;
            unacknowledged > 0 || later || segments_out == segments_in.saturating_add(1)
        }
        _ => sent < received,
    })
}

/// The attribute of a kind, without its header.
fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = bytes;
    loop {
        let [a, b, c, d] = *rest.first_chunk()?;
        let (length, kind) = (usize::from(u16::from_ne_bytes([a, b])), u16::from_ne_bytes([c, d]));
        let value = rest.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn port(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*message.get(at..)?.first_chunk()?))
}

fn ip(message: &[u8], at: usize) -> Option<IpAddr> {
    let address: &[u8; 16] = message.get(at..)?.first_chunk()?;
    match message.first()? {
        2 => Some(IpAddr::V4(Ipv4Addr::from(*address.first_chunk::<4>()?))),
        10 => Some(IpAddr::V6(Ipv6Addr::from(*address))),
        _ => None,
    }
}
