//! The pages in headless Chromium: they load nothing, log nothing, and their script does its work.
#![expect(clippy::disallowed_methods, reason = "a test reads and writes files; the crate does not")]

#[path = "../src/sample.rs"]
mod sample;

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::Mined;
use model::curve::Curve;
use model::mined::{MinedEndpoint, Peak};
use model::profiled::{Flame, FlameFrame, FrameChange, Owner, ProfileDiff, Profiled};
use model::tuning::Tuning;
use model::units::{SECOND, show_duration};
use report::html;
use report::watched::Beside;
use serde_json::json;
use sha2::{Digest, Sha256};
use testkit::needs;
use verdict::comparison::{Comparison, Effect, Measure, Word};

/// What a page became once its scripts had run, and what the browser logged.
struct Loaded {
    page: String,
    log: String,
}

fn load(html: &str) -> Loaded {
    load_with(html, &[])
}

/// As [`load`], in a browser with these flags.
fn load_with(html: &str, flags: &[&str]) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder for the page");
    let file = folder.path().join("page.html");
    std::fs::write(&file, html).expect("the page is written");
    let output = chromium(&folder.path().join("profile"))
        .args(flags)
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Chromium runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    Loaded { page: String::from_utf8_lossy(&output.stdout).into_owned(), log: console.join("\n") }
}

fn chromium(profile: &Path) -> Command {
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()));
    command
}

/// The text of the element that follows `mark`, without its tags.
fn text_after(page: &str, mark: &str) -> String {
    let (_, after) = page.split_once(mark).unwrap_or_else(|| panic!("no {mark}"));
    let (inner, _) = after.split_once("</div>").expect("the element ends");
    let tagless = inner.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
    tagless.collect::<Vec<_>>().join("")
}

#[test]
fn the_script_reads_the_timeline_out() {
    if !needs::has("chromium") {
        return;
    }
    let press = "const svg = document.querySelector('[data-timeline] svg');\
        for (let i = 0; i < 3; i++)\
          svg.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));";
    let run = sample::open_loop();
    let page = html::run(&run).replace("</body>", &format!("<script>{press}</script></body>"));
    // The page's policy runs no script but the page's own.
    let hash = BASE64_STANDARD.encode(Sha256::digest(press));
    let loaded = load(&page.replace("script-src ", &format!("script-src 'sha256-{hash}' ")));
    assert_eq!(loaded.log, "");
    let third = &run.timeline[2];
    let readout = text_after(&loaded.page, "class=\"readout\"");
    assert!(readout.contains("second 2"), "{readout}");
    let milliseconds = format!("p50 {}", show_duration(third.percentiles.p50_ns));
    assert!(readout.contains(&milliseconds), "{readout}");
    assert!(loaded.page.contains("class=\"crosshair\""));
    assert!(loaded.page.contains("data-copies=\"command\">Copy"), "the button is shown");
}

#[test]
fn the_policy_lets_the_page_be_as_it_is_and_runs_nothing_else() {
    if !needs::has("chromium") {
        return;
    }
    let measure = "document.title = [...document.querySelectorAll('svg')].map(svg => {\
        const axis = svg.querySelector('.axis'); const style = getComputedStyle(axis);\
        return style.stroke !== 'none' && svg.getBoundingClientRect().width > 100; }).join()\
        + getComputedStyle(document.querySelector('main')).maxWidth;";
    let page = html::run(&sample::open_loop());
    assert!(!page.contains("unsafe") && !page.contains(" style=\""));
    let hash = BASE64_STANDARD.encode(Sha256::digest(measure));
    let measured = page
        .replace("</body>", &format!("<script>{measure}</script></body>"))
        .replace("script-src ", &format!("script-src 'sha256-{hash}' "));
    let loaded = load(&measured);
    assert_eq!(loaded.log, "", "no violation");
    let (_, title) = loaded.page.split_once("<title>").expect("a title");
    let (title, _) = title.split_once("</title>").expect("a title");
    assert!(title.starts_with("true") && !title.contains("false"), "{title}");
    let slipped = page.replace("</main>", "<script>document.title = 'ran'</script></main>");
    let loaded = load(&slipped);
    assert!(!loaded.page.contains("<title>ran"), "a script that is not the page's ran");
    assert!(loaded.log.contains("Content Security Policy"), "{}", loaded.log);
    let styled = load(&page.replace("<main>", "<main style=\"display:none\">"));
    assert!(styled.log.contains("Content Security Policy"), "{}", styled.log);
}

#[test]
fn hostile_text_runs_nothing_and_loads_nothing() {
    if !needs::has("chromium") {
        return;
    }
    let loaded = load(&html::run(&sample::hostile()));
    assert_eq!(loaded.log, "");
    assert!(!loaded.page.contains("<img") && !loaded.page.contains("<b>"));
    assert_eq!(loaded.page.matches("<script").count(), 2);
}

/// Widths a page is read at: a wide window, half a screen, a telephone.
const WIDTHS: [u32; 3] = [1200, 500, 360];

#[test]
fn no_page_is_wider_than_its_window() {
    if !needs::has("chromium") {
        return;
    }
    let frame = |(name, page): &(&str, String), width: u32| {
        let inside = page.replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe data-of='{name} at {width}' style='width:{width}px' srcdoc=\"{inside}\"></iframe>"
        )
    };
    let pages = pages();
    let frames: String =
        pages.iter().flat_map(|page| WIDTHS.map(|width| frame(page, width))).collect();
    let loaded = load(&format!("<body>{frames}<script>{MEASURE}</script></body>"));
    let (_, measured) = loaded.page.split_once("<pre id=\"measured\">").expect("it was measured");
    let (measured, _) = measured.split_once("</pre>").expect("the element ends");
    let wanted: Vec<String> = pages
        .iter()
        .flat_map(|(name, _)| WIDTHS.map(|width| format!("{name} at {width}: fits")))
        .collect();
    assert_eq!(measured.lines().collect::<Vec<_>>(), wanted);
}

/// Says of each frame which elements reach beyond it, whose content spills over them, and which
/// scroll and cannot be reached by keyboard.
const MEASURE: &str = "
addEventListener('load', () => {
  const complaints = frame => {
    const { documentElement: root, body } = frame.contentDocument;
    const style = element => frame.contentWindow.getComputedStyle(element);
    const named = element => element.tagName + '.' + element.getAttribute('class');
    const scrolls = element => ['auto', 'scroll'].includes(style(element).overflowX);
    const held = element => element && (scrolls(element) || held(element.parentElement));
    const all = [...body.querySelectorAll('*')];
    const free = all.filter(element => !held(element));
    const beyond = free.filter(element =>
      element.getBoundingClientRect().right > root.clientWidth + 1);
    const spills = free.filter(element => !element.closest('svg') && !element.querySelector('svg')
      && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1);
    const unreachable = all.filter(element => scrolls(element)
      && element.scrollWidth > element.clientWidth && element.tabIndex < 0);
    const wide = root.scrollWidth > root.clientWidth ? ['scrolls sideways'] : [];
    return [...wide, ...beyond.map(element => 'beyond: ' + named(element)),
      ...spills.map(element => 'spills: ' + named(element)),
      ...unreachable.map(element => 'no keyboard: ' + named(element))];
  };
  const told = [...document.querySelectorAll('iframe')].map(frame =>
    frame.dataset.of + ': ' + (complaints(frame).join(', ') || 'fits'));
  const pre = document.createElement('pre');
  pre.id = 'measured';
  pre.textContent = told.join('\\n');
  document.body.replaceChildren(pre);
});";

/// Each page in a frame of its own, by name.
fn framed(pages: &[(&str, String)], script: &str) -> String {
    let frame = |(name, page): &(&str, String)| {
        let inside = page.replace('&', "&amp;").replace('"', "&quot;");
        format!("<iframe data-of='{name}' style='width:1200px' srcdoc=\"{inside}\"></iframe>")
    };
    let frames: String = pages.iter().map(frame).collect();
    format!("<body>{frames}<script>{script}</script></body>")
}

#[test]
fn all_words_stand_out_from_what_is_behind_them() {
    if !needs::has("chromium") {
        return;
    }
    let pages = pages();
    for (scheme, setting) in [("dark", 0), ("light", 1)] {
        let flag = format!("--blink-settings=preferredColorScheme={setting}");
        let loaded = load_with(&framed(&pages, CONTRAST), &[&flag]);
        let (_, measured) =
            loaded.page.split_once("<pre id=\"measured\">").expect("it was measured");
        let (measured, _) = measured.split_once("</pre>").expect("the element ends");
        let wanted = pages.iter().map(|(name, _)| format!("{name}, {scheme}: legible"));
        assert_eq!(measured.lines().collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    }
}

/// Says of each frame which words have a contrast below 4.5:1 (WCAG 2.2, 1.4.3) with what is behind them.
const CONTRAST: &str = "
addEventListener('load', () => {
  const parts = colour => {
    const numbers = colour.match(/[\\d.]+/g).map(Number);
    const scale = colour.startsWith('color(') ? 255 : 1;
    return { rgb: numbers.slice(0, 3).map(n => n * scale), alpha: numbers[3] ?? 1 };
  };
  const over = (top, below) => top.rgb.map((n, i) => n * top.alpha + below[i] * (1 - top.alpha));
  const luminance = rgb => rgb.map(n => n / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const complaints = frame => {
    const style = element => frame.contentWindow.getComputedStyle(element);
    const behind = element => {
      if (!element) return [255, 255, 255];
      const colour = parts(style(element).backgroundColor);
      return colour.alpha === 0 ? behind(element.parentElement)
        : over(colour, behind(element.parentElement));
    };
    const opacity = element => element
      ? Number(style(element).opacity) * opacity(element.parentElement) : 1;
    // What was drawn before, where the middle of the words is.
    const painted = element => {
      const { left, width, top, height } = element.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      return [...element.closest('svg').querySelectorAll('rect')].reduce((ground, rect) => {
        const box = rect.getBoundingClientRect();
        const { fill, fillOpacity } = style(rect);
        const covers = rect.compareDocumentPosition(element) & 4 && /^(rgb|color)/.test(fill)
          && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
        if (!covers) return ground;
        const colour = parts(fill);
        colour.alpha *= Number(fillOpacity) * opacity(rect);
        return over(colour, ground);
      }, behind(element));
    };
    const found = new Set();
    const words = frame.contentDocument.createTreeWalker(frame.contentDocument.body, 4);
    while (words.nextNode()) {
      const element = words.currentNode.parentElement;
      const text = words.currentNode.textContent.trim();
      if (!text || ['STYLE', 'SCRIPT', 'title', 'desc', 'style'].includes(element.tagName)) continue;
      const of = style(element);
      const drawn = element.closest('svg') !== null;
      const colour = parts(drawn ? of.fill : of.color);
      colour.alpha *= opacity(element) * (drawn ? Number(of.fillOpacity) : 1);
      const ground = drawn ? painted(element) : behind(element);
      const ratio = contrast(over(colour, ground), ground);
      if (ratio < 4.5) found.add(element.getAttribute('class') + ' ' + ratio.toFixed(2) + ' ' + text);
    }
    return [...found].slice(0, 5);
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const lines = [...document.querySelectorAll('iframe')].map(frame =>
    frame.dataset.of + ', ' + scheme + ': ' + (complaints(frame).join(', ') || 'legible'));
  const pre = document.createElement('pre');
  pre.id = 'measured';
  pre.textContent = lines.join('\\n');
  document.body.replaceChildren(pre);
});";

/// A page of every kind.
fn pages() -> Vec<(&'static str, String)> {
    let runs = [
        ("closed", sample::closed_loop()),
        ("open", sample::open_loop()),
        ("endpoints", sample::mixed()),
        ("objectives", sample::judged_run()),
        ("aborted", sample::aborted()),
        ("hostile", sample::hostile()),
    ];
    let runs = runs.iter().map(|(name, run)| (*name, html::run(run)));
    runs.chain([
        ("sweep", sweep_page()),
        ("diff", diff_page()),
        ("comparison", comparison_page()),
        ("capacity", capacity_page()),
        ("profile", html::profiled(&profiled(), &flame(false))),
        ("profile diff", profile_diff_page()),
        ("tuning", tuning_page()),
        ("mined", html::mined(&mined())),
    ])
    .collect()
}

fn sweep_page() -> String {
    let swept = sample::sweep("api", 50_000.0, &[1, 10, 100, 1_000, 30_000]);
    let curve = Curve::from_sweep(&swept).expect("no level twice");
    html::sweep(&swept, &curve, &verdict::curve::read(&curve, swept.objective_mean_ns))
}

fn diff_page() -> String {
    let names = ["native", "before_without_any_spaces_in_a_name_of_some_length", "after"];
    let curves = names.map(|name| {
        let swept = sample::sweep(name, 14e3, &[1, 100, 1_000, 30_000]);
        Curve::from_sweep(&swept).expect("no level twice")
    });
    let diff = verdict::Diff::of(&curves).expect("they are alike");
    let command = ["plimsoll", "diff"].map(String::from);
    let watched = names.map(|name| Beside {
        name: name.into(),
        level: 30_000.0,
        observed: sample::watched(),
        window: (0, 4 * SECOND),
    });
    html::diff(&html::Comparison {
        curves: &curves,
        diff: &diff,
        judgements: &[],
        watched: &watched,
        command: &command,
    })
}

fn comparison_page() -> String {
    let effect = |measure, ratio, word| Effect {
        measure,
        a: 8e6,
        b: 8e6 * ratio,
        ratio,
        low: ratio - 0.03,
        high: ratio + 0.03,
        word,
        smallest_seen: 0.031,
        rounds_needed: Some(9),
    };
    let url = |port| format!("http://a-rather-long-host-name.example.org:{port}/and/a/long/path");
    let comparison = Comparison {
        names: [url(8080), url(8081)],
        margin: 0.02,
        by: "6 interleaved rounds".into(),
        effects: vec![
            effect(Measure::Qps, 0.9, Word::Slower),
            effect(Measure::Percentile(&model::PERCENTILES[4]), 1.01, Word::CannotTell),
        ],
        word: Word::Slower,
        withheld: Vec::new(),
        invalid: false,
        notes: vec!["the machine was busy".into()],
    };
    let rounds = [("round 1, A".into(), "rounds/01-a/report.html".into())];
    let command = ["plimsoll", "compare"].map(String::from);
    let page =
        html::Compared { comparison: &comparison, command: &command, source: &[], rounds: &rounds };
    html::comparison(&page)
}

fn capacity_page() -> String {
    let (search, reading) = sample::search();
    html::capacity(&search, &reading, Some(&sample::open_loop()))
}

const OWNERS: [&str; 5] = ["own", "framework", "dependency", "standard_library", "runtime"];

/// A made-up document as a value of the model.
fn of_json<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> T {
    serde_json::from_value(json).expect("a document of the model")
}

fn profiled() -> Profiled {
    let owners = OWNERS.map(
        |owner| json!({ "owner": owner, "flat": 200, "cum": 400, "caused": 200, "share": 0.2 }),
    );
    let layers = OWNERS.map(|owner| {
        json!({
            "name": "example.com/a/rather/long/package.Handler.ServeHTTP.func1", "owner": owner,
            "calls_next": true, "added": 200, "collecting": 5, "share": 0.2, "bytes_per_request": 12_345.6
        })
    });
    let functions = OWNERS.map(|owner| {
        json!({
            "name": "example.com/a/package.(*Type).Method", "file": "/src/a.go", "owner": owner, "flat": 100,
            "cum": 200, "caused": 200, "collecting": 5, "share": 0.2, "cum_bytes_per_request": 12_345.6
        })
    });
    of_json(json!({
        "schema": model::profiled::SCHEMA, "source": "http://127.0.0.1:8080/debug/pprof",
        "value": { "kind": "cpu", "unit": "nanoseconds" }, "values": [], "stacks": 5, "samples": 1_000,
        "total": 1_000, "requests": 10.0, "collecting": 25, "collecting_by": "", "owners": owners,
        "layers": layers, "functions": functions, "dropped": 0, "notes": ["a note on the profile"]
    }))
}

/// A stack of every owner, and of everything that can become of one.
fn flame(compared: bool) -> Flame {
    let frames = Owner::ALL.iter().zip(0..).map(|(&owner, at)| {
        let (before, after) = [(100, 200), (200, 100), (200, 190), (0, 200), (200, 0)][at as usize];
        let change = FrameChange { before, after, sure: before.abs_diff(after) > 10 };
        FlameFrame {
            name: "example.com/a/package.Method".into(),
            owner,
            depth: at as u32 % 2,
            start: at * 200,
            value: 200,
            change: compared.then_some(change),
        }
    });
    Flame { total: 1_000, frames: frames.collect() }
}

fn profile_diff_page() -> String {
    let functions = OWNERS.map(|owner| {
        json!({
            "name": "example.com/a/package.(*Type).Method", "owner": owner, "flat_before": 1.0,
            "flat_after": 2.0, "cum_before": 3.0, "cum_after": 4.0, "change": 1.0, "low": 0.5, "high": 1.5
        })
    });
    let diff: ProfileDiff = of_json(json!({
        "schema": model::profiled::DIFF_SCHEMA, "before": "before.pprof", "after": "after.pprof",
        "unit": "us/request", "total_before": 30.0, "total_after": 40.0, "functions": functions
    }));
    html::profile_diff(&diff, &flame(true))
}

fn tuning_page() -> String {
    let station = |name: &str, qps: f64| {
        json!({
            "name": name, "url": "http://127.0.0.1:8080/healthz", "dir": "", "qps": qps, "runs": [qps],
            "verdict": "VALID"
        })
    };
    let prediction =
        json!({ "functions": ["middleware.Logger"], "ratio": 1.25, "low": 1.1, "high": 1.4 });
    let part = json!({ "name": "own code", "share": 0.4, "us_per_request": 12.3 });
    let tuning: Tuning = of_json(json!({
        "schema": model::tuning::SCHEMA, "connections": 64, "duration_ns": 1, "warmup_ns": 1, "slo": [],
        "start": station("start", 25_000.0), "baseline": station("baseline", 62_000.0),
        "steps": [{
            "station": station("without the logger, which wrote a line a request", 54_000.0), "kept": true,
            "ratio": 2.16, "low": 2.0, "high": 2.3, "predicted": prediction, "against": "start",
            "interleaved": true, "over_baseline": { "ratio": 0.87, "low": 0.85, "high": 0.9 }
        }],
        "pending": prediction,
        "left": { "station": "start", "us_per_request": 18.5, "owners": [part], "functions": [part] }
    }));
    html::tuning(&tuning, Some((&profiled(), &flame(false))))
}

fn mined() -> Mined {
    let endpoint = |path: &str, count: u64| MinedEndpoint {
        method: "GET".into(),
        path: path.into(),
        count,
        peak: count / 3,
        share: 0.5,
        rate_per_s: 12.5,
        statuses: [(200, count)].into(),
        examples: vec![path.into()],
        ..MinedEndpoint::default()
    };
    Mined {
        schema: model::mined::SCHEMA.into(),
        files: vec!["access.log".into()],
        format: "combined".into(),
        requests: 123_456,
        counted: 120_000,
        curve: (0..100).map(|at| (at * 60, 1_000 + at as u64 * 17 % 400)).collect(),
        curve_step_s: 60,
        by_hour: vec![1_000; 24],
        endpoints: vec![endpoint("/users/${id}/orders", 60_000), endpoint("/search", 60_000)],
        peak: Peak {
            from_s: 600,
            seconds: 3_600,
            requests: 60_000,
            rate_per_s: 17.0,
            ..Peak::default()
        },
        notes: vec!["a note on the log".into()],
        ..Mined::default()
    }
}
