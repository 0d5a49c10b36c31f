//! Misbehaviour on demand: which faults there are, and the bytes that are sent for them.
//!
//! Owns names and bytes; `exchange` and `slow_responses` send them.

/// Declares the faults: each with its name in `/fault/{kind}` and what it does. From this one table come
/// the enum, its names, and the documentation of both.
macro_rules! faults {
    ($($name:literal $variant:ident $does:literal)*) => {
        /// What is wrong with a response. `chunked`, `gzip`, `1xx` and `no-length` are correct HTTP that
        /// clients often get wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = concat!("`", $name, "`: ", $does)] $variant,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in `/fault/{kind}`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

faults! {
    "reset" Reset "RST instead of a response."
    "close" Close "FIN instead of a response."
    "truncate" Truncate "A body shorter than its `Content-Length`, then FIN."
    "bad-length" BadLength "A `Content-Length` that is not a number."
    "garbage" Garbage "Bytes that are not HTTP."
    "endless-header" EndlessHeader "A head that never ends: 1.6 MB/s of header lines, 64 MiB at most."
    "drip" Drip "A correct response, a byte each 100 ms."
    "hang" Hang "No response."
    "chunked" Chunked "A correct chunked response."
    "chunked-bad" ChunkedBad "A chunk size that is not a number."
    "gzip" Gzip "A correct response in gzip coding."
    "early" Early "A response before the body is read, then FIN."
    "1xx" Interim "An interim response (103), then a correct one."
    "no-length" NoLength "A correct response that lasts until the close."
}

impl Fault {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }

    /// The names of all, for the response to an unknown one.
    pub(crate) fn names() -> String {
        Self::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>().join(", ")
    }
}

pub(crate) const TRUNCATED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Content-Length: 1000\r\n\r\n{\"status\":\"ok\"}";

pub(crate) const BAD_LENGTH: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Content-Length: fifteen\r\n\r\n{\"status\":\"ok\"}";

pub(crate) const GARBAGE: &[u8] =
    b"\x16\x03\x01\x00\xff\xfe this is not HTTP at all\r\n\r\n\x00\x00";

pub(crate) const CHUNKED_BAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Transfer-Encoding: chunked\r\n\r\nfive\r\n{\"sta\r\n0\r\n\r\n";

pub(crate) const NO_LENGTH: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
    {\"status\":\"ok\"}";

/// Precedes the response of [`Fault::Interim`].
pub(crate) const EARLY_HINTS: &[u8] =
    b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n";

/// Begins the head of [`Fault::EndlessHeader`].
pub(crate) const ENDLESS_START: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// Goes on with it, over and over: 16 KiB of header lines, 64 bytes each.
pub(crate) static ENDLESS_BLOCK: [u8; 16 * 1024] = endless_block();

/// Bytes of [`Fault::EndlessHeader`] after which it gives up.
pub(crate) const ENDLESS_BYTES: u64 = 64 << 20;

const fn endless_block() -> [u8; 16 * 1024] {
    const LINE: &[u8; 64] = b"X-Endless: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
    let mut block = [0; 16 * 1024];
    let mut at = 0;
    while at < block.len() {
        block[at] = LINE[at % LINE.len()];
        at += 1;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        for fault in Fault::ALL {
            assert_eq!(Fault::named(fault.name()), Some(*fault));
        }
        assert_eq!(Fault::named("Reset"), None);
    }

    #[test]
    fn endless_lines_are_whole() {
        assert!(ENDLESS_BLOCK.ends_with(b"\r\n") && ENDLESS_BLOCK.starts_with(b"X-Endless"));
    }
}
