//! The flame graph of a profile: a rectangle for each function in a stack, as wide as its share, callers below callees.
//! It is a whole picture without scripts; the page's script adds zoom, search, the keyboard and the icicle. Of two profiles,
//! what costs more now is red and what costs less is blue, the deeper the larger the part of it that changed.

use maud::{Markup, html};
use model::profiled::{Flame, FlameFrame, FrameChange, Owner};

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

/// What of a frame is coloured, and named in the legend: whose it is, or what became of it.
const CHANGES: [(&str, &str); 3] =
    [("grew", "costs more now"), ("shrank", "costs less now"), ("unsure", "no more than chance")];

/// The class of a frame that was compared, and how deep its colour is.
fn change_class(change: FrameChange) -> (&'static str, f64) {
    if !change.sure {
        return ("unsure", 1.0);
    }
    let larger = change.before.max(change.after).max(1) as f64;
    let part = (change.after - change.before).abs() as f64 / larger;
    // A tenth is seen as well as all of it.
    (if change.after > change.before { "grew" } else { "shrank" }, 0.25 + 0.75 * part)
}

/// A frame's class, the depth of its colour, and its text.
fn appearance(
    frame: &FlameFrame,
    total: f64,
    amount: &dyn Fn(i64) -> String,
) -> (&'static str, f64, String) {
    match frame.change {
        Some(change) => {
            let (class, depth) = change_class(change);
            let (before, after) = (amount(change.before), amount(change.after));
            (class, depth, format!("{before} before, {after} after"))
        }
        None => {
            let part = share(frame.value as f64 / total);
            (class(frame.owner), 1.0, format!("{} · {part}", amount(frame.value)))
        }
    }
}

/// The picture; `amount` writes a value in the reader's unit.
pub(crate) fn flame(flame: &Flame, amount: &dyn Fn(i64) -> String) -> Markup {
    let compared = flame.frames.first().is_some_and(|frame| frame.change.is_some());
    let legend = match compared {
        true => CHANGES.to_vec(),
        false => Owner::ALL.iter().map(|owner| (class(*owner), owner.name())).collect(),
    };
    let whole = match compared {
        true => "Each stack is as wide as the larger of its costs before and after".to_owned(),
        false => format!("Each function is as wide as its share of {}", amount(flame.total)),
    };
    let total = flame.total.max(1) as f64;
    let depth = flame.frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
    let height = f64::from(depth) * ROW;
    html! {
        figure.flame.changed[compared] data-flame="" {
            div.flame-tools hidden {
                label { "Search " input type="search" data-flame-search="" placeholder="part of a name"; }
                button type="button" data-flame-turn="" aria-pressed="false" { "Icicle" }
                button type="button" data-flame-reset="" { "Whole" }
            }
            p.legend {
                @for (class, words) in legend { span class=(class) { (words) } " " }
            }
            div.scroll tabindex="0" role="region" aria-label="Flame graph" {
                svg viewBox=(format!("0 0 {WIDTH} {height:.0}")) role="img" aria-label="Flame graph" data-height=(height) {
                    @for frame in &flame.frames {
                        @let (x, width) = (frame.start as f64 / total * WIDTH, frame.value as f64 / total * WIDTH);
                        @let y = height - f64::from(frame.depth + 1) * ROW;
                        @let name = clean(&frame.name, 300);
                        @let (class, depth, tooltip) = appearance(frame, total, amount);
                        g class=(class) data-x=(format!("{x:.3}")) data-w=(format!("{width:.3}")) data-d=(frame.depth) {
                            title { (name) " · " (tooltip) }
                            rect x=(format!("{x:.2}")) y=(format!("{y:.0}")) width=(format!("{:.2}", (width - 0.4).max(0.2))) height="16" rx="1" fill-opacity=[(depth < 1.0).then(|| format!("{depth:.2}"))] {}
                            @if let Some(label) = label(&name, width) {
                                text x=(format!("{:.2}", x + 3.0)) y=(format!("{:.0}", y + 12.0)) { (label) }
                            }
                        }
                    }
                }
            }
            p.readout.soft aria-live="polite" data-flame-readout="" {
                (whole) "; callers stand below those they call."
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
        FlameFrame { name: name.into(), owner: Owner::Own, depth, start, value, change: None }
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
    fn what_costs_more_is_red_and_what_costs_less_is_blue() {
        let changed = |name: &str, start: i64, before: i64, after: i64, sure: bool| FlameFrame {
            change: Some(FrameChange { before, after, sure }),
            ..frame(name, 0, start, before.max(after))
        };
        let frames = vec![
            changed("gone", 0, 100, 0, true),
            changed("more", 100, 50, 100, true),
            changed("same", 200, 90, 100, false),
        ];
        let svg = flame(&Flame { total: 300, frames }, &|value| value.to_string()).into_string();
        for part in [
            "<g class=\"shrank\"",
            "<title>gone · 100 before, 0 after</title>",
            "fill-opacity=\"0.62\"",
            "<g class=\"unsure\"",
            "costs less now",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("own code"), "{svg}");
    }

    #[test]
    fn labels_fit() {
        assert_eq!(label("a/b.c", 100.0).as_deref(), Some("b.c"));
        assert_eq!(label("main.handler", 40.0).as_deref(), Some("main…"));
        assert_eq!(label("main.handler", 20.0), None);
    }
}
