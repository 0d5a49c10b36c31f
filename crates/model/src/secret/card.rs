//! Numbers of payment cards, by their length, what they begin with, and their check digit.

/// Whether a whole value is the number of a payment card, perhaps with blanks or hyphens between groups: an issuer's range
/// (ISO/IEC 7812) and a check digit that is right. Of other numbers of these lengths one in fifty is taken for one. Visa's of
/// 13 digits do not count: none is valid any more, and numbers of goods (EAN-13) look the same.
pub fn is_card_number(value: &str) -> bool {
    const LONGEST_WRITTEN: usize = 23;
    let begins = value.starts_with(|c: char| c.is_ascii_digit());
    if !begins || !(14..=LONGEST_WRITTEN).contains(&value.len()) {
        return false;
    }
    let is_sign = |byte: &u8| matches!(byte, b' ' | b'-');
    let digits: Vec<u8> = value.bytes().filter(|byte| !is_sign(byte)).collect();
    digits.iter().all(u8::is_ascii_digit) && is_issued(&digits) && is_checked(&digits)
}

/// Whether an issuer gives out numbers of this length that begin so.
fn is_issued(digits: &[u8]) -> bool {
    let Some(first) = digits.get(..4) else { return false };
    let first = first.iter().fold(0_u32, |n, digit| n * 10 + u32::from(digit - b'0'));
    // Diners Club; American Express; Mastercard; Visa; JCB, Discover and UnionPay.
    matches!(
        (digits.len(), first),
        (14, 3000..=3059 | 3095 | 3600..=3699 | 3800..=3999)
            | (15, 3400..=3499 | 3700..=3799)
            | (16, 2221..=2720 | 5100..=5599)
            | (16 | 19, 4000..=4999)
            | (16..=19, 3528..=3589 | 6011 | 6200..=6299 | 6440..=6599)
    )
}

/// Whether the last digit checks the others, by Luhn's formula (ISO/IEC 7812-1, annex B).
fn is_checked(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(digit - b'0') * (1 + at as u32 % 2);
            digit / 10 + digit % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cards_are_told_from_other_numbers() {
        for card in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "5555-5555-5555-4444",
            "2223003122003222",
            "378282246310005",
            "30569309025904",
            "3530111333300000",
            "6011111111111117",
        ] {
            assert!(is_card_number(card), "{card}");
        }
        for other in [
            "",
            "4111111111111112",
            "1111111111111117",
            "1795428000000000",
            "20261123100000",
            "4006381333931",
            "4111111111111111x",
            "0.4111111111111111",
            "41111111",
            "é111111111111111",
        ] {
            assert!(!is_card_number(other), "{other}");
        }
    }
}
