//! One request as it lies in a page: numbers of fixed length, then the texts.

use std::net::{IpAddr, Ipv6Addr};

/// Bytes of each text that are kept at most: method, target, host, referer, agent.
const LONGEST: [usize; TEXTS] = [32, 8192, 255, 1024, 512];
const TEXTS: usize = 5;
const NUMBERS: usize = 6;
/// Bytes before the texts.
const FIXED: usize = 8 * NUMBERS + 16 + 2 + 1 + 4 + 2 * TEXTS;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// When its head had been read, on the data path's clock.
    pub(crate) at_ns: u64,
    /// From then to the last byte of the response.
    pub(crate) took_ns: u64,
    /// Bytes of the request, head and body.
    pub(crate) bytes_in: u64,
    /// Bytes of the response, head and body.
    pub(crate) bytes_out: u64,
    /// Of these, bytes of its head, and of interim ones before it.
    pub(crate) head_out: u64,
    /// The number of its key, 0 for none.
    pub(crate) key: u64,
    /// Who asked.
    pub(crate) address: IpAddr,
    /// The status sent; 0 where the client left first.
    pub(crate) status: u16,
    /// HTTP/1.0 or 1.1.
    pub(crate) version_minor: u8,
    /// The number of its route, `u32::MAX` for none.
    pub(crate) route: u32,
    /// Method, target, host, referer, agent; empty where there is none.
    pub(crate) texts: [&'a [u8]; TEXTS],
}

impl<'a> Entry<'a> {
    /// Appends it. Texts are cut at their longest.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let Self { at_ns, took_ns, bytes_in, bytes_out, head_out, key, .. } = *self;
        for number in [at_ns, took_ns, bytes_in, bytes_out, head_out, key] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let address = match self.address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        out.extend_from_slice(&address.octets());
        out.extend_from_slice(&self.status.to_le_bytes());
        out.push(self.version_minor);
        out.extend_from_slice(&self.route.to_le_bytes());
        for (text, longest) in self.texts.iter().zip(LONGEST) {
            out.extend_from_slice(&(text.len().min(longest) as u16).to_le_bytes());
        }
        for (text, longest) in self.texts.iter().zip(LONGEST) {
            out.extend_from_slice(&text[..text.len().min(longest)]);
        }
    }

    /// Bytes that [`Self::write`] appends.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.texts.iter().zip(LONGEST).map(|(text, longest)| text.len().min(longest));
        FIXED + texts.sum::<usize>()
    }

    /// Takes the next entry of a page; `None` at its end.
    pub(crate) fn read(page: &mut &'a [u8]) -> Option<Self> {
        let mut numbers = [0; NUMBERS];
        for number in &mut numbers {
            *number = u64::from_le_bytes(array(page)?);
        }
        let address = IpAddr::V6(Ipv6Addr::from(array::<16>(page)?)).to_canonical();
        let status = u16::from_le_bytes(array(page)?);
        let [version_minor] = array(page)?;
        let route = u32::from_le_bytes(array(page)?);
        let mut lengths = [0; TEXTS];
        for length in &mut lengths {
            *length = usize::from(u16::from_le_bytes(array(page)?));
        }
        let mut texts: [&[u8]; TEXTS] = [&[]; TEXTS];
        for (text, length) in texts.iter_mut().zip(lengths) {
            (*text, *page) = page.split_at_checked(length)?;
        }
        let [at_ns, took_ns, bytes_in, bytes_out, head_out, key] = numbers;
        Some(Self {
            at_ns,
            took_ns,
            bytes_in,
            bytes_out,
            head_out,
            key,
            address,
            status,
            version_minor,
            route,
            texts,
        })
    }
}

fn array<const N: usize>(page: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = page.split_first_chunk()?;
    *page = rest;
    Some(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were_written() {
        let long = vec![b'x'; 10_000];
        let one = Entry {
            at_ns: 1,
            took_ns: u64::MAX,
            bytes_in: 3,
            bytes_out: 4,
            head_out: 2,
            key: 5,
            address: "192.0.2.1".parse().unwrap(),
            status: 200,
            version_minor: 1,
            route: 7,
            texts: [b"GET", b"/a?b", b"h", b"", b"agent"],
        };
        let other = Entry {
            address: "2001:db8::1".parse().unwrap(),
            texts: [b"", &long, b"", b"r", b""],
            ..one
        };
        let mut page = Vec::new();
        one.write(&mut page);
        assert_eq!(page.len(), one.bytes());
        other.write(&mut page);
        assert_eq!(page.len(), one.bytes() + other.bytes());
        let mut rest = page.as_slice();
        assert_eq!(Entry::read(&mut rest), Some(one));
        let cut = Entry { texts: [b"", &long[..8192], b"", b"r", b""], ..other };
        assert_eq!(Entry::read(&mut rest), Some(cut));
        assert_eq!(Entry::read(&mut rest), None);
    }
}
