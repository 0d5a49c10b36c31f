//! A claim: the promise and the result. Tests print claims as lines that [`read`] finds among their
//! output:
//!
//! ```text
//! truth | claim | reach | got | yes
//! ```
//!
//! with `yes`, `no`, or `-` where a figure is printed for information.

use crate::table::aligned;

#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub claim: String,
    pub reach: String,
    pub got: String,
    /// `None` where nothing is promised.
    pub met: Option<bool>,
}

/// The claims among a program's output. A line that begins like a claim and is malformed counts as a
/// claim not met.
pub fn read(output: &str) -> Vec<Claim> {
    output
        .lines()
        .filter_map(|line| line.split_once("truth | ").map(|(_, rest)| one(rest)))
        .collect()
}

fn one(line: &str) -> Claim {
    let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
    match cells.as_slice() {
        [claim, reach, got, met @ ("yes" | "no" | "-")] => Claim {
            claim: (*claim).to_owned(),
            reach: (*reach).to_owned(),
            got: (*got).to_owned(),
            met: (*met != "-").then_some(*met == "yes"),
        },
        _ => Claim {
            claim: line.to_owned(),
            reach: "a line of four cells, the last yes, no or -".into(),
            got: format!("{} cells", cells.len()),
            met: Some(false),
        },
    }
}

/// The claims as aligned text.
pub fn table(claims: &[Claim]) -> String {
    let rows = claims.iter().map(|claim| {
        let met = claim.met.map_or("-", |met| if met { "yes" } else { "NO" });
        [claim.claim.clone(), claim.reach.clone(), claim.got.clone(), met.to_owned()]
    });
    aligned(["claim", "required", "measured", "met"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_found_among_other_lines() {
        let output = "running 1 test\ntest a ... truth | A/A | <= 6.5 % | 4.9 % | yes\nok\n\
                      truth | power at 2 % | for information | 31 % | -\ntruth | torn\n";
        let claims = read(output);
        assert_eq!(claims.len(), 3);
        assert_eq!((claims[0].claim.as_str(), claims[0].met), ("A/A", Some(true)));
        assert_eq!((claims[1].got.as_str(), claims[1].met), ("31 %", None));
        assert_eq!(claims[2].met, Some(false));
    }

    #[test]
    fn the_table_shows_what_is_not_met() {
        let text = table(&read("truth | a | <= 1 | 2 | no\n"));
        assert!(text.lines().nth(1).unwrap().ends_with("NO"), "{text}");
    }
}
