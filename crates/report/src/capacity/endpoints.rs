//! What was wanted of each endpoint against what was found at the capacity, and how it answers today.

use model::loadline::{EndpointShare, LoadLine};
use model::units::{Nanos, show_duration};

use crate::figure::{counted, rate, share, short_names};
use crate::grid::Grid;
use crate::text::Style;

/// Endpoints printed at most; the page has all.
const MOST: usize = 10;
/// Widest name.
const NAME: usize = 34;

/// The columns of the page's table.
pub(crate) const COLUMNS: [&str; 9] =
    ["endpoint", "share", "cost", "wanted", "found", "p50", "p50 today", "p99", "p99 today"];

/// Whether there is something to set the endpoints against: a target, or how they answer today.
pub(crate) fn has_target(line: &LoadLine) -> bool {
    line.endpoints.iter().any(|one| one.wanted_per_s.is_some() || one.today.is_some())
}

/// What stands in the columns after the name.
pub(crate) fn cells(one: &EndpointShare) -> [String; 8] {
    let per_s = |value: Option<f64>| value.map_or_else(none, |value| format!("{}/s", rate(value)));
    let time = |value: Option<Nanos>| value.map_or_else(none, show_duration);
    let today = one.today.unwrap_or_default();
    [
        share(one.share),
        format!("{:.2}", one.cost),
        per_s(one.wanted_per_s),
        per_s(Some(one.requests_per_s)),
        time(one.response_ns.map(|response| response.p50)),
        time(today.p50_ns),
        time(one.response_ns.map(|response| response.p99)),
        time(today.p99_ns),
    ]
}

fn none() -> String {
    "-".to_owned()
}

/// The table for a terminal: the endpoints with the largest shares; nothing where there is no target.
pub(super) fn text(line: &LoadLine, style: Style) -> Option<String> {
    if !has_target(line) {
        return None;
    }
    let mut endpoints: Vec<&EndpointShare> = line.endpoints.iter().collect();
    endpoints.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut grid = Grid::named(4);
    grid.row(["endpoint", "wanted", "found", "p99", "today"]);
    let shown = &endpoints[..MOST.min(endpoints.len())];
    let names: Vec<&str> = shown.iter().map(|one| one.endpoint.as_str()).collect();
    for (name, one) in short_names(&names, NAME).into_iter().zip(shown) {
        let [_, _, wanted, found, _, _, p99, today] = cells(one);
        grid.row([name, wanted, found, p99, today]);
    }
    let mut out = grid.print_headed(style);
    if let Some(more) = endpoints.len().checked_sub(MOST).filter(|&more| more > 0) {
        out += &format!("and {}, on the page\n", counted(more as u64, "more endpoint"));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use model::plan::Today;
    use model::units::MILLISECOND;

    use super::*;
    use crate::sample;

    #[test]
    fn what_was_wanted_stands_beside_what_was_found() {
        let mut line = sample::search().0.load_line.unwrap();
        assert_eq!(text(&line, Style::default()), None);
        let one = &mut line.endpoints[0];
        one.endpoint = "GET /users/{id}".into();
        one.wanted_per_s = Some(100.0);
        one.requests_per_s = 2500.0;
        one.today = Some(Today { p50_ns: None, p99_ns: Some(12 * MILLISECOND) });
        let printed = text(&line, Style::default()).unwrap();
        let row = printed.lines().nth(1).unwrap();
        for cell in ["GET /users/{id}", "100/s", "2,500/s", "12.0ms"] {
            assert!(row.contains(cell), "{cell}: {row}");
        }
        assert!(printed.lines().all(|line| line.len() <= 80), "{printed}");
    }

    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let mut line = sample::search().0.load_line.unwrap();
        line.endpoints[0].wanted_per_s = Some(100.0);
        let one = line.endpoints[0].clone();
        let named = |kind: &str| EndpointShare {
            endpoint: format!("GET /api/v1/organizations/{{id}}/departments/{kind}"),
            ..one.clone()
        };
        line.endpoints = vec![named("items"), named("notes")];
        let printed = text(&line, Style::default()).unwrap();
        assert!(printed.contains("/items ") && printed.contains("/notes "), "{printed}");
    }
}
