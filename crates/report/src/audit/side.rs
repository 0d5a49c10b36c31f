//! Files of the same load side by side.

use verdict::audit::Audit;
use verdict::audit::side::Group;
use verdict::figures::{counted, times};

use super::{NAME, in_flight, indented, mean, missing};
use crate::figure::{clean, clean_end, level, rate, share, wrap};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone};

/// Longest a file's name is shown in the table: its end, which is what files of one folder differ in.
const SHORT: usize = 30;

pub(super) fn group(audit: &Audit, group: &Group, style: Style) -> String {
    let target = group.target.as_ref().map_or_else(|| "one target".to_owned(), |t| clean(t, NAME));
    let head = format!("Side by side: {target}, {}", counted(group.connections, "connection"));
    let mut grid = Grid::new([Lean::Left, Lean::Left].into_iter().chain([Lean::Right; 5]));
    grid.row(["file", "tool", "QPS", "of highest", "mean", "in flight", "success"]);
    for standing in &group.standings {
        let file = &audit.files[standing.file];
        let row = &file.claims.rows[standing.row];
        grid.row([
            clean_end(&file.name, SHORT),
            file.claims.tool.name().to_owned(),
            rate(row.qps),
            times(standing.qps_ratio),
            mean(row),
            in_flight(row, |n| if n < 1.0 { format!("{n:.2}") } else { level(n.round()) }),
            row.success.map_or_else(missing, share),
        ]);
    }
    let head = wrap(&head, style.columns).join("\n");
    let mut out = style.paint(Tone::Strong, &head) + "\n";
    out += &grid.rows(style.columns).into_iter().map(|row| row + "\n").collect::<String>();
    out.push('\n');
    for standing in &group.standings {
        let file = &audit.files[standing.file];
        let row = &file.claims.rows[standing.row];
        if group.assumed && row.target.is_none() {
            let name = clean_end(&file.name, SHORT);
            let what = "names no target and no connections: with -c it is taken to be of this load";
            out += &indented(&format!("{name} {what}."), 2, style);
        }
    }
    let mut agree = true;
    for standing in &group.standings {
        if let Some(why) = &standing.why {
            agree = false;
            let name = clean_end(&audit.files[standing.file].name, SHORT);
            out += &indented(&format!("{name} has {why}."), 2, style);
        }
    }
    let advice = match agree {
        true => "They agree: none is more than 10 % below the highest.",
        false => "Check that it was the same server, at the same time of day, and otherwise idle.",
    };
    out + &indented(advice, 2, style)
}
