//! Bytes that a handler has no use for ([`crate::Net::skip`]): the kernel discards them unread.
//!
//! Copying a long body out of the kernel costs as much as all else that is done for it. `MSG_TRUNC` makes a
//! TCP socket count bytes and copy none. What follows such bytes is mostly the beginning of the next response, of
//! which only a little is wanted: it is read into little room, or all that has come of the body would be copied
//! with the head.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::Event;

/// Room for a read that may have to be long: where a kernel copies in spite of `MSG_TRUNC`, as for Unix sockets,
/// it copies to here. Pages that are never written to are never there.
pub(crate) const ROOM: usize = 1 << 20;
/// Bytes of a read that should end soon behind a head.
const BRIEF: usize = 4096;
/// Brief reads that were not enough, after which there are no more of them.
const BRIEF_READS: u8 = 8;

/// What may be skipped of a connection, and what is read behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Skip {
    /// Bytes that may be skipped, behind those that have been read.
    left: u64,
    /// Brief reads that are still tried.
    brief: u8,
    /// The last brief read was not enough: all that is there is read.
    wide: bool,
}

/// What a read brought.
#[derive(Debug)]
pub(crate) enum Came<'r> {
    /// These bytes; none when the peer has sent its last.
    Bytes(&'r mut [u8]),
    /// So many, which are nowhere.
    Skipped(usize),
}

impl<'r> Came<'r> {
    /// Their number.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Skipped(length) => *length,
        }
    }

    /// The event for the handler, if it is not the end.
    pub(crate) fn event(self) -> Event<'r> {
        match self {
            Self::Bytes(bytes) => Event::Received(bytes),
            Self::Skipped(length) => Event::Skipped(length as u64),
        }
    }
}

impl Skip {
    /// The next `bytes` bytes may be skipped.
    #[inline]
    pub(crate) fn allow(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Whether some may be.
    #[inline]
    pub(crate) fn allowed(&self) -> bool {
        self.left > 0
    }

    /// Bytes are delivered that were read otherwise than by [`Self::read`]. Call before.
    #[inline]
    pub(crate) fn delivers(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }

    /// Reads a socket once, without waiting: `most` bytes, or fewer if that is better; or skips what may be skipped.
    /// Also returns whether the socket is empty now.
    pub(crate) fn read<'r>(
        &mut self,
        fd: &OwnedFd,
        room: &'r mut [u8],
        most: usize,
    ) -> Result<(Came<'r>, bool), Errno> {
        if self.left > 0 {
            let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(room.len());
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let (_, skipped) = rustix::net::recv(fd, &mut room[..wanted], flags)?;
            if skipped == 0 {
                return Ok((Came::Bytes(&mut []), true));
            }
            self.left = self.left.saturating_sub(skipped as u64);
            (self.brief, self.wide) = (BRIEF_READS, false);
            return Ok((Came::Skipped(skipped), skipped < wanted));
        }
        let brief = self.brief > 0 && !self.wide;
        let wanted = if brief { BRIEF.min(most) } else { most };
        let (_, came) = rustix::net::recv(fd, &mut room[..wanted], RecvFlags::DONTWAIT)?;
        let emptied = came < wanted;
        self.brief -= u8::from(brief && !emptied);
        self.wide = !emptied;
        Ok((Came::Bytes(&mut room[..came]), emptied))
    }
}
