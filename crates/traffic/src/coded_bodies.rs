//! Bodies that come in `gzip` or `deflate`, decoded for whoever compares responses with each other.
//!
//! Owns what is kept of them until they are whole. Does not own the comparison (`engine`).

use std::collections::HashMap;

use wire::ResponseHead;

use crate::body_budget::{MOST_BODY, drop_buffer, make_room};
use crate::content_coding::{Coding, Decoder};

/// The bodies in a coding that are under way, by connection. Of each 1 MiB is kept at most, of all together 256 MiB.
#[derive(Debug, Default)]
pub struct CodedBodies {
    bodies: HashMap<u32, CodedBody>,
    /// Memory of all of them.
    held: usize,
    decoder: Decoder,
}

/// What has come of a body.
#[derive(Debug, Default)]
struct CodedBody {
    coding: Coding,
    bytes: Vec<u8>,
    /// Not all that came is kept.
    cut: bool,
}

impl CodedBodies {
    /// The response on `conn` begins with this head.
    pub fn head(&mut self, conn: u32, head: &ResponseHead<'_>) {
        self.abandon(conn);
        let coding = Coding::of(head);
        if matches!(coding, Coding::Gzip | Coding::Deflate) {
            self.bodies.insert(conn, CodedBody { coding, ..CodedBody::default() });
        }
    }

    /// Whether the body on `conn` is kept.
    pub fn looks_at(&self, conn: u32) -> bool {
        self.bodies.contains_key(&conn)
    }

    /// A part of the body on `conn`.
    pub fn body(&mut self, conn: u32, bytes: &[u8]) {
        let Some(coded) = self.bodies.get_mut(&conn).filter(|coded| !coded.cut) else { return };
        let kept = &bytes[..bytes.len().min(MOST_BODY - coded.bytes.len())];
        let has_room = make_room(&mut coded.bytes, kept.len(), &mut Vec::new(), &mut self.held);
        if has_room {
            coded.bytes.extend_from_slice(kept);
        }
        coded.cut = !has_room || kept.len() < bytes.len();
    }

    /// The body on `conn`, which is whole, decoded; of a longer one its first MiB. None where it came in no such coding,
    /// or does not match it, or is empty.
    pub fn end(&mut self, conn: u32) -> Option<&[u8]> {
        let CodedBody { coding, bytes, cut } = self.bodies.remove(&conn)?;
        let decoded = self.decoder.beginning(coding, &bytes, MOST_BODY, cut);
        drop_buffer(bytes, &mut self.held);
        decoded
    }

    /// The response on `conn` will never be whole.
    pub fn abandon(&mut self, conn: u32) {
        if let Some(coded) = self.bodies.remove(&conn) {
            drop_buffer(coded.bytes, &mut self.held);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
        coder.write_all(text).unwrap();
        coder.finish().unwrap()
    }

    fn begin(bodies: &mut CodedBodies, conn: u32, coding: &str) {
        let head = format!("HTTP/1.1 200 OK\r\n{coding}Content-Length: 9\r\n\r\n");
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(ResponseTo::Other);
        let mut input = head.as_bytes();
        match parser.next(&mut input).unwrap() {
            Some(ResponseEvent::Head(head)) => bodies.head(conn, &head),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bodies_are_put_together_and_decoded() {
        let mut bodies = CodedBodies::default();
        let packed = gzip(b"{\"items\":[]}");
        for (coding, body, wanted) in [
            ("Content-Encoding: gzip\r\n", &packed[..], Some(&b"{\"items\":[]}"[..])),
            ("Content-Encoding: gzip\r\n", b"no gzip", None),
            ("Content-Encoding: gzip\r\n", b"", None),
            ("Content-Encoding: br\r\n", b"\x0b\x02", None),
            ("", &packed[..], None),
        ] {
            begin(&mut bodies, 3, coding);
            begin(&mut bodies, 4, coding);
            let (first, rest) = body.split_at(body.len() / 2);
            bodies.body(3, first);
            bodies.body(4, b"another connection's");
            bodies.body(3, rest);
            bodies.abandon(4);
            assert_eq!(bodies.end(3), wanted, "{coding}");
            assert!(bodies.end(3).is_none() && bodies.end(4).is_none());
            assert_eq!(bodies.held, 0);
        }
    }

    #[test]
    fn of_a_long_body_the_beginning_is_decoded() {
        let mut bodies = CodedBodies::default();
        begin(&mut bodies, 0, "Content-Encoding: gzip\r\n");
        bodies.body(0, &gzip(&vec![b'x'; 3 * MOST_BODY]));
        assert!(bodies.end(0).is_some_and(|body| body == vec![b'x'; MOST_BODY]));
        // What does not get shorter is cut before it is decoded.
        let noise = |n: u32| n.wrapping_mul(n).wrapping_mul(0x9e37_79b9).to_le_bytes();
        let noise: Vec<u8> = (0..MOST_BODY as u32).flat_map(noise).collect();
        begin(&mut bodies, 0, "Content-Encoding: gzip\r\n");
        bodies.body(0, &gzip(&noise));
        let decoded = bodies.end(0).expect("the beginning");
        assert!(!decoded.is_empty() && noise.starts_with(decoded), "{}", decoded.len());
    }
}
