//! Which of some known names was likely meant by one that is none of them.

/// Names with more characters are not compared: how long a comparison takes is the product of both lengths.
const LONGEST: usize = 200;

/// The known name that is nearest to `written`, whatever the case of the letters, if at most one character and a third of
/// its characters differ, and not all of them.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = |name: &str| name.chars().take(LONGEST + 1).count();
    if length(written) > LONGEST {
        return None;
    }
    let written = written.to_lowercase();
    let near = known.into_iter().filter_map(|name| {
        let length = length(name);
        if length > LONGEST {
            return None;
        }
        let distance = strsim::damerau_levenshtein(&written, &name.to_lowercase());
        (distance <= 1 + length / 3 && distance < length).then_some((distance, name))
    });
    near.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_recognized() {
        let known = ["path", "method", "a", "success"];
        for (written, meant) in [
            ("pth", Some("path")),
            ("Path", Some("path")),
            ("methdo", Some("method")),
            ("sucess", Some("success")),
            ("latency", None),
            // All of `a` would differ.
            ("b", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
        assert_eq!(nearest("path", []), None);
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
}
