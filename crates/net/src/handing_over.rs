//! Sockets that one process gives to another, over a Unix socket (SCM_RIGHTS).
//!
//! A listening socket that is given away is the same in both processes: no connection that waits in its queue is lost
//! when the first one closes its own.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sockets that are given at once at most; the kernel takes 253.
pub const MOST: usize = 250;
/// Bytes of the text beside them at most.
const LONGEST: usize = 1 << 20;

/// Gives sockets, with a text that says what they are.
///
/// # Errors
/// When there are too many, or the other side is gone.
pub fn give(stream: &mut UnixStream, text: &[u8], sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
    if sockets.len() > MOST || text.len() > LONGEST {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !sockets.is_empty() && !control.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = (text.len() as u32).to_le_bytes();
    let parts = [IoSlice::new(&length)];
    let sent = retry_on_intr(|| sendmsg(&*stream, &parts, &mut control, SendFlags::NOSIGNAL))?;
    if sent != length.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    stream.write_all(text)
}

/// Takes sockets that are given.
///
/// # Errors
/// When the other side gives nothing, or something else.
pub fn take(stream: &mut UnixStream) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut length)];
    let message =
        retry_on_intr(|| recvmsg(&*stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC))?;
    if message.bytes != 4 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(given) = message {
            sockets.extend(given);
        }
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text)?;
    Ok((text, sockets))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_listener_that_is_given_away_keeps_its_queue() {
        let (mut one, mut other) = UnixStream::pair().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let beside = one.try_clone().unwrap();
        give(&mut one, b"a listener", &[listener.as_fd(), beside.as_fd()]).unwrap();
        drop(beside);
        drop(listener);
        let (text, mut sockets) = take(&mut other).unwrap();
        assert_eq!((text.as_slice(), sockets.len()), (&b"a listener"[..], 2));
        let given = TcpListener::from(sockets.remove(0));
        let (mut accepted, _) = given.accept().unwrap();
        client.write_all(b"hello").unwrap();
        let mut came = [0; 5];
        accepted.read_exact(&mut came).unwrap();
        assert_eq!(&came, b"hello");
        drop(one);
        drop(sockets);
        assert!(take(&mut other).is_err());
    }
}
