//! What a run would do: its settings with their origins, the mix, and the first requests as they would be sent.
//!
//! Owns the form. The values come from the code that resolved them, with secrets already masked.

use model::Mix;
use model::plan::{EndpointPlan, FlowPlan};
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::figure::{clean, count, counted, rate, share};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone, paragraph, paragraph_in};

/// The document's name and version.
pub const SCHEMA: &str = "plimsoll.plan/1";

/// Longest a value or a name is shown.
const LONGEST: usize = 200;

/// A plan for people and programs to look at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Preview {
    /// Name and version of this form.
    pub schema: String,
    /// What holds, value by value.
    pub settings: Vec<Line>,
    /// What is sent, in which proportions; empty for a plain URL.
    pub mix: Mix,
    /// What changes something on the server, where a workload file says so.
    pub writes: Option<Writes>,
    /// Environment variables that it takes values from.
    pub environment: Vec<String>,
    /// Where it needs one that is not set: it can be looked at, and not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<Unset>,
    /// The first requests, as they would be sent.
    pub requests: Vec<Request>,
}

/// A place that needs an environment variable which is not set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unset {
    /// The place: file, line and column.
    pub place: String,
    /// The variable, in a sentence without the full stop.
    pub what: String,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// What holds, with its unit.
    pub value: String,
    /// Where it comes from: `flag`, `environment`, `file` or `default`.
    pub origin: String,
}

/// The requests that change something on the server.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Writes {
    /// Their part of all requests, 0 to 1.
    pub share: f64,
    /// How many of them the run would make; absent where responses decide how many are sent.
    pub requests: Option<u64>,
    /// Endpoints and flows that `--reads-only` leaves out.
    pub left_out: Vec<String>,
}

/// A request as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Request {
    /// The endpoint it counts for; empty for a plain URL.
    pub endpoint: String,
    /// Head and body; bytes that are no text are shown as `\xNN`.
    pub text: String,
}

/// Everything a preview has to say.
pub fn text(preview: &Preview, style: Style) -> String {
    let mut parts = vec![settings(&preview.settings, style)];
    if !preview.mix.endpoints.is_empty() {
        parts.push(mix(&preview.mix, style));
    }
    if let Some(writes) = &preview.writes {
        parts.push(of_writes(writes, style));
    }
    if !preview.environment.is_empty() {
        let names = clean(&preview.environment.join(", "), 10 * LONGEST);
        parts.push(paragraph(&names, "From the environment: ", style));
    }
    if !preview.unset.is_empty() {
        let head = "Not there; a run needs them:\n".to_owned();
        parts.push(preview.unset.iter().fold(head, |text, Unset { place, what }| {
            let words = format!("{}: {}", clean(place, LONGEST), clean(what, LONGEST));
            text + &paragraph(&words, "  ", style)
        }));
    }
    let count = preview.requests.len();
    for (at, request) in preview.requests.iter().enumerate() {
        let mut head = format!("Request {} of {count}", at + 1);
        if !request.endpoint.is_empty() {
            head += &format!(": {}", clean(&request.endpoint, LONGEST));
        }
        let head = paragraph(&head, "", style);
        parts.push(style.paint(Tone::Strong, head.trim_end()) + "\n" + &indented(&request.text));
    }
    parts.join("\n")
}

/// The values in columns; each below its name where that is too wide.
fn settings(lines: &[Line], style: Style) -> String {
    let mut grid = Grid::new([Lean::Left, Lean::Left, Lean::Left]);
    for line in lines {
        let value = clean(&line.value, LONGEST);
        grid.row([&*line.name, &*value, &*line.origin]);
    }
    let table = grid.print();
    if table.lines().all(|line| line.width() <= style.columns) {
        return table;
    }
    let name = lines.iter().map(|line| line.name.width()).max().unwrap_or(0);
    let below = |line: &Line| {
        let words = format!("{} ({})", clean(&line.value, LONGEST), line.origin);
        paragraph_in(&words, &format!("{:name$}  ", line.name), style.columns)
    };
    lines.iter().map(below).collect()
}

/// Each endpoint that is sent on its own, then each flow with its steps below it.
fn mix(mix: &Mix, style: Style) -> String {
    let mut grid = Grid::new([Lean::Left, Lean::Right, Lean::Left, Lean::Left]);
    grid.row(["endpoint", "how much", "", "checks"]);
    let step = |at: usize| mix.flows.iter().any(|flow| flow.steps.contains(&(at as u32)));
    for (_, endpoint) in mix.endpoints.iter().enumerate().filter(|(at, _)| !step(*at)) {
        let EndpointPlan { rate_per_s, connections, share, .. } = *endpoint;
        row(&mut grid, "", endpoint, how_much(rate_per_s, connections, share));
    }
    for flow in &mix.flows {
        let FlowPlan { rate_per_s, connections, share, .. } = *flow;
        let how_much = how_much(rate_per_s, connections, share);
        grid.row([&*clean(&flow.name, LONGEST), &*how_much, "flow", ""]);
        for &at in &flow.steps {
            if let Some(endpoint) = mix.endpoints.get(at as usize) {
                row(&mut grid, "  ", endpoint, String::new());
            }
        }
    }
    grid.print_headed(style)
}

fn row(grid: &mut Grid, indent: &str, endpoint: &EndpointPlan, how_much: String) {
    let name = format!("{indent}{}", clean(&endpoint.name, LONGEST));
    let checks = clean(&endpoint.checks.join(", "), LONGEST);
    let writes = if endpoint.writes { "writes" } else { "" };
    grid.row([&*name, &*how_much, writes, &*checks]);
}

fn how_much(rate_per_s: Option<f64>, users: Option<u32>, part: Option<f64>) -> String {
    match (rate_per_s, users, part) {
        (Some(per_s), ..) => format!("{}/s", rate(per_s)),
        (None, Some(users), _) => counted(users.into(), "user"),
        (None, None, Some(part)) => share(part),
        (None, None, None) => String::new(),
    }
}

fn of_writes(writes: &Writes, style: Style) -> String {
    let mut text = "Writes: none.".to_owned();
    if writes.share != 0.0 {
        let many = match writes.requests {
            Some(requests) => format!("about {} in this run", count(requests)),
            None => "as many as the server answers".to_owned(),
        };
        let part = share(writes.share);
        text = format!("Writes: {part} of all requests, {many}; --reads-only leaves them out.");
    }
    if !writes.left_out.is_empty() {
        text += &format!(" Left out: {}.", clean(&writes.left_out.join(", "), 10 * LONGEST));
    }
    paragraph(&text, "", style)
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") })
        .collect()
}

/// A request's bytes as text: line ends as such, what is no text as `\xNN`.
pub fn shown(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\r' => {}
                '\n' | '\t' => out.push(c),
                c if c.is_control() => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(name: &str, share: f64, writes: bool) -> EndpointPlan {
        EndpointPlan { name: name.into(), share: Some(share), writes, ..EndpointPlan::default() }
    }

    #[test]
    fn a_preview_has_values_mix_writes_and_requests() {
        let line = |name: &str, value: &str, origin: &str| Line {
            name: name.into(),
            value: value.into(),
            origin: origin.into(),
        };
        let mut step = endpoint("visit/login", 0.0, true);
        (step.share, step.checks) = (None, vec!["status 200".into()]);
        let preview = Preview {
            schema: SCHEMA.into(),
            settings: vec![line("target", "http://h", "file"), line("timeout", "30s", "default")],
            mix: Mix {
                endpoints: vec![
                    endpoint("GET /a", 0.75, false),
                    endpoint("POST /b", 0.25, true),
                    step,
                ],
                flows: vec![FlowPlan {
                    name: "visit".into(),
                    steps: vec![2],
                    rate_per_s: Some(5.0),
                    ..FlowPlan::default()
                }],
            },
            writes: Some(Writes { share: 0.25, requests: Some(1_000), left_out: Vec::new() }),
            environment: vec!["TOKEN".into()],
            unset: vec![Unset { place: "w.yaml:3:4".into(), what: "`TOKEN` is not set".into() }],
            requests: vec![Request {
                endpoint: "GET /a".into(),
                text: shown(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n\xff\x1b"),
            }],
        };
        let narrow = Preview {
            settings: vec![
                line("target", &"http://日本語/".repeat(9), "file"),
                line("timeout", "30s", "default"),
            ],
            environment: vec!["A_LONG_NAME_OF_A_VARIABLE".into(); 9],
            unset: vec![Unset { place: "p".repeat(90), what: "not set ".repeat(20) }],
            ..preview.clone()
        };
        for line in text(&narrow, Style { columns: 60, ..Style::default() }).lines() {
            assert!(line.width() <= 60, "{line}");
        }
        insta::assert_snapshot!(text(&preview, Style::default()), @r"
        target   http://h  file
        timeout  30s       default

        endpoint       how much          checks
        GET /a          75.00 %
        POST /b         25.00 %  writes
        visit            5.00/s  flow
          visit/login            writes  status 200

        Writes: 25.00 % of all requests, about 1,000 in this run; --reads-only leaves
        them out.

        From the environment: TOKEN

        Not there; a run needs them:
          w.yaml:3:4: `TOKEN` is not set

        Request 1 of 1: GET /a
          GET /a HTTP/1.1
          Host: h

          \xff\u{1b}
        ");
    }
}
