//! Methods that were mistyped.

/// Methods that somebody who mistyped one may have meant. No other registered one (RFC 9110 section 16.1) is one slip away
/// from these.
const COMMON: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"];

/// The common method that `method` differs from by one slip (a letter that is wrong, missing or too many, or two in the
/// wrong order), or by case; none where it is a common one itself, or far from all. Servers may know others: it is no
/// reason to refuse one.
pub fn meant_method(method: &str) -> Option<&'static str> {
    if COMMON.contains(&method) {
        return None;
    }
    let upper = method.to_ascii_uppercase();
    let is_near =
        |common: &&str| upper == **common || is_one_slip(upper.as_bytes(), common.as_bytes());
    COMMON.into_iter().find(is_near)
}

fn is_one_slip(written: &[u8], meant: &[u8]) -> bool {
    let alike = written.iter().zip(meant).take_while(|(a, b)| a == b).count();
    match (&written[alike..], &meant[alike..]) {
        ([a, b, rest @ ..], [c, d, others @ ..]) if (a, b, rest) == (d, c, others) => true,
        ([_, rest @ ..], [_, others @ ..]) if rest == others => true,
        ([_, rest @ ..], whole) if rest == whole => true,
        (whole, [_, others @ ..]) => whole == others,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter_or_the_order_of_two() {
        for (wrong, meant) in [
            ("GTE", "GET"),
            ("GWT", "GET"),
            ("GETT", "GET"),
            ("ET", "GET"),
            ("PSOT", "POST"),
            ("POS", "POST"),
            ("DELTE", "DELETE"),
            ("OPTION", "OPTIONS"),
            ("get", "GET"),
            ("pots", "POST"),
        ] {
            assert_eq!(meant_method(wrong), Some(meant), "{wrong}");
        }
    }

    #[test]
    fn no_other_method_is_taken_for_a_slip() {
        let others = [
            "ACL",
            "BIND",
            "CHECKIN",
            "CONNECT",
            "COPY",
            "LABEL",
            "LINK",
            "LOCK",
            "MERGE",
            "MKCOL",
            "MOVE",
            "PRI",
            "PROPPATCH",
            "REPORT",
            "SEARCH",
            "TRACE",
            "UNLINK",
            "UPDATE",
            "M-SEARCH",
            "NOTIFY",
            "PURGE",
            "BREW",
            "",
        ];
        for method in COMMON.into_iter().chain(others) {
            assert_eq!(meant_method(method), None, "{method}");
        }
    }
}
