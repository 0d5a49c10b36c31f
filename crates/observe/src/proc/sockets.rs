//! Sockets that listen, with their queues: what `sock_diag` answers (sock_diag(7), `linux/inet_diag.h`).
//!
//! The kernel walks only its table of listeners for it, so that it costs the same with a million connections.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Listeners read of an answer at most.
pub const MOST_LISTENERS: usize = 256;

const HEADER: usize = 16;
const ADDRESS_FAMILY: [u8; 2] = [2, 10];
const TCP: u8 = 6;
const LISTEN: u8 = 10;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
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
}

/// The question: all TCP sockets that listen, of IPv6 or IPv4.
pub fn request(ipv6: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(72);
    bytes.extend(72_u32.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([ADDRESS_FAMILY[usize::from(ipv6)], TCP, 0, 0]);
    bytes.extend((1_u32 << LISTEN).to_ne_bytes());
    bytes.resize(72, 0);
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

/// Reads a datagram of the answer into `found`.
pub fn answer(bytes: &[u8], found: &mut Vec<Listener>) -> Answer {
    let mut rest = bytes;
    while let Some((header, _)) = rest.split_first_chunk::<HEADER>() {
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let Some(message) = rest.get(HEADER..length) else { return Answer::Done };
        match kind {
            DONE => return Answer::Done,
            ERROR => {
                let code = message.first_chunk::<4>().map_or(0, |code| i32::from_ne_bytes(*code));
                return Answer::Refused(-code);
            }
            SOCK_DIAG_BY_FAMILY if found.len() < MOST_LISTENERS => found.extend(listener(message)),
            _ => {}
        }
        let Some(next) = rest.get(length.next_multiple_of(4)..) else { return Answer::More };
        rest = next;
    }
    Answer::More
}

/// `struct inet_diag_msg`: family, state, timer, retransmits; ports and addresses; expiry, queues.
fn listener(message: &[u8]) -> Option<Listener> {
    let [family, state, ..] = message else { return None };
    let port = u16::from_be_bytes(*message.get(4..)?.first_chunk()?);
    let address: &[u8; 16] = message.get(8..)?.first_chunk()?;
    let queue = u32::from_ne_bytes(*message.get(56..)?.first_chunk()?);
    let backlog = u32::from_ne_bytes(*message.get(60..)?.first_chunk()?);
    let ip = match family {
        2 => IpAddr::V4(Ipv4Addr::from(*address.first_chunk::<4>()?)),
        10 => IpAddr::V6(Ipv6Addr::from(*address)),
        _ => return None,
    };
    let address = SocketAddr::new(ip, port);
    (*state == LISTEN).then_some(Listener { address, queue, backlog })
}
