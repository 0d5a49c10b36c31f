//! Which of some known names was likely meant by one that is not known.

/// Names with more characters are not compared: how long a comparison takes is the product of both lengths.
const LONGEST: usize = 200;
/// Methods that somebody who mistyped one may have meant. No other registered one (RFC 9110 section 16.1) is one typo away
/// from these.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"];

/// The known name that is nearest to `written`, whatever the case of the letters, if at most one character and a third of
/// its characters differ, and less than half of them. Never `written` itself.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = |name: &str| name.chars().take(LONGEST + 1).count();
    if length(written) > LONGEST {
        return None;
    }
    let lower = written.to_lowercase();
    let near = known.into_iter().filter(|name| *name != written).filter_map(|name| {
        let length = length(name);
        if length > LONGEST {
            return None;
        }
        let distance = strsim::damerau_levenshtein(&lower, &name.to_lowercase());
        (distance <= 1 + length / 3 && 2 * distance < length).then_some((distance, name))
    });
    near.min().map(|(_, name)| name)
}

/// Whether two names differ by one typo at most: a letter that is wrong, missing or too many, or two in the wrong order.
pub fn differ_by_a_typo(one: &str, other: &str) -> bool {
    let [length, other_length] = [one, other].map(|name| name.chars().count());
    length <= LONGEST
        && length.abs_diff(other_length) <= 1
        && strsim::damerau_levenshtein(one, other) <= 1
}

/// The common method that `method` differs from by one typo, or by case; `None` where it is a common one itself, or far from
/// all. Servers may know others: it is no reason to refuse one.
pub fn meant_method(method: &str) -> Option<&'static str> {
    if METHODS.contains(&method) {
        return None;
    }
    let upper = method.to_ascii_uppercase();
    METHODS.into_iter().find(|common| differ_by_a_typo(&upper, common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_recognized() {
        let known = ["path", "method", "a", "success", "shared"];
        for (written, meant) in [
            ("pth", Some("path")),
            ("Path", Some("path")),
            ("path", None),
            ("methdo", Some("method")),
            ("sucess", Some("success")),
            ("latency", None),
            ("sharde", Some("shared")),
            // Half of `shared` would differ, and all of `a`.
            ("stores", None),
            ("b", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
        assert_eq!(nearest("pth", []), None);
    }

    /// Two names of 100,000 characters would take minutes.
    #[test]
    fn long_names_are_not_compared() {
        let long = "x".repeat(100_000);
        assert_eq!(nearest(&long[1..], [long.as_str()]), None);
        assert_eq!(nearest(&long, ["path"]), None);
        let longest = "x".repeat(LONGEST);
        assert_eq!(nearest(&longest[1..], [longest.as_str()]), Some(longest.as_str()));
    }

    #[test]
    fn a_typo_is_one_letter_or_the_order_of_two() {
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
        assert!(!differ_by_a_typo(&"x".repeat(100_000), &"x".repeat(100_001)));
    }

    #[test]
    fn no_other_method_is_taken_for_a_typo() {
        let others = "ACL BIND CHECKIN CONNECT COPY LABEL LINK LOCK MERGE MKCOL MOVE PRI PROPPATCH REPORT SEARCH TRACE UNLINK \
                      UPDATE M-SEARCH NOTIFY PURGE BREW";
        for method in METHODS.into_iter().chain(others.split(' ')).chain([""]) {
            assert_eq!(meant_method(method), None, "{method}");
        }
    }
}
