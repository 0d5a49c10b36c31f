//! Results as one page: a self-contained file that requests nothing and reads without scripts.
//!
//! Owns the page's order (verdict, summary, curve or timeline, spectrum, errors, environment,
//! command, data), its look and its few lines of script. The figures come as they are, the charts
//! from `charts`. Everything from outside is escaped by `maud`; the content policy in the head allows
//! the style sheets and the script below, by their hashes, and nothing else, so that whatever would slip
//! through neither runs nor loads anything.

mod capacity;
mod comparison;
mod diff;
mod mined;
mod mix;
mod objectives;
mod parts;
mod profiled;
mod run;
mod sweep;
mod tuning;
mod watched;

pub use capacity::capacity;
pub use comparison::{Compared, comparison};
pub use diff::{Comparison, diff};
pub use mined::mined;
pub use profiled::{profile_diff, profiled};
pub use run::{profiled_run, run};
pub use sweep::sweep;
pub use tuning::tuning;

use std::sync::OnceLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::chart;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

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
    /// Run, sweep or comparison, when and by what. The first is part of what a window is called, so that two pages of one URL
    /// are told apart.
    lines: Vec<String>,
    /// What came out, in a sentence: programs show it beside a link to the page.
    gist: String,
}

/// The whole document. `data` is kept at its end, as JSON under the id `data_id`.
fn page(
    title: &Title,
    banner: Markup,
    sections: &[Section],
    (data_id, data): (&str, &impl Serialize),
) -> String {
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    // Inside a script element: the characters that could end it or open another are written as
    // JSON's own escapes, so that a parser reads the same values.
    let json = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="description" content=(title.gist);
                title { (title.name) " · " (title.lines.first().map_or("Plimsoll", String::as_str)) }
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
                footer { p.soft { "Made by Plimsoll. This file contains its data and loads \
                    nothing." } }
                script type="application/json" id=(data_id) { (PreEscaped(json)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    document.into_string()
}

/// What the page may do (Content Security Policy, level 3).
fn policy() -> &'static str {
    static POLICY: OnceLock<String> = OnceLock::new();
    POLICY.get_or_init(|| {
        let (page, charts) = (source(STYLE), source(&chart::inline_style_sheet()));
        let script = source(SCRIPT);
        format!(
            "default-src 'none'; style-src {page} {charts}; script-src {script}; base-uri 'none'; \
             form-action 'none'"
        )
    })
}

/// An inline style sheet or script, as a policy names it: by the hash of its content.
fn source(content: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(content)))
}

#[cfg(test)]
mod tests;
