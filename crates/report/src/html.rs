//! Results as one page: a file of its own that asks nothing of any address and reads without scripts.
//!
//! Owns the page's order (verdict, summary, curve or timeline, spectrum, errors, environment,
//! command, data), its look and its few lines of script. The figures come as they are, the charts
//! from `charts`. Everything from outside is escaped by `maud`; the content policy in the head
//! forbids whatever would slip through to load anything.

mod capacity;
mod comparison;
mod diff;
mod mix;
mod objectives;
mod parts;
mod run;
mod sweep;

pub use capacity::capacity;
pub use comparison::{Compared, comparison};
pub use diff::{Comparison, diff};
pub use run::run;
pub use sweep::sweep;

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A part of the page under a heading.
struct Section {
    /// Its anchor.
    id: &'static str,
    heading: &'static str,
    body: Markup,
}

/// The words at the top.
struct Title<'a> {
    /// What was measured.
    name: &'a str,
    /// Run, sweep or comparison, when and by what.
    lines: Vec<String>,
}

/// The whole document. `data` is the JSON kept at its end under the id `data_id`.
fn page(title: &Title, banner: Markup, sections: &[Section], data: (&str, &str)) -> String {
    let (data_id, json) = data;
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title.name) " · Plimsoll" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title.name) }
                    @for line in &title.lines { p.soft { (line) } }
                }
                main {
                    (banner)
                    nav aria-label="Sections" {
                        @for section in sections { a href={ "#" (section.id) } { (section.heading) } }
                    }
                    @for section in sections {
                        section id=(section.id) aria-labelledby={ (section.id) "-heading" } {
                            h2 id={ (section.id) "-heading" } { (section.heading) }
                            (section.body)
                        }
                    }
                }
                footer { p.soft { "Made by Plimsoll. This file holds its data and loads nothing." } }
                script type="application/json" id=(data_id) { (PreEscaped(harmless(json))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    document.into_string()
}

/// JSON that may stand inside a script element: the characters that could end it or open another
/// are written as JSON's own escapes, so that a parser reads the same values.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests;
