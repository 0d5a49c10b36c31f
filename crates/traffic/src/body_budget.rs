//! Memory for bodies that are kept until their responses are whole: one budget for all users of a worker. A
//! server that drips long responses to every user would fill the memory otherwise.

/// Bytes of one response's body kept for its checks at most: 1 MiB.
pub(crate) const MOST_BODY: usize = 1 << 20;
/// Memory for bodies that one worker holds at most, all users together: 256 MiB, as for responses that
/// scripts look at. A response that would exceed it fails its checks.
pub(crate) const MOST_HELD: usize = 256 << 20;

/// Makes room for `more` bytes behind those of a body; false where the budget does not allow it.
pub(crate) fn make_room(
    body: &mut Vec<u8>,
    more: usize,
    buffers: &mut Vec<Vec<u8>>,
    held: &mut usize,
) -> bool {
    let needed = body.len() + more;
    if needed <= body.capacity() {
        return true;
    }
    let wanted = needed.max(2 * body.capacity()).min(MOST_BODY);
    while *held + wanted - body.capacity() > MOST_HELD {
        let Some(idle) = buffers.pop() else { return false };
        drop_buffer(idle, held);
    }
    *held -= body.capacity();
    body.reserve_exact(wanted - body.len());
    *held += body.capacity();
    true
}

/// Gives a buffer back.
pub(crate) fn drop_buffer(buffer: Vec<u8>, held: &mut usize) {
    *held -= buffer.capacity();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_shared_and_idle_ones_make_room() {
        let (mut buffers, mut held) = (Vec::new(), 0);
        let mut body = Vec::new();
        assert!(make_room(&mut body, 1000, &mut buffers, &mut held));
        assert_eq!((held, body.capacity()), (1000, 1000));
        buffers.push(body);
        let mut other = Vec::new();
        held += MOST_HELD - 1500;
        assert!(!make_room(&mut other, 1501, &mut Vec::new(), &mut held));
        assert!(make_room(&mut other, 1500, &mut buffers, &mut held));
        assert_eq!((held, buffers.len()), (MOST_HELD, 0));
        assert!(!make_room(&mut other, 1501, &mut buffers, &mut held));
        drop_buffer(other, &mut held);
        assert_eq!(held, MOST_HELD - 1500);
    }
}
