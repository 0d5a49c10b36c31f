//! Ports of the loopback interface for programs that are told where to listen, and ports at which nobody listens.
//!
//! A port that was merely free a moment ago may be given to any other test that asks for one.

use std::io::Read as _;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// An address at which nobody listens, and whose port the kernel gives for a minute to nobody who asks for any. A server
/// that names it gets it, if it sets `SO_REUSEADDR` as servers do.
///
/// # Panics
/// When no loopback port is free.
pub fn reserved() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let mut client = TcpStream::connect(address).expect("it listens");
    let own = client.local_addr().expect("a connected socket has an address");
    // Who looks for a server that had the port before may have come first.
    let accepted = loop {
        let (accepted, from) = listener.accept().expect("a connection");
        if from == own {
            break accepted;
        }
    };
    // Whose side ends first keeps the port, in the state TIME_WAIT.
    accepted.shutdown(Shutdown::Write).expect("the connection stands");
    let rest = client.read(&mut [0]).expect("the end of the connection");
    assert_eq!(rest, 0, "nothing was sent");
    drop((accepted, client, listener));
    // A child that another thread begins has copies of all files until it executes its program.
    while TcpStream::connect(address).is_ok() {
        thread::sleep(Duration::from_millis(1));
    }
    address
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use socket2::{Domain, Socket, Type};

    use super::*;

    #[test]
    fn a_reserved_port_is_for_the_server_that_names_it() {
        let address = reserved();
        let refused = TcpStream::connect(address).expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        // As one is looked for that is free.
        let other = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let taken = other.bind(&address.into()).expect_err("it is reserved");
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        let server = TcpListener::bind(address).expect("std sets SO_REUSEADDR");
        TcpStream::connect(address).expect("it listens");
        drop(server);
    }
}
