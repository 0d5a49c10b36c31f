//! The flame graph of a profile: a rectangle for each function in a stack, as wide as its share, callers below callees.
//! It is a whole picture without scripts; the page's script adds zoom, search, the keyboard and the icicle.

use maud::{Markup, html};
use model::profiled::{Flame, Owner};

use crate::figure::{clean, share};

/// Width of the picture.
const WIDTH: f64 = 1200.0;
/// Height of a row.
const ROW: f64 = 17.0;
/// Width of a character of a label, about.
const CHARACTER: f64 = 6.3;

/// The class that colours an owner's frames.
pub(crate) fn class(owner: Owner) -> &'static str {
    match owner {
        Owner::Own => "own",
        Owner::Framework => "framework",
        Owner::Dependency => "dependency",
        Owner::StandardLibrary => "standard",
        Owner::Runtime => "runtime",
    }
}

/// The picture; `amount` writes a value in the reader's unit.
pub(crate) fn flame(flame: &Flame, amount: &dyn Fn(i64) -> String) -> Markup {
    let total = flame.total.max(1) as f64;
    let depth = flame.frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
    let height = f64::from(depth) * ROW;
    html! {
        figure.flame data-flame="" {
            div.flame-tools hidden {
                label { "Search " input type="search" data-flame-search="" placeholder="part of a name"; }
                button type="button" data-flame-turn="" aria-pressed="false" { "Icicle" }
                button type="button" data-flame-reset="" { "Whole" }
            }
            p.legend {
                @for owner in Owner::ALL { span class=(class(owner)) { (owner.name()) } " " }
            }
            svg viewBox=(format!("0 0 {WIDTH} {height:.0}")) role="img" aria-label="Flame graph" data-height=(height) {
                @for frame in &flame.frames {
                    @let (x, width) = (frame.start as f64 / total * WIDTH, frame.value as f64 / total * WIDTH);
                    @let y = height - f64::from(frame.depth + 1) * ROW;
                    @let name = clean(&frame.name, 300);
                    g class=(class(frame.owner)) data-x=(format!("{x:.3}")) data-w=(format!("{width:.3}")) data-d=(frame.depth) {
                        title { (name) " · " (amount(frame.value)) " · " (share(frame.value as f64 / total)) }
                        rect x=(format!("{x:.2}")) y=(format!("{y:.0}")) width=(format!("{:.2}", (width - 0.4).max(0.2))) height="16" rx="1" {}
                        @if let Some(label) = label(&name, width) {
                            text x=(format!("{:.2}", x + 3.0)) y=(format!("{:.0}", y + 12.0)) { (label) }
                        }
                    }
                }
            }
            p.readout.soft aria-live="polite" data-flame-readout="" {
                "Each function is as wide as its share of " (amount(flame.total)) "; callers stand below those they call."
            }
        }
    }
}

/// As much of a name as fits: its end says most.
fn label(name: &str, width: f64) -> Option<String> {
    let room = ((width - 6.0) / CHARACTER) as usize;
    if room < 3 {
        return None;
    }
    let plain = name.split('[').next().unwrap_or(name);
    let short = &name[plain.rfind('/').map_or(0, |at| at + 1)..];
    if short.chars().count() <= room {
        return Some(short.to_owned());
    }
    let cut: String = short.chars().take(room - 1).collect();
    Some(format!("{cut}…"))
}

#[cfg(test)]
mod tests {
    use model::profiled::FlameFrame;

    use super::*;

    fn frame(name: &str, depth: u32, start: i64, value: i64) -> FlameFrame {
        FlameFrame { name: name.into(), owner: Owner::Own, depth, start, value }
    }

    #[test]
    fn frames_are_as_wide_as_their_share() {
        let frames = vec![frame("main.main", 0, 0, 100), frame("main.<work>", 1, 25, 50)];
        let svg = flame(&Flame { total: 100, frames }, &|value| value.to_string()).into_string();
        assert!(svg.contains("viewBox=\"0 0 1200 34\""), "{svg}");
        assert!(svg.contains("x=\"300.00\" y=\"0\" width=\"599.60\""), "{svg}");
        assert!(svg.contains("main.&lt;work&gt; · 50 · 50.00 %"), "{svg}");
    }

    #[test]
    fn labels_fit() {
        assert_eq!(label("a/b.c", 100.0).as_deref(), Some("b.c"));
        assert_eq!(label("main.handler", 40.0).as_deref(), Some("main…"));
        assert_eq!(label("main.handler", 20.0), None);
    }
}
