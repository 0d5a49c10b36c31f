//! Files of the same load side by side.

use model::units::show_duration;
use verdict::audit::Audit;
use verdict::audit::side::Group;
use verdict::figures::times;

use super::{NAME, indented, missing};
use crate::figure::{clean, level, rate, share, wrap};
use crate::grid::{Grid, Lean};
use crate::text::{COLUMNS, Style, Tone};

/// Longest a file's name is shown in the table.
const SHORT: usize = 30;

pub(super) fn group(audit: &Audit, group: &Group, style: Style) -> String {
    let target = group.target.as_ref().map_or_else(|| "one target".to_owned(), |t| clean(t, NAME));
    let head = format!("Side by side: {target}, {} connections", level(group.connections));
    let mut grid = Grid::new([Lean::Left, Lean::Left].into_iter().chain([Lean::Right; 5]));
    grid.row(["file", "tool", "QPS", "of highest", "mean", "in flight", "success"]);
    for standing in &group.standings {
        let file = &audit.files[standing.file];
        let row = &file.claims.rows[standing.row];
        grid.row([
            clean(&file.name, SHORT),
            file.claims.tool.name().to_owned(),
            rate(row.qps),
            times(standing.qps_ratio),
            row.mean_ns.map_or_else(missing, show_duration),
            row.in_flight().map_or_else(missing, |n| level(n.round())),
            row.success.map_or_else(missing, share),
        ]);
    }
    let head = wrap(&head, COLUMNS).join("\n");
    let mut out = style.paint(Tone::Strong, &head) + "\n" + &grid.print() + "\n";
    let mut agree = true;
    for standing in &group.standings {
        if let Some(why) = &standing.why {
            agree = false;
            let name = clean(&audit.files[standing.file].name, SHORT);
            out += &indented(&format!("{name} has {why}."), 2);
        }
    }
    if agree {
        out += "  They agree: none is more than 10 % below the highest.\n";
    } else {
        out +=
            "  Check that it was the same server, at the same time of day, and otherwise idle.\n";
    }
    out
}
