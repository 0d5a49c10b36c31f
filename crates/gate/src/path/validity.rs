//! When a certificate ends: a field of X.509 (RFC 5280 section 4.1.2.5) that the library for TLS keeps to itself.

use crate::limits::day_begins_s;

/// Tags of DER: an explicit version, and the two ways to write a time.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The last second of a certificate in DER, since the epoch; `None` where that cannot be read.
pub(super) fn ends_s(der: &[u8]) -> Option<i64> {
    let (_, certificate, _) = element(der)?;
    let (_, signed, _) = element(certificate)?;
    let (tag, _, behind) = element(signed)?;
    let mut rest = if tag == VERSION { behind } else { signed };
    // Serial number, algorithm and issuer.
    for _ in 0..3 {
        (_, _, rest) = element(rest)?;
    }
    let (_, validity, _) = element(rest)?;
    let (_, _, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    instant(tag, text)
}

/// Tag and content of the first element of DER, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // So many bytes hold the length.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Of `YYMMDDhhmmssZ`, of the years 1950 to 2049, or `YYYYMMDDhhmmssZ`.
fn instant(tag: u8, text: &[u8]) -> Option<i64> {
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = number(text, 2)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => number(text, 4)?,
        _ => return None,
    };
    let (month, rest) = number(rest, 2)?;
    let (day, rest) = number(rest, 2)?;
    let (hours, rest) = number(rest, 2)?;
    let (minutes, rest) = number(rest, 2)?;
    let (seconds, _) = number(rest, 2)?;
    Some(day_begins_s(year, month, day) + hours * 3600 + minutes * 60 + seconds)
}

/// The number that so many digits are, and what follows them.
fn number(text: &[u8], digits: usize) -> Option<(i64, &[u8])> {
    let (digits, rest) = text.split_at_checked(digits)?;
    Some((str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read() {
        for ((year, month, day), expected) in
            [((2020, 1, 1), 1_577_836_800), ((2060, 2, 29), 2_845_238_400)]
        {
            let mut params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
            params.not_after = rcgen::date_time_ymd(year, month, day);
            let made = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
            let der: &[u8] = made.der();
            assert_eq!(ends_s(der), Some(expected));
            // Cut short, nothing is read, and nothing panics.
            assert!((0..der.len()).all(|cut| ends_s(&der[..cut]).is_none()));
        }
        assert_eq!(ends_s(b"\x30\x80"), None);
    }
}
