//! The story as a page: what was done, what it brought, in the program's own words and charts.

use serde_json::Value;

use crate::acts::Story;

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1d2430; background: #fff; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
pre { background: #f3f5f8; color: #1d2430; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
table { border-collapse: collapse; } th, td { padding: .25rem .9rem .25rem 0; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tr + tr { border-top: 1px solid #c9d0da; }
figure { margin: 1rem 0; background: #fff; color: #1d2430; } svg { max-width: 100%; height: auto; }
.flame rect { fill: var(--frame); } .flame text { font: 10.5px ui-monospace, monospace; }
.legend span { padding: .05rem .5rem; background: var(--frame); font-size: .85rem; }
.own { --frame: #f0a03c; } .framework { --frame: #8fc7e8; } .dependency { --frame: #a9d8b8; }
.standard, .unsure { --frame: #d6dbe2; } .runtime { --frame: #c3b5d9; }
.grew { --frame: #ec6a5e; } .shrank { --frame: #6fa3ef; }
@media (prefers-color-scheme: dark) { body { color: #e3e8ef; background: #12161c; }
  pre { background: #1b212a; color: #e3e8ef; } }
";

/// The page.
pub fn html(story: &Story) -> String {
    let [baseline, before, after] = story.best;
    let tuning = &story.tuning;
    let charts: String =
        story.charts.iter().map(|svg| format!("<figure>{svg}</figure>\n")).collect();
    format!(
        "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Case study: an API server before and after</title><style>{STYLE}</style></head><body>
<h1>From {before} to {after} requests per second</h1>
<p>A Go API server with its debug options left on, and a log that is kept twice, answers {before} requests per second at its best level of concurrency. Without
them, and without middlewares, it answers {after}: <b>{gain:.2} times as many</b>, {share:.1}&nbsp;% of the {base} of plain
<code>net/http</code>. Every step was measured, predicted, made and measured again by <code>plimsoll</code>; this page was written by
<code>cargo xtask casestudy</code>. Server and generator had one processor each. {environment}</p>

<h2>What is it doing?</h2>
<p>Sixty-four connections, and a profile of the server taken inside the measured window.
<code>plimsoll run http://…/healthz -c 64 --profile http://…</code>, then <code>plimsoll profile</code>:</p>
<pre>{profile}</pre>
{before_flame}
<p><code>plimsoll explain</code> says what limits it:</p>
<pre>{explained}</pre>

<h2>What would each change bring, and what did it bring?</h2>
<p>Each change was predicted from the profile before it was made (<code>plimsoll tune predict</code>), then measured in turns with the
server before it (<code>plimsoll tune try</code>).</p>
{steps}
<pre>{told}</pre>
<p>Where the processor's time of a request went, from the first server to the last (<code>plimsoll profile diff</code>): blue is what
costs less now, red what costs more.</p>
{change_flame}

<h2>Before, after and the upper bound</h2>
<p>The same three servers over levels of concurrency, <code>plimsoll sweep</code> and <code>plimsoll diff</code>:</p>
{charts}
<pre>{diff}</pre>

<h2>What does an ORM cost?</h2>
<p>One server, one driver, rows of a PostgreSQL table of 100,000: by plain statements (<code>/raw</code>), by a query builder and by an
ORM, compared in interleaved rounds.</p>
{ways}

<h2>What does a connection per request cost?</h2>
<p>The tuned API server with 64 connections, in turns.</p>
{connections}

<h2>How many workers?</h2>
<p>The database server answering <code>/raw/row</code> to 16 connections, with 1, 2, 4 and 8 threads at the same time.</p>
{workers}
<p>The data of this page: <a href=\"casestudy.json\">casestudy.json</a>.</p>
</body></html>
",
        base = count(baseline),
        before = count(before),
        after = count(after),
        gain = after / before,
        share = after / baseline * 100.0,
        environment = escape(&environment(&story.environment)),
        profile = escape(&story.profile),
        before_flame = story.flames[0],
        change_flame = story.flames[1],
        explained = escape(&story.explained),
        steps = steps(tuning),
        told = escape(&story.told),
        diff = escape(&story.diff),
        ways = ways(story),
        connections = runs("connections", &story.connections),
        workers = runs("workers", &story.workers),
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
    format!("<table>\n{}{rows}</table>", line("th", &head))
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
                count(step["station"]["qps"].as_f64().unwrap_or(0.0)),
                held.to_owned(),
            ]
        })
        .collect();
    table(&["change", "predicted, times", "measured, times", "requests/s", "as predicted"], &rows)
}

fn interval(of: &Value) -> String {
    let number = |name: &str| of[name].as_f64().unwrap_or(0.0);
    format!("{:.2} ({:.2} to {:.2})", number("ratio"), number("low"), number("high"))
}

fn ways(story: &Story) -> String {
    let rows: Vec<Vec<String>> = (story.ways.iter())
        .map(|(kind, way, found)| {
            let effects = found["comparison"]["effects"].as_array().cloned().unwrap_or_default();
            let qps = effects
                .iter()
                .find(|effect| effect["measure"] == "qps")
                .cloned()
                .unwrap_or_default();
            let number = |name: &str| qps[name].as_f64().unwrap_or(0.0);
            vec![
                format!("/{way}/{kind} against /raw/{kind}"),
                count(number("a")),
                count(number("b")),
                interval(&qps),
                qps["word"].as_str().unwrap_or("-").to_owned(),
            ]
        })
        .collect();
    table(&["request", "statements/s", "this way/s", "times", "judged"], &rows)
}

/// Runs in turns: means, and the ratios to the first of the same round: their geometric mean, the least and the most.
fn runs(name: &str, found: &[(String, Vec<f64>)]) -> String {
    let first = &found[0].1;
    let rows: Vec<Vec<String>> = (found.iter())
        .map(|(name, runs)| {
            let mean = runs.iter().sum::<f64>() / runs.len() as f64;
            let ratios: Vec<f64> =
                runs.iter().zip(first).map(|(run, first)| (run / first).ln()).collect();
            let middle = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let high = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            vec![
                name.clone(),
                count(mean),
                format!("{:.2} ({:.2} to {:.2})", middle.exp(), low.exp(), high.exp()),
            ]
        })
        .collect();
    table(&[name, "requests/s", "times the first (least and most of the rounds)"], &rows)
}

fn count(value: f64) -> String {
    verdict::figures::grouped(value, 0)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
