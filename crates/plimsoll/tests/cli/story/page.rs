//! The story as a page: what was done, what it brought, in the program's own words and charts.

use serde_json::Value;

use verdict::comparison::Effect;

use super::acts::{InTurns, Story, mean};

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1d2430; background: #fff; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
pre { background: #f3f5f8; color: #1d2430; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
.scroll { overflow-x: auto; } code { overflow-wrap: anywhere; }
table { border-collapse: collapse; } th, td { padding: .25rem .9rem .25rem 0; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tr + tr { border-top: 1px solid #c9d0da; }
figure { margin: 1rem 0; background: #fff; color: #1d2430; } svg { max-width: 100%; height: auto; }
.flame rect { fill: var(--frame); } .flame text { font: 10.5px ui-monospace, monospace; }
.flame g { cursor: pointer; } .flame .at rect { stroke: #1d2430; stroke-width: 1.5; }
.flame .searched g:not(.found) { opacity: .35; }
.flame-tools:not([hidden]) { display: flex; flex-wrap: wrap; gap: .6rem; margin: .4rem 0; }
.legend span { padding: .05rem .5rem; background: var(--frame); font-size: .85rem; }
.own { --frame: #f0a03c; } .framework { --frame: #8fc7e8; } .dependency { --frame: #a9d8b8; }
.standard, .unsure { --frame: #d6dbe2; } .runtime { --frame: #c3b5d9; }
.grew { --frame: #ec6a5e; } .shrank { --frame: #6fa3ef; }
@media (prefers-color-scheme: dark) { body { color: #e3e8ef; background: #12161c; }
  pre { background: #1b212a; color: #e3e8ef; } }
";

/// The script of the program's own pages: it makes flame graphs ones to zoom and to search.
pub const SCRIPT: &str = include_str!("../../../../report/src/html/page.js");

/// The page.
pub fn html(story: &Story) -> String {
    let [before, after] = [1, 2].map(|at| count(mean(&story.best[at].qps)));
    let tuning = &story.tuning;
    let charts: String =
        story.charts.iter().map(|svg| format!("<figure>{svg}</figure>\n")).collect();
    format!(
        "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Case study: an API server before and after</title><style>{STYLE}</style></head><body>
<h1>From {before} to {after} requests per second</h1>
{intro}

<h2>What is it doing?</h2>
<p>Sixty-four connections, and a profile of the server taken inside the measured window.
<code>plimsoll run http://…/healthz -c 64 --profile http://…</code>, then <code>plimsoll profile</code>:</p>
<pre tabindex=\"0\">{profile}</pre>
{before_flame}
<p><code>plimsoll explain</code> says what limits it:</p>
<pre tabindex=\"0\">{explained}</pre>

<h2>What would each change bring, and what did it bring?</h2>
<p>Each change was predicted from the profile before it was made (<code>plimsoll tune predict</code>), then measured in turns with the
server before it and with the baseline (<code>plimsoll tune try</code>).</p>
{steps}
<pre tabindex=\"0\">{told}</pre>
<p>Where the processor's time of a request went, from the first server to the last (<code>plimsoll profile diff</code>): blue is what
costs less now, red what costs more.</p>
{change_flame}

<h2>Before, after and the upper bound</h2>
<p>The same three servers over levels of concurrency, <code>plimsoll sweep</code> and <code>plimsoll diff</code>:</p>
{charts}
<pre tabindex=\"0\">{diff}</pre>
<p>A level of a sweep is one run, and runs minutes apart differ. So each server was measured again at its best level, in turns:</p>
{best}

<h2>What does an ORM cost?</h2>
<p>One server, one driver, rows of a PostgreSQL table of 100,000: by plain statements (<code>/raw</code>), by a query builder and by an
ORM, 16 connections, in turns. The database shares the machine with both, so the processor time that the server itself takes for a
request tells more of an ORM than the rate does.</p>
{ways}

<h2>What does a connection per request cost?</h2>
<p>The tuned API server with 64 connections, in turns.</p>
{connections}

<h2>How many workers?</h2>
<p>The database server answering <code>/raw/row</code> to 16 connections, with 1, 2, 4 and 8 threads at the same time.</p>
{workers}
<p>The data of this page: <a href=\"casestudy.json\">casestudy.json</a>.</p>
<script>{SCRIPT}</script>
</body></html>
",
        intro = intro(story),
        best = best(story),
        profile = escape(&story.profile),
        before_flame = story.flames[0],
        change_flame = story.flames[1],
        explained = escape(found(&story.explained)),
        steps = steps(tuning),
        told = escape(&story.told),
        diff = escape(&story.diff),
        ways = ways(story),
        connections = in_turns("connections", &story.connections),
        workers = in_turns("workers", &story.workers),
    )
}

/// What came of it, in a paragraph.
fn intro(story: &Story) -> String {
    let [baseline, before, after] = [0, 1, 2].map(|at| count(mean(&story.best[at].qps)));
    let [gain, share] = story.reached().map(times);
    format!(
        "<p>A Go API server with its debug options left on, and a log that is kept twice, answers {before} requests per second at its best level of concurrency. Without
them, and without middlewares, it answers {after}: <b>{gain} times as many</b>, {share} times
the {baseline} of plain <code>net/http</code>. The figures are means of {rounds} rounds in turns, the
intervals of 95&nbsp;% are those of the rounds' ratios. Every step was measured, predicted, made and measured again by <code>plimsoll</code>; this page was written by
<code>cargo xtask casestudy</code>. Server and generator had one processor each. {environment}</p>",
        rounds = story.best[0].qps.len(),
        environment = escape(&environment(&story.environment)),
    )
}

fn environment(found: &Value) -> String {
    let text = |name: &str| found[name].as_str().map(str::to_owned);
    text("cpu_model").map_or_else(String::new, |model| format!("({model})"))
}

/// A table; cells of all columns but the first are numbers.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |tag: &str, cells: &[String]| {
        let cells = cells.iter().enumerate().map(|(at, cell)| {
            let class = if at == 0 { "" } else { " class=\"n\"" };
            format!("<{tag}{class}>{}</{tag}>", escape(cell))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let rows: String = rows.iter().map(|row| line("td", row)).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n{}{rows}</table></div>",
        line("th", &head)
    )
}

fn steps(tuning: &Value) -> String {
    let steps = tuning["steps"].as_array().cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> = (steps.iter())
        .map(|step| {
            let predicted = &step["predicted"];
            let told = match predicted["ratio"].as_f64() {
                Some(_) => interval(predicted),
                None => "nothing: see below".to_owned(),
            };
            let held = match step["as_predicted"].as_bool() {
                Some(true) => "yes",
                Some(false) => "no",
                None => "-",
            };
            vec![
                step["station"]["name"].as_str().unwrap_or("?").to_owned(),
                told,
                interval(step),
                match step["over_baseline"]["ratio"].as_f64() {
                    Some(_) => interval(&step["over_baseline"]),
                    None => "-".to_owned(),
                },
                count(step["station"]["qps"].as_f64().unwrap_or(0.0)),
                held.to_owned(),
            ]
        })
        .collect();
    let head = [
        "change",
        "predicted, times",
        "measured, times",
        "times the baseline",
        "requests/s",
        "as predicted",
    ];
    table(&head, &rows)
}

fn interval(of: &Value) -> String {
    let number = |name: &str| of[name].as_f64().unwrap_or(0.0);
    format!("{:.2} ({:.2} to {:.2})", number("ratio"), number("low"), number("high"))
}

/// The part of what `explain` says that names causes.
fn found(explained: &str) -> &str {
    explained.split("\nNot judged").next().unwrap_or(explained)
}

/// Processor time per request; nothing where a window was too short to see any.
fn micros(way: &InTurns) -> String {
    let mean = mean(&way.cpu_us);
    if mean > 0.0 { format!("{mean:.1}") } else { "-".to_owned() }
}

fn times(effect: Option<Effect>) -> String {
    effect.map_or_else(
        || "-".to_owned(),
        |effect| format!("{:.2} ({:.2} to {:.2})", effect.ratio, effect.low, effect.high),
    )
}

fn best(story: &Story) -> String {
    let [baseline, before, _] = &story.best[..] else { panic!("three servers") };
    let rows: Vec<Vec<String>> = (story.best.iter())
        .map(|server| {
            let against = |other: &InTurns| {
                if server.name == other.name { "1".to_owned() } else { times(server.over(other)) }
            };
            vec![
                server.name.clone(),
                count(mean(&server.qps)),
                against(before),
                against(baseline),
                micros(server),
            ]
        })
        .collect();
    table(&["server", "requests/s", "times before", "times the baseline", "CPU us/request"], &rows)
}

fn ways(story: &Story) -> String {
    story.ways.iter().map(|(kind, found)| in_turns(kind, found) + "\n").collect()
}

/// Means over the rounds, and the ratios to the first with their intervals of 95 %.
fn in_turns(name: &str, found: &[InTurns]) -> String {
    let first = &found[0];
    let rows: Vec<Vec<String>> = (found.iter().enumerate())
        .map(|(at, way)| {
            let of = |effect| if at == 0 { "1".to_owned() } else { times(effect) };
            vec![
                way.name.clone(),
                count(mean(&way.qps)),
                of(way.over(first)),
                micros(way),
                of(way.cpu_over(first)),
            ]
        })
        .collect();
    table(&[name, "requests/s", "times the first", "CPU us/request", "times the first"], &rows)
}

fn count(value: f64) -> String {
    verdict::figures::grouped(value, 0)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
