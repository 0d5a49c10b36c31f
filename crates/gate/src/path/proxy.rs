//! The PROXY protocol, versions 1 and 2: the client's address, as a load balancer in front of the gateway sends it.
//!
//! Owns the bytes before the first request. Pure: bytes in, an address or a fault out. Only listeners that are configured
//! for it read it, and they require it: if it were optional, any client could forge it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What version 2 begins with.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, its CR LF included.
const LINE_BYTES: usize = 107;
/// The longest header of version 2 that is taken, TLVs included.
const HEADER_BYTES: usize = 2048;

/// The bytes of the header so far.
#[derive(Debug, Default)]
pub(super) struct Preface {
    bytes: Vec<u8>,
}

/// A complete header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// The client's address.
    Address(IpAddr),
    /// Nothing (`LOCAL`, `UNKNOWN`): the peer itself asks, such as for a health check.
    Nothing,
}

/// The bytes are no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

impl Preface {
    /// Takes bytes until the header is complete, and leaves those behind it in `input`.
    ///
    /// # Errors
    /// [`Malformed`].
    pub(super) fn read(&mut self, input: &mut &[u8]) -> Result<Option<Said>, Malformed> {
        while let Some((&byte, rest)) = input.split_first() {
            self.bytes.push(byte);
            *input = rest;
            if let Some(said) = self.complete()? {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }

    fn complete(&self) -> Result<Option<Said>, Malformed> {
        let bytes = &self.bytes[..];
        let common = bytes.len().min(SIGNATURE.len());
        if bytes[..common] == SIGNATURE[..common] {
            return if bytes.len() < 16 { Ok(None) } else { version_2(bytes) };
        }
        let common = bytes.len().min(6);
        if bytes[..common] != b"PROXY "[..common] || bytes.len() > LINE_BYTES {
            return Err(Malformed);
        }
        match bytes.strip_suffix(b"\r\n") {
            Some(line) => version_1(line).map(Some),
            None if bytes.contains(&b'\n') || bytes.len() == LINE_BYTES => Err(Malformed),
            None => Ok(None),
        }
    }
}

fn version_1(line: &[u8]) -> Result<Said, Malformed> {
    let line = str::from_utf8(line).map_err(|_| Malformed)?;
    let words: Vec<&str> = line.split(' ').collect();
    let port = |text: &str| {
        text.parse::<u16>().is_ok_and(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match words[..] {
        ["PROXY", "UNKNOWN", ..] => Ok(Said::Nothing),
        ["PROXY", family @ ("TCP4" | "TCP6"), from, to, from_port, to_port] => {
            let parsed = |text: &str| text.parse::<IpAddr>().map_err(|_| Malformed);
            let (from, to) = (parsed(from)?, parsed(to)?);
            let right = if family == "TCP4" {
                from.is_ipv4() && to.is_ipv4()
            } else {
                from.is_ipv6() && to.is_ipv6()
            };
            if right && port(from_port) && port(to_port) {
                Ok(Said::Address(from))
            } else {
                Err(Malformed)
            }
        }
        _ => Err(Malformed),
    }
}

fn version_2(bytes: &[u8]) -> Result<Option<Said>, Malformed> {
    let (version, family) = (bytes[12], bytes[13]);
    let length = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
    if version >> 4 != 2 || version & 0xf > 1 || 16 + length > HEADER_BYTES {
        return Err(Malformed);
    }
    if bytes.len() < 16 + length {
        return Ok(None);
    }
    let addresses = &bytes[16..];
    let said = match (version & 0xf, family) {
        (0, _) | (1, 0x00) => Said::Nothing,
        (1, 0x11) if length >= 12 => {
            let from: [u8; 4] = addresses[..4].try_into().map_err(|_| Malformed)?;
            Said::Address(Ipv4Addr::from(from).into())
        }
        (1, 0x21) if length >= 36 => {
            let from: [u8; 16] = addresses[..16].try_into().map_err(|_| Malformed)?;
            Said::Address(Ipv6Addr::from(from).into())
        }
        _ => return Err(Malformed),
    };
    Ok(Some(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result, and how many bytes were left; the same however the bytes are cut.
    fn read(bytes: &[u8]) -> Result<Option<(Said, usize)>, Malformed> {
        let mut input = bytes;
        let whole =
            Preface::default().read(&mut input).map(|said| said.map(|said| (said, input.len())));
        let mut preface = Preface::default();
        for (at, byte) in bytes.iter().enumerate() {
            let mut one = std::slice::from_ref(byte);
            match preface.read(&mut one) {
                Ok(None) => {}
                Ok(Some(said)) => {
                    assert_eq!(whole, Ok(Some((said, bytes.len() - at - 1))));
                    return whole;
                }
                Err(error) => {
                    assert_eq!(whole, Err(error));
                    return whole;
                }
            }
        }
        assert_eq!(whole, Ok(None));
        whole
    }

    #[test]
    fn lines_of_version_1() {
        let v4 = Said::Address("192.0.2.1".parse().unwrap());
        assert_eq!(read(b"PROXY TCP4 192.0.2.1 192.0.2.2 5 80\r\nGET"), Ok(Some((v4, 3))));
        let v6 = Said::Address("::1".parse().unwrap());
        assert_eq!(read(b"PROXY TCP6 ::1 ::2 5 80\r\n"), Ok(Some((v6, 0))));
        assert_eq!(read(b"PROXY UNKNOWN\r\n"), Ok(Some((Said::Nothing, 0))));
        assert_eq!(read(b"PROXY TCP4 1.2.3"), Ok(None));
        for bad in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"PROXY TCP4 ::1 ::2 5 80\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 x 80\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 5 80 6\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 5 80\n",
            b"PROXY TCP5 1.2.3.4 1.2.3.4 5 80\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 5 70000\r\n",
            b"PROXY  TCP4 1.2.3.4 1.2.3.4 5 80\r\n",
        ] {
            assert_eq!(read(bad), Err(Malformed), "{}", bad.escape_ascii());
        }
        let long = [b"PROXY UNKNOWN ".as_slice(), &[b'x'; 200]].concat();
        assert_eq!(read(&long), Err(Malformed));
    }

    #[test]
    fn headers_of_version_2() {
        let of = |command: u8, family: u8, payload: &[u8]| {
            let length = (payload.len() as u16).to_be_bytes();
            [SIGNATURE.as_slice(), &[command, family], &length, payload, b"GET"].concat()
        };
        let v4 = [192, 0, 2, 1, 192, 0, 2, 2, 0, 5, 0, 80];
        let said = Said::Address("192.0.2.1".parse().unwrap());
        assert_eq!(read(&of(0x21, 0x11, &v4)), Ok(Some((said, 3))));
        assert_eq!(read(&of(0x21, 0x11, &[&v4[..], &[4, 0, 1, 9]].concat())), Ok(Some((said, 3))));
        let mut v6 = [0; 36];
        v6[15] = 1;
        let said = Said::Address("::1".parse().unwrap());
        assert_eq!(read(&of(0x21, 0x21, &v6)), Ok(Some((said, 3))));
        assert_eq!(read(&of(0x20, 0x00, &[])), Ok(Some((Said::Nothing, 3))));
        for (command, family, payload) in
            [(0x11, 0x11, &v4[..]), (0x22, 0x11, &v4), (0x21, 0x11, &v4[..8]), (0x21, 0x31, &v6)]
        {
            assert_eq!(read(&of(command, family, payload)), Err(Malformed));
        }
        assert_eq!(read(&of(0x21, 0x11, &[0; 3000])), Err(Malformed));
    }
}
